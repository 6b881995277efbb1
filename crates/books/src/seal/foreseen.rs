//! Notes that are foreseen: what triggers are going to note of rows that this lane wrote last, and writes anew.
//!
//! Who knows a row and its seal as they were written last need not ask what was noted of it, and wait for the answer: the
//! engine compares what was noted with what was foreseen, beside the commit, and objects where they differ in anything. Then
//! somebody else wrote, and the batch is run again as one that asks.

use super::tables::{self, Table, text};
use super::writing::{Name, Of};
use super::{Seals, noted};
use crate::database::rows::{Check, Step};
use crate::error::{Error, Result};
use sea_orm::{DbBackend, DbErr, Statement, Value};
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// A note that is to be there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Foreseen<'n> {
    relation: &'n str,
    business_id: Option<String>,
    key: &'n str,
    pub old: &'n str,
    /// What was in the columns that change.
    was: BTreeMap<&'static str, Option<String>>,
}

impl<'n> Foreseen<'n> {
    /// What is going to be noted of a row that had this seal and becomes another.
    pub fn of(
        table: &'static Table,
        (relation, company, key): &'n Name,
        (before, old): &'n (Vec<Value>, String),
        after: &[Value],
    ) -> Self {
        let columns = table.columns.iter().zip(before.iter().zip(after));
        let changed = columns.filter(|(column, (before, after))| column.sealed && before != after);
        let was = changed.map(|(column, (before, _))| (column.name, as_noted(before))).collect();
        Self { relation, business_id: company.map(|company| company.to_string()), key, old, was }
    }
}

/// A value as triggers write it.
fn as_noted(value: &Value) -> Option<String> {
    match value {
        Value::Uuid(id) => id.map(|id| id.simple().to_string()),
        value => text(value).map(std::borrow::Cow::into_owned),
    }
}

/// Takes away what a batch noted, and divides by nothing unless that is what was foreseen: PostgreSQL has no other way to
/// object from within a question.
const COMPARED: &str = "\
WITH noted AS (DELETE FROM touched WHERE batch = current_setting('duet.batch', true) \
     RETURNING relation, NULLIF(business_id, '00000000-0000-0000-0000-000000000000') AS business_id, key, old, \
     was::jsonb - '' AS was), \
 foreseen AS (SELECT * FROM jsonb_to_recordset($1::jsonb) \
     AS foreseen(relation text, business_id uuid, key text, old text, was jsonb)), \
 met AS (SELECT COUNT(*) AS count FROM noted JOIN foreseen ON noted.relation = foreseen.relation \
     AND noted.business_id IS NOT DISTINCT FROM foreseen.business_id AND noted.key = foreseen.key \
     AND noted.old = foreseen.old AND noted.was = foreseen.was) \
SELECT 1 / CASE WHEN met.count = (SELECT COUNT(*) FROM noted) AND met.count = (SELECT COUNT(*) FROM foreseen) \
     THEN 1 ELSE 0 END AS met FROM met";

/// What the server calls it.
pub const DIFFERS: &str = "22012";

/// What compares them.
pub fn compared(all: &[Foreseen<'_>]) -> Result<Statement> {
    let all = serde_json::to_string(all).map_err(Error::internal)?;
    Ok(Statement::from_sql_and_values(DbBackend::Postgres, COMPARED, [all.into()]))
}

/// What is said where SQLite noted something else.
const DIFFERS_HERE: &str = "what was noted is not what was foreseen";

/// Whether a batch was refused since something else was noted than what was foreseen.
pub fn differs(error: &DbErr) -> bool {
    match error {
        DbErr::Custom(why) => why == DIFFERS_HERE,
        error => postgres_kit::Fault::within(error).is_some_and(|fault| fault.code() == DIFFERS),
    }
}

/// A row that is written anew: its name, the seal that it had, and what it becomes.
pub type Renewed = (Name, String, Vec<Value>);

/// Takes away what a batch noted on SQLite, and refuses it unless each row was noted once, with the seal that it had and as
/// what it was when it got that.
pub fn checked(seals: &Seals, all: Vec<Renewed>) -> Step {
    let seals = seals.clone();
    let met = move |taken| {
        let touched = noted::read(taken)?;
        for (name, old, after) in &all {
            let Some([note]) = touched.get(name).map(Vec::as_slice) else { return Ok(false) };
            let notes = std::slice::from_ref(note);
            let is_known = noted::seals_of(notes) == HashSet::from([old.as_str()]);
            if !is_known || !noted::spoilt(&seals, tables::table(&name.0)?, notes, Some(after))?.is_empty() {
                return Ok(false);
            }
        }
        Ok::<_, Error>(touched.len() == all.len())
    };
    let by = move |taken| match met(taken) {
        Ok(true) => Ok(()),
        Ok(false) => Err(DbErr::Custom(DIFFERS_HERE.into())),
        Err(error) => Err(DbErr::Custom(format!("what was noted cannot be compared: {error:?}"))),
    };
    Step::Checked(Check { asked: Of::Batch("").taking(DbBackend::Sqlite), by: Arc::new(by) })
}
