//! Goods that came back, by the invoices that billed them: a line for each line that billed them, so that each part is credited
//! as it was billed, at its price, its tax code, its rates and off the account that earned it.
//!
//! A note is in one currency. What was billed in another is credited by a note of its own, and never by guessing.

use super::sources::{Bill, Sources};
use crate::error::FieldErrors;
use crate::ids::RecordId;
use crate::money::Quantity;
use crate::parts::draft::Parted;
use crate::parts::line::{TaxChoice, TradeLineAsked};
use crate::parts::{Direction, NoteKind, TradeAsked};
use books::progress::{less, negated};
use rules::tax::figures::Discount;
use std::collections::{BTreeMap, HashMap};
use words::sums::Sums as _;

/// Pieces of a line that one line of an invoice billed.
struct Pieces<'s> {
    quantity: Quantity,
    bill: Bill<'s>,
}

/// Parts the lines of a credit as the goods were billed that they credit.
pub(crate) fn part(direction: Direction, asked: &mut TradeAsked, sources: &Sources) -> Result<(), FieldErrors> {
    if !direction.credits() {
        return Ok(());
    }
    if asked.lines.iter().any(|line| !sources.bills(line).is_empty()) {
        let first = asked.lines.iter().find_map(|line| sources.terms(direction, asked, line));
        let currency = first.map(|(source, _)| source.row.currency.clone());
        asked.currency = asked.currency.take().or(currency);
    }
    let mut faults = FieldErrors::default();
    let mut parting = Parting { direction, asked, sources, taken: HashMap::new() };
    let mut parts: BTreeMap<usize, Vec<TradeLineAsked>> = BTreeMap::new();
    // What is of a line of an invoice already takes its part before the others look for theirs.
    let (known, new): (Vec<_>, Vec<_>) =
        asked.lines.iter().enumerate().partition(|(_, line)| line.stays || line.billed.is_some());
    for (index, line) in known.into_iter().chain(new) {
        match parting.line(line) {
            Ok(lines) => drop(parts.insert(index, lines)),
            Err((field, why)) => faults.add(format!("lines[{index}].{field}"), why),
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    // Each line stays in its place; what it was parted into besides comes behind all of them.
    let (mut lines, mut more) = (Vec::new(), Vec::new());
    for own in parts.into_values() {
        let mut own = own.into_iter();
        lines.extend(own.next());
        more.extend(own);
    }
    let mut parted = std::mem::take(&mut asked.parted);
    for line in &mut more {
        let same = |(source, billed, _): &Parted| (*source, *billed) == (line.source_line, line.billed);
        line.id = parted.iter().position(same).map(|place| parted.swap_remove(place).2);
    }
    asked.lines = lines;
    asked.lines.extend(more);
    Ok(())
}

/// What is wrong with a line of which nothing was billed as it says.
pub(crate) fn fault(
    direction: Direction,
    asked: &TradeAsked,
    line: &TradeLineAsked,
    sources: &Sources,
) -> Option<(&'static str, String)> {
    let bills = sources.bills(line);
    let first = bills.first().filter(|_| direction.credits() && sources.credited(asked, line).is_empty())?;
    let is_own = |bill: &Bill<'_>| asked.currency.as_ref() == Some(&bill.source.row.currency);
    Some(if bills.iter().any(is_own) {
        ("taxCodeId", "must be that of the line it credits; leave it out".into())
    } else {
        ("sourceLineId", format!("was billed in {}: credit it in that currency", first.source.row.currency))
    })
}

type Refused = (&'static str, String);

struct Parting<'p> {
    direction: Direction,
    asked: &'p TradeAsked,
    sources: &'p Sources,
    /// What the lines before took of the invoices.
    taken: HashMap<RecordId, Quantity>,
}

impl<'p> Parting<'p> {
    fn line(&mut self, line: &TradeLineAsked) -> Result<Vec<TradeLineAsked>, Refused> {
        let stays = line.stays;
        let bills = self.sources.bills(line);
        // What billed it may have left the books since.
        let billed = line.billed.filter(|own| bills.iter().any(|bill| bill.id() == Some(*own)));
        let line = &TradeLineAsked { billed, stays: false, ..line.clone() };
        let whole = || vec![line.clone()];
        let Some(followed) = self.sources.line(line).filter(|_| !bills.is_empty()) else { return Ok(whole()) };
        let wanted = line.quantity.unwrap_or(followed.open());
        let (mut pieces, rest) = self.find(line, wanted);
        // A rebate is of an amount, and not of so many pieces.
        if stays || self.asked.note_kind == Some(NoteKind::PriceAdjustment) {
            return Ok(whole());
        }
        if rest > Quantity::ZERO {
            self.check_elsewhere(line, less(wanted, rest))?;
            // More than was billed is asked for as it is, so that it is refused with its figures.
            if let Some(last) = pieces.last_mut() {
                last.quantity = less(last.quantity, negated(rest));
            }
        }
        if pieces.is_empty() {
            return Ok(whole());
        }
        let several = pieces.len() > 1;
        let takes_off = matches!(line.discount, Some(Discount::Amount(_)));
        for (is_said, field) in [(line.stated_tax.is_some(), "taxAmount"), (takes_off, "discountAmount")] {
            if several && is_said {
                let why = "is said of goods that several lines billed; leave it out, or make a line of each";
                return Err((field, why.into()));
            }
        }
        // What is written off is a loss, and not taken off what was earned.
        let writes_off = self.asked.note_kind == Some(NoteKind::WriteOff);
        let earns = self.direction.is_sale() && !writes_off;
        let of = |(place, piece): (usize, Pieces<'_>)| TradeLineAsked {
            id: line.id.filter(|_| place == 0),
            quantity: if several { Some(piece.quantity) } else { line.quantity },
            tax: if line.tax == TaxChoice::Unsaid { piece.bill.line().tax } else { line.tax },
            account: line.account.or(piece.bill.line().account.filter(|_| earns)),
            billed: piece.bill.id(),
            ..line.clone()
        };
        Ok(pieces.into_iter().enumerate().map(of).collect())
    }

    fn left(&self, bill: &Bill<'_>) -> Quantity {
        let left = self.sources.pieces_left(bill);
        bill.id().map_or(left, |id| less(left, self.taken.sum_of(&id)))
    }

    /// The pieces of a line, those first that it is of already, then those that were billed first; and how many are left of
    /// which no invoice suits.
    fn find(&mut self, line: &TradeLineAsked, wanted: Quantity) -> (Vec<Pieces<'p>>, Quantity) {
        let (mut pieces, mut rest) = (Vec::new(), wanted);
        let mut credited = self.sources.credited(self.asked, &TradeLineAsked { billed: None, ..line.clone() });
        credited.sort_by_key(|bill| line.billed.is_some() && bill.id() != line.billed);
        for bill in credited {
            let takes = Ord::min(self.left(&bill), rest);
            let Some(id) = bill.id().filter(|_| takes > Quantity::ZERO) else { continue };
            let taken = self.taken.entry(id).or_insert(Quantity::ZERO);
            *taken = less(*taken, negated(takes));
            rest = less(rest, takes);
            pieces.push(Pieces { quantity: takes, bill });
        }
        (pieces, rest)
    }

    /// Refuses what was billed in another currency than that of the note, where it is more than is left in that one.
    fn check_elsewhere(&self, line: &TradeLineAsked, own: Quantity) -> Result<(), Refused> {
        let Some(currency) = &self.asked.currency else { return Ok(()) };
        let any = TradeAsked::default();
        let mut others: BTreeMap<&str, Quantity> = BTreeMap::new();
        for bill in self.sources.credited(&any, line) {
            let left = self.left(&bill);
            if bill.source.row.currency != *currency && left > Quantity::ZERO {
                let sum = others.entry(&bill.source.row.currency).or_insert(Quantity::ZERO);
                *sum = less(*sum, negated(left));
            }
        }
        if others.is_empty() {
            return Ok(());
        }
        let billed: Vec<String> = others.iter().map(|(other, left)| format!("{left} in {other}")).collect();
        let billed = billed.join(" and ");
        let why = format!(
            "must be at most {own} in {currency}: {billed} were billed; credit each currency by a note of its own, \
             and name the line and its quantity in each"
        );
        Err(("quantity", why))
    }
}
