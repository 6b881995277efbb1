//! The layers, what is told of them, and (in `values`) what stands in them.

use super::keys::KEYS;
use super::layers::home;
use super::settings::{Cloud, Key, Metrics, Secret, Telling};
use super::*;
use crate::dialects::SPOKEN;
use std::path::{Path, PathBuf};
use std::time::Duration;

mod values;

/// A folder of its own, gone when the test is over.
struct Folder(PathBuf);

impl Folder {
    fn with(files: &[(&str, &str)]) -> Self {
        use std::sync::atomic::{AtomicUsize, Ordering};
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("duet-config-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = Self(std::env::temp_dir().join(name));
        std::fs::create_dir_all(&folder.0).unwrap();
        for (name, text) in files {
            std::fs::write(folder.0.join(name), text).unwrap();
        }
        folder
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    fn source(&self, environment: &[(&str, &str)], overrides: &[(&str, &str)]) -> Source {
        let owned =
            |pairs: &[(&str, &str)]| pairs.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
        Source {
            dir: Some(self.0.clone()),
            environment: owned(environment),
            overrides: owned(overrides),
            ..Source::default()
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _gone = std::fs::remove_dir_all(&self.0);
    }
}

type Pairs = &'static [(&'static str, &'static str)];

const SECRET: &str = "lanterns over the harbour at dusk";

fn custom(text: &str, environment: &[(&str, &str)], overrides: &[(&str, &str)]) -> Result<Loaded, ConfigError> {
    let folder = Folder::with(&[("appsettings.Custom.json", text)]);
    load(&folder.source(environment, overrides))
}

fn settings(text: &str, environment: &[(&str, &str)]) -> Settings {
    custom(text, environment, &[]).unwrap().settings
}

fn refusal(text: &str, environment: &[(&str, &str)]) -> String {
    custom(text, environment, &[]).unwrap_err().to_string()
}

fn dialects(a: &str, b: &str, shared: &str) -> Dialects {
    let served = |prefix: &str| (prefix != "-").then(|| prefix.to_owned());
    // Any other is beside them, where both are served.
    let bases = std::array::from_fn(|place| {
        let usual = (a != "-" && b != "-").then(|| SPOKEN[place].usual_base());
        [a, b].get(place).map_or(usual, |given| served(given))
    });
    Dialects { bases, shared: served(shared) }
}

#[test]
fn defaults_are_the_shipped_file_and_all_of_it_is_known() {
    let loaded = custom("{}", &[], &[]).unwrap();
    assert_eq!(loaded.warnings, Vec::<String>::new());
    let expected = Settings {
        edition: Edition::Server,
        tenant: None,
        cloud: Cloud {
            catalogue: Secret("sqlite:./data/catalogue.db".into()),
            clusters: Vec::new(),
            most_open: 200,
            idle: Duration::from_mins(10),
            admin: "127.0.0.1:9466".parse().unwrap(),
            admin_key: None,
        },
        listen: "127.0.0.1:5000".parse().unwrap(),
        tls_listen: "127.0.0.1:5443".parse().unwrap(),
        tls_certificate: None,
        tls_key: None,
        dialects: dialects("/a/api", "/b/api", "/api"),
        retiring: Default::default(),
        database: Secret("sqlite:./data/duet.db".into()),
        data: "./data".into(),
        pool_size: 16,
        readers: 4,
        replicas: Vec::new(),
        replica_lag: None,
        auto_migrate: true,
        connect_timeout: Duration::from_secs(5),
        statement_timeout: Duration::from_secs(25),
        write_timeout: Duration::from_secs(15),
        token_lifetime: Duration::from_hours(1),
        token_secret: None,
        master_key: None,
        token_issuer: "duet".into(),
        token_audience: "duet".into(),
        bootstrap_email: None,
        bootstrap_username: None,
        bootstrap_password: None,
        body_limit: 1 << 20,
        header_timeout: Duration::from_secs(10),
        body_idle: Duration::from_secs(10),
        answer_idle: Duration::from_secs(20),
        slowest_rate: 4 << 10,
        request_timeout: Duration::from_secs(30),
        max_connections: 4096,
        anonymous_connections: 3072,
        connections_per_address: 2048,
        connections_per_account: 2048,
        write_queue: 1024,
        requests_per_minute: 30_000,
        log_budget: 256 << 20,
        caches: 256 << 20,
        read_time: Duration::from_mins(4),
        write_time: Duration::from_secs(40),
        requests_at_once: 1024,
        log_level: "info".into(),
        log_format: LogFormat::Auto,
        metrics: Metrics { enabled: false, listen: "127.0.0.1:9464".parse().unwrap() },
        telemetry: Telemetry {
            endpoint: None,
            headers: Secret::of(String::new()),
            service: "duet".into(),
            traces: true,
            logs: true,
            timeout: Duration::from_secs(10),
        },
        cors_origins: Vec::new(),
        compare_enabled: true,
        compare_users: Vec::new(),
        telling: Telling {
            enabled: true,
            networks: Vec::new(),
            timeout: Duration::from_secs(15),
            retries: [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400].map(Duration::from_secs).to_vec(),
        },
        days_every: Some(Duration::from_mins(1)),
        trusted_proxies: Vec::new(),
        shutdown_grace: Duration::from_secs(30),
    };
    assert_eq!(loaded.settings, expected);
    for key in KEYS.iter() {
        assert!(loaded.merged.defaults.contains_key(key.name), "{} is not in the shipped file", key.name);
    }
}

#[test]
fn later_layers_win() {
    const KEY: &str = "JwtSettings:ExpirationMinutes";
    let (shipped, own) = ("{\"JwtSettings:ExpirationMinutes\": 50}", "{\"JwtSettings\": {\"ExpirationMinutes\": 40}}");
    let folder = Folder::with(&[("appsettings.json", shipped)]);
    let minutes = |environment: &[(&str, &str)], overrides: &[(&str, &str)]| {
        load(&folder.source(environment, overrides)).unwrap().settings.token_lifetime.as_secs() / 60
    };
    assert_eq!(minutes(&[], &[]), 50);
    std::fs::write(folder.path("appsettings.Custom.json"), own).unwrap();
    assert_eq!(minutes(&[], &[]), 40);
    assert_eq!(minutes(&[("JwtSettings__ExpirationMinutes", "30")], &[]), 30);
    let both = [("DUET_JwtSettings__ExpirationMinutes", "20"), ("JwtSettings__ExpirationMinutes", "30")];
    assert_eq!(minutes(&both, &[]), 20);
    assert_eq!(minutes(&both, &[(KEY, "15"), (KEY, "10")]), 10);
}

#[test]
fn keys_are_case_insensitive_in_every_layer() {
    let expected = Duration::from_mins(7);
    assert_eq!(settings("{ \"JWTSETTINGS\": { \"expirationminutes\": 7 } }", &[]).token_lifetime, expected);
    for name in
        ["jwtsettings__expirationminutes", "JWTSETTINGS__EXPIRATIONMINUTES", "duet_JWTSETTINGS__expirationMinutes"]
    {
        assert_eq!(settings("{}", &[(name, "7")]).token_lifetime, expected, "{name}");
    }
    let loaded = custom("{}", &[], &[("jwtsettings:EXPIRATIONMINUTES", "7")]).unwrap();
    assert_eq!(loaded.settings.token_lifetime, expected);
    assert_eq!(settings("{}", &[("Dialect", "bOTH")]).dialects, dialects("/a/api", "/b/api", "/api"));
}

#[test]
fn files_are_read_as_dotnet_reads_them() {
    let text = "\u{feff}// the operator's\r\n{ /* both * / ** */ \"dialect\": \"a\", // A\n \"Limits\": { \"Body\": 2048, },\n\
                \"Cors\": { \"Origins\": [\"https://x.example\", /* last */ ], }, }\n// end";
    let settings = settings(text, &[]);
    assert_eq!(settings.dialects, dialects("/api", "-", "-"));
    assert_eq!((settings.body_limit, settings.cors_origins), (2048, vec!["https://x.example".to_owned()]));
}

#[test]
fn a_broken_file_is_told_with_its_line() {
    let deep = format!("{{\"a\":{}", "[".repeat(100_000));
    let cases = [
        ("", ":1: expected { at the beginning"),
        ("[]", ":1: expected { at the beginning"),
        ("{\n\"Dialect\": }", ":2: expected a value"),
        ("{\n\n\"Dialect\" \"A\" }", ":3: expected : after Dialect"),
        ("{ \"Dialect\": \"A\"\n\"Urls\": \"\" }", ":2: expected , or }"),
        ("{ \"Dialect\": \"A\n\" }", ":1: the text does not end on its line"),
        ("{ \"Dialect\": \"\\q\" }", ":1: the text has an unknown escape"),
        ("{\n/* for ever", ":2: the comment does not end"),
        ("{,}", ":1: expected a name in quotes, or }"),
        ("{} {}", ":1: expected nothing after the closing }"),
        (&deep, ":1: nested more than 32 deep"),
    ];
    for (text, expected) in cases {
        let error = refusal(text, &[]);
        assert!(error.contains(&format!("appsettings.Custom.json{expected}")), "{text:.60}\n{error}");
    }
    assert!(!refusal("{ \"JwtSettings\": { \"Secret\": hunter2 } }", &[]).contains("hunter2"));
}

#[test]
fn a_key_given_twice_is_refused_with_both_places() {
    let cases = [
        ("{ \"Data\": \"a\",\n\"DATA\": \"b\" }", ":2: DATA is given twice, here and on line 1"),
        (
            "{ \"Limits\": { \"Body\": 1 },\n\n\"limits\": { \"Header\": 2 } }",
            ":3: limits is given twice, here and on line 1",
        ),
        ("{ \"Data:X\": 1,\n \"Data\": { \"X\": 2 } }", ":2: Data:X is given twice, here and on line 1"),
        ("{ \"Data\": \"a\",\n \"Data_FILE\": \"b\", }", ":2: Data_FILE: cannot read b"),
    ];
    for (text, expected) in cases {
        let error = refusal(text, &[]);
        assert!(error.contains(expected), "{text}\n{error}");
    }
    let error = refusal("{}", &[("Limits__Body", "1"), ("LIMITS__BODY", "2")]);
    assert!(
        error.contains("environment LIMITS__BODY: LIMITS:BODY is given twice, here and by Limits__Body"),
        "{error}"
    );
    let three = refusal("{ \"Data\": 1, \"Data\": 2,\n \"Urls\": 1, \"Urls\": 2, \"Dialect\": }", &[]);
    assert_eq!(three.lines().count(), 3, "{three}");
}

#[test]
fn an_unknown_key_is_a_warning_with_a_suggestion_and_an_error_of_the_check() {
    let cases = [
        (
            "{ \"JwtSettings\": {\n\"ExpirationMinuts\": 5 } }",
            ":2: JwtSettings:ExpirationMinuts is not a known key; did you mean JwtSettings:ExpirationMinutes?",
        ),
        (
            "{ \"ExpirationMinutes\": 5 }",
            ":1: ExpirationMinutes is not a known key; did you mean JwtSettings:ExpirationMinutes?",
        ),
        (
            "{ \"JwtSettings\": { \"Secrt_FILE\": \"x\" } }",
            ":1: JwtSettings:Secrt_FILE is not a known key; did you mean JwtSettings:Secret_FILE?",
        ),
        (
            "{ \"Database\": { \"Readers_FILE\": \"x\" } }",
            ":1: Database:Readers_FILE is not a known key; did you mean Database:Readers?",
        ),
        ("{ \"Kestrel\": { \"Certificates\": \"x\" } }", ":1: Kestrel:Certificates is not a known key"),
    ];
    for (text, expected) in cases {
        let folder = Folder::with(&[("appsettings.Custom.json", text)]);
        let source = folder.source(&[], &[]);
        let warnings = load(&source).unwrap().warnings;
        assert!(matches!(warnings.as_slice(), [only] if only.ends_with(expected)), "{text}\n{warnings:?}");
        assert_eq!(check(&source).errors, 1);
    }
    assert_eq!(custom("{ \"$schema\": \"x\" }", &[], &[]).unwrap().warnings, Vec::<String>::new());
}

#[test]
fn only_variables_that_are_ours_are_looked_at() {
    let others = [
        ("PATH", "/"),
        ("DATA", "/elsewhere"),
        ("LIMITS", "x"),
        ("DUET_TEST_POSTGRES", "required"),
        ("DUET_LIMITS", "x"),
        ("Serilog__Level", "x"),
        ("Data_", "x"),
        ("é__x", ""),
    ];
    let loaded = custom("{}", &others, &[]).unwrap();
    assert_eq!((loaded.warnings, loaded.settings), (Vec::new(), settings("{}", &[])));
    assert_eq!(settings("{}", &[("Data", "/here")]).data, Path::new("/here"));
    assert_eq!(settings("{}", &[("DUET_DATA", "/here")]).data, Path::new("/here"));
    for (name, hint) in [("Limits__Bdy", "Limits:Body"), ("DUET_Urs", "Urls")] {
        let warnings = custom("{}", &[(name, "x")], &[]).unwrap().warnings;
        let ending = format!(" is not a known key; did you mean {hint}?");
        assert!(
            matches!(warnings.as_slice(), [only] if only.starts_with("environment ") && only.ends_with(&ending)),
            "{warnings:?}"
        );
    }
    // What is typed is meant: nothing starts with a default in its place.
    let refused = custom("{}", &[], &[("Database:Url", "postgres://elsewhere/duet")]).unwrap_err().to_string();
    assert!(refused.contains("command line: Database:Url is not a known key"), "{refused}");
}

#[test]
fn a_secret_may_stand_in_a_file() {
    for end in ["", "\n", "\r\n"] {
        let folder = Folder::with(&[("secret", &format!("{SECRET}{end}"))]);
        let path = folder.path("secret");
        for name in ["JwtSettings__Secret_FILE", "DUET_jwtsettings__secret_file"] {
            let loaded = load(&folder.source(&[(name, &path)], &[])).unwrap();
            assert_eq!(loaded.settings.token_secret.as_ref().map(Key::expose), Some(SECRET.as_bytes()));
            let shown =
                [loaded.show(), loaded.show_json(), format!("{loaded:?}").split("merged").next().unwrap().into()];
            assert!(shown.iter().all(|text| !text.contains(SECRET)), "{shown:?}");
        }
    }
    let folder = Folder::with(&[("two", "/x\n\n")]);
    assert_eq!(
        load(&folder.source(&[("Data_FILE", &folder.path("two"))], &[])).unwrap().settings.data,
        Path::new("/x\n")
    );
    let error = refusal("{\n \"JwtSettings\": { \"Secret_FILE\": \"/nowhere/at/all\" } }", &[]);
    assert!(error.contains(":2: JwtSettings:Secret_FILE: cannot read /nowhere/at/all: "), "{error}");
}

#[test]
fn a_file_behind_a_key_has_the_rank_of_its_layer() {
    let folder = Folder::with(&[("data", "/from/file"), ("short", "short")]);
    let path = folder.path("data");
    std::fs::write(folder.path("appsettings.Custom.json"), format!("{{ \"Data\": null, \"Data_FILE\": {path:?} }}"))
        .unwrap();
    let data = |environment: &[(&str, &str)], overrides: &[(&str, &str)]| {
        load(&folder.source(environment, overrides)).unwrap().settings.data.display().to_string()
    };
    assert_eq!(data(&[], &[]), "/from/file");
    assert_eq!(data(&[("Data", "/from/environment")], &[]), "/from/environment");
    assert_eq!(data(&[("Data_FILE", &path)], &[("Data", "/from/flag")]), "/from/flag");
    let twice = load(&folder.source(&[("Data", "/x"), ("Data_FILE", &path)], &[])).unwrap_err().to_string();
    assert!(twice.contains("Data is given twice"), "{twice}");
    let short = folder.path("short");
    let error = load(&folder.source(&[("JwtSettings__Secret_FILE", &short)], &[])).unwrap_err().to_string();
    let expected = format!(
        "{short} (environment JwtSettings__Secret_FILE): JwtSettings:Secret: expected at least 32 bytes, got 5 bytes"
    );
    assert_eq!(error, expected);
}

#[cfg(unix)]
#[test]
fn a_secret_file_that_everybody_can_read_is_a_warning() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::with(&[("secret", SECRET)]);
    let path = folder.path("secret");
    for (mode, expected) in [(0o644, 1), (0o600, 0)] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        let source = folder.source(&[("JwtSettings__Secret_FILE", &path)], &[]);
        assert_eq!(load(&source).unwrap().warnings.len(), expected);
        assert_eq!(check(&source).warnings, expected);
        let not_secret = folder.source(&[("JwtSettings__Issuer_FILE", &path)], &[]);
        assert_eq!(load(&not_secret).unwrap().warnings.len(), 0);
    }
}

#[test]
fn a_secret_in_settings_that_everybody_can_read_is_a_warning() {
    use std::os::unix::fs::PermissionsExt;
    let text = format!("{{ \"JwtSettings\": {{ \"Secret\": \"{SECRET}\", \"Issuer\": \"duet\" }} }}");
    let folder = Folder::with(&[("appsettings.Custom.json", &text)]);
    for (mode, expected) in [(0o644, 1), (0o600, 0)] {
        std::fs::set_permissions(folder.path("appsettings.Custom.json"), std::fs::Permissions::from_mode(mode))
            .unwrap();
        let checked = check(&folder.source(&[], &[]));
        assert_eq!((checked.errors, checked.warnings), (0, expected), "{}", checked.report);
    }
}

#[test]
fn what_is_shown_says_where_it_comes_from() {
    let text = "{\n\"Limits\": { \"Body\": \"2MB\" },\n\"Cors\": { \"Origins\": [\"https://a.example\", \"https://b.example\"] } }";
    let environment =
        [("ConnectionStrings__Default", "postgres://duet:pw@h/d"), ("Bootstrap__Password", "a long password")];
    let loaded = custom(text, &environment, &[("Data", "/x")]).unwrap();
    let shown = loaded.show();
    let cases = [
        ("Limits:Body", "2MB", "appsettings.Custom.json:2"),
        ("Cors:Origins", "https://a.example, https://b.example", "appsettings.Custom.json:3"),
        ("ConnectionStrings:Default", "postgres://duet:***@h/d", "environment ConnectionStrings__Default"),
        ("Bootstrap:Password", "***", "environment Bootstrap__Password"),
        ("Data", "/x", "command line"),
        ("Dialects:A:Prefix", "/a/api", "default"),
        ("JwtSettings:Secret", "-", "default"),
    ];
    let json: serde_json::Value = serde_json::from_str(&loaded.show_json()).unwrap();
    for (key, value, origin) in cases {
        let line = shown.lines().find(|line| line.split_whitespace().next() == Some(key)).unwrap();
        assert!(line.contains(value) && line.ends_with(origin), "{line}");
        assert_eq!(json[key]["value"].as_str().unwrap_or("-"), value);
        assert_eq!(json[key]["default"], origin == "default");
        assert!(json[key]["source"].as_str().unwrap().ends_with(origin));
    }
    assert_eq!(shown.lines().count(), KEYS.len());
}

#[test]
fn the_check_warns_of_weak_settings() {
    let cases: [(Pairs, usize, usize); 11] = [
        (&[], 0, 0),
        (&[("Urls", "http://0.0.0.0:80")], 0, 1),
        (&[("JwtSettings__Secret", SECRET)], 0, 1),
        (&[("JwtSettings__Secret", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")], 1, 1),
        (&[("Security__MasterKey", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")], 0, 2),
        (&[("Security__MasterKey", SECRET)], 0, 1),
        (&[("JwtSettings__Secret", "short")], 1, 1),
        (&[("Cors__Origins", "http://x.example,https://y.example")], 0, 1),
        (&[("ConnectionStrings__Default", "postgres://u:p@h/d")], 0, 2),
        (&[("ConnectionStrings__Default", "postgres://u@h/d")], 0, 1),
        (&[("Limits__Bdy", "1"), ("Dialect", "C")], 2, 0),
    ];
    for (environment, errors, warnings) in cases {
        let checked = check(&Folder::with(&[]).source(environment, &[]));
        assert_eq!((checked.errors, checked.warnings), (errors, warnings), "{}", checked.report);
        assert_eq!(checked.report.lines().count(), errors + warnings + 2);
        assert!(!checked.report.contains(SECRET));
    }
}

#[test]
fn a_named_folder_must_exist() {
    let folder = Folder::with(&[]);
    let missing = Source { dir: Some(folder.0.join("none")), ..Source::default() };
    let error = load(&missing).unwrap_err().to_string();
    assert!(error.ends_with("none: there is no such folder"), "{error}");
    let names: Vec<_> =
        folder.source(&[], &[]).files().iter().map(|path| path.file_name().unwrap().to_owned()).collect();
    assert_eq!(names, ["appsettings.json", "appsettings.Custom.json"]);
    // Beside whoever runs it, and where there is nothing, where a package puts it.
    let [here, installed, gone, neither] = ["here", "installed", "gone", "neither"].map(|name| folder.0.join(name));
    for made in [&here, &installed] {
        std::fs::create_dir(made).unwrap();
    }
    assert_eq!(home(&here, &installed), here);
    assert_eq!(home(&gone, &installed), installed);
    assert_eq!(home(&gone, &neither), gone);
}

#[test]
fn what_needs_a_restart_is_named() {
    let other = |name: &str| match name {
        "Edition" => "Cloud",
        "Urls" => "http://127.0.0.1:1",
        "Server:Tls:Url" => "https://127.0.0.1:1",
        "Dialect" => "A",
        of_dialects if of_dialects.starts_with("Dialects:") => match of_dialects.rsplit(':').next().unwrap() {
            "Prefix" | "SharedPrefix" => "/other",
            "Deprecation" | "Sunset" => "2027-06-30",
            "Link" => "https://docs.example/move",
            _ => "gone",
        },
        "ConnectionStrings:Default" => "postgres://duet@127.0.0.1/other",
        "Database:Replicas" => "postgres://duet@127.0.0.1:1/other",
        "Cloud:Catalogue" => "sqlite:other",
        "Cloud:Clusters" => "north=postgres://duet@127.0.0.1/postgres",
        "Cloud:Admin:Listen" => "127.0.0.1:9998",
        "Database:AutoMigrate" | "Compare:Enabled" | "Webhooks:Enabled" | "Telemetry:Traces" | "Telemetry:Logs" => {
            "false"
        }
        "JwtSettings:Secret" | "Security:MasterKey" | "Cloud:Admin:Key" => SECRET,
        "Metrics:Enabled" => "true",
        "Metrics:Listen" => "127.0.0.1:9999",
        "Telemetry:Endpoint" => "http://127.0.0.1:4318",
        "Telemetry:Headers" => "x-tenant=one",
        "Logging:Level" => "warn",
        "Logging:Format" => "json",
        "Cors:Origins" => "https://x.example",
        "TrustedProxies" | "Webhooks:AllowNetworks" => "::1",
        _ => "7",
    };
    let live = [
        "Dialect",
        "Dialects:A:Prefix",
        "Dialects:B:Prefix",
        "Dialects:SharedPrefix",
        "JwtSettings:ExpirationMinutes",
        "Limits:RequestsPerMinute",
        "Limits:ReadTime",
        "Limits:WriteTime",
        "Logging:Level",
        "Cors:Origins",
        "Compare:Enabled",
        "Compare:Users",
        "Cloud:Tenant",
        "Cloud:Clusters",
        "Cloud:MostOpen",
        "Cloud:Idle",
    ];
    // One does not go without the other.
    let pair = ["Server:Tls:Certificate", "Server:Tls:Key"];
    let of_postgres = ["ConnectionStrings:Default", "Database:Replicas"];
    let old = custom("{}", &[], &[]).unwrap();
    for key in KEYS.iter() {
        let changed = match key.name {
            name if pair.contains(&name) => pair.to_vec(),
            "Database:Replicas" => of_postgres.to_vec(),
            name => vec![name],
        };
        let overrides: Vec<(&str, &str)> = changed.iter().map(|name| (*name, other(name))).collect();
        let new = custom("{}", &[], &overrides).unwrap();
        assert_ne!(old.settings, new.settings, "{}", key.name);
        let expected = match key.name {
            "Data" => vec!["Cloud:Catalogue", "ConnectionStrings:Default", "Data"],
            name if live.contains(&name) || name.starts_with("Dialects:") => vec![],
            _ => changed,
        };
        assert_eq!(restart_needed(&old, &new), expected);
        assert_eq!(restart_needed(&old.settings, &new.settings), expected);
    }
}

#[test]
fn the_operators_example_is_good() {
    let example = include_str!("../../../../config/appsettings.Custom.example.json");
    let folder = Folder::with(&[("database-url", "postgres://duet:pw@127.0.0.1/duet\n"), ("token-secret", SECRET)]);
    let text = example.replace("/etc/duet", &folder.0.display().to_string());
    std::fs::write(folder.path("appsettings.Custom.json"), text).unwrap();
    let checked = check(&folder.source(&[], &[]));
    assert_eq!(checked.errors, 0, "{}", checked.report);
}

#[test]
fn a_database_elsewhere_without_a_verified_certificate_is_a_warning() {
    for (url, expected) in [
        ("postgres://duet@db.example.com/duet", 1),
        ("postgres://duet@db.example.com/duet?sslmode=require", 1),
        ("postgres://duet@db.example.com/duet?sslmode=verify-full", 0),
        ("postgres://duet@127.0.0.1/duet", 0),
        ("sqlite:data/duet.db", 0),
    ] {
        let folder = Folder::with(&[]);
        let checked = check(&folder.source(&[], &[("ConnectionStrings:Default", url)]));
        assert_eq!((checked.errors, checked.warnings), (0, expected), "{url}: {}", checked.report);
        assert_eq!(checked.report.contains("db.example.com is elsewhere"), expected == 1);
    }
}
