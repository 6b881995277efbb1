//! What the lines of a note come to that credit lines of invoices: shares of what is left, and nothing computed anew.
//!
//! A line that says nothing but a quantity takes its share of price, discounts, taxes and what they were worth; one with a
//! price of its own takes the taxes by its amount. What names the invoice and none of its lines is bound by what is left of
//! the whole.

mod tests;

use super::Direction;
use super::derivation::Sources;
use super::lefts::{Lefts, Pool, too_large};
use super::line::{Took, TradeLineAsked};
use super::posting::{Exchange, InBase};
use super::rounded::{Rounded, of_next};
use super::work_out::refused;
use super::{NoteKind, TradeAsked};
use crate::document::Purpose;
use crate::error::{Code, Conflict, Error, FieldErrors, Result};
use crate::ids::RecordId;
use crate::money::{BookMoney, Money, Quantity, UnitPrice};
use books::access::Business;
use rules::left::{Coins, Left, OverTaken, Part, Share};
use rules::tax::figures::{Discount, LineFigures, LineTax, Priced, Rules, Totals, compute};
use std::collections::{BTreeMap, HashMap};
use words::exact::{BookCoin, Exact, TooLarge};
use words::sown::{Fault, sown};

/// What the lines come to, and what of them was given by what they credit.
pub(crate) struct Worked {
    pub(crate) figures: Vec<LineFigures>,
    pub(crate) totals: Totals,
    /// What of the rounding is for which invoice that it credits.
    pub(crate) rounded: Vec<Rounded>,
    given: HashMap<usize, Given>,
    /// What the lines come to that are computed by themselves.
    own: Option<(Vec<LineFigures>, Totals)>,
}

/// A line that is a share.
struct Given {
    figures: LineFigures,
    base: rules::left::Parts<BookMoney>,
    took: Vec<Took>,
}

/// What says how a note is worked out.
pub(crate) struct Working<'w> {
    pub(crate) direction: Direction,
    pub(crate) asked: &'w TradeAsked,
    pub(crate) business: &'w Business,
    pub(crate) sources: &'w Sources,
    pub(crate) rules: &'w Rules,
    pub(crate) purpose: Purpose,
}

impl Worked {
    /// The same in the company's currency: shares are what they were worth, the rest is worth what the rate says.
    pub(crate) fn in_base(&self, exchange: &Exchange<'_>) -> Result<InBase, TooLarge> {
        let Some((figures, totals)) = &self.own else {
            return InBase::of(&self.figures, &self.totals, exchange).map_err(|_| TooLarge);
        };
        let mut base = InBase::of(figures, totals, exchange).map_err(|_| TooLarge)?;
        for (index, given) in &self.given {
            if let Some(net) = base.nets.get_mut(*index) {
                *net = given.base.net()?;
            }
            if let Some(taxes) = base.taxes.get_mut(*index) {
                let amount = |tax: &LineTax| {
                    let same = given.base.taxes.iter().filter(|part| part.component == tax.component);
                    same.map(|part| part.amount).next().ok_or(TooLarge)
                };
                *taxes = given.figures.taxes.iter().map(amount).collect::<Result<_, TooLarge>>()?;
            }
            base.total = base.total.plus(given.base.total()?)?;
        }
        Ok(base)
    }

    /// The lines of which something was taken.
    pub(crate) fn credits(&self) -> impl Iterator<Item = RecordId> + '_ {
        self.given.values().flat_map(|given| &given.took).map(|took| took.of)
    }

    /// What a line took of the lines that it credits.
    pub(crate) fn took(&self, index: usize) -> Vec<Took> {
        self.given.get(&index).map_or_else(Vec::new, |given| given.took.clone())
    }
}

/// Works out what a document comes to.
pub(crate) fn work_out(working: &Working<'_>, priced: &[Priced<'_>]) -> Result<Worked> {
    let header = working.asked.discount;
    let lefts = &working.sources.lefts;
    if !working.direction.credits() || (lefts.lines.is_empty() && lefts.named.is_none()) {
        let (figures, totals) = compute(working.rules, priced, header).map_err(refused)?;
        return Ok(Worked { figures, totals, rounded: Vec::new(), given: HashMap::new(), own: None });
    }
    let mut sharing = Sharing {
        working,
        lefts: lefts.clone(),
        given: HashMap::new(),
        faults: FieldErrors::default(),
        strange: FieldErrors::default(),
    };
    for (index, line) in taken_off_first(working.lines(), |_, line| line.is_share && sharing.takes_off(line)) {
        if line.is_share {
            sharing.share(index, line)?;
        }
    }
    let (plain, _) = sharing.computed(without(priced, &sharing.given), header)?;
    for (index, line) in
        taken_off_first(working.lines(), |index, _| plain.get(index).is_some_and(|own| own.net.is_negative()))
    {
        let Some(own) = plain.get(index).filter(|_| !sharing.given.contains_key(&index)) else { continue };
        if line.source_line.is_some() && !line.is_share {
            sharing.stated(index, line, own)?;
        } else if line.source_line.is_none() {
            sharing.against_the_whole(index, line, own)?;
        }
    }
    sharing.finish(priced, &plain)
}

impl Working<'_> {
    fn lines(&self) -> impl Iterator<Item = (usize, &TradeLineAsked)> {
        self.asked.lines.iter().enumerate().filter(|(_, line)| !line.is_text())
    }

    fn coins(&self) -> Coins {
        let base = BookCoin::new(self.business.currency_decimals, self.rules.rounding);
        Coins { stated: self.rules.coin(), base }
    }

    /// Whether more than is left is refused.
    fn is_bound(&self) -> bool {
        self.purpose == Purpose::Posting && !self.business.settings.allow_overcredit
    }
}

/// What takes something off, such as a coupon, comes before what it was taken off: without it more would be credited
/// than the whole came to, in whatever order the lines stand.
fn taken_off_first<'l>(
    lines: impl Iterator<Item = (usize, &'l TradeLineAsked)>,
    takes_off: impl Fn(usize, &TradeLineAsked) -> bool,
) -> Vec<(usize, &'l TradeLineAsked)> {
    let (mut first, rest): (Vec<_>, Vec<_>) =
        lines.partition(|(index, line)| takes_off(*index, line) && !sown(Fault::CouponsComeLast));
    first.extend(rest);
    first
}

/// The lines as they are priced, without those that are given.
fn without<'t>(priced: &[Priced<'t>], given: &HashMap<usize, Given>) -> Vec<Priced<'t>> {
    let blank = Priced { quantity: Quantity::ZERO, price: UnitPrice::ZERO, discount: None, tax: None, stated: None };
    priced.iter().enumerate().map(|(index, line)| if given.contains_key(&index) { blank } else { *line }).collect()
}

struct Sharing<'s> {
    working: &'s Working<'s>,
    lefts: Lefts,
    given: HashMap<usize, Given>,
    /// What is too much.
    faults: FieldErrors,
    /// What cannot be so.
    strange: FieldErrors,
}

impl Sharing<'_> {
    /// What the lines come to that are no shares. One that takes something off, such as a fee for what comes back, takes
    /// it off the shares as well, so these stand beside the others in one sum.
    fn computed(&self, mut rest: Vec<Priced<'_>>, header: Option<Discount>) -> Result<(Vec<LineFigures>, Totals)> {
        let rules = Rules { increment: None, ..*self.working.rules };
        let given = self.given.values().map(|given| given.figures.net.plus(given.figures.tax));
        let given = given.collect::<Result<Vec<Money>, TooLarge>>().and_then(Money::sum).map_err(too_large)?;
        let price = Exact::from(given).nearest_units::<UnitPrice>().map(UnitPrice::from_units);
        let stands_in = header.is_none().then_some(price).and_then(Result::ok).filter(|_| given > Money::ZERO);
        if let Some(price) = stands_in {
            rest.push(Priced {
                quantity: Quantity::from_units(1_000_000),
                price,
                discount: None,
                tax: None,
                stated: None,
            });
        }
        let (mut figures, mut totals) = compute(&rules, &rest, header).map_err(refused)?;
        if stands_in.is_some() {
            figures.pop();
            for of in [&mut totals.subtotal, &mut totals.net, &mut totals.total] {
                *of = of.minus(given).map_err(too_large)?;
            }
        }
        Ok((figures, totals))
    }

    /// Whether a line is a share of something that takes off.
    fn takes_off(&self, line: &TradeLineAsked) -> bool {
        let origins = self.working.sources.origins(self.working.asked, line);
        let first = origins.first().and_then(|id| self.lefts.lines.get(id));
        first.and_then(|left| left.stated.amount().ok()).is_some_and(Money::is_negative)
    }

    fn refuse(&mut self, index: usize, field: &str, why: impl Into<String>) {
        if self.working.is_bound() {
            self.faults.add(format!("lines[{index}].{field}"), why.into());
        }
    }

    fn over(&mut self, index: usize, over: OverTaken) {
        match over {
            OverTaken::Quantity(left) => {
                let left = Ord::max(left, Quantity::ZERO);
                self.refuse(index, "quantity", format!("must be at most {left}, what is left to credit"));
            }
            OverTaken::Amount(_) => {
                self.refuse(index, "unitPrice", "comes to more than what is left to credit of the line");
            }
        }
    }

    /// Takes a part of the lines that a line credits, one after the other.
    fn take(&mut self, origins: &[RecordId], part: Part) -> Result<Vec<Took>, OverTaken> {
        let coins = self.working.coins();
        let (mut quantity, mut amount) = match part {
            Part::Quantity(quantity) => (Some(quantity), None),
            Part::Amount(amount) => (None, Some(amount)),
            Part::Both(quantity, amount) => (Some(quantity), Some(amount)),
        };
        let mut lefts: HashMap<RecordId, Left> = HashMap::new();
        let mut taken = Vec::new();
        for (place, id) in origins.iter().enumerate() {
            let Some(left) = self.lefts.lines.get(id) else { continue };
            let (mut left, is_last) = (left.clone(), place + 1 == origins.len());
            let there = left.stated.amount().map_err(|TooLarge| OverTaken::Amount(left.stated.gross))?;
            let pieces = quantity.map(|wanted| if is_last { wanted } else { Ord::min(wanted, left.quantity) });
            let money = amount.map(|wanted| if is_last { wanted } else { Ord::min(wanted, there) });
            let is_nothing =
                pieces.is_none_or(|pieces| pieces == Quantity::ZERO) && money.is_none_or(|money| money == Money::ZERO);
            if is_nothing && !is_last {
                // All of it was credited before: it says nothing of the rest either.
                continue;
            }
            let part = match (pieces, money) {
                (Some(pieces), Some(money)) => Part::Both(pieces, money),
                (Some(pieces), None) => Part::Quantity(pieces),
                (None, Some(money)) => Part::Amount(money),
                // Nothing is asked of it.
                (None, None) => continue,
            };
            let share = left.take(part, coins)?;
            quantity = quantity.zip(pieces).map(|(wanted, taken)| Quantity::from_units(wanted.units() - taken.units()));
            amount = amount.zip(money).map(|(wanted, taken)| Money::from_units(wanted.units() - taken.units()));
            if share != Share::default() {
                taken.push(Took { of: *id, share });
            }
            lefts.insert(*id, left);
            if quantity.is_none_or(|left| left == Quantity::ZERO) && amount.is_none_or(|left| left == Money::ZERO) {
                break;
            }
        }
        self.lefts.lines.extend(lefts);
        Ok(taken)
    }

    /// A line that is the share of a quantity.
    fn share(&mut self, index: usize, line: &TradeLineAsked) -> Result<()> {
        let origins = self.working.sources.origins(self.working.asked, line);
        if origins.is_empty() {
            return Ok(());
        }
        match self.take(&origins, Part::Quantity(line.quantity())) {
            Ok(took) => self.give(index, line, took, None),
            Err(over) => {
                self.over(index, over);
                Ok(())
            }
        }
    }

    /// A line with a price of its own: taxes go by its amount, pieces by themselves.
    fn stated(&mut self, index: usize, line: &TradeLineAsked, own: &LineFigures) -> Result<()> {
        let origins = self.working.sources.origins(self.working.asked, line);
        let Some(origin) = origins.first().and_then(|id| self.lefts.lines.get(id)) else { return Ok(()) };
        let inclusive = self.working.rules.inclusive;
        let amount = match (inclusive, origin.stated.inclusive) {
            (_, true) => own.net.plus(own.tax),
            (true, false) => Ok(own.net),
            (false, false) => own.gross.minus(own.discount),
        };
        let amount = amount.map_err(too_large)?;
        let part = if self.working.asked.note_kind == Some(NoteKind::PriceAdjustment) {
            Part::Amount(amount)
        } else {
            Part::Both(line.quantity(), amount)
        };
        match self.take(&origins, part) {
            Ok(took) => self.give(index, line, took, Some(own)),
            Err(over) => {
                self.over(index, over);
                Ok(())
            }
        }
    }

    fn give(&mut self, index: usize, line: &TradeLineAsked, took: Vec<Took>, own: Option<&LineFigures>) -> Result<()> {
        let Some(first) = took.first() else { return Ok(()) };
        let mut share = Share {
            stated: rules::left::Parts { inclusive: first.share.stated.inclusive, ..Default::default() },
            base: rules::left::Parts { inclusive: first.share.base.inclusive, ..Default::default() },
            ..Share::default()
        };
        for one in &took {
            share = share.with(&one.share).map_err(too_large)?;
        }
        let Some((taxes, net)) = self.working.sources.taxes_of(first.of) else { return Ok(()) };
        let figures = figures_of(&share, (taxes, net), self.working.rules.inclusive, own).map_err(too_large)?;
        if let Some(said) = line.stated_tax.filter(|said| *said != figures.tax) {
            let why = format!("is {said}, and the share of the tax is {}; leave it out", figures.tax);
            self.strange.add(format!("lines[{index}].taxAmount"), why);
        }
        if self.against_whole_is_over(&took).map_err(too_large)? {
            self.refuse(index, "unitPrice", "comes to more than what is left to credit of the invoice");
        }
        self.given.insert(index, Given { figures, base: share.base, took });
        Ok(())
    }

    /// What names a line, or goods that came back of it, is bound by what is left of the whole invoice as well where
    /// something of that was credited without a line. Else each line is bound by itself, and what is left of the others may
    /// be less than nothing: a coupon, or a price below the excise in it.
    fn against_whole_is_over(&mut self, took: &[Took]) -> Result<bool, TooLarge> {
        let mut is_over = false;
        for one in took {
            let Some((invoice, code)) = self.lefts.codes.get(&one.of) else { continue };
            let Some(whole) = self.lefts.wholes.get_mut(invoice) else { continue };
            whole.lose(*code, &one.share)?;
            let bound = whole.is_shared || sown(Fault::LineBoundByWhole);
            is_over |= bound && (whole.net.is_negative() || whole.tax_left(*code)?.is_negative());
        }
        Ok(is_over)
    }

    /// A line that names no line of the invoice that the head names.
    fn against_the_whole(&mut self, index: usize, line: &TradeLineAsked, own: &LineFigures) -> Result<()> {
        let Some(named) = self.lefts.named else { return Ok(()) };
        let Some(mut whole) = self.lefts.wholes.get(&named).cloned() else { return Ok(()) };
        let code = line.tax.code();
        if own.net > whole.net && !sown(Fault::CreditWithoutBound) {
            let left = Ord::max(whole.net, Money::ZERO);
            let why = format!("comes to more than the {left} that are left to credit of the invoice");
            self.refuse(index, "unitPrice", why);
            return Ok(());
        }
        let amount = if whole.inclusive { own.net.plus(own.tax) } else { Ok(own.net) }.map_err(too_large)?;
        let coins = self.working.coins();
        let shared = whole
            .pools
            .get_mut(&code)
            .and_then(|pool| Some((pool.left.take(Part::Amount(amount), coins).ok()?, &*pool)));
        if let Some((share, Pool { taxes, net, .. })) = shared {
            let figures =
                figures_of(&share, (taxes, *net), self.working.rules.inclusive, Some(own)).map_err(too_large)?;
            whole.net = whole.net.minus(figures.net).map_err(too_large)?;
            self.given.insert(index, Given { figures, base: share.base, took: Vec::new() });
        } else {
            if own.tax > whole.tax_left(code).map_err(too_large)? {
                self.refuse(index, "taxCodeId", "comes to more tax than is left to credit of the invoice");
            }
            whole.net = whole.net.minus(own.net).map_err(too_large)?;
            if let Some(pool) = whole.pools.get_mut(&code).filter(|_| own.tax.is_negative()) {
                pool.back = pool.back.minus(own.tax).map_err(too_large)?;
            }
        }
        whole.is_shared = true;
        self.lefts.wholes.insert(named, whole);
        Ok(())
    }

    /// What the note is rounded by, invoice by invoice, and what it comes to then. What is of no invoice is rounded with it.
    fn rounded(&self, figures: &[LineFigures]) -> Result<(Vec<Rounded>, Money), TooLarge> {
        let increment = self.working.rules.increment;
        let mut credited: BTreeMap<RecordId, Money> = BTreeMap::new();
        let (mut total, mut of_none) = (Money::ZERO, Money::ZERO);
        for (index, line) in figures.iter().enumerate() {
            let own = line.net.plus(line.tax)?;
            total = total.plus(own)?;
            let took = self.given.get(&index).map_or(&[][..], |given| given.took.as_slice());
            let parts = took.iter().map(|one| {
                let invoice = self.lefts.codes.get(&one.of).map(|(invoice, _)| *invoice);
                Ok((invoice, one.share.stated.total()?))
            });
            let mut parts = parts.collect::<Result<Vec<_>, TooLarge>>()?;
            if parts.is_empty() {
                parts.push((self.lefts.named, own));
            }
            for (invoice, part) in parts {
                let sum = invoice.map_or(&mut of_none, |invoice| credited.entry(invoice).or_insert(Money::ZERO));
                *sum = sum.plus(part)?;
            }
        }
        let mut rounded = Vec::new();
        for (invoice, credited) in credited {
            let Some(whole) = self.lefts.wholes.get(&invoice) else { continue };
            let by = of_next((whole.charged, whole.uncredited), credited, increment)?;
            total = total.plus(by)?;
            rounded.push(Rounded { of: invoice, by });
        }
        if of_none != Money::ZERO {
            total = increment.map_or(Ok(total), |increment| total.to_increment(increment))?;
        }
        if rounded.iter().all(|one| one.by == Money::ZERO) && of_none == Money::ZERO {
            rounded.clear();
        }
        Ok((rounded, total))
    }

    fn finish(mut self, priced: &[Priced<'_>], plain: &[LineFigures]) -> Result<Worked> {
        if !self.faults.is_empty() {
            let title = "More would be credited than was invoiced".into();
            return Err(Error::Conflict(Conflict { code: Code::OverCredit, title, errors: self.faults }));
        }
        if !self.strange.is_empty() && self.working.purpose == Purpose::Posting {
            return Err(std::mem::take(&mut self.strange).into());
        }
        // The discount of the head is shared already, among those that it is for.
        let mut rest = without(priced, &self.given);
        for (line, plain) in rest.iter_mut().zip(plain) {
            line.discount = Some(plain.discount).filter(|off| *off != Money::ZERO).map(Discount::Amount);
        }
        for index in self.given.keys() {
            if let Some(line) = rest.get_mut(*index) {
                line.discount = None;
            }
        }
        let (own, own_totals) = self.computed(rest, None)?;
        let mut figures = own.clone();
        for (index, given) in &self.given {
            if let Some(line) = figures.get_mut(*index) {
                line.clone_from(&given.figures);
            }
        }
        let (rounded, total) = self.rounded(&figures).map_err(too_large)?;
        let totals = totals(&figures, total).map_err(too_large)?;
        // The coins that cash is rounded by are nobody's share.
        let own_total = own_totals.total.plus(totals.rounding).map_err(too_large)?;
        let own_totals = Totals { rounding: totals.rounding, total: own_total, ..own_totals };
        Ok(Worked { figures, totals, rounded, given: self.given, own: Some((own, own_totals)) })
    }
}

/// A share as the figures of a line. The rates are those of what it is a share of.
fn figures_of(
    share: &Share,
    (taxes, net): (&[LineTax], Money),
    inclusive: bool,
    own: Option<&LineFigures>,
) -> Result<LineFigures, TooLarge> {
    let stated = &share.stated;
    let mut figures = LineFigures { net: stated.net()?, ..LineFigures::default() };
    (figures.gross, figures.discount) = match own {
        Some(own) => (own.gross, own.discount),
        None if stated.inclusive == inclusive => (stated.gross, stated.discount),
        None if inclusive => (stated.total()?, Money::ZERO),
        None => (figures.net, Money::ZERO),
    };
    for tax in taxes {
        let Some(part) = stated.taxes.iter().find(|part| part.component == tax.component) else { continue };
        // A compound one stands on the net and the tax before it.
        let base = if tax.base == net { figures.net } else { figures.net.plus(figures.tax)? };
        if part.charged {
            figures.tax = figures.tax.plus(part.amount)?;
        }
        figures.taxes.push(LineTax { base, amount: part.amount, recoverable: part.recoverable, ..tax.clone() });
    }
    Ok(figures)
}

fn totals(lines: &[LineFigures], total: Money) -> Result<Totals, TooLarge> {
    let of = |pick: fn(&LineFigures) -> Money| Money::sum(lines.iter().map(pick));
    let (net, tax) = (of(|line| line.net)?, of(|line| line.tax)?);
    let exact = net.plus(tax)?;
    let withheld = lines.iter().flat_map(|line| &line.taxes).filter(|tax| tax.kind == rules::tax::TaxKind::Withholding);
    Ok(Totals {
        subtotal: of(|line| line.gross)?,
        discount: of(|line| line.discount)?,
        net,
        tax,
        rounding: total.minus(exact)?,
        total,
        withheld: Money::sum(withheld.map(|tax| tax.amount))?,
    })
}
