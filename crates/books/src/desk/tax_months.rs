//! What the facts of tax of a batch add to the sums of their months.

use crate::error::{Error, Result};
use crate::ids::{BusinessId, RecordId};
use crate::money::BookMoney;
use schema::tables::{entry_lines, tax_facts, tax_months};
use std::collections::{BTreeMap, HashMap, HashSet};

/// What is added to a month: the base of what leads its line and of what stands beside it, tax, what is not recoverable, and what the ledger lines move.
type Sums = [BookMoney; 5];

const NOTHING: Sums = [BookMoney::ZERO; 5];

/// What a fact says, as the key of its sums.
fn said(fact: &tax_facts::Model) -> tax_months::Model {
    let text = |said: &Option<String>| said.as_ref().map_or_else(String::new, Clone::clone);
    tax_months::Model {
        business_id: fact.business_id,
        month: fact.date.year_and_month(),
        tax_code_id: fact.tax_code_id.unwrap_or(RecordId::NONE),
        component_id: fact.component_id.unwrap_or(RecordId::NONE),
        component: text(&fact.component),
        side: fact.side.to_string(),
        duty: fact.duty.to_string(),
        origin: fact.origin.to_string(),
        kind: fact.kind.map_or_else(String::new, |kind| kind.to_string()),
        base_box: text(&fact.base_box),
        tax_box: text(&fact.tax_box),
        base: BookMoney::ZERO,
        base_beside: BookMoney::ZERO,
        tax: BookMoney::ZERO,
        not_recoverable: BookMoney::ZERO,
        posted: BookMoney::ZERO,
    }
}

/// The same in an order that every process shares.
fn place(key: &tax_months::Model) -> impl Ord + use<> {
    let texts = [&key.month, &key.component, &key.side, &key.duty, &key.origin, &key.kind, &key.base_box, &key.tax_box];
    (key.business_id, texts.map(Clone::clone), key.tax_code_id, key.component_id)
}

/// What facts add to each month.
pub fn tax_months(facts: &[tax_facts::Model], lines: &[entry_lines::Model]) -> Result<Vec<tax_months::Model>> {
    if facts.is_empty() {
        return Ok(Vec::new());
    }
    let amounts: HashMap<(BusinessId, i64, i64), BookMoney> =
        lines.iter().map(|line| ((line.business_id, line.entry_number, line.position), line.amount)).collect();
    let mut counted = HashSet::new();
    let mut months = BTreeMap::new();
    for fact in facts {
        let key = said(fact);
        let (_, sums) = months.entry(place(&key)).or_insert((key, NOTHING));
        let line = fact.position.map(|position| (fact.business_id, fact.entry_number, position));
        // Several facts may name one line; it moved once.
        let posted = match line.filter(|line| counted.insert(*line)) {
            Some(line) => {
                *amounts.get(&line).ok_or_else(|| Error::internal("a fact of tax names a line there is not"))?
            }
            None => BookMoney::ZERO,
        };
        let (leads, beside) =
            if fact.leads { (fact.home_base, BookMoney::ZERO) } else { (BookMoney::ZERO, fact.home_base) };
        let added = [leads, beside, fact.home_tax, fact.not_recoverable, posted];
        for (sum, more) in sums.iter_mut().zip(added) {
            *sum = sum.checked_add(more).ok_or_else(Error::too_large)?;
        }
    }
    let months = months.into_values().map(|(key, [base, base_beside, tax, not_recoverable, posted])| {
        tax_months::Model { base, base_beside, tax, not_recoverable, posted, ..key }
    });
    Ok(months.collect())
}
