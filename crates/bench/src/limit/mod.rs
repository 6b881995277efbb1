//! The bare server: token, JSON, and the rows of an invoice in group commits. No rules, no proof, no questions. Nobody who
//! keeps an invoice of three lines and its entry can be much faster, so it is what posting is measured by.

mod postgres;
mod sqlite;

use crate::Result;
use crate::place::say;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::serve::ListenerExt as _;
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

/// How many invoices are written together at most.
const GROUP: usize = 64;

struct Line {
    item: Uuid,
    text: String,
    quantity: i64,
    price: i64,
    amount: i64,
    tax: i64,
}

struct Invoice {
    id: Uuid,
    entry: Uuid,
    business: i32,
    party: Uuid,
    day: i32,
    lines: Vec<Line>,
    subtotal: i64,
    tax: i64,
}

/// What an account gets: debit, credit.
struct Leg {
    account: i32,
    debit: i64,
    credit: i64,
}

impl Invoice {
    fn read(business: i32, body: &[u8]) -> Option<Self> {
        let asked: Value = serde_json::from_slice(body).ok()?;
        let uuid = |value: &Value| Uuid::parse_str(value.as_str()?).ok();
        let number = |value: &Value| value.as_i64();
        let line = |line: &Value| {
            let (quantity, price) = (number(&line["quantity"])?, number(&line["price"])?);
            let amount = quantity * price;
            Some(Line {
                item: uuid(&line["item"])?,
                text: line["description"].as_str()?.to_owned(),
                quantity,
                price,
                amount,
                tax: (amount * number(&line["taxRate"])? + 5_000) / 10_000,
            })
        };
        let lines: Vec<Line> = asked["lines"].as_array()?.iter().map(line).collect::<Option<_>>()?;
        let day = i32::try_from(number(&asked["day"])?).ok()?;
        let (subtotal, tax) = (lines.iter().map(|line| line.amount).sum(), lines.iter().map(|line| line.tax).sum());
        let (id, entry) = (identifier(), identifier());
        Some(Self { id, entry, business, party: uuid(&asked["party"])?, day, lines, subtotal, tax })
    }

    fn legs(&self) -> Vec<Leg> {
        let mut legs = vec![Leg { account: 1, debit: self.subtotal + self.tax, credit: 0 }];
        legs.extend((2..).zip(&self.lines).map(|(account, line)| Leg { account, debit: 0, credit: line.amount }));
        legs.push(Leg { account: 9, debit: 0, credit: self.tax });
        legs
    }

    fn json(&self, number: i64) -> Value {
        let line = |line: &Line| json!({"item": line.item, "description": line.text, "quantity": line.quantity, "price": line.price, "amount": line.amount, "tax": line.tax});
        json!({
            "id": self.id, "number": number, "party": self.party, "date": self.day, "status": "posted",
            "subtotal": self.subtotal, "tax": self.tax, "total": self.subtotal + self.tax,
            "lines": self.lines.iter().map(line).collect::<Vec<_>>(),
        })
    }
}

fn identifier() -> Uuid {
    crate::rows::clock().identifier()
}

/// What a group adds to each account and day, so that each sum is touched once.
fn sums(group: &[Invoice]) -> std::collections::BTreeMap<(i32, i32), (i64, i64)> {
    let mut sums = std::collections::BTreeMap::new();
    for invoice in group {
        for leg in invoice.legs() {
            let sum: &mut (i64, i64) = sums.entry((leg.account, invoice.day)).or_default();
            *sum = (sum.0 + leg.debit, sum.1 + leg.credit);
        }
    }
    sums
}

type Answer = oneshot::Sender<Option<(Value, i64)>>;
type Job = (Invoice, Answer);

struct Serving {
    lane: mpsc::Sender<Job>,
    key: DecodingKey,
    validation: Validation,
}

/// Serves until it is ended.
pub(crate) async fn serve(store: &str) -> Result<()> {
    ledger_core::auth::install_signing();
    let (lane, jobs) = mpsc::channel(4_096);
    if let Some(file) = store.strip_prefix("sqlite:") {
        let store = sqlite::Store::open(file)?;
        std::thread::spawn(move || sqlite::run(store, jobs));
    } else {
        let store = postgres::Store::open(store).await?;
        tokio::spawn(postgres::run(store, jobs));
    }
    let mut validation = Validation::new(Algorithm::HS256);
    validation.set_audience(&["bench"]);
    let state = Arc::new(Serving { lane, key: DecodingKey::from_secret(crate::bare::SECRET), validation });
    let router = Router::new().route("/{business}/sales", post(create)).with_state(state);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    say(&format!("listening on {}", listener.local_addr()?));
    axum::serve(listener.tap_io(|stream| drop(stream.set_nodelay(true))), router).await?;
    Ok(())
}

async fn create(
    State(state): State<Arc<Serving>>,
    Path(business): Path<i32>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let token = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = token.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
    if jsonwebtoken::decode::<Value>(token, &state.key, &state.validation).is_err() {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let Some(invoice) = Invoice::read(business, &body) else { return StatusCode::BAD_REQUEST.into_response() };
    let (answer, answered) = oneshot::channel();
    if state.lane.send((invoice, answer)).await.is_err() {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    match answered.await {
        Ok(Some((body, _))) => {
            (StatusCode::CREATED, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
        }
        _ => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// Tells each of a group its number, the first of which is known.
fn answer(group: Vec<Invoice>, answers: Vec<Answer>, first: Option<i64>) {
    for (place, (invoice, answer)) in (0..).zip(group.into_iter().zip(answers)) {
        let _gone = answer.send(first.map(|first| (invoice.json(first + place), first + place)));
    }
}

/// The same as a process of its own.
pub(crate) struct Limit {
    process: Child,
    pub(crate) address: std::net::SocketAddr,
}

impl Limit {
    pub(crate) fn start(store: &str) -> Result<Self> {
        let mut process =
            Command::new(std::env::current_exe()?).arg("limit").arg(store).stdout(Stdio::piped()).spawn()?;
        let output = process.stdout.take().ok_or("no output")?;
        let line = BufReader::new(output).lines().next().ok_or("the bare server did not start")??;
        let address = line.strip_prefix("listening on ").ok_or("the bare server did not start")?.parse()?;
        Ok(Self { process, address })
    }

    pub(crate) fn process(&self) -> u32 {
        self.process.id()
    }

    /// An invoice of three lines, as the bare server wants it.
    pub(crate) fn body() -> String {
        let line = |number: u8, text: &str, quantity: i64, price: i64| {
            json!({
                "item": format!("0190d3a2-0000-7000-8000-00000000000{number}"), "description": text,
                "quantity": quantity, "price": price, "taxRate": 1_900
            })
        };
        let lines = [line(1, "Espresso beans", 10, 1_850), line(2, "Grinder", 1, 24_900), line(3, "Delivery", 1, 490)];
        json!({"party": "0190d3a2-0000-7000-8000-000000000010", "day": 20_522, "lines": lines}).to_string()
    }
}

impl Drop for Limit {
    fn drop(&mut self) {
        let _ended = self.process.kill().and_then(|()| self.process.wait());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_keeps_balances_and_is_told() {
        let invoice = Invoice::read(1, Limit::body().as_bytes()).unwrap();
        assert_eq!((invoice.subtotal, invoice.tax), (43_890, 8_339));
        let legs = invoice.legs();
        assert_eq!(legs.len(), 5);
        assert_eq!(legs.iter().map(|leg| leg.debit - leg.credit).sum::<i64>(), 0);
        let told = invoice.json(7);
        assert_eq!((told["number"].as_i64(), told["total"].as_i64()), (Some(7), Some(52_229)));
        assert!(Invoice::read(1, b"{\"lines\":[]}").is_none());
        assert_eq!(sums(&[invoice]).values().map(|(debit, credit)| debit - credit).sum::<i64>(), 0);
    }
}
