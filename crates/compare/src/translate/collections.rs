//! What browsers record (HAR) and what Postman keeps, changed where it stands: the order and the indentation of the file
//! stay as they are.

use super::commands::log_in;
use super::json::{Kind, Node};
use super::letters::{Edits, Letter, Lines, Part, Quoting, said, trimmed, written};
use super::moved::{Asked, Header, Moved, Stays, in_full};
use super::readers::{Kind as Answers, Places};
use super::{Edited, Told, Translator};

pub(super) fn edit(translator: &Translator, text: &str, to: &mut Option<usize>, most: usize) -> Result<Edited, String> {
    let Some(file) = Node::of(text) else {
        let why =
            serde_json::from_str::<serde_json::Value>(text).err().map_or_else(String::new, |error| error.to_string());
        return Err(format!("neither a curl command nor a HAR nor a collection: {why}"));
    };
    let (mut edited, mut edits) = (Edited::default(), Edits::default());
    let mut requests = Vec::new();
    if let Some(entries) = file.at(&["log", "entries"]) {
        requests.extend(entries.elements());
    } else if let Some(items) = file.member("item") {
        gather(items, &mut requests);
    } else {
        return Err("the JSON is neither a HAR (it has no log.entries) nor a collection (it has no item)".into());
    }
    if requests.len() > most {
        return Err(format!("the file has {} requests; give at most {most} at once", requests.len()));
    }
    let lines = Lines::of(text);
    let line_of = |at: usize| lines.at(at);
    let (mut has_answers, mut first) = (None, None);
    for entry in requests {
        let Some(request) = entry.member("request") else { continue };
        let line = line_of(request.written.start);
        match one(translator, text, request, to, &mut edits) {
            Ok(moved) => {
                let places = moved.places();
                let name = moved.from.name.clone();
                edited.told.push(Told::of(line, moved));
                scripts(entry, &places, &line_of, &mut edits, &mut edited);
                first.get_or_insert(places);
                let examples = entry.member("response").map(Node::elements).and_then(<[Node]>::first);
                let answer = entry.at(&["response", "content", "text"]).or(examples);
                has_answers = has_answers.or(answer.map(|answer| (line_of(answer.written.start), name)));
            }
            Err(Stays::Already) => edited.already += 1,
            Err(Stays::Unknown(why)) => edited.told.push(Told::unknown(line, why)),
        }
    }
    // What is done with each answer of a folder, or of all of them.
    if let Some(mut places) = first {
        places.kind = Answers::Record;
        let mut folders = Vec::new();
        gather_folders(&file, &mut folders);
        for folder in folders {
            scripts(folder, &places, &line_of, &mut edits, &mut edited);
        }
    }
    edited.told.sort_by_key(|one| one.line);
    if let Some((line, name)) = has_answers {
        edited.told.push(Told::unknown(line, format!("recorded answers stay as they were, those of {name}")));
    }
    edited.text = edits.apply(text);
    Ok(edited)
}

/// The requests of a collection, in whichever folder.
fn gather<'n>(items: &'n Node, found: &mut Vec<&'n Node>) {
    for item in items.elements() {
        match item.member("item") {
            Some(inner) => gather(inner, found),
            None => found.push(item),
        }
    }
}

/// A collection and its folders.
fn gather_folders<'n>(item: &'n Node, found: &mut Vec<&'n Node>) {
    let Some(inner) = item.member("item") else { return };
    found.push(item);
    for item in inner.elements() {
        gather_folders(item, found);
    }
}

fn one<'d>(
    translator: &'d Translator,
    text: &str,
    request: &Node,
    to: &mut Option<usize>,
    edits: &mut Edits,
) -> Result<Moved<'d>, Stays> {
    let unknown = |why: &str| Stays::Unknown(why.to_owned());
    let url = request.member("url").unwrap_or(request);
    let raw = url.letters().or_else(|| url.member("raw").and_then(Node::letters));
    let raw = raw.ok_or_else(|| unknown("the request has no address"))?;
    let headers = request.member("headers").or_else(|| request.member("header"));
    let pairs: Vec<(&Node, String, &[Letter])> = headers
        .map(Node::elements)
        .unwrap_or_default()
        .iter()
        .filter_map(|header| {
            let name = header.member("name").or_else(|| header.member("key"))?.letters()?;
            Some((header, said(name), header.member("value")?.letters()?))
        })
        .filter(|(_, name, _)| !name.starts_with(':'))
        .collect();
    let company = pairs.iter().find(|(_, name, _)| name.eq_ignore_ascii_case("x-business-id"));
    let body = request.at(&["postData", "text"]).or_else(|| request.at(&["body", "raw"])).and_then(Node::letters);
    let method = request.member("method").and_then(Node::letters).map_or_else(|| "GET".to_owned(), said);
    let asked = Asked {
        method: method.to_uppercase(),
        url: raw,
        company: company.map(|(_, _, value)| trimmed(value)),
        body: body.filter(|body| !body.is_empty()),
        headers: pairs.iter().map(|(_, name, value)| (name.clone(), in_full(value, text))).collect(),
    };
    let mut moved = translator.moved(&asked, text, to, "{{business}}", edits)?;
    path_of_parts(url, company.map(|(_, _, value)| trimmed(value)), text, &moved, edits);
    match &moved.header {
        Header::Same => {}
        Header::Remove => {
            if let (Some((header, _, _)), Some(headers)) = (company, headers) {
                remove(header, headers, edits);
            }
        }
        Header::Add(parts) => {
            let parts = of_path(parts, &mut moved.warnings);
            add(&parts, headers, request, text, edits);
        }
    }
    if moved.is_login()
        && let Some(body) = body
    {
        log_in(body, text, &mut moved, edits);
    }
    Ok(moved)
}

/// A variable of a path, such as `:businessId`, means nothing in a header.
fn of_path(parts: &[Part], warnings: &mut Vec<String>) -> Vec<Part> {
    match parts {
        [Part::Words(name)] if name.starts_with(':') => {
            let variable = format!("{{{{{}}}}}", &name[1..]);
            warnings.push(format!("`{name}` was a variable of the path: {variable} must be one of the collection"));
            vec![Part::Variable(variable)]
        }
        parts => parts.to_vec(),
    }
}

/// The path as a list of its segments, which Postman keeps beside the address.
fn path_of_parts(url: &Node, company: Option<&[Letter]>, text: &str, moved: &Moved<'_>, edits: &mut Edits) {
    let Some(segments) = url.member("path").map(Node::elements).filter(|segments| !segments.is_empty()) else { return };
    let [known, wanted] = [moved.from, moved.to].map(|dialect| dialect.operation(&moved.neutral.operation).ok());
    let (Some(known), Some(wanted)) = (known, wanted) else { return };
    let old: Vec<&str> = known.path.split('/').skip(1).collect();
    let Some(base) = segments.len().checked_sub(old.len()) else { return };
    let segment = |template: &str| {
        let place = old.iter().position(|known| *known == template);
        match (place, company) {
            (Some(place), _) => text[segments[base + place].written.clone()].to_owned(),
            (None, Some(company)) if template == "{businessId}" => {
                let parts = super::letters::parts(company, text);
                format!("\"{}\"", written(&parts, Quoting::Json))
            }
            _ if template == "{businessId}" => "\"{{business}}\"".to_owned(),
            _ => serde_json::Value::from(template).to_string(),
        }
    };
    // The base of its own, or one that is not known here and stays.
    let own: Vec<&str> = moved.from.base.split('/').filter(|part| !part.is_empty()).collect();
    let is_own = segments[..base].iter().filter_map(Node::letters).map(said).eq(own.iter().map(ToString::to_string));
    let mut new: Vec<String> = if is_own {
        let of = |part: &str| serde_json::Value::from(part).to_string();
        moved.to.base.split('/').filter(|part| !part.is_empty()).map(of).collect()
    } else {
        segments[..base].iter().map(|node| text[node.written.clone()].to_owned()).collect()
    };
    new.extend(wanted.path.split('/').skip(1).map(segment));
    let between = match segments {
        [first, second, ..] => &text[first.written.end..second.written.start],
        _ => ", ",
    };
    let (Some(first), Some(last)) = (segments.first(), segments.last()) else { return };
    edits.put(first.written.start..last.written.end, new.join(between));
}

/// Takes a header out of its list, with the comma that goes with it.
fn remove(header: &Node, headers: &Node, edits: &mut Edits) {
    let all = headers.elements();
    let place = all.iter().position(|one| one.written == header.written).unwrap_or_default();
    let range = match (all.get(place + 1), place.checked_sub(1).and_then(|before| all.get(before))) {
        (Some(next), _) => header.written.start..next.written.start,
        (None, Some(before)) => before.written.end..header.written.end,
        (None, None) => header.written.clone(),
    };
    edits.put(range, String::new());
}

/// Puts the header before the others, written like the first of them.
fn add(parts: &[Part], headers: Option<&Node>, request: &Node, text: &str, edits: &mut Edits) {
    let value = format!("\"{}\"", written(parts, Quoting::Json));
    let of_har = request.member("headers").is_some() || request.member("httpVersion").is_some();
    let name = if of_har { "name" } else { "key" };
    let Some(headers) = headers else {
        // Behind the brace that begins the request.
        let at = request.written.start + 1;
        if matches!(request.kind, Kind::Object(_)) {
            let list = if of_har { "headers" } else { "header" };
            edits.put(at..at, format!("\"{list}\": [{{\"{name}\": \"X-Business-Id\", \"value\": {value}}}], "));
        }
        return;
    };
    let Some(first) = headers.elements().first() else {
        let header = format!("{{\"{name}\": \"X-Business-Id\", \"value\": {value}}}");
        edits.put(headers.written.start + 1..headers.written.end - 1, header);
        return;
    };
    let mut like = Edits::default();
    for (member, new) in [(name, "\"X-Business-Id\""), ("value", value.as_str())] {
        if let Some(node) = first.member(member) {
            let from = first.written.start;
            like.put(node.written.start - from..node.written.end - from, new.to_owned());
        }
    }
    let header = like.apply(&text[first.written.clone()]);
    let space = &text[headers.written.start + 1..first.written.start];
    let at = first.written.start;
    edits.put(at..at, format!("{header},{}", if space.is_empty() { " " } else { space }));
}

/// What a collection does with an answer.
fn scripts(item: &Node, places: &Places, line_of: &dyn Fn(usize) -> usize, edits: &mut Edits, edited: &mut Edited) {
    for event in item.member("event").map(Node::elements).unwrap_or_default() {
        let Some(exec) = event.at(&["script", "exec"]) else { continue };
        // A script is a list of its lines, or all of it in one text.
        let nodes = if exec.letters().is_some() { std::slice::from_ref(exec) } else { exec.elements() };
        let lines: Vec<(&Node, &[Letter])> = nodes
            .iter()
            .filter_map(|node| Some((node, node.letters()?)))
            .flat_map(|(node, letters)| letters.split(|letter| letter.is('\n')).map(move |line| (node, line)))
            .collect();
        let words: Vec<String> = lines.iter().map(|(_, letters)| said(letters)).collect();
        for ((node, letters), read) in lines.iter().zip(super::scripts::read(places, &words)) {
            for (place, new) in read.changes {
                edits.replace(&letters[place], &[Part::Words(new)]);
            }
            let line = line_of(node.written.start);
            edited.told.extend(read.warnings.into_iter().map(|why| Told::unknown(line, why)));
        }
    }
}
