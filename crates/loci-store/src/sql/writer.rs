//! Who writes, and when is it safe?
//!
//! A few threads do all the writing of this process; a space belongs to exactly one of them. Changes
//! that wait for the same space share one transaction and one sync of the disk (group commit). One that
//! fails takes nobody with it: the pen sees to that. A caller is answered only after the commit.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender};
use tokio::sync::oneshot;

use super::Connection;
use crate::{Error, Result};

/// How many waiting changes share one commit at most.
const GROUP: usize = 512;

/// Where changes become durable.
pub(crate) trait Pen: Send + 'static {
    /// Names a space.
    type Place: Clone + Eq + Hash + Send + Sync + 'static;

    /// Runs the tasks in one transaction and commits; one that fails leaves nothing of itself. When the commit fails,
    /// nothing of them was kept, or nobody knows.
    fn commit(&mut self, place: &Self::Place, tasks: &mut [Box<dyn Task>]) -> Result<()>;
}

/// The threads that write.
pub(crate) struct Writers<P> {
    queues: Vec<Sender<Order<P>>>,
    threads: Vec<JoinHandle<()>>,
    commits: Arc<AtomicU64>,
}

impl<P> Drop for Writers<P> {
    /// Waits until all is written and the files are closed: the last one to close a file folds its
    /// log into it, so that the file alone is whole.
    fn drop(&mut self) {
        self.queues.clear();
        for thread in self.threads.drain(..) {
            drop(thread.join());
        }
    }
}

struct Order<P> {
    place: P,
    task: Box<dyn Task>,
}

/// Work inside a transaction whose answer waits for the commit.
pub(crate) trait Task: Send {
    /// Does the work. The failure is for the writer to know of; the caller is told its own.
    fn run(&mut self, connection: &dyn Connection) -> Result<()>;
    /// Answers the caller. `commit` tells how the shared transaction ended.
    fn answer(self: Box<Self>, commit: Result<(), Failure>);
}

/// A commit that failed, told to each of those who shared it.
pub(crate) type Failure = Box<dyn Fn() -> Error>;

struct Waiting<T, W> {
    work: W,
    result: Option<Result<T>>,
    reply: oneshot::Sender<Result<T>>,
}

impl<T: Send, W: FnMut(&dyn Connection) -> Result<T> + Send> Task for Waiting<T, W> {
    fn run(&mut self, connection: &dyn Connection) -> Result<()> {
        // A defect in one change must not end the thread that all others need.
        let result = catch_unwind(AssertUnwindSafe(|| (self.work)(connection)))
            .unwrap_or(Err(Error::Defect("writing a change")));
        let told = result.as_ref().map(drop).map_err(retell);
        self.result = Some(result);
        told
    }

    fn answer(self: Box<Self>, commit: Result<(), Failure>) {
        let answer = match (self.result, commit) {
            (Some(Err(error)), _) => Err(error),
            (_, Err(failure)) => Err(failure()),
            (Some(Ok(value)), Ok(())) => Ok(value),
            (None, Ok(())) => Err(Error::Closed),
        };
        // A caller that no longer waits does not need the answer; the change stands.
        drop(self.reply.send(answer));
    }
}

/// Work as a task, and where its answer comes.
pub(crate) fn waiting<T, W>(work: W) -> (Box<dyn Task>, oneshot::Receiver<Result<T>>)
where
    T: Send + 'static,
    W: FnMut(&dyn Connection) -> Result<T> + Send + 'static,
{
    let (reply, answer) = oneshot::channel();
    (Box::new(Waiting { work, result: None, reply }), answer)
}

impl<P: Clone + Eq + Hash + Send + Sync + 'static> Writers<P> {
    /// Starts `count` threads, each with a pen of its own. They end when this value is dropped and
    /// their queues are empty.
    pub(crate) fn start<W: Pen<Place = P>>(count: usize, pen: impl Fn() -> W) -> Result<Self> {
        let mut queues = Vec::with_capacity(count);
        let mut threads = Vec::with_capacity(count);
        let commits = Arc::new(AtomicU64::new(0));
        for number in 0..count {
            let (sender, receiver) = crossbeam_channel::unbounded();
            let (counter, pen) = (commits.clone(), pen());
            let thread = std::thread::Builder::new()
                .name(format!("loci-writer-{number}"))
                .spawn(move || serve(&receiver, pen, &counter))
                .map_err(|error| Error::Folder { path: PathBuf::new(), problem: error.to_string() })?;
            threads.push(thread);
            queues.push(sender);
        }
        Ok(Self { queues, threads, commits })
    }

    /// How many transactions were committed so far; each syncs the log once.
    pub(crate) fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }

    /// Runs `work` in a transaction on a space and waits until it is durable.
    pub(crate) async fn run<T, W>(&self, place: &P, work: W) -> Result<T>
    where
        T: Send + 'static,
        W: FnMut(&dyn Connection) -> Result<T> + Send + 'static,
    {
        let (task, answer) = waiting(work);
        let queue = &self.queues[share(place, self.queues.len())];
        queue.send(Order { place: place.clone(), task }).map_err(|_| Error::Closed)?;
        answer.await.map_err(|_| Error::Closed)?
    }
}

fn share(place: &impl Hash, count: usize) -> usize {
    let mut hasher = DefaultHasher::new();
    place.hash(&mut hasher);
    (hasher.finish() % count as u64) as usize
}

fn serve<W: Pen>(queue: &Receiver<Order<W::Place>>, mut pen: W, commits: &AtomicU64) {
    while let Ok(first) = queue.recv() {
        let mut waiting = vec![first];
        waiting.extend(queue.try_iter().take(GROUP - 1));
        while !waiting.is_empty() {
            let place = waiting[0].place.clone();
            let (mine, others): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|order| order.place == place);
            waiting = others;
            let mut tasks: Vec<_> = mine.into_iter().map(|order| order.task).collect();
            let outcome = pen.commit(&place, &mut tasks).map_err(Arc::new);
            commits.fetch_add(1, Ordering::Relaxed);
            for task in tasks {
                task.answer(outcome.clone().map_err(|error| Box::new(move || retell(&error)) as Failure));
            }
        }
    }
}

/// The same failure for each of those who shared the commit.
pub(crate) fn retell(error: &Error) -> Error {
    match error {
        Error::DiskFull { path } => Error::DiskFull { path: path.clone() },
        Error::Damaged { path, problem } => Error::Damaged { path: path.clone(), problem: problem.clone() },
        Error::ReadOnly { path, problem } => Error::ReadOnly { path: path.clone(), problem: problem.clone() },
        Error::Newer { path, found, known } => Error::Newer { path: path.clone(), found: *found, known: *known },
        Error::Busy { path } => Error::Busy { path: path.clone() },
        Error::Database { path, problem } => Error::Database { path: path.clone(), problem: problem.clone() },
        Error::Unavailable { part, problem } => Error::Unavailable { part: part.clone(), problem: problem.clone() },
        Error::Overtaken(problem) => Error::Overtaken(problem.clone()),
        Error::Closed => Error::Closed,
        other => Error::Refused(other.to_string()),
    }
}
