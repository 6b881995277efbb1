//! What a trade document posts: rules without a database, tested by tables.

use super::follow::Carried;
use super::{Direction, TradeAsked, TradeLineAsked};
use crate::books::chart::Chart;
use crate::books::tables::{StockKind, stock_lines};
use crate::ids::RecordId;
use crate::money::Money;
use crate::resource::tax_code::TaxKind;
use rules::postable::Postable;
use rules::posting::{About, Line, Subject, TaxTag, Unposted, Valued};
use rules::purpose::{Purpose, Side};
use rules::refusal::Refusal;
use rules::tax::facts::{LineOfTax, TaxFact};
use rules::tax::figures::{LineFigures, TooLarge, Totals, minus, plus, sum};
pub(super) use rules::tax::home::Exchange;
use rules::tax::home::{InHome, Withholding, claimed};

/// The accounts that a document posts to, where its lines do not say.
#[derive(Debug, Clone)]
pub(super) struct Accounts<'c> {
    pub(super) chart: &'c Chart,
    pub(super) control: RecordId,
    /// Whether its other side is that of opening balances.
    pub(super) is_opening: bool,
}

impl Accounts<'_> {
    /// Where an opening document has its other side, and any other has this.
    fn or_opening(&self, other: impl FnOnce(&Chart) -> Result<Postable, Refusal>) -> Result<Postable, Refusal> {
        if self.is_opening { Ok(self.chart.roles().opening_balance_equity.clone().into()) } else { other(self.chart) }
    }

    fn variance(&self) -> Postable {
        self.chart.roles().purchase_price_variance.clone().into()
    }
}

/// What the parts of a document come to in the company's currency. They add up to `total`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct InBase {
    pub(super) nets: Vec<Money>,
    /// Line by line, component by component.
    pub(super) taxes: Vec<Vec<Money>>,
    pub(super) rounding: Money,
    pub(super) total: Money,
}

impl InBase {
    pub(super) fn of(lines: &[LineFigures], totals: &Totals, exchange: &Exchange<'_>) -> Result<Self, TooLarge> {
        let home = InHome::of(exchange, lines, (Money::ZERO, totals.rounding), Withholding::Shown)?;
        Ok(Self { nets: home.nets, taxes: home.taxes, rounding: home.after, total: exchange.one(totals.total)? })
    }

    /// What of a line's tax is part of what is paid.
    pub(super) fn charged(&self, index: usize, line: &LineFigures) -> Result<Money, TooLarge> {
        let taxes = self.taxes.get(index).into_iter().flatten().zip(&line.taxes);
        sum(taxes.filter(|(_, tax)| tax.is_charged()).map(|(base, _)| *base))
    }
}

/// What a document came to.
#[derive(Clone, Copy)]
pub(super) struct Amounts<'a> {
    pub(super) totals: &'a Totals,
    pub(super) base: &'a InBase,
    /// What of goods that wait is billed or credited, line by line.
    pub(super) carried: &'a [Option<Carried>],
}

/// What a line says beside its amount, and what it tells of tax.
#[derive(Default)]
struct Says {
    about: About,
    facts: Vec<TaxFact>,
}

/// One side of the posting in the making: amounts are positive where an invoice debits.
struct Sheet<'s> {
    exchange: &'s Exchange<'s>,
    sign: i64,
    lines: Vec<Line>,
}

impl Sheet<'_> {
    fn signed(&self, money: Money) -> Result<Money, TooLarge> {
        money.units().checked_mul(self.sign).map(Money::from_units).ok_or(TooLarge)
    }

    fn add(&mut self, to: impl Into<Postable>, base: Money, own: Money, what: Says) -> Result<(), Unposted> {
        let (base, own) = (self.signed(base)?, self.signed(own)?);
        let amount = Valued { base, currency: self.exchange.currency.to_owned(), own };
        self.lines.push(Line::on(to, amount, what.about)?.telling(what.facts));
        Ok(())
    }

    /// An amount that is in the company's currency alone, with the sign that it has.
    fn add_base(&mut self, to: impl Into<Postable>, amount: Money, subject: Subject) -> Result<(), Unposted> {
        self.lines.push(Line::on(to, Valued::in_base(amount, self.exchange.base), subject.into())?);
        Ok(())
    }
}

/// The account that a line's net amount goes to.
fn account_of(
    direction: Direction,
    accounts: &Accounts<'_>,
    line: &TradeLineAsked,
    moved: Option<&stock_lines::Model>,
) -> Result<Postable, Unposted> {
    let account = accounts.or_opening(|chart| match (direction, line.account) {
        // What goes back to a supplier leaves at its cost; the difference to what he pays is a variance.
        (Direction::DebitNote, _) if moved.is_some() => Ok(accounts.variance()),
        (_, Some(own)) if moved.is_some_and(|moved| moved.inventory_account_id == own) => chart.standing(own),
        (_, Some(own)) => {
            let purpose = if direction.is_sale() { Purpose::SaleLine } else { Purpose::PurchaseLine };
            chart.free(own, purpose).map(Into::into)
        }
        // A text trades nothing, and its line is dropped.
        (_, None) => Ok(accounts.variance()),
    })?;
    Ok(account)
}

/// What a line of a purchase costs in the company's currency: its net amount and the tax that cannot be claimed back.
pub(super) fn cost_of(
    index: usize,
    figures: &LineFigures,
    base: &InBase,
    exchange: &Exchange<'_>,
) -> Result<Money, TooLarge> {
    let mut cost = base.nets[index];
    for place in 0..figures.taxes.len() {
        if figures.taxes[place].is_charged() || figures.taxes[place].kind == TaxKind::ReverseCharge {
            let home = base.taxes[index][place];
            cost = plus(cost, minus(home, claimed(&figures.taxes[place], home, exchange)?)?)?;
        }
    }
    Ok(cost)
}

/// The lines of a document's entry.
pub(super) fn lines(
    direction: Direction,
    asked: &TradeAsked,
    (accounts, costs): (&Accounts<'_>, &[RecordId]),
    exchange: &Exchange<'_>,
    amounts: &Amounts<'_>,
    mut taxes: Vec<LineOfTax>,
    stock: &[stock_lines::Model],
) -> Result<Vec<Line>, Unposted> {
    let chart = accounts.chart;
    let Amounts { totals, base, carried } = *amounts;
    let is_sale = direction.is_sale();
    // A sale credits what it earns; a purchase debits what it costs; a note does the opposite.
    let sign = if is_sale == direction.credits() { 1 } else { -1 };
    let mut sheet = Sheet { exchange, sign, lines: Vec::new() };
    for (index, line) in asked.lines.iter().enumerate() {
        let moved = stock.iter().find(|moved| Some(moved.line_id) == line.id);
        let mut tax = std::mem::take(&mut taxes[index]);
        let (net, own) = (tax.cost, tax.own_cost);
        let facts = std::mem::take(&mut tax.bare);
        let about = About {
            description: line.description.clone(),
            subject: Subject {
                item: line.item,
                quantity: moved.filter(|_| direction == Direction::PurchaseInvoice).map(|moved| moved.quantity),
                tax: line.tax.code().map(|code| TaxTag { code, component: None, base: None }),
            },
            ..About::default()
        };
        let says = Says { about, facts };
        match carried[index] {
            Some(carried) if !is_sale => {
                // What waits goes at what it was received for; the rest is a variance, or makes the goods dearer.
                let waits = sheet.signed(carried.value)?;
                let own = if exchange.currency == exchange.base { waits } else { own };
                sheet.add(chart.standing(carried.account)?, waits, own, says)?;
                let dearer = moved.map_or(Money::ZERO, |moved| moved.cost);
                let subject = Subject { item: line.item, ..Subject::default() };
                if let Some(moved) = moved {
                    sheet.add_base(chart.standing(moved.inventory_account_id)?, dearer, subject.clone())?;
                }
                let rest = minus(sheet.signed(minus(net, waits)?)?, dearer)?;
                sheet.add_base(accounts.variance(), rest, subject)?;
            }
            _ => sheet.add(account_of(direction, accounts, line, moved)?, net, own, says)?,
        }
        let of_item = |of_tax: Line| {
            let subject = Subject { item: line.item, ..of_tax.subject().clone() };
            of_tax.on_subject(subject)
        };
        sheet.lines.extend(tax.lines.into_iter().map(of_item));
        if let Some(carried) = carried[index].filter(|_| is_sale) {
            let subject = Subject { item: line.item, ..Subject::default() };
            sheet.add_base(chart.standing(carried.account)?, carried.value, subject.clone())?;
            let back = minus(Money::ZERO, carried.value)?;
            sheet.add_base(chart.free(costs[index], Purpose::Cost)?, back, subject)?;
        }
        if let Some(moved) = moved.filter(|_| carried[index].is_none()) {
            let subject = Subject { item: line.item, quantity: Some(moved.quantity), tax: None };
            // What came in at another cost than was paid, such as the standard cost, is a variance.
            let already = if direction == Direction::PurchaseInvoice { net } else { Money::ZERO };
            let cost = minus(moved.cost, already)?;
            let subject =
                if direction == Direction::PurchaseInvoice { Subject { quantity: None, ..subject } } else { subject };
            sheet.add_base(chart.standing(moved.inventory_account_id)?, cost, subject)?;
            let subject = Subject { item: line.item, ..Subject::default() };
            sheet.add_base(chart.standing(moved.cost_account_id)?, minus(Money::ZERO, cost)?, subject)?;
        }
    }
    let rounding = accounts.or_opening(|chart| Ok(chart.roles().rounding.clone().into()))?;
    sheet.add(rounding, base.rounding, totals.rounding, Says::default())?;
    let side = if is_sale { Side::Receivable } else { Side::Payable };
    let control = chart.control(accounts.control, side, exchange.currency)?.of(asked.party);
    let opposite = |money: Money| minus(Money::ZERO, money);
    let about = About { due_date: asked.due_date, ..About::default() };
    sheet.add(control, opposite(base.total)?, opposite(totals.total)?, Says { about, facts: Vec::new() })?;
    Ok(sheet.lines)
}

/// The lines of the entry of a note of goods: what they cost goes to where they wait, or is a cost at once.
pub(super) fn goods_lines(
    asked: &TradeAsked,
    (exchange, chart): (&Exchange<'_>, &Chart),
    carried: &[Option<Carried>],
    stock: &[stock_lines::Model],
) -> Result<Vec<Line>, Unposted> {
    let mut sheet = Sheet { exchange, sign: 1, lines: Vec::new() };
    for (line, carried) in asked.lines.iter().zip(carried) {
        let Some(moved) = stock.iter().find(|moved| Some(moved.line_id) == line.id) else { continue };
        let subject = Subject { item: line.item, ..Subject::default() };
        let goods = Subject { quantity: Some(moved.quantity), ..subject.clone() };
        sheet.add_base(chart.standing(moved.inventory_account_id)?, moved.cost, goods)?;
        let mut rest = moved.cost;
        if let Some(carried) = carried {
            sheet.add_base(chart.standing(carried.account)?, carried.value, subject.clone())?;
            rest = plus(rest, carried.value)?;
        }
        sheet.add_base(chart.standing(moved.cost_account_id)?, minus(Money::ZERO, rest)?, subject)?;
    }
    Ok(sheet.lines)
}

/// How a line of a direction moves stock.
pub(super) const fn stock_kind(direction: Direction, is_return: bool) -> StockKind {
    match direction {
        Direction::DeliveryNote if is_return => StockKind::Return,
        Direction::ReceiptNote if is_return => StockKind::Issue,
        Direction::SalesOrder | Direction::DeliveryNote | Direction::SalesInvoice | Direction::DebitNote => {
            StockKind::Issue
        }
        Direction::CreditNote => StockKind::Return,
        Direction::PurchaseOrder | Direction::ReceiptNote | Direction::PurchaseInvoice => StockKind::Receipt,
    }
}

#[cfg(test)]
mod tests {
    use super::super::line::TaxChoice;
    use super::*;
    use crate::day::Day;
    use crate::ids::BusinessId;
    use crate::money::{Percent, Quantity, Rate, Rounding, UnitPrice};
    use rules::posting::Posting;
    use rules::tax::facts::{Code, Common, Computed, TaxOrigin, TaxSide};
    use rules::tax::figures::{Priced, Rules, compute};
    use rules::tax::{TaxBoxes, TaxComponent, TaxDirection, TaxRounding};
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
        /// What each line's goods cost, with the sign of their quantity; on 1300 and the account beside.
        goods: Option<(&'static str, u128)>,
        /// What of goods that wait each line bills: the account, and what it moves by.
        carried: Option<(u128, &'static str)>,
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
        carried: None,
        opening: false,
        posts: "",
    };

    fn carried((code, value): (u128, &str)) -> Carried {
        Carried { account: account(code), value: Money::parse(value).unwrap() }
    }

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
            discount: (*discount != "0")
                .then(|| rules::tax::figures::Discount::Percent(Percent::parse(discount).unwrap())),
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
        let moved = case.goods.map(|goods| moved(case.direction, rules.rates_of, goods));
        let chart = crate::books::chart::sample();
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
        let carried: Vec<_> = asked.lines.iter().map(|_| case.carried.map(carried)).collect();
        let costs = vec![account(5000); asked.lines.len()];
        let amounts = Amounts { totals: &totals, base: &base, carried: &carried };
        let moved: Vec<_> = moved.into_iter().collect();
        let lines = lines(case.direction, &asked, (&accounts, &costs), &exchange, &amounts, taxes, &moved).unwrap();
        summed(lines)
    }

    fn moved(direction: Direction, date: Day, (cost, other): (&str, u128)) -> stock_lines::Model {
        stock_lines::Model {
            business_id: BusinessId::default(),
            item_id: RecordId::default(),
            date,
            sequence: 1,
            document_id: RecordId::default(),
            line_no: 1,
            line_id: account(7_000),
            kind: stock_kind(direction, false),
            quantity: Quantity::ZERO,
            cost: Money::parse(cost).unwrap(),
            booked: Money::parse(cost).unwrap(),
            returns_line_id: None,
            inventory_account_id: account(1300),
            cost_account_id: account(other),
            asked_cost: None,
        }
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
                goods: Some(("-69.6", 5000)),
                posts: "1 108; 1300 -69.6; 4000 -108; 5000 69.6",
                ..PLAIN
            },
            Case {
                name: "E11, the return",
                direction: CreditNote,
                lines: &[("2", "9", "0", 4000)],
                goods: Some(("11.6", 5000)),
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
                goods: Some(("65", 5100)),
                posts: "1 -65; 1300 65",
                ..PLAIN
            },
            Case {
                name: "goods bought beyond their standard cost",
                direction: PurchaseInvoice,
                lines: &[("10", "5.5", "0", 1300)],
                goods: Some(("50", 5100)),
                posts: "1 -55; 1300 50; 5100 5",
                ..PLAIN
            },
            Case {
                name: "T29, goods go back at their cost",
                direction: DebitNote,
                lines: &[("2", "6", "0", 1300)],
                tax: VAT_20,
                goods: Some(("-10", 5100)),
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
                carried: Some((1350, "-30")),
                posts: "1 60; 1350 -30; 2200 -10; 4000 -50; 5000 30",
                ..PLAIN
            },
            Case {
                name: "goods came back after the invoice, and are credited",
                direction: CreditNote,
                lines: &[("2", "10", "0", 4000)],
                tax: VAT_20,
                carried: Some((1350, "12")),
                posts: "1 -24; 1350 12; 2200 4; 4000 20; 5000 -12",
                ..PLAIN
            },
            Case {
                name: "E14, the bill; what was sold by then is corrected by an entry of its own",
                direction: PurchaseInvoice,
                lines: &[("10", "8.5", "0", 2150)],
                tax: VAT_20,
                goods: Some(("5", 5100)),
                carried: Some((2150, "80")),
                posts: "1 -102; 1300 5; 1400 17; 2150 80",
                ..PLAIN
            },
            Case {
                name: "E14 at standard cost: the difference is a variance",
                direction: PurchaseInvoice,
                lines: &[("10", "8.5", "0", 2150)],
                carried: Some((2150, "80")),
                posts: "1 -85; 2150 80; 5100 5",
                ..PLAIN
            },
            Case {
                name: "T16, billed at another rate",
                direction: PurchaseInvoice,
                lines: &[("10", "8", "0", 2150)],
                rate: "0.95",
                goods: Some(("4", 5100)),
                carried: Some((2150, "72")),
                posts: "1 -76; 1300 4; 2150 72",
                ..PLAIN
            },
            Case {
                name: "goods went back after the bill, and are debited",
                direction: DebitNote,
                lines: &[("2", "8.5", "0", 2150)],
                tax: VAT_20,
                carried: Some((2150, "-17")),
                posts: "1 20.4; 1400 -3.4; 2150 -17",
                ..PLAIN
            },
        ]);
    }

    #[test]
    fn notes_of_goods_post_what_the_worked_examples_say() {
        let posts = |cost: &str, other: u128, wait: Option<(u128, &str)>| {
            let line = TradeLineAsked { id: Some(account(7_000)), ..TradeLineAsked::default() };
            let asked = TradeAsked { lines: vec![line], ..TradeAsked::default() };
            let exchange =
                Exchange { base: "EUR", currency: "EUR", rate: Rate::ONE, decimals: 2, rounding: Rounding::HalfUp };
            let moved = moved(Direction::DeliveryNote, Day::default(), (cost, other));
            let chart = crate::books::chart::sample();
            summed(goods_lines(&asked, (&exchange, &chart), &[wait.map(carried)], &[moved]).unwrap())
        };
        for (name, cost, other, wait, wanted) in [
            ("E15, the note", "-30", 5000, Some((1350, "30")), "1300 -30; 1350 30"),
            ("delivered, and a cost at once", "-30", 5000, None, "1300 -30; 5000 30"),
            ("it comes back", "12", 5000, Some((1350, "-12")), "1300 12; 1350 -12"),
            (
                "it comes back, and a cent is left over",
                "3.33",
                5000,
                Some((1350, "-3.34")),
                "1300 3.33; 1350 -3.34; 5000 0.01",
            ),
            ("E14, the note", "80", 5100, Some((2150, "-80")), "1300 80; 2150 -80"),
            ("E14 at a standard cost of 7.50", "75", 5100, Some((2150, "-80")), "1300 75; 2150 -80; 5100 5"),
            ("it goes back", "-16", 5100, Some((2150, "16")), "1300 -16; 2150 16"),
        ] {
            assert_eq!(posts(cost, other, wait), wanted, "{name}");
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
}
