//! What values may be, and in which words bad ones are refused.

use super::*;
use crate::dialects::SPOKEN;

#[test]
fn a_bad_value_is_told_with_place_key_expectation_and_what_was_got() {
    let cases = [
        (
            "{\n\"JwtSettings\": {\n\"ExpirationMinutes\": \"soon\" } }",
            ":3: JwtSettings:ExpirationMinutes: expected a whole number from 1 to 1440, got \"soon\"",
        ),
        (
            "{ \"JwtSettings\": { \"ExpirationMinutes\": 1441 } }",
            ":1: JwtSettings:ExpirationMinutes: expected a whole number from 1 to 1440, got \"1441\"",
        ),
        ("{ \"Dialect\": \"-\" }", ":1: Dialect: expected one of A, B, "),
        (
            "{ \"Urls\": \"https://127.0.0.1:1\" }",
            ":1: Urls: expected one address and port such as http://127.0.0.1:5000, got",
        ),
        (
            "{ \"Database\": { \"AutoMigrate\": \"maybe\" } }",
            "Database:AutoMigrate: expected true or false, got \"maybe\"",
        ),
        (
            "{ \"Limits\": { \"Header\": \"0s\" } }",
            "Limits:Header: expected a time such as 30s, 500ms or 2m, at most 24h, got \"0s\"",
        ),
        ("{ \"Limits\": { \"Request\": 1.5 } }", "Limits:Request: expected a time"),
        (
            "{ \"Limits\": { \"Body\": \"1TB\" } }",
            "Limits:Body: expected a size such as 1MB, 512KB or 65536, at most 1GB, got \"1TB\"",
        ),
        ("{ \"Limits\": { \"Body\": [] } }", "Limits:Body: expected one value, got a list"),
        ("{ \"Limits\": { \"Body\": { \"Max\": 1 } } }", "Limits:Body: expected one value, got a section or list"),
        ("{ \"Limits\": 5 }", "Limits: expected a section { ... }, got one value"),
        (
            "{ \"JwtSettings\": { \"Secret\": \"short\" } }",
            "JwtSettings:Secret: expected at least 32 bytes, got 5 bytes",
        ),
        (
            "{ \"JwtSettings\": { \"Secret\": \"a-string-secret-at-least-256-bits-long\" } }",
            "JwtSettings:Secret: expected a secret that cannot be guessed, such as `openssl rand -base64 48` makes; leave the \
             key out to have one made, got 38 bytes",
        ),
        (
            "{ \"TrustedProxies\": [\"::1\",\n\"10.0.0.0/33\"] }",
            ":2: TrustedProxies: expected an address or network such as 10.0.0.7 or 10.0.0.0/8, got \"10.0.0.0/33\"",
        ),
        (
            "{ \"ConnectionStrings\": { \"Default\": \"mysql://u:hidden@h/d\" } }",
            "ConnectionStrings:Default: expected sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE, got \"mysql://u:***@h/d\"",
        ),
    ];
    for (text, expected) in cases {
        let error = refusal(text, &[]);
        assert!(error.contains(expected), "{text}\n{error}");
        assert!(!error.contains("hidden") && !error.contains("\"short\""), "{error}");
    }
    let error = refusal("{}", &[("Limits__Body", "x")]);
    assert!(error.starts_with("environment Limits__Body: Limits:Body: expected a size"), "{error}");
    let error = custom("{}", &[], &[("Dialect", "x")]).unwrap_err().to_string();
    let letters: Vec<&str> = SPOKEN.iter().map(|one| one.letter).chain(["Both"]).collect();
    assert_eq!(error, format!("command line: Dialect: expected one of {}, got \"x\"", letters.join(", ")));
}

#[test]
fn all_bad_values_are_told_at_once() {
    let text = "{ \"Dialect\": \"None\", \"Data\": null, \"Database\": { \"Readers\": 0, \"PoolSize\": \"\\u0031\" }, \"Urls\": 5,\n\
                \"Cors\": { \"Origins\": [\"*\", \"x\"] } }";
    let error = refusal(text, &[("Shutdown__Grace", "later")]);
    assert_eq!(error.lines().count(), 7, "{error}");
}

#[test]
fn lists_are_said_by_index_or_in_one_text_and_replace_earlier_ones() {
    let text = r#"{ "Cors": { "Origins": ["https://one.example", "https://two.example"] } }"#;
    let cases: [(Pairs, &'static [&'static str]); 5] = [
        (&[], &["https://one.example", "https://two.example"]),
        (&[("Cors__Origins__0", "https://three.example")], &["https://three.example"]),
        (
            &[("Cors__Origins__10", "https://b.example"), ("Cors__Origins__9", "https://a.example")],
            &["https://a.example", "https://b.example"],
        ),
        (
            &[("CORS__ORIGINS", "https://four.example, https://five.example,")],
            &["https://four.example", "https://five.example"],
        ),
        (&[("Cors__Origins", "")], &[]),
    ];
    for (environment, expected) in cases {
        assert_eq!(settings(text, environment).cors_origins, expected, "{environment:?}");
    }
    let folder =
        Folder::with(&[("appsettings.json", text), ("appsettings.Custom.json", r#"{ "Cors": { "Origins": [] } }"#)]);
    assert_eq!(load(&folder.source(&[], &[])).unwrap().settings.cors_origins, Vec::<String>::new());
    // On the command line its elements are said one by one, and of one element the last is heard.
    let said = [("Cors:Origins:0", "https://x.example"), ("Cors:Origins:1", "https://b.example")];
    let said = [&said[..], &[("cors:origins:0", "https://a.example")]].concat();
    let told = load(&folder.source(&[], &said)).unwrap().settings.cors_origins;
    assert_eq!(told, ["https://a.example", "https://b.example"]);
    let networks = settings("{}", &[("TrustedProxies", "10.0.0.0/8,::1")]).trusted_proxies;
    assert_eq!(networks, ["10.0.0.0/8".parse::<ipnet::IpNet>().unwrap(), "::1/128".parse().unwrap()]);
}

#[test]
fn origins_are_exactly_what_a_browser_sends() {
    let good =
        ["https://x.example", "http://localhost:3000", "http://[::1]:80808".get(..16).unwrap(), "tauri://localhost"];
    for origin in good {
        assert_eq!(settings("{}", &[("Cors__Origins", origin)]).cors_origins, [origin]);
    }
    let bad = [
        "*",
        "https://*",
        "https://*.example",
        "null",
        "x.example",
        "https://",
        "https://x.example/",
        "https://x.example/a",
        "https://X.example",
        "https://u@x.example",
        "https://x.example:0",
        "https://x.example:443",
        "https://x.example:080",
        "https://x.example:",
        "https://[x]",
        "//x.example",
        "https://x.example?a",
        "https://x example",
    ];
    for origin in bad {
        let error = refusal("{}", &[("Cors__Origins__0", origin)]);
        assert!(
            error.starts_with("environment Cors__Origins__0: Cors:Origins: expected scheme://host[:port]"),
            "{origin}: {error}"
        );
    }
}

#[test]
fn prefixes_go_by_what_is_served() {
    let cases: [(Pairs, Dialects); 7] = [
        (&[("Dialect", "A")], dialects("/api", "-", "-")),
        (&[("Dialect", "b")], dialects("-", "/api", "-")),
        (&[("Dialect", "B"), ("Dialects__A__Prefix", "/api/x")], dialects("-", "/api", "-")),
        (
            &[("Dialects__A__Prefix", "/one"), ("Dialects__B__Prefix", "/one-b/v1.0_x")],
            dialects("/one", "/one-b/v1.0_x", "/api"),
        ),
        (&[("Dialects__SharedPrefix", "")], dialects("/a/api", "/b/api", "-")),
        (&[("Dialects__SharedPrefix", ""), ("Dialects__A__Prefix", "/api")], dialects("/api", "/b/api", "-")),
        (&[("Dialects__A__Prefix", "")], dialects("/a/api", "/b/api", "/api")),
    ];
    for (environment, expected) in cases {
        assert_eq!(settings("{}", environment).dialects, expected, "{environment:?}");
    }
    assert_eq!(settings(r#"{ "Dialects": { "SharedPrefix": null } }"#, &[]).dialects.shared, None);
    let shown = custom(r#"{ "Dialects": { "SharedPrefix": null } }"#, &[], &[]).unwrap().show();
    let line = shown.lines().find(|line| line.starts_with("Dialects:SharedPrefix")).unwrap();
    assert!(line.contains(" - ") && line.ends_with("appsettings.Custom.json:1"), "{line}");
}

#[test]
fn prefixes_that_take_each_others_requests_are_refused_naming_both_keys() {
    const A: &str = "Dialects__A__Prefix";
    const B: &str = "Dialects__B__Prefix";
    const SHARED: &str = "Dialects__SharedPrefix";
    let cases: [(Pairs, &str, &str); 6] = [
        (&[(A, "/x"), (B, "/x")], "Dialects:A:Prefix (/x)", "Dialects:B:Prefix (/x, "),
        (&[(A, "/x"), (B, "/x/y")], "Dialects:A:Prefix (/x)", "Dialects:B:Prefix (/x/y, "),
        (&[(A, "/b/api/x")], "Dialects:A:Prefix (/b/api/x)", "Dialects:B:Prefix (/b/api, "),
        (&[(A, "/api")], "Dialects:A:Prefix (/api)", "Dialects:SharedPrefix (/api, default"),
        (&[(B, "/api/b")], "Dialects:B:Prefix (/api/b)", "Dialects:SharedPrefix (/api, default"),
        (
            &[(SHARED, "/a")],
            "Dialects:A:Prefix (/a/api)",
            "Dialects:SharedPrefix (/a, environment Dialects__SharedPrefix",
        ),
    ];
    for (environment, first, second) in cases {
        let error = refusal("{}", environment);
        assert!(
            error.contains(first) && error.contains(second) && error.contains("equal or nested"),
            "{environment:?}: {error}"
        );
        assert_eq!(error.lines().count(), 1, "{error}");
    }
    for prefix in [
        "/",
        "x",
        "/x/",
        "//x",
        "/x//y",
        "/x y",
        "/ä",
        "/x/../y",
        "/.",
        "/swagger",
        "/Redoc/x",
        "/docs/api",
        "/errors",
        "/about",
        "/console",
        "/healthz",
        "/readyz",
        "/metrics",
    ] {
        for key in [A, B, SHARED] {
            let error = refusal("{}", &[(key, prefix)]);
            assert!(
                error.contains(&format!("{}: expected a path such as /a/api", key.replace("__", ":"))),
                "{prefix}: {error}"
            );
        }
    }
}

#[test]
fn null_is_the_default_again() {
    let set = r#"{ "Data": "/x", "Limits": { "Body": 5 }, "Dialects": { "A": { "Prefix": "/x" } }, "Cors": { "Origins": "https://x.example" } }"#;
    let unset = r#"{ "Data": null, "Limits": { "Body": null }, "Dialects": { "A": { "Prefix": null } }, "Cors": { "Origins": null }, "JwtSettings": null }"#;
    let folder = Folder::with(&[("appsettings.json", set), ("appsettings.Custom.json", unset)]);
    let loaded = load(&folder.source(&[], &[])).unwrap();
    assert_eq!(loaded.settings, settings("{}", &[]));
    assert!(loaded.show().lines().all(|line| line.ends_with(" default")), "{}", loaded.show());
    assert_eq!(settings("{}", &[("Limits__Body", "")]).body_limit, 1 << 20);
}

#[test]
fn values_have_units() {
    let durations = [("90s", 90_000), ("500ms", 500), ("2m", 120_000), ("1h", 3_600_000), ("7", 7000), (" 3 s ", 3000)];
    for (text, milliseconds) in durations {
        assert_eq!(
            settings("{}", &[("Shutdown__Grace", text)]).shutdown_grace,
            Duration::from_millis(milliseconds),
            "{text}"
        );
    }
    for (text, bytes) in [("10MB", 10 << 20), ("512KB", 512 << 10), ("1gb", 1 << 30), ("77", 77), ("8B", 8)] {
        assert_eq!(settings("{}", &[("Limits__Body", text)]).body_limit, bytes, "{text}");
    }
    for text in ["-1", "", "1d", "25h", "s", "99999999999999999999", "1.5s"] {
        let loaded = custom("{}", &[("Shutdown__Grace", text)], &[]);
        assert_eq!(loaded.is_ok(), text.is_empty(), "{text}");
    }
    for (text, milliseconds) in
        [("0", None), ("off", None), (" off ", None), ("20ms", Some(20)), ("1m", Some(60_000)), ("", Some(60_000))]
    {
        let every = settings("{}", &[("Events__Every", text)]).days_every;
        assert_eq!(every, milliseconds.map(Duration::from_millis), "{text:?}");
    }
    for text in ["never", "0s", "-1", "25h"] {
        assert!(custom("{}", &[("Events__Every", text)], &[]).is_err(), "{text}");
    }
    let addresses = [
        ("http://127.0.0.1:0", "127.0.0.1:0"),
        ("0.0.0.0:80", "0.0.0.0:80"),
        ("http://localhost:5000/", "127.0.0.1:5000"),
        ("http://*:5000", "0.0.0.0:5000"),
        ("http://[::1]:5000", "[::1]:5000"),
    ];
    for (text, address) in addresses {
        assert_eq!(settings("{}", &[("Urls", text)]).listen.to_string(), address, "{text}");
    }
    for text in
        ["http://127.0.0.1", "http://a:1;http://b:2", "::1:5000", "http://127.0.0.1:99999", "http://127.0.0.1:1/x"]
    {
        assert!(refusal("{}", &[("Urls", text)]).starts_with("environment Urls: Urls: expected"), "{text}");
    }
}

#[test]
fn the_database_is_in_the_data_folder_unless_it_is_named() {
    assert_eq!(settings("{}", &[("Data", "/srv/duet")]).database.expose(), "sqlite:/srv/duet/duet.db");
    let named = [("Data", "/srv/duet"), ("ConnectionStrings__Default", "sqlite::memory:")];
    assert_eq!(settings("{}", &named).database.expose(), "sqlite::memory:");
}

#[test]
fn passwords_in_database_urls_are_masked() {
    let cases = [
        ("sqlite:./data/duet.db", "sqlite:./data/duet.db"),
        ("postgres://duet@h/d", "postgres://duet@h/d"),
        ("postgres://duet:p:w@x@h:5432/d", "postgres://duet:***@h:5432/d"),
        ("postgres://h/d?user=u&password=pw&sslmode=require", "postgres://h/d?user=u&password=***&sslmode=require"),
        ("postgres://h/d?sslpassword=p@w", "postgres://h/d?sslpassword=***"),
        ("u:pw@h/d", "u:***@h/d"),
    ];
    for (url, shown) in cases {
        assert_eq!(without_password(url), shown);
    }
}
