//! Books are taken out of the old database, through the steps that they lack, and put into the new one.

use crate::lean::{self, Lean};
use crate::place::Place;
use crate::rows::{self, Hand, Over, Progress, Walk};
use crate::{facts, months, standing, steps, taxes};
use migrations::{OLDER, UNFINISHED, first};
use sea_orm::{ConnectionTrait, DbBackend, DbErr, QueryResult, Statement, Value};
use sea_orm_migration::{MigratorTrait, SchemaManager};
use std::collections::BTreeMap;

/// The columns of each table.
pub type Columns = BTreeMap<String, Vec<String>>;

/// What was taken out of old books.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Taken {
    /// The last step that the old books had been through.
    pub version: String,
    /// What their tables had, at their own version.
    pub columns: Columns,
    /// Whether their rows had seals.
    pub sealed: bool,
    pub rows: i64,
    /// The steps that they had been through.
    versions: Vec<String>,
}

/// What was put into a new database.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Kept {
    pub tables: usize,
    pub rows: i64,
}

/// Books of before told nobody of what happened.
const TOLD_NOBODY: [&str; 3] = ["webhooks", "webhook_cursors", "webhook_deliveries"];

fn refused(why: impl Into<String>) -> DbErr {
    DbErr::Custom(why.into())
}

/// Copies old books, at their own version, into a database in which there is nothing: a scratch file, most of the time.
pub async fn take(old: &Place, scratch: &Place, progress: Progress<'_>) -> Result<Taken, DbErr> {
    let versions = migrations::versions(old.database()).await?;
    if versions.iter().any(|version| version == UNFINISHED) {
        return Err(refused("the old database is itself one into which books were not brought over whole"));
    }
    if !versions.iter().any(|version| version == OLDER) {
        return Err(refused(match versions.last() {
            None => "there are no books in the old database",
            Some(_) => "the books are of this schema already; duet copy-database takes them to another engine",
        }));
    }
    let known = steps::all();
    let strange: Vec<&String> =
        versions.iter().filter(|version| !known.iter().any(|step| step.name() == version.as_str())).collect();
    if let Some(strange) = strange.first() {
        return Err(refused(format!("the old books were made by another duet: nobody here knows {strange}")));
    }
    let manager = SchemaManager::new(scratch.database());
    for step in known.iter().filter(|step| versions.iter().any(|version| version == step.name())) {
        step.up(&manager).await?;
    }
    // What steps put in, and what guards rows that are put in anew.
    for statement in scratch.unguarding().await? {
        scratch.run(&statement).await?;
    }
    let mut taken = Taken {
        version: versions.last().cloned().ok_or_else(|| refused("there are no books in the old database"))?,
        sealed: versions.iter().any(|version| version.starts_with("m0023")),
        versions: versions.clone(),
        ..Taken::default()
    };
    let there = old.tables().await?;
    for table in scratch.tables().await? {
        scratch.run(&format!("DELETE FROM \"{table}\"")).await?;
        if !there.contains(&table) {
            return Err(refused(format!("the old books have no table {table}")));
        }
        if taken.sealed && table == "touched" {
            if old.count(&table).await? > 0 {
                return Err(refused(
                    "changes are noted in the old books that nobody sealed yet: start and stop their own duet once",
                ));
            }
            continue;
        }
        let columns = old.columns(&table).await?;
        let same = scratch.columns(&table).await?;
        if columns.iter().any(|column| !same.contains(column)) || columns.len() != same.len() {
            return Err(refused(format!("the table {table} of the old books is not as any duet made it")));
        }
        let over = Over {
            table: &table,
            key: old.key(&table).await?,
            columns: same.clone(),
            sealed: false,
            count: old.count(&table).await?,
            lean: Lean::default(),
        };
        taken.rows += rows::copy((old.database(), scratch.database()), &over, &mut (), progress).await?;
        taken.columns.insert(table, same);
    }
    Ok(taken)
}

/// Runs the steps that the books in the scratch file lack.
pub async fn step_up(scratch: &Place, taken: &Taken) -> Result<(), DbErr> {
    let manager = SchemaManager::new(scratch.database());
    for step in steps::all().iter().filter(|step| !taken.versions.iter().any(|version| version == step.name())) {
        step.up(&manager).await?;
        if step.name().starts_with("m0029") {
            taxes::of_what_was_taxed(scratch).await?;
        }
        if step.name().starts_with("m0031") {
            facts::of_what_was_billed(scratch, taken).await?;
        }
    }
    facts::of_what_was_missing(scratch).await?;
    standing::of_what_is_open(scratch).await?;
    standing::of_records(scratch).await?;
    standing::of_lines(scratch).await?;
    standing::of_companies(scratch).await
}

/// Whether there is nothing in a database yet. What an earlier run left there, and did not finish, is taken away.
pub async fn remove_unfinished(new: &Place) -> Result<bool, DbErr> {
    let tables = new.tables().await?;
    if tables.is_empty() {
        return Ok(false);
    }
    if !migrations::is_unfinished(new.database()).await? {
        return Err(refused("the new database is not empty; name one in which there is nothing yet"));
    }
    let functions = match new.engine() {
        DbBackend::Postgres => {
            new.texts(
                "SELECT DISTINCT p.proname::text AS text FROM pg_trigger g JOIN pg_class c ON c.oid = g.tgrelid \
                 JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_proc p ON p.oid = g.tgfoid \
                 WHERE n.nspname = current_schema() AND NOT g.tgisinternal",
            )
            .await?
        }
        _ => Vec::new(),
    };
    let cascade = if new.engine() == DbBackend::Postgres { " CASCADE" } else { "" };
    if new.engine() != DbBackend::Postgres {
        new.run("PRAGMA foreign_keys = OFF").await?;
    }
    // The mark goes last.
    let (last, own): (Vec<&String>, Vec<&String>) = tables.iter().partition(|table| *table == "seaql_migrations");
    for table in own {
        new.run(&format!("DROP TABLE \"{table}\"{cascade}")).await?;
    }
    for function in functions {
        new.run(&format!("DROP FUNCTION IF EXISTS {function}() CASCADE")).await?;
    }
    for table in last {
        new.run(&format!("DROP TABLE \"{table}\"{cascade}")).await?;
    }
    if new.engine() != DbBackend::Postgres {
        new.run("PRAGMA foreign_keys = ON").await?;
    }
    Ok(true)
}

/// What becomes of the seals of rows.
pub enum Seals<'h> {
    /// They are made on the way.
    Made(&'h mut (dyn Hand + Send)),
    /// They are good as they are: rows say the same on every engine.
    Kept,
}

/// That a database holds books of this very schema, in which all is sealed.
pub async fn check_same(from: &Place) -> Result<(), DbErr> {
    if migrations::pending(from.database()).await? > 0 {
        return Err(refused(
            "the books to be copied are not up to date; run duet migrate, with --tenant where they are those of one",
        ));
    }
    if from.count("touched").await? > 0 {
        return Err(refused("changes are noted in the books that nobody sealed yet: start and stop their server once"));
    }
    Ok(())
}

/// Puts rows into a database in which there is nothing, as the first schema has them. It is marked as unfinished until
/// [`finish`] takes the mark away.
pub async fn put(from: &Place, new: &Place, mut seals: Seals<'_>, progress: Progress<'_>) -> Result<Kept, DbErr> {
    migrations::Migrator::install(new.database()).await?;
    mark(new, UNFINISHED).await?;
    first::make(new.database()).await?;
    let (mut kept, has) = (Kept::default(), from.tables().await?);
    for table in first::tables() {
        let name = table.name();
        // What it notes of rows is of the batch that wrote them.
        let is_newer = months::MADE.contains(&name) || TOLD_NOBODY.contains(&name);
        if name == "touched" || is_newer && !has.iter().any(|one| one == name) {
            continue;
        }
        let there = from.columns(name).await?;
        let made = matches!(seals, Seals::Made(_)) && table.columns().any(|column| column == "seal");
        let own = table.columns().filter(|column| !made || *column != "seal");
        let columns = own.filter(|column| there.iter().any(|one| one == column)).map(str::to_owned).collect();
        let key = table.key().iter().map(|column| (*column).to_owned()).collect();
        let over =
            Over { table: name, columns, key, sealed: made, count: from.count(name).await?, lean: Lean::of(name) };
        let both = (from.database(), new.database());
        kept.rows += match &mut seals {
            Seals::Made(hand) => rows::copy(both, &over, &mut **hand, progress).await?,
            Seals::Kept => rows::copy(both, &over, &mut (), progress).await?,
        };
        kept.tables += 1;
    }
    progress("indexes", 0, 1);
    first::guard(new.database()).await?;
    months::make(from, new).await?;
    // None of it has rows or columns of its own: a pin of what is declared turns red otherwise.
    migrations::change(new.database()).await?;
    for migration in migrations::known() {
        mark(new, &migration).await?;
    }
    if new.engine() == DbBackend::Postgres {
        // Plans that are kept are made of what is there, and not of empty tables.
        new.run("ANALYZE").await?;
    }
    migrations::tell_the_planner(new.database()).await?;
    progress("indexes", 1, 1);
    Ok(kept)
}

async fn mark(new: &Place, version: &str) -> Result<(), DbErr> {
    let now = match new.engine() {
        DbBackend::Postgres => "extract(epoch FROM now())::bigint",
        _ => "CAST(strftime('%s', 'now') AS INTEGER)",
    };
    new.run(&format!("INSERT INTO seaql_migrations (version, applied_at) VALUES ('{version}', {now})")).await
}

/// All of it is there, and was proved: from here on it is served.
pub async fn finish(new: &Place) -> Result<(), DbErr> {
    new.run(&format!("DELETE FROM seaql_migrations WHERE version = '{UNFINISHED}'")).await
}

/// What the ledgers of two databases differ in: every figure of every account on every day, and every line.
pub async fn compare(old: &Place, new: &Place) -> Result<Vec<String>, DbErr> {
    let mut found = Vec::new();
    let daily = |engine| match engine {
        DbBackend::Postgres => "CAST(SUM(amount) AS bigint)",
        _ => "SUM(amount)",
    };
    let companies = identifiers(old).await?;
    if companies != identifiers(new).await? {
        found.push("the companies are not the same".into());
    }
    for company in companies {
        let ask = |place: &Place| {
            let sql = format!(
                "SELECT account_id, date, {} AS amount FROM entry_lines WHERE business_id = $1 \
                 GROUP BY account_id, date ORDER BY account_id, date",
                daily(place.engine())
            );
            Statement::from_sql_and_values(place.engine(), sql, [company.clone()])
        };
        let (was, is) = (ask(old), ask(new));
        let was = figures(old.database().query_all_raw(was).await?)?;
        let is = figures(new.database().query_all_raw(is).await?)?;
        for (place, amount) in &was {
            if is.get(place) != Some(amount) {
                let day = lean::said(place.1);
                found.push(format!("account {} on {day}: {amount} before, {:?} now", place.0, is.get(place)));
            }
        }
        for place in is.keys().filter(|place| !was.contains_key(*place)) {
            found.push(format!("account {} on {}: nothing before", place.0, lean::said(place.1)));
        }
    }
    for table in ["entries", "entry_lines"] {
        let columns: Vec<String> = old.columns(table).await?.into_iter().filter(|column| column != "seal").collect();
        let (key, lean) = (old.key(table).await?, Lean::of(table));
        let (mut left, mut right) = (Walk::along(table, &columns, &key), Walk::along(table, &columns, &key));
        loop {
            let (was, is) = (left.next(old.database()).await?, right.next(new.database()).await?);
            let (Some(was), Some(is)) = (&was, &is) else {
                if was.is_some() != is.is_some() {
                    found.push(format!("{table}: one side has more rows"));
                }
                break;
            };
            let differ = |(left, right): (&QueryResult, &QueryResult)| -> Result<bool, DbErr> {
                for column in &columns {
                    let same = |row| lean.value(column, rows::value(row, column)?);
                    if same(left)? != same(right)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            };
            if was.len() != is.len() {
                found.push(format!("{table}: one side has more rows"));
                break;
            }
            for pair in was.iter().zip(is) {
                if differ(pair)? {
                    found.push(format!("{table}: a row is not what it was"));
                }
            }
        }
    }
    Ok(found)
}

async fn identifiers(place: &Place) -> Result<Vec<Value>, DbErr> {
    let asked = Statement::from_string(place.engine(), "SELECT id FROM businesses ORDER BY id");
    place.database().query_all_raw(asked).await?.iter().map(|row| rows::value(row, "id")).collect()
}

/// What each account moved by, by the number of the day.
fn figures(rows: Vec<QueryResult>) -> Result<BTreeMap<(String, i64), i64>, DbErr> {
    let (mut figures, lean) = (BTreeMap::new(), Lean::of("entry_lines"));
    for row in rows {
        let account = match rows::value(&row, "account_id")? {
            Value::Uuid(Some(id)) => id.to_string(),
            other => format!("{other:?}"),
        };
        let Value::BigInt(Some(day)) = lean.value("date", rows::value(&row, "date")?)? else {
            return Err(refused("a line of the ledger has no day"));
        };
        figures.insert((account, day), row.try_get("", "amount")?);
    }
    Ok(figures)
}
