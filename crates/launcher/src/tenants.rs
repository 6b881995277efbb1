//! Whose books a request is about: those of the installation, or those of the tenant that its host names.
//!
//! A tenant is a folder below `<Data>/tenants`, named by its host, with what an installation has: its database, its token
//! secret, its users. It is opened when it is first asked for and closed when nobody asks any more; its name is the issuer
//! and the audience of its tokens. Owns: which tenants are open. Refuses: to know what is in their books.

use crate::admin::{self, Memory};
use crate::config::{Edition, Secret, Settings};
use crate::private;
use http_kit::failure::Failure;
use http_kit::handler::Shell;
use http_kit::quota::Quotas;
use http_kit::request::Limits;
use ledger_core::auth::NewUser;
use ledger_core::database::{Purpose, ReplicaStanding, let_go};
use ledger_core::error::{Error, Unavailable};
use ledger_core::ledger::Ledger;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::{OnceCell, watch};
use tokio::time::{Instant, timeout};

pub(crate) enum Books {
    One(Arc<Shell>),
    Many(Tenants),
}

/// Books, held open as long as this is.
pub(crate) struct Held {
    pub(crate) shell: Arc<Shell>,
    _open: Option<Arc<Open>>,
}

pub(crate) struct Tenants {
    /// As they were at the last change of the configuration.
    settings: Mutex<Arc<Settings>>,
    places: Arc<Mutex<Places>>,
}

/// Where each tenant stands, by its host. One that leaves is waited for: until it has let its books go nobody opens them.
#[derive(Default)]
struct Places {
    open: HashMap<String, Arc<Open>>,
    closing: HashMap<String, watch::Receiver<()>>,
}

/// A tenant that is open, or about to be.
struct Open {
    shell: OnceCell<Arc<Shell>>,
    used: Mutex<Instant>,
    /// When it could not be opened the last time.
    failed: Mutex<Option<Instant>>,
}

/// What a tenant is known by, in its folder.
const KEPT: &str = "tenant.json";
/// As long as a server may take to let a tenant go that was taken out.
const LET_GO: Duration = Duration::from_mins(1);

/// Whoever could not be opened is not tried again before this.
const AGAIN: Duration = Duration::from_secs(2);

impl Open {
    fn fresh() -> Arc<Self> {
        Arc::new(Self { shell: OnceCell::new(), used: Mutex::new(Instant::now()), failed: Mutex::default() })
    }

    /// Opens it, unless that was tried just now. Why it cannot be is told once.
    async fn opened(&self, host: &str, own: &Settings) -> Result<Arc<Shell>, Error> {
        const AWAY: Error = Error::Unavailable(Unavailable::DatabaseAway);
        let failed = || self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        let begin = || async {
            if failed().is_some_and(|at| at.elapsed() < AGAIN) {
                return Err(AWAY);
            }
            let begun = begin(own).await;
            let before = failed().take();
            begun.map_err(|why| {
                *failed() = Some(Instant::now());
                if before.is_none() {
                    tracing::error!(code = "tenant_not_open", tenant = host, why, "a tenant cannot be opened");
                }
                AWAY
            })
        };
        self.shell.get_or_try_init(begin).await.cloned()
    }
}

async fn begin(own: &Settings) -> Result<Arc<Shell>, String> {
    let shell = shell(own, Memory::among_many(own)).await?;
    if own.auto_migrate && shell.ledger.pending_migrations().await.map_err(|error| admin::explain(&error))? > 0 {
        shell.ledger.migrate().await.map_err(|error| admin::explain(&error))?;
    }
    if let Err(error) = shell.ledger.keep_numbers().await {
        tracing::debug!(?error, "records are not counted for now");
    }
    Ok(Arc::new(shell))
}

impl Books {
    /// The books of an installation, or of its tenants.
    pub(crate) async fn open(settings: &Settings) -> Result<Self, String> {
        match settings.edition {
            Edition::Server => Ok(Self::One(Arc::new(shell(settings, Memory::alone(settings)).await?))),
            Edition::Cloud => {
                private::make_folder(&folder(settings))?;
                let settings = Mutex::new(Arc::new(settings.clone()));
                Ok(Self::Many(Tenants { settings, places: Arc::default() }))
            }
        }
    }

    /// The books that a host stands for.
    pub(crate) async fn of(&self, host: &str) -> Result<Held, Failure> {
        match self {
            Self::One(shell) => Ok(Held { shell: shell.clone(), _open: None }),
            Self::Many(tenants) => tenants.of(host).await,
        }
    }

    /// Takes what a running server takes of a new configuration.
    pub(crate) fn take(&self, settings: &Settings) {
        let take = |shell: &Shell| {
            shell.ledger.set_token_lifetime(settings.token_lifetime);
            shell.quotas.set_per_minute(settings.requests_per_minute);
            shell.ledger.set_read_time(settings.read_time);
            shell.ledger.set_write_time(settings.write_time);
        };
        match self {
            Self::One(shell) => take(shell),
            Self::Many(tenants) => {
                *tenants.settings.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(settings.clone());
                tenants.places().open.values().filter_map(|one| one.shell.get()).for_each(|shell| take(shell));
            }
        }
    }

    /// Those that are open. One is held at a time: whoever is held cannot make room for a newcomer.
    fn shells(&self) -> impl Iterator<Item = Arc<Shell>> {
        let shells: Vec<Weak<Shell>> = match self {
            Self::One(shell) => vec![Arc::downgrade(shell)],
            Self::Many(tenants) => {
                let places = tenants.places();
                places.open.values().filter_map(|one| one.shell.get().map(Arc::downgrade)).collect()
            }
        };
        shells.into_iter().filter_map(|shell| shell.upgrade())
    }

    /// The books that are open, each as long as it is held.
    pub(crate) fn ledgers(&self) -> impl Iterator<Item = Arc<Ledger>> {
        self.shells().map(|shell| shell.ledger.clone())
    }

    /// How many sets of books are open.
    pub(crate) fn open_now(&self) -> usize {
        self.shells().count()
    }

    /// How the standbys stand that answer reads, in the order of the configuration.
    pub(crate) fn replicas(&self) -> Vec<ReplicaStanding> {
        self.shells().flat_map(|shell| shell.ledger.replicas()).collect()
    }

    /// What connections of all that are open are for, how many of each are used just now, and how many there are.
    pub(crate) fn connections(&self) -> Vec<(&'static str, usize, usize)> {
        self.shells().flat_map(|shell| shell.ledger.connections()).collect()
    }

    /// Tries again what is known to fail.
    pub(crate) async fn try_again(&self) {
        for shell in self.shells() {
            shell.ledger.try_again().await;
            if let Err(error) = shell.ledger.keep_numbers().await {
                tracing::debug!(?error, "records are not counted for now");
            }
        }
    }

    /// Writes down what was counted of the dialects' use, and of time. One that closed has written its own.
    pub(crate) async fn write_usage(&self) {
        for shell in self.shells() {
            if let Err(error) = shell.ledger.write_usage().await {
                tracing::warn!(?error, "what was counted of the dialects' use could not be written");
            }
            if let Err(error) = shell.ledger.keep_time().await {
                tracing::warn!(?error, "how long the books were served could not be written down");
            }
        }
    }

    /// Closes tenants that nobody asked for in a while, and those that were taken out.
    pub(crate) async fn close_idle(&self) {
        if let Self::Many(tenants) = self {
            tenants.forget_removed();
            let idle = tenants.settings().tenant_idle;
            tenants.close(|used| used.elapsed() >= idle).await;
        }
    }

    /// Answers those who wait for news, and ends what is told as it happens: nobody waits for a server that stops.
    pub(crate) fn end_news(&self) {
        self.shells().for_each(|shell| shell.ledger.end_news());
    }

    /// Finishes what is queued and lets every database go.
    pub(crate) async fn close(&self) {
        match self {
            Self::One(shell) => shell.ledger.close().await,
            Self::Many(tenants) => {
                tenants.close_where(|_| true).await;
                // Those that were leaving by themselves are waited for as well.
                let closing: Vec<_> = tenants.places().closing.values().cloned().collect();
                for mut ending in closing {
                    let _ended = ending.changed().await;
                }
            }
        }
    }

    /// Whether requests can be served: the database answers and its schema is up to date. Of tenants, whether their folder
    /// is there.
    pub(crate) async fn readiness(&self) -> Result<(), &'static str> {
        match self {
            Self::Many(tenants) if folder(&tenants.settings()).is_dir() => Ok(()),
            Self::Many(_) => Err("the folder of the tenants is not there"),
            Self::One(shell) => shell.ledger.readiness().await,
        }
    }
}

impl Tenants {
    fn settings(&self) -> Arc<Settings> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn of(&self, host: &str) -> Result<Held, Failure> {
        let settings = self.settings();
        // Asked each time: a tenant that was removed is gone with the next request.
        let Some(own) = tenant_settings(&settings, host) else {
            self.forget(host);
            return Err(Failure::unknown_host());
        };
        let open = self.place(host, &settings).await?;
        if let Some(shell) = open.shell.get() {
            return Ok(Held { shell: shell.clone(), _open: Some(open.clone()) });
        }
        // In a task of its own: a client that hangs up leaves no schema half changed.
        let (opening, name) = (open.clone(), host.to_owned());
        let opened = tokio::spawn(async move { opening.opened(&name, &own).await });
        let shell = opened.await.map_err(Error::internal)??;
        Ok(Held { shell, _open: Some(open) })
    }

    /// The place of a tenant, or a new one; that of who was idle longest, where all are taken.
    async fn place(&self, host: &str, settings: &Settings) -> Result<Arc<Open>, Failure> {
        const BUSY: Error = Error::Unavailable(Unavailable::Overloaded);
        enum Next {
            Wait(watch::Receiver<()>),
            Room(Vec<Instant>),
        }
        let most = settings.most_tenants;
        loop {
            let next = {
                let mut places = self.places();
                if let Some(ending) = places.closing.get(host) {
                    Next::Wait(ending.clone())
                } else if let Some(found) = places.open.get(host) {
                    *found.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
                    return Ok(found.clone());
                } else if places.open.len() < most {
                    return Ok(places.open.entry(host.to_owned()).or_insert_with(Open::fresh).clone());
                } else {
                    let unused = places.open.values().filter(|one| is_idle(one));
                    Next::Room(unused.map(|one| *one.used.lock().unwrap_or_else(PoisonError::into_inner)).collect())
                }
            };
            match next {
                // It ends with its sender: there is nothing to be said.
                Next::Wait(mut ending) => {
                    let _ended = timeout(settings.request_timeout, ending.changed()).await.map_err(|_| BUSY)?;
                }
                Next::Room(mut ages) => {
                    ages.sort();
                    // A tenth at once, so that not every newcomer has to wait for a farewell. Another newcomer may be quicker
                    // to take the places, and then there are others to leave.
                    let eldest = ages.get(ages.len().min(most.div_ceil(10)).saturating_sub(1)).copied();
                    let Some(eldest) = eldest else { return Err(BUSY.into()) };
                    self.close(|used| used <= eldest).await;
                }
            }
        }
    }

    /// Closes those that are idle and were last used at such a time.
    async fn close(&self, ripe: impl Fn(Instant) -> bool) {
        let is_ripe = |one: &Arc<Open>| ripe(*one.used.lock().unwrap_or_else(PoisonError::into_inner));
        self.close_where(|one| is_idle(one) && is_ripe(one)).await;
    }

    /// Closes them side by side: one that hangs keeps no other from its end.
    async fn close_where(&self, leaves: impl Fn(&Arc<Open>) -> bool) {
        let farewells: Vec<_> = {
            let mut places = self.places();
            let leaving: Vec<_> = places.open.extract_if(|_, one| leaves(one)).collect();
            leaving.into_iter().map(|(host, one)| self.farewell(&mut places, host, one)).collect()
        };
        for one in farewells {
            let _closed = one.await;
        }
    }

    fn forget(&self, host: &str) {
        let mut places = self.places();
        if let Some(gone) = places.open.remove(host) {
            drop(self.farewell(&mut places, host.to_owned(), gone));
        }
    }

    /// Lets those go that were taken out, whether anybody asks for them or not: who takes them out waits for that.
    fn forget_removed(&self) {
        let tenants = folder(&self.settings());
        let open: Vec<String> = self.places().open.keys().cloned().collect();
        for host in open.iter().filter(|host| !tenants.join(host).join(KEPT).is_file()) {
            self.forget(host);
        }
    }

    /// Begins to close one. Until that is done whoever asks for it waits.
    fn farewell(&self, places: &mut Places, host: String, leaving: Arc<Open>) -> tokio::task::JoinHandle<()> {
        let (ended, ending) = watch::channel(());
        places.closing.insert(host.clone(), ending);
        let leaves = Leaving { places: self.places.clone(), host, _ended: ended };
        supervise::once("the farewell of a tenant", async move {
            let _leaves = leaves;
            if let Some(shell) = leaving.shell.get() {
                shell.ledger.close().await;
            }
            drop(leaving);
        })
    }
}

/// A tenant that leaves, until it has left.
struct Leaving {
    places: Arc<Mutex<Places>>,
    host: String,
    _ended: watch::Sender<()>,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        self.places.lock().unwrap_or_else(PoisonError::into_inner).closing.remove(&self.host);
    }
}

/// Whether no request holds it, nor any work that goes on after its request.
fn is_idle(open: &Arc<Open>) -> bool {
    let rests = |shell: &Arc<Shell>| Arc::strong_count(shell) == 1 && Arc::strong_count(&shell.ledger) == 1;
    Arc::strong_count(open) == 1 && open.shell.get().is_none_or(rests)
}

async fn shell(settings: &Settings, memory: Memory) -> Result<Shell, String> {
    let ledger = admin::open(settings, memory, Purpose::Serving).await?;
    ledger.set_write_time(settings.write_time);
    Ok(Shell {
        ledger,
        limits: Limits { body: settings.body_limit, request: settings.request_timeout },
        quotas: Quotas::new(settings.requests_per_minute, settings.requests_at_once),
    })
}

// ── Their folders ──

pub(crate) fn folder(settings: &Settings) -> PathBuf {
    settings.data.join("tenants")
}

/// A host as it names a folder: a name of letters, digits, dots and dashes, in lower case, without a port.
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

/// The settings of a tenant; nothing where there is none.
pub(crate) fn tenant_settings(settings: &Settings, host: &str) -> Option<Settings> {
    let data = folder(settings).join(host);
    let text = std::fs::read_to_string(data.join(KEPT)).ok()?;
    let kept: Value = serde_json::from_str(&text).ok()?;
    Some(of_tenant(settings, host, kept["database"].as_str().map(str::to_owned)))
}

/// The settings of a tenant whose books are there, or else in its folder.
fn of_tenant(settings: &Settings, host: &str, database: Option<String>) -> Settings {
    let data = folder(settings).join(host);
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

/// The settings of a tenant that may be there or not: without one, its books are a file in its folder.
pub(crate) fn place_of(settings: &Settings, host: &str) -> Settings {
    tenant_settings(settings, host).unwrap_or_else(|| of_tenant(settings, host, None))
}

/// A tenant whose books are in its folder is there from now on, unless it was.
pub(crate) fn keep(data: &Path) -> Result<(), String> {
    if data.join(KEPT).exists() {
        return Ok(());
    }
    draft(data, None).and_then(|draft| move_to(&draft, &data.join(KEPT)))
}

/// What a tenant is known by, under another name first: it is there once its books are.
fn draft(data: &Path, database: Option<&str>) -> Result<PathBuf, String> {
    let cannot = |error: std::io::Error| format!("cannot write {}: {error}", data.display());
    let draft = data.join("tenant.json.new");
    let kept = json!({"database": database}).to_string();
    let mut file = private::create(&draft).map_err(cannot)?;
    std::io::Write::write_all(&mut file, kept.as_bytes()).and_then(|()| file.sync_all()).map_err(cannot)?;
    Ok(draft)
}

/// All tenants, by their hosts.
pub(crate) fn list(settings: &Settings) -> Vec<String> {
    let entries = std::fs::read_dir(folder(settings)).into_iter().flatten().filter_map(Result::ok);
    let mut hosts: Vec<String> = entries
        .filter(|entry| entry.path().join(KEPT).is_file())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    hosts.sort();
    hosts
}

/// What a tenant is made with.
pub(crate) struct NewTenant {
    pub(crate) host: String,
    /// Another database than a file of its own.
    pub(crate) database: Option<String>,
    pub(crate) email: String,
    pub(crate) password: Option<String>,
}

/// Makes a tenant and its first user. The password is answered where it was made up.
pub(crate) async fn add(settings: &Settings, new: NewTenant) -> Result<Option<String>, String> {
    let host = normal_host(&new.host).ok_or_else(|| format!("{} is no host name", new.host))?;
    let data = folder(settings).join(&host);
    if data.join(KEPT).exists() {
        return Err(format!("the tenant {host} is there already"));
    }
    private::make_folder(&data)?;
    let draft = draft(&data, new.database.as_deref())?;
    let own = Settings {
        pool_size: settings.pool_size,
        readers: settings.readers,
        ..of_tenant(settings, &host, new.database.clone())
    };
    let ledger = admin::open(&own, Memory::among_many(&own), Purpose::Writing).await?;
    let made = match first_user(&ledger, new).await {
        Ok(made) => ledger.note_tenant(&host, true).await.map(|()| made).map_err(|error| admin::explain(&error)),
        Err(why) => Err(why),
    };
    ledger.close().await;
    let made = made?;
    move_to(&draft, &data.join(KEPT))?;
    Ok(made)
}

async fn first_user(ledger: &Ledger, new: NewTenant) -> Result<Option<String>, String> {
    ledger.migrate().await.map_err(|error| admin::explain(&error))?;
    let user = NewUser {
        display_name: new.email.clone(),
        email: new.email,
        username: None,
        password: String::new(),
        must_change_password: false,
        is_system_admin: true,
    };
    let made = ledger.bootstrap(user, new.password).await.map_err(|error| admin::explain(&error))?;
    Ok(made.filter(|first| first.password_made).map(|first| first.user.password))
}

/// Takes a tenant out; its folder is kept aside. Where that is, is answered.
pub(crate) async fn remove(settings: &Settings, host: &str, stamp: &str) -> Result<PathBuf, String> {
    let host = normal_host(host).ok_or_else(|| format!("{host} is no host name"))?;
    let data = folder(settings).join(&host);
    if !data.join(KEPT).is_file() {
        return Err(format!("there is no tenant {host}"));
    }
    // What is taken out says so itself; where its books cannot be opened, it is taken out all the same.
    let own = tenant_settings(settings, &host);
    if let Some(own) = &own
        && let Err(why) = note_removal(own, &host).await
    {
        crate::console::warn(&format!("the tenant's own log does not say that it was removed: {why}"));
    }
    let aside = settings.data.join("removed-tenants");
    private::make_folder(&aside)?;
    let aside = aside.join(format!("{host}-{stamp}"));
    // From here on nobody asks for it any more, and a server that has it open lets it go: whoever writes to a file that is
    // not where it was would end, with all the others that it serves.
    let (kept, out) = (data.join(KEPT), data.join("tenant.json.removed"));
    move_to(&kept, &out)?;
    let is_free = match &own {
        Some(own) => let_go(own.database.expose(), LET_GO).await.map_err(|error| error.to_string()),
        None => Ok(true),
    };
    if !matches!(is_free, Ok(true)) {
        move_to(&out, &kept)?;
        is_free?;
        return Err(format!("{host} is still served after {LET_GO:?}; try again, or end that server first"));
    }
    move_to(&data, &aside)?;
    move_to(&aside.join("tenant.json.removed"), &aside.join(KEPT))?;
    Ok(aside)
}

async fn note_removal(own: &Settings, host: &str) -> Result<(), String> {
    let ledger = admin::open(own, Memory::among_many(own), Purpose::Writing).await?;
    let noted = match ledger.migrate().await {
        Ok(()) => ledger.note_tenant(host, false).await,
        Err(error) => Err(error),
    };
    ledger.close().await;
    noted.map_err(|error| admin::explain(&error))
}

fn move_to(from: &Path, to: &Path) -> Result<(), String> {
    std::fs::rename(from, to).map_err(|error| format!("cannot move {} to {}: {error}", from.display(), to.display()))
}

#[cfg(test)]
mod tests;
