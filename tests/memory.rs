//! What a server holds of the machine's memory, seen from outside.

use crate::harness::server::Options;
use crate::harness::{Engine, Server};

/// Memory is given back to the kernel in small pieces. Where huge pages are asked for, the kernel joins the rest of each
/// anew and counts it whole.
#[test]
fn memory_that_is_given_back_is_gone() {
    let server = Server::start(Engine::Sqlite, Options::default()).expect("SQLite needs nothing");
    let company = server.company();
    company.party(serde_json::json!({"name": "Ada"}));
    let smaps = std::fs::read_to_string(format!("/proc/{}/smaps", server.pid())).expect("a process has a map");
    let flags: Vec<&str> = smaps.lines().filter(|line| line.starts_with("VmFlags:")).collect();
    assert!(flags.len() > 20, "{smaps}");
    assert!(!flags.iter().any(|flags| flags.split(' ').any(|flag| flag == "hg")), "huge pages are asked for");
    let environment = std::fs::read(format!("/proc/{}/environ", server.pid())).expect("a process has surroundings");
    let told = String::from_utf8_lossy(&environment).contains("GLIBC_TUNABLES=glibc.malloc.arena_max=1");
    assert!(told, "the engine's allocator keeps an arena for each thread");
}
