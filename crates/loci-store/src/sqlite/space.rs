//! How is an open space read?
//!
//! Readers are a small pool of read-only connections; each read sees one snapshot. The vector
//! index of the space is kept beside them and catches up from the ledger.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use loci_types::Space;
use rusqlite::Connection;

use super::board::Board;
use super::file::FileId;
use super::index::Index;
use super::{lexicon, schema};
use crate::{Error, Result, sql};

/// How many idle readers a space keeps.
const IDLE: usize = 8;

/// A space that has been used in this process.
pub(crate) struct OpenSpace {
    pub(super) space: Space,
    pub(super) path: Arc<PathBuf>,
    readers: Mutex<Readers>,
    pub(super) index: Index,
    pub(super) board: Board,
}

struct Readers {
    file: Option<FileId>,
    idle: Vec<Connection>,
}

impl OpenSpace {
    pub(super) fn new(space: Space, path: PathBuf) -> Self {
        Self {
            space,
            path: Arc::new(path),
            readers: Mutex::new(Readers { file: None, idle: Vec::new() }),
            index: Index::default(),
            board: Board::default(),
        }
    }

    /// Reads in one snapshot. `None` if the space has no file yet: nothing was ever written to it.
    pub(super) fn read<T>(&self, work: impl FnOnce(&sql::Connection<'_>) -> sql::Result<T>) -> Result<Option<T>> {
        let said = |error| Error::sqlite(&self.path, error);
        let Some(mut connection) = self.reader()? else { return Ok(None) };
        // A read transaction pins one snapshot; dropping it ends it whatever happened.
        let value = {
            let transaction = connection.transaction().map_err(said)?;
            work(&sql::Connection::Sqlite(&transaction)).map_err(|error| Error::said(&self.path, error))?
        };
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        if readers.idle.len() < IDLE {
            readers.idle.push(connection);
        }
        Ok(Some(value))
    }

    fn reader(&self) -> Result<Option<Connection>> {
        let file = FileId::of(&self.path);
        {
            let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
            if readers.file != file {
                readers.idle.clear();
                readers.file = file;
                self.index.clear();
                self.board.clear();
            }
            if file.is_none() {
                return Ok(None);
            }
            if let Some(connection) = readers.idle.pop() {
                return Ok(Some(connection));
            }
        }
        let connection = schema::open_reader(&self.path)?;
        let found = schema::format(&connection, &self.path, schema::SPACE)?;
        let known = schema::SPACE.len() as i64;
        lexicon::open_vocabulary(&connection).map_err(|error| Error::sqlite(&self.path, error))?;
        // Created a moment ago by someone who has not yet laid out its tables.
        Ok((found == known || self.upgrade()?).then_some(connection))
    }

    /// An older file is brought up to date by opening it for writing once.
    fn upgrade(&self) -> Result<bool> {
        schema::open(&self.path, schema::SPACE).map(|_| true)
    }

    /// Whether there is no file, or one in which nothing ever happened. A damaged one is not blank.
    pub(super) fn is_blank(&self) -> Result<bool> {
        let happened = self.read(|connection| {
            connection.query_row("SELECT EXISTS (SELECT 1 FROM ledger)", [], |row| row.get::<_, bool>(0))
        });
        match happened {
            Err(Error::Damaged { .. } | Error::Newer { .. }) => Ok(false),
            happened => Ok(happened? != Some(true)),
        }
    }

    /// The folder of the space.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.path.parent()
    }
}
