//! What a copy is known by.

use crate::private;
use ledger_core::clock::Instant;
use ledger_core::ledger::Standing;
use ring::digest::{Context, SHA256};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::Path;

pub(super) const NAME: &str = "manifest.json";
/// How copies are laid out; what is laid out otherwise is of a newer release.
const FORMAT: u32 = 1;
/// So much is read at once.
const PORTION: usize = 1 << 20;

/// What keeps the books.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Engine {
    Sqlite,
    Postgres,
}

impl Engine {
    pub(super) fn of(url: &str) -> Self {
        if ledger_core::database::file_of(url).is_some() { Self::Sqlite } else { Self::Postgres }
    }

    /// The file of a copy.
    pub(super) const fn file(self) -> &'static str {
        match self {
            Self::Sqlite => "books.db",
            Self::Postgres => "books.dump",
        }
    }

    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
        }
    }
}

/// A file of a copy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) bytes: u64,
    pub(super) sha256: String,
}

/// The copy of one set of books.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Manifest {
    /// The release that made it.
    pub(super) duet: String,
    pub(super) made: Instant,
    pub(super) engine: Engine,
    /// The steps of the schema, in their order.
    pub(super) schema: Vec<String>,
    /// What the master key of the books is known by.
    pub(super) key: String,
    pub(super) file: Part,
    /// Where the books stand; nothing of a schema that this release does not serve.
    pub(super) books: Option<Standing>,
}

/// The copies of all tenants, by their hosts, with what each one's own manifest comes to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tenants {
    pub(super) made: Instant,
    pub(super) tenants: Vec<Part>,
}

/// As it is written: what it says, and the checksum over that.
#[derive(Serialize, Deserialize)]
struct Written {
    format: u32,
    content: serde_json::Value,
    sha256: String,
}

fn hex(context: Context) -> String {
    context.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn sha256(text: &str) -> String {
    let mut context = Context::new(&SHA256);
    context.update(text.as_bytes());
    hex(context)
}

/// What a file comes to, and how long it is. What is read is told, and taken along.
pub(super) fn sum(path: &Path, mut taken: impl FnMut(&[u8]) -> std::io::Result<()>) -> Result<(u64, String), String> {
    let failed = |error: std::io::Error| format!("cannot read {}: {error}", path.display());
    let mut file = File::open(path).map_err(failed)?;
    let (mut context, mut bytes, mut portion) = (Context::new(&SHA256), 0, vec![0; PORTION]);
    loop {
        let read = file.read(&mut portion).map_err(failed)?;
        if read == 0 {
            return Ok((bytes, hex(context)));
        }
        context.update(&portion[..read]);
        taken(&portion[..read]).map_err(|error| format!("cannot copy {}: {error}", path.display()))?;
        bytes += read as u64;
    }
}

/// Writes a manifest, for good: all of it or nothing.
pub(super) fn write(folder: &Path, content: &impl Serialize) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("cannot write the manifest in {}: {error}", folder.display());
    let content = serde_json::to_value(content).map_err(|error| failed(error.into()))?;
    let sha256 = sha256(&content.to_string());
    let written = Written { format: FORMAT, content, sha256 };
    let text = serde_json::to_string_pretty(&written).map_err(|error| failed(error.into()))?;
    let (draft, place) = (folder.join("manifest.json.part"), folder.join(NAME));
    let kept =
        private::create(&draft).and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()));
    kept.and_then(|()| std::fs::rename(&draft, &place)).and_then(|()| private::sync_folder(&place)).map_err(failed)
}

/// Reads a manifest. What is none, or is not as it was written, is an error in words.
pub(super) fn read<T: DeserializeOwned>(folder: &Path) -> Result<T, String> {
    let place = folder.join(NAME);
    let shown = folder.display();
    let text = std::fs::read_to_string(&place).map_err(|error| match error.kind() {
        ErrorKind::NotFound => format!(
            "{shown} is no copy of books: it has no {NAME}, which is written last; where it was cut off, make it again"
        ),
        _ => format!("cannot read {}: {error}", place.display()),
    })?;
    let damaged = || format!("{} is damaged: it is not what was written; take another copy", place.display());
    let written: Written = serde_json::from_str(&text).map_err(|_| damaged())?;
    if written.format > FORMAT {
        return Err(format!("{shown} was made by a newer duet, which is needed to restore it"));
    }
    if sha256(&written.content.to_string()) != written.sha256 {
        return Err(damaged());
    }
    serde_json::from_value(written.content).map_err(|error| {
        format!("{shown} holds something else than was asked for ({error}); of all tenants name one with --tenant HOST")
    })
}
