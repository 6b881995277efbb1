//! Invoices: what was sold and bought, and what is left to be paid of it.

use super::super::credit::{CreditOf, DebitOf, MakeNote};
use super::super::line::{TradeLineInput, TradeLineView, check_discount, check_lines};
use super::super::live::{self, InvoiceStatus};
use super::super::{CashAsked, Charge, Direction, Shown, Trade, TradeAsked, TradeBody, TradeKind};
use super::{Checked, example_of, example_view_of};
use crate::currency::CurrencyCode;
use crate::day::Day;
use crate::document::{self, Abilities, HeadInput, HeadView};
use crate::error::{FieldErrors, Result};
use crate::field::{Each, Faults, Field, Label, Maybe, Text};
use crate::ids::RecordId;
use crate::money::{Amount, Money, Percent, Rate};
use crate::wire_enum;
use books::cx::Cx;
use kit::extra::{Extra, action};
use kit::list::Reads;
use kit::master::{RecordKeeping, kept};
use kit::resource::About;
use kit::rows::{Filter, Looks};
use schema::address::{self, AddressInput, text};
use schema::key::ResourceKey;
use schema::tables::documents::Column;
use schema::tables::{DocumentKind, DocumentStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub type SalesInvoices = Trade<SalesInvoice>;
pub type PurchaseInvoices = Trade<PurchaseInvoice>;

pub struct SalesInvoice;
pub struct PurchaseInvoice;

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
        let paid = |of: fn(&schema::tables::allocations::Model) -> Money, wanted: &[DocumentKind]| {
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

fn notes(faults: &mut Faults, name: &str, field: Each<RecordId>) -> Vec<RecordId> {
    faults.each(name, field, |_, id| id)
}

/// What documents are found by that fall due.
fn due_filters() -> Vec<Filter<Column>> {
    vec![
        Filter::looking("isOverdue", "Only documents that are overdue, or only others.", Reads::Flag, live::overdue),
        Filter::looking("dueFrom", "Posted documents due on this day or later.", Reads::Day, live::due_from),
        Filter::looking("dueTo", "Posted documents due on this day or earlier.", Reads::Day, live::due_to),
    ]
}

fn invoice_head(cx: &Cx<'_>, key: ResourceKey, shown: &Shown) -> Result<HeadView<InvoiceStatus>> {
    let abilities = Abilities { held: shown.standing.is_allocated(), ..Abilities::default() };
    HeadView::shown_as(cx, key, &shown.row, shown.standing.invoice_status(&shown.row), &abilities)
}

fn invoice_example_view(direction: Direction, more: serde_json::Value) -> serde_json::Value {
    let mut own = json!({
        "amountPaid": 0, "amountCredited": 0, "amountDiscounted": 0, "amountWrittenOff": 0, "amountWithheld": 0,
        "allocations": [], "balanceDue": 274.9, "baseBalanceDue": 274.9, "paidDate": null, "isOverdue": false, "daysOverdue": 0
    });
    if let (Some(own), Some(more)) = (own.as_object_mut(), more.as_object()) {
        own.extend(more.clone());
    }
    example_view_of(direction, own)
}

impl TradeKind for SalesInvoice {
    const KEY: ResourceKey = ResourceKey::SalesInvoices;
    const ABOUT: About = About {
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
    const BY_STATUS: Looks = live::invoices_that_stand;
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

impl TradeKind for PurchaseInvoice {
    const KEY: ResourceKey = ResourceKey::PurchaseInvoices;
    const ABOUT: About = About {
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
    const BY_STATUS: Looks = live::invoices_that_stand;
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
