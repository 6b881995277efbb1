//! What is looked at of the books: their engine, schema and key, the log, who holds them, the clock, copies and proofs.

use super::{Finding, replicas};
use crate::admin::{self, Memory, explain};
use crate::backup::postgres;
use crate::backup::stamp::{self, Stamp};
use crate::config::Settings;
use convert::Place;
use ledger_core::clock::Clock;
use ledger_core::database::{Purpose, file_of, let_go};
use ledger_core::fault::said;
use sea_orm::{ConnectionTrait, DbBackend, Statement};
use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

const HOUR: i64 = 60 * 60;
const DAY: i64 = 24 * HOUR;
/// A copy is made each day, and takes its time.
const COPY_OLD: i64 = 26 * HOUR;
const COPY_VERY_OLD: i64 = 8 * DAY;
const PROOF_OLD: i64 = 8 * DAY;
/// So far clocks may be apart.
const APART: i64 = 5;
/// The oldest release of PostgreSQL that these books are tried on.
const OLDEST: i64 = 13;
const AT_ONCE: Duration = Duration::from_millis(50);

/// Of which release `pg_dump` is here. It is asked once, however many tenants there are.
static PG_DUMP: LazyLock<Option<i64>> = LazyLock::new(|| postgres::release("pg_dump"));

pub(super) async fn found(settings: &Settings) -> Vec<Finding> {
    let mut found = schema(settings).await;
    let url = settings.database.expose();
    match file_of(url) {
        Some(file) if file.is_file() => found.extend(of_file(settings, &file).await),
        Some(_) => {}
        None => found.extend(of_server(url).await.unwrap_or_else(|why| {
            vec![Finding::critical("database", why, "see whether PostgreSQL is there and takes this address")]
        })),
    }
    for replica in &settings.replicas {
        found.push(replicas::found(url, replica.expose()).await);
    }
    found.push(copies(&settings.data));
    found.push(proofs(&settings.data));
    found
}

/// Whether these books can be served by this release, with this key, at this time.
async fn schema(settings: &Settings) -> Vec<Finding> {
    if let Err(why) = admin::must_be_there(settings.database.expose()) {
        return vec![Finding::critical("database", why, "begin books, or look where they are")];
    }
    let looked = async {
        let ledger = admin::open(settings, Memory::alone(settings), Purpose::Reading).await?;
        let looked = async {
            let known = ledger.knows_schema().await?;
            if known {
                ledger.check_master_key().await?;
            }
            Ok((known, if known { ledger.last_recorded().await? } else { None }))
        };
        let looked = looked.await.map_err(|error: ledger_core::error::Error| explain(&error));
        ledger.close().await;
        looked
    };
    match looked.await {
        Err(why) => vec![Finding::critical(
            "database",
            why,
            "duet serve will say the same; what it names is to be mended first",
        )],
        Ok((false, _)) => {
            let todo = "make a copy (duet backup), then run duet migrate or start the server";
            vec![Finding::warning("schema", "it is of an earlier release", todo)]
        }
        Ok((true, last)) => {
            let mut found =
                vec![Finding::good("schema", "it is this release's, and the master key is that of the books")];
            let ahead = last.map_or(0, |last| last.seconds() - Clock::system().now().seconds());
            if ahead > APART {
                let what = format!("the clock of this machine is {ahead} s behind the last record of the books");
                found.push(Finding::critical("clock", what, "set it, and have it kept (chrony, systemd-timesyncd)"));
            } else {
                found.push(Finding::good("clock", "it is not behind the books"));
            }
            found
        }
    }
}

async fn of_file(settings: &Settings, file: &Path) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut log = file.as_os_str().to_owned();
    log.push("-wal");
    let size = std::fs::metadata(&log).map_or(0, |about| about.len());
    let megabytes = size >> 20;
    found.push(if size > settings.log_budget {
        let what = format!("SQLite's log takes {megabytes} MB, more than Database:LogBudget");
        let todo = "another program reads the file and does not end (fuser -v on it names it), or a copy is being made";
        Finding::warning("log", what, todo)
    } else {
        Finding::good("log", format!("SQLite's log takes {megabytes} MB"))
    });
    found.push(match let_go(settings.database.expose(), AT_ONCE).await {
        Ok(true) => Finding::good("locks", "nobody serves the books just now"),
        Ok(false) => Finding::good("locks", "one server serves the books"),
        Err(error) => Finding::warning("locks", said(&error), "see who may read the folder of the books"),
    });
    let aside = left_aside(file);
    if let Some((count, bytes)) = aside {
        let what = format!("{count} files of books that were replaced or not finished take {} MB", bytes >> 20);
        found.push(Finding::warning(
            "leftovers",
            what,
            format!("look at {}.* and remove what nobody needs", file.display()),
        ));
    }
    found
}

/// What restores left beside the books.
fn left_aside(file: &Path) -> Option<(usize, u64)> {
    let name = file.file_name()?.to_str()?;
    let entries = std::fs::read_dir(file.parent()?).ok()?.flatten();
    let left = entries.filter(|entry| {
        entry
            .file_name()
            .to_str()
            .and_then(|other| other.strip_prefix(name))
            .is_some_and(|rest| rest.starts_with(".before-") || rest.starts_with(".restoring"))
    });
    let sizes: Vec<u64> = left.filter_map(|entry| entry.metadata().ok()).map(|about| about.len()).collect();
    (!sizes.is_empty()).then(|| (sizes.len(), sizes.iter().sum()))
}

async fn of_server(url: &str) -> Result<Vec<Finding>, String> {
    let place = Place::reading(url).await.map_err(|error| said(&error))?;
    let looked = async {
        let version = number(&place, "SELECT current_setting('server_version_num')::bigint / 10000 AS n").await?;
        let clock = number(&place, "SELECT extract(epoch FROM clock_timestamp())::bigint AS n").await?;
        let here = Clock::system().now().seconds();
        let idle = number(
            &place,
            "SELECT COUNT(*) AS n FROM pg_stat_activity WHERE datname = current_database() \
             AND state LIKE 'idle in transaction%' AND clock_timestamp() - state_change > interval '1 minute'",
        )
        .await?;
        let waiting = number(
            &place,
            "SELECT COUNT(*) AS n FROM pg_stat_activity WHERE datname = current_database() \
             AND wait_event_type = 'Lock' AND clock_timestamp() - query_start > interval '5 seconds'",
        )
        .await?;
        let unsafe_writes = number(
            &place,
            "SELECT COUNT(*) AS n FROM pg_settings WHERE name IN ('fsync', 'full_page_writes') AND setting = 'off'",
        )
        .await?;
        Ok::<_, String>((version, here - clock, idle, waiting, unsafe_writes))
    };
    let looked = looked.await;
    place.close().await.map_err(|error| said(&error))?;
    let (version, apart, idle, waiting, unsafe_writes) = looked?;
    let mut found = vec![if version < OLDEST {
        Finding::warning("version", format!("PostgreSQL {version} is older than {OLDEST}"), "upgrade PostgreSQL")
    } else {
        Finding::good("version", format!("PostgreSQL {version}"))
    }];
    if apart.abs() > APART {
        let what = format!("the clocks of this machine and of PostgreSQL are {} s apart", apart.abs());
        found.push(Finding::warning("clock", what, "have both kept by the same time servers"));
    }
    if idle > 0 {
        let what = format!("{idle} transactions were begun and have done nothing for a minute");
        found.push(Finding::warning("locks", what, "pg_stat_activity names them; pg_terminate_backend(pid) ends one"));
    }
    if waiting > 0 {
        let what = format!("{waiting} statements wait for what others hold");
        found.push(Finding::warning("locks", what, "pg_blocking_pids(pid) names who holds it"));
    }
    if idle == 0 && waiting == 0 {
        found.push(Finding::good("locks", "nobody waits for anybody"));
    }
    if unsafe_writes > 0 {
        let what = "PostgreSQL runs with fsync or full_page_writes off: a power cut spoils the books";
        found.push(Finding::critical("database", what, "set both to on in postgresql.conf"));
    }
    found.push(match *PG_DUMP {
        Some(own) if own >= version => Finding::good("programs", format!("pg_dump {own} is there, for duet backup")),
        Some(own) => {
            let what = format!("pg_dump is of release {own}, and refuses a server of release {version}");
            Finding::warning(
                "programs",
                what,
                format!("install postgresql-client-{version}; without it duet backup fails"),
            )
        }
        None => {
            Finding::warning("programs", "pg_dump is not installed, so duet backup fails", "install postgresql-client")
        }
    });
    Ok(found)
}

pub(super) async fn number(place: &Place, sql: &str) -> Result<i64, String> {
    let row = place.database().query_one_raw(Statement::from_string(DbBackend::Postgres, sql)).await;
    let number = row.and_then(|row| row.map_or(Ok(0), |row| row.try_get::<i64>("", "n")));
    number.map_err(|error| said(&error))
}

fn age(stamp: Stamp) -> i64 {
    Clock::system().now().seconds() - stamp.at.seconds()
}

fn copies(data: &Path) -> Finding {
    let todo = "run duet backup each day, and keep copies on another machine";
    match stamp::last_backup(data) {
        None => Finding::warning("backup", "no copy was ever made by duet backup", todo),
        Some(stamp) if age(stamp) > COPY_VERY_OLD => Finding::critical("backup", copied(stamp), todo),
        Some(stamp) if age(stamp) > COPY_OLD => Finding::warning("backup", copied(stamp), todo),
        Some(stamp) => Finding::good("backup", copied(stamp)),
    }
}

fn copied(stamp: Stamp) -> String {
    format!("the last copy was made {} hours ago, at {}", age(stamp) / HOUR, stamp.at)
}

fn proofs(data: &Path) -> Finding {
    let todo = "run duet verify each week";
    match stamp::last_verify(data) {
        None => Finding::warning("proof", "the books were never proved by duet verify", todo),
        Some(stamp) if !stamp.ok => {
            let what = format!("the books were not as they were written, at {}", stamp.at);
            Finding::critical(
                "proof",
                what,
                "run duet verify, read the checks marked FAILED, and keep the last good copy",
            )
        }
        Some(stamp) if age(stamp) > PROOF_OLD => {
            Finding::warning("proof", format!("the books were last proved at {}", stamp.at), todo)
        }
        Some(stamp) => Finding::good("proof", format!("the books were proved at {}", stamp.at)),
    }
}
