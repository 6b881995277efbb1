//! Column shapes that every table shares.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::DbBackend;

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

/// Who and when, and the version that `ETag` is made from.
pub(crate) fn record_keeping(table: &mut TableCreateStatement) -> &mut TableCreateStatement {
    table
        .col(number("version").not_null())
        .col(number("created_at").not_null())
        .col(uuid("created_by"))
        .col(number("updated_at").not_null())
        .col(uuid("updated_by"))
}
