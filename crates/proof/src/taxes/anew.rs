//! The tax of trade documents, made anew: from what is kept of their lines, as plain text and numbers, and from the codes.

use super::super::{Findings, Wide, shown};
use super::Taxed;
use super::told::Said;
use crate::currency::Currency;
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use schema::tables::TaxDuty;
use schema::tables::{DocumentKind, tax_facts};
use schema::tax_code as codes;
use schema::tax_code::TaxComponent;
use std::collections::{BTreeMap, HashMap};

/// What a line tells of tax, by component and by what it is to the company.
type Key = (String, String, &'static str);

/// Base and tax in the document's currency; both in the company's; what cannot be claimed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Told {
    base: Wide,
    tax: Wide,
    home_base: Wide,
    home_tax: Wide,
    not_recoverable: Wide,
}

impl Told {
    fn add(&mut self, other: Self) {
        self.base += other.base;
        self.tax += other.tax;
        self.home_base += other.home_base;
        self.home_tax += other.home_tax;
        self.not_recoverable += other.not_recoverable;
    }

    fn times(self, sign: Wide) -> Self {
        Self {
            base: self.base * sign,
            tax: self.tax * sign,
            home_base: self.home_base * sign,
            home_tax: self.home_tax * sign,
            not_recoverable: self.not_recoverable * sign,
        }
    }
}

/// What lies between two figures at most, where one of them was rounded.
#[derive(Debug, Clone, Copy)]
struct Coins {
    own: Wide,
    home: Wide,
}

/// Taxes that were made anew, how many of them are as they are told, and which are not.
#[derive(Default)]
pub(super) struct Anew {
    pub(super) taxes: usize,
    pub(super) right: usize,
    pub(super) findings: Findings,
}

/// In units of money: a number is read in millionths.
pub(super) fn money(value: &Said<'_>) -> Result<Wide> {
    if value.is_nothing() { Ok(0) } else { Ok(value.number()? / 100) }
}

/// Rounded half away from nothing, which is at most a coin from however it was rounded.
fn over(amount: Wide, under: Wide) -> Wide {
    let half = under / 2;
    if amount < 0 { (amount - half) / under } else { (amount + half) / under }
}

const fn is_sale(kind: DocumentKind) -> bool {
    matches!(kind, DocumentKind::SalesInvoice | DocumentKind::CreditNote)
}

const fn credits(kind: DocumentKind) -> bool {
    matches!(kind, DocumentKind::CreditNote | DocumentKind::DebitNote)
}

const fn word(duty: TaxDuty) -> &'static str {
    match duty {
        TaxDuty::Owed => "what is owed",
        TaxDuty::Claimed => "what is claimed",
        TaxDuty::WithheldFromUs | TaxDuty::WithheldByUs => "what is kept back",
        TaxDuty::None => "what is taxed",
    }
}

/// The rate that a component has on a day.
fn rate_on(component: &TaxComponent, day: Day) -> Wide {
    let mut found: Option<(Day, Wide)> = None;
    for later in &component.rates {
        if later.valid_from <= day && found.is_none_or(|(from, _)| later.valid_from >= from) {
            found = Some((later.valid_from, Wide::from(later.rate.units())));
        }
    }
    found.map_or_else(|| Wide::from(component.rate.units()), |(_, rate)| rate)
}

impl Anew {
    /// With those of other documents.
    pub(super) fn add(&mut self, other: Self) {
        (self.taxes, self.right) = (self.taxes + other.taxes, self.right + other.right);
        self.findings.add_all(other.findings);
    }

    /// Makes the tax of a document anew and compares it with what is told of it.
    pub(super) fn judge(
        &mut self,
        (row, content): (&Taxed, &Said<'_>),
        facts: &[&tax_facts::Model],
        codes: &HashMap<RecordId, codes::Model>,
        (base_decimals, tolerance): (u32, i64),
    ) -> Result<()> {
        let coin = |decimals: u32| Wide::from(crate::money::Money::smallest(decimals).units());
        let known = Currency::known(&row.currency, format_args!("document {}", row.id))?;
        let coins = Coins { own: coin(known.decimals()), home: coin(base_decimals) };
        let mut told: BTreeMap<Key, Told> = BTreeMap::new();
        for fact in facts {
            let id = |id: Option<RecordId>| id.map_or_else(String::new, |id| id.to_string());
            told.entry((id(fact.line_id), id(fact.component_id), word(fact.duty))).or_default().add(Told {
                base: fact.own_base().units().into(),
                tax: fact.own_tax().units().into(),
                home_base: fact.home_base.units().into(),
                home_tax: fact.home_tax.units().into(),
                not_recoverable: fact.not_recoverable.units().into(),
            });
        }
        let number = || format!("{} {} of {}", row.kind, row.number.as_deref().unwrap_or("without a number"), row.date);
        let lines = content["asked"]["lines"].list().iter().zip(content["figures"]["lines"].list());
        for (place, (asked, kept)) in lines.enumerate() {
            let line = Line { asked, kept, head: &content["asked"], kind: row.kind };
            for (key, wanted) in line.made(coins)? {
                let found = told.remove(&key).unwrap_or_default();
                self.taxes += 1;
                if line.is_told(&found, &wanted, coins)? {
                    self.right += 1;
                } else {
                    self.findings.add(format!(
                        "{}, line {}: {} is told to be {} with a tax of {}, and its line comes to {} with {}",
                        number(),
                        place + 1,
                        key.2,
                        shown(found.home_base),
                        shown(found.home_tax),
                        shown(wanted.home_base),
                        shown(wanted.home_tax)
                    ));
                }
            }
            for why in line.wrong_rates(row, codes, coins, tolerance)? {
                self.findings.add(format!("{}, line {}: {why}", number(), place + 1));
            }
        }
        for why in other_terms(facts, content)? {
            self.findings.add(format!("{}: {why}", number()));
        }
        for (key, rest) in told.into_iter().filter(|(_, rest)| *rest != Told::default()) {
            self.findings.add(format!(
                "{}: {} is told to be {} with a tax of {}, and no line of it says so",
                number(),
                key.2,
                shown(rest.home_base),
                shown(rest.home_tax)
            ));
        }
        Ok(())
    }
}

/// Where the last version of a document is told with another rate or kind than its lines have.
fn other_terms(facts: &[&tax_facts::Model], content: &Said<'_>) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    let own = || facts.iter().filter(|fact| fact.takes_back_id.is_none());
    let last = own().map(|fact| fact.document_version).max();
    for fact in own().filter(|fact| Some(fact.document_version) == last) {
        let (Some(line), Some(component), Some(rate)) = (fact.line_id, fact.component_id, fact.rate) else { continue };
        let (line, component) = (line.to_string(), component.to_string());
        let lines = content["asked"]["lines"].list().iter().zip(content["figures"]["lines"].list());
        let mut taxes = lines
            .filter(|(asked, _)| asked["id"].text() == Some(&line))
            .flat_map(|(_, kept)| kept["figures"]["taxes"].list())
            .filter(|tax| tax["component"].text() == Some(&component));
        let Some(tax) = taxes.next() else { continue };
        let kind = fact.kind.map(|kind| kind.to_string());
        if Wide::from(rate.units()) != tax["rate"].number()? || kind.as_deref() != tax["kind"].text() {
            let kind = kind.as_deref().unwrap_or("");
            wrong.push(format!("{kind} at {rate} is told, and its line has {} at {}", tax["kind"], tax["rate"]));
        }
    }
    Ok(wrong)
}

/// A line as it is kept.
#[derive(Clone, Copy)]
struct Line<'l> {
    asked: &'l Said<'l>,
    kept: &'l Said<'l>,
    head: &'l Said<'l>,
    kind: DocumentKind,
}

impl Line<'_> {
    fn code(&self) -> Option<&str> {
        self.asked["tax"]["code"].text()
    }

    /// What the document's currency is worth, in millionths of a millionth.
    fn rate(&self) -> Result<Wide> {
        let rate = &self.head["exchange_rate"];
        if rate.is_nothing() {
            return Ok(1_000_000_000_000);
        }
        let text = rate.text().map_or_else(|| rate.to_string(), str::to_owned);
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        format!("{whole}{fraction:0<12}").parse().map_err(|_| Error::internal(format!("{text} is no rate")))
    }

    /// What it must tell of tax.
    fn made(&self, coins: Coins) -> Result<BTreeMap<Key, Told>> {
        let figures = &self.kept["figures"];
        let (net, home_net) = (money(&figures["net"])?, money(&self.kept["base_net"])?);
        let sign = if credits(self.kind) { -1 } else { 1 };
        let id = self.asked["id"].text().unwrap_or("").to_owned();
        let mut made: BTreeMap<Key, Told> = BTreeMap::new();
        let mut add = |component: &str, duty: TaxDuty, told: Told| {
            made.entry((id.clone(), component.to_owned(), word(duty))).or_default().add(told.times(sign));
        };
        let taxes = if self.code().is_some() { figures["taxes"].list() } else { &[] };
        if taxes.is_empty() {
            add("", TaxDuty::None, Told { base: net, home_base: home_net, ..Told::default() });
        }
        for (place, tax) in taxes.iter().enumerate() {
            let component = tax["component"].text().unwrap_or("");
            let (base, amount) = (money(&tax["base"])?, money(&tax["amount"])?);
            let claimed = money(&tax["recoverable"])?;
            let home = money(&self.kept["base_taxes"][place])?;
            let home_base = if base == net {
                home_net
            } else {
                over(base * self.rate()?, 1_000_000_000_000 * coins.home) * coins.home
            };
            let bare = Told { base, home_base, ..Told::default() };
            let all = Told { tax: amount, home_tax: home, ..bare };
            let home_claimed = match amount {
                _ if claimed == amount => home,
                0 => 0,
                _ => over(home * claimed * amount.signum(), amount.abs() * coins.home) * coins.home,
            };
            let part =
                Told { tax: claimed, home_tax: home_claimed, not_recoverable: home - home_claimed, ..Told::default() };
            match (tax["kind"].text(), is_sale(self.kind)) {
                (Some("standard" | "fixedPerUnit"), true) => add(component, TaxDuty::Owed, all),
                (Some("standard" | "fixedPerUnit"), false) => {
                    add(component, TaxDuty::Claimed, Told { base, home_base, ..part });
                }
                (Some("reverseCharge"), false) => {
                    add(component, TaxDuty::Owed, all);
                    add(component, TaxDuty::Claimed, part);
                }
                _ => add(component, TaxDuty::None, bare),
            }
        }
        Ok(made)
    }

    /// Whether it tells that. What was converted or shared by itself may be rounded the other way.
    fn is_told(&self, found: &Told, wanted: &Told, coins: Coins) -> Result<bool> {
        let exact = self.head["exchange_rate"].is_nothing() || found.base == money(&self.kept["figures"]["net"])?;
        let near = |left: Wide, right: Wide| (left - right).abs() <= coins.home;
        let bases = found.home_base == wanted.home_base || (!exact && near(found.home_base, wanted.home_base));
        let partly = wanted.not_recoverable != 0;
        let all = (found.home_tax + found.not_recoverable, wanted.home_tax + wanted.not_recoverable);
        let taxes = found.home_tax == wanted.home_tax && found.not_recoverable == wanted.not_recoverable;
        let taxes = taxes || (partly && near(found.home_tax, wanted.home_tax) && all.0 == all.1);
        Ok((found.base, found.tax) == (wanted.base, wanted.tax) && bases && taxes)
    }

    /// Whether it is a share of what was invoiced, whose rates are those of another day.
    fn is_share(&self) -> bool {
        credits(self.kind) && (!self.kept["took"].list().is_empty() || !self.head["source"].is_nothing())
    }

    /// Where a tax is not what the rate of its day makes of its base, or the base not what it stands on.
    fn wrong_rates(
        &self,
        row: &Taxed,
        codes: &HashMap<RecordId, codes::Model>,
        coins: Coins,
        tolerance: i64,
    ) -> Result<Vec<String>> {
        let mut wrong = Vec::new();
        if self.is_share() {
            return Ok(wrong);
        }
        let Some(code) = self.code().and_then(|id| codes.get(&RecordId::parse(id)?)) else { return Ok(wrong) };
        let day = match self.head["tax_date"].text() {
            Some(text) => text.parse().map_err(|_| Error::internal(format!("{text} is no day")))?,
            None => row.date,
        };
        let figures = &self.kept["figures"];
        let net = money(&figures["net"])?;
        let inclusive = self.head["inclusive"].is_true();
        let taxes = figures["taxes"].list();
        let mut before = 0;
        for tax in taxes {
            let id = tax["component"].text().and_then(RecordId::parse);
            let known = code.components.0.iter().find(|one| Some(one.id) == id);
            let Some(component) = known else {
                wrong.push(format!("{} has no component {}", code.code, tax["component"]));
                continue;
            };
            let (base, amount, rate) = (money(&tax["base"])?, money(&tax["amount"])?, tax["rate"].number()?);
            let kind = tax["kind"].text();
            let stands_on = if component.is_compound { net + before } else { net };
            if base != stands_on {
                wrong.push(format!("{} stands on {}, and not on {}", component.name, shown(stands_on), shown(base)));
            }
            let of_day = rate_on(component, day);
            let rated = matches!(kind, Some("standard" | "reverseCharge" | "withholding"));
            if rated && rate != of_day {
                wrong.push(format!(
                    "{} has a rate of {} on {day}, and not of {}",
                    component.name,
                    shown(of_day / 100),
                    tax["rate"]
                ));
            }
            // Each has its whole coins and at most one of those that are missing; inside a price the net is rounded as
            // well, and what it leaves is the tax.
            let mut most = if inclusive {
                coins.own * Wide::try_from(2 + taxes.len()).map_err(Error::internal)?
            } else {
                coins.own
            };
            if !self.asked["stated_tax"].is_nothing() {
                most += coins.own * Wide::from(tolerance);
            }
            if rated && (amount * 100_000_000 - base * rate).abs() > most * 100_000_000 {
                wrong.push(format!("{} on {} is {}", component.name, shown(base), shown(amount)));
            }
            if matches!(kind, Some("standard" | "fixedPerUnit")) {
                before += amount;
            }
        }
        let (gross, discount) = (money(&figures["gross"])?, money(&figures["discount"])?);
        let stands = if inclusive { net + before } else { net };
        if gross - discount != stands {
            wrong.push(format!("{} less {} is not {}", shown(gross), shown(discount), shown(stands)));
        }
        Ok(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use DocumentKind::{CreditNote, DebitNote, PurchaseInvoice, SalesInvoice};

    #[test]
    fn what_is_halved_goes_away_from_nothing() {
        for (amount, under, wanted) in [(5, 10, 1), (-5, 10, -1), (4, 10, 0), (-4, 10, 0), (14, 10, 1), (15, 10, 2)] {
            assert_eq!(over(amount, under), wanted, "{amount} over {under}");
        }
    }

    #[test]
    fn what_is_kept_of_a_line_says_what_it_must_tell() {
        let coins = Coins { own: 100, home: 100 };
        let head: Said<'_> = serde_json::from_str(r#"{"exchange_rate": null}"#).unwrap();
        let asked: Said<'_> = serde_json::from_str(r#"{"id": "l", "tax": {"code": "c"}}"#).unwrap();
        let kept = |kind: &str, recoverable: &str| -> String {
            let tax = format!(
                r#"{{"component": "v", "kind": "{kind}", "rate": 20, "base": 100, "amount": 20, "recoverable": {recoverable}}}"#
            );
            let figures = format!(r#"{{"net": 100, "gross": 100, "discount": 0, "taxes": [{tax}]}}"#);
            format!(r#"{{"figures": {figures}, "base_net": 100, "base_taxes": [20]}}"#)
        };
        let says = |kind: DocumentKind, kept: &str| -> Vec<String> {
            let kept = serde_json::from_str(kept).unwrap();
            let line = Line { asked: &asked, kept: &kept, head: &head, kind };
            let made = line.made(coins).unwrap();
            let text = |((_, component, duty), told): (Key, Told)| {
                let figures =
                    [told.home_base, told.home_tax, told.not_recoverable].map(|units| (units / 10_000).to_string());
                format!("{component} {duty} {}", figures.join("/"))
            };
            made.into_iter().map(text).collect()
        };
        assert_eq!(says(SalesInvoice, &kept("standard", "20")), ["v what is owed 100/20/0"]);
        assert_eq!(says(CreditNote, &kept("standard", "20")), ["v what is owed -100/-20/0"]);
        assert_eq!(says(PurchaseInvoice, &kept("standard", "5")), ["v what is claimed 100/5/15"]);
        assert_eq!(
            says(DebitNote, &kept("reverseCharge", "5")),
            ["v what is claimed 0/-5/-15", "v what is owed -100/-20/0"]
        );
        assert_eq!(says(SalesInvoice, &kept("reverseCharge", "20")), ["v what is taxed 100/0/0"]);
        assert_eq!(says(SalesInvoice, &kept("withholding", "20")), ["v what is taxed 100/0/0"]);
    }
}
