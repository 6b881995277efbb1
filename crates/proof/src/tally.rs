//! Sums by currency while lines are read: what is known already is found without a copy of its currency.

use std::collections::HashMap;
use std::hash::Hash;

/// What is under each key, in the few currencies that it is in.
#[derive(Debug)]
pub(super) struct Tally<K, V>(HashMap<K, Vec<(String, V)>>);

impl<K, V> Default for Tally<K, V> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<K: Eq + Hash + Copy, V: Default> Tally<K, V> {
    pub(super) fn of(&mut self, key: K, currency: &str) -> &mut V {
        let all = self.0.entry(key).or_default();
        let place = all.iter().position(|(known, _)| known == currency).unwrap_or_else(|| {
            all.push((currency.to_owned(), V::default()));
            all.len() - 1
        });
        &mut all[place].1
    }

    /// All there is, in no order.
    pub(super) fn all(self) -> impl Iterator<Item = (K, String, V)> {
        self.0.into_iter().flat_map(|(key, all)| all.into_iter().map(move |(currency, value)| (key, currency, value)))
    }
}
