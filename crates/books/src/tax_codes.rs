//! The tax codes of a company, as its documents are judged by them, and what the accounts of tax keep.

use crate::chart::Chart;
use crate::error::Result;
use crate::ids::{BusinessId, RecordId};
use rules::account::AccountClass;
use rules::keeper::Keeper;
use rules::tax::facts::{Code, TaxDuty};
use schema::tax_code as table;
use sea_orm::{ColumnTrait, ConnectionTrait, QueryFilter};
use table::Column;

/// All tax codes of a company.
#[derive(Debug, Default)]
pub struct TaxCodes(Vec<table::Model>);

impl TaxCodes {
    pub async fn load(connection: &impl ConnectionTrait, business: BusinessId) -> Result<Self> {
        Ok(Self(table::Entity::find().filter(Column::BusinessId.eq(business)).all(connection).await?))
    }

    /// For tables of cases.
    #[cfg(any(test, feature = "samples"))]
    pub fn sample(codes: impl IntoIterator<Item = table::Model>) -> Self {
        Self(codes.into_iter().collect())
    }

    pub fn get(&self, id: RecordId) -> Option<&table::Model> {
        self.0.iter().find(|code| code.id == id)
    }

    /// A code, as facts of tax are made of it.
    pub fn code(&self, id: RecordId) -> Option<Code<'_>> {
        self.get(id).map(|row| Code {
            direction: row.direction,
            category: row.category.as_deref(),
            report_box: row.report_box.as_deref(),
            components: &row.components.0,
        })
    }

    pub fn name_account(&self, account: RecordId) -> bool {
        let mut components = self.0.iter().flat_map(|code| &code.components.0);
        components.any(|one| [one.payable_account_id, one.receivable_account_id].contains(&Some(account)))
    }
}

/// What an account of tax keeps; nothing of one that keeps none.
pub fn kept_as(chart: &Chart, id: RecordId) -> Option<TaxDuty> {
    let account = chart.account(id).filter(|account| account.keeper == Keeper::Tax)?;
    let roles = chart.roles();
    let of_roles = [
        (&roles.output_tax, TaxDuty::Owed),
        (&roles.input_tax, TaxDuty::Claimed),
        (&roles.withholding_payable, TaxDuty::WithheldByUs),
        (&roles.withholding_receivable, TaxDuty::WithheldFromUs),
    ];
    let of_role = of_roles.into_iter().find(|(known, _)| known.id() == id).map(|(_, duty)| duty);
    let of_class = if account.r#type.class() == AccountClass::Asset { TaxDuty::Claimed } else { TaxDuty::Owed };
    Some(of_role.unwrap_or(of_class))
}
