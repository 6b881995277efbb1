//! Payments: money that goes out.

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

pub struct Payment;

pub type Payments = Moved<Payment>;

money_input! {
    /// What a client sends to create or replace a payment.
    PaymentInput, {
        /// Number of the cheque.
        cheque_number: Maybe<Text<50>>,
        /// The batch of payments that it belongs to.
        batch_id: Maybe<Text<100>>,
    }
}

/// Money that went out.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Payment")]
pub struct PaymentView {
    #[serde(flatten)]
    pub(crate) keeping: RecordKeeping,
    #[serde(flatten)]
    pub(crate) head: HeadView,
    #[serde(flatten)]
    pub(crate) body: MoneyBody,
    /// Number of the cheque.
    pub(crate) cheque_number: Option<String>,
    /// The batch of payments that it belongs to.
    batch_id: Option<String>,
}

impl AsRef<RecordKeeping> for PaymentView {
    fn as_ref(&self) -> &RecordKeeping {
        &self.keeping
    }
}

impl MoneyKind for Payment {
    const KEY: ResourceKey = ResourceKey::Payments;
    const KIND: DocumentKind = DocumentKind::Payment;
    const ABOUT: About = About {
        one: "a payment",
        many: "payments",
        description: "Money that goes out: to suppliers, whose invoices it settles at once or later, to customers who \
                      get something back, or for something that has no invoice.",
        sorts: document::SORTS,
        searched: "numbers that begin so, totals or, where there are none, in number, reference, narration, notes and the lines' descriptions, or else in their party, where that may be viewed",
    };
    const COMES_IN: bool = false;
    type Input = PaymentInput;
    type View = PaymentView;

    fn check(faults: &mut Faults, input: PaymentInput) -> (HeadInput, MoneyAsked) {
        let cheque_number = text(faults, "chequeNumber", input.cheque_number);
        let batch = text(faults, "batchId", input.batch_id);
        let (head, asked) = read!(input, faults);
        (head, MoneyAsked { cheque_number, batch, ..asked })
    }

    fn view(keeping: RecordKeeping, head: HeadView, body: MoneyBody, asked: MoneyAsked) -> PaymentView {
        PaymentView { keeping, head, body, cheque_number: asked.cheque_number, batch_id: asked.batch }
    }

    fn example() -> serde_json::Value {
        example_of(&json!({ "chequeNumber": null, "batchId": null }))
    }

    fn example_view() -> serde_json::Value {
        example_view_of("PM-2026-0009")
    }
}
