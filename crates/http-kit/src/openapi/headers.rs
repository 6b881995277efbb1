//! The headers of answers, each of them.

use super::parameters::DECIMAL_FORMAT;
use super::{EXAMPLE_ID, EXAMPLE_TAG, schema_object};
use crate::failure::{Failure, status};
use crate::request::TEXTS;
use aide::openapi::{Header, HeaderStyle, ParameterSchemaOrContent, ReferenceOr, Response};
use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use indexmap::IndexMap;
use ledger_core::error::Code;
use ledger_core::ledger::ReplyKind;
use ledger_core::resource::Scope;
use ledger_core::resource::operation::{ResourceOperations, Verb};
use ledger_core::resource::registry::answering;
use schemars::Schema;
use serde_json::{Value, json};

/// What the header is called that says up to where an answer knows the books.
const LEDGER_SEQUENCE: &str = "X-Ledger-Sequence";

/// What a success of an operation says beside its body.
pub(super) fn of_success(
    response: Response,
    resource: &ResourceOperations,
    (verb, kind): (Verb, ReplyKind),
) -> Response {
    let mut response = of_books(response, resource);
    match kind {
        ReplyKind::Found => add(&mut response, "ETag", tag_of_read()),
        ReplyKind::Created | ReplyKind::Updated => add(&mut response, "ETag", tag_of_write()),
        ReplyKind::Listed | ReplyKind::Deleted | ReplyKind::Answered => {}
    }
    if kind == ReplyKind::Created {
        add(&mut response, "Location", text("The path of the record.", EXAMPLE_ID));
    }
    let texts = "`string` where decimals are texts, because that was asked for.";
    add(&mut response, DECIMAL_FORMAT, header(texts, &json!({"type": "string", "enum": [TEXTS]}), TEXTS));
    if resource.writes(verb) {
        let rehearsed = "`true` when this was a rehearsal, of which nothing is kept.";
        add(&mut response, "X-Dry-Run", header(rehearsed, &json!({"type": "boolean"}), true));
        let secrets = answering(resource, verb).secrets;
        // What is deleted is told of by its identifier.
        if let Some(one) = secrets.first().filter(|_| kind != ReplyKind::Deleted) {
            let withheld = "Of a repeat: the members that were shown once, in the first answer, and are `null` in this one; \
                            separated by commas. Whoever lost that answer exchanges the secret, or makes another.";
            add(&mut response, "X-Withheld", text(withheld, one));
        }
        return of_repeatable(response);
    }
    of_all(response)
}

/// What an answer says of the books that it is of, where they are those of a company.
pub(super) fn of_books(mut response: Response, resource: &ResourceOperations) -> Response {
    if resource.scope == Scope::Business {
        let about =
            "Up to where the answer knows the company's books: each write raises it. See `X-At-Least-Sequence`.";
        add(
            &mut response,
            LEDGER_SEQUENCE,
            header(about, &json!({"type": "integer", "format": "int64", "minimum": 0}), 42),
        );
    }
    response
}

/// What the answer says to what may be sent once more.
pub(super) fn of_repeatable(mut response: Response) -> Response {
    let replayed = "`true` when this is the first answer once more.";
    add(&mut response, "Idempotency-Replayed", header(replayed, &json!({"type": "boolean"}), true));
    of_all(response)
}

/// What the answer says of a record that is the one that the client has.
pub(super) fn of_unchanged(response: Response, resource: &ResourceOperations) -> Response {
    let mut response = of_books(response, resource);
    add(&mut response, "ETag", tag_of_read());
    of_all(response)
}

/// What a failure says beside its body.
pub(super) fn of_failure(mut response: Response, failure: &Failure) -> Response {
    let codes = Code::ALL.iter().filter(|code| status(**code) == failure.status).map(|code| code.as_str());
    let about = "A stable code for programs; `/errors/<code>` says what to do about it.";
    let schema = json!({"type": "string", "enum": codes.collect::<Vec<_>>()});
    add(&mut response, "X-Error-Code", header(about, &schema, failure.code.as_str()));
    // One of the conflicts is over soon: that the first request is still running.
    if failure.status == StatusCode::CONFLICT || failure.headers.iter().any(|(name, _)| *name == RETRY_AFTER) {
        let about = "Seconds to wait before the next attempt.";
        add(&mut response, "Retry-After", header(about, &json!({"type": "integer", "minimum": 0}), 1));
    }
    for (name, value) in failure.headers.iter().filter(|(name, _)| *name != RETRY_AFTER) {
        let said = value.to_str().unwrap_or_default();
        match name.as_str() {
            "www-authenticate" => add(&mut response, "WWW-Authenticate", text("How to authenticate.", said)),
            other => add(&mut response, other, text("", said)),
        }
    }
    of_all(response)
}

/// What every answer says.
pub(super) fn of_all(mut response: Response) -> Response {
    let links = "The sibling pages of a list, and what to read about the end of a dialect; RFC 8288.";
    let whole = |about: &str, example: i64| header(about, &json!({"type": "integer", "minimum": 0}), example);
    let all = [
        ("Link", text(links, "<?page=1>; rel=\"first\"")),
        ("X-Request-Id", text("What the request is called in our logs.", "7f3c9a52e01b")),
        ("RateLimit-Limit", whole("How many requests may be made within a minute.", 30_000)),
        ("RateLimit-Remaining", whole("How many of these are left.", 29_999)),
        ("RateLimit-Reset", whole("Seconds until there are all of them again.", 60)),
        (
            "Deprecation",
            text("Since when the dialect is not to be used any more, where it is to go; RFC 9745.", "@1767225600"),
        ),
        ("Sunset", text("When the dialect goes, where it does; RFC 8594.", "Thu, 31 Dec 2026 23:59:59 GMT")),
        ("Warning", text("That the dialect is past its day, where it is.", "299 - \"past its sunset\"")),
    ];
    for (name, header) in all {
        add(&mut response, name, header);
    }
    response
}

fn tag_of_write() -> Header {
    text("The record's version, for `If-Match`.", &format!("\"{EXAMPLE_ID}-1\""))
}

fn tag_of_read() -> Header {
    let about = "The record's version, for `If-Match`, and with it a digest of what is said of the record, for `If-None-Match`: \
                 balances and what is overdue move without a new version.";
    text(about, &format!("\"{EXAMPLE_TAG}\""))
}

fn add(response: &mut Response, name: &str, header: Header) {
    response.headers.insert(name.to_owned(), ReferenceOr::Item(header));
}

fn text(description: &str, example: &str) -> Header {
    header(description, &json!({"type": "string"}), example)
}

fn header(description: &str, schema: &Value, example: impl Into<Value>) -> Header {
    let schema = Schema::try_from(schema.clone()).unwrap_or_default();
    Header {
        description: Some(description.to_owned()),
        style: HeaderStyle::Simple,
        required: false,
        deprecated: None,
        format: ParameterSchemaOrContent::Schema(schema_object(schema)),
        example: Some(example.into()),
        examples: IndexMap::new(),
        extensions: IndexMap::new(),
    }
}
