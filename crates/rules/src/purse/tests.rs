//! What dollars and pounds are carried at, day by day. Figures by hand.

#![cfg(test)]

use super::{Move, Purse, evenings};
use words::day::Day;
use words::exact::BookCoin;
use words::money::{BookMoney, Money, Rounding};

const COIN: BookCoin = BookCoin::new(2, Rounding::HalfUp);

fn money(text: &str) -> Money {
    Money::parse(text).unwrap()
}

fn worth(text: &str) -> BookMoney {
    BookMoney::parse(text).unwrap()
}

fn day(text: &str) -> Day {
    format!("2026-{text}").parse().unwrap()
}

/// Such as `01-10 0 1000 900`: a day, a purse, an amount and what is said of it; behind it `until=02-05`, `as-said`,
/// `same` where it belongs to the entry before it and what leaves brings along what it was carried at.
fn moves(texts: &[&str]) -> Vec<Move> {
    let mut moves: Vec<Move> = Vec::new();
    for (text, number) in texts.iter().zip(1..) {
        let words: Vec<&str> = text.split_whitespace().collect();
        let same = words.contains(&"same");
        let entry = if same { number - 1 } else { number };
        if let Some(last) = moves.last_mut().filter(|_| same) {
            last.brings_along = true;
        }
        moves.push(Move {
            purse: words[1].parse().unwrap(),
            day: day(words[0]),
            entry,
            own: money(words[2]),
            said: worth(words[3]),
            until: words.iter().find_map(|word| word.strip_prefix("until=")).map(day),
            as_said: words.contains(&"as-said"),
            brings_along: same,
        });
    }
    moves
}

/// What is carried on each evening, all purses of a day beside each other.
fn carried(start: &[(&str, &str)], texts: &[&str]) -> Vec<String> {
    let mut start: Vec<Purse> =
        start.iter().map(|(own, carried)| Purse { own: money(own), carried: worth(carried) }).collect();
    start.resize(2, Purse::default());
    let found = evenings(&start, &moves(texts), COIN).unwrap();
    let shown = |(day, purses): (Day, Vec<BookMoney>)| {
        let purses: Vec<String> = purses.iter().map(ToString::to_string).collect();
        format!("{} {}", &day.to_string()[5..], purses.join(" "))
    };
    found.into_iter().map(shown).collect()
}

#[test]
fn what_leaves_takes_its_share_of_what_all_is_carried_at() {
    let dollars = ["01-10 0 1000 900", "01-20 0 1000 940", "01-25 0 -500 -475"];
    assert_eq!(carried(&[], &dollars), ["01-10 900 0", "01-20 1840 0", "01-25 1380 0"]);
    // One of 15 January that is entered late.
    let late = ["01-10 0 1000 900", "01-15 0 1000 980", "01-20 0 1000 940", "01-25 0 -500 -475"];
    assert_eq!(carried(&[], &late)[3], "01-25 2350 0");
    // Thirds: the last takes the rest.
    let thirds = ["01-10 0 3 10", "01-11 0 -1 -5", "01-12 0 -1 -5", "01-13 0 -1 -5"];
    assert_eq!(carried(&[], &thirds), ["01-10 10 0", "01-11 6.67 0", "01-12 3.33 0", "01-13 0 0"]);
}

#[test]
fn what_is_owed_is_relieved_like_what_is_held() {
    // 100 spent with a card, half of it paid back, then 80: 30 more than was owed.
    let card = ["01-10 0 -100 -90", "01-20 0 50 47.50", "01-25 0 80 78.40"];
    assert_eq!(carried(&[], &card), ["01-10 -90 0", "01-20 -45 0", "01-25 29.4 0"]);
}

#[test]
fn what_never_was_from_a_day_on_is_valued_anew_from_there() {
    let voided = ["01-10 0 1000 900", "01-15 0 1000 980 until=02-05", "01-25 0 -500 -475"];
    assert_eq!(
        carried(&[], &voided),
        ["01-10 900 0", "01-15 1880 0", "01-25 1410 0", "02-05 450 0"],
        "until February it was there"
    );
    let at_once = ["01-10 0 1000 900", "01-15 0 1000 980 until=01-15", "01-25 0 -500 -475"];
    assert_eq!(carried(&[], &at_once), ["01-10 900 0", "01-15 900 0", "01-25 450 0"]);
}

#[test]
fn what_moves_to_another_purse_brings_along_what_it_was_carried_at() {
    // Said when 1 000 were carried at 0.90; a later receipt of an earlier day makes that 0.92.
    let across = ["01-10 0 1000 900", "01-11 0 1000 940", "01-20 0 -500 -450", "01-20 1 400 450 same"];
    assert_eq!(carried(&[], &across)[2], "01-20 1380 460");
}

#[test]
fn what_was_posted_before_there_was_a_rule_stays_and_is_settled_with_the_rest() {
    let before = ["01-10 0 1000 900 as-said", "01-20 0 -1000 -950 as-said", "02-01 0 500 450", "02-10 0 -500 -460"];
    assert_eq!(carried(&[], &before), ["01-10 900 0", "01-20 -50 0", "02-01 400 0", "02-10 0 0"]);
    assert_eq!(carried(&[("2000", "1840")], &["01-25 0 -500 -475"]), ["01-25 1380 0"]);
}
