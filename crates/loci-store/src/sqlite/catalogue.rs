//! The catalogue of a data folder: its spaces, their due jobs, and the leases.
//!
//! It is a small database beside the spaces. A space is registered before its file is created, so a crash cannot leave
//! a file without an entry. Readers have connections of their own: a change that waits for another process blocks no
//! read.

use std::collections::HashMap;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use loci_types::{JobKind, Space, Tenant};
use rusqlite::Connection;

use super::cipher::Cipher;
use super::connections::{Limits, ReadPool, Reader};
use super::file::FileId;
use super::{private, schema};
use crate::sql::{self, OptionalExtension, Value, params};
use crate::{Error, Result};

/// Maximum number of spaces with due jobs that are read from the catalogue at once.
const MAX_LOOKED_AT: usize = 1_000;

/// The catalogue of a data folder.
pub(super) struct SqliteCatalogue {
    path: Arc<PathBuf>,
    file: FileId,
    readers: Arc<ReadPool>,
    writer: Mutex<Connection>,
    /// The locked files of the leases that this process holds.
    locks: Mutex<HashMap<PathBuf, File>>,
}

impl SqliteCatalogue {
    pub(super) fn open(folder: &Path, cipher: &Cipher) -> Result<Self> {
        let path = Arc::new(folder.join("catalogue.db"));
        let writer = Mutex::new(schema::open(&path, schema::CATALOGUE, cipher)?);
        let vanished =
            || Error::ReadOnly { path: path.to_path_buf(), problem: "the file was removed while it was opened".into() };
        let file = FileId::of(&path).ok_or_else(vanished)?;
        let limits = Limits::of_this_process();
        let readers = Arc::new(ReadPool::new(limits.catalogue_readers, limits.idle_catalogue_readers, cipher.clone()));
        Ok(Self { path, file, readers, writer, locks: Mutex::default() })
    }

    /// Reads the catalogue.
    pub(super) fn read_catalogue<T>(&self, work: impl FnOnce(&dyn sql::Connection) -> sql::SqlResult<T>) -> Result<T> {
        self.read(self.readers.take(&self.path, self.file)?, work)
    }

    /// Reads the catalogue if a connection is idle; otherwise returns the work, because opening a connection blocks.
    pub(super) fn try_read_catalogue<T, W>(&self, work: W) -> std::result::Result<Result<T>, W>
    where
        W: FnOnce(&dyn sql::Connection) -> sql::SqlResult<T>,
    {
        match self.readers.take_idle(&self.path, self.file) {
            Some(reader) => Ok(self.read(reader, work)),
            None => Err(work),
        }
    }

    fn read<T>(&self, reader: Reader, work: impl FnOnce(&dyn sql::Connection) -> sql::SqlResult<T>) -> Result<T> {
        let found = work(&*reader).map_err(|error| Error::sql(&self.path, error))?;
        reader.give_back();
        Ok(found)
    }

    /// Changes the catalogue in one transaction.
    pub(super) fn write_catalogue<T>(&self, work: impl FnOnce(&dyn sql::Connection) -> sql::SqlResult<T>) -> Result<T> {
        let failed = |error| Error::sqlite(&self.path, error);
        let mut connection = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let transaction =
            connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).map_err(failed)?;
        let done = work(&*transaction).map_err(|error| Error::sql(&self.path, error))?;
        transaction.commit().map_err(failed)?;
        Ok(done)
    }

    /// The spaces of a tenant that may have a due job of these kinds, those with the oldest first.
    pub(super) fn spaces_with_work(&self, tenant: &Tenant, kinds: &[JobKind], now: Timestamp) -> Result<Vec<Space>> {
        let mut names: Vec<String> = kinds.iter().map(|kind| kind.name().to_owned()).collect();
        // The empty kind marks spaces of an older catalogue that were not checked yet.
        names.push(String::new());
        self.read_catalogue(|connection| {
            let sql = "SELECT space, min(at) FROM work WHERE tenant = ? AND at <= ? AND kind IN \
                       (SELECT value FROM json_each(?)) GROUP BY space ORDER BY min(at), space LIMIT ?";
            let values = params![tenant.name(), now, Value::Texts(names), MAX_LOOKED_AT as i64];
            connection.query_map(sql, values, |row| {
                row.get::<_, String>(0)?.parse().map_err(|error: loci_types::Error| sql::SqlError::unreadable(error))
            })
        })
    }

    /// Lowers the marks of a space to the due times of its next jobs, by kind. Writes only if a mark is missing or
    /// later.
    pub(super) fn mark_work(&self, tenant: &Tenant, space: &Space, next: &[(String, i64)]) -> Result<()> {
        let (tenant, space) = (tenant.name(), space.name());
        let marked: HashMap<String, i64> = self
            .read_catalogue(|connection| {
                connection.query_map(
                    "SELECT kind, at FROM work WHERE tenant = ?1 AND space = ?2",
                    params![tenant, &space],
                    |row| Ok((row.get(0)?, row.get(1)?)),
                )
            })?
            .into_iter()
            .collect();
        if next.iter().all(|(kind, at)| marked.get(kind).is_some_and(|marked| marked <= at)) {
            return Ok(());
        }
        self.write_catalogue(|connection| put_work(connection, tenant, &space, next))
    }

    /// Replaces the marks of a space. The caller must hold the write lock of the space.
    pub(super) fn set_work(&self, tenant: &Tenant, space: &Space, next: &[(String, i64)]) -> Result<()> {
        let (tenant, space) = (tenant.name(), space.name());
        self.write_catalogue(|connection| {
            connection.execute("DELETE FROM work WHERE tenant = ?1 AND space = ?2", params![tenant, &space])?;
            put_work(connection, tenant, &space, next)
        })
    }

    /// Takes a lease if it is free, already held by `holder`, expired, or held by a process that has ended. Each holder
    /// keeps a file of its own locked, which the system unlocks when the process ends. The file belongs to the holder,
    /// not to the lease, because a new holder needs a locked file while the old one, whose lease has expired, is still
    /// alive.
    pub(super) fn lease(
        &self,
        tenant: &Tenant,
        name: &str,
        holder: &str,
        now: Timestamp,
        lease: Duration,
    ) -> Result<bool> {
        let own = self.lock_file(tenant, name, holder);
        let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
        let new = !locks.contains_key(&own);
        if new && let Some(file) = lock(&own)? {
            locks.insert(own.clone(), file);
        }
        let sql = "SELECT holder FROM leases WHERE tenant = ?1 AND name = ?2";
        let present: Option<String> = self.read_catalogue(|connection| {
            connection.query_row(sql, params![tenant.name(), name], |row| row.get(0)).optional()
        })?;
        let gone = match present {
            Some(other) if other != holder => {
                let file = self.lock_file(tenant, name, &other);
                let is_gone = !locks.contains_key(&file) && is_unlocked(&file)?;
                is_gone.then_some((other, file))
            }
            _ => None,
        };
        let now = now.as_microsecond();
        let until = now.saturating_add(lease.as_micros() as i64);
        let taken = self.write_catalogue(|connection| {
            connection.execute(
                "INSERT INTO leases (tenant, name, holder, until) VALUES (?1, ?2, ?3, ?5) \
                 ON CONFLICT (tenant, name) DO UPDATE SET holder = excluded.holder, until = excluded.until \
                 WHERE leases.holder = ?6 OR leases.holder = excluded.holder OR leases.until <= ?4",
                params![tenant.name(), name, holder, now, until, gone.as_ref().map(|(other, _)| other.as_str())],
            )
        })? > 0;
        if let Some((_, file)) = gone {
            remove(&file);
        }
        if !taken && new {
            drop(locks.remove(&own));
            remove(&own);
        }
        Ok(taken)
    }

    /// The file that a holder of a lease keeps locked.
    fn lock_file(&self, tenant: &Tenant, name: &str, holder: &str) -> PathBuf {
        let hash = blake3::hash(format!("{}\0{name}\0{holder}", tenant.name()).as_bytes()).to_hex();
        self.path.with_file_name(format!("lease-{}.lock", &hash[..16]))
    }

    /// Releases a lease.
    pub(super) fn release(&self, tenant: &Tenant, name: &str, holder: &str) -> Result<()> {
        self.write_catalogue(|connection| {
            connection.execute(
                "DELETE FROM leases WHERE tenant = ?1 AND name = ?2 AND holder = ?3",
                params![tenant.name(), name, holder],
            )
        })?;
        let own = self.lock_file(tenant, name, holder);
        let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = locks.remove(&own) {
            drop(file);
            remove(&own);
        }
        Ok(())
    }

    /// The damage of the catalogue file; none if it is intact.
    pub(super) fn damage(&self) -> Result<Option<String>> {
        let found: String =
            self.read_catalogue(|connection| connection.query_row("PRAGMA quick_check", [], |row| row.get(0)))?;
        Ok((found != "ok").then_some(found))
    }
}

/// Sets the marks of a space unless they are earlier already. A dropped space gets none.
fn put_work(connection: &dyn sql::Connection, tenant: &str, space: &str, next: &[(String, i64)]) -> sql::SqlResult<()> {
    let sql = "INSERT INTO work (tenant, space, kind, at) SELECT tenant, name, ?3, ?4 FROM spaces \
               WHERE tenant = ?1 AND name = ?2 \
               ON CONFLICT (tenant, space, kind) DO UPDATE SET at = min(at, excluded.at)";
    for (kind, at) in next {
        connection.execute(sql, params![tenant, space, kind, *at])?;
    }
    Ok(())
}

/// Creates and locks a file; none if it is locked already, by this process or another.
fn lock(path: &Path) -> Result<Option<File>> {
    let failed = |error: std::io::Error| Error::io(path, &error);
    let file = private::file_options().create(true).truncate(false).open(path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

/// Whether this file is not locked.
fn is_unlocked(path: &Path) -> Result<bool> {
    match File::options().write(true).open(path).map(|file| file.try_lock()) {
        Ok(Ok(())) => Ok(true),
        Ok(Err(TryLockError::WouldBlock)) => Ok(false),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(true),
        Err(error) | Ok(Err(TryLockError::Error(error))) => Err(Error::io(path, &error)),
    }
}

/// Removes an unlocked file. A file that remains has no effect.
fn remove(path: &Path) {
    drop(std::fs::remove_file(path));
}
