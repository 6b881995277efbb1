//! The sub-ledgers beside the ledger: open items, their history, allocations and stock.
//!
//! Sums are made by the database, by account and day or by item, so that memory does not grow with the books.

use super::goods::pieces;
use super::parts::{MOVES_LIE_BY, within};
use super::settled::{Histories, parties_stand};
use super::stages::Stages;
use super::{By, Check, Findings, Range, Walk, Wide, shown};
use crate::day::Day;
use crate::error::Result;
use crate::ids::RecordId;
use crate::money::{BookMoney, Quantity};
use answers::Ask;
use schema::account as accounts;
use schema::account::Keeper;
use schema::reader::{Reader, whole};
use schema::tables::{
    DocumentKind, DocumentStatus, Stage, document_counts, documents, open_item_moves, progress_moves, stock,
    stock_lines, stock_moves,
};
use sea_orm::sea_query::{Expr, SimpleExpr};
use sea_orm::{ColumnTrait, QueryFilter, QuerySelect};
use std::collections::{BTreeMap, HashMap, HashSet};
use words::codes::word_of;
use words::sums::Sums as _;

answers::of_row! {
    pub(super) struct OfDay {
        pub(super) account_id: RecordId,
        pub(super) currency: String,
        pub(super) date: Day,
        pub(super) base: i64,
        pub(super) own: i64,
    }
}

answers::of_row! {
    pub(super) struct OfItem {
        pub(super) id: RecordId,
        pub(super) base: i64,
        pub(super) own: i64,
    }
}

pub(super) fn column(column: impl ColumnTrait) -> SimpleExpr {
    Expr::col(column.as_column_ref())
}

/// What is held against the walk along the ledger: open items by what moved them, then stock and notes.
pub(super) async fn beside_ledger(reader: &Reader<'_>, walk: &Walk, open: &OpenDays) -> Result<[Check; 3]> {
    let all = accounts::Entity::find().filter(accounts::Column::BusinessId.eq(reader.id())).models(&reader.db).await?;
    let kept = |keeper: Keeper| -> HashSet<RecordId> {
        all.iter().filter(|account| account.keeper == keeper).map(|account| account.id).collect()
    };
    let (control, inventory) = (kept(Keeper::OpenItems), kept(Keeper::Stock));
    let mut waiting = kept(Keeper::Accruals);
    waiting.extend(accounts_of_notes(reader).await?);
    Ok([
        open.follow_ledger(walk, &control),
        stock_follows_ledger(reader, walk, &inventory).await?,
        super::progress::waiting_follows_ledger(reader, walk, &waiting).await?,
    ])
}

/// What is held against its own history, as far as it was read.
#[derive(Default)]
pub struct History {
    items: Histories,
    stages: Stages,
}

impl History {
    pub(super) async fn of_part(reader: &Reader<'_>, (by, range): (By, Range)) -> Result<Self> {
        Ok(if by == By::Documents {
            Self { stages: Stages::of_part(reader, range).await?, ..Self::default() }
        } else {
            Self { items: Histories::of_part(reader, range).await?, ..Self::default() }
        })
    }

    pub(super) fn add(&mut self, behind: Self) {
        self.items.add(behind.items);
        self.stages.add(behind.stages);
    }

    pub(super) async fn checks(self, reader: &Reader<'_>) -> Result<Vec<Check>> {
        let mut checks = vec![self.items.check(reader).await?];
        reader.pause().await?;
        checks.push(parties_stand(reader).await?);
        reader.pause().await?;
        checks.push(stock_follows_history(reader).await?);
        checks.push(self.stages.check());
        reader.pause().await?;
        checks.push(documents_are_counted(reader).await?);
        Ok(checks)
    }
}

/// The accounts on which goods ever waited for their invoice.
async fn accounts_of_notes(reader: &Reader<'_>) -> Result<Vec<RecordId>> {
    let accounts = progress_moves::Entity::find()
        .select_only()
        .column(progress_moves::Column::AccountId)
        .filter(progress_moves::Column::BusinessId.eq(reader.id()))
        .filter(progress_moves::Column::AccountId.is_not_null())
        .distinct();
    Ok(accounts.column_of(&reader.db).await?)
}

/// Lines of some accounts, by account, currency and day: in the company's currency and in their own.
pub(super) type Days = BTreeMap<(RecordId, String, Day), (Wide, Wide)>;

pub(super) fn ledger_days(walk: &Walk, of: &HashSet<RecordId>) -> Days {
    let days = walk.days.iter().filter(|((account, _, _), _)| of.contains(account));
    days.map(|(key, (debit, credit, own, _))| (key.clone(), (debit - credit, *own))).collect()
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

/// What moved open items, by account, currency and day, as far as it was read.
#[derive(Default)]
pub(super) struct OpenDays(Days);

impl OpenDays {
    pub(super) async fn of_part(reader: &Reader<'_>, range: Range) -> Result<Self> {
        let rows = open_item_moves::Entity::find()
            .select_only()
            .column(open_item_moves::Column::AccountId)
            .column(open_item_moves::Column::Currency)
            .column(open_item_moves::Column::Date)
            .column_as(reader.sum(column(open_item_moves::Column::Base)), "base")
            .column_as(reader.sum(column(open_item_moves::Column::Amount)), "own")
            .filter(open_item_moves::Column::BusinessId.eq(reader.id()));
        let rows = within(rows, MOVES_LIE_BY, range)
            .group_by(open_item_moves::Column::AccountId)
            .group_by(open_item_moves::Column::Currency)
            .group_by(open_item_moves::Column::Date)
            .read::<OfDay>(&reader.db)
            .await?;
        reader.pause().await?;
        let days = rows
            .into_iter()
            .map(|row| ((row.account_id, row.currency, row.date), (Wide::from(row.base), Wide::from(row.own))));
        Ok(Self(days.collect()))
    }

    pub(super) fn add(&mut self, others: Self) {
        for (key, (base, own)) in others.0 {
            let sums = self.0.entry(key).or_default();
            *sums = (sums.0 + base, sums.1 + own);
        }
    }

    fn follow_ledger(&self, walk: &Walk, control: &HashSet<RecordId>) -> Check {
        let moved = self.0.iter().filter(|((account, ..), sums)| control.contains(account) && **sums != (0, 0));
        let kept: Days = moved.map(|(key, sums)| (key.clone(), *sums)).collect();
        let mut ledger = ledger_days(walk, control);
        ledger.retain(|_, sums| *sums != (0, 0));
        let (left, right, findings) = compare_days(&kept, &ledger, "open items");
        let name = "Open items equal their control accounts, at every day";
        Check::of("V3b", name, shown(left), shown(right), findings)
    }
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
        .read::<OfDay>(&reader.db)
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
    let there: Vec<(DocumentKind, Option<Stage>, DocumentStatus, i64)> = documents::Entity::find()
        .select_only()
        .columns([documents::Column::Kind, documents::Column::Stage, documents::Column::Status])
        .column_as(documents::Column::Id.count(), "count")
        .filter(mine)
        .group_by(documents::Column::Kind)
        .group_by(documents::Column::Stage)
        .group_by(documents::Column::Status)
        .read(&reader.db)
        .await?;
    let standing = |stage: Option<Stage>, status: DocumentStatus| stage.map_or(status.code(), Stage::code).to_owned();
    let there: BTreeMap<(DocumentKind, String), i64> =
        there.into_iter().map(|(kind, stage, status, count)| ((kind, standing(stage, status)), count)).collect();
    let counted = document_counts::Entity::find()
        .filter(document_counts::Column::BusinessId.eq(reader.id()))
        .models(&reader.db)
        .await?;
    let counted: BTreeMap<(DocumentKind, String), i64> =
        counted.into_iter().filter(|row| row.count != 0).map(|row| ((row.kind, row.standing), row.count)).collect();
    let mut findings = Findings::default();
    for key in there.keys().chain(counted.keys()).collect::<HashSet<_>>() {
        let (is, said) = (there.sum_of(key), counted.sum_of(key));
        if is != said {
            let (kind, standing) = (key.0, word_of(&key.1).unwrap_or(&key.1));
            findings.add(format!("{said} documents of kind {kind} are counted as {standing}, {is} are there"));
        }
    }
    let (left, right) = (counted.values().sum::<i64>(), there.values().sum::<i64>());
    Ok(Check::of("V4f", "Documents are counted as they are", left, right, findings))
}

/// How many pieces of an item moved, in two halves, and what they were worth.
type Moved = (RecordId, i64, i64, i64);

async fn stock_follows_history(reader: &Reader<'_>) -> Result<Check> {
    let business = reader.id();
    let [high, low] = reader.halves(column(stock_moves::Column::Quantity));
    let moves = stock_moves::Entity::find()
        .select_only()
        .column(stock_moves::Column::ItemId)
        .column_as(high, "high")
        .column_as(low, "low")
        .column_as(reader.sum(column(stock_moves::Column::Value)), "value")
        .filter(stock_moves::Column::BusinessId.eq(business))
        .group_by(stock_moves::Column::ItemId)
        .read::<Moved>(&reader.db)
        .await?;
    let [high, low] = reader.halves(column(stock_lines::Column::Quantity));
    let lines = stock_lines::Entity::find()
        .select_only()
        .column(stock_lines::Column::ItemId)
        .column_as(high, "high")
        .column_as(low, "low")
        .column_as(Expr::val(0_i64), "value")
        .filter(stock_lines::Column::BusinessId.eq(business))
        .group_by(stock_lines::Column::ItemId)
        .read::<Moved>(&reader.db)
        .await?;
    let by_item = |rows: Vec<Moved>| -> HashMap<RecordId, (Wide, Wide)> {
        rows.into_iter().map(|(item, high, low, value)| (item, (whole((high, low)), Wide::from(value)))).collect()
    };
    let (moves, lines) = (by_item(moves), by_item(lines));
    let mut findings = Findings::default();
    let (mut left, mut right): (Wide, Wide) = (0, 0);
    let states = stock::Entity::find().filter(stock::Column::BusinessId.eq(business)).models(&reader.db).await?;
    for state in states {
        let kept = (Wide::from(state.quantity.units()), Wide::from(state.value.units()));
        let history = moves.sum_of(&state.item_id);
        left += kept.1;
        right += history.1;
        // What they cost, and what was paid beside, is held against their facts.
        let moved = lines.sum_of(&state.item_id).0;
        for (what, found) in [("history", history), ("movements", (moved, kept.1))] {
            if found != kept {
                findings.add(format!(
                    "item {}: {} worth {} in stock, its {what} say {} worth {}",
                    state.item_id,
                    state.quantity,
                    state.value.with_decimals(2),
                    pieces(found.0),
                    shown(found.1)
                ));
            }
        }
        if state.quantity == Quantity::ZERO && state.value != BookMoney::ZERO {
            findings.add(format!(
                "item {}: nothing is there, and it is worth {}",
                state.item_id,
                state.value.with_decimals(2)
            ));
        }
    }
    Ok(Check::of("V4e", "The stock equals its history", shown(left), shown(right), findings))
}
