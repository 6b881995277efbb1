//! Every operation of the documents, asked in every way that the documents let one think of: valid and broken.
//!
//! Owns: which cases there are, and records to ask them of. On one company it finds records and rehearses; on twins it
//! makes what it needs, draft and posted, and lets every action happen.

use crate::dialect::{CompanyIn, LOGIN, Operation};
use crate::difference::{Difference, Kind, Verdict};
use crate::neutral::Neutral;
use crate::pair::{Compared, Exchange, Pair};
use serde_json::{Map, Value, json};
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
            if let Some(tag) = compared.left.answer.as_ref().and_then(|answer| answer.header("etag")) {
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

    async fn writing(&mut self, operation: &Operation) {
        if operation.names_record() {
            self.unknown_records(operation).await;
        }
        if let Some(body) = &operation.body {
            self.broken_texts(operation, &body.schema).await;
        }
        // What is everybody's own is confirmed with a password, and guessing locks its owner out.
        if operation.permission.is_none() && operation.company == CompanyIn::Nowhere {
            return;
        }
        if operation.names_record() {
            let mut worked = false;
            for (variant, id) in self.subjects(operation).await {
                let bodies = self.bodies(operation, &id).await;
                if variant == 0 {
                    for (name, body) in self.broken_together(operation) {
                        self.spread(&Neutral::of(&operation.id).named(&name).on(&id).with(body)).await;
                    }
                    let ask = Neutral::of(&operation.id).on(&id).header("If-Match", &format!("\"{NOBODY}-9\""));
                    self.spread(&with(
                        ask.named("somebody else was faster"),
                        bodies.first().and_then(|(_, body)| body.clone()),
                    ))
                    .await;
                    self.spread(&Neutral::of(&operation.id).on(&id).named("rehearsed").asking("dryRun", "true")).await;
                    self.spread(
                        &Neutral::of(&operation.id)
                            .on(&id)
                            .named("a key too long")
                            .header("Idempotency-Key", &"k".repeat(256)),
                    )
                    .await;
                }
                for (name, body) in bodies {
                    let done = self.compare(&with(Neutral::of(&operation.id).named(&name).on(&id), body)).await;
                    worked |= done.status().is_some_and(|status| status < 300);
                }
            }
            if !worked && self.pair.is_on_twins() {
                self.after_others(operation).await;
            }
        } else if let Some(body) = &operation.body {
            let valid = self.create(operation).await;
            let schema = self.pair.left.dialect.resolve(&body.schema).clone();
            for (name, broken) in self.broken_bodies(&schema, &valid, "") {
                self.spread(&Neutral::of(&operation.id).named(&name).with(broken)).await;
            }
            for (name, broken) in self.broken_together(operation) {
                self.spread(&Neutral::of(&operation.id).named(&name).with(broken)).await;
            }
            self.spread(
                &Neutral::of(&operation.id).named("rehearsed maybe").with(valid.clone()).asking("dryRun", "maybe"),
            )
            .await;
            self.spread(
                &Neutral::of(&operation.id)
                    .named("a key too long")
                    .with(valid)
                    .header("Idempotency-Key", &"k".repeat(256)),
            )
            .await;
        } else {
            self.compare(&Neutral::of(&operation.id)).await;
        }
    }

    /// An action that no fresh record allows, tried after each other action: what is closed can be reopened.
    async fn after_others(&mut self, operation: &Operation) {
        let all = self.pair.left.dialect.operations.values();
        let stem = operation.stem().to_owned();
        let is_other = |one: &&Operation| {
            one.stem() == stem && one.method == "POST" && one.names_record() && one.id != operation.id
        };
        let others: Vec<String> = all.filter(is_other).map(|one| one.id.clone()).collect();
        for other in others {
            let Some((_, id)) = self.subjects(operation).await.pop() else { return };
            self.compare(&Neutral::of(&other).named(&format!("before {}", operation.id)).on(&id)).await;
            let done = self.compare(&Neutral::of(&operation.id).named(&format!("after {other}")).on(&id)).await;
            if done.status().is_some_and(|status| status < 300) {
                return;
            }
        }
    }

    /// Makes a record, trying other records to refer to where the first do not do. The body that did.
    async fn create(&mut self, operation: &Operation) -> Value {
        let mut body = Value::Null;
        for attempt in 0..ATTEMPTS {
            body = self.valid_body(operation, attempt).await;
            let name = if attempt == 0 {
                "as the example says".to_owned()
            } else {
                format!("as the example says, attempt {}", attempt + 1)
            };
            let compared = self.compare(&Neutral::of(&operation.id).named(&name).with(body.clone())).await;
            if compared.status().is_some_and(|status| status < 300) {
                self.keep(operation.stem(), &compared);
                break;
            }
        }
        for (name, changes) in self.choices(operation) {
            let mut other = self.valid_body(operation, 0).await;
            if let Some(members) = other.as_object_mut() {
                members.extend(changes);
            }
            let compared = self.compare(&Neutral::of(&operation.id).named(&name).with(other)).await;
            if compared.status().is_some_and(|status| status < 300) {
                self.keep(operation.stem(), &compared);
                // Who may both buy and sell is of the most use to what comes later.
                if name == EVERY_SWITCH
                    && let Some(records) = self.records.get_mut(operation.stem())
                {
                    records.rotate_right(1);
                }
            }
        }
        body
    }

    fn keep(&mut self, stem: &str, compared: &Compared) {
        if self.pair.is_on_twins()
            && compared.data()["id"].is_string()
            && compared.request.query.get("dryRun").is_none()
        {
            self.records.entry(stem.to_owned()).or_default().push(compared.data().clone());
        }
    }

    /// Other valid bodies: every switch on, and each member that chooses between a few words with each of them.
    fn choices(&self, operation: &Operation) -> Vec<(String, Map<String, Value>)> {
        let Some(body) = &operation.body else { return Vec::new() };
        let dialect = &self.pair.left.dialect;
        let schema = dialect.resolve(&body.schema);
        let mut choices = Vec::new();
        let mut switches = Map::new();
        for (name, said) in schema["properties"].as_object().into_iter().flatten() {
            let said = dialect.resolve(said);
            if said["type"] == "boolean" {
                switches.insert(name.clone(), true.into());
            }
            for word in said["enum"].as_array().into_iter().flatten().take(6) {
                let change = Map::from_iter([(name.clone(), word.clone())]);
                choices.push((format!("{name} {}", word.as_str().unwrap_or_default()), change));
            }
        }
        if !switches.is_empty() {
            choices.insert(0, (EVERY_SWITCH.to_owned(), switches));
        }
        choices
    }

    fn statuses(&self, schema: &Value) -> Vec<String> {
        let dialect = &self.pair.left.dialect;
        let said = &dialect.resolve(schema)["properties"]["status"];
        let words = dialect.resolve(said)["enum"].as_array().into_iter().flatten();
        words.filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// The example, with identifiers of this company and values that nobody has taken.
    async fn valid_body(&mut self, operation: &Operation, attempt: usize) -> Value {
        let Some(body) = &operation.body else { return Value::Null };
        self.made += 1;
        let mut value = if body.example.is_object() { body.example.clone() } else { json!({}) };
        self.fit(&mut value, operation.stem(), attempt).await;
        let turn = self.made;
        if let Some(members) = value.as_object_mut() {
            for (name, member) in members.iter_mut() {
                let Some(text) = member.as_str() else { continue };
                let fresh = match name.as_str() {
                    "code" => format!("X-{turn}"),
                    "name" | "username" => {
                        format!("{text} {turn}").replace(' ', if name == "name" { " " } else { "-" })
                    }
                    "email" => format!("{turn}-{text}"),
                    "pattern" => format!("C{turn}-{text}"),
                    "number" | "externalId" => format!("{text}-{turn}"),
                    "start" | "end" => format!("{}{}", 2100 + turn, &text[text.len().min(4)..]),
                    "date" if attempt > 1 => format!("{}{}", 2100 + turn, &text[text.len().min(4)..]),
                    _ => continue,
                };
                *member = fresh.into();
            }
        }
        value
    }

    /// Puts records of this company where the example names its own.
    async fn fit(&mut self, value: &mut Value, stem: &str, attempt: usize) {
        let mut wanted: Vec<(String, String)> = Vec::new();
        references(value, "", &mut wanted);
        for (place, (pointer, name)) in wanted.into_iter().enumerate() {
            let id = if name == "businessId" {
                self.pair.left.business.clone()
            } else {
                match self.refers_to(&name, stem) {
                    // Lines of one body are of different accounts.
                    Some(stem) => self.an_id(&stem, attempt + if stem == "accounts" { place } else { 0 }).await,
                    None => None,
                }
            };
            if let (Some(id), Some(member)) = (id, value.pointer_mut(&pointer)) {
                *member = id.into();
            }
        }
    }

    /// The resource of which a member names a record.
    fn refers_to(&self, name: &str, own: &str) -> Option<String> {
        let known = match name {
            "sourceId" => Some("receipts"),
            "targetId" if matches!(own, "payments" | "debitNotes") => Some("purchaseInvoices"),
            "targetId" | "documentId" => Some("salesInvoices"),
            "parentId" => Some(own),
            "seriesId" => Some("numberSeries"),
            _ => None,
        };
        if let Some(stem) = known.filter(|stem| !stem.is_empty()) {
            return Some(stem.to_owned());
        }
        let noun = name.strip_suffix("Ids").or_else(|| name.strip_suffix("Id"))?.to_lowercase();
        let stems = self.pair.left.dialect.operations.values().filter_map(|one| one.id.strip_suffix("List"));
        let singular = |stem: &str| match stem.strip_suffix("ies") {
            Some(stem) => format!("{}y", stem.to_lowercase()),
            None => stem.strip_suffix('s').unwrap_or(stem).to_lowercase(),
        };
        let fitting = stems.filter(|stem| noun.ends_with(&singular(stem)));
        fitting.max_by_key(|stem| stem.len()).map(str::to_owned)
    }

    async fn an_id(&mut self, stem: &str, place: usize) -> Option<String> {
        let records = self.records_of(stem).await;
        let record = records.get(place % records.len().max(1))?;
        record["id"].as_str().map(str::to_owned)
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

    /// Bodies for a write on a record: what was read, what was read with a change, the example.
    async fn bodies(&mut self, operation: &Operation, id: &str) -> Vec<(String, Option<Value>)> {
        if operation.body.is_none() {
            return vec![(String::new(), None)];
        }
        let mut bodies = Vec::new();
        if operation.method == "PUT" {
            let read = self.compare(&Neutral::of(&format!("{}Get", operation.stem())).on(id)).await;
            if read.data().is_object() {
                let record = read.data().clone();
                let mut changed = record.clone();
                for name in ["name", "narration", "displayName", "reason"] {
                    if changed.get(name).is_some() {
                        changed[name] = format!("Changed {}", self.made).into();
                    }
                }
                bodies.push(("as it was read".to_owned(), Some(record)));
                bodies.push(("as it was read, changed".to_owned(), Some(changed)));
            }
        } else if operation.body.as_ref().is_some_and(|body| !body.required) {
            bodies.push(("without a body".to_owned(), None));
        }
        bodies.push(("as the example says".to_owned(), Some(self.valid_body(operation, 0).await)));
        bodies
    }

    async fn broken_texts(&mut self, operation: &Operation, schema: &Value) {
        let ask = |name: &str| {
            let neutral = Neutral::of(&operation.id).named(name);
            if operation.names_record() { neutral.on(NOBODY) } else { neutral }
        };
        // A member that both know: who logs in is called differently.
        let in_left = self.pair.left.dialect.resolve(schema);
        let of_right = self.pair.right.dialect.operation(&operation.id).ok().and_then(|one| one.body.as_ref());
        let in_right = of_right.map_or(in_left, |body| self.pair.right.dialect.resolve(&body.schema));
        let mut members = in_left["properties"].as_object().into_iter().flatten().map(|(name, _)| name);
        let first =
            members.find(|name| in_right["properties"].get(name.as_str()).is_some()).cloned().unwrap_or_default();
        for (name, text) in [
            ("no JSON", "{\"a\": ".to_owned()),
            ("nothing", String::new()),
            ("a list", "[]".to_owned()),
            ("null", "null".to_owned()),
            ("an empty body", "{}".to_owned()),
            ("an unknown member", "{\"nonsense\": 1}".to_owned()),
            ("a member twice", format!("{{\"{first}\": 1, \"{first}\": 2}}")),
            ("a zero letter", format!("{{\"{first}\": \"a\\u0000b\"}}")),
            ("half a letter", format!("{{\"{first}\": \"\\ud800\"}}")),
        ] {
            self.spread(&Neutral { text: Some(text), ..ask(name) }).await;
        }
        let typed = Neutral { text: Some("{}".into()), ..ask("another type of content") };
        self.spread(&typed.header("Content-Type", "text/plain")).await;
    }

    /// Bodies in which every member is wrong at once.
    fn broken_together(&self, operation: &Operation) -> Vec<(String, Value)> {
        let Some(body) = &operation.body else { return Vec::new() };
        let dialect = &self.pair.left.dialect;
        let schema = dialect.resolve(&body.schema);
        let Some(members) = schema["properties"].as_object() else { return Vec::new() };
        let every = |value: &dyn Fn(&Value) -> Option<Value>| {
            let broken = members.iter().filter_map(|(name, said)| Some((name.clone(), value(dialect.resolve(said))?)));
            Value::Object(broken.collect::<Map<_, _>>())
        };
        vec![
            ("every member of another type".to_owned(), every(&|said| Some(of_another_type(said)))),
            ("every member null".to_owned(), every(&|_| Some(Value::Null))),
            ("every member beyond its bounds".to_owned(), every(&|said| beyond(said).into_iter().next())),
        ]
    }

    /// A valid body with one fault, for each fault that the schema lets one think of.
    fn broken_bodies(&self, schema: &Value, valid: &Value, above: &str) -> Vec<(String, Value)> {
        let dialect = &self.pair.left.dialect;
        let mut broken = Vec::new();
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (name, said) in schema["properties"].as_object().into_iter().flatten() {
            let said = dialect.resolve(said);
            let mut change = |what: &str, value: Option<Value>| {
                let mut body = valid.clone();
                if let Some(value) = value {
                    body[name] = value;
                } else {
                    let members = body.as_object_mut();
                    members.and_then(|members| members.shift_remove(name));
                }
                broken.push((format!("{above}{name} {what}"), body));
            };
            if required.contains(&name.as_str()) {
                change("missing", None);
                change("null", Some(Value::Null));
            }
            change("of another type", Some(of_another_type(said)));
            for value in beyond(said) {
                change("beyond its bounds", Some(value));
            }
            let element = dialect.resolve(&said["items"]);
            if said["type"] == "array" && element["properties"].is_object() && above.is_empty() {
                let first = valid[name].get(0).cloned().unwrap_or_else(|| json!({}));
                for (what, element) in self.broken_bodies(element, &first, &format!("{name}[0].")) {
                    let mut body = valid.clone();
                    body[name] = json!([element]);
                    broken.push((what, body));
                }
            }
        }
        broken
    }
}

fn with(neutral: Neutral, body: Option<Value>) -> Neutral {
    Neutral { body, ..neutral }
}

/// Where a body names records, with the name of the member.
fn references(value: &Value, above: &str, found: &mut Vec<(String, String)>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let at = format!("{above}/{name}");
                match member {
                    Value::String(_) if name.ends_with("Id") => found.push((at, name.clone())),
                    Value::Array(elements) if name.ends_with("Ids") => {
                        found.extend((0..elements.len()).map(|place| (format!("{at}/{place}"), name.clone())));
                    }
                    _ => references(member, &at, found),
                }
            }
        }
        Value::Array(elements) => {
            for (place, element) in elements.iter().enumerate() {
                references(element, &format!("{above}/{place}"), found);
            }
        }
        _ => {}
    }
}

fn of_another_type(said: &Value) -> Value {
    match said["type"].as_str().unwrap_or_default() {
        "string" | "array" => json!({"x": 1}),
        "object" => json!([1]),
        "boolean" => json!("maybe"),
        _ => json!("x1"),
    }
}

/// Values of the right type that the schema does not allow.
fn beyond(said: &Value) -> Vec<Value> {
    let mut values = Vec::new();
    match said["type"].as_str().unwrap_or_default() {
        "string" => {
            if said["enum"].is_array() || said["pattern"].is_string() {
                values.push(json!("nonsense"));
            }
            if matches!(said["format"].as_str(), Some("date" | "date-time")) {
                values.push(json!("2026-02-30"));
            }
            let longest = said["maxLength"].as_u64().and_then(|longest| usize::try_from(longest).ok());
            values.extend(
                longest.filter(|longest| *longest < 10_000).map(|longest| Value::from("x".repeat(longest + 1))),
            );
            if values.is_empty() {
                values.push(json!("nonsense"));
            }
            values.push(json!(""));
        }
        "number" | "integer" => {
            for text in ["-1", "0", "0.123456789012345", "99999999999999999999999999", "1e400"] {
                values.extend(serde_json::from_str::<Value>(text).ok());
            }
        }
        "array" => values.push(json!([])),
        _ => {}
    }
    values
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
