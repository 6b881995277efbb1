//! Tax codes as they are kept, and what is added by one in all.

use crate::clock::Instant;
use crate::day::Day;
use crate::ids::{BusinessId, RecordId, UserId};
use crate::money::{Percent, Rate};
use crate::payment_term::MasterStatus;
use crate::stored::AsJson;
pub use rules::tax::{TaxComponent, TaxDirection, TaxKind};
use rust_decimal::Decimal;
use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "tax_codes")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub business_id: BusinessId,
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: RecordId,
    pub code: String,
    pub name: String,
    pub name_key: String,
    pub direction: TaxDirection,
    pub category: Option<String>,
    pub report_box: Option<String>,
    pub components: AsJson<Vec<TaxComponent>>,
    pub valid_from: Option<Day>,
    pub valid_to: Option<Day>,
    pub status: MasterStatus,
    pub external_id: Option<String>,
    pub search: String,
    pub version: i64,
    pub created_at: Instant,
    pub created_by: UserId,
    pub updated_at: Instant,
    pub updated_by: UserId,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

answers::asked_whole!(Entity);

/// What is added to a price.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Added {
    /// As a share of it.
    pub share: Decimal,
    /// For each unit, in the currency that it is asked for in.
    pub fixed: Decimal,
}

impl Model {
    /// What is added to the price of one on a day, in a currency of which one is worth so many of the company's.
    pub fn added_on(&self, day: Day, rate: Rate) -> Added {
        let share = effective_rate(&self.components.0, day).decimal() / Percent::HUNDRED.decimal();
        Added { share, fixed: fixed_on(&self.components.0, day) / rate.decimal() }
    }
}

/// What is added for each unit, in the company's currency: compound components count on it as well.
fn fixed_on(components: &[TaxComponent], day: Day) -> Decimal {
    let hundred = Percent::HUNDRED.decimal();
    components.iter().fold(Decimal::ZERO, |fixed, component| match component.kind {
        TaxKind::FixedPerUnit => fixed + component.rate_on(day).decimal(),
        TaxKind::Standard if component.is_compound => fixed + fixed * component.rate_on(day).decimal() / hundred,
        _ => fixed,
    })
}

/// All that is added to an amount: compound components count on those before.
pub fn effective_rate(components: &[TaxComponent], day: Day) -> Percent {
    let hundred = Percent::HUNDRED.decimal();
    let mut sum = Percent::ZERO.decimal();
    for component in components.iter().filter(|component| component.kind == TaxKind::Standard) {
        let on = if component.is_compound { hundred + sum } else { hundred };
        sum += component.rate_on(day).decimal() * on / hundred;
    }
    Percent::parse(&sum.round_dp(Percent::PLACES).to_string()).unwrap_or_default()
}
