//! Implements [`Backend`] for SQLite files.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use jiff::Timestamp;
use loci_types::{JobKind, MemoryId, Space, Tenant, Vector, Visible};

use super::commit::next_work;
use super::file::FileId;
use super::space::OpenSpace;
use super::{SqliteBackend, dropped, private, scrub};
use crate::sql::clause::Clause;
use crate::sql::turn_runs::{self, Turns};
use crate::sql::{self, Backend, Connection, catalogue, jobs};
use crate::text::Analyser;
use crate::{Error, Finding, Frequencies, Hit, Result, StoreHealth, TurnRun};

/// Maximum number of spaces with due jobs that one call returns; the next call returns the others.
const SPACES_AT_ONCE: usize = 16;

impl SqliteBackend {
    /// Whether a space has a due job of these kinds. If it has none, its marks in the catalogue are renewed, so that it
    /// is not checked again before one is due.
    fn has_job(&self, open: &OpenSpace, kinds: &[JobKind], now: Timestamp) -> Result<bool> {
        let found = open.read(|connection| Ok((jobs::waiting(connection, kinds, now)?, next_work(connection)?)))?;
        let Some((false, next)) = found else { return Ok(found.is_some()) };
        // A running job is due again when its lease expires, so its mark must stay.
        let is_running =
            next.iter().any(|(name, at)| *at <= now.as_microsecond() && kinds.iter().any(|kind| kind.name() == name));
        if !is_running {
            self.inner.writers.committer().renew_marks(&open.place)?;
        }
        Ok(false)
    }
}

impl Backend for SqliteBackend {
    type Open = OpenSpace;
    type Conn = rusqlite::Connection;

    fn analyser(&self) -> &Arc<Analyser> {
        &self.inner.analyser
    }

    fn open(&self, tenant: &Tenant, space: &Space) -> Arc<OpenSpace> {
        self.space(tenant, space)
    }

    fn space_of(open: &OpenSpace) -> &Space {
        &open.space
    }

    fn place_of(open: &OpenSpace) -> &Path {
        &open.path
    }

    fn exists(&self, open: &OpenSpace) -> Result<bool> {
        open.path.try_exists().map_err(|error| Error::io(&open.path, &error))
    }

    fn with_jobs(&self, tenant: &Tenant, kinds: &[JobKind], now: Timestamp) -> Result<Vec<Space>> {
        let (mut found, mut failed) = (Vec::new(), None);
        for space in self.inner.catalogue.spaces_with_work(tenant, kinds, now)? {
            match self.has_job(&self.space(tenant, &space), kinds, now) {
                Ok(true) => found.push(space),
                Ok(false) => {}
                // A damaged space does not stop the jobs of the others.
                Err(error) => failed = Some(error),
            }
            if found.len() >= SPACES_AT_ONCE {
                break;
            }
        }
        match failed {
            Some(error) if found.is_empty() => Err(error),
            _ => Ok(found),
        }
    }

    fn read<T>(
        &self,
        open: &OpenSpace,
        work: impl FnOnce(&rusqlite::Connection) -> sql::SqlResult<T>,
    ) -> Result<Option<T>> {
        open.read(work)
    }

    fn is_prepared(&self, _: &Tenant, open: &OpenSpace) -> bool {
        open.is_registered.load(Ordering::Relaxed) && open.path.exists()
    }

    fn prepare(&self, tenant: &Tenant, open: &OpenSpace, at: Timestamp) -> Result<()> {
        self.write_catalogue(|connection| catalogue::register(connection, tenant, &open.space, at))?;
        if let Some(folder) = open.folder() {
            private::create_folder(folder).map_err(|error| Error::io(folder, &error))?;
        }
        open.is_registered.store(true, Ordering::Relaxed);
        Ok(())
    }

    async fn write<T: Send + 'static>(
        &self,
        open: &OpenSpace,
        work: impl FnMut(&dyn Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.inner.writers.run(&open.place, work).await
    }

    async fn write_long<T: Send + 'static>(
        &self,
        open: &OpenSpace,
        work: impl FnMut(&dyn Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.inner.writers.run_admin(&open.place, work).await
    }

    fn is_noted(&self, _: &Tenant, open: &OpenSpace) -> bool {
        open.is_noted.load(Ordering::Relaxed)
    }

    fn note_written(&self, tenant: &Tenant, open: &OpenSpace) -> Result<()> {
        if !self.read_catalogue(|connection| catalogue::was_written(connection, tenant, &open.space))? {
            self.write_catalogue(|connection| catalogue::note_written(connection, tenant, &open.space))?;
        }
        open.is_noted.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn try_read_catalogue<T, W>(&self, work: W) -> std::result::Result<Result<T>, W>
    where
        W: FnOnce(&dyn Connection) -> sql::SqlResult<T>,
    {
        self.inner.catalogue.try_read_catalogue(work)
    }

    fn read_catalogue<T>(&self, work: impl FnOnce(&dyn Connection) -> sql::SqlResult<T>) -> Result<T> {
        self.inner.catalogue.read_catalogue(work)
    }

    fn write_catalogue<T>(&self, work: impl FnOnce(&dyn Connection) -> sql::SqlResult<T>) -> Result<T> {
        self.inner.catalogue.write_catalogue(work)
    }

    fn lexical(
        &self,
        _: &OpenSpace,
        connection: &rusqlite::Connection,
        clause: &Clause,
        terms: &[String],
        limit: usize,
    ) -> sql::SqlResult<Vec<Hit>> {
        Ok(self.inner.cache.lexical(connection, clause, terms, limit)?)
    }

    fn frequencies(
        &self,
        _: &OpenSpace,
        connection: &rusqlite::Connection,
        clause: &Clause,
        terms: &[String],
    ) -> sql::SqlResult<Frequencies> {
        Ok(self.inner.cache.frequencies(connection, clause, terms)?)
    }

    fn turn_runs(
        &self,
        open: &OpenSpace,
        connection: &rusqlite::Connection,
        clause: &Clause,
        ids: &[MemoryId],
        reach: usize,
    ) -> sql::SqlResult<Vec<TurnRun>> {
        let turn_runs = |turns: Turns<'_>| turn_runs::turn_runs(connection, &open.path, clause, ids, reach, turns);
        match &clause.scopes {
            Some(scopes) => self
                .inner
                .cache
                .with_turns(connection, scopes, |order| turn_runs(order.map_or(Turns::Query, Turns::InMemory)))?,
            None => turn_runs(Turns::Query),
        }
    }

    fn nearest(
        &self,
        _: &OpenSpace,
        connection: &rusqlite::Connection,
        clause: &Clause,
        vector: &Vector,
        limit: usize,
    ) -> sql::SqlResult<Vec<Hit>> {
        self.inner.cache.nearest(connection, clause, vector, limit)
    }

    fn empty_log(&self, open: &OpenSpace) -> Result<bool> {
        scrub::log_at_once(&open.path, &self.inner.cipher)
    }

    fn scrub(&self, tenant: &Tenant) -> Result<Option<String>> {
        let mut left = Vec::new();
        for space in self.read_catalogue(|connection| catalogue::spaces(connection, tenant))? {
            let open = self.space(tenant, &space);
            if open.path.exists() && !scrub::file(&open.path, &self.inner.cipher)? {
                left.push(space.name());
            }
        }
        if !scrub::log(&self.inner.folder.join("catalogue.db"), &self.inner.cipher)? {
            left.push("the catalogue".to_owned());
        }
        let busy = |left: Vec<String>| format!("the log of {} is being read and was not emptied", left.join(", "));
        Ok((!left.is_empty()).then(|| busy(left)))
    }

    fn bytes(&self, open: &OpenSpace) -> Result<u64> {
        let Some(Ok(files)) = open.folder().map(std::fs::read_dir) else { return Ok(0) };
        Ok(files.flatten().filter_map(|file| file.metadata().ok()).map(|metadata| metadata.len()).sum())
    }

    fn lease(&self, tenant: &Tenant, name: &str, holder: &str, now: Timestamp, lease: Duration) -> Result<bool> {
        self.inner.catalogue.lease(tenant, name, holder, now, lease)
    }

    fn release(&self, tenant: &Tenant, name: &str, holder: &str) -> Result<()> {
        self.inner.catalogue.release(tenant, name, holder)
    }

    fn drop_space(&self, tenant: &Tenant, open: &OpenSpace) -> Result<bool> {
        let failed = |error: std::io::Error| Error::io(&open.path, &error);
        let file = FileId::of(&open.path);
        self.inner.writers.committer().close_space(&open.path);
        // The rename takes effect at once; a crash after it leaves nothing that could be read or restored.
        let moved = open.folder().map(|folder| dropped::move_away(&self.inner.folder, folder)).transpose();
        let moved = moved.map_err(failed)?.flatten();
        let known = self.write_catalogue(|connection| catalogue::drop_space(connection, tenant, &open.space))?;
        open.is_registered.store(false, Ordering::Relaxed);
        open.is_noted.store(false, Ordering::Relaxed);
        self.inner.readers.close(&open.path);
        if let Some(file) = file {
            self.inner.cache.forget_file(file);
        }
        moved.map(std::fs::remove_dir_all).transpose().map_err(failed)?;
        Ok(known)
    }

    fn identity(&self) -> Result<String> {
        Ok(self.name())
    }

    fn store_id(&self) -> Result<String> {
        self.read_store_id()
    }

    fn health(&self) -> Result<StoreHealth> {
        // The query also reads a table: the version alone does not touch the file.
        let sql = "SELECT sqlite_version(), EXISTS (SELECT 1 FROM spaces)";
        let version = self.read_catalogue(|connection| connection.query_row(sql, [], |row| row.get(0)))?;
        Ok(StoreHealth { name: "sqlite".to_owned(), version, read_only: self.write_problem() })
    }

    fn examine(&self, visible: &Visible, repair: bool) -> Result<Vec<Finding>> {
        SqliteBackend::examine(self, visible, repair)
    }
}
