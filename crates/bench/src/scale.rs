//! Reading in large books: a company of many invoices of many items, nine of ten paid, a third of them of one customer who walked in.
//! It is filled over HTTP, so its rows are those of the server, and they are proved.

use crate::Result;
use crate::client::{Connection, request};
use crate::figures::{Figure, Figures};
use crate::given_up;
use crate::lists;
use crate::load::{each_once, megabytes};
use crate::place::{Place, Server};
use crate::shop::Shop;
use clap::Args;
use serde_json::{Value, json};
use std::time::Instant;

/// Who fills.
const CLIENTS: usize = 64;
/// So many invoices one receipt settles.
const SETTLED: usize = 50;
/// So often each thing is asked once it is known.
const WARM: usize = 5;

#[derive(Args, Clone)]
pub(crate) struct Size {
    /// Invoices of the company
    #[arg(long, default_value_t = 100_000)]
    pub(crate) invoices: usize,
    /// Its customers, of which the first has a third of the invoices
    #[arg(long, default_value_t = 5_000)]
    pub(crate) parties: usize,
    /// What it sells
    #[arg(long, default_value_t = 20_000)]
    pub(crate) items: usize,
}

/// A question, and the milliseconds that it may take.
struct Question {
    what: &'static str,
    path: String,
    most: u64,
}

fn questions(size: &Size, walk_in: &str) -> Vec<Question> {
    let list = |what, query: String| Question { what, path: format!("sales-invoices?pageSize=50{query}"), most: 10 };
    let report = |what, query: &str, most| Question { what, path: format!("reports/{what}?{query}"), most };
    let last = size.invoices.div_ceil(50);
    let span = "from=2026-01-01&to=2026-12-31";
    let month = "from=2026-06-01&to=2026-06-30";
    let as_of = "asOf=2026-12-31";
    let mut all = vec![
        list("list, first page", String::new()),
        list("list, in the middle", format!("&page={}", last / 2)),
        list("list, last page", format!("&page={last}")),
    ];
    for (what, query) in [
        ("list, status=open", "&status=open"),
        ("list, status=paid", "&status=paid"),
        ("list, status=partiallyPaid", "&status=partiallyPaid"),
        ("list, isOverdue=true", "&isOverdue=true"),
        ("list, a month", "&dateFrom=2026-06-01&dateTo=2026-06-30"),
        ("list, due in a month", "&dueFrom=2026-06-01&dueTo=2026-06-30"),
        ("list, minTotal", "&minTotal=5000"),
        ("list, sort=date", "&sort=date"),
        ("list, sort=-date", "&sort=-date"),
        ("list, sort=number", "&sort=number"),
        ("list, sort=-number", "&sort=-number"),
        ("list, sort=-total", "&sort=-total"),
        ("list, sort=-createdAt", "&sort=-createdAt"),
        ("list, sort=-total, open", "&sort=-total&status=open"),
    ] {
        all.push(list(what, query.to_owned()));
    }
    all.push(list("list, walk-in customer", format!("&partyId={walk_in}")));
    all.push(list("list, walk-in customer, open", format!("&partyId={walk_in}&status=open")));
    // A number, and all that begin so.
    all.push(Question { what: "search, a number", path: "sales-invoices?q=INV-2026-7777".into(), most: 5 });
    all.push(Question {
        what: "search, a number of nothing",
        path: "sales-invoices?q=INV-2026-00777".into(),
        most: 30,
    });
    all.push(Question { what: "search, a common word", path: "sales-invoices?q=espresso".into(), most: 30 });
    all.push(Question { what: "search, a rare word", path: "sales-invoices?q=zeppelin".into(), most: 30 });
    for (what, path) in [
        ("parties, a page", "parties?pageSize=50"),
        ("items, a page", "items?pageSize=50"),
        ("entries, a page", "entries?pageSize=50"),
    ] {
        all.push(Question { what, path: path.into(), most: 10 });
    }
    all.push(Question { what: "audit log, a page", path: "audit-log?pageSize=50".into(), most: 10 });
    for what in ["trial-balance", "pl", "cash-flow", "tax-summary", "tax-return"] {
        all.push(report(what, span, 10));
    }
    all.push(report("bs", as_of, 10));
    for (what, most) in [("ar-aging", 50), ("ar-aging-detail", 50)] {
        all.push(report(what, as_of, most));
    }
    for what in ["sales-by-customer", "sales-by-item"] {
        all.push(report(what, span, 100));
    }
    for what in ["general-ledger", "day-book"] {
        all.push(report(what, month, 20));
    }
    all.push(report("party-statement", &format!("{month}&partyId={walk_in}"), 20));
    all
}

/// Asks each thing once, so many at a time, and keeps the answers.
async fn made(server: &Server, shop: &Shop, path: &str, bodies: Vec<Value>) -> Result<Vec<Value>> {
    let requests: Vec<Vec<u8>> = bodies
        .iter()
        .map(|body| request("POST", path, Some(&server.token), Some(&shop.id), &body.to_string()))
        .collect();
    let answers = each_once(server.address, requests, 201, CLIENTS).await?;
    answers.iter().map(|answer| Ok(serde_json::from_slice(answer)?)).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

/// Fills a company; its walk-in customer.
pub(crate) async fn fill(server: &Server, shop: &Shop, size: &Size) -> Result<String> {
    let parties = (0..size.parties).map(|number| json!({"name": format!("Customer {number}"), "isCustomer": true}));
    let parties = made(server, shop, "/b/api/parties", parties.collect()).await?;
    let walk_in = text(&parties.first().ok_or("a company without customers")?["id"]).to_owned();
    let items = (0..size.items).map(|number| json!({"name": format!("Item {number}"), "type": "service"}));
    let items = made(server, shop, "/b/api/items", items.collect()).await?;
    let bank = server.ask("GET", "/b/api/accounts?code=1010", Some(&shop.id), "").await?;
    let bank = text(&bank["items"][0]["id"]).to_owned();
    let invoice = |number: usize| {
        let party = if number.is_multiple_of(3) { &parties[0] } else { &parties[number % parties.len()] };
        let word = if number == size.invoices / 2 { "Zeppelin" } else { "Espresso beans" };
        let (month, day) = (number % 12 + 1, number / 12 % 28 + 1);
        // Each line is of another item, and each item is sold as often as any other.
        let line = |place: usize, words: &str, price: usize| {
            let item = items.get((number * 3 + place) % items.len().max(1)).map(|item| &item["id"]);
            json!({"itemId": item, "description": words, "quantity": 1 + number % 7, "unitPrice": price, "taxCodeId": shop.tax})
        };
        json!({
            "date": format!("2026-{month:02}-{day:02}"), "partyId": party["id"], "reference": format!("PO-{number}"),
            "lines": [line(0, word, 18 + number % 900), line(1, "Grinder", 249), line(2, "Delivery", 5)]
        })
    };
    for begin in (0..size.invoices).step_by(10_000) {
        let bodies = (begin..size.invoices.min(begin + 10_000)).map(invoice).collect();
        let invoices = made(server, shop, "/b/api/sales-invoices", bodies).await?;
        // Nine of ten are settled, those of one customer together.
        let mut owed: std::collections::BTreeMap<&str, Vec<&Value>> = std::collections::BTreeMap::new();
        for (number, invoice) in (begin..).zip(&invoices) {
            if number % 10 != 9 {
                owed.entry(text(&invoice["partyId"])).or_default().push(invoice);
            }
        }
        let mut receipts = Vec::new();
        for (party, invoices) in owed {
            for some in invoices.chunks(SETTLED) {
                let settled: Vec<Value> =
                    some.iter().map(|one| json!({"targetId": one["id"], "amount": one["total"]})).collect();
                let cents: u64 = some.iter().map(|one| cents(&one["total"])).sum();
                receipts.push(json!({
                    "date": "2026-12-31", "partyId": party, "accountId": bank, "allocations": settled,
                    "amount": format!("{}.{:02}", cents / 100, cents % 100)
                }));
            }
        }
        made(server, shop, "/b/api/receipts", receipts).await?;
    }
    Ok(walk_in)
}

/// An amount of the wire, which has two places at most.
fn cents(amount: &Value) -> u64 {
    let told = amount.to_string();
    let told = told.trim_matches('"');
    let (whole, part) = told.split_once('.').unwrap_or((told, ""));
    let digits = |text: &str| text.parse::<u64>().unwrap_or(0);
    digits(whole) * 100 + digits(&format!("{part:0<2}")[..2])
}

/// How long one question takes; what is refused has missed its target, and the others are asked all the same.
async fn asked(
    place: &Place,
    (server, shop): (&Server, &Shop),
    connection: &mut Connection,
    (question, invoices): (&Question, usize),
) -> Result<Figure> {
    let Question { what, path, most } = question;
    let what = format!("{what}, of {invoices} invoices");
    let mut took = Vec::new();
    for _ in 0..=WARM {
        let request = shop.get(server, &format!("/b/api/{path}"));
        // After a write nothing that was answered before may be answered again.
        let posted = connection.send(shop.posts(server).requests.first().ok_or("nothing is posted")?).await?;
        if posted.status != 201 {
            return Err(String::from_utf8_lossy(&posted.body).into_owned().into());
        }
        let begun = Instant::now();
        let answer = connection.send(&request).await?;
        took.push(u64::try_from(begun.elapsed().as_micros())?);
        if answer.status != 200 {
            let refused = Figure::alone(place.engine(), &what, "(status)", answer.status.into(), 200);
            return Ok(Figure { told: String::from_utf8_lossy(&answer.body).into_owned(), ..refused });
        }
    }
    let cold = took.remove(0);
    took.sort_unstable();
    let warm = took.get(took.len() / 2).copied().unwrap_or(0);
    let figure = Figure::alone(place.engine(), &what, "us", warm, most * 1_000);
    Ok(Figure { told: format!("asked first: {}", milliseconds(cold)), ..figure })
}

pub(crate) async fn run(place: &Place, size: &Size, figures: &mut Figures) -> Result<()> {
    let server = Server::start(&place.fresh("scale").await?).await?;
    let shop = Shop::open(&server, "Large books").await?;
    let walk_in = fill(&server, &shop, size).await?;
    let mut connection = Connection::open(server.address).await?;
    for question in questions(size, &walk_in) {
        figures.add(asked(place, (&server, &shop), &mut connection, (&question, size.invoices)).await?);
    }
    lists::seen(place, &server, &shop, size.invoices, figures).await?;
    let alone = |what: &str, unit, ours, most| Figure::alone(place.engine(), what, unit, ours, most);
    figures.add(alone("memory after all of them", "MB", megabytes(server.subject().process)?, 300));
    given_up::seen(place, &server, &shop, figures).await?;
    // What was posted since is proved as well.
    let posted = server.ask("GET", "/b/api/sales-invoices?pageSize=1", Some(&shop.id), "").await?;
    let posted = posted["pagination"]["totalCount"].as_u64().ok_or("nobody counts the invoices")?;
    let begun = Instant::now();
    if !server.stop_and_verify_one(&shop.id)? {
        return Err("the books are not whole".into());
    }
    // Sixty seconds for ten million lines, which a million invoices have.
    let most = 60_000 * posted / 1_000_000;
    let took = u64::try_from(begun.elapsed().as_millis())?;
    figures.add(alone(&format!("verify, of {posted} invoices"), "ms", took, most.max(1_000)));
    Ok(())
}

fn milliseconds(micros: u64) -> String {
    format!("{}.{:01} ms", micros / 1_000, micros % 1_000 / 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_of_the_wire_is_read_to_the_cent() {
        let read: Vec<u64> = [json!(5), json!("12.5"), json!("0.07"), json!("1234.56")].iter().map(cents).collect();
        assert_eq!(read, [500, 1_250, 7, 123_456]);
    }
}
