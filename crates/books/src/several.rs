//! Several operations in one command: each is done as if it came alone, on what those before it left.
//!
//! Owns: that an operation finds what was planned before it written, that one which fails can be undone by itself, and that
//! each shows what it alone would have posted. Refuses: to know what an operation does.

use crate::access::{Business, seen_from};
use crate::cx::{Cx, Expectation};
use crate::database::{Db, Session};
use crate::desk::Rehearsed;
use crate::error::{Error, Result};
use std::future::Future;

impl<'a> Cx<'a> {
    /// One of several operations, which expects a version of its own. The company is as it stands by now.
    pub fn operation<'b>(&'b self, business: &'b Business, expectation: &'b Expectation) -> Cx<'b> {
        self.anew(business, expectation)
    }

    /// The same of the one that stands at a place among them.
    pub fn operation_at<'b>(&'b self, place: usize, business: &'b Business, expectation: &'b Expectation) -> Cx<'b> {
        self.operation(business, expectation).naming(self.names_of(place))
    }

    /// The company as those before it left it: a party may have become part of another.
    pub async fn company_by_now(&self) -> Result<Business> {
        let known = self.business()?;
        seen_from(&self.db, known.id, known.seat.as_ref().clone()).await
    }

    /// Does an operation, and writes what it planned: those after it find it, and what the database objects to is its own.
    pub async fn done<T>(&self, work: impl Future<Output = Result<T>> + Send) -> Result<T> {
        let outcome = work.await?;
        self.desk()?.flush(&self.db).await?;
        Ok(outcome)
    }

    /// The same behind a savepoint: where it fails it alone is undone. The outer result is that of the command, which cannot
    /// go on where the server is at fault and not the caller.
    pub async fn done_apart<T>(&self, work: impl Future<Output = Result<T>> + Send) -> Result<Result<T>> {
        let transaction = self.transaction()?;
        transaction.set_savepoint().await?;
        match self.done(work).await {
            Ok(outcome) => {
                transaction.release_savepoint().await?;
                Ok(Ok(outcome))
            }
            Err(error) if error.is_of_the_caller() => {
                transaction.undo_to_savepoint().await?;
                // What it read and remembered may be undone with it.
                let desk = self.desk()?;
                desk.forget_command();
                desk.open(&self.db, self.business_id()?).await?;
                Ok(Err(error))
            }
            Err(error) => Err(error),
        }
    }

    fn transaction(&self) -> Result<&'a Session> {
        match self.db {
            Db::Session(transaction) => Ok(transaction),
            Db::Reads(_) => Err(Error::internal("a write outside a transaction")),
        }
    }

    /// Writes what was planned by others before the first of them. Whether nothing of it is to stay is answered.
    pub async fn begin_several(&self) -> Result<bool> {
        let desk = self.desk()?;
        desk.flush(&self.db).await?;
        Ok(desk.is_rehearsing())
    }

    /// From now on, what is posted is kept to be shown.
    pub fn rehearse(&self) -> Result<()> {
        self.desk()?.rehearse();
        Ok(())
    }

    /// What was posted since.
    pub fn rehearsed(&self) -> Result<Vec<Rehearsed>> {
        Ok(self.desk()?.rehearsed())
    }
}
