//! PostgreSQL: connections for what writes, for what reads, and for what lets requests in.
//!
//! Owns: what each is used for, that the schema is changed by one process at a time, and that the engine knows how large
//! tables have become.

mod changing;

use super::known::{Known, only_reads};
use super::rows::{Step, sent};
use super::standing::{Ill, Part, Standing, Trying};
use super::together::{Asked, Together};
use super::{Answered, Committing, DatabaseOptions, Duty, Purpose, ROWS_READ};
use crate::client;
use answers::{Answer, Answers};
use changing::{Changing, MIGRATION};
use migrations::Sign;
use migrations::distributing::{self, Distributed};
use migrations::schema::{self, Parts};
use postgres_kit::{Committed, Fault, Lease, Leg, Link, Patience, Pool, Replica, Server, Target};
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DbBackend, DbErr, ExecResult, QueryResult, Statement, TransactionTrait,
};
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

#[derive(Debug, Clone)]
pub struct Engine(Server, Arc<Standing>, Arc<Growing>);

/// Questions outside a transaction.
#[derive(Debug, Clone)]
pub struct Reads {
    pool: Pool,
    until: Option<Instant>,
    noting: Noting,
    /// What one who asks by these asks at once; nobody's of those that everybody has.
    together: Option<Arc<Together>>,
}

/// A transaction, or a snapshot.
#[derive(Debug)]
pub struct Session {
    lease: Lease,
    /// What its own writes are known by.
    batch: String,
    until: Option<Instant>,
    noting: Noting,
    /// What was answered so far where something is written; who only reads asks little twice.
    known: Option<Known>,
    together: Together,
    /// How many rows it has sent to be put into tables.
    rows: AtomicU64,
}

/// Lanes share the connections that write: each has one of its own from its BEGIN to its COMMIT.
#[derive(Debug)]
pub struct Writer(Pool, Noting, Arc<Growing>);

/// Who is told of what did not go well; nobody where it is no fault of the database's own.
#[derive(Debug, Clone)]
struct Noting(Part, Option<Arc<Standing>>);

impl Noting {
    /// What a command of a lane asks begins only while somebody waits for that command, and within its share: it would keep
    /// everybody else waiting. Who reads takes the question along.
    fn goes_on(&self) -> Result<(), DbErr> {
        if self.0 == Part::Writing && !client::goes_on() {
            return Err(Fault::given_up().into());
        }
        Ok(())
    }

    /// Notes what a statement came to.
    fn of<T>(&self, done: Result<T, DbErr>) -> Result<T, DbErr> {
        done.map_err(|error| {
            let Some(fault) = Fault::within(&error) else { return error };
            self.fault(fault);
            // Whoever went away hears nothing: a read that was ended took too long.
            if self.0 == Part::Reading { fault.clone().of_reading().into() } else { error }
        })
    }

    fn fault(&self, fault: &Fault) {
        if let (Some(standing), Some(ill)) = (&self.1, Ill::of_postgres(fault)) {
            standing.ill(self.0, ill, fault);
        }
    }
}

/// What the lock of a duty is called.
const fn lock_of(duty: Duty) -> i64 {
    match duty {
        Duty::Webhooks => 0x0064_7565_7468_6f6f,
        Duty::Days => 0x0064_7565_7464_6179,
    }
}
/// As long as it may take to say who holds it.
const GLANCE: Duration = Duration::from_secs(5);

/// Who holds a lock and says nothing for so long holds it no more. Tests wait for it.
const LEASE: Duration = Duration::from_secs(if cfg!(debug_assertions) { 10 } else { 30 });

/// A place in the line for a lock that one connection holds at a time, as long as it lives and is heard of: whoever holds it
/// asks now and then whether it is theirs.
#[derive(Debug)]
pub struct Turn {
    connection: DatabaseConnection,
    failure: postgres_kit::Failure,
    duty: Duty,
    is_held: bool,
}

impl Turn {
    pub async fn is_ours(&mut self) -> Result<bool, DbErr> {
        // Who asks for it twice holds it twice.
        let text = if self.is_held {
            "SELECT true AS held".to_owned()
        } else {
            format!("SELECT pg_try_advisory_lock({}) AS held", lock_of(self.duty))
        };
        let row = self.connection.query_one_raw(Statement::from_string(DbBackend::Postgres, text)).await;
        self.failure.told()?;
        let row = row?.ok_or_else(|| DbErr::Custom("nobody says who holds the lock".into()))?;
        self.is_held = row.try_get::<bool>("", "held")?;
        Ok(self.is_held)
    }
}

impl Engine {
    pub async fn open(asked: &DatabaseOptions, standing: Arc<Standing>) -> Result<Self, DbErr> {
        let target = Target::of(&asked.url, asked.patience)?;
        let growing = Arc::new(Growing::of(target.clone()));
        let size = asked.pool_size.max(2) as usize;
        let server = match asked.purpose {
            Purpose::Reading => Server::open_to_read(target, size).await?,
            Purpose::Serving | Purpose::Writing => Server::open(target, size).await?,
        };
        Ok(Self(server, standing, growing))
    }

    fn noting(&self, part: Part) -> Noting {
        Noting(part, Some(self.1.clone()))
    }

    pub fn reads(&self) -> Reads {
        Reads { pool: self.0.reads.clone(), until: None, noting: self.noting(Part::Reading), together: None }
    }

    pub fn door(&self) -> Reads {
        Reads { pool: self.0.door.clone(), until: None, noting: self.noting(Part::Reading), together: None }
    }

    /// Standbys of the database, by which reads are answered.
    pub fn followed_by(&self, replica: &str, patience: Patience, oldest: Option<Duration>) -> Result<Replica, DbErr> {
        Ok(self.0.followed_by(postgres_kit::replica_target(replica, patience)?, oldest))
    }

    pub fn writer(&self) -> Writer {
        Writer(self.0.writes.clone(), self.noting(Part::Writing), self.2.clone())
    }

    /// How many connections write just now, and how many there are.
    pub fn writing(&self) -> (usize, usize) {
        (self.0.writes.lent(), self.0.writes.most())
    }

    /// Why it cannot be reached, or takes no writes. Whoever does not get to know soon hears that it does not answer.
    pub async fn reached(&self) -> Result<(), &'static str> {
        self.0.health().asked().await.told()
    }

    /// An error at once where no write can come to its end.
    pub fn check_writable(&self) -> Result<(), DbErr> {
        Ok(self.0.health().check_writable()?)
    }

    /// Lines up for the lock of who does what only one process may.
    pub async fn lines_up(&self, duty: Duty) -> Result<Turn, DbErr> {
        let (connection, failure) = postgres_kit::proxied(self.0.target(), GLANCE).await?;
        // A process that stands still holds its connection all the same, and its machine answers for it: so the database hangs
        // up. One of before 14 does not know how to.
        let lease = format!(
            "SELECT set_config(name, '{}s', false) FROM pg_settings WHERE name = 'idle_session_timeout'",
            LEASE.as_secs()
        );
        let leased = connection.execute_unprepared(&lease).await;
        failure.told()?;
        leased?;
        Ok(Turn { connection, failure, duty, is_held: false })
    }

    pub async fn migrate(&self, sign: Sign<'_>) -> Result<i64, DbErr> {
        let changing = Changing::begin(self.0.target()).await?;
        let done = migrations::up(&changing.database, sign).await;
        changing.end(done).await
    }

    /// Keeps the rows of companies apart, over the machines of a cluster.
    pub async fn distribute(&self) -> Result<Distributed, DbErr> {
        let changing = Changing::begin(self.0.target()).await?;
        let done = distributing::distribute(&changing.database).await;
        changing.end(done).await
    }

    /// What the migrations make, made beside what is there and taken back.
    pub async fn expected_schema(&self) -> Result<Parts, DbErr> {
        let (database, failure) = postgres_kit::proxied(self.0.target(), MIGRATION).await?;
        migrations::without_hurry(&database).await?;
        let transaction = database.begin().await?;
        let expected = schema::expected_on_postgres(&transaction).await;
        transaction.rollback().await?;
        failure.told()?;
        expected
    }

    pub async fn close(&self) {
        self.2.closed.store(true, Ordering::SeqCst);
        self.0.close().await;
    }
}

/// Nothing is noted where there are no rows, and so nothing is signed.
pub async fn make_tables(url: &str, patience: Patience) -> Result<(), DbErr> {
    let changing = Changing::begin(&Target::of(url, patience)?).await?;
    let done = migrations::up(&changing.database, &|_| String::new()).await;
    changing.end(done.map(drop)).await
}

/// Plans are made for tables as large as the engine knows them to be, and it looks once a minute. Until then it takes tables
/// that were empty for empty ones, any index of a company for as good as any other, and each guard and each reference that
/// it checks reads more with every row.
#[derive(Debug)]
struct Growing {
    target: Target,
    /// Since this process began.
    batches: AtomicU64,
    /// Whether tables are to be looked at, and whether somebody is about it.
    asked: AtomicBool,
    looking: AtomicBool,
    /// Nobody connects any more: the database may be on its way elsewhere.
    closed: AtomicBool,
}

/// Looks at the tables of which more was written since they were last looked at than there was then. How many rows that is the
/// engine may say some seconds later; how long the tables are, at once. What was looked at stays so, whatever comes next.
const LOOK: &str = "DO $$ DECLARE grown record; BEGIN FOR grown IN \
    SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_stat_user_tables s ON s.relid = c.oid \
    WHERE s.schemaname = current_schema() AND (s.n_mod_since_analyze > GREATEST(c.reltuples, 50) \
    OR pg_relation_size(c.oid) > 2::bigint * GREATEST(c.relpages, 1) * current_setting('block_size')::bigint) \
    LOOP EXECUTE 'ANALYZE ' || grown.name; COMMIT; END LOOP; END $$";
/// After so many batches for the first time, and then whenever they have doubled.
const FIRST_LOOK: u64 = 8;
/// And after one batch of so many rows.
const MANY_ROWS: u64 = 1_000;
/// So long after a look there is no other; twice as long each time that one is asked for meanwhile. Where every batch is of many
/// rows, hardly any of them changes a plan, and each look has plans made anew.
const BETWEEN_LOOKS: [Duration; 2] = [Duration::from_secs(5), Duration::from_mins(5)];
/// What is looked at is a sample; it is not waited for.
const LOOKING: Duration = Duration::from_mins(1);

impl Growing {
    fn of(target: Target) -> Self {
        let [asked, looking, closed] = [(); 3].map(|()| AtomicBool::new(false));
        Self { target, batches: AtomicU64::new(0), asked, looking, closed }
    }

    /// A batch was written, and so many rows were sent with it.
    fn another(self: &Arc<Self>, rows: u64) {
        let batches = self.batches.fetch_add(1, Ordering::Relaxed) + 1;
        if rows < MANY_ROWS && (batches < FIRST_LOOK || !batches.is_power_of_two()) {
            return;
        }
        self.asked.store(true, Ordering::SeqCst);
        if self.looking.swap(true, Ordering::SeqCst) {
            return;
        }
        let growing = self.clone();
        supervise::once("statistics", async move { growing.look_as_long_as_asked().await });
    }

    async fn look_as_long_as_asked(&self) {
        let [mut between, longest] = BETWEEN_LOOKS;
        loop {
            while self.asked.swap(false, Ordering::SeqCst) && !self.closed.load(Ordering::SeqCst) {
                if let Err(fault) = self.look().await {
                    tracing::debug!(%fault, "the engine did not look at what has grown");
                }
                tokio::time::sleep(between).await;
                between = (2 * between).min(longest);
            }
            self.looking.store(false, Ordering::SeqCst);
            // Whoever asked in between left it to this one.
            if !self.asked.load(Ordering::SeqCst) || self.looking.swap(true, Ordering::SeqCst) {
                return;
            }
        }
    }

    async fn look(&self) -> Result<(), Fault> {
        let link = Link::open(&self.target, LOOKING).await?;
        let looked = link.batch(LOOK).await;
        link.close().await;
        looked.map(drop)
    }
}

/// Waits until then at most. What is given up ends inside the server.
async fn by<T>(until: Option<Instant>, work: impl Future<Output = Result<T, DbErr>>) -> Result<T, DbErr> {
    match until {
        Some(end) => timeout_at(end, work).await.unwrap_or_else(|_| Err(Fault::given_up().into())),
        None => work.await,
    }
}

impl Reads {
    /// Those of a standby. Whether it is there is another's to know.
    pub fn of_replica(replica: &Replica) -> Self {
        Self { pool: replica.reads.clone(), until: None, noting: Noting(Part::Reading, None), together: None }
    }

    pub fn until(&self, end: Instant) -> Self {
        Self { until: Some(end), ..self.clone() }
    }

    pub fn places(&self) -> usize {
        self.pool.most()
    }

    /// Those of one who asks.
    pub fn of_one(&self) -> Self {
        Self { together: Some(Arc::default()), ..self.clone() }
    }

    pub(super) fn together(&self) -> Option<&Together> {
        self.together.as_deref()
    }

    /// Whoever asks outside a transaction may be answered otherwise each time.
    async fn ask(&self, question: Statement) -> Result<Answer, DbErr> {
        match self.together().filter(|together| together.is_open() && only_reads(&question.sql)) {
            Some(together) => self.ask_beside(together, question).await,
            None => self.ask_alone(question).await,
        }
    }

    /// Nothing is kept of what was answered.
    #[expect(clippy::unused_self, reason = "a session keeps something")]
    const fn forget(&self) {}

    /// How many are lent just now.
    pub fn used(&self) -> usize {
        self.pool.lent()
    }

    pub async fn snapshot(&self) -> Result<Session, DbErr> {
        // To connect takes a lot of room, and hardly ever happens.
        let lease = Box::pin(by(self.until, async { Ok(self.pool.snapshot().await?) })).await?;
        Ok(Session {
            lease,
            batch: String::new(),
            until: self.until,
            noting: self.noting.clone(),
            known: None,
            together: Together::default(),
            rows: AtomicU64::new(0),
        })
    }
}

impl Session {
    pub fn batch(&self) -> &str {
        &self.batch
    }

    /// A question whose answer may be known, and which may go with others.
    async fn ask(&self, question: Statement) -> Result<Answer, DbErr> {
        if !only_reads(&question.sql) {
            self.forget();
            return self.ask_alone(question).await;
        }
        if let Some(answer) = self.known.as_ref().and_then(|known| known.answer(&question)) {
            return Ok(answer);
        }
        let kept = self.known.as_ref().map(|known| (known, question.clone()));
        let answer = match &self.together {
            together if together.is_open() => self.ask_beside(together, question).await?,
            _ => self.ask_alone(question).await?,
        };
        if let Some((known, question)) = kept {
            known.keep(question, &answer);
        }
        Ok(answer)
    }

    pub(super) const fn together(&self) -> &Together {
        &self.together
    }

    /// Something is done that may change what was answered, or another command begins, which is judged by what is so by then.
    pub(super) fn forget(&self) {
        self.known.iter().for_each(Known::forget);
    }

    /// Sends all legs of a flight, in their order, and answers what the last of them is answered.
    pub async fn send(&self, legs: Vec<Leg>) -> Result<Vec<QueryResult>, DbErr> {
        self.noting.goes_on()?;
        if !legs.is_empty() {
            self.forget();
        }
        self.rows.fetch_add(rows_of(&legs), Ordering::Relaxed);
        let sent = async { Ok(self.lease.send(legs).await?) };
        let answers = self.noting.of(by(self.until, sent).await)?;
        Ok(read(answers)?.pop().unwrap_or_default())
    }
}

/// How many rows a flight puts into tables.
fn rows_of(legs: &[Leg]) -> u64 {
    let rows = |leg: &Leg| match leg {
        Leg::Rows(rows) => rows.values.len() / rows.width.max(1),
        Leg::Statement(_) | Leg::Question(..) => 0,
    };
    legs.iter().map(rows).sum::<usize>() as u64
}

/// What each leg of a flight was answered, as entities read it.
fn read(answers: postgres_kit::Answers) -> Result<Vec<Vec<QueryResult>>, DbErr> {
    answers.into_iter().map(Answer::into_results).collect()
}

impl Writer {
    pub fn tries(&self, since: Instant) -> Option<Trying> {
        self.1.1.as_ref().map(|standing| standing.is_tried(since))
    }

    /// Begins, and asks what is asked first.
    pub async fn begin(&self, asked: Vec<Statement>) -> Result<(Session, Result<Answered, DbErr>), DbErr> {
        let batch = crate::ids::random_bytes::<16>().map_err(|error| DbErr::Custom(format!("{error:?}")))?;
        let batch = crate::texts::hex(&batch);
        let named = format!("SET LOCAL duet.batch = '{batch}'");
        let asked = asked.into_iter().map(Leg::Statement).collect();
        let begun = self.0.begin_asking(&named, asked).await;
        let (lease, answers) = begun.inspect_err(|fault| self.1.fault(fault))?;
        let answers = self.1.of(answers.map_err(DbErr::from).and_then(read));
        let known = Some(Known::default());
        Ok((
            Session {
                lease,
                batch,
                until: None,
                noting: self.1.clone(),
                known,
                together: Together::default(),
                rows: AtomicU64::new(0),
            },
            answers,
        ))
    }

    /// Commits, with what is written last.
    pub async fn commit(&self, session: Session, last: Vec<Step>) -> Committing {
        let last = match sent(last) {
            Ok(last) => last,
            Err(error) => {
                let _refused_anyway = session.lease.end().await;
                return Committing::Refused(error);
            }
        };
        let rows = session.rows.into_inner() + rows_of(&last);
        let committed = session.lease.commit_with(last).await;
        if let Committed::Refused(fault) | Committed::Unknown(fault) = &committed {
            self.1.fault(fault);
        }
        match committed {
            Committed::Done => {
                self.2.another(rows);
                Committing::Committed
            }
            Committed::Refused(fault) => Committing::Refused(fault.into()),
            Committed::Unknown(fault) => Committing::Unknown(fault.into()),
        }
    }

    pub async fn roll_back(&self, session: Session) -> Result<(), DbErr> {
        Ok(session.lease.end().await?)
    }
}

/// Statements of both go to what they hold, and are waited for as long as was said.
macro_rules! statements_go_to {
    ($type:ty, $inner:ident) => {
        impl $type {
            /// A question that goes by itself.
            async fn ask_alone(&self, question: Statement) -> Result<Answer, DbErr> {
                let answer = async { Ok(self.$inner.query_some(question, ROWS_READ).await?) };
                self.noting.of(by(self.until, answer).await)
            }

            /// Asks a question that goes with those beside it.
            async fn ask_beside(&self, together: &Together, question: Statement) -> Result<Answer, DbErr> {
                let (taken, answered) = together.add(question).await;
                if !taken.is_empty() {
                    self.fly(taken).await;
                }
                answered.await.unwrap_or_else(|_| Err(Fault::given_up().into()))
            }

            /// Asks all of them in one flight, and tells each what came of its own.
            async fn fly(&self, asked: Vec<Asked>) {
                let (questions, waiting): (Vec<Statement>, Vec<_>) = asked.into_iter().unzip();
                let legs = questions.into_iter().map(|question| Leg::Question(question, ROWS_READ)).collect();
                let sent = async { Ok(self.$inner.send(legs).await?) };
                match self.noting.of(by(self.until, sent).await) {
                    Ok(answers) => {
                        for (answer, waits) in answers.into_iter().zip(waiting) {
                            let _gone = waits.send(Ok(answer));
                        }
                    }
                    Err(error) => {
                        let fault = Fault::within(&error).cloned();
                        for waits in waiting {
                            let told = fault.clone().map_or_else(|| DbErr::Custom(error.to_string()), DbErr::from);
                            let _gone = waits.send(Err(told));
                        }
                    }
                }
            }
        }

        #[async_trait::async_trait]
        impl ConnectionTrait for $type {
            fn get_database_backend(&self) -> DbBackend {
                DbBackend::Postgres
            }

            async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
                self.noting.goes_on()?;
                self.forget();
                self.noting.of(by(self.until, self.$inner.execute_raw(statement)).await)
            }

            async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
                self.noting.goes_on()?;
                self.forget();
                self.noting.of(by(self.until, self.$inner.execute_unprepared(sql)).await)
            }

            async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
                self.answer(statement).await?.into_result()
            }

            async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
                self.answer(statement).await?.into_results()
            }
        }

        #[async_trait::async_trait]
        impl Answers for $type {
            async fn answer(&self, question: Statement) -> Result<Answer, DbErr> {
                self.noting.goes_on()?;
                self.ask(question).await
            }
        }
    };
}

statements_go_to!(Reads, pool);
statements_go_to!(Session, lease);
