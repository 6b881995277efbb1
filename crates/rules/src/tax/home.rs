//! What a document comes to in the company's currency: it is converted once, and its parts share that.

use super::TaxKind;
use super::exact::Exact;
use super::figures::{LineFigures, LineTax, TooLarge};
pub use crate::exchange::{Exchange, Home};
use words::money::{BookMoney, Money};

/// Whether tax that is kept back is kept back by this document, or only shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Withholding {
    /// It is kept back when the document is settled.
    Shown,
    /// The document moves the money itself, and keeps it back.
    Kept,
}

/// The parts of a document in the company's currency. All of them are one running total.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InHome {
    /// What stands before the lines, such as what settles something.
    pub before: BookMoney,
    pub nets: Vec<BookMoney>,
    /// Line by line, component by component.
    pub taxes: Vec<Vec<BookMoney>>,
    /// What stands after the lines, such as what the total was rounded by.
    pub after: BookMoney,
}

impl InHome {
    pub fn of(
        exchange: &Exchange<'_>,
        lines: &[LineFigures],
        (before, after): (Money, Money),
        withholding: Withholding,
    ) -> Result<Self, TooLarge> {
        let mut parts = vec![before];
        parts.extend(lines.iter().map(|line| line.net));
        let mut kept = Vec::new();
        for line in lines {
            for tax in &line.taxes {
                parts.push(if tax.is_charged() { tax.amount } else { Money::ZERO });
                if is_kept(tax, withholding) {
                    kept.push(tax.amount.negated());
                }
            }
        }
        parts.push(after);
        parts.extend(kept);
        let mut home = exchange.convert(&parts)?.into_iter();
        let mut next = || home.next().ok_or(TooLarge);
        let mut found = Self { before: next()?, ..Self::default() };
        for _ in lines {
            found.nets.push(next()?);
        }
        for line in lines {
            let mut taxes = Vec::with_capacity(line.taxes.len());
            for tax in &line.taxes {
                let charged = next()?;
                // What nobody charges is converted by itself.
                taxes.push(if tax.is_charged() { charged } else { exchange.one(tax.amount)? });
            }
            found.taxes.push(taxes);
        }
        found.after = next()?;
        // What is kept back is less of the money, so it is part of the running total.
        for (line, taxes) in lines.iter().zip(&mut found.taxes) {
            for (tax, home) in line.taxes.iter().zip(taxes) {
                if is_kept(tax, withholding) {
                    *home = next()?.negated();
                }
            }
        }
        Ok(found)
    }
}

fn is_kept(tax: &LineTax, withholding: Withholding) -> bool {
    withholding == Withholding::Kept && tax.kind == TaxKind::Withholding
}

/// What is claimed of a tax, in the company's currency: its share in what the tax came to.
pub fn claimed(tax: &LineTax, home: BookMoney, exchange: &Exchange<'_>) -> Result<BookMoney, TooLarge> {
    if tax.recoverable == tax.amount {
        return Ok(home);
    }
    if tax.amount == Money::ZERO {
        return Ok(BookMoney::ZERO);
    }
    Exact::from(home).times(tax.recoverable)?.over(tax.amount)?.round(exchange.home.coin)
}
