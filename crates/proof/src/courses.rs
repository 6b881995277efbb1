//! What was void, or allocated no longer, as of a later day: on the days before, no more was taken than there was. Nor was
//! more of a line of goods invoiced on any day than had not gone back.
//!
//! Where nothing ended on a later day and nothing went back, what stands by now says so already. Read from rows and added
//! up here, day by day.

use super::shares::{Amounts, invoiced, taken, within};
use super::{Check, Findings, Wide, kept, shown};
use crate::day::Day;
use crate::error::Result;
use crate::ids::RecordId;
use answers::Ask;
use schema::reader::Reader;
use schema::tables::{
    DocumentKind, DocumentStatus, Relation, allocations, document_links, documents, open_item_moves, progress,
    progress_moves,
};
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{ColumnTrait, QueryFilter, QuerySelect};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use words::sums::Sums as _;

/// So many are looked up at once.
const AT_ONCE: usize = 500;

pub(super) async fn check(reader: &Reader<'_>) -> Result<Check> {
    let mut findings = Findings::default();
    let open = of_open_items(reader, &mut findings).await?;
    reader.pause().await?;
    let notes = of_notes(reader, &mut findings).await?;
    reader.pause().await?;
    let credits = of_credits(reader, &mut findings).await?;
    let (looked, wrong) = (open + notes + credits, findings.0.len());
    Ok(Check::of("L2", "On no day more is taken than there is", looked, looked - wrong.min(looked), findings))
}

/// Moves of one thing: when, by how much, and whether they take of it.
type Moves = Vec<(Day, Wide, bool)>;

/// The first day on whose evening more is taken than there is.
fn over(moves: &Moves) -> Option<Day> {
    let mut days: BTreeMap<Day, (Wide, Wide)> = BTreeMap::new();
    for (day, amount, takes) in moves {
        let (began, took) = days.entry(*day).or_default();
        *(if *takes { took } else { began }) += amount;
    }
    let (mut began, mut took) = (0, 0);
    days.into_iter().find_map(|(day, (more, takes))| {
        (began, took) = (began + more, took + takes);
        let stands = if began < 0 { began <= -took && took >= 0 } else { began >= -took && took <= 0 };
        (!stands).then_some(day)
    })
}

async fn of_open_items(reader: &Reader<'_>, findings: &mut Findings) -> Result<usize> {
    let business = reader.id();
    let later = Expr::col(allocations::Column::RemovedOn).gt(Expr::col(allocations::Column::Date));
    let ended: Vec<(RecordId, RecordId)> = allocations::Entity::find()
        .select_only()
        .columns([allocations::Column::SourceId, allocations::Column::TargetId])
        .filter(allocations::Column::BusinessId.eq(business))
        .filter(later)
        .read(&reader.db)
        .await?;
    let items: BTreeSet<RecordId> = ended.into_iter().flat_map(|(source, target)| [source, target]).collect();
    let items: Vec<RecordId> = items.into_iter().collect();
    for portion in items.chunks(AT_ONCE) {
        let mut moves: HashMap<RecordId, Moves> = HashMap::new();
        let rows = open_item_moves::Entity::find()
            .filter(open_item_moves::Column::BusinessId.eq(business))
            .filter(open_item_moves::Column::OpenItemId.is_in(portion.iter().copied()));
        for row in rows.models(&reader.db).await? {
            let moved = (row.date, Wide::from(row.amount.units()), row.allocation_id.is_some());
            moves.entry(row.open_item_id).or_default().push(moved);
        }
        for (item, moves) in &moves {
            if let Some(day) = over(moves) {
                findings.add(format!("open item {item}: on {day} more is settled than there is"));
            }
        }
    }
    Ok(items.len())
}

/// Documents that were void as of a later day, with what they say.
async fn ended(reader: &Reader<'_>) -> Result<Vec<RecordId>> {
    let later = Expr::col(documents::Column::VoidDate).gt(Expr::col(documents::Column::Date));
    let found = documents::Entity::find()
        .select_only()
        .column(documents::Column::Id)
        .filter(documents::Column::BusinessId.eq(reader.id()))
        .filter(documents::Column::Status.eq(DocumentStatus::Void))
        .filter(later);
    Ok(found.column_of(&reader.db).await?)
}

/// Lines of notes: what was invoiced and returned of them.
async fn of_notes(reader: &Reader<'_>, findings: &mut Findings) -> Result<usize> {
    let business = reader.id();
    let mut lines: BTreeSet<RecordId> = BTreeSet::new();
    for portion in ended(reader).await?.chunks(AT_ONCE) {
        let moved = progress_moves::Entity::find()
            .select_only()
            .column(progress_moves::Column::LineId)
            .filter(progress_moves::Column::BusinessId.eq(business))
            .filter(progress_moves::Column::DocumentId.is_in(portion.iter().copied()))
            .filter(progress_moves::Column::IsCorrection.eq(false))
            .distinct();
        lines.extend(moved.column_of::<RecordId>(&reader.db).await?);
    }
    let gone_back = progress::Entity::find()
        .select_only()
        .column(progress::Column::LineId)
        .filter(progress::Column::BusinessId.eq(business))
        .filter(progress::Column::Returned.ne(0));
    lines.extend(gone_back.column_of::<RecordId>(&reader.db).await?);
    let lines: Vec<RecordId> = lines.into_iter().collect();
    for portion in lines.chunks(AT_ONCE) {
        let rows = progress::Entity::find()
            .filter(progress::Column::BusinessId.eq(business))
            .filter(progress::Column::LineId.is_in(portion.iter().copied()));
        let rows: Vec<progress::Model> =
            rows.models(&reader.db).await?.into_iter().filter(|line| !line.is_order()).collect();
        let moves = progress_moves::Entity::find()
            .filter(progress_moves::Column::BusinessId.eq(business))
            .filter(progress_moves::Column::LineId.is_in(rows.iter().map(|line| line.line_id)))
            .filter(progress_moves::Column::IsCorrection.eq(false));
        let mut taken: HashMap<RecordId, Vec<Took>> = HashMap::new();
        for row in moves.models(&reader.db).await? {
            let [invoiced, returned] = [row.invoiced, row.returned].map(|quantity| Wide::from(quantity.units()));
            let is_bill = matches!(row.kind, DocumentKind::SalesInvoice | DocumentKind::PurchaseInvoice);
            let billed = if is_bill { invoiced } else { 0 };
            let took = [invoiced, returned, billed];
            taken.entry(row.line_id).or_default().push((row.date, took));
        }
        for line in &rows {
            let took = taken.get(&line.line_id).map_or(&[][..], Vec::as_slice);
            if let Some(day) = over_note(Wide::from(line.quantity.units()), took) {
                findings.add(format!("line {} of a note: on {day} more is taken than there is", line.line_id));
            }
        }
    }
    Ok(lines.len())
}

/// What was invoiced on a day, what went back, and what of the first an invoice took: a credit that ends gives back what was
/// invoiced before.
type Took = (Day, [Wide; 3]);

/// The first day on which more of a note's line is invoiced, or returned, than there is, or more is invoiced than had not
/// gone back by then. What was invoiced may go back afterwards, and what came again on the very day is there.
fn over_note(whole: Wide, took: &[Took]) -> Option<Day> {
    let sum = |of: &dyn Fn(&Took) -> Wide| took.iter().map(of).sum::<Wide>();
    let over = |day: Day| {
        let until = |which: usize| sum(&|(at, took)| if *at <= day { took[which] } else { 0 });
        let [today, billed] = [0, 2].map(|which| sum(&|(at, took)| if *at == day { took[which] } else { 0 }));
        let went_today = sum(&|(at, took)| if *at == day { Ord::max(took[1], 0) } else { 0 });
        let (invoiced, returned) = (until(0), until(1));
        invoiced > whole || returned > whole || (today > 0 && billed > 0 && invoiced + returned - went_today > whole)
    };
    took.iter().map(|(day, _)| *day).collect::<BTreeSet<Day>>().into_iter().find(|day| over(*day))
}

/// A note that credits, from its day on until it ends.
struct Credit {
    from: Day,
    until: Option<Day>,
    number: String,
    took: HashMap<String, Amounts>,
}

async fn contents(
    reader: &Reader<'_>,
    ids: &BTreeSet<RecordId>,
    findings: &mut Findings,
) -> Result<Vec<(documents::Model, serde_json::Value)>> {
    let rows = documents::Entity::find()
        .filter(documents::Column::BusinessId.eq(reader.id()))
        .filter(documents::Column::Id.is_in(ids.iter().copied()))
        .filter(documents::Column::Status.ne(DocumentStatus::Draft));
    let mut found = Vec::new();
    for row in rows.models(&reader.db).await? {
        found.extend(kept(row.named(), &row.content, findings)?.map(|content| (row, content)));
    }
    Ok(found)
}

async fn of_credits(reader: &Reader<'_>, findings: &mut Findings) -> Result<usize> {
    let business = reader.id();
    let links = || {
        document_links::Entity::find()
            .filter(document_links::Column::BusinessId.eq(business))
            .filter(document_links::Column::Relation.eq(Relation::Credits))
    };
    let mut invoices: BTreeSet<RecordId> = BTreeSet::new();
    for portion in ended(reader).await?.chunks(AT_ONCE) {
        let found = links().filter(document_links::Column::DocumentId.is_in(portion.iter().copied()));
        invoices.extend(found.models(&reader.db).await?.into_iter().map(|link| link.source_document_id));
    }
    for invoice in &invoices {
        let found = links().filter(document_links::Column::SourceDocumentId.eq(*invoice)).models(&reader.db).await?;
        let mut credits = Vec::new();
        for (row, content) in contents(reader, &found.iter().map(|link| link.document_id).collect(), findings).await? {
            let mut took = HashMap::new();
            taken(&content, &mut took)?;
            let number = row.number.as_deref().unwrap_or("").to_owned();
            credits.push(Credit { from: row.date, until: row.void_date, number, took });
        }
        for (row, content) in contents(reader, &BTreeSet::from([*invoice]), findings).await? {
            let number = row.number.as_deref().unwrap_or("");
            for credit in credits.iter().filter(|credit| credit.until.is_none_or(|until| until > credit.from)) {
                if row.void_date.is_some_and(|end| credit.until.is_none_or(|until| until > end)) {
                    findings.add(format!("{number} is void while {} credits it", credit.number));
                }
            }
            over_credited(&credits, &invoiced(&content)?, number, findings);
        }
    }
    Ok(invoices.len())
}

fn over_credited(credits: &[Credit], lines: &HashMap<String, Amounts>, number: &str, findings: &mut Findings) {
    for day in credits.iter().map(|credit| credit.from).collect::<BTreeSet<Day>>() {
        let mut sums: HashMap<&str, Amounts> = HashMap::new();
        let stands = |credit: &&Credit| credit.from <= day && credit.until.is_none_or(|until| until > day);
        for (line, amounts) in credits.iter().filter(stands).flat_map(|credit| &credit.took) {
            for (what, amount) in amounts {
                *sums.entry(line).or_default().entry(what.clone()).or_default() += amount;
            }
        }
        for (line, sums) in sums {
            let Some(whole) = lines.get(line) else { continue };
            for (what, part) in sums.iter().filter(|(what, part)| !within(**part, whole.sum_of(*what))) {
                let part = shown(*part / 100);
                findings.add(format!("{number}, line {line}: on {day} {part} {what} are credited"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_note_no_more_is_invoiced_than_had_not_gone_back() {
        let day = |text: &str| -> Day { format!("2026-{text}").parse().unwrap() };
        for (name, moves, expected) in [
            (
                "what was invoiced goes back, and comes again",
                &[("03-09", 4, 0), ("03-12", 0, 4), ("03-15", 0, -4)][..],
                None,
            ),
            ("invoiced and gone back on a day", &[("03-09", 4, 4)], None),
            ("invoiced while it was away", &[("03-09", 0, 4), ("03-12", 4, 0), ("03-15", 0, -4)], Some("03-12")),
            ("invoiced twice until one was void", &[("03-09", 4, 0), ("03-10", 4, 0), ("03-15", -4, 0)], Some("03-10")),
            ("invoiced on the day that it came again", &[("03-09", 0, 4), ("03-15", 4, -4)], None),
            (
                "credited until a day, and gone back on it",
                &[("03-01", 4, 0), ("06-01", -4, 4), ("07-01", 4, -4), ("07-01", 0, 4)],
                None,
            ),
            ("gone back twice", &[("03-09", 0, 3), ("03-10", 0, 3)], Some("03-10")),
        ] {
            let took: Vec<Took> =
                moves.iter().map(|(at, invoiced, returned)| (day(at), [*invoiced, *returned, *invoiced])).collect();
            assert_eq!(over_note(4, &took), expected.map(day), "{name}");
        }
        for (billed, expected) in [(0, None), (4, Some(day("03-04")))] {
            let credited_until = [
                (day("02-15"), [4, 0, 4]),
                (day("02-20"), [0, 4, 0]),
                (day("02-20"), [-4, 0, 0]),
                (day("03-04"), [4, 0, billed]),
            ];
            assert_eq!(over_note(4, &credited_until), expected);
        }
    }

    #[test]
    fn more_is_settled_than_there_is_from_a_day_on() {
        let day = |text: &str| -> Day { format!("2026-{text}").parse().unwrap() };
        for (name, moves, expected) in [
            ("all of it, until March", &[("01-10", 100, false), ("01-20", -100, true), ("03-01", 100, true)][..], None),
            (
                "twice",
                &[("01-10", 100, false), ("01-20", -100, true), ("02-01", -100, true), ("03-01", 100, true)],
                Some("02-01"),
            ),
            (
                "gone while it was settled",
                &[("01-10", -100, false), ("01-10", 100, false), ("01-20", 100, true), ("03-01", -100, true)],
                Some("01-20"),
            ),
            ("before it was there", &[("01-05", 10, true), ("01-10", -100, false)], Some("01-05")),
            ("money that is used", &[("01-10", -100, false), ("01-20", 60, true)], None),
        ] {
            let moves: Moves = moves.iter().map(|(at, amount, takes)| (day(at), *amount, *takes)).collect();
            assert_eq!(over(&moves), expected.map(day), "{name}");
        }
    }
}
