//! The folders of tenants, on the machine that has them.
//!
//! A tenant is known by the catalogue. Outside of it, a folder says what it is in `tenant.json`: one that was taken out,
//! so that it can be put back, and one of a release that had no catalogue.

use crate::admin::explain;
use crate::config::{Secret, Settings};
use crate::private;
use ledger_core::database::file_of;
use ledger_core::ledger::Ledger;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

const TOLD: &str = "tenant.json";

/// What a folder says of its tenant.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Told {
    /// The address of its books, or their name in a cluster; a file in the folder where there is none.
    pub(super) database: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) cluster: Option<String>,
}

pub(super) fn all(settings: &Settings) -> PathBuf {
    settings.data.join("tenants")
}

pub(super) fn of(settings: &Settings, host: &str) -> PathBuf {
    all(settings).join(host)
}

/// Where what is taken out is put.
pub(super) fn aside(settings: &Settings, name: &str) -> PathBuf {
    settings.data.join("removed-tenants").join(name)
}

/// A host as it names a tenant: a name of letters, digits, dots and dashes, in lower case, without a port.
pub(crate) fn normal_host(host: &str) -> Option<String> {
    let name = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|digit| digit.is_ascii_digit()));
    let name = name.map_or(host, |(name, _)| name);
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|letter| letter.is_ascii_alphanumeric() || letter == b'-')
            && !label.starts_with('-')
    };
    (name.len() <= 253 && name.split('.').all(label)).then_some(name)
}

/// The settings of a tenant whose books are there, or else in its folder.
pub(super) fn settings_of(settings: &Settings, host: &str, database: Option<String>) -> Settings {
    let data = of(settings, host);
    let own = || format!("sqlite:{}", data.join("duet.db").display());
    Settings {
        database: Secret::of(database.unwrap_or_else(own)),
        // Many share what one installation has.
        pool_size: settings.pool_size.min(4),
        readers: settings.readers.min(2),
        token_secret: None,
        master_key: None,
        token_issuer: host.to_owned(),
        token_audience: host.to_owned(),
        data,
        ..settings.clone()
    }
}

/// That the books are where they are said to be: a file that is not there is not made in their place.
pub(super) fn must_have(own: &Settings) -> Result<(), String> {
    match file_of(own.database.expose()) {
        Some(file) if !file.exists() => Err(format!("its books are not in {}", file.display())),
        _ => Ok(()),
    }
}

/// The same of a database: one that is empty is to have its books restored.
pub(crate) async fn must_be_books(ledger: &Ledger) -> Result<(), String> {
    match ledger.has_no_books().await {
        Ok(true) => Err("there are no books in its database".into()),
        Ok(false) => Ok(()),
        Err(error) => Err(explain(&error)),
    }
}

/// The hosts of folders that say what they are.
pub(super) fn told(settings: &Settings) -> Vec<String> {
    let entries = std::fs::read_dir(all(settings)).into_iter().flatten().filter_map(Result::ok);
    let mut hosts: Vec<String> = entries
        .filter(|entry| entry.path().join(TOLD).is_file())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| normal_host(name).as_ref() == Some(name))
        .collect();
    hosts.sort();
    hosts
}

/// Whether a folder says what it is.
pub(super) fn says(data: &Path) -> bool {
    data.join(TOLD).is_file()
}

pub(super) fn read(data: &Path) -> Result<Told, String> {
    let place = data.join(TOLD);
    let text = std::fs::read(&place).map_err(|error| format!("cannot read {}: {error}", place.display()))?;
    serde_json::from_slice(&text)
        .map_err(|error| format!("{} does not say what its tenant is: {error}", place.display()))
}

pub(super) fn tell(data: &Path, told: &Told) -> Result<(), String> {
    let place = data.join(TOLD);
    let text = serde_json::to_vec(told).map_err(|error| error.to_string())?;
    private::replace(&place, &text).map_err(|error| format!("cannot write {}: {error}", place.display()))
}

pub(super) fn forget(data: &Path) -> Result<(), String> {
    let place = data.join(TOLD);
    std::fs::remove_file(&place).map_err(|error| format!("cannot remove {}: {error}", place.display()))
}

pub(super) fn move_to(from: &Path, to: &Path) -> Result<(), String> {
    std::fs::rename(from, to).map_err(|error| format!("cannot move {} to {}: {error}", from.display(), to.display()))
}
