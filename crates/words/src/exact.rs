//! Products and quotients, exact until they are rounded: once, where an amount is named.
//!
//! Owns: [`Exact`], a fraction of two integers of 256 bits, and [`Coin`] and [`BookCoin`], what it is rounded to: the coin
//! says whose amount it becomes. Refuses: to round without being asked, and to lose what does not fit.

use crate::money::{BookMoney, Funds, Money, Rate, Rounding, Scaled};
use crate::sown::{Fault, sown};
use ethnum::I256;
use std::cmp::Ordering;

/// More than can be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge;

/// The smallest coin of a document's currency, and where the half of it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coin {
    pub decimals: u32,
    pub rounding: Rounding,
}

impl Coin {
    /// One of it, in the units of money.
    pub const fn units(self) -> i64 {
        match self.decimals {
            0 => 10_000,
            1 => 1_000,
            2 => 100,
            3 => 10,
            _ => 1,
        }
    }
}

/// The smallest coin of the company's currency, and where the half of it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BookCoin(Coin);

impl BookCoin {
    pub const fn new(decimals: u32, rounding: Rounding) -> Self {
        Self(Coin { decimals, rounding })
    }
}

/// What a number is rounded to. What is rounded to a coin of the books is an amount of the books.
pub trait Rounds: Copy {
    type Amount: Funds;

    fn coin(self) -> Coin;
}

impl Rounds for Coin {
    type Amount = Money;

    fn coin(self) -> Coin {
        self
    }
}

impl Rounds for BookCoin {
    type Amount = BookMoney;

    fn coin(self) -> Coin {
        self.0
    }
}

/// A number as it is, whatever was multiplied or divided to get there.
#[derive(Debug, Clone, Copy)]
pub struct Exact {
    over: I256,
    /// More than 0.
    under: I256,
}

fn ten_to(places: u32) -> I256 {
    10_i128.checked_pow(places).map_or_else(|| I256::new(10).pow(places), I256::new)
}

/// Two numbers in half of the width, where they fit: nearly all do, and to divide those takes the processor a tenth.
fn narrow(left: I256, right: I256) -> Option<(i128, i128)> {
    Some((i128::try_from(left).ok()?, i128::try_from(right).ok()?))
}

/// How often one goes into another whole, towards the floor, and what is left over. `under` is more than 0.
fn divided(over: I256, under: I256) -> (I256, I256) {
    match narrow(over, under) {
        Some((over, under)) => (over.div_euclid(under).into(), over.rem_euclid(under).into()),
        None => (over.div_euclid(under), over.rem_euclid(under)),
    }
}

/// The largest number that goes into both.
fn common(mut left: I256, mut right: I256) -> I256 {
    while right != I256::ZERO {
        (left, right) = (right, divided(left, right).1);
    }
    left
}

impl<T: Scaled> From<T> for Exact {
    fn from(decimal: T) -> Self {
        Self { over: I256::from(decimal.units()), under: ten_to(T::PLACES) }
    }
}

impl Exact {
    pub const ZERO: Self = Self { over: I256::ZERO, under: I256::ONE };
    pub const ONE: Self = Self { over: I256::ONE, under: I256::ONE };
    /// The hundredth part, which is what a percentage is of.
    pub const HUNDREDTH: Self = Self { over: I256::ONE, under: I256([100, 0]) };

    fn reduced(self) -> Self {
        let by = common(self.over.abs(), self.under);
        // Both go without a rest.
        Self { over: divided(self.over, by).0, under: divided(self.under, by).0 }
    }

    /// What is tried as it stands, and again in lowest terms where that is too large.
    fn with(self, other: Self, how: fn(Self, Self) -> Option<Self>) -> Result<Self, TooLarge> {
        how(self, other).or_else(|| how(self.reduced(), other.reduced())).ok_or(TooLarge)
    }

    pub fn times(self, other: impl Into<Self>) -> Result<Self, TooLarge> {
        self.with(other.into(), |left, right| {
            Some(Self { over: left.over.checked_mul(right.over)?, under: left.under.checked_mul(right.under)? })
        })
    }

    /// Divided by another; nothing can be divided by 0, and that is too large as well.
    pub fn over(self, other: impl Into<Self>) -> Result<Self, TooLarge> {
        let other: Self = other.into();
        let upside_down = match other.over.cmp(&I256::ZERO) {
            Ordering::Equal => return Err(TooLarge),
            Ordering::Greater => Self { over: other.under, under: other.over },
            Ordering::Less => Self { over: -other.under, under: -other.over },
        };
        self.times(upside_down)
    }

    pub fn plus(self, other: impl Into<Self>) -> Result<Self, TooLarge> {
        self.with(other.into(), |left, right| {
            if left.under == right.under {
                return Some(Self { over: left.over.checked_add(right.over)?, under: left.under });
            }
            let (first, second) = (left.over.checked_mul(right.under)?, right.over.checked_mul(left.under)?);
            Some(Self { over: first.checked_add(second)?, under: left.under.checked_mul(right.under)? })
        })
    }

    pub fn minus(self, other: impl Into<Self>) -> Result<Self, TooLarge> {
        self.plus(other.into().negated())
    }

    #[must_use]
    pub fn negated(self) -> Self {
        Self { over: -self.over, under: self.under }
    }

    pub fn is_zero(self) -> bool {
        self.over == I256::ZERO
    }

    pub fn is_negative(self) -> bool {
        self.over < I256::ZERO
    }

    /// How many whole coins of `places` decimals, towards the floor, and what is left over of one.
    fn split(self, places: u32) -> Result<(I256, Self), TooLarge> {
        let scale = |exact: Self| Some(Self { over: exact.over.checked_mul(ten_to(places))?, under: exact.under });
        let scaled = scale(self).or_else(|| scale(self.reduced())).ok_or(TooLarge)?;
        let (whole, rest) = divided(scaled.over, scaled.under);
        Ok((whole, Self { over: rest, under: scaled.under }))
    }

    /// Units of ten to the minus `places`, with the half where `rounding` sends it.
    fn nearest(self, places: u32, rounding: Rounding) -> Result<i64, TooLarge> {
        let size = if self.is_negative() { self.negated() } else { self };
        let (whole, rest) = size.split(places)?;
        // The rest is less than what it is a part of, so its other part never overflows.
        let up = match (rest.over.cmp(&(rest.under - rest.over)), rounding) {
            (Ordering::Less, _) => false,
            (Ordering::Equal, Rounding::HalfEven) if !sown(Fault::HalvesGoUp) => whole % I256::new(2) == I256::ONE,
            (Ordering::Equal | Ordering::Greater, _) => true,
        };
        let whole = if up { whole + I256::ONE } else { whole };
        let units = i64::try_from(whole).map_err(|_| TooLarge)?;
        Ok(if self.is_negative() { -units } else { units })
    }

    /// The one place where a product becomes an amount.
    pub fn round<C: Rounds>(self, to: C) -> Result<C::Amount, TooLarge> {
        let coin = to.coin();
        let coins = self.nearest(coin.decimals.min(<Money as Scaled>::PLACES), coin.rounding)?;
        coins.checked_mul(coin.units()).map(C::Amount::of_units).ok_or(TooLarge)
    }

    /// To the coin below, and what is left over: a part of one coin, less than it.
    pub fn floor<C: Rounds>(self, to: C) -> Result<(C::Amount, Self), TooLarge> {
        let coin = to.coin();
        let (coins, rest) = self.split(coin.decimals.min(<Money as Scaled>::PLACES))?;
        let coins = i64::try_from(coins).map_err(|_| TooLarge)?;
        let floor = coins.checked_mul(coin.units()).map(C::Amount::of_units).ok_or(TooLarge)?;
        Ok((floor, rest))
    }

    /// The nearest number of another scale, such as a price of one piece; the half goes away from zero.
    pub fn nearest_units<T: Scaled>(self) -> Result<i64, TooLarge> {
        self.nearest(T::PLACES, Rounding::HalfUp)
    }
}

impl PartialEq for Exact {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Exact {}

impl PartialOrd for Exact {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Exact {
    /// By their whole parts, then by what is left over, turned upside down: no product is needed.
    fn cmp(&self, other: &Self) -> Ordering {
        let (mut left, mut right, mut turned) = (*self, *other, false);
        loop {
            let ((one, rest), (another, other_rest)) =
                (divided(left.over, left.under), divided(right.over, right.under));
            let order = match (one.cmp(&another), rest == I256::ZERO, other_rest == I256::ZERO) {
                (Ordering::Equal, true, true) => Ordering::Equal,
                (Ordering::Equal, true, false) => Ordering::Less,
                (Ordering::Equal, false, true) => Ordering::Greater,
                (Ordering::Equal, false, false) => {
                    (left, right) =
                        (Self { over: left.under, under: rest }, Self { over: right.under, under: other_rest });
                    turned = !turned;
                    continue;
                }
                (order, _, _) => order,
            };
            return if turned { order.reverse() } else { order };
        }
    }
}

/// Amounts of another currency on their way into the company's: the running total is converted, so that what is shared adds
/// up to what the whole comes to.
#[derive(Debug, Clone, Copy)]
pub struct Running {
    rate: Rate,
    coin: BookCoin,
    seen: Money,
    came_to: BookMoney,
}

impl Running {
    pub const fn at(rate: Rate, coin: BookCoin) -> Self {
        Self { rate, coin, seen: Money::ZERO, came_to: BookMoney::ZERO }
    }

    /// The next amount.
    pub fn convert(&mut self, amount: Money) -> Result<BookMoney, TooLarge> {
        if sown(Fault::ConvertedPieceByPiece) {
            (self.seen, self.came_to) = (Money::ZERO, BookMoney::ZERO);
        }
        let seen = self.seen.plus(amount)?;
        let total = Exact::from(seen).times(self.rate)?.round(self.coin)?;
        let converted = total.minus(self.came_to)?;
        (self.seen, self.came_to) = (seen, total);
        Ok(converted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::{Percent, Quantity, UnitPrice};
    use proptest::prelude::*;

    fn money(text: &str) -> Money {
        Money::parse(text).unwrap()
    }

    fn coin(decimals: u32) -> Coin {
        Coin { decimals, rounding: Rounding::HalfUp }
    }

    #[test]
    fn the_worked_examples_of_money_come_out_to_the_coin() {
        let at = |amount: &str, rate: &str| Exact::from(money(amount)).times(Rate::parse(rate).unwrap()).unwrap();
        let priced = |quantity: &str, price: &str| {
            Exact::from(Quantity::parse(quantity).unwrap()).times(UnitPrice::parse(price).unwrap()).unwrap()
        };
        let even = Coin { decimals: 2, rounding: Rounding::HalfEven };
        for (name, exact, coin, comes_to) in [
            ("5.2", at("123456789012.34", "1.2345678901"), coin(2), "152415787529.49"),
            ("5.3, the dinars", priced("1.5", "1.235"), coin(3), "1.853"),
            ("5.3, in the company's currency", at("1.853", "3.01"), coin(2), "5.58"),
            ("5.3, the yen", at("1234", "0.0061"), coin(2), "7.53"),
            ("5.4, down to the even one", priced("1", "0.125"), even, "0.12"),
            ("5.4, up to the even one", priced("1", "0.135"), even, "0.14"),
            ("5.6, tiny prices", priced("1500000", "0.000001"), coin(2), "1.5"),
            (
                "5.6, a third taken off",
                Exact::from(money("99.99"))
                    .times(Percent::parse("33.333333").unwrap())
                    .and_then(|exact| exact.times(Exact::HUNDREDTH))
                    .unwrap(),
                coin(2),
                "33.33",
            ),
            ("the half goes away from zero", priced("1", "-2.345"), coin(2), "-2.35"),
            ("and to the even one", priced("1", "2.355"), even, "2.36"),
            ("no coins", priced("1", "2.5"), coin(0), "3"),
        ] {
            assert_eq!(exact.round(coin).unwrap().to_string(), comes_to, "{name}");
        }
        assert_eq!(priced("9223372036854", "9223372036854").round(coin(2)), Err(TooLarge));
    }

    #[test]
    fn the_running_total_is_converted() {
        let mut running = Running::at(Rate::parse("0.5").unwrap(), BookCoin::new(2, Rounding::HalfUp));
        let parts = [money("0.05"); 3].map(|amount| running.convert(amount).unwrap().to_string());
        assert_eq!(parts, ["0.03", "0.02", "0.03"], "5.5");
        assert_eq!(running.came_to.to_string(), "0.08", "5.5");
        // What is worth as much as the company's currency has its coins all the same.
        let mut at_one = Running::at(Rate::ONE, BookCoin::new(2, Rounding::HalfUp));
        let parts = ["1.234", "1.234"].map(|amount| at_one.convert(money(amount)).unwrap().to_string());
        assert_eq!(parts, ["1.23", "1.24"]);
    }

    #[test]
    fn a_product_beyond_the_widest_is_tried_in_lowest_terms() {
        let most = Money::from_units(i64::MAX);
        let mut exact = Exact::from(most);
        for _ in 0..8 {
            exact = exact.times(Rate::parse("922337203.6854775807").unwrap()).unwrap();
            exact = exact.over(Rate::parse("922337203.6854775807").unwrap()).unwrap();
        }
        assert_eq!(exact.round(coin(4)), Ok(most));
        assert_eq!(Exact::ONE.over(Money::ZERO), Err(TooLarge));
    }

    #[test]
    fn what_is_below_zero_has_its_floor_further_down() {
        for (amount, floor, rest) in [("-4.1666", "-4.17", "0.34"), ("4.1666", "4.16", "0.66"), ("-4.16", "-4.16", "0")]
        {
            let (down, left) = Exact::from(money(amount)).floor(coin(2)).unwrap();
            assert_eq!((down, left), (money(floor), Exact::from(money(rest))), "{amount}");
        }
    }

    proptest! {
        #[test]
        fn it_is_what_a_school_child_would_reckon(
            left in -1_000_000_000_i64..1_000_000_000, right in 1_i64..1_000_000_000, third in 1_i64..1_000_000,
        ) {
            let exact = Exact::from(Money::from_units(left)).times(Money::from_units(right)).unwrap();
            let exact = exact.over(Money::from_units(third)).unwrap();
            // In ten-thousandths: left x right / third, the half away from zero.
            let (product, third) = (i128::from(left) * i128::from(right), i128::from(third));
            let size = (product.abs() * 2 + third) / (third * 2);
            let wanted = if left < 0 { -size } else { size };
            prop_assert_eq!(i128::from(exact.round(coin(4)).unwrap().units()), wanted);
        }

        #[test]
        fn in_half_of_the_width_it_is_the_same(over in any::<i128>(), under in 1_i128..=i128::MAX, by in 0_u32..127) {
            let (over, under) = (I256::new(over >> by), I256::new((under >> by).max(1)));
            let (whole, rest) = divided(over, under);
            prop_assert_eq!(whole, over.div_euclid(under));
            prop_assert_eq!(rest, over.rem_euclid(under));
            prop_assert_eq!(whole * under + rest, over);
        }

        #[test]
        fn sums_and_orders_are_those_of_the_numbers(
            left in -1_000_000_i64..1_000_000, right in -1_000_000_i64..1_000_000, first in 1_i64..1_000, second in 1_i64..1_000,
        ) {
            let of = |over: i64, under: i64| Exact::from(Money::from_units(over)).over(Money::from_units(under)).unwrap();
            let cross = (i128::from(left) * i128::from(second)).cmp(&(i128::from(right) * i128::from(first)));
            prop_assert_eq!(of(left, first).cmp(&of(right, second)), cross);
            let sum = of(left, first).plus(of(right, second)).unwrap().minus(of(right, second)).unwrap();
            prop_assert_eq!(sum, of(left, first));
        }
    }
}
