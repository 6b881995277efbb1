//! Cash basis: what is due of each document on each day of its settlements, made anew from its allocations.
//!
//! The report goes by what moved the open items. Here it is what documents come to, and what allocations say of them.

use super::super::{Findings, Told, Wide, shown};
use super::Taxed;
use super::carried::{Carried, Odd, What};
use super::taken::Taken;
use crate::day::Day;
use crate::error::Result;
use crate::ids::RecordId;
use crate::money::Rounding;
use answers::Ask;
use schema::reader::Reader;
use schema::tables::TaxKind;
use schema::tables::{DocumentKind, allocations, tax_facts};
use schema::tables::{TaxDuty, TaxOrigin};
use sea_orm::{ColumnTrait, Condition, QueryFilter, QuerySelect};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use words::sums::Sums as _;

/// What is due, what is not yet and what lapsed, beside what was invoiced.
#[derive(Default)]
pub(super) struct Cash {
    pub(super) due: Wide,
    pub(super) invoiced: Wide,
    pub(super) findings: Findings,
    /// What discounts take off otherwise than they should.
    pub(super) taken: Findings,
}

const KINDS: [DocumentKind; 4] =
    [DocumentKind::SalesInvoice, DocumentKind::CreditNote, DocumentKind::PurchaseInvoice, DocumentKind::DebitNote];

/// How amounts are rounded.
#[derive(Clone, Copy)]
pub(super) struct Coin {
    units: Wide,
    rounding: Rounding,
}

impl Coin {
    pub(super) const fn smallest(self) -> Wide {
        self.units
    }

    /// A part of an amount, to the coin.
    pub(super) fn part(self, amount: Wide, part: Wide, of: Wide) -> Wide {
        let (over, under) = ((amount * part).abs(), of * self.units);
        let (whole, rest) = (over / under, over % under);
        let up = match self.rounding {
            Rounding::HalfUp => rest * 2 >= under,
            Rounding::HalfEven => rest * 2 > under || (rest * 2 == under && whole % 2 == 1),
        };
        (whole + Wide::from(up)) * self.units * amount.signum()
    }
}

/// A row of a document: base, tax and what cannot be claimed, and whether base and tax are part of what is paid.
#[derive(Clone, Copy, Default)]
pub(super) struct Row {
    pub(super) left: [Wide; 3],
    pub(super) due: [Wide; 3],
    /// What nobody will ever pay.
    pub(super) lapsed: [Wide; 3],
    /// What of it is in the ledger by then, whatever day it counts for.
    pub(super) written: [Wide; 3],
    pub(super) leads: bool,
    pub(super) charged: bool,
}

impl Row {
    fn paid(&self, figures: [Wide; 3]) -> Wide {
        let [base, tax, rest] = figures;
        (if self.leads { base } else { 0 }) + (if self.charged { tax + rest } else { 0 })
    }
}

/// What of a document is due after settlements of so much, and of so much that lapsed.
pub(super) fn settle(rows: &mut [Row], whole: Wide, settlements: &[(Wide, bool)], coin: Coin) {
    let mut open = whole;
    for (amount, counts) in settlements {
        let settled = *amount.min(&open);
        if settled <= 0 {
            continue;
        }
        let all: Wide = rows.iter().map(|row| row.paid(row.left)).sum();
        let wanted = if settled == open { all } else { coin.part(all, settled, open) };
        let share = |figure: Wide| if settled == open { figure } else { coin.part(figure, settled, open) };
        let mut taken: Vec<[Wide; 3]> = rows.iter().map(|row| row.left.map(share)).collect();
        let odd = wanted - rows.iter().zip(&taken).map(|(row, taken)| row.paid(*taken)).sum::<Wide>();
        let mut largest: Option<usize> = None;
        for (place, row) in rows.iter().enumerate() {
            if row.leads && largest.is_none_or(|known| taken[place][0].abs() >= taken[known][0].abs()) {
                largest = Some(place);
            }
        }
        if let Some(place) = largest {
            taken[place][0] += odd;
        }
        for (row, taken) in rows.iter_mut().zip(taken) {
            for (column, taken) in taken.into_iter().enumerate() {
                row.left[column] -= taken;
                let sum = if *counts { &mut row.due } else { &mut row.lapsed };
                sum[column] += taken;
            }
        }
        open -= settled;
    }
}

impl Cash {
    /// With that of other documents.
    pub(super) fn add(&mut self, other: Self) {
        (self.due, self.invoiced) = (self.due + other.due, self.invoiced + other.invoiced);
        self.findings.add_all(other.findings);
        self.taken.add_all(other.taken);
    }

    /// Compares what is due of some documents. `facts` are what they tell by themselves.
    pub(super) async fn compare(
        &mut self,
        reader: &Reader<'_>,
        told: &dyn Told,
        rows: &[&Taxed],
        facts: &HashMap<RecordId, Vec<&tax_facts::Model>>,
    ) -> Result<()> {
        let rows: Vec<&&Taxed> = rows.iter().filter(|row| KINDS.contains(&row.kind)).collect();
        let ids: Vec<RecordId> = rows.iter().map(|row| row.id).collect();
        if ids.is_empty() {
            return Ok(());
        }
        let company = reader.id();
        let coin = Coin {
            units: Wide::from(crate::money::Money::smallest(reader.decimals()).units()),
            rounding: reader.company().settings.0.rounding_mode.rounding(),
        };
        let of_these = Condition::any()
            .add(allocations::Column::TargetDocumentId.is_in(ids.iter().copied()))
            .add(allocations::Column::SourceDocumentId.is_in(ids.iter().copied()));
        let mut settled: Vec<allocations::Model> = allocations::Entity::find()
            .filter(allocations::Column::BusinessId.eq(company))
            .filter(of_these)
            .models(&reader.db)
            .await?;
        settled.sort_by_key(|one| (one.date, one.created_at, one.id));
        let reduced: Vec<(i64, TaxOrigin)> = tax_facts::Entity::find()
            .select_only()
            .columns([tax_facts::Column::EntryNumber, tax_facts::Column::Origin])
            .filter(tax_facts::Column::BusinessId.eq(company))
            .filter(tax_facts::Column::SettlesId.is_in(ids.iter().copied()))
            .read(&reader.db)
            .await?;
        let reduced: HashSet<(i64, TaxOrigin)> = reduced.into_iter().collect();
        let mut by_document: HashMap<RecordId, Vec<&allocations::Model>> = HashMap::new();
        for one in &settled {
            by_document.entry(one.target_document_id).or_default().push(one);
            if one.source_document_id != one.target_document_id {
                by_document.entry(one.source_document_id).or_default().push(one);
            }
        }
        let of = |row: &Taxed| {
            (facts.get(&row.id).map_or(&[][..], Vec::as_slice), by_document.get(&row.id).map_or(&[][..], Vec::as_slice))
        };
        let days: Vec<BTreeSet<Day>> = rows.iter().map(|row| days(row, of(row))).collect();
        let asked = rows.iter().zip(&days).flat_map(|(row, days)| days.iter().map(|day| (row.id, *day)));
        let told = told.due(&asked.collect::<Vec<_>>()).await?;
        let (carried, taken) = (Carried::of(reader, &ids, facts).await?, Taken::of(reader, &ids).await?);
        for (row, days) in rows.into_iter().zip(days) {
            let (own, settled) = of(row);
            for wrong in taken.compare(row, own, settled, coin) {
                let number = row.number.as_deref().unwrap_or("without a number");
                self.taken.add(format!("{} {number}: {wrong}", row.kind));
            }
            let at_last = days.last().map_or_else(Vec::new, |last| settlements(row, *last, settled, &reduced));
            for Odd { duty, what, found, wanted } in carried.compare(row, own, &at_last, coin) {
                let number = row.number.as_deref().unwrap_or("without a number");
                let (found, wanted) = (shown(found), shown(wanted));
                self.findings.add(match what {
                    What::PutOff => format!(
                        "{} {number}: {found} of its tax that is {duty} waits in the ledger, and {wanted} is not due",
                        row.kind
                    ),
                    What::Waits => format!(
                        "{} {number}: {found} of its tax that is {duty} is left where it waits, and {wanted} may yet be due",
                        row.kind
                    ),
                });
            }
            self.judge(row, (own, settled, &reduced), (days, &told), coin);
        }
        Ok(())
    }

    fn judge(
        &mut self,
        row: &Taxed,
        (facts, settled, reduced): (&[&tax_facts::Model], &[&allocations::Model], &HashSet<(i64, TaxOrigin)>),
        (days, told): (BTreeSet<Day>, &HashMap<(RecordId, Day), Wide>),
        coin: Coin,
    ) {
        let last = days.last().copied();
        for day in days {
            let mut rows: BTreeMap<(Option<RecordId>, Option<RecordId>, TaxDuty, bool), Row> = BTreeMap::new();
            let counting = facts.iter().filter(|fact| fact.kind != Some(TaxKind::ReverseCharge) && fact.date <= day);
            for fact in counting {
                let key = (fact.line_id, fact.component_id, fact.duty, fact.leads);
                let row = rows.entry(key).or_default();
                row.leads = fact.leads;
                row.charged = matches!(fact.kind, Some(TaxKind::Standard | TaxKind::FixedPerUnit));
                let figures = [fact.home_base, fact.home_tax, fact.not_recoverable];
                let written = fact.entry_date <= day;
                for (place, figure) in figures.into_iter().enumerate() {
                    row.left[place] += Wide::from(figure.units());
                    row.written[place] += if written { Wide::from(figure.units()) } else { 0 };
                }
            }
            let mut rows: Vec<Row> = rows.into_values().collect();
            let invoiced: Wide = rows.iter().flat_map(|row| row.left).sum();
            // Before its day nothing of it is open, and nothing counts that is not written; what comes to nothing counts when it is.
            if day >= row.date && row.total.units() != 0 {
                settle(&mut rows, row.total.units().into(), &settlements(row, day, settled, reduced), coin);
            } else {
                for row in &mut rows {
                    row.due = row.written;
                }
            }
            let due: Wide = rows.iter().flat_map(|row| row.due).sum();
            let found = told.sum_of(&(row.id, day));
            if found != due {
                let number = row.number.as_deref().unwrap_or("without a number");
                self.findings.add(format!(
                    "{} {number} on {day}: {} of it is due, and its settlements come to {}",
                    row.kind,
                    shown(found),
                    shown(due)
                ));
            }
            if Some(day) == last {
                self.due += found + invoiced - due;
                self.invoiced += invoiced;
            }
        }
    }
}

/// The days on which something of a document may become due.
fn days(row: &Taxed, (facts, settled): (&[&tax_facts::Model], &[&allocations::Model])) -> BTreeSet<Day> {
    let mut days: BTreeSet<Day> = BTreeSet::from([row.date]);
    days.extend(settled.iter().flat_map(|one| [Some(one.date), one.removed_on]).flatten());
    days.extend(facts.iter().map(|fact| fact.date));
    days
}

/// How a document was settled by the end of a day: how much, and whether that counts.
fn settlements(
    row: &Taxed,
    day: Day,
    settled: &[&allocations::Model],
    reduced: &HashSet<(i64, TaxOrigin)>,
) -> Vec<(Wide, bool)> {
    let mut found = Vec::new();
    for one in settled.iter().filter(|one| one.date <= day && one.removed_on.is_none_or(|gone| gone > day)) {
        if one.target_document_id != row.id {
            found.push((one.source_amount.units().into(), true));
            continue;
        }
        let (mut counts, mut lapsed) = (Wide::from(one.amount.units()) + Wide::from(one.withheld.units()), 0);
        for (off, origin) in [(one.discount, TaxOrigin::Discount), (one.write_off, TaxOrigin::WriteOff)] {
            let reduces = one.entry.as_ref().is_some_and(|entry| reduced.contains(&(entry.0.number, origin)));
            *(if reduces { &mut counts } else { &mut lapsed }) += Wide::from(off.units());
        }
        found.extend([(counts, true), (lapsed, false)]);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_taken_in_turn() {
        let coin = Coin { units: 100, rounding: Rounding::HalfUp };
        for (name, settlements, wanted) in [
            ("2.12, April", vec![(59_500, true)], [50_000, 9_500]),
            ("2.17", vec![(69_000, true), (50_000, false)], [57_983, 11_017]),
            ("a discount that reduces no tax", vec![(116_620, true), (2_380, false)], [98_000, 18_620]),
            ("all of it, and more", vec![(59_500, true), (80_000, true)], [100_000, 19_000]),
            ("nothing", vec![(0, true)], [0, 0]),
        ] {
            let mut rows = [Row { left: [10_000_000, 1_900_000, 0], leads: true, charged: true, ..Row::default() }];
            let settlements: Vec<(Wide, bool)> =
                settlements.into_iter().map(|(cents, counts): (Wide, bool)| (cents * 100, counts)).collect();
            settle(&mut rows, 11_900_000, &settlements, coin);
            assert_eq!(rows[0].due.map(|units| units / 100)[..2], wanted, "{name}");
            let [all, left] = [rows[0].due[1] + rows[0].lapsed[1] + rows[0].left[1], rows[0].left[1]];
            let settled: Wide = settlements.iter().map(|(units, _)| units).sum();
            assert_eq!(
                (all, left == 0),
                (1_900_000, settled >= 11_900_000),
                "{name}: of all, nothing is left of what is settled"
            );
        }
    }
}
