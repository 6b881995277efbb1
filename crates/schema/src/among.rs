//! Whether a column is one of many keys, in one value however many they are.
//!
//! A list of parameters has an end: 32 766 on SQLite, 65 535 on PostgreSQL; and so has a chain of conditions, which is 1 000
//! on SQLite. What is asked by documents, items or parties of a whole company has none.

use crate::ids::counted::Kept;
use sea_orm::prelude::Uuid;
use sea_orm::sea_query::{Alias, Expr, ExprTrait, Func, FunctionCall, IntoColumnRef, Query, SimpleExpr};
use sea_orm::{ColumnTrait, DbBackend};

/// Whether a column is one of these identifiers.
pub fn on(
    backend: DbBackend,
    column: impl IntoColumnRef,
    keys: impl IntoIterator<Item = impl Into<Uuid>>,
) -> SimpleExpr {
    let keys = keys.into_iter().map(Into::<Uuid>::into);
    if backend == DbBackend::Postgres {
        let keys = keys.map(|key| key.simple().to_string());
        // An array and not its rows: of rows the engine would guess that they are a hundred, and join whole tables to them.
        let keys = Expr::expr(texts(keys)).cast_as(Alias::new("uuid[]"));
        return Expr::col(column).eq(Func::cust(Alias::new("ANY")).arg(keys));
    }
    let one = Expr::cust("unhex(value)");
    let keys = keys.map(|key| Kept::of(&key).digits());
    let listed = Query::select().expr(one).from_function(listed(backend, keys), Alias::new(LISTED)).take();
    Expr::col(column).in_subquery(listed)
}

/// Whether one of these identifiers stands in the bytes of a column, as JSON has it.
pub fn within(
    backend: DbBackend,
    bytes: impl ColumnTrait,
    keys: impl IntoIterator<Item = impl Into<Uuid>>,
) -> SimpleExpr {
    let mut keys: Vec<Uuid> = keys.into_iter().map(Into::into).collect();
    let found = |part: SimpleExpr| {
        let place = Func::cust(Alias::new("instr")).arg(Expr::col(bytes.as_column_ref())).arg(part);
        Expr::expr(place).gt(0_i64)
    };
    // Hardly anybody has another name.
    if keys.len() == 1
        && let Some(only) = keys.pop()
    {
        return found(Expr::val(format!("\"{only}\"").into_bytes()));
    }
    let one = match backend {
        DbBackend::Postgres => "convert_to('\"' || listed || '\"', 'UTF8')",
        _ => "CAST('\"' || value || '\"' AS BLOB)",
    };
    let keys = keys.into_iter().map(|key| key.hyphenated().to_string());
    let mut any = Query::select();
    any.expr(Expr::val(1_i64))
        .from_function(listed(backend, keys), Alias::new(LISTED))
        .and_where(found(Expr::cust(one)));
    Expr::exists(any)
}

/// What keys are taken apart as: the table on SQLite, on PostgreSQL its column as well.
const LISTED: &str = "listed";

/// Keys that are given as one value, each in a row.
fn listed(backend: DbBackend, keys: impl Iterator<Item = String>) -> FunctionCall {
    if backend == DbBackend::Postgres {
        Func::cust(Alias::new("unnest")).arg(texts(keys))
    } else {
        let keys = keys.map(|key| format!("\"{key}\"")).collect::<Vec<_>>().join(",");
        Func::cust(Alias::new("json_each")).arg(format!("[{keys}]"))
    }
}

/// Keys as an array of texts, on PostgreSQL.
fn texts(keys: impl Iterator<Item = String>) -> FunctionCall {
    Func::cust(Alias::new("string_to_array")).arg(keys.collect::<Vec<_>>().join(",")).arg(",")
}
