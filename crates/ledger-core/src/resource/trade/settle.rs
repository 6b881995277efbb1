//! Judges a trade document by the books: what it names, what it comes to.

use super::figures::{Discount, Priced, Refused, Rules, TooLarge, compute, sum};
use super::line::{LineKept, TradeLineAsked};
use super::posting::{Accounts, Amounts, Exchange, InBase, cost_of, lines, stock_kind};
use super::{Direction, ReturnCost, SummaryKept, TradeAsked, TradeFigures};
use crate::access::Business;
use crate::books::chart::{Chart, SystemRole};
use crate::books::open_items::NewOpen;
use crate::books::posting::Posting;
use crate::books::stock::{self, Wanted as Movement};
use crate::books::tables::{
    DocumentKind, DocumentStatus, EntryKind, StockKind, document_lines, documents, party_balances, stock_lines,
};
use crate::currency;
use crate::cx::Cx;
use crate::error::{Conflict, Error, FieldErrors, Result};
use crate::ids::RecordId;
use crate::money::{Money, Quantity, Rate};
use crate::resource::account::AccountType;
use crate::resource::business::CreditLimitPolicy;
use crate::resource::document::{Content, Head, Purpose, Settled, SettledEntry, TradedLine};
use crate::resource::item::{self, CostMethod, ItemType};
use crate::resource::party::{self, PartyBlock, PartyStatus};
use crate::resource::payment_term::MasterStatus;
use crate::resource::reference::{References, Wanted};
use crate::resource::tax_code::{TaxCodes, TaxComponent};
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter};
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

fn judge_head(
    business: &Business,
    direction: Direction,
    head: &Head,
    asked: &TradeAsked,
    party: Option<&party::table::Model>,
    purpose: Purpose,
    references: &mut References,
) {
    match party {
        None => references.faults.add("partyId", "names no party"),
        Some(party) => {
            let wanted = if direction.is_sale() { party.is_customer } else { party.is_supplier };
            if !wanted {
                let role = if direction.is_sale() { "customer" } else { "supplier" };
                references.faults.add("partyId", format!("names {}, which is no {role}", party.name));
            }
            if purpose == Purpose::Posting && !direction.is_note() && is_blocked(direction, party) {
                references.faults.add("partyId", format!("names {}, which takes no new documents", party.name));
            }
        }
    }
    let base = &business.base_currency;
    let currency = asked.currency.as_ref().unwrap_or(base);
    if currency == base && asked.exchange_rate.is_some_and(|rate| rate != Rate::ONE) {
        references.faults.add("exchangeRate", format!("must be 1 or absent in {base}"));
    }
    if currency != base && asked.exchange_rate.is_none() {
        references.faults.add(
            "exchangeRate",
            format!("is required, since there is no rate for the day: what is one {currency} worth in {base}?"),
        );
    }
    let (field, wanted) = if direction.is_sale() {
        ("receivableAccountId", AccountType::Receivable)
    } else {
        ("payableAccountId", AccountType::Payable)
    };
    references.account(field, asked.control_account, Wanted::Type(wanted));
    references.term("paymentTermId", asked.payment_term);
    if asked.due_date.is_some_and(|due| due < head.date) {
        references.faults.add("dueDate", "must not be before the date");
    }
    if let Some(Discount::Amount(off)) = asked.discount
        && !off.fits(currency::decimals(currency).unwrap_or(2))
    {
        references.faults.add("discountAmount", format!("has more decimal places than {currency}"));
    }
}

fn is_blocked(direction: Direction, party: &party::table::Model) -> bool {
    let own = if direction.is_sale() { PartyBlock::Sales } else { PartyBlock::Purchases };
    party.status != PartyStatus::Active || party.blocked == PartyBlock::All || party.blocked == own
}

fn judge_line(
    direction: Direction,
    head: &Head,
    (index, line): (usize, &TradeLineAsked),
    asked: &TradeAsked,
    items: &Items,
    purpose: Purpose,
    references: &mut References,
) {
    let at = |field: &str| format!("lines[{index}].{field}");
    if let Some(id) = line.item {
        match items.get(&id) {
            None => references.faults.add(at("itemId"), "names no item"),
            Some(item) if item.status == MasterStatus::Archived && purpose == Purpose::Posting => {
                references.faults.add(at("itemId"), format!("names {}, which is archived", item.name));
            }
            Some(_) => {}
        }
    }
    if line.is_text() {
        if line.description.is_none() {
            references.faults.add(at("description"), "is required on a line without item, account and price");
        }
        return;
    }
    if line.price.is_none() {
        references.faults.add(at("unitPrice"), "is required, since the item has no price");
    }
    let currency = asked.currency.as_deref().unwrap_or_default();
    if let Some(Discount::Amount(off)) = line.discount
        && !off.fits(currency::decimals(currency).unwrap_or(2))
    {
        references.faults.add(at("discountAmount"), format!("has more decimal places than {currency}"));
    }
    references.tax_code(&at("taxCodeId"), line.tax.code(), direction.tax());
    let code = line.tax.code().and_then(|id| references.taxes.get(id));
    if code.is_some_and(|code| {
        code.valid_from.is_some_and(|from| head.date < from) || code.valid_to.is_some_and(|to| head.date > to)
    }) {
        references.faults.add(at("taxCodeId"), format!("names a tax code that is not valid on {}", head.date));
    }
    references.account(&at("accountId"), line.account, Wanted::Any);
    let account = line.account.and_then(|id| references.chart.account(id));
    if account.is_some_and(|account| account.r#type.is_control()) {
        references.faults.add(at("accountId"), "must not be a receivable or payable account");
    }
    let item = line.item.and_then(|id| items.get(&id)).filter(|item| item.r#type == ItemType::Stock);
    let moved = item.filter(|_| asked.update_stock.unwrap_or(true) && !asked.is_opening && !direction.is_sale());
    let inventory = moved.map(|item| {
        item.inventory_account_id
            .or_else(|| references.chart.in_role(SystemRole::Inventory).ok().map(|account| account.id))
    });
    let is_inventory = account.is_some_and(|account| account.r#type == AccountType::Inventory);
    if inventory.is_none() && is_inventory {
        references.faults.add(at("accountId"), "must not be an inventory account: the line moves no stock");
    } else if inventory.is_some_and(|own| line.account != own) {
        references
            .faults
            .add(at("accountId"), "must be the item's inventory account, since the line moves its stock; leave it out");
    }
}

/// The invoice that a note credits, if it names one.
async fn judge_source(
    cx: &Cx<'_>,
    direction: Direction,
    asked: &TradeAsked,
    purpose: Purpose,
    faults: &mut FieldErrors,
) -> Result<Option<Content<TradeAsked, TradeFigures>>> {
    let field = if direction.is_sale() { "salesInvoiceId" } else { "purchaseInvoiceId" };
    let Some(id) = asked.source.filter(|_| direction.is_note()) else {
        for (index, _) in asked.lines.iter().enumerate().filter(|(_, line)| line.source_line.is_some()) {
            let why = if direction.is_note() {
                format!("needs {field}: which invoice does it credit?")
            } else {
                "is for notes alone".into()
            };
            faults.add(format!("lines[{index}].sourceLineId"), why);
        }
        return Ok(None);
    };
    let Some(row) = invoice(cx, direction, id).await? else {
        faults.add(field, "names no invoice");
        return Ok(None);
    };
    if row.status != DocumentStatus::Posted && purpose == Purpose::Posting {
        faults.add(field, "names an invoice that is not in the books");
    }
    if row.party_id != Some(asked.party) {
        faults.add(field, "names an invoice of another party");
    }
    if Some(&row.currency) != asked.currency.as_ref() {
        faults.add("currency", format!("must be {}, the currency of the invoice", row.currency));
    }
    let content: Content<TradeAsked, TradeFigures> = serde_json::from_str(&row.content).map_err(Error::internal)?;
    for (index, line) in asked.lines.iter().enumerate() {
        let known = |source| content.asked.lines.iter().any(|known| known.id == Some(source));
        if line.source_line.is_some_and(|source| !known(source)) {
            faults.add(format!("lines[{index}].sourceLineId"), "names no line of the invoice");
        }
    }
    Ok(Some(content))
}

/// Not more may be credited of a line than was invoiced.
async fn check_credited(
    cx: &Cx<'_>,
    asked: &TradeAsked,
    figures: &TradeFigures,
    invoice: Option<&Content<TradeAsked, TradeFigures>>,
) -> Result<()> {
    let Some(invoice) = invoice else { return Ok(()) };
    let sources: Vec<RecordId> = asked.lines.iter().filter_map(|line| line.source_line).collect();
    if sources.is_empty() {
        return Ok(());
    }
    let earlier = document_lines::Entity::find()
        .filter(document_lines::Column::BusinessId.eq(cx.business_id()?))
        .filter(document_lines::Column::SourceLineId.is_in(sources))
        .all(&cx.db)
        .await?;
    let mut credited: HashMap<RecordId, (i64, i64)> = HashMap::new();
    for line in &earlier {
        let sums = credited.entry(line.source_line_id.unwrap_or_default()).or_default();
        *sums = (sums.0.saturating_add(line.quantity.units()), sums.1.saturating_add(line.net.units()));
    }
    let mut errors = FieldErrors::default();
    for (index, (line, kept)) in asked.lines.iter().zip(&figures.lines).enumerate() {
        let Some(source) = line.source_line else { continue };
        let Some(place) = invoice.asked.lines.iter().position(|known| known.id == Some(source)) else { continue };
        let (of, of_kept) = (&invoice.asked.lines[place], &invoice.figures.lines[place]);
        let sums = credited.entry(source).or_default();
        *sums = (sums.0.saturating_add(line.quantity().units()), sums.1.saturating_add(kept.figures.net.units()));
        if sums.0 > of.quantity().units() {
            let left = Quantity::from_units(of.quantity().units() - (sums.0 - line.quantity().units()));
            errors.add(format!("lines[{index}].quantity"), format!("must be at most {left}, what is left to credit"));
        } else if sums.1 > of_kept.figures.net.units() {
            errors.add(format!("lines[{index}].unitPrice"), "comes to more than what is left to credit of the line");
        }
    }
    if errors.is_empty() {
        return Ok(());
    }
    let title = "More would be credited than was invoiced".into();
    Err(Error::Conflict(Conflict { code: "over_credit", title, errors }))
}

async fn check_limits(
    cx: &Cx<'_>,
    business: &Business,
    direction: Direction,
    head: &Head,
    asked: &TradeAsked,
    party: &Party,
    base_total: Money,
) -> Result<()> {
    if direction == Direction::SalesInvoice
        && business.settings.credit_limit_policy == CreditLimitPolicy::Block
        && let Some(limit) = party.credit_limit
    {
        cx.flush().await?;
        let open = party_balances::Entity::find()
            .filter(party_balances::Column::BusinessId.eq(business.id))
            .filter(party_balances::Column::PartyId.eq(party.id))
            .all(&cx.db)
            .await?;
        let chart = cx.chart().await?;
        let receivable = |id| chart.account(id).is_some_and(|account| account.r#type == AccountType::Receivable);
        let owed: i64 = open.iter().filter(|row| receivable(row.account_id)).map(|row| row.amount.units()).sum();
        if owed.saturating_add(base_total.units()) > limit.units() {
            return Err(Error::conflict(
                "credit_limit_exceeded",
                format!(
                    "{} would owe more than the credit limit of {}",
                    party.name,
                    limit.with_decimals(business.currency_decimals)
                ),
            ));
        }
    }
    if direction == Direction::PurchaseInvoice
        && business.settings.unique_supplier_reference
        && let Some(reference) = &head.reference
    {
        cx.flush().await?;
        let same = documents::Entity::find()
            .filter(documents::Column::BusinessId.eq(business.id))
            .filter(documents::Column::Kind.eq(DocumentKind::PurchaseInvoice))
            .filter(documents::Column::PartyId.eq(asked.party))
            .filter(documents::Column::Status.eq(DocumentStatus::Posted))
            .filter(documents::Column::Reference.eq(reference.as_str()));
        let others = same.filter(documents::Column::Number.ne(head.number.clone().unwrap_or_default()));
        if others.count(&cx.db).await? > 0 {
            return Err(Error::Conflict(Conflict {
                code: "duplicate",
                title: "Another invoice of this supplier has this reference".into(),
                errors: FieldErrors::one("reference", format!("{reference} is already used by this supplier")),
            }));
        }
    }
    Ok(())
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
