//! Cash basis: what invoices and what credits them earn counts when it is settled, not when it is written.
//!
//! Of each document, what its entries moved on accounts of income and expense counts in the share of it that is settled by
//! then. Shares are taken of the whole at each day, so what is settled to the last cent counts to the last cent.

use super::asked::Asked;
use super::lines::{amount, of_documents, of_span};
use super::statements::{Balances, Chart, is_earned};
use crate::books::balances::sum;
use crate::books::sums::Span;
use crate::books::tables::{DocumentKind, entries, entry_lines, open_item_moves};
use crate::cx::Cx;
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::money::{Money, Rounding};
use rust_decimal::Decimal;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, FromQueryResult, QueryFilter, QuerySelect};
use std::collections::HashMap;
use words::sums::Sums as _;

const KINDS: [DocumentKind; 4] =
    [DocumentKind::SalesInvoice, DocumentKind::CreditNote, DocumentKind::PurchaseInvoice, DocumentKind::DebitNote];

#[derive(FromQueryResult)]
struct Posted {
    document_id: RecordId,
    account_id: RecordId,
    amount: i64,
}

#[derive(FromQueryResult)]
struct Moved {
    document_id: RecordId,
    amount: i64,
}

/// By how much each account stands otherwise on cash basis at the end of a day: what was posted and does not count yet
/// is taken off.
pub(super) async fn uncounted(cx: &Cx<'_>, chart: &Chart, day: Day, asked: &Asked) -> Result<Balances> {
    let earned: Vec<RecordId> = chart.0.iter().filter(|account| is_earned(account)).map(|account| account.id).collect();
    let posted: Vec<Posted> = of_documents(cx, of_span(cx, Span { from: None, to: day }, asked).await?, KINDS)?
        .filter(entry_lines::Column::AccountId.is_in(earned))
        .column(entries::Column::DocumentId)
        .column(entry_lines::Column::AccountId)
        .column_as(amount(cx), "amount")
        .group_by(entries::Column::DocumentId)
        .group_by(entry_lines::Column::AccountId)
        .into_model()
        .all(&cx.db)
        .await?;
    let whole = moved(cx, day, asked, false).await?;
    let settled = moved(cx, day, asked, true).await?;
    let business = cx.business()?;
    let (rounding, decimals) = (business.settings.rounding_mode.rounding(), business.currency_decimals);
    let mut uncounted = Balances::new();
    for line in posted {
        // What leaves nothing open counts when it is written.
        let Some(whole) = whole.get(&line.document_id).copied().filter(|whole| *whole != 0) else { continue };
        let settled = -settled.sum_of(&line.document_id);
        let counted = share(line.amount, settled, whole, (rounding, decimals))?;
        *uncounted.entry(line.account_id).or_default() += line.amount - counted;
    }
    uncounted.retain(|_, figure| *figure != 0);
    Ok(uncounted)
}

/// What documents left open by the end of a day, or what allocations moved of that, in their own currencies.
async fn moved(cx: &Cx<'_>, day: Day, asked: &Asked, by_allocations: bool) -> Result<HashMap<RecordId, i64>> {
    let allocation = open_item_moves::Column::AllocationId;
    let mut moves = open_item_moves::Entity::find()
        .select_only()
        .column(open_item_moves::Column::DocumentId)
        .column_as(sum(cx, Expr::col(open_item_moves::Column::Amount)), "amount")
        .filter(open_item_moves::Column::BusinessId.eq(cx.business_id()?))
        .filter(open_item_moves::Column::Date.lte(day))
        .filter(if by_allocations { allocation.is_not_null() } else { allocation.is_null() });
    if let Some(at) = asked.point.known_at {
        moves = moves.filter(open_item_moves::Column::RecordedAt.lte(at));
    }
    let found: Vec<Moved> = moves.group_by(open_item_moves::Column::DocumentId).into_model().all(&cx.db).await?;
    Ok(found.into_iter().map(|row| (row.document_id, row.amount)).collect())
}

fn share(figure: i64, settled: i64, whole: i64, (rounding, decimals): (Rounding, u32)) -> Result<i64> {
    if settled == whole {
        return Ok(figure);
    }
    // In whole numbers first: the product of two large amounts is beyond what a decimal holds.
    let (product, of) = (i128::from(figure) * i128::from(settled), i128::from(whole));
    let exact = Decimal::try_from_i128_with_scale(product / of, Money::PLACES).and_then(|units| {
        let rest = Decimal::try_from_i128_with_scale(product % of, Money::PLACES)?;
        Ok(rest.checked_div(Decimal::from(whole)).and_then(|rest| units.checked_add(rest)))
    });
    let exact = exact.ok().flatten().ok_or_else(|| Error::internal("a share of an amount is beyond all amounts"))?;
    Ok(rounding.money(exact, decimals).map_err(Error::internal)?.units())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_settled_to_the_last_cent_counts_to_the_last_cent() {
        let share = |settled, whole| share(1_000_000, settled, whole, (Rounding::HalfUp, 2)).unwrap();
        assert_eq!(share(0, 3), 0);
        assert_eq!(share(1, 3), 333_300);
        assert_eq!(share(2, 3), 666_700);
        assert_eq!(share(3, 3), 1_000_000);
        assert_eq!(share(-5, -10), 500_000);
        // Amounts of trillions are shared like small ones.
        let large = 4_000_000_000_000_000_000;
        assert_eq!(super::share(large, large / 4, large, (Rounding::HalfUp, 0)).unwrap(), large / 4);
    }
}
