//! What an answer means, out of its dialect's wrapping: the one normaliser.
//!
//! The envelope is taken off, failures are `title`, `errors` and `code`, a log-in is the lifetime of its token, and
//! `Location` and `Link` say the operation and the record that they lead to.

use crate::dialect::{BATCH, Dialect, LOGIN, LOGIN_NAME, Operation};
use crate::wire::{Answer, Request};
use crate::wrapping::{place, unwrap};
use chrono::DateTime;
use serde_json::{Map, Value, json};

/// An answer without a dialect. One tree, so that a difference has one path.
#[derive(Debug, Clone, PartialEq)]
pub struct Meaning {
    /// `status`, `code`, `title`, `errors`, `data`, `headers`.
    pub tree: Value,
    /// Where the answer is not what its dialect promises.
    pub faults: Vec<Fault>,
    /// Where it is not what the dialect's own document says.
    pub untrue: Vec<(String, String)>,
}

/// A broken promise about the form of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub path: String,
    pub why: String,
}

impl Meaning {
    /// `operation` is what was asked for, where that is known: a log-in means something else than a record.
    pub fn of(dialect: &Dialect, operation: Option<&Operation>, answer: &Answer) -> Self {
        let mut meaning = Self { tree: Value::Null, faults: Vec::new(), untrue: Vec::new() };
        let body = meaning.body(answer);
        let (title, errors, data) = if answer.is_success() {
            let data = meaning.unwrapped(dialect, operation, body);
            (Value::Null, Value::Null, data)
        } else if body.is_null() && answer.body.is_empty() {
            (Value::Null, Value::Null, Value::Null)
        } else {
            let (title, errors) = meaning.failure(dialect, answer, &body);
            (title, renamed(dialect, operation, errors), Value::Null)
        };
        let is_login = operation.is_some_and(|operation| operation.id == LOGIN);
        let data = if is_login && answer.is_success() { login(dialect, answer, data) } else { data };
        let data = unmarked(data);
        let is_batch = operation.is_some_and(|operation| operation.id == BATCH);
        let data = if is_batch && answer.is_success() { meaning.each(dialect, data) } else { data };
        meaning.tree = json!({
            "status": answer.status,
            "code": answer.header("x-error-code"),
            "title": title,
            "errors": errors,
            "data": data,
            "headers": headers(dialect, answer),
        });
        meaning
    }

    pub fn data(&self) -> &Value {
        &self.tree["data"]
    }

    fn fault(&mut self, path: &str, why: impl Into<String>) {
        self.faults.push(Fault { path: path.to_owned(), why: why.into() });
    }

    /// The body as JSON; what comes in lines as a list of them.
    fn body(&mut self, answer: &Answer) -> Value {
        if answer.body.is_empty() {
            return Value::Null;
        }
        let media = answer.header("content-type").and_then(|form| form.split(';').next()).unwrap_or_default();
        if media == "text/csv" {
            return cells(&answer.body);
        }
        if !media.contains("json") {
            return answer.body.lines().map(Value::from).collect();
        }
        if media.contains("ndjson") {
            let read = |line: &str| serde_json::from_str::<Value>(line).unwrap_or_else(|_| line.into());
            return answer.body.lines().map(read).collect();
        }
        serde_json::from_str(&answer.body).unwrap_or_else(|error| {
            self.fault("data", format!("the body is no JSON: {error}"));
            answer.body.clone().into()
        })
    }

    /// What a wrapping is around, by name.
    fn said(&mut self, wrapping: &Value, body: Value) -> Map<String, Value> {
        let (said, faults) = unwrap(wrapping, body);
        self.faults.extend(faults);
        said
    }

    fn unwrapped(&mut self, dialect: &Dialect, operation: Option<&Operation>, body: Value) -> Value {
        let wrapping = &dialect.wrapping.success;
        // Comma-separated values and lines of JSON come without an envelope.
        if wrapping.is_object() && !body.is_object() {
            return body;
        }
        let mut said = self.said(wrapping, body);
        if let (Some(message), Some(expected)) = (said.get("message"), operation.and_then(|one| one.message.as_ref()))
            && message != expected
        {
            let path = place(wrapping, "message").unwrap_or_default();
            self.fault(&path, format!("must be {expected}"));
        }
        said.shift_remove("data").unwrap_or_default()
    }

    /// What each operation of a batch came to, each body out of the wrapping that it has by itself.
    fn each(&mut self, dialect: &Dialect, mut data: Value) -> Value {
        for result in data.get_mut("results").and_then(Value::as_array_mut).into_iter().flatten() {
            let status = result["status"].as_u64().and_then(|status| u16::try_from(status).ok()).unwrap_or_default();
            let body = result["body"].take();
            let alone = Answer { status, headers: Vec::new(), body: String::new(), micros: 0 };
            result["body"] = if alone.is_success() {
                self.unwrapped(dialect, None, body)
            } else {
                let (title, errors) = self.failure(dialect, &alone, &body);
                json!({"title": title, "errors": renamed(dialect, None, errors)})
            };
        }
        data
    }

    fn failure(&mut self, dialect: &Dialect, answer: &Answer, body: &Value) -> (Value, Value) {
        if !body.is_object() {
            self.fault("data", "a failure must be an object");
            return (body.clone(), Value::Null);
        }
        let wrapping = &dialect.wrapping.failure;
        let mut said = self.said(wrapping, body.clone());
        if let Some(status) = said.get("status").filter(|status| **status != answer.status) {
            let path = place(wrapping, "status").unwrap_or_default();
            self.fault(&path, format!("the body says {status}, the answer {}", answer.status));
        }
        let errors = match said.shift_remove("errors") {
            None | Some(Value::Null) => json!({}),
            Some(errors) => errors,
        };
        (said.shift_remove("title").unwrap_or_default(), errors)
    }
}

/// Comma-separated values, as rows of cells.
fn cells(text: &str) -> Value {
    let (mut rows, mut row, mut cell, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => cell.extend(letters.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(Value::from(std::mem::take(&mut cell))),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut cell).into());
                rows.push(Value::from(std::mem::take(&mut row)));
            }
            '\r' if !quoted => {}
            letter => cell.push(letter),
        }
    }
    if !cell.is_empty() || !row.is_empty() {
        row.push(cell.into());
        rows.push(row.into());
    }
    rows.into()
}

/// The fields at fault, in one order: that of a failure's messages has no meaning.
fn renamed(dialect: &Dialect, operation: Option<&Operation>, errors: Value) -> Value {
    let Value::Object(members) = errors else { return errors };
    let mut fields: Vec<(String, Value)> =
        members.into_iter().map(|(field, said)| (neutral_field(dialect, operation, &field).to_owned(), said)).collect();
    fields.sort_by(|(one, _), (other, _)| one.cmp(other));
    Value::Object(fields.into_iter().collect())
}

/// How a field at fault is called without a dialect: the one that says who logs in has two names.
fn neutral_field<'f>(dialect: &Dialect, operation: Option<&Operation>, field: &'f str) -> &'f str {
    let of_login = operation.is_some_and(|operation| operation.id == LOGIN);
    if of_login && field == dialect.login_name() { LOGIN_NAME } else { field }
}

/// What a log-in comes to: a token, and for how long.
fn login(dialect: &Dialect, answer: &Answer, data: Value) -> Value {
    let (said, _) = unwrap(&dialect.wrapping.logged_in, data);
    let said = |name: &str| said.get(name).unwrap_or(&Value::Null);
    let seconds = said("seconds").as_i64().or_else(|| {
        let ends = DateTime::parse_from_rfc3339(said("until").as_str()?).ok()?;
        let now = DateTime::parse_from_rfc2822(answer.header("date")?).ok()?;
        Some((ends - now).num_seconds())
    });
    json!({"token": said("token").as_str().is_some_and(|token| !token.is_empty()), LIFETIME: seconds})
}

/// What is left of the life of a token. Told to the second, it may be off by one or two.
pub const LIFETIME: &str = "lifetimeSeconds";

/// Headers that say nothing of what was asked: of the connection, of the moment, of how many requests are left, and of
/// when an operator means to switch one dialect off.
const SILENT: [&str; 16] = [
    "connection",
    "keep-alive",
    "transfer-encoding",
    "content-length",
    "content-encoding",
    "vary",
    "date",
    "server",
    "age",
    "x-request-id",
    "x-error-code",
    "ratelimit-remaining",
    "ratelimit-reset",
    "deprecation",
    "sunset",
    "warning",
];

fn headers(dialect: &Dialect, answer: &Answer) -> Value {
    let mut said: Map<String, Value> = Map::new();
    let mut names: Vec<&str> = answer.headers.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    for name in names.into_iter().filter(|name| !SILENT.contains(name)) {
        let values = answer.headers.iter().filter(|(known, _)| known == name).map(|(_, value)| value.as_str());
        let value = values.collect::<Vec<_>>().join(", ");
        let meant = match name {
            "location" => leads_to(dialect, &value),
            "link" => links(dialect, &value),
            // How far the books have gone is another thing after each write; that it is told is not.
            "x-ledger-sequence" => "told".into(),
            _ => value.into(),
        };
        if !meant.is_null() {
            said.insert(name.to_owned(), meant);
        }
    }
    said.into()
}

/// A cursor is another each time, and says the same: that there is more.
const CURSOR: &str = "cursor";

fn unmarked(mut data: Value) -> Value {
    if let Some(next) = data.pointer_mut("/pagination/nextCursor").filter(|next| next.is_string()) {
        *next = CURSOR.into();
    }
    data
}

/// The operation and the record at an address of the dialect; the address itself where it is none.
fn leads_to(dialect: &Dialect, address: &str) -> Value {
    let target = match address.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("/", |start| &rest[start..]),
        None => address,
    };
    let request = Request { method: "GET".into(), target: target.to_owned(), ..Request::default() };
    match dialect.recognise(&request) {
        Some(found) => {
            let mut said = json!({"operation": found.operation, "id": found.id});
            if !found.query.is_empty() {
                said["query"] = serde_json::to_value(&found.query).unwrap_or_default();
                if let Some(next) = said["query"].get_mut(CURSOR).filter(|next| **next != "") {
                    *next = CURSOR.into();
                }
            }
            said
        }
        None => address.into(),
    }
}

/// What a `Link` header leads to, by relation. Those that announce the end of a dialect are the operator's, not the books'.
fn links(dialect: &Dialect, value: &str) -> Value {
    let mut said = Map::new();
    for link in value.split(", <") {
        let Some((address, rest)) = link.trim_start_matches('<').split_once('>') else { return value.into() };
        let relation = rest.split("rel=").nth(1).unwrap_or_default().trim_matches(['"', ' ']);
        if !matches!(relation, "deprecation" | "sunset") {
            said.insert(relation.to_owned(), leads_to(dialect, address));
        }
    }
    if said.is_empty() { Value::Null } else { said.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::two;

    fn answer(status: u16, headers: &[(&str, &str)], body: &Value) -> Answer {
        let mut headers: Vec<(String, String)> =
            headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        headers.push(("content-type".into(), "application/json; charset=utf-8".into()));
        Answer { status, headers, body: body.to_string(), micros: 0 }
    }

    #[test]
    fn what_is_said_alike_means_the_same() {
        let (a, b) = two();
        let record = json!({"id": "p", "amount": 10.5});
        let wrapped = json!({"success": true, "message": "Created", "data": record, "errors": null});
        let in_a = answer(201, &[("location", "/a/api/b/parties/p"), ("etag", "\"p-1\"")], &wrapped);
        let in_b = answer(201, &[("location", "/b/api/parties/p"), ("etag", "\"p-1\"")], &record);
        let of = |dialect: &Dialect, answer| Meaning::of(dialect, dialect.operation("partiesCreate").ok(), answer);
        assert_eq!(of(&a, &in_a), of(&b, &in_b));
        assert!(of(&a, &in_a).faults.is_empty());
        assert_eq!(of(&b, &in_b).tree["headers"]["location"], json!({"operation": "partiesGet", "id": "p"}));

        let in_a = answer(
            400,
            &[("x-error-code", "v")],
            &json!({"success": false, "message": "No", "data": null, "errors": {"b": ["x"], "a": ["y"]}}),
        );
        let in_b = answer(
            400,
            &[("x-error-code", "v")],
            &json!({"status": 400, "title": "No", "errors": {"a": ["y"], "b": ["x"]}}),
        );
        assert_eq!(of(&a, &in_a), of(&b, &in_b));
        assert_eq!(of(&a, &in_a).tree["errors"]["a"], json!(["y"]));
    }

    #[test]
    fn what_the_operations_of_a_batch_came_to_means_the_same() {
        let (a, b) = two();
        let results = |bodies: [Value; 2]| {
            let [made, refused] = bodies;
            json!({"results": [
                {"id": "x", "status": 201, "code": null, "body": made},
                {"id": null, "status": 409, "code": "duplicate", "body": refused}
            ]})
        };
        let record = json!({"id": "p", "amount": 10.5});
        let envelope = json!({"success": true, "message": "Created", "data": record, "errors": null});
        let failed = json!({"success": false, "message": "No", "data": null, "errors": {"code": ["is taken"]}});
        let in_a = json!({"success": true, "message": "OK", "data": results([envelope, failed]), "errors": null});
        let in_b = results([record, json!({"status": 409, "title": "No", "errors": {"code": ["is taken"]}})]);
        let of = |dialect: &Dialect, body: &Value| {
            let mut batch = dialect.operation("partiesCreate").unwrap().clone();
            (batch.id, batch.message) = (BATCH.to_owned(), None);
            Meaning::of(dialect, Some(&batch), &answer(200, &[], body))
        };
        assert_eq!(of(&a, &in_a), of(&b, &in_b));
        assert!(of(&b, &in_b).faults.is_empty());
        assert_eq!(
            of(&a, &in_a).data()["results"][1]["body"],
            json!({"title": "No", "errors": {"code": ["is taken"]}})
        );
    }

    #[test]
    fn links_are_compared_by_where_they_lead() {
        let (a, b) = two();
        let of = |dialect: &Dialect, link: &str| links(dialect, link);
        let in_a = "</a/api/b/parties?page=1&q=x>; rel=\"first\", </a/api/b/parties?page=2&q=x>; rel=\"next\"";
        let in_b = "</b/api/parties?page=1&q=x>; rel=\"first\", </b/api/parties?page=2&q=x>; rel=\"next\"";
        assert_eq!(of(&a, in_a), of(&b, in_b));
        assert_eq!(of(&a, in_a)["next"]["query"], json!({"page": "2", "q": "x"}));
        assert_eq!(of(&a, "<https://example.test/guide>; rel=\"deprecation\""), Value::Null);
    }

    #[test]
    fn a_broken_wrapping_is_a_fault_with_its_path() {
        let (a, b) = two();
        let paths = |dialect: &Dialect, answer: &Answer| {
            let meaning = Meaning::of(dialect, dialect.operation("partiesCreate").ok(), answer);
            meaning.faults.into_iter().map(|fault| fault.path).collect::<Vec<_>>()
        };
        for (status, body, expected) in [
            (201, json!({"success": true, "message": "Created", "data": {}}), vec!["errors"]),
            (201, json!({"success": false, "message": "Created", "data": {}, "errors": null}), vec!["success"]),
            (201, json!({"success": true, "message": "OK", "data": {}, "errors": null}), vec!["message"]),
            (
                409,
                json!({"success": false, "message": "x", "data": {}, "errors": null, "code": 1}),
                vec!["code", "data"],
            ),
        ] {
            assert_eq!(paths(&a, &answer(status, &[], &body)), expected, "{body}");
        }
        assert_eq!(paths(&b, &answer(409, &[], &json!({"status": 400, "title": "x", "errors": {}}))), ["status"]);
        assert_eq!(paths(&b, &answer(409, &[], &json!({"status": 409, "title": "x"}))), ["errors"]);
    }

    #[test]
    fn comma_separated_values_are_compared_by_cell() {
        let read = cells("a,b\r\n\"x, \"\"y\"\"\",\"two\nlines\"\n,last");
        assert_eq!(read, json!([["a", "b"], ["x, \"y\"", "two\nlines"], ["", "last"]]));
    }

    #[test]
    fn both_log_ins_come_to_a_lifetime() {
        let (a, b) = two();
        let date = ("date", "Sat, 21 Nov 2026 09:00:00 GMT");
        let in_a = json!({"success": true, "message": "OK", "data": {"accessToken": "t", "expiresIn": 3600, "user": {}}, "errors": null});
        let in_b = json!({"token": "t", "expiresAt": "2026-11-21T10:00:00.400000Z"});
        let of =
            |dialect: &Dialect, body| Meaning::of(dialect, dialect.operations.get(LOGIN), &answer(200, &[date], body));
        assert_eq!(of(&a, &in_a), of(&b, &in_b));
        assert_eq!(of(&a, &in_a).data(), &json!({"token": true, "lifetimeSeconds": 3600}));
    }
}
