//! The one shape of every report: columns, rows of values, totals, and the identities that it satisfies.

use super::asked::Mark;
use crate::day::Day;
use crate::ids::RecordId;
use crate::money::{Amount, Money, Percent, Quantity, UnitPrice};
use schema::tables::DocumentKind;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A column of a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ReportColumn")]
pub struct Column {
    /// Its stable name.
    pub(super) key: String,
    /// What stands above it.
    pub(super) label: String,
    /// The first day that it tells of.
    pub(super) from: Option<Day>,
    /// The last day that it tells of.
    pub(super) to: Option<Day>,
}

crate::stored::wire_enum! {
    /// What a row is.
    pub enum RowType {
        /// It heads the rows below it.
        #[default]
        Section = "section",
        Account = "account",
        Party = "party",
        Item = "item",
        Document = "document",
        /// A line of the ledger, or of a document.
        Line = "line",
        Subtotal = "subtotal",
        Total = "total",
    }
}

/// What stands in a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell {
    Amount(Amount),
    Quantity(Quantity),
    Price(UnitPrice),
    Percent(Percent),
    Count(i64),
    Day(Day),
    Text(String),
    Nothing,
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Amount(amount) => amount.serialize(serializer),
            Self::Quantity(quantity) => quantity.serialize(serializer),
            Self::Price(price) => price.serialize(serializer),
            Self::Percent(percent) => percent.serialize(serializer),
            Self::Count(count) => count.serialize(serializer),
            Self::Day(day) => day.serialize(serializer),
            Self::Text(text) => text.serialize(serializer),
            Self::Nothing => serializer.serialize_none(),
        }
    }
}

impl JsonSchema for Cell {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "ReportCell".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [{"type": ["number", "null"], "format": "decimal"}, {"type": ["string", "null"]}],
            "description": "A number (an amount, a quantity, a percentage or a count), a day, a text, or nothing."
        })
    }
}

/// A row of a report.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ReportRow")]
pub struct Row {
    /// Its stable name among its siblings.
    pub(super) key: String,
    /// What it is.
    pub(super) r#type: RowType,
    /// What stands before it.
    pub(super) label: String,
    /// The account that it tells of.
    pub(super) account_id: Option<RecordId>,
    /// The party that it tells of.
    pub(super) party_id: Option<RecordId>,
    /// The item that it tells of.
    pub(super) item_id: Option<RecordId>,
    /// The document that it tells of.
    pub(super) document_id: Option<RecordId>,
    /// What kind of document that is.
    pub(super) document_type: Option<DocumentKind>,
    /// How deep it stands, from 0.
    pub(super) level: i64,
    /// One value for each column.
    pub(super) values: Vec<Cell>,
    /// The rows below it.
    pub(super) children: Vec<Row>,
}

/// An identity that the report satisfies; its two sides are computed apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ReportCheck")]
pub struct Check {
    /// What must be so.
    pub(super) name: String,
    /// As the report says it.
    pub(super) left: Cell,
    /// As it is found elsewhere.
    pub(super) right: Cell,
    /// Whether both are the same.
    pub(super) ok: bool,
}

/// What a report comes to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sheet {
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Row>,
    pub(super) totals: BTreeMap<String, Cell>,
    pub(super) checks: Vec<Check>,
    /// How many rows there are on all pages, where the report comes in pages.
    pub(super) count: Option<u64>,
    /// Where the next portion begins, when this is one and has rows.
    pub(super) next: Option<Mark>,
}

/// Amounts of the company.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Own(pub(super) u32);

impl Own {
    pub(super) const fn cell(self, units: i64) -> Cell {
        Cell::Amount(Amount { money: Money::from_units(units), currency_decimals: self.0 })
    }

    pub(super) fn check(self, name: &str, left: i64, right: i64) -> Check {
        Check { name: name.into(), left: self.cell(left), right: self.cell(right), ok: left == right }
    }

    pub(super) fn cells(self, units: &[i64]) -> Vec<Cell> {
        units.iter().map(|units| self.cell(*units)).collect()
    }
}

impl Column {
    pub(super) fn of(key: &str, label: &str) -> Self {
        Self { key: key.into(), label: label.into(), from: None, to: None }
    }
}

impl Row {
    pub(super) fn section(key: &str, label: &str, values: Vec<Cell>, children: Vec<Self>) -> Self {
        Self { key: key.into(), label: label.into(), values, children, ..Self::default() }.deepened()
    }

    pub(super) fn total(r#type: RowType, key: &str, label: &str, values: Vec<Cell>) -> Self {
        Self { key: key.into(), r#type, label: label.into(), values, ..Self::default() }
    }

    /// Its children stand one deeper than it does.
    fn deepened(mut self) -> Self {
        fn deepen(rows: &mut [Row], level: i64) {
            for row in rows {
                row.level = level;
                deepen(&mut row.children, level + 1);
            }
        }
        deepen(&mut self.children, self.level + 1);
        self
    }
}
