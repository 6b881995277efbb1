//! What `config check` and `config show` say.
//!
//! Owns: which working settings should still be looked at, and what of a value may be shown.

use super::keys::{KEYS, Key, Shown};
use super::layers::{Merged, Place, Source, Word, merge};
use super::{Loaded, Settings, settings, without_password};
use ledger_core::database::unverified_host;
use serde_json::{Map, Value};

/// The outcome of `config check`.
#[derive(Debug)]
pub struct Checked {
    /// A line for each error and warning, and one that sums them up.
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
    warnings.extend(settings.iter().flat_map(weaknesses));
    let mut lines: Vec<String> = errors.iter().map(|line| format!("error: {line}")).collect();
    lines.extend(warnings.iter().map(|line| format!("warning: {line}")));
    let mut checked = Checked { report: String::new(), errors: errors.len(), warnings: warnings.len() };
    lines.push(match (checked.errors, checked.warnings) {
        (0, 0) => "The configuration is good.".to_owned(),
        (errors, warnings) => format!("{errors} error(s), {warnings} warning(s)."),
    });
    checked.report = lines.join("\n");
    checked
}

/// Secrets that stand in the environment, where child processes and crash reports find them.
fn exposed(merged: &Merged) -> Vec<String> {
    let mut found = Vec::new();
    for key in KEYS {
        let Some(said) = merged.last(key.name) else { continue };
        let (Word::One(text), Place::Environment { variable }) = (&said.word, &said.place) else { continue };
        let secret = match key.shown {
            Shown::All => false,
            Shown::WithoutPassword => without_password(text) != *text,
            Shown::Nothing => !text.is_empty(),
        };
        if secret {
            let name = key.name;
            found.push(format!(
                "{}: {name}: a secret in the environment; {variable}_FILE keeps it in a file",
                said.place
            ));
        }
    }
    found
}

/// Settings that work and should still be looked at.
fn weaknesses(settings: &Settings) -> Vec<String> {
    let mut found = Vec::new();
    if !settings.listen.ip().is_loopback() {
        found
            .push(format!("Urls: {} is public and speaks plain HTTP; put a proxy with TLS before it", settings.listen));
    }
    if settings.master_key.as_ref().is_some_and(|key| ledger_core::strength::is_guessable(key.expose())) {
        found.push(
            "Security:MasterKey: can be guessed; for books that are not made yet, leave it out to have one made".into(),
        );
    }
    if settings.bootstrap_password.as_ref().is_some_and(|password| password.expose().chars().count() < 12) {
        found.push("Bootstrap:Password: shorter than 12 characters".into());
    }
    if let Some(host) = unverified_host(settings.database.expose()) {
        found.push(format!(
            "ConnectionStrings:Default: {host} is elsewhere and its certificate is not verified, so others on the way may \
             read and change what is said; add ?sslmode=verify-full"
        ));
    }
    let unencrypted = settings.cors_origins.iter().filter(|origin| origin.starts_with("http://"));
    found.extend(unencrypted.map(|origin| format!("Cors:Origins: {origin} is not encrypted")));
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
                Some(Word::One(text)) if !text.is_empty() => Some(text.clone()),
                Some(Word::Many(texts)) if !texts.is_empty() => {
                    Some(texts.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join(", "))
                }
                Some(Word::Null | Word::One(_) | Word::Many(_)) | None => self.derived(key.name),
            };
            let place = said.map(|said| &said.place);
            let is_default = matches!(place, None | Some(Place::Default { .. }));
            let origin = place.filter(|_| !is_default).map_or_else(|| "default".to_owned(), Place::to_string);
            Row { key: key.name, value: value.map(|value| masked(key, &value)), origin, is_default }
        })
    }

    /// What a key without a value of its own amounts to.
    fn derived(&self, name: &str) -> Option<String> {
        match name {
            "Dialects:A:Prefix" => self.settings.dialects.a.clone(),
            "Dialects:B:Prefix" => self.settings.dialects.b.clone(),
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
