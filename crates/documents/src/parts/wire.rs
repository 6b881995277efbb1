//! The kinds of trade documents: what their own fields are called on the wire.

use super::{Direction, TradeAsked};
use crate::field::Faults;
use serde_json::json;

/// A body, read into what all kinds share.
pub struct Checked {
    pub(crate) faults: Faults,
    pub(crate) asked: TradeAsked,
}

/// The body of a kind: the fields that all share, and its own.
macro_rules! trade_input {
    ($(#[$about:meta])* $name:ident, $status:ty, { $($fields:tt)* }) => {
        trade_input! {
            $(#[$about])*
            $name, $status, TradeLineInput, {
                /// The day that its tax counts for; the date when absent.
                tax_date: Maybe<Day>,
                /// Whether prices include tax; as the party or the company does when absent.
                prices_include_tax: Maybe<bool>,
                /// Discount of the document, 0 to 100 percent, taken off before tax. Not beside `discountAmount`.
                discount_percent: Maybe<Percent>,
                /// Discount of the document as an amount, taken off before tax. Not beside `discountPercent`.
                discount_amount: Maybe<Money>,
                $($fields)*
            }
        }
    };
    ($(#[$about:meta])* $name:ident, $status:ty, $line:ty, { $($(#[$meta:meta])* $field:ident: $ty:ty,)* }) => {
        $(#[$about])*
        #[derive(Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase")]
        #[schemars(deny_unknown_fields)]
        pub struct $name {
            /// The day it counts for.
            date: Field<Day>,
            /// The lines, 1 to 1000.
            #[schemars(extend("minItems" = 1, "maxItems" = 1000))]
            lines: Field<Vec<Field<$line>>>,
            /// `posted` or `draft`; as the company's settings say when absent. On an update, `void` takes it back.
            status: Maybe<$status>,
            /// Its number, where the series takes numbers by hand.
            number: Maybe<Text<50>>,
            /// The number series; the default one when absent.
            series_id: Maybe<RecordId>,
            /// A number or text of the other side, such as the supplier's own number of the invoice.
            reference: Maybe<Text<100>>,
            /// What it is about; its ledger entries say the same.
            narration: Maybe<Text<1000>>,
            /// Currency of the document; the party's, else the company's, when absent.
            currency: Maybe<CurrencyCode>,
            /// What one unit of its currency is worth in the company's; the company's rate of the day when absent.
            exchange_rate: Maybe<Rate>,
            /// Where invoices go; the party's address when absent.
            billing_address: Maybe<AddressInput>,
            /// Where the goods go; the party's address when absent.
            shipping_address: Maybe<AddressInput>,
            /// Words for the other side.
            notes: Maybe<Text<4000>>,
            /// Terms and conditions.
            terms: Maybe<Text<4000>>,
            /// Words for yourself.
            private_note: Maybe<Text<4000>>,
            /// The document's identifier in another system; unique among its kind.
            external_id: Maybe<Text<200>>,
            /// Labels of your own, at most 50.
            #[schemars(extend("maxItems" = 50))]
            tags: Each<Label<50>>,
            $($(#[$meta])* $field: $ty,)*
        }
    };
}
pub(crate) use trade_input;

/// Reads what all kinds share; what only one has is read by `$own`.
macro_rules! read {
    ($input:ident, |$faults:ident, $asked:ident| $own:block) => {
        read!($input, without prices, |$faults, $asked| {
            $asked.tax_date = $faults.optional("taxDate", $input.tax_date);
            $asked.inclusive = $faults.optional("pricesIncludeTax", $input.prices_include_tax);
            $asked.discount = check_discount(&mut $faults, $input.discount_percent, $input.discount_amount);
            $own
        })
    };
    ($input:ident, without prices, |$faults:ident, $asked:ident| $own:block) => {{
        let mut $faults = Faults::default();
        let exchange_rate = $faults.optional("exchangeRate", $input.exchange_rate);
        if exchange_rate.is_some_and(|rate| rate <= Rate::ZERO) {
            $faults.add("exchangeRate", "must be more than 0");
        }
        let mut $asked = TradeAsked {
            currency: $faults.optional("currency", $input.currency).map(CurrencyCode::into_inner),
            exchange_rate,
            billing_address: address::check(&mut $faults, "billingAddress", $input.billing_address),
            shipping_address: address::check(&mut $faults, "shippingAddress", $input.shipping_address),
            notes: text(&mut $faults, "notes", $input.notes),
            terms: text(&mut $faults, "terms", $input.terms),
            private_note: text(&mut $faults, "privateNote", $input.private_note),
            lines: check_lines(&mut $faults, $input.lines),
            ..TradeAsked::default()
        };
        $own
        let status = match $input.status {
            Field::Given(status) => Field::Given(status.map(DocumentStatus::from)),
            Field::Missing => Field::Missing,
            Field::Malformed(why) => Field::Malformed(why),
        };
        let head = HeadInput {
            date: $input.date,
            status,
            number: $input.number,
            series_id: $input.series_id,
            reference: $input.reference,
            narration: $input.narration,
            external_id: $input.external_id,
            tags: $input.tags,
        };
        Ok((head, Checked { faults: $faults, asked: $asked }))
    }};
}
pub(crate) use read;

/// A document of a kind, as it is answered.
macro_rules! trade_view {
    ($(#[$about:meta])* $name:ident, $title:literal, $status:ty, $line:ty, [$($part:ident: $part_type:ty),*], { $($(#[$meta:meta])* $field:ident: $ty:ty,)* }) => {
        $(#[$about])*
        #[derive(Debug, Serialize, JsonSchema)]
        #[serde(rename_all = "camelCase")]
        #[schemars(rename = $title)]
        pub struct $name {
            #[serde(flatten)]
            keeping: RecordKeeping,
            #[serde(flatten)]
            head: HeadView<$status>,
            #[serde(flatten)]
            body: TradeBody,
            /// The lines.
            lines: Vec<$line>,
            $(#[serde(flatten)] $part: $part_type,)*
            $($(#[$meta])* $field: $ty,)*
        }

        impl AsRef<RecordKeeping> for $name {
            fn as_ref(&self) -> &RecordKeeping {
                &self.keeping
            }
        }
    };
}
pub(crate) use trade_view;

pub(crate) const ITEM: &str = "019a9f6e-6c00-7b21-8a10-5c7d9e0f1a21";
pub(crate) const LINE: &str = "019a9f6e-6c00-7b22-8b11-6d8eaf102b22";
pub(crate) const PARTY: &str = "019a9f6e-6c00-7b23-8c12-7e9fb0213c23";
pub(crate) const CODE: &str = "019a9f6e-6c00-7b24-8d13-8fa0c1324d24";

pub(crate) fn example_of(more: serde_json::Value) -> serde_json::Value {
    let mut body = json!({
        "date": "2026-11-20",
        "status": "posted",
        "partyId": PARTY,
        "number": null,
        "seriesId": null,
        "reference": "PO-4711",
        "narration": null,
        "currency": "EUR",
        "exchangeRate": null,
        "taxDate": null,
        "pricesIncludeTax": false,
        "discountPercent": null,
        "discountAmount": null,
        "billingAddress": {
            "line1": "Elbchaussee 12", "line2": null, "city": "Hamburg", "state": null, "postalCode": "22765", "country": "DE"
        },
        "shippingAddress": null,
        "notes": "Thank you for your order.",
        "terms": null,
        "privateNote": null,
        "externalId": null,
        "tags": ["web"],
        "lines": [
            {
                "itemId": ITEM, "description": "Espresso beans, dark roast", "quantity": 10, "unit": "kg", "unitPrice": 25,
                "discountPercent": 10, "taxCodeId": CODE
            },
            { "description": "Delivery", "quantity": 1, "unitPrice": 4.9, "taxCodeId": null }
        ]
    });
    extend(&mut body, more);
    body
}

pub(crate) fn extend(value: &mut serde_json::Value, more: serde_json::Value) {
    if let (Some(value), serde_json::Value::Object(more)) = (value.as_object_mut(), more) {
        value.extend(more);
    }
}

/// Notes of goods have no line for the carriage.
pub(crate) fn only_goods(value: &mut serde_json::Value) {
    if let Some(lines) = value["lines"].as_array_mut() {
        lines.truncate(1);
    }
}

pub(crate) fn without_prices(value: &mut serde_json::Value) {
    if let Some(body) = value.as_object_mut() {
        for field in ["taxDate", "pricesIncludeTax", "discountPercent", "discountAmount"] {
            body.remove(field);
        }
    }
}

/// An example of a document of a chain, with what its lines have beside others.
pub(crate) fn chain_example_view(direction: Direction, lines: [serde_json::Value; 2]) -> serde_json::Value {
    let mut view = example_view_of(direction, json!({}));
    for (place, more) in lines.into_iter().enumerate() {
        extend(&mut view["lines"][place], more);
    }
    view
}

pub(crate) fn example_view_of(direction: Direction, more: serde_json::Value) -> serde_json::Value {
    let line = |mut line: serde_json::Value, more: serde_json::Value| {
        extend(&mut line, more);
        line
    };
    let account = "019a9f6e-6c00-7b25-8e14-90b1d2435e25";
    let mut view = json!({
        "number": format!("{}-2026-0042", match direction {
            Direction::SalesOrder => "SO",
            Direction::PurchaseOrder => "PO",
            Direction::DeliveryNote => "DEL",
            Direction::ReceiptNote => "GRN",
            Direction::SalesInvoice => "INV",
            Direction::CreditNote => "CN",
            Direction::PurchaseInvoice => "BILL",
            Direction::DebitNote => "DN",
        }),
        "status": "open",
        "partyName": "Nordwind Cafés",
        "partyTaxNumber": "DE811907980",
        "postedAt": "2026-11-20T09:30:00.000000Z",
        "voidDate": null,
        "voidReason": null,
        "entryIds": ["019a9f6e-6c00-7a97-8b43-8daf2e4a6c07"],
        "allowedActions": ["edit", "void", "copy"],
        "lines": [
            line(json!({
                "id": LINE, "lineNo": 1, "lineType": "item", "itemId": ITEM, "accountId": account,
                "description": "Espresso beans, dark roast", "quantity": 10, "unit": "kg", "unitPrice": 25, "discountPercent": 10,
                "discountAmount": null, "taxCodeId": CODE, "sourceLineId": null, "landedCost": null, "grossAmount": 250, "discountValue": 25,
                "netAmount": 225, "taxAmount": 45, "baseNetAmount": 225, "baseTaxAmount": 45
            }), json!({
                "taxes": [{ "componentId": "019a9f6e-6c00-7b11-8c22-9d33ae44bf01", "name": "VAT", "kind": "standard", "rate": 20, "base": 225, "amount": 45 }],
                "costAmount": 92.5
            })),
            {
                "id": "019a9f6e-6c00-7b26-8f15-a1c2e3546f26", "lineNo": 2, "lineType": "account", "itemId": null,
                "accountId": account, "description": "Delivery", "quantity": 1, "unit": null, "unitPrice": 4.9,
                "discountPercent": null, "discountAmount": null, "taxCodeId": null, "sourceLineId": null, "landedCost": null,
                "grossAmount": 4.9, "discountValue": 0, "netAmount": 4.9, "taxAmount": 0, "taxes": [],
                "baseNetAmount": 4.9, "baseTaxAmount": 0, "costAmount": null
            }
        ],
        "taxDate": null,
        "subtotal": 254.9,
        "discountTotal": 25,
        "netTotal": 229.9,
        "taxTotal": 45,
        "roundingAmount": 0,
        "total": 274.9,
        "withheldTotal": 0,
        "baseTotal": 274.9,
        "baseNetTotal": 229.9,
        "baseTaxTotal": 45,
        "taxSummary": [{
            "taxCodeId": CODE, "componentId": "019a9f6e-6c00-7b11-8c22-9d33ae44bf01", "name": "VAT", "kind": "standard",
            "rate": 20, "base": 225, "amount": 45, "baseAmountBase": 225, "amountBase": 45, "recoverable": 45
        }],
        "links": []
    });
    extend(&mut view, more);
    view
}
