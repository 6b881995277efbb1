//! Differences that somebody has said are as they should be. One that never occurs is itself a fault: what it excuses
//! would otherwise be excused for good.

use crate::difference::{Difference, Kind};
use chrono::NaiveDate;
use serde::Deserialize;

/// One entry of the file.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Entry {
    /// Where; `*` stands for anything, as in `data.lines[*].amount`.
    path: String,
    /// In which operations; all of them when absent.
    operation: Option<String>,
    /// Of what kind; any when absent.
    kind: Option<Kind>,
    /// Why it is as it should be.
    reason: String,
    /// Who says so.
    #[serde(default)]
    owner: String,
    /// The last day on which it counts.
    until: Option<NaiveDate>,
}

#[derive(Debug, Default)]
pub struct Declared {
    entries: Vec<(Entry, u64)>,
}

impl Declared {
    /// Reads a file: a list of entries, with lines of comment that begin with `#` or `//`.
    pub fn read(text: &str, today: &str) -> Result<Self, String> {
        let comment = |line: &&str| line.trim_start().starts_with('#') || line.trim_start().starts_with("//");
        let kept: Vec<&str> = text.lines().map(|line| if comment(&line) { "" } else { line }).collect();
        let entries = serde_json::from_str(&kept.join("\n")).map_err(|error| error.to_string())?;
        Self::of(entries, today.parse().map_err(|_| format!("{today} is no day"))?)
    }

    /// Takes the entries of a file. One that has expired, or excuses everything, is refused.
    fn of(entries: Vec<Entry>, today: NaiveDate) -> Result<Self, String> {
        for entry in &entries {
            if entry.reason.trim().is_empty() {
                return Err(format!("{}: reason must not be empty", entry.path));
            }
            if entry.path.trim_matches(['*', '.']).is_empty() {
                return Err(format!("path {:?} excuses everything", entry.path));
            }
            if let Some(until) = entry.until.filter(|until| *until < today) {
                let owner = if entry.owner.is_empty() { String::new() } else { format!(", by {}", entry.owner) };
                return Err(format!("{}: declared until {until}{owner}; it has expired", entry.path));
            }
        }
        Ok(Self { entries: entries.into_iter().map(|entry| (entry, 0)).collect() })
    }

    /// Why a difference is as it should be, where an entry says so; the entry has been of use then.
    pub fn reason(&mut self, operation: &str, difference: &Difference) -> Option<&str> {
        let fits = |entry: &Entry| {
            matches(&entry.path, &difference.path)
                && entry.operation.as_deref().is_none_or(|pattern| matches(pattern, operation))
                && entry.kind.is_none_or(|kind| kind == difference.kind)
        };
        let (entry, used) = self.entries.iter_mut().find(|(entry, _)| fits(entry))?;
        *used += 1;
        Some(&entry.reason)
    }

    /// The entries that excused nothing.
    pub fn unused(&self) -> Vec<String> {
        let unused = self.entries.iter().filter(|(_, used)| *used == 0);
        unused
            .map(|(entry, _)| match &entry.operation {
                Some(operation) => format!("{} in {operation} ({})", entry.path, entry.reason),
                None => format!("{} ({})", entry.path, entry.reason),
            })
            .collect()
    }
}

/// Whether a text is as a pattern says, in which `*` stands for any text.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(text) = text.strip_prefix(first) else { return false };
    (0..=text.len()).filter(|at| text.is_char_boundary(*at)).any(|at| matches(rest, &text[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn declared(entries: Value, today: &str) -> Result<Declared, String> {
        Declared::read(&format!("// why they differ\n{entries}"), today)
    }

    #[test]
    fn a_pattern_says_where() {
        for (pattern, text, expected) in [
            ("data.lines[*].amount", "data.lines[12].amount", true),
            ("data.lines[*].amount", "data.lines[12].quantity", false),
            ("headers.x-*", "headers.x-powered-by", true),
            ("data.total", "data.totals", false),
            ("*Create", "partiesCreate", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn an_entry_that_excuses_nothing_is_told() {
        let entries = json!([
            {"path": "data.total", "reason": "rounds half up", "kind": "value"},
            {"path": "headers.server", "operation": "parties*", "reason": "another server"}
        ]);
        let mut declared = declared(entries, "2026-11-21").unwrap();
        let differs = |path: &str, kind| Difference::new(path, kind, None, None);
        assert_eq!(declared.reason("itemsGet", &differs("data.total", Kind::Value)), Some("rounds half up"));
        assert_eq!(declared.reason("itemsGet", &differs("data.total", Kind::Type)), None);
        assert_eq!(declared.reason("itemsGet", &differs("headers.server", Kind::Value)), None);
        assert_eq!(declared.unused(), ["headers.server in parties* (another server)"]);
    }

    #[test]
    fn one_that_has_expired_or_says_nothing_is_refused() {
        for (entry, why) in [
            (json!({"path": "a", "reason": "x", "until": "2026-11-20", "owner": "Jo"}), "by Jo; it has expired"),
            (json!({"path": "a", "reason": " "}), "reason must not be empty"),
            (json!({"path": "*", "reason": "x"}), "excuses everything"),
        ] {
            let error = declared(json!([entry]), "2026-11-21").unwrap_err();
            assert!(error.contains(why), "{error}");
        }
        assert!(declared(json!([{"path": "a", "reason": "x", "until": "2026-11-21"}]), "2026-11-21").is_ok());
    }
}
