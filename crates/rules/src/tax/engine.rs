//! The tax on the lines of a document. There is no other: invoices, bills, notes and direct lines all ask here.
//!
//! A component is computed exactly, rounded once for all lines of its code or once a line, and shared among the lines
//! by what each would have without rounding. Where prices include tax, the net is rounded and the tax is what it
//! leaves.

use super::exact::{Coin, Exact, hundredths, spread};
use super::figures::{LineTax, Refused, TooLarge, charged, minus, plus, sum};
use super::{TaxComponent, TaxKind, TaxRounding};
use words::day::Day;
use words::ids::RecordId;
use words::money::{Money, Quantity, Rate};
use words::sown::{Fault, sown};

/// How the tax of a document is computed.
#[derive(Debug, Clone, Copy)]
pub struct Terms {
    pub coin: Coin,
    pub rounding: TaxRounding,
    /// Whether amounts include tax.
    pub inclusive: bool,
    /// What one unit of the document's currency is worth; an amount for a unit is in the company's.
    pub exchange: Rate,
    /// The day whose rates apply.
    pub rates_of: Day,
    /// By how much a stated tax may differ from the computed one, in smallest coins.
    pub tolerance: i64,
}

/// What is taxed: a line, after all discounts.
#[derive(Debug, Clone, Copy)]
pub struct Taxable<'t> {
    /// Less than 0 on a line that takes something off, such as a coupon.
    pub amount: Money,
    pub quantity: Quantity,
    pub code: Option<(RecordId, &'t [TaxComponent])>,
    /// The tax that the other side's paper says.
    pub stated: Option<Money>,
}

/// A line with its tax.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Taxed {
    /// Without tax.
    pub net: Money,
    /// What the other side pays of tax.
    pub tax: Money,
    /// Component by component, in their sequence.
    pub taxes: Vec<LineTax>,
}

impl Taxed {
    /// What is kept back when it is paid.
    pub fn withheld(&self) -> Result<Money, TooLarge> {
        sum(self.taxes.iter().filter(|tax| tax.kind == TaxKind::Withholding).map(|tax| tax.amount))
    }
}

/// The tax of a document, line by line.
pub fn tax(terms: &Terms, lines: &[Taxable<'_>]) -> Result<Vec<Taxed>, Refused> {
    let mut taxed: Vec<Taxed> = lines.iter().map(|line| Taxed { net: line.amount, ..Taxed::default() }).collect();
    for members in groups(terms, lines) {
        Group::of(terms, lines, &members)?.tax(&mut taxed)?;
    }
    for (index, (line, taxed)) in lines.iter().zip(&mut taxed).enumerate() {
        if let Some(stated) = line.stated.filter(|stated| *stated != taxed.tax) {
            state(terms, (index, line), stated, taxed)?;
        }
    }
    Ok(taxed)
}

/// The lines whose tax is rounded together.
fn groups(terms: &Terms, lines: &[Taxable<'_>]) -> Vec<Vec<usize>> {
    let mut groups: Vec<(RecordId, Vec<usize>)> = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let Some((code, _)) = line.code else { continue };
        match groups.iter_mut().find(|(known, _)| *known == code) {
            Some((_, members)) if terms.rounding == TaxRounding::Document && !sown(Fault::RoundedLineByLine) => {
                members.push(index);
            }
            _ => groups.push((code, vec![index])),
        }
    }
    groups.into_iter().map(|(_, members)| members).collect()
}

/// What a component comes to over a net: so much of it, and so much for each unit.
#[derive(Debug, Clone, Copy)]
struct Part {
    of_net: Exact,
    a_unit: Exact,
}

/// Lines that are taxed together by one code.
struct Group<'g> {
    terms: &'g Terms,
    code: RecordId,
    components: Vec<&'g TaxComponent>,
    lines: Vec<(usize, &'g Taxable<'g>)>,
}

impl<'g> Group<'g> {
    fn of(terms: &'g Terms, lines: &'g [Taxable<'g>], members: &[usize]) -> Result<Self, TooLarge> {
        let lines: Vec<(usize, &Taxable<'_>)> = members.iter().map(|index| (*index, &lines[*index])).collect();
        let (code, components) = lines.first().and_then(|(_, line)| line.code).ok_or(TooLarge)?;
        let mut components: Vec<&TaxComponent> = components.iter().collect();
        components.sort_by_key(|component| component.sequence);
        Ok(Self { terms, code, components, lines })
    }

    fn tax(&self, taxed: &mut [Taxed]) -> Result<(), TooLarge> {
        if self.terms.inclusive && !sown(Fault::InclusiveTakenForExclusive) {
            self.inside(taxed)?;
        } else {
            self.upon(taxed)?;
        }
        for (index, _) in &self.lines {
            let line = &mut taxed[*index];
            line.tax = sum(line.taxes.iter().filter(|tax| tax.is_charged()).map(|tax| tax.amount))?;
        }
        Ok(())
    }

    fn rate(&self, component: &TaxComponent) -> Result<Exact, TooLarge> {
        match component.kind {
            TaxKind::Exempt | TaxKind::Zero | TaxKind::Outside | TaxKind::FixedPerUnit => Ok(Exact::ZERO),
            TaxKind::Standard | TaxKind::Withholding | TaxKind::ReverseCharge => {
                hundredths(component.rate_on(self.terms.rates_of))
            }
        }
    }

    /// What it comes to for one unit of the quantity, in the document's currency.
    fn a_unit(&self, component: &TaxComponent) -> Result<Exact, TooLarge> {
        if component.kind != TaxKind::FixedPerUnit {
            return Ok(Exact::ZERO);
        }
        Exact::from(component.rate_on(self.terms.rates_of)).over(Exact::from(self.terms.exchange))
    }

    /// Adds a component with its share on each line.
    fn add(&self, taxed: &mut [Taxed], component: &TaxComponent, shares: &[Money]) -> Result<(), TooLarge> {
        for ((index, _), amount) in self.lines.iter().zip(shares) {
            let line = &mut taxed[*index];
            line.taxes.push(LineTax {
                code: self.code,
                component: component.id,
                name: component.name.clone(),
                kind: component.kind,
                rate: component.rate_on(self.terms.rates_of),
                base: base(component, line)?,
                amount: *amount,
                recoverable: recoverable(component, *amount, self.terms.coin)?,
            });
        }
        Ok(())
    }

    /// What a component comes to upon the nets of the lines, shared among them.
    fn component_upon(&self, taxed: &[Taxed], component: &TaxComponent) -> Result<Vec<Money>, TooLarge> {
        let (rate, a_unit) = (self.rate(component)?, self.a_unit(component)?);
        let mut raw = Vec::with_capacity(self.lines.len());
        for (index, line) in &self.lines {
            let of_base = Exact::from(base(component, &taxed[*index])?).times(rate)?;
            raw.push(if a_unit.is_zero() {
                of_base
            } else {
                of_base.plus(a_unit.times(Exact::from(line.quantity))?)?
            });
        }
        let whole = raw.iter().try_fold(Exact::ZERO, |sum, raw| sum.plus(*raw))?;
        spread(whole.round(self.terms.coin)?, &raw, self.terms.coin)
    }

    /// The tax upon amounts that do not include it.
    fn upon(&self, taxed: &mut [Taxed]) -> Result<(), TooLarge> {
        for component in &self.components {
            let shares = self.component_upon(taxed, component)?;
            self.add(taxed, component, &shares)?;
        }
        Ok(())
    }

    /// What each component comes to over a net, and what all charged ones make of it.
    fn parts(&self) -> Result<(Vec<Part>, Part), TooLarge> {
        let mut whole = Part { of_net: Exact::ONE, a_unit: Exact::ZERO };
        let mut parts = Vec::with_capacity(self.components.len());
        for component in &self.components {
            let on = if component.is_compound { whole } else { Part { of_net: Exact::ONE, a_unit: Exact::ZERO } };
            let rate = self.rate(component)?;
            let part =
                Part { of_net: on.of_net.times(rate)?, a_unit: on.a_unit.times(rate)?.plus(self.a_unit(component)?)? };
            if charged(component.kind) {
                whole = Part { of_net: whole.of_net.plus(part.of_net)?, a_unit: whole.a_unit.plus(part.a_unit)? };
            }
            parts.push(part);
        }
        Ok((parts, whole))
    }

    /// The net and the tax inside amounts that include it. The tax is what the rounded net leaves: computed from the
    /// net, it would miss coins.
    fn inside(&self, taxed: &mut [Taxed]) -> Result<(), TooLarge> {
        let coin = self.terms.coin;
        let (parts, whole) = self.parts()?;
        let mut exact = Vec::with_capacity(self.lines.len());
        for (_, line) in &self.lines {
            let fixed = whole.a_unit.times(Exact::from(line.quantity))?;
            exact.push(Exact::from(line.amount).minus(fixed)?.over(whole.of_net)?);
        }
        let net = exact.iter().try_fold(Exact::ZERO, |sum, net| sum.plus(*net))?.round(coin)?;
        let nets = spread(net, &exact, coin)?;
        let mut left = Vec::with_capacity(self.lines.len());
        for ((index, line), net) in self.lines.iter().zip(&nets) {
            taxed[*index].net = *net;
            left.push(minus(line.amount, *net)?);
        }
        // Component by component, what each line would have of it without rounding.
        let mut raw: Vec<Vec<Exact>> = Vec::with_capacity(parts.len());
        for part in &parts {
            let of_line = |((_, line), net): (&(usize, &Taxable<'_>), &Exact)| {
                net.times(part.of_net)?.plus(part.a_unit.times(Exact::from(line.quantity))?)
            };
            raw.push(self.lines.iter().zip(&exact).map(of_line).collect::<Result<_, _>>()?);
        }
        let amounts = self.amounts_inside(&raw, sum(left.iter().copied())?)?;
        let last = self.components.iter().rposition(|component| is_charging(component.kind));
        for (place, component) in self.components.iter().enumerate() {
            let shares = match amounts[place] {
                None => self.component_upon(taxed, component)?,
                // What a price includes beyond the net is tax, to the coin.
                Some(_) if Some(place) == last => left.clone(),
                Some(amount) => spread(amount, &raw[place], coin)?,
            };
            if amounts[place].is_some() {
                for (left, share) in left.iter_mut().zip(&shares) {
                    *left = minus(*left, *share)?;
                }
            }
            self.add(taxed, component, &shares)?;
        }
        Ok(())
    }

    /// What each component has of the tax inside, where it is inside.
    fn amounts_inside(&self, raw: &[Vec<Exact>], tax: Money) -> Result<Vec<Option<Money>>, TooLarge> {
        let inside = |place: &usize| is_charging(self.components[*place].kind);
        let places: Vec<usize> = (0..self.components.len()).filter(inside).collect();
        let mut wholes = Vec::with_capacity(places.len());
        for place in &places {
            wholes.push(raw[*place].iter().try_fold(Exact::ZERO, |sum, raw| sum.plus(*raw))?);
        }
        let mut amounts = vec![None; self.components.len()];
        for (place, amount) in places.into_iter().zip(spread(tax, &wholes, self.terms.coin)?) {
            amounts[place] = Some(amount);
        }
        Ok(amounts)
    }
}

/// Whether a kind adds something to what the other side pays.
const fn is_charging(kind: TaxKind) -> bool {
    matches!(kind, TaxKind::Standard | TaxKind::FixedPerUnit)
}

/// What a component stands on: the net, and on that of a compound one the charged ones before it.
fn base(component: &TaxComponent, line: &Taxed) -> Result<Money, TooLarge> {
    if !component.is_compound || sown(Fault::CompoundOnNet) {
        return Ok(line.net);
    }
    plus(line.net, sum(line.taxes.iter().filter(|tax| tax.is_charged()).map(|tax| tax.amount))?)
}

fn recoverable(component: &TaxComponent, amount: Money, coin: Coin) -> Result<Money, TooLarge> {
    if sown(Fault::RecoverableForgotten) {
        return Ok(amount);
    }
    Exact::from(amount).times(hundredths(component.recoverable_percent)?)?.round(coin)
}

/// Takes the tax that a line states. Several components share it by what they were computed at; what a price includes
/// stays, so there the net moves.
fn state(terms: &Terms, (index, line): (usize, &Taxable<'_>), stated: Money, taxed: &mut Taxed) -> Result<(), Refused> {
    if !stated.fits(terms.coin.decimals) {
        return Err(Refused::StatedFiner(index));
    }
    let computed = taxed.tax;
    let by = minus(stated, computed)?;
    let most = terms.tolerance.checked_mul(terms.coin.units()).map(Money::from_units).ok_or(TooLarge)?;
    let charging: Vec<usize> = (0..taxed.taxes.len()).filter(|place| is_charging(taxed.taxes[*place].kind)).collect();
    let beyond = (by > most || minus(Money::ZERO, by)? > most) && !sown(Fault::AnyTaxIsTaken);
    if beyond || charging.is_empty() {
        return Err(Refused::Stated(index, computed));
    }
    if terms.inclusive {
        taxed.net = minus(line.amount, stated)?;
    }
    let raw: Vec<Exact> = if computed == Money::ZERO {
        // Nothing to go by: the first one takes it all.
        charging
            .iter()
            .enumerate()
            .map(|(place, _)| if place == 0 { Exact::from(stated) } else { Exact::ZERO })
            .collect()
    } else {
        let size = |money: Money| Exact::from(if computed.is_negative() { negated(money) } else { money });
        let part = Exact::from(stated).over(size(computed))?;
        charging.iter().map(|place| size(taxed.taxes[*place].amount).times(part)).collect::<Result<_, _>>()?
    };
    let amounts = spread(stated, &raw, terms.coin)?;
    for (place, amount) in charging.into_iter().zip(amounts) {
        taxed.taxes[place].amount = amount;
    }
    let components = line.code.map_or(&[][..], |(_, components)| components);
    let mut before = Money::ZERO;
    for tax in &mut taxed.taxes {
        let component = components.iter().find(|component| component.id == tax.component).ok_or(TooLarge)?;
        tax.base = if component.is_compound { plus(taxed.net, before)? } else { taxed.net };
        tax.recoverable = recoverable(component, tax.amount, terms.coin)?;
        if tax.is_charged() {
            before = plus(before, tax.amount)?;
        }
    }
    taxed.tax = stated;
    Ok(())
}

fn negated(money: Money) -> Money {
    money.negated()
}

#[cfg(test)]
#[path = "engine_cases.rs"]
mod tests;
