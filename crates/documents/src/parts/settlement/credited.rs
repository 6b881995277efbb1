//! What credits give back of what settlements took off the tax of their invoice.
//!
//! Owns: that the books say on every open day what [`given_back`] says of what is in them. It is followed up after every
//! command that settles, credits or changes such a document; what differs is posted for itself.

mod tests;

use super::allocating::accounts;
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::money::BookMoney;
use answers::Ask;
use books::chart::Chart;
use books::cx::Cx;
use books::desk::NewEntry;
use books::limits::Moves;
use books::periods::Module;
use books::tax_facts::fact;
use books::taxed::Retaxed;
use rules::exchange::Home;
use rules::posting::{About, Line, Posting, Unbalanced};
use rules::refusal::Refusal;
use rules::tax::credited::{Figures, Kind, NOTHING, Step, Whose, added, figures, given_back, kind, taken, with};
use rules::tax::facts::{TaxDuty, TaxFact, TaxOrigin, TaxSide};
use rules::tax::figures::TooLarge;
use schema::tables::{
    DocumentKind, EntryKind, Relation, allocations, document_lines, document_links, documents, entries, entry_lines,
    facts_of, tax_facts as table,
};
use sea_orm::{ColumnTrait, QueryFilter, QueryOrder, QuerySelect};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Bound;

const TAKEN_OFF: [TaxOrigin; 2] = [TaxOrigin::Discount, TaxOrigin::WriteOff];

/// Brings the tax of what a command settled, credited or changed to what it is after that.
/// The notes that give something else back are answered.
pub(crate) async fn keep(cx: &Cx<'_>, mut noted: Retaxed) -> Result<Vec<RecordId>> {
    let mut given = Vec::new();
    if noted.origins.is_empty() && noted.notes.is_empty() {
        return Ok(given);
    }
    cx.flush().await?;
    let notes: Vec<RecordId> = noted.notes.into_iter().collect();
    noted.origins.extend(credited_by(cx, &notes).await?);
    if noted.origins.is_empty() {
        return Ok(given);
    }
    let reduced: BTreeSet<RecordId> = table::Entity::find()
        .select_only()
        .column(table::Column::SettlesId)
        .filter(table::Column::BusinessId.eq(cx.business_id()?))
        .filter(table::Column::SettlesId.is_in(noted.origins.iter().copied()))
        .filter(table::Column::Origin.is_in(TAKEN_OFF))
        .distinct()
        .column_of(&cx.db)
        .await?
        .into_iter()
        .collect();
    for origin in reduced {
        given.extend(Story::of(cx, origin).await?.keep(cx).await?);
    }
    Ok(given)
}

/// What these notes credit, or gave something back of.
async fn credited_by(cx: &Cx<'_>, notes: &[RecordId]) -> Result<Vec<RecordId>> {
    if notes.is_empty() {
        return Ok(Vec::new());
    }
    let mut found = origins_of(cx, notes).await?;
    let given: Vec<RecordId> = table::Entity::find()
        .select_only()
        .column(table::Column::SettlesId)
        .filter(table::Column::BusinessId.eq(cx.business_id()?))
        .filter(facts_of(cx.business_id()?, entries::Column::DocumentId.is_in(notes.iter().copied())))
        .filter(table::Column::Origin.eq(TaxOrigin::Credited))
        .distinct()
        .column_of(&cx.db)
        .await?;
    found.extend(given);
    Ok(found)
}

/// The documents that these notes credit.
pub(crate) async fn origins_of(cx: &Cx<'_>, notes: &[RecordId]) -> Result<Vec<RecordId>> {
    let links = document_links::Entity::find()
        .select_only()
        .column(document_links::Column::SourceDocumentId)
        .filter(document_links::Column::BusinessId.eq(cx.business_id()?))
        .filter(document_links::Column::DocumentId.is_in(notes.iter().copied()))
        .filter(document_links::Column::Relation.eq(Relation::Credits));
    Ok(links.column_of(&cx.db).await?)
}

/// What tells what is given back apart, and where the rest of it stands.
type Standing = (Kind, RecordId);

/// Everything that is known of the tax of one document.
struct Story {
    origin: RecordId,
    steps: Vec<Step>,
    /// What was given back so far, by the notes that did, and where the rest of that stands.
    booked: Vec<(RecordId, RecordId, Day, TaxFact)>,
}

/// What one note gives back of one kind of fact where it stands: what it should by these days, and what is in the books of
/// these days.
#[derive(Default)]
struct Course {
    wanted: BTreeMap<Day, TaxFact>,
    booked: Vec<(Day, TaxFact)>,
}

impl Story {
    async fn of(cx: &Cx<'_>, origin: RecordId) -> Result<Self> {
        let business = cx.business_id()?;
        let found = || {
            table::Entity::find()
                .filter(table::Column::BusinessId.eq(business))
                .order_by_asc(table::Column::EntryNumber)
                .order_by_asc(table::Column::Place)
        };
        let step = |row: &table::Model, whose: Whose| Step { day: row.entry_date, whose, fact: fact(row) };
        let mut steps = Vec::new();
        let own = found()
            .filter(facts_of(business, entries::Column::DocumentId.eq(origin)))
            .filter(table::Column::SettlesId.is_null());
        for row in own.models(&cx.db).await?.iter().filter(|row| row.origin != TaxOrigin::Carry) {
            steps.push(step(row, Whose::Own));
        }
        let mut booked = Vec::new();
        let off = found().filter(table::Column::SettlesId.eq(origin)).models(&cx.db).await?;
        let stands = stands_on(cx, origin).await?;
        let rests = Rests::of(cx, &off).await?;
        for row in &off {
            match row.origin {
                TaxOrigin::Credited => {
                    booked.push((row.document_id, rests.of_fact(row)?, row.entry_date, fact(row)));
                }
                TaxOrigin::Discount | TaxOrigin::WriteOff => {
                    steps.push(step(row, Whose::Off(stands.of(row)?)));
                }
                _ => {}
            }
        }
        for (note, lines) in credits(cx, origin).await? {
            let of_note = found()
                .filter(facts_of(business, entries::Column::DocumentId.eq(note)))
                .filter(table::Column::SettlesId.is_null());
            let counts = |row: &&table::Model| {
                row.origin != TaxOrigin::Carry
                    && lines.as_ref().is_none_or(|lines| row.line_id.is_some_and(|line| lines.contains(&line)))
            };
            for row in of_note.models(&cx.db).await?.iter().filter(counts) {
                steps.push(step(row, Whose::Credit(note)));
            }
        }
        Ok(Self { origin, steps, booked })
    }

    fn courses(&self) -> Result<BTreeMap<RecordId, Vec<(Standing, Course)>>> {
        let mut courses: BTreeMap<RecordId, Vec<(Standing, Course)>> = BTreeMap::new();
        let mut of = |note: RecordId, wanted: Standing, tell: &mut dyn FnMut(&mut Course)| {
            let of_note = courses.entry(note).or_default();
            if let Some((_, course)) = of_note.iter_mut().find(|(known, _)| *known == wanted) {
                tell(course);
            } else {
                let mut course = Course::default();
                tell(&mut course);
                of_note.push((wanted, course));
            }
        };
        for back in given_back(self.origin, &self.steps).map_err(too_large)? {
            of(back.credit, (kind(&back.fact), back.stands_on), &mut |course| {
                course.wanted.insert(back.day, back.fact.clone());
            });
        }
        for (note, account, day, fact) in &self.booked {
            of(*note, (kind(fact), *account), &mut |course| course.booked.push((*day, fact.clone())));
        }
        Ok(courses)
    }

    async fn keep(&self, cx: &Cx<'_>) -> Result<Vec<RecordId>> {
        let periods = cx.periods().await?;
        let mut given = Vec::new();
        for (note, kinds) in self.courses()? {
            // A base counts once for a line, a box and an entry: what stands elsewhere is an entry of its own.
            let mut by_day: BTreeMap<(Day, RecordId), Vec<(TaxFact, RecordId)>> = BTreeMap::new();
            for ((of_kind, stands_on), course) in &kinds {
                let module = if of_kind.2 == TaxSide::Sale { Module::Sales } else { Module::Purchase };
                let open = |day: Day| periods.first_open(module, day, cx.asker());
                for (day, fact) in course.differences(open)? {
                    // What counts for a closed day is said on the first open one.
                    let counts = periods.check(module, "taxDate", fact.date, cx.asker()).is_ok();
                    let date = if counts { fact.date } else { Ord::max(day, fact.date) };
                    let fact = TaxFact { settles: Some(self.origin), date, ..fact };
                    by_day.entry((day, *stands_on)).or_default().push((fact, *stands_on));
                }
            }
            if by_day.is_empty() {
                continue;
            }
            let row = documents::Entity::find_by_id((cx.business_id()?, note)).model(&cx.db).await?;
            let row = row.ok_or_else(|| Error::internal("a note that there is not gives tax back"))?;
            for ((day, _), facts) in by_day {
                post(cx, &row, day, facts).await?;
            }
            given.push(note);
        }
        Ok(given)
    }
}

impl Course {
    /// What the books are short of, day by day.
    fn differences(&self, open: impl Fn(Day) -> Result<Day>) -> Result<Vec<(Day, TaxFact)>> {
        let mut days = BTreeSet::new();
        for day in self.wanted.keys().copied().chain(self.booked.iter().map(|(day, _)| *day)) {
            days.insert(open(day)?);
        }
        let mut found = Vec::new();
        let mut posted: Figures = NOTHING;
        for day in days {
            let said = self.wanted.range(..=day).next_back().map(|(_, said)| said);
            let mut there = self.booked.iter().filter(|(at, _)| *at <= day);
            let booked = there.clone().try_fold(posted, |sum, (_, fact)| added(sum, figures(fact)));
            let booked = booked.map_err(too_large)?;
            let wanted = said.map_or(NOTHING, figures);
            let by = taken(wanted, booked).map_err(too_large)?;
            if by == NOTHING {
                continue;
            }
            posted = added(posted, by).map_err(too_large)?;
            let last = there.next_back();
            let fact = match (said, last) {
                (Some(fact), _) => fact.clone(),
                // Taken back on its own day it counts for the day that it counted for.
                (None, Some((at, fact))) => {
                    let date = if *at == day { fact.date } else { Ord::max(day, fact.date) };
                    TaxFact { date, ..fact.clone() }
                }
                (None, None) => continue,
            };
            // One whose tax comes to nothing stands on no account.
            let account = fact.account.or_else(|| self.booked.iter().find_map(|(_, fact)| fact.account));
            found.push((day, with(&TaxFact { account, ..fact }, by)));
        }
        Ok(found)
    }
}

/// Where what settlements took off a document stands, beside its tax.
struct Stands {
    by_entry: HashMap<(i64, TaxOrigin), RecordId>,
    by_reversed: HashMap<(RecordId, TaxOrigin), RecordId>,
}

/// Where the rest of what was given back stands: the lines of the entries that did, by their places.
#[derive(Default)]
struct Rests {
    lines: HashMap<i64, BTreeMap<i64, RecordId>>,
    /// The places that hold tax.
    taxes: HashSet<(i64, i64)>,
}

impl Rests {
    async fn of(cx: &Cx<'_>, facts: &[table::Model]) -> Result<Self> {
        let given: Vec<&table::Model> = facts.iter().filter(|row| row.origin == TaxOrigin::Credited).collect();
        let mut rests = Self::default();
        if given.is_empty() {
            return Ok(rests);
        }
        let of_entries: BTreeSet<i64> = given.iter().map(|row| row.entry_number).collect();
        let lines: Vec<(i64, i64, RecordId)> = entry_lines::Entity::find()
            .select_only()
            .columns([entry_lines::Column::EntryNumber, entry_lines::Column::Position, entry_lines::Column::AccountId])
            .filter(entry_lines::Column::BusinessId.eq(cx.business_id()?))
            .filter(entry_lines::Column::EntryNumber.is_in(of_entries))
            .read(&cx.db)
            .await?;
        for (entry, position, account) in lines {
            rests.lines.entry(entry).or_default().insert(position, account);
        }
        let holds_tax = |row: &&table::Model| row.account_id.is_some();
        let taxes = given.into_iter().filter(holds_tax);
        rests.taxes = taxes.filter_map(|row| Some((row.entry_number, row.position?))).collect();
        Ok(rests)
    }

    /// Taxes stand before the line that takes the rest of them.
    fn of_fact(&self, row: &table::Model) -> Result<RecordId> {
        let lines = self.lines.get(&row.entry_number);
        let from = row.position.map_or(Bound::Unbounded, Bound::Included);
        let mut rest = lines.into_iter().flat_map(|lines| lines.range((from, Bound::Unbounded)));
        let found = rest.find(|(position, _)| !self.taxes.contains(&(row.entry_number, **position)));
        found.map(|(_, account)| *account).ok_or_else(|| Error::internal("what is given back stands nowhere"))
    }
}

impl Stands {
    fn of(&self, row: &table::Model) -> Result<RecordId> {
        let found = match row.takes_back_id {
            Some(entry) => self.by_reversed.get(&(entry, row.origin)),
            None => self.by_entry.get(&(row.entry_number, row.origin)),
        };
        found.copied().ok_or_else(|| Error::internal("nothing settled what tax was taken off of"))
    }
}

async fn stands_on(cx: &Cx<'_>, origin: RecordId) -> Result<Stands> {
    let chart = cx.chart().await?;
    let mut stands = Stands { by_entry: HashMap::new(), by_reversed: HashMap::new() };
    let settled = allocations::Entity::find()
        .filter(allocations::Column::BusinessId.eq(cx.business_id()?))
        .filter(allocations::Column::TargetDocumentId.eq(origin))
        .order_by_asc(allocations::Column::Id);
    for row in settled.models(&cx.db).await? {
        let Some(entry) = row.entry.as_ref().map(|entry| &entry.0) else { continue };
        let owed = matches!(row.target_kind, DocumentKind::SalesInvoice | DocumentKind::DebitNote);
        let found = accounts(&chart, None, (row.target_kind, if owed { 1 } else { -1 }))
            .map_err(|why| Error::internal(format!("what was taken off {why}")))?;
        let bad = row.write_off_account_id.unwrap_or_else(|| found.write_off.id());
        for (kind, account) in [(TaxOrigin::Discount, found.discount.id()), (TaxOrigin::WriteOff, bad)] {
            stands.by_entry.insert((entry.number, kind), account);
            stands.by_reversed.insert((entry.id, kind), account);
        }
    }
    Ok(stands)
}

/// What credits a document, each with those of its lines that do where it credits others as well.
async fn credits(cx: &Cx<'_>, origin: RecordId) -> Result<Vec<(RecordId, Option<HashSet<RecordId>>)>> {
    let business = cx.business_id()?;
    let links = |column: document_links::Column, ids: Vec<RecordId>| {
        document_links::Entity::find()
            .filter(document_links::Column::BusinessId.eq(business))
            .filter(document_links::Column::Relation.eq(Relation::Credits))
            .filter(column.is_in(ids))
    };
    let of_origin = links(document_links::Column::SourceDocumentId, vec![origin]).models(&cx.db).await?;
    let notes: BTreeSet<RecordId> = of_origin.into_iter().map(|link| link.document_id).collect();
    if notes.is_empty() {
        return Ok(Vec::new());
    }
    let all = links(document_links::Column::DocumentId, notes.iter().copied().collect()).models(&cx.db).await?;
    let own = lines_named(cx, origin).await?;
    let mut found = Vec::new();
    for note in notes {
        if all.iter().filter(|link| link.document_id == note).count() == 1 {
            found.push((note, None));
            continue;
        }
        let lines = lines_of(cx, note).await?;
        let of_origin = lines.iter().filter(|line| line.source_line_id.is_some_and(|of| own.contains(&of)));
        found.push((note, Some(of_origin.map(|line| line.id).collect())));
    }
    Ok(found)
}

/// Those of a note's lines that were made of something, or name an item.
async fn lines_of(cx: &Cx<'_>, note: RecordId) -> Result<Vec<document_lines::Model>> {
    let lines = document_lines::Entity::find()
        .filter(document_lines::Column::BusinessId.eq(cx.business_id()?))
        .filter(document_lines::Column::DocumentId.eq(note));
    Ok(lines.models(&cx.db).await?)
}

/// All lines of a document, by what it keeps of them.
async fn lines_named(cx: &Cx<'_>, document: RecordId) -> Result<HashSet<RecordId>> {
    #[derive(Deserialize)]
    struct Content {
        asked: Asked,
    }
    #[derive(Deserialize)]
    struct Asked {
        lines: Vec<Line>,
    }
    #[derive(Deserialize)]
    struct Line {
        id: Option<RecordId>,
    }
    let row = documents::Entity::find_by_id((cx.business_id()?, document)).model(&cx.db).await?;
    let Some(row) = row else { return Ok(HashSet::new()) };
    let content: Content = row.kept()?;
    Ok(content.asked.lines.into_iter().filter_map(|line| line.id).collect())
}

/// Posts what is given back: the taxes on their accounts, the rest where what was taken off stands.
async fn post(cx: &Cx<'_>, note: &documents::Model, day: Day, facts: Vec<(TaxFact, RecordId)>) -> Result<()> {
    let (chart, home) = (cx.chart().await?, cx.business()?.home());
    let lines = lines(&chart, home, facts).map_err(|why| Error::internal(format!("tax that is given back {why}")))?;
    let posting = Posting::balanced(lines.map_err(too_large)?).map_err(|fault| match fault {
        Unbalanced::TooLarge => Error::too_large(),
        other => Error::internal(format!("tax that is given back does not balance: {other:?}")),
    })?;
    if posting.is_empty() {
        return Ok(());
    }
    cx.post(NewEntry {
        date: day,
        kind: EntryKind::TaxAdjustment,
        document: note.kind,
        document_id: note.id,
        document_version: note.version,
        document_number: note.number.clone(),
        reverses: None,
        // What the note moves is counted with it.
        moves: Moves::Mirrored,
        trade: None,
        narration: Some("What was credited leaves nothing for a discount to take off".into()),
        posting,
    })
    .await
    .map(drop)
}

fn lines(
    chart: &Chart,
    home: Home<'_>,
    facts: Vec<(TaxFact, RecordId)>,
) -> Result<Result<Vec<Line>, TooLarge>, Refusal> {
    let mut by_account: BTreeMap<RecordId, Vec<TaxFact>> = BTreeMap::new();
    for (fact, account) in facts {
        by_account.entry(account).or_default().push(fact);
    }
    let mut lines = Vec::new();
    for (account, facts) in by_account {
        let rest = chart.standing(account)?;
        let (mut sum, mut bare, mut bases) = (BookMoney::ZERO, Vec::new(), BookMoney::ZERO);
        let mut moves = false;
        for fact in facts {
            let of_tax = fact.account.filter(|_| fact.duty != TaxDuty::None && fact.home_tax != BookMoney::ZERO);
            let Some(of_tax) = of_tax else {
                let Some(more) = bases.checked_add(fact.home_base.size()) else { return Ok(Err(TooLarge)) };
                bases = more;
                bare.push(TaxFact { account: None, ..fact });
                continue;
            };
            let line = fact.posted(chart.standing(of_tax)?, home)?;
            let Some(more) = sum.checked_add(line.amount()) else { return Ok(Err(TooLarge)) };
            (sum, moves) = (more, true);
            lines.push(line.telling(vec![fact]));
        }
        let on = |amount: BookMoney| Line::on(rest.clone(), home.alone(amount), About::default());
        if moves {
            lines.push(on(sum.negated())?.telling(bare));
        } else {
            // Bases alone move nothing; the account where they stand says so on both of its sides.
            lines.push(on(bases)?.telling(bare));
            lines.push(on(bases.negated())?);
        }
    }
    Ok(Ok(lines))
}

fn too_large(_: TooLarge) -> Error {
    Error::too_large()
}
