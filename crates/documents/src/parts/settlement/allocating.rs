//! Allocations: what settles what.
//!
//! Owns: that nothing is settled twice or beyond what is open, that a settled item leaves nothing behind in the
//! company's currency, and that the difference is a gain or a loss. Both sides belong to one party. An allocation
//! posts only what it must: exchange differences, discounts, what is written off or kept back, and the move from an
//! account of advances.

mod judging;
mod record;
mod said;
mod wire;
mod withheld;

use super::relief::{Accounts, Taken, relieve};
use super::taxes::Told;
use crate::clock::Instant;
use crate::day::Day;
use crate::document::{note_settling, note_touch};
use crate::error::{Code, Error, Result};
use crate::ids::RecordId;
use crate::money::{Funds, Money};
use crate::stored::AsJson;
use answers::Ask;
use books::audit::{AuditAction, Change as AuditChange};
use books::cash;
use books::chart::Chart;
use books::cx::Cx;
use books::desk::NewEntry;
use books::limits::Moves;
use books::open_items::{find, least, shift};
use books::rates::{Given, check_worth};
use books::tax_facts;
use judging::{Judging, Sides};
pub use record::AllocationRecord;
use rules::posting::Posting;
use rules::purpose::Purpose;
use rules::refusal::Refusal;
pub(crate) use said::{Said, check_said, stays};
use schema::key::ResourceKey;
use schema::rights::Action;
use schema::tables::{DocumentKind, EntryKind, EntryRef, TradeSide, allocations, documents, open_items};
use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter};
use serde::Serialize;
pub use wire::{AllocationAsked, AllocationInput, AllocationView};
pub(crate) use wire::{check, check_each, planned, view};
use words::sown::{Fault, sown};

/// The allocations in force that touch any of these documents.
pub(crate) async fn of_documents(cx: &Cx<'_>, documents: &[RecordId]) -> Result<Vec<allocations::Model>> {
    if documents.is_empty() {
        return Ok(Vec::new());
    }
    let rows = allocations::Entity::find()
        .filter(allocations::Column::BusinessId.eq(cx.business_id()?))
        .filter(allocations::Column::RemovedAt.is_null())
        .filter(
            Condition::any()
                .add(allocations::Column::SourceDocumentId.is_in(documents.iter().copied()))
                .add(allocations::Column::TargetDocumentId.is_in(documents.iter().copied())),
        );
    let mut rows = rows.models(&cx.db).await?;
    rows.sort_by_key(|row| row.id);
    Ok(rows)
}

fn plus(left: Money, right: Money) -> Result<Money> {
    left.checked_add(right).ok_or_else(Error::too_large)
}

/// A document that takes part in an allocation, as it is now.
async fn document(cx: &Cx<'_>, id: RecordId) -> Result<documents::Model> {
    let row = documents::Entity::find_by_id((cx.business_id()?, id)).model(&cx.db).await?;
    row.ok_or_else(|| Error::internal("an open item of a document that there is not"))
}

/// Settles with what a document leaves open, one after the other.
pub(crate) async fn allocate_all(
    cx: &Cx<'_>,
    source: &documents::Model,
    line: Option<RecordId>,
    asked: &[AllocationAsked],
) -> Result<()> {
    for (index, one) in asked.iter().enumerate() {
        allocate(cx, &format!("allocations[{index}]."), line.unwrap_or(source.id), one, Touch::TargetOnly).await?;
    }
    Ok(())
}

/// Whose figures move: a document that is only being made has no version to raise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Touch {
    Both,
    TargetOnly,
}

async fn judge(cx: &Cx<'_>, path: &str, source: RecordId, asked: &AllocationAsked) -> Result<Sides> {
    let source = find(cx, source)
        .await?
        .ok_or_else(|| Error::conflict(Code::InvalidState, "Nothing of it is open to allocate"))?;
    let Some(target) = find(cx, asked.target).await? else {
        return Err(Error::field(
            &format!("{path}targetId"),
            "names nothing that is open: a posted document, or a line of a journal",
        ));
    };
    let chart = cx.chart().await?;
    Judging { path, aliases: cx.aliases()?, chart: &chart }.sides(source, target, asked)
}

/// What was settled until a later day, and is open again, is not settled twice before it.
async fn check_days(cx: &Cx<'_>, path: &str, sides: &Sides, day: Day) -> Result<()> {
    sides.check_least(path, least(cx, [&sides.target, &sides.source], day).await?, day)
}

/// What is given or settled of an open item.
fn given(item: &open_items::Model, amount: Money) -> Given<'_> {
    Given { currency: &item.currency, amount, carried: Some((item.base.size(), item.amount.size())) }
}

/// The day on which something is settled: the one that is asked for, else that of the later document where it is open.
async fn day(cx: &Cx<'_>, path: &str, sides: &Sides, (asked, touch): (Option<Day>, Touch)) -> Result<Day> {
    let module = sides.source.kind.module();
    let periods = cx.periods().await?;
    let earliest = Ord::max(sides.source.date, sides.target.date);
    // What is settled may be told in a return of the day: that is of the books of sales or of purchases as well.
    let mut modules = vec![module];
    modules.extend(cash::modules(cx, &[sides.source.document_id, sides.target.document_id]).await?);
    let date = match asked {
        Some(day) => day,
        None if touch == Touch::Both => periods.first_open_for_all(&modules, earliest, cx.asker())?,
        // What a document settles by itself it settles on its own day.
        None => periods.first_open(module, earliest, cx.asker())?,
    };
    for module in modules {
        periods.check(module, &format!("{path}date"), date, cx.asker())?;
    }
    Ok(date)
}

/// Settles an open item with another.
pub(crate) async fn allocate(
    cx: &Cx<'_>,
    path: &str,
    source: RecordId,
    asked: &AllocationAsked,
    touch: Touch,
) -> Result<allocations::Model> {
    cx.require(ResourceKey::Allocations, Action::Create)?;
    let sides = judge(cx, path, source, asked).await?;
    let date = day(cx, path, &sides, (asked.date, touch)).await?;
    check_days(cx, path, &sides, date).await?;
    if asked.withheld != Money::ZERO {
        withheld::check(cx, path, (&sides.target, date), asked).await?;
    }
    let exchanged = (&given(&sides.source, sides.used), &given(&sides.target, asked.amount));
    check_worth(cx, &format!("{path}sourceAmount"), date, exchanged).await?;
    let Sides { mut source, mut target, used, settled, sign } = sides;
    let business = cx.business()?;
    let taken = Taken { used, settled, discount: asked.discount, write_off: asked.write_off, withheld: asked.withheld };
    let chart = cx.chart().await?;
    let accounts = accounts(&chart, asked.write_off_account, (target.kind, sign))
        .map_err(|refusal| refusal.at(&format!("{path}writeOffAccountId")))?;
    let relief = relieve(&source, &target, &taken, (&chart, &accounts), business.home())
        .map_err(|why| why.at(&format!("{path}amount")))?;
    let told = Told { source: source.document_id, target: &target, date, taken: &taken, sign };
    let relief = told.lines(cx, relief).await?;
    let (source_base, target_base) = (relief.source_base, relief.target_base);
    // One that comes with a document is not the record that was asked for.
    let id = RecordId(if touch == Touch::Both { cx.own_id() } else { cx.new_id() });
    let mut row = allocations::Model {
        business_id: cx.business_id()?,
        id,
        party_id: target.party_id,
        source_kind: source.kind,
        source_id: source.id,
        source_document_id: source.document_id,
        target_kind: target.kind,
        target_id: target.id,
        target_document_id: target.document_id,
        date,
        currency: target.currency.clone(),
        amount: asked.amount,
        source_currency: source.currency.clone(),
        source_amount: used,
        discount: asked.discount,
        write_off: asked.write_off,
        write_off_account_id: asked.write_off_account,
        withheld: asked.withheld,
        source_base,
        target_base,
        exchange_gain: relief.gain,
        entry: None,
        removed_on: None,
        removed_at: None,
        created_at: cx.now,
        created_by: cx.user,
    };
    let posting = Posting::summing_up(relief.lines)
        .map_err(|fault| Error::internal(format!("an allocation does not balance: {fault:?}")))?;
    let document_of_source = document(cx, source.document_id).await?;
    if !posting.is_empty() {
        row.entry = Some(AsJson(
            cx.post(NewEntry {
                date,
                moves: Moves::In,
                kind: EntryKind::Allocation,
                document: source.kind,
                document_id: source.document_id,
                document_version: document_of_source.version,
                document_number: document_of_source.number.clone(),
                reverses: None,
                trade: None,
                narration: document_of_source.narration.clone(),
                posting,
            })
            .await?,
        ));
    }
    shift(cx, &mut target, date, (signed(settled, -sign), signed(target_base, -sign)), id)?;
    shift(cx, &mut source, date, (signed(used, sign), signed(source_base, sign)), id)?;
    let kept = row.clone();
    cx.keep(|desk| desk.keep_allocation(kept))?;
    record(cx, AuditAction::Created, &row)?;
    let touched = document(cx, target.document_id).await?;
    note(cx, &touched, &row)?;
    match touch {
        Touch::Both => note(cx, &document_of_source, &row)?,
        Touch::TargetOnly => note_settling(cx, &document_of_source, &noted(cx, &row)?)?,
    }
    Ok(row)
}

/// With its sign.
fn signed<F: Funds>(amount: F, sign: i64) -> F {
    if sign < 0 { amount.negated() } else { amount }
}

/// Whether what is kept back is kept from us: of a sale, and of what credits one. What is neither says so by its side.
pub(super) fn is_from_us(of: DocumentKind, sign: i64) -> bool {
    if sown(Fault::KeptBackOnTheOtherSide) {
        return sign > 0;
    }
    match of.turnover() {
        Some(side) => side == TradeSide::Sales,
        None => sign > 0,
    }
}

/// The accounts of what is taken off, by the side of what is settled.
pub(super) fn accounts(
    chart: &Chart,
    write_off: Option<RecordId>,
    (of, sign): (DocumentKind, i64),
) -> Result<Accounts, Refusal> {
    let roles = chart.roles();
    let is_debit = (sign > 0) != sown(Fault::DiscountOnTheOtherSide);
    let own = write_off.map(|account| chart.free(account, Purpose::WriteOff)).transpose()?;
    let (discount, bad) = roles.taken_off(is_debit);
    let withheld = if is_from_us(of, sign) { &roles.withholding_receivable } else { &roles.withholding_payable };
    Ok(Accounts {
        discount: discount.clone(),
        write_off: own.unwrap_or_else(|| bad.clone()),
        withheld: withheld.clone(),
        exchange: roles.realised_exchange.clone(),
    })
}

/// What is said of an allocation to the log of a document.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Noted {
    allocation: AllocationView,
    removed_on: Option<Day>,
}

fn noted(cx: &Cx<'_>, allocation: &allocations::Model) -> Result<Noted> {
    let base_decimals = cx.business()?.currency_decimals;
    Ok(Noted { allocation: view(allocation, base_decimals)?, removed_on: allocation.removed_on })
}

/// The figures of a document moved: it has a new version, and its log says by what.
fn note(cx: &Cx<'_>, row: &documents::Model, allocation: &allocations::Model) -> Result<()> {
    note_touch(cx, row, &noted(cx, allocation)?)
}

/// Notes an allocation in the audit log by itself.
fn record(cx: &Cx<'_>, action: AuditAction, row: &allocations::Model) -> Result<()> {
    let shown = AllocationRecord::of(row, cx.business()?.currency_decimals, cx.aliases()?)?;
    let shown = serde_json::to_string(&shown).map_err(Error::internal)?;
    let created = action == AuditAction::Created;
    cx.record(
        row.business_id,
        AuditChange {
            action,
            resource: ResourceKey::Allocations,
            id: row.id,
            version_from: (!created).then_some(1),
            version_to: created.then_some(1),
            before: (!created).then(|| shown.clone()),
            after: created.then_some(shown),
            note: None,
        },
    )
}

/// Takes an allocation back: both sides are open again by what it took, and its entry is reversed. That is on its own day,
/// or on a later one that was asked for; where that is closed, on the first open day after it.
pub(crate) async fn remove(cx: &Cx<'_>, row: &allocations::Model, on: Option<Day>, touch: Touch) -> Result<()> {
    cx.require(ResourceKey::Allocations, Action::Delete)?;
    let internal = || Error::internal("an allocation of something that is not open");
    let mut source = find(cx, row.source_id).await?.ok_or_else(internal)?;
    let mut target = find(cx, row.target_id).await?.ok_or_else(internal)?;
    let day = on.map_or(row.date, |on| Ord::max(on, row.date));
    let mut modules = vec![row.source_kind.module()];
    modules.extend(cash::modules(cx, &[row.source_document_id, row.target_document_id]).await?);
    let date = cx.periods().await?.first_open_for_all(&modules, day, cx.asker())?;
    let document_of_source = document(cx, row.source_document_id).await?;
    if let Some(entry) = &row.entry {
        reverse(cx, &entry.0, date, &document_of_source).await?;
    }
    let settled = plus(plus(row.amount, row.discount)?, plus(row.write_off, row.withheld)?)?;
    let sign = if target.amount.is_negative() { -1 } else { 1 };
    shift(cx, &mut target, date, (signed(settled, sign), signed(row.target_base, sign)), row.id)?;
    shift(cx, &mut source, date, (signed(row.source_amount, -sign), signed(row.source_base, -sign)), row.id)?;
    let removed = allocations::Model { removed_on: Some(date), removed_at: Some(cx.now), ..row.clone() };
    let (on, at): (Option<Day>, Option<Instant>) = (removed.removed_on, removed.removed_at);
    allocations::Entity::update_many()
        .col_expr(allocations::Column::RemovedOn, on.into())
        .col_expr(allocations::Column::RemovedAt, at.into())
        .filter(allocations::Column::BusinessId.eq(row.business_id))
        .filter(allocations::Column::Id.eq(row.id))
        .exec(&cx.db)
        .await?;
    record(cx, AuditAction::Deleted, row)?;
    let touched = document(cx, target.document_id).await?;
    note(cx, &touched, &removed)?;
    if touch == Touch::Both {
        note(cx, &document_of_source, &removed)?;
    }
    Ok(())
}

async fn reverse(cx: &Cx<'_>, entry: &EntryRef, date: Day, of: &documents::Model) -> Result<()> {
    let posting = tax_facts::postings(cx, std::slice::from_ref(entry)).await?.pop();
    let posting = posting.ok_or_else(|| Error::internal("an entry that there is not"))?;
    cx.post(NewEntry {
        date,
        moves: Moves::Back,
        kind: EntryKind::Reversal,
        document: of.kind,
        document_id: of.id,
        document_version: of.version,
        document_number: of.number.clone(),
        reverses: Some(entry.id),
        trade: None,
        narration: of.narration.clone(),
        posting: posting.reversed(entry.date, date),
    })
    .await?;
    Ok(())
}
