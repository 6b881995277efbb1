//! Exact figures: fractions of wide integers, rounded once, where they become coins.

use super::figures::TooLarge;
use ethnum::I256;
use words::money::{Money, Percent, Quantity, Rate, Rounding};

/// The smallest coin of a currency, and how its half is rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coin {
    pub decimals: u32,
    pub rounding: Rounding,
}

impl Coin {
    /// Of how many units of money it is made.
    fn step(self) -> i64 {
        10_i64.pow(Money::PLACES.saturating_sub(self.decimals))
    }

    /// What so many coins are worth.
    pub fn times(self, coins: i64) -> Result<Money, TooLarge> {
        coins.checked_mul(self.step()).map(Money::from_units).ok_or(TooLarge)
    }
}

/// A fraction. What is below the line is more than 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exact {
    above: I256,
    below: I256,
}

fn scale(places: u32) -> I256 {
    I256::from(10).pow(places)
}

fn divisor(left: I256, right: I256) -> I256 {
    let (mut left, mut right) = (left.abs(), right.abs());
    while right != I256::ZERO {
        (left, right) = (right, left % right);
    }
    left
}

impl Exact {
    pub const ZERO: Self = Self { above: I256::ZERO, below: I256::ONE };
    pub const ONE: Self = Self { above: I256::ONE, below: I256::ONE };

    fn units(units: i64, places: u32) -> Self {
        Self { above: I256::from(units), below: scale(places) }
    }

    pub fn money(money: Money) -> Self {
        Self::units(money.units(), Money::PLACES)
    }

    pub fn quantity(quantity: Quantity) -> Self {
        Self::units(quantity.units(), Quantity::PLACES)
    }

    pub fn rate(rate: Rate) -> Self {
        Self::units(rate.units(), Rate::PLACES)
    }

    /// So many hundredths.
    pub fn percent(percent: Percent) -> Self {
        Self::units(percent.units(), Percent::PLACES + 2).reduced()
    }

    /// The number that a percentage is written with, such as an amount for a unit.
    pub fn plain(percent: Percent) -> Self {
        Self::units(percent.units(), Percent::PLACES).reduced()
    }

    /// The same fraction in its smallest terms.
    #[must_use]
    pub fn reduced(self) -> Self {
        match divisor(self.above, self.below) {
            common if common > I256::ONE => Self { above: self.above / common, below: self.below / common },
            _ => self,
        }
    }

    pub fn is_zero(self) -> bool {
        self.above == I256::ZERO
    }

    pub fn plus(self, other: Self) -> Result<Self, TooLarge> {
        if self.below == other.below {
            let above = self.above.checked_add(other.above).ok_or(TooLarge)?;
            return Ok(Self { above, below: self.below });
        }
        let sum = |left: Self, right: Self| {
            let above = left.above.checked_mul(right.below)?.checked_add(right.above.checked_mul(left.below)?)?;
            Some(Self { above, below: left.below.checked_mul(right.below)? })
        };
        sum(self, other).or_else(|| sum(self.reduced(), other.reduced())).ok_or(TooLarge)
    }

    pub fn minus(self, other: Self) -> Result<Self, TooLarge> {
        self.plus(Self { above: -other.above, below: other.below })
    }

    pub fn times(self, other: Self) -> Result<Self, TooLarge> {
        let product = |left: Self, right: Self| {
            let above = left.above.checked_mul(right.above)?;
            Some(Self { above, below: left.below.checked_mul(right.below)? })
        };
        product(self, other).or_else(|| product(self.reduced(), other.reduced())).ok_or(TooLarge)
    }

    /// Divided by what is more than 0.
    pub fn over(self, other: Self) -> Result<Self, TooLarge> {
        if other.above <= I256::ZERO {
            return Err(TooLarge);
        }
        self.times(Self { above: other.below, below: other.above })
    }

    /// In coins: a fraction of which whole numbers are amounts.
    fn in_coins(self, coin: Coin) -> Result<Self, TooLarge> {
        self.times(Self { above: scale(coin.decimals.min(Money::PLACES)), below: I256::ONE })
    }

    /// The one place where it becomes an amount.
    pub fn round(self, coin: Coin) -> Result<Money, TooLarge> {
        let Self { above, below } = self.in_coins(coin)?;
        let (size, sign) = (above.abs(), above.signum());
        let (whole, rest) = (size / below, size % below);
        let twice = rest.checked_mul(I256::from(2)).ok_or(TooLarge)?;
        let up = match (twice.cmp(&below), coin.rounding) {
            (std::cmp::Ordering::Greater, _) => true,
            (std::cmp::Ordering::Equal, Rounding::HalfUp) => true,
            (std::cmp::Ordering::Equal, Rounding::HalfEven) => whole % I256::from(2) == I256::ONE,
            (std::cmp::Ordering::Less, _) => false,
        };
        let coins = if up { whole + I256::ONE } else { whole };
        coin.times(i64::try_from(coins * sign).map_err(|_| TooLarge)?)
    }

    /// The most whole coins that are not more than it, and what is missing of it.
    fn floor(self, coin: Coin) -> Result<(i64, Self), TooLarge> {
        let Self { above, below } = self.in_coins(coin)?;
        let whole = above.div_euclid(below);
        let rest = Self { above: above.rem_euclid(below), below };
        Ok((i64::try_from(whole).map_err(|_| TooLarge)?, rest))
    }
}

/// Shares an amount by what each would have without rounding: each gets its whole coins, and those that are missing go
/// to the largest fractions, the earlier of two equal ones first. Nothing is divided by a sum, which may be 0.
pub fn spread(total: Money, raw: &[Exact], coin: Coin) -> Result<Vec<Money>, TooLarge> {
    let mut coins = Vec::with_capacity(raw.len());
    let mut rest = Vec::with_capacity(raw.len());
    for share in raw {
        let (whole, fraction) = share.floor(coin)?;
        coins.push(whole);
        rest.push(fraction);
    }
    let given = coins.iter().try_fold(0_i64, |sum, coins| sum.checked_add(*coins)).ok_or(TooLarge)?;
    let mut missing = (total.units() / coin.step()).checked_sub(given).ok_or(TooLarge)?;
    let mut order: Vec<usize> = (0..raw.len()).collect();
    let mut wrong = false;
    order.sort_by(|left, right| {
        let (left, right) = (rest[*left], rest[*right]);
        match (right.above.checked_mul(left.below), left.above.checked_mul(right.below)) {
            (Some(right), Some(left)) => right.cmp(&left),
            _ => {
                wrong = true;
                std::cmp::Ordering::Equal
            }
        }
    });
    if wrong || (raw.is_empty() && missing != 0) {
        return Err(TooLarge);
    }
    let places = i64::try_from(raw.len()).map_err(|_| TooLarge)?.max(1);
    for coins in &mut coins {
        *coins = coins.checked_add(missing / places).ok_or(TooLarge)?;
    }
    missing %= places;
    for index in order {
        if missing != 0 {
            coins[index] += missing.signum();
            missing -= missing.signum();
        }
    }
    coins.into_iter().map(|coins| coin.times(coins)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn money(text: &str) -> Money {
        Money::parse(text).unwrap()
    }

    const CENT: Coin = Coin { decimals: 2, rounding: Rounding::HalfUp };

    #[test]
    fn a_fraction_becomes_an_amount_once() {
        for (amount, percent, rounding, expected) in [
            ("10.01", "19", Rounding::HalfUp, "1.9"),
            ("0.25", "50", Rounding::HalfUp, "0.13"),
            ("-0.25", "50", Rounding::HalfUp, "-0.13"),
            ("0.25", "50", Rounding::HalfEven, "0.12"),
            ("0.27", "50", Rounding::HalfEven, "0.14"),
            ("922337203685477.58", "100", Rounding::HalfUp, "922337203685477.58"),
        ] {
            let exact = Exact::money(money(amount)).times(Exact::percent(Percent::parse(percent).unwrap())).unwrap();
            assert_eq!(exact.round(Coin { rounding, ..CENT }).unwrap(), money(expected), "{amount} x {percent} %");
        }
        let most = Exact::money(Money::from_units(i64::MAX));
        assert_eq!(most.times(Exact::money(money("2"))).unwrap().round(CENT), Err(TooLarge));
    }

    #[test]
    fn what_is_missing_goes_to_the_largest_fractions() {
        for (total, raw, expected) in [
            ("10", &["3.3333", "3.3333", "3.3334"][..], &["3.33", "3.33", "3.34"][..]),
            ("0.01", &["6", "-5.994"], &["6", "-5.99"]),
            ("20.83", &["25", "-4.1667"], &["25", "-4.17"]),
            ("0", &["0", "0"], &["0", "0"]),
            ("-0.03", &["-0.015", "-0.015"], &["-0.01", "-0.02"]),
        ] {
            let raw: Vec<Exact> = raw.iter().map(|text| Exact::money(money(text))).collect();
            let shown: Vec<String> =
                spread(money(total), &raw, CENT).unwrap().iter().map(ToString::to_string).collect();
            assert_eq!(shown, expected, "{total}");
        }
    }
}
