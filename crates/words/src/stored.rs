//! Values that are not columns of their own: small nested objects are kept as JSON text on both engines.

use sea_orm::sea_query::{ArrayType, ColumnType, Nullable, ValueType, ValueTypeErr};
use sea_orm::{ColIdx, DbErr, QueryResult, TryGetError, TryGetable, Value};
use serde::{Serialize, de::DeserializeOwned};
use std::ops::Deref;
use uuid::Uuid;

/// A nested value of a record, stored as its JSON text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AsJson<T>(pub T);

impl<T: Serialize> From<AsJson<T>> for Value {
    fn from(stored: AsJson<T>) -> Self {
        // Our nested types are plain structs and lists; writing them to memory has no way to fail.
        serde_json::to_string(&stored.0).unwrap_or_default().into()
    }
}

impl<T: DeserializeOwned> TryGetable for AsJson<T> {
    fn try_get_by<I: ColIdx>(row: &QueryResult, index: I) -> Result<Self, TryGetError> {
        let text = String::try_get_by(row, index)?;
        serde_json::from_str(&text).map(Self).map_err(|error| TryGetError::DbErr(DbErr::Type(error.to_string())))
    }
}

impl<T: Serialize + DeserializeOwned> ValueType for AsJson<T> {
    fn try_from(value: Value) -> Result<Self, ValueTypeErr> {
        let text = <String as ValueType>::try_from(value)?;
        serde_json::from_str(&text).map(Self).map_err(|_| ValueTypeErr)
    }

    fn type_name() -> String {
        "AsJson".into()
    }

    fn array_type() -> ArrayType {
        ArrayType::String
    }

    fn column_type() -> ColumnType {
        ColumnType::Text
    }
}

impl<T> Nullable for AsJson<T> {
    fn null() -> Value {
        Value::String(None)
    }
}

/// A digest in hexadecimal digits, kept as its bytes. What is no such digest stands as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HexDigest(pub String);

/// So many bytes a digest has.
const DIGEST: usize = 32;

impl HexDigest {
    /// As it is kept.
    #[must_use]
    pub fn stored(&self) -> Vec<u8> {
        let digits = |place: usize| u8::from_str_radix(self.0.get(2 * place..2 * place + 2)?, 16).ok();
        let bytes: Option<Vec<u8>> = (0..DIGEST).map(digits).collect();
        match bytes.filter(|bytes| crate::texts::hex(bytes) == self.0) {
            Some(bytes) => bytes,
            None => text_beside(DIGEST, &self.0),
        }
    }

    /// What is kept, in hexadecimal digits.
    #[must_use]
    pub fn read(stored: Vec<u8>) -> Self {
        Self(if stored.len() == DIGEST { crate::texts::hex(&stored) } else { text_of(DIGEST, stored) })
    }
}

/// Begins a text that is as long as the bytes beside which it stands; no text begins so by itself.
const TEXT: u8 = 0xff;

/// A text that stands as it is, where others are kept in so many bytes: none is taken for one of those.
fn text_beside(length: usize, text: &str) -> Vec<u8> {
    let mark: &[u8] = if text.len() == length { &[TEXT] } else { &[] };
    [mark, text.as_bytes()].concat()
}

/// A text that stood beside so many bytes. What is none is told by its digits.
fn text_of(length: usize, mut stored: Vec<u8>) -> String {
    if stored.len() == length + 1 && stored.first() == Some(&TEXT) {
        stored.remove(0);
    }
    String::from_utf8(stored).unwrap_or_else(|torn| crate::texts::hex(torn.as_bytes()))
}

impl Deref for HexDigest {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl From<String> for HexDigest {
    fn from(digits: String) -> Self {
        Self(digits)
    }
}

crate::stored_as_bytes!(HexDigest, |digest| Some(digest.stored()), HexDigest::read, HexDigest);

/// What a request is called: by the server, with an identifier, of which the bytes are kept. Books of before have what clients
/// call theirs there as well, which stands as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Called(pub String);

/// So many bytes an identifier has.
const IDENTIFIER: usize = 16;

impl Called {
    /// As it is kept.
    #[must_use]
    pub fn stored(&self) -> Vec<u8> {
        match Uuid::try_parse(&self.0) {
            Ok(id) if id.to_string() == self.0 => id.as_bytes().to_vec(),
            _ => text_beside(IDENTIFIER, &self.0),
        }
    }

    /// What is kept.
    #[must_use]
    pub fn read(stored: Vec<u8>) -> Self {
        Self(match Uuid::from_slice(&stored) {
            Ok(id) => id.to_string(),
            Err(_) => text_of(IDENTIFIER, stored),
        })
    }
}

impl Deref for Called {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

crate::stored_as_bytes!(Called, |called| Some(called.stored()), Called::read, Called);

/// A text that is none of an enumeration's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownText(pub &'static [&'static str]);

impl std::fmt::Display for UnknownText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "must be one of {}", self.0.join(", "))
    }
}

impl std::error::Error for UnknownText {}

/// An enumeration with one spelling for the wire, the schema and the database; one that is `kept` stands in the database as
/// letters ([`crate::codes`]).
#[macro_export]
macro_rules! wire_enum {
    ($(#[$about:meta])* $visibility:vis kept enum $name:ident { $($(#[$meta:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord,
            serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        $visibility enum $name { $($(#[$meta])* #[serde(rename = $text)] $variant),+ }

        $crate::wire_enum!(@spelt $name { $($variant = $text),+ });
        $crate::kept_as_letters!($name { $($variant = $text),+ });
    };
    ($(#[$about:meta])* $visibility:vis enum $name:ident { $($(#[$meta:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord,
            serde::Serialize, serde::Deserialize, schemars::JsonSchema, sea_orm::DeriveValueType)]
        #[sea_orm(value_type = "String")]
        $visibility enum $name { $($(#[$meta])* #[serde(rename = $text)] $variant),+ }

        $crate::wire_enum!(@spelt $name { $($variant = $text),+ });
    };
    (@spelt $name:ident { $($variant:ident = $text:literal),+ }) => {
        impl $name {
            pub const TEXTS: &'static [&'static str] = &[$($text),+];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::stored::UnknownText;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($text => Ok(Self::$variant),)+
                    _ => Err($crate::stored::UnknownText(Self::TEXTS)),
                }
            }
        }
    };
}
pub use wire_enum;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_come_back_and_what_is_none_stays_as_it_is() {
        let digest = "00ff".repeat(16);
        let kept = HexDigest(digest.clone()).stored();
        assert_eq!((kept.len(), HexDigest::read(kept)), (32, HexDigest(digest.clone())));
        for other in ["", "00", "x", &digest.to_uppercase(), &digest[1..], &format!("{digest}0"), &"é".repeat(32)] {
            assert_eq!(HexDigest(other.to_owned()).stored(), other.as_bytes());
            assert_eq!(HexDigest::read(other.into()).0, other);
        }
        // One that is as long as the bytes of a digest is not taken for them.
        let long = "x".repeat(32);
        assert_eq!(HexDigest::read(HexDigest(long.clone()).stored()).0, long);
        // As books of before have it.
        assert_eq!(HexDigest::read(digest.clone().into()).0, digest);
        assert_eq!(HexDigest::read(vec![0xff, 1]).0, "ff01");
        // One whose bytes happen to be letters.
        assert_eq!(HexDigest::read(vec![b'a'; 32]).0, "61".repeat(32));
    }

    #[test]
    fn what_requests_are_called_comes_back_whatever_it_is() {
        let own = "0190cafe-1234-7abc-8def-0123456789ab";
        assert_eq!(Called(own.to_owned()).stored().len(), 16);
        for called in
            [own, &own.to_uppercase(), &own.replace('-', ""), "", "x", "sixteen letters!", "import-2026-11-20.7"]
        {
            let kept = Called(called.to_owned()).stored();
            assert_eq!(Called::read(kept).0, called);
        }
        let kept: Vec<Vec<u8>> = [own, "sixteen letters!"].map(|called| Called(called.to_owned()).stored()).into();
        assert_ne!(kept[0].len(), kept[1].len(), "no text is read as an identifier");
    }
}
