use super::*;

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

    fn source(&self, environment: &[(&str, &str)]) -> Source {
        let pairs = environment.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        Source { dir: Some(self.0.clone()), environment: pairs.collect(), overrides: Vec::new() }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _gone = std::fs::remove_dir_all(&self.0);
    }
}

fn custom(text: &str, environment: &[(&str, &str)]) -> Result<Loaded, ConfigError> {
    let folder = Folder::with(&[("appsettings.Custom.json", text)]);
    load(&folder.source(environment))
}

#[test]
fn defaults_are_the_shipped_file_and_all_of_it_is_known() {
    let loaded = custom("{}", &[]).unwrap();
    assert_eq!(loaded.warnings, Vec::<String>::new());
    assert_eq!(loaded.settings.token_lifetime, Duration::from_hours(1));
    assert_eq!(loaded.settings.listen.to_string(), "127.0.0.1:5000");
    let both = Dialects { a: Some("/a/api".into()), b: Some("/b/api".into()), shared: Some("/api".into()) };
    assert_eq!(loaded.settings.dialects, both);
    for key in KEYS {
        let shown = loaded.merged.find(key.name).is_some() || !loaded.merged.list(key.name).is_empty();
        assert!(shown || matches!(key.name, "Cors:Origins" | "TrustedProxies"), "{} has no default", key.name);
    }
}

#[test]
fn later_layers_win() {
    let text = r#"{ "JwtSettings": { "ExpirationMinutes": 30 } }"#;
    assert_eq!(custom(text, &[]).unwrap().settings.token_lifetime, Duration::from_mins(30));
    for name in
        ["JwtSettings__ExpirationMinutes", "jwtsettings__expirationminutes", "DUET_JwtSettings__ExpirationMinutes"]
    {
        assert_eq!(custom(text, &[(name, "15")]).unwrap().settings.token_lifetime, Duration::from_mins(15), "{name}");
    }
    let folder = Folder::with(&[("appsettings.Custom.json", text)]);
    let mut source = folder.source(&[("JwtSettings__ExpirationMinutes", "15")]);
    source.overrides = vec![("JwtSettings:ExpirationMinutes".into(), "5".into())];
    assert_eq!(load(&source).unwrap().settings.token_lifetime, Duration::from_mins(5));
}

#[test]
fn files_are_read_as_dotnet_reads_them() {
    let text = "\u{feff}// the operator's\n{ /* both */ \"dialect\": \"a\", \"Limits\": { \"Body\": \"2MB\", }, }";
    let settings = custom(text, &[]).unwrap().settings;
    assert_eq!(settings.dialects, Dialects { a: Some("/api".into()), b: None, shared: None });
    assert_eq!(settings.body_limit, 2 << 20);
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let cases = [
        (
            "{\n\"JwtSettings\": {\n\"ExpirationMinutes\": \"soon\" } }",
            ":3: JwtSettings:ExpirationMinutes: expected a whole number from 1 to 1440, got \"soon\"",
        ),
        ("{ \"Dialect\": \"C\" }", ":1: Dialect: expected one of A, B, Both, got \"C\""),
        (
            "{ \"Limits\": { \"Body\": 1 },\n \"limits\": { \"body\": 2 } }",
            ":2: limits:body is given twice, here and on line 1",
        ),
        ("{ \"Dialect\": }", ":1: expected a value"),
        (
            "{ \"Dialects\": { \"A\": { \"Prefix\": \"/b/api/x\" } } }",
            "Dialects:A:Prefix (/b/api/x) and Dialects:B:Prefix (/b/api) must not be equal or nested",
        ),
        ("{ \"Dialects\": { \"A\": { \"Prefix\": \"/swagger\" } } }", "Dialects:A:Prefix: expected a path"),
        (
            "{ \"JwtSettings\": { \"Secret\": \"short\" } }",
            "JwtSettings:Secret: expected at least 32 bytes, got something else",
        ),
        ("{ \"Cors\": { \"Origins\": [\"*\"] } }", "Cors:Origins: expected scheme://host"),
        ("{ \"TrustedProxies\": \"10.0.0.0/33\" }", "TrustedProxies: expected an address or network"),
        (
            "{ \"ConnectionStrings\": { \"Default\": \"mysql://u:hidden@h/d\" } }",
            "ConnectionStrings:Default: expected a URL",
        ),
    ];
    for (text, expected) in cases {
        let error = custom(text, &[]).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}\n{error}");
        assert!(!error.contains("hidden") && !error.contains("short"), "{error}");
    }
    let two = custom("{ \"Dialect\": \"C\", \"Data\": null, \"Database\": { \"Readers\": 0 } }", &[])
        .unwrap_err()
        .to_string();
    assert_eq!(two.lines().count(), 2, "{two}");
}

#[test]
fn an_unknown_key_is_a_warning_with_a_suggestion_and_an_error_of_the_check() {
    let folder = Folder::with(&[("appsettings.Custom.json", "{ \"JwtSettings\": { \"ExpirationMinuts\": 5 } }")]);
    let source = folder.source(&[]);
    let warnings = load(&source).unwrap().warnings;
    assert_eq!(warnings.len(), 1);
    assert!(
        warnings[0]
            .ends_with("JwtSettings:ExpirationMinuts is not a known key; did you mean JwtSettings:ExpirationMinutes?")
    );
    assert_eq!(check(&source).errors, 1);
}

#[test]
fn a_secret_may_stand_in_a_file() {
    let secret = "0123456789abcdef0123456789abcdef";
    let folder = Folder::with(&[("secret", &format!("{secret}\n"))]);
    let path = folder.0.join("secret").display().to_string();
    let loaded = load(&folder.source(&[("JwtSettings__Secret_FILE", &path)])).unwrap();
    assert_eq!(loaded.settings.token_secret.as_ref().map(Secret::expose), Some(secret));
    assert!(!loaded.show().contains(secret) && !format!("{:?}", loaded.settings).contains(secret));
    assert!(load(&folder.source(&[("JwtSettings__Secret_FILE", "/nowhere/at/all")])).is_err());
}

#[test]
fn lists_are_said_by_index_or_in_one_text() {
    let text = r#"{ "Cors": { "Origins": ["https://one.example", "https://two.example"] } }"#;
    assert_eq!(custom(text, &[]).unwrap().settings.cors_origins, ["https://one.example", "https://two.example"]);
    let environment = [("Cors__Origins__0", "https://three.example")];
    assert_eq!(custom(text, &environment).unwrap().settings.cors_origins, ["https://three.example"]);
    let environment = [("Cors__Origins", "https://four.example, https://five.example")];
    assert_eq!(
        custom(text, &environment).unwrap().settings.cors_origins,
        ["https://four.example", "https://five.example"]
    );
}

#[test]
fn the_shared_prefix_can_be_turned_off() {
    assert_eq!(custom(r#"{ "Dialects": { "SharedPrefix": null } }"#, &[]).unwrap().settings.dialects.shared, None);
    assert_eq!(custom("{}", &[("Dialects__SharedPrefix", "")]).unwrap().settings.dialects.shared, None);
}

#[test]
fn what_needs_a_restart_is_named() {
    let old = custom("{}", &[]).unwrap();
    let new = custom(r#"{ "Dialect": "A", "Limits": { "WriteQueue": 5 } }"#, &[]).unwrap();
    assert_eq!(restart_needed(&old, &new), ["Limits:WriteQueue"]);
}
