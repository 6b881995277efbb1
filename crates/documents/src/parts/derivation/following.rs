//! What a document does to the lines that it follows.

use super::sources::{Source, Sources, named};
use crate::day::Day;
use crate::document::{identity, invalid_state};
use crate::error::{Code, Conflict, Error, FieldErrors, Result};
use crate::ids::RecordId;
use crate::money::{BookMoney, Quantity};
use crate::parts::line::TradeLineAsked;
use crate::parts::{Direction, TradeAsked};
use books::access::Business;
use books::progress::{self, Link, Plan, Step, less, more, negated, too_many};
use schema::aliases::Named;
use schema::tables::{CLOSED, DocumentKind, Relation};

/// What a document does to the lines that it follows.
pub(crate) struct Following<'s> {
    pub(crate) sources: &'s Sources,
    pub(crate) business: &'s Business,
    pub(crate) direction: Direction,
    pub(crate) plan: Plan,
    pub(crate) faults: FieldErrors,
}

impl<'s> Following<'s> {
    pub(crate) fn new(
        direction: Direction,
        asked: &TradeAsked,
        sources: &'s Sources,
        business: &'s Business,
    ) -> Result<Self> {
        let mut following =
            Self { sources, business, direction, plan: Plan::default(), faults: FieldErrors::default() };
        let of_lines = asked.lines.iter().filter_map(|line| sources.line(line)).map(|line| line.document_id);
        for id in named(asked).chain(of_lines) {
            following.link(asked, id)?;
        }
        Ok(following)
    }

    /// The same, of invoices as well that it credits by what came back.
    pub(crate) fn with(mut self, asked: &TradeAsked, credited: impl Iterator<Item = RecordId>) -> Result<Self> {
        for invoice in credited {
            self.link(asked, invoice)?;
        }
        Ok(self)
    }

    /// Notes what it has to do with a document.
    fn link(&mut self, asked: &TradeAsked, id: RecordId) -> Result<()> {
        let Some(Source { row, .. }) = self.sources.document(id) else { return Ok(()) };
        let relation = match self.direction {
            Direction::DeliveryNote | Direction::ReceiptNote if asked.is_return => Relation::Returns,
            Direction::DeliveryNote | Direction::ReceiptNote => Relation::Fulfils,
            Direction::CreditNote | Direction::DebitNote => Relation::Credits,
            _ => Relation::Bills,
        };
        if row.subkind.as_deref() == Some(CLOSED) {
            let number = row.number.as_deref().unwrap_or("");
            return Err(invalid_state(format!("The order {number} is closed; reopen it first")));
        }
        self.plan.links.insert(id, Link { relation, kind: row.kind, number: row.number.clone() });
        Ok(())
    }

    fn refuse(&mut self, index: usize, left: Quantity, to: &str) {
        let left = Ord::max(left, Quantity::ZERO);
        self.faults.add(format!("lines[{index}].quantity"), format!("must be at most {left}, what is left to {to}"));
    }

    /// As much as an order may grow to in the end.
    fn most(&self, line: &progress::Line) -> Result<Quantity> {
        let most = match self.business.settings.over_delivery_percent {
            Some(extra) => {
                // Both are millionths: what is more than a millionth of a piece is not delivered.
                let extra = i128::from(line.quantity.units()) * i128::from(extra.units()) / 100_000_000;
                let extra = i64::try_from(extra).map_err(|_| too_many())?;
                more(line.quantity, Quantity::from_units(extra))?
            }
            None => line.quantity,
        };
        Ok(less(most, line.cancelled))
    }

    /// The order that a line of a note follows.
    fn order_of(&self, line: &progress::Line) -> Option<&'s progress::Line> {
        self.sources.lines.get(&line.source_line_id?).filter(|order| order.is_order())
    }

    /// A line of an invoice. The account is answered on which the goods wait that it bills.
    pub(crate) fn bill(&mut self, index: usize, line: &TradeLineAsked) -> Result<Option<RecordId>> {
        let Some(followed) = self.sources.line(line) else { return Ok(None) };
        let (now, quantity) = (self.plan.line(followed).clone(), line.quantity());
        if followed.is_order() {
            let most = self.most(&now)?;
            let left = less(most, now.fulfilled);
            if quantity > left {
                self.refuse(index, left, "invoice");
            }
            let step = Step { fulfilled: quantity, invoiced: quantity, ..Step::default() };
            self.plan.step(followed, step)?;
            return Ok(None);
        }
        if quantity > now.open() {
            self.refuse(index, now.open(), "invoice");
            return Ok(None);
        }
        self.plan.step(followed, Step { invoiced: quantity, ..Step::default() })?;
        if let Some(order) = self.order_of(followed) {
            self.plan.step(order, Step { invoiced: quantity, ..Step::default() })?;
        }
        Ok(now.account_id)
    }

    /// A line of a credit for goods that came back by a note.
    pub(crate) fn credit(&mut self, index: usize, line: &TradeLineAsked) -> Result<Option<RecordId>> {
        let Some(followed) = self.sources.line(line) else { return Ok(None) };
        let (now, quantity) = (self.plan.line(followed).clone(), line.quantity());
        let origin = followed.source_line_id.and_then(|id| self.sources.lines.get(&id));
        let origin_now = origin.map(|origin| self.plan.line(origin).clone());
        let waits = origin_now.as_ref().map_or(now.open(), |origin| negated(origin.open()));
        let left = Ord::min(now.open(), waits);
        if quantity > left {
            self.refuse(index, left, "credit");
            return Ok(None);
        }
        self.plan.step(followed, Step { invoiced: quantity, ..Step::default() })?;
        let Some(origin) = origin else { return Ok(now.account_id) };
        self.plan.step(origin, Step { invoiced: negated(quantity), ..Step::default() })?;
        if let Some(order) = self.order_of(origin) {
            self.plan.step(order, Step { invoiced: negated(quantity), ..Step::default() })?;
        }
        Ok(origin.account_id)
    }

    /// A line that credits a line of an invoice and brings its goods back: they count as returned where the invoice had
    /// them from, and as invoiced no more.
    pub(crate) fn credit_with_goods(&mut self, index: usize, line: &TradeLineAsked, invoice: &Source) -> Result<()> {
        let billed = invoice.content.asked.lines.iter().find(|known| known.id == line.source_line);
        let Some(origin) = billed.and_then(|billed| self.sources.line(billed)) else { return Ok(()) };
        let (now, quantity) = (self.plan.line(origin).clone(), line.quantity());
        let left = less(if now.is_order() { now.fulfilled } else { now.quantity }, now.returned);
        if quantity > left {
            self.refuse(index, left, "return");
            return Ok(());
        }
        let step = Step { returned: quantity, invoiced: negated(quantity), ..Step::default() };
        self.plan.step(origin, step)?;
        if let Some(order) = self.order_of(origin) {
            self.plan.step(order, step)?;
        }
        Ok(())
    }

    /// A line of an order that begins.
    pub(crate) fn order(&mut self, line: &TradeLineAsked, is_goods: bool) -> Result<()> {
        self.put_down(line, is_goods, |_| {})
    }

    fn put_down(
        &mut self,
        line: &TradeLineAsked,
        is_goods: bool,
        with: impl FnOnce(&mut progress::Line),
    ) -> Result<()> {
        let kind = match self.direction {
            Direction::SalesOrder => DocumentKind::SalesOrder,
            Direction::PurchaseOrder => DocumentKind::PurchaseOrder,
            Direction::DeliveryNote => DocumentKind::DeliveryNote,
            _ => DocumentKind::ReceiptNote,
        };
        let mut begun = progress::Line {
            business_id: self.business.id,
            line_id: identity(line.id)?,
            document_id: RecordId::default(),
            kind,
            date: Day::default(),
            party_id: Named::default(),
            item_id: line.item,
            is_goods,
            is_return: false,
            source_line_id: line.source_line,
            quantity: line.quantity(),
            fulfilled: Quantity::ZERO,
            invoiced: Quantity::ZERO,
            returned: Quantity::ZERO,
            cancelled: Quantity::ZERO,
            account_id: None,
            value: BookMoney::ZERO,
        };
        with(&mut begun);
        self.plan.begins.push(begun);
        Ok(())
    }

    /// A line of a note of goods. The account is answered on which they wait.
    pub(crate) fn goods(
        &mut self,
        (index, line): (usize, &TradeLineAsked),
        is_return: bool,
        account: Option<RecordId>,
        is_goods: bool,
    ) -> Result<Option<RecordId>> {
        let (quantity, followed) = (line.quantity(), self.sources.line(line));
        if let Some(origin) = followed.filter(|_| is_return) {
            return self.send_back(index, line, origin, is_goods);
        }
        if let Some(order) = followed {
            let now = self.plan.line(order).clone();
            let left = less(self.most(&now)?, now.fulfilled);
            if quantity > left {
                self.refuse(index, left, "deliver");
            }
            self.plan.step(order, Step { fulfilled: quantity, ..Step::default() })?;
        }
        let account = account.filter(|_| is_goods);
        self.put_down(line, is_goods, |begun| (begun.is_return, begun.account_id) = (is_return, account))?;
        Ok(account)
    }

    /// Goods of a note that come back, or go back.
    fn send_back(
        &mut self,
        index: usize,
        line: &TradeLineAsked,
        origin: &progress::Line,
        is_goods: bool,
    ) -> Result<Option<RecordId>> {
        let (now, quantity) = (self.plan.line(origin).clone(), line.quantity());
        let left = less(now.quantity, now.returned);
        if quantity > left {
            self.refuse(index, left, "return");
            return Ok(None);
        }
        // What nobody invoiced needs no credit.
        let uncharged = Ord::min(quantity, Ord::max(now.open(), Quantity::ZERO));
        self.plan.step(origin, Step { returned: quantity, ..Step::default() })?;
        if let Some(order) = self.order_of(origin) {
            self.plan.step(order, Step { returned: quantity, ..Step::default() })?;
        }
        self.put_down(line, is_goods, |begun| {
            begun.is_return = true;
            begun.cancelled = uncharged;
        })?;
        Ok(now.account_id)
    }

    pub(crate) fn finish(self) -> Result<Plan> {
        if self.faults.is_empty() {
            return Ok(self.plan);
        }
        let title = "More than is left of the lines that it follows".into();
        Err(Error::Conflict(Conflict { code: Code::OverFulfilment, title, errors: self.faults }))
    }
}

#[cfg(test)]
mod tests;
