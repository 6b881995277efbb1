//! What is shared to the coin.

use super::figures::TooLarge;
use words::exact::Rounds;
pub use words::exact::{Coin, Exact};
use words::money::{Percent, Scaled as _};
use words::sown::{Fault, sown};

/// So many hundredths.
pub fn hundredths(percent: Percent) -> Result<Exact, TooLarge> {
    Exact::from(percent).times(Exact::HUNDREDTH)
}

/// Shares an amount by what each would have without rounding: each gets its whole coins, and those that are missing go
/// to the largest fractions, the earlier of two equal ones first. Nothing is divided by a sum, which may be 0.
pub fn spread<C: Rounds>(total: C::Amount, raw: &[Exact], to: C) -> Result<Vec<C::Amount>, TooLarge> {
    let coin = to.coin();
    let mut coins = Vec::with_capacity(raw.len());
    let mut rest = Vec::with_capacity(raw.len());
    for share in raw {
        let (whole, fraction) = share.floor(to)?;
        coins.push(whole.units() / coin.units());
        rest.push(fraction);
    }
    let given = coins.iter().try_fold(0_i64, |sum, coins| sum.checked_add(*coins)).ok_or(TooLarge)?;
    let mut missing = (total.units() / coin.units()).checked_sub(given).ok_or(TooLarge)?;
    if sown(Fault::LastCoinLost) {
        missing = 0;
    }
    if raw.is_empty() && missing != 0 {
        return Err(TooLarge);
    }
    let mut order: Vec<usize> = (0..raw.len()).collect();
    order.sort_by(|left, right| rest[*right].cmp(&rest[*left]));
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
    coins.into_iter().map(|coins| coins.checked_mul(coin.units()).map(C::Amount::of_units).ok_or(TooLarge)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use words::money::{Money, Rounding};

    fn money(text: &str) -> Money {
        Money::parse(text).unwrap()
    }

    const CENT: Coin = Coin { decimals: 2, rounding: Rounding::HalfUp };

    #[test]
    fn what_is_missing_goes_to_the_largest_fractions() {
        for (total, raw, expected) in [
            ("10", &["3.3333", "3.3333", "3.3334"][..], &["3.33", "3.33", "3.34"][..]),
            ("0.01", &["6", "-5.994"], &["6", "-5.99"]),
            ("20.83", &["25", "-4.1667"], &["25", "-4.17"]),
            ("0", &["0", "0"], &["0", "0"]),
            ("-0.03", &["-0.015", "-0.015"], &["-0.01", "-0.02"]),
        ] {
            let raw: Vec<Exact> = raw.iter().map(|text| Exact::from(money(text))).collect();
            let shown: Vec<String> =
                spread(money(total), &raw, CENT).unwrap().iter().map(ToString::to_string).collect();
            assert_eq!(shown, expected, "{total}");
        }
    }
}
