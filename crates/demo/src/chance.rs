//! Chance that is the same each time: `SplitMix64`, in lines of our own, so that no crate's new version changes the books.

/// A stream of numbers, by its seed alone.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn of(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 up to one less than `most`.
    pub(crate) fn below(&mut self, most: u64) -> u64 {
        self.next() % most.max(1)
    }

    /// From `least` to `most`, both of them included.
    pub(crate) fn between(&mut self, least: i64, most: i64) -> i64 {
        let span = u64::try_from(most - least).unwrap_or(0) + 1;
        least + i64::try_from(self.below(span)).unwrap_or(0)
    }

    /// Whether something happens that happens so often of a hundred times.
    pub(crate) fn happens(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn place(&mut self, among: usize) -> usize {
        usize::try_from(self.below(u64::try_from(among).unwrap_or(1))).unwrap_or(0)
    }
}

/// A pack of a hundred cards, each dealt once before any comes again. What few of them say comes about as often as they are
/// many, and not by luck: each state is there to look at, whatever the day.
pub(crate) struct Pack(u64);

impl Pack {
    /// ... from any of them on.
    pub(crate) fn cut(chance: &mut Chance) -> Self {
        Self(chance.below(100))
    }

    /// The next card, from 0 to 99. Neighbours come far apart: a step of 61 is near the golden section of all of them.
    pub(crate) fn deal(&mut self) -> u64 {
        self.0 = (self.0 + 61) % 100;
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_card_is_dealt_once_and_neighbours_come_apart() {
        let mut pack = Pack::cut(&mut Chance::of(1));
        let dealt: Vec<u64> = (0..200).map(|_| pack.deal()).collect();
        let mut whole = dealt[..100].to_vec();
        whole.sort_unstable();
        assert_eq!(whole, (0..100).collect::<Vec<u64>>());
        assert_eq!(dealt[..100], dealt[100..]);
        // Eight cards of a hundred: there is one of them among any so many that follow each other.
        for few in dealt.windows(22) {
            assert!(few.iter().any(|card| (6..14).contains(card)), "{few:?}");
        }
    }

    /// The first numbers that the reference implementation gives for the seed 1234567.
    #[test]
    fn it_is_the_generator_that_it_says_it_is() {
        let mut chance = Chance::of(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| chance.next()).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn a_span_includes_both_of_its_ends() {
        let mut chance = Chance::of(1);
        let drawn: Vec<i64> = (0..200).map(|_| chance.between(-1, 2)).collect();
        assert!((-1..=2).all(|one| drawn.contains(&one)) && drawn.iter().all(|one| (-1..=2).contains(one)));
    }
}
