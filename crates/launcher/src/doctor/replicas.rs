//! What is looked at of a standby that answers reads: that it is there, follows this database, and how far it is behind.

use super::Finding;
use super::books::number;
use convert::Place;
use ledger_core::database::replica::{COME, DATABASE, SYSTEM, TIMELINE};
use ledger_core::fault::said;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// So long it may take to come up with where the database stood.
const PATIENCE: Duration = Duration::from_secs(10);
const AGAIN: Duration = Duration::from_millis(100);

const STANDBY: &str = "pg_is_in_recovery()::int::bigint";

pub(super) async fn found(database: &str, replica: &str) -> Finding {
    let shown = crate::config::without_password(replica);
    match looked(database, replica).await {
        Ok(Standing::Follows(took)) => {
            Finding::good("replica", format!("{shown} had all that there was after {} ms", took.as_millis()))
        }
        Ok(Standing::Behind(bytes)) => Finding::warning(
            "replica",
            format!("{shown} lacks {} MB of the log after {} s", bytes >> 20, PATIENCE.as_secs()),
            "see pg_stat_wal_receiver there, and whether it replays (pg_is_wal_replay_paused) and its disk keeps up",
        ),
        Ok(Standing::NoStandby) => Finding::warning(
            "replica",
            format!("{shown} takes writes itself: it is no standby, and is not asked"),
            "name a streaming standby in Database:Replicas",
        ),
        Ok(Standing::Strange) => Finding::warning(
            "replica",
            format!("{shown} follows another database, and is not asked"),
            "make it anew of this one (pg_basebackup -R)",
        ),
        Ok(Standing::Elsewhere { writes, is }) => Finding::warning(
            "replica",
            format!("{shown} is on timeline {is} and the database writes on timeline {writes}: it is not asked"),
            "where it follows the database since a failover, say CHECKPOINT there; else make it anew (pg_rewind, pg_basebackup -R)",
        ),
        Err(why) => Finding::warning(
            "replica",
            format!("{shown}: {why}"),
            "see whether it is there and takes this address; the database itself answers meanwhile",
        ),
    }
}

enum Standing {
    /// It came to where the database stood within this time.
    Follows(Duration),
    /// It did not, by so many bytes of the log.
    Behind(i64),
    NoStandby,
    Strange,
    /// What it has may be the history of somebody else.
    Elsewhere {
        writes: i64,
        is: i64,
    },
}

/// Each look is a connection of its own: what is read within one stands still.
async fn asked(url: &str, questions: &[&str]) -> Result<Vec<i64>, String> {
    let place = Place::reading(url).await.map_err(|error| said(&error))?;
    let asked = async {
        let mut answers = Vec::with_capacity(questions.len());
        for question in questions {
            answers.push(number(&place, &format!("SELECT {question} AS n")).await?);
        }
        Ok(answers)
    };
    let answers = asked.await;
    place.close().await.map_err(|error| said(&error))?;
    answers
}

async fn looked(database: &str, replica: &str) -> Result<Standing, String> {
    if asked(replica, &[STANDBY]).await? != [1] {
        return Ok(Standing::NoStandby);
    }
    let begun = Instant::now();
    let there = asked(database, &[SYSTEM, DATABASE, TIMELINE, COME]).await?;
    loop {
        let come = asked(replica, &[SYSTEM, DATABASE, TIMELINE, COME]).await?;
        let (&[system, place, writes, stood], &[own, own_place, is, come]) = (&there[..], &come[..]) else {
            return Err("it answers nothing".into());
        };
        if (own, own_place) != (system, place) {
            return Ok(Standing::Strange);
        }
        if is != writes {
            return Ok(Standing::Elsewhere { writes, is });
        }
        if come >= stood {
            return Ok(Standing::Follows(begun.elapsed()));
        }
        if begun.elapsed() >= PATIENCE {
            return Ok(Standing::Behind(stood - come));
        }
        sleep(AGAIN).await;
    }
}
