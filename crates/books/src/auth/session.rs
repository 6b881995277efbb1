//! Sessions: each log-in makes one, and its token is good as long as it is.
//!
//! What is remembered of a session counts as long as nothing changed in who may do what; to end one changes that. So a
//! session that ended is over with the next request, on every process, and a request asks nobody for it.

use crate::clock::Instant;
use crate::error::Result;
use crate::ids::{RecordId, UserId};
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::Expr;
use sea_orm::{IntoActiveModel, QueryOrder};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "sessions")]
pub struct Model {
    /// The `jti` of its token.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: RecordId,
    pub user_id: UserId,
    pub made_at: Instant,
    /// To within a few minutes.
    pub seen_at: Instant,
    pub ends_at: Instant,
    /// When it was ended before its time.
    pub ended_at: Option<Instant>,
    pub address: Option<String>,
    pub agent: Option<String>,
}

impl Model {
    /// Whether it is one of a user's that is good.
    pub fn is_good(&self, user: UserId, now: Instant) -> bool {
        self.user_id == user && self.ended_at.is_none() && self.ends_at > now
    }
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// Where somebody logs in from, and with what.
#[derive(Debug, Clone)]
pub struct Device {
    pub address: IpAddr,
    /// The program, as it names itself.
    pub agent: Option<String>,
}

impl Device {
    pub fn shown_agent(&self) -> Option<String> {
        const MOST_LETTERS: usize = 120;
        let agent = self.agent.as_deref()?;
        Some(agent.chars().filter(|letter| !letter.is_control()).take(MOST_LETTERS).collect())
    }
}

pub async fn find(connection: &impl ConnectionTrait, id: RecordId) -> Result<Option<Model>> {
    Ok(Entity::find_by_id(id).filter(Column::EndedAt.is_null()).one(connection).await?)
}

/// Keeps a new session; those whose time is over are forgotten.
pub async fn keep(connection: &impl ConnectionTrait, session: Model) -> Result<()> {
    Entity::delete_many().filter(Column::EndsAt.lte(session.made_at)).exec(connection).await?;
    Entity::insert(session.into_active_model().reset_all()).exec_without_returning(connection).await?;
    Ok(())
}

/// Those of a user that are good, the last first.
pub async fn of(connection: &impl ConnectionTrait, user: UserId, now: Instant) -> Result<Vec<Model>> {
    let good = Entity::find().filter(good(user, now));
    Ok(good.order_by_desc(Column::MadeAt).order_by_desc(Column::Id).all(connection).await?)
}

/// The same as [`Model::is_good`], asked of the rows.
fn good(user: UserId, now: Instant) -> sea_orm::Condition {
    sea_orm::Condition::all().add(Column::UserId.eq(user)).add(Column::EndedAt.is_null()).add(Column::EndsAt.gt(now))
}

/// Which sessions of a user are to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    All,
    One(RecordId),
    AllBut(RecordId),
}

/// Ends sessions of a user. How many there were is answered.
pub async fn end(connection: &impl ConnectionTrait, user: UserId, which: Which, now: Instant) -> Result<u64> {
    let ended = Entity::update_many().filter(good(user, now)).col_expr(Column::EndedAt, Expr::value(now));
    let ended = match which {
        Which::All => ended,
        Which::One(id) => ended.filter(Column::Id.eq(id)),
        Which::AllBut(id) => ended.filter(Column::Id.ne(id)),
    };
    Ok(ended.exec(connection).await?.rows_affected)
}

/// When sessions were last seen, until it is written down.
#[derive(Default)]
pub struct Seen(Mutex<HashMap<RecordId, Instant>>);

/// A session that was seen this long ago is noted again.
const COARSE: Duration = Duration::from_mins(5);
/// As many as are held; what is beyond is noted another time.
const MOST_SEEN: usize = 20_000;

impl Seen {
    /// Notes that a session was used, now and then.
    pub fn note(&self, session: &Model, now: Instant) {
        if session.seen_at.plus(COARSE) > now {
            return;
        }
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() < MOST_SEEN {
            seen.entry(session.id).or_insert(now);
        }
    }

    pub fn taken(&self) -> Vec<(RecordId, Instant)> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_iter().collect()
    }
}

pub async fn write_seen(connection: &impl ConnectionTrait, seen: &[(RecordId, Instant)]) -> Result<()> {
    for (id, at) in seen {
        Entity::update_many()
            .filter(Column::Id.eq(*id))
            .filter(Column::SeenAt.lt(*at))
            .col_expr(Column::SeenAt, Expr::value(*at))
            .exec(connection)
            .await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minutes: u64) -> Instant {
        Instant::from_micros(0).plus(Duration::from_mins(minutes))
    }

    /// One of an hour.
    fn session() -> Model {
        Model {
            id: RecordId::default(),
            user_id: UserId::default(),
            made_at: at(0),
            seen_at: at(0),
            ends_at: at(60),
            ended_at: None,
            address: None,
            agent: None,
        }
    }

    #[test]
    fn a_session_is_good_for_its_user_until_it_ends() {
        let somebody = UserId(Uuid::from_u128(7));
        for (user, ended, now, is_good) in [
            (UserId::default(), None, 0, true),
            (UserId::default(), None, 59, true),
            (UserId::default(), None, 60, false),
            (UserId::default(), None, 61, false),
            // Ended before its time, and not again good by asking for an earlier one.
            (UserId::default(), Some(30), 31, false),
            (UserId::default(), Some(30), 29, false),
            (somebody, None, 0, false),
        ] {
            let session = Model { ended_at: ended.map(at), ..session() };
            assert_eq!(session.is_good(user, at(now)), is_good, "{user} {ended:?} {now}");
        }
    }

    #[test]
    fn a_session_is_seen_now_and_then() {
        let session = session();
        let seen = Seen::default();
        seen.note(&session, at(4));
        assert_eq!(seen.taken(), []);
        for minutes in [6, 7, 8] {
            seen.note(&session, at(minutes));
        }
        assert_eq!(seen.taken(), [(session.id, at(6))]);
        assert_eq!(seen.taken(), []);
    }

    #[test]
    fn a_program_is_named_shortly() {
        let named = |agent: &str| {
            let device = Device { address: IpAddr::from([127, 0, 0, 1]), agent: Some(agent.to_owned()) };
            device.shown_agent().unwrap()
        };
        assert_eq!(named("shop\n/1\u{1b}[31m"), "shop/1[31m");
        assert_eq!(named(&"ü".repeat(500)).chars().count(), 120);
    }
}
