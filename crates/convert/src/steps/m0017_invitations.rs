//! Invitations to companies, and the chain of the installation itself.
//!
//! Somebody who was invited and has not accepted yet is a user of a company without an account: their name to log in with
//! is one that nobody can give. The installation's own audit log is kept like that of a company, under no company's
//! identifier.

use super::columns::{bytewise, number, uuid};
use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::{ConnectionTrait, DbBackend};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let table = Table::create()
            .table("invitations")
            .col(uuid("user_id").primary_key())
            .col(uuid("business_id"))
            .col(bytewise(manager, "email_key").not_null())
            .col(bytewise(manager, "digest").not_null().unique_key())
            .col(number("expires_at").not_null())
            .col(number("created_at").not_null())
            .col(uuid("created_by"))
            .take();
        manager.create_table(table).await?;
        let connection = manager.get_connection();
        let (nobody, identifier) = match manager.get_database_backend() {
            DbBackend::Postgres => ("'00000000-0000-0000-0000-000000000000'", "id::text"),
            _ => ("X'00000000000000000000000000000000'", "lower(hex(id))"),
        };
        // Accounts that were never given a password are invitations from now on: an address alone is nobody.
        let waiting = format!(
            "UPDATE users SET email_key = email_key || ' ' || {identifier}, username = NULL, username_key = NULL \
             WHERE status = 'invited' AND password_hash = ''"
        );
        connection.execute_unprepared(&waiting).await?;
        let books = format!(
            "INSERT INTO books (business_id, version, entry_number, recorded_at, audit_sequence, audit_hash) \
             VALUES ({nobody}, 0, 0, 0, 0, '')"
        );
        connection.execute_unprepared(&books).await.map(|_| ())
    }
}
