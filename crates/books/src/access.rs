//! Who may do what: whoever asks, their seat, and the company a request is about.
//!
//! A member of a company has one permission set there: a built-in one, which is a role, or one of the company's own.

use crate::clock::Instant;
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::{BusinessId, RecordId, UserId};
use crate::remembered::{Changes, Tick};
use crate::security;
use crate::stored::AsJson;
use rules::exchange::Home;
use schema::aliases::Aliases;
use schema::business::{self, BusinessSettings, BusinessStatus};
use schema::key::ResourceKey;
pub use schema::membership;
use schema::permission as permission_set;
pub use schema::rights::is_for_people;
pub use schema::rights::{Action, Limits, Rights, Role, permission};
use sea_orm::entity::prelude::*;
use sea_orm::{FromQueryResult, QuerySelect};
use std::sync::Arc;
use words::exact::BookCoin;

/// What someone is in a company.
#[derive(Debug, Clone)]
pub struct Seat {
    /// The permission set; none for who runs the installation.
    pub set: Option<RecordId>,
    /// A built-in role, or what the company calls its set.
    pub role: String,
    pub is_owner: bool,
    pub rights: Rights,
    pub limits: Limits,
}

impl Seat {
    /// Whoever runs the installation sees a company as its owner does.
    pub fn owner() -> Self {
        let role = Role::Owner;
        Self { set: None, role: role.to_string(), is_owner: true, rights: role.rights(), limits: Limits::default() }
    }

    /// Whether whoever sits here may do all that somebody on another seat may.
    pub fn covers(&self, other: &Self) -> bool {
        self.rights_beyond(other.rights).is_empty() && !self.limits.is_exceeded_by(other.limits)
    }

    /// What of these rights is lacking here.
    pub fn rights_beyond(&self, rights: Rights) -> Vec<String> {
        rights.beyond(self.rights)
    }

    /// Whether it allows something that no key is let do.
    pub fn lets_only_people(&self, resource: ResourceKey, action: Action) -> bool {
        is_for_people(resource, action) && self.rights.allows(resource, action)
    }

    /// What is left of it for a key.
    #[must_use]
    pub fn narrowed(self, key: Option<&KeyScope>) -> Self {
        match key {
            Some(key) => {
                let rights = self.rights.and(key.rights).and(Rights::where_(|key, action| !is_for_people(key, action)));
                Self { rights, is_owner: false, ..self }
            }
            None => self,
        }
    }

    pub fn of(set: permission_set::Model) -> Self {
        let limits = Limits { max_document_amount: set.max_document_amount, backdate_days: set.backdate_days };
        Self {
            set: Some(set.id),
            role: set.role.map_or(set.name, |role| role.to_string()),
            is_owner: set.role == Some(Role::Owner),
            rights: set.role.map_or_else(|| set.grants.0.rights(), Role::rights),
            limits,
        }
    }
}

/// How far a key for a program goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyScope {
    pub key: RecordId,
    /// The only company that it knows.
    pub business: BusinessId,
    pub rights: Rights,
}

/// Who signed in.
#[derive(Debug, Clone)]
pub struct Principal {
    pub user: UserId,
    /// The key that speaks for them, where one does.
    pub key: Option<Arc<KeyScope>>,
    /// Else the session.
    pub session: Option<RecordId>,
    /// Of a token: the version of all tokens of the user that it was made under.
    pub token_version: Option<i64>,
    /// Whether they must choose another password before anything else.
    pub must_change_password: bool,
    /// What was known when the request arrived.
    pub changes: Changes,
    /// The version of the books of the company that the request names, when it arrived.
    pub books: Option<(BusinessId, i64)>,
    /// May make companies; says nothing about the companies of others.
    pub is_system_admin: bool,
    pub expires_at: Instant,
    /// When they came, of whom nobody asked the database whether it is still so: it counts only where it is found later that
    /// nothing has changed.
    pub recognised: Option<Tick>,
}

impl Principal {
    /// Who the log says it was.
    pub fn who(&self) -> security::Who {
        match &self.key {
            Some(key) => security::Who::Key { key: key.key, user: self.user },
            None => security::Who::User(self.user),
        }
    }

    /// Whose requests are counted together: those of a key, or of a user.
    pub fn caller(&self) -> Uuid {
        self.key.as_ref().map_or(self.user.0, |key| key.key.0)
    }

    /// The key that speaks for the user in a company, if one does. It knows no other company.
    pub fn key_in(&self, business: BusinessId) -> Result<Option<&KeyScope>> {
        match self.key.as_deref() {
            Some(key) if key.business != business => Err(Error::NotFound),
            key => Ok(key),
        }
    }
}

/// Whose a request was found to be, and in which company of theirs. It is made of what was proved, and of nothing that
/// a client says: nobody can be counted as somebody else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Proved {
    account: UserId,
    company: Option<BusinessId>,
}

impl Proved {
    /// The account itself, also where a key speaks for it: however many keys and addresses it has, it is one.
    pub const fn account(self) -> UserId {
        self.account
    }

    pub const fn company(self) -> Option<BusinessId> {
        self.company
    }

    /// Whoever has just logged in.
    pub fn by(session: &crate::auth::Session) -> Self {
        Self { account: session.user.id, company: None }
    }

    /// Whoever asks, in the company that they were found to be a member of.
    pub const fn of(principal: &Principal, company: Option<BusinessId>) -> Self {
        Self { account: principal.user, company }
    }
}

/// The company in scope, as far as rules need it.
#[derive(Debug, Clone)]
pub struct Business {
    pub id: BusinessId,
    pub base_currency: String,
    pub currency_decimals: u32,
    pub settings: BusinessSettings,
    pub status: BusinessStatus,
    /// What the caller is there.
    pub seat: Arc<Seat>,
    pub fiscal_year_start_month: u32,
    pub fiscal_year_start_day: u32,
    pub timezone: chrono_tz::Tz,
    /// The day that a trial was told it is.
    told_today: Option<Day>,
    /// The accounts by role, as JSON; few requests look.
    pub system_accounts: String,
    /// Which parties became part of which.
    pub aliases: Arc<Aliases>,
}

impl Business {
    /// The currency that its books are kept in.
    pub fn home(&self) -> Home<'_> {
        Home { currency: &self.base_currency, coin: self.coin() }
    }

    /// What amounts of the books are rounded to.
    pub const fn coin(&self) -> BookCoin {
        BookCoin::new(self.currency_decimals, self.settings.rounding_mode.rounding())
    }

    /// The first day of the fiscal year that a day lies in, as the company counts them. What is kept of fiscal years is asked of
    /// [`years`](crate::years).
    pub fn fiscal_year_start(&self, day: Day) -> Day {
        let start = |year| Day::new(year, self.fiscal_year_start_month, self.fiscal_year_start_day);
        start(day.year()).filter(|start| *start <= day).or_else(|| start(day.year() - 1)).unwrap_or(day)
    }

    /// The last day of the same.
    pub fn fiscal_year_end(&self, day: Day) -> Day {
        let start = self.fiscal_year_start(day);
        Day::new(start.year() + 1, start.month(), start.day()).map_or(day, Day::previous)
    }

    /// The day it is at the company's seat, or that a trial was told it is. Whatever asks what today is asks here.
    pub fn today(&self, now: Instant) -> Day {
        day_at(now, self.timezone, self.told_today)
    }

    /// When a day begins at the company's seat.
    pub fn beginning_of(&self, day: Day) -> Instant {
        use chrono::TimeZone;
        let midnight = day.date().and_time(chrono::NaiveTime::MIN);
        // Where a clock is put forward at midnight, the day begins an hour later; one that a place left out, as Samoa did
        // when it changed the side of the date line, begins with the next.
        let hours = (0..=24).filter_map(|hour| midnight.checked_add_signed(chrono::TimeDelta::hours(hour)));
        let mut begins = hours.filter_map(|time| self.timezone.from_local_datetime(&time).earliest());
        begins.next().map_or_else(|| Instant::of(midnight.and_utc()), |at| Instant::of(at.to_utc()))
    }

    /// The company as a key sees it.
    pub fn narrowed(self: Arc<Self>, key: Option<&KeyScope>) -> Arc<Self> {
        match key {
            Some(key) => {
                let seat = Arc::new(self.seat.as_ref().clone().narrowed(Some(key)));
                Arc::new(Self { seat, ..self.as_ref().clone() })
            }
            None => self,
        }
    }

    #[cfg(any(test, feature = "samples"))]
    pub fn sample() -> Self {
        Self {
            id: BusinessId::default(),
            base_currency: "EUR".into(),
            currency_decimals: 2,
            settings: BusinessSettings::default(),
            status: BusinessStatus::Active,
            seat: Arc::new(Seat::owner()),
            fiscal_year_start_month: 1,
            fiscal_year_start_day: 1,
            timezone: chrono_tz::UTC,
            told_today: None,
            system_accounts: "{}".into(),
            aliases: Arc::default(),
        }
    }

    pub fn require(&self, resource: ResourceKey, action: Action) -> Result<()> {
        if self.seat.rights.allows(resource, action) {
            return Ok(());
        }
        Err(Error::Forbidden { permission: permission(resource, action) })
    }
}

fn day_at(now: Instant, timezone: chrono_tz::Tz, told: Option<Day>) -> Day {
    told.unwrap_or_else(|| Day::of(now.utc().with_timezone(&timezone).date_naive()))
}

/// The day that it is in each company whose books go on. One in a time zone that nobody knows says so to whoever asks it for
/// anything, and is none of these.
pub async fn todays(connection: &impl ConnectionTrait, now: Instant) -> Result<Vec<(BusinessId, Day)>> {
    use business::Column;
    let companies: Vec<(BusinessId, String, bool, Option<Day>)> = business::Entity::find()
        .filter(Column::Status.eq(BusinessStatus::Active))
        .select_only()
        .columns([Column::Id, Column::Timezone, Column::IsTrial, Column::ToldToday])
        .into_tuple()
        .all(connection)
        .await?;
    let today = |(id, zone, is_trial, told): (_, String, _, Option<Day>)| {
        Some((id, day_at(now, zone.parse().ok()?, told.filter(|_| is_trial))))
    };
    Ok(companies.into_iter().filter_map(today).collect())
}

/// The month and the day that years begin with, where there is such a day in every year.
fn year_start(month: i64, day: i64) -> Option<(u32, u32)> {
    const NO_LEAP_YEAR: i32 = 2001;
    let (month, day) = (u32::try_from(month).ok()?, u32::try_from(day).ok()?);
    Day::new(NO_LEAP_YEAR, month, day).map(|_| (month, day))
}

#[derive(FromQueryResult)]
struct Facts {
    base_currency: String,
    settings: AsJson<BusinessSettings>,
    status: BusinessStatus,
    fiscal_year_start_month: i64,
    fiscal_year_start_day: i64,
    timezone: String,
    is_trial: bool,
    told_today: Option<Day>,
    system_accounts: String,
}

impl Facts {
    fn seen_from(self, id: BusinessId, seat: Seat, aliases: Aliases) -> Result<Business> {
        let known = crate::currency::Currency::known(&self.base_currency, format_args!("company {id}"))?;
        let zone = &self.timezone;
        let timezone = zone.parse().map_err(|_| Error::internal(format!("company {id} is in a time zone {zone:?}")))?;
        let (month, day) = (self.fiscal_year_start_month, self.fiscal_year_start_day);
        let (month, day) = year_start(month, day)
            .ok_or_else(|| Error::internal(format!("company {id} begins its years on day {day} of month {month}")))?;
        Ok(Business {
            id,
            currency_decimals: known.decimals(),
            base_currency: self.base_currency,
            settings: self.settings.0,
            status: self.status,
            seat: Arc::new(seat),
            fiscal_year_start_month: month,
            fiscal_year_start_day: day,
            timezone,
            told_today: self.told_today.filter(|_| self.is_trial),
            system_accounts: self.system_accounts,
            aliases: Arc::new(aliases),
        })
    }
}

/// The company as this user sees it; one they are no member of does not exist for them.
pub async fn visible_business(connection: &impl ConnectionTrait, user: UserId, id: BusinessId) -> Result<Business> {
    let member = membership::Entity::find_by_id((id, user)).one(connection).await?.ok_or(Error::NotFound)?;
    let seat = seat_of(connection, id, member.permission_id).await?;
    let seat = seat.ok_or_else(|| Error::internal("a member has a permission set that is not there"))?;
    seen_from(connection, id, seat).await
}

/// What a permission set of a company comes to.
pub async fn seat_of(connection: &impl ConnectionTrait, id: BusinessId, set: RecordId) -> Result<Option<Seat>> {
    Ok(permission_set::Entity::find_by_id((id, set)).one(connection).await?.map(Seat::of))
}

/// The company as someone on a seat sees it.
pub async fn seen_from(connection: &impl ConnectionTrait, id: BusinessId, seat: Seat) -> Result<Business> {
    let facts = business::Entity::find_by_id(id).into_model::<Facts>().one(connection).await?;
    facts.ok_or(Error::NotFound)?.seen_from(id, seat, Aliases::load(connection, id).await?)
}

/// The permission set of a built-in role in a company.
pub async fn set_of_role(connection: &impl ConnectionTrait, id: BusinessId, role: Role) -> Result<RecordId> {
    let found = permission_set::Entity::find()
        .filter(permission_set::Column::BusinessId.eq(id))
        .filter(permission_set::Column::Role.eq(role))
        .one(connection)
        .await?;
    Ok(found.ok_or_else(|| Error::internal(format!("the company has no permission set {role}")))?.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Facts {
        Facts {
            base_currency: "EUR".into(),
            settings: AsJson(BusinessSettings::default()),
            status: BusinessStatus::Active,
            fiscal_year_start_month: 4,
            fiscal_year_start_day: 6,
            timezone: "Europe/London".into(),
            is_trial: false,
            told_today: None,
            system_accounts: "{}".into(),
        }
    }

    fn seen(facts: Facts) -> Result<Business> {
        facts.seen_from(BusinessId::default(), Seat::owner(), Aliases::default())
    }

    #[test]
    fn what_a_company_is_not_is_never_made_up() {
        let business = seen(facts()).unwrap();
        assert_eq!((business.fiscal_year_start_month, business.fiscal_year_start_day), (4, 6));
        assert_eq!(business.timezone, chrono_tz::Europe::London);
        for (what, broken) in [
            ("Nowhere/Land", Facts { timezone: "Nowhere/Land".into(), ..facts() }),
            ("month 13", Facts { fiscal_year_start_month: 13, ..facts() }),
            ("month -4", Facts { fiscal_year_start_month: -4, ..facts() }),
            ("day 29 of month 2", Facts { fiscal_year_start_month: 2, fiscal_year_start_day: 29, ..facts() }),
        ] {
            let told = format!("{:?}", seen(broken).unwrap_err());
            assert!(told.contains(what), "{told}");
        }
    }

    #[test]
    fn a_trial_that_was_told_what_today_is_goes_by_that() {
        let now = Instant::parse("2026-11-20T23:30:00Z").unwrap();
        let day = |text: &str| -> Day { text.parse().unwrap() };
        let zone = Business { timezone: chrono_tz::Europe::Berlin, ..Business::sample() };
        assert_eq!(zone.today(now), day("2026-11-21"));
        for told in ["2019-01-31", "2031-05-01"] {
            let told = day(told);
            let today = |is_trial| seen(Facts { is_trial, told_today: Some(told), ..facts() }).unwrap().today(now);
            assert_eq!((today(true), today(false)), (told, day("2026-11-20")), "a real company goes by the clock");
        }
    }

    #[test]
    fn a_day_begins_when_its_place_has_it() {
        let at = |timezone, day: &str| Business { timezone, ..Business::sample() }.beginning_of(day.parse().unwrap());
        for (zone, day, begins) in [
            (chrono_tz::Europe::Berlin, "2026-11-20", "2026-11-19T23:00:00.000000Z"),
            // At midnight it became one o'clock.
            (chrono_tz::America::Santiago, "2026-09-06", "2026-09-06T04:00:00.000000Z"),
            // There was none: the day before ended with the day after.
            (chrono_tz::Pacific::Apia, "2011-12-30", "2011-12-30T10:00:00.000000Z"),
            (chrono_tz::Pacific::Apia, "2011-12-31", "2011-12-30T10:00:00.000000Z"),
        ] {
            assert_eq!(at(zone, day).to_string(), begins, "{day}");
        }
    }
}
