//! What reads an answer, and where it reaches: a filter of `jq`, a search for text, a script of a collection. Where it
//! reaches into the wrapping of the one dialect, it reaches to the same place in the other's. What is not understood is said.

use crate::dialect::{BATCH, Dialect, LOGIN};
use crate::wrapping::place;
use serde_json::Value;
use std::collections::HashSet;
use std::ops::Range;

/// What a reader of answers becomes.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Read {
    /// Places, counted in letters, and what stands there then.
    pub changes: Vec<(Range<usize>, String)>,
    pub warnings: Vec<String>,
    /// What is put before all of it.
    pub prefix: Option<String>,
}

impl Read {
    pub fn said(why: String) -> Self {
        Self { warnings: vec![why], ..Self::default() }
    }
}

/// What is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Record,
    LogIn,
    /// Answers of several operations, each wrapped as it would be by itself.
    Batch,
}

/// Where a reader is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spot {
    /// At an answer with what is around it; the first one, or one of a batch.
    Answer(Kind, bool),
    /// At what is in it.
    Data(Kind),
    /// At the results of a batch, and at one of them.
    Results,
    Result,
    /// Where both dialects say the same.
    Inside,
    /// At the answers of different requests.
    Unclear,
}

impl Spot {
    /// Whether both dialects have the same text here.
    pub fn is_same(self) -> bool {
        matches!(self, Self::Inside | Self::Data(Kind::Record))
    }

    /// Where one is who is at one of two places.
    pub fn or(self, other: Self) -> Self {
        match (self, other) {
            (one, other) if one == other => one,
            (Self::Inside | Self::Data(Kind::Record), other) => other,
            (one, Self::Inside | Self::Data(Kind::Record)) => one,
            _ => Self::Unclear,
        }
    }
}

/// One step of a path.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step<'s> {
    Name(&'s str),
    /// An element, several, or one that only whoever runs it knows.
    Element,
}

/// What becomes of a step.
#[derive(Debug)]
pub(super) struct Stepped {
    pub spot: Spot,
    /// It is not there in the other dialect.
    pub drop: bool,
    /// What comes before it there.
    pub put: Option<String>,
    /// What it is called there.
    pub rename: Option<String>,
    pub warning: Option<String>,
    /// It is one of a failure.
    pub is_failure: bool,
}

impl Stepped {
    fn to(spot: Spot) -> Self {
        Self { spot, drop: false, put: None, rename: None, warning: None, is_failure: false }
    }

    fn said(why: String) -> Self {
        Self { warning: Some(why), ..Self::to(Spot::Inside) }
    }
}

/// What is to be done with something that looks for text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Searched {
    /// It finds the same in both.
    Same,
    /// Names that are others there.
    Renamed(Vec<(Range<usize>, String)>),
    Said(String),
}

/// Where things are in the answers of two dialects: in the one, in the other.
#[derive(Debug)]
pub(super) struct Places {
    pub kind: Kind,
    pub names: [String; 2],
    /// Where a record is; nothing where it is all of the answer.
    pub data: [Option<String>; 2],
    /// What a failure is called.
    title: [Option<String>; 2],
    /// What is around a record, and nowhere in the other.
    around: Vec<String>,
    /// What only a failure of the one has.
    lost: Vec<String>,
    /// What is anywhere around a record or in a failure, of either.
    outer: HashSet<String>,
    logged_in: [Value; 2],
    /// The members of the record, where the document of the one says them.
    record: Option<HashSet<String>>,
    /// Whether the answer has no wrapping: a table, a sheet, a picture.
    pub is_bare: bool,
}

fn names_of(object: &Value) -> impl Iterator<Item = &String> {
    object.as_object().into_iter().flatten().map(|(name, _)| name)
}

impl Places {
    pub fn of(from: &Dialect, to: &Dialect, operation: &str) -> Self {
        let both = [from, to];
        let data = both.map(|one| place(&one.wrapping.success, "data").filter(|place| !place.is_empty()));
        let title = both.map(|one| place(&one.wrapping.failure, "title"));
        let around = names_of(&from.wrapping.success).filter(|name| Some(*name) != data[0].as_ref()).cloned().collect();
        let [failure, there] = both.map(|one| &one.wrapping.failure);
        let lost = names_of(failure).filter(|name| there.get(*name).is_none() && Some(*name) != title[0].as_ref());
        let outer = both.iter().flat_map(|one| names_of(&one.wrapping.success).chain(names_of(&one.wrapping.failure)));
        let said = from.operations.get(operation);
        let answers = said.map(|said| &said.responses);
        let success = answers.and_then(|all| all.iter().find(|(status, _)| status.starts_with('2')));
        let content = success.map(|(_, success)| &success["content"]);
        let is_bare = content.and_then(Value::as_object).is_some_and(|content| {
            !content.is_empty() && !content.keys().any(|kind| kind.starts_with("application/json"))
        });
        let schema = content.map(|content| from.resolve(&content["application/json"]["schema"]));
        let schema = match (&data[0], schema) {
            (Some(data), Some(schema)) => Some(from.resolve(&schema["properties"][data.as_str()])),
            (_, schema) => schema,
        };
        let record = schema.and_then(|schema| schema["properties"].as_object());
        Self {
            kind: match operation {
                LOGIN => Kind::LogIn,
                BATCH => Kind::Batch,
                _ => Kind::Record,
            },
            names: both.map(|one| one.name.clone()),
            around,
            lost: lost.cloned().collect(),
            outer: outer.cloned().collect(),
            logged_in: both.map(|one| one.wrapping.logged_in.clone()),
            record: record.map(|members| members.keys().cloned().collect()),
            is_bare,
            data,
            title,
        }
    }

    /// Where one is who has all of an answer.
    pub fn answer(&self) -> Spot {
        if self.is_bare { Spot::Inside } else { Spot::Answer(self.kind, true) }
    }

    /// What becomes of a step that is done somewhere. What is held beside a number is no state of a record.
    pub fn step(&self, spot: Spot, step: Step<'_>, is_number: bool) -> Stepped {
        let [left, right] = &self.names;
        match (spot, step) {
            (Spot::Unclear, _) => Stepped::said("it reads the answers of different requests".to_owned()),
            (Spot::Results, Step::Element) => Stepped::to(Spot::Result),
            (Spot::Result, Step::Name("body")) => Stepped::to(Spot::Answer(Kind::Record, false)),
            (Spot::Result, Step::Element) => Stepped::said("it takes a result of a batch apart".to_owned()),
            (Spot::Data(Kind::Batch), Step::Name("results")) => Stepped::to(Spot::Results),
            (Spot::Inside | Spot::Data(Kind::Record | Kind::Batch) | Spot::Results | Spot::Result, _) => {
                Stepped::to(Spot::Inside)
            }
            (Spot::Data(Kind::LogIn), Step::Name(name)) => self.of_login(name),
            (Spot::Data(Kind::LogIn), Step::Element) => {
                Stepped::said(format!("it goes through the answer of a log-in, which is another one in {right}"))
            }
            (Spot::Answer(kind, is_top), step) => match step {
                // A failure is told beside the record, not in it.
                Step::Name("errors") => Stepped { is_failure: true, ..Stepped::to(Spot::Inside) },
                Step::Name(name) if Some(name) == self.title[0].as_deref() && !self.is_of_record(name, is_top) => {
                    let is = self.title[1].clone().unwrap_or_default();
                    let why = format!("`.{name}` of {left} is `.{is}` of {right} where it fails, and nothing else");
                    Stepped {
                        warning: self.around.iter().any(|known| known == name).then_some(why),
                        rename: Some(is),
                        is_failure: true,
                        ..Stepped::to(Spot::Inside)
                    }
                }
                Step::Name(name) if self.is_lost(name, is_number, is_top) => Stepped {
                    is_failure: true,
                    ..Stepped::said(format!(
                        "`.{name}` of a failure is nowhere in one of {right}; the status of the answer says it, as \
                         `curl -w '%{{http_code}}'` shows"
                    ))
                },
                step => self.within_answer(kind, step, is_number),
            },
        }
    }

    /// A step from an answer to what is in it.
    fn within_answer(&self, kind: Kind, step: Step<'_>, is_number: bool) -> Stepped {
        let [left, right] = &self.names;
        match (&self.data, step) {
            ([None, to], step) => {
                let inner = self.step(Spot::Data(kind), step, is_number);
                Stepped { put: to.clone().filter(|_| inner.warning.is_none()), ..inner }
            }
            ([Some(from), to], Step::Name(name)) if name == from => Stepped {
                drop: to.is_none(),
                rename: to.clone().filter(|to| to != from),
                ..Stepped::to(Spot::Data(kind))
            },
            ([Some(_), _], Step::Name(name)) if self.around.iter().any(|known| known == name) => {
                Stepped::said(format!("`.{name}` is in the envelope of {left}; {right} has none"))
            }
            ([Some(_), _], Step::Name(name)) => Stepped::said(format!("`.{name}` is nowhere in an answer of {right}")),
            ([Some(_), _], Step::Element) => {
                Stepped::said(format!("it goes through the envelope of {left}; {right} has none"))
            }
        }
    }

    fn of_login(&self, name: &str) -> Stepped {
        let [left, right] = &self.names;
        let [from, to] = &self.logged_in;
        let said = from.get(name).and_then(Value::as_str).and_then(|said| said.strip_prefix('$'));
        match said.filter(|said| !said.is_empty()).and_then(|said| place(to, said)) {
            Some(there) if there == name => Stepped::to(Spot::Inside),
            Some(there) => Stepped { rename: Some(there), ..Stepped::to(Spot::Inside) },
            None if from.get(name).is_some() => Stepped::said(format!(
                "`{name}` is in the answer of a log-in of {left} alone; {right} answers {}",
                crate::wrapping::members(to)
            )),
            None => Stepped::said(format!("`{name}` is nowhere in the answer of a log-in")),
        }
    }

    /// Whether the record that is answered has such a member, too.
    fn is_of_record(&self, name: &str, is_top: bool) -> bool {
        is_top && self.record.as_ref().is_some_and(|record| self.data[0].is_none() && record.contains(name))
    }

    /// Whether a name is one of a failure that the other dialect says nowhere in it.
    fn is_lost(&self, name: &str, is_number: bool, is_top: bool) -> bool {
        let is_unknown = is_top && self.record.as_ref().is_some_and(|record| !record.contains(name));
        self.data[0].is_none() && self.lost.iter().any(|lost| lost == name) && (is_number || is_unknown)
    }

    /// Whether a filter names what is around a record.
    pub fn is_named(&self, filter: &str) -> bool {
        let is_end = |rest: &str| !rest.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_');
        let names = self.data[0].iter().chain(&self.around);
        let mut dotted = names.flat_map(|name| [format!(".{name}"), format!("[\"{name}\"]"), format!("{{{name}")]);
        dotted.any(|name| filter.match_indices(&name).any(|(at, _)| is_end(&filter[at + name.len()..])))
    }

    /// Why all of what is somewhere is not the same in the other dialect.
    pub fn whole(&self, spot: Spot, what: &str) -> Option<String> {
        let right = &self.names[1];
        match spot {
            Spot::Inside | Spot::Data(Kind::Record) => None,
            Spot::Answer(..) if self.data[0] == self.data[1] && self.kind == Kind::Record => None,
            Spot::Answer(..) => Some(format!("`{what}` takes all of an answer, which is wrapped otherwise in {right}")),
            Spot::Data(Kind::LogIn) => {
                Some(format!("`{what}` takes all of a log-in's answer, which is another one in {right}"))
            }
            Spot::Data(Kind::Batch) | Spot::Results | Spot::Result => {
                Some(format!("`{what}` takes answers of a batch, each of which is wrapped otherwise in {right}"))
            }
            Spot::Unclear => Some(format!("`{what}` takes the answers of different requests")),
        }
    }

    /// Words that look for a text in an answer, as `grep` and `sed` do. They are understood where they name a member
    /// between quotes that is in the record.
    pub fn searched(&self, program: &str, words: &str, spot: Spot) -> Searched {
        let said = |why: String| Searched::Said(format!("`{program}` {why}"));
        if spot.is_same() {
            return Searched::Same;
        }
        let [left, right] = &self.names;
        let letters: Vec<char> = words.chars().collect();
        let named = quoted(&letters);
        if named.is_empty() || is_anchored(words) || spot == Spot::Unclear {
            return said("reads the answer by itself: look at what is around the record there".to_owned());
        }
        let is_login = matches!(spot, Spot::Answer(Kind::LogIn, _) | Spot::Data(Kind::LogIn));
        let mut renamed = Vec::new();
        for (place, name, is_text) in named {
            if self.around.contains(&name) && name != "errors" {
                return said(format!("looks for `{name}`, which is in the envelope of {left}; {right} has none"));
            }
            if is_login {
                let step = self.of_login(&name);
                match (step.warning, step.rename) {
                    (Some(why), _) => return said(format!("looks for something else there: {why}")),
                    (None, Some(new)) => renamed.push((place, new)),
                    (None, None) => {}
                }
            // A failure has a number there, and records have words.
            } else if self.outer.contains(&name) && !(is_text && self.lost.contains(&name)) {
                return said(format!(
                    "looks for `{name}`, which is around a record or in a failure in {left} or {right}"
                ));
            }
        }
        if renamed.is_empty() { Searched::Same } else { Searched::Renamed(renamed) }
    }
}

/// The names of members that a text looks for: those between quotes with a colon behind them, or with nothing. Whether a
/// text follows is told as well.
fn quoted(letters: &[char]) -> Vec<(Range<usize>, String, bool)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < letters.len() {
        if letters[at] != '"' {
            at += 1;
            continue;
        }
        let length = letters[at + 1..].iter().take_while(|letter| letter.is_alphanumeric() || **letter == '_').count();
        let end = at + 1 + length;
        let closes = end + usize::from(letters.get(end) == Some(&'\\'));
        if length == 0 || letters.get(closes) != Some(&'"') {
            at += 1;
            continue;
        }
        let rest: String = letters[closes + 1..].iter().collect();
        let space = |text: &str| {
            let mut rest = text;
            while let Some(after) =
                [" ", "\\s", "[[:space:]]", "[ ]", "*", "?"].iter().find_map(|one| rest.strip_prefix(one))
            {
                rest = after;
            }
            rest.to_owned()
        };
        let behind = space(&rest);
        if let Some(value) = behind.strip_prefix(':') {
            let value = space(value);
            let is_text = value.starts_with('"') || value.starts_with("\\\"");
            found.push((at + 1..end, letters[at + 1..end].iter().collect(), is_text));
        } else if behind.is_empty() {
            found.push((at + 1..end, letters[at + 1..end].iter().collect(), false));
        }
        at = closes + 1;
    }
    found
}

/// Whether a text is looked for at the beginning of an answer or at its end.
fn is_anchored(words: &str) -> bool {
    let words = words.replace("^.*", "").replace(".*$", "").replace("[^", "");
    words.contains('^') || words.ends_with('$') || words.contains("$/") || words.contains("}}")
}
