//! How often one may guess a password.
//!
//! - From one network, ten times for an account in 15 minutes, and twenty times in all.
//! - A network that somebody has logged in from is known for their account: only its own ten guesses count there. Whatever
//!   strangers do elsewhere, and whatever others guess for other names from the same network, they get in.
//! - Guesses for an account from networks that it does not know are counted together. From the thirtieth on, they must
//!   wait for one another: a second, two, four, up to a minute. Nobody is locked out, and a guess a minute finds nothing.
//!   Whoever has a second factor does not wait: with the code, the password is judged at once. Where there is none, a code
//!   opens nothing, so that it tells nobody who has one.
//! - A wrong code behind a right password is counted by itself, twenty for an account: so the code cannot be found by
//!   somebody who has the password and many addresses. Nobody else can use these up.
//!
//! A guess is counted as wrong before it is judged, in the act that finds whether there may be one more, and given back
//! where it was right. So however many come at once, no more are judged than may be.
//!
//! The counts are in the database: both dialects and several processes share them, and they survive a restart. Unknown
//! names are counted like known ones. Names and networks are kept as keyed digests: people type their passwords there.

use crate::clock::Instant;
use crate::error::{Error, Result};
use crate::ids::UserId;
use crate::texts::hex;
use ring::hmac;
use sea_orm::ActiveValue::Set;
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::OnConflict;
use sea_orm::{DbBackend, QueryOrder, QuerySelect};
use std::net::IpAddr;
use std::time::Duration;

const WINDOW: Duration = Duration::from_mins(15);
const PER_PAIR: usize = 10;
const PER_NETWORK: usize = 20;
const PER_ACCOUNT_OF_STRANGERS: usize = 30;
const PER_ACCOUNT_OF_CODES: usize = 20;
pub const LONGEST_WAIT: u64 = 60;
/// As many failures as are looked at of each kind: more than any of the limits and doublings needs.
const MOST_ROWS: u64 = 64;
/// As many networks as an account knows.
const MOST_PLACES: u64 = 16;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "login_failures")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// A keyed digest of who guessed, or for whom.
    pub subject: String,
    pub failed_at: Instant,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

pub mod place {
    use crate::clock::Instant;
    use crate::ids::UserId;
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "sign_in_places")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub user_id: UserId,
        /// A keyed digest of the network.
        #[sea_orm(primary_key, auto_increment = false)]
        pub place: String,
        pub last_at: Instant,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// The network that an address is of: a household or server has a whole /64 to itself.
pub fn network(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(v4) => v4.to_string(),
        IpAddr::V6(v6) => {
            let [a, b, c, d, ..] = v6.segments();
            format!("{a:x}:{b:x}:{c:x}:{d:x}::/64")
        }
    }
}

/// One guess: for which account, and from where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guess {
    /// Nobody, where the name is unknown.
    user: UserId,
    pair: String,
    network: String,
    strangers: String,
    codes: String,
    place: String,
}

/// How a guess stands before it is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// Whether the account knows the network.
    pub known: bool,
    /// How long this guess would have to wait for those of other strangers, in seconds.
    pub wait: Option<u64>,
}

/// A guess that counts as wrong until it is given back.
#[derive(Debug)]
#[must_use = "it counts as wrong until it is given back"]
pub struct Counted {
    pub guess: Guess,
    pub standing: Standing,
    ids: [Uuid; IDS],
}

impl Guess {
    /// The account, as it is counted.
    pub fn account(&self) -> &str {
        &self.strangers
    }

    /// `name` is what was typed; it counts where no account has it.
    pub fn of(key: &hmac::Key, user: Option<UserId>, name: &str, network: &str) -> Self {
        let account = user.map_or_else(|| format!("name {}", name.trim().to_lowercase()), |user| user.to_string());
        let digest = |what: &str, parts: &[&str]| {
            hex(hmac::sign(key, format!("{what}\0{}", parts.join("\0")).as_bytes()).as_ref())
        };
        Self {
            user: user.unwrap_or_default(),
            pair: digest("pair", &[&account, network]),
            network: digest("network", &[network]),
            strangers: digest("strangers", &[&account]),
            codes: digest("codes", &[&account]),
            place: digest("place", &[&account, network]),
        }
    }
}

/// Refuses when there were too many failures, and says when the oldest that counts is forgotten.
pub async fn check(connection: &impl ConnectionTrait, guess: &Guess, now: Instant) -> Result<Standing> {
    let known = place::Entity::find_by_id((guess.user, guess.place.clone())).one(connection).await?.is_some();
    let mut failures = Vec::new();
    for subject in [&guess.pair, &guess.network, &guess.strangers] {
        failures.push(failures_of(connection, subject, now).await?);
    }
    let [pair, network, strangers] = failures.as_slice() else {
        return Err(Error::internal("three kinds of failures"));
    };
    judge(known, [pair, network, strangers], now)
}

/// The last first. Each kind by itself: many of one do not hide those of another.
async fn failures_of(connection: &impl ConnectionTrait, subject: &str, now: Instant) -> Result<Vec<Instant>> {
    let rows = Entity::find()
        .filter(Column::Subject.eq(subject))
        .filter(Column::FailedAt.gt(now.minus(WINDOW)))
        .order_by_desc(Column::FailedAt)
        .limit(MOST_ROWS);
    Ok(rows.all(connection).await?.into_iter().map(|row| row.failed_at).collect())
}

/// By the failures of the pair, the network and the strangers, the last first.
fn judge(known: bool, [pair, network, strangers]: [&Vec<Instant>; 3], now: Instant) -> Result<Standing> {
    let left = |until: Instant| u64::try_from(until.seconds() - now.seconds() + 1).unwrap_or(1).max(1);
    for (failures, limit, counts) in [(pair, PER_PAIR, true), (network, PER_NETWORK, !known)] {
        if let Some(oldest) = failures.get(limit - 1).filter(|_| counts) {
            return Err(Error::RateLimited { retry_after_seconds: left(oldest.plus(WINDOW)) });
        }
    }
    let beyond = strangers.len().checked_sub(PER_ACCOUNT_OF_STRANGERS).filter(|_| !known);
    let wait = beyond.zip(strangers.first()).and_then(|(beyond, last)| {
        let doubled = u32::try_from(beyond).ok().and_then(|beyond| 1_u64.checked_shl(beyond)).unwrap_or(LONGEST_WAIT);
        let until = last.plus(Duration::from_secs(doubled.clamp(1, LONGEST_WAIT)));
        (until > now).then(|| left(until))
    });
    Ok(Standing { known, wait })
}

/// Whoever counts after this waits until this transaction has ended. SQLite has one writer anyway.
async fn hold(transaction: &impl ConnectionTrait) -> Result<()> {
    if transaction.get_database_backend() == DbBackend::Postgres {
        transaction.execute_unprepared(&format!("SELECT pg_advisory_xact_lock({TURNSTILE})")).await?;
    }
    Ok(())
}

/// The lock of the database that counting takes: "guess", as a number.
const TURNSTILE: i64 = 0x0067_7565_7373;

/// As many identifiers as a guess needs.
pub const IDS: usize = 3;

/// Counts a guess as wrong, where there may be one more: one act, since whoever else counts waits for this transaction.
/// `waits` says whether strangers are waited for.
pub async fn count(
    transaction: &impl ConnectionTrait,
    guess: &Guess,
    waits: bool,
    ids: [Uuid; IDS],
    now: Instant,
) -> Result<Counted> {
    hold(transaction).await?;
    let standing = check(transaction, guess, now).await?;
    if let Some(wait) = standing.wait.filter(|_| waits) {
        return Err(Error::RateLimited { retry_after_seconds: wait });
    }
    Entity::delete_many().filter(Column::FailedAt.lte(now.minus(WINDOW))).exec(transaction).await?;
    let subjects = [Some(&guess.pair), Some(&guess.network), Some(&guess.strangers).filter(|_| !standing.known)];
    let rows = ids.into_iter().zip(subjects).filter_map(|(id, subject)| {
        Some(ActiveModel { id: Set(id), subject: Set(subject?.clone()), failed_at: Set(now) })
    });
    Entity::insert_many(rows).exec_without_returning(transaction).await?;
    Ok(Counted { guess: guess.clone(), standing, ids })
}

/// Takes back that a guess was wrong.
pub async fn give_back(connection: &impl ConnectionTrait, counted: &Counted) -> Result<()> {
    Entity::delete_many().filter(Column::Id.is_in(counted.ids)).exec(connection).await?;
    Ok(())
}

/// Whether one more code may be judged behind a right password.
pub async fn may_give_code(transaction: &impl ConnectionTrait, counted: &Counted, now: Instant) -> Result<bool> {
    hold(transaction).await?;
    let wrong = failures_of(transaction, &counted.guess.codes, now).await?.len();
    Ok(wrong < PER_ACCOUNT_OF_CODES || counted.standing.known)
}

/// Notes that a code behind a right password was wrong, in the transaction that judged it.
pub async fn note_code(transaction: &impl ConnectionTrait, counted: &Counted, id: Uuid, now: Instant) -> Result<()> {
    let row = ActiveModel { id: Set(id), subject: Set(counted.guess.codes.clone()), failed_at: Set(now) };
    Entity::insert(row).exec_without_returning(transaction).await?;
    Ok(())
}

/// A success clears what its own network guessed, and makes the network known. The network stays under suspicion for the
/// other names it tried, and strangers for what they tried.
pub async fn forgive(connection: &impl ConnectionTrait, counted: &Counted, now: Instant) -> Result<()> {
    give_back(connection, counted).await?;
    let guess = &counted.guess;
    Entity::delete_many().filter(Column::Subject.eq(&guess.pair)).exec(connection).await?;
    let row = place::ActiveModel { user_id: Set(guess.user), place: Set(guess.place.clone()), last_at: Set(now) };
    let known = OnConflict::columns([place::Column::UserId, place::Column::Place])
        .update_column(place::Column::LastAt)
        .to_owned();
    place::Entity::insert(row).on_conflict(known).exec_without_returning(connection).await?;
    let beyond = place::Entity::find()
        .filter(place::Column::UserId.eq(guess.user))
        .order_by_desc(place::Column::LastAt)
        .offset(MOST_PLACES)
        .limit(MOST_PLACES)
        .all(connection)
        .await?;
    for old in beyond {
        place::Entity::delete_by_id((old.user_id, old.place)).exec(connection).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Instant {
        Instant::from_micros(1_800_000_000_000_000).plus(Duration::from_secs(seconds))
    }

    /// So many failures, one a second, the last at second 100.
    fn failures(count: usize) -> Vec<Instant> {
        (0..count).map(|number| at(100).minus(Duration::from_secs(number as u64))).collect()
    }

    #[test]
    fn guesses_slow_down_those_who_guess() {
        // pair, network, strangers -> from a known network, from another: refused, waits for so many seconds
        let table: [([usize; 3], Option<u64>, Option<u64>); 9] = [
            ([0, 0, 0], None, None),
            ([9, 19, 29], None, None),
            ([10, 10, 10], Some(892), Some(892)),
            ([0, 20, 0], None, Some(882)),
            ([0, 0, 30], None, Some(2)),
            ([0, 0, 32], None, Some(5)),
            ([0, 0, 36], None, Some(61)),
            ([0, 0, 400], None, Some(61)),
            ([9, 19, 400], None, Some(61)),
        ];
        for (counts, at_home, elsewhere) in table {
            for (known, expected) in [(true, at_home), (false, elsewhere)] {
                let [pair, network, strangers] = counts.map(failures);
                let told = match judge(known, [&pair, &network, &strangers], at(100)) {
                    Ok(standing) => standing.wait,
                    Err(Error::RateLimited { retry_after_seconds }) => Some(retry_after_seconds),
                    Err(other) => panic!("{other:?}"),
                };
                assert_eq!(told, expected, "{counts:?} {known}");
            }
        }
        // Nobody is locked out: the wait ends.
        assert_eq!(judge(false, [&vec![], &vec![], &failures(400)], at(161)).unwrap().wait, None);
    }

    #[test]
    fn nothing_that_was_typed_is_kept() {
        let key = hmac::Key::new(hmac::HMAC_SHA256, b"key");
        let other = hmac::Key::new(hmac::HMAC_SHA256, b"another");
        let guess = Guess::of(&key, None, " Jo@harbour.example ", "192.0.2.1");
        assert_eq!(guess, Guess::of(&key, None, "jo@HARBOUR.example", "192.0.2.1"));
        assert!(!format!("{guess:?}").contains("harbour") && !format!("{guess:?}").contains("192"));
        assert_ne!(guess.pair, Guess::of(&key, None, "jo@harbour.example", "192.0.2.2").pair);
        assert_ne!(guess.pair, Guess::of(&other, None, "jo@harbour.example", "192.0.2.1").pair);
        // Whatever somebody is called, they are guessed for as one.
        let user = Some(UserId(Uuid::from_u128(7)));
        assert_eq!(Guess::of(&key, user, "jo", "192.0.2.1"), Guess::of(&key, user, "jo@harbour.example", "192.0.2.1"));
    }

    #[test]
    fn a_network_is_an_address_or_a_64() {
        for (address, expected) in
            [("192.0.2.1", "192.0.2.1"), ("::ffff:192.0.2.1", "192.0.2.1"), ("2001:db8:1:2:3::1", "2001:db8:1:2::/64")]
        {
            assert_eq!(network(address.parse().unwrap()), expected);
        }
    }
}
