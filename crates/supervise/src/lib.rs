//! Work that goes on as long as the process does, and what happens when it breaks down.
//!
//! Owns: every task and thread of long life. Refuses: to know what they do.
//!
//! A panic in a task that nobody waits for ends it without a word, and what it did is not done any more. So nothing of
//! long life is spawned in another way than through here:
//!
//! - `keep` and `keep_thread` begin it again, and say so;
//! - `vital` ends the process, for what cannot be begun again;
//! - `quiet` is where dear work is done, by threads that give way;
//! - `once`, `thread`, `watched` and `caught` say that it broke down, where somebody else begins anew.

mod quiet;

pub use quiet::{give_way, gives_way, quiet};

use std::any::Any;
use std::future::Future;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;
use std::thread;
use std::time::Duration;
use tokio::task::JoinHandle;

/// How long is waited before it is begun again: what breaks down at once would do nothing else.
const PAUSE: Duration = if cfg!(test) { Duration::from_millis(1) } else { Duration::from_secs(1) };

/// What an ending of the process by its own word answers to whoever started it.
const SOFTWARE: i32 = 70;

/// As long as the reason for an ending may take to be said.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// A task that is kept going. It ends with whoever holds this.
#[derive(Debug)]
pub struct Kept(JoinHandle<()>);

impl Kept {
    pub fn end(&self) {
        self.0.abort();
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.end();
    }
}

/// Keeps a task going until it says that it is done by coming to its end. One that panics is begun again.
pub fn keep<F>(name: &'static str, begin: impl Fn() -> F + Send + 'static) -> Kept
where
    F: Future<Output = ()> + Send,
{
    Kept(tokio::spawn(async move {
        while watched(name, begin()).await.is_none() {
            tokio::time::sleep(PAUSE).await;
        }
    }))
}

/// Runs a task without which the process cannot go on. A panic of it ends the process.
pub fn vital(name: &'static str, work: impl Future<Output = ()> + Send + 'static) -> Kept {
    vital_or(name, work, move || {
        end_process(&format!("{name} broke down"), "Nothing that was acknowledged is lost; start duet again.")
    })
}

/// Ends the process, whether anybody hears why or not: what cannot be said, or is not heard in time, keeps nothing alive.
pub fn end_process(why: &str, advice: &str) -> ! {
    let in_time = thread::Builder::new().name("the end".into()).spawn(|| {
        thread::sleep(LAST_WORDS);
        std::process::exit(SOFTWARE)
    });
    // Without it, nobody is there to end what hangs while it speaks.
    if in_time.is_ok() {
        let _told = catch_unwind(AssertUnwindSafe(|| tracing::error!(why, "the process ends")));
        let _said = writeln!(io::stderr(), "duet ends: {why}. {advice}");
    }
    std::process::exit(SOFTWARE)
}

fn vital_or(
    name: &'static str,
    work: impl Future<Output = ()> + Send + 'static,
    end: impl FnOnce() + Send + 'static,
) -> Kept {
    Kept(tokio::spawn(async move {
        if watched(name, work).await.is_none() {
            end();
        }
    }))
}

/// Keeps a thread going until its work comes to its end. One that panics is begun again.
pub fn keep_thread(name: &'static str, work: impl Fn() + Send + 'static) -> io::Result<thread::JoinHandle<()>> {
    thread::Builder::new().name(name.into()).spawn(move || {
        while caught(name, &work).is_none() {
            thread::sleep(PAUSE);
        }
    })
}

/// Runs something once on a thread of its own. Should it panic, that is said.
pub fn thread(name: &'static str, work: impl FnOnce() + Send + 'static) -> io::Result<thread::JoinHandle<()>> {
    thread::Builder::new().name(name.into()).spawn(move || {
        caught(name, work);
    })
}

/// Runs a task once. Should it panic, that is said.
pub fn once(name: &'static str, work: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
    tokio::spawn(async move {
        watched(name, work).await;
    })
}

/// What a task comes to; nothing where it panicked, which is said.
pub async fn watched<T>(name: &'static str, work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    std::future::poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context)));
        match polled {
            Ok(polled) => polled.map(Some),
            Err(panic) => {
                tell(name, &*panic);
                Poll::Ready(None)
            }
        }
    })
    .await
}

/// What some work comes to; nothing where it panicked, which is said.
pub fn caught<T>(name: &'static str, work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| tell(name, &*panic)).ok()
}

fn tell(name: &'static str, panic: &(dyn Any + Send)) {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let cause = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it did not say why");
    tracing::error!(code = "broke_down", name, cause, "a part of the server broke down");
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::channel;

    fn third_time_lucky(times: &AtomicUsize) {
        assert!(times.fetch_add(1, Ordering::SeqCst) >= 2, "on purpose");
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_breaks_down_is_begun_again_until_it_is_done() {
        let (times, (done, ended)) = (Arc::new(AtomicUsize::new(0)), tokio::sync::oneshot::channel());
        let done = Arc::new(std::sync::Mutex::new(Some(done)));
        let begun = times.clone();
        let kept = keep("a task", move || {
            let (begun, done) = (begun.clone(), done.clone());
            async move {
                tokio::task::yield_now().await;
                third_time_lucky(&begun);
                done.lock().unwrap().take().unwrap().send(()).unwrap();
            }
        });
        ended.await.unwrap();
        drop(kept);
        assert_eq!(times.load(Ordering::SeqCst), 3);
    }

    #[test]
    fn a_thread_that_breaks_down_is_begun_again_until_it_is_done() {
        let times = Arc::new(AtomicUsize::new(0));
        let begun = times.clone();
        keep_thread("a thread", move || third_time_lucky(&begun)).unwrap().join().unwrap();
        assert_eq!(times.load(Ordering::SeqCst), 3);
        let (tell, told) = channel();
        thread("another", move || {
            tell.send(()).unwrap();
            panic!("on purpose")
        })
        .unwrap()
        .join()
        .unwrap();
        told.recv().unwrap();
    }

    #[tokio::test]
    async fn what_is_vital_ends_the_process_when_it_breaks_down_and_not_when_it_is_done() {
        let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
        for breaks in [false, true] {
            let tell = tell.clone();
            let kept =
                vital_or("vital", async move { assert!(!breaks, "on purpose") }, move || tell.send(breaks).unwrap());
            while !kept.0.is_finished() {
                tokio::task::yield_now().await;
            }
        }
        assert_eq!((told.recv().await, told.try_recv().is_err()), (Some(true), true));
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_ends_with_whoever_holds_it() {
        let (held, end) = tokio::sync::oneshot::channel::<()>();
        let held = Arc::new(std::sync::Mutex::new(Some(held)));
        let kept = keep("held", move || {
            let held = held.lock().unwrap().take();
            async move {
                std::future::pending::<()>().await;
                drop(held);
            }
        });
        tokio::task::yield_now().await;
        drop(kept);
        assert!(end.await.is_err());
    }
}
