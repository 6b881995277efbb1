//! Empty books, which the databases of new tenants are made of: what migrations make one after the other is copied at once.
//!
//! Each cluster has one such database for each schema. Nobody's rows are in it, and once it is whole nobody connects to it.

use catalogue::{Cluster, Pattern};
use ledger_core::database::{Patience, make_tables, schema_name};
use ledger_core::fault::said;
use sea_orm::DbErr;
use std::time::Duration;
use tokio::time::timeout;

/// As long as a newcomer waits for what is copied.
const MAKING: Duration = Duration::from_secs(30);

/// What it is called: by the schema, so that a release that has another one makes its own.
fn name() -> String {
    format!("books_of_duet_{}", schema_name())
}

/// Makes the database of a new tenant. Where none can be copied, its tables are made when it is opened.
pub(super) async fn make(cluster: &Cluster, database: &str, patience: Patience) -> Result<(), DbErr> {
    let name = name();
    let copied = async {
        // Somebody may stand still while they make it.
        let is_whole = timeout(MAKING, is_whole(cluster, &name, patience)).await;
        if is_whole.map_err(|_| DbErr::Custom(format!("{name} is not made within {MAKING:?}")))?? {
            cluster.make(database, Some(&name), patience).await?;
            return Ok(true);
        }
        Ok(false)
    };
    match copied.await {
        Ok(true) => return Ok(()),
        Ok(false) => {}
        Err(error) => {
            let error: DbErr = error;
            tracing::warn!(cluster = cluster.name(), error = %said(&error), "no empty books are copied");
        }
    }
    cluster.make(database, None, patience).await
}

/// Whether others can be made of it, which the first who asks makes so. What was cut off goes on.
async fn is_whole(cluster: &Cluster, name: &str, patience: Patience) -> Result<bool, DbErr> {
    let mut stands = cluster.pattern(name, patience).await?;
    if stands == Pattern::Missing {
        let made = cluster.make(name, None, patience).await;
        // Somebody may have been first.
        stands = cluster.pattern(name, patience).await?;
        if stands == Pattern::Missing {
            made?;
        }
    }
    if stands == Pattern::Begun {
        // Those who come at once make it one after the other, and find it made.
        let made = make_tables(&cluster.url_of(name), patience).await;
        if made.is_err() {
            stands = cluster.pattern(name, patience).await?;
        }
        if stands == Pattern::Begun {
            made?;
            cluster.close(name, patience).await?;
            stands = Pattern::Whole;
        }
    }
    Ok(stands == Pattern::Whole)
}
