//! Accounts that may be posted to, each judged once, for what it is named for.
//!
//! Only a [`Chart`] makes these, and a ledger line takes nothing else. They own their account, so that a plan may leave
//! the function that made it.

use crate::chart::{Account, Chart, SystemRole};
use crate::keeper::{Keeper, Kind};
use crate::purpose::{Purpose, Side};
use crate::refusal::{Refusal, Why};
use std::sync::Arc;
use words::ids::RecordId;
use words::sown::{Fault, sown};

/// An account that nobody keeps, judged for one purpose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Free {
    account: Arc<Account>,
    purpose: Purpose,
}

impl Free {
    pub(crate) const fn in_role(account: Arc<Account>, role: SystemRole) -> Self {
        Self { account, purpose: Purpose::Role(role) }
    }

    pub fn id(&self) -> RecordId {
        self.account.id
    }

    pub const fn purpose(&self) -> Purpose {
        self.purpose
    }
}

macro_rules! kept {
    ($($(#[$about:meta])* $name:ident),+ $(,)?) => {
        $(
            $(#[$about])*
            #[derive(Debug, Clone, PartialEq, Eq)]
            pub struct $name(Arc<Account>);

            impl $name {
                pub fn id(&self) -> RecordId {
                    self.0.id
                }
            }
        )+
    };
}

kept! {
    /// An account of what parties owe and are owed. Its lines name the party.
    Control,
    /// An account that follows the stock.
    StockAccount,
    /// An account on which goods wait for their invoice.
    Accrual,
    /// An account of tax that is owed or claimed.
    TaxAccount,
    /// An account of what open debts in other currencies are worth by now.
    Valuation,
    /// An account that holds money.
    MoneyAccount,
}

impl Control {
    #[must_use]
    pub fn of(self, party: RecordId) -> Postable {
        Postable(To { account: self.0, party: Some(party) })
    }
}

/// An account that a ledger line may be made on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Postable(pub(crate) To);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct To {
    pub(crate) account: Arc<Account>,
    /// Whose line it is, on an account of debts.
    pub(crate) party: Option<RecordId>,
}

impl Postable {
    const fn plain(account: Arc<Account>) -> Self {
        Self(To { account, party: None })
    }

    pub fn id(&self) -> RecordId {
        self.0.account.id
    }

    pub fn keeper(&self) -> Keeper {
        self.0.account.keeper
    }
}

impl From<Free> for Postable {
    fn from(free: Free) -> Self {
        Self::plain(free.account)
    }
}

macro_rules! of_roles {
    ($($name:ident),+) => {
        $(impl $name {
            pub(crate) const fn in_role(account: Arc<Account>, _: SystemRole) -> Self {
                Self(account)
            }
        })+
    };
}
of_roles!(Control, StockAccount, Accrual, TaxAccount, Valuation);

macro_rules! postable {
    ($($name:ident),+) => {
        $(impl From<$name> for Postable {
            fn from(kept: $name) -> Self {
                Self::plain(kept.0)
            }
        })+
    };
}
// Not an account of debts: that is postable with its party alone.
postable!(StockAccount, Accrual, TaxAccount, Valuation, MoneyAccount);

impl Account {
    /// Whether a line in a currency may stand on it: one that is kept in a currency of its own takes no other.
    pub(crate) fn takes_currency(&self, currency: &str) -> Result<(), Refusal> {
        match &self.currency {
            Some(own) if own != currency && !sown(Fault::CurrencyOfAccountForgotten) => {
                Err(Refusal::of(self, Why::Currency { own: own.clone(), line: currency.to_owned() }))
            }
            _ => Ok(()),
        }
    }
}

impl Chart {
    /// The account that an identifier names, if there is one and it is no group: enough for what is only begun.
    pub fn named(&self, id: RecordId) -> Result<&Arc<Account>, Refusal> {
        let account = self.accounts.get(&id).ok_or(Refusal::unknown())?;
        if account.is_group { Err(Refusal::of(account, Why::Group)) } else { Ok(account) }
    }

    fn kind(&self, account: &Account) -> Kind {
        Kind::of(account, self.roles.retained_earnings.id() == account.id)
    }

    /// Whether an account may be named for a purpose. Nobody else judges accounts.
    pub fn judge(&self, id: RecordId, purpose: Purpose) -> Result<&Arc<Account>, Refusal> {
        let account = self.named(id)?;
        if account.archived {
            return Err(Refusal::of(account, Why::Archived));
        }
        let kind = self.kind(account);
        if !purpose.takes(kind, account) {
            return Err(Refusal::of(account, purpose.refusal(kind, account)));
        }
        let by_hand = matches!(purpose, Purpose::Journal | Purpose::Closing) && !purpose.is_careless();
        if by_hand && !account.allow_manual_posting {
            return Err(Refusal::of(account, Why::NoJournals));
        }
        Ok(account)
    }

    /// An account that nobody keeps.
    pub fn free(&self, id: RecordId, purpose: Purpose) -> Result<Free, Refusal> {
        let account = self.judge(id, purpose)?;
        match account.keeper {
            Keeper::None => Ok(Free { account: account.clone(), purpose }),
            _ if purpose.is_careless() => Ok(Free { account: account.clone(), purpose }),
            _ => Err(Refusal::of(account, purpose.refusal(self.kind(account), account))),
        }
    }

    /// What a line of a journal, a receipt or a payment names: it may be an account that somebody keeps, whose facts the
    /// line then makes.
    pub fn line(
        &self,
        id: RecordId,
        purpose: Purpose,
        party: Option<RecordId>,
        currency: &str,
    ) -> Result<Postable, Refusal> {
        let account = self.judge(id, purpose)?;
        account.takes_currency(currency)?;
        if account.keeper == Keeper::OpenItems && party.is_none() && !sown(Fault::PartyOfDebtForgotten) {
            return Err(Refusal::of(account, Why::Party));
        }
        Ok(Postable(To { account: account.clone(), party: party.filter(|_| account.keeper == Keeper::OpenItems) }))
    }

    pub fn money(&self, id: RecordId, currency: &str) -> Result<MoneyAccount, Refusal> {
        let account = self.judge(id, Purpose::MoneyMoved)?;
        account.takes_currency(currency)?;
        Ok(MoneyAccount(account.clone()))
    }

    pub fn control(&self, id: RecordId, side: Side, currency: &str) -> Result<Control, Refusal> {
        let account = self.judge(id, Purpose::Control(side))?;
        account.takes_currency(currency)?;
        Ok(Control(account.clone()))
    }

    /// Where the goods of an item are.
    pub fn stock(&self, id: RecordId) -> Result<StockAccount, Refusal> {
        self.judge(id, Purpose::ItemStock).cloned().map(StockAccount)
    }

    /// What a component of a tax is owed on, or claimed back on.
    pub fn tax(&self, id: RecordId) -> Result<TaxAccount, Refusal> {
        let account = self.named(id)?;
        match account.keeper {
            Keeper::Tax => Ok(TaxAccount(account.clone())),
            _ => Err(Refusal::of(account, Why::Type { is: account.r#type, wanted: "tax" })),
        }
    }

    /// An account that a keeper's own row names. It was judged when the row was made, and what happens to it later does
    /// not keep the row from being followed.
    pub fn standing(&self, id: RecordId) -> Result<Postable, Refusal> {
        let account = self.named(id)?;
        match account.keeper {
            Keeper::OpenItems => Err(Refusal::of(account, Why::Party)),
            _ => Ok(Postable::plain(account.clone())),
        }
    }

    /// An account on which a debt stands already.
    pub fn standing_debt(&self, id: RecordId, party: RecordId) -> Result<Postable, Refusal> {
        let account = self.named(id)?;
        match account.keeper {
            Keeper::OpenItems => Ok(Control(account.clone()).of(party)),
            _ => Err(Refusal::of(account, Why::Type { is: account.r#type, wanted: "receivable or payable" })),
        }
    }
}
