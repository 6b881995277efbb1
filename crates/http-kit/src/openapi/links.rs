//! Where one can go from an answer: what is made can be read, replaced and deleted.

use crate::dialect::{CompanyIn, Dialect};
use aide::openapi::{Link, LinkOperation, ReferenceOr};
use indexmap::IndexMap;
use ledger_core::resource::Scope;
use ledger_core::resource::operation::{ResourceOperations, Verb};
use serde_json::Value;

/// From the answer that tells of a new record. `named` is what the document calls an operation.
pub(super) fn of_new<D: Dialect>(
    resource: &ResourceOperations,
    named: impl Fn(String) -> String,
) -> IndexMap<String, ReferenceOr<Link>> {
    let id = Value::from(format!("$response.body#{}/id", inside::<D>()));
    let company = Some(Value::from("$request.path.businessId"));
    let company = company.filter(|_| resource.scope == Scope::Business && D::COMPANY_IN == CompanyIn::Path);
    let parameters: IndexMap<String, Value> =
        company.map(|company| ("businessId".to_owned(), company)).into_iter().chain([("id".to_owned(), id)]).collect();
    let link = |(name, verb): (&str, Verb)| {
        let link = Link {
            description: None,
            operation: LinkOperation::OperationId(named(resource.operation_id(verb))),
            request_body: None,
            parameters: parameters.clone(),
            server: None,
            extensions: IndexMap::new(),
        };
        (name.to_owned(), ReferenceOr::Item(link))
    };
    let all = [("get", Verb::Get), ("update", Verb::Update), ("delete", Verb::Delete)];
    all.into_iter().filter(|(_, verb)| resource.verbs().any(|known| known == *verb)).map(link).collect()
}

/// Where in the body of a success the record is.
fn inside<D: Dialect>() -> String {
    let wrapping = D::wrapping();
    let mut members = wrapping["success"].as_object().into_iter().flatten();
    members.find(|(_, said)| *said == "$data").map_or_else(String::new, |(name, _)| format!("/{name}"))
}
