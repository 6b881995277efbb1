//! Every operation of the documents, asked in every way that the documents let one think of: valid and broken.
//!
//! Owns: which cases there are, and records to ask them of. On one company it finds records and rehearses; on twins it
//! makes what it needs, draft and posted, and lets every action happen.

mod bodies;
mod writing;

use crate::dialect::{CompanyIn, LOGIN, Operation};
use crate::difference::{Difference, Kind, Verdict};
use crate::neutral::Neutral;
use crate::pair::{Compared, Exchange, Pair};
use serde_json::Value;
use std::collections::HashMap;

const EVERY_SWITCH: &str = "every switch on";
const TELLS_OF_DIALECTS: &str = "dialectUsage";

/// An identifier that no record has.
const NOBODY: &str = "01234567-89ab-7def-8123-456789abcdef";

/// How far the exploration is.
pub struct Step<'c> {
    pub operation: usize,
    pub of: usize,
    pub compared: &'c Compared,
}

/// One of the parts that an exploration can be asked in. What operations need in order to succeed is in each of them;
/// everything else, of which there is far more, is in one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Counted from zero.
    number: usize,
    of: usize,
}

impl Part {
    pub const ALL: Self = Self { number: 0, of: 1 };

    fn has(self, place: usize) -> bool {
        place % self.of == self.number
    }
}

impl std::str::FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |text: &str| text.parse::<usize>().ok().filter(|number| (1..=1000).contains(number));
        let part = text.split_once('/').and_then(|(part, of)| Some((number(part)?, number(of)?)));
        match part {
            Some((part, of)) if part <= of => Ok(Self { number: part - 1, of }),
            _ => Err("must be such as 1/3, the first of three parts".to_owned()),
        }
    }
}

/// Asks everything, or a part of it; `tell` hears of each comparison.
pub async fn explore(pair: &mut Pair, operations: &[String], part: Part, tell: &mut (dyn FnMut(Step<'_>) + Send)) {
    let left: Vec<Operation> = pair.left.dialect.operations.values().cloned().collect();
    let wanted = |id: &str| operations.is_empty() || operations.iter().any(|name| id.starts_with(name.as_str()));
    let known_right = |id: &str| pair.right.dialect.operations.contains_key(id);
    let missing_left =
        pair.right.dialect.operations.keys().filter(|id| !pair.left.dialect.operations.contains_key(*id));
    let mut missing: Vec<(String, Kind)> = missing_left.map(|id| (id.clone(), Kind::OnlyRight)).collect();
    missing.extend(left.iter().filter(|one| !known_right(&one.id)).map(|one| (one.id.clone(), Kind::OnlyLeft)));
    missing.retain(|(id, _)| wanted(id));
    let left: Vec<Operation> = left.into_iter().filter(|one| wanted(&one.id) && known_right(&one.id)).collect();
    let mut explorer = Explorer { at: (0, left.len()), part, ..Explorer::new(pair, tell) };
    for (id, kind) in missing {
        explorer.is_missing(&id, kind);
    }
    if explorer.pair.is_on_twins() {
        // Something of everything first, so that there is stock to deliver and an invoice to pay.
        for operation in left.iter().filter(|one| one.id.ends_with("Create") && one.company != CompanyIn::Nowhere) {
            if !explorer.records.contains_key(operation.stem()) {
                explorer.create(operation).await;
            }
        }
    }
    for (place, operation) in left.iter().enumerate() {
        explorer.at.0 = place;
        // On twins each side speaks its own dialect, and that is what it tells of.
        if !(explorer.pair.is_on_twins() && operation.stem() == TELLS_OF_DIALECTS) {
            explorer.operation(operation).await;
        }
    }
    explorer.at.0 = left.len();
}

/// A body for an operation that fits the company: the record itself where one is replaced, else the example with
/// identifiers that it knows.
pub async fn example(pair: &mut Pair, operation: &str, id: Option<&str>) -> Value {
    let Ok(operation) = pair.left.dialect.operation(operation).cloned() else { return Value::Null };
    let mut tell = |_: Step<'_>| {};
    let mut explorer = Explorer::new(pair, &mut tell);
    if let (Some(id), "PUT") = (id, operation.method.as_str()) {
        let read = explorer.compare(&Neutral::of(&format!("{}Get", operation.stem())).on(id)).await;
        if read.data().is_object() {
            return read.data().clone();
        }
    }
    let mut body = Value::Null;
    for attempt in 0..ATTEMPTS {
        body = explorer.valid_body(&operation, attempt).await;
        let neutral = Neutral { id: id.map(str::to_owned), ..Neutral::of(&operation.id).with(body.clone()) };
        if explorer.compare(&neutral.asking("dryRun", "true")).await.status().is_some_and(|status| status < 300) {
            break;
        }
    }
    body
}

fn tag_of(exchange: &Exchange) -> Option<&str> {
    exchange.answer.as_ref().and_then(|answer| answer.header("etag"))
}

/// How many records are tried that a body could refer to.
const ATTEMPTS: usize = 4;

struct Explorer<'p, 't> {
    pair: &'p mut Pair,
    tell: &'t mut (dyn FnMut(Step<'_>) + Send),
    at: (usize, usize),
    /// Records by the resource that they are of, as the left side shows them.
    records: HashMap<String, Vec<Value>>,
    made: u32,
    /// How deep records are made that other records need.
    depth: u32,
    part: Part,
    /// How many requests of an operation were spread over the parts.
    spread: usize,
}

impl<'p, 't> Explorer<'p, 't> {
    fn new(pair: &'p mut Pair, tell: &'t mut (dyn FnMut(Step<'_>) + Send)) -> Self {
        let records = HashMap::new();
        Self { pair, tell, at: (0, 1), records, made: 0, depth: 0, part: Part::ALL, spread: 0 }
    }

    async fn compare(&mut self, neutral: &Neutral) -> Compared {
        let compared = self.pair.compare(neutral).await;
        (self.tell)(Step { operation: self.at.0, of: self.at.1, compared: &compared });
        compared
    }

    /// One of the requests that nothing else waits for: asked if it is in this part.
    async fn spread(&mut self, neutral: &Neutral) {
        self.spread += 1;
        if self.part.has(self.spread - 1) {
            self.compare(neutral).await;
        }
    }

    fn is_missing(&mut self, id: &str, kind: Kind) {
        let (left, right) = if kind == Kind::OnlyLeft { (Some(id.into()), None) } else { (None, Some(id.into())) };
        let mut differences = vec![Difference::new("operation", kind, left, right)];
        crate::difference::declare(&mut differences, id, &mut self.pair.declared);
        let compared = Compared {
            request: Neutral::of(id).named("only one side knows it"),
            family: id.to_owned(),
            verdict: Verdict::of(&differences),
            differences,
            noise: Vec::new(),
            left: Exchange::default(),
            right: Exchange::default(),
            meaning: None,
        };
        (self.tell)(Step { operation: 0, of: self.at.1, compared: &compared });
    }

    async fn operation(&mut self, operation: &Operation) {
        self.spread = 0;
        self.strangers(operation).await;
        if operation.writes() || operation.id == LOGIN {
            self.writing(operation).await;
        } else {
            self.reading(operation).await;
        }
    }

    /// Those who may not ask, and companies that there are not.
    async fn strangers(&mut self, operation: &Operation) {
        if operation.id == LOGIN {
            return;
        }
        let ask = |name: &str| {
            let neutral = Neutral::of(&operation.id).named(name);
            if operation.names_record() { neutral.on(NOBODY) } else { neutral }
        };
        for (name, authorization) in [
            ("without a token", ""),
            ("with a token that is none", "Bearer x.y.z"),
            ("with another scheme", "Basic eDp5"),
        ] {
            let neutral = Neutral { authorization: Some(authorization.into()), ..ask(name) };
            self.spread(&neutral).await;
        }
        if operation.company != CompanyIn::Nowhere {
            for (name, business) in
                [("of a company that is not there", NOBODY), ("of no company's identifier", "nonsense")]
            {
                let neutral = Neutral { business: Some(business.into()), ..ask(name) };
                self.spread(&neutral).await;
            }
        }
    }

    async fn reading(&mut self, operation: &Operation) {
        let asked: Vec<Neutral> = if operation.names_record() {
            self.unknown_records(operation).await;
            let ids = self.some_ids(operation.stem()).await;
            ids.iter().map(|id| Neutral::of(&operation.id).on(id)).collect()
        } else {
            vec![self.sensible(operation).await]
        };
        for (place, neutral) in asked.iter().enumerate() {
            let compared = self.compare(neutral).await;
            // Where one side has none, the other's says nothing to it.
            if let (Some(tag), Some(_)) = (tag_of(&compared.left), tag_of(&compared.right)) {
                let again = neutral.clone().named("not changed since").header("If-None-Match", tag);
                self.spread(&again).await;
            }
            if place > 0 {
                continue;
            }
            let neutral = neutral.clone();
            for parameter in &operation.query {
                for value in self.answers_to(&parameter.name, &parameter.schema).await {
                    let mut asked = neutral.clone().named(&format!("{}={value}", parameter.name));
                    asked.query.set(&parameter.name, &value);
                    self.spread(&asked).await;
                }
                let twice = neutral.clone().named(&format!("{} twice", parameter.name));
                self.spread(&twice.asking(&parameter.name, "1").asking(&parameter.name, "2")).await;
            }
            self.spread(&neutral.clone().named("an unknown parameter").asking("nonsense", "1")).await;
            if operation.takes("page") {
                self.spread(&neutral.clone().named("a page past the end").asking("page", "9999")).await;
                self.spread(&neutral.named("small pages").asking("pageSize", "1").asking("page", "2")).await;
            }
        }
    }

    /// The operation with what it must be told.
    async fn sensible(&mut self, operation: &Operation) -> Neutral {
        let mut neutral = Neutral::of(&operation.id);
        for parameter in &operation.query {
            if parameter.required
                && let Some(stem) = self.refers_to(&parameter.name, operation.stem())
                && let Some(id) = self.an_id(&stem, 0).await
            {
                neutral.query.set(&parameter.name, &id);
            }
        }
        neutral
    }

    async fn unknown_records(&mut self, operation: &Operation) {
        for (name, id) in
            [("a record that is not there", NOBODY), ("no identifier", "nonsense"), ("an odd identifier", "ä/?")]
        {
            let neutral = Neutral::of(&operation.id).named(name).on(id);
            let neutral = match &operation.body {
                Some(body) => neutral.with(body.example.clone()),
                None => neutral,
            };
            self.spread(&neutral).await;
        }
    }

    /// Values for a parameter: such as its schema allows, and such as it does not.
    async fn answers_to(&mut self, name: &str, schema: &Value) -> Vec<String> {
        let schema = self.pair.left.dialect.resolve(schema).clone();
        let element = if schema["type"] == "array" {
            self.pair.left.dialect.resolve(&schema["items"]).clone()
        } else {
            schema.clone()
        };
        let mut values: Vec<String> =
            element["enum"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
        if schema["type"] == "array" && values.len() > 1 {
            values.push(values.join(","));
        }
        if name == "sort" {
            let pattern = schema["pattern"].as_str().unwrap_or_default();
            let names = pattern.split(['(', ')']).nth(1).unwrap_or_default();
            values.extend(
                names.split('|').filter(|name| !name.is_empty()).flat_map(|name| [name.to_owned(), format!("-{name}")]),
            );
        }
        if let Some(stem) = self.refers_to(name, "") {
            values.extend(self.an_id(&stem, 0).await);
            values.push(NOBODY.into());
        }
        let more: &[&str] =
            match (element["type"].as_str().unwrap_or_default(), element["format"].as_str().unwrap_or_default()) {
                ("boolean", _) => &["true", "false", "maybe", ""],
                ("integer", _) => &["1", "2", "0", "-1", "501", "x", "1.5", "99999999999999999999"],
                ("number", _) => &["1", "0.01", "-1", "x", "1e3"],
                ("string", "date") => &["2026-06-30", "2026-02-30", "yesterday"],
                ("string", "date-time") => &["2026-06-30T00:00:00Z", "2026-06-30", "x"],
                _ => &["a", "nonsense b", "%", ""],
            };
        values.extend(more.iter().map(ToString::to_string));
        values
    }

    /// Records of a resource, looked for once; on twins made where there are none.
    async fn records_of(&mut self, stem: &str) -> Vec<Value> {
        if let Some(known) = self.records.get(stem).filter(|known| !known.is_empty()) {
            return known.clone();
        }
        // Both sides are asked, so that it is known what stands for what.
        let list = Neutral::of(&format!("{stem}List")).named("records to ask about").asking("pageSize", "50");
        let found = self.compare(&list).await;
        let found: Vec<Value> = found.data()["items"].as_array().cloned().unwrap_or_default();
        if found.is_empty() && self.pair.is_on_twins() && self.depth < 3 {
            let create = self.pair.left.dialect.operation(&format!("{stem}Create")).cloned();
            if let Ok(create) = create {
                self.depth += 1;
                Box::pin(self.create(&create)).await;
                self.depth -= 1;
                return self.records.get(stem).cloned().unwrap_or_default();
            }
        }
        self.records.insert(stem.to_owned(), found.clone());
        found
    }

    /// A few records that differ in their status.
    async fn some_ids(&mut self, stem: &str) -> Vec<String> {
        let mut seen: Vec<(Value, String)> = Vec::new();
        for record in self.records_of(stem).await.iter().rev() {
            let Some(id) = record["id"].as_str() else { continue };
            if seen.len() < 3 && !seen.iter().any(|(status, _)| *status == record["status"]) {
                seen.push((record["status"].clone(), id.to_owned()));
            }
        }
        seen.into_iter().map(|(_, id)| id).collect()
    }

    /// Records that a write can be tried on, each with its turn. On twins they are made for it, draft and posted.
    async fn subjects(&mut self, operation: &Operation) -> Vec<(usize, String)> {
        let stem = operation.stem().to_owned();
        let create = self.pair.left.dialect.operation(&format!("{stem}Create")).cloned();
        let Ok(create) = create else { return self.some_ids(&stem).await.into_iter().enumerate().collect() };
        if !self.pair.is_on_twins() || create.company == CompanyIn::Nowhere {
            return self.some_ids(&stem).await.into_iter().enumerate().collect();
        }
        let statuses = create.body.as_ref().map(|body| self.statuses(&body.schema)).unwrap_or_default();
        let wanted: Vec<&str> =
            if statuses.iter().any(|status| status == "draft") { vec!["draft", "posted"] } else { vec![""] };
        let mut subjects = Vec::new();
        for status in wanted {
            for attempt in 0..3 {
                let mut body = self.valid_body(&create, attempt).await;
                if !status.is_empty() {
                    body["status"] = status.into();
                }
                let made =
                    self.compare(&Neutral::of(&create.id).named(&format!("for {}", operation.id)).with(body)).await;
                if let (Some(200..300), Some(id)) = (made.status(), made.data()["id"].as_str()) {
                    subjects.push((subjects.len(), id.to_owned()));
                    break;
                }
            }
        }
        if subjects.is_empty() {
            subjects = self.some_ids(&stem).await.into_iter().enumerate().collect();
        }
        subjects
    }
}

#[cfg(test)]
mod tests {
    use super::Part;

    #[test]
    fn parts_together_are_everything_once() {
        let parts: Vec<Part> = ["1/3", "2/3", "3/3"].iter().map(|text| text.parse().unwrap()).collect();
        for place in 0..20 {
            assert_eq!(parts.iter().filter(|part| part.has(place)).count(), 1);
            assert!(Part::ALL.has(place));
        }
        for text in ["", "3", "0/3", "4/3", "1/0", "-1/3", "1/x", "1/1001"] {
            assert!(text.parse::<Part>().is_err(), "{text}");
        }
    }
}
