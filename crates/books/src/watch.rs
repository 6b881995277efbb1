//! Who looks at how writes go: they are told, and decide nothing.

use std::sync::OnceLock;
use std::time::Duration;

/// Hears how writes go.
pub trait Watch: Send + Sync {
    /// So many more commands wait in front of a lane, or so many fewer.
    fn waiting(&self, change: i64);
    /// A batch of so many commands was committed, which took the database so long.
    fn committed(&self, commands: usize, took: Duration);
}

static WATCH: OnceLock<&'static dyn Watch> = OnceLock::new();

/// From now on somebody looks. There is one, for as long as the process lives.
pub fn is_watched(by: &'static dyn Watch) {
    let _there_is_one = WATCH.set(by);
}

pub(crate) fn watch() -> Option<&'static dyn Watch> {
    WATCH.get().copied()
}
