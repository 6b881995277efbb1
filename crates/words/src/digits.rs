//! How scaled integers are read from their literal text and written back, digit for digit.

use serde::de::{self, Deserializer, Visitor};
use serde::ser::Error as _;
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;

/// Why a text is no number of a scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecimalFault {
    NotADecimal,
    TooPrecise { places: u32 },
    TooLarge,
}

impl fmt::Display for DecimalFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotADecimal => f.write_str("must be a decimal number such as 12.50, without an exponent"),
            Self::TooPrecise { places } => write!(f, "must have at most {places} decimal places"),
            Self::TooLarge => f.write_str("is too large"),
        }
    }
}

/// Whether a fault says that a number has more decimals than are kept of it: as it is read, or in a currency. It comes as a
/// text, because what reads JSON hands on no other.
pub(crate) fn is_too_precise(fault: &str) -> bool {
    let of_places = fault.strip_prefix("must have at most ").is_some_and(|rest| {
        let rest = rest.trim_start_matches(|digit: char| digit.is_ascii_digit());
        rest.starts_with(" decimal places")
    });
    of_places || fault.starts_with("has more decimal places than ")
}

/// Reads a plain decimal into units of ten to the minus `places`, or says why not.
pub(crate) fn parse_scaled(text: &str, places: u32) -> Result<i64, DecimalFault> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let well_formed = !whole.is_empty()
        && (digits.len() == whole.len() || !fraction.is_empty())
        && whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit());
    if !well_formed {
        return Err(DecimalFault::NotADecimal);
    }
    let fraction = fraction.trim_end_matches('0');
    let missing = (places as usize).checked_sub(fraction.len()).ok_or(DecimalFault::TooPrecise { places })?;
    let mut units: i64 = 0;
    let padding = std::iter::repeat_n(b'0', missing);
    for byte in whole.bytes().chain(fraction.bytes()).chain(padding) {
        units = units
            .checked_mul(10)
            .and_then(|units| units.checked_add(i64::from(byte - b'0')))
            .ok_or(DecimalFault::TooLarge)?;
    }
    Ok(if negative { -units } else { units })
}

/// As many characters as scaled units come to: a sign, 19 digits or a point between as many as there are places, and a zero
/// in front.
const LONGEST: usize = 24;

/// Writes scaled units with at least `least` decimals, more only where the value has them.
pub(crate) fn write_scaled(units: i64, places: u32, least: u32) -> String {
    let (places, least) = (places as usize, least.min(places) as usize);
    // Digit by digit from the end: a document has some hundred amounts, and each is written several times.
    let mut text = [b'0'; LONGEST];
    let (mut at, mut rest, mut written) = (LONGEST, units.unsigned_abs(), 0);
    let mut fraction = false;
    while written < places {
        let digit = (rest % 10).to_le_bytes()[0];
        rest /= 10;
        // What is nothing but noughts from here on is left out, as far as that was not asked for.
        if fraction || digit != 0 || places - written <= least {
            fraction = true;
            at -= 1;
            text[at] = b'0' + digit;
        }
        written += 1;
    }
    if fraction {
        at -= 1;
        text[at] = b'.';
    }
    loop {
        at -= 1;
        text[at] = b'0' + (rest % 10).to_le_bytes()[0];
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if units < 0 {
        at -= 1;
        text[at] = b'-';
    }
    String::from_utf8_lossy(&text[at..]).into_owned()
}

/// Writes scaled units as a number of JSON, digit for digit. Most are whole.
pub(crate) fn serialize_scaled<S: Serializer>(
    units: i64,
    places: u32,
    least: u32,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let one = 10_i64.pow(places);
    if least.min(places) == 0 && units % one == 0 {
        return serializer.serialize_i64(units / one);
    }
    let text = write_scaled(units, places, least);
    serde_json::value::RawValue::from_string(text).map_err(S::Error::custom)?.serialize(serializer)
}

/// A JSON number or a string, by its literal text.
struct LiteralText;

impl Visitor<'_> for LiteralText {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a decimal number")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }
}

/// The text of a decimal, whether it came as `12.50` or `"12.50"`.
pub(crate) fn literal<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let raw = Box::<serde_json::value::RawValue>::deserialize(deserializer)?;
    let text = raw.get();
    if text.starts_with('"') {
        return serde_json::Deserializer::from_str(text).deserialize_str(LiteralText).map_err(de::Error::custom);
    }
    if text.starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
        return Ok(text.to_owned());
    }
    Err(de::Error::custom("must be a number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_decimals_are_told_apart_from_all_else() {
        for places in [0, 2, 6, 12] {
            let fault = DecimalFault::TooPrecise { places }.to_string();
            assert!(is_too_precise(&fault) && is_too_precise(&format!("{fault} in EUR")), "{fault}");
        }
        assert!(is_too_precise("has more decimal places than the currency"));
        for other in [DecimalFault::NotADecimal, DecimalFault::TooLarge] {
            assert!(!is_too_precise(&other.to_string()));
        }
        assert!(!is_too_precise("must have at most 500 members"));
    }

    #[test]
    fn every_number_is_written_digit_for_digit() {
        let plain = |units: i64, places: u32, least: u32| {
            let digits = format!("{:0width$}", units.unsigned_abs(), width = places as usize + 1);
            let (whole, fraction) = digits.split_at(digits.len() - places as usize);
            let kept = fraction.trim_end_matches('0').len().max(least.min(places) as usize);
            let sign = if units < 0 { "-" } else { "" };
            if kept == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{}", &fraction[..kept]) }
        };
        let digits =
            [0, 1, 9, 10, 100, 1_000, 10_000, 10_500, 99_999, 100_001, 1_000_000, 12_345_600, i64::MAX, i64::MIN];
        for units in digits.into_iter().flat_map(|units| [units, units.wrapping_neg()]) {
            for (places, least) in [(0, 0), (0, 2), (4, 0), (4, 2), (4, 3), (4, 4), (4, 9), (6, 0), (6, 2), (8, 3)] {
                let shown = plain(units, places, least);
                assert_eq!(write_scaled(units, places, least), shown, "{units} {places} {least}");
                let json = |units| serialize_scaled(units, places, least, serde_json::value::Serializer).unwrap();
                assert_eq!(json(units).to_string(), shown, "{units} {places} {least}");
            }
        }
    }
}
