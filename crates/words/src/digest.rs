//! Digests of records: SHA-256 over their parts, each told apart from its neighbours by its length.

use ring::digest::{Context, SHA256};
use std::fmt::{Display, Write};

/// As many bytes are gathered before they are taken in: to take in a few at a time takes longer than to gather them.
const GATHERED: usize = 8 << 10;

#[derive(Clone)]
pub struct Digest {
    context: Context,
    said: String,
    /// What a part is written to, to know its length.
    part: String,
}

impl Default for Digest {
    fn default() -> Self {
        Self { context: Context::new(&SHA256), said: String::new(), part: String::new() }
    }
}

impl Digest {
    pub fn feed(&mut self, part: Option<&str>) {
        match part {
            // Writing to memory has no way to fail.
            Some(text) => {
                let _written = write!(self.said, "{}:", text.len());
                self.said.push_str(text);
            }
            None => self.said.push_str("-:"),
        }
        if self.said.len() >= GATHERED {
            self.take_in();
        }
    }

    /// The same of what is written as a text.
    pub fn feed_shown(&mut self, part: Option<impl Display>) {
        let Some(part) = part else { return self.feed(None) };
        let mut text = std::mem::take(&mut self.part);
        text.clear();
        let _written = write!(text, "{part}");
        self.feed(Some(&text));
        self.part = text;
    }

    fn take_in(&mut self) {
        self.context.update(self.said.as_bytes());
        self.said.clear();
    }

    /// In hexadecimal digits.
    pub fn finish(mut self) -> String {
        self.take_in();
        crate::texts::hex(self.context.finish().as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ring::digest::digest;

    #[test]
    fn a_digest_is_that_of_all_parts_with_their_lengths_however_many_they_are() {
        let (mut digest_of, mut said) = (Digest::default(), String::new());
        for number in 0..5_000 {
            digest_of.feed_shown(Some(number));
            digest_of.feed(Some("ä"));
            digest_of.feed_shown(None::<i64>);
            let _written = write!(said, "{}:{number}2:ä-:", number.to_string().len());
        }
        assert!(said.len() > 2 * GATHERED);
        assert_eq!(digest_of.finish(), crate::texts::hex(digest(&SHA256, said.as_bytes()).as_ref()));
    }
}
