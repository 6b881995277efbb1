//! Tax on cash basis: of each document, what counts by a day is the share of it that is settled by then.
//!
//! A share is taken of what is left, settlement by settlement in the order of days, and the last one takes the rest. What a
//! settlement takes off without reducing the tax lapses: nobody owes tax on money that never came. A reverse charge,
//! journals and direct lines always count when they are written.

use super::super::asked::{Asked, TaxBasis};
use super::facts::Sum;
use crate::books::BEFORE_THE_FIRST;
use crate::books::balances::last_known;
use crate::books::tables::{DocumentKind, allocations, open_item_moves, tax_facts};
use crate::cx::Cx;
use crate::day::Day;
use crate::error::Result;
use crate::ids::RecordId;
use crate::resource::business::BusinessSettings;
use crate::resource::tax_code::TaxKind;
use rules::tax::facts::{TaxDuty, TaxOrigin, TaxSide};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use std::collections::{BTreeMap, HashMap, HashSet};

const KINDS: [DocumentKind; 4] =
    [DocumentKind::SalesInvoice, DocumentKind::CreditNote, DocumentKind::PurchaseInvoice, DocumentKind::DebitNote];

/// The basis on which a document of a day counts: as it is asked for, else as the company has it on that day.
fn is_cash(asked: &Asked, settings: &BusinessSettings, side: TaxSide, day: Day) -> bool {
    let basis = asked.tax_basis.unwrap_or_else(|| settings.tax_basis_on(day));
    match basis {
        TaxBasis::Invoice => false,
        TaxBasis::Cash => true,
        TaxBasis::CashSales => side == TaxSide::Sale,
    }
}

/// Whether anything may count by what is settled.
pub(super) fn is_asked(asked: &Asked, settings: &BusinessSettings) -> bool {
    match asked.tax_basis {
        Some(basis) => basis != TaxBasis::Invoice,
        None => settings.tax_basis.iter().any(|from| from.basis != TaxBasis::Invoice),
    }
}

/// What one row of a document comes to: base, tax and what cannot be claimed.
type Figures = [i64; 3];

/// A row of a document, as it stands on a day.
#[derive(Debug, Clone)]
struct Row {
    like: Sum,
    leads: bool,
    figures: Figures,
}

impl Row {
    /// What of it is part of what the other side pays.
    fn paid(&self, figures: Figures) -> i64 {
        let base = if self.leads { figures[0] } else { 0 };
        let charged = matches!(self.like.kind, Some(TaxKind::Standard | TaxKind::FixedPerUnit));
        if charged { base + figures[1] + figures[2] } else { base }
    }
}

/// A settlement of a document: how much, and whether it counts or lapses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Settlement {
    amount: i64,
    counts: bool,
}

/// A part of an amount, to the coin.
fn part(amount: i64, settled: i64, of: i64, coin: i64) -> i64 {
    if settled == of {
        return amount;
    }
    let (product, of) = (i128::from(amount) * i128::from(settled), i128::from(of) * i128::from(coin));
    let (size, half) = (product.abs(), of / 2);
    let coins = (size + half) / of * product.signum();
    i64::try_from(coins * i128::from(coin)).unwrap_or(amount)
}

/// What of a document counts after its settlements, row by row.
fn due(rows: &[Row], whole: i64, settlements: &[Settlement], coin: i64) -> Vec<Figures> {
    let mut left: Vec<Figures> = rows.iter().map(|row| row.figures).collect();
    let mut due = vec![Figures::default(); rows.len()];
    let mut open = whole;
    for settlement in settlements {
        let settled = Ord::min(settlement.amount, open);
        if settled <= 0 {
            continue;
        }
        let paid = |figures: &[Figures]| rows.iter().zip(figures).map(|(row, figures)| row.paid(*figures)).sum::<i64>();
        let wanted = part(paid(&left), settled, open, coin);
        let mut taken: Vec<Figures> =
            left.iter().map(|figures| figures.map(|figure| part(figure, settled, open, coin))).collect();
        // Bases and charged taxes add up to what was settled: the largest base takes the odd coin.
        let odd = wanted - paid(&taken);
        let largest = (0..rows.len()).filter(|place| rows[*place].leads).max_by_key(|place| taken[*place][0].abs());
        if let Some(place) = largest {
            taken[place][0] += odd;
        }
        for ((left, due), taken) in left.iter_mut().zip(&mut due).zip(&taken) {
            for column in 0..3 {
                left[column] -= taken[column];
                if settlement.counts {
                    due[column] += taken[column];
                }
            }
        }
        open -= settled;
    }
    due
}

/// Everything that is known of documents that may count by what is settled.
struct Known {
    facts: HashMap<RecordId, Vec<tax_facts::Model>>,
    moves: HashMap<RecordId, Vec<open_item_moves::Model>>,
    allocations: HashMap<RecordId, allocations::Model>,
    /// Entries of settlements that reduced tax, by what they took off.
    reduced: HashSet<(i64, TaxOrigin)>,
    coin: i64,
}

impl Known {
    async fn of(cx: &Cx<'_>, asked: &Asked) -> Result<Self> {
        let business = cx.business()?;
        let known = last_known(cx, asked.point).await?;
        let mut facts = tax_facts::Entity::find()
            .filter(tax_facts::Column::BusinessId.eq(business.id))
            .filter(tax_facts::Column::Date.lte(asked.span.to))
            .filter(tax_facts::Column::Origin.ne(TaxOrigin::Carry))
            .order_by_asc(tax_facts::Column::EntryNumber)
            .order_by_asc(tax_facts::Column::Place);
        if let Some(known) = known {
            facts = facts.filter(tax_facts::Column::EntryNumber.lte(known));
        }
        let mut found = Self {
            facts: HashMap::new(),
            moves: HashMap::new(),
            allocations: HashMap::new(),
            reduced: HashSet::new(),
            coin: crate::money::Money::smallest(business.currency_decimals).units(),
        };
        for fact in facts.all(&cx.db).await? {
            if fact.settles_id.is_some() {
                found.reduced.insert((fact.entry_number, fact.origin));
            } else if counts_when_settled(&fact) && is_cash(asked, &business.settings, fact.side, fact.date) {
                found.facts.entry(fact.document_id).or_default().push(fact);
            }
        }
        let mut moves = open_item_moves::Entity::find()
            .filter(open_item_moves::Column::BusinessId.eq(business.id))
            .filter(open_item_moves::Column::Date.lte(asked.span.to))
            .order_by_asc(open_item_moves::Column::Date)
            .order_by_asc(open_item_moves::Column::RecordedAt)
            .order_by_asc(open_item_moves::Column::Id);
        if let Some(at) = asked.point.known_at {
            moves = moves.filter(open_item_moves::Column::RecordedAt.lte(at));
        }
        for moved in moves.all(&cx.db).await? {
            if found.facts.contains_key(&moved.document_id) {
                found.moves.entry(moved.document_id).or_default().push(moved);
            }
        }
        let all = allocations::Entity::find().filter(allocations::Column::BusinessId.eq(business.id));
        found.allocations = all.all(&cx.db).await?.into_iter().map(|row| (row.id, row)).collect();
        Ok(found)
    }

    /// How a document was settled by the end of a day, and what it was open by then.
    fn settlements(&self, document: RecordId, day: Day) -> (i64, Vec<Settlement>) {
        let moves = self.moves.get(&document).map_or(&[][..], Vec::as_slice);
        let mut whole = 0;
        let mut by_allocation: Vec<(RecordId, i64)> = Vec::new();
        for moved in moves.iter().filter(|moved| moved.date <= day) {
            match moved.allocation_id {
                None => whole += moved.amount.units(),
                Some(id) => match by_allocation.iter_mut().find(|(known, _)| *known == id) {
                    // One that was taken back settles nothing.
                    Some((_, sum)) => *sum += moved.amount.units(),
                    None => by_allocation.push((id, moved.amount.units())),
                },
            }
        }
        let sign = whole.signum();
        let mut settlements = Vec::new();
        for (id, moved) in by_allocation {
            let settled = -moved * sign;
            let own = self.allocations.get(&id).filter(|one| one.target_document_id == document);
            let lapsed = own.into_iter().map(|one| {
                let entry = one.entry.as_ref().map_or(BEFORE_THE_FIRST, |entry| entry.0.number);
                let lapses = |amount: i64, origin| if self.reduced.contains(&(entry, origin)) { 0 } else { amount };
                lapses(one.discount.units(), TaxOrigin::Discount) + lapses(one.write_off.units(), TaxOrigin::WriteOff)
            });
            let lapsed = Ord::min(lapsed.sum(), settled.max(0));
            settlements.push(Settlement { amount: settled - lapsed, counts: true });
            settlements.push(Settlement { amount: lapsed, counts: false });
        }
        (whole * sign, settlements)
    }

    /// The rows of a document, as they stand at the end of a day.
    fn rows(&self, document: RecordId, day: Day) -> Vec<Row> {
        let facts = self.facts.get(&document).map_or(&[][..], Vec::as_slice);
        let mut rows: BTreeMap<(Option<RecordId>, Option<RecordId>, TaxDuty, bool), Row> = BTreeMap::new();
        for fact in facts.iter().filter(|fact| fact.date <= day) {
            let key = (fact.line_id, fact.component_id, fact.duty, fact.leads);
            let row = rows.entry(key).or_insert_with(|| Row { like: like(fact), leads: fact.leads, figures: [0; 3] });
            row.figures[0] += fact.home_base.units();
            row.figures[1] += fact.home_tax.units();
            row.figures[2] += fact.not_recoverable.units();
        }
        rows.into_values().collect()
    }

    /// What of all documents counts by the end of a day.
    fn due(&self, day: Day, sign: i64, sums: &mut Vec<Sum>) {
        for document in self.facts.keys() {
            let rows = self.rows(*document, day);
            let (whole, settlements) = self.settlements(*document, day);
            // What leaves nothing open counts when it is written.
            let due = if whole == 0 {
                rows.iter().map(|row| row.figures).collect()
            } else {
                due(&rows, whole, &settlements, self.coin)
            };
            for (row, [base, tax, not_recoverable]) in rows.into_iter().zip(due) {
                let figures =
                    Sum { base: sign * base, tax: sign * tax, not_recoverable: sign * not_recoverable, ..row.like };
                sums.push(figures);
            }
        }
    }
}

fn counts_when_settled(fact: &tax_facts::Model) -> bool {
    KINDS.contains(&fact.document_kind)
        && matches!(fact.origin, TaxOrigin::Document | TaxOrigin::Opening)
        && fact.kind != Some(TaxKind::ReverseCharge)
}

fn like(fact: &tax_facts::Model) -> Sum {
    Sum {
        tax_code_id: fact.tax_code_id,
        component_id: fact.component_id,
        component: fact.component.clone(),
        side: fact.side,
        duty: fact.duty,
        origin: fact.origin,
        kind: fact.kind,
        leads: fact.leads,
        base_box: fact.base_box.clone(),
        tax_box: fact.tax_box.clone(),
        base: 0,
        tax: 0,
        not_recoverable: 0,
    }
}

/// What of the documents on cash basis counts in these days: what counts by the last, less what did before the first. What
/// was written of them in these days is answered beside, so that it does not count as well.
pub(super) async fn counted(cx: &Cx<'_>, asked: &Asked) -> Result<(Vec<Sum>, Vec<Sum>)> {
    let known = Known::of(cx, asked).await?;
    let mut sums = Vec::new();
    known.due(asked.span.to, 1, &mut sums);
    if let Some(from) = asked.span.from {
        known.due(from.previous(), -1, &mut sums);
    }
    let in_span = |fact: &&tax_facts::Model| {
        fact.origin != TaxOrigin::Opening && asked.span.from.is_none_or(|from| fact.date >= from)
    };
    let written = known.facts.values().flatten().filter(in_span).map(|fact| Sum {
        base: -fact.home_base.units(),
        tax: -fact.home_tax.units(),
        not_recoverable: -fact.not_recoverable.units(),
        ..like(fact)
    });
    let written = written.collect();
    let narrow = |sums: Vec<Sum>| match asked.tax_code {
        Some(code) => sums.into_iter().filter(|sum| sum.tax_code_id == Some(code)).collect(),
        None => sums,
    };
    Ok((narrow(sums), narrow(written)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(base: i64, tax: i64) -> Row {
        let like = Sum {
            tax_code_id: None,
            component_id: None,
            component: None,
            side: TaxSide::Sale,
            duty: TaxDuty::Owed,
            origin: TaxOrigin::Document,
            kind: Some(TaxKind::Standard),
            leads: true,
            base_box: None,
            tax_box: None,
            base: 0,
            tax: 0,
            not_recoverable: 0,
        };
        Row { like, leads: true, figures: [base * 100, tax * 100, 0] }
    }

    #[test]
    fn what_counts_is_the_share_that_is_settled() {
        let counts = |amount: i64| Settlement { amount: amount * 100, counts: true };
        let lapses = |amount: i64| Settlement { amount: amount * 100, counts: false };
        for (name, rows, whole, settlements, expected) in [
            ("2.12, April", vec![row(100_000, 19_000)], 119_000, vec![counts(59_500)], vec![(50_000, 9_500)]),
            (
                "2.12, all of it",
                vec![row(100_000, 19_000)],
                119_000,
                vec![counts(59_500), counts(23_800), counts(35_700)],
                vec![(100_000, 19_000)],
            ),
            (
                "2.17, a part and what was written off",
                vec![row(100_000, 19_000)],
                119_000,
                vec![counts(69_000), lapses(50_000)],
                vec![(57_983, 11_017)],
            ),
            (
                "a discount that reduces no tax",
                vec![row(100_000, 19_000)],
                119_000,
                vec![counts(116_620), lapses(2_380)],
                vec![(98_000, 18_620)],
            ),
            (
                "the largest base takes the odd coin",
                vec![row(3_333, 0), row(3_333, 0), row(3_334, 0)],
                10_000,
                vec![counts(100)],
                vec![(33, 0), (33, 0), (34, 0)],
            ),
            ("nothing", vec![row(100, 19)], 119, vec![], vec![(0, 0)]),
        ] {
            let due = due(&rows, whole * 100, &settlements, 100);
            let due: Vec<(i64, i64)> = due.into_iter().map(|[base, tax, _]| (base / 100, tax / 100)).collect();
            assert_eq!(due, expected, "{name}");
        }
    }
}
