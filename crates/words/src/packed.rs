//! Records as they are stored: JSON, compressed with a dictionary that knows how our records look, and nobody's data.
//!
//! What is packed is bytes: the number of the dictionary, and what that made of the text. What begins otherwise is the text
//! as it is, where it is too short to gain. A dictionary that was used once stays: another one gets the next number. Books
//! of before have texts here, `~1` and base64 of what dictionary 1 packed. Since the third one the values of a text stand
//! apart from the rest of it ([`apart`]). The fourth ends in whole records without their values, those that there are most of
//! last, so that the rest of one is found at once.
//!
//! What is stored is read as it is, and unpacked where somebody asks for the text: a row is read whatever was done to it
//! behind the server's back, so that whoever proves it can say so.

mod apart;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::{LazyLock, OnceLock};
use zstd::bulk::{Compressor, Decompressor};
use zstd::dict::{DecoderDictionary, EncoderDictionary};
use zstd::zstd_safe::get_frame_content_size;

/// By their numbers, from one on: the number stands before that which a dictionary packed, and no JSON begins like it. The
/// last one packs, all of them unpack.
const DICTIONARIES: [&[u8]; 4] = [
    include_bytes!("packed/1.dictionary"),
    include_bytes!("packed/2.dictionary"),
    include_bytes!("packed/3.dictionary"),
    include_bytes!("packed/4.dictionary"),
];
/// The number of the one that packs.
const LAST: u8 = 4;

/// What a text begins with that was not taken apart.
const WHOLE: u8 = 2;

const LEVEL: i32 = 3;
/// What the first one packed, where it was kept as a text.
const MARK: &str = "~1";

/// Shorter ones are not worth it.
const SHORT: usize = 64;
/// No record is larger unpacked: a body has a bound far below.
const LONGEST: usize = 256 << 20;

static PACKING: LazyLock<EncoderDictionary<'static>> = LazyLock::new(|| {
    let [.., last] = DICTIONARIES;
    EncoderDictionary::copy(last, LEVEL)
});
static UNPACKING: [LazyLock<DecoderDictionary<'static>>; DICTIONARIES.len()] = [
    LazyLock::new(|| DecoderDictionary::copy(DICTIONARIES[0])),
    LazyLock::new(|| DecoderDictionary::copy(DICTIONARIES[1])),
    LazyLock::new(|| DecoderDictionary::copy(DICTIONARIES[2])),
    LazyLock::new(|| DecoderDictionary::copy(DICTIONARIES[3])),
];

thread_local! {
    static PACKER: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static UNPACKERS: RefCell<[Option<Decompressor<'static>>; DICTIONARIES.len()]> = const { RefCell::new([None, None, None, None]) };
}

/// The place of the dictionary that packed what begins so.
fn dictionary(first: u8) -> Option<usize> {
    usize::from(first).checked_sub(1).filter(|place| *place < DICTIONARIES.len())
}

/// A JSON text that is stored packed, and what is stored of it.
#[derive(Debug, Clone)]
pub struct Packed {
    stored: Vec<u8>,
    /// What it says, where somebody has asked; nothing where it was never packed here.
    said: OnceLock<Option<String>>,
}

impl Packed {
    /// What it says. Nothing where what is stored was never packed here.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.said.get_or_init(|| unpack(&self.stored)).as_deref()
    }

    /// As it is stored: for who signs it. What was packed once stays so, whatever would be made of its text today.
    #[must_use]
    pub fn stored(&self) -> &[u8] {
        &self.stored
    }

    fn read(stored: Vec<u8>) -> Self {
        Self { stored, said: OnceLock::new() }
    }

    /// What was kept as a text is not stored here as it was.
    fn read_text(stored: String) -> Self {
        match unpack_text(&stored) {
            Some(json) => Self::from(json),
            None => Self::read(strange(stored)),
        }
    }
}

impl PartialEq for Packed {
    fn eq(&self, other: &Self) -> bool {
        self.stored == other.stored
    }
}

impl Eq for Packed {}

impl From<String> for Packed {
    fn from(json: String) -> Self {
        Self { stored: pack(&json), said: OnceLock::from(Some(json)) }
    }
}

/// What nothing is packed as and no text begins with: what stands where something packed should, and is none.
const STRANGE: u8 = 0xff;

/// As bytes that do not unpack, whatever stands there.
#[must_use]
pub fn strange(stored: impl std::fmt::Debug) -> Vec<u8> {
    [&[STRANGE], format!("{stored:?}").as_bytes()].concat()
}

/// What is stored of a text. What cannot be packed is stored as it is.
#[must_use]
pub fn pack(json: &str) -> Vec<u8> {
    let begins_as_packed = json.as_bytes().first().is_some_and(|first| dictionary(*first).is_some());
    if json.len() < SHORT && !begins_as_packed {
        return json.into();
    }
    let packed = PACKER.with_borrow_mut(|packer| {
        if packer.is_none() {
            let mut new = Compressor::with_prepared_dictionary(&PACKING)?;
            // The mark says which dictionary it was.
            new.include_dictid(false)?;
            *packer = Some(new);
        }
        let said = apart::apart(json).unwrap_or_else(|| [&[WHOLE], json.as_bytes()].concat());
        packer.as_mut().map(|packer| packer.compress(&said)).transpose()
    });
    match packed {
        Ok(Some(bytes)) if begins_as_packed || bytes.len() < json.len() => {
            let bytes = bytes.strip_prefix(&MAGIC).unwrap_or(&bytes);
            let mut stored = Vec::with_capacity(1 + bytes.len());
            stored.push(LAST);
            stored.extend(bytes);
            stored
        }
        _ => json.into(),
    }
}

/// The text of what is stored; nothing where that was never packed here.
#[must_use]
pub fn unpack(stored: &[u8]) -> Option<String> {
    match packed_by(stored) {
        Some((place, bytes)) => said(place, unpacked(place, bytes)?, apart::together),
        None => plain(stored),
    }
}

/// The same of an object, up to the end of its first member at least: who wants no more need not wait for the rest.
#[must_use]
pub fn unpack_beginning(stored: &[u8]) -> Option<String> {
    match packed_by(stored) {
        Some((place, bytes)) => said(place, unpacked(place, bytes)?, apart::beginning),
        None => plain(stored),
    }
}

fn plain(stored: &[u8]) -> Option<String> {
    std::str::from_utf8(stored).ok().map(str::to_owned)
}

/// The place of the dictionary that packed something, and what it made of it.
fn packed_by(stored: &[u8]) -> Option<(usize, &[u8])> {
    let (first, bytes) = stored.split_first()?;
    Some((dictionary(*first)?, bytes))
}

/// The text that was packed.
fn said(place: usize, bytes: Vec<u8>, together: fn(&[u8]) -> Option<String>) -> Option<String> {
    if place < APART {
        return String::from_utf8(bytes).ok();
    }
    match bytes.strip_prefix(&[WHOLE]) {
        Some(text) => plain(text),
        None => together(&bytes),
    }
}

/// The first dictionary of texts that were taken apart.
const APART: usize = 2;

/// The same of what was stored as a text.
#[must_use]
pub fn unpack_text(stored: &str) -> Option<String> {
    let Some(packed) = stored.strip_prefix(MARK) else {
        return if stored.starts_with('~') { None } else { Some(stored.to_owned()) };
    };
    String::from_utf8(unpacked(0, &STANDARD_NO_PAD.decode(packed).ok()?)?).ok()
}

/// What is stored as it was stored as a text, for who signs it: the same of both, and of no two bytes the same.
#[must_use]
pub fn as_text(stored: &[u8]) -> String {
    match (stored.split_first(), std::str::from_utf8(stored)) {
        (Some((first, packed)), _) if dictionary(*first).is_some() => {
            format!("~{first}{}", STANDARD_NO_PAD.encode(packed))
        }
        (_, Ok(text)) if !text.starts_with('~') => text.to_owned(),
        _ => format!("~~{}", STANDARD_NO_PAD.encode(stored)),
    }
}

/// What every frame begins with. Since the second dictionary that goes without saying.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

fn unpacked(place: usize, bytes: &[u8]) -> Option<Vec<u8>> {
    let whole: Cow<'_, [u8]> = if place == 0 { bytes.into() } else { [&MAGIC[..], bytes].concat().into() };
    let bytes = whole.as_ref();
    let size = get_frame_content_size(bytes)
        .ok()
        .flatten()
        .and_then(|size| usize::try_from(size).ok())
        .filter(|size| *size <= LONGEST)?;
    UNPACKERS.with_borrow_mut(|unpackers| {
        let unpacker = unpackers.get_mut(place)?;
        if unpacker.is_none() {
            *unpacker = Decompressor::with_prepared_dictionary(&UNPACKING[place]).ok();
        }
        unpacker.as_mut()?.decompress(bytes, size).ok()
    })
}

/// How a type is stored that says which bytes are stored of it, and what it is of stored bytes, and of a text of before. It is
/// something of whatever is stored: what is wrong with that is told by who asks what it says.
#[macro_export]
macro_rules! stored_as_bytes {
    ($type:ident, $stored:expr, $read:expr, $read_text:expr) => {
        impl From<$type> for sea_orm::Value {
            fn from(value: $type) -> Self {
                let stored: fn($type) -> Option<Vec<u8>> = $stored;
                stored(value).into()
            }
        }

        impl sea_orm::TryGetable for $type {
            fn try_get_by<I: sea_orm::ColIdx>(
                row: &sea_orm::QueryResult,
                index: I,
            ) -> Result<Self, sea_orm::TryGetError> {
                let read: fn(Vec<u8>) -> $type = $read;
                let read_text: fn(String) -> $type = $read_text;
                if let Ok(bytes) = Vec::<u8>::try_get_by(row, index) {
                    return Ok(read(bytes));
                }
                let nothing = match String::try_get_by(row, index) {
                    Ok(text) => return Ok(read_text(text)),
                    Err(nothing) => nothing,
                };
                // What is no text is said to be nothing, which it is not.
                if let Ok(number) = i64::try_get_by(row, index) {
                    return Ok(read($crate::packed::strange(sea_orm::Value::from(number))));
                }
                match nothing {
                    nothing @ sea_orm::TryGetError::Null(_) => Err(nothing),
                    other => Ok(read($crate::packed::strange(other))),
                }
            }
        }

        impl sea_orm::sea_query::ValueType for $type {
            fn try_from(value: sea_orm::Value) -> Result<Self, sea_orm::sea_query::ValueTypeErr> {
                let read: fn(Vec<u8>) -> $type = $read;
                let read_text: fn(String) -> $type = $read_text;
                match value {
                    sea_orm::Value::Bytes(Some(bytes)) => Ok(read(bytes)),
                    sea_orm::Value::String(Some(text)) => Ok(read_text(text)),
                    nothing if nothing == nothing.as_null() => Err(sea_orm::sea_query::ValueTypeErr),
                    other => Ok(read($crate::packed::strange(other))),
                }
            }

            fn type_name() -> String {
                stringify!($type).into()
            }

            fn array_type() -> sea_orm::sea_query::ArrayType {
                sea_orm::sea_query::ArrayType::Bytes
            }

            fn column_type() -> sea_orm::ColumnType {
                sea_orm::ColumnType::Blob
            }
        }

        impl sea_orm::sea_query::Nullable for $type {
            fn null() -> sea_orm::Value {
                sea_orm::Value::Bytes(None)
            }
        }
    };
}

stored_as_bytes!(Packed, |packed| Some(packed.stored), Packed::read, Packed::read_text);

#[cfg(test)]
mod tests {
    use super::*;
    use sea_orm::Value;
    use sea_orm::sea_query::ValueType;

    /// One as the dictionary knows them, with identifiers that it does not.
    fn record() -> String {
        let line = |at: usize| {
            format!(
                "{{\"id\":\"01a2029{at}-a819-7109-901e-f871a664ba64\",\"description\":\"Espresso {at}\",\"quantity\":10,\
                 \"unitPrice\":18.5,\"discountPercent\":null,\"taxCodeId\":\"01a20295-a819-7109-901e-f871a664ba6{at}\",\
                 \"netAmount\":185,\"taxAmount\":35.15}}"
            )
        };
        format!(
            "{{\"number\":\"INV-2026-000001\",\"status\":\"open\",\"lines\":[{},{},{}]}}",
            line(1),
            line(2),
            line(3)
        )
    }

    #[test]
    fn what_is_packed_comes_back() {
        for text in [
            "",
            "{}",
            "\u{1}",
            "\u{1}1",
            "\u{2}",
            "\u{2}2",
            "\u{3}",
            "{\"\u{e9}\":1}",
            "~1",
            "~2abc",
            &"\u{1}".repeat(500),
            &record(),
            &"ä€😀".repeat(1000),
            &"x".repeat(1 << 20),
        ] {
            assert_eq!(unpack(&pack(text)).as_deref(), Some(text));
        }
        assert!(pack(&record()).len() * 3 < record().len(), "{}", pack(&record()).len());
    }

    /// Books keep what is packed for ever: this was packed when there was the first dictionary.
    #[test]
    fn what_was_packed_once_is_read_ever_after() {
        assert_eq!(unpack_text(FIRST), Some(record()));
        let bytes = STANDARD_NO_PAD.decode(FIRST.strip_prefix(MARK).unwrap()).unwrap();
        assert_eq!(unpack(&[&[1][..], &bytes].concat()), Some(record()));
        for (number, kept) in [(2, SECOND), (3, THIRD), (4, FOURTH)] {
            let bytes = STANDARD_NO_PAD.decode(kept).unwrap();
            assert_eq!(unpack(&[&[number][..], &bytes].concat()), Some(record()));
        }
        assert_eq!((pack(&record())[0], usize::from(LAST)), (LAST, DICTIONARIES.len()));
    }

    #[test]
    fn what_is_signed_of_bytes_is_what_was_signed_of_texts() {
        let bytes = STANDARD_NO_PAD.decode(FIRST.strip_prefix(MARK).unwrap()).unwrap();
        assert_eq!(as_text(&[&[1][..], &bytes].concat()), FIRST);
        assert_ne!(as_text(&[&[2][..], &bytes].concat()), FIRST);
        assert_eq!(as_text(b"{}"), "{}");
        // Nobody passes the text for the bytes.
        assert_ne!(as_text(FIRST.as_bytes()), FIRST);
        assert_ne!(as_text(&[0xff]), as_text(as_text(&[0xff]).as_bytes()));
    }

    #[test]
    fn what_is_torn_is_not_read() {
        let whole = pack(&record());
        for torn in [&whole[..whole.len() - 1], &whole[..10], &[1], &[2], &[3], &[LAST, b'{', b'}'], &[0xff, b'{']] {
            assert_eq!(unpack(torn), None, "{torn:?}");
            // It is read all the same, and signed as it stands.
            let read = <Packed as ValueType>::try_from(torn.to_vec().into()).unwrap();
            assert_eq!((read.text(), read.stored()), (None, torn));
        }
        for torn in [&FIRST[..FIRST.len() - 1], &FIRST[..10], "~1", "~", "~2AAAA", "~1====", "~1AAAA"] {
            assert_eq!(unpack_text(torn), None, "{torn}");
            assert_eq!(<Packed as ValueType>::try_from(torn.into()).unwrap().text(), None);
        }
        assert_eq!(unpack(b"{}").as_deref(), Some("{}"));
        assert_eq!(unpack_text("{}").as_deref(), Some("{}"));
        // SQLite keeps anything anywhere.
        for strange in [Value::BigInt(Some(7)), Value::Bool(Some(true))] {
            assert_eq!(<Packed as ValueType>::try_from(strange).unwrap().text(), None);
        }
        for nothing in [Value::Bytes(None), Value::String(None), Value::BigInt(None)] {
            assert!(<Packed as ValueType>::try_from(nothing).is_err());
        }
    }

    const FOURTH: &str = "YMoBNQQAowQON5YgBQBQQYWjggrnqKDi373hfJ62ueeEtilPKKSBPqEZVCypdUlKra52s6F1vDZu7GrjtrVs9PUa/F38qWgWRCpxJ2C\
        ZnI07/qZIOaZ2AIHAuxizDuvqXqtuJybZzhyYpH6tVz6+9okC+9jshdNPez9+SuvSQa4XWiV6jQ4MeaNYjBI";
    const THIRD: &str = "YMoBPQQAs0QON5aAkQIAqKDCUUGFc1RQ8e/ecD5P29xzQtuUJxTSQJ/QDCqW1LokpVZXu9nQOl4bN3a1cdtaNvp6G/w8/BU1kdLCcyi\
        myZBD/aWH6Iu9h+v/SXuzZB+LTho8NQ/SQ4PdfhpYTf0dKx+T9syCiWNWq2mZ95ZA4RVo6vPSKQMRKfNkT1Mc";
    const SECOND: &str = "YLIBNQMAg8MImTeYeXcVnZ1J1FPfOf3vdLHJx9NsHy11fTRl7kPb5jpNRUIY/JErsa8CSKcI9NdLIlWmn7QyC9o7S4\
        M4vyYpDjcorEuhnos97jX9xjFZDbP3O3Ljq9xcPBYjbMV+goZgHlgB";
    const FIRST: &str = "~1KLUv/WCyAQUDAFMDCD1y7K6qdp7eRvmRfRCmq8XuKh894xKTSZhvUiJlMqUQF/xJKY9uoAqvKXi/UpibNkfCLDiW7wps0srYQ7\
        ajhTWd9CbHIgCgXRAGriHsrQgEwCvXzoVsBO62yZsxAg";
}
