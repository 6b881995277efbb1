//! Where money came from and went to on a day.

use super::books::{Books, Document};
use super::command::{Key, What};
use super::exact::part;
use super::world::account;

/// Operating, investing and financing.
pub type Flow = [i128; 3];

const INVESTING: usize = 1;
const FINANCING: usize = 2;

/// The section of an account that holds no money.
const fn section(account: u16) -> usize {
    match account {
        account::EQUIPMENT => INVESTING,
        account::LOANS => FINANCING,
        _ => 0,
    }
}

/// What of a document is equipment, and what all of it comes to; in the company's currency, never less than 0.
fn equipment(books: &Books, document: &Document) -> (i128, i128) {
    let lines: Vec<bool> = match &document.what {
        What::Trade(trade) => trade.lines.iter().map(|line| line.equipment).collect(),
        What::Credit(credit) => {
            let What::Trade(trade) = &books.documents[&credit.of].what else { panic!("credits are of bills") };
            credit.lines.iter().map(|(place, _)| trade.lines[*place].equipment).collect()
        }
        _ => Vec::new(),
    };
    let cost = document.lines.iter().zip(lines).filter(|(_, is)| *is).map(|(line, _)| line.cost()).sum();
    (cost, document.open.as_ref().map_or(0, |open| open.base))
}

impl Books {
    /// What settled a document with money, and what was given back, in the order of days.
    fn paid(&self, key: Key) -> Vec<(usize, i128)> {
        let mut moves = Vec::new();
        for (number, one) in &self.settled {
            let (other, base) = match (one.asked.target == key, one.asked.source == key) {
                (true, _) => (one.asked.source, one.source_base),
                (_, true) => (one.asked.target, one.target_base),
                _ => continue,
            };
            if !matches!(self.documents[&other].what, What::Money(_)) {
                continue;
            }
            moves.push(((one.asked.day, *number), base));
            // What was undone was undone later than all that was done by then.
            moves.extend(one.until.map(|until| ((until, u32::MAX), -base)));
        }
        moves.sort_by_key(|(place, _)| *place);
        moves.into_iter().map(|((day, _), base)| (day, base)).collect()
    }

    /// `money` is what bank and cash moved by on the day.
    pub fn flow_on(&self, money: i128, day: usize) -> Flow {
        let mut flow = Flow::default();
        for (key, document) in &self.documents {
            if let What::Money(asked) = &document.what
                && let Some((on, amount, _)) = asked.direct
            {
                let sign = if asked.comes_in { 1 } else { -1 };
                let times = i128::from(document.day == day) - i128::from(document.until == Some(day));
                flow[section(on)] += sign * times * amount;
            }
            let (mut left, mut open) = equipment(self, document);
            let (whole, all) = (left, open);
            if whole == 0 {
                continue;
            }
            let brings = document.open.as_ref().is_some_and(|open| open.sign() > 0);
            for (on, base) in self.paid(*key) {
                // What is given back is a share of the whole; the last part takes the rest.
                let share = match base > 0 {
                    true if base >= open => left,
                    true => part(left, base, open),
                    false => part(whole, base, all),
                };
                (left, open) = (left - share, open - base.min(open));
                if on == day {
                    flow[INVESTING] += if brings { share } else { -share };
                }
            }
        }
        flow[0] = money - flow[INVESTING] - flow[FINANCING];
        flow
    }
}
