//! Bank accounts, as parties and accounts have them.

use crate::field::{Faults, Maybe, Text};
use schema::address::{ruled, text};
pub use schema::bank::BankDetails;
use schemars::JsonSchema;
use serde::Deserialize;

/// A bank account.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct BankDetailsInput {
    /// International bank account number; spaces are taken out.
    iban: Maybe<Text<42>>,
    /// Bank identifier code, 8 or 11 characters.
    bic: Maybe<Text<11>>,
    /// Account number, where there is no IBAN.
    account_number: Maybe<Text<50>>,
    /// Name of the bank.
    bank_name: Maybe<Text<200>>,
}

/// The account in a field, where one is given.
pub(crate) fn check(faults: &mut Faults, name: &str, field: Maybe<BankDetailsInput>) -> Option<BankDetails> {
    let input = faults.optional(name, field)?;
    Some(faults.inside(name, input, |faults, input| {
        let iban = text(faults, "iban", input.iban).map(|iban| iban.replace(' ', "").to_uppercase());
        if iban.as_deref().is_some_and(|iban| !crate::texts::is_iban(iban)) {
            faults.add("iban", "must be an IBAN with a correct checksum");
        }
        BankDetails {
            iban,
            bic: ruled(faults, "bic", input.bic, crate::texts::is_bic, "must be a BIC of 8 or 11 characters"),
            account_number: text(faults, "accountNumber", input.account_number),
            bank_name: text(faults, "bankName", input.bank_name),
        }
    }))
}
