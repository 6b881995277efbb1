//! What is kept of parties by month, recomputed from the lines of the ledger and the history of open items.

use super::rollups::compare;
use super::{Check, Wide, shown};
use crate::error::Result;
use crate::ids::RecordId;
use answers::{Answers, Ask};
use schema::aliases::Named;
use schema::reader::Reader;
use schema::tables::party_months;
use sea_orm::{ColumnTrait, ConnectionTrait, DbBackend, EntityTrait, QueryFilter, Statement};
use std::collections::BTreeMap;

/// The party, the account, the currency and the month.
type Key = (Named, RecordId, String, String);
/// Of lines in the company's currency and in their own, of open items in theirs and in the company's.
type Sums = [Wide; 4];

answers::of_row! {
    struct Moved {
        party_id: Named,
        account_id: RecordId,
        currency: String,
        month: String,
        first: i64,
        second: i64,
    }
}

async fn summed(reader: &Reader<'_>, table: &str, [first, second]: [&str; 2]) -> Result<Vec<Moved>> {
    let backend = reader.db.get_database_backend();
    let month = match backend {
        DbBackend::Postgres => "to_char(DATE '1970-01-01' + date::int, 'YYYY-MM')",
        _ => "strftime('%Y-%m', date * 86400, 'unixepoch')",
    };
    let asked = format!(
        "SELECT party_id, account_id, currency, {month} AS month, CAST(SUM({first}) AS bigint) AS first, \
         CAST(SUM({second}) AS bigint) AS second FROM {table} WHERE business_id = $1 AND party_id IS NOT NULL \
         GROUP BY 1, 2, 3, 4"
    );
    let asked = Statement::from_sql_and_values(backend, asked, [reader.id().into()]);
    Ok(reader.db.answer(asked).await?.read::<Moved>()?)
}

pub(super) async fn check(reader: &Reader<'_>) -> Result<Check> {
    let mut right: BTreeMap<Key, Sums> = BTreeMap::new();
    for (table, columns, at) in
        [("entry_lines", ["amount", "currency_amount"], 0), ("open_item_moves", ["amount", "base"], 2)]
    {
        reader.pause().await?;
        for moved in summed(reader, table, columns).await? {
            let key = (moved.party_id, moved.account_id, moved.currency, moved.month);
            let sums = right.entry(key).or_default();
            sums[at] += Wide::from(moved.first);
            sums[at + 1] += Wide::from(moved.second);
        }
    }
    let kept = party_months::Entity::find()
        .filter(party_months::Column::BusinessId.eq(reader.id()))
        .models(&reader.db)
        .await?;
    let kept: BTreeMap<Key, Sums> = kept
        .into_iter()
        .map(|row| {
            let sums = [row.amount.units(), row.currency_amount.units(), row.moved.units(), row.base_moved.units()];
            ((row.party_id, row.account_id, row.currency, row.month), sums.map(Wide::from))
        })
        .collect();
    let all = |sums: &BTreeMap<Key, Sums>| -> Wide { sums.values().map(|sums| sums[0]).sum() };
    let (left, told) = (shown(all(&kept)), shown(all(&right)));
    let name = |(party, account, currency, month): &Key| {
        format!("party {} on account {account} {currency} in {month}", party.as_written())
    };
    let findings = compare(kept, &right, name);
    Ok(Check::of("V4l", "Months of parties equal the lines", left, told, findings))
}
