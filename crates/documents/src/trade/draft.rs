//! A trade document, checked, and what it came to.

use super::line::{LineKept, TradeLineAsked};
use super::{NoteKind, ReturnCost};
use crate::clock::Instant;
use crate::day::Day;
use crate::ids::RecordId;
use crate::money::{Money, Percent, Rate};
use crate::settlement::allocating::AllocationAsked;
use kit::reference::Held;
use rules::tax::TaxKind;
use rules::tax::figures::{Discount, Totals};
use schema::address::Address;
use serde::{Deserialize, Serialize};

/// Money that is received with the invoice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CashAsked {
    pub(super) account: RecordId,
    pub(super) amount: Option<Money>,
    pub(super) reference: Option<String>,
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

/// A trade document, checked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TradeAsked {
    pub(super) party: RecordId,
    pub(super) currency: Option<String>,
    pub(super) exchange_rate: Option<Rate>,
    pub(super) inclusive: Option<bool>,
    pub(super) discount: Option<Discount>,
    pub(super) control_account: Option<RecordId>,
    pub(super) due_date: Option<Day>,
    pub(super) payment_term: Option<RecordId>,
    pub(super) billing_address: Option<Address>,
    pub(super) shipping_address: Option<Address>,
    pub(super) notes: Option<String>,
    pub(super) terms: Option<String>,
    pub(super) private_note: Option<String>,
    pub(super) update_stock: Option<bool>,
    pub(crate) is_opening: bool,
    /// The day that the tax counts for, where it is another than the document's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tax_date: Option<Day>,
    pub(super) source: Option<RecordId>,
    pub(super) reason: Option<String>,
    pub(crate) note_kind: Option<NoteKind>,
    pub(crate) return_cost: ReturnCost,
    pub(super) cash: Option<CashAsked>,
    pub(super) allocations: Vec<AllocationAsked>,
    pub(super) lines: Vec<TradeLineAsked>,
    /// The order that it follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) order: Option<RecordId>,
    /// The notes of goods that it invoices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) goods_notes: Vec<RecordId>,
    /// Whether goods come back by it.
    #[serde(default, skip_serializing_if = "<&bool as std::ops::Not>::not")]
    pub(crate) is_return: bool,
    /// Whether nothing more is to come of an order; kept only where it is so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) closed: Option<bool>,
    #[serde(default, skip_serializing_if = "Logistics::is_unsaid")]
    pub(super) logistics: Logistics,
    /// What the version before it named.
    #[serde(skip)]
    pub(super) held: Held,
}

impl TradeAsked {
    /// The tax codes, items and terms that it names.
    pub(super) fn names(&self) -> impl Iterator<Item = RecordId> + '_ {
        let of_lines = self.lines.iter().flat_map(|line| line.tax.code().into_iter().chain(line.item));
        of_lines.chain(self.payment_term)
    }
}

impl TradeAsked {
    /// What one of its currency is worth.
    pub(super) fn rate(&self) -> Rate {
        self.exchange_rate.unwrap_or(Rate::OF_ITSELF)
    }
}

/// What the document came to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TradeFigures {
    pub(super) party_name: String,
    pub(super) party_tax_number: Option<String>,
    pub(super) currency: String,
    pub(super) control_account: Option<RecordId>,
    pub(super) lines: Vec<LineKept>,
    pub(super) totals: Totals,
    pub(super) base_total: Money,
    pub(super) base_net: Money,
    pub(super) base_tax: Money,
    pub(super) summary: Vec<SummaryKept>,
    pub(crate) moves_stock: bool,
}

/// A component of the tax of a document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SummaryKept {
    pub(super) code: RecordId,
    pub(super) component: RecordId,
    pub(super) name: String,
    pub(super) kind: TaxKind,
    pub(super) rate: Percent,
    pub(super) base: Money,
    pub(super) amount: Money,
    pub(super) base_base: Money,
    pub(super) base_amount: Money,
    pub(super) recoverable: Money,
}
