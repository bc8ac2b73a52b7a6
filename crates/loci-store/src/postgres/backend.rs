//! Implements [`Backend`] for PostgreSQL.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use loci_types::{JobKind, MemoryId, Shard, Space, Tenant, Vector, Visible};
use tokio::sync::watch;

use super::commit::{SpaceIds, lock};
use super::pg_connection::{PgConnection, READ};
use super::schema::OF_SPACES;
use super::{PostgresBackend, doctor, near, scrub, sql_error, words};
use crate::sql::clause::Clause;
use crate::sql::{self, Backend, Connection, OptionalExtension, Value, blocking, catalogue, jobs, params, turn_runs};
use crate::text::Analyser;
use crate::{Error, Finding, Frequencies, Hit, Result, StoreHealth, TurnRun};

/// How long the cached ids of a space are used without reading them again. Writers always check them, under the lock.
const FRESH: Duration = Duration::from_secs(5);

/// Number of rows that one transaction deletes when a space is dropped.
const ROWS_AT_ONCE: usize = 10_000;

/// A space of a tenant.
pub(crate) struct SpaceHandle {
    tenant: Tenant,
    space: Space,
    /// A path that identifies the space, for stamps.
    place: std::path::PathBuf,
}

impl PostgresBackend {
    /// The ids of a space; none if nothing was ever written to it. Reads those of all shards of a tenant at once;
    /// otherwise a tenant whose users write rarely would need a query for nearly every write.
    fn target(&self, open: &SpaceHandle) -> Result<Option<SpaceIds>> {
        if let Some(known) = self.known(open) {
            return Ok(Some(known));
        }
        let spaces = match &open.space {
            Space::Shared | Space::Users(_) => Shard::all().map(Space::Users).chain([Space::Shared]).collect(),
            space => vec![space.clone()],
        };
        let names = Value::Texts(spaces.iter().map(Space::name).collect());
        let sql = "SELECT t.number, s.number, s.name FROM spaces s JOIN tenants t ON t.name = s.tenant \
                   WHERE s.tenant = ?1 AND s.name = ANY(?2::text[])";
        let found: Vec<(i64, i64, String)> = self.read_catalogue(|connection| {
            let read = |row: &dyn sql::Row| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
            connection.query_map(sql, params![open.tenant.name(), names], read)
        })?;
        let mut known = self.inner.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.remove(&(open.tenant.clone(), open.space.clone()));
        for (tenant, space, name) in found {
            let target = SpaceIds { tenant: tenant as i32, space: space as i32 };
            known.insert((open.tenant.clone(), name.parse()?), (target, Instant::now()));
        }
        Ok(known.get(&(open.tenant.clone(), open.space.clone())).map(|(target, _)| *target))
    }

    /// The cached ids of a space, if they were read less than [`FRESH`] ago.
    fn known(&self, open: &SpaceHandle) -> Option<SpaceIds> {
        let key = (open.tenant.clone(), open.space.clone());
        let known = self.inner.known.lock().unwrap_or_else(PoisonError::into_inner).get(&key).copied();
        known.filter(|(_, asked)| asked.elapsed() < FRESH).map(|(target, _)| target)
    }

    fn forget(&self, open: &SpaceHandle) {
        let key = (open.tenant.clone(), open.space.clone());
        self.inner.known.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
    }

    /// Runs `work` in its own transaction.
    pub(super) fn within<T>(
        &self,
        how: &str,
        target: Option<SpaceIds>,
        work: impl FnOnce(&dyn Connection) -> sql::SqlResult<T>,
    ) -> Result<T> {
        self.inner.sessions.within(how, target, |session| work(session)).map_err(sql_error)
    }

    /// Runs `work` on a space without a timeout; to repair, in a write transaction that locks the space.
    pub(super) fn looking<T>(
        &self,
        open: &SpaceHandle,
        repair: bool,
        work: impl FnOnce(&dyn Connection) -> sql::SqlResult<T>,
    ) -> Result<Option<T>> {
        let Some(target) = self.target(open)? else { return Ok(None) };
        let looked = self.within(if repair { "" } else { READ }, Some(target), |connection| {
            connection.without_timeout()?;
            if repair {
                connection.execute(&lock(target), [])?;
            }
            work(connection)
        });
        looked.map(Some)
    }

    async fn write_as<T: Send + 'static>(
        &self,
        open: &SpaceHandle,
        work: impl FnMut(&dyn Connection) -> Result<T> + Send + 'static,
        takes_long: bool,
    ) -> Result<T> {
        let target = match self.known(open) {
            Some(target) => target,
            None => {
                let (store, open) = (self.clone(), self.open(&open.tenant, &open.space));
                blocking(move || store.required(&open)).await?
            }
        };
        let writers = &self.inner.writers;
        let written =
            if takes_long { writers.run_admin(&target, work).await } else { writers.run(&target, work).await };
        match &written {
            Err(Error::DiskFull { .. }) => self.inner.full.store(true, Ordering::Relaxed),
            Ok(_) => self.inner.full.store(false, Ordering::Relaxed),
            Err(_) => {}
        }
        if matches!(written, Err(Error::Overtaken(_))) {
            self.forget(open);
        }
        written
    }

    /// Deletes the rows of spaces that are no longer in the catalogue, including those an earlier process left behind.
    fn remove_dropped(&self) -> Result<()> {
        let dropped: Vec<SpaceIds> = self.read_catalogue(|connection| {
            let target = |row: &dyn sql::Row| {
                Ok(SpaceIds { tenant: row.get::<_, i64>(0)? as i32, space: row.get::<_, i64>(1)? as i32 })
            };
            connection.query_map("SELECT tenant::bigint, space::bigint FROM dropped_spaces", [], target)
        })?;
        for target in dropped {
            // Parents come first in the list, so their rows are deleted last.
            for table in OF_SPACES.iter().rev() {
                let sql = format!(
                    "DELETE FROM {table} WHERE ctid = ANY(ARRAY(SELECT ctid FROM {table} LIMIT {ROWS_AT_ONCE}))"
                );
                let batch = || {
                    self.within("", Some(target), |connection| {
                        connection.without_timeout()?;
                        connection.execute(&sql, [])
                    })
                };
                while batch()? > 0 {}
            }
            let numbers = params![i64::from(target.tenant), i64::from(target.space)];
            self.write_catalogue(|connection| {
                connection
                    .execute("DELETE FROM dropped_spaces WHERE tenant = ?1::bigint AND space = ?2::bigint", numbers)
            })?;
        }
        Ok(())
    }

    fn tenant_number(&self, tenant: &Tenant) -> Result<Option<i64>> {
        let sql = "SELECT number FROM tenants WHERE name = ?1";
        self.read_catalogue(|connection| connection.query_row(sql, params![tenant.name()], |row| row.get(0)).optional())
    }

    fn required(&self, open: &SpaceHandle) -> Result<SpaceIds> {
        self.target(open)?.ok_or(Error::Closed)
    }
}

impl Backend for PostgresBackend {
    type Open = SpaceHandle;
    type Conn = PgConnection;

    const LOCAL: bool = false;

    fn analyser(&self) -> &Arc<Analyser> {
        &self.inner.analyser
    }

    fn open(&self, tenant: &Tenant, space: &Space) -> Arc<SpaceHandle> {
        let place = Path::new(tenant.name()).join(space.name());
        Arc::new(SpaceHandle { tenant: tenant.clone(), space: space.clone(), place })
    }

    fn space_of(open: &SpaceHandle) -> &Space {
        &open.space
    }

    fn place_of(open: &SpaceHandle) -> &Path {
        &open.place
    }

    fn exists(&self, open: &SpaceHandle) -> Result<bool> {
        Ok(self.target(open)?.is_some())
    }

    fn with_jobs(&self, tenant: &Tenant, kinds: &[JobKind], now: Timestamp) -> Result<Vec<Space>> {
        let Some(number) = self.tenant_number(tenant)? else { return Ok(Vec::new()) };
        // No space has the number 0; with it the policy shows the jobs of the whole tenant and nothing else.
        let target = SpaceIds { tenant: number as i32, space: 0 };
        let now = now.as_microsecond();
        let names: Vec<String> = self.within(READ, Some(target), |connection| {
            connection.query_map(&format!(
                    "SELECT s.name FROM spaces s WHERE s.number IN (SELECT space FROM jobs WHERE {} {}) ORDER BY s.name",
                    jobs::FREE,
                    connection.dialect().texts
                ), params![now, now, jobs::names(kinds)], |row| row.get(0))
        })?;
        names.iter().map(|name| Ok(name.parse()?)).collect()
    }

    fn read<T>(&self, open: &SpaceHandle, work: impl FnOnce(&PgConnection) -> sql::SqlResult<T>) -> Result<Option<T>> {
        match self.target(open)? {
            Some(target) => self.inner.sessions.within(READ, Some(target), work).map(Some).map_err(sql_error),
            None => Ok(None),
        }
    }

    fn is_prepared(&self, tenant: &Tenant, open: &SpaceHandle) -> bool {
        *tenant == open.tenant && self.known(open).is_some()
    }

    fn prepare(&self, tenant: &Tenant, open: &SpaceHandle, at: Timestamp) -> Result<()> {
        if self.target(open)?.is_none() {
            self.write_catalogue(|connection| catalogue::register(connection, tenant, &open.space, at))?;
            self.target(open)?;
        }
        Ok(())
    }

    async fn write<T: Send + 'static>(
        &self,
        open: &SpaceHandle,
        work: impl FnMut(&dyn Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.write_as(open, work, false).await
    }

    async fn write_long<T: Send + 'static>(
        &self,
        open: &SpaceHandle,
        work: impl FnMut(&dyn Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.write_as(open, work, true).await
    }

    fn is_noted(&self, _: &Tenant, open: &SpaceHandle) -> bool {
        self.known(open)
            .is_some_and(|target| self.inner.written.lock().unwrap_or_else(PoisonError::into_inner).contains(&target))
    }

    fn note_written(&self, tenant: &Tenant, open: &SpaceHandle) -> Result<()> {
        self.write_catalogue(|connection| catalogue::note_written(connection, tenant, &open.space))?;
        let target = self.required(open)?;
        self.inner.written.lock().unwrap_or_else(PoisonError::into_inner).insert(target);
        Ok(())
    }

    fn read_catalogue<T>(&self, work: impl FnOnce(&dyn Connection) -> sql::SqlResult<T>) -> Result<T> {
        self.within(READ, None, work)
    }

    fn write_catalogue<T>(&self, work: impl FnOnce(&dyn Connection) -> sql::SqlResult<T>) -> Result<T> {
        self.within("", None, work)
    }

    fn lexical(
        &self,
        _: &Self::Open,
        connection: &PgConnection,
        clause: &Clause,
        terms: &[String],
        limit: usize,
    ) -> sql::SqlResult<Vec<Hit>> {
        words::search(connection, clause, terms, limit)
    }

    fn frequencies(
        &self,
        _: &SpaceHandle,
        connection: &PgConnection,
        clause: &Clause,
        terms: &[String],
    ) -> sql::SqlResult<Frequencies> {
        words::frequencies(connection, clause, terms)
    }

    fn nearest(
        &self,
        open: &SpaceHandle,
        connection: &PgConnection,
        clause: &Clause,
        vector: &Vector,
        limit: usize,
    ) -> sql::SqlResult<Vec<Hit>> {
        near::search(connection, &open.place, clause, vector, limit, &self.inner.options, &self.inner.sizes)
    }

    fn turn_runs(
        &self,
        open: &SpaceHandle,
        connection: &PgConnection,
        clause: &Clause,
        ids: &[MemoryId],
        reach: usize,
    ) -> sql::SqlResult<Vec<TurnRun>> {
        turn_runs::turn_runs(connection, &open.place, clause, ids, reach, turn_runs::Turns::Batch)
    }

    fn scrub(&self, tenant: &Tenant) -> Result<Option<String>> {
        self.remove_dropped()?;
        let number = self.tenant_number(tenant)?;
        let scrubbed = scrub::tables(&self.inner.address, &self.inner.options, number.unwrap_or(0) as i32);
        self.inner.sessions.handle.block_on(scrubbed)
    }

    fn bytes(&self, open: &SpaceHandle) -> Result<u64> {
        let sql = "SELECT coalesce(sum(pg_column_size(m.*)), 0)::bigint + (SELECT coalesce(sum(pg_column_size(v.*)), 0)::bigint \
                   FROM vectors v) FROM memories m";
        let bytes = self.read(open, |session| {
            session.without_timeout()?;
            (session as &dyn Connection).query_row(sql, [], |row| row.get(0))
        })?;
        Ok(bytes.unwrap_or(0))
    }

    fn lease(&self, tenant: &Tenant, name: &str, holder: &str, now: Timestamp, lease: Duration) -> Result<bool> {
        self.inner.leases.take(tenant, name, holder, now, lease)
    }

    fn release(&self, tenant: &Tenant, name: &str, holder: &str) -> Result<()> {
        self.inner.leases.give(tenant, name, holder);
        Ok(())
    }

    fn drop_space(&self, tenant: &Tenant, open: &SpaceHandle) -> Result<bool> {
        self.forget(open);
        if let Some(target) = self.target(open)? {
            // The catalogue entry is deleted first, under the write lock, so that the space cannot be found any more. Its
            // rows are deleted in batches, to keep locks and transactions short; `dropped_spaces` lists what is left.
            self.within("", Some(target), |connection| {
                connection.without_timeout()?;
                connection.execute(&lock(target), [])?;
                connection.run_later("SELECT set_config('loci.catalogue', 'on', true)", Vec::new())?;
                let numbers = params![i64::from(target.tenant), i64::from(target.space)];
                let note =
                    "INSERT INTO dropped_spaces (tenant, space) VALUES (?1::bigint, ?2::bigint) ON CONFLICT DO NOTHING";
                connection.run_later(note, numbers)?;
                connection.execute("DELETE FROM spaces WHERE number = ?1", params![i64::from(target.space)])
            })?;
            self.inner.written.lock().unwrap_or_else(PoisonError::into_inner).remove(&target);
            self.forget(open);
        }
        let dropped = self.write_catalogue(|connection| catalogue::drop_space(connection, tenant, &open.space))?;
        // The space is gone for everybody, so a failure here is only logged. Its rows are deleted by the next drop or
        // scrub.
        if let Err(error) = self.remove_dropped() {
            tracing::warn!(%error, "the rows of a dropped space could not be deleted");
        }
        Ok(dropped)
    }

    fn identity(&self) -> Result<String> {
        // The start time in microseconds distinguishes servers.
        let sql = "SELECT concat_ws(' ', current_database()::text, current_schema()::text, \
                   extract(epoch FROM pg_postmaster_start_time())::text)";
        self.read_catalogue(|connection| connection.query_row(sql, [], |row| row.get(0)))
    }

    fn store_id(&self) -> Result<String> {
        self.inner.store_id.clone().ok_or_else(|| Error::Unavailable {
            part: "postgres".to_owned(),
            problem: "the identity of the store cannot be written: open it once as the owner of its tables".to_owned(),
        })
    }

    fn health(&self) -> Result<StoreHealth> {
        let sql = "SELECT split_part(current_setting('server_version'), ' ', 1), EXISTS (SELECT 1 FROM spaces), \
                   pg_is_in_recovery() OR current_setting('default_transaction_read_only')::boolean";
        let read = |row: &dyn sql::Row| Ok((row.get(0)?, row.get::<_, bool>(2)?));
        let (version, stands_by) = self.read_catalogue(|connection| connection.query_row(sql, [], read))?;
        let full = self.inner.full.load(Ordering::Relaxed).then(|| "its disk was full at the last write".to_owned());
        let read_only = if stands_by { Some("it accepts no writes at the moment".to_owned()) } else { full };
        Ok(StoreHealth { name: "postgres".to_owned(), version, read_only })
    }

    fn busy_connections(&self) -> Option<usize> {
        let status = self.inner.sessions.pool.status();
        Some(status.size.saturating_sub(status.available))
    }

    fn change_signal(&self) -> Option<watch::Receiver<u64>> {
        Some(self.inner.listener.change_signal(&self.inner.sessions.handle))
    }

    fn examine(&self, visible: &Visible, repair: bool) -> Result<Vec<Finding>> {
        doctor::examine(self, visible, repair)
    }
}
