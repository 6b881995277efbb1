//! Values as they are sent, and rows as entities read them.
//!
//! An entity reads a value only if it has exactly the variant of its own type, and takes anything else for nothing. So a
//! type that nobody has spoken of is refused, on the way out and on the way in.

use crate::fault::Fault;
use answers::Answer;
use bytes::BytesMut;
use sea_orm::Value;
use std::error::Error;
use tokio_postgres::types::{FromSql, IsNull, Kind, ToSql, Type, to_sql_checked};
use tokio_postgres::{Column, Row};
use uuid::Uuid;

/// A value on its way into a statement, of the type that it was prepared with.
#[derive(Debug, Clone)]
pub(crate) enum Bound {
    Flag(Option<bool>),
    Number(Option<i64>),
    Text(Option<String>),
    Bytes(Option<Vec<u8>>),
    Identifier(Option<Uuid>),
}

impl Bound {
    pub(crate) fn of(value: Value) -> Result<Self, Fault> {
        Ok(match value {
            Value::Bool(value) => Self::Flag(value),
            Value::TinyInt(value) => Self::Number(value.map(i64::from)),
            Value::SmallInt(value) => Self::Number(value.map(i64::from)),
            Value::Int(value) => Self::Number(value.map(i64::from)),
            Value::BigInt(value) => Self::Number(value),
            Value::TinyUnsigned(value) => Self::Number(value.map(i64::from)),
            Value::SmallUnsigned(value) => Self::Number(value.map(i64::from)),
            Value::Unsigned(value) => Self::Number(value.map(i64::from)),
            Value::BigUnsigned(value) => Self::Number(
                value.map(i64::try_from).transpose().map_err(|_| Fault::ours("a number is too large to be kept"))?,
            ),
            Value::String(value) => Self::Text(value),
            Value::Bytes(value) => Self::Bytes(value),
            Value::Uuid(value) => Self::Identifier(value),
            other => return Err(Fault::ours(format!("nobody has said how this is kept in PostgreSQL: {other:?}"))),
        })
    }

    pub(crate) fn kind(&self) -> Type {
        match self {
            Self::Flag(_) => Type::BOOL,
            Self::Number(_) => Type::INT8,
            Self::Text(_) => Type::TEXT,
            Self::Bytes(_) => Type::BYTEA,
            Self::Identifier(_) => Type::UUID,
        }
    }
}

impl ToSql for Bound {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Flag(value) => value.to_sql(kind, out),
            Self::Number(value) => value.to_sql(kind, out),
            Self::Text(value) => value.to_sql(kind, out),
            Self::Bytes(value) => value.to_sql(kind, out),
            Self::Identifier(value) => value.to_sql(kind, out),
        }
    }

    fn accepts(kind: &Type) -> bool {
        [Type::BOOL, Type::INT8, Type::TEXT, Type::BYTEA, Type::UUID].contains(kind)
    }

    to_sql_checked!();
}

/// The values of one column on their way into a statement that takes many rows.
#[derive(Debug, Clone)]
pub(crate) enum Many {
    Flags(Vec<Option<bool>>),
    Numbers(Vec<Option<i64>>),
    Texts(Vec<Option<String>>),
    Bytes(Vec<Option<Vec<u8>>>),
    Identifiers(Vec<Option<Uuid>>),
}

impl Many {
    /// The column of a first value, with room for so many.
    pub(crate) fn of(first: Bound, room: usize) -> Self {
        fn with<T>(first: T, room: usize) -> Vec<T> {
            let mut all = Vec::with_capacity(room);
            all.push(first);
            all
        }
        match first {
            Bound::Flag(value) => Self::Flags(with(value, room)),
            Bound::Number(value) => Self::Numbers(with(value, room)),
            Bound::Text(value) => Self::Texts(with(value, room)),
            Bound::Bytes(value) => Self::Bytes(with(value, room)),
            Bound::Identifier(value) => Self::Identifiers(with(value, room)),
        }
    }

    pub(crate) fn push(&mut self, next: Bound) -> Result<(), Fault> {
        match (self, next) {
            (Self::Flags(all), Bound::Flag(value)) => all.push(value),
            (Self::Numbers(all), Bound::Number(value)) => all.push(value),
            (Self::Texts(all), Bound::Text(value)) => all.push(value),
            (Self::Bytes(all), Bound::Bytes(value)) => all.push(value),
            (Self::Identifiers(all), Bound::Identifier(value)) => all.push(value),
            (_, next) => return Err(Fault::ours(format!("a column holds other values and {next:?}"))),
        }
        Ok(())
    }

    pub(crate) fn kind(&self) -> Type {
        match self {
            Self::Flags(_) => Type::BOOL_ARRAY,
            Self::Numbers(_) => Type::INT8_ARRAY,
            Self::Texts(_) => Type::TEXT_ARRAY,
            Self::Bytes(_) => Type::BYTEA_ARRAY,
            Self::Identifiers(_) => Type::UUID_ARRAY,
        }
    }
}

impl ToSql for Many {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Flags(all) => all.to_sql(kind, out),
            Self::Numbers(all) => all.to_sql(kind, out),
            Self::Texts(all) => all.to_sql(kind, out),
            Self::Bytes(all) => all.to_sql(kind, out),
            Self::Identifiers(all) => all.to_sql(kind, out),
        }
    }

    fn accepts(kind: &Type) -> bool {
        [Type::BOOL_ARRAY, Type::INT8_ARRAY, Type::TEXT_ARRAY, Type::BYTEA_ARRAY, Type::UUID_ARRAY].contains(kind)
    }

    to_sql_checked!();
}

/// An answer without rows, of a statement of these columns.
pub(crate) fn answer(columns: &[Column]) -> Answer {
    Answer::of(columns.iter().map(|column| column.name().to_owned()).collect::<Vec<_>>())
}

pub(crate) fn add(row: &Row, into: &mut Answer) -> Result<(), Fault> {
    for place in 0..row.len() {
        into.add(read(row, place)?);
    }
    Ok(())
}

fn read(row: &Row, place: usize) -> Result<Value, Fault> {
    let column = &row.columns()[place];
    let mut kind = column.type_();
    while let Kind::Domain(inner) = kind.kind() {
        kind = inner;
    }
    Ok(match *kind {
        Type::BOOL => Value::Bool(got(row, place)?),
        Type::INT8 => Value::BigInt(got(row, place)?),
        Type::INT4 => Value::BigInt(got::<i32>(row, place)?.map(i64::from)),
        Type::INT2 => Value::BigInt(got::<i16>(row, place)?.map(i64::from)),
        Type::TEXT | Type::VARCHAR | Type::NAME => Value::String(got(row, place)?),
        Type::BYTEA => Value::Bytes(got(row, place)?),
        Type::UUID => Value::Uuid(got(row, place)?),
        // What SELECT NULL answers.
        Type::UNKNOWN if got::<&str>(row, place)?.is_none() => Value::String(None),
        _ => {
            let name = column.name();
            return Err(Fault::ours(format!("nobody has said how {name} is read, which is of the type {kind}")));
        }
    })
}

fn got<'r, T: FromSql<'r>>(row: &'r Row, place: usize) -> Result<Option<T>, Fault> {
    row.try_get(place).map_err(|error| Fault::ours(format!("{} cannot be read: {error}", row.columns()[place].name())))
}
