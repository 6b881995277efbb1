//! The rows that a batch gathers, in the order in which they are written.

use super::inserting::{add_mentions, insert_all, insert_entries, insert_plain};
use super::rollups::{add_days, add_months, add_parties, rollups};
use super::standing::Standing;
use super::tax_months::{add_tax_months, tax_months};
use super::trade_months::{add_trade_months, trade_months};
use crate::error::Result;
use crate::ids::BusinessId;
use crate::seal::Seals;
use crate::seal::sums::Moved;
use crate::seal::writing::{self, There};
use schema::tables::{
    allocations, audit_log, document_lines, document_links, documents, entries, entry_lines, mentions, open_item_moves,
    open_items, progress_moves, stock_facts, stock_lines, stock_moves, tax_facts, trade_months as traded,
};
use sea_orm::{ConnectionTrait, Value};
use std::collections::HashMap;

/// Rows that wait to be written together.
#[derive(Default)]
pub(super) struct Pending {
    pub(super) documents: Vec<documents::Model>,
    pub(super) entries: Vec<entries::Model>,
    pub(super) lines: Vec<entry_lines::Model>,
    pub(super) tax_facts: Vec<tax_facts::Model>,
    pub(super) audits: Vec<audit_log::Model>,
    pub(super) keys: Vec<schema::idempotency::Model>,
    pub(super) document_lines: Vec<document_lines::Model>,
    pub(super) open_items: Vec<open_items::Model>,
    pub(super) open_item_moves: Vec<open_item_moves::Model>,
    pub(super) allocations: Vec<allocations::Model>,
    pub(super) stock_facts: Vec<stock_facts::Model>,
    pub(super) stock_lines: Vec<stock_lines::Model>,
    pub(super) stock_moves: Vec<stock_moves::Model>,
    pub(super) progress_moves: Vec<progress_moves::Model>,
    pub(super) links: Vec<document_links::Model>,
    pub(super) mentions: Vec<mentions::Model>,
    pub(super) traded: Vec<traded::Model>,
    pub(super) standings: Vec<Standing>,
}

impl Pending {
    pub(super) fn lengths(&self) -> [usize; 18] {
        [
            self.documents.len(),
            self.entries.len(),
            self.lines.len(),
            self.tax_facts.len(),
            self.audits.len(),
            self.keys.len(),
            self.document_lines.len(),
            self.open_items.len(),
            self.open_item_moves.len(),
            self.allocations.len(),
            self.stock_facts.len(),
            self.stock_lines.len(),
            self.stock_moves.len(),
            self.progress_moves.len(),
            self.links.len(),
            self.mentions.len(),
            self.traded.len(),
            self.standings.len(),
        ]
    }

    pub(super) fn truncate(&mut self, lengths: [usize; 18]) {
        let [
            documents,
            entries,
            lines,
            tax_facts,
            audits,
            keys,
            traded,
            open,
            moves,
            allocations,
            facts,
            stock,
            stock_moves,
            progress,
            links,
            mentions,
            in_months,
            standings,
        ] = lengths;
        self.documents.truncate(documents);
        self.entries.truncate(entries);
        self.lines.truncate(lines);
        self.tax_facts.truncate(tax_facts);
        self.audits.truncate(audits);
        self.keys.truncate(keys);
        self.document_lines.truncate(traded);
        self.open_items.truncate(open);
        self.open_item_moves.truncate(moves);
        self.allocations.truncate(allocations);
        self.stock_facts.truncate(facts);
        self.stock_lines.truncate(stock);
        self.stock_moves.truncate(stock_moves);
        self.progress_moves.truncate(progress);
        self.links.truncate(links);
        self.mentions.truncate(mentions);
        self.traded.truncate(in_months);
        self.standings.truncate(standings);
    }

    pub(super) async fn write(
        self,
        connection: &impl ConnectionTrait,
        (seals, moved): (&Seals, &mut Moved),
    ) -> Result<()> {
        use There::Refuse;
        insert_all::<documents::Entity>(connection, (seals, moved), self.documents, Refuse).await?;
        let (days, months, parties) = rollups(&self.lines)?;
        let of_tax = tax_months(&self.tax_facts, &self.lines)?;
        // Lines first; the row in `entries` seals them.
        let mut of_entries: HashMap<(BusinessId, i64), Vec<Vec<Value>>> = HashMap::new();
        for line in &self.lines {
            of_entries.entry((line.business_id, line.entry_number)).or_default().push(writing::values(line));
        }
        insert_plain::<entry_lines::Entity>(connection, self.lines).await?;
        insert_entries(connection, (seals, moved), self.entries, of_entries).await?;
        insert_all::<tax_facts::Entity>(connection, (seals, moved), self.tax_facts, Refuse).await?;
        add_days(connection, days).await?;
        add_months(connection, months).await?;
        add_parties(connection, parties).await?;
        add_tax_months(connection, of_tax).await?;
        add_trade_months(connection, trade_months(self.traded)?).await?;
        insert_all::<document_lines::Entity>(connection, (seals, moved), self.document_lines, Refuse).await?;
        insert_all::<open_items::Entity>(connection, (seals, moved), self.open_items, Refuse).await?;
        insert_all::<open_item_moves::Entity>(connection, (seals, moved), self.open_item_moves, Refuse).await?;
        insert_all::<allocations::Entity>(connection, (seals, moved), self.allocations, Refuse).await?;
        insert_all::<stock_facts::Entity>(connection, (seals, moved), self.stock_facts, Refuse).await?;
        insert_all::<stock_lines::Entity>(connection, (seals, moved), self.stock_lines, Refuse).await?;
        insert_all::<stock_moves::Entity>(connection, (seals, moved), self.stock_moves, Refuse).await?;
        insert_all::<progress_moves::Entity>(connection, (seals, moved), self.progress_moves, Refuse).await?;
        insert_all::<document_links::Entity>(connection, (seals, moved), self.links, Refuse).await?;
        add_mentions(connection, self.mentions).await?;
        for standing in self.standings {
            standing.write(connection, (seals, moved)).await?;
        }
        insert_plain::<audit_log::Entity>(connection, self.audits).await?;
        crate::repeats::write(connection, self.keys).await
    }
}
