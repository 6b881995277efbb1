//! Connections to the books: one writer and many readers on SQLite, one pool on PostgreSQL.
//!
//! Owns: how connections are opened and with which guarantees, and what both engines offer alike. Refuses: to run a
//! query; that is `Cx`'s.
//!
//! What is read outside a transaction goes through `Reads`, what is read or written inside one through a `Session`.
//! Only a lane has a `Writer`, which begins and commits. All of SQLite stands in `sqlite`, all of PostgreSQL in
//! `postgres`.

mod alike;
mod known;
pub mod lane;
mod line;
mod meanwhile;
mod openly;
mod postgres;
mod replicas;
pub mod rows;
mod sqlite;
mod standing;
mod together;
mod writer;

use ::schema::reader::Snapshot;
use answers::{Answer, Answers};
use migrations::distributing::{self, Distributed};
use migrations::{Sign, schema};
pub use openly::unverified_host;
pub use postgres_kit::{Patience, replica};
pub use replicas::{Following, Replica, ReplicaStanding, Replicas};
use sea_orm::{ConnectionTrait, DbBackend, DbErr, ExecResult, QueryResult, Statement};
use standing::{Part, Standing};
use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};

/// How long a question may take that only asks whether the database is there.
const GLANCE: Duration = Duration::from_millis(400);

/// How to reach the database.
#[derive(Debug, Clone)]
pub struct DatabaseOptions {
    /// `sqlite:PATH` or `postgres://...`.
    pub url: String,
    pub purpose: Purpose,
    /// Connections to PostgreSQL.
    pub pool_size: u32,
    /// How long PostgreSQL is waited for.
    pub patience: Patience,
    /// Read-only connections to SQLite.
    pub readers: u32,
    /// How much of its file all connections to SQLite together may hold in memory.
    pub page_cache_kib: u32,
    /// How long SQLite's log may grow, in bytes, before reads are ended that keep it from being used anew.
    pub log_budget: u64,
    /// What of PostgreSQL answers reads as well.
    pub following: Following,
}

/// What the books are opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To serve them. On SQLite nobody else may, as long as this process lives.
    Serving,
    /// To change something, beside whoever serves them.
    Writing,
    /// To read only, beside whoever serves them. Nothing is made that is not there.
    Reading,
}

/// The books' database.
#[derive(Debug, Clone)]
pub struct Database {
    engine: Engine,
    standing: Arc<Standing>,
    /// What is read outside a transaction.
    pub read: Reads,
    /// The same of what is dear: on SQLite threads read it that give way.
    pub quiet: Reads,
    /// What lets requests in: connections of its own, which no other question takes.
    pub door: Reads,
    /// What reads are answered by which may be answered elsewhere.
    pub replicas: Replicas,
}

#[derive(Debug, Clone)]
enum Engine {
    Sqlite(Arc<sqlite::Engine>),
    Postgres(postgres::Engine),
}

/// What only one process of a database does at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Duty {
    /// To tell webhooks.
    Webhooks,
    /// To see to what a new day brings.
    Days,
}

/// Who does for a database what only one process may do: it is this one as long as its connection lives, once nobody else is.
/// Who has SQLite's file open to serve it is alone anyway.
#[derive(Debug)]
pub struct Alone(Option<postgres::Turn>);

impl Alone {
    /// Whether it is this process now. An error where that cannot be known, and its turn is over with that.
    pub async fn is_ours(&mut self) -> Result<bool, DbErr> {
        match &mut self.0 {
            None => Ok(true),
            Some(turn) => turn.is_ours().await,
        }
    }
}

/// Where a question goes that needs no transaction. It ends inside the engine when nobody waits for it any more.
#[derive(Debug, Clone)]
pub enum Reads {
    Sqlite(sqlite::Reads),
    Postgres(postgres::Reads),
}

/// A transaction, or a snapshot of the books.
#[derive(Debug)]
pub enum Session {
    #[doc(hidden)]
    Sqlite(sqlite::Transaction),
    #[doc(hidden)]
    SqliteSnapshot(sqlite::Snapshot),
    #[doc(hidden)]
    Postgres(Box<postgres::Session>),
    /// None yet: the batch before is being committed.
    #[doc(hidden)]
    Meanwhile(meanwhile::Meanwhile),
}

/// What a lane writes through. It owns the health of its connection.
#[derive(Debug)]
pub enum Writer {
    /// It is away while it commits on another thread.
    #[doc(hidden)]
    Sqlite(Option<Box<sqlite::Writer>>),
    #[doc(hidden)]
    Postgres(postgres::Writer),
}

/// What a commit came to.
#[derive(Debug)]
pub enum Committing {
    /// It is in the database, for good.
    Committed,
    /// It did not happen, and never will.
    Refused(DbErr),
    /// Nobody can say.
    Unknown(DbErr),
}

/// What several questions were answered, in their order.
pub type Answered = Vec<Vec<QueryResult>>;

/// What a context asks through.
#[derive(Clone, Copy)]
pub enum Db<'a> {
    Reads(&'a Reads),
    Session(&'a Session),
}

/// Waits until no process serves the file of a database, so long; whether none does, is answered. What PostgreSQL keeps,
/// no process holds.
pub async fn let_go(url: &str, patience: Duration) -> Result<bool, DbErr> {
    match sqlite_kit::file_of(url) {
        Some(path) => sqlite::let_go(&path, patience).await,
        None => Ok(true),
    }
}

/// Makes a copy of the file of a database, while others serve and write it, and makes it stand alone: it has no log, and
/// whoever counts its records on counts otherwise. How many pages are over, and how many there are, is told.
pub async fn copy(from: &Path, to: &Path, told: &mut (dyn FnMut(u64, u64) + Send)) -> Result<(), DbErr> {
    crate::aside::computed(|| sqlite::copy(from, to, told))?;
    sqlite::stand_alone(to).await
}

/// Takes into the file of a database what its log has, where nobody serves it.
pub fn settle(path: &Path) -> Result<(), DbErr> {
    crate::aside::computed(|| sqlite::settle(path))
}

/// Makes what books need in a database of `PostgreSQL` in which there is nothing: tables, and nobody's rows.
pub async fn make_tables(url: &str, patience: Patience) -> Result<(), DbErr> {
    postgres::make_tables(url, patience).await
}

/// What the schema is called that this program makes.
pub fn schema_name() -> String {
    migrations::known().pop().unwrap_or_default()
}

/// The file that a database is, where it is one.
pub fn file_of(url: &str) -> Option<std::path::PathBuf> {
    sqlite_kit::file_of(url)
}

impl Database {
    /// Lines up for what only one process does at a time.
    pub async fn alone(&self, duty: Duty) -> Result<Alone, DbErr> {
        match &self.engine {
            Engine::Sqlite(_) => Ok(Alone(None)),
            Engine::Postgres(engine) => Ok(Alone(Some(engine.lines_up(duty).await?))),
        }
    }

    pub async fn open(options: &DatabaseOptions) -> Result<Self, DbErr> {
        let standing = Arc::new(Standing::default());
        if let Some(path) = sqlite_kit::file_of(&options.url) {
            if !options.following.urls.is_empty() {
                return Err(DbErr::Custom("SQLite has no replicas: they are of PostgreSQL".into()));
            }
            sqlite::outlive_limits()?;
            let engine = Arc::new(sqlite::Engine::open(path, options, standing.clone())?);
            let [read, quiet, door] = [engine.reads(), engine.quiet(), engine.door()].map(Reads::Sqlite);
            let replicas = Replicas::default();
            return Ok(Self { engine: Engine::Sqlite(engine), standing, read, quiet, door, replicas });
        }
        if postgres_kit::is_postgres(&options.url) {
            let engine = postgres::Engine::open(options, standing.clone()).await?;
            let [read, quiet, door] = [engine.reads(), engine.reads(), engine.door()].map(Reads::Postgres);
            let replicas = Replicas::of(&engine, &options.following, options.patience)?;
            return Ok(Self { engine: Engine::Postgres(engine), standing, read, quiet, door, replicas });
        }
        Err(DbErr::Custom("the database URL must begin with sqlite: or postgres://".into()))
    }

    /// A way to write. A lane has one of its own; so has what measures how fast writing can be.
    pub fn writer(&self) -> Writer {
        match &self.engine {
            Engine::Sqlite(engine) => Writer::Sqlite(Some(Box::new(engine.clone().writer()))),
            Engine::Postgres(engine) => Writer::Postgres(engine.writer()),
        }
    }

    /// Whether one lane writes for all companies.
    pub fn has_one_writer(&self) -> bool {
        matches!(self.engine, Engine::Sqlite(_))
    }

    /// Whether identifiers that were counted are kept in fewer bytes than others.
    pub fn keeps_counts(&self) -> bool {
        matches!(self.engine, Engine::Sqlite(_))
    }

    /// Runs a lane to its end: where statements return at once on a thread of its own, else as a task.
    pub fn run_lane(&self, lane: impl Future<Output = ()> + Send + 'static) -> Result<LaneEnd, DbErr> {
        let (told, ended) = oneshot::channel();
        let whole = async move {
            lane.await;
            let _nobody_waits = told.send(());
        };
        match &self.engine {
            Engine::Sqlite(_) => {
                let handle = tokio::runtime::Handle::current();
                let thread = supervise::thread("lane", move || handle.block_on(whole));
                thread.map_err(|error| DbErr::Custom(format!("no thread for the write lane: {error}")))?;
            }
            Engine::Postgres(_) => drop(supervise::once("lane", whole)),
        }
        Ok(ended)
    }

    /// A transaction that sees the books as they are now, whatever is written meanwhile.
    pub async fn snapshot(&self) -> Result<Session, DbErr> {
        self.read.snapshot().await
    }

    /// Brings the schema up to date. What is noted of that is signed; how much there was that nobody of us noted is answered.
    pub async fn migrate(&self, sign: Sign<'_>) -> Result<i64, DbErr> {
        match &self.engine {
            Engine::Sqlite(engine) => engine.migrate(sign).await,
            Engine::Postgres(engine) => engine.migrate(sign).await,
        }
    }

    /// Keeps the rows of companies apart, over the machines of a cluster of PostgreSQL; an error where there is none.
    pub async fn distribute(&self) -> Result<Distributed, DbErr> {
        match &self.engine {
            Engine::Sqlite(_) => Err(distributing::on_sqlite()),
            Engine::Postgres(engine) => engine.distribute().await,
        }
    }

    /// How many migrations are still to run. It changes nothing.
    pub async fn pending_migrations(&self) -> Result<usize, DbErr> {
        migrations::pending(&self.door).await
    }

    /// Whether there are no books in it yet.
    pub async fn is_new(&self) -> Result<bool, DbErr> {
        Ok(self.pending_migrations().await? == migrations::known().len())
    }

    /// What SQLite finds wrong with its file. PostgreSQL has no such question; its own tools check it.
    pub async fn check_file(&self) -> Result<Option<Vec<String>>, DbErr> {
        match &self.engine {
            Engine::Sqlite(_) => sqlite::check_file(&self.read).await.map(Some),
            Engine::Postgres(_) => Ok(None),
        }
    }

    /// Where the schema is not what the migrations make.
    pub async fn check_schema(&self) -> Result<Vec<String>, DbErr> {
        let found = schema::parts(&self.read).await?;
        let expected = match &self.engine {
            Engine::Sqlite(engine) => engine.expected_schema().await?,
            Engine::Postgres(engine) => engine.expected_schema().await?,
        };
        Ok(schema::differences(&expected, &found))
    }

    /// Whether the database answers whoever wants in.
    pub async fn ping(&self) -> Result<(), DbErr> {
        Self::ask(&self.door).await
    }

    /// Something that is in the database itself.
    async fn ask(reads: &Reads) -> Result<(), DbErr> {
        let backend = reads.get_database_backend();
        let sql = match backend {
            DbBackend::Sqlite => "SELECT COUNT(*) AS n FROM sqlite_master",
            _ => "SELECT 1 AS n",
        };
        reads.query_one_raw(Statement::from_string(backend, sql)).await.map(drop)
    }

    /// Whether what is written does not come to its end. Then somebody is to try.
    pub fn writes_fail(&self) -> bool {
        self.standing.is_ill(Part::Writing)
    }

    /// Somebody tried, and it came to its end.
    pub fn wrote_again(&self) {
        self.standing.well(Part::Writing);
    }

    /// Reads again where reads failed.
    pub async fn read_again(&self) {
        if !self.standing.is_ill(Part::Reading) {
            return;
        }
        let both = async { Self::ask(&self.read).await.and(Self::ask(&self.door).await) };
        match timeout(GLANCE, both).await {
            Ok(Ok(())) => self.standing.well(Part::Reading),
            Ok(Err(error)) => tracing::debug!(%error, "reads fail still"),
            Err(_) => tracing::debug!("reads are not answered still"),
        }
    }

    /// An error at once where it is known that no write can come to its end.
    pub fn check_writable(&self) -> Result<(), DbErr> {
        match &self.engine {
            Engine::Sqlite(_) => Ok(()),
            Engine::Postgres(engine) => engine.check_writable(),
        }
    }

    /// Why the database cannot serve now, where it cannot. It waits for nobody who may not answer.
    pub async fn readiness(&self) -> Result<(), &'static str> {
        self.standing.check()?;
        match &self.engine {
            Engine::Sqlite(_) => match timeout(GLANCE, self.ping()).await {
                Ok(Ok(())) => Ok(()),
                Ok(Err(_)) | Err(_) => Err("the database does not answer"),
            },
            Engine::Postgres(engine) => engine.reached().await,
        }
    }

    /// What connections are for, how many of each are used just now, and how many there are.
    pub fn connections(&self) -> Vec<(&'static str, usize, usize)> {
        let of = |reads: &Reads| match reads {
            Reads::Sqlite(reads) => (reads.used(), reads.places()),
            Reads::Postgres(reads) => (reads.used(), reads.places()),
        };
        let writing = match &self.engine {
            Engine::Sqlite(_) => None,
            Engine::Postgres(engine) => Some(engine.writing()),
        };
        let all = [("read", Some(of(&self.read))), ("door", Some(of(&self.door))), ("write", writing)];
        all.into_iter().filter_map(|(what, counts)| counts.map(|(used, most)| (what, used, most))).collect()
    }

    /// Lets the database go.
    pub async fn close(&self) {
        self.replicas.close().await;
        match &self.engine {
            Engine::Sqlite(engine) => engine.close().await,
            Engine::Postgres(engine) => engine.close().await,
        }
    }
}

/// Tells when a lane has ended.
pub type LaneEnd = oneshot::Receiver<()>;

impl Reads {
    /// The same questions, all of which end inside the engine at this time.
    #[must_use]
    #[allow(dead_code, reason = "whoever bounds a read does so with this")]
    pub fn until(&self, end: Instant) -> Self {
        match self {
            Self::Sqlite(reads) => Self::Sqlite(reads.until(end)),
            Self::Postgres(reads) => Self::Postgres(reads.until(end)),
        }
    }

    /// Those of one who asks: what they ask at once goes in one flight.
    #[must_use]
    pub fn of_one(&self) -> Self {
        match self {
            Self::Sqlite(reads) => Self::Sqlite(reads.clone()),
            Self::Postgres(reads) => Self::Postgres(reads.of_one()),
        }
    }

    /// How many read at once at most. Whoever holds all of them waits for himself.
    pub fn places(&self) -> usize {
        match self {
            Self::Sqlite(reads) => reads.places(),
            Self::Postgres(reads) => reads.places(),
        }
    }

    /// A transaction that sees the books as they are now. Its questions end when those asked here do.
    pub async fn snapshot(&self) -> Result<Session, DbErr> {
        match self {
            Self::Sqlite(reads) => reads.snapshot().await.map(Session::SqliteSnapshot),
            Self::Postgres(reads) => reads.snapshot().await.map(|session| Session::Postgres(Box::new(session))),
        }
    }
}

impl Session {
    /// Ends a snapshot. Whoever asked need not wait for that: SQLite's thread ends it when it learns that nobody asks any more,
    /// and PostgreSQL's connection is rolled back before anybody else has it.
    pub fn end(self) -> Result<(), DbErr> {
        match self {
            Self::SqliteSnapshot(_) | Self::Postgres(_) | Self::Meanwhile(_) => Ok(()),
            Self::Sqlite(_) => Err(DbErr::Custom("a transaction is ended by its lane".into())),
        }
    }

    /// What its own writes are known by: it is named where there are others who write.
    pub fn batch(&self) -> &str {
        match self {
            Self::Postgres(session) => session.batch(),
            Self::Sqlite(_) | Self::SqliteSnapshot(_) | Self::Meanwhile(_) => "",
        }
    }

    /// Whether the transaction still stands, as far as the engine is known to think so.
    pub fn intact(&self) -> Result<(), DbErr> {
        match self {
            Self::Sqlite(transaction) => transaction.intact(),
            Self::SqliteSnapshot(_) | Self::Postgres(_) | Self::Meanwhile(_) => Ok(()),
        }
    }

    /// Another command begins: who may do what is asked as of now, whatever was answered to those before.
    pub fn begins(&self) {
        if let Self::Postgres(session) = self {
            session.forget();
        }
    }

    /// From here on, what is written can be taken back by itself.
    pub async fn set_savepoint(&self) -> Result<(), DbErr> {
        self.execute_unprepared("SAVEPOINT command").await.map(drop)
    }

    /// Keeps what was written since.
    pub async fn release_savepoint(&self) -> Result<(), DbErr> {
        self.execute_unprepared("RELEASE SAVEPOINT command").await.map(drop)
    }

    /// Takes back what was written since.
    pub async fn undo_to_savepoint(&self) -> Result<(), DbErr> {
        self.execute_unprepared("ROLLBACK TO SAVEPOINT command").await?;
        self.release_savepoint().await
    }
}

/// More rows than a question should come to: what is longer is better read in portions, or summed by the database.
const MANY_ROWS: usize = 20_000;

/// More rows than any question may come to. Rows are held in memory until they are answered, and memory that nobody bounds
/// is everybody's.
///
/// It is far beyond what ordinary books ask for. A bound that these meet would keep them from being proved or reported on,
/// which is worse than the memory; so there is a word to the operator first, and the same in every build.
const MOST_ROWS: usize = 500_000;

/// So many are read of what comes to more; then it is known.
const ROWS_READ: usize = MOST_ROWS + 1;

fn bounded(sql: &str, answer: Answer) -> Result<Answer, DbErr> {
    let rows = answer.len();
    if rows > MANY_ROWS {
        let start: String = sql.chars().take(500).collect();
        if rows > MOST_ROWS {
            return Err(DbErr::Custom(format!("a question came to more than {MOST_ROWS} rows: {start}")));
        }
        tracing::warn!(rows, sql = start, "a question came to very many rows, which are all held in memory");
    }
    Ok(answer)
}

/// The same for everything that a statement can be given to.
macro_rules! statements_go_to {
    ($type:ty, $self:ident => $($arm:pat => $inner:expr),+ $(,)?) => {
        #[async_trait::async_trait]
        impl ConnectionTrait for $type {
            fn get_database_backend(&$self) -> DbBackend {
                match $self { $($arm => $inner.get_database_backend()),+ }
            }

            async fn execute_raw(&$self, statement: Statement) -> Result<ExecResult, DbErr> {
                match $self { $($arm => $inner.execute_raw(statement).await),+ }
            }

            async fn execute_unprepared(&$self, sql: &str) -> Result<ExecResult, DbErr> {
                match $self { $($arm => $inner.execute_unprepared(sql).await),+ }
            }

            async fn query_one_raw(&$self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
                match $self { $($arm => $inner.query_one_raw(statement).await),+ }
            }

            async fn query_all_raw(&$self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
                $self.answer(statement).await?.into_results()
            }
        }

        #[async_trait::async_trait]
        impl Answers for $type {
            async fn answer(&$self, question: Statement) -> Result<Answer, DbErr> {
                let sql = question.sql.clone();
                bounded(&sql, match $self { $($arm => $inner.answer(question).await),+ }?)
            }
        }
    };
}

statements_go_to!(Reads, self => Self::Sqlite(reads) => reads, Self::Postgres(reads) => reads);
statements_go_to!(
    Session,
    self => Self::Sqlite(transaction) => transaction,
    Self::SqliteSnapshot(snapshot) => snapshot,
    Self::Postgres(session) => session,
    Self::Meanwhile(meanwhile) => meanwhile,
);
statements_go_to!(Db<'_>, self => Self::Reads(reads) => reads, Self::Session(session) => session);

/// What a reader asks through.
macro_rules! answers {
    ($($type:ty),+) => {
        $(
            #[async_trait::async_trait]
            impl Snapshot for $type {
                fn backend(&self) -> DbBackend {
                    self.get_database_backend()
                }

                async fn first(&self, question: Statement) -> Result<Option<QueryResult>, DbErr> {
                    self.query_one_raw(question).await
                }

                async fn all(&self, question: Statement) -> Result<Answer, DbErr> {
                    self.answer(question).await
                }
            }
        )+
    };
}

answers!(Reads, Session);

#[cfg(test)]
pub mod tests;
