//! Values that are not columns of their own: small nested objects are kept as JSON text on both engines.

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use sea_orm::sea_query::{ArrayType, ColumnType, Nullable, ValueType, ValueTypeErr};
use sea_orm::{ColIdx, DbErr, QueryResult, TryGetError, TryGetable, Value};
use serde::{Serialize, de::DeserializeOwned};
use std::ops::Deref;

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

/// A digest in hexadecimal digits, kept in fewer. What is no such digest stands as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HexDigest(pub String);

/// So many bytes a digest has.
const DIGEST: usize = 32;

impl HexDigest {
    fn stored(self) -> String {
        let digits = |place: usize| u8::from_str_radix(self.0.get(2 * place..2 * place + 2)?, 16).ok();
        let bytes: Option<Vec<u8>> = (0..DIGEST).map(digits).collect();
        let bytes = bytes.filter(|bytes| crate::texts::hex(bytes) == self.0);
        bytes.map_or(self.0, |bytes| STANDARD_NO_PAD.encode(bytes))
    }

    /// What is kept, in hexadecimal digits.
    #[must_use]
    pub fn read(stored: String) -> Self {
        let bytes = STANDARD_NO_PAD.decode(&stored).ok().filter(|bytes| bytes.len() == DIGEST);
        Self(bytes.map_or(stored, |bytes| crate::texts::hex(&bytes)))
    }
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

impl From<HexDigest> for Value {
    fn from(digest: HexDigest) -> Self {
        digest.stored().into()
    }
}

impl TryGetable for HexDigest {
    fn try_get_by<I: ColIdx>(row: &QueryResult, index: I) -> Result<Self, TryGetError> {
        String::try_get_by(row, index).map(Self::read)
    }
}

impl ValueType for HexDigest {
    fn try_from(value: Value) -> Result<Self, ValueTypeErr> {
        <String as ValueType>::try_from(value).map(Self::read)
    }

    fn type_name() -> String {
        "HexDigest".into()
    }

    fn array_type() -> ArrayType {
        ArrayType::String
    }

    fn column_type() -> ColumnType {
        ColumnType::Text
    }
}

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
        assert_eq!((kept.len(), HexDigest::read(kept)), (43, HexDigest(digest.clone())));
        for other in ["", "00", "x", &digest.to_uppercase(), &digest[1..], &format!("{digest}0"), &"é".repeat(32)] {
            assert_eq!(HexDigest(other.to_owned()).stored(), other);
            assert_eq!(HexDigest::read(other.to_owned()).0, other);
        }
        // As books of before have it.
        assert_eq!(HexDigest::read(digest.clone()).0, digest);
    }
}
