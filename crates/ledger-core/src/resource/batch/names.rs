//! Which operations a batch does, by the names that the documents of both dialects give them.

use crate::resource::ResourceKey;
use crate::resource::registry::registry;
use kit::operation::{ResourceOperations, Verb};
use kit::resource::Scope;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

pub(super) type Named = (&'static ResourceOperations, Verb);

static NAMED: LazyLock<HashMap<String, Named>> = LazyLock::new(|| {
    let all = registry().iter().flat_map(|resource| resource.verbs().map(move |verb| (resource, verb)));
    all.map(|(resource, verb)| (resource.operation_id(verb), (resource, verb))).collect()
});

/// The name of an operation that a batch does.
#[derive(Deserialize, Default)]
#[serde(transparent)]
pub struct OperationName(pub(super) String);

impl JsonSchema for OperationName {
    fn schema_name() -> Cow<'static, str> {
        "BatchOperationName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let all = registry().iter().flat_map(|resource| resource.verbs().map(move |verb| (resource, verb)));
        let done = all.filter(|(resource, verb)| refused(resource, *verb).is_none());
        let names: Vec<String> = done.map(|(resource, verb)| resource.operation_id(verb)).collect();
        let about = "An operation that a batch does, as the documents of one dialect name it.";
        json_schema!({"type": "string", "description": about, "enum": names})
    }
}

/// The operation of a name; or why there is none in a batch.
pub(super) fn find(name: &str) -> Result<Named, String> {
    let Some(&(resource, verb)) = NAMED.get(name) else {
        // The document of both dialects puts a letter behind each name.
        let plain =
            name.strip_suffix(|letter: char| letter.is_ascii_uppercase()).filter(|name| NAMED.contains_key(*name));
        return Err(match plain {
            Some(plain) => format!("is named without the letter of a dialect: {plain}"),
            None => "is no known operation; the documents name them, such as partiesCreate".into(),
        });
    };
    refused(resource, verb).map_or(Ok((resource, verb)), |why| Err(why.to_owned()))
}

/// Why a batch does not do it.
fn refused(resource: &ResourceOperations, verb: Verb) -> Option<&'static str> {
    if !resource.writes(verb) {
        // Everybody's writes wait while a batch runs.
        Some("only reads, and a batch writes; ask for it by itself")
    } else if resource.key == ResourceKey::Batch {
        Some("is a batch, and a batch holds no other")
    } else if resource.scope != Scope::Business {
        Some("is not of one company's books; ask for it by itself")
    } else if resource.changes_people || !resource.secrets.is_empty() {
        Some("changes who may do what, or shows what is shown once; ask for it by itself")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_in_a_batch_is_known_by_its_name() {
        for name in ["partiesCreate", "salesInvoicesPost", "locksCreate", "allocationsDelete"] {
            assert!(find(name).is_ok(), "{name}");
        }
        for (name, why) in [
            ("partiesList", "only reads"),
            ("reportsTrialBalance", "only reads"),
            ("businessesUpdate", "one company's books"),
            ("usersCreate", "who may do what"),
            ("apiKeysCreate", "who may do what"),
            ("permissionsDelete", "who may do what"),
            ("batchRun", "holds no other"),
            ("partiesCreateA", "without the letter of a dialect: partiesCreate"),
            ("createParty", "no known operation"),
            ("", "no known operation"),
        ] {
            assert!(find(name).is_err_and(|said| said.contains(why)), "{name}");
        }
    }
}
