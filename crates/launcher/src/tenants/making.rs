//! Tenants are made, suspended and taken out.

use super::empty;
use super::folders::{self, Told};
use super::known::{Known, NEXT_KEY, Secrets, Working, patience};
use crate::admin::{self, Memory, explain};
use crate::config::Settings;
use crate::private;
use catalogue::{Catalogue, Cluster, Place, State, Tenant};
use ledger_core::auth::NewUser;
use ledger_core::database::{Purpose, let_go};
use ledger_core::fault::said;
use ledger_core::keys::Keys;
use ledger_core::ledger::Ledger;
use std::path::{Path, PathBuf};
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
    let _working = known.hold(&host).await?;
    if known.catalogue.find(&host).await.map_err(|error| said(&error))?.is_some() {
        return Err(format!("the tenant {host} is there already"));
    }
    if known.is_shared() && new.place == Where::Folder {
        return Err(format!(
            "servers that share a catalogue share no files: say where the books of {host} are to be, with --cluster NAME or \
             --tenant-database URL"
        ));
    }
    if let Where::Address(url) = &new.place
        && known.is_shared()
        && !Catalogue::would_be_shared(url)
    {
        return Err(format!("servers that share a catalogue share no files: {host} needs a database of PostgreSQL"));
    }
    let made = match &new.place {
        Where::Cluster(name) => {
            let cluster = settings.cloud.cluster(name)?.clone();
            let database = Cluster::name_for(&host, &apart());
            let done = empty::make(&cluster, &database, patience(settings)).await;
            done.map_err(|error| format!("cannot make a database in the cluster {name}: {}", said(&error)))?;
            Some((cluster, database))
        }
        _ => None,
    };
    let mut is_named = false;
    let added = added(settings, known, (&host, made.as_ref()), (new, &mut is_named)).await;
    if let (Err(_), Some((cluster, database)), false) = (&added, &made, is_named)
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
    (new, is_named): (NewTenant, &mut bool),
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
    let may_have_users = new.place != Where::Folder && made.is_none();
    let made = match first_user(&ledger, new, may_have_users).await {
        Ok(made) => ledger.note_tenant(host, true).await.map(|()| made).map_err(|error| explain(&error)),
        Err(why) => Err(why),
    };
    ledger.close().await;
    let made = made?;
    match known.catalogue.add(&tenant).await {
        Ok(true) => Ok(made),
        Ok(false) => Err(format!("somebody else has added {host} meanwhile")),
        // It may have been added all the same.
        Err(error) => match known.catalogue.find(host).await {
            Ok(Some(there)) if there.secrets == tenant.secrets && there.place == tenant.place => Ok(made),
            Ok(_) => Err(said(&error)),
            Err(_) => {
                *is_named = true;
                let why = said(&error);
                Err(format!(
                    "{why}\nwhether {host} was added is not known: see duet tenant list once the catalogue is back"
                ))
            }
        },
    }
}

async fn first_user(ledger: &Ledger, new: NewTenant, may_have_users: bool) -> Result<Option<String>, String> {
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
    if made.is_none() && !may_have_users {
        let why =
            "there are books with users of their own in its place, left by what was cut off: put its folder away first";
        return Err(why.into());
    }
    Ok(made.filter(|first| first.password_made).map(|first| first.user.password))
}

/// Takes in a tenant whose folder is there and says what it is.
pub(crate) async fn put_back(settings: &Settings, known: &Known, host: &str) -> Result<(), String> {
    let host = host_of(host)?;
    let _working = known.hold(&host).await?;
    // Where one server has the catalogue, whoever opened it may have taken it in already.
    let is_there = known.catalogue.find(&host).await.map_err(|error| said(&error))?.is_some();
    if !is_there || folders::says(&folders::of(settings, &host)) {
        known.take_in(settings, &host).await?;
    }
    let seen = known.seen_now(&host).await?;
    known.make_usable(settings, &seen).await?;
    let own = known.settings(settings, &seen)?;
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
    let working = known.hold(host).await?;
    let seen = known.seen_now(host).await?;
    let to = if suspended { State::Suspended } else { State::Active };
    if suspended && !matches!(seen.state, State::Active | State::Suspended) {
        return Err(format!("{} is {}; wait until that is over", seen.host, seen.state.as_str()));
    }
    let was = known.reveal(&seen)?;
    let mut secrets = was.clone();
    if !suspended {
        // What was cut off may have left it closed, or put away.
        working.still().await?;
        if let Some(aside) = secrets.aside.take() {
            bring_back(&known.settings(settings, &seen)?, &folders::aside(settings, &aside))?;
        }
        known.make_usable(settings, &seen).await?;
        if let Some(next) = &was.next
            && is_under(&known.settings(settings, &seen)?, next).await?
        {
            let host = &seen.host;
            return Err(format!(
                "the books of {host} are under another master key already: say duet reseal --tenant {host} first"
            ));
        }
        secrets = super::moving::leave_the_rest(settings, &seen, secrets).await?;
    }
    if seen.state == to && secrets == was {
        return Ok(format!("{} is {} already", seen.host, to.as_str()));
    }
    let secrets = if secrets == was { seen.secrets.clone() } else { known.hide(&seen.host, &secrets)? };
    let changed = known.change(&seen, Tenant { secrets, state: to, ..seen.clone() }).await?;
    known.settle().await;
    Ok(format!("{} is {}", changed.host, to.as_str()))
}

/// Whether the books of a tenant are under a master key.
async fn is_under(own: &Settings, key: &[u8]) -> Result<bool, String> {
    let ledger = admin::open(own, Memory::among_many(own), Purpose::Reading).await?;
    let under = ledger.is_under(&Keys::of(key)).await;
    ledger.close().await;
    under.map_err(|error| explain(&error))
}

/// Takes a tenant out; what it has is kept aside. Where that is, is answered. It is in the catalogue until all of it is: what
/// is cut off is done again, or taken back by resuming.
pub(crate) async fn remove(settings: &Settings, known: &Known, host: &str) -> Result<PathBuf, String> {
    let working = known.hold(host).await?;
    let seen = known.seen_now(host).await?;
    if matches!(seen.state, State::Moving | State::Switching) {
        return Err(format!("{} is {}; say duet tenant resume first", seen.host, seen.state.as_str()));
    }
    let own = known.settings(settings, &seen)?;
    // What is taken out says so itself; where its books cannot be opened, it is taken out all the same.
    if seen.state != State::Removing
        && let Err(why) = note(&own, &seen.host, false).await
    {
        crate::console::warn(&format!("the tenant's own log does not say that it was removed: {why}"));
    }
    let mut secrets = known.reveal(&seen)?;
    let name = || format!("{}-{}", seen.host, ledger_core::ids::request_id());
    let aside = folders::aside(settings, secrets.aside.get_or_insert_with(name));
    let secrets = known.hide(&seen.host, &secrets)?;
    // From here on nobody asks for it any more, and a server that has it open lets it go: whoever writes to a file that is
    // not where it was would end, with all the others that it serves.
    let removing = known.change(&seen, Tenant { secrets, state: State::Removing, ..seen.clone() }).await?;
    match removed(settings, known, &working, (&removing, &own, &aside)).await {
        Ok(()) => Ok(aside),
        Err(why) => {
            working.still().await?;
            bring_back(&own, &aside)?;
            known.make_usable(settings, &removing).await?;
            known.change(&removing, seen).await?;
            Err(why)
        }
    }
}

/// A folder that was put aside is where it was, and says nothing of what it is: the catalogue does.
fn bring_back(own: &Settings, aside: &Path) -> Result<(), String> {
    if !own.data.exists() && aside.exists() {
        folders::move_to(aside, &own.data)?;
    }
    if folders::says(&own.data) { folders::forget(&own.data) } else { Ok(()) }
}

async fn removed(
    settings: &Settings,
    known: &Known,
    working: &Working,
    (seen, own, aside): (&Tenant, &Settings, &Path),
) -> Result<(), String> {
    let host = &seen.host;
    let secrets = known.reveal(seen)?;
    if !let_go(own.database.expose(), LET_GO).await.map_err(|error| said(&error))? {
        return Err(format!("{host} is still served after {LET_GO:?}; try again, or end that server first"));
    }
    let mut told = Told { database: secrets.url.clone(), cluster: None };
    working.still().await?;
    if let Place::Cluster { cluster, database } = &seen.place {
        known.settle().await;
        working.still().await?;
        let place = settings.cloud.cluster(cluster)?;
        place.close(database, patience(settings)).await.map_err(|error| said(&error))?;
        told = Told { database: Some(database.clone()), cluster: Some(cluster.clone()) };
    }
    private::make_folder(&folders::aside(settings, ""))?;
    // What was cut off may have put it aside already.
    let data = if !own.data.exists() && aside.exists() { aside } else { &own.data };
    private::make_folder(data)?;
    for (name, key) in [("master-key", &secrets.master), (NEXT_KEY, &secrets.next), ("token-secret", &secrets.token)] {
        if let Some(key) = key
            && private::keep_secret(&data.join(name), key)? != *key
        {
            return Err(format!("{} has another {name}; put it away first", data.display()));
        }
    }
    // One that lies there since an earlier time would be taken for one that waits. In a folder that has the keys itself, it waits.
    if secrets.master.is_some() && secrets.next.is_none() {
        let stale = data.join(NEXT_KEY);
        match std::fs::remove_file(&stale) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(format!("cannot remove {}: {error}", stale.display()));
            }
            _ => {}
        }
    }
    // It says what it is before it is anywhere else, so that it does so wherever it is found.
    folders::tell(data, &told)?;
    if data != aside {
        folders::move_to(data, aside)?;
    }
    // All that it takes to put it back is on the disk.
    match known.catalogue.remove(seen).await {
        Ok(true) => Ok(()),
        Ok(false) => Err(format!("somebody else has changed {host} meanwhile; look at it and try again")),
        // It may have been taken out all the same.
        Err(error) => match known.catalogue.find(host).await {
            Ok(None) => Ok(()),
            _ => Err(said(&error)),
        },
    }
}

async fn note(own: &Settings, host: &str, begins: bool) -> Result<(), String> {
    folders::must_have(own)?;
    let ledger = admin::open(own, Memory::among_many(own), Purpose::Writing).await?;
    let noted = async {
        folders::must_be_books(&ledger).await?;
        ledger.migrate().await.map_err(|error| explain(&error))?;
        ledger.note_tenant(host, begins).await.map_err(|error| explain(&error))
    };
    let noted = noted.await;
    ledger.close().await;
    noted
}
