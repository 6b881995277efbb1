//! Copies of the books, made while they are served, and brought back elsewhere.

use crate::faults::strace_works;
use crate::harness::books::{behind_the_back, connected};
use crate::harness::process::{eventually, fresh_folder, piped};
use crate::harness::server::{authorised, program, run};
use crate::harness::{Company, Dialect, Engine, Options, Request, Server, on_both_engines, postgres};
use sea_orm::ConnectionTrait;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

pub fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(ToString::to_string).collect()
}

pub fn text(path: &Path) -> String {
    path.display().to_string()
}

pub fn good(output: &Output) -> String {
    assert!(output.status.success(), "{}{}", String::from_utf8_lossy(&output.stdout), complaint(output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What it says of why it failed.
pub fn complaint(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn refused(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{}{}", String::from_utf8_lossy(&output.stdout), complaint(output));
    complaint(output)
}

/// What makes the schema that of the first release again.
pub const AS_OF_0_2_0: [&str; 3] = [
    "CREATE INDEX entries_by_date ON entries (business_id, date, number)",
    "DROP INDEX entries_of_days",
    "DELETE FROM seaql_migrations WHERE version <> 'm0001_first'",
];

fn backed_up(server: &Server, more: &[&str]) -> PathBuf {
    let to = fresh_folder("copies").join("copy");
    good(&server.command(&[&["backup", &text(&to)], more].concat(), ""));
    to
}

fn manifest(copy: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(copy.join("manifest.json")).expect("a manifest")).expect("JSON")
}

/// Somewhere else, in which there is nothing yet.
struct Place {
    engine: Engine,
    folder: PathBuf,
    database: String,
}

impl Place {
    fn new(engine: Engine) -> Self {
        let folder = fresh_folder("restored");
        let database = match engine {
            Engine::Sqlite => format!("sqlite:{}/data/duet.db", folder.display()),
            Engine::Postgres => postgres::fresh_database().expect("a database"),
        };
        Self { engine, folder, database }
    }

    fn restore(&self, from: &Path, more: &[&str]) -> Output {
        let (data, from) = (text(&self.folder.join("data")), text(from));
        run(&words(&[&["restore", &from, "--data", &data, "--database", &self.database], more].concat()), "")
    }

    fn verify(&self) -> Value {
        let data = text(&self.folder.join("data"));
        let proved = run(&words(&["verify", "--json", "--data", &data, "--database", &self.database]), "");
        serde_json::from_str(&good(&proved)).expect("JSON")
    }

    fn serve(&self) -> Server {
        let options = Options { database: Some(self.database.clone()), ..Options::default() };
        Server::start_in(self.engine, self.folder.clone(), options).expect("an engine")
    }
}

fn key_of(server: &Server) -> String {
    text(&server.folder.join("data/master-key"))
}

/// Posts until it is told to stop; what was acknowledged is noted.
fn post(company: &Company<'_>, body: &Value, stop: &AtomicBool, posted: &Mutex<Vec<String>>) {
    while !stop.load(Ordering::Acquire) {
        let said = company.post_journal(body);
        if said.status == 201 {
            posted.lock().unwrap().push(said.id());
        }
    }
}

fn count(posted: &Mutex<Vec<String>>) -> usize {
    posted.lock().unwrap().len()
}

on_both_engines! {
    fn a_copy_made_while_sixteen_post_has_all_that_was_acknowledged_before(server) {
        let server = Server::start(server.engine, Options::default()).expect("an engine");
        let company = server.company();
        let body = company.journal_body("2026-04-05", &[("6300", "1"), ("1010", "-1")]);
        let (stop, posted) = (AtomicBool::new(false), Mutex::default());
        let (before, copy) = std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| post(&company, &body, &stop, &posted));
            }
            eventually("journals", || (count(&posted) >= 64).then_some(()));
            let before = posted.lock().unwrap().clone();
            let copy = backed_up(&server, &["--verify"]);
            let after = count(&posted);
            eventually("journals after the copy", || (count(&posted) > after + 16).then_some(()));
            stop.store(true, Ordering::Release);
            (before, copy)
        });
        let told = manifest(&copy)["content"].clone();
        let place = Place::new(server.engine);
        good(&place.restore(&copy, &["--key", &key_of(&server), "--verify"]));
        let proof = place.verify();
        assert_eq!(proof["businesses"][0]["digest"], told["books"]["companies"][0]["digest"]);
        let restored = place.serve();
        let same = Company { server: &restored, token: restored.token().to_owned(), ..company.clone() };
        let path = |id: &String| format!("/{id}");
        for id in &before {
            same.ask(Dialect::B, "GET", "journals", &path(id), None).expect(200);
        }
        // Of what was acknowledged later, all that lies before the copy's sequence is there, and nothing else is.
        let entries = told["books"]["companies"][0]["entries"].as_i64().unwrap();
        assert!(usize::try_from(entries).unwrap() >= before.len(), "{entries}");
        for id in posted.lock().unwrap().iter() {
            let number = company.entries_of(id)[0]["entryNumber"].as_i64().unwrap();
            let expected = if number <= entries { 200 } else { 404 };
            same.ask(Dialect::B, "GET", "journals", &path(id), None).expect(expected);
        }
        assert_eq!(same.balance("6300", ""), format!("{entries}.00"));
    }

    fn what_is_restored_gives_no_identifier_away_that_was_given_after_the_copy(server) {
        let server = Server::start(server.engine, Options::default()).expect("an engine");
        let company = server.company();
        let body = company.journal_body("2026-04-05", &[("6300", "1"), ("1010", "-1")]);
        let copy = backed_up(&server, &[]);
        let ids = |company: &Company<'_>| -> BTreeSet<String> {
            (0..20).flat_map(|_| {
                let journal = company.post_journal(&body).expect(201).data;
                let party = company.party(json!({}));
                [journal["id"].as_str().unwrap().to_owned(), party["id"].as_str().unwrap().to_owned()]
            }).collect()
        };
        let given = ids(&company);
        assert_eq!(given.len(), 40);
        let again = |copy: &Path| {
            let place = Place::new(server.engine);
            good(&place.restore(copy, &["--key", &key_of(&server)]));
            let restored = place.serve();
            let same = Company { server: &restored, token: restored.token().to_owned(), ..company.clone() };
            let own = ids(&same);
            (restored, own)
        };
        let (first, of_first) = again(&copy);
        let (_second, of_second) = again(&copy);
        let of_third = {
            // A copy of what was restored is restored in its turn.
            let copy = backed_up(&first, &[]);
            let place = Place::new(server.engine);
            good(&place.restore(&copy, &["--key", &key_of(&server)]));
            let third = place.serve();
            ids(&Company { server: &third, token: third.token().to_owned(), ..company.clone() })
        };
        let all: BTreeSet<&String> = [&given, &of_first, &of_second, &of_third].into_iter().flatten().collect();
        assert_eq!(all.len(), 160, "no identifier was given twice");
    }

    fn whoever_was_logged_in_when_a_copy_was_made_logs_in_again(server) {
        let custom = Some(r#"{"JwtSettings": {"Secret": "one secret for the old place and the new one"}}"#.to_owned());
        let server = Server::start(server.engine, Options { custom: custom.clone(), ..Options::default() }).expect("an engine");
        let token = server.token().to_owned();
        let copy = backed_up(&server, &[]);
        let place = Place::new(server.engine);
        good(&place.restore(&copy, &["--key", &key_of(&server)]));
        let options = Options { custom, database: Some(place.database.clone()), ..Options::default() };
        let restored = Server::start_in(place.engine, place.folder.clone(), options).expect("an engine");
        let me = |token: &str| authorised(Request::new("GET", "/b/api/auth/me"), token);
        restored.send(&me(&token)).expect(401);
        restored.send(&me(restored.token())).expect(200);
    }

    fn a_copy_of_an_earlier_schema_is_brought_up_to_date_and_then_held_like_any_other(server) {
        let custom = Some(r#"{"JwtSettings": {"Secret": "one secret for the old place and the new one"}}"#.to_owned());
        let server = Server::start(server.engine, Options { custom: custom.clone(), ..Options::default() }).expect("an engine");
        let (company, token) = (server.company(), server.token().to_owned());
        let body = company.journal_body("2026-04-05", &[("6300", "1"), ("1010", "-1")]);
        company.post_journal(&body).expect(201);
        behind_the_back(&server, &AS_OF_0_2_0.map(str::to_owned)).unwrap();
        let copy = backed_up(&server, &[]);
        assert_eq!(manifest(&copy)["content"]["schema"], json!(["m0001_first"]));
        let given: BTreeSet<String> = (0..20).map(|_| company.post_journal(&body).expect(201).id()).collect();
        let place = Place::new(server.engine);
        let told = good(&place.restore(&copy, &["--key", &key_of(&server), "--verify"]));
        assert!(told.contains("brought up to date") && told.contains("the sessions of 1 users were ended"), "{told}");
        // To the last index, or V16 would not hold.
        place.verify();
        let options = Options { custom, database: Some(place.database.clone()), ..Options::default() };
        let restored = Server::start_in(place.engine, place.folder.clone(), options).expect("an engine");
        restored.send(&authorised(Request::new("GET", "/b/api/auth/me"), &token)).expect(401);
        let same = Company { server: &restored, token: restored.token().to_owned(), ..company.clone() };
        let own: BTreeSet<String> = (0..20).map(|_| same.post_journal(&body).expect(201).id()).collect();
        assert!(given.is_disjoint(&own), "an identifier was given twice");
    }

    fn a_copy_that_is_not_what_was_written_is_refused_in_words(server) {
        let server = Server::start(server.engine, Options::default()).expect("an engine");
        let company = server.company();
        company.journal("2026-04-05", &[("6300", "1"), ("1010", "-1")]);
        let copy = backed_up(&server, &[]);
        let file = copy.join(if server.engine == Engine::Sqlite { "books.db" } else { "books.dump" });
        let place = Place::new(server.engine);
        let told = refused(&place.restore(&copy, &[]));
        assert!(told.contains("--key"), "{told}");
        assert!(!place.folder.join("data").exists(), "a folder is left of what was refused");
        let key = key_of(&server);
        let restore = || refused(&place.restore(&copy, &["--key", &key]));
        let whole = std::fs::read(&file).unwrap();
        let mut bent = whole.clone();
        let middle = bent.len() / 2;
        bent[middle] ^= 1;
        std::fs::write(&file, &bent).unwrap();
        let told = restore();
        assert!(told.contains("damaged") && told.contains("checksum"), "{told}");
        std::fs::write(&file, &whole[..middle]).unwrap();
        let told = restore();
        assert!(told.contains("damaged") && told.contains("bytes"), "{told}");
        std::fs::write(&file, &whole).unwrap();
        let written = std::fs::read_to_string(copy.join("manifest.json")).unwrap();
        let with = |change: &dyn Fn(&mut Value), summed: bool| {
            let mut told: Value = serde_json::from_str(&written).unwrap();
            change(&mut told);
            if summed {
                let sum = piped("sha256sum", &[], &told["content"].to_string()).expect("sha256sum");
                told["sha256"] = sum.split(' ').next().unwrap().into();
            }
            std::fs::write(copy.join("manifest.json"), told.to_string()).unwrap();
            restore()
        };
        let told = with(&|told| told["content"]["books"]["sequence"] = 7.into(), false);
        assert!(told.contains("manifest.json is damaged"), "{told}");
        let told = with(&|told| told["content"]["schema"].as_array_mut().unwrap().push("m9999_future".into()), true);
        assert!(told.contains("newer") && told.contains("m9999_future") && told.contains("later one"), "{told}");
        let told = with(&|told| told["format"] = 9.into(), true);
        assert!(told.contains("newer duet"), "{told}");
        let told = with(&|told| told["content"]["books"]["companies"][0]["digest"] = "0".into(), true);
        assert!(told.contains("do not come to what its manifest says"), "{told}");
        std::fs::remove_file(copy.join("manifest.json")).unwrap();
        let told = restore();
        assert!(told.contains("is no copy of books"), "{told}");
        std::fs::write(copy.join("manifest.json"), &written).unwrap();
        let fresh = Place::new(server.engine);
        good(&fresh.restore(&copy, &["--key", &key]));
    }

    fn books_that_are_there_are_not_written_over_unless_that_is_said(server) {
        let server = Server::start(server.engine, Options::default()).expect("an engine");
        let company = server.company();
        company.journal("2026-04-05", &[("6300", "1"), ("1010", "-1")]);
        let copy = backed_up(&server, &[]);
        let restore = |more: &[&str]| server.command(&[&["restore", &text(&copy)], more].concat(), "");
        let told = refused(&restore(&[]));
        assert!(told.contains("already") && told.contains("--replace"), "{told}");
        let told = refused(&restore(&["--replace"]));
        assert!(told.contains("end that one first") || told.contains("stop every server"), "{told}");
        company.journal("2026-04-06", &[("6300", "2"), ("1010", "-2")]);
        let id = company.id.clone();
        let again = server.restarted_after(|command| {
            let told = refused(&command(&["restore", &text(&copy)], ""));
            assert!(told.contains("--replace"), "{told}");
            let told = good(&command(&["restore", &text(&copy), "--replace"], ""));
            assert!(told.contains("brought back the books of 20"), "{told}");
        });
        let same = Company { server: &again, token: again.token().to_owned(), id };
        assert_eq!(same.balance("6300", ""), "1.00", "the copy is in their place");
        if again.engine == Engine::Sqlite {
            let aside = std::fs::read_dir(again.folder.join("data")).unwrap().flatten().map(|entry| entry.path());
            let aside = aside.filter(|path| path.display().to_string().contains(".before-")).find(|path| !text(path).ends_with("-wal"));
            let (aside, data) = (format!("sqlite:{}", aside.expect("it is kept").display()), text(&again.folder.join("data")));
            let proof = good(&run(&words(&["verify", "--json", "--data", &data, "--database", &aside]), ""));
            let proof: Value = serde_json::from_str(&proof).unwrap();
            let checks = proof["businesses"][0]["checks"].as_array().unwrap();
            assert!(checks.iter().any(|check| check["left"].as_str().is_some_and(|left| left.contains("3.00"))) || proof["ok"] == true);
        }
    }

    fn whose_key_is_not_there_is_told_which_one_is_wanted(server) {
        let copy = backed_up(server, &[]);
        let place = Place::new(server.engine);
        let told = refused(&place.restore(&copy, &[]));
        assert!(told.contains("name its file with --key"), "{told}");
        let other = place.folder.join("other-key");
        std::fs::write(&other, "x".repeat(64)).unwrap();
        let told = refused(&place.restore(&copy, &["--key", &text(&other)]));
        assert!(told.contains("is not that of the copy"), "{told}");
        std::fs::create_dir_all(place.folder.join("data")).unwrap();
        std::fs::copy(&other, place.folder.join("data/master-key")).unwrap();
        let told = refused(&place.restore(&copy, &["--key", &key_of(server)]));
        assert!(told.contains("another place"), "{told}");
    }
}

#[test]
fn a_copy_of_another_engine_is_refused_with_the_way_to_go() {
    for (from, to) in [(Engine::Sqlite, Engine::Postgres), (Engine::Postgres, Engine::Sqlite)] {
        let Some(server) = Server::shared(from) else { return };
        if Server::shared(to).is_none() {
            return;
        }
        let copy = backed_up(server, &[]);
        let told = refused(&Place::new(to).restore(&copy, &["--key", &key_of(server)]));
        assert!(told.contains("then run duet copy-database"), "{told}");
    }
}

/// The kernel ends the program at one call after the other: what it leaves is no copy, or all of one.
#[test]
fn a_copy_that_was_cut_off_is_never_taken_for_one() {
    if !strace_works() {
        return;
    }
    let server = Server::start(Engine::Sqlite, Options::default()).unwrap();
    let company = server.company();
    company.journal("2026-04-05", &[("6300", "1"), ("1010", "-1")]);
    let to = fresh_folder("copies").join("copy");
    let backup = |wrap: &[String]| {
        let places =
            ["--data", &text(&server.folder.join("data")), "--database", server.database_url()].map(str::to_owned);
        let words = [wrap, &words(&[program(), "backup", &text(&to)]), &places].concat();
        Command::new(&words[0]).args(&words[1..]).output().expect("it runs")
    };
    let mut cut = 0;
    let places = [
        ("pwrite64", &[1, 2, 40, 200][..]),
        ("write", &[1, 2, 3]),
        ("fsync", &[1, 2, 3, 4, 5, 6]),
        ("rename", &[1, 2]),
    ];
    for (call, times) in places {
        for time in times {
            let inject = format!("inject={call}:signal=KILL:when={time}");
            let wrap = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={call}"), "-e", &inject];
            let ended = backup(&words(&wrap));
            cut += usize::from(!ended.status.success());
            let place = Place::new(Engine::Sqlite);
            let restored = place.restore(&to, &["--key", &key_of(&server)]);
            if to.exists() {
                // All of it was on the disk before it got its name.
                good(&restored);
                std::fs::remove_dir_all(&to).unwrap();
            } else {
                assert!(refused(&restored).contains("is no copy of books"), "{call} {time}");
            }
            let mut draft = to.clone().into_os_string();
            draft.push(".part");
            if Path::new(&draft).join("books.db").exists() && !Path::new(&draft).join("manifest.json").exists() {
                let told = refused(&place.restore(Path::new(&draft), &["--key", &key_of(&server)]));
                assert!(told.contains("cut off"), "{told}");
            }
        }
    }
    assert!(cut >= 10, "it was cut off {cut} times");
    // What was left of it is in nobody's way.
    good(&backup(&[]));
    good(&Place::new(Engine::Sqlite).restore(&to, &["--key", &key_of(&server)]));
}

/// A restore that ends in its middle leaves the books that were there, or those of the copy.
#[test]
fn a_restore_that_was_cut_off_leaves_one_or_the_other() {
    if !strace_works() {
        return;
    }
    let server = Server::start(Engine::Sqlite, Options::default()).unwrap();
    let company = server.company();
    company.journal("2026-04-05", &[("6300", "1"), ("1010", "-1")]);
    let copy = backed_up(&server, &[]);
    let place = Place::new(Engine::Sqlite);
    good(&place.restore(&copy, &["--key", &key_of(&server)]));
    let restored = place.serve();
    let same = Company { server: &restored, token: restored.token().to_owned(), ..company.clone() };
    same.journal("2026-04-06", &[("6300", "2"), ("1010", "-2")]);
    drop(restored);
    let digest = |place: &Place| place.verify()["businesses"][0]["digest"].clone();
    let (old, new) = (digest(&place), manifest(&copy)["content"]["books"]["companies"][0]["digest"].clone());
    assert_ne!(old, new);
    for (call, times) in [("write", &[1, 3, 5][..]), ("fsync", &[1, 2]), ("link", &[1]), ("rename", &[1, 2, 3])] {
        for time in times {
            let inject = format!("inject={call}:signal=KILL:when={time}");
            let wrap = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={call}"), "-e", &inject];
            let data = text(&place.folder.join("data"));
            let restore =
                [program(), "restore", &text(&copy), "--replace", "--data", &data, "--database", &place.database];
            let command = words(&[&wrap[..], &restore].concat());
            let _ended = Command::new(&command[0]).args(&command[1..]).output().expect("it runs");
            let found = digest(&place);
            assert!(found == old || found == new, "{call} {time}");
        }
    }
    good(&place.restore(&copy, &["--replace"]));
    assert_eq!(digest(&place), new);
}

/// A second `--verify` finds what the checksums cannot: rows that were changed before the copy was made.
#[test]
fn a_copy_of_books_that_were_tampered_with_is_not_made_when_it_is_to_be_proved() {
    let server = Server::start(Engine::Sqlite, Options::default()).unwrap();
    let company = server.company();
    company.journal("2026-04-05", &[("6300", "1"), ("1010", "-1")]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let database = connected(server.database_url()).await.unwrap();
        database.execute_unprepared("UPDATE businesses SET name = 'Another'").await.unwrap();
    });
    let to = fresh_folder("copies").join("copy");
    let told = server.command(&["backup", &text(&to), "--verify"], "");
    assert!(complaint(&told).contains("the books are not as they were written"), "{}", complaint(&told));
    assert!(!to.exists());
    // As they are they can be kept all the same.
    good(&server.command(&["backup", &text(&to)], ""));
}

mod tenants {
    use super::*;

    const PASSWORD: &str = "the first user of a tenant";
    const HOSTS: [&str; 2] = ["one.example", "two.example"];

    fn cloud(engine: Engine, folder: PathBuf) -> Server {
        let custom = Some(r#"{"Edition": "Cloud"}"#.to_owned());
        Server::start_in(engine, folder, Options { custom, ..Options::default() }).expect("an engine")
    }

    fn add(server: &Server, host: &str) {
        let mut words = vec!["tenant", "add", host, "--email", "first@example.test", "--password-stdin"];
        let database = if server.engine == Engine::Postgres { postgres::fresh_database() } else { None };
        if let Some(database) = &database {
            words.extend(["--tenant-database", database]);
        }
        good(&server.command(&words, PASSWORD));
    }

    fn token(server: &Server, host: &str) -> String {
        let body = json!({"email": "first@example.test", "password": PASSWORD});
        let login = Request::new("POST", "/b/api/auth/login").json(&body).header("Host", host);
        server.send(&login).expect(200).json()["token"].as_str().unwrap().to_owned()
    }

    fn company(server: &Server, host: &str) {
        let make = Request::new("POST", "/b/api/businesses").json(&json!({"name": host, "baseCurrency": "EUR"}));
        server.send(&authorised(make, &token(server, host)).header("Host", host)).expect(201);
    }

    fn companies(server: &Server, host: &str) -> Vec<String> {
        let list = authorised(Request::new("GET", "/b/api/businesses"), &token(server, host)).header("Host", host);
        let found = server.send(&list).expect(200).json();
        let items = found.as_array().or(found["items"].as_array()).expect("companies").clone();
        items.iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn all_tenants_are_copied_and_brought_back_elsewhere_or_one_of_them() {
        let server = cloud(Engine::Sqlite, fresh_folder("server"));
        for host in HOSTS {
            add(&server, host);
            company(&server, host);
        }
        let copy = backed_up(&server, &["--verify"]);
        let keys = text(&server.folder.join("data/tenants"));
        let restore = |folder: &Path, more: &[&str]| {
            let data = text(&folder.join("data"));
            let asked = ["restore", &text(&copy), "--set", "Edition=Cloud", "--data", &data, "--key", &keys];
            run(&words(&[&asked[..], more].concat()), "")
        };
        let folder = fresh_folder("restored");
        good(&restore(&folder, &["--verify"]));
        let told = refused(&restore(&folder, &[]));
        assert!(told.contains("one.example: there are books"), "{told}");
        let restored = cloud(Engine::Sqlite, folder);
        for host in HOSTS {
            assert_eq!(companies(&restored, host), [host]);
        }
        let alone = fresh_folder("restored");
        good(&restore(&alone, &["--tenant", "two.example"]));
        let restored = cloud(Engine::Sqlite, alone);
        assert_eq!(companies(&restored, "two.example"), ["two.example"]);
        let unknown = Request::new("GET", "/b/api/businesses").header("Host", "one.example");
        restored.send(&unknown).expect(421);
        // One whose copy is damaged keeps all of them from being written.
        let file = copy.join("two.example/books.db");
        let mut bytes = std::fs::read(&file).unwrap();
        bytes[5_000] ^= 1;
        std::fs::write(&file, &bytes).unwrap();
        let nowhere = fresh_folder("restored");
        let told = refused(&restore(&nowhere, &[]));
        assert!(told.contains("two.example: ") && told.contains("damaged"), "{told}");
        assert!(!nowhere.join("data/tenants/one.example/duet.db").exists());
    }

    #[test]
    fn a_tenant_on_postgresql_is_brought_back_into_its_own_database() {
        if Server::shared(Engine::Postgres).is_none() {
            return;
        }
        let server = cloud(Engine::Postgres, fresh_folder("server"));
        add(&server, "one.example");
        company(&server, "one.example");
        let to = fresh_folder("copies").join("copy");
        good(&server.command(&["backup", &text(&to), "--tenant", "one.example"], ""));
        let again = server.restarted_after(|command| {
            good(&command(&["restore", &text(&to), "--tenant", "one.example", "--replace"], ""));
        });
        assert_eq!(companies(&again, "one.example"), ["one.example"]);
    }
}
