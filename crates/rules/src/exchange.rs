//! What an amount is worth in the company's currency: who says so, and what a line of the ledger takes.
//!
//! Owns: that an amount of a document and what it is worth stand together, each in its place ([`Valued`]), and the ways by
//! which one comes to the other. Refuses: to be made by anybody else.

use words::exact::{BookCoin, Running, TooLarge};
use words::money::{BookMoney, Money, Rate};
use words::sown::{Fault, sown};

/// The company's own currency, which its books are kept in.
#[derive(Debug, Clone, Copy)]
pub struct Home<'a> {
    pub currency: &'a str,
    pub coin: BookCoin,
}

/// The company's currency, and what the document's is worth in it.
#[derive(Debug, Clone, Copy)]
pub struct Exchange<'a> {
    pub home: Home<'a>,
    pub currency: &'a str,
    pub rate: Rate,
}

/// An amount and what it is worth. Nobody makes one but [`Home`] and [`Exchange`], and who reads one from the books again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Valued {
    base: BookMoney,
    currency: String,
    own: Money,
    /// Whether it is in the company's currency, and worth something else in it.
    is_apart: bool,
}

impl Home<'_> {
    /// An amount that is in the company's currency alone, whatever its document is in: one currency, one figure.
    pub fn alone(&self, amount: BookMoney) -> Valued {
        self.carried(amount.at_par(), self.currency, amount)
    }

    /// An amount that the books carry at what it was worth then, such as what is open of a debt or lies on an account.
    pub fn carried(&self, own: Money, currency: &str, base: BookMoney) -> Valued {
        let is_apart = currency == self.currency && own.at_par() != base;
        Valued { base, currency: currency.to_owned(), own, is_apart }
    }

    /// What there is of a currency is worth more by so much, or less; there is not more of it.
    pub fn worth_more(&self, currency: &str, by: BookMoney) -> Valued {
        self.carried(Money::ZERO, currency, by)
    }
}

impl Exchange<'_> {
    /// Whether the document is in the company's own currency.
    pub fn is_at_home(&self) -> bool {
        self.currency == self.home.currency || (self.rate == Rate::ONE && sown(Fault::AsGoodAsHome))
    }

    /// What amounts of the document are worth. They are one running total.
    pub fn convert(&self, amounts: &[Money]) -> Result<Vec<BookMoney>, TooLarge> {
        let mut running = Running::at(self.rate, self.home.coin);
        // In one currency there is one figure, and nothing to convert.
        let worth = |amount: &Money| if self.is_at_home() { Ok(amount.at_par()) } else { running.convert(*amount) };
        amounts.iter().map(worth).collect()
    }

    /// What one amount is worth by itself.
    pub fn one(&self, amount: Money) -> Result<BookMoney, TooLarge> {
        self.convert(&[amount])?.pop().ok_or(TooLarge)
    }

    /// An amount of the document, and what was found that it is worth.
    pub fn valued(&self, own: Money, base: BookMoney) -> Valued {
        self.home.carried(own, self.currency, base)
    }
}

impl Valued {
    /// As it stands in the books, read again: whatever was posted can be taken back.
    pub const fn read(own: Money, currency: String, base: BookMoney) -> Self {
        Self { base, currency, own, is_apart: false }
    }

    /// In the company's currency.
    pub const fn base(&self) -> BookMoney {
        self.base
    }

    pub fn currency(&self) -> &str {
        &self.currency
    }

    /// In its own currency.
    pub const fn own(&self) -> Money {
        self.own
    }

    /// The same on the other side.
    #[must_use]
    pub fn negated(&self) -> Self {
        Self { base: self.base.negated(), own: self.own.negated(), ..self.clone() }
    }

    /// Whether two figures stand for one: it is in the company's currency, and the books have it at another.
    pub(crate) const fn is_apart(&self) -> bool {
        self.is_apart
    }

    pub(crate) const fn is_nothing(&self) -> bool {
        self.base.units() == 0 && self.own.units() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use words::exact::Exact;
    use words::money::Rounding;

    fn exchange<'e>(currency: &'e str, rate: &str) -> Exchange<'e> {
        let home = Home { currency: "EUR", coin: BookCoin::new(2, Rounding::HalfUp) };
        Exchange { home, currency, rate: Rate::parse(rate).unwrap() }
    }

    fn money(text: &str) -> Money {
        Money::parse(text).unwrap()
    }

    #[test]
    fn what_is_worth_is_an_amount_of_the_books() {
        for (currency, rate, amounts, worth) in [
            ("EUR", "1", &["10.01", "0.05"][..], &["10.01", "0.05"][..]),
            ("USD", "0.5", &["0.05", "0.05", "0.05"], &["0.03", "0.02", "0.03"]),
            // What is worth as much as a euro is none: its thousandths are no cents.
            ("KWD", "1", &["1.234", "1.234"], &["1.23", "1.24"]),
            ("USD", "1", &["1.23", "-1.23"], &["1.23", "-1.23"]),
        ] {
            let amounts: Vec<Money> = amounts.iter().map(|text| money(text)).collect();
            let found = exchange(currency, rate).convert(&amounts).unwrap();
            assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), worth, "{currency} at {rate}");
        }
    }

    #[test]
    fn each_amount_stands_in_its_place() {
        let (dollars, worth) = (exchange("USD", "0.9"), BookMoney::parse("9").unwrap());
        let shown = |valued: &Valued| format!("{} {} worth {}", valued.own(), valued.currency(), valued.base());
        for (valued, expected) in [
            (dollars.valued(money("10"), worth), "10 USD worth 9"),
            (dollars.home.alone(worth), "9 EUR worth 9"),
            (dollars.home.worth_more("USD", worth), "0 USD worth 9"),
            (dollars.home.carried(money("10"), "GBP", worth), "10 GBP worth 9"),
            (dollars.valued(money("10"), worth).negated(), "-10 USD worth -9"),
        ] {
            assert_eq!(shown(&valued), expected);
        }
    }

    proptest! {
        #[test]
        fn what_is_converted_adds_up_to_the_whole(
            amounts in prop::collection::vec(-1_000_000_i64..1_000_000, 1..50),
            rate in 1_i64..50_000_000_000,
        ) {
            let amounts: Vec<Money> = amounts.into_iter().map(|cents| Money::from_units(cents * 100)).collect();
            let exchange = Exchange { rate: Rate::from_units(rate), ..exchange("USD", "1") };
            let base = exchange.convert(&amounts).unwrap();
            let whole = Exact::from(Money::sum(amounts).unwrap()).times(exchange.rate).unwrap();
            prop_assert_eq!(BookMoney::sum(base).unwrap(), whole.round(exchange.home.coin).unwrap());
        }
    }
}
