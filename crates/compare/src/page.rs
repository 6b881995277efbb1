//! The page that compares in a browser: its assets, and what it is told of the operations.

use crate::dialect::{CompanyIn, Dialect, LOGIN};
use serde_json::{Value, json};

pub const BODY: &str = include_str!("../assets/compare.html");
/// The German stands before what says it.
pub const SCRIPT: &str = concat!(include_str!("../assets/compare-german.js"), include_str!("../assets/compare.js"));
/// What is its own beside the style of all pages.
pub const STYLE: &str = concat!(
    include_str!("../assets/served.css"),
    include_str!("../assets/parts.css"),
    include_str!("../assets/compare.css")
);
/// The style of the page about moving a client.
pub const GUIDE_STYLE: &str = concat!(
    include_str!("../assets/served.css"),
    include_str!("../assets/parts.css"),
    include_str!("../assets/guide.css")
);

/// The operations that both sides know, as the page offers them.
pub fn operations(left: &Dialect, right: &Dialect) -> Value {
    let known = left.operations.values().filter(|one| one.id != LOGIN && right.operations.contains_key(&one.id));
    known
        .map(|one| {
            let query = one.query.iter().map(|parameter| {
                let schema = left.resolve(&parameter.schema);
                let schema = if schema["type"] == "array" { left.resolve(&schema["items"]) } else { schema };
                let values = match schema["type"].as_str() {
                    Some("boolean") => json!(["true", "false"]),
                    _ => schema.get("enum").cloned().unwrap_or_else(|| json!([])),
                };
                json!({
                    "name": parameter.name,
                    "description": parameter.description,
                    "required": parameter.required,
                    "values": values,
                })
            });
            json!({
                "id": one.id,
                "summary": one.summary,
                "resource": one.stem(),
                "company": one.company != CompanyIn::Nowhere,
                "record": one.names_record(),
                "writes": one.writes(),
                "query": query.collect::<Vec<_>>(),
                "body": one.body.as_ref().map(|body| &body.example),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the page says in English, it says in German.
    #[test]
    fn every_sentence_has_its_german() {
        let german = include_str!("../assets/compare-german.js");
        let is_told = |said: &str| {
            [format!("\n  '{said}': '"), format!("\n  {said}: '")].iter().any(|entry| german.contains(entry.as_str()))
        };
        let parts: Vec<&str> = SCRIPT.split("t('").collect();
        let calls = parts.windows(2).filter(|pair| !pair[0].ends_with(|before: char| before.is_alphanumeric()));
        let said: Vec<&str> = calls.filter_map(|pair| pair[1].split('\'').next()).collect();
        assert!(said.len() > 40, "{said:?}");
        let missing: Vec<&&str> = said.iter().filter(|one| !is_told(one)).collect();
        assert!(missing.is_empty(), "{missing:#?}");
    }
}
