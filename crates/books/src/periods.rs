//! Which days are open for postings.
//!
//! Soft locks hold for everyone but those whom the lock in force excepts; the hard lock and closed fiscal
//! years hold for all, and so do the days before a closed year. Each date of a write is asked for: the old, the new and those of derived entries.

use crate::clock::Instant;
use crate::day::Day;
use crate::error::{Code, Conflict, Error, FieldErrors, Result};
use crate::ids::{BusinessId, UserId};
use schema::fiscal_year::{self as years, FiscalYearStatus};
use schema::lock as locks;
use sea_orm::{ColumnTrait, ConnectionTrait, QueryFilter, QueryOrder};
use words::sown::{Fault, sown};

pub use schema::kind::Module;

#[derive(Debug, Default)]
pub struct Periods {
    lock: Option<locks::Model>,
    years: Vec<years::Model>,
}

/// Who asks, and when: exceptions are for one user until a time.
#[derive(Debug, Clone, Copy)]
pub struct Asker {
    pub user: UserId,
    pub now: Instant,
}

impl Periods {
    pub async fn load(connection: &impl ConnectionTrait, business: BusinessId) -> Result<Self> {
        let lock = locks::Entity::find()
            .filter(locks::Column::BusinessId.eq(business))
            .order_by_desc(locks::Column::Sequence)
            .one(connection)
            .await?;
        let years = years::Entity::find()
            .filter(years::Column::BusinessId.eq(business))
            .filter(years::Column::Status.ne(FiscalYearStatus::Open))
            .all(connection)
            .await?;
        Ok(Self { lock, years })
    }

    fn is_excepted(&self, asker: Asker) -> bool {
        let exceptions = self.lock.iter().flat_map(|lock| &lock.exceptions.0);
        exceptions.into_iter().any(|one| one.user_id == asker.user && one.until.is_none_or(|until| asker.now < until))
    }

    /// The last day of the closed time that this day lies in, if it does.
    fn closed_until(&self, module: Module, day: Day, asker: Asker) -> Option<Day> {
        let excepted = self.is_excepted(asker);
        let lock = self.lock.as_ref();
        let soft = lock.filter(|_| !excepted).map(|lock| {
            let own = match module {
                Module::Sales => lock.sales_lock_date,
                Module::Purchase => lock.purchase_lock_date,
                Module::Bank => lock.bank_lock_date,
                Module::Stock => lock.stock_lock_date,
                Module::Journal => lock.journal_lock_date,
            };
            lock.lock_date.max(own)
        });
        let until = soft.flatten().max(lock.and_then(|lock| lock.hard_lock_date));
        let closed = self.years.iter().filter(|year| {
            match year.status {
                // What closed it took all that was earned until then.
                FiscalYearStatus::Closed => day <= year.ends && !sown(Fault::ClosedYearStaysOpen),
                FiscalYearStatus::Open | FiscalYearStatus::SoftClosed => {
                    !excepted && (year.starts..=year.ends).contains(&day)
                }
            }
        });
        until.filter(|until| day <= *until).max(closed.map(|year| year.ends).max())
    }

    /// Refuses a posting on a day that is closed. `field` is where the day came from.
    pub fn check(&self, module: Module, field: &str, day: Day, asker: Asker) -> Result<()> {
        match self.closed_until(module, day, asker) {
            None => Ok(()),
            Some(until) => Err(Error::Conflict(Conflict {
                code: Code::PeriodLocked,
                title: format!("The books are closed until {until}"),
                errors: FieldErrors::one(field, format!("{day} lies in a period that is closed until {until}")),
            })),
        }
    }

    /// The day itself if it is open, else the first open day after it. There is none where the books are closed for ever.
    pub fn first_open(&self, module: Module, day: Day, asker: Asker) -> Result<Day> {
        let mut day = day;
        while let Some(until) = self.closed_until(module, day, asker) {
            if until.next() <= day || until == Day::LAST {
                return self.check(module, "date", day, asker).map(|()| day);
            }
            day = until.next();
        }
        Ok(day)
    }

    /// The day itself if it is open for all of these, else the first such day after it.
    pub fn first_open_for_all(&self, modules: &[Module], day: Day, asker: Asker) -> Result<Day> {
        let mut day = day;
        loop {
            let open = modules.iter().try_fold(day, |day, module| self.first_open(*module, day, asker))?;
            if open == day {
                return Ok(day);
            }
            day = open;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::lock::LockException;

    fn day(text: &str) -> Day {
        text.parse().unwrap()
    }

    const ASKER: Asker = Asker { user: UserId(uuid::Uuid::nil()), now: Instant::from_micros(1_000) };

    fn periods(change: impl FnOnce(&mut locks::Model)) -> Periods {
        let mut lock = locks::Model::sample();
        change(&mut lock);
        Periods { lock: Some(lock), years: Vec::new() }
    }

    #[test]
    fn each_lock_closes_what_it_is_for() {
        let bank = periods(|lock| lock.bank_lock_date = Some(day("2026-03-31")));
        assert!(bank.check(Module::Bank, "date", day("2026-03-31"), ASKER).is_err());
        assert!(bank.check(Module::Bank, "date", day("2026-04-01"), ASKER).is_ok());
        assert!(bank.check(Module::Journal, "date", day("2026-03-31"), ASKER).is_ok());
        let all = periods(|lock| lock.lock_date = Some(day("2026-03-31")));
        assert_eq!(all.first_open(Module::Journal, day("2026-01-15"), ASKER).unwrap(), day("2026-04-01"));
        assert_eq!(all.first_open(Module::Journal, day("2026-05-15"), ASKER).unwrap(), day("2026-05-15"));
        let forever = periods(|lock| lock.bank_lock_date = Some(day("9999-12-31")));
        assert!(forever.first_open(Module::Bank, day("2026-01-15"), ASKER).is_err());
        assert!(forever.first_open_for_all(&[Module::Sales, Module::Bank], day("9999-12-31"), ASKER).is_err());
        assert_eq!(forever.first_open(Module::Sales, day("9999-12-31"), ASKER).unwrap(), day("9999-12-31"));
    }

    #[test]
    fn an_exception_opens_soft_locks_for_one_user_for_a_while_and_never_the_hard_one() {
        let until = |micros| {
            periods(|lock| {
                lock.lock_date = Some(day("2026-03-31"));
                lock.hard_lock_date = Some(day("2025-12-31"));
                let exception =
                    LockException { user_id: ASKER.user, until: Some(Instant::from_micros(micros)), reason: None };
                lock.exceptions.0 = vec![exception];
            })
        };
        assert!(until(1_001).check(Module::Journal, "date", day("2026-02-01"), ASKER).is_ok());
        assert!(until(1_000).check(Module::Journal, "date", day("2026-02-01"), ASKER).is_err());
        assert!(until(1_001).check(Module::Journal, "date", day("2025-12-31"), ASKER).is_err());
    }
}
