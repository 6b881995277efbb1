//! What is open with parties: one item for each document, or each line of a journal, on a control account.
//!
//! Owns: that an item's open amount is what it began with less what was allocated, and that every move of it stands
//! in a history beside the ledger, on the day of the entry that it belongs to. So the open items of an account
//! always add up to its balance, at any day. Refuses: to decide what settles what.

use crate::cx::Cx;
use crate::day::Day;
use crate::desk::{Desk, Standing};
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::money::{BookMoney, Funds, Money};
use answers::Ask;
use rules::course;
use schema::aliases::Named;
use schema::tables::{DocumentKind, Stage, allocations, items_of, open_item_moves, open_items};
use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QuerySelect};

/// What a document leaves open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewOpen {
    /// The line of a journal; the document itself where there is none.
    pub line: Option<RecordId>,
    pub party: RecordId,
    pub account: RecordId,
    pub currency: String,
    pub date: Day,
    pub due_date: Option<Day>,
    /// A debit is positive.
    pub amount: Money,
    pub base: BookMoney,
}

fn moved(
    item: &open_items::Model,
    cx: &Cx<'_>,
    date: Day,
    (amount, base): (Money, BookMoney),
    allocation: Option<RecordId>,
) -> open_item_moves::Model {
    open_item_moves::Model {
        business_id: item.business_id,
        id: RecordId(cx.new_id()),
        open_item_id: item.id,
        document_id: item.document_id,
        party_id: item.party_id,
        account_id: item.account_id,
        currency: item.currency.clone(),
        date,
        recorded_at: cx.now,
        amount,
        base,
        allocation_id: allocation,
    }
}

/// What is left of an amount, where `old` began with the first and has the second left.
fn left_of<F: Funds>(whole: F, old: Option<(F, F)>) -> Result<F> {
    let Some((began, left)) = old else { return Ok(whole) };
    let taken = began.minus(left).and_then(|taken| whole.minus(taken));
    taken.map_err(|_| Error::too_large())
}

/// Opens what a document leaves open. `before` is what the same document had left open and was allocated to. How far it is
/// settled by that is answered.
pub fn begin(
    cx: &Cx<'_>,
    (kind, document): (DocumentKind, RecordId),
    new: &NewOpen,
    before: Option<&open_items::Model>,
) -> Result<Stage> {
    let item = open_items::Model {
        business_id: cx.business_id()?,
        id: new.line.unwrap_or(document),
        document_id: document,
        kind,
        party_id: Named::of(new.party),
        account_id: new.account,
        currency: new.currency.clone(),
        date: new.date,
        due_date: new.due_date,
        amount: new.amount,
        base: new.base,
        open: left_of(new.amount, before.map(|old| (old.amount, old.open)))?,
        base_open: left_of(new.base, before.map(|old| (old.base, old.base_open)))?,
    };
    let moved = moved(&item, cx, new.date, (new.amount, new.base), None);
    let (now, stage) = (cx.now, item.stage());
    cx.keep(|desk: &Desk| {
        desk.keep_open_item(item);
        desk.move_open_item(now, moved);
    })?;
    Ok(stage)
}

/// What documents have left open, as it stands in the database.
pub async fn of(cx: &Cx<'_>, documents: &[RecordId]) -> Result<Vec<open_items::Model>> {
    if documents.is_empty() {
        return Ok(Vec::new());
    }
    let rows = open_items::Entity::find()
        .filter(open_items::Column::BusinessId.eq(cx.business_id()?))
        .filter(items_of(documents));
    // Sorted here: asked for an order, the engine may walk all items of the company for it.
    let mut rows = rows.models(&cx.db).await?;
    rows.sort_by_key(|row| row.id);
    Ok(rows)
}

/// One open item, with all that is on the desk already.
pub async fn find(cx: &Cx<'_>, id: RecordId) -> Result<Option<open_items::Model>> {
    cx.flush().await?;
    let row = open_items::Entity::find_by_id((cx.business_id()?, id));
    Ok(row.model(&cx.db).await?)
}

/// The first day on which something that is in force settled an open item, or was settled by it.
pub async fn settled_from(cx: &Cx<'_>, item: &open_items::Model) -> Result<Option<Day>> {
    let either = Condition::any()
        .add(allocations::Column::SourceDocumentId.eq(item.document_id))
        .add(allocations::Column::TargetDocumentId.eq(item.document_id));
    let rows = allocations::Entity::find()
        .filter(allocations::Column::BusinessId.eq(cx.business_id()?))
        .filter(allocations::Column::RemovedAt.is_null())
        .filter(either);
    let rows = rows.models(&cx.db).await?.into_iter();
    Ok(rows.filter(|row| [row.source_id, row.target_id].contains(&item.id)).map(|row| row.date).min())
}

/// What moved open items after a day, whatever came of it since.
async fn moved_after(cx: &Cx<'_>, items: &[RecordId], day: Day) -> Result<Vec<(RecordId, Day, Money)>> {
    let moves = open_item_moves::Entity::find()
        .select_only()
        .columns([open_item_moves::Column::OpenItemId, open_item_moves::Column::Date, open_item_moves::Column::Amount])
        .filter(open_item_moves::Column::BusinessId.eq(cx.business_id()?))
        .filter(open_item_moves::Column::OpenItemId.is_in(items.iter().copied()))
        .filter(open_item_moves::Column::Date.gt(day));
    Ok(moves.read(&cx.db).await?)
}

/// How much of open items is left at the least from a day on, without its sign, and from when there is more.
pub async fn least(cx: &Cx<'_>, items: [&open_items::Model; 2], day: Day) -> Result<[(Money, Option<Day>); 2]> {
    let moves = moved_after(cx, &items.map(|item| item.id), day).await?;
    let of = |item: &open_items::Model| {
        let sign = if item.amount.is_negative() { -1 } else { 1 };
        let later = moves.iter().filter(|(id, ..)| *id == item.id);
        let later = later.map(|(_, day, amount)| (*day, i128::from(amount.units()) * sign));
        let least = course::least(i128::from(item.open.units()) * sign, later);
        let amount = i64::try_from(least.amount).map_err(|_| Error::too_large())?;
        Ok::<_, Error>((Money::from_units(amount), least.until))
    };
    Ok([of(items[0])?, of(items[1])?])
}

/// Until when something settled what is gone now, though it is open no longer: on a day when it was gone already.
pub async fn settled_until(cx: &Cx<'_>, gone: &[open_items::Model], day: impl Fn(Day) -> Day) -> Result<Option<Day>> {
    let Some(first) = gone.iter().map(|item| day(item.date)).min() else { return Ok(None) };
    let ids: Vec<RecordId> = gone.iter().map(|item| item.id).collect();
    let moves = moved_after(cx, &ids, first).await?;
    let mut until = None;
    for item in gone {
        let from = day(item.date);
        let later = moves.iter().filter(|(id, at, _)| *id == item.id && *at > from);
        let days = course::levels(later.map(|(_, day, amount)| (*day, i128::from(amount.units()))));
        until = Ord::max(until, days.last().filter(|_| days.iter().any(|(_, level)| *level != 0)).map(|(day, _)| *day));
    }
    Ok(until)
}

/// What settled an item since it began, day by day, without its sign: it may be nothing by now.
pub async fn settled_days(cx: &Cx<'_>, item: &open_items::Model) -> Result<Vec<(Day, i128)>> {
    let moves = open_item_moves::Entity::find()
        .select_only()
        .columns([open_item_moves::Column::Date, open_item_moves::Column::Amount])
        .filter(open_item_moves::Column::BusinessId.eq(cx.business_id()?))
        .filter(open_item_moves::Column::OpenItemId.eq(item.id))
        .filter(open_item_moves::Column::AllocationId.is_not_null());
    let moves: Vec<(Day, Money)> = moves.read(&cx.db).await?;
    let sign = if item.amount.is_negative() { 1 } else { -1 };
    Ok(course::levels(moves.into_iter().map(|(day, amount)| (day, i128::from(amount.units()) * sign))))
}

/// Takes back what a document left open, each on a day that is chosen for it.
pub async fn close(cx: &Cx<'_>, document: RecordId, day: impl Fn(Day) -> Day) -> Result<Vec<open_items::Model>> {
    cx.flush().await?;
    let rows = of(cx, &[document]).await?;
    let now = cx.now;
    for row in &rows {
        let back = (
            row.amount.checked_neg().ok_or_else(Error::too_large)?,
            row.base.checked_neg().ok_or_else(Error::too_large)?,
        );
        let moved = moved(row, cx, day(row.date), back, None);
        cx.keep(|desk| desk.move_open_item(now, moved))?;
    }
    open_items::Entity::delete_many()
        .filter(open_items::Column::BusinessId.eq(cx.business_id()?))
        .filter(items_of(&[document]))
        .exec(&cx.db)
        .await?;
    Ok(rows)
}

/// Moves what is left of an open item. Its document says how far it is settled by that.
pub fn shift(
    cx: &Cx<'_>,
    item: &mut open_items::Model,
    date: Day,
    (amount, base): (Money, BookMoney),
    allocation: RecordId,
) -> Result<()> {
    let was = item.stage();
    item.open = item.open.checked_add(amount).ok_or_else(Error::too_large)?;
    item.base_open = item.base_open.checked_add(base).ok_or_else(Error::too_large)?;
    let moved = moved(item, cx, date, (amount, base), Some(allocation));
    cx.taxed().settle(item.document_id);
    let now = cx.now;
    let standing =
        Standing::Open { business: item.business_id, id: item.id, open: item.open, base_open: item.base_open };
    let stage = Some(item.stage()).filter(|stage| item.kind.is_settled() && *stage != was);
    let reached = stage.map(|stage| Standing::Reached { business: item.business_id, id: item.document_id, stage });
    cx.keep(|desk| {
        desk.move_open_item(now, moved);
        desk.stands(standing);
        if let Some(reached) = reached {
            desk.stands(reached);
        }
    })
}
