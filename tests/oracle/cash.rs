//! What is earned on cash basis: what documents earn and the tax on it count in the shares in which they are settled; goods,
//! equipment and the cost of sales stand as in the ledger. What does not count yet is not open with the party either.

use super::books::{Books, Document};
use super::command::{Key, What};
use super::exact::part;
use super::stock::lives;
use super::world::{CODES, account};
use std::collections::BTreeMap;

/// A part of a document that takes a share of what is settled.
struct Part {
    /// None for its goods, all of them together.
    account: Option<u16>,
    amount: i128,
    /// Whether it may take an odd coin: a tax does not.
    leads: bool,
}

impl Part {
    /// Whether it counts only when it is settled.
    fn waits(&self) -> bool {
        !matches!(self.account, None | Some(account::EQUIPMENT))
    }
}

impl Books {
    /// What a document comes to on the other side of its party: goods, then account by account, then tax by tax. What nobody
    /// charges is no part of what is settled.
    fn parts(&self, document: &Document) -> Option<(bool, Vec<Part>)> {
        let (sells, times, codes) = self.of_trade(document)?;
        let mut sums: BTreeMap<Option<u16>, i128> = BTreeMap::new();
        let mut taxes = Vec::new();
        for (place, (code, line)) in codes.into_iter().zip(&document.lines).enumerate() {
            let mut amount = line.home_net;
            let components = code.map_or(&[][..], |code| CODES[code].1);
            for (_, [_, tax, claimed]) in
                components.iter().zip(&line.home_taxes).filter(|(one, _)| one.kind.is_charged())
            {
                let (on, due) = if sells { (account::OUTPUT_TAX, *tax) } else { (account::INPUT_TAX, *claimed) };
                amount += if sells { 0 } else { tax - claimed };
                taxes.push(Part { account: Some(on), amount: due * times, leads: false });
            }
            *sums.entry(self.stands_on(document, place)).or_default() += amount * times;
        }
        if let What::Landed { amount, .. } = document.what {
            sums.insert(None, amount);
        }
        let mut parts: Vec<Part> =
            sums.into_iter().map(|(account, amount)| Part { account, amount, leads: true }).collect();
        parts.extend(taxes);
        Some((sells, parts))
    }

    /// Where a line of a document stands: nowhere by itself where it is goods that are bought.
    fn stands_on(&self, document: &Document, place: usize) -> Option<u16> {
        let (trade, place) = match &document.what {
            What::Trade(trade) => (trade, place),
            What::Credit(credit) => {
                let What::Trade(trade) = &self.documents[&credit.of].what else { panic!("credits are of invoices") };
                (trade, credit.lines[place].0)
            }
            what => panic!("{what:?} has no lines"),
        };
        let line = &trade.lines[place];
        match (trade.sells, line.item) {
            (true, _) => Some(account::SALES),
            (false, Some(_)) => None,
            (false, None) if line.equipment => Some(account::EQUIPMENT),
            (false, None) => Some(account::EXPENSE),
        }
    }

    /// By how much accounts stand otherwise at the end of a day: what was written and does not count yet. A debit is positive.
    pub fn uncounted_on(&self, day: usize) -> BTreeMap<u16, i128> {
        let mut waiting: BTreeMap<u16, i128> = BTreeMap::new();
        for (key, document) in self.documents.iter().filter(|(_, one)| lives(one.day, one.until, day)) {
            let Some((sells, parts)) = self.parts(document) else { continue };
            let Some(open) = document.open.as_ref().filter(|open| open.total != 0) else { continue };
            let sign = if sells { -1 } else { 1 };
            for (part, counts) in parts.iter().zip(self.counting(*key, &parts, open.total, day)) {
                if let Some(account) = part.account.filter(|_| part.waits()) {
                    let left = (part.amount - counts) * sign;
                    *waiting.entry(account).or_default() += left;
                    *waiting.entry(open.control()).or_default() -= left;
                }
            }
        }
        waiting.retain(|_, amount| *amount != 0);
        waiting
    }

    /// What of each part counts by the end of a day. What is taken off settles like money.
    fn counting(&self, key: Key, parts: &[Part], whole: i128, day: usize) -> Vec<i128> {
        let mut left: Vec<i128> = parts.iter().map(|part| part.amount).collect();
        let mut open = whole;
        for (amount, _) in self.portions(key, day) {
            let settled = amount.min(open);
            if settled <= 0 {
                continue;
            }
            let mut taken: Vec<i128> = left.iter().map(|left| part(*left, settled, open)).collect();
            let odd = part(left.iter().sum(), settled, open) - taken.iter().sum::<i128>();
            let leading = (0..parts.len()).filter(|place| parts[*place].leads);
            if let Some(largest) = leading.max_by_key(|place| taken[*place].abs()) {
                taken[largest] += odd;
            }
            left.iter_mut().zip(taken).for_each(|(left, taken)| *left -= taken);
            open -= settled;
        }
        parts.iter().zip(left).map(|(part, left)| part.amount - left).collect()
    }
}
