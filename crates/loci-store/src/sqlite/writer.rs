//! Who writes, and when is it safe?
//!
//! A few threads own all write connections; a space belongs to exactly one of them. Changes that
//! wait for the same space share one transaction and one sync of the disk (group commit), each in
//! its own savepoint, so that one that fails takes nobody with it. A caller is answered only after
//! the commit.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender};
use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::oneshot;

use super::file::FileId;
use super::schema;
use crate::{Error, Result};

/// How many waiting changes share one commit at most.
const GROUP: usize = 512;

/// How many spaces one thread keeps open for writing.
const OPEN: usize = 128;

/// The threads that write.
pub(super) struct Writers {
    queues: Vec<Sender<Order>>,
    threads: Vec<JoinHandle<()>>,
    commits: Arc<AtomicU64>,
}

impl Drop for Writers {
    /// Waits until all is written and the files are closed: the last one to close a file folds its
    /// log into it, so that the file alone is whole.
    fn drop(&mut self) {
        self.queues.clear();
        for thread in self.threads.drain(..) {
            drop(thread.join());
        }
    }
}

struct Order {
    path: Arc<PathBuf>,
    task: Box<dyn Task>,
}

/// Work inside a transaction whose answer waits for the commit.
trait Task: Send {
    /// Does the work. The failure is for the writer to know of; the caller is told its own.
    fn run(&mut self, connection: &Connection) -> Result<()>;
    /// Answers the caller. `commit` tells how the shared transaction ended.
    fn answer(self: Box<Self>, commit: Result<(), Failure>);
}

/// A commit that failed, told to each of those who shared it.
type Failure = Box<dyn Fn() -> Error>;

struct Waiting<T, W> {
    work: W,
    result: Option<Result<T>>,
    reply: oneshot::Sender<Result<T>>,
}

impl<T: Send, W: FnMut(&Connection) -> Result<T> + Send> Task for Waiting<T, W> {
    fn run(&mut self, connection: &Connection) -> Result<()> {
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

impl Writers {
    /// Starts `count` threads. They end when this value is dropped and their queues are empty.
    pub(super) fn start(count: usize) -> Result<Self> {
        let mut queues = Vec::with_capacity(count);
        let mut threads = Vec::with_capacity(count);
        let commits = Arc::new(AtomicU64::new(0));
        for number in 0..count {
            let (sender, receiver) = crossbeam_channel::unbounded();
            let counter = commits.clone();
            let thread = std::thread::Builder::new()
                .name(format!("loci-writer-{number}"))
                .spawn(move || serve(&receiver, &counter))
                .map_err(|error| Error::Folder { path: PathBuf::new(), problem: error.to_string() })?;
            threads.push(thread);
            queues.push(sender);
        }
        Ok(Self { queues, threads, commits })
    }

    /// How many transactions were committed so far; each syncs the log once.
    pub(super) fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }

    /// Runs `work` in a transaction on the space at `path` and waits until it is durable.
    pub(super) async fn run<T, W>(&self, path: &Arc<PathBuf>, work: W) -> Result<T>
    where
        T: Send + 'static,
        W: FnMut(&Connection) -> Result<T> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let task = Box::new(Waiting { work, result: None, reply });
        let queue = &self.queues[share(path, self.queues.len())];
        queue.send(Order { path: path.clone(), task }).map_err(|_| Error::Closed)?;
        answer.await.map_err(|_| Error::Closed)?
    }
}

fn share(path: &Path, count: usize) -> usize {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    (hasher.finish() % count as u64) as usize
}

fn serve(queue: &Receiver<Order>, commits: &AtomicU64) {
    let mut open: HashMap<PathBuf, (FileId, Connection)> = HashMap::new();
    while let Ok(first) = queue.recv() {
        let mut waiting = vec![first];
        waiting.extend(queue.try_iter().take(GROUP - 1));
        while !waiting.is_empty() {
            let path = waiting[0].path.clone();
            let (mine, others): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|order| order.path == path);
            waiting = others;
            let mut tasks: Vec<_> = mine.into_iter().map(|order| order.task).collect();
            let outcome = connection(&mut open, &path).and_then(|connection| commit(connection, &path, &mut tasks));
            commits.fetch_add(1, Ordering::Relaxed);
            if outcome.is_err() {
                // A connection that failed once is not trusted again.
                open.remove(path.as_path());
            }
            let outcome = outcome.map_err(Arc::new);
            for task in tasks {
                task.answer(outcome.clone().map_err(|error| Box::new(move || retell(&error)) as Failure));
            }
        }
    }
}

/// The write connection of a space, opened anew if the file is no longer the one we knew.
fn connection<'a>(open: &'a mut HashMap<PathBuf, (FileId, Connection)>, path: &Path) -> Result<&'a mut Connection> {
    let known = open.get(path).map(|(id, _)| *id);
    if known.is_none() || known != FileId::of(path) {
        if open.len() >= OPEN {
            open.clear();
        }
        let connection = schema::open(path, schema::SPACE)?;
        let id = FileId::of(path)
            .ok_or_else(|| Error::ReadOnly { path: path.to_owned(), problem: "the file vanished".into() })?;
        open.insert(path.to_owned(), (id, connection));
    }
    match open.get_mut(path) {
        Some((_, connection)) => Ok(connection),
        None => Err(Error::Closed),
    }
}

fn commit(connection: &mut Connection, path: &Path, tasks: &mut [Box<dyn Task>]) -> Result<()> {
    let said = |error| Error::sqlite(path, error);
    let mut transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(said)?;
    for task in tasks {
        let savepoint = transaction.savepoint().map_err(said)?;
        match task.run(&savepoint) {
            Ok(()) => savepoint.commit().map_err(said)?,
            Err(error) => {
                drop(savepoint);
                // A full or failing disk rolls the whole transaction back. Going on would commit
                // the rest without those who came before.
                if transaction.is_autocommit() {
                    return Err(error);
                }
            }
        }
    }
    transaction.commit().map_err(said)
}

/// The same failure for each of those who shared the commit.
fn retell(error: &Error) -> Error {
    match error {
        Error::DiskFull { path } => Error::DiskFull { path: path.clone() },
        Error::Damaged { path, problem } => Error::Damaged { path: path.clone(), problem: problem.clone() },
        Error::ReadOnly { path, problem } => Error::ReadOnly { path: path.clone(), problem: problem.clone() },
        Error::Newer { path, found, known } => Error::Newer { path: path.clone(), found: *found, known: *known },
        Error::Busy { path } => Error::Busy { path: path.clone() },
        Error::Database { path, source } => {
            let code = source.sqlite_error().copied().unwrap_or(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_ERROR));
            let source = rusqlite::Error::SqliteFailure(code, Some(source.to_string()));
            Error::Database { path: path.clone(), source }
        }
        other => Error::Refused(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Work with its answer.
    fn order(sql: &'static str) -> (Box<dyn Task>, oneshot::Receiver<Result<()>>) {
        let (reply, answer) = oneshot::channel();
        let work = move |connection: &Connection| {
            connection.execute_batch(sql).map_err(|error| Error::sqlite(Path::new("here"), error))
        };
        (Box::new(Waiting { work, result: None, reply }), answer)
    }

    #[test]
    fn what_a_full_disk_rolls_back_is_told_to_all_who_shared_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("loci.db");
        let mut connection = schema::open(&path, schema::SPACE).unwrap();
        let pages: i64 = connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
        connection.pragma_update(None, "max_page_count", pages).unwrap();
        let scope = |number: i64| format!("INSERT INTO scopes (key, layer) VALUES ('k{number}', 'user')").leak();
        // A statement that may not be undone by itself takes the whole transaction with it.
        let large = "INSERT INTO models (name, dimensions) VALUES (hex(zeroblob(100000)), 1)";
        let (mut tasks, answers): (Vec<_>, Vec<_>) =
            [order(scope(1)), order(large), order(scope(2))].into_iter().unzip();
        let outcome = commit(&mut connection, &path, &mut tasks).map_err(Arc::new);
        for task in tasks {
            task.answer(outcome.clone().map_err(|error| Box::new(move || retell(&error)) as Failure));
        }
        let kept = |n: i64| {
            let sql = "SELECT count(*) FROM scopes WHERE key = 'k' || ?1";
            connection.query_row(sql, [n], |row| row.get::<_, i64>(0)).unwrap() == 1
        };
        let [first, full, last] = answers.try_into().unwrap();
        assert!(matches!(full.blocking_recv().unwrap(), Err(Error::DiskFull { .. })));
        assert_eq!(first.blocking_recv().unwrap().is_ok(), kept(1), "who is told yes is there, and nobody else");
        assert_eq!(last.blocking_recv().unwrap().is_ok(), kept(2));
        connection.pragma_update(None, "max_page_count", pages + 100).unwrap();
        let (mut tasks, answers): (Vec<_>, Vec<_>) = [order(scope(3)), order(large)].into_iter().unzip();
        commit(&mut connection, &path, &mut tasks).unwrap();
        tasks.into_iter().for_each(|task| task.answer(Ok(())));
        assert!(answers.into_iter().all(|answer| answer.blocking_recv().unwrap().is_ok()));
    }
}
