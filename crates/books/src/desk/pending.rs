//! The rows that a batch gathers, in the order in which they are written.

use super::cash_days::cash_days;
use super::inserting::{mentioned, plain, sealed, sealed_entries};
use super::party_months::party_months;
use super::rollups::rollups;
use super::standing::{self, Standing};
use super::tax_months::tax_months;
use super::trade_months::trade_months;
use crate::database::rows::{Kept, Step};
use crate::error::Result;
use crate::seal::writing::Sealing;
use schema::tables::{
    allocations, audit_log, cash_days as of_cash, document_lines, document_links, documents, entries, entry_lines,
    mentions, number_counters, open_item_moves, open_items, party_months as of_parties, progress, progress_moves,
    stock, stock_facts, stock_lines, stock_moves, stock_snapshots, tax_facts, tax_months as of_tax,
    trade_months as traded,
};
use sea_orm::DbBackend;

/// A line a table: its rows wait together, and what a command left of them is taken back when it fails.
macro_rules! waiting {
    ($($rows:ident: $row:ty,)*) => {
        /// Rows that wait to be written together.
        #[derive(Default)]
        pub(super) struct Pending {
            $(pub(super) $rows: Vec<$row>,)*
        }

        /// How many of each wait.
        #[derive(Clone, Copy, Default, PartialEq, Eq)]
        pub(super) struct Lengths {
            $($rows: usize,)*
        }

        impl Pending {
            pub(super) fn lengths(&self) -> Lengths {
                Lengths { $($rows: self.$rows.len(),)* }
            }

            pub(super) fn truncate(&mut self, to: Lengths) {
                $(self.$rows.truncate(to.$rows);)*
            }
        }
    };
}

waiting! {
    documents: documents::Model,
    entries: entries::Model,
    lines: entry_lines::Model,
    tax_facts: tax_facts::Model,
    audits: audit_log::Model,
    keys: schema::idempotency::Model,
    document_lines: document_lines::Model,
    open_items: open_items::Model,
    open_item_moves: open_item_moves::Model,
    allocations: allocations::Model,
    stock_facts: stock_facts::Model,
    stock_lines: stock_lines::Model,
    stock_moves: stock_moves::Model,
    progress_moves: progress_moves::Model,
    links: document_links::Model,
    mentions: mentions::Model,
    traded: traded::Model,
    cash: of_cash::Model,
    standings: Standing,
}

/// As many entries as are sent in one go with their commit: whoever waits for a commit waits for little more.
const SHORT: usize = 64;

impl Pending {
    /// Whether nothing of it changes rows that were there before.
    pub(super) fn adds_only(&self) -> bool {
        self.standings.is_empty()
    }

    /// Whether all of it is written in one go with its commit. SQLite does so however long it is: nobody waits for a flight.
    pub(super) fn is_short(&self, engine: DbBackend) -> bool {
        engine == DbBackend::Sqlite || self.entries.len() <= SHORT
    }

    /// What writes it, in its order.
    pub(super) fn steps(
        self,
        engine: DbBackend,
        sealing: &mut Sealing<'_>,
        counters: &[number_counters::Model],
    ) -> Result<Vec<Step>> {
        use Kept::{Goes, Refuse};
        let (standing, changes) = standing::last(self.standings);
        let [days, months, parties] = rollups(&self.lines)?;
        let of_tax = plain::<of_tax::Entity>(tax_months(&self.tax_facts, &self.lines)?, Kept::Grows);
        let of_trade = plain::<traded::Entity>(trade_months(self.traded)?, Kept::Grows);
        let of_parties = plain::<of_parties::Entity>(party_months(&self.lines, &self.open_item_moves)?, Kept::Grows);
        let of_cash = plain::<of_cash::Entity>(cash_days(self.cash)?, Kept::Grows);
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
            of_tax,
            of_trade,
            of_cash,
            of_parties,
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
        let mut steps: Vec<Step> = rows.into_iter().map(Step::Rows).collect();
        for change in changes.statements(engine) {
            steps.push(Step::Statement(change?));
        }
        steps.extend(crate::repeats::steps(engine, self.keys));
        Ok(steps)
    }
}
