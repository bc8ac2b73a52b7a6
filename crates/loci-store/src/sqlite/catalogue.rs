//! The catalogue of a data folder: which spaces there are, which of them have work, and who holds which lease.
//!
//! A small database beside the spaces. A space is registered before its file is made, so a crash cannot leave a file
//! without an entry. Readers have connections of their own: a change that waits for another process blocks no read.

use std::collections::HashMap;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use loci_types::{JobKind, Space, Tenant};
use rusqlite::Connection;

use super::connections::{ReadPool, Reader};
use super::file::FileId;
use super::schema;
use crate::sql::{self, OptionalExtension, Value, params};
use crate::{Error, Result};

/// Maximum number of connections that read the catalogue, and how many of them are kept while idle.
const READERS: (usize, usize) = (16, 4);

/// How many spaces with due jobs are read from the catalogue at once.
const MAX_LOOKED_AT: usize = 1_000;

/// The catalogue of a data folder.
pub(super) struct Catalogue {
    path: Arc<PathBuf>,
    file: FileId,
    readers: Arc<ReadPool>,
    writer: Mutex<Connection>,
    /// The locked files of the leases that someone in this process has taken.
    locks: Mutex<HashMap<PathBuf, File>>,
}

impl Catalogue {
    pub(super) fn open(folder: &Path) -> Result<Self> {
        let path = Arc::new(folder.join("catalogue.db"));
        let writer = Mutex::new(schema::open(&path, schema::CATALOGUE)?);
        let vanished = || Error::ReadOnly { path: path.to_path_buf(), problem: "the file vanished".into() };
        let file = FileId::of(&path).ok_or_else(vanished)?;
        let readers = Arc::new(ReadPool::new(READERS.0, READERS.1));
        Ok(Self { path, file, readers, writer, locks: Mutex::default() })
    }

    /// Reads the catalogue.
    pub(super) fn read_catalogue<T>(&self, work: impl FnOnce(&dyn sql::Connection) -> sql::Result<T>) -> Result<T> {
        self.read(self.readers.take(&self.path, self.file)?, work)
    }

    /// Reads the catalogue if an idle connection is there; otherwise gives the work back, because opening one blocks.
    pub(super) fn try_read_catalogue<T, W>(&self, work: W) -> std::result::Result<Result<T>, W>
    where
        W: FnOnce(&dyn sql::Connection) -> sql::Result<T>,
    {
        match self.readers.take_idle(&self.path, self.file) {
            Some(reader) => Ok(self.read(reader, work)),
            None => Err(work),
        }
    }

    fn read<T>(&self, reader: Reader, work: impl FnOnce(&dyn sql::Connection) -> sql::Result<T>) -> Result<T> {
        let found = work(&*reader).map_err(|error| Error::said(&self.path, error))?;
        reader.give_back();
        Ok(found)
    }

    /// Changes the catalogue in one transaction.
    pub(super) fn write_catalogue<T>(&self, work: impl FnOnce(&dyn sql::Connection) -> sql::Result<T>) -> Result<T> {
        let failed = |error| Error::sqlite(&self.path, error);
        let mut connection = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let transaction =
            connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).map_err(failed)?;
        let done = work(&*transaction).map_err(|error| Error::said(&self.path, error))?;
        transaction.commit().map_err(failed)?;
        Ok(done)
    }

    /// The spaces of a tenant that may have a due job of these kinds, those with the oldest first.
    pub(super) fn spaces_with_work(&self, tenant: &Tenant, kinds: &[JobKind], now: Timestamp) -> Result<Vec<Space>> {
        let mut names: Vec<String> = kinds.iter().map(|kind| kind.name().to_owned()).collect();
        // Spaces of an older catalogue that nobody has looked at yet.
        names.push(String::new());
        self.read_catalogue(|connection| {
            let sql = "SELECT space, min(at) FROM work WHERE tenant = ? AND at <= ? AND kind IN \
                       (SELECT value FROM json_each(?)) GROUP BY space ORDER BY min(at), space LIMIT ?";
            let values = params![tenant.name(), now.as_microsecond(), Value::Texts(names), MAX_LOOKED_AT as i64];
            connection
                .prepare_cached(sql)?
                .query_map(values, |row| {
                    row.get::<_, String>(0)?.parse().map_err(|error: loci_types::Error| sql::Error::unreadable(error))
                })?
                .collect()
        })
    }

    /// Makes sure that the worker looks at a space not later than these jobs are due: by kind, when the next one is.
    /// Writes only if it would.
    pub(super) fn mark_work(&self, tenant: &Tenant, space: &Space, next: &[(String, i64)]) -> Result<()> {
        let (tenant, space) = (tenant.name(), space.name());
        let marked: HashMap<String, i64> = self.read_catalogue(|connection| {
            connection
                .prepare_cached("SELECT kind, at FROM work WHERE tenant = ?1 AND space = ?2")?
                .query_map(params![tenant, &space], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        })?;
        if next.iter().all(|(kind, at)| marked.get(kind).is_some_and(|marked| marked <= at)) {
            return Ok(());
        }
        self.write_catalogue(|connection| put_work(connection, tenant, &space, next))
    }

    /// Replaces the marks of a space. For who holds the write lock of the space.
    pub(super) fn set_work(&self, tenant: &Tenant, space: &Space, next: &[(String, i64)]) -> Result<()> {
        let (tenant, space) = (tenant.name(), space.name());
        self.write_catalogue(|connection| {
            connection.execute("DELETE FROM work WHERE tenant = ?1 AND space = ?2", params![tenant, &space])?;
            put_work(connection, tenant, &space, next)
        })
    }

    /// Takes a lease if it is free, ours already, its holder is overdue, or the process of its holder has ended. A
    /// holder keeps a file of its own locked, which the system unlocks when the process ends. The file is the holder's
    /// and not the lease's: whoever takes a lease from a holder that is overdue but alive has a locked file as well.
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

    /// Gives a lease back.
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

    /// What is wrong with the catalogue itself, if anything is.
    pub(super) fn damage(&self) -> Result<Option<String>> {
        let said: String =
            self.read_catalogue(|connection| connection.query_row("PRAGMA quick_check", [], |row| row.get(0)))?;
        Ok((said != "ok").then_some(said))
    }
}

/// Marks when jobs of a space are due, unless an earlier moment is marked. A space that was dropped has no marks.
fn put_work(connection: &dyn sql::Connection, tenant: &str, space: &str, next: &[(String, i64)]) -> sql::Result<()> {
    let sql = "INSERT INTO work (tenant, space, kind, at) SELECT tenant, name, ?3, ?4 FROM spaces \
               WHERE tenant = ?1 AND name = ?2 \
               ON CONFLICT (tenant, space, kind) DO UPDATE SET at = min(at, excluded.at)";
    for (kind, at) in next {
        connection.execute(sql, params![tenant, space, kind, *at])?;
    }
    Ok(())
}

/// Makes and locks a file; none if another process, or another part of this one, has it locked.
fn lock(path: &Path) -> Result<Option<File>> {
    let failed = |error: std::io::Error| Error::io(path, &error);
    let file = File::options().create(true).truncate(false).write(true).open(path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

/// Whether nobody has this file locked.
fn is_unlocked(path: &Path) -> Result<bool> {
    match File::options().write(true).open(path).map(|file| file.try_lock()) {
        Ok(Ok(())) => Ok(true),
        Ok(Err(TryLockError::WouldBlock)) => Ok(false),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(true),
        Err(error) | Ok(Err(TryLockError::Error(error))) => Err(Error::io(path, &error)),
    }
}

/// Removes a file that nobody has locked. One that stays does no harm.
fn remove(path: &Path) {
    drop(std::fs::remove_file(path));
}
