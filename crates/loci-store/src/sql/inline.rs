//! Runs reads of local files on the calling thread.
//!
//! A file answers most queries in a few microseconds, and handing one to a blocking thread and back costs as much
//! again. A caller with many reads in a row therefore uses `block_in_place` once and reads inline. Queries to a server
//! have unbounded latency and always go to blocking threads, so that several run at once.

use std::cell::Cell;
use std::pin::pin;
use std::sync::LazyLock;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::Semaphore;
use tokio::task::block_in_place;

use super::backend::{Backend, blocking};
use crate::{Error, Result};

/// Limits the futures that read on the runtime's own threads at once: 4 per core.
static INLINE_READS: LazyLock<Semaphore> =
    LazyLock::new(|| Semaphore::new(4 * std::thread::available_parallelism().map_or(4, std::num::NonZero::get)));

/// Limits the file reads on threads of the blocking pool at once. Fewer than the pool has (512), so that they cannot
/// use it up, and fewer than there are connections.
static BLOCKING_READS: Semaphore = Semaphore::const_new(64);

thread_local! {
    /// Whether reads run on this thread.
    static INLINE: Cell<bool> = const { Cell::new(false) };
}

/// Runs a future whose reads of local files happen on the thread that polls it. Concurrent branches of this future do
/// not overlap during a read; spawned tasks do. On a current-thread runtime every read still goes to a blocking thread.
///
/// The number of futures that do this at once is limited, because each makes the runtime take a replacement thread from
/// its blocking pool, and a runtime whose pool is used up stops. The others read on blocking threads, also limited.
pub async fn with_inline_reads<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    std::future::poll_fn(move |context| {
        let several = Handle::try_current().is_ok_and(|it| it.runtime_flavor() == RuntimeFlavor::MultiThread);
        let permit = several.then(|| INLINE_READS.try_acquire().ok()).flatten();
        let Some(_permit) = permit else { return work.as_mut().poll(context) };
        block_in_place(|| {
            let _inline = InlineGuard::enter();
            work.as_mut().poll(context)
        })
    })
    .await
}

/// Runs a read: here if this thread may block and the backend is local, otherwise on a blocking thread.
pub(super) async fn run_read<B: Backend, T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    if !B::LOCAL {
        return blocking(work).await;
    }
    if INLINE.get() {
        return work();
    }
    let _permit = BLOCKING_READS.acquire().await.map_err(|_| Error::Closed)?;
    blocking(work).await
}

/// Reads run inline on this thread until this is dropped.
struct InlineGuard(bool);

impl InlineGuard {
    fn enter() -> Self {
        Self(INLINE.replace(true))
    }
}

impl Drop for InlineGuard {
    fn drop(&mut self) {
        INLINE.set(self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postgres::PostgresBackend;
    use crate::sqlite::SqliteBackend;

    /// Tests that use up the permits of this process, or need one, run one after the other.
    static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

    /// Whether a read of this backend runs inline.
    async fn here<B: Backend>() -> bool {
        run_read::<B, _>(|| Ok(INLINE.get())).await.unwrap()
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn files_are_read_inline_and_servers_are_not() {
        let _alone = ALONE.lock().await;
        let asked = tokio::spawn(async {
            assert!(!here::<SqliteBackend>().await, "reads go to a blocking thread by default");
            let both =
                with_inline_reads(async { (here::<SqliteBackend>().await, here::<PostgresBackend>().await) }).await;
            assert_eq!(both, (true, false));
            assert!(!here::<SqliteBackend>().await, "inline reads end with the future");
        });
        asked.await.unwrap();
    }

    /// The runtime has threads left for its timers under any number of concurrent reads.
    #[test]
    fn many_slow_reads_leave_the_runtime_going() {
        let _alone = ALONE.blocking_lock();
        let threads = INLINE_READS.available_permits() + BLOCKING_READS.available_permits() + 8;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(threads)
            .enable_all()
            .build()
            .unwrap();
        let (ended, end) = std::sync::mpsc::channel::<()>();
        let end = std::sync::Arc::new(std::sync::Mutex::new(end));
        let (ticked, ticks) = std::sync::mpsc::channel();
        for _ in 0..2 * threads {
            let end = end.clone();
            // Waits until the channel is closed.
            let slow = move || {
                drop(end.lock().map(|end| end.recv()));
                Ok(())
            };
            runtime.spawn(with_inline_reads(async move { run_read::<SqliteBackend, _>(slow).await }));
        }
        runtime.spawn(async move {
            for _ in 0..20 {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
            let _ = ticked.send(());
        });
        let outcome = ticks.recv_timeout(std::time::Duration::from_secs(20));
        drop(ended);
        runtime.shutdown_timeout(std::time::Duration::from_secs(20));
        assert_eq!(outcome, Ok(()), "the runtime stopped");
    }

    #[tokio::test]
    async fn a_current_thread_runtime_does_not_read_inline() {
        assert!(!with_inline_reads(here::<SqliteBackend>()).await);
    }
}
