//! The embedded store: one SQLite file per space.
//!
//! `DATA/catalogue.db` lists tenants, spaces and agents; `DATA/tenants/T/spaces/S/loci.db` is a
//! space with its records, words, graph, ledger, jobs and vectors, so that one transaction covers
//! them and one file is a backup. Several processes may use one folder at once.

mod apply;
mod around;
mod catalogue;
mod chain;
mod clause;
mod doctor;
mod doors;
mod entities;
mod feed;
mod file;
mod gather;
mod graph;
mod index;
mod jobs;
mod keys;
mod lexicon;
mod life;
mod notes;
mod outside;
mod read;
mod row;
mod schema;
mod sessions;
mod space;
mod tally;
mod writer;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use loci_types::{Filter, Space, Tenant, Visible};
use rusqlite::Connection;

use self::catalogue::Catalogue;
use self::clause::Clause;
use self::space::OpenSpace;
use self::writer::Writers;
use crate::text::Analyser;
use crate::{Error, Result};

/// How the embedded store uses the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqliteOptions {
    /// Threads that write; spaces are shared out among them.
    pub writers: usize,
    /// Bytes of vectors kept in memory over all spaces.
    pub vector_bytes: usize,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self { writers: 2, vector_bytes: 1 << 30 }
    }
}

/// The embedded store.
#[derive(Clone)]
pub struct SqliteStore {
    inner: Arc<Inner>,
}

struct Inner {
    folder: PathBuf,
    options: SqliteOptions,
    catalogue: Catalogue,
    /// Before the writers: fields are dropped in order, and the last to close a file must be one that
    /// may fold its log into it.
    spaces: Mutex<HashMap<(Tenant, Space), Arc<OpenSpace>>>,
    writers: Writers,
    analyser: Arc<Analyser>,
    registered: Mutex<HashSet<(Tenant, Space)>>,
    written: Mutex<HashSet<(Tenant, Space)>>,
}

impl SqliteStore {
    /// Opens a data folder, and makes it if it is not there.
    pub fn open(folder: &Path, options: SqliteOptions) -> Result<Self> {
        let unusable = |error: std::io::Error| Error::Folder { path: folder.to_owned(), problem: error.to_string() };
        std::fs::create_dir_all(folder).map_err(unusable)?;
        let inner = Inner {
            folder: folder.to_owned(),
            catalogue: Catalogue::open(folder)?,
            writers: Writers::start(options.writers.max(1))?,
            analyser: Arc::default(),
            spaces: Mutex::default(),
            registered: Mutex::default(),
            written: Mutex::default(),
            options,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// How many transactions this store has committed; each syncs its log once.
    pub fn commits(&self) -> u64 {
        self.inner.writers.commits()
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

    /// The spaces that this caller looks into.
    fn spaces_of(&self, visible: &Visible) -> Result<Vec<Arc<OpenSpace>>> {
        let names: BTreeSet<Space> = match visible.spaces() {
            Some(spaces) => spaces,
            None => self.inner.catalogue.spaces(visible.tenant())?.into_iter().collect(),
        };
        Ok(names.iter().map(|space| self.space(visible.tenant(), space)).collect())
    }

    /// Makes the folder of a space that is written for the first time.
    fn prepare(&self, tenant: &Tenant, space: &OpenSpace, at: Timestamp) -> Result<()> {
        let key = (tenant.clone(), space.space.clone());
        let known = self.inner.registered.lock().unwrap_or_else(PoisonError::into_inner).contains(&key);
        if known && space.path.exists() {
            return Ok(());
        }
        self.inner.catalogue.register(tenant, &space.space, at)?;
        if let Some(folder) = space.folder() {
            std::fs::create_dir_all(folder)
                .map_err(|error| Error::Folder { path: folder.to_owned(), problem: error.to_string() })?;
        }
        self.inner.registered.lock().unwrap_or_else(PoisonError::into_inner).insert(key);
        Ok(())
    }

    /// Reads every space of the caller on a thread that may block.
    async fn read<T: Send + 'static>(
        &self,
        visible: &Visible,
        work: impl Fn(&Connection, &OpenSpace, &Visible) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<Vec<T>> {
        let store = self.clone();
        let visible = visible.clone();
        blocking(move || {
            let mut found = Vec::new();
            for space in store.spaces_of(&visible)? {
                found.extend(space.read(|connection| work(connection, &space, &visible))?);
            }
            Ok(found)
        })
        .await
    }

    /// Reads what is visible in every space of the caller, in whatever state.
    async fn seen<T: Send + 'static>(
        &self,
        visible: &Visible,
        work: impl Fn(&Connection, &OpenSpace, &Clause) -> rusqlite::Result<Vec<T>> + Send + 'static,
    ) -> Result<Vec<T>> {
        let found = self
            .read(visible, move |connection, space, visible| {
                match Clause::visible(connection, &space.space, visible)? {
                    Some(clause) => work(connection, space, &clause),
                    None => Ok(Vec::new()),
                }
            })
            .await?;
        Ok(found.into_iter().flatten().collect())
    }

    /// Reads what is visible in one space; none if the caller does not reach it or nothing is there.
    async fn in_space<T: Send + 'static>(
        &self,
        visible: &Visible,
        space: &Space,
        work: impl Fn(&Connection, &Clause) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<Option<T>> {
        if visible.spaces().is_some_and(|spaces| !spaces.contains(space)) {
            return Ok(None);
        }
        let (open, visible) = (self.space(visible.tenant(), space), visible.clone());
        blocking(move || {
            let found = open.read(|connection| match Clause::visible(connection, &open.space, &visible)? {
                Some(clause) => work(connection, &clause).map(Some),
                None => Ok(None),
            })?;
            Ok(found.flatten())
        })
        .await
    }

    /// Works on the rows of a space that are no memories; none if the space has no file.
    async fn work<T: Send + 'static>(
        &self,
        tenant: &Tenant,
        space: &Space,
        mut work: impl FnMut(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<Option<T>> {
        let open = self.space(tenant, space);
        if !open.path.exists() {
            return Ok(None);
        }
        let path = open.path.clone();
        let run = move |connection: &Connection| work(connection).map_err(|error| Error::sqlite(&path, error));
        self.inner.writers.run(&open.path, run).await.map(Some)
    }

    /// Reads what is visible and meant, space by space.
    async fn meant<T: Send + 'static>(
        &self,
        visible: &Visible,
        filter: &Filter,
        work: impl Fn(&Connection, &OpenSpace, &Clause) -> rusqlite::Result<Vec<T>> + Send + 'static,
    ) -> Result<Vec<Vec<T>>> {
        let filter = filter.clone();
        self.read(visible, move |connection, space, visible| {
            match Clause::of(connection, &space.space, visible, &filter)? {
                Some(clause) => work(connection, space, &clause),
                None => Ok(Vec::new()),
            }
        })
        .await
    }

    /// Keeps the vectors in memory within their budget.
    fn trim(&self) {
        let spaces: Vec<_> =
            self.inner.spaces.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
        let held = || spaces.iter().map(|space| space.index.bytes()).sum::<usize>();
        while held() > self.inner.options.vector_bytes {
            let largest = spaces.iter().max_by_key(|space| space.index.bytes());
            if !largest.is_some_and(|space| space.index.evict()) {
                break;
            }
        }
    }
}

/// Runs work that waits for the disk where it does not hold up others.
impl SqliteStore {
    /// Asks the catalogue, on a thread that may block.
    async fn on_catalogue<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut rusqlite::Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T> {
        let store = self.clone();
        blocking(move || store.inner.catalogue.with(work)).await
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(Error::Closed),
        },
    }
}
