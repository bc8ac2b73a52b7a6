//! The working memories of this process, and their eviction.
//!
//! They are bounded by number, bytes and idle time, together and for each tenant and user. **Invariant:** who exceeds a
//! bound loses their own first; at the bound for all, those who hold no less than the average do. One lock guards the map, another
//! each working memory, and a third the shares; code that holds several takes them in this order, and none is held
//! across an await.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use loci_store::tier::{Tier, WorkingKey};

use super::memory::WorkingBuffer;
use super::mirror::Mirror;
use super::shares::Shares;
use crate::Working;
use crate::access::policy::Caller;

/// All working memories of this process.
#[derive(Default)]
pub(crate) struct WorkingMemories {
    slots: Mutex<HashMap<WorkingKey, Arc<WorkingBuffer>>>,
    shares: Mutex<Shares>,
    uses: AtomicU64,
    /// When it was last looked for idle ones, in microseconds.
    swept: AtomicI64,
    pub(super) mirror: Option<Mirror>,
}

impl WorkingMemories {
    /// With a tier that outlives them.
    pub(crate) fn mirrored(tier: Arc<dyn Tier>) -> Self {
        Self { mirror: Some(Mirror::new(tier)), ..Self::default() }
    }

    /// Whether they are read back after a restart.
    pub(crate) fn outlive(&self) -> bool {
        self.mirror.is_some()
    }

    /// Returns when the tier has heard of everything until now.
    pub(crate) async fn mirrored_up_to_now(&self) {
        if let Some(mirror) = &self.mirror {
            mirror.caught_up().await;
        }
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<WorkingKey, Arc<WorkingBuffer>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The one at this place, if it is here.
    pub(super) fn find(&self, place: &WorkingKey) -> Option<Arc<WorkingBuffer>> {
        self.slots().get(place).cloned()
    }

    /// The one at this place, new if there is none.
    pub(super) fn find_or_make(&self, place: &WorkingKey, caller: &Caller, now: Timestamp) -> Arc<WorkingBuffer> {
        let mut slots = self.slots();
        if let Some(slot) = slots.get(place) {
            return slot.clone();
        }
        let slot = Arc::new(WorkingBuffer::new(place.clone(), caller.clone()));
        self.touch(&slot, now);
        slots.insert(place.clone(), slot.clone());
        self.shares().count(place, 1, 0);
        slot
    }

    fn shares(&self) -> MutexGuard<'_, Shares> {
        self.shares.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a use.
    pub(super) fn touch(&self, slot: &WorkingBuffer, now: Timestamp) {
        slot.touch(self.uses.fetch_add(1, Ordering::Relaxed), now);
    }

    /// Counts bytes that came to a working memory.
    pub(super) fn grew(&self, place: &WorkingKey, bytes: usize) {
        self.shares().count(place, 0, bytes as isize);
    }

    /// Counts bytes that went from a working memory.
    pub(super) fn shrank(&self, place: &WorkingKey, bytes: usize) {
        self.shares().count(place, 0, -(bytes as isize));
    }

    /// Whether `more` bytes fit within the bounds of the owner and of all.
    pub(super) fn fits(&self, rules: &Working, place: &WorkingKey, more: usize) -> bool {
        self.shares().exceeded(rules, place, more).is_none_or(|exceeded| !exceeded.by_bytes)
    }

    /// The one to go so that `more` bytes fit within the bounds: of those who have to give way the one used longest ago,
    /// but not `except`.
    pub(super) fn victim(
        &self,
        rules: &Working,
        more: usize,
        except: &Arc<WorkingBuffer>,
    ) -> Option<Arc<WorkingBuffer>> {
        let exceeded = self.shares().exceeded(rules, &except.place, more)?;
        let slots = self.slots();
        let candidates = slots.values().filter(|slot| exceeded.concerns(&slot.place) && !Arc::ptr_eq(slot, except));
        candidates.min_by_key(|slot| slot.used()).cloned()
    }

    /// Those that nobody used for long, looked for at most once in a tenth of that time.
    pub(super) fn idle(&self, rules: &Working, now: Timestamp) -> Vec<Arc<WorkingBuffer>> {
        let (life, now) = (idle_micros(rules), now.as_microsecond());
        let swept = self.swept.load(Ordering::Relaxed);
        if now - swept < life / 10 && now >= swept {
            return Vec::new();
        }
        self.swept.store(now, Ordering::Relaxed);
        self.slots().values().filter(|slot| now - slot.used_at() >= life).cloned().collect()
    }

    /// All of them.
    pub(super) fn all(&self) -> Vec<Arc<WorkingBuffer>> {
        self.slots().values().cloned().collect()
    }

    /// Drops one that has no messages left and was not used since; false if it has to stay.
    pub(super) fn drop_if(&self, slot: &Arc<WorkingBuffer>, used: u64) -> bool {
        let mut slots = self.slots();
        let mut state = slot.state();
        if state.gone || !state.memory.messages.is_empty() || slot.used() != used {
            return state.gone;
        }
        state.gone = true;
        self.shares().count(&slot.place, -1, -(state.bytes() as isize));
        slots.remove(&slot.place);
        true
    }

    /// Drops those of a user with all that is in them.
    pub(super) fn drop_user(&self, tenant: &str, user: &str) -> usize {
        let mut slots = self.slots();
        let before = slots.len();
        slots.retain(|place, slot| {
            if (place.tenant.as_str(), place.user.as_str()) != (tenant, user) {
                return true;
            }
            let mut state = slot.state();
            state.gone = true;
            self.shares().count(place, -1, -(state.clear() as isize));
            false
        });
        before - slots.len()
    }

    /// Drops all working memories of a tenant.
    pub(crate) fn drop_tenant(&self, tenant: &str) {
        self.slots().retain(|place, slot| {
            if place.tenant != tenant {
                return true;
            }
            let mut state = slot.state();
            state.gone = true;
            self.shares().count(place, -1, -(state.clear() as isize));
            false
        });
    }
}

/// How long one may be idle, in microseconds.
pub(super) fn idle_micros(rules: &Working) -> i64 {
    i64::from(rules.idle_minutes) * 60_000_000
}
