//! The configuration: ASP.NET's conventions, since the deployments that exist use them.
//!
//! Owns: which keys there are, how their texts are read, what is wrong with them. Later layers win: defaults,
//! `appsettings.json`, `appsettings.Custom.json`, environment, command line.

mod json;
mod layers;
mod report;
#[cfg(test)]
mod tests;

pub use layers::Source;
pub use report::{check, without_password};

use layers::{Merged, Said, merge};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::time::Duration;

/// Every key, and what `config check` and `show` must know of it.
struct Key {
    name: &'static str,
    secret: bool,
    live: bool,
}

const fn key(name: &'static str) -> Key {
    Key { name, secret: false, live: false }
}

const fn live(name: &'static str) -> Key {
    Key { name, secret: false, live: true }
}

const fn secret(name: &'static str) -> Key {
    Key { name, secret: true, live: false }
}

const KEYS: &[Key] = &[
    key("Urls"),
    live("Dialect"),
    live("Dialects:A:Prefix"),
    live("Dialects:B:Prefix"),
    live("Dialects:SharedPrefix"),
    key("ConnectionStrings:Default"),
    key("Data"),
    key("Database:PoolSize"),
    key("Database:Readers"),
    key("Database:AutoMigrate"),
    live("JwtSettings:ExpirationMinutes"),
    secret("JwtSettings:Secret"),
    key("JwtSettings:Issuer"),
    key("JwtSettings:Audience"),
    key("Bootstrap:Email"),
    key("Bootstrap:Username"),
    secret("Bootstrap:Password"),
    key("Limits:Body"),
    key("Limits:Header"),
    key("Limits:BodyIdle"),
    key("Limits:Request"),
    key("Limits:MaxConnections"),
    key("Limits:WriteQueue"),
    live("Logging:Level"),
    key("Logging:Format"),
    live("Cors:Origins"),
    key("TrustedProxies"),
    key("Shutdown:Grace"),
];

/// A text that is shown to nobody.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// Text on a terminal, JSON elsewhere.
    Auto,
    Text,
    Json,
}

/// Where each dialect is served, if it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dialects {
    pub a: Option<String>,
    pub b: Option<String>,
    /// The prefix that takes either style, where both are served.
    pub shared: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    pub listen: SocketAddr,
    pub dialects: Dialects,
    pub database: Secret,
    pub data: PathBuf,
    pub pool_size: u32,
    pub readers: u32,
    pub auto_migrate: bool,
    pub token_lifetime: Duration,
    pub token_secret: Option<Secret>,
    pub token_issuer: String,
    pub token_audience: String,
    pub bootstrap_email: Option<String>,
    pub bootstrap_username: Option<String>,
    pub bootstrap_password: Option<Secret>,
    pub body_limit: usize,
    pub header_timeout: Duration,
    pub body_idle: Duration,
    pub request_timeout: Duration,
    pub max_connections: usize,
    pub write_queue: usize,
    pub log_level: String,
    pub log_format: LogFormat,
    pub cors_origins: Vec<String>,
    pub trusted_proxies: Vec<ipnet::IpNet>,
    pub shutdown_grace: Duration,
}

/// The settings and how they came about.
#[derive(Debug)]
pub struct Loaded {
    pub settings: Settings,
    pub warnings: Vec<String>,
    merged: Merged,
}

/// All that is wrong with a configuration, a line each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError(Vec<String>);

impl std::fmt::Display for ConfigError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl std::error::Error for ConfigError {}

pub fn load(source: &Source) -> Result<Loaded, ConfigError> {
    let merged = merge(source, &sections());
    let mut reader = Reader { merged: &merged, faults: merged.faults.clone() };
    let settings = settings(&mut reader);
    let faults = reader.faults;
    if !faults.is_empty() {
        return Err(ConfigError(faults));
    }
    let mut warnings = merged.warnings.clone();
    warnings.extend(report::unknown_keys(&merged));
    Ok(Loaded { settings, warnings, merged })
}

fn sections() -> Vec<&'static str> {
    KEYS.iter().filter_map(|key| key.name.split(':').next()).collect()
}

/// Keys that differ and are read only at the start.
pub fn restart_needed(old: &Loaded, new: &Loaded) -> Vec<&'static str> {
    let value =
        |loaded: &Loaded, name: &str| loaded.merged.list(name).into_iter().map(|(text, _)| text).collect::<Vec<_>>();
    KEYS.iter().filter(|key| !key.live && value(old, key.name) != value(new, key.name)).map(|key| key.name).collect()
}

fn settings(reader: &mut Reader<'_>) -> Settings {
    let data = PathBuf::from(reader.text("Data").unwrap_or_else(|| "data".into()));
    let database =
        reader.text("ConnectionStrings:Default").unwrap_or_else(|| format!("sqlite:{}/duet.db", data.display()));
    let sqlite_or_postgres =
        ["sqlite:", "postgres://", "postgresql://"].iter().any(|scheme| database.starts_with(scheme));
    if !sqlite_or_postgres {
        reader.refuse("ConnectionStrings:Default", "a URL that begins with sqlite: or postgres://");
    }
    let token_secret = reader.text("JwtSettings:Secret");
    if token_secret.as_ref().is_some_and(|secret| secret.len() < 32) {
        reader.refuse("JwtSettings:Secret", "at least 32 bytes");
    }
    let minutes = reader.number("JwtSettings:ExpirationMinutes", 1, 1440, 60);
    Settings {
        listen: reader.listen(),
        dialects: reader.dialects(),
        database: Secret(database),
        data,
        pool_size: reader.number("Database:PoolSize", 2, 1000, 16),
        readers: reader.number("Database:Readers", 1, 64, 4),
        auto_migrate: reader.flag("Database:AutoMigrate", true),
        token_lifetime: Duration::from_mins(u64::from(minutes)),
        token_secret: token_secret.map(Secret),
        token_issuer: reader.text("JwtSettings:Issuer").unwrap_or_else(|| "duet".into()),
        token_audience: reader.text("JwtSettings:Audience").unwrap_or_else(|| "duet".into()),
        bootstrap_email: reader.text("Bootstrap:Email"),
        bootstrap_username: reader.text("Bootstrap:Username"),
        bootstrap_password: reader.text("Bootstrap:Password").map(Secret),
        body_limit: reader.size("Limits:Body", 1 << 20),
        header_timeout: reader.duration("Limits:Header", 10),
        body_idle: reader.duration("Limits:BodyIdle", 10),
        request_timeout: reader.duration("Limits:Request", 30),
        max_connections: reader.number("Limits:MaxConnections", 1, 1_000_000, 1024) as usize,
        write_queue: reader.number("Limits:WriteQueue", 1, 1_000_000, 1024) as usize,
        log_level: reader.choice("Logging:Level", &["trace", "debug", "info", "warn", "error"], "info"),
        log_format: match reader.choice("Logging:Format", &["auto", "text", "json"], "auto").as_str() {
            "text" => LogFormat::Text,
            "json" => LogFormat::Json,
            _ => LogFormat::Auto,
        },
        cors_origins: reader.origins(),
        trusted_proxies: reader.networks("TrustedProxies"),
        shutdown_grace: reader.duration("Shutdown:Grace", 30),
    }
}

/// Reads texts as what they should be, and notes what they are not.
struct Reader<'m> {
    merged: &'m Merged,
    faults: Vec<String>,
}

impl Reader<'_> {
    fn refuse(&mut self, name: &str, expected: &str) {
        let secret = KEYS.iter().any(|key| key.name == name && (key.secret || name.starts_with("ConnectionStrings")));
        let (origin, got) = match self.merged.find(name) {
            Some(said) if secret => (said.origin.clone(), "something else".to_owned()),
            Some(said) => (said.origin.clone(), format!("{:?}", said.value.as_deref().unwrap_or("null"))),
            None => ("configuration".into(), "nothing".into()),
        };
        self.faults.push(format!("{origin}: {name}: expected {expected}, got {got}"));
    }

    fn text(&self, name: &str) -> Option<String> {
        self.merged.find(name)?.value.clone().filter(|text| !text.is_empty())
    }

    fn parsed<T>(&mut self, name: &str, default: T, expected: &str, parse: impl Fn(&str) -> Option<T>) -> T {
        match self.text(name) {
            None => default,
            Some(text) => parse(text.trim()).unwrap_or_else(|| {
                self.refuse(name, expected);
                default
            }),
        }
    }

    fn number(&mut self, name: &str, least: u32, most: u32, default: u32) -> u32 {
        let expected = format!("a whole number from {least} to {most}");
        self.parsed(name, default, &expected, |text| text.parse().ok().filter(|number| (least..=most).contains(number)))
    }

    fn flag(&mut self, name: &str, default: bool) -> bool {
        self.parsed(name, default, "true or false", |text| text.to_lowercase().parse().ok())
    }

    fn choice(&mut self, name: &str, choices: &[&str], default: &str) -> String {
        let expected = format!("one of {}", choices.join(", "));
        self.parsed(name, default.to_owned(), &expected, |text| {
            choices.iter().find(|choice| choice.eq_ignore_ascii_case(text)).map(|choice| (*choice).to_owned())
        })
    }

    fn duration(&mut self, name: &str, default_seconds: u64) -> Duration {
        self.parsed(name, Duration::from_secs(default_seconds), "a time such as 30s, 500ms or 2m", |text| {
            let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
            let number: u64 = digits.trim().parse().ok().filter(|number| *number > 0)?;
            match &text[digits.len()..] {
                "ms" => Some(Duration::from_millis(number)),
                "" | "s" => Some(Duration::from_secs(number)),
                "m" => number.checked_mul(60).map(Duration::from_secs),
                _ => None,
            }
        })
    }

    fn size(&mut self, name: &str, default: usize) -> usize {
        self.parsed(name, default, "a size such as 1MB or 512KB", |text| {
            let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
            let number: usize = digits.trim().parse().ok().filter(|number| *number > 0)?;
            match text[digits.len()..].to_ascii_uppercase().as_str() {
                "" | "B" => Some(number),
                "KB" => number.checked_mul(1 << 10),
                "MB" => number.checked_mul(1 << 20),
                _ => None,
            }
        })
    }

    fn listen(&mut self) -> SocketAddr {
        let default = SocketAddr::from(([127, 0, 0, 1], 5000));
        self.parsed("Urls", default, "one address such as http://127.0.0.1:5000", |text| {
            let address = text.strip_prefix("http://").unwrap_or(text).trim_end_matches('/');
            let address = address.replace(['*', '+'], "0.0.0.0");
            address.to_socket_addrs().ok()?.next()
        })
    }

    fn dialects(&mut self) -> Dialects {
        let chosen = self.choice("Dialect", &["A", "B", "Both"], "Both");
        let both = chosen == "Both";
        let a = self.prefix("Dialects:A:Prefix", if both { "/a/api" } else { "/api" });
        let b = self.prefix("Dialects:B:Prefix", if both { "/b/api" } else { "/api" });
        let shared = match self.merged.find("Dialects:SharedPrefix") {
            Some(Said { value: Some(text), .. }) if !text.is_empty() => {
                Some(self.prefix("Dialects:SharedPrefix", "/api"))
            }
            _ => None,
        };
        match chosen.as_str() {
            "A" => Dialects { a: Some(a), b: None, shared: None },
            "B" => Dialects { a: None, b: Some(b), shared: None },
            _ => {
                self.apart("Dialects:A:Prefix", &a, "Dialects:B:Prefix", &b);
                if let Some(shared) = &shared {
                    self.apart("Dialects:A:Prefix", &a, "Dialects:SharedPrefix", shared);
                    self.apart("Dialects:B:Prefix", &b, "Dialects:SharedPrefix", shared);
                }
                Dialects { a: Some(a), b: Some(b), shared }
            }
        }
    }

    fn prefix(&mut self, name: &str, default: &str) -> String {
        const TAKEN: &[&str] =
            &["swagger", "redoc", "healthz", "readyz", "metrics", "favicon.ico", "favicon.svg", "assets"];
        self.parsed(name, default.to_owned(), "a path such as /a/api that no page of ours has", |text| {
            let segments: Vec<&str> = text.strip_prefix('/')?.split('/').collect();
            let sane = |segment: &&str| {
                !segment.is_empty()
                    && segment.chars().all(|letter| letter.is_ascii_alphanumeric() || "._-".contains(letter))
            };
            (segments.iter().all(sane) && !TAKEN.contains(&segments[0])).then(|| text.to_owned())
        })
    }

    fn apart(&mut self, first_key: &str, first: &str, second_key: &str, second: &str) {
        if format!("{first}/").starts_with(&format!("{second}/"))
            || format!("{second}/").starts_with(&format!("{first}/"))
        {
            self.faults.push(format!("{first_key} ({first}) and {second_key} ({second}) must not be equal or nested"));
        }
    }

    fn origins(&mut self) -> Vec<String> {
        let list = self.merged.list("Cors:Origins");
        for (text, said) in &list {
            let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
            if host.is_none_or(|host| host.is_empty() || host.contains(['/', '*', ' ', '?', '#', '@'])) {
                let fault =
                    format!("{}: Cors:Origins: expected scheme://host, without a path or *, got {text:?}", said.origin);
                self.faults.push(fault);
            }
        }
        list.into_iter().map(|(text, _)| text).collect()
    }

    fn networks(&mut self, name: &str) -> Vec<ipnet::IpNet> {
        let mut networks = Vec::new();
        for (text, said) in self.merged.list(name) {
            let network =
                text.parse().or_else(|_| text.parse().map(|address: std::net::IpAddr| ipnet::IpNet::from(address)));
            match network {
                Ok(network) => networks.push(network),
                Err(_) => {
                    self.faults.push(format!("{}: {name}: expected an address or network, got {text:?}", said.origin));
                }
            }
        }
        networks
    }
}
