//! The entries that a document stands for, in the short text that its row has of them.

use crate::day::Day;
use crate::ids::{RecordId, counted};
use crate::tables::EntryRef;
use sea_orm::sea_query::{ArrayType, ColumnType, ValueType, ValueTypeErr};
use sea_orm::{ColIdx, DbErr, QueryResult, TryGetError, TryGetable, Value};

/// Entries in the order in which they were made. Kept as `number.day.identifier`, one after the other: the day by its
/// number, of the identifier what `SQLite` keeps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EntryRefs(pub Vec<EntryRef>);

const BETWEEN: char = ' ';
const WITHIN: char = '.';

impl EntryRefs {
    fn kept(&self) -> String {
        let one = |entry: &EntryRef| {
            let id = counted::Kept::of(&entry.id.0).digits();
            format!("{}{WITHIN}{}{WITHIN}{id}", entry.number, entry.date.number())
        };
        self.0.iter().map(one).collect::<Vec<_>>().join(&BETWEEN.to_string())
    }

    fn read(kept: &str) -> Option<Self> {
        // Books of before have JSON.
        if kept.starts_with('[') {
            return serde_json::from_str(kept).ok().map(Self);
        }
        kept.split(BETWEEN).filter(|one| !one.is_empty()).map(one).collect::<Option<_>>().map(Self)
    }
}

fn one(kept: &str) -> Option<EntryRef> {
    let mut parts = kept.splitn(3, WITHIN);
    let (number, day, digits) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, parts.next()?);
    let byte = |place: usize| u8::from_str_radix(digits.get(place..place + 2)?, 16).ok();
    let bytes: Vec<u8> = (0..digits.len()).step_by(2).map(byte).collect::<Option<_>>()?;
    Some(EntryRef { id: RecordId(counted::read(&bytes)?), number, date: Day::kept_as(day)? })
}

impl From<EntryRefs> for Value {
    fn from(refs: EntryRefs) -> Self {
        refs.kept().into()
    }
}

impl TryGetable for EntryRefs {
    fn try_get_by<I: ColIdx>(row: &QueryResult, index: I) -> Result<Self, TryGetError> {
        let kept = String::try_get_by(row, index)?;
        Self::read(&kept).ok_or_else(|| TryGetError::DbErr(DbErr::Type("what is kept names no entries".into())))
    }
}

impl ValueType for EntryRefs {
    fn try_from(value: Value) -> Result<Self, ValueTypeErr> {
        Self::read(&<String as ValueType>::try_from(value)?).ok_or(ValueTypeErr)
    }

    fn type_name() -> String {
        "EntryRefs".into()
    }

    fn array_type() -> ArrayType {
        ArrayType::String
    }

    fn column_type() -> ColumnType {
        ColumnType::Text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sea_orm::prelude::Uuid;

    fn entry(id: Uuid, number: i64, day: i64) -> EntryRef {
        EntryRef { id: RecordId(id), number, date: Day::kept_as(day).unwrap() }
    }

    #[test]
    fn entries_come_back_in_their_order() {
        let some = vec![entry(counted::counted(70_000).unwrap(), 12, 20_777), entry(Uuid::from_u128(7), 3, -1)];
        let refs = EntryRefs(some);
        assert_eq!(refs.kept(), "12.20777.11096a 3.-1.00000000000000000000000000000007");
        assert_eq!(EntryRefs::read(&refs.kept()), Some(refs.clone()));
        // As books of before have them.
        let of_before = serde_json::to_string(&refs.0).unwrap();
        assert_eq!(EntryRefs::read(&of_before), Some(refs));
        for nothing in ["", "[]"] {
            assert_eq!(EntryRefs::read(nothing), Some(EntryRefs::default()));
        }
        assert_eq!(EntryRefs::default().kept(), "");
    }

    #[test]
    fn what_names_no_entry_is_not_read() {
        for torn in
            ["12", "12.20777", "12.20777.", "12.20777.0", "12.20777.zz", "x.1.02", "1.x.02", "1.1.02,2.2.03", "[{}]"]
        {
            assert_eq!(EntryRefs::read(torn), None, "{torn}");
        }
    }
}
