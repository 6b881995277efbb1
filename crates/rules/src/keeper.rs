//! Who makes the ledger lines of an account: one sub-ledger, or anybody.
//!
//! Type and role give an account its keeper; the first entry fixes it, and it outlives the role.

use crate::account::{AccountClass, AccountType};
use crate::chart::{Account, SystemRole};
use words::wire_enum;

wire_enum! {
    /// The sub-ledger that makes the lines of an account from its own rows.
    pub enum Keeper {
        /// Nobody: whoever may post names it.
        #[default]
        None = "none",
        /// What parties owe and are owed.
        OpenItems = "openItems",
        /// The goods in stock.
        Stock = "stock",
        /// Goods that wait for their invoice.
        Accruals = "accruals",
        /// Tax that is owed and claimed.
        Tax = "tax",
        /// What open debts in other currencies are worth by now.
        Valuation = "valuation",
        /// What can be moved by receipts, payments and contra entries.
        Money = "money",
    }
}

impl Keeper {
    /// The keeper that an account has by what it is and what it is used for. `by_hand` says that journals may name an
    /// account of type inventory, which is nobody's then.
    pub fn of(r#type: AccountType, by_hand: bool, roles: &[SystemRole], in_component: bool) -> Self {
        let of_type = match r#type {
            AccountType::Bank | AccountType::Cash | AccountType::CreditCard => Self::Money,
            AccountType::Receivable | AccountType::Payable => Self::OpenItems,
            AccountType::Inventory if !by_hand => Self::Stock,
            AccountType::TaxPayable => Self::Tax,
            _ => Self::None,
        };
        let of_role = roles.iter().map(|role| role.keeper()).find(|keeper| *keeper != Self::None);
        match of_type {
            Self::None => of_role.unwrap_or(if in_component { Self::Tax } else { Self::None }),
            kept => kept,
        }
    }

    /// Whether journals may name what it keeps.
    pub const fn takes_journals(self) -> bool {
        !matches!(self, Self::Stock | Self::Accruals | Self::Valuation)
    }
}

impl SystemRole {
    /// The keeper of the account in this role.
    pub const fn keeper(self) -> Keeper {
        match self {
            Self::Receivable | Self::Payable | Self::CustomerAdvances | Self::SupplierAdvances => Keeper::OpenItems,
            Self::Inventory => Keeper::Stock,
            Self::GoodsReceivedNotInvoiced | Self::GoodsDeliveredNotInvoiced => Keeper::Accruals,
            Self::OutputTax
            | Self::InputTax
            | Self::OutputTaxNotDue
            | Self::InputTaxNotDue
            | Self::WithholdingPayable
            | Self::WithholdingReceivable => Keeper::Tax,
            Self::ReceivableRevaluation | Self::PayableRevaluation => Keeper::Valuation,
            Self::Income
            | Self::Expense
            | Self::CostOfSales
            | Self::PurchasePriceVariance
            | Self::InventoryAdjustment
            | Self::Rounding
            | Self::RealisedExchange
            | Self::UnrealisedExchange
            | Self::DiscountGiven
            | Self::DiscountReceived
            | Self::BadDebt
            | Self::BankFees
            | Self::RetainedEarnings
            | Self::OpeningBalanceEquity => Keeper::None,
        }
    }
}

/// What postings tell accounts apart by: the keeper, and without one what the account counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Money,
    Control,
    Stock,
    Accrual,
    Tax,
    Valuation,
    /// Takes the results of years.
    Results,
    Equity,
    /// Any other asset, or liability.
    Other(AccountClass),
    /// Income, or expense.
    Result(AccountClass),
}

impl Kind {
    pub(crate) fn of(account: &Account, takes_results: bool) -> Self {
        match account.keeper {
            Keeper::Money => Self::Money,
            Keeper::OpenItems => Self::Control,
            Keeper::Stock => Self::Stock,
            Keeper::Accruals => Self::Accrual,
            Keeper::Tax => Self::Tax,
            Keeper::Valuation => Self::Valuation,
            Keeper::None if takes_results || account.r#type == AccountType::RetainedEarnings => Self::Results,
            Keeper::None => match account.r#type.class() {
                AccountClass::Equity => Self::Equity,
                class @ (AccountClass::Asset | AccountClass::Liability) => Self::Other(class),
                class @ (AccountClass::Income | AccountClass::Expense) => Self::Result(class),
            },
        }
    }
}
