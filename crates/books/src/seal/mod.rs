//! Seals: how a row is known to have been written by the server, and by nobody else.
//!
//! Each row of the tables in [`tables`] carries a seal, an HMAC over its columns under a key that is not in the
//! database. A changed column breaks the seal of its row. A row that is taken out, put in, or put back as it once was
//! breaks the sum of all seals of its table, which the books carry under their signature ([`sums`]).
//!
//! - [`writing`]: rows that are written with their seals, and those that triggers saw written without.
//! - [`foreseen`]: what is going to be noted of rows that were written last by who writes them now.
//! - [`noted`]: what these rows were before, so that nobody's tampering is sealed with what is changed next.
//! - [`proof`]: every seal and every sum again, from the rows as they are.

pub mod foreseen;
pub mod heads;
mod noted;
pub mod proof;
pub mod sums;
pub mod tables;
pub mod writing;

pub use heads::SignedHead;

use crate::error::{Error, Result};
use crate::keys::{Keys, Purpose};
use crate::texts::hex;
use ring::hmac;
use std::sync::{Arc, OnceLock};

/// The key that proves what the server wrote.
///
/// What is written once and stays, as entries and the audit log, keeps what it was signed with when the master key is
/// changed: it is proved under the key of its time, and held fast by sums and heads that are under the key of now.
#[derive(Clone)]
pub struct Seals {
    own: hmac::Key,
    /// Those before it, the first one first; known once the installation was read.
    former: Arc<OnceLock<Vec<hmac::Key>>>,
}

impl Seals {
    pub fn of(keys: &Keys) -> Result<Self> {
        Ok(Self { own: keys.signing(Purpose::Audit)?, former: Arc::default() })
    }

    /// Learns what signed before it.
    pub fn learn(&self, former: Vec<hmac::Key>) {
        self.former.get_or_init(|| former);
    }

    /// What signed, from the first to the one of now.
    pub fn eras(&self) -> Result<Vec<Self>> {
        let former = self.former.get().ok_or_else(|| Error::internal("who signed before is not known yet"))?;
        let of = |key: &hmac::Key| Self { own: key.clone(), former: Arc::default() };
        Ok(former.iter().map(of).chain([self.clone()]).collect())
    }

    /// Begins a signature. `what` keeps one kind of thing from being taken for another.
    pub fn sign(&self, what: &str) -> Signing {
        let mut signing = Signing { key: self.own.clone(), said: Vec::with_capacity(USUAL) };
        signing.feed(Some(what));
        signing
    }

    /// What is noted of a migration is known by this.
    pub fn of_migration(&self, text: &str) -> String {
        let mut signing = self.sign("migration 1");
        signing.feed(Some(text));
        signing.finish()
    }

    /// What a seal adds to the sum of its table. Nobody who sees the seals can tell.
    fn weight(&self, table: &str, seal: &str) -> u128 {
        let mut signing = self.sign("weight 1");
        signing.feed(Some(table));
        signing.feed(Some(seal));
        signing.tag().as_ref().iter().take(16).fold(0, |sum, byte| sum << 8 | u128::from(*byte))
    }
}

/// As much as is signed of a row, most of the time.
const USUAL: usize = 1 << 10;

/// A signature over parts, each told apart from its neighbours by its length. They are gathered: to sign a few bytes at a
/// time takes longer than to sign them.
pub struct Signing {
    key: hmac::Key,
    said: Vec<u8>,
}

impl Signing {
    pub fn feed(&mut self, part: Option<&str>) {
        self.feed_bytes(part.map(str::as_bytes));
    }

    pub fn feed_bytes(&mut self, part: Option<&[u8]>) {
        match part {
            Some(bytes) => {
                self.length(bytes.len());
                self.said.extend_from_slice(bytes);
            }
            None => self.said.extend_from_slice(b"-:"),
        }
    }

    /// What tells its own length, or always has the same.
    fn put(&mut self, bytes: &[u8]) {
        self.said.extend_from_slice(bytes);
    }

    /// The digits of a length, and what tells them from what is so long.
    fn length(&mut self, length: usize) {
        self.said.extend_from_slice(crate::texts::digits(length as u64, &mut [0; 20]));
        self.said.push(b':');
    }

    fn tag(&self) -> hmac::Tag {
        hmac::sign(&self.key, &self.said)
    }

    /// In hexadecimal digits.
    pub fn finish(self) -> String {
        hex(self.tag().as_ref())
    }
}

/// Whether two signatures are the same, without telling by its time how much of them is.
pub fn same(left: &str, right: &str) -> bool {
    are_same(left.as_bytes(), right.as_bytes())
}

/// The same of their bytes.
fn are_same(left: &[u8], right: &[u8]) -> bool {
    left.len() == right.len() && left.iter().zip(right).fold(0, |sum, (left, right)| sum | (left ^ right)) == 0
}
