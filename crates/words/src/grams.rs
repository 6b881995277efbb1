//! Where words are found without reading texts: pairs and triples of letters, and who has them.
//!
//! Whoever has a word has all the triples of its letters; who has these may have it. So texts are put by in blocks, and of
//! each block it is kept which of its texts have which letters in a row, in a bit or a byte each. What is found so is looked
//! into before it is believed.

use std::collections::BTreeMap;

/// As many texts as a block may have.
pub const BLOCK: usize = 2_048;
/// As many texts make a block. Of a debug build they are few, so that suites meet blocks at every turn.
pub const FULL: usize = if cfg!(debug_assertions) { 16 } else { BLOCK };
/// In so many portions the letters of a block are kept, each found by itself. They are numbered from 0.
pub const SHARDS: u16 = 256;
/// Of a long word so many triples are looked for: they are rare enough together.
const MOST: usize = 12;

/// Letters in a row, of the texts of one sort: what they come to. Two that come to the same are looked for as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Gram(u32);

impl Gram {
    fn of(sort: &str, letters: &str) -> Self {
        let bytes = sort.bytes().chain([0]).chain(letters.bytes());
        // FNV-1a, whose product is taken modulo 2^32.
        let mixed = |sum: u64, byte: u8| ((sum ^ u64::from(byte)) * 0x0100_0193) & u64::from(u32::MAX);
        let [.., a, b, c, d] = bytes.fold(0x811c_9dc5, mixed).to_be_bytes();
        Self(u32::from_be_bytes([a, b, c, d]))
    }

    /// The portion that it is kept in.
    pub fn shard(self) -> u16 {
        let [.., low] = self.0.to_be_bytes();
        u16::from(low)
    }

    const fn key(self) -> [u8; 3] {
        let [high, middle, low, _] = self.0.to_be_bytes();
        [high, middle, low]
    }
}

/// So many letters in a row of a word.
fn rows_of(word: &str, count: usize) -> impl Iterator<Item = &str> {
    let ends: Vec<usize> = word.char_indices().map(|(at, _)| at).chain([word.len()]).collect();
    let later: Vec<usize> = ends.iter().skip(count).copied().collect();
    ends.into_iter().zip(later).map(|(from, to)| &word[from..to])
}

/// What a text has.
pub fn grams(sort: &str, text: &str) -> Vec<Gram> {
    let words = text.split_whitespace();
    let mut all: Vec<Gram> = words
        .flat_map(|word| rows_of(word, 2).chain(rows_of(word, 3)).map(|letters| Gram::of(sort, letters)))
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// What texts have that have all of these words; nothing where they say too little.
pub fn wanted<'w>(sort: &str, words: impl IntoIterator<Item = &'w str>) -> Vec<Gram> {
    let mut all = Vec::new();
    for word in words {
        let triples: Vec<&str> = rows_of(word, 3).collect();
        if triples.is_empty() {
            all.extend(rows_of(word, 2).map(|letters| Gram::of(sort, letters)));
        } else {
            let step = triples.len().div_ceil(MOST);
            // The last one as well: numbers differ in what they end with.
            let some = triples.iter().rev().step_by(step);
            all.extend(some.map(|letters| Gram::of(sort, letters)));
        }
    }
    all.sort_unstable();
    all.dedup();
    all.truncate(4 * MOST);
    all
}

/// Which texts of a block, a bit each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places([u64; BLOCK / 64]);

impl Places {
    pub const ALL: Self = Self([u64::MAX; BLOCK / 64]);
    const NONE: Self = Self([0; BLOCK / 64]);

    pub fn has(&self, place: usize) -> bool {
        self.0.get(place / 64).is_some_and(|bits| bits >> (place % 64) & 1 == 1)
    }

    fn set(&mut self, place: usize) {
        if let Some(bits) = self.0.get_mut(place / 64) {
            *bits |= 1 << (place % 64);
        }
    }

    /// Those that are also among others.
    pub fn keep(&mut self, others: &Self) {
        self.0.iter_mut().zip(others.0).for_each(|(bits, other)| *bits &= other);
    }

    pub fn is_empty(&self) -> bool {
        *self == Self::NONE
    }

    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..BLOCK).filter(|place| self.has(*place))
    }
}

/// How the places of a gram are kept, whichever is shortest.
const LISTED: usize = 0;
const BITS: usize = 1;
const ALL_BUT: usize = 2;

/// The places as the steps between them, a byte or two each.
fn listed(places: impl Iterator<Item = usize>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut next = 0;
    for place in places {
        number(&mut bytes, place - next);
        next = place + 1;
    }
    bytes
}

fn number(bytes: &mut Vec<u8>, mut number: usize) {
    while number > 0x7f {
        bytes.push(last_seven(number) | 0x80);
        number >>= 7;
    }
    bytes.push(last_seven(number));
}

/// The last seven bits.
const fn last_seven(number: usize) -> u8 {
    number.to_le_bytes()[0] & 0x7f
}

fn read_number(bytes: &mut &[u8]) -> Option<usize> {
    let mut number = 0;
    for shift in [0, 7, 14] {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= usize::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

fn written(places: &[u16], texts: usize) -> (usize, Vec<u8>) {
    let mut all = Places::NONE;
    for place in places {
        all.set(usize::from(*place));
    }
    let bits = || all.0.iter().flat_map(|bits| bits.to_le_bytes()).collect();
    let few = places.len().min(texts - places.len());
    if few >= BLOCK / 8 {
        return (BITS, bits());
    }
    let (how, listed) = if few == places.len() {
        (LISTED, listed(all.iter()))
    } else {
        (ALL_BUT, listed((0..texts).filter(|place| !all.has(*place))))
    };
    if listed.len() < BLOCK / 8 { (how, listed) } else { (BITS, bits()) }
}

/// The portions of a block of texts, by their numbers: what each gram is had by.
pub fn block<'t>(texts: impl IntoIterator<Item = (&'t str, &'t str)>) -> BTreeMap<u16, Vec<u8>> {
    let mut all: Vec<Vec<(Gram, u16)>> = vec![Vec::new(); usize::from(SHARDS)];
    let mut count = 0;
    for (place, (sort, text)) in (0_u16..).zip(texts).take(BLOCK) {
        for gram in grams(sort, text) {
            all[usize::from(gram.shard())].push((gram, place));
        }
        count += 1;
    }
    let mut shards = BTreeMap::new();
    for (shard, mut had) in (0_u16..).zip(all) {
        had.sort_unstable();
        let mut bytes = Vec::new();
        for of_gram in had.chunk_by(|one, next| one.0 == next.0) {
            let places: Vec<u16> = of_gram.iter().map(|(_, place)| *place).collect();
            let (how, kept) = written(&places, count);
            bytes.extend(of_gram.iter().take(1).flat_map(|(gram, _)| gram.key()));
            number(&mut bytes, kept.len() << 2 | how);
            bytes.extend(kept);
        }
        if !bytes.is_empty() {
            shards.insert(shard, bytes);
        }
    }
    shards
}

/// Who of a block has a gram, as the portion says that it is kept in; beyond the last text of the block it may say anything.
/// Nothing where the portion cannot be read.
pub fn places(mut portion: &[u8], gram: Gram) -> Option<Places> {
    while !portion.is_empty() {
        let (key, rest) = portion.split_at_checked(3)?;
        portion = rest;
        let head = read_number(&mut portion)?;
        let (kept, rest) = portion.split_at_checked(head >> 2)?;
        portion = rest;
        if key == gram.key() {
            return read(kept, head & 3);
        }
    }
    Some(Places::NONE)
}

/// Whether a portion can be read to its end.
pub fn is_whole(mut portion: &[u8]) -> bool {
    let mut next = || {
        let (_, rest) = portion.split_at_checked(3)?;
        portion = rest;
        let head = read_number(&mut portion)?;
        let (kept, rest) = portion.split_at_checked(head >> 2)?;
        portion = rest;
        read(kept, head & 3)
    };
    while next().is_some() {}
    portion.is_empty()
}

fn read(mut kept: &[u8], how: usize) -> Option<Places> {
    let mut places = Places::NONE;
    if how == BITS {
        for (bits, eight) in places.0.iter_mut().zip(kept.chunks_exact(8)) {
            *bits = u64::from_le_bytes(eight.try_into().ok()?);
        }
        return Some(places);
    }
    let mut next = 0;
    while !kept.is_empty() {
        next += read_number(&mut kept)?;
        places.set(next);
        next += 1;
    }
    if how == ALL_BUT {
        places.0.iter_mut().for_each(|bits| *bits = !*bits);
    }
    Some(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(number: usize) -> String {
        let rare = if number == 1_234 { "zeppelin" } else { "" };
        let many = if number.is_multiple_of(3) { "grinder" } else { "" };
        format!("inv-2026-{number:05}\npo-{number}\nespresso beans {rare}\n{many} größe")
    }

    /// All texts of a block that may have the words.
    fn found(shards: &BTreeMap<u16, Vec<u8>>, texts: usize, words: &str) -> Vec<usize> {
        let mut left = Places::ALL;
        for gram in wanted("I", words.split_whitespace()) {
            let portion = shards.get(&gram.shard()).map_or(&[][..], Vec::as_slice);
            left.keep(&places(portion, gram).unwrap());
        }
        left.iter().filter(|place| *place < texts).collect()
    }

    #[test]
    fn whoever_has_a_word_is_found_and_hardly_anybody_else() {
        for count in [1, 40, BLOCK - 1, BLOCK] {
            let texts: Vec<String> = (0..count).map(text).collect();
            let shards = block(texts.iter().map(|text| ("I", text.as_str())));
            for words in [
                "zeppelin",
                "eppel",
                "grinder",
                "espresso",
                "26-01",
                "00777",
                "po-12",
                "öß",
                "gr",
                "po-7 grinder",
                "none",
            ] {
                let has = |text: &String| words.split_whitespace().all(|word| text.contains(word));
                let right: Vec<usize> = (0..count).filter(|place| has(&texts[*place])).collect();
                let found = found(&shards, count, words);
                assert!(right.iter().all(|place| found.contains(place)), "{words} of {count}");
                assert!(found.len() <= 2 * right.len() + 8, "{words} of {count}: {} for {}", found.len(), right.len());
            }
        }
    }

    #[test]
    fn what_says_too_little_narrows_nothing_and_sorts_are_kept_apart() {
        assert_eq!(wanted("I", ["a", "%", ""]), []);
        let shards = block([("I", "espresso"), ("R", "espresso")]);
        assert_eq!(found(&shards, 2, "espresso"), [0]);
    }

    #[test]
    fn a_block_is_short() {
        let texts: Vec<String> = (0..BLOCK).map(text).collect();
        let shards = block(texts.iter().map(|text| ("I", text.as_str())));
        let bytes: usize = shards.values().map(Vec::len).sum();
        assert!(bytes / BLOCK < 60, "{}", bytes / BLOCK);
    }

    #[test]
    fn what_cannot_be_read_finds_nothing_out() {
        let [gram] = wanted("I", ["abc"])[..] else { panic!("one triple") };
        assert_eq!(places(&[1, 2], gram), None);
        assert_eq!(places(&[1, 2, 3, 0xff], gram), None);
    }
}
