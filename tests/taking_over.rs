//! The layout of several processes behind `HAProxy`, on a PostgreSQL that Patroni and etcd keep available. Whatever ends or
//! hangs, each write that was acknowledged is in the books once.

use crate::harness::Request;
use crate::harness::process::{Kept, eventually, fresh_folder, say_loudly};
use crate::harness::server::{authorised, program};
use crate::tidy::root;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// How long a client waits before it asks again.
const BREATH: Duration = Duration::from_millis(100);

/// The command that starts the layout.
fn tool() -> String {
    root().join("config/deploy/try").display().to_string()
}

/// What it is made of. Without that nothing can be said of it, which is loud, or a failure where it is required.
fn installed() -> bool {
    let checked = Command::new("python3").args([tool().as_str(), "check"]).output();
    let missing = match checked {
        Ok(checked) if checked.status.success() => return true,
        Ok(checked) => String::from_utf8_lossy(&checked.stderr).trim_end().to_owned(),
        Err(error) => format!("python3: {error}"),
    };
    let required = std::env::var("DUET_TEST_HA").is_ok_and(|value| value == "required");
    assert!(!required, "DUET_TEST_HA=required, and {missing}");
    say_loudly(&format!("{missing}: how a standby takes over is NOT SEEN"));
    false
}

struct Layout {
    folder: PathBuf,
    /// It ends all that it started when it is ended itself.
    _kept: Kept,
}

impl Layout {
    fn start() -> Self {
        let folder = fresh_folder("layout");
        let (tool, place) = (tool(), folder.display().to_string());
        let words = ["python3", tool.as_str(), "up", place.as_str(), "--duet", program(), "--quick", "--stay"];
        // What its writes cost, of a server that is built without optimisation, is no matter here.
        let words = words.into_iter().chain(["--set", "Limits:WriteTime=24h"]);
        let words: Vec<String> = words.map(str::to_owned).collect();
        let mut kept = Kept::start(&[], &words, |_| {});
        let said = BufReader::new(kept.child.stdout.take().expect("its output")).lines();
        let is_up = said.map_while(Result::ok).any(|line| line == "started");
        assert!(is_up, "the layout did not start; its logs are in {}", folder.display());
        Self { folder, _kept: kept }
    }

    fn ask(&self, words: &[&str]) -> String {
        let mut command = Command::new("python3");
        command.args([tool().as_str(), words[0]]).arg(&self.folder).args(&words[1..]);
        let done = command.output().expect("python3");
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        assert!(done.status.success(), "{words:?}: {said}{}", String::from_utf8_lossy(&done.stderr));
        said
    }

    fn status(&self) -> Value {
        serde_json::from_str(&self.ask(&["status", "--json"])).expect("JSON")
    }

    /// The part of which this is said.
    fn part(&self, said: &str, what: &str) -> Option<String> {
        let status = self.status();
        let mut parts = status["parts"].as_object().expect("parts").iter();
        parts.find(|(_, part)| part[said] == what).map(|(name, _)| name.clone())
    }

    fn leader(&self) -> String {
        eventually("a leader", || self.part("role", "leader"))
    }
}

/// Tells the writers that it is over, also where what they wrote through failed.
struct Over<'o>(&'o AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// A company, as clients of `HAProxy` know it, and what they were told of their writes.
struct Books {
    address: SocketAddr,
    token: String,
    business: String,
    begun: AtomicUsize,
    acknowledged: Mutex<Vec<String>>,
}

impl Books {
    fn open(layout: &Layout) -> Self {
        let status = layout.status();
        let word = |name: &str| status[name].as_str().expect("a text").to_owned();
        let address = word("address").trim_start_matches("http://").parse().expect("an address");
        let login = json!({"email": word("email"), "password": word("password")});
        let answer = Request::new("POST", "/b/api/auth/login").json(&login).send(address).expect(200).json();
        let token = answer["token"].as_str().expect("a token").to_owned();
        let request = Request::new("POST", "/b/api/businesses").json(&json!({"name": "Kept", "baseCurrency": "EUR"}));
        let made = authorised(request, &token).send(address).expect(201).json();
        let business = made["id"].as_str().expect("an identifier").to_owned();
        Self { address, token, business, begun: AtomicUsize::new(0), acknowledged: Mutex::default() }
    }

    fn request(&self, method: &str, path: &str) -> Request {
        authorised(Request::new(method, path).header("X-Business-Id", &self.business), &self.token)
    }

    /// One write, as a client does it that keeps its promise: with a key, and again until it is done.
    fn write(&self) {
        let name = format!("Write {}", self.begun.fetch_add(1, Ordering::SeqCst));
        let request = self.request("POST", "/b/api/parties").header("Idempotency-Key", &name);
        let request = request.json(&json!({"name": name, "isCustomer": true}));
        eventually("an acknowledgement", || {
            let status = request.send(self.address).status;
            // Nobody refuses it, whatever happens.
            assert!(status == 201 || matches!(status, 429 | 502 | 503 | 504 | 409), "{name} was answered {status}");
            if status != 201 {
                std::thread::sleep(BREATH);
            }
            (status == 201).then_some(())
        });
        self.acknowledged.lock().expect("nobody failed").push(name);
    }

    /// Writes while something happens, and until each writer was acknowledged some that it began afterwards.
    fn through(&self, cause: impl FnOnce()) {
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let mut later = 0;
                    while later < 5 {
                        later += usize::from(is_over.load(Ordering::SeqCst));
                        self.write();
                    }
                });
            }
            let _over = Over(&is_over);
            cause();
        });
    }

    /// How often each name is in the books.
    fn found(&self) -> BTreeMap<String, usize> {
        let mut found = BTreeMap::new();
        for page in 1.. {
            let path = format!("/b/api/parties?fields=name&pageSize=500&sort=createdAt&page={page}");
            let listed = self.request("GET", &path).send(self.address).expect(200).json();
            let items = listed["items"].as_array().expect("parties");
            for one in items {
                *found.entry(one["name"].as_str().expect("a name").to_owned()).or_default() += 1;
            }
            if items.is_empty() {
                break;
            }
        }
        found
    }
}

#[test]
fn what_was_acknowledged_is_there_once_whoever_ends_or_hangs() {
    if !installed() {
        return;
    }
    let layout = Layout::start();
    let books = Books::open(&layout);
    let ask = |words: &[&str]| drop(layout.ask(words));

    // The leader ends with all of its processes, and another leads.
    let first = layout.leader();
    books.through(|| ask(&["kill", &first]));
    let second = layout.leader();
    assert_ne!(first, second);
    // It comes again, and follows.
    books.through(|| ask(&["start", &first]));
    ask(&["wait"]);

    // The leader hangs, and is missed. When it goes on it finds that another leads.
    books.through(|| ask(&["hang", &second]));
    assert_ne!(layout.leader(), second);
    books.through(|| ask(&["wake", &second]));

    // Of three etcds the one that leads the others ends, and the lead of the database stays where it is. What is left of
    // them decides: by them it is handed over.
    let third = layout.leader();
    let mut killed = String::new();
    books.through(|| killed = layout.ask(&["kill", "etcd-leader"]));
    let leads = eventually("another etcd that leads", || layout.part("does", "leads"));
    assert!(!killed.starts_with(&leads), "{killed} and {leads} leads");
    assert_eq!(layout.leader(), third);
    ask(&["wait"]);
    books.through(|| ask(&["switchover"]));
    assert_ne!(layout.leader(), third);

    // A process of Duet ends; the other is asked.
    books.through(|| ask(&["kill", "duet1"]));

    let acknowledged = books.acknowledged.lock().expect("nobody failed").clone();
    let expected: BTreeMap<String, usize> = acknowledged.into_iter().map(|name| (name, 1)).collect();
    assert_eq!(books.found(), expected);
    // The log and the ledger prove themselves.
    ask(&["duet", "verify"]);
}
