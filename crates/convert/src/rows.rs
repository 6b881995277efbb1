//! Rows on their way from one database into another, portion by portion: what is in memory is bounded by a portion.

use crate::lean::Lean;
use sea_orm::sea_query::{Alias, Expr, ExprTrait, Order, Query};
use sea_orm::{ConnectionTrait, DatabaseConnection, DbErr, QueryResult, Statement, TransactionTrait, Value};
use std::collections::{BTreeMap, HashSet};

/// As many rows as are read at once.
const PORTION: u64 = 500;
/// As many as are written by one statement, whose text is the same for all but the last of a portion.
const AT_ONCE: usize = 50;
/// As many portions as are committed at once.
const COMMITTED: usize = 40;

/// A row as the new books keep it: the value of each column.
pub type Written = BTreeMap<String, Value>;

/// Who seals rows on their way.
pub trait Hand {
    /// The seal of a row as it is kept; none where rows of its table have none. `beside` are rows of another table that
    /// belong to it.
    fn seal(&mut self, table: &str, row: &Written, beside: &[Written]) -> Result<Option<Vec<u8>>, DbErr>;
}

/// Nobody does.
impl Hand for () {
    fn seal(&mut self, _: &str, _: &Written, _: &[Written]) -> Result<Option<Vec<u8>>, DbErr> {
        Ok(None)
    }
}

/// Hears how far it has got: which table, how many of its rows are over, and how many there are.
pub type Progress<'p> = &'p (dyn Fn(&str, i64, i64) + Send + Sync);

/// A walk along a table by its key.
pub(crate) struct Walk<'t> {
    table: &'t str,
    columns: &'t [String],
    key: &'t [String],
    last: Option<Vec<Value>>,
    ended: bool,
}

pub(crate) fn value(row: &QueryResult, column: &str) -> Result<Value, DbErr> {
    let value = row.try_as_proxy_row().and_then(|row| row.values.get(column));
    value.cloned().ok_or_else(|| DbErr::Custom(format!("a row answers no {column}")))
}

impl<'t> Walk<'t> {
    pub(crate) fn along(table: &'t str, columns: &'t [String], key: &'t [String]) -> Self {
        Self { table, columns, key, last: None, ended: false }
    }

    pub(crate) async fn next(&mut self, from: &DatabaseConnection) -> Result<Option<Vec<QueryResult>>, DbErr> {
        if self.ended {
            return Ok(None);
        }
        let mut select = Query::select();
        select.from(Alias::new(self.table)).columns(self.columns.iter().map(Alias::new)).limit(PORTION);
        if let Some(last) = self.last.take() {
            let key = Expr::tuple(self.key.iter().map(|column| Expr::col(Alias::new(column))));
            select.and_where(key.gt(Expr::tuple(last.into_iter().map(Expr::val))));
        }
        for column in self.key {
            select.order_by(Alias::new(column), Order::Asc);
        }
        let rows = from.query_all(&select).await?;
        let Some(end) = rows.last() else { return Ok(None) };
        self.ended = u64::try_from(rows.len()).is_ok_and(|rows| rows < PORTION);
        self.last = Some(self.key.iter().map(|column| value(end, column)).collect::<Result<_, _>>()?);
        Ok(Some(rows))
    }
}

/// What of a table goes over.
pub(crate) struct Over<'t> {
    pub(crate) table: &'t str,
    /// The columns that are read and written.
    pub(crate) columns: Vec<String>,
    pub(crate) key: Vec<String>,
    /// Whether the seals of rows are made on the way; else they are carried like any column.
    pub(crate) sealed: bool,
    /// How many rows there are.
    pub(crate) count: i64,
    /// What is kept otherwise over there.
    pub(crate) lean: Lean,
}

/// Copies a table. How many rows went over is answered.
pub(crate) async fn copy(
    (from, to): (&DatabaseConnection, &DatabaseConnection),
    over: &Over<'_>,
    hand: &mut (impl Hand + ?Sized),
    progress: Progress<'_>,
) -> Result<i64, DbErr> {
    let table = over.table;
    let mut written = over.columns.clone();
    written.extend(over.sealed.then(|| "seal".to_owned()));
    let mut walk = Walk::along(table, &over.columns, &over.key);
    let (mut tree, mut done) = (Tree::of(&written), 0);
    progress(table, 0, over.count);
    let mut ended = false;
    while !ended {
        let transaction = to.begin().await?;
        for _ in 0..COMMITTED {
            let Some(portion) = walk.next(from).await? else {
                ended = true;
                break;
            };
            let beside = if over.sealed && table == "entries" { lines_of(from, &portion).await? } else { Vec::new() };
            let mut rows = Vec::with_capacity(portion.len());
            for (place, row) in portion.iter().enumerate() {
                let mut row = written_as(row, &over.lean)?;
                let seal = if over.sealed {
                    let own = beside.get(place).map_or(&[][..], Vec::as_slice);
                    let none = || DbErr::Custom(format!("nobody seals the rows of {table}"));
                    Some(hand.seal(table, &row, own)?.ok_or_else(none)?)
                } else {
                    None
                };
                let missing = |name: &String| DbErr::Custom(format!("a row answers no {name}"));
                let values = over.columns.iter().map(|name| row.remove(name).ok_or_else(|| missing(name)));
                rows.push(values.chain(seal.map(|seal| Ok(seal.into()))).collect::<Result<Vec<Value>, _>>()?);
            }
            done += i64::try_from(rows.len()).map_err(|error| DbErr::Custom(error.to_string()))?;
            match &mut tree {
                None => insert(&transaction, table, &written, rows).await?,
                Some(tree) => {
                    tree.waiting.extend(rows);
                    while let Some(ready) = tree.ready() {
                        insert(&transaction, table, &written, ready).await?;
                    }
                }
            }
            progress(table, done, over.count);
        }
        // Whoever waits still has a parent that is not there: the engine says which.
        if ended && let Some(tree) = &mut tree {
            insert(&transaction, table, &written, std::mem::take(&mut tree.waiting)).await?;
        }
        transaction.commit().await?;
    }
    Ok(done)
}

/// Rows of which some lie below others of their table: a parent goes first, whatever the order of the keys.
struct Tree {
    /// The places of the company, of the row's own identifier, and of its parent's.
    places: [usize; 3],
    there: HashSet<String>,
    waiting: Vec<Vec<Value>>,
}

impl Tree {
    /// Nothing where no row lies below another.
    fn of(columns: &[String]) -> Option<Self> {
        let place = |name: &str| columns.iter().position(|column| column == name);
        let places = [place("business_id")?, place("id")?, place("parent_id")?];
        Some(Self { places, there: HashSet::new(), waiting: Vec::new() })
    }

    /// Those of who waits that can go, once their parents are there.
    fn ready(&mut self) -> Option<Vec<Vec<Value>>> {
        let [company, id, parent] = self.places;
        let key = |row: &[Value], place: usize| format!("{:?} {:?}", row[company], row[place]);
        let goes = |row: &Vec<Value>, there: &HashSet<String>| {
            row[parent] == row[parent].as_null() || there.contains(&key(row, parent))
        };
        let all = std::mem::take(&mut self.waiting);
        let (ready, waiting): (Vec<_>, Vec<_>) = all.into_iter().partition(|row| goes(row, &self.there));
        self.waiting = waiting;
        self.there.extend(ready.iter().map(|row| key(row, id)));
        (!ready.is_empty()).then_some(ready)
    }
}

/// A row of before as the new books keep it.
fn written_as(row: &QueryResult, lean: &Lean) -> Result<Written, DbErr> {
    let row = row.try_as_proxy_row().ok_or_else(|| DbErr::Custom("a row answers nothing".into()))?;
    row.values.iter().map(|(name, value)| Ok((name.clone(), lean.value(name, value.clone())?))).collect()
}

/// The lines of each of these entries.
async fn lines_of(from: &DatabaseConnection, entries: &[QueryResult]) -> Result<Vec<Vec<Written>>, DbErr> {
    let lean = Lean::of("entry_lines");
    let mut all: Vec<Vec<Written>> = entries.iter().map(|_| Vec::new()).collect();
    let mut at = 0;
    while at < entries.len() {
        let company = value(&entries[at], "business_id")?;
        let mut end = at;
        while end < entries.len() && value(&entries[end], "business_id")? == company {
            end += 1;
        }
        let (first, last) = (value(&entries[at], "number")?, value(&entries[end - 1], "number")?);
        let column = |name: &'static str| Expr::col(Alias::new(name));
        let mut select = Query::select();
        select
            .expr(Expr::col(sea_orm::sea_query::Asterisk))
            .from(Alias::new("entry_lines"))
            .and_where(column("business_id").eq(company))
            .and_where(column("entry_number").gte(first))
            .and_where(column("entry_number").lte(last))
            .order_by(Alias::new("entry_number"), Order::Asc)
            .order_by(Alias::new("position"), Order::Asc);
        let mut place = at;
        for line in from.query_all(&select).await? {
            let number = value(&line, "entry_number")?;
            while place < end && value(&entries[place], "number")? != number {
                place += 1;
            }
            if place == end {
                return Err(DbErr::Custom("a line of the ledger belongs to no entry".into()));
            }
            all[place].push(written_as(&line, &lean)?);
        }
        at = end;
    }
    Ok(all)
}

async fn insert(
    to: &impl ConnectionTrait,
    table: &str,
    columns: &[String],
    rows: Vec<Vec<Value>>,
) -> Result<(), DbErr> {
    let names: Vec<String> = columns.iter().map(|column| format!("\"{column}\"")).collect();
    let mut rest = rows.into_iter().peekable();
    while rest.peek().is_some() {
        let some: Vec<Vec<Value>> = rest.by_ref().take(AT_ONCE).collect();
        let mut sql = format!("INSERT INTO \"{table}\" ({}) VALUES ", names.join(", "));
        for row in 0..some.len() {
            let places: Vec<String> =
                (1..=columns.len()).map(|place| format!("${}", row * columns.len() + place)).collect();
            sql.push_str(if row == 0 { "(" } else { ", (" });
            sql.push_str(&places.join(", "));
            sql.push(')');
        }
        let values: Vec<Value> = some.into_iter().flatten().collect();
        to.execute_raw(Statement::from_sql_and_values(to.get_database_backend(), sql, values)).await?;
    }
    Ok(())
}
