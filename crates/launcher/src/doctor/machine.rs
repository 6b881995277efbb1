//! What is looked at of the machine: room, kinds of disks, who may read, files that may be open, the certificate.

use super::Finding;
use crate::config::Settings;
use crate::tls::{Certificate, Files};
use ledger_core::clock::Clock;
use ledger_core::database::file_of;
use rustix::process::{Resource, getrlimit};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

const MEBIBYTE: u64 = 1 << 20;
/// With less than this writes may be refused at any moment.
const NEARLY_FULL: u64 = 512 * MEBIBYTE;
/// With less than this somebody should look.
const LITTLE: u64 = 2 * 1024 * MEBIBYTE;
/// A certificate is renewed before it has so many days left.
const DAYS_LEFT: i64 = 14;
const DAY: i64 = 24 * 60 * 60;
/// File handles beside connections.
const OTHER_HANDLES: u64 = 512;

pub(super) fn found(settings: &Settings) -> Vec<Finding> {
    let mut found = vec![room(settings), handles(settings)];
    found.extend(disk_kind(&settings.data));
    found.extend(folder(&settings.data));
    found.extend(certificate(settings));
    found
}

fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes / MEBIBYTE)
}

/// Room for what is written, and for a copy of the books.
fn room(settings: &Settings) -> Finding {
    let (data, size) = (&settings.data, of_database(settings));
    let shown = data.display();
    let Ok(room) = rustix::fs::statvfs(data) else {
        return Finding::critical(
            "disk",
            format!("{shown} cannot be looked at"),
            "see whether the folder is there (--data)",
        );
    };
    let free = room.f_bavail.saturating_mul(room.f_frsize);
    let (left, todo) = (mebibytes(free), "make room, or give the folder a larger disk");
    if free < NEARLY_FULL {
        return Finding::critical("disk", format!("{left} are free at {shown}: a full disk refuses every write"), todo);
    }
    if free < LITTLE || free < size {
        return Finding::warning(
            "disk",
            format!("{left} are free at {shown}, and the books take {}", mebibytes(size)),
            todo,
        );
    }
    Finding::good("disk", format!("{left} are free at {shown}"))
}

fn of_database(settings: &Settings) -> u64 {
    let file = file_of(settings.database.expose());
    file.and_then(|file| std::fs::metadata(file).ok()).map_or(0, |about| about.len())
}

/// Disks that others share, on which neither locks nor what was written can be relied on.
fn disk_kind(data: &Path) -> Option<Finding> {
    const SHARED: [(i64, &str); 4] =
        [(0x6969, "NFS"), (0xff53_4d42, "CIFS"), (0xfe53_4d42, "SMB"), (0x6573_5546, "FUSE")];
    let about = rustix::fs::statfs(data).ok()?;
    let kind = about.f_type;
    let (_, name) = SHARED.into_iter().find(|(known, _)| *known == kind)?;
    let found = format!("{} is on {name}, on which nothing is promised", data.display());
    Some(Finding::warning("disk", found, "keep SQLite's file on a disk of this machine, or use PostgreSQL"))
}

fn handles(settings: &Settings) -> Finding {
    let wanted = settings.max_connections as u64 + OTHER_HANDLES;
    match getrlimit(Resource::Nofile).maximum {
        Some(most) if most < wanted => Finding::warning(
            "files",
            format!("a process may have {most} files open, and Limits:MaxConnections asks for {wanted}"),
            "raise LimitNOFILE of the unit (ulimit -Hn), or lower that setting",
        ),
        _ => Finding::good("files", format!("a process may have {wanted} files open and more")),
    }
}

/// Who else may come near.
fn folder(data: &Path) -> Vec<Finding> {
    let Ok(about) = std::fs::metadata(data) else { return Vec::new() };
    let mut found = Vec::new();
    if about.permissions().mode() & 0o022 != 0 {
        let shown = data.display();
        found.push(Finding::critical(
            "permissions",
            format!("others may write into {shown}, and put files there in place of the books"),
            format!("chmod go-w {shown}"),
        ));
    }
    let strange = ["duet.db", "token-secret", "master-key"].map(|name| data.join(name));
    for file in strange {
        let Ok(own) = std::fs::metadata(&file) else { continue };
        let (shown, mode) = (file.display(), own.permissions().mode() & 0o777);
        if own.uid() != about.uid() {
            let found_of = format!("{shown} is another user's than its folder: the server may not reach it");
            found.push(Finding::warning(
                "permissions",
                found_of,
                format!("chown --reference={} {shown}", data.display()),
            ));
        }
        if mode & 0o077 != 0 {
            let found_of = format!("{shown} is open to others (mode {mode:o})");
            found.push(Finding::critical("permissions", found_of, format!("chmod 600 {shown}")));
        }
    }
    if found.is_empty() {
        found.push(Finding::good("permissions", format!("{} is its owner's alone", data.display())));
    }
    found
}

fn certificate(settings: &Settings) -> Option<Finding> {
    let files = Files::of(settings)?;
    let left = Certificate::read(files.clone()).and_then(|_| files.last_day());
    let renew = "renew it; a running server takes the new file by itself";
    Some(match left {
        Err(why) => {
            Finding::critical("certificate", why, "give Server:Tls:Certificate and :Key files that belong together")
        }
        Ok(until) => {
            let days = (until.seconds() - Clock::system().now().seconds()).div_euclid(DAY);
            match days {
                ..0 => Finding::critical("certificate", format!("it is no good since {until}"), renew),
                0..DAYS_LEFT => Finding::warning("certificate", format!("it has {days} days left"), renew),
                _ => Finding::good("certificate", format!("it has {days} days left")),
            }
        }
    })
}
