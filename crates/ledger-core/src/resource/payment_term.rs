//! Payment terms: when a document falls due, and what is taken off for paying early.

use crate::access::Business;
use crate::clock::Instant;
use crate::cx::Cx;
use crate::day::Day;
use crate::error::{Error, FieldErrors, Result};
use crate::field::{Faults, Field, Label, Maybe, Text};
use crate::ids::{BusinessId, RecordId, UserId};
use crate::money::Percent;
use crate::resource::address::{search_text, text};
use crate::resource::list::Reads;
use crate::resource::master::{Columns, Master, RecordKeeping, keeping, kept, master_operations};
use crate::resource::rows::{Filter, Rows};
use crate::resource::{About, Resource, ResourceKey, Scope, document, party};
use crate::wire_enum;
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, Condition, ConnectionTrait, EntityTrait, PaginatorTrait, QueryFilter, Value};
use serde::{Deserialize, Serialize};
use serde_json::json;

pub struct PaymentTerms;

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

pub(crate) mod table {
    use super::{BusinessId, Instant, MasterStatus, Percent, RecordId, TermKind, UserId};
    use sea_orm::entity::prelude::*;

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
}
use table::Column;

impl Resource for PaymentTerms {
    const KEY: ResourceKey = ResourceKey::PaymentTerms;
    const SCOPE: Scope = Scope::Business;
    const ABOUT: About = About {
        title: "Payment terms",
        one: "a payment term",
        many: "payment terms",
        description: "When documents fall due, and what may be taken off for paying early. Parties and documents name them.",
        sorts: &["name", "createdAt", "updatedAt"],
        searched: "name",
    };
    type Input = PaymentTermInput;
    type Draft = Columns<Column>;
    type View = PaymentTermView;

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
        let of_parties = party::table::Entity::find()
            .filter(party::table::Column::BusinessId.eq(row.business_id))
            .filter(party::table::Column::PaymentTermId.eq(row.id));
        if of_parties.count(&cx.db).await? > 0 || document::is_mentioned(cx, row.id).await? {
            return Err(Error::conflict(
                "in_use",
                "Parties or documents name the term; set its status to archived instead",
            ));
        }
        Ok(())
    }
}

/// All terms of a company.
#[derive(Debug, Default)]
pub(crate) struct Terms(Vec<table::Model>);

impl Terms {
    pub(crate) async fn load(connection: &impl ConnectionTrait, business: BusinessId) -> Result<Self> {
        Ok(Self(table::Entity::find().filter(Column::BusinessId.eq(business)).all(connection).await?))
    }

    pub(crate) fn get(&self, id: RecordId) -> Option<&table::Model> {
        self.0.iter().find(|term| term.id == id)
    }
}

impl table::Model {
    /// When a document of a day is due.
    pub(crate) fn due(&self, date: Day) -> Day {
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
            let term = table::Model {
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
