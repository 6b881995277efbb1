//! What was traded over some days, from what is kept by month: only the days at the ends, and what was not known yet, are
//! read line by line.

use super::{Told, lines_of};
use crate::asked::Asked;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use answers::Ask;
use books::balances::{last_known, sum};
use books::cx::{Cx, Point};
use books::sums::{Parts, Span};
use schema::tables::{TradeGrouping, TradeSide, documents, entries, entry_lines, trade_months};
use sea_orm::sea_query::{Alias, Expr, ExprTrait, Func, Order, Query, SimpleExpr};
use sea_orm::{ColumnTrait, Condition, EntityTrait, JoinType, QueryFilter, QuerySelect};
use std::collections::HashMap;
use words::sums::SummedUp as _;

answers::of_row! {
    struct OfMonths {
        of_id: RecordId,
        amount: i64,
    }
}

answers::of_row! {
    struct Group {
        traded_by: Option<RecordId>,
        amount: i64,
    }
}

/// What lines are told by. No column is called so, and so both engines take it for what stands in the row.
const WHOSE: &str = "traded_by";

/// Whose an entry of trade is: today the party of its document. A document that was given to another party since posted
/// each of its entries for somebody, as the line says that is owed.
fn whose(point: Point) -> SimpleExpr {
    let now = Expr::col((documents::Entity, documents::Column::PartyId));
    if point.known_at.is_none() {
        return now;
    }
    let owed = Alias::new("owed");
    let of = |column: entry_lines::Column| Expr::col((owed.clone(), column));
    let then = Query::select()
        .column((owed.clone(), entry_lines::Column::PartyId))
        .from_as(entry_lines::Entity, owed.clone())
        .and_where(of(entry_lines::Column::BusinessId).equals((entries::Entity, entries::Column::BusinessId)))
        .and_where(of(entry_lines::Column::EntryNumber).equals((entries::Entity, entries::Column::Number)))
        .and_where(of(entry_lines::Column::PartyId).is_not_null())
        .order_by((owed.clone(), entry_lines::Column::Position), Order::Asc)
        .limit(1)
        .take();
    // What comes to nothing is owed by nobody.
    Func::coalesce([SimpleExpr::SubQuery(None, Box::new(then.into())), now]).into()
}

/// What lines come to, by party or item; what there is nothing of is left out.
pub(super) async fn traded<T: Told>(cx: &Cx<'_>, span: Span, asked: &Asked) -> Result<HashMap<Option<RecordId>, i64>> {
    let grouping = if T::BY_PARTY { TradeGrouping::Party } else { TradeGrouping::Item };
    let mut sums: HashMap<Option<RecordId>, i64> = HashMap::new();
    let mut add = |id: Option<RecordId>, amount: i64| -> Result<()> {
        let known = sums.entry(id).or_insert(0);
        *known = known.checked_add(amount).ok_or_else(|| Error::internal("a sum outgrew its number"))?;
        Ok(())
    };
    let Rest { months, lines, all } = Rest::of(cx, span, asked).await?;
    if let Some(months) = months {
        let rows = of_months::<T>(cx, grouping, months)?
            .column(trade_months::Column::OfId)
            .group_by(trade_months::Column::OfId);
        for row in rows.read::<OfMonths>(&cx.db).await? {
            add(Some(row.of_id).filter(|id| *id != RecordId::NONE), row.amount)?;
        }
    }
    for (which, sign) in lines {
        let net = lines_of::<T>(cx, span, &all)
            .await?
            .filter(which)
            .filter(entry_lines::Column::PartyId.is_null())
            .filter(entry_lines::Column::TaxComponent.is_null())
            .column_as(sum(cx, Expr::col((entry_lines::Entity, entry_lines::Column::Amount))), "amount");
        let net = if T::BY_PARTY {
            let of_documents = net
                .join(
                    JoinType::InnerJoin,
                    entries::Entity::belongs_to(documents::Entity)
                        .from((entries::Column::BusinessId, entries::Column::DocumentId))
                        .to((documents::Column::BusinessId, documents::Column::Id))
                        .into(),
                )
                .column_as(whose(asked.point), WHOSE);
            of_documents.group_by(Expr::col(WHOSE))
        } else {
            net.column_as(entry_lines::Column::ItemId, WHOSE).group_by(entry_lines::Column::ItemId)
        };
        for group in net.read::<Group>(&cx.db).await? {
            add(group.traded_by, group.amount * sign)?;
        }
    }
    sums.retain(|_, amount| *amount != 0);
    Ok(sums)
}

/// What the other side of the same documents comes to.
pub(super) async fn other_side<T: Told>(cx: &Cx<'_>, asked: &Asked) -> Result<i64> {
    let Rest { months, lines, all } = Rest::of(cx, asked.span, asked).await?;
    let mut other_side = 0;
    if let Some(months) = months {
        let kept: Option<Option<i64>> =
            of_months::<T>(cx, TradeGrouping::OtherSide, months)?.into_tuple().one(&cx.db).await?;
        other_side += kept.summed_up();
    }
    for (which, sign) in lines {
        let other = Condition::any()
            .add(entry_lines::Column::PartyId.is_not_null())
            .add(entry_lines::Column::TaxComponent.is_not_null());
        let found: Option<Option<i64>> = lines_of::<T>(cx, asked.span, &all)
            .await?
            .filter(which)
            .filter(other)
            .column_as(sum(cx, Expr::col((entry_lines::Entity, entry_lines::Column::Amount))), "amount")
            .into_tuple()
            .one(&cx.db)
            .await?;
        other_side += found.summed_up() * sign;
    }
    Ok(other_side)
}

/// What is read of a span: whole months, and lines beside them, added or taken off.
struct Rest {
    months: Option<Condition>,
    lines: Vec<(Condition, i64)>,
    /// The same question of all lines, whenever they were recorded: each of those above says which it means.
    all: Asked,
}

impl Rest {
    async fn of(cx: &Cx<'_>, span: Span, asked: &Asked) -> Result<Self> {
        let Parts { months, days } = span.parts();
        let known = last_known(cx, asked.point).await?;
        let number = (entry_lines::Entity, entry_lines::Column::EntryNumber);
        let mut lines = Vec::new();
        if !days.is_empty() {
            let days = days.into_iter().map(|[first, last]| entry_lines::Column::Date.between(first, last));
            let mut which = Condition::all().add(days.fold(Condition::any(), Condition::add));
            if let Some(known) = known {
                which = which.add(Expr::col(number).lte(known));
            }
            lines.push((which, 1));
        }
        if let (Some(months), Some(known)) = (&months, known) {
            // What was not known yet is in the months as well.
            lines.push((months.days(entry_lines::Column::Date).add(Expr::col(number).gt(known)), -1));
        }
        let all = Asked { point: Point::default(), ..asked.clone() };
        Ok(Self { months: months.map(|months| months.of(trade_months::Column::Month)), lines, all })
    }
}

fn of_months<T: Told>(
    cx: &Cx<'_>,
    grouping: TradeGrouping,
    months: Condition,
) -> Result<sea_orm::Select<trade_months::Entity>> {
    let side = if T::SALES { TradeSide::Sales } else { TradeSide::Purchases };
    Ok(trade_months::Entity::find()
        .select_only()
        .column_as(sum(cx, Expr::col(trade_months::Column::Amount)), "amount")
        .filter(trade_months::Column::BusinessId.eq(cx.business_id()?))
        .filter(trade_months::Column::Side.eq(side.to_string()))
        .filter(trade_months::Column::Grouping.eq(grouping.to_string()))
        .filter(months))
}
