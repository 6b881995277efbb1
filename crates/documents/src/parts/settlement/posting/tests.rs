//! What receipts and payments post, as the worked examples have it.

use super::super::direct::{figures, for_party, tells};
use super::*;
use crate::parts::line::TaxChoice;
use crate::parts::settlement::DirectLineAsked;
use crate::samples::{day, exchange, id, money, summed, taxes};
use books::access::Business;
use rules::posting::Posting as Balanced;
use rules::tax::TaxDirection::{self, Both, Purchase, Sales};
use rules::tax::TaxKind::{self, ReverseCharge, Standard, Withholding as Kept};
use rules::tax::facts::TaxOrigin;

/// Money of an account, with a fee, that settles something on another, or is of lines: account, amount, and whether taxed.
struct Money_<'c> {
    account: u128,
    amount: &'c str,
    rate: &'c str,
    fee: &'c str,
    settles: Option<u128>,
    lines: &'c [(u128, &'c str, bool)],
    tax: (TaxDirection, &'c [(&'c str, TaxKind, &'c str)]),
}

const PLAIN: Money_<'_> =
    Money_ { account: 1010, amount: "100", rate: "1", fee: "0", settles: None, lines: &[], tax: (Both, &[]) };

const VAT: &[(&str, TaxKind, &str)] = &[("19", Standard, "100")];

fn posted(comes_in: bool, of: &Money_<'_>) -> Balanced {
    let (chart, business) = (books::chart::sample(), Business::sample());
    let taxes = taxes(of.tax.0, of.tax.1);
    let line = |(name, (account, amount, taxed)): (u128, &(u128, &str, bool))| DirectLineAsked {
        id: Some(id(name)),
        account: id(*account),
        amount: money(amount),
        tax: if *taxed { TaxChoice::Code(id(8_000)) } else { TaxChoice::None },
        stated_tax: None,
        description: None,
    };
    let asked = MoneyAsked {
        party: of.settles.map(|_| id(3)),
        account: id(of.account),
        amount: money(of.amount),
        fee: money(of.fee),
        lines: (7_000..).zip(of.lines).map(line).collect(),
        ..MoneyAsked::default()
    };
    let exchange = exchange(of.rate);
    let date = day("2026-03-10");
    let figures = figures(&business, &asked, &taxes, (&exchange, date)).unwrap();
    let tells: Vec<Tells> = asked.lines.iter().map(|line| tells(&chart, &taxes, line)).collect();
    let posting = Posting {
        comes_in,
        control: of.settles.map(id),
        for_party: for_party(&asked, &figures).unwrap(),
        asked: &asked,
        figures: &figures,
        tells: &tells,
        common: Common {
            exchange: &exchange,
            chart: &chart,
            withholding: Withholding::Kept,
            origin: TaxOrigin::Document,
            date,
            party: asked.party,
            party_tax_number: None,
            country: None,
        },
        taxes: &taxes,
    };
    Balanced::balanced(posting.lines().unwrap().lines).unwrap()
}

#[test]
fn money_settles_debts_and_the_fee_is_the_banks() {
    for (name, comes_in, of, posts) in [
        ("E3", true, Money_ { settles: Some(1200), ..PLAIN }, "1010 100; 1200 -100"),
        ("E4a", true, Money_ { amount: "150", settles: Some(1200), ..PLAIN }, "1010 150; 1200 -150"),
        ("E4b", true, Money_ { amount: "150", settles: Some(2300), ..PLAIN }, "1010 150; 2300 -150"),
        ("E18, the money", false, Money_ { amount: "980", settles: Some(2100), ..PLAIN }, "1010 -980; 2100 980"),
        // What arrives is less the fee; what leaves is more by it.
        ("fee of a receipt", true, Money_ { fee: "2", settles: Some(1200), ..PLAIN }, "1010 98; 1200 -100; 6800 2"),
        ("fee of a payment", false, Money_ { fee: "2", settles: Some(2100), ..PLAIN }, "1010 -102; 2100 100; 6800 2"),
        ("money goes back to a customer", false, Money_ { settles: Some(1200), ..PLAIN }, "1010 -100; 1200 100"),
        (
            "E5, the receipt",
            true,
            Money_ { amount: "1000", rate: "0.93", settles: Some(1200), ..PLAIN },
            "1010 930; 1200 -930",
        ),
        (
            "E5, kept in dollars",
            true,
            Money_ { account: 1020, amount: "1000", rate: "0.93", settles: Some(1200), ..PLAIN },
            "1020 930; 1200 -930",
        ),
        (
            "the fee is converted with the rest",
            true,
            Money_ { amount: "10.01", fee: "0.05", rate: "0.3333", settles: Some(1200), ..PLAIN },
            "1010 3.32; 1200 -3.34; 6800 0.02",
        ),
    ] {
        assert_eq!(summed(&posted(comes_in, &of)), posts, "{name}");
    }
    // An account in the company's currency takes what it is worth, one in dollars takes dollars.
    for (account, currency, amount) in [(1010, "EUR", "930"), (1020, "USD", "1000")] {
        let posting = posted(true, &Money_ { account, amount: "1000", rate: "0.93", settles: Some(1200), ..PLAIN });
        let bank = posting.lines().iter().find(|line| line.account() == id(account)).unwrap();
        assert_eq!((bank.currency(), bank.currency_amount()), (currency, money(amount)));
    }
}

#[test]
fn a_direct_line_is_taxed_on_the_side_of_its_code_or_its_account() {
    let line = |account: u128, amount: &'static str, taxed: bool| vec![(account, amount, taxed)];
    for (name, comes_in, amount, lines, tax, posts) in [
        (
            "kernel 2.1",
            false,
            "100",
            line(6000, "100", true),
            (Purchase, &[("20", ReverseCharge, "50")][..]),
            "1010 -100; 1400 10; 2200 -20; 6000 110",
        ),
        (
            "kernel 2.2",
            false,
            "115.47",
            line(6000, "115.47", true),
            (Purchase, &[("5", Standard, "100"), ("9.975", Standard, "100")]),
            "1010 -115.47; 1400 15.47; 6000 100",
        ),
        (
            "kernel 2.4",
            false,
            "1100",
            line(6000, "1200", true),
            (Purchase, &[("10", Kept, "100"), ("20", Standard, "100")]),
            "1010 -1100; 1400 200; 2210 -100; 6000 1000",
        ),
        (
            "kernel 2.5, from a supplier",
            true,
            "119",
            line(6000, "119", true),
            (Purchase, VAT),
            "1010 119; 1400 -19; 6000 -100",
        ),
        ("earned right away", true, "119", line(4000, "119", true), (Both, VAT), "1010 119; 2200 -19; 4000 -100"),
        ("and given back", false, "119", line(4000, "119", true), (Both, VAT), "1010 -119; 2200 19; 4000 100"),
        ("spent right away", false, "119", line(6000, "119", true), (Both, VAT), "1010 -119; 1400 19; 6000 100"),
        (
            "half of it cannot be claimed",
            false,
            "120",
            line(6000, "120", true),
            (Purchase, &[("20", Standard, "50")]),
            "1010 -120; 1400 10; 6000 110",
        ),
        ("without a code", false, "30", line(6000, "30", false), (Both, VAT), "1010 -30; 6000 30"),
        ("a loan", true, "500", line(2700, "500", false), (Both, VAT), "1010 500; 2700 -500"),
        ("tax that is paid to the office", false, "30", line(2200, "30", false), (Both, VAT), "1010 -30; 2200 30"),
    ] {
        let of = Money_ { amount, lines: &lines, tax, ..PLAIN };
        assert_eq!(summed(&posted(comes_in, &of)), posts, "{name}");
    }
    let both = Money_ { amount: "219", settles: Some(1200), lines: &[(4000, "119", true)], tax: (Sales, VAT), ..PLAIN };
    assert_eq!(summed(&posted(true, &both)), "1010 219; 1200 -100; 2200 -19; 4000 -100", "lines beside a debt");
}
