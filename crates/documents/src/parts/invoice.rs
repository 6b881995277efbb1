//! Invoices: what was sold and bought, and what is left to be paid of it.

use crate::day::Day;
use crate::document::head::AllowedAction;
use crate::document::{self, Abilities, HeadView};
use crate::error::Result;
use crate::field::{Each, Faults};
use crate::ids::RecordId;
use crate::money::{Amount, Money};
use crate::parts::status::InvoiceStatus;
use crate::parts::wire::example_view_of;
use crate::parts::{Direction, Shown};
use crate::wire_enum;
use books::cx::Cx;
use kit::list::Reads;
use kit::rows::Filter;
use schema::key::ResourceKey;
use schema::kind::Phase;
use schema::tables::documents::Column;
use schema::tables::{DocumentKind, DocumentStatus};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

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
    pub(crate) fn of(cx: &Cx<'_>, shown: &Shown) -> Result<Self> {
        let own = |money| shown.own.amount(money);
        let paid = |of: fn(&schema::tables::allocations::Model) -> Money, wanted: &[DocumentKind]| {
            let by =
                shown.standing.allocations.iter().filter(|one| wanted.is_empty() || wanted.contains(&one.source_kind));
            own(Money::from_units(by.map(|one| of(one).units()).sum()))
        };
        let (left, base_left) = shown.standing.left(&shown.row);
        let days_overdue = shown.standing.days_overdue(&shown.row, cx.today()?);
        let money = [DocumentKind::Receipt, DocumentKind::Payment, DocumentKind::Journal];
        let notes: Vec<DocumentKind> = DocumentKind::of_phase(Phase::Credit).collect();
        Ok(Self {
            due_date: shown.row.due_date,
            payment_term_id: shown.asked.payment_term,
            is_opening: shown.asked.is_opening,
            amount_paid: paid(|one| one.amount, &money),
            amount_credited: paid(|one| one.amount, &notes),
            amount_discounted: paid(|one| one.discount, &[]),
            amount_written_off: paid(|one| one.write_off, &[]),
            amount_withheld: paid(|one| one.withheld, &[]),
            balance_due: own(left),
            base_balance_due: base_left.shown(shown.base_decimals),
            paid_date: shown.standing.paid_on(&shown.row),
            is_overdue: days_overdue > 0,
            days_overdue,
        })
    }
}

pub(crate) fn notes(faults: &mut Faults, name: &str, field: Each<RecordId>) -> Vec<RecordId> {
    faults.each(name, field, |_, id| id)
}

/// What documents are found by that fall due.
pub(crate) fn due_filters() -> Vec<Filter<Column>> {
    vec![
        Filter::looking(
            "isOverdue",
            "Only documents that are overdue, or only others.",
            Reads::Flag,
            document::overdue,
        ),
        Filter::looking("dueFrom", "Posted documents due on this day or later.", Reads::Day, document::due_from),
        Filter::looking("dueTo", "Posted documents due on this day or earlier.", Reads::Day, document::due_to),
    ]
}

pub(crate) fn invoice_head(cx: &Cx<'_>, key: ResourceKey, shown: &Shown) -> Result<HeadView<InvoiceStatus>> {
    let offers = if shown.row.status == DocumentStatus::Posted { vec![AllowedAction::Credit] } else { Vec::new() };
    let abilities = Abilities { held: shown.standing.is_allocated(), offers, ..Abilities::default() };
    let status = InvoiceStatus::of(shown.row.status, shown.standing.settled(&shown.row));
    HeadView::shown_as(cx, key, &shown.row, status, &abilities)
}

pub(crate) fn invoice_example_view(direction: Direction, more: serde_json::Value) -> serde_json::Value {
    let mut own = json!({
        "amountPaid": 0, "amountCredited": 0, "amountDiscounted": 0, "amountWrittenOff": 0, "amountWithheld": 0,
        "allocations": [], "balanceDue": 274.9, "baseBalanceDue": 274.9, "paidDate": null, "isOverdue": false, "daysOverdue": 0
    });
    if let (Some(own), Some(more)) = (own.as_object_mut(), more.as_object()) {
        own.extend(more.clone());
    }
    example_view_of(direction, own)
}
