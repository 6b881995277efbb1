//! What is planned of the next batch while the one before is committed.
//!
//! A commit is the engine's work, planning is ours: both go on at once. What is planned so rests on what the desk remembers
//! and on nothing else; who asks the database, writes for itself or only rehearses waits for a transaction, and so does
//! everybody behind. When that begins, the desk finds whether all that was remembered is still so. A batch that fails takes
//! along what was planned on it: those commands run again, and nobody was told anything.

use super::batch::{caught, is_fatal, share};
use super::{BATCH, Command, Growth, Keep, Manner, SPAN, Source};
use crate::database::meanwhile::Meanwhile;
use crate::database::{Committing, Session};
use crate::desk::Desk;
use crate::error::{Error, Result};
use sea_orm::DbBackend;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Poll;
use tokio::time::Instant;

/// Behind so many, others are about to come.
const MANY: usize = 4;

/// What a lane has learnt of planning ahead.
pub(super) struct Ahead {
    /// How far a batch grows.
    room: AtomicUsize,
    /// Whether what was tried last had to wait for a transaction after all: so will others like it, for whom it pays neither to
    /// make batches smaller nor to commit beside the lane.
    in_vain: AtomicBool,
}

impl Default for Ahead {
    fn default() -> Self {
        Self { room: AtomicUsize::new(BATCH), in_vain: AtomicBool::new(false) }
    }
}

impl Ahead {
    pub(super) fn room(&self) -> usize {
        self.room.load(Ordering::Relaxed)
    }

    pub(super) fn learn(&self, room: usize) {
        self.room.store(room, Ordering::Relaxed);
    }

    fn is_in_vain(&self) -> bool {
        self.in_vain.load(Ordering::Relaxed)
    }

    fn tried(&self, is_planned: bool) {
        self.in_vain.store(!is_planned, Ordering::Relaxed);
    }
}

/// A batch as it begins.
pub(super) struct Batch<T> {
    pub(super) commands: Vec<Command<T>>,
    /// What those at its head came to that were planned already.
    pub(super) planned: Vec<Result<T>>,
    pub(super) growth: Growth,
}

/// The next batch, as far as it is known.
pub(super) struct Next<T> {
    commands: Vec<Command<T>>,
    planned: Vec<Result<T>>,
}

impl<T> Default for Next<T> {
    fn default() -> Self {
        Self { commands: Vec::new(), planned: Vec::new() }
    }
}

impl<T> Next<T> {
    /// What was planned goes at once: whoever comes by now is planned while that is committed.
    pub(super) fn begin(&mut self) -> Batch<T> {
        let Self { commands, planned } = std::mem::take(self);
        let growth = if planned.len() >= MANY { Growth::Alone } else { Growth::WhileShort };
        Batch { commands, planned, growth }
    }

    /// How far a batch grows after one in which so many were: to half of all who write. While one half is committed the other
    /// is planned; where all are in one batch, nobody is left to be planned. Who waits still was not to be planned.
    pub(super) fn room_after(&self, source: &Source<'_, T>, committed: usize) -> usize {
        if source.line.is_awaited() || source.ahead.is_in_vain() {
            BATCH
        } else {
            (committed + self.commands.len()).div_ceil(2).max(MANY)
        }
    }

    /// What it was planned on came to nothing. Its commands still wait.
    pub(super) fn is_to_be_planned_anew(&mut self) {
        self.planned.clear();
    }

    /// Whether there is something to plan while so many are committed, or will be soon: where many write, others come before
    /// a commit is over. Nothing is before what was set aside, which runs first and alone.
    pub(super) fn may_be_planned(&self, source: &Source<'_, T>, committed: usize) -> bool {
        let is_something = !self.commands.is_empty() || source.line.is_awaited();
        source.aside().is_empty() && (is_something || committed >= MANY && !source.ahead.is_in_vain())
    }

    /// What is to be planned next, if it is there.
    fn command(&mut self, source: &Source<'_, T>) -> Option<&mut Command<T>> {
        if self.planned.len() == self.commands.len() {
            self.commands.push(source.next()?);
        }
        self.commands.get_mut(self.planned.len())
    }
}

/// Plans what waits until a batch is committed, and answers what became of that.
pub(super) async fn plan_while<T>(
    committing: impl Future<Output = Committing>,
    (desk, engine): (&Desk, DbBackend),
    source: &Source<'_, T>,
    next: &mut Next<T>,
) -> Committing {
    let mut committing = pin!(committing);
    // It is on its way before anything else is done.
    if let Poll::Ready(committed) = once(committing.as_mut()).await {
        return committed;
    }
    if !desk.begins_meanwhile() {
        return committing.await;
    }
    let (session, begun) = (Session::Meanwhile(Meanwhile::of(engine)), Instant::now());
    let committed = loop {
        if next.planned.len() >= BATCH || begun.elapsed() >= SPAN {
            break committing.await;
        }
        let Some(command) = next.command(source) else {
            tokio::select! {
                biased;
                committed = &mut committing => break committed,
                is_awaited = source.line.wait() => if is_awaited { continue },
            }
            break committing.await;
        };
        let since = Instant::now();
        let outcome = plan(&session, desk, command).await;
        source.ahead.tried(outcome.is_some());
        let Some(outcome) = outcome else { break committing.await };
        source.note(&command.order, since.elapsed());
        source.is_over(command);
        next.planned.push(outcome);
        if let Poll::Ready(committed) = once(committing.as_mut()).await {
            break committed;
        }
    };
    desk.ends_meanwhile();
    committed
}

/// What has become of it by now.
async fn once<F: Future>(mut future: Pin<&mut F>) -> Poll<F::Output> {
    poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await
}

/// What a command comes to on what is remembered; nothing where that is not enough for it.
async fn plan<T>(session: &Session, desk: &Desk, command: &Command<T>) -> Option<Result<T>> {
    let Command { order, client, .. } = command;
    let company = order.company.filter(|_| (order.manner, order.keep) == (Manner::Planned, Keep::Effects))?;
    let planned = desk.planned();
    desk.begins();
    let is_open = desk.open(session, company).await;
    if !matches!(is_open, Ok(true)) {
        return None;
    }
    let (mark, share) = (desk.mark(Some(company)), share(order.keep, false, Instant::now()));
    desk.set_planning(true);
    let outcome = caught(client, &share, (order.work)(session, desk)).await;
    desk.set_planning(false);
    let Session::Meanwhile(meanwhile) = session else { return None };
    let is_sure = match &outcome {
        Ok(_) => true,
        Err(error) => !is_fatal(error) && !matches!(error, Error::Internal(_)),
    };
    if meanwhile.was_asked() || share.is_over() || client.has_left() || !is_sure {
        desk.return_to(mark);
        desk.forget_planned(planned);
        drop(desk.take_told());
        return None;
    }
    if outcome.is_err() {
        desk.return_to(mark);
    }
    Some(outcome)
}

#[cfg(test)]
mod tests {
    use super::super::{Command, Line, News, Order, Spending, Stands, Work, commit};
    use super::*;
    use crate::audit::{AuditAction, Change, Origin};
    use crate::client::Client;
    use crate::clock::Instant as At;
    use crate::database::tests::{Place, on_postgres};
    use crate::database::{Database, Purpose, Writer};
    use crate::ids::{BusinessId, RecordId};
    use crate::keys::Keys;
    use crate::seal::Seals;
    use crate::shelf::Shelf;
    use schema::key::ResourceKey;
    use sea_orm::{ConnectionTrait, Statement};
    use std::sync::{Arc, Mutex};
    use tokio::sync::oneshot;
    use uuid::Uuid;

    const CHANGED: &str = "UPDATE access_changes SET count = count + 1";
    const OWN: BusinessId = BusinessId(Uuid::from_u128(1));

    type Counted = Arc<AtomicUsize>;
    type Answer = oneshot::Receiver<Result<i64>>;

    /// Leaves a line in the log, as all writes do.
    fn notes(desk: &Desk, id: u128) -> Result<()> {
        let change = Change {
            action: AuditAction::Created,
            resource: ResourceKey::Parties,
            id: RecordId(Uuid::from_u128(id)),
            version_from: None,
            version_to: Some(1),
            before: None,
            note: None,
            after: Some(format!("{{\"id\":\"{}\"}}", Uuid::from_u128(id))),
        };
        desk.record(OWN, RecordId(Uuid::from_u128(id)), At::default(), &Origin::default(), change)
    }

    #[derive(Clone, Copy)]
    enum Then {
        IsDone,
        IsRefused,
        Asks,
        /// ... and makes nothing of not being answered.
        AsksInVain,
    }

    /// What notes something, and then is done, is refused, or asks; how often it ran is counted.
    fn work(id: u128, then: Then) -> (Work<i64>, Counted) {
        let runs = Counted::default();
        let counted = runs.clone();
        let work: Work<i64> = Arc::new(move |session, desk| {
            let runs = counted.clone();
            Box::pin(async move {
                runs.fetch_add(1, Ordering::SeqCst);
                notes(desk, id)?;
                match then {
                    Then::IsDone => {}
                    Then::IsRefused => return Err(Error::NotFound),
                    Then::Asks => drop(session.query_one_raw(asked(session, "SELECT 1 AS n")).await?),
                    Then::AsksInVain => drop(session.query_one_raw(asked(session, "SELECT 1 AS n")).await),
                }
                Ok(i64::try_from(id).unwrap())
            })
        });
        (work, runs)
    }

    fn asked(connection: &impl ConnectionTrait, sql: &str) -> Statement {
        Statement::from_string(connection.get_database_backend(), sql)
    }

    fn command(work: Work<i64>, keep: Keep) -> (Command<i64>, Answer) {
        let (answer, answered) = oneshot::channel();
        let order =
            Order { company: Some(OWN), who: None, manner: Manner::Planned, keep, work, stands: Stands::default() };
        (Command { order, client: Client::default(), answer, turn: None }, answered)
    }

    /// A lane by its parts, in whose company something was written already.
    struct Parts {
        database: Database,
        writer: Writer,
        desk: Desk,
        line: Line<Command<i64>>,
        spending: Spending,
        news: News,
    }

    impl Parts {
        async fn of(database: Database) -> Self {
            database.migrate(&|_| String::new()).await.unwrap();
            let seals = Seals::of(&Keys::of(b"a master key of a test")).unwrap();
            let desk = Desk::new(seals, Shelf::within(1 << 20).share());
            let (line, spending, news) = (Line::new(64, false), Spending::default(), News::default());
            let mut parts = Self { writer: database.writer(), database, desk, line, spending, news };
            let founded: Work<i64> =
                Arc::new(|session, desk| Box::pin(async move { desk.found(session, OWN).await.map(|()| 0) }));
            let (mut command, _answer) = command(founded, Keep::Effects);
            command.order.manner = Manner::Direct;
            parts.settle(Batch { commands: vec![command], planned: Vec::new(), growth: Growth::Alone }).await;
            parts
        }

        /// Until nothing waits, as a lane does.
        async fn settle(&mut self, mut batch: Batch<i64>) -> Vec<Result<i64>> {
            let Self { writer, desk, line, spending, news, .. } = self;
            let source = Source::of(line, (spending, news));
            let (mut next, mut outcomes) = (Next::default(), Vec::new());
            loop {
                outcomes.extend(commit(writer, desk, Some(OWN), &mut batch, (&source, &mut next)).await);
                batch = next.begin();
                if batch.commands.is_empty() {
                    let Some(first) = source.next() else { return outcomes };
                    batch.commands.push(first);
                }
            }
        }

        /// What is planned of these while something is committed for as long as there is something to plan.
        async fn planned(&self, works: Vec<(Work<i64>, Keep)>) -> Next<i64> {
            self.planned_by(&Source::of(&self.line, (&self.spending, &self.news)), works).await
        }

        async fn planned_by(&self, source: &Source<'_, i64>, works: Vec<(Work<i64>, Keep)>) -> Next<i64> {
            for (work, keep) in works {
                assert!(self.line.push(None, command(work, keep).0).is_ok());
            }
            let mut polled = 0;
            let committing = poll_fn(|context| {
                context.waker().wake_by_ref();
                polled += 1;
                if polled > 100 { Poll::Ready(Committing::Committed) } else { Poll::Pending }
            });
            let mut next = Next::default();
            assert!(next.may_be_planned(source, 1));
            let committed = plan_while(committing, (&self.desk, self.writer.engine()), source, &mut next).await;
            assert!(matches!(committed, Committing::Committed));
            next
        }

        async fn logged(&self) -> Vec<i64> {
            let sql = "SELECT sequence FROM audit_log WHERE action <> 'x' ORDER BY sequence";
            let rows = self.database.read.query_all_raw(asked(&self.database.read, sql)).await.unwrap();
            rows.iter().map(|row| row.try_get("", "sequence").unwrap()).collect()
        }

        async fn close(self) {
            self.database.close().await;
        }
    }

    fn said(outcomes: &[Result<i64>]) -> Vec<Option<i64>> {
        outcomes.iter().map(|outcome| outcome.as_ref().ok().copied()).collect()
    }

    async fn planned_ahead(database: Database) {
        let mut parts = Parts::of(database).await;
        for (asks, again) in [(Then::Asks, 0), (Then::AsksInVain, 4)] {
            let [(one, ran), (two, refused), (three, asks), (four, last)] =
                [(1, Then::IsDone), (2, Then::IsRefused), (3, asks), (4, Then::IsDone)]
                    .map(|(id, then)| work(again + id, then));
            let mut next = parts.planned([one, two, three, four].map(|work| (work, Keep::Effects)).into()).await;
            let runs = || [&ran, &refused, &asks, &last].map(|runs| runs.load(Ordering::SeqCst));
            let own = |id: i64| Some(i64::try_from(again).unwrap() + id);
            // Who asks waits, and so does everybody behind.
            assert_eq!((said(&next.planned), next.commands.len()), (vec![own(1), None], 3));
            assert_eq!(runs(), [1, 1, 1, 0]);
            let outcomes = parts.settle(next.begin()).await;
            assert_eq!(said(&outcomes), [own(1), None, own(3), own(4)]);
            assert!(matches!(outcomes[1], Err(Error::NotFound)));
            // Those that were planned have run once, and nothing is left of what was taken back.
            assert_eq!(runs(), [1, 1, 2, 1]);
        }
        assert_eq!(parts.logged().await, [1, 2, 3, 4, 5, 6]);
        // A rehearsal is not planned ahead.
        let [(first, _), (rehearsed, runs), (other, _)] = [9, 10, 11].map(|id| work(id, Then::IsDone));
        let all = vec![(first, Keep::Effects), (rehearsed, Keep::Nothing), (other, Keep::Effects)];
        let mut next = parts.planned(all).await;
        assert!(said(&next.planned) == [Some(9)] && runs.load(Ordering::SeqCst) == 0);
        assert_eq!(said(&parts.settle(next.begin()).await), [Some(9), Some(10), Some(11)]);
        assert_eq!(parts.logged().await, [1, 2, 3, 4, 5, 6, 7, 8]);
        parts.close().await;
    }

    async fn planned_anew(database: Database) {
        let mut parts = Parts::of(database).await;
        // Another process writes in the same books, or changes who may do what.
        let elsewhere = ["UPDATE books SET version = version + 1", CHANGED];
        for (id, elsewhere) in (0..).zip(elsewhere) {
            let [(one, ran), (two, other)] = [2 * id + 1, 2 * id + 2].map(|id| work(id, Then::IsDone));
            let mut next = parts.planned(vec![(one, Keep::Effects), (two, Keep::Effects)]).await;
            assert_eq!(next.planned.len(), 2);
            let session = parts.writer.begin().await.unwrap();
            session.execute_unprepared(elsewhere).await.unwrap();
            assert!(matches!(parts.writer.commit(session).await, Committing::Committed));
            assert!(parts.settle(next.begin()).await.iter().all(Result::is_ok));
            assert_eq!([&ran, &other].map(|runs| runs.load(Ordering::SeqCst)), [2, 2], "{elsewhere}");
        }
        // Who had to wait rests on nothing, so that is no reason to run again.
        let (asks, runs) = work(5, Then::Asks);
        let mut next = parts.planned(vec![(asks, Keep::Effects)]).await;
        assert_eq!((next.planned.len(), runs.load(Ordering::SeqCst)), (0, 1));
        assert!(parts.desk.planned().is_empty());
        assert!(parts.settle(next.begin()).await[0].is_ok());
        assert_eq!(parts.logged().await, [1, 2, 3, 4, 5]);
        parts.close().await;
    }

    /// What is planned on a batch that comes to nothing is planned anew.
    async fn planned_on_nothing(database: Database) {
        let mut parts = Parts::of(database).await;
        let alone =
            |work| Batch { commands: vec![command(work, Keep::Effects).0], planned: Vec::new(), growth: Growth::Alone };
        assert!(parts.settle(alone(work(1, Then::IsDone).0)).await[0].is_ok());
        for id in 2..12 {
            assert!(parts.line.push(None, command(work(id, Then::IsDone).0, Keep::Effects).0).is_ok());
        }
        // There is a line of this name already.
        let outcomes = parts.settle(alone(work(1, Then::IsDone).0)).await;
        assert!(outcomes[0].is_err(), "{outcomes:?}");
        assert!(outcomes[1..].iter().all(Result::is_ok) && outcomes.len() == 11, "{outcomes:?}");
        assert_eq!(parts.logged().await, (1..12).collect::<Vec<i64>>());
        parts.close().await;
    }

    /// Who leaves after it was planned leaves nothing.
    async fn planned_and_left(database: Database) {
        let mut parts = Parts::of(database).await;
        let [(one, ran), (two, _)] = [1, 2].map(|id| work(id, Then::IsDone));
        let mut next = parts.planned(vec![(one, Keep::Effects), (two, Keep::Effects)]).await;
        next.commands[0].client.leave();
        assert_eq!(said(&parts.settle(next.begin()).await), [Some(2)]);
        assert_eq!((ran.load(Ordering::SeqCst), parts.logged().await), (1, vec![1]));
        parts.close().await;
    }

    /// Of those who all write at once, half are in the next batch and half are left to be planned; what was planned goes at
    /// once where it is enough, and takes others along where it is not.
    async fn in_halves(database: Database) {
        let mut parts = Parts::of(database).await;
        let mut ids = 1..;
        let mut some = |count: usize| -> Vec<_> {
            ids.by_ref().take(count).map(|id| (work(id, Then::IsDone).0, Keep::Effects)).collect()
        };
        for (planned, goes_at_once) in [(MANY - 1, false), (MANY, true)] {
            let mut batch = parts.planned(some(planned)).await.begin();
            assert_eq!((batch.planned.len(), batch.growth == Growth::Alone), (planned, goes_at_once));
            let source = Source::of(&parts.line, (&parts.spending, &parts.news));
            for (work, keep) in some(1) {
                assert!(parts.line.push(None, command(work, keep).0).is_ok());
            }
            let mut next = Next::default();
            let own = (&mut parts.writer, &parts.desk);
            assert!(commit(own.0, own.1, Some(OWN), &mut batch, (&source, &mut next)).await.iter().all(Result::is_ok));
            assert_eq!(batch.commands.len(), MANY);
            parts.settle(next.begin()).await;
        }
        let source = Source::of(&parts.line, (&parts.spending, &parts.news));
        let mut next = Next::default();
        for are_in in [10, 5] {
            for (work, keep) in some(10) {
                assert!(parts.line.push(None, command(work, keep).0).is_ok());
            }
            let mut batch = Batch { growth: Growth::WhileShort, ..next.begin() };
            batch.commands.extend(source.next());
            let own = (&mut parts.writer, &parts.desk);
            assert!(commit(own.0, own.1, Some(OWN), &mut batch, (&source, &mut next)).await.iter().all(Result::is_ok));
            assert_eq!(batch.commands.len(), are_in);
        }
        parts.settle(next.begin()).await;
        // Where others like them had to wait, no batch is smaller for that, nor committed beside the lane for nobody.
        let source = Source::of(&parts.line, (&parts.spending, &parts.news));
        for (id, then, is_in_vain) in [
            (101, Then::Asks, true),
            (102, Then::IsDone, false),
            (103, Then::IsRefused, false),
            (104, Then::Asks, true),
        ] {
            let mut next = parts.planned_by(&source, vec![(work(id, then).0, Keep::Effects)]).await;
            assert_eq!(next.room_after(&source, 10) == BATCH, is_in_vain, "{id}");
            assert_eq!(Next::default().may_be_planned(&source, MANY), !is_in_vain, "{id}");
            let own = (&mut parts.writer, &parts.desk);
            let ended = commit(own.0, own.1, Some(OWN), &mut next.begin(), (&source, &mut Next::default())).await;
            assert_eq!(ended.len(), 1);
        }
        parts.close().await;
    }

    async fn all(database: impl AsyncFn(&'static str) -> Option<Database>) {
        let [ahead, anew, nothing, left] = ["meanwhile-ahead", "meanwhile-anew", "meanwhile-nothing", "meanwhile-left"];
        let Some(first) = database(ahead).await else { return };
        planned_ahead(first).await;
        planned_anew(database(anew).await.unwrap()).await;
        planned_on_nothing(database(nothing).await.unwrap()).await;
        planned_and_left(database(left).await.unwrap()).await;
        in_halves(database("meanwhile-halves").await.unwrap()).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn what_waits_is_planned_while_a_batch_is_committed() {
        let places = Mutex::new(Vec::new());
        all(async |name| {
            let place = Place::new(name);
            let database = place.open(Purpose::Serving).await.ok();
            places.lock().unwrap().push(place);
            database
        })
        .await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn what_waits_is_planned_while_postgresql_commits() {
        all(async |_| on_postgres().await).await;
    }
}
