//! What other currencies are worth, as documents take it and as amounts are judged by it.

use crate::cx::Cx;
use crate::day::Day;
use crate::error::{Error, Result};
use crate::money::{BookMoney, Money, Rate, Rounding};
use answers::Ask;
use schema::exchange_rate as table;
use sea_orm::{ColumnTrait, Condition, QueryFilter, QueryOrder};
use table::Column;
use words::currency::Currency;
use words::exact::{BookCoin, Exact, TooLarge};
use words::sown::{Fault, sown};

/// The latest rate of a currency on or before a day.
pub async fn on(cx: &Cx<'_>, currency: &str, day: Day) -> Result<Option<Rate>> {
    Ok(latest(cx, currency, day).await?.map(|row| row.rate))
}

async fn latest(cx: &Cx<'_>, currency: &str, day: Day) -> Result<Option<table::Model>> {
    let latest = table::Entity::find()
        .filter(Column::BusinessId.eq(cx.business_id()?))
        .filter(Column::Currency.eq(currency))
        .filter(Column::Date.lte(day))
        .order_by_desc(Column::Date)
        .model(&cx.db)
        .await?;
    Ok(latest)
}

/// An amount that is given for another.
pub struct Given<'g> {
    pub currency: &'g str,
    pub amount: Money,
    /// What the books carry all of it at, and how much that is: what it is worth where there is no rate for it.
    pub carried: Option<(BookMoney, Money)>,
}

/// For so long a rate says what its currency is worth.
const GOOD_FOR_DAYS: i64 = 366;

/// Refuses to take an amount for another that is worth something else altogether. What one currency brings in another says
/// how the rates of the day were; what nobody gets is no difference of exchange, and is given up by its own name.
pub async fn check_worth(cx: &Cx<'_>, field: &str, day: Day, (one, other): (&Given<'_>, &Given<'_>)) -> Result<()> {
    if one.currency == other.currency || sown(Fault::AnyWorthSettles) {
        return Ok(());
    }
    let (Some(worth), Some(for_)) = (worth(cx, one, day).await?, worth(cx, other, day).await?) else { return Ok(()) };
    let is_far = worth.is_far_from(&for_).map_err(|_| Error::too_large())?;
    if !is_far {
        return Ok(());
    }
    let business = cx.business()?;
    let coin = BookCoin::new(business.currency_decimals, Rounding::HalfEven);
    let [own, wanted] = [worth.all.round(coin), for_.all.round(coin)].map(|money| {
        money.map(|money| money.with_decimals(business.currency_decimals)).map_err(|_| Error::too_large())
    });
    let (own, wanted, base) = (own?, wanted?, &business.base_currency);
    Err(Error::field(
        field,
        format!(
            "is worth {own} {base} on {day}, for what is worth {wanted} {base}: at most twice or half of it is a \
             difference of exchange. What is given up goes to writeOffAmount; where the rate is another, enter it first"
        ),
    ))
}

/// Refuses an exchange rate that the company's own of the day knows nothing of.
pub async fn check_rate(cx: &Cx<'_>, field: &str, (currency, rate): (&str, Rate), day: Day) -> Result<()> {
    if currency == cx.business()?.base_currency || sown(Fault::AnyWorthSettles) {
        return Ok(());
    }
    let Some((known, since)) = known(cx, currency, day).await? else { return Ok(()) };
    let (rate, known_rate) = (Exact::from(rate), Exact::from(known));
    if !is_far(rate, known_rate).map_err(|_| Error::too_large())? {
        return Ok(());
    }
    let why =
        format!("must be at most twice or half of {known}, the rate of {since}; where it is another, enter it first");
    Err(Error::field(field, why))
}

/// What an amount is worth in the company's currency, and what one coin of it is.
struct Worth {
    all: Exact,
    coin: Exact,
}

impl Worth {
    /// A coin more or less is none of it: the last of what is left is paid in whole coins.
    fn is_far_from(&self, other: &Self) -> Result<bool, TooLarge> {
        let beyond = |one: &Self, other: &Self| is_beyond(one.all.minus(one.coin)?, other.all.plus(other.coin)?);
        Ok(beyond(self, other)? || beyond(other, self)?)
    }
}

/// More than twice as much, or less than half.
fn is_far(one: Exact, other: Exact) -> Result<bool, TooLarge> {
    Ok(is_beyond(one, other)? || is_beyond(other, one)?)
}

fn is_beyond(one: Exact, other: Exact) -> Result<bool, TooLarge> {
    Ok(one > other.plus(other)?)
}

async fn worth(cx: &Cx<'_>, given: &Given<'_>, day: Day) -> Result<Option<Worth>> {
    let decimals = Currency::known(given.currency, "what is exchanged")?.decimals();
    let (amount, coin) = (Exact::from(given.amount), Exact::from(Money::smallest(decimals)));
    let rate = if given.currency == cx.business()?.base_currency {
        Exact::ONE
    } else if let Some((rate, _)) = known(cx, given.currency, day).await? {
        Exact::from(rate)
    } else if let Some((base, own)) = given.carried.filter(|(_, own)| *own != Money::ZERO) {
        Exact::from(base).over(own).map_err(|_| Error::too_large())?
    } else {
        return Ok(None);
    };
    let times = |one: Exact| one.times(rate).map_err(|_| Error::too_large());
    Ok(Some(Worth { all: times(amount)?, coin: times(coin)? }))
}

/// The rate that the company knows for a day, and since when; not one that is older than a year.
async fn known(cx: &Cx<'_>, currency: &str, day: Day) -> Result<Option<(Rate, Day)>> {
    let latest = latest(cx, currency, day).await?.filter(|row| row.date >= day.plus_days(-GOOD_FOR_DAYS));
    Ok(latest.map(|row| (row.rate, row.date)))
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
    let latest = rates.clone().filter(Column::Date.lte(day)).order_by_desc(Column::Date).model(&cx.db).await?;
    let found = match latest {
        Some(latest) => Some(latest),
        None => rates.order_by_asc(Column::Date).model(&cx.db).await?,
    };
    Ok(found.map(|row| row.rate))
}
