//! A copy of a file that others write.

use crate::{Connection, Fault};
use rusqlite::OpenFlags;
use rusqlite::backup::{Backup, StepResult};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

/// As many pages as are copied at once: a few megabytes.
const PAGES: i32 = 1_024;
/// Between two looks at what another holds.
const PAUSE: Duration = Duration::from_millis(5);

impl Connection {
    /// Copies the file as it is now into another one, by the engine's own means. What is written meanwhile is not in it, and
    /// nobody who writes waits: what is seen is of one moment, so that no step is ever done again. Nothing is known to be on
    /// the disk before whoever asked for it has made sure. After each step is told how many pages are over, of how many.
    pub fn copy(&self, to: &Path, told: &mut dyn FnMut(u64, u64)) -> Result<(), Fault> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let mut copy = rusqlite::Connection::open_with_flags(to, flags | OpenFlags::SQLITE_OPEN_EXRESCODE)?;
        // Whatever ends it before its end leaves something that is no copy, and is not taken for one.
        copy.pragma_update_and_check(None, "journal_mode", "off", |_| Ok(()))?;
        copy.pragma_update(None, "synchronous", "OFF")?;
        self.begin_reading()?;
        let copied = self.copy_to(&mut copy, told);
        let ended = self.end_reading();
        copied.and(ended)?;
        copy.close().map_err(|(_, error)| error.into())
    }

    fn copy_to(&self, copy: &mut rusqlite::Connection, told: &mut dyn FnMut(u64, u64)) -> Result<(), Fault> {
        let backup = Backup::new(&self.inner, copy)?;
        loop {
            let step = backup.step(PAGES)?;
            let progress = backup.progress();
            let pages = |count: i32| u64::try_from(count).map_err(|error| Fault::ours(error.to_string()));
            let all = pages(progress.pagecount)?;
            told(all - pages(progress.remaining)?.min(all), all);
            match step {
                StepResult::Done => return Ok(()),
                StepResult::More => {}
                // A lock of a moment.
                _ => sleep(PAUSE),
            }
        }
    }
}
