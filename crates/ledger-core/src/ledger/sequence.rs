//! The sequence of a company's books, by which callers say what they have seen.
//!
//! It is the version of the books: whatever is changed in a company raises it, in the transaction of the change. Owns: what an
//! answer says of it, and that nobody is answered with less than they ask for.

use super::{Call, Ledger, Reply};
use crate::error::{Error, Result};
use ::books::access::Principal;
use kit::resource::Scope;

/// How callers ask for at least a sequence.
const ASKED: &str = "X-At-Least-Sequence";

impl Call {
    /// Where the books of its company stood when it arrived. An answer knows of all that was written by then.
    pub(super) fn stood(&self, principal: &Principal) -> Option<i64> {
        let of_company = self.resource.scope == Scope::Business;
        principal.books.filter(|_| of_company).map(|(_, version)| version)
    }
}

impl Ledger {
    /// Where the books stood when a call arrived, which is no less than it asks for. What was answered in a company was
    /// committed before, so whoever asks for more asks for what was never there, or is not any more: nobody waits for that.
    pub(super) fn reached(principal: &Principal, call: &Call) -> Result<Option<i64>> {
        let stood = call.stood(principal);
        match (call.at_least, stood) {
            (Some(asked), Some(stood)) if asked > stood => Err(Error::field(
                ASKED,
                format!("is beyond the books of the company, which stand at {stood}: no answer said {asked} of them"),
            )),
            _ => Ok(stood),
        }
    }
}

impl Reply {
    /// The same, which knows of all up to this sequence, or up to the one that it said itself.
    pub(super) fn knowing(self, sequence: Option<i64>) -> Self {
        Self { sequence: self.sequence.or(sequence), ..self }
    }
}
