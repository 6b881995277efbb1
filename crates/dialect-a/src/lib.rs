//! Dialect A: the company in the path, every answer in an envelope.
//!
//! Owns: paths, the envelope, the log-in by e-mail or username. Everything else is the same in both dialects.

use http_kit::dialect::{CompanyIn, Dialect, field_messages};
use http_kit::failure::Failure;
use http_kit::openapi::FieldMessages;
use ledger_core::auth::{Credentials, LoginName, SentPassword, Session, check_credentials};
use ledger_core::error::FieldErrors;
use ledger_core::field::{Field, Label, Maybe, Text};
use ledger_core::resource::operation::ResourceOperations;
use ledger_core::resource::{ResourceKey, Scope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;

pub struct DialectA;

/// The path segment of a resource: its name, but for those that A calls otherwise.
fn segment(key: ResourceKey) -> Cow<'static, str> {
    match key {
        ResourceKey::Businesses => "Businesses".into(),
        ResourceKey::SalesInvoices => "sales".into(),
        ResourceKey::PurchaseInvoices => "purchases".into(),
        ResourceKey::Accounts => "chart-of-accounts".into(),
        ResourceKey::Verification => "verify".into(),
        ResourceKey::InstallationLog => "InstallationLog".into(),
        ResourceKey::Profile => "Users/me".into(),
        ResourceKey::Sessions => "Users/me/sessions".into(),
        named => named.segment().into(),
    }
}

/// A log-in by e-mail or username.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields, rename = "CredentialLogin")]
pub struct Login {
    /// The user's e-mail address or username.
    credential: Field<Label<254>>,
    /// The user's password.
    password: Field<SentPassword>,
    /// The code of their authenticator, for users with a second factor; or one of their recovery codes.
    totp_code: Maybe<Text<32>>,
}

/// An access token and whose it is.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AccessToken")]
pub struct LoggedIn {
    /// JWT bearer token.
    access_token: String,
    /// Lifetime of the token in seconds.
    expires_in: u64,
    /// Who logged in.
    user: LoggedInUser,
}

/// Who logged in.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct LoggedInUser {
    /// Identifier of the user.
    id: String,
    /// E-mail address.
    email: String,
    /// Name to show.
    display_name: String,
}

/// A failure, in the envelope.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "FailureEnvelope")]
pub struct FailureEnvelope {
    /// Always `false`.
    success: bool,
    /// What went wrong, in one sentence.
    message: String,
    /// Always null.
    data: Option<Value>,
    /// Messages by field, where fields are at fault.
    errors: Option<FieldMessages>,
}

impl Dialect for DialectA {
    const LETTER: &'static str = "A";
    const DESCRIPTION: &'static str = "The company is in the path; every answer is an envelope of `success`, `message`, \
                                       `data` and `errors`. Log in with `POST /Users/login`.";
    const COMPANY_IN: CompanyIn = CompanyIn::Path;
    const LOGIN_PATH: &'static str = "/Users/login";
    const LOGIN_NAME: LoginName = LoginName::EmailOrUsername;
    const ACCEPT_PATH: &'static str = "/Users/accept-invitation";
    type Login = Login;
    type LoggedIn = LoggedIn;
    type FailureBody = FailureEnvelope;

    fn collection(resource: &ResourceOperations) -> String {
        let segment = segment(resource.key);
        match resource.scope {
            Scope::Business => format!("/{{businessId}}/{segment}"),
            Scope::Installation | Scope::Administration => format!("/{segment}"),
        }
    }

    fn credentials(login: Login) -> Result<Credentials, FieldErrors> {
        check_credentials("credential", login.credential, login.password, login.totp_code)
    }

    fn logged_in(session: Session) -> LoggedIn {
        let user = session.user;
        LoggedIn {
            access_token: session.token,
            expires_in: session.expires_in_seconds,
            user: LoggedInUser { id: user.id.to_string(), email: user.email, display_name: user.display_name },
        }
    }

    fn login_example() -> (Value, Value) {
        let user = json!({
            "id": "019a9f6e-6c00-7c55-8a77-1f3e5d7b9c03", "email": "jo@harbour.example", "displayName": "Jo Lindqvist"
        });
        (
            json!({"credential": "jo@harbour.example", "password": "correct horse battery"}),
            json!({"accessToken": "eyJhbGciOiJIUzI1NiJ9.e30.c2ln", "expiresIn": 3600, "user": user}),
        )
    }

    fn success(message: &str, payload: &str) -> String {
        format!(r#"{{"success":true,"message":"{message}","data":{payload},"errors":null}}"#)
    }

    fn failure(failure: &Failure) -> String {
        let errors = if failure.errors.is_empty() { Value::Null } else { field_messages(failure).into() };
        json!({"success": false, "message": failure.title, "data": null, "errors": errors}).to_string()
    }

    fn success_schema(payload_name: &str, payload: Value) -> (Option<String>, Value) {
        let envelope = json!({
            "type": "object",
            "description": "A success, in the envelope.",
            "properties": {
                "success": {"type": "boolean", "description": "Always `true`."},
                "message": {"$ref": "#/components/schemas/SuccessMessage"},
                "data": payload,
                "errors": {"type": "null", "description": "Always null."}
            },
            "required": ["success", "message", "data", "errors"]
        });
        (Some(format!("{payload_name}Envelope")), envelope)
    }

    fn schemas() -> Vec<(&'static str, Value)> {
        let words = ["OK", "Created", "Updated", "Deleted"];
        vec![("SuccessMessage", json!({"type": "string", "enum": words, "description": "What was done, in a word."}))]
    }

    fn wrapping() -> Value {
        json!({
            "success": {"success": true, "message": "$message", "data": "$data", "errors": null},
            "failure": {"success": false, "message": "$title", "data": null, "errors": "$errors"},
            "loggedIn": {"accessToken": "$token", "expiresIn": "$seconds", "user": "$"}
        })
    }
}
