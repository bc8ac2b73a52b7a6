//! Requests of each tenant since the server was started.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The counts. Only tenants of credentials that were proved are counted, so there are no more than that.
#[derive(Debug, Default)]
pub(crate) struct RequestCounts(Mutex<HashMap<String, u64>>);

impl RequestCounts {
    /// Counts a request.
    pub(crate) fn add(&self, tenant: &str) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match counts.get_mut(tenant) {
            Some(count) => *count += 1,
            None => drop(counts.insert(tenant.to_owned(), 1)),
        }
    }

    /// The number of requests of a tenant.
    pub(crate) fn count(&self, tenant: &str) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(tenant).copied().unwrap_or(0)
    }

    /// Forgets a tenant that was removed.
    pub(crate) fn forget(&self, tenant: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(tenant);
    }
}
