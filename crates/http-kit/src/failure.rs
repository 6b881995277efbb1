//! The core's errors with their HTTP status, and the few faults that only HTTP knows.

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use ledger_core::error::{Error, FieldErrors, Unavailable};

/// What a dialect renders when a request fails.
#[derive(Debug, Clone)]
pub struct Failure {
    pub status: StatusCode,
    pub code: &'static str,
    pub title: String,
    pub errors: FieldErrors,
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// For the log alone.
    pub detail: Option<String>,
}

impl Failure {
    fn new(status: StatusCode, code: &'static str, title: impl Into<String>) -> Self {
        Self { status, code, title: title.into(), errors: FieldErrors::default(), headers: Vec::new(), detail: None }
    }

    pub fn not_found() -> Self {
        Error::NotFound.into()
    }

    pub fn method_not_allowed() -> Self {
        Self::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "method_not_allowed",
            "This path does not answer this method; see Allow",
        )
    }

    pub fn payload_too_large(limit: usize) -> Self {
        let title = format!("The body is larger than {limit} bytes");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "payload_too_large", title)
    }

    pub fn unsupported_media_type(title: &str) -> Self {
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", title)
    }

    pub fn gone() -> Self {
        Self::new(StatusCode::GONE, "dialect_gone", "This dialect is no longer served here; move to the other one")
    }

    pub fn unknown_host() -> Self {
        Self::new(StatusCode::MISDIRECTED_REQUEST, "unknown_host", "Nobody keeps books here under this host name")
    }

    pub fn request_timeout() -> Self {
        Self::new(StatusCode::REQUEST_TIMEOUT, "request_timeout", "The request came too slowly")
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
        let mut failure = Self::new(status(&error), error.code(), error.title());
        match error {
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
            Error::Internal(detail) => failure.detail = Some(detail),
            _ => {}
        }
        failure
    }
}

fn status(error: &Error) -> StatusCode {
    match error {
        Error::Validation(_) | Error::MalformedJson(_) => StatusCode::BAD_REQUEST,
        Error::Unauthenticated(_) | Error::SecondFactor => StatusCode::UNAUTHORIZED,
        Error::Forbidden { .. } | Error::NotAllowed { .. } | Error::PasswordChange => StatusCode::FORBIDDEN,
        Error::NotFound => StatusCode::NOT_FOUND,
        Error::Conflict(_) | Error::InProgress => StatusCode::CONFLICT,
        Error::PreconditionFailed => StatusCode::PRECONDITION_FAILED,
        Error::PreconditionRequired => StatusCode::PRECONDITION_REQUIRED,
        Error::IdempotencyMismatch => StatusCode::UNPROCESSABLE_ENTITY,
        Error::RateLimited { .. } => StatusCode::TOO_MANY_REQUESTS,
        // Without Retry-After: it would take as long again.
        Error::Unavailable(_) | Error::TooSlow { .. } => StatusCode::SERVICE_UNAVAILABLE,
        Error::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
    }
}
