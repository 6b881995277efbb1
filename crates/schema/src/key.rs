//! What resources are called, wherever one is named.

use crate::rights::Action;
use crate::tables::DocumentKind;

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

    /// The heading of its group in the documentation: "Parties".
    pub const fn title(self) -> &'static str {
        match self {
            Self::Businesses => "Businesses",
            Self::Parties => "Parties",
            Self::Items => "Items",
            Self::Accounts => "Chart of accounts",
            Self::TaxCodes => "Tax codes",
            Self::PaymentTerms => "Payment terms",
            Self::SalesOrders => "Sales orders",
            Self::DeliveryNotes => "Delivery notes",
            Self::SalesInvoices => "Sales invoices",
            Self::CreditNotes => "Credit notes",
            Self::PurchaseOrders => "Purchase orders",
            Self::ReceiptNotes => "Receipt notes",
            Self::PurchaseInvoices => "Purchase invoices",
            Self::DebitNotes => "Debit notes",
            Self::Receipts => "Receipts",
            Self::Payments => "Payments",
            Self::Allocations => "Allocations",
            Self::StockAdjustments => "Stock adjustments",
            Self::Revaluations => "Revaluations",
            Self::Journals => "Journals",
            Self::ContraEntries => "Contra entries",
            Self::Entries => "Entries",
            Self::NumberSeries => "Number series",
            Self::FiscalYears => "Fiscal years",
            Self::Locks => "Locks",
            Self::Currencies => "Currencies",
            Self::ExchangeRates => "Exchange rates",
            Self::AuditLog => "Audit log",
            Self::Reports => "Reports",
            Self::Verification => "Verification",
            Self::Users => "Users",
            Self::Permissions => "Permissions",
            Self::ApiKeys => "API keys",
            Self::DialectUsage => "Dialect usage",
            Self::Profile => "Your account",
            Self::Sessions => "Your sessions",
            Self::InstallationLog => "Installation log",
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

impl ResourceKey {
    /// Whether its changes stand in the installation's log as well.
    pub const fn is_of_people(self) -> bool {
        matches!(self, Self::Users | Self::ApiKeys | Self::Profile | Self::Businesses)
    }
}
