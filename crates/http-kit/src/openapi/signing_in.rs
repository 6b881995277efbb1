//! The operations of those who are nobody yet.

use super::fault::Fault;
use super::{Document, TOKEN, extensions, headers, parameters, requirement};
use crate::dialect::Dialect;
use aide::openapi::{Operation, ReferenceOr, RequestBody, Response};
use ledger_core::auth::invitation::{AcceptanceInput, Accepted, acceptance_example};
use serde_json::Value;

/// What whoever is nobody yet may be told.
const REFUSALS: [Fault; 6] =
    [Fault::Validation, Fault::Credentials, Fault::Timeout, Fault::TooLarge, Fault::MediaType, Fault::RateLimited];

/// An operation in words: its name, what it is, and what it does.
type Words = (&'static str, &'static str, &'static str);

impl Document {
    pub(super) fn login<D: Dialect>(&mut self) -> Operation {
        let (request, answer) = D::login_example();
        let body = self.input.subschema_for::<D::Login>();
        let body = self.body(body, request);
        let payload = self.output.subschema_for::<D::LoggedIn>();
        let success = self.success::<D>("OK", "LoggedIn", payload, Some(answer), "Logged in.");
        let about = "Answers an access token. Send it as `Authorization: Bearer <token>`; log in again before it expires. \
                     After ten failures for one account, or twenty from one address, within 15 minutes further attempts \
                     are refused for a while.";
        self.of_nobody::<D>(("login", "Log in", about), body, headers::of_all(success), &REFUSALS)
    }

    pub(super) fn accept<D: Dialect>(&mut self) -> Operation {
        let (request, answer) = acceptance_example();
        let body = self.input.subschema_for::<AcceptanceInput>();
        let body = self.body(body, request);
        let payload = self.output.subschema_for::<Accepted>();
        let success = self.success::<D>("OK", "AcceptedInvitation", payload, Some(answer), "Accepted.");
        let about = "Send the code that you were given as the bearer token. Opens an account for the address that the \
                     invitation was made for, with a password that only you know, and makes it a member of the company; \
                     then log in. Whoever has an account already logs in and accepts the invitation there. A code that is \
                     wrong, used, withdrawn or too old is refused like one for an address that has an account. Wrong codes \
                     are counted like failed log-ins.";
        let words = ("acceptInvitation", "Accept an invitation with a new account", about);
        let refusals = [&REFUSALS[..], &[Fault::Conflict, Fault::IdempotencyMismatch]].concat();
        Operation {
            parameters: vec![ReferenceOr::Item(parameters::idempotency_key())],
            security: vec![requirement(&[TOKEN])],
            ..self.of_nobody::<D>(words, body, headers::of_repeatable(success), &refusals)
        }
    }

    fn of_nobody<D: Dialect>(
        &mut self,
        (id, summary, about): Words,
        body: RequestBody,
        success: Response,
        refusals: &[Fault],
    ) -> Operation {
        Operation {
            tags: vec![self.tag_name::<D>("Authentication")],
            summary: Some(summary.into()),
            description: Some(about.into()),
            operation_id: Some(self.operation_id::<D>(id.into())),
            request_body: Some(ReferenceOr::Item(body)),
            responses: Some(self.responses::<D>(200, success, refusals)),
            extensions: extensions::<D>(Value::Null, "OK"),
            ..Operation::default()
        }
    }
}
