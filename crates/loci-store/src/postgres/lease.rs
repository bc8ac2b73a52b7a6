//! Who does the work that only one may do?
//!
//! Whoever has it holds an advisory lock on a connection of its own, which a server that dies lets go
//! at once. Within one server, holders tell each other by name and instant, as in a file. Clocks of
//! different servers are never compared.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use loci_types::Tenant;

use super::{Session, Sessions};
use crate::sql::{self, Connection, params};

/// The locks that someone in this process has taken.
pub(super) struct Leases {
    sessions: Sessions,
    held: Mutex<HashMap<(Tenant, String), Held>>,
}

struct Held {
    session: Session,
    holder: String,
    until: i64,
}

impl Leases {
    pub(super) fn new(sessions: Sessions) -> Self {
        Self { sessions, held: Mutex::default() }
    }

    /// Takes the work: it is free, ours already, its holder here is overdue, or its server is gone.
    pub(super) fn take(
        &self,
        tenant: &Tenant,
        name: &str,
        holder: &str,
        now: Timestamp,
        lease: Duration,
    ) -> sql::Result<bool> {
        let key = (tenant.clone(), name.to_owned());
        let now = now.as_microsecond();
        let until = now.saturating_add(lease.as_micros() as i64);
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = held.get_mut(&key) {
            // A lock whose connection was lost is nobody's.
            if known.session.run("SELECT 1").is_ok() {
                let free = known.holder == holder || known.until <= now;
                if free {
                    (known.holder, known.until) = (holder.to_owned(), until);
                }
                return Ok(free);
            }
            if let Some(lost) = held.remove(&key) {
                lost.session.discard();
            }
        }
        let session = self.sessions.take()?;
        let sql = "SELECT pg_try_advisory_lock(hashtextextended(current_schema()::text || ' ' || ?1 || ' ' || ?2, 0))";
        let taken = Connection::Postgres(&session).query_row(sql, params![tenant.name(), name], |row| row.get(0))?;
        if taken {
            held.insert(key, Held { session, holder: holder.to_owned(), until });
        }
        Ok(taken)
    }

    /// Gives the work back.
    pub(super) fn give(&self, tenant: &Tenant, name: &str, holder: &str) {
        let key = (tenant.clone(), name.to_owned());
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.get(&key).is_some_and(|known| known.holder == holder)
            && let Some(given) = held.remove(&key)
        {
            // The lock goes with the connection.
            given.session.discard();
        }
    }
}
