//! What a document is computed under: how the company rounded when it was made, and how far tax that is stated may be off.
//!
//! It is kept with it. Whoever changes a word of it after the company changed its mind changes no figure; what is made from
//! now on, and drafts whose figures are changed, are computed as the company says by now.

use crate::money::{BookMoney, Rounding};
use rules::tax::TaxRounding;
use schema::business::{BusinessSettings, RoundingMode, Tolerance};
use serde::{Deserialize, Serialize};
use words::sown::{Fault, sown};

/// Only what is another than usual is written, since every document has one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Under {
    #[serde(skip_serializing_if = "is_usual")]
    mode: RoundingMode,
    #[serde(skip_serializing_if = "is_usual")]
    pub(crate) tax_rounding: TaxRounding,
    #[serde(skip_serializing_if = "is_usual")]
    tolerance: Tolerance,
    /// The smallest coin of cash.
    #[serde(skip_serializing_if = "is_usual")]
    pub(crate) increment: Option<BookMoney>,
}

fn is_usual<T: Default + PartialEq>(said: &T) -> bool {
    *said == T::default()
}

impl Under {
    /// As the company says now.
    pub(crate) const fn of(settings: &BusinessSettings) -> Self {
        Self {
            mode: settings.rounding_mode,
            tax_rounding: settings.tax_rounding,
            tolerance: settings.tax_override_tolerance,
            increment: settings.cash_rounding_increment,
        }
    }

    /// That of a document that has one; what was made before there was any goes by the company of now.
    pub(crate) fn kept(kept: Option<Self>, settings: &BusinessSettings) -> Self {
        kept.filter(|_| !sown(Fault::ComputedAsOfNow)).unwrap_or(Self::of(settings))
    }

    pub(crate) const fn rounding(self) -> Rounding {
        self.mode.rounding()
    }

    /// In smallest coins.
    pub(crate) const fn tolerance(self) -> i64 {
        self.tolerance.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_read_again() {
        let increment = Some(BookMoney::parse("0.05").unwrap());
        for (under, text) in [
            (Under::of(&BusinessSettings::default()), "{}"),
            (Under { tax_rounding: TaxRounding::Line, ..Under::default() }, r#"{"tax_rounding":"line"}"#),
            (Under { mode: RoundingMode::HalfEven, ..Under::default() }, r#"{"mode":"halfEven"}"#),
            (Under { tolerance: Tolerance(1), increment, ..Under::default() }, r#"{"tolerance":1,"increment":0.05}"#),
        ] {
            assert_eq!(serde_json::to_string(&under).unwrap(), text);
            assert_eq!(serde_json::from_str::<Under>(text).unwrap(), under);
        }
    }
}
