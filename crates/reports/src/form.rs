//! What the columns and figures of each report hold, said once: its sheets are made of it, its schema and its example.

use super::sheet::{Cell, Check, Column, Row, RowType, Sheet};
use super::{Report, ReportView};
use crate::money::{Amount, Money, Percent, Quantity, UnitPrice};
use kit::list::Pagination;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::marker::PhantomData;

/// What stands in a cell, where anything does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    Amount,
    Quantity,
    Price,
    Percent,
    Count,
    Day,
    Text,
}

/// A column or a figure of the whole: its stable name, what stands above it, and what it holds.
pub(super) type Said = (&'static str, &'static str, Holds);

pub(crate) struct Form {
    /// Columns that the report always has.
    pub(super) columns: &'static [Said],
    /// What stands before these, where that depends on what was asked: columns of amounts.
    pub(super) varying: Option<&'static str>,
    /// Figures of the whole that it always has; one for each column that can be added up where it names none.
    pub(super) totals: &'static [Said],
    pub(super) example: Example,
}

/// A row that the documentation shows: what it is, its name, its label and its values; an empty one is none.
pub(super) type Shown = (RowType, &'static str, &'static str, &'static [&'static str]);

/// A few rows, as the documentation shows them.
pub(super) struct Example {
    /// Columns of those that vary, by name and label.
    pub(super) varying: &'static [(&'static str, &'static str)],
    pub(super) rows: &'static [Shown],
    pub(super) totals: &'static [&'static str],
    /// An identity, and both of its sides.
    pub(super) check: (&'static str, Holds, &'static str),
}

impl Holds {
    /// A cell of a text; nothing where the text is none.
    fn cell(self, text: &str) -> Cell {
        let read = match self {
            Self::Amount => Money::parse(text).map(|money| Cell::Amount(Amount { money, currency_decimals: 2 })).ok(),
            Self::Quantity => Quantity::parse(text).map(Cell::Quantity).ok(),
            Self::Price => UnitPrice::parse(text).map(Cell::Price).ok(),
            Self::Percent => Percent::parse(text).map(Cell::Percent).ok(),
            Self::Count => text.parse().map(Cell::Count).ok(),
            Self::Day => text.parse().map(Cell::Day).ok(),
            Self::Text => Some(Cell::Text(text.to_owned())).filter(|_| !text.is_empty()),
        };
        debug_assert!(read.is_some() || text.is_empty(), "{text} is no {self:?}");
        read.unwrap_or(Cell::Nothing)
    }

    const fn types(self) -> (&'static str, Option<&'static str>) {
        match self {
            Self::Amount | Self::Quantity | Self::Price | Self::Percent => ("number", Some("decimal")),
            Self::Count => ("integer", None),
            Self::Day => ("string", Some("date")),
            Self::Text => ("string", None),
        }
    }

    fn schema(self, about: &str, may_be_absent: bool) -> Value {
        let (kind, format) = self.types();
        let mut schema = json!({"type": kind, "description": about});
        if may_be_absent {
            schema["type"] = json!([kind, "null"]);
        }
        if let Some(format) = format {
            schema["format"] = format.into();
        }
        schema
    }
}

impl Form {
    /// The columns that the report always has.
    pub(super) fn columns(&self) -> Vec<Column> {
        self.columns.iter().map(|(key, label, _)| Column::of(key, label)).collect()
    }

    fn names_totals(&self) -> bool {
        !self.totals.is_empty()
    }
}

/// The sheet that the documentation shows.
pub(super) fn example<R: Report>() -> Sheet {
    let Form { columns, varying: _, totals, example } = &R::FORM;
    let varying = || example.varying.iter().map(|(key, label)| (*key, *label, Holds::Amount));
    let all: Vec<Said> = varying().chain(columns.iter().copied()).collect();
    let rows = example.rows.iter().map(|(r#type, key, label, values)| {
        let values = all.iter().zip(*values).map(|((_, _, holds), text)| holds.cell(text)).collect();
        Row::total(*r#type, key, label, values)
    });
    let figures = all.iter().filter(|(.., holds)| *holds != Holds::Text).copied();
    let totals = if R::FORM.names_totals() { totals.to_vec() } else { figures.collect() };
    let (name, holds, both) = example.check;
    Sheet {
        columns: all.iter().map(|(key, label, _)| Column::of(key, label)).collect(),
        rows: rows.collect(),
        totals: totals
            .iter()
            .zip(example.totals)
            .map(|((key, _, holds), text)| ((*key).into(), holds.cell(text)))
            .collect(),
        checks: vec![Check { name: name.into(), left: holds.cell(both), right: holds.cell(both), ok: true }],
        ..Sheet::default()
    }
}

/// The schema of one report: the shape that all have, with what this one holds.
pub(super) struct SchemaOf<R>(PhantomData<fn() -> R>);

/// The schema of a row of one report.
struct RowOf<R>(PhantomData<fn() -> R>);

/// The schema of the figures of the whole of one report.
struct TotalsOf<R>(PhantomData<fn() -> R>);

impl<R: Report> JsonSchema for SchemaOf<R> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}Report", R::OPERATION).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = ReportView::json_schema(generator);
        let row = generator.subschema_for::<RowOf<R>>();
        let column = generator.subschema_for::<Column>();
        let page = generator.subschema_for::<Pagination>();
        let totals = generator.subschema_for::<TotalsOf<R>>();
        let form = &R::FORM;
        let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return schema };
        properties.insert(
            "report".into(),
            json!({"type": "string", "const": R::NAME, "description": "The name of the report."}),
        );
        properties.insert(
            "rows".into(),
            json!({"type": "array", "items": row, "description": "The rows, with those below them."}),
        );
        // Each is a column like any other: what sets them apart is said in words, and no client needs a type for each.
        let named = form.columns.iter().map(|(key, ..)| format!("`{key}`"));
        let named: Vec<String> = form.varying.map(str::to_owned).into_iter().chain(named).collect();
        let about = format!("What the values of a row are: {}.", named.join(", then "));
        let least = form.columns.len();
        let mut columns = json!({"type": "array", "items": column, "minItems": least, "description": about});
        if form.varying.is_none() {
            columns["maxItems"] = least.into();
        }
        properties.insert("columns".into(), columns);
        let about = "Figures of the whole.";
        properties.insert("totals".into(), json!({"allOf": [totals], "description": about}));
        let pages = "The page, and how many there are.";
        let pagination = if R::PAGED {
            json!({"allOf": [page], "description": pages})
        } else {
            json!({"type": "null", "description": "This report does not come in pages."})
        };
        properties.insert("pagination".into(), pagination);
        schema
    }
}

/// A list that has each of these, in this order.
fn by_place(all: Vec<Value>, about: &str) -> Value {
    let count = all.len();
    json!({"type": "array", "prefixItems": all, "items": false, "minItems": count, "maxItems": count, "description": about})
}

impl<R: Report> JsonSchema for TotalsOf<R> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}Totals", R::OPERATION).into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let form = &R::FORM;
        if !form.names_totals() {
            let about = "Figures of the whole, one for each column that can be added up.";
            return json_schema!({
                "type": "object", "additionalProperties": {"type": "number", "format": "decimal"}, "description": about
            });
        }
        let said: Map<String, Value> =
            form.totals.iter().map(|(key, label, holds)| ((*key).to_owned(), holds.schema(label, false))).collect();
        let required: Vec<&String> = said.keys().collect();
        json_schema!({
            "type": "object", "required": required, "properties": said, "additionalProperties": false,
            "description": format!("Figures of the whole of {}.", R::TITLE.to_lowercase())
        })
    }
}

impl<R: Report> JsonSchema for RowOf<R> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}Row", R::OPERATION).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Row::json_schema(generator);
        let below = generator.subschema_for::<Self>();
        let form = &R::FORM;
        let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return schema };
        properties
            .insert("children".into(), json!({"type": "array", "items": below, "description": "The rows below it."}));
        let about = "One value for each column.";
        let values = if form.varying.is_some() {
            let least = form.columns.len();
            let decimal = json!({"type": ["number", "null"], "format": "decimal"});
            let items = if form.columns.iter().any(|(.., holds)| holds.types().0 == "string") {
                json!({"anyOf": [decimal, {"type": ["string", "null"]}]})
            } else {
                decimal
            };
            json!({"type": "array", "items": items, "minItems": least, "description": about})
        } else {
            by_place(form.columns.iter().map(|(_, label, holds)| holds.schema(label, true)).collect(), about)
        };
        properties.insert("values".into(), values);
        schema
    }
}

#[cfg(test)]
mod tests {
    use kit::extra::Does;

    #[test]
    fn every_example_has_a_value_for_each_column_and_all_figures() {
        for (offer, extra) in super::super::all() {
            let Does::Reads(reading) = extra.does else { panic!("{}", offer.name) };
            let shown = (reading.example)();
            let columns = shown["columns"].as_array().unwrap().len();
            let rows = shown["rows"].as_array().unwrap();
            assert!(!rows.is_empty() && columns > 0, "{}", offer.name);
            for row in rows {
                assert_eq!(row["values"].as_array().unwrap().len(), columns, "{} {row}", offer.name);
            }
            let totals = shown["totals"].as_object().unwrap();
            assert!(!totals.is_empty() && totals.values().all(|figure| !figure.is_null()), "{}", offer.name);
        }
    }
}
