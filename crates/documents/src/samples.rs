//! What tables of cases are made of: amounts as they are written, and rows of which a case changes what it is about.

#![cfg(test)]

use crate::clock::Instant;
use crate::day::Day;
use crate::document::Head;
use crate::error::Error;
use crate::ids::{BusinessId, RecordId, UserId};
use crate::money::{BookMoney, Money, Percent, Quantity, Rate, Rounding, UnitPrice};
use crate::stored::AsJson;
use books::tax_codes::TaxCodes;
use rules::exchange::{Exchange, Home};
use rules::posting::Posting;
use rules::tax::{TaxBoxes, TaxComponent, TaxDirection, TaxKind, TaxRounding};
use schema::aliases::Named;
use schema::party::{PartyBlock, PartyKind, PartyStatus};
use schema::payment_term::MasterStatus;
use schema::tables::{DocumentKind, DocumentStatus, EntryRefs, allocations, documents, open_items, progress};
use schema::tax_code;
use schema::written::Written;
use std::collections::BTreeMap;
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
        record: None,
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

/// A receipt (1) that settles so much of an invoice (2), with a discount.
pub(crate) fn settlement(amount: &str, discount: &str) -> allocations::Model {
    allocations::Model {
        business_id: BusinessId::default(),
        id: id(10),
        party_id: Named::default(),
        source_kind: DocumentKind::Receipt,
        source_id: id(1),
        source_document_id: id(1),
        target_kind: DocumentKind::SalesInvoice,
        target_id: id(2),
        target_document_id: id(2),
        date: day("2026-03-10"),
        currency: "EUR".into(),
        amount: money(amount),
        source_currency: "EUR".into(),
        source_amount: money(amount),
        discount: money(discount),
        write_off: Money::ZERO,
        write_off_account_id: None,
        withheld: Money::ZERO,
        source_base: worth(amount),
        target_base: worth(amount),
        exchange_gain: BookMoney::ZERO,
        entry: None,
        removed_on: None,
        removed_at: None,
        created_at: Instant::from_micros(0),
        created_by: UserId::default(),
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

/// An item of which stock is kept.
pub(crate) fn goods(name: u128) -> schema::item::Model {
    schema::item::Model {
        business_id: BusinessId::default(),
        id: id(name),
        name: "Beans".into(),
        name_key: "beans".into(),
        code: None,
        r#type: schema::item::ItemType::Stock,
        barcode: None,
        description: None,
        purchase_description: None,
        unit: None,
        category: None,
        sale_price: None,
        purchase_price: None,
        price_includes_tax: None,
        sales_tax_code_id: None,
        purchase_tax_code_id: None,
        income_account_id: None,
        expense_account_id: None,
        inventory_account_id: None,
        cogs_account_id: None,
        cost_method: schema::item::CostMethod::MovingAverage,
        standard_cost: None,
        negative_stock: schema::item::NegativeStock::Inherit,
        reorder_level: None,
        status: MasterStatus::Active,
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

/// A party as it stands.
pub(crate) fn party(status: PartyStatus, blocked: PartyBlock) -> schema::party::Model {
    schema::party::Model {
        business_id: BusinessId::default(),
        id: id(3),
        name: "Nordwind".into(),
        name_key: "nordwind".into(),
        code: None,
        is_customer: true,
        is_supplier: true,
        kind: PartyKind::Company,
        tax_number: None,
        registration_number: None,
        email: None,
        phone: None,
        website: None,
        billing_address: None,
        shipping_address: None,
        contacts: AsJson(Vec::new()),
        currency: None,
        payment_term_days: None,
        payment_term_id: None,
        receivable_account_id: None,
        payable_account_id: None,
        sales_account_id: None,
        purchase_account_id: None,
        sales_tax_code_id: None,
        purchase_tax_code_id: None,
        credit_limit: None,
        prices_include_tax: None,
        discount_percent: None,
        bank_details: None,
        peppol_id: None,
        status,
        blocked,
        notes: None,
        external_id: None,
        tags: AsJson(Vec::new()),
        merged_into_id: None,
        merged_at: None,
        search: String::new(),
        version: 1,
        created_at: Instant::from_micros(0),
        created_by: UserId::default(),
        updated_at: Instant::from_micros(0),
        updated_by: UserId::default(),
    }
}

/// The tax code 8000 of a side, of such components.
pub(crate) fn taxes(direction: TaxDirection, of: &[(&str, TaxKind, &str)]) -> TaxCodes {
    TaxCodes::sample([tax_code::Model {
        business_id: BusinessId::default(),
        id: id(8_000),
        code: "T".into(),
        name: "Tax".into(),
        name_key: "tax".into(),
        direction,
        category: None,
        report_box: None,
        components: AsJson(components(of)),
        valid_from: None,
        valid_to: None,
        status: MasterStatus::Active,
        external_id: None,
        search: String::new(),
        version: 1,
        created_at: Instant::from_micros(0),
        created_by: UserId::default(),
        updated_at: Instant::from_micros(0),
        updated_by: UserId::default(),
    }])
}

/// The head of a document of a day.
pub(crate) fn head(date: &str) -> Head {
    Head {
        date: day(date),
        status: None,
        number: None,
        series: None,
        reference: None,
        narration: None,
        external_id: None,
        tags: Vec::new(),
    }
}

/// What lines come to in the company's currency, account by account; debits are positive.
pub(crate) fn summed(posting: &Posting) -> String {
    let mut sums: BTreeMap<u128, i64> = BTreeMap::new();
    for line in posting.lines() {
        *sums.entry(line.account().0.as_u128()).or_default() += line.amount().units();
    }
    let shown = sums.into_iter().filter(|(_, sum)| *sum != 0);
    shown.map(|(code, sum)| format!("{code} {}", BookMoney::from_units(sum))).collect::<Vec<_>>().join("; ")
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
