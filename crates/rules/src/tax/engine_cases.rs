//! The engine's table of cases.

#![cfg(test)]

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
        Case { name: "2.11, a stated tax", tax: VAT20, lines: &[("10", "1", "2.01")], expected: "10+2.01/10", ..PLAIN },
        Case {
            name: "2.11, one that is too far off",
            tax: VAT20,
            lines: &[("10", "1", "2.5")],
            expected: "Stated(0, Money(20000))",
            ..PLAIN
        },
        Case {
            name: "2.11, one of which there are no coins",
            tax: VAT20,
            lines: &[("10", "1", "2"), ("10", "1", "2.001")],
            expected: "StatedFiner(1)",
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
    component.rates =
        vec![crate::tax::TaxRate { valid_from: "2026-07-01".parse().unwrap(), rate: Percent::parse("16").unwrap() }];
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
