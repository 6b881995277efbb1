//! The dated oracle. A seed makes a stream of commands, a server takes them in both dialects, and the books of the oracle
//! take what it accepted: a list, and functions from that list and a day to figures, in exact fractions. What has to be
//! refused they know before. The server must say the same for every day of the window.

#![allow(clippy::print_stdout, reason = "a stream says how it went")]

mod books;
mod boxes;
mod cases;
mod cash;
mod command;
mod compare;
mod driver;
mod due;
mod exact;
mod figures;
mod flow;
mod laws;
mod posting;
mod shrink;
mod statements;
mod stock;
mod stream;
mod tax;
mod world;

use crate::harness::server::Company;
use crate::harness::{Engine, Server};
use books::Books;
use command::{Command, What};
use compare::{ALL, Difference, LEDGER_AND_STOCK, Told};
use driver::Driver;
use stream::Stream;

/// A server and the books that it is held against.
struct Pair<'s> {
    driver: Driver<'s>,
    books: Books,
    accepted: usize,
}

impl<'s> Pair<'s> {
    fn new(server: &'s Server) -> Self {
        Self { driver: Driver::new(server), books: Books::default(), accepted: 0 }
    }

    /// Whether all is there that a command names.
    fn knows(&self, command: &Command) -> bool {
        command.what.names().into_iter().all(|key| {
            self.books.documents.get(&key).is_some_and(|one| one.until.is_none())
                || self.books.settled.get(&key).is_some_and(|one| one.until.is_none())
        })
    }

    /// Asks the server; the books must have expected its answer.
    fn take(&mut self, command: &Command) -> Result<(), Difference> {
        if !self.knows(command) {
            return Ok(());
        }
        let mut after = self.books.clone();
        let expected = after.take(command);
        let said = self.driver.run(command, &self.books);
        let code = said.code.clone().unwrap_or_default();
        match expected {
            Ok(()) if said.status < 300 => {
                self.books = after;
                self.accepted += 1;
                Ok(())
            }
            Err(codes) if said.status == 409 && codes.contains(code.as_str()) => Ok(()),
            Err(codes)
                if said.status == 400
                    && codes.contains(books::LESS_THAN_NOTHING)
                    && said.answer.text.contains(books::LESS_THAN_NOTHING) =>
            {
                Ok(())
            }
            expected => {
                let text = format!("{command:?}: {expected:?} was expected: {} {}", said.status, said.answer.text);
                Err(Difference { place: None, text })
            }
        }
    }
}

/// A company in which a stream did business for some months, in three currencies.
pub fn months_of_business(server: &Server) -> Company<'_> {
    let (mut pair, mut stream) = (Pair::new(server), Stream::new(21, 120));
    for _ in 0..120 {
        let command = stream.next(&pair.books);
        // What closes a year stands in no movement of a trial balance.
        if !matches!(command.what, What::Close | What::Reopen) {
            pair.take(&command).map_err(|found| found.text).unwrap();
        }
    }
    pair.driver.company
}

/// Makes a stream and compares every so many commands; the commands, and what went wrong after them.
fn run(server: &Server, seed: u64, length: usize, every: usize) -> (Vec<Command>, usize, Result<(), Difference>) {
    let (mut pair, mut stream) = (Pair::new(server), Stream::new(seed, length));
    let mut commands = Vec::new();
    for turn in 1..=length {
        let command = stream.next(&pair.books);
        commands.push(command.clone());
        let mut outcome = pair.take(&command);
        if outcome.is_ok() && turn % every == 0 {
            outcome = compare::every_day(&pair.driver, &pair.books, &LEDGER_AND_STOCK);
        }
        if outcome.is_err() {
            return (commands, pair.accepted, outcome);
        }
    }
    let outcome = compare::every_day(&pair.driver, &pair.books, &ALL);
    (commands, pair.accepted, outcome)
}

/// The same commands in a company of their own, held at one place, or everywhere.
fn again(server: &Server, commands: &[Command], place: Option<(Told, usize)>) -> Result<(), Difference> {
    let mut pair = Pair::new(server);
    for command in commands {
        pair.take(command)?;
    }
    match place {
        Some(place) => compare::once(&pair.driver, &pair.books, place),
        None => compare::every_day(&pair.driver, &pair.books, &ALL),
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// What a stream came to, and where it fails the fewest commands that do.
fn hold(server: &Server, seed: u64, length: usize) -> Option<usize> {
    let begun = std::time::Instant::now();
    let (commands, accepted, outcome) = run(server, seed, length, 60);
    if let Err(difference) = outcome {
        if std::env::var_os("DUET_ORACLE_QUICK").is_some() {
            println!("seed {seed}, after {} commands: {}", commands.len(), difference.text);
            return None;
        }
        println!("seed {seed}, after {} commands: {}", commands.len(), difference.text);
        // Where an answer is wrong there is no place to look at but the last day.
        let place = difference.place.or(Some((Told::Profit, 0)));
        let fails = |some: &[Command]| again(server, some, place).err().filter(|found| found.place == difference.place);
        let (fewest, last) = shrink::fewest(commands, fails);
        let why = last.unwrap_or(difference).text;
        panic!("seed {seed}: {why}\n\nthe fewest commands:\n{}", shrink::printed(&fewest));
    }
    println!("seed {seed}: {accepted} of {length} commands accepted, every day as expected, {:?}", begun.elapsed());
    Some(accepted)
}

/// The seeds that are run by hand, of 400 commands each: `DUET_ORACLE_LONG=1`, an hour on SQLite in a debug build.
const LONG: [u64; 20] =
    [101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 201, 202, 203, 204, 205, 206, 207, 208, 209, 210];

/// By hand: `DUET_ORACLE_SEEDS` seeds of `DUET_ORACLE_LENGTH` commands from `DUET_ORACLE_FROM` on, with
/// `DUET_ORACLE_ENGINE=postgres` on that engine.
#[test]
fn streams_of_a_seed_say_what_the_oracle_says_on_every_day() {
    let engine = match std::env::var("DUET_ORACLE_ENGINE").as_deref() {
        Ok("postgres") => Engine::Postgres,
        _ => Engine::Sqlite,
    };
    let Some(server) = Server::shared(engine) else { return };
    let long = std::env::var_os("DUET_ORACLE_LONG").is_some();
    let (count, from) = (number("DUET_ORACLE_SEEDS").unwrap_or(3), number("DUET_ORACLE_FROM").unwrap_or(1));
    let length = number("DUET_ORACLE_LENGTH").unwrap_or(if long { 400 } else { 100 });
    let length = usize::try_from(length).unwrap();
    let seeds: Vec<u64> = if long { LONG.to_vec() } else { (from..from + count).collect() };
    let held: Vec<Option<usize>> = seeds.into_iter().map(|seed| hold(server, seed, length)).collect();
    assert!(held.iter().all(Option::is_some), "some differ");
    assert!(held.iter().flatten().all(|accepted| accepted * 2 > length), "most of what a stream asks is accepted");
}
