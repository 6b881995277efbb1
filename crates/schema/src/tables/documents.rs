//! Documents of all kinds, each a row. What is kept of one that is in the books stands in the audit log, once; whoever reads
//! the row reads it with it.

use super::{
    AsJson, BookMoney, BusinessId, Day, DocumentKind, DocumentStatus, EntryRefs, Instant, Money, Named, RecordId,
};
use super::{Stage, UserId};
use crate::error::{Error, Result};
use crate::written::{Stands, Written};
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::ValueType;
use serde::Deserialize;
use serde::de::DeserializeOwned;

macro_rules! columns {
    ($($(#[$about:meta])* $column:ident = $field:ident: $type:ty,)+) => {
        #[derive(Clone, Debug, PartialEq, Eq, DeriveModel, DeriveActiveModel)]
        pub struct Model {
            $($(#[$about])* pub $field: $type,)+
        }

        #[derive(Copy, Clone, Debug, EnumIter, DeriveColumn)]
        pub enum Column {
            $($column,)+
        }

        impl Column {
            /// What it holds, and whether it may hold nothing.
            fn kind(self) -> (ColumnType, bool) {
                match self {
                    $(Self::$column => (<$type as ValueType>::column_type(), <$type as ValueType>::is_option()),)+
                }
            }
        }
    };
}

columns! {
    BusinessId = business_id: BusinessId,
    Id = id: RecordId,
    Kind = kind: DocumentKind,
    Subkind = subkind: Option<String>,
    /// How far it has got, where others follow or settle it.
    Stage = stage: Option<Stage>,
    Status = status: DocumentStatus,
    Number = number: Option<String>,
    SeriesId = series_id: Option<RecordId>,
    Period = period: Option<String>,
    Sequence = sequence: Option<i64>,
    Date = date: Day,
    /// When what is open of it is due, or will be, or was.
    DueDate = due_date: Option<Day>,
    PartyId = party_id: Option<Named>,
    Reference = reference: Option<String>,
    Narration = narration: Option<String>,
    Currency = currency: String,
    Total = total: Money,
    BaseTotal = base_total: BookMoney,
    /// What was asked and judged, wherever it stands.
    Content = content: Written,
    /// Where in the audit log that stands; nowhere of a draft.
    Record = record: Option<i64>,
    Entries = entries: EntryRefs,
    PostedAt = posted_at: Option<Instant>,
    VoidDate = void_date: Option<Day>,
    VoidReason = void_reason: Option<String>,
    ExternalId = external_id: Option<String>,
    Tags = tags: AsJson<Vec<String>>,
    Search = search: String,
    Version = version: i64,
    CreatedAt = created_at: Instant,
    CreatedBy = created_by: UserId,
    UpdatedAt = updated_at: Instant,
    UpdatedBy = updated_by: UserId,
}

/// A draft's own, which documents of before have as well; else that of the record; and nothing in JSON where that is gone or
/// is another document's, which the proof tells.
const WHEREVER: &str = "COALESCE(documents.content, (SELECT audit_log.record FROM audit_log \
     WHERE audit_log.business_id = documents.business_id AND audit_log.sequence = documents.record \
     AND audit_log.resource_id = documents.id), 'null')";

impl Model {
    /// What is kept of it, read. Another's, what does not unpack and what is gone is told as that.
    pub fn kept<T: DeserializeOwned>(&self) -> Result<T> {
        self.named().read(&self.content)
    }

    pub fn named(&self) -> Whose<'_> {
        Whose { business: self.business_id, id: self.id, number: self.number.as_deref(), record: self.record }
    }
}

/// What is kept of a document, as far as somebody reads of its lines.
#[derive(Debug, Deserialize)]
pub struct KeptLines<L> {
    asked: AskedLines<L>,
}

#[derive(Debug, Deserialize)]
struct AskedLines<L> {
    lines: Vec<L>,
}

impl<L> KeptLines<L> {
    pub fn lines(&self) -> &[L] {
        &self.asked.lines
    }
}

/// A document of which something is kept.
#[derive(Debug, Clone, Copy)]
pub struct Whose<'d> {
    pub business: BusinessId,
    pub id: RecordId,
    pub number: Option<&'d str>,
    /// Where in the audit log it is kept.
    pub record: Option<i64>,
}

impl Whose<'_> {
    /// What is kept, read, where it is this document's.
    pub fn read<'c, T: Deserialize<'c>>(self, written: &'c Written) -> Result<T> {
        let Some(said) = written.said() else { return Err(self.torn("does not unpack")) };
        match (said.stands, self.record) {
            (Stands::Judged, _) | (Stands::InRow, None) => {}
            (Stands::InLog(id, place), Some(record)) if (id, place) == (self.id, record) => {}
            (Stands::InLog(..), _) => return Err(self.torn("is another's")),
            (Stands::InRow | Stands::Gone, _) => return Err(self.torn("is gone")),
        }
        serde_json::from_str(&said.json).map_err(|why| self.torn(&format!("cannot be read: {why}")))
    }

    fn torn(self, what: &str) -> Error {
        let place = self
            .record
            .map_or_else(|| "in its row".to_owned(), |record| format!("in record {record} of the audit log"));
        let number = self.number.map_or_else(String::new, |number| format!("{number}, "));
        Error::Tampered {
            business: self.business,
            what: format!("what is kept of the document {number}{}, {place}, {what}", self.id),
        }
    }
}

impl ColumnTrait for Column {
    type EntityName = Entity;

    fn def(&self) -> ColumnDef {
        let (kind, is_maybe) = self.kind();
        if is_maybe { kind.def().nullable() } else { kind.def() }
    }

    fn select_as(&self, expr: Expr) -> Expr {
        match self {
            Self::Content => Expr::cust(WHEREVER),
            _ => self.select_enum_as(expr),
        }
    }
}

#[derive(Copy, Clone, Default, Debug, DeriveEntity)]
pub struct Entity;

impl EntityName for Entity {
    fn table_name(&self) -> &'static str {
        "documents"
    }
}

#[derive(Copy, Clone, Debug, EnumIter, DerivePrimaryKey)]
pub enum PrimaryKey {
    BusinessId,
    Id,
}

impl PrimaryKeyTrait for PrimaryKey {
    type ValueType = (BusinessId, RecordId);

    fn auto_increment() -> bool {
        false
    }
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

answers::asked_whole!(Entity);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded::Recorded;
    use sea_orm::{DbBackend, Iterable, QueryTrait, Value};
    use serde_json::json;

    #[test]
    fn lists_know_what_may_be_absent() {
        let maybe: Vec<&str> =
            Column::iter().filter(|column| column.def().is_null()).map(|column| column.as_str()).collect();
        assert_eq!(maybe.len(), 15, "{maybe:?}");
        assert!(maybe.contains(&"number") && !maybe.contains(&"content") && !maybe.contains(&"date"));
    }

    #[test]
    fn a_document_is_read_with_what_stands_in_the_log() {
        for engine in [DbBackend::Sqlite, DbBackend::Postgres] {
            let sql = Entity::find().build(engine).sql;
            assert!(sql.contains("audit_log.resource_id = documents.id), 'null') AS \"content\""), "{sql}");
        }
    }

    #[test]
    fn a_draft_alone_has_its_content_in_its_row() {
        let of = |status| Value::from(Written::of(&json!({"asked": 1}), status).unwrap());
        assert_eq!(of(DocumentStatus::Draft), Value::Bytes(Some(br#"{"asked":1}"#.to_vec())));
        assert_eq!((of(DocumentStatus::Posted), of(DocumentStatus::Void)), (Value::Bytes(None), Value::Bytes(None)));
    }

    #[test]
    fn what_is_kept_is_read_from_wherever_it_stands_and_only_where_it_is_its_own() {
        let id = |number| RecordId(Uuid::from_u128(number));
        let told = |value: Value, record| {
            let written = <Written as ValueType>::try_from(value).unwrap();
            let whose = Whose { business: BusinessId::default(), id: id(1), number: Some("INV-1"), record };
            match whose.read::<serde_json::Value>(&written) {
                Ok(kept) => kept.to_string(),
                Err(Error::Tampered { what, .. }) => what.rsplit_once(", ").unwrap().1.to_owned(),
                Err(other) => panic!("{other:?}"),
            }
        };
        let kept = r#"{"asked":{"lines":[{"quantity":2}]},"figures":null}"#;
        let after = r#"{"lines":[{"quantity":2,"kept":{}}]}"#;
        let text = |kept| Recorded::text(kept, [None, Some(after), None]).unwrap();
        let record = |kept| -> Value { words::packed::pack(&text(kept)).into() };
        let own = || record(Some((id(1), 7, kept)));
        assert_eq!(told(own(), Some(7)), kept);
        // It is not taken apart where it is short.
        assert_eq!(told(text(Some((id(1), 7, "{}"))).into(), Some(7)), "{}");
        // Drafts have it in their rows, and documents of before, packed.
        assert_eq!(told(words::packed::pack(kept).into(), None), kept);
        assert_eq!(told(kept.into(), None), kept);
        for (value, record) in [(own(), Some(8)), (record(Some((id(2), 7, kept))), Some(7)), (own(), None)] {
            assert_eq!(told(value, record), "is another's");
        }
        // The record of something else, none at all, and a row's own beside it.
        for value in [record(None), "null".into(), kept.into()] {
            assert_eq!(told(value, Some(7)), "is gone");
        }
        let mut torn = words::packed::pack(&text(Some((id(1), 7, kept))));
        torn.truncate(20);
        for value in [torn.into(), vec![1_u8, 2, 3].into(), vec![0xff_u8].into(), 5.into()] {
            assert_eq!(told(value, Some(7)), "does not unpack");
        }
        assert!(told("{".into(), None).starts_with("cannot be read: "));
    }
}
