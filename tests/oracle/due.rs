//! What is due of a document by a day: of each of its figures a share of what is left, settlement by settlement in the
//! order of days; and where goods wait, note by note.

use super::books::{Books, Document, Settled, TaxFigures};
use super::command::{Key, What};
use super::exact::part;
use super::stock::{Dearer, Fact, Outcome, Source, lives, story};
use super::world::{CODES, TaxKind};
use std::collections::BTreeMap;

/// A figure of a document that is shared when it is settled.
#[derive(Debug, Clone)]
pub struct Row {
    pub code: Option<usize>,
    /// Of its code.
    pub component: usize,
    /// Where its base, its tax and what of that cannot be claimed stand among the figures of tax.
    pub places: [usize; 3],
    pub figures: [i128; 3],
    /// Whether its base is the turnover of its line.
    pub leads: bool,
}

/// What is settled at once, and whether it counts or lapses.
pub type Portion = (i128, bool);

impl Books {
    /// Whether it sells, and what makes it negative; none for what always counts when it is written.
    pub fn of_trade(&self, document: &Document) -> Option<(bool, i128, Vec<Option<usize>>)> {
        match &document.what {
            What::Trade(trade) => Some((trade.sells, 1, trade.lines.iter().map(|line| line.code).collect())),
            What::Credit(credit) => {
                let What::Trade(trade) = &self.documents[&credit.of].what else { panic!("credits are of invoices") };
                let codes = credit.lines.iter().map(|(place, _)| trade.lines[*place].code).collect();
                Some((trade.sells, -1, codes))
            }
            What::Landed { .. } => Some((false, 1, vec![None])),
            _ => None,
        }
    }

    /// The figures of a document that wait for its settlement. A reverse charge does not.
    pub fn rows(&self, document: &Document) -> Vec<Row> {
        let Some((sells, times, codes)) = self.of_trade(document) else { return Vec::new() };
        let places = if sells { [0, 1, 4] } else { [2, 3, 4] };
        let mut rows = Vec::new();
        let nets: Vec<i128> = match &document.what {
            What::Landed { amount, .. } => vec![*amount],
            _ => document.lines.iter().map(|line| line.home_net).collect(),
        };
        for (line, (code, net)) in codes.into_iter().zip(nets).enumerate() {
            let Some(of_code) = code else {
                rows.push(Row { code, component: 0, places, figures: [net * times, 0, 0], leads: true });
                continue;
            };
            let mut leads = true;
            let taxes = CODES[of_code].1.iter().zip(&document.lines[line].home_taxes);
            for (place, (component, [_, tax, claimed])) in taxes.enumerate() {
                let (tax, lost) = match (component.kind.is_charged(), sells) {
                    (true, true) => (*tax, 0),
                    (true, false) => (*claimed, tax - claimed),
                    (false, _) => (0, 0),
                };
                let base = if leads { net } else { 0 };
                if component.kind != TaxKind::Reverse {
                    let figures = [base * times, tax * times, lost * times];
                    rows.push(Row { code, component: place, places, figures, leads });
                }
                leads = false;
            }
        }
        rows
    }

    /// How a document was settled by the end of a day.
    pub fn portions(&self, key: Key, day: usize) -> Vec<Portion> {
        let mut all: Vec<(&Key, &Settled)> = self
            .settled
            .iter()
            .filter(|(_, one)| lives(one.asked.day, one.until, day))
            .filter(|(_, one)| one.asked.source == key || one.asked.target == key)
            .collect();
        all.sort_by_key(|(number, one)| (one.asked.day, **number));
        let of = |one: &Settled| {
            if one.asked.source == key {
                return vec![(one.asked.used, true)];
            }
            // No tax is owed on what is taken off.
            vec![(one.asked.amount + one.asked.withheld, true), (one.asked.discount + one.asked.written_off, false)]
        };
        all.into_iter().flat_map(|(_, one)| of(one)).collect()
    }

    /// What of each row counts by the end of a day.
    pub fn due(&self, key: Key, day: usize) -> Vec<(Row, [i128; 3])> {
        let document = &self.documents[&key];
        if !lives(document.day, document.until, day) {
            return Vec::new();
        }
        let rows = self.rows(document);
        let mut open = document.open.as_ref().map_or(0, |open| open.total);
        if open == 0 {
            // What nobody has to pay counts when it is written.
            return rows.into_iter().map(|row| (row.clone(), row.figures)).collect();
        }
        let paid = |figures: &[[i128; 3]]| -> i128 { figures.iter().flatten().sum() };
        let mut left: Vec<[i128; 3]> = rows.iter().map(|row| row.figures).collect();
        let mut due = vec![[0; 3]; rows.len()];
        for (amount, counts) in self.portions(key, day) {
            let settled = amount.min(open);
            if settled <= 0 {
                continue;
            }
            let mut taken: Vec<[i128; 3]> =
                left.iter().map(|figures| figures.map(|figure| part(figure, settled, open))).collect();
            // Bases and taxes add up to the share of all: the largest base takes the odd coin.
            let odd = part(paid(&left), settled, open) - paid(&taken);
            if let Some(largest) = (0..rows.len()).filter(|row| rows[*row].leads).max_by_key(|row| taken[*row][0].abs())
            {
                taken[largest][0] += odd;
            }
            for (row, share) in taken.iter().enumerate() {
                for (figure, share) in share.iter().enumerate() {
                    left[row][figure] -= share;
                    due[row][figure] += if counts { *share } else { 0 };
                }
            }
            open -= settled;
        }
        rows.into_iter().zip(due).collect()
    }

    /// The tax that counts on a day on cash basis, by code.
    pub fn cash_tax_on(&self, day: usize) -> BTreeMap<Option<usize>, TaxFigures> {
        let mut sums = self.tax_on(day);
        let mut add = |row: &Row, figures: &[i128; 3], times: i128| {
            let sum = sums.entry(row.code).or_default();
            for (place, figure) in row.places.iter().zip(figures) {
                sum[*place] += figure * times;
            }
        };
        for (key, document) in &self.documents {
            // What is written of it, or taken back, does not count as such.
            for row in self.rows(document) {
                let written = i128::from(document.day == day) - i128::from(document.until == Some(day));
                add(&row, &row.figures, -written);
            }
            for (row, due) in self.due(*key, day) {
                add(&row, &due, 1);
            }
            if let Some(before) = day.checked_sub(1) {
                for (row, due) in self.due(*key, before) {
                    add(&row, &due, -1);
                }
            }
        }
        sums.retain(|_, figures| figures.iter().any(|figure| *figure != 0));
        sums
    }

    /// What waits of notes at the end of a day: how many, and what they are carried at. Less than nothing is what came
    /// back that was invoiced, or was invoiced before it was there.
    pub fn waiting(&self, delivered: bool, items: &[Vec<Outcome>], day: usize) -> BTreeMap<Key, (i128, i128)> {
        let mut sums: BTreeMap<Key, (i128, i128)> = BTreeMap::new();
        for (key, document) in &self.documents {
            let What::Note(note) = &document.what else { continue };
            if note.sells != delivered {
                continue;
            }
            let live = |from: usize, until: Option<usize>| lives(from, until, day);
            let here = live(document.day, document.until);
            let sum = sums.entry(*key).or_default();
            for (place, (item, quantity, cost)) in note.lines.iter().enumerate() {
                let source: Source = (*key, place);
                if here {
                    sum.0 += quantity;
                    sum.1 += if delivered {
                        items[*item][day].waits.get(&source).map_or(0, |[waits, _]| *waits)
                    } else {
                        // What a bill makes dearer is no part of what waits.
                        let facts: Vec<&Fact> = self.facts.iter().filter(|fact| fact.item == *item).collect();
                        quantity * cost / 1_000 + story(&facts, &self.changes, source, day).dearer
                    };
                }
            }
            for (of, other) in self.ever_derived(*key).filter(|(_, one)| live(one.day, one.until)) {
                match &other.what {
                    What::Trade(trade) => {
                        for (line, asked) in other.lines.iter().zip(&trade.lines) {
                            sum.0 -= asked.quantity;
                            sum.1 -= if delivered { 0 } else { line.cost() };
                        }
                    }
                    What::Return { lines, .. } => {
                        for (line, (place, quantity)) in lines.iter().enumerate() {
                            sum.0 -= quantity;
                            let facts: Vec<&Fact> =
                                self.facts.iter().filter(|fact| fact.item == note.lines[*place].0).collect();
                            let back = story(&facts, &self.changes, (*key, *place), day).back;
                            sum.1 -= if delivered { 0 } else { back[&(of, line)] };
                        }
                    }
                    _ => {}
                }
            }
        }
        // Freight that is billed before the goods of a bill stands with that bill until they are there.
        for (key, document) in self.documents.iter().filter(|_| !delivered) {
            let bill = |of: Key| self.documents.get(&of).filter(|bill| matches!(bill.what, What::Trade(_)));
            for change in self.changes.iter().filter(|change| change.of.0 == *key) {
                let waits = bill(change.of.0).is_some() && lives(change.day, change.until, day);
                if let (true, Dearer::Beside(amount)) =
                    (waits && !lives(document.day, document.until, day), change.what)
                {
                    sums.entry(*key).or_default().1 -= amount;
                }
            }
        }
        sums.retain(|_, there| *there != (0, 0));
        sums
    }
}
