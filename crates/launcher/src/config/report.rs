//! What `config check` and `config show` say.

use super::layers::{Merged, Source, merge};
use super::{KEYS, Loaded, load, sections};

/// The outcome of `config check`.
#[derive(Debug)]
pub struct Checked {
    pub report: String,
    pub errors: usize,
}

pub fn check(source: &Source) -> Checked {
    let unknown = unknown_keys(&merge(source, &sections()));
    let mut lines: Vec<String> = Vec::new();
    let mut errors = unknown.len();
    lines.extend(unknown.into_iter().map(|line| format!("error: {line}")));
    match load(source) {
        Err(error) => {
            let faults = error.to_string();
            errors += faults.lines().count();
            lines.extend(faults.lines().map(|line| format!("error: {line}")));
        }
        Ok(loaded) => {
            let known: Vec<String> = loaded.merged.warnings.iter().chain(&weaknesses(&loaded)).cloned().collect();
            lines.extend(known.into_iter().map(|line| format!("warning: {line}")));
        }
    }
    if errors == 0 {
        lines.push("The configuration is good.".into());
    }
    Checked { report: lines.join("\n"), errors }
}

/// Settings that work and should still be looked at.
fn weaknesses(loaded: &Loaded) -> Vec<String> {
    let settings = &loaded.settings;
    let mut found = Vec::new();
    if !settings.listen.ip().is_loopback() {
        found
            .push(format!("Urls: {} is public and speaks plain HTTP; put a proxy with TLS before it", settings.listen));
    }
    for key in KEYS.iter().filter(|key| key.secret) {
        if loaded
            .merged
            .find(key.name)
            .is_some_and(|said| said.origin.starts_with("environment") && said.value.is_some())
        {
            let variable = key.name.replace(':', "__");
            found.push(format!("{}: stands in the environment; {variable}_FILE keeps it in a file", key.name));
        }
    }
    for origin in settings.cors_origins.iter().filter(|origin| origin.starts_with("http://")) {
        found.push(format!("Cors:Origins: {origin} is not encrypted"));
    }
    found
}

/// Keys that nothing reads, each with the known key that it may have been meant to be.
pub(super) fn unknown_keys(merged: &Merged) -> Vec<String> {
    let mut unknown = Vec::new();
    for said in &merged.said {
        let plain = said
            .key
            .rsplit_once(':')
            .filter(|(_, index)| index.parse::<usize>().is_ok())
            .map_or(&*said.key, |(list, _)| list);
        if KEYS.iter().any(|key| key.name.eq_ignore_ascii_case(plain)) {
            continue;
        }
        let nearest =
            KEYS.iter().map(|key| (distance(&key.name.to_lowercase(), &plain.to_lowercase()), key.name)).min();
        let hint = nearest.filter(|(distance, _)| *distance <= 4).map(|(_, name)| format!("; did you mean {name}?"));
        unknown.push(format!("{}: {} is not a known key{}", said.origin, said.key, hint.unwrap_or_default()));
    }
    unknown
}

/// How many letters must change to turn one text into the other.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (index, letter) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, other) in to.iter().enumerate() {
            let substituted = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = substituted.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}

impl Loaded {
    /// Every key, its value and who said so. Secrets are masked.
    pub fn show(&self) -> String {
        let mut lines = Vec::new();
        for key in KEYS {
            let said = self.merged.list(key.name);
            let value = said.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join(", ");
            let value = match value.as_str() {
                "" => "-".to_owned(),
                _ if key.secret => "***".to_owned(),
                url if key.name.starts_with("ConnectionStrings") => without_password(url),
                other => other.to_owned(),
            };
            let is_default = said.iter().all(|(_, said)| said.is_default);
            let origin =
                if is_default { "default" } else { said.first().map_or("default", |(_, said)| said.origin.as_str()) };
            lines.push(format!("{:<30} {value:<36} {origin}", key.name));
        }
        lines.join("\n")
    }
}

/// A database URL that may be shown.
pub fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    match rest.rsplit_once('@') {
        Some((user, host)) => format!("{scheme}://{}:***@{host}", user.split(':').next().unwrap_or_default()),
        None => url.to_owned(),
    }
}
