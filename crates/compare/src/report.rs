//! What a run came to, causes first: a text for the terminal, JSON for programs, one HTML file for people, and `JUnit`'s
//! XML for builders.

mod html;

use crate::difference::{Difference, Kind, Verdict};
use crate::findings::{Finding, Findings};
use crate::junit::{self, Case};
use crate::pair::{Compared, Exchange};
use crate::shrink::Shrunk;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt::Write;

/// How many differing requests are kept whole; of the others their paths.
const MOST_WHOLE: usize = 500;

#[derive(Debug, Default)]
pub struct Report {
    pub left: String,
    pub right: String,
    counts: Counts,
    operations: IndexMap<String, Counts>,
    /// The family of each operation.
    families: IndexMap<String, String>,
    /// Every request in its order.
    rows: Vec<Row>,
    /// What is not equal, as it was seen.
    told: Vec<Compared>,
    findings: Findings,
    /// Whether it goes on for days: then no request is kept for itself.
    goes_on: bool,
    /// The companies that were made for the run, as their sides know them.
    pub twins: Vec<Twin>,
    /// Declared differences that excused nothing.
    pub unused: Vec<String>,
}

/// A company that was made to be compared.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Twin {
    pub side: &'static str,
    pub id: String,
    pub name: String,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Counts {
    asked: u64,
    equal: u64,
    declared: u64,
    different: u64,
    /// Answered with a failure by both, and alike.
    refused: u64,
    left_micros: u64,
    right_micros: u64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    operation: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    name: String,
    status: Option<u16>,
    verdict: Verdict,
}

impl Counts {
    fn add(&mut self, compared: &Compared) {
        self.asked += 1;
        match compared.verdict {
            Verdict::Equal => self.equal += 1,
            Verdict::Declared => self.declared += 1,
            Verdict::Different => self.different += 1,
        }
        let failed = compared.status().is_some_and(|status| status >= 400);
        self.refused += u64::from(failed && compared.verdict != Verdict::Different);
        let micros = |exchange: &Exchange| exchange.answer.as_ref().map_or(0, |answer| answer.micros);
        self.left_micros += micros(&compared.left);
        self.right_micros += micros(&compared.right);
    }
}

impl Report {
    pub fn of(left: &str, right: &str) -> Self {
        Self { left: left.to_owned(), right: right.to_owned(), ..Self::default() }
    }

    /// One that goes on for days, in as much memory as its causes take.
    pub fn of_days(left: &str, right: &str) -> Self {
        Self { goes_on: true, ..Self::of(left, right) }
    }

    /// Adds what was compared at a time.
    pub fn add_at(&mut self, compared: &Compared, now: &str) {
        self.findings.now = Some(now.to_owned());
        self.add(compared);
    }

    /// All of it, for a run that goes on later.
    pub fn kept(&self) -> Value {
        json!({
            "counts": self.counts, "operations": self.operations, "families": self.families,
            "findings": self.findings.kept(), "beyond": self.findings.beyond,
        })
    }

    /// Goes on with what an earlier run kept.
    pub fn go_on(&mut self, kept: &Value) -> Result<(), serde_json::Error> {
        let counts = Counts::deserialize(&kept["counts"])?;
        let operations = IndexMap::deserialize(&kept["operations"])?;
        let families = IndexMap::deserialize(&kept["families"])?;
        self.findings = Findings::of_kept(kept["findings"].clone(), kept["beyond"].as_u64().unwrap_or_default())?;
        (self.counts, self.operations, self.families) = (counts, operations, families);
        Ok(())
    }

    pub fn add(&mut self, compared: &Compared) {
        self.counts.add(compared);
        self.findings.add(compared);
        self.families.entry(compared.request.operation.clone()).or_insert_with(|| compared.family.clone());
        self.operations.entry(compared.request.operation.clone()).or_default().add(compared);
        if self.goes_on {
            return;
        }
        self.rows.push(Row {
            operation: compared.request.operation.clone(),
            name: compared.request.name.clone(),
            status: compared.status(),
            verdict: compared.verdict,
        });
        if compared.verdict != Verdict::Equal && self.told.len() < MOST_WHOLE {
            self.told.push(compared.clone());
        }
    }

    pub fn asked(&self) -> u64 {
        self.counts.asked
    }

    pub fn different(&self) -> u64 {
        self.counts.different
    }

    /// Whether nothing differed but what is declared, and everything declared did.
    pub fn is_clean(&self) -> bool {
        self.counts.different == 0 && self.unused.is_empty()
    }

    /// In a sentence.
    pub fn summary(&self) -> String {
        let Counts { asked, equal, declared, different, refused, .. } = self.counts;
        let mut text = format!("{asked} requests: {equal} equal ({refused} refused alike)");
        if declared > 0 {
            write!(text, ", {declared} equal but for declared differences").unwrap_or_default();
        }
        write!(text, ", {different} different").unwrap_or_default();
        if !self.findings.is_empty() {
            write!(text, " ({})", counted(self.findings.told().len(), "cause")).unwrap_or_default();
        }
        text
    }

    /// What differs, each cause once.
    pub fn findings(&self) -> Vec<Finding> {
        self.findings.told()
    }

    /// Keeps the smallest body that shows a finding.
    pub fn shrink_to(&mut self, finding: &Finding, shrunk: &Shrunk) {
        self.findings.shrink_to(finding, shrunk);
    }

    /// For builders.
    pub fn junit(&self) -> String {
        let with_family = self.operations.iter().zip(self.families.values());
        let cases: Vec<Case<'_>> = with_family
            .map(|((operation, counts), family)| Case {
                operation,
                family,
                asked: counts.asked,
                micros: counts.left_micros + counts.right_micros,
            })
            .collect();
        junit::written(&cases, &self.findings(), finding_in_text, &self.unused)
    }

    /// The causes, then a table by operation.
    pub fn text(&self) -> String {
        let mut lines = vec![format!("left   {}", self.left), format!("right  {}", self.right)];
        lines.extend(self.twins.iter().map(|twin| format!("made   {} on the {}: {}", twin.name, twin.side, twin.id)));
        lines.push(String::new());
        for (place, finding) in self.findings().iter().enumerate() {
            lines.push(format!("{}. {}\n", place + 1, finding_in_text(finding)));
        }
        let widest = self.operations.keys().map(String::len).max().unwrap_or_default().max(9);
        lines.push(format!(
            "{:widest$}  {:>6} {:>6} {:>8} {:>9} {:>9} {:>9}",
            "operation", "asked", "equal", "declared", "different", "left ms", "right ms"
        ));
        for (operation, counts) in &self.operations {
            lines.push(format!(
                "{operation:widest$}  {:>6} {:>6} {:>8} {:>9} {:>9} {:>9}",
                counts.asked,
                counts.equal,
                counts.declared,
                counts.different,
                milliseconds(counts.left_micros, counts.asked),
                milliseconds(counts.right_micros, counts.asked)
            ));
        }
        lines.push(String::new());
        lines.extend(self.unused.iter().map(|unused| format!("declared, and never seen: {unused}")));
        lines.push(self.summary());
        lines.join("\n")
    }

    pub fn json(&self) -> Value {
        json!({
            "left": self.left, "right": self.right, "counts": self.counts, "operations": self.operations,
            "findings": self.findings(), "twins": self.twins, "requests": self.rows, "notEqual": self.told, "unusedDeclarations": self.unused, "ok": self.is_clean(),
        })
    }
}

/// One comparison for the terminal.
pub fn one_in_text(compared: &Compared) -> String {
    let mut lines = vec![format!("{}  {}", word(compared.verdict), compared.title())];
    for difference in &compared.differences {
        lines.push(format!("    {}", difference_in_text(difference)));
    }
    lines.extend(compared.noise.iter().map(|path| format!("    {path}: moves by itself, not counted")));
    lines.join("\n")
}

/// A cause for the terminal: where it is seen, one answer that shows it, and what else comes of it.
fn finding_in_text(finding: &Finding) -> String {
    let Finding { name, answers, consequences, example, shrunk, .. } = finding;
    let mut lines = vec![format!("{name}: {}", counted(usize::try_from(*answers).unwrap_or(usize::MAX), "answer"))];
    if finding.operations.len() > 1 {
        let each = finding.operations.iter().map(|(operation, answers)| format!("{operation} {answers}"));
        lines.push(format!(
            "   {}",
            shortened(Some(&each.collect::<Vec<_>>().join(", ").into()), 400).trim_matches('"')
        ));
    }
    if let (Some(first), Some(last)) = (&finding.first_seen, &finding.last_seen) {
        lines.push(format!("   seen first at {}, last at {}", moment(first), moment(last)));
    }
    lines.push(format!("   such as {}", example.title()));
    let of_finding = |one: &&Difference| crate::consequence::pattern(&one.path) == finding.path;
    lines.extend(
        example.differences.iter().filter(of_finding).take(3).map(|one| format!("     {}", difference_in_text(one))),
    );
    for (side, exchange) in [("left ", &example.left), ("right", &example.right)] {
        let status = exchange.answer.as_ref().map_or_else(String::new, |answer| answer.status.to_string());
        let curl = exchange.curl.replace('\n', "\n            ");
        lines.push(format!("   {side} {status:>3} {curl}"));
    }
    if let Some(shrunk) = shrunk {
        lines.push(format!("   the smallest body that shows it: {}", shrunk.body));
    }
    if *consequences > 0 {
        let later = counted(usize::try_from(*consequences).unwrap_or(usize::MAX), "later answer");
        lines.push(format!("   the books are apart since then: {later} differ only because of it"));
    }
    lines.join("\n")
}

/// A number of things, in words.
fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

fn difference_in_text(difference: &Difference) -> String {
    let short = |value: &Option<Value>| shortened(value.as_ref(), 120);
    let (left, right) = (short(&difference.left), short(&difference.right));
    let said = match difference.kind {
        Kind::OnlyLeft => format!("only on the left: {left}"),
        Kind::OnlyRight => format!("only on the right: {right}"),
        Kind::Form | Kind::Document if difference.left.is_none() => format!("on the right: {right}"),
        Kind::Form | Kind::Document => format!("on the left: {left}"),
        Kind::Order => format!("the same records in another order: {left} | {right}"),
        Kind::Repeated => format!("done {left} times on the left, {right} times on the right"),
        Kind::Unanswered | Kind::Status | Kind::Type | Kind::Value | Kind::Format => format!("{left} | {right}"),
    };
    let reason = difference.reason.as_ref().map_or_else(String::new, |reason| format!("  (declared: {reason})"));
    let follows = difference.follows.as_ref().map_or_else(String::new, |cause| format!("  (follows from {cause})"));
    format!("{}: {said}{reason}{follows}", difference.path)
}

/// A time as people read it, to the second.
pub(crate) fn moment(at: &str) -> String {
    at.get(..19).map_or_else(|| at.to_owned(), |at| format!("{} UTC", at.replace('T', " ")))
}

/// A value as JSON, or the beginning of it.
fn shortened(value: Option<&Value>, most: usize) -> String {
    let text = value.map_or_else(String::new, Value::to_string);
    if text.chars().count() > most { format!("{}...", text.chars().take(most).collect::<String>()) } else { text }
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Equal => "equal",
        Verdict::Declared => "equal but for declared differences",
        Verdict::Different => "DIFFERENT",
    }
}

/// Micros in all, as milliseconds for each.
fn milliseconds(micros: u64, count: u64) -> String {
    let each = micros / count.max(1);
    format!("{}.{:02}", each / 1000, each % 1000 / 10)
}

pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neutral::Neutral;
    use crate::wire::{Answer, Request};

    fn compared(verdict: Verdict, body: &str) -> Compared {
        let exchange = |micros| Exchange {
            request: Request::default(),
            answer: Some(Answer { status: 200, headers: Vec::new(), body: body.to_owned(), micros }),
            failed: None,
            curl: "curl".into(),
        };
        let differences = match verdict {
            Verdict::Equal => Vec::new(),
            _ => vec![Difference::new("data.<b>", Kind::Value, Some(json!(1)), Some(json!(2)))],
        };
        Compared {
            request: Neutral::of("partiesGet"),
            family: "parties".into(),
            verdict,
            differences,
            noise: Vec::new(),
            left: exchange(1500),
            right: exchange(2500),
            meaning: None,
        }
    }

    #[test]
    fn a_report_counts_and_escapes() {
        let mut report = Report::of("A", "B");
        report.add(&compared(Verdict::Equal, "{}"));
        assert!(report.is_clean());
        report.add(&compared(Verdict::Different, "<script>alert(1)</script>"));
        assert!(!report.is_clean());
        assert_eq!(report.summary(), "2 requests: 1 equal (0 refused alike), 1 different (1 cause)");
        let (text, html) = (report.text(), report.html());
        assert!(
            text.contains("1. partiesGet data.<b>: 1 answer\n   such as partiesGet\n     data.<b>: 1 | 2\n"),
            "{text}"
        );
        assert!(text.contains("1.50      2.50"), "{text}");
        assert!(!html.contains("<script>") && html.contains("data.&lt;b&gt;"));
        assert_eq!(report.json()["operations"]["partiesGet"]["different"], 1);
    }

    #[test]
    fn what_was_declared_in_vain_fails_the_run() {
        let mut report = Report::of("A", "B");
        report.add(&compared(Verdict::Equal, "{}"));
        report.unused.push("data.x (because)".into());
        assert!(!report.is_clean() && report.text().contains("never seen: data.x"));
    }
}
