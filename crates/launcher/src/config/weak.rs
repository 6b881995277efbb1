//! Settings that work and should still be looked at: what they let others do, and what they ask of the machine.
//!
//! Owns: each such weakness, in a sentence that begins with the key and ends with what to do. What is around the settings
//! (files, memory, the day) is handed in, so that tests need not change theirs.

use super::settings::{AfterSunset, Retiring, Settings};
use ledger_core::clock::{Clock, Instant};
use ledger_core::database::{file_of, unverified_host};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// What a server takes beside what its caches may weigh, about: its program, documents, connections and requests.
const BESIDE_CACHES: u64 = 256 << 20;

/// What settings are held against.
pub(super) struct Around {
    /// The memory that there is, where that can be known.
    pub(super) memory: Option<u64>,
    pub(super) now: Instant,
}

impl Around {
    /// This machine, as far as this process may use it.
    pub(super) fn here() -> Self {
        let of_machine = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| total(&text));
        let of_group =
            std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| text.trim().parse().ok());
        Self { memory: [of_machine, of_group].into_iter().flatten().min(), now: Clock::system().now() }
    }
}

/// All of the memory, by what the kernel tells of it.
fn total(meminfo: &str) -> Option<u64> {
    let kib = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:")?.split_whitespace().next())?;
    kib.parse::<u64>().ok()?.checked_mul(1 << 10)
}

pub(super) fn found(settings: &Settings, around: &Around) -> Vec<String> {
    [
        of_the_way(settings),
        of_secrets(settings),
        of_places(settings),
        of_dialects(settings, around.now),
        of_memory(settings, around.memory),
        of_patience(settings),
    ]
    .concat()
}

/// What others on the way may read or pretend.
fn of_the_way(settings: &Settings) -> Vec<String> {
    let mut found = Vec::new();
    if !settings.listen.ip().is_loopback() {
        found
            .push(format!("Urls: {} is public and speaks plain HTTP; put a proxy with TLS before it", settings.listen));
    }
    let replicas = settings.replicas.iter().map(|url| ("Database:Replicas", url));
    for (key, url) in [("ConnectionStrings:Default", &settings.database)].into_iter().chain(replicas) {
        let Some(host) = unverified_host(url.expose()) else { continue };
        found.push(format!(
            "{key}: {host} is elsewhere and its certificate is not verified, so others on the way may read and change what \
             is said; add ?sslmode=verify-full"
        ));
    }
    if let Some(metrics) = settings.metrics.told_at().filter(|address| !address.ip().is_loopback()) {
        found.push(format!(
            "Metrics:Listen: {metrics} tells everybody who reaches it how the server does; let only who watches over it"
        ));
    }
    let unencrypted = settings.cors_origins.iter().filter(|origin| origin.starts_with("http://"));
    found.extend(unencrypted.map(|origin| format!("Cors:Origins: {origin} is not encrypted")));
    let everybody = settings.trusted_proxies.iter().filter(|network| network.prefix_len() == 0);
    found.extend(everybody.map(|network| {
        format!("TrustedProxies: {network} is everybody, who may then say to be from anywhere; name the proxies alone")
    }));
    found
}

/// Secrets that are none.
fn of_secrets(settings: &Settings) -> Vec<String> {
    let mut found = Vec::new();
    if settings
        .master_key
        .as_ref()
        .is_some_and(|key| std::str::from_utf8(key.expose()).is_ok_and(ledger_core::strength::is_guessable))
    {
        found.push(
            "Security:MasterKey: can be guessed; for books that are not made yet, leave it out to have one made".into(),
        );
    }
    if let (Some(token), Some(master)) = (&settings.token_secret, &settings.master_key)
        && token == master
    {
        found.push("Security:MasterKey: is the token secret as well; give each a value of its own".into());
    }
    if settings.bootstrap_password.as_ref().is_some_and(|password| password.expose().chars().count() < 12) {
        found.push("Bootstrap:Password: shorter than 12 characters".into());
    }
    let own = [("Data", settings.data.join("token-secret")), ("Data", settings.data.join("master-key"))];
    let database = file_of(settings.database.expose()).map(|file| ("ConnectionStrings:Default", file));
    let key = settings.tls_key.clone().map(|file| ("Server:Tls:Key", file));
    let open = own.into_iter().chain(database).chain(key).filter(|(_, file)| readable_by_all(file));
    found.extend(
        open.map(|(name, file)| format!("{name}: {} can be read by everybody; make it mode 0600", file.display())),
    );
    found
}

/// Whether everybody on the machine can read a file: it is open to all, and so is each folder above it.
pub(super) fn readable_by_all(file: &Path) -> bool {
    let allows =
        |path: &Path, bits: u32| std::fs::metadata(path).is_ok_and(|about| about.permissions().mode() & bits == bits);
    let Ok(file) = file.canonicalize() else { return false };
    allows(&file, 0o004) && file.ancestors().skip(1).all(|folder| allows(folder, 0o001))
}

/// Bounds that bound nothing.
fn of_places(settings: &Settings) -> Vec<String> {
    let all = settings.max_connections;
    let shares = [
        ("Limits:AnonymousConnections", settings.anonymous_connections, "strangers can hold all connections"),
        ("Limits:ConnectionsPerAddress", settings.connections_per_address, "one address can hold all connections"),
        ("Limits:ConnectionsPerAccount", settings.connections_per_account, "one account can hold all connections"),
    ];
    let whole = shares.into_iter().filter(|(_, share, _)| *share >= all);
    whole
        .map(|(name, _, what)| format!("{name}: {what}; keep it below Limits:MaxConnections, which is {all}"))
        .collect()
}

/// Dialects that are all gone.
fn of_dialects(settings: &Settings, now: Instant) -> Vec<String> {
    let is_gone = |retiring: &Retiring| {
        retiring.after == AfterSunset::Gone && retiring.sunset.is_some_and(|sunset| sunset <= now)
    };
    let mut served = settings.dialects.served().map(|(place, ..)| &settings.retiring[place]).peekable();
    let none = served.peek().is_some() && served.all(is_gone);
    none.then(|| "Dialects: every dialect that is served is past its sunset and gone: all requests are 410".to_owned())
        .into_iter()
        .collect()
}

/// More memory than there is.
fn of_memory(settings: &Settings, memory: Option<u64>) -> Vec<String> {
    let Some(memory) = memory else { return Vec::new() };
    let wanted = BESIDE_CACHES.saturating_add(settings.caches as u64);
    let too_much = wanted > memory;
    let megabytes = |bytes: u64| bytes >> 20;
    too_much
        .then(|| {
            format!(
                "Memory:Caches: {} MB, with some {} MB that a server takes beside them, is more than the {} MB that there are",
                megabytes(settings.caches as u64),
                megabytes(BESIDE_CACHES),
                megabytes(memory)
            )
        })
        .into_iter()
        .collect()
}

/// Waits for the database that outlast the client's.
fn of_patience(settings: &Settings) -> Vec<String> {
    if !settings.database.expose().starts_with("postgres") {
        return Vec::new();
    }
    let waits = [
        ("Database:ConnectTimeout", settings.connect_timeout),
        ("Database:StatementTimeout", settings.statement_timeout),
        ("Database:WriteTimeout", settings.write_timeout),
    ];
    let longer = waits.into_iter().filter(|(_, wait)| *wait >= settings.request_timeout);
    longer
        .map(|(name, wait)| {
            let request = settings.request_timeout;
            format!("{name}: {wait:?} is not below Limits:Request, which is {request:?}: clients have left before it is over")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::keys::of_dialect;
    use super::super::layers::{Source, merge};
    use super::super::settings::read;
    use super::*;
    use crate::dialects::SPOKEN;
    use std::fs::{Permissions, create_dir_all, remove_dir_all, set_permissions, write};

    fn settings(overrides: &[(&str, &str)]) -> Settings {
        let overrides = overrides.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
        read(&merge(&Source { dir: Some(std::env::temp_dir()), overrides, ..Source::default() })).unwrap()
    }

    fn around(memory: u64) -> Around {
        Around { memory: Some(memory), now: Instant::parse("2027-07-01T00:00:00Z").unwrap() }
    }

    /// What is set, and the keys that are told.
    type Case<'c> = (&'c [(&'c str, &'c str)], &'c [&'c str]);

    #[test]
    fn each_weakness_is_told_by_its_key_and_nothing_else_is() {
        const GONE: [(&str, &str); 2] = [("Dialects:A:Sunset", "2027-06-30"), ("Dialects:A:AfterSunset", "gone")];
        let each = SPOKEN.iter().flat_map(|one| {
            [("Sunset", "2027-06-30"), ("AfterSunset", "gone")].map(|(key, to)| (of_dialect(one.letter, key), to))
        });
        let each: Vec<(String, &str)> = each.collect();
        let all_gone: Vec<(&str, &str)> = each.iter().map(|(key, to)| (key.as_str(), *to)).collect();
        let postgres = ("ConnectionStrings:Default", "postgres://duet@127.0.0.1/duet");
        let cases: &[Case<'_>] = &[
            (&[], &[]),
            (&[("TrustedProxies", "10.0.0.0/8")], &[]),
            (&[("TrustedProxies", "10.0.0.0/8,0.0.0.0/0,::/0")], &["TrustedProxies", "TrustedProxies"]),
            (&[("Limits:MaxConnections", "3072")], &["Limits:AnonymousConnections"]),
            (&[("Limits:ConnectionsPerAddress", "4096")], &["Limits:ConnectionsPerAddress"]),
            (&[("Limits:ConnectionsPerAccount", "5000")], &["Limits:ConnectionsPerAccount"]),
            (&all_gone, &["Dialects"]),
            (&all_gone[1..], &[]),
            (&[GONE[0], GONE[1], ("Dialect", "A")], &["Dialects"]),
            (&[GONE[0], GONE[1], ("Dialect", "B")], &[]),
            (&[("Memory:Caches", "1GB")], &["Memory:Caches"]),
            (&[("Memory:Caches", "768MB")], &[]),
            (&[("Database:WriteTimeout", "30s")], &[]),
            (&[postgres, ("Database:WriteTimeout", "30s")], &["Database:WriteTimeout"]),
            (
                &[postgres, ("Limits:Request", "5s")],
                &["Database:ConnectTimeout", "Database:StatementTimeout", "Database:WriteTimeout"],
            ),
        ];
        for (overrides, expected) in cases {
            let told = found(&settings(overrides), &around(1 << 30));
            let keys: Vec<&str> = told.iter().filter_map(|line| line.split_once(": ")).map(|(key, _)| key).collect();
            assert_eq!(&keys, expected, "{overrides:?}: {told:?}");
        }
        let same = "a lighthouse keeper counts 4711 gulls";
        let told = found(&settings(&[("JwtSettings:Secret", same), ("Security:MasterKey", same)]), &around(1 << 40));
        assert!(matches!(told.as_slice(), [only] if only.contains("token secret") && !only.contains(same)), "{told:?}");
    }

    #[test]
    fn a_secret_that_everybody_can_read_is_told_and_one_behind_a_closed_folder_is_not() {
        let folder = std::env::temp_dir().join(format!("duet-weak-{}", std::process::id()));
        create_dir_all(&folder).unwrap();
        for name in ["token-secret", "master-key", "duet.db"] {
            write(folder.join(name), name).unwrap();
        }
        let said = |of_folder: u32, of_files: u32| {
            for name in ["token-secret", "master-key", "duet.db"] {
                set_permissions(folder.join(name), Permissions::from_mode(of_files)).unwrap();
            }
            set_permissions(&folder, Permissions::from_mode(of_folder)).unwrap();
            found(&settings(&[("Data", &folder.display().to_string())]), &around(1 << 40)).len()
        };
        assert_eq!([said(0o755, 0o644), said(0o755, 0o600), said(0o700, 0o644)], [3, 0, 0]);
        remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn the_memory_of_a_machine_is_read() {
        assert_eq!(total("MemTotal:       24689764 kB\nMemFree: 1 kB\n"), Some(24_689_764 << 10));
        assert_eq!(total("nothing of it"), None);
        assert!(Around::here().memory.is_some_and(|memory| memory > 1 << 20));
    }
}
