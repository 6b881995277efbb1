//! The registry as a table of operations: types end here, so that adapters are loops and not generics.

use crate::body::{self, Shape};
use crate::changes;
use crate::elsewhere;
use crate::error::{Error, Result};
use crate::expand::{self, ByIds, EXPANDED, Path};
use crate::extra::{self, ActMethod, Awaited, Begin, Csv, Does, Extra, Media, On, Produced, Weight};
use crate::ids::RecordId;
use crate::list::{FilterValue, ListQuery, Offer, Parameter, Reads};
pub use crate::part::{CameTo, Failed, Part};
use crate::resource::{About, Record, Resource, Scope};
use books::access::Business;
use books::auth::password::NewPassword;
use books::cx::Cx;
use books::database::lane::BoxFuture;
use schema::key::ResourceKey;
use schema::rights::{Action, permission};
use schemars::{Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::marker::PhantomData;
use std::sync::Arc;

/// What can be done with a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verb {
    List,
    Get,
    Create,
    Update,
    /// Replaces the record that is called so elsewhere, or makes it.
    Upsert,
    Delete,
    /// One of its extras, by its place among them.
    Extra(usize),
}

impl Verb {
    pub const STANDARD: [Self; 5] = [Self::List, Self::Get, Self::Create, Self::Update, Self::Delete];
    pub const READ: [Self; 2] = [Self::List, Self::Get];
}

/// How a verb is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Get,
    Post,
    Put,
    Delete,
}

/// Whether a request brings a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyNeed {
    None,
    Optional,
    Required,
}

/// What a success is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReplyKind {
    Listed,
    Found,
    Created,
    Updated,
    Deleted,
    /// What several operations came to.
    Answered,
}

/// A record, already written as JSON.
#[derive(Debug)]
pub struct Shown {
    pub id: RecordId,
    pub version: i64,
    pub json: String,
}

/// What a write came to.
pub enum Done {
    Record(Shown),
    /// A record that was not there before, where it might have been.
    Made(Shown),
    Deleted(RecordId),
    /// Several operations, each with what it came to.
    Several(Vec<Part>),
}

/// How a caller proves once more that it is them.
pub struct Confirmation<'w> {
    pub password: &'w str,
    pub factor: SecondFactor<'w>,
}

/// Whether those who have a second factor are asked for it.
pub enum SecondFactor<'w> {
    NotAsked,
    /// A code of the authenticator, or a recovery code, if one was given.
    Asked(Option<&'w str>),
}

/// A write that passed its checks and waits for the lane.
pub trait Prepared: Send + Sync {
    fn run<'c>(&'c self, cx: &'c Cx<'c>, id: Option<RecordId>) -> BoxFuture<'c, Result<Done>>;

    /// Whether it only plans, and is written with the rest of its batch.
    fn plans(&self) -> bool {
        false
    }

    /// What the caller confirms it with.
    fn confirmed_by(&self) -> Option<Confirmation<'_>> {
        None
    }

    /// The password that somebody is to have. It is judged and hashed before this runs.
    fn new_password(&self) -> Option<&NewPassword> {
        None
    }

    /// The password that an account of somebody else begins with. Only the operator gives one.
    fn first_password(&self) -> Option<&NewPassword> {
        None
    }

    /// The code of the invitation that opens the company to the caller in which it happens.
    fn opened_by(&self) -> Option<&str> {
        None
    }

    /// Whether something secret is looked at before it runs.
    fn goes_by_a_secret(&self) -> bool {
        self.confirmed_by().is_some()
            || self.new_password().is_some()
            || self.first_password().is_some()
            || self.opened_by().is_some()
    }
}

struct PreparedCreate<R: Resource>(R::Draft);

impl<R: Resource> Prepared for PreparedCreate<R> {
    fn run<'c>(&'c self, cx: &'c Cx<'c>, _: Option<RecordId>) -> BoxFuture<'c, Result<Done>> {
        Box::pin(async move {
            let view = R::create(cx, &self.0).await?;
            Ok(Done::Record(match cx.take_answer() {
                Some((id, version, json)) if (id, version) == (view.id(), view.version()) => {
                    Shown { id, version, json }
                }
                _ => shown(&view)?,
            }))
        })
    }

    fn plans(&self) -> bool {
        R::plans(&self.0)
    }

    fn first_password(&self) -> Option<&NewPassword> {
        R::first_password(&self.0)
    }
}

struct PreparedUpdate<R: Resource>(R::Draft);

impl<R: Resource> Prepared for PreparedUpdate<R> {
    fn run<'c>(&'c self, cx: &'c Cx<'c>, id: Option<RecordId>) -> BoxFuture<'c, Result<Done>> {
        Box::pin(async move {
            let id = id.ok_or(Error::NotFound)?;
            Ok(Done::Record(shown(&R::update(cx, id, &self.0).await?)?))
        })
    }
}

struct PreparedDelete<R: Resource>(PhantomData<fn() -> R>);

impl<R: Resource> Prepared for PreparedDelete<R> {
    fn run<'c>(&'c self, cx: &'c Cx<'c>, id: Option<RecordId>) -> BoxFuture<'c, Result<Done>> {
        Box::pin(async move {
            let id = id.ok_or(Error::NotFound)?;
            R::delete(cx, id).await?;
            Ok(Done::Deleted(id))
        })
    }
}

pub fn shown<V: Record>(view: &V) -> Result<Shown> {
    let json = serde_json::to_string(view).map_err(Error::internal)?;
    Ok(Shown { id: view.id(), version: view.version(), json })
}

/// A record that is read: what was asked for of it.
fn shown_as<V: Record>(query: &ListQuery, view: &V) -> Result<Shown> {
    let Some(fields) = &query.fields else { return shown(view) };
    let mut value = serde_json::to_value(view).map_err(Error::internal)?;
    fields.keep(&mut value);
    Ok(Shown { id: view.id(), version: view.version(), json: value.to_string() })
}

type Prepare = fn(&ResourceOperations, Option<&Business>, (Verb, Option<&str>), &[u8]) -> Result<Arc<dyn Prepared>>;

/// When a record was deleted, where it is asked for all the same.
pub const DELETED_AT: &str = "deletedAt";

/// The journal lines that a write would make, which is only rehearsed.
pub const POSTINGS: &str = "postings";

/// What was deleted is in the log of changes for good.
static DELETED_TOO: [Parameter; 1] = [Parameter::new(
    "includeDeleted",
    "`true` to have the record although it was deleted: as it was last, with `deletedAt`.",
    Reads::Flag,
)];

/// One resource, erased.
#[expect(clippy::struct_excessive_bools, reason = "each is a constant of the resource by its own name")]
pub struct ResourceOperations {
    pub key: ResourceKey,
    pub scope: Scope,
    pub about: About,
    /// Whether its figures can be asked for at an earlier point in time.
    pub in_time: bool,
    /// Whether `updatedSince` can be asked for.
    pub dated: bool,
    /// Whether `cursor` can.
    pub by_key: bool,
    /// What `view=summary` shows of a record; nothing where it cannot be asked for.
    pub summary: Vec<&'static str>,
    /// The records that its own name, which `expand` may ask for.
    pub expands: Vec<Path>,
    /// How its records are read where others name them.
    pub by_ids: Option<ByIds>,
    /// Whether an answer stands as long as nothing changes in the company that it was asked in.
    pub cached: bool,
    /// Members of its records that are shown once and never kept.
    pub secrets: &'static [&'static str],
    /// Whether its writes may change people.
    pub changes_people: bool,
    /// Whether it tells of calls.
    pub tells_of_calls: bool,
    pub parameters: Vec<Parameter>,
    pub extras: Vec<Extra>,
    pub example: Value,
    pub example_view: Value,
    pub input_schema: fn(&mut SchemaGenerator) -> Schema,
    pub view_schema: fn(&mut SchemaGenerator) -> Schema,
    standard: &'static [Verb],
    /// What may be asked of one record: nothing, or to have it although it was deleted.
    of_one: &'static [Parameter],
    /// Whether its records are made and replaced by what they are called elsewhere.
    upserts: bool,
    input_shape: Shape,
    view_shape: Shape,
    prepare: Prepare,
    list: for<'c> fn(&'c Cx<'c>, &'c ListQuery) -> BoxFuture<'c, Result<Produced>>,
    get: for<'c> fn(&'c Cx<'c>, RecordId, &'c ListQuery) -> BoxFuture<'c, Result<Shown>>,
}

fn is_rehearsed(scope: Scope, verbs: &[Verb]) -> bool {
    scope == Scope::Business && verbs.iter().any(|verb| !matches!(verb, Verb::List | Verb::Get))
}

impl ResourceOperations {
    pub fn of<R: Resource>() -> Self {
        let mut extras = R::extras();
        if R::SCOPE == Scope::Business && R::VERBS.contains(&Verb::Create) {
            extras.push(extra::history::<R>());
        }
        let (input_shape, view_shape) = (Shape::of_input::<R::Input>(), Shape::of_record::<R::View>());
        let expands = if R::SCOPE == Scope::Business { expand::paths(&view_shape) } else { Vec::new() };
        let of_one: &'static [Parameter] =
            if R::SCOPE == Scope::Business && R::VERBS.contains(&Verb::Delete) { &DELETED_TOO } else { &[] };
        let is_rehearsed = is_rehearsed(R::SCOPE, R::VERBS);
        let beside = [(EXPANDED, !expands.is_empty()), (DELETED_AT, !of_one.is_empty()), (POSTINGS, is_rehearsed)];
        let beside = beside.into_iter().filter_map(|(name, is_told)| is_told.then_some(name)).collect();
        let view_shape = view_shape.beside(beside);
        Self {
            expands,
            by_ids: R::BY_IDS,
            upserts: elsewhere::is_kept::<R>(&input_shape),
            key: R::KEY,
            scope: R::SCOPE,
            about: R::ABOUT,
            in_time: R::IN_TIME,
            dated: R::DATED,
            by_key: R::BY_KEY,
            summary: R::OUTLINE
                .map_or(&[][..], |outline| outline.members)
                .iter()
                .copied()
                .filter(|name| view_shape.names(name))
                .collect(),
            cached: R::CACHED,
            secrets: R::SECRETS,
            changes_people: R::CHANGES_PEOPLE,
            tells_of_calls: R::TELLS_OF_CALLS,
            parameters: R::parameters(),
            extras,
            example: R::example(),
            example_view: R::example_view(),
            input_schema: SchemaGenerator::subschema_for::<R::Input>,
            view_schema: SchemaGenerator::subschema_for::<R::View>,
            standard: R::VERBS,
            of_one,
            input_shape,
            view_shape,
            prepare: |operations, business, (verb, record), bytes| {
                if verb == Verb::Delete {
                    return Ok(Arc::new(PreparedDelete::<R>(PhantomData)));
                }
                let check = |input| R::check(business, input);
                let read = |bytes: &[u8]| body::read(bytes, &operations.input_shape, &operations.view_shape, check);
                if verb == Verb::Upsert {
                    let external_id = record.ok_or(Error::NotFound)?;
                    let draft = read(&elsewhere::named(external_id, bytes)?)?;
                    return Ok(elsewhere::prepared::<R>(external_id, draft));
                }
                let draft = read(bytes)?;
                Ok(match verb {
                    Verb::Create => Arc::new(PreparedCreate::<R>(draft)),
                    _ => Arc::new(PreparedUpdate::<R>(draft)),
                })
            },
            list: |cx, query| match R::OUTLINE.filter(|outline| outline.suffices(query)) {
                Some(outline) => (outline.list)(cx, query),
                None => Box::pin(async move { Produced::page(query, &R::list(cx, query).await?) }),
            },
            get: |cx, id, query| match R::OUTLINE.filter(|outline| outline.suffices(query)) {
                Some(outline) => (outline.get)(cx, id, query),
                None => Box::pin(async move { shown_as(query, &R::get(cx, id).await?) }),
            },
        }
    }

    /// Whether one may be asked for although it was deleted.
    pub fn keeps_deleted(&self) -> bool {
        !self.of_one.is_empty()
    }

    /// Whether what it writes is answered with what would be posted, where it is rehearsed.
    pub fn is_rehearsed(&self) -> bool {
        is_rehearsed(self.scope, self.standard)
    }

    /// Whether a record of it is answered with this member.
    pub fn shows(&self, name: &str) -> bool {
        self.view_shape.names(name)
    }

    /// Everything that can be done with the resource.
    pub fn verbs(&self) -> impl Iterator<Item = Verb> {
        let upsert = Some(Verb::Upsert).filter(|_| self.upserts);
        self.standard.iter().copied().chain(upsert).chain((0..self.extras.len()).map(Verb::Extra))
    }

    pub fn extra(&self, verb: Verb) -> Option<&Extra> {
        match verb {
            Verb::Extra(place) => self.extras.get(place),
            Verb::List | Verb::Get | Verb::Create | Verb::Update | Verb::Upsert | Verb::Delete => None,
        }
    }

    pub fn method(&self, verb: Verb) -> Method {
        match (verb, self.extra(verb).map(|extra| &extra.does)) {
            (Verb::List | Verb::Get, _) | (Verb::Extra(_), Some(Does::Reads(_)) | None) => Method::Get,
            (Verb::Extra(_), Some(Does::Writes(writing))) => match writing.method {
                ActMethod::Post => Method::Post,
                ActMethod::Delete => Method::Delete,
            },
            (Verb::Create, _) => Method::Post,
            (Verb::Update | Verb::Upsert, _) => Method::Put,
            (Verb::Delete, _) => Method::Delete,
        }
    }

    /// What follows the collection's path: nothing, `/{id}`, `/{id}/post`, `/tree`.
    pub fn path(&self, verb: Verb) -> String {
        if verb == Verb::Upsert {
            return elsewhere::PATH.to_owned();
        }
        let record = if self.names_record(verb) { "/{id}" } else { "" };
        match self.extra(verb).map(|extra| extra.segment) {
            None | Some("") => record.to_owned(),
            Some(segment) => format!("{record}/{segment}"),
        }
    }

    pub fn action(&self, verb: Verb) -> Action {
        match verb {
            Verb::List | Verb::Get => Action::View,
            Verb::Create => Action::Create,
            // What it makes needs the right to make it as well.
            Verb::Update | Verb::Upsert => Action::Edit,
            Verb::Delete => Action::Delete,
            Verb::Extra(_) => self.extra(verb).map_or(Action::View, |extra| extra.action),
        }
    }

    /// The resource whose record a verb answers.
    pub fn answers(&self, verb: Verb) -> ResourceKey {
        self.extra(verb).and_then(|extra| extra.answers).unwrap_or(self.key)
    }

    /// The right that a verb needs.
    pub fn needs(&self, verb: Verb) -> (ResourceKey, Action) {
        (self.answers(verb), self.action(verb))
    }

    /// What a success is called.
    pub fn reply_kind(&self, verb: Verb) -> ReplyKind {
        match verb {
            Verb::List => ReplyKind::Listed,
            Verb::Get => ReplyKind::Found,
            Verb::Create => ReplyKind::Created,
            Verb::Update | Verb::Upsert => ReplyKind::Updated,
            Verb::Delete => ReplyKind::Deleted,
            Verb::Extra(_) => match self.extra(verb).map(|extra| &extra.does) {
                Some(Does::Writes(writing)) => writing.kind,
                Some(Does::Reads(_)) | None => ReplyKind::Listed,
            },
        }
    }

    /// Whether it names one record, by its identifier or by what it is called elsewhere.
    pub fn names_record(&self, verb: Verb) -> bool {
        match verb {
            Verb::Get | Verb::Update | Verb::Upsert | Verb::Delete => true,
            Verb::List | Verb::Create => false,
            Verb::Extra(_) => self.extra(verb).is_some_and(|extra| extra.on == On::Record),
        }
    }

    pub fn body_need(&self, verb: Verb) -> BodyNeed {
        match verb {
            Verb::Create | Verb::Update | Verb::Upsert => BodyNeed::Required,
            Verb::Extra(_) if self.method(verb) == Method::Post => BodyNeed::Optional,
            Verb::List | Verb::Get | Verb::Delete | Verb::Extra(_) => BodyNeed::None,
        }
    }

    pub fn writes(&self, verb: Verb) -> bool {
        self.method(verb) != Method::Get
    }

    /// `partiesList`: the same in both dialects, because clients are generated from it.
    pub fn operation_id(&self, verb: Verb) -> String {
        let name = match verb {
            Verb::List => "List",
            Verb::Get => "Get",
            Verb::Create => "Create",
            Verb::Update => "Update",
            Verb::Upsert => "Upsert",
            Verb::Delete => "Delete",
            Verb::Extra(_) => self.extra(verb).map_or("", |extra| extra.name),
        };
        format!("{}{name}", self.key.stem())
    }

    pub fn permission(&self, verb: Verb) -> String {
        let (key, action) = self.needs(verb);
        permission(key, action)
    }

    /// What the query of a read may say.
    pub fn offer(&self, verb: Verb) -> Offer<'_> {
        match verb {
            Verb::List => Offer {
                parameters: &self.parameters,
                paged: true,
                sorts: Some(self.about.sorts),
                dated: self.dated,
                by_key: self.by_key,
                in_time: self.in_time,
                shows: Some(&self.view_shape),
                summary: &self.summary,
                expands: &self.expands,
            },
            Verb::Get => Offer {
                parameters: self.of_one,
                in_time: self.in_time,
                shows: Some(&self.view_shape),
                summary: &self.summary,
                expands: &self.expands,
                ..Offer::default()
            },
            Verb::Extra(_) => match self.extra(verb).map(|extra| &extra.does) {
                Some(Does::Reads(reading)) => reading.offer(),
                Some(Does::Writes(_)) | None => Offer::default(),
            },
            Verb::Create | Verb::Update | Verb::Upsert | Verb::Delete => Offer::default(),
        }
    }

    /// `record` is what the path names.
    pub fn prepare(
        &self,
        (verb, record): (Verb, Option<&str>),
        business: Option<&Business>,
        bytes: &[u8],
    ) -> Result<Arc<dyn Prepared>> {
        match self.extra(verb).map(|extra| &extra.does) {
            Some(Does::Writes(writing)) => writing.prepare(business, bytes),
            Some(Does::Reads(_)) => Err(Error::internal("a read has nothing to prepare")),
            None => (self.prepare)(self, business, (verb, record), bytes),
        }
    }

    pub async fn list<'c>(&self, cx: &'c Cx<'c>, query: &'c ListQuery) -> Result<Produced> {
        (self.list)(cx, query).await
    }

    pub async fn get<'c>(&self, cx: &'c Cx<'c>, id: RecordId, query: &'c ListQuery) -> Result<Shown> {
        match (self.get)(cx, id, query).await {
            Err(Error::NotFound) if query.filter(DELETED_TOO[0].name) == Some(&FilterValue::Flag(true)) => {
                let mut deleted = changes::deleted(cx, self.key, id).await?.ok_or(Error::NotFound)?;
                if let Some(fields) = &query.fields {
                    fields.keep(&mut deleted.was);
                }
                let members = deleted.was.as_object_mut().ok_or_else(|| Error::internal("a record is an object"))?;
                members.insert(DELETED_AT.into(), json!(deleted.at));
                Ok(Shown { id, version: deleted.version, json: deleted.was.to_string() })
            }
            found => found,
        }
    }

    /// As what it may be answered, where its query asks for no other form.
    pub fn media(&self, verb: Verb) -> Vec<Media> {
        match self.extra(verb).map(|extra| &extra.does) {
            Some(Does::Reads(reading)) => {
                [reading.media].into_iter().chain(reading.awaited.iter().map(|_| Media::EventStream)).collect()
            }
            Some(Does::Writes(_)) | None => vec![Media::Json],
        }
    }

    /// How a read is answered as comma-separated values, where it can be asked for so.
    pub fn csv(&self, verb: Verb) -> Option<Csv> {
        match self.extra(verb).map(|extra| &extra.does) {
            Some(Does::Reads(reading)) => reading.csv,
            Some(Does::Writes(_)) | None => None,
        }
    }

    /// How a read is answered that comes in portions, because it always does, or was asked for as comma-separated values.
    pub fn portions(&self, verb: Verb, query: &ListQuery) -> Option<(Media, Begin)> {
        let Some(Does::Reads(reading)) = self.extra(verb).map(|extra| &extra.does) else { return None };
        let csv = self.csv(verb).filter(|_| query.is_csv());
        let csv = csv.map(|csv| (Media::Csv, csv.begin));
        csv.or_else(|| reading.portions.map(|begin| (reading.media, begin)))
    }

    /// How a read is waited for, where it can be.
    pub fn awaited(&self, verb: Verb) -> Option<Awaited> {
        match self.extra(verb).map(|extra| &extra.does) {
            Some(Does::Reads(reading)) => reading.awaited,
            Some(Does::Writes(_)) | None => None,
        }
    }

    /// What a read costs, as far as it can be said before it is made.
    pub fn weight(&self, verb: Verb) -> Weight {
        match self.extra(verb).map(|extra| &extra.does) {
            Some(Does::Reads(reading)) => reading.weight,
            Some(Does::Writes(_)) | None => Weight::Brief,
        }
    }

    /// Whether everybody who may ask for it asks the same: nothing can be said beside the company.
    pub fn is_asked_alike(&self, verb: Verb) -> bool {
        match self.extra(verb).map(|extra| &extra.does) {
            Some(Does::Reads(reading)) => reading.parameters.is_empty() && !reading.paged && !reading.in_time,
            Some(Does::Writes(_)) | None => false,
        }
    }

    pub async fn read_extra<'c>(
        &self,
        verb: Verb,
        cx: &'c Cx<'c>,
        id: Option<RecordId>,
        query: &'c ListQuery,
    ) -> Result<(Media, Produced)> {
        match self.extra(verb).map(|extra| &extra.does) {
            Some(Does::Reads(reading)) => {
                let produced = reading.read(cx, id, query).await?;
                Ok((reading.media, produced))
            }
            Some(Does::Writes(_)) | None => Err(Error::internal("this is not a read")),
        }
    }
}
