//! What the program keeps is its owner's alone, whatever the umask and the folder.

use crate::console::warn;
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// From now on nothing that this process makes is anybody else's, by whichever library it is made.
pub(crate) fn be_private() {
    let _before = rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
}

pub(crate) fn make_folder(folder: &Path) -> Result<(), String> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|error| format!("cannot make the folder {}: {error}", folder.display()))
}

/// A file that must not be there yet.
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// A file, in place of one that is there.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    narrow(path)?;
    Ok(file)
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
    for name in ["token-secret", "master-key", "tenant.json"] {
        let path = data.join(name);
        match narrow(&path) {
            Ok(true) => warn(&format!("{} was readable by others; its permissions are 0600 now", path.display())),
            Ok(false) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            // Somebody else's, who may have meant it so.
            Err(error) => {
                warn(&format!("{} is readable by others, and that cannot be changed: {error}", path.display()));
            }
        }
    }
}
