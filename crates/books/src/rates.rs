//! What other currencies are worth, as documents take it and as amounts are judged by it.

use crate::cx::Cx;
use crate::day::Day;
use crate::error::Result;
use crate::money::Rate;
use schema::exchange_rate as table;
use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder};
use table::Column;

/// The latest rate of a currency on or before a day.
pub async fn on(cx: &Cx<'_>, currency: &str, day: Day) -> Result<Option<Rate>> {
    let latest = table::Entity::find()
        .filter(Column::BusinessId.eq(cx.business_id()?))
        .filter(Column::Currency.eq(currency))
        .filter(Column::Date.lte(day))
        .order_by_desc(Column::Date)
        .one(&cx.db)
        .await?;
    Ok(latest.map(|row| row.rate))
}

/// What the caller's amounts of a currency are judged by.
pub enum Judged {
    At(Rate),
    /// There is no rate.
    Unknown,
    /// There are none but the caller's own.
    OwnOnly,
}

/// The rate that a currency is judged by: the latest on or before a day, else the first after it. Whoever makes rates does
/// not move what they are held against: it is the larger of the company's rate and of the one that others made.
pub async fn judged(cx: &Cx<'_>, currency: &str, day: Day) -> Result<Judged> {
    let of_others = Condition::all().add(Column::CreatedBy.ne(cx.user)).add(Column::UpdatedBy.ne(cx.user));
    let Some(any) = nearest(cx, currency, day, Condition::all()).await? else { return Ok(Judged::Unknown) };
    Ok(nearest(cx, currency, day, of_others).await?.map_or(Judged::OwnOnly, |others| Judged::At(any.max(others))))
}

async fn nearest(cx: &Cx<'_>, currency: &str, day: Day, of_these: Condition) -> Result<Option<Rate>> {
    let rates = table::Entity::find()
        .filter(Column::BusinessId.eq(cx.business_id()?))
        .filter(of_these)
        .filter(Column::Currency.eq(currency));
    let latest = rates.clone().filter(Column::Date.lte(day)).order_by_desc(Column::Date).one(&cx.db).await?;
    let found = match latest {
        Some(latest) => Some(latest),
        None => rates.order_by_asc(Column::Date).one(&cx.db).await?,
    };
    Ok(found.map(|row| row.rate))
}
