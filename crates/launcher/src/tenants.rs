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
use ledger_core::database::Purpose;
use ledger_core::error::{Error, Unavailable};
use ledger_core::ledger::Ledger;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio::sync::OnceCell;
use tokio::time::Instant;

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
    open: Mutex<HashMap<String, Arc<Open>>>,
}

/// A tenant that is open, or about to be.
struct Open {
    shell: OnceCell<Arc<Shell>>,
    used: Mutex<Instant>,
}

impl Books {
    /// The books of an installation, or of its tenants.
    pub(crate) async fn open(settings: &Settings) -> Result<Self, String> {
        match settings.edition {
            Edition::Server => Ok(Self::One(Arc::new(shell(settings, Memory::alone(settings)).await?))),
            Edition::Cloud => {
                private::make_folder(&folder(settings))?;
                let settings = Mutex::new(Arc::new(settings.clone()));
                Ok(Self::Many(Tenants { settings, open: Mutex::default() }))
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
                let open = tenants.open.lock().unwrap_or_else(PoisonError::into_inner);
                open.values().filter_map(|one| one.shell.get()).for_each(|shell| take(shell));
            }
        }
    }

    /// Those that are open. One is held at a time: whoever is held cannot make room for a newcomer.
    fn shells(&self) -> impl Iterator<Item = Arc<Shell>> {
        let shells: Vec<Weak<Shell>> = match self {
            Self::One(shell) => vec![Arc::downgrade(shell)],
            Self::Many(tenants) => {
                let open = tenants.open.lock().unwrap_or_else(PoisonError::into_inner);
                open.values().filter_map(|one| one.shell.get().map(Arc::downgrade)).collect()
            }
        };
        shells.into_iter().filter_map(|shell| shell.upgrade())
    }

    /// Tries again what is known to fail.
    pub(crate) async fn try_again(&self) {
        for shell in self.shells() {
            shell.ledger.try_again().await;
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

    /// Closes tenants that nobody asked for in a while.
    pub(crate) async fn close_idle(&self) {
        if let Self::Many(tenants) = self {
            let idle = tenants.settings().tenant_idle;
            tenants.close(|used| used.elapsed() >= idle).await;
        }
    }

    /// Finishes what is queued and lets every database go.
    pub(crate) async fn close(&self) {
        match self {
            Self::One(shell) => shell.ledger.close().await,
            Self::Many(tenants) => {
                let open = std::mem::take(&mut *tenants.open.lock().unwrap_or_else(PoisonError::into_inner));
                close_all(open.into_values()).await;
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

    async fn of(&self, host: &str) -> Result<Held, Failure> {
        let settings = self.settings();
        // Asked each time: a tenant that was removed is gone with the next request.
        let Some(own) = tenant_settings(&settings, host) else {
            self.forget(host);
            return Err(Failure::unknown_host());
        };
        let open = match self.known(host) {
            Some(open) => open,
            None => self.admit(host, settings.most_tenants).await?,
        };
        if let Some(shell) = open.shell.get() {
            return Ok(Held { shell: shell.clone(), _open: Some(open.clone()) });
        }
        // In a task of its own: a client that hangs up leaves no schema half changed.
        let opening = open.clone();
        let opened = tokio::spawn(async move {
            let opened = opening.shell.get_or_try_init(|| async {
                let shell = shell(&own, Memory::among_many(&own)).await.map_err(Error::internal)?;
                if own.auto_migrate && shell.ledger.pending_migrations().await? > 0 {
                    shell.ledger.migrate().await?;
                }
                Ok::<_, Error>(Arc::new(shell))
            });
            opened.await.cloned()
        });
        let shell = opened.await.map_err(Error::internal)??;
        Ok(Held { shell, _open: Some(open) })
    }

    fn known(&self, host: &str) -> Option<Arc<Open>> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let found = open.get(host).cloned();
        if let Some(found) = &found {
            *found.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        }
        found
    }

    /// A place for one more; that of who was idle longest, where all are taken.
    async fn admit(&self, host: &str, most: usize) -> Result<Arc<Open>, Failure> {
        loop {
            let mut ages: Vec<Instant> = {
                let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
                if open.len() < most || open.contains_key(host) {
                    let fresh = || Arc::new(Open { shell: OnceCell::new(), used: Mutex::new(Instant::now()) });
                    return Ok(open.entry(host.to_owned()).or_insert_with(fresh).clone());
                }
                let unused = open.values().filter(|one| is_idle(one));
                unused.map(|one| *one.used.lock().unwrap_or_else(PoisonError::into_inner)).collect()
            };
            ages.sort();
            // A tenth at once, so that not every newcomer has to wait for a farewell. Another newcomer may be quicker to take
            // the places, and then there are others to leave.
            let eldest = ages.get(ages.len().min(most.div_ceil(10)).saturating_sub(1)).copied();
            let Some(eldest) = eldest else { return Err(Error::Unavailable(Unavailable::Overloaded).into()) };
            self.close(|used| used <= eldest).await;
        }
    }

    /// Closes those that are idle and were last used at such a time.
    async fn close(&self, ripe: impl Fn(Instant) -> bool) {
        let mut leaving = Vec::new();
        {
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            open.retain(|_, one| {
                let used = *one.used.lock().unwrap_or_else(PoisonError::into_inner);
                let stays = !is_idle(one) || !ripe(used);
                if !stays {
                    leaving.push(one.clone());
                }
                stays
            });
        }
        close_all(leaving).await;
    }

    fn forget(&self, host: &str) {
        let gone = self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(host);
        if let Some(shell) = gone.and_then(|one| one.shell.get().cloned()) {
            supervise::once("the farewell of a tenant", async move { shell.ledger.close().await });
        }
    }
}

/// Closes them side by side: one that hangs keeps no other from its end.
async fn close_all(leaving: impl IntoIterator<Item = Arc<Open>>) {
    let closing = leaving.into_iter().map(|one| async move {
        if let Some(shell) = one.shell.get() {
            shell.ledger.close().await;
        }
    });
    let closing: Vec<_> = closing.map(|one| supervise::once("the farewell of a tenant", one)).collect();
    for one in closing {
        let _closed = one.await;
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

fn folder(settings: &Settings) -> PathBuf {
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
    let text = std::fs::read_to_string(data.join("tenant.json")).ok()?;
    let kept: Value = serde_json::from_str(&text).ok()?;
    let own = || format!("sqlite:{}", data.join("duet.db").display());
    Some(Settings {
        database: Secret::of(kept["database"].as_str().map_or_else(own, str::to_owned)),
        // Many share what one installation has.
        pool_size: settings.pool_size.min(4),
        readers: settings.readers.min(2),
        token_secret: None,
        master_key: None,
        token_issuer: host.to_owned(),
        token_audience: host.to_owned(),
        data,
        ..settings.clone()
    })
}

/// All tenants, by their hosts.
pub(crate) fn list(settings: &Settings) -> Vec<String> {
    let entries = std::fs::read_dir(folder(settings)).into_iter().flatten().filter_map(Result::ok);
    let mut hosts: Vec<String> = entries
        .filter(|entry| entry.path().join("tenant.json").is_file())
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
    if data.join("tenant.json").exists() {
        return Err(format!("the tenant {host} is there already"));
    }
    private::make_folder(&data)?;
    let cannot = |error: std::io::Error| format!("cannot write {}: {error}", data.display());
    // Under another name first: a tenant is there once its books are.
    let draft = data.join("tenant.json.new");
    let kept = json!({"database": new.database}).to_string();
    let mut file = private::create(&draft).map_err(cannot)?;
    std::io::Write::write_all(&mut file, kept.as_bytes()).and_then(|()| file.sync_all()).map_err(cannot)?;
    let own = || format!("sqlite:{}", data.join("duet.db").display());
    let own = Settings {
        database: Secret::of(new.database.clone().unwrap_or_else(own)),
        token_secret: None,
        master_key: None,
        token_issuer: host.clone(),
        token_audience: host.clone(),
        data: data.clone(),
        ..settings.clone()
    };
    let ledger = admin::open(&own, Memory::among_many(&own), Purpose::Writing).await?;
    let made = match first_user(&ledger, new).await {
        Ok(made) => ledger.note_tenant(&host, true).await.map(|()| made).map_err(|error| admin::explain(&error)),
        Err(why) => Err(why),
    };
    ledger.close().await;
    let made = made?;
    std::fs::rename(&draft, data.join("tenant.json")).map_err(cannot)?;
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
    if !data.join("tenant.json").is_file() {
        return Err(format!("there is no tenant {host}"));
    }
    // What is taken out says so itself; where its books cannot be opened, it is taken out all the same.
    if let Some(own) = tenant_settings(settings, &host)
        && let Err(why) = note_removal(&own, &host).await
    {
        crate::console::warn(&format!("the tenant's own log does not say that it was removed: {why}"));
    }
    let aside = settings.data.join("removed-tenants");
    private::make_folder(&aside)?;
    let aside = aside.join(format!("{host}-{stamp}"));
    move_folder(&data, &aside)?;
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

fn move_folder(from: &Path, to: &Path) -> Result<(), String> {
    std::fs::rename(from, to).map_err(|error| format!("cannot move {} to {}: {error}", from.display(), to.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_one_name_however_it_is_written() {
        for (written, name) in [
            ("acme.example", Some("acme.example")),
            ("ACME.Example:8443", Some("acme.example")),
            ("acme.example.", Some("acme.example")),
            ("localhost:5000", Some("localhost")),
            ("", None),
            ("..", None),
            ("../etc", None),
            ("a/b", None),
            ("a..b", None),
            ("-a.example", None),
            ("[::1]:80", None),
            ("acme.example:80x", None),
            ("user@acme.example", None),
        ] {
            assert_eq!(normal_host(written).as_deref(), name, "{written}");
        }
    }
}
