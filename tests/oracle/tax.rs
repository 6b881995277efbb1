//! What the lines of a document come to, with their tax, in its currency and in the company's.

use super::exact::{Fraction, by_weight, part, running, spread};
use super::world::{CODES, Component, TaxKind, YEAR_END, exchange};

/// A line as it is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// None is a line of words and a price.
    pub item: Option<usize>,
    /// In thousandths.
    pub quantity: i128,
    /// In millionths of a whole unit of the currency.
    pub price: i128,
    /// In hundredths of a percent.
    pub off: i128,
    pub code: Option<usize>,
    /// Whether it buys equipment.
    pub equipment: bool,
}

pub struct Terms {
    pub currency: usize,
    pub decimals: u32,
    pub rate: i128,
    pub inclusive: bool,
    /// Off all of it, in hundredths of a percent.
    pub off: i128,
    /// The day whose rates of tax apply.
    pub rates_of: usize,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Taxed {
    /// Before and after discounts, in coins.
    pub gross: i128,
    pub amount: i128,
    pub net: i128,
    /// Component by component: its base, what it comes to and what of it can be claimed.
    pub taxes: Vec<[i128; 3]>,
    pub home_net: i128,
    /// Component by component, in the company's currency: its base, the tax and what is claimed.
    pub home_taxes: Vec<[i128; 3]>,
}

impl Taxed {
    pub fn charged(&self, code: Option<usize>) -> i128 {
        let components = code.map_or(&[][..], |code| CODES[code].1);
        components.iter().zip(&self.taxes).filter(|(one, _)| one.kind.is_charged()).map(|(_, tax)| tax[1]).sum()
    }

    /// What it costs whoever buys it: the net and what cannot be claimed.
    pub fn cost(&self) -> i128 {
        self.home_net + self.not_claimed()
    }

    pub fn not_claimed(&self) -> i128 {
        self.home_taxes.iter().map(|tax| tax[1] - tax[2]).sum()
    }
}

fn hundredth(percent: i128) -> Fraction {
    Fraction::new(percent, 10_000)
}

fn rate(component: &Component, day: usize) -> Fraction {
    let rate = if day > YEAR_END { component.later } else { component.rate };
    match component.kind {
        TaxKind::Standard | TaxKind::Reverse | TaxKind::Withheld => Fraction::new(rate, 100_000),
        _ => Fraction::ZERO,
    }
}

/// What a component is for one piece, in coins of the document: it is told in the company's currency.
fn a_unit(component: &Component, terms: &Terms) -> Fraction {
    match component.kind {
        TaxKind::PerUnit => Fraction::new(component.rate, 10) / exchange(terms.currency, terms.rate),
        _ => Fraction::ZERO,
    }
}

/// What is left of each line when all discounts are taken off.
fn amounts(terms: &Terms, lines: &[Line]) -> Vec<(i128, i128)> {
    let coin = 10_i128.pow(terms.decimals);
    let gross: Vec<i128> =
        lines.iter().map(|line| Fraction::new(line.quantity * line.price * coin, 1_000_000_000).round()).collect();
    let rest: Vec<i128> = gross
        .iter()
        .zip(lines)
        .map(|(gross, line)| gross - (Fraction::of(*gross) * hundredth(line.off)).round())
        .collect();
    let header = (Fraction::of(rest.iter().sum()) * hundredth(terms.off)).round();
    let shares = by_weight(header, &rest);
    gross.into_iter().zip(rest).zip(shares).map(|((gross, rest), share)| (gross, rest - share)).collect()
}

pub fn taxed(terms: &Terms, lines: &[Line]) -> Vec<Taxed> {
    let amounts = amounts(terms, lines);
    let mut taxed: Vec<Taxed> = amounts
        .iter()
        .map(|(gross, amount)| Taxed { gross: *gross, amount: *amount, net: *amount, ..Taxed::default() })
        .collect();
    let mut codes: Vec<usize> = lines.iter().filter_map(|line| line.code).collect();
    codes.sort_unstable();
    codes.dedup();
    for code in codes {
        let members: Vec<usize> = (0..lines.len()).filter(|place| lines[*place].code == Some(code)).collect();
        if terms.inclusive {
            inside(terms, lines, code, &members, &mut taxed);
        } else {
            for place in 0..CODES[code].1.len() {
                let shares = upon(terms, lines, code, place, &members, &taxed);
                add(code, place, &members, &shares, &mut taxed);
            }
        }
    }
    at_home(terms, lines, &mut taxed);
    taxed
}

/// What a component stands on: the net, and what was charged before it where it is compound.
fn base(code: usize, place: usize, line: &Taxed) -> i128 {
    let components = CODES[code].1;
    let before = line.taxes.iter().take(place).zip(components).filter(|(_, one)| one.kind.is_charged());
    line.net + if components[place].compound { before.map(|(tax, _)| tax[1]).sum() } else { 0 }
}

/// What a component comes to on top of the nets, line by line.
fn upon(terms: &Terms, lines: &[Line], code: usize, place: usize, members: &[usize], taxed: &[Taxed]) -> Vec<i128> {
    let component = &CODES[code].1[place];
    let raw: Vec<Fraction> = members
        .iter()
        .map(|member| {
            let on_base = Fraction::of(base(code, place, &taxed[*member])) * rate(component, terms.rates_of);
            on_base + a_unit(component, terms) * Fraction::new(lines[*member].quantity, 1_000)
        })
        .collect();
    let whole = raw.iter().fold(Fraction::ZERO, |sum, raw| sum + *raw).round();
    spread(whole, &raw)
}

fn add(code: usize, place: usize, members: &[usize], shares: &[i128], taxed: &mut [Taxed]) {
    for (member, share) in members.iter().zip(shares) {
        let base = base(code, place, &taxed[*member]);
        let claimed = Fraction::new(share * CODES[code].1[place].recoverable, 100).round();
        taxed[*member].taxes.push([base, *share, claimed]);
    }
}

/// The net inside amounts is rounded once; what it leaves is tax.
fn inside(terms: &Terms, lines: &[Line], code: usize, members: &[usize], taxed: &mut [Taxed]) {
    let components = CODES[code].1;
    // Of each component: how much of a net, and how much for a piece; and all that is charged, with the net itself.
    let (mut whole, mut parts) = ((Fraction::ONE, Fraction::ZERO), Vec::new());
    for component in components {
        let on = if component.compound { whole } else { (Fraction::ONE, Fraction::ZERO) };
        let rate = rate(component, terms.rates_of);
        let part = (on.0 * rate, on.1 * rate + a_unit(component, terms));
        if component.kind.is_charged() {
            whole = (whole.0 + part.0, whole.1 + part.1);
        }
        parts.push(part);
    }
    let pieces = |member: &usize| Fraction::new(lines[*member].quantity, 1_000);
    let exact: Vec<Fraction> = members
        .iter()
        .map(|member| (Fraction::of(taxed[*member].amount) - whole.1 * pieces(member)) / whole.0)
        .collect();
    let net = exact.iter().fold(Fraction::ZERO, |sum, net| sum + *net).round();
    let mut left = Vec::new();
    for (member, net) in members.iter().zip(spread(net, &exact)) {
        taxed[*member].net = net;
        left.push(taxed[*member].amount - net);
    }
    let raw = |part: &(Fraction, Fraction)| -> Vec<Fraction> {
        members.iter().zip(&exact).map(|(member, net)| *net * part.0 + part.1 * pieces(member)).collect()
    };
    let charged: Vec<usize> = (0..components.len()).filter(|place| components[*place].kind.is_charged()).collect();
    let wholes: Vec<Fraction> = charged
        .iter()
        .map(|place| raw(&parts[*place]).into_iter().fold(Fraction::ZERO, |sum, raw| sum + raw))
        .collect();
    let shared = if charged.is_empty() { Vec::new() } else { spread(left.iter().sum(), &wholes) };
    for place in 0..components.len() {
        let shares = match charged.iter().position(|one| *one == place) {
            None => upon(terms, lines, code, place, members, taxed),
            Some(last) if last + 1 == charged.len() => left.clone(),
            Some(one) => spread(shared[one], &raw(&parts[place])),
        };
        if components[place].kind.is_charged() {
            left.iter_mut().zip(&shares).for_each(|(left, share)| *left -= share);
        }
        add(code, place, members, &shares, taxed);
    }
}

/// One running total over the nets and then the charged taxes; what nobody charges by itself.
fn at_home(terms: &Terms, lines: &[Line], taxed: &mut [Taxed]) {
    let rate = exchange(terms.currency, terms.rate);
    let charged = |line: &Line, place: usize| line.code.is_some_and(|code| CODES[code].1[place].kind.is_charged());
    let mut parts: Vec<i128> = taxed.iter().map(|line| line.net).collect();
    for (line, asked) in taxed.iter().zip(lines) {
        parts.extend(line.taxes.iter().enumerate().filter(|(place, _)| charged(asked, *place)).map(|(_, tax)| tax[1]));
    }
    let mut home = running(&parts, rate).into_iter();
    for line in taxed.iter_mut() {
        line.home_net = home.next().unwrap();
    }
    for (line, asked) in taxed.iter_mut().zip(lines) {
        let mut before = line.home_net;
        for (place, [_, tax, claimed]) in line.taxes.clone().into_iter().enumerate() {
            let is_charged = charged(asked, place);
            let amount = if is_charged { home.next().unwrap() } else { (Fraction::of(tax) * rate).round() };
            let claimed = if tax == 0 { if claimed == tax { amount } else { 0 } } else { part(amount, claimed, tax) };
            let compound = asked.code.is_some_and(|code| CODES[code].1[place].compound);
            line.home_taxes.push([if compound { before } else { line.home_net }, amount, claimed]);
            if is_charged {
                before += amount;
            }
        }
    }
}
