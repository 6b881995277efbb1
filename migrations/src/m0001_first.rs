//! The first schema: every table, room by room.
//!
//! Plain SQL that a distributed PostgreSQL takes too: no sequences, no engine types, the company leads every key of its
//! tables, tables of people and companies refer to none of a company's, and no guard asks for all rows of a statement.

mod companies;
mod documents;
mod ledger;
mod masters;
mod people;
mod proof;
mod search;
mod settlement;
mod stock;
mod tax;
mod webhooks;

use crate::distributing::NOBODY;
use crate::table::{COUNT_ACCESS_CHANGE, INSTR, NOTE_ACCESS_CHANGE, REFUSE_CHANGE, Table};
use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::{ConnectionTrait, DbBackend};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let connection = manager.get_connection();
        make(connection).await?;
        begin(connection).await?;
        guard(connection).await
    }
}

/// The tables, each after those that it refers to.
pub fn tables() -> Vec<Table> {
    [
        companies::tables(),
        people::tables(),
        masters::tables(),
        documents::tables(),
        search::tables(),
        ledger::tables(),
        settlement::tables(),
        tax::tables(),
        stock::tables(),
        proof::tables(),
        webhooks::tables(),
    ]
    .concat()
}

/// Makes the tables, bare: what finds and guards their rows is made by [`guard`], once these are there.
pub async fn make(connection: &impl ConnectionTrait) -> Result<(), DbErr> {
    for table in tables() {
        table.make(connection).await?;
    }
    Ok(())
}

/// Puts in what new books begin with.
async fn begin(connection: &impl ConnectionTrait) -> Result<(), DbErr> {
    let nobody = match connection.get_database_backend() {
        DbBackend::Postgres => NOBODY,
        _ => "X'00000000000000000000000000000000'",
    };
    for statement in [
        "INSERT INTO access_changes (id, count) VALUES (1, 1)".to_owned(),
        "INSERT INTO running_time (id, at) VALUES (1, 0)".to_owned(),
        // The installation has an audit log of its own, kept like that of a company, under nobody's identifier.
        format!(
            "INSERT INTO books (business_id, version, entry_number, recorded_at, audit_sequence, audit_hash) \
             VALUES ({nobody}, 0, 0, 0, 0, '')"
        ),
    ] {
        connection.execute_unprepared(&statement).await?;
    }
    Ok(())
}

/// Makes indexes, guards, and the triggers that note what is written without its seal.
pub async fn guard(connection: &impl ConnectionTrait) -> Result<(), DbErr> {
    if connection.get_database_backend() == DbBackend::Postgres {
        for function in [INSTR, REFUSE_CHANGE, COUNT_ACCESS_CHANGE, NOTE_ACCESS_CHANGE] {
            connection.execute_unprepared(function).await?;
        }
    }
    for table in tables() {
        table.guard(connection).await?;
    }
    Ok(())
}
