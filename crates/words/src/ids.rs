//! Identifiers: opaque to clients, never confused with one another. Inside they are `UUIDv7`, or counted where one process
//! makes all of them and nobody need be kept from guessing them.

use crate::error::{Error, Result};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use sea_orm::DeriveValueType;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use uuid::Uuid;

/// How identifiers are kept on SQLite.
pub use sqlite_kit::counted;

macro_rules! identifier {
    ($($(#[$about:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, DeriveValueType, Serialize, Deserialize)]
        pub struct $name(pub Uuid);

        impl $name {
            /// Exactly the form we hand out; anything else names nothing.
            pub fn parse(text: &str) -> Option<Self> {
                Uuid::try_parse(text).ok().map(Self).filter(|id| id.to_string() == text)
            }
        }

        // What an entity's key must be able to refuse: a number is no identifier of ours.
        impl sea_orm::TryFromU64 for $name {
            fn try_from_u64(number: u64) -> Result<Self, sea_orm::DbErr> {
                Uuid::try_from_u64(number).map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl From<$name> for Uuid {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({"type": "string"})
            }
        }
    )+};
}

identifier! {
    /// A company.
    BusinessId,
    /// A person who signs in.
    UserId,
    /// Any record of a resource, before it is known which.
    RecordId,
}

impl RecordId {
    /// The party of a body that names none, until what it follows says whose it is. No record has it.
    pub const NOBODY: Self = Self(Uuid::nil());
    /// What a key says where no record is named, for nothing in a key is absent. No record has it.
    pub const NONE: Self = Self(Uuid::nil());
}

impl BusinessId {
    /// Under what the installation itself is kept, where companies are kept under their identifiers. No company has it.
    pub const INSTALLATION: Self = Self(Uuid::nil());
}

pub fn random_bytes<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0_u8; N];
    ring::rand::SecureRandom::fill(&ring::rand::SystemRandom::new(), &mut bytes).map_err(Error::internal)?;
    Ok(bytes)
}

/// A name for a request that did not bring its own.
pub fn request_id() -> String {
    // A request without a random name is better than no request at all.
    let bytes = random_bytes::<16>().unwrap_or_default();
    uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
}

/// A secret that others are made of or signed with.
pub fn random_secret() -> Result<Vec<u8>> {
    random_bytes::<64>().map(Vec::from)
}
