//! Years that are closed: at their end nothing stands on what they earned and spent.

use super::{Check, Findings, Walk, Wide, shown};
use crate::error::Result;
use crate::ids::RecordId;
use answers::Ask;
use schema::account as accounts;
use schema::account::AccountClass;
use schema::fiscal_year::{self as years, FiscalYearStatus};
use schema::reader::Reader;
use sea_orm::{ColumnTrait, QueryFilter, QueryOrder};
use std::collections::{BTreeMap, HashMap};

pub(super) async fn check(reader: &Reader<'_>, walk: &Walk) -> Result<Check> {
    let business = reader.id();
    let closed = years::Entity::find()
        .filter(years::Column::BusinessId.eq(business))
        .filter(years::Column::Status.eq(FiscalYearStatus::Closed))
        .order_by_asc(years::Column::Starts)
        .models(&reader.db)
        .await?;
    let chart = accounts::Entity::find().filter(accounts::Column::BusinessId.eq(business)).models(&reader.db).await?;
    let is_earned = |class| matches!(class, AccountClass::Income | AccountClass::Expense);
    let earned: HashMap<RecordId, &accounts::Model> =
        chart.iter().filter(|account| is_earned(account.r#type.class())).map(|account| (account.id, account)).collect();
    let (mut left, mut findings) = (0, Findings::default());
    for year in &closed {
        let mut sums: BTreeMap<&str, Wide> = BTreeMap::new();
        for ((id, _, day), (debit, credit, ..)) in &walk.days {
            if let Some(account) = earned.get(id).filter(|_| *day <= year.ends) {
                *sums.entry(&account.code).or_default() += debit - credit;
            }
        }
        for (code, sum) in sums.into_iter().filter(|(_, sum)| *sum != 0) {
            left += sum.abs();
            findings.add(format!("{}: {code} is {} on {}", year.name, shown(sum), year.ends));
        }
    }
    let name = "A closed year leaves nothing on what it earned and spent";
    Ok(Check::of("Y1", name, shown(left), shown(0), findings))
}
