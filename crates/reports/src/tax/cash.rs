//! Tax on cash basis, as reports ask for it: what counts in their days, summed up and fact by fact.

use super::super::asked::{Asked, TaxBasis};
use super::super::settled::{Figures, too_large};
use super::facts::Sum;
use crate::day::Day;
use crate::error::Result;
use crate::ids::RecordId;
use crate::money::BookMoney;
use books::cash::{Known, Row};
use books::cx::{Cx, Point};
use rules::tax::facts::TaxOrigin;
use schema::business::BusinessSettings;
use schema::tables::tax_facts;
use std::collections::{BTreeSet, HashMap, HashSet};
use words::sown::{Fault, sown};

/// Whether anything may count by what is settled.
pub(super) fn is_asked(asked: &Asked, settings: &BusinessSettings) -> bool {
    match asked.tax_basis {
        Some(basis) => basis != TaxBasis::Invoice,
        None => settings.tax_basis.iter().any(|from| from.basis != TaxBasis::Invoice),
    }
}

/// What a row is called, whatever the day.
fn known_as(row: &Row<'_>) -> (i64, i64) {
    if sown(Fault::RowIsItsFact) { (row.fact.entry_number, row.fact.place) } else { row.name }
}

/// What becomes due of a document day by day, each share as a fact of its day.
fn shares(known: &Known, document: RecordId, asked: &Asked, found: &mut Vec<tax_facts::Model>) -> Result<()> {
    let facts = known.facts.get(&document).map_or(&[][..], Vec::as_slice);
    let mut days: BTreeSet<Day> = facts.iter().map(|fact| fact.date).collect();
    days.extend(known.history.days(document));
    let mut before: HashMap<(i64, i64), Figures> = HashMap::new();
    for day in days.into_iter().filter(|day| *day <= asked.span.to) {
        for (row, figures) in known.due_of(document, day)? {
            let counted = before.entry(known_as(&row)).or_insert([BookMoney::ZERO; 3]);
            let [base, tax, not_recoverable] = [0, 1, 2].map(|place: usize| figures[place].minus(counted[place]));
            let share = [base, tax, not_recoverable].into_iter().collect::<Result<Vec<BookMoney>, _>>();
            let share = share.map_err(too_large)?;
            *counted = figures;
            let counts =
                asked.span.from.is_none_or(|from| day >= from) && share.iter().any(|one| *one != BookMoney::ZERO);
            if let ([home_base, home_tax, not_recoverable], true) = (share.as_slice(), counts) {
                found.push(tax_facts::Model {
                    date: day,
                    home_base: *home_base,
                    home_tax: *home_tax,
                    not_recoverable: *not_recoverable,
                    ..row.fact.clone()
                });
            }
        }
    }
    Ok(())
}

/// What counts in these days, fact by fact: `written` are all facts of them. Documents on cash basis have one for each share
/// that becomes due, on its day.
pub(super) async fn detailed(
    cx: &Cx<'_>,
    asked: &Asked,
    written: Vec<tax_facts::Model>,
) -> Result<Vec<tax_facts::Model>> {
    let known = Known::of(cx, asked.tax_basis, Some(asked.span.to), asked.point, None).await?;
    let place = |fact: &tax_facts::Model| (fact.entry_number, fact.place);
    let on_cash: HashSet<(i64, i64)> = known.facts.values().flatten().map(place).collect();
    let mut found: Vec<tax_facts::Model> = written.into_iter().filter(|fact| !on_cash.contains(&place(fact))).collect();
    for document in known.facts.keys() {
        shares(&known, *document, asked, &mut found)?;
    }
    found.retain(|fact| asked.tax_code.is_none_or(|code| fact.tax_code_id == Some(code)));
    found.sort_by_key(|fact| (fact.date, fact.entry_number, fact.place));
    Ok(found)
}

/// What of all documents counts by the end of a day.
fn due(known: &Known, day: Day, sign: i64, sums: &mut Vec<Sum>) -> Result<()> {
    for document in known.facts.keys() {
        for (row, figures) in known.due_of(*document, day)? {
            let [base, tax, not_recoverable] = figures.map(|figure| sign * figure.units());
            sums.push(Sum { base, tax, not_recoverable, ..like(row.fact) });
        }
    }
    Ok(())
}

/// What is due of some documents, as if all of them were on cash basis: what the proof holds against their settlements.
pub struct CashDue(Known);

impl CashDue {
    pub async fn of(cx: &Cx<'_>, documents: &[RecordId]) -> Result<Self> {
        Ok(Self(Known::of(cx, Some(TaxBasis::Cash), None, Point::default(), Some(documents)).await?))
    }

    /// What of a document is due by the end of a day: base, tax and what cannot be claimed, of all its rows.
    pub fn by(&self, document: RecordId, day: Day) -> Result<Figures> {
        let mut sums = [BookMoney::ZERO; 3];
        let own = |row: &Row<'_>| row.fact.origin != TaxOrigin::Credited;
        for (_, figures) in self.0.due_of(document, day)?.into_iter().filter(|(row, _)| own(row)) {
            for (sum, figure) in sums.iter_mut().zip(figures) {
                *sum = sum.plus(figure).map_err(too_large)?;
            }
        }
        Ok(sums)
    }
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
    let known = Known::of(cx, asked.tax_basis, Some(asked.span.to), asked.point, None).await?;
    let mut sums = Vec::new();
    due(&known, asked.span.to, 1, &mut sums)?;
    if let Some(from) = asked.span.from {
        due(&known, from.previous(), -1, &mut sums)?;
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
