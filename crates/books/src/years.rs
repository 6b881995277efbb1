//! The fiscal years of a company: those that are kept, and those that follow them.

use crate::cx::Cx;
use crate::day::Day;
use crate::error::Result;
use answers::Ask;
use schema::fiscal_year::{self as kept, Column};
use sea_orm::{ColumnTrait, QueryFilter, QuerySelect};

/// Their first and last days.
pub struct Years(Vec<(Day, Day)>);

impl Years {
    pub async fn of(cx: &Cx<'_>) -> Result<Self> {
        let kept = kept::Entity::find()
            .select_only()
            .columns([Column::Starts, Column::Ends])
            .filter(Column::BusinessId.eq(cx.business_id()?));
        Ok(Self(kept.read(&cx.db).await?))
    }

    /// The first day of the year that a day lies in. Behind one that is kept come years of twelve months; before all that are
    /// kept, it is the first day of the company's own.
    pub fn start(&self, own: Day, day: Day) -> Day {
        if let Some((starts, _)) = self.0.iter().find(|(starts, ends)| *starts <= day && day <= *ends) {
            return *starts;
        }
        let Some(last) = self.0.iter().map(|(_, ends)| *ends).filter(|ends| *ends < day).max() else { return own };
        let first = last.next();
        let years = i64::from(day.year() - first.year());
        let begins = |years: i64| first.plus_months(12 * years);
        Some(begins(years)).filter(|begins| *begins <= day).unwrap_or_else(|| begins(years - 1))
    }
}

/// The first day of the fiscal year that a day lies in.
pub async fn start_of(cx: &Cx<'_>, day: Day) -> Result<Day> {
    Ok(Years::of(cx).await?.start(cx.business()?.fiscal_year_start(day), day))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Day {
        text.parse().unwrap()
    }

    #[test]
    fn a_day_is_of_the_year_that_is_kept_or_of_one_that_follows() {
        let kept = [("2025-04-01", "2026-03-31"), ("2026-04-01", "2027-09-30")];
        let years = Years(kept.iter().map(|(starts, ends)| (day(starts), day(ends))).collect());
        for (of, own, wanted) in [
            // Before all that are kept: as the company counts.
            ("2025-03-31", "2025-01-01", "2025-01-01"),
            ("2025-04-01", "2025-01-01", "2025-04-01"),
            ("2026-02-01", "2026-01-01", "2025-04-01"),
            ("2026-04-30", "2026-01-01", "2026-04-01"),
            ("2027-09-30", "2027-01-01", "2026-04-01"),
            // Behind them: year by year.
            ("2027-10-01", "2027-01-01", "2027-10-01"),
            ("2028-09-30", "2028-01-01", "2027-10-01"),
            ("2028-10-01", "2028-01-01", "2028-10-01"),
            ("2033-02-28", "2033-01-01", "2032-10-01"),
        ] {
            assert_eq!(years.start(day(own), day(of)), day(wanted), "{of}");
        }
        assert_eq!(Years(Vec::new()).start(day("2026-01-01"), day("2026-05-01")), day("2026-01-01"));
    }
}
