//! What streams found, shrunk to the fewest commands.

use super::command::{Command, Credit, Trade, What};
use super::tax::Line;
use super::{Pair, again};
use crate::harness::{Engine, Server};

fn trade(sells: bool, day: usize, currency: (usize, i128), line: Line) -> What {
    let (currency, rate) = currency;
    What::Trade(Trade { sells, day, party: 2, currency, rate, inclusive: true, off: 0, lines: vec![line], of: None })
}

fn commands(all: Vec<What>) -> Vec<Command> {
    (1..).zip(all).map(|(key, what)| Command { key, in_a: key.is_multiple_of(2), what }).collect()
}

const EURO: (usize, i128) = (0, 1_000_000);

fn pieces(item: Option<usize>, quantity: i128, price: i128) -> Line {
    Line { item, quantity: quantity * 1_000, price, off: 0, code: None, equipment: false }
}

/// A party that owes as much as it is owed vanished from the ageing in detail, with all its documents.
#[test]
fn documents_that_make_up_for_each_other_are_seen_one_by_one() {
    let server = Server::shared(Engine::Sqlite).unwrap();
    let sale = trade(true, 23, (2, 6_543), pieces(None, 3, 12_623_274));
    let credit = What::Credit(Credit { of: 1, day: 26, lines: vec![(0, 3_000)] });
    again(server, &commands(vec![sale, credit]), None).map_err(|found| found.text).unwrap();
}

/// A sale was taken back from a day on which goods of it were still back: there were more than were ever bought.
#[test]
fn a_sale_stands_for_as_long_as_goods_of_it_are_back() {
    let server = Server::shared(Engine::Sqlite).unwrap();
    let mut pair = Pair::new(server);
    let all = commands(vec![
        trade(false, 2, EURO, pieces(Some(0), 10, 5_000_000)),
        trade(true, 5, EURO, pieces(Some(0), 4, 9_000_000)),
        What::Credit(Credit { of: 2, day: 8, lines: vec![(0, 2_000)] }),
        What::Void { of: 3, day: Some(20) },
        What::Void { of: 2, day: None },
        What::Void { of: 2, day: Some(19) },
        What::Void { of: 2, day: Some(20) },
    ]);
    for command in &all {
        pair.take(command).map_err(|found| found.text).unwrap();
    }
    assert_eq!(pair.accepted, 5, "both that come too early are refused");
    super::compare::every_day(&pair.driver, &pair.books, &super::ALL).map_err(|found| found.text).unwrap();
}

/// What was paid to have goods here stood on their account without them, so that the proof missed it.
#[test]
fn what_is_paid_beside_the_price_is_worth_of_the_goods() {
    let server = Server::shared(Engine::Sqlite).unwrap();
    let bill = trade(false, 24, EURO, Line { code: Some(4), ..pieces(Some(2), 4, 17_700_000) });
    let landed = What::Landed { of: 1, day: 31, party: 1, amount: 7_898, by_value: false };
    again(server, &commands(vec![bill, landed]), None).map_err(|found| found.text).unwrap();
}
