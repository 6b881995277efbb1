//! What rows are made into: models of tables, tuples, and structs of what is selected.

use crate::{Answer, wanted};
use sea_orm::sea_query::{ArrayType, ValueType};
use sea_orm::{ActiveModelTrait, DbErr, EntityTrait, IdenStatic, Iterable, TryIntoModel, Value};

/// What of a row is read.
#[derive(Debug, Clone, Copy)]
pub enum Columns {
    /// Those of these names, wherever they are.
    Named(&'static [&'static str]),
    /// All of them, so many, in their order.
    Placed(usize),
}

/// What can be made of a row.
pub trait OfRow: Sized {
    const COLUMNS: Columns;

    /// Takes its values, one after the other.
    fn of_row(row: &mut Row<'_>) -> Result<Self, DbErr>;
}

/// A row whose values are taken one after the other.
pub struct Row<'a> {
    columns: &'a [String],
    values: &'a mut [Value],
    /// Where the values are that are taken.
    places: std::slice::Iter<'a, usize>,
}

impl Row<'_> {
    /// The next value. What is of another type is refused.
    pub fn take<T: ValueType>(&mut self) -> Result<T, DbErr> {
        let place = *self.places.next().ok_or_else(|| DbErr::Custom("a row has fewer values than are read".into()))?;
        let value = taken(&mut self.values[place]);
        let value = if is_nothing(&value) { nothing_of(&T::array_type()).unwrap_or(value) } else { value };
        T::try_from(value).map_err(|_| {
            let why = format!("{} holds nothing that can be read as {}", self.columns[place], T::type_name());
            DbErr::Type(why)
        })
    }
}

pub(crate) fn taken(value: &mut Value) -> Value {
    std::mem::replace(value, Value::Bool(None))
}

const fn is_nothing(value: &Value) -> bool {
    matches!(
        value,
        Value::Bool(None) | Value::BigInt(None) | Value::String(None) | Value::Bytes(None) | Value::Uuid(None)
    )
}

/// What stands for nothing, whatever the type.
const NOTHING: [Value; 5] =
    [Value::Bool(None), Value::BigInt(None), Value::String(None), Value::Bytes(None), Value::Uuid(None)];

/// What stands for nothing in a column of a type. An engine does not say of which type an expression is that is nothing.
const fn nothing_of(kind: &ArrayType) -> Option<Value> {
    match kind {
        ArrayType::Bool => Some(Value::Bool(None)),
        ArrayType::BigInt => Some(Value::BigInt(None)),
        ArrayType::String => Some(Value::String(None)),
        ArrayType::Bytes => Some(Value::Bytes(None)),
        ArrayType::Uuid => Some(Value::Uuid(None)),
        _ => None,
    }
}

impl Answer {
    /// What is made of each row.
    pub fn read<T: OfRow>(mut self) -> Result<Vec<T>, DbErr> {
        let width = self.columns.len();
        let places: Vec<usize> = match T::COLUMNS {
            Columns::Named(names) => self.places(names.iter().copied())?,
            Columns::Placed(count) if width == count || width == 0 => (0..width).collect(),
            Columns::Placed(count) => {
                return Err(DbErr::Custom(format!("a question answers {width} columns, and {count} are read")));
            }
        };
        let columns = &self.columns;
        let made = |(row, values)| {
            wanted::at(row)?;
            T::of_row(&mut Row { columns, values, places: places.iter() })
        };
        self.values.chunks_exact_mut(width.max(1)).enumerate().map(made).collect()
    }

    /// The only column.
    pub fn column<T: ValueType>(self) -> Result<Vec<T>, DbErr> {
        let only = |(value,): (T,)| value;
        Ok(self.read::<(T,)>()?.into_iter().map(only).collect())
    }

    /// The rows of a table.
    pub fn models<E: Modelled>(mut self) -> Result<Vec<E::Model>, DbErr> {
        let columns: Vec<E::Column> = E::Column::iter().collect();
        let places = self.places(columns.iter().map(IdenStatic::as_str))?;
        let width = self.columns.len().max(1);
        let made = |(row, values): (usize, &mut [Value])| {
            wanted::at(row)?;
            E::model(columns.iter().zip(&places).map(|(column, place)| (*column, taken(&mut values[*place]))))
        };
        self.values.chunks_exact_mut(width).enumerate().map(made).collect()
    }
}

/// A table whose rows are made of their values, which those of every derived entity are.
pub trait Modelled: EntityTrait {
    fn model(values: impl Iterator<Item = (Self::Column, Value)>) -> Result<Self::Model, DbErr>;
}

impl<E: EntityTrait> Modelled for E
where
    E::ActiveModel: TryIntoModel<E::Model>,
{
    fn model(values: impl Iterator<Item = (E::Column, Value)>) -> Result<E::Model, DbErr> {
        let mut row = <E::ActiveModel as ActiveModelTrait>::default();
        for (column, value) in values {
            let mut others = NOTHING.into_iter().take(if is_nothing(&value) { NOTHING.len() } else { 0 });
            let mut set = row.try_set(column, value);
            while let (Err(_), Some(other)) = (&set, others.next()) {
                set = row.try_set(column, other);
            }
            set.map_err(|error| {
                let table = E::default();
                DbErr::Type(format!("{}.{} cannot be read: {error}", table.table_name(), column.as_str()))
            })?;
        }
        row.try_into_model()
    }
}

macro_rules! tuples {
    ($(($count:literal: $($part:ident),+))+) => {
        $(
            impl<$($part: ValueType),+> OfRow for ($($part,)+) {
                const COLUMNS: Columns = Columns::Placed($count);

                fn of_row(row: &mut Row<'_>) -> Result<Self, DbErr> {
                    Ok(($(row.take::<$part>()?,)+))
                }
            }
        )+
    };
}

tuples! {
    (1: A)
    (2: A, B)
    (3: A, B, C)
    (4: A, B, C, D)
    (5: A, B, C, D, E)
    (6: A, B, C, D, E, F)
    (7: A, B, C, D, E, F, G)
    (8: A, B, C, D, E, F, G, H)
    (9: A, B, C, D, E, F, G, H, I)
    (10: A, B, C, D, E, F, G, H, I, J)
    (11: A, B, C, D, E, F, G, H, I, J, K)
    (12: A, B, C, D, E, F, G, H, I, J, K, L)
}

/// A struct of what is selected: each field is the column of its name.
#[macro_export]
macro_rules! of_row {
    ($(#[$about:meta])* $visibility:vis struct $name:ident {
        $($(#[$of_field:meta])* $shown:vis $field:ident: $type:ty),+ $(,)?
    }) => {
        $(#[$about])*
        $visibility struct $name {
            $($(#[$of_field])* $shown $field: $type),+
        }

        impl $crate::OfRow for $name {
            const COLUMNS: $crate::Columns = $crate::Columns::Named(&[$(stringify!($field)),+]);

            fn of_row(row: &mut $crate::Row<'_>) -> Result<Self, $crate::DbErr> {
                Ok(Self { $($field: row.take()?),+ })
            }
        }
    };
}
