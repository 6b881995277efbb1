//! The tax on the lines of a document. There is no other: invoices, bills, notes and direct lines all ask here.
//!
//! A component is computed exactly, rounded once for all lines of its code or once a line, and shared among the lines
//! by what each would have without rounding. Where prices include tax, the net is rounded and the tax is what it
//! leaves.

use super::exact::{Coin, Exact, spread};
use super::figures::{LineTax, Refused, TooLarge, charged, minus, plus, sum};
use super::{TaxComponent, TaxKind, TaxRounding};
use words::day::Day;
use words::ids::RecordId;
use words::money::{Money, Quantity, Rate};

/// How the tax of a document is computed.
#[derive(Debug, Clone, Copy)]
pub struct Terms {
    pub coin: Coin,
    pub rounding: TaxRounding,
    /// Whether amounts include tax.
    pub inclusive: bool,
    /// What one unit of the document's currency is worth; an amount for a unit is in the company's.
    pub exchange: Rate,
    /// The day whose rates apply.
    pub rates_of: Day,
    /// By how much a stated tax may differ from the computed one, in smallest coins.
    pub tolerance: i64,
}

/// What is taxed: a line, after all discounts.
#[derive(Debug, Clone, Copy)]
pub struct Taxable<'t> {
    /// Less than 0 on a line that takes something off, such as a coupon.
    pub amount: Money,
    pub quantity: Quantity,
    pub code: Option<(RecordId, &'t [TaxComponent])>,
    /// The tax that the other side's paper says.
    pub stated: Option<Money>,
}

/// A line with its tax.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Taxed {
    /// Without tax.
    pub net: Money,
    /// What the other side pays of tax.
    pub tax: Money,
    /// Component by component, in their sequence.
    pub taxes: Vec<LineTax>,
}

impl Taxed {
    /// What is kept back when it is paid.
    pub fn withheld(&self) -> Result<Money, TooLarge> {
        sum(self.taxes.iter().filter(|tax| tax.kind == TaxKind::Withholding).map(|tax| tax.amount))
    }
}

/// The tax of a document, line by line.
pub fn tax(terms: &Terms, lines: &[Taxable<'_>]) -> Result<Vec<Taxed>, Refused> {
    let mut taxed: Vec<Taxed> = lines.iter().map(|line| Taxed { net: line.amount, ..Taxed::default() }).collect();
    for members in groups(terms, lines) {
        Group::of(terms, lines, &members)?.tax(&mut taxed)?;
    }
    for (index, (line, taxed)) in lines.iter().zip(&mut taxed).enumerate() {
        if let Some(stated) = line.stated.filter(|stated| *stated != taxed.tax) {
            state(terms, (index, line), stated, taxed)?;
        }
    }
    Ok(taxed)
}

/// The lines whose tax is rounded together.
fn groups(terms: &Terms, lines: &[Taxable<'_>]) -> Vec<Vec<usize>> {
    let mut groups: Vec<(RecordId, Vec<usize>)> = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let Some((code, _)) = line.code else { continue };
        match groups.iter_mut().find(|(known, _)| *known == code) {
            Some((_, members)) if terms.rounding == TaxRounding::Document => members.push(index),
            _ => groups.push((code, vec![index])),
        }
    }
    groups.into_iter().map(|(_, members)| members).collect()
}

/// What a component comes to over a net: so much of it, and so much for each unit.
#[derive(Debug, Clone, Copy)]
struct Part {
    of_net: Exact,
    a_unit: Exact,
}

/// Lines that are taxed together by one code.
struct Group<'g> {
    terms: &'g Terms,
    code: RecordId,
    components: Vec<&'g TaxComponent>,
    lines: Vec<(usize, &'g Taxable<'g>)>,
}

impl<'g> Group<'g> {
    fn of(terms: &'g Terms, lines: &'g [Taxable<'g>], members: &[usize]) -> Result<Self, TooLarge> {
        let lines: Vec<(usize, &Taxable<'_>)> = members.iter().map(|index| (*index, &lines[*index])).collect();
        let (code, components) = lines.first().and_then(|(_, line)| line.code).ok_or(TooLarge)?;
        let mut components: Vec<&TaxComponent> = components.iter().collect();
        components.sort_by_key(|component| component.sequence);
        Ok(Self { terms, code, components, lines })
    }

    fn tax(&self, taxed: &mut [Taxed]) -> Result<(), TooLarge> {
        if self.terms.inclusive {
            self.inside(taxed)?
        } else {
            self.upon(taxed)?
        }
        for (index, _) in &self.lines {
            let line = &mut taxed[*index];
            line.tax = sum(line.taxes.iter().filter(|tax| tax.is_charged()).map(|tax| tax.amount))?;
        }
        Ok(())
    }

    fn rate(&self, component: &TaxComponent) -> Exact {
        match component.kind {
            TaxKind::Exempt | TaxKind::Zero | TaxKind::Outside | TaxKind::FixedPerUnit => Exact::ZERO,
            TaxKind::Standard | TaxKind::Withholding | TaxKind::ReverseCharge => {
                Exact::percent(component.rate_on(self.terms.rates_of))
            }
        }
    }

    /// What it comes to for one unit of the quantity, in the document's currency.
    fn a_unit(&self, component: &TaxComponent) -> Result<Exact, TooLarge> {
        if component.kind != TaxKind::FixedPerUnit {
            return Ok(Exact::ZERO);
        }
        Exact::plain(component.rate_on(self.terms.rates_of)).over(Exact::rate(self.terms.exchange).reduced())
    }

    /// Adds a component with its share on each line.
    fn add(&self, taxed: &mut [Taxed], component: &TaxComponent, shares: &[Money]) -> Result<(), TooLarge> {
        for ((index, _), amount) in self.lines.iter().zip(shares) {
            let line = &mut taxed[*index];
            line.taxes.push(LineTax {
                code: self.code,
                component: component.id,
                name: component.name.clone(),
                kind: component.kind,
                rate: component.rate_on(self.terms.rates_of),
                base: base(component, line)?,
                amount: *amount,
                recoverable: recoverable(component, *amount, self.terms.coin)?,
            });
        }
        Ok(())
    }

    /// What a component comes to upon the nets of the lines, shared among them.
    fn component_upon(&self, taxed: &[Taxed], component: &TaxComponent) -> Result<Vec<Money>, TooLarge> {
        let (rate, a_unit) = (self.rate(component), self.a_unit(component)?);
        let mut raw = Vec::with_capacity(self.lines.len());
        for (index, line) in &self.lines {
            let of_base = Exact::money(base(component, &taxed[*index])?).times(rate)?;
            raw.push(if a_unit.is_zero() {
                of_base
            } else {
                of_base.plus(a_unit.times(Exact::quantity(line.quantity))?)?
            });
        }
        let whole = raw.iter().try_fold(Exact::ZERO, |sum, raw| sum.plus(*raw))?;
        spread(whole.round(self.terms.coin)?, &raw, self.terms.coin)
    }

    /// The tax upon amounts that do not include it.
    fn upon(&self, taxed: &mut [Taxed]) -> Result<(), TooLarge> {
        for component in &self.components {
            let shares = self.component_upon(taxed, component)?;
            self.add(taxed, component, &shares)?;
        }
        Ok(())
    }

    /// What each component comes to over a net, and what all charged ones make of it.
    fn parts(&self) -> Result<(Vec<Part>, Part), TooLarge> {
        let mut whole = Part { of_net: Exact::ONE, a_unit: Exact::ZERO };
        let mut parts = Vec::with_capacity(self.components.len());
        for component in &self.components {
            let on = if component.is_compound { whole } else { Part { of_net: Exact::ONE, a_unit: Exact::ZERO } };
            let rate = self.rate(component);
            let part = Part {
                of_net: on.of_net.times(rate)?.reduced(),
                a_unit: on.a_unit.times(rate)?.plus(self.a_unit(component)?)?.reduced(),
            };
            if charged(component.kind) {
                whole = Part {
                    of_net: whole.of_net.plus(part.of_net)?.reduced(),
                    a_unit: whole.a_unit.plus(part.a_unit)?.reduced(),
                };
            }
            parts.push(part);
        }
        Ok((parts, whole))
    }

    /// The net and the tax inside amounts that include it. The tax is what the rounded net leaves: computed from the
    /// net, it would miss coins.
    fn inside(&self, taxed: &mut [Taxed]) -> Result<(), TooLarge> {
        let coin = self.terms.coin;
        let (parts, whole) = self.parts()?;
        let mut exact = Vec::with_capacity(self.lines.len());
        for (_, line) in &self.lines {
            let fixed = whole.a_unit.times(Exact::quantity(line.quantity))?;
            exact.push(Exact::money(line.amount).minus(fixed)?.over(whole.of_net)?);
        }
        let net = exact.iter().try_fold(Exact::ZERO, |sum, net| sum.plus(*net))?.round(coin)?;
        let nets = spread(net, &exact, coin)?;
        let mut left = Vec::with_capacity(self.lines.len());
        for ((index, line), net) in self.lines.iter().zip(&nets) {
            taxed[*index].net = *net;
            left.push(minus(line.amount, *net)?);
        }
        // Component by component, what each line would have of it without rounding.
        let mut raw: Vec<Vec<Exact>> = Vec::with_capacity(parts.len());
        for part in &parts {
            let of_line = |((_, line), net): (&(usize, &Taxable<'_>), &Exact)| {
                net.times(part.of_net)?.plus(part.a_unit.times(Exact::quantity(line.quantity))?)
            };
            raw.push(self.lines.iter().zip(&exact).map(of_line).collect::<Result<_, _>>()?);
        }
        let amounts = self.amounts_inside(&raw, sum(left.iter().copied())?)?;
        let last = self.components.iter().rposition(|component| is_charging(component.kind));
        for (place, component) in self.components.iter().enumerate() {
            let shares = match amounts[place] {
                None => self.component_upon(taxed, component)?,
                // What a price includes beyond the net is tax, to the coin.
                Some(_) if Some(place) == last => left.clone(),
                Some(amount) => spread(amount, &raw[place], coin)?,
            };
            if amounts[place].is_some() {
                for (left, share) in left.iter_mut().zip(&shares) {
                    *left = minus(*left, *share)?;
                }
            }
            self.add(taxed, component, &shares)?;
        }
        Ok(())
    }

    /// What each component has of the tax inside, where it is inside.
    fn amounts_inside(&self, raw: &[Vec<Exact>], tax: Money) -> Result<Vec<Option<Money>>, TooLarge> {
        let inside = |place: &usize| is_charging(self.components[*place].kind);
        let places: Vec<usize> = (0..self.components.len()).filter(inside).collect();
        let mut wholes = Vec::with_capacity(places.len());
        for place in &places {
            wholes.push(raw[*place].iter().try_fold(Exact::ZERO, |sum, raw| sum.plus(*raw))?);
        }
        let mut amounts = vec![None; self.components.len()];
        for (place, amount) in places.into_iter().zip(spread(tax, &wholes, self.terms.coin)?) {
            amounts[place] = Some(amount);
        }
        Ok(amounts)
    }
}

/// Whether a kind adds something to what the other side pays.
const fn is_charging(kind: TaxKind) -> bool {
    matches!(kind, TaxKind::Standard | TaxKind::FixedPerUnit)
}

/// What a component stands on: the net, and on that of a compound one the charged ones before it.
fn base(component: &TaxComponent, line: &Taxed) -> Result<Money, TooLarge> {
    if !component.is_compound {
        return Ok(line.net);
    }
    plus(line.net, sum(line.taxes.iter().filter(|tax| tax.is_charged()).map(|tax| tax.amount))?)
}

fn recoverable(component: &TaxComponent, amount: Money, coin: Coin) -> Result<Money, TooLarge> {
    Exact::money(amount).times(Exact::percent(component.recoverable_percent))?.round(coin)
}

/// Takes the tax that a line states. Several components share it by what they were computed at; what a price includes
/// stays, so there the net moves.
fn state(terms: &Terms, (index, line): (usize, &Taxable<'_>), stated: Money, taxed: &mut Taxed) -> Result<(), Refused> {
    let computed = taxed.tax;
    let by = minus(stated, computed)?;
    let most = terms.coin.times(terms.tolerance)?;
    let charging: Vec<usize> = (0..taxed.taxes.len()).filter(|place| is_charging(taxed.taxes[*place].kind)).collect();
    if by > most || minus(Money::ZERO, by)? > most || charging.is_empty() {
        return Err(Refused::Stated(index, computed));
    }
    if terms.inclusive {
        taxed.net = minus(line.amount, stated)?;
    }
    let raw: Vec<Exact> = if computed == Money::ZERO {
        // Nothing to go by: the first one takes it all.
        charging
            .iter()
            .enumerate()
            .map(|(place, _)| if place == 0 { Exact::money(stated) } else { Exact::ZERO })
            .collect()
    } else {
        let size = |money: Money| Exact::money(if computed.is_negative() { negated(money) } else { money });
        let part = Exact::money(stated).over(size(computed))?.reduced();
        charging.iter().map(|place| size(taxed.taxes[*place].amount).times(part)).collect::<Result<_, _>>()?
    };
    let amounts = spread(stated, &raw, terms.coin)?;
    for (place, amount) in charging.into_iter().zip(amounts) {
        taxed.taxes[place].amount = amount;
    }
    let components = line.code.map_or(&[][..], |(_, components)| components);
    let mut before = Money::ZERO;
    for tax in &mut taxed.taxes {
        let component = components.iter().find(|component| component.id == tax.component).ok_or(TooLarge)?;
        tax.base = if component.is_compound { plus(taxed.net, before)? } else { taxed.net };
        tax.recoverable = recoverable(component, tax.amount, terms.coin)?;
        if tax.is_charged() {
            before = plus(before, tax.amount)?;
        }
    }
    taxed.tax = stated;
    Ok(())
}

fn negated(money: Money) -> Money {
    Money::from_units(money.units().saturating_neg())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tax::TaxBoxes;
    use words::money::{Percent, Rounding};

    fn component((sequence, (rate, kind, is_compound)): (i64, &(&str, TaxKind, bool))) -> TaxComponent {
        TaxComponent {
            id: RecordId(uuid::Uuid::from_u128(u128::try_from(sequence).unwrap())),
            name: format!("T{sequence}"),
            rate: Percent::parse(rate).unwrap(),
            rates: Vec::new(),
            kind: *kind,
            is_compound: *is_compound,
            sequence,
            recoverable_percent: Percent::HUNDRED,
            payable_account_id: None,
            receivable_account_id: None,
            boxes: TaxBoxes::default(),
        }
    }

    struct Case {
        name: &'static str,
        inclusive: bool,
        rounding: TaxRounding,
        tax: &'static [(&'static str, TaxKind, bool)],
        /// Amount, quantity and the stated tax.
        lines: &'static [(&'static str, &'static str, &'static str)],
        expected: &'static str,
    }

    fn taxed(case: &Case) -> Result<Vec<Taxed>, Refused> {
        let components: Vec<TaxComponent> = (1..).zip(case.tax).map(component).collect();
        let terms = Terms {
            coin: Coin { decimals: 2, rounding: Rounding::HalfUp },
            rounding: case.rounding,
            inclusive: case.inclusive,
            exchange: Rate::ONE,
            rates_of: "2026-06-30".parse().unwrap(),
            tolerance: 5,
        };
        let lines: Vec<Taxable<'_>> = case
            .lines
            .iter()
            .map(|(amount, quantity, stated)| Taxable {
                amount: Money::parse(amount).unwrap(),
                quantity: Quantity::parse(quantity).unwrap(),
                code: Some((RecordId::default(), &components)),
                stated: Money::parse(stated).ok(),
            })
            .collect();
        tax(&terms, &lines)
    }

    /// Net, then each component upon its base.
    fn shown(case: &Case) -> String {
        let line = |line: &Taxed| {
            let taxes: Vec<String> = line.taxes.iter().map(|tax| format!("{}/{}", tax.amount, tax.base)).collect();
            format!("{}+{}", line.net, taxes.join("+"))
        };
        match taxed(case) {
            Ok(lines) => lines.iter().map(line).collect::<Vec<_>>().join(" "),
            Err(refused) => format!("{refused:?}"),
        }
    }

    const PLAIN: Case =
        Case { name: "", inclusive: false, rounding: TaxRounding::Document, tax: &[], lines: &[], expected: "" };

    #[test]
    #[expect(clippy::too_many_lines, reason = "one table")]
    fn every_case_comes_to_the_coin() {
        use TaxKind::{Exempt, FixedPerUnit, Outside, ReverseCharge, Standard, Withholding, Zero};
        const VAT20: &[(&str, TaxKind, bool)] = &[("20", Standard, false)];
        for case in [
            Case {
                name: "2.2, a compound component inside the price",
                inclusive: true,
                tax: &[("5", Standard, false), ("9.975", Standard, true)],
                lines: &[("115.47", "1", "")],
                expected: "100+5/100+10.47/105",
                ..PLAIN
            },
            Case {
                name: "2.13, a coupon off prices that include tax",
                inclusive: true,
                tax: VAT20,
                lines: &[("30", "1", ""), ("-5", "1", "")],
                expected: "25+5/25 -4.17+-0.83/-4.17",
                ..PLAIN
            },
            Case {
                name: "2.15, an excise below a compound tax",
                inclusive: true,
                tax: &[("2", FixedPerUnit, false), ("20", Standard, true)],
                lines: &[("12", "1", "")],
                expected: "8+2/8+2/10",
                ..PLAIN
            },
            Case {
                name: "2.16, a coupon that leaves nearly nothing",
                tax: VAT20,
                lines: &[("30", "1", ""), ("-29.97", "1", "")],
                expected: "30+6/30 -29.97+-5.99/-29.97",
                ..PLAIN
            },
            Case {
                name: "a coupon that leaves nothing",
                tax: VAT20,
                lines: &[("30", "1", ""), ("-30", "1", "")],
                expected: "30+6/30 -30+-6/-30",
                ..PLAIN
            },
            Case {
                name: "2.11, a stated tax",
                tax: VAT20,
                lines: &[("10", "1", "2.01")],
                expected: "10+2.01/10",
                ..PLAIN
            },
            Case {
                name: "2.11, one that is too far off",
                tax: VAT20,
                lines: &[("10", "1", "2.5")],
                expected: "Stated(0, Money(20000))",
                ..PLAIN
            },
            Case {
                name: "a stated tax inside the price moves the net",
                inclusive: true,
                tax: VAT20,
                lines: &[("12", "1", "2.01")],
                expected: "9.99+2.01/9.99",
                ..PLAIN
            },
            Case {
                name: "a stated tax of several components",
                tax: &[("5", Standard, false), ("9.975", Standard, true)],
                lines: &[("100", "1", "15.5")],
                expected: "100+5.01/100+10.49/105.01",
                ..PLAIN
            },
            Case {
                name: "a stated tax where none is charged",
                tax: &[("0", Exempt, false)],
                lines: &[("10", "1", "0.01")],
                expected: "Stated(0, Money(0))",
                ..PLAIN
            },
            Case {
                name: "a stated tax of a coupon",
                tax: VAT20,
                lines: &[("-10", "1", "-2.01")],
                expected: "-10+-2.01/-10",
                ..PLAIN
            },
            Case {
                name: "what nobody charges is not in a price",
                inclusive: true,
                tax: &[("20", Standard, false), ("10", Withholding, false)],
                lines: &[("1200", "1", "")],
                expected: "1000+200/1000+100/1000",
                ..PLAIN
            },
            Case {
                name: "a reverse charge is on the whole price",
                inclusive: true,
                tax: &[("20", ReverseCharge, false)],
                lines: &[("100", "1", "")],
                expected: "100+20/100",
                ..PLAIN
            },
            Case {
                name: "a zero rate takes no odd coin",
                inclusive: true,
                tax: &[("20", Standard, false), ("0", Zero, false)],
                lines: &[("10", "1", ""), ("10", "1", ""), ("9.99", "1", "")],
                expected: "8.33+1.67/8.33+0/8.33 8.33+1.67/8.33+0/8.33 8.33+1.66/8.33+0/8.33",
                ..PLAIN
            },
            Case {
                name: "what is outside is a base alone",
                tax: &[("0", Outside, false)],
                lines: &[("10", "1", "")],
                expected: "10+0/10",
                ..PLAIN
            },
            Case {
                name: "the largest amount",
                inclusive: true,
                tax: VAT20,
                lines: &[("922337203685477", "1", "")],
                expected: "768614336404564.17+153722867280912.83/768614336404564.17",
                ..PLAIN
            },
            Case {
                name: "rounded line by line",
                rounding: TaxRounding::Line,
                tax: &[("15", Standard, false)],
                lines: &[("15.35", "1", ""), ("15.35", "1", "")],
                expected: "15.35+2.3/15.35 15.35+2.3/15.35",
                ..PLAIN
            },
        ] {
            assert_eq!(shown(&case), case.expected, "{}", case.name);
        }
    }

    #[test]
    fn the_rates_of_a_day_apply() {
        let mut component = component((1, &("19", TaxKind::Standard, false)));
        component.rates = vec![crate::tax::TaxRate {
            valid_from: "2026-07-01".parse().unwrap(),
            rate: Percent::parse("16").unwrap(),
        }];
        let components = [component];
        for (day, expected) in [("2026-06-30", "19"), ("2026-07-01", "16")] {
            let terms = Terms {
                coin: Coin { decimals: 2, rounding: Rounding::HalfUp },
                rounding: TaxRounding::Document,
                inclusive: false,
                exchange: Rate::ONE,
                rates_of: day.parse().unwrap(),
                tolerance: 0,
            };
            let line = Taxable {
                amount: Money::parse("100").unwrap(),
                quantity: Quantity::parse("1").unwrap(),
                code: Some((RecordId::default(), &components)),
                stated: None,
            };
            assert_eq!(tax(&terms, &[line]).unwrap()[0].tax.to_string(), expected, "{day}");
        }
    }
}
