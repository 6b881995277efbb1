//! How migrations run: each in a transaction of its own, and what it noted is signed before that is committed.
//!
//! What migrations changed is sealed later as it stands, once the schema is what the server knows. So nobody else's note
//! may pass for theirs: the notes of each are known by a signature over all of them, under a key that is not in the
//! database. A process that ends in between leaves to the next one what it did, and nothing half done.

use crate::distributing::NOBODY;
use crate::{Migrator, has_table, noting};
use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, DbErr, Statement, TransactionTrait};

/// Signs a text.
pub type Sign<'s> = &'s (dyn Fn(&str) -> String + Send + Sync);

/// What the batch of a migration's notes begins with; its name and the signature follow.
const BATCH: &str = "migration ";
/// As many notes as are signed at once.
const PORTION: usize = 1_000;

/// What is noted, and nobody forgot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Left {
    /// The batches of migrations that ran.
    pub signed: Vec<String>,
    /// How many notes are nobody's.
    pub strange: i64,
}

/// Runs what has not run yet. How many notes there were that nobody of us made is answered: they are gone.
pub(crate) async fn all(database: &DatabaseConnection, sign: Sign<'_>) -> Result<i64, DbErr> {
    Migrator::install(database).await?;
    let there = crate::versions(database).await?;
    let mut strange = 0;
    for migration in Migrator::migrations() {
        if !there.iter().any(|name| name == migration.name()) {
            strange += run(database, &*migration, sign).await?;
        }
    }
    Ok(strange)
}

/// Runs one migration. How many notes there were before that nobody of us made is answered.
pub async fn run(database: &DatabaseConnection, migration: &dyn MigrationTrait, sign: Sign<'_>) -> Result<i64, DbErr> {
    let (transaction, name) = (database.begin().await?, migration.name());
    let on_postgres = database.get_database_backend() == DbBackend::Postgres;
    let batch = if on_postgres { begin_on_postgres(&transaction).await? } else { String::new() };
    // What is noted under no batch by now, nobody of us wrote.
    let mut strange = 0;
    if has_table(&transaction, "touched").await? {
        strange = count(&transaction, "batch = ''").await?;
        transaction.execute_unprepared("DELETE FROM touched WHERE batch = ''").await?;
        noting::is_due(&transaction).await?;
    }
    migration.up(&SchemaManager::new(&transaction)).await?;
    let now = if on_postgres { "extract(epoch FROM now())::bigint" } else { "CAST(strftime('%s', 'now') AS INTEGER)" };
    let ran = format!("INSERT INTO seaql_migrations (version, applied_at) VALUES ('{name}', {now})");
    transaction.execute_unprepared(&ran).await?;
    if has_table(&transaction, "touched").await?
        && let Some(signature) = signature(&transaction, (name, &batch), sign).await?
    {
        let signed = format!("UPDATE touched SET batch = '{BATCH}{name} {signature}' WHERE batch = '{batch}'");
        transaction.execute_unprepared(&signed).await?;
    }
    transaction.commit().await?;
    Ok(strange)
}

/// From here on, what is noted as touched is this transaction's, under a name that nobody else can know.
async fn begin_on_postgres(transaction: &impl ConnectionTrait) -> Result<String, DbErr> {
    let name = "SELECT replace(gen_random_uuid()::text, '-', '') AS batch";
    let row = transaction.query_one_raw(Statement::from_string(DbBackend::Postgres, name)).await?;
    let batch: String = row.ok_or_else(|| DbErr::Custom("a batch has no name".into()))?.try_get("", "batch")?;
    transaction.execute_unprepared(&format!("SET LOCAL duet.batch = '{batch}'")).await?;
    Ok(batch)
}

async fn count(connection: &impl ConnectionTrait, which: &str) -> Result<i64, DbErr> {
    let engine = connection.get_database_backend();
    let asked = Statement::from_string(engine, format!("SELECT COUNT(*) AS notes FROM touched WHERE {which}"));
    let row = connection.query_one_raw(asked).await?;
    row.ok_or_else(|| DbErr::Custom("nobody says how much is noted".into()))?.try_get("", "notes")
}

/// The signature of what a migration noted, in whatever order it is read; nothing where it noted nothing.
async fn signature(
    connection: &impl ConnectionTrait,
    (name, batch): (&str, &str),
    sign: Sign<'_>,
) -> Result<Option<String>, DbErr> {
    let engine = connection.get_database_backend();
    let company = match engine {
        DbBackend::Postgres => format!("COALESCE(replace(NULLIF(business_id, {NOBODY})::text, '-', ''), '')"),
        _ => "COALESCE(lower(hex(business_id)), '')".to_owned(),
    };
    let asked = format!("SELECT relation, {company} AS company, key, old FROM touched WHERE batch = $1");
    let asked = Statement::from_sql_and_values(engine, asked, [batch.into()]);
    let mut notes = Vec::new();
    for row in connection.query_all_raw(asked).await? {
        let mut note = String::new();
        for column in ["relation", "company", "key", "old"] {
            let part: String = row.try_get("", column)?;
            note.push_str(&format!("{}:{part}", part.len()));
        }
        notes.push(note);
    }
    if notes.is_empty() {
        return Ok(None);
    }
    notes.sort_unstable();
    let mut signature = sign(&format!("{}:{name}{}", name.len(), notes.len()));
    for portion in notes.chunks(PORTION) {
        signature = sign(&format!("{signature}{}", portion.concat()));
    }
    Ok(Some(signature))
}

/// What is noted and whose it is.
pub async fn left(connection: &impl ConnectionTrait, sign: Sign<'_>) -> Result<Left, DbErr> {
    let engine = connection.get_database_backend();
    let asked = format!(
        "SELECT batch, COUNT(*) AS notes FROM touched WHERE batch <> '' AND batch <> '{}' GROUP BY batch",
        noting::DUE
    );
    let mut left = Left::default();
    for row in connection.query_all_raw(Statement::from_string(engine, asked)).await? {
        let batch: String = row.try_get("", "batch")?;
        if is_signed(connection, &batch, sign).await? {
            left.signed.push(batch);
        } else {
            left.strange += row.try_get::<i64>("", "notes")?;
        }
    }
    Ok(left)
}

async fn is_signed(connection: &impl ConnectionTrait, batch: &str, sign: Sign<'_>) -> Result<bool, DbErr> {
    let Some((name, told)) = batch.strip_prefix(BATCH).and_then(|rest| rest.split_once(' ')) else { return Ok(false) };
    Ok(signature(connection, (name, batch), sign).await?.is_some_and(|made| same(&made, told)))
}

/// Without telling by its time how much of them is.
fn same(left: &str, right: &str) -> bool {
    left.len() == right.len() && left.bytes().zip(right.bytes()).fold(0, |sum, (left, right)| sum | (left ^ right)) == 0
}
