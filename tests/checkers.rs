//! What checks documents has nothing to say of ours: Redocly and Spectral with the rules that they recommend, but for those
//! that `openapi/redocly.yaml` and `openapi/spectral.yaml` switch off, each with its reason.

use crate::generated::{made, root};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const DOCUMENTS: [&str; 3] = ["dialect-a.json", "dialect-b.json", "both.json"];

fn openapi() -> PathBuf {
    root().join("openapi")
}

/// What a checker says, which is JSON.
fn said(checkers: &Path, words: &[&str], documents: &[PathBuf]) -> String {
    let mut command = Command::new(checkers.join("node_modules/.bin").join(words[0]));
    command.args(&words[1..]).args(documents).current_dir(checkers);
    // They ask nobody: neither for what is new nor to tell of their use.
    command.env("REDOCLY_TELEMETRY", "off").env("REDOCLY_SUPPRESS_UPDATE_NOTICE", "true");
    let done = command.output().unwrap_or_else(|error| panic!("{words:?}: {error}"));
    let (said, complaint) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    // One is a finding; more is that it did not look.
    assert!(done.status.code().is_some_and(|code| code < 2) && !said.is_empty(), "{words:?}: {complaint}");
    said.into_owned()
}

/// What Redocly finds, errors and warnings alike.
fn redocly(checkers: &Path, documents: &[PathBuf]) -> Vec<String> {
    let rules = openapi().join("redocly.yaml").display().to_string();
    let text = said(
        checkers,
        &["redocly", "lint", "--config", &rules, "--format", "json", "--max-problems", "1000"],
        documents,
    );
    let mut found = Vec::new();
    let mut looked_at = 0;
    for report in serde_json::Deserializer::from_str(&text).into_iter::<Value>() {
        let report = report.unwrap_or_else(|error| panic!("{error}: {text}"));
        let problems = report["problems"].as_array().expect("what it found").iter();
        found.extend(problems.map(|one| format!("{} {} {}", one["ruleId"], one["message"], one["location"])));
        looked_at += 1;
    }
    assert_eq!(looked_at, documents.len(), "{text}");
    found
}

/// What Spectral finds. Its two rules of examples take two minutes of the processor here, and Redocly's, which are as strict,
/// none: they are left to those, but where `DUET_LINT_LONG=1` asks for them.
fn spectral(checkers: &Path, documents: &[PathBuf]) -> Vec<String> {
    let own = openapi().join("spectral.yaml");
    let rules = checkers.join("without-examples.yaml");
    let off = "rules:\n  oas3-valid-media-example: off\n  oas3-valid-schema-example: off\n";
    fs::write(&rules, format!("extends: [{:?}]\n{off}", own.display().to_string())).expect("a file of rules");
    let is_long = std::env::var("DUET_LINT_LONG").is_ok();
    let rules = if is_long { own } else { rules }.display().to_string();
    let text = said(
        checkers,
        &["spectral", "lint", "--quiet", "--fail-severity", "hint", "--format", "json", "--ruleset", &rules],
        documents,
    );
    let found: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let found = found.as_array().expect("what it found").iter();
    found.map(|one| format!("{} {} {}", one["code"], one["message"], one["path"])).collect()
}

#[test]
fn checkers_find_nothing_in_the_documents() {
    let Some(checkers) = made("checkers") else { return };
    let documents = DOCUMENTS.map(|name| openapi().join(name));
    for found in [redocly(&checkers, &documents), spectral(&checkers, &documents)] {
        assert!(found.is_empty(), "{} of {found:#?}", found.len());
    }
}

/// The eye sees, and what is switched off is all that is.
#[test]
fn checkers_find_what_is_wrong() {
    let Some(checkers) = made("checkers") else { return };
    let good = serde_json::json!({
        "openapi": "3.0.3",
        "info": {"title": "Small", "version": "1", "description": "Small.",
            "license": {"name": "Apache-2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"}},
        "servers": [{"url": "/api"}],
        "tags": [{"name": "Things", "description": "Things."}],
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "paths": {"/things": {"get": {
            "operationId": "thingsList", "summary": "List", "description": "List.", "tags": ["Things"],
            "security": [{"token": []}],
            "responses": {
                "200": {"description": "Good.", "content": {"application/json": {
                    "schema": {"type": "object", "properties": {"id": {"type": "string"}}}, "example": {"id": "a"}}}},
                "400": {"description": "Bad."}
            }
        }}}
    });
    let found = |name: &str, document: &Value| {
        let place = checkers.join(format!("{name}.json"));
        fs::write(&place, document.to_string()).expect("a document");
        let places = [place];
        [redocly(&checkers, &places), spectral(&checkers, &places)]
    };
    assert_eq!(found("good", &good), [Vec::<String>::new(), Vec::new()]);
    let get = "/paths/~1things/get";
    for (name, at, bad, [is_redoclys, is_spectrals]) in [
        ("example", format!("{get}/responses/200/content/application~1json/example"), Value::from(7), [true, false]),
        ("security", format!("{get}/security"), serde_json::json!([{"nobody": []}]), [true, true]),
        ("tags", format!("{get}/tags"), serde_json::json!(["Nothing"]), [false, true]),
        ("license", "/info/license/url".into(), Value::Null, [true, true]),
    ] {
        let mut document = good.clone();
        *document.pointer_mut(&at).expect("a place") = bad;
        let [by_redocly, by_spectral] = found(name, &document);
        assert_eq!(!by_redocly.is_empty(), is_redoclys, "{name}: {by_redocly:?}");
        assert_eq!(!by_spectral.is_empty(), is_spectrals, "{name}: {by_spectral:?}");
    }
}
