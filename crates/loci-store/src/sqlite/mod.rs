//! The SQLite store: one file per space.
//!
//! `DATA/catalogue.db` lists tenants, spaces and agents. `DATA/tenants/T/spaces/S/loci.db` (T and S by
//! [`path_component`]) is a space with its records, terms, edges, ledger, jobs and vectors, so that one transaction
//! covers them and one file is a backup. Several processes may use one folder at once.

mod backend;
mod cache;
mod catalogue;
mod cipher;
mod commit;
mod connection;
mod connections;
mod doctor;
mod dropped;
mod file;
mod migrations;
mod private;
mod schema;
mod scrub;
mod space;
mod split;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use loci_types::{Space, Tenant};

use self::cache::ScopeCache;
use self::catalogue::SqliteCatalogue;
use self::cipher::Cipher;
use self::commit::FileCommitter;
use self::connections::{Limits, ReadPool};
use self::file::{path_component, rename_folders};
use self::space::OpenSpace;
use crate::encryption::EncryptionKey;
use crate::sql::SqlStore;
use crate::sql::writer::Writers;
use crate::text::Analyser;
use crate::{Error, Result};

/// The settings of the SQLite store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqliteOptions {
    /// Number of writer threads; each serves one space at a time. Default: 4.
    pub writers: usize,
    /// Maximum number of bytes of vectors, terms and turn order cached in this process. Default: 1 GiB.
    pub cache_bytes: usize,
    /// The key of the files. Default: they are not encrypted.
    pub key: Option<EncryptionKey>,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self { writers: 4, cache_bytes: 1 << 30, key: None }
    }
}

/// The SQLite store.
pub type SqliteStore = SqlStore<SqliteBackend>;

/// The SQLite backend: one data folder.
#[derive(Clone)]
pub struct SqliteBackend {
    inner: Arc<SqliteInner>,
}

impl SqliteStore {
    /// Opens a data folder; creates it if it does not exist.
    pub fn open(folder: &Path, options: SqliteOptions) -> Result<Self> {
        SqliteBackend::open(folder, options).map(Self::over)
    }

    /// Number of transactions this store has committed; each syncs its log once.
    pub fn commits(&self) -> u64 {
        self.backend.inner.writers.commits()
    }

    /// Number of times that vectors, terms or turn order of a scope were loaded into the cache, and bytes cached now.
    pub fn cache_usage(&self) -> (u64, usize) {
        (self.backend.inner.cache.loads(), self.backend.inner.cache.bytes())
    }
}

struct SqliteInner {
    folder: PathBuf,
    cipher: Cipher,
    cache: ScopeCache,
    catalogue: Arc<SqliteCatalogue>,
    spaces: Mutex<OpenSpaces>,
    readers: Arc<ReadPool>,
    writers: Writers<FileCommitter>,
    analyser: Arc<Analyser>,
}

/// The format of the catalogue since which folders are named by [`path_component`].
const FOLDERS_RENAMED: usize = 5;

/// The size of the file that shows whether the disk has room: a page of the database.
const WRITE_CHECK_BYTES: usize = 4_096;

/// An error of the operating system without its number.
fn plain_words(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

/// The file with the identity of the store.
const STORE_ID: &str = "store-id";

/// Maximum number of spaces in [`OpenSpaces`] while nobody uses them.
const MAX_SPACES: usize = 2_048;

/// The handles of recently used spaces.
#[derive(Default)]
struct OpenSpaces {
    /// Each with the number of its last use; a greater one is later.
    spaces: HashMap<(Tenant, Space), (Arc<OpenSpace>, u64)>,
    uses: u64,
}

impl OpenSpaces {
    /// Removes the least recently used half, except spaces in use.
    fn shrink(&mut self) {
        let mut uses: Vec<u64> = self.spaces.values().map(|(_, last)| *last).collect();
        let middle = uses.len() / 2;
        let (_, median, _) = uses.select_nth_unstable(middle);
        let median = *median;
        self.spaces.retain(|_, (open, last)| *last >= median || Arc::strong_count(open) > 1);
    }
}

impl SqliteBackend {
    fn open(folder: &Path, options: SqliteOptions) -> Result<Self> {
        let unusable = |error: std::io::Error| Error::Folder { path: folder.to_owned(), problem: error.to_string() };
        private::create_folder(folder).map_err(unusable)?;
        // A folder that was made before may be shared with other programs; one with a catalogue is Loci's own.
        if folder.join("catalogue.db").exists() {
            private::narrow(folder).map_err(unusable)?;
        }
        let cipher = Cipher::of_store(folder, options.key.as_ref())?;
        if schema::is_old(&folder.join("catalogue.db"), &schema::CATALOGUE[..FOLDERS_RENAMED], &cipher) {
            rename_folders(folder).map_err(unusable)?;
        }
        split::split_users(folder, &cipher)?;
        let catalogue = Arc::new(SqliteCatalogue::open(folder, &cipher)?);
        dropped::finish(folder, &catalogue)?;
        let limits = Limits::of_this_process();
        let readers = Arc::new(ReadPool::new(limits.readers, limits.idle_readers, cipher.clone()));
        let inner = SqliteInner {
            folder: folder.to_owned(),
            cipher: cipher.clone(),
            writers: Writers::start(
                options.writers.max(1),
                FileCommitter::new(catalogue.clone(), readers.clone(), cipher.clone()),
            )?,
            catalogue,
            readers,
            analyser: Arc::default(),
            spaces: Mutex::default(),
            cache: ScopeCache::new(options.cache_bytes),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Why nothing can be written to the folder now: the disk is full, the folder is read-only, or the process has no file
    /// descriptor left. It writes a small file and removes it, because only that shows it.
    pub(crate) fn write_problem(&self) -> Option<String> {
        let path = self.inner.folder.join(format!(".write-check-{}", uuid::Uuid::new_v4().simple()));
        let written = std::fs::write(&path, [0; WRITE_CHECK_BYTES]);
        // A file that could not be created is not there.
        drop(std::fs::remove_file(&path));
        written.err().map(|error| format!("nothing can be written to the data folder: {}", plain_words(&error)))
    }

    /// The identity in the file `store-id`, which is created when it is first needed.
    pub(crate) fn read_store_id(&self) -> Result<String> {
        let path = self.inner.folder.join(STORE_ID);
        let failed = |error: std::io::Error| Error::Folder { path: path.clone(), problem: error.to_string() };
        match std::fs::read_to_string(&path) {
            Ok(found) if !found.trim().is_empty() => return Ok(found.trim().to_owned()),
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        // Written beside and linked, so that of several processes one wins and none reads a half-written file.
        let new = self.inner.folder.join(format!("{STORE_ID}-{}", uuid::Uuid::new_v4().simple()));
        std::fs::write(&new, format!("{}\n", uuid::Uuid::new_v4())).map_err(failed)?;
        let linked = std::fs::hard_link(&new, &path);
        std::fs::remove_file(&new).map_err(failed)?;
        match linked {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(failed(error)),
            _ => std::fs::read_to_string(&path).map(|found| found.trim().to_owned()).map_err(failed),
        }
    }

    /// The canonical path of the folder.
    pub(crate) fn name(&self) -> String {
        std::fs::canonicalize(&self.inner.folder).unwrap_or_else(|_| self.inner.folder.clone()).display().to_string()
    }

    fn space(&self, tenant: &Tenant, space: &Space) -> Arc<OpenSpace> {
        let mut open = self.inner.spaces.lock().unwrap_or_else(PoisonError::into_inner);
        open.uses += 1;
        let now = open.uses;
        if let Some((found, last)) = open.spaces.get_mut(&(tenant.clone(), space.clone())) {
            *last = now;
            return found.clone();
        }
        if open.spaces.len() >= MAX_SPACES {
            open.shrink();
        }
        let (path, readers) = (space_path(&self.inner.folder, tenant, space), self.inner.readers.clone());
        let new = Arc::new(OpenSpace::new(tenant.clone(), space.clone(), path, readers));
        open.spaces.insert((tenant.clone(), space.clone()), (new.clone(), now));
        new
    }
}

/// The file of a space.
fn space_path(folder: &Path, tenant: &Tenant, space: &Space) -> PathBuf {
    let (owner, name) = (path_component(tenant.name()), path_component(&space.name()));
    folder.join("tenants").join(owner).join("spaces").join(name).join("loci.db")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_that_nobody_uses_are_let_go() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteBackend::open(folder.path(), SqliteOptions::default()).unwrap();
        let agent = |number: usize| Space::Agent(format!("agent-{number}"));
        let first = store.space(&Tenant::default(), &agent(0));
        for number in 0..3 * MAX_SPACES {
            store.space(&Tenant::default(), &agent(number));
        }
        assert!(store.inner.spaces.lock().unwrap().spaces.len() <= MAX_SPACES);
        assert!(Arc::ptr_eq(&first, &store.space(&Tenant::default(), &agent(0))), "one that is used stays");
    }
}
