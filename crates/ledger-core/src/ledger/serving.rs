//! What goes on beside requests: how long the books were served, whether they can be, and how serving ends.

use super::Ledger;
use crate::error::Result;
use ::books::client::Client;
use ::books::database::ReplicaStanding;
use ::books::running::{self, Running};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::timeout;

/// How long it may take to see whether the schema is up to date.
const LOOK: Duration = Duration::from_millis(400);

/// So many are taken at once: more than are needed until somebody looks again, and few enough that those do not matter
/// which nobody used when a process ends.
const NUMBERS: u32 = 1 << 17;

impl Ledger {
    /// How long these books were served.
    pub(super) async fn running(&self) -> Result<&Running> {
        self.running.get_or_try_init(|| Running::read(&self.database.read, &self.clock)).await
    }

    /// Writes down how long the books were served, and forgets the keys that are too old by that. It does so now and then,
    /// however often it is asked.
    pub async fn keep_time(&self) -> Result<()> {
        let running = self.running().await?;
        if running.is_due(&self.clock) { self.write_time(running).await } else { Ok(()) }
    }

    pub(super) async fn write_time(&self, running: &Running) -> Result<()> {
        let at = running.now(&self.clock);
        self.write(None, move |transaction, _| {
            Box::pin(async move {
                running::write(transaction, at).await?;
                ::books::repeats::forget(transaction, at).await
            })
        })
        .await?;
        running.meet(&self.clock, running::stored(&self.database.read).await?);
        Ok(())
    }

    /// Sees to it that there are numbers to count records by. Where there are none, identifiers are longer and nothing else.
    pub async fn keep_numbers(&self) -> Result<()> {
        self.take_numbers(NUMBERS).await
    }

    /// The same of so many. Several who write at once may each make identifiers of their own on an engine that keeps all of
    /// them whole, and gains nothing by counting.
    pub(super) async fn take_numbers(&self, many: u32) -> Result<()> {
        if !self.database.keeps_counts() || self.clock.numbers_left() > u64::from(many / 2) {
            return Ok(());
        }
        let taken = Arc::new(Mutex::new(None));
        let (told, now) = (taken.clone(), self.clock.now());
        self.write(None, move |transaction, _| {
            let told = told.clone();
            Box::pin(async move {
                let numbers = running::take_numbers(transaction, many, now).await?;
                *told.lock().unwrap_or_else(PoisonError::into_inner) = Some(numbers);
                Ok(())
            })
        })
        .await?;
        // Of several tries the last one is that which was committed.
        if let Some(numbers) = taken.lock().unwrap_or_else(PoisonError::into_inner).take() {
            self.clock.count_by(numbers);
        }
        Ok(())
    }

    /// Why requests cannot be served now, where they cannot. It is answered within a second, whatever hangs.
    pub async fn readiness(&self) -> Result<(), &'static str> {
        self.database.readiness().await?;
        let looked = self.up_to_date.get_or_try_init(|| async {
            match timeout(LOOK, self.database.pending_migrations()).await {
                Ok(Ok(0)) => Ok(()),
                Ok(Ok(_)) => Err("the schema is not up to date"),
                Ok(Err(_)) | Err(_) => Err("the database does not answer"),
            }
        });
        looked.await.copied()
    }

    /// What connections to the database are for, how many of each are used just now, and how many there are.
    pub fn connections(&self) -> Vec<(&'static str, usize, usize)> {
        self.database.connections()
    }

    /// How the standbys of the database stand, in the order in which they were named.
    pub fn replicas(&self) -> Vec<ReplicaStanding> {
        self.database.replicas.standing()
    }

    /// Tries again what is known to fail, so that its return is noticed when nobody else asks for anything.
    pub async fn try_again(&self) {
        self.database.read_again().await;
        if self.database.writes_fail() {
            let client = Client::default();
            // The smallest thing that is written for its own sake.
            let written = client.served(async { self.write_time(self.running().await?).await });
            match timeout(LOOK, written).await {
                Ok(Ok(())) => self.database.wrote_again(),
                Ok(Err(error)) => tracing::debug!(?error, "writes fail still"),
                Err(_) => {
                    client.leave();
                }
            }
        }
    }

    /// Finishes what is queued and lets the database go.
    pub async fn close(&self) {
        if let Err(error) = self.write_usage().await {
            tracing::warn!(?error, "what was counted of the dialects' use is lost");
        }
        if let Some(running) = self.running.get()
            && let Err(error) = self.write_time(running).await
        {
            tracing::warn!(?error, "how long the books were served is not written down; keys are kept longer");
        }
        self.lanes.close().await;
        self.database.close().await;
    }
}
