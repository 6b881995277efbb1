//! The registry: everything that is done for each resource starts here.

use crate::resource::batch::Batch;
use crate::resource::copying;
use crate::resource::verification::Verification;
use kit::operation::{ResourceOperations, Verb};
use kit::resource::Resource;
use std::sync::LazyLock;

static REGISTRY: LazyLock<Vec<ResourceOperations>> = LazyLock::new(|| {
    let mut rooms = masters::operations();
    rooms.extend(documents::operations());
    rooms.extend(reports::operations());
    for room in &mut rooms {
        room.extras.extend(copying::extras_of(room.key));
    }
    rooms.push(ResourceOperations::of::<Verification>());
    rooms.push(ResourceOperations::of::<Batch>());
    rooms.sort_by_key(|one| one.key);
    rooms
});

/// Every resource, in the order of [`schema::key::ResourceKey::ALL`].
pub fn registry() -> &'static [ResourceOperations] {
    &REGISTRY
}

/// What can be done with a resource.
pub fn operations<R: Resource>() -> &'static ResourceOperations {
    &REGISTRY[R::KEY as usize]
}

/// The resource whose record a verb answers.
pub fn answering(resource: &ResourceOperations, verb: Verb) -> &'static ResourceOperations {
    &REGISTRY[resource.answers(verb) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use kit::list::Reads;
    use kit::operation::Verb;
    use schema::key::ResourceKey;

    #[test]
    fn every_key_is_in_the_registry_once() {
        let keys: Vec<_> = registry().iter().map(|operations| operations.key).collect();
        assert_eq!(keys, ResourceKey::ALL);
    }

    /// A party that is asked for may have become part of another: who reads it as any record asks it of nobody.
    #[test]
    fn what_asks_for_a_party_follows_what_it_became() {
        let mut by_party = 0;
        for operations in registry() {
            for verb in operations.verbs() {
                for parameter in operations.offer(verb).parameters {
                    let names_party = parameter.name.to_ascii_lowercase().contains("party");
                    assert_eq!(parameter.reads == Reads::Party, names_party, "{:?} {}", operations.key, parameter.name);
                    by_party += usize::from(names_party);
                }
            }
        }
        assert!(by_party > 15, "{by_party}");
    }

    #[test]
    fn every_example_passes_its_own_checks() {
        for operations in registry().iter().filter(|operations| operations.verbs().any(|verb| verb == Verb::Create)) {
            let body = operations.example.to_string();
            if let Err(error) = operations.prepare((Verb::Create, None), None, body.as_bytes()) {
                panic!("{:?}: {error:?}", operations.key);
            }
        }
    }

    #[test]
    fn an_empty_body_names_every_field_that_is_missing() {
        let missing = |operations: &ResourceOperations| match operations.prepare((Verb::Create, None), None, b"{}") {
            Err(Error::Validation(faults)) => faults.iter().map(|(field, _)| field.clone()).collect::<Vec<_>>(),
            _ => Vec::new(),
        };
        let creatable = || registry().iter().filter(|operations| operations.verbs().any(|verb| verb == Verb::Create));
        for (operations, fields) in creatable().zip([
            vec!["baseCurrency", "name"],
            vec!["isCustomer", "isSupplier", "name"],
            vec!["name", "type"],
            vec!["code", "name", "type"],
            vec!["code", "components", "name"],
            vec!["days", "name"],
            vec!["date", "lines", "partyId"],
            vec!["date", "lines", "partyId"],
            vec!["date", "lines", "partyId"],
            vec!["date", "lines", "partyId"],
            vec!["date", "lines", "partyId"],
            vec!["date", "lines", "partyId"],
            vec!["date", "lines", "partyId"],
            vec!["date", "lines", "partyId"],
            vec!["accountId", "amount", "date"],
            vec!["accountId", "amount", "date"],
            vec!["amount", "sourceId", "targetId"],
            vec!["date", "lines"],
            vec!["date"],
            vec!["date", "lines"],
            vec!["amount", "date", "fromAccountId", "toAccountId"],
            vec!["name", "pattern", "type"],
            vec!["end", "name", "start"],
            vec![],
            vec!["currency", "date", "rate"],
            vec!["displayName", "email"],
            vec!["grants", "name"],
            vec!["types", "url"],
            vec!["name"],
        ]) {
            let mut found = missing(operations);
            found.sort();
            assert_eq!(found, fields, "{:?}", operations.key);
        }
        assert_eq!(creatable().count(), 29);
    }
}
