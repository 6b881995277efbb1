//! Administration: opening the books, the token secret, the first user, users by command line.

use crate::cli::{UserCommand, UserName};
use crate::config::Settings;
use crate::console::{say, warn};
use ledger_core::access::Role;
use ledger_core::auth::{NewUser, TokenOptions, UserStatus};
use ledger_core::clock::Clock;
use ledger_core::database::{DatabaseOptions, Purpose};
use ledger_core::error::Error;
use ledger_core::ids::BusinessId;
use ledger_core::keys::Keys;
use ledger_core::ledger::{Ledger, LedgerOptions};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// An error of the ledger for the person at the terminal, who may see what a client may not.
pub(crate) fn explain(error: &Error) -> String {
    let mut text = match error {
        Error::Internal(detail) => detail.clone(),
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

/// What books may hold in memory beside what they need.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory {
    /// Answers that are kept, in bytes.
    answers: usize,
    /// Of all connections to SQLite together.
    page_cache_kib: u32,
}

impl Memory {
    /// Of the only books of a process.
    pub(crate) const ALONE: Self = Self { answers: 64 << 20, page_cache_kib: 128 << 10 };
    /// Of books among many.
    pub(crate) const AMONG_MANY: Self = Self { answers: 2 << 20, page_cache_kib: 4 << 10 };
}

pub(crate) async fn open(settings: &Settings, memory: Memory, purpose: Purpose) -> Result<Arc<Ledger>, String> {
    // Who only reads makes nothing that is not there.
    if purpose != Purpose::Reading {
        make_private_folder(&settings.data)?;
    }
    let secret = match &settings.token_secret {
        Some(secret) => secret.expose().as_bytes().to_vec(),
        None => kept_secret(&settings.data.join("token-secret"), purpose)?,
    };
    let master = match &settings.master_key {
        Some(key) => key.expose().as_bytes().to_vec(),
        None => kept_secret(&settings.data.join("master-key"), purpose)?,
    };
    let options = LedgerOptions {
        database: DatabaseOptions {
            url: settings.database.expose().to_owned(),
            purpose,
            pool_size: settings.pool_size,
            readers: settings.readers,
            page_cache_kib: memory.page_cache_kib,
        },
        tokens: TokenOptions {
            secret,
            issuer: settings.token_issuer.clone(),
            audience: settings.token_audience.clone(),
            lifetime: settings.token_lifetime,
        },
        keys: Keys::of(&master),
        write_queue: settings.write_queue,
        answer_bytes: memory.answers,
        clock: Clock::system(),
    };
    let shown = crate::config::without_password(settings.database.expose());
    Ledger::open(options).await.map_err(|error| format!("cannot open {shown}: {}", explain(&error)))
}

pub(crate) fn make_private_folder(folder: &Path) -> Result<(), String> {
    use std::os::unix::fs::DirBuilderExt;
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|error| format!("cannot make the folder {}: {error}", folder.display()))
}

/// A secret of this installation, made at the first start and readable by its owner alone. Who only reads makes none,
/// and does with one that is nobody's.
fn kept_secret(path: &Path, purpose: Purpose) -> Result<Vec<u8>, String> {
    use std::os::unix::fs::OpenOptionsExt;
    let cannot = |error: std::io::Error| format!("cannot keep a secret in {}: {error}", path.display());
    match std::fs::read(path) {
        Ok(secret) if secret.len() >= 32 => return Ok(secret),
        Ok(_) => return Err(format!("{} is too short for a secret; remove it to have a new one made", path.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(cannot(error)),
    }
    let secret = ledger_core::ids::random_secret().map_err(|error| explain(&error))?;
    if purpose == Purpose::Reading {
        return Ok(secret.to_vec());
    }
    let mut options = std::fs::OpenOptions::new();
    match options.write(true).create_new(true).mode(0o600).open(path) {
        Ok(mut file) => std::io::Write::write_all(&mut file, &secret).and_then(|()| file.sync_all()).map_err(cannot)?,
        // Another process made it at the same moment; theirs is the one that counts.
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => return std::fs::read(path).map_err(cannot),
        Err(error) => return Err(cannot(error)),
    }
    Ok(secret)
}

/// Makes the first user of an empty installation.
pub(crate) async fn first_start(ledger: &Ledger, settings: &Settings) -> Result<(), String> {
    let first = NewUser {
        email: settings.bootstrap_email.clone().unwrap_or_else(|| "admin@localhost".into()),
        username: settings.bootstrap_username.clone().or_else(|| Some("admin".into())),
        display_name: "Administrator".into(),
        password: String::new(),
        is_system_admin: true,
    };
    let password = settings.bootstrap_password.as_ref().map(|password| password.expose().to_owned());
    let made = ledger.bootstrap(first, password).await;
    let made = made.map_err(|error| format!("cannot make the first user: {}", explain(&error)))?;
    if let Some(first) = made {
        let username = first.user.username.unwrap_or_default();
        say(&format!("first start: made the user {} ({username})", first.user.email));
        if first.password_made {
            say(&format!("its password, shown only now: {}", first.user.password));
        }
    }
    Ok(())
}

pub(crate) async fn user(ledger: Arc<Ledger>, command: UserCommand) -> Result<String, String> {
    if let UserCommand::List = command {
        up_to_date(&ledger).await?;
    } else {
        ledger.migrate().await.map_err(|error| explain(&error))?;
    }
    match command {
        UserCommand::Add { email, username, name, admin, password_stdin, member } => {
            let (password, made) = password(password_stdin)?;
            let new = NewUser {
                display_name: name.unwrap_or_else(|| email.clone()),
                email,
                username,
                password: password.clone(),
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
        UserCommand::Passwd { user: UserName { user }, password_stdin } => {
            let (password, made) = password(password_stdin)?;
            let found = ledger.user(&user).await.map_err(|error| explain(&error))?;
            ledger.set_password(found.id, password.clone()).await.map_err(|error| explain(&error))?;
            Ok(format!("changed the password of {user}; its tokens are revoked{}", shown(&password, made)))
        }
        UserCommand::Disable { user: UserName { user } } => set_status(&ledger, &user, UserStatus::Disabled).await,
        UserCommand::Enable { user: UserName { user } } => set_status(&ledger, &user, UserStatus::Active).await,
        UserCommand::ResetTotp { user: UserName { user } } => {
            let found = ledger.user(&user).await.map_err(|error| explain(&error))?;
            ledger.reset_second_factor(found.id).await.map_err(|error| explain(&error))?;
            Ok(format!("{user} logs in with the password alone"))
        }
        UserCommand::Role { user: UserName { user }, business, role } => {
            set_role(&ledger, &user, &business, &role).await?;
            Ok(format!("{user} is now {role} in {business}"))
        }
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
    Ok(format!("{user} is now {status}; its tokens are revoked"))
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
