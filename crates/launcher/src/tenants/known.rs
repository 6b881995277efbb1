//! What is known of tenants: the catalogue, and what of it was seen a moment ago.
//!
//! Owns: how old what is known may be, what is hidden of a tenant, and what settings its books are opened with. A server
//! believes what it saw for a moment at most; whoever changes a tenant waits for as long. Being told of a change only makes
//! that quicker.

use super::folders::{self, normal_host};
use crate::admin::explain;
use crate::config::{Key, Settings};
use crate::private;
use catalogue::{Catalogue, Hold, Place, State, Taken, Tenant};
use futures_util::future::BoxFuture;
use http_kit::quota::{Share, Together};
use ledger_core::database::Patience;
use ledger_core::error::{Error, Unavailable};
use ledger_core::fault::said;
use ledger_core::keys::{Keys, Purpose};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use uuid::Uuid;

/// The file beside a copy that has the keys of its tenant, hidden.
pub(crate) const HIDDEN: &str = "keys.hidden";
/// The file of a folder that was put aside which has the key that the books were coming under.
pub(super) const NEXT_KEY: &str = "master-key.new";
/// As long as what a server saw of a catalogue that others write counts as true.
const FRESH: Duration = Duration::from_secs(1);
/// As long as whoever changes a tenant waits for those who saw it before.
pub(super) const SETTLED: Duration = Duration::from_millis(1_500);
/// Who names hosts that nobody has fills no memory.
const MOST_SEEN: usize = 20_000;
/// So many looks at what is open lie between two at the minutes of callers.
const SWEEPS: u64 = 60;
/// After how long it is tried again to hear of changes.
const AGAIN: Duration = Duration::from_secs(1);

pub(crate) struct Known {
    pub(super) catalogue: Catalogue,
    keys: Keys,
    seen: Mutex<HashMap<String, Seen>>,
    /// Whether it was said that the catalogue is away.
    is_away: AtomicBool,
    turns: AtomicU64,
}

struct Seen {
    tenant: Option<Arc<Tenant>>,
    at: Instant,
}

/// What is hidden of a tenant.
#[derive(Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Secrets {
    /// Where its books are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) url: Option<String>,
    /// Its master key; in its folder where it is not here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) master: Option<Vec<u8>>,
    /// Another master key that its books are coming under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) next: Option<Vec<u8>>,
    /// What its tokens are signed with, where that does not follow from the master key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) token: Option<Vec<u8>>,
    /// The place that its books have left and that is still to be closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) leaves: Option<String>,
    /// What its folder is called where it is put while it is taken out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) aside: Option<String>,
}

/// A tenant that is held by who works on it.
pub(super) struct Working(Hold);

impl Working {
    /// Asked before anything is done that others could be doing otherwise.
    pub(super) async fn still(&self) -> Result<(), String> {
        self.0.still().await.map_err(|error| {
            format!("the catalogue was away meanwhile, and others may be at work on the tenant: {}", said(&error))
        })
    }
}

impl Secrets {
    /// The master key and the token secret that books are opened with.
    pub(crate) fn of_books(&self) -> (Option<Key>, Option<Key>) {
        (self.master.clone().map(Key::of), self.token.clone().map(Key::of))
    }

    /// Keys of a tenant whose books are in no folder.
    pub(super) fn fresh() -> Result<Self, String> {
        let master = ledger_core::ids::random_secret().map_err(|error| explain(&error))?;
        Ok(Self { master: Some(master), ..Self::default() })
    }
}

pub(crate) fn patience(settings: &Settings) -> Patience {
    Patience {
        connect: settings.connect_timeout,
        statement: settings.statement_timeout,
        writer: settings.write_timeout,
    }
}

/// The key of the only server of its catalogue, made when it is first needed.
fn own_key(place: &Path) -> Result<Vec<u8>, String> {
    if let Some(key) = private::secret(place)? {
        return Ok(key);
    }
    let made = ledger_core::ids::random_secret().map_err(|error| explain(&error))?;
    private::keep_secret(place, &made)
}

impl Known {
    pub(crate) async fn open(settings: &Settings) -> Result<Arc<Self>, String> {
        private::make_folder(&settings.data)?;
        private::make_folder(&folders::all(settings))?;
        let place = settings.data.join("master-key");
        let master = match &settings.master_key {
            Some(key) => key.expose().to_vec(),
            None if settings.cloud.is_shared() => {
                return Err(
                    "servers that share a catalogue of tenants have one Security:MasterKey; give it to each of them"
                        .into(),
                );
            }
            None => own_key(&place)?,
        };
        let url = settings.cloud.catalogue.expose();
        let shown = crate::config::without_password(url);
        let catalogue = Catalogue::open(url, patience(settings)).await;
        let catalogue =
            catalogue.map_err(|error| format!("cannot open the catalogue of tenants {shown}: {}", said(&error)))?;
        let keys = Keys::of(&master);
        let known =
            Self { catalogue, keys, seen: Mutex::default(), is_away: AtomicBool::new(false), turns: AtomicU64::new(0) };
        known.check_key().await?;
        // Folders that say what they are. One that nothing can be made of keeps nobody else from being served.
        for host in folders::told(settings).into_iter().filter(|_| !known.is_shared()) {
            if let Err(why) = known.take_in(settings, &host).await {
                crate::console::warn(&format!("the folder of {host} was not taken in: {why}"));
            }
        }
        Ok(Arc::new(known))
    }

    /// That the catalogue was made under the master key that is here.
    async fn check_key(&self) -> Result<(), String> {
        let mark = self.keys.check().map_err(|error| explain(&error))?;
        let kept = self.catalogue.marked(&mark).await.map_err(|error| said(&error))?;
        match self.keys.knows(&kept).map_err(|error| explain(&error))? {
            Some(_) => Ok(()),
            None => {
                Err("the catalogue of tenants was made under another Security:MasterKey; all its servers have the same"
                    .into())
            }
        }
    }

    pub(crate) fn is_shared(&self) -> bool {
        self.catalogue.is_shared()
    }

    fn seen(&self) -> MutexGuard<'_, HashMap<String, Seen>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A tenant as it is, or was a moment ago. While the catalogue is away, as it was when it was last seen: its database
    /// itself refuses whoever does not know that it moved.
    pub(super) async fn find(&self, host: &str) -> Result<Option<Arc<Tenant>>, Error> {
        if host.is_empty() {
            return Ok(None);
        }
        if self.is_shared()
            && let Some(seen) = self.seen().get(host)
            && seen.at.elapsed() < FRESH
        {
            return Ok(seen.tenant.clone());
        }
        let asked = Instant::now();
        match self.catalogue.find(host).await {
            Ok(found) => {
                self.is_here();
                let tenant = found.map(Arc::new);
                self.note(host, tenant.clone(), asked);
                Ok(tenant)
            }
            Err(error) => {
                self.is_away(&said(&error));
                let seen = self.seen().get(host).and_then(|seen| seen.tenant.clone());
                seen.map(Some).ok_or(Error::Unavailable(Unavailable::DatabaseAway))
            }
        }
    }

    fn note(&self, host: &str, tenant: Option<Arc<Tenant>>, at: Instant) {
        let mut seen = self.seen();
        if seen.len() >= MOST_SEEN {
            seen.retain(|_, one| one.at.elapsed() < FRESH && one.tenant.is_some());
        }
        // What was asked for earlier may be answered later.
        if seen.get(host).is_none_or(|before| before.at <= at) {
            seen.insert(host.to_owned(), Seen { tenant, at });
        }
    }

    fn is_away(&self, why: &str) {
        if !self.is_away.swap(true, Ordering::AcqRel) {
            tracing::error!(
                code = "catalogue_away",
                why,
                "the catalogue of tenants does not answer; those that are known are served"
            );
        }
    }

    fn is_here(&self) {
        if self.is_away.swap(false, Ordering::AcqRel) {
            tracing::info!(code = "catalogue_back", "the catalogue of tenants answers again");
        }
    }

    /// Hears of changes as they are made, and looks anew at what they are about.
    pub(crate) async fn hear(self: Arc<Self>) {
        while self.is_shared() {
            let heard = |host: Option<&str>| match host {
                Some(host) => drop(self.seen().remove(host)),
                None => self.seen().clear(),
            };
            if let Some(fault) = self.catalogue.hear(&heard).await {
                tracing::debug!(%fault, "changes of tenants are not heard of; they are looked for");
            }
            tokio::time::sleep(AGAIN).await;
        }
    }

    /// Has a tenant worked on by nobody else, as long as what is answered is kept.
    pub(super) async fn hold(&self, host: &str) -> Result<Working, String> {
        let host = normal_host(host).ok_or_else(|| format!("{host} is no host name"))?;
        let held = self.catalogue.hold(&host).await.map_err(|error| said(&error))?;
        let busy = || format!("somebody is at work on {host}; wait until that is over, or end it where it hangs");
        held.map(Working).ok_or_else(busy)
    }

    /// As it is now, for whoever changes it.
    pub(super) async fn seen_now(&self, host: &str) -> Result<Tenant, String> {
        let host = normal_host(host).ok_or_else(|| format!("{host} is no host name"))?;
        let found = self.catalogue.find(&host).await.map_err(|error| said(&error))?;
        found.ok_or_else(|| format!("there is no tenant {host}"))
    }

    pub(super) async fn change(&self, seen: &Tenant, to: Tenant) -> Result<Tenant, String> {
        let changed = match self.catalogue.change(seen, to.clone()).await {
            Ok(changed) => changed,
            // It may have been done all the same.
            Err(error) => match self.catalogue.find(&seen.host).await {
                Ok(Some(now)) if now == (Tenant { turn: seen.turn + 1, version: now.version.clone(), ..to }) => {
                    Some(now)
                }
                _ => return Err(said(&error)),
            },
        };
        self.seen().remove(&seen.host);
        changed.ok_or_else(|| format!("somebody else has changed {} meanwhile; look at it and try again", seen.host))
    }

    /// Whether the catalogue says something else of a tenant by now.
    pub(super) async fn moved_on(&self, tenant: &Tenant) -> bool {
        self.seen().remove(&tenant.host);
        match self.find(&tenant.host).await {
            Ok(Some(now)) => now.turn != tenant.turn,
            Ok(None) => true,
            Err(_) => false,
        }
    }

    /// Notes that the books of a tenant are served by this release.
    pub(super) async fn is_served(&self, tenant: &Tenant) {
        let own = env!("CARGO_PKG_VERSION");
        if tenant.version != own
            && let Err(error) = self.catalogue.served_by(&tenant.host, own).await
        {
            tracing::debug!(%error, tenant = tenant.host, "it is not noted by which release a tenant is served");
        }
    }

    /// Forgets what callers took of minutes that are over.
    pub(super) async fn forget_minutes(&self) {
        let turn = self.turns.fetch_add(1, Ordering::Relaxed);
        if self.is_shared()
            && turn % SWEEPS == SWEEPS - 1
            && let Err(error) = self.catalogue.forget_minutes().await
        {
            tracing::debug!(%error, "minutes that are over are still in the catalogue");
        }
    }

    /// Until no server believes any more what was so before, and what it began by then has come to its end.
    pub(super) async fn settle(&self) {
        tokio::time::sleep(SETTLED).await;
    }

    /// All tenants, by their hosts.
    pub(crate) async fn list(&self) -> Result<Vec<Tenant>, String> {
        self.catalogue.list().await.map_err(|error| said(&error))
    }

    pub(super) fn hide(&self, host: &str, secrets: &Secrets) -> Result<Option<String>, String> {
        if *secrets == Secrets::default() {
            return Ok(None);
        }
        let text = serde_json::to_vec(secrets).map_err(|error| error.to_string())?;
        self.keys.hide(Purpose::Tenants, host, &text).map(Some).map_err(|error| explain(&error))
    }

    pub(super) fn reveal(&self, tenant: &Tenant) -> Result<Secrets, String> {
        match &tenant.secrets {
            Some(hidden) => self.opened(&tenant.host, hidden),
            None => Ok(Secrets::default()),
        }
    }

    fn opened(&self, host: &str, hidden: &str) -> Result<Secrets, String> {
        let text = self.keys.reveal(Purpose::Tenants, host, hidden);
        let text = text.map_err(|_| {
            format!("the keys of {host} do not open: Security:MasterKey is not the one that they were hidden under")
        })?;
        serde_json::from_slice(&text).map_err(|error| error.to_string())
    }

    /// The settings that the books of a tenant are opened with.
    pub(super) fn settings(&self, settings: &Settings, tenant: &Tenant) -> Result<Settings, String> {
        let secrets = self.reveal(tenant)?;
        let url = match &tenant.place {
            Place::Folder => None,
            Place::Address => Some(secrets.url.clone().ok_or("the catalogue does not say where the books are")?),
            Place::Cluster { cluster, database } => Some(settings.cloud.cluster(cluster)?.url_of(database)),
        };
        let own = folders::settings_of(settings, &tenant.host, url);
        let (master_key, token_secret) = secrets.of_books();
        Ok(Settings { token_secret, master_key, ..own })
    }

    /// The settings of a tenant that a command is about; nothing where there is none.
    pub(crate) async fn settings_of(&self, settings: &Settings, host: &str) -> Result<Option<Settings>, String> {
        let Some(host) = normal_host(host) else { return Ok(None) };
        match self.catalogue.find(&host).await.map_err(|error| said(&error))? {
            Some(tenant) => {
                let own = self.settings(settings, &tenant)?;
                folders::must_have(&own)?;
                Ok(Some(own))
            }
            None => Ok(None),
        }
    }

    /// The settings of a tenant that may be there or not: without one, its books are a file in its folder.
    pub(crate) async fn place_of(&self, settings: &Settings, host: &str) -> Result<Settings, String> {
        let host = normal_host(host).ok_or_else(|| format!("{host} is no host name"))?;
        match self.catalogue.find(&host).await.map_err(|error| said(&error))? {
            Some(tenant) => self.settings(settings, &tenant),
            None => Ok(folders::settings_of(settings, &host, None)),
        }
    }

    /// Takes in a tenant whose folder says what it is: of a release that had no catalogue, or put back after it was removed.
    pub(super) async fn take_in(&self, settings: &Settings, host: &str) -> Result<(), String> {
        let data = folders::of(settings, host);
        let told = folders::read(&data)?;
        let place = match (&told.database, &told.cluster) {
            (None, None) => Place::Folder,
            (Some(_), None) => Place::Address,
            (Some(database), Some(cluster)) => Place::Cluster { cluster: cluster.clone(), database: database.clone() },
            (None, Some(_)) => return Err(format!("{} names a cluster and no database", data.display())),
        };
        if self.is_shared() && place == Place::Folder {
            return Err("servers that share a catalogue share no books in files".into());
        }
        let url = told.database.filter(|_| place == Place::Address);
        let secrets = if matches!(place, Place::Cluster { .. }) || self.is_shared() {
            let key = |name: &str| private::secret(&data.join(name));
            Secrets {
                url,
                master: key("master-key")?,
                next: key(NEXT_KEY)?,
                token: key("token-secret")?,
                ..Secrets::default()
            }
        } else {
            Secrets { url, ..Secrets::default() }
        };
        let secrets = self.hide(host, &secrets)?;
        let new =
            Tenant { host: host.to_owned(), place, secrets, state: State::Active, turn: 1, version: String::new() };
        if !self.catalogue.add(&new).await.map_err(|error| said(&error))? {
            return Err(format!("the tenant {host} is there already, and {} says what it is as well", data.display()));
        }
        folders::forget(&data)?;
        self.make_usable(settings, &new).await
    }

    /// Takes back whatever closed the place where the books of a tenant are said to be.
    pub(super) async fn make_usable(&self, settings: &Settings, tenant: &Tenant) -> Result<(), String> {
        let Place::Cluster { cluster, database } = &tenant.place else { return Ok(()) };
        let opened = settings.cloud.cluster(cluster)?.open(database, patience(settings)).await;
        opened.map_err(|error| format!("cannot open the database {database}: {}", said(&error)))
    }

    /// A tenant whose books were brought back is there from now on, with the keys that came with them.
    pub(crate) async fn keep(&self, host: &str, keys: Option<Secrets>) -> Result<(), String> {
        let found = self.catalogue.find(host).await.map_err(|error| said(&error))?;
        match (found, keys) {
            (Some(_), None) => Ok(()),
            (Some(seen), Some(keys)) => {
                let Secrets { url, leaves, aside, .. } = self.reveal(&seen)?;
                let secrets = self.hide(host, &Secrets { url, leaves, aside, ..keys })?;
                self.change(&seen, Tenant { secrets, ..seen.clone() }).await.map(drop)
            }
            (None, keys) => {
                let secrets = self.hide(host, &keys.unwrap_or_default())?;
                let (place, state) = (Place::Folder, State::Active);
                let new = Tenant { host: host.to_owned(), place, secrets, state, turn: 1, version: String::new() };
                self.catalogue.add(&new).await.map(drop).map_err(|error| said(&error))
            }
        }
    }

    /// The keys of a tenant as they may be kept beside a copy of its books; nothing where they are in its folder.
    /// Those are it that the books are opened with, or it is an error.
    pub(crate) async fn hidden_keys(&self, host: &str, own: &Settings) -> Result<Option<String>, String> {
        let seen = self.seen_now(host).await?;
        let keys = Secrets { url: None, leaves: None, aside: None, next: None, ..self.reveal(&seen)? };
        if own.master_key.as_ref().map(Key::expose) != keys.master.as_deref() {
            return Err("its master key was replaced meanwhile; make the copy anew".into());
        }
        self.hide(&seen.host, &keys)
    }

    /// The keys that were kept beside a copy of a tenant's books.
    pub(crate) fn keys_in(&self, copy: &Path, host: &str) -> Result<Option<Secrets>, String> {
        let place = copy.join(HIDDEN);
        let hidden = match std::fs::read_to_string(&place) {
            Ok(hidden) => hidden,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(format!("cannot read {}: {error}", place.display())),
        };
        self.opened(host, &hidden).map(Some)
    }

    pub(crate) async fn close(&self) {
        self.catalogue.close().await;
    }
}

/// What callers of a tenant take of their minutes, at all servers together.
pub(super) struct Minutes {
    pub(super) known: Arc<Known>,
    pub(super) host: String,
}

impl Together for Minutes {
    fn take(&self, caller: Uuid, wanted: u64, limit: u64) -> BoxFuture<'_, Option<Share>> {
        Box::pin(async move {
            match self.known.catalogue.take(&self.host, &caller.to_string(), wanted, limit).await {
                Ok(Taken { granted, beyond, left }) => {
                    Some(Share { granted, beyond, resets_in: Duration::from_millis(left) })
                }
                Err(error) => {
                    self.known.is_away(&said(&error));
                    None
                }
            }
        })
    }
}
