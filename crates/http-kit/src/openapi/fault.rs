//! How an operation fails, as far as the documentation tells failures apart.

use crate::failure::Failure;
use ledger_core::error::{Code, Conflict, Error, FieldErrors, Unavailable};
use ledger_core::ledger::ReplyKind;
use ledger_core::resource::Scope;
use ledger_core::resource::operation::{BodyNeed, ResourceOperations, Verb};

/// The ways an operation fails, as far as the documentation tells them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    Validation,
    Unauthenticated,
    Credentials,
    Forbidden,
    NotFound,
    NotAcceptable,
    Conflict,
    Timeout,
    PreconditionFailed,
    TooLarge,
    MediaType,
    IdempotencyMismatch,
    PreconditionRequired,
    Gone,
    UnknownHost,
    RateLimited,
    Internal,
    Unavailable,
}

impl Fault {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Validation => "ValidationFailed",
            Self::Unauthenticated => "Unauthenticated",
            Self::Credentials => "WrongCredentials",
            Self::Forbidden => "Forbidden",
            Self::NotFound => "NotFound",
            Self::NotAcceptable => "NotAcceptable",
            Self::Conflict => "Conflict",
            Self::Timeout => "RequestTimeout",
            Self::PreconditionFailed => "PreconditionFailed",
            Self::TooLarge => "PayloadTooLarge",
            Self::MediaType => "UnsupportedMediaType",
            Self::IdempotencyMismatch => "IdempotencyMismatch",
            Self::PreconditionRequired => "PreconditionRequired",
            Self::Gone => "Gone",
            Self::UnknownHost => "UnknownHost",
            Self::RateLimited => "RateLimited",
            Self::Internal => "Internal",
            Self::Unavailable => "Unavailable",
        }
    }

    pub(super) const fn description(self) -> &'static str {
        match self {
            Self::Validation => "Fields or parameters are at fault, all of them listed; or the body is not JSON.",
            Self::Unauthenticated => "No token, or one that is malformed, expired or revoked.",
            Self::Credentials => "The name or the password is wrong, or the user is disabled.",
            Self::Forbidden => "Signed in, but lacking the permission, or not to this extent.",
            Self::NotFound => "There is no such record or company, or none that you can see.",
            Self::NotAcceptable => "`Accept` allows nothing that is answered here.",
            Self::Conflict => {
                "The state of the books does not allow it, or a unique value is taken. `request_in_progress`, with \
                 `Retry-After`: the first request with this `Idempotency-Key` is still running."
            }
            Self::Timeout => "The body came too slowly.",
            Self::PreconditionFailed => "`If-Match` names another version than the record's.",
            Self::TooLarge => "The body is over the limit.",
            Self::MediaType => "The body is not plain `application/json` in UTF-8.",
            Self::IdempotencyMismatch => "The `Idempotency-Key` was used for another request.",
            Self::PreconditionRequired => "The company requires `If-Match`.",
            Self::Gone => "The dialect is past its sunset and no longer served.",
            Self::UnknownHost => "In the cloud edition: nobody keeps books under this host name.",
            Self::RateLimited => "Too many requests, or too many failed log-ins.",
            Self::Internal => "A fault on our side; quote the `X-Request-Id`.",
            Self::Unavailable => {
                "Not now; safe to repeat with the same `Idempotency-Key`. `too_slow`, without `Retry-After`: this read takes \
                 longer than a request may, and would again; the message says what is faster."
            }
        }
    }

    pub(super) fn example(self) -> Failure {
        match self {
            Self::Validation => Error::Validation(FieldErrors::one("name", "is required")).into(),
            Self::Unauthenticated => Error::Unauthenticated("The access token has expired; log in again").into(),
            Self::Credentials => Error::Unauthenticated("The name or the password is wrong").into(),
            Self::Forbidden => Error::Forbidden { permission: "party.edit".into() }.into(),
            Self::NotFound => Error::NotFound.into(),
            Self::NotAcceptable => Failure::not_acceptable("application/json"),
            Self::Conflict => Error::Conflict(Conflict {
                code: Code::Duplicate,
                title: "Another of the parties already has this value".into(),
                errors: FieldErrors::one("code", "C-1001 is already used by another of the parties"),
            })
            .into(),
            Self::Timeout => Failure::request_timeout(),
            Self::PreconditionFailed => Error::PreconditionFailed.into(),
            Self::TooLarge => Failure::payload_too_large(1_048_576),
            Self::MediaType => Failure::unsupported_media_type("The Content-Type must be application/json"),
            Self::IdempotencyMismatch => Error::IdempotencyMismatch.into(),
            Self::PreconditionRequired => Error::PreconditionRequired.into(),
            Self::Gone => Failure::gone(),
            Self::UnknownHost => Failure::unknown_host(),
            Self::RateLimited => Error::RateLimited { retry_after_seconds: 600 }.into(),
            Self::Internal => Error::internal("").into(),
            Self::Unavailable => Error::Unavailable(Unavailable::Overloaded).into(),
        }
    }
}

/// The ways in which this verb of this resource can fail.
pub(super) fn faults(resource: &ResourceOperations, verb: Verb) -> Vec<Fault> {
    // An API key may be refused anywhere.
    let mut faults =
        vec![Fault::Validation, Fault::Unauthenticated, Fault::Forbidden, Fault::NotAcceptable, Fault::RateLimited];
    if resource.names_record(verb) || resource.scope == Scope::Business {
        faults.push(Fault::NotFound);
    }
    if resource.writes(verb) {
        faults.extend([Fault::Conflict, Fault::IdempotencyMismatch]);
    }
    let is_of_several = resource.reply_kind(verb) == ReplyKind::Answered;
    if resource.writes(verb) && (resource.names_record(verb) || is_of_several) {
        faults.extend([Fault::PreconditionFailed, Fault::PreconditionRequired]);
    }
    if resource.body_need(verb) != BodyNeed::None {
        faults.extend([Fault::Timeout, Fault::TooLarge, Fault::MediaType]);
    }
    faults
}
