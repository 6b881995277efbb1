//! What a trade document posts: rules without a database, tested by tables.

use super::{Direction, TradeAsked};
use crate::ids::RecordId;
use crate::money::Money;
use books::chart::Chart;
use rules::postable::Postable;
use rules::posting::{About, Line, Subject, TaxTag, Unposted, Valued};
use rules::purpose::{Purpose, Side};
use rules::refusal::Refusal;
use rules::tax::TaxKind;
use rules::tax::facts::{LineOfTax, TaxFact};
use rules::tax::figures::{LineFigures, TooLarge, Totals, minus, plus, sum};
pub(super) use rules::tax::home::Exchange;
use rules::tax::home::{InHome, Withholding, claimed};
use schema::tables::{FactKind, stock_facts};
use std::collections::BTreeMap;

/// The accounts that a document posts to, where its lines do not say.
#[derive(Debug, Clone)]
pub(super) struct Accounts<'c> {
    pub(super) chart: &'c Chart,
    pub(super) control: RecordId,
    /// Whether its other side is that of opening balances.
    pub(super) is_opening: bool,
}

impl Accounts<'_> {
    /// Where an opening document has its other side, and any other has this.
    fn or_opening(&self, other: impl FnOnce(&Chart) -> Result<Postable, Refusal>) -> Result<Postable, Refusal> {
        if self.is_opening { Ok(self.chart.roles().opening_balance_equity.clone().into()) } else { other(self.chart) }
    }
}

/// What the parts of a document come to in the company's currency. They add up to `total`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct InBase {
    pub(super) nets: Vec<Money>,
    /// Line by line, component by component.
    pub(super) taxes: Vec<Vec<Money>>,
    pub(super) rounding: Money,
    pub(super) total: Money,
}

impl InBase {
    pub(super) fn of(lines: &[LineFigures], totals: &Totals, exchange: &Exchange<'_>) -> Result<Self, TooLarge> {
        let home = InHome::of(exchange, lines, (Money::ZERO, totals.rounding), Withholding::Shown)?;
        Ok(Self { nets: home.nets, taxes: home.taxes, rounding: home.after, total: exchange.one(totals.total)? })
    }

    /// What of a line's tax is part of what is paid.
    pub(super) fn charged(&self, index: usize, line: &LineFigures) -> Result<Money, TooLarge> {
        let taxes = self.taxes.get(index).into_iter().flatten().zip(&line.taxes);
        sum(taxes.filter(|(_, tax)| tax.is_charged()).map(|(base, _)| *base))
    }
}

/// What a document came to.
#[derive(Clone, Copy)]
pub(super) struct Amounts<'a> {
    pub(super) totals: &'a Totals,
    pub(super) base: &'a InBase,
}

/// What a line says beside its amount, and what it tells of tax.
#[derive(Default)]
struct Says {
    about: About,
    facts: Vec<TaxFact>,
}

/// One side of the posting in the making: amounts are positive where an invoice debits.
struct Sheet<'s> {
    exchange: &'s Exchange<'s>,
    sign: i64,
    lines: Vec<Line>,
}

impl Sheet<'_> {
    fn signed(&self, money: Money) -> Result<Money, TooLarge> {
        money.units().checked_mul(self.sign).map(Money::from_units).ok_or(TooLarge)
    }

    fn add(&mut self, to: impl Into<Postable>, base: Money, own: Money, what: Says) -> Result<(), Unposted> {
        let (base, own) = (self.signed(base)?, self.signed(own)?);
        let amount = Valued { base, currency: self.exchange.currency.to_owned(), own };
        self.lines.push(Line::on(to, amount, what.about)?.telling(what.facts));
        Ok(())
    }

    /// What goods are worth, and where the other side of that stands.
    fn add_goods(&mut self, chart: &Chart, fact: &stock_facts::Model) -> Result<(), Unposted> {
        let subject = Subject { item: Some(fact.item_id), ..Subject::default() };
        let quantity = Some(fact.moves()).filter(|_| fact.is_movement());
        let stock = chart.standing(fact.inventory_account_id)?;
        self.add_base(stock, fact.booked_stock, Subject { quantity, ..subject.clone() })?;
        for (account, amount) in [
            (fact.waits_account_id, fact.booked_waits),
            (Some(fact.cost_account_id), fact.booked_cost),
            (Some(fact.variance_account_id), fact.booked_variance),
        ] {
            if let Some(account) = account.filter(|_| amount != Money::ZERO) {
                self.add_base(chart.standing(account)?, amount, subject.clone())?;
            }
        }
        Ok(())
    }

    /// What goods are worth that are paid for by a document in its own currency: the line that says so stands where they
    /// wait, or lie. What another rate than that of their note makes of it is a difference of exchange.
    fn add_paid(
        &mut self,
        chart: &Chart,
        facts: &[&stock_facts::Model],
        (net, own): (Money, Money),
        mut says: Says,
    ) -> Result<(), Unposted> {
        let Some(lead) = facts.first() else { return Ok(()) };
        let waits = matches!(lead.kind, FactKind::Bill | FactKind::Credit) || lead.booked_stock == Money::ZERO;
        let on = lead.waits_account_id.filter(|_| waits);
        let (account, value) = match on {
            Some(account) => (account, lead.booked_waits),
            None => (lead.inventory_account_id, lead.booked_stock),
        };
        let abroad = self.exchange.currency != self.exchange.base;
        let (said, in_own) = match (abroad, on) {
            (false, _) => (self.signed(value)?, self.signed(value)?),
            (true, Some(_)) => (self.signed(value)?, own),
            (true, None) => (net, own),
        };
        let quantity = Some(lead.moves()).filter(|_| on.is_none() && lead.is_movement());
        says.about.subject.quantity = quantity;
        // What is paid to have goods here names none, and is worth of these.
        says.about.subject.item = Some(lead.item_id);
        self.add(chart.standing(account)?, said, in_own, says)?;
        let mut sums: BTreeMap<(RecordId, RecordId), Money> = BTreeMap::new();
        let mut rest = self.signed(net)?;
        for fact in facts {
            for (to, amount) in [
                (Some(fact.inventory_account_id), fact.booked_stock),
                (fact.waits_account_id, fact.booked_waits),
                (Some(fact.cost_account_id), fact.booked_cost),
                (Some(fact.variance_account_id), fact.booked_variance),
            ] {
                let Some(to) = to else { continue };
                let sum = sums.entry((to, fact.item_id)).or_default();
                *sum = plus(*sum, amount)?;
                rest = minus(rest, amount)?;
            }
        }
        let sum = sums.entry((account, lead.item_id)).or_default();
        *sum = minus(*sum, self.signed(said)?)?;
        for ((to, item), amount) in sums {
            self.add_base(chart.standing(to)?, amount, Subject { item: Some(item), ..Subject::default() })?;
        }
        self.add_base(chart.roles().realised_exchange.clone(), rest, Subject::default())
    }

    /// An amount that is in the company's currency alone, with the sign that it has.
    fn add_base(&mut self, to: impl Into<Postable>, amount: Money, subject: Subject) -> Result<(), Unposted> {
        self.lines.push(Line::on(to, Valued::in_base(amount, self.exchange.base), subject.into())?);
        Ok(())
    }
}

/// What a line of a purchase costs in the company's currency: its net amount and the tax that cannot be claimed back.
pub(super) fn cost_of(
    index: usize,
    figures: &LineFigures,
    base: &InBase,
    exchange: &Exchange<'_>,
) -> Result<Money, TooLarge> {
    let mut cost = base.nets[index];
    for place in 0..figures.taxes.len() {
        if figures.taxes[place].is_charged() || figures.taxes[place].kind == TaxKind::ReverseCharge {
            let home = base.taxes[index][place];
            cost = plus(cost, minus(home, claimed(&figures.taxes[place], home, exchange)?)?)?;
        }
    }
    Ok(cost)
}

/// The lines of a document's entry.
pub(super) fn lines(
    direction: Direction,
    asked: &TradeAsked,
    accounts: &Accounts<'_>,
    exchange: &Exchange<'_>,
    amounts: &Amounts<'_>,
    mut taxes: Vec<LineOfTax>,
    stock: &[stock_facts::Model],
) -> Result<Vec<Line>, Unposted> {
    let chart = accounts.chart;
    let Amounts { totals, base } = *amounts;
    let is_sale = direction.is_sale();
    // A sale credits what it earns; a purchase debits what it costs; a note does the opposite.
    let sign = if is_sale == direction.credits() { 1 } else { -1 };
    let mut sheet = Sheet { exchange, sign, lines: Vec::new() };
    for (index, line) in asked.lines.iter().enumerate() {
        let goods: Vec<&stock_facts::Model> = stock.iter().filter(|fact| Some(fact.line_id) == line.id).collect();
        let mut tax = std::mem::take(&mut taxes[index]);
        let (net, own) = (tax.cost, tax.own_cost);
        let facts = std::mem::take(&mut tax.bare);
        let about = About {
            description: line.description.clone(),
            subject: Subject {
                item: line.item,
                quantity: None,
                tax: line.tax.code().map(|code| TaxTag { code, component: None, base: None }),
            },
            ..About::default()
        };
        let says = Says { about, facts };
        // A text trades nothing, and its line is dropped.
        let own_account = || {
            accounts.or_opening(|chart| match line.account {
                Some(own) => {
                    let purpose = if is_sale { Purpose::SaleLine } else { Purpose::PurchaseLine };
                    chart.free(own, purpose).map(Into::into)
                }
                None => Ok(chart.roles().purchase_price_variance.clone().into()),
            })
        };
        match goods.as_slice() {
            [] => sheet.add(own_account()?, net, own, says)?,
            goods if is_sale => {
                sheet.add(own_account()?, net, own, says)?;
                for fact in goods {
                    sheet.add_goods(chart, fact)?;
                }
            }
            goods => sheet.add_paid(chart, goods, (net, own), says)?,
        }
        let of_item = |of_tax: Line| {
            let subject = Subject { item: line.item, ..of_tax.subject().clone() };
            of_tax.on_subject(subject)
        };
        sheet.lines.extend(tax.lines.into_iter().map(of_item));
    }
    let rounding = accounts.or_opening(|chart| Ok(chart.roles().rounding.clone().into()))?;
    sheet.add(rounding, base.rounding, totals.rounding, Says::default())?;
    let side = if is_sale { Side::Receivable } else { Side::Payable };
    let control = chart.control(accounts.control, side, exchange.currency)?.of(asked.party);
    let opposite = |money: Money| minus(Money::ZERO, money);
    let about = About { due_date: asked.due_date, ..About::default() };
    sheet.add(control, opposite(base.total)?, opposite(totals.total)?, Says { about, facts: Vec::new() })?;
    Ok(sheet.lines)
}

/// The lines of the entry of a note of goods: what they cost goes to where they wait, or is a cost at once.
pub(super) fn goods_lines(
    asked: &TradeAsked,
    exchange: &Exchange<'_>,
    chart: &Chart,
    stock: &[stock_facts::Model],
) -> Result<Vec<Line>, Unposted> {
    let mut sheet = Sheet { exchange, sign: 1, lines: Vec::new() };
    for line in &asked.lines {
        for fact in stock.iter().filter(|fact| Some(fact.line_id) == line.id) {
            sheet.add_goods(chart, fact)?;
        }
    }
    Ok(sheet.lines)
}

#[cfg(test)]
mod tests;
