//! Document numbers: gapless within a series and its period, taken only when a document is posted.

use crate::access::Business;
use crate::cx::Cx;
use crate::day::Day;
use crate::error::{Code, Conflict, Error, FieldErrors, Result};
use crate::ids::{BusinessId, RecordId};
use crate::quoting::quoted;
use schema::number_series::{self as series, Chronology, ResetOn, SeriesStatus};
use schema::tables::{DocumentKind, documents};
use sea_orm::{ColumnTrait, ConnectionTrait, PaginatorTrait, QueryFilter};

/// Where a series stands in a period.
#[derive(Debug, Clone, Copy)]
pub struct Counter {
    pub last: i64,
    /// The latest date that got a number.
    pub last_date: Day,
    pub changed: bool,
}

/// All series of a company.
#[derive(Debug, Default)]
pub struct Numbering(Vec<series::Model>);

/// A number that a document gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Numbered {
    pub number: String,
    pub series: RecordId,
    /// The place in the series' period; a number given by hand that is not of the series' form has none.
    pub place: Option<(String, i64)>,
    pub by_hand: bool,
}

impl Numbering {
    pub async fn load(connection: &impl ConnectionTrait, business: BusinessId) -> Result<Self> {
        Ok(Self(series::Entity::find().filter(series::Column::BusinessId.eq(business)).all(connection).await?))
    }

    /// The series a document belongs to: the one it names, else the default of its kind.
    pub fn series(&self, kind: DocumentKind, named: Option<RecordId>) -> Result<&series::Model> {
        let found = match named {
            Some(id) => self.0.iter().find(|series| series.id == id && series.r#type == kind),
            None => self.0.iter().find(|series| series.is_default && series.r#type == kind),
        };
        match (found, named) {
            (Some(series), _) if series.status == SeriesStatus::Archived => {
                Err(Error::field("seriesId", "names a number series that is archived"))
            }
            (Some(series), _) => Ok(series),
            (None, Some(_)) => Err(Error::field("seriesId", "names no number series for this kind of document")),
            (None, None) => {
                Err(Error::conflict(Code::InvalidState, format!("There is no default number series for {kind}")))
            }
        }
    }
}

/// Chooses the number of a document that is posted now. Nothing is taken yet.
pub async fn choose(
    cx: &Cx<'_>,
    kind: DocumentKind,
    date: Day,
    named: Option<RecordId>,
    by_hand: Option<&str>,
) -> Result<Numbered> {
    let business = cx.business()?;
    let numbering = cx.numbering().await?;
    let series = numbering.series(kind, named)?;
    if let Some(number) = by_hand {
        return by_hand_in(cx, series, kind, (date, number), None).await;
    }
    let period = period_of(series.reset_on, business, date);
    let counter = cx.counter(series.id, &period).await?;
    if let Some(counter) =
        counter.filter(|counter| series.chronological == Chronology::Block && date < counter.last_date)
    {
        let mut errors = FieldErrors::default();
        errors.add(
            "date",
            format!("must not be before {}, the date of the last number of the series", counter.last_date),
        );
        return Err(Error::Conflict(Conflict {
            code: Code::InvalidState,
            title: "The number series is chronological".into(),
            errors,
        }));
    }
    let mut place = counter.map_or(series.first_number, |counter| counter.last + 1);
    // Places that were taken by hand are passed over; the series stays without a gap.
    while series.allow_manual && is_place_taken(cx, series.id, &period, place).await? {
        place += 1;
    }
    let number = format(&series.pattern, business, date, place);
    Ok(Numbered { number, series: series.id, place: Some((period, place)), by_hand: false })
}

/// A number that was given by hand, if it may be. One of the series' own form takes that place in the series.
pub async fn by_hand_in(
    cx: &Cx<'_>,
    series: &series::Model,
    kind: DocumentKind,
    (date, number): (Day, &str),
    except: Option<RecordId>,
) -> Result<Numbered> {
    let business = cx.business()?;
    if !series.allow_manual {
        return Err(Error::field("number", "is given by the number series, which takes none by hand"));
    }
    if is_taken(cx, kind, number, except).await? {
        return Err(taken(number));
    }
    let place = place_of(&series.pattern, business, date, number);
    if place.is_none() && has_form_of(&series.pattern, number) {
        return Err(Error::field("number", "is of the series' form, but for another period than that of the date"));
    }
    if place.is_some_and(|place| place < series.first_number) {
        return Err(Error::field(
            "number",
            format!("comes before the first number of the series, {}", series.first_number),
        ));
    }
    let place = place.map(|place| (period_of(series.reset_on, business, date), place));
    Ok(Numbered { number: number.to_owned(), series: series.id, place, by_hand: true })
}

pub fn taken(number: &str) -> Error {
    Error::Conflict(Conflict {
        code: Code::Duplicate,
        title: "Another document has this number".into(),
        errors: FieldErrors::one("number", format!("{} is already used", quoted(number))),
    })
}

async fn is_taken(cx: &Cx<'_>, kind: DocumentKind, number: &str, except: Option<RecordId>) -> Result<bool> {
    cx.flush().await?;
    let mut others = documents::Entity::find()
        .filter(documents::Column::BusinessId.eq(cx.business_id()?))
        .filter(documents::Column::Kind.eq(kind))
        .filter(documents::Column::Number.eq(number));
    if let Some(id) = except {
        others = others.filter(documents::Column::Id.ne(id));
    }
    Ok(others.count(&cx.db).await? > 0)
}

async fn is_place_taken(cx: &Cx<'_>, series: RecordId, period: &str, place: i64) -> Result<bool> {
    cx.flush().await?;
    let others = documents::Entity::find()
        .filter(documents::Column::BusinessId.eq(cx.business_id()?))
        .filter(documents::Column::SeriesId.eq(series))
        .filter(documents::Column::Period.eq(period))
        .filter(documents::Column::Sequence.eq(place));
    Ok(others.count(&cx.db).await? > 0)
}

/// What tells the periods of a series apart.
pub fn period_of(reset_on: ResetOn, business: &Business, date: Day) -> String {
    match reset_on {
        ResetOn::Never => String::new(),
        ResetOn::FiscalYear => business.fiscal_year_start(date).to_string(),
        ResetOn::Month => date.year_and_month(),
    }
}

/// A pattern, taken apart: texts and the words in braces between them.
fn words(pattern: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('{') {
        let (word, after) = after.split_once('}').unwrap_or((after, ""));
        words.extend([
            Word::Text(before),
            if word.starts_with('0') { Word::Counter(word.len()) } else { Word::Of(word) },
        ]);
        rest = after;
    }
    words.push(Word::Text(rest));
    words
}

#[derive(Debug, Clone, Copy)]
enum Word<'p> {
    Text(&'p str),
    Of(&'p str),
    Counter(usize),
}

fn write(word: Word<'_>, business: &Business, date: Day, place: i64) -> String {
    match word {
        Word::Text(text) => text.to_owned(),
        Word::Of("FY") => format!("{:04}", business.fiscal_year_end(date).year()),
        Word::Of("YYYY") => format!("{:04}", date.year()),
        Word::Of("YY") => format!("{:02}", date.year() % 100),
        Word::Of(_) => format!("{:02}", date.month()),
        Word::Counter(width) => format!("{place:0width$}"),
    }
}

/// Writes a number by its pattern: `{FY}` is the year in which the fiscal year ends.
pub fn format(pattern: &str, business: &Business, date: Day, place: i64) -> String {
    words(pattern).into_iter().map(|word| write(word, business, date, place)).collect()
}

/// The place of a number in its series, if the pattern would write it like this on that date.
fn place_of(pattern: &str, business: &Business, date: Day, number: &str) -> Option<i64> {
    let words = words(pattern);
    let at = words.iter().position(|word| matches!(word, Word::Counter(_)))?;
    let text = |words: &[Word<'_>]| -> String { words.iter().map(|word| write(*word, business, date, 0)).collect() };
    let digits = number.strip_prefix(&text(&words[..at]))?.strip_suffix(&text(&words[at + 1..]))?;
    let place = digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse::<i64>().ok()).flatten()?;
    (format(pattern, business, date, place) == number).then_some(place)
}

/// Whether the pattern could have written this on some date.
fn has_form_of(pattern: &str, number: &str) -> bool {
    let mut rest = number;
    for word in words(pattern) {
        let digits = |count: usize, rest: &str| {
            rest.len() >= count && rest.bytes().take(count).all(|byte| byte.is_ascii_digit())
        };
        let width = match word {
            Word::Text(text) => match rest.strip_prefix(text) {
                Some(after) => {
                    rest = after;
                    continue;
                }
                None => return false,
            },
            Word::Of("FY" | "YYYY") => 4,
            Word::Of(_) => 2,
            Word::Counter(width) => width,
        };
        if !digits(width, rest) {
            return false;
        }
        rest = &rest[width..];
        if matches!(word, Word::Counter(_)) {
            rest = rest.trim_start_matches(|letter: char| letter.is_ascii_digit());
        }
    }
    rest.is_empty()
}

/// What is wrong with a pattern, if anything.
pub fn fault_of_pattern(pattern: &str, reset_on: ResetOn) -> Option<String> {
    let mut words = Vec::new();
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((word, after)) = after.split_once('}') else { return Some("has a { without its }".into()) };
        if before.contains('}') {
            return Some("has a } without its {".into());
        }
        words.push(word);
        rest = after;
    }
    if rest.contains('}') {
        return Some("has a } without its {".into());
    }
    let is_counter = |word: &str| !word.is_empty() && word.len() <= 12 && word.bytes().all(|byte| byte == b'0');
    if let Some(unknown) = words.iter().find(|word| !is_counter(word) && !matches!(**word, "FY" | "YYYY" | "YY" | "MM"))
    {
        return Some(format!(
            "has {{{unknown}}}, which is none of {{FY}}, {{YYYY}}, {{YY}}, {{MM}} and a counter such as {{0000}}"
        ));
    }
    if words.iter().filter(|word| is_counter(word)).count() != 1 {
        return Some("must have exactly one counter, such as {0000}".into());
    }
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    match reset_on {
        ResetOn::Never => None,
        // A year of the calendar may lie in two fiscal years, and would give the same number in both.
        ResetOn::FiscalYear if has(&["FY"]) => None,
        ResetOn::FiscalYear => Some("must have {FY}, since its numbers begin anew each fiscal year".into()),
        ResetOn::Month if has(&["MM"]) && has(&["FY", "YYYY", "YY"]) => None,
        ResetOn::Month => Some("must have {MM} and {YYYY}, since its numbers begin anew each month".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_must_tell_its_periods_apart_and_count() {
        let good = |pattern, reset| fault_of_pattern(pattern, reset).is_none();
        assert!(good("JV-{FY}-{0000}", ResetOn::FiscalYear));
        assert!(good("{YYYY}/{MM}/{00}", ResetOn::Month));
        assert!(good("{000000}", ResetOn::Never));
        for (pattern, reset) in [
            ("JV-{0000}", ResetOn::FiscalYear),
            ("JV-{YYYY}-{0000}", ResetOn::FiscalYear),
            ("{YYYY}-{0000}", ResetOn::Month),
            ("JV", ResetOn::Never),
            ("{00}{00}", ResetOn::Never),
            ("{DD}{00}", ResetOn::Never),
            ("{00", ResetOn::Never),
            ("00}", ResetOn::Never),
            ("{}", ResetOn::Never),
        ] {
            assert!(!good(pattern, reset), "{pattern}");
        }
    }

    #[test]
    fn a_number_follows_its_pattern() {
        let mut business = Business::sample();
        let day = |text: &str| text.parse::<Day>().unwrap();
        assert_eq!(format("JV-{FY}-{0000}", &business, day("2026-05-01"), 7), "JV-2026-0007");
        assert_eq!(format("{YY}{MM}#{00}", &business, day("2026-05-01"), 1234), "2605#1234");
        let place = |number| place_of("JV-{FY}-{0000}", &business, day("2026-05-01"), number);
        assert_eq!((place("JV-2026-0012"), place("JV-2026-12"), place("JV-2025-0012")), (Some(12), None, None));
        assert_eq!((place("JV-2026-12345"), place("JV-2026-012345")), (Some(12_345), None));
        assert!(has_form_of("JV-{FY}-{0000}", "JV-2025-0012") && !has_form_of("JV-{FY}-{0000}", "JV-25-12"));
        business.fiscal_year_start_month = 4;
        assert_eq!(format("JV-{FY}-{0000}", &business, day("2026-05-01"), 7), "JV-2027-0007");
        assert_eq!(period_of(ResetOn::FiscalYear, &business, day("2026-03-31")), "2025-04-01");
        assert_eq!(period_of(ResetOn::FiscalYear, &business, day("2026-04-01")), "2026-04-01");
    }
}
