//! A PostgreSQL that has databases of many tenants: they are made there, closed to whoever writes, and put aside.
//!
//! A database that its tenant has left takes no more connections. So a server that has not heard that the tenant moved reads
//! nothing old and writes nothing that would be lost: it is let in nowhere.

use postgres_kit::{Fault, Link, Patience, Target};
use sea_orm::{DbBackend, DbErr, Statement, Value};
use std::fmt;
use std::time::Duration;

/// How the names of all of them begin.
const BEGINS: &str = "duet_";

/// A database may be large; whoever moves it is not in a hurry.
const LONGEST: Duration = Duration::from_mins(5);
/// Whoever is told to go is gone within this.
const GONE: u32 = 50;
const LOOK: Duration = Duration::from_millis(100);

/// A cluster that the configuration names.
#[derive(Clone, PartialEq, Eq)]
pub struct Cluster {
    name: String,
    /// May have a password in it.
    url: String,
}

/// How a database stands that others are to be made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    Missing,
    /// It takes connections still, so not all of it may be there.
    Begun,
    /// Nobody connects to it any more.
    Whole,
    Foreign,
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cluster").field("name", &self.name).finish_non_exhaustive()
    }
}

fn is_name(text: &str) -> bool {
    (1..=63).contains(&text.len())
        && text.bytes().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == b'_')
}

impl Cluster {
    /// Of its name and the address of a database of it, in which whoever makes others begins.
    pub fn of(name: &str, url: &str) -> Option<Self> {
        let is_word = (1..=40).contains(&name.len())
            && name.bytes().all(|letter| letter.is_ascii_alphanumeric() || b"-_".contains(&letter));
        let known = is_word && postgres_kit::is_postgres(url) && replaced(url, "duet").is_some();
        known.then(|| Self { name: name.to_owned(), url: url.to_owned() })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where a database of it is.
    pub fn url_of(&self, database: &str) -> String {
        replaced(&self.url, database).unwrap_or_else(|| self.url.clone())
    }

    /// What the database of a tenant may be called: by its host, and told apart from those before it.
    pub fn name_for(host: &str, apart: &str) -> String {
        let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '_' };
        let short: String = host.chars().take(40).map(plain).collect();
        let apart: String = apart.chars().filter(char::is_ascii_alphanumeric).take(8).map(plain).collect();
        format!("{BEGINS}{short}_{apart}")
    }

    async fn link(&self, patience: Patience) -> Result<Link, DbErr> {
        let patience = Patience { statement: LONGEST, writer: LONGEST, ..patience };
        Ok(Link::open(&Target::of(&self.url, patience)?, LONGEST).await?)
    }

    /// Does something of its own, by a connection to the database that others are made from.
    async fn does<T, F>(&self, patience: Patience, work: impl FnOnce(Link) -> F) -> Result<T, DbErr>
    where
        F: Future<Output = (Link, Result<T, DbErr>)>,
    {
        let (link, done) = work(self.link(patience).await?).await;
        link.close().await;
        done
    }

    /// The databases that tenants have or had there, by their names.
    pub async fn databases(&self, patience: Patience) -> Result<Vec<String>, DbErr> {
        self.does(patience, |link| async move {
            let sql = format!(
                "SELECT CAST(datname AS text) FROM pg_database WHERE datname ~ '^{BEGINS}.+_[a-z0-9]{{1,8}}$' ORDER BY 1"
            );
            let asked = Statement::from_string(DbBackend::Postgres, sql);
            let found = async { link.query(asked).await?.column::<String>() }.await;
            (link, found)
        })
        .await
    }

    /// Makes a database of what another one has, or one in which there is nothing.
    pub async fn make(&self, database: &str, of: Option<&str>, patience: Patience) -> Result<(), DbErr> {
        let name = checked(database)?;
        let of = of.map(checked).transpose()?.map_or(String::new(), |of| format!(" TEMPLATE {of}"));
        self.does(patience, |link| async move {
            let made = link.batch(format!("CREATE DATABASE {name}{of}")).await;
            (link, made.map(drop).map_err(DbErr::from))
        })
        .await
    }

    /// How a database stands that others are made of. One of somebody else has tables that are theirs.
    pub async fn pattern(&self, pattern: &str, patience: Patience) -> Result<Pattern, DbErr> {
        let name = checked(pattern)?;
        self.does(patience, |link| async move {
            let sql = "SELECT CAST(CASE WHEN pg_get_userbyid(datdba) <> current_user THEN 3 WHEN datallowconn THEN 1 ELSE 2 END \
                       AS bigint) FROM pg_database WHERE datname = $1";
            let values = Some(sea_orm::Values(vec![Value::from(name)]));
            let asked = Statement { sql: sql.into(), values, db_backend: DbBackend::Postgres };
            let found = async { link.query(asked).await?.column::<i64>() }.await;
            let stands = found.map(|found| match found.first() {
                None => Pattern::Missing,
                Some(1) => Pattern::Begun,
                Some(2) => Pattern::Whole,
                Some(_) => Pattern::Foreign,
            });
            (link, stands)
        })
        .await
    }

    /// From now on nobody writes in a database, whatever they believe.
    pub async fn close_to_writers(&self, database: &str, patience: Patience) -> Result<(), DbErr> {
        let name = checked(database)?;
        self.does(patience, |link| async move {
            let done = async {
                link.batch(format!("ALTER DATABASE {name} SET default_transaction_read_only = on")).await?;
                // Who is there already has not heard of that.
                send_away(&link, &name).await
            };
            let done = done.await;
            (link, done)
        })
        .await
    }

    /// From now on nobody connects to a database: whoever believes that a tenant is there finds nothing, rather than what is old.
    pub async fn close(&self, database: &str, patience: Patience) -> Result<(), DbErr> {
        let name = checked(database)?;
        self.does(patience, |link| async move {
            let done = async {
                // Where there is none, there is nothing to be connected to.
                if !is_there(&link, &name).await? {
                    return Ok(());
                }
                link.batch(format!("ALTER DATABASE {name} WITH ALLOW_CONNECTIONS false")).await?;
                send_away(&link, &name).await
            };
            let done = done.await;
            (link, done)
        })
        .await
    }

    /// Takes back whatever closed a database.
    pub async fn open(&self, database: &str, patience: Patience) -> Result<(), DbErr> {
        let name = checked(database)?;
        self.does(patience, |link| async move {
            let done = async {
                link.batch(format!("ALTER DATABASE {name} WITH ALLOW_CONNECTIONS true")).await?;
                link.batch(format!("ALTER DATABASE {name} RESET default_transaction_read_only")).await?;
                // Who came while nobody wrote there believes that nobody may.
                send_away(&link, &name).await
            };
            let done = done.await;
            (link, done)
        })
        .await
    }

    /// Removes a database that was made in vain.
    pub async fn remove(&self, database: &str, patience: Patience) -> Result<(), DbErr> {
        let name = checked(database)?;
        self.does(patience, |link| async move {
            let done = async {
                send_away(&link, &name).await?;
                link.batch(format!("DROP DATABASE IF EXISTS {name}")).await?;
                Ok(())
            };
            let done = done.await;
            (link, done)
        })
        .await
    }
}

async fn is_there(link: &Link, name: &str) -> Result<bool, DbErr> {
    let sql = "SELECT datname = $1 FROM pg_database WHERE datname = $1".to_owned();
    let values = Some(sea_orm::Values(vec![Value::from(name)]));
    let found = link.query(Statement { sql, values, db_backend: DbBackend::Postgres }).await?;
    Ok(!found.is_empty())
}

/// Ends the connections that there are to a database, and waits until they are gone. Whoever comes meanwhile comes to what it is
/// now.
async fn send_away(link: &Link, name: &str) -> Result<(), DbErr> {
    let ask = async |sql: &str, values: Vec<Value>| {
        let asked =
            Statement { sql: sql.into(), values: Some(sea_orm::Values(values)), db_backend: DbBackend::Postgres };
        let found = link.query(asked).await?.column::<i64>()?;
        Ok::<_, DbErr>(found.into_iter().next().unwrap_or_default())
    };
    // Before this moment they came.
    let now = ask("SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS bigint)", Vec::new()).await?;
    let sql = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = $1 \
               AND pid <> pg_backend_pid() AND CAST(EXTRACT(EPOCH FROM backend_start) * 1000000 AS bigint) <= $2";
    for _ in 0..GONE {
        if ask(sql, vec![Value::from(name), Value::from(now)]).await? == 0 {
            return Ok(());
        }
        tokio::time::sleep(LOOK).await;
    }
    Err(Fault::ours(format!("somebody stays connected to the database {name}")).into())
}

fn checked(database: &str) -> Result<String, DbErr> {
    if is_name(database) {
        return Ok(database.to_owned());
    }
    Err(DbErr::Custom(format!("{database} is no name that duet gives a database")))
}

/// The same address with another database.
fn replaced(url: &str, database: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let (place, query) = rest.split_once('?').map_or((rest, None), |(place, query)| (place, Some(query)));
    // A password may have a slash in it only where it is encoded.
    let hosts = place.split('/').next().unwrap_or(place);
    let query = query.map_or(String::new(), |query| format!("?{query}"));
    (!hosts.is_empty()).then(|| format!("{scheme}://{hosts}/{database}{query}"))
}
