//! What `duet doctor` finds, how grave it says that is, and what it says to do.

use crate::backups::{complaint, good, text};
use crate::harness::books::connected;
use crate::harness::process::fresh_folder;
use crate::harness::{Engine, Options, Server, on_both_engines};
use sea_orm::ConnectionTrait;
use serde_json::Value;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Its exit code, and what it found about something: how grave, what, and what to do.
fn doctor(server: &Server, more: &[&str]) -> (i32, Vec<Value>) {
    let output = server.command(&[&["doctor", "--json"], more].concat(), "");
    let told: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", complaint(&output)));
    let mut findings = told["findings"].as_array().unwrap().clone();
    let code = output.status.code().unwrap();
    if server.engine == Engine::Sqlite {
        return (code, findings);
    }
    // The PostgreSQL of these tests confirms nothing to the disk, which is worth a word, once.
    let lies = |finding: &Value| finding["found"].as_str().unwrap().contains("fsync or full_page_writes off");
    let place = findings.iter().position(lies).expect("it is told");
    assert_eq!((findings.remove(place)["severity"].as_str(), code), (Some("critical"), 4));
    let worst = findings.iter().map(|finding| match finding["severity"].as_str() {
        Some("good") => 0,
        Some("warning") => 3,
        _ => 4,
    });
    (worst.max().unwrap(), findings)
}

fn about<'f>(findings: &'f [Value], what: &str) -> &'f Value {
    findings.iter().find(|finding| finding["about"] == what).unwrap_or_else(|| panic!("{what}: {findings:?}"))
}

fn word<'f>(finding: &'f Value, member: &str) -> &'f str {
    finding[member].as_str().unwrap_or_else(|| panic!("{member}: {finding}"))
}

/// Copied and proved: nothing is left to be said.
fn healthy(engine: Engine) -> Server {
    let server = Server::start(engine, Options::default()).expect("an engine");
    server.company().journal("2026-04-05", &[("6300", "1"), ("1010", "-1")]);
    good(&server.command(&["backup", &text(&fresh_folder("copies").join("copy"))], ""));
    good(&server.command(&["verify"], ""));
    server
}

fn execute(server: &Server, sql: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        connected(server.database_url()).await.unwrap().execute_unprepared(sql).await.unwrap();
    });
}

fn open_to_all(file: &Path) {
    std::fs::set_permissions(file, Permissions::from_mode(0o644)).unwrap();
}

on_both_engines! {
    fn books_that_are_looked_after_have_nothing_to_be_said_of(server) {
        let server = healthy(server.engine);
        let (code, findings) = doctor(&server, &[]);
        assert_eq!(code, 0, "{findings:?}");
        for what in ["version", "settings", "disk", "files", "permissions", "schema", "clock", "locks", "backup", "proof"] {
            assert_eq!(word(about(&findings, what), "severity"), "good", "{what}");
        }
        let told = server.command(&["doctor"], "");
        let told = String::from_utf8_lossy(&told.stdout).into_owned();
        assert!(told.contains("ok         backup        the last copy was made 0 hours ago"), "{told}");
    }

    fn books_that_were_never_copied_nor_proved_are_warned_of(server) {
        let server = Server::start(server.engine, Options::default()).expect("an engine");
        let (code, findings) = doctor(&server, &[]);
        assert_eq!(code, 3, "{findings:?}");
        for (what, todo) in [("backup", "duet backup"), ("proof", "duet verify")] {
            let finding = about(&findings, what);
            assert_eq!(word(finding, "severity"), "warning");
            assert!(word(finding, "do").contains(todo), "{finding}");
        }
        let stamp = |name: &str, text: &str| std::fs::write(server.folder.join("data").join(name), text).unwrap();
        stamp("last-backup.json", r#"{"at":"2026-01-01T00:00:00Z","ok":true}"#);
        stamp("last-verify.json", r#"{"at":"2026-01-01T00:00:00Z","ok":false}"#);
        let (code, findings) = doctor(&server, &[]);
        assert_eq!(code, 4, "{findings:?}");
        assert_eq!(word(about(&findings, "backup"), "severity"), "critical");
        assert_eq!(word(about(&findings, "proof"), "severity"), "critical");
    }

    fn books_of_a_newer_release_and_a_clock_behind_them_are_critical(server) {
        let server = healthy(server.engine);
        execute(&server, "UPDATE books SET recorded_at = recorded_at + 3600000000");
        let (code, findings) = doctor(&server, &[]);
        let clock = about(&findings, "clock");
        assert_eq!((code, word(clock, "severity")), (4, "critical"), "{findings:?}");
        assert!(word(clock, "found").contains("behind the last record"), "{clock}");
        execute(&server, "INSERT INTO seaql_migrations (version, applied_at) VALUES ('m9999_future', 0)");
        let (code, findings) = doctor(&server, &[]);
        let database = about(&findings, "database");
        assert_eq!((code, word(database, "severity")), (4, "critical"), "{findings:?}");
        assert!(word(database, "found").contains("newer duet"), "{database}");
    }

    fn a_key_that_others_can_read_or_that_is_another_is_critical(server) {
        let server = healthy(server.engine);
        let key = server.folder.join("data/master-key");
        open_to_all(&key);
        let (code, findings) = doctor(&server, &[]);
        let finding = about(&findings, "permissions");
        assert_eq!((code, word(finding, "severity")), (4, "critical"), "{findings:?}");
        assert_eq!(word(finding, "do"), format!("chmod 600 {}", key.display()));
        // Whoever proves without the key knows nothing of the books: what was known of them stays.
        let stamp = server.folder.join("data/last-verify.json");
        let known = std::fs::read_to_string(&stamp).unwrap();
        let own = std::fs::read(&key).unwrap();
        std::fs::write(&key, "y".repeat(64)).unwrap();
        assert!(!server.command(&["verify"], "").status.success());
        assert_eq!(std::fs::read_to_string(&stamp).unwrap(), known);
        let (code, findings) = doctor(&server, &[]);
        assert_eq!((code, word(about(&findings, "database"), "severity")), (4, "critical"), "{findings:?}");
        std::fs::write(&key, own).unwrap();
        assert!(server.command(&["verify"], "").status.success());
        assert!(std::fs::read_to_string(&stamp).unwrap().contains("\"ok\":true"));
    }
}

#[test]
fn a_certificate_is_told_by_its_days() {
    let server = healthy(Engine::Sqlite);
    let folder = fresh_folder("certificates");
    let (certificate, key) = (folder.join("certificate.pem"), folder.join("key.pem"));
    let set = |file: &Path, name: &str| format!("Server:Tls:{name}={}", file.display());
    let look = || {
        let (of_certificate, of_key) = (set(&certificate, "Certificate"), set(&key, "Key"));
        let (code, findings) = doctor(&server, &["--set", &of_certificate, "--set", &of_key]);
        (code, about(&findings, "certificate").clone())
    };
    let now = ledger_core::clock::Clock::system().now().seconds();
    for (days, severity, told) in
        [(90, "good", "90 days left"), (5, "warning", "5 days left"), (-2, "critical", "no good since")]
    {
        let pair = rcgen::KeyPair::generate().unwrap();
        let mut asked = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let at =
            |seconds: i64| rcgen::date_time_ymd(1970, 1, 1) + std::time::Duration::from_secs(seconds.cast_unsigned());
        asked.not_before = at(now - 30 * 86_400);
        asked.not_after = at(now + days * 86_400 + 43_200);
        std::fs::write(&certificate, asked.self_signed(&pair).unwrap().pem()).unwrap();
        std::fs::write(&key, pair.serialize_pem()).unwrap();
        std::fs::set_permissions(&key, Permissions::from_mode(0o600)).unwrap();
        let (code, finding) = look();
        assert_eq!(word(&finding, "severity"), severity, "{finding}");
        assert!(word(&finding, "found").contains(told), "{finding}");
        assert_eq!(
            code,
            match severity {
                "good" => 0,
                "warning" => 3,
                _ => 4,
            }
        );
    }
    std::fs::write(&certificate, "no certificate").unwrap();
    let (code, finding) = look();
    assert_eq!((code, word(&finding, "severity")), (4, "critical"), "{finding}");
}

#[test]
fn each_tenant_is_looked_at_by_its_name() {
    let custom = Some(r#"{"Edition": "Cloud"}"#.to_owned());
    let server = Server::start(Engine::Sqlite, Options { custom, ..Options::default() }).unwrap();
    let added = ["tenant", "add", "one.example", "--email", "first@example.test", "--password-stdin"];
    good(&server.command(&added, "the first user of a tenant"));
    let (code, findings) = doctor(&server, &[]);
    assert_eq!((code, word(about(&findings, "schema"), "tenant")), (3, "one.example"), "{findings:?}");
    good(&server.command(&["backup", &text(&fresh_folder("copies").join("copy"))], ""));
    good(&server.command(&["verify", "--tenant", "one.example"], ""));
    let (code, findings) = doctor(&server, &[]);
    assert_eq!(code, 0, "{findings:?}");
}
