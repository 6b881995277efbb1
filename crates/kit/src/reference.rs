//! Names of other records in a body: whether they exist and suit.

use crate::error::{FieldErrors, Result};
use crate::ids::RecordId;
use books::chart::Chart;
use books::cx::Cx;
use books::tax_codes::TaxCodes;
use books::terms::Terms;
use rules::purpose::Purpose;
use rules::refusal::Refusal;
use rules::tax::TaxDirection;
use schema::payment_term::MasterStatus;
use sea_orm::{ColumnTrait, Condition, PaginatorTrait, QueryFilter};
use std::collections::HashSet;
use std::sync::Arc;

/// Whether an item, a party or a tax code names an account.
pub async fn names_account(cx: &Cx<'_>, account: RecordId) -> Result<bool> {
    let business = cx.business_id()?;
    let items = schema::item::Entity::find().filter(schema::item::Column::BusinessId.eq(business)).filter(
        Condition::any()
            .add(schema::item::Column::IncomeAccountId.eq(account))
            .add(schema::item::Column::ExpenseAccountId.eq(account))
            .add(schema::item::Column::InventoryAccountId.eq(account))
            .add(schema::item::Column::CogsAccountId.eq(account)),
    );
    let parties = schema::party::Entity::find().filter(schema::party::Column::BusinessId.eq(business)).filter(
        Condition::any()
            .add(schema::party::Column::ReceivableAccountId.eq(account))
            .add(schema::party::Column::PayableAccountId.eq(account))
            .add(schema::party::Column::SalesAccountId.eq(account))
            .add(schema::party::Column::PurchaseAccountId.eq(account)),
    );
    let codes = TaxCodes::load(&cx.db, business).await?;
    Ok(codes.name_account(account) || items.count(&cx.db).await? > 0 || parties.count(&cx.db).await? > 0)
}

/// What a record named already. It may stay, whatever became of it since: only what is newly named is judged by what it is
/// now. It is no part of what is asked.
#[derive(Debug, Clone, Default)]
pub struct Held(HashSet<RecordId>);

impl PartialEq for Held {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Held {
    pub fn has(&self, id: RecordId) -> bool {
        self.0.contains(&id)
    }
}

impl Extend<RecordId> for Held {
    fn extend<I: IntoIterator<Item = RecordId>>(&mut self, named: I) {
        self.0.extend(named);
    }
}

impl FromIterator<RecordId> for Held {
    fn from_iter<I: IntoIterator<Item = RecordId>>(named: I) -> Self {
        Self(named.into_iter().collect())
    }
}

/// Looks references up, and gathers the faults of a body.
pub struct References {
    pub chart: Arc<Chart>,
    pub taxes: Arc<TaxCodes>,
    pub terms: Arc<Terms>,
    pub faults: FieldErrors,
    /// What may stay as it is.
    pub held: Held,
}

impl References {
    pub async fn of(cx: &Cx<'_>) -> Result<Self> {
        Ok(Self {
            chart: cx.chart().await?,
            taxes: cx.taxes().await?,
            terms: cx.terms().await?,
            faults: FieldErrors::default(),
            held: Held::default(),
        })
    }

    /// The same, beside what may stay as it is.
    pub async fn holding(cx: &Cx<'_>, held: Held) -> Result<Self> {
        Ok(Self { held, ..Self::of(cx).await? })
    }

    /// Judges an account by what a field names it for.
    pub fn account(&mut self, field: &str, id: Option<RecordId>, purpose: Purpose) {
        let Some(id) = id else { return };
        let answer = self.chart.judge(id, purpose).map(drop);
        self.note(field, answer);
    }

    /// Notes what the chart refuses.
    pub fn note<T>(&mut self, field: &str, answer: Result<T, Refusal>) {
        if let Err(refusal) = answer {
            self.faults.add(field, refusal.to_string());
        }
    }

    pub fn tax_code(&mut self, field: &str, id: Option<RecordId>, direction: TaxDirection) {
        let Some(id) = id else { return };
        let fault = match self.taxes.get(id) {
            None => "names no tax code".into(),
            Some(_) if self.held.has(id) => return,
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

    pub fn term(&mut self, field: &str, id: Option<RecordId>) {
        let Some(id) = id else { return };
        let fault = match self.terms.get(id) {
            None => "names no payment term".into(),
            Some(_) if self.held.has(id) => return,
            Some(term) if term.status == MasterStatus::Archived => {
                format!("names the term {}, which is archived", term.name)
            }
            Some(_) => return,
        };
        self.faults.add(field, fault);
    }

    pub fn finish(self) -> Result<()> {
        if self.faults.is_empty() { Ok(()) } else { Err(self.faults.into()) }
    }
}
