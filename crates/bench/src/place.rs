//! Where a run takes place: fresh databases of one engine, and a server as a second process.

use crate::Result;
use crate::client::{self, Connection};
use crate::load::{self, Subject};
use clap::Args;
use ledger_core::database::{Committing, DatabaseOptions, Following, Patience, Purpose, Session, Writer};
use postgres_kit::{Link, Target};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::{Mutex, OwnedMutexGuard};

/// Nothing is given up while it is measured.
const PATIENCE: Patience = {
    const LONG: std::time::Duration = std::time::Duration::from_mins(5);
    Patience { connect: LONG, statement: LONG, writer: LONG }
};

#[derive(Args, Clone)]
pub(crate) struct Place {
    /// Run on PostgreSQL: the URL of a database on it whose user may create databases. `SQLite` when absent
    #[arg(long, value_name = "URL")]
    postgres: Option<String>,
    /// Folder for `SQLite` files; on the disk that is to be measured
    #[arg(long, value_name = "DIR", default_value = "/tmp")]
    folder: PathBuf,
    /// Databases of PostgreSQL that were made
    #[arg(skip)]
    made: Arc<std::sync::Mutex<Vec<String>>>,
}

pub(crate) fn say(text: &str) {
    use std::io::Write;
    let _closed = writeln!(std::io::stdout(), "{text}").and_then(|()| std::io::stdout().flush());
}

pub(crate) fn complain(text: &str) -> ExitCode {
    use std::io::Write;
    let _closed = writeln!(std::io::stderr(), "error: {text}");
    ExitCode::FAILURE
}

impl Place {
    /// A database of the engine, whose URL it is.
    pub(crate) fn on_postgres(&self, url: String) -> Self {
        Self { postgres: Some(url), folder: self.folder.clone(), made: Arc::default() }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn is_postgres(&self) -> bool {
        self.postgres.is_some()
    }

    pub(crate) fn engine(&self) -> &'static str {
        if self.postgres.is_some() { "PostgreSQL" } else { "SQLite FULL" }
    }

    /// Takes away what this run made.
    pub(crate) async fn clear(&self) -> Result<()> {
        let mine = format!("_{}", std::process::id());
        for entry in std::fs::read_dir(&self.folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with("duet_bench_") && name.ends_with(&mine) {
                std::fs::remove_dir_all(entry.path())?;
            }
        }
        let Some(url) = &self.postgres else { return Ok(()) };
        let admin = Link::open(&Target::of(url, PATIENCE)?, PATIENCE.statement).await?;
        let made = std::mem::take(&mut *self.made.lock().map_err(|_| "a bench that broke")?);
        for name in made {
            admin.batch(format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await?;
        }
        Ok(())
    }

    /// The URL of a database that is empty.
    pub(crate) async fn fresh(&self, name: &str) -> Result<String> {
        let name = format!("duet_bench_{name}_{}", std::process::id());
        let Some(url) = &self.postgres else {
            let folder = self.folder.join(&name);
            std::fs::create_dir_all(&folder)?;
            return Ok(format!("sqlite:{}", folder.join("duet.db").display()));
        };
        let admin = Link::open(&Target::of(url, PATIENCE)?, PATIENCE.statement).await?;
        admin.batch(format!("CREATE DATABASE {name}")).await?;
        self.made.lock().map_err(|_| "a bench that broke")?.push(name.clone());
        let (host, _) = url.rsplit_once('/').ok_or("the URL names no database")?;
        Ok(format!("{host}/{name}"))
    }

    /// Opens a database as the server does.
    pub(crate) async fn open(url: &str) -> Result<Raw> {
        let options = DatabaseOptions {
            url: url.into(),
            purpose: Purpose::Writing,
            pool_size: 40,
            patience: PATIENCE,
            readers: 2,
            page_cache_kib: 128 << 10,
            log_budget: 256 << 20,
            following: Following::default(),
        };
        let database = ledger_core::database::Database::open(&options).await?;
        // Nothing of it is sealed.
        database.migrate(&|_| String::new()).await?;
        Ok(Raw { writer: Arc::new(Mutex::new(database.writer())), database })
    }
}

/// A database as a lane of the server has it, without the server.
pub(crate) struct Raw {
    database: ledger_core::database::Database,
    /// On `SQLite` all write through one; each takes its turn.
    writer: Arc<Mutex<Writer>>,
}

/// A transaction of a raw database.
pub(crate) struct Turn {
    writer: OwnedMutexGuard<Writer>,
    pub(crate) session: Session,
}

/// Shares the writer where the engine has one, and has its own where it has many.
impl Clone for Raw {
    fn clone(&self) -> Self {
        let writer = if self.database.has_one_writer() {
            self.writer.clone()
        } else {
            Arc::new(Mutex::new(self.database.writer()))
        };
        Self { database: self.database.clone(), writer }
    }
}

impl Raw {
    pub(crate) async fn turn(&self) -> Result<Turn> {
        let mut writer = self.writer.clone().lock_owned().await;
        let session = writer.begin().await?;
        Ok(Turn { writer, session })
    }
}

impl Turn {
    pub(crate) async fn keep(mut self) -> Result<()> {
        match self.writer.commit(self.session).await {
            Committing::Committed => {
                self.writer.tidy();
                Ok(())
            }
            Committing::Refused(error) | Committing::Unknown(error) => Err(error.into()),
        }
    }
}

/// `duet serve`, until it is dropped.
pub(crate) struct Server {
    process: Child,
    program: PathBuf,
    pub(crate) address: std::net::SocketAddr,
    pub(crate) token: String,
    database: String,
    /// Its keys; gone with it.
    data: PathBuf,
}

const EMAIL: &str = "bench@example.test";
const PASSWORD: &str = "as fast as it is right";

/// What a server leaves behind: its books, and the folder with their keys.
pub(crate) struct Stopped {
    program: PathBuf,
    database: String,
    data: PathBuf,
}

impl Stopped {
    pub(crate) async fn start(self) -> Result<Server> {
        Server::with(self.program, &self.database, self.data).await
    }
}

impl Server {
    pub(crate) async fn start(database: &str) -> Result<Self> {
        Self::of(std::env::current_exe()?, database).await
    }

    /// The same by another build of it.
    pub(crate) async fn of(program: PathBuf, database: &str) -> Result<Self> {
        static STARTED: AtomicUsize = AtomicUsize::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let data = std::env::temp_dir().join(format!("duet-bench-{}-{number}", std::process::id()));
        Self::with(program, database, data).await
    }

    /// Of a database that was served before, with its keys.
    async fn with(program: PathBuf, database: &str, data: PathBuf) -> Result<Self> {
        // What it says stands beside its folder, which is its own to make.
        let log = data.with_extension("log");
        let mut process = Command::new(&program)
            .args(["serve", "--listen", "127.0.0.1:0", "--database", database, "--data"])
            .arg(&data)
            .args([
                "--set",
                "Logging:Level=warn",
                "--set",
                "Limits:RequestsPerMinute=0",
                "--set",
                "TrustedProxies=127.0.0.1",
            ])
            .env("Bootstrap__Email", EMAIL)
            .env("Bootstrap__Username", "bench")
            .env("Bootstrap__Password", PASSWORD)
            .stdout(Stdio::piped())
            .stderr(std::fs::File::create(&log)?)
            .spawn()?;
        let output = process.stdout.take().ok_or("the server has no output")?;
        let mut address = None;
        for line in BufReader::new(output).lines() {
            let line = line?;
            if let Some(told) = line.strip_prefix("listening on http://") {
                address = Some(told.parse()?);
            }
            if line.starts_with("log in with") {
                break;
            }
        }
        let Some(address) = address else {
            return Err(format!("the server did not start: {}", std::fs::read_to_string(&log)?).into());
        };
        let mut connection = Connection::open(address).await?;
        let login = json!({"email": EMAIL, "password": PASSWORD}).to_string();
        let answer = connection.send(&client::request("POST", "/b/api/auth/login", None, None, &login)).await?;
        let token = answer.json()?["token"].as_str().ok_or("no token")?.to_owned();
        Ok(Self { process, program, address, token, database: database.to_owned(), data })
    }

    pub(crate) async fn ask(&self, method: &str, path: &str, business: Option<&str>, body: &str) -> Result<Value> {
        let mut connection = Connection::open(self.address).await?;
        let answer = connection.send(&client::request(method, path, Some(&self.token), business, body)).await?;
        if answer.status >= 300 {
            return Err(format!("{method} {path}: {}", String::from_utf8_lossy(&answer.body)).into());
        }
        answer.json()
    }

    /// The time that it spent so far, its own and the system's for it, in ticks of the kernel.
    pub(crate) fn spent(&self) -> Result<u64> {
        load::ticks(self.process.id())
    }

    pub(crate) fn subject(&self) -> Subject {
        Subject { address: self.address, process: self.process.id() }
    }

    pub(crate) fn database(&self) -> &str {
        &self.database
    }

    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// A company, and the identifiers of six of its accounts.
    pub(crate) async fn company(&self, name: &str) -> Result<(String, Vec<String>)> {
        let body = json!({"name": name, "baseCurrency": "EUR"}).to_string();
        let made = self.ask("POST", "/b/api/businesses", None, &body).await?;
        let id = made["id"].as_str().ok_or("no identifier")?.to_owned();
        let mut accounts = Vec::new();
        for code in ["6100", "6200", "6300", "6400", "6500", "1010"] {
            let found = self.ask("GET", &format!("/b/api/accounts?code={code}"), Some(&id), "").await?;
            accounts.push(found["items"][0]["id"].as_str().ok_or("no account")?.to_owned());
        }
        Ok((id, accounts))
    }

    /// Ends the server; what it served can be served again.
    pub(crate) fn stopped(mut self) -> Stopped {
        self.stop();
        let data = std::mem::take(&mut self.data);
        Stopped { program: self.program.clone(), database: self.database.clone(), data }
    }

    /// Ends the server and has its books proved.
    pub(crate) fn stop_and_verify(self) -> Result<bool> {
        self.proved(&[])
    }

    /// Ends the server and has the books of one company proved.
    pub(crate) fn stop_and_verify_one(self, business: &str) -> Result<bool> {
        self.proved(&["--business", business])
    }

    fn proved(mut self, which: &[&str]) -> Result<bool> {
        self.stop();
        let verified = Command::new(&self.program)
            .args(["verify", "--database", &self.database, "--data"])
            .arg(&self.data)
            .args(which)
            .stdout(Stdio::null())
            .status()?;
        Ok(verified.success())
    }

    fn stop(&mut self) {
        if !matches!(self.process.try_wait(), Ok(None)) {
            return;
        }
        let _asked = Command::new("kill").args(["-TERM", &self.process.id().to_string()]).status();
        let _ended = self.process.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
        let _left = std::fs::remove_dir_all(&self.data);
        let _said = std::fs::remove_file(self.data.with_extension("log"));
    }
}
