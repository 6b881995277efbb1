//! People: permission sets of companies, what is known of sign-ins, and keys for programs.

use super::columns::{self, bytewise, flag, key, number, of_company, record_keeping, text, uuid};
use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::{ConnectionTrait, DbBackend};

#[derive(DeriveMigrationName)]
pub struct Migration;

/// The built-in sets: role, name, what it is for.
const BUILT_IN: [(&str, &str, &str); 9] = [
    ("owner", "Owner", "Everything, the company itself and its people included."),
    ("accountant", "Accountant", "All of the books, but not the company''s existence nor its people."),
    ("bookkeeper", "Bookkeeper", "Day-to-day entry, without removing anything."),
    ("sales", "Sales", "Customers and what is sold to them."),
    ("purchasing", "Purchasing", "Suppliers and what is bought from them."),
    ("warehouse", "Warehouse", "Goods in and out."),
    ("cashier", "Cashier", "Money in and out."),
    ("auditor", "Auditor", "Reads everything, changes nothing."),
    ("apiReadOnly", "Read-only, for programs", "Reads the books, changes nothing."),
];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in [permission_sets(manager), sign_ins(), api_keys(manager)] {
            manager.create_table(table).await?;
        }
        let connection = manager.get_connection();
        let on_postgres = manager.get_database_backend() == DbBackend::Postgres;
        let identifier = if on_postgres { "gen_random_uuid()" } else { "randomblob(16)" };
        for (role, name, about) in BUILT_IN {
            let search = format!("{} {}", name.to_lowercase(), about.to_lowercase());
            connection
                .execute_unprepared(&format!(
                    "INSERT INTO permission_sets (business_id, id, name, name_key, description, role, grants, search, \
                     version, created_at, created_by, updated_at, updated_by) \
                     SELECT id, {identifier}, '{name}', '{}', '{about}', '{role}', '[]', '{search}', 1, created_at, \
                     created_by, created_at, created_by FROM businesses",
                    name.to_lowercase()
                ))
                .await?;
        }
        columns::add(manager, "memberships", maybe("permission_id")).await?;
        connection
            .execute_unprepared(
                "UPDATE memberships SET permission_id = (SELECT s.id FROM permission_sets s \
                 WHERE s.business_id = memberships.business_id AND s.role = memberships.role)",
            )
            .await?;
        connection.execute_unprepared("ALTER TABLE memberships DROP COLUMN role").await?;
        for column in
            [maybe("created_by"), maybe("updated_by"), maybe("home_id"), text("locale"), kept_flag(), search()]
        {
            columns::add(manager, "users", column).await?;
        }
        connection
            .execute_unprepared(
                "UPDATE users SET created_by = id, updated_by = id, \
                 search = LOWER(email || ' ' || COALESCE(username, '') || ' ' || display_name)",
            )
            .await?;
        for (table, events) in
            [("permission_sets", &["INSERT", "UPDATE", "DELETE"][..]), ("api_keys", &["INSERT", "DELETE"])]
        {
            for event in events {
                let name = format!("{table}_count_{}", event.to_lowercase());
                let what = if on_postgres {
                    "FOR EACH STATEMENT EXECUTE FUNCTION count_access_change()"
                } else {
                    "BEGIN UPDATE access_changes SET count = count + 1 WHERE id = 1; END"
                };
                let trigger = format!("CREATE TRIGGER {name} AFTER {event} ON {table} {what}");
                connection.execute_unprepared(&trigger).await?;
            }
        }
        Ok(())
    }
}

fn maybe(name: &'static str) -> ColumnDef {
    columns::maybe_uuid(name)
}

fn kept_flag() -> ColumnDef {
    flag("must_change_password").not_null().default(false).take()
}

fn search() -> ColumnDef {
    text("search").not_null().default("").take()
}

fn permission_sets(manager: &SchemaManager<'_>) -> TableCreateStatement {
    let mut table = of_company("permission_sets");
    table
        .col(uuid("id"))
        .col(text("name").not_null())
        .col(bytewise(manager, "name_key").not_null())
        .col(text("description"))
        .col(text("role"))
        .col(text("grants").not_null())
        .col(number("max_document_amount"))
        .col(number("backdate_days"))
        .col(text("search").not_null());
    record_keeping(&mut table).primary_key(&mut key(&["id"])).take()
}

/// What changes with a sign-in; apart from users, whose changes make everybody look again.
fn sign_ins() -> TableCreateStatement {
    Table::create()
        .table("sign_ins")
        .col(uuid("user_id").primary_key())
        .col(number("last_at"))
        .col(text("totp_secret"))
        .col(flag("totp_on").not_null())
        .col(number("totp_step").not_null())
        .take()
}

fn api_keys(manager: &SchemaManager<'_>) -> TableCreateStatement {
    let mut table = of_company("api_keys");
    table
        .col(uuid("id"))
        .col(uuid("user_id"))
        .col(text("name").not_null())
        .col(bytewise(manager, "name_key").not_null())
        .col(text("hint").not_null())
        .col(bytewise(manager, "digest").not_null().unique_key())
        .col(text("scopes"))
        .col(text("allowed_addresses").not_null())
        .col(number("expires_at"))
        .col(text("search").not_null());
    record_keeping(&mut table).primary_key(&mut key(&["id"])).take()
}
