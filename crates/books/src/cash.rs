//! Tax on cash basis: of each document, what counts by a day is the share of it that is settled by then.
//!
//! Owns: which documents are on it, what their rows are, and what of these counts on a day. What a settlement takes off
//! without reducing the tax lapses: nobody owes tax on money that never came. A reverse charge, journals and direct lines
//! always count when they are written.

use crate::balances::last_known;
use crate::cx::{Cx, Point};
use crate::day::Day;
use crate::error::Result;
use crate::ids::RecordId;
use crate::money::{BookMoney, Money};
use crate::periods::Module;
use crate::settled::{History, KINDS, too_large};
use answers::Ask;
use rules::tax::due::{Figures, Part, due, lapsed};
use rules::tax::facts::{TaxDuty, TaxOrigin, TaxSide};
use rules::tax::{TaxBasis, TaxKind};
use schema::business::BusinessSettings;
use schema::tables::{allocations, entries, facts_of, tax_facts};
use sea_orm::{ColumnTrait, Condition, QueryFilter, QueryOrder, QuerySelect};
use std::collections::{BTreeMap, HashMap, HashSet};
use words::exact::BookCoin;
use words::sown::{Fault, sown};

/// The basis on which a document of a day counts: as it is asked for, else as the company has it on that day.
fn is_cash(asked: Option<TaxBasis>, settings: &BusinessSettings, side: TaxSide, day: Day) -> bool {
    let basis = asked.unwrap_or_else(|| settings.tax_basis_on(day));
    match basis {
        TaxBasis::Invoice => false,
        TaxBasis::Cash => true,
        TaxBasis::CashSales => side == TaxSide::Sale,
    }
}

/// A row of a document, as it stands on a day.
#[derive(Debug, Clone)]
pub struct Row<'f> {
    /// What it is called on every day: the entry and the place of the first fact that ever said it.
    pub name: (i64, i64),
    /// The first fact that says it by then.
    pub fact: &'f tax_facts::Model,
    pub part: Part,
    /// What of it is in the ledger by then, whatever day it counts for.
    pub written: Figures,
    /// Whether anything of it is.
    pub is_written: bool,
}

impl Row<'_> {
    /// Whether any version of its document wrote it by the end of a day.
    pub fn is_there(&self, day: Day) -> bool {
        if sown(Fault::WaitsForItsFirstVersion) { self.fact.entry_date <= day } else { self.is_written }
    }
}

/// What tells rows of a document apart: whether it was given back, its line, its component, its duty and whether it leads.
type Apart = (bool, Option<RecordId>, Option<RecordId>, TaxDuty, bool);

/// Whether two facts of a row say the same but for their figures and their days. A document that is written anew may say
/// something else: another rate, another party; that is a row of its own.
fn says_the_same(one: &tax_facts::Model, other: &tax_facts::Model) -> bool {
    let of_code = |fact: &tax_facts::Model| (fact.tax_code_id, fact.kind, fact.rate, fact.account_id);
    let of_party = |fact: &tax_facts::Model| fact.party_id;
    let texts = [one, other].map(|fact| {
        [&fact.component, &fact.category, &fact.base_box, &fact.tax_box, &fact.party_tax_number, &fact.country]
    });
    (of_code(one), of_party(one)) == (of_code(other), of_party(other)) && texts[0] == texts[1]
}

/// What a document ever said of a row, and what it comes to by a day.
struct Said<'f> {
    first: &'f tax_facts::Model,
    by_then: Option<&'f tax_facts::Model>,
    figures: Figures,
    written: Figures,
    is_written: bool,
}

impl<'f> Said<'f> {
    /// The row, if anything was said of it by then.
    fn row(self) -> Option<Row<'f>> {
        let fact = self.by_then?;
        // What a note gives back of a discount counts in the shares in which the note does, and is no part of what it pays.
        let own = fact.origin != TaxOrigin::Credited;
        let charged = own && matches!(fact.kind, Some(TaxKind::Standard | TaxKind::FixedPerUnit));
        let paid = [own && fact.leads, charged, charged];
        // What was taken back whole takes no odd coin.
        let leads = own && fact.leads && self.figures != [BookMoney::ZERO; 3];
        let part = Part { figures: self.figures, paid, leads };
        Some(Row {
            name: (self.first.entry_number, self.first.place),
            fact,
            part,
            written: self.written,
            is_written: self.is_written,
        })
    }
}

/// Only these documents, where they are few.
pub type Only<'d> = Option<&'d [RecordId]>;

/// Everything that is known of documents that may count by what is settled.
pub struct Known {
    pub facts: HashMap<RecordId, Vec<tax_facts::Model>>,
    pub history: History,
    coin: BookCoin,
}

impl Known {
    pub async fn of(
        cx: &Cx<'_>,
        basis: Option<TaxBasis>,
        to: Option<Day>,
        point: Point,
        only: Only<'_>,
    ) -> Result<Self> {
        let business = cx.business()?;
        let own = Condition::all()
            .add(tax_facts::Column::SettlesId.is_null())
            .add(tax_facts::Column::Origin.is_in([TaxOrigin::Document, TaxOrigin::Opening]));
        let mut facts = tax_facts::Entity::find()
            .filter(tax_facts::Column::BusinessId.eq(business.id))
            .filter(tax_facts::Column::DocumentKind.is_in(KINDS))
            .filter(Condition::any().add(own).add(tax_facts::Column::Origin.eq(TaxOrigin::Credited)))
            .order_by_asc(tax_facts::Column::EntryNumber)
            .order_by_asc(tax_facts::Column::Place);
        if let Some(to) = to {
            facts = facts.filter(tax_facts::Column::Date.lte(to));
        }
        if let Some(documents) = only {
            let documents = entries::Column::DocumentId.is_in(documents.iter().copied());
            facts = facts.filter(facts_of(business.id, documents));
        }
        if let Some(known) = last_known(cx, point).await? {
            facts = facts.filter(tax_facts::Column::EntryNumber.lte(known));
        }
        let facts: Vec<tax_facts::Model> =
            facts.models(&cx.db).await?.into_iter().filter(|fact| fact.kind != Some(TaxKind::ReverseCharge)).collect();
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
        Ok(Self { facts: by_document, history: History::of(cx, &documents, to, point).await?, coin: business.coin() })
    }

    /// The rows of a document, as they stand at the end of a day.
    pub fn rows(&self, document: RecordId, day: Day) -> Result<Vec<Row<'_>>> {
        let facts = self.facts.get(&document).map_or(&[][..], Vec::as_slice);
        let mut rows: BTreeMap<Apart, Vec<Said<'_>>> = BTreeMap::new();
        for fact in facts {
            let key = (fact.origin == TaxOrigin::Credited, fact.line_id, fact.component_id, fact.duty, fact.leads);
            let rows = rows.entry(key).or_default();
            let place = rows.iter().position(|row| says_the_same(row.first, fact)).unwrap_or(rows.len());
            if place == rows.len() {
                let [figures, written] = [[BookMoney::ZERO; 3]; 2];
                rows.push(Said { first: fact, by_then: None, figures, written, is_written: false });
            }
            if let Some(said) = rows.get_mut(place).filter(|_| fact.date <= day) {
                said.by_then.get_or_insert(fact);
                let figures = [fact.home_base, fact.home_tax, fact.not_recoverable];
                let is_written = fact.entry_date <= day || sown(Fault::CountsBeforeItIsWritten);
                said.is_written |= is_written;
                for (place, figure) in figures.into_iter().enumerate() {
                    said.figures[place] = said.figures[place].plus(figure).map_err(too_large)?;
                    if is_written {
                        said.written[place] = said.written[place].plus(figure).map_err(too_large)?;
                    }
                }
            }
        }
        Ok(rows.into_values().flatten().filter_map(Said::row).collect())
    }

    /// What of a document counts by the end of a day, row by row.
    pub fn due_of(&self, document: RecordId, day: Day) -> Result<Vec<(Row<'_>, Figures)>> {
        let rows = self.rows(document, day)?;
        let (whole, settlements) = self.history.settlements(document, day)?;
        let parts: Vec<Part> = rows.iter().map(|row| row.part).collect();
        // What leaves nothing open counts when it is written; what is not written yet, whose tax may be of a day before, does not.
        let due = if whole == Money::ZERO {
            rows.iter().map(|row| row.written).collect()
        } else {
            due(&parts, whole, &settlements, self.coin).map_err(too_large)?
        };
        Ok(rows.into_iter().zip(due).collect())
    }

    /// What of a document lapsed by the end of a day, row by row, by the accounts of what was let go or given away.
    pub fn lapsed_of(&self, document: RecordId, day: Day) -> Result<Vec<(RecordId, Row<'_>, Figures)>> {
        let (whole, settlements) = self.history.settlements(document, day)?;
        if whole == Money::ZERO {
            return Ok(Vec::new());
        }
        let rows = self.rows(document, day)?;
        let parts: Vec<Part> = rows.iter().map(|row| row.part).collect();
        let lapsed = lapsed(&parts, whole, &settlements, self.coin).map_err(too_large)?;
        let of_account = |(account, figures): (RecordId, Vec<Figures>)| {
            rows.iter().cloned().zip(figures).map(move |(row, figures)| (account, row, figures)).collect::<Vec<_>>()
        };
        Ok(lapsed.into_iter().flat_map(of_account).collect())
    }
}

/// The parts of the books that tell of these documents as far as they are settled: a return of their days changes when they
/// are settled, or no longer.
pub async fn modules(cx: &Cx<'_>, documents: &[RecordId]) -> Result<Vec<Module>> {
    if !may_wait(cx)? {
        return Ok(Vec::new());
    }
    cx.flush().await?;
    let known = Known::of(cx, None, None, Point::default(), Some(documents)).await?;
    let mut modules: Vec<Module> = Vec::new();
    for fact in known.facts.values().flatten() {
        let module = module(fact.side);
        if !modules.contains(&module) {
            modules.push(module);
        }
    }
    Ok(modules)
}

/// Whether tax of any day counts by what is settled.
fn may_wait(cx: &Cx<'_>) -> Result<bool> {
    let by_cash = cx.business()?.settings.tax_basis.iter().any(|one| one.basis != TaxBasis::Invoice);
    Ok(by_cash && !sown(Fault::ClosedReturnChanges))
}

/// The same of what a document settles by itself.
pub async fn modules_settled(cx: &Cx<'_>, document: RecordId) -> Result<Vec<Module>> {
    if !may_wait(cx)? {
        return Ok(Vec::new());
    }
    cx.flush().await?;
    let settled: Vec<RecordId> = allocations::Entity::find()
        .select_only()
        .column(allocations::Column::TargetDocumentId)
        .filter(allocations::Column::BusinessId.eq(cx.business_id()?))
        .filter(allocations::Column::SourceDocumentId.eq(document))
        .filter(allocations::Column::RemovedAt.is_null())
        .distinct()
        .column_of(&cx.db)
        .await?;
    if settled.is_empty() { Ok(Vec::new()) } else { modules(cx, &settled).await }
}

/// Whose days a tax is of.
pub const fn module(side: TaxSide) -> Module {
    match side {
        TaxSide::Sale => Module::Sales,
        TaxSide::Purchase => Module::Purchase,
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
            .read(&cx.db)
            .await?;
        let days: Vec<(i64, Day)> = tax_facts::Entity::find()
            .select_only()
            .columns([tax_facts::Column::EntryNumber, tax_facts::Column::Date])
            .filter(tax_facts::Column::BusinessId.eq(cx.business_id()?))
            .filter(tax_facts::Column::EntryNumber.is_in(entries.iter().map(|(number, _)| *number)))
            .distinct()
            .read(&cx.db)
            .await?;
        let days: HashMap<i64, Day> = days.into_iter().collect();
        origins.extend(entries.into_iter().filter_map(|(number, id)| Some((id, *days.get(&number)?))));
    }
    Ok(origins)
}
