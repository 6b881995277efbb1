//! The tables that only the lane writes.

pub mod documents;
mod ledger;
mod open;
mod search;
mod tax;
mod trade;

use crate::aliases::Named;
use crate::clock::Instant;
use crate::day::Day;
use crate::ids::{BusinessId, RecordId, UserId};
use crate::money::{BookMoney, Money, Percent, Quantity, UnitPrice};
use crate::packed::Packed;
use crate::stored::{AsJson, Called, HexDigest};
use crate::wire_enum;
pub use ledger::{
    account_days, account_months, cash_days, entries, entry_lines, is_found_by_its_number, number_counters, own_amount,
    party_balances, party_months,
};
pub use open::{allocations, items_of, open_item_moves, open_items};
pub use rules::tax::TaxKind;
pub use rules::tax::facts::{TaxDuty, TaxOrigin, TaxSide};
pub use search::{WHOSE, search_blocks, search_waiting};
use serde::{Deserialize, Serialize};
pub use tax::{facts_of, tax_beginnings, tax_facts, tax_months};
pub use trade::{document_counts, document_lines, document_links, mentions, progress, progress_moves, trade_months};

pub use crate::kind::DocumentKind;
pub use crate::refs::EntryRefs;

wire_enum! {
    /// Whether something was sold or bought.
    pub enum TradeSide {
        #[default]
        Sales = "sales",
        Purchases = "purchases",
    }
}

wire_enum! {
    /// By what trade is summed up.
    pub enum TradeGrouping {
        #[default]
        Party = "party",
        Item = "item",
        /// What parties owe for it, less the tax.
        OtherSide = "otherSide",
    }
}

wire_enum! {
    /// Where a document stands.
    pub kept enum DocumentStatus {
        /// Not in the books, and without a number.
        Draft = "draft",
        /// In the books.
        #[default]
        Posted = "posted",
        /// Taken back by a reversal; it keeps its number.
        Void = "void",
    }
}

wire_enum! {
    /// Why an entry was made.
    pub kept enum EntryKind {
        /// What the document says.
        #[default]
        Normal = "normal",
        /// What the document says of the time before these books.
        Opening = "opening",
        /// What lies between two years: it brings what a year earned to the retained earnings.
        YearEnd = "yearEnd",
        /// Takes back an earlier entry, since its document was changed or voided.
        Reversal = "reversal",
        /// Takes back an accrual on the day that the document names.
        AutoReversal = "autoReversal",
        /// What other currencies are worth at the end of a period.
        Revaluation = "fxRevaluation",
        /// What an allocation posts by itself: exchange differences, discounts, what is written off.
        Allocation = "allocation",
        /// What goods cost after all, when something earlier changed.
        StockAdjustment = "stockAdjustment",
        /// What money in another currency is carried at after all: the gain or loss of what left, and what something
        /// earlier changed of it.
        ExchangeAdjustment = "fxAdjustment",
        /// What tax comes to after all, when what settles or credits its document changed.
        TaxAdjustment = "taxAdjustment",
    }
}

wire_enum! {
    /// How a movement of stock gets its cost.
    pub kept enum StockKind {
        /// It says what it cost.
        #[default]
        Receipt = "receipt",
        /// It costs what was paid for what it takes.
        Issue = "issue",
        /// It comes back at the cost it left with.
        Return = "return",
        /// It moves nothing: what came in earlier cost so much more.
        Cost = "cost",
    }
}

wire_enum! {
    /// How far a document has got that others follow or settle.
    pub kept enum Stage {
        /// Nothing came of it yet.
        #[default]
        Open = "open",
        /// Some of it was delivered, invoiced, or settled.
        Partial = "partial",
        /// Nothing is left to deliver, to invoice, or to settle.
        Done = "done",
        /// Nothing more will come of it.
        Closed = "closed",
    }
}

wire_enum! {
    /// What a document does to the one that it follows.
    pub kept enum Relation {
        /// It delivers what was ordered.
        #[default]
        Fulfils = "fulfils",
        /// It invoices what was ordered or delivered.
        Bills = "bills",
        /// It brings goods back.
        Returns = "returns",
        /// It credits what was invoiced or returned.
        Credits = "credits",
    }
}

wire_enum! {
    /// What a fact of stock is.
    pub kept enum FactKind {
        /// Goods come in.
        #[default]
        Receipt = "receipt",
        /// Goods go out.
        Issue = "issue",
        /// Goods of an issue come back.
        CustomerReturn = "customerReturn",
        /// Goods of a receipt go back.
        SupplierReturn = "supplierReturn",
        /// What came in earlier cost so much more.
        CostChange = "costChange",
        /// What was received is billed.
        Bill = "bill",
        /// What was delivered is invoiced.
        Invoice = "invoice",
        /// What came or went back is credited.
        Credit = "credit",
        /// What a unit is worth from now on.
        Standard = "standard",
        /// A fact never was, from this day on.
        Cancellation = "cancellation",
    }
}

wire_enum! {
    /// Where the other side of a movement stands.
    pub kept enum FactSide {
        /// A document says the amount.
        #[default]
        Document = "document",
        /// Where goods wait for their invoice.
        Waits = "waits",
        /// On the account of the cost.
        Cost = "cost",
    }
}

/// Goods that came in together and are still there.
pub use rules::stock::Layer;

/// An entry that a document stands for at present.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryRef {
    pub id: RecordId,
    pub number: i64,
    pub date: Day,
}

macro_rules! table {
    ($(#[$about:meta])* $module:ident = $name:literal { $($body:tt)* }) => {
        $(#[$about])*
        pub mod $module {
            #[allow(unused_imports, reason = "each table needs some of them")]
            use crate::tables::{
                AsJson, BookMoney, BusinessId, Called, Day, DocumentKind, DocumentStatus, EntryKind, EntryRef, EntryRefs, FactKind, FactSide, HexDigest, Instant, Layer, Money, Named,
                Packed, Percent, Quantity, RecordId, Stage, StockKind, TaxDuty, TaxKind, TaxOrigin, TaxSide, UnitPrice, UserId,
            };
            use sea_orm::entity::prelude::*;

            #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
            #[sea_orm(table_name = $name)]
            pub struct Model { $($body)* }

            #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
            pub enum Relation {}

            impl ActiveModelBehavior for ActiveModel {}

            answers::asked_whole!(Entity);
        }
    };
}
use table;

table! {
    /// Where the sequences of a company stand.
    books = "books" {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: BusinessId,
        pub version: i64,
        pub entry_number: i64,
        pub recorded_at: Instant,
        pub audit_sequence: i64,
        pub audit_hash: HexDigest,
        /// The sums of the seals of every table.
        pub sums: String,
        /// Over all of it.
        pub signature: String,
    }
}

table! {
    /// Where the stock of an item stands.
    stock = "stock" {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: BusinessId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub item_id: RecordId,
        pub quantity: Quantity,
        pub value: BookMoney,
        pub last_date: Option<Day>,
        pub last_sequence: i64,
        /// What was known last of its cost: so many cost so much.
        pub known_cost: Option<AsJson<Layer>>,
        pub layers: AsJson<Vec<Layer>>,
        /// What a unit is worth at standard cost.
        pub standard_cost: Option<UnitPrice>,
    }
}

table! {
    /// What happened to the stock of items, by the day it counts for. It grows only.
    stock_facts = "stock_facts" {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: BusinessId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: RecordId,
        pub item_id: RecordId,
        pub date: Day,
        /// The order within the day.
        pub place: i64,
        pub document_id: RecordId,
        pub line_id: RecordId,
        pub kind: FactKind,
        pub side: FactSide,
        /// Never negative.
        pub quantity: Quantity,
        /// What the document says of it.
        pub amount: BookMoney,
        pub standard: Option<UnitPrice>,
        /// The line that it comes back from, bills, invoices, credits, or whose cost it changes.
        pub of_line_id: Option<RecordId>,
        /// The fact that never was, from this day on.
        pub cancels_id: Option<RecordId>,
        pub inventory_account_id: RecordId,
        pub cost_account_id: RecordId,
        pub variance_account_id: RecordId,
        pub waits_account_id: Option<RecordId>,
        /// What the entry of its own document posted of it, account by account.
        pub booked_stock: BookMoney,
        pub booked_waits: BookMoney,
        pub booked_cost: BookMoney,
        pub booked_variance: BookMoney,
        pub recorded_at: Instant,
    }
}

table! {
    /// Where the stock of an item stood on an evening. It may be dropped.
    stock_snapshots = "stock_snapshots" {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: BusinessId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub item_id: RecordId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub date: Day,
        /// How many facts there were by then, those of other days included.
        pub place: i64,
        pub state: AsJson<rules::stock::State>,
    }
}

table! {
    /// What moves stock at present, in the order in which it is valued.
    stock_lines = "stock_lines" {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: BusinessId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub item_id: RecordId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub date: Day,
        #[sea_orm(primary_key, auto_increment = false)]
        pub sequence: i64,
        pub document_id: RecordId,
        pub line_id: RecordId,
        pub kind: StockKind,
        /// In is positive, out is negative.
        pub quantity: Quantity,
        /// What it cost, as far as is known by now; the same sign as the quantity.
        pub cost: BookMoney,
        /// Whether it went out and was missing, and cost something else when it came.
        pub was_missing: bool,
    }
}

table! {
    /// Everything that ever happened to the stock, by the day it counts for. It grows only.
    stock_moves = "stock_moves" {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: BusinessId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: RecordId,
        pub item_id: RecordId,
        pub date: Day,
        pub recorded_at: Instant,
        pub document_id: RecordId,
        pub kind: DocumentKind,
        pub quantity: Quantity,
        pub value: BookMoney,
        pub account_id: RecordId,
    }
}

table! {
    audit_log = "audit_log" {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: BusinessId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub sequence: i64,
        pub id: RecordId,
        pub at: Instant,
        pub user_id: Option<UserId>,
        pub address: Option<String>,
        pub dialect: Option<String>,
        pub request_id: Option<Called>,
        pub client_request_id: Option<String>,
        pub action: crate::codes::Word,
        pub resource: crate::codes::Word,
        pub resource_id: RecordId,
        pub version_from: Option<i64>,
        pub version_to: Option<i64>,
        /// In records of before.
        pub before: Option<Packed>,
        pub after: Option<Packed>,
        /// What the record is about: [`crate::recorded::Recorded`].
        pub record: Option<Packed>,
        /// What it is looked for by; records from before there was this column have none.
        pub search: Option<String>,
        pub hash: HexDigest,
        /// Whether the hash is under the key; those from before there was one are plain.
        pub keyed: bool,
    }
}

/// What the row of an order that was closed says.
pub const CLOSED: &str = "closed";

/// What the row of a credit note says that writes off.
pub const WRITE_OFF: &str = "writeOff";
