//! Collects access counts that wait to be written.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Mutex, PoisonError};

use loci_types::{Action, Bookkeeping, Change, Space, Tenant};

/// A space of a tenant.
type SpaceKey = (Tenant, Space);

/// For each space whose uses are being written, those that came meanwhile.
#[derive(Default)]
pub(crate) struct PendingAccesses {
    waiting: Mutex<HashMap<SpaceKey, Option<Change>>>,
}

impl PendingAccesses {
    /// Returns true if the caller must write the change, and false if it goes along with the next one of the space.
    pub(crate) fn begin(&self, place: &SpaceKey, change: &Change) -> bool {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        match waiting.entry(place.clone()) {
            Entry::Vacant(entry) => {
                entry.insert(None);
                true
            }
            Entry::Occupied(mut entry) => {
                let gathered = entry.get_mut();
                match (gathered.as_mut().map(|gathered| (&mut gathered.at, &mut gathered.action)), &change.action) {
                    (
                        Some((at, Action::Bookkeeping(Bookkeeping::Touch { ids }))),
                        Action::Bookkeeping(Bookkeeping::Touch { ids: more }),
                    ) => {
                        // An id that is named twice was used twice.
                        ids.extend(more);
                        *at = (*at).max(change.at);
                    }
                    _ => *gathered = Some(change.clone()),
                }
                false
            }
        }
    }

    /// The accesses that arrived while the last change was written. `None` if there were none.
    pub(crate) fn next(&self, place: &SpaceKey) -> Option<Change> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let next = waiting.get_mut(place).and_then(Option::take);
        if next.is_none() {
            waiting.remove(place);
        }
        next
    }
}
