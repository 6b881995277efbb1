//! A seed, and the commands that it makes of what the books hold.

use super::books::{Books, Document, Open};
use super::command::{Allocate, Command, Credit, Key, Money, Note, Trade, What};
use super::tax::Line;
use super::world::{CODES, DAYS, ITEMS, PARTIES, RATES, YEAR_END, account};

/// Splitmix: the same numbers for the same seed, everywhere.
pub struct Dice(u64);

impl Dice {
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, most: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(most).unwrap()).unwrap()
    }

    pub fn from(&mut self, least: i128, most: i128) -> i128 {
        least + i128::from(self.next()) % (most - least + 1)
    }

    /// One of so many times.
    pub fn one_of(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub fn pick<'l, T>(&mut self, list: &'l [T]) -> Option<&'l T> {
        if list.is_empty() { None } else { list.get(self.below(list.len())) }
    }
}

pub struct Stream {
    dice: Dice,
    key: Key,
    /// The day that it has got to; most commands are of it.
    today: usize,
    length: usize,
}

impl Stream {
    pub const fn new(seed: u64, length: usize) -> Self {
        Self { dice: Dice::new(seed), key: 0, today: 5, length }
    }

    /// A command that suits what is there.
    pub fn next(&mut self, books: &Books) -> Command {
        self.key += 1;
        let progress = usize::try_from(self.key).unwrap() * (DAYS - 25) / self.length;
        self.today = self.today.max(5 + progress).min(DAYS - 15);
        let in_a = self.dice.one_of(2);
        for _ in 0..50 {
            if let Some(what) = self.what(books) {
                return Command { key: self.key, in_a, what };
            }
        }
        Command { key: self.key, in_a, what: self.journal(books) }
    }

    /// A fifth is dated back, as far as the books are open, or just before it.
    fn day(&mut self, books: &Books) -> usize {
        let first = books.first_open();
        let day = if self.dice.one_of(5) { self.dice.below(self.today + 1) } else { self.today + self.dice.below(4) };
        if day < first && !self.dice.one_of(8) { (first + self.dice.below(6)).min(DAYS - 12) } else { day }
    }

    fn what(&mut self, books: &Books) -> Option<What> {
        Some(match self.dice.below(100) {
            0..3 => self.journal(books),
            3..4 => {
                What::Contra { day: self.day(books), amount: self.dice.from(500, 90_000), fee: self.dice.from(0, 300) }
            }
            4..26 => What::Trade(self.trade(books)),
            26..27 => What::Standard { day: self.day(books), cost: self.dice.from(700, 1_500) },
            27..33 => self.note(books),
            33..38 => self.of_note(books)?,
            38..39 => self.landed(books)?,
            39..42 => self.adjust(books),
            42..53 => self.money(books),
            53..66 => What::Allocate(self.allocate(books)?),
            66..77 => What::Credit(self.credit(books)?),
            77..86 => self.edit(books)?,
            86..95 => self.void(books)?,
            95..98 => self.lock(books),
            _ if books.closed => What::Reopen,
            _ if self.today > YEAR_END + 5 && books.locked.is_none_or(|day| day < YEAR_END || self.dice.one_of(6)) => {
                What::Close
            }
            _ => return None,
        })
    }

    fn journal(&mut self, books: &Books) -> What {
        let accounts: [u16; 9] = [6000, 6200, 4100, 3000, 2700, 1600, 2500, 4700, 6100];
        let mut lines = Vec::new();
        let mut sum = 0;
        for _ in 0..=self.dice.below(3) {
            let amount = self.dice.from(1, 50_000) * if self.dice.one_of(2) { 1 } else { -1 };
            sum += amount;
            lines.push((*self.dice.pick(&accounts).unwrap(), amount));
        }
        if sum == 0 {
            lines[0].1 += 100;
            sum = 100;
        }
        lines.push((3100, -sum));
        What::Journal { day: self.day(books), lines }
    }

    fn line(&mut self, books: &Books, sells: bool, day: usize) -> Line {
        let item = if self.dice.one_of(3) { None } else { Some(self.dice.below(ITEMS.len())) };
        let mut quantity = self.dice.from(1, 12) * 1_000;
        if self.dice.one_of(6) {
            quantity += 500;
        }
        // What may not be missing is sold where it is there.
        if let Some(item) = item.filter(|item| sells && !ITEMS[*item].1) {
            let there = books.item(item)[day..].iter().map(|there| there.quantity).min().unwrap_or_default();
            if there > 0 && !self.dice.one_of(12) {
                quantity = self.dice.from(1, (there / 1_000).max(1)).min(8) * 1_000;
            }
        }
        let price = match self.dice.below(4) {
            0 => self.dice.from(1, 60) * 1_000_000,
            1 => self.dice.from(1, 30_000_000),
            _ => self.dice.from(1, 5_000) * 10_000,
        };
        let off = if self.dice.one_of(5) { *self.dice.pick(&[1_000, 333, 10_000, 1_250]).unwrap() } else { 0 };
        let code = if self.dice.one_of(4) { None } else { Some(self.dice.below(CODES.len())) };
        let equipment = !sells && item.is_none() && self.dice.one_of(3);
        Line { item, quantity, price, off, code, equipment }
    }

    fn trade(&mut self, books: &Books) -> Trade {
        let day = self.day(books);
        let sells = self.dice.one_of(2);
        let currency = if self.dice.one_of(2) { 0 } else { self.dice.below(3) };
        let rate = *self.dice.pick(RATES[currency]).unwrap();
        let mut lines: Vec<Line> = (0..=self.dice.below(3)).map(|_| self.line(books, sells, day)).collect();
        // How exchange is parted between the sections nobody says.
        for line in &mut lines {
            line.equipment &= currency == 0;
        }
        Trade {
            sells,
            day,
            party: self.dice.below(PARTIES),
            currency,
            rate,
            inclusive: self.dice.one_of(3),
            off: if self.dice.one_of(6) { *self.dice.pick(&[1_000, 250, 777]).unwrap() } else { 0 },
            lines,
            of: None,
        }
    }

    fn note(&mut self, books: &Books) -> What {
        let (day, sells) = (self.day(books), self.dice.one_of(2));
        let mut lines = Vec::new();
        for _ in 0..=self.dice.below(2) {
            let mut line = self.line(books, sells, day);
            while line.item.is_none() {
                line = self.line(books, sells, day);
            }
            lines.push((line.item.unwrap(), line.quantity / 1_000 * 1_000, self.dice.from(50, 2_500)));
        }
        What::Note(Note { sells, day, party: self.dice.below(PARTIES), lines })
    }

    /// An invoice or a bill of a note, or goods that come back.
    fn of_note(&mut self, books: &Books) -> Option<What> {
        let waits = |one: &Document| one.until.is_none() && one.left.iter().any(|(left, _)| *left > 0);
        let notes: Vec<(Key, &Document)> = books
            .documents
            .iter()
            .filter(|(_, one)| matches!(one.what, What::Note(_)) && waits(one))
            .map(|(key, one)| (*key, one))
            .collect();
        let (of, document) = *self.dice.pick(&notes)?;
        let What::Note(note) = &document.what else { return None };
        let mut parts = Vec::new();
        for (place, (left, _)) in document.left.iter().enumerate().filter(|(_, (left, _))| *left > 0) {
            parts.push((place, if self.dice.one_of(2) { *left } else { self.dice.from(1, *left / 1_000) * 1_000 }));
        }
        // What a bill made dearer is not sent back by its note.
        let billed = books.ever_derived(of).any(|(_, one)| matches!(one.what, What::Trade(_)));
        if self.dice.one_of(3) && (note.sells || !billed) {
            let day = self.day(books).max(document.day);
            return (day < DAYS - 5).then_some(What::Return { of, day, lines: parts });
        }
        let lines = parts.iter().map(|(place, quantity)| {
            let line = self.line(books, false, 0);
            // Around what the note says.
            let price = (note.lines[*place].2 + self.dice.from(-40, 60)) * 10_000;
            Line { item: Some(note.lines[*place].0), quantity: *quantity, price, equipment: false, ..line }
        });
        let lines = lines.collect();
        Some(What::Trade(Trade {
            sells: note.sells,
            day: self.day(books),
            party: note.party,
            currency: 0,
            rate: 1_000_000,
            inclusive: false,
            off: 0,
            lines,
            of: Some((of, parts.into_iter().map(|(place, _)| place).collect())),
        }))
    }

    /// Freight of goods that a bill brought.
    fn landed(&mut self, books: &Books) -> Option<What> {
        let goods = |one: &Document| match &one.what {
            What::Trade(trade) => {
                !trade.sells && trade.of.is_none() && trade.lines.iter().any(|line| line.item.is_some())
            }
            _ => false,
        };
        let bills: Vec<Key> = books
            .documents
            .iter()
            .filter(|(key, one)| one.until.is_none() && goods(one) && books.derived(**key).next().is_none())
            .map(|(key, _)| *key)
            .collect();
        let of = *self.dice.pick(&bills)?;
        let worth: i128 = books.documents[&of].lines.iter().map(super::tax::Taxed::cost).sum();
        (worth > 0).then(|| What::Landed {
            of,
            day: self.day(books),
            party: self.dice.below(PARTIES),
            amount: self.dice.from(100, 9_000),
            by_value: self.dice.one_of(2),
        })
    }

    fn adjust(&mut self, books: &Books) -> What {
        let pieces = self.dice.from(1, 20);
        let item = self.dice.below(ITEMS.len());
        let (quantity, cost) = if self.dice.one_of(3) {
            (-pieces.min(3) * 1_000, 0)
        } else {
            (pieces * 1_000, pieces * self.dice.from(50, 2_000))
        };
        What::Adjust { day: self.day(books), item, quantity, cost }
    }

    fn money(&mut self, books: &Books) -> What {
        let day = self.day(books);
        let comes_in = self.dice.one_of(2);
        let mut currency = if self.dice.one_of(2) { 0 } else { self.dice.below(3) };
        let mut money = Money {
            comes_in,
            day,
            party: self.dice.below(PARTIES),
            currency,
            rate: 1_000_000,
            amount: self.dice.from(1, 60_000),
            fee: 0,
            direct: None,
        };
        // Mostly what somebody owes.
        let owed: Vec<&Document> = targets(books, comes_in).map(|(_, one)| one).collect();
        if let Some(open) = self.dice.pick(&owed).and_then(|one| one.open.as_ref()).filter(|_| !self.dice.one_of(5)) {
            (money.party, money.amount) = (open.party, open.left);
            currency = open.currency;
            if self.dice.one_of(4) {
                money.amount = (money.amount / 2).max(1);
            }
        }
        money.currency = currency;
        money.rate = *self.dice.pick(RATES[currency]).unwrap();
        if currency == 0 && self.dice.one_of(4) {
            let gross = self.dice.from(100, 30_000);
            let mut code = if self.dice.one_of(3) { None } else { Some(self.dice.below(CODES.len())) };
            let account = *self.dice.pick(&[4100, 6000, 4100, 6000, account::EQUIPMENT, account::LOANS]).unwrap();
            if [account::EQUIPMENT, account::LOANS].contains(&account) {
                code = None;
            }
            money.direct = Some((account, gross, code));
            money.amount += gross;
        } else if currency == 0 && self.dice.one_of(5) {
            money.fee = self.dice.from(1, money.amount.min(300));
        }
        What::Money(money)
    }

    fn allocate(&mut self, books: &Books) -> Option<Allocate> {
        let sources: Vec<(Key, &Document)> = open(books).filter(|(_, one)| !one.open.as_ref().unwrap().adds).collect();
        let (source, from) = *self.dice.pick(&sources)?;
        let source_open = from.open.as_ref().unwrap();
        let cross = self.dice.one_of(8);
        let suits = |(_, one): &(Key, &Document)| {
            let open = one.open.as_ref().unwrap();
            (open.party, open.receivable) == (source_open.party, source_open.receivable)
                && (cross || open.currency == source_open.currency)
        };
        let suiting: Vec<(Key, &Document)> = targets(books, source_open.receivable).filter(suits).collect();
        let (target, to) = *self.dice.pick(&suiting)?;
        let target_open = to.open.as_ref().unwrap();
        let day = (from.day.max(to.day) + if self.dice.one_of(2) { 0 } else { self.dice.below(8) })
            .max(if self.dice.one_of(10) { 0 } else { books.first_open() });
        if day >= DAYS {
            return None;
        }
        let mut asked = Allocate { source, target, day, amount: 0, used: 0, discount: 0, written_off: 0, withheld: 0 };
        if source_open.currency == target_open.currency {
            let most = source_open.left.min(target_open.left);
            asked.amount = if self.dice.one_of(2) { most } else { self.dice.from(1, most) };
            asked.used = asked.amount;
        } else {
            // By a third more or less of what it is worth: what is worth something else settles nothing.
            let worth = |open: &Open| (open.base > 0).then_some((open.base, open.total));
            let ((source_base, source_all), (target_base, target_all)) = worth(source_open).zip(worth(target_open))?;
            let most = source_open.left * source_base * target_all / (source_all * target_base);
            asked.amount = self.dice.from(1, target_open.left.min(most).max(1));
            let fair = asked.amount * target_base * source_all / (target_all * source_base);
            let least = (fair * 3 / 4).max(1).min(source_open.left);
            asked.used = self.dice.from(least, (fair * 4 / 3).max(least).min(source_open.left));
        }
        let rest = target_open.left - asked.amount;
        let from_money = matches!(from.what, What::Money(_));
        if rest > 0 && from_money {
            let off = if self.dice.one_of(2) { rest } else { self.dice.from(1, rest) };
            match self.dice.below(5) {
                0 => asked.discount = off,
                1 => asked.written_off = off,
                _ => {}
            }
        }
        Some(asked)
    }

    fn credit(&mut self, books: &Books) -> Option<Credit> {
        let origins: Vec<(Key, &Document)> = books
            .documents
            .iter()
            .filter(|(_, one)| one.until.is_none() && one.left.iter().any(|(left, _)| *left > 0))
            .filter(
                |(key, one)| matches!(&one.what, What::Trade(trade) if trade.of.is_none() && !books.is_landed(**key)),
            )
            .map(|(key, one)| (*key, one))
            .collect();
        let (of, origin) = *self.dice.pick(&origins)?;
        let mut lines = Vec::new();
        for (place, (left, _)) in origin.left.iter().enumerate().filter(|(_, (left, _))| *left > 0) {
            if lines.is_empty() || self.dice.one_of(2) {
                let whole = *left / 1_000 * 1_000;
                let quantity =
                    if whole == 0 || self.dice.one_of(3) { *left } else { self.dice.from(1, whole / 1_000) * 1_000 };
                lines.push((place, quantity));
            }
        }
        // What costs nothing gives nothing back.
        let worth: i128 = lines.iter().map(|(place, _)| origin.left[*place].1.amount).sum();
        let day = self.day(books).max(origin.day);
        (worth > 0 && day < DAYS - 5).then_some(Credit { of, day, lines })
    }

    fn edit(&mut self, books: &Books) -> Option<What> {
        let live: Vec<(Key, &Document)> =
            books.documents.iter().filter(|(_, one)| one.until.is_none()).map(|(key, one)| (*key, one)).collect();
        let (of, document) = *self.dice.pick(&live)?;
        let to = match &document.what {
            What::Journal { .. } => self.journal(books),
            What::Trade(trade) => {
                let credited = document.left.iter().zip(&trade.lines).any(|((left, _), line)| *left != line.quantity);
                // What was made of it for some days was of this version.
                if credited || trade.of.is_some() || books.ever_derived(of).next().is_some() {
                    return None;
                }
                let mut to = trade.clone();
                if books.settling(of).next().is_none() && self.dice.one_of(2) {
                    to.day = self.day(books);
                }
                let line = self.dice.below(to.lines.len());
                if self.dice.one_of(2) {
                    to.lines[line].quantity = self.dice.from(1, 12) * 1_000;
                } else {
                    to.lines[line].price = self.dice.from(1, 5_000) * 10_000;
                }
                What::Trade(to)
            }
            _ => return None,
        };
        Some(What::Edit { of, to: Box::new(to) })
    }

    fn void(&mut self, books: &Books) -> Option<What> {
        let documents = books.documents.iter().filter(|(_, one)| one.until.is_none()).map(|(key, _)| *key);
        let settled = books.settled.iter().filter(|(_, one)| one.until.is_none()).map(|(key, _)| *key);
        let mut live: Vec<Key> = documents.chain(settled).collect();
        live.sort_unstable();
        let of = *self.dice.pick(&live)?;
        let day = match books.documents.get(&of) {
            Some(one) if !matches!(one.what, What::Money(_)) && self.dice.one_of(3) => {
                Some((one.day.max(books.first_open()) + self.dice.below(12)).min(DAYS - 2))
            }
            _ => None,
        };
        Some(What::Void { of, day })
    }

    fn lock(&mut self, books: &Books) -> What {
        let back = self.dice.below(30) + 3;
        let day = self.today.saturating_sub(back);
        let opens = books.locked.is_some() && self.dice.one_of(3);
        What::Lock(if opens { None } else { Some(day) })
    }
}

fn open(books: &Books) -> impl Iterator<Item = (Key, &Document)> {
    let some = |one: &Document| one.until.is_none() && one.open.as_ref().is_some_and(|open| open.left > 0);
    books.documents.iter().filter(move |(_, one)| some(one)).map(|(key, one)| (*key, one))
}

/// What can be settled among receivables, or among payables.
fn targets(books: &Books, receivable: bool) -> impl Iterator<Item = (Key, &Document)> {
    open(books).filter(move |(_, one)| {
        let open = one.open.as_ref().unwrap();
        open.adds && open.receivable == receivable
    })
}
