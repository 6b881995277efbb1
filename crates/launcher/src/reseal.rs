//! `duet reseal`: the books come under another master key.
//!
//! A key that is kept in a file, or in the catalogue of tenants, is written beside it first, and takes its place once the books
//! are under it: whatever ends the process in between, the next run goes on from there.

use crate::admin::explain;
use crate::config::Settings;
use crate::console::{say, warn};
use crate::private::{self, LEAST};
use crate::tenants::KeyOfTenant;
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

/// Where the master key is kept, and a new one until the books are under it.
enum Place {
    /// In a file; a new one is written beside it.
    File(PathBuf),
    /// In the catalogue, with what else is hidden of its tenant.
    Catalogue(Box<KeyOfTenant>),
    /// Wherever whoever runs the server has it.
    Configured,
}

impl Place {
    /// A key that an earlier run kept, and did not come to put in its place.
    fn begun(&self) -> Result<Option<Vec<u8>>, String> {
        match self {
            Self::File(place) => read(&beside(place)),
            Self::Catalogue(tenant) => Ok(tenant.begun()),
            Self::Configured => Ok(None),
        }
    }

    /// What has a key that waits.
    fn waiting(&self) -> String {
        match self {
            Self::File(place) => beside(place).display().to_string(),
            Self::Catalogue(_) | Self::Configured => "the catalogue".into(),
        }
    }

    async fn keep(&mut self, key: &[u8]) -> Result<(), String> {
        match self {
            Self::File(place) => keep(&beside(place), key),
            Self::Catalogue(tenant) => tenant.keep(key).await,
            Self::Configured => Ok(()),
        }
    }

    async fn put_in_place(&mut self) -> Result<(), String> {
        match self {
            Self::File(place) => put_in_place(place),
            Self::Catalogue(tenant) => tenant.put_in_place().await,
            Self::Configured => Ok(()),
        }
    }

    /// Whether it has a key already.
    fn has(&self, key: &[u8]) -> Result<bool, String> {
        match self {
            Self::File(place) => Ok(private::secret(place)?.as_deref() == Some(key)),
            Self::Catalogue(tenant) => Ok(tenant.has(key)),
            Self::Configured => Ok(true),
        }
    }

    /// What is to be done with the new key.
    fn next(&self) -> String {
        match self {
            Self::File(place) => format!("keep a copy of {} apart from the backups", place.display()),
            Self::Catalogue(tenant) => format!("it is in the catalogue; say duet tenant resume {}", tenant.host()),
            Self::Configured => "set Security:MasterKey to it before any server starts".into(),
        }
    }
}

/// Proves the books, and brings them under a new master key.
pub(crate) async fn run(
    ledger: Arc<Ledger>,
    settings: &Settings,
    of_tenant: Option<KeyOfTenant>,
    from_stdin: bool,
) -> Result<String, String> {
    let mut place = match (of_tenant, &settings.master_key) {
        (Some(tenant), _) => Place::Catalogue(Box::new(tenant)),
        (None, None) => Place::File(settings.data.join("master-key")),
        (None, Some(_)) if settings.tenant.is_some() => {
            return Err("the tenant was changed meanwhile; look at it and try again".into());
        }
        (None, Some(_)) if !from_stdin => {
            return Err("the master key is configured; give the new one on standard input with --new-key-stdin, and \
                        configure it afterwards"
                .into());
        }
        (None, Some(_)) => Place::Configured,
    };
    let begun = place.begun()?;
    let typed = from_stdin.then(typed).transpose()?;
    if let (Some(begun), Some(typed)) = (&begun, &typed)
        && begun != typed
    {
        let waiting = place.waiting();
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
            place.put_in_place().await?;
            return Ok("the books were under the new master key already; it is in its place now".into());
        }
        if !place.has(key)? {
            place.keep(key).await?;
            place.put_in_place().await?;
        }
        return Ok("the books are under this master key already".into());
    }
    let key = match begun.or(typed) {
        Some(key) => key,
        None => ledger_core::ids::random_secret().map_err(|error| explain(&error))?,
    };
    let Resealed { companies, without_codes } = sealed_anew(&ledger, &mut place, &key).await?;
    place.put_in_place().await?;
    if without_codes > 0 {
        warn(&format!("the recovery codes of {without_codes} users are void; they make new ones with their password"));
    }
    Ok(format!("{companies} companies and the installation are under the new master key; {}", place.next()))
}

async fn sealed_anew(ledger: &Arc<Ledger>, place: &mut Place, key: &[u8]) -> Result<Resealed, String> {
    ledger.check_master_key().await.map_err(|error| explain(&error))?;
    // What is wrong now would look right afterwards.
    verify::run(ledger.clone(), verify::Asked::everything(), None)
        .await
        .map_err(|why| format!("nothing was sealed anew: {why}"))?;
    place.keep(key).await?;
    let progress = Arc::new(|text: &str| say(text));
    ledger.reseal(Keys::of(key), progress).await.map_err(|error| explain(&error))
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

fn put_in_place(place: &Path) -> Result<(), String> {
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
