//! What an account is for, and what follows from it.

use words::wire_enum;

wire_enum! {
    /// The five classes of accounts.
    pub enum AccountClass {
        #[default]
        Asset = "asset",
        Liability = "liability",
        Equity = "equity",
        Income = "income",
        Expense = "expense",
    }
}

wire_enum! {
    /// The side on which an account's balance is expected.
    pub enum NormalBalance {
        #[default]
        Debit = "debit",
        Credit = "credit",
    }
}

wire_enum! {
    /// What an account is for.
    pub enum AccountType {
        #[default]
        Bank = "bank",
        Cash = "cash",
        Receivable = "receivable",
        Inventory = "inventory",
        CurrentAsset = "currentAsset",
        FixedAsset = "fixedAsset",
        NonCurrentAsset = "nonCurrentAsset",
        Prepayment = "prepayment",
        Payable = "payable",
        CreditCard = "creditCard",
        CurrentLiability = "currentLiability",
        TaxPayable = "taxPayable",
        LongTermLiability = "longTermLiability",
        Equity = "equity",
        RetainedEarnings = "retainedEarnings",
        Income = "income",
        OtherIncome = "otherIncome",
        Cogs = "cogs",
        Expense = "expense",
        OtherExpense = "otherExpense",
        Depreciation = "depreciation",
    }
}

impl AccountType {
    pub const fn class(self) -> AccountClass {
        match self {
            Self::Bank
            | Self::Cash
            | Self::Receivable
            | Self::Inventory
            | Self::CurrentAsset
            | Self::FixedAsset
            | Self::NonCurrentAsset
            | Self::Prepayment => AccountClass::Asset,
            Self::Payable | Self::CreditCard | Self::CurrentLiability | Self::TaxPayable | Self::LongTermLiability => {
                AccountClass::Liability
            }
            Self::Equity | Self::RetainedEarnings => AccountClass::Equity,
            Self::Income | Self::OtherIncome => AccountClass::Income,
            Self::Cogs | Self::Expense | Self::OtherExpense | Self::Depreciation => AccountClass::Expense,
        }
    }

    /// Whether its lines belong to parties, whose balances must add up to its own.
    pub const fn is_control(self) -> bool {
        matches!(self, Self::Receivable | Self::Payable)
    }

    /// Whether it holds money that can be moved.
    pub const fn holds_money(self) -> bool {
        matches!(self, Self::Bank | Self::Cash | Self::CreditCard)
    }

    /// Where its movements stand in the cash flow, unless the account says otherwise.
    pub const fn cash_flow_section(self) -> CashFlowSection {
        match self {
            Self::Bank | Self::Cash | Self::CreditCard => CashFlowSection::Cash,
            Self::FixedAsset | Self::NonCurrentAsset => CashFlowSection::Investing,
            Self::LongTermLiability | Self::Equity | Self::RetainedEarnings => CashFlowSection::Financing,
            _ => CashFlowSection::Operating,
        }
    }

    pub const fn may_be_foreign(self) -> bool {
        self.holds_money() || self.is_control()
    }
}

impl AccountClass {
    pub const fn normal_balance(self) -> NormalBalance {
        match self {
            Self::Asset | Self::Expense => NormalBalance::Debit,
            Self::Liability | Self::Equity | Self::Income => NormalBalance::Credit,
        }
    }
}

wire_enum! {
    /// Where an account's movements stand in the cash flow statement.
    pub enum CashFlowSection {
        #[default]
        Operating = "operating",
        Investing = "investing",
        Financing = "financing",
        Cash = "cash",
    }
}

wire_enum! {
    /// Whether new postings may name the account.
    pub enum AccountStatus {
        #[default]
        Active = "active",
        Archived = "archived",
    }
}
