//! The boxes of a tax return: what goes into each on a day, by invoice and on cash basis.

use super::books::{Books, Document};
use super::command::What;
use super::due::Row;
use super::tax::Taxed;
use super::world::{CODES, TaxKind, account};
use std::collections::BTreeMap;

/// What a return says of a day.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Return {
    /// Base and tax of each box.
    pub boxes: BTreeMap<&'static str, [i128; 2]>,
    /// What no box takes, code by code.
    pub outside: BTreeMap<Option<usize>, [i128; 2]>,
    /// Tax that is owed and tax that is claimed.
    pub totals: [i128; 2],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Duty {
    Owed,
    Claimed,
    Neither,
}

/// What a component of a line tells.
struct Said {
    code: Option<usize>,
    component: usize,
    sells: bool,
    duty: Duty,
    leads: bool,
    base: i128,
    tax: i128,
}

impl Said {
    /// The box of its base: each box takes the base of a line once.
    fn base_box(&self) -> Option<&'static str> {
        let components = CODES[self.code?].1;
        let of = |place: usize| {
            let boxes = &components[place].boxes;
            if self.sells { boxes.sales_base } else { boxes.purchase_base }
        };
        let own = of(self.component).filter(|_| self.leads || self.base != 0);
        own.filter(|own| (0..self.component).all(|before| of(before) != Some(own)))
    }

    fn tax_box(&self) -> Option<&'static str> {
        let boxes = &CODES[self.code?].1[self.component].boxes;
        match (self.duty, self.sells) {
            (Duty::Owed, true) => boxes.sales_tax,
            (Duty::Owed, false) => boxes.purchase_due,
            (Duty::Claimed, _) => boxes.purchase_claim,
            (Duty::Neither, _) => None,
        }
    }
}

impl Return {
    fn add(&mut self, said: &Said, times: i128) {
        let (base, tax) = (said.base * times, said.tax * times);
        match said.duty {
            Duty::Owed => self.totals[0] += tax,
            Duty::Claimed => self.totals[1] += tax,
            Duty::Neither => {}
        }
        for (place, name, amount) in [(0, said.base_box(), base), (1, said.tax_box(), tax)] {
            match name {
                Some(name) => self.boxes.entry(name).or_default()[place] += amount,
                None if place == 1 || said.leads => self.outside.entry(said.code).or_default()[place] += amount,
                None => {}
            }
        }
    }

    fn clean(mut self) -> Self {
        self.boxes.retain(|_, sums| *sums != [0, 0]);
        self.outside.retain(|_, sums| *sums != [0, 0]);
        self
    }
}

/// A row that waits for its settlement, with some figures of it.
fn of_row(row: &Row, [base, tax, _]: [i128; 3]) -> Said {
    let sells = row.places[0] == 0;
    let kind = row.code.map(|code| CODES[code].1[row.component].kind);
    let duty = match kind {
        Some(kind) if kind.is_charged() => {
            if sells {
                Duty::Owed
            } else {
                Duty::Claimed
            }
        }
        _ => Duty::Neither,
    };
    Said { code: row.code, component: row.component, sells, duty, leads: row.leads, base, tax }
}

/// What a line tells of reverse charges, which are owed when they are written.
fn reversed(sells: bool, code: Option<usize>, line: &Taxed, times: i128, all: &mut Vec<Said>) {
    let Some(of_code) = code else { return };
    for (component, (one, [_, tax, claimed])) in CODES[of_code].1.iter().zip(&line.home_taxes).enumerate() {
        if one.kind != TaxKind::Reverse {
            continue;
        }
        let leads = component == 0;
        let base = if leads { line.home_net * times } else { 0 };
        let said = |duty, base, tax: i128, leads| Said { code, component, sells, duty, leads, base, tax: tax * times };
        if sells {
            all.push(said(Duty::Neither, base, 0, leads));
        } else {
            all.push(said(Duty::Owed, base, *tax, leads));
            all.push(said(Duty::Claimed, 0, *claimed, false));
        }
    }
}

impl Books {
    /// What a document tells that never waits for its settlement: reverse charges, and lines of receipts and payments.
    fn at_once(&self, document: &Document) -> Vec<Said> {
        let mut all = Vec::new();
        if let Some((sells, times, codes)) = self.of_trade(document) {
            for (code, line) in codes.into_iter().zip(&document.lines) {
                reversed(sells, code, line, times, &mut all);
            }
        }
        let What::Money(money) = &document.what else { return all };
        let Some((on, _, code)) = money.direct else { return all };
        if [account::EQUIPMENT, account::LOANS].contains(&on) {
            return all;
        }
        let sells = (account::SALES..account::COST).contains(&on);
        let times = if sells == money.comes_in { 1 } else { -1 };
        let line = &document.lines[0];
        let Some(of_code) = code else {
            let base = line.home_net * times;
            return vec![Said { code, component: 0, sells, duty: Duty::Neither, leads: true, base, tax: 0 }];
        };
        reversed(sells, code, line, times, &mut all);
        for (component, (one, [_, tax, claimed])) in CODES[of_code].1.iter().zip(&line.home_taxes).enumerate() {
            let leads = component == 0;
            let base = if leads { line.home_net * times } else { 0 };
            let (duty, tax) = match (one.kind, sells) {
                (TaxKind::Reverse, _) => continue,
                (TaxKind::Withheld, _) => (Duty::Neither, *tax),
                (kind, true) if kind.is_charged() => (Duty::Owed, *tax),
                (kind, false) if kind.is_charged() => (Duty::Claimed, *claimed),
                _ => (Duty::Neither, 0),
            };
            all.push(Said { code, component, sells, duty, leads, base, tax: tax * times });
        }
        all
    }

    /// By invoice, or on cash basis.
    pub fn return_on(&self, by_cash: bool, day: usize) -> Return {
        let mut told = Return::default();
        for (key, document) in &self.documents {
            let times = i128::from(document.day == day) - i128::from(document.until == Some(day));
            for said in self.at_once(document) {
                told.add(&said, times);
            }
            if by_cash {
                for (row, due) in self.due(*key, day) {
                    told.add(&of_row(&row, due), 1);
                }
                for (row, due) in day.checked_sub(1).map_or_else(Vec::new, |before| self.due(*key, before)) {
                    told.add(&of_row(&row, due), -1);
                }
            } else {
                for row in self.rows(document) {
                    told.add(&of_row(&row, row.figures), times);
                }
            }
        }
        for one in self.settled.values() {
            for row in &one.tax {
                let times = i128::from(row.day == day) - i128::from(one.until == Some(day));
                told.outside.entry(row.code).or_default()[1] += (row.figures[5] + row.figures[6]) * times;
            }
        }
        told.clean()
    }
}
