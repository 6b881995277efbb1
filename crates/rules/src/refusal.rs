//! Why an account is refused, in the field's own words. The caller adds the field.

use crate::account::AccountType;
use crate::chart::Account;
use std::fmt;
use words::error::Error;

/// Why an account cannot stand where it is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Code and name; none where there is no such account.
    account: Option<String>,
    why: Why,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Why {
    Money,
    Control,
    Stock,
    Accrual,
    Tax,
    Valuation,
    Results,
    Type { is: AccountType, wanted: &'static str },
    Currency { own: String, line: String },
    Party,
    Unknown,
    Group,
    Archived,
    NoJournals,
}

impl Refusal {
    pub(crate) const fn unknown() -> Self {
        Self { account: None, why: Why::Unknown }
    }

    pub(crate) fn of(account: &Account, why: Why) -> Self {
        Self { account: Some(format!("{} {}", account.code, account.name)), why }
    }

    /// Whether it is the party that is missing, and not the account that is wrong.
    pub fn wants_party(&self) -> bool {
        self.why == Why::Party
    }

    /// Whether a record that is only begun may name the account all the same: another day it may do.
    pub fn waits_for_posting(&self) -> bool {
        !matches!(self.why, Why::Unknown | Why::Group)
    }

    /// The number of its text in the table of those.
    #[cfg(test)]
    pub(crate) const fn number(&self) -> u8 {
        match self.why {
            Why::Money => 1,
            Why::Control => 2,
            Why::Stock => 3,
            Why::Accrual => 4,
            Why::Tax => 5,
            Why::Valuation => 6,
            Why::Results => 7,
            Why::Type { .. } => 8,
            Why::Currency { .. } => 9,
            Why::Party => 10,
            Why::Unknown | Why::Group | Why::Archived | Why::NoJournals => 11,
        }
    }

    /// As a fault of the field that names the account.
    pub fn at(&self, field: &str) -> Error {
        Error::field(field, self.to_string())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(account) = &self.account else { return f.write_str("names no account") };
        write!(f, "names {account}, ")?;
        match &self.why {
            Why::Money => f.write_str("which holds money; move it by a receipt, a payment or a contra entry"),
            Why::Control => f.write_str(
                "which takes what parties owe and are owed; use an invoice, a note, a receipt or a payment with the party",
            ),
            Why::Stock => {
                f.write_str("which follows the stock; use a document with the item, or a stock adjustment")
            }
            Why::Accrual => f.write_str(
                "where goods wait for their invoice; only notes of goods and what bills them post there",
            ),
            Why::Tax => f.write_str("which holds tax; name a tax code instead"),
            Why::Valuation => f.write_str("which only revaluations post to"),
            Why::Results => f.write_str("which takes results of years; use a journal"),
            Why::Type { is, wanted } => write!(f, "which is of type {is}; here it must be {wanted}"),
            Why::Currency { own, line } => write!(f, "which is kept in {own}; the line is in {line}"),
            Why::Party => f.write_str("which needs `partyId` on each line"),
            Why::Group => f.write_str("a group; name an account in it"),
            Why::Archived => f.write_str("which is archived"),
            Why::NoJournals => f.write_str("which takes no journals"),
            Why::Unknown => f.write_str("which is none"),
        }
    }
}
