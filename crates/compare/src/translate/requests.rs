//! Files of requests as editors send them (`.http`, `.rest`), changed where they stand.

use super::commands::log_in;
use super::letters::{Edits, Letter, Lines, Part, Quoting, plain, trimmed, written};
use super::moved::{Asked, Header, Stays, in_full};
use super::readers::Places;
use super::scripts::references;
use super::{Edited, Told, Translator};
use std::collections::HashMap;
use std::ops::Range;

const METHODS: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

/// Whether a text is a file of requests: a line begins with a method and an address.
pub(super) fn is_meant(text: &str) -> bool {
    text.lines().any(|line| asked_in(line).is_some())
}

/// The method and the place of the address in a line that asks for something.
fn asked_in(line: &str) -> Option<(&str, Range<usize>)> {
    let (method, rest) = line.split_once(' ').filter(|(method, _)| METHODS.contains(method))?;
    let rest = rest.trim_end();
    let address = rest.strip_suffix("HTTP/1.1").or_else(|| rest.strip_suffix("HTTP/2")).unwrap_or(rest).trim();
    let from = line.find(address).filter(|_| address.contains('/') && !address.contains(' '))?;
    Some((method, from..from + address.len()))
}

/// One line with its place, without its end.
struct Line<'t> {
    text: &'t str,
    from: usize,
    /// Behind the end of the line.
    next: usize,
}

fn lines(text: &str) -> Vec<Line<'_>> {
    let mut from = 0;
    let of = |line: &'_ str| {
        let at = from;
        from += line.len();
        (at, from)
    };
    let places: Vec<(usize, usize)> = text.split_inclusive('\n').map(of).collect();
    places
        .into_iter()
        .map(|(from, next)| Line { text: text[from..next].trim_end_matches(['\n', '\r']), from, next })
        .collect()
}

pub(super) fn edit(translator: &Translator, text: &str, to: &mut Option<usize>, most: usize) -> Result<Edited, String> {
    let lines = lines(text);
    let (mut edited, mut edits) = (Edited::default(), Edits::default());
    let starts: Vec<usize> = (0..lines.len()).filter(|place| asked_in(lines[*place].text).is_some()).collect();
    if starts.len() > most {
        return Err(format!("there are {} requests; give at most {most} at once", starts.len()));
    }
    // What requests with names answer; nothing where a request stays.
    let mut named: HashMap<String, Option<Places>> = HashMap::new();
    for start in starts {
        let name = name_of(&lines, start);
        if let Some((told, places)) = one(translator, text, &lines, start, to, &mut edits) {
            edited.told.extend(told);
            if let (Some(name), Some(places)) = (name, places) {
                named.insert(name, Some(places));
            }
        } else {
            edited.already += 1;
            named.extend(name.map(|name| (name, None)));
        }
    }
    edited.text = edits.apply(text);
    if named.values().any(Option::is_some) || edited.told.iter().any(|one| !one.operation.is_empty()) {
        let places = |name: &str| named.get(name).map(Option::as_ref);
        let from = |at: usize| Lines::of(text).at(at);
        let (_, told) = references(text, &places);
        edited.told.extend(told.into_iter().map(|(at, why)| Told::unknown(from(at), why)));
        edited.text = references(&edited.text, &places).0;
        edited.told.sort_by_key(|one| one.line);
    }
    Ok(edited)
}

/// The name by which other requests call this one's answer: `# @name login`.
fn name_of(lines: &[Line<'_>], start: usize) -> Option<String> {
    let above =
        lines[..start].iter().rev().take_while(|line| !line.text.starts_with("###") && asked_in(line.text).is_none());
    let comment = |line: &Line<'_>| {
        let text = line.text.trim_start();
        let rest = text.strip_prefix('#').or_else(|| text.strip_prefix("//"))?.trim_start();
        let name = rest.strip_prefix("@name")?.trim_start_matches([' ', '=', '\t']).trim();
        (!name.is_empty()).then(|| name.to_owned())
    };
    above.into_iter().find_map(comment)
}

fn one(
    translator: &Translator,
    text: &str,
    lines: &[Line<'_>],
    start: usize,
    to: &mut Option<usize>,
    edits: &mut Edits,
) -> Option<(Vec<Told>, Option<Places>)> {
    let line = &lines[start];
    let (method, address) = asked_in(line.text)?;
    let url = plain(&line.text[address.clone()], line.from + address.start, Quoting::Plain);
    let is_end = |line: &Line<'_>| line.text.starts_with("###") || asked_in(line.text).is_some();
    let end = (start + 1..lines.len()).find(|place| is_end(&lines[*place])).unwrap_or(lines.len());
    let blank = (start + 1..end).find(|place| lines[*place].text.trim().is_empty()).unwrap_or(end);
    let headers: Vec<(&Line<'_>, String, Vec<Letter>)> = lines[start + 1..blank]
        .iter()
        .filter(|line| !line.text.starts_with(['#', '/', ' ', '\t']))
        .filter_map(|line| {
            let (name, value) = line.text.split_once(':')?;
            let value = plain(value, line.from + name.len() + 1, Quoting::Plain);
            Some((line, name.trim().to_owned(), value))
        })
        .collect();
    let company = headers.iter().find(|(_, name, _)| name.eq_ignore_ascii_case("x-business-id"));
    // What begins so is done with the answer.
    let begins = ["> ", "<> ", ">>", ">{"];
    let script = (blank..end).find(|place| begins.iter().any(|begin| lines[*place].text.starts_with(begin)));
    let body_place = (blank < end).then(|| {
        lines[blank].next
            ..script.or(Some(end)).map_or(text.len(), |place| lines.get(place).map_or(text.len(), |line| line.from))
    });
    let body = body_place.map(|place| plain(&text[place.clone()], place.start, Quoting::Plain));
    let body = body.as_deref().map(trimmed).filter(|body| !body.is_empty());
    let asked = Asked {
        method: method.to_owned(),
        url: &url,
        company: company.map(|(_, _, value)| trimmed(value)),
        body,
        headers: headers.iter().map(|(_, name, value)| (name.clone(), in_full(trimmed(value), text))).collect(),
    };
    let mut moved = match translator.moved(&asked, text, to, "{{business}}", edits) {
        Ok(moved) => moved,
        Err(Stays::Already) => return None,
        Err(Stays::Unknown(why)) => return Some((vec![Told::unknown(start + 1, why)], None)),
    };
    match &moved.header {
        Header::Same => {}
        Header::Add(parts) => {
            let ending = if text[line.from..line.next].ends_with("\r\n") { "\r\n" } else { "\n" };
            let header = format!("X-Business-Id: {}", written(parts, Quoting::Plain));
            let at = line.from + line.text.len();
            edits.put(at..at, format!("{ending}{header}"));
        }
        Header::Remove => {
            if let Some((line, _, _)) = company {
                edits.put(line.from..line.next, String::new());
            }
        }
    }
    let is_login = moved.is_login();
    if let (true, Some(body)) = (is_login, body) {
        log_in(body, text, &mut moved, edits);
    }
    let mut told = Vec::new();
    let places = moved.places();
    if let Some(script) = script {
        let from = lines[script].from;
        let until = lines.get(end).map_or(text.len(), |line| line.from);
        let letters = plain(&text[from..until], from, Quoting::Plain);
        let each: Vec<&[Letter]> = letters.split(|letter| letter.is('\n')).collect();
        let words: Vec<String> = each.iter().map(|line| super::letters::said(line)).collect();
        let is_file = |line: &str| line.strip_prefix("> ").is_some_and(|rest| !rest.trim_start().starts_with("{%"));
        for (place, (letters, read)) in each.iter().zip(super::scripts::read(&places, &words)).enumerate() {
            for (place, new) in read.changes {
                edits.replace(&letters[place], &[Part::Words(new)]);
            }
            let mut warnings = read.warnings;
            if is_file(&words[place]) {
                let file = words[place][1..].trim();
                warnings.push(format!("{file} reads the answer by itself: look at what is around the record there"));
            }
            told.extend(warnings.into_iter().map(|why| Told::unknown(script + 1 + place, why)));
        }
    }
    told.insert(0, Told::of(start + 1, moved));
    Some((told, Some(places)))
}
