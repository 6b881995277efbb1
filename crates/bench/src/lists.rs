//! What a page of a list costs the server after a write, when nothing can be answered again: the processor's time of one
//! request, beside that of a program that asks for the same columns and no more.

use crate::Result;
use crate::client::Connection;
use crate::figures::{Figure, Figures, Target};
use crate::load::processor;
use crate::place::{Place, Server};
use crate::shop::Shop;
use std::time::Duration;
use tokio_postgres::NoTls;
use uuid::Uuid;

/// So many turns there are; the middle one counts.
const TURNS: usize = 9;
/// So many writes are in each, and after each of them one request.
const WRITES: usize = 20;
const RESTS: Duration = Duration::from_millis(2);

/// What is asked of fifty documents, and how many microseconds it may take.
const ASKED: [(&str, &str, u64); 3] = [
    ("view=summary", "&view=summary", 1_000),
    ("fields=id,number,total", "&fields=id,number,total", 1_000),
    ("whole", "", 5_000),
];

/// The columns of which a summary is made.
const COLUMNS: &str = "select d.id, d.version, d.created_at, d.updated_at, d.number, d.date, d.status, d.stage, d.reference, \
     d.narration, d.external_id, d.tags, d.party_id, d.currency, d.total, d.base_total, d.due_date, o.open, o.base_open \
     from documents d left join open_items o on o.business_id = d.business_id and o.id = d.id";
const PAGE: &str = "and d.kind = 'I' order by d.date, d.id limit 50";

/// A program of its own on the same database.
enum Plain {
    /// With what the company is called in its keys there.
    Sqlite(rusqlite::Connection, rusqlite::types::Value),
    Postgres(tokio_postgres::Client, tokio_postgres::Statement, Uuid),
}

impl Plain {
    /// Of the only company that sold something.
    async fn open(database: &str, business: &str) -> Result<Self> {
        if let Some(file) = database.strip_prefix("sqlite:") {
            let connection = rusqlite::Connection::open(file)?;
            connection.execute_batch("pragma cache_size = -65536")?;
            let sold = "select business_id from documents where kind = 'I' limit 1";
            let business = connection.query_row(sold, [], |row| row.get(0))?;
            return Ok(Self::Sqlite(connection, business));
        }
        let (client, connection) = tokio_postgres::connect(database, NoTls).await?;
        tokio::spawn(connection);
        let statement = client.prepare(&format!("{COLUMNS} where d.business_id = $1 {PAGE}")).await?;
        Ok(Self::Postgres(client, statement, Uuid::parse_str(business)?))
    }

    /// Reads the page; how many rows it has.
    async fn read(&self) -> Result<usize> {
        match self {
            Self::Sqlite(connection, business) => {
                let mut statement = connection.prepare_cached(&format!("{COLUMNS} where d.business_id = ? {PAGE}"))?;
                let width = statement.column_count();
                let mut rows = statement.query([business])?;
                let mut read = Vec::new();
                while let Some(row) = rows.next()? {
                    for place in 0..width {
                        read.push(row.get::<_, rusqlite::types::Value>(place)?);
                    }
                }
                Ok(read.len() / width.max(1))
            }
            Self::Postgres(client, statement, business) => Ok(client.query(statement, &[business]).await?.len()),
        }
    }
}

/// What lies in the middle. What takes no time at all was not seen.
fn median(mut all: Vec<i64>) -> Result<u64> {
    all.sort_unstable();
    let middle = all.get(all.len() / 2).and_then(|middle| u64::try_from(*middle).ok());
    middle.filter(|middle| *middle > 0).ok_or_else(|| "too little was asked to see what it takes".into())
}

/// Who writes, and asks after each write.
struct Asking<'s> {
    connection: Connection,
    post: Vec<u8>,
    server: &'s Server,
}

impl Asking<'_> {
    async fn write(&mut self) -> Result<()> {
        let posted = self.connection.send(&self.post).await?;
        if posted.status == 201 { Ok(()) } else { Err(String::from_utf8_lossy(&posted.body).into_owned().into()) }
    }

    /// What the server takes for a write and what is asked after it.
    async fn turn(&mut self, asked: Option<&[u8]>) -> Result<i64> {
        let process = self.server.subject().process;
        let before = processor(process)?;
        for _ in 0..WRITES {
            self.write().await?;
            let Some(asked) = asked else { continue };
            let answer = self.connection.send(asked).await?;
            let items = answer.json()?["items"].as_array().map_or(0, Vec::len);
            if (answer.status, items) != (200, 50) {
                return Err(format!("{} with {items} items", answer.status).into());
            }
        }
        let took =
            processor(process)?.checked_sub(before).ok_or("a thread of the server ended, and took its time along")?;
        Ok(i64::try_from(took / u64::try_from(WRITES)?)?)
    }

    /// What a program takes that asks for no more.
    async fn plainly(&mut self, plain: &Plain) -> Result<i64> {
        let (own, mut took, mut turns) = (std::process::id(), 0, 0);
        for _ in 0..WRITES {
            self.write().await?;
            tokio::time::sleep(RESTS).await;
            let before = processor(own)?;
            let rows = plain.read().await?;
            // What a thread took is counted when it rests.
            tokio::time::sleep(RESTS).await;
            // A thread that ended meanwhile took its time along: such a turn tells nothing.
            if let Some(more) = processor(own)?.checked_sub(before) {
                took += more;
                turns += 1;
            }
            if rows != 50 {
                return Err(format!("a page of {rows} rows").into());
            }
        }
        let middle = took.checked_div(turns).ok_or("no turn told what it took")?;
        Ok(i64::try_from(middle)?)
    }
}

/// Reads after writes, in a company of so many invoices.
pub(crate) async fn seen(
    place: &Place,
    server: &Server,
    shop: &Shop,
    invoices: usize,
    figures: &mut Figures,
) -> Result<()> {
    let plain = Plain::open(server.database(), &shop.id).await?;
    let post = shop.posts(server).requests.first().cloned().ok_or("nothing is posted")?;
    let mut asking = Asking { connection: Connection::open(server.address).await?, post, server };
    for (what, query, most) in ASKED {
        let asked = shop.get(server, &format!("/b/api/sales-invoices?pageSize=50{query}"));
        // What is prepared once is there.
        asking.turn(Some(&asked)).await?;
        let (mut took, mut beside) = (Vec::new(), Vec::new());
        for _ in 0..TURNS {
            let write = asking.turn(None).await?;
            took.push(asking.turn(Some(&asked)).await? - write);
            beside.push(asking.plainly(&plain).await?);
        }
        figures.add(Figure {
            engine: place.engine(),
            what: format!("list of 50, {what}, after a write, of {invoices} invoices"),
            unit: "us of the processor",
            ours: median(took)?,
            beside: Some(("plain SQL", median(beside)?)),
            target: Target::Below(most),
            told: String::new(),
        });
    }
    Ok(())
}
