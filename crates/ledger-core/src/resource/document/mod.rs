//! Documents: what is drafted, posted, changed and voided by one set of rules, whatever its kind.
//!
//! Owns: numbers, locks, entries and their reversals, versions, the audit log. A kind says what it is made of
//! and what it posts ([`Document::settle`]); it writes no query for these.
//!
//! A document is judged first and written last: everything that can be refused is refused before the desk gets
//! its first row. A new document changes nothing in the database by itself; its rows are written with the rest
//! of the lane's batch.

mod actions;
pub(crate) mod head;
mod list;
mod write;

use crate::books::periods::Module;
use crate::books::posting::Posting;
use crate::books::tables::documents::{self as table};
use crate::books::tables::{DocumentKind, EntryKind};
use crate::cx::Cx;
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::money::Money;
use crate::resource::Resource;
use crate::resource::rows::Rows;
pub(crate) use actions::extras;
pub(crate) use head::{Draft, Head, HeadInput, HeadView};
pub(crate) use list::{SORTED_BY, SORTS, filters, is_named, naming, reach};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
pub(crate) use write::{create, delete, update};

/// What a document is settled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To be kept as it is: only what it names must exist.
    Draft,
    /// To come into the books.
    Posting,
}

/// What a kind makes of a draft.
pub(crate) struct Settled<F> {
    pub(crate) figures: F,
    pub(crate) subkind: Option<String>,
    pub(crate) party: Option<RecordId>,
    pub(crate) currency: String,
    /// In the document's currency.
    pub(crate) total: Money,
    /// In the company's currency.
    pub(crate) base_total: Money,
    /// What it posts; nothing of a draft.
    pub(crate) entries: Vec<SettledEntry>,
}

pub(crate) struct SettledEntry {
    pub(crate) kind: EntryKind,
    pub(crate) date: Day,
    /// The field that the date came from.
    pub(crate) field: &'static str,
    pub(crate) posting: Posting,
}

/// What is kept of a kind's own fields: as they were asked for, and what came of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Content<A, F> {
    pub(crate) asked: A,
    pub(crate) figures: F,
}

pub(crate) type Kept<D> = Content<<D as Document>::Asked, <D as Document>::Figures>;

pub(crate) trait Document:
    Rows<Entity = table::Entity> + Resource<Draft = Draft<<Self as Document>::Asked>>
{
    const KIND: DocumentKind;
    const MODULE: Module;
    /// The kind's own fields, checked.
    type Asked: Clone + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static;
    /// What follows from them and the books.
    type Figures: Clone + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static;

    /// What `q` finds it by, beside number, reference and narration.
    fn words(asked: &Self::Asked) -> Vec<String>;

    /// Gives parts of their own an identity: those of the old version that come back keep theirs.
    fn identify(cx: &Cx<'_>, asked: &Self::Asked, old: Option<&Self::Asked>) -> Result<Self::Asked>;

    /// What is left out and stands elsewhere, such as the rate of the day. It stays with the document.
    fn complete(_cx: &Cx<'_>, _head: &Head, asked: Self::Asked) -> impl Future<Output = Result<Self::Asked>> + Send {
        async { Ok(asked) }
    }

    /// Judges a draft by the books, and says what it comes to and what it posts.
    fn settle(
        cx: &Cx<'_>,
        head: &Head,
        asked: &Self::Asked,
        purpose: Purpose,
    ) -> impl Future<Output = Result<Settled<Self::Figures>>> + Send;

    fn view(cx: &Cx<'_>, row: table::Model, content: Kept<Self>) -> Result<Self::View>;
}

fn content_of<D: Document>(row: &table::Model) -> Result<Kept<D>> {
    serde_json::from_str(&row.content).map_err(Error::internal)
}

pub(crate) fn view<D: Document>(cx: &Cx<'_>, row: table::Model) -> Result<D::View> {
    let content = content_of::<D>(&row)?;
    D::view(cx, row, content)
}

/// The operations of [`Resource`], as documents do them.
macro_rules! document_operations {
    () => {
        const PLANS: bool = true;

        fn parameters() -> Vec<crate::resource::list::Parameter> {
            crate::resource::rows::parameters::<Self>()
        }

        fn extras() -> Vec<crate::resource::extra::Extra> {
            crate::resource::document::extras::<Self>()
        }

        async fn list(
            cx: &crate::cx::Cx<'_>,
            query: &crate::resource::list::ListQuery,
        ) -> crate::error::Result<crate::resource::list::Page<Self::View>> {
            crate::resource::rows::list::<Self>(cx, query).await
        }

        async fn get(cx: &crate::cx::Cx<'_>, id: crate::ids::RecordId) -> crate::error::Result<Self::View> {
            crate::resource::rows::get::<Self>(cx, id).await
        }

        async fn create(cx: &crate::cx::Cx<'_>, draft: &Self::Draft) -> crate::error::Result<Self::View> {
            crate::resource::document::create::<Self>(cx, draft).await
        }

        async fn update(
            cx: &crate::cx::Cx<'_>,
            id: crate::ids::RecordId,
            draft: &Self::Draft,
        ) -> crate::error::Result<Self::View> {
            crate::resource::document::update::<Self>(cx, id, draft).await
        }

        async fn delete(cx: &crate::cx::Cx<'_>, id: crate::ids::RecordId) -> crate::error::Result<()> {
            crate::resource::document::delete::<Self>(cx, id).await
        }
    };
}
pub(crate) use document_operations;

/// The rows of a document, as all kinds list and read them.
macro_rules! document_rows {
    () => {
        type Entity = crate::books::tables::documents::Entity;

        const ID: crate::books::tables::documents::Column = crate::books::tables::documents::Column::Id;
        const CHANGED: crate::books::tables::documents::Column = crate::books::tables::documents::Column::UpdatedAt;
        const SEARCH: crate::books::tables::documents::Column = crate::books::tables::documents::Column::Search;
        const SORTS: &'static [crate::books::tables::documents::Column] = crate::resource::document::SORTED_BY;

        fn reach(cx: &crate::cx::Cx<'_>) -> crate::error::Result<sea_orm::Condition> {
            crate::resource::document::reach::<Self>(cx)
        }

        async fn views(
            cx: &crate::cx::Cx<'_>,
            rows: Vec<crate::books::tables::documents::Model>,
        ) -> crate::error::Result<Vec<Self::View>> {
            rows.into_iter().map(|row| crate::resource::document::view::<Self>(cx, row)).collect()
        }
    };
}
pub(crate) use document_rows;
