//! What the differences of a run come to: each cause once, with the answers that show it and one of them in full.
//!
//! What stands in a record is a matter of the record's family; what stands around it, such as a header, is everybody's.

use crate::consequence::pattern;
use crate::difference::{Difference, Kind};
use crate::pair::Compared;
use crate::shrink::Shrunk;
use indexmap::{IndexMap, IndexSet};
use serde::Serialize;

/// So many families with the same difference have one cause.
const MANY: usize = 3;

/// One cause, as far as it can be told apart from others.
#[derive(Debug, Clone, Serialize)]
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
    /// One of the answers, in full.
    pub example: Box<Compared>,
    /// The smallest body that still shows it, where it was looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shrunk: Option<Shrunk>,
    #[serde(skip)]
    families: IndexSet<String>,
    /// How many other causes the example shows as well.
    #[serde(skip)]
    beside: usize,
}

#[derive(Debug, Default)]
pub struct Findings {
    found: Vec<Finding>,
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
                self.see(compared, path, difference.kind, beside);
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

    fn see(&mut self, compared: &Compared, path: String, kind: Kind, beside: usize) {
        let is_own = is_of_record(&path);
        let is_same = |one: &Finding| one.path == path && (!is_own || one.families.contains(&compared.family));
        let operation = &compared.request.operation;
        let Some(known) = self.found.iter_mut().find(|one| is_same(one)) else {
            self.found.push(Finding {
                name: String::new(),
                path,
                kind,
                answers: 1,
                operations: IndexMap::from([(operation.clone(), 1)]),
                consequences: 0,
                example: Box::new(compared.clone()),
                shrunk: None,
                families: IndexSet::from([compared.family.clone()]),
                beside,
            });
            return;
        };
        known.answers += 1;
        *known.operations.entry(operation.clone()).or_default() += 1;
        known.families.insert(compared.family.clone());
        known.kind = known.kind.min(kind);
        // An answer that shows this alone says it best.
        if beside < known.beside {
            (*known.example, known.beside) = (compared.clone(), beside);
        }
    }

    /// Each cause, those first that are seen most.
    pub fn told(&self) -> Vec<Finding> {
        let mut told: Vec<Finding> = Vec::new();
        for finding in &self.found {
            let alike = |one: &&Finding| one.path == finding.path && one.kind == finding.kind;
            let families: usize = self.found.iter().filter(alike).map(|one| one.families.len()).sum();
            match told.iter_mut().find(|one| alike(&&**one)).filter(|_| families >= MANY) {
                Some(first) => first.join(finding),
                None => told.push(finding.clone()),
            }
        }
        for finding in &mut told {
            finding.name = format!("{} {}", finding.who(), finding.path);
        }
        // What came of a cause never precedes it.
        told.sort_by_key(|one| std::cmp::Reverse(one.answers + one.consequences));
        told
    }

    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
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
    use crate::pair::Exchange;
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
