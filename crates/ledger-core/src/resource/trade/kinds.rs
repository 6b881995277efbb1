//! The four kinds: what their own fields are called on the wire.

use super::line::{TradeLineInput, check_discount, check_lines};
use super::live::{InvoiceStatus, NoteStatus};
use super::{CashAsked, Direction, NoteKind, ReturnCost, Shown, Trade, TradeAsked, TradeBody, TradeKind};
use crate::books::tables::{DocumentKind, DocumentStatus};
use crate::currency::CurrencyCode;
use crate::cx::Cx;
use crate::database::stored::wire_enum;
use crate::day::Day;
use crate::error::{FieldErrors, Result};
use crate::field::{Each, Faults, Field, Label, Maybe, Text};
use crate::ids::RecordId;
use crate::money::{Amount, Money, Percent, Rate};
use crate::resource::address::{self, AddressInput, text};
use crate::resource::document::{self, Abilities, HeadInput, HeadView};
use crate::resource::extra::{Extra, action};
use crate::resource::master::{RecordKeeping, kept};
use crate::resource::settlement::actions::{Allocate, Deallocate};
use crate::resource::settlement::allocating::{self, AllocationInput};
use crate::resource::{About, ResourceKey};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub type SalesInvoices = Trade<SalesInvoice>;
pub type CreditNotes = Trade<CreditNote>;
pub type PurchaseInvoices = Trade<PurchaseInvoice>;
pub type DebitNotes = Trade<DebitNote>;

pub struct SalesInvoice;
pub struct CreditNote;
pub struct PurchaseInvoice;
pub struct DebitNote;

wire_enum! {
    /// What an invoice is to become: `draft`, `posted` or `void`. What it is shown as can be sent back and changes
    /// nothing.
    pub enum InvoiceStatusAsked {
        Draft = "draft",
        #[default]
        Posted = "posted",
        Open = "open",
        PartiallyPaid = "partiallyPaid",
        Paid = "paid",
        Void = "void",
    }
}

impl From<InvoiceStatusAsked> for DocumentStatus {
    fn from(asked: InvoiceStatusAsked) -> Self {
        match asked {
            InvoiceStatusAsked::Draft => Self::Draft,
            InvoiceStatusAsked::Void => Self::Void,
            InvoiceStatusAsked::Posted
            | InvoiceStatusAsked::Open
            | InvoiceStatusAsked::PartiallyPaid
            | InvoiceStatusAsked::Paid => Self::Posted,
        }
    }
}

wire_enum! {
    /// What a note is to become: `draft`, `posted` or `void`. What it is shown as can be sent back and changes nothing.
    pub enum NoteStatusAsked {
        Draft = "draft",
        #[default]
        Posted = "posted",
        Open = "open",
        PartiallyAllocated = "partiallyAllocated",
        Closed = "closed",
        Void = "void",
    }
}

impl From<NoteStatusAsked> for DocumentStatus {
    fn from(asked: NoteStatusAsked) -> Self {
        match asked {
            NoteStatusAsked::Draft => Self::Draft,
            NoteStatusAsked::Void => Self::Void,
            NoteStatusAsked::Posted
            | NoteStatusAsked::Open
            | NoteStatusAsked::PartiallyAllocated
            | NoteStatusAsked::Closed => Self::Posted,
        }
    }
}

/// A body, read into what all kinds share.
pub struct Checked {
    pub(super) faults: Faults,
    pub(super) asked: TradeAsked,
}

/// The body of a kind: the fields that all share, and its own.
macro_rules! trade_input {
    ($(#[$about:meta])* $name:ident, $status:ty, { $($(#[$meta:meta])* $field:ident: $ty:ty,)* }) => {
        $(#[$about])*
        #[derive(Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase")]
        #[schemars(deny_unknown_fields)]
        pub struct $name {
            /// The day it counts for.
            date: Field<Day>,
            /// The lines, 1 to 1000.
            #[schemars(extend("minItems" = 1, "maxItems" = 1000))]
            lines: Field<Vec<Field<TradeLineInput>>>,
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
            /// Whether prices include tax; as the party or the company does when absent.
            prices_include_tax: Maybe<bool>,
            /// Discount of the document, 0 to 100 percent, taken off before tax. Not beside `discountAmount`.
            discount_percent: Maybe<Percent>,
            /// Discount of the document as an amount, taken off before tax. Not beside `discountPercent`.
            discount_amount: Maybe<Money>,
            /// Where the invoice goes; the party's address when absent.
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

/// Reads what all kinds share; what only one has is read by `$own`.
macro_rules! read {
    ($input:ident, |$faults:ident, $asked:ident| $own:block) => {{
        let mut $faults = Faults::default();
        let exchange_rate = $faults.optional("exchangeRate", $input.exchange_rate);
        if exchange_rate.is_some_and(|rate| rate <= Rate::ZERO) {
            $faults.add("exchangeRate", "must be more than 0");
        }
        let mut $asked = TradeAsked {
            currency: $faults.optional("currency", $input.currency).map(CurrencyCode::into_inner),
            exchange_rate,
            inclusive: $faults.optional("pricesIncludeTax", $input.prices_include_tax),
            discount: check_discount(&mut $faults, $input.discount_percent, $input.discount_amount),
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

/// Money that is received with the invoice.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct CashReceiptInput {
    /// The bank or cash account.
    account_id: Field<RecordId>,
    /// What is received, in the invoice's currency; all of it when absent.
    amount: Maybe<Money>,
    /// A number or text of the payment.
    reference: Maybe<Text<100>>,
}

trade_input! {
    /// What a client sends to create or replace a sales invoice.
    SalesInvoiceInput, InvoiceStatusAsked, {
        /// The customer.
        party_id: Field<RecordId>,
        /// When it is due; by the payment term when absent.
        due_date: Maybe<Day>,
        /// The payment term; the customer's when absent.
        payment_term_id: Maybe<RecordId>,
        /// Account of what is owed; the customer's or the company's when absent.
        receivable_account_id: Maybe<RecordId>,
        /// Whether lines of stock items take goods out of stock; `true` when absent.
        update_stock: Maybe<bool>,
        /// Whether it is from the time before these books: it is open, and earns nothing; `false` when absent.
        is_opening: Maybe<bool>,
        /// Money that is received with the invoice; a receipt is made of it. It is only read when the invoice is posted.
        cash_receipt: Maybe<CashReceiptInput>,
    }
}

trade_input! {
    /// What a client sends to create or replace a purchase invoice.
    PurchaseInvoiceInput, InvoiceStatusAsked, {
        /// The supplier.
        party_id: Field<RecordId>,
        /// When it is due; by the payment term when absent.
        due_date: Maybe<Day>,
        /// The payment term; the supplier's when absent.
        payment_term_id: Maybe<RecordId>,
        /// Account of what is owed; the supplier's or the company's when absent.
        payable_account_id: Maybe<RecordId>,
        /// Whether lines of stock items bring goods into stock; `true` when absent.
        update_stock: Maybe<bool>,
        /// Whether it is from the time before these books: it is open, and costs nothing; `false` when absent.
        is_opening: Maybe<bool>,
    }
}

trade_input! {
    /// What a client sends to create or replace a credit note.
    CreditNoteInput, NoteStatusAsked, {
        /// The customer; that of the invoice when absent.
        party_id: Maybe<RecordId>,
        /// The invoice that it credits. Lines may name lines of it.
        sales_invoice_id: Maybe<RecordId>,
        /// Why it is given.
        reason: Maybe<Text<500>>,
        /// What it is for; `return` when absent.
        kind: Maybe<NoteKind>,
        /// Account of what was owed; the customer's or the company's when absent.
        receivable_account_id: Maybe<RecordId>,
        /// Whether lines of stock items bring goods back; `true` for a return when absent.
        update_stock: Maybe<bool>,
        /// At what cost goods come back; `original` when absent.
        return_cost: Maybe<ReturnCost>,
        /// What it settles at once. It is only read until the note is posted; later there are actions for it.
        #[schemars(extend("maxItems" = 100))]
        allocations: Each<AllocationInput>,
    }
}

trade_input! {
    /// What a client sends to create or replace a debit note.
    DebitNoteInput, NoteStatusAsked, {
        /// The supplier; that of the invoice when absent.
        party_id: Maybe<RecordId>,
        /// The invoice that it debits. Lines may name lines of it.
        purchase_invoice_id: Maybe<RecordId>,
        /// Why it is given.
        reason: Maybe<Text<500>>,
        /// What it is for; `return` when absent.
        kind: Maybe<NoteKind>,
        /// Account of what was owed; the supplier's or the company's when absent.
        payable_account_id: Maybe<RecordId>,
        /// Whether lines of stock items take goods out again; `true` for a return when absent.
        update_stock: Maybe<bool>,
        /// What it settles at once. It is only read until the note is posted; later there are actions for it.
        #[schemars(extend("maxItems" = 100))]
        allocations: Each<AllocationInput>,
    }
}

/// A note without invoice must say for whom it is.
fn check_party(faults: &mut Faults, party: Option<RecordId>, source: Option<RecordId>) -> RecordId {
    if party.is_none() && source.is_none() {
        faults.add("partyId", "is required");
    }
    party.unwrap_or_default()
}

/// What only an invoice has.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InvoicePart {
    /// When it is due.
    due_date: Option<Day>,
    /// The payment term.
    payment_term_id: Option<RecordId>,
    /// Whether it is from the time before these books.
    is_opening: bool,
    /// What was paid of it.
    amount_paid: Amount,
    /// What notes credited of it.
    amount_credited: Amount,
    /// What was taken off for paying early.
    amount_discounted: Amount,
    /// What was written off.
    amount_written_off: Amount,
    /// What was kept back as tax.
    amount_withheld: Amount,
    /// What is left to pay.
    balance_due: Amount,
    /// What is left is carried at this, in the company's currency.
    base_balance_due: Amount,
    /// The day on which the last of it was settled.
    paid_date: Option<Day>,
    /// Whether something is left to pay after the due date.
    is_overdue: bool,
    /// How many days it is overdue.
    days_overdue: i64,
}

impl InvoicePart {
    fn of(cx: &Cx<'_>, shown: &Shown) -> Result<Self> {
        let own = |money| Amount { money, currency_decimals: shown.own_decimals };
        let paid = |of: fn(&crate::books::tables::allocations::Model) -> Money, wanted: &[DocumentKind]| {
            let by =
                shown.standing.allocations.iter().filter(|one| wanted.is_empty() || wanted.contains(&one.source_kind));
            own(Money::from_units(by.map(|one| of(one).units()).sum()))
        };
        let (left, base_left) = shown.standing.left(&shown.row);
        let days_overdue = shown.standing.days_overdue(&shown.row, shown.asked.due_date, cx.today()?);
        let money = [DocumentKind::Receipt, DocumentKind::Payment, DocumentKind::Journal];
        let notes = [DocumentKind::CreditNote, DocumentKind::DebitNote];
        Ok(Self {
            due_date: shown.asked.due_date,
            payment_term_id: shown.asked.payment_term,
            is_opening: shown.asked.is_opening,
            amount_paid: paid(|one| one.amount, &money),
            amount_credited: paid(|one| one.amount, &notes),
            amount_discounted: paid(|one| one.discount, &[]),
            amount_written_off: paid(|one| one.write_off, &[]),
            amount_withheld: paid(|one| one.withheld, &[]),
            balance_due: own(left),
            base_balance_due: Amount { money: base_left, currency_decimals: shown.base_decimals },
            paid_date: shown.standing.paid_on(&shown.row),
            is_overdue: days_overdue > 0,
            days_overdue,
        })
    }
}

/// What only a note has.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NotePart {
    /// Why it is given.
    reason: Option<String>,
    /// What it is for.
    kind: NoteKind,
    /// What of it settles invoices.
    amount_allocated: Amount,
    /// What of it was paid out.
    amount_refunded: Amount,
    /// What is left of it.
    remaining_credit: Amount,
}

impl NotePart {
    fn of(shown: &Shown) -> Self {
        let own = |money| Amount { money, currency_decimals: shown.own_decimals };
        let id = shown.row.id;
        let allocated = shown.standing.allocations.iter().filter(|one| one.source_document_id == id);
        let refunded = shown.standing.allocations.iter().filter(|one| one.target_document_id == id);
        Self {
            reason: shown.asked.reason.clone(),
            kind: shown.asked.note_kind.unwrap_or_default(),
            amount_allocated: own(Money::from_units(allocated.map(|one| one.source_amount.units()).sum())),
            amount_refunded: own(Money::from_units(refunded.map(|one| one.amount.units()).sum())),
            remaining_credit: own(shown.standing.left(&shown.row).0),
        }
    }
}

/// A document of a kind, as it is answered.
macro_rules! trade_view {
    ($(#[$about:meta])* $name:ident, $title:literal, $status:ty, $part:ident: $part_type:ty, { $($(#[$meta:meta])* $field:ident: $ty:ty,)* }) => {
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
            #[serde(flatten)]
            $part: $part_type,
            $($(#[$meta])* $field: $ty,)*
        }

        impl AsRef<RecordKeeping> for $name {
            fn as_ref(&self) -> &RecordKeeping {
                &self.keeping
            }
        }
    };
}

trade_view! {
    /// What was sold, and what is left to be paid of it.
    SalesInvoiceView, "SalesInvoice", InvoiceStatus, invoice: InvoicePart, {
        /// Account of what is owed.
        receivable_account_id: Option<RecordId>,
    }
}

trade_view! {
    /// What was bought, and what is left to pay of it.
    PurchaseInvoiceView, "PurchaseInvoice", InvoiceStatus, invoice: InvoicePart, {
        /// Account of what is owed.
        payable_account_id: Option<RecordId>,
    }
}

trade_view! {
    /// What a customer gets back, and what is left of it.
    CreditNoteView, "CreditNote", NoteStatus, note: NotePart, {
        /// The invoice that it credits.
        sales_invoice_id: Option<RecordId>,
        /// Account of what was owed.
        receivable_account_id: Option<RecordId>,
        /// At what cost goods come back.
        return_cost: ReturnCost,
    }
}

trade_view! {
    /// What a supplier gives back, and what is left of it.
    DebitNoteView, "DebitNote", NoteStatus, note: NotePart, {
        /// The invoice that it debits.
        purchase_invoice_id: Option<RecordId>,
        /// Account of what was owed.
        payable_account_id: Option<RecordId>,
    }
}

fn invoice_head(cx: &Cx<'_>, key: ResourceKey, shown: &Shown) -> Result<HeadView<InvoiceStatus>> {
    let abilities = Abilities { held: shown.standing.is_allocated(), allocates: false };
    HeadView::shown_as(cx, key, &shown.row, shown.standing.invoice_status(&shown.row), abilities)
}

fn note_head(cx: &Cx<'_>, key: ResourceKey, shown: &Shown) -> Result<HeadView<NoteStatus>> {
    let allocates = shown.row.status == DocumentStatus::Posted && shown.standing.left(&shown.row).0 != Money::ZERO;
    let abilities = Abilities { held: shown.standing.is_allocated(), allocates };
    HeadView::shown_as(cx, key, &shown.row, shown.standing.note_status(&shown.row), abilities)
}

const ITEM: &str = "019a9f6e-6c00-7b21-8a10-5c7d9e0f1a21";
const LINE: &str = "019a9f6e-6c00-7b22-8b11-6d8eaf102b22";
const PARTY: &str = "019a9f6e-6c00-7b23-8c12-7e9fb0213c23";
const CODE: &str = "019a9f6e-6c00-7b24-8d13-8fa0c1324d24";

fn example_of(more: serde_json::Value) -> serde_json::Value {
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
        "updateStock": true,
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
    if let (Some(body), Some(more)) = (body.as_object_mut(), more.as_object()) {
        body.extend(more.clone());
    }
    body
}

fn example_view_of(direction: Direction, more: serde_json::Value) -> serde_json::Value {
    let line = |mut line: serde_json::Value, more: serde_json::Value| {
        if let (Some(line), Some(more)) = (line.as_object_mut(), more.as_object()) {
            line.extend(more.clone());
        }
        line
    };
    let account = "019a9f6e-6c00-7b25-8e14-90b1d2435e25";
    let mut view = json!({
        "number": format!("{}-2026-0042", match direction {
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
                "discountAmount": null, "taxCodeId": CODE, "sourceLineId": null, "grossAmount": 250, "discountValue": 25,
                "netAmount": 225, "taxAmount": 45, "baseNetAmount": 225, "baseTaxAmount": 45
            }), json!({
                "taxes": [{ "componentId": "019a9f6e-6c00-7b11-8c22-9d33ae44bf01", "name": "VAT", "kind": "standard", "rate": 20, "base": 225, "amount": 45 }],
                "costAmount": 92.5
            })),
            {
                "id": "019a9f6e-6c00-7b26-8f15-a1c2e3546f26", "lineNo": 2, "lineType": "account", "itemId": null,
                "accountId": account, "description": "Delivery", "quantity": 1, "unit": null, "unitPrice": 4.9,
                "discountPercent": null, "discountAmount": null, "taxCodeId": null, "sourceLineId": null,
                "grossAmount": 4.9, "discountValue": 0, "netAmount": 4.9, "taxAmount": 0, "taxes": [],
                "baseNetAmount": 4.9, "baseTaxAmount": 0, "costAmount": null
            }
        ],
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
        "allocations": []
    });
    if let (Some(view), Some(more)) = (view.as_object_mut(), more.as_object()) {
        view.extend(more.clone());
    }
    view
}

fn invoice_example_view(direction: Direction, more: serde_json::Value) -> serde_json::Value {
    let mut own = json!({
        "amountPaid": 0, "amountCredited": 0, "amountDiscounted": 0, "amountWrittenOff": 0, "amountWithheld": 0,
        "balanceDue": 274.9, "baseBalanceDue": 274.9, "paidDate": null, "isOverdue": false, "daysOverdue": 0
    });
    if let (Some(own), Some(more)) = (own.as_object_mut(), more.as_object()) {
        own.extend(more.clone());
    }
    example_view_of(direction, own)
}

impl TradeKind for SalesInvoice {
    const KEY: ResourceKey = ResourceKey::SalesInvoices;
    const ABOUT: About = About {
        title: "Sales invoices",
        one: "a sales invoice",
        many: "sales invoices",
        description: "What was sold. A posted invoice stands on the customer's account until it is paid, credited or \
                      written off; goods leave the stock with it, at their cost. An extra charge to a customer is a \
                      sales invoice too.",
        sorts: document::SORTS,
        searched: "number, reference, narration, notes and the lines' descriptions",
    };
    const KIND: DocumentKind = DocumentKind::SalesInvoice;
    const DIRECTION: Direction = Direction::SalesInvoice;
    const STATUSES: &'static [&'static str] = &["draft", "open", "partiallyPaid", "paid", "void", "overdue"];
    type Input = SalesInvoiceInput;
    type View = SalesInvoiceView;

    fn example() -> serde_json::Value {
        example_of(json!({
            "dueDate": "2026-12-20", "paymentTermId": null, "receivableAccountId": null, "isOpening": false
        }))
    }

    fn example_view() -> serde_json::Value {
        invoice_example_view(Self::DIRECTION, json!({ "receivableAccountId": "019a9f6e-6c00-7b27-8016-b2d3f4657027" }))
    }

    fn check(input: SalesInvoiceInput) -> Result<(HeadInput, Checked), FieldErrors> {
        read!(input, |faults, asked| {
            asked.party = faults.required("partyId", input.party_id);
            asked.due_date = faults.optional("dueDate", input.due_date);
            asked.payment_term = faults.optional("paymentTermId", input.payment_term_id);
            asked.control_account = faults.optional("receivableAccountId", input.receivable_account_id);
            asked.update_stock = faults.optional("updateStock", input.update_stock);
            asked.is_opening = faults.optional("isOpening", input.is_opening).unwrap_or_default();
            if let Some(cash) = faults.optional("cashReceipt", input.cash_receipt) {
                asked.cash = Some(faults.inside("cashReceipt", cash, |faults, cash| {
                    let amount = faults.optional("amount", cash.amount);
                    if amount.is_some_and(|amount| amount <= Money::ZERO) {
                        faults.add("amount", "must be greater than 0");
                    }
                    CashAsked {
                        account: faults.required("accountId", cash.account_id),
                        amount,
                        reference: text(faults, "reference", cash.reference),
                    }
                }));
            }
        })
    }

    fn view(cx: &Cx<'_>, shown: Shown) -> Result<SalesInvoiceView> {
        let row = &shown.row;
        Ok(SalesInvoiceView {
            keeping: kept!(row),
            head: invoice_head(cx, Self::KEY, &shown)?,
            invoice: InvoicePart::of(cx, &shown)?,
            receivable_account_id: shown.control_account,
            body: shown.body,
        })
    }

    fn extras() -> Vec<Extra> {
        Vec::new()
    }
}

impl TradeKind for PurchaseInvoice {
    const KEY: ResourceKey = ResourceKey::PurchaseInvoices;
    const ABOUT: About = About {
        title: "Purchase invoices",
        one: "a purchase invoice",
        many: "purchase invoices",
        description: "What was bought. A posted invoice stands on the supplier's account until it is paid or debited; \
                      goods come into stock with it, at what they cost.",
        sorts: document::SORTS,
        searched: "number, reference, narration, notes and the lines' descriptions",
    };
    const KIND: DocumentKind = DocumentKind::PurchaseInvoice;
    const DIRECTION: Direction = Direction::PurchaseInvoice;
    const STATUSES: &'static [&'static str] = SalesInvoice::STATUSES;
    type Input = PurchaseInvoiceInput;
    type View = PurchaseInvoiceView;

    fn example() -> serde_json::Value {
        example_of(json!({
            "dueDate": "2026-12-20", "paymentTermId": null, "payableAccountId": null, "isOpening": false
        }))
    }

    fn example_view() -> serde_json::Value {
        invoice_example_view(Self::DIRECTION, json!({ "payableAccountId": "019a9f6e-6c00-7b28-8117-c3e405768128" }))
    }

    fn check(input: PurchaseInvoiceInput) -> Result<(HeadInput, Checked), FieldErrors> {
        read!(input, |faults, asked| {
            asked.party = faults.required("partyId", input.party_id);
            asked.due_date = faults.optional("dueDate", input.due_date);
            asked.payment_term = faults.optional("paymentTermId", input.payment_term_id);
            asked.control_account = faults.optional("payableAccountId", input.payable_account_id);
            asked.update_stock = faults.optional("updateStock", input.update_stock);
            asked.is_opening = faults.optional("isOpening", input.is_opening).unwrap_or_default();
        })
    }

    fn view(cx: &Cx<'_>, shown: Shown) -> Result<PurchaseInvoiceView> {
        let row = &shown.row;
        Ok(PurchaseInvoiceView {
            keeping: kept!(row),
            head: invoice_head(cx, Self::KEY, &shown)?,
            invoice: InvoicePart::of(cx, &shown)?,
            payable_account_id: shown.control_account,
            body: shown.body,
        })
    }

    fn extras() -> Vec<Extra> {
        Vec::new()
    }
}

impl TradeKind for CreditNote {
    const KEY: ResourceKey = ResourceKey::CreditNotes;
    const ABOUT: About = About {
        title: "Credit notes",
        one: "a credit note",
        many: "credit notes",
        description: "What a customer gets back: goods, or part of the price. It settles invoices, or is paid out.",
        sorts: document::SORTS,
        searched: "number, reference, narration, notes, reason and the lines' descriptions",
    };
    const KIND: DocumentKind = DocumentKind::CreditNote;
    const DIRECTION: Direction = Direction::CreditNote;
    const STATUSES: &'static [&'static str] = &["draft", "open", "partiallyAllocated", "closed", "void"];
    type Input = CreditNoteInput;
    type View = CreditNoteView;

    fn example() -> serde_json::Value {
        example_of(json!({
            "salesInvoiceId": null, "reason": "Damaged", "kind": "return", "receivableAccountId": null,
            "returnCost": "original", "allocations": []
        }))
    }

    fn example_view() -> serde_json::Value {
        example_view_of(
            Self::DIRECTION,
            json!({
                "amountAllocated": 0, "amountRefunded": 0, "remainingCredit": 274.9,
                "allowedActions": ["edit", "void", "copy", "allocate"],
                "receivableAccountId": "019a9f6e-6c00-7b27-8016-b2d3f4657027"
            }),
        )
    }

    fn check(input: CreditNoteInput) -> Result<(HeadInput, Checked), FieldErrors> {
        read!(input, |faults, asked| {
            asked.source = faults.optional("salesInvoiceId", input.sales_invoice_id);
            let party = faults.optional("partyId", input.party_id);
            asked.party = check_party(&mut faults, party, asked.source);
            asked.reason = text(&mut faults, "reason", input.reason);
            asked.note_kind = faults.optional("kind", input.kind);
            asked.control_account = faults.optional("receivableAccountId", input.receivable_account_id);
            asked.update_stock = faults.optional("updateStock", input.update_stock);
            asked.return_cost = faults.optional("returnCost", input.return_cost).unwrap_or_default();
            asked.allocations = allocating::check_each(&mut faults, input.allocations);
        })
    }

    fn view(cx: &Cx<'_>, shown: Shown) -> Result<CreditNoteView> {
        let row = &shown.row;
        Ok(CreditNoteView {
            keeping: kept!(row),
            head: note_head(cx, Self::KEY, &shown)?,
            note: NotePart::of(&shown),
            sales_invoice_id: shown.asked.source,
            receivable_account_id: shown.control_account,
            return_cost: shown.asked.return_cost,
            body: shown.body,
        })
    }

    fn extras() -> Vec<Extra> {
        vec![action::<Allocate<CreditNotes>>(), action::<Deallocate<CreditNotes>>()]
    }
}

impl TradeKind for DebitNote {
    const KEY: ResourceKey = ResourceKey::DebitNotes;
    const ABOUT: About = About {
        title: "Debit notes",
        one: "a debit note",
        many: "debit notes",
        description: "What a supplier gives back: goods are returned, or the price is lowered. It settles purchase \
                      invoices, or is paid back. An extra charge to a customer is not this; make a sales invoice of it.",
        sorts: document::SORTS,
        searched: "number, reference, narration, notes, reason and the lines' descriptions",
    };
    const KIND: DocumentKind = DocumentKind::DebitNote;
    const DIRECTION: Direction = Direction::DebitNote;
    const STATUSES: &'static [&'static str] = CreditNote::STATUSES;
    type Input = DebitNoteInput;
    type View = DebitNoteView;

    fn example() -> serde_json::Value {
        example_of(json!({
            "purchaseInvoiceId": null, "reason": "Damaged", "kind": "return", "payableAccountId": null, "allocations": []
        }))
    }

    fn example_view() -> serde_json::Value {
        example_view_of(
            Self::DIRECTION,
            json!({
                "amountAllocated": 0, "amountRefunded": 0, "remainingCredit": 274.9,
                "allowedActions": ["edit", "void", "copy", "allocate"],
                "payableAccountId": "019a9f6e-6c00-7b28-8117-c3e405768128"
            }),
        )
    }

    fn check(input: DebitNoteInput) -> Result<(HeadInput, Checked), FieldErrors> {
        read!(input, |faults, asked| {
            asked.source = faults.optional("purchaseInvoiceId", input.purchase_invoice_id);
            let party = faults.optional("partyId", input.party_id);
            asked.party = check_party(&mut faults, party, asked.source);
            asked.reason = text(&mut faults, "reason", input.reason);
            asked.note_kind = faults.optional("kind", input.kind);
            asked.control_account = faults.optional("payableAccountId", input.payable_account_id);
            asked.update_stock = faults.optional("updateStock", input.update_stock);
            asked.allocations = allocating::check_each(&mut faults, input.allocations);
        })
    }

    fn view(cx: &Cx<'_>, shown: Shown) -> Result<DebitNoteView> {
        let row = &shown.row;
        Ok(DebitNoteView {
            keeping: kept!(row),
            head: note_head(cx, Self::KEY, &shown)?,
            note: NotePart::of(&shown),
            purchase_invoice_id: shown.asked.source,
            payable_account_id: shown.control_account,
            body: shown.body,
        })
    }

    fn extras() -> Vec<Extra> {
        vec![action::<Allocate<DebitNotes>>(), action::<Deallocate<DebitNotes>>()]
    }
}
