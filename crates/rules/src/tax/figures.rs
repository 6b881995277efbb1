//! What the lines of a trade document come to: discounts, tax, totals. Pure: no database, no clock.
//!
//! Every amount is rounded once, where it is named, and whatever is shared out is shared to the cent: the sums of
//! the lines are the sums of the tax summary, which are the totals of the document.

use super::{TaxComponent, TaxKind, TaxRounding};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use words::day::Day;
use words::ids::RecordId;
use words::money::{Money, Percent, Quantity, Rate, Rounding, UnitPrice};

/// What is taken off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Discount {
    Percent(Percent),
    Amount(Money),
}

/// How a document is computed.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    pub decimals: u32,
    pub rounding: Rounding,
    pub tax_rounding: TaxRounding,
    /// Whether prices include tax.
    pub inclusive: bool,
    pub date: Day,
    /// What one unit of the document's currency is worth.
    pub rate: Rate,
    /// The smallest coin to which the total is rounded.
    pub increment: Option<Money>,
}

/// A line, as far as its figures go.
#[derive(Debug, Clone, Copy)]
pub struct Priced<'t> {
    pub quantity: Quantity,
    pub price: UnitPrice,
    pub discount: Option<Discount>,
    pub tax: Option<(RecordId, &'t [TaxComponent])>,
}

/// A component of the tax on a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineTax {
    pub code: RecordId,
    pub component: RecordId,
    pub name: String,
    pub kind: TaxKind,
    pub rate: Percent,
    pub base: Money,
    pub amount: Money,
    /// What of it can be claimed back on purchases.
    pub recoverable: Money,
}

impl LineTax {
    /// Whether it is part of what the other side pays.
    pub fn is_charged(&self) -> bool {
        charged(self.kind)
    }
}

const fn charged(kind: TaxKind) -> bool {
    matches!(kind, TaxKind::Standard | TaxKind::FixedPerUnit | TaxKind::Exempt | TaxKind::Zero)
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineFigures {
    /// Quantity times price.
    pub gross: Money,
    /// What was taken off, the line's share of the document's discount included.
    pub discount: Money,
    /// Without tax, after discounts.
    pub net: Money,
    /// What the other side pays of tax.
    pub tax: Money,
    pub taxes: Vec<LineTax>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    pub subtotal: Money,
    pub discount: Money,
    pub net: Money,
    pub tax: Money,
    pub rounding: Money,
    pub total: Money,
    /// What the other side keeps back when paying.
    pub withheld: Money,
}

/// The sums of a document grow larger than can be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge;

/// The discount of the document is more than its lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    TooLarge,
    /// The discount of this line, or of the document, is more than what it is taken off.
    DiscountOf(Option<usize>),
}

impl From<TooLarge> for Refused {
    fn from(_: TooLarge) -> Self {
        Self::TooLarge
    }
}

type Sum<T> = Result<T, TooLarge>;

pub fn sum(amounts: impl IntoIterator<Item = Money>) -> Sum<Money> {
    amounts.into_iter().try_fold(Money::ZERO, Money::checked_add).ok_or(TooLarge)
}

pub fn plus(left: Money, right: Money) -> Sum<Money> {
    left.checked_add(right).ok_or(TooLarge)
}

pub fn minus(left: Money, right: Money) -> Sum<Money> {
    left.checked_sub(right).ok_or(TooLarge)
}

/// Shares an amount by weights, to the smallest coin: each gets its whole share, and the coins that are missing go
/// to the largest fractions, the earlier of two equal ones first.
pub fn share(total: Money, weights: &[i128], decimals: u32) -> Vec<Money> {
    let step = 10_i128.pow(Money::PLACES.saturating_sub(decimals));
    let coins = i128::from(total.units()) / step;
    let whole: i128 = weights.iter().sum();
    if whole == 0 {
        // Nothing to go by: the first one takes it all.
        return weights.iter().enumerate().map(|(index, _)| if index == 0 { total } else { Money::ZERO }).collect();
    }
    let mut shares: Vec<i128> = weights.iter().map(|weight| coins * weight / whole).collect();
    let mut order: Vec<usize> = (0..weights.len()).collect();
    let fraction = |index: &usize| (coins * weights[*index] % whole).abs();
    order.sort_by_key(|index| std::cmp::Reverse(fraction(index)));
    let missing = coins - shares.iter().sum::<i128>();
    for index in order.into_iter().take(usize::try_from(missing.abs()).unwrap_or_default()) {
        shares[index] += missing.signum();
    }
    shares.into_iter().map(|coins| Money::from_units(i64::try_from(coins * step).unwrap_or_default())).collect()
}

fn weights(amounts: impl IntoIterator<Item = Money>) -> Vec<i128> {
    amounts.into_iter().map(|amount| i128::from(amount.units())).collect()
}

impl Rules {
    pub fn round(&self, exact: Option<Decimal>) -> Sum<Money> {
        self.rounding.money(exact.ok_or(TooLarge)?, self.decimals).map_err(|_| TooLarge)
    }

    fn percent_of(&self, percent: Percent, amount: Money) -> Sum<Money> {
        self.round(hundredths(percent, amount.decimal()))
    }

    fn taken_off(&self, discount: Option<Discount>, amount: Money, line: Option<usize>) -> Result<Money, Refused> {
        let off = match discount {
            None => Money::ZERO,
            Some(Discount::Amount(off)) => off,
            Some(Discount::Percent(percent)) => self.percent_of(percent, amount)?,
        };
        if off > amount { Err(Refused::DiscountOf(line)) } else { Ok(off) }
    }
}

fn hundredths(percent: Percent, amount: Decimal) -> Option<Decimal> {
    percent.decimal().checked_mul(amount)?.checked_div(Percent::HUNDRED.decimal())
}

/// What the lines and the document come to.
pub fn compute(
    rules: &Rules,
    lines: &[Priced<'_>],
    header: Option<Discount>,
) -> Result<(Vec<LineFigures>, Totals), Refused> {
    let mut figures = Vec::with_capacity(lines.len());
    for (index, line) in lines.iter().enumerate() {
        let gross = rules.round(line.quantity.decimal().checked_mul(line.price.decimal()))?;
        let discount = rules.taken_off(line.discount, gross, Some(index))?;
        figures.push(LineFigures { gross, discount, net: minus(gross, discount)?, ..LineFigures::default() });
    }
    let subtotal = sum(figures.iter().map(|line| line.gross))?;
    let after_lines = sum(figures.iter().map(|line| line.net))?;
    let off = rules.taken_off(header, after_lines, None)?;
    let shares = share(off, &weights(figures.iter().map(|line| line.net)), rules.decimals);
    for (line, share) in figures.iter_mut().zip(shares) {
        line.discount = plus(line.discount, share)?;
        line.net = minus(line.net, share)?;
    }
    for group in groups(rules, lines) {
        tax_group(rules, lines, &mut figures, &group)?;
    }
    let net = sum(figures.iter().map(|line| line.net))?;
    let tax = sum(figures.iter().map(|line| line.tax))?;
    let exact = plus(net, tax)?;
    let total = match rules.increment {
        Some(increment) => to_increment(exact, increment),
        None => exact,
    };
    let withheld = figures.iter().flat_map(|line| &line.taxes).filter(|tax| tax.kind == TaxKind::Withholding);
    let totals = Totals {
        subtotal,
        discount: sum(figures.iter().map(|line| line.discount))?,
        net,
        tax,
        rounding: minus(total, exact)?,
        total,
        withheld: sum(withheld.map(|tax| tax.amount))?,
    };
    Ok((figures, totals))
}

/// To the nearest multiple of the smallest coin, half away from zero.
fn to_increment(amount: Money, increment: Money) -> Money {
    let (units, step) = (amount.units(), increment.units());
    let below = units - units.rem_euclid(step);
    let up = units.rem_euclid(step).saturating_mul(2) >= step;
    Money::from_units(if up { below.saturating_add(step) } else { below })
}

/// The lines whose tax is rounded together.
fn groups(rules: &Rules, lines: &[Priced<'_>]) -> Vec<Vec<usize>> {
    let mut groups: Vec<(RecordId, Vec<usize>)> = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let Some((code, _)) = line.tax else { continue };
        match groups.iter_mut().find(|(known, _)| *known == code) {
            Some((_, members)) if rules.tax_rounding == TaxRounding::Document => members.push(index),
            _ => groups.push((code, vec![index])),
        }
    }
    groups.into_iter().map(|(_, members)| members).collect()
}

/// Computes the tax of lines that have one code, and shares it among them.
fn tax_group(rules: &Rules, lines: &[Priced<'_>], figures: &mut [LineFigures], members: &[usize]) -> Sum<()> {
    let Some((code, components)) = members.first().and_then(|first| lines[*first].tax) else { return Ok(()) };
    let mut components: Vec<&TaxComponent> = components.iter().collect();
    components.sort_by_key(|component| component.sequence);
    let quantity =
        members.iter().try_fold(Decimal::ZERO, |sum, index| sum.checked_add(lines[*index].quantity.decimal()));
    let before: Vec<Money> = members.iter().map(|index| figures[*index].net).collect();
    let group = Group { rules, components: &components, quantity: quantity.ok_or(TooLarge)? };
    let amount = sum(before.iter().copied())?;
    let (net, amounts) = if rules.inclusive { group.inside(amount)? } else { (amount, group.upon(amount)?) };
    let nets =
        if rules.inclusive { share(net, &weights(before.iter().copied()), rules.decimals) } else { before.clone() };
    let mut left: Vec<Money> = Vec::with_capacity(members.len());
    for (gross, net) in before.iter().zip(&nets) {
        left.push(minus(*gross, *net)?);
    }
    let last_charged = components.iter().rposition(|component| charged(component.kind));
    for (place, (component, amount)) in components.iter().zip(amounts).enumerate() {
        let by = if component.kind == TaxKind::FixedPerUnit {
            members.iter().map(|index| i128::from(lines[*index].quantity.units())).collect()
        } else {
            weights(nets.iter().copied())
        };
        let mut shares = share(amount, &by, rules.decimals);
        if rules.inclusive && charged(component.kind) {
            if Some(place) == last_charged {
                // What a price includes beyond the net is tax, to the coin.
                shares.clone_from(&left);
            }
            for (left, share) in left.iter_mut().zip(&shares) {
                *left = minus(*left, *share)?;
            }
        }
        for ((index, amount), net) in members.iter().zip(shares).zip(&nets) {
            let line = &mut figures[*index];
            let earlier = line.taxes.iter().filter(|tax| tax.is_charged()).map(|tax| tax.amount);
            let base = if component.is_compound { plus(*net, sum(earlier)?)? } else { *net };
            if charged(component.kind) {
                line.tax = plus(line.tax, amount)?;
            }
            line.taxes.push(LineTax {
                code,
                component: component.id,
                name: component.name.clone(),
                kind: component.kind,
                rate: component.rate_on(rules.date),
                base,
                amount,
                recoverable: rules.percent_of(component.recoverable_percent, amount)?,
            });
        }
    }
    for (index, net) in members.iter().zip(nets) {
        figures[*index].net = net;
    }
    Ok(())
}

struct Group<'g> {
    rules: &'g Rules,
    components: &'g [&'g TaxComponent],
    quantity: Decimal,
}

impl Group<'_> {
    fn per_unit(&self, component: &TaxComponent) -> Sum<Money> {
        let amount = component.rate_on(self.rules.date).decimal();
        let exact = amount.checked_mul(self.quantity).and_then(|exact| exact.checked_div(self.rules.rate.decimal()));
        self.rules.round(exact)
    }

    /// The tax upon a net amount, component by component.
    fn upon(&self, net: Money) -> Sum<Vec<Money>> {
        let mut earlier = Money::ZERO;
        let mut amounts = Vec::new();
        for component in self.components {
            let base = if component.is_compound { plus(net, earlier)? } else { net };
            let amount = match component.kind {
                TaxKind::FixedPerUnit => self.per_unit(component)?,
                TaxKind::Exempt | TaxKind::Zero => Money::ZERO,
                TaxKind::Standard | TaxKind::Withholding | TaxKind::ReverseCharge => {
                    self.rules.percent_of(component.rate_on(self.rules.date), base)?
                }
            };
            if charged(component.kind) {
                earlier = plus(earlier, amount)?;
            }
            amounts.push(amount);
        }
        Ok(amounts)
    }

    /// The net and the tax inside an amount that includes it. The tax is what the net leaves over: computed from
    /// the rounded net, it would miss coins.
    fn inside(&self, gross: Money) -> Sum<(Money, Vec<Money>)> {
        let mut fixed = Money::ZERO;
        let mut factor = Decimal::ONE;
        let mut parts = Vec::new();
        for component in self.components {
            let part = match component.kind {
                TaxKind::Standard => {
                    let on = if component.is_compound { factor } else { Decimal::ONE };
                    hundredths(component.rate_on(self.rules.date), on).ok_or(TooLarge)?
                }
                _ => Decimal::ZERO,
            };
            if component.kind == TaxKind::FixedPerUnit {
                fixed = plus(fixed, self.per_unit(component)?)?;
            }
            factor = factor.checked_add(part).ok_or(TooLarge)?;
            parts.push(part);
        }
        let taxed = minus(gross, fixed)?;
        let net = self.rules.round(taxed.decimal().checked_div(factor))?;
        let tax = minus(taxed, net)?;
        let scaled = |part: &Decimal| {
            part.checked_mul(Decimal::from(10_000_000_000_i64)).and_then(|part| i128::try_from(part.round()).ok())
        };
        let by: Vec<i128> = parts.iter().map(|part| scaled(part).unwrap_or_default()).collect();
        let standard = if by.iter().sum::<i128>() == 0 {
            vec![Money::ZERO; by.len()]
        } else {
            share(tax, &by, self.rules.decimals)
        };
        let upon = self.upon(net)?;
        let amounts =
            self.components.iter().zip(standard).zip(upon).map(|((component, inside), upon)| match component.kind {
                TaxKind::Standard => inside,
                _ => upon,
            });
        Ok((net, amounts.collect()))
    }
}

/// Amounts in the company's currency: the running total is converted, so that what is shared adds up to what the
/// whole comes to.
pub fn converted(amounts: &[Money], rate: Rate, decimals: u32, rounding: Rounding) -> Sum<Vec<Money>> {
    if rate == Rate::ONE {
        return Ok(amounts.to_vec());
    }
    let (mut seen, mut came_to) = (Money::ZERO, Money::ZERO);
    let mut base = Vec::with_capacity(amounts.len());
    for amount in amounts {
        seen = plus(seen, *amount)?;
        let exact = seen.decimal().checked_mul(rate.decimal()).ok_or(TooLarge)?;
        let total = rounding.money(exact, decimals).map_err(|_| TooLarge)?;
        base.push(minus(total, came_to)?);
        came_to = total;
    }
    Ok(base)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn component(name: &str, rate: &str, kind: TaxKind, is_compound: bool, sequence: i64) -> TaxComponent {
        TaxComponent {
            id: RecordId(uuid::Uuid::from_u128(u128::try_from(sequence).unwrap())),
            name: name.into(),
            rate: Percent::parse(rate).unwrap(),
            rates: Vec::new(),
            kind,
            is_compound,
            sequence,
            recoverable_percent: Percent::HUNDRED,
            payable_account_id: None,
            receivable_account_id: None,
        }
    }

    fn standard(rate: &str) -> Vec<TaxComponent> {
        vec![component("VAT", rate, TaxKind::Standard, false, 1)]
    }

    fn rules(tax_rounding: TaxRounding, inclusive: bool, decimals: u32) -> Rules {
        Rules {
            decimals,
            rounding: Rounding::HalfUp,
            tax_rounding,
            inclusive,
            date: "2026-06-30".parse().unwrap(),
            rate: Rate::ONE,
            increment: None,
        }
    }

    fn priced<'t>(quantity: &str, price: &str, discount: Option<&str>, tax: &'t [TaxComponent]) -> Priced<'t> {
        Priced {
            quantity: Quantity::parse(quantity).unwrap(),
            price: UnitPrice::parse(price).unwrap(),
            discount: discount.map(|percent| Discount::Percent(Percent::parse(percent).unwrap())),
            tax: (!tax.is_empty()).then_some((RecordId::default(), tax)),
        }
    }

    /// Net and tax of each line, then net, tax and total.
    fn shown(rules: &Rules, lines: &[Priced<'_>], header: Option<Discount>) -> String {
        let (lines, totals) = compute(rules, lines, header).unwrap();
        let mut text: Vec<String> = lines.iter().map(|line| format!("{}+{}", line.net, line.tax)).collect();
        text.push(format!("= {} {} {}", totals.net, totals.tax, totals.total));
        text.join(" ")
    }

    #[test]
    fn the_worked_examples_come_out_to_the_cent() {
        use TaxRounding::{Document, Line};
        let (vat20, vat21, vat10, vat15) = (standard("20"), standard("21"), standard("10"), standard("15"));
        let compound =
            vec![component("A", "5", TaxKind::Standard, false, 1), component("B", "9.975", TaxKind::Standard, true, 2)];
        let two =
            vec![component("A", "6", TaxKind::Standard, false, 1), component("B", "4", TaxKind::Standard, false, 2)];
        for (name, rules, lines, expected) in [
            ("E1", rules(Document, false, 2), vec![priced("10", "25", Some("10"), &vat20)], "225+45 = 225 45 270"),
            (
                "E8",
                rules(Document, true, 2),
                vec![priced("1", "379", None, &vat21), priced("1", "379", None, &vat21)],
                "313.23+65.77 313.22+65.78 = 626.45 131.55 758",
            ),
            (
                "E8b",
                rules(Line, true, 2),
                vec![priced("1", "379", None, &vat21), priced("1", "379", None, &vat21)],
                "313.22+65.78 313.22+65.78 = 626.44 131.56 758",
            ),
            (
                "E10",
                rules(Document, false, 2),
                vec![priced("1", "100", None, &compound)],
                "100+15.47 = 100 15.47 115.47",
            ),
            ("T1", rules(Document, true, 0), vec![priced("1", "50000", None, &vat10)], "45455+4545 = 45455 4545 50000"),
            (
                "T4",
                rules(Line, false, 2),
                vec![priced("1", "15.35", None, &vat15); 3],
                "15.35+2.3 15.35+2.3 15.35+2.3 = 46.05 6.9 52.95",
            ),
            ("T6", rules(Document, true, 2), vec![priced("1", "110", None, &two)], "100+10 = 100 10 110"),
            ("T12", rules(Document, false, 2), vec![priced("7000", "0.1651", None, &[])], "1155.7+0 = 1155.7 0 1155.7"),
            ("T41", rules(Document, false, 2), vec![priced("1", "0.01", Some("50"), &vat20)], "0+0 = 0 0 0"),
            ("T41b", rules(Document, false, 2), vec![priced("3", "5", Some("100"), &vat20)], "0+0 = 0 0 0"),
        ] {
            assert_eq!(shown(&rules, &lines, None), expected, "{name}");
        }
    }

    #[test]
    fn components_of_other_kinds_do_what_they_say() {
        let plain = rules(TaxRounding::Document, false, 2);
        for (kind, rate, tax, amount, withheld) in [
            (TaxKind::Withholding, "10", "0", "10", "10"),
            (TaxKind::ReverseCharge, "20", "0", "20", "0"),
            (TaxKind::Exempt, "0", "0", "0", "0"),
            (TaxKind::FixedPerUnit, "0.25", "1", "1", "0"),
        ] {
            let tax_code = [component("T", rate, kind, false, 1)];
            let (lines, totals) = compute(&plain, &[priced("4", "25", None, &tax_code)], None).unwrap();
            let found = (totals.tax.to_string(), lines[0].taxes[0].amount.to_string(), totals.withheld.to_string());
            assert_eq!(found, (tax.into(), amount.into(), withheld.into()), "{kind}");
        }
    }

    #[test]
    fn the_discount_of_the_document_is_shared_before_tax() {
        let vat = standard("20");
        let rules = rules(TaxRounding::Document, false, 2);
        let lines = [priced("1", "10", None, &vat), priced("1", "10", None, &vat), priced("1", "10", None, &[])];
        let off = Discount::Amount(Money::parse("10").unwrap());
        assert_eq!(shown(&rules, &lines, Some(off)), "6.66+1.33 6.67+1.34 6.67+0 = 20 2.67 22.67");
        let more = Discount::Amount(Money::parse("30.01").unwrap());
        assert_eq!(compute(&rules, &lines, Some(more)), Err(Refused::DiscountOf(None)));
    }

    #[test]
    fn a_total_is_rounded_to_the_smallest_coin() {
        for (price, total, rounding) in [("10.02", "10", "-0.02"), ("10.03", "10.05", "0.02"), ("10.05", "10.05", "0")]
        {
            let rules =
                Rules { increment: Some(Money::parse("0.05").unwrap()), ..rules(TaxRounding::Document, false, 2) };
            let (_, totals) = compute(&rules, &[priced("1", price, None, &[])], None).unwrap();
            assert_eq!((totals.total.to_string(), totals.rounding.to_string()), (total.into(), rounding.into()));
        }
    }

    proptest! {
        #[test]
        fn lines_summary_and_totals_are_one_sum(
            lines in prop::collection::vec((1_i64..10_000_000, 0_i64..5_000_000_000, 0_i64..100_000_001, 0_usize..4), 1..30),
            inclusive: bool,
            by_line: bool,
            off in 0_i64..100_000_001,
            decimals in prop::sample::select(vec![0_u32, 2, 3]),
        ) {
            let codes = [
                standard("19"),
                vec![component("A", "5", TaxKind::Standard, false, 1), component("B", "9.975", TaxKind::Standard, true, 2)],
                vec![component("C", "7", TaxKind::Standard, false, 1), component("W", "10", TaxKind::Withholding, false, 2)],
            ];
            let rounding = if by_line { TaxRounding::Line } else { TaxRounding::Document };
            let rules = rules(rounding, inclusive, decimals);
            let priced: Vec<Priced<'_>> = lines.iter().map(|(quantity, price, percent, code)| Priced {
                quantity: Quantity::from_units(*quantity),
                price: UnitPrice::from_units(*price),
                discount: Some(Discount::Percent(Percent::from_units(*percent))),
                tax: codes.get(*code).map(|components| {
                    (RecordId(uuid::Uuid::from_u128(*code as u128 + 1)), components.as_slice())
                }),
            }).collect();
            let header = Some(Discount::Percent(Percent::from_units(off)));
            let (figures, totals) = compute(&rules, &priced, header).unwrap();
            let of = |pick: fn(&LineFigures) -> Money| sum(figures.iter().map(pick)).unwrap();
            prop_assert_eq!(of(|line| line.net), totals.net);
            prop_assert_eq!(of(|line| line.tax), totals.tax);
            prop_assert_eq!(of(|line| line.gross), totals.subtotal);
            let charged = figures.iter().flat_map(|line| &line.taxes).filter(|tax| tax.is_charged());
            prop_assert_eq!(sum(charged.map(|tax| tax.amount)).unwrap(), totals.tax);
            prop_assert_eq!(plus(totals.net, totals.tax).unwrap(), totals.total);
            let after = minus(totals.subtotal, totals.discount).unwrap();
            prop_assert_eq!(after, if inclusive { totals.total } else { totals.net });
            prop_assert!(figures.iter().all(|line| line.net.fits(decimals) && line.tax.fits(decimals)));
        }

        #[test]
        fn what_is_shared_adds_up(total in -1_000_000_i64..1_000_000, weights in prop::collection::vec(0_i128..1_000_000, 1..100)) {
            let total = Money::from_units(total * 100);
            let shares = share(total, &weights, 2);
            prop_assert_eq!(sum(shares.iter().copied()).unwrap(), total);
            prop_assert!(shares.iter().all(|share| share.fits(2)));
        }

        #[test]
        fn what_is_converted_adds_up_to_the_whole(
            amounts in prop::collection::vec(-1_000_000_i64..1_000_000, 1..50),
            rate in 1_i64..50_000_000_000,
        ) {
            let amounts: Vec<Money> = amounts.into_iter().map(|cents| Money::from_units(cents * 100)).collect();
            let rate = Rate::from_units(rate);
            let base = converted(&amounts, rate, 2, Rounding::HalfUp).unwrap();
            let whole = sum(amounts).unwrap().decimal() * rate.decimal();
            prop_assert_eq!(sum(base).unwrap(), Rounding::HalfUp.money(whole, 2).unwrap());
        }
    }
}
