//! Leases on work that only one process may do at a time.
//!
//! Whoever has a lease holds an advisory lock on a connection of its own that this process keeps for all its leases. It comes
//! from no pool and goes past any pooler: the server releases the locks when this connection ends, and nobody else ever gets
//! it. A connection that fails in any way is closed with all its locks. Within one process, holders are told apart by name and
//! instant, as with files. Clocks of different servers are never compared.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use loci_types::Tenant;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio_postgres::Client;

use super::Address;
use crate::{Error, Result};

/// The leases of this process.
pub(super) struct Leases {
    address: Address,
    schema: String,
    handle: Handle,
    timeout: Duration,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    /// None until a lease is first asked for, and after the connection failed.
    connection: Option<Direct>,
    leases: HashMap<(Tenant, String), Lease>,
}

/// A connection outside the pool. Its socket is closed when it is dropped.
struct Direct {
    client: Client,
    driver: JoinHandle<()>,
}

impl Drop for Direct {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

struct Lease {
    holder: String,
    until: i64,
}

/// The number of a lock: the schema, the tenant and the name follow.
const LOCK: &str = "hashtextextended($1::text || ' ' || $2 || ' ' || $3, 0)";

impl Leases {
    pub(super) fn new(address: Address, schema: &str, handle: Handle, timeout: Duration) -> Self {
        Self { address, schema: schema.to_owned(), handle, timeout, held: Mutex::default() }
    }

    /// Takes the lease: it is free, ours already, its holder here is overdue, or its server is gone. Blocks.
    pub(super) fn take(
        &self,
        tenant: &Tenant,
        name: &str,
        holder: &str,
        now: Timestamp,
        lease: Duration,
    ) -> Result<bool> {
        let now = now.as_microsecond();
        let until = now.saturating_add(lease.as_micros() as i64);
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        self.connect(&mut held)?;
        let key = (tenant.clone(), name.to_owned());
        let taken = match held.leases.get(&key) {
            Some(known) => known.holder == holder || known.until <= now,
            None => self.ask(&mut held, &format!("SELECT pg_try_advisory_lock({LOCK})"), tenant, name)?,
        };
        if taken {
            held.leases.insert(key, Lease { holder: holder.to_owned(), until });
        }
        Ok(taken)
    }

    /// Gives the lease back. Blocks.
    pub(super) fn give(&self, tenant: &Tenant, name: &str, holder: &str) {
        let key = (tenant.clone(), name.to_owned());
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.leases.get(&key).is_none_or(|known| known.holder != holder) {
            return;
        }
        held.leases.remove(&key);
        // If this fails, the connection is closed and the lock goes with it.
        drop(self.ask(&mut held, &format!("SELECT pg_advisory_unlock({LOCK})"), tenant, name));
    }

    /// Makes sure that there is a connection that answers.
    fn connect(&self, held: &mut Held) -> Result<()> {
        if held.connection.is_some() && self.wait(held, async |client| client.batch_execute("SELECT 1").await).is_ok() {
            return Ok(());
        }
        let (client, driver) = self.handle.block_on(self.address.driven())?;
        held.connection = Some(Direct { client, driver });
        Ok(())
    }

    fn ask(&self, held: &mut Held, sql: &str, tenant: &Tenant, name: &str) -> Result<bool> {
        let (tenant, name) = (tenant.name().to_owned(), name.to_owned());
        self.wait(held, async |client| Ok(client.query_one(sql, &[&self.schema, &tenant, &name]).await?.get(0)))
    }

    /// Asks the server. A connection that does not answer well is closed, and the locks on it are gone: one may have been
    /// taken without anyone knowing.
    fn wait<T>(
        &self,
        held: &mut Held,
        work: impl AsyncFnOnce(&Client) -> Result<T, tokio_postgres::Error>,
    ) -> Result<T> {
        let Some(connection) = &held.connection else { return Err(Error::Closed) };
        let answer = self.handle.block_on(async { tokio::time::timeout(self.timeout, work(&connection.client)).await });
        let answer = match answer {
            Ok(answer) => answer.map_err(|error| super::said(error.into())),
            Err(_) => Err(Error::Unavailable {
                part: "postgres".to_owned(),
                problem: format!("no answer within {} ms", self.timeout.as_millis()),
            }),
        };
        if answer.is_err() {
            held.connection = None;
            held.leases.clear();
        }
        answer
    }
}
