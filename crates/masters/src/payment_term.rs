//! Payment terms: when a document falls due, and what is taken off for paying early.

use crate::error::{Code, Error, FieldErrors, Result};
use crate::field::{Faults, Field, Label, Maybe, Text};
use crate::money::Percent;
use books::access::Business;
use books::cx::Cx;
use kit::list::Reads;
use kit::master::{Columns, Master, RecordKeeping, keeping, kept, master_operations};
use kit::resource::{About, Resource, Scope};
use kit::rows::{Filter, Rows};
use schema::address::{search_text, text};
use schema::key::ResourceKey;
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, Condition, PaginatorTrait, QueryFilter, Value};
use serde::{Deserialize, Serialize};
use serde_json::json;

pub struct PaymentTerms;

/// What a client sends to create or replace a payment term.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct PaymentTermInput {
    /// Name of the term.
    name: Field<Label<100>>,
    /// Days until a document is due, 0 to 999; for `fixedDay` the day of the month, 1 to 31.
    #[schemars(range(min = 0, max = 999))]
    days: Field<i64>,
    /// From where the days are counted; `afterDate` when absent.
    r#type: Maybe<TermKind>,
    /// What may be taken off for paying early, 0 to 100 percent.
    discount_percent: Maybe<Percent>,
    /// How many days after the document's date count as early.
    #[schemars(range(min = 0, max = 999))]
    discount_days: Maybe<i64>,
    /// Whether it can be chosen for new documents; `active` when absent.
    status: Maybe<MasterStatus>,
    /// The term's identifier in another system.
    external_id: Maybe<Text<200>>,
}

/// When a document falls due.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "PaymentTerm")]
pub struct PaymentTermView {
    #[serde(flatten)]
    keeping: RecordKeeping,
    /// Name of the term.
    name: String,
    /// Days until a document is due; for `fixedDay` the day of the month.
    days: i64,
    /// From where the days are counted.
    r#type: TermKind,
    /// What may be taken off for paying early, in percent.
    discount_percent: Option<Percent>,
    /// How many days after the document's date count as early.
    discount_days: Option<i64>,
    /// Whether it can be chosen for new documents.
    status: MasterStatus,
    /// The term's identifier in another system.
    external_id: Option<String>,
}

impl AsRef<RecordKeeping> for PaymentTermView {
    fn as_ref(&self) -> &RecordKeeping {
        &self.keeping
    }
}

pub(crate) use schema::payment_term as table;
pub use schema::payment_term::{MasterStatus, TermKind};
use table::Column;

impl Resource for PaymentTerms {
    const KEY: ResourceKey = ResourceKey::PaymentTerms;
    const SCOPE: Scope = Scope::Business;
    const ABOUT: About = About {
        one: "a payment term",
        many: "payment terms",
        description: "When documents fall due, and what may be taken off for paying early. Parties and documents name them.",
        sorts: &["name", "createdAt", "updatedAt"],
        searched: "name",
    };
    type Input = PaymentTermInput;
    type Draft = Columns<Column>;
    type View = PaymentTermView;
    const BY_IDS: Option<kit::expand::ByIds> = Some(|cx, ids| Box::pin(kit::rows::by_ids::<Self>(cx, ids)));

    fn example() -> serde_json::Value {
        json!({
            "name": "30 days, 2 % within 10", "days": 30, "type": "afterDate", "discountPercent": 2, "discountDays": 10,
            "status": "active", "externalId": null
        })
    }

    fn example_view() -> serde_json::Value {
        json!({})
    }

    fn check(_: Option<&Business>, input: PaymentTermInput) -> Result<Columns<Column>, FieldErrors> {
        let mut faults = Faults::default();
        let mut row = Columns::new();
        let name = faults.required("name", input.name).into_inner();
        let kind = faults.optional("type", input.r#type).unwrap_or_default();
        let given = matches!(input.days, Field::Given(_));
        let days = faults.required("days", input.days);
        if given {
            let (least, most) = if kind == TermKind::FixedDay { (1, 31) } else { (0, 999) };
            faults.within("days", Some(days), least, most);
        }
        let percent = faults.optional("discountPercent", input.discount_percent);
        faults.within("discountPercent", percent, Percent::ZERO, Percent::HUNDRED);
        let within = faults.optional("discountDays", input.discount_days);
        faults.within("discountDays", within, 0, 999);
        if percent.is_some() != within.is_some() {
            let missing = if percent.is_some() { "discountDays" } else { "discountPercent" };
            faults.add(missing, "is required: a discount for paying early has a percentage and a number of days");
        }
        row.set(Column::NameKey, crate::texts::search_key(&name));
        row.set(Column::Search, search_text(&[Some(&name)]));
        row.set(Column::Name, name);
        row.set(Column::Type, kind);
        row.set(Column::Days, days);
        row.set(Column::DiscountPercent, percent);
        row.set(Column::DiscountDays, within);
        row.set(Column::Status, faults.optional("status", input.status).unwrap_or_default());
        row.set(Column::ExternalId, text(&mut faults, "externalId", input.external_id));
        faults.finish(row)
    }

    master_operations!();
}

impl Rows for PaymentTerms {
    type Entity = table::Entity;

    const ID: Column = Column::Id;
    const CHANGED: Column = Column::UpdatedAt;
    const SEARCH: Column = Column::Search;
    const SORTS: &'static [Column] = &[Column::NameKey, Column::CreatedAt, Column::UpdatedAt];

    fn filters() -> Vec<Filter<Column>> {
        vec![
            Filter::equal("status", "Terms of these statuses.", Reads::AnyOf(MasterStatus::TEXTS), Column::Status),
            Filter::equal("externalId", "The term with this identifier elsewhere.", Reads::Text, Column::ExternalId),
        ]
    }

    fn reach(cx: &Cx<'_>) -> Result<Condition> {
        Ok(Condition::all().add(Column::BusinessId.eq(cx.business_id()?)))
    }

    async fn views(_: &Cx<'_>, rows: Vec<table::Model>) -> Result<Vec<PaymentTermView>> {
        let view = |row: table::Model| PaymentTermView {
            keeping: kept!(row),
            name: row.name,
            days: row.days,
            r#type: row.r#type,
            discount_percent: row.discount_percent,
            discount_days: row.discount_days,
            status: row.status,
            external_id: row.external_id,
        };
        Ok(rows.into_iter().map(view).collect())
    }
}

impl Master for PaymentTerms {
    keeping!();
    const UNIQUE: &'static [(&'static str, Column)] = &[("externalId", Column::ExternalId)];

    fn version(row: &table::Model) -> i64 {
        row.version
    }

    fn placement(cx: &Cx<'_>) -> Result<Vec<(Column, Value)>> {
        Ok(vec![(Column::BusinessId, cx.business_id()?.into())])
    }

    async fn release(cx: &Cx<'_>, row: &table::Model) -> Result<()> {
        let of_parties = schema::party::Entity::find()
            .filter(schema::party::Column::BusinessId.eq(row.business_id))
            .filter(schema::party::Column::PaymentTermId.eq(row.id));
        if of_parties.count(&cx.db).await? > 0 || books::mentions::is_mentioned(cx, row.id).await? {
            return Err(Error::conflict(
                Code::InUse,
                "Parties or documents name the term; set its status to archived instead",
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{day, row};

    #[test]
    fn a_term_that_says_little_counts_from_the_date_and_takes_nothing_off() {
        let made = row::<PaymentTerms>(&[
            ("/type", json!(null)),
            ("/discountPercent", json!(null)),
            ("/discountDays", json!(null)),
            ("/status", json!(null)),
        ]);
        assert_eq!((made.r#type, made.days, made.status), (TermKind::AfterDate, 30, MasterStatus::Active));
        assert_eq!((made.discount_percent, made.discount_days), (None, None));
        assert_eq!(
            (made.name_key.as_str(), made.search.as_str()),
            ("30 days, 2 % within 10", "30 days, 2 % within 10")
        );
    }

    /// What is sent is what falls due: the body's words and days, as documents reckon with them.
    #[test]
    fn a_document_falls_due_as_the_body_says() {
        for (kind, days, date, due) in [
            ("afterDate", 30, "2027-01-31", "2027-03-02"),
            ("afterDate", 0, "2026-11-20", "2026-11-20"),
            ("afterDate", 999, "2026-01-01", "2028-09-26"),
            // Counted from the end of the document's month.
            ("afterMonthEnd", 0, "2028-02-10", "2028-02-29"),
            ("afterMonthEnd", 30, "2026-11-01", "2026-12-30"),
            // The next such day, which in a short month is its last.
            ("fixedDay", 15, "2026-11-14", "2026-11-15"),
            ("fixedDay", 31, "2026-11-10", "2026-11-30"),
        ] {
            let term = row::<PaymentTerms>(&[("/type", json!(kind)), ("/days", json!(days))]);
            assert_eq!(term.due(day(date)), day(due), "{kind} {days} of {date}");
        }
    }
}
