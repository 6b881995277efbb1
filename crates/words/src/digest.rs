//! Digests of records: SHA-256 over their parts, each told apart from its neighbours by its length.

use crate::texts::digits;
use ring::digest::{Context, SHA256};
use std::fmt::{Display, Write};
use std::ops::Range;

/// As many bytes are gathered before they are taken in: to take in a few at a time takes longer than to gather them.
const GATHERED: usize = 8 << 10;

#[derive(Clone)]
pub struct Digest {
    context: Context,
    parts: Parts,
}

impl Default for Digest {
    fn default() -> Self {
        Self { context: Context::new(&SHA256), parts: Parts::default() }
    }
}

impl Digest {
    pub fn feed(&mut self, part: Option<&str>) {
        self.parts.feed(part);
        self.take_in(GATHERED);
    }

    /// The same of what is written as a text.
    pub fn feed_shown(&mut self, part: Option<impl Display>) {
        self.parts.feed_shown(part);
        self.take_in(GATHERED);
    }

    /// The same of parts that were written before. They lie between two places of what was written.
    pub fn take_parts(&mut self, parts: &Parts, places: Range<usize>) {
        self.parts.said.push_str(&parts.said[places]);
        self.take_in(GATHERED);
    }

    fn take_in(&mut self, gathered: usize) {
        if self.parts.said.len() >= gathered {
            self.context.update(self.parts.said.as_bytes());
            self.parts.said.clear();
        }
    }

    /// In hexadecimal digits.
    pub fn finish(mut self) -> String {
        self.take_in(0);
        crate::texts::hex(self.context.finish().as_ref())
    }
}

/// Parts that are written one behind the other, each with its length.
#[derive(Clone, Default)]
pub struct Parts {
    said: String,
    /// What a part is written to, to know its length.
    part: String,
}

impl Parts {
    pub fn feed(&mut self, part: Option<&str>) {
        let Some(text) = part else { return self.said.push_str("-:") };
        put_digits(&mut self.said, text.len() as u64);
        self.said.push(':');
        self.said.push_str(text);
    }

    /// The same of what is written as a text.
    pub fn feed_shown(&mut self, part: Option<impl Display>) {
        let Some(part) = part else { return self.feed(None) };
        let mut text = std::mem::take(&mut self.part);
        text.clear();
        // Writing to memory has no way to fail.
        let _written = write!(text, "{part}");
        self.feed(Some(&text));
        self.part = text;
    }

    /// The same of a number, which most parts are.
    pub fn feed_number(&mut self, part: Option<i64>) {
        let Some(number) = part else { return self.feed(None) };
        let mut text = std::mem::take(&mut self.part);
        text.clear();
        if number < 0 {
            text.push('-');
        }
        put_digits(&mut text, number.unsigned_abs());
        self.feed(Some(&text));
        self.part = text;
    }

    /// How much was written.
    pub fn len(&self) -> usize {
        self.said.len()
    }

    pub fn is_empty(&self) -> bool {
        self.said.is_empty()
    }

    /// With what others say behind it.
    pub fn add(&mut self, behind: &Self) {
        self.said.push_str(&behind.said);
    }
}

fn put_digits(text: &mut String, number: u64) {
    text.extend(digits(number, &mut [0; 20]).iter().map(|digit| char::from(*digit)));
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

    #[test]
    fn numbers_are_written_as_they_are_shown() {
        let numbers = [0, 7, -7, 10, -10, 1_234_567_890, i64::MAX, i64::MIN];
        let (mut written, mut shown) = (Parts::default(), Parts::default());
        for number in numbers {
            written.feed_number(Some(number));
            shown.feed_shown(Some(number));
        }
        written.feed_number(None);
        shown.feed(None);
        assert_eq!(written.said, shown.said);
        assert!(written.said.starts_with("1:01:72:-7"), "{}", written.said);
    }

    #[test]
    fn parts_that_were_written_before_are_taken_as_if_they_were_fed() {
        let (mut fed, mut taken, mut first, mut second) =
            (Digest::default(), Digest::default(), Parts::default(), Parts::default());
        for number in 0..2_000 {
            fed.feed_shown(Some(number));
            (if number < 700 { &mut first } else { &mut second }).feed_number(Some(number));
        }
        first.add(&second);
        let (half, end) = (first.len() / 2, first.len());
        taken.take_parts(&first, 0..half);
        taken.take_parts(&first, half..end);
        assert!(!first.is_empty());
        assert_eq!(taken.finish(), fed.finish());
    }
}
