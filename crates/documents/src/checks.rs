//! What checks find in the bodies of documents before the books are asked: a line a rule.

#![cfg(test)]

use crate::contra_entry::ContraEntries;
use crate::credit_note::CreditNotes;
use crate::delivery_note::DeliveryNotes;
use crate::fiscal_year::FiscalYears;
use crate::item::Items;
use crate::journal::Journals;
use crate::receipt::Receipts;
use crate::revaluation::Revaluations;
use crate::sales_invoice::SalesInvoices;
use crate::sales_order::SalesOrders;
use crate::stock_adjustment::StockAdjustments;
use kit::samples::hold;
use serde_json::json;

#[test]
fn money_moves_between_two_accounts_and_the_fee_is_no_gift() {
    let account = "019a9f6e-6c00-7f86-9a32-7c9e1d3f5b06";
    hold::<ContraEntries>(&[
        (&[("/toAccountId", json!(account)), ("/fromAccountId", json!(account))], &["toAccountId: must be another"]),
        (&[("/amount", json!(0))], &["amount: must be more than 0"]),
        (&[("/amount", json!(-5))], &["amount: must be more than 0"]),
        (&[("/toAmount", json!(0))], &["toAmount: must be more than 0"]),
        (&[("/feeAmount", json!(0))], &[]),
        (&[("/feeAmount", json!(-0.01))], &["feeAmount: must not be negative"]),
        (&[("/date", json!("2026-02-30"))], &["date: "]),
    ]);
}

#[test]
fn a_journal_is_reversed_after_its_day_and_each_line_has_one_side() {
    let line = |debit: i64, credit: i64| json!({"accountId": "019a9f6e-6c00-7f86-9a32-7c9e1d3f5b06", "debit": debit, "credit": credit});
    hold::<Journals>(&[
        (&[("/date", json!("2026-11-20")), ("/reverseOn", json!("2026-11-21"))], &[]),
        (
            &[("/date", json!("2026-11-20")), ("/reverseOn", json!("2026-11-20"))],
            &["reverseOn: must be after the date"],
        ),
        (&[("/exchangeRate", json!(0))], &["exchangeRate: must be more than 0"]),
        (&[("/lines", json!([line(5, 0), line(0, 5)]))], &[]),
        (&[("/lines", json!([line(5, 0)]))], &["lines: "]),
        (
            &[("/lines", json!([line(5, 5), line(0, 5)]))],
            &["lines[0].debit: exactly one", "lines[0].credit: exactly one"],
        ),
        (&[("/lines", json!([line(-5, 0), line(0, 5)]))], &["lines[0]"]),
    ]);
}

/// A change of one member, and how the only fault of it begins; none where it is fine.
macro_rules! one_by_one {
    ($($resource:ty: $($pointer:literal = $value:tt => $fault:literal),+ ;)+) => {$(
        hold::<$resource>(&[$((&[($pointer, json!($value))], if $fault.is_empty() { &[] } else { &[$fault] })),+]);
    )+};
}

#[test]
fn a_document_of_trade_has_lines_that_say_something() {
    one_by_one! {
        SalesInvoices:
            "/partyId" = null => "partyId: is required",
            "/lines" = [] => "lines: must be at least one",
            "/lines/0/quantity" = 0 => "lines[0].quantity: must not be 0",
            // A coupon, or what comes back.
            "/lines/0/quantity" = (-1) => "",
            "/lines/0/unitPrice" = (-1) => "",
            "/lines/0/discountPercent" = 100 => "",
            "/lines/0/discountPercent" = 101 => "lines[0].discountPercent: must be between 0 and 100",
            "/lines/0/discountAmount" = 5 => "lines[0].discountAmount: cannot stand beside",
            "/discountPercent" = 100.5 => "discountPercent: must be between 0 and 100",
            "/exchangeRate" = 0 => "exchangeRate: must be more than 0",
            "/dueDate" = "2020-01-01" => "dueDate: must not be before the date",
            "/taxDate" = "2026-13-01" => "taxDate: must be a date";
        SalesOrders: "/lines" = [] => "lines: must be at least one";
        DeliveryNotes:
            "/lines" = [] => "lines: must be at least one",
            "/lines/0/quantity" = 0 => "lines[0].quantity: must not be 0";
        CreditNotes:
            "/lines" = [] => "lines: must be at least one",
            "/kind" = "writeOff" => "",
            "/kind" = "x" => "kind: must be one of return, priceAdjustment, writeOff";
    }
}

#[test]
fn money_goes_somewhere_and_is_more_than_nothing() {
    one_by_one! {
        Receipts:
            "/amount" = 0 => "amount: must be greater than 0",
            "/amount" = (-1) => "amount: must be greater than 0",
            "/feeAmount" = (-1) => "feeAmount: must not be negative",
            "/exchangeRate" = 0 => "exchangeRate: must be more than 0",
            "/allocations" = [{"amount": 5}] => "allocations[0].targetId: is required",
            "/lines" = [{"amount": 5}] => "lines[0].accountId: is required";
    }
}

#[test]
fn stock_is_adjusted_in_one_way_a_line() {
    one_by_one! {
        StockAdjustments:
            "/lines" = [] => "lines: must be at least one",
            "/lines/0/quantityDelta" = 0 => "lines[0].quantityDelta: must not be 0",
            "/lines/0/quantityDelta" = null => "lines[0].quantityDelta: exactly one of",
            "/lines/0/countedQuantity" = 5 => "lines[0].quantityDelta: exactly one of",
            "/lines/0/unitCost" = (-1) => "lines[0].unitCost: must not be negative";
        Items:
            "/name" = "" => "name: must not be empty",
            "/salePrice" = (-1) => "salePrice: must not be negative",
            "/standardCost" = (-1) => "standardCost: must not be negative";
        FiscalYears: "/end" = "2020-01-01" => "end: must be after the start";
        Revaluations: "/date" = null => "date: is required";
    }
}

/// Of days and currencies that are left out none is the second of another.
#[test]
fn a_list_names_each_day_and_currency_once() {
    let rates = |codes: serde_json::Value| {
        json!(codes.as_array().unwrap().iter().map(|code| json!({"currency": code, "rate": 1})).collect::<Vec<_>>())
    };
    hold::<Revaluations>(&[
        (&[("/rates", rates(json!(["USD", "GBP"])))], &[]),
        (&[("/rates", rates(json!(["USD", "GBP", "USD"])))], &["rates: must name each currency once"]),
        (
            &[("/rates", rates(json!([null, "USD", null])))],
            &["rates[0].currency: is required", "rates[2].currency: is required"],
        ),
    ]);
    let costs = |days: serde_json::Value| {
        let costs: Vec<_> = days.as_array().unwrap().iter().map(|day| json!({"validFrom": day, "cost": 5})).collect();
        [("/costMethod", json!("standard")), ("/standardCosts", json!(costs))]
    };
    hold::<Items>(&[
        (&costs(json!([null, "2027-01-01", "2027-02-01"])), &[]),
        (&costs(json!(["2027-01-01", "2027-01-01"])), &["standardCosts: must each begin on a day of their own"]),
        // Only one holds from the beginning.
        (&costs(json!([null, null])), &["standardCosts: must each begin on a day of their own"]),
        (&costs(json!([null, "soon"])), &["standardCosts[1].validFrom: "]),
    ]);
}
