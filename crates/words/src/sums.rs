//! What has no entry: the one place where absence comes to nothing, by the kind of what is absent.
//!
//! Owns: that a sum over nothing is 0 and a list of nothing is empty. Refuses: everything else. A figure that should be
//! there and is not, or that is too large, is a fault and never a 0.

use crate::money::{BookMoney, Money, Quantity};
use std::borrow::Borrow;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, Hash};

/// What is added up.
pub trait Figure: Copy {
    /// What none of it comes to.
    const NOTHING: Self;
}

macro_rules! figures {
    ($($of:ty = $nothing:expr),+ $(,)?) => {
        $(impl Figure for $of {
            const NOTHING: Self = $nothing;
        })+
    };
}

figures!(i64 = 0, i128 = 0, Money = Money::ZERO, BookMoney = BookMoney::ZERO, Quantity = Quantity::ZERO);

impl<L: Figure, R: Figure> Figure for (L, R) {
    const NOTHING: Self = (L::NOTHING, R::NOTHING);
}

/// Sums by what they are of.
pub trait Sums<K: ?Sized> {
    type Sum;

    /// What was added up for a key: where it has no entry, nothing was.
    fn sum_of(&self, key: &K) -> Self::Sum;
}

impl<K: Borrow<Q> + Eq + Hash, Q: Eq + Hash + ?Sized, V: Figure, S: BuildHasher> Sums<Q> for HashMap<K, V, S> {
    type Sum = V;

    fn sum_of(&self, key: &Q) -> V {
        self.get(key).copied().unwrap_or(V::NOTHING)
    }
}

impl<K: Borrow<Q> + Ord, Q: Ord + ?Sized, V: Figure> Sums<Q> for BTreeMap<K, V> {
    type Sum = V;

    fn sum_of(&self, key: &Q) -> V {
        self.get(key).copied().unwrap_or(V::NOTHING)
    }
}

/// What an engine answers that was asked for a sum.
pub trait SummedUp {
    type Sum;

    /// Over no rows it is nothing.
    fn summed_up(self) -> Self::Sum;
}

impl<V: Figure> SummedUp for Option<Option<V>> {
    type Sum = V;

    fn summed_up(self) -> V {
        self.flatten().unwrap_or(V::NOTHING)
    }
}

/// Lists by what they are of.
pub trait Lists<K: ?Sized> {
    type One;

    /// What was put under a key, which may be nothing.
    fn list_of(&self, key: &K) -> &[Self::One];

    /// The same, taken out.
    fn take_list(&mut self, key: &K) -> Vec<Self::One>;
}

impl<K: Borrow<Q> + Eq + Hash, Q: Eq + Hash + ?Sized, V, S: BuildHasher> Lists<Q> for HashMap<K, Vec<V>, S> {
    type One = V;

    fn list_of(&self, key: &Q) -> &[V] {
        self.get(key).map_or(&[], Vec::as_slice)
    }

    fn take_list(&mut self, key: &Q) -> Vec<V> {
        self.remove(key).unwrap_or_default()
    }
}

impl<K: Borrow<Q> + Ord, Q: Ord + ?Sized, V> Lists<Q> for BTreeMap<K, Vec<V>> {
    type One = V;

    fn list_of(&self, key: &Q) -> &[V] {
        self.get(key).map_or(&[], Vec::as_slice)
    }

    fn take_list(&mut self, key: &Q) -> Vec<V> {
        self.remove(key).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_entry_comes_to_nothing() {
        let sums = HashMap::from([("a", (Quantity::from_units(1), Money::from_units(2)))]);
        assert_eq!(sums.sum_of("a"), (Quantity::from_units(1), Money::from_units(2)));
        assert_eq!(sums.sum_of("b"), (Quantity::ZERO, Money::ZERO));
        assert_eq!(
            (Some(Some(7_i64)).summed_up(), Some(None::<i64>).summed_up(), None::<Option<i64>>.summed_up()),
            (7, 0, 0)
        );
        let mut lists = BTreeMap::from([(1, vec!["x"])]);
        assert_eq!((lists.list_of(&1), lists.list_of(&2)), (&["x"][..], &[][..]));
        assert_eq!((lists.take_list(&1), lists.take_list(&1)), (vec!["x"], Vec::new()));
    }
}
