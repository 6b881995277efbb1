//! What a trade document leaves out and party, items, terms, rates and the documents that it follows say.

use super::derivation::{self, Sources};
use super::landed::Received;
use super::line::{TaxChoice, TradeLineAsked};
use super::work_out::{Party, items_of, party_of};
use super::{Direction, NoteKind, TradeAsked};
use crate::day::Day;
use crate::document::Head;
use crate::error::Result;
use crate::ids::RecordId;
use crate::money::{Rate, UnitPrice};
use answers::Ask;
use books::chart::{Chart, SystemRole};
use books::cx::Cx;
use books::tax_codes::TaxCodes;
use rust_decimal::{Decimal, RoundingStrategy};
use schema::item::ItemType;
use schema::tables::stock;
use schema::tax_code::Added;
use sea_orm::{ColumnTrait, QueryFilter};
use std::collections::HashMap;
use words::sown::{Fault, sown};

/// What the document leaves out and party, items, terms and rates say.
pub(crate) async fn complete(
    cx: &Cx<'_>,
    direction: Direction,
    head: &Head,
    mut asked: TradeAsked,
) -> Result<TradeAsked> {
    let business = cx.business()?;
    let sources = Sources::of(cx, direction, (head.date, &asked)).await?;
    let (chart, taxes) = (cx.chart().await?, cx.taxes().await?);
    let lines = asked.lines.len();
    derivation::follow(direction, &mut asked, &sources, &taxes)?;
    for (more, line) in asked.lines.iter_mut().filter(|line| line.id.is_none()).enumerate() {
        line.id = Some(RecordId(cx.line_id(lines + more)));
    }
    let said: Vec<bool> = asked.lines.iter().map(|line| line.account.is_some()).collect();
    derivation::take(direction, &mut asked, &sources, &taxes, business)?;
    let writes_off = direction == Direction::CreditNote && asked.note_kind == Some(NoteKind::WriteOff);
    if writes_off && !sown(Fault::WriteOffTakesOffIncome) {
        // What is owed and will not be paid is a loss, and takes nothing off what was earned.
        let loss = chart.roles().bad_debt.id();
        for (line, _) in asked.lines.iter_mut().zip(said).filter(|(line, said)| !said && !line.is_text()) {
            line.account = Some(loss);
        }
    }
    let party = party_of(cx, asked.party).await?;
    let currency = asked.currency.take().or_else(|| party.as_ref().and_then(|party| party.currency.clone()));
    let currency = currency.unwrap_or_else(|| business.base_currency.clone());
    if currency == business.base_currency {
        // The company's own currency is worth 1 and needs no saying.
        asked.exchange_rate = asked.exchange_rate.filter(|rate| *rate != Rate::ONE);
    } else if asked.exchange_rate.is_none() {
        let of_day = books::rates::on(cx, &currency, head.date).await?;
        asked.exchange_rate = of_day.or_else(|| derivation::rate(&asked, &sources, &currency));
    }
    asked.currency = Some(currency);
    if asked.inclusive.is_none() {
        let by_party = party.as_ref().and_then(|party| party.prices_include_tax);
        asked.inclusive = Some(by_party.unwrap_or(business.settings.prices_include_tax_default));
    }
    if let Some(party) = &party {
        complete_from_party(cx, direction, head, party, &mut asked).await?;
    }
    if direction == Direction::ReceiptNote {
        asked.inclusive = Some(false);
    }
    if direction.credits() && asked.note_kind.is_none() {
        asked.note_kind = Some(NoteKind::default());
    }
    if asked.update_stock.is_none() {
        asked.update_stock = Some(!asked.is_opening && asked.note_kind.is_none_or(|kind| kind == NoteKind::Return));
    }
    let items = items_of(cx, &asked.lines).await?;
    if asked.control_account.is_none() && direction.bills() {
        let role = if direction.is_sale() { SystemRole::Receivable } else { SystemRole::Payable };
        asked.control_account = Some(chart.roles().id(role));
    }
    // What a supplier lets off is taken off what his goods cost.
    let lets_off = direction == Direction::DebitNote && asked.note_kind == Some(NoteKind::PriceAdjustment);
    let received = Received::of(cx, direction, &asked, &sources).await?;
    let moves_stock = asked.update_stock.unwrap_or(true) && !asked.is_opening;
    let rate = asked.rate();
    let inclusive = asked.inclusive == Some(true);
    for line in &mut asked.lines {
        let item = line.item.and_then(|id| items.get(&id));
        if let Some(account) = sources.waiting(line)
            && !direction.is_sale()
            && direction.bills()
        {
            // What waits for its invoice stands there.
            line.account = Some(account);
        }
        complete_line(
            (direction, moves_stock || (lets_off && received.has(line.source_line))),
            line,
            item.map(AsRef::as_ref),
            party.as_deref(),
            (&chart, &taxes),
            (head.date, rate, inclusive),
        );
    }
    if direction == Direction::ReceiptNote {
        complete_costs(cx, &mut asked).await?;
    }
    Ok(asked)
}

/// What is received and nobody says the cost of costs what it cost last.
async fn complete_costs(cx: &Cx<'_>, asked: &mut TradeAsked) -> Result<()> {
    let unsaid: Vec<RecordId> =
        asked.lines.iter().filter(|line| line.price.is_none()).filter_map(|line| line.item).collect();
    if unsaid.is_empty() {
        return Ok(());
    }
    cx.flush().await?;
    let known = stock::Entity::find()
        .filter(stock::Column::BusinessId.eq(cx.business_id()?))
        .filter(stock::Column::ItemId.is_in(unsaid));
    let last: HashMap<RecordId, UnitPrice> = known
        .models(&cx.db)
        .await?
        .into_iter()
        .filter_map(|row| {
            let last = row.known_cost?.0;
            let one = last.value.decimal().checked_div(last.quantity.decimal())?;
            let one = one.round_dp_with_strategy(UnitPrice::PLACES, RoundingStrategy::MidpointAwayFromZero);
            Some((row.item_id, UnitPrice::parse(&one.max(Decimal::ZERO).to_string()).ok()?))
        })
        .collect();
    let rate = asked.rate();
    for line in asked.lines.iter_mut().filter(|line| line.price.is_none()) {
        let cost = line.item.and_then(|item| last.get(&item));
        line.price = cost.and_then(|cost| price_in(*cost, rate, false, false, UNTAXED));
    }
    Ok(())
}

async fn complete_from_party(
    cx: &Cx<'_>,
    direction: Direction,
    head: &Head,
    party: &Party,
    asked: &mut TradeAsked,
) -> Result<()> {
    if asked.billing_address.is_none() {
        asked.billing_address = party.billing_address.as_ref().map(|address| address.0.clone());
    }
    if asked.shipping_address.is_none() {
        asked.shipping_address = party.shipping_address.as_ref().map(|address| address.0.clone());
    }
    if asked.control_account.is_none() && direction.bills() {
        asked.control_account =
            if direction.is_sale() { party.receivable_account_id } else { party.payable_account_id };
    }
    if direction.credits() || direction.is_goods() || direction.is_order() || asked.due_date.is_some() {
        return Ok(());
    }
    let terms = cx.terms().await?;
    asked.payment_term = asked.payment_term.or(party.payment_term_id);
    let by_term = asked.payment_term.and_then(|id| terms.get(id)).map(|term| term.due(head.date));
    let by_days = || party.payment_term_days.map(|days| head.date.plus_days(days));
    asked.due_date = Some(by_term.or_else(by_days).unwrap_or(head.date));
    Ok(())
}

fn complete_line(
    (direction, moves_stock): (Direction, bool),
    line: &mut TradeLineAsked,
    item: Option<&schema::item::Model>,
    party: Option<&schema::party::Model>,
    (chart, taxes): (&Chart, &TaxCodes),
    (date, rate, inclusive): (Day, Rate, bool),
) {
    if line.is_text() {
        line.quantity = None;
        return;
    }
    line.quantity = Some(line.quantity());
    let sale = direction.is_sale();
    if line.tax == TaxChoice::Unsaid {
        let of_item = item.and_then(|item| if sale { item.sales_tax_code_id } else { item.purchase_tax_code_id });
        let of_party = party.and_then(|party| if sale { party.sales_tax_code_id } else { party.purchase_tax_code_id });
        line.tax = of_item.or(of_party).map_or(TaxChoice::None, TaxChoice::Code);
    }
    if line.account.is_none() {
        let in_role = |role| Some(chart.roles().id(role));
        line.account = if sale {
            let own = item.and_then(|item| item.income_account_id).or(party.and_then(|party| party.sales_account_id));
            own.or_else(|| in_role(SystemRole::Income))
        } else if line.landed.is_some() || (moves_stock && item.is_some_and(|item| item.r#type == ItemType::Stock)) {
            item.and_then(|item| item.inventory_account_id).or_else(|| in_role(SystemRole::Inventory))
        } else {
            let own =
                item.and_then(|item| item.expense_account_id).or(party.and_then(|party| party.purchase_account_id));
            own.or_else(|| in_role(SystemRole::Expense))
        };
    }
    let Some(item) = item else { return };
    if line.description.is_none() {
        let own = if sale { None } else { item.purchase_description.clone() };
        line.description = own.or_else(|| item.description.clone()).or_else(|| Some(item.name.clone()));
    }
    if line.unit.is_none() {
        line.unit.clone_from(&item.unit);
    }
    if line.price.is_none() {
        let price = if sale { item.sale_price } else { item.purchase_price };
        let included = item.price_includes_tax.unwrap_or(inclusive);
        let tax = line.tax.code().and_then(|id| taxes.get(id)).map_or(UNTAXED, |code| code.added_on(date, rate));
        line.price = price.and_then(|price| price_in(price, rate, included, inclusive, tax));
    }
}

/// What a line without a tax code is taxed.
pub(crate) const UNTAXED: Added = Added { share: Decimal::ZERO, fixed: Decimal::ZERO };

/// An item's price in the currency of the document, with or without tax as its prices are.
pub(crate) fn price_in(price: UnitPrice, rate: Rate, included: bool, inclusive: bool, tax: Added) -> Option<UnitPrice> {
    if rate == Rate::ONE && included == inclusive {
        return Some(price);
    }
    let mut exact = price.decimal().checked_div(rate.decimal())?;
    if included && !inclusive {
        // What is given away costs nothing, and less than nothing is no price.
        exact = exact.checked_sub(tax.fixed)?.max(exact.min(Decimal::ZERO)).checked_div(Decimal::ONE + tax.share)?;
    } else if inclusive && !included {
        exact = exact.checked_mul(Decimal::ONE + tax.share)?.checked_add(tax.fixed)?;
    }
    let places = if rate == Rate::ONE { UnitPrice::PLACES } else { 2 };
    UnitPrice::parse(&exact.round_dp_with_strategy(places, RoundingStrategy::MidpointAwayFromZero).to_string()).ok()
}
