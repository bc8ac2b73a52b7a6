//! May the thread that asks wait for the answer itself?
//!
//! A file answers most questions in some microseconds, and to hand one to another thread and back costs as much
//! again. Who asks many in a row therefore steps aside from the runtime's work once, and waits where it stands. A
//! server answers when it likes; its questions go to threads that wait, so that several are under way at once.

use std::cell::Cell;
use std::pin::pin;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

use super::floor::{Floor, blocking};
use crate::Result;

thread_local! {
    /// Whether this thread has stepped aside.
    static ASIDE: Cell<bool> = const { Cell::new(false) };
}

/// Runs a future whose questions to files are answered on the thread that asks them. While they are, nothing else of
/// this future goes on; what it has set going elsewhere does. A runtime of one thread has nobody to stand in for it,
/// so there every question still goes to a thread of its own.
pub async fn standing<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    std::future::poll_fn(move |context| {
        let several = Handle::try_current().is_ok_and(|it| it.runtime_flavor() == RuntimeFlavor::MultiThread);
        if !several {
            return work.as_mut().poll(context);
        }
        block_in_place(|| {
            let _aside = Aside::step();
            work.as_mut().poll(context)
        })
    })
    .await
}

/// Runs what a floor has to read: here if this thread may wait and the floor answers soon, else on a thread that may.
pub(super) async fn reading<F: Floor, T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    if F::NEAR && ASIDE.get() { work() } else { blocking(work).await }
}

/// A thread that has stepped aside, until this is dropped.
struct Aside(bool);

impl Aside {
    fn step() -> Self {
        Self(ASIDE.replace(true))
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        ASIDE.set(self.0);
    }
}

#[cfg(test)]
mod tests {
    use std::thread::{ThreadId, current};

    use super::*;
    use crate::{PostgresStore, SqliteStore};

    async fn asked_on<F: Floor>() -> ThreadId {
        reading::<F, _>(|| Ok(current().id())).await.unwrap()
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn who_stands_aside_waits_for_files_and_not_for_servers() {
        let asked = tokio::spawn(async {
            let here = async || (current().id(), asked_on::<SqliteStore>().await, asked_on::<PostgresStore>().await);
            let (thread, file, _) = here().await;
            assert_ne!(thread, file, "who has not stepped aside holds nobody up");
            let (thread, file, server) = standing(here()).await;
            assert_eq!(thread, file);
            assert_ne!(thread, server);
            let (thread, file, _) = here().await;
            assert_ne!(thread, file, "and it ends");
        });
        asked.await.unwrap();
    }

    #[tokio::test]
    async fn a_runtime_of_one_thread_is_not_held_up() {
        assert_ne!(current().id(), standing(asked_on::<SqliteStore>()).await);
    }
}
