//! Tax: what a code is made of, and what it comes to.

pub mod credited;
pub mod due;
pub mod engine;
pub mod exact;
pub mod facts;
pub mod figures;
pub mod home;
pub mod settlement;
pub mod taken_off;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use words::day::Day;
use words::ids::RecordId;
use words::money::Percent;
use words::wire_enum;

wire_enum! {
    /// Which documents a tax code is for.
    pub enum TaxDirection {
        Sales = "sales",
        Purchase = "purchase",
        #[default]
        Both = "both",
    }
}

impl TaxDirection {
    pub fn allows(self, wanted: Self) -> bool {
        self == Self::Both || self == wanted
    }
}

wire_enum! {
    /// How a component works.
    pub kept enum TaxKind {
        /// A percentage that is added, or is inside a price that includes tax.
        #[default]
        Standard = "standard",
        /// The buyer keeps it back when paying; it is shown and does not change the total.
        Withholding = "withholding",
        /// The buyer owes it instead of the seller: nothing is added, the buyer books it on both sides.
        ReverseCharge = "reverseCharge",
        /// No tax, since the supply is exempt.
        Exempt = "exempt",
        /// A rate of nothing.
        Zero = "zero",
        /// Nothing that the tax is about; it is shown in a return all the same.
        Outside = "outside",
        /// An amount for each unit of the quantity, in the company's currency.
        FixedPerUnit = "fixedPerUnit",
    }
}

wire_enum! {
    /// Where tax is rounded.
    pub enum TaxRounding {
        /// Once for all lines of a tax code; the lines share what comes of it.
        #[default]
        Document = "document",
        /// On each line by itself.
        Line = "line",
    }
}

wire_enum! {
    /// When tax counts.
    pub enum TaxBasis {
        /// When it is invoiced.
        #[default]
        Invoice = "invoice",
        /// When it is paid.
        Cash = "cash",
        /// On sales when it is paid, on purchases when it is invoiced.
        CashSales = "cashSales",
    }
}

/// A rate from a day on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaxRate {
    /// The first day of the rate.
    pub valid_from: Day,
    /// The rate from that day on.
    pub rate: Percent,
}

/// One component of a tax.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaxComponent {
    /// The component's identifier.
    pub id: RecordId,
    /// Name on documents.
    pub name: String,
    /// Percentage; for `fixedPerUnit` the amount for a unit.
    pub rate: Percent,
    /// Later rates, each from a day on.
    pub rates: Vec<TaxRate>,
    /// How it works.
    pub kind: TaxKind,
    /// Whether it is computed on the amount with the components before it.
    pub is_compound: bool,
    /// Its place among the components, from 1; compound ones build on those before.
    pub sequence: i64,
    /// How much of it can be claimed back on purchases, in percent.
    pub recoverable_percent: Percent,
    /// Account for tax that is owed; the company's when null.
    pub payable_account_id: Option<RecordId>,
    /// Account for tax that is claimed back; the company's when null.
    pub receivable_account_id: Option<RecordId>,
    /// Where its figures stand in a return.
    #[serde(default)]
    pub boxes: TaxBoxes,
}

/// The boxes of a return that a component's figures go to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct TaxBoxes {
    /// What was sold; the code's `reportBox` when null.
    pub sales_base: Option<String>,
    /// The tax on it.
    pub sales_tax: Option<String>,
    /// What was bought; the code's `reportBox` when null.
    pub purchase_base: Option<String>,
    /// The tax that is owed on what was bought, such as a reverse charge.
    pub purchase_due: Option<String>,
    /// What of the tax on it is claimed back.
    pub purchase_claim: Option<String>,
}

impl TaxComponent {
    pub fn rate_on(&self, day: Day) -> Percent {
        let later = self.rates.iter().filter(|rate| rate.valid_from <= day).max_by_key(|rate| rate.valid_from);
        later.map_or(self.rate, |rate| rate.rate)
    }

    /// What cannot change for days on which it was used.
    pub fn used(&self, until: Day) -> impl PartialEq {
        let mut rates: Vec<(Day, Percent)> = self
            .rates
            .iter()
            .filter(|rate| rate.valid_from <= until)
            .map(|rate| (rate.valid_from, rate.rate))
            .collect();
        rates.sort_by_key(|(day, _)| *day);
        (self.id, self.kind, self.is_compound, self.sequence, self.recoverable_percent, self.rate, rates)
    }
}
