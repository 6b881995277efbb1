//! For tests beside the checks of resources: what a check finds in a body.

use crate::error::FieldErrors;
use crate::resource::Resource;
use ::books::access::Business;
use serde_json::Value;

/// What the check of a resource makes of its example once some of it is changed, by the pointers of members; a member that
/// is not there is put in. Where a rule asks the company, it asks the one that is given.
///
/// # Panics
/// Where the change names no place, or the body is none at all.
#[allow(clippy::panic, reason = "only tests call it")]
pub fn checked<R: Resource>(business: Option<&Business>, changes: &[(&str, Value)]) -> Result<R::Draft, FieldErrors> {
    let mut body = R::example();
    for (pointer, value) in changes {
        let Some((outer, name)) = pointer.rsplit_once('/') else { panic!("{pointer} is no pointer") };
        match body.pointer_mut(outer) {
            Some(Value::Object(members)) => drop(members.insert(name.to_owned(), value.clone())),
            other => panic!("{pointer} is in no object: {other:?}"),
        }
    }
    match serde_json::from_value(body) {
        Ok(input) => R::check(business, input),
        Err(error) => panic!("{changes:?}: {error}"),
    }
}

/// What the check of a resource finds in its changed example. Each fault is its field and its words.
///
/// # Panics
/// As [`checked`].
pub fn faults_of<R: Resource>(changes: &[(&str, Value)]) -> Vec<String> {
    match checked::<R>(None, changes) {
        Ok(_) => Vec::new(),
        Err(faults) => told(&faults),
    }
}

/// Each fault, as its field and its words.
pub fn told(faults: &FieldErrors) -> Vec<String> {
    faults.iter().map(|(field, said)| format!("{field}: {}", said.join("; "))).collect()
}

/// What is changed, and how the faults of it begin.
pub type Case<'c> = (&'c [(&'c str, Value)], &'c [&'c str]);

/// Holds a table of changes against the faults that are found, each as it begins.
///
/// # Panics
/// Where others are found.
#[allow(clippy::panic, reason = "only tests call it")]
pub fn hold<R: Resource>(cases: &[Case<'_>]) {
    assert!(faults_of::<R>(&[]).is_empty(), "the example of {} is faulty", R::ABOUT.many);
    for (changes, expected) in cases {
        let found = faults_of::<R>(changes);
        let as_expected =
            found.len() == expected.len() && found.iter().zip(*expected).all(|(one, begin)| one.starts_with(begin));
        assert!(as_expected, "{changes:?}: {found:?} instead of {expected:?}");
    }
}
