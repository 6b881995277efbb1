//! What a piece costs before anything is known of it, as it was said when the story of its item began.

use super::facts::UNKNOWN_COST;
use super::first_cost;
use crate::BEFORE_THE_FIRST;
use crate::cx::Cx;
use crate::day::Day;
use crate::desk::Standing;
use crate::error::Result;
use crate::ids::RecordId;
use crate::money::{BookMoney, Quantity, UnitPrice};
use answers::Ask;
use schema::tables::{FactKind, FactSide, stock, stock_facts, stock_snapshots};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use words::sown::{Fault, sown};

/// The day of what is known of an item before anything happened to it.
pub(super) const fn beginning() -> Day {
    Day::BEFORE_ALL
}

/// An item is about to say something else of what it costs. Where books of an earlier release have its story without a word of
/// how it began, that is as it was said until now: what is said later moves no figure of before.
pub async fn stays(cx: &Cx<'_>, before: &schema::item::Model) -> Result<()> {
    cx.flush().await?;
    let Some((state, first)) = story(cx, before.id).await? else { return Ok(()) };
    if first.date == beginning() || sown(Fault::BeginsWithoutAWord) {
        return Ok(());
    }
    let cost = Some(first_cost(before).unwrap_or(UNKNOWN_COST));
    // Evenings that were kept know nothing of it.
    stock_snapshots::Entity::delete_many()
        .filter(stock_snapshots::Column::BusinessId.eq(cx.business_id()?))
        .filter(stock_snapshots::Column::ItemId.eq(before.id))
        .exec(&cx.db)
        .await?;
    let standard_cost = state.standard_cost.or(cost);
    tell(cx, said(cx, first, (beginning(), BEFORE_THE_FIRST), cost), stock::Model { standard_cost, ..state })
}

/// An item of which nothing ever came says what it costs: what goes out after all that went so far costs that.
pub async fn says(cx: &Cx<'_>, item: RecordId, cost: UnitPrice) -> Result<()> {
    cx.flush().await?;
    let Some((state, first)) = story(cx, item).await? else { return Ok(()) };
    let last = state.last_date.filter(|_| state.known_cost.is_none() && !sown(Fault::SaidTooLate));
    // After the last of all days there is none.
    let Some(last) = last.filter(|last| last.next() > *last) else { return Ok(()) };
    let (day, place) = (last.next(), state.last_sequence + 1);
    let told = said(cx, first, (day, place), Some(cost));
    tell(cx, told, stock::Model { last_date: Some(day), last_sequence: place, standard_cost: Some(cost), ..state })
}

/// How an item stands that moved, and its first fact.
async fn story(cx: &Cx<'_>, item: RecordId) -> Result<Option<(stock::Model, stock_facts::Model)>> {
    let business = cx.business_id()?;
    let Some(state) = stock::Entity::find_by_id((business, item)).model(&cx.db).await? else { return Ok(None) };
    let first = stock_facts::Entity::find()
        .filter(stock_facts::Column::BusinessId.eq(business))
        .filter(stock_facts::Column::ItemId.eq(item))
        .order_by_asc(stock_facts::Column::Date)
        .model(&cx.db)
        .await?;
    Ok(first.map(|first| (state, first)))
}

/// What an item says itself of what a piece costs, from a day on.
fn said(
    cx: &Cx<'_>,
    first: stock_facts::Model,
    (date, place): (Day, i64),
    cost: Option<UnitPrice>,
) -> stock_facts::Model {
    stock_facts::Model {
        id: RecordId(cx.new_id()),
        date,
        place,
        document_id: first.item_id,
        line_id: first.item_id,
        kind: FactKind::Standard,
        side: FactSide::Cost,
        quantity: Quantity::ZERO,
        amount: BookMoney::ZERO,
        standard: cost,
        of_line_id: None,
        cancels_id: None,
        booked_stock: BookMoney::ZERO,
        booked_waits: BookMoney::ZERO,
        booked_cost: BookMoney::ZERO,
        booked_variance: BookMoney::ZERO,
        recorded_at: cx.now,
        ..first
    }
}

fn tell(cx: &Cx<'_>, said: stock_facts::Model, state: stock::Model) -> Result<()> {
    let now = cx.now;
    cx.keep(|desk| {
        desk.keep_stock_fact(now, said);
        desk.stands(Standing::Stock(state));
    })
}
