//! The codes that failures are told by, each with what it means and what to do about it.
//!
//! A closed list: nothing is answered with a code that is not in it, because there is no other way to name one.

macro_rules! codes {
    ($($(#[doc = $about:literal])+ $name:ident = $text:literal, $remedy:literal;)+) => {
        /// A stable word for programs. It travels in `X-Error-Code`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code {
            $($(#[doc = $about])+ $name,)+
        }

        impl Code {
            pub const ALL: &[Self] = &[$(Self::$name),+];

            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)+
                }
            }

            /// What happened, as it is declared above.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Self::$name => concat!($($about),+).trim_ascii(),)+
                }
            }

            /// What the caller does about it.
            pub const fn remedy(self) -> &'static str {
                match self {
                    $(Self::$name => $remedy,)+
                }
            }
        }
    };
}

codes! {
    /// Fields of the body, parameters of the query or headers are at fault; `errors` names each of them with its path.
    ValidationFailed = "validation_failed", "Correct what `errors` names. All faults are told at once. Nothing was written.";
    /// A number has more decimals than are kept of it: an amount more than its currency has.
    ScaleExceeded = "scale_exceeded", "Round the values that `errors` names, and send them again. Nothing was written.";
    /// An operation of a batch refers to what no operation before it answers.
    UnknownReference = "unknown_reference", "Look at the place that `errors` names: a reference is the `id` of an earlier operation and a member of its answer, such as `op1.id`.";
    /// The feed of events ends before the place that you name. If you were told of more, the company was put back to a backup.
    FeedWentBack = "feed_went_back", "Read the records of the company anew, and go on with the place that `errors` names: what happened since the backup is not in the books any more.";
    /// The body is no JSON.
    MalformedJson = "malformed_json", "Look at the place that the message names: a comma too many, a quote too few, or an empty body.";
    /// There is no token, or it is malformed, expired, revoked, or of somebody who may not sign in; or the name or the password is wrong.
    Unauthenticated = "unauthenticated", "Log in again and send `Authorization: Bearer <token>`. Whoever forgot a password asks an administrator.";
    /// Name and password are right, and the account has a second factor.
    TotpRequired = "totp_required", "Send the same log-in with `totpCode`, the code that the authenticator shows now.";
    /// Somebody else chose the password of this account, so it is good for choosing another one alone.
    PasswordChangeRequired = "password_change_required", "Choose another password: `currentPassword` and `newPassword` to the path of your account that ends with `me/password`. Then log in again.";
    /// You are signed in, and your permission set or your key does not allow this, or not to this extent.
    Forbidden = "forbidden", "The message names the permission that is missing. Ask somebody who may grant it.";
    /// There is no such path, record or company, or none that you may see: the two are not told apart.
    NotFound = "not_found", "Look at the identifier, at the company, and at the path. A record of another company is not found either.";
    /// The path is known and does not answer this method.
    MethodNotAllowed = "method_not_allowed", "Use one of the methods that the header `Allow` names.";
    /// The header `Accept` allows nothing that is answered here.
    NotAcceptable = "not_acceptable", "Send `Accept: application/json`, or none. A report comes as CSV with `format=csv`.";
    /// The body came too slowly.
    RequestTimeout = "request_timeout", "Send it again, with the same `Idempotency-Key`. Nothing was written.";
    /// The books do not allow it now, and no other code says why.
    Conflict = "conflict", "Read the message; read the record again and decide anew.";
    /// A value that must be unique is taken.
    Duplicate = "duplicate", "`errors` names the field. Choose another value, or use the record that has it.";
    /// Others name or need it, so it can neither go nor change like this.
    InUse = "in_use", "Archive it instead, or change first what needs it. `errors` says what that is where it can be told.";
    /// What stands like this cannot be changed like that: it is void, posted, closed, or has not begun.
    InvalidState = "invalid_state", "Read the record; `allowedActions` says what can be done with a document now.";
    /// The day lies in a locked period or a closed year.
    PeriodLocked = "period_locked", "Date it after the lock, or have the period opened by somebody who may.";
    /// Something is allocated to the document.
    HasAllocations = "has_allocations", "Take the allocations back first, or void what was allocated.";
    /// More would be allocated than is open.
    OverAllocated = "over_allocated", "Allocate at most what is left; read the document again for its `balanceDue`.";
    /// More would be credited than is left of the document.
    OverCredit = "over_credit", "Credit at most what is left of each line.";
    /// More would be delivered, received, invoiced or returned than is left of a line.
    OverFulfilment = "over_fulfilment", "Take at most what is left of the line; the message says how much that is.";
    /// There would be less than nothing in stock on some day, and the company does not allow that.
    InsufficientStock = "insufficient_stock", "Receive the goods first, or date this later. The message names the item and the day.";
    /// The customer would owe more than their credit limit.
    CreditLimitExceeded = "credit_limit_exceeded", "Have something paid first, or raise the limit.";
    /// A company needs somebody who owns it.
    LastOwner = "last_owner", "Make somebody else an owner first.";
    /// It comes with the system and stays as it is.
    BuiltIn = "built_in", "Make one of your own, such as a copy of it.";
    /// Only a trial is told what today is, or emptied; this company is real, and stays so.
    NotATrial = "not_a_trial", "Make a company with `isTrial`, or a copy of this one by `businesses/{id}/copy`, and ask it there.";
    /// A sum of the books would grow larger than can be kept.
    AmountTooLarge = "amount_too_large", "Look for a number with too many digits. Nothing was written.";
    /// A quantity would grow larger than can be kept.
    QuantityTooLarge = "quantity_too_large", "Look for a number with too many digits. Nothing was written.";
    /// The first request with this `Idempotency-Key` has not come to its end.
    RequestInProgress = "request_in_progress", "Wait as long as `Retry-After` says and send it again: you get the answer of the first.";
    /// The dialect is past its sunset and is not served any more.
    DialectGone = "dialect_gone", "Move to the other dialect; `/moving` sets every call beside its twin.";
    /// The record has changed since you read it: `If-Match` names another version; or there is one, and `If-None-Match` says `*`.
    PreconditionFailed = "precondition_failed", "Read the record again, make your change once more, and send it with the new `ETag`.";
    /// The body is over the limit.
    PayloadTooLarge = "payload_too_large", "Send less at once. The message says how much may be sent.";
    /// The body is not plain `application/json` in UTF-8.
    UnsupportedMediaType = "unsupported_media_type", "Send `Content-Type: application/json`, without a `Content-Encoding`.";
    /// Nobody keeps books under this host name.
    UnknownHost = "unknown_host", "Look at the address. In the cloud edition each tenant has a host name of its own.";
    /// The `Idempotency-Key` was used for another request.
    IdempotencyMismatch = "idempotency_mismatch", "Take a new key for a new request; repeat a request with exactly the same body.";
    /// The company requires `If-Match` for changes.
    PreconditionRequired = "precondition_required", "Read the record, and send its `ETag` as `If-Match`.";
    /// Too many requests, or too many log-ins that failed.
    RateLimited = "rate_limited", "Wait as long as `Retry-After` says.";
    /// A fault on our side.
    Internal = "internal", "Tell the operator the `X-Request-Id`; the log has the cause. Whether it was written is not known: repeat with the same `Idempotency-Key`.";
    /// What is kept of a record was changed behind the server's back, or is damaged. It is not shown.
    Tampered = "tampered", "Tell the operator: the log says which record, and `duet verify` what else is not as it was written. Nothing was written.";
    /// The server has more to do than it can.
    Overloaded = "overloaded", "Repeat it after `Retry-After`, a write with the same `Idempotency-Key`. Nothing was written.";
    /// A rehearsal takes longer than rehearsals may.
    RehearsalTooLong = "rehearsal_too_long", "Rehearse less at once, or do it without `dryRun`.";
    /// The server's storage is full.
    StorageFull = "storage_full", "Tell the operator. Nothing was written; repeat with the same `Idempotency-Key`.";
    /// The database does not answer or takes no writes, the books are being moved, or the server is about to end.
    Unavailable = "unavailable", "Repeat it after `Retry-After`, a write with the same `Idempotency-Key`. Nothing was written.";
    /// The operator has suspended the books that are kept under this host name.
    Suspended = "suspended", "Ask whoever runs the server. Nothing is lost; it is served again as soon as they say so.";
    /// It is not known whether this was written.
    CommitOutcomeUnknown = "commit_outcome_unknown", "Repeat it with the same `Idempotency-Key`: it is written once, whatever happened.";
    /// This read takes longer than a request may, and would again; so there is no `Retry-After`.
    TooSlow = "too_slow", "The message says what would be faster: less of it, a shorter time, or a CSV that comes in portions.";
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::Code;
    use std::collections::BTreeSet;

    #[test]
    fn each_is_one_word_and_told_in_sentences() {
        let words: BTreeSet<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(words.len(), Code::ALL.len());
        for code in Code::ALL {
            assert!(code.as_str().bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{code}");
            for text in [code.meaning(), code.remedy()] {
                assert!(text.ends_with('.') && text.len() > 15 && !text.starts_with(' '), "{code}: {text}");
            }
        }
    }
}
