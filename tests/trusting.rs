//! What is believed of a database that somebody else may have written to: nothing that is not signed.

use crate::harness::books::{behind_the_back, connected};
use crate::harness::process::{eventually, fresh_folder};
use crate::harness::server::run;
use crate::harness::{Company, Dialect, Engine, Options, Server};
use crate::seals::{MASTER, Place, start};
use sea_orm_migration::prelude::*;
use serde_json::json;
use std::process::Output;

fn told(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn literal(place: &Place, id: &str) -> String {
    place.identifier(id)
}

/// Whoever names their notes as migrations name theirs has nothing sealed for it, and is told.
fn notes_that_no_migration_made(engine: Engine) {
    let Some(mut server) = start(engine) else { return };
    let company = server.company();
    company.party(json!({"name": "Before"}));
    company.journal("2026-03-05", &[("6200", "10"), ("1010", "-10")]);
    let id = company.id.clone();
    let own = literal(&Place::of(&server), &id);
    for (batch, name) in [("migrations", "One"), ("migration m0033_years 00", "Two")] {
        assert!(!Place::of(&server).wrong().tables.contains("touched"));
        let hand = [
            format!("UPDATE parties SET name = '{name}', seal = '' WHERE business_id = {own}"),
            format!("UPDATE touched SET batch = '{batch}' WHERE batch = ''"),
            format!(
                "INSERT INTO touched (relation, business_id, key, old, was, step, batch) \
                 VALUES ('entries', {own}, '1', '', '{{}}', 1, '{batch}')"
            ),
        ];
        behind_the_back(&server, &hand).unwrap();
        let wrong = Place::of(&server).wrong();
        assert!(wrong.tables.contains("parties") && wrong.tables.contains("touched"), "{batch}: {wrong:?}");
        server = server.restarted();
        assert!(server.log().contains("that no migration made"), "{batch}: {}", server.log());
        let place = Place::of(&server);
        let wrong = place.wrong();
        assert!(wrong.tables.contains("parties") && !wrong.tables.contains("touched"), "{batch}: {wrong:?}");
        assert_eq!(place.texts("SELECT CAST(length(seal) AS TEXT) AS text FROM parties"), ["0"], "{batch}");
        // A proof from outside says so too, whatever was started since.
        assert_eq!(server.command(&["verify"], "").status.code(), Some(1), "{batch}");
    }
}

#[test]
fn notes_that_no_migration_made_are_not_believed_on_sqlite() {
    notes_that_no_migration_made(Engine::Sqlite);
}

#[test]
fn notes_that_no_migration_made_are_not_believed_on_postgres() {
    notes_that_no_migration_made(Engine::Postgres);
}

/// A migration of ours that changes sealed rows.
struct Changing {
    name: &'static str,
    statement: &'static str,
}

impl MigrationName for Changing {
    fn name(&self) -> &str {
        self.name
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Changing {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.get_connection().execute_unprepared(self.statement).await.map(drop)
    }
}

struct Length;

impl ring::hkdf::KeyType for Length {
    fn len(&self) -> usize {
        32
    }
}

/// A key of the master key, for what these words say.
fn key(words: &[u8]) -> ring::hmac::Key {
    let master = ring::hkdf::Salt::new(ring::hkdf::HKDF_SHA256, b"duet master key").extract(MASTER.as_bytes());
    let mut key = [0; 32];
    master.expand(&[words], Length).unwrap().fill(&mut key).unwrap();
    ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &key)
}

fn signed(key: &ring::hmac::Key, text: &str) -> String {
    let tag = ring::hmac::sign(key, text.as_bytes());
    tag.as_ref().iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}

/// What a database knew the master key by before there were seals.
pub(crate) fn check_of_unsealed_books() -> String {
    signed(&key(b"duet check 1"), "master key")
}

/// Signs what a migration notes, as whoever has the master key does.
fn signing() -> impl Fn(&str) -> String + Send + Sync {
    let key = key(b"duet audit 1");
    move |text| signed(&key, &format!("11:migration 1{}:{text}", text.len()))
}

/// What an upgrade that was ended had done by then is sealed by the next start, and what was put in beside it is not.
fn an_upgrade_that_was_ended(engine: Engine) {
    let Some(server) = start(engine) else { return };
    let company = server.company();
    company.party(json!({"name": "Before"}));
    let id = company.id.clone();
    let changes = [
        Changing { name: "m9997_accounts", statement: "UPDATE accounts SET name = 'Another' WHERE code = '6200'" },
        Changing { name: "m9998_parties", statement: "UPDATE parties SET email = 'x@example.test'" },
        Changing {
            name: "m9999_accounts",
            statement: "UPDATE accounts SET search = 'y' WHERE code IN ('6200', '6100')",
        },
    ];
    // One after the other, each by a process of its own that ends at once.
    let place = Place::of(&server);
    for change in &changes {
        place.runtime.block_on(async {
            let database = connected(server.database_url()).await.unwrap();
            assert_eq!(migrations::run(&database, change, &signing()).await.unwrap(), 0);
            let forgotten = format!("DELETE FROM seaql_migrations WHERE version = '{}'", change.name);
            database.execute_unprepared(&forgotten).await.unwrap();
            database.close().await.unwrap();
        });
    }
    let wrong = place.wrong();
    assert!(wrong.findings.iter().any(|one| one.contains("not sealed yet")), "{wrong:?}");
    let server = server.restarted();
    assert!(!server.log().contains("tampered"), "{}", server.log());
    assert!(place.wrong().is_nothing(), "{:?}", place.wrong());
    let log = server.command(&["log"], "");
    assert!(told(&log).contains("\"migrated\":{\"accounts\":2,\"parties\":1}"), "{}", told(&log));
    // What somebody adds to the notes of a migration takes the trust from all of them.
    place.runtime.block_on(async {
        let database = connected(server.database_url()).await.unwrap();
        let again = Changing { name: "m9996_parties", statement: "UPDATE parties SET email = 'y@example.test'" };
        migrations::run(&database, &again, &signing()).await.unwrap();
        for statement in [
            "DELETE FROM seaql_migrations WHERE version = 'm9996_parties'",
            "UPDATE accounts SET name = 'Evil', seal = '' WHERE code = '6100'",
            "UPDATE touched SET batch = (SELECT MAX(batch) FROM touched WHERE batch LIKE 'migration %') WHERE batch = ''",
        ] {
            database.execute_unprepared(statement).await.unwrap();
        }
        database.close().await.unwrap();
    });
    let server = server.restarted();
    assert!(server.log().contains("that no migration made"), "{}", server.log());
    assert!(place.wrong().tables.contains("accounts"), "{:?}", place.wrong());
    let company = Company { server: &server, id, token: server.token().to_owned() };
    company.ask(Dialect::B, "GET", "accounts", "", None).expect(200);
}

#[test]
fn an_upgrade_that_was_ended_is_taken_up_on_sqlite() {
    an_upgrade_that_was_ended(Engine::Sqlite);
}

#[test]
fn an_upgrade_that_was_ended_is_taken_up_on_postgres() {
    an_upgrade_that_was_ended(Engine::Postgres);
}

/// Several processes that bring one new file up to date do so one after the other.
#[test]
fn several_processes_make_one_file_and_none_of_them_fails() {
    let folder = fresh_folder("several");
    let data = folder.join("data").display().to_string();
    let words: Vec<String> = ["migrate", "--data", &data].map(str::to_owned).to_vec();
    let all: Vec<Output> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..6).map(|_| scope.spawn(|| run(&words, ""))).collect();
        running.into_iter().map(|one| one.join().unwrap()).collect()
    });
    for one in &all {
        assert!(one.status.success(), "{}", told(one));
    }
}

/// What is changed after the proof, and before the new seals, is not sealed with the rest.
#[test]
fn what_is_changed_while_books_are_resealed_is_not_sealed() {
    let server = Server::start(Engine::Sqlite, Options::default()).unwrap();
    server.company().party(json!({"name": "Before"}));
    let file = server.folder.join("data/master-key");
    let waiting = file.with_extension("new");
    let first = std::fs::read(&file).unwrap();
    let (place, address) = (Place::under(&server, &first), server.address);
    let server = server.restarted_after(|command| {
        eventually("nobody serves", || std::net::TcpStream::connect(address).is_err().then_some(()));
        let guards = "SELECT sql AS text FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'parties'";
        let (made, names) = (place.texts(guards), place.texts(&guards.replace("sql AS", "name AS")));
        eventually("a turn to write", || place.try_to("BEGIN IMMEDIATE").ok());
        for name in names {
            place.run(&format!("DROP TRIGGER {name}"));
        }
        place.run("UPDATE parties SET name = 'Evil'");
        for guard in made {
            place.run(&guard);
        }
        let refused = std::thread::scope(|scope| {
            scope.spawn(|| {
                eventually("the proof is over", || waiting.exists().then_some(()));
                place.run("COMMIT");
            });
            command(&["reseal"], "")
        });
        assert!(!refused.status.success() && told(&refused).contains("nothing was sealed anew"), "{}", told(&refused));
        assert!(told(&refused).contains("parties"), "{}", told(&refused));
        assert_eq!(std::fs::read(&file).unwrap(), first);
        assert!(place.wrong().tables.contains("parties"));
    });
    assert_eq!(server.command(&["verify"], "").status.code(), Some(1));
}

/// The master key is nobody else's: whoever has the rest of the folder has nothing of it.
#[test]
fn the_master_key_of_new_books_is_its_own() {
    let server = Server::start(Engine::Sqlite, Options::default()).unwrap();
    let read = |server: &Server, name: &str| std::fs::read(server.folder.join("data").join(name)).unwrap();
    assert_ne!(read(&server, "token-secret"), read(&server, "master-key"));
    let kept = read(&server, "master-key");
    let file = server.folder.join("data/master-key");
    let server = server.restarted_after(|command| {
        std::fs::remove_file(&file).unwrap();
        let refused = command(&["migrate"], "");
        assert!(!refused.status.success() && told(&refused).contains("another master key"), "{}", told(&refused));
        assert!(!file.exists(), "one that is made up hides which one is missing");
        std::fs::write(&file, "too short").unwrap();
        let refused = command(&["migrate"], "");
        assert!(!refused.status.success() && told(&refused).contains("too short"), "{}", told(&refused));
        std::fs::write(&file, &kept).unwrap();
    });
    let left: Vec<String> = std::fs::read_dir(server.folder.join("data"))
        .unwrap()
        .flatten()
        .map(|one| one.file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with("master-key") || name.starts_with("token-secret"))
        .collect();
    assert_eq!(left.len(), 2, "{left:?}");
    // Books of a release that began it as the token secret keep it, and are told.
    let folder = fresh_folder("old");
    std::fs::create_dir_all(folder.join("data")).unwrap();
    let old = "a token secret that was the master key as well";
    std::fs::write(folder.join("data/token-secret"), old).unwrap();
    let environment = vec![("Security__MasterKey".to_owned(), old.to_owned())];
    let options = Options { environment, ..Options::default() };
    let server = Server::start_in(Engine::Sqlite, folder, options).unwrap().restarted();
    assert_eq!(read(&server, "master-key"), old.as_bytes());
    let again = server.restarted();
    assert!(again.log().contains("duet reseal"), "{}", again.log());
}

/// A key that somebody types is the one that counts, or it is refused.
#[test]
fn a_key_that_is_typed_is_not_passed_over() {
    let server = Server::start(Engine::Sqlite, Options::default()).unwrap();
    server.company();
    let file = server.folder.join("data/master-key");
    let (waiting, first) = (file.with_extension("new"), std::fs::read(&file).unwrap());
    let (begun, other) = ("a key of a run that was interrupted", "a key that somebody typed thereafter");
    let server = server.restarted_after(|command| {
        std::fs::write(&waiting, begun).unwrap();
        let typed = |key: &str| command(&["reseal", "--new-key-stdin"], &format!("{key}\n"));
        let refused = eventually("nobody serves", || {
            Some(typed(other)).filter(|one| !told(one).contains("is served by another"))
        });
        assert!(!refused.status.success() && told(&refused).contains("waits in"), "{}", told(&refused));
        assert_eq!(std::fs::read(&file).unwrap(), first);
        for (key, said) in [(begun, "are under the new"), (begun, "already"), (other, "are under the new")] {
            let done = typed(key);
            assert!(done.status.success() && told(&done).contains(said), "{key}: {}", told(&done));
            assert_eq!((std::fs::read(&file).unwrap(), waiting.exists()), (key.as_bytes().to_vec(), false));
        }
    });
    assert_eq!(server.command(&["verify"], "").status.code(), Some(0));
}

/// One file is one file, by whatever name it is reached.
#[test]
fn a_file_that_is_reached_by_another_name_has_one_server_all_the_same() {
    let server = Server::start(Engine::Sqlite, Options::default()).unwrap();
    let folder = fresh_folder("another");
    let link = folder.join("link.db");
    std::os::unix::fs::symlink(server.folder.join("data/duet.db"), &link).unwrap();
    for name in ["master-key", "token-secret"] {
        std::fs::copy(server.folder.join("data").join(name), folder.join(name)).unwrap();
    }
    let words = ["serve", "--listen", "127.0.0.1:0", "--data"].map(str::to_owned).to_vec();
    let place = [folder.display().to_string(), "--database".into(), format!("sqlite:{}", link.display())];
    let second = run(&[words, place.to_vec()].concat(), "");
    assert!(!second.status.success() && told(&second).contains("is served by another duet"), "{}", told(&second));
}
