//! How is one statement asked and its answer waited for?
//!
//! A session is a connection of the pool in the hands of one thread that may block. Every wait has an
//! end, so that a server that fell silent holds nobody.

use std::time::Duration;

use deadpool_postgres::{Object, PoolError};
use tokio::runtime::Handle;
use tokio_postgres::Statement;
use tokio_postgres::types::ToSql;

use super::Sessions;
use super::pen::Target;
use crate::sql::{self, Value};
use crate::{Error, Result};

/// A connection in one thread's hands.
pub(crate) struct Session {
    client: Object,
    handle: Handle,
    timeout: Duration,
}

impl Sessions {
    /// A connection, new or idle. Blocks.
    pub(super) fn take(&self) -> sql::Result<Session> {
        let client = self.handle.block_on(self.pool.get()).map_err(lost)?;
        Ok(Session { client, handle: self.handle.clone(), timeout: self.timeout })
    }
}

/// What the pool said, for statements.
fn lost(error: PoolError) -> sql::Error {
    match error {
        PoolError::Backend(error) => sql::Error::Postgres(error),
        error => sql::Error::Lost(error.to_string()),
    }
}

/// What the pool said, for callers.
pub(super) fn refused(error: PoolError) -> Error {
    Error::said(std::path::Path::new("postgres"), lost(error))
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
        self.wait(self.client.prepare_cached(sql))
    }

    /// Runs a statement. Returns how many rows it changed.
    pub(crate) fn execute(&self, statement: &Statement, values: &[Value]) -> sql::Result<usize> {
        let changed = self.wait(self.client.execute(statement, &given(values)))?;
        Ok(usize::try_from(changed).unwrap_or(usize::MAX))
    }

    /// Runs a statement. Returns its answer.
    pub(crate) fn query(&self, statement: &Statement, values: &[Value]) -> sql::Result<Vec<tokio_postgres::Row>> {
        self.wait(self.client.query(statement, &given(values)))
    }

    /// Runs statements without values or answers.
    pub(super) fn run(&self, sql: &str) -> sql::Result<()> {
        self.wait(self.client.batch_execute(sql))
    }

    /// Begins a transaction that speaks for one space; if it is none, for the catalogue.
    pub(super) fn begin(&self, how: &str, target: Option<Target>) -> sql::Result<()> {
        match target {
            // Both are numbers: there is nothing to quote.
            Some(Target { tenant, space }) => {
                self.run(&format!("BEGIN {how}; SET LOCAL loci.tenant = {tenant}; SET LOCAL loci.space = {space}"))
            }
            None => self.run(&format!("BEGIN {how}; SET LOCAL loci.catalogue = on")),
        }
    }

    /// A session that failed, or stands within a transaction, is not used again.
    pub(super) fn discard(self) {
        drop(Object::take(self.client));
    }
}

fn given(values: &[Value]) -> Vec<&(dyn ToSql + Sync)> {
    values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}
