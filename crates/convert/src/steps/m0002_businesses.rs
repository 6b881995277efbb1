//! Companies, and who may do what in them.

use super::columns::{bytewise, number, record_keeping, text, uuid};
use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let mut businesses = Table::create()
            .table("businesses")
            .col(uuid("id").primary_key())
            .col(text("name").not_null())
            .col(bytewise(manager, "name_key").not_null())
            .col(text("legal_name"))
            .col(bytewise(manager, "base_currency").not_null())
            .col(bytewise(manager, "country"))
            .col(text("timezone").not_null())
            .col(number("fiscal_year_start_month").not_null())
            .col(number("fiscal_year_start_day").not_null())
            .col(text("tax_number"))
            .col(text("registration_number"))
            .col(text("address"))
            .col(text("email"))
            .col(text("phone"))
            .col(text("website"))
            .col(text("settings").not_null())
            .col(text("status").not_null())
            .col(bytewise(manager, "external_id").unique_key())
            .col(text("tags").not_null())
            .col(bytewise(manager, "search").not_null())
            .take();
        manager.create_table(record_keeping(&mut businesses).take()).await?;
        manager
            .create_table(
                Table::create()
                    .table("memberships")
                    .col(uuid("business_id"))
                    .col(uuid("user_id"))
                    .col(text("role").not_null())
                    .primary_key(Index::create().col("business_id").col("user_id"))
                    .foreign_key(
                        ForeignKey::create()
                            .name("memberships_business")
                            .from("memberships", "business_id")
                            .to("businesses", "id"),
                    )
                    .foreign_key(
                        ForeignKey::create().name("memberships_user").from("memberships", "user_id").to("users", "id"),
                    )
                    .take(),
            )
            .await?;
        manager
            .create_index(
                Index::create()
                    .name("memberships_by_user")
                    .table("memberships")
                    .col("user_id")
                    .col("business_id")
                    .take(),
            )
            .await
    }
}
