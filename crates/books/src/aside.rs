//! Work on what strangers sent, beside the workers that serve everybody.

use crate::error::{Error, Result};
use std::sync::LazyLock;
use std::thread::available_parallelism;
use tokio::sync::Semaphore;

/// What is shorter is read in less time than it takes to hand it over.
const SHORT: usize = 16 << 10;

/// More at once than there are cores would only wait for each other, each with its copy.
static PLACES: LazyLock<Semaphore> = LazyLock::new(|| Semaphore::new(available_parallelism().map_or(2, usize::from)));

/// Reads so many bytes: at once, or where it holds up nobody.
pub async fn read<T: Send + 'static>(bytes: usize, work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    if bytes <= SHORT {
        return work();
    }
    // Whoever stops waiting gives the place back only when the work is done.
    let place = PLACES.acquire().await.map_err(Error::internal)?;
    tokio::task::spawn_blocking(move || {
        let _place = place;
        work()
    })
    .await
    .map_err(Error::internal)?
}

/// Computes something that takes longer than a moment, without holding up what else this thread would do.
pub fn computed<T>(compute: impl FnOnce() -> T) -> T {
    use tokio::runtime::{Handle, RuntimeFlavor};
    if supervise::gives_way() {
        return compute();
    }
    match Handle::try_current().map(|handle| handle.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(compute),
        _ => compute(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    /// On one worker: a long body is being read until a short one has been.
    #[tokio::test(flavor = "current_thread")]
    async fn a_long_body_holds_up_nobody() {
        let (tell, told) = channel();
        let long = read(SHORT + 1, move || Ok(told.recv_timeout(Duration::from_mins(1)).is_ok()));
        let short = async move { read(SHORT, move || Ok(tell.send(()).is_ok())).await };
        let (long, short) = tokio::join!(long, short);
        assert!(short.unwrap() && long.unwrap(), "the short one was read while the long one was");
    }

    #[tokio::test]
    async fn a_panic_is_a_failure_of_its_reader_alone() {
        let work = || if SHORT > 0 { panic!("on purpose") } else { Ok(()) };
        assert!(matches!(read(SHORT + 1, work).await, Err(Error::Internal(_))));
        assert_eq!(read(SHORT + 1, || Ok(7)).await.unwrap(), 7);
    }
}
