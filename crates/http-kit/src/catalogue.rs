//! The catalogue of error codes, as a page for each: what it means, what to do about it, and how it is told.

use crate::failure::{Failure, status};
use crate::pages::{Frame, Served, escape};
use axum::Router;
use axum::http::StatusCode;
use ledger_core::error::{Code, Conflict, Error, FieldErrors, Unavailable};
use ledger_core::ids::BusinessId;
use std::sync::Arc;

/// `/errors`, and below it a page for each code.
pub(crate) fn routes(frame: &Frame, served: &[Served]) -> Router {
    let served: Arc<[Served]> = served.into();
    let all = Router::new().route("/errors", frame.later("/errors".into(), "Errors", all));
    Code::ALL.iter().fold(all, |routes, code| {
        let served = served.clone();
        let page = frame.later("/errors".into(), code.as_str(), move || told(*code, &served));
        routes.route(&format!("/errors/{code}"), page)
    })
}

/// A text in which words of the interface stand between back-ticks.
fn prose(text: &str) -> String {
    let parts = escape(text);
    let parts = parts.split('`').enumerate();
    parts.map(|(place, part)| if place % 2 == 1 { format!("<code>{part}</code>") } else { part.to_owned() }).collect()
}

fn name_of(status: StatusCode) -> String {
    format!("{} {}", status.as_u16(), status.canonical_reason().unwrap_or_default())
}

fn all() -> String {
    let row = |code: &Code| {
        format!(
            "<tr><th scope=\"row\"><a href=\"/errors/{code}\"><code>{code}</code></a></th><td>{}</td><td>{}</td></tr>\n",
            status(*code).as_u16(),
            prose(code.meaning())
        )
    };
    let rows: String = Code::ALL.iter().map(row).collect();
    format!(
        "<main>\n<h1>Errors</h1>\n<p class=\"lead\">The code of a failure is in the header <code>X-Error-Code</code>, the \
         same in every dialect. There are no others.</p>\n\
         <table>\n<thead><tr><th scope=\"col\">Code</th><th scope=\"col\">Status</th><th scope=\"col\">What happened</th></tr></thead>\n<tbody>\n{rows}</tbody></table>\n</main>"
    )
}

fn told(code: Code, served: &[Served]) -> String {
    let failure = example(code);
    let headers =
        failure.headers.iter().filter_map(|(name, value)| Some(format!("{name}: {}\n", value.to_str().ok()?)));
    let head = format!("HTTP/1.1 {}\nx-error-code: {code}\n{}", name_of(failure.status), headers.collect::<String>());
    let shown = |one: &Served| {
        let body = (one.failure)(&failure);
        // Laid out to be read; on the wire it is one line.
        let laid_out = serde_json::from_str::<serde_json::Value>(&body).map_or(body, |body| format!("{body:#}"));
        format!("<h2>{}</h2>\n<pre>{}\n{}</pre>\n", escape(&one.name), escape(&head), escape(&laid_out))
    };
    let examples: String = served.iter().map(shown).collect();
    format!(
        "<main>\n<p><a href=\"/errors\">All errors</a></p>\n<h1><code>{code}</code></h1>\n<p><small>Status {}</small></p>\n\
         <h2>What happened</h2>\n<p>{}</p>\n<h2>What to do</h2>\n<p>{}</p>\n{examples}</main>",
        name_of(status(code)),
        prose(code.meaning()),
        prose(code.remedy())
    )
}

/// How a code may be told.
fn example(code: Code) -> Failure {
    let conflict =
        |title: &str, errors: FieldErrors| Error::Conflict(Conflict { code, title: title.into(), errors }).into();
    let plain = |title: &str| conflict(title, FieldErrors::default());
    let field = |title: &str, field: &str, message: &str| conflict(title, FieldErrors::one(field, message));
    let of_field = |code: Code, field: &str, message: &str| {
        let mut errors = FieldErrors::default();
        errors.add_as(code, field, message);
        Failure::from(errors)
    };
    match code {
        Code::ValidationFailed => Error::field("lines[0].quantity", "must be greater than 0").into(),
        Code::ScaleExceeded => of_field(code, "lines[0].quantity", "must have at most 6 decimal places"),
        Code::UnknownReference => {
            of_field(code, "operations[1].body.partyId", "op7.id refers to no operation before this one")
        }
        Code::FeedWentBack => of_field(
            code,
            "after",
            "is beyond the feed, which ends at 42. If you were told of more, the company went back to a backup: read its \
             records anew, and go on with after=42",
        ),
        Code::MalformedJson => Error::MalformedJson("EOF while parsing an object at line 1 column 17".into()).into(),
        Code::Unauthenticated => Error::Unauthenticated("The access token has expired; log in again").into(),
        Code::TotpRequired => Error::SecondFactor.into(),
        Code::PasswordChangeRequired => Error::PasswordChange.into(),
        Code::Forbidden => Error::Forbidden { permission: "salesInvoice.void".into() }.into(),
        Code::NotFound => Failure::not_found(),
        Code::MethodNotAllowed => Failure::method_not_allowed(),
        Code::NotAcceptable => Failure::not_acceptable("application/json"),
        Code::RequestTimeout => Failure::request_timeout(),
        Code::Conflict => plain("The record was changed at the same time; read it again"),
        Code::Duplicate => field(
            "Another of the parties already has this value",
            "code",
            "C-1001 is already used by another of the parties",
        ),
        Code::InUse => plain("The party is in use; archive it instead"),
        Code::InvalidState => plain("A void sales invoice cannot be edited"),
        Code::PeriodLocked => field(
            "The books are closed until 2026-06-30",
            "date",
            "2026-06-12 lies in a period that is closed until 2026-06-30",
        ),
        Code::HasAllocations => field(
            "It is allocated: its exchange rate stays; remove the allocations first",
            "exchangeRate",
            "must stay as it is while something is allocated",
        ),
        Code::OverAllocated => field(
            "More would be settled than is open",
            "allocations[0].amount",
            "is more than the 119.00 that are open",
        ),
        Code::OverCredit => field("More would be credited than is left", "lines[0].quantity", "must be at most 3"),
        Code::OverFulfilment => field("More than is left of an order", "lines[0].quantity", "must be at most 6"),
        Code::InsufficientStock => field(
            "There is not enough of Espresso beans in stock: on 2026-11-20 4 would be missing",
            "lines[0].quantity",
            "takes more than there is",
        ),
        Code::CreditLimitExceeded => plain("Nordwind Coffee would owe 5200.00, more than the limit of 5000.00"),
        Code::LastOwner => plain("A company needs an owner"),
        Code::BuiltIn => plain("A built-in permission set cannot be changed; make one of your own"),
        Code::NotATrial => plain("Only a trial can be emptied; Harbour Trading is a real company, and its books stay"),
        Code::AmountTooLarge => Error::too_large().into(),
        Code::QuantityTooLarge => plain("The quantity would grow larger than it can be kept"),
        Code::RequestInProgress => Error::InProgress.into(),
        Code::DialectGone => Failure::gone(),
        Code::PreconditionFailed => Error::PreconditionFailed.into(),
        Code::PayloadTooLarge => Failure::payload_too_large(1 << 20),
        Code::UnsupportedMediaType => Failure::unsupported_media_type("The Content-Type must be application/json"),
        Code::UnknownHost => Failure::unknown_host(),
        Code::IdempotencyMismatch => Error::IdempotencyMismatch.into(),
        Code::PreconditionRequired => Error::PreconditionRequired.into(),
        Code::RateLimited => Error::RateLimited { retry_after_seconds: 600 }.into(),
        Code::Internal => Error::internal("").into(),
        Code::Tampered => Error::Tampered { business: BusinessId::default(), what: String::new() }.into(),
        Code::Overloaded => Error::Unavailable(Unavailable::Overloaded).into(),
        Code::RehearsalTooLong => Error::Unavailable(Unavailable::TooLong).into(),
        Code::StorageFull => Error::Unavailable(Unavailable::StorageFull).into(),
        Code::Unavailable => Error::Unavailable(Unavailable::DatabaseAway).into(),
        Code::Suspended => Failure::suspended(),
        Code::CommitOutcomeUnknown => Error::Unavailable(Unavailable::CommitOutcomeUnknown).into(),
        Code::TooSlow => Error::too_slow().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_is_of_its_own_code_and_status() {
        for code in Code::ALL {
            let failure = example(*code);
            assert_eq!((failure.code, failure.status), (*code, status(*code)), "{code}");
            assert!(!failure.title.is_empty(), "{code}");
        }
    }
}
