//! Leases on work that only one process may do at a time.
//!
//! A lease is an advisory lock on one connection that this process keeps for all its leases. The connection belongs to
//! no pool and bypasses any pooler, so the server releases the locks when it ends and no other client can get it. After
//! any failure it is closed with all its locks. Within one process, holders are distinguished by name and expiry, as
//! with files. Clocks of different machines are never compared.

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
    held: Mutex<HeldLease>,
}

#[derive(Default)]
struct HeldLease {
    /// None until the first lease is requested, and after a failure.
    connection: Option<Direct>,
    leases: HashMap<(Tenant, String), Lease>,
}

/// A connection outside the pool. Dropping it closes its socket.
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

/// The number of an advisory lock. Parameters: the schema, the tenant and the name.
const LOCK: &str = "hashtextextended($1::text || ' ' || $2 || ' ' || $3, 0)";

impl Leases {
    pub(super) fn new(address: Address, schema: &str, handle: Handle, timeout: Duration) -> Self {
        Self { address, schema: schema.to_owned(), handle, timeout, held: Mutex::default() }
    }

    /// Takes or renews a lease. Returns whether `holder` has it: it was free, already held by `holder`, expired in this
    /// process, or its process has ended. Blocks.
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

    /// Releases a lease. Blocks.
    pub(super) fn give(&self, tenant: &Tenant, name: &str, holder: &str) {
        let key = (tenant.clone(), name.to_owned());
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.leases.get(&key).is_none_or(|known| known.holder != holder) {
            return;
        }
        held.leases.remove(&key);
        // If this fails, the connection is closed, which releases the lock.
        drop(self.ask(&mut held, &format!("SELECT pg_advisory_unlock({LOCK})"), tenant, name));
    }

    /// Connects unless there is a connection that answers.
    fn connect(&self, held: &mut HeldLease) -> Result<()> {
        if held.connection.is_some() && self.wait(held, async |client| client.batch_execute("SELECT 1").await).is_ok() {
            return Ok(());
        }
        let (client, driver) = self.handle.block_on(self.address.driven())?;
        held.connection = Some(Direct { client, driver });
        Ok(())
    }

    fn ask(&self, held: &mut HeldLease, sql: &str, tenant: &Tenant, name: &str) -> Result<bool> {
        let (tenant, name) = (tenant.name().to_owned(), name.to_owned());
        self.wait(held, async |client| Ok(client.query_one(sql, &[&self.schema, &tenant, &name]).await?.get(0)))
    }

    /// Runs a query with a timeout. After any failure the connection is closed with all its locks, because one may have
    /// been taken although the answer was lost.
    fn wait<T>(
        &self,
        held: &mut HeldLease,
        work: impl AsyncFnOnce(&Client) -> Result<T, tokio_postgres::Error>,
    ) -> Result<T> {
        let Some(connection) = &held.connection else { return Err(Error::Closed) };
        let answer = self.handle.block_on(async { tokio::time::timeout(self.timeout, work(&connection.client)).await });
        let answer = match answer {
            Ok(answer) => answer.map_err(|error| super::sql_error(error.into())),
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
