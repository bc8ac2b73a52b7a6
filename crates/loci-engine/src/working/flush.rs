//! Flushes working memory: stores messages as turns of their conversation.
//!
//! **Invariant:** a message leaves working memory only when its turn is durable. Its id is the reference of the turn,
//! so a flush can be repeated without adding a turn twice. One flush at a time runs for a working memory; appends
//! continue meanwhile and do not wait.

use std::sync::Arc;

use jiff::Timestamp;
use loci_store::tier::WorkingKey;
use loci_types::Identifiers;

use super::memory::{WorkingBuffer, WorkingMessage};
use super::mirror::MirrorEntry;
use crate::access::policy::Caller;
use crate::{Engine, Result, Turn};

impl Engine {
    /// Stores the messages as turns if they have too many tokens. Returns the number of messages stored.
    pub(super) async fn flush_if_over(&self, slot: &Arc<WorkingBuffer>) -> Result<usize> {
        let most = self.config.working.flush_tokens;
        if !slot.state().may_exceed(most) {
            return Ok(0);
        }
        // Counted outside of the lock: others may go on.
        let memory = slot.state().memory.clone();
        let over = memory.tokens() > most;
        drop(memory);
        slot.state().recount();
        if !over {
            return Ok(0);
        }
        // If someone is at it already, that is enough.
        let Ok(_turn) = slot.flushing.try_lock() else { return Ok(0) };
        self.flush_held(slot).await
    }

    /// Stores all messages as turns now. Returns the number of messages stored.
    pub async fn flush_working(&self, caller: &Caller) -> Result<usize> {
        crate::access::policy::require_writer(caller)?;
        let place = crate::access::policy::working_key(caller)?;
        if self.working.mirror.is_none() && self.working.find(&place).is_none() {
            return Ok(0);
        }
        let slot = self.slot(&place, caller).await;
        let _turn = slot.flushing.lock().await;
        self.flush_held(&slot).await
    }

    /// Keeps everything as turns, for the end.
    pub(crate) async fn flush_all_working(&self) {
        for slot in self.working.all() {
            let _turn = slot.flushing.lock().await;
            if let Err(error) = self.flush_held(&slot).await {
                tracing::error!(%error, agent = slot.place.agent, "working memory could not be stored as turns");
            }
        }
    }

    /// Drops what nobody used for long, now and then; called from time to time while nobody asks.
    pub async fn tidy_working(&self) {
        for slot in self.working.idle(&self.config.working, self.now()) {
            let used = slot.used();
            self.evict(&slot, used).await;
        }
    }

    /// Drops the ones used longest ago until `more` bytes fit. What cannot be kept elsewhere stays.
    pub(super) async fn make_room(&self, slot: &Arc<WorkingBuffer>, more: usize) {
        self.tidy_working().await;
        let rules = &self.config.working;
        while let Some(victim) = self.working.victim(rules, more, slot) {
            let used = victim.used();
            if !self.evict(&victim, used).await && victim.used() == used {
                return;
            }
        }
        if !self.working.fits(rules, &slot.place, more)
            && let Ok(_turn) = slot.flushing.try_lock()
            && let Err(error) = self.flush_held(slot).await
        {
            tracing::warn!(%error, "working memory could not be stored as turns");
        }
    }

    /// Keeps the messages of a working memory as turns and drops it, unless it was used meanwhile or they could
    /// not be kept. True if it is gone.
    pub(super) async fn evict(&self, slot: &Arc<WorkingBuffer>, used: u64) -> bool {
        let _turn = slot.flushing.lock().await;
        if let Err(error) = self.flush_held(slot).await {
            tracing::warn!(%error, agent = slot.place.agent, "working memory was not cleared, because it could not be stored as turns");
            return false;
        }
        self.working.drop_if(slot, used)
    }

    /// The caller holds `flushing`: nobody else takes messages away.
    async fn flush_held(&self, slot: &WorkingBuffer) -> Result<usize> {
        let (messages, owner) = {
            let state = slot.state();
            (state.memory.messages.clone(), state.owner.clone())
        };
        if messages.is_empty() {
            return Ok(0);
        }
        // All messages are of one place, whoever appended or loaded them, so they are stored for this place.
        let owner = of_place(&slot.place, owner);
        let erased = self.erased_at(&slot.place).await;
        let (mut done, mut kept, mut failure) = (0, 0, None);
        for message in &messages {
            if slot.state().gone {
                break;
            }
            if erased.is_none_or(|at| message.at > at) {
                if let Err(error) = self.ingest(&owner, turn(&slot.place, message)).await {
                    failure = Some(error);
                    break;
                }
                kept += 1;
            }
            done += 1;
        }
        let gone = &messages[..done];
        {
            let mut state = slot.state();
            let before = state.bytes();
            state.take_front(gone);
            self.working.shrank(&slot.place, before - state.bytes());
        }
        if let Some(mirror) = &self.working.mirror {
            mirror.remove(&slot.place, gone.iter().cloned().map(MirrorEntry::Message).collect()).await;
        }
        failure.map_or(Ok(kept), Err)
    }

    /// When the user of this working memory was erased by some process; what is older must not come back.
    async fn erased_at(&self, place: &WorkingKey) -> Option<Timestamp> {
        let mirror = self.working.mirror.as_ref()?;
        mirror.tier().erased(&place.tenant, &place.user).await.unwrap_or_else(|error| {
            mirror.failed(error.to_string());
            None
        })
    }
}

/// The caller who stores the messages of a place. Bounds of a credential were checked when they were appended.
fn of_place(place: &WorkingKey, last: Caller) -> Caller {
    let agent_id = Some(place.agent.clone()).filter(|agent| !agent.is_empty());
    let identifiers = Identifiers {
        agent_id,
        user_id: Some(place.user.clone()),
        session_id: place.session.clone(),
        ..Identifiers::default()
    };
    Caller {
        tenant: last.tenant,
        actor: last.actor,
        credential: last.credential,
        request: last.request,
        ..Caller::new(identifiers)
    }
}

/// The conversation that messages belong to unless they say so: the session, or all of what the agent does.
pub(super) fn thread(place: &WorkingKey) -> String {
    match (&place.session, place.agent.as_str()) {
        (Some(session), _) => session.clone(),
        (None, "") => "working".to_owned(),
        (None, agent) => format!("working {agent}"),
    }
}

/// A message as a turn: the same message is always the same turn.
fn turn(place: &WorkingKey, message: &WorkingMessage) -> Turn {
    Turn {
        thread_id: message.thread_id.clone().unwrap_or_else(|| thread(place)),
        content: message.content.clone(),
        actor_id: message.actor_id.clone(),
        role: message.role.clone(),
        event_time: Some(message.at),
        reference: Some(format!("working {}", message.id)),
        metadata: message.metadata.clone(),
        layer: None,
    }
}
