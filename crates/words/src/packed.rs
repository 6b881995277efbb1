//! Records as they are stored: JSON, compressed with a dictionary that knows how our records look, and nobody's data.
//!
//! What is packed stays a text, so that seals, guards and copies of a database know nothing of it; that costs a third
//! more than bytes, of a tenth that is left. `~1` and base64 is what dictionary 1 packed; what begins otherwise stands as
//! it is, as all texts of before and those that are too short to gain. A dictionary that was used once stays: another one
//! gets the next number.

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use std::cell::RefCell;
use std::ops::Deref;
use std::sync::LazyLock;
use zstd::bulk::{Compressor, Decompressor};
use zstd::dict::{DecoderDictionary, EncoderDictionary};
use zstd::zstd_safe::get_frame_content_size;

static DICTIONARY: &[u8] = include_bytes!("packed/1.dictionary");

const LEVEL: i32 = 3;
const MARK: &str = "~1";

/// Shorter ones are not worth it.
const SHORT: usize = 64;
/// No record is larger unpacked: a body has a bound far below.
const MOST: u64 = 256 << 20;

static PACKING: LazyLock<EncoderDictionary<'static>> = LazyLock::new(|| EncoderDictionary::copy(DICTIONARY, LEVEL));
static UNPACKING: LazyLock<DecoderDictionary<'static>> = LazyLock::new(|| DecoderDictionary::copy(DICTIONARY));

thread_local! {
    static PACKER: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static UNPACKER: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// A JSON text that is stored packed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed(String);

impl Packed {
    #[must_use]
    pub fn into_inner(self) -> String {
        self.0
    }
}

impl From<String> for Packed {
    fn from(json: String) -> Self {
        Self(json)
    }
}

impl Deref for Packed {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// What is stored of a text. What cannot be packed is stored as it is.
#[must_use]
pub fn pack(json: &str) -> String {
    let begins_as_packed = json.starts_with('~');
    if json.len() < SHORT && !begins_as_packed {
        return json.to_owned();
    }
    let packed = PACKER.with_borrow_mut(|packer| {
        if packer.is_none() {
            let mut new = Compressor::with_prepared_dictionary(&PACKING)?;
            // The mark says which dictionary it was.
            new.include_dictid(false)?;
            *packer = Some(new);
        }
        packer.as_mut().map(|packer| packer.compress(json.as_bytes())).transpose()
    });
    match packed {
        Ok(Some(bytes)) if begins_as_packed || bytes.len() / 3 * 4 < json.len() => {
            let mut text = MARK.to_owned();
            STANDARD_NO_PAD.encode_string(bytes, &mut text);
            text
        }
        _ => json.to_owned(),
    }
}

/// The text of what is stored; nothing where that was never packed here.
#[must_use]
pub fn unpack(stored: String) -> Option<String> {
    let Some(packed) = stored.strip_prefix(MARK) else {
        return if stored.starts_with('~') { None } else { Some(stored) };
    };
    let bytes = STANDARD_NO_PAD.decode(packed).ok()?;
    let size = get_frame_content_size(&bytes).ok().flatten().filter(|size| *size <= MOST)?;
    let unpacked = UNPACKER.with_borrow_mut(|unpacker| {
        if unpacker.is_none() {
            *unpacker = Decompressor::with_prepared_dictionary(&UNPACKING).ok();
        }
        unpacker.as_mut()?.decompress(&bytes, usize::try_from(size).ok()?).ok()
    })?;
    String::from_utf8(unpacked).ok()
}

/// How a type is stored that says what text is stored of it, and what it is of a stored text.
#[macro_export]
macro_rules! stored_as_text {
    ($type:ident, $stored:expr, $read:expr) => {
        impl From<$type> for sea_orm::Value {
            fn from(value: $type) -> Self {
                let stored: fn($type) -> String = $stored;
                stored(value).into()
            }
        }

        impl sea_orm::TryGetable for $type {
            fn try_get_by<I: sea_orm::ColIdx>(
                row: &sea_orm::QueryResult,
                index: I,
            ) -> Result<Self, sea_orm::TryGetError> {
                let read: fn(String) -> Option<$type> = $read;
                let why = concat!(stringify!($type), ": what is stored cannot be read");
                let unreadable = || sea_orm::TryGetError::DbErr(sea_orm::DbErr::Type(why.into()));
                read(String::try_get_by(row, index)?).ok_or_else(unreadable)
            }
        }

        impl sea_orm::sea_query::ValueType for $type {
            fn try_from(value: sea_orm::Value) -> Result<Self, sea_orm::sea_query::ValueTypeErr> {
                let read: fn(String) -> Option<$type> = $read;
                read(<String as sea_orm::sea_query::ValueType>::try_from(value)?)
                    .ok_or(sea_orm::sea_query::ValueTypeErr)
            }

            fn type_name() -> String {
                stringify!($type).into()
            }

            fn array_type() -> sea_orm::sea_query::ArrayType {
                sea_orm::sea_query::ArrayType::String
            }

            fn column_type() -> sea_orm::ColumnType {
                sea_orm::ColumnType::Text
            }
        }

        impl sea_orm::sea_query::Nullable for $type {
            fn null() -> sea_orm::Value {
                sea_orm::Value::String(None)
            }
        }
    };
}

stored_as_text!(Packed, |packed| pack(&packed.0), |stored| unpack(stored).map(Packed));

#[cfg(test)]
mod tests {
    use super::*;

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
        for text in
            ["", "{}", "~", "~1", "~2abc", &"~".repeat(500), &record(), &"ä€😀".repeat(1000), &"x".repeat(1 << 20)]
        {
            assert_eq!(unpack(pack(text)).as_deref(), Some(text));
        }
        assert!(pack(&record()).len() * 2 < record().len(), "{}", pack(&record()));
    }

    /// Books keep what is packed for ever: this was packed when there was the first dictionary.
    #[test]
    fn what_was_packed_once_is_read_ever_after() {
        assert_eq!(unpack(FIRST.to_owned()), Some(record()));
    }

    #[test]
    fn what_is_torn_is_not_read() {
        let whole = pack(&record());
        let torn = [&whole[..whole.len() - 1], &whole[..10], "~1", "~", "~2AAAA", "~1====", "~1AAAA"];
        for text in torn {
            assert_eq!(unpack(text.to_owned()), None, "{text}");
        }
        assert_eq!(unpack("{}".to_owned()).as_deref(), Some("{}"));
    }

    const FIRST: &str = "~1KLUv/WCyAQUDAFMDCD1y7K6qdp7eRvmRfRCmq8XuKh894xKTSZhvUiJlMqUQF/xJKY9uoAqvKXi/UpibNkfCLDiW7wps0srYQ7\
        ajhTWd9CbHIgCgXRAGriHsrQgEwCvXzoVsBO62yZsxAg";
}
