//! The worked examples of the books, from one file of steps and figures (`tests/examples/worked.md`), in both dialects and
//! on both engines; and faults that are sown into the rules, each of which must turn an example red.

mod read;
mod run;
mod sown;
mod told;

use crate::harness::server::DIALECTS;
use crate::harness::{Server, on_both_engines};
use read::Worked;
use std::sync::LazyLock;

static WORKED: LazyLock<Worked> = LazyLock::new(|| read::read(include_str!("../examples/worked.md")));

/// Every example of a part, by the beginning of its number.
fn part(server: &Server, part: &str) {
    let of_part = |numbers: &[String]| numbers[0].starts_with(part);
    let examples: Vec<_> = WORKED.examples.iter().filter(|example| of_part(&example.numbers)).collect();
    assert!(!examples.is_empty(), "part {part} has examples");
    let held = examples.iter().flat_map(|example| DIALECTS.map(|dialect| run::hold(server, dialect, &WORKED, example)));
    let wrong: Vec<String> = held.filter_map(Result::err).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

on_both_engines! {
    fn the_examples_of_documents_hold(server) { part(server, "E"); }
    fn the_examples_of_postable_accounts_hold(server) { part(server, "1."); }
    fn the_examples_of_tax_hold(server) { part(server, "2."); }
    fn the_examples_of_stock_hold(server) { part(server, "3."); }
    fn the_examples_of_shares_hold(server) { part(server, "4."); }
    fn the_examples_of_money_hold(server) { part(server, "5."); }
    fn the_examples_of_tax_that_waits_hold(server) { part(server, "J"); }
    fn the_examples_of_time_hold(server) { part(server, "6."); }
    fn what_the_proof_alone_says_holds(server) { part(server, "7."); }
}

/// The designs number them, and none is left out.
#[test]
fn every_worked_example_stands_in_the_file() {
    let mut there: Vec<&str> = WORKED.examples.iter().flat_map(|one| &one.numbers).map(String::as_str).collect();
    let named = there.len();
    there.sort_unstable();
    there.dedup();
    assert_eq!(there.len(), named, "a number stands once");
    let of_parts = [(1, 9), (2, 17), (3, 11), (4, 10), (5, 6), (6, 8)];
    let numbers =
        of_parts.into_iter().flat_map(|(part, last)| (1..=last).map(move |number| format!("{part}.{number}")));
    let of_documents = [
        "E1", "E2", "E3", "E4a", "E4b", "E5", "E6", "E8", "E8b", "E10", "E11", "E12", "E14", "E15", "E17", "E18",
        "E19", "E20",
    ];
    let missing: Vec<String> =
        numbers.chain(of_documents.map(str::to_owned)).filter(|number| !there.contains(&number.as_str())).collect();
    assert_eq!(missing, Vec::<String>::new());
}
