//! Exact fractions, and amounts in the smallest coins of their currency. Nothing is rounded but by `round`.

use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Sub};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fraction {
    above: i128,
    /// More than 0.
    below: i128,
}

const fn common(mut left: i128, mut right: i128) -> i128 {
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left.abs()
}

impl Fraction {
    pub const ZERO: Self = Self { above: 0, below: 1 };
    pub const ONE: Self = Self { above: 1, below: 1 };

    pub fn new(above: i128, below: i128) -> Self {
        assert!(below != 0, "a division by nothing");
        let by = common(above, below).max(1) * below.signum();
        Self { above: above / by, below: below / by }
    }

    pub const fn of(whole: i128) -> Self {
        Self { above: whole, below: 1 }
    }

    pub const fn floor(self) -> i128 {
        self.above.div_euclid(self.below)
    }

    /// Half away from zero.
    pub const fn round(self) -> i128 {
        (self.above.abs() * 2 + self.below) / (self.below * 2) * self.above.signum()
    }
}

impl Add for Fraction {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self::new(self.above * other.below + other.above * self.below, self.below * other.below)
    }
}

impl Sub for Fraction {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self::new(self.above * other.below - other.above * self.below, self.below * other.below)
    }
}

impl Mul for Fraction {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self::new(self.above * other.above, self.below * other.below)
    }
}

impl Div for Fraction {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        Self::new(self.above * other.below, self.below * other.above)
    }
}

impl PartialOrd for Fraction {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Fraction {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.above * other.below).cmp(&(other.above * self.below))
    }
}

/// A whole, shared by what each would have exactly: to the floor, and the missing coins to the largest fractions.
pub fn spread(whole: i128, raw: &[Fraction]) -> Vec<i128> {
    let mut shares: Vec<i128> = raw.iter().map(|raw| raw.floor()).collect();
    let missing = whole - shares.iter().sum::<i128>();
    let mut places: Vec<usize> = (0..raw.len()).collect();
    places.sort_by_key(|place| (Fraction::of(raw[*place].floor()) - raw[*place], *place));
    for turn in 0..missing.max(0) {
        let place = places[usize::try_from(turn).unwrap() % places.len()];
        shares[place] += 1;
    }
    assert!(missing >= 0, "more than the whole was shared: {whole} by {raw:?}");
    shares
}

/// A whole by weights.
pub fn by_weight(whole: i128, weights: &[i128]) -> Vec<i128> {
    let all: i128 = weights.iter().sum();
    if all == 0 {
        return weights.iter().map(|_| 0).collect();
    }
    let raw: Vec<Fraction> = weights.iter().map(|weight| Fraction::new(whole * weight, all)).collect();
    spread(whole, &raw)
}

/// A part of a whole; all of it takes all that is there.
pub fn part(whole: i128, of: i128, all: i128) -> i128 {
    if of == all { whole } else { Fraction::new(whole * of, all).round() }
}

/// Conversion by a running total: each part is what the total moves by.
pub fn running(parts: &[i128], rate: Fraction) -> Vec<i128> {
    let (mut sum, mut before) = (0, 0);
    parts
        .iter()
        .map(|part| {
            sum += part;
            let now = (Fraction::of(sum) * rate).round();
            let share = now - before;
            before = now;
            share
        })
        .collect()
}

/// Digits with so many of them behind the point, as they are written on the wire.
pub fn shown(units: i128, places: u32) -> String {
    let sign = if units < 0 { "-" } else { "" };
    let scale = 10_i128.pow(places);
    let (whole, rest) = (units.abs() / scale, units.abs() % scale);
    if places == 0 {
        format!("{sign}{whole}")
    } else {
        format!("{sign}{whole}.{rest:0width$}", width = places as usize)
    }
}

/// What is written, in units of so many places behind the point.
pub fn read(text: &str, places: u32) -> i128 {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let (whole, rest) = digits.split_once('.').unwrap_or((digits, ""));
    let rest = format!("{rest:0<width$}", width = places as usize);
    assert!(rest.len() == places as usize, "{text} has more than {places} digits behind the point");
    let units: i128 = format!("{whole}{rest}").parse().unwrap_or_else(|_| panic!("{text} is no number"));
    if negative { -units } else { units }
}
