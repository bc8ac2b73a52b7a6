//! Queues the changes of each space and commits them.
//!
//! A small pool of threads serves the queues: a thread takes one space at a time, commits its queued changes in one
//! transaction with one sync of the disk (group commit), and continues with the next space. A space is served by one
//! thread at a time, so a slow space delays only itself and one thread. Long administrative work gets a thread of its
//! own. A caller gets its result after the commit. The committer must isolate changes that share a transaction: one
//! that fails must not affect the others. Queues are bounded: if one is full, the caller gets [`Error::Busy`] at once.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::JoinHandle;

use tokio::sync::oneshot;

use super::Connection;
use crate::{Error, Result};

/// Maximum number of changes that share one commit.
const MAX_GROUP: usize = 512;

/// Maximum number of threads for long changes. Beyond it a writer thread runs them itself.
const MAX_LONG: usize = 8;

/// Maximum number of changes in the queue of one space.
const MAX_WAITING: usize = 4_096;

/// Maximum number of changes in all queues together.
const MAX_WAITING_IN_ALL: usize = 32_768;

/// Commits changes of a space.
pub(crate) trait Committer: Send + Sync + 'static {
    /// Identifies a space.
    type Place: Clone + Eq + Hash + Send + Sync + 'static;

    /// Whether dropping the writers waits until all queued changes are committed. It must be false for a database that
    /// needs an asynchronous runtime: the thread that drops the writers may be the only one that drives it.
    const WAITS_ON_DROP: bool;

    /// Runs the tasks in one transaction and commits it. A task that fails is rolled back alone. If the commit fails,
    /// nothing was kept, or its outcome is unknown.
    fn commit(&self, place: &Self::Place, tasks: &mut [Box<dyn WriteTask>]) -> Result<()>;

    /// Whether the next commit to this space takes long in any case, because its file must be migrated.
    fn takes_long(&self, _place: &Self::Place) -> bool {
        false
    }

    /// Closes all connections. Called once, after the last commit.
    fn close(&self) {}

    /// The path of a space, for error messages.
    fn path(place: &Self::Place) -> PathBuf;
}

/// Work inside a transaction, whose result is delivered after the commit.
pub(crate) trait WriteTask: Send {
    /// Does the work. The returned error is for the committer; the caller gets it from [`WriteTask::answer`].
    fn run(&mut self, connection: &dyn Connection) -> Result<()>;
    /// Sends the result to the caller. `commit` is the outcome of the shared transaction.
    fn answer(self: Box<Self>, commit: Result<(), &Error>);
}

struct QueuedWrite<T, W> {
    work: W,
    result: Option<Result<T>>,
    reply: oneshot::Sender<Result<T>>,
}

impl<T: Send, W: FnMut(&dyn Connection) -> Result<T> + Send> WriteTask for QueuedWrite<T, W> {
    fn run(&mut self, connection: &dyn Connection) -> Result<()> {
        // A panic in one change must not end the thread that serves all spaces.
        let result = catch_unwind(AssertUnwindSafe(|| (self.work)(connection)))
            .unwrap_or(Err(Error::Defect("writing a change")));
        let outcome = result.as_ref().map(drop).map_err(Clone::clone);
        self.result = Some(result);
        outcome
    }

    fn answer(self: Box<Self>, commit: Result<(), &Error>) {
        let answer = match (self.result, commit) {
            (Some(Err(error)), _) => Err(error),
            (_, Err(error)) => Err(error.clone()),
            (Some(Ok(value)), Ok(())) => Ok(value),
            (None, Ok(())) => Err(Error::Closed),
        };
        // The caller may have stopped waiting; the change is committed all the same.
        drop(self.reply.send(answer));
    }
}

/// Creates a task and the channel of its result.
pub(crate) fn pending_write<T, W>(work: W) -> (Box<dyn WriteTask>, oneshot::Receiver<Result<T>>)
where
    T: Send + 'static,
    W: FnMut(&dyn Connection) -> Result<T> + Send + 'static,
{
    let (reply, answer) = oneshot::channel();
    (Box::new(QueuedWrite { work, result: None, reply }), answer)
}

/// A task in the queue of a space.
struct WriteRequest {
    task: Box<dyn WriteTask>,
    /// Whether it is administrative work, which shares no transaction and runs on a thread of its own.
    admin: bool,
}

/// The queue of one space.
#[derive(Default)]
struct SpaceQueue {
    waiting: VecDeque<WriteRequest>,
    /// Whether a thread serves this space now. While one does, the space is not in `WriterQueues::ready`.
    served: bool,
}

struct WriterQueues<P> {
    /// The queues of spaces with queued changes or a thread that serves them.
    queues: HashMap<P, SpaceQueue>,
    /// Spaces with queued changes that no thread serves, first in first out.
    ready: VecDeque<P>,
    waiting: usize,
    closed: bool,
}

struct WriterShared<C: Committer> {
    committer: C,
    state: Mutex<WriterQueues<C::Place>>,
    /// Signalled when a space becomes ready, and after closing when a queue becomes empty.
    changed: Condvar,
    commits: AtomicU64,
    /// Number of long changes being run.
    long: AtomicUsize,
}

/// The queues of all spaces and the threads that serve them.
pub(crate) struct Writers<C: Committer> {
    shared: Arc<WriterShared<C>>,
    threads: Vec<JoinHandle<()>>,
}

impl<C: Committer> Writers<C> {
    /// Starts `count` threads, which end once this value is dropped and the queues are empty.
    pub(crate) fn start(count: usize, committer: C) -> Result<Self> {
        let state = WriterQueues { queues: HashMap::new(), ready: VecDeque::new(), waiting: 0, closed: false };
        let shared = Arc::new(WriterShared {
            committer,
            state: Mutex::new(state),
            changed: Condvar::new(),
            commits: AtomicU64::new(0),
            long: AtomicUsize::new(0),
        });
        let mut writers = Self { shared, threads: Vec::with_capacity(count) };
        for number in 0..count {
            let shared = writers.shared.clone();
            writers.threads.push(spawn(format!("loci-writer-{number}"), move || serve(&shared))?);
        }
        Ok(writers)
    }

    /// Number of commits so far, including failed ones.
    pub(crate) fn commits(&self) -> u64 {
        self.shared.commits.load(Ordering::Relaxed)
    }

    pub(crate) fn committer(&self) -> &C {
        &self.shared.committer
    }

    /// Runs `work` in a transaction on a space and waits until it is durable.
    pub(crate) async fn run<T, W>(&self, place: &C::Place, work: W) -> Result<T>
    where
        T: Send + 'static,
        W: FnMut(&dyn Connection) -> Result<T> + Send + 'static,
    {
        self.enqueue(place, work, false)?.await.map_err(|_| Error::Closed)?
    }

    /// Like [`Writers::run`], for work that takes long: a transaction and a thread of its own. Other changes of the
    /// space wait for it as usual; those of other spaces do not.
    pub(crate) async fn run_admin<T, W>(&self, place: &C::Place, work: W) -> Result<T>
    where
        T: Send + 'static,
        W: FnMut(&dyn Connection) -> Result<T> + Send + 'static,
    {
        self.enqueue(place, work, true)?.await.map_err(|_| Error::Closed)?
    }

    fn enqueue<T, W>(&self, place: &C::Place, work: W, admin: bool) -> Result<oneshot::Receiver<Result<T>>>
    where
        T: Send + 'static,
        W: FnMut(&dyn Connection) -> Result<T> + Send + 'static,
    {
        let (task, answer) = pending_write(work);
        let mut state = self.shared.lock();
        if state.closed {
            return Err(Error::Closed);
        }
        let in_all = state.waiting;
        let queue = state.queues.entry(place.clone()).or_default();
        if queue.waiting.len() >= MAX_WAITING || in_all >= MAX_WAITING_IN_ALL {
            if queue.waiting.is_empty() && !queue.served {
                state.queues.remove(place);
            }
            return Err(Error::Busy { path: C::path(place) });
        }
        let is_ready = queue.waiting.is_empty() && !queue.served;
        queue.waiting.push_back(WriteRequest { task, admin });
        state.waiting += 1;
        if is_ready {
            state.ready.push_back(place.clone());
            self.shared.changed.notify_one();
        }
        Ok(answer)
    }
}

impl<C: Committer> Drop for Writers<C> {
    /// Ends the threads once the queues are empty. If [`Committer::WAITS_ON_DROP`] is set, waits for that, so that all
    /// files are complete and closed when this returns.
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.closed = true;
        self.shared.changed.notify_all();
        // The closure of the last change may own the store. Then a writer thread drops it, which cannot join itself.
        let own = std::thread::current().id();
        if !C::WAITS_ON_DROP || self.threads.iter().any(|thread| thread.thread().id() == own) {
            return;
        }
        while !state.queues.is_empty() {
            state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        drop(state);
        for thread in self.threads.drain(..) {
            drop(thread.join());
        }
        self.shared.committer.close();
    }
}

impl<C: Committer> WriterShared<C> {
    fn lock(&self) -> MutexGuard<'_, WriterQueues<C::Place>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a ready space and takes its next group of changes. Returns none once the writers are dropped and all
    /// queues are empty.
    fn take(&self) -> Option<(C::Place, Vec<WriteRequest>)> {
        let mut state = self.lock();
        let place = loop {
            if let Some(place) = state.ready.pop_front() {
                break place;
            }
            if state.closed && state.queues.is_empty() {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        };
        let queue = state.queues.entry(place.clone()).or_default();
        queue.served = true;
        let alike = queue.waiting.iter().take(MAX_GROUP).take_while(|request| !request.admin).count();
        let group: Vec<_> = queue.waiting.drain(..alike.clamp(1, queue.waiting.len())).collect();
        state.waiting -= group.len();
        Some((place, group))
    }

    /// Commits a group of changes, sends the results, and releases the space for the next thread.
    fn commit(&self, place: &C::Place, group: Vec<WriteRequest>) {
        let mut tasks: Vec<_> = group.into_iter().map(|request| request.task).collect();
        let outcome = catch_unwind(AssertUnwindSafe(|| self.committer.commit(place, &mut tasks)))
            .unwrap_or(Err(Error::Defect("committing a change")));
        self.commits.fetch_add(1, Ordering::Relaxed);
        for task in tasks {
            task.answer(outcome.as_ref().copied());
        }
        let mut state = self.lock();
        let Some(queue) = state.queues.get_mut(place) else { return };
        queue.served = false;
        if queue.waiting.is_empty() {
            state.queues.remove(place);
            if state.closed {
                self.changed.notify_all();
            }
        } else {
            state.ready.push_back(place.clone());
            self.changed.notify_one();
        }
    }
}

fn serve<C: Committer>(shared: &Arc<WriterShared<C>>) {
    while let Some((place, group)) = shared.take() {
        let admin = group.iter().any(|request| request.admin);
        if !admin && !shared.committer.takes_long(&place) {
            shared.commit(&place, group);
            continue;
        }
        // For instance when the files of many agents are migrated after an upgrade.
        if shared.long.fetch_add(1, Ordering::Relaxed) >= MAX_LONG {
            shared.commit(&place, group);
            shared.long.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let (sender, receiver) = mpsc::channel::<(C::Place, Vec<WriteRequest>)>();
        let with = shared.clone();
        let commit = move || {
            if let Ok((place, group)) = receiver.recv() {
                with.commit(&place, group);
            }
            with.long.fetch_sub(1, Ordering::Relaxed);
        };
        let thread = spawn("loci-admin".to_owned(), commit);
        let handed_over =
            if thread.is_ok() { sender.send((place, group)) } else { Err(mpsc::SendError((place, group))) };
        if let Err(mpsc::SendError((place, group))) = handed_over {
            // No thread could be started, so this one does the work.
            shared.commit(&place, group);
            shared.long.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

fn spawn(name: String, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    std::thread::Builder::new()
        .name(name)
        .spawn(work)
        .map_err(|error| Error::Unavailable { part: "threads".to_owned(), problem: error.to_string() })
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::time::Duration;

    use super::*;

    /// Records which thread commits what. Space 0 waits at the barrier.
    struct Recorder {
        barrier: Arc<Barrier>,
        commits: Arc<Mutex<Vec<(u32, usize, String)>>>,
    }

    impl Committer for Recorder {
        type Place = u32;

        const WAITS_ON_DROP: bool = false;

        fn commit(&self, place: &u32, tasks: &mut [Box<dyn WriteTask>]) -> Result<()> {
            let thread = std::thread::current().name().unwrap_or_default().to_owned();
            self.commits.lock().unwrap().push((*place, tasks.len(), thread));
            if *place == 0 {
                self.barrier.wait();
            }
            if *place == 13 {
                panic!("a defect");
            }
            Err(Error::Busy { path: Self::path(place) })
        }

        fn path(place: &u32) -> PathBuf {
            PathBuf::from(format!("space {place}"))
        }
    }

    type Commits = Arc<Mutex<Vec<(u32, usize, String)>>>;

    fn writers(threads: usize) -> (Arc<Writers<Recorder>>, Arc<Barrier>, Commits) {
        let (barrier, commits) = (Arc::new(Barrier::new(2)), Commits::default());
        let recorder = Recorder { barrier: barrier.clone(), commits: commits.clone() };
        (Arc::new(Writers::start(threads, recorder).unwrap()), barrier, commits)
    }

    async fn until(what: impl Fn() -> bool) {
        while !what() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    #[tokio::test]
    async fn changes_that_wait_for_a_space_share_a_commit_and_long_work_has_a_thread_of_its_own() {
        let (writers, barrier, commits) = writers(1);
        let spawn = |place: u32, admin: bool| {
            let writers = writers.clone();
            tokio::spawn(async move {
                let work = |_: &dyn Connection| Ok(());
                if admin { writers.run_admin(&place, work).await } else { writers.run(&place, work).await }
            })
        };
        let long = spawn(0, true);
        until(|| commits.lock().unwrap().len() == 1).await;
        // The only thread of the pool is free for others.
        assert!(matches!(spawn(1, false).await.unwrap(), Err(Error::Busy { .. })));
        let behind: Vec<_> = (0..3).map(|_| spawn(0, false)).collect();
        until(|| writers.shared.lock().waiting == 3).await;
        let one = tokio::task::spawn_blocking(move || {
            barrier.wait();
            barrier.wait();
        });
        one.await.unwrap();
        assert!(long.await.unwrap().is_err());
        for task in behind {
            assert!(matches!(task.await.unwrap(), Err(Error::Busy { .. })));
        }
        let commits: Vec<_> = commits.lock().unwrap().clone();
        let expect = [(0, 1, "loci-admin"), (1, 1, "loci-writer-0"), (0, 3, "loci-writer-0")];
        assert_eq!(commits, expect.map(|(place, tasks, thread)| (place, tasks, thread.to_owned())));
        until(|| writers.shared.lock().queues.is_empty()).await;
    }

    #[tokio::test]
    async fn a_panic_in_one_commit_does_not_end_the_thread() {
        let (writers, _, commits) = writers(1);
        for _ in 0..2 {
            let outcome = writers.run(&13, |_: &dyn Connection| Ok(())).await;
            assert!(matches!(outcome, Err(Error::Defect(_))), "{outcome:?}");
        }
        assert_eq!(commits.lock().unwrap().len(), 2);
    }

    /// The writers of a server may need the thread that drops them to drive the runtime.
    #[tokio::test]
    async fn writers_of_a_server_are_dropped_without_waiting() {
        let (writers, barrier, commits) = writers(2);
        let task = tokio::spawn({
            let writers = writers.clone();
            async move { writers.run(&0, |_: &dyn Connection| Ok(())).await }
        });
        until(|| commits.lock().unwrap().len() == 1).await;
        task.abort();
        drop(task.await);
        // The drop returns while a commit is running.
        drop(Arc::into_inner(writers).unwrap());
        barrier.wait();
    }
}
