//! What is kept of trade by month, recomputed from the lines of the ledger; and with it what is kept of money and of parties.

use super::rollups::compare;
use super::{By, Check, Range, Wide, cash_days, party_months, shown};
use crate::day::Day;
use crate::error::Result;
use crate::ids::RecordId;
use answers::{Answers, Ask};
use schema::reader::Reader;
use schema::tables::{DocumentKind, EntryKind, trade_months};
use sea_orm::{ColumnTrait, ConnectionTrait, QueryFilter, Statement};
use std::collections::{BTreeMap, HashMap};
use words::sums::Lists as _;

/// The side, by what it is told, the month, and the party or the item.
type Key = (String, String, String, RecordId);

answers::of_row! {
    /// What an entry says of trade.
    struct Entry {
        number: i64,
        date: Day,
        document_kind: DocumentKind,
        party_id: Option<RecordId>,
        net: i64,
        other: i64,
    }
}

answers::of_row! {
    struct OfItem {
        entry_number: i64,
        item_id: RecordId,
        amount: i64,
    }
}

const SALES: [DocumentKind; 2] = [DocumentKind::SalesInvoice, DocumentKind::CreditNote];
const TRADE: [DocumentKind; 4] =
    [DocumentKind::SalesInvoice, DocumentKind::CreditNote, DocumentKind::PurchaseInvoice, DocumentKind::DebitNote];

/// What is neither owed nor tax.
const IS_NET: &str = "l.party_id IS NULL AND l.tax_component IS NULL";

/// Entry by entry, what documents of trade posted and took back by themselves: what allocations posted for them is left
/// out, what tax came to after all and what books began with, each with what took it back, and credit notes that write off.
fn asked() -> String {
    let apart = [EntryKind::Allocation, EntryKind::Opening, EntryKind::TaxAdjustment].map(EntryKind::code);
    let apart = format!("'{}'", apart.join("', '"));
    let trade = format!("'{}'", TRADE.map(DocumentKind::code).join("', '"));
    let credit = DocumentKind::CreditNote.code();
    format!(
        "SELECT e.number, e.date, e.document_kind, d.party_id, \
         CAST(SUM(CASE WHEN {IS_NET} THEN l.amount ELSE 0 END) AS bigint) AS net, \
         CAST(SUM(CASE WHEN {IS_NET} THEN 0 ELSE l.amount END) AS bigint) AS other \
         FROM entries AS e JOIN entry_lines AS l ON l.business_id = e.business_id AND l.entry_number = e.number \
         JOIN documents AS d ON d.business_id = e.business_id AND d.id = e.document_id \
         LEFT JOIN entries AS t ON t.business_id = e.business_id AND t.id = e.reverses_id \
         WHERE e.business_id = $1 AND e.number > $2 AND e.number <= $3 \
         AND e.document_kind IN ({trade}) \
         AND e.kind NOT IN ({apart}) AND (t.kind IS NULL OR t.kind NOT IN ({apart})) \
         AND NOT (d.kind = '{credit}' AND COALESCE(d.subkind, '') = 'writeOff') \
         GROUP BY e.number, e.date, e.document_kind, d.party_id"
    )
}

/// What of that is of items. The rest is of none.
fn asked_of_items() -> String {
    format!(
        "SELECT l.entry_number, l.item_id, CAST(SUM(l.amount) AS bigint) AS amount FROM entry_lines AS l \
         WHERE l.business_id = $1 AND l.entry_number > $2 AND l.entry_number <= $3 \
         AND l.item_id IS NOT NULL AND {IS_NET} GROUP BY l.entry_number, l.item_id"
    )
}

/// What lines come to, and moves of open items, as far as they were read.
#[derive(Default)]
pub struct Trade {
    sums: BTreeMap<Key, Wide>,
    cash: cash_days::Moved,
    parties: party_months::Moved,
}

impl Trade {
    pub(super) async fn of_part(reader: &Reader<'_>, (by, range): (By, Range)) -> Result<Self> {
        let mut trade = Self::default();
        if by == By::Moves {
            trade.parties.add_moves(reader, range).await?;
        } else {
            trade.add_entries(reader, range).await?;
            reader.pause().await?;
            trade.cash.add_lines(reader, range).await?;
            reader.pause().await?;
            trade.parties.add_lines(reader, range).await?;
        }
        reader.pause().await?;
        Ok(trade)
    }

    pub(super) fn add(&mut self, others: Self) {
        for (key, amount) in others.sums {
            *self.sums.entry(key).or_default() += amount;
        }
        self.cash.add(others.cash);
        self.parties.add(others.parties);
    }

    /// Sums of trade, entry by entry in their order: each line is read in passing.
    async fn add_entries(&mut self, reader: &Reader<'_>, range: Range) -> Result<()> {
        let (after, until) = range.all_entries();
        let asked = |sql: String| {
            let values = [reader.id().into(), after.into(), until.into()];
            reader.db.answer(Statement::from_sql_and_values(reader.db.get_database_backend(), sql, values))
        };
        let mut items: HashMap<i64, Vec<OfItem>> = HashMap::new();
        for item in asked(asked_of_items()).await?.read::<OfItem>()? {
            items.entry(item.entry_number).or_default().push(item);
        }
        for entry in asked(self::asked()).await?.read::<Entry>()? {
            let side = if SALES.contains(&entry.document_kind) { "sales" } else { "purchases" };
            let month = entry.date.year_and_month();
            let mut add = |told: &str, of: Option<RecordId>, amount: Wide| {
                let key = (side.to_owned(), told.to_owned(), month.clone(), of.unwrap_or(RecordId::NONE));
                *self.sums.entry(key).or_default() += amount;
            };
            let mut rest = Wide::from(entry.net);
            add("party", entry.party_id, rest);
            for item in items.take_list(&entry.number) {
                rest -= Wide::from(item.amount);
                add("item", Some(item.item_id), item.amount.into());
            }
            add("item", None, rest);
            add("otherSide", None, entry.other.into());
        }
        Ok(())
    }

    pub(super) async fn checks(self, reader: &Reader<'_>) -> Result<Vec<Check>> {
        Ok(vec![check(reader, &self.sums).await?, self.cash.check(reader).await?, self.parties.check(reader).await?])
    }
}

async fn check(reader: &Reader<'_>, right: &BTreeMap<Key, Wide>) -> Result<Check> {
    let business = reader.id();
    let kept =
        trade_months::Entity::find().filter(trade_months::Column::BusinessId.eq(business)).models(&reader.db).await?;
    let kept: BTreeMap<Key, Wide> = kept
        .into_iter()
        .map(|row| ((row.side, row.grouping, row.month, row.of_id), Wide::from(row.amount.units())))
        .collect();
    let parties = |sums: &BTreeMap<Key, Wide>| -> Wide {
        sums.iter().filter(|((_, told, ..), _)| told == "party").map(|(_, amount)| amount).sum()
    };
    let (left, told) = (shown(parties(&kept)), shown(parties(right)));
    let findings = compare(kept, right, |(side, told, month, of)| format!("{side} of {month} by {told}, {of}"));
    Ok(Check::of("V4i", "Trade by month equals the lines", left, told, findings))
}
