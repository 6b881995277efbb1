//! What a transaction was answered since something was last written in it.
//!
//! Whoever judges a document asks for the chain that it stands in, and so do those who write it, take its stock and show it.
//! Each asks for itself, so that none of them has to know of the others. Where the database is another machine, each of these
//! questions would be a journey. Of what is read nothing changes while nothing is written: books that are written are locked.
//! What else is read, such as who may do what, is known to one command alone: the next one asks anew.

use answers::Answer;
use sea_orm::Statement;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// So many questions are kept, and so many rows of each: a command that asks more asks little twice.
const MOST_QUESTIONS: usize = 64;
const MOST_ROWS: usize = 200;

#[derive(Debug, Default)]
pub(super) struct Known(Mutex<Vec<(Statement, Answer)>>);

impl Known {
    fn all(&self) -> MutexGuard<'_, Vec<(Statement, Answer)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer to a question that was asked before.
    pub(super) fn answer(&self, question: &Statement) -> Option<Answer> {
        self.all().iter().find(|(asked, _)| asked == question).map(|(_, answer)| answer.clone())
    }

    pub(super) fn keep(&self, question: Statement, answer: &Answer) {
        let mut all = self.all();
        if all.len() < MOST_QUESTIONS && answer.len() <= MOST_ROWS {
            all.push((question, answer.clone()));
        }
    }

    /// Something is written, or locked, or done in another way.
    pub(super) fn forget(&self) {
        self.all().clear();
    }
}

/// Whether a statement only reads tables, and locks nothing: what is built of an entity begins so.
pub(super) fn only_reads(sql: &str) -> bool {
    (sql.starts_with("SELECT \"") || sql.starts_with("SELECT COUNT(*)")) && !sql.contains(" FOR ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::tables::documents;
    use sea_orm::sea_query::LockType;
    use sea_orm::{DbBackend, QuerySelect, QueryTrait, Value};

    fn question(sql: &str, value: i64) -> Statement {
        Statement::from_sql_and_values(DbBackend::Postgres, sql, [Value::from(value)])
    }

    fn of(rows: usize) -> Answer {
        let mut answer = Answer::of(vec!["a".to_owned()]);
        (0..rows).for_each(|_| answer.add(Value::from(1_i64)));
        answer
    }

    #[test]
    fn what_was_asked_is_known_until_something_is_written() {
        let known = Known::default();
        known.keep(question("SELECT \"a\" WHERE $1", 1), &of(3));
        known.keep(question("SELECT \"a\" WHERE $1", 2), &of(MOST_ROWS + 1));
        let rows = |sql, value| known.answer(&question(sql, value)).map(|answer| answer.len());
        assert_eq!(rows("SELECT \"a\" WHERE $1", 1), Some(3));
        // Another value, another text, and more than is kept.
        assert_eq!(rows("SELECT \"a\" WHERE $1", 3), None);
        assert_eq!(rows("SELECT \"b\" WHERE $1", 1), None);
        assert_eq!(rows("SELECT \"a\" WHERE $1", 2), None);
        (0..100).for_each(|value| known.keep(question("SELECT \"c\"", value), &of(0)));
        assert_eq!((rows("SELECT \"c\"", 3), rows("SELECT \"c\"", 99)), (Some(0), None));
        known.forget();
        assert_eq!(rows("SELECT \"a\" WHERE $1", 1), None);
    }

    #[test]
    fn what_locks_or_does_something_is_asked_each_time() {
        let text = |lock: Option<LockType>| {
            let found = documents::Entity::find();
            let found = lock.into_iter().fold(found, QuerySelect::lock);
            found.build(DbBackend::Postgres).sql
        };
        assert!(only_reads(&text(None)));
        assert!(!only_reads(&text(Some(LockType::Update))) && !only_reads(&text(Some(LockType::Share))));
        for sql in
            ["SELECT set_config('a', 'b', true)", "SELECT pg_advisory_lock(1)", "INSERT INTO \"a\"", "SAVEPOINT a"]
        {
            assert!(!only_reads(sql), "{sql}");
        }
    }
}
