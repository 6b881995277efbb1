//! What can be done with a resource beside the five verbs: actions such as `post`, and reads such as `history`.
//!
//! An extra is declared with its resource and gets its route, its permission and its documentation from here.

use crate::body::{self, Shape};
use crate::changes::records;
use crate::error::{Error, FieldErrors, Result};
use crate::feed::Portions;
use crate::fields::Fields;
use crate::ids::RecordId;
use crate::list::{DEFAULT_PAGE_SIZE, ListQuery, Offer, Page, Pagination, Parameter};
use crate::operation::ReplyKind;
use crate::operation::{Confirmation, Done, Prepared, shown};
use crate::resource::Resource;
use crate::rows::Weighed;
use answers::Ask;
use books::access::Business;
use books::auth::password::NewPassword;
use books::cx::Cx;
use books::database::lane::BoxFuture;
use schema::key::ResourceKey;
use schema::rights::Action;
use schema::tables::audit_log;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use sea_orm::{ColumnTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use words::codes::Word;

/// What an extra hangs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum On {
    Record,
    Collection,
}

/// In what form a read is answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Media {
    #[default]
    Json,
    /// One JSON text a line, wrapped by no dialect.
    NdJson,
    /// Comma-separated values, wrapped by no dialect.
    Csv,
    /// Server-sent events, told as they happen and wrapped by no dialect.
    EventStream,
}

/// What a read costs, as far as it can be said before it is made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Weight {
    /// A record, or a page.
    #[default]
    Brief,
    /// It may read much, in one snapshot.
    Dear,
    /// It reads all there is, in one snapshot, and pauses for others.
    Proof,
}

pub struct Extra {
    /// Ends the operation's identifier: `journalsPost`.
    pub name: &'static str,
    /// Its segment of the path; empty for the collection itself.
    pub segment: &'static str,
    pub on: On,
    pub action: Action,
    /// The resource whose record it answers, and whose right it needs, where that is another.
    pub answers: Option<ResourceKey>,
    /// What the documentation says; `{one}` and `{noun}` stand for the resource's own words.
    pub summary: &'static str,
    pub description: &'static str,
    pub does: Does,
}

pub enum Does {
    Reads(Reading),
    Writes(Writing),
}

type Read = for<'c> fn(&'c Cx<'c>, Option<RecordId>, &'c ListQuery) -> BoxFuture<'c, Result<Produced>>;

/// Begins what is handed over while it is made.
pub type Begin = fn() -> Box<dyn Portions>;

/// A read as comma-separated values, handed over while it is made.
#[derive(Clone, Copy)]
pub struct Csv {
    pub example: fn() -> String,
    pub begin: Begin,
}

/// A read that may be asked for what is still to happen.
#[derive(Clone, Copy)]
pub struct Awaited {
    /// How long whoever asks will wait for something to be told.
    pub patience: fn(&ListQuery) -> Result<Duration>,
    /// Begins to tell all of it as it happens, until nobody listens.
    pub begin: Begin,
}

pub struct Reading {
    pub media: Media,
    pub parameters: &'static [Parameter],
    pub paged: bool,
    pub in_time: bool,
    pub schema: fn(&mut SchemaGenerator) -> Schema,
    pub example: fn() -> Value,
    /// How it is answered as comma-separated values, with `format=csv`.
    pub csv: Option<Csv>,
    /// How it is answered where it always comes in portions.
    pub portions: Option<Begin>,
    /// How it is waited for, where it can be.
    pub awaited: Option<Awaited>,
    pub weight: Weight,
    pub read: Read,
}

/// The schema of a body that may be left out, and an example of it.
#[derive(Clone, Copy)]
pub struct OptionalBody {
    pub schema: fn(&mut SchemaGenerator) -> Schema,
    pub example: fn() -> Value,
}

type Prepare = fn(Option<&Business>, &[u8]) -> Result<Arc<dyn Prepared>>;

/// How an action is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ActMethod {
    #[default]
    Post,
    Delete,
}

pub struct Writing {
    pub kind: ReplyKind,
    pub method: ActMethod,
    /// The body, where it has one; it may always be left out.
    pub body: Option<OptionalBody>,
    prepare: Prepare,
}

/// What a read came to.
pub struct Produced {
    pub text: String,
    pub pagination: Option<Pagination>,
    /// That there is nothing to tell after this record of the audit log, where that can be waited for.
    pub nothing_after: Option<i64>,
}

impl Produced {
    pub const fn text(text: String) -> Self {
        Self { text, pagination: None, nothing_after: None }
    }

    pub fn json(value: &impl Serialize) -> Result<Self> {
        Ok(Self::text(serde_json::to_string(value).map_err(Error::internal)?))
    }

    /// A page of records, of which what was asked for is answered.
    pub fn page<V: Serialize>(query: &ListQuery, page: &Page<V>) -> Result<Self> {
        match &query.fields {
            None => Self::page_of(query, page),
            Some(fields) => {
                let items = chosen(fields, &page.items).map_err(Error::internal)?;
                Self::page_of(query, &Page { items, total: page.total, walked: page.walked.clone() })
            }
        }
    }

    /// A page of what is answered as it is.
    pub fn page_of<V: Serialize>(query: &ListQuery, page: &Page<V>) -> Result<Self> {
        #[derive(Serialize)]
        struct Body<'p, V> {
            items: &'p [V],
            pagination: &'p Pagination,
        }
        let pagination = Pagination::of_page(query, page);
        let body = Body { items: &page.items, pagination: &pagination };
        let text = serde_json::to_string(&body).map_err(Error::internal)?;
        Ok(Self { pagination: Some(pagination), ..Self::text(text) })
    }
}

/// What was asked for of each record.
fn chosen<V: Serialize>(fields: &Fields, records: &[V]) -> serde_json::Result<Vec<Value>> {
    let chosen = |record: &V| {
        let mut value = serde_json::to_value(record)?;
        fields.keep(&mut value);
        Ok(value)
    };
    records.iter().map(chosen).collect()
}

impl Reading {
    pub const fn json<V: JsonSchema>(read: Read, example: fn() -> Value) -> Self {
        Self {
            media: Media::Json,
            parameters: &[],
            paged: false,
            in_time: false,
            schema: SchemaGenerator::subschema_for::<V>,
            example,
            csv: None,
            portions: None,
            awaited: None,
            weight: Weight::Brief,
            read,
        }
    }

    /// One that is always handed over while it is made.
    pub const fn in_portions<V: JsonSchema>(media: Media, begin: Begin, example: fn() -> Value) -> Self {
        const WHOLE: Read = |_, _, _| Box::pin(async { Err(Error::internal("it is answered in portions alone")) });
        Self { media, portions: Some(begin), weight: Weight::Dear, ..Self::json::<V>(WHOLE, example) }
    }

    pub fn offer(&self) -> Offer<'_> {
        Offer { parameters: self.parameters, paged: self.paged, in_time: self.in_time, ..Offer::default() }
    }

    pub async fn read<'c>(&self, cx: &'c Cx<'c>, id: Option<RecordId>, query: &'c ListQuery) -> Result<Produced> {
        (self.read)(cx, id, query).await
    }
}

/// The words of an action that needs none.
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct NoWords {}

/// An action on one record of a resource.
pub trait Act: Send + Sync + 'static {
    type Resource: Resource;
    /// Whose record it answers.
    type Answers: Resource;
    type Input: DeserializeOwned + JsonSchema;
    type Words: Send + Sync + 'static;
    const NAME: &'static str;
    const SEGMENT: &'static str;
    const ACTION: Action;
    /// What it is done to; to the caller, where that is no record.
    const ON: On = On::Record;
    const KIND: ReplyKind = ReplyKind::Updated;
    const METHOD: ActMethod = ActMethod::Post;
    const SUMMARY: &'static str;
    const DESCRIPTION: &'static str;

    fn check(input: Self::Input) -> Result<Self::Words, FieldErrors>;
    /// An example of the body, where there is one.
    fn example() -> Option<fn() -> Value> {
        None
    }
    /// What the caller confirms it with.
    fn confirmed_by(_words: &Self::Words) -> Option<Confirmation<'_>> {
        None
    }
    /// The password that somebody is to have by it.
    fn new_password(_words: &Self::Words) -> Option<&NewPassword> {
        None
    }
    /// The code of the invitation that opens the company to the caller in which it happens.
    fn opened_by(_words: &Self::Words) -> Option<&str> {
        None
    }
    fn run(
        cx: &Cx<'_>,
        id: RecordId,
        words: &Self::Words,
    ) -> impl Future<Output = Result<<Self::Answers as Resource>::View>> + Send;
}

struct PreparedAct<A: Act>(A::Words);

impl<A: Act> Prepared for PreparedAct<A> {
    fn run<'c>(&'c self, cx: &'c Cx<'c>, id: Option<RecordId>) -> BoxFuture<'c, Result<Done>> {
        Box::pin(async move {
            let id = match A::ON {
                On::Record => id.ok_or(Error::NotFound)?,
                On::Collection => RecordId(cx.user.0),
            };
            Ok(Done::Record(shown(&A::run(cx, id, &self.0).await?)?))
        })
    }

    fn confirmed_by(&self) -> Option<Confirmation<'_>> {
        A::confirmed_by(&self.0)
    }

    fn new_password(&self) -> Option<&NewPassword> {
        A::new_password(&self.0)
    }

    fn opened_by(&self) -> Option<&str> {
        A::opened_by(&self.0)
    }
}

pub fn action<A: Act>() -> Extra {
    Extra {
        name: A::NAME,
        segment: A::SEGMENT,
        on: A::ON,
        action: A::ACTION,
        answers: Some(A::Answers::KEY).filter(|key| *key != A::Resource::KEY),
        summary: A::SUMMARY,
        description: A::DESCRIPTION,
        does: Does::Writes(Writing {
            kind: A::KIND,
            method: A::METHOD,
            body: A::example()
                .map(|example| OptionalBody { schema: SchemaGenerator::subschema_for::<A::Input>, example }),
            prepare: |_, bytes| {
                let bytes = if bytes.is_empty() { b"{}" } else { bytes };
                let shape = Shape::of_input::<A::Input>();
                Ok(Arc::new(PreparedAct::<A>(body::read(bytes, &shape, &Shape::default(), A::check)?)))
            },
        }),
    }
}

impl Writing {
    /// One that does several operations, and answers what each came to.
    pub const fn of_several(body: OptionalBody, prepare: Prepare) -> Self {
        Self { kind: ReplyKind::Answered, method: ActMethod::Post, body: Some(body), prepare }
    }

    pub fn prepare(&self, business: Option<&Business>, bytes: &[u8]) -> Result<Arc<dyn Prepared>> {
        (self.prepare)(business, bytes)
    }
}

/// Every change of one record, which every resource that is written has.
pub fn history<R: Resource>() -> Extra {
    Extra {
        name: "History",
        segment: "history",
        on: On::Record,
        action: Action::View,
        answers: None,
        summary: "Get the history of {one}",
        description: "Every change of the {noun}, oldest first: who made it, from where, and the {noun} before and \
                      after. Where nobody wrote it and something else moved it, `action` is `touched` and `note` says what. \
                      It is there for deleted ones too.",
        does: Does::Reads(Reading {
            paged: true,
            ..Reading::json::<crate::changes::AuditRecordPage>(
                |cx, id, query| Box::pin(read_history::<R>(cx, id, query)),
                || json!({"items": [crate::changes::example()], "pagination": {"totalCount": 1, "totalPages": 1, "currentPage": 1}}),
            )
        }),
    }
}

async fn read_history<R: Resource>(cx: &Cx<'_>, id: Option<RecordId>, query: &ListQuery) -> Result<Produced> {
    let id = id.ok_or(Error::NotFound)?;
    let changes = records(cx)?
        .filter(audit_log::Column::Resource.eq(Word::from(R::KEY.stem())))
        .filter(audit_log::Column::ResourceId.eq(id));
    let total = changes.clone().count(&cx.db).await?;
    if total == 0 {
        // What a company begins with was written by nobody. It is there all the same, and nothing happened to it.
        R::get(cx, id).await?;
    }
    let (mut rows, mut weighed) = (Vec::new(), Weighed::default());
    // They only grow, at their end.
    for some in 0..query.page_size.div_ceil(DEFAULT_PAGE_SIZE) {
        let before = some * DEFAULT_PAGE_SIZE;
        let some = changes
            .clone()
            .order_by_asc(audit_log::Column::Sequence)
            .limit(DEFAULT_PAGE_SIZE.min(query.page_size - before))
            .offset((query.page - 1) * query.page_size + before)
            .models(&cx.db)
            .await?;
        if query.page_size > DEFAULT_PAGE_SIZE {
            some.iter().try_for_each(|row| weighed.add(crate::changes::weight(row)))?;
        }
        if some.is_empty() {
            break;
        }
        rows.extend(some);
    }
    // Where colleagues come from is told by the audit log, to whom may view that.
    let sees_addresses = cx.require(ResourceKey::AuditLog, Action::View).is_ok();
    let rows = rows.into_iter().map(|row| {
        let address = row.address.clone().filter(|_| sees_addresses);
        audit_log::Model { address, ..row }
    });
    let items = crate::changes::shown(cx, rows.collect()).await?;
    Produced::page(query, &Page::of(items, total))
}
