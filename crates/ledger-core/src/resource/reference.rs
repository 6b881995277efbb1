//! Names of other records in a body: whether they exist and suit.

use crate::books::chart::Chart;
use crate::cx::Cx;
use crate::error::{FieldErrors, Result};
use crate::ids::RecordId;
use crate::resource::account::{AccountClass, AccountType};
use crate::resource::payment_term::{MasterStatus, Terms};
use crate::resource::tax_code::{TaxCodes, TaxDirection};
use crate::resource::{item, party};
use sea_orm::{ColumnTrait, Condition, EntityTrait, PaginatorTrait, QueryFilter};
use std::sync::Arc;

/// Whether an item, a party or a tax code names an account.
pub(crate) async fn names_account(cx: &Cx<'_>, account: RecordId) -> Result<bool> {
    let business = cx.business_id()?;
    let items = item::table::Entity::find().filter(item::table::Column::BusinessId.eq(business)).filter(
        Condition::any()
            .add(item::table::Column::IncomeAccountId.eq(account))
            .add(item::table::Column::ExpenseAccountId.eq(account))
            .add(item::table::Column::InventoryAccountId.eq(account))
            .add(item::table::Column::CogsAccountId.eq(account)),
    );
    let parties = party::table::Entity::find().filter(party::table::Column::BusinessId.eq(business)).filter(
        Condition::any()
            .add(party::table::Column::ReceivableAccountId.eq(account))
            .add(party::table::Column::PayableAccountId.eq(account))
            .add(party::table::Column::SalesAccountId.eq(account))
            .add(party::table::Column::PurchaseAccountId.eq(account)),
    );
    let codes = TaxCodes::load(&cx.db, business).await?;
    Ok(codes.name_account(account) || items.count(&cx.db).await? > 0 || parties.count(&cx.db).await? > 0)
}

/// What an account must be to stand in a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    Any,
    Type(AccountType),
    Class(AccountClass),
    /// Money in hand or at the bank.
    Cash,
}

impl Wanted {
    fn suits(self, r#type: AccountType) -> bool {
        match self {
            Self::Any => true,
            Self::Type(wanted) => r#type == wanted,
            Self::Class(wanted) => r#type.class() == wanted && !r#type.is_control(),
            Self::Cash => r#type.holds_money(),
        }
    }

    fn words(self) -> String {
        match self {
            Self::Any => "any account".into(),
            Self::Type(wanted) => format!("an account of type {wanted}"),
            Self::Class(AccountClass::Income) => "an income account".into(),
            Self::Class(wanted) => format!("an account of class {wanted}"),
            Self::Cash => "a bank, cash or credit card account".into(),
        }
    }
}

/// Looks references up, and gathers the faults of a body.
pub(crate) struct References {
    pub(crate) chart: Arc<Chart>,
    pub(crate) taxes: Arc<TaxCodes>,
    pub(crate) terms: Arc<Terms>,
    pub(crate) faults: FieldErrors,
}

impl References {
    pub(crate) async fn of(cx: &Cx<'_>) -> Result<Self> {
        Ok(Self {
            chart: cx.chart().await?,
            taxes: cx.taxes().await?,
            terms: cx.terms().await?,
            faults: FieldErrors::default(),
        })
    }

    pub(crate) fn account(&mut self, field: &str, id: Option<RecordId>, wanted: Wanted) {
        let Some(id) = id else { return };
        let fault = match self.chart.account(id) {
            None => "names no account".into(),
            Some(account) if account.is_group => format!("names the group {}; name an account in it", account.code),
            Some(account) if !wanted.suits(account.r#type) => format!("must name {}", wanted.words()),
            Some(account) if self.chart.is_kept_by_notes(account) => {
                format!("names the account {}, which only the documents post to that move goods", account.code)
            }
            Some(account) if account.archived => format!("names the account {}, which is archived", account.code),
            Some(_) => return,
        };
        self.faults.add(field, fault);
    }

    pub(crate) fn tax_code(&mut self, field: &str, id: Option<RecordId>, direction: TaxDirection) {
        let Some(id) = id else { return };
        let fault = match self.taxes.get(id) {
            None => "names no tax code".into(),
            Some(code) if !code.direction.allows(direction) => {
                format!("names the tax code {}, which is not for {direction}", code.code)
            }
            Some(code) if code.status == MasterStatus::Archived => {
                format!("names the tax code {}, which is archived", code.code)
            }
            Some(_) => return,
        };
        self.faults.add(field, fault);
    }

    pub(crate) fn term(&mut self, field: &str, id: Option<RecordId>) {
        let Some(id) = id else { return };
        let fault = match self.terms.get(id) {
            None => "names no payment term".into(),
            Some(term) if term.status == MasterStatus::Archived => {
                format!("names the term {}, which is archived", term.name)
            }
            Some(_) => return,
        };
        self.faults.add(field, fault);
    }

    pub(crate) fn finish(self) -> Result<()> {
        if self.faults.is_empty() { Ok(()) } else { Err(self.faults.into()) }
    }
}
