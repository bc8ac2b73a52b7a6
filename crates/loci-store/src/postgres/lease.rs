//! Who does the work that only one may do?
//!
//! Whoever has it holds an advisory lock on a connection that this server keeps for all its leases, and
//! that a server which dies lets go at once. Within one server, holders tell each other by name and
//! instant, as with files. Clocks of different servers are never compared.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use loci_types::Tenant;

use super::{Session, Sessions};
use crate::sql::{self, Connection, params};

/// The work that someone in this process has.
pub(super) struct Leases {
    sessions: Sessions,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    session: Option<Session>,
    leases: HashMap<(Tenant, String), Lease>,
}

struct Lease {
    holder: String,
    until: i64,
}

/// The number of a lock.
const LOCK: &str = "hashtextextended(current_schema()::text || ' ' || ?1 || ' ' || ?2, 0)";

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
        let now = now.as_microsecond();
        let until = now.saturating_add(lease.as_micros() as i64);
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let session = match held.session.take().filter(|session| session.run("SELECT 1").is_ok()) {
            Some(session) => session,
            None => {
                // The locks went with their connection.
                held.leases.clear();
                self.sessions.take()?
            }
        };
        let key = (tenant.clone(), name.to_owned());
        let taken = match held.leases.get(&key) {
            Some(known) => known.holder == holder || known.until <= now,
            None => {
                let sql = format!("SELECT pg_try_advisory_lock({LOCK})");
                match (&session as &dyn Connection).query_row(&sql, params![tenant.name(), name], |row| row.get(0)) {
                    Ok(taken) => taken,
                    Err(error) => {
                        // It may have been taken and not told: it goes with the connection.
                        session.discard();
                        held.leases.clear();
                        return Err(error);
                    }
                }
            }
        };
        if taken {
            held.leases.insert(key, Lease { holder: holder.to_owned(), until });
        }
        held.session = Some(session);
        Ok(taken)
    }

    /// Gives the work back.
    pub(super) fn give(&self, tenant: &Tenant, name: &str, holder: &str) {
        let key = (tenant.clone(), name.to_owned());
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.leases.get(&key).is_none_or(|known| known.holder != holder) {
            return;
        }
        held.leases.remove(&key);
        let sql = format!("SELECT pg_advisory_unlock({LOCK})");
        let given = held.session.as_ref().map(|session| {
            (session as &dyn Connection).query_row(&sql, params![tenant.name(), name], |row| row.get::<_, bool>(0))
        });
        if matches!(given, Some(Err(_)))
            && let Some(session) = held.session.take()
        {
            session.discard();
            held.leases.clear();
        }
    }
}
