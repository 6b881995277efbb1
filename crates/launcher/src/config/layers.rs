//! The layers of configuration, laid over each other: defaults, files, environment, command line.

use super::json;
use std::path::{Path, PathBuf};

/// The shipped file: every key with its default.
const DEFAULTS: &str = include_str!("../../../../config/appsettings.json");

/// Where the configuration comes from. The environment is handed in, so that tests need not change theirs.
#[derive(Debug, Clone, Default)]
pub struct Source {
    pub dir: Option<PathBuf>,
    pub environment: Vec<(String, String)>,
    pub overrides: Vec<(String, String)>,
}

impl Source {
    pub fn from_process(dir: Option<PathBuf>, overrides: Vec<(String, String)>) -> Self {
        let environment =
            std::env::vars_os().filter_map(|(key, value)| Some((key.into_string().ok()?, value.into_string().ok()?)));
        Self { dir, environment: environment.collect(), overrides }
    }

    /// The operator's files, whether they exist or not: what is watched for changes.
    pub fn files(&self) -> Vec<PathBuf> {
        let dir = self.dir.clone().unwrap_or_else(|| PathBuf::from("config"));
        ["appsettings.json", "appsettings.Custom.json"].map(|name| dir.join(name)).to_vec()
    }
}

/// A value and where it was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) key: String,
    pub(super) value: Option<String>,
    pub(super) origin: String,
    pub(super) is_default: bool,
}

/// All that was said, the last word on each key, and what was wrong with the files.
#[derive(Debug, Default)]
pub(super) struct Merged {
    pub(super) said: Vec<Said>,
    pub(super) faults: Vec<String>,
    pub(super) warnings: Vec<String>,
}

impl Merged {
    pub(super) fn find(&self, key: &str) -> Option<&Said> {
        self.said.iter().find(|said| said.key.eq_ignore_ascii_case(key))
    }

    /// `Key`, or `Key:0`, `Key:1`, ..., or a list in one text.
    pub(super) fn list(&self, key: &str) -> Vec<(String, &Said)> {
        let mut elements = Vec::new();
        if let Some(said) = self.find(key) {
            let texts = said.value.as_deref().unwrap_or_default().split(',').map(str::trim);
            elements.extend(texts.filter(|text| !text.is_empty()).map(|text| (text.to_owned(), said)));
        }
        for index in 0.. {
            let Some(said) = self.find(&format!("{key}:{index}")) else { break };
            elements.extend(said.value.clone().map(|text| (text, said)));
        }
        elements
    }

    fn say(&mut self, key: &str, value: Option<String>, origin: String, is_default: bool) {
        // A list said anew replaces the old one, whichever way either is written.
        let list =
            key.rsplit_once(':').filter(|(_, index)| index.parse::<usize>().is_ok()).map_or(key, |(list, _)| list);
        let layer = origin.split(':').next().unwrap_or_default().to_owned();
        self.said.retain(|earlier| {
            let same = earlier.key.eq_ignore_ascii_case(key);
            let of_list = earlier.key.eq_ignore_ascii_case(list)
                || earlier.key.len() > list.len()
                    && earlier.key.get(..list.len()).is_some_and(|head| head.eq_ignore_ascii_case(list))
                    && earlier.key[list.len()..].strip_prefix(':').is_some_and(|index| index.parse::<usize>().is_ok());
            !(same || of_list && earlier.origin.split(':').next() != Some(&layer))
        });
        self.said.push(Said { key: key.to_owned(), value, origin, is_default });
    }
}

/// Lays the layers over each other. `known` says which first segments of the environment are ours.
pub(super) fn merge(source: &Source, known: &[&str]) -> Merged {
    let mut merged = Merged::default();
    file(&mut merged, DEFAULTS, "default", true);
    if let Some(dir) = source.dir.as_ref().filter(|dir| !dir.is_dir()) {
        merged.faults.push(format!("{}: there is no such folder", dir.display()));
    }
    for path in source.files() {
        match std::fs::read_to_string(&path) {
            Ok(text) => file(&mut merged, &text, &path.display().to_string(), false),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => merged.faults.push(format!("{}: {error}", path.display())),
        }
    }
    for (name, value) in &source.environment {
        let (ours, name_in_config) = match name.strip_prefix("DUET_") {
            Some(rest) => (true, rest),
            None => (false, name.as_str()),
        };
        let key = name_in_config.replace("__", ":");
        let first = key.split(':').next().unwrap_or_default();
        let section = first.trim_end_matches("_FILE");
        // A bare word such as DATA may be anybody's; with our prefix, or a key in it, it is ours.
        if (ours || key.contains(':')) && known.iter().any(|known| known.eq_ignore_ascii_case(section)) {
            merged.say(&key, Some(value.clone()), format!("environment {name}"), false);
        }
    }
    for (key, value) in &source.overrides {
        merged.say(key, Some(value.clone()), "command line".into(), false);
    }
    from_files(&mut merged);
    merged
}

fn file(merged: &mut Merged, text: &str, name: &str, is_default: bool) {
    match json::read(text) {
        Ok(entries) => {
            for entry in entries {
                merged.say(&entry.key, entry.value, format!("{name}:{}", entry.line), is_default);
            }
        }
        Err(fault) => merged.faults.push(format!("{name}:{}: {}", fault.line, fault.message)),
    }
}

/// `Key_FILE` names a file that holds the value of `Key`.
fn from_files(merged: &mut Merged) {
    let named: Vec<Said> =
        merged.said.iter().filter(|said| said.key.to_ascii_uppercase().ends_with("_FILE")).cloned().collect();
    for said in named {
        let Some(path) = said.value.as_deref().filter(|path| !path.is_empty()) else { continue };
        let key = &said.key[..said.key.len() - "_FILE".len()];
        match std::fs::read_to_string(path) {
            Ok(text) => {
                if readable_by_all(Path::new(path)) {
                    merged.warnings.push(format!("{key}: everybody can read {path}; make it mode 0600"));
                }
                let text =
                    text.strip_suffix('\n').map_or(text.as_str(), |text| text.strip_suffix('\r').unwrap_or(text));
                merged.say(key, Some(text.to_owned()), format!("file {path}"), false);
            }
            Err(error) => merged.faults.push(format!("{}: {}: cannot read {path}: {error}", said.origin, said.key)),
        }
        merged.said.retain(|earlier| earlier.key != said.key);
    }
}

#[cfg(unix)]
fn readable_by_all(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o004 != 0)
}

#[cfg(not(unix))]
fn readable_by_all(_: &Path) -> bool {
    false
}
