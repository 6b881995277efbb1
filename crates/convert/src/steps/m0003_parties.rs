//! Customers and suppliers.

use super::columns::{bytewise, flag, number, record_keeping, text, uuid};
use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let mut parties = Table::create()
            .table("parties")
            .col(uuid("business_id"))
            .col(uuid("id"))
            .col(text("name").not_null())
            .col(bytewise(manager, "name_key").not_null())
            .col(bytewise(manager, "code"))
            .col(flag("is_customer").not_null())
            .col(flag("is_supplier").not_null())
            .col(text("kind").not_null())
            .col(text("tax_number"))
            .col(text("registration_number"))
            .col(text("email"))
            .col(text("phone"))
            .col(text("website"))
            .col(text("billing_address"))
            .col(text("shipping_address"))
            .col(text("contacts").not_null())
            .col(bytewise(manager, "currency"))
            .col(number("payment_term_days"))
            .col(number("credit_limit"))
            .col(flag("prices_include_tax"))
            .col(number("discount_percent"))
            .col(text("bank_details"))
            .col(text("peppol_id"))
            .col(text("status").not_null())
            .col(text("blocked").not_null())
            .col(text("notes"))
            .col(bytewise(manager, "external_id"))
            .col(text("tags").not_null())
            .col(bytewise(manager, "search").not_null())
            .primary_key(Index::create().col("business_id").col("id"))
            .foreign_key(
                ForeignKey::create().name("parties_business").from("parties", "business_id").to("businesses", "id"),
            )
            .take();
        manager.create_table(record_keeping(&mut parties).take()).await?;
        for (name, column, unique) in [
            ("parties_code", "code", true),
            ("parties_external_id", "external_id", true),
            ("parties_by_name", "name_key", false),
            ("parties_by_update", "updated_at", false),
        ] {
            let mut index = Index::create().name(name).table("parties").col("business_id").col(column).take();
            if unique {
                index.unique();
            } else {
                index.col("id");
            }
            manager.create_index(index).await?;
        }
        Ok(())
    }
}
