//! The settings as the rest of the program takes them: typed, in range, consistent with each other.
//!
//! Owns: the meaning of each key. How a text is read as a duration or an address is `values`' concern.

use super::keys;
use super::layers::Merged;
use super::values::{Reader, is_connectable};
use crate::dialects::{Each, SPOKEN, Spoken};
use catalogue::Cluster;
use ledger_core::clock::Instant;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// A text that is shown to nobody.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub(super) String);

impl Secret {
    pub fn of(text: String) -> Self {
        Self(text)
    }

    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

/// What is signed or hidden with, which need not be a text. It is shown to nobody.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(Vec<u8>);

impl Key {
    pub fn of(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    pub fn expose(&self) -> &[u8] {
        &self.0
    }
}

impl std::fmt::Debug for Key {
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
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dialects {
    pub bases: Each<Option<String>>,
    /// The prefix that takes any style, where all are served.
    pub shared: Option<String>,
}

impl Dialects {
    /// Those that are served, each with its place among all and its base.
    pub(crate) fn served(&self) -> impl Iterator<Item = (usize, &'static Spoken, &str)> {
        let all = SPOKEN.iter().zip(&self.bases).enumerate();
        all.filter_map(|(place, (dialect, base))| Some((place, dialect, base.as_deref()?)))
    }

    /// Where a dialect is served, or would be beside others.
    pub(crate) fn base_of(&self, dialect: &Spoken) -> String {
        let mut served = self.served();
        let found = served.find(|(_, one, _)| one.letter == dialect.letter);
        found.map_or_else(|| dialect.usual_base(), |(_, _, base)| base.to_owned())
    }
}

/// Whose books one process keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edition {
    /// Its own.
    Server,
    /// Those of many tenants, each under a host name.
    Cloud,
}

/// Where it is known which tenants there are, and where their books may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cloud {
    /// The database of the catalogue. May have a password in it.
    pub catalogue: Secret,
    pub clusters: Vec<Cluster>,
    /// As many tenants as are open at once.
    pub most_open: usize,
    /// After how long without a request a tenant is closed.
    pub idle: Duration,
    /// Where administrators of tenants are answered, by this key; nowhere where there is none.
    pub admin: SocketAddr,
    pub admin_key: Option<Secret>,
}

impl Cloud {
    /// Whether the servers of many machines have one catalogue.
    pub fn is_shared(&self) -> bool {
        catalogue::Catalogue::would_be_shared(self.catalogue.expose())
    }

    /// The cluster of a name.
    pub fn cluster(&self, name: &str) -> Result<&Cluster, String> {
        let found = self.clusters.iter().find(|one| one.name() == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = self.clusters.iter().map(Cluster::name).collect();
            let known =
                if names.is_empty() { "which names none".into() } else { format!("which names {}", names.join(", ")) };
            format!("there is no cluster {name} in Cloud:Clusters, {known}")
        })
    }
}

fn cloud(reader: &mut Reader<'_>, data: &std::path::Path) -> Option<Cloud> {
    const CATALOGUE: &str = "Cloud:Catalogue";
    let catalogue = reader.text(CATALOGUE);
    if catalogue.as_ref().is_some_and(|url| !is_connectable(url)) {
        reader.refuse(CATALOGUE, "sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE");
    }
    let catalogue = catalogue.unwrap_or_else(|| format!("sqlite:{}/catalogue.db", data.display()));
    let clusters = clusters(reader);
    let (most_open, idle) = (reader.number("Cloud:MostOpen", 1, 100_000), reader.duration("Cloud:Idle"));
    let admin = reader.listen("Cloud:Admin:Listen", "http://");
    let admin_key = reader.text("Cloud:Admin:Key").map(Secret);
    if admin_key
        .as_ref()
        .is_some_and(|key| key.expose().len() < 32 || ledger_core::strength::is_guessable(key.expose()))
    {
        reader.refuse("Cloud:Admin:Key", "a key that cannot be guessed, such as `openssl rand -base64 48` makes");
    }
    Some(Cloud {
        catalogue: Secret(catalogue),
        clusters,
        most_open: usize::try_from(most_open?).ok()?,
        idle: idle?,
        admin: admin?,
        admin_key,
    })
}

fn clusters(reader: &mut Reader<'_>) -> Vec<Cluster> {
    const CLUSTERS: &str = "Cloud:Clusters";
    let text = reader.text(CLUSTERS).unwrap_or_default();
    let mut known: Vec<Cluster> = Vec::new();
    for one in text.split_whitespace() {
        let cluster = one.split_once('=').and_then(|(name, url)| Cluster::of(name, url));
        match cluster {
            Some(cluster) if known.iter().all(|other| other.name() != cluster.name()) => known.push(cluster),
            _ => {
                reader.refuse(
                    CLUSTERS,
                    "NAME=postgres://USER:PASSWORD@HOST/DATABASE of each cluster, with spaces or line ends between, and each \
                     name once",
                );
                return Vec::new();
            }
        }
    }
    known
}

/// What becomes of a dialect after its sunset.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AfterSunset {
    #[default]
    Serve,
    /// It is served, and each answer warns.
    Warn,
    /// It is 410.
    Gone,
}

/// When a dialect is to go.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Retiring {
    pub deprecation: Option<Instant>,
    pub sunset: Option<Instant>,
    /// Where it says what to do.
    pub link: Option<String>,
    pub after: AfterSunset,
}

/// Whether it is told how the server does, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metrics {
    pub enabled: bool,
    pub listen: SocketAddr,
}

impl Metrics {
    /// Where it is told, if it is.
    pub fn told_at(self) -> Option<SocketAddr> {
        self.enabled.then_some(self.listen)
    }
}

/// How others are told of what happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Telling {
    /// Whether anybody is told anything.
    pub enabled: bool,
    /// Networks that may be told beside the world.
    pub networks: Vec<ipnet::IpNet>,
    /// How long an answer is waited for.
    pub timeout: Duration,
    /// After how long what was refused is sent again, once for each; then it is given up.
    pub retries: Vec<Duration>,
}

fn telling(reader: &mut Reader<'_>) -> Option<Telling> {
    let (networks, timeout) = (reader.networks("Webhooks:AllowNetworks"), reader.duration("Webhooks:Timeout"));
    let enabled = reader.flag("Webhooks:Enabled");
    Some(Telling { enabled: enabled?, networks, timeout: timeout?, retries: reader.durations("Webhooks:Retries") })
}

fn metrics(reader: &mut Reader<'_>) -> Option<Metrics> {
    let (enabled, listen) = (reader.flag("Metrics:Enabled"), reader.listen("Metrics:Listen", "http://"));
    Some(Metrics { enabled: enabled?, listen: listen? })
}

/// Who is told of requests and of the log, as OpenTelemetry has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Telemetry {
    /// What the paths of the protocol are below; nobody where there is none.
    pub endpoint: Option<String>,
    /// `name=value`, with commas between. May have a secret in it.
    pub headers: Secret,
    /// What this server is called there.
    pub service: String,
    pub traces: bool,
    pub logs: bool,
    /// How long an answer is waited for.
    pub timeout: Duration,
}

/// Headers as one text has them, where it has them.
pub fn headers_in(text: &str) -> Option<Vec<(String, String)>> {
    let is_name =
        |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let is_value = |value: &str| value.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    let pairs = text.split(',').map(str::trim).filter(|pair| !pair.is_empty());
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=')?;
        let (name, value) = (name.trim(), value.trim());
        (is_name(name) && is_value(value)).then(|| (name.to_ascii_lowercase(), value.to_owned()))
    };
    pairs.map(pair).collect()
}

fn telemetry(reader: &mut Reader<'_>) -> Option<Telemetry> {
    const ENDPOINT: &str = "Telemetry:Endpoint";
    let endpoint = reader.text(ENDPOINT);
    let is_address = |url: &String| {
        let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
        rest.is_some_and(|rest| !rest.is_empty() && !rest.contains(['@', '?', '#', ' ']))
    };
    if endpoint.as_ref().is_some_and(|url| !is_address(url)) {
        reader.refuse(
            ENDPOINT,
            "the address of a collector, such as http://127.0.0.1:4318; what it asks for goes into Telemetry:Headers",
        );
    }
    let headers = reader.text("Telemetry:Headers").unwrap_or_default();
    if headers_in(&headers).is_none() {
        reader.refuse("Telemetry:Headers", "name=value, with commas between");
    }
    let [traces, logs] = ["Telemetry:Traces", "Telemetry:Logs"].map(|key| reader.flag(key));
    let (service, timeout) = (reader.text("Telemetry:Service"), reader.duration("Telemetry:Timeout"));
    Some(Telemetry {
        endpoint,
        headers: Secret(headers),
        service: service?,
        traces: traces?,
        logs: logs?,
        timeout: timeout?,
    })
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    pub edition: Edition,
    /// The tenant that a command is about.
    pub tenant: Option<String>,
    pub cloud: Cloud,
    pub listen: SocketAddr,
    /// Where it listens for TLS, with these files.
    pub tls_listen: SocketAddr,
    pub tls_certificate: Option<PathBuf>,
    pub tls_key: Option<PathBuf>,
    pub dialects: Dialects,
    pub retiring: Each<Retiring>,
    /// May have a password in it.
    pub database: Secret,
    pub data: PathBuf,
    pub pool_size: u32,
    pub readers: u32,
    /// How long SQLite's log may grow beside reads.
    pub log_budget: u64,
    /// Standbys of PostgreSQL that answer reads. May have passwords in them.
    pub replicas: Vec<Secret>,
    /// How old what they answer may be; nothing where it is never older than what the database would answer.
    pub replica_lag: Option<Duration>,
    /// What caches of all kinds may weigh together, in bytes.
    pub caches: usize,
    pub auto_migrate: bool,
    /// How long PostgreSQL is waited for.
    pub connect_timeout: Duration,
    pub statement_timeout: Duration,
    pub write_timeout: Duration,
    pub token_lifetime: Duration,
    pub token_secret: Option<Key>,
    /// What the secrets of the database are under.
    pub master_key: Option<Key>,
    pub token_issuer: String,
    pub token_audience: String,
    pub bootstrap_email: Option<String>,
    pub bootstrap_username: Option<String>,
    pub bootstrap_password: Option<Secret>,
    pub body_limit: usize,
    pub header_timeout: Duration,
    pub body_idle: Duration,
    pub answer_idle: Duration,
    /// Bytes a second of a body or an answer, below which a client is cut off.
    pub slowest_rate: usize,
    pub request_timeout: Duration,
    pub max_connections: usize,
    /// Those on which nobody has signed in yet.
    pub anonymous_connections: usize,
    pub connections_per_address: usize,
    pub connections_per_account: usize,
    pub write_queue: usize,
    /// Of one user or key; any number where it is 0.
    pub requests_per_minute: u64,
    pub requests_at_once: usize,
    /// What the reads of one user or key may take of a minute.
    pub read_time: Duration,
    /// What the dear writes of one user or key may take of a minute.
    pub write_time: Duration,
    pub log_level: String,
    pub log_format: LogFormat,
    pub metrics: Metrics,
    pub telemetry: Telemetry,
    pub cors_origins: Vec<String>,
    pub telling: Telling,
    /// How often it is looked for days that begin; nothing where nobody looks.
    pub days_every: Option<Duration>,
    /// Whether there is a page that compares the dialects, and whose it is: everybody's where nobody is named.
    pub compare_enabled: bool,
    pub compare_users: Vec<String>,
    pub trusted_proxies: Vec<ipnet::IpNet>,
    pub shutdown_grace: Duration,
}

impl AsRef<Settings> for Settings {
    fn as_ref(&self) -> &Settings {
        self
    }
}

/// The settings, or all faults of the layers and of the values.
pub(super) fn read(merged: &Merged) -> Result<Settings, Vec<String>> {
    let mut reader = Reader::new(merged);
    let settings = settings(&mut reader);
    let faults = reader.into_faults();
    match settings {
        Some(settings) if faults.is_empty() => Ok(settings),
        Some(_) | None => Err(faults),
    }
}

/// The certificate and its key, which go together.
fn tls_files(reader: &mut Reader<'_>) -> [Option<PathBuf>; 2] {
    let files = ["Server:Tls:Certificate", "Server:Tls:Key"].map(|key| reader.text(key).map(PathBuf::from));
    check_pair(reader, files[0].is_some(), files[1].is_some());
    files
}

/// Every value is read before the first `?`, so that all that is wrong is told at once.
fn settings(reader: &mut Reader<'_>) -> Option<Settings> {
    let data = PathBuf::from(reader.text("Data")?);
    let editions = [("Server", Edition::Server), ("Cloud", Edition::Cloud)];
    let edition = reader.choice("Edition", &editions);
    let cloud = cloud(reader, &data);
    let (listen, tls_listen) = (reader.listen("Urls", "http://"), reader.listen("Server:Tls:Url", "https://"));
    let [tls_certificate, tls_key] = tls_files(reader);
    let dialects = dialects(reader);
    let retiring = std::array::from_fn(|place| retiring(reader, SPOKEN[place].letter));
    let database = database(reader, &data);
    let pool_size = reader.number("Database:PoolSize", 2, 1000);
    let readers = reader.number("Database:Readers", 1, 64);
    let log_budget = reader.size("Database:LogBudget");
    let (replicas, replica_lag) = replicas(reader, (&database, edition));
    let caches = reader.size("Memory:Caches");
    let auto_migrate = reader.flag("Database:AutoMigrate");
    let connect_timeout = reader.duration("Database:ConnectTimeout");
    let statement_timeout = reader.duration("Database:StatementTimeout");
    let write_timeout = reader.duration("Database:WriteTimeout");
    let minutes = reader.number("JwtSettings:ExpirationMinutes", 1, 1440);
    let [token_secret, master_key] = ["JwtSettings:Secret", "Security:MasterKey"].map(|key| secret(reader, key));
    let body_limit = reader.size("Limits:Body");
    let [body_idle, answer_idle] = ["Limits:BodyIdle", "Limits:AnswerIdle"].map(|key| reader.duration(key));
    let slowest_rate = reader.size("Limits:SlowestRate");
    let [header_timeout, request_timeout] = ["Limits:Header", "Limits:Request"].map(|key| reader.duration(key));
    let max_connections = reader.number("Limits:MaxConnections", 1, 1_000_000);
    let anonymous_connections = reader.number("Limits:AnonymousConnections", 1, 1_000_000);
    let connections_per_address = reader.number("Limits:ConnectionsPerAddress", 1, 1_000_000);
    let connections_per_account = reader.number("Limits:ConnectionsPerAccount", 1, 1_000_000);
    let write_queue = reader.number("Limits:WriteQueue", 1, 1_000_000);
    let requests_per_minute = reader.number("Limits:RequestsPerMinute", 0, 100_000_000);
    let requests_at_once = reader.number("Limits:RequestsAtOnce", 1, 1_000_000);
    let [read_time, write_time] = ["Limits:ReadTime", "Limits:WriteTime"].map(|key| reader.duration(key));
    let levels = ["trace", "debug", "info", "warn", "error"].map(|level| (level, level));
    let log_level = reader.choice("Logging:Level", &levels);
    let formats = [("auto", LogFormat::Auto), ("text", LogFormat::Text), ("json", LogFormat::Json)];
    let log_format = reader.choice("Logging:Format", &formats);
    let cors_origins = reader.origins("Cors:Origins");
    let (metrics, telemetry) = (metrics(reader), telemetry(reader));
    let (compare_enabled, compare_users) = (reader.flag("Compare:Enabled"), reader.texts("Compare:Users"));
    let telling = telling(reader);
    let days_every = reader.duration_or_never("Events:Every");
    let trusted_proxies = reader.networks("TrustedProxies");
    let shutdown_grace = reader.duration("Shutdown:Grace");
    Some(Settings {
        edition: edition?,
        tenant: reader.text("Cloud:Tenant"),
        cloud: cloud?,
        listen: listen?,
        tls_listen: tls_listen?,
        tls_certificate,
        tls_key,
        dialects,
        retiring,
        database: Secret(database),
        data,
        pool_size: pool_size?,
        readers: readers?,
        log_budget: u64::try_from(log_budget?).ok()?,
        replicas,
        replica_lag,
        caches: caches?,
        auto_migrate: auto_migrate?,
        connect_timeout: connect_timeout?,
        statement_timeout: statement_timeout?,
        write_timeout: write_timeout?,
        token_lifetime: Duration::from_mins(u64::from(minutes?)),
        token_secret,
        master_key,
        token_issuer: reader.text("JwtSettings:Issuer")?,
        token_audience: reader.text("JwtSettings:Audience")?,
        bootstrap_email: reader.text("Bootstrap:Email"),
        bootstrap_username: reader.text("Bootstrap:Username"),
        bootstrap_password: reader.text("Bootstrap:Password").map(Secret),
        body_limit: body_limit?,
        header_timeout: header_timeout?,
        body_idle: body_idle?,
        answer_idle: answer_idle?,
        slowest_rate: slowest_rate?,
        request_timeout: request_timeout?,
        max_connections: usize::try_from(max_connections?).ok()?,
        anonymous_connections: usize::try_from(anonymous_connections?).ok()?,
        connections_per_address: usize::try_from(connections_per_address?).ok()?,
        connections_per_account: usize::try_from(connections_per_account?).ok()?,
        write_queue: usize::try_from(write_queue?).ok()?,
        requests_per_minute: u64::from(requests_per_minute?),
        requests_at_once: usize::try_from(requests_at_once?).ok()?,
        read_time: read_time?,
        write_time: write_time?,
        log_level: log_level?.to_owned(),
        log_format: log_format?,
        metrics: metrics?,
        telemetry: telemetry?,
        cors_origins,
        compare_enabled: compare_enabled?,
        compare_users,
        telling: telling?,
        days_every,
        trusted_proxies,
        shutdown_grace: shutdown_grace?,
    })
}

fn check_pair(reader: &mut Reader<'_>, has_certificate: bool, has_key: bool) {
    if has_certificate != has_key {
        let missing = if has_key { "Server:Tls:Certificate" } else { "Server:Tls:Key" };
        reader.refuse(missing, "a PEM file: a certificate and its key belong together");
    }
}

/// What others are made of or signed with.
fn secret(reader: &mut Reader<'_>, key: &str) -> Option<Key> {
    let given = reader.text(key);
    if given.as_ref().is_some_and(|secret| secret.len() < 32) {
        reader.refuse(key, "at least 32 bytes");
    } else if key == "JwtSettings:Secret" && given.as_deref().is_some_and(ledger_core::strength::is_guessable) {
        // A master key that can be guessed is only warned of: the books that were made under it cannot be opened by another.
        let hint = "a secret that cannot be guessed, such as `openssl rand -base64 48` makes; leave the key out to have one made";
        reader.refuse(key, hint);
    }
    given.map(|secret| Key(secret.into_bytes()))
}

fn retiring(reader: &mut Reader<'_>, letter: &str) -> Retiring {
    let key = |name: &str| keys::of_dialect(letter, name);
    let fates = [("serve", AfterSunset::Serve), ("warn", AfterSunset::Warn), ("gone", AfterSunset::Gone)];
    let link = reader.text(&key("Link"));
    if link.as_ref().is_some_and(|link| {
        !(link.starts_with("https://") || link.starts_with("http://")) || link.contains(['<', '>', ' '])
    }) {
        reader.refuse(&key("Link"), "the address of a page, such as https://example.com/moving");
    }
    Retiring {
        deprecation: reader.moment(&key("Deprecation")),
        sunset: reader.moment(&key("Sunset")),
        link,
        after: reader.choice(&key("AfterSunset"), &fates).unwrap_or_default(),
    }
}

/// Unless a database is named, it is a file in the data folder, so that `Data` alone moves everything.
fn database(reader: &mut Reader<'_>, data: &std::path::Path) -> String {
    let named = reader.text("ConnectionStrings:Default");
    if named.as_ref().is_some_and(|url| !is_connectable(url)) {
        reader.refuse("ConnectionStrings:Default", "sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE");
    }
    named.unwrap_or_else(|| format!("sqlite:{}/duet.db", data.display()))
}

/// Standbys that answer reads, and how old what they answer may be. How far each is behind is looked at once a second: less
/// than a few of these nobody can promise.
fn replicas(reader: &mut Reader<'_>, (database, edition): (&str, Option<Edition>)) -> (Vec<Secret>, Option<Duration>) {
    const REPLICAS: &str = "Database:Replicas";
    const LAG: &str = "Database:ReplicaLag";
    let (urls, lag) = (reader.texts(REPLICAS), reader.duration_or_never(LAG));
    if !urls.is_empty() && !database.starts_with("postgres") {
        reader.refuse(REPLICAS, "none beside SQLite: replicas are streaming standbys of PostgreSQL");
    }
    if !urls.is_empty() && edition == Some(Edition::Cloud) {
        reader.refuse(REPLICAS, "none in the cloud edition, whose tenants have a database each");
    }
    if urls.iter().any(|url| !is_connectable(url) || url.starts_with("sqlite:")) {
        reader.refuse(REPLICAS, "postgres://USER:PASSWORD@HOST/DATABASE of each standby");
    }
    if lag.is_some_and(|lag| lag < LEAST_LAG) {
        reader.refuse(LAG, "a time of 5s or more, or off");
    }
    (urls.into_iter().map(Secret).collect(), lag)
}

const LEAST_LAG: Duration = Duration::from_secs(5);

/// What could not be read is left out: its fault is noted, and no settings come of it.
fn dialects(reader: &mut Reader<'_>) -> Dialects {
    const SHARED: &str = "Dialects:SharedPrefix";
    // A place among all, or all of them.
    let mut choices: Vec<(&str, Option<usize>)> =
        SPOKEN.iter().enumerate().map(|(place, dialect)| (dialect.letter, Some(place))).collect();
    choices.push(("Both", None));
    let chosen = reader.choice("Dialect", &choices);
    let alone = chosen.flatten();
    let bases: Each<Option<String>> = std::array::from_fn(|place| {
        let given = reader.prefix(&keys::of_dialect(SPOKEN[place].letter, "Prefix")).ok()?;
        Some(given.unwrap_or_else(|| if alone.is_some() { "/api".into() } else { SPOKEN[place].usual_base() }))
    });
    let shared = if reader.is_turned_off(SHARED) { None } else { reader.prefix(SHARED).ok().flatten() };
    match chosen {
        Some(None) => {
            let each = SPOKEN.iter().zip(&bases).map(|(one, base)| (keys::of_dialect(one.letter, "Prefix"), base));
            let all: Vec<(String, &Option<String>)> = each.chain([(SHARED.to_owned(), &shared)]).collect();
            for (place, (key, base)) in all.iter().enumerate() {
                for (other_key, other) in &all[place + 1..] {
                    reader.apart((key, base.as_deref()), (other_key, other.as_deref()));
                }
            }
            Dialects { bases, shared }
        }
        Some(Some(alone)) => {
            let mut places = 0..;
            Dialects { bases: bases.map(|base| base.filter(|_| places.next() == Some(alone))), shared: None }
        }
        None => Dialects::default(),
    }
}

/// Keys that differ and are read only at the start. The others a running server takes: the dialects, the token's
/// lifetime, the requests and the time for reads per minute, the log level, the CORS origins, the page that compares.
pub fn restart_needed<S: AsRef<Settings>>(old: &S, new: &S) -> Vec<&'static str> {
    let (old, new) = (old.as_ref(), new.as_ref());
    let changed = [
        ("Edition", old.edition != new.edition),
        ("Cloud:Catalogue", old.cloud.catalogue != new.cloud.catalogue),
        ("Cloud:Admin:Listen", old.cloud.admin != new.cloud.admin),
        ("Cloud:Admin:Key", old.cloud.admin_key != new.cloud.admin_key),
        ("Urls", old.listen != new.listen),
        ("Server:Tls:Url", old.tls_listen != new.tls_listen),
        ("Server:Tls:Certificate", old.tls_certificate != new.tls_certificate),
        ("Server:Tls:Key", old.tls_key != new.tls_key),
        ("ConnectionStrings:Default", old.database != new.database),
        ("Data", old.data != new.data),
        ("Database:PoolSize", old.pool_size != new.pool_size),
        ("Database:Readers", old.readers != new.readers),
        ("Database:LogBudget", old.log_budget != new.log_budget),
        ("Database:Replicas", old.replicas != new.replicas),
        ("Database:ReplicaLag", old.replica_lag != new.replica_lag),
        ("Memory:Caches", old.caches != new.caches),
        ("Database:AutoMigrate", old.auto_migrate != new.auto_migrate),
        ("Database:ConnectTimeout", old.connect_timeout != new.connect_timeout),
        ("Database:StatementTimeout", old.statement_timeout != new.statement_timeout),
        ("Database:WriteTimeout", old.write_timeout != new.write_timeout),
        ("JwtSettings:Secret", old.token_secret != new.token_secret),
        ("Security:MasterKey", old.master_key != new.master_key),
        ("JwtSettings:Issuer", old.token_issuer != new.token_issuer),
        ("JwtSettings:Audience", old.token_audience != new.token_audience),
        ("Bootstrap:Email", old.bootstrap_email != new.bootstrap_email),
        ("Bootstrap:Username", old.bootstrap_username != new.bootstrap_username),
        ("Bootstrap:Password", old.bootstrap_password != new.bootstrap_password),
        ("Limits:Body", old.body_limit != new.body_limit),
        ("Limits:Header", old.header_timeout != new.header_timeout),
        ("Limits:BodyIdle", old.body_idle != new.body_idle),
        ("Limits:AnswerIdle", old.answer_idle != new.answer_idle),
        ("Limits:SlowestRate", old.slowest_rate != new.slowest_rate),
        ("Limits:Request", old.request_timeout != new.request_timeout),
        ("Limits:MaxConnections", old.max_connections != new.max_connections),
        ("Limits:AnonymousConnections", old.anonymous_connections != new.anonymous_connections),
        ("Limits:ConnectionsPerAddress", old.connections_per_address != new.connections_per_address),
        ("Limits:ConnectionsPerAccount", old.connections_per_account != new.connections_per_account),
        ("Limits:WriteQueue", old.write_queue != new.write_queue),
        ("Limits:RequestsAtOnce", old.requests_at_once != new.requests_at_once),
        ("Logging:Format", old.log_format != new.log_format),
        ("Metrics:Enabled", old.metrics.enabled != new.metrics.enabled),
        ("Metrics:Listen", old.metrics.listen != new.metrics.listen),
        ("Telemetry:Endpoint", old.telemetry.endpoint != new.telemetry.endpoint),
        ("Telemetry:Headers", old.telemetry.headers != new.telemetry.headers),
        ("Telemetry:Service", old.telemetry.service != new.telemetry.service),
        ("Telemetry:Traces", old.telemetry.traces != new.telemetry.traces),
        ("Telemetry:Logs", old.telemetry.logs != new.telemetry.logs),
        ("Telemetry:Timeout", old.telemetry.timeout != new.telemetry.timeout),
        ("Webhooks:Enabled", old.telling.enabled != new.telling.enabled),
        ("Webhooks:AllowNetworks", old.telling.networks != new.telling.networks),
        ("Webhooks:Timeout", old.telling.timeout != new.telling.timeout),
        ("Webhooks:Retries", old.telling.retries != new.telling.retries),
        ("Events:Every", old.days_every != new.days_every),
        ("TrustedProxies", old.trusted_proxies != new.trusted_proxies),
        ("Shutdown:Grace", old.shutdown_grace != new.shutdown_grace),
    ];
    changed.into_iter().filter_map(|(key, changed)| changed.then_some(key)).collect()
}
