//! What the program keeps is its owner's alone, whatever the umask and the folder.

use crate::console::warn;
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// From now on nothing that this process makes is anybody else's, by whichever library it is made.
pub(crate) fn be_private() {
    let _before = rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
}

pub(crate) fn make_folder(folder: &Path) -> Result<(), String> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|error| format!("cannot make the folder {}: {error}", folder.display()))
}

/// A folder that was made for something which is not there yet: it goes where nothing came into it.
pub(crate) struct Awaiting(Option<PathBuf>);

impl Awaiting {
    pub(crate) fn make(folder: &Path) -> Result<Self, String> {
        let was_there = folder.exists();
        make_folder(folder)?;
        Ok(Self((!was_there).then(|| folder.to_owned())))
    }
}

impl Drop for Awaiting {
    fn drop(&mut self) {
        // Only a folder in which there is nothing can be removed so.
        let _kept = self.0.as_ref().map(std::fs::remove_dir);
    }
}

/// As many bytes as a secret has at least.
pub(crate) const LEAST: usize = 32;

/// A secret that is kept in a file; nothing where there is none. There is no other way to read one.
pub(crate) fn secret(path: &Path) -> Result<Option<Vec<u8>>, String> {
    match std::fs::read(path) {
        Ok(secret) if secret.len() >= LEAST => Ok(Some(secret)),
        // A new one opens no books that were made under the old one.
        Ok(_) => Err(format!(
            "{} is too short, so it is not whole: put back the copy of it that you kept. Where there are no books yet, remove it to \
             have a new one made",
            path.display()
        )),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("cannot read the secret in {}: {error}", path.display())),
    }
}

/// Keeps a secret in a file that is not there yet, all of it or nothing, and for good. The one that counts is answered:
/// another process may have been quicker.
pub(crate) fn keep_secret(path: &Path, secret: &[u8]) -> Result<Vec<u8>, String> {
    let kept = || -> io::Result<()> {
        let name = format!(".{}-{}", std::process::id(), ledger_core::ids::request_id());
        let mut beside = path.as_os_str().to_owned();
        beside.push(name);
        let beside = Path::new(&beside);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(beside)?;
        let written = file.write_all(secret).and_then(|()| file.sync_all());
        // No name but its own is ever that of a file that is not whole.
        let linked = written.and_then(|()| std::fs::hard_link(beside, path));
        std::fs::remove_file(beside)?;
        match linked {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => sync_folder(path),
        }
    };
    kept().map_err(|error| format!("cannot keep a secret in {}: {error}", path.display()))?;
    self::secret(path)?.ok_or_else(|| format!("{} is gone as soon as it was made", path.display()))
}

/// What was made, moved or removed in the folder of a file is so for good.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

/// A file, in place of one that is there.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    narrow(path)?;
    Ok(file)
}

/// A file that is written on from its end.
pub(crate) fn append(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path)?;
    narrow(path)?;
    Ok(file)
}

/// A file that is there whole, as it was or as it is to be, whenever the machine stops.
pub(crate) fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    // Two who write at once would share the file beside it: one would put the other's half in its place.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let beside = path.with_extension("new");
    let mut file = create(&beside)?;
    file.write_all(text)?;
    file.sync_all()?;
    std::fs::rename(&beside, path)?;
    sync_folder(path)
}

/// What an administrator makes in the server's own folder is the server's, which could not read it otherwise.
pub(crate) fn leave_to_owner(file: &File, folder: &Path) -> io::Result<()> {
    let (own, owner) = (file.metadata()?, std::fs::metadata(folder)?);
    if own.uid() == owner.uid() {
        return Ok(());
    }
    fchown(file, Some(owner.uid()), Some(owner.gid()))
}

/// Takes from others what they could do with a file that is there. Whether they could do anything is answered.
fn narrow(path: &Path) -> io::Result<bool> {
    let about = std::fs::metadata(path)?;
    let mode = about.permissions().mode();
    let others = mode & 0o077;
    if !about.is_file() || others == 0 {
        return Ok(false);
    }
    std::fs::set_permissions(path, Permissions::from_mode(mode & 0o600))?;
    Ok(true)
}

/// Narrows the secrets that earlier versions, other programs or people left open. The files of a database are narrowed where
/// it is opened.
pub(crate) fn narrow_secrets(data: &Path) {
    for name in ["token-secret", "master-key", "tenant.json", "first-password"] {
        let path = data.join(name);
        match narrow(&path) {
            Ok(true) => warn(&format!("{} was readable by others; its permissions are 0600 now", path.display())),
            Ok(false) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            // Somebody else's, who may have meant it so.
            Err(error) => {
                warn(&format!("{} cannot be kept from others: {error}", path.display()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_reads_finds_what_somebody_wrote_whole() {
        let folder = std::env::temp_dir().join(format!("duet-private-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("kept");
        replace(&path, b"0").unwrap();
        std::thread::scope(|scope| {
            for letter in [b'a', b'b'] {
                let path = &path;
                scope.spawn(move || (0..100).for_each(|_| replace(path, &[letter; 4096]).unwrap()));
            }
            for _ in 0..2_000 {
                let text = std::fs::read(&path).unwrap();
                assert!(text == b"0" || text.len() == 4096 && text.iter().all(|one| *one == text[0]), "{}", text.len());
            }
        });
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
