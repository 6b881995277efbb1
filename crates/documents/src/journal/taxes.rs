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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::{JournalKind, TaxAsked};
    use crate::samples::{id, money, said, taxes};
    use rules::tax::TaxKind::Standard;

    fn line(account: u128, tax: TaxAsked) -> JournalLineAsked {
        JournalLineAsked {
            id: None,
            account: id(account),
            party: None,
            amount: money("19"),
            description: None,
            due_date: None,
            currency: None,
            exchange_rate: None,
            tax,
        }
    }

    /// What is found of a line, in a journal of a kind and a currency, where the code 8000 is of a direction and so many
    /// components.
    fn found(
        (kind, currency): (JournalKind, Option<&str>),
        of: (TaxDirection, usize),
        line: JournalLineAsked,
    ) -> String {
        let codes = taxes(of.0, &[("19", Standard, "100"), ("1", Standard, "100")][..of.1]);
        let asked = JournalAsked {
            kind,
            currency: currency.map(str::to_owned),
            exchange_rate: None,
            reverse_on: None,
            tax_date: None,
            lines: vec![line.clone()],
            fiscal_year: None,
            held: kit::reference::Held::default(),
        };
        let mut faults = crate::error::FieldErrors::default();
        judge(&mut Fault(&mut faults, 0), (&Business::sample(), &books::chart::sample(), &codes), &asked, &line);
        if faults.is_empty() { String::new() } else { said(&Error::from(faults)) }
    }

    #[test]
    fn a_line_tells_of_a_tax_that_there_is_on_a_side_that_it_has() {
        use TaxDirection::{Both, Purchase, Sales};
        let coded = || TaxAsked { code: Some(id(8_000)), ..TaxAsked::default() };
        let on = |side: TaxSide| TaxAsked { side: Some(side), ..coded() };
        let of = |component: u128| TaxAsked { component: Some(id(component)), ..coded() };
        let based = |base: &str| TaxAsked { base: Some(money(base)), ..coded() };
        let alone = |tax: TaxAsked| TaxAsked { code: None, ..tax };
        let books = (JournalKind::General, None);
        let finer = "lines[0].taxBase must have at most";
        for (journal, code, account, tax, answer) in [
            (books, (Purchase, 1), 6000, TaxAsked::default(), ""),
            (books, (Purchase, 1), 6000, coded(), ""),
            (books, (Purchase, 1), 1400, coded(), ""),
            (books, (Purchase, 1), 6000, alone(on(TaxSide::Sale)), "lines[0].taxSide needs taxCodeId"),
            (books, (Purchase, 1), 6000, alone(of(9_001)), "lines[0].taxComponentId needs taxCodeId"),
            (books, (Purchase, 1), 6000, alone(based("100")), "lines[0].taxBase needs taxCodeId"),
            (
                books,
                (Purchase, 1),
                6000,
                TaxAsked { code: Some(id(1)), ..coded() },
                "lines[0].taxCodeId names no tax code",
            ),
            (
                (JournalKind::Opening, None),
                (Purchase, 1),
                6000,
                coded(),
                "lines[0].taxCodeId has no place in an opening journal",
            ),
            (books, (Both, 1), 6000, coded(), "lines[0].taxSide is required: T is for sales and purchases"),
            (books, (Both, 1), 6000, on(TaxSide::Sale), ""),
            (books, (Sales, 1), 6000, on(TaxSide::Purchase), "lines[0].taxSide must be the other one"),
            (books, (Sales, 1), 6000, on(TaxSide::Sale), ""),
            (books, (Purchase, 1), 1400, of(9_001), ""),
            (books, (Purchase, 1), 1400, of(9_002), "lines[0].taxComponentId names no component of T"),
            (books, (Purchase, 2), 1400, of(9_002), ""),
            (books, (Purchase, 2), 1400, coded(), "lines[0].taxComponentId is required: T has several"),
            // Of a base all components are told.
            (books, (Purchase, 2), 6000, coded(), ""),
            (books, (Purchase, 1), 1400, based("100"), ""),
            (books, (Purchase, 1), 1400, based("-100"), "lines[0].taxBase must not be negative"),
            (books, (Purchase, 1), 6000, based("100"), "lines[0].taxBase is for lines on accounts of tax"),
            // In the company's currency as in any other.
            (books, (Purchase, 1), 1400, based("100.001"), finer),
            ((JournalKind::General, Some("JPY")), (Purchase, 1), 1400, based("100.5"), finer),
            ((JournalKind::General, Some("KWD")), (Purchase, 1), 1400, based("100.001"), ""),
        ] {
            let shown = format!("{journal:?} {code:?} {account} {tax:?}");
            let found = found(journal, code, line(account, tax));
            assert!(found.starts_with(answer) && found.is_empty() == answer.is_empty(), "{shown}: {found}");
        }
    }

    /// What a line tells, on the tenth of April, of the code 8000 of such components.
    fn told(of: (TaxDirection, &[(&str, TaxKind, &str)]), line: JournalLineAsked) -> String {
        use crate::journal::posting::tests::journal;
        use crate::journal::posting::{lines_of, rates, sums};
        let (business, chart, taxes) = (Business::sample(), books::chart::sample(), taxes(of.0, of.1));
        let mut party = crate::samples::party(schema::party::PartyStatus::Active, schema::party::PartyBlock::None);
        party.tax_number = Some("DE1".into());
        let known = HashMap::from([(id(3), Arc::new(party))]);
        let asked = journal(vec![JournalLineAsked { id: Some(id(1)), ..line }]);
        let rates = rates(&business, &asked, &mut crate::error::FieldErrors::default());
        let figures = sums(&business, &asked, &rates).unwrap();
        let lines = lines_of(&business, &chart, &asked, &figures.base).unwrap();
        let told =
            Told { business: &business, chart: &chart, taxes: &taxes, known: &known, asked: &asked, rates: &rates };
        let lines = told.lines(crate::samples::day("2026-04-10"), lines).unwrap();
        let [line] = lines.as_slice() else { panic!("of one line come {}", lines.len()) };
        let tag =
            line.subject().tax.as_ref().map_or("-".to_owned(), |tag| tag.component.clone().unwrap_or("all".into()));
        let facts = line.facts().iter().map(|fact| {
            assert_eq!((fact.line, fact.date.to_string().as_str()), (Some(id(1)), "2026-04-10"));
            let component = fact.name.as_deref().unwrap_or("-");
            let account = fact.account.map_or(0, |account| account.0.as_u128());
            let leads = if fact.leads { " leads" } else { "" };
            let whose = fact.party_tax_number.as_deref().map_or(String::new(), |number| format!(" of {number}"));
            format!(
                "{} {} {} {component}: {} of {}, here {} of {}, on {account}{leads}{whose}",
                fact.origin, fact.side, fact.duty, fact.tax, fact.base, fact.home_tax, fact.home_base
            )
        });
        facts.fold(tag, |shown, fact| format!("{shown}; {fact}"))
    }

    #[test]
    fn a_line_tells_of_tax_as_it_stands_on_an_account_of_tax_or_beside_one() {
        use TaxDirection::{Both, Purchase, Sales};
        use TaxKind::Withholding;
        let vat: &[_] = &[("19", Standard, "100")];
        let two: &[_] = &[("19", Standard, "100"), ("1", Standard, "100")];
        let kept: &[_] = &[("10", Withholding, "100")];
        let coded = || TaxAsked { code: Some(id(8_000)), ..TaxAsked::default() };
        let on = |side: TaxSide| TaxAsked { side: Some(side), ..coded() };
        let based = |base: &str, tax: TaxAsked| TaxAsked { base: Some(money(base)), ..tax };
        let second = TaxAsked { component: Some(id(9_002)), ..coded() };
        let of = |account: u128, amount: &str, tax: TaxAsked| JournalLineAsked {
            amount: money(amount),
            ..line(account, tax)
        };
        let dollars = |line: JournalLineAsked| JournalLineAsked {
            currency: Some("USD".into()),
            exchange_rate: Some(crate::samples::rate("0.9")),
            ..line
        };
        let known = JournalLineAsked { party: Some(id(3)), ..of(6000, "100", coded()) };
        let unsaid = TaxAsked::default;
        for (code, line, tells) in [
            ((Purchase, vat), of(6000, "100", unsaid()), "-"),
            // An account of tax is moved without being tax.
            ((Purchase, vat), of(1400, "19", unsaid()), "-; carry purchase claimed -: 19 of 0, here 19 of 0, on 1400"),
            ((Purchase, vat), of(2200, "-19", unsaid()), "-; carry sale owed -: 19 of 0, here 19 of 0, on 2200"),
            ((Purchase, vat), of(2200, "19", unsaid()), "-; carry sale owed -: -19 of 0, here -19 of 0, on 2200"),
            // What was taxed.
            (
                (Purchase, vat),
                of(6000, "100", coded()),
                "all; journal purchase none T1: 0 of 100, here 0 of 100, on 0 leads",
            ),
            ((Sales, vat), of(4000, "-100", coded()), "all; journal sale none T1: 0 of 100, here 0 of 100, on 0 leads"),
            (
                (Both, vat),
                of(4000, "30", on(TaxSide::Sale)),
                "all; journal sale none T1: 0 of -30, here 0 of -30, on 0 leads",
            ),
            (
                (Purchase, two),
                of(6000, "100", coded()),
                "all; journal purchase none -: 0 of 100, here 0 of 100, on 0 leads",
            ),
            ((Purchase, vat), known, "all; journal purchase none T1: 0 of 100, here 0 of 100, on 0 leads of DE1"),
            // The tax of it, with and without what it is of.
            (
                (Purchase, vat),
                of(1400, "19", coded()),
                "T1; journal purchase claimed T1: 19 of 0, here 19 of 0, on 1400",
            ),
            (
                (Purchase, vat),
                of(1400, "19", based("100", coded())),
                "T1; journal purchase claimed T1: 19 of 100, here 19 of 100, on 1400 leads",
            ),
            (
                (Purchase, vat),
                of(1400, "-19", based("100", coded())),
                "T1; journal purchase claimed T1: -19 of -100, here -19 of -100, on 1400 leads",
            ),
            (
                (Both, vat),
                of(2200, "-20", on(TaxSide::Purchase)),
                "T1; journal purchase owed T1: 20 of 0, here 20 of 0, on 2200",
            ),
            ((Purchase, two), of(1400, "1", second), "T2; journal purchase claimed T2: 1 of 0, here 1 of 0, on 1400"),
            // In dollars at 0.90: 17.10 of 90.00.
            (
                (Purchase, vat),
                dollars(of(1400, "19", based("100", coded()))),
                "T1; journal purchase claimed T1: 19 of 100, here 17.1 of 90, on 1400 leads",
            ),
            // What is kept back is no turnover: of a sale the customer did it, of a purchase we did.
            (
                (Sales, kept),
                of(1410, "10", based("100", coded())),
                "T1; journal sale withheldFromUs T1: 10 of 100, here 10 of 100, on 1410",
            ),
            (
                (Purchase, kept),
                of(2210, "-10", based("100", coded())),
                "T1; journal purchase withheldByUs T1: 10 of 100, here 10 of 100, on 2210",
            ),
            // By the kind of the component, whatever account it stands on.
            (
                (Sales, kept),
                of(1400, "10", coded()),
                "T1; journal sale withheldFromUs T1: 10 of 0, here 10 of 0, on 1400",
            ),
        ] {
            assert_eq!(told(code, line.clone()), tells, "{line:?}");
        }
    }
}
