//! What a posted invoice takes on disk, by table and by index; and the server's own time for it.
//!
//! The invoices differ as those of a shop do: words, amounts, days, one to twelve lines, two thousand customers. What the
//! company itself takes is there before and is not counted.

use crate::Result;
use crate::client::{Connection, request};
use crate::figures::{Figure, Target};
use crate::place::{Place, Raw, Server, say};
use clap::Args;
use sea_orm::{ConnectionTrait, DbBackend, Statement};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Who posts at once.
const CLIENTS: usize = 32;

const WORDS: &[&str] = &[
    "Espresso", "beans", "grinder", "delivery", "service", "filter", "paper", "roasted", "organic", "whole", "kettle",
    "copper", "repair", "hours", "travel", "lamp", "oak", "table", "large", "small", "blue", "spare", "part", "annual",
];

/// Numbers that look like chance and are the same in every run.
struct Dice(u64);

impl Dice {
    /// From nothing up to one less than so many.
    fn below(&mut self, many: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % many.max(1)
    }

    fn words(&mut self, most: u64) -> String {
        let many = 1 + self.below(most);
        let word = |dice: &mut Self| {
            let place = usize::try_from(dice.below(WORDS.len() as u64)).unwrap_or_default();
            WORDS.get(place).copied().unwrap_or_default()
        };
        (0..many).map(|_| word(self)).collect::<Vec<_>>().join(" ")
    }

    fn amount(&mut self, most: u64) -> String {
        let cents = 50 + self.below(most * 100);
        format!("{}.{:02}", cents / 100, cents % 100)
    }
}

/// What the database holds: bytes of every table and index, each under its table.
type Sizes = BTreeMap<(String, String), i64>;

const ON_SQLITE: &str = "SELECT s.tbl_name AS relation, s.name AS part, SUM(d.pgsize) AS bytes \
     FROM dbstat AS d JOIN sqlite_schema AS s ON s.name = d.name GROUP BY s.tbl_name, s.name";

const ON_POSTGRES: &str = "SELECT c.relname::text AS relation, c.relname::text AS part, pg_table_size(c.oid)::bigint AS bytes \
     FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace \
     UNION ALL SELECT c.relname::text, x.relname::text, pg_relation_size(x.oid)::bigint \
     FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_class x ON x.oid = i.indexrelid \
     WHERE c.relnamespace = current_schema()::regnamespace";

async fn sizes(raw: &Raw) -> Result<Sizes> {
    let turn = raw.turn().await?;
    let engine = turn.session.get_database_backend();
    let sql = if engine == DbBackend::Postgres { ON_POSTGRES } else { ON_SQLITE };
    let rows = turn.session.query_all_raw(Statement::from_string(engine, sql)).await?;
    turn.keep().await?;
    let size = |row: &sea_orm::QueryResult| -> Result<_> {
        Ok(((row.try_get("", "relation")?, row.try_get("", "part")?), row.try_get("", "bytes")?))
    };
    rows.iter().map(size).collect()
}

/// Sends all of them, many at once; how they were answered is checked.
async fn send(server: &Server, asked: Vec<Vec<u8>>) -> Result<Vec<Value>> {
    let (asked, next) = (Arc::new(asked), Arc::new(AtomicUsize::new(0)));
    let mut tasks = Vec::new();
    for _ in 0..CLIENTS {
        let (asked, next, address) = (asked.clone(), next.clone(), server.address);
        tasks.push(tokio::spawn(async move {
            let mut connection = Connection::open(address).await?;
            let mut answers = Vec::new();
            while let Some(one) = asked.get(next.fetch_add(1, Ordering::Relaxed)) {
                let answer = connection.send(one).await?;
                if answer.status != 201 {
                    return Err(String::from_utf8_lossy(&answer.body).into_owned().into());
                }
                answers.push(answer.json()?);
            }
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>(answers)
        }));
    }
    let mut answers = Vec::new();
    for task in tasks {
        answers.extend(task.await??);
    }
    Ok(answers)
}

/// A company with customers, items and taxes, and the identifiers of these.
struct Shop {
    id: String,
    customers: Vec<String>,
    items: Vec<String>,
    taxes: Vec<String>,
}

impl Shop {
    async fn open(server: &Server, parties: usize, dice: &mut Dice) -> Result<Self> {
        let (id, _) = server.company("Bytes").await?;
        let post = |path: &str, body: &Value| request("POST", path, Some(&server.token), Some(&id), &body.to_string());
        let ids = |answers: Vec<Value>| -> Vec<String> {
            let mut ids: Vec<String> =
                answers.iter().filter_map(|made| made["id"].as_str()).map(str::to_owned).collect();
            ids.sort_unstable();
            ids
        };
        let parties =
            (0..parties).map(|_| post("/b/api/parties", &json!({"name": dice.words(3), "isCustomer": true}))).collect();
        let taxes = [19, 7].map(|rate| {
            let body =
                json!({"code": format!("VAT{rate}"), "name": "VAT", "components": [{"name": "VAT", "rate": rate}]});
            post("/b/api/tax-codes", &body)
        });
        let items =
            (0..100).map(|_| post("/b/api/items", &json!({"name": dice.words(3), "type": "service"}))).collect();
        let customers = ids(send(server, parties).await?);
        let (items, taxes) = (ids(send(server, items).await?), ids(send(server, taxes.into()).await?));
        Ok(Self { id, customers, items, taxes })
    }

    /// One of these.
    fn any<'t>(of: &'t [String], dice: &mut Dice) -> &'t str {
        let place = usize::try_from(dice.below(of.len() as u64)).unwrap_or_default();
        of.get(place).map_or("", String::as_str)
    }

    fn invoice(&self, lines: Option<u64>, dice: &mut Dice) -> Value {
        let many = lines.unwrap_or_else(|| 1 + dice.below(12));
        let line = |dice: &mut Dice| {
            let mut line = json!({
                "description": dice.words(5), "quantity": 1 + dice.below(20), "unitPrice": dice.amount(500),
                "taxCodeId": Self::any(&self.taxes, dice),
            });
            if dice.below(2) == 0 {
                line["itemId"] = Self::any(&self.items, dice).into();
            }
            line
        };
        let day = format!("2026-{:02}-{:02}", 1 + dice.below(11), 1 + dice.below(28));
        json!({
            "date": day, "partyId": Self::any(&self.customers, dice), "reference": format!("PO-{}", dice.below(100_000)),
            "lines": (0..many).map(|_| line(dice)).collect::<Vec<_>>(),
        })
    }
}

/// How many invoices, for how many customers, of how many lines, and the program that is asked.
#[derive(Args)]
pub(crate) struct Asked {
    #[arg(long, default_value_t = 20_000)]
    invoices: usize,
    /// Customers that they are for
    #[arg(long, default_value_t = 2_000)]
    parties: usize,
    /// Lines of each; one to twelve when absent
    #[arg(long)]
    lines: Option<u64>,
    /// Another build of the server, instead of this one
    #[arg(long)]
    duet: Option<PathBuf>,
}

impl Asked {
    /// The shape that the other figures are of.
    pub(crate) fn of_three_lines() -> Self {
        Self { invoices: 20_000, parties: 2_000, lines: Some(3), duet: None }
    }
}

/// What was found, by table.
struct Found {
    tenths: usize,
    each: i64,
    spent: u64,
    tables: Vec<(String, Vec<(String, i64)>)>,
}

async fn find(place: &Place, asked: &Asked) -> Result<Found> {
    let Asked { invoices, parties, lines, duet } = asked;
    let (invoices, parties, lines) = (*invoices, *parties, *lines);
    let database = place.fresh("bytes").await?;
    let server = match duet {
        Some(program) => Server::of(program.clone(), &database).await?,
        None => Server::start(&database).await?,
    };
    let raw = Place::open(&database).await?;
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let shop = Shop::open(&server, parties, &mut dice).await?;
    let before = sizes(&raw).await?;
    let mut asked = Vec::with_capacity(invoices);
    let mut all_lines = 0;
    for _ in 0..invoices {
        let invoice = shop.invoice(lines, &mut dice);
        all_lines += invoice["lines"].as_array().map_or(0, Vec::len);
        let body = invoice.to_string();
        asked.push(request("POST", "/b/api/sales-invoices", Some(&server.token), Some(&shop.id), &body));
    }
    let spent = server.spent()?;
    send(&server, asked).await?;
    let spent = server.spent()? - spent;
    let after = sizes(&raw).await?;
    let many = i64::try_from(invoices.max(1))?;
    let mut tables: BTreeMap<String, Vec<(String, i64)>> = BTreeMap::new();
    for ((table, part), now) in &after {
        let was = before.get(&(table.clone(), part.clone())).copied().unwrap_or(0);
        tables.entry(table.clone()).or_default().push((part.clone(), now - was));
    }
    let mut tables: Vec<_> = tables.into_iter().collect();
    tables.sort_by_key(|(_, parts)| std::cmp::Reverse(total(parts)));
    let each = tables.iter().map(|(_, parts)| total(parts)).sum::<i64>() / many;
    for (_, parts) in &mut tables {
        for (_, bytes) in parts.iter_mut() {
            *bytes /= many;
        }
        parts.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    }
    if !server.stop_and_verify_one(&shop.id)? {
        return Err("the books are not whole".into());
    }
    let spent = spent * 1_000_000 / u64::try_from(invoices.max(1))? / TICKS;
    Ok(Found { tenths: all_lines * 10 / invoices.max(1), each, spent, tables })
}

fn total(parts: &[(String, i64)]) -> i64 {
    parts.iter().map(|(_, bytes)| bytes).sum()
}

pub(crate) async fn run(place: &Place, asked: &Asked) -> Result<()> {
    let found = find(place, asked).await?;
    say(&format!(
        "{}: {} posted invoices of {}.{} lines, {} customers: {} bytes each, {} us of the server's time each",
        place.engine(),
        asked.invoices,
        found.tenths / 10,
        found.tenths % 10,
        asked.parties,
        found.each,
        found.spent,
    ));
    for (table, parts) in found.tables.iter().filter(|(_, parts)| total(parts) > 0) {
        say(&format!("{:>7}  {table}", total(parts)));
        for (part, bytes) in parts.iter().filter(|(_, bytes)| *bytes > 0) {
            say(&format!("{bytes:>16}  {part}"));
        }
    }
    say("duet verify: the books are whole");
    Ok(())
}

/// The same as one figure.
pub(crate) async fn figure(place: &Place, asked: &Asked) -> Result<Figure> {
    let found = find(place, asked).await?;
    let dearest = found.tables.iter().take(5).map(|(table, parts)| format!("{table} {}", total(parts)));
    Ok(Figure {
        engine: place.engine(),
        what: format!("a posted invoice of {}.{} lines on disk", found.tenths / 10, found.tenths % 10),
        unit: "bytes",
        ours: u64::try_from(found.each)?,
        beside: None,
        target: Target::Below(2_000),
        told: dearest.collect::<Vec<_>>().join(", "),
    })
}

/// What the kernel counts a process's time in, a second.
const TICKS: u64 = 100;
