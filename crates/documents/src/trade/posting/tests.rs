#![cfg(test)]

use super::super::line::{TaxChoice, TradeLineAsked};
use super::*;
use crate::clock::Instant;
use crate::day::Day;
use crate::ids::BusinessId;
use crate::money::{Percent, Quantity, Rate, Rounding, UnitPrice};
use rules::posting::Posting;
use rules::tax::facts::{Code, Common, Computed, TaxOrigin, TaxSide};
use rules::tax::figures::{Priced, Rules, compute};
use rules::tax::{TaxBoxes, TaxComponent, TaxDirection, TaxRounding};
use schema::tables::FactSide;
use std::collections::BTreeMap;

/// An account by its code in the general chart.
fn account(code: u128) -> RecordId {
    RecordId(uuid::Uuid::from_u128(code))
}

struct Case {
    name: &'static str,
    direction: Direction,
    /// Quantity, price, discount and the account of the net amount.
    lines: &'static [(&'static str, &'static str, &'static str, u128)],
    tax: &'static [(&'static str, TaxKind, &'static str)],
    inclusive: bool,
    rate: &'static str,
    /// What the fact of each line's goods moves: stock, what waits, cost, variance, each on its account.
    goods: Option<(FactKind, [(u128, &'static str); 4])>,
    opening: bool,
    posts: &'static str,
}

const PLAIN: Case = Case {
    name: "",
    direction: Direction::SalesInvoice,
    lines: &[],
    tax: &[],
    inclusive: false,
    rate: "1",
    goods: None,
    opening: false,
    posts: "",
};

const ALL_BACK: &str = "100";

fn posted(case: &Case) -> String {
    let component = |(sequence, (rate, kind, recoverable)): (i64, &(&str, TaxKind, &str))| TaxComponent {
        id: account(9_000 + u128::try_from(sequence).unwrap()),
        name: format!("T{sequence}"),
        rate: Percent::parse(rate).unwrap(),
        rates: Vec::new(),
        kind: *kind,
        is_compound: sequence > 1,
        sequence,
        recoverable_percent: Percent::parse(recoverable).unwrap(),
        payable_account_id: (sequence > 1).then(|| account(2205)),
        receivable_account_id: None,
        boxes: TaxBoxes::default(),
    };
    let components: Vec<TaxComponent> = (1..).zip(case.tax).map(component).collect();
    let code = account(8_000);
    let line = |(place, (quantity, price, discount, net)): (u128, &(&str, &str, &str, u128))| TradeLineAsked {
        id: Some(account(7_000 + place)),
        account: Some(account(*net)),
        quantity: Some(Quantity::parse(quantity).unwrap()),
        price: Some(UnitPrice::parse(price).unwrap()),
        discount: (*discount != "0").then(|| rules::tax::figures::Discount::Percent(Percent::parse(discount).unwrap())),
        tax: if components.is_empty() { TaxChoice::None } else { TaxChoice::Code(code) },
        ..TradeLineAsked::default()
    };
    let asked = TradeAsked { lines: (0..).zip(case.lines).map(line).collect(), ..TradeAsked::default() };
    let exchange = Exchange {
        base: "EUR",
        currency: if case.rate == "1" { "EUR" } else { "USD" },
        rate: Rate::parse(case.rate).unwrap(),
        decimals: 2,
        rounding: Rounding::HalfUp,
    };
    let rules = Rules {
        decimals: 2,
        rounding: Rounding::HalfUp,
        tax_rounding: TaxRounding::Document,
        inclusive: case.inclusive,
        rates_of: "2026-03-10".parse().unwrap(),
        tolerance: 0,
        rate: exchange.rate,
        increment: None,
    };
    let priced = |line: &TradeLineAsked| Priced {
        quantity: line.quantity(),
        price: line.price.unwrap(),
        discount: line.discount,
        tax: line.tax.code().map(|code| (code, components.as_slice())),
        stated: None,
    };
    let priced: Vec<Priced<'_>> = asked.lines.iter().map(priced).collect();
    let (figures, totals) = compute(&rules, &priced, None).unwrap();
    let base = InBase::of(&figures, &totals, &exchange).unwrap();
    let facts: Vec<_> = case.goods.map(fact).into_iter().collect();
    let chart = books::chart::sample();
    let control = account(if case.direction.is_sale() { 1200 } else { 2100 });
    let accounts = Accounts { chart: &chart, control, is_opening: case.opening };
    let common = Common {
        exchange: &exchange,
        chart: &chart,
        withholding: Withholding::Shown,
        origin: if case.opening { TaxOrigin::Opening } else { TaxOrigin::Document },
        date: rules.rates_of,
        party: None,
        party_tax_number: None,
        country: None,
    };
    let code = Code { direction: TaxDirection::Both, category: None, report_box: None, components: &components };
    let of_tax = |(index, line): (usize, &TradeLineAsked)| {
        let computed = Computed {
            line: line.id,
            side: if case.direction.is_sale() { TaxSide::Sale } else { TaxSide::Purchase },
            credits: case.direction.credits(),
            figures: &figures[index],
            home_net: base.nets[index],
            home_taxes: &base.taxes[index],
            code: line.tax.code().map(|id| (id, code)),
        };
        common.line(&computed).unwrap()
    };
    let taxes = asked.lines.iter().enumerate().map(of_tax).collect();
    let amounts = Amounts { totals: &totals, base: &base };
    let lines = lines(case.direction, &asked, &accounts, &exchange, &amounts, taxes, &facts).unwrap();
    summed(lines)
}

fn fact((kind, goods): (FactKind, [(u128, &str); 4])) -> stock_facts::Model {
    let [stock, waits, cost, variance] = goods.map(|(code, amount)| (account(code), Money::parse(amount).unwrap()));
    stock_facts::Model {
        business_id: BusinessId::default(),
        id: account(1),
        item_id: RecordId::default(),
        date: Day::default(),
        place: 1,
        document_id: RecordId::default(),
        line_id: account(7_000),
        kind,
        side: FactSide::Document,
        quantity: Quantity::ZERO,
        amount: Money::ZERO,
        standard: None,
        of_line_id: None,
        cancels_id: None,
        inventory_account_id: stock.0,
        cost_account_id: cost.0,
        variance_account_id: variance.0,
        waits_account_id: Some(waits.0),
        booked_stock: stock.1,
        booked_waits: waits.1,
        booked_cost: cost.1,
        booked_variance: variance.1,
        recorded_at: Instant::from_micros(0),
    }
}

/// What of goods is stock, what waits for a bill, and what is a variance.
const fn bought(stock: &'static str, waits: &'static str, variance: &'static str) -> [(u128, &'static str); 4] {
    [(1300, stock), (2150, waits), (5000, "0"), (5100, variance)]
}

/// What of goods is stock, what waits for an invoice, and what is a cost.
const fn sold(stock: &'static str, waits: &'static str, cost: &'static str) -> [(u128, &'static str); 4] {
    [(1300, stock), (1350, waits), (5000, cost), (5200, "0")]
}

/// What balanced lines come to, account by account; the party's is 1.
fn summed(lines: Vec<Line>) -> String {
    let posting = Posting::balanced(lines).unwrap();
    let mut sums: BTreeMap<u128, i64> = BTreeMap::new();
    for line in posting.lines() {
        let code = line.account().0.as_u128();
        *sums.entry(if [1200, 2100].contains(&code) { 1 } else { code }).or_default() += line.amount().units();
    }
    let shown = sums.into_iter().filter(|(_, sum)| *sum != 0);
    shown.map(|(code, sum)| format!("{code} {}", Money::from_units(sum))).collect::<Vec<_>>().join("; ")
}

const VAT_20: &[(&str, TaxKind, &str)] = &[("20", TaxKind::Standard, ALL_BACK)];

fn hold(cases: &[Case]) {
    for case in cases {
        assert_eq!(posted(case), case.posts, "{}", case.name);
    }
}

#[test]
fn sales_and_their_returns_post_what_the_worked_examples_say() {
    use Direction::{CreditNote, SalesInvoice};
    hold(&[
        Case {
            name: "E1",
            lines: &[("10", "25", "10", 4000)],
            tax: VAT_20,
            posts: "1 270; 2200 -45; 4000 -225",
            ..PLAIN
        },
        Case {
            name: "E2",
            direction: CreditNote,
            lines: &[("2", "25", "10", 4000)],
            tax: VAT_20,
            posts: "1 -54; 2200 9; 4000 45",
            ..PLAIN
        },
        Case { name: "E5", lines: &[("1", "1000", "0", 4000)], rate: "0.9", posts: "1 900; 4000 -900", ..PLAIN },
        Case {
            name: "E11, the sale",
            lines: &[("12", "9", "0", 4000)],
            goods: Some((FactKind::Issue, sold("-69.6", "0", "69.6"))),
            posts: "1 108; 1300 -69.6; 4000 -108; 5000 69.6",
            ..PLAIN
        },
        Case {
            name: "E11, the return",
            direction: CreditNote,
            lines: &[("2", "9", "0", 4000)],
            goods: Some((FactKind::CustomerReturn, sold("11.6", "0", "-11.6"))),
            posts: "1 -18; 1300 11.6; 4000 18; 5000 -11.6",
            ..PLAIN
        },
        Case {
            name: "what was open before these books earns nothing",
            lines: &[("1", "100", "0", 4000)],
            tax: VAT_20,
            opening: true,
            posts: "1 120; 3900 -120",
            ..PLAIN
        },
        Case {
            name: "T41, given away",
            direction: SalesInvoice,
            lines: &[("1", "5", "100", 4000)],
            tax: VAT_20,
            ..PLAIN
        },
    ]);
}

#[test]
fn purchases_and_their_returns_post_what_the_worked_examples_say() {
    use Direction::{DebitNote, PurchaseInvoice};
    hold(&[
        Case {
            name: "goods bought at their price",
            direction: PurchaseInvoice,
            lines: &[("10", "6.5", "0", 1300)],
            goods: Some((FactKind::Receipt, bought("65", "0", "0"))),
            posts: "1 -65; 1300 65",
            ..PLAIN
        },
        Case {
            name: "goods bought beyond their standard cost",
            direction: PurchaseInvoice,
            lines: &[("10", "5.5", "0", 1300)],
            goods: Some((FactKind::Receipt, bought("50", "0", "5"))),
            posts: "1 -55; 1300 50; 5100 5",
            ..PLAIN
        },
        Case {
            name: "T29, goods go back at their cost",
            direction: DebitNote,
            lines: &[("2", "6", "0", 1300)],
            tax: VAT_20,
            goods: Some((FactKind::SupplierReturn, bought("-10", "0", "-2"))),
            posts: "1 14.4; 1300 -10; 1400 -2.4; 5100 -2",
            ..PLAIN
        },
    ]);
}

#[test]
fn goods_that_wait_are_billed_and_credited_as_the_worked_examples_say() {
    use Direction::{CreditNote, DebitNote, PurchaseInvoice};
    hold(&[
        Case {
            name: "E15, the invoice",
            lines: &[("5", "10", "0", 4000)],
            tax: VAT_20,
            goods: Some((FactKind::Invoice, sold("0", "-30", "30"))),
            posts: "1 60; 1350 -30; 2200 -10; 4000 -50; 5000 30",
            ..PLAIN
        },
        Case {
            name: "goods came back after the invoice, and are credited",
            direction: CreditNote,
            lines: &[("2", "10", "0", 4000)],
            tax: VAT_20,
            goods: Some((FactKind::Credit, sold("0", "12", "-12"))),
            posts: "1 -24; 1350 12; 2200 4; 4000 20; 5000 -12",
            ..PLAIN
        },
        Case {
            name: "E14, the bill; what was sold by then is corrected by an entry of its own",
            direction: PurchaseInvoice,
            lines: &[("10", "8.5", "0", 2150)],
            tax: VAT_20,
            goods: Some((FactKind::Bill, bought("5", "80", "0"))),
            posts: "1 -102; 1300 5; 1400 17; 2150 80",
            ..PLAIN
        },
        Case {
            name: "E14 at standard cost: the difference is a variance",
            direction: PurchaseInvoice,
            lines: &[("10", "8.5", "0", 2150)],
            goods: Some((FactKind::Bill, bought("0", "80", "5"))),
            posts: "1 -85; 2150 80; 5100 5",
            ..PLAIN
        },
        Case {
            name: "T16, billed at another rate",
            direction: PurchaseInvoice,
            lines: &[("10", "8", "0", 2150)],
            rate: "0.95",
            goods: Some((FactKind::Bill, bought("0", "72", "0"))),
            posts: "1 -76; 2150 72; 4900 4",
            ..PLAIN
        },
        Case {
            name: "goods went back after the bill, and are debited",
            direction: DebitNote,
            lines: &[("2", "8.5", "0", 2150)],
            tax: VAT_20,
            goods: Some((FactKind::Credit, bought("0", "-17", "0"))),
            posts: "1 20.4; 1400 -3.4; 2150 -17",
            ..PLAIN
        },
    ]);
}

#[test]
fn notes_of_goods_post_what_the_worked_examples_say() {
    let posts = |kind: FactKind, goods: [(u128, &'static str); 4]| {
        let line = TradeLineAsked { id: Some(account(7_000)), ..TradeLineAsked::default() };
        let asked = TradeAsked { lines: vec![line], ..TradeAsked::default() };
        let exchange =
            Exchange { base: "EUR", currency: "EUR", rate: Rate::ONE, decimals: 2, rounding: Rounding::HalfUp };
        let chart = books::chart::sample();
        summed(goods_lines(&asked, &exchange, &chart, &[fact((kind, goods))]).unwrap())
    };
    for (name, kind, goods, wanted) in [
        ("E15, the note", FactKind::Issue, sold("-30", "30", "0"), "1300 -30; 1350 30"),
        ("delivered, and a cost at once", FactKind::Issue, sold("-30", "0", "30"), "1300 -30; 5000 30"),
        ("it comes back", FactKind::CustomerReturn, sold("12", "-12", "0"), "1300 12; 1350 -12"),
        ("E14, the note", FactKind::Receipt, bought("80", "-80", "0"), "1300 80; 2150 -80"),
        ("E14 at a standard cost of 7.50", FactKind::Receipt, bought("75", "-80", "5"), "1300 75; 2150 -80; 5100 5"),
        ("it goes back", FactKind::SupplierReturn, bought("-16", "16", "0"), "1300 -16; 2150 16"),
    ] {
        assert_eq!(posts(kind, goods), wanted, "{name}");
    }
}

#[test]
fn taxes_post_what_the_worked_examples_say() {
    use Direction::PurchaseInvoice;
    use TaxKind::{ReverseCharge, Standard, Withholding};
    hold(&[
        Case {
            name: "E8",
            lines: &[("1", "379", "0", 4000), ("1", "379", "0", 4000)],
            tax: &[("21", Standard, ALL_BACK)],
            inclusive: true,
            posts: "1 758; 2200 -131.55; 4000 -626.45",
            ..PLAIN
        },
        Case {
            name: "E10",
            lines: &[("1", "100", "0", 4000)],
            tax: &[("5", Standard, ALL_BACK), ("9.975", Standard, ALL_BACK)],
            posts: "1 115.47; 2200 -5; 2205 -10.47; 4000 -100",
            ..PLAIN
        },
        Case {
            name: "E17",
            direction: PurchaseInvoice,
            lines: &[("1", "200", "0", 6000)],
            tax: &[("20", Standard, "50")],
            posts: "1 -240; 1400 20; 6000 220",
            ..PLAIN
        },
        Case {
            name: "reverse charge on a purchase",
            direction: PurchaseInvoice,
            lines: &[("1", "100", "0", 6000)],
            tax: &[("19", ReverseCharge, ALL_BACK)],
            posts: "1 -100; 1400 19; 2200 -19; 6000 100",
            ..PLAIN
        },
        Case {
            name: "reverse charge on a sale",
            lines: &[("1", "100", "0", 4000)],
            tax: &[("19", ReverseCharge, ALL_BACK)],
            posts: "1 100; 4000 -100",
            ..PLAIN
        },
        Case {
            name: "withholding changes nothing until it is paid",
            lines: &[("1", "100", "0", 4000)],
            tax: &[("10", Withholding, ALL_BACK)],
            posts: "1 100; 4000 -100",
            ..PLAIN
        },
        Case {
            name: "T9, tax abroad is converted with the rest",
            lines: &[("1", "10.01", "0", 4000), ("1", "10.02", "0", 4100)],
            tax: VAT_20,
            rate: "0.3333",
            posts: "1 8.01; 2200 -1.33; 4000 -3.34; 4100 -3.34",
            ..PLAIN
        },
    ]);
}
