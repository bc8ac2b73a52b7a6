//! Which tenants, spaces and agents are there?
//!
//! A small database beside the spaces. A space is registered before its file is made, so a file
//! without an entry cannot be left behind by a crash.

use std::collections::HashMap;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use loci_types::{Space, Tenant};
use rusqlite::{Connection, OptionalExtension, params};

use super::schema;
use crate::{Agent, Error, Result};

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

    pub(super) fn with<T>(&self, work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>) -> Result<T> {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut connection).map_err(|error| Error::sqlite(&self.path, error))
    }

    /// Registers a space, and the agent whose it is.
    pub(super) fn register(&self, tenant: &Tenant, space: &Space, at: Timestamp) -> Result<()> {
        self.with(|connection| {
            let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            let (tenant, at) = (tenant.name(), at.as_microsecond());
            transaction
                .execute("INSERT OR IGNORE INTO tenants (name, created_at) VALUES (?1, ?2)", params![tenant, at])?;
            transaction.execute(
                "INSERT OR IGNORE INTO spaces (tenant, name, created_at) VALUES (?1, ?2, ?3)",
                params![tenant, space.name(), at],
            )?;
            if let Space::Agent(slug) = space {
                transaction.execute(
                    "INSERT OR IGNORE INTO agents (tenant, slug, config, created_at) VALUES (?1, ?2, '{}', ?3)",
                    params![tenant, slug, at],
                )?;
            }
            transaction.commit()
        })
    }

    /// Notes that something was written to a space; only the first time costs a write.
    pub(super) fn note_written(&self, tenant: &Tenant, space: &Space) -> Result<()> {
        if self.was_written(tenant, space)? {
            return Ok(());
        }
        self.with(|connection| {
            connection.execute(
                "UPDATE spaces SET written = 1 WHERE tenant = ?1 AND name = ?2",
                params![tenant.name(), space.name()],
            )
        })
        .map(drop)
    }

    /// Whether something was ever written to a space.
    pub(super) fn was_written(&self, tenant: &Tenant, space: &Space) -> Result<bool> {
        let written: Option<bool> = self.with(|connection| {
            connection
                .prepare_cached("SELECT written FROM spaces WHERE tenant = ?1 AND name = ?2")?
                .query_row(params![tenant.name(), space.name()], |row| row.get(0))
                .optional()
        })?;
        Ok(written == Some(true))
    }

    /// The spaces of a tenant, by name.
    pub(super) fn spaces(&self, tenant: &Tenant) -> Result<Vec<Space>> {
        let names: Vec<String> = self.with(|connection| {
            connection
                .prepare_cached("SELECT name FROM spaces WHERE tenant = ?1 ORDER BY name")?
                .query_map([tenant.name()], |row| row.get(0))?
                .collect()
        })?;
        names.iter().map(|name| Ok(name.parse()?)).collect()
    }

    /// Adds an agent or gives a known one its configuration; true if it is new.
    pub(super) fn put_agent(&self, tenant: &Tenant, agent: &Agent) -> Result<bool> {
        let known = self.with(|connection| {
            connection
                .query_row(
                    "SELECT 1 FROM agents WHERE tenant = ?1 AND slug = ?2",
                    params![tenant.name(), agent.slug],
                    |_| Ok(()),
                )
                .optional()
        })?;
        self.register(tenant, &Space::Agent(agent.slug.clone()), agent.created_at)?;
        self.with(|connection| {
            connection.execute(
                "UPDATE agents SET config = ?3 WHERE tenant = ?1 AND slug = ?2",
                params![tenant.name(), agent.slug, agent.config.to_string()],
            )
        })?;
        Ok(known.is_none())
    }

    pub(super) fn agents(&self, tenant: &Tenant) -> Result<Vec<Agent>> {
        self.with(|connection| {
            connection
                .prepare_cached("SELECT slug, config, created_at FROM agents WHERE tenant = ?1 ORDER BY slug")?
                .query_map([tenant.name()], read_agent)?
                .collect()
        })
    }

    pub(super) fn agent(&self, tenant: &Tenant, slug: &str) -> Result<Option<Agent>> {
        self.with(|connection| {
            connection
                .prepare_cached("SELECT slug, config, created_at FROM agents WHERE tenant = ?1 AND slug = ?2")?
                .query_row([tenant.name(), slug], read_agent)
                .optional()
        })
    }

    /// Takes an agent and its space out; false if it was not there.
    pub(super) fn drop_agent(&self, tenant: &Tenant, slug: &str) -> Result<bool> {
        let space = Space::Agent(slug.to_owned()).name();
        self.with(|connection| {
            connection.execute("DELETE FROM spaces WHERE tenant = ?1 AND name = ?2", params![tenant.name(), space])?;
            connection
                .execute("DELETE FROM agents WHERE tenant = ?1 AND slug = ?2", params![tenant.name(), slug])
                .map(|gone| gone > 0)
        })
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
        self.with(|connection| {
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
        let given = self.with(|connection| {
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
        let said: String = self.with(|connection| connection.query_row("PRAGMA quick_check", [], |row| row.get(0)))?;
        Ok((said != "ok").then_some(said))
    }
}

fn read_agent(row: &rusqlite::Row<'_>) -> rusqlite::Result<Agent> {
    let config: String = row.get(1)?;
    Ok(Agent {
        slug: row.get(0)?,
        config: serde_json::from_str(&config).unwrap_or_default(),
        created_at: Timestamp::from_microsecond(row.get(2)?).unwrap_or_default(),
    })
}
