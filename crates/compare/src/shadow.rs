//! Traffic that passes by, asked on another side as well: what clients were answered is held beside what they would have
//! been answered there, for days, and what differs is told by its cause as it comes.
//!
//! Reads are asked as they are. Writes are asked where the other side has a copy of the books to write into, else they
//! are counted as not asked. Nothing that passes by waits for any of it.

mod page;

use crate::dialect::{CompanyIn, Dialect, LOGIN, Operation};
use crate::difference::Verdict;
use crate::discretion::Discretion;
use crate::neutral::Neutral;
use crate::pair::{Compared, Heard, Pair, Side, is_rehearsal, may_follow};
use crate::recording::{Passed, is_of_a_browser};
use crate::report::{Report, moment};
use crate::wire::{Answer, Request};
use crate::{curl, secrets};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use page::{STYLE, finished, followed, live};

/// Why something that passed by was not asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotAsked {
    Foreign,
    NoCompany,
    LogIn,
    Write,
    OverTheRate,
    Busy,
    NotWhole,
    HeldBack,
    Refused,
    NoTime,
    Unanswered,
    NeverAtRest,
    Ended,
}

impl NotAsked {
    pub fn words(self) -> &'static str {
        match self {
            Self::Foreign => "no operation of a dialect",
            Self::NoCompany => "it names no company",
            Self::LogIn => "a log-in",
            Self::Write => "a write",
            Self::OverTheRate => "over the rate",
            Self::Busy => "too many at once",
            Self::NotWhole => "too long to be held, cut off or no text",
            Self::HeldBack => "held back until something happens",
            Self::Refused => "refused to who asked, and the other side is asked as somebody else",
            Self::NoTime => "the server had no time for it",
            Self::Unanswered => "the other side did not answer",
            Self::NeverAtRest => "the books never rested",
            Self::Ended => "it waited when the tool ended",
        }
    }
}

/// So many minutes are told one by one.
const MINUTES: usize = 60;

/// One minute of traffic.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Minute {
    pub at: String,
    pub seen: u64,
    pub asked: u64,
    pub different: u64,
}

/// How far a shadow is, beside what it found.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Standing {
    pub since: String,
    /// How often it was started.
    pub starts: u64,
    pub seen: u64,
    /// Requests that the server behind did not answer.
    pub unanswered: u64,
    pub asked: u64,
    pub alike: u64,
    /// Alike when both were asked again: somebody wrote in between.
    pub settled: u64,
    pub different: u64,
    pub not_asked: IndexMap<String, u64>,
    /// Writes that succeeded and are not in the copy of the books.
    pub missing: u64,
    pub recorded: u64,
    pub not_recorded: u64,
    pub minutes: VecDeque<Minute>,
}

impl Standing {
    fn minute(&mut self, now: &str) -> &mut Minute {
        let at = now.get(..16).unwrap_or(now);
        if self.minutes.back().is_none_or(|last| last.at != at) {
            self.minutes.push_back(Minute { at: at.to_owned(), ..Minute::default() });
            while self.minutes.len() > MINUTES {
                self.minutes.pop_front();
            }
        }
        let last = self.minutes.len() - 1;
        &mut self.minutes[last]
    }

    pub fn sees(&mut self, now: &str) {
        self.seen += 1;
        self.minute(now).seen += 1;
    }

    pub fn passes_over(&mut self, why: NotAsked) {
        *self.not_asked.entry(why.words().to_owned()).or_default() += 1;
    }

    /// Nothing that was seen is forgotten: what was not asked by the end was not asked. On a copy of the books it is missing, for
    /// nobody knows any more what of it was a write.
    pub fn ends(&mut self, is_on_copy: bool) {
        let told: u64 = self.unanswered + self.asked + self.not_asked.values().sum::<u64>();
        let left = self.seen.saturating_sub(told);
        if left > 0 {
            *self.not_asked.entry(NotAsked::Ended.words().to_owned()).or_default() += left;
            self.missing += if is_on_copy { left } else { 0 };
        }
    }

    /// In a sentence.
    pub fn summary(&self) -> String {
        let not_asked: u64 = self.not_asked.values().sum();
        format!(
            "{} requests seen since {}: {} asked, {} alike ({} when asked again), {} different, {not_asked} not asked",
            self.seen,
            moment(&self.since),
            self.asked,
            self.alike + self.settled,
            self.settled,
            self.different
        )
    }
}

/// What is known so far, for whoever wants to see it.
pub struct Watched {
    standing: Mutex<Standing>,
    report: Mutex<Report>,
}

impl Watched {
    pub fn new(left: &str, right: &str, now: &str) -> Self {
        let standing = Standing { since: now.to_owned(), starts: 1, ..Standing::default() };
        Self { standing: Mutex::new(standing), report: Mutex::new(Report::of_days(left, right)) }
    }

    /// What is counted. Nobody holds it for longer than it takes to count.
    pub fn standing(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn report(&self) -> MutexGuard<'_, Report> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All of it, for a shadow that goes on later.
    pub fn kept(&self) -> Value {
        let standing = self.standing().clone();
        json!({"standing": standing, "report": self.report().kept()})
    }

    /// Goes on with what an earlier one kept.
    pub fn go_on(&self, kept: &Value) -> Result<(), serde_json::Error> {
        let earlier = Standing::deserialize(&kept["standing"])?;
        self.report().go_on(&kept["report"])?;
        *self.standing() = Standing { starts: earlier.starts + 1, ..earlier };
        Ok(())
    }

    /// As a report of a comparison, with what was seen.
    pub fn json(&self) -> Value {
        let standing = self.standing().clone();
        let mut told = self.report().json();
        told["shadow"] = json!(standing);
        told
    }

    pub fn text(&self) -> String {
        let standing = self.standing().clone();
        let mut lines = vec![self.report().text(), standing.summary()];
        lines.extend(standing.not_asked.iter().map(|(why, count)| format!("    not asked, {why}: {count}")));
        if standing.missing > 0 {
            lines.push(format!("{} writes are missing in the copy: make it anew", standing.missing));
        }
        if standing.unanswered > 0 {
            lines.push(format!("{} requests were not answered by the server behind", standing.unanswered));
        }
        lines.join("\n")
    }
}

/// The other side.
pub enum Other {
    /// The other dialect of the same server, asked as the very client.
    Dialect,
    /// Another server, with the token that was given for it; a copy of the books where it may be written into.
    Server { side: Side, is_copy: bool },
}

/// What became of something that passed by.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    Done,
    /// It differs, and writes are on their way: it is to be asked once these have come.
    Later,
}

pub struct Shadow {
    pair: Pair,
    /// What the server behind speaks.
    lefts: Vec<Side>,
    other: Other,
    /// The base below which requests of any dialect are taken.
    shared: Option<String>,
    watched: Arc<Watched>,
}

impl Shadow {
    pub fn new(pair: Pair, lefts: Vec<Side>, other: Other, shared: Option<String>, watched: Arc<Watched>) -> Self {
        let mut pair = pair;
        pair.right_speaks_for_itself = matches!(other, Other::Server { .. });
        if matches!(other, Other::Server { is_copy: true, .. }) {
            pair.are_copies();
        }
        Self { pair, lefts, other, shared, watched }
    }

    pub fn pair(&mut self) -> &mut Pair {
        &mut self.pair
    }

    /// Counts something that was not asked. On a copy of the books, a write among them is missing there.
    pub fn passes_over(&self, passed: &Passed, why: NotAsked) {
        let reads = matches!(passed.method.as_str(), "GET" | "HEAD" | "OPTIONS");
        let is_lost = matches!(why, NotAsked::NotWhole | NotAsked::Unanswered | NotAsked::NoTime | NotAsked::Busy);
        let mut standing = self.watched.standing();
        standing.passes_over(why);
        // What the server had no time for may have been done all the same.
        let may_be_done = passed.status < 400 || passed.status >= 500;
        standing.missing += u64::from(self.is_on_copy() && !reads && is_lost && may_be_done);
    }

    fn is_on_copy(&self) -> bool {
        matches!(self.other, Other::Server { is_copy: true, .. })
    }

    /// What is asked of the other side, if anything is, and how much is done by it.
    pub fn judge(&self, passed: &Passed) -> Result<Question, NotAsked> {
        if matches!(passed.status, 429 | 502 | 503 | 504) {
            return Err(NotAsked::NoTime);
        }
        let request = passed.request().ok_or(NotAsked::NotWhole)?;
        let is_head = request.method == "HEAD";
        let method = if is_head { "GET".to_owned() } else { request.method.clone() };
        let (place, mut neutral) = self.recognised(&Request { method, ..request.clone() }).ok_or(NotAsked::Foreign)?;
        let dialect = &self.lefts[place].dialect;
        let operation = dialect.operations.get(&neutral.operation).ok_or(NotAsked::Foreign)?;
        if operation.id == LOGIN {
            return Err(NotAsked::LogIn);
        }
        // Each dialect has its own way to read blanks about a name.
        let names_one = neutral.business.as_deref().is_some_and(|name| !name.is_empty() && name.trim() == name);
        if operation.company != CompanyIn::Nowhere && !names_one {
            return Err(NotAsked::NoCompany);
        }
        let accepts = request.header("accept").unwrap_or_default();
        let waits = neutral.query.get("wait").is_some_and(|wait| wait != "0");
        if waits || accepts.contains("text/event-stream") {
            return Err(NotAsked::HeldBack);
        }
        self.may_be_asked(operation, &neutral)?;
        if self.pair.right_speaks_for_itself && matches!(passed.status, 401 | 403) {
            return Err(NotAsked::Refused);
        }
        let writes = operation.writes() && !is_rehearsal(&neutral);
        let answer = passed.answer().ok_or(NotAsked::NotWhole)?;
        // What a client says of itself changes an answer, too.
        for name in ["accept", "accept-language", "origin"] {
            if let Some(value) = request.header(name) {
                neutral.headers.insert(name.to_owned(), value.to_owned());
            }
        }
        neutral.headers.retain(|name, _| !is_of_a_browser(name) && !is_of_the_way(name));
        neutral.authorization.get_or_insert_default();
        Ok(Question { place, neutral, request, answer, is_head, writes })
    }

    fn may_be_asked(&self, operation: &Operation, neutral: &Neutral) -> Result<(), NotAsked> {
        if !operation.writes() {
            return Ok(());
        }
        if is_rehearsal(neutral) {
            let knows_both = |left: &Side| left.documented && self.right(left).is_some_and(|right| right.documented);
            return if self.lefts.iter().all(knows_both) { Ok(()) } else { Err(NotAsked::Write) };
        }
        if self.is_on_copy() && may_follow(operation) { Ok(()) } else { Err(NotAsked::Write) }
    }

    fn right(&self, left: &Side) -> Option<&Side> {
        match &self.other {
            Other::Server { side, .. } => Some(side),
            Other::Dialect => self.lefts.iter().find(|one| one.dialect.name != left.dialect.name),
        }
    }

    /// Asks the other side, and keeps what differs. `rests` says whether no write is on its way.
    pub async fn ask(
        &mut self,
        passed: &Passed,
        question: Question,
        now: &str,
        rests: &(dyn Fn() -> bool + Sync),
    ) -> Next {
        let Question { place, neutral, request, answer, is_head, writes } = question;
        let left = self.lefts[place].clone();
        let Some(right) = self.right(&left).cloned() else { return Next::Done };
        let origins = [left.transport.origin().to_owned(), right.transport.origin().to_owned()];
        (self.pair.left, self.pair.right) = (left, right);
        let rested = rests();
        let heard = Heard { said: &neutral, request, answer, is_head };
        let asked = self.pair.beside(heard).await;
        let Ok((mut compared, settled)) = asked else {
            self.passes_over(passed, NotAsked::Unanswered);
            return Next::Done;
        };
        if compared.verdict == Verdict::Different && self.is_on_copy() && !writes && !(rested && rests()) {
            return Next::Later;
        }
        hushed(&mut compared, passed, &origins);
        let mut standing = self.watched.standing();
        standing.asked += 1;
        match compared.verdict {
            Verdict::Different => standing.different += 1,
            Verdict::Equal | Verdict::Declared if settled => standing.settled += 1,
            Verdict::Equal | Verdict::Declared => standing.alike += 1,
        }
        let minute = standing.minute(now);
        minute.asked += 1;
        minute.different += u64::from(compared.verdict == Verdict::Different);
        drop(standing);
        self.watched.report().add_at(&compared, now);
        Next::Done
    }

    /// Which dialect a request is of, and what it asks.
    fn recognised(&self, request: &Request) -> Option<(usize, Neutral)> {
        let own = self.lefts.iter().enumerate();
        if let Some(found) = own.clone().find_map(|(place, side)| Some((place, side.dialect.recognise(request)?))) {
            return Some(found);
        }
        let shared = self.shared.as_deref()?;
        // Where the request names its company speaks for the dialects that name it there.
        let named = if request.header("x-business-id").is_some() { CompanyIn::Header } else { CompanyIn::Path };
        let mut order: Vec<(usize, &Arc<Dialect>)> = own.map(|(place, side)| (place, &side.dialect)).collect();
        order.sort_by_key(|(_, dialect)| dialect.company_in() != named);
        order.into_iter().find_map(|(place, dialect)| Some((place, dialect.below(shared).recognise(request)?)))
    }
}

/// What is asked of the other side.
#[derive(Debug)]
pub struct Question {
    place: usize,
    neutral: Neutral,
    request: Request,
    answer: Answer,
    is_head: bool,
    /// Whether it is a write that is done again, in the order in which they came.
    pub writes: bool,
}

/// Whether a header says where a request came from: that is for each server to find out.
fn is_of_the_way(name: &str) -> bool {
    let name = name.to_lowercase();
    name.starts_with("x-forwarded-") || matches!(name.as_str(), "forwarded" | "x-real-ip" | "via")
}

/// Takes out of a comparison what nobody else may read, whatever it was that held it.
fn hushed(compared: &mut Compared, passed: &Passed, origins: &[String; 2]) {
    let mut discretion = Discretion::at(passed.path());
    // Whatever was secret in what passed by is secret in what came of it.
    for (name, value) in passed.headers.iter().chain(&passed.answer_headers) {
        discretion.header(name, value);
    }
    let of_query = |discretion: &mut Discretion, target: &str| match target.split_once('?') {
        Some((path, query)) => format!("{path}?{}", discretion.pairs(query)),
        None => target.to_owned(),
    };
    of_query(&mut discretion, &passed.target);
    if compared.verdict == Verdict::Different {
        // As it was sent: what is shown of it has its secrets masked already, and nobody would know what else repeats them.
        if let Some(body) = passed.request().and_then(|request| request.body) {
            discretion.body("application/json", &body);
        }
        if let Some(answer) = passed.answer() {
            discretion.body(answer.header("content-type").unwrap_or_default(), &answer.body);
        }
    }
    for exchange in [&mut compared.left, &mut compared.right] {
        let request = &mut exchange.request;
        request.target = of_query(&mut discretion, &request.target);
        for (name, value) in request.headers.iter_mut().filter(|(_, value)| !value.ends_with(curl::TOKEN)) {
            *value = discretion.header(name, value);
        }
        request.body = request.body.as_deref().map(|body| discretion.body("application/json", body));
        if let Some(answer) = &mut exchange.answer {
            let media = answer.header("content-type").unwrap_or_default().to_owned();
            answer.body = discretion.body(&media, &answer.body);
            for (name, value) in &mut answer.headers {
                *value = discretion.header(name, value);
            }
        }
    }
    secrets::mask_request(&mut compared.request);
    for (name, value) in &mut compared.request.headers {
        *value = discretion.header(name, value);
    }
    for (name, value) in &mut compared.request.query.0 {
        let pair = discretion.pairs(&format!("{name}={value}"));
        if pair.ends_with(secrets::MASK) {
            secrets::MASK.clone_into(value);
        }
    }
    if let Some(body) = &mut compared.request.body {
        discretion.value("", body);
    }
    for difference in &mut compared.differences {
        let name = difference.path.rsplit('.').next().unwrap_or_default().to_owned();
        for value in [&mut difference.left, &mut difference.right].into_iter().flatten() {
            discretion.value(&name, value);
        }
    }
    // All are known by now.
    for (exchange, origin) in [&mut compared.left, &mut compared.right].into_iter().zip(origins) {
        let request = &mut exchange.request;
        request.target = discretion.hush(&request.target);
        for (_, value) in request.headers.iter_mut().filter(|(_, value)| !value.ends_with(curl::TOKEN)) {
            *value = discretion.hush(value);
        }
        request.body = request.body.as_deref().map(|body| discretion.hush(body));
        exchange.curl = curl::written(origin, request);
        if let Some(answer) = &mut exchange.answer {
            answer.body = discretion.hush(&answer.body);
            answer.headers.iter_mut().for_each(|(_, value)| *value = discretion.hush(value));
        }
    }
    compared.request = compared.request.map(&mut |text| discretion.hush(text));
    compared.request.authorization = None;
    for difference in &mut compared.differences {
        for value in [&mut difference.left, &mut difference.right].into_iter().flatten() {
            discretion.value("", value);
        }
    }
}
