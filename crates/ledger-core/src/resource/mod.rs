//! Resources, declared once.
//!
//! To add one: write its file here, add its key, and add its line to [`each_resource`]. Paths, permissions,
//! documentation and the tests' matrices follow from that.

pub mod account;
pub(crate) mod address;
pub mod api_key;
pub mod audit_log;
mod bank;
pub mod body;
pub mod business;
pub mod contra_entry;
pub mod currency_list;
pub mod dialect_usage;
pub(crate) mod document;
pub mod entry;
pub mod exchange_rate;
pub mod extra;
pub mod fiscal_year;
pub mod installation_log;
pub mod invitation;
pub mod item;
pub mod journal;
pub(crate) mod json;
pub mod list;
pub mod lock;
pub(crate) mod master;
pub mod number_series;
pub mod operation;
pub mod party;
pub mod payment_term;
pub mod permission;
pub mod profile;
pub(crate) mod reference;
pub mod report;
pub mod revaluation;
pub(crate) mod rows;
pub mod session;
pub mod settlement;
pub mod stock_adjustment;
pub mod tax_code;
pub mod trade;
pub mod user;
pub mod verification;

use crate::access::{Action, Business};
use crate::auth::password::NewPassword;
use crate::books::tables::DocumentKind;
use crate::cx::Cx;
use crate::error::{FieldErrors, Result};
use crate::ids::RecordId;
use extra::Extra;
use list::{ListQuery, Page, Parameter};
use operation::Verb;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::future::Future;

/// Identity of a resource: permissions, paths and stored references hang on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ResourceKey {
    Businesses,
    Parties,
    Items,
    Accounts,
    TaxCodes,
    PaymentTerms,
    SalesOrders,
    DeliveryNotes,
    SalesInvoices,
    CreditNotes,
    PurchaseOrders,
    ReceiptNotes,
    PurchaseInvoices,
    DebitNotes,
    Receipts,
    Payments,
    Allocations,
    StockAdjustments,
    Revaluations,
    Journals,
    ContraEntries,
    Entries,
    NumberSeries,
    FiscalYears,
    Locks,
    Currencies,
    ExchangeRates,
    AuditLog,
    Reports,
    Verification,
    Users,
    Permissions,
    ApiKeys,
    DialectUsage,
    Profile,
    Sessions,
    InstallationLog,
}

impl ResourceKey {
    pub const ALL: [Self; 37] = [
        Self::Businesses,
        Self::Parties,
        Self::Items,
        Self::Accounts,
        Self::TaxCodes,
        Self::PaymentTerms,
        Self::SalesOrders,
        Self::DeliveryNotes,
        Self::SalesInvoices,
        Self::CreditNotes,
        Self::PurchaseOrders,
        Self::ReceiptNotes,
        Self::PurchaseInvoices,
        Self::DebitNotes,
        Self::Receipts,
        Self::Payments,
        Self::Allocations,
        Self::StockAdjustments,
        Self::Revaluations,
        Self::Journals,
        Self::ContraEntries,
        Self::Entries,
        Self::NumberSeries,
        Self::FiscalYears,
        Self::Locks,
        Self::Currencies,
        Self::ExchangeRates,
        Self::AuditLog,
        Self::Reports,
        Self::Verification,
        Self::Users,
        Self::Permissions,
        Self::ApiKeys,
        Self::DialectUsage,
        Self::Profile,
        Self::Sessions,
        Self::InstallationLog,
    ];

    /// The first half of a permission key, such as `party` of `party.edit`.
    pub const fn permission_noun(self) -> &'static str {
        match self {
            Self::Businesses => "business",
            Self::Parties => "party",
            Self::Items => "item",
            Self::TaxCodes => "taxCode",
            Self::PaymentTerms => "paymentTerm",
            Self::SalesOrders => "salesOrder",
            Self::DeliveryNotes => "deliveryNote",
            Self::PurchaseOrders => "purchaseOrder",
            Self::ReceiptNotes => "receiptNote",
            Self::SalesInvoices => "salesInvoice",
            Self::CreditNotes => "creditNote",
            Self::PurchaseInvoices => "purchaseInvoice",
            Self::DebitNotes => "debitNote",
            Self::Receipts => "receipt",
            Self::Payments => "payment",
            Self::Allocations => "allocation",
            Self::StockAdjustments => "stockAdjustment",
            Self::Revaluations => "revaluation",
            Self::Accounts => "account",
            Self::Journals => "journal",
            Self::ContraEntries => "contraEntry",
            Self::Entries => "entry",
            Self::NumberSeries => "numberSeries",
            Self::FiscalYears => "fiscalYear",
            Self::Locks => "lock",
            Self::Currencies => "currency",
            Self::ExchangeRates => "exchangeRate",
            Self::AuditLog => "audit",
            Self::Reports => "report",
            Self::Verification => "verification",
            Self::Users => "user",
            Self::Permissions => "permission",
            Self::ApiKeys => "apiKey",
            Self::DialectUsage => "dialectUsage",
            Self::Profile => "profile",
            Self::Sessions => "session",
            Self::InstallationLog => "installationLog",
        }
    }

    /// The stem of operation identifiers, in camel case: `partiesList`.
    pub const fn stem(self) -> &'static str {
        match self {
            Self::Businesses => "businesses",
            Self::Parties => "parties",
            Self::Items => "items",
            Self::TaxCodes => "taxCodes",
            Self::PaymentTerms => "paymentTerms",
            Self::SalesOrders => "salesOrders",
            Self::DeliveryNotes => "deliveryNotes",
            Self::PurchaseOrders => "purchaseOrders",
            Self::ReceiptNotes => "receiptNotes",
            Self::SalesInvoices => "salesInvoices",
            Self::CreditNotes => "creditNotes",
            Self::PurchaseInvoices => "purchaseInvoices",
            Self::DebitNotes => "debitNotes",
            Self::Receipts => "receipts",
            Self::Payments => "payments",
            Self::Allocations => "allocations",
            Self::StockAdjustments => "stockAdjustments",
            Self::Revaluations => "revaluations",
            Self::Accounts => "accounts",
            Self::Journals => "journals",
            Self::ContraEntries => "contraEntries",
            Self::Entries => "entries",
            Self::NumberSeries => "numberSeries",
            Self::FiscalYears => "fiscalYears",
            Self::Locks => "locks",
            Self::Currencies => "currencies",
            Self::ExchangeRates => "exchangeRates",
            Self::AuditLog => "auditLog",
            Self::Reports => "reports",
            Self::Verification => "verification",
            Self::Users => "users",
            Self::Permissions => "permissions",
            Self::ApiKeys => "apiKeys",
            Self::DialectUsage => "dialectUsage",
            Self::Profile => "profile",
            Self::Sessions => "sessions",
            Self::InstallationLog => "installationLog",
        }
    }

    /// What can be done with it at all, as far as permissions tell apart.
    pub const fn actions(self) -> &'static [Action] {
        use Action::{Create, Delete, Edit, Export, Post, View, Void};
        match self {
            Self::Businesses
            | Self::Parties
            | Self::Items
            | Self::Accounts
            | Self::TaxCodes
            | Self::PaymentTerms
            | Self::NumberSeries
            | Self::FiscalYears
            | Self::ExchangeRates
            | Self::Users
            | Self::Permissions => &[View, Create, Edit, Delete],
            Self::SalesOrders
            | Self::DeliveryNotes
            | Self::PurchaseOrders
            | Self::ReceiptNotes
            | Self::SalesInvoices
            | Self::CreditNotes
            | Self::PurchaseInvoices
            | Self::DebitNotes
            | Self::Receipts
            | Self::Payments
            | Self::StockAdjustments
            | Self::Revaluations
            | Self::Journals
            | Self::ContraEntries => &[View, Create, Edit, Delete, Post, Void],
            Self::Allocations | Self::ApiKeys => &[View, Create, Delete],
            Self::Entries | Self::Currencies | Self::Reports | Self::Verification | Self::DialectUsage => &[View],
            Self::Locks => &[View, Create],
            Self::AuditLog => &[View, Export],
            // One's own needs nobody's leave, and no role of a company reaches beyond it.
            Self::Profile | Self::Sessions | Self::InstallationLog => &[],
        }
    }
}

impl From<DocumentKind> for ResourceKey {
    fn from(kind: DocumentKind) -> Self {
        match kind {
            DocumentKind::Journal => Self::Journals,
            DocumentKind::ContraEntry => Self::ContraEntries,
            DocumentKind::SalesOrder => Self::SalesOrders,
            DocumentKind::DeliveryNote => Self::DeliveryNotes,
            DocumentKind::SalesInvoice => Self::SalesInvoices,
            DocumentKind::CreditNote => Self::CreditNotes,
            DocumentKind::PurchaseOrder => Self::PurchaseOrders,
            DocumentKind::ReceiptNote => Self::ReceiptNotes,
            DocumentKind::PurchaseInvoice => Self::PurchaseInvoices,
            DocumentKind::DebitNote => Self::DebitNotes,
            DocumentKind::Receipt => Self::Receipts,
            DocumentKind::Payment => Self::Payments,
            DocumentKind::StockAdjustment => Self::StockAdjustments,
            DocumentKind::Revaluation => Self::Revaluations,
        }
    }
}

/// Where a resource's records live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Inside a company, which every request names.
    Business,
    /// The companies themselves: a record is its own scope.
    Installation,
    /// The installation, for system administrators who are logged in.
    Administration,
}

/// What the documentation says of a resource.
#[derive(Debug, Clone, Copy)]
pub struct About {
    /// "Parties", the heading of its group.
    pub title: &'static str,
    /// "a party", for sentences.
    pub one: &'static str,
    /// "parties", for sentences.
    pub many: &'static str,
    /// What it is, in Markdown.
    pub description: &'static str,
    /// By which fields a list may be sorted; the first is the default.
    pub sorts: &'static [&'static str],
    /// In what `q` searches, as the documentation says it.
    pub searched: &'static str,
}

/// A record as it is answered: it knows what its `ETag` and `Location` are made of.
pub trait Record: Serialize + JsonSchema + Send + Sync {
    fn id(&self) -> RecordId;
    fn version(&self) -> i64;
}

pub trait Resource: Send + Sync + 'static {
    const KEY: ResourceKey;
    const SCOPE: Scope;
    const ABOUT: About;
    /// What a client sends to create or replace a record.
    type Input: DeserializeOwned + JsonSchema + Send;
    /// The same, with every field checked.
    type Draft: Send + Sync + 'static;
    /// What a client gets.
    type View: Record;

    /// Which of the five verbs there are.
    const VERBS: &'static [Verb] = &Verb::STANDARD;
    /// Whether its figures can be asked for at an earlier point in time.
    const IN_TIME: bool = false;

    /// Whether a new record is only planned in the lane, and written with the rest of its batch.
    fn plans(_draft: &Self::Draft) -> bool {
        false
    }

    /// The password that an account of somebody else begins with, where it makes one.
    fn first_password(_draft: &Self::Draft) -> Option<&NewPassword> {
        None
    }
    /// The filters of a list, beside those that every list has.
    fn parameters() -> Vec<Parameter>;
    /// What can be done beside the five verbs.
    fn extras() -> Vec<Extra> {
        Vec::new()
    }
    /// A body that creates a record on a fresh installation.
    fn example() -> Value;
    /// The record that this body makes, but for what the server fills in.
    fn example_view() -> Value;

    /// Every fault of the fields, in one pass and without the database.
    fn check(business: Option<&Business>, input: Self::Input) -> Result<Self::Draft, FieldErrors>;
    fn list(cx: &Cx<'_>, query: &ListQuery) -> impl Future<Output = Result<Page<Self::View>>> + Send;
    fn get(cx: &Cx<'_>, id: RecordId) -> impl Future<Output = Result<Self::View>> + Send;
    fn create(cx: &Cx<'_>, draft: &Self::Draft) -> impl Future<Output = Result<Self::View>> + Send;
    fn update(cx: &Cx<'_>, id: RecordId, draft: &Self::Draft) -> impl Future<Output = Result<Self::View>> + Send;
    fn delete(cx: &Cx<'_>, id: RecordId) -> impl Future<Output = Result<()>> + Send;
}

pub trait Visitor: Sized {
    #[must_use]
    fn visit<R: Resource>(self) -> Self;
}

/// The registry: everything that is done for each resource starts here.
pub fn each_resource<V: Visitor>(visitor: V) -> V {
    visitor
        .visit::<business::Businesses>()
        .visit::<party::Parties>()
        .visit::<item::Items>()
        .visit::<account::Accounts>()
        .visit::<tax_code::TaxCodeRecords>()
        .visit::<payment_term::PaymentTerms>()
        .visit::<trade::SalesOrders>()
        .visit::<trade::DeliveryNotes>()
        .visit::<trade::SalesInvoices>()
        .visit::<trade::CreditNotes>()
        .visit::<trade::PurchaseOrders>()
        .visit::<trade::ReceiptNotes>()
        .visit::<trade::PurchaseInvoices>()
        .visit::<trade::DebitNotes>()
        .visit::<settlement::Receipts>()
        .visit::<settlement::Payments>()
        .visit::<settlement::allocation::Allocations>()
        .visit::<stock_adjustment::StockAdjustments>()
        .visit::<revaluation::Revaluations>()
        .visit::<journal::Journals>()
        .visit::<contra_entry::ContraEntries>()
        .visit::<entry::Entries>()
        .visit::<number_series::NumberSeries>()
        .visit::<fiscal_year::FiscalYears>()
        .visit::<lock::Locks>()
        .visit::<currency_list::Currencies>()
        .visit::<exchange_rate::ExchangeRates>()
        .visit::<audit_log::AuditLog>()
        .visit::<report::Reports>()
        .visit::<verification::Verification>()
        .visit::<user::Users>()
        .visit::<permission::Permissions>()
        .visit::<api_key::ApiKeys>()
        .visit::<dialect_usage::DialectUsage>()
        .visit::<profile::Profile>()
        .visit::<session::Sessions>()
        .visit::<installation_log::InstallationLog>()
}
