//! Boxes of a return: whether each fact has those that its code says.

use super::super::{Findings, Wide, shown};
use super::facts::Fact;
use crate::clock::Instant;
use crate::ids::RecordId;
use schema::tables::{DocumentKind, TaxDuty, TaxOrigin, TaxSide};
use schema::tax_code as codes;
use std::collections::{HashMap, HashSet};

/// What stands in boxes, what must, and where these are not the same.
#[derive(Default)]
pub(super) struct Boxes {
    pub(super) told: Wide,
    pub(super) wanted: Wide,
    pub(super) findings: Findings,
}

/// Whether the code is now as it was when the fact was made. What takes back or off repeats what was there before.
fn is_as_it_was(fact: &Fact, code: &codes::Model, recorded: &HashMap<i64, Instant>) -> bool {
    let credits = matches!(fact.document_kind, DocumentKind::CreditNote | DocumentKind::DebitNote);
    let repeats = credits || fact.takes_back_id.is_some() || fact.settles_id.is_some();
    code.version == 1
        || (!repeats && recorded.get(&fact.entry_number).is_some_and(|recorded_at| code.updated_at <= *recorded_at))
}

const fn is_kept_back(duty: TaxDuty) -> bool {
    matches!(duty, TaxDuty::WithheldFromUs | TaxDuty::WithheldByUs)
}

/// The boxes of base and tax, as the code says.
fn boxes(fact: &Fact, code: &codes::Model) -> [Option<String>; 2] {
    let component = code.components.0.iter().find(|one| Some(one.id) == fact.component_id);
    let Some(component) = component.or(code.components.0.first()) else { return [code.report_box.clone(), None] };
    let named = &component.boxes;
    let base = match fact.side {
        TaxSide::Sale => named.sales_base.clone(),
        TaxSide::Purchase => named.purchase_base.clone(),
    };
    let tax = match (fact.duty, fact.side) {
        (TaxDuty::Owed, TaxSide::Sale) => named.sales_tax.as_deref(),
        (TaxDuty::Owed, TaxSide::Purchase) => named.purchase_due.as_deref(),
        (TaxDuty::Claimed, _) => named.purchase_claim.as_deref(),
        _ => None,
    };
    [base.or_else(|| code.report_box.clone()), tax.map(str::to_owned)]
}

impl Boxes {
    pub(super) fn add(&mut self, behind: Self) {
        (self.told, self.wanted) = (self.told + behind.told, self.wanted + behind.wanted);
        self.findings.add_all(behind.findings);
    }

    /// Compares facts, in the order of their entries. When these were recorded is `recorded`, where any code was changed.
    pub(super) fn compare(
        &mut self,
        facts: &[Fact],
        codes: &HashMap<RecordId, codes::Model>,
        recorded: &HashMap<i64, Instant>,
    ) {
        let mut said: HashSet<(i64, Option<RecordId>, TaxOrigin, String)> = HashSet::new();
        for fact in facts {
            let (base, tax) = (Wide::from(fact.home_base.units()), Wide::from(fact.home_tax.units()));
            let mut wanted = [fact.base_box.clone(), fact.tax_box.clone()];
            let code = fact.tax_code_id.and_then(|id| codes.get(&id)).filter(|code| is_as_it_was(fact, code, recorded));
            if let Some(code) = code {
                let [of_base, of_tax] = boxes(fact, code);
                // A base counts once for a line and box, however many components name it; what one settlement takes off for two
                // reasons it takes off twice.
                let counts = !is_kept_back(fact.duty) && base != 0;
                let first = |name: &String| said.insert((fact.entry_number, fact.line_id, fact.origin, name.clone()));
                wanted = [of_base.filter(|_| counts).filter(first), of_tax.filter(|_| tax != 0)];
            }
            let found = [fact.base_box.clone().filter(|_| base != 0), fact.tax_box.clone().filter(|_| tax != 0)];
            for ((found, wanted), (amount, what)) in found.into_iter().zip(wanted).zip([(base, "base"), (tax, "tax")]) {
                let of = |name: &Option<String>| if name.is_some() { amount } else { 0 };
                self.told += of(&found);
                self.wanted += of(&wanted);
                if found != wanted && amount != 0 {
                    let name = |name: Option<String>| name.unwrap_or_else(|| "none".into());
                    self.findings.add(format!(
                        "entry {} of {}, fact {}: the {what} of {} is in the box {}, and its code says {}",
                        fact.entry_number,
                        fact.entry_date,
                        fact.place,
                        shown(amount),
                        name(found),
                        name(wanted)
                    ));
                }
            }
        }
    }
}
