//! Bank accounts, as parties and accounts have them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A bank account.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BankDetails {
    /// International bank account number.
    pub iban: Option<String>,
    /// Bank identifier code.
    pub bic: Option<String>,
    /// Account number, where there is no IBAN.
    pub account_number: Option<String>,
    /// Name of the bank.
    pub bank_name: Option<String>,
}
