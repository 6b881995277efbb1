//! The words of an operation: its summary, what it says, and what it answers.

use aide::openapi::StatusCode;
use ledger_core::access::{Action, permission};
use ledger_core::ledger::ReplyKind;
use ledger_core::resource::operation::{ResourceOperations, Verb};
use serde_json::Value;

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
        Verb::Upsert => (
            format!("Create or replace {} by its externalId", about.one),
            format!(
                "Replaces the {noun} with this `externalId` as a whole, or makes it: 200 or 201. What is sent twice is \
                 done once. The `{{id}}` of the path is the identifier elsewhere, which the body may leave out. To make one \
                 needs the permission `{}` too.",
                permission(resource.key, Action::Create)
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
        ReplyKind::Answered => "What each operation came to.",
    }
}

/// The permission that a verb needs; none for what is everybody's own.
pub(super) fn needed(resource: &ResourceOperations, verb: Verb) -> Value {
    if resource.key.actions().is_empty() { Value::Null } else { resource.permission(verb).into() }
}
