//! Users, and the log-ins that failed.

use super::columns::{bytewise, flag, number, text, uuid};
use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager
            .create_table(
                Table::create()
                    .table("users")
                    .col(uuid("id").primary_key())
                    .col(text("email").not_null())
                    .col(bytewise(manager, "email_key").not_null().unique_key())
                    .col(text("username"))
                    .col(bytewise(manager, "username_key").unique_key())
                    .col(text("display_name").not_null())
                    .col(text("password_hash").not_null())
                    .col(text("status").not_null())
                    .col(number("token_version").not_null())
                    .col(flag("is_system_admin").not_null())
                    .col(number("version").not_null())
                    .col(number("created_at").not_null())
                    .col(number("updated_at").not_null())
                    .take(),
            )
            .await?;
        manager
            .create_table(
                Table::create()
                    .table("login_failures")
                    .col(uuid("id").primary_key())
                    .col(bytewise(manager, "subject").not_null())
                    .col(number("failed_at").not_null())
                    .take(),
            )
            .await?;
        manager
            .create_index(
                Index::create()
                    .name("login_failures_by_subject")
                    .table("login_failures")
                    .col("subject")
                    .col("failed_at")
                    .take(),
            )
            .await
    }
}
