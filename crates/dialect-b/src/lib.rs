//! Dialect B: the company in the header `X-Business-Id`, raw bodies, problem-style errors.
//!
//! Owns: paths, the problem body, the log-in by e-mail. Everything else is the same in both dialects.

use http_kit::dialect::{CompanyIn, Dialect, field_messages};
use http_kit::failure::Failure;
use http_kit::openapi::FieldMessages;
use ledger_core::auth::{Credentials, LoginName, SentPassword, Session, check_credentials};
use ledger_core::clock::Instant;
use ledger_core::error::FieldErrors;
use ledger_core::field::{Field, Label, Maybe, Text};
use ledger_core::resource::ResourceKey;
use ledger_core::resource::operation::ResourceOperations;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;

pub struct DialectB;

/// The path segment of a resource: its name, but for those that B calls otherwise.
fn segment(key: ResourceKey) -> Cow<'static, str> {
    match key {
        ResourceKey::Verification => "verify".into(),
        ResourceKey::Profile => "auth/me".into(),
        ResourceKey::Sessions => "auth/me/sessions".into(),
        named => named.segment().into(),
    }
}

/// A log-in by e-mail.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields, rename = "EmailLogin")]
pub struct Login {
    /// The user's e-mail address.
    email: Field<Label<254>>,
    /// The user's password.
    password: Field<SentPassword>,
    /// The code of their authenticator, for users with a second factor; or one of their recovery codes.
    totp_code: Maybe<Text<32>>,
}

/// A bearer token and how long it is good.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "BearerToken")]
pub struct LoggedIn {
    /// JWT bearer token.
    token: String,
    /// When the token expires, UTC.
    expires_at: Instant,
}

/// A failure.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Problem")]
pub struct Problem {
    /// The HTTP status code.
    status: u16,
    /// What went wrong, in one sentence.
    title: String,
    /// Messages by field; empty where no field is at fault.
    errors: FieldMessages,
}

impl Dialect for DialectB {
    const LETTER: &'static str = "B";
    const DESCRIPTION: &'static str = "The company is in the header `X-Business-Id`; bodies are the records themselves, \
                                       failures are `status`, `title` and `errors`. Log in with `POST /auth/login`.";
    const COMPANY_IN: CompanyIn = CompanyIn::Header;
    const LOGIN_PATH: &'static str = "/auth/login";
    const LOGIN_NAME: LoginName = LoginName::Email;
    const ACCEPT_PATH: &'static str = "/auth/accept-invitation";
    type Login = Login;
    type LoggedIn = LoggedIn;
    type FailureBody = Problem;

    fn collection(resource: &ResourceOperations) -> String {
        format!("/{}", segment(resource.key))
    }

    fn credentials(login: Login) -> Result<Credentials, FieldErrors> {
        check_credentials("email", login.email, login.password, login.totp_code)
    }

    fn logged_in(session: Session) -> LoggedIn {
        LoggedIn { token: session.token, expires_at: session.expires_at }
    }

    fn login_example() -> (Value, Value) {
        (
            json!({"email": "jo@harbour.example", "password": "correct horse battery"}),
            json!({"token": "eyJhbGciOiJIUzI1NiJ9.e30.c2ln", "expiresAt": "2026-11-20T10:30:00.000000Z"}),
        )
    }

    fn success(_: &str, payload: &str) -> String {
        payload.to_owned()
    }

    fn failure(failure: &Failure) -> String {
        json!({"status": failure.status.as_u16(), "title": failure.title, "errors": field_messages(failure)})
            .to_string()
    }

    fn success_schema(_: &str, payload: Value) -> (Option<String>, Value) {
        (None, payload)
    }

    fn wrapping() -> Value {
        json!({
            "success": "$data",
            "failure": {"status": "$status", "title": "$title", "errors": "$errors"},
            "loggedIn": {"token": "$token", "expiresAt": "$until"}
        })
    }
}
