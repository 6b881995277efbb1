//! What receipts and payments post: rules without a database.

mod tests;

use super::MoneyAsked;
use crate::ids::RecordId;
use crate::money::{BookMoney, Funds, Money};
use books::tax_codes::TaxCodes;
use rules::postable::Postable;
use rules::posting::{About, Line, Subject, TaxTag, Unposted};
use rules::purpose::{Purpose, Side};
use rules::tax::facts::{Common, Computed, TaxDuty, TaxSide, carry};
use rules::tax::figures::{LineFigures, minus, plus};
use rules::tax::home::{InHome, Withholding};

/// What a direct line tells of tax.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tells {
    /// It is taxed, or could have been.
    Of(TaxSide),
    /// It moves an account of tax without being tax.
    Carry(TaxDuty),
    /// It is nothing that tax is about, such as a loan.
    Nothing,
}

pub(crate) struct Posting<'p> {
    pub(crate) comes_in: bool,
    pub(crate) control: Option<RecordId>,
    /// What settles something, or will.
    pub(crate) for_party: Money,
    pub(crate) asked: &'p MoneyAsked,
    pub(crate) figures: &'p [LineFigures],
    pub(crate) tells: &'p [Tells],
    pub(crate) common: Common<'p>,
    pub(crate) taxes: &'p TaxCodes,
}

pub(crate) struct Posted {
    pub(crate) lines: Vec<Line>,
    pub(crate) base_total: BookMoney,
    pub(crate) base_for_party: BookMoney,
    /// What each direct line comes to without tax, in the company's currency.
    pub(crate) base_lines: Vec<BookMoney>,
}

impl Posting<'_> {
    /// As it stands on the account of the money: what comes in is a debit.
    fn own_side<F: Funds>(&self, amount: F) -> F {
        if self.comes_in { amount } else { amount.negated() }
    }

    fn other_side<F: Funds>(&self, amount: F) -> F {
        self.own_side(amount).negated()
    }

    /// Debits the bank and credits the rest when money comes in; the other way round when it goes out.
    pub(crate) fn lines(&self) -> Result<Posted, Unposted> {
        let (exchange, chart) = (self.common.exchange, self.common.chart);
        let own = |to: Postable, base: BookMoney, amount: Money, about: About| {
            Line::on(to, exchange.valued(self.other_side(amount), self.other_side(base)), about)
        };
        let home = InHome::of(exchange, self.figures, (self.for_party, Money::ZERO), Withholding::Kept)?;
        let mut lines = Vec::new();
        let settles = self.control.zip(self.asked.party).filter(|_| self.for_party != Money::ZERO);
        if let Some((control, party)) = settles {
            let control = chart.control(control, Side::Either, exchange.currency)?.of(party);
            lines.push(own(control, home.before, self.for_party, About::default())?);
        }
        let mut base_lines = Vec::new();
        for (index, (asked, figures)) in self.asked.lines.iter().zip(self.figures).enumerate() {
            let side = match self.tells[index] {
                Tells::Of(side) => side,
                Tells::Carry(_) | Tells::Nothing => TaxSide::default(),
            };
            let mut of_tax = self.common.line(&Computed {
                line: asked.id,
                side,
                // Money that comes back for what was bought, or goes back for what was sold.
                credits: self.comes_in != (side == TaxSide::Sale),
                figures,
                home_net: home.nets[index],
                home_taxes: &home.taxes[index],
                code: asked.tax.code().and_then(|id| Some((id, self.taxes.code(id)?))),
                as_taxed: &[],
            })?;
            let tag = asked.tax.code().map(|code| TaxTag { code, component: None, base: None });
            let subject = Subject { tax: tag, ..Subject::default() };
            let about = About { description: asked.description.clone(), subject, ..About::default() };
            let to = chart.line(asked.account, Purpose::DirectLine, None, exchange.currency)?;
            let line = own(to, of_tax.cost, of_tax.own_cost, about)?;
            lines.push(match self.tells[index] {
                Tells::Of(_) => of_tax.with_bare(line),
                Tells::Carry(duty) => carry(line, duty, (asked.id, self.common.date)),
                Tells::Nothing => line,
            });
            lines.extend(of_tax.lines);
            base_lines.push(home.nets[index]);
        }
        let base_total = exchange.one(self.asked.amount)?;
        let fee = exchange.one(self.asked.fee)?;
        let fee_account = match self.asked.fee_account {
            Some(account) => chart.free(account, Purpose::Fee)?,
            None => chart.roles().bank_fees.clone(),
        };
        lines.push(Line::on(fee_account, exchange.valued(self.asked.fee, fee), About::default())?);
        // What arrives is less the fee; what leaves is more by it.
        let (moved, moved_own) = if self.comes_in {
            (minus(base_total, fee)?, minus(self.asked.amount, self.asked.fee)?)
        } else {
            (plus(base_total, fee)?, plus(self.asked.amount, self.asked.fee)?)
        };
        // An account in the company's currency takes what it is worth.
        let bank = chart.money(self.asked.account, exchange.currency)?;
        let amount = if chart.named(bank.id())?.currency.is_some() {
            exchange.valued(self.own_side(moved_own), self.own_side(moved))
        } else {
            exchange.home.alone(self.own_side(moved))
        };
        lines.push(Line::on(bank, amount, About::default())?);
        Ok(Posted { lines, base_total, base_for_party: home.before, base_lines })
    }
}
