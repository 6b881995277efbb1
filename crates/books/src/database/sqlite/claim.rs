//! Who serves a file. There is one at a time, and the next one is told which.
//!
//! The books would bear two: each batch compares what it remembers with what the file says. But each would hold back
//! requests on its own, remember answers on its own and keep a usage of its own, which nobody wants and nobody tests. What
//! only writes a little, beside the one that serves, takes its turn by the engine's own locks.

use crate::clock::Clock;
use sea_orm::DbErr;
use sqlite_kit::beside;
use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::timeout;

/// Held as long as the file is served. The kernel gives it up when the process ends, however that is.
#[derive(Debug)]
pub(super) struct Claim(#[allow(dead_code, reason = "it is held, not read")] File);

impl Claim {
    pub(super) fn on(path: &Path) -> Result<Self, DbErr> {
        let place = beside(path, "-server");
        let failed = |error: std::io::Error| DbErr::Custom(format!("cannot lock {}: {error}", place.display()));
        let mut file = own().open(&place).map_err(failed)?;
        // One that was left by somebody with other habits.
        file.set_permissions(Permissions::from_mode(0o600)).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut who = String::new();
                file.read_to_string(&mut who).map_err(failed)?;
                let who = if who.is_empty() { "one that has just started" } else { who.trim_end() };
                let path = path.display();
                return Err(DbErr::Custom(format!("{path} is served by another duet: {who}; end that one first")));
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        let who = format!("process {}, since {}\n", std::process::id(), Clock::system().now());
        file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(who.as_bytes())).map_err(failed)?;
        // A disk that confirms nothing is found here, where it is only this file that cannot be served: the first commit
        // that is not confirmed would end the process, with all that it serves.
        file.sync_all().map_err(|error| {
            let place = place.display();
            DbErr::Custom(format!("the disk does not confirm what is written beside the database, {place}: {error}"))
        })?;
        Ok(Self(file))
    }
}

/// Waits until nobody serves a file, so long; whether nobody does, is answered.
pub(super) async fn let_go(path: &Path, patience: Duration) -> Result<bool, DbErr> {
    let place = beside(path, "-server");
    let failed = |error: std::io::Error| DbErr::Custom(format!("cannot lock {}: {error}", place.display()));
    let file = match File::open(&place) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(failed(error)),
    };
    let (tell, told) = oneshot::channel();
    // On a thread that nobody waits for: the lock may never come.
    let waiting = supervise::thread("what waits for a file", move || {
        let locked = file.lock();
        // Given up before it is told: whoever hears that nobody serves it may claim it at once.
        drop(file);
        let _nobody_waits = tell.send(locked);
    });
    drop(waiting.map_err(failed)?);
    match timeout(patience, told).await {
        Ok(Ok(locked)) => locked.map(|()| true).map_err(failed),
        Ok(Err(_)) | Err(_) => Ok(false),
    }
}

/// Held as long as a copy is made of a file; the kernel gives it up when the process ends.
#[derive(Debug)]
pub struct Copied {
    _held: File,
    place: PathBuf,
}

/// Says that a copy is made of a file. Several may be.
pub fn copies(path: &Path) -> Result<Copied, DbErr> {
    let place = beside(path, "-copying");
    let held = own().open(&place).and_then(|file| file.lock_shared().map(|()| file));
    let failed = |error: std::io::Error| DbErr::Custom(format!("cannot lock {}: {error}", place.display()));
    Ok(Copied { _held: held.map_err(failed)?, place })
}

impl Drop for Copied {
    fn drop(&mut self) {
        // Who copies may be somebody else than who serves, and leaves nothing that is in their way.
        let _gone = std::fs::remove_file(&self.place);
    }
}

/// Whether a copy is made of a file just now.
pub(super) fn is_copied(path: &Path) -> bool {
    let found = own().create(false).open(beside(path, "-copying"));
    found.is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

/// Which file there is at a place: its device, and its number there.
pub(super) type Which = (u64, u64);

pub(super) fn which(path: &Path) -> Option<Which> {
    std::fs::metadata(path).ok().map(|about| (about.dev(), about.ino()))
}

/// Files that were left by somebody with other habits are the owner's alone, as all others are: whoever can read one can
/// hold it.
pub(super) fn narrow(path: &Path) -> Result<(), DbErr> {
    for place in ["-turn", "-next"].map(|name| beside(path, name)) {
        let found = own().create(false).open(&place);
        match found.and_then(|file| file.set_permissions(Permissions::from_mode(0o600))) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(DbErr::Custom(format!("cannot narrow {}: {error}", place.display())));
            }
            _ => {}
        }
    }
    Ok(())
}

/// How what stands beside the database is opened: it is the owner's alone. A link there would be somebody else's, who has us
/// write, and narrow, what we may and they may not.
pub(super) fn own() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    options.custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
    options
}

/// A turn at what one process does after the other with a file. It is given up when this is dropped, or the process ends.
pub(super) async fn turn(path: &Path) -> Result<File, DbErr> {
    let place = beside(path, "-turn");
    let waited = tokio::task::spawn_blocking(move || {
        let file = own().open(&place);
        let file = file.and_then(|file| file.lock().map(|()| file));
        file.map_err(|error| DbErr::Custom(format!("cannot lock {}: {error}", place.display())))
    });
    waited.await.map_err(|error| DbErr::Custom(format!("nobody waited for a turn: {error}")))?
}

#[cfg(test)]
mod tests {
    use super::super::turnstile::Turnstile;
    use super::*;

    #[tokio::test]
    async fn what_stands_beside_a_database_is_no_way_to_another_file() {
        let folder = std::env::temp_dir().join(format!("duet-links-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let (path, other) = (folder.join("books.db"), folder.join("other"));
        std::fs::write(&other, "not ours").unwrap();
        std::fs::set_permissions(&other, Permissions::from_mode(0o644)).unwrap();
        for name in ["-server", "-turn", "-next"] {
            std::os::unix::fs::symlink(&other, beside(&path, name)).unwrap();
        }
        assert!(Claim::on(&path).unwrap_err().to_string().contains("books.db-server"));
        assert!(turn(&path).await.is_err() && narrow(&path).is_err());
        // Nothing rests on the turnstile.
        drop(Turnstile::of(&path).pass());
        assert_eq!(std::fs::read_to_string(&other).unwrap(), "not ours");
        assert_eq!(std::fs::metadata(&other).unwrap().permissions().mode() & 0o777, 0o644);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
