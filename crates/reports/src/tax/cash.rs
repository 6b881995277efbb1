//! Tax on cash basis: of each document, what counts by a day is the share of it that is settled by then.
//!
//! What a settlement takes off without reducing the tax lapses: nobody owes tax on money that never came. A reverse charge,
//! journals and direct lines always count when they are written.

use super::super::asked::{Asked, TaxBasis};
use super::super::settled::{Figures, History, KINDS, Part, coin, due, too_large};
use super::facts::Sum;
use crate::day::Day;
use crate::error::Result;
use crate::ids::RecordId;
use crate::money::Money;
use books::balances::last_known;
use books::cx::{Cx, Point};
use rules::tax::TaxKind;
use rules::tax::facts::{TaxDuty, TaxOrigin, TaxSide};
use schema::business::BusinessSettings;
use schema::tables::{entries, tax_facts};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use words::exact::Coin;

/// The basis on which a document of a day counts: as it is asked for, else as the company has it on that day.
fn is_cash(asked: Option<TaxBasis>, settings: &BusinessSettings, side: TaxSide, day: Day) -> bool {
    let basis = asked.unwrap_or_else(|| settings.tax_basis_on(day));
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

/// A row of a document, as it stands on a day.
#[derive(Debug, Clone)]
struct Row {
    /// The first fact that says it.
    fact: tax_facts::Model,
    part: Part,
}

impl Known {
    /// What becomes due of a document day by day, each share as a fact of its day.
    fn shares(&self, document: RecordId, asked: &Asked, found: &mut Vec<tax_facts::Model>) -> Result<()> {
        let facts = self.facts.get(&document).map_or(&[][..], Vec::as_slice);
        let mut days: BTreeSet<Day> = facts.iter().map(|fact| fact.date).collect();
        days.extend(self.history.days(document));
        let mut before: HashMap<(i64, i64), Figures> = HashMap::new();
        for day in days.into_iter().filter(|day| *day <= asked.span.to) {
            for (row, figures) in self.due_of(document, day)? {
                let known = before.entry((row.fact.entry_number, row.fact.place)).or_insert([Money::ZERO; 3]);
                let [base, tax, not_recoverable] = [0, 1, 2].map(|place: usize| figures[place].minus(known[place]));
                let share = [base, tax, not_recoverable].into_iter().collect::<Result<Vec<Money>, _>>();
                let share = share.map_err(too_large)?;
                *known = figures;
                let counts =
                    asked.span.from.is_none_or(|from| day >= from) && share.iter().any(|one| *one != Money::ZERO);
                if let ([home_base, home_tax, not_recoverable], true) = (share.as_slice(), counts) {
                    found.push(tax_facts::Model {
                        date: day,
                        home_base: *home_base,
                        home_tax: *home_tax,
                        not_recoverable: *not_recoverable,
                        ..row.fact
                    });
                }
            }
        }
        Ok(())
    }
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
        known.shares(*document, asked, &mut found)?;
    }
    found.retain(|fact| asked.tax_code.is_none_or(|code| fact.tax_code_id == Some(code)));
    found.sort_by_key(|fact| (fact.date, fact.entry_number, fact.place));
    Ok(found)
}

/// Only these documents, where they are few.
type Only<'d> = Option<&'d [RecordId]>;

/// Everything that is known of documents that may count by what is settled.
struct Known {
    facts: HashMap<RecordId, Vec<tax_facts::Model>>,
    history: History,
    coin: Coin,
}

impl Known {
    async fn of(cx: &Cx<'_>, basis: Option<TaxBasis>, to: Option<Day>, point: Point, only: Only<'_>) -> Result<Self> {
        let business = cx.business()?;
        let mut facts = tax_facts::Entity::find()
            .filter(tax_facts::Column::BusinessId.eq(business.id))
            .filter(tax_facts::Column::Origin.is_in([TaxOrigin::Document, TaxOrigin::Opening]))
            .filter(tax_facts::Column::DocumentKind.is_in(KINDS))
            .filter(tax_facts::Column::SettlesId.is_null())
            .order_by_asc(tax_facts::Column::EntryNumber)
            .order_by_asc(tax_facts::Column::Place);
        if let Some(to) = to {
            facts = facts.filter(tax_facts::Column::Date.lte(to));
        }
        if let Some(documents) = only {
            facts = facts.filter(tax_facts::Column::DocumentId.is_in(documents.iter().copied()));
        }
        if let Some(known) = last_known(cx, point).await? {
            facts = facts.filter(tax_facts::Column::EntryNumber.lte(known));
        }
        let facts: Vec<tax_facts::Model> =
            facts.all(&cx.db).await?.into_iter().filter(|fact| fact.kind != Some(TaxKind::ReverseCharge)).collect();
        let origins = origins(cx, &facts).await?;
        let mut by_document: HashMap<RecordId, Vec<tax_facts::Model>> = HashMap::new();
        for fact in facts {
            // What takes back has the basis of what it takes back, whatever is in force by then.
            let day = fact.takes_back_id.and_then(|id| origins.get(&id).copied()).unwrap_or(fact.date);
            if is_cash(basis, &business.settings, fact.side, day) {
                by_document.entry(fact.document_id).or_default().push(fact);
            }
        }
        let documents: HashSet<RecordId> = by_document.keys().copied().collect();
        Ok(Self { facts: by_document, history: History::of(cx, &documents, to, point).await?, coin: coin(cx)? })
    }

    /// The rows of a document, as they stand at the end of a day.
    fn rows(&self, document: RecordId, day: Day) -> Result<Vec<Row>> {
        let facts = self.facts.get(&document).map_or(&[][..], Vec::as_slice);
        let mut rows: BTreeMap<(Option<RecordId>, Option<RecordId>, TaxDuty, bool), Row> = BTreeMap::new();
        for fact in facts.iter().filter(|fact| fact.date <= day) {
            let key = (fact.line_id, fact.component_id, fact.duty, fact.leads);
            let charged = matches!(fact.kind, Some(TaxKind::Standard | TaxKind::FixedPerUnit));
            let row = rows.entry(key).or_insert_with(|| Row {
                fact: fact.clone(),
                part: Part { figures: [Money::ZERO; 3], paid: [fact.leads, charged, charged], leads: fact.leads },
            });
            let figures = [fact.home_base, fact.home_tax, fact.not_recoverable];
            for (sum, figure) in row.part.figures.iter_mut().zip(figures) {
                *sum = sum.plus(figure).map_err(too_large)?;
            }
        }
        Ok(rows.into_values().collect())
    }

    /// What of a document counts by the end of a day, row by row.
    fn due_of(&self, document: RecordId, day: Day) -> Result<Vec<(Row, Figures)>> {
        let rows = self.rows(document, day)?;
        let (whole, settlements) = self.history.settlements(document, day)?;
        let parts: Vec<Part> = rows.iter().map(|row| row.part).collect();
        // What leaves nothing open counts when it is written.
        let due = if whole == Money::ZERO {
            parts.iter().map(|part| part.figures).collect()
        } else {
            due(&parts, whole, &settlements, self.coin).map_err(too_large)?
        };
        Ok(rows.into_iter().zip(due).collect())
    }

    /// What of all documents counts by the end of a day.
    fn due(&self, day: Day, sign: i64, sums: &mut Vec<Sum>) -> Result<()> {
        for document in self.facts.keys() {
            for (row, figures) in self.due_of(*document, day)? {
                let [base, tax, not_recoverable] = figures.map(|figure| sign * figure.units());
                sums.push(Sum { base, tax, not_recoverable, ..like(&row.fact) });
            }
        }
        Ok(())
    }
}

/// What is due of some documents, as if all of them were on cash basis: what the proof holds against their settlements.
pub struct CashDue(Known);

impl CashDue {
    pub async fn of(cx: &Cx<'_>, documents: &[RecordId]) -> Result<Self> {
        Ok(Self(Known::of(cx, Some(TaxBasis::Cash), None, Point::default(), Some(documents)).await?))
    }

    /// What of a document is due by the end of a day: base, tax and what cannot be claimed, of all its rows.
    pub fn by(&self, document: RecordId, day: Day) -> Result<Figures> {
        let mut sums = [Money::ZERO; 3];
        for (_, figures) in self.0.due_of(document, day)? {
            for (sum, figure) in sums.iter_mut().zip(figures) {
                *sum = sum.plus(figure).map_err(too_large)?;
            }
        }
        Ok(sums)
    }
}

/// The days for which what was taken back counted, by the entries that did.
async fn origins(cx: &Cx<'_>, facts: &[tax_facts::Model]) -> Result<HashMap<RecordId, Day>> {
    let taken: HashSet<RecordId> = facts.iter().filter_map(|fact| fact.takes_back_id).collect();
    let taken: Vec<RecordId> = taken.into_iter().collect();
    let mut origins = HashMap::new();
    for ids in taken.chunks(500) {
        let entries: Vec<(i64, RecordId)> = entries::Entity::find()
            .select_only()
            .columns([entries::Column::Number, entries::Column::Id])
            .filter(entries::Column::BusinessId.eq(cx.business_id()?))
            .filter(entries::Column::Id.is_in(ids.iter().copied()))
            .into_tuple()
            .all(&cx.db)
            .await?;
        let days: Vec<(i64, Day)> = tax_facts::Entity::find()
            .select_only()
            .columns([tax_facts::Column::EntryNumber, tax_facts::Column::Date])
            .filter(tax_facts::Column::BusinessId.eq(cx.business_id()?))
            .filter(tax_facts::Column::EntryNumber.is_in(entries.iter().map(|(number, _)| *number)))
            .distinct()
            .into_tuple()
            .all(&cx.db)
            .await?;
        let days: HashMap<i64, Day> = days.into_iter().collect();
        origins.extend(entries.into_iter().filter_map(|(number, id)| Some((id, *days.get(&number)?))));
    }
    Ok(origins)
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
    known.due(asked.span.to, 1, &mut sums)?;
    if let Some(from) = asked.span.from {
        known.due(from.previous(), -1, &mut sums)?;
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
