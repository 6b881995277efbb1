//! What makes a dialect: its paths, how it names the company, its log-in, and how it wraps what is said.

use crate::failure::Failure;
use ledger_core::auth::{Credentials, LoginName, Session};
use ledger_core::error::FieldErrors;
use ledger_core::resource::operation::ResourceOperations;
use ledger_core::resource::registry::registry;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::HashSet;

/// Where a dialect's requests name their company.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompanyIn {
    /// The path parameter `businessId`.
    Path,
    /// The header `X-Business-Id`.
    Header,
}

pub trait Dialect: Send + Sync + 'static {
    /// What it is called by: `A` of "dialect A".
    const LETTER: &'static str;
    /// What the documentation says of the dialect, in Markdown.
    const DESCRIPTION: &'static str;
    const COMPANY_IN: CompanyIn;
    const LOGIN_PATH: &'static str;
    const LOGIN_NAME: LoginName;
    /// Where somebody who was invited opens an account.
    const ACCEPT_PATH: &'static str;
    /// The body of a log-in.
    type Login: DeserializeOwned + JsonSchema + Send;
    /// What a log-in answers, before it is wrapped.
    type LoggedIn: Serialize + JsonSchema;
    /// The body of every failure.
    type FailureBody: JsonSchema;

    /// Below the dialect's prefix, such as `/{businessId}/parties`. A record is one segment further.
    fn collection(resource: &ResourceOperations) -> String;
    fn credentials(login: Self::Login) -> Result<Credentials, FieldErrors>;
    fn logged_in(session: Session) -> Self::LoggedIn;
    fn login_example() -> (Value, Value);
    /// The body of a success around a payload that is JSON already.
    fn success(message: &str, payload: &str) -> String;
    fn failure(failure: &Failure) -> String;
    /// The schema of a success around a payload's schema, and its name where it has one of its own.
    fn success_schema(payload_name: &str, payload: Value) -> (Option<String>, Value);
    /// What the schemas of its successes refer to, by name.
    fn schemas() -> Vec<(&'static str, Value)> {
        Vec::new()
    }
    /// How it wraps what is said, for programs that read its answers: the bodies of a `success`, of a `failure` and of what
    /// is in the success of a log-in (`loggedIn`). `$data`, `$message`, `$title`, `$errors`, `$status`, `$token`,
    /// `$seconds` and `$until` stand where these are said, `$` alone where it may be anything; all else is as it stands.
    fn wrapping() -> Value;
}

/// What the paths of a dialect begin with, letter for letter.
pub fn beginnings<D: Dialect>() -> HashSet<String> {
    let of_people = [D::LOGIN_PATH.to_owned(), D::ACCEPT_PATH.to_owned()];
    let all = registry().iter().map(D::collection).chain(of_people);
    all.filter_map(|path| path.split('/').nth(1).map(str::to_owned)).collect()
}

/// What the body of a log-in calls who logs in.
pub fn login_name<D: Dialect>() -> String {
    let (body, _) = D::login_example();
    let mut names = body.as_object().into_iter().flatten().map(|(name, _)| name);
    names.find(|name| *name != "password").cloned().unwrap_or_default()
}

/// The `errors` of both dialects: messages by field.
pub fn field_messages(failure: &Failure) -> serde_json::Map<String, Value> {
    failure.errors.iter().map(|(field, messages)| (field.clone(), messages.clone().into())).collect()
}
