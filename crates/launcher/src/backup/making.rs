//! A copy is made.

use super::manifest::{self, Engine, Manifest, Part, Tenants};
use super::{Making, postgres, stamp};
use crate::admin::{self, Memory, explain};
use crate::config::{Secret, Settings};
use crate::{bar, private, tenants, verify};
use catalogue::Tenant;
use ledger_core::clock::Clock;
use ledger_core::database::{self, Purpose};
use ledger_core::fault::said;
use ledger_core::keys::Keys;
use ledger_core::ledger::{Ledger, Standing};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A folder in which a copy comes to be; what an earlier one left there was cut off. It is held as long as this is.
struct Draft {
    folder: PathBuf,
    to: PathBuf,
    _held: File,
}

/// What is locked while a copy is made.
const LOCK: &str = ".making";

impl Draft {
    fn begin(to: &Path) -> Result<Self, String> {
        if to.exists() {
            return Err(format!("{} is there already; a copy is made in a folder of its own", to.display()));
        }
        let mut folder = to.as_os_str().to_owned();
        folder.push(".part");
        let folder = PathBuf::from(folder);
        private::make_folder(&folder)?;
        let failed = |error: std::io::Error| format!("cannot write into {}: {error}", folder.display());
        let held = private::create(&folder.join(LOCK)).map_err(failed)?;
        held.try_lock().map_err(|_| format!("another copy is being made in {}", folder.display()))?;
        for entry in std::fs::read_dir(&folder).map_err(failed)?.flatten() {
            let path = entry.path();
            let gone = match path.is_dir() {
                _ if path.ends_with(LOCK) => Ok(()),
                true => std::fs::remove_dir_all(&path),
                false => std::fs::remove_file(&path),
            };
            gone.map_err(failed)?;
        }
        Ok(Self { folder, to: to.to_owned(), _held: held })
    }

    /// All of it is on the disk: it takes its place.
    fn finish(self) -> Result<(), String> {
        let done = std::fs::remove_file(self.folder.join(LOCK))
            .and_then(|()| File::open(&self.folder)?.sync_all())
            .and_then(|()| std::fs::rename(&self.folder, &self.to))
            .and_then(|()| private::sync_folder(&self.to.canonicalize()?));
        done.map_err(|error| format!("cannot move {} to {}: {error}", self.folder.display(), self.to.display()))
    }
}

/// Copies the books of an installation, or of one tenant.
pub(super) async fn of_one(settings: &Settings, asked: &Making, hidden: Option<&str>) -> Result<String, String> {
    admin::must_be_there(settings.database.expose())?;
    let draft = Draft::begin(&asked.to)?;
    let made = made(settings, &draft.folder, asked.verify).await?;
    keep_hidden(&draft.folder, hidden)?;
    draft.finish()?;
    stamped(settings, asked);
    Ok(format!("{}\nthe copy is {}; keep the master key apart from it", told(&made), asked.to.display()))
}

/// Copies the books of all tenants, one after the other. Each is of a moment of its own.
pub(super) async fn of_all(settings: &Settings, asked: &Making) -> Result<String, String> {
    let draft = Draft::begin(&asked.to)?;
    let (mut parts, mut lines) = (Vec::new(), Vec::new());
    let known = tenants::Known::open(settings).await?;
    let mut missing = Vec::new();
    for Tenant { host, .. } in known.list().await? {
        // One that cannot be copied keeps no other from it.
        match of_tenant(settings, &known, (&host, &draft.folder), asked).await {
            Ok(Some((line, part))) => {
                lines.push(line);
                parts.push(part);
            }
            // One that was taken out meanwhile is no tenant any more.
            Ok(None) => {}
            Err(why) => {
                let _nothing_there = std::fs::remove_dir_all(draft.folder.join(&host));
                missing.push(format!("{host}: {why}"));
            }
        }
    }
    known.close().await;
    if parts.is_empty() && missing.is_empty() {
        return Err("there are no tenants; add one with duet tenant add".into());
    }
    manifest::write(&draft.folder, &Tenants { made: Clock::system().now(), tenants: parts })?;
    draft.finish()?;
    stamped(settings, asked);
    lines.push(format!("the copy is {}; keep the master keys apart from it", asked.to.display()));
    if missing.is_empty() {
        return Ok(lines.join("\n"));
    }
    Err(format!("{}\nnot in the copy:\n  {}", lines.join("\n"), missing.join("\n  ")))
}

/// Copies the books of one of all tenants; nothing where it is none any more.
async fn of_tenant(
    settings: &Settings,
    known: &tenants::Known,
    (host, into): (&str, &Path),
    asked: &Making,
) -> Result<Option<(String, Part)>, String> {
    let Some(own) = known.settings_of(settings, host).await? else { return Ok(None) };
    let folder = into.join(host);
    private::make_folder(&folder)?;
    let made = made(&own, &folder, asked.verify).await?;
    keep_hidden(&folder, known.hidden_keys(host, &own).await?.as_deref())?;
    private::sync_folder(&folder).map_err(|error| format!("cannot write {}: {error}", folder.display()))?;
    let (bytes, sha256) = manifest::sum(&folder.join(manifest::NAME), |_| Ok(()))?;
    stamped(&own, asked);
    Ok(Some((format!("{host}: {}", told(&made)), Part { name: host.to_owned(), bytes, sha256 })))
}

/// Keeps the keys of a tenant beside its copy, hidden as they are in the catalogue.
fn keep_hidden(folder: &Path, hidden: Option<&str>) -> Result<(), String> {
    let Some(hidden) = hidden else { return Ok(()) };
    let place = folder.join(tenants::HIDDEN);
    private::replace(&place, hidden.as_bytes()).map_err(|error| format!("cannot write {}: {error}", place.display()))
}

/// Notes that a copy was made, and that its books were proved where that was asked for.
fn stamped(settings: &Settings, asked: &Making) {
    stamp::copied(&settings.data);
    if asked.verify {
        stamp::proved(&settings.data, true);
    }
}

fn told(made: &Manifest) -> String {
    let size = format!("{} bytes of {}", made.file.bytes, made.engine.word());
    match &made.books {
        Some(Standing { companies, .. }) => {
            let entries: i64 = companies.iter().map(|company| company.entries).sum();
            format!("copied {size}: {} companies, {entries} entries", companies.len())
        }
        None => format!("copied {size}, of a schema before this release's; its digests are not known"),
    }
}

/// Makes the copy of one set of books in a folder.
async fn made(settings: &Settings, folder: &Path, prove: bool) -> Result<Manifest, String> {
    let ledger = admin::open(settings, Memory::alone(settings), Purpose::Reading).await?;
    let copied = copied(settings, &ledger, folder).await;
    ledger.close().await;
    let (schema, books) = copied?;
    let engine = Engine::of(settings.database.expose());
    let path = folder.join(engine.file());
    if prove {
        proved(settings, &path).await?;
    }
    let on_disk = File::open(&path).and_then(|file| file.sync_all());
    on_disk.map_err(|error| format!("the disk does not confirm {}: {error}", path.display()))?;
    let (bytes, sha256) = manifest::sum(&path, |_| Ok(()))?;
    let key = crate::backup::key_of(settings)?.ok_or("there is no master key beside the books")?;
    let made = Manifest {
        duet: env!("CARGO_PKG_VERSION").into(),
        made: Clock::system().now(),
        engine,
        schema,
        key: Keys::of(&key).sealed_check().map_err(|error| explain(&error))?,
        file: Part { name: engine.file().into(), bytes, sha256 },
        books,
    };
    manifest::write(folder, &made)?;
    Ok(made)
}

/// Copies what the engine keeps. The schema and where the books stand in the copy are answered.
async fn copied(
    settings: &Settings,
    ledger: &Arc<Ledger>,
    folder: &Path,
) -> Result<(Vec<String>, Option<Standing>), String> {
    // Its words about a database from the future, or one that is not finished, are for whoever asked.
    let known = ledger.knows_schema().await.map_err(|error| explain(&error))?;
    ledger.check_master_key().await.map_err(|error| explain(&error))?;
    let schema = ledger.schema().await.map_err(|error| explain(&error))?;
    let url = settings.database.expose();
    let Some(file) = database::file_of(url) else {
        let path = folder.join(Engine::Postgres.file());
        let standing = postgres::dump(ledger, url, &path, known).await?;
        return Ok((schema, standing));
    };
    let path = folder.join(Engine::Sqlite.file());
    room_for(&file, folder)?;
    let percent = Arc::new(AtomicUsize::new(0));
    let shown = percent.clone();
    let bar = bar::show(move || shown.load(Ordering::Relaxed));
    let mut tell = |done: u64, all: u64| {
        let hundredths = usize::try_from(done * 100 / all.max(1));
        percent.store(hundredths.unwrap_or(100), Ordering::Relaxed);
    };
    let copied = database::copy(&file, &path, &mut tell).await;
    drop(bar);
    copied.map_err(|error| said(&error))?;
    if !known {
        return Ok((schema, None));
    }
    let copy = opened(settings, &path).await?;
    let stands = async { copy.stands(copy.moment().await?).await };
    let stands = stands.await;
    copy.close().await;
    Ok((schema, Some(stands.map_err(|error| explain(&error))?)))
}

/// The books in a copy, to be read.
async fn opened(settings: &Settings, path: &Path) -> Result<Arc<Ledger>, String> {
    let own = Settings { database: Secret::of(format!("sqlite:{}", path.display())), ..settings.clone() };
    admin::open(&own, Memory::alone(&own), Purpose::Reading).await
}

/// Proves the books of a copy.
async fn proved(settings: &Settings, path: &Path) -> Result<(), String> {
    let proof = |url: String| async move {
        let own = Settings { database: Secret::of(url), ..settings.clone() };
        let copy = admin::open(&own, Memory::alone(&own), Purpose::Reading).await?;
        let proved = verify::run(copy.clone(), verify::Asked::everything(), None).await;
        copy.close().await;
        proved.map(drop)
    };
    match Engine::of(settings.database.expose()) {
        Engine::Sqlite => proof(format!("sqlite:{}", path.display())).await,
        Engine::Postgres => postgres::prove(settings.database.expose(), path, proof).await,
    }
}

/// An error where there is no room for as much as a file takes.
pub(super) fn room_for(file: &Path, folder: &Path) -> Result<(), String> {
    let size = std::fs::metadata(file).map_err(|error| format!("cannot read {}: {error}", file.display()))?.len();
    let room = rustix::fs::statvfs(folder).map_err(|error| format!("cannot look at {}: {error}", folder.display()))?;
    let free = room.f_bavail.saturating_mul(room.f_frsize);
    if free > size {
        return Ok(());
    }
    Err(format!("there is no room for the copy in {}: it takes {size} bytes, and {free} are free", folder.display()))
}
