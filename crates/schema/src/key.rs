//! What resources are called, wherever one is named.

use crate::rights::Action;

/// What can be done with what is kept and changed.
const KEPT: &[Action] = &[Action::View, Action::Create, Action::Edit, Action::Delete];
/// ... with what comes into the books.
const POSTED: &[Action] = &[Action::View, Action::Create, Action::Edit, Action::Delete, Action::Post, Action::Void];
/// ... with what is never changed, only made and taken away.
const MADE: &[Action] = &[Action::View, Action::Create, Action::Delete];
/// ... with what stays as it was set.
const SET: &[Action] = &[Action::View, Action::Create];
const READ: &[Action] = &[Action::View];
const EXPORTED: &[Action] = &[Action::View, Action::Export];
/// One's own needs nobody's leave, and no role of a company reaches beyond it.
const OWN: &[Action] = &[];

/// A line a resource: its key, and what it is called wherever one is named.
macro_rules! keys {
    ($($key:ident: $noun:literal, $title:literal, $stem:literal, $actions:ident;)*) => {
        /// Identity of a resource: permissions, paths and stored references hang on it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum ResourceKey {
            $($key,)*
        }

        impl ResourceKey {
            pub const ALL: [Self; [$($stem,)*].len()] = [$(Self::$key,)*];

            /// The first half of a permission key, such as `party` of `party.edit`.
            pub const fn permission_noun(self) -> &'static str {
                match self {
                    $(Self::$key => $noun,)*
                }
            }

            /// The heading of its group in the documentation: "Parties".
            pub const fn title(self) -> &'static str {
                match self {
                    $(Self::$key => $title,)*
                }
            }

            /// The stem of operation identifiers, in camel case: `partiesList`.
            pub const fn stem(self) -> &'static str {
                match self {
                    $(Self::$key => $stem,)*
                }
            }

            /// What can be done with it at all, as far as permissions tell apart.
            pub const fn actions(self) -> &'static [Action] {
                match self {
                    $(Self::$key => $actions,)*
                }
            }
        }
    };
}

keys! {
    // The noun of its permissions, the heading of its group, the stem of its operations, and what can be done with it.
    Businesses: "business", "Businesses", "businesses", KEPT;
    Parties: "party", "Parties", "parties", KEPT;
    Items: "item", "Items", "items", KEPT;
    Accounts: "account", "Chart of accounts", "accounts", KEPT;
    TaxCodes: "taxCode", "Tax codes", "taxCodes", KEPT;
    PaymentTerms: "paymentTerm", "Payment terms", "paymentTerms", KEPT;
    SalesOrders: "salesOrder", "Sales orders", "salesOrders", POSTED;
    DeliveryNotes: "deliveryNote", "Delivery notes", "deliveryNotes", POSTED;
    SalesInvoices: "salesInvoice", "Sales invoices", "salesInvoices", POSTED;
    CreditNotes: "creditNote", "Credit notes", "creditNotes", POSTED;
    PurchaseOrders: "purchaseOrder", "Purchase orders", "purchaseOrders", POSTED;
    ReceiptNotes: "receiptNote", "Receipt notes", "receiptNotes", POSTED;
    PurchaseInvoices: "purchaseInvoice", "Purchase invoices", "purchaseInvoices", POSTED;
    DebitNotes: "debitNote", "Debit notes", "debitNotes", POSTED;
    Receipts: "receipt", "Receipts", "receipts", POSTED;
    Payments: "payment", "Payments", "payments", POSTED;
    Allocations: "allocation", "Allocations", "allocations", MADE;
    StockAdjustments: "stockAdjustment", "Stock adjustments", "stockAdjustments", POSTED;
    Revaluations: "revaluation", "Revaluations", "revaluations", POSTED;
    Journals: "journal", "Journals", "journals", POSTED;
    ContraEntries: "contraEntry", "Contra entries", "contraEntries", POSTED;
    Entries: "entry", "Entries", "entries", READ;
    NumberSeries: "numberSeries", "Number series", "numberSeries", KEPT;
    FiscalYears: "fiscalYear", "Fiscal years", "fiscalYears", KEPT;
    Locks: "lock", "Locks", "locks", SET;
    Currencies: "currency", "Currencies", "currencies", READ;
    ExchangeRates: "exchangeRate", "Exchange rates", "exchangeRates", KEPT;
    AuditLog: "audit", "Audit log", "auditLog", EXPORTED;
    Reports: "report", "Reports", "reports", READ;
    Verification: "verification", "Verification", "verification", READ;
    Users: "user", "Users", "users", KEPT;
    Permissions: "permission", "Permissions", "permissions", KEPT;
    ApiKeys: "apiKey", "API keys", "apiKeys", MADE;
    DialectUsage: "dialectUsage", "Dialect usage", "dialectUsage", READ;
    Profile: "profile", "Your account", "profile", OWN;
    Sessions: "session", "Your sessions", "sessions", OWN;
    InstallationLog: "installationLog", "Installation log", "installationLog", OWN;
}

impl ResourceKey {
    /// Whether its changes stand in the installation's log as well.
    pub const fn is_of_people(self) -> bool {
        matches!(self, Self::Users | Self::ApiKeys | Self::Profile | Self::Businesses)
    }
}
