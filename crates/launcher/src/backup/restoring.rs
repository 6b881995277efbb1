//! A copy is brought back.
//!
//! All that can be wrong is looked for first; then the books are written beside their place, opened, held against what the
//! copy is known by, and moved there. PostgreSQL is given all of them in one transaction.

use super::manifest::{self, Engine, Manifest, Tenants};
use super::{Restoring, key_of, making, postgres};
use crate::admin::{self, Memory, explain};
use crate::bar;
use crate::config::{Secret, Settings};
use crate::console::warn;
use crate::private::Awaiting;
use crate::{private, tenants, verify};
use ledger_core::database::{self, Purpose, let_go};
use ledger_core::fault::said;
use ledger_core::keys::Keys;
use ledger_core::ledger::known_schema;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Whoever serves the books is not waited for.
const AT_ONCE: Duration = Duration::from_millis(100);

/// A copy that can be brought to its place: all that can be known before was looked at.
struct Ready {
    settings: Settings,
    manifest: Manifest,
    from: PathBuf,
    /// The master key, where it is to be kept beside the books.
    key: Option<Vec<u8>>,
    is_older: bool,
}

/// Brings the books of an installation back.
pub(super) async fn of_one(settings: &Settings, asked: &Restoring) -> Result<String, String> {
    let _awaiting = Awaiting::make(&settings.data)?;
    let ready = ready(settings, &asked.from, asked.key.as_deref(), (asked, false)).await?;
    brought_back(&ready, asked).await
}

/// Brings back all tenants of a copy, or one of them. Nothing is written before all of them were looked at.
pub(super) async fn of_tenants(settings: &Settings, asked: &Restoring, only: Option<&str>) -> Result<String, String> {
    let copies: Vec<(String, PathBuf)> = match manifest::read::<Tenants>(&asked.from) {
        Ok(all) => all.tenants.into_iter().map(|one| checked_part(&asked.from, one)).collect::<Result<_, _>>()?,
        // The copy of one tenant, by itself.
        Err(why) => match only {
            Some(host) if manifest::read::<Manifest>(&asked.from).is_ok() => {
                vec![(host.to_owned(), asked.from.clone())]
            }
            _ => return Err(why),
        },
    };
    let copies: Vec<_> = copies.into_iter().filter(|(host, _)| only.is_none_or(|only| only == host)).collect();
    if let (Some(host), true) = (only, copies.is_empty()) {
        return Err(format!("{} has no copy of the tenant {host}", asked.from.display()));
    }
    let (mut all, mut folders) = (Vec::new(), Vec::new());
    let known = tenants::Known::open(settings).await?;
    for (host, from) in copies {
        let mut place = known.place_of(settings, &host).await?;
        let hidden = if asked.key.is_none() { known.keys_in(&from, &host)? } else { None };
        if let Some(keys) = &hidden {
            (place.master_key, place.token_secret) = keys.of_books();
        }
        folders.push(Awaiting::make(&place.data)?);
        let key =
            asked.key.as_ref().map(|key| if key.is_dir() { key.join(&host).join("master-key") } else { key.clone() });
        let ready =
            ready(&place, &from, key.as_deref(), (asked, true)).await.map_err(|why| format!("{host}: {why}"))?;
        all.push((host, ready, hidden));
    }
    let mut lines = Vec::new();
    for (host, ready, hidden) in all {
        let told = brought_back(&ready, asked).await.map_err(|why| {
            let before = if lines.is_empty() {
                String::new()
            } else {
                format!("\nbrought back before it:\n{}", lines.join("\n"))
            };
            format!("{host}: {why}{before}")
        })?;
        known.keep(&host, hidden).await?;
        lines.push(format!("{host}: {told}"));
    }
    known.close().await;
    Ok(lines.join("\n"))
}

/// The folder of a tenant's copy, whose manifest is what was written.
fn checked_part(from: &Path, part: manifest::Part) -> Result<(String, PathBuf), String> {
    let folder = from.join(&part.name);
    let manifest = folder.join(manifest::NAME);
    let named = tenants::normal_host(&part.name).as_ref() == Some(&part.name);
    let found = if named { manifest::sum(&manifest, |_| Ok(()))? } else { (0, String::new()) };
    if found == (part.bytes, part.sha256) {
        return Ok((part.name, folder));
    }
    Err(format!("{} is damaged: it is not what was written; take another copy", manifest.display()))
}

/// Looks at all that can be wrong, without writing anything. The checksum is looked at when the copy is read, or here.
async fn ready(
    settings: &Settings,
    from: &Path,
    key: Option<&Path>,
    (asked, thoroughly): (&Restoring, bool),
) -> Result<Ready, String> {
    let manifest: Manifest = manifest::read(from)?;
    let url = settings.database.expose();
    let (own, copied) = (Engine::of(url), manifest.engine);
    if own != copied {
        return Err(format!(
            "the copy is of {copied}, and these books are to be kept by {own}: restore it into {copied}, then run duet \
             copy-database",
            copied = copied.word(),
            own = own.word()
        ));
    }
    let known = known_schema();
    let strange: Vec<&str> = manifest.schema.iter().filter(|step| !known.contains(step)).map(String::as_str).collect();
    if !strange.is_empty() {
        return Err(format!(
            "the copy was made by duet {}, whose schema is newer: this duet ({}) does not know {}; restore it with that \
             release or a later one",
            manifest.duet,
            env!("CARGO_PKG_VERSION"),
            strange.join(", ")
        ));
    }
    let key = key_for(settings, key, &manifest)?;
    match database::file_of(url) {
        Some(place) => check_free(url, &place, asked.replace).await?,
        None => postgres::check_free(url, asked.replace).await?,
    }
    let file = from.join(manifest.engine.file());
    let about = std::fs::metadata(&file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    if manifest.file.name != manifest.engine.file() || about.len() != manifest.file.bytes {
        return Err(format!(
            "{} is damaged: it has {} bytes, and {} were written; take another copy",
            file.display(),
            about.len(),
            manifest.file.bytes
        ));
    }
    let is_older = manifest.schema.len() < known.len();
    if thoroughly {
        checked(&file, &manifest, |_| Ok(()))?;
    }
    Ok(Ready { settings: settings.clone(), manifest, from: from.to_owned(), key, is_older })
}

/// That the master key of the books is there. It is answered where it is to be kept beside them.
fn key_for(settings: &Settings, given: Option<&Path>, manifest: &Manifest) -> Result<Option<Vec<u8>>, String> {
    let is_of = |key: &[u8]| Keys::of(key).knows(&manifest.key).map_err(|error| explain(&error)).map(|of| of.is_some());
    let there = key_of(settings)?;
    if let Some(there) = &there
        && is_of(there)?
    {
        return Ok(None);
    }
    let place = settings.data.join("master-key");
    let Some(path) = given else {
        return Err(match there {
            Some(_) => format!(
                "the copy is under another master key than {}: name the file of its own with --key, or restore into \
                 another place with --data",
                place.display()
            ),
            None => "the copy is under a master key that is not here: name its file with --key".into(),
        });
    };
    let key = private::secret(path)?.ok_or_else(|| format!("there is no key in {}", path.display()))?;
    if !is_of(&key)? {
        return Err(format!("the key in {} is not that of the copy", path.display()));
    }
    if settings.master_key.is_some() || private::secret(&place)?.is_some() {
        return Err(format!(
            "another master key is configured, or kept in {}: restore into another place with --data",
            place.display()
        ));
    }
    Ok(Some(key))
}

/// An error where there are books, unless they may be replaced, or where somebody serves them.
async fn check_free(url: &str, place: &Path, replace: bool) -> Result<(), String> {
    if place.exists() && !replace {
        return Err(format!(
            "there are books in {} already: restore into another place with --data, or say --replace, which keeps them \
             aside",
            place.display()
        ));
    }
    if let_go(url, AT_ONCE).await.map_err(|error| said(&error))? {
        return Ok(());
    }
    Err(format!("{} is served by another duet; end that one first", place.display()))
}

async fn brought_back(ready: &Ready, asked: &Restoring) -> Result<String, String> {
    let Ready { settings, manifest, from, key, .. } = ready;
    if let Some(key) = key {
        private::keep_secret(&settings.data.join("master-key"), key)?;
    }
    let url = settings.database.expose();
    let copy = from.join(manifest.engine.file());
    let (aside, ended) = if let Some(place) = database::file_of(url) {
        from_file(ready, asked, (&copy, &place)).await?
    } else {
        checked(&copy, manifest, |_| Ok(()))?;
        postgres::load(url, &copy, asked.replace).await?;
        let made = made_of_now(ready, settings, asked.verify).await;
        let unfinished = |why| {
            format!(
                "{why}\nthe books are in the database, and not fit to be served as they are: restore again, with --replace"
            )
        };
        (None, made.map_err(unfinished)?)
    };
    let mut lines = vec![format!("brought back the books of {}", manifest.made)];
    lines.extend(aside.map(|aside| format!("the books that were there are kept as {}", aside.display())));
    if ready.is_older {
        lines.push("their schema was that of an earlier release, and was brought up to date".into());
    }
    lines.push(format!(
        "the sessions of {ended} users were ended; passwords, keys and rights are those of then: what was taken from \
         somebody since is to be taken again"
    ));
    Ok(lines.join("\n"))
}

/// Holds books against the copy, and makes them good for now. Of how many users sessions were ended is answered.
async fn made_of_now(ready: &Ready, settings: &Settings, prove: bool) -> Result<u64, String> {
    if ready.is_older {
        brought_up_to_date(settings).await?;
    }
    held_against(settings, &ready.manifest, prove).await?;
    sessions_ended(settings).await
}

/// Nothing of books can be read, held or ended before their schema is what this program knows.
async fn brought_up_to_date(settings: &Settings) -> Result<(), String> {
    let ledger = admin::open(settings, Memory::alone(settings), Purpose::Writing).await?;
    let done = ledger.migrate().await;
    ledger.close().await;
    done.map_err(|error| explain(&error))
}

/// Whoever was logged out since is not let in again by a session of then.
async fn sessions_ended(settings: &Settings) -> Result<u64, String> {
    let ledger = admin::open(settings, Memory::alone(settings), Purpose::Writing).await?;
    let moved = ledger.move_numbers_on().await;
    let ended = ledger.end_all_sessions().await;
    ledger.close().await;
    moved.and(ended).map_err(|error| explain(&error))
}

/// Reads a copy through, and has what is read taken along. An error where it is not what was written.
fn checked(
    copy: &Path,
    manifest: &Manifest,
    mut taken: impl FnMut(&[u8]) -> std::io::Result<()>,
) -> Result<(), String> {
    let (read, all) = (Arc::new(AtomicU64::new(0)), manifest.file.bytes.max(1));
    let shown = read.clone();
    let bar = bar::show(move || usize::try_from(shown.load(Ordering::Relaxed) * 100 / all).unwrap_or(100).min(99));
    let found = manifest::sum(copy, |portion| {
        read.fetch_add(portion.len() as u64, Ordering::Relaxed);
        taken(portion)
    });
    drop(bar);
    if found? == (manifest.file.bytes, manifest.file.sha256.clone()) {
        return Ok(());
    }
    Err(format!("{} is damaged: its checksum is not that of what was written; take another copy", copy.display()))
}

/// Writes a copy beside its place, holds it against what it is known by, and moves it there. Where the books are kept that
/// were there, is answered, and of how many users sessions were ended.
async fn from_file(
    ready: &Ready,
    asked: &Restoring,
    (copy, place): (&Path, &Path),
) -> Result<(Option<PathBuf>, u64), String> {
    let failed = |error: std::io::Error| format!("cannot write beside {}: {error}", place.display());
    if let Some(folder) = place.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        private::make_folder(folder)?;
        making::room_for(copy, folder)?;
    }
    let draft = Draft(beside(place, ".restoring"));
    // What a restore that was cut off has left beside it belongs to other books.
    draft.clear();
    let mut file = private::create(&draft.0).map_err(failed)?;
    checked(copy, &ready.manifest, |portion| file.write_all(portion))?;
    let own = Secret::of(format!("sqlite:{}", draft.0.display()));
    let own = Settings { database: own, ..ready.settings.clone() };
    let ended = made_of_now(ready, &own, asked.verify).await?;
    database::settle(&draft.0).map_err(|error| said(&error))?;
    file.sync_all().map_err(failed)?;
    let aside = kept_aside(place).map_err(failed)?;
    std::fs::rename(&draft.0, place).and_then(|()| private::sync_folder(place)).map_err(failed)?;
    Ok((aside, ended))
}

/// Books on their way to their place. What is left of them, or beside them, goes.
struct Draft(PathBuf);

impl Draft {
    fn clear(&self) {
        for suffix in ["", "-wal", "-shm", "-turn", "-next", "-server"] {
            let _not_there = std::fs::remove_file(beside(&self.0, suffix));
        }
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        self.clear();
    }
}

fn beside(place: &Path, suffix: &str) -> PathBuf {
    let mut name = place.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Gives the books that are there a second name, under which they stay. A log that is left is theirs alone, and goes along:
/// the engine would take it for that of whatever file has the name.
fn kept_aside(place: &Path) -> std::io::Result<Option<PathBuf>> {
    let aside = beside(place, &format!(".before-{}", ledger_core::ids::request_id()));
    let is_there = place.exists();
    if is_there {
        // All of it is in the file then, and what is there is never without its name. Where that is spoilt, it is kept as it is.
        if let Err(error) = database::settle(place) {
            warn(&format!("{} is kept as it was found: {}", place.display(), said(&error)));
        }
        std::fs::hard_link(place, &aside)?;
    }
    let mut found = is_there;
    for suffix in ["-wal", "-journal"] {
        found |= there(std::fs::rename(beside(place, suffix), beside(&aside, suffix)))?;
    }
    there(std::fs::remove_file(beside(place, "-shm")))?;
    Ok(found.then_some(aside))
}

/// Whether there was something to be done with.
fn there(done: std::io::Result<()>) -> std::io::Result<bool> {
    match done {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        done => done.map(|()| true),
    }
}

/// That books are those of the copy.
async fn held_against(settings: &Settings, manifest: &Manifest, prove: bool) -> Result<(), String> {
    let ledger = admin::open(settings, Memory::alone(settings), Purpose::Reading).await?;
    let stands = async {
        ledger.check_master_key().await?;
        ledger.stands(ledger.moment().await?).await
    };
    let stands = stands.await.map_err(|error| explain(&error));
    let proved = match (&stands, prove) {
        (Ok(_), true) => verify::run(ledger.clone(), verify::Asked::everything(), None).await.map(drop),
        _ => Ok(()),
    };
    ledger.close().await;
    let stands = stands?;
    if manifest.books.as_ref().is_some_and(|books| *books != stands) {
        return Err("the books in the copy do not come to what its manifest says; take another copy".into());
    }
    proved
}
