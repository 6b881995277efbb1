//! Master data: records that are made, replaced and removed by one set of rules.
//!
//! Owns: uniqueness, versions, `If-Match`, and that every change is in the audit log. A resource says what
//! its columns are; it writes no query for these.

use crate::clock::Instant;
use crate::error::{Code, Conflict, Error, FieldErrors, Result};
use crate::ids::{BusinessId, RecordId};
use crate::quoting::quoted;
use crate::resource::{Record, Resource};
use crate::rows::{Column, Row, Rows, get, one_view, row};
use ::books::cx::Cx;
use books::audit::{AuditAction, Change};
use schema::rights::Area;
use sea_orm::{ActiveModelTrait, ColumnTrait, EntityTrait, IntoActiveModel, PaginatorTrait, QueryFilter, Value};

pub type Draft<M> = Columns<Column<M>>;

/// The columns that every master table has.
pub struct Keeping<C> {
    pub version: C,
    pub created_at: C,
    pub created_by: C,
    pub updated_at: C,
    pub updated_by: C,
}

/// What a checked body says of a row, column by column.
#[derive(Clone)]
pub struct Columns<C>(Vec<(C, Value)>, Vec<(&'static str, String)>);

impl<C: ColumnTrait> Default for Columns<C> {
    fn default() -> Self {
        Self::new()
    }
}

impl<C: ColumnTrait> Columns<C> {
    pub const fn new() -> Self {
        Self(Vec::new(), Vec::new())
    }

    pub fn set(&mut self, column: C, value: impl Into<Value>) {
        self.0.push((column, value.into()));
    }

    /// What a body says that is kept elsewhere than in the row.
    pub fn set_beside(&mut self, name: &'static str, said: &impl serde::Serialize) {
        self.1.extend(serde_json::to_string(said).ok().map(|text| (name, text)));
    }

    pub fn beside<T: serde::de::DeserializeOwned>(&self, name: &str) -> Result<Option<T>> {
        let said = self.1.iter().find(|(known, _)| *known == name);
        said.map(|(_, text)| serde_json::from_str(text)).transpose().map_err(Error::internal)
    }

    pub fn iter(&self) -> impl Iterator<Item = &(C, Value)> {
        self.0.iter()
    }

    /// Says something else of a column.
    pub fn replace(&mut self, column: C, value: impl Into<Value>) {
        self.0.retain(|(known, _)| known.unquoted() != column.unquoted());
        self.set(column, value);
    }

    /// The record that a column names.
    pub fn record(&self, column: C) -> Option<RecordId> {
        match self.get(column) {
            Some(Value::Uuid(Some(id))) => Some(RecordId(*id)),
            _ => None,
        }
    }

    /// A column that is kept as JSON.
    pub fn json<T: serde::de::DeserializeOwned>(&self, column: C) -> Result<T> {
        match self.get(column) {
            Some(Value::String(Some(text))) => serde_json::from_str(text).map_err(Error::internal),
            _ => Err(Error::internal("a column that should hold JSON does not")),
        }
    }

    pub fn get(&self, column: C) -> Option<&Value> {
        self.0.iter().find(|(known, _)| known.unquoted() == column.unquoted()).map(|(_, value)| value)
    }
}

pub trait Master:
    Rows<
        Entity: EntityTrait<
            ActiveModel: ActiveModelTrait<Entity = Self::Entity> + Send,
            Model: IntoActiveModel<<Self::Entity as EntityTrait>::ActiveModel>,
        >,
    > + Resource<Draft = Columns<Column<Self>>>
{
    const KEEPING: Keeping<Column<Self>>;
    /// Fields of which no two records may share a value.
    const UNIQUE: &'static [(&'static str, Column<Self>)];

    fn version(row: &Row<Self>) -> i64;
    /// The columns that place a new row, beside its identifier.
    fn placement(cx: &Cx<'_>) -> Result<Vec<(Column<Self>, Value)>>;

    /// In whose books the record is.
    fn business(cx: &Cx<'_>, _id: RecordId) -> Result<BusinessId> {
        cx.business_id()
    }

    /// What the draft cannot say alone: columns that depend on other records. `row` is the record as it is.
    fn complete(
        _cx: &Cx<'_>,
        _row: Option<&Row<Self>>,
        _draft: &mut Draft<Self>,
    ) -> impl Future<Output = Result<()>> + Send {
        async { Ok(()) }
    }

    /// What else is written with a new record.
    fn inserted(_cx: &Cx<'_>, _id: RecordId, _draft: &Draft<Self>) -> impl Future<Output = Result<()>> + Send {
        async { Ok(()) }
    }

    /// Whether a change of this record is allowed now.
    fn check_change(_cx: &Cx<'_>, _row: &Row<Self>, _draft: &Draft<Self>) -> impl Future<Output = Result<()>> + Send {
        async { Ok(()) }
    }

    /// What else is written with a change.
    fn changed(_cx: &Cx<'_>, _row: &Row<Self>, _draft: &Draft<Self>) -> impl Future<Output = Result<()>> + Send {
        async { Ok(()) }
    }

    /// Refuses while others need the record; removes what lives and dies with it.
    fn release(_cx: &Cx<'_>, _row: &Row<Self>) -> impl Future<Output = Result<()>> + Send {
        async { Ok(()) }
    }

    /// What else is written once a record is gone.
    fn removed(_cx: &Cx<'_>, _row: &Row<Self>) -> impl Future<Output = Result<()>> + Send {
        async { Ok(()) }
    }
}

/// Notes a change of master data, which documents may have been judged by.
pub fn note<M: Master>(
    cx: &Cx<'_>,
    action: AuditAction,
    id: RecordId,
    before: Option<&M::View>,
    after: Option<&M::View>,
) -> Result<()> {
    let business = M::business(cx, id)?;
    let json = |view: &M::View| serde_json::to_string(view).map_err(Error::internal);
    let change = Change {
        action,
        resource: M::KEY,
        id,
        version_from: before.map(Record::version),
        version_to: after.map(Record::version),
        before: before.map(json).transpose()?,
        after: after.map(json).transpose()?,
        note: None,
    };
    cx.record(business, change)?;
    cx.forget_facts(business)
}

pub async fn create<M: Master>(cx: &Cx<'_>, draft: &Draft<M>) -> Result<M::View> {
    // What opens a door is not to be guessed.
    let id = RecordId(if M::KEY.area() == Area::People { cx.own_hidden_id() } else { cx.own_id() });
    let mut draft = draft.clone();
    M::complete(cx, None, &mut draft).await?;
    check_unique::<M>(cx, &draft, None).await?;
    let mut row = <M::Entity as EntityTrait>::ActiveModel::default();
    let keeping = M::KEEPING;
    let stamps: [(Column<M>, Value); 6] = [
        (M::ID, id.into()),
        (keeping.version, 1_i64.into()),
        (keeping.created_at, cx.now.into()),
        (keeping.created_by, cx.user.into()),
        (keeping.updated_at, cx.now.into()),
        (keeping.updated_by, cx.user.into()),
    ];
    for (column, value) in draft.0.iter().cloned().chain(M::placement(cx)?).chain(stamps) {
        row.set(column, value);
    }
    M::Entity::insert(row).exec_without_returning(&cx.db).await?;
    M::inserted(cx, id, &draft).await?;
    let view = get::<M>(cx, id).await?;
    note::<M>(cx, AuditAction::Created, id, None, Some(&view))?;
    Ok(view)
}

pub async fn update<M: Master>(cx: &Cx<'_>, id: RecordId, draft: &Draft<M>) -> Result<M::View> {
    let row = row::<M>(cx, id).await?;
    let version = M::version(&row);
    cx.check_expectation(id, version)?;
    let mut draft = draft.clone();
    M::complete(cx, Some(&row), &mut draft).await?;
    let before = one_view::<M>(cx, row.clone()).await?;
    let mut changed = row.clone().into_active_model();
    for (column, value) in draft.0.iter().cloned() {
        changed.set_if_not_equals(column, value);
    }
    if !changed.is_changed() {
        return Ok(before);
    }
    M::check_change(cx, &row, &draft).await?;
    check_unique::<M>(cx, &draft, Some(id)).await?;
    let updated_at: Instant = cx.now;
    changed.set(M::KEEPING.version, (version + 1).into());
    changed.set(M::KEEPING.updated_at, updated_at.into());
    changed.set(M::KEEPING.updated_by, cx.user.into());
    // The version in the condition is the backstop, should two writers ever meet here.
    let update = M::Entity::update_many()
        .set(changed)
        .filter(M::reach(cx)?)
        .filter(M::ID.eq(id))
        .filter(M::KEEPING.version.eq(version));
    if update.exec(&cx.db).await?.rows_affected != 1 {
        return Err(Error::PreconditionFailed);
    }
    M::changed(cx, &row, &draft).await?;
    let view = get::<M>(cx, id).await?;
    note::<M>(cx, AuditAction::Updated, id, Some(&before), Some(&view))?;
    Ok(view)
}

pub async fn delete<M: Master>(cx: &Cx<'_>, id: RecordId) -> Result<()> {
    let row = row::<M>(cx, id).await?;
    cx.check_expectation(id, M::version(&row))?;
    let before = one_view::<M>(cx, row.clone()).await?;
    let reach = M::reach(cx)?;
    M::release(cx, &row).await?;
    M::Entity::delete_many().filter(M::ID.eq(id)).filter(reach).exec(&cx.db).await?;
    M::removed(cx, &row).await?;
    note::<M>(cx, AuditAction::Deleted, id, Some(&before), None)
}

/// Names each field whose value another record has. The lane makes this safe: no one else writes meanwhile.
async fn check_unique<M: Master>(cx: &Cx<'_>, draft: &Draft<M>, except: Option<RecordId>) -> Result<()> {
    let mut taken = FieldErrors::default();
    for (field, unique) in M::UNIQUE {
        let Some(Value::String(Some(text))) = draft.get(*unique) else { continue };
        let mut others = M::Entity::find().filter(unique.eq(text.as_str()));
        for (column, value) in M::placement(cx)? {
            others = others.filter(column.eq(value));
        }
        if let Some(id) = except {
            others = others.filter(M::ID.ne(id));
        }
        if others.count(&cx.db).await? > 0 {
            taken.add(*field, format!("{} is already used by another of the {}", quoted(text), M::ABOUT.many));
        }
    }
    if taken.is_empty() {
        return Ok(());
    }
    Err(Error::Conflict(Conflict {
        code: Code::Duplicate,
        title: format!("Another of the {} already has this value", M::ABOUT.many),
        errors: taken,
    }))
}

/// The columns of [`Keeping`], under the names that every master table gives them.
#[macro_export]
macro_rules! keeping {
    () => {
        const KEEPING: $crate::master::Keeping<Column> = $crate::master::Keeping {
            version: Column::Version,
            created_at: Column::CreatedAt,
            created_by: Column::CreatedBy,
            updated_at: Column::UpdatedAt,
            updated_by: Column::UpdatedBy,
        };
    };
}
pub use keeping;

/// What a row says of its keeping.
#[macro_export]
macro_rules! kept {
    ($row:expr) => {
        $crate::master::RecordKeeping {
            id: ::words::ids::RecordId($row.id.0),
            version: $row.version,
            created_at: $row.created_at,
            created_by: $row.created_by,
            updated_at: $row.updated_at,
            updated_by: $row.updated_by,
        }
    };
}
pub use kept;

/// The operations of [`Resource`], as master data does them.
#[macro_export]
macro_rules! master_operations {
    () => {
        $crate::master::master_operations!($crate::master::create::<Self>, $crate::master::update::<Self>);
    };
    // What a body may change is judged first.
    ($create:expr, $update:expr) => {
        fn parameters() -> Vec<$crate::list::Parameter> {
            $crate::rows::parameters::<Self>()
        }

        async fn list(
            cx: &::books::cx::Cx<'_>,
            query: &$crate::list::ListQuery,
        ) -> ::words::error::Result<$crate::list::Page<Self::View>> {
            $crate::rows::list::<Self>(cx, query).await
        }

        async fn get(cx: &::books::cx::Cx<'_>, id: ::words::ids::RecordId) -> ::words::error::Result<Self::View> {
            $crate::rows::get::<Self>(cx, id).await
        }

        async fn create(cx: &::books::cx::Cx<'_>, draft: &Self::Draft) -> ::words::error::Result<Self::View> {
            $create(cx, draft).await
        }

        async fn update(
            cx: &::books::cx::Cx<'_>,
            id: ::words::ids::RecordId,
            draft: &Self::Draft,
        ) -> ::words::error::Result<Self::View> {
            $update(cx, id, draft).await
        }

        async fn delete(cx: &::books::cx::Cx<'_>, id: ::words::ids::RecordId) -> ::words::error::Result<()> {
            $crate::master::delete::<Self>(cx, id).await
        }
    };
}
pub use master_operations;

/// What every record says of itself, first in its JSON.
#[derive(Debug, Clone, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecordKeeping {
    /// Identifier, opaque and never reused.
    pub id: RecordId,
    /// Rises with every change; the `ETag` is made from it.
    pub version: i64,
    /// When the record was made.
    pub created_at: Instant,
    /// The user who made it.
    pub created_by: crate::ids::UserId,
    /// When the record was last changed.
    pub updated_at: Instant,
    /// The user who last changed it.
    pub updated_by: crate::ids::UserId,
}

impl<V: AsRef<RecordKeeping> + serde::Serialize + schemars::JsonSchema + Send + Sync> Record for V {
    fn id(&self) -> RecordId {
        self.as_ref().id
    }

    fn version(&self) -> i64 {
        self.as_ref().version
    }
}
