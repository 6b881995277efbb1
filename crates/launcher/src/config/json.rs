//! JSON as .NET's configuration reads it: comments, trailing commas and a byte order mark are fine.
//!
//! Flattens a file into `Section:Key` entries, each with the line it stands on.

/// One scalar of a configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) key: String,
    /// `None` is `null`.
    pub(super) value: Option<String>,
    pub(super) line: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) line: usize,
    pub(super) message: String,
}

pub(super) fn read(text: &str) -> Result<Vec<Entry>, Fault> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader { rest: text.chars().peekable(), line: 1, entries: Vec::new() };
    reader.blank()?;
    if reader.rest.peek() != Some(&'{') {
        return Err(reader.fault("expected { at the beginning"));
    }
    reader.value("")?;
    reader.blank()?;
    match reader.rest.peek() {
        None => Ok(reader.entries),
        Some(_) => Err(reader.fault("expected nothing after the closing }")),
    }
}

struct Reader<'t> {
    rest: std::iter::Peekable<std::str::Chars<'t>>,
    line: usize,
    entries: Vec<Entry>,
}

impl Reader<'_> {
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
        let mut star = false;
        loop {
            match self.next() {
                Some('/') if star => return Ok(()),
                Some(letter) => star = letter == '*',
                None => return Err(self.fault("the comment does not end")),
            }
        }
    }

    fn value(&mut self, key: &str) -> Result<(), Fault> {
        self.blank()?;
        let line = self.line;
        match self.rest.peek() {
            Some('{') => self.members(key),
            Some('[') => self.elements(key),
            Some('"') => {
                let text = self.text()?;
                self.entry(key, Some(text), line)
            }
            Some(_) => {
                let mut word = String::new();
                while let Some(&letter) = self.rest.peek() {
                    if letter.is_whitespace() || ",}]/".contains(letter) {
                        break;
                    }
                    word.push(letter);
                    self.next();
                }
                match word.as_str() {
                    "null" => self.entry(key, None, line),
                    "true" | "false" => self.entry(key, Some(word), line),
                    number if number.parse::<serde_json::Number>().is_ok() => self.entry(key, Some(word), line),
                    _ => Err(self.fault(format!("expected a value, got {word:?}"))),
                }
            }
            None => Err(self.fault("expected a value, got the end of the file")),
        }
    }

    fn entry(&mut self, key: &str, value: Option<String>, line: usize) -> Result<(), Fault> {
        if let Some(earlier) = self.entries.iter().find(|earlier| earlier.key.eq_ignore_ascii_case(key)) {
            let message = format!("{key} is given twice, here and on line {}", earlier.line);
            return Err(Fault { line, message });
        }
        self.entries.push(Entry { key: key.to_owned(), value, line });
        Ok(())
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
                    let name = self.text()?;
                    self.blank()?;
                    if self.next() != Some(':') {
                        return Err(self.fault(format!("expected : after \"{name}\"")));
                    }
                    let inner = if key.is_empty() { name } else { format!("{key}:{name}") };
                    self.value(&inner)?;
                    self.separator('}')?;
                }
                _ => return Err(self.fault("expected a name in quotes, or }")),
            }
        }
    }

    fn elements(&mut self, key: &str) -> Result<(), Fault> {
        self.next();
        for index in 0.. {
            self.blank()?;
            if self.rest.peek() == Some(&']') {
                self.next();
                break;
            }
            self.value(&format!("{key}:{index}"))?;
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
        let mut literal = String::from("\"");
        self.next();
        let mut escaped = false;
        loop {
            match self.next() {
                Some('\n') | None => return Err(self.fault("the text does not end on its line")),
                Some(letter) => {
                    literal.push(letter);
                    if letter == '"' && !escaped {
                        break;
                    }
                    escaped = letter == '\\' && !escaped;
                }
            }
        }
        serde_json::from_str(&literal).map_err(|error| self.fault(error.to_string()))
    }
}
