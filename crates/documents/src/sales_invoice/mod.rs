//! Sales invoices: what was sold, and what is left to be paid of it.

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
use crate::parts::credit::{CreditOf, MakeNote};
use crate::parts::invoice::{InvoicePart, InvoiceStatusAsked, due_filters, invoice_example_view, invoice_head, notes};
use crate::parts::line::{TradeLineInput, TradeLineView, check_discount, check_lines};
use crate::parts::status::InvoiceStatus;
use crate::parts::wire::{Checked, example_of};
use crate::parts::wire::{read, trade_input, trade_view};
use crate::parts::{CashAsked, Charge, Direction, Posts, Shown, Trade, TradeAsked, TradeBody, TradeKind};
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

pub type SalesInvoices = Trade<SalesInvoice>;

pub struct SalesInvoice;

/// Money that is received with the invoice.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct CashReceiptInput {
    /// The bank or cash account.
    account_id: Field<RecordId>,
    /// What is received, in the invoice's currency; all of it when absent.
    pub(crate) amount: Maybe<Money>,
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
        /// The sales order that it bills. Lines may name lines of it; those that name none follow one of their item.
        sales_order_id: Maybe<RecordId>,
        /// The delivery notes that it bills. Lines may name lines of them; those that name none follow one of their
        /// item.
        #[schemars(extend("maxItems" = 100))]
        delivery_note_ids: Each<RecordId>,
        /// Account of what is owed; the customer's or the company's when absent.
        receivable_account_id: Maybe<RecordId>,
        /// Whether lines of stock items take goods out of stock, those that bill a delivery note aside; `true` when
        /// absent.
        update_stock: Maybe<bool>,
        /// Whether it is from the time before these books: it is open, and earns nothing; `false` when absent.
        is_opening: Maybe<bool>,
        /// Money that is received with the invoice; a receipt is made of it. It is only read when the invoice is posted.
        cash_receipt: Maybe<CashReceiptInput>,
    }
}

trade_view! {
    /// What was sold, and what is left to be paid of it.
    SalesInvoiceView, "SalesInvoice", InvoiceStatus, TradeLineView, [charge: Charge, invoice: InvoicePart], {
        /// The sales order that it bills.
        sales_order_id: Option<RecordId>,
        /// The delivery notes that it bills.
        delivery_note_ids: Vec<RecordId>,
        /// Account of what is owed.
        receivable_account_id: Option<RecordId>,
    }
}

impl TradeKind for SalesInvoice {
    const KEY: ResourceKey = ResourceKey::SalesInvoices;
    const ABOUT: About = About {
        one: "a sales invoice",
        many: "sales invoices",
        description: "What was sold. A posted invoice stands on the customer's account until it is paid, credited or \
                      written off; goods leave the stock with it, at their cost. An extra charge to a customer is a \
                      sales invoice too.",
        sorts: document::DUE_SORTS,
        searched: "numbers that begin so, totals or, where there are none, in number, reference, narration, notes and the lines' descriptions, or else in their party, where that may be viewed",
    };
    const KIND: DocumentKind = DocumentKind::SalesInvoice;
    const DIRECTION: Direction = Direction::SalesInvoice;
    const POSTING: Posts = Posts::Bill(posting::lines);
    const STATUSES: &'static [&'static str] = &["draft", "open", "partiallyPaid", "paid", "void", "overdue"];
    type Input = SalesInvoiceInput;
    type View = SalesInvoiceView;

    fn example() -> serde_json::Value {
        example_of(json!({
            "dueDate": "2026-12-20", "paymentTermId": null, "receivableAccountId": null, "isOpening": false,
            "updateStock": true, "salesOrderId": null, "deliveryNoteIds": []
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
            asked.order = faults.optional("salesOrderId", input.sales_order_id);
            asked.goods_notes = notes(&mut faults, "deliveryNoteIds", input.delivery_note_ids);
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

    fn called(status: DocumentStatus, stage: Option<Stage>) -> &'static str {
        InvoiceStatus::of(status, stage).as_str()
    }

    fn view(cx: &Cx<'_>, shown: Shown) -> Result<SalesInvoiceView> {
        let row = &shown.row;
        Ok(SalesInvoiceView {
            keeping: kept!(row),
            head: invoice_head(cx, Self::KEY, &shown)?,
            invoice: InvoicePart::of(cx, &shown)?,
            sales_order_id: shown.asked.order,
            delivery_note_ids: shown.asked.goods_notes.clone(),
            receivable_account_id: shown.control_account,
            charge: shown.charge()?,
            body: shown.body,
            lines: shown.lines,
        })
    }

    fn filters() -> Vec<Filter<Column>> {
        due_filters()
    }

    fn extras() -> Vec<Extra> {
        vec![action::<MakeNote<CreditOf>>()]
    }
}
