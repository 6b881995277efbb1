//! What several operations came to, each as its dialect would have answered it alone.

use super::{message, status_of};
use crate::dialect::Dialect;
use crate::failure::Failure;
use ledger_core::error::FieldErrors;
use ledger_core::ledger::Reply;
use ledger_core::resource::operation::{CameTo, Failed, Part};
use serde_json::Value;
use std::borrow::Cow;

/// What a success is about, as JSON.
pub(super) fn payload<D: Dialect>(reply: &Reply) -> Cow<'_, str> {
    match &reply.several {
        None => Cow::Borrowed(&reply.json),
        Some(parts) => {
            let results: Vec<String> = parts.iter().map(result::<D>).collect();
            Cow::Owned(format!(r#"{{"results":[{}]}}"#, results.join(",")))
        }
    }
}

fn result<D: Dialect>(part: &Part) -> String {
    let (status, code, body) = match &part.came_to {
        CameTo::Done { kind, json } => (status_of(*kind), Value::Null, D::success(message(*kind), json)),
        CameTo::Failed(failed) => {
            let failure = failure(failed);
            (failure.status, failure.code.as_str().into(), D::failure(&failure))
        }
    };
    let id = part.id.as_deref().map_or(Value::Null, Value::from);
    // The bodies are JSON already, to the last digit of what they say.
    format!(r#"{{"id":{id},"status":{},"code":{code},"body":{body}}}"#, status.as_u16())
}

fn failure(failed: &Failed) -> Failure {
    let mut errors = FieldErrors::default();
    for (field, messages) in &failed.errors {
        for message in messages {
            errors.add(field.as_str(), message.as_str());
        }
    }
    Failure { errors, ..Failure::new(failed.code(), failed.title.as_str()) }
}
