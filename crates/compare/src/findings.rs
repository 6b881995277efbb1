//! What the differences of a run come to: each cause once, with the answers that show it and one of them in full.
//!
//! What stands in a record is a matter of the record's family; what stands around it, such as a header, is everybody's.

use crate::consequence::pattern;
use crate::difference::{Difference, Kind};
use crate::pair::{Compared, Exchange};
use crate::shrink::Shrunk;
use indexmap::{IndexMap, IndexSet};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// So many families with the same difference have one cause.
const MANY: usize = 3;

/// So many causes are told apart where a run goes on for days; nobody reads more.
const MOST_CAUSES: usize = 200;
/// As much of a body is kept there of an example.
const LONGEST_BODY: usize = 32 << 10;
/// ... and as much of a value that differs, and so many of those.
const LONGEST_VALUE: usize = 4 << 10;
const MOST_DIFFERENCES: usize = 100;

/// One cause, as far as it can be told apart from others.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// The operations and the path, in short.
    pub name: String,
    /// Where it stands; `[*]` is any element.
    pub path: String,
    pub kind: Kind,
    /// In how many answers it is seen.
    pub answers: u64,
    /// ... by operation.
    pub operations: IndexMap<String, u64>,
    /// How many later answers differ only because of it.
    pub consequences: u64,
    /// When it was seen first and last, where a run goes on for days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_seen: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen: Option<String>,
    /// One of the answers, in full.
    pub example: Box<Compared>,
    /// The smallest body that still shows it, where it was looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shrunk: Option<Shrunk>,
    #[serde(skip)]
    families: IndexSet<String>,
    /// Which status stood in place of which, where these are told apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statuses: Option<String>,
    /// How many other causes the example shows as well.
    #[serde(skip)]
    beside: usize,
}

#[derive(Debug, Default)]
pub struct Findings {
    found: Vec<Finding>,
    /// The time of what is added, where a run goes on for days: then what is kept has its bounds.
    pub now: Option<String>,
    /// How many answers show a cause for which there was no room.
    pub beyond: u64,
}

/// A cause with all that it is told apart by, for a run that goes on later.
#[derive(Serialize, Deserialize)]
struct Kept {
    finding: Finding,
    families: IndexSet<String>,
    beside: usize,
}

impl Findings {
    pub fn add(&mut self, compared: &Compared) {
        let roots: Vec<&Difference> =
            compared.differences.iter().filter(|one| one.reason.is_none() && self.is_root(compared, one)).collect();
        let beside = roots.len();
        let mut seen = IndexSet::new();
        for difference in roots {
            let path = pattern(&difference.path);
            if seen.insert(path.clone()) {
                self.see(compared, (path, self.statuses(difference)), difference.kind, beside);
            }
        }
        let since: IndexSet<&str> = compared.differences.iter().filter_map(|one| one.follows.as_deref()).collect();
        for name in since {
            if let Some(place) = self.cause(name) {
                self.found[place].consequences += 1;
            }
        }
    }

    /// Whether a difference is to be told for itself: it follows from nothing that is.
    fn is_root(&self, compared: &Compared, difference: &Difference) -> bool {
        let Some(cause) = &difference.follows else { return true };
        let is_told = |one: &Difference| one.path == *cause && one.reason.is_none();
        self.cause(cause).is_none() && !compared.differences.iter().any(is_told)
    }

    /// The finding since which the books are apart.
    fn cause(&self, name: &str) -> Option<usize> {
        let (operation, path) = name.split_once(' ')?;
        self.found.iter().position(|one| one.path == path && one.operations.contains_key(operation))
    }

    /// Where a run goes on for days, one status in place of another is a cause of its own: behind a harmless one nobody would see
    /// the next.
    fn statuses(&self, difference: &Difference) -> Option<String> {
        let of = |value: &Option<Value>| value.as_ref().map_or_else(|| "none".to_owned(), Value::to_string);
        let is_told_apart = self.now.is_some() && difference.path == "status";
        is_told_apart.then(|| format!("{} and {}", of(&difference.left), of(&difference.right)))
    }

    fn see(&mut self, compared: &Compared, (path, statuses): (String, Option<String>), kind: Kind, beside: usize) {
        let is_own = is_of_record(&path);
        let is_same = |one: &Finding| {
            one.path == path && one.statuses == statuses && (!is_own || one.families.contains(&compared.family))
        };
        let operation = &compared.request.operation;
        let goes_on = self.now.is_some();
        let is_full = goes_on && self.found.len() >= MOST_CAUSES;
        let Some(known) = self.found.iter_mut().find(|one| is_same(one)) else {
            if is_full {
                self.beyond += 1;
                return;
            }
            self.found.push(Finding {
                name: String::new(),
                path,
                kind,
                answers: 1,
                operations: IndexMap::from([(operation.clone(), 1)]),
                consequences: 0,
                first_seen: self.now.clone(),
                last_seen: self.now.clone(),
                example: Box::new(if goes_on { bounded(compared) } else { compared.clone() }),
                shrunk: None,
                families: IndexSet::from([compared.family.clone()]),
                statuses,
                beside,
            });
            return;
        };
        known.answers += 1;
        *known.operations.entry(operation.clone()).or_default() += 1;
        known.families.insert(compared.family.clone());
        known.kind = known.kind.min(kind);
        known.last_seen.clone_from(&self.now);
        // An answer that shows this alone says it best; of two the shorter one, where there is time to wait for it.
        let is_shorter = || goes_on && beside == known.beside && length(compared) < length(&known.example);
        if beside < known.beside || is_shorter() {
            let example = if goes_on { bounded(compared) } else { compared.clone() };
            (*known.example, known.beside) = (example, beside);
        }
    }

    /// Each cause, those first that are seen most.
    pub fn told(&self) -> Vec<Finding> {
        let mut told: Vec<Finding> = Vec::new();
        for finding in &self.found {
            let alike = |one: &&Finding| {
                one.path == finding.path && one.kind == finding.kind && one.statuses == finding.statuses
            };
            let families: usize = self.found.iter().filter(alike).map(|one| one.families.len()).sum();
            match told.iter_mut().find(|one| alike(&&**one)).filter(|_| families >= MANY) {
                Some(first) => first.join(finding),
                None => told.push(finding.clone()),
            }
        }
        for finding in &mut told {
            finding.name = format!("{} {}", finding.who(), finding.path);
            if let Some(statuses) = &finding.statuses {
                finding.name = format!("{} {statuses}", finding.name);
            }
        }
        // What came of a cause never precedes it.
        told.sort_by_key(|one| std::cmp::Reverse(one.answers + one.consequences));
        told
    }

    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// All of it, for a run that goes on later.
    pub(crate) fn kept(&self) -> Value {
        let kept = self.found.iter().map(|one| Kept {
            finding: one.clone(),
            families: one.families.clone(),
            beside: one.beside,
        });
        serde_json::to_value(kept.collect::<Vec<_>>()).unwrap_or_default()
    }

    pub(crate) fn of_kept(kept: Value, beyond: u64) -> Result<Self, serde_json::Error> {
        let kept: Vec<Kept> = serde_json::from_value(kept)?;
        let found = kept.into_iter().map(|Kept { finding, families, beside }| Finding { families, beside, ..finding });
        Ok(Self { found: found.collect(), now: None, beyond })
    }

    /// Keeps the smallest body that shows what the example of a finding shows.
    pub fn shrink_to(&mut self, finding: &Finding, shrunk: &Shrunk) {
        let operation = &finding.example.request.operation;
        let is_same = |one: &&mut Finding| one.path == finding.path && one.operations.contains_key(operation);
        if let Some(known) = self.found.iter_mut().find(is_same) {
            known.shrunk = Some(shrunk.clone());
        }
    }
}

impl Finding {
    fn join(&mut self, other: &Self) {
        self.answers += other.answers;
        self.consequences += other.consequences;
        for (operation, answers) in &other.operations {
            *self.operations.entry(operation.clone()).or_default() += answers;
        }
        self.families.extend(other.families.iter().cloned());
        // Times of one form are in the order of their letters.
        self.first_seen = self.first_seen.take().into_iter().chain(other.first_seen.clone()).min();
        self.last_seen = self.last_seen.take().into_iter().chain(other.last_seen.clone()).max();
        if self.shrunk.is_none() {
            self.shrunk.clone_from(&other.shrunk);
        }
    }

    /// Whose it is: an operation, all of a family, all that do the same, or so many.
    fn who(&self) -> String {
        let names: Vec<&str> = self.operations.keys().map(String::as_str).collect();
        if let [only] = names.as_slice() {
            return (*only).to_owned();
        }
        if let (1, Some(family)) = (self.families.len(), self.families.first()) {
            return format!("{family}*");
        }
        let of_family =
            |name: &str| self.families.iter().filter(|one| name.starts_with(one.as_str())).max_by_key(|one| one.len());
        let verbs: Option<IndexSet<&str>> = names.iter().map(|name| Some(&name[of_family(name)?.len()..])).collect();
        match verbs {
            Some(verbs) if verbs.len() == 1 => format!("*{}", verbs[0]),
            Some(_) | None => format!("{} operations", names.len()),
        }
    }
}

/// How long an example is to read.
fn length(compared: &Compared) -> usize {
    let of = |exchange: &Exchange| exchange.curl.len() + exchange.answer.as_ref().map_or(0, |answer| answer.body.len());
    of(&compared.left) + of(&compared.right)
}

/// An example as it is kept for days: the beginning of what is long.
fn bounded(compared: &Compared) -> Compared {
    let cut = |text: &mut String, most: usize| {
        if text.len() > most {
            let end = text.floor_char_boundary(most);
            let length = text.len();
            text.truncate(end);
            text.push_str(&format!("... ({length} bytes in all)"));
        }
    };
    let mut kept = compared.clone();
    kept.differences.truncate(MOST_DIFFERENCES);
    kept.noise.truncate(MOST_DIFFERENCES);
    for difference in &mut kept.differences {
        for value in [&mut difference.left, &mut difference.right].into_iter().flatten() {
            let mut text = value.to_string();
            if text.len() > LONGEST_VALUE {
                cut(&mut text, LONGEST_VALUE);
                *value = text.into();
            }
        }
    }
    for exchange in [&mut kept.left, &mut kept.right] {
        cut(&mut exchange.curl, LONGEST_BODY);
        exchange.request.body.iter_mut().for_each(|body| cut(body, LONGEST_BODY));
        exchange.answer.iter_mut().for_each(|answer| cut(&mut answer.body, LONGEST_BODY));
    }
    // It stands in the commands as well.
    kept.request.body = None;
    kept.request.text = None;
    kept
}

/// Whether what stands at a path is a matter of the record and not of what is around it.
fn is_of_record(path: &str) -> bool {
    let (first, _) = path.split_once(['.', '[']).unwrap_or((path, ""));
    matches!(first, "data" | "errors" | "effects" | "body" | "operation" | "answer")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::difference::Verdict;
    use crate::neutral::Neutral;
    use serde_json::json;

    pub(crate) fn compared(operation: &str, family: &str, differences: Vec<Difference>) -> Compared {
        Compared {
            request: Neutral::of(operation),
            family: family.to_owned(),
            verdict: Verdict::of(&differences),
            differences,
            noise: Vec::new(),
            left: Exchange::default(),
            right: Exchange::default(),
            meaning: None,
        }
    }

    fn differs(path: &str, kind: Kind) -> Difference {
        Difference::new(path, kind, Some(json!(1)), Some(json!(2)))
    }

    fn names(findings: &Findings) -> Vec<(String, u64, u64)> {
        findings.told().into_iter().map(|one| (one.name, one.answers, one.consequences)).collect()
    }

    #[test]
    fn one_cause_is_one_finding_however_many_answers_show_it() {
        let mut findings = Findings::default();
        for family in ["parties", "items", "journals", "accounts"] {
            findings.add(&compared(&format!("{family}Get"), family, vec![differs("headers.etag", Kind::OnlyLeft)]));
        }
        for place in 0..3 {
            let both = [place, place + 1].map(|at| differs(&format!("data.items[{at}].name"), Kind::Value));
            findings.add(&compared("partiesList", "parties", both.to_vec()));
        }
        findings.add(&compared("itemsList", "items", vec![differs("data.items[0].name", Kind::Value)]));
        assert_eq!(
            names(&findings),
            [
                ("*Get headers.etag".to_owned(), 4, 0),
                ("partiesList data.items[*].name".to_owned(), 3, 0),
                ("itemsList data.items[*].name".to_owned(), 1, 0)
            ]
        );
        // The same in many families is no matter of one of them.
        findings.add(&compared("accountsList", "accounts", vec![differs("data.items[7].name", Kind::Value)]));
        assert_eq!(names(&findings)[0], ("*List data.items[*].name".to_owned(), 5, 0));
        findings.add(&compared("itemsCreate", "items", vec![differs("headers.etag", Kind::OnlyLeft)]));
        assert!(names(&findings).contains(&("5 operations headers.etag".to_owned(), 5, 0)));
    }

    #[test]
    fn what_follows_from_a_cause_is_counted_with_it_unless_the_cause_was_declared() {
        let follows =
            |path: &str, from: &str| Difference { follows: Some(from.to_owned()), ..differs(path, Kind::Value) };
        let mut findings = Findings::default();
        findings.add(&compared(
            "journalsCreate",
            "journals",
            vec![differs("effects.entries[0].lines[0].debit", Kind::Value)],
        ));
        for _ in 0..2 {
            let since = follows("data.balance", "journalsCreate effects.entries[*].lines[*].debit");
            findings.add(&compared("accountsGet", "accounts", vec![since]));
        }
        assert_eq!(names(&findings), [("journalsCreate effects.entries[*].lines[*].debit".to_owned(), 1, 2)]);

        let mut findings = Findings::default();
        let declared = Difference { reason: Some("agreed".into()), ..differs("data.notes", Kind::OnlyLeft) };
        let untrue = Difference { follows: Some("data.notes".into()), ..differs("body.notes", Kind::Document) };
        findings.add(&compared("partiesGet", "parties", vec![declared, untrue]));
        let since = follows("data.balance", "journalsCreate effects.entries[*]");
        findings.add(&compared("accountsGet", "accounts", vec![since]));
        let told: Vec<String> = findings.told().into_iter().map(|one| one.name).collect();
        assert_eq!(told, ["partiesGet body.notes", "accountsGet data.balance"]);
    }

    #[test]
    fn the_example_shows_as_little_beside_it_as_there_is() {
        let mut findings = Findings::default();
        let two = vec![differs("headers.etag", Kind::OnlyLeft), differs("data.name", Kind::Value)];
        findings.add(&compared("partiesGet", "parties", two));
        findings.add(&compared("itemsGet", "items", vec![differs("headers.etag", Kind::OnlyLeft)]));
        let etag = findings.told().into_iter().find(|one| one.path == "headers.etag").unwrap();
        assert_eq!(etag.example.request.operation, "itemsGet");
    }
}
