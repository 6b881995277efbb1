//! The rows that a batch gathers, in the order in which they are written.

use super::inserting::{mentioned, plain, sealed, sealed_entries};
use super::rollups::rollups;
use super::standing::{self, Standing};
use super::tax_months::tax_months;
use super::trade_months::trade_months;
use crate::database::rows::{Kept, Puts};
use crate::error::Result;
use crate::seal::writing::Sealing;
use schema::tables::{
    allocations, audit_log, document_lines, document_links, documents, entries, entry_lines, mentions, number_counters,
    open_item_moves, open_items, progress, progress_moves, stock, stock_facts, stock_lines, stock_moves,
    stock_snapshots, tax_facts, tax_months as of_tax_months, trade_months as traded,
};

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
        connection: &impl Puts,
        sealing: &mut Sealing<'_>,
        counters: &[number_counters::Model],
    ) -> Result<()> {
        use Kept::{Goes, Refuse};
        let (standing, changes) = standing::last(self.standings);
        let [days, months, parties] = rollups(&self.lines)?;
        let of_tax = tax_months(&self.tax_facts, &self.lines)?;
        let entries = sealed_entries(sealing, &self.entries, &self.lines)?;
        let rows = vec![
            sealed::<documents::Entity>(sealing, &self.documents, Refuse)?,
            // Lines first; the row in `entries` seals them.
            plain::<entry_lines::Entity>(self.lines, Refuse),
            entries,
            sealed::<tax_facts::Entity>(sealing, &self.tax_facts, Refuse)?,
            days,
            months,
            parties,
            plain::<of_tax_months::Entity>(of_tax, Kept::Grows),
            plain::<traded::Entity>(trade_months(self.traded)?, Kept::Grows),
            sealed::<document_lines::Entity>(sealing, &self.document_lines, Refuse)?,
            sealed::<open_items::Entity>(sealing, &self.open_items, Refuse)?,
            sealed::<open_item_moves::Entity>(sealing, &self.open_item_moves, Refuse)?,
            sealed::<allocations::Entity>(sealing, &self.allocations, Refuse)?,
            sealed::<stock_facts::Entity>(sealing, &self.stock_facts, Refuse)?,
            sealed::<stock_lines::Entity>(sealing, &self.stock_lines, Refuse)?,
            sealed::<stock_moves::Entity>(sealing, &self.stock_moves, Refuse)?,
            sealed::<progress_moves::Entity>(sealing, &self.progress_moves, Refuse)?,
            sealed::<document_links::Entity>(sealing, &self.links, Refuse)?,
            mentioned(self.mentions),
            sealed::<progress::Entity>(sealing, &standing.progress, Goes)?,
            sealed::<stock::Entity>(sealing, &standing.stock, Goes)?,
            sealed::<stock_snapshots::Entity>(sealing, &standing.snapshots, Goes)?,
            plain::<audit_log::Entity>(self.audits, Refuse),
            sealed::<number_counters::Entity>(sealing, counters, Goes)?,
        ];
        connection.put(rows).await?;
        for change in changes {
            change.write(connection).await?;
        }
        crate::repeats::write(connection, self.keys).await
    }
}
