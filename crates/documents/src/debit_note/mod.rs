//! Debit notes: what a supplier gives back.

mod posting;
#[cfg(test)]
mod tests;

use crate::credit_note::CreditNote;
use crate::currency::CurrencyCode;
use crate::day::Day;
use crate::document::{self, HeadInput, HeadView};
use crate::error::{FieldErrors, Result};
use crate::field::{Each, Faults, Field, Label, Maybe, Text};
use crate::ids::RecordId;
use crate::money::{Money, Percent, Rate};
use crate::parts::line::{TradeLineInput, TradeLineView, check_discount, check_lines};
use crate::parts::note::{NotePart, NoteStatusAsked, check_party, note_head};
use crate::parts::settlement::actions::{Allocate, Deallocate};
use crate::parts::settlement::allocating::{self, AllocationInput};
use crate::parts::status::NoteStatus;
use crate::parts::wire::{Checked, example_of, example_view_of};
use crate::parts::wire::{read, trade_input, trade_view};
use crate::parts::{Charge, Direction, NoteKind, Posts, Shown, Trade, TradeAsked, TradeBody, TradeKind};
use books::cx::Cx;
use kit::extra::{Extra, action};
use kit::master::{RecordKeeping, kept};
use kit::resource::About;
use schema::address::{self, AddressInput, text};
use schema::key::ResourceKey;
use schema::tables::{DocumentKind, DocumentStatus, Stage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub type DebitNotes = Trade<DebitNote>;

pub struct DebitNote;

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

trade_view! {
    /// What a supplier gives back, and what is left of it.
    DebitNoteView, "DebitNote", NoteStatus, TradeLineView, [charge: Charge, note: NotePart], {
        /// The invoice that it debits.
        purchase_invoice_id: Option<RecordId>,
        /// Account of what was owed.
        payable_account_id: Option<RecordId>,
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
        searched: "numbers that begin so, totals or, where there are none, in number, reference, narration, notes, reason and the lines' descriptions, or else in their party, where that may be viewed",
    };
    const KIND: DocumentKind = DocumentKind::DebitNote;
    const DIRECTION: Direction = Direction::DebitNote;
    const POSTING: Posts = Posts::Bill(posting::lines);
    const STATUSES: &'static [&'static str] = CreditNote::STATUSES;
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
            (asked.allocations, asked.said) = allocating::check_said(&mut faults, input.allocations);
        })
    }

    fn called(status: DocumentStatus, stage: Option<Stage>) -> &'static str {
        NoteStatus::of(status, stage).as_str()
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
