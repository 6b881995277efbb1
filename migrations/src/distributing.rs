//! Books on many machines: on Citus the rows of a company lie together on one of them, and what is of all stays on the
//! coordinator.
//!
//! Owns: what is otherwise there than on one PostgreSQL. Refuses: to know which table is whose; each says so where it is
//! declared ([`crate::table::Table::spread_by`]).
//!
//! Guards and notes of a company's rows run beside the rows and reach what lies beside them. What counts changes of rights
//! and refers to companies is on the coordinator, where they cannot reach: it is left out, and who merges parties has the
//! company counted instead.

use crate::table::Table;
use crate::{first, has_table, noting};
use sea_orm_migration::sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, DbErr, Statement, TransactionTrait};
use std::fmt;

/// The table that all others lie beside.
const FIRST: &str = "books";

/// Under which company that is noted which is of none: a row lies where its company is.
pub const NOBODY: &str = "'00000000-0000-0000-0000-000000000000'";

/// What every session of such a database goes by. The name of a batch has to reach the triggers where the rows are; and one
/// connection to each machine sees what a snapshot began with.
const SETTINGS: &[(&str, &str)] =
    &[("citus.propagate_set_commands", "local"), ("citus.max_adaptive_executor_pool_size", "1")];

/// What of a table is left out where it is distributed: references to tables that are not, and what counts changes of rights.
const LEFT_OUT: &str = "\
 SELECT 'ALTER TABLE ' || r.relname || ' DROP CONSTRAINT ' || f.conname AS statement \
   FROM pg_constraint f JOIN pg_class r ON r.oid = f.conrelid JOIN pg_class o ON o.oid = f.confrelid \
   WHERE f.contype = 'f' AND r.relnamespace = current_schema()::regnamespace AND r.relname IN ({spread}) \
     AND o.relname NOT IN ({spread}) \
 UNION ALL SELECT 'DROP TRIGGER ' || g.tgname || ' ON ' || r.relname \
   FROM pg_trigger g JOIN pg_class r ON r.oid = g.tgrelid JOIN pg_proc p ON p.oid = g.tgfoid \
   WHERE NOT g.tgisinternal AND r.relnamespace = current_schema()::regnamespace AND r.relname IN ({spread}) \
     AND p.proname IN ('count_access_change', 'note_access_change')";

/// The triggers of tables: what drops and what makes each.
const TRIGGERS: &str = "\
 SELECT 'DROP TRIGGER ' || g.tgname || ' ON ' || r.relname AS gone, pg_get_triggerdef(g.oid) AS made \
   FROM pg_trigger g JOIN pg_class r ON r.oid = g.tgrelid \
   WHERE NOT g.tgisinternal AND r.relnamespace = current_schema()::regnamespace AND r.relname IN ({spread}) \
   ORDER BY r.relname, g.tgname";

/// What came of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Distributed {
    /// The tables that are distributed since.
    pub spread: Vec<&'static str>,
    /// Those that were before.
    pub were: usize,
    /// Those that stay on the coordinator.
    pub together: usize,
    /// The machines that take rows of companies.
    pub nodes: i64,
}

impl fmt::Display for Distributed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { spread, were, together, nodes } = self;
        if spread.is_empty() {
            return write!(f, "all {were} tables of companies were distributed already, over {nodes} nodes");
        }
        write!(
            f,
            "distributed {} tables by company over {nodes} nodes, {were} were; {together} tables of all stay on the coordinator",
            spread.len()
        )
    }
}

/// Every table that there is by the migrations of this program.
pub fn declared() -> Vec<Table> {
    first::tables()
}

async fn asked(connection: &impl ConnectionTrait, sql: impl Into<String>) -> Result<i64, DbErr> {
    let row = connection.query_one_raw(Statement::from_string(DbBackend::Postgres, sql.into())).await?;
    row.ok_or_else(|| DbErr::Custom("nobody answers how the database is distributed".into()))?.try_get("", "n")
}

/// Whether there is Citus in the database.
async fn has_citus(connection: &impl ConnectionTrait) -> Result<bool, DbErr> {
    Ok(asked(connection, "SELECT COUNT(*) AS n FROM pg_extension WHERE extname = 'citus'").await? > 0)
}

/// Whether the rows of companies are distributed.
pub async fn is_distributed(connection: &impl ConnectionTrait) -> Result<bool, DbErr> {
    if connection.get_database_backend() != DbBackend::Postgres || !has_citus(connection).await? {
        return Ok(false);
    }
    Ok(asked(connection, is_spread(FIRST)).await? > 0)
}

fn is_spread(table: &str) -> String {
    format!("SELECT COUNT(*) AS n FROM pg_dist_partition WHERE logicalrelid = to_regclass('\"{table}\"')")
}

/// Distributes what is of companies, all of it or nothing. Nobody else may have the database open.
pub async fn distribute(database: &DatabaseConnection) -> Result<Distributed, DbErr> {
    let nodes = nodes(database).await?;
    check_declared(database).await?;
    let (spread, together): (Vec<Table>, Vec<Table>) =
        declared().into_iter().partition(|table| table.spread_by().is_some());
    let mut done = Distributed { together: together.len(), nodes, ..Distributed::default() };
    let mut coming = Vec::new();
    for table in &spread {
        if asked(database, is_spread(table.name())).await? > 0 {
            done.were += 1;
        } else {
            coming.push(table);
        }
    }
    if coming.is_empty() {
        return Ok(done);
    }
    coming.sort_by_key(|table| table.name() != FIRST);
    check_alone(database).await?;
    let transaction = database.begin().await?;
    allow_triggers(&transaction).await?;
    transaction.execute_unprepared("SET LOCAL citus.multi_shard_modify_mode = sequential").await?;
    leave_out(&transaction).await?;
    let triggers = taken(&transaction, &coming).await?;
    transaction
        .execute_unprepared(&format!("UPDATE touched SET business_id = {NOBODY} WHERE business_id IS NULL"))
        .await?;
    for table in coming {
        let name = table.name();
        if table.key().is_empty() {
            // By what its rows are known while they move from one machine to another.
            transaction.execute_unprepared(&format!("ALTER TABLE \"{name}\" REPLICA IDENTITY FULL")).await?;
        }
        let by = table.spread_by().unwrap_or_default();
        let beside = if name == FIRST { "none" } else { FIRST };
        transaction
            .execute_unprepared(&format!(
                "SELECT create_distributed_table('\"{name}\"', '{by}', colocate_with => '{beside}')"
            ))
            .await?;
        done.spread.push(name);
    }
    for name in &done.spread {
        let emptied = format!("SELECT truncate_local_data_after_distributing_table('\"{name}\"')");
        transaction.execute_unprepared(&emptied).await?;
    }
    for trigger in triggers {
        transaction.execute_unprepared(&trigger).await?;
    }
    noting::make_within(&transaction, true).await?;
    let named = Statement::from_string(DbBackend::Postgres, "SELECT quote_ident(current_database()) AS name");
    let named = transaction.query_one_raw(named).await?.map(|row| row.try_get::<String>("", "name")).transpose()?;
    for (setting, value) in SETTINGS {
        let set = format!("ALTER DATABASE {} SET {setting} = '{value}'", named.as_deref().unwrap_or_default());
        transaction.execute_unprepared(&set).await?;
    }
    transaction.commit().await?;
    Ok(done)
}

fn refusal(why: &str) -> DbErr {
    DbErr::Custom(format!("the books cannot be distributed: {why}"))
}

/// Why books in a file are not.
pub fn on_sqlite() -> DbErr {
    refusal("they are in SQLite; that takes PostgreSQL with the extension citus")
}

/// How many machines take rows; an error where that is none, or this is no cluster.
async fn nodes(database: &DatabaseConnection) -> Result<i64, DbErr> {
    if database.get_database_backend() != DbBackend::Postgres {
        return Err(on_sqlite());
    }
    let refused = |why: &str| Err(refusal(why));
    if !has_citus(database).await? {
        return refused(
            "this PostgreSQL has no Citus in this database; CREATE EXTENSION citus, there and on each worker",
        );
    }
    if asked(database, "SELECT COUNT(*) AS n FROM pg_dist_local_group WHERE groupid <> 0").await? > 0 {
        return refused("this is a worker; the address of the coordinator is needed");
    }
    let nodes = "SELECT COUNT(*) AS n FROM pg_dist_node WHERE noderole = 'primary' AND shouldhaveshards AND isactive";
    match asked(database, nodes).await? {
        0 => refused("no node takes shards; add workers by citus_add_node"),
        nodes => Ok(nodes),
    }
}

/// An error where there is a table of which nobody said whose its rows are.
async fn check_declared(database: &DatabaseConnection) -> Result<(), DbErr> {
    for table in declared() {
        if !has_table(database, table.name()).await? {
            return Err(DbErr::Custom(format!("there is no table {}; run duet migrate first", table.name())));
        }
    }
    Ok(())
}

/// An error where somebody else is connected: an older session knows nothing of the settings.
async fn check_alone(database: &DatabaseConnection) -> Result<(), DbErr> {
    let others = "SELECT COUNT(*) AS n FROM pg_stat_activity WHERE datname = current_database() \
                  AND backend_type = 'client backend' AND application_name <> current_setting('application_name') \
                  AND application_name NOT LIKE 'citus\\_%'";
    match asked(database, others).await? {
        0 => Ok(()),
        others => Err(DbErr::Custom(format!(
            "{others} other connections are open to the database; stop every server of it first"
        ))),
    }
}

/// Lets triggers stand on tables that are distributed, as long as the transaction lasts: ours reach only what lies beside.
pub(crate) async fn allow_triggers(transaction: &impl ConnectionTrait) -> Result<(), DbErr> {
    transaction.execute_unprepared("SET LOCAL citus.enable_unsafe_triggers = on").await.map(drop)
}

/// Takes away what distributed tables do without.
pub(crate) async fn leave_out(connection: &impl ConnectionTrait) -> Result<(), DbErr> {
    let declared = declared();
    let spread: Vec<&Table> = declared.iter().filter(|table| table.spread_by().is_some()).collect();
    let asked = Statement::from_string(DbBackend::Postgres, LEFT_OUT.replace("{spread}", &named(&spread)));
    for row in connection.query_all_raw(asked).await? {
        connection.execute_unprepared(&row.try_get::<String>("", "statement")?).await?;
    }
    Ok(())
}

/// Takes away the triggers of tables, so that none of them runs while rows are copied, and answers what makes them again.
async fn taken(transaction: &impl ConnectionTrait, tables: &[&Table]) -> Result<Vec<String>, DbErr> {
    let asked = Statement::from_string(DbBackend::Postgres, TRIGGERS.replace("{spread}", &named(tables)));
    let mut taken = Vec::new();
    for row in transaction.query_all_raw(asked).await? {
        transaction.execute_unprepared(&row.try_get::<String>("", "gone")?).await?;
        taken.push(row.try_get("", "made")?);
    }
    Ok(taken)
}

fn named(tables: &[&Table]) -> String {
    tables.iter().map(|table| format!("'{}'", table.name())).collect::<Vec<_>>().join(", ")
}
