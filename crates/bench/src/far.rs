//! A database on another host: each round trip to it takes a millisecond longer.

use crate::Result;
use crate::figures::{Figure, Figures};
use crate::load::turn;
use crate::place::{Place, Server};
use crate::posts::Turns;
use crate::shop::Shop;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

const AWAY: Duration = Duration::from_millis(1);
/// What a lone post may take then, in microseconds.
const MOST: u64 = 5_000;

pub(crate) async fn run(place: &Place, turns: &Turns, figures: &mut Figures) -> Result<()> {
    let near = place.fresh("far").await?;
    let (before, rest) = near.split_once("127.0.0.1:").ok_or("the URL names no port of this machine")?;
    let (port, name) = rest.split_once('/').ok_or("the URL names no database")?;
    let (late, longer) = delay()?;
    let far = distant(([127, 0, 0, 1], port.parse()?).into(), late)?;
    let server = Server::start(&format!("{before}{far}/{name}")).await?;
    let shop = Shop::open(&server, "Far away").await?;
    let length = Duration::from_secs(turns.seconds);
    // Statements are prepared, and the engine has its plans.
    turn(server.subject(), &shop.posts(&server), 1, length).await?;
    let mut seen = Vec::new();
    for _ in 0..turns.turns {
        seen.push(turn(server.subject(), &shop.posts(&server), 1, length).await?);
    }
    seen.sort_by_key(|seen| seen.p50);
    let middle = seen.get(seen.len() / 2).ok_or("nothing was measured")?;
    figures.add(Figure {
        told: format!("p99 {} us; a round trip takes {} us longer", middle.p99, longer.as_micros()),
        ..Figure::alone(place.engine(), "a lone post, the database 1 ms away", "us", middle.p50, MOST)
    });
    if server.stop_and_verify()? { Ok(()) } else { Err("the books are not whole".into()) }
}

/// As often as a round trip is looked at, of which the middle one counts.
const LOOKS: usize = 301;

/// How much later what is said is to come, and how much longer a round trip takes then: to be handed on takes time as well, and
/// who sleeps wakes late.
fn delay() -> Result<(Duration, Duration)> {
    let echo = echo()?;
    let near = round_trip(echo)?;
    let longer = |late| -> Result<Duration> { Ok(round_trip(distant(echo, late)?)?.saturating_sub(near)) };
    let surplus = longer(AWAY)?.saturating_sub(AWAY);
    let late = AWAY.saturating_sub(surplus);
    Ok((late, longer(late)?))
}

/// Where everybody hears what they say.
fn echo() -> Result<SocketAddr> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for mut caller in listener.incoming().flatten() {
            thread::spawn(move || {
                let mut said = [0; 64];
                // Until nobody says anything.
                while caller.read_exact(&mut said).and_then(|()| caller.write_all(&said)).is_ok() {}
            });
        }
    });
    Ok(address)
}

/// What a round trip takes, by the middle one.
fn round_trip(there: SocketAddr) -> Result<Duration> {
    let mut way = TcpStream::connect(there)?;
    way.set_nodelay(true)?;
    let (mut said, mut took) = ([7; 64], Vec::with_capacity(LOOKS));
    for _ in 0..LOOKS {
        let begun = Instant::now();
        way.write_all(&said)?;
        way.read_exact(&mut said)?;
        took.push(begun.elapsed());
    }
    took.sort_unstable();
    took.get(LOOKS / 2).copied().ok_or_else(|| "nothing was looked at".into())
}

/// Where the same is heard as there, and what is said comes so much later. It serves as long as the program runs.
fn distant(near: SocketAddr, late: Duration) -> Result<SocketAddr> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for caller in listener.incoming().flatten() {
            let Ok(called) = TcpStream::connect(near) else { continue };
            if let Err(error) = joined(&caller, &called, late) {
                crate::place::say(&format!("a connection to the database was not made: {error}"));
            }
        }
    });
    Ok(address)
}

fn joined(caller: &TcpStream, called: &TcpStream, late: Duration) -> std::io::Result<()> {
    caller.set_nodelay(true)?;
    called.set_nodelay(true)?;
    let (from, to) = (caller.try_clone()?, called.try_clone()?);
    thread::spawn(move || delayed(from, to, late));
    let (from, to) = (called.try_clone()?, caller.try_clone()?);
    thread::spawn(move || delayed(from, to, Duration::ZERO));
    Ok(())
}

/// Everything comes in its order, and so much later; what follows does not wait for what is on its way.
fn delayed(mut from: TcpStream, mut to: TcpStream, late: Duration) {
    let (on_its_way, arriving) = channel::<(Instant, Vec<u8>)>();
    let arrival = thread::spawn(move || {
        for (due, said) in arriving {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            if to.write_all(&said).is_err() {
                return;
            }
        }
        // Whoever has said all is heard to the end; that it is over already changes nothing.
        drop(to.shutdown(std::net::Shutdown::Write));
    });
    let mut said = vec![0; 64 << 10];
    while let Ok(length @ 1..) = from.read(&mut said) {
        let Some(part) = said.get(..length) else { break };
        if on_its_way.send((Instant::now() + late, part.to_vec())).is_err() {
            break;
        }
    }
    drop(on_its_way);
    drop(arrival.join());
}
