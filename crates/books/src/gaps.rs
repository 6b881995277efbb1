//! Numbers that a series has not given.

use crate::cx::Cx;
use crate::error::Result;
use crate::ids::RecordId;
use answers::Ask;
use schema::tables::{documents, number_counters};
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, QueryFilter, QueryOrder, QuerySelect};
use serde::Serialize;

/// One period of a series.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PeriodGaps {
    /// The first day of the fiscal year, the month such as `2026-11`, or nothing for a series that never begins anew.
    pub period: String,
    /// Its first number.
    pub first: i64,
    /// Its last number.
    pub last: i64,
    /// Numbers between them that no document has.
    pub missing: Vec<i64>,
}

/// A gap that is wider is not told number by number.
const MOST_MISSING: usize = 1_000;

pub async fn gaps_of(cx: &Cx<'_>, series: RecordId, first: i64) -> Result<Vec<PeriodGaps>> {
    let counters = number_counters::Entity::find()
        .filter(number_counters::Column::BusinessId.eq(cx.business_id()?))
        .filter(number_counters::Column::SeriesId.eq(series))
        .order_by_asc(number_counters::Column::Period)
        .models(&cx.db)
        .await?;
    let mut periods = Vec::new();
    for counter in counters {
        let given: Vec<i64> = documents::Entity::find()
            .select_only()
            .column(documents::Column::Sequence)
            .filter(documents::Column::BusinessId.eq(counter.business_id))
            .filter(documents::Column::SeriesId.eq(series))
            .filter(documents::Column::Period.eq(counter.period.as_str()))
            .filter(documents::Column::Sequence.is_not_null())
            .order_by_asc(documents::Column::Sequence)
            .column_of(&cx.db)
            .await?;
        periods.push(PeriodGaps {
            period: counter.period,
            first,
            last: counter.last,
            missing: missing(&given, first, counter.last),
        });
    }
    Ok(periods)
}

/// What is not given between two numbers; `given` rises.
fn missing(given: &[i64], first: i64, last: i64) -> Vec<i64> {
    let (mut missing, mut next) = (Vec::new(), first);
    for &number in given.iter().filter(|number| (first..=last).contains(number)) {
        missing.extend((next..number).take(MOST_MISSING - missing.len()));
        next = number + 1;
    }
    missing.extend((next..=last).take(MOST_MISSING - missing.len()));
    missing
}

#[cfg(test)]
mod tests {
    use super::missing;

    #[test]
    fn a_gap_is_named_wherever_it_is() {
        assert_eq!(missing(&[1, 2, 3], 1, 3), Vec::<i64>::new());
        assert_eq!(missing(&[2, 5], 1, 6), [1, 3, 4, 6]);
        assert_eq!(missing(&[], 1, 2), [1, 2]);
        assert_eq!(missing(&[1, 2, 9], 1, 2), Vec::<i64>::new());
    }
}
