//! How documents were settled by the end of a day, and what of their figures counts by then.
//!
//! A share is taken of what is left, settlement by settlement in the order of days, and the last one takes the rest.

use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::money::Money;
use books::balances::last_known;
use books::cx::{Cx, Point};
use rules::tax::facts::TaxOrigin;
use schema::tables::{DocumentKind, allocations, open_item_moves, tax_facts};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use std::collections::{HashMap, HashSet};
use words::exact::{Coin, Exact, TooLarge};
use words::sown::{Fault, sown};

/// What may count when it is settled.
pub(super) const KINDS: [DocumentKind; 4] =
    [DocumentKind::SalesInvoice, DocumentKind::CreditNote, DocumentKind::PurchaseInvoice, DocumentKind::DebitNote];

/// So many documents are asked for by name.
const FEW: usize = 1_000;

/// What a part of a document comes to.
pub(crate) type Figures = [Money; 3];

/// A part of a document, as it is shared.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    pub(super) figures: Figures,
    /// Which of its figures the other side pays.
    pub(super) paid: [bool; 3],
    /// Whether its first figure may take an odd coin.
    pub(super) leads: bool,
}

/// A settlement of a document: how much, and whether it counts or lapses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Settlement {
    pub(super) amount: Money,
    pub(super) counts: bool,
}

/// The coin of the company's currency.
pub(super) fn coin(cx: &Cx<'_>) -> Result<Coin> {
    let business = cx.business()?;
    Ok(Coin { decimals: business.currency_decimals, rounding: business.settings.rounding_mode.rounding() })
}

fn share(amount: Money, settled: Money, of: Money, coin: Coin) -> Result<Money, TooLarge> {
    if settled == of { Ok(amount) } else { Exact::from(amount).times(settled)?.over(of)?.round(coin) }
}

fn paid(parts: &[Part], figures: &[Figures]) -> Result<Money, TooLarge> {
    let of_part = |(part, figures): (&Part, &Figures)| {
        let pays = part.paid;
        figures.iter().copied().zip(pays).filter(|(_, pays)| *pays).map(|(figure, _)| figure).collect::<Vec<_>>()
    };
    Money::sum(parts.iter().zip(figures).flat_map(of_part))
}

/// What of a document counts after its settlements, part by part.
pub(super) fn due(
    parts: &[Part],
    whole: Money,
    settlements: &[Settlement],
    coin: Coin,
) -> Result<Vec<Figures>, TooLarge> {
    let mut left: Vec<Figures> = parts.iter().map(|part| part.figures).collect();
    if sown(Fault::CashCountsWhenInvoiced) {
        return Ok(left);
    }
    let mut due = vec![[Money::ZERO; 3]; parts.len()];
    let mut open = whole;
    for settlement in settlements {
        let settled = Ord::min(settlement.amount, open);
        if settled <= Money::ZERO {
            continue;
        }
        let wanted = share(paid(parts, &left)?, settled, open, coin)?;
        let mut taken = Vec::with_capacity(left.len());
        for figures in &left {
            let [first, second, third] = figures.map(|figure| share(figure, settled, open, coin));
            taken.push([first?, second?, third?]);
        }
        // Bases and charged taxes add up to what was settled: the largest base takes the odd coin.
        let odd = wanted.minus(paid(parts, &taken)?)?;
        let size = |place: &usize| taken.get(*place).map(|[base, ..]| base.units().abs());
        let largest = (0..parts.len()).filter(|place| parts[*place].leads).max_by_key(size);
        if let Some([base, ..]) = largest.and_then(|place| taken.get_mut(place)) {
            *base = base.plus(odd)?;
        }
        for ((left, due), taken) in left.iter_mut().zip(&mut due).zip(taken) {
            for ((left, due), taken) in left.iter_mut().zip(due).zip(taken) {
                *left = left.minus(taken)?;
                if settlement.counts || sown(Fault::LapsedIsDue) {
                    *due = due.plus(taken)?;
                }
            }
        }
        open = open.minus(settled)?;
    }
    Ok(due)
}

/// What happened to what documents left open.
pub(super) struct History {
    moves: HashMap<RecordId, Vec<open_item_moves::Model>>,
    /// What an allocation takes off its target without reducing the tax.
    lapses: HashMap<RecordId, (RecordId, Money)>,
}

impl History {
    /// Of these documents, up to the end of a day.
    pub(super) async fn of(cx: &Cx<'_>, documents: &HashSet<RecordId>, to: Option<Day>, point: Point) -> Result<Self> {
        let business = cx.business_id()?;
        let mut moves = open_item_moves::Entity::find()
            .filter(open_item_moves::Column::BusinessId.eq(business))
            .order_by_asc(open_item_moves::Column::Date)
            .order_by_asc(open_item_moves::Column::RecordedAt)
            .order_by_asc(open_item_moves::Column::Id);
        if let Some(to) = to {
            moves = moves.filter(open_item_moves::Column::Date.lte(to));
        }
        let few = documents.len() <= FEW;
        if few {
            moves = moves.filter(open_item_moves::Column::DocumentId.is_in(documents.iter().copied()));
        }
        if let Some(at) = point.known_at {
            moves = moves.filter(open_item_moves::Column::RecordedAt.lte(at));
        }
        let mut found = Self { moves: HashMap::new(), lapses: HashMap::new() };
        for moved in moves.all(&cx.db).await? {
            if documents.contains(&moved.document_id) {
                found.moves.entry(moved.document_id).or_default().push(moved);
            }
        }
        let reduced = reduced(cx, documents, to, point).await?;
        let mut all = allocations::Entity::find().filter(allocations::Column::BusinessId.eq(business));
        if few {
            all = all.filter(allocations::Column::TargetDocumentId.is_in(documents.iter().copied()));
        }
        for row in all.all(&cx.db).await? {
            if !documents.contains(&row.target_document_id) {
                continue;
            }
            let entry = row.entry.as_ref().map(|entry| entry.0.number);
            let lapses = |amount: Money, origin| {
                let reduces = entry.is_some_and(|entry| reduced.contains(&(entry, origin)));
                if reduces { Money::ZERO } else { amount }
            };
            let lapsed = lapses(row.discount, TaxOrigin::Discount).plus(lapses(row.write_off, TaxOrigin::WriteOff));
            found.lapses.insert(row.id, (row.target_document_id, lapsed.map_err(too_large)?));
        }
        Ok(found)
    }

    /// The days on which something happened to a document.
    pub(super) fn days(&self, document: RecordId) -> impl Iterator<Item = Day> + '_ {
        self.moves.get(&document).into_iter().flatten().map(|moved| moved.date)
    }

    /// How a document was settled by the end of a day, and what it was open by then.
    pub(super) fn settlements(&self, document: RecordId, day: Day) -> Result<(Money, Vec<Settlement>)> {
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

pub(super) fn too_large(_: TooLarge) -> Error {
    Error::too_large()
}

/// Entries of settlements that reduced tax, by what they took off.
async fn reduced(
    cx: &Cx<'_>,
    documents: &HashSet<RecordId>,
    to: Option<Day>,
    point: Point,
) -> Result<HashSet<(i64, TaxOrigin)>> {
    let mut facts = tax_facts::Entity::find()
        .select_only()
        .columns([tax_facts::Column::EntryNumber, tax_facts::Column::Origin])
        .filter(tax_facts::Column::BusinessId.eq(cx.business_id()?))
        .filter(tax_facts::Column::SettlesId.is_not_null());
    if documents.len() <= FEW {
        facts = facts.filter(tax_facts::Column::SettlesId.is_in(documents.iter().copied()));
    }
    if let Some(to) = to {
        facts = facts.filter(tax_facts::Column::Date.lte(to));
    }
    if let Some(known) = last_known(cx, point).await? {
        facts = facts.filter(tax_facts::Column::EntryNumber.lte(known));
    }
    let found: Vec<(i64, TaxOrigin)> = facts.distinct().into_tuple().all(&cx.db).await?;
    Ok(found.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::Rounding;

    fn money(cents: i64) -> Money {
        Money::from_units(cents * 100)
    }

    fn part(base: i64, tax: i64) -> Part {
        Part { figures: [money(base), money(tax), Money::ZERO], paid: [true; 3], leads: true }
    }

    #[test]
    fn what_counts_is_the_share_that_is_settled() {
        let counts = |cents: i64| Settlement { amount: money(cents), counts: true };
        let lapses = |cents: i64| Settlement { amount: money(cents), counts: false };
        let coin = Coin { decimals: 2, rounding: Rounding::HalfUp };
        for (name, parts, whole, settlements, expected) in [
            ("2.12, April", vec![part(100_000, 19_000)], 119_000, vec![counts(59_500)], vec![(50_000, 9_500)]),
            (
                "2.12, all of it",
                vec![part(100_000, 19_000)],
                119_000,
                vec![counts(59_500), counts(23_800), counts(35_700)],
                vec![(100_000, 19_000)],
            ),
            (
                "2.17, a part and what was written off",
                vec![part(100_000, 19_000)],
                119_000,
                vec![counts(69_000), lapses(50_000)],
                vec![(57_983, 11_017)],
            ),
            (
                "a discount that reduces no tax",
                vec![part(100_000, 19_000)],
                119_000,
                vec![counts(116_620), lapses(2_380)],
                vec![(98_000, 18_620)],
            ),
            (
                "J4, shares in turn",
                vec![part(100_000, 20_000)],
                120_000,
                vec![counts(50_000), counts(33_333)],
                vec![(69_444, 13_889)],
            ),
            (
                "the largest base takes the odd coin",
                vec![part(3_333, 0), part(3_333, 0), part(3_334, 0)],
                10_000,
                vec![counts(100)],
                vec![(33, 0), (33, 0), (34, 0)],
            ),
            ("nothing", vec![part(100, 19)], 119, vec![], vec![(0, 0)]),
        ] {
            let due = due(&parts, money(whole), &settlements, coin).unwrap();
            let due: Vec<(i64, i64)> =
                due.into_iter().map(|[base, tax, _]| (base.units() / 100, tax.units() / 100)).collect();
            assert_eq!(due, expected, "{name}");
        }
    }

    #[test]
    fn amounts_of_trillions_are_shared_like_small_ones() {
        let large = Money::from_units(4_000_000_000_000_000_000);
        let quarter = Money::from_units(1_000_000_000_000_000_000);
        let coin = Coin { decimals: 0, rounding: Rounding::HalfUp };
        assert_eq!(share(large, quarter, large, coin), Ok(quarter));
    }
}
