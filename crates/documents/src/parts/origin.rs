//! A document of which others were made: what of it stays while they are there.

use super::derivation::{Source, Sources};
use super::lefts::{Taker, Whole, credits_of, too_large, whole_lines};
use super::{Direction, Trade, TradeAsked, TradeFigures, TradeKind};
use crate::day::Day;
use crate::document::Edition;
use crate::error::{Code, Conflict, Error, FieldErrors, Result};
use crate::ids::RecordId;
use answers::Ask;
use books::cx::Cx;
use rules::left::{Left, Share};
use schema::tables::{document_lines, documents};
use sea_orm::{ColumnTrait, QueryFilter, QuerySelect};
use std::collections::{HashMap, HashSet};
use words::exact::TooLarge;
use words::portion::Portion;
use words::sown::{Fault, sown};

fn numbers(credits: &[Taker]) -> String {
    let number = |credit: &Taker| {
        let number = credit.row.number.as_deref()?;
        Some(credit.row.void_date.map_or_else(|| number.to_owned(), |until| format!("{number} until {until}")))
    };
    credits.iter().filter_map(number).collect::<Vec<_>>().join(", ")
}

/// Refuses to let go of what notes credit on that day or later.
pub(crate) async fn goes(cx: &Cx<'_>, row: &documents::Model, day: Day) -> Result<()> {
    let credits = credits_of(cx, &[row.id], day).await?;
    if credits.is_empty() {
        return Ok(());
    }
    if let Some(until) = credits.iter().map(|credit| credit.row.void_date).min().flatten() {
        let until = credits.iter().filter_map(|credit| credit.row.void_date).fold(until, Ord::max);
        let title = format!("It is credited by {}; void it on {until} or later", numbers(&credits));
        return Err(Error::Conflict(Conflict {
            code: Code::InUse,
            title,
            errors: FieldErrors::one("date", format!("must not be before {until}, until when it was credited")),
        }));
    }
    Err(Error::conflict(Code::InUse, format!("It is credited by {}; void what credits it first", numbers(&credits))))
}

/// What returns or credits is not before what it returns or credits.
pub(crate) fn check_day(
    direction: Direction,
    date: Day,
    asked: &TradeAsked,
    sources: &Sources,
    credited: impl Iterator<Item = RecordId>,
) -> Result<()> {
    let returns = direction.is_goods() && asked.is_return;
    if !returns && !direction.credits() {
        return Ok(());
    }
    let of_lines = asked.lines.iter().filter_map(|line| sources.line(line)).map(|line| line.document_id);
    let origins = asked.source.into_iter().chain(of_lines).chain(credited).filter_map(|id| sources.document(id));
    match origins.map(|source| &source.row).max_by_key(|row| row.date) {
        Some(row) if date < row.date => {
            let does = if returns { "returns" } else { "credits" };
            let number = row.number.as_deref().unwrap_or("");
            Err(Error::field("date", format!("must not be before {}, the day of {number}, which it {does}", row.date)))
        }
        _ => Ok(()),
    }
}

/// The day for which it is taxed.
fn taxed<K: TradeKind>(edition: &Edition<'_, Trade<K>>) -> Day {
    edition.asked.tax_date.unwrap_or(edition.date)
}

/// Refuses a new version of which less is left than nothing: what was made of the old one stays as it is.
pub(crate) async fn outlasts<K: TradeKind>(
    cx: &Cx<'_>,
    direction: Direction,
    old: Edition<'_, Trade<K>>,
    new: Edition<'_, Trade<K>>,
) -> Result<()> {
    if !direction.bills() {
        return keeps_terms(cx, &old, &new).await;
    }
    if direction.credits() {
        return Ok(());
    }
    let credits = credits_of(cx, &[new.id], new.date).await?;
    if credits.is_empty() || sown(Fault::OriginFallsBelow) {
        return Ok(());
    }
    let by = numbers(&credits);
    let mut errors = FieldErrors::default();
    let party = if direction.is_sale() { "customer" } else { "supplier" };
    for (changed, field, what) in [
        (old.asked.party != new.asked.party, "partyId", party),
        (old.asked.currency != new.asked.currency, "currency", "currency"),
        (old.asked.exchange_rate != new.asked.exchange_rate, "exchangeRate", "exchange rate"),
        (old.asked.inclusive != new.asked.inclusive, "pricesIncludeTax", "kind of prices"),
        (taxed(&old) != taxed(&new), "taxDate", "tax date"),
    ] {
        if changed {
            errors.add(field, format!("must keep its {what}: it is credited by {by}"));
        }
    }
    if let Some(first) = credits.iter().map(|credit| credit.row.date).min().filter(|first| *first < new.date)
        && old.date != new.date
    {
        errors.add("date", format!("must not be after {first}: it is credited by {by}"));
    }
    check_lines((old.asked, new.asked), new.figures, &credits, &mut errors)?;
    if !cx.business()?.settings.allow_overcredit
        && is_over(new.id, new.asked, new.figures, &credits).map_err(too_large)?
    {
        errors.add("lines", format!("must come to at least what {by} credits, tax code by tax code"));
    }
    if errors.is_empty() {
        return Ok(());
    }
    let title = format!("It is credited by {by}; void that first, or change less");
    Err(Error::Conflict(Conflict { code: Code::InUse, title, errors }))
}

/// What was delivered or invoiced of an order or a note has its terms: these stay.
async fn keeps_terms<K: TradeKind>(
    cx: &Cx<'_>,
    old: &Edition<'_, Trade<K>>,
    new: &Edition<'_, Trade<K>>,
) -> Result<()> {
    let followers = document_lines::Entity::find()
        .select_only()
        .column(document_lines::Column::SourceLineId)
        .filter(document_lines::Column::BusinessId.eq(cx.business_id()?))
        .filter(document_lines::Column::SourceLineId.is_in(old.asked.lines.iter().filter_map(|line| line.id)));
    let touched = followers.column_of::<Option<RecordId>>(&cx.db).await?;
    let touched: HashSet<RecordId> = touched.into_iter().flatten().collect();
    if touched.is_empty() {
        return Ok(());
    }
    let mut errors = FieldErrors::default();
    for (changed, field, what) in [
        (old.asked.party != new.asked.party, "partyId", "party"),
        (old.asked.currency != new.asked.currency, "currency", "currency"),
        (old.asked.inclusive != new.asked.inclusive, "pricesIncludeTax", "kind of prices"),
    ] {
        if changed {
            errors.add(field, format!("must keep its {what}: other documents follow it"));
        }
    }
    for (place, line) in new.asked.lines.iter().enumerate() {
        let Some(id) = line.id.filter(|id| touched.contains(id)) else { continue };
        let before = old.asked.lines.iter().find(|known| known.id == Some(id));
        if before.is_some_and(|before| before.tax.code() != line.tax.code()) {
            errors.add(format!("lines[{place}].taxCodeId"), "must stay: other documents follow the line");
        }
    }
    if errors.is_empty() {
        return Ok(());
    }
    Err(Error::Conflict(Conflict { code: Code::InUse, title: "Other documents follow it".into(), errors }))
}

/// Each line that was credited must still hold what was taken of it.
fn check_lines(
    (old, new): (&TradeAsked, &TradeAsked),
    figures: &TradeFigures,
    credits: &[Taker],
    errors: &mut FieldErrors,
) -> Result<()> {
    let whole = whole_lines(new, figures)?;
    let mut taken: HashMap<RecordId, (Share, String)> = HashMap::new();
    for credit in credits {
        for took in credit.content.figures.lines.iter().flat_map(|kept| &kept.took) {
            let (so_far, by) = taken.entry(took.of).or_insert_with(|| (Share::default(), String::new()));
            let number = credit.row.number.as_deref().unwrap_or("");
            by.push_str(if by.is_empty() { "" } else { ", " });
            by.push_str(number);
            *so_far = so_far.with(&took.share).map_err(too_large)?;
        }
    }
    let code = |asked: &TradeAsked, id: RecordId| {
        asked.lines.iter().find(|line| line.id == Some(id)).map(|line| (line.tax.code(), line.item))
    };
    for line in old.lines.iter().filter_map(|line| line.id) {
        let Some((share, by)) = taken.get(&line) else { continue };
        let Some(place) = new.lines.iter().position(|known| known.id == Some(line)) else {
            errors.add("lines", format!("must keep the line {line}, which {by} credits"));
            continue;
        };
        if code(old, line) != code(new, line) {
            errors.add(
                format!("lines[{place}].taxCodeId"),
                format!("must stay, and the item too: {by} credits the line"),
            );
        }
        if !whole.get(&line).is_some_and(|whole| holds(whole, share).unwrap_or(false)) {
            let (quantity, amount) = (share.quantity, share.stated.amount().map_err(too_large)?);
            let why = format!("must hold the {quantity} and the {amount} with their tax that {by} credits");
            errors.add(format!("lines[{place}].quantity"), why);
        }
    }
    Ok(())
}

fn holds(whole: &Left, share: &Share) -> Result<bool, TooLarge> {
    let tax = |component: RecordId| whole.stated.taxes.iter().find(|tax| tax.component == component);
    let taxes = share.stated.taxes.iter().all(|part| {
        tax(part.component).map_or(part.amount.units() == 0, |tax| Portion::of(part.amount, tax.amount).is_some())
    });
    Ok(taxes
        && Portion::of(share.quantity, whole.quantity).is_some()
        && Portion::of(share.stated.amount()?, whole.stated.amount()?).is_some()
        && Portion::of(share.stated.net()?, whole.stated.net()?).is_some())
}

/// Whether more is credited of an invoice, as it is to be, than it comes to.
fn is_over(id: RecordId, asked: &TradeAsked, figures: &TradeFigures, credits: &[Taker]) -> Result<bool, TooLarge> {
    let mut whole = Whole::of(asked, figures)?;
    let codes = Source::codes(asked);
    for credit in credits {
        whole.without(&credit.content, Some(id), &codes)?;
    }
    // What names lines is bound by these.
    if !whole.is_shared {
        return Ok(false);
    }
    let mut over = whole.net.is_negative();
    for pool in whole.pools.values() {
        over |= pool.left.stated.charged()?.is_negative();
    }
    Ok(over)
}
