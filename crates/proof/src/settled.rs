//! Open items: what is left of each, what settled it, and whose it is. Read in portions by their keys, so that memory does
//! not grow with the books.

use super::live::Live;
use super::parts::within as in_range;
use super::subledgers::{OfItem, column};
use super::{Check, Findings, PORTION, Range, Wide, shown};
use crate::error::Result;
use crate::ids::RecordId;
use crate::money::{BookMoney, Money};
use crate::stored::AsJson;
use answers::Ask;
use schema::aliases::Named;
use schema::party as parties;
use schema::reader::Reader;
use schema::tables::{EntryRef, allocations, open_item_moves, open_items};
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{ColumnTrait, Condition, QueryFilter, QueryOrder, QuerySelect, QueryTrait};
use std::collections::{HashMap, HashSet};
use words::sums::Sums as _;

/// The next open items of a range by their keys.
async fn items_after(reader: &Reader<'_>, range: Range, last: Option<RecordId>) -> Result<Vec<open_items::Model>> {
    let items = open_items::Entity::find().filter(open_items::Column::BusinessId.eq(reader.id()));
    let items = in_range(items, open_items::Column::Id, range.behind(last));
    Ok(items.order_by_asc(open_items::Column::Id).limit(PORTION).models(&reader.db).await?)
}

/// Open items beside their history, as far as they were read.
#[derive(Default)]
pub(super) struct Histories {
    left: Wide,
    right: Wide,
    findings: Findings,
}

impl Histories {
    pub(super) async fn of_part(reader: &Reader<'_>, range: Range) -> Result<Self> {
        let mut found = Self::default();
        let mut last = None;
        loop {
            let items = items_after(reader, range, last).await?;
            let Some(end) = items.last() else { return Ok(found) };
            last = Some(end.id);
            reader.pause().await?;
            let moved = history(reader)
                .filter(open_item_moves::Column::OpenItemId.is_in(items.iter().map(|item| item.id)))
                .read::<OfItem>(&reader.db)
                .await?;
            let moved: HashMap<RecordId, (i64, i64)> =
                moved.into_iter().map(|row| (row.id, (row.own, row.base))).collect();
            for item in items {
                let history = moved.sum_of(&item.id);
                found.left += Wide::from(item.base_open.units());
                found.right += Wide::from(history.1);
                judge_item(&item, history, &mut found.findings);
            }
        }
    }

    pub(super) fn add(&mut self, behind: Self) {
        (self.left, self.right) = (self.left + behind.left, self.right + behind.right);
        self.findings.add_all(behind.findings);
    }

    pub(super) async fn check(mut self, reader: &Reader<'_>) -> Result<Check> {
        self.find_gone(reader).await?;
        let (left, right) = (shown(self.left), shown(self.right));
        Ok(Check::of("V4d", "What is open equals its history", left, right, self.findings))
    }

    /// Those of items that are gone: what is left of them must be nothing.
    async fn find_gone(&mut self, reader: &Reader<'_>) -> Result<()> {
        let there = open_items::Entity::find()
            .select_only()
            .column(open_items::Column::Id)
            .filter(open_items::Column::BusinessId.eq(reader.id()));
        let [base, own] =
            [open_item_moves::Column::Base, open_item_moves::Column::Amount].map(|one| reader.sum(column(one)));
        let gone = history(reader)
            .filter(open_item_moves::Column::OpenItemId.not_in_subquery(QueryTrait::into_query(there)))
            .having(base.ne(0).or(own.ne(0)))
            .limit(PORTION);
        for row in gone.read::<OfItem>(&reader.db).await? {
            self.findings.add(format!("open item {} is gone, and its history leaves something open", row.id));
        }
        Ok(())
    }
}

/// What history says of open items, item by item.
fn history(reader: &Reader<'_>) -> sea_orm::Select<open_item_moves::Entity> {
    open_item_moves::Entity::find()
        .select_only()
        .column_as(open_item_moves::Column::OpenItemId, "id")
        .column_as(reader.sum(column(open_item_moves::Column::Base)), "base")
        .column_as(reader.sum(column(open_item_moves::Column::Amount)), "own")
        .filter(open_item_moves::Column::BusinessId.eq(reader.id()))
        .group_by(open_item_moves::Column::OpenItemId)
}

fn judge_item(item: &open_items::Model, history: (i64, i64), findings: &mut Findings) {
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
    if item.open == Money::ZERO && item.base_open != BookMoney::ZERO {
        let carried = item.base_open.with_decimals(2);
        findings.add(format!("open item {} is settled and still carried at {carried}", item.id));
    }
}

/// Whether anything was allocated to it, or it to anything.
fn is_touched(item: &open_items::Model) -> bool {
    (item.open, item.base_open) != (item.amount, item.base)
}

/// How much of an item an allocation takes: of what it settles, of what settles.
fn settles(one: &allocations::Model) -> [(RecordId, Wide, Wide, &str); 2] {
    let settled = [one.amount, one.discount, one.write_off, one.withheld];
    let settled = settled.into_iter().map(|part| Wide::from(part.units())).sum();
    [
        (one.target_id, settled, one.target_base.units().into(), &one.currency),
        (one.source_id, one.source_amount.units().into(), one.source_base.units().into(), &one.source_currency),
    ]
}

/// Open items beside the allocations that settled them, as far as they were read.
#[derive(Default)]
pub(super) struct Explained {
    left: Wide,
    right: Wide,
    findings: Findings,
}

impl Explained {
    pub(super) async fn of_part(reader: &Reader<'_>, range: Range) -> Result<Self> {
        let mut found = Self::default();
        let mut last = None;
        loop {
            let items = items_after(reader, range, last).await?;
            let Some(end) = items.last() else { return Ok(found) };
            last = Some(end.id);
            reader.pause().await?;
            let touched: Vec<&open_items::Model> = items.iter().filter(|item| is_touched(item)).collect();
            let taken = taken_of(reader, &touched).await?;
            for item in touched {
                found.judge(item, taken.sum_of(&item.id));
            }
        }
    }

    fn judge(&mut self, item: &open_items::Model, explained: (Wide, Wide)) {
        let gone = (
            Wide::from(item.amount.units() - item.open.units()).abs(),
            Wide::from(item.base.units() - item.base_open.units()).abs(),
        );
        self.left += explained.1;
        self.right += gone.1;
        if gone != explained {
            self.findings.add(format!(
                "open item {}: {} is settled, allocations say {}",
                item.id,
                shown(gone.0),
                shown(explained.0)
            ));
        }
    }

    pub(super) fn add(&mut self, behind: Self) {
        (self.left, self.right) = (self.left + behind.left, self.right + behind.right);
        self.findings.add_all(behind.findings);
    }

    /// `odd` is what was found of the allocations by themselves.
    pub(super) fn check(self, odd: Findings) -> Check {
        let (left, right) = (shown(self.left), shown(self.right));
        Check::of("V5", "Allocations are what was settled, and no more", left, right, odd.with(self.findings))
    }
}

/// What allocations say was taken of items.
async fn taken_of(reader: &Reader<'_>, items: &[&open_items::Model]) -> Result<HashMap<RecordId, (Wide, Wide)>> {
    let mut taken: HashMap<RecordId, (Wide, Wide)> = HashMap::new();
    let ids: HashSet<RecordId> = items.iter().map(|item| item.id).collect();
    let documents: HashSet<RecordId> = items.iter().map(|item| item.document_id).collect();
    if documents.is_empty() {
        return Ok(taken);
    }
    for side in [allocations::Column::TargetDocumentId, allocations::Column::SourceDocumentId] {
        let rows = allocations::Entity::find()
            .filter(allocations::Column::BusinessId.eq(reader.id()))
            .filter(side.is_in(documents.iter().copied()))
            .filter(allocations::Column::RemovedAt.is_null());
        for one in rows.models(&reader.db).await? {
            let [target, source] = settles(&one);
            let of_side = if matches!(side, allocations::Column::TargetDocumentId) { target } else { source };
            let (id, own, base, _) = of_side;
            if ids.contains(&id) {
                let sums = taken.entry(id).or_default();
                *sums = (sums.0 + own, sums.1 + base);
            }
        }
    }
    Ok(taken)
}

/// Each allocation by itself: that it is of something, of items of one party and in their currencies, and that its entry
/// is in force.
pub(super) async fn judge_allocations(
    reader: &Reader<'_>,
    range: Range,
    live: &mut Live,
    findings: &mut Findings,
) -> Result<()> {
    let merged = merged(reader).await?;
    let mut last: Option<RecordId> = None;
    loop {
        let portion = allocations::Entity::find()
            .filter(allocations::Column::BusinessId.eq(reader.id()))
            .filter(allocations::Column::RemovedAt.is_null());
        let portion = in_range(portion, allocations::Column::Id, range.behind(last));
        let portion = portion.order_by_asc(allocations::Column::Id).limit(PORTION).models(&reader.db).await?;
        let Some(end) = portion.last() else { return Ok(()) };
        last = Some(end.id);
        reader.pause().await?;
        let named: HashSet<RecordId> = portion.iter().flat_map(|one| [one.target_id, one.source_id]).collect();
        let items = open_items::Entity::find()
            .filter(open_items::Column::BusinessId.eq(reader.id()))
            .filter(open_items::Column::Id.is_in(named))
            .models(&reader.db)
            .await?;
        let items: HashMap<RecordId, &open_items::Model> =
            items.iter().filter(|item| is_touched(item)).map(|item| (item.id, item)).collect();
        for one in &portion {
            if one.amount <= Money::ZERO || one.source_amount <= Money::ZERO {
                findings.add(format!("allocation {} is of nothing", one.id));
            }
            for (id, _, _, currency) in settles(one) {
                match items.get(&id) {
                    None => {
                        findings.add(format!("allocation {} is of something that is not open, or untouched", one.id));
                    }
                    Some(item) if who(&merged, item.party_id) != who(&merged, one.party_id) => {
                        findings.add(format!("allocation {} is of something of another party", one.id));
                    }
                    Some(item) if item.currency != currency => {
                        findings.add(format!("allocation {} is in another currency than what it settles", one.id));
                    }
                    Some(_) => {}
                }
            }
            if let Some(AsJson(EntryRef { id, number, .. })) = &one.entry {
                live.stands(*id, one.source_document_id, || format!("allocation {} stands for entry {number}", one.id));
            }
        }
    }
}

/// Which parties became part of which.
async fn merged(reader: &Reader<'_>) -> Result<HashMap<RecordId, RecordId>> {
    let rows: Vec<(RecordId, Option<RecordId>)> = parties::Entity::find()
        .select_only()
        .columns([parties::Column::Id, parties::Column::MergedIntoId])
        .filter(parties::Column::BusinessId.eq(reader.id()))
        .filter(parties::Column::MergedIntoId.is_not_null())
        .read(&reader.db)
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
pub(super) async fn parties_stand(reader: &Reader<'_>) -> Result<Check> {
    let business = reader.id();
    let merged = merged(reader).await?;
    let parties: HashSet<RecordId> = parties::Entity::find()
        .select_only()
        .column(parties::Column::Id)
        .filter(parties::Column::BusinessId.eq(business))
        .filter(parties::Column::MergedIntoId.is_null())
        .column_of::<RecordId>(&reader.db)
        .await?
        .into_iter()
        .collect();
    let named: Vec<(Named, i64)> = open_items::Entity::find()
        .select_only()
        .column(open_items::Column::PartyId)
        .column_as(open_items::Column::Id.count(), "items")
        .filter(open_items::Column::BusinessId.eq(business))
        .group_by(open_items::Column::PartyId)
        .read(&reader.db)
        .await?;
    let mut findings = Findings::default();
    let (mut standing, mut all) = (0, 0);
    for (party, items) in named {
        all += items;
        if parties.contains(&who(&merged, party)) {
            standing += items;
            continue;
        }
        let of_nobody: Vec<RecordId> = open_items::Entity::find()
            .select_only()
            .column(open_items::Column::Id)
            .filter(open_items::Column::BusinessId.eq(business))
            .filter(Condition::all().add(Expr::col(open_items::Column::PartyId).eq(party.as_written().0)))
            .limit(PORTION)
            .column_of(&reader.db)
            .await?;
        for id in of_nobody {
            findings.add(format!("open item {id}: its party {} is nobody", party.as_written()));
        }
    }
    Ok(Check::of("M1", "The party of every open item is one that stands", standing, all, findings))
}
