//! How do the doors open onto files?

use std::path::Path;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use loci_types::{JobKind, MemoryId, Space, Tenant, Vector, Visible};

use super::space::OpenSpace;
use super::{SqliteBackend, scrub};
use crate::sql::around::{self, Turns};
use crate::sql::clause::Clause;
use crate::sql::{self, Backend, Connection, catalogue, jobs};
use crate::text::Analyser;
use crate::{Error, Finding, Frequencies, Hit, Result, StoreHealth, Strip};

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
        Ok(open.path.exists())
    }

    fn with_jobs(&self, tenant: &Tenant, kinds: &[JobKind], now: Timestamp) -> Result<Vec<Space>> {
        let mut found = Vec::new();
        for space in self.ask(|connection| catalogue::spaces(connection, tenant))? {
            let open = self.space(tenant, &space);
            if open.read(|connection| jobs::waiting(connection, kinds, now))? == Some(true) {
                found.push(space);
            }
        }
        Ok(found)
    }

    fn read<T>(
        &self,
        open: &OpenSpace,
        work: impl FnOnce(&rusqlite::Connection) -> sql::Result<T>,
    ) -> Result<Option<T>> {
        open.read(work)
    }

    fn is_prepared(&self, tenant: &Tenant, open: &OpenSpace) -> bool {
        let key = (tenant.clone(), open.space.clone());
        self.inner.registered.lock().unwrap_or_else(PoisonError::into_inner).contains(&key) && open.path.exists()
    }

    fn prepare(&self, tenant: &Tenant, open: &OpenSpace, at: Timestamp) -> Result<()> {
        self.tell(|connection| catalogue::register(connection, tenant, &open.space, at))?;
        if let Some(folder) = open.folder() {
            std::fs::create_dir_all(folder)
                .map_err(|error| Error::Folder { path: folder.to_owned(), problem: error.to_string() })?;
        }
        let key = (tenant.clone(), open.space.clone());
        self.inner.registered.lock().unwrap_or_else(PoisonError::into_inner).insert(key);
        Ok(())
    }

    async fn write<T: Send + 'static>(
        &self,
        open: &OpenSpace,
        work: impl FnMut(&dyn Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.inner.writers.run(&open.path, work).await
    }

    fn is_noted(&self, tenant: &Tenant, open: &OpenSpace) -> bool {
        let key = (tenant.clone(), open.space.clone());
        self.inner.written.lock().unwrap_or_else(PoisonError::into_inner).contains(&key)
    }

    fn note_written(&self, tenant: &Tenant, open: &OpenSpace) -> Result<()> {
        if !self.ask(|connection| catalogue::was_written(connection, tenant, &open.space))? {
            self.tell(|connection| catalogue::note_written(connection, tenant, &open.space))?;
        }
        let key = (tenant.clone(), open.space.clone());
        self.inner.written.lock().unwrap_or_else(PoisonError::into_inner).insert(key);
        Ok(())
    }

    fn try_ask<T, W>(&self, work: W) -> std::result::Result<Result<T>, W>
    where
        W: FnOnce(&dyn Connection) -> sql::Result<T>,
    {
        self.inner.catalogue.try_ask(work)
    }

    fn ask<T>(&self, work: impl FnOnce(&dyn Connection) -> sql::Result<T>) -> Result<T> {
        self.inner.catalogue.ask(work)
    }

    fn tell<T>(&self, work: impl FnOnce(&dyn Connection) -> sql::Result<T>) -> Result<T> {
        self.inner.catalogue.tell(work)
    }

    fn lexical(
        &self,
        open: &OpenSpace,
        connection: &rusqlite::Connection,
        clause: &Clause,
        terms: &[String],
        limit: usize,
    ) -> sql::Result<Vec<Hit>> {
        let found = open.lexicon.search(connection, clause, terms, limit)?;
        self.trim();
        Ok(found)
    }

    fn frequencies(
        &self,
        open: &OpenSpace,
        connection: &rusqlite::Connection,
        clause: &Clause,
        terms: &[String],
    ) -> sql::Result<Frequencies> {
        Ok(open.lexicon.frequencies(connection, clause, terms)?)
    }

    fn strips(
        &self,
        open: &OpenSpace,
        connection: &rusqlite::Connection,
        clause: &Clause,
        ids: &[MemoryId],
        reach: usize,
    ) -> sql::Result<Vec<Strip>> {
        let order = match &clause.scopes {
            Some(scopes) => open.board.order(connection, scopes)?,
            None => None,
        };
        let turns = order.as_ref().map_or(Turns::Query, |order| Turns::Order(order));
        around::strips(connection, &open.path, clause, ids, reach, turns)
    }

    fn nearest(
        &self,
        open: &OpenSpace,
        connection: &rusqlite::Connection,
        clause: &Clause,
        vector: &Vector,
        limit: usize,
    ) -> sql::Result<Vec<Hit>> {
        let found = open.index.search(connection, clause, vector, limit)?;
        self.trim();
        Ok(found)
    }

    fn scrub(&self, tenant: &Tenant) -> Result<Option<String>> {
        let mut left = Vec::new();
        for space in self.ask(|connection| catalogue::spaces(connection, tenant))? {
            let open = self.space(tenant, &space);
            if open.path.exists() && !scrub::file(&open.path)? {
                left.push(space.name());
            }
        }
        if !scrub::log(&self.inner.folder.join("catalogue.db"))? {
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
        let known = self.tell(|connection| catalogue::drop_space(connection, tenant, &open.space))?;
        let key = (tenant.clone(), open.space.clone());
        self.inner.registered.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
        self.inner.written.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
        match open.folder().map(std::fs::remove_dir_all) {
            Some(Err(error)) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::Folder { path: open.path.to_path_buf(), problem: error.to_string() })
            }
            _ => Ok(known),
        }
    }

    fn identity(&self) -> Result<String> {
        Ok(self.name())
    }

    fn health(&self) -> Result<StoreHealth> {
        // Something is read, too: a version alone would be told without the file.
        let sql = "SELECT sqlite_version(), EXISTS (SELECT 1 FROM spaces)";
        let version = self.ask(|connection| connection.query_row(sql, [], |row| row.get(0)))?;
        Ok(StoreHealth { name: "sqlite".to_owned(), version, read_only: None })
    }

    fn examine(&self, visible: &Visible, repair: bool) -> Result<Vec<Finding>> {
        SqliteBackend::examine(self, visible, repair)
    }
}
