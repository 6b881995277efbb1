//! What of facts is held against the ledger: each line on an account of tax is what the facts tell that name it.

use super::super::{Findings, Wide, shown};
use super::side;
use crate::day::Day;
use crate::ids::RecordId;
use crate::money::BookMoney;
use schema::tables::{DocumentKind, TaxDuty, TaxOrigin, TaxSide, entry_lines, tax_facts};
use std::collections::HashMap;

answers::of_row! {
    /// What of a fact is held against the ledger and against its code.
    pub(super) struct Fact {
        pub(super) entry_number: i64,
        pub(super) place: i64,
        pub(super) position: Option<i64>,
        pub(super) entry_date: Day,
        pub(super) document_kind: DocumentKind,
        pub(super) line_id: Option<RecordId>,
        pub(super) settles_id: Option<RecordId>,
        pub(super) takes_back_id: Option<RecordId>,
        pub(super) side: TaxSide,
        pub(super) duty: TaxDuty,
        pub(super) origin: TaxOrigin,
        pub(super) tax_code_id: Option<RecordId>,
        pub(super) component_id: Option<RecordId>,
        pub(super) base_box: Option<String>,
        pub(super) tax_box: Option<String>,
        pub(super) home_base: BookMoney,
        pub(super) home_tax: BookMoney,
    }
}

impl Fact {
    pub(super) const COLUMNS: [tax_facts::Column; 17] = [
        tax_facts::Column::EntryNumber,
        tax_facts::Column::Place,
        tax_facts::Column::Position,
        tax_facts::Column::EntryDate,
        tax_facts::Column::DocumentKind,
        tax_facts::Column::LineId,
        tax_facts::Column::SettlesId,
        tax_facts::Column::TakesBackId,
        tax_facts::Column::Side,
        tax_facts::Column::Duty,
        tax_facts::Column::Origin,
        tax_facts::Column::TaxCodeId,
        tax_facts::Column::ComponentId,
        tax_facts::Column::BaseBox,
        tax_facts::Column::TaxBox,
        tax_facts::Column::HomeBase,
        tax_facts::Column::HomeTax,
    ];
}

/// Ledger lines on accounts of tax beside the facts that name them.
#[derive(Default)]
pub(super) struct Ledger {
    pub(super) told: Wide,
    pub(super) moved: Wide,
    pub(super) findings: Findings,
}

impl Ledger {
    pub(super) fn add(&mut self, behind: Self) {
        (self.told, self.moved) = (self.told + behind.told, self.moved + behind.moved);
        self.findings.add_all(behind.findings);
    }

    pub(super) fn compare(&mut self, facts: &[Fact], lines: &[entry_lines::Model]) {
        let mut named: HashMap<(i64, i64), Wide> = HashMap::new();
        for fact in facts {
            let tax = side(fact.duty) * Wide::from(fact.home_tax.units());
            match fact.position {
                Some(position) => *named.entry((fact.entry_number, position)).or_default() += tax,
                None if tax != 0 && fact.origin != TaxOrigin::Opening => {
                    self.findings.add(format!("entry {}: tax of {} names no line", fact.entry_number, fact.home_tax));
                }
                None => {}
            }
        }
        for line in lines {
            let amount = Wide::from(line.amount.units());
            self.moved += amount;
            match named.remove(&(line.entry_number, line.position)) {
                Some(told) => {
                    self.told += told;
                    if told != amount {
                        self.findings.add(format!(
                            "entry {} line {}: moves {}, and its facts tell {}",
                            line.entry_number,
                            line.position,
                            shown(amount),
                            shown(told)
                        ));
                    }
                }
                None => self.findings.add(format!(
                    "entry {} line {} is on an account of tax, and nothing tells of it",
                    line.entry_number, line.position
                )),
            }
        }
        for (entry, position) in named.into_keys() {
            self.findings.add(format!("entry {entry} line {position} is told to be tax, and is on no account of tax"));
        }
    }
}
