//! Credit and debit notes: what is given back of what was sold and bought.

use super::super::line::{TradeLineInput, TradeLineView, check_discount, check_lines};
use super::super::live::{self, NoteStatus};
use super::super::{Charge, Direction, NoteKind, ReturnCost, Shown, Trade, TradeAsked, TradeBody, TradeKind};
use super::{Checked, example_of, example_view_of};
use crate::currency::CurrencyCode;
use crate::day::Day;
use crate::document::{self, Abilities, HeadInput, HeadView};
use crate::error::{FieldErrors, Result};
use crate::field::{Each, Faults, Field, Label, Maybe, Text};
use crate::ids::RecordId;
use crate::money::{Amount, Money, Percent, Rate};
use crate::settlement::actions::{Allocate, Deallocate};
use crate::settlement::allocating::{self, AllocationInput};
use crate::wire_enum;
use books::cx::Cx;
use kit::extra::{Extra, action};
use kit::master::{RecordKeeping, kept};
use kit::resource::About;
use kit::rows::Looks;
use schema::address::{self, AddressInput, text};
use schema::key::ResourceKey;
use schema::tables::{DocumentKind, DocumentStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub type CreditNotes = Trade<CreditNote>;
pub type DebitNotes = Trade<DebitNote>;

pub struct CreditNote;
pub struct DebitNote;

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
    party.unwrap_or(RecordId::NOBODY)
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
            kind: shown.asked.note_kind.unwrap_or(NoteKind::Return),
            amount_allocated: own(Money::from_units(allocated.map(|one| one.source_amount.units()).sum())),
            amount_refunded: own(Money::from_units(refunded.map(|one| one.amount.units()).sum())),
            remaining_credit: own(shown.standing.left(&shown.row).0),
        }
    }
}

trade_view! {
    /// What a customer gets back, and what is left of it.
    CreditNoteView, "CreditNote", NoteStatus, TradeLineView, [charge: Charge, note: NotePart], {
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
    DebitNoteView, "DebitNote", NoteStatus, TradeLineView, [charge: Charge, note: NotePart], {
        /// The invoice that it debits.
        purchase_invoice_id: Option<RecordId>,
        /// Account of what was owed.
        payable_account_id: Option<RecordId>,
    }
}

fn note_head(cx: &Cx<'_>, key: ResourceKey, shown: &Shown) -> Result<HeadView<NoteStatus>> {
    let allocates = shown.row.status == DocumentStatus::Posted && shown.standing.left(&shown.row).0 != Money::ZERO;
    let abilities = Abilities { held: shown.standing.is_allocated(), allocates, ..Abilities::default() };
    HeadView::shown_as(cx, key, &shown.row, shown.standing.note_status(&shown.row), &abilities)
}

impl TradeKind for CreditNote {
    const KEY: ResourceKey = ResourceKey::CreditNotes;
    const ABOUT: About = About {
        one: "a credit note",
        many: "credit notes",
        description: "What a customer gets back: goods, or part of the price. It settles invoices, or is paid out.",
        sorts: document::SORTS,
        searched: "number, reference, narration, notes, reason and the lines' descriptions",
    };
    const KIND: DocumentKind = DocumentKind::CreditNote;
    const DIRECTION: Direction = Direction::CreditNote;
    const STATUSES: &'static [&'static str] = &["draft", "open", "partiallyAllocated", "closed", "void"];
    const BY_STATUS: Looks = live::notes_that_stand;
    type Input = CreditNoteInput;
    type View = CreditNoteView;

    fn example() -> serde_json::Value {
        example_of(json!({
            "updateStock": true, "salesInvoiceId": null, "reason": "Damaged", "kind": "return", "receivableAccountId": null,
            "returnCost": "original", "allocations": []
        }))
    }

    fn example_view() -> serde_json::Value {
        example_view_of(
            Self::DIRECTION,
            json!({
                "updateStock": true, "allocations": [], "amountAllocated": 0, "amountRefunded": 0, "remainingCredit": 274.9,
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
            charge: shown.charge()?,
            body: shown.body,
            lines: shown.lines,
        })
    }

    fn extras() -> Vec<Extra> {
        vec![action::<Allocate<CreditNotes>>(), action::<Deallocate<CreditNotes>>()]
    }
}

impl TradeKind for DebitNote {
    const KEY: ResourceKey = ResourceKey::DebitNotes;
    const ABOUT: About = About {
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
    const BY_STATUS: Looks = live::notes_that_stand;
    type Input = DebitNoteInput;
    type View = DebitNoteView;

    fn example() -> serde_json::Value {
        example_of(json!({
            "updateStock": true, "purchaseInvoiceId": null, "reason": "Damaged", "kind": "return", "payableAccountId": null, "allocations": []
        }))
    }

    fn example_view() -> serde_json::Value {
        example_view_of(
            Self::DIRECTION,
            json!({
                "updateStock": true, "allocations": [], "amountAllocated": 0, "amountRefunded": 0, "remainingCredit": 274.9,
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
            charge: shown.charge()?,
            body: shown.body,
            lines: shown.lines,
        })
    }

    fn extras() -> Vec<Extra> {
        vec![action::<Allocate<DebitNotes>>(), action::<Deallocate<DebitNotes>>()]
    }
}
