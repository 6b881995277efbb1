//! Whether a column is one of many keys, in one value however many they are.
//!
//! A list of parameters has an end: 32 766 on SQLite, 65 535 on PostgreSQL. What is asked by documents, items or parties of
//! a whole company has none.

use crate::cx::Cx;
use sea_orm::sea_query::{Alias, Expr, ExprTrait, Func, IntoColumnRef, Query, SimpleExpr};
use sea_orm::{ConnectionTrait, DbBackend};
use std::fmt::Write;
use uuid::Uuid;

/// Whether a column is one of these identifiers.
pub fn among(cx: &Cx<'_>, column: impl IntoColumnRef, keys: impl IntoIterator<Item = impl Into<Uuid>>) -> SimpleExpr {
    on(cx.db.get_database_backend(), column, keys)
}

/// The same where no context is at hand.
pub fn on(
    backend: DbBackend,
    column: impl IntoColumnRef,
    keys: impl IntoIterator<Item = impl Into<Uuid>>,
) -> SimpleExpr {
    let mut listed = String::new();
    for key in keys {
        let before = if listed.is_empty() { "" } else { "," };
        let _written: Result<(), std::fmt::Error> = match backend {
            DbBackend::Postgres => write!(listed, "{before}{}", key.into().simple()),
            _ => write!(listed, "{before}\"{}\"", key.into().simple()),
        };
    }
    let (all, one) = match backend {
        DbBackend::Postgres => {
            let texts = Func::cust(Alias::new("string_to_array")).arg(listed).arg(",");
            (Func::cust(Alias::new("unnest")).arg(texts), "listed::uuid")
        }
        _ => (Func::cust(Alias::new("json_each")).arg(format!("[{listed}]")), "unhex(value)"),
    };
    let listed = Query::select().expr(Expr::cust(one)).from_function(all, Alias::new("listed")).take();
    Expr::col(column).in_subquery(listed)
}
