//! What checks find in the bodies of documents before the books are asked: a line a rule.

use crate::contra_entry::ContraEntries;
use crate::journal::Journals;
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
