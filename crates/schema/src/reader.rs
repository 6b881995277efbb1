//! What is read of one company, at one point in time.
//!
//! Owns: that a question is about one company and one snapshot, and never a write; the ledger in portions. Refuses: to know
//! which engine answers, and who asks.

use crate::business as businesses;
use crate::currency::Currency;
use crate::error::{Error, Result};
use crate::ids::BusinessId;
use crate::tables::{entries, entry_lines};
use answers::{Answer, Answers, Ask};
use async_trait::async_trait;
use sea_orm::sea_query::{Alias, Expr, ExprTrait, Func, SimpleExpr};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbBackend, DbErr, ExecResult, QueryFilter, QueryOrder, QueryResult, QuerySelect,
    Select, Statement,
};
use std::sync::Arc;

/// What answers questions, all of them about the same moment.
#[async_trait]
pub trait Snapshot: Send + Sync {
    fn backend(&self) -> DbBackend;

    async fn first(&self, question: Statement) -> std::result::Result<Option<QueryResult>, DbErr>;

    async fn all(&self, question: Statement) -> std::result::Result<Answer, DbErr>;
}

/// For whom is read: whoever else waits for the same place goes first, between two portions.
#[async_trait]
pub trait Host: Send + Sync {
    async fn pause(&self) -> Result<()> {
        Ok(())
    }

    /// So many rows of the books were read.
    fn read(&self, _rows: usize) {}
}

/// Nobody waits.
pub struct Alone;

impl Host for Alone {}

/// Where rows are asked for. Nothing is written through it.
#[derive(Clone, Copy)]
pub struct Rows<'a>(&'a dyn Snapshot);

fn only_read() -> DbErr {
    DbErr::Custom("a reader writes nothing".into())
}

#[async_trait]
impl ConnectionTrait for Rows<'_> {
    fn get_database_backend(&self) -> DbBackend {
        self.0.backend()
    }

    async fn execute_raw(&self, _: Statement) -> std::result::Result<ExecResult, DbErr> {
        Err(only_read())
    }

    async fn execute_unprepared(&self, _: &str) -> std::result::Result<ExecResult, DbErr> {
        Err(only_read())
    }

    async fn query_one_raw(&self, question: Statement) -> std::result::Result<Option<QueryResult>, DbErr> {
        self.0.first(question).await
    }

    async fn query_all_raw(&self, question: Statement) -> std::result::Result<Vec<QueryResult>, DbErr> {
        self.0.all(question).await?.into_results()
    }
}

#[async_trait]
impl Answers for Rows<'_> {
    async fn answer(&self, question: Statement) -> std::result::Result<Answer, DbErr> {
        self.0.all(question).await
    }
}

/// One company, as a snapshot has it.
#[derive(Clone)]
pub struct Reader<'a> {
    pub db: Rows<'a>,
    company: Arc<businesses::Model>,
    decimals: u32,
    host: &'a dyn Host,
}

impl<'a> Reader<'a> {
    /// Reads the company's own row from the snapshot.
    pub async fn of(snapshot: &'a dyn Snapshot, company: BusinessId, host: &'a dyn Host) -> Result<Self> {
        let db = Rows(snapshot);
        let row = businesses::Entity::find_by_id(company).one(&db).await?.ok_or(Error::NotFound)?;
        let decimals = Currency::known(&row.base_currency, format_args!("company {company}"))?.decimals();
        Ok(Self { db, company: Arc::new(row), decimals, host })
    }

    /// The same for somebody else.
    #[must_use]
    pub fn reading_for(self, host: &'a dyn Host) -> Self {
        Self { host, ..self }
    }

    pub fn id(&self) -> BusinessId {
        self.company.id
    }

    pub fn company(&self) -> &businesses::Model {
        &self.company
    }

    /// How many decimals the company's currency has.
    pub const fn decimals(&self) -> u32 {
        self.decimals
    }

    /// Lets others go first, between two portions.
    pub async fn pause(&self) -> Result<()> {
        self.host.pause().await
    }

    /// Tells that so many rows were read.
    pub fn read(&self, rows: usize) {
        self.host.read(rows);
    }

    /// An exact sum: PostgreSQL would make it a decimal.
    pub fn sum(&self, expression: SimpleExpr) -> SimpleExpr {
        sum(self.db.get_database_backend(), expression)
    }

    /// The same of what may be more than 64 bits hold, in two halves.
    pub fn halves(&self, expression: SimpleExpr) -> [SimpleExpr; 2] {
        halves(self.db.get_database_backend(), expression)
    }

    /// The entries after one, up to another, with all lines up to the last of them, and that one's number; all that is
    /// left, where that is no more than a portion. Lines between two entries, and after the last one, belong to none.
    pub async fn next_entries(&self, last: i64, until: i64) -> Result<Portion> {
        next_entries(&self.db, self.id(), last, until).await
    }
}

/// An exact sum: PostgreSQL would make it a decimal.
pub fn sum(backend: DbBackend, expression: SimpleExpr) -> SimpleExpr {
    let sum = Func::sum(expression);
    match backend {
        DbBackend::Postgres => SimpleExpr::from(sum).cast_as(Alias::new("bigint")),
        _ => sum.into(),
    }
}

/// The two halves of a sum that may be more than 64 bits hold, as that of quantities may: whatever is moved on one day, or
/// promised in open orders, is bounded one by one and not together. No number of rows is too much for either half, and
/// [`whole`] puts them together.
pub fn halves(backend: DbBackend, expression: SimpleExpr) -> [SimpleExpr; 2] {
    // Literals: PostgreSQL moves by a number of 32 bits, and those that are bound have 64.
    let high = expression.clone().right_shift(Expr::cust(HALF.to_string()));
    let low = expression.bit_and(Expr::cust(LOW.to_string()));
    [high, low].map(|half| sum(backend, half))
}

/// How many bits the lower half has, and all of them.
const HALF: u32 = 32;
const LOW: i64 = (1 << HALF) - 1;

/// What the halves of a sum come to.
pub fn whole((high, low): (i64, i64)) -> i128 {
    (i128::from(high) << HALF) + i128::from(low)
}

/// As many entries as are read at once.
const PORTION: u64 = 2_000;
/// As many lines, where no entry has more.
pub const LINES: u64 = 10_000;

/// Entries with their lines, and the number of the last, where there may be more.
pub type Portion = (Vec<entries::Model>, Vec<entry_lines::Model>, Option<i64>);

/// The entries of a company after one, up to another, with all lines up to the last of them, and that one's number; all
/// that is left, where that is no more than a portion.
pub async fn next_entries(connection: &impl Answers, company: BusinessId, last: i64, until: i64) -> Result<Portion> {
    let headers = entries::Entity::find()
        .filter(entries::Column::BusinessId.eq(company))
        .filter(entries::Column::Number.gt(last))
        .filter(entries::Column::Number.lte(until))
        .order_by_asc(entries::Column::Number)
        .limit(PORTION);
    let mut headers = headers.models(connection).await?;
    let mut end = (headers.len() as u64 >= PORTION).then(|| headers.last().map(|header| header.number)).flatten();
    let lines = lines_between(company, last, end.unwrap_or(until)).limit(LINES + 1).models(connection).await?;
    if lines.len() as u64 <= LINES {
        return Ok((headers, lines, end));
    }
    // Up to the last entry that is whole among them; at least one.
    let cut = lines.last().map_or(last, |line| line.entry_number);
    let whole = lines.iter().rev().map(|line| line.entry_number).find(|number| *number < cut).unwrap_or(cut);
    end = Some(whole);
    headers.retain(|header| header.number <= whole);
    let lines = if whole == cut {
        lines_between(company, last, whole).models(connection).await?
    } else {
        lines.into_iter().take_while(|line| line.entry_number <= whole).collect()
    };
    Ok((headers, lines, end))
}

fn lines_between(company: BusinessId, after: i64, until: i64) -> Select<entry_lines::Entity> {
    entry_lines::Entity::find()
        .filter(entry_lines::Column::BusinessId.eq(company))
        .filter(entry_lines::Column::EntryNumber.gt(after))
        .filter(entry_lines::Column::EntryNumber.lte(until))
        .order_by_asc(entry_lines::Column::EntryNumber)
        .order_by_asc(entry_lines::Column::Position)
}
