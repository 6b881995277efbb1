//! Administration: opening the books, the token secret, the first user, users by command line.

use crate::cli::{UserCommand, UserName};
use crate::config::Settings;
use crate::console::{Page, say, warn};
use crate::private;
use ledger_core::access::Role;
use ledger_core::auth::{NewUser, TokenOptions, UserStatus};
use ledger_core::clock::Clock;
use ledger_core::database::{DatabaseOptions, Following, Patience, Purpose, file_of, unverified_host};
use ledger_core::error::Error;
use ledger_core::ids::BusinessId;
use ledger_core::keys::Keys;
use ledger_core::ledger::{Ledger, LedgerOptions};
use ledger_core::resource::api_key::UserKey;
use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An error of the ledger for the person at the terminal, who may see what a client may not.
pub(crate) fn explain(error: &Error) -> String {
    let mut text = match error {
        Error::Internal(detail) => detail.clone(),
        Error::Tampered { business, what } => {
            format!("company {business}: {what}, so it is not what was written; run duet verify")
        }
        Error::NotFound => "there is no such user".into(),
        other => other.title(),
    };
    let (Error::Validation(errors) | Error::Conflict(ledger_core::error::Conflict { errors, .. })) = error else {
        return text;
    };
    for (field, messages) in errors.iter() {
        text.push_str(&format!("\n  {field}: {}", messages.join("; ")));
    }
    text
}

/// No books work with less.
const LEAST_CACHES: usize = 1 << 20;

/// What books may hold in memory beside what they need.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory {
    /// Answers that are kept, in bytes.
    answers: usize,
    /// What is remembered of users, keys and memberships, in bytes.
    remembered: usize,
    /// What lanes remember of companies, in bytes.
    lanes: usize,
    /// Of all connections to SQLite together: pages and statements.
    page_cache_kib: u32,
}

impl Memory {
    /// Of the only books of a process.
    pub(crate) fn alone(settings: &Settings) -> Self {
        Self::of(settings.caches)
    }

    /// Of books among as many as may be open at once.
    pub(crate) fn among_many(settings: &Settings) -> Self {
        Self::of((settings.caches / settings.cloud.most_open.max(1)).max(LEAST_CACHES))
    }

    /// Half for pages and statements of the database, a quarter for answers, an eighth for who may do what, and as much for
    /// what lanes remember of companies.
    fn of(caches: usize) -> Self {
        let page_cache_kib = u32::try_from((caches / 2) >> 10).unwrap_or(u32::MAX);
        Self { answers: caches / 4, remembered: caches / 8, lanes: caches / 8, page_cache_kib }
    }
}

/// The file of books that is not there.
pub(crate) fn missing(url: &str) -> Option<PathBuf> {
    file_of(url).filter(|file| !file.exists())
}

/// Refuses where the books are not there.
pub(crate) fn must_be_there(url: &str) -> Result<(), String> {
    match missing(url) {
        None => Ok(()),
        Some(file) => Err(format!(
            "there are no books at {}: `duet init` or the first `duet serve` makes them; where they are elsewhere, say it \
             with --data, --database or --config",
            file.display()
        )),
    }
}

pub(crate) async fn open(settings: &Settings, memory: Memory, purpose: Purpose) -> Result<Arc<Ledger>, String> {
    // Who only reads makes nothing that is not there.
    if purpose != Purpose::Reading {
        private::make_folder(&settings.data)?;
        private::narrow_secrets(&settings.data);
    }
    if let Some(host) = unverified_host(settings.database.expose()) {
        tracing::warn!(host, "the database is elsewhere and its certificate is not verified; add ?sslmode=verify-full");
    }
    let kept = settings.data.join("token-secret");
    let secret = match (&settings.token_secret, &settings.master_key) {
        (Some(secret), _) => secret.expose().to_vec(),
        // Servers that are given one master key take each other's log-ins, unless one has a secret of its own.
        (None, Some(master)) => match private::secret(&kept)? {
            Some(secret) => secret,
            None => Keys::of(master.expose()).token_secret().map_err(|error| explain(&error))?,
        },
        (None, None) => kept_secret(&kept, purpose)?,
    };
    let place = settings.data.join("master-key");
    let master = match &settings.master_key {
        Some(key) => Some(key.expose().to_vec()),
        None => private::secret(&place)?,
    };
    if let Some(master) = master {
        if settings.master_key.is_none() && master == secret {
            tracing::warn!(
                "the master key is the token secret as well; duet reseal brings the books under one of their own"
            );
        }
        return open_with(settings, memory, purpose, (secret, &master, false)).await;
    }
    // Books of a release that made none of its own are under the token secret.
    let ledger = open_with(settings, memory, purpose, (secret.clone(), &secret, false)).await?;
    if purpose == Purpose::Reading {
        return Ok(ledger);
    }
    match ledger.belongs_to(&Keys::of(&secret)).await.map_err(|error| explain(&error))? {
        Some(true) => private::keep_secret(&place, &secret).map(|_| ledger),
        Some(false) => match private::secret(&place)? {
            // Another process made it meanwhile.
            Some(master) => {
                ledger.close().await;
                drop(ledger);
                open_with(settings, memory, purpose, (secret, &master, false)).await
            }
            // Whatever is done with it says why it cannot be. A key that was made up here would hide which one is missing.
            None => Ok(ledger),
        },
        None => {
            ledger.close().await;
            drop(ledger);
            let made = ledger_core::ids::random_secret().map_err(|error| explain(&error))?;
            let master = private::keep_secret(&place, &made)?;
            open_with(settings, memory, purpose, (secret, &master, master == made)).await
        }
    }
}

pub(crate) async fn open_with(
    settings: &Settings,
    memory: Memory,
    purpose: Purpose,
    (secret, master, is_new): (Vec<u8>, &[u8], bool),
) -> Result<Arc<Ledger>, String> {
    let options = LedgerOptions {
        database: DatabaseOptions {
            url: settings.database.expose().to_owned(),
            purpose,
            pool_size: settings.pool_size,
            patience: Patience {
                connect: settings.connect_timeout,
                statement: settings.statement_timeout,
                writer: settings.write_timeout,
            },
            readers: settings.readers,
            page_cache_kib: memory.page_cache_kib,
            log_budget: settings.log_budget,
            following: following(settings, purpose),
        },
        tokens: TokenOptions {
            secret,
            issuer: settings.token_issuer.clone(),
            audience: settings.token_audience.clone(),
            lifetime: settings.token_lifetime,
        },
        keys: Keys::of(master),
        keys_are_new: is_new,
        write_queue: settings.write_queue,
        answer_bytes: memory.answers,
        remembered_bytes: memory.remembered,
        lane_bytes: memory.lanes,
        read_time: settings.read_time,
        clock: Clock::system(),
    };
    let shown = crate::config::without_password(settings.database.expose());
    Ledger::open(options).await.map_err(|error| format!("cannot open {shown}: {}", explain(&error)))
}

/// What answers reads beside the database: whoever does not serve them reads the database itself.
fn following(settings: &Settings, purpose: Purpose) -> Following {
    let urls = settings.replicas.iter().filter(|_| purpose == Purpose::Serving).map(|url| url.expose().to_owned());
    Following { urls: urls.collect(), oldest: settings.replica_lag }
}

/// A secret of this installation, made at the first start and readable by its owner alone. Who only reads keeps none, and
/// does with what would be made.
fn kept_secret(path: &Path, purpose: Purpose) -> Result<Vec<u8>, String> {
    if let Some(secret) = private::secret(path)? {
        return Ok(secret);
    }
    let made = ledger_core::ids::random_secret().map_err(|error| explain(&error))?;
    if purpose == Purpose::Reading { Ok(made) } else { private::keep_secret(path, &made) }
}

/// Makes the first user of an empty installation.
pub(crate) async fn first_start(ledger: &Ledger, settings: &Settings) -> Result<(), String> {
    let first = NewUser {
        email: settings.bootstrap_email.clone().unwrap_or_else(|| "admin@localhost".into()),
        username: settings.bootstrap_username.clone().or_else(|| Some("admin".into())),
        display_name: "Administrator".into(),
        password: String::new(),
        must_change_password: false,
        is_system_admin: true,
    };
    let password = settings.bootstrap_password.as_ref().map(|password| password.expose().to_owned());
    let made = ledger.bootstrap(first, password).await;
    let made = made.map_err(|error| format!("cannot make the first user: {}", explain(&error)))?;
    if let Some(first) = made {
        let username = first.user.username.unwrap_or_default();
        say(&format!("first start: made the user {} ({username})", first.user.email));
        if first.password_made {
            say(&told_once(&settings.data, &first.user.email, &first.user.password));
        }
    }
    Ok(())
}

/// Tells a password that was made up: to a person at a terminal, else in a file of its owner's alone. What is printed where
/// nobody looks is kept by whoever collects it.
pub(crate) fn told_once(data: &Path, email: &str, password: &str) -> String {
    if std::io::stdout().is_terminal() {
        return format!("its password, shown only now: {password}");
    }
    let path = data.join(FIRST_PASSWORD);
    match private::create(&path).and_then(|mut file| writeln!(file, "{password}").and_then(|()| file.sync_all())) {
        Ok(()) => format!("its password is in {}; log in, choose another, and remove that file", path.display()),
        Err(error) => format!(
            "its password cannot be kept in {} ({error}): make another with duet user passwd {email}",
            path.display()
        ),
    }
}

/// The file of the first user's password, in the folder of the books.
const FIRST_PASSWORD: &str = "first-password";

pub(crate) async fn user(ledger: Arc<Ledger>, command: UserCommand) -> Result<String, String> {
    up_to_date(&ledger).await?;
    match command {
        UserCommand::Add { email, said, username, name, admin, password_stdin, must_change, member } => {
            let email = email.or(said).ok_or("say the e-mail of the user")?;
            let (password, made) = password(password_stdin)?;
            let new = NewUser {
                display_name: name.unwrap_or_else(|| email.clone()),
                email,
                username,
                password: password.clone(),
                must_change_password: must_change,
                is_system_admin: admin,
            };
            let user = ledger.add_user(new).await.map_err(|error| explain(&error))?;
            if let (Some(business), Some(role)) = (&member.business, &member.role) {
                set_role(&ledger, &user.email, business, role).await?;
            }
            Ok(format!("added {} {}{}", user.id, user.email, shown(&password, made)))
        }
        UserCommand::List => {
            let users = ledger.users().await.map_err(|error| explain(&error))?;
            let line = |user: ledger_core::auth::UserSummary| {
                let username = user.username.unwrap_or_else(|| "-".into());
                let admin = if user.is_system_admin { "  admin" } else { "" };
                format!("{}  {}  {username}  {}{admin}", user.id, user.email, user.status)
            };
            Ok(users.into_iter().map(line).collect::<Vec<_>>().join("\n"))
        }
        UserCommand::Passwd { user: UserName { user }, password_stdin, must_change, keep_keys } => {
            let (password, made) = password(password_stdin)?;
            let found = ledger.user(&user).await.map_err(|error| explain(&error))?;
            ledger.set_password(found.id, password.clone(), must_change).await.map_err(|error| explain(&error))?;
            let keys = if keep_keys { ledger.keys_of(found.id).await } else { ledger.end_keys(found.id).await };
            let keys = keys_said(&keys.map_err(|error| explain(&error))?, keep_keys);
            Ok(format!("changed the password of {user}; its sessions are ended{keys}{}", shown(&password, made)))
        }
        UserCommand::Logout { user: UserName { user } } => {
            let found = ledger.user(&user).await.map_err(|error| explain(&error))?;
            let ended = ledger.end_sessions(found.id).await.map_err(|error| explain(&error))?;
            Ok(format!("ended {ended} sessions of {user}"))
        }
        UserCommand::Disable { user: UserName { user } } => set_status(&ledger, &user, UserStatus::Disabled).await,
        UserCommand::Enable { user: UserName { user } } => set_status(&ledger, &user, UserStatus::Active).await,
        UserCommand::ResetTotp { user: UserName { user } } => {
            let found = ledger.user(&user).await.map_err(|error| explain(&error))?;
            ledger.reset_second_factor(found.id).await.map_err(|error| explain(&error))?;
            Ok(format!("{user} logs in with the password alone; its sessions are ended"))
        }
        UserCommand::Role { user: UserName { user }, business, role } => {
            set_role(&ledger, &user, &business, &role).await?;
            Ok(format!("{user} is now {role} in {business}"))
        }
    }
}

/// The installation's own log.
pub(crate) async fn log(ledger: Arc<Ledger>) -> Result<String, String> {
    up_to_date(&ledger).await?;
    let mut page = Page::default();
    let write = |line: &str| page.write_all(format!("{line}\n").as_bytes()).map_err(Error::internal);
    match ledger.installation_log(write).await {
        Err(error) if !page.is_closed => Err(explain(&error)),
        Ok(()) | Err(_) => Ok(String::new()),
    }
}

/// Refuses where the schema is not what this program reads.
pub(crate) async fn up_to_date(ledger: &Ledger) -> Result<(), String> {
    match ledger.pending_migrations().await.map_err(|error| explain(&error))? {
        0 => Ok(()),
        _ => Err("the schema is not up to date; run duet migrate first".into()),
    }
}

async fn set_status(ledger: &Ledger, user: &str, status: UserStatus) -> Result<String, String> {
    let found = ledger.user(user).await.map_err(|error| explain(&error))?;
    ledger.set_user_status(found.id, status).await.map_err(|error| explain(&error))?;
    let keys = if status == UserStatus::Disabled { " and API keys" } else { "" };
    Ok(format!("{user} is now {status}; its sessions{keys} are ended"))
}

/// The keys that somebody has, where their password is changed for them.
fn keys_said(keys: &[UserKey], kept: bool) -> String {
    if keys.is_empty() {
        return String::new();
    }
    let names: Vec<String> = keys.iter().map(|key| format!("\n  {} ({})", key.name, key.company)).collect();
    let done = if kept { "are kept, and still good" } else { "are ended" };
    format!("\nthese API keys of it {done}:{}", names.concat())
}

async fn set_role(ledger: &Ledger, user: &str, business: &str, role: &str) -> Result<(), String> {
    let role: Role = role.parse().map_err(|unknown| format!("--role: {unknown}"))?;
    let business =
        BusinessId::parse(business).ok_or_else(|| format!("--business: {business} is no identifier of a company"))?;
    let found = ledger.user(user).await.map_err(|error| explain(&error))?;
    ledger.set_role(business, found.id, role).await.map_err(|error| explain(&error))
}

/// The password on standard input, or one that is made up and must be shown.
pub(crate) fn password(from_stdin: bool) -> Result<(String, bool), String> {
    if !from_stdin {
        return ledger_core::auth::random_password().map(|password| (password, true)).map_err(|error| explain(&error));
    }
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(|error| format!("cannot read the password: {error}"))?;
    if text.trim_end_matches(['\r', '\n']) != text.trim() {
        warn("the password begins or ends with spaces; they count");
    }
    Ok((text.trim_end_matches(['\r', '\n']).to_owned(), false))
}

pub(crate) fn shown(password: &str, made: bool) -> String {
    if made { format!("\npassword, shown only now: {password}") } else { String::new() }
}
