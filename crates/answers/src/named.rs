//! Rows as entities read them: each with the names of its columns.
//!
//! Where a row is short it carries its values by their places as well. Such a name comes before all others, in the order of
//! the statement, and says what else the column is called. Two columns of one name are read by their places alone.

use crate::Answer;
use sea_orm::{DbErr, ProxyRow, QueryResult};
use std::collections::BTreeMap;

/// As many values as entities read by their place in a row.
const MOST_PLACES: usize = 12;

/// What begins the name of a place, and how many digits it has.
const PLACE: char = '\0';
const DIGITS: usize = 2;

impl Answer {
    /// Each row by itself.
    pub fn into_rows(self) -> Result<Vec<ProxyRow>, DbErr> {
        let called = self.called()?;
        let width = self.columns.len().max(1);
        let row = |values: &[sea_orm::Value]| -> BTreeMap<_, _> {
            called.iter().map(|(name, place)| (name.clone(), values[*place].clone())).collect()
        };
        Ok(self.values.chunks_exact(width).map(|values| ProxyRow::new(row(values))).collect())
    }

    /// The same, as entities take them.
    pub fn into_results(self) -> Result<Vec<QueryResult>, DbErr> {
        Ok(self.into_rows()?.into_iter().map(QueryResult::from).collect())
    }

    /// The first row.
    pub fn into_result(mut self) -> Result<Option<QueryResult>, DbErr> {
        self.values.truncate(self.columns.len());
        Ok(self.into_results()?.pop())
    }

    /// What each value of a row is called, and its place; in the order of what they are called, so that no row is sorted.
    fn called(&self) -> Result<Vec<(String, usize)>, DbErr> {
        let by_place = self.columns.len() <= MOST_PLACES;
        let mut called = Vec::with_capacity(self.columns.len() * (1 + usize::from(by_place)));
        for (place, name) in self.columns.iter().enumerate() {
            let twice = self.columns.iter().filter(|other| *other == name).count() > 1;
            if twice && !by_place {
                return Err(DbErr::Custom(format!("a statement answers two columns named {name}")));
            }
            if by_place {
                called.push((format!("{PLACE}{place:0DIGITS$}{name}"), place));
            }
            if !twice {
                called.push((name.clone(), place));
            }
        }
        called.sort();
        Ok(called)
    }

    /// The answer that came to these rows. Of long rows the order of the columns is lost.
    pub(crate) fn again(rows: &[QueryResult]) -> Result<Self, DbErr> {
        let mut answer = Self::default();
        for row in rows {
            let row = row.try_as_proxy_row().ok_or_else(|| DbErr::Custom("a row answers nothing".into()))?;
            let places = row.values.keys().filter(|name| name.starts_with(PLACE)).count();
            let own = row.values.iter().take(if places == 0 { row.values.len() } else { places });
            let (names, values): (Vec<&String>, Vec<_>) = own.unzip();
            if answer.columns.is_empty() {
                let name =
                    |name: &String| name.get(PLACE.len_utf8() + DIGITS..).filter(|_| places > 0).map(str::to_owned);
                answer.columns =
                    names.into_iter().map(|called| name(called).unwrap_or_else(|| called.clone())).collect();
            }
            answer.values.extend(values.into_iter().cloned());
        }
        Ok(answer)
    }
}
