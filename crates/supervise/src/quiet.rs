//! Threads that give way: what is dear is done by them, so that it takes what others leave.
//!
//! They are made when somebody first wants them, and are fewer than there are cores.

use std::cell::Cell;
use std::sync::OnceLock;
use std::thread::available_parallelism;
use tokio::runtime::{Builder, Handle, Runtime};

/// How far such a thread stands back. Who stands so far back has a tenth of what another one gets who wants the same core.
const STANDS_BACK: i32 = 10;

thread_local! {
    static GIVES_WAY: Cell<bool> = const { Cell::new(false) };
}

/// From here on this thread gives way to those that do not. It cannot be taken back.
pub fn give_way() {
    GIVES_WAY.set(true);
    // For the thread alone that asks. Where it is not granted, all are served alike.
    if let Err(error) = rustix::process::setpriority_process(None, STANDS_BACK) {
        tracing::debug!(%error, "a thread that is to give way is served like others");
    }
}

/// Whether this thread gives way: then nobody waits for what else it would do.
pub fn gives_way() -> bool {
    GIVES_WAY.get()
}

/// Where tasks are run by threads that give way. Where tasks have but one thread, or others cannot be had, it is where
/// this one runs.
pub fn quiet() -> Handle {
    static QUIET: OnceLock<Option<Runtime>> = OnceLock::new();
    let here = Handle::current();
    if here.runtime_flavor() == tokio::runtime::RuntimeFlavor::CurrentThread {
        return here;
    }
    let threads = available_parallelism().map_or(1, usize::from).saturating_sub(1).max(1);
    let begin = || {
        let quiet = Builder::new_multi_thread()
            .worker_threads(threads)
            .thread_name("quiet")
            .on_thread_start(give_way)
            .enable_all()
            .build();
        quiet.inspect_err(|error| tracing::warn!(%error, "what is dear has no threads of its own")).ok()
    };
    QUIET.get_or_init(begin).as_ref().map_or(here, |quiet| quiet.handle().clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::getpriority_process;

    #[tokio::test(flavor = "multi_thread")]
    async fn what_is_dear_is_done_by_threads_that_give_way_and_nothing_else_is() {
        let seen = || (gives_way(), getpriority_process(None).unwrap());
        let before = seen();
        assert!(!before.0);
        let (gives_way, stands) = quiet().spawn(async move { seen() }).await.unwrap();
        assert!(gives_way && stands >= before.1.max(STANDS_BACK), "{stands}");
        assert_eq!(tokio::spawn(async move { seen() }).await.unwrap(), before);
        assert_eq!(seen(), before, "it is of the thread, and not of the process");
    }

    #[tokio::test]
    async fn where_there_is_one_thread_it_does_all() {
        let here = std::thread::current().id();
        assert_eq!(quiet().spawn(async { std::thread::current().id() }).await.unwrap(), here);
    }
}
