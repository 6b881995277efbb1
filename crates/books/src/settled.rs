//! How documents were settled by the end of a day.

use crate::balances::last_known;
use crate::cx::{Cx, Point};
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::money::Money;
use answers::Ask;
use rules::tax::due::Settlement;
use rules::tax::facts::TaxOrigin;
use schema::tables::{DocumentKind, allocations, open_item_moves, tax_facts};
use sea_orm::{ColumnTrait, QueryFilter, QueryOrder, QuerySelect};
use std::collections::{HashMap, HashSet};
use words::exact::TooLarge;

/// What may count when it is settled.
pub const KINDS: [DocumentKind; 4] =
    [DocumentKind::SalesInvoice, DocumentKind::CreditNote, DocumentKind::PurchaseInvoice, DocumentKind::DebitNote];

/// So many documents are asked for at once.
const FEW: usize = 500;

/// What happened to what documents left open.
pub struct History {
    moves: HashMap<RecordId, Vec<open_item_moves::Model>>,
    /// What an allocation takes off its target without reducing the tax.
    lapses: HashMap<RecordId, (RecordId, Money)>,
}

impl History {
    /// Of these documents, up to the end of a day.
    pub async fn of(cx: &Cx<'_>, documents: &HashSet<RecordId>, to: Option<Day>, point: Point) -> Result<Self> {
        let mut found = Self { moves: HashMap::new(), lapses: HashMap::new() };
        let documents: Vec<RecordId> = documents.iter().copied().collect();
        for some in documents.chunks(FEW) {
            found.add(cx, some, to, point).await?;
        }
        Ok(found)
    }

    async fn add(&mut self, cx: &Cx<'_>, documents: &[RecordId], to: Option<Day>, point: Point) -> Result<()> {
        let business = cx.business_id()?;
        let all = || documents.iter().copied();
        // What an invoice or a note leaves open is called as it is, and is found by that: nothing finds a move by its document.
        let mut moves = open_item_moves::Entity::find()
            .filter(open_item_moves::Column::BusinessId.eq(business))
            .filter(open_item_moves::Column::OpenItemId.is_in(all()))
            .order_by_asc(open_item_moves::Column::Date)
            .order_by_asc(open_item_moves::Column::RecordedAt)
            .order_by_asc(open_item_moves::Column::Id);
        if let Some(to) = to {
            moves = moves.filter(open_item_moves::Column::Date.lte(to));
        }
        if let Some(at) = point.known_at {
            moves = moves.filter(open_item_moves::Column::RecordedAt.lte(at));
        }
        for moved in moves.models(&cx.db).await? {
            self.moves.entry(moved.document_id).or_default().push(moved);
        }
        let reduced = reduced(cx, documents, to, point).await?;
        let allocated = allocations::Entity::find()
            .filter(allocations::Column::BusinessId.eq(business))
            .filter(allocations::Column::TargetDocumentId.is_in(all()));
        for row in allocated.models(&cx.db).await? {
            let entry = row.entry.as_ref().map(|entry| entry.0.number);
            let lapses = |amount: Money, origin| {
                let reduces = entry.is_some_and(|entry| reduced.contains(&(entry, origin)));
                if reduces { Money::ZERO } else { amount }
            };
            let lapsed = lapses(row.discount, TaxOrigin::Discount).plus(lapses(row.write_off, TaxOrigin::WriteOff));
            self.lapses.insert(row.id, (row.target_document_id, lapsed.map_err(too_large)?));
        }
        Ok(())
    }

    /// The days on which something happened to a document.
    pub fn days(&self, document: RecordId) -> impl Iterator<Item = Day> + '_ {
        self.moves.get(&document).into_iter().flatten().map(|moved| moved.date)
    }

    /// How a document was settled by the end of a day, and what it was open by then.
    pub fn settlements(&self, document: RecordId, day: Day) -> Result<(Money, Vec<Settlement>)> {
        let moves = self.moves.get(&document).map_or(&[][..], Vec::as_slice);
        let mut whole = Money::ZERO;
        let mut by_allocation: Vec<(RecordId, Money)> = Vec::new();
        for moved in moves.iter().filter(|moved| moved.date <= day) {
            match moved.allocation_id {
                None => whole = whole.plus(moved.amount).map_err(too_large)?,
                Some(id) => match by_allocation.iter_mut().find(|(known, _)| *known == id) {
                    // One that was taken back settles nothing.
                    Some((_, sum)) => *sum = sum.plus(moved.amount).map_err(too_large)?,
                    None => by_allocation.push((id, moved.amount)),
                },
            }
        }
        let turned = |money: Money| if whole.is_negative() { money } else { money.negated() };
        let mut settlements = Vec::new();
        for (id, moved) in by_allocation {
            let settled = turned(moved);
            let lapsed = match self.lapses.get(&id) {
                Some((target, lapsed)) if *target == document => *lapsed,
                _ => Money::ZERO,
            };
            let lapsed = Ord::min(lapsed, Ord::max(settled, Money::ZERO));
            let amount = settled.minus(lapsed).map_err(too_large)?;
            settlements.push(Settlement { amount, counts: true });
            settlements.push(Settlement { amount: lapsed, counts: false });
        }
        Ok((whole.size(), settlements))
    }
}

pub fn too_large(_: TooLarge) -> Error {
    Error::too_large()
}

/// Entries of settlements that reduced tax, by what they took off.
async fn reduced(
    cx: &Cx<'_>,
    documents: &[RecordId],
    to: Option<Day>,
    point: Point,
) -> Result<HashSet<(i64, TaxOrigin)>> {
    let mut facts = tax_facts::Entity::find()
        .select_only()
        .columns([tax_facts::Column::EntryNumber, tax_facts::Column::Origin])
        .filter(tax_facts::Column::BusinessId.eq(cx.business_id()?))
        .filter(tax_facts::Column::SettlesId.is_in(documents.iter().copied()));
    if let Some(to) = to {
        facts = facts.filter(tax_facts::Column::Date.lte(to));
    }
    if let Some(known) = last_known(cx, point).await? {
        facts = facts.filter(tax_facts::Column::EntryNumber.lte(known));
    }
    let found: Vec<(i64, TaxOrigin)> = facts.distinct().read(&cx.db).await?;
    Ok(found.into_iter().collect())
}
