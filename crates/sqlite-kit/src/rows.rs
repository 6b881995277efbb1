//! Values as they are bound, and rows as entities read them.
//!
//! An entity reads a value only if it has exactly the variant of its own type, and takes anything else for nothing. So a
//! column is read by the type that its table declares, an expression by how it is stored, and what is neither is refused.

use crate::counted::{self, Kept};
use crate::fault::Fault;
use answers::Answer;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Row, Statement, ToSql};
use sea_orm::Value;
use std::sync::Arc;

/// A value on its way into a statement.
pub(crate) struct Bound<'v> {
    value: &'v Value,
    /// What is kept of it, where it is an identifier.
    kept: Option<Kept>,
}

impl<'v> Bound<'v> {
    pub(crate) fn of(value: &'v Value) -> Self {
        let kept = match value {
            Value::Uuid(Some(id)) => Some(Kept::of(id)),
            _ => None,
        };
        Self { value, kept }
    }
}

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let bound = match self.value {
            Value::Bool(value) => value.map(|value| ValueRef::Integer(value.into())),
            Value::TinyInt(value) => value.map(|value| ValueRef::Integer(value.into())),
            Value::SmallInt(value) => value.map(|value| ValueRef::Integer(value.into())),
            Value::Int(value) => value.map(|value| ValueRef::Integer(value.into())),
            Value::BigInt(value) => value.map(ValueRef::Integer),
            Value::TinyUnsigned(value) => value.map(|value| ValueRef::Integer(value.into())),
            Value::SmallUnsigned(value) => value.map(|value| ValueRef::Integer(value.into())),
            Value::Unsigned(value) => value.map(|value| ValueRef::Integer(value.into())),
            Value::BigUnsigned(value) => match value.map(i64::try_from).transpose() {
                Ok(value) => value.map(ValueRef::Integer),
                Err(error) => return Err(rusqlite::Error::ToSqlConversionFailure(error.into())),
            },
            Value::String(value) => value.as_ref().map(|text| ValueRef::Text(text.as_bytes())),
            Value::Bytes(value) => value.as_ref().map(|bytes| ValueRef::Blob(bytes)),
            Value::Uuid(_) => self.kept.as_ref().map(|kept| ValueRef::Blob(kept.bytes())),
            other => {
                let why = format!("nobody has said how this is kept in SQLite: {other:?}");
                return Err(rusqlite::Error::ToSqlConversionFailure(why.into()));
            }
        };
        Ok(ToSqlOutput::Borrowed(bound.unwrap_or(ValueRef::Null)))
    }
}

/// How the values of a column are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Flag,
    Number,
    Text,
    Identifier,
    Bytes,
    /// An expression: as it is stored.
    Free,
}

/// How a column is read whose table declares this type.
pub fn kind_of(declared: Option<&str>) -> Result<Kind, Fault> {
    let Some(declared) = declared else { return Ok(Kind::Free) };
    let lower = declared.to_ascii_lowercase();
    match lower.split('(').next().unwrap_or_default() {
        "boolean" => Ok(Kind::Flag),
        "integer" | "bigint" | "int" => Ok(Kind::Number),
        "text" | "varchar" => Ok(Kind::Text),
        "uuid_text" => Ok(Kind::Identifier),
        "blob" | "varbinary_blob" => Ok(Kind::Bytes),
        _ => Err(Fault::ours(format!("nobody has said how a column of the type {declared} is read"))),
    }
}

/// The columns of a statement: read once, however many rows it answers.
#[derive(Debug)]
pub(crate) struct Shape {
    names: Arc<[String]>,
    kinds: Vec<Kind>,
}

impl Shape {
    pub(crate) fn of(statement: &Statement<'_>) -> Result<Self, Fault> {
        let columns = statement.columns();
        Ok(Self {
            names: columns.iter().map(|column| column.name().to_owned()).collect(),
            kinds: columns.iter().map(|column| kind_of(column.decl_type())).collect::<Result<_, Fault>>()?,
        })
    }

    pub(crate) fn answer(&self) -> Answer {
        Answer::of(self.names.clone())
    }

    pub(crate) fn read(&self, row: &Row<'_>, into: &mut Answer) -> Result<(), Fault> {
        for (place, kind) in self.kinds.iter().enumerate() {
            into.add(read((&self.names[place], *kind), row.get_ref(place)?)?);
        }
        Ok(())
    }
}

/// No text begins with this byte, nor anything that was packed.
const NOTHING_BEGINS_SO: u8 = 0xff;

fn read((name, kind): (&str, Kind), stored: ValueRef<'_>) -> Result<Value, Fault> {
    let text = |bytes: &[u8]| -> Result<String, Fault> {
        let text = std::str::from_utf8(bytes).map_err(|_| Fault::ours(format!("{name} is no UTF-8")))?;
        Ok(text.to_owned())
    };
    Ok(match (kind, stored) {
        (Kind::Flag, ValueRef::Null) => Value::Bool(None),
        (Kind::Flag, ValueRef::Integer(flag @ (0 | 1))) => Value::Bool(Some(flag == 1)),
        (Kind::Number | Kind::Free, ValueRef::Null) => Value::BigInt(None),
        // A number among bytes is nobody's writing; what is read of it says so, and its row is read with the others.
        (Kind::Number | Kind::Free | Kind::Bytes, ValueRef::Integer(number)) => Value::BigInt(Some(number)),
        (Kind::Text, ValueRef::Null) => Value::String(None),
        (Kind::Free, ValueRef::Text(bytes)) => {
            text(bytes).map_or_else(|_| Value::Bytes(Some(bytes.to_vec())), |text| Value::String(Some(text)))
        }
        (Kind::Text, ValueRef::Text(bytes)) => Value::String(Some(text(bytes)?)),
        (Kind::Identifier, ValueRef::Null) => Value::Uuid(None),
        (Kind::Identifier, ValueRef::Blob(bytes)) => {
            let id = counted::read(bytes).ok_or_else(|| Fault::ours(format!("{name} is no UUID")))?;
            Value::Uuid(Some(id))
        }
        (Kind::Free, ValueRef::Blob(bytes)) => {
            counted::read(bytes).map_or_else(|| Value::Bytes(Some(bytes.to_vec())), |id| Value::Uuid(Some(id)))
        }
        (Kind::Bytes, ValueRef::Null) => Value::Bytes(None),
        // Whoever writes a text there by hand writes its bytes.
        (Kind::Bytes, ValueRef::Blob(bytes) | ValueRef::Text(bytes)) => Value::Bytes(Some(bytes.to_vec())),
        (Kind::Bytes, ValueRef::Real(_)) => Value::Bytes(Some(vec![NOTHING_BEGINS_SO])),
        (kind, stored) => {
            let found = stored.data_type();
            return Err(Fault::ours(format!("{name} is {found} where {kind:?} is wanted")));
        }
    })
}
