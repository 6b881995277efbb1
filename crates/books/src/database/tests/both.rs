//! Each table's rows are read by their places as sea-orm reads them by their names.

use crate::day::Day;
use crate::ids::RecordId;
use crate::money::{BookMoney, Quantity};
use crate::stored::AsJson;
use answers::{Answer, Modelled};
use rules::stock::{Layer, State};
use schema::tables::EntryRef;
use sea_orm::{ActiveModelTrait, ColumnTrait, ColumnType, EntityTrait, FromQueryResult, IdenStatic, Iterable, Value};
use uuid::Uuid;

/// What columns hold: each takes one of these.
fn samples() -> impl Iterator<Item = Value> {
    let layer = Layer { quantity: Quantity::ZERO, value: BookMoney::ZERO, line: None };
    let entry = EntryRef { id: RecordId::NONE, number: 1, date: Day::LAST };
    let nested = [AsJson(layer).into(), AsJson(State::default()).into(), AsJson(entry).into()];
    let plain = [20_000_i64.into(), true.into(), Uuid::from_u128(7).into(), crate::packed::pack("{}").into()];
    plain.into_iter().chain(nested).chain(TEXTS.split_whitespace().map(Value::from))
}

/// Of each enumeration one text.
const TEXTS: &str = "sales [] {} active asset bank receipt general line goods fulfils salesInvoice normal posted open \
                     stock company fixedDay fifo document fiscalYear sale owed operating allow block inherit off forbid \
                     exempt purchase standard thin waiting";

/// What differs where a row is full, where it has nothing but what it must have, and where days and what is packed are
/// texts, as in books of before.
pub(super) fn read_otherwise<E>() -> Vec<String>
where
    E: Modelled + EntityTrait<Model: PartialEq>,
{
    let table = E::default().table_name().to_owned();
    let takes = |column: E::Column, value: &Value| {
        <E::ActiveModel as ActiveModelTrait>::default().try_set(column, value.clone()).is_ok()
    };
    let mut columns = Vec::new();
    for column in E::Column::iter() {
        let Some(sample) = samples().find(|value| takes(column, value)) else {
            return vec![format!("{table}.{}: no sample is one of its values", column.as_str())];
        };
        columns.push((column, sample));
    }
    // The names are not in the order of the table.
    columns.reverse();
    let mut answer = Answer::of(columns.iter().map(|(column, _)| column.as_str().to_owned()).collect::<Vec<_>>());
    let of_before = |column: E::Column| match column.def().get_column_type() {
        ColumnType::Date => Some(Value::from("2026-03-10")),
        _ => Some(Value::from("{}")).filter(|text| takes(column, text)),
    };
    for row in ["full", "bare", "of books of before", "bare of before"] {
        for (column, sample) in &columns {
            answer.add(match row {
                "bare" if column.def().is_null() => sample.as_null(),
                "bare of before" if column.def().is_null() => {
                    of_before(*column).unwrap_or_else(|| sample.clone()).as_null()
                }
                "of books of before" => of_before(*column).unwrap_or_else(|| sample.clone()),
                _ => sample.clone(),
            });
        }
    }
    let by_name = answer
        .clone()
        .into_results()
        .and_then(|rows| rows.iter().map(|row| E::Model::from_query_result(row, "")).collect::<Result<Vec<_>, _>>());
    match (answer.models::<E>(), by_name) {
        (Ok(by_place), Ok(by_name)) if by_place == by_name && by_place.len() == 4 => Vec::new(),
        (by_place, by_name) => vec![format!("{table}: {by_place:?} where sea-orm reads {by_name:?}")],
    }
}
