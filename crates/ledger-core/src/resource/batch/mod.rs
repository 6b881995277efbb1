//! A batch: several writes in one request, which take one turn of the lane.
//!
//! Owns: the form of a batch, which operations there are in one, how one refers to what another answered, and that all are
//! done or none. Each operation needs its own rights, is judged and audited as if it came alone, and finds what those before
//! it left. Refuses: to read; everybody's writes wait while it runs.

mod names;
mod reference;
mod wire;

use crate::error::{Error, FieldErrors, OfOperation, Result};
use crate::ids::RecordId;
use crate::ledger::Reply;
use books::access::Business;
use books::cx::{Cx, Expectation};
use books::database::lane::BoxFuture;
use documents::entry;
use kit::body::{self, Shape};
use kit::extra::{Does, Extra, NoWords, On, OptionalBody, Writing};
use kit::list::{ListQuery, Page, Parameter};
use kit::operation::{BodyNeed, CameTo, Done, Failed, Part, Prepared, Verb};
use kit::resource::{About, Resource, Scope};
use kit::rows::read_only;
use names::Named;
use reference::Answered;
use schema::key::ResourceKey;
use schema::rights::Action;
use schemars::SchemaGenerator;
use serde_json::{Value, json};
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tokio::time::Instant;
use wire::{Asked, BatchAnswer, BatchInput, BatchResult};

pub struct Batch;

impl Resource for Batch {
    const KEY: ResourceKey = ResourceKey::Batch;
    const SCOPE: Scope = Scope::Business;
    const ABOUT: About = About {
        one: "a batch",
        many: "batches",
        description: "Several writes in one request: all of them or none, or each for itself.",
        sorts: &[],
        searched: "",
    };
    const VERBS: &'static [Verb] = &[];
    type Input = NoWords;
    type Draft = ();
    type View = BatchAnswer;

    fn parameters() -> Vec<Parameter> {
        Vec::new()
    }

    fn extras() -> Vec<Extra> {
        const BODY: OptionalBody =
            OptionalBody { schema: SchemaGenerator::subschema_for::<BatchInput>, example: Batch::example };
        vec![Extra {
            name: "Run",
            segment: "",
            on: On::Collection,
            action: Action::View,
            answers: None,
            summary: "Do several writes",
            description: "Does 1 to 100 writes of the company's books, of 5 000 lines in all, one after the other and with \
                          nobody's between them. What comes after operations that answer more than 16 MiB, or that took more than 10 s, is \
                          not done. \
                          Each needs its own permission. An `operation` is named as in the document of one dialect, such as \
                          `partiesCreate`; reads, and what changes who may do what, are asked for by themselves.\n\n\
                          Wherever a value stands in `body`, `path` or `ifMatch` there may be an object with the only member \
                          `$ref`: `op1.id` is the `id` of what the operation `op1` answered, `op1.lines[0].id` that of its \
                          first line.\n\n\
                          With `atomic`, which is the default, the first operation that fails is the answer, with its status \
                          and code and with fields such as `operations[3].body.lines[0].quantity`; nothing is kept then, and \
                          no number is used. Without it, the answer is 200 and each result has its own status. A batch whose \
                          form is wrong is refused as a whole either way. One `Idempotency-Key` covers all of it; with \
                          `dryRun` each result has its `postings`.",
            does: Does::Writes(Writing::of_several(BODY, prepare)),
        }]
    }

    fn example() -> Value {
        json!({
            "atomic": true,
            "operations": [
                {"id": "customer", "operation": "partiesCreate", "body": {"name": "Nordwind Coffee", "isCustomer": true}},
                {"operation": "paymentTermsCreate", "body": {"name": "Net 30", "days": 30}}
            ]
        })
    }

    fn example_view() -> Value {
        let body = json!({"id": "019a9f6e-6c00-7a31-8d2f-3b1c5e7f9a02", "deleted": true});
        let result = BatchResult {
            id: Some("gone".into()),
            status: 200,
            code: None,
            body: body.as_object().cloned().into_iter().flatten().collect(),
        };
        json!(BatchAnswer { results: vec![result] })
    }

    async fn list(_: &Cx<'_>, _: &ListQuery) -> Result<Page<BatchAnswer>> {
        Err(Error::NotFound)
    }

    async fn get(_: &Cx<'_>, _: RecordId) -> Result<BatchAnswer> {
        Err(Error::NotFound)
    }

    read_only!();
}

/// An operation that waits for its place in the batch.
struct Waiting {
    id: Option<String>,
    named: Named,
    record: Option<Value>,
    if_match: Option<Value>,
    body: Body,
}

enum Body {
    /// It was judged, and may have failed already.
    Judged(Result<Arc<dyn Prepared>>),
    /// What it refers to is not known yet.
    Refers(Value),
}

/// Everybody's writes wait while a batch runs: it has so many lines in all, and no more.
const MOST_LINES: usize = 5_000;

/// What they answer in all, in bytes: a short body may ask for long work, as a copy of a long document does, and what was
/// answered is what shows it.
const MOST_ANSWERED: usize = 16 << 20;

/// So long it goes on: everybody's writes wait for it where there is one lane.
const LONGEST: Duration = Duration::from_secs(10);

/// How many objects stand in lists of a body, at whatever depth.
fn lines_of(body: &Value) -> usize {
    match body {
        Value::Array(elements) => {
            let own = elements.iter().filter(|element| element.is_object()).count();
            own + elements.iter().map(lines_of).sum::<usize>()
        }
        Value::Object(members) => members.values().map(lines_of).sum(),
        _ => 0,
    }
}

/// Refuses what would keep everybody waiting, before anybody does.
fn check_weight(operations: &[Asked]) -> Result<()> {
    let lines: usize = operations.iter().filter_map(|one| one.body.as_ref()).map(lines_of).sum();
    if lines <= MOST_LINES {
        return Ok(());
    }
    let why = format!("must have at most {MOST_LINES} lines in all, and has {lines}; send several batches");
    Err(Error::field("operations", why))
}

/// Why an operation is not done that comes after so much.
fn beyond(before: &str) -> Fault {
    Fault::of_operation("operation", format!("comes after operations {before}; send it in another batch"))
}

struct PreparedBatch {
    atomic: bool,
    operations: Vec<Waiting>,
}

fn prepare(business: Option<&Business>, bytes: &[u8]) -> Result<Arc<dyn Prepared>> {
    static SHAPE: LazyLock<Shape> = LazyLock::new(Shape::of_input::<BatchInput>);
    let bytes = if bytes.is_empty() { b"{}" } else { bytes };
    let (atomic, asked) = body::read(bytes, &SHAPE, &Shape::default(), BatchInput::check)?;
    check_weight(&asked)?;
    let operations: Vec<Waiting> = asked.into_iter().map(|asked| Waiting::of(asked, business)).collect();
    if atomic {
        check_all(&operations)?;
    }
    Ok(Arc::new(PreparedBatch { atomic, operations }))
}

impl Waiting {
    fn of(asked: Asked, business: Option<&Business>) -> Self {
        let Asked { id, named, record, if_match, body } = asked;
        let elsewhere = record.as_ref().filter(|record| reference::refers(record));
        let body = match body {
            Some(body) if reference::refers(&body) || elsewhere.is_some() => Body::Refers(body),
            body => Body::Judged(judged(named, business, (record.as_ref().and_then(Value::as_str), body.as_ref()))),
        };
        Self { id, named, record, if_match, body }
    }
}

/// A body, judged as it is by itself: the right comes first.
fn judged(
    (resource, verb): Named,
    business: Option<&Business>,
    (record, body): (Option<&str>, Option<&Value>),
) -> Result<Arc<dyn Prepared>> {
    let (key, action) = resource.needs(verb);
    business.ok_or_else(|| Error::internal("a batch of no company"))?.require(key, action)?;
    let bytes = match body {
        Some(body) if resource.body_need(verb) != BodyNeed::None => {
            serde_json::to_vec(body).map_err(Error::internal)?
        }
        Some(_) | None => Vec::new(),
    };
    resource.prepare((verb, record), business, &bytes)
}

/// Refuses where operations have failed already, before anybody waits for the batch: what is wrong with the fields of all of
/// them at once, anything else by the first.
fn check_all(operations: &[Waiting]) -> Result<()> {
    let failed = operations.iter().enumerate().filter_map(|(place, operation)| match &operation.body {
        Body::Judged(Err(error)) => Some((place, error)),
        Body::Judged(Ok(_)) | Body::Refers(_) => None,
    });
    let failed: Vec<(usize, &Error)> = failed.collect();
    let Some((first, error)) = failed.first() else { return Ok(()) };
    if !matches!(error, Error::Validation(_)) {
        return Err(of_operation(*first, Fault::Body((*error).clone())));
    }
    let mut errors = FieldErrors::default();
    for (place, error) in &failed {
        if let Error::Validation(faults) = error {
            errors.extend_under(|field| in_body(*place, &field), faults.clone());
        }
    }
    Err(errors.into())
}

/// What is wrong with an operation.
enum Fault {
    /// Its fields are those of the body.
    Body(Error),
    /// Its fields are those of the operation.
    Operation(Error),
}

impl Fault {
    fn of_operation(field: &str, why: impl Into<String>) -> Self {
        Self::Operation(Error::field(field, why))
    }

    fn into_inner(self) -> Error {
        match self {
            Self::Body(error) | Self::Operation(error) => error,
        }
    }
}

/// How the whole batch calls a field of a body.
fn in_body(place: usize, field: &str) -> String {
    let here = format!("operations[{place}].body");
    match field {
        kit::json::WHOLE => here,
        list if list.starts_with('[') => here + list,
        member => format!("{here}.{member}"),
    }
}

/// The failure of one operation as that of the whole batch. What is no fault of the caller's is nobody's operation.
fn of_operation(place: usize, fault: Fault) -> Error {
    let (error, is_of_body) = match fault {
        Fault::Body(error) => (error, true),
        Fault::Operation(error) => (error, false),
    };
    if !error.is_of_the_caller() {
        return error;
    }
    let (mut errors, fields) = (FieldErrors::default(), error.clone().into_fields());
    if fields.is_empty() {
        errors.add(format!("operations[{place}]"), error.title());
    }
    let called =
        |field: String| if is_of_body { in_body(place, &field) } else { format!("operations[{place}].{field}") };
    errors.extend_under(called, fields);
    Error::OfOperation(Box::new(OfOperation { place, error, errors }))
}

impl Prepared for PreparedBatch {
    fn run<'c>(&'c self, cx: &'c Cx<'c>, _: Option<RecordId>) -> BoxFuture<'c, Result<Done>> {
        Box::pin(async move {
            cx.check_unsaid("say ifMatch in each operation")?;
            let rehearses = cx.begin_several().await?;
            let mut answered = Answered::default();
            let mut parts = Vec::with_capacity(self.operations.len());
            let mut known: Option<Business> = None;
            let (mut bytes, begun) = (0, Instant::now());
            for (place, operation) in self.operations.iter().enumerate() {
                if rehearses {
                    cx.rehearse()?;
                }
                let company = match known.take() {
                    Some(company) => company,
                    None => cx.company_by_now().await?,
                };
                let how = (self.atomic, rehearses);
                let outcome = if bytes > MOST_ANSWERED {
                    Err(beyond(&format!("that answer more than {} MiB", MOST_ANSWERED >> 20)))
                } else if begun.elapsed() > LONGEST {
                    Err(beyond(&format!("that took more than {} s", LONGEST.as_secs())))
                } else {
                    operation.run(cx, place, (&company, &answered), how).await?
                };
                let came_to = match outcome {
                    Ok(done) => {
                        bytes += done.bytes();
                        done
                    }
                    Err(fault) if self.atomic => return Err(of_operation(place, fault)),
                    Err(fault) => CameTo::Failed(Failed::of(fault.into_inner())),
                };
                if let Some(id) = &operation.id {
                    answered.note(id.clone(), &came_to);
                }
                known = operation.leaves_the_company().then_some(company);
                parts.push(Part { id: operation.id.clone(), came_to });
            }
            Ok(Done::Several(parts))
        })
    }
}

/// All that an operation needs, with what it refers to in its place.
struct Ready {
    prepared: Arc<dyn Prepared>,
    record: Option<RecordId>,
    expectation: Expectation,
}

impl Waiting {
    /// What it comes to. The outer result is that of the batch.
    async fn run(
        &self,
        cx: &Cx<'_>,
        place: usize,
        (company, answered): (&Business, &Answered),
        (atomic, rehearses): (bool, bool),
    ) -> Result<Result<CameTo, Fault>> {
        let ready = match self.ready(company, answered) {
            Ok(ready) => ready,
            Err(fault) => return Ok(Err(fault)),
        };
        let work = async {
            let (resource, verb) = self.named;
            let own = cx.operation_at(place, company, &ready.expectation);
            let done = ready.prepared.run(&own, ready.record).await?;
            Box::pin(documents::follow_up(&own)).await?;
            let Reply { kind, json, .. } = Reply::of_done(resource.reply_kind(verb), done);
            let json = if rehearses { entry::with_postings(&own, json, cx.rehearsed()?).await? } else { json };
            Ok(CameTo::Done { kind, json })
        };
        let outcome = if atomic { cx.done(work).await } else { cx.done_apart(work).await? };
        Ok(outcome.map_err(Fault::Body))
    }

    /// Whether those after it find the company as it was: what comes into its books changes nothing of what it is.
    fn leaves_the_company(&self) -> bool {
        self.named.0.key.actions().contains(&Action::Post)
    }

    fn ready(&self, company: &Business, answered: &Answered) -> Result<Ready, Fault> {
        let (resource, verb) = self.named;
        let (key, action) = resource.needs(verb);
        // It waited since it was judged.
        company.require(key, action).map_err(Fault::Operation)?;
        let of_itself = |value: &Option<Value>, at: &str| {
            let resolved = value.as_ref().map(|value| reference::resolved(value, at, answered)).transpose();
            resolved.map_err(|astray| Fault::Operation(FieldErrors::from(astray).into()))
        };
        let named = match of_itself(&self.record, "path.id")? {
            None => None,
            Some(Value::String(id)) => Some(id),
            Some(_) => return Err(Fault::of_operation("path.id", "must be an identifier")),
        };
        // One that is called so elsewhere is looked for by whoever writes it.
        let record = match &named {
            Some(id) if verb != Verb::Upsert => Some(RecordId::parse(id).ok_or(Fault::Operation(Error::NotFound))?),
            Some(_) | None => None,
        };
        let if_match = of_itself(&self.if_match, "ifMatch")?;
        let expectation = wire::expectation(if_match.as_ref()).map_err(|why| Fault::of_operation("ifMatch", why))?;
        let prepared = match &self.body {
            Body::Judged(judged) => judged.clone(),
            Body::Refers(body) => match reference::resolved(body, "", answered) {
                Ok(body) => judged(self.named, Some(company), (named.as_deref(), Some(&body))),
                Err(astray) => Err(FieldErrors::from(astray).into()),
            },
        };
        Ok(Ready { prepared: prepared.map_err(Fault::Body)?, record, expectation })
    }
}
