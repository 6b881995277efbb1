//! An answer with the records that it names beside it: each once, in one question a resource.

use crate::error::{Error, Result};
use crate::resource::registry::registry;
use ::books::cx::Cx;
use kit::expand::{self, EXPANDED};
use kit::list::ListQuery;
use kit::operation::Verb;
use schema::rights::Action;
use serde_json::Value;
use std::slice;

/// The answer as it was, and beside it what was asked for. Whoever may not view that is told so, whether or not it is named.
pub(super) async fn expanded(cx: &Cx<'_>, query: &ListQuery, verb: Verb, text: String) -> Result<String> {
    if query.expand.is_empty() {
        return Ok(text);
    }
    let answer: Value = serde_json::from_str(&text).map_err(Error::internal)?;
    let records = match verb {
        Verb::List => {
            answer["items"].as_array().map(Vec::as_slice).ok_or_else(|| Error::internal("a page has items"))?
        }
        _ => slice::from_ref(&answer),
    };
    let mut lists = Vec::new();
    for resource in registry().iter().filter(|one| query.expand.iter().any(|path| path.of() == one.key)) {
        cx.require(resource.key, Action::View)?;
        let by_ids = resource.by_ids.ok_or_else(|| Error::internal("what is named is not read by its identifiers"))?;
        let ids = expand::named(&query.expand, resource.key, records)?;
        lists.push(format!("\"{}\":{}", resource.key.stem(), by_ids(cx, &ids).await?));
    }
    let members = text.strip_suffix('}').ok_or_else(|| Error::internal("an answer is an object"))?;
    Ok(format!("{members},\"{EXPANDED}\":{{{}}}}}", lists.join(",")))
}
