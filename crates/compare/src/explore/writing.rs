//! What writes, in an order in which it can.

use super::bodies::with;
use super::{ATTEMPTS, EVERY_SWITCH, Explorer, NOBODY};
use crate::dialect::{CompanyIn, Operation};
use crate::neutral::Neutral;
use crate::pair::Compared;
use serde_json::{Map, Value};

impl Explorer<'_, '_> {
    pub(super) async fn writing(&mut self, operation: &Operation) {
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
    pub(super) async fn create(&mut self, operation: &Operation) -> Value {
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

    pub(super) fn statuses(&self, schema: &Value) -> Vec<String> {
        let dialect = &self.pair.left.dialect;
        let said = &dialect.resolve(schema)["properties"]["status"];
        let words = dialect.resolve(said)["enum"].as_array().into_iter().flatten();
        words.filter_map(Value::as_str).map(str::to_owned).collect()
    }
}
