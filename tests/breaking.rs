//! What was released stays: a change of a document that breaks a client which the release served is refused, unless
//! CHANGELOG.md names it.
//!
//! `tests/released/` has the documents of the last release, without their words. A client of then sends what it sent, and
//! understands what it understood: so an answer may say more, and a request may be asked for less. What is named is named by
//! schema and member (`PartyInput.taxNumber`), by operation and parameter (`partiesList.q`), or by the operation alone.

use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const DIALECTS: [&str; 2] = ["dialect-a", "dialect-b"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Who says something: a client, or the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Says {
    Client,
    Server,
}

/// What a schema comes to, with all that it is made of.
#[derive(Debug, Default)]
struct Shape<'d> {
    name: Option<&'d str>,
    kinds: BTreeSet<String>,
    words: Option<BTreeSet<String>>,
    members: BTreeMap<&'d str, &'d Value>,
    required: BTreeSet<&'d str>,
    items: Option<&'d Value>,
    others: Option<&'d Value>,
    variants: Vec<&'d Value>,
    nullable: bool,
}

/// What a reference leads to, and what that is called.
fn resolved<'d>(document: &'d Value, at: &'d Value) -> (&'d Value, Option<&'d str>) {
    let (mut at, mut name) = (at, None);
    while let Some(reference) = at["$ref"].as_str() {
        at = document.pointer(reference.trim_start_matches('#')).unwrap_or_else(|| panic!("{reference} leads nowhere"));
        name = reference.rsplit('/').next();
    }
    (at, name)
}

fn list<'d>(schema: &'d Value, member: &str) -> impl Iterator<Item = &'d Value> + use<'d> {
    schema[member].as_array().into_iter().flatten()
}

fn is_null(schema: &Value) -> bool {
    schema["enum"] == json!([null]) || schema["type"] == "null"
}

impl<'d> Shape<'d> {
    fn of(document: &'d Value, schema: &'d Value) -> Self {
        let mut shape = Self::default();
        shape.take(document, schema);
        shape
    }

    fn take(&mut self, document: &'d Value, schema: &'d Value) {
        let (schema, name) = resolved(document, schema);
        self.name = self.name.or(name);
        self.nullable |= schema["nullable"] == true;
        if let Some(kind) = schema["type"].as_str() {
            let format = schema["format"].as_str().map_or(String::new(), |format| format!(" ({format})"));
            self.kinds.insert(format!("{kind}{format}"));
        }
        let words: BTreeSet<_> = list(schema, "enum").filter_map(Value::as_str).map(str::to_owned).collect();
        if !words.is_empty() {
            self.words = Some(words);
        }
        self.members
            .extend(schema["properties"].as_object().into_iter().flatten().map(|(name, one)| (name.as_str(), one)));
        self.required.extend(list(schema, "required").filter_map(Value::as_str));
        self.items = self.items.or(schema.get("items"));
        self.others = self.others.or(schema.get("additionalProperties").filter(|others| others.is_object()));
        for part in list(schema, "allOf") {
            self.take(document, part);
        }
        let variants: Vec<&Value> = list(schema, "oneOf").chain(list(schema, "anyOf")).collect();
        let some: Vec<&Value> = variants.iter().copied().filter(|one| !is_null(resolved(document, one).0)).collect();
        self.nullable |= some.len() < variants.len();
        match some[..] {
            [] => {}
            // One thing, or nothing.
            [one] => self.take(document, one),
            _ => self.variants.extend(some),
        }
    }

    fn kind(&self) -> String {
        self.kinds.iter().cloned().collect::<Vec<_>>().join(" and ")
    }
}

/// Two documents, and what breaks between them, by what it is called.
struct Between<'d> {
    old: &'d Value,
    new: &'d Value,
    found: BTreeMap<String, BTreeSet<String>>,
    /// What was compared already.
    seen: BTreeSet<(String, String, Says)>,
}

impl<'d> Between<'d> {
    fn breaks(&mut self, name: &str, how: String) {
        self.found.entry(name.to_owned()).or_default().insert(how);
    }

    /// Compares what is called so, where nothing nearer has a name.
    fn schemas(&mut self, name: &str, (old, new): (&'d Value, &'d Value), says: Says) {
        let (old, new) = (Shape::of(self.old, old), Shape::of(self.new, new));
        let called = old.name.or(new.name).unwrap_or(name).to_owned();
        if old.kinds != new.kinds && !old.kinds.is_empty() {
            self.breaks(name, format!("was {}, is {}", old.kind(), new.kind()));
            return;
        }
        match says {
            Says::Client if old.nullable && !new.nullable => self.breaks(name, "may not be null any more".into()),
            Says::Server if !old.nullable && new.nullable => self.breaks(name, "may be null".into()),
            _ => {}
        }
        // What has a name is compared once.
        if let (Some(old), Some(new)) = (old.name, new.name)
            && !self.seen.insert((old.into(), new.into(), says))
        {
            return;
        }
        match (&old.words, &new.words, says) {
            (Some(old), Some(new), Says::Client) => {
                for word in old.difference(new) {
                    self.breaks(&called, format!("`{word}` is not taken any more"));
                }
            }
            (None, Some(_), Says::Client) => self.breaks(&called, "takes certain words alone".into()),
            _ => {}
        }
        for (member, was) in &old.members {
            let name = format!("{called}.{member}");
            let Some(is) = new.members.get(member) else {
                self.breaks(&name, "is gone".into());
                continue;
            };
            let (before, after) = (old.required.contains(member), new.required.contains(member));
            match says {
                Says::Client if !before && after => self.breaks(&name, "is required".into()),
                Says::Server if before && !after => self.breaks(&name, "may be absent".into()),
                _ => {}
            }
            self.schemas(&name, (was, is), says);
        }
        for member in new.required.iter().filter(|one| says == Says::Client && !old.members.contains_key(*one)) {
            self.breaks(&format!("{called}.{member}"), "is new and required".into());
        }
        for (old, new) in [(old.items, new.items), (old.others, new.others)] {
            match (old, new) {
                (Some(old), Some(new)) => self.schemas(name, (old, new), says),
                (Some(_), None) => self.breaks(name, "does not say any more what is in it".into()),
                (None, _) => {}
            }
        }
        let (before, now) = (old.variants.len(), new.variants.len());
        if before == now {
            for (old, new) in old.variants.iter().zip(&new.variants) {
                self.schemas(name, (old, new), says);
            }
        } else if before > now && says == Says::Client || before < now && says == Says::Server {
            self.breaks(name, format!("was one of {before}, is one of {now}"));
        }
    }

    fn parameters(&mut self, operation: &str, (old, new): (&'d Value, &'d Value)) {
        let named = |document: &'d Value, of: &'d Value| -> BTreeMap<String, &'d Value> {
            let all = list(of, "parameters").map(|one| resolved(document, one).0);
            all.map(|one| (format!("{} {}", one["in"], one["name"]), one)).collect()
        };
        let (before, after) = (named(self.old, old), named(self.new, new));
        for (key, was) in &before {
            let name = format!("{operation}.{}", was["name"].as_str().unwrap_or_default());
            let Some(is) = after.get(key) else {
                self.breaks(&name, "is gone".into());
                continue;
            };
            if was["required"] != true && is["required"] == true {
                self.breaks(&name, "is required".into());
            }
            self.schemas(&name, (&was["schema"], &is["schema"]), Says::Client);
        }
        for (_, is) in after.iter().filter(|(key, is)| !before.contains_key(*key) && is["required"] == true) {
            self.breaks(
                &format!("{operation}.{}", is["name"].as_str().unwrap_or_default()),
                "is new and required".into(),
            );
        }
    }

    fn contents(&mut self, operation: &str, (old, new): (&'d Value, &'d Value), says: Says) {
        for (kind, was) in old["content"].as_object().into_iter().flatten() {
            match new["content"].get(kind) {
                Some(is) => self.schemas(operation, (&was["schema"], &is["schema"]), says),
                None => self.breaks(operation, format!("{kind} is gone")),
            }
        }
    }

    fn operations(&mut self) {
        let (old, new) = (self.old, self.new);
        for (path, methods) in old["paths"].as_object().into_iter().flatten() {
            for (method, was) in methods.as_object().into_iter().flatten().filter(|(_, one)| one.is_object()) {
                let operation = was["operationId"].as_str().unwrap_or(path);
                let is = &new["paths"][path][method];
                if !is.is_object() {
                    self.breaks(operation, format!("{} {path} is gone", method.to_uppercase()));
                    continue;
                }
                if is["operationId"] != was["operationId"] {
                    self.breaks(operation, format!("is called {}", is["operationId"]));
                }
                self.parameters(operation, (was, is));
                let (asked, asks) = (&was["requestBody"], &is["requestBody"]);
                if asked["required"] != true && asks["required"] == true {
                    self.breaks(operation, "needs a body".into());
                }
                self.contents(operation, (asked, asks), Says::Client);
                let good = was["responses"].as_object().into_iter().flatten().filter(|(code, _)| code.starts_with('2'));
                for (code, answered) in good {
                    let (answered, answers) = (resolved(old, answered).0, resolved(new, &is["responses"][code]).0);
                    if answers.is_null() {
                        self.breaks(operation, format!("does not answer {code} any more"));
                    } else {
                        self.contents(operation, (answered, answers), Says::Server);
                    }
                }
            }
        }
    }
}

fn broken(old: &Value, new: &Value) -> BTreeMap<String, BTreeSet<String>> {
    let mut between = Between { old, new, found: BTreeMap::new(), seen: BTreeSet::new() };
    between.operations();
    between.found
}

/// A document without what is only for people to read.
fn bare(value: Value) -> Value {
    const WORDS: [&str; 5] = ["description", "summary", "example", "examples", "title"];
    match value {
        Value::Object(members) => {
            // A member of a record may be called like a word of the document.
            let is_word = |name: &str, value: &Value| {
                WORDS.contains(&name) && !(value.is_object() && name != "examples" && name != "example")
            };
            Value::Object(
                members
                    .into_iter()
                    .filter(|(name, one)| !is_word(name, one))
                    .map(|(name, one)| (name, bare(one)))
                    .collect::<Map<_, _>>(),
            )
        }
        Value::Array(items) => Value::Array(items.into_iter().map(bare).collect()),
        other => other,
    }
}

fn pinned(name: &str) -> Value {
    let text = std::fs::read_to_string(root().join(format!("openapi/{name}.json"))).expect("a document");
    serde_json::from_str(&text).expect("a document")
}

fn released(name: &str) -> Value {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("released/{name}.json.zst"));
    if std::env::var_os("UPDATE_RELEASED").is_some() {
        let text = bare(pinned(name)).to_string();
        std::fs::create_dir_all(place.parent().expect("a folder")).unwrap();
        std::fs::write(&place, zstd::encode_all(text.as_bytes(), 19).unwrap()).unwrap();
    }
    let text = zstd::decode_all(&std::fs::read(&place).expect("what was released")[..]).unwrap();
    serde_json::from_slice(&text).unwrap()
}

/// What is not released yet, as the changelog has it.
fn unreleased() -> String {
    let text = std::fs::read_to_string(root().join("CHANGELOG.md")).expect("a changelog");
    let (_, rest) = text.split_once("\n## Unreleased\n").expect("a section of what is not released yet");
    rest.split("\n## ").next().unwrap_or_default().to_owned()
}

/// What breaks and is not named.
fn unnamed(broken: &BTreeMap<String, BTreeSet<String>>, changelog: &str) -> Vec<String> {
    let is_named = |name: &str| changelog.contains(&format!("`{name}`"));
    let told = |(name, how): (&String, &BTreeSet<String>)| {
        format!("{name}: {}", how.iter().cloned().collect::<Vec<_>>().join("; "))
    };
    broken.iter().filter(|(name, _)| !is_named(name)).map(told).collect()
}

#[test]
fn what_was_released_is_served_still_or_the_changelog_says_what_broke() {
    let changelog = unreleased();
    for name in DIALECTS {
        let found = unnamed(&broken(&released(name), &pinned(name)), &changelog);
        assert!(
            found.is_empty(),
            "{name} breaks clients of the last release; keep it as it was, or name it in CHANGELOG.md under Unreleased, in \
             backticks:\n{}",
            found.join("\n")
        );
    }
}

/// Each way to break a client is found, by its name, and nothing that breaks none.
#[test]
fn what_breaks_a_client_is_found_by_its_name() {
    let old = pinned("dialect-b");
    assert_eq!(broken(&old, &old), BTreeMap::new());
    let schema = |name: &str, rest: &str| format!("/components/schemas/{name}{rest}");
    let party = "/paths/~1parties/post";
    let removed = [
        ("/paths/~1parties".into(), "post", "partiesCreate"),
        (schema("PartyInput", "/properties"), "taxNumber", "PartyInput.taxNumber"),
        (schema("Party", "/properties"), "name", "Party.name"),
        (party.into(), "responses", "partiesCreate"),
    ];
    for (place, member, name) in removed {
        let mut new = old.clone();
        let at = new.pointer_mut(&place).and_then(Value::as_object_mut).unwrap_or_else(|| panic!("{place}"));
        assert!(at.remove(member).is_some(), "{place} has no {member}");
        assert!(broken(&old, &new).contains_key(name), "{place}/{member} is gone");
    }
    let changed = [
        (schema("PartyInput", "/properties/name/type"), json!("integer"), "PartyInput.name"),
        (schema("Party", "/properties/name/nullable"), json!(true), "Party.name"),
        (schema("Party", "/properties/version/type"), json!("string"), "Party.version"),
        (schema("PartyInput", "/required"), json!(["name", "notes"]), "PartyInput.notes"),
        (schema("PartyInput", "/properties/wanted"), json!({"type": "string"}), ""),
        (schema("Party", "/properties/more"), json!({"type": "string"}), ""),
        (schema("Party", "/required"), json!([]), "Party.name"),
        (
            format!("{party}/parameters/0"),
            json!({"in": "query", "name": "reason", "required": true, "schema": {"type": "string"}}),
            "partiesCreate.reason",
        ),
        (format!("{party}/operationId"), json!("partyNew"), "partiesCreate"),
    ];
    for (place, value, name) in changed {
        let (parent, member) = place.rsplit_once('/').unwrap();
        let mut new = old.clone();
        match new.pointer_mut(parent).unwrap_or_else(|| panic!("{place}")) {
            Value::Array(items) => items[member.parse::<usize>().unwrap()] = value,
            at => at[member] = value,
        }
        let found = broken(&old, &new);
        assert_eq!(found.contains_key(name), !name.is_empty(), "{place}: {found:?}");
        assert!(!name.is_empty() || found.is_empty(), "{place}: {found:?}");
        // It is let pass where it is named, and by no other name.
        let line = |name: &String| format!("- `{name}` is another.\n");
        let named: String = found.keys().map(line).collect();
        assert_eq!(unnamed(&found, &named), [""; 0]);
        assert_eq!(unnamed(&found, "- `Party` and PartyInput.name changed").len(), found.len());
    }
    // A word that is taken no more breaks whoever sends it; one that is answered no more breaks nobody.
    for (name, breaks) in [("AccountStatus", true), ("AccountClass", false)] {
        let mut new = old.clone();
        let words = new.pointer_mut(&schema(name, "/enum")).and_then(Value::as_array_mut).unwrap();
        let word = words.pop().unwrap();
        assert_eq!(broken(&old, &new).contains_key(name), breaks, "{name} without {word}");
    }
}
