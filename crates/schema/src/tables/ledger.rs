//! Entries, their lines, and the sums that are kept beside them.

use super::table;
use crate::money::{BookMoney, Money, apart, of_home};
use sea_orm::sea_query::{Expr, Func, SimpleExpr};

table! {
    entries = "entries" {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: BusinessId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub number: i64,
        pub id: RecordId,
        pub date: Day,
        pub recorded_at: Instant,
        pub recorded_by: UserId,
        pub kind: EntryKind,
        pub document_kind: DocumentKind,
        pub document_id: RecordId,
        pub document_version: i64,
        pub document_number: Option<String>,
        pub reverses_id: Option<RecordId>,
        pub narration: Option<String>,
        pub total: BookMoney,
        /// What it is looked for by beside its document's number.
        pub search: String,
    }
}

/// Whether an entry is found by its document's number as that stands in its row: by every engine, however it is spelt.
pub fn is_found_by_its_number(number: &str) -> bool {
    number.is_ascii()
}

table! {
    entry_lines = "entry_lines" {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: BusinessId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub entry_number: i64,
        #[sea_orm(primary_key, auto_increment = false)]
        pub position: i64,
        pub account_id: RecordId,
        pub party_id: Option<Named>,
        pub date: Day,
        pub amount: BookMoney,
        pub currency: String,
        /// Nothing where it is the amount: see [`entry_lines::Model::own`].
        pub currency_amount: Option<Money>,
        pub description: Option<String>,
        pub due_date: Option<Day>,
        pub item_id: Option<RecordId>,
        pub quantity: Option<Quantity>,
        pub tax_code_id: Option<RecordId>,
        pub tax_component: Option<String>,
        pub tax_base: Option<BookMoney>,
    }
}

impl entry_lines::Model {
    /// What it moves in its currency.
    pub fn own(&self) -> Money {
        of_home(self.currency_amount, self.amount)
    }

    /// What its row says of that.
    pub fn said_of_own(own: Money, amount: BookMoney) -> Option<Money> {
        apart(own, amount)
    }
}

/// What lines move in their currencies, wherever a statement asks for it.
pub fn own_amount() -> SimpleExpr {
    let column = |column: entry_lines::Column| Expr::col((entry_lines::Entity, column));
    Func::coalesce([column(entry_lines::Column::CurrencyAmount), column(entry_lines::Column::Amount)]).into()
}

table! {
    account_days = "account_days" {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: BusinessId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub account_id: RecordId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub currency: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub date: Day,
        pub debit: BookMoney,
        pub credit: BookMoney,
        pub currency_amount: Money,
        /// How many lines that is.
        pub lines: i64,
    }
}

table! {
    account_months = "account_months" {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: BusinessId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub account_id: RecordId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub currency: String,
        /// Such as `2026-11`.
        #[sea_orm(primary_key, auto_increment = false)]
        pub month: String,
        pub debit: BookMoney,
        pub credit: BookMoney,
        pub currency_amount: Money,
        pub lines: i64,
    }
}

table! {
    /// What an account that holds no money was moved by on a day, in entries that moved money.
    cash_days = "cash_days" {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: BusinessId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub date: Day,
        #[sea_orm(primary_key, auto_increment = false)]
        pub account_id: RecordId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub document_kind: DocumentKind,
        #[sea_orm(primary_key, auto_increment = false)]
        pub kind: EntryKind,
        /// A debit positive.
        pub amount: BookMoney,
    }
}

table! {
    /// What is open with a party on a control account.
    party_balances = "party_balances" {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: BusinessId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub party_id: Named,
        #[sea_orm(primary_key, auto_increment = false)]
        pub account_id: RecordId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub currency: String,
        pub amount: BookMoney,
        pub currency_amount: Money,
    }
}

table! {
    /// What the lines of a party on an account came to in a month, and what happened to its open items there.
    party_months = "party_months" {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: BusinessId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub party_id: Named,
        #[sea_orm(primary_key, auto_increment = false)]
        pub account_id: RecordId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub currency: String,
        /// Such as `2026-11`.
        #[sea_orm(primary_key, auto_increment = false)]
        pub month: String,
        pub amount: BookMoney,
        pub currency_amount: Money,
        /// What happened to open items, in their currency.
        pub moved: Money,
        pub base_moved: BookMoney,
    }
}

table! {
    number_counters = "number_counters" {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: BusinessId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub series_id: RecordId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub period: String,
        pub last: i64,
        pub last_date: Day,
    }
}
