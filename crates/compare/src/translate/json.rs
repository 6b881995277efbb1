//! JSON with the places of its parts, so that one of them can be changed and all others stay as they are written.

use super::letters::{Letter, Quoting};
use std::ops::Range;

#[derive(Debug)]
pub(super) struct Node {
    pub written: Range<usize>,
    pub kind: Kind,
}

#[derive(Debug)]
pub(super) enum Kind {
    Object(Vec<(String, Node)>),
    Array(Vec<Node>),
    /// Its letters, without the quotes.
    Text(Vec<Letter>),
    Other,
}

const DEEPEST: usize = 128;

impl Node {
    /// Reads a text that is JSON.
    pub fn of(text: &str) -> Option<Self> {
        let mut reader = Reader { text, at: 0 };
        let node = reader.value(0)?;
        reader.space();
        (reader.at == text.len()).then_some(node)
    }

    pub fn member(&self, name: &str) -> Option<&Self> {
        match &self.kind {
            Kind::Object(members) => members.iter().find(|(known, _)| known == name).map(|(_, node)| node),
            _ => None,
        }
    }

    pub fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |node, name| node.member(name))
    }

    pub fn elements(&self) -> &[Self] {
        match &self.kind {
            Kind::Array(elements) => elements,
            _ => &[],
        }
    }

    pub fn letters(&self) -> Option<&[Letter]> {
        match &self.kind {
            Kind::Text(letters) => Some(letters),
            _ => None,
        }
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n', '\u{feff}']).len();
    }

    fn take(&mut self, letter: char) -> Option<()> {
        self.space();
        self.text[self.at..].starts_with(letter).then(|| self.at += letter.len_utf8())
    }

    fn value(&mut self, depth: usize) -> Option<Node> {
        self.space();
        let from = self.at;
        let kind = match self.text[self.at..].chars().next().filter(|_| depth < DEEPEST)? {
            '{' => {
                self.at += 1;
                let mut members = Vec::new();
                while self.take('}').is_none() {
                    if !members.is_empty() {
                        self.take(',')?;
                        self.space();
                    }
                    let name = super::letters::said(&self.string()?);
                    self.take(':')?;
                    members.push((name, self.value(depth + 1)?));
                }
                Kind::Object(members)
            }
            '[' => {
                self.at += 1;
                let mut elements = Vec::new();
                while self.take(']').is_none() {
                    if !elements.is_empty() {
                        self.take(',')?;
                    }
                    elements.push(self.value(depth + 1)?);
                }
                Kind::Array(elements)
            }
            '"' => Kind::Text(self.string()?),
            _ => {
                let is_end = |letter: char| ",]} \t\r\n".contains(letter);
                let length = self.text[self.at..].find(is_end).unwrap_or(self.text.len() - self.at);
                serde_json::from_str::<serde_json::Value>(&self.text[self.at..self.at + length]).ok()?;
                self.at += length;
                Kind::Other
            }
        };
        Some(Node { written: from..self.at, kind })
    }

    /// A text with its escapes taken for what they mean. Names between double braces are variables.
    fn string(&mut self) -> Option<Vec<Letter>> {
        self.take('"')?;
        let mut letters = Vec::new();
        loop {
            let from = self.at;
            let rest = &self.text[from..];
            let letter = rest.chars().next()?;
            if let Some(length) = super::letters::variable(rest) {
                self.at += length;
                letters.push(Letter::opaque(from..self.at, Quoting::Json));
                continue;
            }
            match letter {
                '"' => {
                    self.at += 1;
                    return Some(letters);
                }
                '\\' => {
                    let mut length = if rest[1..].starts_with('u') { 6 } else { 2 };
                    let mut code = rest.get(..length)?.to_owned();
                    if code.to_lowercase().starts_with("\\ud") && rest.get(6..8) == Some("\\u") {
                        length = 12;
                        rest.get(..length)?.clone_into(&mut code);
                    }
                    let meant: String = serde_json::from_str(&format!("\"{code}\"")).ok()?;
                    self.at += length;
                    letters.push(Letter::new(meant.chars().next()?, from..self.at, Quoting::Json));
                }
                letter => {
                    self.at += letter.len_utf8();
                    letters.push(Letter::new(letter, from..self.at, Quoting::Json));
                }
            }
        }
    }
}
