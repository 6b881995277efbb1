//! The words of an operation: its summary, what it says, and what it answers.

use super::{EXAMPLE_ID, EXAMPLE_TAG, schema_object};
use crate::failure::{Failure, status};
use aide::openapi::{Header, HeaderStyle, ParameterSchemaOrContent, ReferenceOr, Response, StatusCode};
use indexmap::IndexMap;
use ledger_core::access::{Action, permission};
use ledger_core::error::Code;
use ledger_core::ledger::ReplyKind;
use ledger_core::resource::operation::{ResourceOperations, Verb};
use schemars::json_schema;
use serde_json::Value;

pub(super) fn header_words(name: &str) -> &'static str {
    match name {
        "Retry-After" => "Seconds to wait before the next attempt.",
        "WWW-Authenticate" => "How to authenticate.",
        _ => "",
    }
}

pub(super) fn code(status: &StatusCode) -> u16 {
    match status {
        StatusCode::Code(code) => *code,
        StatusCode::Range(hundreds) => hundreds * 100,
    }
}

pub(super) fn words(resource: &ResourceOperations, verb: Verb) -> (String, String) {
    let about = &resource.about;
    let noun = about.one.split_once(' ').map_or(about.one, |(_, noun)| noun);
    let is_document = resource.key.actions().contains(&Action::Post);
    match verb {
        Verb::List => (
            format!("List {}", about.many),
            format!("One page of {}, in order of `{}` unless `sort` says otherwise.", about.many, about.sorts[0]),
        ),
        Verb::Get => (format!("Get {}", about.one), format!("The {noun} as it is now, with its `ETag`.")),
        Verb::Create => (
            format!("Create {}", about.one),
            format!(
                "Makes {}. `Location` names it. Fields that are left out have their defaults.{}",
                about.one,
                if is_document {
                    format!(
                        " One that is posted needs the permission `{}` too.",
                        permission(resource.key, Action::Post)
                    )
                } else {
                    String::new()
                }
            ),
        ),
        Verb::Update if is_document => (
            format!("Replace {}", about.one),
            format!(
                "Replaces the {noun} as a whole: what is left out is cleared. What is in the books is changed by a \
                 reversal and a new entry, in one step. `status` set to `posted` posts a draft and needs `{}`; `void` \
                 takes a posted one back and needs `{}`. With `If-Match` it is refused when someone else was faster.",
                permission(resource.key, Action::Post),
                permission(resource.key, Action::Void)
            ),
        ),
        Verb::Update => (
            format!("Replace {}", about.one),
            format!(
                "Replaces the {noun} as a whole: what is left out is cleared. A body that was read can be sent back; \
                 read-only fields in it are ignored. With `If-Match` it is refused when someone else was faster."
            ),
        ),
        Verb::Delete if is_document => (
            format!("Delete {}", about.one),
            format!(
                "Removes a draft. A posted {noun} is voided instead, which needs `{}` too; it stays, with its number.",
                permission(resource.key, Action::Void)
            ),
        ),
        Verb::Delete => (
            format!("Delete {}", about.one),
            format!("Removes the {noun} if nothing refers to it. Otherwise set its status to `archived`."),
        ),
        Verb::Extra(_) => resource
            .extra(verb)
            .map(|extra| (extra.summary.replace("{one}", about.one), extra.description.replace("{noun}", noun)))
            .unwrap_or_default(),
    }
}

pub(super) const fn success_words(kind: ReplyKind) -> &'static str {
    match kind {
        ReplyKind::Listed => "The page that was asked for; one past the end is empty.",
        ReplyKind::Found => "The record.",
        ReplyKind::Created => "The record that was made.",
        ReplyKind::Updated => "The record as it is now.",
        ReplyKind::Deleted => "It is gone.",
    }
}

pub(super) fn with_headers(mut response: Response, resource: &ResourceOperations, verb: Verb) -> Response {
    let mut add = |name: &str, about: &str, example: &str| {
        response.headers.insert(name.into(), text_header(about, example));
    };
    if resource.offer(verb).paged {
        add("Link", "The sibling pages, RFC 8288.", "<?page=1>; rel=\"first\"");
    }
    match resource.reply_kind(verb) {
        ReplyKind::Found => {
            let about = "The record's version, for `If-Match`, and with it a digest of what is said of the record, for \
                         `If-None-Match`: balances and what is overdue move without a new version.";
            add("ETag", about, &format!("\"{EXAMPLE_TAG}\""));
        }
        ReplyKind::Created | ReplyKind::Updated => {
            add("ETag", "The record's version, for `If-Match`.", &format!("\"{EXAMPLE_ID}-1\""));
        }
        ReplyKind::Listed | ReplyKind::Deleted => {}
    }
    if resource.reply_kind(verb) == ReplyKind::Created {
        add("Location", "The path of the record.", EXAMPLE_ID);
    }
    if resource.writes(verb) {
        add("Idempotency-Replayed", "`true` when this is the first answer once more.", "true");
    }
    response
}

/// The permission that a verb needs; none for what is everybody's own.
pub(super) fn needed(resource: &ResourceOperations, verb: Verb) -> Value {
    if resource.key.actions().is_empty() { Value::Null } else { resource.permission(verb).into() }
}

/// The codes that a failure of this status may have.
pub(super) fn codes_header(failure: &Failure) -> ReferenceOr<Header> {
    let codes = Code::ALL.iter().filter(|code| status(**code) == failure.status).map(|code| code.as_str());
    let schema = json_schema!({"type": "string", "enum": codes.collect::<Vec<_>>()});
    let about = "A stable code for programs; `/errors/<code>` says what to do about it.";
    match text_header(about, failure.code.as_str()) {
        ReferenceOr::Item(header) => {
            ReferenceOr::Item(Header { format: ParameterSchemaOrContent::Schema(schema_object(schema)), ..header })
        }
        reference @ ReferenceOr::Reference { .. } => reference,
    }
}

pub(super) fn text_header(description: &str, example: &str) -> ReferenceOr<Header> {
    ReferenceOr::Item(Header {
        description: Some(description.into()),
        style: HeaderStyle::Simple,
        required: false,
        deprecated: None,
        format: ParameterSchemaOrContent::Schema(schema_object(json_schema!({"type": "string"}))),
        example: Some(example.into()),
        examples: IndexMap::new(),
        extensions: IndexMap::new(),
    })
}
