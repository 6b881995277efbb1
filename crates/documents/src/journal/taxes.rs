//! What a journal tells of tax. Amounts are posted as they are; nothing is added.
//!
//! A line with a tax code is tax where it stands on an account of tax, and what was taxed everywhere else. A line on an
//! account of tax without a code moves it without being tax.

use super::posting::Fault;
use super::{JournalAsked, JournalKind, JournalLineAsked};
use crate::currency::Currency;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::money::{Money, Rate};
use crate::parts::country_of;
use books::access::Business;
use books::chart::Chart;
use books::tax_codes::{TaxCodes, kept_as};
use rules::posting::{Line, Subject, TaxTag};
use rules::tax::facts::{Common, OfJournal, TaxDuty, TaxOrigin, TaxSide, carry};
use rules::tax::home::Exchange;
use rules::tax::{TaxDirection, TaxKind};
use schema::payment_term::MasterStatus;
use std::collections::HashMap;
use std::sync::Arc;
use words::day::Day;
use words::sown::{Fault as Sown, sown};

/// The side of a line: as it says, else as its code is for.
fn side(line: &JournalLineAsked, direction: TaxDirection) -> Option<TaxSide> {
    line.tax.side.or(match direction {
        TaxDirection::Sales => Some(TaxSide::Sale),
        TaxDirection::Purchase => Some(TaxSide::Purchase),
        TaxDirection::Both => None,
    })
}

/// Whether what a line says of tax may be so.
pub(super) fn judge(
    faults: &mut Fault<'_>,
    (business, chart, taxes): (&Business, &Chart, &TaxCodes),
    asked: &JournalAsked,
    line: &JournalLineAsked,
) {
    let Some(id) = line.tax.code else {
        for (field, is_said) in [
            ("taxComponentId", line.tax.component.is_some()),
            ("taxBase", line.tax.base.is_some()),
            ("taxSide", line.tax.side.is_some()),
        ] {
            if is_said {
                faults.add(field, "needs taxCodeId: of which tax?");
            }
        }
        return;
    };
    let Some(code) = taxes.get(id) else { return faults.add("taxCodeId", "names no tax code") };
    if code.status == MasterStatus::Archived && !asked.held.has(id) {
        faults.add("taxCodeId", format!("names the tax code {}, which is archived", code.code));
    }
    if asked.kind == JournalKind::Opening {
        faults.add("taxCodeId", "has no place in an opening journal: its tax was told of in other books");
    }
    match side(line, code.direction) {
        None => faults.add("taxSide", format!("is required: {} is for sales and purchases", code.code)),
        Some(side) => {
            let wanted = if side == TaxSide::Sale { TaxDirection::Sales } else { TaxDirection::Purchase };
            if !code.direction.allows(wanted) {
                faults.add("taxSide", format!("must be the other one: {} is for {}", code.code, code.direction));
            }
        }
    }
    let components = &code.components.0;
    let is_tax = kept_as(chart, line.account).is_some();
    if line.tax.component.is_some_and(|id| !components.iter().any(|component| component.id == id)) {
        faults.add("taxComponentId", format!("names no component of {}", code.code));
    }
    if is_tax && line.tax.component.is_none() && components.len() > 1 {
        faults.add("taxComponentId", format!("is required: {} has several", code.code));
    }
    if !is_tax && line.tax.base.is_some() {
        faults.add("taxBase", "is for lines on accounts of tax; here the line itself is the base");
    }
    if line.tax.base.is_some_and(Money::is_negative) {
        faults.add("taxBase", "must not be negative; it has the side of its line");
    }
    let currency = line.currency_in(business, asked);
    if let Some(base) = line.tax.base
        && let Some(places) = Currency::of(currency).map(Currency::decimals).filter(|places| !base.fits(*places))
    {
        faults.add("taxBase", format!("must have at most {places} decimal places in {currency}"));
    }
}

/// What the lines of a journal tell.
pub(super) struct Told<'t> {
    pub(super) business: &'t Business,
    pub(super) chart: &'t Chart,
    pub(super) taxes: &'t TaxCodes,
    pub(super) known: &'t HashMap<RecordId, Arc<schema::party::Model>>,
    pub(super) asked: &'t JournalAsked,
    pub(super) rates: &'t [Rate],
}

impl Told<'_> {
    /// The lines with what they tell.
    pub(super) fn lines(&self, date: Day, lines: Vec<Line>) -> Result<Vec<Line>> {
        let lines = self.asked.lines.iter().zip(self.rates).zip(lines);
        lines.map(|((asked, rate), line)| self.line(asked, *rate, date, line)).collect()
    }

    fn line(&self, asked: &JournalLineAsked, rate: Rate, date: Day, line: Line) -> Result<Line> {
        let too_large = |_| Error::field("lines", "come to more than can be kept");
        let keeps = kept_as(self.chart, line.account());
        let Some((id, code)) = asked.tax.code.and_then(|id| Some((id, self.taxes.code(id)?))) else {
            return Ok(match keeps {
                Some(duty) if !sown(Sown::CarryForgotten) => carry(line, duty, (asked.id, date)),
                _ => line,
            });
        };
        let side = side(asked, code.direction);
        let side = side.ok_or_else(|| Error::internal("a line tells of tax on no side"))?;
        let only = code.components.first().filter(|_| code.components.len() == 1);
        let named = asked.tax.component.and_then(|id| code.components.iter().find(|one| one.id == id));
        let component = named.or(only);
        let withheld = component.is_some_and(|one| one.kind == TaxKind::Withholding);
        let duty = keeps.map(|duty| match (withheld, side) {
            (true, TaxSide::Sale) => TaxDuty::WithheldFromUs,
            (true, TaxSide::Purchase) => TaxDuty::WithheldByUs,
            (false, _) => duty,
        });
        let currency = line.currency().to_owned();
        let exchange = Exchange { home: self.business.home(), currency: &currency, rate };
        let party = line.party().and_then(|id| self.known.get(&id));
        let common = Common {
            exchange: &exchange,
            chart: self.chart,
            withholding: rules::tax::home::Withholding::Kept,
            origin: TaxOrigin::Journal,
            date,
            party: line.party(),
            party_tax_number: party.and_then(|party| party.tax_number.as_deref()),
            country: party.and_then(|party| country_of(party)),
        };
        let tag = TaxTag {
            code: id,
            component: component.filter(|_| duty.is_some()).map(|one| one.name.clone()),
            base: None,
        };
        let subject = Subject { tax: Some(tag), ..line.subject().clone() };
        let line = line.on_subject(subject);
        let of = OfJournal { line: asked.id, side, duty, code: (id, code), component, base: asked.tax.base };
        common.journal(&of, line).map_err(too_large)
    }
}
