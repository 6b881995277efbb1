//! One at a time: what many ask for at once is made once, for all of them.

use crate::database::lane::BoxFuture;
use crate::error::{Error, Result};
use crate::fair::Tethered;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio::sync::watch;

/// What is made right now, by what it is about.
pub struct Single<K, T> {
    /// Counts those who ask and what begins, so that it can be said which was first.
    moments: AtomicU64,
    under_way: Mutex<HashMap<K, UnderWay<T>>>,
}

struct UnderWay<T> {
    began: u64,
    version: Option<i64>,
    making: Weak<Making<T>>,
}

/// It ends when nobody waits for it any more.
struct Making<T> {
    made: watch::Receiver<Option<Result<T>>>,
    _work: Tethered<()>,
}

impl<K, T> Default for Single<K, T> {
    fn default() -> Self {
        Self { moments: AtomicU64::new(0), under_way: Mutex::default() }
    }
}

impl<K: Copy + Eq + Hash, T: Clone + Send + Sync + 'static> Single<K, T> {
    /// What is made of it: by the work that is under way, where that began after this call or is about the same version;
    /// else by the next, which begins when that one has ended.
    pub async fn ask(
        &self,
        key: K,
        version: Option<i64>,
        mut work: impl FnMut() -> BoxFuture<'static, Result<T>>,
    ) -> Result<T> {
        let asked = self.moments.fetch_add(1, Ordering::SeqCst);
        loop {
            let (making, mine) = self.join_or_begin(key, (asked, version), &mut work);
            let mut made = making.made.clone();
            let made = match made.wait_for(Option::is_some).await {
                Ok(made) => made.clone(),
                Err(_) => None,
            };
            let mut under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
            if under_way.get(&key).is_some_and(|one| one.making.as_ptr() == Arc::as_ptr(&making)) {
                under_way.remove(&key);
            }
            if mine {
                return made.unwrap_or_else(|| Err(Error::internal("what many wait for broke off")));
            }
        }
    }

    fn join_or_begin(
        &self,
        key: K,
        (asked, version): (u64, Option<i64>),
        work: &mut impl FnMut() -> BoxFuture<'static, Result<T>>,
    ) -> (Arc<Making<T>>, bool) {
        let mut under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(one) = under_way.get(&key)
            && let Some(making) = one.making.upgrade()
        {
            return (making, one.began > asked || (version.is_some() && one.version == version));
        }
        let (tell, made) = watch::channel(None);
        let work = work();
        let work = Tethered::begin(async move {
            tell.send_replace(Some(work.await));
            Ok(())
        });
        let making = Arc::new(Making { made, _work: work });
        let began = self.moments.fetch_add(1, Ordering::SeqCst);
        // Those that nobody waited for to the end.
        under_way.retain(|_, one| one.making.strong_count() > 0);
        under_way.insert(key, UnderWay { began, version, making: Arc::downgrade(&making) });
        (making, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;
    use tokio::sync::Semaphore;

    struct Work {
        single: Single<u8, usize>,
        begun: AtomicUsize,
        /// As many as may end.
        gate: Arc<Semaphore>,
    }

    impl Work {
        fn new() -> Arc<Self> {
            let gate = Arc::new(Semaphore::new(0));
            Arc::new(Self { single: Single::default(), begun: AtomicUsize::new(0), gate })
        }

        fn ask(self: &Arc<Self>, key: u8, version: i64) -> tokio::task::JoinHandle<Result<usize>> {
            let work = self.clone();
            tokio::spawn(async move {
                let make = || -> BoxFuture<'static, Result<usize>> {
                    let (number, gate) = (work.begun.fetch_add(1, Ordering::SeqCst), work.gate.clone());
                    Box::pin(async move {
                        gate.acquire().await.map_err(Error::internal)?.forget();
                        Ok(number)
                    })
                };
                work.single.ask(key, Some(version), make).await
            })
        }

        async fn settle(&self) {
            for _ in 0..50 {
                tokio::task::yield_now().await;
            }
        }
    }

    #[tokio::test]
    async fn those_who_ask_about_the_same_books_get_one_answer_and_others_the_next() {
        let work = Work::new();
        let first = work.ask(1, 7);
        work.settle().await;
        let (same, later, latest, other) = (work.ask(1, 7), work.ask(1, 8), work.ask(1, 9), work.ask(2, 7));
        work.settle().await;
        assert_eq!(work.begun.load(Ordering::SeqCst), 2, "one at a time of each");
        work.gate.add_permits(2);
        assert_eq!([first.await.unwrap().unwrap(), same.await.unwrap().unwrap()], [0, 0]);
        assert_eq!(other.await.unwrap().unwrap(), 1);
        work.settle().await;
        work.gate.add_permits(1);
        assert_eq!(
            [later.await.unwrap().unwrap(), latest.await.unwrap().unwrap()],
            [2, 2],
            "both came before it began"
        );
        assert!(work.single.under_way.lock().unwrap().is_empty());
    }

    #[tokio::test]
    async fn it_goes_on_while_anybody_waits_and_no_longer() {
        let work = Work::new();
        let (one, other) = (work.ask(1, 7), work.ask(1, 7));
        work.settle().await;
        one.abort();
        work.settle().await;
        work.gate.add_permits(1);
        assert_eq!(other.await.unwrap().unwrap(), 0);
        let alone = work.ask(1, 7);
        work.settle().await;
        assert_eq!(Arc::strong_count(&work.gate), 2, "it is under way");
        alone.abort();
        work.settle().await;
        assert_eq!(Arc::strong_count(&work.gate), 1, "and ended with who asked for it");
        work.gate.add_permits(1);
        assert_eq!(work.ask(1, 7).await.unwrap().unwrap(), 2);
    }
}
