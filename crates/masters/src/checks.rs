//! What checks find in bodies: a line a rule.

#![cfg(test)]

use crate::exchange_rate::ExchangeRates;
use crate::lock::Locks;
use crate::number_series::NumberSeries;
use crate::party::Parties;
use crate::payment_term::PaymentTerms;
use crate::permission::Permissions;
use crate::tax_code::TaxCodeRecords;
use kit::samples::{faults_of, hold};
use serde_json::json;

#[test]
fn a_payment_term_counts_days_and_a_discount_is_whole() {
    hold::<PaymentTerms>(&[
        (&[("/days", json!(0))], &[]),
        (&[("/days", json!(999))], &[]),
        (&[("/days", json!(-1))], &["days: must be"]),
        (&[("/days", json!(1_000))], &["days: must be"]),
        // A day of the month.
        (&[("/type", json!("fixedDay")), ("/days", json!(31))], &[]),
        (&[("/type", json!("fixedDay")), ("/days", json!(0))], &["days: must be"]),
        (&[("/type", json!("fixedDay")), ("/days", json!(32))], &["days: must be"]),
        (&[("/discountPercent", json!(100))], &[]),
        (&[("/discountPercent", json!(100.01))], &["discountPercent: must be"]),
        (&[("/discountPercent", json!(null))], &["discountPercent: is required"]),
        (&[("/discountDays", json!(null))], &["discountDays: is required"]),
        (&[("/discountPercent", json!(null)), ("/discountDays", json!(null))], &[]),
    ]);
}

#[test]
fn a_component_has_a_rate_of_its_kind_and_each_rate_a_day() {
    let rates = |days: [&str; 2]| json!(days.map(|day| json!({"validFrom": day, "rate": 20})));
    hold::<TaxCodeRecords>(&[
        (&[("/components", json!([]))], &["components: must be 1 to 10"]),
        (&[("/components", json!(vec![json!({"name": "VAT", "rate": 1}); 11]))], &["components: must be 1 to 10"]),
        (&[("/components/0/rate", json!(-1))], &["components[0].rate: must be"]),
        (
            &[("/components/0/kind", json!("exempt")), ("/components/0/rates", json!([]))],
            &["components[0].rate: must be 0 for exempt"],
        ),
        (
            &[("/components/0/kind", json!("zero")), ("/components/0/rate", json!(0))],
            &["components[0].rates[0].rate: must be 0 for zero"],
        ),
        (
            &[
                ("/components/0/kind", json!("outside")),
                ("/components/0/rate", json!(0)),
                ("/components/0/rates", json!([])),
            ],
            &[],
        ),
        (&[("/components/0/rates", rates(["2027-01-01", "2028-01-01"]))], &[]),
        (&[("/components/0/rates", rates(["2027-01-01", "2027-01-01"]))], &["components[0].rates: must each begin"]),
        (&[("/components/0/recoverablePercent", json!(0))], &[]),
        (&[("/components/0/recoverablePercent", json!(100.5))], &["components[0].recoverablePercent: must be"]),
    ]);
}

#[test]
fn a_rate_is_more_than_nothing() {
    hold::<ExchangeRates>(&[
        (&[("/rate", json!("0.0000000001"))], &[]),
        (&[("/rate", json!(0))], &["rate: must be more than 0"]),
        (&[("/rate", json!(-1))], &["rate: must be more than 0"]),
        (&[("/currency", json!("XX"))], &["currency: "]),
    ]);
}

#[test]
fn a_series_counts_once_and_says_since_when() {
    hold::<NumberSeries>(&[
        (&[("/pattern", json!("CL-{000}"))], &["pattern: must have {FY}"]),
        (&[("/pattern", json!("CL-{000}")), ("/resetOn", json!("never"))], &[]),
        (&[("/pattern", json!("CL-{FY}"))], &["pattern: must have exactly one counter"]),
        (&[("/pattern", json!("{FY}-{0}-{00}"))], &["pattern: must have exactly one counter"]),
        (&[("/pattern", json!("{FY-{000}"))], &["pattern: has {FY-{000}"]),
        (&[("/pattern", json!("{FY}-{MM}-{000}")), ("/resetOn", json!("month"))], &[]),
        (&[("/pattern", json!("{MM}-{000}")), ("/resetOn", json!("month"))], &["pattern: must have"]),
        (&[("/firstNumber", json!(0))], &["firstNumber: must be"]),
        (&[("/isDefault", json!(true)), ("/status", json!("archived"))], &["status: of the default series"]),
    ]);
}

#[test]
fn a_party_buys_or_sells_and_has_one_primary_contact() {
    let contact = |name: &str, primary: bool| json!({"name": name, "isPrimary": primary});
    hold::<Parties>(&[
        (&[("/isCustomer", json!(false)), ("/isSupplier", json!(true))], &[]),
        (
            &[("/isCustomer", json!(false)), ("/isSupplier", json!(false))],
            &["isCustomer: must be true", "isSupplier: must be true"],
        ),
        (&[("/creditLimit", json!(-0.01))], &["creditLimit: must not be negative"]),
        (&[("/contacts", json!([contact("Mira", true), contact("Jo", false)]))], &[]),
        (
            &[("/contacts", json!([contact("Mira", true), contact("Jo", true)]))],
            &["contacts: must have at most one primary"],
        ),
        (&[("/contacts", json!(vec![contact("Mira", false); 51]))], &["contacts: must be at most 50"]),
        (&[("/email", json!("nobody"))], &["email: "]),
    ]);
}

#[test]
fn a_set_grants_what_there_is_and_a_lock_excuses_few() {
    assert_eq!(faults_of::<Permissions>(&[("/grants", json!([{"resource": "party", "actions": ["post"]}]))]).len(), 1);
    let excused = json!({"userId": "019a9f6e-6c00-7c55-8a77-1f3e5d7b9c03"});
    hold::<Locks>(&[
        (&[("/exceptions", json!(vec![excused.clone(); 50]))], &[]),
        (&[("/exceptions", json!(vec![excused; 51]))], &["exceptions: must be at most 50"]),
        (&[("/exceptions", json!([{}]))], &["exceptions[0].userId: is required"]),
    ]);
}
