//! The documents that one follows, as they stand.

use super::KINDS;
use crate::day::Day;
use crate::document::{Content, check_source};
use crate::error::Result;
use crate::ids::RecordId;
use crate::money::{Money, Quantity};
use crate::parts::lefts::Lefts;
use crate::parts::line::{TaxChoice, TradeLineAsked};
use crate::parts::{Direction, TradeAsked, TradeFigures};
use answers::Ask;
use books::cx::Cx;
use books::progress;
use kit::reference::Held;
use rules::tax::figures::LineTax;
use schema::aliases::Aliases;
use schema::kind::Phase;
use schema::tables::{DocumentKind, document_lines, documents};
use sea_orm::{ColumnTrait, QueryFilter};
use std::collections::{BTreeSet, HashMap, HashSet};

/// A trade document, as it is kept.
pub(crate) struct Source {
    pub(crate) row: documents::Model,
    pub(crate) content: Content<TradeAsked, TradeFigures>,
}

impl Source {
    /// The tax codes of its lines.
    pub(crate) fn codes(asked: &TradeAsked) -> HashMap<RecordId, Option<RecordId>> {
        asked.lines.iter().filter_map(|line| Some((line.id?, line.tax.code()))).collect()
    }

    fn has_discounts(&self) -> bool {
        self.content.figures.lines.iter().any(|kept| kept.figures.discount != Money::ZERO)
    }
}

/// A line of an invoice that billed goods which come back.
#[derive(Clone, Copy)]
pub(crate) struct Bill<'s> {
    pub(crate) source: &'s Source,
    pub(crate) place: usize,
}

impl<'s> Bill<'s> {
    pub(crate) fn line(&self) -> &'s TradeLineAsked {
        &self.source.content.asked.lines[self.place]
    }

    pub(crate) fn id(&self) -> Option<RecordId> {
        self.line().id
    }
}

/// What a document follows.
#[derive(Default)]
pub(crate) struct Sources {
    /// Lines of orders and notes, those that they follow themselves included.
    pub(crate) lines: HashMap<RecordId, progress::Line>,
    documents: HashMap<RecordId, Source>,
    /// The invoices that billed notes of which goods come back: document and line, by the line of the note.
    billed: HashMap<RecordId, Vec<(RecordId, RecordId)>>,
    /// What is left of all these.
    pub(crate) lefts: Lefts,
    /// Who the parties of all these are.
    pub(crate) aliases: Aliases,
}

/// The documents that the head of another names.
pub(crate) fn named(asked: &TradeAsked) -> impl Iterator<Item = RecordId> + '_ {
    asked.source.into_iter().chain(asked.order).chain(asked.goods_notes.iter().copied())
}

impl Sources {
    pub(crate) async fn of(cx: &Cx<'_>, direction: Direction, (day, asked): (Day, &TradeAsked)) -> Result<Self> {
        let mut sources = Self { aliases: cx.aliases()?.clone(), ..Self::default() };
        let mut wanted: HashSet<RecordId> = asked.lines.iter().filter_map(|line| line.source_line).collect();
        if wanted.is_empty() && named(asked).next().is_none() {
            return Ok(sources);
        }
        let heads: Vec<RecordId> = asked.order.into_iter().chain(asked.goods_notes.iter().copied()).collect();
        cx.flush().await?;
        let first = cx.db.together(progress::of_documents(cx, &heads), progress::of_lines(cx, wanted.drain()));
        let (of_heads, mut found) = first.await?;
        sources.lines.extend(of_heads.into_iter().map(|line| (line.line_id, line)));
        // A line that comes back follows a note, which follows an order.
        while !found.is_empty() {
            wanted.extend(found.values().filter_map(|line| line.source_line_id));
            sources.lines.extend(found);
            wanted.retain(|id| !sources.lines.contains_key(id));
            found = progress::of_lines(cx, wanted.drain()).await?;
        }
        if direction.credits() {
            sources.find_bills(cx, asked).await?;
            sources.find_origins(cx, asked).await?;
        }
        let of_lines = sources.lines.values().map(|line| line.document_id);
        let of_bills = sources.billed.values().flatten().map(|(document, _)| *document);
        // In their order: who asks again is answered as before.
        let ids: BTreeSet<RecordId> = named(asked).chain(of_lines).chain(of_bills).collect();
        let rows = documents::Entity::find()
            .filter(documents::Column::BusinessId.eq(cx.business_id()?))
            .filter(documents::Column::Id.is_in(ids))
            .filter(documents::Column::Kind.is_in(KINDS));
        for row in rows.models(&cx.db).await? {
            check_source(cx, row.kind)?;
            let content = row.kept()?;
            sources.documents.insert(row.id, Source { row, content });
        }
        sources.lefts = Lefts::of(cx, direction, (day, asked), &sources).await?;
        Ok(sources)
    }

    /// The lines that a credited invoice billed.
    async fn find_origins(&mut self, cx: &Cx<'_>, asked: &TradeAsked) -> Result<()> {
        let credited: Vec<RecordId> = asked.lines.iter().filter_map(|line| line.source_line).collect();
        let billed = document_lines::Entity::find()
            .filter(document_lines::Column::BusinessId.eq(cx.business_id()?))
            .filter(document_lines::Column::Id.is_in(credited))
            .filter(document_lines::Column::SourceLineId.is_not_null());
        let origins = billed.models(&cx.db).await?.into_iter().filter_map(|line| line.source_line_id);
        let notes = progress::of_lines(cx, origins).await?;
        let orders = progress::of_lines(cx, notes.values().filter_map(|note| note.source_line_id)).await?;
        self.lines.extend(notes);
        self.lines.extend(orders);
        Ok(())
    }

    /// Goods that came back are credited as they were billed.
    async fn find_bills(&mut self, cx: &Cx<'_>, asked: &TradeAsked) -> Result<()> {
        let returned = asked.lines.iter().filter_map(|line| self.lines.get(&line.source_line?)?.source_line_id);
        let returned: HashSet<RecordId> = returned.collect();
        if returned.is_empty() {
            return Ok(());
        }
        let bills = document_lines::Entity::find()
            .filter(document_lines::Column::BusinessId.eq(cx.business_id()?))
            .filter(document_lines::Column::SourceLineId.is_in(returned))
            .filter(document_lines::Column::Kind.is_in(DocumentKind::of_phase(Phase::Bill)));
        for line in bills.models(&cx.db).await? {
            if let Some(note) = line.source_line_id {
                self.billed.entry(note).or_default().push((line.document_id, line.id));
            }
        }
        // Identifiers grow with time: what was billed first is credited first.
        self.billed.values_mut().for_each(|lines| lines.sort_by_key(|(_, line)| *line));
        Ok(())
    }

    /// The invoices that are credited.
    pub(crate) fn invoices(&self) -> impl Iterator<Item = &Source> {
        self.documents.values().filter(|source| source.row.kind.phase() == Some(Phase::Bill))
    }

    /// The orders and notes of which something was taken off.
    pub(crate) fn with_discounts(&self) -> impl Iterator<Item = &Source> {
        self.documents.values().filter(|source| source.row.kind.is_priced() && source.has_discounts())
    }

    /// The lines of invoices that a line of a note credits: the one that it names, or those that billed the note which it
    /// names.
    pub(crate) fn origins(&self, asked: &TradeAsked, line: &TradeLineAsked) -> Vec<RecordId> {
        let Some(id) = line.source_line else { return Vec::new() };
        if !self.lines.contains_key(&id) {
            let direct = asked.source.and_then(|invoice| self.asked_line(invoice, id));
            return direct.map(|_| id).into_iter().collect();
        }
        self.credited(asked, line).iter().filter_map(Bill::id).collect()
    }

    /// What billed the note that brought the goods here, or there, which come back by a line: the first first.
    pub(crate) fn bills(&self, line: &TradeLineAsked) -> Vec<Bill<'_>> {
        let note = self.line(line).and_then(|returned| returned.source_line_id);
        let billed = note.and_then(|note| self.billed.get(&note)).into_iter().flatten();
        let bill = |(document, line): &(RecordId, RecordId)| {
            self.asked_line(*document, *line).map(|(source, place)| Bill { source, place })
        };
        billed.filter_map(bill).collect()
    }

    /// Of these what a line credits: the one that it is of, or what is of the invoice that its note names, in its currency and
    /// at its tax code, where these are said. What was billed at its price comes first.
    pub(crate) fn credited(&self, asked: &TradeAsked, line: &TradeLineAsked) -> Vec<Bill<'_>> {
        let bills = self.bills(line);
        let named = asked.source.filter(|id| bills.iter().any(|bill| bill.source.row.id == *id));
        let suits = |bill: &Bill<'_>| {
            line.billed.is_none_or(|own| bill.id() == Some(own))
                && named.is_none_or(|own| own == bill.source.row.id)
                && asked.currency.as_ref().is_none_or(|own| *own == bill.source.row.currency)
                && (line.tax == TaxChoice::Unsaid || line.tax.code() == bill.line().tax.code())
        };
        let mut credited: Vec<Bill<'_>> = bills.into_iter().filter(suits).collect();
        credited.sort_by_key(|bill| line.price.is_some() && bill.line().price != line.price);
        credited
    }

    /// How many of a line of an invoice are left to credit.
    pub(crate) fn pieces_left(&self, bill: &Bill<'_>) -> Quantity {
        match bill.id().and_then(|id| self.lefts.lines.get(&id)) {
            Some(left) => left.quantity,
            // Nothing is kept of what is gone.
            None => Quantity::ZERO,
        }
    }

    /// The invoice that a line stands on.
    pub(crate) fn invoice_of(&self, line: RecordId) -> Option<RecordId> {
        let has = |source: &&Source| source.content.asked.lines.iter().any(|known| known.id == Some(line));
        self.invoices().find(has).map(|source| source.row.id)
    }

    /// The taxes of a line of an invoice that is credited, and its net.
    pub(crate) fn taxes_of(&self, line: RecordId) -> Option<(&[LineTax], Money)> {
        self.invoices().find_map(|source| {
            let place = source.content.asked.lines.iter().position(|known| known.id == Some(line))?;
            let figures = &source.content.figures.lines.get(place)?.figures;
            Some((figures.taxes.as_slice(), figures.net))
        })
    }

    /// The day whose rates of tax apply to what credits an invoice.
    pub(crate) fn rates_of(&self, asked: &TradeAsked) -> Option<Day> {
        let named = asked.source.and_then(|id| self.documents.get(&id));
        let first = || self.invoices().min_by_key(|source| source.row.id);
        named.or_else(first).map(|source| source.content.asked.tax_date.unwrap_or(source.row.date))
    }

    /// The line of an order or of a note that a line follows.
    pub(crate) fn line(&self, line: &TradeLineAsked) -> Option<&progress::Line> {
        self.lines.get(&line.source_line?)
    }

    /// The account on which the goods of a line wait that it bills, or credits.
    pub(crate) fn waiting(&self, line: &TradeLineAsked) -> Option<RecordId> {
        let followed = self.line(line)?;
        let origin = || self.lines.get(&followed.source_line_id?)?.account_id;
        followed.account_id.or_else(|| origin().filter(|_| followed.is_return))
    }

    /// Whether a line is one of a note of goods.
    pub(crate) fn is_of_note(&self, line: RecordId) -> bool {
        self.lines.get(&line).is_some_and(|line| !line.is_order())
    }

    /// What the version before it named, and the documents that it follows: what comes of them may name it too.
    pub(crate) fn held(&self, asked: &TradeAsked) -> Held {
        let mut held = asked.held.clone();
        held.extend(self.documents.values().flat_map(|source| source.content.asked.names()));
        held
    }

    pub(crate) fn document(&self, id: RecordId) -> Option<&Source> {
        self.documents.get(&id)
    }

    pub(crate) fn asked_line(&self, document: RecordId, line: RecordId) -> Option<(&Source, usize)> {
        let source = self.documents.get(&document)?;
        let place = source.content.asked.lines.iter().position(|known| known.id == Some(line))?;
        Some((source, place))
    }

    /// Where the line stands that says what goods cost: that of the order which a bill follows by a note, and that of
    /// the bill which a credit follows by goods that came back, of the first of which something is left.
    pub(crate) fn terms(
        &self,
        direction: Direction,
        asked: &TradeAsked,
        line: &TradeLineAsked,
    ) -> Option<(&Source, usize)> {
        let source = line.source_line?;
        let Some(followed) = self.lines.get(&source) else {
            // What credits an invoice directly names its line.
            return self.asked_line(asked.source?, source);
        };
        let further = match direction {
            Direction::PurchaseInvoice => {
                followed.source_line_id.and_then(|id| self.asked_line(self.lines.get(&id)?.document_id, id))
            }
            Direction::CreditNote | Direction::DebitNote => {
                let bills = self.credited(asked, line);
                let left = bills.iter().find(|bill| self.pieces_left(bill) > Quantity::ZERO);
                left.or(bills.first()).map(|bill| (bill.source, bill.place))
            }
            _ => None,
        };
        further.or_else(|| self.asked_line(followed.document_id, source))
    }
}

#[cfg(test)]
impl Sources {
    /// For tables of cases: documents, of which nothing is left but what a case says.
    pub(crate) fn sample(documents: impl IntoIterator<Item = Source>) -> Self {
        let documents = documents.into_iter().map(|source| (source.row.id, source)).collect();
        Self { documents, ..Self::default() }
    }
}
