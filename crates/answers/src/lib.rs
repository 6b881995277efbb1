//! What a question is answered: rows of values, read by their places.
//!
//! Owns: what the rows of an answer are made into. Refuses: to know an engine, and to take one type for another.
//!
//! An entity can only be asked for rows that carry the names of their columns, each in a tree of its own, and copies what
//! it finds there. To make that tree costs many times what the engine takes to step to the row. So an answer has its names
//! once, and whoever reads many rows takes the values out of it: [`Ask::models`] for rows of a table, [`Ask::read`] for
//! what else is selected.

mod asked;
mod made;
mod named;
pub mod wanted;
mod whole;

pub use asked::{Answers, Ask};
pub use made::{Columns, Modelled, OfRow, Row};
pub use whole::{KeyOf, whole, whole_of};
// What the macros speak of.
#[doc(hidden)]
pub use sea_orm::{DbErr, Select};
#[doc(hidden)]
pub use whole::is_written_down;

use sea_orm::Value;
use std::sync::Arc;

/// The rows that a question came to.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    /// Shared by all answers to one statement.
    columns: Arc<[String]>,
    /// Row after row.
    values: Vec<Value>,
}

impl Answer {
    /// One without rows.
    pub fn of(columns: impl Into<Arc<[String]>>) -> Self {
        Self { columns: columns.into(), values: Vec::new() }
    }

    /// Adds the next value: the first one of a row where the last one was whole.
    pub fn add(&mut self, value: Value) {
        self.values.push(value);
    }

    /// How many rows it has.
    pub fn len(&self) -> usize {
        self.values.len() / self.columns.len().max(1)
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Where the columns of these names are. What answered no row may not have named any.
    fn places<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Result<Vec<usize>, DbErr> {
        if self.columns.is_empty() {
            return Ok(Vec::new());
        }
        let names: Vec<&str> = names.into_iter().collect();
        // Most are asked for all that they answer, in its order; whoever names a column twice finds it where it says.
        if names.len() == self.columns.len() && names.iter().zip(&*self.columns).all(|(name, column)| name == column) {
            return Ok((0..names.len()).collect());
        }
        names.into_iter().map(|name| self.place(name)).collect()
    }

    fn place(&self, name: &str) -> Result<usize, DbErr> {
        let mut places = (0..self.columns.len()).filter(|place| self.columns[*place] == name);
        match (places.next(), places.next()) {
            (Some(place), None) => Ok(place),
            (Some(_), Some(_)) => Err(DbErr::Custom(format!("a question answers two columns named {name}"))),
            (None, _) => Err(DbErr::Custom(format!("a question answers no column named {name}"))),
        }
    }

    /// What each row has in the columns of these names, as it is.
    pub fn values_of<'n>(
        mut self,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<impl Iterator<Item = Vec<Value>>, DbErr> {
        let places = self.places(names)?;
        let (rows, width) = (self.len(), self.columns.len());
        Ok((0..rows).map(move |row| {
            let values = &mut self.values[row * width..][..width];
            places.iter().map(|place| made::taken(&mut values[*place])).collect()
        }))
    }
}

#[cfg(test)]
mod tests;
