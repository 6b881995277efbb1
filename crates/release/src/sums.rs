//! Checksums of all that is released, as `sha256sum --check` reads them.

use crate::{Result, ran, written};
use std::path::{Path, PathBuf};
use std::process::Command;

const SUMS: &str = "SHA256SUMS";

/// All files below a folder, in the order of their names.
fn files(of: &Path) -> Result<Vec<PathBuf>> {
    let unread = |error: std::io::Error| format!("cannot read {}: {error}", of.display());
    let mut found = Vec::new();
    for entry in std::fs::read_dir(of).map_err(unread)? {
        let path = entry.map_err(unread)?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Writes them; which files there are is answered.
pub(crate) fn write(to: &Path) -> Result<Vec<String>> {
    let mut names: Vec<String> =
        files(to)?.iter().map(|path| path.strip_prefix(to).unwrap_or(path).display().to_string()).collect();
    let sums = ran(Command::new("sha256sum").current_dir(to).arg("--").args(&names))?;
    written(&to.join(SUMS), sums)?;
    names.push(SUMS.to_owned());
    Ok(names)
}
