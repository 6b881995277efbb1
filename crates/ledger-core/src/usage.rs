//! Who speaks which dialect: calls by user and program, counted in memory and written down now and then.
//!
//! A call costs no query. What a process counted since it last wrote is lost with a crash, which is no loss to the books.

use crate::clock::Instant;
use crate::error::Result;
use crate::ids::{BusinessId, UserId};
use crate::resource::registry::registry;
use kit::operation::Verb;
use schema::key::ResourceKey;
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Alias, Expr, ExprTrait, OnConflict};
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect};
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

/// As many programs of one user as are told apart.
const MOST_AGENTS: usize = 50;
/// As many operations of users as are told apart between two times that it is written down.
const MOST_PLACES: usize = 20_000;
/// As many programs and operations of one user in a company as are written down; what is beyond is of others.
const MOST_ROWS: usize = 1_000;
/// What programs are called that are not told apart.
const OTHERS: &str = "others";
/// Of a program's name, so much.
const MOST_LETTERS: usize = 200;

pub(crate) use schema::dialect_usage as table;
use table::Column;

pub(crate) type Place = (BusinessId, UserId, &'static str, ResourceKey, Verb);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Program {
    agent: String,
    calls: i64,
    last: Instant,
}

#[derive(Default)]
pub(crate) struct Usage(Mutex<HashMap<Place, Vec<Program>>>);

impl Usage {
    pub(crate) fn count(&self, place: Place, agent: &str, now: Instant) {
        let agent = agent.char_indices().nth(MOST_LETTERS).map_or(agent, |(end, _)| &agent[..end]);
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counted.len() >= MOST_PLACES && !counted.contains_key(&place) {
            tracing::debug!("a call is not counted: so many users did so much since this was last written down");
            return;
        }
        let programs = counted.entry(place).or_default();
        let agent =
            if programs.len() < MOST_AGENTS || programs.iter().any(|one| one.agent == agent) { agent } else { OTHERS };
        match programs.iter_mut().find(|one| one.agent == agent) {
            Some(known) => (known.calls, known.last) = (known.calls + 1, now),
            None => programs.push(Program { agent: agent.to_owned(), calls: 1, last: now }),
        }
    }

    /// What was counted since this was last asked.
    pub(crate) fn taken(&self) -> Vec<table::Model> {
        let counted = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let rows = counted.into_iter().flat_map(|((business, user, dialect, key, verb), programs)| {
            let known = registry().iter().find(|one| one.key == key);
            let operation = known.map_or_else(String::new, |one| one.operation_id(verb));
            programs.into_iter().map(move |one| table::Model {
                business_id: business,
                user_id: user,
                dialect: dialect.to_owned(),
                operation: operation.clone(),
                agent: one.agent,
                calls: one.calls,
                last_at: one.last,
            })
        });
        rows.collect()
    }
}

/// What tells two programs of a user in a company apart.
type Own = (String, String, String);

fn own(row: &table::Model) -> Own {
    (row.dialect.clone(), row.operation.clone(), row.agent.clone())
}

/// The same calls, where those of a user who has too many programs are of others: a row each for what is made up would
/// grow without end.
fn bounded(known: &mut HashSet<Own>, rows: Vec<table::Model>) -> Vec<table::Model> {
    let mut kept: HashMap<Own, table::Model> = HashMap::new();
    for mut row in rows {
        if known.len() >= MOST_ROWS && !known.contains(&own(&row)) {
            OTHERS.clone_into(&mut row.agent);
        }
        known.insert(own(&row));
        match kept.get_mut(&own(&row)) {
            Some(same) => (same.calls, same.last_at) = (same.calls + row.calls, Ord::max(same.last_at, row.last_at)),
            None => drop(kept.insert(own(&row), row)),
        }
    }
    kept.into_values().collect()
}

/// Adds calls to those that are written down.
pub(crate) async fn add(connection: &impl ConnectionTrait, rows: &[table::Model]) -> Result<()> {
    let mut of_users: HashMap<(BusinessId, UserId), Vec<table::Model>> = HashMap::new();
    for row in rows {
        of_users.entry((row.business_id, row.user_id)).or_default().push(row.clone());
    }
    let mut rows = Vec::with_capacity(rows.len());
    for ((business, user), own) in of_users {
        let theirs = table::Entity::find().filter(Column::BusinessId.eq(business)).filter(Column::UserId.eq(user));
        let known = theirs.select_only().columns([Column::Dialect, Column::Operation, Column::Agent]);
        let mut known: HashSet<Own> = known.into_tuple().all(connection).await?.into_iter().collect();
        rows.extend(bounded(&mut known, own));
    }
    for portion in rows.chunks(500) {
        let more = |column: Column| Expr::col((table::Entity, column)).add(Expr::col((Alias::new("excluded"), column)));
        let known = OnConflict::columns([
            Column::BusinessId,
            Column::UserId,
            Column::Dialect,
            Column::Operation,
            Column::Agent,
        ])
        .value(Column::Calls, more(Column::Calls))
        .update_column(Column::LastAt)
        .to_owned();
        let rows = portion.iter().map(|row| table::ActiveModel {
            business_id: Set(row.business_id),
            user_id: Set(row.user_id),
            dialect: Set(row.dialect.clone()),
            operation: Set(row.operation.clone()),
            agent: Set(row.agent.clone()),
            calls: Set(row.calls),
            last_at: Set(row.last_at),
        });
        table::Entity::insert_many(rows).on_conflict(known).exec_without_returning(connection).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_program_and_forgotten_when_taken() {
        let usage = Usage::default();
        let place = (BusinessId::default(), UserId::default(), "A", ResourceKey::Parties, Verb::List);
        for (second, agent) in [(1, "shop/1"), (2, "shop/1"), (3, &*"x".repeat(500))] {
            usage.count(place, agent, Instant::from_micros(second));
        }
        let mut rows = usage.taken();
        rows.sort_by_key(|row| row.last_at);
        let told: Vec<_> = rows.iter().map(|row| (row.operation.as_str(), row.agent.len(), row.calls)).collect();
        assert_eq!(told, [("partiesList", 6, 2), ("partiesList", 200, 1)]);
        assert_eq!(usage.taken(), []);
        // Who makes up names is not worth a row each.
        for number in 0..1_000 {
            usage.count(place, &format!("made-up/{number}"), Instant::default());
        }
        let rows = usage.taken();
        assert_eq!((rows.len(), rows.iter().map(|row| row.calls).sum::<i64>()), (MOST_AGENTS + 1, 1_000));
    }

    #[test]
    fn what_is_written_down_of_one_user_has_an_end() {
        let (mut known, mut calls, mut written) = (HashSet::new(), 0, HashSet::new());
        for flush in 0..60 {
            let row = |number: i64| table::Model {
                business_id: BusinessId::default(),
                user_id: UserId::default(),
                dialect: "A".into(),
                operation: "partiesList".into(),
                agent: format!("made-up/{flush}/{number}"),
                calls: 1,
                last_at: Instant::from_micros(number),
            };
            let rows = bounded(&mut known, (0..50).map(row).collect());
            calls += rows.iter().map(|row| row.calls).sum::<i64>();
            assert_eq!(rows.iter().map(own).collect::<HashSet<_>>().len(), rows.len(), "no row comes twice");
            written.extend(rows.iter().map(own));
        }
        assert_eq!((calls, written.len()), (3_000, MOST_ROWS + 1));
        assert!(written.contains(&("A".into(), "partiesList".into(), OTHERS.into())));
    }
}
