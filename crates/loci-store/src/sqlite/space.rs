//! How is an open space read?
//!
//! Readers are a small pool of read-only connections; each read sees one snapshot. What is held in memory of
//! the space is kept beside them and catches up with the ledger.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use loci_types::Space;
use rusqlite::Connection;

use super::board::Board;
use super::file::FileId;
use super::index::Index;
use super::lexicon::Lexicon;
use super::schema;
use super::transaction::Transaction;
use crate::{Error, Result, sql};

/// How many idle readers a space keeps.
const IDLE: usize = 8;

/// A space that has been used in this process.
pub(crate) struct OpenSpace {
    pub(super) space: Space,
    pub(super) path: Arc<PathBuf>,
    readers: Mutex<Readers>,
    pub(super) index: Index,
    pub(super) lexicon: Lexicon,
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
            lexicon: Lexicon::default(),
            board: Board::default(),
        }
    }

    /// Reads in one snapshot. `None` if the space has no file yet: nothing was ever written to it.
    pub(super) fn read<T>(&self, work: impl FnOnce(&Connection) -> sql::Result<T>) -> Result<Option<T>> {
        let said = |error| Error::sqlite(&self.path, error);
        let Some((connection, file)) = self.reader()? else { return Ok(None) };
        // A read transaction pins one snapshot; dropping it ends it whatever happened.
        let value = {
            let _snapshot = Transaction::read(&connection).map_err(said)?;
            work(&connection).map_err(|error| Error::said(&self.path, error))?
        };
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        // Another file may have taken its place meanwhile.
        if readers.idle.len() < IDLE && readers.file == Some(file) {
            readers.idle.push(connection);
        }
        Ok(Some(value))
    }

    /// A connection, and the file that it reads.
    fn reader(&self) -> Result<Option<(Connection, FileId)>> {
        let file = FileId::of(&self.path);
        {
            let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
            if readers.file != file {
                readers.idle.clear();
                readers.file = file;
                self.forget();
            }
            if let (Some(file), Some(connection)) = (file, readers.idle.pop()) {
                return Ok(Some((connection, file)));
            }
        }
        let Some(file) = file else { return Ok(None) };
        let connection = schema::open_reader(&self.path)?;
        let found = schema::format(&connection, &self.path, schema::SPACE)?;
        let known = schema::SPACE.len() as i64;
        // Created a moment ago by someone who has not yet laid out its tables.
        Ok((found == known || self.upgrade()?).then_some((connection, file)))
    }

    /// An older file is brought up to date by opening it for writing once.
    fn upgrade(&self) -> Result<bool> {
        schema::open(&self.path, schema::SPACE).map(|_| true)
    }

    /// Whether there is no file, or one in which nothing ever happened. A damaged one is not blank.
    pub(super) fn is_blank(&self) -> Result<bool> {
        let happened = self.read(|connection| {
            Ok(connection.query_row("SELECT EXISTS (SELECT 1 FROM ledger)", [], |row| row.get::<_, bool>(0))?)
        });
        match happened {
            Err(Error::Damaged { .. } | Error::Newer { .. }) => Ok(false),
            happened => Ok(happened? != Some(true)),
        }
    }

    /// Lets go of all that is held in memory.
    pub(super) fn forget(&self) {
        self.index.clear();
        self.lexicon.clear();
        self.board.clear();
    }

    /// How much memory is held of it.
    pub(super) fn bytes(&self) -> usize {
        self.index.bytes() + self.lexicon.bytes() + self.board.bytes()
    }

    /// Lets go of some of what is held, where most is. False if there is nothing.
    pub(super) fn evict(&self) -> bool {
        let (index, lexicon, board) = (self.index.bytes(), self.lexicon.bytes(), self.board.bytes());
        if index >= lexicon.max(board) {
            self.index.evict()
        } else if lexicon >= board {
            self.lexicon.evict()
        } else {
            self.board.evict()
        }
    }

    /// The folder of the space.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.path.parent()
    }
}
