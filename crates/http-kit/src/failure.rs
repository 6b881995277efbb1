//! The core's errors with their HTTP status, and the few faults that only HTTP knows.

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use ledger_core::error::{Code, Error, FieldErrors, Unavailable};
use ledger_core::ids::BusinessId;

/// What a dialect renders when a request fails.
#[derive(Debug, Clone)]
pub struct Failure {
    pub status: StatusCode,
    pub code: Code,
    pub title: String,
    pub errors: FieldErrors,
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// For the log alone.
    pub detail: Option<String>,
    /// What of a company's books is not what was written: for the log of security.
    pub tampered: Option<(BusinessId, String)>,
}

impl Failure {
    pub(crate) fn new(code: Code, title: impl Into<String>) -> Self {
        Self {
            status: status(code),
            code,
            title: title.into(),
            errors: FieldErrors::default(),
            headers: Vec::new(),
            detail: None,
            tampered: None,
        }
    }

    pub fn not_found() -> Self {
        Error::NotFound.into()
    }

    pub fn method_not_allowed() -> Self {
        Self::new(Code::MethodNotAllowed, "This path does not answer this method; see Allow")
    }

    pub fn payload_too_large(limit: usize) -> Self {
        let title = format!("The body is larger than {limit} bytes");
        Self::new(Code::PayloadTooLarge, title)
    }

    pub fn unsupported_media_type(title: &str) -> Self {
        Self::new(Code::UnsupportedMediaType, title)
    }

    pub fn not_acceptable(kinds: &str) -> Self {
        Self::new(Code::NotAcceptable, format!("This is answered as {kinds}, which Accept does not allow"))
    }

    pub fn gone() -> Self {
        Self::new(Code::DialectGone, "This dialect is no longer served here; move to the other one")
    }

    pub fn unknown_host() -> Self {
        Self::new(Code::UnknownHost, "Nobody keeps books here under this host name")
    }

    pub fn suspended() -> Self {
        Self::new(Code::Suspended, "These books are suspended; ask whoever runs the server")
    }

    pub fn request_timeout() -> Self {
        Self::new(Code::RequestTimeout, "The request came too slowly")
    }

    pub fn panicked() -> Self {
        Error::internal("a handler panicked").into()
    }
}

impl From<FieldErrors> for Failure {
    fn from(errors: FieldErrors) -> Self {
        Error::from(errors).into()
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let mut failure = Self::new(error.code(), error.title());
        match error {
            Error::OfOperation(failed) => failure = Self { errors: failed.errors, ..failed.error.into() },
            Error::Validation(errors) | Error::NotAllowed { errors, .. } => failure.errors = errors,
            Error::Conflict(conflict) => failure.errors = conflict.errors,
            Error::Unauthenticated(_) | Error::SecondFactor => {
                failure.headers.push((header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")));
            }
            Error::RateLimited { retry_after_seconds } => {
                failure.headers.push((header::RETRY_AFTER, retry_after_seconds.into()));
            }
            Error::InProgress => failure.headers.push((header::RETRY_AFTER, 1_u64.into())),
            Error::Unavailable(why) => {
                let seconds: u64 = if why == Unavailable::StorageFull { 60 } else { 1 };
                failure.headers.push((header::RETRY_AFTER, seconds.into()));
            }
            Error::Tampered { business, what } => failure.tampered = Some((business, what)),
            Error::Internal(detail) => failure.detail = Some(detail),
            _ => {}
        }
        failure
    }
}

/// The status that a code always has, in both dialects.
pub const fn status(code: Code) -> StatusCode {
    match code {
        Code::ValidationFailed
        | Code::ScaleExceeded
        | Code::UnknownReference
        | Code::FeedWentBack
        | Code::MalformedJson => StatusCode::BAD_REQUEST,
        Code::Unauthenticated | Code::TotpRequired => StatusCode::UNAUTHORIZED,
        Code::Forbidden | Code::PasswordChangeRequired => StatusCode::FORBIDDEN,
        Code::NotFound => StatusCode::NOT_FOUND,
        Code::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        Code::NotAcceptable => StatusCode::NOT_ACCEPTABLE,
        Code::RequestTimeout => StatusCode::REQUEST_TIMEOUT,
        Code::Conflict
        | Code::Duplicate
        | Code::InUse
        | Code::InvalidState
        | Code::PeriodLocked
        | Code::HasAllocations
        | Code::OverAllocated
        | Code::OverCredit
        | Code::OverFulfilment
        | Code::InsufficientStock
        | Code::CreditLimitExceeded
        | Code::LastOwner
        | Code::BuiltIn
        | Code::NotATrial
        | Code::AmountTooLarge
        | Code::QuantityTooLarge
        | Code::RequestInProgress => StatusCode::CONFLICT,
        Code::DialectGone => StatusCode::GONE,
        Code::PreconditionFailed => StatusCode::PRECONDITION_FAILED,
        Code::PayloadTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Code::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        Code::UnknownHost => StatusCode::MISDIRECTED_REQUEST,
        Code::IdempotencyMismatch => StatusCode::UNPROCESSABLE_ENTITY,
        Code::PreconditionRequired => StatusCode::PRECONDITION_REQUIRED,
        Code::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        Code::Internal | Code::Tampered => StatusCode::INTERNAL_SERVER_ERROR,
        // `too_slow` has no Retry-After: it would take as long again. Nor has what a person decides.
        Code::Overloaded
        | Code::RehearsalTooLong
        | Code::StorageFull
        | Code::Unavailable
        | Code::Suspended
        | Code::CommitOutcomeUnknown
        | Code::TooSlow => StatusCode::SERVICE_UNAVAILABLE,
    }
}
