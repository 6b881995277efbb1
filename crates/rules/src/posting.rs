//! A posting: lines whose debits equal their credits. No other kind can be built.

use crate::exchange::Valued;
use crate::postable::Postable;
use crate::refusal::Refusal;
use crate::tax::facts::TaxFact;
use crate::tax::figures::TooLarge;
use words::day::Day;
use words::error::Error;
use words::ids::RecordId;
use words::money::{BookMoney, Money, Quantity};

/// One line of the ledger, on an account that was judged. Amounts are signed: a debit is positive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    account: RecordId,
    amount: Valued,
    about: About,
    /// What it tells of tax. Those that have an account are what the line is the sum of.
    facts: Vec<TaxFact>,
}

/// What a line says beside its account and its amount.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct About {
    /// Whom it is about; on an account of debts it is the one whose debt it is.
    pub party: Option<RecordId>,
    pub description: Option<String>,
    pub due_date: Option<Day>,
    pub subject: Subject,
}

impl From<Subject> for About {
    fn from(subject: Subject) -> Self {
        Self { subject, ..Self::default() }
    }
}

impl Line {
    /// An account meets an amount: one that is kept in a currency of its own takes no other.
    pub fn on(to: impl Into<Postable>, amount: Valued, about: About) -> Result<Self, Refusal> {
        let Postable(to) = to.into();
        to.account.takes_currency(amount.currency())?;
        let about = About { party: to.party.or(about.party), ..about };
        Ok(Self { account: to.account.id, amount, about, facts: Vec::new() })
    }

    /// A line that stands in the books, read again: what was posted can always be taken back.
    pub const fn posted(account: RecordId, amount: Valued, about: About) -> Self {
        Self { account, amount, about, facts: Vec::new() }
    }

    /// The same line, with what it tells of tax.
    #[must_use]
    pub fn telling(self, facts: Vec<TaxFact>) -> Self {
        Self { facts, ..self }
    }

    /// The same line, about something.
    #[must_use]
    pub fn on_subject(mut self, subject: Subject) -> Self {
        self.about.subject = subject;
        self
    }

    pub const fn account(&self) -> RecordId {
        self.account
    }

    pub const fn party(&self) -> Option<RecordId> {
        self.about.party
    }

    /// In the company's currency.
    pub const fn amount(&self) -> BookMoney {
        self.amount.base()
    }

    pub fn currency(&self) -> &str {
        self.amount.currency()
    }

    /// In the line's own currency.
    pub const fn currency_amount(&self) -> Money {
        self.amount.own()
    }

    pub fn description(&self) -> Option<&str> {
        self.about.description.as_deref()
    }

    pub const fn due_date(&self) -> Option<Day> {
        self.about.due_date
    }

    pub const fn subject(&self) -> &Subject {
        &self.about.subject
    }

    pub fn facts(&self) -> &[TaxFact] {
        &self.facts
    }

    const fn is_nothing(&self) -> bool {
        self.amount.is_nothing()
    }
}

/// Why lines could not be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unposted {
    /// They come to more than the books can hold.
    TooLarge,
    /// On this account. Whoever asked was told so with the field; this is the last door.
    Refused(Refusal),
}

impl From<TooLarge> for Unposted {
    fn from(_: TooLarge) -> Self {
        Self::TooLarge
    }
}

impl From<Refusal> for Unposted {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl Unposted {
    /// As a fault of the field whose amounts or accounts these are.
    pub fn at(&self, field: &str) -> Error {
        match self {
            Self::TooLarge => Error::field(field, "come to more than can be kept"),
            Self::Refused(refusal) => refusal.at(field),
        }
    }
}

/// What a line is about, beside its account.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Subject {
    pub item: Option<RecordId>,
    /// How much of the item, where the line moves its stock.
    pub quantity: Option<Quantity>,
    pub tax: Option<TaxTag>,
}

/// Which tax a line is, and on what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaxTag {
    pub code: RecordId,
    /// Its component; none on the line that is taxed.
    pub component: Option<String>,
    /// In the company's currency, with the sign of the line.
    pub base: Option<BookMoney>,
}

/// Lines that balance in the company's currency; at least two, or none at all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Posting {
    lines: Vec<Line>,
    facts: Vec<Told>,
    /// The sum of the debits, which is that of the credits.
    total: BookMoney,
}

/// A fact of tax, and the place of the line that carries it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    pub fact: TaxFact,
    pub place: Option<usize>,
}

/// The two sums that should have been one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unbalanced {
    Sides {
        debit: BookMoney,
        credit: BookMoney,
    },
    /// More than one posting moves.
    TooLarge,
    /// A line in the company's currency has two figures in it.
    Apart {
        own: Money,
        base: BookMoney,
    },
    /// One line alone: what it moves in its own currency comes to nothing in the company's.
    Alone,
}

impl Posting {
    /// The most that one document moves: a hundred trillion. The sums of the books end at nine times as much, and what is
    /// posted stays in them for good, whoever takes it back: a number with digits too many would spoil each report.
    pub const MOST: BookMoney = BookMoney::from_units(1_000_000_000_000_000_000);

    /// The most that the books sum up for an account and a day.
    const MOST_SUMMED: BookMoney = BookMoney::from_units(9_000_000_000_000_000_000);

    /// Lines of nothing are dropped; they say nothing. What they tell of tax stays. Where all but one are nothing they say
    /// where that one's money went: five dong are money, and no cent.
    pub fn balanced(lines: Vec<Line>) -> Result<Self, Unbalanced> {
        Self::up_to(Self::MOST, lines)
    }

    /// The same of what brings the sums of many documents on, such as the end of a year.
    pub fn summing_up(lines: Vec<Line>) -> Result<Self, Unbalanced> {
        Self::up_to(Self::MOST_SUMMED, lines)
    }

    fn up_to(most: BookMoney, lines: Vec<Line>) -> Result<Self, Unbalanced> {
        let is_alone = lines.iter().filter(|line| !line.is_nothing()).count() == 1;
        let (mut kept, mut facts) = (Vec::with_capacity(lines.len()), Vec::new());
        for mut line in lines {
            let says = is_alone || !line.is_nothing();
            let place = Some(kept.len()).filter(|_| says);
            let told = line.facts.drain(..).map(|fact| Told { place: place.filter(|_| fact.has_a_line()), fact });
            facts.extend(told);
            if says {
                kept.push(line);
            }
        }
        let (debit, credit) = sides(&kept).ok_or(Unbalanced::TooLarge)?;
        if debit != credit {
            return Err(Unbalanced::Sides { debit, credit });
        }
        if debit > most || own_sides(&kept).iter().any(|side| *side > i128::from(most.units())) {
            return Err(Unbalanced::TooLarge);
        }
        if let Some(line) = kept.iter().find(|line| line.amount.is_apart()) {
            return Err(Unbalanced::Apart { own: line.currency_amount(), base: line.amount() });
        }
        if kept.len() == 1 {
            return Err(Unbalanced::Alone);
        }
        Ok(Self { lines: kept, facts, total: debit })
    }

    /// The same lines with their sides exchanged: what was posted on a day, taken back on another or the same.
    #[must_use]
    pub fn reversed(&self, of: Day, on: Day) -> Self {
        let mirror = |line: &Line| Line {
            account: line.account,
            amount: line.amount.negated(),
            about: About { subject: line.about.subject.reversed(), ..line.about.clone() },
            facts: line.facts.clone(),
        };
        let told = |told: &Told| Told { fact: told.fact.reversed(of, on), place: told.place };
        let lines = self.lines.iter().map(mirror).collect();
        Self { lines, facts: self.facts.iter().map(told).collect(), total: self.total }
    }

    /// The same, with what it tells of tax counted on other days.
    #[must_use]
    pub fn counted(mut self, day: impl Fn(Day) -> Day) -> Self {
        for told in &mut self.facts {
            told.fact.date = day(told.fact.date);
        }
        self
    }

    /// What it tells of tax.
    pub fn facts(&self) -> &[Told] {
        &self.facts
    }

    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The sum of the debits, which is the sum of the credits.
    pub const fn total(&self) -> BookMoney {
        self.total
    }
}

/// What both sides come to in the lines' own currencies, whichever these are.
fn own_sides(lines: &[Line]) -> [i128; 2] {
    let own = |line: &Line| i128::from(line.currency_amount().units());
    [lines.iter().map(|line| own(line).max(0)).sum(), lines.iter().map(|line| -own(line).min(0)).sum()]
}

fn sides(lines: &[Line]) -> Option<(BookMoney, BookMoney)> {
    lines.iter().try_fold((BookMoney::ZERO, BookMoney::ZERO), |(debit, credit), line| {
        if line.amount().is_negative() {
            Some((debit, credit.checked_sub(line.amount())?))
        } else {
            Some((debit.checked_add(line.amount())?, credit))
        }
    })
}

impl Subject {
    fn reversed(&self) -> Self {
        let tax = self.tax.clone().map(|tax| TaxTag { base: tax.base.map(BookMoney::negated), ..tax });
        let quantity = self.quantity.map(Quantity::negated);
        Self { item: self.item, quantity, tax }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::Home;
    use words::exact::BookCoin;
    use words::money::Rounding;

    fn line(amount: &str) -> Line {
        let amount = Valued::read(Money::parse(amount).unwrap(), "EUR".into(), BookMoney::parse(amount).unwrap());
        Line::posted(RecordId::default(), amount, About::default())
    }

    #[test]
    fn only_lines_that_balance_become_a_posting() {
        assert_eq!(Posting::balanced(vec![line("10"), line("0"), line("-10")]).unwrap().lines().len(), 2);
        let sides =
            Unbalanced::Sides { debit: BookMoney::parse("10").unwrap(), credit: BookMoney::parse("9.99").unwrap() };
        assert_eq!(Posting::balanced(vec![line("10"), line("-9.99")]), Err(sides));
        let most = "922337203685477.5807";
        assert_eq!(Posting::balanced(vec![line(most), line(most)]), Err(Unbalanced::TooLarge));
        let moved = |amount: &str| vec![line(amount), line(&format!("-{amount}"))];
        assert!(Posting::balanced(moved("100000000000000")).is_ok());
        assert_eq!(Posting::balanced(moved("100000000000000.0001")), Err(Unbalanced::TooLarge));
        assert!(Posting::summing_up(moved("900000000000000")).is_ok());
        assert_eq!(Posting::summing_up(moved("900000000000000.0001")), Err(Unbalanced::TooLarge));
        // Ten yen that are worth less than a cent, taken from an account in euro.
        let yen = Valued::read(Money::parse("10").unwrap(), "JPY".into(), BookMoney::ZERO);
        let alone = Line::posted(RecordId::default(), yen, About::default());
        assert_eq!(
            Posting::balanced(vec![alone.clone(), line("0")]).unwrap().lines().len(),
            2,
            "the other side is told"
        );
        assert_eq!(Posting::balanced(vec![alone]), Err(Unbalanced::Alone));
        assert!(Posting::balanced(vec![line("0")]).unwrap().is_empty());
    }

    #[test]
    fn in_the_companys_currency_an_amount_has_one_figure() {
        let home = Home { currency: "EUR", coin: BookCoin::new(2, Rounding::HalfUp) };
        let [own, base] = ["5", "4.89"].map(|text| Money::parse(text).unwrap());
        let lines = |currency: &str| {
            let line = |amount| Line::posted(RecordId::default(), amount, About::default());
            vec![line(home.carried(own, currency, base.at_par())), line(home.alone(base.at_par().negated()))]
        };
        assert_eq!(Posting::balanced(lines("EUR")), Err(Unbalanced::Apart { own, base: base.at_par() }));
        assert!(Posting::balanced(lines("USD")).is_ok());
        // What stands in the books is taken back as it is.
        let posted = Valued::read(own, "EUR".into(), base.at_par());
        let posted = vec![Line::posted(RecordId::default(), posted, About::default()), line("-4.89")];
        assert!(Posting::balanced(posted).is_ok());
    }

    #[test]
    fn money_of_no_cent_keeps_its_other_side() {
        let dong = Valued::read(Money::parse("-5").unwrap(), "VND".into(), BookMoney::ZERO);
        let of = Line::posted(RecordId::default(), dong, About::default());
        let posting = Posting::balanced(vec![line("0"), of.clone()]).unwrap();
        assert_eq!(posting.lines().len(), 2);
        let rest = Posting::balanced(vec![line("0"), of.clone(), of]).unwrap();
        assert_eq!(rest.lines().len(), 2, "what says nothing is dropped where two others speak");
        assert!(Posting::balanced(vec![line("0"), line("0")]).unwrap().is_empty());
    }

    #[test]
    fn a_reversal_takes_back_every_line() {
        let posting = Posting::balanced(vec![line("10"), line("-4"), line("-6")]).unwrap();
        let day: Day = "2026-03-31".parse().unwrap();
        let reversed = posting.reversed(day, day);
        let sums: Vec<i64> = posting
            .lines()
            .iter()
            .zip(reversed.lines())
            .map(|(line, mirror)| line.amount().units() + mirror.amount().units())
            .collect();
        assert_eq!(sums, [0, 0, 0]);
        assert_eq!(reversed.total(), posting.total());
    }

    #[test]
    fn what_a_line_of_nothing_tells_of_tax_stays() {
        let on = |account: Option<u128>, date: &str| TaxFact {
            account: account.map(|code| RecordId(uuid::Uuid::from_u128(code))),
            date: date.parse().unwrap(),
            home_base: BookMoney::parse("5").unwrap(),
            ..TaxFact::default()
        };
        let of_nothing = line("0").telling(vec![on(Some(1), "2026-03-31")]);
        let taxed = line("10").telling(vec![on(None, "2026-03-31"), on(Some(1), "2026-03-31")]);
        let posting = Posting::balanced(vec![of_nothing, taxed, line("-10")]).unwrap();
        let places: Vec<Option<usize>> = posting.facts().iter().map(|told| told.place).collect();
        assert_eq!(places, [None, None, Some(0)]);
        // On the day of the original it counts for the same day; else for the day on which it is taken back.
        let (of, later): (Day, Day) = ("2026-04-05".parse().unwrap(), "2026-05-01".parse().unwrap());
        for (on, expected) in [(of, "2026-03-31"), (later, "2026-05-01")] {
            let reversed = posting.reversed(of, on);
            assert!(reversed.facts().iter().all(|told| told.fact.date.to_string() == expected));
            assert!(reversed.facts().iter().all(|told| told.fact.home_base.to_string() == "-5"));
        }
    }
}
