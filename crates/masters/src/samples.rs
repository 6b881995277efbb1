//! What the tests beside rules share: identifiers and days, rows that are made as bodies make them, what a refusal says.

#![cfg(test)]

use crate::day::Day;
use crate::error::Error;
use crate::ids::RecordId;
use crate::money::{BookMoney, Money};
use kit::master::{Columns, Master};
use kit::rows::{Column, Row};
use kit::samples::{checked, told};
use sea_orm::prelude::Uuid;
use sea_orm::{ActiveModelTrait, EntityTrait, TryIntoModel};
use serde_json::Value;

pub(crate) fn id(number: u128) -> RecordId {
    RecordId(Uuid::from_u128(number))
}

pub(crate) fn money(text: &str) -> Money {
    Money::parse(text).unwrap()
}

/// The same in the company's currency.
pub(crate) fn worth(text: &str) -> BookMoney {
    BookMoney::parse(text).unwrap()
}

pub(crate) fn day(text: &str) -> Day {
    text.parse().unwrap()
}

/// What a changed example says of a row.
pub(crate) fn draft<M: Master>(changes: &[(&str, Value)]) -> Columns<Column<M>> {
    match checked::<M>(None, changes) {
        Ok(draft) => draft,
        Err(faults) => panic!("{changes:?}: {:?}", told(&faults)),
    }
}

/// The row that a changed example makes; what no body says is nothing.
pub(crate) fn row<M: Master>(changes: &[(&str, Value)]) -> Row<M>
where
    <M::Entity as EntityTrait>::ActiveModel: TryIntoModel<Row<M>>,
{
    row_with::<M>(changes, &[])
}

/// The same, with words that no body says and that nothing is not one of.
pub(crate) fn row_with<M: Master>(changes: &[(&str, Value)], beside: &[(Column<M>, sea_orm::Value)]) -> Row<M>
where
    <M::Entity as EntityTrait>::ActiveModel: TryIntoModel<Row<M>>,
{
    let mut row = <<M::Entity as EntityTrait>::ActiveModel as ActiveModelTrait>::default_values();
    let draft = draft::<M>(changes);
    let said = draft.iter().map(|(column, value)| (*column, value.clone()));
    for (column, value) in said.chain(beside.iter().cloned()) {
        row.set(column, value);
    }
    row.try_into_model().unwrap()
}

/// An account by its number, below another.
pub(crate) fn account(number: u128, parent: Option<u128>, changes: &[(&str, Value)]) -> schema::account::Model {
    use crate::account::Accounts;
    let place = [("/code", number.to_string().into()), ("/parentId", serde_json::json!(parent.map(id)))];
    let keeper = (schema::account::Column::Keeper, rules::keeper::Keeper::None.into());
    schema::account::Model { id: id(number), ..row_with::<Accounts>(&[&place, changes].concat(), &[keeper]) }
}

/// What is answered to whoever is refused: the code, and each field with its words, or else the title.
pub(crate) fn said<T, E: Into<Error>>(answer: Result<T, E>) -> String {
    match answer.map_err(Into::into) {
        Ok(_) => "fine".into(),
        Err(Error::Validation(faults)) => told(&faults).join(" | "),
        Err(Error::Conflict(conflict)) if conflict.errors.is_empty() => {
            format!("{}: {}", conflict.code, conflict.title)
        }
        Err(Error::Conflict(conflict)) => format!("{}: {}", conflict.code, told(&conflict.errors).join(" | ")),
        Err(Error::NotAllowed { title, errors }) if errors.is_empty() => format!("not allowed: {title}"),
        Err(Error::NotAllowed { errors, .. }) => format!("not allowed: {}", told(&errors).join(" | ")),
        Err(other) => format!("{other:?}"),
    }
}
