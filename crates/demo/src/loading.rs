//! How what companies enter comes into the books: as a client's batches, and what must be asked by itself by itself.

use crate::Size;
use crate::script::{CHART, ROLES, Step};
use crate::stories::{self, Company, Story};
use futures_util::future::try_join;
use ledger_core::access::Principal;
use ledger_core::books::audit::Origin;
use ledger_core::cx::Expectation;
use ledger_core::day::Day;
use ledger_core::error::{Error, Result};
use ledger_core::fair::present;
use ledger_core::ids::RecordId;
use ledger_core::ledger::{Call, Errand, Ledger, Reply};
use ledger_core::resource::named;
use ledger_core::resource::operation::{CameTo, ResourceOperations, Verb, registry};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What is to be loaded.
#[derive(Debug, Clone, Copy)]
pub struct Order {
    pub size: Size,
    pub seed: u64,
    /// The last day that anything is entered for.
    pub today: Day,
}

/// As many operations as a batch takes.
const BATCH: usize = 100;

/// Loads the companies, two at a time; `progress` is told how far it is, of a thousand.
pub async fn load(
    ledger: &Arc<Ledger>,
    principal: &Principal,
    order: Order,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<()> {
    let companies = stories::companies(order.size, order.seed, order.today);
    let clerk = Clerk { ledger, principal };
    let done: Vec<AtomicU64> = companies.iter().map(|_| AtomicU64::new(0)).collect();
    let told = |place: usize, permille: u64| {
        done[place].store(permille, Ordering::Relaxed);
        let whole: u64 = done.iter().map(|one| one.load(Ordering::Relaxed)).sum();
        progress(whole / u64::try_from(done.len()).unwrap_or(1));
    };
    let mut companies = companies.into_iter().enumerate();
    // The first comes first: what lists companies shows it so.
    let mut open = Vec::new();
    for (place, company) in &mut companies {
        open.push((place, clerk.founded(company).await?));
    }
    // Two at a time: while one waits for its batch, the other makes its next. Were there more, batches would be entered together,
    // and each of them could be undone without the others, which is dear.
    let mut open = open.into_iter();
    let first = open.next();
    let others = async {
        for (place, book) in open {
            book.kept(|permille| told(place, permille)).await?;
        }
        Ok(())
    };
    let first = async {
        match first {
            Some((place, book)) => book.kept(|permille| told(place, permille)).await,
            None => Ok(()),
        }
    };
    Box::pin(try_join(first, others)).await?;
    for (id, name, is_trial) in
        [(named::TRIAL, "Harbour Trading, to try out", true), (named::EMPTY, "Pop-up stand, not begun", false)]
    {
        let body = json!({"name": name, "baseCurrency": "EUR", "timezone": "Europe/Berlin", "isTrial": is_trial});
        clerk.alone(None, &step("businessesCreate", body, RecordId::parse(id))).await?;
    }
    clerk.programs().await
}

fn step(operation: &str, body: Value, named: Option<RecordId>) -> Step {
    Step { label: String::new(), operation: operation.to_owned(), record: None, body, named }
}

/// Who enters it.
#[derive(Clone, Copy)]
struct Clerk<'l> {
    ledger: &'l Arc<Ledger>,
    principal: &'l Principal,
}

/// The operation of a name.
fn operation(name: &str) -> Result<(&'static ResourceOperations, Verb)> {
    let named = |resource: &'static ResourceOperations| {
        resource.verbs().find(|verb| resource.operation_id(*verb) == name).map(|verb| (resource, verb))
    };
    registry().iter().find_map(named).ok_or_else(|| Error::internal(format!("there is no operation {name}")))
}

/// Whether it is asked by itself, since it is about people or companies and not about books.
fn is_alone(step: &Step) -> bool {
    ["users", "permissions", "apiKeys", "webhooks", "businesses"].iter().any(|stem| step.operation.starts_with(stem))
}

impl<'l> Clerk<'l> {
    async fn founded(self, company: Company) -> Result<Book<'l>> {
        let Company { key, body, story } = company;
        let id = self.alone(None, &step("businessesCreate", body, Some(named::id(key)))).await?;
        let id = id["id"].as_str().unwrap_or_default().to_owned();
        let mut known = HashMap::new();
        let chart = self.listed(&id, "accountsList", "code").await?;
        known.insert(
            CHART.to_owned(),
            Value::Object(chart.into_iter().map(|(code, id)| (format!("a{code}"), id)).collect()),
        );
        known.insert(ROLES.to_owned(), Value::Object(self.listed(&id, "permissionsList", "role").await?));
        Ok(Book { clerk: self, id, known, story })
    }

    /// The records of a list, by a member of theirs.
    async fn listed(self, business: &str, name: &str, member: &str) -> Result<Map<String, Value>> {
        let query = vec![("pageSize".to_owned(), "500".to_owned())];
        let reply = self.asked(call(name, Some(business.to_owned()), query)?, Vec::new()).await?;
        let page: Value = serde_json::from_str(&reply.json).map_err(Error::internal)?;
        let items = page["items"].as_array().into_iter().flatten();
        Ok(items.filter_map(|one| Some((one[member].as_str()?.to_owned(), one["id"].clone()))).collect())
    }

    /// One operation by itself, and what it answers.
    async fn alone(self, business: Option<&str>, step: &Step) -> Result<Value> {
        let mut call = call(&step.operation, business.map(str::to_owned), Vec::new())?;
        call.id = step.record.as_ref().and_then(Value::as_str).map(str::to_owned);
        if !step.body.is_null() {
            call.body = step.body.to_string().into_bytes();
        }
        let reply = self.asked(call, vec![step.named]).await.map_err(|error| astray(step, &error))?;
        serde_json::from_str(&reply.json).map_err(Error::internal)
    }

    async fn asked(self, call: Call, names: Vec<Option<RecordId>>) -> Result<Reply> {
        match call.sorted() {
            Errand::Write(call) => self.ledger.write_named(self.principal, call, names).await,
            Errand::Read(call) => {
                let (ledger, principal) = (self.ledger.clone(), self.principal.clone());
                let work = present(Duration::from_mins(1), |waits| {
                    Box::pin(async move { ledger.read(waits, &principal, call).await })
                });
                work.await?.whole()
            }
        }
    }

    /// Programs that ask the first company: an old one that speaks A still, and one that was moved to B.
    async fn programs(self) -> Result<()> {
        for (dialect, agent, calls) in [
            (
                "A",
                "HarbourTill/1.4 (Windows NT 6.1)",
                &[("partiesList", 3), ("itemsList", 4), ("salesInvoicesList", 9)][..],
            ),
            ("B", "web-shop/3.2", &[("itemsList", 5), ("salesOrdersList", 6)]),
        ] {
            for (name, times) in calls {
                for _ in 0..*times {
                    let query = vec![("pageSize".to_owned(), "1".to_owned())];
                    let mut call = call(name, Some(named::id("harbour").to_string()), query)?;
                    call.origin.dialect = Some(dialect);
                    call.agent = Some(agent.to_owned());
                    self.asked(call, Vec::new()).await?;
                }
            }
        }
        self.ledger.write_usage().await
    }
}

fn call(name: &str, business: Option<String>, query: Vec<(String, String)>) -> Result<Call> {
    let (resource, verb) = operation(name)?;
    Ok(Call {
        resource,
        verb,
        business,
        id: None,
        query,
        body: Vec::new(),
        expectation: Expectation::Unsaid,
        idempotency_key: None,
        origin: Origin::default(),
        agent: None,
        listens: false,
        at_least: None,
    })
}

/// What went wrong with a step, which is a fault of ours.
fn astray(step: &Step, error: &Error) -> Error {
    Error::internal(format!(
        "the demo cannot do {} {} with {}: {error:?}",
        step.operation,
        json!(step.record),
        step.body
    ))
}

/// A company whose story is told.
struct Book<'l> {
    clerk: Clerk<'l>,
    id: String,
    /// What steps answered, as far as later ones may refer to it.
    known: HashMap<String, Value>,
    story: Box<dyn Story>,
}

impl Book<'_> {
    async fn kept(mut self, told: impl Fn(u64)) -> Result<()> {
        let mut waiting: Vec<Step> = Vec::new();
        while let Some(steps) = self.story.day() {
            for step in steps {
                let alone = is_alone(&step);
                if alone || waiting.len() == BATCH {
                    self.entered(std::mem::take(&mut waiting)).await?;
                    let (first, day, last) = self.story.place();
                    let span = last.days_since(first).max(1);
                    told(u64::try_from(day.days_since(first) * 1_000 / span).unwrap_or(0).min(1_000));
                }
                if alone {
                    let step = self.resolved(step, &[])?;
                    let answer = self.clerk.alone(Some(&self.id), &step).await?;
                    self.known.insert(step.label, outline(&answer));
                } else {
                    waiting.push(step);
                }
            }
        }
        self.entered(waiting).await?;
        told(1_000);
        Ok(())
    }

    /// A batch of steps.
    async fn entered(&mut self, steps: Vec<Step>) -> Result<()> {
        if steps.is_empty() {
            return Ok(());
        }
        let mut ready: Vec<Step> = Vec::with_capacity(steps.len());
        for step in steps {
            let step = self.resolved(step, &ready)?;
            ready.push(step);
        }
        let names: Vec<Option<RecordId>> = ready.iter().map(|step| step.named).collect();
        let operations: Vec<Value> = ready.iter().map(operation_of).collect();
        let mut batch = call("batchRun", Some(self.id.clone()), Vec::new())?;
        batch.body = json!({"operations": operations}).to_string().into_bytes();
        let reply = self.clerk.asked(batch, names).await.map_err(|error| match &error {
            Error::OfOperation(failed) => ready.get(failed.place).map_or(error.clone(), |step| astray(step, &error)),
            _ => error,
        })?;
        for (step, part) in ready.into_iter().zip(reply.several.into_iter().flatten()) {
            if let CameTo::Done { json, .. } = part.came_to {
                let answer: Value = serde_json::from_str(&json).map_err(Error::internal)?;
                self.known.insert(step.label, outline(&answer));
            }
        }
        Ok(())
    }

    /// The step with what is known by now in the place of what refers to it; what the same batch answers stays a reference.
    fn resolved(&self, mut step: Step, batch: &[Step]) -> Result<Step> {
        if let Some(record) = &mut step.record {
            self.resolve(record, batch)?;
        }
        self.resolve(&mut step.body, batch)?;
        Ok(step)
    }

    fn resolve(&self, value: &mut Value, batch: &[Step]) -> Result<()> {
        let reference = value.as_object().filter(|one| one.len() == 1).and_then(|one| one.get("$ref")?.as_str());
        if let Some((label, path)) = reference.and_then(|text| text.split_once('.')) {
            if batch.iter().any(|step| step.label == label) {
                return Ok(());
            }
            let pointer = format!("/{}", path.replace("].", "/").replace(['[', '.'], "/"));
            let found = self.known.get(label).and_then(|answer| answer.pointer(&pointer));
            *value = found.cloned().ok_or_else(|| Error::internal(format!("nothing is known as {label}.{path}")))?;
            return Ok(());
        }
        match value {
            Value::Object(members) => members.values_mut().try_for_each(|member| self.resolve(member, batch)),
            Value::Array(elements) => elements.iter_mut().try_for_each(|element| self.resolve(element, batch)),
            _ => Ok(()),
        }
    }
}

/// As a batch has it.
fn operation_of(step: &Step) -> Value {
    let mut operation = json!({"id": step.label, "operation": step.operation});
    if let Some(record) = &step.record {
        operation["path"] = json!({"id": record});
    }
    if !step.body.is_null() {
        operation["body"] = step.body.clone();
    }
    operation
}

/// What of an answer others may refer to.
fn outline(answer: &Value) -> Value {
    let lines = answer["lines"].as_array().into_iter().flatten();
    let lines: Vec<Value> = lines.map(|line| json!({"id": line["id"]})).collect();
    json!({"id": answer["id"], "total": answer["total"], "lines": lines})
}
