//! What a line that is made of another leaves unsaid: that it is a share, and what of the discount is its own.

mod tests;

use super::derivation::{Source, Sources};
use super::line::{TaxChoice, TradeLineAsked};
use super::{Direction, TradeAsked};
use crate::currency::Currency;
use crate::ids::RecordId;
use crate::money::{Money, Percent, Quantity, UnitPrice};
use books::access::Business;
use books::tax_codes::TaxCodes;
use rules::left::{Coins, Left, Part};
use rules::tax::figures::Discount;
use std::collections::{HashMap, HashSet};
use words::exact::{Coin, Exact, TooLarge};
use words::portion::{Shares as _, Weights};

/// Whether a document says another currency than what it is made of.
fn is_in_another(asked: &TradeAsked, source: &Source) -> bool {
    asked.currency.as_ref().is_some_and(|own| *own != source.row.currency)
}

/// Whether a line says nothing of its own but a quantity, or repeats price and discounts of the line that it credits.
/// `price` is that line's, as the note's prices are.
pub(crate) fn says_nothing(
    line: &TradeLineAsked,
    asked: &TradeAsked,
    (source, of): (&Source, &TradeLineAsked),
    price: Option<UnitPrice>,
) -> bool {
    let (header, own) = (source.content.asked.discount, of.discount);
    if asked.discount.is_some() && asked.discount != header || is_in_another(asked, source) {
        return false;
    }
    match line.price {
        // What is left out is taken from there, and what is said as well must be the same.
        None => line.discount.is_none() || line.discount == own,
        Some(said) => Some(said) == price && line.discount == own && asked.discount == header,
    }
}

/// A line of a note that names an invoice and no line of it credits the one line that suits: of its item, and at its
/// price where one is said.
pub(crate) fn match_invoice(direction: Direction, asked: &mut TradeAsked, sources: &Sources, taxes: &TaxCodes) {
    let Some(invoice) = asked.source.and_then(|id| sources.document(id)).filter(|_| direction.credits()) else {
        return;
    };
    let mut taken: HashSet<RecordId> = asked.lines.iter().filter_map(|line| line.source_line).collect();
    for line in asked.lines.iter_mut().filter(|line| line.source_line.is_none() && line.item.is_some()) {
        let suits = |known: &&TradeLineAsked| {
            let Some(id) = known.id.filter(|id| !taken.contains(id)) else { return false };
            let Some(left) = sources.lefts.lines.get(&id).map(|left| left.quantity) else { return false };
            let code = line.tax == TaxChoice::Unsaid
                || line.tax.code().filter(|id| taxes.get(*id).is_some()) == known.tax.code();
            known.item == line.item && code && left >= line.quantity.unwrap_or(left) && left > Quantity::ZERO
        };
        let found: Vec<&TradeLineAsked> = invoice.content.asked.lines.iter().filter(suits).collect();
        let same_price = || {
            let mut same = found.iter().filter(|known| line.price.is_some() && known.price == line.price);
            same.next().filter(|_| same.next().is_none())
        };
        let one = if let [one] = found.as_slice() { Some(one) } else { same_price() };
        if let Some(id) = one.and_then(|one| one.id) {
            line.source_line = Some(id);
            taken.insert(id);
        }
    }
}

/// The lines that leave price and discount to the order, or the note, whose share they are: place and origin.
pub(crate) fn unsaid(
    direction: Direction,
    asked: &TradeAsked,
    inclusive: bool,
    sources: &Sources,
) -> Vec<(usize, RecordId)> {
    let charges = direction.is_sale() || direction.bills();
    if direction.credits() || direction.is_order() || !charges || asked.is_return {
        return Vec::new();
    }
    let of_line = |(index, line): (usize, &TradeLineAsked)| {
        let (source, place) = sources.terms(direction, asked, line)?;
        let said = &source.content.asked;
        let of = said.lines.get(place)?;
        // What was shared before keeps what it got.
        let same = !line.is_share
            && !is_in_another(asked, source)
            && (line.price.is_none() || line.price == of.price)
            && line.discount.is_none()
            && (said.inclusive == Some(true)) == inclusive
            && (asked.discount.is_none() || asked.discount == said.discount);
        let id = of.id.filter(|id| sources.lefts.lines.contains_key(id))?;
        (source.row.kind.is_priced() && same).then_some((index, id))
    };
    asked.lines.iter().enumerate().filter_map(of_line).collect()
}

/// Gives such lines their shares of the discounts: as percentages where these come to the same, else as amounts.
pub(crate) fn share_discounts(
    direction: Direction,
    asked: &mut TradeAsked,
    unsaid: &[(usize, RecordId)],
    sources: &Sources,
    business: &Business,
) {
    let trades = asked.lines.iter().filter(|line| !line.is_text()).count();
    // A discount of the head is for the other lines as well.
    if unsaid.is_empty() || (asked.discount.is_some() && unsaid.len() < trades) {
        return;
    }
    let Some(code) = asked.currency.clone().or_else(|| Some(business.base_currency.clone())) else { return };
    let rounding = business.settings.rounding_mode.rounding();
    let Some(known) = Currency::of(&code) else { return };
    let coin = Coin { decimals: known.decimals(), rounding };
    let mut lefts: HashMap<RecordId, Left> = sources.lefts.lines.clone();
    let mut shares: Vec<(usize, Money)> = Vec::new();
    let mut headers: Vec<Option<Discount>> = Vec::new();
    let mut percents: Vec<(usize, Option<Discount>)> = Vec::new();
    for (index, origin) in unsaid {
        let (Some(line), Some(left)) = (asked.lines.get(*index), lefts.get_mut(origin)) else { return };
        let Some((source, place)) = sources.terms(direction, asked, line) else { return };
        let quantity = Ord::min(line.quantity(), left.quantity);
        let Ok(share) = left.take(Part::Quantity(quantity), Coins { stated: coin, base: business.coin() }) else {
            return;
        };
        let Ok(gross) = gross(line, coin) else { return };
        shares.push((*index, Ord::min(share.stated.discount, gross)));
        headers.push(source.content.asked.discount);
        percents.push((*index, source.content.asked.lines.get(place).and_then(|of| of.discount)));
    }
    let header = headers.first().copied().flatten().filter(|_| unsaid.len() == trades);
    let header = header.filter(|header| headers.iter().all(|other| other.as_ref() == Some(header)));
    let as_percent = |discount: Discount| if let Discount::Percent(percent) = discount { Some(percent) } else { None };
    let plain = percents.iter().all(|(_, own)| own.is_none_or(|own| as_percent(own).is_some()))
        && (header.is_some() || headers.iter().all(Option::is_none))
        && header.is_none_or(|header| as_percent(header).is_some());
    let own = |index: usize| percents.iter().find(|(place, _)| *place == index).and_then(|(_, own)| *own);
    let by_percent = |index: usize| own(index).and_then(as_percent);
    if plain && come_to(asked, &shares, by_percent, header.and_then(as_percent), coin).unwrap_or(false) {
        asked.discount = header;
        for (index, _) in &shares {
            let discount = own(*index);
            if let Some(line) = asked.lines.get_mut(*index) {
                (line.discount, line.is_share) = (discount, true);
            }
        }
        return;
    }
    asked.discount = None;
    for (index, share) in shares {
        if let Some(line) = asked.lines.get_mut(index) {
            line.discount = Some(share).filter(|share| *share != Money::ZERO).map(Discount::Amount);
            line.is_share = true;
        }
    }
}

fn gross(line: &TradeLineAsked, coin: Coin) -> Result<Money, TooLarge> {
    let Some(price) = line.price else { return Ok(Money::ZERO) };
    Exact::from(line.quantity()).times(price)?.round(coin)
}

fn percent_of(percent: Option<Percent>, amount: Money, coin: Coin) -> Result<Money, TooLarge> {
    let Some(percent) = percent else { return Ok(Money::ZERO) };
    Exact::from(amount).times(percent)?.times(Exact::HUNDREDTH)?.round(coin)
}

/// Whether percentages come to these shares, line by line.
fn come_to(
    asked: &TradeAsked,
    shares: &[(usize, Money)],
    own: impl Fn(usize) -> Option<Percent>,
    header: Option<Percent>,
    coin: Coin,
) -> Result<bool, TooLarge> {
    let mut nets = Vec::new();
    let mut off = Vec::new();
    for (index, _) in shares {
        let Some(line) = asked.lines.get(*index) else { return Ok(false) };
        let gross = gross(line, coin)?;
        let discount = percent_of(own(*index), gross, coin)?;
        nets.push(gross.minus(discount)?);
        off.push(discount);
    }
    let of_header = percent_of(header, Money::sum(nets.iter().copied())?, coin)?;
    if let Some(weights) = Weights::of(nets) {
        for (off, share) in off.iter_mut().zip(of_header.spread(&weights, coin)) {
            *off = off.plus(share)?;
        }
    }
    Ok(off.iter().zip(shares).all(|(off, (_, share))| off == share))
}
