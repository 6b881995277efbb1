//! Where a list goes on: behind the last row that was answered, whatever came and went since.
//!
//! Owns: what a cursor holds, which is hidden and signed, so that nobody makes one; and which rows are behind it. A row that
//! comes in front of it is not answered any more, one that comes behind it is; none is answered twice or left out because
//! others came or went.

use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::list::{Direction, Walk};
use crate::rows::{Column, Rows, sorted_at, sorts_by};
use ::books::cx::Cx;
use ::books::keys::Purpose;
use sea_orm::sea_query::{Expr, ExprTrait as _, SimpleExpr};
use sea_orm::{ColumnTrait, Condition, Iden, Value};
use serde::{Deserialize, Serialize};

/// By what a list is sorted; the identifier is the last.
pub(crate) type SortedBy<M> = [(Column<M>, Direction)];

/// What a cursor holds.
#[derive(Serialize, Deserialize)]
struct Held {
    /// The columns of the order, so that none goes on in another.
    order: Vec<(String, bool)>,
    /// What the last row has in them.
    behind: Vec<Kept>,
    /// Which page comes next.
    page: u64,
}

/// What a row has in a column, as it is bound again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Kept {
    Nothing,
    Whole(i64),
    Short(i32),
    Shortest(i16),
    Flag(bool),
    Text(String),
    Named(RecordId),
}

impl Kept {
    fn of(value: Value) -> Result<Self> {
        Ok(match value {
            Value::BigInt(Some(number)) => Self::Whole(number),
            Value::Int(Some(number)) => Self::Short(number),
            Value::SmallInt(Some(number)) => Self::Shortest(number),
            Value::Bool(Some(flag)) => Self::Flag(flag),
            Value::String(Some(text)) => Self::Text(text),
            Value::Uuid(Some(id)) => Self::Named(RecordId(id)),
            Value::BigInt(None)
            | Value::Int(None)
            | Value::SmallInt(None)
            | Value::Bool(None)
            | Value::String(None)
            | Value::Uuid(None) => Self::Nothing,
            other => return Err(Error::internal(format!("no list goes on behind {other:?}"))),
        })
    }

    /// The value; nothing where there was none.
    fn value(&self) -> Option<Value> {
        Some(match self {
            Self::Nothing => return None,
            Self::Whole(number) => Value::BigInt(Some(*number)),
            Self::Short(number) => Value::Int(Some(*number)),
            Self::Shortest(number) => Value::SmallInt(Some(*number)),
            Self::Flag(flag) => Value::Bool(Some(*flag)),
            Self::Text(text) => Value::String(Some(text.clone())),
            Self::Named(id) => Value::Uuid(Some(id.0)),
        })
    }
}

/// Where a walk stands.
pub(crate) struct Place {
    behind: Vec<Kept>,
    pub(crate) page: u64,
}

fn order<M: Rows>(sorted_by: &SortedBy<M>) -> Vec<(String, bool)> {
    let told = |(column, direction): &(Column<M>, Direction)| {
        (column.unquoted().to_owned(), *direction == Direction::Descending)
    };
    sorted_by.iter().map(told).collect()
}

/// Whose a cursor is: that of another list, or of another company, does not open.
fn whose<M: Rows>(cx: &Cx<'_>) -> String {
    let company = cx.business().map_or_else(|_| String::new(), |business| business.id.to_string());
    format!("{} {company}", M::KEY.stem())
}

/// The place that a cursor tells; none where a walk begins.
pub(crate) fn place<M: Rows>(cx: &Cx<'_>, walk: &Walk, sorted_by: &SortedBy<M>) -> Result<Option<Place>> {
    let Walk::Behind(cursor) = walk else { return Ok(None) };
    let unknown = || Error::field("cursor", "must be the nextCursor of a page of this list");
    let opened = cx.keys().reveal(Purpose::Cursors, &whose::<M>(cx), cursor).map_err(|_| unknown())?;
    let held: Held = serde_json::from_slice(&opened).map_err(|_| unknown())?;
    if held.order != order::<M>(sorted_by) {
        return Err(Error::field("cursor", "is of a list in another order; begin anew with an empty one"));
    }
    Ok(Some(Place { behind: held.behind, page: held.page }))
}

/// The cursor behind a row.
pub(crate) fn behind<M: Rows>(cx: &Cx<'_>, sorted_by: &SortedBy<M>, values: Vec<Value>, page: u64) -> Result<String> {
    let behind = values.into_iter().map(Kept::of).collect::<Result<_>>()?;
    let held = Held { order: order::<M>(sorted_by), behind, page };
    cx.keys().hide(Purpose::Cursors, &whose::<M>(cx), &serde_json::to_vec(&held).map_err(Error::internal)?)
}

/// The rows behind a place: those that are later in one column, and alike in all before it. Those without a value are last.
pub(crate) fn later<M: Rows>(sorted_by: &SortedBy<M>, place: &Place) -> Result<Condition> {
    let mut later = Condition::any();
    let mut alike = Condition::all();
    for ((column, direction), kept) in sorted_by.iter().zip(&place.behind) {
        let own = || Expr::col(column.as_column_ref());
        let (is_later, is_alike): (Option<SimpleExpr>, SimpleExpr) = match kept.value() {
            // Nothing is behind those without a value.
            None => (None, own().is_null()),
            Some(value) => {
                let (sorts, at) = (sorts_by(*column), sorted_at(*column, value.clone())?);
                let beyond = match direction {
                    Direction::Ascending => sorts.gt(at),
                    Direction::Descending => sorts.lt(at),
                };
                let beyond = if column.def().is_null() { beyond.or(own().is_null()) } else { beyond };
                (Some(beyond), own().eq(value))
            }
        };
        if let Some(is_later) = is_later {
            later = later.add(alike.clone().add(is_later));
        }
        alike = alike.add(is_alike);
    }
    Ok(later)
}
