//! What trade documents post is said by their kinds, each in its `posting`: what it debits, and what it credits. These are
//! the parts that they say it with: rules without a database.

use super::TradeAsked;
use crate::ids::RecordId;
use crate::money::{BookMoney, Money};
use books::chart::Chart;
use rules::postable::Postable;
use rules::posting::{About, Line, Subject, TaxTag, Unposted};
use rules::purpose::{Purpose, Side};
use rules::refusal::Refusal;
use rules::tax::TaxKind;
use rules::tax::facts::{LineOfTax, TaxFact};
use rules::tax::figures::{LineFigures, TooLarge, Totals, minus, plus, sum};
pub(crate) use rules::tax::home::Exchange;
use rules::tax::home::{InHome, Withholding, claimed};
use schema::tables::{FactKind, stock_facts};
use std::collections::BTreeMap;

/// The accounts that a document posts to, where its lines do not say.
#[derive(Debug, Clone)]
pub(crate) struct Accounts<'c> {
    pub(crate) chart: &'c Chart,
    pub(crate) control: RecordId,
    /// Whether its other side is that of opening balances.
    pub(crate) is_opening: bool,
}

impl Accounts<'_> {
    /// Where an opening document has its other side, and any other has this.
    fn or_opening(&self, other: impl FnOnce(&Chart) -> Result<Postable, Refusal>) -> Result<Postable, Refusal> {
        if self.is_opening { Ok(self.chart.roles().opening_balance_equity.clone().into()) } else { other(self.chart) }
    }
}

/// What the parts of a document come to in the company's currency. They add up to `total`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct InBase {
    pub(crate) nets: Vec<BookMoney>,
    /// Line by line, component by component.
    pub(crate) taxes: Vec<Vec<BookMoney>>,
    pub(crate) rounding: BookMoney,
    pub(crate) total: BookMoney,
}

impl InBase {
    pub(crate) fn of(lines: &[LineFigures], totals: &Totals, exchange: &Exchange<'_>) -> Result<Self, TooLarge> {
        let home = InHome::of(exchange, lines, (Money::ZERO, totals.rounding), Withholding::Shown)?;
        Ok(Self { nets: home.nets, taxes: home.taxes, rounding: home.after, total: exchange.one(totals.total)? })
    }

    /// What of a line's tax is part of what is paid.
    pub(crate) fn charged(&self, index: usize, line: &LineFigures) -> Result<BookMoney, TooLarge> {
        let taxes = self.taxes.get(index).into_iter().flatten().zip(&line.taxes);
        sum(taxes.filter(|(_, tax)| tax.is_charged()).map(|(base, _)| *base))
    }
}

/// What a document came to.
#[derive(Clone, Copy)]
pub(crate) struct Amounts<'a> {
    pub(crate) totals: &'a Totals,
    pub(crate) base: &'a InBase,
}

/// What a line says beside its amount, and what it tells of tax.
#[derive(Default)]
pub(crate) struct Says {
    about: About,
    facts: Vec<TaxFact>,
}

/// A document that charges or credits, as it comes to be posted. Its kind says what it debits and what it credits.
pub struct Bill<'b> {
    pub(crate) asked: &'b TradeAsked,
    pub(crate) accounts: &'b Accounts<'b>,
    pub(crate) exchange: &'b Exchange<'b>,
    pub(crate) amounts: Amounts<'b>,
    /// Line by line.
    pub(crate) taxes: Vec<LineOfTax>,
    /// What it does to stock.
    pub(crate) stock: &'b [stock_facts::Model],
}

/// A note of goods, as it comes to be posted.
pub struct GoodsNote<'n> {
    pub(crate) asked: &'n TradeAsked,
    pub(crate) exchange: &'n Exchange<'n>,
    pub(crate) chart: &'n Chart,
    pub(crate) stock: &'n [stock_facts::Model],
}

/// An amount in the company's currency, and in that of the document.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Worth {
    base: BookMoney,
    own: Money,
}

impl Worth {
    const fn negated(self) -> Self {
        Self { base: self.base.negated(), own: self.own.negated() }
    }
}

/// A line of a bill.
pub(crate) struct BillLine<'b> {
    account: Option<RecordId>,
    item: Option<RecordId>,
    /// Without the tax that is claimed back.
    pub(crate) net: Worth,
    says: Says,
    pub(crate) goods: Vec<&'b stock_facts::Model>,
    taxes: Vec<Line>,
}

impl<'b> Bill<'b> {
    pub(crate) fn sheet(&self) -> Sheet<'b> {
        Sheet { chart: self.accounts.chart, exchange: self.exchange, lines: Vec::new() }
    }

    pub(crate) fn lines(&mut self) -> Vec<BillLine<'b>> {
        let taxes = std::mem::take(&mut self.taxes);
        let lines = self.asked.lines.iter().zip(taxes).map(|(line, tax)| {
            let about = About {
                description: line.description.clone(),
                subject: Subject {
                    item: line.item,
                    quantity: None,
                    tax: line.tax.code().map(|code| TaxTag { code, component: None, base: None }),
                },
                ..About::default()
            };
            BillLine {
                account: line.account,
                item: line.item,
                net: Worth { base: tax.cost, own: tax.own_cost },
                says: Says { about, facts: tax.bare },
                goods: self.stock.iter().filter(|fact| Some(fact.line_id) == line.id).collect(),
                taxes: tax.lines,
            }
        });
        lines.collect()
    }

    /// Where what a line sells is earned.
    pub(crate) fn earning(&self, line: &BillLine<'_>) -> Result<Postable, Refusal> {
        self.own_account(line, Purpose::SaleLine)
    }

    /// Where what a line buys is spent.
    pub(crate) fn spending(&self, line: &BillLine<'_>) -> Result<Postable, Refusal> {
        self.own_account(line, Purpose::PurchaseLine)
    }

    fn own_account(&self, line: &BillLine<'_>, purpose: Purpose) -> Result<Postable, Refusal> {
        self.accounts.or_opening(|chart| match line.account {
            Some(own) => chart.free(own, purpose).map(Into::into),
            // A text trades nothing, and its line is dropped.
            None => Ok(chart.roles().purchase_price_variance.clone().into()),
        })
    }

    /// Where what the total was rounded by goes.
    pub(crate) fn rounding_account(&self) -> Result<Postable, Refusal> {
        self.accounts.or_opening(|chart| Ok(chart.roles().rounding.clone().into()))
    }

    pub(crate) fn rounding(&self) -> Worth {
        Worth { base: self.amounts.base.rounding, own: self.amounts.totals.rounding }
    }

    /// The account of the customer.
    pub(crate) fn receivable(&self) -> Result<Postable, Refusal> {
        self.control(Side::Receivable)
    }

    /// The account of the supplier.
    pub(crate) fn payable(&self) -> Result<Postable, Refusal> {
        self.control(Side::Payable)
    }

    fn control(&self, side: Side) -> Result<Postable, Refusal> {
        let control = self.accounts.chart.control(self.accounts.control, side, self.exchange.currency)?;
        Ok(control.of(self.asked.party))
    }

    /// What is charged or credited in the end.
    pub(crate) fn total(&self) -> Worth {
        Worth { base: self.amounts.base.total, own: self.amounts.totals.total }
    }

    /// What the line of the total says.
    pub(crate) fn due(&self) -> Says {
        Says { about: About { due_date: self.asked.due_date, ..About::default() }, facts: Vec::new() }
    }
}

impl<'n> GoodsNote<'n> {
    pub(crate) fn sheet(&self) -> Sheet<'n> {
        Sheet { chart: self.chart, exchange: self.exchange, lines: Vec::new() }
    }

    /// What its lines do to stock, in their order.
    pub(crate) fn goods(&self) -> impl Iterator<Item = &'n stock_facts::Model> {
        let stock = self.stock;
        self.asked.lines.iter().flat_map(move |line| stock.iter().filter(|fact| Some(fact.line_id) == line.id))
    }
}

/// The lines of an entry in the making.
pub(crate) struct Sheet<'s> {
    chart: &'s Chart,
    exchange: &'s Exchange<'s>,
    pub(crate) lines: Vec<Line>,
}

impl Sheet<'_> {
    pub(crate) fn debit(&mut self, to: impl Into<Postable>, worth: Worth, says: Says) -> Result<(), Unposted> {
        let amount = self.exchange.valued(worth.own, worth.base);
        self.lines.push(Line::on(to, amount, says.about)?.telling(says.facts));
        Ok(())
    }

    pub(crate) fn credit(&mut self, to: impl Into<Postable>, worth: Worth, says: Says) -> Result<(), Unposted> {
        self.debit(to, worth.negated(), says)
    }

    /// The tax of a line, on the side that its keeper says.
    pub(crate) fn taxes(&mut self, line: BillLine<'_>) {
        let BillLine { item, taxes, .. } = line;
        self.lines.extend(taxes.into_iter().map(|of_tax| {
            let subject = Subject { item, ..of_tax.subject().clone() };
            of_tax.on_subject(subject)
        }));
    }

    /// What goods are worth, and where the other side of that stands.
    pub(crate) fn goods(&mut self, fact: &stock_facts::Model) -> Result<(), Unposted> {
        let chart = self.chart;
        let subject = Subject { item: Some(fact.item_id), ..Subject::default() };
        let quantity = Some(fact.moves()).filter(|_| fact.is_movement());
        let stock = chart.standing(fact.inventory_account_id)?;
        self.add_base(stock, fact.booked_stock, Subject { quantity, ..subject.clone() })?;
        for (account, amount) in [
            (fact.waits_account_id, fact.booked_waits),
            (Some(fact.cost_account_id), fact.booked_cost),
            (Some(fact.variance_account_id), fact.booked_variance),
        ] {
            if let Some(account) = account.filter(|_| amount != BookMoney::ZERO) {
                self.add_base(chart.standing(account)?, amount, subject.clone())?;
            }
        }
        Ok(())
    }

    /// What goods are worth that are paid for by a document in its own currency: the line that says so stands where they
    /// wait, or lie. What another rate than that of their note makes of it is a difference of exchange.
    ///
    /// What is bought is a debit, and what goes back a credit: `net` is what it is worth on that side.
    fn paid(&mut self, facts: &[&stock_facts::Model], net: Worth, mut says: Says) -> Result<(), Unposted> {
        let Some(lead) = facts.first() else { return Ok(()) };
        let chart = self.chart;
        let waits = matches!(lead.kind, FactKind::Bill | FactKind::Credit) || lead.booked_stock == BookMoney::ZERO;
        let on = lead.waits_account_id.filter(|_| waits);
        let (account, value) = match on {
            Some(account) => (account, lead.booked_waits),
            None => (lead.inventory_account_id, lead.booked_stock),
        };
        let said = match (self.exchange.is_at_home(), on) {
            // One currency, one figure: that at which the goods stand.
            (true, _) => Worth { base: value, own: value.at_par() },
            (false, Some(_)) => Worth { base: value, own: net.own },
            (false, None) => net,
        };
        let quantity = Some(lead.moves()).filter(|_| on.is_none() && lead.is_movement());
        says.about.subject.quantity = quantity;
        // What is paid to have goods here names none, and is worth of these.
        says.about.subject.item = Some(lead.item_id);
        self.debit(chart.standing(account)?, said, says)?;
        let mut sums: BTreeMap<(RecordId, RecordId), BookMoney> = BTreeMap::new();
        let mut rest = net.base;
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
        *sum = minus(*sum, said.base)?;
        for ((to, item), amount) in sums {
            self.add_base(chart.standing(to)?, amount, Subject { item: Some(item), ..Subject::default() })?;
        }
        self.add_base(chart.roles().realised_exchange.clone(), rest, Subject::default())
    }

    pub(crate) fn debit_goods(&mut self, line: &mut BillLine<'_>) -> Result<(), Unposted> {
        let says = std::mem::take(&mut line.says);
        self.paid(&line.goods, line.net, says)
    }

    pub(crate) fn credit_goods(&mut self, line: &mut BillLine<'_>) -> Result<(), Unposted> {
        let says = std::mem::take(&mut line.says);
        self.paid(&line.goods, line.net.negated(), says)
    }

    /// An amount that is in the company's currency alone, with the sign that it has.
    fn add_base(&mut self, to: impl Into<Postable>, amount: BookMoney, subject: Subject) -> Result<(), Unposted> {
        self.lines.push(Line::on(to, self.exchange.home.alone(amount), subject.into())?);
        Ok(())
    }
}

/// What a line of a purchase costs in the company's currency: its net amount and the tax that cannot be claimed back.
pub(crate) fn cost_of(
    index: usize,
    figures: &LineFigures,
    base: &InBase,
    exchange: &Exchange<'_>,
) -> Result<BookMoney, TooLarge> {
    let mut cost = base.nets[index];
    for place in 0..figures.taxes.len() {
        if figures.taxes[place].is_charged() || figures.taxes[place].kind == TaxKind::ReverseCharge {
            let home = base.taxes[index][place];
            cost = plus(cost, minus(home, claimed(&figures.taxes[place], home, exchange)?)?)?;
        }
    }
    Ok(cost)
}

impl BillLine<'_> {
    /// What the line of its net amount says.
    pub(crate) fn says(&mut self) -> Says {
        std::mem::take(&mut self.says)
    }
}

#[cfg(test)]
pub(crate) mod cases;
