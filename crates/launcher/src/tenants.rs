//! Whose books a request is about: those of the installation, or those of the tenant that its host names.
//!
//! A tenant has what an installation has: its database, its keys, its users. Which there are and where their books are, the
//! catalogue knows. It is opened when it is first asked for and closed when nobody asks any more, or when the catalogue says
//! something else of it; its name is the issuer and the audience of its tokens. Owns: which tenants are open. Refuses: to
//! know what is in their books.

pub(crate) mod api;
mod empty;
mod folders;
mod known;
pub(crate) mod making;
pub(crate) mod moving;
mod resealing;

use crate::admin::{self, Memory};
use crate::config::{Edition, Settings};
use catalogue::{State, Tenant};
pub(crate) use folders::{must_be_books, normal_host};
use http_kit::failure::Failure;
use http_kit::handler::Shell;
use http_kit::quota::Quotas;
use http_kit::request::Limits;
use known::Minutes;
pub(crate) use known::{HIDDEN, Known, patience};
use ledger_core::database::{Purpose, ReplicaStanding};
use ledger_core::error::{Code, Error, Unavailable};
use ledger_core::ledger::Ledger;
pub(crate) use resealing::KeyOfTenant;
use std::collections::HashMap;
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
    known: Arc<Known>,
    _hearing: supervise::Kept,
    places: Arc<Mutex<Places>>,
}

/// Where each tenant stands, by its host. One that leaves is waited for: until it has let its books go nobody opens them.
#[derive(Default)]
struct Places {
    open: HashMap<String, Arc<Open>>,
    closing: HashMap<String, watch::Receiver<()>>,
    /// When all were last found in use: whoever comes right after that need not look at each of them.
    full: Option<Instant>,
}

/// A tenant that is open, or about to be.
struct Open {
    /// Which change of it this is of.
    turn: i64,
    /// Whether its books are only read, because they are on their way to another place.
    reads_only: bool,
    shell: OnceCell<Arc<Shell>>,
    used: Mutex<Instant>,
    /// When it could not be opened the last time.
    failed: Mutex<Option<Instant>>,
}

/// Whoever comes while the books are between two places waits so long.
const HOLD: Duration = Duration::from_secs(10);
/// How often whoever waits looks whether it is over.
const LOOK: Duration = Duration::from_millis(25);
/// So long a newcomer waits for a place where all are in use.
const MOMENT: Duration = Duration::from_secs(1);
/// Requests that began before a tenant leaves may take so long.
const LAST: Duration = Duration::from_secs(5);
/// Whoever could not be opened is not tried again before this.
const AGAIN: Duration = Duration::from_secs(2);

impl Open {
    fn of(tenant: &Tenant) -> Arc<Self> {
        let (turn, reads_only) = (tenant.turn, tenant.state == State::Moving);
        let (shell, used, failed) = (OnceCell::new(), Mutex::new(Instant::now()), Mutex::default());
        Arc::new(Self { turn, reads_only, shell, used, failed })
    }

    /// Opens it, unless that was tried just now. Why it cannot be is told once.
    async fn opened(&self, known: &Arc<Known>, host: &str, own: Result<Settings, String>) -> Result<Arc<Shell>, Error> {
        const AWAY: Error = Error::Unavailable(Unavailable::DatabaseAway);
        let failed = || self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        let begin = || async {
            if failed().is_some_and(|at| at.elapsed() < AGAIN) {
                return Err(AWAY);
            }
            let begun = match own {
                Ok(own) => begin(known, host, &own, self.reads_only).await,
                Err(why) => Err(why),
            };
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

async fn begin(known: &Arc<Known>, host: &str, own: &Settings, reads_only: bool) -> Result<Arc<Shell>, String> {
    let purpose = if reads_only { Purpose::Reading } else { Purpose::Serving };
    folders::must_have(own)?;
    let mut shell = shell(own, Memory::among_many(own), purpose).await?;
    if known.is_shared() {
        let minutes = Minutes { known: known.clone(), host: host.to_owned() };
        shell.quotas = shell.quotas.together(Arc::new(minutes));
    }
    if reads_only {
        return Ok(Arc::new(shell));
    }
    must_be_books(&shell.ledger).await?;
    if shell.ledger.pending_migrations().await.map_err(|error| admin::explain(&error))? > 0 {
        if !own.auto_migrate {
            return Err(format!("its schema is not up to date; run duet migrate --tenant {host}"));
        }
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
            Edition::Server => {
                Ok(Self::One(Arc::new(shell(settings, Memory::alone(settings), Purpose::Serving).await?)))
            }
            Edition::Cloud => {
                let known = Known::open(settings).await?;
                let hears = known.clone();
                let hearing = supervise::keep("what hears of tenants", move || hears.clone().hear());
                let settings = Mutex::new(Arc::new(settings.clone()));
                Ok(Self::Many(Tenants { settings, known, _hearing: hearing, places: Arc::default() }))
            }
        }
    }

    /// The books that a host stands for, to be written or only read.
    pub(crate) async fn of(&self, host: &str, writes: bool) -> Result<Held, Failure> {
        match self {
            Self::One(shell) => Ok(Held { shell: shell.clone(), _open: None }),
            Self::Many(tenants) => tenants.of(host, writes).await,
        }
    }

    /// What is known of tenants, and the settings that they are administered by; nothing where there is one installation.
    pub(crate) fn administered(&self) -> Option<(Arc<Known>, Arc<Settings>)> {
        match self {
            Self::One(_) => None,
            Self::Many(tenants) => Some((tenants.known.clone(), tenants.settings())),
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
        self.shells_where(|_| true)
    }

    /// Those that are written as well: nobody does anything by itself in books that are on their way to another place.
    fn written(&self) -> impl Iterator<Item = Arc<Shell>> {
        self.shells_where(|one| !one.reads_only)
    }

    fn shells_where(&self, wanted: impl Fn(&Open) -> bool) -> impl Iterator<Item = Arc<Shell>> {
        let shells: Vec<Weak<Shell>> = match self {
            Self::One(shell) => vec![Arc::downgrade(shell)],
            Self::Many(tenants) => {
                let places = tenants.places();
                let open = places.open.values().filter(|one| wanted(one));
                open.filter_map(|one| one.shell.get().map(Arc::downgrade)).collect()
            }
        };
        shells.into_iter().filter_map(|shell| shell.upgrade())
    }

    /// The books that are open and written, each as long as it is held.
    pub(crate) fn ledgers(&self) -> impl Iterator<Item = Arc<Ledger>> {
        self.written().map(|shell| shell.ledger.clone())
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
        for shell in self.written() {
            shell.ledger.try_again().await;
            if let Err(error) = shell.ledger.keep_numbers().await {
                tracing::debug!(?error, "records are not counted for now");
            }
        }
    }

    /// Writes down what was counted of the dialects' use, and of time. One that closed has written its own.
    pub(crate) async fn write_usage(&self) {
        for shell in self.written() {
            if let Err(error) = shell.ledger.write_usage().await {
                tracing::warn!(?error, "what was counted of the dialects' use could not be written");
            }
            if let Err(error) = shell.ledger.keep_time().await {
                tracing::warn!(?error, "how long the books were served could not be written down");
            }
        }
    }

    /// Closes tenants that nobody asked for in a while, and those of which the catalogue says something else by now.
    pub(crate) async fn close_idle(&self) {
        if let Self::Many(tenants) = self {
            tenants.look_again().await;
            let idle = tenants.settings().cloud.idle;
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
                tenants.known.close().await;
            }
        }
    }

    /// Whether requests can be served: the database answers and its schema is up to date. Of tenants, whether their folder
    /// is there.
    pub(crate) async fn readiness(&self) -> Result<(), &'static str> {
        match self {
            Self::Many(tenants) if folders::all(&tenants.settings()).is_dir() => Ok(()),
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

    async fn of(&self, host: &str, writes: bool) -> Result<Held, Failure> {
        let settings = self.settings();
        let until = Instant::now() + HOLD.min(settings.request_timeout / 2);
        loop {
            // Asked each time: what became of a tenant is so with the next request.
            let Some(tenant) = self.known.find(host).await? else {
                self.leave_other(host, None);
                return Err(Failure::unknown_host());
            };
            self.leave_other(host, Some(&tenant));
            match tenant.state {
                State::Suspended => return Err(Failure::suspended()),
                State::Removing => return Err(Failure::unknown_host()),
                State::Switching => {}
                State::Moving if writes => {}
                State::Active | State::Moving => match self.held(&tenant, &settings).await {
                    // It moved on just now, and what was there is not there any more.
                    Err(failure) if failure.code == Code::Unavailable && self.known.moved_on(&tenant).await => {}
                    held => return held,
                },
            }
            if Instant::now() >= until {
                return Err(Error::Unavailable(Unavailable::Moving).into());
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    async fn held(&self, tenant: &Tenant, settings: &Settings) -> Result<Held, Failure> {
        let open = self.place(tenant, settings).await?;
        if let Some(shell) = open.shell.get() {
            return Ok(Held { shell: shell.clone(), _open: Some(open.clone()) });
        }
        let own = self.known.settings(settings, tenant);
        // In a task of its own: a client that hangs up leaves no schema half changed.
        let (opening, known, tenant) = (open.clone(), self.known.clone(), tenant.clone());
        let opened = tokio::spawn(async move {
            let opened = opening.opened(&known, &tenant.host, own).await;
            if opened.is_ok() && !opening.reads_only {
                known.is_served(&tenant).await;
            }
            opened
        });
        let shell = opened.await.map_err(Error::internal)??;
        Ok(Held { shell, _open: Some(open) })
    }

    /// The place of a tenant, or a new one; that of who was idle longest, where all are taken.
    async fn place(&self, tenant: &Tenant, settings: &Settings) -> Result<Arc<Open>, Failure> {
        const BUSY: Error = Error::Unavailable(Unavailable::Overloaded);
        enum Next {
            Wait(watch::Receiver<()>),
            Room(Vec<Instant>),
            Leaves,
            Full,
        }
        let (host, most) = (tenant.host.as_str(), settings.cloud.most_open);
        let mut end = None;
        // Who leaves has connections yet, and takes a place so long. One that hangs keeps nobody from theirs.
        let left = Instant::now() + MOMENT;
        loop {
            let next = {
                let mut places = self.places();
                let leaving = if Instant::now() < left { places.closing.len() } else { 0 };
                if let Some(ending) = places.closing.get(host) {
                    Next::Wait(ending.clone())
                } else if let Some(found) = places.open.get(host) {
                    *found.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
                    return Ok(found.clone());
                } else if places.open.len() + leaving < most {
                    return Ok(places.open.entry(host.to_owned()).or_insert_with(|| Open::of(tenant)).clone());
                } else if places.open.len() < most {
                    Next::Leaves
                } else if places.full.is_some_and(|at| at.elapsed() < LOOK) {
                    Next::Full
                } else {
                    let unused = places.open.values().filter(|one| is_idle(one));
                    let used = |one: &Arc<Open>| *one.used.lock().unwrap_or_else(PoisonError::into_inner);
                    let ages: Vec<Instant> = unused.map(used).collect();
                    places.full = ages.is_empty().then(Instant::now);
                    if ages.is_empty() { Next::Full } else { Next::Room(ages) }
                }
            };
            match next {
                // It ends with its sender: there is nothing to be said.
                Next::Wait(mut ending) => {
                    let _ended = timeout(settings.request_timeout, ending.changed()).await.map_err(|_| BUSY)?;
                    // It may have left because its books are elsewhere by now.
                    if self.known.moved_on(tenant).await {
                        return Err(Error::Unavailable(Unavailable::Moving).into());
                    }
                }
                Next::Room(mut ages) => {
                    ages.sort();
                    // A tenth at once, so that not every newcomer has to wait for a farewell. Another newcomer may be quicker
                    // to take the places, and then there are others to leave.
                    let eldest = ages[ages.len().min(most.div_ceil(10).max(1)) - 1];
                    self.close(|used| used <= eldest).await;
                }
                Next::Leaves => tokio::time::sleep(LOOK).await,
                // Who has just been answered is let go a moment later.
                Next::Full => {
                    if Instant::now() >= *end.get_or_insert_with(|| Instant::now() + MOMENT) {
                        return Err(BUSY.into());
                    }
                    tokio::time::sleep(LOOK).await;
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

    /// Lets a tenant go that is open as it is no more.
    fn leave_other(&self, host: &str, tenant: Option<&Tenant>) {
        let is = |one: &Open| tenant.is_some_and(|tenant| tenant.turn == one.turn && is_served(tenant.state));
        let mut places = self.places();
        if places.open.get(host).is_some_and(|one| !is(one))
            && let Some(gone) = places.open.remove(host)
        {
            drop(self.farewell(&mut places, host.to_owned(), gone));
        }
    }

    /// Lets those go of which something else is known by now, whether anybody asks for them or not: who changes them waits
    /// for that.
    async fn look_again(&self) {
        let open: Vec<String> = self.places().open.keys().cloned().collect();
        for host in open {
            // One that nothing is known of stays as it is.
            if let Ok(found) = self.known.find(&host).await {
                self.leave_other(&host, found.as_deref());
            }
        }
        self.known.forget_minutes().await;
    }

    /// Begins to close one. Until that is done whoever asks for it waits.
    fn farewell(&self, places: &mut Places, host: String, leaving: Arc<Open>) -> tokio::task::JoinHandle<()> {
        let (ended, ending) = watch::channel(());
        places.closing.insert(host.clone(), ending);
        let leaves = Leaving { places: self.places.clone(), host, _ended: ended };
        supervise::once("the farewell of a tenant", async move {
            let _leaves = leaves;
            if let Some(shell) = leaving.shell.get() {
                shell.ledger.end_news();
                let end = Instant::now() + LAST;
                while !is_idle(&leaving) && Instant::now() < end {
                    tokio::time::sleep(LOOK).await;
                }
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

const fn is_served(state: State) -> bool {
    matches!(state, State::Active | State::Moving)
}

async fn shell(settings: &Settings, memory: Memory, purpose: Purpose) -> Result<Shell, String> {
    let ledger = admin::open(settings, memory, purpose).await?;
    ledger.set_write_time(settings.write_time);
    Ok(Shell {
        ledger,
        limits: Limits { body: settings.body_limit, request: settings.request_timeout },
        quotas: Quotas::new(settings.requests_per_minute, settings.requests_at_once),
    })
}

#[cfg(test)]
mod tests;
