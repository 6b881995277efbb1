//! What the documents show: one example of each record and each body, said with its schema.

use super::{EXAMPLE_ID, reference_name};
use indexmap::IndexMap;
use ledger_core::access::Action;
use ledger_core::resource::operation::ResourceOperations;
use schemars::Schema;
use serde_json::{Map, Value, json};

/// By the names of their schemas.
#[derive(Default)]
pub(super) struct Examples(IndexMap<String, Value>);

impl Examples {
    /// Keeps an example with its schema. Gives back what is to stand in its own place: of a schema without a name, or of one
    /// that has another already.
    pub(super) fn keep(&mut self, schema: &Schema, example: Value) -> Option<Value> {
        let name = reference_name(schema);
        if name.is_empty() {
            return Some(example);
        }
        let known = self.0.entry(name).or_insert_with(|| example.clone());
        Some(example).filter(|example| example != known)
    }

    /// Puts it into its schema.
    pub(super) fn show(&mut self, name: &str, schema: &mut Schema) {
        if let Some(example) = self.0.shift_remove(name) {
            schema.insert("examples".into(), json!([example]));
        }
    }
}

/// The record that the example body makes.
pub(super) fn record(resource: &ResourceOperations) -> Value {
    let mut record = Map::new();
    let keeping = json!({
        "id": EXAMPLE_ID,
        "version": 1,
        "createdAt": "2026-11-20T09:30:00.000000Z",
        "createdBy": "019a9f6e-6c00-7c55-8a77-1f3e5d7b9c03",
        "updatedAt": "2026-11-20T09:30:00.000000Z",
        "updatedBy": "019a9f6e-6c00-7c55-8a77-1f3e5d7b9c03",
    });
    // What is only read has no keeping of its own.
    let keeping = if resource.key.actions().contains(&Action::Create) { keeping } else { Value::Null };
    for part in [keeping, resource.example.clone(), resource.example_view.clone()] {
        if let Value::Object(members) = part {
            record.extend(members);
        }
    }
    // What is sent and never shown, such as a password.
    record.retain(|name, _| resource.shows(name));
    Value::Object(record)
}
