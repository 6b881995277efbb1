//! What in an answer says nothing of its own, because something else in it says it already.

use crate::dialect::Dialect;
use crate::difference::{Difference, Kind};
use crate::wrapping::{below, place};

/// Says of each difference which other one of the same answer it follows from.
pub(crate) fn within(differences: &mut [Difference], sides: [&Dialect; 2]) {
    let causes: Vec<(String, Kind)> = differences.iter().map(|one| (one.path.clone(), one.kind)).collect();
    for difference in differences {
        let cause = causes.iter().find(|(path, kind)| {
            (path != &difference.path || kind != &difference.kind) && brings(path, *kind, difference, sides)
        });
        if let Some((path, _)) = cause {
            difference.follows = Some(path.clone());
        }
    }
}

/// Whether what stands at a path explains a difference.
fn brings(path: &str, kind: Kind, other: &Difference, sides: [&Dialect; 2]) -> bool {
    // Another status is another answer, to the last header, and another outcome.
    if kind == Kind::Status {
        return true;
    }
    if matches!(kind, Kind::Form | Kind::Document) {
        return false;
    }
    // What one side breaks beside the other it also breaks beside its own document.
    if matches!(other.kind, Kind::Document) {
        let neutral = neutral(&other.path, sides[usize::from(other.left.is_none())]);
        return is_at_or_below(path, &neutral) || is_at_or_below(&neutral, path);
    }
    // A record that is missing is missing from the number of records as well.
    let of_list = matches!(kind, Kind::OnlyLeft | Kind::OnlyRight).then(|| path.strip_suffix(']')).flatten();
    let list = of_list.and_then(|path| path.rsplit_once('[')).and_then(|(list, _)| list.strip_suffix("items"));
    list.is_some_and(|outer| other.path.strip_prefix(outer).is_some_and(|rest| rest.starts_with("pagination.")))
}

/// A place in a body as the comparison names it: `data.name` for `body.data.name` of the one dialect and `body.name` of
/// the other.
fn neutral(path: &str, dialect: &Dialect) -> String {
    let Some(rest) = path.strip_prefix("body") else { return path.to_owned() };
    let rest = rest.trim_start_matches('.');
    for (wrapping, name) in [(&dialect.wrapping.success, "data"), (&dialect.wrapping.failure, "errors")] {
        if let Some(outer) = place(wrapping, name)
            && let Some(inner) = rest.strip_prefix(outer.as_str())
            && (outer.is_empty() || inner.is_empty() || inner.starts_with(['.', '[']))
        {
            let inner = inner.trim_start_matches('.');
            return if inner.starts_with('[') { format!("{name}{inner}") } else { below(name, inner) };
        }
    }
    rest.to_owned()
}

fn is_at_or_below(outer: &str, path: &str) -> bool {
    path.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// A path without the places of elements: `data.lines[*].amount`.
pub fn pattern(path: &str) -> String {
    let mut pattern = String::new();
    for (count, part) in path.split('[').enumerate() {
        if count == 0 {
            pattern += part;
            continue;
        }
        match part.split_once(']') {
            Some((place, rest)) if place.bytes().all(|byte| byte.is_ascii_digit()) => {
                pattern += "[*]";
                pattern += rest;
            }
            _ => {
                pattern.push('[');
                pattern += part;
            }
        }
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::two;
    use serde_json::json;

    fn followed(differences: &[(&str, Kind, bool)]) -> Vec<Option<String>> {
        let (a, b) = two();
        let of = |(path, kind, on_left): &(&str, Kind, bool)| {
            let said = Some(json!("x"));
            let (left, right) = if *on_left { (said, None) } else { (None, said) };
            Difference::new(*path, *kind, left, right)
        };
        let mut differences: Vec<Difference> = differences.iter().map(of).collect();
        within(&mut differences, [&a, &b]);
        differences.into_iter().map(|one| one.follows).collect()
    }

    #[test]
    fn one_cause_in_an_answer_is_told_once() {
        let of = |path: &str| Some(path.to_owned());
        for (differences, expected) in [
            // A member that is missing is missing by the document of its side, in its dialect's place.
            (
                vec![("data.notes", Kind::OnlyLeft, true), ("body.notes", Kind::Document, false)],
                vec![None, of("data.notes")],
            ),
            (
                vec![("data.notes", Kind::OnlyRight, false), ("body.data.notes", Kind::Document, true)],
                vec![None, of("data.notes")],
            ),
            (
                vec![("data.lines[0].kind", Kind::Value, true), ("body.lines[0].kind", Kind::Document, false)],
                vec![None, of("data.lines[0].kind")],
            ),
            // What is elsewhere says something of its own.
            (vec![("data.note", Kind::OnlyLeft, true), ("body.notes", Kind::Document, false)], vec![None, None]),
            (
                vec![
                    ("status", Kind::Status, true),
                    ("data", Kind::Type, true),
                    ("headers.etag", Kind::OnlyLeft, true),
                ],
                vec![None, of("status"), of("status")],
            ),
            (
                vec![("data.items[3]", Kind::OnlyLeft, true), ("data.pagination.totalCount", Kind::Value, true)],
                vec![None, of("data.items[3]")],
            ),
            (
                vec![("data.items[3].name", Kind::OnlyLeft, true), ("data.pagination.totalCount", Kind::Value, true)],
                vec![None, None],
            ),
        ] {
            assert_eq!(followed(&differences), expected, "{differences:?}");
        }
    }

    #[test]
    fn places_do_not_matter_to_a_pattern() {
        for (path, expected) in [
            ("data.items[12].lines[0].amount", "data.items[*].lines[*].amount"),
            ("errors.lines[0].debit", "errors.lines[*].debit"),
            ("headers.etag", "headers.etag"),
            ("a[b]", "a[b]"),
            ("a[1", "a[1"),
        ] {
            assert_eq!(pattern(path), expected);
        }
    }
}
