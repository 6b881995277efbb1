//! What receipts and payments post: rules without a database.

use super::MoneyAsked;
use crate::books::chart::Chart;
use crate::ids::RecordId;
use crate::money::{Money, Rate, Rounding};
use crate::resource::tax_code::{TaxCodes, TaxKind};
use rules::postable::Postable;
use rules::posting::{About, Line, Subject, TaxTag, Unposted, Valued};
use rules::purpose::{Purpose, Side};
use rules::tax::figures::{LineFigures, TooLarge, converted, minus, plus};

pub(super) struct Posting<'p> {
    pub(super) comes_in: bool,
    pub(super) chart: &'p Chart,
    pub(super) control: Option<RecordId>,
    pub(super) base: &'p str,
    pub(super) currency: &'p str,
    pub(super) rate: Rate,
    pub(super) decimals: u32,
    pub(super) rounding: Rounding,
    /// What settles something, or will.
    pub(super) for_party: Money,
    pub(super) asked: &'p MoneyAsked,
    pub(super) figures: &'p [LineFigures],
    pub(super) taxes: &'p TaxCodes,
}

pub(super) struct Posted {
    pub(super) lines: Vec<Line>,
    pub(super) base_total: Money,
    pub(super) base_for_party: Money,
    /// Net and tax of each direct line, in the company's currency.
    pub(super) base_lines: Vec<(Money, Money)>,
}

impl Posting<'_> {
    fn convert(&self, amounts: &[Money]) -> Result<Vec<Money>, TooLarge> {
        converted(amounts, self.rate, self.decimals, self.rounding)
    }

    fn one(&self, amount: Money) -> Result<Money, TooLarge> {
        Ok(self.convert(&[amount])?.pop().unwrap_or_default())
    }

    /// Debits the bank and credits the rest when money comes in; the other way round when it goes out.
    pub(super) fn lines(&self) -> Result<Posted, Unposted> {
        let (chart, roles) = (self.chart, self.chart.roles());
        let sign = if self.comes_in { -1 } else { 1 };
        let signed = |money: Money| Money::from_units(money.units().saturating_mul(sign));
        let own = |to: Postable, base: Money, amount: Money, about: About| {
            let amount = Valued { base: signed(base), currency: self.currency.to_owned(), own: signed(amount) };
            Line::on(to, amount, about)
        };
        let mut parts = vec![self.for_party];
        for line in self.figures {
            parts.push(line.net);
            parts.extend(line.taxes.iter().map(|tax| if tax.is_charged() { tax.amount } else { Money::ZERO }));
        }
        let mut base = self.convert(&parts)?.into_iter();
        let base_for_party = base.next().unwrap_or_default();
        let mut lines = Vec::new();
        let settles = self.control.zip(self.asked.party).filter(|_| self.for_party != Money::ZERO);
        if let Some((control, party)) = settles {
            let control = chart.control(control, Side::Either, self.currency)?.of(party);
            lines.push(own(control, base_for_party, self.for_party, About::default())?);
        }
        let mut base_lines = Vec::new();
        for (asked, figures) in self.asked.lines.iter().zip(self.figures) {
            let mut net = base.next().unwrap_or_default();
            let (base_net, mut base_tax, mut own_net) = (net, Money::ZERO, figures.net);
            let mut of_taxes = Vec::new();
            for tax in &figures.taxes {
                let in_base = base.next().unwrap_or_default();
                if !tax.is_charged() {
                    // Nobody charges it: on what is bought, it is owed and claimed back at once.
                    if tax.kind == TaxKind::ReverseCharge && !self.comes_in {
                        let amount = self.one(tax.amount)?;
                        of_taxes.push((roles.input_tax.clone(), amount, tax.amount, tax));
                        of_taxes.push((
                            roles.output_tax.clone(),
                            Money::from_units(-amount.units()),
                            Money::from_units(-tax.amount.units()),
                            tax,
                        ));
                    }
                    continue;
                }
                base_tax = plus(base_tax, in_base)?;
                let code = self.taxes.get(tax.code);
                let component = code.and_then(|code| code.components.0.iter().find(|one| one.id == tax.component));
                if self.comes_in {
                    let account = match component.and_then(|one| one.payable_account_id) {
                        Some(account) => chart.tax(account)?,
                        None => roles.output_tax.clone(),
                    };
                    of_taxes.push((account, in_base, tax.amount, tax));
                } else {
                    let account = match component.and_then(|one| one.receivable_account_id) {
                        Some(account) => chart.tax(account)?,
                        None => roles.input_tax.clone(),
                    };
                    let claimed = if tax.recoverable == tax.amount { in_base } else { self.one(tax.recoverable)? };
                    net = plus(net, minus(in_base, claimed)?)?;
                    own_net = plus(own_net, minus(tax.amount, tax.recoverable)?)?;
                    of_taxes.push((account, claimed, tax.recoverable, tax));
                }
            }
            let tag = asked.tax.code().map(|code| TaxTag { code, component: None, base: None });
            let to = chart.line(asked.account, Purpose::DirectLine, None, self.currency)?;
            let subject = Subject { tax: tag, ..Subject::default() };
            let about = About { description: asked.description.clone(), subject, ..About::default() };
            lines.push(own(to, net, own_net, about)?);
            for (account, amount, in_own, tax) in of_taxes {
                let tag = TaxTag { code: tax.code, component: Some(tax.name.clone()), base: Some(signed(base_net)) };
                let subject = Subject { tax: Some(tag), ..Subject::default() };
                lines.push(own(account.into(), amount, in_own, subject.into())?);
            }
            base_lines.push((base_net, base_tax));
        }
        let base_total = self.one(self.asked.amount)?;
        let fee = self.one(self.asked.fee)?;
        let fee_account = match self.asked.fee_account {
            Some(account) => chart.free(account, Purpose::Fee)?,
            None => roles.bank_fees.clone(),
        };
        let amount = Valued { base: fee, currency: self.currency.to_owned(), own: self.asked.fee };
        lines.push(Line::on(fee_account, amount, About::default())?);
        // What arrives is less the fee; what leaves is more by it.
        let (moved, moved_own) = if self.comes_in {
            (minus(base_total, fee)?, minus(self.asked.amount, self.asked.fee)?)
        } else {
            (plus(base_total, fee)?, plus(self.asked.amount, self.asked.fee)?)
        };
        // An account in the company's currency takes what it is worth.
        let bank = chart.money(self.asked.account, self.currency)?;
        let back = |money: Money| Money::from_units(money.units().saturating_mul(-sign));
        let amount = if chart.named(bank.id())?.currency.is_some() {
            Valued { base: back(moved), currency: self.currency.to_owned(), own: back(moved_own) }
        } else {
            Valued::in_base(back(moved), self.base)
        };
        lines.push(Line::on(bank, amount, About::default())?);
        Ok(Posted { lines, base_total, base_for_party, base_lines })
    }
}
