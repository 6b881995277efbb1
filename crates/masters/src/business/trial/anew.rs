//! A company made anew from another: the rows that it begins with, each under an identifier of its own.
//!
//! Owns: what of another company comes over, and that nobody is told of by it who shall not be. It reads the other one
//! and writes nothing there.

use crate::account::keepers::settle;
use crate::error::{Code, Error, Result};
use crate::ids::{BusinessId, RecordId, UserId};
use crate::permission;
use crate::stored::AsJson;
use crate::texts::search_key;
use answers::Ask;
use books::BEFORE_THE_FIRST;
use books::auth::user::{self, UserStatus};
use books::cx::Cx;
use rules::account::AccountType;
use schema::address::search_text;
use schema::fiscal_year::FiscalYearStatus;
use schema::rights::Role;
use schema::tables::{party_balances, stock};
use schema::{
    account, business, exchange_rate, fiscal_year, item, membership, number_series, party, payment_term,
    permission as sets, tax_code,
};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, EntityTrait, IntoActiveModel, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect,
};
use std::collections::{BTreeMap, HashMap, HashSet};

/// What people typed beside the names and numbers of the chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Texts {
    AsTheyAre,
    /// None of it comes over: nobody is told of by it.
    LeftBehind,
}

/// So many records are copied in one command: others wait for the lane meanwhile.
const MOST: u64 = 10_000;

/// So many rows are written in one statement: an engine takes some 32 000 values at once.
const AT_ONCE: usize = 400;

pub(super) struct Anew<'c, 'x> {
    cx: &'c Cx<'x>,
    from: BusinessId,
    to: BusinessId,
    texts: Texts,
    ids: HashMap<RecordId, RecordId>,
}

/// The rows of a table that belong to a company.
macro_rules! rows_of {
    ($anew:expr, $table:ident) => {
        $table::Entity::find()
            .filter($table::Column::BusinessId.eq($anew.from))
            .order_by_asc($table::Column::Id)
            .models(&$anew.cx.db)
            .await?
    };
}

/// A row in the new company: as it was but for what is said of it, and as if the caller had just made it.
macro_rules! made_anew {
    ($anew:expr, $table:ident, $row:ident, { $($column:ident: $value:expr),* $(,)? }) => {{
        let id = $anew.id($row.id);
        $table::Model {
            business_id: $anew.to,
            id,
            $($column: $value,)*
            version: 1,
            created_at: $anew.cx.now,
            created_by: $anew.cx.user,
            updated_at: $anew.cx.now,
            updated_by: $anew.cx.user,
            ..$row
        }
    }};
}

impl<'c, 'x> Anew<'c, 'x> {
    pub(super) fn of(cx: &'c Cx<'x>, from: BusinessId, texts: Texts) -> Self {
        Self { cx, from, to: BusinessId(cx.new_id()), texts, ids: HashMap::new() }
    }

    /// What each record is called in the new company.
    pub(super) fn ids(self) -> HashMap<RecordId, RecordId> {
        self.ids
    }

    /// What a record is called in the new company.
    fn id(&mut self, old: RecordId) -> RecordId {
        let cx = self.cx;
        *self.ids.entry(old).or_insert_with(|| RecordId(cx.new_id()))
    }

    fn named(&mut self, old: Option<RecordId>) -> Option<RecordId> {
        old.map(|old| self.id(old))
    }

    /// What somebody typed, where it comes over.
    fn typed<T>(&self, said: Option<T>) -> Option<T> {
        said.filter(|_| self.texts == Texts::AsTheyAre)
    }

    fn labels(&self, said: AsJson<Vec<String>>) -> AsJson<Vec<String>> {
        if self.texts == Texts::AsTheyAre { said } else { AsJson(Vec::new()) }
    }

    async fn put<M, A>(&self, rows: Vec<M>) -> Result<()>
    where
        M: IntoActiveModel<A> + Send,
        A: ActiveModelTrait + Send,
    {
        let mut rows = rows.into_iter().map(IntoActiveModel::into_active_model).peekable();
        while rows.peek().is_some() {
            let some: Vec<A> = rows.by_ref().take(AT_ONCE).collect();
            A::Entity::insert_many(some).exec_without_returning(&self.cx.db).await?;
        }
        Ok(())
    }

    /// Refuses what would keep others waiting for long.
    pub(super) async fn check_bounds(&self) -> Result<()> {
        let mut all = 0;
        macro_rules! count {
            ($($table:ident),*) => {$(
                let of = $table::Entity::find().filter($table::Column::BusinessId.eq(self.from));
                all += of.count(&self.cx.db).await?;
            )*};
        }
        count!(account, tax_code, payment_term, number_series, fiscal_year, exchange_rate, sets);
        if self.texts == Texts::LeftBehind {
            count!(item, party, party_balances, stock);
        } else {
            count!(membership);
        }
        if all <= MOST {
            return Ok(());
        }
        let why = format!("{all} records and balances of the company would come over; at most {MOST} do at once");
        Err(Error::conflict(Code::Conflict, why))
    }

    /// The company itself, a trial.
    pub(super) async fn company(&mut self, of: &business::Model, name: &str) -> Result<BusinessId> {
        let held = of.system_accounts.0.iter().map(|(role, account)| (*role, self.id(*account)));
        let held: BTreeMap<_, _> = held.collect();
        let of = of.clone();
        let name = name.to_owned();
        let legal_name = self.typed(of.legal_name);
        let tax_number = self.typed(of.tax_number);
        let registration_number = self.typed(of.registration_number);
        let searched = [Some(&name), legal_name.as_ref(), tax_number.as_ref(), registration_number.as_ref()];
        let row = business::Model {
            id: self.to,
            name_key: search_key(&name),
            search: search_text(&searched),
            name,
            legal_name,
            tax_number,
            registration_number,
            address: self.typed(of.address),
            email: self.typed(of.email),
            phone: self.typed(of.phone),
            website: self.typed(of.website),
            external_id: self.typed(of.external_id),
            tags: self.labels(of.tags),
            system_accounts: AsJson(held),
            status: business::BusinessStatus::Active,
            is_trial: true,
            version: 1,
            created_at: self.cx.now,
            created_by: self.cx.user,
            updated_at: self.cx.now,
            updated_by: self.cx.user,
            ..of
        };
        self.put(vec![row]).await?;
        self.cx.found(self.to).await?;
        Ok(self.to)
    }

    /// How books are kept: accounts, taxes, terms, numbers, years and rates.
    pub(super) async fn how_books_are_kept(&mut self) -> Result<()> {
        let (mut accounts, mut codes, mut terms) = (Vec::new(), Vec::new(), Vec::new());
        for row in rows_of!(self, account) {
            let name = self.account_name(&row);
            let description = self.typed(row.description.clone());
            accounts.push(made_anew!(self, account, row, {
                name_key: search_key(&name),
                search: search_text(&[Some(&row.code), Some(&name), description.as_ref()]),
                name: name,
                description: description,
                parent_id: self.named(row.parent_id),
                bank_details: self.typed(row.bank_details.clone()),
                external_id: self.typed(row.external_id.clone()),
                tags: self.labels(row.tags.clone()),
                as_said_until: BEFORE_THE_FIRST,
            }));
        }
        self.put(accounts).await?;
        for mut row in rows_of!(self, tax_code) {
            for component in &mut row.components.0 {
                component.id = self.id(component.id);
                component.payable_account_id = self.named(component.payable_account_id);
                component.receivable_account_id = self.named(component.receivable_account_id);
            }
            codes.push(made_anew!(self, tax_code, row, { external_id: self.typed(row.external_id.clone()) }));
        }
        self.put(codes).await?;
        for row in rows_of!(self, payment_term) {
            terms.push(made_anew!(self, payment_term, row, { external_id: self.typed(row.external_id.clone()) }));
        }
        self.put(terms).await?;
        let mut series = Vec::new();
        for row in rows_of!(self, number_series) {
            series.push(made_anew!(self, number_series, row, {}));
        }
        self.put(series).await?;
        let mut years = Vec::new();
        for row in rows_of!(self, fiscal_year) {
            years.push(made_anew!(self, fiscal_year, row, { status: FiscalYearStatus::Open }));
        }
        self.put(years).await?;
        let mut rates = Vec::new();
        for row in rows_of!(self, exchange_rate) {
            let source = self.typed(row.source.clone());
            rates.push(made_anew!(self, exchange_rate, row, {
                search: search_text(&[Some(&row.currency), source.as_ref()]),
                source: source,
            }));
        }
        self.put(rates).await
    }

    /// Where money lies is often called by whose it is, or by its number at the bank.
    fn account_name(&self, row: &account::Model) -> String {
        let kind = match row.r#type {
            _ if self.texts == Texts::AsTheyAre => return row.name.clone(),
            AccountType::Bank => "Bank",
            AccountType::Cash => "Cash",
            AccountType::CreditCard => "Credit card",
            _ => return row.name.clone(),
        };
        format!("{kind} {}", row.code)
    }

    /// Who may do what there: as in the other company.
    pub(super) async fn people(&mut self) -> Result<()> {
        let mut rows = Vec::new();
        for row in rows_of!(self, sets) {
            rows.push(made_anew!(self, sets, row, {}));
        }
        self.put(rows).await?;
        let members = membership::Entity::find().filter(membership::Column::BusinessId.eq(self.from));
        let members = members.models(&self.cx.db).await?;
        // Whoever is only invited holds a code of the other company.
        let invited: HashSet<UserId> = user::Entity::find()
            .select_only()
            .column(user::Column::Id)
            .filter(user::Column::Id.is_in(members.iter().map(|member| member.user_id)))
            .filter(user::Column::Status.eq(UserStatus::Invited))
            .column_of(&self.cx.db)
            .await?
            .into_iter()
            .collect();
        let rows =
            members.into_iter().filter(|member| !invited.contains(&member.user_id)).map(|member| membership::Model {
                business_id: self.to,
                user_id: member.user_id,
                permission_id: self.id(member.permission_id),
            });
        let rows = rows.collect();
        self.put(rows).await
    }

    /// Who may do what there: the caller alone.
    pub(super) async fn owned_by_caller(&self) -> Result<()> {
        let sets = permission::plant(self.cx, self.to).await?;
        let owns = sets.get(&Role::Owner).copied();
        let permission_id = owns.ok_or_else(|| Error::internal("a company has no set of rights for its owner"))?;
        self.put(vec![membership::Model { business_id: self.to, user_id: self.cx.user, permission_id }]).await
    }

    pub(super) async fn items(&mut self) -> Result<()> {
        let mut rows = Vec::new();
        for row in rows_of!(self, item) {
            let description = self.typed(row.description.clone());
            rows.push(made_anew!(self, item, row, {
                search: search_text(&[Some(&row.name), row.code.as_ref(), row.barcode.as_ref(), description.as_ref()]),
                description: description,
                purchase_description: self.typed(row.purchase_description.clone()),
                sales_tax_code_id: self.named(row.sales_tax_code_id),
                purchase_tax_code_id: self.named(row.purchase_tax_code_id),
                income_account_id: self.named(row.income_account_id),
                expense_account_id: self.named(row.expense_account_id),
                inventory_account_id: self.named(row.inventory_account_id),
                cogs_account_id: self.named(row.cogs_account_id),
                external_id: self.typed(row.external_id.clone()),
                tags: self.labels(row.tags.clone()),
            }));
        }
        self.put(rows).await
    }

    /// As many parties as there are, and nothing of who they are. One that became part of another is none any more.
    pub(super) async fn parties(&mut self) -> Result<()> {
        let mut rows = Vec::new();
        for (place, row) in (1..).zip(rows_of!(self, party)) {
            if row.merged_into_id.is_some() {
                continue;
            }
            let (name, code) = invented(row.is_customer, place);
            rows.push(made_anew!(self, party, row, {
                name_key: search_key(&name),
                search: search_text(&[Some(&name), Some(&code)]),
                name: name,
                code: Some(code),
                tax_number: None,
                registration_number: None,
                email: None,
                phone: None,
                website: None,
                billing_address: None,
                shipping_address: None,
                contacts: AsJson(Vec::new()),
                payment_term_id: self.named(row.payment_term_id),
                receivable_account_id: self.named(row.receivable_account_id),
                payable_account_id: self.named(row.payable_account_id),
                sales_account_id: self.named(row.sales_account_id),
                purchase_account_id: self.named(row.purchase_account_id),
                sales_tax_code_id: self.named(row.sales_tax_code_id),
                purchase_tax_code_id: self.named(row.purchase_tax_code_id),
                bank_details: None,
                peppol_id: None,
                notes: None,
                external_id: None,
                tags: AsJson(Vec::new()),
            }));
        }
        self.put(rows).await
    }

    /// Accounts are kept by what they are and are used for, since nothing is posted to them yet.
    pub(super) async fn settled(&self) -> Result<()> {
        let chart = account::Entity::find().filter(account::Column::BusinessId.eq(self.to));
        let accounts: HashSet<RecordId> = chart.models(&self.cx.db).await?.into_iter().map(|row| row.id).collect();
        settle(self.cx, self.to, accounts).await
    }
}

/// What a party is called of which nobody is told.
fn invented(is_customer: bool, place: usize) -> (String, String) {
    let (kind, letter) = if is_customer { ("Customer", 'C') } else { ("Supplier", 'S') };
    (format!("{kind} {place}"), format!("{letter}-{place}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_copied_is_called_by_what_they_are_and_their_place() {
        assert_eq!(invented(true, 12), ("Customer 12".to_owned(), "C-12".to_owned()));
        assert_eq!(invented(false, 3), ("Supplier 3".to_owned(), "S-3".to_owned()));
    }
}
