//! Master data: records that are listed, read, made, replaced and removed by one set of rules.
//!
//! Owns: filters, search, sorting, counting, uniqueness, versions and `If-Match`. A resource says what its
//! columns are; it writes no query for these.

use crate::clock::Instant;
use crate::cx::Cx;
use crate::error::{Conflict, Error, FieldErrors, Result};
use crate::ids::RecordId;
use crate::resource::list::{Direction, FilterValue, ListQuery, Page, Parameter, Reads};
use crate::resource::{Record, Resource};
use sea_orm::sea_query::{LikeExpr, NullOrdering};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, Condition, EntityTrait, IntoActiveModel, Order, PaginatorTrait, QueryFilter,
    QueryOrder, QuerySelect, Value,
};

pub(crate) type Column<M> = <<M as Master>::Entity as EntityTrait>::Column;
pub(crate) type Draft<M> = Columns<Column<M>>;
pub(crate) type Row<M> = <<M as Master>::Entity as EntityTrait>::Model;

/// The columns that every master table has.
pub(crate) struct Keeping<C> {
    pub(crate) id: C,
    pub(crate) version: C,
    pub(crate) created_at: C,
    pub(crate) created_by: C,
    pub(crate) updated_at: C,
    pub(crate) updated_by: C,
    /// Lower-case text that `q` looks into.
    pub(crate) search: C,
}

/// What a checked body says of a row, column by column.
pub struct Columns<C>(Vec<(C, Value)>);

impl<C: ColumnTrait> Columns<C> {
    pub(crate) const fn new() -> Self {
        Self(Vec::new())
    }

    pub(crate) fn set(&mut self, column: C, value: impl Into<Value>) {
        self.0.push((column, value.into()));
    }

    pub(crate) fn get(&self, column: C) -> Option<&Value> {
        self.0.iter().find(|(known, _)| known.unquoted() == column.unquoted()).map(|(_, value)| value)
    }
}

/// A filter of the list and the column it compares.
pub(crate) struct Filter<C> {
    pub(crate) parameter: Parameter,
    pub(crate) column: C,
    pub(crate) compares: Compares,
}

impl<C> Filter<C> {
    pub(crate) const fn equal(name: &'static str, about: &'static str, reads: Reads, column: C) -> Self {
        Self { parameter: Parameter { name, about, reads }, column, compares: Compares::Equal }
    }

    pub(crate) const fn containing(name: &'static str, about: &'static str, reads: Reads, column: C) -> Self {
        Self { parameter: Parameter { name, about, reads }, column, compares: Compares::Contains }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compares {
    Equal,
    /// The column holds a JSON list, one element of which is this text.
    Contains,
}

pub(crate) trait Master: Resource<Draft = Columns<Column<Self>>> {
    type Entity: EntityTrait<
            ActiveModel: ActiveModelTrait<Entity = Self::Entity> + Send,
            Model: IntoActiveModel<<Self::Entity as EntityTrait>::ActiveModel> + Clone + Send + Sync,
        >;

    const KEEPING: Keeping<Column<Self>>;
    /// Sort fields by their wire names, in the order of `ABOUT.sorts`.
    const SORTS: &'static [Column<Self>];
    /// Fields of which no two records may share a value.
    const UNIQUE: &'static [(&'static str, Column<Self>)];

    fn filters() -> Vec<Filter<Column<Self>>>;
    /// What the caller can reach at all.
    fn reach(cx: &Cx<'_>) -> Result<Condition>;
    fn version(row: &Row<Self>) -> i64;
    /// The columns that place a new row, beside its identifier.
    fn placement(cx: &Cx<'_>) -> Result<Vec<(Column<Self>, Value)>>;
    fn views(cx: &Cx<'_>, rows: Vec<Row<Self>>) -> impl Future<Output = Result<Vec<Self::View>>> + Send;

    /// What else is written with a new record.
    fn inserted(_cx: &Cx<'_>, _id: RecordId) -> impl Future<Output = Result<()>> + Send {
        async { Ok(()) }
    }

    /// Whether a change of this record is allowed now.
    fn check_change(_cx: &Cx<'_>, _row: &Row<Self>, _draft: &Draft<Self>) -> impl Future<Output = Result<()>> + Send {
        async { Ok(()) }
    }

    /// Refuses while others need the record; removes what lives and dies with it.
    fn release(_cx: &Cx<'_>, _row: &Row<Self>) -> impl Future<Output = Result<()>> + Send {
        async { Ok(()) }
    }
}

pub(crate) async fn list<M: Master>(cx: &Cx<'_>, query: &ListQuery) -> Result<Page<M::View>> {
    let mut rows = M::Entity::find().filter(M::reach(cx)?).filter(matching::<M>(query));
    let total = rows.clone().count(&cx.db).await?;
    let mut order = query.sort.clone();
    if order.is_empty() {
        order.extend(M::ABOUT.sorts.first().map(|&name| (name, Direction::Ascending)));
    }
    for (name, direction) in order {
        let column = M::ABOUT.sorts.iter().zip(M::SORTS).find(|(known, _)| **known == name).map(|(_, column)| *column);
        let column = column.ok_or_else(|| Error::internal(format!("no column sorts by {name}")))?;
        rows = match direction {
            Direction::Ascending => rows.order_by_with_nulls(column, Order::Asc, NullOrdering::Last),
            Direction::Descending => rows.order_by_with_nulls(column, Order::Desc, NullOrdering::Last),
        };
    }
    // The identifier breaks ties, so that pages never overlap.
    let rows = rows
        .order_by_asc(M::KEEPING.id)
        .limit(query.page_size)
        .offset((query.page - 1) * query.page_size)
        .all(&cx.db)
        .await?;
    Ok(Page { items: M::views(cx, rows).await?, total })
}

fn matching<M: Master>(query: &ListQuery) -> Condition {
    let mut condition = Condition::all();
    for word in query.search.iter().flat_map(|text| text.split_whitespace()) {
        condition = condition.add(M::KEEPING.search.like(containing(&crate::rules::search_key(word))));
    }
    if let Some(since) = query.updated_since {
        condition = condition.add(M::KEEPING.updated_at.gte(since));
    }
    let offered = M::filters();
    for (name, value) in &query.filters {
        let Some(filter) = offered.iter().find(|filter| filter.parameter.name == *name) else { continue };
        condition = condition.add(match (value, filter.compares) {
            (FilterValue::Text(text), Compares::Equal) => filter.column.eq(text.as_str()),
            (FilterValue::Text(text), Compares::Contains) => {
                filter.column.like(containing(&serde_json::Value::from(text.as_str()).to_string()))
            }
            (FilterValue::Flag(flag), _) => filter.column.eq(*flag),
            (FilterValue::AnyOf(texts), _) => filter.column.is_in(texts.iter().map(String::as_str)),
        });
    }
    condition
}

/// A LIKE pattern for text that contains this, where `%` and `_` stand for themselves.
fn containing(text: &str) -> LikeExpr {
    let escaped = text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
    LikeExpr::new(format!("%{escaped}%")).escape('\\')
}

async fn row<M: Master>(cx: &Cx<'_>, id: RecordId) -> Result<Row<M>> {
    let row = M::Entity::find().filter(M::reach(cx)?).filter(M::KEEPING.id.eq(id)).one(&cx.db).await?;
    row.ok_or(Error::NotFound)
}

pub(crate) async fn get<M: Master>(cx: &Cx<'_>, id: RecordId) -> Result<M::View> {
    let row = row::<M>(cx, id).await?;
    one_view::<M>(cx, row).await
}

async fn one_view<M: Master>(cx: &Cx<'_>, row: Row<M>) -> Result<M::View> {
    M::views(cx, vec![row]).await?.pop().ok_or_else(|| Error::internal("a row has no view"))
}

pub(crate) async fn create<M: Master>(cx: &Cx<'_>, draft: &Draft<M>) -> Result<M::View> {
    check_unique::<M>(cx, draft, None).await?;
    let id = RecordId(cx.new_id());
    let mut row = <M::Entity as EntityTrait>::ActiveModel::default();
    let keeping = M::KEEPING;
    let stamps: [(Column<M>, Value); 6] = [
        (keeping.id, id.into()),
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
    M::inserted(cx, id).await?;
    get::<M>(cx, id).await
}

pub(crate) async fn update<M: Master>(cx: &Cx<'_>, id: RecordId, draft: &Draft<M>) -> Result<M::View> {
    let row = row::<M>(cx, id).await?;
    let version = M::version(&row);
    cx.check_expectation(id, version)?;
    let mut changed = row.clone().into_active_model();
    for (column, value) in draft.0.iter().cloned() {
        changed.set_if_not_equals(column, value);
    }
    if !changed.is_changed() {
        return one_view::<M>(cx, row).await;
    }
    M::check_change(cx, &row, draft).await?;
    check_unique::<M>(cx, draft, Some(id)).await?;
    let updated_at: Instant = cx.now;
    changed.set(M::KEEPING.version, (version + 1).into());
    changed.set(M::KEEPING.updated_at, updated_at.into());
    changed.set(M::KEEPING.updated_by, cx.user.into());
    // The version in the condition is the backstop, should two writers ever meet here.
    let update = M::Entity::update_many()
        .set(changed)
        .filter(M::reach(cx)?)
        .filter(M::KEEPING.id.eq(id))
        .filter(M::KEEPING.version.eq(version));
    if update.exec(&cx.db).await?.rows_affected != 1 {
        return Err(Error::PreconditionFailed);
    }
    get::<M>(cx, id).await
}

pub(crate) async fn delete<M: Master>(cx: &Cx<'_>, id: RecordId) -> Result<()> {
    let row = row::<M>(cx, id).await?;
    cx.check_expectation(id, M::version(&row))?;
    let reach = M::reach(cx)?;
    M::release(cx, &row).await?;
    M::Entity::delete_many().filter(M::KEEPING.id.eq(id)).filter(reach).exec(&cx.db).await?;
    Ok(())
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
            others = others.filter(M::KEEPING.id.ne(id));
        }
        if others.count(&cx.db).await? > 0 {
            taken.add(*field, format!("{text} is already used by another of the {}", M::ABOUT.many));
        }
    }
    if taken.is_empty() {
        return Ok(());
    }
    Err(Error::Conflict(Conflict {
        code: "duplicate",
        title: format!("Another of the {} already has this value", M::ABOUT.many),
        errors: taken,
    }))
}

/// The operations of [`Resource`], as master data does them.
macro_rules! master_operations {
    () => {
        fn parameters() -> Vec<crate::resource::list::Parameter> {
            <Self as crate::resource::master::Master>::filters().into_iter().map(|filter| filter.parameter).collect()
        }

        async fn list(
            cx: &crate::cx::Cx<'_>,
            query: &crate::resource::list::ListQuery,
        ) -> crate::error::Result<crate::resource::list::Page<Self::View>> {
            crate::resource::master::list::<Self>(cx, query).await
        }

        async fn get(cx: &crate::cx::Cx<'_>, id: crate::ids::RecordId) -> crate::error::Result<Self::View> {
            crate::resource::master::get::<Self>(cx, id).await
        }

        async fn create(cx: &crate::cx::Cx<'_>, draft: &Self::Draft) -> crate::error::Result<Self::View> {
            crate::resource::master::create::<Self>(cx, draft).await
        }

        async fn update(
            cx: &crate::cx::Cx<'_>,
            id: crate::ids::RecordId,
            draft: &Self::Draft,
        ) -> crate::error::Result<Self::View> {
            crate::resource::master::update::<Self>(cx, id, draft).await
        }

        async fn delete(cx: &crate::cx::Cx<'_>, id: crate::ids::RecordId) -> crate::error::Result<()> {
            crate::resource::master::delete::<Self>(cx, id).await
        }
    };
}
pub(crate) use master_operations;

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

impl<V: AsRef<RecordKeeping> + serde::Serialize + schemars::JsonSchema + Send> Record for V {
    fn id(&self) -> RecordId {
        self.as_ref().id
    }

    fn version(&self) -> i64 {
        self.as_ref().version
    }
}
