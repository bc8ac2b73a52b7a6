//! An open space: where its file is and how it is read.
//!
//! Each read takes a connection from the pool of the store and sees one snapshot.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use loci_types::{Space, Tenant};

use super::commit::SpaceFile;
use super::connection::Transaction;
use super::connections::{ReadPool, Reader};
use super::file::FileId;
use super::schema;
use crate::{Error, Result, sql};

/// How often a file that is replaced while it is opened is opened again.
const TRIES: usize = 8;

/// A space that has been used in this process.
pub(crate) struct OpenSpace {
    pub(super) space: Space,
    pub(super) path: Arc<PathBuf>,
    /// The same for those who write.
    pub(super) place: Arc<SpaceFile>,
    /// Whether this process has registered it in the catalogue.
    pub(super) is_registered: AtomicBool,
    /// Whether the catalogue knows that something was written to it.
    pub(super) is_noted: AtomicBool,
    readers: Arc<ReadPool>,
}

impl OpenSpace {
    pub(super) fn new(tenant: Tenant, space: Space, path: PathBuf, readers: Arc<ReadPool>) -> Self {
        let path = Arc::new(path);
        Self {
            place: Arc::new(SpaceFile { tenant, space: space.clone(), path: path.clone() }),
            space,
            path,
            is_registered: AtomicBool::new(false),
            is_noted: AtomicBool::new(false),
            readers,
        }
    }

    /// Reads in one snapshot. `None` if the space has no file yet: nothing was ever written to it.
    pub(super) fn read<T>(&self, work: impl FnOnce(&rusqlite::Connection) -> sql::Result<T>) -> Result<Option<T>> {
        let said = |error| Error::sqlite(&self.path, error);
        let Some(reader) = self.reader()? else { return Ok(None) };
        // A read transaction pins one snapshot; dropping it ends it whatever happened.
        let value = {
            let _snapshot = Transaction::read(&reader).map_err(said)?;
            work(&reader).map_err(|error| Error::said(&self.path, error))?
        };
        reader.give_back();
        Ok(Some(value))
    }

    /// A connection to the file that bears the name of the space now.
    fn reader(&self) -> Result<Option<Reader>> {
        for _ in 0..TRIES {
            let Some(file) = FileId::of(&self.path) else {
                self.readers.close(&self.path);
                return Ok(None);
            };
            let reader = self.readers.take(&self.path, file)?;
            if !reader.is_new() {
                return Ok(Some(reader));
            }
            let found = schema::format(&reader, &self.path, schema::SPACE)?;
            if found != schema::SPACE.len() as i64 {
                // An older file is brought up to date by opening it for writing once.
                schema::open(&self.path, schema::SPACE)?;
            }
            // Another file may have taken its name while it was opened.
            if FileId::of(&self.path) == Some(file) {
                return Ok(Some(reader));
            }
        }
        Err(Error::Busy { path: self.path.to_path_buf() })
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

    /// The folder of the space.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.path.parent()
    }
}
