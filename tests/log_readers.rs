//! Whoever reads the log may stop reading: requests are answered all the same, and the process ends when it is told to.

use crate::harness::{Engine, Options, Request, Server};

#[test]
fn a_log_that_nobody_reads_stops_nothing() {
    // A pipe of which the process itself has both ends, so that what is in it stays there.
    let wrap = ["sh", "-c", "mkfifo log-pipe && exec \"$@\" 2<>log-pipe", "sh"].map(str::to_owned).to_vec();
    let server = Server::start(Engine::Sqlite, Options { wrap, ..Options::default() }).expect("SQLite");
    // A pipe has room for 64 KiB; each request has a line of more than 200 bytes.
    for _ in 0..1_000 {
        server.send(&Request::new("GET", "/healthz")).expect(200);
    }
    let company = server.company();
    company.party(serde_json::json!({}));
    server.signal("TERM");
    assert_eq!(server.exit_code(), Some(0));
}
