//! Two sides that are asked the same: what they answer, and what it did to their books.
//!
//! After a write that was real, the entries and the rows of the audit log that came of it are compared too: two equal
//! answers with different postings are what matters most. Books that are apart after it are brought level, or what
//! follows from it is told as such.

mod apart;
mod beside;
mod effects;
mod entering;

pub use beside::Heard;
pub(crate) use beside::{is_rehearsal, may_follow};
pub use entering::MADE_BY_US;

use crate::conformity;
use crate::consequence;
use crate::curl;
use crate::declared::Declared;
use crate::dialect::{CompanyIn, Dialect, LOGIN, Operation};
use crate::difference::{Difference, Kind, Latitude, Verdict, between, between_values, declare};
use crate::discretion::is_secret_header;
use crate::meaning::Meaning;
use crate::neutral::Neutral;
use crate::secrets;
use crate::twins::Twins;
use crate::wire::{Answer, Request, Transport};
use crate::wrapping::unwrap;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// A dialect on a server, and who speaks it for which company.
#[derive(Clone)]
pub struct Side {
    pub dialect: Arc<Dialect>,
    pub transport: Arc<dyn Transport>,
    pub token: Option<String>,
    pub business: Option<String>,
    /// Whether the document is the server's own: then it knows `dryRun`, where another one might take a rehearsal for
    /// the real thing, and its answers are held against it.
    pub documented: bool,
}

/// What the two sides are to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// Both speak of the same company: reads answer the same to the letter, writes are rehearsed.
    Same,
    /// Each speaks of a company of its own, on servers of their own: identifiers stand for each other, writes are
    /// rehearsed.
    Apart,
    /// Each has a company of its own that began alike: identifiers stand for each other, writes are real.
    Twins,
}

/// A request of one side and its answer.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Exchange {
    pub request: Request,
    pub answer: Option<Answer>,
    /// Why there is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// The request as somebody would repeat it by hand; the token is a variable in it.
    pub curl: String,
}

impl Exchange {
    /// The token that a log-in was answered with.
    fn token(&self, dialect: &Dialect) -> Result<String, String> {
        token(dialect, self.answer.as_ref().ok_or_else(|| self.failed.clone().unwrap_or_default())?)
    }
}

/// One request, asked of both sides.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Compared {
    pub request: Neutral,
    /// The resource that the operation is about.
    pub family: String,
    pub verdict: Verdict,
    pub differences: Vec<Difference>,
    /// Paths that differ from one answer to the next of the same side.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub noise: Vec<String>,
    pub left: Exchange,
    pub right: Exchange,
    /// What the left side's answer means, where there is one.
    #[serde(skip)]
    pub meaning: Option<Meaning>,
}

impl Compared {
    pub fn status(&self) -> Option<u16> {
        self.left.answer.as_ref().map(|answer| answer.status)
    }

    pub fn data(&self) -> &Value {
        static NOTHING: Value = Value::Null;
        self.meaning.as_ref().map_or(&NOTHING, Meaning::data)
    }

    pub fn title(&self) -> String {
        if self.request.name.is_empty() {
            self.request.operation.clone()
        } else {
            format!("{}: {}", self.request.operation, self.request.name)
        }
    }
}

/// How often a request whose answers differ is asked again, to tell a difference from books that move meanwhile.
const TRIES: usize = 3;

/// What is of a company and yet of others too: a person has one account in all of them.
const REACH_FURTHER: [&str; 1] = ["users"];

pub struct Pair {
    pub left: Side,
    pub right: Side,
    pub declared: Declared,
    /// Whether the right side is asked as somebody else than who asks the left one: what is said to one server is nobody
    /// else's to hear.
    pub right_speaks_for_itself: bool,
    /// Whether reads ask for the head of an answer alone.
    heads: bool,
    /// What stands for what on twins; on one company, what is known to be the same.
    twins: Twins,
    /// From identifiers of a recording to those of the left side.
    recorded: Twins,
    relation: Relation,
    kept: HashMap<String, Value>,
    /// Begins the identifiers of this run's requests, by which the audit log knows them.
    run: String,
    asked: usize,
    /// The last entry that was compared, on the left and on the right.
    entries: [u64; 2],
    apart: apart::Apart,
    twins_name: String,
}

impl Pair {
    /// `run` is a UUID that nobody else has: the requests' identifiers begin like it.
    pub fn new(left: Side, right: Side, relation: Relation, declared: Declared, run: &str) -> Self {
        Self {
            left,
            right,
            declared,
            right_speaks_for_itself: false,
            heads: false,
            twins: Twins::default(),
            recorded: Twins::default(),
            relation,
            kept: HashMap::new(),
            run: run.get(..24).unwrap_or(run).to_owned(),
            asked: 0,
            entries: [0; 2],
            apart: apart::Apart::default(),
            twins_name: String::new(),
        }
    }

    pub fn is_on_twins(&self) -> bool {
        self.relation == Relation::Twins
    }

    /// Asks the left side alone, as for what a request can be about.
    pub async fn ask_left(&mut self, neutral: &Neutral) -> Result<Value, String> {
        let meaning = self.ask(true, neutral).await.1?;
        match meaning.tree["status"].as_u64() {
            Some(200..300) => Ok(meaning.data().clone()),
            status => Err(format!("{} is answered {}", neutral.operation, status.unwrap_or_default())),
        }
    }

    /// Asks both sides, and says where they differ.
    pub async fn compare(&mut self, neutral: &Neutral) -> Compared {
        let may_act = self.may_act(neutral);
        self.compare_as(neutral, may_act).await
    }

    async fn compare_as(&mut self, neutral: &Neutral, may_act: bool) -> Compared {
        let mut said = self.filled_in(neutral);
        let writes = self.left.dialect.operation(&said.operation).is_ok_and(Operation::writes);
        if writes && !may_act {
            said.query.set("dryRun", "true");
        }
        let acts = writes && said.query.get("dryRun").is_none_or(|asked| asked == "false");
        if writes && !acts && !(self.left.documented && self.right.documented) {
            return self.not_rehearsed(said);
        }
        let known = self.twins.known();
        let (left, meant_left) = self.ask(true, &said).await;
        let (right, meant_right) = self.ask(false, &said).await;
        let mut compared = self.compared(said.clone(), left, right);
        match (meant_left, meant_right) {
            (Ok(meant_left), Ok(meant_right)) => {
                compared.differences = self.differences(writes, &said, &meant_left, &meant_right);
                // A log-in that fails is counted against whoever tries, so it is asked once.
                if !compared.differences.is_empty() && !acts && said.operation != LOGIN {
                    Box::pin(self.settle(&mut compared, writes)).await;
                }
                let meant_left = if acts {
                    Box::pin(self.acted(&mut compared, [meant_left, meant_right], known)).await
                } else {
                    meant_left
                };
                if let Some(recorded) = &neutral.recorded {
                    self.recorded.recognise(recorded, meant_left.data());
                }
                if let Some(name) = &neutral.kept_as {
                    self.kept.insert(name.clone(), meant_left.data().clone());
                }
                compared.meaning = Some(meant_left);
            }
            (left, right) => compared.differences.push(unanswered("answer", left, right)),
        }
        consequence::within(&mut compared.differences, [&self.left.dialect, &self.right.dialect]);
        Box::pin(self.told_apart(&mut compared)).await;
        self.judged(compared)
    }

    /// What was asked and answered, before anything is held side by side.
    fn compared(&self, request: Neutral, left: Exchange, right: Exchange) -> Compared {
        let known = self.left.dialect.operation(&request.operation);
        let family = known.map_or_else(|_| request.operation.clone(), |operation| operation.stem().to_owned());
        let (verdict, meaning) = (Verdict::Equal, None);
        Compared { request, family, verdict, differences: Vec::new(), noise: Vec::new(), left, right, meaning }
    }

    /// The verdict, once all differences are known. What is shown from here on has no secret in it.
    fn judged(&mut self, mut compared: Compared) -> Compared {
        declare(&mut compared.differences, &compared.request.operation, &mut self.declared);
        compared.differences.sort_by_key(|one| one.kind);
        compared.verdict = Verdict::of(&compared.differences);
        secrets::mask_request(&mut compared.request);
        for difference in &mut compared.differences {
            for value in [&mut difference.left, &mut difference.right].into_iter().flatten() {
                secrets::mask(&difference.path, value);
            }
        }
        for (exchange, side) in [(&mut compared.left, &self.left), (&mut compared.right, &self.right)] {
            exchange.curl = secrets::masked(&exchange.curl);
            exchange.request.body = exchange.request.body.as_deref().map(secrets::masked);
            if let Some(answer) = &mut exchange.answer {
                if compared.request.operation == LOGIN {
                    answer.body = secrets::without_token(&side.dialect.wrapping, &answer.body);
                }
                answer.body = secrets::masked(&answer.body);
            }
        }
        compared
    }

    /// Whether a write may be real: on twins, where it stays within their companies.
    fn may_act(&self, neutral: &Neutral) -> bool {
        let stays = |operation: &Operation| {
            operation.company != CompanyIn::Nowhere && !REACH_FURTHER.contains(&operation.stem())
        };
        let of_twins = neutral.business.is_none() || neutral.business == self.left.business;
        self.is_on_twins() && of_twins && self.left.dialect.operation(&neutral.operation).is_ok_and(stays)
    }

    /// A write that nobody may send: one of the servers might take it for the real thing.
    fn not_rehearsed(&self, request: Neutral) -> Compared {
        let why = |side: &Side| {
            let why =
                || format!("{} does not say that it knows dryRun; compare writes with --twin", side.transport.origin());
            (!side.documented).then(|| why().into())
        };
        let differences = vec![Difference::new("answer", Kind::Unanswered, why(&self.left), why(&self.right))];
        let asked = self.compared(request, Exchange::default(), Exchange::default());
        Compared { verdict: Verdict::Different, differences, ..asked }
    }

    fn differences(&mut self, own: bool, said: &Neutral, left: &Meaning, right: &Meaning) -> Vec<Difference> {
        if self.relation != Relation::Same {
            return between(left, right, &mut Latitude::Own(&mut self.twins));
        }
        if !own {
            return between(left, right, &mut Latitude::None);
        }
        // A rehearsal makes identifiers that nobody will see again; those that it was asked with are known.
        let mut twins = self.twins.clone();
        for text in said.business.iter().chain(&said.id).chain(&self.left.business) {
            twins.share(text);
        }
        twins.share(&said.body_text().unwrap_or_default());
        between(left, right, &mut Latitude::Own(&mut twins))
    }

    /// Asks again where a read or a rehearsal differs: others may have written meanwhile. What differs from one answer to
    /// the next of one side is noise; what is wrong with an answer by itself never is.
    async fn settle(&mut self, compared: &mut Compared, rehearses: bool) {
        let said = compared.request.clone();
        for _ in 0..TRIES {
            let (left, meant_left) = self.ask(true, &said).await;
            let (right, meant_right) = self.ask(false, &said).await;
            let (_, meant_again) = self.ask(true, &said).await;
            let (Ok(meant_left), Ok(meant_right), Ok(meant_again)) = (meant_left, meant_right, meant_again) else {
                return;
            };
            let mut own = Twins::default();
            let mut latitude = if rehearses { Latitude::Own(&mut own) } else { Latitude::None };
            let noise = between_values("", &meant_left.tree, &meant_again.tree, &mut latitude);
            let differences = self.differences(rehearses, &said, &meant_left, &meant_right);
            let moves = |one: &Difference| {
                !matches!(one.kind, Kind::Form | Kind::Document) && noise.iter().any(|moving| moving.path == one.path)
            };
            let (moving, differences): (Vec<_>, Vec<_>) = differences.into_iter().partition(moves);
            compared.noise = moving.into_iter().map(|one| one.path).collect();
            (compared.left, compared.right, compared.differences) = (left, right, differences);
            if noise.is_empty() || compared.differences.is_empty() {
                return;
            }
        }
    }

    /// One side's request, answer and what it means. Refusals mean something too.
    async fn ask(&mut self, of_left: bool, neutral: &Neutral) -> (Exchange, Result<Meaning, String>) {
        self.asked += 1;
        // The form of an identifier, so that rows of the audit log which name it are told to stand for each other.
        let id = format!("{}{:012x}", self.run, self.asked);
        let side = if of_left { &self.left } else { &self.right };
        let mut neutral = if of_left || self.relation == Relation::Same {
            neutral.clone()
        } else {
            neutral.map(&mut |text| self.twins.to_right(text))
        };
        neutral.headers.entry("X-Request-Id".into()).or_insert(id);
        if !of_left && self.right_speaks_for_itself {
            neutral.authorization = neutral.authorization.filter(String::is_empty);
            neutral.headers.retain(|name, _| !is_secret_header(name));
        }
        let rendered = side.dialect.render(&neutral, side.business.as_deref(), side.token.as_deref());
        let mut request = match rendered {
            Ok(request) => request,
            Err(why) => {
                return (Exchange { failed: Some(why.clone()), ..Exchange::default() }, Err(why));
            }
        };
        if self.heads && request.method == "GET" {
            "HEAD".clone_into(&mut request.method);
        }
        let curl = curl::written(side.transport.origin(), &curl::without_token(&request));
        let sent = side.transport.send(request.clone()).await;
        let request = curl::without_token(&request);
        match sent {
            Ok(answer) => {
                let operation = side.dialect.operation(&neutral.operation);
                let mut meaning = Meaning::of(&side.dialect, operation.as_ref().ok().copied(), &answer);
                // Another server's answers are not for our document to judge.
                if let (Ok(operation), true) = (operation, side.documented && !self.heads) {
                    meaning.untrue = conformity::faults_of(&side.dialect, operation, &request.target, &answer);
                }
                (Exchange { request, answer: Some(answer), failed: None, curl }, Ok(meaning))
            }
            Err(why) => {
                let why = format!("{}: {why}", side.transport.origin());
                (Exchange { request, answer: None, failed: Some(why.clone()), curl }, Err(why))
            }
        }
    }

    /// The request with what was kept or recorded earlier put into its place.
    fn filled_in(&self, neutral: &Neutral) -> Neutral {
        neutral.map(&mut |text| {
            let text = self.recorded.to_right(text);
            if text.contains("${") { filled(&text, &self.kept) } else { text }
        })
    }

    /// Holds both sides' books against themselves and each other; the differences, as of any request.
    pub async fn prove(&mut self) -> Option<Compared> {
        self.left.dialect.operation("verificationRun").ok()?;
        Some(self.compare(&Neutral::of("verificationRun").named("the books prove themselves")).await)
    }
}

/// That at least one side could not be asked.
fn unanswered(path: &str, left: Result<Meaning, String>, right: Result<Meaning, String>) -> Difference {
    let why = |said: Result<Meaning, String>| said.err().map(Value::from);
    Difference::new(path, Kind::Unanswered, why(left), why(right))
}

/// The token that a log-in was answered with.
pub fn token(dialect: &Dialect, answer: &Answer) -> Result<String, String> {
    let body: Value = serde_json::from_str(&answer.body).unwrap_or_default();
    dialect.wrapping.token(&body).map(str::to_owned).ok_or_else(|| {
        let (said, _) = unwrap(&dialect.wrapping.failure, body);
        let title = said.get("title").and_then(Value::as_str).unwrap_or(&answer.body);
        format!("the log-in is answered {}: {title}", answer.status)
    })
}

/// A text with `${name}` and `${name.path}` put in.
fn filled(text: &str, kept: &HashMap<String, Value>) -> String {
    let mut parts = text.split("${");
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let Some((said, rest)) = part.split_once('}') else {
            filled += &format!("${{{part}");
            continue;
        };
        let (name, path) = said.split_once('.').unwrap_or((said, "id"));
        let pointer = format!("/{}", path.replace('[', "/").replace(']', "").replace('.', "/"));
        match kept.get(name).and_then(|value| value.pointer(&pointer)) {
            Some(Value::String(value)) => filled += value,
            Some(value) => filled += &value.to_string(),
            None => filled += &format!("${{{said}}}"),
        }
        filled += rest;
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_was_kept_is_put_in() {
        let kept = HashMap::from([("party".to_owned(), json!({"id": "p1", "lines": [{"id": "l1", "amount": 2.50}]}))]);
        for (text, expected) in [
            ("${party}", "p1"),
            ("a ${party.lines[0].id} b ${party}", "a l1 b p1"),
            ("${party.lines[0].amount}", "2.5"),
            ("${nobody}", "${nobody}"),
            ("${open", "${open"),
        ] {
            assert_eq!(filled(text, &kept), expected);
        }
    }
}
