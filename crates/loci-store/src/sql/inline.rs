//! Runs reads of local files on the calling thread.
//!
//! A file answers most queries in a few microseconds, and handing one to a blocking thread and back costs as much again. A
//! caller with many reads in a row therefore leaves the runtime's worker set once and reads inline. A server answers when it
//! likes; its queries always go to blocking threads, so that several are under way at once.

use std::cell::Cell;
use std::pin::pin;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

use super::backend::{Backend, blocking};
use crate::Result;

thread_local! {
    /// Whether reads run on this thread.
    static INLINE: Cell<bool> = const { Cell::new(false) };
}

/// Runs a future whose reads of local files happen on the thread that polls it. Branches of this future do not overlap
/// meanwhile; spawned tasks do. On a current-thread runtime every read still goes to a blocking thread.
pub async fn with_inline_reads<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    std::future::poll_fn(move |context| {
        let several = Handle::try_current().is_ok_and(|it| it.runtime_flavor() == RuntimeFlavor::MultiThread);
        if !several {
            return work.as_mut().poll(context);
        }
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
    if B::LOCAL && INLINE.get() { work() } else { blocking(work).await }
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

    /// Whether a floor was asked by the thread that stepped aside.
    async fn here<B: Backend>() -> bool {
        run_read::<B, _>(|| Ok(INLINE.get())).await.unwrap()
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn who_stands_inline_waits_for_files_and_not_for_servers() {
        let asked = tokio::spawn(async {
            assert!(!here::<SqliteBackend>().await, "who has not stepped aside holds nobody up");
            let both =
                with_inline_reads(async { (here::<SqliteBackend>().await, here::<PostgresBackend>().await) }).await;
            assert_eq!(both, (true, false));
            assert!(!here::<SqliteBackend>().await, "and it ends");
        });
        asked.await.unwrap();
    }

    #[tokio::test]
    async fn a_runtime_of_one_thread_is_not_held_up() {
        assert!(!with_inline_reads(here::<SqliteBackend>()).await);
    }
}
