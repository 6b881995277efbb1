//! What the tests of folds share: accounts and questions, made up.

#![cfg(test)]

use super::asked::Asked;
use super::sheet::{Cell, Row, Sheet};
use crate::ids::RecordId;
use books::apart::Apart;
use books::cx::Point;
use books::sums::Span;
use rules::account::AccountType;
use schema::account as accounts;
use std::collections::HashMap;

pub(super) fn id(number: u128) -> RecordId {
    RecordId(uuid::Uuid::from_u128(number))
}

/// An account that is known by its code.
pub(super) fn account(code: u128, r#type: AccountType) -> accounts::Charted {
    accounts::Charted {
        id: id(code),
        code: code.to_string(),
        name: r#type.to_string(),
        r#type,
        class: r#type.class(),
        cash_flow_section: None,
        keeper: rules::keeper::Keeper::of(r#type, false, &[], false),
    }
}

/// What has an identifier, by the number that it was made of.
pub(super) fn named(names: &[(u128, &str)]) -> HashMap<RecordId, String> {
    names.iter().map(|(number, name)| (id(*number), (*name).to_owned())).collect()
}

/// A question about these days, without anything else.
pub(super) fn asked(from: &str, to: &str) -> Asked {
    let to = to.parse().unwrap();
    Asked {
        span: Span { from: Some(from.parse().unwrap()), to },
        as_of: to,
        point: Point::default(),
        apart: Apart::default(),
        periods: 1,
        interval: super::asked::Interval::default(),
        beside: None,
        include_zero: false,
        buckets: super::aging::Buckets::default(),
        aging_by: super::asked::AgingBy::default(),
        party: None,
        currency: None,
        account: None,
        item: None,
        tax_code: None,
        tax_basis: None,
        basis: super::asked::Basis::default(),
        group_by: None,
        orders: super::asked::Orders::default(),
        method: super::asked::Method::default(),
        window: super::asked::Window::Page { size: 50, skipped: 0 },
        years: books::years::Years::default(),
        last_record: None,
    }
}

fn cell(cell: &Cell) -> String {
    serde_json::to_string(cell).unwrap()
}

/// Rows as text, those below a row after it and further in: key and values; what has an identifier, by its label.
pub(super) fn written(sheet: &Sheet) -> Vec<String> {
    fn write(rows: &[Row], text: &mut Vec<String>) {
        for row in rows {
            let values: Vec<String> = row.values.iter().map(cell).collect();
            let inset = "  ".repeat(usize::try_from(row.level).unwrap());
            let name = if uuid::Uuid::parse_str(&row.key).is_ok() { &row.label } else { &row.key };
            text.push(format!("{inset}{name} {}", values.join(" ")));
            write(&row.children, text);
        }
    }
    let mut text = Vec::new();
    write(&sheet.rows, &mut text);
    text
}

pub(super) fn failed(sheet: &Sheet) -> Vec<String> {
    let failed = sheet.checks.iter().filter(|check| !check.ok);
    failed.map(|check| format!("{}: {} {}", check.name, cell(&check.left), cell(&check.right))).collect()
}
