//! What a company enters: steps in their order, each an operation of the API with its body.

use ledger_core::day::Day;
use ledger_core::ids::RecordId;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// One operation.
pub(crate) struct Step {
    /// By what later steps refer to what it answered.
    pub(crate) label: String,
    /// As the documents name it: `salesInvoicesCreate`.
    pub(crate) operation: String,
    /// The record that the path names.
    pub(crate) record: Option<Value>,
    pub(crate) body: Value,
    /// What the record is to be called that it makes.
    pub(crate) named: Option<RecordId>,
}

/// Something that a step makes, which later steps refer to.
#[derive(Clone)]
pub(crate) struct Made(pub(crate) String);

impl Made {
    pub(crate) fn id(&self) -> Value {
        self.member("id")
    }

    pub(crate) fn total(&self) -> Value {
        self.member("total")
    }

    pub(crate) fn line(&self, place: usize) -> Value {
        self.member(&format!("lines[{place}].id"))
    }

    fn member(&self, path: &str) -> Value {
        json!({"$ref": format!("{}.{path}", self.0)})
    }
}

/// An account of the chart that the company began with, by its code.
pub(crate) fn account(code: &str) -> Value {
    json!({"$ref": format!("{CHART}.a{code}")})
}

/// The built-in permission set of a role.
pub(crate) fn role(name: &str) -> Value {
    json!({"$ref": format!("{ROLES}.{name}")})
}

/// What accounts and permission sets of a new company are referred to by.
pub(crate) const CHART: &str = "chart";
pub(crate) const ROLES: &str = "roles";

/// An amount, by its smallest coins.
pub(crate) fn money(cents: i64) -> Value {
    Value::String(format!("{}{}.{:02}", if cents < 0 { "-" } else { "" }, cents.abs() / 100, cents.abs() % 100))
}

/// Money that comes in or goes out for a document, as much of it as is said.
pub(crate) fn settling(day: Day, (party, account): (&Value, Value), of: &Made, amount: Value) -> Value {
    let allocations = json!([{"targetId": of.id(), "amount": amount}]);
    json!({"date": day, "partyId": party, "accountId": account, "amount": amount, "allocations": allocations})
}

/// What happens later, by its day.
type Later<S> = Box<dyn FnOnce(&mut S, Day) + Send>;

/// For how many days something is fresh: what is older is settled, and trade was not yet what it is today.
const FRESH: i64 = 100;

/// What a company will do, and what it has entered by now.
pub(crate) struct Script<S> {
    pub(crate) first: Day,
    pub(crate) today: Day,
    counted: usize,
    steps: Vec<Step>,
    agenda: BTreeMap<Day, Vec<Later<S>>>,
}

impl<S> Script<S> {
    pub(crate) fn between(first: Day, today: Day) -> Self {
        Self { first, today, counted: 0, steps: Vec::new(), agenda: BTreeMap::new() }
    }

    /// Enters a new record.
    pub(crate) fn make(&mut self, operation: &str, body: Value) -> Made {
        self.step(operation, None, body, None)
    }

    /// ... which is to be called so.
    pub(crate) fn make_named(&mut self, operation: &str, named: RecordId, body: Value) -> Made {
        self.step(operation, None, body, Some(named))
    }

    /// Does something with a record.
    pub(crate) fn act(&mut self, operation: &str, record: Value, body: Value) -> Made {
        self.step(operation, Some(record), body, None)
    }

    /// Does something with a record that makes another, which is to be called so.
    pub(crate) fn act_named(&mut self, operation: &str, record: Value, named: RecordId, body: Value) -> Made {
        self.step(operation, Some(record), body, Some(named))
    }

    fn step(&mut self, operation: &str, record: Option<Value>, body: Value, named: Option<RecordId>) -> Made {
        self.counted += 1;
        let label = format!("s{}", self.counted);
        self.steps.push(Step { label: label.clone(), operation: operation.to_owned(), record, body, named });
        Made(label)
    }

    /// Makes a note of a document, which settles as much of it.
    pub(crate) fn credited(&mut self, operation: &str, of: &Made, body: Value) {
        let note = self.act(operation, of.id(), body);
        let allocation = json!({"sourceId": note.id(), "targetId": of.id(), "amount": note.total()});
        self.make("allocationsCreate", allocation);
    }

    /// What happens on a later day. What would happen after today does not.
    pub(crate) fn later(&mut self, day: Day, what: impl FnOnce(&mut S, Day) + Send + 'static) {
        if day <= self.today {
            self.agenda.entry(day).or_default().push(Box::new(what));
        }
    }

    /// Whether a day is of the last months: what is older is paid, but for a little that is talked about.
    pub(crate) fn is_fresh(&self, day: Day) -> bool {
        self.today.days_since(day) < FRESH
    }

    /// How much of today's trade there was on a day, in thousandths. Whoever begins sells little, and then more and more.
    pub(crate) fn grown(&self, day: Day) -> i64 {
        let span = self.today.plus_days(-FRESH).days_since(self.first);
        let gone = day.days_since(self.first);
        if gone >= span { 1_000 } else { 100 + 900 * gone * gone * gone / (span * span * span) }
    }

    /// What was put off to this day.
    pub(crate) fn due(&mut self, day: Day) -> Vec<Later<S>> {
        self.agenda.remove(&day).into_iter().flatten().collect()
    }

    pub(crate) fn taken(&mut self) -> Vec<Step> {
        std::mem::take(&mut self.steps)
    }
}
