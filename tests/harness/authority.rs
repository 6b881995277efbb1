//! The documents as an authority: every answer that any suite gets from a server is held against what its document says.

use super::http::{Answer, Request};
use super::server::DIALECTS;
use super::twins::documented;
use compare::conformity;
use serde_json::Value;

/// Panics where an answer is not what the document of its operation says.
pub fn hold(request: &Request, answer: &Answer) {
    // Said before anybody knows which operation is meant.
    if answer.status == 431 {
        return;
    }
    for dialect in DIALECTS.map(documented) {
        let Some(rest) = request.path.strip_prefix(&dialect.base) else { continue };
        let path = rest.split(['?', '#']).next().unwrap_or_default();
        let Some((operation, _)) = dialect.find(&request.method, path) else { continue };
        // A dialect that is switched off knows none of its operations.
        if answer.status == 404 && !operation.responses.contains_key("404") {
            continue;
        }
        let faults = conformity::faults_of(dialect, operation, &request.path, &answer.clone().into());
        let (method, path, status) = (&request.method, &request.path, answer.status);
        assert!(faults.is_empty(), "{method} {path} is answered {status}: {faults:#?}\n{}", answer.text);
    }
}

/// What of a value a schema of a document does not allow.
pub fn faults(document: &Value, schema: &Value, value: &Value) -> Vec<String> {
    let schemas = document["components"]["schemas"].as_object().expect("schemas");
    conformity::faults(schemas, schema, value).into_iter().map(|(place, why)| format!("{place}: {why}")).collect()
}
