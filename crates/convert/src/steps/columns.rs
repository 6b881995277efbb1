//! Column shapes that every table shares.

use migrations::noting;
use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::{ConnectionTrait, DbBackend};

/// Text that is sorted or compared by bytes on both engines: PostgreSQL would else follow its locale.
pub(crate) fn bytewise(manager: &SchemaManager<'_>, name: &'static str) -> ColumnDef {
    let mut column = ColumnDef::new(Alias::new(name));
    column.text();
    if manager.get_database_backend() == DbBackend::Postgres {
        column.extra("COLLATE \"C\"");
    }
    column
}

pub(crate) fn text(name: &'static str) -> ColumnDef {
    ColumnDef::new(Alias::new(name)).text().take()
}

pub(crate) fn uuid(name: &'static str) -> ColumnDef {
    ColumnDef::new(Alias::new(name)).uuid().not_null().take()
}

pub(crate) fn number(name: &'static str) -> ColumnDef {
    ColumnDef::new(Alias::new(name)).big_integer().take()
}

pub(crate) fn flag(name: &'static str) -> ColumnDef {
    ColumnDef::new(Alias::new(name)).boolean().take()
}

/// Gives a table that is there another column. What is written to it from here on is noted like all else.
pub(crate) async fn add(manager: &SchemaManager<'_>, table: &'static str, column: ColumnDef) -> Result<(), DbErr> {
    manager.alter_table(Table::alter().table(table).add_column(column).take()).await?;
    noting::make_of_table(manager.get_connection(), table).await
}

/// Who and when, and the version that `ETag` is made from.
pub(crate) fn record_keeping(table: &mut TableCreateStatement) -> &mut TableCreateStatement {
    table
        .col(number("version").not_null())
        .col(number("created_at").not_null())
        .col(uuid("created_by"))
        .col(number("updated_at").not_null())
        .col(uuid("updated_by"))
}

pub(crate) fn of_company(name: &'static str) -> TableCreateStatement {
    Table::create().table(name).col(uuid("business_id")).take()
}

pub(crate) fn maybe_uuid(name: &'static str) -> ColumnDef {
    ColumnDef::new(Alias::new(name)).uuid().take()
}

pub(crate) fn key(columns: &[&'static str]) -> IndexCreateStatement {
    let mut key = Index::create();
    key.col("business_id");
    for column in columns {
        key.col(*column);
    }
    key.take()
}

/// Gives companies that were made before these kinds of documents existed their number series: kind, name, prefix.
pub(crate) async fn series(manager: &SchemaManager<'_>, all: &[(&str, &str, &str)]) -> Result<(), DbErr> {
    let identifier = match manager.get_database_backend() {
        DbBackend::Postgres => "gen_random_uuid()",
        _ => "randomblob(16)",
    };
    for (kind, name, prefix) in all {
        let (key, search) = (name.to_lowercase(), format!("{name} {prefix}-{{FY}}-{{0000}}").to_lowercase());
        manager
            .get_connection()
            .execute_unprepared(&format!(
                "INSERT INTO number_series (business_id, id, type, name, name_key, pattern, first_number, reset_on, \
                 allow_manual, chronological, is_default, status, search, version, created_at, created_by, \
                 updated_at, updated_by) \
                 SELECT b.id, {identifier}, '{kind}', '{name}', '{key}', '{prefix}-{{FY}}-{{0000}}', 1, 'fiscalYear', \
                 false, 'off', true, 'active', '{search}', 1, b.created_at, b.created_by, b.created_at, b.created_by \
                 FROM businesses b WHERE EXISTS (SELECT 1 FROM number_series s WHERE s.business_id = b.id)"
            ))
            .await?;
    }
    Ok(())
}
