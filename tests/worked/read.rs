//! The file of examples: accounts by the words of the trade, texts of refusals, and examples as lines of steps.

use std::collections::BTreeMap;

/// What a step is made of: a word by itself, or one that says of which member it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    pub key: Option<String>,
    pub text: String,
    pub quoted: bool,
}

/// A line as it stands, and its words.
#[derive(Debug, Clone)]
pub struct Line {
    pub number: usize,
    pub raw: String,
    pub words: Vec<Word>,
}

/// What is done or expected, and the lines that belong to it.
#[derive(Debug, Clone)]
pub struct Step {
    pub line: Line,
    pub below: Vec<Line>,
}

#[derive(Debug, Clone)]
pub struct Example {
    pub numbers: Vec<String>,
    pub title: String,
    pub steps: Vec<Step>,
}

/// All of it.
#[derive(Debug, Clone, Default)]
pub struct Worked {
    pub accounts: BTreeMap<String, String>,
    pub refusals: BTreeMap<String, String>,
    pub examples: Vec<Example>,
}

impl Line {
    /// A word that stands by itself.
    pub fn plain(&self, place: usize) -> Result<&str, String> {
        let word = self.words.iter().filter(|word| word.key.is_none()).nth(place);
        word.map(|word| word.text.as_str()).ok_or_else(|| format!("word {} is missing", place + 1))
    }

    pub fn plains(&self) -> Vec<&Word> {
        self.words.iter().filter(|word| word.key.is_none()).collect()
    }

    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.words.iter().filter_map(|word| word.key.as_deref().map(|key| (key, word.text.as_str())))
    }
}

/// Words are parted by spaces, but for those between quotes and brackets.
fn words(text: &str) -> Vec<Word> {
    let (mut words, mut now) = (Vec::new(), String::new());
    let (mut depth, mut quoted) = (0_usize, false);
    for sign in text.chars().chain([' ']) {
        if sign == ' ' && depth == 0 && !quoted {
            if !now.is_empty() {
                words.push(word(&now));
                now.clear();
            }
            continue;
        }
        match sign {
            '"' => quoted = !quoted,
            '[' | '{' if !quoted => depth += 1,
            ']' | '}' if !quoted => depth = depth.checked_sub(1).expect("a bracket that was opened"),
            _ => {}
        }
        now.push(sign);
    }
    assert!(depth == 0 && !quoted, "a quote or a bracket is left open: {text}");
    words
}

fn word(text: &str) -> Word {
    let (key, text) = match text.split_once('=') {
        Some((key, rest)) if !key.is_empty() && key.chars().all(char::is_alphanumeric) => (Some(key.to_owned()), rest),
        _ => (None, text),
    };
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    Word { key, text: inner.unwrap_or(text).to_owned(), quoted: inner.is_some() }
}

pub fn read(text: &str) -> Worked {
    let mut worked = Worked::default();
    let mut table: Option<&str> = None;
    for (place, line) in text.lines().enumerate() {
        let number = place + 1;
        if let Some(heading) = line.strip_prefix("## ") {
            table = ["Accounts", "Refusals"].into_iter().find(|one| *one == heading);
            if table.is_none() {
                let (numbers, title) = heading.split_once(": ").unwrap_or_else(|| panic!("line {number}: no title"));
                let numbers = numbers.split(", ").map(str::to_owned).collect();
                worked.examples.push(Example { numbers, title: title.to_owned(), steps: Vec::new() });
            }
            continue;
        }
        let Some(raw) = line.strip_prefix("    ") else { continue };
        let rows = match table {
            Some("Accounts") => &mut worked.accounts,
            Some(_) => &mut worked.refusals,
            None => {
                let steps = &mut worked.examples.last_mut().expect("a heading").steps;
                let below = raw.starts_with(' ');
                let line = Line { number, raw: raw.trim().to_owned(), words: words(raw.trim()) };
                if below {
                    steps.last_mut().unwrap_or_else(|| panic!("line {number} belongs to no step")).below.push(line);
                } else {
                    steps.push(Step { line, below: Vec::new() });
                }
                continue;
            }
        };
        let (name, what) = raw.split_once(' ').unwrap_or_else(|| panic!("line {number}: a name alone"));
        let twice = rows.insert(name.to_owned(), what.trim().to_owned());
        assert!(twice.is_none(), "line {number}: {name} is there twice");
    }
    worked
}

#[test]
fn a_line_is_read_word_by_word() {
    let said = words(r#"sale S 2026-03-01 notes="a = b" boxes={"salesBase": "81"} -5"#);
    let shown: Vec<String> =
        said.iter().map(|word| format!("{}|{}", word.key.as_deref().unwrap_or(""), word.text)).collect();
    assert_eq!(shown, ["|sale", "|S", "|2026-03-01", "notes|a = b", r#"boxes|{"salesBase": "81"}"#, "|-5"]);
}
