//! How do the doors open onto a server?

use std::path::Path;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use loci_types::{JobKind, Space, Tenant, Vector, Visible};

use super::pen::Target;
use super::schema::OF_SPACES;
use super::{PostgresStore, Session, doctor, near, words};
use crate::sql::clause::Clause;
use crate::sql::{self, Connection, Floor, OptionalExtension, Value, catalogue, params};
use crate::text::Analyser;
use crate::{Error, Finding, Frequencies, Hit, Result};

/// Reads see one snapshot and cannot write.
const READ: &str = "ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// A space of a tenant.
pub(crate) struct Numbered {
    tenant: Tenant,
    space: Space,
    /// Names the space among all, for stamps.
    place: std::path::PathBuf,
}

impl PostgresStore {
    /// The numbers of a space; none if nothing was ever written to it.
    fn target(&self, open: &Numbered) -> Result<Option<Target>> {
        let key = (open.tenant.clone(), open.space.clone());
        if let Some(known) = self.inner.known.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(Some(*known));
        }
        let sql = "SELECT t.number, s.number FROM spaces s JOIN tenants t ON t.name = s.tenant \
                   WHERE s.tenant = ?1 AND s.name = ?2";
        let found = self.ask(|connection| {
            let read = |row: &sql::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?));
            connection.query_row(sql, params![open.tenant.name(), open.space.name()], read).optional()
        })?;
        let target = found.map(|(tenant, space)| Target { tenant: tenant as i32, space: space as i32 });
        if let Some(target) = target {
            self.inner.known.lock().unwrap_or_else(PoisonError::into_inner).insert(key, target);
        }
        Ok(target)
    }

    /// Runs `work` in a transaction of its own. What failed is not used again.
    pub(super) fn within<T>(
        &self,
        how: &str,
        target: Option<Target>,
        work: impl FnOnce(&Connection<'_>) -> sql::Result<T>,
    ) -> Result<T> {
        let session = self.inner.sessions.take().map_err(said)?;
        let done = session.begin(how, target).and_then(|()| {
            let value = work(&Connection::Postgres(&session))?;
            session.run("COMMIT")?;
            Ok(value)
        });
        match done {
            Ok(value) => Ok(value),
            Err(error) => {
                end(session, &error);
                Err(said(error))
            }
        }
    }

    /// Looks through a space, and mends it if told to.
    pub(super) fn looking<T>(
        &self,
        open: &Numbered,
        repair: bool,
        work: impl FnOnce(&Connection<'_>) -> sql::Result<T>,
    ) -> Result<Option<T>> {
        match self.target(open)? {
            Some(target) => self.within(if repair { "" } else { READ }, Some(target), work).map(Some),
            None => Ok(None),
        }
    }

    fn required(&self, open: &Numbered) -> Result<Target> {
        self.target(open)?.ok_or(Error::Closed)
    }
}

/// A transaction that failed is undone; a connection that cannot even do that is let go.
/// Whoever fell silent is not asked once more, or the caller would wait twice.
fn end(session: Session, error: &sql::Error) {
    if matches!(error, sql::Error::Lost(_)) || session.run("ROLLBACK").is_err() {
        session.discard();
    }
}

fn said(error: sql::Error) -> Error {
    Error::said(Path::new("postgres"), error)
}

impl Floor for PostgresStore {
    type Open = Numbered;

    fn analyser(&self) -> &Arc<Analyser> {
        &self.inner.analyser
    }

    fn open(&self, tenant: &Tenant, space: &Space) -> Arc<Numbered> {
        let key = (tenant.clone(), space.clone());
        let mut opened = self.inner.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let make = || {
            let place = Path::new(tenant.name()).join(space.name());
            Arc::new(Numbered { tenant: tenant.clone(), space: space.clone(), place })
        };
        opened.entry(key).or_insert_with(make).clone()
    }

    fn space_of(open: &Numbered) -> &Space {
        &open.space
    }

    fn place_of(open: &Numbered) -> &Path {
        &open.place
    }

    fn exists(&self, open: &Numbered) -> Result<bool> {
        Ok(self.target(open)?.is_some())
    }

    fn with_jobs(&self, tenant: &Tenant, kinds: &[JobKind], now: Timestamp) -> Result<Vec<Space>> {
        let number = self.ask(|connection| {
            let sql = "SELECT number FROM tenants WHERE name = ?1";
            connection.query_row(sql, params![tenant.name()], |row| row.get::<_, i64>(0)).optional()
        })?;
        let Some(number) = number else { return Ok(Vec::new()) };
        // No space has this number: jobs may be counted for the tenant as a whole, and nothing else seen.
        let target = Target { tenant: number as i32, space: 0 };
        let kinds = Value::Texts(kinds.iter().map(|kind| kind.name().to_owned()).collect());
        let now = now.as_microsecond();
        let names: Vec<String> = self.within(READ, Some(target), |connection| {
            connection
                .prepare_cached(
                    "SELECT s.name FROM spaces s WHERE s.number IN (SELECT space FROM jobs \
                     WHERE ((state = 'waiting' AND run_after <= ?1) OR (state = 'running' AND lease_until <= ?1)) \
                     AND kind = ANY(?2)) ORDER BY s.name",
                )?
                .query_map(params![now, kinds], |row| row.get(0))?
                .collect()
        })?;
        names.iter().map(|name| Ok(name.parse()?)).collect()
    }

    fn read<T>(&self, open: &Numbered, work: impl FnOnce(&Connection<'_>) -> sql::Result<T>) -> Result<Option<T>> {
        match self.target(open)? {
            Some(target) => self.within(READ, Some(target), work).map(Some),
            None => Ok(None),
        }
    }

    fn is_prepared(&self, tenant: &Tenant, open: &Numbered) -> bool {
        let key = (tenant.clone(), open.space.clone());
        self.inner.known.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&key)
    }

    fn prepare(&self, tenant: &Tenant, open: &Numbered, at: Timestamp) -> Result<()> {
        if self.target(open)?.is_none() {
            self.tell(|connection| catalogue::register(connection, tenant, &open.space, at))?;
            self.target(open)?;
        }
        Ok(())
    }

    async fn write<T: Send + 'static>(
        &self,
        open: &Numbered,
        work: impl FnMut(&Connection<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let key = (open.tenant.clone(), open.space.clone());
        let known = self.inner.known.lock().unwrap_or_else(PoisonError::into_inner).get(&key).copied();
        self.inner.writers.run(&known.ok_or(Error::Closed)?, work).await
    }

    fn is_noted(&self, _: &Tenant, open: &Numbered) -> bool {
        let key = (open.tenant.clone(), open.space.clone());
        let known = self.inner.known.lock().unwrap_or_else(PoisonError::into_inner).get(&key).copied();
        known.is_some_and(|target| self.inner.written.lock().unwrap_or_else(PoisonError::into_inner).contains(&target))
    }

    fn note_written(&self, tenant: &Tenant, open: &Numbered) -> Result<()> {
        self.tell(|connection| catalogue::note_written(connection, tenant, &open.space))?;
        let target = self.required(open)?;
        self.inner.written.lock().unwrap_or_else(PoisonError::into_inner).insert(target);
        Ok(())
    }

    fn ask<T>(&self, work: impl FnOnce(&Connection<'_>) -> sql::Result<T>) -> Result<T> {
        self.within(READ, None, work)
    }

    fn tell<T>(&self, work: impl FnOnce(&Connection<'_>) -> sql::Result<T>) -> Result<T> {
        self.within("", None, work)
    }

    fn lexical(connection: &Connection<'_>, clause: &Clause, terms: &[String], limit: usize) -> sql::Result<Vec<Hit>> {
        words::search(connection, clause, terms, limit)
    }

    fn frequencies(connection: &Connection<'_>, clause: &Clause, terms: &[String]) -> sql::Result<Frequencies> {
        words::frequencies(connection, clause, terms)
    }

    fn nearest(
        &self,
        _: &Numbered,
        connection: &Connection<'_>,
        clause: &Clause,
        vector: &Vector,
        limit: usize,
    ) -> sql::Result<Vec<Hit>> {
        near::search(connection, clause, vector, limit, &self.inner.options)
    }

    fn tidy(_: &Connection<'_>) -> sql::Result<u64> {
        // Autovacuum does it.
        Ok(0)
    }

    fn bytes(&self, open: &Numbered) -> Result<u64> {
        let sql = "SELECT coalesce(sum(pg_column_size(m.*)), 0)::bigint + (SELECT coalesce(sum(pg_column_size(v.*)), 0)::bigint \
                   FROM vectors v) FROM memories m";
        Ok(self.read(open, |connection| connection.query_row(sql, [], |row| row.get(0)))?.unwrap_or(0))
    }

    fn lease(&self, tenant: &Tenant, name: &str, holder: &str, now: Timestamp, lease: Duration) -> Result<bool> {
        self.inner.leases.take(tenant, name, holder, now, lease).map_err(said)
    }

    fn release(&self, tenant: &Tenant, name: &str, holder: &str) -> Result<()> {
        self.inner.leases.give(tenant, name, holder);
        Ok(())
    }

    fn drop_space(&self, tenant: &Tenant, open: &Numbered) -> Result<()> {
        // Its entry is gone, so its number must be known from before.
        let key = (tenant.clone(), open.space.clone());
        let Some(target) = self.inner.known.lock().unwrap_or_else(PoisonError::into_inner).remove(&key) else {
            return Ok(());
        };
        self.inner.written.lock().unwrap_or_else(PoisonError::into_inner).remove(&target);
        self.within("", Some(target), |connection| {
            OF_SPACES
                .iter()
                .rev()
                .try_for_each(|table| connection.execute(&format!("DELETE FROM {table}"), []).map(drop))
        })
    }

    fn examine(&self, visible: &Visible, repair: bool) -> Result<Vec<Finding>> {
        doctor::examine(self, visible, repair)
    }
}
