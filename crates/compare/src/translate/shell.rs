//! The commands of a script for a shell: their words, letter by letter, also of those in `$(...)`. Comments, texts of
//! here-documents and whatever else the shell makes of a script stay what they are.

use super::letters::{Letter, Quoting, variable};
use std::ops::Range;

#[derive(Debug, Default, Clone)]
pub(super) struct Word {
    pub letters: Vec<Letter>,
    /// With its quotes.
    pub written: Range<usize>,
}

#[derive(Debug, Default, Clone)]
pub(super) struct Command {
    pub words: Vec<Word>,
    /// Commands of one pipeline have the same number.
    pub pipeline: usize,
    /// The text that is put into it from the script itself.
    pub here: Vec<Letter>,
    /// Where it reads from and writes to.
    pub redirections: Vec<Redirection>,
    /// The place of what its output is put into: one more than that of a `$(` or of a `<(`, and 0 outside of any.
    pub within: usize,
    /// Whether something is piped into it.
    pub is_piped: bool,
    /// Whether it is the name of a function whose commands follow.
    pub is_function: bool,
}

#[derive(Debug, Clone)]
pub(super) enum Redirection {
    From(Word),
    /// The output goes to a file; the first time it is new.
    To(Word),
    /// The text of a word.
    Text(Word),
    /// The output of commands, by the place where these begin.
    Commands(usize),
    /// The output goes to where errors go, or nowhere.
    Away,
}

/// The commands in their order, and what could not be read: a place and why. What comes behind that is not read.
pub(super) fn commands(text: &str) -> (Vec<Command>, Option<(usize, String)>) {
    let mut lexer = Lexer {
        text,
        at: 0,
        found: Vec::new(),
        pipelines: 0,
        waiting: Vec::new(),
        depth: 0,
        is_ticked: false,
        within: 0,
    };
    let failed = lexer.list(None).err();
    (lexer.found, failed)
}

type Failed = (usize, String);

/// Nobody puts commands into commands deeper.
const DEEPEST: usize = 32;

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    found: Vec<Command>,
    pipelines: usize,
    /// Here-documents whose text comes after this line: their ends, whether tabs before them count, whether variables are
    /// put in, and whose they are.
    waiting: Vec<(String, bool, usize)>,
    depth: usize,
    /// Whether commands are read between backticks.
    is_ticked: bool,
    within: usize,
}

impl Lexer<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn take(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.at += letter.len_utf8();
        Some(letter)
    }

    fn follows(&self, words: &str) -> bool {
        self.text[self.at..].starts_with(words)
    }

    /// Commands that are put in, up to what closes them; where they begin.
    fn put_in(&mut self, from: usize, until: char) -> Result<(), Failed> {
        let outer = std::mem::replace(&mut self.within, from + 1);
        let read = self.list(Some(until));
        self.within = outer;
        read
    }

    /// Commands up to what closes them.
    fn list(&mut self, until: Option<char>) -> Result<(), Failed> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err((self.at, format!("commands are nested deeper than {DEEPEST}")));
        }
        let outer = std::mem::replace(&mut self.is_ticked, until == Some('`'));
        let read = self.list_of(until);
        self.is_ticked = outer;
        self.depth -= 1;
        read
    }

    fn list_of(&mut self, until: Option<char>) -> Result<(), Failed> {
        let begun = self.at;
        self.pipelines += 1;
        let mut pipeline = self.pipelines;
        let mut command = Command::default();
        // Which command a redirection is of is known once it is whole.
        let mut here = Vec::new();
        let mut is_piped = false;
        loop {
            let Some(letter) = self.peek() else {
                self.finish(&mut command, &mut here);
                return match until {
                    Some(end) => Err((begun, format!("there is no {end} to close it"))),
                    None => Ok(()),
                };
            };
            match letter {
                _ if Some(letter) == until => {
                    self.at += 1;
                    self.finish(&mut command, &mut here);
                    return Ok(());
                }
                '\n' => {
                    self.at += 1;
                    // A pipe goes on on the next line.
                    let goes_on = is_piped && command.words.is_empty();
                    self.finish(&mut command, &mut here);
                    self.here_documents();
                    if !goes_on {
                        is_piped = false;
                        self.pipelines += 1;
                        pipeline = self.pipelines;
                    }
                }
                '&' if self.follows("&>") => {
                    self.at += 1;
                    self.redirection(&mut here, &mut command, None)?;
                }
                '|' | ';' | '&' | '(' | ')' => {
                    self.at += 1;
                    command.is_function = letter == '(' && command.words.len() == 1 && self.follows(")");
                    self.finish(&mut command, &mut here);
                    is_piped = letter == '|' && !self.follows("|");
                    if !is_piped {
                        self.pipelines += 1;
                        pipeline = self.pipelines;
                    }
                }
                '\\' if self.follows("\\\n") => self.at += 2,
                '\\' if self.follows("\\\r\n") => self.at += 3,
                letter if letter.is_whitespace() => drop(self.take()),
                '#' => self.at += self.text[self.at..].find('\n').unwrap_or(self.text.len() - self.at),
                '<' | '>' => self.redirection(&mut here, &mut command, None)?,
                _ => {
                    let word = self.word()?;
                    // The number of what is redirected.
                    if !(self.follows(">") || self.follows("<"))
                        || !word.letters.iter().all(|one| one.is('2') || one.is('1'))
                    {
                        command.words.push(word);
                    } else {
                        let number = word.letters.first().filter(|one| one.is('2')).map(|_| '2');
                        self.redirection(&mut here, &mut command, number)?;
                    }
                }
            }
            command.pipeline = pipeline;
            // What comes behind a pipe on its line, or on the next one.
            if !command.words.is_empty() || !command.redirections.is_empty() {
                command.is_piped |= is_piped;
            }
        }
    }

    fn finish(&mut self, command: &mut Command, here: &mut Vec<(String, bool)>) {
        let mut done = std::mem::take(command);
        done.within = self.within;
        let place = self.found.len();
        if !done.words.is_empty() {
            self.found.push(done);
        }
        self.waiting.extend(here.drain(..).map(|(end, is_plain)| (end, is_plain, place)));
    }

    fn redirection(
        &mut self,
        here: &mut Vec<(String, bool)>,
        command: &mut Command,
        number: Option<char>,
    ) -> Result<(), Failed> {
        let is_text = self.follows("<<<");
        let is_here = self.follows("<<") && !is_text;
        let from = self.at;
        if self.follows("<(") || self.follows(">(") {
            let is_read = self.follows("<(");
            self.at += 2;
            if is_read {
                command.redirections.push(Redirection::Commands(from));
            }
            return self.put_in(from, ')');
        }
        while matches!(self.peek(), Some('<' | '>' | '&' | '|')) {
            // What is read from is the output of commands: `< <(...)`.
            if self.at > from && self.follows("<(") {
                break;
            }
            self.at += 1;
        }
        let is_number = self.text[from..self.at].ends_with('&');
        let is_read = self.text[from..self.at].starts_with('<');
        if is_here && self.follows("-") {
            self.at += 1;
        }
        while matches!(self.peek(), Some(' ' | '\t')) {
            self.at += 1;
        }
        if self.follows("<(") || self.peek().is_none_or(|letter| letter == '\n' || "|;&()".contains(letter)) {
            return Ok(());
        }
        let target = self.word()?;
        if is_here {
            let is_plain = target.letters.iter().any(|letter| letter.quoting != Quoting::Bare);
            here.push((super::letters::said(&target.letters), is_plain));
        } else if is_text {
            command.redirections.push(Redirection::Text(target));
        } else if is_read {
            command.redirections.push(Redirection::From(target));
        } else if is_number && number.is_none() {
            command.redirections.push(Redirection::Away);
        } else if number.is_none() {
            command.redirections.push(Redirection::To(target));
        }
        Ok(())
    }

    /// Takes the texts that belong to the commands of the line before.
    fn here_documents(&mut self) {
        for (end, is_plain, place) in std::mem::take(&mut self.waiting) {
            let mut letters = Vec::new();
            while self.at < self.text.len() {
                let line_from = self.at;
                let length = self.text[self.at..].find('\n').map_or(self.text.len() - self.at, |end| end + 1);
                let line = &self.text[line_from..line_from + length];
                self.at += length;
                if line.trim_end_matches(['\n', '\r']).trim_start_matches('\t') == end {
                    break;
                }
                for (offset, letter) in line.char_indices() {
                    let written = line_from + offset..line_from + offset + letter.len_utf8();
                    // A variable may say anything; the letters of its name say nothing.
                    letters.push(match letter {
                        '$' if !is_plain => Letter::opaque(written, Quoting::Plain),
                        _ => Letter::new(letter, written, Quoting::Plain),
                    });
                }
            }
            if let Some(command) = self.found.get_mut(place) {
                command.here.extend(letters);
            }
        }
    }

    fn word(&mut self) -> Result<Word, Failed> {
        let begun = self.at;
        let mut letters = Vec::new();
        while let Some(letter) = self.peek() {
            let from = self.at;
            match letter {
                '\'' => {
                    self.at += 1;
                    let length =
                        self.text[self.at..].find('\'').ok_or_else(|| (from, "a ' is not closed".to_owned()))?;
                    for (offset, letter) in self.text[self.at..self.at + length].char_indices() {
                        let at = self.at + offset;
                        letters.push(Letter::new(letter, at..at + letter.len_utf8(), Quoting::Single));
                    }
                    self.at += length + 1;
                }
                '"' => self.double(&mut letters)?,
                '$' if self.follows("$'") => self.escaped(&mut letters)?,
                '`' if self.is_ticked => break,
                '$' | '`' => letters.push(self.expansion(Quoting::Bare)?),
                '\\' if self.follows("\\\n") => self.at += 2,
                '\\' if self.follows("\\\r\n") => self.at += 3,
                '\\' => {
                    self.at += 1;
                    let Some(letter) = self.take() else { break };
                    letters.push(Letter::new(letter, from..self.at, Quoting::Bare));
                }
                // What another program puts in before the shell reads it.
                '{' if variable(&self.text[from..]).is_some() => {
                    self.at += variable(&self.text[from..]).unwrap_or(1);
                    letters.push(Letter::opaque(from..self.at, Quoting::Bare));
                }
                letter if letter.is_whitespace() || "|;&()<>".contains(letter) => break,
                letter => {
                    self.at += letter.len_utf8();
                    letters.push(Letter::new(letter, from..self.at, Quoting::Bare));
                }
            }
        }
        Ok(Word { letters, written: begun..self.at })
    }

    fn double(&mut self, letters: &mut Vec<Letter>) -> Result<(), Failed> {
        let begun = self.at;
        self.at += 1;
        let open = || (begun, "a \" is not closed".to_owned());
        loop {
            let from = self.at;
            match self.peek().ok_or_else(open)? {
                '"' => {
                    self.at += 1;
                    return Ok(());
                }
                '$' | '`' => letters.push(self.expansion(Quoting::Double)?),
                '\\' => {
                    self.at += 1;
                    let letter = self.take().ok_or_else(open)?;
                    match letter {
                        '\n' => {}
                        '"' | '\\' | '$' | '`' => letters.push(Letter::new(letter, from..self.at, Quoting::Double)),
                        letter => {
                            letters.push(Letter::new('\\', from..from + 1, Quoting::Double));
                            letters.push(Letter::new(letter, from + 1..self.at, Quoting::Double));
                        }
                    }
                }
                letter => {
                    self.at += letter.len_utf8();
                    letters.push(Letter::new(letter, from..self.at, Quoting::Double));
                }
            }
        }
    }

    /// What browsers copy: `$'...'` with escapes.
    fn escaped(&mut self, letters: &mut Vec<Letter>) -> Result<(), Failed> {
        let begun = self.at;
        self.at += 2;
        let open = || (begun, "a $' is not closed".to_owned());
        loop {
            let from = self.at;
            let letter = match self.take().ok_or_else(open)? {
                '\'' => return Ok(()),
                '\\' => match self.take().ok_or_else(open)? {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    'u' => {
                        let code = self.text.get(self.at..self.at + 4).unwrap_or_default();
                        let letter = u32::from_str_radix(code, 16).ok().and_then(char::from_u32);
                        let letter = letter.ok_or_else(|| (from, format!("\\u{code} is no letter")))?;
                        self.at += 4;
                        letter
                    }
                    letter => letter,
                },
                letter => letter,
            };
            letters.push(Letter::new(letter, from..self.at, Quoting::Escaped));
        }
    }

    /// A variable, or the output of commands, which are read as well.
    fn expansion(&mut self, quoting: Quoting) -> Result<Letter, Failed> {
        let from = self.at;
        let is_command = self.take() == Some('`');
        match self.peek() {
            _ if is_command => self.put_in(from, '`')?,
            Some('(') if self.follows("((") => {
                let end = self.text[self.at..].find("))").ok_or_else(|| (from, "a $(( is not closed".to_owned()))?;
                self.at += end + 2;
            }
            Some('(') => {
                self.at += 1;
                self.put_in(from, ')')?;
            }
            Some('{') => {
                let end = self.text[self.at..].find('}').ok_or_else(|| (from, "a ${ is not closed".to_owned()))?;
                self.at += end + 1;
            }
            Some(letter) if letter.is_ascii_alphabetic() || letter == '_' => {
                let name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
                while self.peek().is_some_and(name) {
                    self.at += 1;
                }
            }
            Some(letter) if letter.is_ascii_digit() || "@*#?!$-".contains(letter) => self.at += 1,
            // A dollar alone is one.
            _ => return Ok(Letter::new('$', from..self.at, quoting)),
        }
        Ok(Letter::opaque(from..self.at, quoting))
    }
}
