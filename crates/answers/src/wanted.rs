//! Whether anybody still waits for what is made of rows.
//!
//! A question ends inside the engine when nobody waits for it. What is made of its rows afterwards goes on without asking
//! anybody, so it looks for itself: between two portions of rows, and wherever it calls [`still`].

use sea_orm::DbErr;
use std::cell::RefCell;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// So many rows lie between two looks.
pub const ROWS_BETWEEN_LOOKS: usize = 1_024;

thread_local! {
    /// Whose work this thread does right now.
    static NOW: RefCell<Option<Wanted>> = const { RefCell::new(None) };
}

/// Somebody who waits.
#[derive(Debug, Clone, Default)]
pub struct Wanted(Arc<AtomicBool>);

impl Wanted {
    /// Nobody waits any more.
    pub fn no_more(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Work that is done for them.
    pub async fn by<T>(self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        std::future::poll_fn(|context| {
            let _now = Now(NOW.replace(Some(self.clone())));
            work.as_mut().poll(context)
        })
        .await
    }
}

/// What was before comes back, whatever happens.
struct Now(Option<Wanted>);

impl Drop for Now {
    fn drop(&mut self) {
        NOW.set(self.0.take());
    }
}

/// An error where nobody waits any more for what this thread does.
pub fn still() -> Result<(), DbErr> {
    let gone = NOW.with_borrow(|now| now.as_ref().is_some_and(|wanted| wanted.0.load(Ordering::Acquire)));
    if gone { Err(DbErr::Custom("nobody waits any more for what is made of these rows".into())) } else { Ok(()) }
}

/// The same before each portion of rows.
pub(crate) fn at(row: usize) -> Result<(), DbErr> {
    if row.is_multiple_of(ROWS_BETWEEN_LOOKS) { still() } else { Ok(()) }
}
