//! The report as one HTML file, with everything in it and nothing fetched.

use super::{Report, counted, escape, milliseconds, moment, shortened, word};
use crate::consequence::pattern;
use crate::difference::{Difference, Verdict};
use crate::findings::Finding;
use crate::pair::{Compared, Exchange};
use serde_json::json;

/// So many answers that show a cause are named with it.
const MOST_NAMED: usize = 100;

impl Report {
    /// One file with everything in it, and nothing fetched.
    pub fn html(&self) -> String {
        let (class, word) = if self.is_clean() { ("equal", "No difference") } else { ("different", "Different") };
        let row =
            |(side, said): (&str, &str)| format!("<tr><th>{side}</th><td><code>{}</code></td></tr>", escape(said));
        let made = self.twins.iter().map(|twin| {
            let (name, id) = (escape(&twin.name), escape(&twin.id));
            format!("<tr><th>made on the {}</th><td>{name} <code>{id}</code></td></tr>", twin.side)
        });
        let mut body = format!(
            "<h1>Compare <span class=\"badge {class}\">{word}</span></h1>\n<p>{}</p>\n<table class=\"sides\">{}{}{}</table>\n",
            escape(&self.summary()),
            row(("left", &self.left)),
            row(("right", &self.right)),
            made.collect::<String>()
        );
        body += &self.causes_in_html();
        if !self.unused.is_empty() {
            let item = |unused: &String| format!("<li>{}</li>", escape(unused));
            let items: String = self.unused.iter().map(item).collect();
            body += &format!("<h2>Declared, and never seen</h2>\n<ul>{items}</ul>\n");
        }
        let declared: Vec<&Compared> = self.told.iter().filter(|one| one.verdict == Verdict::Declared).collect();
        if !declared.is_empty() {
            body += "<h2>Equal but for declared differences</h2>\n";
            body.extend(declared.into_iter().map(one_in_html));
        }
        body += &self.by_operation();
        format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Compare: {}</title>\n<style>\n{}</style></head>\n<body><main>\n{body}</main></body></html>\n",
            escape(&self.summary()),
            concat!(
                include_str!("../../assets/look.css"),
                include_str!("../../assets/parts.css"),
                include_str!("../../assets/report.css")
            )
        )
    }

    /// Each cause once, those first that are seen most.
    pub(crate) fn causes_in_html(&self) -> String {
        let findings = self.findings();
        let mut told = String::new();
        if !findings.is_empty() {
            told += &format!("<h2>{}</h2>\n", counted(findings.len(), "cause"));
            told.extend(findings.iter().enumerate().map(|(place, finding)| self.finding(place, finding)));
        }
        let beyond = self.findings.beyond;
        if beyond > 0 {
            told += &format!("<p>{beyond} answers show causes beyond these, which are not told apart.</p>\n");
        }
        told
    }

    /// A cause: where it is seen, one answer in full, and which others show it.
    fn finding(&self, place: usize, finding: &Finding) -> String {
        let kind = json!(finding.kind);
        let answers = counted(usize::try_from(finding.answers).unwrap_or(usize::MAX), "answer");
        let each = finding.operations.iter();
        let each: Vec<String> =
            each.map(|(operation, count)| format!("<code>{}</code> {count}", escape(operation))).collect();
        let shrunk = finding.shrunk.as_ref().map_or_else(String::new, |shrunk| {
            let body = serde_json::to_string_pretty(&shrunk.body).unwrap_or_default();
            format!("<h3>The smallest body that shows it</h3><pre>{}</pre>", escape(&body))
        });
        let later = match finding.consequences {
            0 => String::new(),
            count => format!("<p>The books are apart since then: {count} later answers differ only because of it.</p>"),
        };
        let shows = |one: &&Compared| {
            finding.operations.contains_key(&one.request.operation)
                && one.differences.iter().any(|one| pattern(&one.path) == finding.path)
        };
        let others = self.told.iter().filter(shows).take(MOST_NAMED);
        let item = |one: &Compared| format!("<li>{}</li>", escape(&one.title()));
        let others: String = others.map(item).collect();
        let others = if others.is_empty() {
            others
        } else {
            format!("<details><summary>The answers that show it</summary><ul>{others}</ul></details>")
        };
        let seen = match (&finding.first_seen, &finding.last_seen) {
            (Some(first), Some(last)) => {
                format!("<p>Seen first at {}, last at {}.</p>", escape(&moment(first)), escape(&moment(last)))
            }
            _ => String::new(),
        };
        format!(
            "<details class=\"case different\"{}><summary><span class=\"badge different\">{}</span> <code>{}</code> {answers}</summary>\n<p>{}</p>\n{seen}{later}<h3>Such as {}</h3>\n{}\n{shrunk}{others}</details>\n",
            if place == 0 && !self.goes_on { " open" } else { "" },
            escape(kind.as_str().unwrap_or_default()),
            escape(&finding.name),
            each.join(", "),
            escape(&finding.example.title()),
            in_full(&finding.example),
        )
    }

    pub(crate) fn by_operation(&self) -> String {
        let mut table = "<h2>By operation</h2>\n<table class=\"counts\"><thead><tr><th>operation</th><th>asked</th><th>equal</th><th>of these refused</th><th>declared</th><th>different</th><th>left ms</th><th>right ms</th></tr></thead>\n".to_owned();
        for (operation, counts) in &self.operations {
            let class = if counts.different > 0 {
                "different"
            } else if counts.declared > 0 {
                "declared"
            } else {
                "equal"
            };
            table += &format!(
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
        table + "</table>\n"
    }
}

fn one_in_html(compared: &Compared) -> String {
    let class = if compared.verdict == Verdict::Different { "different" } else { "declared" };
    let paths: Vec<String> = compared.differences.iter().map(|one| escape(&one.path)).collect();
    format!(
        "<details class=\"case {class}\"><summary><span class=\"badge {class}\">{}</span> <code>{}</code> {} <code>{}</code></summary>\n{}</details>\n",
        word(compared.verdict),
        escape(&compared.request.operation),
        escape(&compared.request.name),
        paths.join(", "),
        in_full(compared)
    )
}

/// Every difference of an answer, and both sides of it.
fn in_full(compared: &Compared) -> String {
    let row = |difference: &Difference| {
        let cell = |value: &Option<serde_json::Value>| escape(&shortened(value.as_ref(), 600));
        let why = match (&difference.reason, &difference.follows) {
            (Some(reason), _) => escape(reason),
            (None, Some(cause)) => format!("follows from <code>{}</code>", escape(cause)),
            (None, None) => String::new(),
        };
        format!(
            "<tr><th><code>{}</code></th><td>{}</td><td><code>{}</code></td><td><code>{}</code></td><td>{why}</td></tr>\n",
            escape(&difference.path),
            escape(json!(difference.kind).as_str().unwrap_or_default()),
            cell(&difference.left),
            cell(&difference.right),
        )
    };
    let rows: String = compared.differences.iter().map(row).collect();
    format!(
        "<div class=\"wide\"><table class=\"differences\"><thead><tr><th>path</th><th>kind</th><th>left</th><th>right</th><th>why</th></tr></thead>\n{rows}</table></div>\n<div class=\"pair\">{}{}</div>",
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
