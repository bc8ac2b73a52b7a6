//! An open space: the location of its file, and reading it.
//!
//! Each read takes a connection from the store's pool and sees one snapshot.

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

/// Number of attempts to open a file that is replaced meanwhile.
const TRIES: usize = 8;

/// A space that has been used in this process.
pub(crate) struct OpenSpace {
    pub(super) space: Space,
    pub(super) path: Arc<PathBuf>,
    /// The key of the space in the writer queues.
    pub(super) place: Arc<SpaceFile>,
    /// Whether this process has registered it in the catalogue.
    pub(super) is_registered: AtomicBool,
    /// Whether the catalogue records that the space was written to.
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

    /// Reads in one snapshot. Returns none if the space has no file, because nothing was written to it yet.
    pub(super) fn read<T>(&self, work: impl FnOnce(&rusqlite::Connection) -> sql::SqlResult<T>) -> Result<Option<T>> {
        let failed = |error| Error::sqlite(&self.path, error);
        let Some(reader) = self.reader()? else { return Ok(None) };
        // The read transaction pins one snapshot and ends when it is dropped.
        let value = Transaction::read(&reader)
            .map_err(failed)
            .and_then(|_snapshot| work(&reader).map_err(|error| Error::sql(&self.path, error)));
        match value {
            // The space was dropped while it was read.
            Err(_) if matches!(FileId::find(&self.path), Ok(None)) => Ok(None),
            value => {
                let value = value?;
                reader.give_back();
                Ok(Some(value))
            }
        }
    }

    /// A connection to the file that is at the path of the space now.
    fn reader(&self) -> Result<Option<Reader>> {
        for _ in 0..TRIES {
            let file = FileId::find(&self.path).map_err(|error| Error::io(&self.path, &error))?;
            let Some(file) = file else {
                self.readers.close(&self.path);
                return Ok(None);
            };
            let reader = self.readers.take(&self.path, file)?;
            if !reader.is_new() {
                return Ok(Some(reader));
            }
            let found = schema::format(&reader, &self.path, schema::SPACE)?;
            if found != schema::SPACE.len() as i64 {
                // Opening a file of an older format for writing migrates it.
                schema::open(&self.path, schema::SPACE, self.readers.cipher())?;
            }
            // The file may have been replaced while it was opened.
            if FileId::of(&self.path) == Some(file) {
                return Ok(Some(reader));
            }
        }
        Err(Error::Busy { path: self.path.to_path_buf() })
    }

    /// Whether the file is missing or has an empty ledger. A damaged or newer file is not blank.
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
