//! Who is there: users, passwords, tokens, and how often one may guess.

pub mod invitation;
pub mod password;
pub mod recovery;
pub mod session;
pub mod sign_in;
pub mod throttle;
pub mod token;
pub mod totp;
pub mod user;
pub mod wrong_keys;

pub use password::random as random_password;
pub use session::Device;
pub use token::{TokenOptions, install_signing};
pub use user::{NewUser, UserStatus, UserSummary};

use crate::clock::Instant;
use crate::error::{Error, FieldErrors, Result};
use crate::field::{Faults, Field, Label, Maybe, Text};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use std::borrow::Cow;

/// So many random letters of 32: five bits each.
pub fn random_letters(letters: &[u8; 32], count: usize) -> Result<String> {
    let mut bytes = vec![0_u8; count];
    ring::rand::SecureRandom::fill(&ring::rand::SystemRandom::new(), &mut bytes).map_err(Error::internal)?;
    Ok(bytes.iter().map(|byte| char::from(letters[usize::from(byte % 32)])).collect())
}

/// Letters that nobody takes for others.
pub const PLAIN: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// A successful log-in.
#[derive(Debug, Clone)]
pub struct Session {
    pub token: String,
    pub expires_in_seconds: u64,
    pub expires_at: Instant,
    pub user: UserSummary,
}

/// By which of a user's names a dialect lets them log in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginName {
    EmailOrUsername,
    Email,
}

/// Who says to be who. The password is never written anywhere, not even by `Debug`.
pub struct Credentials {
    pub name: String,
    pub password: String,
    /// The code of an authenticator, or a recovery code, where one is asked for.
    pub totp_code: Option<String>,
}

/// A password as it is sent: taken as it is, spaces and all.
#[derive(Default, Deserialize)]
#[serde(transparent)]
pub struct SentPassword(String);

impl SentPassword {
    pub fn into_inner(self) -> String {
        self.0
    }
}

impl JsonSchema for SentPassword {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Password".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "password", "maxLength": password::MOST_LENGTH})
    }
}

/// What a log-in takes, once the dialect has named its field.
pub fn check_credentials(
    field: &str,
    name: Field<Label<254>>,
    password: Field<SentPassword>,
    totp_code: Maybe<Text<32>>,
) -> Result<Credentials, FieldErrors> {
    let mut faults = Faults::default();
    let name = faults.required(field, name).into_inner();
    let password = faults.required("password", password).into_inner();
    if password.chars().count() > password::MOST_LENGTH {
        faults.add("password", format!("must be at most {} characters long", password::MOST_LENGTH));
    }
    let totp_code = faults.optional("totpCode", totp_code).and_then(Text::into_option);
    faults.finish(Credentials { name, password, totp_code })
}
