//! JSON as .NET's configuration reads it: comments, trailing commas and a byte order mark are fine.
//!
//! Owns: the grammar, and on which line what stands. Flattens a file into `Section:Key` entries.
//! Refuses to know which keys there are.

use std::collections::HashMap;

/// Deeper than any key of ours; the reader recurses.
const DEEPEST: usize = 32;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Null,
    Text(String),
    EmptyList,
}

/// One leaf of a configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) value: Value,
    pub(super) line: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) line: usize,
    pub(super) message: String,
}

/// The entries of a file, in its order; or the mistake that ends the reading, after all keys given twice so far.
pub(super) fn read(text: &str) -> Result<Vec<Entry>, Vec<Fault>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader {
        rest: text.chars().peekable(),
        line: 1,
        depth: 0,
        seen: HashMap::new(),
        twice: Vec::new(),
        entries: Vec::new(),
    };
    let ended = reader.document();
    let mut faults = reader.twice;
    faults.extend(ended.err());
    if faults.is_empty() { Ok(reader.entries) } else { Err(faults) }
}

struct Reader<'t> {
    rest: std::iter::Peekable<std::str::Chars<'t>>,
    line: usize,
    depth: usize,
    /// The line of each key, sections included, by its lower-case name.
    seen: HashMap<String, usize>,
    twice: Vec<Fault>,
    entries: Vec<Entry>,
}

impl Reader<'_> {
    fn document(&mut self) -> Result<(), Fault> {
        self.blank()?;
        if self.rest.peek() != Some(&'{') {
            return Err(self.fault("expected { at the beginning"));
        }
        self.value("")?;
        self.blank()?;
        match self.rest.peek() {
            None => Ok(()),
            Some(_) => Err(self.fault("expected nothing after the closing }")),
        }
    }

    fn fault(&self, message: impl Into<String>) -> Fault {
        Fault { line: self.line, message: message.into() }
    }

    fn next(&mut self) -> Option<char> {
        let next = self.rest.next();
        if next == Some('\n') {
            self.line += 1;
        }
        next
    }

    /// Passes white space and comments.
    fn blank(&mut self) -> Result<(), Fault> {
        while let Some(&letter) = self.rest.peek() {
            if letter.is_whitespace() {
                self.next();
            } else if letter == '/' {
                self.next();
                match self.next() {
                    Some('/') => while self.next().is_some_and(|letter| letter != '\n') {},
                    Some('*') => self.block_comment()?,
                    _ => return Err(self.fault("expected a comment after /")),
                }
            } else {
                break;
            }
        }
        Ok(())
    }

    fn block_comment(&mut self) -> Result<(), Fault> {
        let begun = self.line;
        let mut star = false;
        loop {
            match self.next() {
                Some('/') if star => return Ok(()),
                Some(letter) => star = letter == '*',
                None => return Err(Fault { line: begun, message: "the comment does not end".into() }),
            }
        }
    }

    fn value(&mut self, key: &str) -> Result<(), Fault> {
        self.blank()?;
        let line = self.line;
        let value = match self.rest.peek() {
            Some('{') => return self.nested(key, Self::members),
            Some('[') => return self.nested(key, Self::elements),
            Some('"') => Value::Text(self.text()?),
            Some(_) => self.word()?,
            None => return Err(self.fault("expected a value, got the end of the file")),
        };
        self.entry(key, value, line);
        Ok(())
    }

    fn nested(&mut self, key: &str, inner: fn(&mut Self, &str) -> Result<(), Fault>) -> Result<(), Fault> {
        if self.depth == DEEPEST {
            return Err(self.fault(format!("nested more than {DEEPEST} deep")));
        }
        self.depth += 1;
        inner(self, key)?;
        self.depth -= 1;
        Ok(())
    }

    /// null, true, false or a number.
    fn word(&mut self) -> Result<Value, Fault> {
        let mut word = String::new();
        while let Some(&letter) = self.rest.peek() {
            if letter.is_whitespace() || ",}]/\"".contains(letter) {
                break;
            }
            word.push(letter);
            self.next();
        }
        match word.as_str() {
            "null" => Ok(Value::Null),
            "true" | "false" => Ok(Value::Text(word)),
            number if number.parse::<serde_json::Number>().is_ok() => Ok(Value::Text(word)),
            // An unquoted secret must not be repeated in a log.
            _ => Err(self.fault("expected a value: a text in quotes, a number, true, false, null, { or [")),
        }
    }

    fn entry(&mut self, key: &str, value: Value, line: usize) {
        self.entries.push(Entry { key: key.to_owned(), value, line });
    }

    /// Notes a key, which may have been given before in any spelling: nested, or as `Section:Key`.
    fn once(&mut self, key: &str, line: usize) {
        if let Some(earlier) = self.seen.insert(key.to_lowercase(), line) {
            self.twice.push(Fault { line, message: format!("{key} is given twice, here and on line {earlier}") });
        }
    }

    fn members(&mut self, key: &str) -> Result<(), Fault> {
        self.next();
        loop {
            self.blank()?;
            match self.rest.peek() {
                Some('}') => {
                    self.next();
                    return Ok(());
                }
                Some('"') => {
                    let line = self.line;
                    let name = self.text()?;
                    let inner = if key.is_empty() { name } else { format!("{key}:{name}") };
                    self.once(&inner, line);
                    self.blank()?;
                    if self.rest.peek() != Some(&':') {
                        return Err(self.fault(format!("expected : after {inner}")));
                    }
                    self.next();
                    self.value(&inner)?;
                    self.separator('}')?;
                }
                _ => return Err(self.fault("expected a name in quotes, or }")),
            }
        }
    }

    fn elements(&mut self, key: &str) -> Result<(), Fault> {
        let line = self.line;
        self.next();
        for index in 0.. {
            self.blank()?;
            if self.rest.peek() == Some(&']') {
                self.next();
                if index == 0 {
                    self.entry(key, Value::EmptyList, line);
                }
                break;
            }
            let inner = format!("{key}:{index}");
            self.once(&inner, self.line);
            self.value(&inner)?;
            self.separator(']')?;
        }
        Ok(())
    }

    fn separator(&mut self, end: char) -> Result<(), Fault> {
        self.blank()?;
        match self.rest.peek() {
            Some(',') => {
                self.next();
                Ok(())
            }
            Some(letter) if *letter == end => Ok(()),
            _ => Err(self.fault(format!("expected , or {end}"))),
        }
    }

    fn text(&mut self) -> Result<String, Fault> {
        let line = self.line;
        let mut literal = String::from("\"");
        self.next();
        let mut escaped = false;
        loop {
            match self.next() {
                Some('\n') | None => return Err(Fault { line, message: "the text does not end on its line".into() }),
                Some(letter) => {
                    literal.push(letter);
                    if letter == '"' && !escaped {
                        break;
                    }
                    escaped = letter == '\\' && !escaped;
                }
            }
        }
        // The library's words would name a line and column of the literal, not of the file.
        serde_json::from_str(&literal)
            .map_err(|_| Fault { line, message: "the text has an unknown escape or a control character in it".into() })
    }
}
