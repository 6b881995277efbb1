//! The proof of a company's books: everything is recomputed from the lines and compared with what is kept.
//!
//! Each check has two figures that must be equal, and says where they are not. The ledger is read once, in
//! portions, so that its size costs time and no memory; nothing here trusts a rollup, a counter or a status.

mod before;
mod cash_days;
mod counts;
mod courses;
mod crossing;
mod goods;
mod live;
mod numbers;
mod party_months;
mod progress;
mod purses;
mod replay;
mod rollups;
mod search;
mod settled;
mod shares;
mod stages;
mod standings;
mod subledgers;
mod tally;
mod tax_months;
mod taxes;
mod trade_months;
mod walk;
mod years;

pub use self::goods::{Kept, Off};
pub use self::taxes::{Documents as TaxedDocuments, end_of_part};

use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::money::{BookMoney, Money};
use answers::Ask;
use async_trait::async_trait;
use schema::reader::Reader;
use schema::tables::documents::Whose;
use schema::tables::entries;
use schema::written::Written;
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::fmt::Debug;
use walk::{Sums, Walk};
pub(crate) use words::{clock, currency, day, error, ids, money, stored};

/// What the proof came to.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Verdict {
    /// Whether every check holds.
    pub ok: bool,
    /// The checks, each with its two figures.
    pub checks: Vec<Check>,
    /// SHA-256 of the whole ledger without its identifiers: numbers, dates, accounts by their codes, amounts, words.
    /// Companies with the same digest have the same books.
    pub digest: String,
}

impl Verdict {
    /// Nothing of the books can be proved.
    pub fn unread(why: String) -> Self {
        let checks = vec![Check::of_unread([("All".to_owned(), why)])];
        Self { ok: false, checks, digest: String::new() }
    }
}

/// One identity of the books.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    /// Its stable identifier, such as `V1`.
    pub id: String,
    /// What must be so.
    pub name: String,
    /// What is kept.
    pub left: String,
    /// What it must be.
    pub right: String,
    /// Whether it is so, or nothing is wrong while it is not.
    pub ok: bool,
    /// Where it is not, at most 50 places.
    pub findings: Vec<String>,
}

impl Check {
    /// The engine's own check of its file.
    pub fn of_engine(found: Vec<String>) -> Self {
        Self::none("V13", "The database file is whole", found)
    }

    /// What of the books cannot be read, part by part, and why.
    pub fn of_unread(found: impl IntoIterator<Item = (String, String)>) -> Self {
        let found = found.into_iter().map(|(part, why)| format!("{part} cannot be recomputed, {why}")).collect();
        Self::none("V18", "All that is kept can be read", found)
    }

    /// What differs from the schema that the migrations make.
    pub fn of_schema(found: Vec<String>) -> Self {
        Self::none("V16", "The schema is what the migrations made", found)
    }

    /// What is not as a head says that was kept elsewhere.
    pub fn of_heads(found: Vec<String>) -> Self {
        Self::none("V17", "Nothing went back behind the heads that were kept", found)
    }

    /// What is nothing wrong, and is to be looked at where it is not as it should be in the end.
    fn warning(id: &str, name: &str, left: impl ToString, right: impl ToString, warning: &str) -> Self {
        let mut check = Self::of(id, name, left, right, Findings::default());
        if !check.ok {
            check.findings.push(warning.into());
        }
        Self { ok: true, ..check }
    }

    /// A check that finds nothing.
    fn none(id: &str, name: &str, found: Vec<String>) -> Self {
        let mut findings = Findings::default();
        let count = found.len();
        for finding in found {
            findings.add(finding);
        }
        Self::of(id, name, count, 0, findings)
    }
}

const MOST_FINDINGS: usize = 50;
const PORTION: u64 = 2_000;

/// Entries and records are numbered from 1: what comes after this is all of them.
pub const BEFORE_THE_FIRST: i64 = 0;

impl Check {
    pub fn of(id: &str, name: &str, left: impl ToString, right: impl ToString, findings: Findings) -> Self {
        let (left, right) = (left.to_string(), right.to_string());
        Self {
            ok: left == right && findings.0.is_empty(),
            id: id.into(),
            name: name.into(),
            left,
            right,
            findings: findings.0,
        }
    }
}

/// Where two figures differ, as far as that is told.
#[derive(Debug, Default)]
pub struct Findings(Vec<String>);

impl Findings {
    pub fn add(&mut self, finding: String) {
        if self.0.len() < MOST_FINDINGS {
            self.0.push(finding);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// With those of another part of the same check.
    fn with(mut self, others: Self) -> Self {
        others.0.into_iter().for_each(|finding| self.add(finding));
        self
    }
}

/// What is kept of a document. Where that cannot be read, that is found, and the others are judged all the same.
fn kept<T: DeserializeOwned>(whose: Whose<'_>, written: &Written, findings: &mut Findings) -> Result<Option<T>> {
    match whose.read(written) {
        Ok(kept) => Ok(Some(kept)),
        Err(Error::Tampered { what, .. }) => {
            findings.add(what);
            Ok(None)
        }
        Err(other) => Err(other),
    }
}

/// A sum that may outgrow an amount.
pub type Wide = i128;

fn shown(units: Wide) -> String {
    match i64::try_from(units) {
        Ok(units) => Money::from_units(units).with_decimals(2),
        Err(_) => format!("{units} ten-thousandths"),
    }
}

/// What others reckon of the books, and the proof holds against its own figures.
#[async_trait]
pub trait Told: Sync {
    /// What of each of these documents is due on cash basis by the end of a day: base, tax and what cannot be claimed.
    async fn due(&self, of: &[(RecordId, Day)]) -> Result<HashMap<(RecordId, Day), Wide>>;
}

/// The digest of a company's ledger.
pub async fn digest(reader: &Reader<'_>) -> Result<String> {
    Ok(Walk::along(reader, BEFORE_THE_FIRST).await?.digest.finish())
}

/// Where a company's ledger is not what the facts of its stock come to, and the last day that is closed.
pub async fn off(reader: &Reader<'_>) -> Result<(Vec<Off>, Option<Day>)> {
    goods::off(reader).await
}

/// What is proved by itself, beside the rest: nothing that one finds is used by another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The ledger, line by line, and what is held against its sums.
    Ledger,
    /// What is kept of tax by month, beside its facts.
    TaxMonths,
    /// What is kept of trade by month and of money by day, beside the lines.
    TradeMonths,
    /// What words are looked for by, beside what documents say.
    Search,
    /// What open items and stock say of their own history.
    History,
    /// Taxes beside the ledger's lines.
    Taxes,
    /// Taxes beside the documents that made them. It can be proved part by part.
    TaxedDocuments,
    /// Stock, by a replay of its own.
    Goods,
    /// Orders and notes.
    Orders,
    /// What was taken of what.
    Shares,
    /// Numbers, and what is kept for repeats.
    Numbers,
}

/// What a part came to.
#[derive(Debug)]
pub struct Proved {
    pub checks: Vec<Check>,
    /// The ledger's digest, where it was read.
    pub digest: Option<String>,
}

impl Part {
    /// Those that are proved as a whole, the dearest first.
    pub const WHOLE: [Self; 10] = [
        Self::Ledger,
        Self::TradeMonths,
        Self::TaxMonths,
        Self::Search,
        Self::History,
        Self::Taxes,
        Self::Goods,
        Self::Orders,
        Self::Shares,
        Self::Numbers,
    ];

    /// Entries up to `trusted` are not judged again one by one; their lines are summed, and all that is kept beside them is
    /// held against the sums.
    pub async fn prove(self, reader: &Reader<'_>, told: &dyn Told, trusted: i64) -> Result<Proved> {
        let checks = match self {
            Self::Ledger => {
                let (checks, digest) = rollups::ledger(reader, trusted).await?;
                return Ok(Proved { checks, digest });
            }
            Self::TaxMonths => vec![tax_months::check(reader).await?],
            Self::TradeMonths => vec![
                trade_months::check(reader).await?,
                cash_days::check(reader).await?,
                party_months::check(reader).await?,
            ],
            Self::Search => vec![search::check(reader).await?],
            Self::History => subledgers::beside_history(reader).await?,
            Self::Taxes => taxes::of_ledger(reader).await?,
            Self::TaxedDocuments => TaxedDocuments::of_part(reader, told, (None, None)).await?.checks(),
            Self::Goods => goods::checks(reader).await?,
            Self::Orders => progress::checks(reader).await?,
            Self::Shares => {
                vec![shares::check(reader).await?, courses::check(reader).await?, counts::check(reader).await?]
            }
            Self::Numbers => vec![numbers::numbers(reader).await?, crossing::kept_answers(reader).await?],
        };
        Ok(Proved { checks, digest: None })
    }
}

/// As many entries as are summed at a time. Books of tests are divided as well.
const SUMMED: u64 = if cfg!(debug_assertions) { 48 } else { 4_000 };
/// Before every number, whoever put it there, and behind.
const BEFORE_ALL: i64 = i64::MIN;
const BEHIND_ALL: i64 = i64::MAX;

/// Numbers of entries from behind one of them up to another, so many entries; at the end all that is left.
async fn summed(reader: &Reader<'_>, after: i64) -> Result<(i64, i64)> {
    let last = entries::Entity::find()
        .select_only()
        .column(entries::Column::Number)
        .filter(entries::Column::BusinessId.eq(reader.id()))
        .filter(entries::Column::Number.gt(after))
        .order_by_asc(entries::Column::Number)
        .offset(SUMMED - 1)
        .limit(1);
    let last: Option<i64> = last.column_of(&reader.db).await?.pop();
    Ok((after, last.unwrap_or(BEHIND_ALL)))
}

fn wide(debit: BookMoney, credit: BookMoney, own: Money, lines: i64) -> Sums {
    (debit.units().into(), credit.units().into(), own.units().into(), lines.into())
}
