//! What settlements take off the tax of their document, and what credits give back of that.
//!
//! Owns: that the books say on every open day what [`taken_off`] and [`given_back`] say of what is in them. It is followed up
//! after every command that settles, credits or changes such a document; what differs is posted for itself. Nothing is
//! written over: what a settlement told stays, and what it should have told since stands beside it.

mod course;
pub(super) mod story;
mod tests;

use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::money::BookMoney;
use answers::Ask;
use books::cash::module;
use books::chart::Chart;
use books::cx::Cx;
use books::desk::NewEntry;
use books::limits::Moves;
use books::taxed::Retaxed;
use course::Course;
use rules::exchange::Home;
use rules::posting::{About, Line, Posting, Unbalanced};
use rules::refusal::Refusal;
use rules::tax::credited::{Back, Kind, NOTHING, Step, Whose, figures, given_back, kind, with};
use rules::tax::facts::{TaxDuty, TaxFact, TaxOrigin};
use rules::tax::figures::TooLarge;
use rules::tax::taken_off::{Taken, taken_off, told};
use schema::tables::{EntryKind, Relation, document_links, documents, entries, facts_of, tax_facts as table};
use sea_orm::{ColumnTrait, QueryFilter, QuerySelect};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use story::{Booked, Story};
use words::sown::{Fault, sown};

const TAKEN_OFF: [TaxOrigin; 2] = [TaxOrigin::Discount, TaxOrigin::WriteOff];

/// Brings the tax of what a command settled, credited or changed to what it is after that.
/// The notes that give something else back are answered.
pub(crate) async fn keep(cx: &Cx<'_>, mut noted: Retaxed) -> Result<Vec<RecordId>> {
    let mut given = Vec::new();
    if noted.origins.is_empty() && noted.notes.is_empty() {
        return Ok(given);
    }
    cx.flush().await?;
    // What is taken off a note is so much less of what it credits.
    let notes: Vec<RecordId> = noted.notes.union(&noted.origins).copied().collect();
    let credited: BTreeSet<RecordId> = credited_by(cx, &notes).await?.into_iter().collect();
    noted.origins.extend(&credited);
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
    // Notes first: what is taken off them by now their invoices find in the books.
    let (later, first): (Vec<RecordId>, Vec<RecordId>) = reduced.into_iter().partition(|one| credited.contains(one));
    for origin in first {
        given.extend(Story::of(cx, origin).await?.keep(cx).await?);
    }
    if !later.is_empty() {
        cx.flush().await?;
    }
    for origin in later {
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

/// What was taken off: by which document, for what, and where the rest of it stands.
type Place = (RecordId, RecordId, TaxOrigin);

impl Story {
    /// Brings the books to what is taken off and given back. The notes that give something else back are answered.
    async fn keep(&self, cx: &Cx<'_>) -> Result<Vec<RecordId>> {
        let Some(currency) = &self.currency else { return Ok(Vec::new()) };
        let settling = self.settling(cx, currency, Day::default())?;
        let taken = taken_off(&self.steps, &self.takings, &settling).map_err(too_large)?;
        let mut steps = self.steps.clone();
        if sown(Fault::DiscountJudgedOnce) {
            let step = |one: &Booked| Step { day: one.day, whose: Whose::Off(one.stands_on), fact: one.fact.clone() };
            steps.extend(self.taken.iter().map(step));
        } else {
            self.keep_taken(cx, &taken).await?;
            steps.extend(told(&self.takings, &taken).map_err(too_large)?);
        }
        self.keep_given(cx, given_back(self.origin, &steps).map_err(too_large)?).await
    }

    /// What is taken off, of whatever it is by now.
    async fn keep_taken(&self, cx: &Cx<'_>, taken: &[Taken]) -> Result<()> {
        let mut places: BTreeMap<Place, Courses> = BTreeMap::new();
        for on in taken {
            for (place, facts) in &on.facts {
                let Some(taking) = self.takings.get(*place) else { continue };
                let courses = places.entry((taking.source, taking.stands_on, taking.origin)).or_default();
                for fact in facts.iter().filter(|fact| figures(fact) != NOTHING) {
                    courses.of(fact).want(on.day, fact)?;
                }
            }
            places.values_mut().flat_map(|courses| &mut courses.all).for_each(|(_, course)| course.end(on.day));
        }
        for Booked { document, stands_on, day, fact } in &self.taken {
            let courses = places.entry((*document, *stands_on, fact.origin)).or_default();
            courses.of(fact).booked.push((*day, fact.clone()));
        }
        let periods = cx.periods().await?;
        for ((source, stands_on, _), courses) in places {
            let mut by_day: BTreeMap<Day, Vec<TaxFact>> = BTreeMap::new();
            for (said, course) in &courses.all {
                let open = |day: Day| periods.first_open(module(said.side), day, cx.asker());
                for (day, fact) in course.differences(open)? {
                    by_day.entry(day).or_default().push(self.counted(cx, day, fact).await?);
                }
            }
            for (day, facts) in by_day {
                for facts in apart(facts) {
                    let facts = facts.into_iter().map(|fact| (fact, stands_on)).collect();
                    post(cx, &row(cx, source).await?, (day, TAKEN), facts).await?;
                }
            }
        }
        Ok(())
    }

    async fn keep_given(&self, cx: &Cx<'_>, backs: Vec<Back>) -> Result<Vec<RecordId>> {
        let periods = cx.periods().await?;
        let mut given = Vec::new();
        for (note, kinds) in self.courses(backs) {
            // A base counts once for a line, a box and an entry: what stands elsewhere is an entry of its own.
            let mut by_day: BTreeMap<(Day, RecordId), Vec<(TaxFact, RecordId)>> = BTreeMap::new();
            for ((of_kind, stands_on), course) in &kinds {
                let open = |day: Day| periods.first_open(module(of_kind.2), day, cx.asker());
                for (day, fact) in course.differences(open)? {
                    let fact = self.counted(cx, day, fact).await?;
                    by_day.entry((day, *stands_on)).or_default().push((fact, *stands_on));
                }
            }
            if by_day.is_empty() {
                continue;
            }
            let row = row(cx, note).await?;
            for ((day, _), facts) in by_day {
                post(cx, &row, (day, GIVEN), facts).await?;
            }
            given.push(note);
        }
        Ok(given)
    }

    fn courses(&self, backs: Vec<Back>) -> BTreeMap<RecordId, Vec<(Standing, Course)>> {
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
        for back in backs {
            of(back.credit, (kind(&back.fact), back.stands_on), &mut |course| {
                course.wanted.insert(back.day, back.fact.clone());
            });
        }
        for Booked { document, stands_on, day, fact } in &self.given {
            of(*document, (kind(fact), *stands_on), &mut |course| course.booked.push((*day, fact.clone())));
        }
        courses
    }

    /// What counts for a closed day is said on the first open one.
    async fn counted(&self, cx: &Cx<'_>, day: Day, fact: TaxFact) -> Result<TaxFact> {
        let counts = cx.periods().await?.check(module(fact.side), "taxDate", fact.date, cx.asker()).is_ok();
        let date = if counts { fact.date } else { Ord::max(day, fact.date) };
        Ok(TaxFact { settles: Some(self.origin), date, ..fact })
    }
}

/// Facts that say the same but for their figures and their days, and what the books say of them.
#[derive(Default)]
struct Courses {
    all: Vec<(TaxFact, Course)>,
    places: HashMap<(Option<RecordId>, Option<RecordId>, TaxDuty), Vec<usize>>,
}

impl Courses {
    fn of(&mut self, fact: &TaxFact) -> &mut Course {
        let account = fact.account.filter(|_| fact.home_tax != BookMoney::ZERO);
        let said = TaxFact { date: Day::default(), settles: None, account: None, ..with(fact, NOTHING) };
        let places = self.places.entry((fact.line, fact.component, fact.duty)).or_default();
        // What comes to no tax stands on no account, and is of whatever says the same.
        let same = |place: &usize| {
            let known = self.all.get(*place).map(|(known, _)| known);
            known.is_some_and(|known| {
                let apart = known.account.is_some() && account.is_some() && known.account != account;
                !apart && TaxFact { account: None, ..known.clone() } == said
            })
        };
        let found = places.iter().copied().find(same);
        let place = found.unwrap_or_else(|| {
            places.push(self.all.len());
            self.all.push((said, Course::default()));
            self.all.len() - 1
        });
        let (known, course) = &mut self.all[place];
        known.account = known.account.or(account);
        course
    }
}

/// A base counts once for a line, a box and an entry: what a line was before stands in an entry of its own.
fn apart(facts: Vec<TaxFact>) -> Vec<Vec<TaxFact>> {
    let mut entries: Vec<Vec<TaxFact>> = Vec::new();
    for fact in facts {
        let has_another = |entry: &&mut Vec<TaxFact>| {
            let mut of_line = entry.iter().filter(|known| known.line == fact.line);
            of_line.any(|known| known.code != fact.code || (known.component, known.duty) == (fact.component, fact.duty))
        };
        match entries.iter_mut().find(|entry| !has_another(entry)) {
            Some(entry) => entry.push(fact),
            None => entries.push(vec![fact]),
        }
    }
    entries
}

async fn row(cx: &Cx<'_>, document: RecordId) -> Result<documents::Model> {
    let row = documents::Entity::find_by_id((cx.business_id()?, document)).model(&cx.db).await?;
    row.ok_or_else(|| Error::internal("a document that there is not gives tax back"))
}

const TAKEN: &str = "What is taken off takes its share of the tax that there is by now";
const GIVEN: &str = "What was credited leaves nothing for a discount to take off";

/// Posts what is told: the taxes on their accounts, the rest where what was taken off stands.
async fn post(
    cx: &Cx<'_>,
    note: &documents::Model,
    (day, narration): (Day, &'static str),
    facts: Vec<(TaxFact, RecordId)>,
) -> Result<()> {
    let (chart, home) = (cx.chart().await?, cx.business()?.home());
    let lines = lines(&chart, home, facts).map_err(|why| Error::internal(format!("tax that is given back {why}")))?;
    let posting = Posting::summing_up(lines.map_err(too_large)?).map_err(|fault| match fault {
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
        narration: Some(narration.into()),
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
        let (mut sum, mut bare, mut told) = (BookMoney::ZERO, Vec::new(), BookMoney::ZERO);
        for fact in facts {
            let of_tax = fact.account.filter(|_| fact.duty != TaxDuty::None && fact.home_tax != BookMoney::ZERO);
            let size = if of_tax.is_some() { fact.home_tax.size() } else { fact.home_base.size() };
            let Some(more) = told.checked_add(size) else { return Ok(Err(TooLarge)) };
            told = more;
            let Some(of_tax) = of_tax else {
                bare.push(TaxFact { account: None, ..fact });
                continue;
            };
            let line = fact.posted(chart.standing(of_tax)?, home)?;
            let Some(more) = sum.checked_add(line.amount()) else { return Ok(Err(TooLarge)) };
            sum = more;
            lines.push(line.telling(vec![fact]));
        }
        let on = |amount: BookMoney| Line::on(rest.clone(), home.alone(amount), About::default());
        if sum == BookMoney::ZERO {
            // What moves nothing there, such as bases alone: the account where it stands says so on both of its sides.
            lines.push(on(told)?.telling(bare));
            lines.push(on(told.negated())?);
        } else {
            lines.push(on(sum.negated())?.telling(bare));
        }
    }
    Ok(Ok(lines))
}

fn too_large(_: TooLarge) -> Error {
    Error::too_large()
}
