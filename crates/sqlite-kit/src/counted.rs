//! Identifiers that were counted: a whole UUID wherever one is read, and few bytes where it is kept.
//!
//! A record of a company needs a name that no other record has, and nobody need be kept from guessing it. A counter makes
//! such names where one process writes for all, and all that a name says then is its number. So that is what is kept: the
//! first byte says how many follow, so that what is kept sorts as the numbers do, and nothing that is kept is the
//! beginning of anything else. What was not counted is kept as it is, in sixteen bytes.
//!
//! Which is which is told by the identifier alone: whoever has it in a statement's text writes [`Kept::digits`].

use uuid::Uuid;

/// What all of them begin with. They say that they are of version 8, which is whatever its maker wants it to be.
const BEGINNING: [u8; 10] = [0xd0, 0xe7, 0, 0, 0, 0, 0x80, 0, 0x80, 0];

/// By how many bytes there are after the first: the first one of all that have so many, and up to which number they go.
const LENGTHS: [(u8, u64); 5] = [
    (0x02, 6),
    (0x08, 6 + 8 * (1 << 8)),
    (0x10, 6 + 8 * (1 << 8) + 8 * (1 << 16)),
    (0x18, 6 + 8 * (1 << 8) + 8 * (1 << 16) + 6 * (1 << 24)),
    (0x1e, COUNTED_TO),
];
/// No first byte of what is counted one behind the other is that high.
const NO_FIRST: u8 = FIRST_OF_MOMENTS;

/// Numbers from here on lie in the moments at which they were taken, and not one behind the other: books that were restored
/// from a copy cannot know which numbers were given away after it. They are kept in seven bytes.
pub const OF_MOMENTS: u64 = 1 << 47;
/// What is kept of them begins with it, and all of the number follows.
const FIRST_OF_MOMENTS: u8 = 0x20;
/// As many bytes follow.
const NUMBER: usize = 6;
/// As many numbers as each second has.
pub const OF_A_SECOND: u32 = 1 << 17;
/// Seconds are counted from the first one of 2026, and fit for 34 years; later ones have no numbers.
const SECONDS_FROM: i64 = 1_767_225_600;
const SECONDS: u64 = 1 << 30;

/// The first of the numbers that a second has, by its place since 1970.
pub fn of_second(second: i64) -> Option<u64> {
    let place = u64::try_from(second.checked_sub(SECONDS_FROM)?).ok().filter(|place| *place < SECONDS)?;
    Some(OF_MOMENTS + place * u64::from(OF_A_SECOND))
}

fn is_counted(number: u64) -> bool {
    number < COUNTED_TO || (OF_MOMENTS..2 * OF_MOMENTS).contains(&number)
}

/// Before which number all that are counted one behind the other lie.
pub const COUNTED_TO: u64 = 6 + 8 * (1 << 8) + 8 * (1 << 16) + 6 * (1 << 24) + 2 * (1 << 32);

/// The identifier of a number; none of one that is too high.
pub fn counted(number: u64) -> Option<Uuid> {
    if !is_counted(number) {
        return None;
    }
    let mut bytes = [0; 16];
    bytes[..10].copy_from_slice(&BEGINNING);
    bytes[10..].copy_from_slice(&number.to_be_bytes()[2..]);
    Some(Uuid::from_bytes(bytes))
}

/// The number of an identifier that was counted.
fn number_of(id: &Uuid) -> Option<u64> {
    let own = id.as_bytes().strip_prefix(&BEGINNING)?;
    let number = own.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
    is_counted(number).then_some(number)
}

/// What is kept of an identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    bytes: [u8; 16],
    length: usize,
}

impl Kept {
    pub fn of(id: &Uuid) -> Self {
        let Some(number) = number_of(id) else { return Self { bytes: *id.as_bytes(), length: 16 } };
        if number >= OF_MOMENTS {
            let mut bytes = [0; 16];
            bytes[0] = FIRST_OF_MOMENTS;
            bytes[1..=NUMBER].copy_from_slice(&number.to_be_bytes()[8 - NUMBER..]);
            return Self { bytes, length: 1 + NUMBER };
        }
        let mut below = 0;
        for (more, (first, until)) in LENGTHS.into_iter().enumerate() {
            if number < until {
                let rest = (number - below).to_be_bytes();
                let mut bytes = [0; 16];
                bytes[..=more].copy_from_slice(&rest[7 - more..]);
                bytes[0] += first;
                return Self { bytes, length: 1 + more };
            }
            below = until;
        }
        Self { bytes: *id.as_bytes(), length: 16 }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// In hexadecimal digits, as a statement has it.
    pub fn digits(&self) -> String {
        let digits = self.bytes().iter().flat_map(|byte| [byte >> 4, byte & 15]);
        digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
    }
}

/// The identifier of which this is kept; none where nothing is kept so.
pub fn read(kept: &[u8]) -> Option<Uuid> {
    if kept.len() == 16 {
        let id = Uuid::from_slice(kept).ok()?;
        // One that was counted and lies there whole would not be found.
        return number_of(&id).is_none().then_some(id);
    }
    let (first, rest) = kept.split_first()?;
    if *first == FIRST_OF_MOMENTS && rest.len() == NUMBER {
        let number = rest.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        return counted(number).filter(|_| number >= OF_MOMENTS);
    }
    let more = LENGTHS.iter().rposition(|(lowest, _)| lowest <= first).filter(|_| *first < NO_FIRST)?;
    if more != rest.len() {
        return None;
    }
    let below = if more == 0 { 0 } else { LENGTHS[more - 1].1 };
    let number = rest.iter().fold(u64::from(first - LENGTHS[more].0), |number, byte| number << 8 | u64::from(*byte));
    counted(below + number)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers around which what is kept gets longer, and some between.
    fn numbers() -> Vec<u64> {
        let ends = LENGTHS.iter().flat_map(|(_, until)| [until - 1, *until, until + 1]);
        let mut all: Vec<u64> =
            (0..3_000).chain(ends).chain([1 << 20, 1 << 30]).filter(|one| *one < COUNTED_TO).collect();
        all.extend([OF_MOMENTS, OF_MOMENTS + 1, (1 << 48) - 1]);
        all.extend([1_790_000_000, 1_790_000_001].map(|second| of_second(second).unwrap()));
        all.sort_unstable();
        all.dedup();
        all
    }

    #[test]
    fn what_was_counted_is_kept_in_few_bytes_and_comes_back() {
        for number in numbers() {
            let id = counted(number).unwrap();
            let kept = Kept::of(&id);
            assert_eq!(read(kept.bytes()), Some(id), "{number}");
            assert_eq!(read(id.as_bytes()), None, "{number} does not lie there whole");
            assert_eq!((id.get_version_num(), id.get_variant()), (8, uuid::Variant::RFC4122));
        }
        let lengths = [0, 5, 6, 2_053, 2_054, 526_341, 526_342, 101_189_637, 101_189_638, COUNTED_TO - 1];
        let lengths = lengths.map(|number| Kept::of(&counted(number).unwrap()).bytes().len());
        assert_eq!(lengths, [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]);
        assert_eq!((counted(COUNTED_TO), counted(OF_MOMENTS - 1), counted(1 << 48)), (None, None, None));
    }

    #[test]
    fn each_second_has_numbers_of_its_own_that_are_kept_in_seven_bytes() {
        let now = 1_790_000_000;
        let (first, next) = (of_second(now).unwrap(), of_second(now + 1).unwrap());
        assert_eq!(next - first, u64::from(OF_A_SECOND));
        assert!(first > COUNTED_TO && first > OF_MOMENTS, "none of them is counted one behind the other");
        assert_eq!(Kept::of(&counted(first).unwrap()).bytes().len(), 7);
        // Before 2026, and more than 34 years after it, there are none.
        let last = of_second(SECONDS_FROM + (1 << 30) - 1).unwrap() + u64::from(OF_A_SECOND) - 1;
        assert_eq!((of_second(SECONDS_FROM - 1), of_second(SECONDS_FROM + (1 << 30))), (None, None));
        assert_eq!((of_second(SECONDS_FROM), counted(last).is_some(), last), (Some(OF_MOMENTS), true, (1 << 48) - 1));
    }

    #[test]
    fn what_is_kept_sorts_as_the_identifiers_do() {
        let ids: Vec<Uuid> = numbers().into_iter().filter_map(counted).collect();
        assert!(ids.is_sorted_by(|left, right| left < right));
        assert!(ids.is_sorted_by(|left, right| Kept::of(left).bytes() < Kept::of(right).bytes()));
    }

    #[test]
    fn what_was_not_counted_is_kept_as_it_is() {
        let too_high = [&BEGINNING[..], &[0x7f, 0xff, 0xff, 0xff, 0xff, 0xff]].concat();
        let others = [Uuid::nil(), Uuid::max(), Uuid::from_u128(7), Uuid::from_slice(&too_high).unwrap()];
        for id in others {
            assert_eq!(Kept::of(&id).bytes(), id.as_bytes());
            assert_eq!(read(id.as_bytes()), Some(id));
        }
    }

    #[test]
    fn what_nobody_kept_is_no_identifier() {
        for torn in [
            &[][..],
            &[0],
            &[1],
            &[8],
            &[2, 0],
            &[0x0f, 0, 0],
            &[0x1f, 0, 0, 0],
            &[0x20],
            &[0x20, 0, 0, 0, 0, 0, 0],
            &[0xff; 15],
            &[1; 17],
        ] {
            assert_eq!(read(torn), None, "{torn:?}");
        }
    }
}
