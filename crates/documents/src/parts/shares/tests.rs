#![cfg(test)]

use super::super::derivation::Source;
use super::super::lefts::Taker;
use super::super::line::{LineKept, TaxChoice};
use super::super::{NoteKind, TradeFigures};
use super::*;
use crate::document::Content;
use crate::samples::{components, exchange, id, money, pieces, price, row, rules, said};
use rules::tax::TaxComponent;
use rules::tax::TaxKind::{self, Standard};
use schema::tables::DocumentKind;

/// Its identifier, how many, the price, and what is taken off.
type Sold = (u128, &'static str, &'static str, Option<Discount>);

/// An invoice, and how it was computed.
#[derive(Clone)]
struct Invoice {
    asked: TradeAsked,
    figures: TradeFigures,
    components: Vec<TaxComponent>,
    rules: Rules,
    rate: &'static str,
}

const VAT: &[(&str, TaxKind, &str)] = &[("20", Standard, "100")];

fn priced<'t>(lines: &[TradeLineAsked], components: &'t [TaxComponent]) -> Vec<Priced<'t>> {
    let of = |line: &TradeLineAsked| Priced {
        quantity: line.quantity(),
        price: line.price.unwrap(),
        discount: line.discount,
        tax: line.tax.code().map(|code| (code, components)),
        stated: line.stated_tax,
    };
    lines.iter().map(of).collect()
}

fn kept(figures: &[LineFigures], base: &InBase, took: impl Fn(usize) -> Vec<Took>) -> Vec<LineKept> {
    let keep = |(index, figures): (usize, &LineFigures)| LineKept {
        figures: figures.clone(),
        base_net: base.nets[index],
        base_tax: base.charged(index, figures).unwrap(),
        base_taxes: base.taxes[index].clone(),
        took: took(index),
    };
    figures.iter().enumerate().map(keep).collect()
}

fn invoice(lines: &[Sold], header: Option<Discount>, inclusive: bool, rate: &'static str) -> Invoice {
    let line = |(name, quantity, one, discount): &Sold| TradeLineAsked {
        id: Some(id(*name)),
        account: Some(id(4000)),
        quantity: Some(pieces(quantity)),
        price: Some(price(one)),
        discount: *discount,
        tax: TaxChoice::Code(id(8_000)),
        ..TradeLineAsked::default()
    };
    let asked = TradeAsked {
        inclusive: Some(inclusive),
        exchange_rate: (rate != "1").then(|| crate::samples::rate(rate)),
        discount: header,
        lines: lines.iter().map(line).collect(),
        ..TradeAsked::default()
    };
    let (components, rules) = (components(VAT), rules(inclusive, rate));
    let (figures, totals) = compute(&rules, &priced(&asked.lines, &components), header).unwrap();
    let base = InBase::of(&figures, &totals, &exchange(rate)).unwrap();
    let figures = TradeFigures { lines: kept(&figures, &base, |_| Vec::new()), totals, ..TradeFigures::default() };
    Invoice { asked, figures, components, rules, rate }
}

/// A line of a note: the line of the invoice that it credits, how many, and its own price where it has one.
fn of(line: u128, quantity: &str, own: Option<&str>) -> TradeLineAsked {
    TradeLineAsked {
        source_line: Some(id(line)),
        quantity: Some(pieces(quantity)),
        price: Some(price(own.unwrap_or("1"))),
        tax: TaxChoice::Code(id(8_000)),
        is_share: own.is_none(),
        ..TradeLineAsked::default()
    }
}

/// A line that names no line of the invoice.
fn free(quantity: &str, one: &str, tax: TaxChoice) -> TradeLineAsked {
    TradeLineAsked { source_line: None, is_share: false, tax, ..of(0, quantity, Some(one)) }
}

const TAXED: fn() -> TaxChoice = || TaxChoice::Code(id(8_000));

/// The credits of an invoice, one after the other.
struct Credits {
    invoice: Invoice,
    taken: Vec<Taker>,
    business: Business,
}

impl Credits {
    fn of(invoice: Invoice) -> Self {
        Self { invoice, taken: Vec::new(), business: Business::sample() }
    }

    fn try_note(&self, asked: &TradeAsked, purpose: Purpose) -> Result<Worked> {
        let Invoice { components, rules, .. } = &self.invoice;
        let kind = DocumentKind::SalesInvoice;
        let content = Content { asked: self.invoice.asked.clone(), figures: self.invoice.figures.clone() };
        let mut sources = Sources::sample([Source { row: row(1, kind, "0"), content }]);
        let invoices: Vec<&Source> = sources.invoices().collect();
        let lefts = Lefts::of_invoices(asked.source, &invoices, &self.taken).unwrap();
        sources.lefts = lefts;
        let direction = Direction::CreditNote;
        let working = Working { direction, asked, business: &self.business, sources: &sources, rules, purpose };
        work_out(&working, &priced(&asked.lines, components))
    }

    fn asked(lines: &[TradeLineAsked]) -> TradeAsked {
        TradeAsked { source: Some(id(1)), lines: lines.to_vec(), ..TradeAsked::default() }
    }

    /// What a note of these lines comes to: net and tax of each, and its worth. It takes its share from then on.
    fn note(&mut self, lines: &[TradeLineAsked]) -> String {
        self.noted(Self::asked(lines))
    }

    fn noted(&mut self, asked: TradeAsked) -> String {
        let worked = match self.try_note(&asked, Purpose::Posting) {
            Ok(worked) => worked,
            Err(why) => return said(&why),
        };
        let base = worked.in_base(&exchange(self.invoice.rate)).unwrap();
        let charged = worked.figures.iter().enumerate().map(|(index, line)| base.charged(index, line).unwrap());
        let parts = base.nets.iter().copied().chain(charged).chain([base.rounding]);
        assert_eq!(BookMoney::sum(parts), Ok(base.total), "the parts add up to the total");
        let shown = worked.figures.iter().map(|line| format!("{}+{}", line.net, line.tax)).collect::<Vec<_>>();
        let shown = format!("{} = {} at {}", shown.join(" "), worked.totals.total, base.total);
        let lines = kept(&worked.figures, &base, |index| worked.took(index));
        let rounded = worked.rounded.clone();
        let figures = TradeFigures { lines, totals: worked.totals.clone(), rounded, ..TradeFigures::default() };
        let name = 100 + u128::try_from(self.taken.len()).unwrap();
        let row = row(name, DocumentKind::CreditNote, "0");
        self.taken.push(Taker { row, content: Content { asked, figures } });
        shown
    }
}

fn off(text: &str) -> Discount {
    Discount::Percent(crate::samples::percent(text))
}

#[test]
fn pieces_come_back_as_the_worked_examples_say_and_the_last_takes_the_rest() {
    let mut tags = Credits::of(invoice(&[(11, "3", "9.99", None)], None, true, "1"));
    for expected in ["8.33+1.66 = 9.99 at 9.99", "8.32+1.67 = 9.99 at 9.99", "8.33+1.66 = 9.99 at 9.99"] {
        assert_eq!(tags.note(&[of(11, "1", None)]), expected, "4.1");
    }
    assert_eq!(
        tags.note(&[of(11, "1", None)]),
        "over_credit; lines[0].quantity must be at most 0, what is left to credit",
        "4.1"
    );
    let three = [(11, "1", "33.33", None), (12, "1", "33.33", None), (13, "1", "33.33", None)];
    let mut header = Credits::of(invoice(&three, Some(off("10")), false, "1"));
    assert_eq!(header.note(&[of(11, "1", None)]), "29.99+6 = 35.99 at 35.99", "4.2");
    assert_eq!(header.note(&[of(12, "1", None), of(13, "1", None)]), "30+6 30+6 = 72 at 72", "4.2, the rest");
    let mut dollars = Credits::of(invoice(&[(11, "3", "33.35", None)], None, false, "0.8767"));
    let notes = [0; 3].map(|_| dollars.note(&[of(11, "1", None)]));
    assert_eq!(
        notes,
        ["33.35+6.67 = 40.02 at 35.09", "33.35+6.67 = 40.02 at 35.09", "33.35+6.67 = 40.02 at 35.08"],
        "4.3, and of the tax, which is worth 17.55, a third each"
    );
}

#[test]
fn what_a_void_note_took_the_next_one_finds() {
    let mut credits = Credits::of(invoice(&[(11, "3", "3.333333", None)], None, false, "1"));
    let one = [of(11, "1", None)];
    let notes = [0; 3].map(|_| credits.note(&one));
    assert_eq!(notes, ["3.33+0.67 = 4 at 4", "3.34+0.67 = 4.01 at 4.01", "3.33+0.66 = 3.99 at 3.99"], "4.4");
    credits.taken.remove(1);
    assert_eq!(credits.note(&one), "3.34+0.67 = 4.01 at 4.01", "4.4");
}

#[test]
fn no_more_is_credited_than_was_invoiced() {
    let hundred = || invoice(&[(11, "10", "10", None)], None, false, "1");
    let nothing_said: [TradeLineAsked; 0] = [];
    for (name, before, lines, expected) in [
        (
            "4.6",
            &nothing_said[..],
            vec![free("1", "150", TAXED())],
            "over_credit; lines[0].unitPrice comes to more than the 100 that are left to credit of the invoice",
        ),
        ("to the last cent", &[], vec![free("1", "100", TAXED())], "100+20 = 120 at 120"),
        (
            "a cent too much",
            &[],
            vec![free("1", "100.01", TAXED())],
            "over_credit; lines[0].unitPrice comes to more than the 100 that are left to credit of the invoice",
        ),
        (
            "what was credited by lines is not left of the whole",
            &[of(11, "3", None)],
            vec![free("1", "70.01", TAXED())],
            "over_credit; lines[0].unitPrice comes to more than the 70 that are left to credit of the invoice",
        ),
        (
            "nor of the lines what was credited without",
            &[free("1", "40", TAXED())],
            vec![of(11, "7", None)],
            "over_credit; lines[0].unitPrice comes to more than what is left to credit of the invoice",
        ),
        (
            "eleven of ten",
            &[],
            vec![of(11, "11", None)],
            "over_credit; lines[0].quantity must be at most 10, what is left to credit",
        ),
        (
            "two lines of a note are bound together",
            &[],
            vec![of(11, "6", None), of(11, "6", None)],
            "over_credit; lines[1].quantity must be at most 4, what is left to credit",
        ),
        (
            "at a price of its own",
            &[],
            vec![of(11, "2", Some("60"))],
            "over_credit; lines[0].unitPrice comes to more than what is left to credit of the line",
        ),
        (
            "a line without one and a line at a price of its own, bound by the whole together",
            &[],
            vec![free("1", "60", TAXED()), of(11, "2", Some("20.01"))],
            "over_credit; lines[1].unitPrice comes to more than what is left to credit of the invoice",
        ),
        (
            "in whatever order",
            &[],
            vec![of(11, "2", Some("20.01")), free("1", "60", TAXED())],
            "over_credit; lines[1].unitPrice comes to more than the 59.98 that are left to credit of the invoice",
        ),
        (
            "and to the last cent",
            &[],
            vec![free("1", "60", TAXED()), of(11, "2", Some("20"))],
            "60+12 40+8 = 120 at 120",
        ),
        ("at another price, by amount", &[], vec![of(11, "2", Some("8"))], "16+3.2 = 19.2 at 19.2"),
        ("tax that was never charged", &[], vec![free("1", "50", TaxChoice::None)], "50+0 = 50 at 50"),
    ] {
        let mut credits = Credits::of(hundred());
        if !before.is_empty() {
            assert!(!credits.note(before).starts_with("over"), "{name}");
        }
        assert_eq!(credits.note(&lines), expected, "{name}");
    }
}

#[test]
fn who_may_credit_more_does_and_a_draft_is_not_bound() {
    let eleven = Credits::asked(&[free("1", "150", TAXED())]);
    let mut credits = Credits::of(invoice(&[(11, "10", "10", None)], None, false, "1"));
    let draft = credits.try_note(&eleven, Purpose::Draft).unwrap_or_else(|why| panic!("{why:?}"));
    assert_eq!(draft.totals.total, money("180"));
    credits.business.settings.allow_overcredit = true;
    assert_eq!(credits.noted(eleven), "150+30 = 180 at 180");
}

#[test]
fn a_price_that_was_too_high_leaves_the_pieces() {
    let mut credits = Credits::of(invoice(&[(11, "3", "10", None)], None, false, "1"));
    let rebate = TradeAsked { note_kind: Some(NoteKind::PriceAdjustment), ..Credits::asked(&[of(11, "1", Some("6"))]) };
    assert_eq!(credits.noted(rebate), "6+1.2 = 7.2 at 7.2");
    // All three are there to come back, for what is left of the money.
    assert_eq!(credits.note(&[of(11, "3", None)]), "24+4.8 = 28.8 at 28.8");
}

#[test]
fn a_coupon_is_credited_before_what_it_was_taken_off() {
    // 10 less a coupon of 4: no more than 6 comes back, in whatever order the lines stand.
    let with_coupon = || invoice(&[(11, "1", "10", None), (12, "1", "-4", None)], None, false, "1");
    for lines in [[of(11, "1", None), of(12, "1", None)], [of(12, "1", None), of(11, "1", None)]] {
        let mut credits = Credits::of(with_coupon());
        let shown = credits.note(&lines);
        assert!(shown.ends_with("= 7.2 at 7.2"), "{shown}");
    }
    let mut credits = Credits::of(with_coupon());
    let shown = credits.note(&[free("1", "10", TAXED()), free("1", "-4", TAXED())]);
    assert!(shown.ends_with("= 7.2 at 7.2"), "{shown}");
}

#[test]
fn a_tax_that_is_stated_is_the_share_of_the_tax() {
    for (stated, expected) in
        [("2", "10+2 = 12 at 12"), ("1.99", "lines[0].taxAmount is 1.99, and the share of the tax is 2; leave it out")]
    {
        let mut credits = Credits::of(invoice(&[(11, "10", "10", None)], None, false, "1"));
        let line = TradeLineAsked { stated_tax: Some(money(stated)), ..of(11, "1", None) };
        assert_eq!(credits.note(&[line]), expected, "{stated}");
    }
}

#[test]
fn the_coin_of_cash_rounds_all_notes_of_an_invoice_together() {
    let mut by_five = invoice(&[(11, "3", "3.33", None)], None, false, "1");
    by_five.rules.increment = Some(money("0.05"));
    // 9.99 and 2.00 are 11.99, which was charged as 12.00.
    (by_five.figures.totals.rounding, by_five.figures.totals.total) = (money("0.01"), money("12"));
    let mut credits = Credits::of(by_five.clone());
    // 3.33 and 0.67 are 4.00; two of them 6.66 and 1.33, which are 7.99: the rest of 12.00.
    assert_eq!(credits.note(&[of(11, "1", None)]), "3.33+0.67 = 4 at 4");
    assert_eq!(credits.note(&[of(11, "2", None)]), "6.66+1.33 = 8 at 8");
    // The company rounds no more: what was charged is given back all the same.
    by_five.rules.increment = None;
    let mut credits = Credits::of(by_five);
    assert_eq!(credits.note(&[of(11, "1", None)]), "3.33+0.67 = 4 at 4");
    assert_eq!(credits.note(&[of(11, "2", None)]), "6.66+1.33 = 8 at 8");
}
