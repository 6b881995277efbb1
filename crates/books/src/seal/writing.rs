//! Rows on their way into tables that are sealed.
//!
//! What is planned is written with its seal. What is written otherwise, triggers note in `touched`, with the seal that
//! the row had and what changed in it; before a batch is committed, these rows are read again, held against what they
//! were ([`noted`]) and sealed. So nothing can be written and not be sealed, wherever it is written from, nothing that
//! somebody else changed is sealed for it, and the sums lose each seal that went and gain each that came, once.

use super::Seals;
use super::noted::{self, Note};
use super::proof::Rows as Walk;
use super::sums::{Moved, Sum};
use super::tables::{Table, Whose, kept as kept_seal, salt, table};
use crate::database::Session;
use crate::database::rows::{Kept, Rows, Step};
use crate::error::{Error, Result};
use crate::ids::BusinessId;
use crate::security;
use answers::Answers;
use migrations::Left;
use sea_orm::sea_query::{Alias, CaseStatement, Condition, Expr, ExprTrait, Query};
use sea_orm::{ConnectionTrait, DbBackend, EntityTrait, Iterable, ModelTrait, QueryResult, Statement, Value};
use std::collections::{BTreeMap, HashMap, HashSet};

/// As many rows as are sealed again at once.
const PORTION: usize = 64;

/// Begins a batch: from here on, what is noted as touched is its own. Answers the batch's name.
pub async fn begin(session: &Session) -> Result<String> {
    let engine = session.get_database_backend();
    if engine == DbBackend::Sqlite {
        // Nobody else writes from here on. What is noted already, nobody of us wrote.
        let strange = Statement::from_string(engine, "DELETE FROM touched WHERE batch = ''");
        let forgotten = session.execute_raw(strange).await?.rows_affected();
        if forgotten > 0 {
            security::tampered(None, &format!("{forgotten} rows were changed behind the server's back"));
        }
    }
    Ok(session.batch().to_owned())
}

/// The values of a row, in the order of its table's columns.
pub fn values<M: ModelTrait>(row: &M) -> Vec<Value> {
    <M::Entity as EntityTrait>::Column::iter().map(|column| row.get(column)).collect()
}

/// A row by its table, its company and the rest of its key.
pub type Name = (String, Option<BusinessId>, String);

/// Rows that took the place of others in this batch, each as it was written last, and its seal. Whoever touches one
/// afterwards leaves a note of that seal.
pub type Written = HashMap<Name, (Vec<Value>, String)>;

/// What the rows of a flush are sealed with.
pub struct Sealing<'s> {
    seals: &'s Seals,
    /// What tells this writing of a row from another.
    salt: String,
    pub moved: Moved,
    pub written: Written,
}

impl<'s> Sealing<'s> {
    pub fn with(seals: &'s Seals, moved: Moved) -> Result<Self> {
        Ok(Self { seals, salt: salt()?, moved, written: Written::new() })
    }

    /// Rows with their seals. `beside` are the rows of another table that belong to each of them, by its place.
    pub fn sealed<E: EntityTrait>(
        &mut self,
        rows: &[E::Model],
        beside: &[Vec<Vec<Value>>],
        kept: Kept,
    ) -> Result<Rows> {
        let name = E::default().table_name();
        if rows.is_empty() {
            return Ok(Rows { table: name, columns: Vec::new(), key: Vec::new(), kept, values: Vec::new() });
        }
        let table = table(name)?;
        let columns: Vec<&'static str> = table.columns.iter().map(|column| column.name).chain(["seal"]).collect();
        let mut all = Vec::with_capacity(rows.len() * columns.len());
        // Of one company after the other, as far as that goes.
        let (mut of, mut sum) = (None, Sum::default());
        for (place, row) in rows.iter().enumerate() {
            let values = values(row);
            let seal = table.seal(self.seals, &self.salt, &values, beside.get(place).map_or(&[], Vec::as_slice))?;
            let company = table.company(&values);
            if let Some(before) = of.replace(company).filter(|before| *before != company) {
                self.moved.of(before).of_table(table.name).move_by(std::mem::take(&mut sum));
            }
            sum.add(self.seals, table.name, &seal);
            if kept == Kept::Goes {
                let name = (table.name.to_owned(), company, table.key_text(&values));
                self.written.insert(name, (values.clone(), seal.clone()));
            }
            all.extend(values);
            all.push(kept_seal(&seal).into());
        }
        if let Some(company) = of {
            self.moved.of(company).of_table(table.name).move_by(sum);
        }
        let key = table.names().map(|column| column.name).collect();
        Ok(Rows { table: table.name, columns, key, kept, values: all })
    }
}

/// Whose notes are settled.
#[derive(Debug, Clone, Copy)]
pub enum Of<'b> {
    /// What this batch wrote.
    Batch(&'b str),
    /// What migrations wrote, whose signature was found to be right.
    Migrations(&'b [String]),
}

impl Of<'_> {
    fn own(self) -> Condition {
        let batch = Expr::col(Alias::new("batch"));
        Condition::all().add(match self {
            Self::Batch(name) => batch.eq(name),
            Self::Migrations(names) => batch.is_in(names),
        })
    }

    /// What takes away what is noted of it, to be settled.
    pub fn taking(self, engine: DbBackend) -> Statement {
        noted::taking(engine, self.own())
    }
}

/// Seals what was touched without its seal, as it was taken from what is noted. What was `written` with its seal and not touched
/// since is known. What somebody else changed before is not sealed, and stays in the sums as it was: every proof tells it. How
/// many rows of each table were touched is answered, and what is to be written before the commit.
pub async fn settle(
    connection: &impl Answers,
    (seals, moved): (&Seals, &mut Moved),
    (of, written): (Of<'_>, &Written),
    taken: Vec<QueryResult>,
) -> Result<(BTreeMap<String, usize>, Vec<Step>)> {
    let touched = noted::read(taken)?;
    let (mut tables, mut steps) = (BTreeMap::new(), Vec::new());
    if touched.is_empty() {
        return Ok((tables, steps));
    }
    let (salt, rows): (_, Vec<_>) = (salt()?, touched.iter().collect());
    for of_table in rows.chunk_by(|left, right| left.0.0 == right.0.0) {
        if let Some(((table, _, _), _)) = of_table.first() {
            tables.insert(table.clone(), of_table.len());
        }
        for portion in of_table.chunks(PORTION) {
            let sealed = seal_again(connection, (seals, &salt), moved, portion, (of, written)).await?;
            steps.extend(sealed.map(Step::Statement));
        }
    }
    if !steps.is_empty() {
        // To seal a row again is noted as well.
        steps.push(Step::Statement(noted::forgetting(connection.get_database_backend(), of.own())));
    }
    Ok((tables, steps))
}

type Noted<'t> = (&'t Name, &'t Vec<Note>);

/// What seals those again that are to be is answered.
async fn seal_again(
    connection: &impl Answers,
    (seals, salt): (&Seals, &str),
    moved: &mut Moved,
    portion: &[Noted<'_>],
    (of, written): (Of<'_>, &Written),
) -> Result<Option<Statement>> {
    let Some(((name, _, _), _)) = portion.first() else { return Ok(None) };
    let table = table(name)?;
    if table.grows_only && matches!(of, Of::Batch(_)) {
        return Err(Error::internal(format!("a row of {name}, which grows only, was written without its seal")));
    }
    let (mut wanted, mut found) = (Condition::any(), HashMap::new());
    for (name @ (_, company, key), notes) in portion {
        match written.get(*name).filter(|(_, seal)| notes.iter().all(|note| note.old != *seal)) {
            Some(known) => drop(found.insert((*company, key.clone()), known.clone())),
            None => wanted = wanted.add(named(table, *company, key)?),
        }
    }
    if !wanted.is_empty() {
        for row in table.rows(connection, table.select().cond_where(wanted)).await? {
            let values = row.values.ok_or_else(|| unreadable(table))?;
            found.insert((table.company(&values), table.key_text(&values)), (values, row.seal));
        }
    }
    let mut seal_of = Vec::new();
    for ((_, company, key), notes) in portion {
        let now = found.get(&(*company, key.clone()));
        // A migration may have changed more than its notes tell.
        let spoilt = match of {
            Of::Migrations(_) => HashSet::new(),
            Of::Batch(_) => noted::spoilt(seals, table, notes, now.map(|(values, _)| values.as_slice()))?,
        };
        if !spoilt.is_empty() {
            security::tampered(*company, &format!("{name}: {key} was changed behind the server's back"));
        }
        let olds = noted::seals_of(notes);
        for old in olds.difference(&spoilt) {
            moved.of(*company).of_table(table.name).take(seals, table.name, old);
        }
        let Some((values, seal)) = now else { continue };
        // One that was written again with its seal, after it was touched, is sealed.
        if seal.is_empty() || olds.contains(seal.as_str()) && !spoilt.contains(seal.as_str()) {
            let seal = table.seal(seals, salt, values, &[])?;
            moved.of(*company).of_table(table.name).add(seals, table.name, &seal);
            seal_of.push((named(table, *company, key)?, seal));
        }
    }
    Ok(seals_written(connection.get_database_backend(), table, seal_of))
}

/// The row that a note is about.
fn named(table: &Table, company: Option<BusinessId>, key: &str) -> Result<Condition> {
    let values = table
        .key_values(key)
        .ok_or_else(|| Error::internal(format!("a key that was noted of {} cannot be read: {key}", table.name)))?;
    let company = match table.whose {
        Whose::Company(_) => Some(Value::from(company.map(|company| company.0))),
        Whose::Installation => None,
    };
    let mut named = Condition::all();
    for (column, value) in table.names().zip(company.into_iter().chain(values)) {
        named = named.add(Expr::col(Alias::new(column.name)).eq(value));
    }
    Ok(named)
}

fn seals_written(engine: DbBackend, table: &Table, seals: Vec<(Condition, String)>) -> Option<Statement> {
    if seals.is_empty() {
        return None;
    }
    let (mut case, mut those) = (CaseStatement::new(), Condition::any());
    for (row, seal) in seals {
        case = case.case(row.clone(), kept_seal(&seal));
        those = those.add(row);
    }
    let case = case.finally(Expr::col(Alias::new("seal")));
    let mut update = Query::update();
    update.table(Alias::new(table.name)).value(Alias::new("seal"), case).cond_where(those);
    Some(engine.build(&update))
}

/// Seals every row of a table, portion by portion, and adds all of them up. What grows only keeps the seal that it has.
pub async fn seal_all(
    connection: &impl Answers,
    seals: &Seals,
    table: &'static Table,
    company: Option<BusinessId>,
) -> Result<Sum> {
    let salt = salt()?;
    let mut sum = Sum::default();
    let mut walk = Walk::of(table, company);
    while let Some(portion) = walk.next(connection).await? {
        let mut seal_of = Vec::new();
        for (row, beside) in portion {
            let values = row.values.ok_or_else(|| unreadable(table))?;
            if table.grows_only {
                let seal = if row.seal.is_empty() { table.seal(seals, "", &values, &beside)? } else { row.seal };
                sum.add(seals, table.name, &seal);
            } else {
                let seal = table.seal(seals, &salt, &values, &beside)?;
                sum.add(seals, table.name, &seal);
                seal_of.push((named(table, table.company(&values), &table.key_text(&values))?, seal));
            }
        }
        let mut rest = seal_of.into_iter().peekable();
        while rest.peek().is_some() {
            let portion = rest.by_ref().take(PORTION).collect();
            if let Some(written) = seals_written(connection.get_database_backend(), table, portion) {
                connection.execute_raw(written).await?;
            }
        }
    }
    Ok(sum)
}

fn unreadable(table: &Table) -> Error {
    Error::internal(format!("a row of {} cannot be read", table.name))
}

/// Forgets what this batch noted of its writes: all of it is sealed.
pub async fn forget_notes(connection: &impl ConnectionTrait) -> Result<()> {
    let batch = match connection.get_database_backend() {
        DbBackend::Postgres => "current_setting('duet.batch', true)",
        _ => "''",
    };
    connection.execute_unprepared(&format!("DELETE FROM touched WHERE batch = {batch}")).await?;
    Ok(())
}

/// Said so that it is true of bytes and of the text that nothing is on SQLite.
const IS_SEALED: &str = "length(seal) > 0";

/// Whether any row of a table is sealed.
pub async fn has_seals(connection: &impl ConnectionTrait, table: &'static str) -> Result<bool> {
    let mut select = Query::select();
    select.expr(Expr::val(1)).from(Alias::new(table)).and_where(Expr::cust(IS_SEALED)).limit(1);
    Ok(connection.query_one(&select).await?.is_some())
}

/// Forgets what is noted, and nobody of us did. How much it was is answered.
pub async fn forget_strange(connection: &impl ConnectionTrait, seals: &Seals) -> Result<Left> {
    let left = left(connection, seals).await?;
    let mut known = left.signed.clone();
    known.push(migrations::DUE.to_owned());
    known.push(String::new());
    if left.strange > 0 {
        let strange = Condition::all().add(Expr::col(Alias::new("batch")).is_not_in(known));
        connection.execute_raw(noted::forgetting(connection.get_database_backend(), strange)).await?;
    }
    Ok(left)
}

/// What is noted that no batch forgot, and whose it is.
pub async fn left(connection: &impl ConnectionTrait, seals: &Seals) -> Result<Left> {
    Ok(migrations::left(connection, &|text| seals.of_migration(text)).await?)
}
