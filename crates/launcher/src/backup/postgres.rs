//! Copies of PostgreSQL, by its own programs.
//!
//! What a dump holds is of one moment, and so is what is told of it: it is read at the same one.

use crate::admin::explain;
use crate::bar;
use convert::Place;
use ledger_core::fault::said;
use ledger_core::ledger::{Ledger, Standing};
use percent_encoding::percent_decode_str;
use sea_orm::{ConnectionTrait, Statement};
use std::future::Future;
use std::io::{BufRead, BufReader, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::oneshot;

/// What is to be installed where a program is missing.
const MISSING: &str = "is not installed; it comes with the client programs of PostgreSQL, of the server's release or a newer \
                       one (on Debian and Ubuntu: apt-get install postgresql-client)";

/// One of PostgreSQL's programs: the newest that there is, for an older one refuses a newer server.
fn program(name: &str) -> PathBuf {
    let folders = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let release = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
    let newest = folders
        .map(|entry| entry.path())
        .filter(|path| path.join("bin").join(name).is_file())
        .max_by_key(|path| release(path));
    newest.map_or_else(|| PathBuf::from(name), |folder| folder.join("bin").join(name))
}

/// The release of one of PostgreSQL's programs; nothing where it is not installed.
pub(crate) fn release(name: &str) -> Option<i64> {
    let told = Command::new(program(name)).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&told.stdout).into_owned();
    // `pg_dump (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)`
    let version = text.split_whitespace().find(|word| word.starts_with(|letter: char| letter.is_ascii_digit()))?;
    version.split('.').next()?.parse().ok()
}

/// A command on a database. Its password goes by the environment, where nobody else sees it.
fn command(name: &str, url: &str) -> Command {
    let mut command = Command::new(program(name));
    let (address, password) = without_its_password(url);
    if let Some(password) = password {
        command.env("PGPASSWORD", password);
    }
    command.arg("--dbname").arg(address);
    command
}

/// A URL, and the password in it.
fn without_its_password(url: &str) -> (String, Option<String>) {
    let Some((scheme, rest)) = url.split_once("://") else { return (url.to_owned(), None) };
    let (place, query) = rest.split_once('?').map_or((rest, None), |(place, query)| (place, Some(query)));
    let (place, mut password) = match place.rsplit_once('@') {
        Some((user, host)) => match user.split_once(':') {
            Some((user, password)) => (format!("{user}@{host}"), Some(password.to_owned())),
            None => (place.to_owned(), None),
        },
        None => (place.to_owned(), None),
    };
    let mut kept = Vec::new();
    for pair in query.into_iter().flat_map(|query| query.split('&')) {
        match pair.split_once('=') {
            Some(("password", value)) => password = Some(value.to_owned()),
            _ => kept.push(pair),
        }
    }
    let password = password.map(|text| percent_decode_str(&text).decode_utf8_lossy().into_owned());
    let query = if kept.is_empty() { String::new() } else { format!("?{}", kept.join("&")) };
    (format!("{scheme}://{place}{query}"), password)
}

/// Runs a program to its end. What it says of what it does is heard; where it fails, what it said last is the error.
fn run(mut command: Command, name: &str, mut hears: impl FnMut(&str)) -> Result<(), String> {
    let started = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let mut child = started.map_err(|error| match error.kind() {
        ErrorKind::NotFound => format!("{name} {MISSING}"),
        _ => format!("cannot start {name}: {error}"),
    })?;
    let mut last: Vec<String> = Vec::new();
    for line in BufReader::new(child.stderr.take().into_iter().next().ok_or("nobody hears it")?).lines() {
        let Ok(line) = line else { break };
        hears(&line);
        if line.contains("error:") || !last.is_empty() {
            last.push(line);
        }
    }
    let ended = child.wait().map_err(|error| format!("{name} does not end: {error}"))?;
    if ended.success() { Ok(()) } else { Err(format!("{name} failed: {}", last.join("\n  "))) }
}

/// Writes what is in the database into a file. Where the books stand in it is answered, where their schema is known.
pub(super) async fn dump(
    ledger: &Arc<Ledger>,
    url: &str,
    path: &Path,
    known: bool,
) -> Result<Option<Standing>, String> {
    let tables = tables(url).await?;
    let moment = ledger.moment().await.map_err(|error| explain(&error))?;
    let mut command = command("pg_dump", url);
    command.args(["--format=custom", "--no-owner", "--no-privileges", "--verbose", "--file"]).arg(path);
    command.args(moment.name.as_ref().map(|name| format!("--snapshot={name}")));
    let over = Arc::new(AtomicUsize::new(0));
    let shown = over.clone();
    let bar = bar::show(move || (shown.load(Ordering::Relaxed) * 100 / tables.max(1)).min(99));
    let (tell, told) = oneshot::channel();
    let mut tell = Some(tell);
    let dumping = tokio::task::spawn_blocking(move || {
        run(command, "pg_dump", |line| {
            // With its first words it has taken the moment over.
            if let Some(tell) = tell.take() {
                let _nobody_waits = tell.send(());
            }
            over.fetch_add(usize::from(line.contains("dumping contents of table")), Ordering::Relaxed);
        })
    });
    // Where it does not even begin, it says why at its end.
    let _begun = told.await;
    let standing = if known { Some(ledger.stands(moment).await) } else { None };
    let dumped = dumping.await.map_err(|error| format!("pg_dump was not waited for: {error}"))?;
    drop(bar);
    dumped?;
    standing.transpose().map_err(|error| explain(&error))
}

/// How many tables there are.
async fn tables(url: &str) -> Result<usize, String> {
    let place = Place::reading(url).await.map_err(|error| said(&error))?;
    let tables = place.tables().await.map_err(|error| said(&error));
    place.close().await.map_err(|error| said(&error))?;
    tables.map(|tables| tables.len())
}

/// The address of another database of the same server.
fn another(url: &str, name: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let (place, query) = rest.split_once('?').map_or((rest, None), |(place, query)| (place, Some(query)));
    let host = place.split_once('/').map_or(place, |(host, _)| host);
    Some(format!("{scheme}://{host}/{name}{}", query.map_or(String::new(), |query| format!("?{query}"))))
}

async fn run_on(url: &str, statement: &str) -> Result<(), String> {
    let place = Place::writing(url).await.map_err(|error| said(&error))?;
    let done = place.database().execute_unprepared(statement).await.map(drop);
    place.close().await.and(done).map_err(|error| said(&error))
}

/// Proves what a dump holds: it is loaded into a database that is made for it on the same server, and gone afterwards.
pub(super) async fn prove<F>(url: &str, path: &Path, proof: impl FnOnce(String) -> F) -> Result<(), String>
where
    F: Future<Output = Result<(), String>>,
{
    let name = format!("duet_proof_{}", ledger_core::ids::request_id().replace('-', "_"));
    let own = another(url, &name).ok_or("the database's address names no host")?;
    run_on(url, &format!("CREATE DATABASE {name}")).await.map_err(|why| {
        format!(
            "there is no database to prove the copy in: {why}; give the role CREATEDB, or restore the copy elsewhere \
             with --verify"
        )
    })?;
    let proved = match load(&own, path, false).await {
        Ok(()) => proof(own).await,
        Err(why) => Err(why),
    };
    let gone = run_on(url, &format!("DROP DATABASE {name}")).await;
    proved.and(gone)
}

/// An error where books are there, unless they may be replaced, or where somebody has them open.
pub(super) async fn check_free(url: &str, replace: bool) -> Result<(), String> {
    if tables(url).await? == 0 {
        return Ok(());
    }
    if !replace {
        return Err("there is something in this database already: restore into an empty one, or say --replace".into());
    }
    let place = Place::reading(url).await.map_err(|error| said(&error))?;
    let others = "SELECT COUNT(*) AS others FROM pg_stat_activity WHERE datname = current_database() \
                  AND backend_type = 'client backend' AND pid <> pg_backend_pid()";
    let row = place.database().query_one_raw(Statement::from_string(place.engine(), others)).await;
    let others = row.and_then(|row| row.map_or(Ok(0), |row| row.try_get::<i64>("", "others")));
    let others = others.map_err(|error| said(&error));
    place.close().await.map_err(|error| said(&error))?;
    match others? {
        0 => Ok(()),
        others => Err(format!("{others} other connections are open to the database; stop every server of it first")),
    }
}

/// Brings what a dump holds into a database, all of it or nothing.
pub(super) async fn load(url: &str, path: &Path, replace: bool) -> Result<(), String> {
    let mut command = command("pg_restore", url);
    command.args(["--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges", "--verbose"]);
    if replace {
        command.args(["--clean", "--if-exists"]);
    }
    command.arg(path);
    let (over, all) = (Arc::new(AtomicUsize::new(0)), entries(path)?);
    let shown = over.clone();
    let bar = bar::show(move || (shown.load(Ordering::Relaxed) * 100 / all.max(1)).min(99));
    let loading = tokio::task::spawn_blocking(move || {
        run(command, "pg_restore", |line| {
            over.fetch_add(usize::from(line.contains("processing data for table")), Ordering::Relaxed);
        })
    });
    let loaded = loading.await.map_err(|error| format!("pg_restore was not waited for: {error}"))?;
    drop(bar);
    loaded?;
    // Plans are made for tables as large as the engine knows them to be.
    let place = Place::writing(url).await.map_err(|error| said(&error))?;
    let looked = place.database().execute_unprepared("ANALYZE").await.map(drop);
    place.close().await.and(looked).map_err(|error| said(&error))
}

/// How many tables a dump has data of.
fn entries(path: &Path) -> Result<usize, String> {
    let listed = Command::new(program("pg_restore")).arg("--list").arg(path).output();
    let listed = listed.map_err(|error| match error.kind() {
        ErrorKind::NotFound => format!("pg_restore {MISSING}"),
        _ => format!("cannot start pg_restore: {error}"),
    })?;
    if !listed.status.success() {
        return Err(format!("pg_restore cannot read the copy: {}", String::from_utf8_lossy(&listed.stderr).trim()));
    }
    Ok(String::from_utf8_lossy(&listed.stdout).lines().filter(|line| line.contains("TABLE DATA")).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_password_stands_where_others_see_it() {
        for (url, address, password) in [
            ("postgres://u:p%40ss@h:5432/d?sslmode=require", "postgres://u@h:5432/d?sslmode=require", Some("p@ss")),
            ("postgres://u@h/d", "postgres://u@h/d", None),
            ("postgres://h/d?user=u&password=x", "postgres://h/d?user=u", Some("x")),
            ("postgres://u:a:b@one,two/d", "postgres://u@one,two/d", Some("a:b")),
        ] {
            assert_eq!(without_its_password(url), (address.to_owned(), password.map(str::to_owned)), "{url}");
        }
        for (url, other) in [
            ("postgres://u:p@h:5432/d?sslmode=require", "postgres://u:p@h:5432/x?sslmode=require"),
            ("postgres://one,two", "postgres://one,two/x"),
        ] {
            assert_eq!(another(url, "x").as_deref(), Some(other));
        }
    }
}
