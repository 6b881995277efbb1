//! What parties are held to.

use super::*;
use crate::samples::{draft, id, row, said};
use kit::samples::{checked, hold, told};

#[test]
fn what_became_part_of_another_stays_archived() {
    let merged = table::Model { merged_into_id: Some(id(7)), ..row::<Parties>(&[]) };
    let alone = row::<Parties>(&[]);
    let refused = "invalid_state: status: must be archived: it is part of another party, which stands for it";
    for (status, of_merged) in [
        (json!("archived"), "fine"),
        (json!("active"), refused),
        (json!("blocked"), refused),
        // To say none is to say active.
        (json!(null), refused),
    ] {
        let wanted = draft::<Parties>(&[("/status", status.clone())]);
        assert_eq!(said(check_merged(&merged, &wanted)), of_merged, "{status}");
        assert_eq!(said(check_merged(&alone, &wanted)), "fine", "{status}");
    }
}

#[test]
fn a_party_is_bounded_by_the_coins_of_its_company() {
    let business = Business::sample();
    let faults = |changes: &[(&str, serde_json::Value)]| match checked::<Parties>(Some(&business), changes) {
        Ok(_) => Vec::new(),
        Err(faults) => told(&faults),
    };
    for (limit, expected) in [
        (json!("0"), vec![]),
        (json!("0.01"), vec![]),
        (json!("0.001"), vec!["creditLimit: must have at most 2 decimal places in EUR"]),
        (json!("-5"), vec!["creditLimit: must not be negative"]),
    ] {
        assert_eq!(faults(&[("/creditLimit", limit.clone())]), expected, "{limit}");
    }
    hold::<Parties>(&[
        (&[("/paymentTermDays", json!(0))], &[]),
        (&[("/paymentTermDays", json!(999))], &[]),
        (&[("/paymentTermDays", json!(1000))], &["paymentTermDays: must be between 0 and 999"]),
        (&[("/paymentTermDays", json!(-1))], &["paymentTermDays: must be between 0 and 999"]),
        (&[("/discountPercent", json!(100))], &[]),
        (&[("/discountPercent", json!("100.000001"))], &["discountPercent: must be between 0 and 100"]),
        (&[("/name", json!(" "))], &["name: must not be empty"]),
        (&[("/website", json!("nowhere"))], &["website: "]),
        (&[("/billingAddress/country", json!("XX"))], &["billingAddress.country: "]),
    ]);
}

#[test]
fn a_bank_account_is_known_by_a_number_that_proves_itself() {
    let bank = |iban: &str, bic: &str| [("/bankDetails/iban", json!(iban)), ("/bankDetails/bic", json!(bic))];
    let (iban, bic) = ("bankDetails.iban: must be an IBAN", "bankDetails.bic: must be a BIC of 8 or 11 characters");
    hold::<Parties>(&[
        (&bank("GB29NWBK60161331926819", "NWBKGB2L"), &[]),
        (&bank("NO9386011117947", "DNBANOKKXXX"), &[]),
        // Two digits changed places, as when it is copied by hand.
        (&bank("GB29NWBK60161331926891", "NWBKGB2L"), &[iban]),
        (&bank("DE89370400440532013001", "COBADEFF"), &[iban]),
        (&bank("89DE370400440532013000", "COBADEFF"), &[iban]),
        (&bank("DE89 3704 0044 0532 0130 00", "COBADEFF"), &[]),
        (&bank("DE89370400440532013000", "COBADEF"), &[bic]),
        (&bank("DE89370400440532013000", "COBADEFFXX"), &[bic]),
        (&bank("DE89370400440532013000", "COBA1EFF"), &[bic]),
        (&bank("", ""), &[]),
    ]);
    let kept = row::<Parties>(&[("/bankDetails/iban", json!("de89 3704 0044 0532 0130 00"))]).bank_details;
    assert_eq!(kept.unwrap().0.iban.as_deref(), Some("DE89370400440532013000"));
}

#[test]
fn what_is_open_with_a_party_is_shown_in_the_companys_currency_and_by_each() {
    let within = |receivable: (i64, i64), payable: (i64, i64)| OpenIn { receivable, payable };
    let euros = |cents: i64| cents * 100;
    let open = Open::from([
        ("EUR".to_owned(), within((euros(9_950), euros(9_950)), (0, 0))),
        // 80 dollars owed, at one half.
        ("USD".to_owned(), within((0, 0), (euros(4_000), euros(8_000)))),
        ("GBP".to_owned(), within((0, 0), (0, 0))),
    ]);
    let late = relations::Late { overdue: euros(2_000), unallocated: euros(550) };
    let shown = |open: Open| {
        let shown =
            view(row::<Parties>(&[]), 2, Some(id(7)), (open, late)).map(|view| serde_json::to_value(view).unwrap());
        shown.map_err(|why| said(Err::<(), _>(why)))
    };
    let view = shown(open).unwrap();
    for (name, figure) in [
        ("receivableBalance", "99.50"),
        ("payableBalance", "40.00"),
        ("overdueAmount", "20.00"),
        ("unallocatedCredit", "5.50"),
        ("creditLimit", "5000.00"),
    ] {
        assert_eq!(view[name].to_string(), figure, "{name}");
    }
    let balances: Vec<String> = view["balances"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| format!("{} {} {}", one["currency"].as_str().unwrap(), one["receivable"], one["payable"]))
        .collect();
    assert_eq!(balances, ["EUR 99.50 0.00", "USD 0.00 80.00"]);
    assert_eq!(view["mergedIntoId"], json!(id(7)));
    // More than can be kept is no figure at all.
    let huge = || within((i64::MAX, 0), (0, 0));
    assert!(shown(Open::from([("EUR".to_owned(), huge()), ("USD".to_owned(), huge())])).is_err());
}
