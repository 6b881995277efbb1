//! What is kept of trade by month, recomputed from the lines of the ledger.

use super::rollups::compare;
use super::{Check, Wide, shown};
use crate::error::Result;
use crate::ids::RecordId;
use answers::{Answers, Ask};
use schema::reader::Reader;
use schema::tables::{DocumentKind, EntryKind, trade_months};
use sea_orm::{ColumnTrait, ConnectionTrait, DbBackend, EntityTrait, QueryFilter, Statement};
use std::collections::BTreeMap;

/// The side, by what it is told, the month, and the party or the item.
type Key = (String, String, String, RecordId);

answers::of_row! {
    struct Moved {
        side: String,
        month: String,
        of_id: Option<RecordId>,
        amount: i64,
    }
}

/// By what it is told, by which column, and of which lines.
const TOLD: [(&str, &str, bool); 3] =
    [("party", "d.party_id", true), ("item", "l.item_id", true), ("otherSide", "NULL", false)];

/// Lines of what documents of trade posted and took back by themselves: what allocations posted for them is left out, what
/// tax came to after all and what books began with, each with what took it back, and credit notes that write off.
fn asked(backend: DbBackend, column: &str, is_net: bool) -> String {
    let (month, none) = match backend {
        DbBackend::Postgres => ("to_char(DATE '1970-01-01' + e.date::int, 'YYYY-MM')", "CAST(NULL AS uuid)"),
        _ => ("strftime('%Y-%m', e.date * 86400, 'unixepoch')", "NULL"),
    };
    let column = if column == "NULL" { none } else { column };
    let net = if is_net { "" } else { "NOT " };
    let apart = [EntryKind::Allocation, EntryKind::Opening, EntryKind::TaxAdjustment].map(EntryKind::code);
    let apart = format!("'{}'", apart.join("', '"));
    let codes = |kinds: &[DocumentKind]| {
        let codes: Vec<&str> = kinds.iter().map(|kind| kind.code()).collect();
        format!("'{}'", codes.join("', '"))
    };
    let credit = DocumentKind::CreditNote;
    let sales = codes(&[DocumentKind::SalesInvoice, credit]);
    let trade = codes(&[DocumentKind::SalesInvoice, credit, DocumentKind::PurchaseInvoice, DocumentKind::DebitNote]);
    let credit = credit.code();
    format!(
        "SELECT CASE WHEN e.document_kind IN ({sales}) THEN 'sales' ELSE 'purchases' END AS side, \
         {month} AS month, {column} AS of_id, CAST(SUM(l.amount) AS bigint) AS amount \
         FROM entries AS e JOIN entry_lines AS l ON l.business_id = e.business_id AND l.entry_number = e.number \
         JOIN documents AS d ON d.business_id = e.business_id AND d.id = e.document_id \
         LEFT JOIN entries AS t ON t.business_id = e.business_id AND t.id = e.reverses_id \
         WHERE e.business_id = $1 \
         AND e.document_kind IN ({trade}) \
         AND e.kind NOT IN ({apart}) AND (t.kind IS NULL OR t.kind NOT IN ({apart})) \
         AND NOT (d.kind = '{credit}' AND COALESCE(d.subkind, '') = 'writeOff') \
         AND {net}(l.party_id IS NULL AND l.tax_component IS NULL) GROUP BY 1, 2, 3"
    )
}

pub(super) async fn check(reader: &Reader<'_>) -> Result<Check> {
    let (business, backend) = (reader.id(), reader.db.get_database_backend());
    let mut right: BTreeMap<Key, Wide> = BTreeMap::new();
    for (told, column, is_net) in TOLD {
        reader.pause().await?;
        let asked = Statement::from_sql_and_values(backend, asked(backend, column, is_net), [business.into()]);
        for moved in reader.db.answer(asked).await?.read::<Moved>()? {
            let of = moved.of_id.unwrap_or(RecordId::NONE);
            *right.entry((moved.side, told.to_owned(), moved.month, of)).or_default() += Wide::from(moved.amount);
        }
    }
    let kept =
        trade_months::Entity::find().filter(trade_months::Column::BusinessId.eq(business)).models(&reader.db).await?;
    let kept: BTreeMap<Key, Wide> = kept
        .into_iter()
        .map(|row| ((row.side, row.grouping, row.month, row.of_id), Wide::from(row.amount.units())))
        .collect();
    let parties = |sums: &BTreeMap<Key, Wide>| -> Wide {
        sums.iter().filter(|((_, told, ..), _)| told == "party").map(|(_, amount)| amount).sum()
    };
    let (left, told) = (shown(parties(&kept)), shown(parties(&right)));
    let findings = compare(kept, &right, |(side, told, month, of)| format!("{side} of {month} by {told}, {of}"));
    Ok(Check::of("V4i", "Trade by month equals the lines", left, told, findings))
}
