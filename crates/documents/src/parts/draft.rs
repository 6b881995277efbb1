//! A trade document, checked, and what it came to.

use super::line::{LineKept, TradeLineAsked};
use super::rounded::Rounded;
use super::under::Under;
use super::{NoteKind, ReturnCost};
use crate::clock::Instant;
use crate::day::Day;
use crate::ids::RecordId;
use crate::money::{BookMoney, Money, Percent, Rate};
use crate::parts::settlement::allocating::{AllocationAsked, Said};
use kit::reference::Held;
use rules::tax::TaxKind;
use rules::tax::figures::{Discount, Totals};
use schema::address::Address;
use serde::{Deserialize, Serialize};

/// Money that is received with the invoice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CashAsked {
    pub(crate) account: RecordId,
    pub(crate) amount: Option<Money>,
    pub(crate) reference: Option<String>,
}

/// How goods get to where they go, and what the other side calls things.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Logistics {
    pub(crate) expected_date: Option<Day>,
    pub(crate) valid_until: Option<Day>,
    pub(crate) shipping_method: Option<String>,
    pub(crate) customer_reference: Option<String>,
    pub(crate) carrier: Option<String>,
    pub(crate) tracking_number: Option<String>,
    pub(crate) delivered_at: Option<Instant>,
    pub(crate) supplier_delivery_number: Option<String>,
    pub(crate) supplier_invoice_date: Option<Day>,
}

impl Logistics {
    fn is_unsaid(&self) -> bool {
        *self == Self::default()
    }
}

/// A line of a credit that another one was parted into: what it follows, what billed it, and its identity.
pub(crate) type Parted = (Option<RecordId>, Option<RecordId>, RecordId);

/// A trade document, checked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TradeAsked {
    pub(crate) party: RecordId,
    pub(crate) currency: Option<String>,
    pub(crate) exchange_rate: Option<Rate>,
    pub(crate) inclusive: Option<bool>,
    pub(crate) discount: Option<Discount>,
    pub(crate) control_account: Option<RecordId>,
    pub(crate) due_date: Option<Day>,
    pub(crate) payment_term: Option<RecordId>,
    pub(crate) billing_address: Option<Address>,
    pub(crate) shipping_address: Option<Address>,
    pub(crate) notes: Option<String>,
    pub(crate) terms: Option<String>,
    pub(crate) private_note: Option<String>,
    pub(crate) update_stock: Option<bool>,
    pub(crate) is_opening: bool,
    /// The day that the tax counts for, where it is another than the document's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tax_date: Option<Day>,
    pub(crate) source: Option<RecordId>,
    pub(crate) reason: Option<String>,
    pub(crate) note_kind: Option<NoteKind>,
    pub(crate) return_cost: ReturnCost,
    pub(crate) cash: Option<CashAsked>,
    pub(crate) allocations: Vec<AllocationAsked>,
    /// Whether a body says them.
    #[serde(skip)]
    pub(crate) said: Said,
    pub(crate) lines: Vec<TradeLineAsked>,
    /// Lines of the version before that no line of its body is: what a line is parted into again keeps its identity.
    #[serde(skip)]
    pub(crate) parted: Vec<Parted>,
    /// The order that it follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) order: Option<RecordId>,
    /// The notes of goods that it invoices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) goods_notes: Vec<RecordId>,
    /// Whether goods come back by it.
    #[serde(default, skip_serializing_if = "<&bool as std::ops::Not>::not")]
    pub(crate) is_return: bool,
    /// Whether nothing more is to come of an order; kept only where it is so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) closed: Option<bool>,
    #[serde(default, skip_serializing_if = "Logistics::is_unsaid")]
    pub(crate) logistics: Logistics,
    /// What it is computed under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) under: Option<Under>,
    /// What the version before it named.
    #[serde(skip)]
    pub(crate) held: Held,
}

impl TradeAsked {
    /// The tax codes, items and terms that it names.
    pub(crate) fn names(&self) -> impl Iterator<Item = RecordId> + '_ {
        let of_lines = self.lines.iter().flat_map(|line| line.tax.code().into_iter().chain(line.item));
        of_lines.chain(self.payment_term)
    }
}

impl TradeAsked {
    /// What one of its currency is worth.
    pub(crate) fn rate(&self) -> Rate {
        self.exchange_rate.unwrap_or(Rate::OF_ITSELF)
    }
}

/// What the document came to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TradeFigures {
    pub(crate) party_name: String,
    pub(crate) party_tax_number: Option<String>,
    pub(crate) currency: String,
    pub(crate) control_account: Option<RecordId>,
    pub(crate) lines: Vec<LineKept>,
    pub(crate) totals: Totals,
    /// What of the rounding is for which invoice that it credits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) rounded: Vec<Rounded>,
    pub(crate) base_total: BookMoney,
    pub(crate) base_net: BookMoney,
    pub(crate) base_tax: BookMoney,
    pub(crate) summary: Vec<SummaryKept>,
    pub(crate) moves_stock: bool,
}

/// A component of the tax of a document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SummaryKept {
    pub(crate) code: RecordId,
    pub(crate) component: RecordId,
    pub(crate) name: String,
    pub(crate) kind: TaxKind,
    pub(crate) rate: Percent,
    pub(crate) base: Money,
    pub(crate) amount: Money,
    pub(crate) base_base: BookMoney,
    pub(crate) base_amount: BookMoney,
    pub(crate) recoverable: Money,
}
