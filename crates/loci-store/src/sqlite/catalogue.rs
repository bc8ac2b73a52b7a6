//! Where does it stand which spaces there are, and who does the work that only one may do?
//!
//! A small database beside the spaces. A space is registered before its file is made, so a file
//! without an entry cannot be left behind by a crash.

use std::collections::HashMap;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use loci_types::Tenant;
use rusqlite::Connection;

use super::schema;
use crate::sql::{self, params};
use crate::{Error, Result};

/// The catalogue of a data folder.
pub(super) struct Catalogue {
    path: PathBuf,
    connection: Mutex<Connection>,
    /// The locks of the work that someone in this process has taken.
    locks: Mutex<HashMap<String, File>>,
}

impl Catalogue {
    pub(super) fn open(folder: &Path) -> Result<Self> {
        let path = folder.join("catalogue.db");
        let connection = Mutex::new(schema::open(&path, schema::CATALOGUE)?);
        Ok(Self { path, connection, locks: Mutex::default() })
    }

    /// Asks it.
    pub(super) fn ask<T>(&self, work: impl FnOnce(&dyn sql::Connection) -> sql::Result<T>) -> Result<T> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        work(&*connection).map_err(|error| Error::said(&self.path, error))
    }

    /// Asks it if nobody in this process is at it; else the work is given back. Readers never wait for other processes.
    pub(super) fn try_ask<T, W>(&self, work: W) -> std::result::Result<Result<T>, W>
    where
        W: FnOnce(&dyn sql::Connection) -> sql::Result<T>,
    {
        match self.connection.try_lock() {
            Ok(connection) => Ok(work(&*connection).map_err(|error| Error::said(&self.path, error))),
            Err(_) => Err(work),
        }
    }

    /// Changes it in one transaction.
    pub(super) fn tell<T>(&self, work: impl FnOnce(&dyn sql::Connection) -> sql::Result<T>) -> Result<T> {
        let said = |error| Error::sqlite(&self.path, error);
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let transaction =
            connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).map_err(said)?;
        let told = work(&*transaction).map_err(|error| Error::said(&self.path, error))?;
        transaction.commit().map_err(said)?;
        Ok(told)
    }

    /// Takes work that only one may do: it is free, ours already, its holder is overdue, or its holder
    /// is gone. Whoever has it holds the lock of a file, which a process that dies lets go at once.
    pub(super) fn lease(
        &self,
        tenant: &Tenant,
        name: &str,
        holder: &str,
        now: Timestamp,
        lease: Duration,
    ) -> Result<bool> {
        let key = format!("{}-{name}", tenant.name());
        let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
        let deserted =
            !locks.contains_key(&key) && self.lock(&key)?.is_some_and(|file| locks.insert(key, file).is_none());
        let now = now.as_microsecond();
        let until = now.saturating_add(lease.as_micros() as i64);
        self.tell(|connection| {
            connection.execute(
                "INSERT INTO leases (tenant, name, holder, until) VALUES (?1, ?2, ?3, ?5) \
                 ON CONFLICT (tenant, name) DO UPDATE SET holder = excluded.holder, until = excluded.until \
                 WHERE ?6 OR leases.holder = excluded.holder OR leases.until <= ?4",
                params![tenant.name(), name, holder, now, until, deserted],
            )
        })
        .map(|taken| taken > 0)
    }

    /// The file that stands for some work, locked; none if someone alive has it.
    fn lock(&self, key: &str) -> Result<Option<File>> {
        let path = self.path.with_file_name(format!("{key}.lock"));
        let failed = |error: std::io::Error| Error::Folder { path: path.clone(), problem: error.to_string() };
        let file = File::options().create(true).truncate(false).write(true).open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }

    /// Gives such work back.
    pub(super) fn release(&self, tenant: &Tenant, name: &str, holder: &str) -> Result<()> {
        let given = self.tell(|connection| {
            connection.execute(
                "DELETE FROM leases WHERE tenant = ?1 AND name = ?2 AND holder = ?3",
                params![tenant.name(), name, holder],
            )
        })?;
        if given > 0 {
            let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
            drop(locks.remove(&format!("{}-{name}", tenant.name())));
        }
        Ok(())
    }

    /// What is wrong with the catalogue itself, if anything is.
    pub(super) fn damage(&self) -> Result<Option<String>> {
        let said: String = self.ask(|connection| connection.query_row("PRAGMA quick_check", [], |row| row.get(0)))?;
        Ok((said != "ok").then_some(said))
    }
}
