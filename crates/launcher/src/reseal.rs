//! `duet reseal`: the books come under another master key.
//!
//! A key that is kept in a file is written beside it first, and takes its place once the books are under it: whatever ends
//! the process in between, the next run goes on from there.

use crate::admin::explain;
use crate::config::Settings;
use crate::console::{say, warn};
use crate::private::{self, LEAST};
use crate::verify;
use ledger_core::keys::Keys;
use ledger_core::ledger::{Ledger, Resealed};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a connection of this command is known by at PostgreSQL.
const OWN_NAME: &str = "duet-reseal";

/// The database under a name of this command's own: every other connection is somebody else's.
pub(crate) fn named(url: &str) -> Option<String> {
    if !url.starts_with("postgres") {
        return None;
    }
    let (place, parameters) = url.split_once('?').unwrap_or((url, ""));
    let kept = parameters.split('&').filter(|one| !one.is_empty() && !one.starts_with("application_name="));
    let own = format!("application_name={OWN_NAME}");
    Some(format!("{place}?{}", kept.chain([own.as_str()]).collect::<Vec<_>>().join("&")))
}

/// Proves the books, and brings them under a new master key.
pub(crate) async fn run(ledger: Arc<Ledger>, settings: &Settings, from_stdin: bool) -> Result<String, String> {
    if settings.tenant.is_some() && settings.master_key.is_some() {
        return Err(
            "the master key of this tenant is in the catalogue, where nothing can put another one in its place yet"
                .into(),
        );
    }
    let place = settings.master_key.is_none().then(|| settings.data.join("master-key"));
    if place.is_none() && !from_stdin {
        return Err("the master key is configured; give the new one on standard input with --new-key-stdin, and \
                    configure it afterwards"
            .into());
    }
    let waiting = place.as_deref().map(beside);
    let begun = waiting.as_deref().map(read).transpose()?.flatten();
    let typed = from_stdin.then(typed).transpose()?;
    if let (Some(begun), Some(typed), Some(waiting)) = (&begun, &typed, &waiting)
        && begun != typed
    {
        let waiting = waiting.display();
        return Err(format!(
            "an earlier run was interrupted, and its key waits in {waiting}: run duet reseal without --new-key-stdin \
             first, or type that key"
        ));
    }
    let is_begun = begun.is_some();
    if let Some(key) = begun.as_ref().or(typed.as_ref())
        && ledger.is_under(&Keys::of(key)).await.map_err(|error| explain(&error))?
    {
        if is_begun {
            put_in_place(place.as_deref())?;
            return Ok("the books were under the new master key already; its file is in its place now".into());
        }
        if let (Some(place), Some(waiting)) = (&place, &waiting)
            && private::secret(place)?.as_ref() != Some(key)
        {
            keep(waiting, key)?;
            put_in_place(Some(place))?;
        }
        return Ok("the books are under this master key already".into());
    }
    let key = match begun.or(typed) {
        Some(key) => key,
        None => ledger_core::ids::random_secret().map_err(|error| explain(&error))?,
    };
    ledger.check_master_key().await.map_err(|error| explain(&error))?;
    // What is wrong now would look right afterwards.
    verify::run(ledger.clone(), verify::Asked::everything(), None)
        .await
        .map_err(|why| format!("nothing was sealed anew: {why}"))?;
    if let Some(waiting) = &waiting {
        keep(waiting, &key)?;
    }
    let progress = Arc::new(|text: &str| say(text));
    let done = ledger.reseal(Keys::of(&key), progress).await;
    let Resealed { companies, without_codes } = done.map_err(|error| explain(&error))?;
    put_in_place(place.as_deref())?;
    if without_codes > 0 {
        warn(&format!("the recovery codes of {without_codes} users are void; they make new ones with their password"));
    }
    let next = match place {
        Some(place) => format!("keep a copy of {} apart from the backups", place.display()),
        None => "set Security:MasterKey to it before any server starts".into(),
    };
    Ok(format!("{companies} companies and the installation are under the new master key; {next}"))
}

fn beside(place: &Path) -> PathBuf {
    place.with_extension("new")
}

fn cannot(path: &Path, error: &std::io::Error) -> String {
    format!("cannot keep the new master key in {}: {error}", path.display())
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, String> {
    match std::fs::read(path) {
        // One that was cut off was never used.
        Ok(key) => Ok(Some(key).filter(|key| key.len() >= LEAST)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(cannot(path, &error)),
    }
}

fn keep(path: &Path, key: &[u8]) -> Result<(), String> {
    if read(path)?.as_deref() == Some(key) {
        return Ok(());
    }
    // What is there was cut off, and never used.
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(cannot(path, &error)),
        _ => {}
    }
    match private::keep_secret(path, key)? {
        kept if kept == key => Ok(()),
        _ => Err(format!("another duet reseal keeps its key in {}", path.display())),
    }
}

fn put_in_place(place: Option<&Path>) -> Result<(), String> {
    let Some(place) = place else { return Ok(()) };
    let moved = std::fs::rename(beside(place), place).and_then(|()| private::sync_folder(place));
    moved.map_err(|error| format!("{}; run duet reseal again", cannot(place, &error)))
}

fn typed() -> Result<Vec<u8>, String> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(|error| format!("cannot read the new master key: {error}"))?;
    let key = text.trim_end_matches(['\r', '\n']).as_bytes().to_vec();
    if key.len() < LEAST { Err(format!("the new master key must be at least {LEAST} bytes long")) } else { Ok(key) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_database_is_opened_under_a_name_of_its_own() {
        assert_eq!(named("sqlite:data/duet.db"), None);
        let own = |url: &str| named(url).unwrap();
        assert_eq!(own("postgres://h/d"), "postgres://h/d?application_name=duet-reseal");
        let asked = "postgres://h/d?application_name=x&sslmode=require";
        assert_eq!(own(asked), "postgres://h/d?sslmode=require&application_name=duet-reseal");
    }
}
