//! Companies as they are kept, and how their books are.

use crate::address::Address;
use crate::clock::Instant;
use crate::day::Day;
use crate::ids::{BusinessId, RecordId, UserId};
use crate::item::CostMethod;
use crate::money::{BookMoney, Percent, Rounding};
use crate::stored::AsJson;
use crate::wire_enum;
pub use rules::chart::{ChartTemplate, SystemRole};
pub use rules::tax::TaxBasis;
use rules::tax::TaxRounding;
use schemars::JsonSchema;
use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

wire_enum! {
    /// Whether the company's books may be written.
    pub enum BusinessStatus {
        #[default]
        Active = "active",
        Archived = "archived",
    }
}

wire_enum! {
    /// What a new document becomes that does not say.
    pub enum DefaultDocumentStatus {
        #[default]
        Posted = "posted",
        Draft = "draft",
    }
}

wire_enum! {
    /// Whether a posted document may be changed.
    pub enum PostedEditPolicy {
        /// By a reversal and a new entry.
        #[default]
        Allow = "allow",
        /// Not at all; void it and make another.
        CorrectionOnly = "correctionOnly",
    }
}

wire_enum! {
    /// How the half of the smallest coin is rounded.
    pub enum RoundingMode {
        /// Away from zero.
        #[default]
        HalfUp = "halfUp",
        /// To the even neighbour.
        HalfEven = "halfEven",
    }
}

wire_enum! {
    /// When delivered goods become a cost.
    pub enum CogsTiming {
        /// With their invoice; until then they stand on an account of their own.
        #[default]
        Invoice = "invoice",
        /// When they leave.
        Delivery = "delivery",
    }
}

wire_enum! {
    /// Whether more may go out than is there.
    pub enum StockPolicy {
        #[default]
        Forbid = "forbid",
        Allow = "allow",
    }
}

wire_enum! {
    /// What happens when a sale goes beyond a party's credit limit.
    pub enum CreditLimitPolicy {
        #[default]
        Ignore = "ignore",
        /// It is refused.
        Block = "block",
    }
}

impl RoundingMode {
    pub const fn rounding(self) -> Rounding {
        match self {
            Self::HalfUp => Rounding::HalfUp,
            Self::HalfEven => Rounding::HalfEven,
        }
    }
}

/// How a company's books are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own on the wire")]
pub struct BusinessSettings {
    /// Whether every change must name the version it is based on, in `If-Match`.
    pub require_if_match: bool,
    /// What a new document becomes that does not say.
    pub default_document_status: DefaultDocumentStatus,
    /// Whether a posted document may be changed by reversal and a new entry.
    pub posted_edit_policy: PostedEditPolicy,
    /// How the half of the smallest coin is rounded.
    pub rounding_mode: RoundingMode,
    /// Whether tax is rounded once for the document or for each line.
    pub tax_rounding: TaxRounding,
    /// Whether prices include tax, where neither document nor party says.
    pub prices_include_tax_default: bool,
    /// How new items are valued that do not say.
    pub cost_method_default: CostMethod,
    /// Whether more may go out than is there, where the item does not say.
    pub negative_stock: StockPolicy,
    /// Whether money that is not yet allocated stands on the accounts for advances.
    pub book_advances_separately: bool,
    /// Whether a supplier's reference may be used once only.
    pub unique_supplier_reference: bool,
    /// What happens when a sale goes beyond a party's credit limit.
    pub credit_limit_policy: CreditLimitPolicy,
    /// The smallest coin to which sales totals are rounded.
    pub cash_rounding_increment: Option<BookMoney>,
    /// When delivered goods become a cost.
    pub cogs_timing: CogsTiming,
    /// By how much more than was ordered may be delivered, in percent.
    pub over_delivery_percent: Option<Percent>,
    /// Whether notes may credit more than is left of the invoice that they name.
    pub allow_overcredit: bool,
    /// By how many smallest coins the tax that a line states may differ from the computed one.
    pub tax_override_tolerance: Tolerance,
    /// When tax counts, from which day on.
    pub tax_basis: Vec<TaxBasisFrom>,
    /// Whether a discount for paying early reduces the tax of what is settled.
    pub discount_reduces_tax: bool,
    /// Whether what is written off reduces the tax of what is settled.
    pub write_off_reduces_tax: bool,
}

impl BusinessSettings {
    /// When the tax of a day counts.
    pub fn tax_basis_on(&self, day: Day) -> TaxBasis {
        let begun = self.tax_basis.iter().filter(|from| from.valid_from <= day);
        begun.max_by_key(|from| from.valid_from).map_or(TaxBasis::Invoice, |from| from.basis)
    }
}

/// When tax counts, from a day on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaxBasisFrom {
    /// The first day of the basis.
    pub valid_from: Day,
    /// When tax counts.
    pub basis: TaxBasis,
}

/// So many smallest coins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Tolerance(pub i64);

impl Default for Tolerance {
    fn default() -> Self {
        Self(5)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "businesses")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: BusinessId,
    pub name: String,
    pub name_key: String,
    pub legal_name: Option<String>,
    pub base_currency: String,
    pub country: Option<String>,
    pub timezone: String,
    pub fiscal_year_start_month: i64,
    pub fiscal_year_start_day: i64,
    pub tax_number: Option<String>,
    pub registration_number: Option<String>,
    pub address: Option<AsJson<Address>>,
    pub email: Option<String>,
    pub phone: Option<String>,
    pub website: Option<String>,
    pub chart_template: ChartTemplate,
    pub system_accounts: AsJson<BTreeMap<SystemRole, RecordId>>,
    pub settings: AsJson<BusinessSettings>,
    pub status: BusinessStatus,
    pub external_id: Option<String>,
    pub tags: AsJson<Vec<String>>,
    pub search: String,
    /// Whether it is there to be tried out. It stays what it was made as.
    pub is_trial: bool,
    /// What day it was told to be; a trial alone is.
    pub told_today: Option<Day>,
    pub version: i64,
    pub created_at: Instant,
    pub created_by: UserId,
    pub updated_at: Instant,
    pub updated_by: UserId,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

answers::asked_whole!(Entity);
