//! Exact decimals as scaled integers: what is counted, what it costs, and how one becomes the other.
//!
//! Owns: the scales, and how a number of one is read and written (its digits: [`crate::digits`]).
//! Owns as well: that amounts of documents ([`Money`]) and of the books ([`BookMoney`]) are two types. Refuses: binary
//! floats, exponents, and to round without being asked.
//!
//! A database column of decimals is REAL on SQLite and loses digits, so every amount is a 64-bit integer on
//! both engines; sums are exact and comparable in SQL.

pub use crate::digits::DecimalFault;
use crate::digits::{literal, parse_scaled, serialize_scaled, write_scaled};
use crate::exact::{BookCoin, Coin, Rounds, TooLarge};
use crate::sums::Figure;
use rust_decimal::Decimal;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use sea_orm::DeriveValueType;
use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// A decimal that is kept in units of ten to the minus [`Scaled::PLACES`].
pub trait Scaled: Copy {
    const PLACES: u32;

    fn of_units(units: i64) -> Self;

    fn units(self) -> i64;
}

macro_rules! scaled {
    ($(#[$about:meta])* $name:ident, $places:literal, $title:literal) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, DeriveValueType)]
        pub struct $name(i64);

        impl $name {
            pub const PLACES: u32 = $places;
            pub const ZERO: Self = Self(0);

            /// From units of the smallest step.
            /// The range is as wide below 0 as above it: the smallest integer, which has no positive twin, is not in it
            /// and is taken for the one after it. No text and no sum comes to it.
            pub const fn from_units(units: i64) -> Self {
                Self(if units == i64::MIN { -i64::MAX } else { units })
            }

            /// A sum of many, where it is no more than one of them can say.
            pub fn fitting(units: i128) -> Option<Self> {
                i64::try_from(units).ok().filter(|units| *units != i64::MIN).map(Self)
            }

            pub const fn units(self) -> i64 {
                self.0
            }

            pub fn parse(text: &str) -> Result<Self, DecimalFault> {
                parse_scaled(text, Self::PLACES).map(Self)
            }

            pub const fn is_negative(self) -> bool {
                self.0 < 0
            }

            pub fn checked_add(self, other: Self) -> Option<Self> {
                self.0.checked_add(other.0).filter(|units| *units != i64::MIN).map(Self)
            }

            pub fn checked_sub(self, other: Self) -> Option<Self> {
                self.0.checked_sub(other.0).filter(|units| *units != i64::MIN).map(Self)
            }

            pub fn checked_neg(self) -> Option<Self> {
                self.0.checked_neg().map(Self)
            }

            pub fn plus(self, other: Self) -> Result<Self, TooLarge> {
                self.checked_add(other).ok_or(TooLarge)
            }

            pub fn minus(self, other: Self) -> Result<Self, TooLarge> {
                self.checked_sub(other).ok_or(TooLarge)
            }

            /// All of them together; nothing of none.
            pub fn sum(all: impl IntoIterator<Item = Self>) -> Result<Self, TooLarge> {
                all.into_iter().try_fold(Self::ZERO, Self::plus)
            }

            /// The same on the other side of 0. Total, since the range is symmetric.
            #[must_use]
            pub const fn negated(self) -> Self {
                Self(self.0.saturating_neg())
            }

            /// How far it is from 0. Total, since the range is symmetric.
            #[must_use]
            pub const fn size(self) -> Self {
                Self(self.0.saturating_abs())
            }

            pub fn decimal(self) -> Decimal {
                Decimal::new(self.0, Self::PLACES)
            }

            /// The same value as text, with at least `least` decimals.
            pub fn with_decimals(self, least: u32) -> String {
                write_scaled(self.0, Self::PLACES, least)
            }
        }

        impl Scaled for $name {
            const PLACES: u32 = $places;

            fn of_units(units: i64) -> Self {
                Self::from_units(units)
            }

            fn units(self) -> i64 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.with_decimals(0))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serialize_scaled(self.0, Self::PLACES, 0, serializer)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Self::parse(&literal(deserializer)?).map_err(de::Error::custom)
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                $title.into()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                let mut schema = json_schema!({"type": "number", "format": "decimal"});
                if generator.contract().is_deserialize() {
                    let most = Self(i64::MAX);
                    schema.insert("minimum".into(), serde_json::json!(most.negated()));
                    schema.insert("maximum".into(), serde_json::json!(most));
                }
                schema
            }
        }
    };
}

scaled!(
    /// An amount in the currency of a document, in ten-thousandths.
    Money, 4, "Money"
);
scaled!(
    /// An amount in the company's currency, in ten-thousandths: what the books are kept in.
    ///
    /// It is no amount of a document, even where that is in the company's currency. The two do not add, compare or stand for
    /// each other:
    ///
    /// ```
    /// use words::money::{BookMoney, Money};
    /// let (own, base) = (Money::from_units(10_000), BookMoney::from_units(9_000));
    /// assert!(own.plus(own).is_ok() && base.plus(base).is_ok() && own > Money::ZERO && base > BookMoney::ZERO);
    /// ```
    /// ```compile_fail,E0308
    /// use words::money::{BookMoney, Money};
    /// let (own, base) = (Money::from_units(10_000), BookMoney::from_units(9_000));
    /// let _ = own.plus(base);
    /// ```
    /// ```compile_fail,E0308
    /// use words::money::{BookMoney, Money};
    /// let (own, base) = (Money::from_units(10_000), BookMoney::from_units(9_000));
    /// let _ = own == base;
    /// ```
    /// ```compile_fail,E0308
    /// use words::money::{BookMoney, Money};
    /// let (own, base) = (Money::from_units(10_000), BookMoney::from_units(9_000));
    /// let _ = own < base;
    /// ```
    /// ```compile_fail,E0308
    /// use words::money::{BookMoney, Money};
    /// let base: BookMoney = Money::from_units(10_000);
    /// ```
    /// ```compile_fail,E0277
    /// use words::money::{BookMoney, Money};
    /// let base: BookMoney = Money::from_units(10_000).into();
    /// ```
    /// Nor is one rounded to the coin of the other:
    /// ```compile_fail,E0308
    /// use words::exact::{BookCoin, Exact};
    /// use words::money::{BookMoney, Money, Rounding};
    /// let coin = BookCoin::new(2, Rounding::HalfUp);
    /// let _: Money = Exact::from(BookMoney::from_units(10_000)).round(coin).unwrap();
    /// ```
    BookMoney, 4, "Money"
);
scaled!(
    /// How many or how much of an item.
    Quantity, 6, "Quantity"
);
scaled!(
    /// What one unit costs; finer than money, since small parts cost fractions of a cent.
    UnitPrice, 6, "UnitPrice"
);
scaled!(
    /// A percentage.
    Percent, 6, "Percent"
);
scaled!(
    /// How many units of the base currency one unit of another is worth.
    Rate, 10, "Rate"
);

impl Percent {
    pub const HUNDRED: Self = Self::from_units(100_000_000);
}

impl Rate {
    pub const ONE: Self = Self::from_units(10_000_000_000);
    /// What a currency is worth in itself: a document in the company's own says no rate.
    pub const OF_ITSELF: Self = Self::ONE;
}

/// How the half of the smallest unit is rounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rounding {
    /// Half away from zero, as on paper.
    #[default]
    HalfUp,
    /// Half to the even neighbour, as bankers do.
    HalfEven,
}

/// An amount, whosever currency it is in: a rule that holds for [`Money`] and [`BookMoney`] alike is written once, for this.
pub trait Funds: Scaled + Figure + Default + Ord + fmt::Debug {
    /// What it is rounded to.
    type Coin: Rounds<Amount = Self>;

    fn plus(self, other: Self) -> Result<Self, TooLarge>;
    fn minus(self, other: Self) -> Result<Self, TooLarge>;
    fn is_negative(self) -> bool;
    #[must_use]
    fn negated(self) -> Self;
    #[must_use]
    fn size(self) -> Self;
    fn with_decimals(self, least: u32) -> String;
}

macro_rules! funds {
    ($($amount:ident in $coin:ident),+) => {
        $(impl Funds for $amount {
            type Coin = $coin;

            fn plus(self, other: Self) -> Result<Self, TooLarge> {
                Self::plus(self, other)
            }

            fn minus(self, other: Self) -> Result<Self, TooLarge> {
                Self::minus(self, other)
            }

            fn is_negative(self) -> bool {
                Self::is_negative(self)
            }

            fn negated(self) -> Self {
                Self::negated(self)
            }

            fn size(self) -> Self {
                Self::size(self)
            }

            fn with_decimals(self, least: u32) -> String {
                Self::with_decimals(self, least)
            }
        }

        impl $amount {
            /// Whether the amount exists in a currency: no fraction of its smallest coin.
            pub const fn fits(self, currency_decimals: u32) -> bool {
                self.0 % Money::smallest(currency_decimals).0 == 0
            }
        })+
    };
}

funds!(Money in Coin, BookMoney in BookCoin);

impl Money {
    /// The same figure, in the books. It is right for an amount in the company's own currency, where one is the other, and
    /// for nothing else: whoever asks says how he knows. All else goes through an exchange.
    pub const fn at_par(self) -> BookMoney {
        BookMoney(self.0)
    }

    /// The smallest coin of a currency with so many decimals.
    pub const fn smallest(currency_decimals: u32) -> Self {
        Self(Coin { decimals: currency_decimals, rounding: Rounding::HalfUp }.units())
    }

    /// To the nearest multiple of the smallest coin of cash, half away from zero.
    pub fn to_increment(self, increment: Self) -> Result<Self, TooLarge> {
        let (size, step) = (i128::from(self.size().0), i128::from(increment.size().0));
        if step == 0 {
            return Ok(self);
        }
        let rest = size % step;
        let rounded = if rest * 2 >= step { size - rest + step } else { size - rest };
        let units = i64::try_from(rounded).map_err(|_| TooLarge)?;
        Ok(Self::from_units(if self.is_negative() { -units } else { units }))
    }
}

impl BookMoney {
    /// The same figure as an amount of a document that is in the company's own currency. All else has an amount of its own.
    pub const fn at_par(self) -> Money {
        Money(self.0)
    }

    /// As it is shown.
    pub const fn shown(self, currency_decimals: u32) -> Amount {
        Amount { money: Money(self.0), currency_decimals }
    }
}

/// Money as it is shown: padded to its currency's decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amount {
    pub money: Money,
    pub currency_decimals: u32,
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_scaled(self.money.units(), Money::PLACES, self.currency_decimals, serializer)
    }
}

impl JsonSchema for Amount {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Amount".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Money::json_schema(generator)
    }
}

/// What a row says of an amount in its own currency beside the same in the company's: nothing where they are one number,
/// which they are in most rows.
#[must_use]
pub fn apart(own: Money, home: BookMoney) -> Option<Money> {
    (own != home.at_par()).then_some(own)
}

/// An amount in its own currency, of what a row says of it beside the same in the company's.
#[must_use]
pub const fn of_home(own: Option<Money>, home: BookMoney) -> Money {
    match own {
        Some(own) => own,
        None => home.at_par(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decimal_is_read_from_its_literal_text() {
        let cases = [
            ("0.1", Ok(1_000)),
            ("12345678901234.5678", Ok(123_456_789_012_345_678)),
            ("-922337203685477.5807", Ok(-i64::MAX)),
            ("-922337203685477.5808", Err(DecimalFault::TooLarge)),
            ("922337203685477.5808", Err(DecimalFault::TooLarge)),
            ("10.00", Ok(100_000)),
            ("1.00000000", Ok(10_000)),
            ("0.12345", Err(DecimalFault::TooPrecise { places: 4 })),
            ("1e3", Err(DecimalFault::NotADecimal)),
            ("", Err(DecimalFault::NotADecimal)),
            ("-", Err(DecimalFault::NotADecimal)),
            ("1.", Err(DecimalFault::NotADecimal)),
            (".5", Err(DecimalFault::NotADecimal)),
            ("+5", Err(DecimalFault::NotADecimal)),
            ("1,5", Err(DecimalFault::NotADecimal)),
            ("NaN", Err(DecimalFault::NotADecimal)),
        ];
        for (text, expected) in cases {
            assert_eq!(Money::parse(text).map(Money::units), expected, "{text}");
        }
    }

    #[test]
    fn json_takes_numbers_and_strings_and_writes_exact_numbers() {
        for (json, shown) in [("0.1", "0.1"), ("\"0.1\"", "0.1"), ("12345678901234.5678", "12345678901234.5678")] {
            let money: Money = serde_json::from_str(json).unwrap();
            assert_eq!(serde_json::to_string(&money).unwrap(), shown);
        }
        for json in ["true", "[]", "{}", "1e2", "\"ten\""] {
            assert!(serde_json::from_str::<Money>(json).is_err(), "{json}");
        }
    }

    #[test]
    fn amounts_are_padded_to_their_currency() {
        for (text, decimals, shown) in
            [("10", 2, "10.00"), ("10", 0, "10"), ("-0.5", 3, "-0.500"), ("1.2345", 2, "1.2345")]
        {
            let amount = Amount { money: Money::parse(text).unwrap(), currency_decimals: decimals };
            assert_eq!(serde_json::to_string(&amount).unwrap(), shown);
        }
    }

    #[test]
    fn an_amount_fits_a_currency_without_fractions_of_its_coin() {
        for (text, decimals, fits) in
            [("10.50", 2, true), ("10.505", 2, false), ("10.5", 0, false), ("10", 0, true), ("0.0001", 4, true)]
        {
            assert_eq!(Money::parse(text).unwrap().fits(decimals), fits, "{text} at {decimals}");
        }
    }

    #[test]
    fn the_range_is_symmetric() {
        let most = Money::from_units(i64::MAX);
        let least = Money::from_units(i64::MIN);
        assert_eq!((least, least.negated(), least.size()), (most.negated(), most, most));
        assert_eq!(least.minus(Money::from_units(1)), Err(TooLarge));
        assert_eq!(least.plus(Money::from_units(-1)), Err(TooLarge));
        assert_eq!(Money::sum([most, Money::from_units(1)]), Err(TooLarge));
        assert_eq!(Money::sum([]), Ok(Money::ZERO));
    }

    #[test]
    fn an_amount_that_stands_beside_itself_is_said_once() {
        for (own, home, said) in [(5, 5, None), (5, 4, Some(5)), (0, 0, None), (0, -1, Some(0)), (-7, -7, None)] {
            let (own, home) = (Money::from_units(own), BookMoney::from_units(home));
            assert_eq!((apart(own, home), of_home(apart(own, home), home)), (said.map(Money::from_units), own));
        }
    }

    #[test]
    fn cash_is_rounded_to_its_smallest_coin() {
        for (amount, increment, rounded) in [
            ("10.02", "0.05", "10"),
            ("10.03", "0.05", "10.05"),
            ("10.025", "0.05", "10.05"),
            ("-10.025", "0.05", "-10.05"),
            ("-10.02", "0.05", "-10"),
            ("7", "0", "7"),
        ] {
            let [amount, increment] = [amount, increment].map(|text| Money::parse(text).unwrap());
            assert_eq!(amount.to_increment(increment).unwrap().to_string(), rounded, "{amount}");
        }
    }

    #[test]
    fn amounts_of_the_books_are_read_written_and_shown_like_others() {
        let (own, base) = (Money::parse("-0.5").unwrap(), BookMoney::parse("-0.5").unwrap());
        assert_eq!((own.at_par(), base.at_par()), (base, own));
        assert_eq!(serde_json::to_string(&base).unwrap(), serde_json::to_string(&own).unwrap());
        assert_eq!(serde_json::from_str::<BookMoney>("-0.5").unwrap(), base);
        assert_eq!(base.shown(3), Amount { money: own, currency_decimals: 3 });
        let generator = &mut SchemaGenerator::default();
        assert_eq!(BookMoney::json_schema(generator), Money::json_schema(generator));
        assert_eq!(sea_orm::Value::from(base), sea_orm::Value::from(own), "stored alike");
    }
}
