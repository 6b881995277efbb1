//! A dialect, as its OpenAPI document tells it: where operations are, how they name the company, how answers are
//! wrapped. Requests are rendered from it, and recognised by it.

use crate::curl::brief;
use crate::document::{shown, spelled_out};
use crate::neutral::{Neutral, Query};
use crate::wire::Request;
use crate::wrapping::Wrapping;
use indexmap::IndexMap;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::{Map, Value};
use std::sync::Arc;

/// The operation by which one logs in.
pub const LOGIN: &str = "login";
/// The operation that does several.
pub const BATCH: &str = "batchRun";
/// How a neutral log-in calls who logs in, whatever a dialect calls it.
pub const LOGIN_NAME: &str = "login";
const BUSINESS_HEADER: &str = "X-Business-Id";
const BUSINESS_PARAMETER: &str = "businessId";

/// Where an operation's requests name their company.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompanyIn {
    Nowhere,
    Path,
    Header,
}

#[derive(Debug, Clone)]
pub struct Parameter {
    pub name: String,
    pub description: String,
    pub required: bool,
    /// Whether records are answered with some of their members where it is given.
    pub narrows: bool,
    pub schema: Value,
}

#[derive(Debug, Clone)]
pub struct Body {
    pub schema: Value,
    pub required: bool,
    pub example: Value,
}

#[derive(Debug, Clone)]
pub struct Operation {
    pub id: String,
    /// In capitals.
    pub method: String,
    /// Below the dialect's base.
    pub path: String,
    pub tag: String,
    pub summary: String,
    pub company: CompanyIn,
    pub query: Vec<Parameter>,
    /// The headers that it takes beside the company's.
    pub headers: Vec<String>,
    pub body: Option<Body>,
    /// The message that the envelope of a success carries.
    pub message: Option<String>,
    pub permission: Option<String>,
    /// What it may answer, by status.
    pub responses: Map<String, Value>,
    /// The operation that it stands for with `format=csv`.
    pub as_csv: Option<String>,
    /// How long the stem of its name is.
    stem: usize,
}

impl Operation {
    pub fn names_record(&self) -> bool {
        self.path.contains("{id}")
    }

    pub fn writes(&self) -> bool {
        self.method != "GET" && self.id != LOGIN
    }

    pub fn takes(&self, parameter: &str) -> bool {
        self.query.iter().any(|known| known.name == parameter)
    }

    /// Whether less was asked for than the records of its answers have. A target is a path and a query.
    pub fn is_narrowed(&self, target: &str) -> bool {
        let (_, query) = target.split_once('?').unwrap_or_default();
        let mut names = query.split('&').map(|pair| pair.split_once('=').map_or(pair, |(name, _)| name));
        names.any(|name| self.query.iter().any(|known| known.narrows && known.name == name))
    }

    /// What its name begins with: the resource that it is about.
    pub fn stem(&self) -> &str {
        &self.id[..self.stem]
    }
}

#[derive(Debug, Clone)]
pub struct Dialect {
    /// What to call it, such as `Dialect A`.
    pub name: String,
    /// The path that all of its operations are below.
    pub base: String,
    pub operations: Arc<IndexMap<String, Operation>>,
    pub wrapping: Wrapping,
    /// What the body of a log-in calls who logs in.
    login_name: String,
    /// What the document's references lead to.
    schemas: Arc<Map<String, Value>>,
}

impl Dialect {
    /// Reads a document of one dialect. `base` is used where the document says none.
    pub fn of(document: Value, base: Option<&str>) -> Result<Self, String> {
        let mut document = spelled_out(document);
        let title = document["info"]["title"].as_str().unwrap_or("a dialect");
        let said = document["servers"][0]["url"].as_str().unwrap_or_default();
        let base = base.unwrap_or(said).trim_end_matches('/').to_owned();
        let name = title.rsplit(", ").next().map_or_else(String::new, capitalised);
        let mut operations = IndexMap::new();
        let paths = document["paths"].as_object().ok_or("the OpenAPI document has no paths")?;
        for (path, item) in paths {
            for (method, said) in item.as_object().into_iter().flatten() {
                let Some(id) = said["operationId"].as_str() else { continue };
                operations.insert(id.to_owned(), operation(&document, id, (method, path), said));
            }
        }
        let stems: Vec<usize> = operations.keys().map(|id| stem(id, operations.keys())).collect();
        for (operation, stem) in operations.values_mut().zip(stems) {
            operation.stem = stem;
        }
        let login: &Operation = operations.get(LOGIN).ok_or("the OpenAPI document has no operation named login")?;
        let wrapping = Wrapping::of(&document)?;
        let body = login.body.as_ref().map(|body| body.example.clone()).unwrap_or_default();
        let mut names = body.as_object().into_iter().flatten().map(|(name, _)| name);
        let login_name = names.find(|name| *name != "password").ok_or("the log-in takes no name")?.clone();
        let schemas = match document.pointer_mut("/components/schemas").map(Value::take) {
            Some(Value::Object(schemas)) => schemas,
            Some(_) | None => Map::new(),
        };
        Ok(Self { name, base, operations: Arc::new(operations), wrapping, login_name, schemas: Arc::new(schemas) })
    }

    /// The same dialect below another base.
    #[must_use]
    pub fn below(&self, base: &str) -> Self {
        Self { base: base.trim_end_matches('/').to_owned(), ..self.clone() }
    }

    /// Where its requests name their company, where they are about one.
    pub fn company_in(&self) -> CompanyIn {
        let named = self.operations.values().map(|operation| operation.company);
        named.into_iter().find(|company| *company != CompanyIn::Nowhere).unwrap_or(CompanyIn::Nowhere)
    }

    pub fn operation(&self, id: &str) -> Result<&Operation, String> {
        self.operations.get(id).ok_or_else(|| {
            let unknown = format!("{} has no operation {}", self.name, brief(id));
            match self.nearest(id).as_slice() {
                [] => unknown,
                [near] => format!("{unknown}; did you mean {near}?"),
                near => format!("{unknown}; did you mean one of {}?", near.join(", ")),
            }
        })
    }

    /// The operations that somebody may mean who writes a name that none has, the likeliest first.
    pub fn nearest(&self, id: &str) -> Vec<&str> {
        // No operation has such a name, nor one like it.
        if id.len() > LONGEST_NAME {
            return Vec::new();
        }
        let wanted = plain(id);
        let known = || self.operations.keys().map(String::as_str);
        if let Some(same) = known().find(|known| plain(known) == wanted) {
            return vec![same];
        }
        let begun = self.beginning_with(id);
        if !begun.is_empty() {
            return begun.into_iter().take(MOST_NEAR).collect();
        }
        // A slip of the hand every few letters, in the whole name or in that of its family.
        let far = |name: &str| strsim::osa_distance(&plain(name), &wanted);
        let most = wanted.len() / 3;
        let whole = known().map(far).min().filter(|far| *far <= most && !wanted.is_empty());
        let family = self.operations.values().map(|one| far(one.stem())).min().filter(|far| *far <= most);
        let nearest = whole.into_iter().chain(family).min();
        let near = self.operations.values().filter(|one| Some(far(&one.id).min(far(one.stem()))) == nearest);
        near.map(|one| one.id.as_str()).take(MOST_NEAR).collect()
    }

    /// The operations whose names begin so.
    pub fn beginning_with(&self, id: &str) -> Vec<&str> {
        let wanted = plain(id);
        let known = self.operations.keys().map(String::as_str);
        known.filter(|known| !wanted.is_empty() && plain(known).starts_with(&wanted)).collect()
    }

    /// A schema, followed to where it is said.
    pub fn resolve<'d>(&'d self, schema: &'d Value) -> &'d Value {
        let reference = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix("#/components/schemas/"));
        if let Some(said) = reference.and_then(|name| self.schemas.get(name)) {
            return self.resolve(said);
        }
        // A reference with something beside it.
        for word in ["allOf", "anyOf", "oneOf"] {
            let mut parts = schema[word].as_array().into_iter().flatten();
            if let Some(part) = parts.find(|part| part["type"] != "null") {
                return self.resolve(part);
            }
        }
        schema
    }

    /// What the document's references lead to.
    pub fn schemas(&self) -> &Map<String, Value> {
        &self.schemas
    }

    /// The request in this dialect's words, for whoever has the token.
    pub fn render(&self, neutral: &Neutral, business: Option<&str>, token: Option<&str>) -> Result<Request, String> {
        let operation = self.operation(&neutral.operation)?;
        let business = neutral.business.as_deref().or(business);
        let company = |operation: &Operation| {
            business.ok_or_else(|| format!("{} is about a company, and none is named", operation.id))
        };
        let mut path = self.base.clone() + &operation.path;
        let mut headers = Vec::new();
        match operation.company {
            CompanyIn::Nowhere => {}
            CompanyIn::Path => path = path.replace("{businessId}", &segment(company(operation)?)),
            CompanyIn::Header => headers.push((BUSINESS_HEADER.to_owned(), company(operation)?.to_owned())),
        }
        if operation.names_record() {
            let id = neutral
                .id
                .as_deref()
                .ok_or_else(|| format!("{} is about a record, and none is named", operation.id))?;
            path = path.replace("{id}", &segment(id));
        }
        let query: Vec<String> =
            neutral.query.0.iter().map(|(name, value)| format!("{}={}", word(name), word(value))).collect();
        let target = if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) };
        let authorization = match (&neutral.authorization, token) {
            (Some(given), _) => Some(given.clone()).filter(|given| !given.is_empty()),
            (None, Some(token)) if operation.id != LOGIN => Some(format!("Bearer {token}")),
            (None, _) => None,
        };
        headers.extend(authorization.map(|value| ("Authorization".to_owned(), value)));
        let body = match &neutral.body {
            Some(body) if operation.id == LOGIN && neutral.text.is_none() => {
                Some(renamed(body, LOGIN_NAME, &self.login_name).to_string())
            }
            _ => neutral.body_text(),
        };
        let typed = neutral.headers.keys().any(|name| name.eq_ignore_ascii_case("content-type"));
        if body.is_some() && !typed {
            headers.push(("Content-Type".to_owned(), "application/json".to_owned()));
        }
        headers.extend(neutral.headers.iter().map(|(name, value)| (name.clone(), value.clone())));
        Ok(Request { method: operation.method.clone(), target, headers, body })
    }

    /// What a request below this dialect's base asks for. Headers of the connection are left out.
    pub fn recognise(&self, request: &Request) -> Option<Neutral> {
        let rest = request.path().strip_prefix(&self.base).filter(|rest| rest.starts_with('/'))?;
        let (operation, mut names) = self.find(&request.method, rest)?;
        let mut neutral = Neutral::of(&operation.id);
        neutral.id = names.shift_remove("id");
        neutral.business = match operation.company {
            CompanyIn::Nowhere => None,
            CompanyIn::Path => names.shift_remove(BUSINESS_PARAMETER),
            CompanyIn::Header => request.header(BUSINESS_HEADER).map(str::to_owned),
        };
        let query = request.target.split_once('?').map(|(_, query)| query).unwrap_or_default();
        neutral.query = Query(pairs(query));
        // Where a path names the company, nobody reads the header.
        let company_named = operation.company != CompanyIn::Nowhere;
        for (name, value) in &request.headers {
            let known = name.to_lowercase();
            let is_json = known == "content-type" && value.split(';').next() == Some("application/json");
            if is_json || OF_THE_CONNECTION.contains(&known.as_str()) {
                continue;
            }
            match known.as_str() {
                "authorization" => neutral.authorization = Some(value.clone()),
                "x-business-id" if company_named => {}
                _ => {
                    neutral.headers.insert(name.clone(), value.clone());
                }
            }
        }
        if let Some(text) = request.body.as_ref().filter(|text| !text.is_empty()) {
            match serde_json::from_str::<Value>(text) {
                Ok(body) if operation.id == LOGIN => neutral.body = Some(renamed(&body, &self.login_name, LOGIN_NAME)),
                Ok(body) => neutral.body = Some(body),
                Err(_) => neutral.text = Some(text.clone()),
            }
        }
        Some(neutral)
    }

    /// The operation at a path below the base, and what its parameters stand for.
    pub fn find(&self, method: &str, path: &str) -> Option<(&Operation, IndexMap<String, String>)> {
        let given: Vec<&str> = path.trim_end_matches('/').split('/').collect();
        let fitting = self.operations.values().filter(|operation| operation.method == method);
        let fitting = fitting.filter_map(|operation| Some((operation, matched(&operation.path, &given)?)));
        // A segment that is said wins over one that is named.
        fitting.min_by_key(|(_, names)| names.len())
    }

    /// What a log-in calls who logs in.
    pub fn login_name(&self) -> &str {
        &self.login_name
    }
}

/// What a program sends for itself, or anew with each request.
const OF_THE_CONNECTION: [&str; 12] = [
    "host",
    "connection",
    "content-length",
    "accept",
    "accept-encoding",
    "accept-language",
    "user-agent",
    "origin",
    "referer",
    "cookie",
    "pragma",
    "priority",
];

/// Whether a request says by its header which company it is about: the document has that as a parameter, or as something
/// that is shown with each request, like a token.
fn is_named_in_header(document: &Value, said: &Value) -> bool {
    let is_parameter = |one: &Value| one["in"] == "header" && one["name"] == BUSINESS_HEADER;
    let schemes = &document["components"]["securitySchemes"];
    let shown = said["security"].as_array().into_iter().flatten().filter_map(Value::as_object).flatten();
    said["parameters"].as_array().into_iter().flatten().any(is_parameter)
        || shown.into_iter().any(|(scheme, _)| is_parameter(&schemes[scheme]))
}

/// No name of an operation is longer.
const LONGEST_NAME: usize = 100;

/// So many are offered to who wrote the beginning of a name.
const MOST_NEAR: usize = 8;

/// A name as people write it, whichever way they join its words.
fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}

fn operation(document: &Value, id: &str, (method, path): (&str, &str), said: &Value) -> Operation {
    let parameters: Vec<&Value> = said["parameters"].as_array().into_iter().flatten().collect();
    let at = |place: &'static str| parameters.iter().filter(move |parameter| parameter["in"] == place);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let company = match (path.contains("{businessId}"), is_named_in_header(document, said)) {
        (true, _) => CompanyIn::Path,
        (false, true) => CompanyIn::Header,
        (false, false) => CompanyIn::Nowhere,
    };
    let query = at("query").map(|parameter| Parameter {
        name: text(&parameter["name"]),
        description: text(&parameter["description"]),
        required: parameter["required"] == true,
        narrows: parameter["x-narrows-answer"] == true,
        schema: parameter["schema"].clone(),
    });
    let headers = at("header").map(|parameter| text(&parameter["name"])).filter(|name| name != BUSINESS_HEADER);
    let body = said.get("requestBody").map(|body| {
        let media = &body["content"]["application/json"];
        let none = Map::new();
        let schemas = document["components"]["schemas"].as_object().unwrap_or(&none);
        let example = shown(schemas, media).unwrap_or(Value::Null);
        Body { schema: media["schema"].clone(), required: body["required"] == true, example }
    });
    Operation {
        id: id.to_owned(),
        method: method.to_uppercase(),
        path: path.to_owned(),
        tag: text(&said["tags"][0]),
        summary: text(&said["summary"]),
        company,
        query: query.collect(),
        headers: headers.collect(),
        body,
        message: said["x-message"].as_str().map(str::to_owned),
        permission: said["x-required-permission"].as_str().map(str::to_owned),
        responses: said["responses"].as_object().cloned().unwrap_or_default(),
        as_csv: said["x-format-csv"].as_str().map(str::to_owned),
        stem: id.len(),
    }
}

/// How much of an operation's name is the resource that it is about: `salesInvoices` of `salesInvoicesPost`, since there
/// is a `salesInvoicesGet`.
fn stem<'i>(id: &str, all: impl Iterator<Item = &'i String>) -> usize {
    let stems = all.filter_map(|known| ["List", "Get", "Run"].iter().find_map(|word| known.strip_suffix(word)));
    stems.filter(|stem| id.starts_with(stem)).map(str::len).max().unwrap_or(id.len())
}

/// What the parameters of a path stand for, where the segments fit it.
fn matched(template: &str, given: &[&str]) -> Option<IndexMap<String, String>> {
    let said: Vec<&str> = template.split('/').collect();
    if said.len() != given.len() {
        return None;
    }
    let mut names = IndexMap::new();
    for (said, given) in said.into_iter().zip(given) {
        match said.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
            Some(name) if !given.is_empty() => {
                names.insert(name.to_owned(), decoded(given));
            }
            None if said == *given => {}
            Some(_) | None => return None,
        }
    }
    Some(names)
}

fn renamed(body: &Value, from: &str, to: &str) -> Value {
    let Some(members) = body.as_object() else { return body.clone() };
    let renamed = |(name, value): (&String, &Value)| {
        let name = if name == from { to } else { name };
        (name.to_owned(), value.clone())
    };
    Value::Object(members.iter().map(renamed).collect::<Map<_, _>>())
}

/// The parameters of a query string.
pub fn pairs(query: &str) -> Vec<(String, String)> {
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decoded(&name.replace('+', " ")), decoded(&value.replace('+', " ")))
    };
    query.split('&').filter(|text| !text.is_empty()).map(pair).collect()
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');
const READABLE: &AsciiSet = &UNRESERVED.remove(b',').remove(b':').remove(b'/').remove(b'@');

pub(crate) fn segment(text: &str) -> String {
    utf8_percent_encode(text, UNRESERVED).to_string()
}

fn word(text: &str) -> String {
    utf8_percent_encode(text, READABLE).to_string()
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
pub(crate) mod tests;
