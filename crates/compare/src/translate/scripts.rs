//! What is done with answers beside a request: scripts of collections and of files of requests, and names of what an earlier
//! request answered.

use super::readers::{Places, Read, Spot, Step};
use std::collections::HashMap;
use std::ops::Range;

/// How a script has an answer as an object; the longer ones first.
const OBJECTS: [&str; 4] = ["JSON.parse(pm.response.text())", "JSON.parse(responseBody)", "response.body", "json()"];
/// ... and how it has it otherwise.
const OTHERWISE: [&str; 9] = [
    "responseBody",
    "response.text()",
    "response.parsedBody",
    "response.stream",
    "jsonBody(",
    "jsonSchema(",
    "have.body(",
    "xml2Json",
    "jsonPath(",
];

/// The lines of a script. What reads an answer in another way than by a path is said.
pub(super) fn read(places: &Places, lines: &[String]) -> Vec<Read> {
    // Postman's own examples call it so.
    let mut known: HashMap<String, Spot> = HashMap::from([("jsonData".to_owned(), places.answer())]);
    let goes_on =
        |place: usize| lines.get(place + 1).is_some_and(|next: &String| next.trim_start().starts_with(['.', '[', '?']));
    lines.iter().enumerate().map(|(place, line)| line_of(places, line, goes_on(place), &mut known)).collect()
}

fn is_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '$'
}

fn line_of(places: &Places, line: &str, goes_on: bool, known: &mut HashMap<String, Spot>) -> Read {
    let letters: Vec<char> = line.chars().collect();
    let mut read = Read::default();
    if line.trim_start().starts_with("//") {
        return read;
    }
    let follows = |at: usize, words: &str| {
        words.chars().enumerate().all(|(place, letter)| letters.get(at + place) == Some(&letter))
    };
    let mut quote: Option<char> = None;
    let mut at = 0;
    while at < letters.len() {
        let letter = letters[at];
        let before = at.checked_sub(1).map(|before| letters[before]);
        match quote {
            Some(_) if letter == '\\' => {
                at += 2;
                continue;
            }
            Some(open) => {
                if letter == open {
                    quote = None;
                }
                at += 1;
                continue;
            }
            None if matches!(letter, '"' | '\'') => {
                quote = Some(letter);
                at += 1;
                continue;
            }
            None => {}
        }
        if before.is_some_and(is_name) {
            at += 1;
            continue;
        }
        if let Some(object) = OBJECTS.into_iter().find(|object| follows(at, object)) {
            let end = at + object.chars().count();
            if !letters.get(end).copied().is_some_and(is_name) {
                at = path(places, &letters, (at, end), (places.answer(), goes_on), known, &mut read);
                continue;
            }
        }
        if let Some(other) = OTHERWISE.into_iter().find(|other| follows(at, other)) {
            if !places.answer().is_same() {
                let other = other.trim_end_matches('(');
                read.warnings
                    .push(format!("the script reads the answer by `{other}`: look at what is around the record there"));
            }
            at += other.chars().count();
            continue;
        }
        if before != Some('.') && is_name(letter) {
            let length = letters[at..].iter().take_while(|letter| is_name(**letter)).count();
            let name: String = letters[at..at + length].iter().collect();
            // Where it gets its value it is none yet.
            let is_given = letters[at + length..].iter().collect::<String>().trim_start().starts_with('=')
                && !letters[at + length..].iter().collect::<String>().trim_start().starts_with("==");
            let is_key = letters.get(at + length) == Some(&':');
            match known.get(&name) {
                Some(spot) if !is_given && !is_key => {
                    let spot = *spot;
                    at = path(places, &letters, (at, at + length), (spot, goes_on), known, &mut read);
                }
                _ => at += length,
            }
            continue;
        }
        at += 1;
    }
    read
}

/// The steps of a path, one by one: where it leads, and where it ends.
fn followed(
    places: &Places,
    letters: &[char],
    (mut spot, mut at): (Spot, usize),
    is_beside_number: impl Fn(&str) -> bool,
    read: &mut Read,
) -> (Spot, usize) {
    // What leads nowhere stays as it was.
    let kept = read.changes.len();
    while let Some(step) = step_at(letters, at) {
        let rest: String = letters[step.to..].iter().collect();
        let step_is = step.name.as_deref().map_or(Step::Element, Step::Name);
        let stepped = places.step(spot, step_is, is_beside_number(&rest));
        if let Some(put) = &stepped.put {
            read.changes.push((at..at + 1, format!(".{put}{}", letters[at])));
        }
        if stepped.drop {
            read.changes.push((at..step.to, String::new()));
        }
        let leads_nowhere = stepped.warning.is_some() && stepped.rename.is_none();
        if let Some(new) = stepped.rename {
            read.changes.push((step.named, new));
        }
        if leads_nowhere {
            read.changes.truncate(kept);
        }
        read.warnings.extend(stepped.warning);
        spot = stepped.spot;
        at = step.to;
    }
    (spot, at)
}

/// A path from an answer on. Where it ends.
fn path(
    places: &Places,
    letters: &[char],
    (begun, from): (usize, usize),
    (spot, goes_on): (Spot, bool),
    known: &mut HashMap<String, Spot>,
    read: &mut Read,
) -> usize {
    let (spot, at) = followed(places, letters, (spot, from), is_beside_number, read);
    if spot.is_same() {
        return at;
    }
    let rest: String = letters[at..].iter().collect();
    let rest = rest.trim();
    match given_to(&letters[..begun]) {
        // What goes on on the next line is not followed.
        Some(name) if rest.is_empty() && !goes_on || rest.starts_with(';') => {
            known.insert(name, spot);
        }
        _ => {
            let shown: String = letters[begun..at].iter().collect();
            read.warnings.extend(places.whole(spot, &shown));
        }
    }
    at
}

struct Found {
    name: Option<String>,
    named: Range<usize>,
    to: usize,
}

/// The step that is at a place: `.name`, `?.name`, `["name"]`, `[0]`.
fn step_at(letters: &[char], from: usize) -> Option<Found> {
    let at = from + usize::from(letters.get(from) == Some(&'?') && letters.get(from + 1) == Some(&'.'));
    let next = letters.get(at + 1).copied();
    match letters.get(at)? {
        '.' if next.is_some_and(is_name) => {
            let length = letters[at + 1..].iter().take_while(|letter| is_name(**letter)).count();
            let named = at + 1..at + 1 + length;
            Some(Found { name: Some(letters[named.clone()].iter().collect()), to: named.end, named })
        }
        '.' if at > from && next == Some('[') => element(letters, at + 1),
        '[' => element(letters, at),
        _ => None,
    }
}

fn element(letters: &[char], open: usize) -> Option<Found> {
    let quote = letters.get(open + 1).copied();
    if let Some(quote) = quote.filter(|quote| matches!(quote, '"' | '\'')) {
        let length = letters[open + 2..].iter().take_while(|letter| **letter != quote).count();
        let named = open + 2..open + 2 + length;
        let is_closed = letters.get(named.end + 1) == Some(&']');
        return is_closed.then(|| Found {
            name: Some(letters[named.clone()].iter().collect()),
            to: named.end + 2,
            named,
        });
    }
    let length = letters[open..].iter().position(|letter| *letter == ']')?;
    Some(Found { name: None, named: 0..0, to: open + length + 1 })
}

/// Whether what is read is held beside a number, as a status is.
fn is_beside_number(rest: &str) -> bool {
    let rest = rest.trim_start();
    let is_digit = |text: &str| text.trim_start().starts_with(|letter: char| letter.is_ascii_digit());
    let operators = ["===", "!==", "==", "!=", "<=", ">=", "<", ">"];
    let compared = operators.iter().find_map(|operator| rest.strip_prefix(operator)).is_some_and(is_digit);
    let expected = rest.find("eq").and_then(|at| rest[at..].split_once('(')).is_some_and(|(_, value)| is_digit(value));
    compared || rest.starts_with(')') && expected
}

/// The name that something is given to which stands behind these letters.
fn given_to(before: &[char]) -> Option<String> {
    let before: String = before.iter().collect();
    let object = before.trim_end_matches(|letter: char| is_name(letter) || letter == '.');
    let object = object.trim_end();
    let object = object.strip_suffix("await").unwrap_or(object).trim_end();
    let to = object.strip_suffix('=')?.trim_end();
    let length = to.chars().rev().take_while(|letter| is_name(*letter)).count();
    let (rest, name) = to.split_at(to.char_indices().rev().nth(length.checked_sub(1)?)?.0);
    let declared = ["const", "let", "var", ";", "{", ""].iter().any(|end| rest.trim_end().ends_with(end));
    (declared && !rest.ends_with('.')).then(|| name.to_owned())
}

/// What a text calls by the name of an earlier request: `{{name.response.body.$.path}}`. `places` are those of the request
/// with a name; a name that is none of a request is said, unless its request stays as it is.
pub(super) fn references<'p>(
    text: &str,
    places: &dyn Fn(&str) -> Option<Option<&'p Places>>,
) -> (String, Vec<(usize, String)>) {
    let (mut edited, mut told) = (String::with_capacity(text.len()), Vec::new());
    let mut at = 0;
    while let Some(found) = text[at..].find("{{") {
        let from = at + found;
        let Some(length) = super::letters::variable(&text[from..]).or_else(|| quoted_variable(&text[from..])) else {
            edited += &text[at..from + 2];
            at = from + 2;
            continue;
        };
        edited += &text[at..from];
        at = from + length;
        let whole = &text[from..at];
        let Some((name, rest)) = whole[2..].split_once(".response.body") else {
            edited += whole;
            continue;
        };
        let rest = &rest[..rest.len() - 2];
        match places(name.trim()) {
            Some(Some(places)) => {
                let (new, warnings) = reference(places, rest);
                told.extend(warnings.into_iter().map(|why| (from, why)));
                edited += &format!("{}.response.body{new}}}}}", &whole[..2 + name.len()]);
            }
            // Its request stays as it is.
            Some(None) => edited += whole,
            None => {
                told.push((
                    from,
                    format!("if `{}` is a request that was translated, its answer is another one", name.trim()),
                ));
                edited += whole;
            }
        }
    }
    (edited + &text[at..], told)
}

/// How long a variable is that has quotes in it, as a path may.
fn quoted_variable(text: &str) -> Option<usize> {
    let end = text.find("}}")?;
    (!text[..end].contains('\n')).then_some(end + 2)
}

/// A path from the body of an answer, as a reference has it.
fn reference(places: &Places, rest: &str) -> (String, Vec<String>) {
    let mut read = Read::default();
    let path_only = rest.trim_end();
    let letters: Vec<char> = path_only.chars().collect();
    let is_path = path_only.starts_with(".$");
    let begun = (places.answer(), if is_path { 2 } else { 0 });
    let (spot, at) = followed(places, &letters, begun, |_| false, &mut read);
    if at < letters.len() && !spot.is_same() {
        let rest: String = letters[at..].iter().collect();
        read.warnings.push(format!("`{rest}` is not understood: look at what it reads of the answer"));
    } else {
        read.warnings.extend(places.whole(spot, "response.body"));
    }
    let new = apply(&letters, &read.changes);
    let is_whole = new.is_empty() && !letters.is_empty();
    (if is_whole { ".*".to_owned() } else { new }, read.warnings)
}

/// Letters with changes in them, which are in their order.
pub(super) fn apply(letters: &[char], changes: &[(Range<usize>, String)]) -> String {
    let (mut text, mut at) = (String::new(), 0);
    for (place, new) in changes {
        text.extend(&letters[at..place.start]);
        text += new;
        at = place.end;
    }
    text.extend(&letters[at..]);
    text
}
