//! What a run came to: a table for the terminal, JSON for programs, one HTML file for people.

use crate::difference::{Difference, Kind, Verdict};
use crate::pair::{Compared, Exchange};
use indexmap::IndexMap;
use serde::Serialize;
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
    /// Every request in its order.
    rows: Vec<Row>,
    /// What is not equal, as it was seen.
    told: Vec<Compared>,
    /// Declared differences that excused nothing.
    pub unused: Vec<String>,
}

#[derive(Debug, Clone, Copy, Default, Serialize)]
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

    pub fn add(&mut self, compared: &Compared) {
        self.counts.add(compared);
        self.operations.entry(compared.request.operation.clone()).or_default().add(compared);
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
        text
    }

    /// A table by resource, then the differences.
    pub fn text(&self) -> String {
        let mut lines = vec![format!("left   {}", self.left), format!("right  {}", self.right), String::new()];
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
        for compared in self.told.iter().filter(|one| one.verdict == Verdict::Different).take(50) {
            lines.push(one_in_text(compared));
        }
        lines.extend(self.unused.iter().map(|unused| format!("declared, and never seen: {unused}")));
        lines.push(self.summary());
        lines.join("\n")
    }

    pub fn json(&self) -> Value {
        json!({
            "left": self.left, "right": self.right, "counts": self.counts, "operations": self.operations,
            "requests": self.rows, "notEqual": self.told, "unusedDeclarations": self.unused, "ok": self.is_clean(),
        })
    }

    /// One file with everything in it, and nothing fetched.
    pub fn html(&self) -> String {
        let mut body = String::new();
        let (class, word) = if self.is_clean() { ("equal", "No difference") } else { ("different", "Different") };
        body += &format!(
            "<h1>Compare <span class=\"badge {class}\">{word}</span></h1>\n<p>{}</p>\n<table class=\"sides\"><tr><th>left</th><td><code>{}</code></td></tr><tr><th>right</th><td><code>{}</code></td></tr></table>\n",
            escape(&self.summary()),
            escape(&self.left),
            escape(&self.right)
        );
        if !self.unused.is_empty() {
            let item = |unused: &String| format!("<li>{}</li>", escape(unused));
            let items: String = self.unused.iter().map(item).collect();
            body += &format!("<h2>Declared, and never seen</h2>\n<ul>{items}</ul>\n");
        }
        if !self.told.is_empty() {
            body += "<h2>Not equal</h2>\n";
            body.extend(self.told.iter().map(one_in_html));
        }
        body += "<h2>By operation</h2>\n<table class=\"counts\"><thead><tr><th>operation</th><th>asked</th><th>equal</th><th>of these refused</th><th>declared</th><th>different</th><th>left ms</th><th>right ms</th></tr></thead>\n";
        for (operation, counts) in &self.operations {
            let class = if counts.different > 0 {
                "different"
            } else if counts.declared > 0 {
                "declared"
            } else {
                "equal"
            };
            body += &format!(
                "<tr class=\"{class}\"><th><code>{}</code></th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                escape(operation),
                counts.asked,
                counts.equal,
                counts.refused,
                counts.declared,
                counts.different,
                milliseconds(counts.left_micros, counts.asked),
                milliseconds(counts.right_micros, counts.asked)
            );
        }
        body += "</table>\n";
        format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Compare: {}</title>\n<style>\n{}</style></head>\n<body><main>\n{body}</main></body></html>\n",
            escape(&self.summary()),
            concat!(include_str!("../assets/look.css"), include_str!("../assets/report.css"))
        )
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

fn difference_in_text(difference: &Difference) -> String {
    let short = |value: &Option<Value>| shortened(value.as_ref(), 120);
    let (left, right) = (short(&difference.left), short(&difference.right));
    let said = match difference.kind {
        Kind::OnlyLeft => format!("only on the left: {left}"),
        Kind::OnlyRight => format!("only on the right: {right}"),
        Kind::Form | Kind::Document if difference.left.is_none() => format!("on the right: {right}"),
        Kind::Form | Kind::Document => format!("on the left: {left}"),
        Kind::Size => format!("{left} elements, {right} elements"),
        Kind::Order => "the same elements in another order".to_owned(),
        Kind::Unanswered | Kind::Status | Kind::Type | Kind::Value | Kind::Format => format!("{left} | {right}"),
    };
    let reason = difference.reason.as_ref().map_or_else(String::new, |reason| format!("  (declared: {reason})"));
    format!("{}: {said}{reason}", difference.path)
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

fn one_in_html(compared: &Compared) -> String {
    let class = if compared.verdict == Verdict::Different { "different" } else { "declared" };
    let row = |difference: &Difference| {
        let cell = |value: &Option<Value>| escape(&shortened(value.as_ref(), 600));
        format!(
            "<tr><th><code>{}</code></th><td>{}</td><td><code>{}</code></td><td><code>{}</code></td><td>{}</td></tr>\n",
            escape(&difference.path),
            escape(json!(difference.kind).as_str().unwrap_or_default()),
            cell(&difference.left),
            cell(&difference.right),
            escape(difference.reason.as_deref().unwrap_or_default())
        )
    };
    let rows: String = compared.differences.iter().map(row).collect();
    format!(
        "<details class=\"case {class}\"><summary><span class=\"badge {class}\">{}</span> <code>{}</code> {}</summary>\n<div class=\"wide\"><table class=\"differences\"><thead><tr><th>path</th><th>kind</th><th>left</th><th>right</th><th>reason</th></tr></thead>\n{rows}</table></div>\n<div class=\"pair\">{}{}</div></details>\n",
        word(compared.verdict),
        escape(&compared.request.operation),
        escape(&compared.request.name),
        exchange_in_html("left", &compared.left),
        exchange_in_html("right", &compared.right)
    )
}

fn exchange_in_html(side: &str, exchange: &Exchange) -> String {
    let answer = match (&exchange.answer, &exchange.failed) {
        (Some(answer), _) => {
            let line = |(name, value): &(String, String)| format!("{name}: {value}\n");
            let headers: String = answer.headers.iter().map(line).collect();
            format!("{} in {} ms\n{headers}\n{}", answer.status, milliseconds(answer.micros, 1), answer.pretty())
        }
        (None, failed) => failed.clone().unwrap_or_default(),
    };
    format!("<section><h3>{side}</h3><pre>{}</pre><pre>{}</pre></section>", escape(&exchange.curl), escape(&answer))
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
        assert_eq!(report.summary(), "2 requests: 1 equal (0 refused alike), 1 different");
        let (text, html) = (report.text(), report.html());
        assert!(text.contains("DIFFERENT  partiesGet\n    data.<b>: 1 | 2"), "{text}");
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
