//! Exchange rates: what one unit of another currency is worth in the company's, from a day on.
//!
//! A document in another currency that brings no rate of its own takes the latest one on or before its date.
//! What it took stays with it: a rate that changes later changes no document.

use crate::currency::CurrencyCode;
use crate::day::Day;
use crate::error::{Code, Conflict, Error, FieldErrors, Result};
use crate::field::{Faults, Field, Maybe, Text};
use crate::ids::UserId;
use crate::money::Rate;
use books::access::Business;
use books::cx::Cx;
use kit::list::Reads;
use kit::master::{Columns, Master, RecordKeeping, keeping, kept, master_operations};
use kit::resource::{About, Resource, Scope};
use kit::rows::{Filter, Rows};
use schema::address::text;
use schema::key::ResourceKey;
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, Condition, PaginatorTrait, QueryFilter, Value};
use serde::{Deserialize, Serialize};
use serde_json::json;

pub struct ExchangeRates;

/// What a client sends to create or replace an exchange rate.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct ExchangeRateInput {
    /// The other currency.
    currency: Field<CurrencyCode>,
    /// The day from which the rate counts; one rate a currency and day.
    date: Field<Day>,
    /// What one unit of the other currency is worth in the company's: always this way round.
    rate: Field<Rate>,
    /// Where the rate comes from.
    source: Maybe<Text<100>>,
}

/// What another currency is worth from a day on.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ExchangeRate")]
pub struct ExchangeRateView {
    #[serde(flatten)]
    keeping: RecordKeeping,
    /// The other currency.
    currency: String,
    /// The day from which the rate counts.
    date: Day,
    /// What one unit of the other currency is worth in the company's.
    rate: Rate,
    /// Where the rate comes from.
    source: Option<String>,
}

impl AsRef<RecordKeeping> for ExchangeRateView {
    fn as_ref(&self) -> &RecordKeeping {
        &self.keeping
    }
}

pub(crate) use schema::exchange_rate as table;
use table::Column;

impl Resource for ExchangeRates {
    const KEY: ResourceKey = ResourceKey::ExchangeRates;
    const SCOPE: Scope = Scope::Business;
    const ABOUT: About = About {
        one: "an exchange rate",
        many: "exchange rates",
        description: "What one unit of another currency is worth in the company's. A document that brings no rate of its \
                      own takes the latest on or before its date, and keeps it.",
        sorts: &["date", "currency", "createdAt", "updatedAt"],
        searched: "currency and source",
    };
    type Input = ExchangeRateInput;
    type Draft = Columns<Column>;
    type View = ExchangeRateView;

    fn example() -> serde_json::Value {
        json!({ "currency": "USD", "date": "2026-11-20", "rate": 0.8642, "source": "ECB" })
    }

    fn example_view() -> serde_json::Value {
        json!({})
    }

    fn check(business: Option<&Business>, input: ExchangeRateInput) -> Result<Columns<Column>, FieldErrors> {
        let mut faults = Faults::default();
        let mut row = Columns::new();
        let given = matches!(input.rate, Field::Given(_));
        let currency = faults.required("currency", input.currency).into_inner();
        if business.is_some_and(|business| business.base_currency == currency) {
            faults.add("currency", "must be another than the company's own");
        }
        row.set(Column::Date, faults.required("date", input.date));
        let rate = faults.required("rate", input.rate);
        if given && rate <= Rate::ZERO {
            faults.add("rate", "must be more than 0");
        }
        let source = text(&mut faults, "source", input.source);
        row.set(Column::Search, schema::address::search_text(&[Some(&currency), source.as_ref()]));
        row.set(Column::Currency, currency);
        row.set(Column::Rate, rate);
        row.set(Column::Source, source);
        faults.finish(row)
    }

    master_operations!();
}

impl Rows for ExchangeRates {
    type Entity = table::Entity;

    const ID: Column = Column::Id;
    const CHANGED: Column = Column::UpdatedAt;
    const SEARCH: Column = Column::Search;
    const SORTS: &'static [Column] = &[Column::Date, Column::Currency, Column::CreatedAt, Column::UpdatedAt];

    fn filters() -> Vec<Filter<Column>> {
        vec![
            Filter::equal("currency", "Rates of this currency.", Reads::Text, Column::Currency),
            Filter::at_least("dateFrom", "Rates of this day or later.", Reads::Day, Column::Date),
            Filter::at_most("dateTo", "Rates of this day or earlier.", Reads::Day, Column::Date),
        ]
    }

    fn reach(cx: &Cx<'_>) -> Result<Condition> {
        Ok(Condition::all().add(Column::BusinessId.eq(cx.business_id()?)))
    }

    async fn views(_: &Cx<'_>, rows: Vec<table::Model>) -> Result<Vec<ExchangeRateView>> {
        let view = |row: table::Model| ExchangeRateView {
            keeping: kept!(row),
            currency: row.currency,
            date: row.date,
            rate: row.rate,
            source: row.source,
        };
        Ok(rows.into_iter().map(view).collect())
    }
}

impl Master for ExchangeRates {
    keeping!();
    const UNIQUE: &'static [(&'static str, Column)] = &[];

    fn version(row: &table::Model) -> i64 {
        row.version
    }

    fn placement(cx: &Cx<'_>) -> Result<Vec<(Column, Value)>> {
        Ok(vec![(Column::BusinessId, cx.business_id()?.into())])
    }

    async fn check_change(cx: &Cx<'_>, row: &table::Model, _: &Columns<Column>) -> Result<()> {
        check_own(cx, row)
    }

    async fn release(cx: &Cx<'_>, row: &table::Model) -> Result<()> {
        check_own(cx, row)
    }

    async fn complete(cx: &Cx<'_>, row: Option<&table::Model>, draft: &mut Columns<Column>) -> Result<()> {
        let said = |column| draft.get(column).cloned().unwrap_or(Value::String(None));
        let mut same = table::Entity::find()
            .filter(Self::reach(cx)?)
            .filter(Column::Currency.eq(said(Column::Currency)))
            .filter(Column::Date.eq(said(Column::Date)));
        if let Some(row) = row {
            same = same.filter(Column::Id.ne(row.id));
        }
        if same.count(&cx.db).await? == 0 {
            return Ok(());
        }
        Err(Error::Conflict(Conflict {
            code: Code::Duplicate,
            title: "The currency has a rate for this day already".into(),
            errors: FieldErrors::one("date", "has a rate for this currency already"),
        }))
    }
}

/// Refuses to take the rates of others away from whoever is judged by them.
fn check_own(cx: &Cx<'_>, row: &table::Model) -> Result<()> {
    let is_judged = cx.business()?.seat.limits.max_document_amount.is_some();
    if is_judged { check_made_by(row, cx.user) } else { Ok(()) }
}

fn check_made_by(row: &table::Model, user: UserId) -> Result<()> {
    if (row.created_by, row.updated_by) == (user, user) {
        return Ok(());
    }
    let why =
        "was made by somebody else, and what you post is held against it (maxDocumentAmount); add a rate, or ask them";
    Err(Error::not_allowed("This goes further than you may", FieldErrors::one("rate", why)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{row, said};
    use kit::samples::{checked, told};
    use sea_orm::prelude::Uuid;

    #[test]
    fn a_rate_is_of_another_currency_than_the_companys_own() {
        let business = Business::sample();
        for (currency, faults) in
            [("USD", vec![]), ("EUR", vec!["currency: must be another than the company's own".to_owned()])]
        {
            let found = checked::<ExchangeRates>(Some(&business), &[("/currency", json!(currency))]);
            assert_eq!(found.map_or_else(|faults| told(&faults), |_| Vec::new()), faults, "{currency}");
        }
    }

    /// Who may post up to an amount is judged by what the rates make of it.
    #[test]
    fn whoever_is_judged_by_rates_changes_none_of_others() {
        let user = |number: u128| UserId(Uuid::from_u128(number));
        for (created, updated, fine) in [(1, 1, true), (2, 2, false), (1, 2, false), (2, 1, false)] {
            let rate =
                table::Model { created_by: user(created), updated_by: user(updated), ..row::<ExchangeRates>(&[]) };
            let found = said(check_made_by(&rate, user(1)));
            let refused = "not allowed: rate: was made by somebody else";
            assert!(if fine { found == "fine" } else { found.starts_with(refused) }, "{created} {updated}: {found}");
        }
    }
}
