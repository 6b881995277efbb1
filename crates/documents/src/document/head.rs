//! The head that every document has: date, number, status, words.

use crate::clock::Instant;
use crate::day::Day;
use crate::error::Result;
use crate::field::{Each, Faults, Field, Label, Maybe, Text};
use crate::ids::RecordId;
use crate::wire_enum;
use books::cx::Cx;
use schema::address::{self, text};
use schema::key::ResourceKey;
use schema::rights::Action;
use schema::tables::DocumentStatus;
use schema::tables::documents as table;
use schemars::JsonSchema;
use serde::Serialize;

/// The head of a document, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    pub(crate) date: Day,
    pub(crate) status: Option<DocumentStatus>,
    pub(crate) number: Option<String>,
    pub(crate) series: Option<RecordId>,
    pub(crate) reference: Option<String>,
    pub(crate) narration: Option<String>,
    pub(crate) external_id: Option<String>,
    pub(crate) tags: Vec<String>,
}

/// A document as it is asked for.
pub struct Draft<A> {
    pub(crate) head: Head,
    pub(crate) asked: A,
}

/// The fields of the head, as each kind's input has them.
pub struct HeadInput {
    pub(crate) date: Field<Day>,
    pub(crate) status: Maybe<DocumentStatus>,
    pub(crate) number: Maybe<Text<50>>,
    pub(crate) series_id: Maybe<RecordId>,
    pub(crate) reference: Maybe<Text<100>>,
    pub(crate) narration: Maybe<Text<1000>>,
    pub(crate) external_id: Maybe<Text<200>>,
    pub(crate) tags: Each<Label<50>>,
}

impl Head {
    /// Of a document that another write makes: a day, and nothing else.
    pub(crate) const fn on(date: Day) -> Self {
        Self {
            date,
            status: None,
            number: None,
            series: None,
            reference: None,
            narration: None,
            external_id: None,
            tags: Vec::new(),
        }
    }

    pub(crate) fn check(faults: &mut Faults, input: HeadInput) -> Self {
        Self {
            date: faults.required("date", input.date),
            status: faults.optional("status", input.status),
            number: text(faults, "number", input.number),
            series: faults.optional("seriesId", input.series_id),
            reference: text(faults, "reference", input.reference),
            narration: text(faults, "narration", input.narration),
            external_id: text(faults, "externalId", input.external_id),
            tags: address::tags(faults, input.tags),
        }
    }
}

wire_enum! {
    /// What can be done with a document now, by you.
    pub enum AllowedAction {
        #[default]
        Edit = "edit",
        Post = "post",
        Void = "void",
        Delete = "delete",
        Copy = "copy",
        Allocate = "allocate",
        /// Make a delivery note of it.
        Deliver = "deliver",
        /// Make a receipt note of it.
        Receive = "receive",
        /// Make an invoice of it.
        Invoice = "invoice",
        /// Make a note of what comes back.
        Return = "return",
        /// Make a note of what is credited.
        Credit = "credit",
        /// Give up what is left of it.
        Close = "close",
        Reopen = "reopen",
        Cancel = "cancel",
    }
}

impl AllowedAction {
    /// The right that it needs of who acts on a document.
    const fn needed(self, key: ResourceKey) -> (ResourceKey, Action) {
        let sells = matches!(key, ResourceKey::SalesOrders | ResourceKey::DeliveryNotes | ResourceKey::SalesInvoices);
        match self {
            Self::Edit | Self::Allocate | Self::Close | Self::Reopen => (key, Action::Edit),
            Self::Post => (key, Action::Post),
            Self::Void | Self::Cancel => (key, Action::Void),
            Self::Delete => (key, Action::Delete),
            Self::Copy | Self::Return => (key, Action::Create),
            Self::Deliver => (ResourceKey::DeliveryNotes, Action::Create),
            Self::Receive => (ResourceKey::ReceiptNotes, Action::Create),
            Self::Invoice if sells => (ResourceKey::SalesInvoices, Action::Create),
            Self::Invoice => (ResourceKey::PurchaseInvoices, Action::Create),
            Self::Credit if sells => (ResourceKey::CreditNotes, Action::Create),
            Self::Credit => (ResourceKey::DebitNotes, Action::Create),
        }
    }
}

/// The head of a document, as it is answered.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HeadView<S = DocumentStatus> {
    /// The document's number; a draft has none.
    number: Option<String>,
    /// The number series it is numbered by.
    series_id: Option<RecordId>,
    /// The day it counts for.
    date: Day,
    /// Where it stands.
    status: S,
    /// A number or text of the other side.
    reference: Option<String>,
    /// What it is about.
    narration: Option<String>,
    /// The document's identifier in another system.
    external_id: Option<String>,
    /// Labels of your own.
    tags: Vec<String>,
    /// When it came into the books.
    posted_at: Option<Instant>,
    /// The day on which it was taken back.
    void_date: Option<Day>,
    /// Why it was taken back.
    void_reason: Option<String>,
    /// The ledger entries of this version; of a void document, their reversals too.
    entry_ids: Vec<RecordId>,
    /// What you can do with it now.
    allowed_actions: Vec<AllowedAction>,
}

/// What a document can do beside what its status says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Abilities {
    /// Something needs it in the books as it is.
    pub(crate) held: bool,
    /// It stays as it is.
    pub(crate) fixed: bool,
    /// What else can be done with it.
    pub(crate) offers: Vec<AllowedAction>,
    /// There is something of it left to allocate.
    pub(crate) allocates: bool,
}

impl HeadView {
    pub(crate) fn of(cx: &Cx<'_>, key: ResourceKey, row: &table::Model) -> Result<Self> {
        Self::shown_as(cx, key, row, row.status, &Abilities::default())
    }
}

impl<S> HeadView<S> {
    pub(crate) fn shown_as(
        cx: &Cx<'_>,
        key: ResourceKey,
        row: &table::Model,
        status: S,
        abilities: &Abilities,
    ) -> Result<Self> {
        let allows = |key, action| cx.business().map(|business| business.seat.rights.allows(key, action));
        let by_status = match row.status {
            DocumentStatus::Draft => {
                &[AllowedAction::Edit, AllowedAction::Post, AllowedAction::Delete, AllowedAction::Copy][..]
            }
            DocumentStatus::Posted => {
                &[AllowedAction::Edit, AllowedAction::Void, AllowedAction::Copy, AllowedAction::Allocate]
            }
            DocumentStatus::Void => &[AllowedAction::Copy],
        };
        let mut allowed_actions = Vec::new();
        for &action in by_status.iter().chain(&abilities.offers) {
            let stands_against = match action {
                AllowedAction::Void => abilities.held,
                AllowedAction::Edit => abilities.fixed,
                AllowedAction::Allocate => !abilities.allocates,
                _ => false,
            };
            let (key, needed) = action.needed(key);
            if !stands_against && allows(key, needed)? {
                allowed_actions.push(action);
            }
        }
        Ok(Self {
            number: row.number.clone(),
            series_id: row.series_id,
            date: row.date,
            status,
            reference: row.reference.clone(),
            narration: row.narration.clone(),
            external_id: row.external_id.clone(),
            tags: row.tags.0.clone(),
            posted_at: row.posted_at,
            void_date: row.void_date,
            void_reason: row.void_reason.clone(),
            entry_ids: row.entries.0.iter().map(|entry| entry.id).collect(),
            allowed_actions,
        })
    }
}
