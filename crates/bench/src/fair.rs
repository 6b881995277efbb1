//! What one company does at its worst, seen from another: the other's answers beside the same in quiet, in one run.

use crate::Result;
use crate::client;
use crate::place::{Place, Server, say};
use serde_json::json;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

/// Connections of the greedy company, each of which gives up after so long.
const CROWD: usize = 24;
const PATIENCE: Duration = Duration::from_secs(5);
/// What another company's slowest answer in a hundred may be, beside the same in quiet.
const BOUND: u128 = 10;

/// What the greedy company asks for, and how it takes it.
const WORST: [(&str, &str, Taking); 7] = [
    ("proofs", "/b/api/verify", Taking::Whole),
    ("proofs of the audit log", "/b/api/audit-log/verify", Taking::Whole),
    ("day book", "/b/api/reports/day-book?from=2026-01-01&to=2026-12-31&pageSize=500", Taking::Whole),
    ("general ledger", "/b/api/reports/general-ledger?from=2026-01-01&to=2026-12-31&pageSize=500", Taking::Whole),
    ("pages that are searched for", "/b/api/entries?pageSize=500&q=", Taking::Fresh),
    ("CSV, read", "/b/api/reports/general-ledger?from=2026-01-01&to=2026-12-31&format=csv", Taking::Whole),
    ("CSV, hardly read", "/b/api/reports/general-ledger?from=2026-01-01&to=2026-12-31&format=csv", Taking::Slowly),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Taking {
    Whole,
    /// Each question is a new one.
    Fresh,
    /// A little now and then.
    Slowly,
}

/// Runs the crowd for so long beside each thing that the other company asks for.
pub(crate) async fn run(place: &Place, seconds: u64, journals: usize) -> Result<()> {
    let server = Server::start(&place.fresh("fair").await?).await?;
    let (greedy, accounts) = server.company("Greedy").await?;
    let (other, _) = server.company("Other").await?;
    let line = |number: usize| json!({"accountId": accounts.first(), "debit": "1.00", "description": format!("{number} {}", "x".repeat(120))});
    for _ in 0..journals {
        let mut lines: Vec<_> = (0..999).map(line).collect();
        lines.push(json!({"accountId": accounts.last(), "credit": "999.00"}));
        let body = json!({"date": "2026-03-10", "lines": lines}).to_string();
        server.ask("POST", "/b/api/journals", Some(&greedy), &body).await?;
    }
    let key = server.ask("POST", "/b/api/api-keys", Some(&greedy), r#"{"name":"Crowd"}"#).await?;
    let key = key["secret"].as_str().ok_or("no key")?.to_owned();
    say(&format!("{}, {journals} journals of 1000 lines, {CROWD} connections that give up after 5 s", place.engine()));
    let mut held = true;
    let questions: [(&str, &str); 3] = [
        ("a page", "/b/api/parties?pageSize=1&q="),
        ("a report", "/b/api/reports/bs?asOf=2026-12-31&includeZero=true"),
        ("a CSV", "/b/api/reports/ar-aging?format=csv&asOf=2026-12-31"),
    ];
    for (what, path) in questions {
        let quiet = asked(&server, &other, path, seconds).await?;
        say(&format!("{what}, in quiet: median {} us, p99 {} us", median(&quiet), p99(&quiet)));
        for (worst, target, taking) in WORST {
            let crowd = Crowd::begin(server.address, &key, &greedy, target, taking);
            let beside = asked(&server, &other, path, seconds).await;
            let done = crowd.end().await;
            let beside = beside?;
            let ratio = p99(&beside) * 100 / p99(&quiet).max(1);
            held &= ratio <= BOUND * 100;
            say(&format!(
                "  beside {worst}: median {} us, p99 {} us, {}.{:02} x ({done} answers to the crowd)",
                median(&beside),
                p99(&beside),
                ratio / 100,
                ratio % 100
            ));
        }
    }
    if !server.stop_and_verify()? {
        return Err("the books do not hold".into());
    }
    if !held {
        return Err("another company waits more than ten times as long as in quiet".into());
    }
    Ok(())
}

fn median(sorted: &[u128]) -> u128 {
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

fn p99(sorted: &[u128]) -> u128 {
    let place = (sorted.len() * 99).div_ceil(100).saturating_sub(1);
    sorted.get(place).copied().unwrap_or_default()
}

/// How long each answer took, in microseconds, the quickest first. Whatever is not answered well is an error.
async fn asked(server: &Server, business: &str, path: &str, seconds: u64) -> Result<Vec<u128>> {
    let until = Instant::now() + Duration::from_secs(seconds);
    let mut took = Vec::new();
    while Instant::now() < until {
        let began = Instant::now();
        let path = if path.ends_with("q=") { format!("{path}{}", took.len()) } else { path.to_owned() };
        let request = client::request("GET", &path, Some(&server.token), Some(business), "");
        let answer = whole(server.address, &request).await?;
        if !answer.starts_with(b"HTTP/1.1 200") {
            return Err(String::from_utf8_lossy(&answer).into_owned().into());
        }
        took.push(began.elapsed().as_micros());
    }
    took.sort_unstable();
    Ok(took)
}

/// All that a connection is answered, to its end.
async fn whole(address: SocketAddr, request: &[u8]) -> Result<Vec<u8>> {
    let mut stream = TcpStream::connect(address).await?;
    let request = String::from_utf8_lossy(request).replace("Host: bench\r\n", "Host: bench\r\nConnection: close\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    Ok(answer)
}

/// Those who ask for too much.
struct Crowd {
    over: Arc<AtomicBool>,
    done: Arc<AtomicUsize>,
    members: Vec<tokio::task::JoinHandle<()>>,
}

impl Crowd {
    fn begin(address: SocketAddr, key: &str, business: &str, target: &'static str, taking: Taking) -> Self {
        let (over, done) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let members = (0..CROWD).map(|member| {
            let (over, done, key, business) = (over.clone(), done.clone(), key.to_owned(), business.to_owned());
            tokio::spawn(async move {
                let mut turn = 0;
                while !over.load(Ordering::Relaxed) {
                    turn += 1;
                    let path =
                        if taking == Taking::Fresh { format!("{target}{member}-{turn}") } else { target.to_owned() };
                    let request = client::request("GET", &path, Some(&key), Some(&business), "");
                    let taken = timeout(PATIENCE, async {
                        if taking == Taking::Slowly {
                            sipped(address, &request).await
                        } else {
                            whole(address, &request).await
                        }
                    });
                    if taken.await.is_ok_and(|taken| taken.is_ok_and(|answer| answer.starts_with(b"HTTP/1.1 200"))) {
                        done.fetch_add(1, Ordering::Relaxed);
                    }
                }
            })
        });
        let members = members.collect();
        Self { over, done, members }
    }

    async fn end(self) -> usize {
        self.over.store(true, Ordering::Relaxed);
        for member in self.members {
            let _ended = member.await;
        }
        self.done.load(Ordering::Relaxed)
    }
}

/// A little of an answer now and then, until patience is over.
async fn sipped(address: SocketAddr, request: &[u8]) -> Result<Vec<u8>> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(request).await?;
    let mut sip = vec![0; 1_000];
    loop {
        if stream.read(&mut sip).await? == 0 {
            return Ok(sip);
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
