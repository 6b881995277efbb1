//! What must hold whatever a stream did: it is the same in either dialect and on either engine, what is entered and void
//! again is nothing, and what is all void is all zero.

use super::command::{Command, Money, Trade, What};
use super::stream::Stream;
use super::tax::Line;
use super::{ALL, LEDGER_AND_STOCK, Pair, compare, run};
use crate::harness::{Engine, Server};

const LENGTH: usize = 50;

/// Every command in the other dialect, on the engine that there is, says the same for every day.
fn otherwise(server: &Server) {
    let first = Server::shared(Engine::Sqlite).unwrap();
    let (commands, accepted, outcome) = run(first, 11, LENGTH, LENGTH);
    outcome.map_err(|found| found.text).unwrap();
    let mut pair = Pair::new(server);
    for command in commands {
        let command = Command { in_a: !command.in_a, ..command };
        pair.take(&command).map_err(|found| found.text).unwrap();
    }
    assert_eq!(pair.accepted, accepted);
    compare::every_day(&pair.driver, &pair.books, &LEDGER_AND_STOCK).map_err(|found| found.text).unwrap();
}

#[test]
fn a_stream_says_the_same_in_the_other_dialect() {
    otherwise(Server::shared(Engine::Sqlite).unwrap());
}

#[test]
fn a_stream_says_the_same_on_the_other_engine() {
    if let Some(server) = Server::shared(Engine::Postgres) {
        otherwise(server);
    }
}

#[test]
fn what_is_void_is_nothing_and_all_void_is_all_zero() {
    let server = Server::shared(Engine::Sqlite).unwrap();
    let (mut pair, mut stream) = (Pair::new(server), Stream::new(12, LENGTH));
    for _ in 0..LENGTH {
        let command = stream.next(&pair.books);
        pair.take(&command).map_err(|found| found.text).unwrap();
    }
    let mut key = 10_000;
    let mut take = |pair: &mut Pair<'_>, what: What| {
        key += 1;
        let before = pair.accepted;
        pair.take(&Command { key, in_a: key.is_multiple_of(2), what }).map_err(|found| found.text).unwrap();
        (key, pair.accepted > before)
    };
    take(&mut pair, What::Lock(None));
    if pair.books.closed {
        take(&mut pair, What::Reopen);
    }
    let before = pair.books.days();
    let line = Line { item: Some(1), quantity: 3_000, price: 7_000_000, off: 0, code: Some(0), equipment: false };
    let trade = |sells: bool| {
        let lines = vec![line.clone()];
        What::Trade(Trade {
            sells,
            day: 30,
            party: 0,
            currency: 1,
            rate: 930_000,
            inclusive: true,
            off: 0,
            lines,
            of: None,
        })
    };
    let (currency, rate) = (0, 1_000_000);
    let money = Money { comes_in: true, day: 31, party: 0, currency, rate, amount: 5_000, fee: 3, direct: None };
    for what in [trade(true), trade(false), What::Money(money)] {
        let (of, taken) = take(&mut pair, what);
        assert!(taken && take(&mut pair, What::Void { of, day: None }).1);
        assert_eq!(pair.books.days(), before);
    }
    compare::every_day(&pair.driver, &pair.books, &LEDGER_AND_STOCK).map_err(|found| found.text).unwrap();
    // Again and again, until nothing is left that something else needs.
    for _ in 0..20 {
        let live = pair.books.documents.iter().filter(|(_, one)| one.until.is_none()).map(|(key, _)| *key);
        let settled = pair.books.settled.iter().filter(|(_, one)| one.until.is_none()).map(|(key, _)| *key);
        let mut all: Vec<u32> = live.chain(settled).collect();
        all.sort_unstable();
        for of in all.into_iter().rev() {
            let stands = pair.books.documents.get(&of).is_some_and(|one| one.until.is_none())
                || pair.books.settled.get(&of).is_some_and(|one| one.until.is_none());
            if stands {
                take(&mut pair, What::Void { of, day: None });
            }
        }
    }
    let left: Vec<_> = pair.books.documents.iter().filter(|(_, one)| one.until.is_none()).collect();
    assert!(left.iter().all(|(of, _)| pair.books.ever_derived(**of).any(|(_, one)| one.until.is_some())), "{left:?}");
    if left.is_empty() {
        let (day, balance) =
            pair.books.days().into_iter().fold((0, std::collections::BTreeMap::new()), |mut sum, day| {
                for (account, amount) in day {
                    *sum.1.entry(account).or_insert(0_i128) += amount;
                }
                (sum.0 + 1, sum.1)
            });
        assert!(day > 0 && balance.values().all(|amount| *amount == 0), "{balance:?}");
    }
    compare::every_day(&pair.driver, &pair.books, &ALL).map_err(|found| found.text).unwrap();
}
