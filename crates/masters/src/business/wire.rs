//! A company, as it is sent and shown.

use crate::currency::{CountryCode, CurrencyCode};
use crate::day::Day;
use crate::field::{Each, Field, Label, Maybe, Text};
use crate::ids::RecordId;
use crate::money::{BookMoney, Percent};
use books::chart::{ChartTemplate, SystemRole};
use kit::master::RecordKeeping;
use rules::tax::{TaxBasis, TaxRounding};
use schema::address::{Address, AddressInput};
use schema::business::{
    BusinessSettings, BusinessStatus, CogsTiming, CreditLimitPolicy, DefaultDocumentStatus, PostedEditPolicy,
    RoundingMode, StockPolicy,
};
use schema::item::CostMethod;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a client sends to create or replace a business.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct BusinessInput {
    /// Name the company goes by.
    pub(super) name: Field<Label<200>>,
    /// Registered name, where it differs.
    pub(super) legal_name: Maybe<Text<200>>,
    /// Currency of the books, three letters of ISO 4217. It cannot be changed once the company has records.
    pub(super) base_currency: Field<CurrencyCode>,
    /// Country of registration, two letters of ISO 3166.
    pub(super) country: Maybe<CountryCode>,
    /// Time zone in which the company's days begin, a name of the IANA database; `UTC` when absent.
    pub(super) timezone: Maybe<Text<64>>,
    /// Month in which the fiscal year begins, 1 to 12; 1 when absent.
    #[schemars(range(min = 1, max = 12))]
    pub(super) fiscal_year_start_month: Maybe<i64>,
    /// Day on which the fiscal year begins; 1 when absent.
    #[schemars(range(min = 1, max = 31))]
    pub(super) fiscal_year_start_day: Maybe<i64>,
    /// VAT, GST or other tax number.
    pub(super) tax_number: Maybe<Text<50>>,
    /// Number in the company register.
    pub(super) registration_number: Maybe<Text<50>>,
    /// Seat of the company.
    pub(super) address: Maybe<AddressInput>,
    /// E-mail address.
    pub(super) email: Maybe<Text<254>>,
    /// Telephone number.
    pub(super) phone: Maybe<Text<50>>,
    /// Web address, beginning with `https://` or `http://`.
    pub(super) website: Maybe<Text<500>>,
    /// The chart of accounts it begins with; `general` when absent. It is only read when the company is made.
    pub(super) chart_template: Maybe<ChartTemplate>,
    /// Which accounts the books use by themselves: role to account. A role that is left out keeps its account.
    pub(super) system_accounts: Maybe<SystemAccountsInput>,
    /// How these books are kept.
    pub(super) settings: Maybe<BusinessSettingsInput>,
    /// An archived company can be read, not written; `active` when absent.
    pub(super) status: Maybe<BusinessStatus>,
    /// The company's identifier in another system; unique.
    pub(super) external_id: Maybe<Text<200>>,
    /// Labels of your own, at most 50.
    #[schemars(extend("maxItems" = 50))]
    pub(super) tags: Maybe<Vec<Field<Label<50>>>>,
    /// Whether the company is there to be tried out: it may be told what today is, and be emptied. It cannot be changed later;
    /// left out, a new company is real and one that is there stays what it is.
    pub(super) is_trial: Maybe<bool>,
}

/// The accounts that the company uses, by what for.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it is the name of a schema")]
struct SystemAccounts(BTreeMap<SystemRole, RecordId>);

/// Accounts by the role that the books use them in.
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct SystemAccountsInput(pub(super) BTreeMap<String, Field<RecordId>>);

/// How a company's books are kept.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct BusinessSettingsInput {
    /// Whether every change must name the version it is based on, in `If-Match`; `false` when absent.
    pub(super) require_if_match: Maybe<bool>,
    /// What a new document becomes that does not say; `posted` when absent.
    pub(super) default_document_status: Maybe<DefaultDocumentStatus>,
    /// Whether a posted document may be changed by reversal and a new entry; `allow` when absent.
    pub(super) posted_edit_policy: Maybe<PostedEditPolicy>,
    /// How the half of the smallest coin is rounded; `halfUp` when absent.
    pub(super) rounding_mode: Maybe<RoundingMode>,
    /// Whether tax is rounded once for the document or for each line; `document` when absent.
    pub(super) tax_rounding: Maybe<TaxRounding>,
    /// Whether prices include tax, where neither document nor party says; `false` when absent.
    pub(super) prices_include_tax_default: Maybe<bool>,
    /// How new items are valued that do not say; `movingAverage` when absent.
    pub(super) cost_method_default: Maybe<CostMethod>,
    /// Whether more may go out than is there, where the item does not say; `forbid` when absent.
    pub(super) negative_stock: Maybe<StockPolicy>,
    /// Whether money that is not yet allocated stands on the accounts for advances; `false` when absent.
    pub(super) book_advances_separately: Maybe<bool>,
    /// Whether a supplier's reference may be used once only; `false` when absent.
    pub(super) unique_supplier_reference: Maybe<bool>,
    /// What happens when a sale goes beyond a party's credit limit; `ignore` when absent.
    pub(super) credit_limit_policy: Maybe<CreditLimitPolicy>,
    /// The smallest coin, such as 0.05, to which sales totals are rounded; they are not rounded when absent.
    pub(super) cash_rounding_increment: Maybe<BookMoney>,
    /// When delivered goods become a cost: with their invoice or at once; `invoice` when absent.
    pub(super) cogs_timing: Maybe<CogsTiming>,
    /// By how much more than was ordered may be delivered, in percent; 0 when absent.
    pub(super) over_delivery_percent: Maybe<Percent>,
    /// Whether notes may credit more than is left of the invoice that they name; `false` when absent.
    pub(super) allow_overcredit: Maybe<bool>,
    /// By how many smallest coins the tax that a line states may differ from the computed one, 0 to 1000; 5 when absent.
    pub(super) tax_override_tolerance: Maybe<i64>,
    /// When tax counts, from which day on: a document keeps the basis of the day that its tax counts for. By invoice
    /// where nothing is said.
    #[schemars(extend("maxItems" = 50))]
    pub(super) tax_basis: Each<TaxBasisInput>,
    /// Whether a discount for paying early reduces the tax of what is settled; as is usual in the company's country
    /// when absent.
    pub(super) discount_reduces_tax: Maybe<bool>,
    /// Whether what is written off reduces the tax of what is settled; `false` when absent.
    pub(super) write_off_reduces_tax: Maybe<bool>,
}

/// When tax counts, from a day on.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct TaxBasisInput {
    /// The first day of the basis.
    pub(super) valid_from: Field<Day>,
    /// When tax counts.
    pub(super) basis: Field<TaxBasis>,
}

/// A company whose books are kept here.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Business")]
pub struct BusinessView {
    #[serde(flatten)]
    pub(super) keeping: RecordKeeping,
    /// Name the company goes by.
    pub(super) name: String,
    /// Registered name, where it differs.
    pub(super) legal_name: Option<String>,
    /// Currency of the books, three letters of ISO 4217.
    pub(super) base_currency: String,
    /// Country of registration, two letters of ISO 3166.
    pub(super) country: Option<String>,
    /// Time zone in which the company's days begin, a name of the IANA database.
    pub(super) timezone: String,
    /// Month in which the fiscal year begins.
    pub(super) fiscal_year_start_month: i64,
    /// Day on which the fiscal year begins.
    pub(super) fiscal_year_start_day: i64,
    /// VAT, GST or other tax number.
    pub(super) tax_number: Option<String>,
    /// Number in the company register.
    pub(super) registration_number: Option<String>,
    /// Seat of the company.
    pub(super) address: Option<Address>,
    /// E-mail address.
    pub(super) email: Option<String>,
    /// Telephone number.
    pub(super) phone: Option<String>,
    /// Web address.
    pub(super) website: Option<String>,
    /// The chart of accounts it began with.
    pub(super) chart_template: ChartTemplate,
    /// Which accounts the books use by themselves: role to account.
    #[schemars(with = "SystemAccounts")]
    pub(super) system_accounts: BTreeMap<SystemRole, RecordId>,
    /// The day until which the books are closed, all but hard; see locks.
    pub(super) lock_date: Option<Day>,
    /// How these books are kept.
    pub(super) settings: BusinessSettings,
    /// An archived company can be read, not written.
    pub(super) status: BusinessStatus,
    /// The company's identifier in another system.
    pub(super) external_id: Option<String>,
    /// Labels of your own.
    pub(super) tags: Vec<String>,
    /// Whether the company is there to be tried out.
    pub(super) is_trial: bool,
    /// What a trial was told that today is; null where it goes by the clock, as every real company does.
    pub(super) today: Option<Day>,
    /// Your role in this company: a built-in one, or the name of your permission set.
    pub(super) role: String,
    /// Your permission set in this company.
    pub(super) permission_id: Option<RecordId>,
    /// What your role allows, as permission keys.
    pub(super) permissions: Vec<String>,
}

impl AsRef<RecordKeeping> for BusinessView {
    fn as_ref(&self) -> &RecordKeeping {
        &self.keeping
    }
}
