//! `curl` commands in a script, changed where they stand.

use super::answers::{Answered, BEFORE, Flow, Follower};
use super::letters::{Edits, Letter, Lines, Part, Quoting, said, trimmed, written};
use super::moved::{Asked, Header, Moved, Stays, in_full, shown};
use super::readers::Places;
use super::shell::{Command, Word};
use super::{Edited, Told, Translator, shell, windows};
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

/// Options of curl that take a value, by their letters.
const SHORT: &str = "AbcCdDeEFhHKmoPQrtTuUwxXyYz";
/// ... and by their names.
const LONG: [&str; 40] = [
    "abstract-unix-socket",
    "aws-sigv4",
    "cacert",
    "capath",
    "cert",
    "ciphers",
    "config",
    "connect-timeout",
    "connect-to",
    "cookie",
    "cookie-jar",
    "data",
    "data-ascii",
    "data-binary",
    "data-raw",
    "data-urlencode",
    "dump-header",
    "form",
    "header",
    "interface",
    "json",
    "key",
    "limit-rate",
    "max-redirs",
    "max-time",
    "oauth2-bearer",
    "output",
    "proxy",
    "referer",
    "request",
    "resolve",
    "retry",
    "retry-delay",
    "retry-max-time",
    "stderr",
    "unix-socket",
    "url",
    "user",
    "user-agent",
    "write-out",
];

/// One request of a command: with `--next` it has several.
#[derive(Default)]
struct Curl<'w> {
    method: Option<String>,
    urls: Vec<&'w Word>,
    /// The text of a header, and the place of its option with the space before it.
    headers: Vec<(&'w [Letter], Range<usize>)>,
    bodies: Vec<&'w [Letter]>,
    in_query: bool,
    /// Where the answer is written to.
    file: Option<&'w [Letter]>,
    /// Whether something about the request is written behind its answer.
    writes_status: bool,
    /// Why it is none that the API takes.
    refused: Option<&'static str>,
}

/// The commands of a text, changed.
pub(super) fn edit(translator: &Translator, text: &str, to: &mut Option<usize>, most: usize) -> Result<Edited, String> {
    let is_windows = windows::is_meant(text);
    let (commands, failed) = if is_windows { (windows::commands(text), None) } else { shell::commands(text) };
    let lines = Lines::of(text);
    let line_of = |at: usize| lines.at(at);
    let mut edited = Edited::default();
    let mut edits = Edits::default();
    let mut answered: HashMap<usize, Answered> = HashMap::new();
    let mut all: Vec<Rc<Places>> = Vec::new();
    let mut count = 0;
    for (place, command) in commands.iter().enumerate() {
        let Some(start) = curl_at(&command.words) else { continue };
        let answers = answered.entry(place).or_default();
        for curl in read(&command.words[start..]) {
            count += 1;
            if count > most {
                return Err(format!("there are more than {most} commands; give at most {most} at once"));
            }
            let line = line_of(command.words[start].written.start);
            let variable = if is_windows { "%BUSINESS%" } else { "$BUSINESS" };
            let file =
                curl.file.map(|file| in_full(file, text)).filter(|file| !["-", "/dev/stdout"].contains(&&**file));
            answers.file = answers.file.take().or(file);
            match one(translator, text, &curl, command, to, variable, &mut edits) {
                Ok(moved) => {
                    let places = Rc::new(moved.places());
                    if !all.iter().any(|known| known.kind == places.kind) && !places.is_bare {
                        all.push(Rc::clone(&places));
                    }
                    if curl.method.as_deref() != Some("HEAD") {
                        let flow = Flow {
                            spot: places.answer(),
                            places,
                            is_sure: true,
                            has_status: curl.writes_status && answers.file.is_none(),
                        };
                        answers.flow = Some(match answers.flow.take() {
                            Some(other) => Flow { spot: other.spot.or(flow.spot), ..flow },
                            None => flow,
                        });
                    }
                    edited.told.push(Told::of(line, moved));
                }
                Err(Stays::Already) => edited.already += 1,
                Err(Stays::Unknown(why)) => {
                    let is_hidden = |url: &&Word| url.letters.iter().any(|letter| letter.is_opaque());
                    answers.is_unknown |= curl.urls.iter().any(is_hidden);
                    edited.told.push(Told::unknown(line, why));
                }
            }
        }
    }
    let follower =
        Follower { translator, text, commands: &commands, answered: &answered, target: *to, line_of: &line_of, all };
    edited.told.extend(follower.follow(&mut edits));
    if let Some((at, why)) = failed {
        edited.told.push(Told::unknown(line_of(at), format!("{why}; what comes behind it is as it was")));
    }
    edited.told.sort_by_key(|one| one.line);
    edited.text = edits.apply(text);
    Ok(edited)
}

/// Where `curl` stands in a command: behind what only says how it is run.
fn curl_at(words: &[Word]) -> Option<usize> {
    for (place, word) in words.iter().enumerate() {
        let word = said(&word.letters);
        if ["curl", "curl.exe", "@curl"].contains(&word.as_str()) || word.ends_with("/curl") {
            return Some(place);
        }
        let is_assignment = word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
        });
        if !is_assignment && !BEFORE.contains(&word.as_str()) {
            return None;
        }
    }
    None
}

/// The requests of a command.
fn read(words: &[Word]) -> Vec<Curl<'_>> {
    let mut all = vec![Curl::default()];
    let mut rest = words.iter().enumerate().skip(1);
    while let Some((place, word)) = rest.next() {
        let option = said(&word.letters);
        let before = words[place - 1].written.end;
        if option == "--next" || option == "-:" {
            all.push(Curl::default());
            continue;
        }
        let Some(curl) = all.last_mut() else { continue };
        if !option.starts_with('-') || option == "-" {
            curl.urls.push(word);
            continue;
        }
        let (name, attached) = taken_apart(&option, &word.letters);
        let Some(name) = name else {
            curl.in_query |= option == "--get" || !option.starts_with("--") && option.contains('G');
            if option == "--head" || !option.starts_with("--") && option.contains('I') {
                curl.method = Some("HEAD".into());
            }
            continue;
        };
        if !option.starts_with("--") && option.split(name.as_str()).next().is_some_and(|flags| flags.contains('G')) {
            curl.in_query = true;
        }
        let Some((value, value_word)) = attached.map(|value| (value, word)).or_else(|| {
            let (_, next) = rest.next()?;
            Some((next.letters.as_slice(), next))
        }) else {
            continue;
        };
        match name.as_str() {
            "X" | "request" => curl.method = Some(said(value).to_uppercase()),
            "H" | "header" => curl.headers.push((value, before..value_word.written.end)),
            "d" | "data" | "data-raw" | "data-binary" | "data-ascii" | "json" => curl.bodies.push(value),
            "data-urlencode" => curl.bodies.push(&[]),
            "url" => curl.urls.push(value_word),
            "o" | "output" => curl.file = Some(value),
            "w" | "write-out" => curl.writes_status = true,
            "u" | "user" => curl.refused = Some("the API takes no user and password; log in, and send the token"),
            "F" | "form" => curl.refused = Some("the API takes no forms; bodies are JSON"),
            _ => {}
        }
    }
    all
}

/// The option of a word that takes a value, and the value that hangs on it.
fn taken_apart<'l>(option: &str, letters: &'l [Letter]) -> (Option<String>, Option<&'l [Letter]>) {
    if let Some(long) = option.strip_prefix("--") {
        let (name, attached) =
            long.split_once('=').map_or((long, None), |(name, _)| (name, Some(&letters[name.chars().count() + 3..])));
        return (LONG.contains(&name).then(|| name.to_owned()), attached);
    }
    let takes = option.chars().enumerate().skip(1).find(|(_, letter)| SHORT.contains(*letter));
    match takes {
        Some((place, letter)) => {
            let attached = Some(&letters[place + 1..]).filter(|rest| !rest.is_empty());
            (Some(letter.to_string()), attached)
        }
        None => (None, None),
    }
}

fn one<'d>(
    translator: &'d Translator,
    text: &str,
    curl: &Curl<'_>,
    command: &Command,
    to: &mut Option<usize>,
    variable: &str,
    edits: &mut Edits,
) -> Result<Moved<'d>, Stays> {
    let unknown = |why: &str| Stays::Unknown(why.to_owned());
    if let Some(why) = curl.refused {
        return Err(unknown(why));
    }
    let headers: Vec<(String, &[Letter], &Range<usize>)> = curl
        .headers
        .iter()
        .filter_map(|(letters, place)| {
            let colon = letters.iter().position(|letter| letter.is(':'))?;
            Some((said(trimmed(&letters[..colon])), trimmed(&letters[colon + 1..]), place))
        })
        .collect();
    let company = headers.iter().find(|(name, _, _)| name.eq_ignore_ascii_case("x-business-id"));
    let from_input = |body: &&[Letter]| ["@-", "@/dev/stdin"].contains(&said(body).as_str());
    let body = match curl.bodies.as_slice() {
        [] => None,
        [one] if from_input(one) && !command.here.is_empty() => Some(command.here.as_slice()),
        [one, ..] => Some(*one),
    };
    let sends = body.is_some() && !curl.in_query;
    let method = curl.method.clone().unwrap_or_else(|| if sends { "POST".into() } else { "GET".into() });
    let (mut first, mut last): (Option<(Moved<'d>, &Word)>, _) = (None, None);
    for url in &curl.urls {
        let asked = Asked {
            method: method.clone(),
            url: &url.letters,
            company: company.map(|(_, value, _)| *value),
            body: body.filter(|_| sends),
            headers: headers.iter().map(|(name, value, _)| (name.clone(), in_full(value, text))).collect(),
        };
        match (translator.moved(&asked, text, to, variable, edits), &mut first) {
            (Ok(moved), None) => first = Some((moved, *url)),
            (Err(Stays::Unknown(why)), Some((moved, _))) => moved.warnings.push(why),
            (Err(stays), None) if curl.urls.len() == 1 => return Err(stays),
            (Err(stays), None) => last = Some(stays),
            (Ok(_) | Err(Stays::Already), Some(_)) => {}
        }
    }
    if let (Some((moved, _)), Some(Stays::Unknown(why))) = (&mut first, &last) {
        moved.warnings.push(why.clone());
    }
    if let (None, Some(stays)) = (&first, last) {
        return Err(stays);
    }
    let (mut moved, url) = first.ok_or_else(|| unknown("the command names no address"))?;
    match &moved.header {
        Header::Same => {}
        Header::Remove => {
            if let Some((_, _, place)) = company {
                edits.put((*place).clone(), String::new());
            }
        }
        Header::Add(parts) => {
            let at = url.written.end;
            edits.put(at..at, format!(" -H {}", quoted(parts, url)));
        }
    }
    if moved.is_login()
        && let Some(body) = body
    {
        log_in(body, text, &mut moved, edits);
    }
    Ok(moved)
}

/// The header that names the company, as a word beside another one.
fn quoted(parts: &[Part], beside: &Word) -> String {
    let has_variable = parts.iter().any(|part| matches!(part, Part::Variable(_)));
    let of_windows =
        |letter: &Letter| matches!(letter.quoting, Quoting::Windows | Quoting::WindowsDouble | Quoting::WindowsCaret);
    let (quoting, mark) = match beside.letters.first() {
        Some(letter) if letter.quoting == Quoting::WindowsCaret => (Quoting::WindowsCaret, "^\""),
        Some(letter) if of_windows(letter) => (Quoting::WindowsDouble, "\""),
        _ if has_variable => (Quoting::Double, "\""),
        _ => (Quoting::Single, "'"),
    };
    format!("{mark}X-Business-Id: {}{mark}", written(parts, quoting))
}

/// Calls who logs in as the other dialect does.
pub(super) fn log_in(body: &[Letter], text: &str, moved: &mut Moved<'_>, edits: &mut Edits) {
    let (from, to) = (moved.from.login_name(), moved.to.login_name());
    if body.first().is_some_and(|letter| letter.is('@')) {
        let file = shown(&body[1..], text);
        moved.warnings.push(format!("what {file} calls `{from}` must be called `{to}` in it"));
        return;
    }
    let Some((name, value)) = member(body, from) else {
        moved.warnings.push(format!("the body does not show `{from}`, which is called `{to}` there"));
        return;
    };
    edits.replace(name, &[Part::Words(to.to_owned())]);
    let is_known = !value.iter().any(|letter| letter.is_opaque());
    if to == "email" && is_known && !value.iter().any(|letter| letter.is('@')) {
        let who = shown(value, text);
        moved.warnings.push(format!("`{who}` is no e-mail, and {} logs in by one", moved.to.name));
    } else if to == "email" && !is_known {
        moved.warnings.push(format!("{} must be an e-mail there, and no username", shown(value, text)));
    }
}

/// The name of a member of the body itself, and the text behind it.
fn member<'l>(body: &'l [Letter], wanted: &str) -> Option<(&'l [Letter], &'l [Letter])> {
    let (mut depth, mut at) = (0_usize, 0);
    while at < body.len() {
        if body[at].is('{') || body[at].is('[') {
            depth += 1;
        } else if body[at].is('}') || body[at].is(']') {
            depth = depth.saturating_sub(1);
        } else if body[at].is('"') {
            let name = text_at(body, at);
            let end = at + name.len() + 2;
            let behind = behind_space(body.get(end..).unwrap_or_default());
            if depth == 1 && behind.first().is_some_and(|letter| letter.is(':')) && said(name) == wanted {
                let value = behind_space(&behind[1..]);
                let value = if value.first().is_some_and(|letter| letter.is('"')) { text_at(value, 0) } else { &[] };
                return Some((name, value));
            }
            at = end;
            continue;
        }
        at += 1;
    }
    None
}

fn behind_space(letters: &[Letter]) -> &[Letter] {
    let is_space = |letter: &&Letter| [' ', '\t', '\r', '\n'].iter().any(|space| letter.is(*space));
    &letters[letters.iter().take_while(is_space).count()..]
}

/// What is between a quote and the next one.
fn text_at(letters: &[Letter], quote: usize) -> &[Letter] {
    let mut at = quote + 1;
    while at < letters.len() && !letters[at].is('"') {
        at += if letters[at].is('\\') { 2 } else { 1 };
    }
    letters.get(quote + 1..at.min(letters.len())).unwrap_or_default()
}
