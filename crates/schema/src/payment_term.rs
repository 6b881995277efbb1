//! Payment terms as they are kept, and when what has them falls due.

use crate::clock::Instant;
use crate::day::Day;
use crate::ids::{BusinessId, RecordId, UserId};
use crate::money::Percent;
use crate::wire_enum;
use sea_orm::entity::prelude::*;

wire_enum! {
    /// From where the days are counted.
    pub enum TermKind {
        /// From the document's date.
        #[default]
        AfterDate = "afterDate",
        /// From the end of the document's month.
        AfterMonthEnd = "afterMonthEnd",
        /// A day of the month: the first such day after the document's date; 31 is the last day of any month.
        FixedDay = "fixedDay",
    }
}

wire_enum! {
    /// Whether it can be chosen for new documents.
    pub enum MasterStatus {
        #[default]
        Active = "active",
        Archived = "archived",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "payment_terms")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub business_id: BusinessId,
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: RecordId,
    pub name: String,
    pub name_key: String,
    pub r#type: TermKind,
    pub days: i64,
    pub discount_percent: Option<Percent>,
    pub discount_days: Option<i64>,
    pub status: MasterStatus,
    pub external_id: Option<String>,
    pub search: String,
    pub version: i64,
    pub created_at: Instant,
    pub created_by: UserId,
    pub updated_at: Instant,
    pub updated_by: UserId,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

answers::asked_whole!(Entity);

impl Model {
    /// When a document of a day is due.
    pub fn due(&self, date: Day) -> Day {
        match self.r#type {
            TermKind::AfterDate => date.plus_days(self.days),
            TermKind::AfterMonthEnd => date.last_of_month().plus_days(self.days),
            TermKind::FixedDay => {
                let day_in =
                    |month: Day| Ord::min(month.first_of_month().plus_days(self.days - 1), month.last_of_month());
                let this = day_in(date);
                if this > date { this } else { day_in(date.last_of_month().next()) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_due_as_its_terms_say() {
        for (kind, days, date, due) in [
            (TermKind::AfterDate, 30, "2026-01-15", "2026-02-14"),
            (TermKind::AfterDate, 0, "2026-01-15", "2026-01-15"),
            (TermKind::AfterMonthEnd, 10, "2026-02-03", "2026-03-10"),
            (TermKind::FixedDay, 20, "2026-01-15", "2026-01-20"),
            (TermKind::FixedDay, 15, "2026-01-15", "2026-02-15"),
            (TermKind::FixedDay, 31, "2026-01-31", "2026-02-28"),
        ] {
            let term = Model {
                business_id: BusinessId::default(),
                id: RecordId::default(),
                name: String::new(),
                name_key: String::new(),
                r#type: kind,
                days,
                discount_percent: None,
                discount_days: None,
                status: MasterStatus::Active,
                external_id: None,
                search: String::new(),
                version: 1,
                created_at: Instant::default(),
                created_by: UserId::default(),
                updated_at: Instant::default(),
                updated_by: UserId::default(),
            };
            assert_eq!(term.due(date.parse().unwrap()).to_string(), due, "{kind} {days} {date}");
        }
    }
}
