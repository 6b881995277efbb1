//! What journals come to, and what they post.

#![cfg(test)]

use super::*;
use crate::journal::TaxAsked;
use crate::samples::{head, id, money, party, rate, said, summed};
use JournalKind::{Closing, General};
use schema::party::{PartyBlock, PartyStatus};

pub(in crate::journal) fn line(account: u128, amount: &str) -> JournalLineAsked {
    JournalLineAsked {
        id: None,
        account: id(account),
        party: None,
        amount: money(amount),
        description: None,
        due_date: None,
        currency: None,
        exchange_rate: None,
        tax: TaxAsked::default(),
    }
}

/// A line in a currency of its own.
pub(in crate::journal) fn abroad(account: u128, amount: &str, currency: &str, at: Option<&str>) -> JournalLineAsked {
    JournalLineAsked { currency: Some(currency.into()), exchange_rate: at.map(rate), ..line(account, amount) }
}

pub(in crate::journal) fn journal(lines: Vec<JournalLineAsked>) -> JournalAsked {
    JournalAsked {
        kind: General,
        currency: None,
        exchange_rate: None,
        reverse_on: None,
        tax_date: None,
        lines,
        fiscal_year: None,
        held: kit::reference::Held::default(),
    }
}

fn in_dollars(amounts: &[&str], at: Option<&str>) -> JournalAsked {
    let lines = amounts.iter().map(|amount| line(4000, amount)).collect();
    JournalAsked { currency: Some("USD".into()), exchange_rate: at.map(rate), ..journal(lines) }
}

#[test]
fn a_total_is_converted_once_and_spread_to_the_cent() {
    let business = Business::sample();
    for (amounts, at, expected) in [
        (&["10.01", "10.01", "10.01", "-30.03"][..], "0.3333", &["3.34", "3.33", "3.34", "-10.01"][..]),
        (&["0.01", "0.01", "-0.02"], "0.4", &["0", "0.01", "-0.01"]),
        (&["1000", "-1000"], "0.9", &["900", "-900"]),
    ] {
        let asked = in_dollars(amounts, Some(at));
        let base = in_base(&business, &asked, &vec![rate(at); amounts.len()]).unwrap();
        let shown: Vec<String> = base.iter().map(ToString::to_string).collect();
        assert_eq!(shown, expected, "{amounts:?} at {at}");
    }
}

#[test]
fn each_line_is_worth_what_it_says_else_what_the_journal_says() {
    let business = Business::sample();
    let found = |asked: &JournalAsked| {
        let mut faults = FieldErrors::default();
        let rates = rates(&business, asked, &mut faults);
        let shown = rates.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        if faults.is_empty() { shown } else { said(&Error::from(faults)) }
    };
    let at_home = |at: &str| JournalAsked { exchange_rate: Some(rate(at)), ..journal(vec![line(4000, "1")]) };
    let mixed = |lines: Vec<JournalLineAsked>| JournalAsked { lines, ..in_dollars(&[], Some("0.9")) };
    let own_rate = |at: &str| JournalLineAsked { exchange_rate: Some(rate(at)), ..line(4000, "1") };
    let missing = |currency: &str| {
        format!("is required, since there is no rate for the day: what is one {currency} worth in EUR?")
    };
    for (asked, answer) in [
        (at_home("1"), "1".to_owned()),
        (at_home("0.9"), "exchangeRate must be 1 or absent in EUR".into()),
        (in_dollars(&["1", "-1"], Some("0.9")), "0.9 0.9".into()),
        (in_dollars(&["1"], None), format!("exchangeRate {}", missing("USD"))),
        (mixed(vec![line(4000, "1"), own_rate("0.95")]), "0.9 0.95".into()),
        // The journal's rate is of its own currency alone.
        (mixed(vec![abroad(1030, "1", "GBP", Some("1.2")), abroad(1010, "1", "EUR", None)]), "1.2 1".into()),
        (
            mixed(vec![line(4000, "1"), abroad(1030, "1", "GBP", None)]),
            format!("lines[1].exchangeRate {}", missing("GBP")),
        ),
        (mixed(vec![abroad(1010, "1", "EUR", Some("0.9"))]), "lines[0].exchangeRate must be 1 or absent in EUR".into()),
    ] {
        assert_eq!(found(&asked), answer, "{asked:?}");
    }
}

/// What a journal posts, or why it does not.
fn posted(asked: &JournalAsked) -> Vec<String> {
    let (business, chart) = (Business::sample(), books::chart::sample());
    let worked = || -> Result<Vec<SettledEntry>> {
        let mut faults = FieldErrors::default();
        let rates = rates(&business, asked, &mut faults);
        let figures = sums(&business, asked, &rates)?;
        let lines = lines_of(&business, &chart, asked, &figures.base).map_err(|why| why.at("lines"))?;
        entries_of(&business, &chart, &head("2026-03-31"), asked, &figures, lines)
    };
    match worked() {
        Ok(entries) => {
            entries.iter().map(|one| format!("{} {}: {}", one.kind, one.date, summed(&one.posting))).collect()
        }
        Err(why) => vec![said(&why)],
    }
}

#[test]
fn a_journal_posts_its_lines_where_both_sides_are_equal() {
    let two = |amount: &str| vec![line(6700, amount), line(1690, &format!("-{amount}"))];
    let of_kind = |kind: JournalKind, lines: Vec<JournalLineAsked>| JournalAsked { kind, ..journal(lines) };
    let reversed = JournalAsked { reverse_on: Some(crate::samples::day("2026-04-01")), ..journal(two("100")) };
    // Kernel 6.8: what is owned and owed the day before; the rest is the opening balance.
    let opening = vec![line(1010, "500"), line(2700, "-60"), line(3000, "-400")];
    let even = vec![line(1010, "500"), line(3000, "-500")];
    let apart = vec![abroad(1020, "100", "USD", Some("0.9")), line(1010, "-90")];
    let uneven = vec![abroad(1020, "100", "USD", Some("0.9")), line(1010, "-89.99")];
    for (name, asked, posts) in [
        ("depreciation", journal(two("100")), vec!["normal 2026-03-31: 1690 -100; 6700 100"]),
        (
            "taken back by itself",
            reversed,
            vec!["normal 2026-03-31: 1690 -100; 6700 100", "autoReversal 2026-04-01: 1690 100; 6700 -100"],
        ),
        (
            "a cent apart",
            journal(vec![line(6700, "100"), line(1690, "-99.99")]),
            vec!["lines debits of 100.00 and credits of 99.99 EUR must be equal"],
        ),
        (
            "a cent apart, in dollars",
            in_dollars(&["100", "-99.99"], Some("0.0001")),
            vec!["lines debits of 100.00 and credits of 99.99 USD must be equal"],
        ),
        ("several currencies, equal at home", journal(apart), vec!["normal 2026-03-31: 1010 -90; 1020 90"]),
        (
            "several currencies, a cent apart at home",
            journal(uneven),
            vec!["lines debits of 90.00 and credits of 89.99 EUR must be equal"],
        ),
        // A cent abroad is told, though it is worth nothing at home.
        ("less than a cent at home", in_dollars(&["0.01", "-0.01"], Some("0.0001")), vec!["normal 2026-03-31: "]),
        (
            "opening, with what is left over",
            of_kind(JournalKind::Opening, opening),
            vec!["opening 2026-03-31: 1010 500; 2700 -60; 3000 -400; 3900 -40"],
        ),
        (
            "opening, with nothing left over",
            of_kind(JournalKind::Opening, even),
            vec!["opening 2026-03-31: 1010 500; 3000 -500"],
        ),
        (
            "closing",
            of_kind(Closing, vec![line(4000, "100"), line(3200, "-100")]),
            vec!["yearEnd 2026-03-31: 3200 -100; 4000 100"],
        ),
        ("adjusting", of_kind(JournalKind::Adjustment, two("5")), vec!["normal 2026-03-31: 1690 -5; 6700 5"]),
    ] {
        assert_eq!(posted(&asked), posts, "{name}");
    }
}

#[test]
fn the_totals_are_in_the_journals_currency_or_else_in_the_companys() {
    let business = Business::sample();
    let totals = |asked: &JournalAsked| {
        let rates = rates(&business, asked, &mut FieldErrors::default());
        let figures = sums(&business, asked, &rates).unwrap();
        format!("{} {} {}, {}", figures.debit, figures.credit, figures.totals_in, figures.base_debit)
    };
    assert_eq!(totals(&in_dollars(&["10.01", "10.01", "-20.02"], Some("0.5"))), "20.02 20.02 USD, 10.01");
    let mixed = journal(vec![abroad(1020, "100", "USD", Some("0.9")), line(1010, "-80"), line(6800, "-10")]);
    assert_eq!(totals(&mixed), "90 90 EUR, 90");
    assert_eq!(totals(&journal(vec![line(6700, "7"), line(1690, "-7")])), "7 7 EUR, 7");
}

#[test]
fn a_line_names_an_account_that_journals_may_and_what_belongs_to_it() {
    let known = HashMap::from([(id(3), Arc::new(party(PartyStatus::Active, PartyBlock::None)))]);
    let (business, chart) = (Business::sample(), books::chart::sample());
    let judged = |kind: JournalKind, line: &JournalLineAsked, purpose: Purpose| {
        let asked = JournalAsked { kind, ..journal(vec![line.clone()]) };
        let mut faults = FieldErrors::default();
        judge_line(&mut Fault(&mut faults, 0), &business, &chart, &asked, line, &known, purpose).unwrap();
        if faults.is_empty() { String::new() } else { said(&Error::from(faults)) }
    };
    let of = |party: u128, line: JournalLineAsked| JournalLineAsked { party: Some(id(party)), ..line };
    let due = |line: JournalLineAsked| JournalLineAsked { due_date: Some(crate::samples::day("2026-04-30")), ..line };
    for (kind, line, answer) in [
        (General, line(6700, "1"), ""),
        (General, line(6700, "1.001"), "lines[0].debit must have at most 2 decimal places in EUR"),
        (General, line(6700, "-1.001"), "lines[0].credit must have at most 2 decimal places in EUR"),
        (
            General,
            abroad(6700, "1.5", "JPY", Some("0.006")),
            "lines[0].debit must have at most 0 decimal places in JPY",
        ),
        (General, of(3, line(1200, "1")), ""),
        (General, of(4, line(6700, "1")), "lines[0].partyId names no party"),
        // Kernel 1.6.
        (General, line(2300, "5"), "lines[0].partyId names 2300 Advances from customers"),
        (General, due(of(3, line(2100, "5"))), ""),
        (General, due(line(6700, "5")), "lines[0].dueDate is for receivables and payables alone"),
        // Kernel 1.9.
        (General, line(1300, "5"), "lines[0].accountId names 1300 Inventory"),
        (General, line(2150, "5"), "lines[0].accountId names 2150 Goods received"),
        (General, abroad(1020, "5", "GBP", Some("1.2")), "lines[0].accountId names 1020 USD, which is kept in USD"),
        (General, line(3200, "5"), ""),
        // A year is closed on results and income alone.
        (Closing, line(3200, "5"), ""),
        (Closing, line(4000, "5"), ""),
        (Closing, line(1010, "5"), "lines[0].accountId names 1010 Bank, which holds money"),
        (Closing, line(3000, "5"), "lines[0].accountId names 3000 Owner's capital"),
    ] {
        let found = judged(kind, &line, Purpose::Posting);
        assert!(found.starts_with(answer) && found.is_empty() == answer.is_empty(), "{kind} {line:?}: {found}");
    }
    // What is only begun may name what another day may do, and nothing that there is not.
    assert_eq!(judged(General, &line(1300, "5"), Purpose::Draft), "");
    assert_eq!(judged(General, &line(9999, "5"), Purpose::Draft), "lines[0].accountId names no account");
    assert_eq!(
        judged(General, &line(1, "5"), Purpose::Draft).split(':').next(),
        Some("lines[0].accountId names 1 Assets, a group; name an account in it")
    );
}
