//! How do changes become durable in a file?

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::file::FileId;
use super::schema;
use super::transaction::Transaction;
use crate::sql::writer::{Pen, Task};
use crate::{Error, Result};

/// How many spaces one thread keeps open for writing.
const OPEN: usize = 128;

/// The write connections of one thread.
#[derive(Default)]
pub(super) struct Files {
    open: HashMap<PathBuf, (FileId, rusqlite::Connection)>,
}

impl Pen for Files {
    type Place = Arc<PathBuf>;

    fn commit(&mut self, path: &Arc<PathBuf>, tasks: &mut [Box<dyn Task>]) -> Result<()> {
        let outcome = self.connection(path).and_then(|connection| commit(connection, path, tasks));
        if outcome.is_err() {
            // A connection that failed once is not trusted again.
            self.open.remove(path.as_path());
        }
        outcome
    }
}

impl Files {
    /// The write connection of a space, opened anew if the file is no longer the one we knew.
    fn connection(&mut self, path: &Path) -> Result<&rusqlite::Connection> {
        let known = self.open.get(path).map(|(id, _)| *id);
        if known.is_none() || known != FileId::of(path) {
            if self.open.len() >= OPEN {
                self.open.clear();
            }
            let connection = schema::open(path, schema::SPACE)?;
            // What a savepoint may have to undo is kept in memory; past 64 KiB it would go through a file of its own.
            connection.pragma_update(None, "temp_store", "MEMORY").map_err(|error| Error::sqlite(path, error))?;
            let id = FileId::of(path)
                .ok_or_else(|| Error::ReadOnly { path: path.to_owned(), problem: "the file vanished".into() })?;
            self.open.insert(path.to_owned(), (id, connection));
        }
        match self.open.get(path) {
            Some((_, connection)) => Ok(connection),
            None => Err(Error::Closed),
        }
    }
}

fn commit(connection: &rusqlite::Connection, path: &Path, tasks: &mut [Box<dyn Task>]) -> Result<()> {
    if together(connection, path, tasks)? {
        return Ok(());
    }
    let said = |error| Error::sqlite(path, error);
    let transaction = Transaction::write(connection).map_err(said)?;
    for task in tasks {
        let done = transaction.within(|| task.run(connection)).map_err(said)?;
        // Going on after the whole was taken back would commit the rest without those who came before.
        if transaction.is_gone() {
            return Err(done.err().unwrap_or(Error::Closed));
        }
    }
    transaction.commit().map_err(said)
}

/// Commits all tasks without keeping what each of them would undo, which costs more than most do. Nearly always
/// none fails; when one does, nothing is kept and all are done again with care. False then.
fn together(connection: &rusqlite::Connection, path: &Path, tasks: &mut [Box<dyn Task>]) -> Result<bool> {
    let said = |error| Error::sqlite(path, error);
    let transaction = Transaction::write(connection).map_err(said)?;
    let alone = tasks.len() == 1;
    for task in tasks {
        let done = task.run(connection);
        if done.is_err() || transaction.is_gone() {
            if alone && transaction.is_gone() {
                return Err(done.err().unwrap_or(Error::Closed));
            }
            transaction.rollback().map_err(said)?;
            // Who is alone has been told why, and would be told the same again.
            return Ok(alone);
        }
    }
    transaction.commit().map_err(said)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;
    use crate::sql::writer::{Failure, retell, waiting};

    /// Work with its answer.
    fn order(sql: &'static str) -> (Box<dyn Task>, oneshot::Receiver<Result<()>>) {
        waiting(move |connection| {
            connection.execute(sql, []).map(drop).map_err(|error| Error::said(Path::new("here"), error))
        })
    }

    #[test]
    fn what_a_full_disk_rolls_back_is_told_to_all_who_shared_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("loci.db");
        let connection = schema::open(&path, schema::SPACE).unwrap();
        let pages: i64 = connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
        connection.pragma_update(None, "max_page_count", pages).unwrap();
        let scope = |number: i64| format!("INSERT INTO scopes (key, layer) VALUES ('k{number}', 'user')").leak();
        // A statement that may not be undone by itself takes the whole transaction with it.
        let large = "INSERT INTO models (name, dimensions) VALUES (hex(zeroblob(100000)), 1)";
        let (mut tasks, answers): (Vec<_>, Vec<_>) =
            [order(scope(1)), order(large), order(scope(2))].into_iter().unzip();
        let outcome = commit(&connection, &path, &mut tasks).map_err(Arc::new);
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
        commit(&connection, &path, &mut tasks).unwrap();
        tasks.into_iter().for_each(|task| task.answer(Ok(())));
        assert!(answers.into_iter().all(|answer| answer.blocking_recv().unwrap().is_ok()));
    }
}
