//! What each kind of document posts, and what it tells of tax, stock and debts.

use super::books::{Books, Document, Open, Posting, Refusals, TaxFigures, TaxRow};
use super::command::{Credit, Key, Money, Note, Trade, What};
use super::exact::{by_weight, part};
use super::stock::{Change, Dearer, Fact, Kind, Source, lives};
use super::tax::{Line, Taxed, Terms, taxed};
use super::world::{CODES, CURRENCIES, DAYS, ITEMS, Method, TaxKind, account};

impl What {
    pub fn day(&self) -> usize {
        match self {
            Self::Journal { day, .. }
            | Self::Adjust { day, .. }
            | Self::Return { day, .. }
            | Self::Standard { day, .. }
            | Self::Landed { day, .. }
            | Self::Contra { day, .. } => *day,
            Self::Note(note) => note.day,
            Self::Trade(trade) => trade.day,
            Self::Credit(credit) => credit.day,
            Self::Money(money) => money.day,
            Self::Allocate(asked) => asked.day,
            Self::Edit { to, .. } => to.day(),
            Self::Void { .. } | Self::Lock(_) | Self::Close | Self::Reopen => panic!("{self:?} has no day"),
        }
    }
}

impl Taxed {
    /// Adds so many times the parts of another.
    pub fn move_by(&mut self, other: &Self, times: i128) {
        for (own, part) in [
            (&mut self.gross, other.gross),
            (&mut self.amount, other.amount),
            (&mut self.net, other.net),
            (&mut self.home_net, other.home_net),
        ] {
            *own += part * times;
        }
        for (own, part) in [(&mut self.taxes, &other.taxes), (&mut self.home_taxes, &other.home_taxes)] {
            for (own, part) in own.iter_mut().zip(part) {
                own.iter_mut().zip(part).for_each(|(own, part)| *own += part * times);
            }
        }
    }

    /// The share that a part has in what is left. The net follows from what is stated; what is stated in the company's
    /// own currency is so there as well.
    fn share(&self, (of, all): (i128, i128), trade: &Trade, line: &Line) -> Self {
        let of = |whole: i128| part(whole, of, all);
        let gross = of(self.gross);
        let amount = gross - of(self.gross - self.amount);
        let taxes: Vec<[i128; 3]> = self.taxes.iter().map(|tax| tax.map(of)).collect();
        let mut share = Self { gross, amount, net: amount, taxes, ..Self::default() };
        if trade.inclusive {
            share.net -= share.charged(line.code);
        }
        if trade.currency == 0 {
            (share.home_net, share.home_taxes) = (share.net, share.taxes.clone());
            return share;
        }
        let components = line.code.map_or(&[][..], |code| CODES[code].1);
        let charged = |taxes: &[[i128; 3]]| -> i128 {
            let charged = taxes.iter().zip(components).filter(|(_, one)| trade.inclusive && one.kind.is_charged());
            charged.map(|(tax, _)| tax[1]).sum()
        };
        for (own, home) in share.taxes.iter().zip(&self.home_taxes) {
            let amount = of(home[1]);
            let claimed = if own[1] == 0 { amount } else { part(amount, own[2], own[1]) };
            share.home_taxes.push([of(home[0]), amount, claimed]);
        }
        share.home_net = of(self.home_net + charged(&self.home_taxes)) - charged(&share.home_taxes);
        share
    }
}

/// What a line tells of tax. `times` is -1 for what gives back.
fn told(sells: bool, code: Option<usize>, line: &Taxed, day: usize, times: i128) -> TaxRow {
    let mut figures = TaxFigures::default();
    figures[if sells { 0 } else { 2 }] = line.home_net;
    let components = code.map_or(&[][..], |code| CODES[code].1);
    for (component, [_, tax, claimed]) in components.iter().zip(&line.home_taxes) {
        match (component.kind, sells) {
            (TaxKind::Standard | TaxKind::PerUnit, true) => figures[1] += tax,
            (TaxKind::Standard | TaxKind::PerUnit, false) => {
                figures[3] += claimed;
                figures[4] += tax - claimed;
            }
            (TaxKind::Reverse, false) => {
                figures[1] += tax;
                figures[3] += claimed;
                figures[4] += tax - claimed;
            }
            _ => {}
        }
    }
    TaxRow { code, day, figures: figures.map(|figure| figure * times) }
}

/// What a line posts beside the party's side, as a sale or a purchase; a debit is positive.
fn posted(sells: bool, code: Option<usize>, line: &Taxed, on: u16) -> Vec<Posting> {
    let components = code.map_or(&[][..], |code| CODES[code].1);
    let mut post = Vec::new();
    let mut cost = line.home_net;
    for (component, [_, tax, claimed]) in components.iter().zip(&line.home_taxes) {
        match (component.kind, sells) {
            (TaxKind::Standard | TaxKind::PerUnit, true) => post.push((account::OUTPUT_TAX, -tax)),
            (TaxKind::Standard | TaxKind::PerUnit, false) => {
                post.push((account::INPUT_TAX, *claimed));
                cost += tax - claimed;
            }
            (TaxKind::Reverse, false) => {
                post.extend([(account::OUTPUT_TAX, -tax), (account::INPUT_TAX, *claimed)]);
                cost += tax - claimed;
            }
            _ => {}
        }
    }
    post.push((on, if sells { -cost } else { cost }));
    post
}

fn home_total(lines: &[(&Line, Taxed)]) -> i128 {
    lines
        .iter()
        .map(|(asked, line)| {
            let components = asked.code.map_or(&[][..], |code| CODES[code].1);
            let charged = components.iter().zip(&line.home_taxes).filter(|(one, _)| one.kind.is_charged());
            line.home_net + charged.map(|(_, tax)| tax[1]).sum::<i128>()
        })
        .sum()
}

impl Books {
    pub(super) fn document(&mut self, key: Key, what: &What) -> Result<Document, Refusals> {
        let mut document = Document {
            what: what.clone(),
            day: what.day(),
            until: None,
            post: Vec::new(),
            tax: Vec::new(),
            open: None,
            lines: Vec::new(),
            left: Vec::new(),
        };
        match what {
            What::Journal { lines, .. } => document.post.clone_from(lines),
            What::Trade(trade) => self.trade(key, trade, &mut document)?,
            What::Note(note) => self.note(key, note, &mut document),
            What::Return { of, day, lines } => self.back(key, *of, (*day, lines))?,
            What::Standard { day, cost } => {
                let item = ITEMS.iter().position(|(method, _)| *method == Method::Standard).unwrap();
                self.fact((key, 0), (item, *day), 0, Kind::Standard(*cost));
            }
            What::Landed { .. } => self.landed(key, what, &mut document),
            What::Contra { amount, fee, .. } => {
                document.post = vec![(account::BANK, -amount), (account::CASH, amount - fee), (account::FEES, *fee)];
            }
            What::Credit(credit) => self.credit(key, credit, &mut document)?,
            What::Money(money) => pay(money, &mut document),
            What::Adjust { day, item, quantity, cost } => {
                let kind = if *quantity > 0 { Kind::Receipt(*cost) } else { Kind::Issue { waits: false } };
                self.fact((key, 0), (*item, *day), quantity.abs(), kind);
            }
            _ => panic!("{what:?} is no document"),
        }
        Ok(document)
    }

    fn fact(&mut self, source: (Key, usize), (item, day): (usize, usize), quantity: i128, kind: Kind) {
        let place = self.place();
        self.facts.push(Fact { source, item, day, place, quantity, kind, until: None });
    }

    fn dearer(&mut self, source: Source, of: Source, day: usize, what: Dearer) {
        let place = self.place();
        self.changes.push(Change { source, of, day, place, what, until: None });
    }

    fn trade(&mut self, key: Key, trade: &Trade, document: &mut Document) -> Result<(), Refusals> {
        let lines = lines_of(trade);
        let sign = if trade.sells { 1 } else { -1 };
        for (place, (asked, line)) in lines.iter().enumerate() {
            let on = match (trade.sells, asked.item) {
                (true, _) => account::SALES,
                (false, Some(_)) if trade.of.is_some() => account::RECEIVED,
                (false, Some(_)) => account::STOCK,
                (false, None) if asked.equipment => account::EQUIPMENT,
                (false, None) => account::EXPENSE,
            };
            document.post.extend(posted(trade.sells, asked.code, line, on));
            document.tax.push(told(trade.sells, asked.code, line, trade.day, 1));
            match (&trade.of, asked.item) {
                (Some((of, places)), Some(item)) => {
                    let noted = places[place];
                    self.take_of((*of, noted), asked.quantity, trade.day)?;
                    if trade.sells {
                        self.fact((key, place), (item, trade.day), asked.quantity, Kind::Invoiced((*of, noted)));
                    } else {
                        let what = Dearer::Billed(asked.quantity, line.cost());
                        self.dearer((key, place), (*of, noted), trade.day, what);
                    }
                }
                (None, Some(item)) => {
                    let kind = if trade.sells { Kind::Issue { waits: false } } else { Kind::Receipt(line.cost()) };
                    self.fact((key, place), (item, trade.day), asked.quantity, kind);
                }
                (_, None) => {}
            }
        }
        let total = lines.iter().map(|(asked, line)| line.net + line.charged(asked.code)).sum();
        let base = home_total(&lines);
        document.post.push((if trade.sells { account::RECEIVABLE } else { account::PAYABLE }, sign * base));
        document.open = Some(Open {
            receivable: trade.sells,
            adds: true,
            currency: trade.currency,
            party: trade.party,
            total,
            base,
            left: total,
            base_left: base,
        });
        document.left = lines.iter().map(|(asked, line)| (asked.quantity, line.clone())).collect();
        document.lines = lines.into_iter().map(|(_, line)| line).collect();
        Ok(())
    }

    /// How many of a line of a note others took at the end of a day, though they may do so no longer.
    fn taken_of(&self, (of, place): (Key, usize), day: usize) -> i128 {
        let there = self.ever_derived(of).filter(|(_, one)| lives(one.day, one.until, day));
        let of_line = |(_, one): (Key, &Document)| -> i128 {
            match &one.what {
                What::Return { lines, .. } => {
                    lines.iter().filter(|(noted, _)| *noted == place).map(|(_, quantity)| quantity).sum()
                }
                What::Trade(trade) => {
                    let places = trade.of.iter().flat_map(|(_, places)| places).zip(&trade.lines);
                    places.filter(|(noted, _)| **noted == place).map(|(_, line)| line.quantity).sum()
                }
                _ => 0,
            }
        };
        there.map(of_line).sum()
    }

    /// Takes so many of what waits of a line of a note from a day on.
    fn take_of(&mut self, (of, place): (Key, usize), quantity: i128, day: usize) -> Result<(), Refusals> {
        let What::Note(note) = &self.documents[&of].what else { panic!("what waits is of a note") };
        let all = note.lines[place].1;
        if (day..DAYS).any(|day| self.taken_of((of, place), day) + quantity > all) {
            return Err(["over_fulfilment"].into());
        }
        let (left, parts) = &mut self.documents.get_mut(&of).unwrap().left[place];
        if quantity > *left {
            return Err(["over_fulfilment"].into());
        }
        let worth = part(parts.home_net, quantity, *left);
        (*left, parts.home_net) = (*left - quantity, parts.home_net - worth);
        Ok(())
    }

    fn note(&mut self, key: Key, note: &Note, document: &mut Document) {
        for (place, (item, quantity, cost)) in note.lines.iter().enumerate() {
            let worth = quantity * cost / 1_000;
            let kind = if note.sells { Kind::Issue { waits: true } } else { Kind::Receipt(worth) };
            self.fact((key, place), (*item, note.day), *quantity, kind);
            document.left.push((*quantity, Taxed { home_net: worth, ..Taxed::default() }));
        }
    }

    fn back(&mut self, key: Key, of: Key, (day, lines): (usize, &[(usize, i128)])) -> Result<(), Refusals> {
        let What::Note(note) = self.documents[&of].what.clone() else { panic!("only notes have returns") };
        for (place, (noted, quantity)) in lines.iter().enumerate() {
            self.take_of((of, *noted), *quantity, day)?;
            let origin = (of, *noted);
            let kind = if note.sells { Kind::Back { of: origin, waits: true } } else { Kind::Sent(origin) };
            self.fact((key, place), (note.lines[*noted].0, day), *quantity, kind);
        }
        Ok(())
    }

    fn landed(&mut self, key: Key, what: &What, document: &mut Document) {
        let What::Landed { of, day, party, amount, by_value } = what else { panic!("{what:?} is nothing landed") };
        let bill = self.documents[of].clone();
        let What::Trade(trade) = &bill.what else { panic!("only goods of bills have more to carry") };
        let places: Vec<usize> = (0..trade.lines.len()).filter(|place| trade.lines[*place].item.is_some()).collect();
        let weight = |place: &usize| if *by_value { bill.lines[*place].cost() } else { trade.lines[*place].quantity };
        let mut weights: Vec<i128> = places.iter().map(weight).collect();
        if weights.iter().all(|weight| *weight == 0) {
            // Goods that cost nothing share by their number.
            weights = places.iter().map(|place| trade.lines[*place].quantity).collect();
        }
        for (place, share) in places.iter().zip(by_weight(*amount, &weights)) {
            self.dearer((key, *place), (*of, *place), *day, Dearer::Beside(share));
        }
        document.post = vec![(account::RECEIVED, *amount), (account::PAYABLE, -amount)];
        let line = Taxed { home_net: *amount, ..Taxed::default() };
        document.tax.push(told(false, None, &line, *day, 1));
        document.open = Some(Open {
            receivable: false,
            adds: true,
            currency: 0,
            party: *party,
            total: *amount,
            base: *amount,
            left: *amount,
            base_left: *amount,
        });
    }

    /// What of an invoice was credited until a later day, and is so no longer.
    fn ended_credits(&self, credit: &Credit) -> Vec<(usize, i128, Taxed)> {
        let mut ended = Vec::new();
        for (_, one) in self.ever_derived(credit.of) {
            let What::Credit(other) = &one.what else { continue };
            if one.until.is_some_and(|until| until > one.day && until > credit.day) {
                let lines = other.lines.iter().zip(&one.lines);
                ended.extend(lines.map(|((place, quantity), share)| (*place, *quantity, share.clone())));
            }
        }
        ended
    }

    fn credit(&mut self, key: Key, credit: &Credit, document: &mut Document) -> Result<(), Refusals> {
        let ended = self.ended_credits(credit);
        let origin = self.documents.get_mut(&credit.of).unwrap();
        let What::Trade(trade) = origin.what.clone() else { panic!("only invoices and bills are credited") };
        let mut lines: Vec<(&Line, Taxed)> = Vec::new();
        for (place, quantity) in &credit.lines {
            let asked = &trade.lines[*place];
            let (left, parts) = &mut origin.left[*place];
            let (mut there, mut of) = (*left, parts.clone());
            for (_, quantity, share) in ended.iter().filter(|(line, ..)| line == place) {
                there -= quantity;
                of.move_by(share, -1);
            }
            if *quantity > there {
                return Err(["over_credit"].into());
            }
            let share = of.share((*quantity, there), &trade, asked);
            *left -= quantity;
            parts.move_by(&share, -1);
            lines.push((asked, share));
        }
        let sign = if trade.sells { -1 } else { 1 };
        for ((origin, quantity), (place, (asked, line))) in credit.lines.iter().zip(lines.iter().enumerate()) {
            let on = match (trade.sells, asked.item) {
                (true, _) => account::SALES,
                (false, Some(_)) => account::VARIANCE,
                (false, None) if asked.equipment => account::EQUIPMENT,
                (false, None) => account::EXPENSE,
            };
            let post = posted(trade.sells, asked.code, line, on);
            document.post.extend(post.into_iter().map(|(account, amount)| (account, -amount)));
            document.tax.push(told(trade.sells, asked.code, line, credit.day, -1));
            if let Some(item) = asked.item {
                let of = (credit.of, *origin);
                let kind = if trade.sells { Kind::Back { of, waits: false } } else { Kind::Sent(of) };
                self.fact((key, place), (item, credit.day), *quantity, kind);
            }
        }
        let total = lines.iter().map(|(asked, line)| line.net + line.charged(asked.code)).sum();
        let base = home_total(&lines);
        document.post.push((if trade.sells { account::RECEIVABLE } else { account::PAYABLE }, sign * base));
        document.open = Some(Open {
            receivable: trade.sells,
            adds: false,
            currency: trade.currency,
            party: trade.party,
            total,
            base,
            left: total,
            base_left: base,
        });
        document.lines = lines.into_iter().map(|(_, line)| line).collect();
        Ok(())
    }
}

/// Money that moves, for a party, for what it earns or spends at once, and less a fee.
fn pay(money: &Money, document: &mut Document) {
    let sign = if money.comes_in { 1 } else { -1 };
    let mut moves = Books::worth(money.currency, money.rate, money.amount);
    let mut party = money.amount;
    if let Some((account, amount, code)) = money.direct {
        let terms = Terms {
            currency: money.currency,
            decimals: CURRENCIES[money.currency].1,
            rate: money.rate,
            inclusive: true,
            off: 0,
            rates_of: money.day,
        };
        let price = amount * 1_000_000 / 10_i128.pow(terms.decimals);
        let line = [Line { item: None, quantity: 1_000, price, off: 0, code, equipment: false }];
        let found = taxed(&terms, &line).remove(0);
        // What is kept back does not move.
        let components = code.map_or(&[][..], |code| CODES[code].1);
        let kept = components.iter().zip(&found.taxes).filter(|(one, _)| one.kind == TaxKind::Withheld);
        let kept: i128 = kept.map(|(_, tax)| tax[1]).sum();
        party -= amount - kept;
        let sells = (account::SALES..account::COST).contains(&account);
        // Money that comes in for a sale is a sale, and for a purchase takes one back.
        let times = if sells == money.comes_in { 1 } else { -1 };
        let post = posted(sells, code, &found, account);
        document.post.extend(post.into_iter().map(|(account, amount)| (account, amount * times)));
        // A sale that is paid back has it where the sale had it.
        let on = if sells { account::KEPT_FROM_US } else { account::KEPT_BY_US };
        document.post.push((on, sign * kept));
        if [account::EQUIPMENT, account::LOANS].contains(&account) {
            // Without a code it is no turnover.
            assert_eq!(code, None);
        } else {
            let mut row = told(sells, code, &found, money.day, times);
            row.figures[if sells { 5 } else { 6 }] = kept * times;
            document.tax.push(row);
        }
        document.lines = vec![found];
    }
    let base = Books::worth(money.currency, money.rate, party);
    document.post.extend([
        (account::BANK, sign * moves),
        (if money.comes_in { account::RECEIVABLE } else { account::PAYABLE }, -sign * base),
    ]);
    if money.fee != 0 {
        moves = Books::worth(money.currency, money.rate, money.fee);
        document.post.extend([(account::BANK, -moves), (account::FEES, moves)]);
    }
    if party > 0 {
        document.open = Some(Open {
            receivable: money.comes_in,
            adds: false,
            currency: money.currency,
            party: money.party,
            total: party,
            base,
            left: party,
            base_left: base,
        });
    }
}

fn lines_of(trade: &Trade) -> Vec<(&Line, Taxed)> {
    let terms = Terms {
        currency: trade.currency,
        decimals: CURRENCIES[trade.currency].1,
        rate: trade.rate,
        inclusive: trade.inclusive,
        off: trade.off,
        rates_of: trade.day,
    };
    trade.lines.iter().zip(taxed(&terms, &trade.lines)).collect()
}

/// Whether goods are bought whose tax is more than the price that it is in: they would cost less than nothing.
pub(super) fn pays_less_than_nothing(what: &What) -> bool {
    match what {
        What::Edit { to, .. } => pays_less_than_nothing(to),
        What::Trade(trade) if !trade.sells => {
            lines_of(trade).iter().any(|(asked, line)| asked.item.is_some() && line.cost() < 0)
        }
        _ => false,
    }
}
