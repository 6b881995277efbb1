//! What the server objects to, and what became of the way to it.

use sea_orm::DbErr;
use std::sync::Arc;
use tokio_postgres::error::Severity;

/// A complaint of PostgreSQL, or of what stands between it and the entities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    kind: Kind,
    /// The server's five characters; empty where the server had nothing to object to.
    code: String,
    text: String,
    /// The table that the server's complaint is about, where it is about one.
    table: Option<Box<str>>,
}

/// How the server says that it ended a statement.
const CANCELLED: &str = "57014";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The server refused a statement, and the connection goes on.
    Refused,
    /// The connection is gone, or cannot be made.
    Lost,
    /// The server did not answer in time.
    Silent,
    /// It is known that the database is away; nothing was tried.
    Away,
    /// All connections are taken.
    Busy,
    /// The server did not come to it.
    Ours,
    /// Nobody waits for the answer any more.
    GivenUp,
    /// The server ended a read that took longer than one may.
    TooSlow,
}

impl Fault {
    /// Something that the server did not say.
    pub fn ours(text: impl Into<String>) -> Self {
        Self::of(Kind::Ours, text)
    }

    pub(crate) fn lost(text: impl Into<String>) -> Self {
        Self::of(Kind::Lost, text)
    }

    pub(crate) fn silent(text: impl Into<String>) -> Self {
        Self::of(Kind::Silent, text)
    }

    pub(crate) fn away(text: impl Into<String>) -> Self {
        Self::of(Kind::Away, text)
    }

    /// Nobody waits for the answer any more.
    pub fn given_up() -> Self {
        Self { code: CANCELLED.into(), ..Self::of(Kind::GivenUp, "nobody waits for this answer any more") }
    }

    pub(crate) fn busy() -> Self {
        Self::of(Kind::Busy, "all connections to the database are taken")
    }

    fn of(kind: Kind, text: impl Into<String>) -> Self {
        Self { kind, code: String::new(), text: text.into(), table: None }
    }

    /// The server's own code; empty where it had nothing to object to.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// The table that the server's complaint is about, where it is about one.
    pub fn table(&self) -> Option<&str> {
        self.table.as_deref()
    }

    /// Whether the connection that said so is of no more use.
    pub fn ends_connection(&self) -> bool {
        matches!(self.kind, Kind::Lost | Kind::Silent)
    }

    /// Whether the database cannot be reached, as far as this one statement can tell.
    pub fn is_away(&self) -> bool {
        matches!(self.kind, Kind::Lost | Kind::Silent | Kind::Away)
    }

    /// Whether the database itself said that it is of no use.
    pub(crate) fn is_told(&self) -> bool {
        self.kind == Kind::Away
    }

    /// Whether the server did not answer in time.
    pub(crate) fn is_silent(&self) -> bool {
        self.kind == Kind::Silent
    }

    /// Whether there was no connection left.
    pub fn is_busy(&self) -> bool {
        self.kind == Kind::Busy
    }

    /// Whether the server ended the statement because it was asked to, or because it took too long.
    pub fn is_cancelled(&self) -> bool {
        self.code == CANCELLED
    }

    /// The same, said of a read whose asker was still there: the server ended it because it took too long.
    #[must_use]
    pub fn of_reading(self) -> Self {
        if self.kind == Kind::Refused && self.is_cancelled() { Self { kind: Kind::TooSlow, ..self } } else { self }
    }

    /// Whether it is a read that took longer than one may.
    pub fn is_too_slow(&self) -> bool {
        self.kind == Kind::TooSlow
    }

    /// The complaint inside an error that came from here.
    pub fn within(error: &DbErr) -> Option<&Self> {
        match error {
            DbErr::TryIntoErr { source, .. } => source.downcast_ref(),
            _ => None,
        }
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.code.is_empty() {
            return f.write_str(&self.text);
        }
        write!(f, "{} (PostgreSQL {})", self.text, self.code)
    }
}

impl std::error::Error for Fault {}

/// An error with all its causes; the driver's own words leave out what went wrong.
fn whole(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}

impl From<tokio_postgres::Error> for Fault {
    fn from(error: tokio_postgres::Error) -> Self {
        // What stops short of the server's own word says nothing of what comes next on this connection.
        let Some(told) = error.as_db_error() else { return Self::lost(whole(&error)) };
        let ends = matches!(told.parsed_severity(), Some(Severity::Fatal | Severity::Panic))
            || matches!(told.severity(), "FATAL" | "PANIC");
        // Not the detail: it quotes the values.
        let kind = if ends { Kind::Lost } else { Kind::Refused };
        let table = told.table().map(Into::into);
        Self { kind, code: told.code().code().to_owned(), text: told.message().to_owned(), table }
    }
}

/// The only error of entities that carries what another program said, as it was.
impl From<Fault> for DbErr {
    fn from(fault: Fault) -> Self {
        Self::TryIntoErr { from: "a statement", into: "an answer of PostgreSQL", source: Arc::new(fault) }
    }
}
