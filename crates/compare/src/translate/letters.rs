//! A text as it is meant, letter by letter, each with where it is written: what is changed is changed in its place, and
//! everything around it stays as it was typed.

use std::collections::HashMap;
use std::ops::Range;

/// What stands for something that only whoever runs the text knows: a variable, the output of a command. By where it is
/// written they are told apart.
const OPAQUE: std::ops::RangeInclusive<char> = '\u{f0000}'..='\u{ffffd}';
const OPAQUES: u32 = 0xfffe;

fn opaque(from: usize) -> char {
    let place = u32::try_from(from).unwrap_or(u32::MAX) % OPAQUES;
    char::from_u32(u32::from(*OPAQUE.start()) + place).unwrap_or(*OPAQUE.start())
}

/// How a letter is written, which says how another one is written beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quoting {
    /// In a shell, without quotes, between `'`, between `"`, and after `$'`.
    Bare,
    Single,
    Double,
    Escaped,
    /// At the prompt of Windows: without quotes, between `"`, and between `^"`.
    Windows,
    WindowsDouble,
    WindowsCaret,
    /// In a text of JSON.
    Json,
    /// To the letter.
    Plain,
}

/// Whether a letter stands for something that only whoever runs the text knows.
pub(super) fn is_unknown(letter: char) -> bool {
    OPAQUE.contains(&letter)
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Letter {
    meant: char,
    /// Where it is written.
    pub from: usize,
    pub to: usize,
    pub quoting: Quoting,
}

impl Letter {
    pub fn new(letter: char, written: Range<usize>, quoting: Quoting) -> Self {
        // Whoever writes this letter writes a letter.
        let meant = if OPAQUE.contains(&letter) { '\u{fffd}' } else { letter };
        Self { meant, from: written.start, to: written.end, quoting }
    }

    pub fn opaque(written: Range<usize>, quoting: Quoting) -> Self {
        Self { meant: opaque(written.start), from: written.start, to: written.end, quoting }
    }

    pub fn is_opaque(self) -> bool {
        OPAQUE.contains(&self.meant)
    }

    pub fn is(self, letter: char) -> bool {
        self.meant == letter
    }
}

/// No name of a variable is longer.
const LONGEST_NAME: usize = 128;

/// How long the `{{name}}` is that a text begins with.
pub(super) fn variable(text: &str) -> Option<usize> {
    let inner = text.strip_prefix("{{")?.as_bytes();
    let near = &inner[..inner.len().min(LONGEST_NAME)];
    let end = near.windows(2).position(|two| two == b"}}")?;
    (!near[..end].iter().any(|byte| matches!(byte, b'"' | b'\n'))).then_some(end + 4)
}

/// The letters of a text that is written as it is meant, from a place on. Names between double braces are variables.
pub(super) fn plain(text: &str, from: usize, quoting: Quoting) -> Vec<Letter> {
    let mut letters = Vec::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let at = from + text.len() - rest.len();
        let variable = variable(rest);
        let length = variable.unwrap_or(letter.len_utf8());
        letters.push(match variable {
            Some(length) => Letter::opaque(at..at + length, quoting),
            None => Letter::new(letter, at..at + length, quoting),
        });
        rest = &rest[length..];
    }
    letters
}

/// What the letters say; what is not known is one letter.
pub(super) fn said(letters: &[Letter]) -> String {
    letters.iter().map(|letter| letter.meant).collect()
}

/// What stands for each variable in some letters, with the variable as it is written.
pub(super) fn variables<'t>(letters: &[&[Letter]], text: &'t str) -> HashMap<char, &'t str> {
    let opaque = letters.iter().copied().flatten().filter(|letter| letter.is_opaque());
    opaque.map(|letter| (letter.meant, &text[letter.from..letter.to])).collect()
}

/// Words with their variables as they are written.
pub(super) fn filled(words: &str, variables: &HashMap<char, &str>) -> String {
    let mut filled = String::with_capacity(words.len());
    for letter in words.chars() {
        match variables.get(&letter) {
            Some(variable) => filled += variable,
            None => filled.push(letter),
        }
    }
    filled
}

/// The letters without white space around them.
pub(super) fn trimmed(letters: &[Letter]) -> &[Letter] {
    let is_space = |letter: &Letter| letter.meant.is_whitespace();
    let from = letters.iter().take_while(|letter| is_space(letter)).count();
    let rest = &letters[from..];
    &rest[..rest.len() - rest.iter().rev().take_while(|letter| is_space(letter)).count()]
}

/// What is written anew: words, and variables as they stood elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Words(String),
    Variable(String),
}

/// What letters say, to be written elsewhere.
pub(super) fn parts(letters: &[Letter], text: &str) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for letter in letters {
        match (letter.is_opaque(), parts.last_mut()) {
            (true, _) => parts.push(Part::Variable(text[letter.from..letter.to].to_owned())),
            (false, Some(Part::Words(words))) => words.push(letter.meant),
            (false, _) => parts.push(Part::Words(letter.meant.to_string())),
        }
    }
    parts
}

/// The same with its words changed.
pub(super) fn map(parts: Vec<Part>, change: impl Fn(&str) -> String) -> Vec<Part> {
    let of = |part| match part {
        Part::Words(words) => Part::Words(change(&words)),
        variable @ Part::Variable(_) => variable,
    };
    parts.into_iter().map(of).collect()
}

/// Parts as they are written where letters are written so.
pub(super) fn written(parts: &[Part], quoting: Quoting) -> String {
    parts.iter().map(|part| written_part(part, quoting)).collect()
}

fn written_part(part: &Part, quoting: Quoting) -> String {
    let escaped = |words: &str, special: &str, with: char| -> String {
        let of = |letter: char| special.contains(letter).then_some(with).into_iter().chain([letter]);
        words.chars().flat_map(of).collect()
    };
    match (part, quoting) {
        (Part::Words(words), Quoting::Bare) => {
            let plain = |letter: char| letter.is_alphanumeric() || "-_./:@%+,=".contains(letter);
            words.chars().flat_map(|letter| (!plain(letter)).then_some('\\').into_iter().chain([letter])).collect()
        }
        (Part::Words(words), Quoting::Single) => words.replace('\'', r"'\''"),
        (Part::Words(words), Quoting::Double) => escaped(words, "\"\\$`", '\\'),
        (Part::Words(words), Quoting::Escaped) => escaped(words, "'\\", '\\'),
        (Part::Words(words), Quoting::Windows) => escaped(words, "^&|<>\"", '^'),
        (Part::Words(words), Quoting::WindowsDouble) => words.replace('"', "\\\""),
        (Part::Words(words), Quoting::WindowsCaret) => escaped(&words.replace('"', "\\\""), "^&|<>\"%", '^'),
        (Part::Words(words), Quoting::Json) => {
            let quoted = serde_json::Value::from(words.as_str()).to_string();
            quoted[1..quoted.len() - 1].to_owned()
        }
        (Part::Words(words), Quoting::Plain) => words.clone(),
        // The shell puts it in, and keeps it together.
        (Part::Variable(name), Quoting::Bare) => format!("\"{name}\""),
        (Part::Variable(name), Quoting::Single) => format!("'\"{name}\"'"),
        (Part::Variable(name), Quoting::Escaped) => format!("'\"{name}\"$'"),
        (Part::Variable(name), _) => name.clone(),
    }
}

/// What closes one way of writing and opens another.
fn between(from: Quoting, to: Quoting) -> String {
    if from == to {
        return String::new();
    }
    let quotes = |quoting: Quoting| match quoting {
        Quoting::Single => ("'", "'"),
        Quoting::Double | Quoting::WindowsDouble => ("\"", "\""),
        Quoting::Escaped => ("$'", "'"),
        Quoting::WindowsCaret => ("^\"", "^\""),
        Quoting::Bare | Quoting::Windows | Quoting::Json | Quoting::Plain => ("", ""),
    };
    format!("{}{}", quotes(from).1, quotes(to).0)
}

/// The lines of a text, to tell where something is.
pub(super) struct Lines(Vec<usize>);

impl Lines {
    pub fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at).collect())
    }

    /// The number of the line in which a place is.
    pub fn at(&self, place: usize) -> usize {
        self.0.partition_point(|end| *end < place) + 1
    }
}

/// The changes of a text, each in its place.
#[derive(Debug, Default)]
pub(super) struct Edits(Vec<(Range<usize>, String)>);

impl Edits {
    /// Writes something in the place of some letters, in the way in which they are written.
    pub fn replace(&mut self, letters: &[Letter], parts: &[Part]) {
        let (Some(first), Some(last)) = (letters.first(), letters.last()) else { return };
        let text = written(parts, first.quoting) + &between(first.quoting, last.quoting);
        self.0.push((first.from..last.to, text));
    }

    pub fn put(&mut self, place: Range<usize>, text: String) {
        self.0.push((place, text));
    }

    pub fn append(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// The text with all changes in it.
    pub fn apply(mut self, text: &str) -> String {
        self.0.sort_by_key(|(place, _)| (place.start, place.end));
        let (mut edited, mut at) = (String::with_capacity(text.len()), 0);
        for (place, new) in self.0 {
            // No two changes are of the same place.
            if place.start >= at {
                edited += &text[at..place.start];
                edited += &new;
                at = place.end;
            }
        }
        edited + &text[at..]
    }
}
