//! Digests of records: SHA-256 over their parts, each told apart from its neighbours by its length.

use ring::digest::{Context, SHA256};

#[derive(Clone)]
pub struct Digest(Context);

impl Default for Digest {
    fn default() -> Self {
        Self(Context::new(&SHA256))
    }
}

impl Digest {
    pub fn feed(&mut self, part: Option<&str>) {
        match part {
            Some(text) => {
                self.0.update(format!("{}:", text.len()).as_bytes());
                self.0.update(text.as_bytes());
            }
            None => self.0.update(b"-:"),
        }
    }

    /// In hexadecimal digits.
    pub fn finish(self) -> String {
        crate::texts::hex(self.0.finish().as_ref())
    }
}
