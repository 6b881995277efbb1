//! When the books were last copied, and last proved: kept in the folder of their data, for who watches over them.

use crate::private;
use ledger_core::clock::{Clock, Instant};
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::Path;

const BACKUP: &str = "last-backup.json";
const VERIFY: &str = "last-verify.json";

/// When, and what it came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    pub(crate) at: Instant,
    pub(crate) ok: bool,
}

/// Notes that a copy was made just now.
pub(crate) fn copied(data: &Path) {
    keep(data, BACKUP, true);
}

/// Notes what the proof of all books came to just now.
pub(crate) fn proved(data: &Path, ok: bool) {
    keep(data, VERIFY, ok);
}

pub(crate) fn last_backup(data: &Path) -> Option<Stamp> {
    read(data, BACKUP)
}

pub(crate) fn last_verify(data: &Path) -> Option<Stamp> {
    read(data, VERIFY)
}

fn read(data: &Path, name: &str) -> Option<Stamp> {
    serde_json::from_str(&std::fs::read_to_string(data.join(name)).ok()?).ok()
}

/// What was done is done, whether it can be noted or not.
fn keep(data: &Path, name: &str, ok: bool) {
    if !data.is_dir() {
        return;
    }
    let (place, draft) = (data.join(name), data.join(format!(".{name}.new")));
    let stamp = Stamp { at: Clock::system().now(), ok };
    let text = serde_json::json!(stamp).to_string();
    let kept = private::create(&draft).and_then(|mut file| {
        private::leave_to_owner(&file, data)?;
        file.write_all(text.as_bytes())
    });
    if let Err(error) = kept.and_then(|()| std::fs::rename(&draft, &place)) {
        crate::console::warn(&format!("cannot write {}: {error}", place.display()));
    }
}
