//! Several snapshots of one and the same moment, for what reads with many hands.
//!
//! PostgreSQL hands a snapshot on by its name. SQLite does not, nor do machines over which books are distributed: there each
//! is begun by itself, and those count whose head of the company is the same, signature and all, since no commit changes the
//! company's rows and leaves its head.

use super::{Database, Engine, Session};
use crate::error::Result;
use crate::ids::BusinessId;
use migrations::distributing;
use schema::tables::books;
use sea_orm::{ConnectionTrait, DbBackend, DbErr, Statement};

/// So often is tried to begin another at the moment of the first; where there is no pause between commits, fewer hands do.
const TRIES: usize = 20;

impl Database {
    /// So many snapshots at most that see a company as it is at one moment; one at least.
    pub async fn snapshots(&self, company: BusinessId, most: usize) -> Result<Vec<Session>> {
        // One place stays free, for whoever asks beside it.
        let most = most.min(self.read.places().saturating_sub(1));
        let mut alike = vec![self.snapshot().await?];
        match &self.engine {
            Engine::Postgres(_) if most <= 1 => {}
            Engine::Postgres(_) if !distributing::is_distributed(&alike[0]).await? => {
                let name = exported(&alike[0]).await?;
                while alike.len() < most {
                    let session = self.snapshot().await?;
                    session.execute_unprepared(&format!("SET TRANSACTION SNAPSHOT '{name}'")).await?;
                    alike.push(session);
                }
            }
            Engine::Postgres(_) | Engine::Sqlite(_) => {
                let head = head(&alike[0], company).await?;
                for _ in 1..most + TRIES {
                    if alike.len() >= most {
                        break;
                    }
                    let session = self.snapshot().await?;
                    if self::head(&session, company).await? == head {
                        alike.push(session);
                    }
                }
            }
        }
        Ok(alike)
    }
}

impl Session {
    /// The name by which other programs see what this one sees, where the engine has such names.
    pub async fn name(&self) -> Result<Option<String>> {
        match self {
            Self::Postgres(_) => exported(self).await.map(Some),
            Self::Sqlite(_) | Self::SqliteSnapshot(_) | Self::Meanwhile(_) => Ok(None),
        }
    }
}

/// The name by which others see what this one sees.
async fn exported(session: &Session) -> Result<String> {
    let asked = Statement::from_string(DbBackend::Postgres, "SELECT pg_export_snapshot() AS name");
    let row = session.query_one_raw(asked).await?;
    let row = row.ok_or_else(|| DbErr::Custom("the engine names no snapshot".into()))?;
    let name: String = row.try_get("", "name")?;
    // It becomes part of a statement.
    if name.chars().any(|sign| !sign.is_ascii_hexdigit() && sign != '-') {
        return Err(DbErr::Custom("the engine names a snapshot strangely".into()).into());
    }
    Ok(name)
}

/// Where the books of a company stand, as they are signed.
async fn head(session: &Session, company: BusinessId) -> Result<Option<books::Model>> {
    Ok(books::Entity::find_by_id(company).one(session).await?)
}
