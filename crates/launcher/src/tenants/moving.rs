//! The books of a tenant move to another place while they are served.
//!
//! 1. The catalogue says `moving`: servers open the books to be read alone, and whoever writes waits.
//! 2. Nobody can write any more, whatever they believe: the file is claimed, or the database takes no writes.
//! 3. All of it is copied and proved, and its digests are those of before.
//! 4. The catalogue says `switching`, and where the books are from now on: whoever asks waits, and servers let go of the old.
//! 5. What was left is put aside under another name: whoever has not heard finds nothing there, rather than what is old.
//! 6. The catalogue says that they are served.
//!
//! Who moves them holds the tenant for as long, and asks before each step that others could undo whether they hold it still.
//!
//! Whatever ends that, `duet tenant resume` serves them again: before the fourth step where they were, and after it where
//! they are, for nobody wrote in between.

use super::folders;
use super::known::{Known, Secrets, Working, patience};
use super::making::{LET_GO, apart};
use crate::admin::{self, Memory};
use crate::config::{Secret, Settings};
use crate::{convert, private};
use catalogue::{Cluster, Place, State, Tenant};
use ledger_core::database::{Purpose, let_go, settle};
use ledger_core::fault::said;
use ledger_core::ledger::Ledger;
use std::path::Path;
use std::sync::Arc;

/// Where the books of a tenant are to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum To {
    Cluster(String),
    /// A file of this machine.
    Folder,
}

impl To {
    pub(crate) fn parse(text: &str) -> Self {
        if text == "folder" { Self::Folder } else { Self::Cluster(text.to_owned()) }
    }
}

/// Moves the books of a tenant. What was done is answered.
pub(crate) async fn move_to(
    settings: &Settings,
    known: &Known,
    host: &str,
    to: &To,
    shown: &convert::Shown,
) -> Result<String, String> {
    let working = known.hold(host).await?;
    let seen = known.seen_now(host).await?;
    let host = seen.host.clone();
    match seen.state {
        State::Active => {}
        State::Moving | State::Switching | State::Suspended | State::Removing => {
            return Err(format!(
                "{host} is {}; where nobody sees to it any more, say duet tenant resume first",
                seen.state.as_str()
            ));
        }
    }
    let is_there = match (&seen.place, to) {
        (Place::Folder, To::Folder) => true,
        (Place::Cluster { cluster, .. }, To::Cluster(name)) => cluster == name,
        (Place::Address, _) => {
            return Err(format!(
                "the books of {host} are in a database that somebody gave it; copy them with duet copy-database, and add the \
                 tenant anew"
            ));
        }
        _ => false,
    };
    if is_there {
        return Err(format!("the books of {host} are there already"));
    }
    if known.is_shared() && *to == To::Folder {
        return Err("servers that share a catalogue share no files".into());
    }
    let made = match to {
        To::Folder => None,
        To::Cluster(name) => Some((settings.cloud.cluster(name)?.clone(), Cluster::name_for(&host, &apart()))),
    };
    // What was left before is noted until it is closed, and one place is noted at a time.
    working.still().await?;
    if leave_the_rest(settings, &seen, known.reveal(&seen)?).await?.leaves.is_some() {
        return Err(format!(
            "what {host} has left before is not closed yet; say duet tenant resume once that is reached"
        ));
    }
    let old = Old::of(settings, known, &seen)?;
    folders::must_have(&old.own)?;
    let keys = kept_keys(&old.own)?;
    let moving = known.change(&seen, Tenant { state: State::Moving, ..seen.clone() }).await?;
    match copied(settings, known, &working, (&moving, &old, keys), (made.as_ref(), shown)).await {
        Ok((told, switching)) => switched(settings, known, &working, (&switching, &old), told).await,
        Err(why) => back(settings, known, &working, (&moving, &seen, &old), made.as_ref(), why).await,
    }
}

/// Serves a tenant where it was, and says why. It is served once its place takes writes again; until then it stays as it is.
async fn back(
    settings: &Settings,
    known: &Known,
    working: &Working,
    (moving, seen, old): (&Tenant, &Tenant, &Old),
    made: Option<&(Cluster, String)>,
    why: String,
) -> Result<String, String> {
    let undone = async {
        working.still().await?;
        old.open_again(settings).await?;
        known.change(moving, seen.clone()).await
    };
    if let Err(also) = undone.await {
        return Err(format!("{why}\n{also}\n{} is read and not written; say duet tenant resume", seen.host));
    }
    if let Some((cluster, database)) = made
        && let Err(error) = cluster.remove(database, patience(settings)).await
    {
        crate::console::warn(&format!("the database {database} was made and is not used: {}", said(&error)));
    }
    Err(format!("{why}\n{} is served where it was", seen.host))
}

/// Where the books come from.
struct Old {
    own: Settings,
    cluster: Option<(Cluster, String)>,
}

impl Old {
    fn of(settings: &Settings, known: &Known, tenant: &Tenant) -> Result<Self, String> {
        let own = known.settings(settings, tenant)?;
        let cluster = match &tenant.place {
            Place::Cluster { cluster, database } => Some((settings.cloud.cluster(cluster)?.clone(), database.clone())),
            Place::Folder | Place::Address => None,
        };
        Ok(Self { own, cluster })
    }

    /// From here on nobody writes there, as long as what is answered is held.
    async fn close_to_writers(&self, settings: &Settings) -> Result<Option<Arc<Ledger>>, String> {
        if let Some((cluster, database)) = &self.cluster {
            cluster.close_to_writers(database, patience(settings)).await.map_err(|error| said(&error))?;
            return Ok(None);
        }
        if !let_go(self.own.database.expose(), LET_GO).await.map_err(|error| said(&error))? {
            return Err(format!("its books are still written after {LET_GO:?}; try again, or end that server first"));
        }
        admin::open(&self.own, Memory::among_many(&self.own), Purpose::Serving).await.map(Some)
    }

    async fn open_again(&self, settings: &Settings) -> Result<(), String> {
        let Some((cluster, database)) = &self.cluster else { return Ok(()) };
        let opened = cluster.open(database, patience(settings)).await;
        opened.map_err(|error| format!("the database {database} still takes no writes: {}", said(&error)))
    }

    /// The same as the catalogue has it, until it is closed.
    fn left(&self) -> Option<String> {
        let (cluster, database) = self.cluster.as_ref()?;
        Some(Place::Cluster { cluster: cluster.name().to_owned(), database: database.clone() }.to_string())
    }

    /// Nobody finds anything there any more. What is kept is answered.
    async fn leave(&self, settings: &Settings) -> Result<String, String> {
        if let Some((cluster, database)) = &self.cluster {
            cluster.close(database, patience(settings)).await.map_err(|error| said(&error))?;
            return Ok(format!("the database {database} in {}, which is closed", cluster.name()));
        }
        if !let_go(self.own.database.expose(), LET_GO).await.map_err(|error| said(&error))? {
            return Err(format!("{} is held by somebody", self.own.data.display()));
        }
        put_aside(&self.own.data)
    }
}

/// Gives the file of a folder another name.
fn put_aside(data: &Path) -> Result<String, String> {
    let file = data.join("duet.db");
    let aside = data.join(format!("duet.db.moved-{}", apart()));
    settle(&file).map_err(|error| said(&error))?;
    folders::move_to(&file, &aside)?;
    Ok(aside.display().to_string())
}

/// Closes the place that a tenant has left, where its move was cut off before that was done. Whether anything is left to be closed
/// is answered as what its secrets say from now on.
pub(super) async fn leave_the_rest(settings: &Settings, tenant: &Tenant, secrets: Secrets) -> Result<Secrets, String> {
    leave_file(settings, tenant).await?;
    let Some(left) = secrets.leaves.as_deref().and_then(Place::parse) else { return Ok(secrets) };
    let Place::Cluster { cluster, database } = &left else { return Ok(secrets) };
    if left == tenant.place {
        return Ok(Secrets { leaves: None, ..secrets });
    }
    let closed = match settings.cloud.cluster(cluster) {
        Ok(cluster) => cluster.close(database, patience(settings)).await.map_err(|error| said(&error)),
        Err(why) => Err(why),
    };
    match closed {
        Ok(()) => Ok(Secrets { leaves: None, ..secrets }),
        Err(why) => {
            // What is in its place now is served meanwhile.
            crate::console::warn(&format!("{left}, which {} has left, is not closed yet: {why}", tenant.host));
            Ok(secrets)
        }
    }
}

/// Puts the file aside that a tenant has left, where its move was cut off before that was done.
async fn leave_file(settings: &Settings, tenant: &Tenant) -> Result<(), String> {
    let own = folders::settings_of(settings, &tenant.host, None);
    let is_left = matches!(tenant.place, Place::Cluster { .. }) && tenant.state == State::Switching;
    if !is_left || !own.data.join("duet.db").exists() {
        return Ok(());
    }
    if !let_go(own.database.expose(), LET_GO).await.map_err(|error| said(&error))? {
        return Err(format!("{} is held by somebody", own.data.display()));
    }
    put_aside(&own.data).map(drop)
}

/// Copies the books to where they are to be, while nobody writes; then the catalogue says that they are there.
async fn copied(
    settings: &Settings,
    known: &Known,
    working: &Working,
    (moving, old, keys): (&Tenant, &Old, Secrets),
    (made, shown): (Option<&(Cluster, String)>, &convert::Shown),
) -> Result<(String, Tenant), String> {
    known.settle().await;
    working.still().await?;
    let guard = old.close_to_writers(settings).await?;
    let url = if let Some((cluster, database)) = made {
        cluster.make(database, None, patience(settings)).await.map_err(|error| said(&error))?;
        cluster.url_of(database)
    } else {
        format!("sqlite:{}", old.own.data.join("duet.db").display())
    };
    let new = Settings { database: Secret::of(url), ..old.own.clone() };
    let copied = convert::copy_of(&new, old.own.database.expose(), shown).await;
    if let Some(guard) = guard {
        guard.close().await;
    }
    let told = copied?;
    let (place, secrets) = if let Some((cluster, database)) = made {
        let place = Place::Cluster { cluster: cluster.name().to_owned(), database: database.clone() };
        (place, known.hide(&moving.host, &Secrets { leaves: old.left(), ..keys })?)
    } else {
        keep_keys(&old.own.data, &keys)?;
        (Place::Folder, known.hide(&moving.host, &Secrets { leaves: old.left(), ..Secrets::default() })?)
    };
    let switching = Tenant { place, secrets, state: State::Switching, ..moving.clone() };
    Ok((told, known.change(moving, switching).await?))
}

/// The books are where they are to be, and nobody writes anywhere: from here on there is no way back. What cannot be closed of the
/// old place is told.
async fn switched(
    settings: &Settings,
    known: &Known,
    working: &Working,
    (switching, old): (&Tenant, &Old),
    told: String,
) -> Result<String, String> {
    known.settle().await;
    working
        .still()
        .await
        .map_err(|why| format!("{why}\nthe books are in {}; say duet tenant resume", switching.place))?;
    let mut secrets = known.reveal(switching)?;
    let kept = match old.leave(settings).await {
        Ok(kept) => {
            secrets.leaves = None;
            format!("what was left is kept as {kept}")
        }
        Err(why) => format!("what was left could not be closed, say duet tenant resume once it is reached: {why}"),
    };
    let secrets = known.hide(&switching.host, &secrets)?;
    let now = known.change(switching, Tenant { secrets, state: State::Active, ..switching.clone() }).await;
    let now =
        now.map_err(|why| format!("{why}\nthe books are in {}; {kept}; say duet tenant resume", switching.place))?;
    Ok(format!("{told}\n{} is served from {}; {kept}", now.host, now.place))
}

/// The keys of a tenant, wherever they are kept.
fn kept_keys(own: &Settings) -> Result<Secrets, String> {
    let kept = |given: &Option<crate::config::Key>, name: &str| match given {
        Some(key) => Ok(Some(key.expose().to_vec())),
        None => private::secret(&own.data.join(name)),
    };
    let (master, token) = (kept(&own.master_key, "master-key")?, kept(&own.token_secret, "token-secret")?);
    if master.is_none() {
        return Err(format!("there is no master key in {}", own.data.display()));
    }
    Ok(Secrets { master, token, ..Secrets::default() })
}

fn keep_keys(data: &Path, keys: &Secrets) -> Result<(), String> {
    for (name, key) in [("master-key", &keys.master), ("token-secret", &keys.token)] {
        let Some(key) = key else { continue };
        if private::keep_secret(&data.join(name), key)? != *key {
            return Err(format!("{} has another {name}", data.display()));
        }
    }
    Ok(())
}
