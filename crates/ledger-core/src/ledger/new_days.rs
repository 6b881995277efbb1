//! What a day that begins brings. No request asks for it, so the server writes it by itself.

use super::Ledger;
use crate::day::Day;
use crate::error::Result;
use crate::ids::{BusinessId, RecordId};
use ::books::access::{self, Seat};
use ::books::cx::Cx;
use documents::overdue::{self, Found};
use schema::tables::DocumentKind;
use std::sync::Arc;

impl Ledger {
    /// The day that it is in each company whose books go on.
    pub async fn todays(&self) -> Result<Vec<(BusinessId, Day)>> {
        access::todays(&self.database.read, self.clock.now()).await
    }

    /// Tells the log of a company which bills became overdue, portion by portion: nobody who writes waits for all of them.
    pub async fn tell_overdue(self: &Arc<Self>, business: BusinessId) -> Result<()> {
        // All of it goes by one day: where another begins meanwhile, sales stand before purchases as ever.
        let facts = access::seen_from(&self.database.read, business, Seat::owner()).await?;
        let cx = Cx::reading(self.of_ourselves(&facts), &self.database.quiet);
        for kind in overdue::kinds() {
            let mut after = None;
            loop {
                let Found { untold, next } = overdue::look(&cx, kind, after).await?;
                if !untold.is_empty() {
                    self.note_overdue(business, kind, untold).await?;
                }
                after = next;
                if after.is_none() || self.is_silent() {
                    break;
                }
            }
        }
        Ok(())
    }

    /// What was read before may have changed, or another process was faster: it is judged anew where it is written.
    pub(super) async fn note_overdue(
        self: &Arc<Self>,
        business: BusinessId,
        kind: DocumentKind,
        of: Vec<RecordId>,
    ) -> Result<()> {
        let (ledger, of) = (self.clone(), Arc::new(of));
        self.write(Some(business), move |transaction, desk| {
            let (ledger, of) = (ledger.clone(), of.clone());
            Box::pin(async move {
                desk.open(transaction, business).await?;
                let facts = access::seen_from(transaction, business, Seat::owner()).await?;
                overdue::tell(&Cx::writing(ledger.of_ourselves(&facts), transaction, desk), kind, &of).await
            })
        })
        .await
    }
}
