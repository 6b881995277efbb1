//! The disk fails, once, at each call that a batch makes to it. What was acknowledged is there once, what was not is not or
//! was told as unknown, numbers have no hole, the books prove themselves, and service resumes by itself or says why not.

use crate::harness::books::connected;
use crate::harness::http::connect;
use crate::harness::process::{eventually, fresh_folder, say_loudly};
use crate::harness::{Company, Dialect, Engine, Options, Request, Server};
use sea_orm::{ConnectionTrait, DbBackend, Statement};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// How often it is looked whether a tracer that was told to end has, and after how long each time.
const LOOKS: u32 = 400;
const LOOK: Duration = Duration::from_millis(25);

/// Something between a server and its kernel, until it is let go.
pub struct Tracer {
    process: Child,
    /// It would end if nobody listened to it.
    _words: BufReader<std::process::ChildStderr>,
    trace: std::path::PathBuf,
}

impl Tracer {
    /// Traces these calls, and has `strace` meddle with them as these words say.
    pub fn on(server: &Server, words: &[&str]) -> Self {
        let trace = fresh_folder("faults").join("trace");
        let mut command = Command::new("strace");
        command.args(["-f", "-y", "-o"]).arg(&trace).args(words).args(["-p", &server.pid().to_string()]);
        let mut process = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("strace");
        // It says so for every thread; with the first line it holds all that there are.
        let mut told = String::new();
        let mut words = BufReader::new(process.stderr.take().expect("its words"));
        words.read_line(&mut told).expect("a line");
        assert!(told.contains("attached"), "{told}");
        Self { process, _words: words, trace }
    }

    fn count(&self, word: &str) -> usize {
        std::fs::read_to_string(&self.trace).unwrap_or_default().lines().filter(|line| line.contains(word)).count()
    }

    /// Lets the server go. Answers how often the kernel was made to lie.
    pub fn off(mut self) -> usize {
        self.end();
        self.count("(INJECTED)")
    }

    fn end(&mut self) {
        if !matches!(self.process.try_wait(), Ok(None)) {
            return;
        }
        let _asked = Command::new("kill").args(["-INT", &self.process.id().to_string()]).status();
        // It may wait for a thread of a server that is gone, for ever; what it saw is in its file by then.
        let ended = (0..LOOKS).any(|_| {
            std::thread::sleep(LOOK);
            !matches!(self.process.try_wait(), Ok(None))
        });
        if !ended {
            let _gone = self.process.kill();
            let _ended = self.process.wait();
        }
    }
}

impl Drop for Tracer {
    fn drop(&mut self) {
        self.end();
    }
}

pub fn strace_works() -> bool {
    let works = Command::new("strace").args(["-o", "/dev/null", "true"]).output();
    let works = works.is_ok_and(|output| output.status.success());
    if !works {
        say_loudly("NO STRACE, OR IT MAY NOT TRACE HERE: what happens when the disk fails is NOT CHECKED");
    }
    works
}

/// What a client heard.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Heard {
    Done {
        number: Option<String>,
    },
    /// It was not written, and the code says why.
    Not(String),
    /// Nobody said whether it was.
    Unknown,
}

/// What was said of each write, by the word that it is known by in the database.
struct Ledger<'s> {
    company: &'s Company<'s>,
    /// A journal, without the word that it is known by.
    body: Value,
    heard: BTreeMap<String, Heard>,
}

impl<'s> Ledger<'s> {
    fn of(company: &'s Company<'s>) -> Self {
        let body = company.journal_body("2026-03-05", &[("6200", "1"), ("1010", "-1")]);
        Self { company, body, heard: BTreeMap::new() }
    }

    /// Posts a journal that is known by its narration. The server may be gone before it answers.
    fn post(&mut self, word: &str) -> Heard {
        let mut body = self.body.clone();
        body["narration"] = word.into();
        let request = self.company.request(Dialect::B, "POST", "journals", "").json(&body);
        let heard = hear(self.company.server, &request);
        self.heard.insert(word.to_owned(), heard.clone());
        heard
    }

    /// Posts until it is done; the server said that it would be.
    fn insist(&mut self, word: &str) {
        for attempt in 0..50 {
            if let Heard::Done { .. } = self.post(&format!("{word}, attempt {attempt}")) {
                return;
            }
        }
        panic!("service did not resume: {:?}\n{}", self.heard, self.company.server.log());
    }

    /// A rehearsal, and a write that the books refuse: both end their transaction without a commit.
    fn end_without_commit(&self) {
        let rehearsed = self.company.request(Dialect::B, "POST", "journals", "?dryRun=true").json(&self.body);
        hear(self.company.server, &rehearsed);
        let party = json!({"name": "Twice", "isCustomer": true, "code": "TAKEN"});
        hear(self.company.server, &self.company.request(Dialect::A, "POST", "parties", "").json(&party));
    }
}

/// Looks behind the server's back for what was said.
fn hold(server: &Server, all: &BTreeMap<String, Heard>) {
    let rows = asked(
        server,
        "SELECT d.narration AS word, d.number AS number, COUNT(DISTINCT d.id) AS times, COUNT(e.number) AS entries \
         FROM documents d LEFT JOIN entries e ON e.business_id = d.business_id AND e.document_id = d.id \
         WHERE d.kind = 'J' GROUP BY d.narration, d.number",
    );
    let mut found: BTreeMap<String, (Option<String>, i64, i64)> = BTreeMap::new();
    for row in rows {
        let word: String = row.try_get("", "word").unwrap();
        let again = found.insert(
            word.clone(),
            (
                row.try_get("", "number").unwrap(),
                row.try_get("", "times").unwrap(),
                row.try_get("", "entries").unwrap(),
            ),
        );
        assert_eq!(again, None, "{word} is there under two numbers");
    }
    for (word, heard) in all {
        let there = found.remove(word);
        match heard {
            Heard::Done { number } => assert_eq!(there, Some((number.clone(), 1, 1)), "{word} was acknowledged"),
            Heard::Not(why) => assert_eq!(there, None, "{word} was refused: {why}"),
            Heard::Unknown => assert!(there.is_none_or(|(_, times, entries)| (times, entries) == (1, 1)), "{word}"),
        }
    }
    assert_eq!(found.len(), 0, "nobody posted {found:?}");
    for holes in [
        "SELECT COUNT(*) AS n FROM (SELECT MAX(number) AS last, COUNT(*) AS times FROM entries GROUP BY business_id) \
         WHERE last <> times",
        "SELECT COUNT(*) AS n FROM (SELECT COUNT(DISTINCT number) AS times, MAX(sequence) AS last FROM documents \
         WHERE kind = 'J' GROUP BY business_id) WHERE last <> times",
    ] {
        let holes: i64 = asked(server, holes)[0].try_get("", "n").unwrap();
        assert_eq!(holes, 0);
    }
    let proof = server.command(&["verify"], "");
    assert!(proof.status.success(), "{}{}", text(&proof.stdout), text(&proof.stderr));
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Asks the database itself.
fn asked(server: &Server, sql: &str) -> Vec<sea_orm::QueryResult> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let database = connected(server.database_url()).await.unwrap();
        database.query_all_raw(Statement::from_string(DbBackend::Sqlite, sql)).await.unwrap()
    })
}

/// What comes of a request to a server that may end before it answers.
fn hear(server: &Server, request: &Request) -> Heard {
    let mut stream = match std::net::TcpStream::connect(server.address) {
        Ok(stream) => {
            drop(stream);
            connect(server.address)
        }
        // Nobody took it, so nothing was done.
        Err(_) => return Heard::Not("nobody listens".into()),
    };
    let mut bytes = Vec::new();
    let sent = std::io::Write::write_all(&mut stream, &request.bytes("close"));
    let read = stream.read_to_end(&mut bytes);
    let answer = text(&bytes);
    let Some((head, body)) = answer.split_once("\r\n\r\n") else {
        assert!(sent.is_err() || read.is_err() || bytes.is_empty(), "{answer}");
        return Heard::Unknown;
    };
    let code = head.lines().find_map(|line| line.to_lowercase().strip_prefix("x-error-code: ").map(str::to_owned));
    match (head.split(' ').nth(1), code) {
        (Some("200" | "201"), _) => {
            let body: Value = serde_json::from_str(body).unwrap();
            Heard::Done { number: body["number"].as_str().map(str::to_owned) }
        }
        (Some("503"), Some(code)) if code == "commit_outcome_unknown" => Heard::Unknown,
        (Some("503" | "409"), Some(code)) => Heard::Not(code),
        other => panic!("{other:?}: {answer}\n{}", server.log()),
    }
}

fn prepared() -> Server {
    Server::start(Engine::Sqlite, Options::default()).unwrap()
}

fn log_of(server: &Server) -> String {
    format!("{}-wal", server.database_url().strip_prefix("sqlite:").unwrap())
}

/// How often one journal makes these calls, on files of this name.
fn calls_of_a_batch(server: &Server, ledger: &mut Ledger<'_>, calls: &str) -> usize {
    let tracer = Tracer::on(server, &["-e", &format!("trace={calls}")]);
    ledger.insist(&format!("the measure of {calls}"));
    let mut tracer = tracer;
    tracer.end();
    tracer.count("duet.db")
}

/// Runs one journal under a fault, then ends two transactions without a commit, then writes again.
fn under(server: &Server, ledger: &mut Ledger<'_>, name: &str, words: &[&str]) -> usize {
    let tracer = Tracer::on(server, words);
    ledger.post(name);
    ledger.end_without_commit();
    ledger.insist(&format!("after {name}"));
    tracer.off()
}

fn every_write_fails(how: &str) {
    if !strace_works() {
        return;
    }
    let server = prepared();
    let company = server.company();
    company.party(json!({"code": "TAKEN"}));
    let mut ledger = Ledger::of(&company);
    ledger.insist("the first");
    let calls = calls_of_a_batch(&server, &mut ledger, "pwrite64");
    assert!(calls > 10, "a journal writes {calls} times");
    for place in 1..=calls {
        let inject = format!("inject=pwrite64:{how}:when={place}");
        let lies = under(&server, &mut ledger, &format!("{how} at write {place}"), &["-e", &inject]);
        // Each thread counts its own calls, and the log is copied on another one now and then.
        assert!((1..=2).contains(&lies), "{inject}: {lies}");
    }
    let heard = ledger.heard;
    // The commit is the last thing that is written: where a write fails, it is known not to be there.
    let unknown: Vec<_> = heard.iter().filter(|(_, heard)| **heard == Heard::Unknown).collect();
    assert_eq!(unknown, [], "told as unknown though it is known");
    hold(&server, &heard);
    hold(&server.restarted(), &heard);
}

#[test]
fn a_full_disk_at_any_write_loses_nothing() {
    every_write_fails("error=ENOSPC");
}

#[test]
fn a_broken_disk_at_any_write_loses_nothing() {
    every_write_fails("error=EIO");
}

#[test]
fn a_disk_that_takes_nothing_at_any_write_loses_nothing() {
    every_write_fails("retval=0");
}

/// A write of which the disk takes a part, wherever in the log it ends.
#[test]
fn a_write_that_ends_short_loses_nothing() {
    // A page of the log and what stands before it.
    const FRAME: u64 = 24 + 4096;
    let server = prepared();
    let company = server.company();
    company.party(json!({"code": "TAKEN"}));
    let mut ledger = Ledger::of(&company);
    ledger.insist("the first");
    let limit = |bytes: &str| {
        let limit = format!("--fsize={bytes}:");
        let set = Command::new("prlimit").args(["--pid", &server.pid().to_string(), &limit]).status();
        assert!(set.expect("prlimit").success());
    };
    let size = || std::fs::metadata(log_of(&server)).expect("a log").len();
    // Within the head of a page's frame, at its end, within the page, a few pages on; at last beyond the batch.
    for (round, beyond) in
        [1, 23, 24, 25, 1_000, FRAME - 1, FRAME, 3 * FRAME + 700, 9 * FRAME + 12].into_iter().enumerate()
    {
        // The server writes for itself now and then: what it wrote meanwhile is before the limit as well.
        let before = eventually("a limit that nobody was faster than", || {
            let before = size();
            limit(&(before + beyond).to_string());
            let stands = size() == before;
            if !stands {
                limit("unlimited");
            }
            stands.then_some(before)
        });
        let heard = ledger.post(&format!("short after {beyond} bytes"));
        assert!(!matches!(heard, Heard::Done { .. }), "round {round}: {heard:?}");
        assert!(size() <= before + beyond);
        ledger.end_without_commit();
        limit("unlimited");
        ledger.insist(&format!("after a write that ended after {beyond} bytes"));
    }
    let heard = ledger.heard;
    hold(&server, &heard);
    hold(&server.restarted(), &heard);
}

/// Whether the disk has what was written is not known after a sync that failed. The server says so and ends.
#[test]
fn a_sync_that_fails_ends_the_server_with_a_clear_word() {
    if !strace_works() {
        return;
    }
    let mut server = prepared();
    let company = server.company();
    let (id, token) = (company.id.clone(), company.token.clone());
    let mut heard = BTreeMap::new();
    for how in ["error=EIO", "error=ENOSPC"] {
        let company = Company { server: &server, id: id.clone(), token: token.clone() };
        let mut ledger = Ledger::of(&company);
        ledger.heard = heard;
        ledger.insist(&format!("before {how}"));
        let inject = format!("inject=fsync,fdatasync:{how}:when=1");
        let tracer = Tracer::on(&server, &["-e", &inject]);
        let said = ledger.post(how);
        assert_eq!(said, Heard::Unknown);
        // It ends by itself; until then it takes nothing.
        eventually("its end", || std::net::TcpStream::connect(server.address).is_err().then_some(()));
        assert_eq!(tracer.off(), 1);
        let log = server.log();
        assert!(log.contains("duet ends: the disk did not take what was written"), "{log}");
        heard = ledger.heard;
        server = server.restarted();
        let company = Company { server: &server, id: id.clone(), token: server.token().to_owned() };
        let mut ledger = Ledger::of(&company);
        ledger.heard = std::mem::take(&mut heard);
        ledger.insist(&format!("after {how}"));
        heard = ledger.heard;
        hold(&server, &heard);
    }
}

/// It ends as well where nobody takes the word: nothing on the way to its end can fail.
#[test]
fn a_sync_that_fails_ends_a_server_that_nobody_hears() {
    if !strace_works() {
        return;
    }
    let deaf = ["sh", "-c", "exec \"$@\" 2>/dev/full", "sh"].map(str::to_owned).to_vec();
    let server = Server::start(Engine::Sqlite, Options { wrap: deaf, ..Options::default() }).unwrap();
    let company = server.company();
    let (id, token) = (company.id.clone(), company.token.clone());
    let mut ledger = Ledger::of(&company);
    ledger.insist("before");
    let tracer = Tracer::on(&server, &["-e", "inject=fsync,fdatasync:error=EIO:when=1"]);
    assert_eq!(ledger.post("while it fails"), Heard::Unknown);
    // No other lane goes on behind a log that may be in memory alone.
    let next = ledger.post("after it failed");
    assert!(!matches!(next, Heard::Done { .. }), "{next:?}");
    eventually("its end", || std::net::TcpStream::connect(server.address).is_err().then_some(()));
    assert_eq!(tracer.off(), 1);
    let heard = ledger.heard;
    let server = server.restarted();
    let company = Company { server: &server, id, token };
    Ledger { heard: heard.clone(), ..Ledger::of(&company) }.insist("once it is back");
    assert!(heard.contains_key("after it failed"));
}

/// What is written to a file that is not where it was, nobody finds: the server ends, and nothing answered is lost.
#[test]
fn a_file_that_is_moved_while_it_is_served_ends_the_server() {
    for moved in ["duet.db", "duet.db-server"] {
        let server = prepared();
        let company = server.company();
        let mut ledger = Ledger::of(&company);
        ledger.insist("before");
        let file = server.folder.join("data").join(moved);
        let aside = server.folder.join("aside");
        std::fs::rename(&file, &aside).unwrap();
        ledger.post("while it is elsewhere");
        eventually("its end", || std::net::TcpStream::connect(server.address).is_err().then_some(()));
        assert!(server.log().contains("is not the file any more"), "{}", server.log());
        let heard = ledger.heard;
        std::fs::rename(&aside, &file).unwrap();
        hold(&server.restarted(), &heard);
    }
}

/// The log is copied to the file now and then. What fails there costs no answer, for the log has all of it.
#[test]
fn a_log_that_cannot_be_copied_to_the_file_loses_nothing() {
    if !strace_works() {
        return;
    }
    let server = prepared();
    let company = server.company();
    company.party(json!({"code": "TAKEN"}));
    let mut ledger = Ledger::of(&company);
    let file = log_of(&server).trim_end_matches("-wal").to_owned();
    for how in ["error=ENOSPC", "error=EIO", "retval=0"] {
        let inject = format!("inject=pwrite64:{how}:when=1");
        // Only the calls on the file itself, which nothing but the copying writes to.
        let tracer = Tracer::on(&server, &["-P", &file, "-e", &inject]);
        let mut posts = 0;
        while tracer.count("(INJECTED)") == 0 {
            ledger.insist(&format!("{how}, journal {posts}"));
            posts += 1;
            assert!(posts < 2_000, "the log is never copied");
        }
        ledger.end_without_commit();
        ledger.insist(&format!("after {how}"));
        assert_eq!(tracer.off(), 1);
    }
    assert!(server.log().contains("could not be copied"), "{}", server.log());
    let heard = ledger.heard;
    hold(&server, &heard);
    hold(&server.restarted(), &heard);
}

/// Killed while many write, again and again: each that was answered is there once.
#[test]
fn kills_under_load_lose_nothing_that_was_answered() {
    let mut server = prepared();
    let company = server.company();
    let (id, mut token) = (company.id.clone(), company.token.clone());
    let mut all = BTreeMap::new();
    for round in 0..3 {
        let company = Company { server: &server, id: id.clone(), token: token.clone() };
        let heard: Vec<BTreeMap<String, Heard>> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..8)
                .map(|worker| {
                    let company = &company;
                    scope.spawn(move || {
                        let mut ledger = Ledger::of(company);
                        for index in 0.. {
                            // Whoever finds nobody is done.
                            let heard = ledger.post(&format!("round {round}, worker {worker}, journal {index}"));
                            if matches!(heard, Heard::Not(_) | Heard::Unknown) {
                                break;
                            }
                            if worker == 0 && index == 20 {
                                company.server.signal("KILL");
                            }
                        }
                        ledger.heard
                    })
                })
                .collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).collect()
        });
        all.extend(heard.into_iter().flatten());
        server = server.restarted();
        token = server.token().to_owned();
        hold(&server, &all);
    }
    assert!(all.values().filter(|heard| matches!(heard, Heard::Done { .. })).count() > 60);
}

/// Who only reads makes no database, nor a folder for one; two do not serve one file.
#[test]
fn reading_makes_nothing_and_a_file_has_one_server() {
    let folder = fresh_folder("nothing");
    let data = folder.join("data");
    let words = |command: &[&str]| -> Vec<String> {
        let places = ["--data", &data.display().to_string()].map(str::to_owned);
        [command.iter().map(ToString::to_string).collect(), places.to_vec()].concat()
    };
    let id = "00000000-0000-7000-8000-000000000001";
    for command in
        [vec!["verify"], vec!["usage"], vec!["user", "list"], vec!["export", "--business", id, "--format", "hledger"]]
    {
        let ended = crate::harness::server::run(&words(&command), "");
        assert_eq!(ended.status.code(), Some(1), "{command:?}: {}", text(&ended.stderr));
        assert!(text(&ended.stderr).contains("there are no books at"), "{command:?}: {}", text(&ended.stderr));
        assert!(!data.exists(), "{command:?}");
    }
    let server = Server::start(Engine::Sqlite, Options::default()).unwrap();
    let second = server.command(&["serve", "--listen", "127.0.0.1:0"], "");
    let told = text(&second.stderr);
    assert_eq!(second.status.code(), Some(1), "{told}");
    assert!(told.contains(&format!("is served by another duet: process {}", server.pid())), "{told}");
    for command in [&["verify"][..], &["usage"], &["user", "list"], &["user", "add", "--email", "beside@example.test"]]
    {
        let ended = server.command(command, "");
        assert!(ended.status.success(), "{command:?}: {}", text(&ended.stderr));
    }
    assert!(Path::new(&log_of(&server)).exists());
}
