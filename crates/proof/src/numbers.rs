//! The numbers of documents: none twice, none missing.

use super::{Check, Findings, MOST_FINDINGS};
use crate::error::Result;
use answers::Ask;
use schema::number_series as series;
use schema::reader::Reader;
use schema::tables::{DocumentKind, DocumentStatus, documents, number_counters};
use sea_orm::sea_query::ExprTrait;
use sea_orm::{ColumnTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect};

/// So many numbers are read at once.
const PORTION: u64 = 20_000;

pub(super) async fn numbers(reader: &Reader<'_>) -> Result<Check> {
    let all = series::Entity::find().filter(series::Column::BusinessId.eq(reader.id())).models(&reader.db).await?;
    let mut findings = Findings::default();
    let (mut given, mut expected) = (0_i64, 0_i64);
    for series in all {
        let counters = number_counters::Entity::find()
            .filter(number_counters::Column::BusinessId.eq(reader.id()))
            .filter(number_counters::Column::SeriesId.eq(series.id))
            .models(&reader.db)
            .await?;
        for counter in counters {
            let name = format!("{} {}", series.name, counter.period);
            let mut row = Row::of(series.first_number, counter.last);
            loop {
                let some = numbers_after(reader, &counter, row.last).await?;
                row.go_on(&some, &name, &mut findings);
                if (some.len() as u64) < PORTION {
                    break;
                }
                reader.pause().await?;
            }
            row.end(&name, &mut findings);
            expected += Ord::max(counter.last - series.first_number + 1, 0);
            given += row.given;
        }
    }
    let twice: Vec<(String, i64)> = documents::Entity::find()
        .select_only()
        .column(documents::Column::Number)
        .column_as(documents::Column::Id.count(), "times")
        .filter(documents::Column::BusinessId.eq(reader.id()))
        .filter(documents::Column::Number.is_not_null())
        .group_by(documents::Column::Kind)
        .group_by(documents::Column::Number)
        .having(documents::Column::Id.count().gt(1))
        .limit(PORTION)
        .read(&reader.db)
        .await?;
    for (number, times) in twice {
        findings.add(format!("{number} was given {times} times"));
    }
    // By kinds, as the numbers lie: without them the engine would look for what has none through the books of everybody.
    let beyond = documents::Entity::find()
        .filter(documents::Column::BusinessId.eq(reader.id()))
        .filter(documents::Column::Kind.is_in(DocumentKind::ALL.iter().copied()))
        .filter(documents::Column::Status.ne(DocumentStatus::Draft))
        .filter(documents::Column::Number.is_null())
        .count(&reader.db)
        .await?;
    if beyond > 0 {
        findings.add(format!("{beyond} documents in the books have no number"));
    }
    Ok(Check::of("V6", "Numbers are given without a gap and once", given, expected, findings))
}

/// The places in their series of documents of a period, after one of them, in order.
async fn numbers_after(reader: &Reader<'_>, counter: &number_counters::Model, last: Option<i64>) -> Result<Vec<i64>> {
    let mut given = documents::Entity::find()
        .select_only()
        .column(documents::Column::Sequence)
        .filter(documents::Column::BusinessId.eq(reader.id()))
        .filter(documents::Column::SeriesId.eq(counter.series_id))
        .filter(documents::Column::Period.eq(counter.period.as_str()))
        .filter(documents::Column::Sequence.is_not_null());
    if let Some(last) = last {
        given = given.filter(documents::Column::Sequence.gt(last));
    }
    Ok(given.order_by_asc(documents::Column::Sequence).limit(PORTION).column_of(&reader.db).await?)
}

/// A series in one period, from its first number to the last that was given.
struct Row {
    next: i64,
    end: i64,
    /// How many of them documents have.
    given: i64,
    /// The last that a document has.
    last: Option<i64>,
}

impl Row {
    const fn of(first: i64, end: i64) -> Self {
        Self { next: first, end, given: 0, last: None }
    }

    fn lacks(&mut self, until: i64, name: &str, findings: &mut Findings) {
        for missing in (self.next..until).take(MOST_FINDINGS) {
            findings.add(format!("{name}: number {missing} is missing"));
        }
    }

    /// Takes the next numbers, which rise.
    fn go_on(&mut self, numbers: &[i64], name: &str, findings: &mut Findings) {
        for number in numbers.iter().copied() {
            self.last = Some(number);
            if (self.next..=self.end).contains(&number) {
                self.lacks(number, name, findings);
                self.given += 1;
                self.next = number + 1;
            }
        }
    }

    fn end(&mut self, name: &str, findings: &mut Findings) {
        self.lacks(self.end + 1, name, findings);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_missing_is_named_wherever_it_is() {
        for (name, portions, first, last, missing, given) in [
            ("none", &[&[1, 2, 3][..]][..], 1, 3, &[][..], 3),
            ("at the beginning, between and at the end", &[&[2], &[5]], 1, 6, &[1, 3, 4, 6], 2),
            ("all", &[], 1, 2, &[1, 2], 0),
            ("one beyond the end is no other's", &[&[1, 2, 9]], 1, 2, &[], 2),
            ("one twice", &[&[1, 1, 3]], 1, 3, &[2], 2),
        ] {
            let (mut row, mut findings) = (Row::of(first, last), Findings::default());
            for some in portions {
                row.go_on(some, "S", &mut findings);
            }
            row.end("S", &mut findings);
            let wanted: Vec<String> = missing.iter().map(|number| format!("S: number {number} is missing")).collect();
            assert_eq!((findings.0, row.given), (wanted, given), "{name}");
        }
    }
}
