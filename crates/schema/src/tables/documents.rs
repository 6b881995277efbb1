//! Documents of all kinds, each a row. What is kept of one that is in the books stands in the audit log, once; whoever reads
//! the row reads it with it.

use super::{
    AsJson, BookMoney, BusinessId, Day, DocumentKind, DocumentStatus, EntryRefs, Instant, Money, Named, RecordId,
};
use super::{Stage, UserId};
use crate::written::Written;
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::ValueType;

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
    /// When what is open of it is due.
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
    fn what_is_kept_is_read_from_wherever_it_stands() {
        let read = |value: Value| <Written as ValueType>::try_from(value).ok().map(|written| written.to_string());
        let kept = r#"{"asked":{"lines":[{"quantity":2}]},"figures":null}"#;
        let after = r#"{"lines":[{"quantity":2,"kept":{}}]}"#;
        let record = |kept| words::packed::pack(&Recorded::text(kept, None, Some(after)).unwrap());
        assert_eq!(read(record(Some(kept)).into()).as_deref(), Some(kept));
        // In books of before it stood in the row, packed.
        assert_eq!(read(words::packed::pack(kept).into()).as_deref(), Some(kept));
        assert_eq!(read(kept.into()).as_deref(), Some(kept));
        // The record of something else, and none at all.
        assert_eq!(read(record(None).into()).as_deref(), Some("null"));
        assert_eq!(read("null".into()).as_deref(), Some("null"));
    }
}
