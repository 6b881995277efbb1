//! What companies are held to, and what follows where accounts change their roles.

use super::*;
use crate::samples::{draft, id, row, said};
use kit::samples::hold;
use rules::chart::ChartTemplate;
use schema::business::BusinessSettings;

#[test]
fn accounts_that_lost_a_role_and_that_took_one_are_looked_at() {
    use SystemRole::{BadDebt, BankFees, Receivable};
    let roles = |held: &[(SystemRole, u128)]| -> BTreeMap<SystemRole, RecordId> {
        held.iter().map(|(role, account)| (*role, id(*account))).collect()
    };
    for (before, now, moved) in [
        (vec![(Receivable, 1200)], vec![(Receivable, 1200)], vec![]),
        (vec![(Receivable, 1200)], vec![(Receivable, 1201)], vec![1200, 1201]),
        // In a company that is older than the role, nobody had it.
        (vec![], vec![(Receivable, 1200)], vec![1200]),
        (vec![(BankFees, 6100)], vec![(BankFees, 6100), (Receivable, 1200)], vec![1200]),
        (vec![(BankFees, 6100), (BadDebt, 6200)], vec![(BankFees, 6200), (BadDebt, 6200)], vec![6100, 6200]),
        (vec![(BadDebt, 6200)], vec![], vec![6200]),
    ] {
        let expected: HashSet<RecordId> = moved.iter().map(|account| id(*account)).collect();
        assert_eq!(moved_accounts(&roles(&before), &roles(&now)), expected, "{before:?} {now:?}");
    }
}

#[test]
fn a_year_begins_on_a_day_that_each_year_has() {
    let begins = |month: i64, day: i64| [("/fiscalYearStartMonth", json!(month)), ("/fiscalYearStartDay", json!(day))];
    let day = "fiscalYearStartDay: must be between 1 and ";
    hold::<Businesses>(&[
        (&begins(4, 6), &[]),
        (&begins(2, 28), &[]),
        (&begins(2, 29), &[&format!("{day}28")]),
        (&begins(6, 30), &[]),
        (&begins(6, 31), &[&format!("{day}30")]),
        (&begins(12, 31), &[]),
        (&begins(12, 32), &[&format!("{day}31")]),
        (&begins(13, 1), &["fiscalYearStartMonth: must be between 1 and 12"]),
        (&begins(0, 0), &["fiscalYearStartMonth: must be between 1 and 12", &format!("{day}31")]),
        (&[("/timezone", json!("Europe/Berlin"))], &[]),
        (&[("/timezone", json!("Europe/Atlantis"))], &["timezone: must be a time zone of the IANA database"]),
        (&[("/baseCurrency", json!("EURO"))], &["baseCurrency: "]),
        (&[("/country", json!("XX"))], &["country: "]),
    ]);
    let silent = draft::<Businesses>(&[
        ("/fiscalYearStartMonth", json!(null)),
        ("/fiscalYearStartDay", json!(null)),
        ("/timezone", json!(null)),
    ]);
    assert_eq!(silent.get(Column::FiscalYearStartMonth), Some(&Value::from(1_i64)));
    assert_eq!(silent.get(Column::FiscalYearStartDay), Some(&Value::from(1_i64)));
    assert_eq!(silent.get(Column::Timezone), Some(&Value::from("UTC")));
}

#[test]
fn settings_are_within_their_bounds() {
    let basis =
        |days: &[&str]| json!(days.iter().map(|day| json!({"validFrom": day, "basis": "cash"})).collect::<Vec<_>>());
    let increment = |text: &str, currency: &str| {
        [("/settings/cashRoundingIncrement", json!(text)), ("/baseCurrency", json!(currency))]
    };
    hold::<Businesses>(&[
        (&[("/settings/overDeliveryPercent", json!(100))], &[]),
        (&[("/settings/overDeliveryPercent", json!("100.01"))], &["settings.overDeliveryPercent: must be between 0"]),
        (&[("/settings/overDeliveryPercent", json!(-1))], &["settings.overDeliveryPercent: must be between 0"]),
        (&[("/settings/taxOverrideTolerance", json!(0))], &[]),
        (&[("/settings/taxOverrideTolerance", json!(1000))], &[]),
        (&[("/settings/taxOverrideTolerance", json!(1001))], &["settings.taxOverrideTolerance: must be 0 to 1000"]),
        (&[("/settings/taxOverrideTolerance", json!(-1))], &["settings.taxOverrideTolerance: must be 0 to 1000"]),
        (&increment("0.05", "CHF"), &[]),
        (&increment("0", "CHF"), &["settings.cashRoundingIncrement: must be more than 0"]),
        (&increment("-0.05", "CHF"), &["settings.cashRoundingIncrement: must be more than 0"]),
        // No coin is smaller than those of the currency.
        (&increment("0.005", "CHF"), &["settings.cashRoundingIncrement: must have at most 2 decimal places in CHF"]),
        (&increment("0.005", "KWD"), &[]),
        (&increment("0.5", "JPY"), &["settings.cashRoundingIncrement: must have at most 0 decimal places in JPY"]),
        (&[("/settings/taxBasis", basis(&["2026-01-01", "2027-01-01"]))], &[]),
        (&[("/settings/taxBasis", basis(&["2026-01-01", "2026-01-01"]))], &["settings.taxBasis: must be at most 50"]),
        (
            &[("/settings/taxBasis", json!([{"basis": "cash"}, {"basis": "cash"}]))],
            &["settings.taxBasis[0].validFrom: is required", "settings.taxBasis[1].validFrom: is required"],
        ),
        (&[("/settings/roundingMode", json!("down"))], &["settings.roundingMode: must be"]),
    ]);
    let days: Vec<String> = (1..=51).map(|year| format!("{}-01-01", 2000 + year)).collect();
    let days: Vec<&str> = days.iter().map(String::as_str).collect();
    hold::<Businesses>(&[
        (&[("/settings/taxBasis", basis(&days[..50]))], &[]),
        (&[("/settings/taxBasis", basis(&days))], &["settings.taxBasis: must be at most 50"]),
    ]);
}

/// What a body leaves unsaid, by the end of kernel.md: five coins, taxes of discounts as the country has it, none of
/// write-offs.
#[test]
fn what_settings_leave_unsaid_is_as_the_country_has_it() {
    let settings = |country: serde_json::Value, settings: serde_json::Value| {
        let made = draft::<Businesses>(&[("/country", country), ("/settings", settings)]);
        settings_of(&made).unwrap().unwrap()
    };
    for (country, reduces) in [
        (json!("DE"), true),
        (json!("HR"), true),
        (json!("GB"), true),
        (json!("NO"), true),
        (json!("CH"), true),
        (json!("US"), true),
        (json!("CA"), false),
        (json!("IN"), false),
        (json!(null), false),
    ] {
        for said in [json!(null), json!({}), json!({"discountReducesTax": null})] {
            assert_eq!(settings(country.clone(), said.clone()).discount_reduces_tax, reduces, "{country} {said}");
        }
        let other = settings(country.clone(), json!({"discountReducesTax": !reduces}));
        assert_eq!(other.discount_reduces_tax, !reduces, "{country}");
    }
    let silent = settings(json!("DE"), json!({}));
    assert_eq!(silent, BusinessSettings { discount_reduces_tax: true, ..BusinessSettings::default() });
    assert_eq!((silent.tax_override_tolerance.0, silent.write_off_reduces_tax), (5, false));
    // None over is the same as none said.
    assert_eq!(settings(json!("DE"), json!({"overDeliveryPercent": 0})).over_delivery_percent, None);
}

#[test]
fn a_company_names_accounts_by_roles_that_there_are() {
    let named = |roles: serde_json::Value| [("/systemAccounts", roles)];
    hold::<Businesses>(&[
        (&named(json!({"receivable": id(1200), "bankFees": id(6100)})), &[]),
        (&named(json!({"coffee": id(6100)})), &["systemAccounts.coffee: is not a known role"]),
        (&named(json!({"receivable": "nowhere"})), &["systemAccounts.receivable: must be an identifier"]),
    ]);
    let made = draft::<Businesses>(&named(json!({"receivable": id(1200), "bankFees": id(6100)})));
    let held = BTreeMap::from([(SystemRole::Receivable, id(1200)), (SystemRole::BankFees, id(6100))]);
    assert_eq!(named_accounts(&made).unwrap(), held);
    assert_eq!(named_accounts(&draft::<Businesses>(&[])).unwrap(), BTreeMap::new());
    for (said, template) in [(json!("general"), ChartTemplate::General), (json!(null), ChartTemplate::default())] {
        assert_eq!(template_of(&draft::<Businesses>(&[("/chartTemplate", said)])).unwrap(), template);
    }
}

#[test]
fn what_numbers_were_given_by_stays() {
    let held = row::<Businesses>(&[]);
    let year = "in_use: fiscalYearStart";
    for (changes, answer) in [
        (vec![], ""),
        (vec![("/name", json!("Harbour"))], ""),
        (vec![("/settings/taxRounding", json!("line"))], ""),
        (vec![("/fiscalYearStartMonth", json!(4))], year),
        (vec![("/fiscalYearStartDay", json!(6))], year),
        (vec![("/settings/roundingMode", json!("halfEven"))], "in_use: settings.roundingMode: cannot change"),
        // To say none is to say the usual one.
        (vec![("/settings/roundingMode", json!(null))], ""),
    ] {
        let moved = moved_under_numbers(&held, &draft::<Businesses>(&changes)).unwrap();
        let found = moved.map_or_else(String::new, |why| said(Err::<(), _>(why)));
        assert!(found.starts_with(answer) && found.is_empty() == answer.is_empty(), "{changes:?}: {found}");
    }
}
