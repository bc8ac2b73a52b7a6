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
    use super::*;
    use crate::{PostgresStore, SqliteStore};

    /// Whether a floor was asked by the thread that stepped aside.
    async fn here<F: Floor>() -> bool {
        reading::<F, _>(|| Ok(ASIDE.get())).await.unwrap()
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn who_stands_aside_waits_for_files_and_not_for_servers() {
        let asked = tokio::spawn(async {
            assert!(!here::<SqliteStore>().await, "who has not stepped aside holds nobody up");
            let both = standing(async { (here::<SqliteStore>().await, here::<PostgresStore>().await) }).await;
            assert_eq!(both, (true, false));
            assert!(!here::<SqliteStore>().await, "and it ends");
        });
        asked.await.unwrap();
    }

    #[tokio::test]
    async fn a_runtime_of_one_thread_is_not_held_up() {
        assert!(!standing(here::<SqliteStore>()).await);
    }
}
