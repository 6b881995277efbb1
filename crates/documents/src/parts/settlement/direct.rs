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
