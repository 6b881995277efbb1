//! What is known of the tax on a line once it is in the books, and the ledger lines that carry it.
//!
//! Nothing that is taxed or could have been is without a fact: one for each line and component, one for each line
//! without a code. A fact and the ledger line of its tax are made here, together, and by nobody else.

use super::figures::{LineFigures, TooLarge, minus, plus};
use super::home::{Exchange, Home, Withholding, claimed};
use super::{TaxBoxes, TaxComponent, TaxDirection, TaxKind};
use crate::chart::Chart;
use crate::postable::{Postable, TaxAccount};
use crate::posting::{Line, Subject, TaxTag, Unposted};
use crate::refusal::Refusal;
use words::day::Day;
use words::ids::RecordId;
use words::money::{BookMoney, Funds, Money, Percent};
use words::sown::{Fault, sown};
use words::wire_enum;

/// A line of tax that says no base has none.
const NO_BASE: Money = Money::ZERO;

wire_enum! {
    /// Whether something was sold or bought.
    pub kept enum TaxSide {
        #[default]
        Sale = "sale",
        Purchase = "purchase",
    }
}

wire_enum! {
    /// What a tax is to the company.
    pub kept enum TaxDuty {
        /// It is owed.
        Owed = "owed",
        /// It is claimed back.
        Claimed = "claimed",
        /// The customer kept it back.
        WithheldFromUs = "withheldFromUs",
        /// It was kept back from a supplier.
        WithheldByUs = "withheldByUs",
        /// There is a base alone.
        #[default]
        None = "none",
    }
}

impl TaxDuty {
    /// What of a tax of this duty is a debit: 1 for all of it, -1 where it is a credit.
    const fn sign(self) -> i64 {
        match self {
            Self::Owed | Self::WithheldByUs => -1,
            Self::Claimed | Self::WithheldFromUs => 1,
            Self::None => 0,
        }
    }

    /// A debit positive.
    fn turned<F: Funds>(self, amount: F) -> F {
        if self.sign() < 0 { amount.negated() } else { amount }
    }
}

impl TaxSide {
    /// A sale is a credit.
    fn turned<F: Funds>(self, amount: F) -> F {
        if self == Self::Sale { amount.negated() } else { amount }
    }
}

wire_enum! {
    /// What made a fact of tax.
    pub kept enum TaxOrigin {
        #[default]
        Document = "document",
        /// A discount for paying early.
        Discount = "discount",
        /// What will not be paid.
        WriteOff = "writeOff",
        /// What was taken off and stands for itself again, since it was credited.
        Credited = "credited",
        Journal = "journal",
        /// What was open before these books began.
        Opening = "opening",
        /// It moves an account of tax without being tax.
        Carry = "carry",
    }
}

/// What is known of the tax on a line, component by component. Amounts are signed: what credits is negative.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaxFact {
    /// The line of the document.
    pub line: Option<RecordId>,
    /// The document that it settles, where it is of a settlement.
    pub settles: Option<RecordId>,
    pub side: TaxSide,
    pub duty: TaxDuty,
    pub origin: TaxOrigin,
    pub code: Option<RecordId>,
    pub component: Option<RecordId>,
    pub name: Option<String>,
    pub kind: Option<TaxKind>,
    pub rate: Option<Percent>,
    pub category: Option<String>,
    /// Where its base and its tax stand in a return.
    pub base_box: Option<String>,
    pub tax_box: Option<String>,
    /// Whether its base is what counts as turnover of the line.
    pub leads: bool,
    /// The day it counts for.
    pub date: Day,
    pub party: Option<RecordId>,
    pub party_tax_number: Option<String>,
    pub country: Option<String>,
    pub currency: String,
    pub base: Money,
    pub tax: Money,
    /// The same in the company's currency.
    pub home_base: BookMoney,
    pub home_tax: BookMoney,
    /// What of the tax cannot be claimed back, in the company's currency.
    pub not_recoverable: BookMoney,
    /// The account that its tax stands on, or will; none where there is none, or where it stands on no account of tax.
    pub account: Option<RecordId>,
}

impl TaxFact {
    /// Whether a ledger line carries its tax. What was open before these books began names the account on which its tax
    /// stands once it is due, and no line.
    #[must_use]
    pub fn has_a_line(&self) -> bool {
        self.account.is_some() && self.origin != TaxOrigin::Opening
    }

    /// The same, taken back. On the day of the original it counts for the day that the original counted for, and never
    /// before that.
    #[must_use]
    pub fn reversed(&self, of: Day, on: Day) -> Self {
        Self {
            date: if of == on || (self.date > on && !sown(Fault::TakenBackTooSoon)) { self.date } else { on },
            base: self.base.negated(),
            tax: self.tax.negated(),
            home_base: self.home_base.negated(),
            home_tax: self.home_tax.negated(),
            not_recoverable: self.not_recoverable.negated(),
            ..self.clone()
        }
    }

    /// The ledger line that carries its tax.
    pub fn posted(&self, to: impl Into<Postable>, home: Home<'_>) -> Result<Line, Refusal> {
        let base = self.duty.turned(self.home_base);
        let tag = self.code.map(|code| TaxTag { code, component: self.name.clone(), base: Some(base) });
        let amount = home.carried(self.duty.turned(self.tax), &self.currency, self.duty.turned(self.home_tax));
        Line::on(to, amount, Subject { tax: tag, ..Subject::default() }.into())
    }
}

/// A line that moves an account of tax without being tax, with the fact of it.
#[must_use]
pub fn carry(line: Line, duty: TaxDuty, (id, date): (Option<RecordId>, Day)) -> Line {
    let side = match duty {
        TaxDuty::Owed | TaxDuty::WithheldFromUs | TaxDuty::None => TaxSide::Sale,
        TaxDuty::Claimed | TaxDuty::WithheldByUs => TaxSide::Purchase,
    };
    let fact = TaxFact {
        line: id,
        side,
        duty,
        origin: TaxOrigin::Carry,
        date,
        party: line.party(),
        currency: line.currency().to_owned(),
        tax: duty.turned(line.currency_amount()),
        home_tax: duty.turned(line.amount()),
        account: Some(line.account()),
        ..TaxFact::default()
    };
    line.telling(vec![fact])
}

/// A line that takes tax off where it waits, since a settlement of the document let it lapse, with the fact of it.
#[must_use]
pub fn lapse(line: Line, duty: TaxDuty, (document, date): (RecordId, Day)) -> Line {
    let line = carry(line, duty, (None, date));
    let facts = line.facts().iter().map(|fact| TaxFact { settles: Some(document), ..fact.clone() }).collect();
    line.telling(facts)
}

/// A tax code, as facts are made of it.
#[derive(Debug, Clone, Copy)]
pub struct Code<'c> {
    pub direction: TaxDirection,
    pub category: Option<&'c str>,
    pub report_box: Option<&'c str>,
    pub components: &'c [TaxComponent],
}

/// What all facts of a document have in common.
#[derive(Debug, Clone)]
pub struct Common<'c> {
    pub exchange: &'c Exchange<'c>,
    pub chart: &'c Chart,
    pub withholding: Withholding,
    pub origin: TaxOrigin,
    pub date: Day,
    pub party: Option<RecordId>,
    pub party_tax_number: Option<&'c str>,
    pub country: Option<&'c str>,
}

/// A line of a document, computed and converted.
#[derive(Debug, Clone, Copy)]
pub struct Computed<'c> {
    pub line: Option<RecordId>,
    pub side: TaxSide,
    /// Whether it takes back: a credit, or money that goes the other way.
    pub credits: bool,
    pub figures: &'c LineFigures,
    pub home_net: BookMoney,
    pub home_taxes: &'c [BookMoney],
    pub code: Option<(RecordId, Code<'c>)>,
    /// What the line that it credits told of tax: a credit stands where that stands, whatever the code says by now.
    pub as_taxed: &'c [TaxFact],
}

impl Computed<'_> {
    /// As a fact says it: what credits is negative.
    fn signed<F: Funds>(&self, amount: F) -> F {
        if self.credits { amount.negated() } else { amount }
    }

    /// The fact that a component of it credits.
    fn was(&self, code: RecordId, component: RecordId, duty: TaxDuty) -> Option<&TaxFact> {
        let known = |fact: &&TaxFact| (fact.code, fact.component, fact.duty) == (Some(code), Some(component), duty);
        self.as_taxed.iter().find(known).filter(|_| !sown(Fault::CreditStandsElsewhere))
    }
}

/// What a line comes to beside the money: its cost or income, and its tax.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineOfTax {
    /// The net amount and the tax that cannot be claimed back, in the company's currency and in the document's.
    pub cost: BookMoney,
    pub own_cost: Money,
    /// The facts of the line. What has a ledger line is in it.
    pub lines: Vec<Line>,
    pub bare: Vec<TaxFact>,
}

impl LineOfTax {
    /// The line that takes what the line comes to, with the facts that have no ledger line of their own.
    #[must_use]
    pub fn with_bare(&mut self, line: Line) -> Line {
        line.telling(std::mem::take(&mut self.bare))
    }
}

/// What a component is on a side: what is owed and what is claimed of it.
#[derive(Clone, Copy)]
struct Part {
    duty: TaxDuty,
    base: Money,
    home_base: BookMoney,
    tax: Money,
    home_tax: BookMoney,
    not_recoverable: BookMoney,
}

impl Common<'_> {
    /// The facts of a line and their ledger lines.
    pub fn line(&self, computed: &Computed<'_>) -> Result<LineOfTax, Unposted> {
        let figures = computed.figures;
        let mut found = LineOfTax { cost: computed.home_net, own_cost: figures.net, ..LineOfTax::default() };
        let bare = TaxFact {
            line: computed.line,
            side: computed.side,
            origin: self.origin,
            date: self.date,
            party: self.party,
            party_tax_number: self.party_tax_number.map(Into::into),
            country: self.country.map(Into::into),
            currency: self.exchange.currency.to_owned(),
            leads: true,
            base: computed.signed(figures.net),
            home_base: computed.signed(computed.home_net),
            ..TaxFact::default()
        };
        let Some((id, code)) = computed.code else {
            found.bare.push(bare);
            return Ok(found);
        };
        let mut boxes: Vec<String> = Vec::new();
        let mut leads = true;
        for (tax, home_tax) in figures.taxes.iter().zip(computed.home_taxes) {
            let component = code.components.iter().find(|one| one.id == tax.component).ok_or(TooLarge)?;
            let home_base = if tax.base == figures.net { computed.home_net } else { self.exchange.one(tax.base)? };
            let parts = self.parts(computed.side, tax, (home_base, *home_tax))?;
            for part in parts {
                let was = computed.was(id, tax.component, part.duty);
                found.cost = plus(found.cost, part.not_recoverable)?;
                if part.duty == TaxDuty::Claimed {
                    found.own_cost = plus(found.own_cost, minus(tax.amount, tax.recoverable)?)?;
                }
                let of_base = match was {
                    Some(was) => was.base_box.as_deref(),
                    None => base_box(computed.side, &component.boxes, code.report_box),
                };
                let of_tax = match was {
                    Some(was) => was.tax_box.as_deref(),
                    None => tax_box(computed.side, part.duty, &component.boxes),
                };
                let base_box = of_base
                    .filter(|_| !is_withheld(part.duty) && (part.base != Money::ZERO || leads))
                    .filter(|wanted| !boxes.iter().any(|known| known == wanted));
                boxes.extend(base_box.map(ToOwned::to_owned));
                let fact = TaxFact {
                    duty: part.duty,
                    code: Some(id),
                    component: Some(tax.component),
                    name: Some(tax.name.clone()),
                    kind: Some(tax.kind),
                    rate: Some(tax.rate),
                    category: code.category.map(Into::into),
                    base_box: base_box.map(Into::into),
                    tax_box: of_tax.map(Into::into),
                    leads: leads && !is_withheld(part.duty),
                    base: computed.signed(part.base),
                    tax: computed.signed(part.tax),
                    home_base: computed.signed(part.home_base),
                    home_tax: computed.signed(part.home_tax),
                    not_recoverable: computed.signed(part.not_recoverable),
                    ..bare.clone()
                };
                leads &= !fact.leads || sown(Fault::EveryComponentLeads);
                let account = match was.and_then(|was| was.account) {
                    Some(id) => Some((id, self.chart.standing(id)?)),
                    None => self.account(part.duty, component)?.map(|account| (account.id(), account.into())),
                };
                match account {
                    None => found.bare.push(fact),
                    // What was open before these books began is tax that other books have told of.
                    Some((id, _)) if self.origin == TaxOrigin::Opening => {
                        found
                            .lines
                            .push(fact.posted(self.chart.roles().opening_balance_equity.clone(), self.exchange.home)?);
                        found.bare.push(TaxFact { account: Some(id), ..fact });
                    }
                    Some((id, account)) => {
                        let fact = TaxFact { account: Some(id), ..fact };
                        found.lines.push(fact.posted(account, self.exchange.home)?.telling(vec![fact]));
                    }
                }
            }
        }
        if leads {
            // Nothing of it is a turnover so far, such as on a line of which tax is only kept back.
            found.bare.push(TaxFact { code: Some(id), category: code.category.map(Into::into), ..bare });
        }
        Ok(found)
    }

    /// What a component is on a side.
    fn parts(
        &self,
        side: TaxSide,
        tax: &super::figures::LineTax,
        (home_base, home_tax): (BookMoney, BookMoney),
    ) -> Result<Vec<Part>, TooLarge> {
        let alone = Part {
            duty: TaxDuty::None,
            base: tax.base,
            home_base,
            tax: Money::ZERO,
            home_tax: BookMoney::ZERO,
            not_recoverable: BookMoney::ZERO,
        };
        let all = |duty| Part { duty, tax: tax.amount, home_tax, ..alone };
        let claim = |base, home_base| -> Result<Part, TooLarge> {
            let claimed = claimed(tax, home_tax, self.exchange)?;
            Ok(Part {
                duty: TaxDuty::Claimed,
                base,
                home_base,
                tax: tax.recoverable,
                home_tax: claimed,
                not_recoverable: minus(home_tax, claimed)?,
            })
        };
        Ok(match (tax.kind, side) {
            (TaxKind::Zero | TaxKind::Exempt | TaxKind::Outside, _) | (TaxKind::ReverseCharge, TaxSide::Sale) => {
                vec![alone]
            }
            (TaxKind::Standard | TaxKind::FixedPerUnit, TaxSide::Sale) => vec![all(TaxDuty::Owed)],
            (TaxKind::Standard | TaxKind::FixedPerUnit, TaxSide::Purchase) => vec![claim(tax.base, home_base)?],
            // Owed and claimed at once; its base counts once.
            (TaxKind::ReverseCharge, TaxSide::Purchase) => {
                let twice = sown(Fault::ReverseChargeCountsTwice);
                let (base, home_base) = if twice { (tax.base, home_base) } else { (Money::ZERO, BookMoney::ZERO) };
                vec![all(TaxDuty::Owed), claim(base, home_base)?]
            }
            (TaxKind::Withholding, _) if self.withholding == Withholding::Shown => vec![alone],
            (TaxKind::Withholding, TaxSide::Sale) => vec![all(TaxDuty::WithheldFromUs)],
            (TaxKind::Withholding, TaxSide::Purchase) => vec![all(TaxDuty::WithheldByUs)],
        })
    }

    /// The account of tax: the component's own, or the company's.
    fn account(&self, duty: TaxDuty, component: &TaxComponent) -> Result<Option<TaxAccount>, Refusal> {
        let roles = self.chart.roles();
        let (own, of_company) = match duty {
            TaxDuty::Owed => (component.payable_account_id, &roles.output_tax),
            TaxDuty::Claimed => (component.receivable_account_id, &roles.input_tax),
            TaxDuty::WithheldFromUs => (component.receivable_account_id, &roles.withholding_receivable),
            TaxDuty::WithheldByUs => (component.payable_account_id, &roles.withholding_payable),
            TaxDuty::None => return Ok(None),
        };
        own.map_or_else(|| Ok(of_company.clone()), |own| self.chart.tax(own)).map(Some)
    }
}

/// A line that somebody wrote by hand, with a tax code.
#[derive(Debug, Clone, Copy)]
pub struct OfJournal<'c> {
    pub line: Option<RecordId>,
    pub side: TaxSide,
    /// What the account of the line keeps; none where it keeps no tax, so that the line is what was taxed.
    pub duty: Option<TaxDuty>,
    pub code: (RecordId, Code<'c>),
    /// The component that it is tax of, or the only one.
    pub component: Option<&'c TaxComponent>,
    /// What the tax was computed on, where no other line says it.
    pub base: Option<Money>,
}

impl Common<'_> {
    /// The line with what it tells. Nothing is added: it is tax, or what was taxed.
    pub fn journal(&self, of: &OfJournal<'_>, line: Line) -> Result<Line, TooLarge> {
        let (id, code) = of.code;
        let boxes = of.component.or(code.components.first()).map(|component| &component.boxes);
        let none = TaxBoxes::default();
        let boxes = boxes.unwrap_or(&none);
        let common = TaxFact {
            line: of.line,
            side: of.side,
            origin: self.origin,
            code: Some(id),
            component: of.component.map(|component| component.id),
            name: of.component.map(|component| component.name.clone()),
            kind: of.component.map(|component| component.kind),
            rate: of.component.map(|component| component.rate_on(self.date)),
            category: code.category.map(Into::into),
            date: self.date,
            party: self.party,
            party_tax_number: self.party_tax_number.map(Into::into),
            country: self.country.map(Into::into),
            currency: self.exchange.currency.to_owned(),
            ..TaxFact::default()
        };
        let base_box = base_box(of.side, boxes, code.report_box).map(ToOwned::to_owned);
        let fact = match of.duty {
            None => TaxFact {
                leads: true,
                base_box,
                base: of.side.turned(line.currency_amount()),
                home_base: of.side.turned(line.amount()),
                ..common
            },
            Some(duty) => {
                let tax = duty.turned(line.currency_amount());
                let base = of.base.unwrap_or(NO_BASE);
                let base = if tax.is_negative() { base.negated() } else { base };
                let told = base != Money::ZERO;
                TaxFact {
                    duty,
                    leads: told && !is_withheld(duty),
                    base_box: base_box.filter(|_| told && !is_withheld(duty)),
                    tax_box: tax_box(of.side, duty, boxes).map(Into::into),
                    base,
                    tax,
                    home_base: self.exchange.one(base)?,
                    home_tax: duty.turned(line.amount()),
                    account: Some(line.account()),
                    ..common
                }
            }
        };
        Ok(line.telling(vec![fact]))
    }
}

const fn is_withheld(duty: TaxDuty) -> bool {
    matches!(duty, TaxDuty::WithheldFromUs | TaxDuty::WithheldByUs)
}

fn base_box<'b>(side: TaxSide, boxes: &'b TaxBoxes, of_code: Option<&'b str>) -> Option<&'b str> {
    let own = match side {
        TaxSide::Sale => &boxes.sales_base,
        TaxSide::Purchase => &boxes.purchase_base,
    };
    own.as_deref().or(of_code)
}

fn tax_box(side: TaxSide, duty: TaxDuty, boxes: &TaxBoxes) -> Option<&str> {
    match (duty, side) {
        (TaxDuty::Owed, TaxSide::Sale) => boxes.sales_tax.as_deref(),
        (TaxDuty::Owed, TaxSide::Purchase) if sown(Fault::BoxOfSalesForAll) => boxes.sales_tax.as_deref(),
        (TaxDuty::Owed, TaxSide::Purchase) => boxes.purchase_due.as_deref(),
        (TaxDuty::Claimed, _) => boxes.purchase_claim.as_deref(),
        (TaxDuty::WithheldFromUs | TaxDuty::WithheldByUs | TaxDuty::None, _) => None,
    }
}
