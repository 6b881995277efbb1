//! Fiscal years: the periods that books are closed by.
//!
//! A day that lies in none of them is open. What a fiscal year is for numbering and for reports follows from
//! the company's first day of the year; these records say which of them are closed.

use crate::day::Day;
use crate::error::{Code, Conflict, Error, FieldErrors, Result};
use crate::field::{Faults, Field, Label, Maybe};
use answers::Ask;
use books::access::Business;
use books::cx::Cx;
use books::years::Years;
use kit::extra::Extra;
use kit::list::Reads;
use kit::master::{Columns, Master, RecordKeeping, keeping, kept, master_operations};
use kit::resource::{About, Resource, Scope};
use kit::rows::{Filter, Rows};
use schema::key::ResourceKey;
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, Condition, QueryFilter, Value};
use serde::{Deserialize, Serialize};
use serde_json::json;

pub struct FiscalYears;

/// What a client sends to create or replace a fiscal year.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct FiscalYearInput {
    /// Name of the year.
    name: Field<Label<100>>,
    /// Its first day.
    start: Field<Day>,
    /// Its last day; at most 24 months, and no day of another fiscal year.
    end: Field<Day>,
    /// Whether it takes postings; `open` when absent. A year is closed and reopened by its own actions alone.
    status: Maybe<FiscalYearStatus>,
}

/// A fiscal year.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "FiscalYear")]
pub struct FiscalYearView {
    #[serde(flatten)]
    keeping: RecordKeeping,
    /// Name of the year.
    name: String,
    /// Its first day.
    start: Day,
    /// Its last day.
    end: Day,
    /// Whether it takes postings.
    status: FiscalYearStatus,
}

impl AsRef<RecordKeeping> for FiscalYearView {
    fn as_ref(&self) -> &RecordKeeping {
        &self.keeping
    }
}

pub(crate) use schema::fiscal_year as table;
pub use schema::fiscal_year::FiscalYearStatus;
use table::Column;

impl Resource for FiscalYears {
    const KEY: ResourceKey = ResourceKey::FiscalYears;
    const SCOPE: Scope = Scope::Business;
    const ABOUT: About = About {
        one: "a fiscal year",
        many: "fiscal years",
        description: "The periods that books are closed by. A closed year takes no postings. Closing one brings what it \
                      earned to the retained earnings, and changes no figure of its reports.",
        sorts: &["start", "name", "createdAt", "updatedAt"],
        searched: "name",
    };
    type Input = FiscalYearInput;
    type Draft = Columns<Column>;
    type View = FiscalYearView;

    fn example() -> serde_json::Value {
        json!({ "name": "2026", "start": "2026-01-01", "end": "2026-12-31", "status": "open" })
    }

    fn example_view() -> serde_json::Value {
        json!({})
    }

    fn check(_: Option<&Business>, input: FiscalYearInput) -> Result<Columns<Column>, FieldErrors> {
        let mut faults = Faults::default();
        let given = matches!((&input.start, &input.end), (Field::Given(_), Field::Given(_)));
        let name = faults.required("name", input.name).into_inner();
        let start = faults.required("start", input.start);
        let end = faults.required("end", input.end);
        let longest = start.year().checked_add(2).and_then(|year| Day::new(year, start.month(), start.day().min(28)));
        if given && end <= start {
            faults.add("end", "must be after the start");
        } else if given && longest.is_some_and(|longest| end >= longest) {
            faults.add("end", "must be at most 24 months after the start");
        }
        let mut row = Columns::new();
        row.set(Column::NameKey, crate::texts::search_key(&name));
        row.set(Column::Search, crate::texts::search_key(&name));
        row.set(Column::Name, name);
        row.set(Column::Starts, start);
        row.set(Column::Ends, end);
        row.set(Column::Status, faults.optional("status", input.status).unwrap_or_default());
        faults.finish(row)
    }

    fn extras() -> Vec<Extra> {
        crate::year_end::extras()
    }

    master_operations!(kit::master::create::<Self>, crate::year_end::replace);
}

/// Whether a day is the last of a fiscal year.
pub(crate) async fn ends_on(cx: &Cx<'_>, day: Day) -> Result<bool> {
    Ok(Years::of(cx).await?.end(cx.business()?, day) == day)
}

impl Rows for FiscalYears {
    type Entity = table::Entity;

    const ID: Column = Column::Id;
    const CHANGED: Column = Column::UpdatedAt;
    const SEARCH: Column = Column::Search;
    const SORTS: &'static [Column] = &[Column::Starts, Column::NameKey, Column::CreatedAt, Column::UpdatedAt];

    fn filters() -> Vec<Filter<Column>> {
        let statuses = Reads::AnyOf(FiscalYearStatus::TEXTS);
        vec![
            Filter::equal("status", "Years of these statuses.", statuses, Column::Status),
            Filter::at_least("endFrom", "Years that end on this day or later.", Reads::Day, Column::Ends),
            Filter::at_most("startTo", "Years that start on this day or earlier.", Reads::Day, Column::Starts),
        ]
    }

    fn reach(cx: &Cx<'_>) -> Result<Condition> {
        Ok(Condition::all().add(Column::BusinessId.eq(cx.business_id()?)))
    }

    async fn views(_: &Cx<'_>, rows: Vec<table::Model>) -> Result<Vec<FiscalYearView>> {
        let view = |row: table::Model| FiscalYearView {
            keeping: kept!(row),
            name: row.name,
            start: row.starts,
            end: row.ends,
            status: row.status,
        };
        Ok(rows.into_iter().map(view).collect())
    }
}

impl Master for FiscalYears {
    keeping!();
    const UNIQUE: &'static [(&'static str, Column)] = &[];

    fn version(row: &table::Model) -> i64 {
        row.version
    }

    fn placement(cx: &Cx<'_>) -> Result<Vec<(Column, Value)>> {
        Ok(vec![(Column::BusinessId, cx.business_id()?.into())])
    }

    async fn complete(cx: &Cx<'_>, row: Option<&table::Model>, draft: &mut Columns<Column>) -> Result<()> {
        let day = |column| Day::of_value(draft.get(column)).ok_or_else(|| Error::internal("a fiscal year has no days"));
        let (start, end) = (day(Column::Starts)?, day(Column::Ends)?);
        if row.is_none() && crate::year_end::status_of(draft) == Some(FiscalYearStatus::Closed) {
            return Err(Error::field("status", "must be open or softClosed; close the year by its action"));
        }
        let mut others = table::Entity::find()
            .filter(Self::reach(cx)?)
            .filter(Column::Starts.lte(end))
            .filter(Column::Ends.gte(start));
        if let Some(row) = row {
            others = others.filter(Column::Id.ne(row.id));
        }
        match others.model(&cx.db).await? {
            None => Ok(()),
            Some(other) => Err(Error::Conflict(Conflict {
                code: Code::Conflict,
                title: "Fiscal years do not overlap".into(),
                errors: FieldErrors::one("start", format!("to end overlaps the fiscal year {}", other.name)),
            })),
        }
    }

    async fn release(_: &Cx<'_>, row: &table::Model) -> Result<()> {
        if row.status != FiscalYearStatus::Open {
            return Err(Error::conflict(
                Code::InvalidState,
                "A fiscal year that is closed cannot be deleted; open it first",
            ));
        }
        Ok(())
    }
}
