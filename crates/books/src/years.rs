//! The fiscal years of a company: those that are kept, and those that follow them.

use crate::access::Business;
use crate::cx::Cx;
use crate::day::Day;
use crate::error::Result;
use answers::Ask;
use schema::fiscal_year::{self as kept, Column};
use sea_orm::{ColumnTrait, QueryFilter, QuerySelect};

/// The first and last days of those that are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Years(Vec<(Day, Day)>);

impl Years {
    pub async fn of(cx: &Cx<'_>) -> Result<Self> {
        let kept = kept::Entity::find()
            .select_only()
            .columns([Column::Starts, Column::Ends])
            .filter(Column::BusinessId.eq(cx.business_id()?));
        Ok(Self(kept.read(&cx.db).await?))
    }

    /// The first day of the year that a day lies in.
    pub fn start(&self, business: &Business, day: Day) -> Day {
        self.around(day, || (business.fiscal_year_start(day), business.fiscal_year_end(day))).0
    }

    /// The last day of the year that a day lies in.
    pub fn end(&self, business: &Business, day: Day) -> Day {
        self.around(day, || (business.fiscal_year_start(day), business.fiscal_year_end(day))).1
    }

    /// The year that a day lies in. Behind one that is kept come years of twelve months, and before all that are kept the
    /// company's own; none goes on into one that is kept.
    fn around(&self, day: Day, own: impl FnOnce() -> (Day, Day)) -> (Day, Day) {
        if let Some(kept) = self.0.iter().find(|(starts, ends)| *starts <= day && day <= *ends) {
            return *kept;
        }
        let before = self.0.iter().map(|(_, ends)| *ends).filter(|ends| *ends < day).max();
        let (starts, ends) = before.map_or_else(own, |last| {
            let first = last.next();
            let begins = |years: i64| first.plus_months(12 * years);
            let years = i64::from(day.year() - first.year());
            let years = if begins(years) <= day { years } else { years - 1 };
            (begins(years), begins(years + 1).previous())
        });
        let next = self.0.iter().map(|(starts, _)| starts.previous()).filter(|last| *last >= day).min();
        (starts, next.map_or(ends, |last| Ord::min(ends, last)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn year(starts: &str, ends: &str) -> (Day, Day) {
        (starts.parse().unwrap(), ends.parse().unwrap())
    }

    #[test]
    fn a_day_is_of_the_year_that_is_kept_or_of_one_that_follows() {
        let years = Years(vec![
            year("2025-04-01", "2026-03-31"),
            year("2026-04-01", "2027-09-30"),
            year("2030-01-01", "2030-12-31"),
        ]);
        for (of, starts, ends) in [
            // Before all that are kept: as the company counts, until the first of them begins.
            ("2024-06-30", "2024-01-01", "2024-12-31"),
            ("2025-03-31", "2025-01-01", "2025-03-31"),
            ("2025-04-01", "2025-04-01", "2026-03-31"),
            ("2026-02-01", "2025-04-01", "2026-03-31"),
            ("2027-09-30", "2026-04-01", "2027-09-30"),
            // Behind them: year by year, until the next begins.
            ("2027-10-01", "2027-10-01", "2028-09-30"),
            ("2028-09-30", "2027-10-01", "2028-09-30"),
            ("2029-12-31", "2029-10-01", "2029-12-31"),
            ("2033-02-28", "2033-01-01", "2033-12-31"),
        ] {
            let own = || year(&format!("{}-01-01", &of[..4]), &format!("{}-12-31", &of[..4]));
            assert_eq!(years.around(of.parse().unwrap(), own), year(starts, ends), "{of}");
        }
        let own = year("2026-01-01", "2026-12-31");
        assert_eq!(Years::default().around("2026-05-01".parse().unwrap(), || own), own);
    }
}
