//! What triggers noted of a batch: which rows it wrote without their seals, and what these were before.
//!
//! A row is sealed anew by whoever changes it next. So before that, it is walked back, change by change, to what it was
//! when it got the seal that it had: what does not fit then was changed by somebody else. Its seal stays as it is, and in
//! the sums, so that it is told by every proof from then on.

use super::Seals;
use super::tables::{self, Kind, Table, bytes_of};
use crate::error::Result;
use crate::ids::{BusinessId, counted};
use sea_orm::sea_query::{Alias, Condition, Query};
use sea_orm::{DbBackend, DbErr, QueryResult, Statement, Value};
use std::collections::{BTreeMap, HashMap, HashSet};
use uuid::Uuid;

/// One change of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Note {
    /// The seal that the row had; none where the row was put in.
    pub(super) old: String,
    /// What was in the columns that changed; in all of them, where the row was removed.
    was: HashMap<String, Option<String>>,
}

/// Rows by their tables, companies and keys, each with what happened to it, in order.
pub(super) type Touched = BTreeMap<(String, Option<BusinessId>, String), Vec<Note>>;

/// Takes away what is noted under a condition, and answers it.
pub(super) fn taking(engine: DbBackend, which: Condition) -> Statement {
    let columns = ["relation", "business_id", "key", "old", "was", "step"].map(Alias::new);
    let mut taken = Query::delete();
    taken.from_table(Alias::new("touched")).cond_where(which).returning(Query::returning().columns(columns));
    engine.build(&taken)
}

/// What was taken away.
pub(super) fn read(rows: Vec<QueryResult>) -> Result<Touched> {
    let step = |row: QueryResult| Ok((row.try_get::<i64>("", "step")?, row));
    let mut rows = rows.into_iter().map(step).collect::<Result<Vec<_>, DbErr>>()?;
    rows.sort_by_key(|(step, _)| *step);
    let mut touched = Touched::new();
    for (_, row) in rows {
        // What is nobody's is noted under nobody's identifier where every row has to lie beside some company.
        let company = row.try_get::<Option<Uuid>>("", "business_id")?.map(BusinessId);
        let company = company.filter(|company| *company != BusinessId::INSTALLATION);
        let was: String = row.try_get("", "was")?;
        // Who can read nothing of it takes the row for changed.
        let was = serde_json::from_str(&was).unwrap_or_else(|_| HashMap::new());
        let note = Note { old: row.try_get("", "old")?, was };
        let (relation, key): (String, String) = (row.try_get("", "relation")?, row.try_get("", "key")?);
        // Rows have one name, however an engine keeps the identifiers in it.
        let named = tables::table(&relation).ok().and_then(|table| table.key_noted(&key));
        touched.entry((relation, company, named.unwrap_or(key))).or_default().push(note);
    }
    Ok(touched)
}

/// The seals that a row had, each once.
pub(super) fn seals_of(notes: &[Note]) -> HashSet<&str> {
    notes.iter().map(|note| note.old.as_str()).filter(|old| !old.is_empty()).collect()
}

/// Those of the seals that a row had which were not made of what it was. `now` is the row as it is, if it is there.
pub(super) fn spoilt<'n>(
    seals: &Seals,
    table: &Table,
    notes: &'n [Note],
    now: Option<&[Value]>,
) -> Result<HashSet<&'n str>> {
    let mut row = now.map(<[Value]>::to_vec);
    let mut spoilt = HashSet::new();
    for (place, note) in notes.iter().enumerate().rev() {
        if note.old.is_empty() {
            row = None;
            continue;
        }
        row = before(table, note, row);
        // What it was when it got this seal.
        let is_first = notes[..place].last().is_none_or(|earlier| earlier.old != note.old);
        if is_first {
            let fits = row.as_ref().map(|row| table.fits(seals, &note.old, row, &[])).transpose()?;
            if fits != Some(true) {
                spoilt.insert(note.old.as_str());
            }
        }
    }
    Ok(spoilt)
}

/// The row before a change. Nothing where that cannot be told.
fn before(table: &Table, note: &Note, after: Option<Vec<Value>>) -> Option<Vec<Value>> {
    let mut row = match after {
        Some(row) => row,
        // Of a row that is gone all was noted that is under its seal.
        None if note.was.is_empty() => return None,
        None => vec![Value::String(None); table.columns.len()],
    };
    for (column, value) in table.columns.iter().zip(&mut row) {
        if let Some(was) = note.was.get(column.name) {
            *value = match was {
                None => Value::String(None),
                Some(text) => read_back(column.kind, text)?,
            };
        }
    }
    Some(row)
}

/// A value as triggers write it.
pub(super) fn read_back(kind: Kind, text: &str) -> Option<Value> {
    match (kind, text) {
        // SQLite writes what it keeps, PostgreSQL all of it.
        (Kind::Uuid, _) => counted::read(&bytes_of(text)?).or_else(|| Uuid::parse_str(text).ok()).map(Value::from),
        (Kind::Number, _) => text.parse::<i64>().ok().map(Value::from),
        (Kind::Flag, "1" | "true") => Some(Value::from(true)),
        (Kind::Flag, "0" | "false") => Some(Value::from(false)),
        (Kind::Flag, _) => None,
        (Kind::Day, _) => Some(text.parse::<i64>().map_or_else(|_| Value::from(text), Value::from)),
        (Kind::Bytes, _) => bytes_of(text).map(Value::from),
        (Kind::Text, _) => Some(Value::from(text)),
    }
}

/// What forgets what is noted under a condition.
pub(super) fn forgetting(engine: DbBackend, which: Condition) -> Statement {
    engine.build(Query::delete().from_table(Alias::new("touched")).cond_where(which))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Keys;
    use crate::seal::tables::{salt, table};

    fn note(old: &str, was: &[(&str, Option<&str>)]) -> Note {
        let was = was.iter().map(|(name, value)| ((*name).to_owned(), value.map(str::to_owned))).collect();
        Note { old: old.to_owned(), was }
    }

    /// A counter: its company, series, period, last number and day.
    fn counter(last: i64, date: &str) -> Vec<Value> {
        let id = Uuid::from_u128(7);
        vec![id.into(), id.into(), "2026".into(), last.into(), date.into()]
    }

    #[test]
    fn a_row_is_walked_back_to_what_it_was_when_it_got_each_seal() {
        let seals = Seals::of(&Keys::of(b"key")).unwrap();
        let table = table("number_counters").unwrap();
        let names: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
        assert_eq!(names, ["business_id", "series_id", "period", "last", "last_date"]);
        let sealed = |row: &[Value]| table.seal(&seals, &salt().unwrap(), row, &[]).unwrap();
        let (first, second) = (counter(1, "a"), counter(5, "b"));
        let (one, two) = (sealed(&first), sealed(&second));
        assert_ne!(sealed(&first), one, "the same row, written again, has another seal");
        let found = |notes: &[Note], now: Option<&[Value]>| -> Vec<String> {
            let mut all: Vec<String> =
                spoilt(&seals, table, notes, now).unwrap().into_iter().map(str::to_owned).collect();
            all.sort();
            all
        };
        let none: [&str; 0] = [];
        // Changed twice without its seal, then written with it, then changed again.
        let whole = [
            note(&one, &[("last", Some("1"))]),
            note(&one, &[("last", Some("2")), ("last_date", Some("a"))]),
            note(&one, &[("last", Some("4")), ("last_date", Some("c"))]),
            note(&two, &[("last", Some("5"))]),
        ];
        assert_eq!(found(&whole, Some(&counter(6, "b"))), none);
        // What nobody of us wrote stays wherever it is walked back to.
        assert_eq!(found(&whole, Some(&counter(6, "x"))), [two.as_str()]);
        let mut other = whole.clone();
        other[0] = note(&one, &[("last", Some("3"))]);
        assert_eq!(found(&other, Some(&counter(6, "b"))), [one.as_str()]);
        other[0] = note(&one, &[("last", None)]);
        assert_eq!(found(&other, Some(&counter(6, "b"))), [one.as_str()]);
        // Removed, and put in again.
        let id = Uuid::from_u128(7).simple().to_string();
        let all = |last: &str| {
            let id = Some(id.as_str());
            let columns = [("business_id", id), ("series_id", id), ("period", Some("2026")), ("last", Some(last))];
            note(&one, &[&columns[..], &[("last_date", Some("a"))]].concat())
        };
        assert_eq!(found(&[all("1")], None), none);
        assert_eq!(found(&[all("9")], None), [one.as_str()]);
        assert_eq!(found(&[all("1"), note("", &[])], Some(&counter(8, "d"))), none);
        assert_eq!(found(&[all("1"), note(&two, &[("last", Some("5"))])], Some(&counter(8, "b"))), none);
        // A note that says nothing is worth nothing.
        assert_eq!(found(&[note(&one, &[])], None), [one.as_str()]);
    }
}
