//! Seals for what came after them: invitations.

use crate::sealed::{Key, Sealed, seal};
use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let key = &[Key::Uuid("user_id")];
        let invitations = Sealed { table: "invitations", company: None, key, only: &[], grows_only: false };
        seal(manager, &[invitations]).await
    }
}
