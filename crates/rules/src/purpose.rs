//! What an account is named for, and which accounts suit: the one judgement of an account.

use crate::account::{AccountClass, AccountType};
use crate::chart::{Account, Blueprint, SystemRole};
use crate::keeper::{Keeper, Kind};
use crate::refusal::Why;
use words::sown::{Fault, sown};

const INVENTORY: &str = "inventory that takes no journals";

/// What an account is named for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A line of a journal of any kind but `closing`.
    Journal,
    /// A line of a journal that closes a year.
    Closing,
    /// A line of a receipt or a payment that settles nothing.
    DirectLine,
    SaleLine,
    PurchaseLine,
    /// The fee of a receipt, a payment or a contra entry.
    Fee,
    WriteOff,
    /// The other side of a stock adjustment.
    AdjustmentSide,
    /// What a component of a tax is owed on.
    TaxOwed,
    /// What a component of a tax is claimed back on.
    TaxClaimed,
    /// What an item or a party is sold on.
    Income,
    /// What an item or a party is bought on.
    Expense,
    /// What sold goods cost.
    Cost,
    /// Where the goods of an item are.
    ItemStock,
    /// What a receipt, a payment or a contra entry moves.
    MoneyMoved,
    /// What a party or a document owes on.
    Control(Side),
    /// What the books use it for without being told.
    Role(SystemRole),
}

/// Whose debts a control account takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Receivable,
    Payable,
    /// Of either, and what was paid in advance.
    Either,
}

impl Purpose {
    /// Whether it takes accounts of a kind.
    pub(crate) fn takes(self, kind: Kind, account: &Account) -> bool {
        use AccountClass::{Asset, Expense, Income, Liability};
        if self.is_careless() {
            return true;
        }
        match self {
            Self::Journal => !matches!(kind, Kind::Stock | Kind::Accrual | Kind::Valuation),
            Self::Closing => matches!(kind, Kind::Results | Kind::Result(_)),
            Self::DirectLine => matches!(kind, Kind::Tax | Kind::Equity | Kind::Other(_) | Kind::Result(_)),
            Self::SaleLine | Self::Fee | Self::WriteOff => matches!(kind, Kind::Other(_) | Kind::Result(_)),
            Self::PurchaseLine | Self::AdjustmentSide => {
                matches!(kind, Kind::Equity | Kind::Other(_) | Kind::Result(_))
            }
            Self::TaxOwed => matches!(kind, Kind::Tax | Kind::Other(Liability)),
            Self::TaxClaimed => matches!(kind, Kind::Tax | Kind::Other(Asset)) && !account.is_inventory_by_hand(),
            Self::Income => kind == Kind::Result(Income),
            Self::Expense => matches!(kind, Kind::Other(Asset) | Kind::Result(Expense)),
            Self::Cost => kind == Kind::Result(Expense),
            Self::ItemStock => kind == Kind::Stock,
            Self::MoneyMoved => kind == Kind::Money,
            Self::Control(side) => kind == Kind::Control && side.suits(account.r#type),
            Self::Role(role) => {
                role.suits(account.r#type)
                    && [Keeper::None, role.keeper()].contains(&account.keeper)
                    && !account.is_inventory_by_hand()
            }
        }
    }

    /// Whether a fault is sown by which it takes any account.
    pub(crate) fn is_careless(self) -> bool {
        match self {
            Self::Fee => sown(Fault::FeeTakesWhatIsKept),
            Self::WriteOff => sown(Fault::WriteOffTakesWhatIsKept),
            Self::TaxClaimed => sown(Fault::TaxIsClaimedAnywhere),
            Self::PurchaseLine => sown(Fault::BillTakesWhatIsKept),
            Self::AdjustmentSide => sown(Fault::AdjustmentTakesWhatIsKept),
            Self::Journal => sown(Fault::JournalTakesWhatIsKept),
            _ => false,
        }
    }

    /// Whether only accounts of one kind suit, so that any other is of the wrong type.
    const fn wants_one_kind(self) -> bool {
        matches!(self, Self::ItemStock | Self::MoneyMoved | Self::Control(_))
    }

    /// What suits, as a refusal says it.
    fn wanted(self) -> &'static str {
        match self {
            Self::Journal => "an account that takes journals",
            Self::Closing => "income, expense, or what takes results of years",
            Self::DirectLine | Self::PurchaseLine | Self::AdjustmentSide => {
                "income, expense, equity, or another asset or liability"
            }
            Self::SaleLine | Self::Fee | Self::WriteOff => "income, expense, or another asset or liability",
            Self::TaxOwed => "tax, or another liability",
            Self::TaxClaimed => "tax, or another asset",
            Self::Income => "income",
            Self::Expense => "an expense, or another asset",
            Self::Cost => "an expense",
            Self::ItemStock => INVENTORY,
            Self::MoneyMoved => "bank, cash or creditCard",
            Self::Control(Side::Receivable) => "receivable",
            Self::Control(Side::Payable) => "payable",
            Self::Control(Side::Either) => "receivable, payable, or one of advances",
            Self::Role(role) => match role.suitable() {
                AccountType::Receivable => "receivable",
                AccountType::Payable => "payable",
                AccountType::Inventory => INVENTORY,
                other => match other.class() {
                    AccountClass::Asset => "another asset",
                    AccountClass::Liability => "another liability",
                    AccountClass::Equity => "equity",
                    AccountClass::Income => "income",
                    AccountClass::Expense => "an expense",
                },
            },
        }
    }

    /// Why it does not take an account of a kind.
    pub(crate) fn refusal(self, kind: Kind, account: &Account) -> Why {
        let of_type = Why::Type { is: account.r#type, wanted: self.wanted() };
        match kind {
            _ if self.wants_one_kind() => of_type,
            _ if matches!(self, Self::Role(role) if !role.suits(account.r#type)) => of_type,
            Kind::Money => Why::Money,
            Kind::Control => Why::Control,
            Kind::Stock => Why::Stock,
            Kind::Accrual => Why::Accrual,
            Kind::Tax => Why::Tax,
            Kind::Valuation => Why::Valuation,
            Kind::Results => Why::Results,
            Kind::Equity | Kind::Other(_) | Kind::Result(_) => of_type,
        }
    }
}

impl Side {
    const fn suits(self, r#type: AccountType) -> bool {
        match self {
            Self::Receivable => matches!(r#type, AccountType::Receivable),
            Self::Payable => matches!(r#type, AccountType::Payable),
            Self::Either => true,
        }
    }
}

impl SystemRole {
    /// The type of the account that has the role from the start.
    fn suitable(self) -> AccountType {
        Blueprint::of(self).map_or(AccountType::Expense, |blueprint| blueprint.r#type)
    }

    fn suits(self, r#type: AccountType) -> bool {
        Blueprint::of(self).is_some_and(|blueprint| blueprint.suits(r#type))
    }
}

#[cfg(test)]
mod tests;
