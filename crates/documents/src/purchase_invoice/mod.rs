//! Purchase invoices: what was bought, and what is left to pay of it.

mod posting;
#[cfg(test)]
mod tests;

use crate::currency::CurrencyCode;
use crate::day::Day;
use crate::document::{self, HeadInput, HeadView};
use crate::error::{FieldErrors, Result};
use crate::field::{Each, Faults, Field, Label, Maybe, Text};
use crate::ids::RecordId;
use crate::money::{Money, Percent, Rate};
use crate::parts::credit::{DebitOf, MakeNote};
use crate::parts::invoice::{InvoicePart, InvoiceStatusAsked, due_filters, invoice_example_view, invoice_head, notes};
use crate::parts::line::{TradeLineInput, TradeLineView, check_discount, check_lines};
use crate::parts::status::InvoiceStatus;
use crate::parts::wire::{Checked, example_of};
use crate::parts::wire::{read, trade_input, trade_view};
use crate::parts::{Charge, Direction, Posts, Shown, Trade, TradeAsked, TradeBody, TradeKind};
use crate::sales_invoice::SalesInvoice;
use books::cx::Cx;
use kit::extra::{Extra, action};
use kit::master::{RecordKeeping, kept};
use kit::resource::About;
use kit::rows::Filter;
use schema::address::{self, AddressInput, text};
use schema::key::ResourceKey;
use schema::tables::documents::Column;
use schema::tables::{DocumentKind, DocumentStatus, Stage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub type PurchaseInvoices = Trade<PurchaseInvoice>;

pub struct PurchaseInvoice;

trade_input! {
    /// What a client sends to create or replace a purchase invoice.
    PurchaseInvoiceInput, InvoiceStatusAsked, {
        /// The supplier.
        party_id: Field<RecordId>,
        /// When it is due; by the payment term when absent.
        due_date: Maybe<Day>,
        /// The payment term; the supplier's when absent.
        payment_term_id: Maybe<RecordId>,
        /// The purchase order that it bills. Lines may name lines of it; those that name none follow one of their item.
        purchase_order_id: Maybe<RecordId>,
        /// The receipt notes that it bills. Lines may name lines of them; those that name none follow one of their item.
        #[schemars(extend("maxItems" = 100))]
        receipt_note_ids: Each<RecordId>,
        /// The date on the supplier's invoice.
        supplier_invoice_date: Maybe<Day>,
        /// Account of what is owed; the supplier's or the company's when absent.
        payable_account_id: Maybe<RecordId>,
        /// Whether lines of stock items bring goods into stock, those that bill a receipt note aside; `true` when
        /// absent.
        update_stock: Maybe<bool>,
        /// Whether it is from the time before these books: it is open, and costs nothing; `false` when absent.
        is_opening: Maybe<bool>,
    }
}

trade_view! {
    /// What was bought, and what is left to pay of it.
    PurchaseInvoiceView, "PurchaseInvoice", InvoiceStatus, TradeLineView, [charge: Charge, invoice: InvoicePart], {
        /// The purchase order that it bills.
        purchase_order_id: Option<RecordId>,
        /// The receipt notes that it bills.
        receipt_note_ids: Vec<RecordId>,
        /// The date on the supplier's invoice.
        supplier_invoice_date: Option<Day>,
        /// Account of what is owed.
        payable_account_id: Option<RecordId>,
    }
}

impl TradeKind for PurchaseInvoice {
    const KEY: ResourceKey = ResourceKey::PurchaseInvoices;
    const ABOUT: About = About {
        one: "a purchase invoice",
        many: "purchase invoices",
        description: "What was bought. A posted invoice stands on the supplier's account until it is paid or debited; \
                      goods come into stock with it, at what they cost.",
        sorts: document::DUE_SORTS,
        searched: "numbers that begin so, totals or, where there are none, in number, reference, narration, notes and the lines' descriptions, or else in their party, where that may be viewed",
    };
    const KIND: DocumentKind = DocumentKind::PurchaseInvoice;
    const DIRECTION: Direction = Direction::PurchaseInvoice;
    const POSTING: Posts = Posts::Bill(posting::lines);
    const STATUSES: &'static [&'static str] = SalesInvoice::STATUSES;
    type Input = PurchaseInvoiceInput;
    type View = PurchaseInvoiceView;

    fn example() -> serde_json::Value {
        example_of(json!({
            "dueDate": "2026-12-20", "paymentTermId": null, "payableAccountId": null, "isOpening": false,
            "updateStock": true, "purchaseOrderId": null, "receiptNoteIds": [], "supplierInvoiceDate": null
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
            asked.order = faults.optional("purchaseOrderId", input.purchase_order_id);
            asked.goods_notes = notes(&mut faults, "receiptNoteIds", input.receipt_note_ids);
            asked.logistics.supplier_invoice_date = faults.optional("supplierInvoiceDate", input.supplier_invoice_date);
            asked.control_account = faults.optional("payableAccountId", input.payable_account_id);
            asked.update_stock = faults.optional("updateStock", input.update_stock);
            asked.is_opening = faults.optional("isOpening", input.is_opening).unwrap_or_default();
        })
    }

    fn called(status: DocumentStatus, stage: Option<Stage>) -> &'static str {
        InvoiceStatus::of(status, stage).as_str()
    }

    fn view(cx: &Cx<'_>, shown: Shown) -> Result<PurchaseInvoiceView> {
        let row = &shown.row;
        Ok(PurchaseInvoiceView {
            keeping: kept!(row),
            head: invoice_head(cx, Self::KEY, &shown)?,
            invoice: InvoicePart::of(cx, &shown)?,
            purchase_order_id: shown.asked.order,
            receipt_note_ids: shown.asked.goods_notes.clone(),
            supplier_invoice_date: shown.asked.logistics.supplier_invoice_date,
            payable_account_id: shown.control_account,
            charge: shown.charge()?,
            body: shown.body,
            lines: shown.lines,
        })
    }

    fn filters() -> Vec<Filter<Column>> {
        due_filters()
    }

    fn extras() -> Vec<Extra> {
        vec![action::<MakeNote<DebitOf>>()]
    }
}
