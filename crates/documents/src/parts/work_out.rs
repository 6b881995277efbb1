//! Judges a trade document by the books: what it names, what it comes to.

use super::check::{check_limits, judge_head, judge_line, judge_source};
use super::derivation::{self, Following, Sources};
use super::goods::{Moving, goods_of, waiting_account};
use super::goods_note::RETURN;
use super::landed::Received;
use super::line::{LineKept, TradeLineAsked};
use super::posting::{Accounts, Amounts, Bill, Exchange, GoodsNote, InBase};
use super::shares::{Worked, Working, work_out};
use super::under::Under;
use super::{Direction, Posts, SummaryKept, TradeAsked, TradeFigures};
use crate::currency::Currency;
use crate::day::Day;
use crate::document::{Head, Purpose, Settled, SettledEntry, TradedLine};
use crate::document::{identity, unbalanced};
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::money::{BookMoney, Funds, Money, Quantity, UnitPrice};
use books::access::Business;
use books::chart::{Chart, SystemRole};
use books::cx::Cx;
use books::open_items::NewOpen;
use books::progress::Plan;
use books::stock;
use books::tax_codes::TaxCodes;
use books::tax_facts::of_invoice;
use kit::reference::References;
use rules::exchange::Home;
use rules::posting::{Line, Posting, Unposted};
use rules::tax::facts::{Common, Computed, LineOfTax, TaxFact, TaxOrigin, TaxSide};
use rules::tax::figures::{LineFigures, Priced, Refused, Rules, TooLarge, sum};
use rules::tax::home::Withholding;
use schema::tables::CLOSED;
use schema::tables::{EntryKind, stock_facts};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use words::exact::BookCoin;
use words::sown::{Fault, sown};

pub(crate) type Party = Arc<schema::party::Model>;
pub(crate) type Items = HashMap<RecordId, Arc<schema::item::Model>>;

pub(crate) async fn party_of(cx: &Cx<'_>, id: RecordId) -> Result<Option<Party>> {
    cx.party(id).await
}

pub(crate) async fn items_of(cx: &Cx<'_>, lines: &[TradeLineAsked]) -> Result<Items> {
    let named: HashSet<RecordId> = lines.iter().filter_map(|line| line.item).collect();
    if named.is_empty() { Ok(Items::new()) } else { cx.items(&named).await }
}

const fn kind_of(asked: &TradeAsked) -> EntryKind {
    if asked.is_opening { EntryKind::Opening } else { EntryKind::Normal }
}

pub(crate) async fn settle(
    cx: &Cx<'_>,
    (direction, posting): (Direction, Posts),
    head: &Head,
    asked: &TradeAsked,
    purpose: Purpose,
) -> Result<Settled<TradeFigures>> {
    let business = cx.business()?;
    let party = party_of(cx, asked.party).await?;
    let items = items_of(cx, &asked.lines).await?;
    let sources = Sources::of(cx, direction, (head.date, asked)).await?;
    let mut references = References::holding(cx, sources.held(asked)).await?;
    let received = Received::of(cx, direction, asked, &sources).await?;
    let rates_of = rates_of(direction, head, asked, &sources);
    judge_head(business, direction, head, asked, party.as_deref(), purpose, &mut references);
    judge_lines((direction, rates_of, purpose), asked, &items, (&sources, &received), &mut references);
    let source = judge_source(direction, asked, &sources, purpose, &mut references.faults);
    let (chart, taxes) = (references.chart.clone(), references.taxes.clone());
    references.finish()?;
    let party = party.ok_or_else(|| Error::field("partyId", "names no party"))?;
    let currency = asked.currency.clone().unwrap_or_else(|| business.base_currency.clone());
    let rules = rules(business, direction, rates_of, asked, &currency)?;
    let priced: Vec<Priced<'_>> = asked.lines.iter().map(|line| priced(line, &taxes)).collect();
    let working = Working { direction, asked, business, sources: &sources, rules: &rules, purpose };
    let worked = work_out(&working, &priced)?;
    let (line_figures, totals) = (worked.figures.clone(), worked.totals.clone());
    let home = Home { coin: BookCoin::new(business.currency_decimals, rules.rounding), ..business.home() };
    let exchange = Exchange { home, currency: &currency, rate: rules.rate };
    let base = worked.in_base(&exchange).map_err(|_| too_large(TooLarge))?;
    let kept = kept(&worked, &base).map_err(too_large)?;
    let accounts = accounts(&chart, direction, asked);
    let mut settled = Settled {
        subkind: subkind(direction, asked),
        party: Some(asked.party),
        currency: currency.clone(),
        total: totals.total,
        total_in: None,
        base_total: base.total,
        entries: Vec::new(),
        open: Vec::new(),
        lines: Vec::new(),
        stock: None,
        progress: None,
        figures: TradeFigures {
            party_name: party.name.clone(),
            party_tax_number: party.tax_number.clone(),
            currency: currency.clone(),
            control_account: Some(accounts.control).filter(|_| direction.bills()),
            summary: summary(&kept, &base, &exchange).map_err(too_large)?,
            base_total: base.total,
            base_net: sum(base.nets.iter().copied()).map_err(too_large)?,
            base_tax: sum(kept.iter().map(|line| line.base_tax)).map_err(too_large)?,
            lines: kept,
            totals,
            rounded: worked.rounded.clone(),
            moves_stock: false,
        },
    };
    if purpose == Purpose::Draft {
        return Ok(settled);
    }
    settled.lines = traded(asked, &settled.figures)?;
    let credited = || worked.credits().filter_map(|line| sources.invoice_of(line));
    super::origin::check_day(direction, head.date, asked, &sources, credited())?;
    let following = Following::new(direction, asked, &sources, business)?.with(asked, credited())?;
    if direction.is_order() {
        settled.progress = Some(order(asked, &items, following)?);
        return Ok(settled);
    }
    check_limits(cx, business, direction, head, asked, &party, base.total).await?;
    let figures = settled.figures.clone();
    let trading = Trading {
        cx,
        business,
        line_figures: &line_figures,
        accounts: &accounts,
        party: &party,
        moving: Moving {
            direction,
            asked,
            chart: &chart,
            items: &items,
            sources: &sources,
            received: &received,
            source,
            exchange: &exchange,
            base: &base,
            figures: &figures,
        },
    };
    let posting = match posting {
        Posts::Nothing => Vec::new(),
        Posts::Goods(lines) => trading.goods(head, following, &mut settled, lines).await?,
        Posts::Bill(lines) => {
            settled.open.push(open(direction, head, asked, &accounts, &figures));
            trading.bill(head, &taxes, following, &mut settled, lines).await?
        }
    };
    let posting = Posting::balanced(posting).map_err(|fault| unbalanced(fault, "lines"))?;
    settled.entries.push(SettledEntry { kind: kind_of(asked), date: head.date, field: "date", posting });
    settled.figures.moves_stock = settled.stock.is_some();
    Ok(settled)
}

/// The day whose rates of tax apply: what credits an invoice takes those of the invoice.
fn rates_of(direction: Direction, head: &Head, asked: &TradeAsked, sources: &Sources) -> Day {
    let credited = sources.rates_of(asked).filter(|_| direction.credits());
    credited.unwrap_or(asked.tax_date.unwrap_or(head.date))
}

fn rules(
    business: &Business,
    direction: Direction,
    rates_of: Day,
    asked: &TradeAsked,
    currency: &str,
) -> Result<Rules> {
    let under = Under::kept(asked.under, &business.settings);
    Ok(Rules {
        decimals: Currency::known(currency, "what is asked for")?.decimals(),
        rounding: under.rounding(),
        tax_rounding: under.tax_rounding,
        inclusive: asked.inclusive == Some(true),
        rates_of,
        tolerance: under.tolerance(),
        rate: asked.rate(),
        // The coin is one of the company's own currency, and rounds nothing that is in another.
        increment: under
            .increment
            .filter(|_| direction.is_sale() && currency == business.base_currency)
            .map(BookMoney::at_par),
    })
}

fn judge_lines(
    (direction, rates_of, purpose): (Direction, Day, Purpose),
    asked: &TradeAsked,
    items: &Items,
    (sources, received): (&Sources, &Received),
    references: &mut References,
) {
    for (index, line) in asked.lines.iter().enumerate() {
        let waiting = sources.waiting(line).filter(|_| direction.bills() && !direction.is_sale());
        let dearer = received.changes(direction, asked, sources, line);
        judge_line(direction, rates_of, (index, line, waiting, dearer), asked, items, purpose, references);
    }
    derivation::judge(direction, asked, sources, &mut references.faults);
    received.judge(direction, asked, &mut references.faults);
}

fn kept(worked: &Worked, base: &InBase) -> Result<Vec<LineKept>, TooLarge> {
    let keep = |(index, figures): (usize, &LineFigures)| {
        let base_tax = base.charged(index, figures)?;
        let (base_taxes, took) = (base.taxes[index].clone(), worked.took(index));
        Ok(LineKept { figures: figures.clone(), base_net: base.nets[index], base_tax, base_taxes, took })
    };
    worked.figures.iter().enumerate().map(keep).collect()
}

/// An order posts nothing; its lines are there to be followed.
fn order(asked: &TradeAsked, items: &Items, mut following: Following<'_>) -> Result<Plan> {
    for line in asked.lines.iter().filter(|line| !line.is_text()) {
        following.order(line, goods_of(items, line).is_some())?;
    }
    following.plan.closes = asked.closed == Some(true);
    following.finish()
}

/// A document that comes into the ledger.
struct Trading<'t> {
    cx: &'t Cx<'t>,
    business: &'t Business,
    line_figures: &'t [LineFigures],
    accounts: &'t Accounts<'t>,
    party: &'t Party,
    moving: Moving<'t>,
}

impl Trading<'_> {
    /// The lines that trade something, with their places.
    fn lines(&self) -> impl Iterator<Item = (usize, &TradeLineAsked)> {
        self.moving.asked.lines.iter().enumerate().filter(|(_, line)| !line.is_text())
    }

    /// What an invoice, or what credits one, does to what it follows, to stock and to the ledger.
    async fn bill(
        &self,
        head: &Head,
        taxes: &TaxCodes,
        mut following: Following<'_>,
        settled: &mut Settled<TradeFigures>,
        lines: fn(Bill<'_>) -> Result<Vec<Line>, Unposted>,
    ) -> Result<Vec<Line>> {
        let Moving { direction, asked, exchange, base, .. } = self.moving;
        let mut waits: Vec<Option<RecordId>> = vec![None; asked.lines.len()];
        for (index, line) in self.lines() {
            waits[index] =
                if direction.credits() { following.credit(index, line)? } else { following.bill(index, line)? };
            if let Some(invoice) = self.moving.source.filter(|_| self.moving.brings_back(line)) {
                following.credit_with_goods(index, line, invoice)?;
            }
        }
        settled.progress = Some(following.finish()?);
        settled.stock = stock::plan(self.cx, head.date, self.moving.facts(&waits)?).await?;
        let facts: &[stock_facts::Model] = settled.stock.as_ref().map_or(&[], |plan| &plan.facts);
        let as_taxed = self.as_taxed().await?;
        let taxes = self.taxes(head, taxes, &as_taxed)?;
        let amounts = Amounts { totals: &settled.figures.totals, base };
        let bill = Bill { asked, accounts: self.accounts, exchange, amounts, taxes, stock: facts };
        lines(bill).map_err(unposted)
    }

    /// What the lines told of tax that each line credits; all of the invoice, where it names none of its lines.
    async fn as_taxed(&self) -> Result<Vec<Vec<TaxFact>>> {
        let Moving { direction, asked, figures, sources, .. } = self.moving;
        if !direction.credits() {
            return Ok(Vec::new());
        }
        let mut told: HashMap<RecordId, Vec<TaxFact>> = HashMap::new();
        let mut found = Vec::with_capacity(asked.lines.len());
        for line in &figures.lines {
            let of = line.took.first().map(|took| took.of);
            let Some(invoice) = of.and_then(|of| sources.invoice_of(of)).or(asked.source) else {
                found.push(Vec::new());
                continue;
            };
            let facts = match told.entry(invoice) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => new.insert(of_invoice(self.cx, invoice).await?),
            };
            let own = |fact: &&TaxFact| of.is_none() || fact.line == of;
            found.push(facts.iter().filter(own).cloned().collect());
        }
        Ok(found)
    }

    /// The tax of each line, as it comes into the books.
    fn taxes(&self, head: &Head, codes: &TaxCodes, as_taxed: &[Vec<TaxFact>]) -> Result<Vec<LineOfTax>> {
        let Moving { direction, asked, exchange, base, chart, .. } = self.moving;
        let common = Common {
            exchange,
            chart,
            withholding: Withholding::Shown,
            origin: if asked.is_opening && !sown(Fault::OpeningIsTaxed) {
                TaxOrigin::Opening
            } else {
                TaxOrigin::Document
            },
            date: asked.tax_date.unwrap_or(head.date),
            party: Some(asked.party),
            party_tax_number: self.party.tax_number.as_deref(),
            country: country_of(self.party),
        };
        let mut taxes = Vec::with_capacity(asked.lines.len());
        for (index, line) in asked.lines.iter().enumerate() {
            let computed = Computed {
                line: line.id,
                side: if direction.is_sale() { TaxSide::Sale } else { TaxSide::Purchase },
                credits: direction.credits(),
                figures: &self.line_figures[index],
                home_net: base.nets[index],
                home_taxes: &base.taxes[index],
                code: line.tax.code().and_then(|id| Some((id, codes.code(id)?))),
                as_taxed: as_taxed.get(index).map_or(&[], Vec::as_slice),
            };
            let mut of_line = common.line(&computed).map_err(unposted)?;
            if line.is_text() {
                of_line.bare.clear();
            }
            taxes.push(of_line);
        }
        Ok(taxes)
    }

    /// What a note of goods does to what it follows, to stock and to the ledger.
    async fn goods(
        &self,
        head: &Head,
        mut following: Following<'_>,
        settled: &mut Settled<TradeFigures>,
        lines: fn(&GoodsNote<'_>) -> Result<Vec<Line>, Unposted>,
    ) -> Result<Vec<Line>> {
        let Moving { direction, asked, exchange, .. } = self.moving;
        let mut waits: Vec<Option<RecordId>> = vec![None; asked.lines.len()];
        let account = waiting_account(self.business, direction, self.moving.chart);
        for (index, line) in self.lines() {
            let is_goods = goods_of(self.moving.items, line).is_some();
            waits[index] = following.goods((index, line), asked.is_return, account, is_goods)?;
        }
        settled.progress = Some(following.finish()?);
        settled.stock = stock::plan(self.cx, head.date, self.moving.facts(&waits)?).await?;
        let facts: &[stock_facts::Model] = settled.stock.as_ref().map_or(&[], |plan| &plan.facts);
        lines(&GoodsNote { asked, exchange, chart: self.moving.chart, stock: facts }).map_err(unposted)
    }
}

/// What distinguishes a document among those of its kind, in its row.
fn subkind(direction: Direction, asked: &TradeAsked) -> Option<String> {
    if direction.credits() {
        return asked.note_kind.map(|kind| kind.to_string());
    }
    let closed = (direction.is_order() && asked.closed == Some(true)).then(|| CLOSED.to_owned());
    closed.or_else(|| (direction.is_goods() && asked.is_return).then(|| RETURN.to_owned()))
}

/// Accounts were judged with their fields; what is refused here was changed meanwhile.
fn unposted(why: Unposted) -> Error {
    why.at("lines")
}

pub(crate) fn too_large(_: TooLarge) -> Error {
    Error::field("lines", "come to more than can be kept")
}

/// A tax was stated that differs by more than the company allows.
pub(crate) fn stated_too_far(index: usize, computed: Money) -> Error {
    let why =
        format!("is too far from {computed}, which the tax comes to; leave it out, or raise taxOverrideTolerance");
    Error::field(&format!("lines[{index}].taxAmount"), why)
}

/// A tax was stated of which there are no such coins.
pub(crate) fn stated_too_fine(index: usize) -> Error {
    Error::field(&format!("lines[{index}].taxAmount"), "has more decimal places than the currency")
}

pub(crate) fn refused(refused: Refused) -> Error {
    match refused {
        Refused::TooLarge => too_large(TooLarge),
        Refused::DiscountOf(Some(index)) => {
            Error::field(&format!("lines[{index}].discountAmount"), "must not be more than the line")
        }
        Refused::DiscountOf(None) => Error::field("discountAmount", "must not be more than the lines"),
        Refused::Stated(index, computed) => stated_too_far(index, computed),
        Refused::StatedFiner(index) => stated_too_fine(index),
        Refused::Negative => Error::field("lines", "come to less than 0; use a credit note"),
    }
}

/// A line of text, or of a note that says no price, comes to nothing.
const UNPRICED: UnitPrice = UnitPrice::ZERO;

fn priced<'t>(line: &TradeLineAsked, taxes: &'t TaxCodes) -> Priced<'t> {
    let code = line.tax.code().and_then(|id| taxes.get(id));
    Priced {
        quantity: if line.is_text() { Quantity::ZERO } else { line.quantity() },
        price: line.price.unwrap_or(UNPRICED),
        discount: line.discount,
        tax: code.map(|code| (code.id, code.components.0.as_slice())),
        stated: line.stated_tax,
    }
}

// ── What follows ──

fn accounts<'c>(chart: &'c Chart, direction: Direction, asked: &TradeAsked) -> Accounts<'c> {
    let control = if direction.is_sale() { SystemRole::Receivable } else { SystemRole::Payable };
    Accounts {
        chart,
        control: asked.control_account.unwrap_or_else(|| chart.roles().id(control)),
        is_opening: asked.is_opening,
    }
}

/// The country that a party is in.
pub(crate) fn country_of(party: &schema::party::Model) -> Option<&str> {
    party.billing_address.as_ref().and_then(|address| address.0.country.as_deref())
}

fn summary(lines: &[LineKept], base: &InBase, exchange: &Exchange<'_>) -> Result<Vec<SummaryKept>, TooLarge> {
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
                    base_base: BookMoney::ZERO,
                    base_amount: BookMoney::ZERO,
                    recoverable: Money::ZERO,
                });
                summary.len() - 1
            });
            let known = &mut summary[place];
            known.base = sum([known.base, tax.base])?;
            known.amount = sum([known.amount, tax.amount])?;
            let home = if tax.base == line.figures.net { line.base_net } else { exchange.one(tax.base)? };
            known.base_base = sum([known.base_base, home])?;
            known.base_amount = sum([known.base_amount, *in_base])?;
            known.recoverable = sum([known.recoverable, tax.recoverable])?;
        }
    }
    Ok(summary)
}

/// A debit positive.
fn signed<F: Funds>(direction: Direction, amount: F) -> F {
    if direction.debits_control() { amount } else { amount.negated() }
}

fn open(
    direction: Direction,
    head: &Head,
    asked: &TradeAsked,
    accounts: &Accounts<'_>,
    figures: &TradeFigures,
) -> NewOpen {
    NewOpen {
        line: None,
        party: asked.party,
        account: accounts.control,
        currency: figures.currency.clone(),
        date: head.date,
        due_date: asked.due_date,
        amount: signed(direction, figures.totals.total),
        base: signed(direction, figures.base_total),
    }
}

fn traded(asked: &TradeAsked, figures: &TradeFigures) -> Result<Vec<TradedLine>> {
    let lines = asked.lines.iter().zip(&figures.lines);
    lines
        .map(|(line, kept)| {
            Ok(TradedLine {
                id: identity(line.id)?,
                item: line.item,
                account: line.account,
                tax_code: line.tax.code(),
                quantity: if line.is_text() { Quantity::ZERO } else { line.quantity() },
                base_net: kept.base_net,
                source_line: line.source_line,
            })
        })
        .collect()
}
