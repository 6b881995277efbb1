//! What a line that is made of another has of its discounts.

#![cfg(test)]

use super::*;
use crate::document::Content;
use crate::parts::TradeFigures;
use crate::samples::{CENT, id, money, percent, pieces, price, row};
use rules::left::Parts;
use schema::tables::DocumentKind;

fn off(text: &str) -> Discount {
    Discount::Percent(percent(text))
}

fn less(text: &str) -> Discount {
    Discount::Amount(money(text))
}

/// A line of an order: how many, the price, what is taken off it alone, and all that was taken off it in the end.
type Ordered = (&'static str, &'static str, Option<Discount>, &'static str);

/// An order (1) of these lines (11, 12, ...), of which nothing was invoiced.
struct Order {
    lines: Vec<TradeLineAsked>,
    header: Option<Discount>,
    lefts: HashMap<RecordId, Left>,
}

impl Order {
    fn of(header: Option<Discount>, lines: &[Ordered]) -> Self {
        let mut order = Self { lines: Vec::new(), header, lefts: HashMap::new() };
        for (name, (quantity, one, discount, discounts)) in (11..).zip(lines) {
            let gross = Exact::from(pieces(quantity)).times(price(one)).unwrap().round(coin()).unwrap();
            let stated = Parts { gross, discount: money(discounts), ..Parts::default() };
            let quantity = pieces(quantity);
            order.lefts.insert(id(name), Left { quantity, base: stated.at_par(), stated, ..Left::default() });
            order.lines.push(TradeLineAsked {
                id: Some(id(name)),
                quantity: Some(quantity),
                price: Some(price(one)),
                discount: *discount,
                ..TradeLineAsked::default()
            });
        }
        order
    }

    fn sources(&self) -> Sources {
        let asked = TradeAsked { discount: self.header, lines: self.lines.clone(), ..TradeAsked::default() };
        let content = Content { asked, figures: TradeFigures::default() };
        let mut sources = Sources::sample([Source { row: row(1, DocumentKind::SalesOrder, "0"), content }]);
        for line in &self.lines {
            let of = line.id.unwrap();
            let number = of.0.as_u128();
            sources.lines.insert(of, crate::samples::followed(number, DocumentKind::SalesOrder, "1"));
        }
        sources.lefts.lines.clone_from(&self.lefts);
        sources
    }

    /// What an invoice of so many of each line takes off: of the whole, and of each line. It has its share from then on.
    fn invoice(&mut self, of: &[(u128, &str)]) -> String {
        let line = |(name, quantity): &(u128, &str)| TradeLineAsked {
            source_line: Some(id(*name)),
            quantity: Some(pieces(quantity)),
            ..self.lines[usize::try_from(*name - 11).unwrap()].clone()
        };
        let lines = of.iter().map(line).map(|line| TradeLineAsked { id: None, discount: None, ..line }).collect();
        let mut asked = TradeAsked { lines, ..TradeAsked::default() };
        let sources = self.sources();
        let direction = Direction::SalesInvoice;
        let unsaid = unsaid(direction, &asked, false, &sources);
        assert_eq!(unsaid.len(), of.len());
        share_discounts(direction, &mut asked, &unsaid, &sources, &Business::sample());
        for (name, quantity) in of {
            let left = self.lefts.get_mut(&id(*name)).unwrap();
            left.take(Part::Quantity(pieces(quantity)), Coins { stated: coin(), base: CENT }).unwrap();
        }
        let shown = |discount: Option<Discount>| match discount {
            None => "-".to_owned(),
            Some(Discount::Percent(percent)) => format!("{percent} %"),
            Some(Discount::Amount(amount)) => amount.to_string(),
        };
        assert!(asked.lines.iter().all(|line| line.is_share));
        let lines = asked.lines.iter().map(|line| shown(line.discount)).collect::<Vec<_>>().join(" ");
        format!("{}: {lines}", shown(asked.discount))
    }
}

fn coin() -> Coin {
    Coin { decimals: 2, rounding: crate::money::Rounding::HalfUp }
}

#[test]
fn each_invoice_of_an_order_has_its_share_of_what_was_taken_off() {
    // Kernel 4.8: 3 x 20 less 10.00.
    let mut order = Order::of(None, &[("3", "20", Some(less("10")), "10")]);
    assert_eq!([0; 3].map(|_| order.invoice(&[(11, "1")])), ["-: 3.33", "-: 3.34", "-: 3.33"]);
    let mut order = Order::of(None, &[("3", "20", Some(less("10")), "10")]);
    assert_eq!([order.invoice(&[(11, "2")]), order.invoice(&[(11, "1")])], ["-: 6.67", "-: 3.33"]);
    // A percentage stays one where it comes to the same.
    let mut order = Order::of(None, &[("3", "20", Some(off("10")), "6")]);
    assert_eq!([0; 3].map(|_| order.invoice(&[(11, "1")])), ["-: 10 %"; 3]);
    // Five percent of 3.33 are 0.17; of three they are 0.50, so the last has 0.16.
    let mut order = Order::of(None, &[("3", "3.33", Some(off("5")), "0.50")]);
    assert_eq!([0; 3].map(|_| order.invoice(&[(11, "1")])), ["-: 5 %", "-: 5 %", "-: 0.16"]);
}

#[test]
fn what_was_taken_off_the_whole_order_is_shared_by_its_lines() {
    let tenth = || Order::of(Some(off("10")), &[("1", "10", None, "1"), ("1", "20", None, "2")]);
    assert_eq!(tenth().invoice(&[(11, "1"), (12, "1")]), "10 %: - -");
    assert_eq!(tenth().invoice(&[(12, "1")]), "10 %: -");
    let three = || Order::of(Some(less("3")), &[("1", "10", None, "1"), ("1", "20", None, "2")]);
    assert_eq!(three().invoice(&[(11, "1"), (12, "1")]), "-: 1 2");
    assert_eq!(three().invoice(&[(12, "1")]), "-: 2");
    // Both of a line and of the whole: 20 % of 10, and 10 % of what is left.
    let mut both = Order::of(Some(off("10")), &[("2", "10", Some(off("20")), "5.60")]);
    assert_eq!([0; 2].map(|_| both.invoice(&[(11, "1")])), ["10 %: 20 %"; 2]);
}

#[test]
fn a_line_says_nothing_where_it_repeats_what_it_is_made_of() {
    let of = |discount: Option<Discount>, header: Option<Discount>| {
        let asked = TradeAsked { discount: header, ..TradeAsked::default() };
        let content = Content { asked, figures: TradeFigures::default() };
        let source = Source { row: row(1, DocumentKind::SalesInvoice, "0"), content };
        (source, TradeLineAsked { price: Some(price("10")), discount, ..TradeLineAsked::default() })
    };
    let line = |own: Option<&str>, discount: Option<Discount>| TradeLineAsked {
        price: own.map(price),
        discount,
        ..TradeLineAsked::default()
    };
    for (said, header, (source, origin), nothing) in vec![
        (line(None, None), None, of(None, None), true),
        (line(None, None), None, of(Some(off("5")), Some(off("10"))), true),
        (line(None, Some(off("5"))), None, of(Some(off("5")), None), true),
        (line(None, Some(off("6"))), None, of(Some(off("5")), None), false),
        (line(Some("10"), None), None, of(None, None), true),
        (line(Some("9"), None), None, of(None, None), false),
        // Kernel 4.2: price and discount of the header repeated.
        (line(Some("10"), None), Some(off("10")), of(None, Some(off("10"))), true),
        (line(Some("10"), None), None, of(None, Some(off("10"))), false),
        (line(Some("10"), None), None, of(Some(off("5")), None), false),
        (line(Some("10"), Some(off("5"))), None, of(Some(off("5")), None), true),
        // Another discount of the whole is one of its own.
        (line(None, None), Some(off("9")), of(None, Some(off("10"))), false),
        (line(None, None), Some(off("9")), of(None, None), false),
    ] {
        let asked = TradeAsked { discount: header, ..TradeAsked::default() };
        let found = says_nothing(&said, &asked, (&source, &origin), Some(price("10")));
        assert_eq!(found, nothing, "{said:?} {header:?} of {origin:?}");
    }
}

#[test]
fn a_line_of_a_note_credits_the_one_line_that_it_can_mean() {
    use crate::samples::taxes;
    use rules::tax::TaxKind::Standard;
    // Two of item 7 at 10 and 12, taxed; one of item 8, untaxed; two of item 9 at the same price. Each of five.
    let of = |name: u128, item: u128, one: &str, tax: TaxChoice| TradeLineAsked {
        id: Some(id(name)),
        item: Some(id(item)),
        price: Some(price(one)),
        tax,
        ..TradeLineAsked::default()
    };
    let coded = TaxChoice::Code(id(8_000));
    let lines = vec![
        of(61, 7, "10", coded),
        of(62, 7, "12", coded),
        of(63, 8, "10", TaxChoice::None),
        of(64, 9, "10", coded),
        of(65, 9, "10", coded),
    ];
    let content = Content { asked: TradeAsked { lines, ..TradeAsked::default() }, figures: TradeFigures::default() };
    let mut sources = Sources::sample([Source { row: row(6, DocumentKind::SalesInvoice, "0"), content }]);
    for name in 61..=65 {
        sources.lefts.lines.insert(id(name), Left { quantity: pieces("5"), ..Left::default() });
    }
    let codes = taxes(rules::tax::TaxDirection::Both, &[("25", Standard, "100")]);
    let line = |item: u128, quantity: Option<&str>, one: Option<&str>, tax: TaxChoice| TradeLineAsked {
        item: Some(item).filter(|item| *item > 0).map(id),
        quantity: quantity.map(pieces),
        price: one.map(price),
        tax,
        ..TradeLineAsked::default()
    };
    let unsaid = TaxChoice::Unsaid;
    let named = |name: u128| TradeLineAsked { source_line: Some(id(name)), ..line(7, None, None, unsaid) };
    let matched = |direction: Direction, source: Option<u128>, sources: &Sources, lines: Vec<TradeLineAsked>| {
        let mut asked = TradeAsked { source: source.map(id), lines, ..TradeAsked::default() };
        match_invoice(direction, &mut asked, sources, &codes);
        asked.lines.iter().map(|line| line.source_line.map_or(0, |id| id.0.as_u128())).collect::<Vec<_>>()
    };
    let credits = |lines: Vec<TradeLineAsked>| matched(Direction::CreditNote, Some(6), &sources, lines);
    for (lines, of) in [
        (vec![line(8, None, None, unsaid)], vec![63]),
        (vec![line(8, Some("5"), None, unsaid)], vec![63]),
        // More than is left is another matter.
        (vec![line(8, Some("6"), None, unsaid)], vec![0]),
        // Of two that suit neither is guessed at, but for the price.
        (vec![line(7, None, None, unsaid)], vec![0]),
        (vec![line(7, None, Some("12"), unsaid)], vec![62]),
        (vec![line(7, None, Some("11"), unsaid)], vec![0]),
        (vec![line(9, None, Some("10"), unsaid)], vec![0]),
        // The only one that there is may have another price.
        (vec![line(8, None, Some("3"), unsaid)], vec![63]),
        // A tax that is said must be the same.
        (vec![line(8, None, None, coded)], vec![0]),
        (vec![line(8, None, None, TaxChoice::None)], vec![63]),
        (vec![line(7, None, Some("10"), coded)], vec![61]),
        (vec![line(7, None, Some("10"), TaxChoice::None)], vec![0]),
        // A code that there is not is none; it is refused elsewhere.
        (vec![line(8, None, None, TaxChoice::Code(id(1)))], vec![63]),
        // What one line has no other gets, and then one is left.
        (vec![line(8, None, None, unsaid), line(8, None, None, unsaid)], vec![63, 0]),
        (vec![named(61), line(7, None, None, unsaid)], vec![61, 62]),
        // A line without an item means an amount.
        (vec![line(0, None, Some("10"), unsaid)], vec![0]),
    ] {
        let shown = format!("{lines:?}");
        assert_eq!(credits(lines), of, "{shown}");
    }
    let one = || vec![line(8, None, None, unsaid)];
    assert_eq!(matched(Direction::CreditNote, None, &sources, one()), [0], "no invoice is named");
    assert_eq!(matched(Direction::SalesInvoice, Some(6), &sources, one()), [0], "an invoice credits none");
    sources.lefts.lines.insert(id(63), Left::default());
    assert_eq!(matched(Direction::CreditNote, Some(6), &sources, one()), [0], "nothing is left");
}
