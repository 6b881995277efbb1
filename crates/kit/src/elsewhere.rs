//! Records by what they are called elsewhere: their `externalId`, which is another system's own.
//!
//! Owns: which resources are written so, what the path says of the body, and which record it is.

use crate::body::Shape;
use crate::error::{Error, FieldErrors, Result};
use crate::ids::RecordId;
use crate::json::strict;
use crate::list::{ListQuery, Offer, Parameter};
use crate::operation::{Done, Prepared, Verb, shown};
use crate::resource::{Record, Resource, Scope};
use books::cx::Cx;
use books::database::lane::BoxFuture;
use schema::rights::Action;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;

/// Below the collection. The `{id}` is the one elsewhere.
pub(crate) const PATH: &str = "/by-external-id/{id}";

const FIELD: &str = "externalId";

/// Whether its records have one, are found by it, and are made and replaced.
pub(crate) fn is_kept<R: Resource>(input: &Shape) -> bool {
    let is_written = [Verb::Create, Verb::Update].iter().all(|verb| R::VERBS.contains(verb));
    let is_found = R::parameters().iter().any(|parameter| parameter.name == FIELD);
    R::SCOPE == Scope::Business && is_written && is_found && input.inside(FIELD).is_ok()
}

/// The body, which says the same as the path where it says anything of it.
pub(crate) fn named<'b>(external_id: &str, bytes: &'b [u8]) -> Result<Cow<'b, [u8]>> {
    if external_id.trim() != external_id {
        return Err(Error::field(FIELD, "must not begin or end with a blank"));
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok(Cow::Borrowed(bytes)) };
    let (mut body, faults) = strict(text)?;
    let Some(members) = body.as_object_mut().filter(|_| faults.is_empty()) else {
        // Whoever reads it tells what is wrong with it.
        return Ok(Cow::Borrowed(bytes));
    };
    match members.get(FIELD) {
        None | Some(Value::Null) => drop(members.insert(FIELD.to_owned(), external_id.into())),
        Some(said) if said == external_id => return Ok(Cow::Borrowed(bytes)),
        Some(_) => return Err(FieldErrors::one(FIELD, "must be what the path says, or be left out").into()),
    }
    serde_json::to_vec(&body).map(Cow::Owned).map_err(Error::internal)
}

struct Upsert<R: Resource> {
    external_id: String,
    draft: R::Draft,
}

/// A write of the record that is called so elsewhere, whether or not it is there.
pub(crate) fn prepared<R: Resource>(external_id: &str, draft: R::Draft) -> Arc<dyn Prepared> {
    Arc::new(Upsert::<R> { external_id: external_id.to_owned(), draft })
}

impl<R: Resource> Prepared for Upsert<R> {
    fn run<'c>(&'c self, cx: &'c Cx<'c>, _: Option<RecordId>) -> BoxFuture<'c, Result<Done>> {
        Box::pin(async move {
            if let Some(id) = find::<R>(cx, &self.external_id).await? {
                cx.keep_places();
                return Ok(Done::Record(shown(&R::update(cx, id, &self.draft).await?)?));
            }
            cx.require(R::KEY, Action::Create)?;
            cx.check_absent()?;
            Ok(Done::Made(shown(&R::create(cx, &self.draft).await?)?))
        })
    }
}

/// The record that is called so elsewhere, if there is one.
pub(crate) async fn find<R: Resource>(cx: &Cx<'_>, external_id: &str) -> Result<Option<RecordId>> {
    let parameters: Vec<Parameter> = R::parameters();
    let offer = Offer { parameters: &parameters, paged: true, ..Offer::default() };
    let asked = [(FIELD, external_id), ("pageSize", "1")].map(|(name, text)| (name.to_owned(), text.to_owned()));
    let page = R::list(cx, &ListQuery::parse(&offer, &asked)?).await?;
    Ok(page.items.first().map(Record::id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_says_what_the_body_leaves_out() {
        let said =
            |body: &str| named("shop-1", body.as_bytes()).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let added = r#"{"creditLimit":10.50,"externalId":"shop-1"}"#;
        assert_eq!(said(r#"{"creditLimit":10.50}"#).ok().as_deref(), Some(added), "digits stay as they were");
        assert_eq!(said(r#"{"externalId":null}"#).ok().as_deref(), Some(r#"{"externalId":"shop-1"}"#));
        for unchanged in [r#"{"externalId": "shop-1"}"#, "[]", r#"{"name":"a","name":"b"}"#] {
            assert_eq!(said(unchanged).ok().as_deref(), Some(unchanged));
        }
        let other = said(r#"{"externalId":"shop-2"}"#).map_err(Error::into_fields);
        assert!(other.is_err_and(|faults| faults.iter().all(|(field, _)| field == FIELD)));
        assert!(named(" shop-1", b"{}").is_err());
        assert!(said("{").is_err());
    }
}
