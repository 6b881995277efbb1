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
mod parts;
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
mod telling;
mod trade_months;
mod walk;
mod years;

pub use self::goods::{Kept, Off};
pub use self::parts::{By, Key, Part, Piece, Pieces, Proved, Range};

use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::money::{BookMoney, Money};
use async_trait::async_trait;
use schema::reader::Reader;
use schema::tables::documents::Whose;
use schema::written::Written;
use schemars::JsonSchema;
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
        self.add_all(others);
        self
    }

    fn add_all(&mut self, others: Self) {
        others.0.into_iter().for_each(|finding| self.add(finding));
    }
}

/// What is kept of a document. Where that cannot be read, that is found, and the others are judged all the same.
fn kept<T: DeserializeOwned>(whose: Whose<'_>, written: &Written, findings: &mut Findings) -> Result<Option<T>> {
    found(whose.read(written), findings)
}

/// The same of what was read, or could not be.
fn found<T>(kept: Result<T>, findings: &mut Findings) -> Result<Option<T>> {
    match kept {
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
    let digest = Walk::along(reader, Range::default(), BEFORE_THE_FIRST).await?.digest();
    digest.ok_or_else(|| Error::internal("no ledger was told from its first entry on"))
}

/// Where a company's ledger is not what the facts of its stock come to, and the last day that is closed.
pub async fn off(reader: &Reader<'_>) -> Result<(Vec<Off>, Option<Day>)> {
    goods::off(reader).await
}

fn wide(debit: BookMoney, credit: BookMoney, own: Money, lines: i64) -> Sums {
    (debit.units().into(), credit.units().into(), own.units().into(), lines.into())
}
