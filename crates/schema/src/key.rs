//! What resources are called, wherever one is named.

use crate::rights::{Action, Area};

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
    ($($key:ident: $noun:literal, $title:literal, $stem:literal, $actions:ident, $area:ident;)*) => {
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

            /// Whose work it is, which says what the built-in roles may do with it.
            pub const fn area(self) -> Area {
                match self {
                    $(Self::$key => Area::$area,)*
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
    // The noun of its permissions, the heading of its group, the stem of its operations, what can be done with it, and by
    // whom.
    Businesses: "business", "Businesses", "businesses", KEPT, Company;
    Parties: "party", "Parties", "parties", KEPT, Names;
    Items: "item", "Items", "items", KEPT, Names;
    Accounts: "account", "Chart of accounts", "accounts", KEPT, Books;
    TaxCodes: "taxCode", "Tax codes", "taxCodes", KEPT, Books;
    PaymentTerms: "paymentTerm", "Payment terms", "paymentTerms", KEPT, Books;
    SalesOrders: "salesOrder", "Sales orders", "salesOrders", POSTED, Selling;
    DeliveryNotes: "deliveryNote", "Delivery notes", "deliveryNotes", POSTED, Goods;
    SalesInvoices: "salesInvoice", "Sales invoices", "salesInvoices", POSTED, Selling;
    CreditNotes: "creditNote", "Credit notes", "creditNotes", POSTED, Selling;
    PurchaseOrders: "purchaseOrder", "Purchase orders", "purchaseOrders", POSTED, Buying;
    ReceiptNotes: "receiptNote", "Receipt notes", "receiptNotes", POSTED, Goods;
    PurchaseInvoices: "purchaseInvoice", "Purchase invoices", "purchaseInvoices", POSTED, Buying;
    DebitNotes: "debitNote", "Debit notes", "debitNotes", POSTED, Buying;
    Receipts: "receipt", "Receipts", "receipts", POSTED, Money;
    Payments: "payment", "Payments", "payments", POSTED, Money;
    Allocations: "allocation", "Allocations", "allocations", MADE, Settling;
    StockAdjustments: "stockAdjustment", "Stock adjustments", "stockAdjustments", POSTED, Goods;
    Revaluations: "revaluation", "Revaluations", "revaluations", POSTED, Books;
    Journals: "journal", "Journals", "journals", POSTED, Entry;
    ContraEntries: "contraEntry", "Contra entries", "contraEntries", POSTED, Money;
    Entries: "entry", "Entries", "entries", READ, Books;
    NumberSeries: "numberSeries", "Number series", "numberSeries", KEPT, Books;
    FiscalYears: "fiscalYear", "Fiscal years", "fiscalYears", KEPT, Books;
    Locks: "lock", "Locks", "locks", SET, Books;
    Currencies: "currency", "Currencies", "currencies", READ, Books;
    ExchangeRates: "exchangeRate", "Exchange rates", "exchangeRates", KEPT, Rates;
    AuditLog: "audit", "Audit log", "auditLog", EXPORTED, Books;
    Events: "event", "Events", "events", READ, Books;
    Reports: "report", "Reports", "reports", READ, Books;
    Verification: "verification", "Verification", "verification", READ, Books;
    Users: "user", "Users", "users", KEPT, People;
    Permissions: "permission", "Permissions", "permissions", KEPT, People;
    Webhooks: "webhook", "Webhooks", "webhooks", KEPT, Outward;
    ApiKeys: "apiKey", "API keys", "apiKeys", MADE, People;
    DialectUsage: "dialectUsage", "Dialect usage", "dialectUsage", READ, People;
    Batch: "batch", "Batch", "batch", OWN, Books;
    Profile: "profile", "Your account", "profile", OWN, Books;
    Sessions: "session", "Your sessions", "sessions", OWN, Books;
    InstallationLog: "installationLog", "Installation log", "installationLog", OWN, Books;
}

impl ResourceKey {
    /// What a path calls it, where a dialect has no word of its own: `parties`, `payment-terms`.
    pub fn segment(self) -> String {
        let letters = self.stem().chars();
        letters.fold(String::new(), |mut said, letter| {
            if letter.is_ascii_uppercase() {
                said.push('-');
            }
            said.push(letter.to_ascii_lowercase());
            said
        })
    }

    /// Whether its changes stand in the installation's log as well.
    pub const fn is_of_people(self) -> bool {
        matches!(self, Self::Users | Self::ApiKeys | Self::Profile | Self::Businesses)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_path_calls_each_resource_by_a_name_of_its_own() {
        for (key, segment) in [
            (ResourceKey::Parties, "parties"),
            (ResourceKey::PaymentTerms, "payment-terms"),
            (ResourceKey::InstallationLog, "installation-log"),
        ] {
            assert_eq!(key.segment(), segment);
        }
        let all: HashSet<String> = ResourceKey::ALL.into_iter().map(ResourceKey::segment).collect();
        assert_eq!(all.len(), ResourceKey::ALL.len());
    }
}
