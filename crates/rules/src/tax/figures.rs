//! What the lines of a trade document come to: discounts, tax, totals. Pure: no database, no clock.
//!
//! Every amount is rounded once, where it is named, and whatever is shared out is shared to the cent: the sums of
//! the lines are the sums of the tax summary, which are the totals of the document.

use super::engine::{Taxable, Terms, tax};
use super::exact::{Coin, Exact, hundredths, spread};
use super::{TaxComponent, TaxKind, TaxRounding};
use serde::{Deserialize, Serialize};
use words::day::Day;
use words::ids::RecordId;
use words::money::{Funds, Money, Percent, Quantity, Rate, Rounding, UnitPrice};

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
    /// The day whose rates of tax apply.
    pub rates_of: Day,
    /// By how much a stated tax may differ from the computed one, in smallest coins.
    pub tolerance: i64,
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
    /// The tax that the other side's paper says.
    pub stated: Option<Money>,
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

/// Whether a component of a kind is part of what the other side pays.
pub const fn charged(kind: TaxKind) -> bool {
    !matches!(kind, TaxKind::Withholding | TaxKind::ReverseCharge)
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

pub use words::exact::TooLarge;

/// The discount of the document is more than its lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    TooLarge,
    /// The discount of this line, or of the document, is more than what it is taken off.
    DiscountOf(Option<usize>),
    /// The tax that is stated on this line is too far from what it comes to.
    Stated(usize, Money),
    /// The tax that is stated on this line has more decimal places than the currency.
    StatedFiner(usize),
    /// The document comes to less than nothing.
    Negative,
}

impl From<TooLarge> for Refused {
    fn from(_: TooLarge) -> Self {
        Self::TooLarge
    }
}

type Sum<T> = Result<T, TooLarge>;

/// All of them together, amounts of the document or of the books.
pub fn sum<F: Funds>(amounts: impl IntoIterator<Item = F>) -> Sum<F> {
    amounts.into_iter().try_fold(F::NOTHING, F::plus)
}

pub fn plus<F: Funds>(left: F, right: F) -> Sum<F> {
    left.plus(right)
}

pub fn minus<F: Funds>(left: F, right: F) -> Sum<F> {
    left.minus(right)
}

impl Rules {
    pub const fn coin(&self) -> Coin {
        Coin { decimals: self.decimals, rounding: self.rounding }
    }

    fn terms(&self) -> Terms {
        Terms {
            coin: self.coin(),
            rounding: self.tax_rounding,
            inclusive: self.inclusive,
            exchange: self.rate,
            rates_of: self.rates_of,
            tolerance: self.tolerance,
        }
    }

    fn taken_off(&self, discount: Option<Discount>, amount: Money, line: Option<usize>) -> Result<Money, Refused> {
        let off = match discount {
            None => Money::ZERO,
            Some(Discount::Amount(off)) => off,
            Some(Discount::Percent(percent)) => Exact::from(amount).times(hundredths(percent)?)?.round(self.coin())?,
        };
        // What is taken off a line that takes something off itself makes it less, too.
        let more = if amount.is_negative() { off < amount || off > Money::ZERO } else { off > amount };
        if more { Err(Refused::DiscountOf(line)) } else { Ok(off) }
    }
}

/// What each line has of the discount of the document, without rounding.
fn shares_of(discount: Money, nets: &[Money]) -> Sum<Vec<Exact>> {
    let whole = sum(nets.iter().copied())?;
    if discount == Money::ZERO || whole == Money::ZERO {
        return Ok(vec![Exact::ZERO; nets.len()]);
    }
    let part = Exact::from(discount).over(Exact::from(whole))?;
    nets.iter().map(|net| part.times(Exact::from(*net))).collect()
}

/// What the lines and the document come to.
pub fn compute(
    rules: &Rules,
    lines: &[Priced<'_>],
    header: Option<Discount>,
) -> Result<(Vec<LineFigures>, Totals), Refused> {
    let mut figures = Vec::with_capacity(lines.len());
    for (index, line) in lines.iter().enumerate() {
        let gross = Exact::from(line.quantity).times(line.price)?.round(rules.coin())?;
        let discount = rules.taken_off(line.discount, gross, Some(index))?;
        figures.push(LineFigures { gross, discount, net: minus(gross, discount)?, ..LineFigures::default() });
    }
    let subtotal = sum(figures.iter().map(|line| line.gross))?;
    let after_lines = sum(figures.iter().map(|line| line.net))?;
    if after_lines.is_negative() {
        return Err(Refused::Negative);
    }
    let off = rules.taken_off(header, after_lines, None)?;
    let nets: Vec<Money> = figures.iter().map(|line| line.net).collect();
    let shares = spread(off, &shares_of(off, &nets)?, rules.coin())?;
    for (line, share) in figures.iter_mut().zip(shares) {
        line.discount = plus(line.discount, share)?;
        line.net = minus(line.net, share)?;
    }
    let terms = rules.terms();
    let taxables: Vec<Taxable<'_>> = lines
        .iter()
        .zip(&figures)
        .map(|(line, figures)| Taxable {
            amount: figures.net,
            quantity: line.quantity,
            code: line.tax,
            stated: line.stated,
        })
        .collect();
    for (line, taxed) in figures.iter_mut().zip(tax(&terms, &taxables)?) {
        line.net = taxed.net;
        line.tax = taxed.tax;
        line.taxes = taxed.taxes;
    }
    let net = sum(figures.iter().map(|line| line.net))?;
    let tax = sum(figures.iter().map(|line| line.tax))?;
    let exact = plus(net, tax)?;
    let total = match rules.increment {
        Some(increment) => exact.to_increment(increment)?,
        None => exact,
    };
    // What is taken off may carry more tax than what it is taken off from.
    if total.is_negative() {
        return Err(Refused::Negative);
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tax::TaxBoxes;
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
            boxes: TaxBoxes::default(),
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
            rates_of: "2026-06-30".parse().unwrap(),
            tolerance: 5,
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
            stated: None,
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
                stated: None,
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
        fn what_is_shared_adds_up(total in -1_000_000_i64..1_000_000, nets in prop::collection::vec(-1_000_000_i64..1_000_000, 1..100)) {
            let total = Money::from_units(total * 100);
            let nets: Vec<Money> = nets.into_iter().map(|cents| Money::from_units(cents * 100)).collect();
            prop_assume!(sum(nets.iter().copied()).unwrap() > Money::ZERO);
            let raw = shares_of(total, &nets).unwrap();
            let shares = spread(total, &raw, Coin { decimals: 2, rounding: Rounding::HalfUp }).unwrap();
            prop_assert_eq!(sum(shares.iter().copied()).unwrap(), total);
            prop_assert!(shares.iter().all(|share| share.fits(2)));
        }
    }
}
