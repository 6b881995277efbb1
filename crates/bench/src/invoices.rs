//! Sales invoices: creating and posting, reading one, listing many.

use crate::Result;
use crate::bare::{self, Bare};
use crate::client::{Connection, request};
use crate::journals::{CLIENTS, for_a_while, median, ratio};
use crate::place::{Place, Raw, Server, say};
use crate::rows::{clock, day};
use crate::shop::Shop;
use crate::template::Template;
use ledger_core::clock::Clock;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot};

pub(crate) async fn create(place: &Place, seconds: u64, turns: usize) -> Result<()> {
    let database = place.fresh("invoices").await?;
    let server = Server::start(&database).await?;
    let raw = Place::open(&database).await?;
    let clock = Arc::new(clock());
    let http = Shop::open(&server, "Over HTTP").await?;
    let each = Shop::open(&server, "A transaction each").await?.template(&server, &raw).await?;
    let batched = Shop::open(&server, "Planned batches").await?.template(&server, &raw).await?;
    let length = Duration::from_secs(seconds);
    say(&format!(
        "{}: sales invoices of 3 lines with tax created and posted a second ({} rows and the sums), {turns} turns of \
         {seconds} s each, median",
        place.engine(),
        each.rows()
    ));
    say("clients        HTTP   each in a transaction   in planned batches   HTTP/each   HTTP/batches");
    for clients in CLIENTS {
        let (mut over_http, mut in_each, mut in_batches) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..turns {
            let asked = request("POST", "/b/api/sales-invoices", Some(&server.token), Some(&http.id), &http.body);
            over_http.push(ask(server.address, vec![asked], 201, clients, length).await?);
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
    let whole = server.stop_and_verify_one(&http.id)?;
    say(if whole { "duet verify: the books are whole" } else { "duet verify: THE BOOKS ARE NOT WHOLE" });
    if whole { Ok(()) } else { Err("the books are not whole".into()) }
}

/// Asks the same things again and again, and counts the answers a second.
async fn ask(address: SocketAddr, asked: Vec<Vec<u8>>, status: u16, clients: usize, length: Duration) -> Result<usize> {
    let asked = Arc::new(asked);
    for_a_while(clients, length, move |done, until| {
        let asked = asked.clone();
        async move {
            let mut connection = Connection::open(address).await?;
            while tokio::time::Instant::now() < until {
                let turn = done.fetch_add(1, Ordering::Relaxed);
                let answer = connection.send(&asked[turn % asked.len()]).await?;
                if answer.status != status {
                    return Err(String::from_utf8_lossy(&answer.body).into_owned().into());
                }
            }
            Ok(())
        }
    })
    .await
}

async fn transaction_each(
    database: &Raw,
    template: &Template,
    clock: &Arc<Clock>,
    clients: usize,
    length: Duration,
) -> Result<usize> {
    let (database, template, clock) = (database.clone(), template.clone(), clock.clone());
    for_a_while(clients, length, move |done, until| {
        let (database, template, clock) = (database.clone(), template.clone(), clock.clone());
        async move {
            while tokio::time::Instant::now() < until {
                template.write(&database, &clock, &[day(67)?]).await?;
                done.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        }
    })
    .await
}

async fn planned(
    database: &Raw,
    template: &Template,
    clock: &Arc<Clock>,
    clients: usize,
    length: Duration,
) -> Result<usize> {
    let (sender, mut queue) = mpsc::channel::<oneshot::Sender<()>>(1_024);
    let (database, template, clock) = (database.clone(), template.clone(), clock.clone());
    let lane = tokio::spawn(async move {
        let mut batch = Vec::new();
        while queue.recv_many(&mut batch, 128).await > 0 {
            template.write(&database, &clock, &vec![day(67)?; batch.len()]).await?;
            for answer in batch.drain(..) {
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
                sender.send(answer).await?;
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

/// The rest of a list's query, by the number of its last page.
type PageOf = fn(usize) -> String;

/// Reading one and listing fifty, beside a bare handler that answers the same bytes; then a long list beside a short one.
pub(crate) async fn read(place: &Place, many: usize, few: usize, seconds: u64, turns: usize) -> Result<()> {
    let database = place.fresh("reading").await?;
    let server = Server::start(&database).await?;
    let raw = Place::open(&database).await?;
    let clock = clock();
    let mut shops = Vec::new();
    for (name, wanted) in [("Few", few), ("Many", many)] {
        let shop = Shop::open(&server, name).await?;
        let template = shop.template(&server, &raw).await?;
        for begin in (1..wanted).step_by(500) {
            let days: Result<Vec<_>> = (begin..wanted.min(begin + 500)).map(|turn| day(turn * 336 / wanted)).collect();
            template.write(&raw, &clock, &days?).await?;
        }
        shops.push(shop);
    }
    let [of_few, of_many] = shops.as_slice() else { return Err("two companies".into()) };
    let listed = server.ask("GET", "/b/api/sales-invoices?pageSize=500", Some(&of_many.id), "").await?;
    let ids: Vec<&str> =
        listed["items"].as_array().into_iter().flatten().filter_map(|one| one["id"].as_str()).collect();
    let get = |shop: &Shop, path: &str| request("GET", path, Some(&server.token), Some(&shop.id), "");
    let ones: Vec<Vec<u8>> = ids.iter().map(|id| get(of_many, &format!("/b/api/sales-invoices/{id}"))).collect();
    let fifty = vec![get(of_many, "/b/api/sales-invoices?pageSize=50")];
    let length = Duration::from_secs(seconds);
    say(&format!(
        "{}: {many} invoices, answers a second, {turns} turns of {seconds} s each, median, beside a bare axum handler \
         that checks the token and answers the same bytes",
        place.engine()
    ));
    say("what          clients       duet        bare   duet/bare");
    for (what, asked) in [("get one", ones), ("list 50", fifty)] {
        let bytes = Connection::open(server.address).await?.send(&asked[0]).await?.body;
        let file = std::env::temp_dir().join(format!("duet-bench-{}-bytes", std::process::id()));
        std::fs::write(&file, &bytes)?;
        let bare = Bare::start(&file)?;
        let from_bare = vec![request("GET", "/", Some(&bare::token()?), None, "")];
        for clients in CLIENTS {
            let (mut ours, mut theirs) = (Vec::new(), Vec::new());
            for _ in 0..turns {
                ours.push(ask(server.address, asked.clone(), 200, clients, length).await?);
                theirs.push(ask(bare.address, from_bare.clone(), 200, clients, length).await?);
            }
            let (ours, theirs) = (median(ours), median(theirs));
            say(&format!("{what:<12} {clients:>8} {ours:>10} {theirs:>11} {:>11}", ratio(ours, theirs)));
        }
    }
    // Each page size is asked for once, so that no answer was there before.
    say("lists of 50 to 90, never asked before, microseconds, median of 41 turns");
    say(&format!("{:<45} {few:>12} {many:>11}   ratio", ""));
    let pages: [(&str, PageOf); 5] = [
        ("first page", |_| "&page=1".into()),
        ("in the middle", |last| format!("&page={}", last / 2)),
        ("last page", |last| format!("&page={last}")),
        ("open ones, first page", |_| "&status=open".into()),
        ("newest first", |_| "&sort=-date".into()),
    ];
    for (what, query) in pages {
        let mut taken = [Vec::new(), Vec::new()];
        for turn in 0..41 {
            let size = 50 + turn;
            let last = |count: usize| count.div_ceil(size);
            for ((shop, count), taken) in [(of_few, few), (of_many, many)].into_iter().zip(&mut taken) {
                let query = query(last(count));
                let asked = get(shop, &format!("/b/api/sales-invoices?pageSize={size}{query}"));
                let mut connection = Connection::open(server.address).await?;
                let begun = Instant::now();
                let answer = connection.send(&asked).await?;
                taken.push(usize::try_from(begun.elapsed().as_micros())?);
                if answer.status != 200 {
                    return Err(String::from_utf8_lossy(&answer.body).into_owned().into());
                }
            }
        }
        let [short, long] = taken.map(median);
        say(&format!("{what:<48} {short:>9} {long:>11} {:>7}", ratio(long, short)));
    }
    Ok(())
}
