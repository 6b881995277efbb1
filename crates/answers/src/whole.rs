//! Selections of whole rows, whose columns were written down once.
//!
//! sea-orm makes each column anew for each question: its definition, its name, the table's. Of a lane that posts that was a
//! tenth of all it did. The columns of a table are the same each time, so they are kept as the text that they come to.

use sea_orm::sea_query::{Expr, IntoValueTuple};
use sea_orm::{
    ColumnTrait, DbBackend, EntityTrait, Iterable, PrimaryKeyToColumn, PrimaryKeyTrait, QueryFilter, QuerySelect,
    QueryTrait, Select,
};
use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::collections::HashMap;

/// What the rows of a table are told apart by.
pub type KeyOf<E> = <<E as EntityTrait>::PrimaryKey as PrimaryKeyTrait>::ValueType;

thread_local! {
    /// By the entities of the tables.
    static KNOWN: RefCell<HashMap<TypeId, Box<dyn Any>>> = RefCell::default();
}

/// All rows of a table, whole: what `find` of sea-orm comes to.
pub fn whole<E: EntityTrait>() -> Select<E> {
    KNOWN.with_borrow_mut(|known| {
        let kept = known.entry(TypeId::of::<E>()).or_insert_with(|| Box::new(written::<E>()));
        kept.downcast_ref::<Select<E>>().map_or_else(written::<E>, Select::clone)
    })
}

/// The row of a key: what `find_by_id` of sea-orm comes to.
pub fn whole_of<E: EntityTrait>(key: impl Into<KeyOf<E>>) -> Select<E> {
    let parts = key.into().into_value_tuple();
    E::PrimaryKey::iter().zip(parts).fold(whole::<E>(), |rows, (part, value)| rows.filter(part.into_column().eq(value)))
}

/// The selection as sea-orm makes it, with the text of its columns in their place. Where that is not the same for both engines, it
/// stays as it is.
fn written<E: EntityTrait>() -> Select<E> {
    let mut rows = E::find();
    if let Some(columns) = columns_of::<E>(DbBackend::Sqlite).filter(|_| is_written_down::<E>()) {
        QuerySelect::query(&mut rows).clear_selects().expr(Expr::cust(columns));
    }
    rows
}

/// What stands between `SELECT` and `FROM`.
fn columns_of<E: EntityTrait>(engine: DbBackend) -> Option<String> {
    let mut anything = E::find();
    QuerySelect::query(&mut anything).clear_selects().expr(Expr::cust("*"));
    let anything = anything.build(engine);
    let whole = E::find().build(engine);
    let is_text_alone = whole.values.is_none_or(|values| values.0.is_empty());
    let columns = whole.sql.strip_prefix("SELECT ")?.strip_suffix(anything.sql.strip_prefix("SELECT *")?)?;
    is_text_alone.then(|| columns.to_owned())
}

/// Whether the columns of a table are kept as their text.
#[doc(hidden)]
pub fn is_written_down<E: EntityTrait>() -> bool {
    columns_of::<E>(DbBackend::Sqlite).is_some_and(|columns| columns_of::<E>(DbBackend::Postgres) == Some(columns))
}

/// Lets an entity be asked so by the names that are known of sea-orm.
#[macro_export]
macro_rules! asked_whole {
    ($entity:ident) => {
        impl $entity {
            /// See [`whole`]($crate::whole).
            pub fn find() -> $crate::Select<Self> {
                $crate::whole()
            }

            /// See [`whole_of`]($crate::whole_of).
            pub fn find_by_id(key: impl Into<$crate::KeyOf<Self>>) -> $crate::Select<Self> {
                $crate::whole_of(key)
            }
        }

        #[cfg(test)]
        #[test]
        fn what_was_written_down_once_is_what_would_be_written_anew() {
            use sea_orm::{DbBackend, EntityTrait, QueryTrait as _};
            for engine in [DbBackend::Sqlite, DbBackend::Postgres] {
                let anew = <$entity as EntityTrait>::find().build(engine);
                assert_eq!($entity::find().build(engine), anew);
                assert!($crate::is_written_down::<$entity>());
            }
        }
    };
}
