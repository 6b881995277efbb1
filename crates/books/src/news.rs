//! Who waits until something happens in a company, and is told as soon as it is committed here.
//!
//! Owns: the bell of each company that somebody listens to. Refuses: to say what happened, which the audit log tells, and
//! to know of what other processes commit: whoever listens looks for that now and then.

use crate::ids::BusinessId;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// The bells of one database.
#[derive(Default)]
pub struct News {
    /// How many listen, so that a commit which nobody waits for costs no more than a look at this.
    listening: AtomicUsize,
    bells: Mutex<Bells>,
}

#[derive(Default)]
struct Bells {
    /// Each with how many listen to it; under nobody's name that of all companies.
    of: HashMap<Option<BusinessId>, (watch::Sender<()>, usize)>,
    is_over: bool,
}

/// Somebody who listens, until they are dropped. What was committed since they began is not missed.
pub struct Listener {
    news: Arc<News>,
    company: Option<BusinessId>,
    bell: watch::Receiver<()>,
}

impl News {
    fn lock(&self) -> MutexGuard<'_, Bells> {
        self.bells.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Listens to one company, or to all of them.
    pub fn listen(self: &Arc<Self>, company: Option<BusinessId>) -> Listener {
        let mut bells = self.lock();
        let (bell, listening) = bells.of.entry(company).or_insert_with(|| (watch::Sender::new(()), 0));
        *listening += 1;
        let bell = bell.subscribe();
        self.listening.fetch_add(1, Ordering::SeqCst);
        Listener { news: self.clone(), company, bell }
    }

    /// Something was committed in these companies; of what belongs to none of them, nobody knows where it shows.
    pub fn tell(&self, of: impl IntoIterator<Item = Option<BusinessId>>) {
        if self.listening.load(Ordering::SeqCst) == 0 {
            return;
        }
        let bells = self.lock();
        for company in of {
            let rung = bells.of.iter().filter(|(known, _)| known.is_none() || company.is_none() || **known == company);
            rung.for_each(|(_, (bell, _))| bell.send_replace(()));
        }
    }

    /// There will be no more: nobody waits any longer.
    pub fn end(&self) {
        let mut bells = self.lock();
        bells.is_over = true;
        bells.of.values().for_each(|(bell, _)| bell.send_replace(()));
    }

    /// Whether there will be no more.
    pub fn is_over(&self) -> bool {
        self.lock().is_over
    }
}

impl Listener {
    /// Waits until something was committed since this was asked last; not once there will be no more.
    pub async fn heard(&mut self) {
        if self.news.is_over() {
            return;
        }
        // The bell is there as long as somebody listens.
        let _rung = self.bell.changed().await;
    }

    /// Whether there will be no more.
    pub fn is_over(&self) -> bool {
        self.news.is_over()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let mut bells = self.news.lock();
        self.news.listening.fetch_sub(1, Ordering::SeqCst);
        if let Some((_, listening)) = bells.of.get_mut(&self.company) {
            *listening -= 1;
            if *listening == 0 {
                bells.of.remove(&self.company);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Waker};
    use uuid::Uuid;

    fn company(number: u128) -> BusinessId {
        BusinessId(Uuid::from_u128(number))
    }

    /// Whether it is told at once.
    fn hears(listener: &mut Listener) -> bool {
        pin!(listener.heard()).poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    #[test]
    fn each_hears_of_what_they_listen_to_and_of_nothing_else() {
        let news = Arc::new(News::default());
        let (mut one, mut other, mut all) =
            (news.listen(Some(company(1))), news.listen(Some(company(2))), news.listen(None));
        assert!(!hears(&mut one) && !hears(&mut other) && !hears(&mut all));
        news.tell([Some(company(1))]);
        assert!(hears(&mut one) && !hears(&mut other) && hears(&mut all));
        assert!(!hears(&mut one) && !hears(&mut all), "told once");
        // What belongs to no company may show in any.
        news.tell([None]);
        assert!(hears(&mut one) && hears(&mut other) && hears(&mut all));
    }

    #[test]
    fn whoever_leaves_leaves_nothing_and_the_end_is_heard_by_everybody() {
        let news = Arc::new(News::default());
        let (first, mut second) = (news.listen(Some(company(1))), news.listen(Some(company(1))));
        drop(first);
        news.tell([Some(company(1))]);
        assert!(hears(&mut second));
        news.end();
        assert!(hears(&mut second) && hears(&mut second) && second.is_over());
        assert!(hears(&mut news.listen(Some(company(3)))), "who comes too late waits for nothing");
        drop(second);
        assert!(news.lock().of.is_empty() && news.listening.load(Ordering::SeqCst) == 0);
    }
}
