//! Tenants are made, suspended and taken out.

use super::folders::{self, Told};
use super::known::{Known, Secrets, patience};
use crate::admin::{self, Memory, explain};
use crate::config::Settings;
use crate::private;
use catalogue::{Cluster, Place, State, Tenant};
use ledger_core::auth::NewUser;
use ledger_core::database::{Purpose, let_go};
use ledger_core::fault::said;
use ledger_core::ledger::Ledger;
use std::path::PathBuf;
use std::time::Duration;

/// As long as a server may take to let a tenant go that was taken out.
pub(super) const LET_GO: Duration = Duration::from_mins(1);

/// Where the books of a new tenant are to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Where {
    /// In a file of its folder.
    Folder,
    /// In a database of its own, which is there.
    Address(String),
    /// In a database that is made in a cluster.
    Cluster(String),
}

/// What a tenant is made with.
pub(crate) struct NewTenant {
    pub(crate) host: String,
    pub(crate) place: Where,
    pub(crate) email: String,
    pub(crate) password: Option<String>,
}

fn host_of(written: &str) -> Result<String, String> {
    folders::normal_host(written).ok_or_else(|| format!("{written} is no host name"))
}

/// A word that tells one from others before it.
pub(super) fn apart() -> String {
    let id = ledger_core::ids::request_id();
    id.chars().rev().filter(char::is_ascii_alphanumeric).collect()
}

/// Makes a tenant and its first user. The password is answered where it was made up.
pub(crate) async fn add(settings: &Settings, known: &Known, new: NewTenant) -> Result<Option<String>, String> {
    let host = host_of(&new.host)?;
    if known.catalogue.find(&host).await.map_err(|error| said(&error))?.is_some() {
        return Err(format!("the tenant {host} is there already"));
    }
    if known.is_shared() && new.place == Where::Folder {
        return Err(format!(
            "servers that share a catalogue share no files: say where the books of {host} are to be, with --cluster NAME or \
             --tenant-database URL"
        ));
    }
    let made = match &new.place {
        Where::Cluster(name) => {
            let cluster = settings.cloud.cluster(name)?.clone();
            let database = Cluster::name_for(&host, &apart());
            let done = cluster.make(&database, patience(settings)).await;
            done.map_err(|error| format!("cannot make a database in the cluster {name}: {}", said(&error)))?;
            Some((cluster, database))
        }
        _ => None,
    };
    let added = added(settings, known, (&host, made.as_ref()), new).await;
    if let (Err(_), Some((cluster, database))) = (&added, &made)
        && let Err(error) = cluster.remove(database, patience(settings)).await
    {
        crate::console::warn(&format!("the database {database} was made and is not used: {}", said(&error)));
    }
    added
}

async fn added(
    settings: &Settings,
    known: &Known,
    (host, made): (&str, Option<&(Cluster, String)>),
    new: NewTenant,
) -> Result<Option<String>, String> {
    let (place, secrets) = match (&new.place, made) {
        (Where::Address(url), _) => {
            let keys = if known.is_shared() { Secrets::fresh()? } else { Secrets::default() };
            (Place::Address, Secrets { url: Some(url.clone()), ..keys })
        }
        (_, Some((cluster, database))) => {
            let place = Place::Cluster { cluster: cluster.name().to_owned(), database: database.clone() };
            (place, Secrets::fresh()?)
        }
        _ => (Place::Folder, Secrets::default()),
    };
    let secrets = known.hide(host, &secrets)?;
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let tenant = Tenant { host: host.to_owned(), place, secrets, state: State::Active, turn: 1, version };
    let own = known.settings(settings, &tenant)?;
    let own = Settings { pool_size: settings.pool_size, readers: settings.readers, ..own };
    private::make_folder(&own.data)?;
    let ledger = admin::open(&own, Memory::among_many(&own), Purpose::Writing).await?;
    let made = match first_user(&ledger, new).await {
        Ok(made) => ledger.note_tenant(host, true).await.map(|()| made).map_err(|error| explain(&error)),
        Err(why) => Err(why),
    };
    ledger.close().await;
    let made = made?;
    if !known.catalogue.add(&tenant).await.map_err(|error| said(&error))? {
        return Err(format!("somebody else has added {host} meanwhile"));
    }
    Ok(made)
}

async fn first_user(ledger: &Ledger, new: NewTenant) -> Result<Option<String>, String> {
    ledger.migrate().await.map_err(|error| explain(&error))?;
    let user = NewUser {
        display_name: new.email.clone(),
        email: new.email,
        username: None,
        password: String::new(),
        must_change_password: false,
        is_system_admin: true,
    };
    let made = ledger.bootstrap(user, new.password).await.map_err(|error| explain(&error))?;
    Ok(made.filter(|first| first.password_made).map(|first| first.user.password))
}

/// Takes in a tenant whose folder is there and says what it is.
pub(crate) async fn put_back(settings: &Settings, known: &Known, host: &str) -> Result<(), String> {
    let host = host_of(host)?;
    if known.is_shared() {
        return Err("servers that share a catalogue share no folders".into());
    }
    known.take_in(settings, &host).await?;
    let Some(own) = known.settings_of(settings, &host).await? else { return Ok(()) };
    let place = known.seen_now(&host).await?.place;
    if let Place::Cluster { cluster, database } = &place {
        let cluster = settings.cloud.cluster(cluster)?;
        cluster.take_back(database, patience(settings)).await.map_err(|error| said(&error))?;
    }
    if let Err(why) = note(&own, &host, true).await {
        crate::console::warn(&format!("the tenant's own log does not say that it was put back: {why}"));
    }
    Ok(())
}

/// Serves a tenant no more, or again. It is kept as it is.
pub(crate) async fn set_suspended(
    settings: &Settings,
    known: &Known,
    host: &str,
    suspended: bool,
) -> Result<String, String> {
    let seen = known.seen_now(host).await?;
    let to = if suspended { State::Suspended } else { State::Active };
    if seen.state == to {
        return Ok(format!("{} is {} already", seen.host, to.as_str()));
    }
    if suspended && seen.state != State::Active {
        return Err(format!("{} is {}; wait until that is over", seen.host, seen.state.as_str()));
    }
    // A move that was cut off left the books where they were, and closed to writers.
    if let (State::Moving, Place::Cluster { cluster, database }) = (seen.state, &seen.place) {
        let cluster = settings.cloud.cluster(cluster)?;
        cluster.open_to_writers(database, patience(settings)).await.map_err(|error| said(&error))?;
    }
    let changed = known.change(&seen, Tenant { state: to, ..seen.clone() }).await?;
    known.settle().await;
    Ok(format!("{} is {}", changed.host, to.as_str()))
}

/// Takes a tenant out; what it has is kept aside. Where that is, is answered.
pub(crate) async fn remove(settings: &Settings, known: &Known, host: &str) -> Result<PathBuf, String> {
    let seen = known.seen_now(host).await?;
    if !matches!(seen.state, State::Active | State::Suspended) {
        return Err(format!("{} is {}; wait until that is over", seen.host, seen.state.as_str()));
    }
    let host = seen.host.clone();
    let own = known.settings(settings, &seen)?;
    let secrets = known.reveal(&seen)?;
    // What is taken out says so itself; where its books cannot be opened, it is taken out all the same.
    if let Err(why) = note(&own, &host, false).await {
        crate::console::warn(&format!("the tenant's own log does not say that it was removed: {why}"));
    }
    let kept = settings.data.join("removed-tenants");
    private::make_folder(&kept)?;
    let stamp = ledger_core::ids::request_id();
    let aside = kept.join(format!("{host}-{stamp}"));
    // From here on nobody asks for it any more, and a server that has it open lets it go: whoever writes to a file that is
    // not where it was would end, with all the others that it serves.
    let back = Tenant { turn: seen.turn + 1, ..seen.clone() };
    if !known.catalogue.remove(&seen).await.map_err(|error| said(&error))? {
        return Err(format!("somebody else has changed {host} meanwhile; look at it and try again"));
    }
    let removed = async {
        let is_free = let_go(own.database.expose(), LET_GO).await.map_err(|error| said(&error))?;
        if !is_free {
            return Err(format!("{host} is still served after {LET_GO:?}; try again, or end that server first"));
        }
        known.settle().await;
        let mut told = Told { database: secrets.url.clone(), cluster: None };
        if let Place::Cluster { cluster, database } = &seen.place {
            let name = Cluster::name_for("removed", &apart());
            let own = settings.cloud.cluster(cluster)?;
            own.put_aside(database, &name, patience(settings)).await.map_err(|error| said(&error))?;
            told = Told { database: Some(name), cluster: Some(cluster.clone()) };
        }
        private::make_folder(&own.data)?;
        for (name, key) in [("master-key", &secrets.master), ("token-secret", &secrets.token)] {
            if let Some(key) = key {
                private::keep_secret(&own.data.join(name), key)?;
            }
        }
        folders::move_to(&own.data, &aside)?;
        folders::tell(&aside, &told)
    };
    let removed = removed.await;
    if removed.is_err() && !own.data.is_dir() {
        return removed.map(|()| aside);
    }
    if let Err(why) = removed {
        // It is as it was.
        known
            .catalogue
            .add(&back)
            .await
            .map_err(|error| format!("{why}; and it is not in the catalogue any more: {}", said(&error)))?;
        return Err(why);
    }
    Ok(aside)
}

async fn note(own: &Settings, host: &str, begins: bool) -> Result<(), String> {
    let ledger = admin::open(own, Memory::among_many(own), Purpose::Writing).await?;
    let noted = match ledger.migrate().await {
        Ok(()) => ledger.note_tenant(host, begins).await,
        Err(error) => Err(error),
    };
    ledger.close().await;
    noted.map_err(|error| explain(&error))
}
