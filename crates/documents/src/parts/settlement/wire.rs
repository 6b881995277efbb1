//! What receipts and payments both send and show.

use super::allocating::AllocationView;
use super::direct_lines::DirectLineView;
use super::method::{AllocationStatus, PaymentMethod};
use crate::day::Day;
use crate::ids::RecordId;
use crate::money::{Amount, Rate};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

macro_rules! money_input {
    ($(#[$about:meta])* $name:ident, { $($(#[$meta:meta])* $field:ident: $ty:ty,)* }) => {
        $(#[$about])*
        #[derive(Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase")]
        #[schemars(deny_unknown_fields)]
        pub struct $name {
            /// The day it counts for.
            date: Field<Day>,
            /// The bank, cash or credit card account.
            account_id: Field<RecordId>,
            /// How much moves, fees not counted; more than 0. What is kept back as tax on `lines` does not move.
            amount: Field<Money>,
            /// The day that the tax of its lines counts for; the date when absent.
            tax_date: Maybe<Day>,
            /// The party; required for all that is not in `lines`.
            party_id: Maybe<RecordId>,
            /// Currency of the amount; the account's when absent.
            currency: Maybe<CurrencyCode>,
            /// What one unit of it is worth in the company's; the company's rate of the day when absent.
            exchange_rate: Maybe<Rate>,
            /// How the money moves; `bankTransfer` when absent.
            method: Maybe<PaymentMethod>,
            /// The day on which the bank booked it.
            cleared_date: Maybe<Day>,
            /// What the bank takes for it, in the same currency.
            fee_amount: Maybe<Money>,
            /// Account of the fee; the company's when absent.
            fee_account_id: Maybe<RecordId>,
            /// The receivable or payable account that it settles; by what it is allocated to, else by the party, when absent.
            control_account_id: Maybe<RecordId>,
            /// What it settles at once. It is only read until it is posted; later there are actions for it.
            #[schemars(extend("maxItems" = 100))]
            allocations: Each<AllocationInput>,
            /// What is earned or spent right away, without an invoice; at most 1000.
            #[schemars(extend("maxItems" = 1000))]
            lines: Each<DirectLineInput>,
            /// `posted` or `draft`; as the company's settings say when absent. On an update, `void` takes it back.
            status: Maybe<DocumentStatus>,
            /// Its number, where the series takes numbers by hand.
            number: Maybe<Text<50>>,
            /// The number series; the default one when absent.
            series_id: Maybe<RecordId>,
            /// A number or text of the payment, such as the cheque's or the bank's own.
            reference: Maybe<Text<100>>,
            /// What it is about; its ledger entries say the same.
            narration: Maybe<Text<1000>>,
            /// Words for yourself.
            notes: Maybe<Text<4000>>,
            /// Its identifier in another system; unique among its kind.
            external_id: Maybe<Text<200>>,
            /// Labels of your own, at most 50.
            #[schemars(extend("maxItems" = 50))]
            tags: Each<Label<50>>,
            $($(#[$meta])* $field: $ty,)*
        }
    };
}
pub(crate) use money_input;

macro_rules! read {
    ($input:ident, $faults:ident) => {{
        let given = matches!($input.amount, Field::Given(_));
        let amount = $faults.required("amount", $input.amount);
        if given && amount <= Money::ZERO {
            $faults.add("amount", "must be greater than 0");
        }
        let exchange_rate = $faults.optional("exchangeRate", $input.exchange_rate);
        if exchange_rate.is_some_and(|rate| rate <= Rate::ZERO) {
            $faults.add("exchangeRate", "must be more than 0");
        }
        let fee = $faults.optional("feeAmount", $input.fee_amount).unwrap_or_default();
        if fee.is_negative() {
            $faults.add("feeAmount", "must not be negative");
        }
        let (allocations, said) = allocating::check_said($faults, $input.allocations);
        let asked = MoneyAsked {
            party: $faults.optional("partyId", $input.party_id),
            account: $faults.required("accountId", $input.account_id),
            amount,
            tax_date: $faults.optional("taxDate", $input.tax_date),
            currency: $faults.optional("currency", $input.currency).map(CurrencyCode::into_inner),
            exchange_rate,
            method: $faults.optional("method", $input.method).unwrap_or_default(),
            cleared_date: $faults.optional("clearedDate", $input.cleared_date),
            fee,
            fee_account: $faults.optional("feeAccountId", $input.fee_account_id).filter(|_| fee != Money::ZERO),
            control_account: $faults.optional("controlAccountId", $input.control_account_id),
            notes: text($faults, "notes", $input.notes),
            lines: check_lines($faults, $input.lines),
            allocations,
            said,
            ..MoneyAsked::default()
        };
        let head = HeadInput {
            date: $input.date,
            status: $input.status,
            number: $input.number,
            series_id: $input.series_id,
            reference: $input.reference,
            narration: $input.narration,
            external_id: $input.external_id,
            tags: $input.tags,
        };
        (head, asked)
    }};
}
pub(crate) use read;

/// What receipts and payments say beside their head.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MoneyBody {
    /// The party.
    pub(crate) party_id: Option<RecordId>,
    /// The party's name, as it was when this was written.
    pub(crate) party_name: Option<String>,
    /// The bank, cash or credit card account.
    pub(crate) account_id: RecordId,
    /// How much moves, fees not counted.
    pub(crate) amount: Amount,
    /// The day that the tax of its lines counts for; the date when null.
    pub(crate) tax_date: Option<Day>,
    /// Currency of the amount.
    pub(crate) currency: String,
    /// What one unit of it is worth in the company's; null in the company's own.
    pub(crate) exchange_rate: Option<Rate>,
    /// The amount in the company's currency.
    pub(crate) base_total: Amount,
    /// How the money moves.
    pub(crate) method: PaymentMethod,
    /// The day on which the bank booked it.
    pub(crate) cleared_date: Option<Day>,
    /// What the bank takes for it.
    pub(crate) fee_amount: Amount,
    /// Account of the fee; the company's when null.
    pub(crate) fee_account_id: Option<RecordId>,
    /// The account that it settles.
    pub(crate) control_account_id: Option<RecordId>,
    /// What is earned or spent right away.
    pub(crate) lines: Vec<DirectLineView>,
    /// What it settles, and what settles it.
    pub(crate) allocations: Vec<AllocationView>,
    /// What of it settles something.
    pub(crate) allocated_amount: Amount,
    /// What of it is left to settle something with.
    pub(crate) unallocated_amount: Amount,
    /// How much of it settles something.
    pub(crate) allocation_status: AllocationStatus,
    /// Words for yourself.
    pub(crate) notes: Option<String>,
}

pub(crate) fn example_of(more: &serde_json::Value) -> serde_json::Value {
    let mut body = json!({
        "date": "2026-11-20",
        "accountId": "019a9f6e-6c00-7f86-9a32-7c9e1d3f5b06",
        "amount": 150,
        "taxDate": null,
        "partyId": "019a9f6e-6c00-7b23-8c12-7e9fb0213c23",
        "currency": "EUR",
        "exchangeRate": null,
        "method": "bankTransfer",
        "clearedDate": "2026-11-21",
        "feeAmount": 0,
        "feeAccountId": null,
        "controlAccountId": null,
        "allocations": [],
        "lines": [],
        "status": "posted",
        "number": null,
        "seriesId": null,
        "reference": "INV-2026-0042",
        "narration": null,
        "notes": null,
        "externalId": null,
        "tags": []
    });
    if let (Some(body), Some(more)) = (body.as_object_mut(), more.as_object()) {
        body.extend(more.clone());
    }
    body
}

pub(crate) fn example_view_of(number: &str) -> serde_json::Value {
    json!({
        "number": number,
        "postedAt": "2026-11-20T09:30:00.000000Z",
        "voidDate": null,
        "voidReason": null,
        "entryIds": ["019a9f6e-6c00-7a97-8b43-8daf2e4a6c07"],
        "allowedActions": ["edit", "void", "copy", "allocate"],
        "partyName": "Nordwind Cafés",
        "baseTotal": 150,
        "controlAccountId": "019a9f6e-6c00-7b27-8016-b2d3f4657027",
        "allocatedAmount": 0,
        "unallocatedAmount": 150,
        "allocationStatus": "unallocated"
    })
}
