//! What a desk remembers of a company to judge its documents by.
//!
//! Owns: the facts, read once and kept until they may have changed. Refuses: to judge.

use super::Desk;
use crate::chart::Chart;
use crate::day::Day;
use crate::error::Result;
use crate::ids::{BusinessId, RecordId};
use crate::numbering::Numbering;
use crate::periods::Periods;
use crate::tax_codes::TaxCodes;
use crate::terms::Terms;
use answers::Answers;
use schema::tables::{DocumentKind, document_lines};
use sea_orm::ConnectionTrait;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use words::sown::{Fault, sown};

#[derive(Default)]
pub(super) struct Facts {
    chart: Option<Arc<Chart>>,
    numbering: Option<Arc<Numbering>>,
    periods: Option<Arc<Periods>>,
    taxes: Option<Arc<TaxCodes>>,
    terms: Option<Arc<Terms>>,
    pub(super) parties: HashMap<RecordId, Arc<schema::party::Model>>,
    items: HashMap<RecordId, Arc<schema::item::Model>>,
    /// The last day on which stock of an item was adjusted, or a later one; nothing where it never was.
    adjusted: HashMap<RecordId, Option<Day>>,
}

/// What a company weighs by itself, in facts.
const BESIDE: usize = 4;

/// So many days weigh as much as a party or an item.
const SMALL: usize = 8;

impl Facts {
    pub(super) fn count(&self) -> usize {
        self.chart.iter().map(|chart| chart.count()).sum::<usize>()
            + self.parties.len()
            + self.items.len()
            + self.adjusted.len() / SMALL
            + BESIDE
    }
}

/// The item that a line of a stock adjustment is about, and its day.
fn adjusts(line: &document_lines::Model) -> Option<(RecordId, Day)> {
    line.item_id.filter(|_| line.kind == DocumentKind::StockAdjustment).map(|item| (item, line.date))
}

impl Desk {
    /// One of the facts, if it is remembered.
    pub(super) fn fact<T>(&self, business: BusinessId, of: fn(&Facts) -> &Option<Arc<T>>) -> Option<Arc<T>> {
        self.inner().companies.get(&business).and_then(|company| of(&company.facts).clone())
    }

    fn learn(&self, business: BusinessId, learn: impl FnOnce(&mut Facts)) {
        if let Some(company) = self.inner().companies.get_mut(&business) {
            learn(&mut company.facts);
        }
    }

    pub async fn chart(&self, connection: &impl ConnectionTrait, business: BusinessId) -> Result<Arc<Chart>> {
        if let Some(chart) = self.fact(business, |facts| &facts.chart) {
            return Ok(chart);
        }
        let chart = Arc::new(crate::chart::load(connection, business).await?);
        self.learn(business, |facts| facts.chart = Some(chart.clone()));
        Ok(chart)
    }

    pub async fn numbering(&self, connection: &impl ConnectionTrait, business: BusinessId) -> Result<Arc<Numbering>> {
        if let Some(numbering) = self.fact(business, |facts| &facts.numbering) {
            return Ok(numbering);
        }
        let numbering = Arc::new(Numbering::load(connection, business).await?);
        self.learn(business, |facts| facts.numbering = Some(numbering.clone()));
        Ok(numbering)
    }

    pub async fn periods(&self, connection: &impl ConnectionTrait, business: BusinessId) -> Result<Arc<Periods>> {
        if let Some(periods) = self.fact(business, |facts| &facts.periods) {
            return Ok(periods);
        }
        let periods = Arc::new(Periods::load(connection, business).await?);
        self.learn(business, |facts| facts.periods = Some(periods.clone()));
        Ok(periods)
    }

    pub async fn taxes(&self, connection: &impl ConnectionTrait, business: BusinessId) -> Result<Arc<TaxCodes>> {
        if let Some(taxes) = self.fact(business, |facts| &facts.taxes) {
            return Ok(taxes);
        }
        let taxes = Arc::new(TaxCodes::load(connection, business).await?);
        self.learn(business, |facts| facts.taxes = Some(taxes.clone()));
        Ok(taxes)
    }

    pub async fn terms(&self, connection: &impl ConnectionTrait, business: BusinessId) -> Result<Arc<Terms>> {
        if let Some(terms) = self.fact(business, |facts| &facts.terms) {
            return Ok(terms);
        }
        let terms = Arc::new(Terms::load(connection, business).await?);
        self.learn(business, |facts| facts.terms = Some(terms.clone()));
        Ok(terms)
    }

    /// Those of these parties that there are.
    pub async fn parties(
        &self,
        connection: &impl ConnectionTrait,
        business: BusinessId,
        asked: &HashSet<RecordId>,
    ) -> Result<HashMap<RecordId, Arc<schema::party::Model>>> {
        let (mut known, missing) = self.known(business, asked, |facts| &facts.parties);
        if !missing.is_empty() {
            let found = crate::parties::load(connection, business, &missing)
                .await?
                .into_iter()
                .map(|row| (row.id, Arc::new(row)));
            let found: Vec<_> = found.collect();
            known.extend(found.iter().cloned());
            self.learn(business, |facts| facts.parties.extend(found));
        }
        Ok(known)
    }

    /// Those of these items that there are.
    pub async fn items(
        &self,
        connection: &impl ConnectionTrait,
        business: BusinessId,
        asked: &HashSet<RecordId>,
    ) -> Result<HashMap<RecordId, Arc<schema::item::Model>>> {
        let (mut known, missing) = self.known(business, asked, |facts| &facts.items);
        if !missing.is_empty() {
            let found = crate::items::load(connection, business, &missing)
                .await?
                .into_iter()
                .map(|row| (row.id, Arc::new(row)));
            let found: Vec<_> = found.collect();
            known.extend(found.iter().cloned());
            self.learn(business, |facts| facts.items.extend(found));
        }
        Ok(known)
    }

    /// The last day on which stock of each of these items was adjusted, or a later one.
    pub(crate) async fn adjusted(
        &self,
        connection: &impl Answers,
        business: BusinessId,
        asked: &HashSet<RecordId>,
    ) -> Result<HashMap<RecordId, Option<Day>>> {
        let (mut known, missing) = self.known(business, asked, |facts| &facts.adjusted);
        if !missing.is_empty() {
            let mut found = crate::stock::counted::adjusted(connection, business, &missing).await?;
            for line in self.inner().pending.document_lines.iter().filter(|line| line.business_id == business) {
                if let Some((item, day)) = adjusts(line)
                    && let Some(last) = found.get_mut(&item)
                {
                    *last = Ord::max(*last, Some(day));
                }
            }
            known.extend(&found);
            self.learn(business, |facts| facts.adjusted.extend(found));
        }
        Ok(known)
    }

    /// A line is kept: what is remembered of the last day follows. What is taken away again leaves it, which costs a question and
    /// no more.
    pub(super) fn note_adjusted(&self, line: &document_lines::Model) {
        let Some((item, day)) = adjusts(line).filter(|_| !sown(Fault::LastAdjustmentStandsStill)) else { return };
        self.learn(line.business_id, |facts| {
            if let Some(last) = facts.adjusted.get_mut(&item) {
                *last = Ord::max(*last, Some(day));
            }
        });
    }

    /// What is remembered of these, and which of them are not.
    fn known<T: Clone>(
        &self,
        business: BusinessId,
        asked: &HashSet<RecordId>,
        of: fn(&Facts) -> &HashMap<RecordId, T>,
    ) -> (HashMap<RecordId, T>, HashSet<RecordId>) {
        let inner = self.inner();
        let Some(company) = inner.companies.get(&business) else { return (HashMap::new(), asked.clone()) };
        let remembered = of(&company.facts);
        let known = asked.iter().filter_map(|id| Some((*id, remembered.get(id)?.clone()))).collect();
        let missing = asked.iter().filter(|id| !remembered.contains_key(id)).copied().collect();
        (known, missing)
    }
}
