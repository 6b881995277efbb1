//! Rows that are put in, all statements of them sent at once.
//!
//! A statement takes the rows of one table as one array a column: its text does not grow with the rows, so that the server
//! has prepared it once, and what is awaited does not grow with the tables.

use crate::fault::Fault;
use crate::link::{Answer, Link};
use crate::values::{Bound, Many};
use futures_util::future::join_all;
use sea_orm::Value;
use std::sync::Arc;

/// The rows of one statement, which takes as many arrays as a row has values.
#[derive(Debug, Clone)]
pub struct Rows {
    pub sql: Arc<str>,
    pub width: usize,
    /// Row after row.
    pub values: Vec<Value>,
}

/// The server said that it does no more in a transaction after something in it failed.
const AFTER_A_FAILURE: &str = "25P02";

/// As many statements as are under way at once.
const AT_ONCE: usize = 24;

impl Rows {
    /// As one array a column.
    fn columns(self) -> Result<(String, Vec<Many>), Fault> {
        let Self { sql, width, values } = self;
        if width == 0 || values.is_empty() || values.len() % width != 0 {
            return Err(Fault::ours("rows that are to be put in are not whole"));
        }
        let rows = values.len() / width;
        let mut columns: Vec<Many> = Vec::with_capacity(width);
        for (place, value) in values.into_iter().enumerate() {
            let value = Bound::of(value)?;
            match columns.get_mut(place % width) {
                Some(column) => column.push(value)?,
                None => columns.push(Many::of(value, rows)),
            }
        }
        Ok((sql.to_string(), columns))
    }
}

impl Link {
    /// Puts in the rows of all statements, in their order.
    pub async fn put(&self, all: Vec<Rows>) -> Result<(), Fault> {
        let mut rest = all.into_iter().peekable();
        while rest.peek().is_some() {
            let some = rest.by_ref().take(AT_ONCE).map(Rows::columns).collect::<Result<Vec<_>, _>>()?;
            self.send(some).await?;
        }
        Ok(())
    }

    async fn send(&self, all: Vec<(String, Vec<Many>)>) -> Result<(), Fault> {
        let inner = self.inner().clone();
        let sent = self.ask(Box::pin(async move {
            let mut prepared = Vec::with_capacity(all.len());
            for (sql, columns) in all {
                let kinds = columns.iter().map(Many::kind).collect();
                prepared.push((inner.prepared(sql, kinds).await?, columns));
            }
            // Each is sent when it is asked for the first time, which happens in their order.
            let done = join_all(prepared.iter().map(|(statement, columns)| inner.put(statement, columns))).await;
            let mut failed = done.into_iter().filter_map(Result::err);
            match failed.find(|fault| fault.code() != AFTER_A_FAILURE) {
                Some(fault) => Err(fault),
                None => Ok(Answer::Done),
            }
        }));
        sent.await.map(drop)
    }
}
