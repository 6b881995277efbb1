//! Receipts: money that comes in.

use crate::currency::CurrencyCode;
use crate::day::Day;
use crate::document::{self, HeadInput, HeadView};
use crate::field::{Each, Faults, Field, Label, Maybe, Text};
use crate::ids::RecordId;
use crate::money::{Money, Rate};
use crate::parts::settlement::allocating::{self, AllocationInput};
use crate::parts::settlement::direct_lines::{DirectLineInput, check_lines};
use crate::parts::settlement::method::PaymentMethod;
use crate::parts::settlement::wire::{MoneyBody, example_of, example_view_of, money_input, read};
use crate::parts::settlement::{MoneyAsked, MoneyKind, Moved};
use kit::master::RecordKeeping;
use kit::resource::About;
use schema::address::text;
use schema::key::ResourceKey;
use schema::tables::{DocumentKind, DocumentStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub struct Receipt;

pub type Receipts = Moved<Receipt>;

money_input! {
    /// What a client sends to create or replace a receipt.
    ReceiptInput, {}
}

/// Money that came in.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Receipt")]
pub struct ReceiptView {
    #[serde(flatten)]
    pub(crate) keeping: RecordKeeping,
    #[serde(flatten)]
    pub(crate) head: HeadView,
    #[serde(flatten)]
    pub(crate) body: MoneyBody,
}

impl AsRef<RecordKeeping> for ReceiptView {
    fn as_ref(&self) -> &RecordKeeping {
        &self.keeping
    }
}

impl MoneyKind for Receipt {
    const KEY: ResourceKey = ResourceKey::Receipts;
    const KIND: DocumentKind = DocumentKind::Receipt;
    const ABOUT: About = About {
        one: "a receipt",
        many: "receipts",
        description: "Money that comes in: from customers, whose invoices it settles at once or later, from suppliers \
                      who pay back, or for something that has no invoice.",
        sorts: document::SORTS,
        searched: "numbers that begin so, totals or, where there are none, in number, reference, narration, notes and the lines' descriptions, or else in their party, where that may be viewed",
    };
    const COMES_IN: bool = true;
    type Input = ReceiptInput;
    type View = ReceiptView;

    fn check(faults: &mut Faults, input: ReceiptInput) -> (HeadInput, MoneyAsked) {
        read!(input, faults)
    }

    fn view(keeping: RecordKeeping, head: HeadView, body: MoneyBody, _: MoneyAsked) -> ReceiptView {
        ReceiptView { keeping, head, body }
    }

    fn example() -> serde_json::Value {
        example_of(&json!({}))
    }

    fn example_view() -> serde_json::Value {
        example_view_of("RC-2026-0017")
    }
}
