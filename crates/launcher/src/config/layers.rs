//! The layers of configuration, laid over each other: defaults, files, environment, command line.
//!
//! Owns: where each value comes from, and which one wins. Refuses to judge values; `settings` does.

use super::json::{self, Value};
use super::keys::{self, Key, Meaning, Shape, Shown};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The shipped file: every key with its default.
const DEFAULTS: &str = include_str!("../../../../config/appsettings.json");

/// The longest text that a `_FILE` may hold.
const LONGEST_FILE: u64 = 64 * 1024;

/// Where the configuration comes from. The environment is handed in, so that tests need not change theirs.
#[derive(Clone, Default)]
pub struct Source {
    /// `None`: `./config`, if there is one.
    pub dir: Option<PathBuf>,
    /// Whether that folder may be about to be made.
    pub dir_may_come: bool,
    pub environment: Vec<(String, String)>,
    /// `Section:Key` and value; the last one on a key wins.
    pub overrides: Vec<(String, String)>,
}

/// Without the environment and the overrides, which may hold secrets.
impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("dir", &self.dir).finish_non_exhaustive()
    }
}

/// Where the configuration is, beside whoever runs the program.
pub(crate) const HERE: &str = "config";
/// What an operator says there.
pub(crate) const CUSTOM: &str = "appsettings.Custom.json";
/// ... and where a package puts it.
const INSTALLED: &str = "/etc/duet";

/// The folder here; where there is none, that of the installation, if there is one.
pub(super) fn home(here: &Path, installed: &Path) -> PathBuf {
    let is_installed = !here.is_dir() && installed.is_dir();
    (if is_installed { installed } else { here }).to_owned()
}

impl Source {
    /// With the environment of this process.
    pub fn from_process(dir: Option<PathBuf>, overrides: Vec<(String, String)>) -> Self {
        let lossy = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
        let environment = std::env::vars_os().map(|(name, value)| (lossy(name), lossy(value))).collect();
        Self { dir, dir_may_come: false, environment, overrides }
    }

    pub fn files(&self) -> Vec<PathBuf> {
        let dir = self.dir.clone().unwrap_or_else(|| home(Path::new(HERE), Path::new(INSTALLED)));
        ["appsettings.json", CUSTOM].map(|name| dir.join(name)).to_vec()
    }
}

/// Where something was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    Default {
        line: usize,
    },
    File {
        path: String,
        line: usize,
    },
    Environment {
        variable: String,
    },
    CommandLine,
    /// The content of a file that another place names.
    Content {
        path: String,
        named: Box<Place>,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default { line } => write!(f, "default:{line}"),
            Self::File { path, line } => write!(f, "{path}:{line}"),
            Self::Environment { variable } => write!(f, "environment {variable}"),
            Self::CommandLine => f.write_str("command line"),
            Self::Content { path, named } => write!(f, "{path} ({named})"),
        }
    }
}

/// What a layer says of a key.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Word {
    /// Back to the default.
    Null,
    One(String),
    Many(Vec<(String, Place)>),
}

impl Word {
    /// `null`, or the empty text that a variable without a value is.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Null => true,
            Self::One(text) => text.is_empty(),
            Self::Many(_) => false,
        }
    }
}

#[derive(Clone, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) word: Word,
    pub(super) place: Place,
}

/// The last word on each key, and what was wrong on the way there.
#[derive(Default)]
pub(super) struct Merged {
    last: HashMap<&'static str, Said>,
    pub(super) defaults: HashMap<&'static str, Said>,
    pub(super) faults: Vec<String>,
    pub(super) warnings: Vec<String>,
    /// Keys that nothing reads: told by a start, refused by the check.
    pub(super) unknown: Vec<String>,
    /// The files that were there.
    pub(super) files: Vec<String>,
}

impl Merged {
    /// The last word, `null` included.
    pub(super) fn last(&self, key: &str) -> Option<&Said> {
        self.last.get(key)
    }

    /// The last word, or the default where that is `null` or empty.
    pub(super) fn value(&self, key: &str) -> Option<&Said> {
        let said = self.last.get(key).filter(|said| !said.word.is_empty());
        said.or_else(|| self.defaults.get(key))
    }

    fn lay(&mut self, layer: Layer) {
        for (name, said) in layer.said {
            self.last.insert(name, said);
        }
        for (key, elements) in layer.elements {
            let Some((_, (_, place))) = elements.first_key_value() else { continue };
            let place = place.clone();
            let texts = elements.into_values().filter_map(|(text, place)| Some((text?, place)));
            self.last.insert(key, Said { word: Word::Many(texts.collect()), place });
        }
        self.faults.extend(layer.faults);
        self.warnings.extend(layer.warnings);
        self.unknown.extend(layer.unknown);
    }
}

/// The elements of a list by their index; `None` is a `null` among them.
type Elements = BTreeMap<usize, (Option<String>, Place)>;

/// One layer while it is gathered. Nothing in it overrides anything else in it.
#[derive(Default)]
struct Layer {
    said: HashMap<&'static str, Said>,
    elements: HashMap<&'static str, Elements>,
    faults: Vec<String>,
    warnings: Vec<String>,
    unknown: Vec<String>,
}

impl Layer {
    fn say(&mut self, written: &str, value: Value, place: Place) {
        match keys::meaning(written) {
            Meaning::Whole(key) => self.whole(key, value, place),
            Meaning::Element(key, index) => {
                let text = match value {
                    Value::Text(text) => Some(text),
                    Value::Null => None,
                    Value::EmptyList => {
                        return self
                            .faults
                            .push(format!("{place}: {}: expected a text at {index}, got a list", key.name));
                    }
                };
                self.elements.entry(key.name).or_default().insert(index, (text, place));
            }
            Meaning::FileOf(key) => self.content(key, value, place),
            Meaning::Inside(key) => {
                let expected = if key.shape == Shape::List { "a list of texts" } else { "one value" };
                self.faults.push(format!("{place}: {}: expected {expected}, got a section or list", key.name));
            }
            Meaning::Section if value == Value::Null => {}
            Meaning::Section => {
                self.faults.push(format!("{place}: {written}: expected a section {{ ... }}, got one value"));
            }
            // An editor's pointer to a schema.
            Meaning::Unknown if written == "$schema" => {}
            Meaning::Unknown => {
                let hint = keys::nearest(written).map(|name| format!("; did you mean {name}?")).unwrap_or_default();
                let told = format!("{place}: {written} is not a known key{hint}");
                // A file may be of another release. Who types a key means it: a default would stand where something else was asked.
                let are_faults = place == Place::CommandLine;
                if are_faults { &mut self.faults } else { &mut self.unknown }.push(told);
            }
        }
    }

    fn whole(&mut self, key: &'static Key, value: Value, place: Place) {
        let word = match (value, key.shape) {
            (Value::Null, _) => Word::Null,
            (Value::EmptyList, Shape::List) => Word::Many(Vec::new()),
            (Value::EmptyList, Shape::Text | Shape::Plain) => {
                return self.faults.push(format!("{place}: {}: expected one value, got a list", key.name));
            }
            (Value::Text(text), Shape::List) => {
                let texts = text.split(',').map(str::trim).filter(|text| !text.is_empty());
                Word::Many(texts.map(|text| (text.to_owned(), place.clone())).collect())
            }
            (Value::Text(text), Shape::Text | Shape::Plain) => Word::One(text),
        };
        self.keep(key, Said { word, place });
    }

    /// `Key_FILE` says what the file it names holds.
    fn content(&mut self, key: &'static Key, value: Value, place: Place) {
        let path = match value {
            Value::Text(path) if !path.is_empty() => path,
            Value::Text(_) | Value::Null => return,
            Value::EmptyList => {
                return self.faults.push(format!("{place}: {}_FILE: expected a path, got a list", key.name));
            }
        };
        match content(Path::new(&path)) {
            Ok(text) => {
                let secret =
                    key.shown == Shown::Nothing || super::without_password(&text) != text && key.shown != Shown::All;
                if secret && readable_by_all(Path::new(&path)) {
                    self.warnings
                        .push(format!("{place}: {}_FILE: everybody can read {path}; make it mode 0600", key.name));
                }
                self.keep(key, Said { word: Word::One(text), place: Place::Content { path, named: Box::new(place) } });
            }
            Err(error) => self.faults.push(format!("{place}: {}_FILE: cannot read {path}: {error}", key.name)),
        }
    }

    fn keep(&mut self, key: &'static Key, said: Said) {
        // null beside _FILE is the shipped file with _FILE added to it.
        match self.said.get(key.name) {
            Some(earlier) if !earlier.word.is_empty() && !said.word.is_empty() => {
                let fault = format!("{}: {} is given twice, here and at {}", said.place, key.name, earlier.place);
                self.faults.push(fault);
            }
            Some(earlier) if !earlier.word.is_empty() => {}
            Some(_) | None => {
                self.said.insert(key.name, said);
            }
        }
    }
}

/// Lays the layers over each other.
pub(super) fn merge(source: &Source) -> Merged {
    let mut merged = Merged::default();
    merged.lay(of_file(DEFAULTS, |line| Place::Default { line }));
    merged.defaults.clone_from(&merged.last);
    if let Some(dir) = source.dir.as_ref().filter(|dir| !source.dir_may_come && !dir.is_dir()) {
        merged.faults.push(format!("{}: there is no such folder", dir.display()));
    }
    for path in source.files() {
        let name = path.display().to_string();
        match std::fs::read_to_string(&path) {
            Ok(text) => {
                merged.lay(of_file(&text, |line| Place::File { path: name.clone(), line }));
                merged.files.push(name);
            }
            Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {}
            Err(error) => merged.faults.push(format!("{name}: cannot read it: {error}")),
        }
    }
    // A name of ours beats one that may be anybody's.
    let (ours, anybodys) = source.environment.iter().partition::<Vec<_>, _>(|(name, _)| ours(name).is_some());
    merged.lay(of_environment(anybodys.iter().filter_map(|(name, value)| Some((shared(name)?, name, value)))));
    merged.lay(of_environment(ours.iter().filter_map(|(name, value)| Some((self::ours(name)?, name, value)))));
    // Elements of a list are said one by one, and make one list; of one key said twice the last is heard.
    let mut layer = Layer::default();
    for (place, (key, value)) in source.overrides.iter().enumerate() {
        let again = |(later, _): &(String, String)| later.trim().eq_ignore_ascii_case(key.trim());
        if !source.overrides.iter().skip(place + 1).any(again) {
            layer.say(key.trim(), Value::Text(value.clone()), Place::CommandLine);
        }
    }
    merged.lay(layer);
    merged
}

fn of_file(text: &str, place: impl Fn(usize) -> Place) -> Layer {
    let mut layer = Layer::default();
    match json::read(text) {
        Ok(entries) => {
            for entry in entries {
                layer.say(&entry.key, entry.value, place(entry.line));
            }
        }
        Err(faults) => {
            layer.faults.extend(faults.iter().map(|fault| format!("{}: {}", place(fault.line), fault.message)));
        }
    }
    layer
}

/// What follows `DUET_`, if it is a key of ours or looks like a slip of one. Tools of ours have variables, too.
fn ours(name: &str) -> Option<&str> {
    let (_, rest) = name.split_at_checked("DUET_".len()).filter(|(head, _)| head.eq_ignore_ascii_case("DUET_"))?;
    let key = rest.replace("__", ":");
    let known = !matches!(keys::meaning(&key), Meaning::Unknown | Meaning::Section);
    let in_section = key.split_once(':').is_some_and(|(first, _)| keys::is_section(first));
    (known || in_section || keys::nearest(&key).is_some()).then_some(rest)
}

/// A variable without our prefix that is ours nevertheless: a known section with something in it, or a key of one
/// word letter for letter, as `DATA` in capitals is likely to be somebody else's.
fn shared(name: &str) -> Option<&str> {
    let ours = match name.split_once("__") {
        Some((first, _)) => keys::is_section(first) || keys::find(first).is_some(),
        None => keys::KEYS.iter().any(|key| key.name == name.strip_suffix("_FILE").unwrap_or(name)),
    };
    ours.then_some(name)
}

fn of_environment<'e>(variables: impl Iterator<Item = (&'e str, &'e String, &'e String)>) -> Layer {
    let mut layer = Layer::default();
    let mut seen: HashMap<String, &str> = HashMap::new();
    for (rest, name, value) in variables {
        let key = rest.replace("__", ":");
        let place = Place::Environment { variable: name.clone() };
        if let Some(earlier) = seen.insert(key.to_lowercase(), name) {
            layer.faults.push(format!("{place}: {key} is given twice, here and by {earlier}"));
            continue;
        }
        layer.say(&key, Value::Text(value.clone()), place);
    }
    layer
}

/// A file's text without the newline that an editor puts at its end.
fn content(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    std::fs::File::open(path)?.take(LONGEST_FILE + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LONGEST_FILE {
        return Err(std::io::Error::other(format!("it is longer than {LONGEST_FILE} bytes")));
    }
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    Ok(text)
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
