//! What reads an answer behind a command: a filter of `jq`, a script of a collection. Where it reaches into the wrapping of
//! the one dialect, it reaches to the same place in the other's.

use crate::dialect::Dialect;
use crate::wrapping::place;

/// What a reader of answers becomes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Read {
    /// Places, counted in letters, and what stands there then.
    pub changes: Vec<(std::ops::Range<usize>, String)>,
    pub warnings: Vec<String>,
}

/// Where things are in the answers of two dialects.
pub(super) struct Places {
    /// Where a record is, and what a log-in's token is called: in the one, in the other.
    data: [String; 2],
    token: [Option<String>; 2],
    /// What is around a record, and nowhere in the other.
    around: Vec<String>,
    names: [String; 2],
    /// What a failure is called.
    title: [Option<String>; 2],
}

/// The letters of the last name that ends at a place.
fn place_of(letters: &[char], end: usize, name: &str) -> std::ops::Range<usize> {
    end.min(letters.len()) - name.chars().count()..end
}

impl Places {
    pub fn of(from: &Dialect, to: &Dialect) -> Self {
        let data = [from, to].map(|one| place(&one.wrapping.success, "data").unwrap_or_default());
        let around = |one: &Dialect| -> Vec<String> {
            let members = one.wrapping.success.as_object().into_iter().flatten().map(|(name, _)| name.clone());
            members.filter(|name| *name != data[0]).collect()
        };
        Self {
            title: [from, to].map(|one| place(&one.wrapping.failure, "title")),
            token: [from, to].map(|one| one.wrapping.of_login("token")),
            around: around(from),
            names: [from, to].map(|one| one.name.clone()),
            data,
        }
    }

    /// The path of a member in the other dialect.
    fn moved(&self, path: &[&str], is_login: bool) -> Option<Vec<String>> {
        let split = |path: &str| -> Vec<String> {
            path.split('.').filter(|name| !name.is_empty()).map(str::to_owned).collect()
        };
        if let ([Some(from), Some(to)], true) = (&self.token, is_login) {
            let from = split(from);
            if path.len() >= from.len() && from.iter().zip(path).all(|(one, other)| one == other) {
                return Some(
                    split(to).into_iter().chain(path[from.len()..].iter().map(|name| (*name).to_owned())).collect(),
                );
            }
        }
        let outer = split(&self.data[0]);
        let rest = path.strip_prefix(outer.iter().map(String::as_str).collect::<Vec<_>>().as_slice())?;
        Some(split(&self.data[1]).into_iter().chain(rest.iter().map(|name| (*name).to_owned())).collect())
    }

    /// A filter of `jq`. Paths that begin at the answer are moved; behind a pipe, and in what is done to each element, they
    /// begin elsewhere.
    pub fn jq(&self, filter: &str, is_login: bool) -> Read {
        let letters: Vec<char> = filter.chars().collect();
        let mut read = Read::default();
        // What is open, and whether paths began elsewhere where it was opened.
        let mut open: Vec<(char, bool)> = Vec::new();
        let (mut at, mut is_text, mut elsewhere) = (0, false, false);
        while at < letters.len() {
            let letter = letters[at];
            let before = at.checked_sub(1).map(|before| letters[before]);
            match letter {
                '\\' if is_text => at += 1,
                '"' => is_text = !is_text,
                _ if is_text => {}
                '(' | '{' | '[' => {
                    open.push((letter, elsewhere));
                    let is_function = letter == '(' && before.is_some_and(char::is_alphanumeric);
                    let looks_at_all = letters[..at].ends_with(&['s', 'e', 'l', 'e', 'c', 't']);
                    elsewhere |= is_function && !looks_at_all;
                }
                ')' | '}' | ']' => elsewhere = open.pop().is_some_and(|(_, outside)| outside),
                ',' if open.last().is_some_and(|(bracket, _)| *bracket == '{') => {
                    elsewhere = open.last().is_some_and(|(_, outside)| *outside);
                }
                '|' if letters.get(at + 1) != Some(&'=') => elsewhere = true,
                '.' if !elsewhere && begins_path(before) => {
                    at = self.path(&letters, at, is_login, &mut read);
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
        read
    }

    /// One path that begins at the answer. Where it ends.
    fn path(&self, letters: &[char], from: usize, is_login: bool, read: &mut Read) -> usize {
        let is_name = |letter: &char| letter.is_alphanumeric() || *letter == '_';
        let (mut names, mut at) = (Vec::new(), from);
        while letters.get(at) == Some(&'.') {
            let length = letters[at + 1..].iter().take_while(|letter| is_name(letter)).count();
            if length == 0 {
                break;
            }
            names.push(letters[at + 1..=at + length].iter().collect::<String>());
            at += length + 1;
        }
        if names.is_empty() {
            // `.` alone is all of the answer, in whichever dialect, and `..` everything below it; `.[0]` looks into it.
            at = from + 1;
            if letters.get(at) != Some(&'[') || self.data[1].is_empty() {
                return at + usize::from(letters.get(at) == Some(&'.'));
            }
        }
        let path: Vec<&str> = names.iter().map(String::as_str).collect();
        // A failure is told beside the record, not in it.
        if path.first().is_some_and(|first| *first == "errors") {
            return at;
        }
        if let ([only], [Some(from), Some(to)]) = (path.as_slice(), &self.title)
            && only == from
        {
            if self.around.contains(from) {
                let [left, right] = &self.names;
                read.warnings
                    .push(format!("`.{from}` of {left} is `.{to}` of {right} where it fails, and nothing else"));
            }
            read.changes.push((place_of(letters, at, from), to.clone()));
            return at;
        }
        let Some(moved) = self.moved(&path, is_login) else {
            let path = path.join(".");
            let [left, right] = &self.names;
            read.warnings.push(if self.around.contains(&path) {
                format!("`.{path}` is in the envelope of {left}; {right} has none")
            } else {
                format!("`.{path}` is nowhere in an answer of {right}")
            });
            return at;
        };
        // `.[0]` is `.data[0]`, and `.data[0]` is `.[0]`.
        let (new, old) = (format!(".{}", moved.join(".")), letters[from..at].iter().collect::<String>());
        if new != old {
            read.changes.push((from..at, new));
        }
        at
    }

    /// Whether a filter that stands alone begins in the envelope, and so is of an answer.
    pub fn is_in_envelope(&self, filter: &str) -> bool {
        let begin = format!(".{}", self.data[0]);
        let rest = filter.trim_start().strip_prefix(begin.as_str());
        !self.data[0].is_empty() && rest.is_some_and(|rest| !rest.starts_with(|letter: char| letter.is_alphanumeric()))
    }

    /// Whether a filter that stands alone may read an answer that has an envelope there.
    pub fn is_put_in_envelope(&self, filter: &str) -> bool {
        let named = [".items", ".pagination", ".id", ".token"];
        self.data[0].is_empty()
            && !self.data[1].is_empty()
            && named.iter().any(|name| filter.trim_start().starts_with(name))
    }

    /// Whether words name where a record is in an answer, as a program that reads one would.
    pub fn looks_into(&self, words: &str) -> bool {
        let data = &self.data[0];
        let named = [format!("\"{data}\""), format!("'{data}'"), format!(".{data}.")];
        !data.is_empty() && named.iter().any(|named| words.contains(named.as_str()))
    }

    /// A script that reads an answer by `.json()` or `response.body`, as collections have them.
    pub fn script(&self, script: &str, is_login: bool) -> Read {
        let mut read = Read::default();
        let letters: Vec<char> = script.chars().collect();
        let begins = ["json().", "response.body.", "jsonData."].map(|begin| begin.chars().collect::<Vec<char>>());
        for at in 0..letters.len() {
            if let Some(begin) = begins.iter().find(|begin| letters[at..].starts_with(begin)) {
                self.path(&letters, at + begin.len() - 1, is_login, &mut read);
            }
        }
        read.changes.retain(|(place, _)| place.end - place.start > 1);
        read
    }

    /// The name of the token where its text is looked for, as `sed` and `grep` do.
    pub fn token_name(&self, words: &str) -> Option<(std::ops::Range<usize>, String)> {
        let last = |path: &Option<String>| path.as_ref().and_then(|path| path.rsplit('.').next()).map(str::to_owned);
        let (from, to) = (last(&self.token[0])?, last(&self.token[1])?);
        let quoted = format!("\"{from}\"");
        let found = words.find(&quoted)?;
        let start = words[..found].chars().count() + 1;
        Some((start..start + from.chars().count(), to))
    }
}

/// Whether a dot behind this begins a path of its own.
fn begins_path(before: Option<char>) -> bool {
    !before.is_some_and(|letter| letter.is_alphanumeric() || "_.)]}\"?$".contains(letter))
}
