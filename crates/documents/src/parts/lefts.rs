//! What is left of the lines that a document is made of: their own, less what live documents took of them.
//!
//! Owns: finding those documents, and what is left of an invoice as a whole, for credits that name no line of it.

use super::derivation::{Source, Sources};
use super::line::LineKept;
use super::rounded::Charged;
use super::{Direction, TradeAsked, TradeFigures};
use crate::day::Day;
use crate::document::Content;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::money::{BookMoney, Funds, Money, Quantity};
use answers::Ask;
use books::cx::Cx;
use books::progress;
use rules::left::{Left, Parts, Share, TaxPart};
use rules::tax::figures::{LineFigures, LineTax};
use schema::tables::{DocumentKind, DocumentStatus, Relation, document_lines, document_links, documents};
use sea_orm::{ColumnTrait, QueryFilter};
use std::collections::{HashMap, HashSet};
use words::exact::TooLarge;
use words::sown::{Fault, sown};

type Kept = Content<TradeAsked, TradeFigures>;

/// A document that was made of others.
pub(crate) struct Taker {
    pub(crate) row: documents::Model,
    pub(crate) content: Kept,
}

/// What is left, line by line.
#[derive(Default, Clone)]
pub(crate) struct Lefts {
    pub(crate) lines: HashMap<RecordId, Left>,
    /// Of each invoice that is credited.
    pub(crate) wholes: HashMap<RecordId, Whole>,
    /// The invoice that the head names, where it is one of these.
    pub(crate) named: Option<RecordId>,
    /// The invoice that a line stands on, and its tax code.
    pub(crate) codes: HashMap<RecordId, (RecordId, Option<RecordId>)>,
}

/// What is left of an invoice as a whole. Amounts are with tax where its prices are.
#[derive(Clone, Default)]
pub(crate) struct Whole {
    pub(crate) inclusive: bool,
    /// Whether something of it was credited that names none of its lines: then these are bound by the whole as well.
    pub(crate) is_shared: bool,
    /// Without tax.
    pub(crate) net: Money,
    /// What it charged, and what is left of that.
    pub(crate) charged: Charged,
    pub(crate) uncredited: Charged,
    pub(crate) pools: HashMap<Option<RecordId>, Pool>,
}

/// What is left of the lines with one tax code.
#[derive(Clone, Default)]
pub(crate) struct Pool {
    pub(crate) left: Left,
    /// The components as a line had them, and its net.
    pub(crate) taxes: Vec<LineTax>,
    pub(crate) net: Money,
    /// The tax of what takes something off in the note itself, such as a coupon.
    pub(crate) back: Money,
}

pub(crate) fn too_large(_: TooLarge) -> Error {
    Error::field("lines", "come to more than can be kept")
}

fn tax_parts(figures: &LineFigures) -> Vec<TaxPart> {
    let part = |tax: &LineTax| TaxPart {
        component: tax.component,
        charged: tax.is_charged(),
        amount: tax.amount,
        recoverable: tax.recoverable,
    };
    figures.taxes.iter().map(part).collect()
}

/// The taxes of a line in the company's currency.
fn base_taxes(kept: &LineKept) -> Vec<TaxPart<BookMoney>> {
    let amounts = kept.base_taxes.iter().copied().chain(std::iter::repeat(BookMoney::ZERO));
    let part = |(tax, amount): (&LineTax, BookMoney)| TaxPart {
        component: tax.component,
        charged: tax.is_charged(),
        amount,
        recoverable: BookMoney::ZERO,
    };
    kept.figures.taxes.iter().zip(amounts).map(part).collect()
}

/// Net and taxes as one amount without discounts, with the tax inside it or not.
fn lump<F: Funds>(inclusive: bool, net: F, taxes: Vec<TaxPart<F>>) -> Result<Parts<F>, TooLarge> {
    let parts = Parts { inclusive, taxes, ..Parts::default() };
    let gross = if inclusive { net.plus(parts.charged()?)? } else { net };
    Ok(Parts { gross, ..parts })
}

fn lump_of<F: Funds>(parts: &Parts<F>) -> Result<Parts<F>, TooLarge> {
    lump(parts.inclusive, parts.net()?, parts.taxes.clone())
}

/// A line as it was, before anything was made of it.
fn whole_line(asked: &TradeAsked, place: usize, quantity: Quantity, kept: &LineKept) -> Result<Left, TooLarge> {
    let inclusive = asked.inclusive == Some(true);
    let figures = &kept.figures;
    let taxes = tax_parts(figures);
    let stated = Parts { inclusive, gross: figures.gross, discount: figures.discount, taxes };
    let base = match asked.exchange_rate {
        // One currency, one figure.
        None => stated.at_par(),
        Some(_) => lump(inclusive, kept.base_net, base_taxes(kept))?,
    };
    let quantity =
        if asked.lines.get(place).is_none_or(super::line::TradeLineAsked::is_text) { Quantity::ZERO } else { quantity };
    Ok(Left { quantity, stated, base, cost: BookMoney::ZERO })
}

/// The lines of a document as they were, by their identifiers.
pub(crate) fn whole_lines(asked: &TradeAsked, figures: &TradeFigures) -> Result<HashMap<RecordId, Left>> {
    let lines = asked.lines.iter().zip(&figures.lines).enumerate();
    let whole = |(place, (line, kept))| -> Result<Option<(RecordId, Left)>> {
        let line: &super::line::TradeLineAsked = line;
        let Some(id) = line.id else { return Ok(None) };
        Ok(Some((id, whole_line(asked, place, line.quantity(), kept).map_err(too_large)?)))
    };
    lines.map(whole).filter_map(Result::transpose).collect()
}

/// The documents with these identifiers that are live on a day or later, as they are kept.
async fn kept(cx: &Cx<'_>, ids: HashSet<RecordId>, day: Day) -> Result<Vec<Taker>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let rows = documents::Entity::find()
        .filter(documents::Column::BusinessId.eq(cx.business_id()?))
        .filter(documents::Column::Id.is_in(ids))
        .filter(documents::Column::Status.ne(DocumentStatus::Draft));
    // What was void as of a later day took its part until then.
    let stood = |row: &documents::Model| match row.void_date {
        None => true,
        Some(end) => end > row.date && end > day && !sown(Fault::EndedNeverTook),
    };
    let mut takers = Vec::new();
    for row in rows.models(&cx.db).await? {
        if !stood(&row) && !sown(Fault::VoidKeepsItsShare) {
            continue;
        }
        let content = row.kept()?;
        takers.push(Taker { row, content });
    }
    takers.sort_by_key(|taker| taker.row.id);
    Ok(takers)
}

/// What credits these invoices and is in the books, on a day or later.
pub(crate) async fn credits_of(cx: &Cx<'_>, invoices: &[RecordId], day: Day) -> Result<Vec<Taker>> {
    if invoices.is_empty() {
        return Ok(Vec::new());
    }
    cx.flush().await?;
    let links = document_links::Entity::find()
        .filter(document_links::Column::BusinessId.eq(cx.business_id()?))
        .filter(document_links::Column::SourceDocumentId.is_in(invoices.iter().copied()))
        .filter(document_links::Column::Relation.eq(Relation::Credits));
    let ids = links.models(&cx.db).await?.into_iter().map(|link| link.document_id).collect();
    kept(cx, ids, day).await
}

/// What is left of the lines of an invoice from a day on.
pub(crate) async fn left_of(
    cx: &Cx<'_>,
    (invoice, day): (RecordId, Day),
    asked: &TradeAsked,
    figures: &TradeFigures,
) -> Result<HashMap<RecordId, Left>> {
    let mut lefts = Lefts { lines: whole_lines(asked, figures)?, ..Lefts::default() };
    for credit in credits_of(cx, &[invoice], day).await? {
        lefts.lose(&credit.content).map_err(too_large)?;
    }
    Ok(lefts.lines)
}

impl Lefts {
    /// What is left from its day on of what a document is made of. Its own last version takes nothing from it.
    pub(crate) async fn of(
        cx: &Cx<'_>,
        direction: Direction,
        (day, asked): (Day, &TradeAsked),
        sources: &Sources,
    ) -> Result<Self> {
        let own: HashSet<RecordId> = asked.lines.iter().filter_map(|line| line.id).collect();
        let is_own =
            |taker: &Taker| taker.content.asked.lines.iter().any(|line| line.id.is_some_and(|id| own.contains(&id)));
        if direction.credits() {
            let invoices: Vec<&Source> = sources.invoices().collect();
            let ids: Vec<RecordId> = invoices.iter().map(|source| source.row.id).collect();
            let mut credits = credits_of(cx, &ids, day).await?;
            credits.retain(|credit| !is_own(credit));
            return Self::of_invoices(asked.source, &invoices, &credits);
        }
        if direction.is_order() {
            return Ok(Self::default());
        }
        Self::of_discounts(cx, &own, sources, day).await
    }

    pub(crate) fn of_invoices(named: Option<RecordId>, invoices: &[&Source], credits: &[Taker]) -> Result<Self> {
        let mut lefts = Self::default();
        for source in invoices {
            lefts.lines.extend(whole_lines(&source.content.asked, &source.content.figures)?);
            let id = source.row.id;
            let mut whole = Whole::of(&source.content.asked, &source.content.figures).map_err(too_large)?;
            let codes = Source::codes(&source.content.asked);
            for credit in credits {
                whole.without(&credit.content, Some(id), &codes).map_err(too_large)?;
            }
            lefts.wholes.insert(id, whole);
            lefts.codes.extend(codes.into_iter().map(|(line, code)| (line, (id, code))));
        }
        lefts.named = named.filter(|named| lefts.wholes.contains_key(named));
        for credit in credits {
            lefts.lose(&credit.content).map_err(too_large)?;
        }
        Ok(lefts)
    }

    fn lose(&mut self, credit: &Kept) -> Result<(), TooLarge> {
        if sown(Fault::ShareTakenTwice) {
            return Ok(());
        }
        for took in credit.figures.lines.iter().flat_map(|kept| &kept.took) {
            if let Some(left) = self.lines.get_mut(&took.of) {
                *left = left.without(&took.share)?;
            }
        }
        Ok(())
    }

    /// What is left of the discounts of orders and notes.
    async fn of_discounts(cx: &Cx<'_>, own: &HashSet<RecordId>, sources: &Sources, day: Day) -> Result<Self> {
        let mut lefts = Self::default();
        for source in sources.with_discounts() {
            let mut lines = whole_lines(&source.content.asked, &source.content.figures)?;
            lines.retain(|_, left| left.stated.discount != Money::ZERO);
            lefts.lines.extend(lines);
        }
        if sown(Fault::DiscountOfOrderForgotten) {
            return Ok(Self::default());
        }
        if lefts.lines.is_empty() {
            return Ok(lefts);
        }
        // Goods are received without prices; what bills them bills the order.
        let received = progress::followers(cx, lefts.lines.keys().copied()).await?;
        let received: HashMap<RecordId, RecordId> = received
            .into_iter()
            .filter(|line| line.kind == DocumentKind::ReceiptNote)
            .filter_map(|line| Some((line.line_id, line.source_line_id?)))
            .collect();
        let followers = document_lines::Entity::find()
            .filter(document_lines::Column::BusinessId.eq(cx.business_id()?))
            .filter(document_lines::Column::SourceLineId.is_in(lefts.lines.keys().chain(received.keys()).copied()))
            .filter(document_lines::Column::Kind.ne(DocumentKind::ReceiptNote));
        let mut takers: HashMap<RecordId, RecordId> = HashMap::new();
        let mut ids: HashSet<RecordId> = HashSet::new();
        for line in followers.models(&cx.db).await?.into_iter().filter(|line| !own.contains(&line.id)) {
            let Some(source) = line.source_line_id else { continue };
            takers.insert(line.id, received.get(&source).copied().unwrap_or(source));
            ids.insert(line.document_id);
        }
        for taker in kept(cx, ids, day).await? {
            for (id, took) in whole_lines(&taker.content.asked, &taker.content.figures)? {
                let Some(left) = takers.get(&id).and_then(|origin| lefts.lines.get_mut(origin)) else { continue };
                // More than was ordered may have been delivered; it takes nothing from nobody.
                left.quantity = Ord::max(left.quantity.minus(took.quantity).map_err(too_large)?, Quantity::ZERO);
                let off = left.stated.discount.minus(took.stated.discount).map_err(too_large)?;
                left.stated.discount = Ord::max(off, Money::ZERO);
            }
        }
        Ok(lefts)
    }
}

/// What of a note's rounding is for an invoice, whose lines are given by their codes. A note that does not say was rounded by
/// itself, and that is for the first invoice that it credits.
fn rounding_for(
    credit: &Kept,
    invoice: Option<RecordId>,
    codes: &HashMap<RecordId, Option<RecordId>>,
) -> Result<Money, TooLarge> {
    let figures = &credit.figures;
    if !figures.rounded.is_empty() {
        return Money::sum(figures.rounded.iter().filter(|one| Some(one.of) == invoice).map(|one| one.by));
    }
    let first = figures.lines.iter().flat_map(|kept| &kept.took).next();
    let is_for = match credit.asked.source {
        Some(named) => Some(named) == invoice,
        None => first.is_some_and(|took| codes.contains_key(&took.of)),
    };
    Ok(if is_for { figures.totals.rounding } else { Money::ZERO })
}

impl Whole {
    /// An invoice as it was, before anything was credited of it.
    pub(crate) fn of(asked: &TradeAsked, figures: &TradeFigures) -> Result<Self, TooLarge> {
        let mut whole = Self { inclusive: asked.inclusive == Some(true), ..Self::default() };
        for (line, kept) in asked.lines.iter().zip(&figures.lines).filter(|(line, _)| !line.is_text()) {
            let share = whole.share_of(kept)?;
            whole.net = whole.net.plus(kept.figures.net)?;
            whole.charged.exact = whole.charged.exact.plus(kept.figures.net)?.plus(kept.figures.tax)?;
            let pool = whole.pools.entry(line.tax.code()).or_insert_with(|| Pool {
                left: Left {
                    stated: Parts { inclusive: share.stated.inclusive, ..Parts::default() },
                    base: Parts { inclusive: share.stated.inclusive, ..Parts::default() },
                    ..Left::default()
                },
                taxes: kept.figures.taxes.clone(),
                net: kept.figures.net,
                back: Money::ZERO,
            });
            pool.left.stated = pool.left.stated.plus(&share.stated)?;
            pool.left.base = pool.left.base.plus(&share.base)?;
        }
        whole.charged.rounding = figures.totals.rounding;
        whole.uncredited = whole.charged;
        Ok(whole)
    }

    /// Takes what a note credits of the invoice: by its lines, whose codes are given, or by its head alone.
    pub(crate) fn without(
        &mut self,
        credit: &Kept,
        invoice: Option<RecordId>,
        codes: &HashMap<RecordId, Option<RecordId>>,
    ) -> Result<(), TooLarge> {
        for (line, kept) in credit.asked.lines.iter().zip(&credit.figures.lines) {
            for took in &kept.took {
                if let Some(code) = codes.get(&took.of) {
                    self.lose(*code, &took.share)?;
                    self.uncredited = self.uncredited.less(took.share.stated.total()?, Money::ZERO)?;
                }
            }
            if kept.took.is_empty() && credit.asked.source == invoice {
                let total = kept.figures.net.plus(kept.figures.tax)?;
                self.uncredited = self.uncredited.less(total, Money::ZERO)?;
                let share = self.share_of(kept)?;
                self.lose(line.tax.code(), &share)?;
                self.is_shared = true;
            }
        }
        let rounding = rounding_for(credit, invoice, codes)?;
        self.uncredited = self.uncredited.less(Money::ZERO, rounding)?;
        Ok(())
    }

    /// What a line comes to, in the terms of the invoice.
    pub(crate) fn share_of(&self, kept: &LineKept) -> Result<Share, TooLarge> {
        Ok(Share {
            stated: lump(self.inclusive, kept.figures.net, tax_parts(&kept.figures))?,
            base: lump(self.inclusive, kept.base_net, base_taxes(kept))?,
            ..Share::default()
        })
    }

    /// Takes what a line of a code came to. More than is left is less than nothing left.
    pub(crate) fn lose(&mut self, code: Option<RecordId>, share: &Share) -> Result<(), TooLarge> {
        self.net = self.net.minus(share.stated.net()?)?;
        if let Some(pool) = self.pools.get_mut(&code) {
            pool.left.stated = pool.left.stated.minus(&lump_of(&share.stated)?)?;
            pool.left.base = pool.left.base.minus(&lump_of(&share.base)?)?;
        }
        Ok(())
    }

    /// What is left of the tax that a code comes to.
    pub(crate) fn tax_left(&self, code: Option<RecordId>) -> Result<Money, TooLarge> {
        self.pools.get(&code).map_or(Ok(Money::ZERO), |pool| pool.left.stated.charged()?.plus(pool.back))
    }
}
