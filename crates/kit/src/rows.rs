//! Rows of a table, listed and read by one set of rules.
//!
//! Owns: filters, search, sorting, counting, pages. A resource says what its columns are; it writes no query
//! for these.

use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::list::{DEFAULT_PAGE_SIZE, Direction, FilterValue, ListQuery, Page, Parameter, Reads, Total};
use crate::resource::Resource;
use ::books::among::among;
use ::books::cx::Cx;
use ::books::search::{self, Found};
use ::schema::tables::DocumentKind;
use answers::{Answers as _, Ask, Modelled, whole};
use sea_orm::sea_query::{
    Alias, Asterisk, CaseStatement, Expr, ExprTrait as _, Func, LikeExpr, NullOrdering, Query, SimpleExpr,
};
use sea_orm::{
    ColumnTrait, Condition, ConnectionTrait as _, EntityTrait, ModelTrait, Order, PaginatorTrait, QueryFilter,
    QueryOrder, QuerySelect, QueryTrait, Select,
};
use std::collections::HashMap;
use words::codes::{by_word, keeps_letters, kept_in};

mod walking;

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
        Self::of("partyId", about, Reads::Party, Compares::Party(column))
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

    /// What a text may stand for as a whole, such as the beginning of a number, or an amount. What is looked for like that
    /// is nothing else, as long as there is such a row: the first of these that finds one is meant.
    fn meant_by(_text: &str) -> Vec<Condition> {
        Vec::new()
    }
    /// Rows that name what a text is found in, where it is found in no row itself.
    fn naming(_cx: &Cx<'_>, _text: &str) -> impl Future<Output = Result<Option<Condition>>> + Send {
        async { Ok(None) }
    }
    /// The kind of documents that the rows are, whose words are kept apart to be looked for.
    const SOUGHT: Option<DocumentKind> = None;
    /// Rows that a word is found in, of which capitals were made small.
    fn found_by(word: &str) -> Condition {
        Condition::all().add(Self::SEARCH.like(containing(word)))
    }
    fn filters() -> Vec<Filter<Column<Self>>>;
    /// How many rows are on the pages of a list, where that is known without counting them.
    fn known_total(_cx: &Cx<'_>, _query: &ListQuery) -> impl Future<Output = Result<Option<u64>>> + Send {
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

/// What is read of the rows of a list.
pub trait Read<M: Rows>: Send + Sync {
    type Of: Send;
    /// Whether it may be long; then a long page is read some rows at a time, and weighed.
    const MAY_WEIGH: bool;

    fn read(cx: &Cx<'_>, rows: Select<M::Entity>) -> impl Future<Output = Result<Vec<Self::Of>>> + Send;
    fn key(of: &Self::Of) -> Option<RecordId>;
    fn weight(of: &Self::Of) -> usize;
    /// What it has in a column that lists are sorted by.
    fn value(of: &Self::Of, column: Column<M>) -> Result<sea_orm::Value>;
}

/// All that is in them.
pub struct Whole;

impl<M: Rows> Read<M> for Whole {
    type Of = Row<M>;
    const MAY_WEIGH: bool = M::MAY_WEIGH;

    async fn read(cx: &Cx<'_>, rows: Select<M::Entity>) -> Result<Vec<Row<M>>> {
        Ok(rows.models(&cx.db).await?)
    }

    fn key(row: &Row<M>) -> Option<RecordId> {
        match row.get(M::ID) {
            sea_orm::Value::Uuid(Some(id)) => Some(RecordId(id)),
            _ => None,
        }
    }

    fn weight(row: &Row<M>) -> usize {
        M::weight(row)
    }

    fn value(row: &Row<M>, column: Column<M>) -> Result<sea_orm::Value> {
        Ok(row.get(column))
    }
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
    let Page { items, total, walked } = found::<M, Whole>(cx, query).await?;
    Ok(Page { items: M::views(cx, items).await?, total, walked })
}

/// The rows of a page, as much of them as is read.
pub async fn found<M: Rows, R: Read<M>>(cx: &Cx<'_>, query: &ListQuery) -> Result<Page<R::Of>> {
    let rows = whole::<M::Entity>().filter(M::reach(cx)?).filter(matching::<M>(cx, query)?);
    let (mut rows, sought) = searched::<M>(cx, rows, query.search.as_deref()).await?;
    let known = M::known_total(cx, query).await?;
    let offset = (query.page - 1) * query.page_size;
    let end = offset + query.page_size;
    let total = if let Some(total) = known {
        Total::Exactly(total)
    } else if query.search.is_none() {
        counted::<M>(cx, rows.clone(), Ord::max(MOST_COUNTED, end)).await?
    } else if end <= MOST_READ && are_many::<M>(cx, &rows, &sought).await? {
        Total::AtLeast(MOST_READ + 1)
    } else if let Some(found) = found_once::<M>(cx, rows.clone()).await? {
        rows = whole::<M::Entity>().filter(M::reach(cx)?).filter(among(cx, M::ID, found.iter().copied()));
        Total::Exactly(found.len() as u64)
    } else {
        counted::<M>(cx, rows.clone(), Ord::max(MOST_READ, end)).await?
    };
    let mut order = query.sort.clone();
    if order.is_empty() {
        order.extend(M::ABOUT.sorts.first().map(|&name| (name, Direction::Ascending)));
    }
    if offset >= total.count() && query.walk.is_none() {
        return Ok(Page::of(Vec::new(), total));
    }
    let last = order.first().map_or(Direction::Ascending, |(_, direction)| *direction);
    let mut sorted_by = Vec::new();
    for (name, direction) in order {
        let column = M::ABOUT.sorts.iter().zip(M::SORTS).find(|(known, _)| **known == name).map(|(_, column)| *column);
        sorted_by.push((column.ok_or_else(|| Error::internal(format!("no column sorts by {name}")))?, direction));
    }
    // The identifier breaks ties, so that pages never overlap.
    sorted_by.push((M::ID, last));
    // Where hardly any row is asked for, an index in the order of the list would be walked from end to end to find them.
    let few = if M::MAY_WEIGH { FEW_KEYS } else { FEW };
    // Of how many there are more, nobody knows; unless they were found one by one.
    let are_few = matches!(total, Total::Exactly(total) if total <= few) || matches!(sought, Found::All(_));
    let by = if known.is_none() && !query.is_of_all() && are_few { Sorts::Found } else { Sorts::Index };
    let first = sorted_by.first().filter(|(column, _)| column.def().is_null() && matches!(by, Sorts::Index));
    let apart = first.filter(|(_, direction)| *direction == Direction::Descending).map(|(column, _)| *column);
    // What lies beyond the middle is nearer from the end: the same order, read backwards.
    let backwards = known.is_some_and(|total| offset > total / 2) && apart.is_none();
    let sorted = |rows: Select<M::Entity>| {
        sorted_by.iter().enumerate().fold(rows, |rows, (place, (column, direction))| {
            let nulls = if backwards { NullOrdering::First } else { NullOrdering::Last };
            let nulls = Some(nulls).filter(|_| column.def().is_null() && (place > 0 || apart.is_none()));
            let ascends = (*direction == Direction::Ascending) != backwards;
            ordered(rows, (*column, by), if ascends { Order::Asc } else { Order::Desc }, nulls)
        })
    };
    if let Some(walk) = &query.walk {
        let order = (&sorted_by[..], apart);
        return walking::on::<M, R>(cx, (walk, query.page_size), (rows, total), order, sorted).await;
    }
    // Of rows that are long the keys of a page are found first: what narrows a list stands in the indexes that they are in.
    let near = if M::MAY_WEIGH && !query.is_of_all() { 0 } else { NEAR };
    let mut rows = if backwards {
        let after = total.count().saturating_sub(end);
        let size = Ord::min(query.page_size, total.count() - offset);
        page::<M, R>(cx, rows, sorted, (size, after), near).await?
    } else if let Some(first) = apart {
        page_down::<M, R>(cx, (rows, total), first, sorted, (query.page_size, offset), near).await?
    } else {
        page::<M, R>(cx, rows, sorted, (query.page_size, offset), near).await?
    };
    if backwards {
        rows.reverse();
    }
    Ok(Page::of(rows, total))
}

/// So many are counted, and fewer where words are looked for in the rows themselves; who asks for a page beyond them has all
/// counted up to its end.
const MOST_COUNTED: u64 = 10_000;
const MOST_READ: u64 = 1_000;

/// How many rows there are, as far as that is counted: one more than the most tells that there are more.
async fn counted<M: Rows>(cx: &Cx<'_>, rows: Select<M::Entity>, most: u64) -> Result<Total> {
    let some = rows.select_only().expr_as(Expr::cust("1"), "one").limit(most + 1).into_query();
    let count = Query::select().expr(Expr::col(Asterisk).count()).from_subquery(some, Alias::new("some")).take();
    let counts: Vec<i64> = cx.db.answer(cx.db.get_database_backend().build(&count)).await?.column()?;
    let count: u64 = counts.iter().sum::<i64>().try_into().map_err(Error::internal)?;
    Ok(if count > most { Total::AtLeast(count) } else { Total::Exactly(count) })
}

/// The rows that hold some words, where they are few. To find them all of the rows are looked into, and that once: their
/// page is taken out of these.
async fn found_once<M: Rows>(cx: &Cx<'_>, rows: Select<M::Entity>) -> Result<Option<Vec<RecordId>>> {
    let found: Vec<RecordId> = rows.select_only().column(M::ID).limit(MOST_READ + 1).column_of(&cx.db).await?;
    Ok(Some(found).filter(|found| found.len() as u64 <= MOST_READ))
}

/// Whether more have some words than are counted, as some of them say already.
async fn are_many<M: Rows>(cx: &Cx<'_>, rows: &Select<M::Entity>, sought: &Found) -> Result<bool> {
    let Found::Some(some) = sought else { return Ok(false) };
    let some = rows.clone().filter(among(cx, M::ID, some.iter().copied()));
    Ok(matches!(counted::<M>(cx, some, MOST_READ).await?, Total::AtLeast(_)))
}

/// As many rows as are sooner read than their keys alone.
const NEAR: u64 = 500;

/// So many rows of a sorted list, after so many others. Far inside of a list the keys are counted off, which an index has,
/// and only the rows of the page are read. Those of a page that is longer than one is unasked are read some at a time: they
/// weigh no more than they may.
async fn page<M: Rows, R: Read<M>>(
    cx: &Cx<'_>,
    rows: Select<M::Entity>,
    sorted: impl Fn(Select<M::Entity>) -> Select<M::Entity>,
    (size, after): (u64, u64),
    near: u64,
) -> Result<Vec<R::Of>> {
    let named = |rows: Select<M::Entity>| sorted(rows).select_only().column(M::ID).limit(size).offset(after);
    if R::MAY_WEIGH && size > DEFAULT_PAGE_SIZE {
        return weighed::<M, R>(cx, named(rows).column_of(&cx.db).await?).await;
    }
    if after < near {
        return R::read(cx, sorted(rows).limit(size).offset(after)).await;
    }
    let of_page = whole::<M::Entity>().filter(M::reach(cx)?).filter(M::ID.in_subquery(named(rows).into_query()));
    R::read(cx, sorted(of_page)).await
}

/// The same from the greatest value of the first column down. An index that is read so has those without a value first, and
/// the list has them last: they are read by themselves.
async fn page_down<M: Rows, R: Read<M>>(
    cx: &Cx<'_>,
    (rows, total): (Select<M::Entity>, Total),
    first: Column<M>,
    sorted: impl Fn(Select<M::Entity>) -> Select<M::Entity>,
    (size, after): (u64, u64),
    near: u64,
) -> Result<Vec<R::Of>> {
    let mut found = page::<M, R>(cx, rows.clone().filter(first.is_not_null()), &sorted, (size, after), near).await?;
    let rest = size - u64::try_from(found.len()).map_err(Error::internal)?;
    if rest > 0 {
        let without = rows.clone().filter(first.is_null());
        let there = match total {
            Total::Exactly(total) => total - Ord::min(total, without.clone().count(&cx.db).await?),
            // All of them stand on pages before the end of this one.
            Total::AtLeast(_) => rows.filter(first.is_not_null()).count(&cx.db).await?,
        };
        found.extend(page::<M, R>(cx, without, &sorted, (rest, after - Ord::min(after, there)), near).await?);
    }
    Ok(found)
}

/// The rows that are named, in their order.
async fn weighed<M: Rows, R: Read<M>>(cx: &Cx<'_>, named: Vec<RecordId>) -> Result<Vec<R::Of>> {
    let mut weighed = Weighed::default();
    let mut found: HashMap<RecordId, R::Of> = HashMap::with_capacity(named.len());
    for some in named.chunks(AT_ONCE) {
        let some = whole::<M::Entity>().filter(M::reach(cx)?).filter(M::ID.is_in(some.iter().copied()));
        let some = R::read(cx, some).await?;
        some.iter().try_for_each(|row| weighed.add(R::weight(row)))?;
        found.extend(some.into_iter().filter_map(|row| Some((R::key(&row)?, row))));
    }
    // One that is gone meanwhile is on no page.
    Ok(named.iter().filter_map(|id| found.remove(id)).collect())
}

/// So many rows are sooner sorted than found in their order; and of rows that are long so many keys.
const FEW: u64 = 1_000;
const FEW_KEYS: u64 = 5_000;

/// What makes the order of a list.
#[derive(Debug, Clone, Copy)]
enum Sorts {
    /// An index that has it, where there is one.
    Index,
    /// What is found is sorted, by whatever it was found.
    Found,
}

/// By what a column sorts: by what it keeps, or, where that is letters, by the words that are shown for them.
pub(crate) fn sorts_by(column: impl ColumnTrait) -> SimpleExpr {
    let own = || Expr::col(column.as_column_ref());
    if !keeps_letters(column.def().get_column_type()) {
        return own();
    }
    let words = by_word().into_iter().zip(0_i64..);
    words.fold(CaseStatement::new(), |words, (letters, place)| words.case(own().eq(letters), place)).into()
}

/// Where in that order a value lies that a column keeps.
pub(crate) fn sorted_at(column: impl ColumnTrait, kept: sea_orm::Value) -> Result<sea_orm::Value> {
    if !keeps_letters(column.def().get_column_type()) {
        return Ok(kept);
    }
    let sea_orm::Value::String(Some(letters)) = &kept else { return Ok(kept) };
    let place = by_word().into_iter().zip(0_i64..).find(|(known, _)| known == letters).map(|(_, place)| place);
    Ok(place.ok_or_else(|| Error::internal(format!("no word is kept as {letters}")))?.into())
}

/// Where every row has a value, an index serves the order as it stands.
fn ordered<E: EntityTrait>(
    rows: Select<E>,
    (column, by): (E::Column, Sorts),
    order: Order,
    nulls: Option<NullOrdering>,
) -> Select<E> {
    let own = || sorts_by(column);
    let sorted: SimpleExpr = match by {
        Sorts::Index => own(),
        // No index has the order of an expression.
        Sorts::Found => Func::coalesce([own(), own()]).into(),
    };
    match nulls {
        Some(nulls) => rows.order_by_with_nulls(sorted, order, nulls),
        None => rows.order_by(sorted, order),
    }
}

/// Rows that are looked for: by what the text stands for as a whole where there is one like that, else by all the words, and
/// where nothing has them by what rows name.
/// What is known of who has the words is answered beside them.
async fn searched<M: Rows>(
    cx: &Cx<'_>,
    rows: Select<M::Entity>,
    text: Option<&str>,
) -> Result<(Select<M::Entity>, Found)> {
    let Some(text) = text else { return Ok((rows, Found::Unknown)) };
    for meant in M::meant_by(text) {
        let meant = rows.clone().filter(meant);
        if is_there::<M>(cx, &meant).await? {
            return Ok((meant, Found::Unknown));
        }
    }
    let all = rows.clone();
    let words = text.split_whitespace().map(|word| M::found_by(&crate::texts::search_key(word)));
    let rows = rows.filter(words.fold(Condition::all(), Condition::add));
    let sought = match M::SOUGHT {
        Some(kind) => search::found(cx, kind, text).await?,
        None => Found::Unknown,
    };
    let rows = match &sought {
        Found::All(all) => rows.filter(among(cx, M::ID, all.iter().copied())),
        Found::Some(_) | Found::Unknown => rows,
    };
    if M::SOUGHT.is_some()
        && !is_there::<M>(cx, &rows).await?
        && let Some(naming) = M::naming(cx, text).await?
    {
        return Ok((all.filter(naming), Found::Unknown));
    }
    Ok((rows, sought))
}

async fn is_there<M: Rows>(cx: &Cx<'_>, rows: &Select<M::Entity>) -> Result<bool> {
    let one: Option<RecordId> = rows.clone().select_only().column(M::ID).limit(1).into_tuple().one(&cx.db).await?;
    Ok(one.is_some())
}

fn matching<M: Rows>(cx: &Cx<'_>, query: &ListQuery) -> Result<Condition> {
    let mut condition = Condition::all();
    if let Some(since) = query.updated_since {
        condition = condition.add(M::CHANGED.gte(since));
    }
    let offered = M::filters();
    for (name, value) in &query.filters {
        let Some(filter) = offered.iter().find(|filter| filter.parameter.name == *name) else { continue };
        condition = match (&filter.compares, value) {
            (Compares::Looks(looks), value) => condition.add(looks(cx, value)?),
            (Compares::Party(column), FilterValue::Party(named)) => {
                let aliases = cx.aliases()?;
                condition.add(aliases.is(*column, aliases.asked(*named)))
            }
            (Compares::Party(_), _) => return Err(Error::internal("a party is asked for by something else than one")),
            (Compares::Contains(column), FilterValue::Text(text)) => {
                condition.add(column.like(containing(&serde_json::Value::from(text.as_str()).to_string())))
            }
            (Compares::Equal(column) | Compares::Contains(column), FilterValue::AnyOf(texts)) => {
                let own = column.def();
                condition.add(column.is_in(texts.iter().map(|text| kept_in(own.get_column_type(), text))))
            }
            (Compares::Equal(column), FilterValue::OneOf(word)) => {
                condition.add(column.eq(kept_in(column.def().get_column_type(), word)))
            }
            (Compares::Equal(column) | Compares::Contains(column), value) => condition.add(column.eq(plain(value)?)),
            (Compares::AtLeast(column), value) => condition.add(column.gte(plain(value)?)),
            (Compares::AtMost(column), value) => condition.add(column.lte(plain(value)?)),
        };
    }
    Ok(condition)
}

/// The value as the database compares it.
fn plain(value: &FilterValue) -> Result<sea_orm::Value> {
    Ok(match value {
        FilterValue::Text(text) | FilterValue::OneOf(text) => text.as_str().into(),
        FilterValue::Flag(flag) => (*flag).into(),
        FilterValue::AnyOf(texts) => texts.join(",").into(),
        FilterValue::Day(day) => (*day).into(),
        FilterValue::Time(at) => (*at).into(),
        FilterValue::Amount(money) => (*money).into(),
        FilterValue::Whole(number) => (*number).into(),
        FilterValue::Identifier(id) => (*id).into(),
        FilterValue::Party(_) => return Err(Error::internal("a party is compared by its name alone")),
    })
}

/// A LIKE pattern for text that contains this, where `%` and `_` stand for themselves.
pub fn containing(text: &str) -> LikeExpr {
    let escaped = text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
    LikeExpr::new(format!("%{escaped}%")).escape('\\')
}

pub async fn row<M: Rows>(cx: &Cx<'_>, id: RecordId) -> Result<Row<M>> {
    let row = whole::<M::Entity>().filter(M::reach(cx)?).filter(M::ID.eq(id)).model(&cx.db).await?;
    row.ok_or(Error::NotFound)
}

/// As much of one row as is read.
pub async fn one<M: Rows, R: Read<M>>(cx: &Cx<'_>, id: RecordId) -> Result<R::Of> {
    let rows = whole::<M::Entity>().filter(M::reach(cx)?).filter(M::ID.eq(id));
    R::read(cx, rows).await?.pop().ok_or(Error::NotFound)
}

/// Records that others name, in the order in which they do, as a list of JSON.
pub async fn by_ids<M: Rows>(cx: &Cx<'_>, ids: &[RecordId]) -> Result<String> {
    if ids.is_empty() {
        return Ok("[]".into());
    }
    let rows = whole::<M::Entity>().filter(M::reach(cx)?).filter(among(cx, M::ID, ids.iter().copied()));
    let mut rows = rows.models(&cx.db).await?;
    let places: HashMap<RecordId, usize> = ids.iter().enumerate().map(|(place, id)| (*id, place)).collect();
    rows.sort_by_key(|row| <Whole as Read<M>>::key(row).and_then(|id| places.get(&id).copied()));
    serde_json::to_string(&M::views(cx, rows).await?).map_err(Error::internal)
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
