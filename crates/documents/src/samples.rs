//! What tables of cases are made of: amounts as they are written, and rows of which a case changes what it is about.

#![cfg(test)]

use crate::clock::Instant;
use crate::day::Day;
use crate::error::Error;
use crate::ids::{BusinessId, RecordId, UserId};
use crate::money::{BookMoney, Money, Percent, Quantity, Rate, Rounding, UnitPrice};
use crate::stored::AsJson;
use rules::exchange::{Exchange, Home};
use rules::tax::{TaxBoxes, TaxComponent, TaxKind, TaxRounding};
use schema::aliases::Named;
use schema::tables::{DocumentKind, DocumentStatus, EntryRefs, documents, open_items, progress};
use schema::written::Written;
use words::exact::BookCoin;

pub(crate) const CENT: BookCoin = BookCoin::new(2, Rounding::HalfUp);
pub(crate) const HOME: Home<'static> = Home { currency: "EUR", coin: CENT };

/// What is known by a number: an account of the sample chart by its code.
pub(crate) fn id(name: u128) -> RecordId {
    RecordId(uuid::Uuid::from_u128(name))
}

pub(crate) fn money(text: &str) -> Money {
    Money::parse(text).unwrap()
}

/// The same in the company's currency.
pub(crate) fn worth(text: &str) -> BookMoney {
    BookMoney::parse(text).unwrap()
}

pub(crate) fn pieces(text: &str) -> Quantity {
    Quantity::parse(text).unwrap()
}

pub(crate) fn price(text: &str) -> UnitPrice {
    UnitPrice::parse(text).unwrap()
}

pub(crate) fn percent(text: &str) -> Percent {
    Percent::parse(text).unwrap()
}

pub(crate) fn rate(text: &str) -> Rate {
    Rate::parse(text).unwrap()
}

pub(crate) fn day(text: &str) -> Day {
    text.parse().unwrap()
}

/// Dollars at a rate, or euros at one.
pub(crate) fn exchange(text: &str) -> Exchange<'static> {
    Exchange { home: HOME, currency: if text == "1" { "EUR" } else { "USD" }, rate: rate(text) }
}

/// What is refused, in words: the code where there is one, then each field with what is wrong with it.
pub(crate) fn said(why: &Error) -> String {
    let (code, faults) = match why {
        Error::Validation(faults) => (None, faults),
        Error::Conflict(conflict) if conflict.errors.is_empty() => {
            return format!("{}: {}", conflict.code, conflict.title);
        }
        Error::Conflict(conflict) => (Some(conflict.code), &conflict.errors),
        other => return format!("{other:?}"),
    };
    let faults = faults.iter().map(|(field, said)| format!("{field} {}", said.join(", ")));
    code.map(|code| code.to_string()).into_iter().chain(faults).collect::<Vec<_>>().join("; ")
}

/// A document in the books, of the tenth of March.
pub(crate) fn row(name: u128, kind: DocumentKind, total: &str) -> documents::Model {
    documents::Model {
        business_id: BusinessId::default(),
        id: id(name),
        kind,
        subkind: None,
        stage: None,
        status: DocumentStatus::Posted,
        number: Some(format!("N-{name}")),
        series_id: None,
        period: None,
        sequence: None,
        date: day("2026-03-10"),
        due_date: None,
        party_id: None,
        reference: None,
        narration: None,
        currency: "EUR".into(),
        total: money(total),
        base_total: worth(total),
        content: Written::of(&(), DocumentStatus::Draft).unwrap(),
        entries: EntryRefs::default(),
        posted_at: None,
        void_date: None,
        void_reason: None,
        external_id: None,
        tags: AsJson(Vec::new()),
        search: String::new(),
        version: 1,
        created_at: Instant::from_micros(0),
        created_by: UserId::default(),
        updated_at: Instant::from_micros(0),
        updated_by: UserId::default(),
    }
}

/// An open item on an account: what is open, and what that is carried at.
pub(crate) fn item(code: u128, currency: &str, open: &str, base: &str) -> open_items::Model {
    open_items::Model {
        business_id: BusinessId::default(),
        id: RecordId::default(),
        document_id: RecordId::default(),
        kind: DocumentKind::default(),
        party_id: Named::default(),
        account_id: id(code),
        currency: currency.into(),
        date: day("2026-03-10"),
        due_date: None,
        amount: money(open),
        base: worth(base),
        open: money(open),
        base_open: worth(base),
    }
}

/// A line of an order or of a note that others may follow, of goods.
pub(crate) fn followed(name: u128, kind: DocumentKind, quantity: &str) -> progress::Model {
    progress::Model {
        business_id: BusinessId::default(),
        line_id: id(name),
        document_id: id(name / 10),
        kind,
        date: day("2026-03-10"),
        party_id: Named::default(),
        item_id: None,
        is_goods: true,
        is_return: false,
        source_line_id: None,
        quantity: pieces(quantity),
        fulfilled: Quantity::ZERO,
        invoiced: Quantity::ZERO,
        returned: Quantity::ZERO,
        cancelled: Quantity::ZERO,
        account_id: None,
        value: BookMoney::ZERO,
    }
}

/// Components of a tax code, in their sequence: rate, kind, and what of it is claimed back. Those after the first stand on
/// the tax before them.
pub(crate) fn components(of: &[(&str, TaxKind, &str)]) -> Vec<TaxComponent> {
    let component = |(sequence, (rate, kind, recoverable)): (i64, &(&str, TaxKind, &str))| TaxComponent {
        id: id(9_000 + u128::try_from(sequence).unwrap()),
        name: format!("T{sequence}"),
        rate: percent(rate),
        rates: Vec::new(),
        kind: *kind,
        is_compound: sequence > 1,
        sequence,
        recoverable_percent: percent(recoverable),
        payable_account_id: (sequence > 1).then(|| id(2205)),
        receivable_account_id: None,
        boxes: TaxBoxes::default(),
    };
    (1..).zip(of).map(component).collect()
}

/// How lines are computed, of a document at a rate.
pub(crate) fn rules(inclusive: bool, at: &str) -> rules::tax::figures::Rules {
    rules::tax::figures::Rules {
        decimals: 2,
        rounding: Rounding::HalfUp,
        tax_rounding: TaxRounding::Document,
        inclusive,
        rates_of: day("2026-03-10"),
        tolerance: 0,
        rate: rate(at),
        increment: None,
    }
}
