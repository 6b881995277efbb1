//! Documents that words are looked for in: once a block of them waits, the batch that comes next makes it.

use super::Desk;
use super::inserting::plain;
use crate::database::rows::{Kept, Puts, Step};
use crate::error::Result;
use crate::ids::BusinessId;
use crate::search::{block_of, first_waiting};
use schema::tables::{documents, search_blocks, search_waiting};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryTrait};
use words::grams::FULL;

impl Desk {
    /// What makes the blocks of these companies that are full. What this batch brings waits for the next one.
    pub(super) async fn full_blocks(&self, connection: &impl Puts) -> Result<Vec<Step>> {
        let mut steps = Vec::new();
        for business in self.that_may_be_full() {
            let waiting = first_waiting(connection, business).await?;
            let full = waiting.last().copied().filter(|_| waiting.len() >= FULL);
            if let Some(company) = self.inner().companies.get_mut(&business) {
                // Behind a block there may be another.
                company.waiting = waiting.len();
            }
            let Some(last) = full else { continue };
            let block = block_of(connection, business, &waiting).await?;
            steps.push(Step::Rows(plain::<search_blocks::Entity>(block, Kept::Refuse)));
            let made = search_waiting::Entity::delete_many()
                .filter(search_waiting::Column::BusinessId.eq(business))
                .filter(search_waiting::Column::DocumentId.lte(last));
            steps.push(Step::Statement(made.build(connection.get_database_backend())));
        }
        Ok(steps)
    }

    /// Companies of this batch of which so many documents may wait.
    fn that_may_be_full(&self) -> Vec<BusinessId> {
        let inner = self.inner();
        let may_be = |business: &BusinessId| {
            let company = inner.companies.get(business).filter(|_| *business != BusinessId::INSTALLATION);
            company.is_some_and(|company| company.waiting >= FULL)
        };
        let mut full: Vec<BusinessId> = inner.confirmed.iter().copied().filter(may_be).collect();
        full.sort_unstable();
        full
    }
}

impl super::Inner {
    /// These are written, and wait from now on.
    pub(super) fn wait_for_search(&mut self, rows: &[documents::Model]) {
        for row in rows {
            if let Some(company) = self.companies.get_mut(&row.business_id) {
                company.waiting += 1;
            }
        }
    }
}
