//! Judges a trade document by the books: what it names, what it comes to.

use super::figures::{Priced, Refused, Rules, TooLarge, compute, sum};
use super::judge::{check_credited, check_limits, judge_head, judge_line, judge_source};
use super::line::{LineKept, TradeLineAsked};
use super::posting::{Accounts, Amounts, Exchange, InBase, cost_of, lines, stock_kind};
use super::{Direction, ReturnCost, SummaryKept, TradeAsked, TradeFigures};
use crate::books::chart::{Chart, SystemRole};
use crate::books::open_items::NewOpen;
use crate::books::posting::Posting;
use crate::books::stock::{self, Wanted as Movement};
use crate::books::tables::{DocumentKind, EntryKind, StockKind, documents, stock_lines};
use crate::currency;
use crate::cx::Cx;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::money::{Money, Quantity, Rate};
use crate::resource::document::{Head, Purpose, Settled, SettledEntry, TradedLine};
use crate::resource::item::{self, CostMethod, ItemType};
use crate::resource::party::{self};
use crate::resource::reference::References;
use crate::resource::tax_code::{TaxCodes, TaxComponent};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

pub(super) type Party = Arc<party::table::Model>;
pub(super) type Items = HashMap<RecordId, Arc<item::table::Model>>;

pub(super) async fn party_of(cx: &Cx<'_>, id: RecordId) -> Result<Option<Party>> {
    Ok(cx.parties(&HashSet::from([id])).await?.remove(&id))
}

pub(super) async fn items_of(cx: &Cx<'_>, lines: &[TradeLineAsked]) -> Result<Items> {
    let named: HashSet<RecordId> = lines.iter().filter_map(|line| line.item).collect();
    if named.is_empty() { Ok(Items::new()) } else { cx.items(&named).await }
}

pub(super) async fn invoice(cx: &Cx<'_>, direction: Direction, id: RecordId) -> Result<Option<documents::Model>> {
    cx.flush().await?;
    let kind = if direction.is_sale() { DocumentKind::SalesInvoice } else { DocumentKind::PurchaseInvoice };
    let row = documents::Entity::find_by_id((cx.business_id()?, id)).filter(documents::Column::Kind.eq(kind));
    Ok(row.one(&cx.db).await?)
}

pub(super) async fn settle(
    cx: &Cx<'_>,
    direction: Direction,
    head: &Head,
    asked: &TradeAsked,
    purpose: Purpose,
) -> Result<Settled<TradeFigures>> {
    let business = cx.business()?;
    let mut references = References::of(cx).await?;
    let party = party_of(cx, asked.party).await?;
    let items = items_of(cx, &asked.lines).await?;
    judge_head(business, direction, head, asked, party.as_deref(), purpose, &mut references);
    for (index, line) in asked.lines.iter().enumerate() {
        judge_line(direction, head, (index, line), asked, &items, purpose, &mut references);
    }
    let source = judge_source(cx, direction, asked, purpose, &mut references.faults).await?;
    let (chart, taxes) = (references.chart.clone(), references.taxes.clone());
    references.finish()?;
    let party = party.ok_or_else(|| Error::field("partyId", "names no party"))?;
    let currency = asked.currency.clone().unwrap_or_else(|| business.base_currency.clone());
    let rate = asked.exchange_rate.unwrap_or(Rate::ONE);
    let rules = Rules {
        decimals: currency::decimals(&currency).unwrap_or(2),
        rounding: business.settings.rounding_mode.rounding(),
        tax_rounding: business.settings.tax_rounding,
        inclusive: asked.inclusive.unwrap_or_default(),
        date: head.date,
        rate,
        // The coin is one of the company's own currency.
        increment: business
            .settings
            .cash_rounding_increment
            .filter(|_| direction.is_sale() && currency == business.base_currency),
    };
    let priced: Vec<Priced<'_>> = asked.lines.iter().map(|line| priced(line, &taxes)).collect();
    let (line_figures, totals) = compute(&rules, &priced, asked.discount).map_err(refused)?;
    let exchange = Exchange {
        base: &business.base_currency,
        currency: &currency,
        rate,
        decimals: business.currency_decimals,
        rounding: rules.rounding,
    };
    let base = InBase::of(&line_figures, &totals, &exchange).map_err(too_large)?;
    let mut kept = Vec::with_capacity(line_figures.len());
    for (index, figures) in line_figures.iter().enumerate() {
        let base_tax = base.charged(index, figures).map_err(too_large)?;
        kept.push(LineKept { figures: figures.clone(), base_net: base.nets[index], base_tax });
    }
    let accounts = accounts(&chart, direction, asked)?;
    let mut settled = Settled {
        subkind: asked.note_kind.filter(|_| direction.is_note()).map(|kind| kind.to_string()),
        party: Some(asked.party),
        currency: currency.clone(),
        total: totals.total,
        base_total: base.total,
        entries: Vec::new(),
        open: Vec::new(),
        lines: Vec::new(),
        stock: None,
        figures: TradeFigures {
            party_name: party.name.clone(),
            party_tax_number: party.tax_number.clone(),
            currency: currency.clone(),
            control_account: Some(accounts.control),
            summary: summary(&kept, &base).map_err(too_large)?,
            base_total: base.total,
            base_net: sum(base.nets.iter().copied()).map_err(too_large)?,
            base_tax: sum(kept.iter().map(|line| line.base_tax)).map_err(too_large)?,
            lines: kept,
            totals,
            moves_stock: false,
        },
    };
    if purpose == Purpose::Draft {
        return Ok(settled);
    }
    check_credited(cx, asked, &settled.figures, source.as_ref()).await?;
    check_limits(cx, business, direction, head, asked, &party, base.total).await?;
    let movements =
        movements(direction, asked, &chart, &items, (&settled.figures, &base, &exchange)).await_sources(cx).await?;
    settled.stock = stock::plan(cx, head.date, movements).await?;
    settled.figures.moves_stock = settled.stock.is_some();
    let moved: &[stock_lines::Model] = settled.stock.as_ref().map_or(&[], |plan| &plan.lines);
    let components = components(&taxes, asked);
    let amounts = Amounts { figures: &line_figures, totals: &settled.figures.totals, base: &base };
    let posted = lines(direction, asked, &accounts, &exchange, &amounts, &components, moved).map_err(too_large)?;
    let posting = Posting::balanced(posted)
        .map_err(|fault| Error::internal(format!("a trade posting does not balance: {fault:?}")))?;
    let kind = if asked.is_opening { EntryKind::Opening } else { EntryKind::Normal };
    settled.entries.push(SettledEntry { kind, date: head.date, field: "date", posting });
    settled.open.push(open(direction, head, asked, &accounts, &settled.figures));
    settled.lines = traded(asked, &settled.figures);
    Ok(settled)
}

fn too_large(_: TooLarge) -> Error {
    Error::field("lines", "come to more than can be kept")
}

fn refused(refused: Refused) -> Error {
    match refused {
        Refused::TooLarge => too_large(TooLarge),
        Refused::DiscountOf(Some(index)) => {
            Error::field(&format!("lines[{index}].discountAmount"), "must not be more than the line")
        }
        Refused::DiscountOf(None) => Error::field("discountAmount", "must not be more than the lines"),
    }
}

fn priced<'t>(line: &TradeLineAsked, taxes: &'t TaxCodes) -> Priced<'t> {
    let code = line.tax.code().and_then(|id| taxes.get(id));
    Priced {
        quantity: if line.is_text() { Quantity::ZERO } else { line.quantity() },
        price: line.price.unwrap_or_default(),
        discount: line.discount,
        tax: code.map(|code| (code.id, code.components.0.as_slice())),
    }
}

// ── What follows ──

fn accounts(chart: &Chart, direction: Direction, asked: &TradeAsked) -> Result<Accounts> {
    let control = if direction.is_sale() { SystemRole::Receivable } else { SystemRole::Payable };
    Ok(Accounts {
        control: match asked.control_account {
            Some(account) => account,
            None => chart.in_role(control)?.id,
        },
        output_tax: chart.in_role(SystemRole::OutputTax)?.id,
        input_tax: chart.in_role(SystemRole::InputTax)?.id,
        rounding: chart.in_role(SystemRole::Rounding)?.id,
        variance: chart.in_role(SystemRole::PurchasePriceVariance)?.id,
        opening: if asked.is_opening { Some(chart.in_role(SystemRole::OpeningBalanceEquity)?.id) } else { None },
    })
}

fn components(taxes: &TaxCodes, asked: &TradeAsked) -> HashMap<RecordId, TaxComponent> {
    let codes = asked.lines.iter().filter_map(|line| line.tax.code()).filter_map(|id| taxes.get(id));
    codes.flat_map(|code| code.components.0.iter().cloned()).map(|component| (component.id, component)).collect()
}

fn summary(lines: &[LineKept], base: &InBase) -> Result<Vec<SummaryKept>, TooLarge> {
    let mut summary: Vec<SummaryKept> = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        for (tax, in_base) in line.figures.taxes.iter().zip(&base.taxes[index]) {
            let place = summary.iter().position(|known| (known.code, known.component) == (tax.code, tax.component));
            let place = place.unwrap_or_else(|| {
                summary.push(SummaryKept {
                    code: tax.code,
                    component: tax.component,
                    name: tax.name.clone(),
                    kind: tax.kind,
                    rate: tax.rate,
                    base: Money::ZERO,
                    amount: Money::ZERO,
                    base_base: Money::ZERO,
                    base_amount: Money::ZERO,
                    recoverable: Money::ZERO,
                });
                summary.len() - 1
            });
            let known = &mut summary[place];
            known.base = sum([known.base, tax.base])?;
            known.amount = sum([known.amount, tax.amount])?;
            known.base_base = sum([known.base_base, line.base_net])?;
            known.base_amount = sum([known.base_amount, *in_base])?;
            known.recoverable = sum([known.recoverable, tax.recoverable])?;
        }
    }
    Ok(summary)
}

fn open(direction: Direction, head: &Head, asked: &TradeAsked, accounts: &Accounts, figures: &TradeFigures) -> NewOpen {
    let signed = |money: Money| {
        if direction.debits_control() { money } else { Money::from_units(money.units().saturating_neg()) }
    };
    NewOpen {
        line: None,
        party: asked.party,
        account: accounts.control,
        currency: figures.currency.clone(),
        date: head.date,
        due_date: asked.due_date,
        amount: signed(figures.totals.total),
        base: signed(figures.base_total),
    }
}

fn traded(asked: &TradeAsked, figures: &TradeFigures) -> Vec<TradedLine> {
    let lines = asked.lines.iter().zip(&figures.lines);
    lines
        .map(|(line, kept)| TradedLine {
            id: line.id.unwrap_or_default(),
            item: line.item,
            account: line.account,
            tax_code: line.tax.code(),
            quantity: if line.is_text() { Quantity::ZERO } else { line.quantity() },
            net: kept.figures.net,
            tax: kept.figures.tax,
            base_net: kept.base_net,
            base_tax: kept.base_tax,
            source_line: line.source_line,
        })
        .collect()
}

/// Movements of stock, of which those that come back may name a line that moved none.
struct Movements(Vec<Movement>);

impl Movements {
    /// Keeps the names of lines that did move stock.
    async fn await_sources(self, cx: &Cx<'_>) -> Result<Vec<Movement>> {
        let named: Vec<RecordId> = self.0.iter().filter_map(|one| one.returns).collect();
        if named.is_empty() {
            return Ok(self.0);
        }
        let moved: HashSet<RecordId> = stock_lines::Entity::find()
            .filter(stock_lines::Column::BusinessId.eq(cx.business_id()?))
            .filter(stock_lines::Column::LineId.is_in(named))
            .all(&cx.db)
            .await?
            .into_iter()
            .map(|line| line.line_id)
            .collect();
        let known = |one: Movement| Movement { returns: one.returns.filter(|line| moved.contains(line)), ..one };
        Ok(self.0.into_iter().map(known).collect())
    }
}

fn movements(
    direction: Direction,
    asked: &TradeAsked,
    chart: &Chart,
    items: &Items,
    (figures, base, exchange): (&TradeFigures, &InBase, &Exchange<'_>),
) -> Movements {
    if !asked.update_stock.unwrap_or(true) || asked.is_opening {
        return Movements(Vec::new());
    }
    let in_role = |role| chart.in_role(role).map(|account| account.id).unwrap_or_default();
    let kind = stock_kind(direction);
    let lines = asked.lines.iter().zip(&figures.lines).enumerate();
    let movement = |(index, (line, kept)): (usize, (&TradeLineAsked, &LineKept))| {
        let item = line.item.and_then(|id| items.get(&id)).filter(|item| item.r#type == ItemType::Stock)?;
        let quantity = line.quantity();
        let signed =
            if kind == StockKind::Issue { Quantity::from_units(quantity.units().saturating_neg()) } else { quantity };
        let paid = cost_of(index, &kept.figures, base, exchange).unwrap_or_default();
        let standard = item.standard_cost.filter(|_| item.cost_method == CostMethod::Standard);
        let at_standard = standard.and_then(|cost| {
            let exact = cost.decimal().checked_mul(quantity.decimal())?;
            exchange.rounding.money(exact, exchange.decimals).ok()
        });
        let cost_account = if direction.is_sale() {
            item.cogs_account_id.unwrap_or_else(|| in_role(SystemRole::CostOfSales))
        } else {
            in_role(SystemRole::PurchasePriceVariance)
        };
        Some(Movement {
            line: line.id.unwrap_or_default(),
            line_no: i64::try_from(index).unwrap_or_default() + 1,
            item: item.clone(),
            kind,
            quantity: signed,
            cost: if kind == StockKind::Receipt { at_standard.unwrap_or(paid) } else { Money::ZERO },
            returns: line
                .source_line
                .filter(|_| direction == Direction::CreditNote && asked.return_cost == ReturnCost::Original),
            inventory: item.inventory_account_id.unwrap_or_else(|| in_role(SystemRole::Inventory)),
            cost_account,
        })
    };
    Movements(lines.filter_map(movement).collect())
}
