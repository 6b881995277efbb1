//! The sums of the seals: how many rows a table has, and what their seals come to.
//!
//! A sum does not depend on the order of its rows, so that it is kept up by what changes, and proved by reading all.

use super::Seals;
use crate::error::{Error, Result};
use crate::ids::BusinessId;
use std::collections::{BTreeMap, HashMap};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sum {
    pub count: i64,
    total: u128,
}

impl Sum {
    pub fn add(&mut self, seals: &Seals, table: &str, seal: &str) {
        self.count += 1;
        self.total = self.total.wrapping_add(seals.weight(table, seal));
    }

    pub fn take(&mut self, seals: &Seals, table: &str, seal: &str) {
        self.count -= 1;
        self.total = self.total.wrapping_sub(seals.weight(table, seal));
    }

    pub(super) fn move_by(&mut self, other: Self) {
        self.count += other.count;
        self.total = self.total.wrapping_add(other.total);
    }
}

/// The sums of all tables of one company, or of the installation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sums(BTreeMap<String, Sum>);

impl Sums {
    pub fn of(&self, table: &str) -> Sum {
        self.0.get(table).copied().unwrap_or_default()
    }

    pub fn of_table(&mut self, table: &str) -> &mut Sum {
        self.0.entry(table.to_owned()).or_default()
    }

    pub fn move_by(&mut self, other: &Self) {
        for (table, moved) in &other.0 {
            self.of_table(table).move_by(*moved);
        }
    }

    /// As they are kept: table, count and total of each.
    pub fn to_text(&self) -> String {
        let kept = self.0.iter().filter(|(_, sum)| **sum != Sum::default());
        let kept: Vec<String> = kept.map(|(table, sum)| format!("{table} {} {:032x}", sum.count, sum.total)).collect();
        kept.join("\n")
    }

    pub fn parse(text: &str) -> Result<Self> {
        let line = |line: &str| {
            let mut parts = line.split(' ');
            let table = parts.next()?.to_owned();
            let count = parts.next()?.parse().ok()?;
            let total = u128::from_str_radix(parts.next()?, 16).ok()?;
            Some((table, Sum { count, total }))
        };
        let sums: Option<_> = text.lines().map(line).collect();
        sums.map(Self).ok_or_else(|| Error::internal("the sums of the seals cannot be read"))
    }
}

/// What a batch did to sums: of companies, and of the installation.
#[derive(Default)]
pub struct Moved(pub HashMap<Option<BusinessId>, Sums>);

impl Moved {
    pub fn of(&mut self, company: Option<BusinessId>) -> &mut Sums {
        self.0.entry(company).or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Keys;

    #[test]
    fn sums_do_not_know_order_and_come_back_from_their_text() {
        let seals = Seals::of(&Keys::of(b"key")).unwrap();
        let (mut left, mut right) = (Sums::default(), Sums::default());
        for seal in ["a", "b", "c"] {
            left.of_table("parties").add(&seals, "parties", seal);
        }
        for seal in ["c", "x", "a", "b"] {
            right.of_table("parties").add(&seals, "parties", seal);
        }
        assert_ne!(left, right);
        right.of_table("parties").take(&seals, "parties", "x");
        assert_eq!(left, right);
        assert_eq!(Sums::parse(&left.to_text()).unwrap(), left);
        assert_eq!(Sums::parse("").unwrap(), Sums::default());
        assert!(Sums::parse("parties one").is_err());
        let mut other = Sum::default();
        other.add(&seals, "items", "a");
        assert_ne!(other.total, {
            let mut sum = Sum::default();
            sum.add(&seals, "parties", "a");
            sum.total
        });
    }
}
