//! Databases in a Citus cluster that is there already: `DUET_TEST_CITUS` names a database of its coordinator that has the
//! extension, and its workers added.

use super::postgres;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Few, so that each database is made soon.
const SHARDS: usize = 4;

fn named() -> Option<String> {
    std::env::var("DUET_TEST_CITUS").ok()
}

pub fn is_here() -> bool {
    named().is_some()
}

/// The URL of a fresh database, on every node of the cluster; nothing where none is named.
pub fn fresh_database() -> Option<String> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let told = named()?;
    let name = format!("duet_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let nodes = psql(&told, "SELECT nodename || ':' || nodeport FROM pg_dist_node ORDER BY groupid");
    let nodes: Vec<&str> = nodes.split_whitespace().collect();
    assert!(nodes.len() > 1, "DUET_TEST_CITUS names a coordinator with workers: {nodes:?}");
    for node in &nodes {
        psql(&at(&told, node, None), &format!("CREATE DATABASE {name}"));
        psql(&at(&told, node, Some(&name)), "CREATE EXTENSION citus");
    }
    let url = at(&told, nodes[0], Some(&name));
    psql(&url, &format!("ALTER DATABASE {name} SET citus.shard_count = {SHARDS}"));
    for (place, node) in nodes.iter().enumerate() {
        let (host, port) = node.split_once(':').expect("a host and a port");
        let added = if place == 0 { "citus_set_coordinator_host" } else { "citus_add_node" };
        psql(&url, &format!("SELECT {added}('{host}', {port})"));
    }
    Some(url)
}

/// The same URL at another node, and of another database.
fn at(url: &str, node: &str, database: Option<&str>) -> String {
    let (scheme, rest) = url.split_once("://").expect("a scheme");
    let (place, named) = rest.split_once('/').expect("a database");
    let user = place.split_once('@').map(|(user, _)| format!("{user}@")).unwrap_or_default();
    format!("{scheme}://{user}{node}/{}", database.unwrap_or(named))
}

fn psql(url: &str, statement: &str) -> String {
    let programs = postgres::programs().expect("psql");
    let done = Command::new(programs.join("psql")).args([url, "-qAtc", statement]).output().expect("psql");
    assert!(done.status.success(), "{statement}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}
