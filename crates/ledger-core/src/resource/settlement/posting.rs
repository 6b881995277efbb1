//! What receipts and payments post: rules without a database.

use super::MoneyAsked;
use crate::ids::RecordId;
use crate::money::{Money, Rate, Rounding};
use crate::resource::tax_code::{TaxCodes, TaxKind};
use rules::posting::{Line, Subject, TaxTag};
use rules::tax::figures::{LineFigures, TooLarge, converted, minus, plus};

pub(super) struct Posting<'p> {
    pub(super) comes_in: bool,
    pub(super) bank: RecordId,
    pub(super) bank_currency: Option<String>,
    pub(super) fee_account: RecordId,
    pub(super) control: Option<RecordId>,
    pub(super) output_tax: RecordId,
    pub(super) input_tax: RecordId,
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
    pub(super) fn lines(&self) -> Result<Posted, TooLarge> {
        let sign = if self.comes_in { -1 } else { 1 };
        let signed = |money: Money| Money::from_units(money.units().saturating_mul(sign));
        let own = |account: RecordId, base: Money, amount: Money, subject: Subject| Line {
            account,
            amount: signed(base),
            currency: self.currency.to_owned(),
            currency_amount: signed(amount),
            subject,
            ..Line::default()
        };
        let mut parts = vec![self.for_party];
        for line in self.figures {
            parts.push(line.net);
            parts.extend(line.taxes.iter().map(|tax| if tax.is_charged() { tax.amount } else { Money::ZERO }));
        }
        let mut base = self.convert(&parts)?.into_iter();
        let base_for_party = base.next().unwrap_or_default();
        let mut lines = Vec::new();
        if let Some(control) = self.control.filter(|_| self.for_party != Money::ZERO) {
            let line = own(control, base_for_party, self.for_party, Subject::default());
            lines.push(Line { party: self.asked.party, ..line });
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
                        of_taxes.push((self.input_tax, amount, tax.amount, tax));
                        of_taxes.push((
                            self.output_tax,
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
                    let account = component.and_then(|one| one.payable_account_id).unwrap_or(self.output_tax);
                    of_taxes.push((account, in_base, tax.amount, tax));
                } else {
                    let account = component.and_then(|one| one.receivable_account_id).unwrap_or(self.input_tax);
                    let claimed = if tax.recoverable == tax.amount { in_base } else { self.one(tax.recoverable)? };
                    net = plus(net, minus(in_base, claimed)?)?;
                    own_net = plus(own_net, minus(tax.amount, tax.recoverable)?)?;
                    of_taxes.push((account, claimed, tax.recoverable, tax));
                }
            }
            let tag = asked.tax.code().map(|code| TaxTag { code, component: None, base: None });
            let line = own(asked.account, net, own_net, Subject { tax: tag, ..Subject::default() });
            lines.push(Line { description: asked.description.clone(), ..line });
            for (account, amount, in_own, tax) in of_taxes {
                let tag = TaxTag { code: tax.code, component: Some(tax.name.clone()), base: Some(signed(base_net)) };
                lines.push(own(account, amount, in_own, Subject { tax: Some(tag), ..Subject::default() }));
            }
            base_lines.push((base_net, base_tax));
        }
        let base_total = self.one(self.asked.amount)?;
        let fee = self.one(self.asked.fee)?;
        lines.push(Line {
            account: self.fee_account,
            amount: fee,
            currency: self.currency.to_owned(),
            currency_amount: self.asked.fee,
            ..Line::default()
        });
        // What arrives is less the fee; what leaves is more by it.
        let (moved, moved_own) = if self.comes_in {
            (minus(base_total, fee)?, minus(self.asked.amount, self.asked.fee)?)
        } else {
            (plus(base_total, fee)?, plus(self.asked.amount, self.asked.fee)?)
        };
        let in_own = self.bank_currency.as_deref().unwrap_or(self.base) == self.currency;
        let back = |money: Money| Money::from_units(money.units().saturating_mul(-sign));
        lines.push(Line {
            account: self.bank,
            amount: back(moved),
            currency: if in_own { self.currency.to_owned() } else { self.base.to_owned() },
            currency_amount: if in_own { back(moved_own) } else { back(moved) },
            ..Line::default()
        });
        Ok(Posted { lines, base_total, base_for_party, base_lines })
    }
}
