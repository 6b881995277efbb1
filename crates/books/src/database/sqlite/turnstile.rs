//! Who writes next, among the processes of one file.
//!
//! The engine lets whoever asks first after a commit write, and whoever waits asks ten times a second. A lane that has
//! always something to do would keep a command of the operator out for ever. So each writer goes through one turnstile
//! before it begins, and holds it until it has begun: who has just written stands behind who waits.
//!
//! The turnstile is a courtesy, and nothing rests on it: where it cannot be had, the engine's own locks decide. Somebody
//! who holds it and does not move is waited for once, and not again until it was free.

use super::claim;
use sqlite_kit::beside;
use std::fs::File;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long anybody is waited for: somewhat longer than whoever waits for the engine needs to ask again.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(1);

#[derive(Debug)]
pub(super) struct Turnstile {
    file: Option<File>,
    /// Whether it was held too long when it was last asked for.
    is_stuck: bool,
}

/// Held until it is dropped.
#[derive(Debug)]
pub(super) struct Through<'t>(Option<&'t File>);

impl Drop for Through<'_> {
    fn drop(&mut self) {
        if let Some(file) = self.0 {
            let _given_up_with_the_process = file.unlock();
        }
    }
}

impl Turnstile {
    pub(super) fn of(database: &Path) -> Self {
        Self { file: claim::own().open(beside(database, "-next")).ok(), is_stuck: false }
    }

    pub(super) fn pass(&mut self) -> Through<'_> {
        let Some(file) = &self.file else { return Through(None) };
        let patience = if self.is_stuck { Duration::ZERO } else { PATIENCE };
        let came = Instant::now();
        loop {
            if file.try_lock().is_ok() {
                self.is_stuck = false;
                return Through(Some(file));
            }
            if came.elapsed() >= patience {
                self.is_stuck = true;
                return Through(None);
            }
            sleep(PAUSE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_does_not_move_is_waited_for_once() {
        let path = std::env::temp_dir().join(format!("duet-turnstile-{}.db", std::process::id()));
        let (mut one, mut other) = (Turnstile::of(&path), Turnstile::of(&path));
        let held = one.pass();
        assert!(other.pass().0.is_none() && other.is_stuck);
        assert!(other.pass().0.is_none());
        drop(held);
        assert!(other.pass().0.is_some() && !other.is_stuck);
        // Where there is no place for it, everybody goes through.
        assert!(Turnstile::of(Path::new("/nowhere/at/all.db")).pass().0.is_none());
        std::fs::remove_file(beside(&path, "-next")).unwrap();
    }
}
