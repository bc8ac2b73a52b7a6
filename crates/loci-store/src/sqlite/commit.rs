//! Commits changes to the file of a space.
//!
//! A commit also maintains the marks in the catalogue (`work`), by which the worker finds spaces with jobs.
//!
//! **Invariant.** For each kind, the mark of a space is not later than the earliest `run_after` of its waiting or
//! running jobs. A mark is set or lowered here, inside the transaction and before its commit; it is raised or removed
//! only by [`FileCommitter::renew_marks`], which reads the jobs while it holds the write lock of the same file. That
//! lock works across processes and orders the two: no mark is removed between the mark and the commit that makes the
//! job visible, and a removal after the commit sees the job. A crash in between leaves a mark that is too early, which
//! costs one check.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use loci_types::{Space, Tenant};

use super::catalogue::SqliteCatalogue;
use super::cipher::Cipher;
use super::connection::Transaction;
use super::connections::{Limits, ReadPool, WritePool};
use super::schema;
use crate::sql::writer::{Committer, WriteTask};
use crate::{Error, Result};

/// A space and its file.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct SpaceFile {
    pub(super) tenant: Tenant,
    pub(super) space: Space,
    pub(super) path: Arc<PathBuf>,
}

/// Commits to the files of a store.
pub(super) struct FileCommitter {
    catalogue: Arc<SqliteCatalogue>,
    readers: Arc<ReadPool>,
    connections: WritePool,
}

impl Committer for FileCommitter {
    type Place = Arc<SpaceFile>;

    const WAITS_ON_DROP: bool = true;

    fn commit(&self, place: &Arc<SpaceFile>, tasks: &mut [Box<dyn WriteTask>]) -> Result<()> {
        let (file, connection) = self.connections.take(&place.path)?;
        let before_commit = |connection: &rusqlite::Connection| self.mark_work(place, connection);
        let before = schema::small_pages(&connection).map_err(|error| Error::sqlite(&place.path, error))?;
        commit(&connection, &place.path, tasks, &before_commit)?;
        // From here on the changes are durable, so an error must not be returned; the connection is not used again.
        if let Err(error) = self.enlarge_pages(place, &connection, before) {
            tracing::warn!(%error, "a file could not be rewritten with larger pages");
            return Ok(());
        }
        self.connections.give_back(&place.path, file, connection);
        Ok(())
    }

    fn takes_long(&self, place: &Arc<SpaceFile>) -> bool {
        !self.connections.is_open(&place.path) && schema::is_old(&place.path, schema::SPACE, self.connections.cipher())
    }

    fn close(&self) {
        self.connections.close_all();
    }

    fn path(place: &Arc<SpaceFile>) -> PathBuf {
        place.path.to_path_buf()
    }
}

impl FileCommitter {
    pub(super) fn new(catalogue: Arc<SqliteCatalogue>, readers: Arc<ReadPool>, cipher: Cipher) -> Self {
        Self { catalogue, readers, connections: WritePool::new(Limits::of_this_process().idle_writers, cipher) }
    }

    /// Closes the write connection of a space.
    pub(super) fn close_space(&self, path: &Path) {
        self.connections.close(path);
    }

    /// Rewrites a file that has grown with larger pages. The idle readers of this process are closed first, because
    /// SQLite needs exclusive access.
    fn enlarge_pages(&self, place: &SpaceFile, connection: &rusqlite::Connection, before: i64) -> rusqlite::Result<()> {
        if !schema::has_outgrown_its_pages(before, schema::small_pages(connection)?) {
            return Ok(());
        }
        self.readers.close(&place.path);
        schema::enlarge_pages(connection)
    }

    /// Lowers the marks of a space to the due times of its jobs.
    fn mark_work(&self, place: &SpaceFile, connection: &rusqlite::Connection) -> Result<()> {
        let next = next_work(connection).map_err(|error| Error::sqlite(&place.path, error))?;
        if next.is_empty() { Ok(()) } else { self.catalogue.mark_work(&place.tenant, &place.space, &next) }
    }

    /// Sets the marks of a space to the due times of its jobs, and removes them if it has none. Does nothing while
    /// another writer holds the lock; the next check repeats it.
    pub(super) fn renew_marks(&self, place: &SpaceFile) -> Result<()> {
        let failed = |error| Error::sqlite(&place.path, error);
        let (file, connection) = self.connections.take(&place.path)?;
        connection.busy_timeout(std::time::Duration::ZERO).map_err(failed)?;
        match Transaction::write(&connection) {
            Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy) => {}
            transaction => {
                let transaction = transaction.map_err(failed)?;
                let next = next_work(&connection).map_err(failed)?;
                self.catalogue.set_work(&place.tenant, &place.space, &next)?;
                transaction.rollback().map_err(failed)?;
            }
        }
        connection.busy_timeout(schema::BUSY_TIMEOUT).map_err(failed)?;
        self.connections.give_back(&place.path, file, connection);
        Ok(())
    }
}

/// By kind, the earliest `run_after` of the waiting or running jobs, in microseconds. That of a running job is in the
/// past, so its space is checked until the job is done, because its lease may expire.
pub(super) fn next_work(connection: &rusqlite::Connection) -> rusqlite::Result<Vec<(String, i64)>> {
    // Skips from kind to kind through the index, so the cost does not depend on the number of jobs.
    let sql = "WITH RECURSIVE kinds (kind) AS (
            SELECT min(kind) FROM jobs WHERE state IN ('waiting', 'running')
            UNION ALL
            SELECT (SELECT min(kind) FROM jobs WHERE state IN ('waiting', 'running') AND kind > kinds.kind)
            FROM kinds WHERE kinds.kind IS NOT NULL)
        SELECT kind, (SELECT min(run_after) FROM jobs WHERE state IN ('waiting', 'running') AND kind = kinds.kind)
        FROM kinds WHERE kind IS NOT NULL";
    connection.prepare_cached(sql)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

type BeforeCommit<'c> = dyn Fn(&rusqlite::Connection) -> Result<()> + 'c;

fn commit(
    connection: &rusqlite::Connection,
    path: &Path,
    tasks: &mut [Box<dyn WriteTask>],
    before_commit: &BeforeCommit<'_>,
) -> Result<()> {
    if commit_together(connection, path, tasks, before_commit)? {
        return Ok(());
    }
    let failed = |error| Error::sqlite(path, error);
    let transaction = Transaction::write(connection).map_err(failed)?;
    for task in tasks {
        let done = transaction.within(|| task.run(connection)).map_err(failed)?;
        // If SQLite has rolled back the whole transaction, continuing would commit the rest without the earlier tasks.
        if transaction.is_gone() {
            return Err(done.err().unwrap_or(Error::Closed));
        }
    }
    before_commit(connection)?;
    transaction.commit().map_err(failed)
}

/// Commits all tasks without savepoints, which cost more than most tasks. If a task fails, everything is rolled back
/// and false is returned; the caller then runs all tasks again with savepoints.
fn commit_together(
    connection: &rusqlite::Connection,
    path: &Path,
    tasks: &mut [Box<dyn WriteTask>],
    before_commit: &BeforeCommit<'_>,
) -> Result<bool> {
    let failed = |error| Error::sqlite(path, error);
    let transaction = Transaction::write(connection).map_err(failed)?;
    let alone = tasks.len() == 1;
    for task in tasks {
        let done = task.run(connection);
        if done.is_err() || transaction.is_gone() {
            if alone && transaction.is_gone() {
                return Err(done.err().unwrap_or(Error::Closed));
            }
            transaction.rollback().map_err(failed)?;
            // A batch of one already holds its own error; running it again in a savepoint would give the same one.
            return Ok(alone);
        }
    }
    before_commit(connection)?;
    transaction.commit().map_err(failed)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use loci_types::JobKind;
    use tokio::sync::oneshot;

    use super::*;
    use crate::sql::Connection;
    use crate::sql::writer::pending_write;

    /// A task that runs a statement, and its result.
    fn task_of(sql: &'static str) -> (Box<dyn WriteTask>, oneshot::Receiver<Result<()>>) {
        pending_write(move |connection| {
            connection.execute(sql, []).map(drop).map_err(|error| Error::sql(Path::new("here"), error))
        })
    }

    #[test]
    fn a_transaction_that_a_full_disk_rolls_back_fails_for_all_its_callers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("loci.db");
        let connection = schema::open(&path, schema::SPACE, &Cipher::default()).unwrap();
        let pages: i64 = connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
        connection.pragma_update(None, "max_page_count", pages).unwrap();
        let scope = |number: i64| format!("INSERT INTO scopes (key, layer) VALUES ('k{number}', 'user')").leak();
        // A statement that SQLite cannot undo alone rolls back the whole transaction.
        let large = "INSERT INTO models (name, dimensions) VALUES (hex(zeroblob(100000)), 1)";
        let (mut tasks, answers): (Vec<_>, Vec<_>) =
            [task_of(scope(1)), task_of(large), task_of(scope(2))].into_iter().unzip();
        let outcome = commit(&connection, &path, &mut tasks, &|_| Ok(()));
        for task in tasks {
            task.answer(outcome.as_ref().copied());
        }
        let kept = |n: i64| {
            let sql = "SELECT count(*) FROM scopes WHERE key = 'k' || ?1";
            connection.query_row(sql, [n], |row| row.get::<_, i64>(0)).unwrap() == 1
        };
        let [first, full, last] = answers.try_into().unwrap();
        assert!(matches!(full.blocking_recv().unwrap(), Err(Error::DiskFull { .. })));
        assert_eq!(first.blocking_recv().unwrap().is_ok(), kept(1), "a task succeeds exactly if its row was kept");
        assert_eq!(last.blocking_recv().unwrap().is_ok(), kept(2));
        connection.pragma_update(None, "max_page_count", pages + 1_000).unwrap();
        let (mut tasks, answers): (Vec<_>, Vec<_>) = [task_of(scope(3)), task_of(large)].into_iter().unzip();
        commit(&connection, &path, &mut tasks, &|_| Ok(())).unwrap();
        tasks.into_iter().for_each(|task| task.answer(Ok(())));
        assert!(answers.into_iter().all(|answer| answer.blocking_recv().unwrap().is_ok()));
    }

    /// Renews the marks before the transaction that adds a job, inside it, and after its commit.
    #[test]
    fn a_mark_is_not_cleared_while_a_job_is_on_its_way() {
        let folder = tempfile::tempdir().unwrap();
        let catalogue = Arc::new(SqliteCatalogue::open(folder.path(), &Cipher::default()).unwrap());
        let path = Arc::new(folder.path().join("loci.db"));
        let place = Arc::new(SpaceFile { tenant: Tenant::default(), space: Space::Shared, path });
        let register = |connection: &dyn Connection| {
            crate::sql::catalogue::register(connection, &place.tenant, &place.space, jiff::Timestamp::UNIX_EPOCH)
        };
        catalogue.write_catalogue(register).unwrap();
        let now = jiff::Timestamp::from_microsecond(10).unwrap();
        let marked = |catalogue: &SqliteCatalogue| {
            !catalogue.spaces_with_work(&place.tenant, &[JobKind::Link], now).unwrap().is_empty()
        };
        let here =
            FileCommitter::new(catalogue.clone(), Arc::new(ReadPool::new(1, 1, Cipher::default())), Cipher::default());
        // Another process has connections of its own.
        let there = FileCommitter::new(
            Arc::new(SqliteCatalogue::open(folder.path(), &Cipher::default()).unwrap()),
            Arc::new(ReadPool::new(1, 1, Cipher::default())),
            Cipher::default(),
        );
        let job = "INSERT INTO jobs (kind, payload, state, run_after, attempts, created_at) \
                   VALUES ('link', '{}', 'waiting', 5, 0, 0)";
        let (task, _answer) = task_of(job);
        here.commit(&place, &mut [task_of("DELETE FROM jobs").0]).unwrap();
        catalogue.set_work(&place.tenant, &place.space, &[("link".to_owned(), 0)]).unwrap();
        there.renew_marks(&place).unwrap();
        assert!(!marked(&catalogue), "without a job it is cleared");

        let path = place.path.clone();
        let (file, connection) = here.connections.take(&path).unwrap();
        let mut tasks = [task];
        let before_commit = |connection: &rusqlite::Connection| {
            here.mark_work(&place, connection)?;
            assert!(marked(&catalogue), "it is marked before the job can be seen");
            there.renew_marks(&place)?;
            assert!(marked(&catalogue), "it is not cleared during the transaction");
            Ok(())
        };
        commit(&connection, &path, &mut tasks, &before_commit).unwrap();
        here.connections.give_back(&path, file, connection);
        there.renew_marks(&place).unwrap();
        assert!(marked(&catalogue), "a check after the commit sees the job");
        here.commit(&place, &mut [task_of("DELETE FROM jobs").0]).unwrap();
        there.renew_marks(&place).unwrap();
        assert!(!marked(&catalogue));
    }

    #[test]
    fn the_next_job_of_each_kind_is_found_by_the_index() {
        let folder = tempfile::tempdir().unwrap();
        let connection = schema::open(&folder.path().join("loci.db"), schema::SPACE, &Cipher::default()).unwrap();
        assert_eq!(next_work(&connection).unwrap(), []);
        for (kind, state, run_after) in [
            ("link", "waiting", 9),
            ("link", "running", 7),
            ("embed", "waiting", 8),
            ("embed", "waiting", 3),
            ("embed", "dead", 1),
            ("causal", "dead", 1),
        ] {
            let sql = "INSERT INTO jobs (kind, payload, state, run_after, attempts, created_at) VALUES (?1, '{}', ?2, ?3, 0, 0)";
            connection.execute(sql, rusqlite::params![kind, state, run_after]).unwrap();
        }
        assert_eq!(next_work(&connection).unwrap(), [("embed".to_owned(), 3), ("link".to_owned(), 7)]);
    }
}
