//! The connection of the write lane.
//!
//! Owns: BEGIN and COMMIT, and the health of the connection. Statements run where they are called: on the lane's own
//! thread, with nothing in between.
//!
//! - Before BEGIN the engine itself is asked whether a transaction is open.
//! - SQLite may roll back by itself, in the middle of a batch. So the engine is asked after each statement that failed,
//!   and a transaction that is gone takes no further statement.
//! - After a failed commit or rollback, and after whatever leaves the file or the memory in doubt, the connection is
//!   closed and never used again; closing it rolls back what it had open.
//! - Each commit raises a number in the head of the file. Nobody is answered before another connection has read it.
//! - A sync that failed ends the process: nobody knows what is on the disk.

use super::turnstile::Turnstile;
use super::{Ending, Engine, end_process};
use crate::client;
use crate::database::rows::Step;
use crate::database::standing::{Ill, Part, Standing, UnderWay};
use crate::database::{Committing, ROWS_READ};
use answers::{Answer, Answers};
use sea_orm::{ConnectionTrait, DbBackend, DbErr, ExecResult, QueryResult, Statement};
use sqlite_kit::{Connection, Fault};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[derive(Debug)]
pub struct Writer {
    engine: Arc<Engine>,
    connection: Option<Arc<Held>>,
    witness: Option<Connection>,
    turnstile: Turnstile,
    ending: Ending,
}

/// A transaction of the lane.
#[derive(Debug)]
pub struct Transaction {
    held: Arc<Held>,
    /// How many rows the connection had changed when it began.
    changed: u64,
    _under_way: UnderWay,
}

#[derive(Debug)]
struct Held {
    connection: Mutex<Connection>,
    standing: Arc<Standing>,
    /// Why the transaction is gone, or the connection not to be trusted.
    spoilt: Mutex<Option<Fault>>,
    ending: Ending,
}

impl Held {
    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spoilt(&self) -> Option<Fault> {
        self.spoilt.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Runs something inside the transaction, unless that is gone.
    fn run<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Fault>) -> Result<T, Fault> {
        if let Some(fault) = self.spoilt() {
            return Err(fault);
        }
        let connection = self.connection();
        let done = work(&connection);
        if let Err(fault) = &done
            && (fault.spoils_connection() || connection.is_autocommit())
        {
            self.judge(fault);
            *self.spoilt.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault.clone());
        }
        done
    }

    fn judge(&self, fault: &Fault) {
        // First of all: whatever is said before it may fail.
        if fault.is_failed_sync() {
            (self.ending)(&format!("the disk did not take what was written: {fault}"));
        }
        if let Some(ill) = Ill::of_sqlite(fault) {
            self.standing.ill(Part::Writing, ill, fault);
        }
    }
}

impl Writer {
    pub(super) fn of(engine: Arc<Engine>) -> Self {
        let turnstile = Turnstile::of(&engine.writing.path);
        Self { engine, connection: None, witness: None, turnstile, ending: end_process }
    }

    pub fn begin(&mut self) -> Result<Transaction, DbErr> {
        if let Some(held) = &self.connection {
            // Between transactions none is open; if the engine says otherwise, somebody lost count.
            if held.spoilt().is_some() || !held.connection().is_autocommit() || Arc::strong_count(held) > 1 {
                tracing::error!("the writing connection was left inside a transaction; it is closed");
                self.discard();
            }
        }
        let under_way = self.engine.standing.begins();
        let held = self.connected().inspect_err(|fault| {
            self.engine.standing.ill(Part::Writing, Ill::of_sqlite(fault).unwrap_or(Ill::Missing), fault);
        })?;
        // A deferred transaction that read first cannot become a writer after someone else's commit.
        let begun = {
            let connection = held.connection();
            let _next = self.turnstile.pass();
            connection.batch("BEGIN IMMEDIATE").map(|()| connection.changed())
        };
        match begun {
            Ok(changed) => Ok(Transaction { held, changed, _under_way: under_way }),
            Err(fault) => {
                held.judge(&fault);
                drop(held);
                self.discard_after(&fault);
                Err(fault.into())
            }
        }
    }

    /// The connection, and with it whoever is to see the commit: afterwards it would be too late to refuse.
    fn connected(&mut self) -> Result<Arc<Held>, Fault> {
        let held = if let Some(held) = &self.connection {
            held.clone()
        } else {
            let (connection, standing) = (Mutex::new(self.engine.connect()?), self.engine.standing.clone());
            let held = Arc::new(Held { connection, standing, spoilt: Mutex::default(), ending: self.ending });
            self.connection.insert(held).clone()
        };
        if self.witness.is_none() {
            self.witness = Some(self.engine.witness()?);
        }
        Ok(held)
    }

    /// Commits, with what is written last.
    pub fn commit(&mut self, transaction: Transaction, last: Vec<Step>) -> Committing {
        let written = transaction.send(last);
        let Transaction { held, changed, _under_way } = transaction;
        if let Err(error) = written {
            self.undo(&held);
            return Committing::Refused(error);
        }
        let number = match held.run(|connection| raise(connection, changed)) {
            Ok(Raised::Nothing) => return self.end_empty(&held),
            Ok(Raised::To(number)) => number,
            Err(fault) => {
                self.undo(&held);
                return Committing::Refused(fault.into());
            }
        };
        let committed = {
            let connection = held.connection();
            connection.batch("COMMIT").map(|()| connection.is_autocommit())
        };
        match committed {
            Ok(true) => {
                drop(held);
                self.witness(number);
                Committing::Committed
            }
            Ok(false) => (self.ending)("SQLite called a commit done and has its transaction still open"),
            Err(fault) => {
                held.judge(&fault);
                let refused = fault.refuses_commit();
                self.undo(&held);
                drop(held);
                self.discard_after(&fault);
                if refused { Committing::Refused(fault.into()) } else { Committing::Unknown(fault.into()) }
            }
        }
    }

    /// Ends a transaction that changed nothing.
    fn end_empty(&mut self, held: &Arc<Held>) -> Committing {
        self.undo(held);
        Committing::Committed
    }

    pub fn roll_back(&mut self, transaction: Transaction) -> Result<(), DbErr> {
        let spoilt = transaction.held.spoilt();
        self.undo(&transaction.held);
        // What was asked of a transaction that went away meanwhile may not have been answered from it.
        spoilt.map_or(Ok(()), |fault| Err(fault.into()))
    }

    /// Takes back what is open. Where that fails the connection is closed, which takes it back as well.
    fn undo(&mut self, held: &Arc<Held>) {
        let undone = {
            let connection = held.connection();
            if connection.is_autocommit() { Ok(()) } else { connection.batch("ROLLBACK") }
        };
        if let Err(fault) = &undone {
            held.judge(fault);
            tracing::error!(%fault, "a rollback failed; its connection is closed");
        }
        if undone.is_err() || held.spoilt().is_some() || !held.connection().is_autocommit() {
            self.discard();
        }
    }

    fn discard_after(&mut self, fault: &Fault) {
        if fault.spoils_connection() {
            tracing::error!(%fault, "the writing connection is closed, and another opened");
            self.discard();
        }
    }

    fn discard(&mut self) {
        self.connection = None;
        self.witness = None;
    }

    /// Has another connection see the commit. The lane goes no further where it does not.
    fn witness(&mut self, number: i32) {
        let mut seen = self.seen();
        if seen.is_err() {
            self.witness = None;
            seen = self.seen();
        }
        match seen {
            // Another process may have written since; then the number has grown.
            Ok(seen) if seen.wrapping_sub(number) >= 0 => {}
            Ok(seen) => {
                let why = format!("SQLite called commit {number} done, and another connection sees only {seen}");
                (self.ending)(&why)
            }
            Err(fault) => (self.ending)(&format!("nobody can see whether a commit is in the file: {fault}")),
        }
    }

    fn seen(&mut self) -> Result<i32, Fault> {
        let witness = match self.witness.take() {
            Some(witness) => witness,
            None => self.engine.witness()?,
        };
        let seen = witness.user_version();
        self.witness = Some(witness);
        seen
    }

    /// What is done when those who waited have their answers.
    pub fn tidy(&mut self) {
        if let Some(moved) = self.engine.moved() {
            (self.ending)(&format!("{} is not the file any more that was opened", moved.display()));
        }
        let Some(held) = self.connection.clone() else { return };
        let looked = self.engine.log.look(&held.connection());
        if let Err(fault) = looked {
            held.judge(&fault);
            tracing::error!(%fault, "the log could not be copied to the file");
            drop(held);
            self.discard_after(&fault);
        }
    }
}

enum Raised {
    /// Nothing was written, so there is nothing to commit.
    Nothing,
    To(i32),
}

/// Raises the number that says how often the file was written.
fn raise(connection: &Connection, changed: u64) -> Result<Raised, Fault> {
    if connection.changed() == changed {
        return Ok(Raised::Nothing);
    }
    let number = connection.user_version()?.wrapping_add(1);
    connection.batch(&format!("PRAGMA user_version = {number}"))?;
    Ok(Raised::To(number))
}

impl Transaction {
    pub fn intact(&self) -> Result<(), DbErr> {
        self.held.spoilt().map_or(Ok(()), |fault| Err(fault.into()))
    }

    /// Runs a statement of a command, unless nobody waits for that any more or its share is over: it would keep everybody
    /// else waiting.
    fn run<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Fault>) -> Result<T, DbErr> {
        if !client::goes_on() {
            return Err(Fault::given_up().into());
        }
        Ok(self.held.run(work)?)
    }

    /// Does all steps, in their order, and answers what the last of them is answered.
    pub fn send(&self, steps: Vec<Step>) -> Result<Vec<QueryResult>, DbErr> {
        let mut answered = Answer::default();
        for step in steps {
            answered = match step {
                Step::Rows(rows) => {
                    for (text, values) in rows.portions() {
                        self.run(|connection| connection.put(&text, values))?;
                    }
                    Answer::default()
                }
                Step::Statement(asked) => self.run(|connection| connection.query_some(&asked, ROWS_READ))?,
                Step::Checked(check) => {
                    let seen = self.run(|connection| connection.query_some(&check.asked, ROWS_READ))?;
                    (check.by)(seen.into_results()?)?;
                    Answer::default()
                }
            };
        }
        answered.into_results()
    }
}

#[async_trait::async_trait]
impl ConnectionTrait for Transaction {
    fn get_database_backend(&self) -> DbBackend {
        DbBackend::Sqlite
    }

    async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
        Ok(self.run(|connection| connection.execute(&statement))?.into())
    }

    async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
        self.run(|connection| connection.batch(sql))?;
        Ok(ExecResult::from(sea_orm::ProxyExecResult::default()))
    }

    async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
        self.run(|connection| connection.query_some(&statement, 1))?.into_result()
    }

    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        self.answer(statement).await?.into_results()
    }
}

#[async_trait::async_trait]
impl Answers for Transaction {
    async fn answer(&self, question: Statement) -> Result<Answer, DbErr> {
        self.run(|connection| connection.query_some(&question, ROWS_READ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::{DatabaseOptions, Following, Purpose};

    /// Where the product would end its process, a test goes on with the word.
    fn told(why: &str) -> ! {
        std::panic::resume_unwind(Box::new(why.to_owned()))
    }

    fn word(work: impl FnOnce()) -> String {
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_err();
        *ended.downcast::<String>().unwrap()
    }

    fn writer(name: &str) -> (Writer, std::path::PathBuf) {
        let path = std::env::temp_dir().join(format!("duet-writer-{name}-{}.db", std::process::id()));
        let url = format!("sqlite:{}", path.display());
        let purpose = Purpose::Writing;
        let options = DatabaseOptions {
            url,
            purpose,
            pool_size: 1,
            readers: 1,
            page_cache_kib: 1024,
            log_budget: 64 << 20,
            patience: crate::database::tests::PATIENCE,
            following: Following::default(),
        };
        let engine = Arc::new(Engine::open(path.clone(), &options, Arc::default()).unwrap());
        let mut writer = Writer::of(engine);
        writer.ending = told;
        let begun = writer.begin().unwrap();
        begun.held.run(|connection| connection.batch("CREATE TABLE t (n integer); INSERT INTO t VALUES (1)")).unwrap();
        assert!(matches!(writer.commit(begun, Vec::new()), Committing::Committed));
        (writer, path)
    }

    fn insert(writer: &mut Writer) -> Transaction {
        let begun = writer.begin().unwrap();
        begun.held.run(|connection| connection.batch("INSERT INTO t VALUES (2)")).unwrap();
        begun
    }

    fn rows(path: &std::path::Path) -> i64 {
        let sql = Statement::from_string(DbBackend::Sqlite, "SELECT COUNT(*) AS n FROM t");
        let opening = sqlite_kit::Opening {
            path: path.to_owned(),
            access: sqlite_kit::Access::Read,
            cache_kib: 256,
            statements: 1,
            patience: std::time::Duration::ZERO,
        };
        Connection::open(&opening).unwrap().query(&sql).unwrap().column().unwrap()[0]
    }

    fn remove(path: &std::path::Path) {
        for suffix in ["", "-wal", "-shm", "-next"] {
            let _gone = std::fs::remove_file(sqlite_kit::beside(path, suffix));
        }
    }

    #[test]
    fn who_waits_for_another_process_writes_before_that_one_writes_again() {
        use std::sync::atomic::{AtomicBool, Ordering};
        let (mut busy, path) = writer("turns");
        let (mut waiting, has_written) = (Writer::of(busy.engine.clone()), AtomicBool::new(false));
        // What another process would ask by.
        let asks = std::fs::File::open(sqlite_kit::beside(&path, "-next")).unwrap();
        let held = insert(&mut busy);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                let begun = insert(&mut waiting);
                has_written.store(true, Ordering::SeqCst);
                assert!(matches!(waiting.commit(begun, Vec::new()), Committing::Committed));
            });
            while asks.try_lock().is_ok() {
                assert!(!other.is_finished(), "nobody waits at the turnstile");
                asks.unlock().unwrap();
                std::thread::yield_now();
            }
            assert!(matches!(busy.commit(held, Vec::new()), Committing::Committed));
            let next = insert(&mut busy);
            assert!(has_written.load(Ordering::SeqCst));
            assert!(matches!(busy.commit(next, Vec::new()), Committing::Committed));
        });
        assert_eq!(rows(&path), 4);
        remove(&path);
    }

    #[test]
    fn a_commit_that_another_connection_does_not_see_ends_the_process() {
        let (mut writer, path) = writer("unseen");
        let number = writer.seen().unwrap();
        writer.witness(number);
        assert!(word(|| writer.witness(number + 1)).contains("sees only"));
        // What another process wrote since is no reason to end.
        writer.witness(number - 3);
        remove(&path);
    }

    #[test]
    fn a_transaction_that_the_engine_took_back_takes_nothing_more_and_commits_nothing() {
        let (mut writer, path) = writer("taken");
        let begun = insert(&mut writer);
        // As the engine does by itself when the disk is full.
        begun.held.connection().batch("ROLLBACK").unwrap();
        assert!(begun.held.run(|connection| connection.batch("INSERT INTO nowhere VALUES (1)")).is_err());
        assert!(begun.intact().is_err());
        assert!(begun.held.run(|connection| connection.batch("INSERT INTO t VALUES (3)")).is_err());
        assert!(matches!(writer.commit(begun, Vec::new()), Committing::Refused(_)));
        assert!(writer.connection.is_none(), "its connection is never used again");
        assert_eq!(rows(&path), 1);
        let begun = insert(&mut writer);
        assert!(matches!(writer.commit(begun, Vec::new()), Committing::Committed));
        assert_eq!(rows(&path), 2);
        remove(&path);
    }

    #[test]
    fn a_transaction_that_is_left_open_does_not_swallow_the_next_one() {
        let (mut writer, path) = writer("open");
        let held = insert(&mut writer).held;
        drop(held);
        let begun = insert(&mut writer);
        assert!(matches!(writer.commit(begun, Vec::new()), Committing::Committed));
        assert_eq!(rows(&path), 2);
        remove(&path);
    }

    #[test]
    fn what_changed_nothing_costs_no_commit() {
        let (mut writer, path) = writer("nothing");
        let before = writer.seen().unwrap();
        let begun = writer.begin().unwrap();
        assert!(matches!(writer.commit(begun, Vec::new()), Committing::Committed));
        assert_eq!(writer.seen().unwrap(), before);
        // What changed something has a number of its own, by which another connection knows it.
        let begun = insert(&mut writer);
        assert!(matches!(writer.commit(begun, Vec::new()), Committing::Committed));
        assert_eq!(writer.seen().unwrap(), before + 1);
        remove(&path);
    }
}
