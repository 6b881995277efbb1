//! The chart of accounts as postings are judged by it, and the charts that new companies begin with.

use crate::account::AccountType;
use crate::keeper::Keeper;
use crate::roles::Roles;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use words::ids::RecordId;
use words::wire_enum;

wire_enum! {
    /// What the books need an account for without being told which.
    pub enum SystemRole {
        #[default]
        Receivable = "receivable",
        Payable = "payable",
        Income = "income",
        Expense = "expense",
        CostOfSales = "costOfSales",
        Inventory = "inventory",
        GoodsReceivedNotInvoiced = "goodsReceivedNotInvoiced",
        GoodsDeliveredNotInvoiced = "goodsDeliveredNotInvoiced",
        PurchasePriceVariance = "purchasePriceVariance",
        InventoryAdjustment = "inventoryAdjustment",
        OutputTax = "outputTax",
        InputTax = "inputTax",
        // Tax on sales that is not owed before they are paid. A company without one keeps it with the tax that is owed.
        // (No word of the documents: with one, no schema could name the roles as the keys that they are.)
        OutputTaxNotDue = "outputTaxNotDue",
        // Tax on purchases that is not claimed before they are paid.
        InputTaxNotDue = "inputTaxNotDue",
        WithholdingPayable = "withholdingPayable",
        WithholdingReceivable = "withholdingReceivable",
        Rounding = "rounding",
        RealisedExchange = "realisedExchange",
        UnrealisedExchange = "unrealisedExchange",
        ReceivableRevaluation = "receivableRevaluation",
        PayableRevaluation = "payableRevaluation",
        CustomerAdvances = "customerAdvances",
        SupplierAdvances = "supplierAdvances",
        DiscountGiven = "discountGiven",
        DiscountReceived = "discountReceived",
        BadDebt = "badDebt",
        BankFees = "bankFees",
        RetainedEarnings = "retainedEarnings",
        OpeningBalanceEquity = "openingBalanceEquity",
    }
}

wire_enum! {
    /// The chart of accounts that a company begins with.
    pub enum ChartTemplate {
        /// Goods and services.
        #[default]
        General = "general",
        /// Services alone.
        Services = "services",
        /// Buying and selling goods.
        Trading = "trading",
        /// Only the accounts that the books themselves need.
        Empty = "empty",
    }
}

/// An account, as far as postings are judged by it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    pub id: RecordId,
    pub code: String,
    pub name: String,
    pub r#type: AccountType,
    pub keeper: Keeper,
    pub is_group: bool,
    /// Its own, where it is kept in another than the company's.
    pub currency: Option<String>,
    pub allow_manual_posting: bool,
    pub archived: bool,
}

impl Account {
    pub fn currency_or<'c>(&'c self, base: &'c String) -> &'c String {
        self.currency.as_ref().unwrap_or(base)
    }

    /// Whether it holds goods that journals follow and no item does.
    pub(crate) fn is_inventory_by_hand(&self) -> bool {
        self.r#type == AccountType::Inventory && self.keeper == Keeper::None
    }
}

/// All accounts of a company.
#[derive(Debug)]
pub struct Chart {
    pub(crate) accounts: HashMap<RecordId, Arc<Account>>,
    pub(crate) roles: Roles,
}

impl Chart {
    /// Every company has an account in each role. One that was made before there were charts names them first: the role
    /// that nobody has is told.
    pub fn new(
        accounts: impl IntoIterator<Item = Account>,
        held: &BTreeMap<SystemRole, RecordId>,
    ) -> Result<Self, SystemRole> {
        let accounts: HashMap<RecordId, Arc<Account>> =
            accounts.into_iter().map(|account| (account.id, Arc::new(account))).collect();
        let roles = Roles::of(|role| accounts.get(held.get(&role)?).cloned())?;
        Ok(Self { accounts, roles })
    }

    pub fn count(&self) -> usize {
        self.accounts.len()
    }

    pub fn accounts(&self) -> impl Iterator<Item = &Account> {
        self.accounts.values().map(AsRef::as_ref)
    }

    pub fn account(&self, id: RecordId) -> Option<&Account> {
        self.accounts.get(&id).map(AsRef::as_ref)
    }

    pub fn roles(&self) -> &Roles {
        &self.roles
    }
}

/// An account that a new company begins with.
#[derive(Debug, Clone, Copy)]
pub struct Blueprint {
    pub code: &'static str,
    pub name: &'static str,
    pub r#type: AccountType,
    pub parent: Option<&'static str>,
    pub is_group: bool,
    pub role: Option<SystemRole>,
}

impl Blueprint {
    /// The account that a role has from the start.
    pub fn of(role: SystemRole) -> Option<&'static Self> {
        SYSTEM.iter().find(|blueprint| blueprint.role == Some(role))
    }

    /// The sub-ledger that keeps the account.
    pub fn keeper(&self) -> Keeper {
        if self.is_group { Keeper::None } else { Keeper::of(self.r#type, false, self.role.as_slice(), false) }
    }

    /// Whether an account of a type can stand in for this one.
    pub fn suits(&self, r#type: AccountType) -> bool {
        match self.r#type {
            T::Receivable | T::Payable | T::Inventory => r#type == self.r#type,
            _ => r#type.class() == self.r#type.class() && !matches!(r#type, T::Receivable | T::Payable | T::Inventory),
        }
    }
}

const fn group(code: &'static str, name: &'static str, r#type: AccountType) -> Blueprint {
    Blueprint { code, name, r#type, parent: None, is_group: true, role: None }
}

const fn system(
    code: &'static str,
    name: &'static str,
    r#type: AccountType,
    parent: &'static str,
    role: SystemRole,
) -> Blueprint {
    Blueprint { code, name, r#type, parent: Some(parent), is_group: false, role: Some(role) }
}

const fn plain(code: &'static str, name: &'static str, r#type: AccountType, parent: &'static str) -> Blueprint {
    Blueprint { code, name, r#type, parent: Some(parent), is_group: false, role: None }
}

use AccountType as T;
use SystemRole as R;

const GROUPS: &[Blueprint] = &[
    group("1", "Assets", T::CurrentAsset),
    group("2", "Liabilities", T::CurrentLiability),
    group("3", "Equity", T::Equity),
    group("4", "Income", T::Income),
    group("5", "Cost of sales", T::Cogs),
    group("6", "Expenses", T::Expense),
];

const SYSTEM: &[Blueprint] = &[
    system("1200", "Accounts receivable", T::Receivable, "1", R::Receivable),
    system("1210", "Revaluation of receivables", T::CurrentAsset, "1", R::ReceivableRevaluation),
    system("1300", "Inventory", T::Inventory, "1", R::Inventory),
    system("1350", "Goods delivered, not invoiced", T::CurrentAsset, "1", R::GoodsDeliveredNotInvoiced),
    system("1400", "Input tax", T::CurrentAsset, "1", R::InputTax),
    system("1405", "Input tax not yet due", T::CurrentAsset, "1", R::InputTaxNotDue),
    system("1410", "Withholding tax receivable", T::CurrentAsset, "1", R::WithholdingReceivable),
    system("1500", "Advances to suppliers", T::Prepayment, "1", R::SupplierAdvances),
    system("2100", "Accounts payable", T::Payable, "2", R::Payable),
    system("2110", "Revaluation of payables", T::CurrentLiability, "2", R::PayableRevaluation),
    system("2150", "Goods received, not invoiced", T::CurrentLiability, "2", R::GoodsReceivedNotInvoiced),
    system("2200", "Output tax", T::TaxPayable, "2", R::OutputTax),
    system("2205", "Output tax not yet due", T::TaxPayable, "2", R::OutputTaxNotDue),
    system("2210", "Withholding tax payable", T::TaxPayable, "2", R::WithholdingPayable),
    system("2300", "Advances from customers", T::CurrentLiability, "2", R::CustomerAdvances),
    system("3200", "Retained earnings", T::RetainedEarnings, "3", R::RetainedEarnings),
    system("3900", "Opening balances", T::Equity, "3", R::OpeningBalanceEquity),
    system("4000", "Sales", T::Income, "4", R::Income),
    system("4800", "Discounts received", T::OtherIncome, "4", R::DiscountReceived),
    system("4900", "Realised exchange differences", T::OtherIncome, "4", R::RealisedExchange),
    system("4910", "Unrealised exchange differences", T::OtherIncome, "4", R::UnrealisedExchange),
    system("5000", "Cost of goods sold", T::Cogs, "5", R::CostOfSales),
    system("5100", "Purchase price variance", T::Cogs, "5", R::PurchasePriceVariance),
    system("5200", "Inventory adjustments", T::Cogs, "5", R::InventoryAdjustment),
    system("6000", "General expenses", T::Expense, "6", R::Expense),
    system("6800", "Bank fees", T::Expense, "6", R::BankFees),
    system("6810", "Bad debts", T::Expense, "6", R::BadDebt),
    system("6820", "Discounts given", T::OtherExpense, "6", R::DiscountGiven),
    system("6900", "Rounding differences", T::OtherExpense, "6", R::Rounding),
];

const COMMON: &[Blueprint] = &[
    plain("1000", "Cash on hand", T::Cash, "1"),
    plain("1010", "Bank", T::Bank, "1"),
    plain("1600", "Equipment", T::FixedAsset, "1"),
    plain("1690", "Accumulated depreciation", T::FixedAsset, "1"),
    plain("2400", "Credit card", T::CreditCard, "2"),
    plain("2500", "Accrued liabilities", T::CurrentLiability, "2"),
    plain("2600", "Wages payable", T::CurrentLiability, "2"),
    plain("2700", "Loans", T::LongTermLiability, "2"),
    plain("3000", "Owner's capital", T::Equity, "3"),
    plain("3100", "Drawings", T::Equity, "3"),
    plain("4700", "Interest income", T::OtherIncome, "4"),
    plain("6100", "Wages and salaries", T::Expense, "6"),
    plain("6200", "Rent", T::Expense, "6"),
    plain("6300", "Utilities", T::Expense, "6"),
    plain("6400", "Office expenses", T::Expense, "6"),
    plain("6500", "Travel", T::Expense, "6"),
    plain("6600", "Professional fees", T::Expense, "6"),
    plain("6700", "Depreciation", T::Depreciation, "6"),
    plain("6850", "Interest expense", T::OtherExpense, "6"),
];

const FOR_SERVICES: &[Blueprint] =
    &[plain("4100", "Fees for services", T::Income, "4"), plain("5300", "Subcontractors", T::Cogs, "5")];

const FOR_TRADING: &[Blueprint] = &[
    plain("1310", "Goods in transit", T::Inventory, "1"),
    plain("4200", "Shipping charged to customers", T::Income, "4"),
    plain("5400", "Freight inwards", T::Cogs, "5"),
    plain("5500", "Customs duties", T::Cogs, "5"),
];

impl ChartTemplate {
    /// Its accounts, parents before their children.
    pub fn accounts(self) -> Vec<Blueprint> {
        let parts: &[&[Blueprint]] = match self {
            Self::General => &[GROUPS, COMMON, SYSTEM, FOR_SERVICES, FOR_TRADING],
            Self::Services => &[GROUPS, COMMON, SYSTEM, FOR_SERVICES],
            Self::Trading => &[GROUPS, COMMON, SYSTEM, FOR_TRADING],
            Self::Empty => &[SYSTEM],
        };
        let mut accounts = parts.concat();
        if self == Self::Empty {
            for account in &mut accounts {
                account.parent = None;
            }
        }
        accounts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEMPLATES: [ChartTemplate; 4] =
        [ChartTemplate::General, ChartTemplate::Services, ChartTemplate::Trading, ChartTemplate::Empty];

    #[test]
    fn every_template_fills_every_role_once() {
        for template in TEMPLATES {
            let mut roles: Vec<&str> =
                template.accounts().iter().filter_map(|account| Some(account.role?.as_str())).collect();
            let mut all = SystemRole::TEXTS.to_vec();
            roles.sort_unstable();
            all.sort_unstable();
            assert_eq!(roles, all, "{template}");
        }
    }

    #[test]
    fn codes_are_unique_and_children_are_of_their_parents_class() {
        for template in TEMPLATES {
            let accounts = template.accounts();
            for (index, account) in accounts.iter().enumerate() {
                assert!(accounts[..index].iter().all(|earlier| earlier.code != account.code), "{}", account.code);
                if let Some(parent) = account.parent {
                    let parent = accounts[..index].iter().find(|earlier| earlier.code == parent).unwrap();
                    assert!(parent.is_group && parent.r#type.class() == account.r#type.class(), "{}", account.code);
                }
            }
        }
    }
}
