//! The tax sub-ledger: whether its facts are what ledger lines on accounts of tax move, whether no turnover is missing,
//! and whether each tax is what its rate makes of its base. Rates and sides are computed here anew.

mod anew;
mod boxes;
mod carried;
mod cash;
mod facts;
mod of_ledger;
mod taken;
mod told;

pub use self::of_ledger::OfLedger;
use self::told::Said;
use super::{Check, Findings, PORTION, Told, Wide, found, shown};
use crate::BEFORE_THE_FIRST;
use crate::clock::Instant;
use crate::currency::Currency;
use crate::day::Day;
use crate::error::Result;
use crate::ids::{BusinessId, RecordId};
use crate::money::Money;
use answers::Ask;
use schema::account as accounts;
use schema::account::AccountClass;
use schema::reader::Reader;
use schema::tables::TaxKind;
use schema::tables::documents::Whose;
use schema::tables::{
    DocumentKind, DocumentStatus, EntryRefs, document_lines, documents, entries, facts_of, tax_beginnings, tax_facts,
};
use schema::tables::{TaxDuty, TaxOrigin, TaxSide};
use schema::tax_code as codes;
use schema::written::Written;
use sea_orm::{ColumnTrait, QueryFilter, QueryOrder, QuerySelect};
use std::collections::{BTreeMap, HashMap, HashSet};
use words::sums::{Lists as _, Sums as _};

/// The last entry of before there were facts.
async fn beginning(reader: &Reader<'_>) -> Result<i64> {
    let row = tax_beginnings::Entity::find_by_id(reader.id()).model(&reader.db).await?;
    Ok(row.map_or(BEFORE_THE_FIRST, |row| row.entry_number))
}

async fn codes(reader: &Reader<'_>) -> Result<HashMap<RecordId, codes::Model>> {
    let rows = codes::Entity::find().filter(codes::Column::BusinessId.eq(reader.id())).models(&reader.db).await?;
    Ok(rows.into_iter().map(|code| (code.id, code)).collect())
}

/// When each of some entries was recorded, where any code was changed since it was made: else nobody asks.
async fn recorded(
    reader: &Reader<'_>,
    codes: &HashMap<RecordId, codes::Model>,
    (after, to): (i64, i64),
) -> Result<HashMap<i64, Instant>> {
    if codes.values().all(|code| code.version == 1) {
        return Ok(HashMap::new());
    }
    let entries: Vec<(i64, Instant)> = entries::Entity::find()
        .select_only()
        .columns([entries::Column::Number, entries::Column::RecordedAt])
        .filter(entries::Column::BusinessId.eq(reader.id()))
        .filter(entries::Column::Number.gt(after))
        .filter(entries::Column::Number.lte(to))
        .read(&reader.db)
        .await?;
    Ok(entries.into_iter().collect())
}

answers::of_row! {
    /// What is read of a document here.
    struct Taxed {
        id: RecordId,
        kind: DocumentKind,
        number: Option<String>,
        date: Day,
        currency: String,
        total: Money,
        content: Written,
        record: Option<i64>,
        entries: EntryRefs,
    }
}

impl Taxed {
    const COLUMNS: [documents::Column; 9] = [
        documents::Column::Id,
        documents::Column::Kind,
        documents::Column::Number,
        documents::Column::Date,
        documents::Column::Currency,
        documents::Column::Total,
        documents::Column::Content,
        documents::Column::Record,
        documents::Column::Entries,
    ];

    fn named(&self, business: BusinessId) -> Whose<'_> {
        Whose { business, id: self.id, number: self.number.as_deref(), record: self.record }
    }
}

/// A line of a document that tells of tax.
struct Line {
    document: RecordId,
    place: i64,
    id: RecordId,
    kind: DocumentKind,
    /// Without tax, in the company's currency.
    net: Wide,
    is_taxed: bool,
    account: Option<RecordId>,
}

/// Bills and credits.
const fn is_told_of(kind: DocumentKind) -> bool {
    matches!(
        kind,
        DocumentKind::SalesInvoice | DocumentKind::CreditNote | DocumentKind::PurchaseInvoice | DocumentKind::DebitNote
    )
}

/// What is kept of bills and credits, each read once.
type Contents<'c> = HashMap<RecordId, Said<'c>>;

fn contents<'c>(own: BusinessId, rows: &[&'c Taxed], findings: &mut Findings) -> Result<Contents<'c>> {
    let mut contents = Contents::new();
    for row in rows.iter().filter(|row| is_told_of(row.kind)) {
        contents.extend(found(row.named(own).read(&row.content), findings)?.map(|content| (row.id, content)));
    }
    Ok(contents)
}

/// The lines of documents: those that have a row, and those of bills and credits that only what is kept of the document
/// tells of.
fn told_lines(rows: &[&Taxed], lines: &[document_lines::Model], contents: &Contents<'_>) -> Result<Vec<Line>> {
    let mut all: Vec<Line> = lines
        .iter()
        .map(|line| Line {
            document: line.document_id,
            place: line.line_no,
            id: line.id,
            kind: line.kind,
            net: Wide::from(line.base_net.units()),
            is_taxed: line.tax_code_id.is_some(),
            account: line.account_id,
        })
        .collect();
    let known: HashSet<RecordId> = all.iter().map(|line| line.id).collect();
    for row in rows {
        let Some(content) = contents.get(&row.id) else { continue };
        let both = content["asked"]["lines"].list().iter().zip(content["figures"]["lines"].list());
        for ((asked, kept), place) in both.zip(1..) {
            let id = asked["id"].text().and_then(RecordId::parse);
            let id = id.unwrap_or(RecordId::NONE);
            if !known.contains(&id) {
                let (net, is_taxed) = (anew::money(&kept["base_net"])?, !asked["tax"]["code"].is_nothing());
                all.push(Line { document: row.id, place, id, kind: row.kind, net, is_taxed, account: None });
            }
        }
    }
    Ok(all)
}

impl Documents {
    /// Facts beside the documents that made them, from behind one of these up to another.
    pub(super) async fn of_part(
        reader: &Reader<'_>,
        told: &dyn Told,
        (after, until): (Option<RecordId>, Option<RecordId>),
    ) -> Result<Self> {
        let (beginning, codes) = (beginning(reader).await?, codes(reader).await?);
        Self::walk(reader, told, (beginning, &codes), (after, until)).await
    }

    #[cfg(test)]
    pub(super) fn finding(missing: Findings) -> Self {
        Self { missing, ..Self::default() }
    }

    /// With what lies behind it.
    pub(super) fn add(&mut self, other: Self) {
        (self.told, self.traded) = (self.told + other.told, self.traded + other.traded);
        (self.taxes, self.right) = (self.taxes + other.taxes, self.right + other.right);
        self.missing.add_all(other.missing);
        self.odd.add_all(other.odd);
        self.anew.add(other.anew);
        self.cash.add(other.cash);
    }

    /// What all of them come to.
    pub(super) fn checks(self) -> Vec<Check> {
        vec![
            Check::of(
                "T2",
                "What is told of turnover is what the lines of documents come to",
                shown(self.told),
                shown(self.traded),
                self.missing,
            ),
            Check::of(
                "T4",
                "Every tax is what its line and its code make anew",
                self.taxes + self.anew.taxes,
                self.right + self.anew.right,
                self.odd.with(self.anew.findings).with(self.cash.taken),
            ),
            Check::of(
                "T5",
                "What is due on cash basis, what is not yet, and what lapsed are what was invoiced",
                shown(self.cash.due),
                shown(self.cash.invoiced),
                self.cash.findings,
            ),
        ]
    }
}

/// What of a tax is a debit.
const fn side(duty: TaxDuty) -> Wide {
    match duty {
        TaxDuty::Owed | TaxDuty::WithheldByUs => -1,
        TaxDuty::Claimed | TaxDuty::WithheldFromUs => 1,
        TaxDuty::None => 0,
    }
}

const KINDS: [DocumentKind; 6] = [
    DocumentKind::SalesInvoice,
    DocumentKind::CreditNote,
    DocumentKind::PurchaseInvoice,
    DocumentKind::DebitNote,
    DocumentKind::Receipt,
    DocumentKind::Payment,
];

/// Documents beside the facts that they made.
#[derive(Default)]
pub struct Documents {
    told: Wide,
    traded: Wide,
    missing: Findings,
    taxes: usize,
    right: usize,
    odd: Findings,
    anew: anew::Anew,
    cash: cash::Cash,
}

/// Facts of one rate upon one document: base, tax and how many there are, in the document's currency.
type OfRate = BTreeMap<(RecordId, RecordId, bool), (Wide, Wide, Wide)>;

impl Documents {
    async fn walk(
        reader: &Reader<'_>,
        told: &dyn Told,
        (beginning, codes): (i64, &HashMap<RecordId, codes::Model>),
        (after, until): (Option<RecordId>, Option<RecordId>),
    ) -> Result<Self> {
        let (company, settings) = (reader.id(), &reader.company().settings.0);
        let earned = accounts::Entity::find()
            .select_only()
            .column(accounts::Column::Id)
            .filter(accounts::Column::BusinessId.eq(company))
            .filter(accounts::Column::Class.is_in([AccountClass::Income, AccountClass::Expense]))
            .column_of::<RecordId>(&reader.db)
            .await?;
        let earned: HashSet<RecordId> = earned.into_iter().collect();
        let mut found = Self::default();
        let mut last = after;
        loop {
            let mut rows = documents::Entity::find()
                .select_only()
                .columns(Taxed::COLUMNS)
                .filter(documents::Column::BusinessId.eq(company))
                .filter(documents::Column::Kind.is_in(KINDS))
                .filter(documents::Column::Status.eq(DocumentStatus::Posted))
                .order_by_asc(documents::Column::Id)
                .limit(PORTION / 4);
            if let Some(last) = last {
                rows = rows.filter(documents::Column::Id.gt(last));
            }
            if let Some(until) = until {
                rows = rows.filter(documents::Column::Id.lte(until));
            }
            let rows = rows.read::<Taxed>(&reader.db).await?;
            let Some(end) = rows.last() else { return Ok(found) };
            last = Some(end.id);
            reader.read(rows.len());
            let kept = |row: &&Taxed| row.entries.0.iter().all(|entry| entry.number > beginning);
            let rows: Vec<&Taxed> = rows.iter().filter(kept).collect();
            let ids = || rows.iter().map(|row| row.id);
            let lines = document_lines::Entity::find()
                .filter(document_lines::Column::BusinessId.eq(company))
                .filter(document_lines::Column::DocumentId.is_in(ids()))
                .models(&reader.db)
                .await?;
            let facts = tax_facts::Entity::find()
                .filter(tax_facts::Column::BusinessId.eq(company))
                .filter(facts_of(company, entries::Column::DocumentId.is_in(ids())))
                .filter(tax_facts::Column::SettlesId.is_null())
                .filter(tax_facts::Column::Origin.is_in([TaxOrigin::Document, TaxOrigin::Opening]))
                .models(&reader.db)
                .await?;
            let contents = contents(company, &rows, &mut found.odd)?;
            found.turnover(&told_lines(&rows, &lines, &contents)?, &facts, &earned);
            let mut by_document: HashMap<RecordId, Vec<&tax_facts::Model>> = HashMap::new();
            for fact in &facts {
                by_document.entry(fact.document_id).or_default().push(fact);
            }
            found.cash.compare(reader, told, &rows, &by_document).await?;
            let tolerance = settings.tax_override_tolerance.0;
            for row in rows {
                let own = by_document.take_list(&row.id);
                match contents.get(&row.id) {
                    Some(content) => {
                        found.anew.judge((row, content), &own, codes, (reader.decimals(), tolerance))?;
                    }
                    // What is kept of it cannot be read, which was found.
                    None if is_told_of(row.kind) => {}
                    None => found.rates(row, &own, codes, tolerance)?,
                }
            }
            reader.pause().await?;
        }
    }

    /// Line by line, the base that leads is the net of the line.
    fn turnover(&mut self, lines: &[Line], facts: &[tax_facts::Model], earned: &HashSet<RecordId>) {
        let mut bases: HashMap<Option<RecordId>, Wide> = HashMap::new();
        // The side of a line is that of its last version.
        let mut sides: HashMap<Option<RecordId>, (i64, TaxSide)> = HashMap::new();
        for fact in facts.iter().filter(|fact| fact.leads) {
            *bases.entry(fact.line_id).or_default() += Wide::from(fact.home_base.units());
            let last = sides.entry(fact.line_id).or_insert((fact.entry_number, fact.side));
            *last = Ord::max(*last, (fact.entry_number, fact.side));
        }
        for line in lines {
            let net = line.net;
            let base = bases.sum_of(&Some(line.id));
            bases.remove(&Some(line.id));
            let direct = matches!(line.kind, DocumentKind::Receipt | DocumentKind::Payment);
            let tells = !direct || line.is_taxed || line.account.is_some_and(|id| earned.contains(&id));
            // Money may come back for what was bought, and go back for what was sold. Its sign says nothing of that: a line
            // whose tax is more than the line has a base below nothing.
            let goes_back = match (line.kind, sides.get(&Some(line.id))) {
                (DocumentKind::Receipt, Some((_, side))) => *side == TaxSide::Purchase,
                (DocumentKind::Payment, Some((_, side))) => *side == TaxSide::Sale,
                _ => false,
            };
            let wanted = match line.kind {
                _ if !tells => 0,
                DocumentKind::CreditNote | DocumentKind::DebitNote => -net,
                _ if goes_back => -net,
                _ => net,
            };
            (self.told, self.traded) = (self.told + base, self.traded + wanted);
            if base != wanted {
                self.missing.add(format!(
                    "line {} of document {} comes to {}, and {} is told of it",
                    line.place,
                    line.document,
                    shown(wanted),
                    shown(base)
                ));
            }
        }
        for (line, base) in bases.into_iter().filter(|(_, base)| *base != 0) {
            let line = line.map_or_else(|| "no line".to_owned(), |line| format!("the line {line}, which there is not"));
            self.missing.add(format!("{} is told of {line}", shown(base)));
        }
    }

    /// Each tax is what its rate makes of its base.
    fn rates(
        &mut self,
        row: &Taxed,
        facts: &[&tax_facts::Model],
        codes: &HashMap<RecordId, codes::Model>,
        tolerance: i64,
    ) -> Result<()> {
        let known = Currency::known(&row.currency, format_args!("document {}", row.id))?;
        let coin = Money::smallest(known.decimals()).units();
        let mut sums = OfRate::new();
        let mut rates: HashMap<(RecordId, RecordId, bool), Wide> = HashMap::new();
        for fact in facts {
            let rated = matches!(fact.kind, Some(TaxKind::Standard | TaxKind::ReverseCharge | TaxKind::Withholding));
            let Some(((code, component), rate)) = fact.tax_code_id.zip(fact.component_id).zip(fact.rate) else {
                continue;
            };
            if !rated || fact.duty == TaxDuty::None {
                continue;
            }
            let claimed = fact.duty == TaxDuty::Claimed;
            let key = (code, component, claimed);
            let components = codes.get(&code).map_or(&[][..], |code| code.components.0.as_slice());
            let recoverable = components.iter().find(|one| one.id == component).map(|one| one.recoverable_percent);
            let share =
                if claimed { recoverable.iter().map(|percent| Wide::from(percent.units())).sum() } else { 100_000_000 };
            // In millionths of a percent, of which so many can be claimed.
            rates.insert(key, Wide::from(rate.units()) * share);
            let of = sums.entry(key).or_default();
            // A reverse charge has its base on what is owed of it.
            let base = if claimed && fact.kind == Some(TaxKind::ReverseCharge) {
                facts
                    .iter()
                    .filter(|owed| owed.duty == TaxDuty::Owed && owed.component_id == fact.component_id)
                    .filter(|owed| (owed.line_id, owed.entry_number) == (fact.line_id, fact.entry_number))
                    .map(|owed| Wide::from(owed.own_base().units()))
                    .sum()
            } else {
                Wide::from(fact.own_base().units())
            };
            *of = (of.0 + base, of.1 + Wide::from(fact.own_tax().units()), of.2 + 1);
        }
        for (key, (base, tax, lines)) in sums {
            let exact = base * rates.sum_of(&key);
            let apart = (tax * 10_000_000_000_000_000 - exact).abs();
            let most = Wide::from(coin) * lines * (2 + Wide::from(tolerance)) * 10_000_000_000_000_000;
            self.taxes += 1;
            if apart <= most {
                self.right += 1;
            } else {
                let number = row.number.as_deref().unwrap_or("without a number");
                self.odd.add(format!("{} {number}: a tax of {} on {}", row.kind, shown(tax), shown(base)));
            }
        }
        Ok(())
    }
}
