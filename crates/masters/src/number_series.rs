//! Number series: how the documents of a kind are numbered.
//!
//! Owns: the pattern and when it begins anew. Refuses: to change either once numbers were given.

use crate::error::{Code, Conflict, Error, FieldErrors, Result};
use crate::field::{Faults, Field, Label, Maybe};
use crate::ids::{BusinessId, RecordId};
use answers::Ask;
use books::access::Business;
use books::audit::{AuditAction, Change};
use books::cx::Cx;
use books::gaps::{PeriodGaps, gaps_of};
use books::numbering::{fault_of_pattern, format, period_of};
use kit::extra::{Does, Extra, On, Produced, Reading};
use kit::list::Reads;
use kit::master::{Columns, Master, RecordKeeping, keeping, kept, master_operations};
use kit::resource::{About, Record, Resource, Scope};
use kit::rows::{self, Filter, Rows};
use schema::key::ResourceKey;
use schema::rights::Action;
use schema::tables::{DocumentKind, documents, number_counters};
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, Condition, EntityTrait, IntoActiveModel, PaginatorTrait, QueryFilter, QuerySelect, Value};
use serde::{Deserialize, Serialize};
use serde_json::json;

pub struct NumberSeries;

/// What a client sends to create or replace a number series.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct NumberSeriesInput {
    /// The kind of documents it numbers. It cannot be changed.
    r#type: Field<DocumentKind>,
    /// Name of the series.
    name: Field<Label<100>>,
    /// How a number is written: text with `{FY}` (the year in which the fiscal year ends), `{YYYY}`, `{YY}` and `{MM}`
    /// of the date, and one counter such as `{0000}`.
    pattern: Field<Label<50>>,
    /// The first number of each period; 1 when absent.
    #[schemars(range(min = 1, max = 999_999_999))]
    first_number: Maybe<i64>,
    /// When numbers begin anew; `fiscalYear` when absent.
    reset_on: Maybe<ResetOn>,
    /// Whether a document may bring its own number; `false` when absent.
    allow_manual: Maybe<bool>,
    /// Whether numbers must follow the order of dates; `off` when absent.
    chronological: Maybe<Chronology>,
    /// Whether documents that name no series are numbered by it; one series of each kind is the default.
    is_default: Maybe<bool>,
    /// An archived series numbers nothing more; `active` when absent.
    status: Maybe<SeriesStatus>,
}

/// How documents of a kind are numbered.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "NumberSeries")]
pub struct NumberSeriesView {
    #[serde(flatten)]
    keeping: RecordKeeping,
    /// The kind of documents it numbers.
    r#type: DocumentKind,
    /// Name of the series.
    name: String,
    /// How a number is written.
    pattern: String,
    /// The first number of each period.
    first_number: i64,
    /// When numbers begin anew.
    reset_on: ResetOn,
    /// Whether a document may bring its own number.
    allow_manual: bool,
    /// Whether numbers must follow the order of dates.
    chronological: Chronology,
    /// Whether documents that name no series are numbered by it.
    is_default: bool,
    /// An archived series numbers nothing more.
    status: SeriesStatus,
    /// The number that a document of today would get.
    next_number: String,
    /// The last number that was given in today's period.
    last_number: Option<String>,
    /// How many numbers were given, in all periods.
    issued_count: i64,
}

impl AsRef<RecordKeeping> for NumberSeriesView {
    fn as_ref(&self) -> &RecordKeeping {
        &self.keeping
    }
}

pub(crate) use schema::number_series as table;
pub use schema::number_series::{Chronology, ResetOn, SeriesStatus};
use table::Column;

impl Resource for NumberSeries {
    const KEY: ResourceKey = ResourceKey::NumberSeries;
    const SCOPE: Scope = Scope::Business;
    const ABOUT: About = About {
        one: "a number series",
        many: "number series",
        description: "How documents are numbered: without a gap within each period, and only when they are posted.",
        sorts: &["type", "name", "createdAt", "updatedAt"],
        searched: "name and pattern",
    };
    type Input = NumberSeriesInput;
    type Draft = Columns<Column>;
    type View = NumberSeriesView;

    fn extras() -> Vec<Extra> {
        vec![Extra {
            name: "Gaps",
            segment: "gaps",
            on: On::Record,
            action: Action::View,
            answers: None,
            summary: "Get the gaps of a number series",
            description: "Each period of the series with its first and last number, and the numbers between them that \
                          no document has. There should be none.",
            does: Does::Reads(Reading::json::<SeriesGaps>(
                |cx, id, _| Box::pin(gaps(cx, id)),
                || json!({"items": [{"period": "2026-01-01", "first": 1, "last": 42, "missing": []}]}),
            )),
        }]
    }

    fn example() -> serde_json::Value {
        json!({
            "type": "journal",
            "name": "Closing entries",
            "pattern": "CL-{FY}-{000}",
            "firstNumber": 1,
            "resetOn": "fiscalYear",
            "allowManual": false,
            "chronological": "off",
            "isDefault": false,
            "status": "active"
        })
    }

    fn example_view() -> serde_json::Value {
        json!({ "nextNumber": "CL-2026-001", "lastNumber": null, "issuedCount": 0 })
    }

    fn check(_: Option<&Business>, input: NumberSeriesInput) -> Result<Columns<Column>, FieldErrors> {
        let mut faults = Faults::default();
        let mut row = Columns::new();
        row.set(Column::Type, faults.required("type", input.r#type));
        let name = faults.required("name", input.name).into_inner();
        let given = matches!(input.pattern, Field::Given(_));
        let pattern = faults.required("pattern", input.pattern).into_inner();
        let reset_on = faults.optional("resetOn", input.reset_on).unwrap_or_default();
        if let Some(fault) = fault_of_pattern(&pattern, reset_on).filter(|_| given) {
            faults.add("pattern", fault);
        }
        let first = faults.optional("firstNumber", input.first_number);
        faults.within("firstNumber", first, 1, 999_999_999);
        row.set(Column::Search, crate::texts::search_key(&format!("{name} {pattern}")));
        row.set(Column::NameKey, crate::texts::search_key(&name));
        row.set(Column::Name, name);
        row.set(Column::Pattern, pattern);
        row.set(Column::FirstNumber, first.unwrap_or(1));
        row.set(Column::ResetOn, reset_on);
        row.set(Column::AllowManual, faults.optional("allowManual", input.allow_manual).unwrap_or_default());
        row.set(Column::Chronological, faults.optional("chronological", input.chronological).unwrap_or_default());
        let is_default = faults.optional("isDefault", input.is_default).unwrap_or_default();
        let status = faults.optional("status", input.status).unwrap_or_default();
        if is_default && status == SeriesStatus::Archived {
            faults.add("status", "of the default series must be active");
        }
        row.set(Column::IsDefault, is_default);
        row.set(Column::Status, status);
        faults.finish(row)
    }

    master_operations!();
}

impl Rows for NumberSeries {
    type Entity = table::Entity;

    const ID: Column = Column::Id;
    const CHANGED: Column = Column::UpdatedAt;
    const SEARCH: Column = Column::Search;
    const SORTS: &'static [Column] = &[Column::Type, Column::NameKey, Column::CreatedAt, Column::UpdatedAt];

    fn filters() -> Vec<Filter<Column>> {
        let statuses = Reads::AnyOf(SeriesStatus::TEXTS);
        vec![
            Filter::equal("type", "Series of these kinds.", Reads::AnyOf(DocumentKind::TEXTS), Column::Type),
            Filter::equal("isDefault", "Only defaults, or only others.", Reads::Flag, Column::IsDefault),
            Filter::equal("status", "Series of these statuses.", statuses, Column::Status),
        ]
    }

    fn reach(cx: &Cx<'_>) -> Result<Condition> {
        Ok(Condition::all().add(Column::BusinessId.eq(cx.business_id()?)))
    }

    async fn views(cx: &Cx<'_>, rows: Vec<table::Model>) -> Result<Vec<NumberSeriesView>> {
        let business = cx.business()?;
        let today = cx.today()?;
        let counters = number_counters::Entity::find()
            .filter(number_counters::Column::BusinessId.eq(business.id))
            .filter(number_counters::Column::SeriesId.is_in(rows.iter().map(|row| row.id)))
            .models(&cx.db)
            .await?;
        let issued: Vec<(RecordId, i64)> = documents::Entity::find()
            .select_only()
            .column(documents::Column::SeriesId)
            .column_as(documents::Column::Id.count(), "issued")
            .filter(documents::Column::BusinessId.eq(business.id))
            .filter(documents::Column::SeriesId.is_in(rows.iter().map(|row| row.id)))
            .filter(documents::Column::Number.is_not_null())
            .group_by(documents::Column::SeriesId)
            .read(&cx.db)
            .await?;
        let view = |row: table::Model| {
            let period = period_of(row.reset_on, business, today);
            let counter = counters.iter().find(|counter| counter.series_id == row.id && counter.period == period);
            let last = counter.map(|counter| counter.last);
            let write = |place| format(&row.pattern, business, today, place);
            NumberSeriesView {
                keeping: kept!(row),
                next_number: write(last.map_or(row.first_number, |last| last + 1)),
                last_number: last.map(write),
                issued_count: issued.iter().find(|(id, _)| *id == row.id).map_or(0, |(_, count)| *count),
                r#type: row.r#type,
                name: row.name,
                pattern: row.pattern,
                first_number: row.first_number,
                reset_on: row.reset_on,
                allow_manual: row.allow_manual,
                chronological: row.chronological,
                is_default: row.is_default,
                status: row.status,
            }
        };
        Ok(rows.into_iter().map(view).collect())
    }
}

impl Master for NumberSeries {
    keeping!();
    const UNIQUE: &'static [(&'static str, Column)] = &[];

    fn version(row: &table::Model) -> i64 {
        row.version
    }

    fn placement(cx: &Cx<'_>) -> Result<Vec<(Column, Value)>> {
        Ok(vec![(Column::BusinessId, cx.business_id()?.into())])
    }

    async fn complete(cx: &Cx<'_>, row: Option<&table::Model>, draft: &mut Columns<Column>) -> Result<()> {
        let said = |column| draft.get(column).cloned().unwrap_or(Value::String(None));
        let mut same = table::Entity::find()
            .filter(Self::reach(cx)?)
            .filter(Column::Type.eq(said(Column::Type)))
            .filter(Column::Pattern.eq(said(Column::Pattern)));
        if let Some(row) = row {
            same = same.filter(Column::Id.ne(row.id));
        }
        if same.count(&cx.db).await? == 0 {
            return Ok(());
        }
        Err(Error::Conflict(Conflict {
            code: Code::Duplicate,
            title: "Two series of a kind would give the same numbers".into(),
            errors: FieldErrors::one("pattern", "is already that of another series of the kind"),
        }))
    }

    async fn inserted(cx: &Cx<'_>, id: RecordId, draft: &Columns<Column>) -> Result<()> {
        if makes_default(draft) {
            let row = rows::row::<Self>(cx, id).await?;
            dethrone(cx, row.r#type, id).await?;
        }
        Ok(())
    }

    async fn check_change(cx: &Cx<'_>, row: &table::Model, draft: &Columns<Column>) -> Result<()> {
        check_kept(row, draft)?;
        if is_issued(cx, row.id).await? {
            check_issued(row, draft)?;
        }
        if makes_default(draft) && !row.is_default {
            dethrone(cx, row.r#type, row.id).await?;
        }
        Ok(())
    }

    async fn release(cx: &Cx<'_>, row: &table::Model) -> Result<()> {
        if row.is_default {
            return Err(Error::conflict(
                Code::InUse,
                "The series is the default of its kind; make another the default first",
            ));
        }
        if is_issued(cx, row.id).await? {
            return Err(Error::conflict(Code::InUse, "The series has given numbers; archive it instead"));
        }
        Ok(())
    }
}

fn makes_default(draft: &Columns<Column>) -> bool {
    draft.get(Column::IsDefault) == Some(&Value::from(true))
}

fn differs(draft: &Columns<Column>, column: Column, value: Value) -> bool {
    draft.get(column) != Some(&value)
}

fn refuse(code: Code, field: &str, why: &str) -> Result<()> {
    Err(Error::Conflict(Conflict {
        code,
        title: "The number series cannot be changed like this".into(),
        errors: FieldErrors::one(field, why),
    }))
}

/// What of a series stays, whatever was numbered by it.
fn check_kept(row: &table::Model, draft: &Columns<Column>) -> Result<()> {
    if differs(draft, Column::Type, row.r#type.into()) {
        return refuse(Code::InUse, "type", "cannot change");
    }
    if row.is_default && !makes_default(draft) {
        return refuse(
            Code::InvalidState,
            "isDefault",
            "must stay until another series of the kind is made the default",
        );
    }
    Ok(())
}

/// What of a series stays once it has given numbers.
fn check_issued(row: &table::Model, draft: &Columns<Column>) -> Result<()> {
    for (column, field, value) in [
        (Column::Pattern, "pattern", Value::from(row.pattern.clone())),
        (Column::ResetOn, "resetOn", row.reset_on.into()),
        (Column::FirstNumber, "firstNumber", row.first_number.into()),
    ] {
        if differs(draft, column, value) {
            return refuse(Code::InUse, field, "cannot change once numbers were given");
        }
    }
    Ok(())
}

async fn is_issued(cx: &Cx<'_>, id: RecordId) -> Result<bool> {
    let numbered = documents::Entity::find()
        .filter(documents::Column::BusinessId.eq(cx.business_id()?))
        .filter(documents::Column::SeriesId.eq(id));
    Ok(numbered.count(&cx.db).await? > 0)
}

/// Another series became the default of its kind: the one before no longer is.
async fn dethrone(cx: &Cx<'_>, kind: DocumentKind, heir: RecordId) -> Result<()> {
    let before = table::Entity::find()
        .filter(NumberSeries::reach(cx)?)
        .filter(Column::Type.eq(kind))
        .filter(Column::IsDefault.eq(true))
        .filter(Column::Id.ne(heir))
        .models(&cx.db)
        .await?;
    for row in before {
        let old = rows::one_view::<NumberSeries>(cx, row.clone()).await?;
        table::Entity::update_many()
            .col_expr(Column::IsDefault, false.into())
            .col_expr(Column::Version, (row.version + 1).into())
            .col_expr(Column::UpdatedAt, cx.now.into())
            .col_expr(Column::UpdatedBy, cx.user.into())
            .filter(NumberSeries::reach(cx)?)
            .filter(Column::Id.eq(row.id))
            .exec(&cx.db)
            .await?;
        let new = rows::get::<NumberSeries>(cx, row.id).await?;
        let json = |view: &NumberSeriesView| serde_json::to_string(view).map_err(Error::internal);
        let change = Change {
            action: AuditAction::Updated,
            resource: ResourceKey::NumberSeries,
            id: row.id,
            version_from: Some(old.version()),
            version_to: Some(new.version()),
            before: Some(json(&old)?),
            after: Some(json(&new)?),
            note: None,
        };
        cx.record(row.business_id, change)?;
    }
    Ok(())
}

/// The series that every company has from the start, one for each kind of document.
pub(crate) async fn plant(cx: &Cx<'_>, business: BusinessId) -> Result<()> {
    let rows = DocumentKind::ALL.iter().map(|kind| {
        let (name, pattern) = (ResourceKey::from(*kind).title(), kind.pattern());
        let row = table::Model {
            business_id: business,
            id: RecordId(cx.new_id()),
            r#type: *kind,
            name: name.into(),
            name_key: crate::texts::search_key(name),
            pattern: pattern.into(),
            first_number: 1,
            reset_on: ResetOn::FiscalYear,
            allow_manual: false,
            chronological: Chronology::Off,
            is_default: true,
            status: SeriesStatus::Active,
            search: crate::texts::search_key(&format!("{name} {pattern}")),
            version: 1,
            created_at: cx.now,
            created_by: cx.user,
            updated_at: cx.now,
            updated_by: cx.user,
        };
        row.into_active_model()
    });
    table::Entity::insert_many(rows).exec_without_returning(&cx.db).await?;
    Ok(())
}

/// The periods of a series, and what is missing in them.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SeriesGaps {
    /// The periods in which numbers were given.
    items: Vec<PeriodGaps>,
}

async fn gaps(cx: &Cx<'_>, id: Option<RecordId>) -> Result<Produced> {
    let row = rows::row::<NumberSeries>(cx, id.ok_or(Error::NotFound)?).await?;
    Produced::json(&SeriesGaps { items: gaps_of(cx, row.id, row.first_number).await? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{draft, row, said};
    use serde_json::Value as Json;

    #[test]
    fn a_series_that_says_little_begins_at_one_with_each_year_and_takes_no_number_by_hand() {
        let made = row::<NumberSeries>(&[
            ("/firstNumber", json!(null)),
            ("/resetOn", json!(null)),
            ("/allowManual", json!(null)),
            ("/chronological", json!(null)),
            ("/isDefault", json!(null)),
            ("/status", json!(null)),
        ]);
        assert_eq!((made.first_number, made.reset_on, made.allow_manual), (1, ResetOn::FiscalYear, false));
        assert_eq!((made.chronological, made.is_default, made.status), (Chronology::Off, false, SeriesStatus::Active));
        assert_eq!(
            (made.name_key.as_str(), made.search.as_str()),
            ("closing entries", "closing entries cl-{fy}-{000}")
        );
    }

    /// One change of a series, and what is said to it before and after numbers were given.
    type Case<'c> = (&'c [(&'c str, Json)], &'c str, &'c str);

    fn hold(kept: &[(&str, Json)], cases: &[Case<'_>]) {
        let series = row::<NumberSeries>(kept);
        for (changes, always, issued) in cases {
            let wanted = draft::<NumberSeries>(&[kept, changes].concat());
            assert_eq!(said(check_kept(&series, &wanted)), *always, "{changes:?}");
            assert_eq!(said(check_issued(&series, &wanted)), *issued, "{changes:?}, once numbers were given");
        }
    }

    #[test]
    fn what_numbers_were_written_by_stays_once_there_are_any() {
        let fixed = |field: &str| format!("in_use: {field}: cannot change once numbers were given");
        hold(
            &[],
            &[
                (&[("/type", json!("salesInvoice"))], "in_use: type: cannot change", "fine"),
                (&[("/pattern", json!("CL-{FY}-{0000}"))], "fine", &fixed("pattern")),
                (&[("/firstNumber", json!(100))], "fine", &fixed("firstNumber")),
                (&[("/resetOn", json!("never"))], "fine", &fixed("resetOn")),
                (&[("/name", json!("Year's end"))], "fine", "fine"),
                (&[("/chronological", json!("block")), ("/allowManual", json!(true))], "fine", "fine"),
                (&[("/status", json!("archived"))], "fine", "fine"),
                (&[("/isDefault", json!(true))], "fine", "fine"),
            ],
        );
    }

    #[test]
    fn the_default_of_a_kind_stays_until_there_is_another() {
        let why = "invalid_state: isDefault: must stay until another series of the kind is made the default";
        hold(
            &[("/isDefault", json!(true))],
            &[
                (&[], "fine", "fine"),
                (&[("/isDefault", json!(false))], why, "fine"),
                (&[("/isDefault", json!(null))], why, "fine"),
                (&[("/isDefault", json!(false)), ("/status", json!("archived"))], why, "fine"),
            ],
        );
    }
}
