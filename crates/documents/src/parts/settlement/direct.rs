//! Direct lines of receipts and payments: what they come to, and what they tell of tax.

use super::posting::Tells;
use super::{DirectLineAsked, MoneyAsked};
use crate::currency::Currency;
use crate::day::Day;
use crate::error::{Error, Result};
use crate::money::{Money, Quantity};
use crate::parts::under::Under;
use books::access::Business;
use books::chart::Chart;
use books::tax_codes::{TaxCodes, kept_as};
use rules::account::AccountClass;
use rules::tax::engine::{Taxable, Taxed, Terms, tax};
use rules::tax::exact::Coin;
use rules::tax::facts::TaxSide;
use rules::tax::figures::{LineFigures, Refused};
use rules::tax::home::Exchange;
use rules::tax::{TaxDirection, TaxKind};

pub(crate) fn too_large() -> Error {
    Error::field("lines", "come to more than can be kept")
}

/// What each direct line comes to.
pub(crate) fn figures(
    business: &Business,
    asked: &MoneyAsked,
    taxes: &TaxCodes,
    (exchange, rates_of): (&Exchange<'_>, Day),
) -> Result<Vec<LineFigures>> {
    let known = Currency::known(exchange.currency, "what is asked for")?;
    let under = Under::kept(asked.under, &business.settings);
    let terms = Terms {
        coin: Coin { decimals: known.decimals(), rounding: under.rounding() },
        rounding: under.tax_rounding,
        inclusive: true,
        exchange: exchange.rate,
        rates_of,
        tolerance: under.tolerance(),
    };
    let lines: Vec<Taxable<'_>> = asked
        .lines
        .iter()
        .map(|line| Taxable {
            amount: line.amount,
            quantity: Quantity::from_units(1_000_000),
            code: line.tax.code().and_then(|id| taxes.get(id)).map(|code| (code.id, code.components.0.as_slice())),
            stated: line.stated_tax,
        })
        .collect();
    let taxed = tax(&terms, &lines).map_err(|refused| match refused {
        Refused::Stated(index, computed) => crate::parts::stated_too_far(index, computed),
        Refused::StatedFiner(index) => crate::parts::stated_too_fine(index),
        Refused::TooLarge | Refused::DiscountOf(_) | Refused::Negative => too_large(),
    })?;
    let line = |(line, taxed): (&Taxable<'_>, Taxed)| LineFigures {
        gross: line.amount,
        discount: Money::ZERO,
        net: taxed.net,
        tax: taxed.tax,
        taxes: taxed.taxes,
    };
    Ok(lines.iter().zip(taxed).map(line).collect())
}

/// What of a line is kept back as tax.
pub(crate) fn withheld(figures: &LineFigures) -> Option<Money> {
    let kept = figures.taxes.iter().filter(|tax| tax.kind == TaxKind::Withholding);
    kept.map(|tax| tax.amount).try_fold(Money::ZERO, Money::checked_add)
}

/// What settles something, or will: what moves, less what moves for the direct lines.
pub(crate) fn for_party(asked: &MoneyAsked, figures: &[LineFigures]) -> Option<Money> {
    let moves = |sum: Money, line: &LineFigures| sum.checked_add(line.gross)?.checked_sub(withheld(line)?);
    let direct = figures.iter().try_fold(Money::ZERO, moves)?;
    asked.amount.checked_sub(direct).filter(|rest| !rest.is_negative())
}

/// What a direct line tells of tax: on the side of its code, else of its account.
pub(crate) fn tells(chart: &Chart, taxes: &TaxCodes, line: &DirectLineAsked) -> Tells {
    if let Some(duty) = kept_as(chart, line.account) {
        return Tells::Carry(duty);
    }
    let class = chart.account(line.account).map(|account| account.r#type.class());
    let of_account = if class == Some(AccountClass::Income) { TaxSide::Sale } else { TaxSide::Purchase };
    match line.tax.code().and_then(|id| taxes.get(id)).map(|code| code.direction) {
        Some(TaxDirection::Sales) => Tells::Of(TaxSide::Sale),
        Some(TaxDirection::Purchase) => Tells::Of(TaxSide::Purchase),
        Some(TaxDirection::Both) => Tells::Of(of_account),
        None if matches!(class, Some(AccountClass::Income | AccountClass::Expense)) => Tells::Of(of_account),
        None => Tells::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::line::TaxChoice;
    use crate::samples::{day, exchange, id, money, said, taxes};
    use rules::tax::TaxKind::{self, Standard, Withholding};
    use rules::tax::facts::TaxDuty;

    fn line(account: u128, amount: &str, taxed: bool) -> DirectLineAsked {
        DirectLineAsked {
            id: Some(id(7_000)),
            account: id(account),
            amount: money(amount),
            tax: if taxed { TaxChoice::Code(id(8_000)) } else { TaxChoice::None },
            stated_tax: None,
            description: None,
        }
    }

    /// What lines of a tax leave of an amount for the party, or nothing where they come to more.
    fn left(amount: &str, tax: &[(&str, TaxKind, &str)], lines: &[&str]) -> Option<String> {
        let lines = lines.iter().map(|amount| line(6000, amount, true)).collect();
        let asked = MoneyAsked { amount: money(amount), lines, ..MoneyAsked::default() };
        let taxes = taxes(TaxDirection::Purchase, tax);
        let figures = figures(&Business::sample(), &asked, &taxes, (&exchange("1"), day("2026-03-10"))).unwrap();
        for_party(&asked, &figures).map(|rest| rest.to_string())
    }

    /// `amount = allocations + (line - withheld on it) + unallocated`.
    #[test]
    fn what_is_in_no_line_settles_something() {
        let vat: &[_] = &[("20", Standard, "100")];
        let withheld: &[_] = &[("10", Withholding, "100"), ("20", Standard, "100")];
        for (amount, tax, lines, rest) in [
            ("100", vat, &[][..], Some("100")),
            ("100", vat, &["60"], Some("40")),
            ("100", vat, &["60", "40"], Some("0")),
            ("100", vat, &["60", "40.01"], None),
            // Kernel 2.4: of 1200 that are owed 1100 move.
            ("1100", withheld, &["1200"], Some("0")),
            ("1150", withheld, &["1200"], Some("50")),
            ("1099.99", withheld, &["1200"], None),
        ] {
            assert_eq!(left(amount, tax, lines).as_deref(), rest, "{amount} {lines:?}");
        }
    }

    #[test]
    fn a_line_has_its_tax_inside_and_may_state_it_within_a_few_coins() {
        let taxes = taxes(TaxDirection::Both, &[("19", Standard, "100")]);
        let figured = |stated: Option<&str>| {
            let lines = vec![DirectLineAsked { stated_tax: stated.map(money), ..line(6000, "119", true) }];
            let asked = MoneyAsked { amount: money("119"), lines, ..MoneyAsked::default() };
            let found = figures(&Business::sample(), &asked, &taxes, (&exchange("1"), day("2026-03-10")));
            found.map(|lines| format!("{}+{}", lines[0].net, lines[0].tax)).map_err(|why| said(&why))
        };
        assert_eq!(figured(None), Ok("100+19".into()));
        // What is paid stays, so the net moves.
        assert_eq!(figured(Some("19.05")), Ok("99.95+19.05".into()));
        assert!(figured(Some("19.06")).unwrap_err().starts_with("lines[0].taxAmount is too far from 19"));
        // There is no such coin.
        let finer = "lines[0].taxAmount has more decimal places than the currency";
        assert_eq!(figured(Some("19.001")), Err(finer.into()));
    }

    #[test]
    fn what_a_line_tells_is_said_by_its_code_then_by_its_account() {
        use TaxDirection::{Both, Purchase, Sales};
        let chart = books::chart::sample();
        let (sale, purchase) = (Tells::Of(TaxSide::Sale), Tells::Of(TaxSide::Purchase));
        for (account, code, told) in [
            (4000, Some(Both), sale),
            (6000, Some(Both), purchase),
            // All that is not income counts as bought.
            (1600, Some(Both), purchase),
            (6000, Some(Sales), sale),
            (4000, Some(Purchase), purchase),
            (4000, None, sale),
            (6000, None, purchase),
            (5000, None, purchase),
            (1600, None, Tells::Nothing),
            (2700, None, Tells::Nothing),
            (2200, None, Tells::Carry(TaxDuty::Owed)),
            (1400, None, Tells::Carry(TaxDuty::Claimed)),
            (2210, None, Tells::Carry(TaxDuty::WithheldByUs)),
            (1410, None, Tells::Carry(TaxDuty::WithheldFromUs)),
        ] {
            let taxes = taxes(code.unwrap_or_default(), &[("19", Standard, "100")]);
            assert_eq!(tells(&chart, &taxes, &line(account, "1", code.is_some())), told, "{account} {code:?}");
        }
    }
}
