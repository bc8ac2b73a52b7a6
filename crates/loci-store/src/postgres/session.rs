//! How is one statement asked and its answer waited for?
//!
//! A session is a connection of the pool in the hands of one thread that may block. Every wait has an
//! end, so that a server that fell silent holds nobody.

use std::cell::Cell;
use std::time::Duration;

use deadpool_postgres::{HookError, Object, PoolError};
use tokio::runtime::Handle;
use tokio_postgres::Statement;
use tokio_postgres::types::ToSql;

use super::Sessions;
use super::commit::{Target, is_passing};
use crate::sql::{self, Value};
use crate::{Error, Result};

/// Reads see one snapshot and cannot write.
pub(crate) const READ: &str = "ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// So many connections in a row may turn out to be cut.
const RESTING: usize = 32;

/// A connection in one thread's hands.
pub(crate) struct Session {
    /// None once it was let go.
    client: Option<Object>,
    /// Whether it stands within a transaction; such a one never goes back to the pool.
    open: Cell<bool>,
    handle: Handle,
    timeout: Duration,
}

impl Sessions {
    /// A connection, new or idle. Blocks.
    pub(super) fn take(&self) -> sql::Result<Session> {
        let client = self.handle.block_on(self.pool.get()).map_err(lost)?;
        let (client, open) = (Some(client), Cell::new(false));
        Ok(Session { client, open, handle: self.handle.clone(), timeout: self.timeout })
    }

    /// A session that has begun a transaction. One that rested in the pool may have been cut without anyone
    /// noticing; then nothing was asked yet, and another is taken.
    fn begun(&self, how: &str, target: Option<Target>) -> sql::Result<Session> {
        let mut tries = 0;
        loop {
            let session = self.take()?;
            match session.begin(how, target) {
                Ok(()) => return Ok(session),
                Err(error) if is_passing(&error) && tries < RESTING => {
                    session.discard();
                    tries += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Runs `work` in a transaction of its own. A transaction that failed is undone; a connection that cannot even do
    /// that is let go. Blocks.
    pub(crate) fn within<T>(
        &self,
        how: &str,
        target: Option<Target>,
        work: impl FnOnce(&Session) -> sql::Result<T>,
    ) -> sql::Result<T> {
        let session = self.begun(how, target)?;
        let done = work(&session).and_then(|value| session.commit().map(|()| value));
        // Whoever fell silent is not asked once more, or the caller would wait twice.
        if done.as_ref().is_err_and(|error| !matches!(error, sql::Error::Lost(_))) {
            drop(session.roll_back());
        }
        done
    }
}

/// What the pool said, for statements.
fn lost(error: PoolError) -> sql::Error {
    match error {
        PoolError::Backend(error) | PoolError::PostCreateHook(HookError::Backend(error)) => sql::Error::Postgres(error),
        error => sql::Error::Lost(error.to_string()),
    }
}

/// What the pool said, for callers.
pub(super) fn refused(error: PoolError) -> Error {
    super::said(lost(error))
}

impl Session {
    fn wait<T>(&self, work: impl Future<Output = Result<T, tokio_postgres::Error>>) -> sql::Result<T> {
        // The server gives up by itself a little sooner; this is for one that fell silent.
        let patience = self.timeout + Duration::from_secs(1);
        match self.handle.block_on(async { tokio::time::timeout(patience, work).await }) {
            Ok(answer) => Ok(answer?),
            Err(_) => Err(sql::Error::Lost(format!("no answer within {} s", patience.as_secs()))),
        }
    }

    /// Makes a statement ready, or finds it ready.
    pub(crate) fn prepare(&self, sql: &str) -> sql::Result<Statement> {
        self.wait(self.client()?.prepare_cached(sql))
    }

    /// Runs a statement. Returns how many rows it changed.
    pub(crate) fn execute(&self, statement: &Statement, values: &[Value]) -> sql::Result<usize> {
        let changed = self.wait(self.client()?.execute(statement, &given(values)))?;
        Ok(usize::try_from(changed).unwrap_or(usize::MAX))
    }

    /// Runs a statement. Returns its answer.
    pub(crate) fn query(&self, statement: &Statement, values: &[Value]) -> sql::Result<Vec<tokio_postgres::Row>> {
        self.wait(self.client()?.query(statement, &given(values)))
    }

    /// Runs statements without values or answers.
    pub(super) fn run(&self, sql: &str) -> sql::Result<()> {
        self.wait(self.client()?.batch_execute(sql))
    }

    /// Begins a transaction that speaks for one space; if it is none, for the catalogue.
    pub(super) fn begin(&self, how: &str, target: Option<Target>) -> sql::Result<()> {
        self.open.set(true);
        match target {
            // Both are numbers: there is nothing to quote.
            Some(Target { tenant, space }) => {
                self.run(&format!("BEGIN {how}; SET LOCAL loci.tenant = {tenant}; SET LOCAL loci.space = {space}"))
            }
            None => self.run(&format!("BEGIN {how}; SET LOCAL loci.catalogue = on")),
        }
    }

    /// Ends a transaction well.
    pub(super) fn commit(&self) -> sql::Result<()> {
        self.run("COMMIT")?;
        self.open.set(false);
        Ok(())
    }

    /// Undoes a transaction.
    pub(super) fn roll_back(&self) -> sql::Result<()> {
        self.run("ROLLBACK")?;
        self.open.set(false);
        Ok(())
    }

    /// A session that failed is not used again.
    pub(super) fn discard(mut self) {
        drop(self.client.take().map(Object::take));
    }

    fn client(&self) -> sql::Result<&Object> {
        self.client.as_ref().ok_or_else(|| sql::Error::Lost("the session was let go".into()))
    }
}

impl Drop for Session {
    /// A connection within a transaction would carry it, and whom it speaks for, to the next caller.
    fn drop(&mut self) {
        if self.open.get() {
            drop(self.client.take().map(Object::take));
        }
    }
}

fn given(values: &[Value]) -> Vec<&(dyn ToSql + Sync)> {
    values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}
