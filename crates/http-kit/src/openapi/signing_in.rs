//! The operations of those who are nobody yet.

use super::fault::Fault;
use super::{Document, TOKEN, extensions, headers, parameters, requirement};
use crate::dialect::Dialect;
use aide::openapi::{Operation, ReferenceOr};
use ledger_core::auth::invitation::{AcceptanceInput, Accepted, acceptance_example};
use serde_json::Value;

impl Document {
    pub(super) fn login<D: Dialect>(&mut self) -> Operation {
        let (request, answer) = D::login_example();
        let body = self.input.subschema_for::<D::Login>();
        let body = self.body(body, request);
        let payload = self.output.subschema_for::<D::LoggedIn>();
        let success = self.success::<D>("OK", "LoggedIn", payload, Some(answer), "Logged in.");
        let success = headers::of_all(success);
        let failures = [
            Fault::Validation,
            Fault::Credentials,
            Fault::Timeout,
            Fault::TooLarge,
            Fault::MediaType,
            Fault::RateLimited,
        ];
        Operation {
            tags: vec![self.tag_name::<D>("Authentication")],
            summary: Some("Log in".into()),
            description: Some(
                "Answers an access token. Send it as `Authorization: Bearer <token>`; log in again before it expires. \
                 After ten failures for one account, or twenty from one address, within 15 minutes further attempts are \
                 refused for a while."
                    .into(),
            ),
            operation_id: Some(self.operation_id::<D>("login".into())),
            request_body: Some(ReferenceOr::Item(body)),
            responses: Some(self.responses::<D>(200, success, &failures)),
            extensions: extensions::<D>(Value::Null, "OK"),
            ..Operation::default()
        }
    }

    pub(super) fn accept<D: Dialect>(&mut self) -> Operation {
        let (request, answer) = acceptance_example();
        let body = self.input.subschema_for::<AcceptanceInput>();
        let body = self.body(body, request);
        let payload = self.output.subschema_for::<Accepted>();
        let success = self.success::<D>("OK", "AcceptedInvitation", payload, Some(answer), "Accepted.");
        let success = headers::of_repeatable(success);
        let failures = [
            Fault::Validation,
            Fault::Credentials,
            Fault::Conflict,
            Fault::IdempotencyMismatch,
            Fault::Timeout,
            Fault::TooLarge,
            Fault::MediaType,
            Fault::RateLimited,
        ];
        Operation {
            tags: vec![self.tag_name::<D>("Authentication")],
            summary: Some("Accept an invitation with a new account".into()),
            description: Some(
                "Send the code that you were given as the bearer token. Opens an account for the address that the \
                 invitation was made for, with a password that only you know, and makes it a member of the company; then \
                 log in. Whoever has an account already logs in and accepts \
                 the invitation there. A code that is wrong, used, withdrawn or too old is refused like one for an address \
                 that has an account. Wrong codes are counted like failed log-ins."
                    .into(),
            ),
            operation_id: Some(self.operation_id::<D>("acceptInvitation".into())),
            parameters: vec![ReferenceOr::Item(parameters::idempotency_key())],
            security: vec![requirement(&[TOKEN])],
            request_body: Some(ReferenceOr::Item(body)),
            responses: Some(self.responses::<D>(200, success, &failures)),
            extensions: extensions::<D>(Value::Null, "OK"),
            ..Operation::default()
        }
    }
}
