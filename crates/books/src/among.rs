//! Whether a column is one of many keys, for who has a context.

use crate::cx::Cx;
pub use schema::among::on;
use sea_orm::ConnectionTrait;
use sea_orm::sea_query::{IntoColumnRef, SimpleExpr};
use uuid::Uuid;

/// Whether a column is one of these identifiers.
pub fn among(cx: &Cx<'_>, column: impl IntoColumnRef, keys: impl IntoIterator<Item = impl Into<Uuid>>) -> SimpleExpr {
    on(cx.db.get_database_backend(), column, keys)
}
