//! A run as `JUnit`'s XML, which every builder reads: a suite for each family, a case for each operation, and a failure
//! for each cause that was found in it.

use crate::findings::Finding;
use indexmap::IndexMap;
use std::fmt::Write;

/// What is told of one operation.
pub(crate) struct Case<'r> {
    pub operation: &'r str,
    pub family: &'r str,
    pub asked: u64,
    pub micros: u64,
}

pub(crate) fn written(
    cases: &[Case<'_>],
    findings: &[Finding],
    example: impl Fn(&Finding) -> String,
    unused: &[String],
) -> String {
    let mut suites: IndexMap<&str, Vec<String>> = IndexMap::new();
    let (mut failed, mut counts) = (0, IndexMap::<&str, u64>::new());
    for case in cases {
        let seen: Vec<&Finding> = findings.iter().filter(|one| one.operations.contains_key(case.operation)).collect();
        let mut written = format!(
            "    <testcase classname=\"{}\" name=\"{}\" assertions=\"{}\" time=\"{}\"",
            escaped(case.family),
            escaped(case.operation),
            case.asked,
            seconds(case.micros)
        );
        if seen.is_empty() {
            written += "/>";
        } else {
            failed += 1;
            *counts.entry(case.family).or_default() += 1;
            // One case has one failure; each cause is a paragraph of it.
            let names: Vec<&str> = seen.iter().map(|one| one.name.as_str()).collect();
            let told: Vec<String> = seen.iter().map(|one| example(one)).collect();
            write!(
                written,
                ">\n      <failure type=\"different\" message=\"{}\">{}</failure>\n    </testcase>",
                escaped(&names.join("; ")),
                escaped(&told.join("\n\n"))
            )
            .unwrap_or_default();
        }
        suites.entry(case.family).or_default().push(written);
    }
    if !unused.is_empty() {
        failed += 1;
        counts.insert("declared", 1);
        let never = escaped(&unused.join("\n"));
        suites.entry("declared").or_default().push(format!(
            "    <testcase classname=\"declared\" name=\"what is declared is seen\">\n      <failure type=\"unused\" message=\"declared, and never seen\">{never}</failure>\n    </testcase>"
        ));
    }
    let total: usize = suites.values().map(Vec::len).sum();
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"duet compare\" tests=\"{total}\" failures=\"{failed}\">\n"
    );
    for (family, cases) in suites {
        let failures = counts.get(family).copied().map_or(0, |count| count);
        write!(
            text,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{failures}\">\n{}\n  </testsuite>\n",
            escaped(family),
            cases.len(),
            cases.join("\n")
        )
        .unwrap_or_default();
    }
    text + "</testsuites>\n"
}

fn seconds(micros: u64) -> String {
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

/// A text as XML has it. What XML has no letter for is told by its number.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\n' => escaped += "&#10;",
            '\t' => escaped += "&#9;",
            letter if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => {
                write!(escaped, "\\u{:04x}", u32::from(letter)).unwrap_or_default();
            }
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_has_no_letter_for_is_told_by_its_number() {
        assert_eq!(escaped("<a b=\"c\">&\u{0}\u{1b}é\n"), "&lt;a b=&quot;c&quot;&gt;&amp;\\u0000\\u001bé&#10;");
        assert_eq!(seconds(1_234_005), "1.234005");
    }
}
