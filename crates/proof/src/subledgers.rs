//! The sub-ledgers beside the ledger: open items, their history, allocations and stock.
//!
//! Sums are made by the database, by account and day or by item, so that memory does not grow with the books.

use super::{Check, Findings, Walk, Wide, shown};
use crate::day::Day;
use crate::error::Result;
use crate::ids::RecordId;
use crate::money::{Money, Quantity};
use crate::stored::AsJson;
use schema::account as accounts;
use schema::account::Keeper;
use schema::aliases::Named;
use schema::party as parties;
use schema::reader::Reader;
use schema::tables::{
    EntryRef, allocations, document_counts, documents, open_item_moves, open_items, progress_moves, stock, stock_lines,
    stock_moves,
};
use sea_orm::sea_query::{Expr, ExprTrait, SimpleExpr};
use sea_orm::{ColumnTrait, Condition, EntityTrait, FromQueryResult, QueryFilter, QuerySelect};
use std::collections::{BTreeMap, HashMap, HashSet};
use words::sums::Sums as _;

#[derive(FromQueryResult)]
pub(super) struct OfDay {
    pub(super) account_id: RecordId,
    pub(super) currency: String,
    pub(super) date: Day,
    pub(super) base: i64,
    pub(super) own: i64,
}

#[derive(FromQueryResult)]
struct OfItem {
    id: RecordId,
    base: i64,
    own: i64,
}

pub(super) fn column(column: impl ColumnTrait) -> SimpleExpr {
    Expr::col(column.as_column_ref())
}

pub(super) async fn checks(reader: &Reader<'_>, walk: &mut Walk) -> Result<Vec<Check>> {
    let all = accounts::Entity::find().filter(accounts::Column::BusinessId.eq(reader.id())).all(&reader.db).await?;
    let kept = |keeper: Keeper| -> HashSet<RecordId> {
        all.iter().filter(|account| account.keeper == keeper).map(|account| account.id).collect()
    };
    let (control, inventory) = (kept(Keeper::OpenItems), kept(Keeper::Stock));
    let mut waiting = kept(Keeper::Accruals);
    waiting.extend(accounts_of_notes(reader).await?);
    let mut checks = vec![history_follows_ledger(reader, walk, &control).await?];
    reader.pause().await?;
    checks.push(items_follow_history(reader).await?);
    reader.pause().await?;
    checks.push(allocations_explain_items(reader, walk).await?);
    checks.push(parties_stand(reader).await?);
    reader.pause().await?;
    checks.push(stock_follows_ledger(reader, walk, &inventory).await?);
    checks.push(stock_follows_history(reader).await?);
    reader.pause().await?;
    checks.extend(super::goods::checks(reader).await?);
    reader.pause().await?;
    checks.push(documents_are_counted(reader).await?);
    checks.extend(super::progress::checks(reader, walk, &waiting).await?);
    Ok(checks)
}

/// The accounts on which goods ever waited for their invoice.
async fn accounts_of_notes(reader: &Reader<'_>) -> Result<Vec<RecordId>> {
    let accounts = progress_moves::Entity::find()
        .select_only()
        .column(progress_moves::Column::AccountId)
        .filter(progress_moves::Column::BusinessId.eq(reader.id()))
        .filter(progress_moves::Column::AccountId.is_not_null())
        .distinct();
    Ok(accounts.into_tuple().all(&reader.db).await?)
}

/// Lines of some accounts, by account, currency and day: in the company's currency and in their own.
pub(super) type Days = BTreeMap<(RecordId, String, Day), (Wide, Wide)>;

pub(super) fn ledger_days(walk: &Walk, of: &HashSet<RecordId>) -> Days {
    let days = walk.days.iter().filter(|((account, _, _), _)| of.contains(account));
    days.map(|(key, (debit, credit, own))| (key.clone(), (debit - credit, *own))).collect()
}

pub(super) fn compare_days(kept: &Days, ledger: &Days, what: &str) -> (Wide, Wide, Findings) {
    let mut findings = Findings::default();
    let keys: HashSet<_> = kept.keys().chain(ledger.keys()).collect();
    for key in keys {
        let (left, right) = (kept.sum_of(key), ledger.sum_of(key));
        if left != right {
            let (account, currency, day) = key;
            findings.add(format!(
                "account {account} in {currency} on {day}: {what} {} and {}, lines {} and {}",
                shown(left.0),
                shown(left.1),
                shown(right.0),
                shown(right.1)
            ));
        }
    }
    let total = |days: &Days| days.values().map(|(base, _)| base).sum();
    (total(kept), total(ledger), findings)
}

async fn history_follows_ledger(reader: &Reader<'_>, walk: &Walk, control: &HashSet<RecordId>) -> Result<Check> {
    let rows = open_item_moves::Entity::find()
        .select_only()
        .column(open_item_moves::Column::AccountId)
        .column(open_item_moves::Column::Currency)
        .column(open_item_moves::Column::Date)
        .column_as(reader.sum(column(open_item_moves::Column::Base)), "base")
        .column_as(reader.sum(column(open_item_moves::Column::Amount)), "own")
        .filter(open_item_moves::Column::BusinessId.eq(reader.id()))
        .group_by(open_item_moves::Column::AccountId)
        .group_by(open_item_moves::Column::Currency)
        .group_by(open_item_moves::Column::Date)
        .into_model::<OfDay>()
        .all(&reader.db)
        .await?;
    let kept: Days = rows
        .into_iter()
        .filter(|row| control.contains(&row.account_id))
        .map(|row| ((row.account_id, row.currency, row.date), (Wide::from(row.base), Wide::from(row.own))))
        .filter(|(_, sums)| *sums != (0, 0))
        .collect();
    let mut ledger = ledger_days(walk, control);
    ledger.retain(|_, sums| *sums != (0, 0));
    let (left, right, findings) = compare_days(&kept, &ledger, "open items");
    Ok(Check::of("V3b", "Open items equal their control accounts, at every day", shown(left), shown(right), findings))
}

async fn items_follow_history(reader: &Reader<'_>) -> Result<Check> {
    let moved = open_item_moves::Entity::find()
        .select_only()
        .column_as(open_item_moves::Column::OpenItemId, "id")
        .column_as(reader.sum(column(open_item_moves::Column::Base)), "base")
        .column_as(reader.sum(column(open_item_moves::Column::Amount)), "own")
        .filter(open_item_moves::Column::BusinessId.eq(reader.id()))
        .group_by(open_item_moves::Column::OpenItemId)
        .into_model::<OfItem>()
        .all(&reader.db)
        .await?;
    let mut moved: HashMap<RecordId, (i64, i64)> = moved.into_iter().map(|row| (row.id, (row.own, row.base))).collect();
    let items =
        open_items::Entity::find().filter(open_items::Column::BusinessId.eq(reader.id())).all(&reader.db).await?;
    let mut findings = Findings::default();
    let (mut left, mut right): (Wide, Wide) = (0, 0);
    for item in items {
        let history = moved.sum_of(&item.id);
        moved.remove(&item.id);
        left += Wide::from(item.base_open.units());
        right += Wide::from(history.1);
        if history != (item.open.units(), item.base_open.units()) {
            findings.add(format!(
                "open item {}: {} is open, its history says {}",
                item.id,
                item.open.with_decimals(2),
                Money::from_units(history.0).with_decimals(2)
            ));
        }
        let over = item.open.units().abs() > item.amount.units().abs()
            || (item.open.units() != 0 && item.open.is_negative() != item.amount.is_negative());
        if over {
            findings.add(format!("open item {}: more is open than there was, or on the other side", item.id));
        }
        if item.open == Money::ZERO && item.base_open != Money::ZERO {
            findings.add(format!(
                "open item {} is settled and still carried at {}",
                item.id,
                item.base_open.with_decimals(2)
            ));
        }
    }
    for (id, _) in moved.iter().filter(|(_, history)| **history != (0, 0)) {
        findings.add(format!("open item {id} is gone, and its history leaves something open"));
    }
    Ok(Check::of("V4d", "What is open equals its history", shown(left), shown(right), findings))
}

async fn allocations_explain_items(reader: &Reader<'_>, walk: &mut Walk) -> Result<Check> {
    let (business, merged) = (reader.id(), merged(reader).await?);
    let live = allocations::Entity::find()
        .filter(allocations::Column::BusinessId.eq(business))
        .filter(allocations::Column::RemovedAt.is_null())
        .all(&reader.db)
        .await?;
    let touched = open_items::Entity::find()
        .filter(open_items::Column::BusinessId.eq(business))
        .filter(
            Condition::any()
                .add(column(open_items::Column::Open).ne(Expr::col(open_items::Column::Amount)))
                .add(column(open_items::Column::BaseOpen).ne(Expr::col(open_items::Column::Base))),
        )
        .all(&reader.db)
        .await?;
    let items: HashMap<RecordId, &open_items::Model> = touched.iter().map(|item| (item.id, item)).collect();
    let mut findings = Findings::default();
    let mut taken: HashMap<RecordId, (Wide, Wide)> = HashMap::new();
    for one in &live {
        if one.amount <= Money::ZERO || one.source_amount <= Money::ZERO {
            findings.add(format!("allocation {} is of nothing", one.id));
        }
        let settled = Wide::from(one.amount.units())
            + Wide::from(one.discount.units())
            + Wide::from(one.write_off.units())
            + Wide::from(one.withheld.units());
        for (id, own, base, currency) in [
            (one.target_id, settled, one.target_base, &one.currency),
            (one.source_id, Wide::from(one.source_amount.units()), one.source_base, &one.source_currency),
        ] {
            let sums = taken.entry(id).or_default();
            *sums = (sums.0 + own, sums.1 + Wide::from(base.units()));
            match items.get(&id) {
                None => findings.add(format!("allocation {} is of something that is not open, or untouched", one.id)),
                Some(item) if who(&merged, item.party_id) != who(&merged, one.party_id) => {
                    findings.add(format!("allocation {} is of something of another party", one.id));
                }
                Some(item) if item.currency != *currency => {
                    findings.add(format!("allocation {} is in another currency than what it settles", one.id));
                }
                Some(_) => {}
            }
        }
        if let Some(AsJson(EntryRef { id, number, .. })) = &one.entry
            && walk.live.remove(id) != Some(one.source_document_id)
        {
            findings.add(format!("allocation {} stands for entry {number}, which is not in force", one.id));
        }
    }
    let (mut left, mut right): (Wide, Wide) = (0, 0);
    for item in &touched {
        let gone = (
            Wide::from(item.amount.units() - item.open.units()).abs(),
            Wide::from(item.base.units() - item.base_open.units()).abs(),
        );
        let explained = taken.sum_of(&item.id);
        left += explained.1;
        right += gone.1;
        if gone != explained {
            findings.add(format!(
                "open item {}: {} is settled, allocations say {}",
                item.id,
                shown(gone.0),
                shown(explained.0)
            ));
        }
    }
    Ok(Check::of("V5", "Allocations are what was settled, and no more", shown(left), shown(right), findings))
}

/// Which parties became part of which.
async fn merged(reader: &Reader<'_>) -> Result<HashMap<RecordId, RecordId>> {
    let rows: Vec<(RecordId, Option<RecordId>)> = parties::Entity::find()
        .select_only()
        .columns([parties::Column::Id, parties::Column::MergedIntoId])
        .filter(parties::Column::BusinessId.eq(reader.id()))
        .filter(parties::Column::MergedIntoId.is_not_null())
        .into_tuple()
        .all(&reader.db)
        .await?;
    Ok(rows.into_iter().filter_map(|(id, into)| Some((id, into?))).collect())
}

/// Whoever a row's party is by now: where it became part of another, that one, and so on.
fn who(merged: &HashMap<RecordId, RecordId>, party: Named) -> RecordId {
    let mut is = party.as_written();
    // Nobody becomes part of themselves; where rows say so, they are followed no further.
    for _ in merged {
        let Some(into) = merged.get(&is) else { break };
        is = *into;
    }
    is
}

/// Whoever an open item, or what settled it, was written for is a party by now that is no part of another.
async fn parties_stand(reader: &Reader<'_>) -> Result<Check> {
    let business = reader.id();
    let merged = merged(reader).await?;
    let parties: HashSet<RecordId> = parties::Entity::find()
        .select_only()
        .column(parties::Column::Id)
        .filter(parties::Column::BusinessId.eq(business))
        .filter(parties::Column::MergedIntoId.is_null())
        .into_tuple::<RecordId>()
        .all(&reader.db)
        .await?
        .into_iter()
        .collect();
    let items: Vec<(RecordId, Named)> = open_items::Entity::find()
        .select_only()
        .columns([open_items::Column::Id, open_items::Column::PartyId])
        .filter(open_items::Column::BusinessId.eq(business))
        .into_tuple()
        .all(&reader.db)
        .await?;
    let mut findings = Findings::default();
    let mut standing: Wide = 0;
    for (id, party) in &items {
        if parties.contains(&who(&merged, *party)) {
            standing += 1;
        } else {
            findings.add(format!("open item {id}: its party {} is nobody", party.as_written()));
        }
    }
    Ok(Check::of("M1", "The party of every open item is one that stands", standing, items.len(), findings))
}

async fn stock_follows_ledger(reader: &Reader<'_>, walk: &Walk, inventory: &HashSet<RecordId>) -> Result<Check> {
    let base = reader.company().base_currency.clone();
    let rows = stock_moves::Entity::find()
        .select_only()
        .column(stock_moves::Column::AccountId)
        .column(stock_moves::Column::Date)
        .column_as(Expr::val(base.clone()), "currency")
        .column_as(reader.sum(column(stock_moves::Column::Value)), "base")
        .column_as(reader.sum(column(stock_moves::Column::Value)), "own")
        .filter(stock_moves::Column::BusinessId.eq(reader.id()))
        .group_by(stock_moves::Column::AccountId)
        .group_by(stock_moves::Column::Date)
        .into_model::<OfDay>()
        .all(&reader.db)
        .await?;
    let kept: Days = rows
        .into_iter()
        .filter(|row| row.base != 0 && inventory.contains(&row.account_id))
        .map(|row| ((row.account_id, base.clone(), row.date), (Wide::from(row.base), 0)))
        .collect();
    // Goods bought in another currency stand in it; what they are worth is in the company's.
    let mut ledger = Days::new();
    for ((account, _, day), (amount, _)) in ledger_days(walk, inventory) {
        ledger.entry((account, base.clone(), day)).or_default().0 += amount;
    }
    ledger.retain(|_, sums| sums.0 != 0);
    let (left, right, findings) = compare_days(&kept, &ledger, "stock");
    Ok(Check::of(
        "V3c",
        "The stock is worth what inventory accounts say, at every day",
        shown(left),
        shown(right),
        findings,
    ))
}

async fn documents_are_counted(reader: &Reader<'_>) -> Result<Check> {
    let mine = documents::Column::BusinessId.eq(reader.id());
    let there: Vec<(String, i64)> = documents::Entity::find()
        .select_only()
        .column(documents::Column::Kind)
        .column_as(documents::Column::Id.count(), "count")
        .filter(mine)
        .group_by(documents::Column::Kind)
        .into_tuple()
        .all(&reader.db)
        .await?;
    let there: BTreeMap<String, i64> = there.into_iter().collect();
    let counted = document_counts::Entity::find()
        .filter(document_counts::Column::BusinessId.eq(reader.id()))
        .all(&reader.db)
        .await?;
    let counted: BTreeMap<String, i64> =
        counted.into_iter().filter(|row| row.count != 0).map(|row| (row.kind, row.count)).collect();
    let mut findings = Findings::default();
    for kind in there.keys().chain(counted.keys()).collect::<HashSet<_>>() {
        let (is, said) = (there.sum_of(kind), counted.sum_of(kind));
        if is != said {
            findings.add(format!("{said} documents of kind {kind} are counted, {is} are there"));
        }
    }
    let (left, right) = (counted.values().sum::<i64>(), there.values().sum::<i64>());
    Ok(Check::of("V4f", "Documents are counted as they are", left, right, findings))
}

async fn stock_follows_history(reader: &Reader<'_>) -> Result<Check> {
    let business = reader.id();
    let moves = stock_moves::Entity::find()
        .select_only()
        .column_as(stock_moves::Column::ItemId, "id")
        .column_as(reader.sum(column(stock_moves::Column::Value)), "base")
        .column_as(reader.sum(column(stock_moves::Column::Quantity)), "own")
        .filter(stock_moves::Column::BusinessId.eq(business))
        .group_by(stock_moves::Column::ItemId)
        .into_model::<OfItem>()
        .all(&reader.db)
        .await?;
    let lines = stock_lines::Entity::find()
        .select_only()
        .column_as(stock_lines::Column::ItemId, "id")
        .column_as(Expr::val(0_i64), "base")
        .column_as(reader.sum(column(stock_lines::Column::Quantity)), "own")
        .filter(stock_lines::Column::BusinessId.eq(business))
        .group_by(stock_lines::Column::ItemId)
        .into_model::<OfItem>()
        .all(&reader.db)
        .await?;
    let by_item = |rows: Vec<OfItem>| -> HashMap<RecordId, (i64, i64)> {
        rows.into_iter().map(|row| (row.id, (row.own, row.base))).collect()
    };
    let (moves, lines) = (by_item(moves), by_item(lines));
    let mut findings = Findings::default();
    let (mut left, mut right): (Wide, Wide) = (0, 0);
    let states = stock::Entity::find().filter(stock::Column::BusinessId.eq(business)).all(&reader.db).await?;
    for state in states {
        let kept = (state.quantity.units(), state.value.units());
        let history = moves.sum_of(&state.item_id);
        left += Wide::from(kept.1);
        right += Wide::from(history.1);
        // What they cost, and what was paid beside, is held against their facts.
        let moved = lines.sum_of(&state.item_id).0;
        for (what, found) in [("history", history), ("movements", (moved, kept.1))] {
            if found != kept {
                findings.add(format!(
                    "item {}: {} worth {} in stock, its {what} say {} worth {}",
                    state.item_id,
                    state.quantity,
                    state.value.with_decimals(2),
                    Quantity::from_units(found.0),
                    Money::from_units(found.1).with_decimals(2)
                ));
            }
        }
        if state.quantity == Quantity::ZERO && state.value != Money::ZERO {
            findings.add(format!(
                "item {}: nothing is there, and it is worth {}",
                state.item_id,
                state.value.with_decimals(2)
            ));
        }
    }
    Ok(Check::of("V4e", "The stock equals its history", shown(left), shown(right), findings))
}
