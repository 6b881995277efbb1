//! What can go wrong, named once. The dialects only render it; nothing here knows a status code.

use crate::digits;
pub use crate::error_code::Code;
use crate::ids::BusinessId;
use crate::quoting::clipped;
use indexmap::IndexMap;
use sea_orm::DbErr;
use std::borrow::Cow;
use std::fmt;

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Every fault of a request by its JSON path: `lines[1].quantity` -> messages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldErrors {
    fields: IndexMap<String, Vec<String>>,
    /// What all of them are told by, once there is one.
    code: Option<Code>,
}

/// More faults than a person reads; what is beyond is not worth an attacker's while either.
const MOST_FAULTS: usize = 100;
const MOST_OF_ONE_FIELD: usize = 10;
/// Longer than any path or message of ours. What is quoted is cut where it is quoted; this holds what was forgotten.
const LONGEST_PATH: usize = 400;
const LONGEST_MESSAGE: usize = 1_000;
/// What a reader of JSON says where it ends.
const LONGEST_REASON: usize = 200;

impl FieldErrors {
    pub fn one(field: &str, message: impl Into<String>) -> Self {
        let mut errors = Self::default();
        errors.add(field, message);
        errors
    }

    pub fn add(&mut self, field: impl Into<String>, message: impl Into<String>) {
        let message = message.into();
        // Wherever a number is read or judged: that it has too many decimals is told by a code of its own.
        let code = if digits::is_too_precise(&message) { Code::ScaleExceeded } else { Code::ValidationFailed };
        self.add_as(code, field, message);
    }

    /// A fault with a code of its own, which is told where all faults have it. Faults of several kinds are told as what they
    /// have in common.
    pub fn add_as(&mut self, code: Code, field: impl Into<String>, message: impl Into<String>) {
        self.code = match self.code {
            Some(other) if other != code => Some(Code::ValidationFailed),
            Some(_) | None => Some(code),
        };
        let (field, message) = (cut(field.into(), LONGEST_PATH), cut(message.into(), LONGEST_MESSAGE));
        if self.is_full() && !self.fields.contains_key(&field) {
            return;
        }
        let messages = self.fields.entry(field).or_default();
        if messages.len() < MOST_OF_ONE_FIELD && !messages.contains(&message) {
            messages.push(message);
        }
    }

    /// What they are told by.
    pub fn code(&self) -> Code {
        self.code.unwrap_or(Code::ValidationFailed)
    }

    pub fn extend(&mut self, other: Self) {
        self.extend_under(|field| field, other);
    }

    /// The faults of a part, whose fields are called so in the whole.
    pub fn extend_under(&mut self, called: impl Fn(String) -> String, part: Self) {
        let code = part.code();
        for (field, messages) in part.fields {
            let field = called(field);
            for message in messages {
                self.add_as(code, field.clone(), message);
            }
        }
    }

    /// Whether looking for more faults is in vain.
    pub fn is_full(&self) -> bool {
        self.fields.len() >= MOST_FAULTS
    }

    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&String, &Vec<String>)> {
        self.fields.iter()
    }
}

fn cut(text: String, most: usize) -> String {
    match clipped(&text, most) {
        Cow::Owned(shorter) => shorter,
        Cow::Borrowed(_) => text,
    }
}

/// One failure of one request. Messages are for the caller; `Internal` carries what only the log may see.
#[derive(Debug, Clone)]
pub enum Error {
    /// Fields or parameters are at fault, all of them listed.
    Validation(FieldErrors),
    /// The body is not JSON at all.
    MalformedJson(String),
    /// Nobody is signed in, or no longer; the text says which.
    Unauthenticated(&'static str),
    /// Signed in, but lacking this permission.
    Forbidden { permission: String },
    /// Signed in and permitted, but not to this extent.
    NotAllowed { title: String, errors: FieldErrors },
    /// The name and the password are right; the code of the authenticator is still to come.
    SecondFactor,
    /// Signed in, but somebody else chose the password: another one comes first.
    PasswordChange,
    /// It does not exist, or not for this caller: the two are not told apart.
    NotFound,
    /// The books are in a state that does not allow it.
    Conflict(Conflict),
    /// `If-Match` names another version than the record's.
    PreconditionFailed,
    /// The company asks for `If-Match` and there was none.
    PreconditionRequired,
    /// The idempotency key was used for another request.
    IdempotencyMismatch,
    /// The first request with this idempotency key has not come to its end.
    InProgress,
    /// Too many attempts; come back later.
    RateLimited { retry_after_seconds: u64 },
    /// Nothing is wrong with the request; the server cannot take it now.
    Unavailable(Unavailable),
    /// A read took longer than anybody waits, and would again. It says what would be faster.
    TooSlow { faster: String },
    /// What is stored is not what the server wrote: somebody changed it behind its back, or the disk did. It says what, for the
    /// log and for whoever proves the books.
    Tampered { business: BusinessId, what: String },
    /// One of several operations that are done all or none.
    OfOperation(Box<OfOperation>),
    /// A bug or a broken database. The detail is for the log alone.
    Internal(String),
}

/// Why operations that are done all or none are not done: one of them failed.
#[derive(Debug, Clone)]
pub struct OfOperation {
    /// Its place among them, from 0.
    pub place: usize,
    pub error: Error,
    /// What it says of fields, each called as in the whole.
    pub errors: FieldErrors,
}

/// A state of the books that forbids a change.
#[derive(Debug, Clone)]
pub struct Conflict {
    pub code: Code,
    pub title: String,
    pub errors: FieldErrors,
}

/// Why a request cannot be served right now. All are safe to retry with the same idempotency key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unavailable {
    Overloaded,
    /// A read was ended because the database's log grew too long beside it.
    Outgrown,
    /// A rehearsal, which leaves nothing, took more of what everybody's writes wait for than it may.
    TooLong,
    StorageFull,
    DatabaseAway,
    /// They are on their way to another place, and nothing is written meanwhile.
    Moving,
    ShuttingDown,
    CommitOutcomeUnknown,
}

impl Error {
    pub fn conflict(code: Code, title: impl Into<String>) -> Self {
        Self::Conflict(Conflict { code, title: title.into(), errors: FieldErrors::default() })
    }

    pub fn not_allowed(title: impl Into<String>, errors: FieldErrors) -> Self {
        Self::NotAllowed { title: title.into(), errors }
    }

    pub fn field(field: &str, message: impl Into<String>) -> Self {
        Self::Validation(FieldErrors::one(field, message))
    }

    /// A sum beyond what the books can keep.
    pub fn too_large() -> Self {
        Self::conflict(Code::AmountTooLarge, "The sums of the books would grow larger than they can be kept")
    }

    /// A read took too long, where nobody knows what of it is dear.
    pub fn too_slow() -> Self {
        Self::TooSlow { faster: "ask for less at once".into() }
    }

    pub fn internal(detail: impl fmt::Display) -> Self {
        Self::Internal(detail.to_string())
    }

    /// What it says of fields.
    pub fn into_fields(self) -> FieldErrors {
        match self {
            Self::Validation(errors) | Self::NotAllowed { errors, .. } => errors,
            Self::Conflict(conflict) => conflict.errors,
            Self::OfOperation(failed) => failed.errors,
            _ => FieldErrors::default(),
        }
    }

    /// Whether it is the request that is at fault, or the books that do not allow it: not the server.
    pub const fn is_of_the_caller(&self) -> bool {
        !matches!(self, Self::Unavailable(_) | Self::TooSlow { .. } | Self::Tampered { .. } | Self::Internal(_))
    }

    /// Why some of the books cannot be read, where they themselves are the cause. Where the database is away, or it takes too
    /// long, nothing is known of the books.
    pub fn of_the_books(self) -> Result<String, Self> {
        match self {
            Self::Internal(why) | Self::Tampered { what: why, .. } => Ok(why),
            other if other.is_of_the_caller() => Ok(other.title()),
            other => Err(other),
        }
    }

    /// The stable machine code that travels in `X-Error-Code`.
    pub fn code(&self) -> Code {
        match self {
            Self::Validation(errors) => errors.code(),
            Self::OfOperation(failed) => failed.error.code(),
            Self::MalformedJson(_) => Code::MalformedJson,
            Self::Unauthenticated(_) => Code::Unauthenticated,
            Self::SecondFactor => Code::TotpRequired,
            Self::PasswordChange => Code::PasswordChangeRequired,
            Self::Forbidden { .. } | Self::NotAllowed { .. } => Code::Forbidden,
            Self::NotFound => Code::NotFound,
            Self::Conflict(conflict) => conflict.code,
            Self::PreconditionFailed => Code::PreconditionFailed,
            Self::PreconditionRequired => Code::PreconditionRequired,
            Self::IdempotencyMismatch => Code::IdempotencyMismatch,
            Self::InProgress => Code::RequestInProgress,
            Self::RateLimited { .. } => Code::RateLimited,
            Self::Unavailable(why) => match why {
                Unavailable::Overloaded | Unavailable::Outgrown => Code::Overloaded,
                Unavailable::TooLong => Code::RehearsalTooLong,
                Unavailable::StorageFull => Code::StorageFull,
                Unavailable::DatabaseAway | Unavailable::Moving | Unavailable::ShuttingDown => Code::Unavailable,
                Unavailable::CommitOutcomeUnknown => Code::CommitOutcomeUnknown,
            },
            Self::TooSlow { .. } => Code::TooSlow,
            Self::Tampered { .. } => Code::Tampered,
            Self::Internal(_) => Code::Internal,
        }
    }

    /// What the caller is told, in one sentence.
    pub fn title(&self) -> String {
        match self {
            Self::Validation(_) => "Validation failed".into(),
            Self::OfOperation(failed) => failed.error.title(),
            Self::MalformedJson(why) => format!("The body is not valid JSON: {}", clipped(why, LONGEST_REASON)),
            Self::Unauthenticated(why) => (*why).into(),
            Self::Forbidden { permission } => format!("You need the permission {permission} for this"),
            Self::NotAllowed { title, .. } => title.clone(),
            Self::SecondFactor => "Give the code of your authenticator as totpCode".into(),
            Self::PasswordChange => {
                "Choose another password first: send currentPassword and newPassword to the path of your account that ends \
                 with me/password, then log in again"
                    .into()
            }
            Self::NotFound => "Not found".into(),
            Self::Conflict(conflict) => conflict.title.clone(),
            Self::PreconditionFailed => "The record is not as If-Match or If-None-Match says; read it again".into(),
            Self::PreconditionRequired => "This company requires an If-Match header with the record's ETag".into(),
            Self::IdempotencyMismatch => "This Idempotency-Key was already used for a different request".into(),
            Self::InProgress => {
                "The first request with this Idempotency-Key is still running; ask again shortly for its answer".into()
            }
            Self::RateLimited { retry_after_seconds } => {
                format!("Too many attempts; try again in {retry_after_seconds} seconds")
            }
            Self::Unavailable(why) => match why {
                Unavailable::Overloaded => "The server is busy; try again shortly",
                Unavailable::Outgrown => {
                    "Much was written while this was read, and it had to end; ask for less, or when less is written"
                }
                Unavailable::TooLong => {
                    "A rehearsal of this takes longer than rehearsals may; rehearse less at once, or do it without dryRun"
                }
                Unavailable::StorageFull => "The server's storage is full; nothing was written",
                Unavailable::DatabaseAway => "The database does not answer, or takes no writes just now; try again shortly",
                Unavailable::Moving => "The books are being moved; try again shortly",
                Unavailable::ShuttingDown => "The server is shutting down; try again shortly",
                Unavailable::CommitOutcomeUnknown => {
                    "It is not known whether this was written; repeat it with the same Idempotency-Key"
                }
            }
            .into(),
            Self::TooSlow { faster } => format!("This takes longer than a request may; {faster}"),
            Self::Tampered { .. } => {
                "What is kept of this is not what was written; duet verify says what was changed. Quote the X-Request-Id"
                    .into()
            }
            Self::Internal(_) => "Something went wrong on our side; quote the X-Request-Id".into(),
        }
    }
}

impl From<FieldErrors> for Error {
    fn from(errors: FieldErrors) -> Self {
        Self::Validation(errors)
    }
}

impl From<DbErr> for Error {
    fn from(error: DbErr) -> Self {
        crate::fault::explain(&error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_books_are_the_cause_of_is_told_of_them() {
        assert_eq!(Error::internal("a sum is torn").of_the_books().ok().as_deref(), Some("a sum is torn"));
        assert!(Error::too_large().of_the_books().is_ok_and(|why| why.contains("grow larger")));
        for nothing_is_known in [Error::Unavailable(Unavailable::DatabaseAway), Error::too_slow()] {
            assert!(nothing_is_known.of_the_books().is_err());
        }
    }

    #[test]
    fn faults_of_one_kind_are_told_by_its_code() {
        let mut faults = FieldErrors::default();
        faults.add_as(Code::ScaleExceeded, "amount", "has too many decimals");
        faults.add_as(Code::ScaleExceeded, "lines[0].amount", "has too many decimals");
        assert_eq!(Error::from(faults.clone()).code(), Code::ScaleExceeded);
        let mut whole = FieldErrors::default();
        whole.extend(faults);
        assert_eq!(whole.code(), Code::ScaleExceeded);
        whole.add("name", "is required");
        assert_eq!(Error::from(whole).code(), Code::ValidationFailed);
    }

    #[test]
    fn faults_are_bounded_in_every_direction() {
        let mut faults = FieldErrors::default();
        for field in 0..1_000 {
            for message in 0..100 {
                faults.add(format!("{field}{}", "f".repeat(5_000)), format!("{message}{}", "é".repeat(5_000)));
            }
        }
        assert_eq!(faults.iter().count(), MOST_FAULTS);
        for (field, messages) in faults.iter() {
            assert_eq!((field.chars().count(), messages.len()), (LONGEST_PATH + 1, MOST_OF_ONE_FIELD));
            assert!(messages.iter().all(|message| message.chars().count() == LONGEST_MESSAGE + 1));
        }
    }
}
