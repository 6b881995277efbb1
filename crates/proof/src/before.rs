//! What lies before an entry that was proved once: its lines are added up by the database, and not judged again.

use super::Wide;
use super::walk::{Walk, next_headers, stand};
use crate::BEFORE_THE_FIRST;
use crate::day::Day;
use crate::error::Result;
use crate::ids::RecordId;
use crate::money::Money;
use answers::Ask;
use schema::aliases::Named;
use schema::reader::Reader;
use schema::tables::entry_lines::{self, Column};
use schema::tables::own_amount;
use sea_orm::sea_query::{CaseStatement, Expr, ExprTrait, SimpleExpr};
use sea_orm::{ColumnTrait, QueryFilter, QueryOrder, QuerySelect, Select};

answers::of_row! {
    /// The lines of an account on a day.
    struct OfDay {
        account_id: RecordId,
        currency: String,
        date: Day,
        debit: Money,
        amount: Money,
        own: Money,
        lines: i64,
    }
}

answers::of_row! {
    struct OfParty {
        party_id: Named,
        account_id: RecordId,
        currency: String,
        amount: Money,
        own: Money,
    }
}

/// Adds the lines of a range to the sums of a walk, and tells it what of their entries is in force.
pub(super) async fn add(walk: &mut Walk, reader: &Reader<'_>, (after, until): (i64, i64)) -> Result<()> {
    add_sums(walk, reader, (after, until)).await?;
    let mut last = Ord::max(after, BEFORE_THE_FIRST);
    loop {
        let headers = next_headers(reader, last, until).await?;
        let Some(end) = headers.last().map(|header| header.number) else { return Ok(()) };
        walk.entries += headers.len();
        reader.read(headers.len());
        stand(reader, &headers, &mut walk.live).await?;
        let abroad = of(reader, (last, end))
            .filter(Column::AccountId.is_in(walk.purses.accounts()))
            .filter(Column::Currency.ne(reader.company().base_currency.as_str()))
            .order_by_asc(Column::EntryNumber)
            .order_by_asc(Column::Position)
            .models(&reader.db)
            .await?;
        let mut rest = abroad.as_slice();
        for header in &headers {
            let (own, after) = rest.split_at(rest.partition_point(|line| line.entry_number <= header.number));
            walk.purses.hear(header, own);
            rest = after;
        }
        last = end;
        reader.pause().await?;
    }
}

fn of(reader: &Reader<'_>, (after, until): (i64, i64)) -> Select<entry_lines::Entity> {
    entry_lines::Entity::find()
        .filter(Column::BusinessId.eq(reader.id()))
        .filter(Column::EntryNumber.gt(after))
        .filter(Column::EntryNumber.lte(until))
}

async fn add_sums(walk: &mut Walk, reader: &Reader<'_>, range: (i64, i64)) -> Result<()> {
    let column = |of: Column| Expr::col(of);
    let debit: SimpleExpr =
        CaseStatement::new().case(column(Column::Amount).gt(0), column(Column::Amount)).finally(0).into();
    let days = of(reader, range)
        .select_only()
        .columns([Column::AccountId, Column::Currency, Column::Date])
        .column_as(reader.sum(debit), "debit")
        .column_as(reader.sum(column(Column::Amount)), "amount")
        .column_as(reader.sum(own_amount()), "own")
        .column_as(Column::Position.count(), "lines")
        .group_by(Column::AccountId)
        .group_by(Column::Currency)
        .group_by(Column::Date)
        .read::<OfDay>(&reader.db)
        .await?;
    for OfDay { account_id, currency, date, debit, amount, own, lines } in days {
        let [debit, amount, own] = [debit, amount, own].map(|sum| Wide::from(sum.units()));
        walk.add_sums((account_id, &currency, date), (debit, debit - amount, own, lines.into()));
    }
    reader.pause().await?;
    let parties = of(reader, range)
        .filter(Column::PartyId.is_not_null())
        .select_only()
        .columns([Column::PartyId, Column::AccountId, Column::Currency])
        .column_as(reader.sum(column(Column::Amount)), "amount")
        .column_as(reader.sum(own_amount()), "own")
        .group_by(Column::PartyId)
        .group_by(Column::AccountId)
        .group_by(Column::Currency)
        .read::<OfParty>(&reader.db)
        .await?;
    for OfParty { party_id, account_id, currency, amount, own } in parties {
        walk.add_held((party_id, account_id, &currency), (amount.units().into(), own.units().into()));
    }
    Ok(())
}
