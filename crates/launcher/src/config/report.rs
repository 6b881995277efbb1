//! What `config check` and `config show` say.
//!
//! Owns: where a secret stands in the open, and what of a value may be shown. What works and is weak, `weak` knows.

use super::keys::{KEYS, Key, Shape, Shown, of_dialect};
use super::layers::{Merged, Place, Source, Word, merge};
use super::weak::{self, Around};
use super::{Loaded, settings, without_password};
use serde_json::{Map, Value};
use std::path::Path;

/// The outcome of `config check`.
#[derive(Debug)]
pub struct Checked {
    /// A line for each error and warning, one for the files that were read, and one that sums them up.
    pub report: String,
    pub errors: usize,
    pub warnings: usize,
}

pub fn check(source: &Source) -> Checked {
    let merged = merge(source);
    let (settings, mut errors) = match settings::read(&merged) {
        Ok(settings) => (Some(settings), Vec::new()),
        Err(faults) => (None, faults),
    };
    errors.extend(merged.unknown.iter().cloned());
    let mut warnings = merged.warnings.clone();
    warnings.extend(exposed(&merged));
    warnings.extend(settings.iter().flat_map(|settings| weak::found(settings, &Around::here())));
    let mut lines: Vec<String> = errors.iter().map(|line| format!("error: {line}")).collect();
    lines.extend(warnings.iter().map(|line| format!("warning: {line}")));
    // Whoever checks the wrong folder would be told that all is good.
    lines.push(if merged.files.is_empty() {
        let places: Vec<String> = source.files().iter().map(|path| path.display().to_string()).collect();
        format!("no file was read: there is no {}", places.join(", and no "))
    } else {
        format!("read {}", merged.files.join(", "))
    });
    let mut checked = Checked { report: String::new(), errors: errors.len(), warnings: warnings.len() };
    lines.push(match (checked.errors, checked.warnings) {
        (0, 0) => "The configuration is good.".to_owned(),
        (errors, warnings) => format!("{errors} error(s), {warnings} warning(s)."),
    });
    checked.report = lines.join("\n");
    checked
}

/// Secrets that stand where others find them: in the environment, which child processes and crash reports have, or in a
/// file of settings that everybody can read.
fn exposed(merged: &Merged) -> Vec<String> {
    let mut found = Vec::new();
    for key in KEYS.iter() {
        let Some(said) = merged.last(key.name) else { continue };
        let is_secret = |text: &str| match key.shown {
            Shown::All => false,
            Shown::WithoutPassword => without_password(text) != text,
            Shown::Nothing => !text.is_empty(),
        };
        let has_secret = match &said.word {
            Word::Null => false,
            Word::One(text) => is_secret(text),
            Word::Many(texts) => texts.iter().any(|(text, _)| is_secret(text)),
        };
        if !has_secret {
            continue;
        }
        let (place, name) = (&said.place, key.name);
        match place {
            Place::Environment { .. } if key.shape == Shape::List => {
                found.push(format!(
                    "{place}: {name}: a secret in the environment; a file of settings of mode 0600 keeps it"
                ));
            }
            Place::Environment { variable } => {
                found.push(format!("{place}: {name}: a secret in the environment; {variable}_FILE keeps it in a file"));
            }
            Place::File { path, .. } if weak::readable_by_all(Path::new(path)) => {
                found.push(format!("{place}: {name}: a secret in a file that everybody can read; make it mode 0600"));
            }
            _ => {}
        }
    }
    found
}

/// A key as it may be shown.
struct Row {
    key: &'static str,
    /// `None`: there is no value.
    value: Option<String>,
    origin: String,
    is_default: bool,
}

impl Loaded {
    /// Every key, its value and who said so. Secrets are masked.
    pub fn show(&self) -> String {
        let line = |row: Row| {
            let value = row.value.unwrap_or_else(|| "-".into());
            format!("{:<30} {value:<36} {}", row.key, row.origin)
        };
        self.rows().map(line).collect::<Vec<_>>().join("\n")
    }

    /// The same for programs: `{"Key": {"value", "source", "default"}}`.
    pub fn show_json(&self) -> String {
        let member = |row: Row| {
            let fields = [
                ("value", row.value.map_or(Value::Null, Value::String)),
                ("source", Value::String(row.origin)),
                ("default", Value::Bool(row.is_default)),
            ];
            (
                row.key.to_owned(),
                Value::Object(fields.map(|(name, value)| (name.to_owned(), value)).into_iter().collect()),
            )
        };
        format!("{:#}", Value::Object(self.rows().map(member).collect::<Map<_, _>>()))
    }

    fn rows(&self) -> impl Iterator<Item = Row> {
        KEYS.iter().map(|key| {
            let last = self.merged.last(key.name);
            let turned_off = key.name == "Dialects:SharedPrefix" && last.is_some_and(|said| said.word.is_empty());
            let said = if turned_off { last } else { self.merged.value(key.name) };
            let value = match said.map(|said| &said.word) {
                Some(Word::One(text)) if !text.is_empty() => Some(masked(key, text)),
                Some(Word::Many(texts)) if !texts.is_empty() => {
                    Some(texts.iter().map(|(text, _)| masked(key, text)).collect::<Vec<_>>().join(", "))
                }
                Some(Word::Null | Word::One(_) | Word::Many(_)) | None => {
                    self.derived(key.name).map(|value| masked(key, &value))
                }
            };
            let place = said.map(|said| &said.place);
            let is_default = matches!(place, None | Some(Place::Default { .. }));
            let origin = place.filter(|_| !is_default).map_or_else(|| "default".to_owned(), Place::to_string);
            Row { key: key.name, value, origin, is_default }
        })
    }

    /// What a key without a value of its own amounts to.
    fn derived(&self, name: &str) -> Option<String> {
        let mut served = self.settings.dialects.served();
        if let Some((_, _, base)) = served.find(|(_, one, _)| name == of_dialect(one.letter, "Prefix")) {
            return Some(base.to_owned());
        }
        match name {
            "ConnectionStrings:Default" => Some(self.settings.database.expose().to_owned()),
            _ => None,
        }
    }
}

fn masked(key: &Key, value: &str) -> String {
    match key.shown {
        Shown::All => value.to_owned(),
        Shown::WithoutPassword => without_password(value),
        Shown::Nothing => "***".to_owned(),
    }
}
