//! `duet backup` and `duet restore`: the books are kept elsewhere, and brought back.
//!
//! A copy is a folder: what the engine keeps, and `manifest.json`, which says what that is and is written last. It is made
//! in a folder beside its place and moved there once all of it is on the disk, so that what was cut off is never taken for
//! a copy. The master key is no part of it. Of the cloud edition a copy of all tenants has a folder for each; keys that the
//! catalogue keeps of a tenant go along as it keeps them, hidden under the master key of the servers.

mod making;
mod manifest;
pub(crate) mod postgres;
mod restoring;
pub(crate) mod stamp;

use crate::config::{self, Edition, Settings, Source};
use crate::console::{failed, misused, say};
use crate::tenants::Known;
use crate::{private, serve, tenants};
use std::path::PathBuf;
use std::process::ExitCode;

/// What a copy is to be.
pub(crate) struct Making {
    pub(crate) to: PathBuf,
    pub(crate) verify: bool,
}

/// What is to be brought back.
pub(crate) struct Restoring {
    pub(crate) from: PathBuf,
    pub(crate) key: Option<PathBuf>,
    pub(crate) replace: bool,
    pub(crate) verify: bool,
}

/// Whose books these are: those of an installation or of one tenant, or of all tenants that there are.
enum Whose {
    /// With its keys as the catalogue hides them, where it does.
    One(Box<Settings>, Option<String>),
    All(Box<Settings>),
}

async fn whose(source: &Source) -> Result<Whose, String> {
    let settings = config::load(source).map_err(|error| error.to_string())?.settings;
    match (settings.edition, &settings.tenant) {
        (Edition::Cloud, None) => Ok(Whose::All(Box::new(settings))),
        (Edition::Cloud, Some(host)) => {
            let known = Known::open(&settings).await?;
            let whose = async {
                let own = known.settings_of(&settings, host).await?;
                let own = own.ok_or_else(|| format!("there is no tenant {host}"))?;
                let hidden = known.hidden_keys(host, &own).await?;
                Ok(Whose::One(Box::new(own), hidden))
            };
            let whose = whose.await;
            known.close().await;
            whose
        }
        _ => serve::of_tenant(settings).await.map(|settings| Whose::One(Box::new(settings), None)),
    }
}

/// The master key that is beside the books, by which they are read.
fn key_of(settings: &Settings) -> Result<Option<Vec<u8>>, String> {
    if let Some(key) = &settings.master_key {
        return Ok(Some(key.expose().to_vec()));
    }
    if let Some(key) = private::secret(&settings.data.join("master-key"))? {
        return Ok(Some(key));
    }
    // Books of a release that made none of its own are under the token secret.
    match &settings.token_secret {
        Some(secret) => Ok(Some(secret.expose().to_vec())),
        None => private::secret(&settings.data.join("token-secret")),
    }
}

fn ended(done: Result<String, String>) -> ExitCode {
    match done {
        Ok(told) => {
            say(&told);
            ExitCode::SUCCESS
        }
        Err(why) => failed(&why),
    }
}

pub(crate) async fn make(source: &Source, asked: Making) -> ExitCode {
    match whose(source).await {
        Err(why) => misused(&why),
        Ok(Whose::One(settings, hidden)) => ended(making::of_one(&settings, &asked, hidden.as_deref()).await),
        Ok(Whose::All(settings)) => ended(making::of_all(&settings, &asked).await),
    }
}

pub(crate) async fn restore(source: &Source, asked: &Restoring) -> ExitCode {
    let settings = match config::load(source) {
        Ok(loaded) => loaded.settings,
        Err(error) => return misused(&error.to_string()),
    };
    ended(match (settings.edition, &settings.tenant) {
        (Edition::Server, None) => restoring::of_one(&settings, asked).await,
        (_, Some(host)) => match tenants::normal_host(host) {
            Some(host) => restoring::of_tenants(&settings, asked, Some(&host)).await,
            None => return misused(&format!("{host} is no host name")),
        },
        (Edition::Cloud, None) => restoring::of_tenants(&settings, asked, None).await,
    })
}
