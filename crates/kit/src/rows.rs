//! Rows of a table, listed and read by one set of rules.
//!
//! Owns: filters, search, sorting, counting, pages. A resource says what its columns are; it writes no query
//! for these.

use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::list::{DEFAULT_PAGE_SIZE, Direction, FilterValue, ListQuery, Page, Parameter, Reads};
use crate::resource::Resource;
use ::books::cx::Cx;
use answers::{Ask, Modelled};
use sea_orm::sea_query::{LikeExpr, NullOrdering};
use sea_orm::{
    ColumnTrait, Condition, EntityTrait, ModelTrait, Order, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect,
    QueryTrait, Select,
};
use std::collections::HashMap;

pub type Column<M> = <<M as Rows>::Entity as EntityTrait>::Column;
pub type Row<M> = <<M as Rows>::Entity as EntityTrait>::Model;

/// A filter of the list and what it compares.
pub struct Filter<C> {
    pub parameter: Parameter,
    pub compares: Compares<C>,
}

/// A filter that looks into other tables.
pub type Looks = fn(&Cx<'_>, &FilterValue) -> Result<Condition>;

pub enum Compares<C> {
    Equal(C),
    /// The column holds a JSON list, one element of which is this text.
    Contains(C),
    AtLeast(C),
    AtMost(C),
    /// The party of the row is this one.
    Party(C),
    Looks(Looks),
}

impl<C> Filter<C> {
    const fn of(name: &'static str, about: &'static str, reads: Reads, compares: Compares<C>) -> Self {
        Self { parameter: Parameter::new(name, about, reads), compares }
    }

    pub const fn equal(name: &'static str, about: &'static str, reads: Reads, column: C) -> Self {
        Self::of(name, about, reads, Compares::Equal(column))
    }

    pub const fn containing(name: &'static str, about: &'static str, reads: Reads, column: C) -> Self {
        Self::of(name, about, reads, Compares::Contains(column))
    }

    pub const fn at_least(name: &'static str, about: &'static str, reads: Reads, column: C) -> Self {
        Self::of(name, about, reads, Compares::AtLeast(column))
    }

    pub const fn at_most(name: &'static str, about: &'static str, reads: Reads, column: C) -> Self {
        Self::of(name, about, reads, Compares::AtMost(column))
    }

    /// Rows of the party that is asked for, whatever name they were written under.
    pub const fn of_party(about: &'static str, column: C) -> Self {
        Self::of("partyId", about, Reads::Identifier, Compares::Party(column))
    }

    pub const fn looking(name: &'static str, about: &'static str, reads: Reads, looks: Looks) -> Self {
        Self::of(name, about, reads, Compares::Looks(looks))
    }
}

pub trait Rows: Resource {
    type Entity: Modelled + EntityTrait<Model: Clone + Send + Sync>;

    const ID: Column<Self>;
    /// When the row was last changed.
    const CHANGED: Column<Self>;
    /// Lower-case text that `q` looks into.
    const SEARCH: Column<Self>;
    /// Sort fields by their wire names, in the order of `ABOUT.sorts`.
    const SORTS: &'static [Column<Self>];

    /// Rows that a word is found in, of which capitals were made small.
    fn found_by(word: &str) -> Condition {
        Condition::all().add(Self::SEARCH.like(containing(word)))
    }
    fn filters() -> Vec<Filter<Column<Self>>>;
    /// How many rows the caller can reach, where that is known without counting.
    fn known_total(_cx: &Cx<'_>) -> impl Future<Output = Result<Option<u64>>> + Send {
        async { Ok(None) }
    }
    /// What the caller can reach at all.
    fn reach(cx: &Cx<'_>) -> Result<Condition>;
    fn views(cx: &Cx<'_>, rows: Vec<Row<Self>>) -> impl Future<Output = Result<Vec<Self::View>>> + Send;
    /// How long the texts of a row are that have no bound of a few kilobytes; and whether there are any.
    fn weight(_row: &Row<Self>) -> usize {
        0
    }
    const MAY_WEIGH: bool = false;
}

/// What the rows of a page may weigh together, in bytes, where it is longer than a page is unasked. All of it is in memory,
/// several times over, until it is answered.
pub const MOST_WEIGHT: usize = 16 << 20;
/// As many rows are read at once; then it is known what they weigh.
const AT_ONCE: usize = 50;

/// What the rows of a page weigh, which has an end. A page is not cut short: whoever takes the next one would never know.
#[derive(Debug, Default)]
pub struct Weighed(usize);

impl Weighed {
    pub fn add(&mut self, bytes: usize) -> Result<()> {
        self.0 += bytes;
        if self.0 <= MOST_WEIGHT {
            return Ok(());
        }
        let most = MOST_WEIGHT >> 20;
        Err(Error::field(
            "pageSize",
            format!("makes a page of more than {most} MB, so long are its records; ask for fewer"),
        ))
    }
}

pub fn parameters<M: Rows>() -> Vec<Parameter> {
    M::filters().into_iter().map(|filter| filter.parameter).collect()
}

pub async fn list<M: Rows>(cx: &Cx<'_>, query: &ListQuery) -> Result<Page<M::View>> {
    let rows = M::Entity::find().filter(M::reach(cx)?).filter(matching::<M>(cx, query)?);
    let all = query.search.is_none() && query.updated_since.is_none() && query.filters.is_empty();
    let known = if all { M::known_total(cx).await? } else { None };
    let total = match known {
        Some(total) => total,
        None => rows.clone().count(&cx.db).await?,
    };
    let mut order = query.sort.clone();
    if order.is_empty() {
        order.extend(M::ABOUT.sorts.first().map(|&name| (name, Direction::Ascending)));
    }
    // What lies beyond the middle is nearer from the end: the same order, read backwards.
    let offset = (query.page - 1) * query.page_size;
    let backwards = known.is_some() && offset > total / 2 && offset < total;
    let last = order.first().map_or(Direction::Ascending, |(_, direction)| *direction);
    let mut sorted_by = Vec::new();
    for (name, direction) in order {
        let column = M::ABOUT.sorts.iter().zip(M::SORTS).find(|(known, _)| **known == name).map(|(_, column)| *column);
        sorted_by.push((column.ok_or_else(|| Error::internal(format!("no column sorts by {name}")))?, direction));
    }
    // The identifier breaks ties, so that pages never overlap.
    sorted_by.push((M::ID, last));
    let sorted = |rows: Select<M::Entity>| {
        sorted_by.iter().fold(rows, |rows, (column, direction)| ordered(rows, *column, *direction, backwards))
    };
    let mut rows = if backwards {
        let after = total.saturating_sub(offset + query.page_size);
        let size = query.page_size.min(total - offset);
        page::<M>(cx, rows, sorted, (size, after)).await?
    } else {
        page::<M>(cx, rows, sorted, (query.page_size, offset)).await?
    };
    if backwards {
        rows.reverse();
    }
    Ok(Page { items: M::views(cx, rows).await?, total })
}

/// As many rows as are sooner read than their keys alone.
const NEAR: u64 = 500;

/// So many rows of a sorted list, after so many others. Far inside of a list the keys are counted off, which an index has,
/// and only the rows of the page are read. Those of a page that is longer than one is unasked are read some at a time: they
/// weigh no more than they may.
async fn page<M: Rows>(
    cx: &Cx<'_>,
    rows: Select<M::Entity>,
    sorted: impl Fn(Select<M::Entity>) -> Select<M::Entity>,
    (size, after): (u64, u64),
) -> Result<Vec<Row<M>>> {
    let named = |rows: Select<M::Entity>| sorted(rows).select_only().column(M::ID).limit(size).offset(after);
    if M::MAY_WEIGH && size > DEFAULT_PAGE_SIZE {
        return weighed::<M>(cx, named(rows).column_of(&cx.db).await?).await;
    }
    if after < NEAR {
        return Ok(sorted(rows).limit(size).offset(after).models(&cx.db).await?);
    }
    let of_page = M::Entity::find().filter(M::reach(cx)?).filter(M::ID.in_subquery(named(rows).into_query()));
    Ok(sorted(of_page).models(&cx.db).await?)
}

/// The rows that are named, in their order.
async fn weighed<M: Rows>(cx: &Cx<'_>, named: Vec<RecordId>) -> Result<Vec<Row<M>>> {
    let mut weighed = Weighed::default();
    let mut found: HashMap<RecordId, Row<M>> = HashMap::with_capacity(named.len());
    for some in named.chunks(AT_ONCE) {
        let some = M::Entity::find().filter(M::reach(cx)?).filter(M::ID.is_in(some.iter().copied()));
        let some = some.models(&cx.db).await?;
        some.iter().try_for_each(|row| weighed.add(M::weight(row)))?;
        for row in some {
            if let sea_orm::Value::Uuid(Some(id)) = row.get(M::ID) {
                found.insert(RecordId(id), row);
            }
        }
    }
    // One that is gone meanwhile is on no page.
    Ok(named.iter().filter_map(|id| found.remove(id)).collect())
}

/// Rows without a value come last; where every row has one, an index serves the order as it stands.
fn ordered<E: EntityTrait>(rows: Select<E>, column: E::Column, direction: Direction, backwards: bool) -> Select<E> {
    let ascending = (direction == Direction::Ascending) != backwards;
    let order = if ascending { Order::Asc } else { Order::Desc };
    if column.def().is_null() {
        let nulls = if backwards { NullOrdering::First } else { NullOrdering::Last };
        rows.order_by_with_nulls(column, order, nulls)
    } else {
        rows.order_by(column, order)
    }
}

fn matching<M: Rows>(cx: &Cx<'_>, query: &ListQuery) -> Result<Condition> {
    let mut condition = Condition::all();
    for word in query.search.iter().flat_map(|text| text.split_whitespace()) {
        condition = condition.add(M::found_by(&crate::texts::search_key(word)));
    }
    if let Some(since) = query.updated_since {
        condition = condition.add(M::CHANGED.gte(since));
    }
    let offered = M::filters();
    for (name, value) in &query.filters {
        let Some(filter) = offered.iter().find(|filter| filter.parameter.name == *name) else { continue };
        condition = match (&filter.compares, value) {
            (Compares::Looks(looks), value) => condition.add(looks(cx, value)?),
            (Compares::Party(column), FilterValue::Identifier(party)) => {
                condition.add(cx.aliases()?.is(*column, *party))
            }
            (Compares::Party(_), _) => return Err(Error::internal("a party is asked for by something else than one")),
            (Compares::Contains(column), FilterValue::Text(text)) => {
                condition.add(column.like(containing(&serde_json::Value::from(text.as_str()).to_string())))
            }
            (Compares::Equal(column) | Compares::Contains(column), FilterValue::AnyOf(texts)) => {
                condition.add(column.is_in(texts.iter().map(String::as_str)))
            }
            (Compares::Equal(column) | Compares::Contains(column), value) => condition.add(column.eq(plain(value))),
            (Compares::AtLeast(column), value) => condition.add(column.gte(plain(value))),
            (Compares::AtMost(column), value) => condition.add(column.lte(plain(value))),
        };
    }
    Ok(condition)
}

/// The value as the database compares it.
fn plain(value: &FilterValue) -> sea_orm::Value {
    match value {
        FilterValue::Text(text) | FilterValue::OneOf(text) => text.as_str().into(),
        FilterValue::Flag(flag) => (*flag).into(),
        FilterValue::AnyOf(texts) => texts.join(",").into(),
        FilterValue::Day(day) => (*day).into(),
        FilterValue::Time(at) => (*at).into(),
        FilterValue::Amount(money) => (*money).into(),
        FilterValue::Whole(number) => (*number).into(),
        FilterValue::Identifier(id) => (*id).into(),
    }
}

/// A LIKE pattern for text that contains this, where `%` and `_` stand for themselves.
pub fn containing(text: &str) -> LikeExpr {
    let escaped = text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
    LikeExpr::new(format!("%{escaped}%")).escape('\\')
}

pub async fn row<M: Rows>(cx: &Cx<'_>, id: RecordId) -> Result<Row<M>> {
    let row = M::Entity::find().filter(M::reach(cx)?).filter(M::ID.eq(id)).one(&cx.db).await?;
    row.ok_or(Error::NotFound)
}

pub async fn get<M: Rows>(cx: &Cx<'_>, id: RecordId) -> Result<M::View> {
    let row = row::<M>(cx, id).await?;
    one_view::<M>(cx, row).await
}

pub async fn one_view<M: Rows>(cx: &Cx<'_>, row: Row<M>) -> Result<M::View> {
    M::views(cx, vec![row]).await?.pop().ok_or_else(|| Error::internal("a row has no view"))
}

/// A resource that is never written by a request for it.
#[macro_export]
macro_rules! read_only {
    () => {
        fn check(
            _: Option<&::books::access::Business>,
            _: Self::Input,
        ) -> ::words::error::Result<Self::Draft, ::words::error::FieldErrors> {
            Ok(())
        }

        async fn create(_: &::books::cx::Cx<'_>, (): &()) -> ::words::error::Result<Self::View> {
            Err(::words::error::Error::internal("this resource is only read"))
        }

        async fn update(
            _: &::books::cx::Cx<'_>,
            _: ::words::ids::RecordId,
            (): &(),
        ) -> ::words::error::Result<Self::View> {
            Err(::words::error::Error::internal("this resource is only read"))
        }

        async fn delete(_: &::books::cx::Cx<'_>, _: ::words::ids::RecordId) -> ::words::error::Result<()> {
            Err(::words::error::Error::internal("this resource is only read"))
        }
    };
}
pub use read_only;
