//! Two companies that go through the same requests, each in its own dialect, by the engine that `duet compare` runs on.

use super::http::{Answer, Request};
use super::server::{Company, Server};
use super::{Dialect, authority};
use compare::declared::Declared;
use compare::dialect;
use compare::difference::Verdict;
use compare::meaning::Meaning;
use compare::neutral::Neutral;
use compare::pair::{Compared, Pair, Relation, Side};
use compare::report::one_in_text;
use compare::wire;
use dialect_a::DialectA;
use dialect_b::DialectB;
use http_kit::openapi::{Document, as_30};
use std::net::SocketAddr;
use std::sync::{Arc, LazyLock};
use tokio::runtime::Runtime;

/// Both dialects as a default installation documents them.
static DIALECTS: LazyLock<[Arc<dialect::Dialect>; 2]> = LazyLock::new(|| {
    [Document::of_one::<DialectA>("/a/api"), Document::of_one::<DialectB>("/b/api")]
        .map(|document| Arc::new(dialect::Dialect::of(as_30(document), None).expect("our own document")))
});

pub fn documented(dialect: Dialect) -> &'static Arc<dialect::Dialect> {
    &DIALECTS[usize::from(dialect == Dialect::B)]
}

/// What an answer means, which must be wrapped exactly as its dialect promises.
pub fn meaning(dialect: Dialect, answer: &Answer) -> Meaning {
    let meaning = Meaning::of(documented(dialect), None, &answer.clone().into());
    assert!(meaning.faults.is_empty(), "{:#?}: {}", meaning.faults, answer.text);
    meaning
}

impl From<Answer> for wire::Answer {
    fn from(answer: Answer) -> Self {
        Self { status: answer.status, headers: answer.headers, body: answer.text, micros: 0 }
    }
}

/// Requests of the engine, sent by the suites' own client and held against the documents like all others.
struct Wire(SocketAddr, String);

impl wire::Transport for Wire {
    fn send(&self, request: wire::Request) -> wire::Sending<'_> {
        let wire::Request { method, target, headers, body } = request;
        let request = Request { method, path: target, headers, body: body.map(String::into_bytes) };
        let answer = request.send(self.0);
        authority::hold(&request, &answer);
        Box::pin(async { Ok(answer.into()) })
    }

    fn origin(&self) -> &str {
        &self.1
    }
}

pub struct Twins<'s> {
    pub pair: Pair,
    pub left: Company<'s>,
    pub right: Company<'s>,
    runtime: Runtime,
}

impl<'s> Twins<'s> {
    pub fn of(server: &'s Server) -> Self {
        let (left, right) = (server.company(), server.company());
        let side = |dialect| Side {
            dialect: documented(dialect).clone(),
            transport: Arc::new(Wire(server.address, format!("http://{}", server.address))),
            token: Some(server.token().to_owned()),
            business: None,
            documented: true,
        };
        // A UUID that nobody else has.
        let run = &left.id;
        let mut pair = Pair::new(side(Dialect::A), side(Dialect::B), Relation::Twins, Declared::default(), run);
        pair.go_on_in(&left.id, &right.id);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        Self { pair, left, right, runtime }
    }

    /// Asks both; what they answer and what it did must be the same.
    pub fn equal(&mut self, neutral: &Neutral) -> Compared {
        let compared = self.runtime.block_on(self.pair.compare(neutral));
        assert_eq!(compared.verdict, Verdict::Equal, "{}", one_in_text(&compared));
        compared
    }
}
