//! What is looked at when somebody asks: how the books stand just now. What is not known is not told.

use crate::backup::stamp::{self, Stamp};
use crate::config::{Edition, Settings};
use crate::tenants::Books;
use ledger_core::database::file_of;
use prometheus::{GaugeVec, IntGauge, IntGaugeVec, Opts, Registry};
use std::collections::BTreeMap;

/// All that can be seen, in a registry of its own.
pub(super) async fn of(books: &Books, settings: &Settings) -> prometheus::Result<Registry> {
    let registry = Registry::new();
    let one = |name: &str, help: &str, value: i64| -> prometheus::Result<()> {
        let gauge = IntGauge::new(name, help)?;
        gauge.set(value);
        registry.register(Box::new(gauge))
    };
    let about = IntGaugeVec::new(Opts::new("duet_build_info", "The release that runs."), &["version"])?;
    about.with_label_values(&[env!("CARGO_PKG_VERSION")]).set(1);
    registry.register(Box::new(about))?;
    one("duet_ready", "Whether requests can be served, as readyz says.", i64::from(books.readiness().await.is_ok()))?;
    one("duet_tenants_open", "Sets of books that are open.", counted(books.open_now()))?;
    connections(books, &registry)?;
    replicas(books, &registry)?;
    if let Some(Stamp { at, .. }) = stamp::last_backup(&settings.data) {
        one("duet_last_backup_timestamp_seconds", "When duet backup last made a copy of all books.", at.seconds())?;
    }
    if let Some(Stamp { at, ok }) = stamp::last_verify(&settings.data) {
        one("duet_last_verify_timestamp_seconds", "When duet verify last came to its end.", at.seconds())?;
        one("duet_last_verify_success", "Whether every check held then.", i64::from(ok))?;
    }
    if let Ok(room) = rustix::fs::statvfs(&settings.data) {
        let free = i64::try_from(room.f_bavail.saturating_mul(room.f_frsize)).unwrap_or(i64::MAX);
        one("duet_disk_free_bytes", "Room on the disk of the data folder.", free)?;
    }
    if let (Edition::Server, Some(file)) = (settings.edition, file_of(settings.database.expose())) {
        let mut log = file.clone().into_os_string();
        log.push("-wal");
        let size = |path: &std::path::Path| std::fs::metadata(path).map_or(0, |about| about.len());
        one("duet_database_size_bytes", "What SQLite's file takes.", bytes(size(&file)))?;
        one("duet_database_log_bytes", "What SQLite's write-ahead log takes.", bytes(size(log.as_ref())))?;
    }
    Ok(registry)
}

fn counted(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn bytes(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Those of all books that are open.
fn connections(books: &Books, registry: &Registry) -> prometheus::Result<()> {
    let mut all: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (what, used, most) in books.connections() {
        let sum = all.entry(what).or_default();
        *sum = (sum.0 + used, sum.1 + most);
    }
    let used = Opts::new("duet_database_connections_used", "Connections to the database that are used just now.");
    let most = Opts::new("duet_database_connections_max", "Connections to the database that there may be.");
    let (used, most) = (IntGaugeVec::new(used, &["use"])?, IntGaugeVec::new(most, &["use"])?);
    for (what, (in_use, at_most)) in all {
        used.with_label_values(&[what]).set(counted(in_use));
        most.with_label_values(&[what]).set(counted(at_most));
    }
    registry.register(Box::new(used))?;
    registry.register(Box::new(most))
}

/// How standbys stand that answer reads, each by its place in the configuration.
fn replicas(books: &Books, registry: &Registry) -> prometheus::Result<()> {
    let all = books.replicas();
    if all.is_empty() {
        return Ok(());
    }
    let used = Opts::new("duet_replica_used", "Whether reads are answered by a replica just now.");
    let behind = Opts::new("duet_replica_lag_seconds", "How far a replica is behind, as far as it was looked at.");
    let (used, behind) = (IntGaugeVec::new(used, &["replica"])?, GaugeVec::new(behind, &["replica"])?);
    for (place, one) in (1_u32..).zip(&all) {
        let name = place.to_string();
        used.with_label_values(&[name.as_str()]).set(i64::from(one.is_used));
        if let Some(lag) = one.behind {
            behind.with_label_values(&[name.as_str()]).set(lag.as_secs_f64());
        }
    }
    registry.register(Box::new(used))?;
    registry.register(Box::new(behind))
}
