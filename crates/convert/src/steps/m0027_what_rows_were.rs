//! What a row was before it changed stands beside the note of it: what somebody else changed is not sealed as it stands.
//!
//! The triggers that write it down are made of the columns that there are, once all migrations ran; see `noting`.

use super::columns::{self, number, text};
use migrations::noting;
use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for column in [text("was").not_null().default(""), number("step").not_null().default(0)] {
            columns::add(manager, "touched", column.take()).await?;
        }
        // Keys that are no more, under the key that is: what they signed and cannot be signed again is still proved.
        let former = text("former_keys").not_null().default("").take();
        columns::add(manager, "installation", former).await?;
        noting::is_due(manager.get_connection()).await
    }
}
