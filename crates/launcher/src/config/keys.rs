//! Every key there is, and what the other modules must know of it.

use crate::dialects::SPOKEN;
use ledger_core::meant::distance;
use std::sync::LazyLock;

/// How a key is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// A text; `_FILE` may name a file that holds it.
    Text,
    /// A number or a flag.
    Plain,
    /// `Key:0`, `Key:1`, ..., or one text with commas.
    List,
}

/// How much of a value may be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    All,
    /// A database's URL, without its password.
    WithoutPassword,
    Nothing,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) shape: Shape,
    pub(super) shown: Shown,
}

const fn text(name: &'static str) -> Key {
    Key { name, shape: Shape::Text, shown: Shown::All }
}

const fn plain(name: &'static str) -> Key {
    Key { name, shape: Shape::Plain, shown: Shown::All }
}

const fn list(name: &'static str) -> Key {
    Key { name, shape: Shape::List, shown: Shown::All }
}

const fn secret(name: &'static str) -> Key {
    Key { name, shape: Shape::Text, shown: Shown::Nothing }
}

const OF_ALL: &[Key] = &[
    text("Edition"),
    text("Cloud:Tenant"),
    Key { name: "Cloud:Catalogue", shape: Shape::Text, shown: Shown::WithoutPassword },
    secret("Cloud:Clusters"),
    text("Cloud:Admin:Listen"),
    secret("Cloud:Admin:Key"),
    plain("Cloud:MostOpen"),
    text("Cloud:Idle"),
    text("Urls"),
    text("Server:Tls:Certificate"),
    text("Server:Tls:Key"),
    text("Server:Tls:Url"),
    text("Dialect"),
    text("Dialects:SharedPrefix"),
    Key { name: "ConnectionStrings:Default", shape: Shape::Text, shown: Shown::WithoutPassword },
    text("Data"),
    plain("Database:PoolSize"),
    plain("Database:Readers"),
    Key { name: "Database:Replicas", shape: Shape::List, shown: Shown::WithoutPassword },
    text("Database:ReplicaLag"),
    text("Database:LogBudget"),
    plain("Database:AutoMigrate"),
    text("Database:ConnectTimeout"),
    text("Database:StatementTimeout"),
    text("Database:WriteTimeout"),
    text("Memory:Caches"),
    plain("JwtSettings:ExpirationMinutes"),
    secret("JwtSettings:Secret"),
    text("JwtSettings:Issuer"),
    text("JwtSettings:Audience"),
    secret("Security:MasterKey"),
    text("Bootstrap:Email"),
    text("Bootstrap:Username"),
    secret("Bootstrap:Password"),
    text("Limits:Body"),
    text("Limits:Header"),
    text("Limits:BodyIdle"),
    text("Limits:AnswerIdle"),
    text("Limits:SlowestRate"),
    text("Limits:Request"),
    plain("Limits:MaxConnections"),
    plain("Limits:AnonymousConnections"),
    plain("Limits:ConnectionsPerAddress"),
    plain("Limits:ConnectionsPerAccount"),
    plain("Limits:WriteQueue"),
    plain("Limits:RequestsPerMinute"),
    plain("Limits:RequestsAtOnce"),
    text("Limits:ReadTime"),
    text("Limits:WriteTime"),
    text("Logging:Level"),
    text("Logging:Format"),
    list("Cors:Origins"),
    plain("Metrics:Enabled"),
    text("Metrics:Listen"),
    text("Telemetry:Endpoint"),
    secret("Telemetry:Headers"),
    text("Telemetry:Service"),
    plain("Telemetry:Traces"),
    plain("Telemetry:Logs"),
    text("Telemetry:Timeout"),
    plain("Compare:Enabled"),
    list("Compare:Users"),
    plain("Webhooks:Enabled"),
    list("Webhooks:AllowNetworks"),
    text("Webhooks:Timeout"),
    list("Webhooks:Retries"),
    text("Events:Every"),
    list("TrustedProxies"),
    text("Shutdown:Grace"),
];

/// What is set of each dialect.
const OF_A_DIALECT: [&str; 5] = ["Prefix", "Deprecation", "Sunset", "Link", "AfterSunset"];

/// The key of something that is set of a dialect.
pub(super) fn of_dialect(letter: &str, name: &str) -> String {
    format!("Dialects:{letter}:{name}")
}

/// All of them. A key's name is borrowed for as long as the program runs, so the names of a dialect's are made once.
pub(super) static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| {
    let name = |letter, name| &*Box::leak(of_dialect(letter, name).into_boxed_str());
    let of_each = SPOKEN.iter().flat_map(|one| OF_A_DIALECT.map(|key| text(name(one.letter, key))));
    let (before, after) = OF_ALL.split_at(OF_ALL.iter().position(|key| key.name == "Dialect").map_or(0, |at| at + 1));
    before.iter().copied().chain(of_each).chain(after.iter().copied()).collect()
});

/// What a written key stands for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Meaning {
    Whole(&'static Key),
    Element(&'static Key, usize),
    /// `Key_FILE`.
    FileOf(&'static Key),
    /// Something inside of a key that has no inside.
    Inside(&'static Key),
    /// The first part of keys, such as `Limits`.
    Section,
    Unknown,
}

pub(super) fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name.eq_ignore_ascii_case(name))
}

pub(super) fn meaning(written: &str) -> Meaning {
    if let Some(key) = find(written) {
        return Meaning::Whole(key);
    }
    if let Some(key) = without_file_suffix(written).and_then(find).filter(|key| key.shape == Shape::Text) {
        return Meaning::FileOf(key);
    }
    if let Some((outer, index)) = written.rsplit_once(':')
        && let Some(key) = find(outer).filter(|key| key.shape == Shape::List)
        && let Ok(index) = index.parse()
    {
        return Meaning::Element(key, index);
    }
    if let Some(key) = KEYS.iter().find(|key| is_inside(written, key.name)) {
        return Meaning::Inside(key);
    }
    if KEYS.iter().any(|key| is_inside(key.name, written)) { Meaning::Section } else { Meaning::Unknown }
}

fn without_file_suffix(written: &str) -> Option<&str> {
    let (name, suffix) = written.split_at_checked(written.len().checked_sub("_FILE".len())?)?;
    suffix.eq_ignore_ascii_case("_FILE").then_some(name)
}

fn is_inside(inner: &str, outer: &str) -> bool {
    inner
        .split_at_checked(outer.len())
        .is_some_and(|(head, tail)| head.eq_ignore_ascii_case(outer) && tail.starts_with(':'))
}

/// Whether a first segment is that of keys with more segments.
pub(super) fn is_section(first: &str) -> bool {
    KEYS.iter().any(|key| is_inside(key.name, first))
}

/// The known key that an unknown one may have been meant to be.
pub(super) fn nearest(written: &str) -> Option<String> {
    let suffixed = without_file_suffix(written);
    let lower = suffixed.unwrap_or(written).to_lowercase();
    let last = |name: &str| name.rsplit(':').next().unwrap_or_default().to_owned();
    let (distance, key) =
        KEYS.iter().map(|key| (distance(&key.name.to_lowercase(), &lower), key)).min_by_key(|(far, _)| *far)?;
    let near = if distance <= 2.max(lower.chars().count() / 5) {
        key
    } else {
        // The right name in the wrong section.
        let mut same = KEYS.iter().filter(|key| last(&key.name.to_lowercase()) == last(&lower));
        same.next().filter(|_| same.next().is_none())?
    };
    let suffix = if suffixed.is_some() && near.shape == Shape::Text { "_FILE" } else { "" };
    Some(format!("{}{suffix}", near.name))
}
