//! Credit notes: what a customer gets back.

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
use crate::parts::line::{TradeLineInput, TradeLineView, check_discount, check_lines};
use crate::parts::note::{NotePart, NoteStatusAsked, check_party, note_head};
use crate::parts::settlement::actions::{Allocate, Deallocate};
use crate::parts::settlement::allocating::{self, AllocationInput};
use crate::parts::status::NoteStatus;
use crate::parts::wire::{Checked, example_of, example_view_of};
use crate::parts::wire::{read, trade_input, trade_view};
use crate::parts::{Charge, Direction, NoteKind, Posts, ReturnCost, Shown, Trade, TradeAsked, TradeBody, TradeKind};
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

pub type CreditNotes = Trade<CreditNote>;

pub struct CreditNote;

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

impl TradeKind for CreditNote {
    const KEY: ResourceKey = ResourceKey::CreditNotes;
    const ABOUT: About = About {
        one: "a credit note",
        many: "credit notes",
        description: "What a customer gets back: goods, or part of the price. It settles invoices, or is paid out.",
        sorts: document::SORTS,
        searched: "numbers that begin so, totals or, where there are none, in number, reference, narration, notes, reason and the lines' descriptions, or else in their party, where that may be viewed",
    };
    const KIND: DocumentKind = DocumentKind::CreditNote;
    const DIRECTION: Direction = Direction::CreditNote;
    const POSTING: Posts = Posts::Bill(posting::lines);
    const STATUSES: &'static [&'static str] = &["draft", "open", "partiallyAllocated", "closed", "void"];
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
            (asked.allocations, asked.said) = allocating::check_said(&mut faults, input.allocations);
        })
    }

    fn called(status: DocumentStatus, stage: Option<Stage>) -> &'static str {
        NoteStatus::of(status, stage).as_str()
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
