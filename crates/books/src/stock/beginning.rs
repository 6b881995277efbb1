//! What a piece costs before anything is known of it, as it was said when the story of its item began.

use super::facts::UNKNOWN_COST;
use super::first_cost;
use crate::BEFORE_THE_FIRST;
use crate::cx::Cx;
use crate::day::Day;
use crate::desk::Standing;
use crate::error::Result;
use crate::ids::RecordId;
use crate::money::{BookMoney, Quantity};
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
    let business = cx.business_id()?;
    cx.flush().await?;
    let Some(state) = stock::Entity::find_by_id((business, before.id)).model(&cx.db).await? else { return Ok(()) };
    let first = stock_facts::Entity::find()
        .filter(stock_facts::Column::BusinessId.eq(business))
        .filter(stock_facts::Column::ItemId.eq(before.id))
        .order_by_asc(stock_facts::Column::Date)
        .model(&cx.db)
        .await?;
    let Some(first) = first.filter(|first| first.date != beginning()) else { return Ok(()) };
    if sown(Fault::BeginsWithoutAWord) {
        return Ok(());
    }
    let cost = Some(first_cost(before).unwrap_or(UNKNOWN_COST));
    let begins = stock_facts::Model {
        id: RecordId(cx.new_id()),
        date: beginning(),
        place: BEFORE_THE_FIRST,
        document_id: before.id,
        line_id: before.id,
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
    };
    // Evenings that were kept know nothing of it.
    stock_snapshots::Entity::delete_many()
        .filter(stock_snapshots::Column::BusinessId.eq(business))
        .filter(stock_snapshots::Column::ItemId.eq(before.id))
        .exec(&cx.db)
        .await?;
    let now = cx.now;
    cx.keep(|desk| {
        desk.keep_stock_fact(now, begins);
        desk.stands(Standing::Stock(stock::Model { standard_cost: state.standard_cost.or(cost), ..state }));
    })
}
