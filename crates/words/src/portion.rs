//! Shares of a whole: a proper part of what is there, and an amount that is spread by weights.

use crate::exact::Rounds as _;
use crate::money::{Funds, Rounding, Scaled};

/// A part of a whole, from nothing to all of it: a share by it is never more than what it is taken of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Portion {
    /// From 0 to `all`.
    of: i128,
    /// More than 0.
    all: i128,
}

impl Portion {
    pub const WHOLE: Self = Self { of: 1, all: 1 };
    pub const NOTHING: Self = Self { of: 0, all: 1 };

    /// `part` of `all`; none where it is more, or of the other sign. Nothing of nothing is nothing.
    pub fn of<T: Scaled>(part: T, all: T) -> Option<Self> {
        let (of, all) = (i128::from(part.units()), i128::from(all.units()));
        if of == 0 {
            return Some(Self::NOTHING);
        }
        let sign = all.signum();
        let (of, all) = (of * sign, all * sign);
        (0 < of && of <= all).then_some(Self { of, all })
    }

    pub const fn is_whole(self) -> bool {
        self.of == self.all
    }
}

/// What an amount is spread by: at least one weight, and their sum is not 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weights {
    each: Vec<i128>,
    /// More than 0.
    sum: i128,
}

impl Weights {
    pub fn of<T: Scaled>(weights: impl IntoIterator<Item = T>) -> Option<Self> {
        let each: Vec<i128> = weights.into_iter().map(|weight| i128::from(weight.units())).collect();
        let sum: i128 = each.iter().sum();
        // Weights that are all turned around are the same weights.
        let turn = sum.signum();
        (sum != 0).then(|| Self { each: each.iter().map(|weight| weight * turn).collect(), sum: sum * turn })
    }
}

/// What is taken of an amount, and what it is shared out as.
pub trait Shares: Funds {
    /// The share of it that a portion is, to a coin. The whole takes all of it, to the last unit; no share is more than
    /// what there is.
    #[must_use]
    fn part(self, portion: Portion, coin: Self::Coin) -> Self {
        let coin = coin.coin();
        let Portion { of, all } = portion;
        if of == all {
            return self;
        }
        // Both are 64 bits wide, so their product is no wider than 128.
        let (exact, step) = (i128::from(self.size().units()) * of, i128::from(coin.units()));
        let (coins, rest) = (exact / (all * step), exact % (all * step));
        let up = match coin.rounding {
            Rounding::HalfUp => rest * 2 >= all * step,
            Rounding::HalfEven => rest * 2 > all * step || (rest * 2 == all * step && coins % 2 == 1),
        };
        let size = i64::try_from((coins + i128::from(up)) * step).map_or(self.size(), Self::of_units);
        let size = Ord::min(size, self.size());
        if self.is_negative() { size.negated() } else { size }
    }

    /// Spreads an amount, to the coin: each weight gets its whole share, and the coins that are missing go to the largest
    /// fractions, the earlier of two equal ones first.
    fn spread(self, weights: &Weights, coin: Self::Coin) -> Vec<Self> {
        let (step, whole) = (i128::from(coin.coin().units()), weights.sum);
        let coins = i128::from(self.units()) / step;
        let mut shares: Vec<(i128, i128)> = weights
            .each
            .iter()
            .map(|weight| {
                let exact = coins * weight;
                (exact.div_euclid(whole), exact.rem_euclid(whole))
            })
            .collect();
        let mut order: Vec<usize> = (0..shares.len()).collect();
        order.sort_by_key(|place| std::cmp::Reverse(shares.get(*place).map(|(_, fraction)| *fraction)));
        // Each share was taken to the floor, so fewer coins are missing than there are shares.
        let missing = coins - shares.iter().map(|(share, _)| share).sum::<i128>();
        for (place, _) in order.into_iter().zip(0..missing) {
            if let Some((share, _)) = shares.get_mut(place) {
                *share += 1;
            }
        }
        let kept = |coins: i128| i64::try_from(coins * step).map_or(self, Self::of_units);
        shares.into_iter().map(|(share, _)| kept(share)).collect()
    }
}

impl<F: Funds> Shares for F {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::Coin;
    use crate::money::{Money, Quantity};
    use proptest::prelude::*;

    const CENT: Coin = Coin { decimals: 2, rounding: Rounding::HalfUp };

    fn money(text: &str) -> Money {
        Money::parse(text).unwrap()
    }

    #[test]
    fn a_portion_is_a_part_and_never_more() {
        let portion = |part: &str, all: &str| Portion::of(money(part), money(all));
        assert!(portion("3", "3").is_some_and(Portion::is_whole));
        assert!(portion("-1", "-3").is_some());
        assert_eq!(portion("0", "0"), Some(Portion::NOTHING));
        for (part, all) in [("4", "3"), ("-1", "3"), ("1", "-3"), ("1", "0")] {
            assert_eq!(portion(part, all), None, "{part} of {all}");
        }
    }

    #[test]
    fn a_share_is_rounded_once() {
        for (whole, part, all, comes_to) in [
            ("4.99", "1", "3", "1.66"),
            ("3.33", "1", "2", "1.67"),
            ("-3.33", "1", "2", "-1.67"),
            ("10", "1", "3", "3.33"),
            ("10.0001", "3", "3", "10.0001"),
            ("0.0001", "1", "2", "0"),
            ("0.0099", "999", "1000", "0.0099"),
            ("922337203685477.58", "1", "2", "461168601842738.79"),
        ] {
            let portion = Portion::of(Quantity::parse(part).unwrap(), Quantity::parse(all).unwrap()).unwrap();
            assert_eq!(money(whole).part(portion, CENT).to_string(), comes_to, "{part} of {all} of {whole}");
        }
    }

    #[test]
    fn what_is_spread_goes_to_the_largest_fractions() {
        let spread = |total: &str, weights: &[&str]| -> Vec<String> {
            let weights = Weights::of(weights.iter().map(|weight| money(weight))).unwrap();
            money(total).spread(&weights, CENT).iter().map(ToString::to_string).collect()
        };
        assert_eq!(spread("10", &["1", "1", "1"]), ["3.34", "3.33", "3.33"]);
        assert_eq!(spread("-10", &["1", "1", "1"]), ["-3.33", "-3.33", "-3.34"]);
        assert_eq!(spread("10", &["-1", "-1", "-1"]), ["3.34", "3.33", "3.33"]);
        assert_eq!(spread("0.01", &["30", "-29.97"]), ["10", "-9.99"]);
        assert_eq!(Weights::of([money("1"), money("-1")]), None);
        assert_eq!(Weights::of::<Money>([]), None);
    }

    proptest! {
        #[test]
        fn what_is_spread_adds_up(cents in -1_000_000_i64..1_000_000, weights in prop::collection::vec(0_i64..1_000_000, 1..100)) {
            let total = Money::from_units(cents * 100);
            let Some(weights) = Weights::of(weights.into_iter().map(Money::from_units)) else { return Ok(()) };
            let shares = total.spread(&weights, CENT);
            prop_assert_eq!(Money::sum(shares.iter().copied()), Ok(total));
            prop_assert!(shares.iter().all(|share| share.fits(2)));
        }
    }
}
