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
            fn kind(self) -> ColumnType {
                match self {
                    $(Self::$column => <$type as ValueType>::column_type(),)+
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

/// A draft's own, which documents of before have as well; else that of the record; and nothing in JSON where that is gone,
/// which the proof tells.
const WHEREVER: &str = "COALESCE(documents.content, (SELECT audit_log.record FROM audit_log \
     WHERE audit_log.business_id = documents.business_id AND audit_log.sequence = documents.record), 'null')";

impl ColumnTrait for Column {
    type EntityName = Entity;

    fn def(&self) -> ColumnDef {
        self.kind().def()
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
