//! Documents: what is drafted, posted, changed and voided by one set of rules, whatever its kind.
//!
//! Owns: numbers, locks, entries and their reversals, versions, the audit log. A kind says what it is made of
//! and what it posts ([`Document::settle`]); it writes no query for these.
//!
//! A document is judged first and written last: everything that can be refused is refused before the desk gets
//! its first row. A new document changes nothing in the database by itself; its rows are written with the rest
//! of the lane's batch.

mod actions;
mod brief;
mod ended;
pub(crate) mod head;
mod judging;
mod lines;
mod list;
mod standing;
mod write;

use crate::clock::Instant;
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::money::{BookMoney, Money, Quantity, Rate};
use crate::parts::under::Under;
pub(crate) use actions::{VoidInput, VoidWords, check_void, extras, run_void};
use books::Leaving;
use books::cx::Cx;
use books::open_items::NewOpen;
use books::periods::Module;
use books::progress;
use books::stock;
pub(crate) use brief::outline;
pub(crate) use head::{Abilities, Draft, Head, HeadInput, HeadView};
use kit::resource::Resource;
use kit::rows::Rows;
pub(crate) use lines::{Identified, identified, identify};
pub(crate) use list::{DUE_SORTS, SORTS, filters, meant_by, naming_party, of_parties_called, reach, sorted_by, total};
use rules::posting::{Posting, Unbalanced};
use schema::tables::documents as table;
use schema::tables::{DocumentKind, DocumentStatus, EntryKind, Stage};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
pub(crate) use standing::{Wanted, days_overdue, due_from, due_to, lately_late, left, overdue};
use std::collections::HashMap;
pub(crate) use write::{
    Old, check_source, create, delete, found, invalid_state, load, load_source, note_settling, note_touch, remake,
    renew, reword, tell_touched, update, void,
};

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
    /// In the document's currency, or in that which stands beside it.
    pub(crate) total: Money,
    /// The currency of the total, where its parts are in several and it is in the company's.
    pub(crate) total_in: Option<String>,
    /// In the company's currency.
    pub(crate) base_total: BookMoney,
    /// What it posts; nothing of a draft.
    pub(crate) entries: Vec<SettledEntry>,
    /// What it leaves open with parties.
    pub(crate) open: Vec<NewOpen>,
    /// What it trades, line by line.
    pub(crate) lines: Vec<TradedLine>,
    /// What it does to stock.
    pub(crate) stock: Option<stock::Plan>,
    /// What it does to the lines that it follows, and which of its own may be followed.
    pub(crate) progress: Option<progress::Plan>,
}

/// A line of a trade document, as other documents and reports look it up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TradedLine {
    pub(crate) id: RecordId,
    pub(crate) item: Option<RecordId>,
    pub(crate) account: Option<RecordId>,
    pub(crate) tax_code: Option<RecordId>,
    pub(crate) quantity: Quantity,
    pub(crate) base_net: BookMoney,
    pub(crate) source_line: Option<RecordId>,
}

/// What a change of a document is, as its kind sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Nothing,
    /// Words that the ledger does not carry.
    Words,
    Books,
}

/// Where a document comes from, where it is a new version of one.
pub(crate) struct Before<'o, A> {
    pub(crate) asked: &'o A,
    pub(crate) status: DocumentStatus,
    pub(crate) stage: Option<Stage>,
    pub(crate) posted_at: Option<Instant>,
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
    const MODULE: Module = Self::KIND.module();
    /// Whether it comes into the ledger; an order does not, and no lock holds for it.
    const POSTS: bool = true;
    /// Whether its exchange rate is held against the one that the company knows.
    const RATE_IS_JUDGED: bool = false;
    /// The kind's own fields, checked.
    type Asked: Clone + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static;
    /// What follows from them and the books.
    type Figures: Clone + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static;

    /// What its status is called, by how far it has got.
    fn called(status: DocumentStatus, _stage: Option<Stage>) -> &'static str {
        status.as_str()
    }

    /// When what is open of it is due, or will be.
    fn due(_asked: &Self::Asked) -> Option<Day> {
        None
    }

    /// What `q` finds it by, beside number, reference and narration.
    fn words(asked: &Self::Asked) -> Vec<String>;

    /// Gives parts of their own an identity: those of the old version that come back keep theirs.
    fn identify(cx: &Cx<'_>, asked: &Self::Asked, old: Option<Before<'_, Self::Asked>>) -> Result<Self::Asked>;

    /// The parties that it names, each of which may have become part of another since.
    fn parties(asked: &mut Self::Asked) -> Vec<&mut RecordId>;

    /// What of a body is a figure that was read and is sent back, and so says nothing.
    fn sent_back(asked: Self::Asked, _old: &Kept<Self>) -> Self::Asked {
        asked
    }

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

    /// What it is computed under, where that is kept with it.
    fn under(_asked: &mut Self::Asked) -> Option<&mut Option<Under>> {
        None
    }

    /// What a change of its own fields is.
    fn change(old: &Self::Asked, new: &Self::Asked) -> Change {
        if old == new { Change::Nothing } else { Change::Books }
    }

    /// The figures of a posted version of which only words change.
    fn reworded(_cx: &Cx<'_>, figures: &Self::Figures, _asked: &Self::Asked) -> Self::Figures {
        figures.clone()
    }

    /// What of it a copy has: what it did to other documents is not done again.
    fn copied(asked: Self::Asked) -> Self::Asked {
        asked
    }

    /// What stands beside a posted version of which only words change, such as when it is due. The document's row is
    /// answered, with what else of it changes.
    fn reword_beside(
        _cx: &Cx<'_>,
        row: &table::Model,
        _asked: &Self::Asked,
    ) -> impl Future<Output = Result<table::Model>> + Send {
        let row = row.clone();
        async { Ok(row) }
    }

    /// Refuses while others need it in the books as it is; undoes what lives and dies with it. `leaving` says whether
    /// it goes for good or comes back at once, `on` the day that was asked for.
    fn release(
        _cx: &Cx<'_>,
        _row: &table::Model,
        _leaving: Leaving,
        _on: Option<Day>,
    ) -> impl Future<Output = Result<()>> + Send {
        async { Ok(()) }
    }

    /// Refuses a new version that falls below what others took of the old one, which stay as they are.
    fn outlasts(
        _cx: &Cx<'_>,
        _old: Edition<'_, Self>,
        _new: Edition<'_, Self>,
    ) -> impl Future<Output = Result<()>> + Send {
        async { Ok(()) }
    }

    /// The day that its tax counts for, where that is another than its own.
    fn tax_date(_asked: &Self::Asked) -> Option<Day> {
        None
    }

    /// What one unit of its currency is worth; it stays once something settled the document.
    fn rate(_asked: &Self::Asked) -> Option<Rate> {
        None
    }

    /// Refuses a body of a posted document that says something else of what came with it and cannot change with it.
    fn stays(_cx: &Cx<'_>, _row: &table::Model, _asked: &Self::Asked) -> impl Future<Output = Result<()>> + Send {
        async { Ok(()) }
    }

    /// What comes after it is in the books, in the same transaction.
    fn posted(_cx: &Cx<'_>, _row: &table::Model, _asked: &Self::Asked) -> impl Future<Output = Result<()>> + Send {
        async { Ok(()) }
    }

    /// Whether [`Document::posted`] has something to do.
    fn has_sequel(_asked: &Self::Asked) -> bool {
        false
    }

    /// What moves without the document's doing, such as what is left to pay.
    type Live: Default + Send + Sync;

    /// The same, for documents that are in the database. A new one that nothing was allocated to has the default.
    fn live(
        _cx: &Cx<'_>,
        _rows: &[table::Model],
    ) -> impl Future<Output = Result<HashMap<RecordId, Self::Live>>> + Send {
        async { Ok(HashMap::new()) }
    }

    /// What is live of a document that is being made.
    fn fresh(_settled: &Settled<Self::Figures>) -> Self::Live {
        Self::Live::default()
    }

    fn view(cx: &Cx<'_>, row: table::Model, content: Kept<Self>, live: Self::Live) -> Result<Self::View>;
}

/// One version of a posted document.
pub(crate) struct Edition<'v, D: Document + ?Sized> {
    pub(crate) id: RecordId,
    pub(crate) date: Day,
    pub(crate) asked: &'v <D as Document>::Asked,
    pub(crate) figures: &'v <D as Document>::Figures,
}

/// The identity that each line was given when its document was drafted.
pub(crate) fn identity(line: Option<RecordId>) -> Result<RecordId> {
    line.ok_or_else(|| Error::internal("a line has no identity"))
}

/// A document that moves more than one may.
pub(crate) fn beyond_one_document(field: &str) -> Error {
    let most = Posting::MOST.with_decimals(0);
    Error::field(field, format!("comes to more than {most}, which is the most that one document moves"))
}

/// Why the lines of a document are no posting; the field is what they come from.
pub(crate) fn unbalanced(fault: Unbalanced, field: &str) -> Error {
    match fault {
        Unbalanced::TooLarge => beyond_one_document(field),
        Unbalanced::Alone => Error::field("exchangeRate", "makes nothing of it in the company's currency"),
        Unbalanced::Apart { own, base } => {
            Error::internal(format!("a line in the company's currency is {own} and worth {base}"))
        }
        Unbalanced::Sides { debit, credit } => {
            Error::internal(format!("the posting of a document does not balance: {debit} and {credit}"))
        }
    }
}

fn content_of<D: Document>(cx: &Cx<'_>, row: &table::Model) -> Result<Kept<D>> {
    let Content { asked, figures } = row.kept::<Kept<D>>()?;
    Ok(Content { asked: meant::<D>(cx, asked)?, figures })
}

/// What names a party that became part of another means that one.
fn meant<D: Document>(cx: &Cx<'_>, mut asked: D::Asked) -> Result<D::Asked> {
    let aliases = cx.aliases()?;
    for party in D::parties(&mut asked) {
        *party = aliases.meant(*party).id();
    }
    Ok(asked)
}

/// Documents as they are answered.
pub(crate) async fn views<D: Document>(cx: &Cx<'_>, rows: Vec<table::Model>) -> Result<Vec<D::View>> {
    let mut live = D::live(cx, &rows).await?;
    let view = |row: table::Model| {
        let content = content_of::<D>(cx, &row)?;
        let live = live.remove(&row.id).unwrap_or_default();
        D::view(cx, row, content, live)
    };
    rows.into_iter().map(view).collect()
}

pub(crate) async fn view<D: Document>(cx: &Cx<'_>, row: table::Model) -> Result<D::View> {
    views::<D>(cx, vec![row]).await?.pop().ok_or_else(|| Error::internal("a document has no view"))
}

/// The operations of [`Resource`], as documents do them.
macro_rules! document_operations {
    () => {
        crate::document::document_operations!(Vec::new());
    };
    ($more:expr) => {
        const OUTLINE: Option<kit::outline::Outline> = Some(crate::document::outline::<Self>());

        /// What comes after it is in the books may still be refused, so it is not only planned.
        fn plans(draft: &Self::Draft) -> bool {
            !<Self as crate::document::Document>::has_sequel(&draft.asked)
        }

        fn parameters() -> Vec<kit::list::Parameter> {
            kit::rows::parameters::<Self>()
        }

        fn extras() -> Vec<kit::extra::Extra> {
            let mut extras = crate::document::extras::<Self>();
            extras.extend($more);
            extras
        }

        async fn list(
            cx: &books::cx::Cx<'_>,
            query: &kit::list::ListQuery,
        ) -> crate::error::Result<kit::list::Page<Self::View>> {
            kit::rows::list::<Self>(cx, query).await
        }

        async fn get(cx: &books::cx::Cx<'_>, id: crate::ids::RecordId) -> crate::error::Result<Self::View> {
            kit::rows::get::<Self>(cx, id).await
        }

        async fn create(cx: &books::cx::Cx<'_>, draft: &Self::Draft) -> crate::error::Result<Self::View> {
            crate::document::create::<Self>(cx, draft).await
        }

        async fn update(
            cx: &books::cx::Cx<'_>,
            id: crate::ids::RecordId,
            draft: &Self::Draft,
        ) -> crate::error::Result<Self::View> {
            crate::document::update::<Self>(cx, id, draft).await
        }

        async fn delete(cx: &books::cx::Cx<'_>, id: crate::ids::RecordId) -> crate::error::Result<()> {
            crate::document::delete::<Self>(cx, id).await
        }
    };
}
pub(crate) use document_operations;

/// The rows of a document, as all kinds list and read them.
macro_rules! document_rows {
    () => {
        type Entity = schema::tables::documents::Entity;

        const ID: schema::tables::documents::Column = schema::tables::documents::Column::Id;
        const CHANGED: schema::tables::documents::Column = schema::tables::documents::Column::UpdatedAt;
        const SEARCH: schema::tables::documents::Column = schema::tables::documents::Column::Search;
        const SORTS: &'static [schema::tables::documents::Column] =
            crate::document::sorted_by(<Self as kit::resource::Resource>::ABOUT.sorts);
        const SOUGHT: Option<schema::tables::DocumentKind> = Some(<Self as crate::document::Document>::KIND);

        fn meant_by(text: &str) -> Vec<sea_orm::Condition> {
            crate::document::meant_by(text)
        }

        async fn naming(cx: &books::cx::Cx<'_>, text: &str) -> crate::error::Result<Option<sea_orm::Condition>> {
            crate::document::of_parties_called(cx, text).await
        }

        async fn known_total(
            cx: &books::cx::Cx<'_>,
            query: &kit::list::ListQuery,
        ) -> crate::error::Result<Option<u64>> {
            crate::document::total::<Self>(cx, query).await
        }

        fn reach(cx: &books::cx::Cx<'_>) -> crate::error::Result<sea_orm::Condition> {
            crate::document::reach::<Self>(cx)
        }

        async fn views(
            cx: &books::cx::Cx<'_>,
            rows: Vec<schema::tables::documents::Model>,
        ) -> crate::error::Result<Vec<Self::View>> {
            crate::document::views::<Self>(cx, rows).await
        }

        fn weight(row: &schema::tables::documents::Model) -> usize {
            row.content.weight()
        }

        const MAY_WEIGH: bool = true;
    };
}
pub(crate) use document_rows;
