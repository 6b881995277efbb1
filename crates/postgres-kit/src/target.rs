//! Where the server is, as its URL says, and how long we wait for it.

use crate::fault::Fault;
use crate::tls::{self, Verified};
use std::net::IpAddr;
use std::time::Duration;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres_rustls::MakeRustlsConnect;

/// How long we wait for the server.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// For a connection that is ready for statements.
    pub connect: Duration,
    /// For the answer to one statement; the server gives up a moment before.
    pub statement: Duration,
    /// For each answer that a writer needs, that of its COMMIT among them.
    pub writer: Duration,
}

/// How to reach the server: each host by itself, in the order of the URL.
#[derive(Clone)]
pub struct Target {
    pub(crate) hosts: Vec<Config>,
    /// What the URL says of sessions.
    told: Option<String>,
    pub(crate) tls: MakeRustlsConnect,
    pub(crate) patience: Patience,
    /// Whether a host that is a standby is none, while one that takes no writes is.
    pub(crate) no_standby: bool,
}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Target")
            .field("hosts", &self.hosts.len())
            .field("patience", &self.patience)
            .finish_non_exhaustive()
    }
}

/// Whether a URL is one of PostgreSQL.
pub fn is_postgres(url: &str) -> bool {
    url.starts_with("postgres://") || url.starts_with("postgresql://")
}

/// The host that a URL names elsewhere without verifying that it is who it says; nothing where there is none.
pub fn unverified_host(url: &str) -> Option<String> {
    let (rest, own) = take_own(url).ok()?;
    let config: Config = rest.parse().ok()?;
    let elsewhere = |host: &Host| match host {
        Host::Unix(_) => None,
        Host::Tcp(name) => {
            let plain = name.trim_matches(['[', ']']);
            let here = plain.eq_ignore_ascii_case("localhost")
                || plain.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback());
            // A password with an @ in it that is not encoded ends up in the host.
            (!here).then(|| plain.rsplit('@').next().unwrap_or_default().to_owned())
        }
    };
    let strangers = config.get_hosts().iter().find_map(elsewhere);
    strangers.filter(|_| own.mode.as_deref() != Some("verify-full"))
}

/// What of a URL is not the driver's to understand.
#[derive(Debug, Default)]
struct Own {
    mode: Option<String>,
    root: Option<String>,
}

impl Target {
    pub fn of(url: &str, patience: Patience) -> Result<Self, Fault> {
        let (rest, own) = take_own(url)?;
        let unclear = |error: tokio_postgres::Error| {
            let why = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
            Fault::ours(format!("the database URL is not understood: {why}"))
        };
        let mut config: Config = rest.parse().map_err(unclear)?;
        let mode = own.mode.as_deref().unwrap_or("prefer");
        let (ssl, verified) = match (mode, own.root.is_some()) {
            ("disable", _) => (SslMode::Disable, Verified::Nothing),
            ("allow" | "prefer", _) => (SslMode::Prefer, Verified::Nothing),
            // As libpq does it: a root that is named is a root that counts.
            ("require", false) => (SslMode::Require, Verified::Nothing),
            ("require", true) | ("verify-ca", _) => (SslMode::Require, Verified::Issuer),
            ("verify-full", _) => (SslMode::Require, Verified::IssuerAndName),
            (other, _) => {
                return Err(Fault::ours(format!(
                    "the database URL is not understood: sslmode={other} is none of disable, allow, prefer, require, \
                     verify-ca and verify-full"
                )));
            }
        };
        config.ssl_mode(ssl);
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            config.host("localhost");
        }
        if config.get_password().is_none()
            && let Ok(password) = std::env::var("PGPASSWORD")
        {
            config.password(password);
        }
        let tls = MakeRustlsConnect::new(tls::config(verified, own.root.as_deref())?);
        let told = config.get_options().map(str::to_owned);
        Ok(Self { hosts: each(&config, patience)?, told, tls, patience, no_standby: false })
    }

    /// The first host and its port.
    pub(crate) fn name(&self) -> String {
        let Some(host) = self.hosts.first() else { return String::new() };
        let name = match (host.get_hosts().first(), host.get_hostaddrs().first()) {
            (Some(Host::Tcp(name)), _) => name.clone(),
            (Some(Host::Unix(path)), _) => path.display().to_string(),
            (None, Some(address)) => address.to_string(),
            (None, None) => "localhost".into(),
        };
        format!("{name}:{}", host.get_ports().first().copied().unwrap_or(5432))
    }

    /// The same for one who only reads: where hosts that take writes are wanted, that which would take them will do.
    #[must_use]
    pub fn of_reader(&self) -> Self {
        let mut own = self.clone();
        for host in &mut own.hosts {
            if host.get_target_session_attrs() == TargetSessionAttrs::ReadWrite {
                host.target_session_attrs(TargetSessionAttrs::Any);
                own.no_standby = true;
            }
        }
        own
    }

    /// The same for one who writes: when it is silent between two statements, it is gone, and what it locked is free.
    pub(crate) fn of_writer(&self) -> Self {
        let mut own = self.clone();
        for host in &mut own.hosts {
            host.options(session(self.told.as_deref(), self.patience, self.patience.writer));
        }
        own
    }
}

/// Takes out of a URL what the driver does not know: how the server's certificate is verified.
fn take_own(url: &str) -> Result<(String, Own), Fault> {
    let mut own = Own::default();
    let Some((place, query)) = url.split_once('?') else { return Ok((url.to_owned(), own)) };
    let mut rest = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let kept = match name {
            "sslmode" | "ssl-mode" => &mut own.mode,
            "sslrootcert" | "ssl-root-cert" | "ssl-ca" => &mut own.root,
            _ => {
                rest.push(pair);
                continue;
            }
        };
        *kept = Some(plain(value)?);
    }
    let query = if rest.is_empty() { String::new() } else { format!("?{}", rest.join("&")) };
    Ok((format!("{place}{query}"), own))
}

/// A value of a URL, without its percent signs.
fn plain(written: &str) -> Result<String, Fault> {
    let mut bytes = Vec::with_capacity(written.len());
    let mut rest = written.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = [rest.next(), rest.next()].map(|digit| digit.and_then(|digit| char::from(digit).to_digit(16)));
        let byte = match digits {
            [Some(high), Some(low)] => u8::try_from(high * 16 + low).ok(),
            _ => None,
        };
        bytes.push(byte.ok_or_else(|| Fault::ours("the database URL is not understood: % needs two digits"))?);
    }
    String::from_utf8(bytes).map_err(|_| Fault::ours("the database URL is not understood: it is no UTF-8"))
}

/// A configuration for each host by itself: one that hangs costs its own deadline and not that of the next.
fn each(config: &Config, patience: Patience) -> Result<Vec<Config>, Fault> {
    let (names, addresses, ports) = (config.get_hosts(), config.get_hostaddrs(), config.get_ports());
    let count = names.len().max(addresses.len());
    let fits = |length: usize| length <= 1 || length == count;
    if !names.is_empty() && !addresses.is_empty() && names.len() != addresses.len() || !fits(ports.len()) {
        return Err(Fault::ours("the database URL is not understood: it names more or fewer ports than hosts"));
    }
    let one = |index: usize| {
        let mut own = Config::new();
        match names.get(index) {
            Some(Host::Tcp(name)) => drop(own.host(name)),
            Some(Host::Unix(path)) => drop(own.host_path(path)),
            None => {}
        }
        if let Some(address) = addresses.get(index) {
            own.hostaddr(*address);
        }
        if let Some(port) = ports.get(index).or(ports.first()) {
            own.port(*port);
        }
        if let Some(user) = config.get_user() {
            own.user(user);
        }
        if let Some(password) = config.get_password() {
            own.password(password);
        }
        if let Some(name) = config.get_dbname() {
            own.dbname(name);
        }
        let wanted = match config.get_target_session_attrs() {
            // Of several only one takes writes.
            TargetSessionAttrs::Any if count > 1 => TargetSessionAttrs::ReadWrite,
            wanted => wanted,
        };
        own.application_name(config.get_application_name().unwrap_or("duet"))
            .options(session(config.get_options(), patience, LONGEST_PAUSE))
            .ssl_mode(config.get_ssl_mode())
            .ssl_negotiation(config.get_ssl_negotiation())
            .channel_binding(config.get_channel_binding())
            .target_session_attrs(wanted)
            .connect_timeout(config.get_connect_timeout().copied().unwrap_or(patience.connect))
            .tcp_user_timeout(config.get_tcp_user_timeout().copied().unwrap_or(patience.writer))
            .keepalives(config.get_keepalives())
            .keepalives_interval(config.get_keepalives_interval().unwrap_or(KEEPALIVE_INTERVAL))
            .keepalives_retries(config.get_keepalives_retries().unwrap_or(KEEPALIVE_RETRIES));
        // The driver's two hours are longer than anybody waits.
        let told = config.get_keepalives_idle();
        own.keepalives_idle(if told == Config::new().get_keepalives_idle() { KEEPALIVE_IDLE } else { told });
        own
    };
    Ok((0..count).map(one).collect())
}

const KEEPALIVE_IDLE: Duration = Duration::from_secs(10);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(3);
const KEEPALIVE_RETRIES: u32 = 3;

/// How long a snapshot may be held without a question.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);

/// What each session of ours is like. Warnings are heard: one of them says that a commit has not reached the standby.
/// The server learns that we are gone as we learn that it is.
fn session(told: Option<&str>, patience: Patience, pause: Duration) -> String {
    let lock = (patience.writer / 2).min(Duration::from_secs(10));
    let mut options = format!(
        "-c client_min_messages=warning -c lock_timeout={} -c statement_timeout={} \
         -c idle_in_transaction_session_timeout={} -c tcp_keepalives_idle={} -c tcp_keepalives_interval={} \
         -c tcp_keepalives_count={KEEPALIVE_RETRIES} -c tcp_user_timeout={}",
        lock.as_millis().max(1),
        patience.statement.as_millis().max(1),
        pause.as_millis().max(1),
        KEEPALIVE_IDLE.as_secs(),
        KEEPALIVE_INTERVAL.as_secs(),
        patience.writer.as_millis().max(1),
    );
    if let Some(told) = told {
        options.push(' ');
        options.push_str(told);
    }
    // What is said last counts: names are read back as they are written, whatever anybody asked for.
    options.push_str(" -c quote_all_identifiers=off");
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Patience = Patience {
        connect: Duration::from_secs(5),
        statement: Duration::from_secs(25),
        writer: Duration::from_secs(15),
    };

    fn told(url: &str) -> String {
        Target::of(url, PATIENCE).unwrap_err().to_string()
    }

    #[test]
    fn what_is_not_understood_in_a_url_is_a_fault() {
        for (url, part) in [
            ("postgres://h/d?colour=red", "colour"),
            ("postgres://h/d?sslmode=maybe", "sslmode=maybe"),
            ("postgres://h:x/d", "port"),
            ("postgres://h/d?sslmode=require&sslrootcert=/nowhere/root.crt", "/nowhere/root.crt"),
            ("postgres://a,b/d?port=1,2,3", "ports"),
            ("postgres://h/d?keepalives_idle=soon", "keepalives_idle"),
        ] {
            assert!(told(url).contains(part), "{url}: {}", told(url));
        }
    }

    #[test]
    fn several_hosts_are_asked_in_turn_for_one_that_writes() {
        let target = Target::of("postgres://u:p%40ss@one:5433,two,[::1]:7/books?sslmode=disable", PATIENCE).unwrap();
        let seen: Vec<_> =
            target.hosts.iter().map(|host| (host.get_hosts().to_vec(), host.get_ports().to_vec())).collect();
        let tcp = |name: &str| vec![Host::Tcp(name.into())];
        assert_eq!(seen, [(tcp("one"), vec![5433]), (tcp("two"), vec![5432]), (tcp("::1"), vec![7])]);
        for host in &target.hosts {
            assert_eq!(host.get_target_session_attrs(), TargetSessionAttrs::ReadWrite);
            assert_eq!((host.get_user(), host.get_password()), (Some("u"), Some(&b"p@ss"[..])));
            assert_eq!((host.get_dbname(), host.get_application_name()), (Some("books"), Some("duet")));
            assert_eq!(host.get_tcp_user_timeout(), Some(&PATIENCE.writer));
            assert_eq!(host.get_keepalives_idle(), KEEPALIVE_IDLE);
        }
    }

    #[test]
    fn what_a_url_says_of_waiting_is_heard() {
        let url = "postgres://h/d?connect_timeout=2&tcp_user_timeout=3&keepalives_idle=4&target_session_attrs=any\
                   &application_name=books&options=-c%20work_mem%3D8MB";
        let target = Target::of(url, PATIENCE).unwrap();
        let host = &target.hosts[0];
        assert_eq!(host.get_connect_timeout(), Some(&Duration::from_secs(2)));
        assert_eq!(host.get_tcp_user_timeout(), Some(&Duration::from_secs(3)));
        assert_eq!(host.get_keepalives_idle(), Duration::from_secs(4));
        assert_eq!(host.get_application_name(), Some("books"));
        assert!(host.get_options().unwrap().ends_with(" -c work_mem=8MB -c quote_all_identifiers=off"));
        assert!(host.get_options().unwrap().contains("statement_timeout=25000 "));
    }
}
