//! The log of SQLite stays within its bounds, whatever reads beside who writes; counted in bytes and pages.

use super::*;
use crate::error::{Error, Unavailable};

/// Small, so that little needs to be written.
const BUDGET: u64 = 2 << 20;
/// What one batch of these tests adds to the log at most.
const BATCH: u64 = 128 << 10;

/// Books with one table more, and their writer.
struct Ballast {
    place: Place,
    database: Database,
    writer: Writer,
    longest: u64,
    /// Whether another thread commits, as it does while the lane plans what comes next.
    beside: bool,
}

impl Ballast {
    async fn with(name: &str, budget: u64) -> Self {
        let place = Place::new(name);
        let database = place.open_with(Purpose::Serving, budget).await.unwrap();
        database.migrate(&|_| String::new()).await.unwrap();
        let writer = database.writer();
        let mut ballast = Self { place, database, writer, longest: 0, beside: false };
        ballast.commit("CREATE TABLE ballast (weight BLOB); INSERT INTO ballast VALUES (NULL)").await;
        ballast
    }

    async fn commit(&mut self, sql: &str) {
        let session = self.writer.begin().await.unwrap();
        session.execute_unprepared(sql).await.unwrap();
        let committed = if self.beside {
            self.writer.commit_beside(session, Vec::new()).await
        } else {
            self.writer.commit(session).await
        };
        assert!(matches!(committed, Committing::Committed));
        self.writer.tidy();
        self.longest = self.longest.max(self.place.log_bytes());
    }

    async fn write(&mut self, bytes: u64) {
        for _ in 0..bytes.div_ceil(64 << 10) {
            self.commit("INSERT INTO ballast VALUES (randomblob(65536))").await;
        }
    }

    fn engine(&self) -> &sqlite::Engine {
        match &self.database.engine {
            Engine::Sqlite(engine) => engine,
            Engine::Postgres(_) => panic!("this is about SQLite"),
        }
    }

    async fn end(self) {
        drop(self.writer);
        self.database.close().await;
    }
}

fn rows() -> Statement {
    asked("SELECT COUNT(*) AS n FROM ballast")
}

/// A question of its own that keeps the log, and never ends by itself.
fn endless() -> Statement {
    asked(
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) \
         SELECT COUNT(*) AS n FROM ballast, c",
    )
}

fn outgrown(error: DbErr) -> bool {
    matches!(Error::from(error), Error::Unavailable(Unavailable::Outgrown))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_that_is_held_ends_where_the_budget_of_the_log_does() {
    let mut ballast = Ballast::with("log-held", BUDGET).await;
    let held = ballast.database.snapshot().await.unwrap();
    assert!(held.query_one_raw(rows()).await.unwrap().is_some());
    ballast.write(6 * BUDGET).await;
    assert!(ballast.longest <= BUDGET + BATCH, "the log grew to {} bytes", ballast.longest);
    assert!(outgrown(held.query_one_raw(rows()).await.map(drop).unwrap_err()));
    drop(held);
    let fresh = ballast.database.snapshot().await.unwrap();
    let row = fresh.query_one_raw(rows()).await.unwrap().unwrap();
    assert_eq!(row.try_get::<i64>("", "n").unwrap(), 1 + 6 * 32);
    drop(fresh);
    ballast.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_is_as_short_where_another_thread_commits() {
    let mut ballast = Ballast::with("log-by-another", BUDGET).await;
    ballast.beside = true;
    ballast.write(6 * BUDGET).await;
    assert!(ballast.longest <= BUDGET + BATCH, "the log grew to {} bytes", ballast.longest);
    ballast.end().await;
}

/// Questions by themselves, which come again as soon as they are ended.
#[tokio::test(flavor = "multi_thread")]
async fn questions_that_never_end_do_not_let_the_log_grow_beyond_its_budget() {
    let mut ballast = Ballast::with("log-single", BUDGET).await;
    let asking: Vec<_> = (0..6)
        .map(|_| {
            let reads = ballast.database.read.clone();
            tokio::spawn(async move {
                loop {
                    let ended = reads.query_one_raw(endless()).await.map(drop).unwrap_err();
                    assert!(outgrown(ended.clone()), "{ended}");
                }
            })
        })
        .collect();
    ballast.write(8 * BUDGET).await;
    assert!(ballast.longest <= BUDGET + BATCH, "the log grew to {} bytes", ballast.longest);
    for one in asking {
        assert!(!one.is_finished(), "{:?}", one.await);
        one.abort();
    }
    ballast.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_is_copied_beside_the_lane_and_begun_anew() {
    let mut ballast = Ballast::with("log-beside", 1 << 30).await;
    for _ in 0..512 {
        ballast.write(64 << 10).await;
        ballast.engine().settle_log();
    }
    let (beside, by_lane) = ballast.engine().settle_log();
    assert!(beside > 7_000, "{beside} pages were copied beside the lane");
    assert_eq!(by_lane, 0, "nothing was written meanwhile, so nothing was left");
    assert!(ballast.longest < 5 << 20, "the log grew to {} bytes", ballast.longest);
    ballast.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_grew_long_gives_its_room_back() {
    let mut ballast = Ballast::with("log-back", 1 << 30).await;
    let held = ballast.database.snapshot().await.unwrap();
    ballast.write(40 << 20).await;
    assert!(ballast.place.log_bytes() > 40 << 20);
    // It was in nobody's way, and sees what it saw.
    let row = held.query_one_raw(rows()).await.unwrap().unwrap();
    assert_eq!(row.try_get::<i64>("", "n").unwrap(), 1);
    held.end().unwrap();
    for _ in 0..100 {
        ballast.write(64 << 10).await;
        ballast.engine().settle_log();
    }
    assert!(ballast.place.log_bytes() <= 16 << 20, "{} bytes", ballast.place.log_bytes());
    ballast.end().await;
}

/// What another program reads cannot be ended. Writes go on, and so do our own reads.
#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_another_program_holds_costs_neither_writes_nor_reads() {
    let mut ballast = Ballast::with("log-other", BUDGET).await;
    let other = ballast.place.open(Purpose::Reading).await.unwrap();
    let theirs = other.snapshot().await.unwrap();
    while ballast.place.log_bytes() <= BUDGET {
        ballast.write(64 << 10).await;
    }
    // Room was asked for once, in vain. It is not asked for again with each batch.
    let ours = ballast.database.snapshot().await.unwrap();
    assert!(ours.query_one_raw(rows()).await.unwrap().is_some());
    ballast.write(BUDGET / 4).await;
    assert!(ours.query_one_raw(rows()).await.unwrap().is_some());
    assert!(theirs.query_one_raw(rows()).await.unwrap().is_some());
    ours.end().unwrap();
    theirs.end().unwrap();
    other.close().await;
    ballast.write(2 * BUDGET).await;
    assert!(ballast.place.log_bytes() <= BUDGET + BATCH, "{} bytes", ballast.place.log_bytes());
    ballast.end().await;
}

/// While a copy is made of the books, the log grows: to end reads would be in vain, and so would be to wait.
#[tokio::test(flavor = "multi_thread")]
async fn a_log_beside_a_copy_ends_nobodys_reads_until_it_is_very_long() {
    let mut ballast = Ballast::with("log-copied", BUDGET).await;
    let copied = sqlite::copies(ballast.place.path()).unwrap();
    let ours = ballast.database.snapshot().await.unwrap();
    assert!(ours.query_one_raw(rows()).await.unwrap().is_some());
    ballast.write(4 * BUDGET).await;
    assert!(ballast.place.log_bytes() > 3 * BUDGET, "{} bytes", ballast.place.log_bytes());
    assert!(ours.query_one_raw(rows()).await.unwrap().is_some());
    // A copy that never ends does not fill the disk.
    ballast.write(6 * BUDGET).await;
    assert!(outgrown(ours.query_one_raw(rows()).await.map(drop).unwrap_err()));
    assert!(ballast.longest <= 9 * BUDGET + BATCH, "the log grew to {} bytes", ballast.longest);
    drop(ours);
    drop(copied);
    // On a busy machine what was ended takes its time to be gone, and room is asked for once more a budget later.
    for _ in 0..16 {
        ballast.write(2 * BUDGET).await;
        if ballast.place.log_bytes() <= BUDGET + BATCH {
            break;
        }
    }
    assert!(ballast.place.log_bytes() <= BUDGET + BATCH, "{} bytes", ballast.place.log_bytes());
    ballast.end().await;
}

/// Page by page, while others write: what is copied is of one moment, whole, and stands alone.
#[tokio::test(flavor = "multi_thread")]
async fn a_copy_is_of_one_moment_and_nothing_stands_beside_it() {
    let mut ballast = Ballast::with("copied", 1 << 30).await;
    ballast.write(24 << 20).await;
    let to = std::env::temp_dir().join(format!("duet-copy-{}.db", std::process::id()));
    let from = ballast.place.path().to_owned();
    let (step, steps) = std::sync::mpsc::channel();
    let (copy, place) = (to.clone(), from.clone());
    let copying = tokio::task::spawn_blocking(move || {
        tokio::runtime::Handle::current().block_on(crate::database::copy(&place, &copy, &mut |done, all| {
            step.send((done, all)).unwrap();
        }))
    });
    // Each commit would have a copy by steps begin anew, did it not see one moment.
    let (mut written, mut told) = (0, Vec::new());
    while !copying.is_finished() {
        ballast.write(64 << 10).await;
        written += 1;
    }
    copying.await.unwrap().unwrap();
    told.extend(steps.try_iter());
    assert!(told.len() >= 6 && told.is_sorted() && told.last().is_some_and(|(done, all)| done == all), "{told:?}");
    for beside in ["-wal", "-shm", "-journal"] {
        assert!(!sqlite_kit::beside(&to, beside).exists(), "{beside}");
    }
    assert!(!sqlite_kit::beside(&from, "-copying").exists());
    let other = Database::open(&small(format!("sqlite:{}", to.display()), Purpose::Reading, BUDGET)).await.unwrap();
    let row = other.read.query_one_raw(rows()).await.unwrap().unwrap();
    let count = row.try_get::<i64>("", "n").unwrap();
    assert!((1 + 384..=1 + 384 + written).contains(&count), "{count}");
    assert_eq!(other.check_file().await.unwrap(), Some(Vec::new()));
    other.close().await;
    std::fs::remove_file(&to).unwrap();
    ballast.end().await;
}
