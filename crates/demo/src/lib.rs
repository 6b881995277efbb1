//! Sample companies: what they enter, day by day, and how it comes into the books.
//!
//! Owns: who these companies are and what happens to them, by a seed and a day alone: the same seed and the same day make the
//! same books, on either engine. Refuses: a clock, a query, and anything that a client could not do; what the examples of
//! the documents act on gets identifiers that the documents name, which the ledger takes from nobody else.

mod calendar;
mod chance;
mod examples;
mod loading;
mod script;
mod stories;
mod told;

pub use loading::{Order, load};
pub use told::told;

/// How much there is of everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// A quarter of a year.
    Small,
    /// Two years.
    Normal,
    /// Two years of a hundred thousand documents.
    Large,
}

/// Somebody who can sign in as well: the example of a log-in names her.
pub const JO: (&str, &str) = ("jo@harbour.example", "correct horse battery");
