//! The registry as a table of operations: types end here, so that adapters are loops and not generics.

use crate::access::{Action, Business, permission};
use crate::cx::Cx;
use crate::database::lane::BoxFuture;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::resource::body::{self, Shape};
use crate::resource::list::{ListQuery, Pagination, Parameter, QueryPairs};
use crate::resource::{About, Record, Resource, ResourceKey, Scope, Visitor, each_resource};
use schemars::{Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::Value;
use std::marker::PhantomData;
use std::sync::{Arc, LazyLock};

/// The five things that can be done with every resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verb {
    List,
    Get,
    Create,
    Update,
    Delete,
}

impl Verb {
    pub const ALL: [Self; 5] = [Self::List, Self::Get, Self::Create, Self::Update, Self::Delete];

    pub const fn action(self) -> Action {
        match self {
            Self::List | Self::Get => Action::View,
            Self::Create => Action::Create,
            Self::Update => Action::Edit,
            Self::Delete => Action::Delete,
        }
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::List => "List",
            Self::Get => "Get",
            Self::Create => "Create",
            Self::Update => "Update",
            Self::Delete => "Delete",
        }
    }

    /// Whether it names one record.
    pub const fn names_record(self) -> bool {
        matches!(self, Self::Get | Self::Update | Self::Delete)
    }

    pub const fn has_body(self) -> bool {
        matches!(self, Self::Create | Self::Update)
    }

    pub const fn writes(self) -> bool {
        matches!(self, Self::Create | Self::Update | Self::Delete)
    }
}

/// A record, already written as JSON.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) id: RecordId,
    pub(crate) version: i64,
    pub(crate) json: String,
}

/// A body that passed its checks and waits to be written.
pub(crate) trait Prepared: Send + Sync {
    fn create<'c>(&'c self, cx: &'c Cx<'c>) -> BoxFuture<'c, Result<Shown>>;
    fn update<'c>(&'c self, cx: &'c Cx<'c>, id: RecordId) -> BoxFuture<'c, Result<Shown>>;
}

struct PreparedDraft<R: Resource>(R::Draft);

impl<R: Resource> Prepared for PreparedDraft<R> {
    fn create<'c>(&'c self, cx: &'c Cx<'c>) -> BoxFuture<'c, Result<Shown>> {
        Box::pin(async move { shown(&R::create(cx, &self.0).await?) })
    }

    fn update<'c>(&'c self, cx: &'c Cx<'c>, id: RecordId) -> BoxFuture<'c, Result<Shown>> {
        Box::pin(async move { shown(&R::update(cx, id, &self.0).await?) })
    }
}

fn shown<V: Record>(view: &V) -> Result<Shown> {
    let json = serde_json::to_string(view).map_err(Error::internal)?;
    Ok(Shown { id: view.id(), version: view.version(), json })
}

/// A page of records as JSON, and where it stands.
#[derive(Debug)]
pub(crate) struct Listed {
    pub(crate) pagination: Pagination,
    pub(crate) json: String,
}

type Prepare = fn(&ResourceOperations, Option<&Business>, &[u8]) -> Result<Arc<dyn Prepared>>;

/// One resource, erased.
pub struct ResourceOperations {
    pub key: ResourceKey,
    pub scope: Scope,
    pub about: About,
    pub parameters: Vec<Parameter>,
    pub example: Value,
    pub example_view: Value,
    pub input_schema: fn(&mut SchemaGenerator) -> Schema,
    pub view_schema: fn(&mut SchemaGenerator) -> Schema,
    input_shape: Shape,
    view_shape: Shape,
    prepare: Prepare,
    list: for<'c> fn(&'c Cx<'c>, &'c ListQuery) -> BoxFuture<'c, Result<Listed>>,
    get: for<'c> fn(&'c Cx<'c>, RecordId) -> BoxFuture<'c, Result<Shown>>,
    delete: for<'c> fn(&'c Cx<'c>, RecordId) -> BoxFuture<'c, Result<()>>,
}

impl ResourceOperations {
    fn of<R: Resource>() -> Self {
        Self {
            key: R::KEY,
            scope: R::SCOPE,
            about: R::ABOUT,
            parameters: R::parameters(),
            example: R::example(),
            example_view: R::example_view(),
            input_schema: SchemaGenerator::subschema_for::<R::Input>,
            view_schema: SchemaGenerator::subschema_for::<R::View>,
            input_shape: Shape::of_input::<R::Input>(),
            view_shape: Shape::of_record::<R::View>(),
            prepare: |operations, business, bytes| {
                let check = |input| R::check(business, input);
                let draft = body::read::<R::Input, _>(bytes, &operations.input_shape, &operations.view_shape, check)?;
                Ok(Arc::new(PreparedDraft::<R>(draft)))
            },
            list: |cx, query| Box::pin(async move { listed(query, &R::list(cx, query).await?) }),
            get: |cx, id| Box::pin(async move { shown(&R::get(cx, id).await?) }),
            delete: |cx, id| Box::pin(R::delete(cx, id)),
        }
    }

    /// `partiesList`: the same in both dialects, because clients are generated from it.
    pub fn operation_id(&self, verb: Verb) -> String {
        format!("{}{}", self.key.stem(), verb.name())
    }

    pub fn permission(&self, verb: Verb) -> String {
        permission(self.key, verb.action())
    }

    pub(crate) fn prepare(&self, business: Option<&Business>, bytes: &[u8]) -> Result<Arc<dyn Prepared>> {
        (self.prepare)(self, business, bytes)
    }

    pub(crate) fn list_query(&self, pairs: &QueryPairs) -> Result<ListQuery> {
        Ok(ListQuery::parse(&self.about, &self.parameters, pairs)?)
    }

    pub(crate) async fn list<'c>(&self, cx: &'c Cx<'c>, query: &'c ListQuery) -> Result<Listed> {
        (self.list)(cx, query).await
    }

    pub(crate) async fn get<'c>(&self, cx: &'c Cx<'c>, id: RecordId) -> Result<Shown> {
        (self.get)(cx, id).await
    }

    pub(crate) async fn delete<'c>(&self, cx: &'c Cx<'c>, id: RecordId) -> Result<()> {
        (self.delete)(cx, id).await
    }
}

fn listed<V: Serialize>(query: &ListQuery, page: &crate::resource::list::Page<V>) -> Result<Listed> {
    #[derive(Serialize)]
    struct Body<'p, V> {
        items: &'p [V],
        pagination: Pagination,
    }
    let pagination = Pagination::of(query, page.total);
    let json = serde_json::to_string(&Body { items: &page.items, pagination }).map_err(Error::internal)?;
    Ok(Listed { pagination, json })
}

struct Collect(Vec<ResourceOperations>);

impl Visitor for Collect {
    fn visit<R: Resource>(mut self) -> Self {
        self.0.push(ResourceOperations::of::<R>());
        self
    }
}

static REGISTRY: LazyLock<Vec<ResourceOperations>> = LazyLock::new(|| each_resource(Collect(Vec::new())).0);

/// Every resource, in the order of the registry.
pub fn registry() -> &'static [ResourceOperations] {
    &REGISTRY
}

/// One resource of the registry.
pub fn operations<R: Resource>() -> &'static ResourceOperations {
    struct Position<W>(usize, Option<usize>, PhantomData<W>);

    impl<W: Resource> Visitor for Position<W> {
        fn visit<R: Resource>(self) -> Self {
            let found = if R::KEY == W::KEY { Some(self.0) } else { self.1 };
            Self(self.0 + 1, found, PhantomData)
        }
    }

    let position = each_resource(Position::<R>(0, None, PhantomData)).1.unwrap_or_default();
    &REGISTRY[position]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_in_the_registry_once() {
        let keys: Vec<_> = registry().iter().map(|operations| operations.key).collect();
        assert_eq!(keys, ResourceKey::ALL);
    }

    #[test]
    fn every_example_passes_its_own_checks() {
        for operations in registry() {
            let body = operations.example.to_string();
            if let Err(error) = operations.prepare(None, body.as_bytes()) {
                panic!("{:?}: {error:?}", operations.key);
            }
        }
    }

    #[test]
    fn an_empty_body_names_every_field_that_is_missing() {
        let missing = |operations: &ResourceOperations| match operations.prepare(None, b"{}") {
            Err(Error::Validation(faults)) => faults.iter().map(|(field, _)| field.clone()).collect::<Vec<_>>(),
            _ => Vec::new(),
        };
        for (operations, fields) in
            registry().iter().zip([vec!["baseCurrency", "name"], vec!["isCustomer", "isSupplier", "name"]])
        {
            let mut found = missing(operations);
            found.sort();
            assert_eq!(found, fields);
        }
    }
}
