//! Resources, declared once: paths, permissions, documentation and the tests' matrices follow from that.

use crate::error::{FieldErrors, Result};
use crate::expand::ByIds;
use crate::extra::Extra;
use crate::ids::RecordId;
use crate::list::{ListQuery, Page, Parameter};
use crate::operation::Verb;
use crate::outline::Outline;
use books::access::Business;
use books::auth::password::NewPassword;
use books::cx::Cx;
use schema::key::ResourceKey;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::future::Future;

/// Where a resource's records live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Inside a company, which every request names.
    Business,
    /// The companies themselves: a record is its own scope.
    Installation,
    /// The installation, for system administrators who are logged in.
    Administration,
}

/// What the documentation says of a resource.
#[derive(Debug, Clone, Copy)]
pub struct About {
    /// "a party", for sentences.
    pub one: &'static str,
    /// "parties", for sentences.
    pub many: &'static str,
    /// What it is, in Markdown.
    pub description: &'static str,
    /// By which fields a list may be sorted; the first is the default.
    pub sorts: &'static [&'static str],
    /// In what `q` searches, as the documentation says it.
    pub searched: &'static str,
}

/// A record as it is answered: it knows what its `ETag` and `Location` are made of.
pub trait Record: Serialize + JsonSchema + Send + Sync {
    fn id(&self) -> RecordId;
    fn version(&self) -> i64;
}

/// For what has no records: nobody lists verdicts or reports, each is made when it is asked for.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NoRecord {}

impl Record for NoRecord {
    fn id(&self) -> RecordId {
        RecordId::default()
    }

    fn version(&self) -> i64 {
        1
    }
}

pub trait Resource: Send + Sync + 'static {
    const KEY: ResourceKey;
    const SCOPE: Scope;
    const ABOUT: About;
    /// What a client sends to create or replace a record.
    type Input: DeserializeOwned + JsonSchema + Send;
    /// The same, with every field checked.
    type Draft: Send + Sync + 'static;
    /// What a client gets.
    type View: Record;

    /// Which of the five verbs there are.
    const VERBS: &'static [Verb] = &Verb::STANDARD;
    /// Whether its figures can be asked for at an earlier point in time.
    const IN_TIME: bool = false;
    /// Whether a list of it can be walked along by `cursor`.
    const BY_KEY: bool = true;
    /// Whether its records change at times that are known, so that `updatedSince` can be asked for.
    const DATED: bool = true;
    /// What the columns of a row say of a record, which is what `view=summary` shows, where that can be asked for.
    const OUTLINE: Option<Outline> = None;
    /// Whether an answer stands as long as nothing changes in the company that it was asked in.
    const CACHED: bool = true;
    /// Members of its records that are shown once, to whoever asked for them, and never kept.
    const SECRETS: &'static [&'static str] = &[];
    /// How records of it are read that others name, where these may be asked for beside them.
    const BY_IDS: Option<ByIds> = None;
    /// Whether its writes may change people, which stands in the installation's log as well.
    const CHANGES_PEOPLE: bool = false;
    /// Whether it tells of calls: those that were only counted so far are written down before it is read.
    const TELLS_OF_CALLS: bool = false;

    /// Whether a new record is only planned in the lane, and written with the rest of its batch.
    fn plans(_draft: &Self::Draft) -> bool {
        false
    }

    /// The password that an account of somebody else begins with, where it makes one.
    fn first_password(_draft: &Self::Draft) -> Option<&NewPassword> {
        None
    }
    /// The filters of a list, beside those that every list has.
    fn parameters() -> Vec<Parameter>;
    /// What can be done beside the five verbs.
    fn extras() -> Vec<Extra> {
        Vec::new()
    }
    /// A body that creates a record on a fresh installation.
    fn example() -> Value;
    /// The record that this body makes, but for what the server fills in.
    fn example_view() -> Value;

    /// Every fault of the fields, in one pass and without the database.
    fn check(business: Option<&Business>, input: Self::Input) -> Result<Self::Draft, FieldErrors>;
    fn list(cx: &Cx<'_>, query: &ListQuery) -> impl Future<Output = Result<Page<Self::View>>> + Send;
    fn get(cx: &Cx<'_>, id: RecordId) -> impl Future<Output = Result<Self::View>> + Send;
    fn create(cx: &Cx<'_>, draft: &Self::Draft) -> impl Future<Output = Result<Self::View>> + Send;
    fn update(cx: &Cx<'_>, id: RecordId, draft: &Self::Draft) -> impl Future<Output = Result<Self::View>> + Send;
    fn delete(cx: &Cx<'_>, id: RecordId) -> impl Future<Output = Result<()>> + Send;
}
