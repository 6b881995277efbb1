//! Filters of `jq`, followed from the answer to what they read of it. Each path is moved where it begins at an answer; in
//! what is in one already nothing has to be done.

use super::letters::is_unknown;
use super::readers::{Kind, Places, Read, Spot, Step};
use std::ops::Range;

/// What a filter becomes, and where its results are. A filter that is not understood stays, and is said.
pub(super) fn read(places: &Places, filter: &str, spot: Spot) -> (Read, Spot) {
    let letters: Vec<char> = filter.chars().collect();
    let mut jq = Jq::new(places, &letters);
    let parsed = jq.pipe(spot, true).and_then(|end| {
        jq.space();
        match jq.peek() {
            None => Ok(end),
            Some(_) => Err(jq.rest()),
        }
    });
    let end = match parsed {
        Ok(end) => end,
        // In what is the same in both there is nothing to be done.
        Err(_) if spot.is_same() => return (Read::default(), Spot::Inside),
        Err(what) => {
            let why = format!("`jq` does something here that is not understood (`{what}`): look at what it reads");
            return (Read::said(why), Spot::Inside);
        }
    };
    let mut read = jq.read;
    if jq.from_data {
        if jq.reads_failure {
            let why = "`jq` reads a success and a failure here: look at what is around the record there".to_owned();
            return (Read::said(why), Spot::Inside);
        }
        let data = places.data[1].as_ref().map(|data| format!(".{data}"));
        match (begins_with_dot(&letters), data) {
            (Some(dot), Some(data)) => read.changes.insert(0, (dot..dot + 1, data)),
            (_, data) => read.prefix = data.map(|data| format!("{data} | ")),
        }
        return (read, if let Spot::Answer(kind, true) = end { Spot::Data(kind) } else { end });
    }
    read.changes.extend(jq.top);
    read.changes.sort_by_key(|(place, _)| place.start);
    (read, end)
}

/// Where the dot is in a filter that begins as `. | ...`.
fn begins_with_dot(letters: &[char]) -> Option<usize> {
    let space = |from: usize| from + letters[from..].iter().take_while(|letter| letter.is_whitespace()).count();
    let dot = space(0);
    let pipe = space((dot + 1).min(letters.len()));
    let is_so =
        letters.get(dot) == Some(&'.') && letters.get(pipe) == Some(&'|') && letters.get(pipe + 1) != Some(&'=');
    is_so.then_some(dot)
}

/// Nobody writes filters deeper.
const DEEPEST: usize = 128;

struct Jq<'p> {
    places: &'p Places,
    letters: &'p [char],
    at: usize,
    depth: usize,
    /// Variables of the filter, and where they are.
    bound: Vec<(String, Spot)>,
    /// Changes of paths that begin at the first answer: nothing is to be done to them where all of the filter begins at what
    /// is in it.
    top: Vec<(Range<usize>, String)>,
    from_data: bool,
    reads_failure: bool,
    read: Read,
}

type Parsed<T> = Result<T, String>;

const OPERATORS: [&str; 23] = [
    "?//", "//=", "and ", "or ", "and(", "or(", "==", "!=", "<=", ">=", "|=", "+=", "-=", "*=", "/=", "%=", "//", "<",
    ">", "+", "-", "*", "/",
];

impl<'p> Jq<'p> {
    fn new(places: &'p Places, letters: &'p [char]) -> Self {
        Self {
            places,
            letters,
            at: 0,
            depth: 0,
            bound: Vec::new(),
            top: Vec::new(),
            from_data: false,
            reads_failure: false,
            read: Read::default(),
        }
    }

    fn peek(&self) -> Option<char> {
        self.letters.get(self.at).copied()
    }

    fn follows(&self, words: &str) -> bool {
        words.chars().enumerate().all(|(place, letter)| self.letters.get(self.at + place) == Some(&letter))
    }

    fn space(&mut self) {
        while let Some(letter) = self.peek() {
            if letter == '#' {
                while self.peek().is_some_and(|letter| letter != '\n') {
                    self.at += 1;
                }
            } else if letter.is_whitespace() {
                self.at += 1;
            } else {
                break;
            }
        }
    }

    /// What comes from here on, for people.
    fn rest(&self) -> String {
        let shown = |letter: &char| if is_unknown(*letter) { '$' } else { *letter };
        let rest: String = self.letters[self.at.min(self.letters.len())..].iter().map(shown).collect();
        crate::curl::brief(&rest)
    }

    fn take(&mut self, words: &str) -> Parsed<()> {
        self.space();
        if !self.follows(words) {
            return Err(self.rest());
        }
        self.at += words.chars().count();
        Ok(())
    }

    /// A word of the language, and not the beginning of a longer one.
    fn word(&mut self, word: &str) -> bool {
        self.space();
        let end = self.at + word.len();
        let is_whole = !self.letters.get(end).is_some_and(|letter| letter.is_alphanumeric() || *letter == '_');
        let found = self.follows(word) && is_whole;
        if found {
            self.at = end;
        }
        found
    }

    fn name(&mut self) -> String {
        let from = self.at;
        while self
            .peek()
            .is_some_and(|letter| letter.is_alphanumeric() || letter == '_' || letter == ':' && self.is_double_colon())
        {
            self.at += 1;
        }
        self.letters[from..self.at].iter().collect()
    }

    fn is_double_colon(&self) -> bool {
        self.letters.get(self.at + 1) == Some(&':') || self.at > 0 && self.letters[self.at - 1] == ':'
    }

    /// All of what is somewhere is taken.
    fn consume(&mut self, spot: Spot, what: &str) {
        if self.places.whole(spot, what).is_none() {
            return;
        }
        if spot == Spot::Answer(Kind::Record, true) && self.places.data[0].is_none() && self.places.kind == Kind::Record
        {
            self.from_data = true;
        } else {
            self.read.warnings.extend(self.places.whole(spot, what));
        }
    }

    /// Whether there is something is asked: a record that is nowhere in a failure of the one is all of the other's.
    fn asked_for(&mut self, spot: Spot, what: &str) {
        if let (Spot::Data(_), Some(data), None) = (spot, &self.places.data[0], &self.places.data[1]) {
            let [left, right] = &self.places.names;
            let why = format!(
                "`{what}` asks for `.{data}`, which is null in a failure of {left}; {right} answers the failure there"
            );
            self.read.warnings.push(why);
        } else {
            self.consume(spot, what);
        }
    }

    fn pipe(&mut self, spot: Spot, with_commas: bool) -> Parsed<Spot> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("so deep".to_owned());
        }
        let left = if with_commas { self.commas(spot)? } else { self.expression(spot)? };
        self.space();
        let end = if self.peek() == Some('|') && !self.follows("|=") {
            self.at += 1;
            self.pipe(left, with_commas)?
        } else {
            left
        };
        self.depth -= 1;
        Ok(end)
    }

    fn commas(&mut self, spot: Spot) -> Parsed<Spot> {
        let mut end = self.expression(spot)?;
        loop {
            self.space();
            if self.peek() != Some(',') {
                return Ok(end);
            }
            self.at += 1;
            end = end.or(self.expression(spot)?);
        }
    }

    fn operator(&mut self) -> Option<&'static str> {
        self.space();
        if self.follows("%") && !self.follows("%=") {
            self.at += 1;
            return Some("%");
        }
        let found = OPERATORS.into_iter().find(|operator| self.follows(operator));
        if let Some(operator) = found {
            self.at += operator.trim_end_matches(['(', ' ']).len();
            return Some(operator.trim_end_matches(['(', ' ']));
        }
        if self.follows("=") {
            self.at += 1;
            return Some("=");
        }
        None
    }

    fn expression(&mut self, spot: Spot) -> Parsed<Spot> {
        let mut left = self.term(spot)?;
        while let Some(operator) = self.operator() {
            match operator {
                "?//" => return Err(self.rest()),
                "|=" => {
                    self.term(left)?;
                    self.consume_if_bare(spot, operator);
                    left = spot;
                }
                "=" | "+=" | "-=" | "*=" | "/=" | "%=" | "//=" => {
                    let right = self.term(spot)?;
                    self.consume(right, operator);
                    self.consume_if_bare(spot, operator);
                    left = spot;
                }
                "//" => {
                    self.asked_for(left, operator);
                    let right = self.term(spot)?;
                    left = left.or(right);
                }
                _ => {
                    self.asked_for(left, operator);
                    let right = self.term(spot)?;
                    self.asked_for(right, operator);
                    left = Spot::Inside;
                }
            }
        }
        Ok(left)
    }

    /// What is changed and shown as a whole is shown without the envelope as before.
    fn consume_if_bare(&mut self, spot: Spot, what: &str) {
        if self.places.data[0].is_none() {
            self.consume(spot, what);
        }
    }

    fn term(&mut self, spot: Spot) -> Parsed<Spot> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("so deep".to_owned());
        }
        self.space();
        let from = self.at;
        let Some(letter) = self.peek() else { return Err("nothing".to_owned()) };
        let end = match letter {
            '.' if self.follows("..") => {
                self.at += 2;
                self.consume(spot, "..");
                Spot::Inside
            }
            '.' => {
                let next = self.letters.get(from + 1);
                if next.is_some_and(|next| next.is_alphabetic() || "_\"[".contains(*next)) {
                    self.steps(spot, true)?
                } else if next.is_some_and(|next| is_unknown(*next)) {
                    if !spot.is_same() {
                        return Err(self.rest());
                    }
                    self.at += 2;
                    Spot::Inside
                } else {
                    self.at += 1;
                    spot
                }
            }
            '$' => {
                self.at += 1;
                let name = self.name();
                let known = self.bound.iter().rev().find(|(known, _)| *known == name).map(|(_, spot)| *spot);
                // Others are given with the command.
                known.unwrap_or(Spot::Inside)
            }
            '"' => self.text(spot)?,
            '@' => {
                self.at += 1;
                let format = self.name();
                self.space();
                if self.peek() == Some('"') {
                    self.text(spot)?
                } else {
                    self.consume(spot, &format!("@{format}"));
                    Spot::Inside
                }
            }
            '(' => {
                self.at += 1;
                let end = self.pipe(spot, true)?;
                self.take(")")?;
                end
            }
            '[' => {
                self.at += 1;
                self.bracketed(spot)?;
                self.take("]")?;
                Spot::Inside
            }
            '{' => self.object(spot)?,
            '-' => {
                self.at += 1;
                let inner = self.term(spot)?;
                self.consume(inner, "-");
                Spot::Inside
            }
            letter if letter.is_ascii_digit() => {
                while self.peek().is_some_and(|letter| letter.is_ascii_alphanumeric() || letter == '.') {
                    self.at += 1;
                }
                Spot::Inside
            }
            // What only the shell knows: behind an operator it is a value.
            letter if is_unknown(letter) => {
                let before = self.letters[..from].iter().rev().find(|letter| !letter.is_whitespace());
                if !spot.is_same() && !before.is_some_and(|before| "<>=+-*/%:(,;".contains(*before)) {
                    return Err(self.rest());
                }
                while self.peek().is_some_and(|letter| is_unknown(letter) || letter.is_ascii_alphanumeric()) {
                    self.at += 1;
                }
                Spot::Inside
            }
            letter if letter.is_alphabetic() || letter == '_' => self.function(spot)?,
            _ => return Err(self.rest()),
        };
        let end = self.steps(end, false)?;
        let end = self.binding(spot, end)?;
        self.depth -= 1;
        Ok(end)
    }

    /// `... as $name | ...`
    fn binding(&mut self, spot: Spot, source: Spot) -> Parsed<Spot> {
        if !self.word("as") {
            return Ok(source);
        }
        let count = self.pattern(source)?;
        self.take("|")?;
        let end = self.pipe(spot, true)?;
        self.bound.truncate(self.bound.len() - count);
        Ok(end)
    }

    /// The names that a pattern gives, and how many these are.
    fn pattern(&mut self, source: Spot) -> Parsed<usize> {
        self.space();
        if self.peek() == Some('$') {
            self.at += 1;
            let name = self.name();
            self.bound.push((name, source));
            return Ok(1);
        }
        if !matches!(self.peek(), Some('[' | '{')) {
            return Err(self.rest());
        }
        // It takes it apart.
        self.consume(source, "as");
        let (mut depth, mut count) = (0_usize, 0);
        while let Some(letter) = self.peek() {
            self.at += 1;
            match letter {
                '[' | '{' => depth += 1,
                ']' | '}' => {
                    depth -= 1;
                    if depth == 0 {
                        return Ok(count);
                    }
                }
                '$' => {
                    let name = self.name();
                    self.bound.push((name, Spot::Inside));
                    count += 1;
                }
                '"' | '(' => return Err(self.rest()),
                _ => {}
            }
        }
        Err(self.rest())
    }

    /// The steps of a path from here on. At its beginning the dot stays, whatever goes.
    fn steps(&mut self, spot: Spot, mut is_first: bool) -> Parsed<Spot> {
        let mut spot = spot;
        let before = (self.top.len(), self.read.changes.len());
        loop {
            let from = self.at;
            let next = self.letters.get(from + 1).copied();
            let (name, named) = match self.peek() {
                Some('.') if next.is_some_and(|next| next.is_alphabetic() || next == '_') => {
                    self.at += 1;
                    let begun = self.at;
                    while self.peek().is_some_and(|letter| letter.is_alphanumeric() || letter == '_') {
                        self.at += 1;
                    }
                    if self.peek().is_some_and(is_unknown) {
                        if !spot.is_same() {
                            return Err(self.rest());
                        }
                        self.at += 1;
                    }
                    (Some(self.letters[begun..self.at].iter().collect::<String>()), begun..self.at)
                }
                Some('.') if next == Some('"') => {
                    self.at += 1;
                    self.quoted_name(spot)?
                }
                Some('.') if next == Some('[') => {
                    self.at += 1;
                    self.index(spot)?
                }
                Some('[') => self.index(spot)?,
                _ => return Ok(spot),
            };
            let mut to = self.at;
            while self.peek() == Some('?') && !self.follows("?//") {
                self.at += 1;
                to = self.at;
            }
            let step = name.as_deref().map_or(Step::Element, Step::Name);
            let is_number = name.is_some() && self.is_beside_number(from);
            let stepped = self.places.step(spot, step, is_number);
            let is_top = matches!(spot, Spot::Answer(_, true));
            let changes = if is_top { &mut self.top } else { &mut self.read.changes };
            if let Some(put) = &stepped.put {
                let new = match (self.letters[from], next) {
                    ('.', Some('[')) => format!(".{put}"),
                    (letter, _) => format!(".{put}{letter}"),
                };
                changes.push((from..from + 1, new));
            }
            if stepped.drop {
                let goes_on = self.letters.get(to) == Some(&'.') && self.letters.get(to + 1) != Some(&'.');
                changes.push((from..to, if is_first && !goes_on { ".".to_owned() } else { String::new() }));
            }
            let leads_nowhere = stepped.warning.is_some() && stepped.rename.is_none();
            if let Some(new) = stepped.rename {
                changes.push((named, new));
            }
            self.reads_failure |= stepped.is_failure;
            if leads_nowhere {
                // What leads nowhere stays as it was.
                self.top.truncate(before.0);
                self.read.changes.truncate(before.1);
            }
            self.read.warnings.extend(stepped.warning);
            is_first &= stepped.drop;
            spot = stepped.spot;
        }
    }

    /// Whether what is read here is held beside a number, as a status is.
    fn is_beside_number(&self, from: usize) -> bool {
        let behind: String = self.letters[self.at..].iter().collect();
        let behind = behind.trim_start();
        let compared = ["==", "!=", "<=", ">=", "<", ">"].iter().find_map(|operator| behind.strip_prefix(operator));
        let is_digit = |text: &str| text.trim_start().starts_with(|letter: char| letter.is_ascii_digit());
        let before: String = self.letters[..from].iter().collect();
        let before = before.trim_end();
        let operand = before.strip_suffix(['=', '<', '>']).map(|rest| rest.trim_end_matches(['=', '!', '<', '>']));
        let ends_in_number = |text: &str| text.trim_end().ends_with(|letter: char| letter.is_ascii_digit());
        compared.is_some_and(is_digit) || operand.is_some_and(ends_in_number)
    }

    /// A name between quotes. What is put into it only whoever runs it knows.
    fn quoted_name(&mut self, spot: Spot) -> Parsed<(Option<String>, Range<usize>)> {
        let from = self.at + 1;
        self.text(spot)?;
        let named = from..self.at - 1;
        let name: String = self.letters[named.clone()].iter().collect();
        let is_plain = !name.contains('\\') && !name.chars().any(is_unknown);
        Ok((is_plain.then_some(name), named))
    }

    /// What stands before a bracket that closes, if anything does.
    fn bracketed(&mut self, spot: Spot) -> Parsed<()> {
        self.space();
        if self.peek() != Some(']') {
            let inner = self.pipe(spot, true)?;
            self.consume(inner, "[ ]");
        }
        Ok(())
    }

    fn index(&mut self, spot: Spot) -> Parsed<(Option<String>, Range<usize>)> {
        self.at += 1;
        self.space();
        if self.peek() == Some('"') {
            let begun = self.at;
            let named = self.quoted_name(spot)?;
            self.space();
            if self.peek() == Some(']') {
                self.at += 1;
                return Ok(named);
            }
            self.at = begun;
        }
        if self.peek() != Some(']') {
            if self.peek() != Some(':') {
                let inner = self.pipe(spot, true)?;
                self.consume(inner, "[ ]");
            }
            self.space();
            if self.peek() == Some(':') {
                self.at += 1;
                self.bracketed(spot)?;
            }
        }
        self.take("]")?;
        Ok((None, 0..0))
    }

    /// A text, with what is put into it.
    fn text(&mut self, spot: Spot) -> Parsed<Spot> {
        let from = self.at;
        self.at += 1;
        while let Some(letter) = self.peek() {
            self.at += 1;
            match letter {
                '"' => return Ok(Spot::Inside),
                '\\' if self.peek() == Some('(') => {
                    self.at += 1;
                    let inner = self.pipe(spot, true)?;
                    self.consume(inner, "\\( )");
                    self.take(")")?;
                }
                '\\' => self.at += 1,
                _ => {}
            }
        }
        self.at = from;
        Err(self.rest())
    }

    fn object(&mut self, spot: Spot) -> Parsed<Spot> {
        self.at += 1;
        self.space();
        while self.peek() != Some('}') {
            let begun = self.at;
            match self.peek() {
                Some('(') => {
                    self.at += 1;
                    let key = self.pipe(spot, true)?;
                    self.consume(key, "{ }");
                    self.take(")")?;
                }
                Some('"') => drop(self.text(spot)?),
                Some('$') => {
                    self.at += 1;
                    self.name();
                }
                Some('@') => return Err(self.rest()),
                Some(letter) if letter.is_alphabetic() || letter == '_' => drop(self.name()),
                _ => return Err(self.rest()),
            }
            self.space();
            if self.peek() == Some(':') {
                self.at += 1;
                let value = self.pipe(spot, false)?;
                self.consume(value, "{ }");
            } else if self.letters[begun] == '$' {
                let name: String = self.letters[begun + 1..self.at].iter().collect();
                let known = self.bound.iter().rev().find(|(known, _)| *known == name.trim()).map(|(_, spot)| *spot);
                self.consume(known.unwrap_or(Spot::Inside), "{ }");
            } else {
                // A name alone is the member that is called so.
                let name: String = self.letters[begun..self.at].iter().collect();
                let name = name.trim();
                self.reads_failure |= self.places.step(spot, Step::Name(name.trim_matches('"')), false).is_failure;
                self.consume(spot, &format!("{{{name}}}"));
            }
            self.space();
            match self.peek() {
                Some(',') => self.at += 1,
                Some('}') => break,
                _ => return Err(self.rest()),
            }
            self.space();
        }
        self.at += 1;
        Ok(Spot::Inside)
    }

    fn function(&mut self, spot: Spot) -> Parsed<Spot> {
        let begun = self.at;
        let name = self.name();
        match name.as_str() {
            "def" | "import" | "include" | "label" | "input" | "inputs" | "limit" | "getpath" | "input_filename" => {
                self.at = begun;
                Err(self.rest())
            }
            "if" => self.condition(spot),
            "try" => {
                let end = self.term(spot)?;
                if self.word("catch") {
                    let caught = self.term(Spot::Inside)?;
                    return Ok(end.or(caught));
                }
                Ok(end)
            }
            "reduce" | "foreach" => {
                let source = self.term_of_loop(spot)?;
                let count = self.pattern(source)?;
                self.take("(")?;
                let first = self.pipe(spot, true)?;
                self.consume(first, &name);
                while self.take(";").is_ok() {
                    let next = self.pipe(Spot::Inside, true)?;
                    self.consume(next, &name);
                }
                self.take(")")?;
                self.bound.truncate(self.bound.len() - count);
                Ok(Spot::Inside)
            }
            "empty" | "error" | "null" | "true" | "false" | "now" | "env" | "halt" if self.peek() != Some('(') => {
                Ok(Spot::Inside)
            }
            _ => self.call(&name, spot),
        }
    }

    /// What a loop goes through: a path, without the name that it gives.
    fn term_of_loop(&mut self, spot: Spot) -> Parsed<Spot> {
        self.space();
        match self.peek() {
            Some('(') => {
                self.at += 1;
                let inner = self.pipe(spot, true)?;
                self.take(")")?;
                let end = self.steps(inner, false)?;
                self.take("as")?;
                Ok(end)
            }
            Some('.') => {
                let end = self.steps(spot, true)?;
                self.take("as")?;
                Ok(end)
            }
            _ => Err(self.rest()),
        }
    }

    fn condition(&mut self, spot: Spot) -> Parsed<Spot> {
        let asked = self.pipe(spot, true)?;
        self.asked_for(asked, "if");
        if !self.word("then") {
            return Err(self.rest());
        }
        let mut end = self.pipe(spot, true)?;
        while self.word("elif") {
            let asked = self.pipe(spot, true)?;
            self.asked_for(asked, "elif");
            if !self.word("then") {
                return Err(self.rest());
            }
            end = end.or(self.pipe(spot, true)?);
        }
        end = if self.word("else") { end.or(self.pipe(spot, true)?) } else { end.or(spot) };
        if self.word("end") { Ok(end) } else { Err(self.rest()) }
    }

    fn call(&mut self, name: &str, spot: Spot) -> Parsed<Spot> {
        let passes = ["select", "first", "last", "isempty", "error", "map", "del"].contains(&name);
        let inner = match name {
            "map" => self.elements(spot),
            _ if passes => spot,
            "not" | "type" => {
                self.asked_for(spot, name);
                Spot::Inside
            }
            _ => {
                self.consume(spot, name);
                Spot::Inside
            }
        };
        let mut given = None;
        if self.peek() == Some('(') {
            self.at += 1;
            loop {
                let end = self.pipe(inner, true)?;
                if name == "select" {
                    self.asked_for(end, name);
                } else if !["first", "last", "map", "del"].contains(&name) {
                    self.consume(end, name);
                }
                given = Some(end);
                self.space();
                if self.peek() != Some(';') {
                    break;
                }
                self.at += 1;
            }
            self.take(")")?;
        }
        match (name, given) {
            ("select", Some(_)) => Ok(spot),
            ("first" | "last", Some(end)) => Ok(end),
            ("map", Some(end)) => {
                self.consume(end, name);
                Ok(Spot::Inside)
            }
            ("del", Some(_)) => {
                self.consume_if_bare(spot, name);
                Ok(spot)
            }
            ("first" | "last" | "map" | "select" | "del", None) => {
                self.consume(spot, name);
                Ok(Spot::Inside)
            }
            _ => Ok(Spot::Inside),
        }
    }

    /// Where one is at each element of something.
    fn elements(&mut self, spot: Spot) -> Spot {
        if spot == Spot::Results {
            return Spot::Result;
        }
        self.consume(spot, "map");
        Spot::Inside
    }
}
