//! Who changes the schema: one process at a time.

use postgres_kit::{Begin, Failure, Link, Target};
use sea_orm::{DatabaseConnection, DbErr};
use std::time::Duration;

/// A table may be large; whoever changes it is not in a hurry.
pub(super) const MIGRATION: Duration = Duration::from_hours(24);

/// The turn of a process to change it.
pub(super) struct Changing {
    /// The lock lives in a transaction of its own connection, so it is freed even when the process dies.
    lock: Link,
    pub(super) database: DatabaseConnection,
    failure: Failure,
}

impl Changing {
    pub(super) async fn begin(target: &Target) -> Result<Self, DbErr> {
        let lock = Link::open(target, MIGRATION).await?;
        lock.begin(Begin::Writing).await?;
        migrations::take_lock(&lock).await?;
        let (database, failure) = postgres_kit::proxied(target, MIGRATION).await?;
        migrations::without_hurry(&database).await?;
        Ok(Self { lock, database, failure })
    }

    /// Lets others take their turn. What could not be told at its time comes first: the rest only follows from it.
    pub(super) async fn end<T>(self, done: Result<T, DbErr>) -> Result<T, DbErr> {
        self.failure.told()?;
        let done = done?;
        self.lock.rollback().await?;
        self.lock.close().await;
        Ok(done)
    }
}
