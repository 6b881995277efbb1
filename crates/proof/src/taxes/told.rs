//! What is kept of a document, as far as its tax is told by it: as plain text and numbers, read where they stand.
//!
//! A whole tree of all that is kept takes several times as long as what is made of it. Only members of these names are kept
//! here; all else is passed over.

use super::super::shares::decimal;
use crate::error::{Error, Result};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::ops::Index;

const NAMES: [&str; 25] = [
    "asked",
    "figures",
    "lines",
    "id",
    "tax",
    "code",
    "exchange_rate",
    "tax_date",
    "inclusive",
    "source",
    "stated_tax",
    "base_net",
    "base_taxes",
    "took",
    "of",
    "net",
    "gross",
    "discount",
    "taxes",
    "component",
    "kind",
    "rate",
    "base",
    "amount",
    "recoverable",
];

/// As many are one.
const MILLIONTHS: i128 = 1_000_000;

/// How the reader of JSON hands over a number as it is written.
const AS_WRITTEN: &str = "$serde_json::private::Number";

/// A value as it is written.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Said<'c> {
    Nothing,
    Flag(bool),
    Whole(i128),
    /// With digits behind a point.
    Number(String),
    Text(Cow<'c, str>),
    List(Vec<Self>),
    Members(Vec<(&'static str, Self)>),
}

impl Said<'_> {
    pub(super) const fn is_nothing(&self) -> bool {
        matches!(self, Self::Nothing)
    }

    pub(super) const fn is_true(&self) -> bool {
        matches!(self, Self::Flag(true))
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn list(&self) -> &[Self] {
        match self {
            Self::List(list) => list,
            _ => &[],
        }
    }

    /// A decimal in millionths.
    pub(super) fn number(&self) -> Result<i128> {
        match self {
            Self::Whole(number) => Ok(number * MILLIONTHS),
            Self::Number(number) => decimal(number),
            other => Err(Error::internal(format!("{other} is no decimal number"))),
        }
    }
}

impl fmt::Display for Said<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("null"),
            Self::Flag(flag) => flag.fmt(f),
            Self::Whole(number) => number.fmt(f),
            Self::Number(number) => f.write_str(number),
            Self::Text(text) => write!(f, "\"{text}\""),
            Self::List(_) => f.write_str("a list"),
            Self::Members(_) => f.write_str("an object"),
        }
    }
}

/// The member of a name; nothing where there is none.
impl Index<&str> for Said<'_> {
    type Output = Self;

    fn index(&self, name: &str) -> &Self {
        let Self::Members(members) = self else { return &Self::Nothing };
        members.iter().find(|(known, _)| *known == name).map_or(&Self::Nothing, |(_, value)| value)
    }
}

impl Index<usize> for Said<'_> {
    type Output = Self;

    fn index(&self, place: usize) -> &Self {
        self.list().get(place).map_or(&Self::Nothing, |one| one)
    }
}

impl<'de> Deserialize<'de> for Said<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Said<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("what is kept of a document")
            }

            fn visit_unit<E>(self) -> std::result::Result<Said<'de>, E> {
                Ok(Said::Nothing)
            }

            fn visit_bool<E>(self, flag: bool) -> std::result::Result<Said<'de>, E> {
                Ok(Said::Flag(flag))
            }

            fn visit_u64<E>(self, number: u64) -> std::result::Result<Said<'de>, E> {
                Ok(Said::Whole(number.into()))
            }

            fn visit_i64<E>(self, number: i64) -> std::result::Result<Said<'de>, E> {
                Ok(Said::Whole(number.into()))
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> std::result::Result<Said<'de>, E> {
                Ok(Said::Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> std::result::Result<Said<'de>, E> {
                Ok(Said::Text(Cow::Owned(text.to_owned())))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> std::result::Result<Said<'de>, A::Error> {
                let mut list = Vec::new();
                while let Some(one) = all.next_element()? {
                    list.push(one);
                }
                Ok(Said::List(list))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut all: A) -> std::result::Result<Said<'de>, A::Error> {
                let mut members: Vec<(&'static str, Said<'de>)> = Vec::new();
                while let Some(name) = all.next_key::<Cow<'de, str>>()? {
                    if name == AS_WRITTEN {
                        return Ok(Said::Number(all.next_value()?));
                    }
                    let Some(known) = NAMES.into_iter().find(|known| **known == *name) else {
                        all.next_value::<IgnoredAny>()?;
                        continue;
                    };
                    let value = all.next_value()?;
                    // Of two of one name the last one counts.
                    members.retain(|(other, _)| *other != known);
                    members.push((known, value));
                }
                Ok(Said::Members(members))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    /// The same of a whole tree.
    fn held(said: &Said<'_>, whole: &Value) {
        match (said, whole) {
            (Said::Nothing, Value::Null) => {}
            (Said::Flag(flag), Value::Bool(other)) => assert_eq!(flag, other),
            (Said::Whole(_) | Said::Number(_), Value::Number(other)) => assert_eq!(said.to_string(), other.to_string()),
            (Said::Text(text), Value::String(other)) => assert_eq!(text, other),
            (Said::List(list), Value::Array(all)) => {
                assert_eq!(list.len(), all.len());
                list.iter().zip(all).for_each(|(one, other)| held(one, other));
            }
            (Said::Members(_), Value::Object(_)) => NAMES.into_iter().for_each(|name| held(&said[name], &whole[name])),
            _ => panic!("{said:?} of {whole}"),
        }
    }

    #[test]
    fn what_is_told_of_tax_is_what_the_whole_tree_says() {
        let json = r#"{"asked":{"narration":{"lines":[1]},"exchange_rate":1.2500,"source":null,"inclusive":true,
            "lines":[{"id":"a\u00e9\"b","tax":{"code":"c"},"stated_tax":-0.10,"tags":["x"]},{"id":"é","id":"last"}]},
            "figures":{"lines":[{"base_taxes":[1,2.5,123456789012345678901234567890],"took":[],"figures":{"taxes":[{"kind":"standard"}]}}],
            "totals":{"net":1}}}"#;
        let said: Said<'_> = serde_json::from_str(json).unwrap();
        held(&said, &serde_json::from_str(json).unwrap());
        assert_eq!(said["asked"]["lines"][0]["stated_tax"].number().unwrap(), -100_000);
        assert!(said["asked"]["lines"][7]["id"].is_nothing() && said["figures"]["totals"].is_nothing());
        assert!(said["asked"]["inclusive"].is_true() && !said["asked"]["source"].is_true());
        let why = format!("{:?}", said["asked"]["source"].number().unwrap_err());
        assert!(why.contains("null is no decimal number"), "{why}");
    }
}
