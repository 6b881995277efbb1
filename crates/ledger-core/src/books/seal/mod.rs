//! Seals: how a row is known to have been written by the server, and by nobody else.
//!
//! Each row of the tables in [`tables`] carries a seal, an HMAC over its columns under a key that is not in the
//! database. A changed column breaks the seal of its row. A row that is taken out, put in, or put back as it once was
//! breaks the sum of all seals of its table, which the books carry under their signature ([`sums`]).
//!
//! - [`writing`]: rows that are written with their seals, and those that triggers saw written without.
//! - [`noted`]: what these rows were before, so that nobody's tampering is sealed with what is changed next.
//! - [`proof`]: every seal and every sum again, from the rows as they are.

pub(crate) mod heads;
mod noted;
pub(crate) mod proof;
pub(crate) mod sums;
pub(crate) mod tables;
pub(crate) mod writing;

pub use heads::SignedHead;

use crate::error::Result;
use crate::keys::{Keys, Purpose};
use crate::ledger::hex;
use ring::hmac;

/// The key that proves what the server wrote.
#[derive(Clone)]
pub(crate) struct Seals(hmac::Key);

impl Seals {
    pub(crate) fn of(keys: &Keys) -> Result<Self> {
        Ok(Self(keys.signing(Purpose::Audit)?))
    }

    /// Begins a signature. `what` keeps one kind of thing from being taken for another.
    pub(crate) fn sign(&self, what: &str) -> Signing {
        let mut signing = Signing(hmac::Context::with_key(&self.0));
        signing.feed(Some(what));
        signing
    }

    /// What a seal adds to the sum of its table. Nobody who sees the seals can tell.
    fn weight(&self, table: &str, seal: &str) -> u128 {
        let mut signing = self.sign("weight 1");
        signing.feed(Some(table));
        signing.feed(Some(seal));
        let tag = signing.0.sign();
        tag.as_ref().iter().take(16).fold(0, |sum, byte| sum << 8 | u128::from(*byte))
    }
}

/// A signature over parts, each told apart from its neighbours by its length.
pub(crate) struct Signing(hmac::Context);

impl Signing {
    pub(crate) fn feed(&mut self, part: Option<&str>) {
        match part {
            Some(text) => {
                self.0.update(text.len().to_string().as_bytes());
                self.0.update(b":");
                self.0.update(text.as_bytes());
            }
            None => self.0.update(b"-:"),
        }
    }

    /// In hexadecimal digits.
    pub(crate) fn finish(self) -> String {
        hex(self.0.sign().as_ref())
    }
}

/// Whether two signatures are the same, without telling by its time how much of them is.
pub(crate) fn same(left: &str, right: &str) -> bool {
    left.len() == right.len() && left.bytes().zip(right.bytes()).fold(0, |sum, (left, right)| sum | (left ^ right)) == 0
}
