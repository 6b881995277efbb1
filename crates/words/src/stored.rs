//! Values that are not columns of their own: small nested objects are kept as JSON text on both engines.

use sea_orm::sea_query::{ArrayType, ColumnType, Nullable, ValueType, ValueTypeErr};
use sea_orm::{ColIdx, DbErr, QueryResult, TryGetError, TryGetable, Value};
use serde::{Serialize, de::DeserializeOwned};

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

/// A text that is none of an enumeration's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownText(pub &'static [&'static str]);

impl std::fmt::Display for UnknownText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "must be one of {}", self.0.join(", "))
    }
}

impl std::error::Error for UnknownText {}

/// An enumeration with one spelling for the wire, the schema and the database.
#[macro_export]
macro_rules! wire_enum {
    ($(#[$about:meta])* $visibility:vis enum $name:ident { $($(#[$meta:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord,
            serde::Serialize, serde::Deserialize, schemars::JsonSchema, sea_orm::DeriveValueType)]
        #[sea_orm(value_type = "String")]
        $visibility enum $name { $($(#[$meta])* #[serde(rename = $text)] $variant),+ }

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
