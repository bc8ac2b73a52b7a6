//! The embedded store: one SQLite file per space.
//!
//! `DATA/catalogue.db` lists tenants, spaces and agents; `DATA/tenants/T/spaces/S/loci.db` is a
//! space with its records, words, graph, ledger, jobs and vectors, so that one transaction covers
//! them and one file is a backup. Several processes may use one folder at once.

mod abreast;
mod board;
mod catalogue;
mod connection;
mod doctor;
mod file;
mod floor;
mod index;
mod lexicon;
mod pen;
mod schema;
mod scrub;
mod space;
mod transaction;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use loci_types::{Space, Tenant};

use self::catalogue::Catalogue;
use self::pen::Files;
use self::space::OpenSpace;
use crate::sql::SqlStore;
use crate::sql::writer::Writers;
use crate::text::Analyser;
use crate::{Error, Result};

/// How the embedded store uses the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqliteOptions {
    /// Threads that write; spaces are shared out among them.
    pub writers: usize,
    /// Bytes of vectors, words and orders of turns kept in memory over all spaces.
    pub vector_bytes: usize,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self { writers: 2, vector_bytes: 1 << 30 }
    }
}

/// The embedded store.
pub type SqliteStore = SqlStore<SqliteBackend>;

/// A data folder.
#[derive(Clone)]
pub struct SqliteBackend {
    inner: Arc<Inner>,
}

impl SqliteStore {
    /// Opens a data folder, and makes it if it is not there.
    pub fn open(folder: &Path, options: SqliteOptions) -> Result<Self> {
        SqliteBackend::open(folder, options).map(Self::over)
    }

    /// How many transactions this store has committed; each syncs its log once.
    pub fn commits(&self) -> u64 {
        self.backend.inner.writers.commits()
    }
}

struct Inner {
    folder: PathBuf,
    options: SqliteOptions,
    catalogue: Catalogue,
    /// Before the writers: fields are dropped in order, and the last to close a file must be one that
    /// may fold its log into it.
    spaces: Mutex<HashMap<(Tenant, Space), Arc<OpenSpace>>>,
    writers: Writers<Arc<PathBuf>>,
    analyser: Arc<Analyser>,
    registered: Mutex<HashSet<(Tenant, Space)>>,
    written: Mutex<HashSet<(Tenant, Space)>>,
}

impl SqliteBackend {
    fn open(folder: &Path, options: SqliteOptions) -> Result<Self> {
        let unusable = |error: std::io::Error| Error::Folder { path: folder.to_owned(), problem: error.to_string() };
        std::fs::create_dir_all(folder).map_err(unusable)?;
        let inner = Inner {
            folder: folder.to_owned(),
            catalogue: Catalogue::open(folder)?,
            writers: Writers::start(options.writers.max(1), Files::default)?,
            analyser: Arc::default(),
            spaces: Mutex::default(),
            registered: Mutex::default(),
            written: Mutex::default(),
            options,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The folder, by the one name that it has.
    pub(crate) fn name(&self) -> String {
        std::fs::canonicalize(&self.inner.folder).unwrap_or_else(|_| self.inner.folder.clone()).display().to_string()
    }

    fn space(&self, tenant: &Tenant, space: &Space) -> Arc<OpenSpace> {
        let mut spaces = self.inner.spaces.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (tenant.clone(), space.clone());
        spaces
            .entry(key)
            .or_insert_with(|| {
                let path = self.inner.folder.join("tenants").join(tenant.name()).join("spaces").join(space.name());
                Arc::new(OpenSpace::new(space.clone(), path.join("loci.db")))
            })
            .clone()
    }

    /// Keeps what is held in memory within its budget.
    fn trim(&self) {
        let spaces: Vec<_> =
            self.inner.spaces.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
        let held = || spaces.iter().map(|space| space.bytes()).sum::<usize>();
        while held() > self.inner.options.vector_bytes {
            let largest = spaces.iter().max_by_key(|space| space.bytes());
            if !largest.is_some_and(|space| space.evict()) {
                break;
            }
        }
    }
}
