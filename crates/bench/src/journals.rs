//! Journals of six lines: over HTTP, in a transaction each, in planned batches.

use crate::Result;
use crate::client::{Connection, request};
use crate::place::{Place, Raw, Server, say};
use crate::rows::{Company, Rows, clock, day};
use ledger_core::clock::Clock;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

pub(crate) const CLIENTS: [usize; 3] = [1, 8, 32];

pub(crate) async fn run(place: &Place, seconds: u64, turns: usize) -> Result<()> {
    let server = Server::start(&place.fresh("http").await?).await?;
    let (business, accounts) = server.company("Over HTTP").await?;
    let raw = Place::open(&place.fresh("rows").await?).await?;
    let clock = Arc::new(clock());
    let turn = raw.turn().await?;
    let each = Company::plant(&turn.session, &clock).await?;
    let batched = Company::plant(&turn.session, &clock).await?;
    turn.keep().await?;
    let length = Duration::from_secs(seconds);
    say(&format!("{}: journals of 6 lines a second, {turns} turns of {seconds} s each, median", place.engine()));
    say("clients        HTTP   each in a transaction   in planned batches   HTTP/each   HTTP/batches");
    for clients in CLIENTS {
        let (mut over_http, mut in_each, mut in_batches) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..turns {
            over_http.push(http(&server, &business, &accounts, clients, length).await?);
            in_each.push(transaction_each(&raw, &each, &clock, clients, length).await?);
            in_batches.push(planned(&raw, &batched, &clock, clients, length).await?);
        }
        let (http, each, batches) = (median(over_http), median(in_each), median(in_batches));
        say(&format!(
            "{clients:>7} {http:>11} {each:>23} {batches:>20} {:>11} {:>14}",
            ratio(http, each),
            ratio(http, batches)
        ));
    }
    let whole = server.stop_and_verify()?;
    say(if whole { "duet verify: the books are whole" } else { "duet verify: THE BOOKS ARE NOT WHOLE" });
    if whole { Ok(()) } else { Err("the books are not whole".into()) }
}

/// Per second, in the middle of the turns.
pub(crate) fn median(mut rates: Vec<usize>) -> usize {
    rates.sort_unstable();
    rates.get(rates.len() / 2).copied().unwrap_or_default()
}

/// A ratio to two places, without a binary float.
pub(crate) fn ratio(left: usize, right: usize) -> String {
    let hundredths = left * 100 / right.max(1);
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

fn rate(done: usize, length: Duration) -> usize {
    done / usize::try_from(length.as_secs()).unwrap_or(1).max(1)
}

/// Runs tasks until the time is over, and counts what they have done.
pub(crate) async fn for_a_while<F, T>(clients: usize, length: Duration, task: F) -> Result<usize>
where
    F: Fn(Arc<AtomicUsize>, tokio::time::Instant) -> T,
    T: Future<Output = Result<()>> + Send + 'static,
{
    let done = Arc::new(AtomicUsize::new(0));
    let until = tokio::time::Instant::now() + length;
    let tasks: Vec<_> = (0..clients).map(|_| tokio::spawn(task(done.clone(), until))).collect();
    for task in tasks {
        task.await??;
    }
    Ok(rate(done.load(Ordering::Relaxed), length))
}

fn body(accounts: &[String], turn: usize) -> Result<String> {
    let mut lines = Vec::new();
    for (position, account) in (1..).zip(accounts) {
        let (side, amount) = if position == 6 { ("credit", 1500) } else { ("debit", position * 100) };
        lines.push(format!("{{\"accountId\":\"{account}\",\"{side}\":{amount}.00}}"));
    }
    Ok(format!("{{\"date\":\"{}\",\"narration\":\"Costs of the month\",\"lines\":[{}]}}", day(turn)?, lines.join(",")))
}

async fn http(server: &Server, business: &str, accounts: &[String], clients: usize, length: Duration) -> Result<usize> {
    let bodies: Result<Vec<Vec<u8>>> = (0..28)
        .map(|turn| {
            let body = body(accounts, turn)?;
            Ok(request("POST", "/b/api/journals", Some(&server.token), Some(business), &body))
        })
        .collect();
    let bodies = Arc::new(bodies?);
    let address = server.address;
    for_a_while(clients, length, move |done, until| {
        let bodies = bodies.clone();
        async move {
            let mut connection = Connection::open(address).await?;
            while tokio::time::Instant::now() < until {
                let turn = done.load(Ordering::Relaxed);
                let answer = connection.send(&bodies[turn % bodies.len()]).await?;
                if answer.status != 201 {
                    return Err(String::from_utf8_lossy(&answer.body).into_owned().into());
                }
                done.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        }
    })
    .await
}

async fn transaction_each(
    database: &Raw,
    company: &Company,
    clock: &Arc<Clock>,
    clients: usize,
    length: Duration,
) -> Result<usize> {
    let (database, company, clock) = (database.clone(), company.clone(), clock.clone());
    for_a_while(clients, length, move |done, until| {
        let (database, company, clock) = (database.clone(), company.clone(), clock.clone());
        async move {
            while tokio::time::Instant::now() < until {
                let turn = done.load(Ordering::Relaxed);
                write(&database, &company, &clock, &[turn % 28]).await?;
                done.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        }
    })
    .await
}

/// One transaction of some journals.
pub(crate) async fn write(database: &Raw, company: &Company, clock: &Clock, turns: &[usize]) -> Result<()> {
    let turn = database.turn().await?;
    let mut head = company.lock(&turn.session).await?;
    let mut rows = Rows::default();
    for &turn in turns {
        rows.add(company, clock, &mut head, turn)?;
    }
    rows.write(&turn.session, company, head).await?;
    turn.keep().await
}

async fn planned(
    database: &Raw,
    company: &Company,
    clock: &Arc<Clock>,
    clients: usize,
    length: Duration,
) -> Result<usize> {
    let (sender, mut queue) = mpsc::channel::<(usize, oneshot::Sender<()>)>(1_024);
    let (database, company, clock) = (database.clone(), company.clone(), clock.clone());
    let lane = tokio::spawn(async move {
        let mut batch = Vec::new();
        while queue.recv_many(&mut batch, 128).await > 0 {
            let turns: Vec<usize> = batch.iter().map(|(turn, _)| *turn).collect();
            write(&database, &company, &clock, &turns).await?;
            for (_, answer) in batch.drain(..) {
                let _gone = answer.send(());
            }
        }
        Ok(())
    });
    let counted = for_a_while(clients, length, move |done, until| {
        let sender = sender.clone();
        async move {
            while tokio::time::Instant::now() < until {
                let (answer, answered) = oneshot::channel();
                let turn = done.load(Ordering::Relaxed) % 28;
                sender.send((turn, answer)).await?;
                answered.await?;
                done.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        }
    })
    .await;
    // The lane ends when the last sender is gone.
    let ended: Result<()> = lane.await?;
    ended.and(counted)
}
