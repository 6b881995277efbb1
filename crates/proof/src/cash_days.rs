//! What is kept of money by day, recomputed from the lines of the ledger.

use super::rollups::{compare, of_money};
use super::{Check, Range, Wide, shown};
use crate::day::Day;
use crate::error::Result;
use crate::ids::RecordId;
use answers::Ask;
use schema::reader::Reader;
use schema::tables::{DocumentKind, EntryKind, cash_days, entries, entry_lines};
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, JoinType, QueryFilter, QuerySelect, QueryTrait};
use std::collections::BTreeMap;

/// The day, the account, and what the entries are.
type Key = (Day, RecordId, DocumentKind, EntryKind);

/// What accounts were moved by in entries that moved money, as far as these were read: the lines on the other side of it.
#[derive(Default)]
pub(super) struct Moved(BTreeMap<Key, Wide>);

impl Moved {
    pub(super) async fn add_lines(&mut self, reader: &Reader<'_>, range: Range) -> Result<()> {
        for (key, amount) in moved(reader, range.all_entries()).await? {
            *self.0.entry(key).or_default() += amount;
        }
        Ok(())
    }

    pub(super) fn add(&mut self, others: Self) {
        for (key, amount) in others.0 {
            *self.0.entry(key).or_default() += amount;
        }
    }
}

async fn moved(reader: &Reader<'_>, (after, until): (i64, i64)) -> Result<Vec<(Key, Wide)>> {
    let money: Vec<RecordId> = of_money(reader).await?.into_keys().collect();
    let own = || {
        entry_lines::Entity::find()
            .select_only()
            .filter(entry_lines::Column::BusinessId.eq(reader.id()))
            .filter(entry_lines::Column::EntryNumber.gt(after))
            .filter(entry_lines::Column::EntryNumber.lte(until))
    };
    let that_move_money = own()
        .column(entry_lines::Column::EntryNumber)
        .filter(entry_lines::Column::AccountId.is_in(money.iter().copied()))
        .distinct();
    let moved: Vec<(Day, RecordId, DocumentKind, EntryKind, i64)> = own()
        .column(entry_lines::Column::Date)
        .column(entry_lines::Column::AccountId)
        .column(entries::Column::DocumentKind)
        .column(entries::Column::Kind)
        .column_as(reader.sum(Expr::col((entry_lines::Entity, entry_lines::Column::Amount))), "amount")
        .join(
            JoinType::InnerJoin,
            entry_lines::Entity::belongs_to(entries::Entity)
                .from((entry_lines::Column::BusinessId, entry_lines::Column::EntryNumber))
                .to((entries::Column::BusinessId, entries::Column::Number))
                .into(),
        )
        .filter(entry_lines::Column::EntryNumber.in_subquery(that_move_money.into_query()))
        .filter(entry_lines::Column::AccountId.is_not_in(money))
        .group_by(entry_lines::Column::Date)
        .group_by(entry_lines::Column::AccountId)
        .group_by(entries::Column::DocumentKind)
        .group_by(entries::Column::Kind)
        .read(&reader.db)
        .await?;
    Ok(moved.into_iter().map(|(day, account, of, kind, amount)| ((day, account, of, kind), amount.into())).collect())
}

impl Moved {
    pub(super) async fn check(self, reader: &Reader<'_>) -> Result<Check> {
        let Self(right) = self;
        let kept =
            cash_days::Entity::find().filter(cash_days::Column::BusinessId.eq(reader.id())).models(&reader.db).await?;
        let kept: BTreeMap<Key, Wide> = kept
            .into_iter()
            .map(|row| ((row.date, row.account_id, row.document_kind, row.kind), Wide::from(row.amount.units())))
            .collect();
        let all = |sums: &BTreeMap<Key, Wide>| -> Wide { sums.values().sum() };
        let (left, told) = (shown(all(&kept)), shown(all(&right)));
        let name = |(day, account, of, kind): &Key| format!("account {account} on {day}, {of} {kind}");
        let findings = compare(kept, &right, name);
        Ok(Check::of("V4j", "Money by day equals the lines", left, told, findings))
    }
}
