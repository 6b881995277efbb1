//! What rows of before say in other kinds of values than the first schema has: days as texts, packed texts as base64, words
//! in full.

use crate::codes;
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use chrono::{NaiveDate, TimeDelta};
use migrations::first;
use sea_orm::prelude::Uuid;
use sea_orm::{DbErr, Value};
use std::collections::BTreeMap;

/// How a column of the first schema is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    Day,
    Packed,
    Code,
    Digest,
    Called,
}

/// The columns of a table that may have been kept otherwise.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lean(BTreeMap<&'static str, Kept>);

impl Lean {
    /// Those of a table; none where the first schema does not know it.
    pub(crate) fn of(table: &str) -> Self {
        let Some(table) = first::tables().into_iter().find(|known| known.name() == table) else {
            return Self::default();
        };
        let days = table.days().map(|name| (name, Kept::Day));
        let packed = table.packed().map(|name| (name, Kept::Packed));
        let codes = table.codes().map(|name| (name, Kept::Code));
        let digests = table.digests().map(|name| (name, Kept::Digest));
        let called = table.called().map(|name| (name, Kept::Called));
        Self(days.chain(packed).chain(codes).chain(digests).chain(called).collect())
    }

    /// A value of a column as the first schema has it.
    pub(crate) fn value(&self, column: &str, value: Value) -> Result<Value, DbErr> {
        Ok(match (self.0.get(column), value) {
            (Some(Kept::Day), Value::String(None)) => Value::BigInt(None),
            (Some(Kept::Day), Value::String(Some(text))) => day(&text)?.into(),
            (Some(Kept::Packed | Kept::Digest | Kept::Called), Value::String(None)) => Value::Bytes(None),
            (Some(Kept::Packed), Value::String(Some(text))) => packed(&text)?.into(),
            (Some(Kept::Digest), Value::String(Some(text))) => digest(&text).into(),
            (Some(Kept::Called), Value::String(Some(text))) => called(&text).into(),
            (Some(Kept::Code), Value::String(Some(word))) => codes::kept(&word).map_or(word, str::to_owned).into(),
            (_, value) => value,
        })
    }
}

/// How many days after the first of 1970 a day lies.
fn day(text: &str) -> Result<i64, DbErr> {
    let day = NaiveDate::parse_from_str(text, "%Y-%m-%d").map_err(|_| DbErr::Custom(format!("{text} is no day")))?;
    Ok(day.signed_duration_since(NaiveDate::default()).num_days())
}

/// The day so many days after the first of 1970.
pub(crate) fn said(day: i64) -> String {
    let day = TimeDelta::try_days(day).and_then(|days| NaiveDate::default().checked_add_signed(days));
    day.map_or_else(|| "no day".to_owned(), |day| day.to_string())
}

/// What stood before that which the first dictionary packed, and what stands there now.
const MARK: &str = "~1";
const PACKED: u8 = 1;

fn packed(text: &str) -> Result<Vec<u8>, DbErr> {
    let Some(digits) = text.strip_prefix(MARK) else { return Ok(text.as_bytes().to_vec()) };
    let bytes = STANDARD_NO_PAD.decode(digits).map_err(|_| DbErr::Custom("what was packed is torn".into()))?;
    Ok([&[PACKED][..], &bytes].concat())
}

/// The bytes of a digest in hexadecimal digits; what is none stands as it is.
fn digest(text: &str) -> Vec<u8> {
    let pair = |place| u8::from_str_radix(text.get(place..place + 2)?, 16).ok();
    let bytes: Option<Vec<u8>> = (0..text.len()).step_by(2).map(pair).collect();
    let is_own = |bytes: &Vec<u8>| bytes.len() == 32 && !text.bytes().any(|digit| digit.is_ascii_uppercase());
    bytes.filter(is_own).unwrap_or_else(|| text_beside(32, text))
}

/// The bytes of the identifier that a request is called by; what is none stands as it is, and is told from one.
fn called(text: &str) -> Vec<u8> {
    match Uuid::try_parse(text) {
        Ok(id) if id.to_string() == text => id.as_bytes().to_vec(),
        _ => text_beside(16, text),
    }
}

/// A text where others are kept in so many bytes, from which it is told.
fn text_beside(length: usize, text: &str) -> Vec<u8> {
    let mark: &[u8] = if text.len() == length { &[0xff] } else { &[] };
    [mark, text.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_before_are_said_as_the_first_schema_has_them() {
        let lean = Lean::of("documents");
        let said = |column, value: Value| lean.value(column, value).unwrap();
        assert_eq!(said("date", "1970-03-01".into()), 59_i64.into());
        assert_eq!(super::said(59), "1970-03-01");
        assert_eq!(said("void_date", Value::String(None)), Value::BigInt(None));
        assert_eq!(said("content", "{}".into()), b"{}".to_vec().into());
        assert_eq!(said("content", "~1AQI".into()), vec![1_u8, 1, 2].into());
        assert_eq!(said("narration", "1970-03-01".into()), "1970-03-01".into());
        assert_eq!(said("kind", "salesInvoice".into()), "I".into());
        assert_eq!(said("stage", Value::String(None)), Value::String(None));
        // What is of the first schema is as it was.
        assert_eq!(said("status", "p".into()), "p".into());
        assert_eq!(said("date", 59_i64.into()), 59_i64.into());
        let lean_log = Lean::of("audit_log");
        let said_of_log = |column, value: &str| lean_log.value(column, value.into()).unwrap();
        assert_eq!(said_of_log("hash", &"0f".repeat(32)), vec![0x0f_u8; 32].into());
        assert_eq!(said_of_log("hash", "x"), b"x".to_vec().into());
        assert_eq!(said_of_log("hash", &"x".repeat(32)), [&[0xff_u8][..], &[b'x'; 32]].concat().into());
        assert_eq!(
            said_of_log("request_id", "00000000-0000-0000-0000-000000000007"),
            Uuid::from_u128(7).as_bytes().to_vec().into()
        );
        assert_eq!(said_of_log("request_id", "sixteen letters!"), b"\xffsixteen letters!".to_vec().into());
        assert!(lean.value("date", "yesterday".into()).is_err());
        assert!(lean.value("content", "~1=".into()).is_err());
    }
}
