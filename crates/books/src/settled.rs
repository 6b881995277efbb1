//! How documents were settled by the end of a day.

use crate::cx::{Cx, Point};
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::money::Money;
use answers::Ask;
use rules::roles::Roles;
use rules::tax::due::{Counts, Settlement};
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
    lapses: HashMap<RecordId, Lapses>,
}

/// What an allocation takes off its target, and where that stands.
struct Lapses {
    target: RecordId,
    off: [(RecordId, Money); 2],
}

/// Whether what is open of a document is owed to us.
const fn is_owed(kind: DocumentKind) -> bool {
    matches!(kind, DocumentKind::SalesInvoice | DocumentKind::DebitNote)
}

/// Where a discount and what is let go of a document stand.
pub fn stand_on(roles: &Roles, target: DocumentKind, write_off: Option<RecordId>) -> (RecordId, RecordId) {
    let (discount, bad) = roles.taken_off(is_owed(target));
    (discount.id(), write_off.unwrap_or_else(|| bad.id()))
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
        let reduced = reduced(cx, documents).await?;
        let allocated = allocations::Entity::find()
            .filter(allocations::Column::BusinessId.eq(business))
            .filter(allocations::Column::TargetDocumentId.is_in(all()));
        let takes_off = |row: &allocations::Model| row.discount != Money::ZERO || row.write_off != Money::ZERO;
        let mut taking = allocated.models(&cx.db).await?;
        taking.retain(takes_off);
        if taking.is_empty() {
            return Ok(());
        }
        let chart = cx.chart().await?;
        for row in taking {
            let entry = row.entry.as_ref().map(|entry| entry.0.number);
            let lapses = |amount: Money, origin| {
                let reduces = entry.is_some_and(|entry| reduced.contains(&(entry, origin)));
                if reduces { Money::ZERO } else { amount }
            };
            let (discount, bad) = stand_on(chart.roles(), row.target_kind, row.write_off_account_id);
            let off = [
                (discount, lapses(row.discount, TaxOrigin::Discount)),
                (bad, lapses(row.write_off, TaxOrigin::WriteOff)),
            ];
            self.lapses.insert(row.id, Lapses { target: row.target_document_id, off });
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
            // What is settled below nothing settles nothing.
            let settled = Ord::max(settled, Money::ZERO);
            let lapses = self.lapses.get(&id).filter(|one| one.target == document);
            let Some(Lapses { off: [(given_on, given), (let_go_on, let_go)], .. }) = lapses else {
                settlements.push(Settlement { amount: settled, counts: Counts::Counts });
                continue;
            };
            let lapsed = Ord::min(given.plus(*let_go).map_err(too_large)?, settled);
            let given = Ord::min(*given, lapsed);
            let parts = [(*given_on, given), (*let_go_on, lapsed.minus(given).map_err(too_large)?)];
            let amount = settled.minus(lapsed).map_err(too_large)?;
            settlements.push(Settlement { amount, counts: Counts::Counts });
            settlements.push(Settlement { amount: lapsed, counts: Counts::Lapses(parts) });
        }
        Ok((whole.size(), settlements))
    }
}

pub fn too_large(_: TooLarge) -> Error {
    Error::too_large()
}

/// Entries of settlements that reduced tax, by what they took off. Whether one did is as old as the settlement, whatever
/// days are asked for: the tax itself may be of a later one.
async fn reduced(cx: &Cx<'_>, documents: &[RecordId]) -> Result<HashSet<(i64, TaxOrigin)>> {
    let facts = tax_facts::Entity::find()
        .select_only()
        .columns([tax_facts::Column::EntryNumber, tax_facts::Column::Origin])
        .filter(tax_facts::Column::BusinessId.eq(cx.business_id()?))
        .filter(tax_facts::Column::SettlesId.is_in(documents.iter().copied()));
    let found: Vec<(i64, TaxOrigin)> = facts.distinct().read(&cx.db).await?;
    Ok(found.into_iter().collect())
}
