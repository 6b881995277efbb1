//! What credits of an invoice are rounded by, whose total was rounded to the smallest coin of cash, or not.
//!
//! Not each by itself: all credits of an invoice together are rounded as one of them would be. So each is paid in coins that
//! there are, all of them come to the invoice in the end, and none comes to more than what is left of it.

use crate::ids::RecordId;
use crate::money::Money;
use serde::{Deserialize, Serialize};
use words::exact::TooLarge;

/// What of a note's rounding is for an invoice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rounded {
    pub(crate) of: RecordId,
    pub(crate) by: Money,
}

/// What an invoice charges, or what is left of that.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Charged {
    /// Net and tax.
    pub(crate) exact: Money,
    pub(crate) rounding: Money,
}

impl Charged {
    pub(crate) fn less(self, exact: Money, rounding: Money) -> Result<Self, TooLarge> {
        Ok(Self { exact: self.exact.minus(exact)?, rounding: self.rounding.minus(rounding)? })
    }
}

/// What all credits of an invoice together are rounded by, which come to so much.
fn of_all(invoice: Charged, credited: Money, increment: Option<Money>) -> Result<Money, TooLarge> {
    if credited == invoice.exact {
        return Ok(invoice.rounding);
    }
    let rounded = increment.map_or(Ok(credited), |increment| credited.to_increment(increment))?;
    let whole = invoice.exact.plus(invoice.rounding)?;
    let within = if credited < invoice.exact { Ord::min(rounded, whole) } else { rounded };
    within.minus(credited)
}

/// What one more credit of so much is rounded by, given what is left of the invoice without it.
pub(crate) fn of_next(
    (invoice, left): (Charged, Charged),
    credited: Money,
    increment: Option<Money>,
) -> Result<Money, TooLarge> {
    let before = invoice.less(left.exact, left.rounding)?;
    let by = of_all(invoice, before.exact.plus(credited)?, increment)?.minus(before.rounding)?;
    // What others gave too much, since one between them is void, is kept until it is used up, and never asked back.
    Ok(if credited.is_negative() { by } else { Ord::max(by, credited.negated()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::money;

    /// What credits of such amounts come to, one after the other, of an invoice of so much that was rounded by so much.
    fn credited([exact, rounding]: [&str; 2], increment: Option<&str>, credits: &[&str]) -> Vec<String> {
        let invoice = Charged { exact: money(exact), rounding: money(rounding) };
        let mut left = invoice;
        let next = |one: &&str| {
            let credit = money(one);
            let by = of_next((invoice, left), credit, increment.map(money)).unwrap();
            left = left.less(credit, by).unwrap();
            credit.plus(by).unwrap().to_string()
        };
        credits.iter().map(next).collect()
    }

    #[test]
    fn all_credits_of_an_invoice_come_to_the_invoice() {
        let coin = Some("0.05");
        for (invoice, increment, credits, come_to) in [
            // 1.13, 2.26 and 3.39 of 3.39, which were rounded to 3.40.
            (["3.39", "0.01"], coin, &["1.13", "1.13", "1.13"][..], &["1.15", "1.1", "1.15"][..]),
            (["3.39", "0.01"], coin, &["3.39"], &["3.4"]),
            (["3.39", "0.01"], coin, &["2.26", "1.13"], &["2.25", "1.15"]),
            (["10.02", "-0.02"], coin, &["5.01", "5.01"], &["5", "5"]),
            // The company rounds no more, or not yet then.
            (["3.39", "0.01"], None, &["1.13", "1.13", "1.13"], &["1.13", "1.13", "1.14"]),
            (["3.42", "-0.02"], None, &["3.41", "0.01"], &["3.4", "0"]),
            (["3.39", "0"], coin, &["3.38", "0.01"], &["3.39", "0"]),
            (["3.39", "0"], None, &["1.13", "2.26"], &["1.13", "2.26"]),
            // Whoever may credit more does.
            (["3.39", "0.01"], coin, &["3.39", "1.13"], &["3.4", "1.1"]),
        ] {
            assert_eq!(credited(invoice, increment, credits), come_to, "{invoice:?} {credits:?}");
        }
    }
}
