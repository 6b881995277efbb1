//! What is kept of parties by month, recomputed from the lines of the ledger and the history of open items.

use super::parts::MOVES_LIE_BY;
use super::rollups::compare;
use super::{Check, Range, Wide, shown};
use crate::error::Result;
use crate::ids::RecordId;
use answers::{Answers, Ask};
use schema::aliases::Named;
use schema::reader::Reader;
use schema::tables::party_months;
use sea_orm::{ColumnTrait, ConnectionTrait, DbBackend, IdenStatic, QueryFilter, Statement, Value};
use std::collections::BTreeMap;

/// The party, the account, the currency and the month.
type Key = (Named, RecordId, String, String);
/// Of lines in the company's currency and in their own, of open items in theirs and in the company's.
type Sums = [Wide; 4];

answers::of_row! {
    struct OfMonth {
        party_id: Named,
        account_id: RecordId,
        currency: String,
        month: String,
        first: i64,
        second: i64,
    }
}

/// What lines and moves of open items come to, as far as they were read.
#[derive(Default)]
pub(super) struct Moved(BTreeMap<Key, Sums>);

impl Moved {
    pub(super) async fn add_lines(&mut self, reader: &Reader<'_>, range: Range) -> Result<()> {
        let (after, until) = range.all_entries();
        let bounds = [(" > ", after), (" <= ", until)].map(|(is, key)| Some((format!("entry_number{is}"), key.into())));
        self.add_summed(reader, ("entry_lines", ["amount", "COALESCE(currency_amount, amount)"], 0), bounds).await
    }

    pub(super) async fn add_moves(&mut self, reader: &Reader<'_>, range: Range) -> Result<()> {
        let (after, until) = range.records();
        let of = MOVES_LIE_BY.as_str();
        let bounds =
            [(" > ", after), (" <= ", until)].map(|(is, key)| key.map(|key| (format!("{of}{is}"), key.into())));
        self.add_summed(reader, ("open_item_moves", ["amount", "base"], 2), bounds).await
    }

    async fn add_summed(
        &mut self,
        reader: &Reader<'_>,
        (table, [first, second], at): (&str, [&str; 2], usize),
        bounds: [Option<(String, Value)>; 2],
    ) -> Result<()> {
        let backend = reader.db.get_database_backend();
        let month = match backend {
            DbBackend::Postgres => "to_char(DATE '1970-01-01' + date::int, 'YYYY-MM')",
            _ => "strftime('%Y-%m', date * 86400, 'unixepoch')",
        };
        let mut values = vec![reader.id().into()];
        let mut within = String::new();
        for (bound, value) in bounds.into_iter().flatten() {
            values.push(value);
            within.push_str(&format!(" AND {bound}${}", values.len()));
        }
        let asked = format!(
            "SELECT party_id, account_id, currency, {month} AS month, CAST(SUM({first}) AS bigint) AS first, \
             CAST(SUM({second}) AS bigint) AS second FROM {table} WHERE business_id = $1 AND party_id IS NOT NULL{within} \
             GROUP BY 1, 2, 3, 4"
        );
        let asked = Statement::from_sql_and_values(backend, asked, values);
        for moved in reader.db.answer(asked).await?.read::<OfMonth>()? {
            let key = (moved.party_id, moved.account_id, moved.currency, moved.month);
            let sums = self.0.entry(key).or_default();
            sums[at] += Wide::from(moved.first);
            sums[at + 1] += Wide::from(moved.second);
        }
        Ok(())
    }

    pub(super) fn add(&mut self, others: Self) {
        for (key, more) in others.0 {
            let sums = self.0.entry(key).or_default();
            *sums = std::array::from_fn(|place| sums[place] + more[place]);
        }
    }
}

impl Moved {
    pub(super) async fn check(self, reader: &Reader<'_>) -> Result<Check> {
        let Self(right) = self;
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
}
