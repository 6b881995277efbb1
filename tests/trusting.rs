//! What is believed of a database that somebody else may have written to: nothing that is not signed.

use crate::harness::books::{behind_the_back, connected};
use crate::harness::process::fresh_folder;
use crate::harness::server::run;
use crate::harness::{Company, Dialect, Engine};
use crate::seals::{MASTER, Place, start};
use sea_orm_migration::prelude::*;
use serde_json::json;
use std::process::Output;

fn told(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn literal(place: &Place, id: &str) -> String {
    if place.is_postgres() { format!("'{id}'") } else { format!("X'{}'", id.replace('-', "")) }
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
        assert_eq!(place.texts("SELECT seal AS text FROM parties"), [""], "{batch}");
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

/// Signs what a migration notes, as whoever has the master key does.
fn signing() -> impl Fn(&str) -> String + Send + Sync {
    let master = ring::hkdf::Salt::new(ring::hkdf::HKDF_SHA256, b"duet master key").extract(MASTER.as_bytes());
    let mut key = [0; 32];
    master.expand(&[b"duet audit 1"], Length).unwrap().fill(&mut key).unwrap();
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &key);
    move |text| {
        let signed = format!("11:migration 1{}:{text}", text.len());
        let tag = ring::hmac::sign(&key, signed.as_bytes());
        tag.as_ref().iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
    }
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
        migrations::run(&database, &changes[1], &signing()).await.unwrap();
        for statement in [
            "DELETE FROM seaql_migrations WHERE version = 'm9998_parties'",
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
