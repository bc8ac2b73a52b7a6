//! Stores turns of conversations.
//!
//! A turn is an episodic memory, linked to the previous one in its thread. No model is called; the vector is computed
//! by a job. A turn above the maximum length of a memory is split into several, with the same reference. When a
//! thread continues in another session, or a user begins a new one in any thread, the earlier sessions are closed and
//! jobs to learn from them are queued.
//! **Invariant:** turn, edge, session and jobs are one transaction.

use jiff::Timestamp;
use loci_types::{
    Action, Bookkeeping, Error, ErrorKind, Kind, Layer, Memory, Receipt, Scope, SessionFilter, Source, Visible,
    normalise,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::access::bounds;
use crate::access::categories::Categories;
use crate::access::policy::{self, Caller};
use crate::access::redact::Pass;
use crate::write::remember::Embed;
use crate::{Engine, NewMemory, Result, optional_instant};

/// One turn of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Turn {
    /// The thread.
    pub thread_id: String,
    /// The text.
    pub content: String,
    /// The person or agent that said it.
    pub actor_id: Option<String>,
    /// The role: `user`, `assistant`, `tool` or `system`.
    pub role: Option<String>,
    /// When it was said: an instant, or a day.
    #[serde(deserialize_with = "optional_instant")]
    pub event_time: Option<Timestamp>,
    /// The id of the message.
    pub reference: Option<String>,
    /// Further fields, by name.
    pub metadata: Map<String, Value>,
    /// The layer. Default: the most specific one that the identifiers allow.
    pub layer: Option<Layer>,
}

/// Maximum number of open sessions that a new one closes.
const MAX_LEFT: usize = 100;

/// The roles of a speaker.
const ROLES: [&str; 9] = ["user", "assistant", "tool", "system", "human", "ai", "agent", "function", "developer"];

impl Engine {
    /// Stores turns, in their order. All are validated before the first is stored.
    pub async fn ingest_many(&self, caller: &Caller, turns: Vec<Turn>) -> Result<Vec<Vec<Receipt>>> {
        policy::require_writer(caller)?;
        for turn in &turns {
            self.target(caller, turn.layer).await?;
            self.check_turn(turn)?;
            session_of_turn(caller, turn)?;
            // What would be refused is refused before anything is taken in.
            Pass::strict(&self.redactor).turn(&mut turn.clone())?;
        }
        let mut receipts = Vec::with_capacity(turns.len());
        for turn in turns {
            receipts.push(self.ingest(caller, turn).await?);
        }
        Ok(receipts)
    }

    pub(crate) fn check_turn(&self, turn: &Turn) -> Result<()> {
        if turn.thread_id.trim().is_empty() {
            return Err(Error::invalid("threadId", "threadId is empty").hint("name the conversation").into());
        }
        if let Some(role) = turn.role.as_deref().filter(|role| !ROLES.contains(role)) {
            return Err(Error::invalid("role", format!("`{role}` is not a role"))
                .hint(format!("use one of {}", ROLES.join(", ")))
                .into());
        }
        bounds::short("threadId", Some(&turn.thread_id), bounds::REFERENCE)?;
        bounds::short("actorId", turn.actor_id.as_deref(), bounds::REFERENCE)?;
        bounds::short("reference", turn.reference.as_deref(), bounds::REFERENCE)?;
        self.check_metadata(&turn.metadata)?;
        pieces(&turn.content, self.config.limits.content_characters)
            .into_iter()
            .try_for_each(|piece| self.check_content(piece))
    }

    /// Stores one turn. The receipts are durable, one per part.
    pub async fn ingest(&self, caller: &Caller, mut turn: Turn) -> Result<Vec<Receipt>> {
        policy::require_writer(caller)?;
        // Before it is cut: half a secret is not known for one.
        let mut pass = Pass::strict(&self.redactor);
        pass.turn(&mut turn)?;
        let redacted = pass.found();
        turn.thread_id = normalise(&turn.thread_id).into_owned();
        let scope = self.target(caller, turn.layer).await?;
        let seen = policy::visible_scope(caller, &scope, None);
        self.check_turn(&turn)?;
        self.check_thread(caller, &scope, &turn.thread_id).await?;
        let before = self.store.last_of_thread(&seen, &scope, &turn.thread_id).await?;
        // A memory that `remember` added to a thread does not count as a turn of it.
        let before = before.filter(|memory| memory.kind.name() == Kind::EPISODIC);
        let mut follows = before.as_ref().map(|memory| memory.id);
        let session = session_of_turn(caller, &turn)?;
        let earlier = before.as_ref().map(|memory| session_of(memory, &turn.thread_id));
        let said = turn.event_time.filter(|said| *said < self.now());
        let left = self.sessions_left(caller, &seen, &scope, &session, (earlier, said)).await?;
        let mut more = vec![Action::Bookkeeping(Bookkeeping::Attend {
            scope: scope.clone(),
            session: session.clone(),
            thread: turn.thread_id.clone(),
        })];
        for earlier in left {
            // A turn does not fail for what an earlier session leaves behind.
            if let Err(error) = self.end_entries(caller, &earlier, &[]).await {
                tracing::warn!(%error, "entries of a session that is over were not remembered");
            }
            if let Err(error) = self.end_own_layer(caller, &scope, &earlier).await {
                tracing::warn!(%error, "the memories of a session that is over were not promoted");
            }
            more.extend(self.closing(&scope, &earlier, self.now()));
        }
        let mut receipts = Vec::new();
        for piece in pieces(&turn.content, self.config.limits.content_characters) {
            let new = NewMemory {
                content: piece.to_owned(),
                layer: turn.layer,
                kind: Some(Kind::EPISODIC.to_owned()),
                category: self.turn_category(),
                metadata: turn.metadata.clone(),
                source: Some(Source {
                    kind: "conversation".to_owned(),
                    role: turn.role.clone(),
                    reference: turn.reference.clone(),
                }),
                event_time: turn.event_time,
                said_at: turn.event_time,
                thread_id: Some(turn.thread_id.clone()),
                actor_id: turn.actor_id.clone(),
                role: turn.role.clone(),
                ..NewMemory::default()
            };
            let mut addition = self.admit_into(caller, &scope, new, follows)?;
            // Without a reference or an event time, a repeated turn cannot be distinguished from a new one.
            if turn.reference.is_none() && turn.event_time.is_none() {
                addition.unless = None;
            }
            let more = std::mem::take(&mut more);
            let reason = "turn of a conversation";
            self.embed_addition(&mut addition, Embed::Later).await;
            let receipt = self.add_as("episodic", caller, scope.clone(), addition, reason, more).await?;
            follows = Some(receipt.id);
            receipts.push(Receipt { redacted: redacted.clone(), ..receipt });
        }
        Ok(receipts)
    }

    /// Refuses a thread that belongs to a session which the credential does not reach.
    pub(crate) async fn check_thread(&self, caller: &Caller, scope: &Scope, thread: &str) -> Result<()> {
        if caller.sessions.is_empty() {
            return Ok(());
        }
        let whole = policy::visible_for_maintenance(&caller.tenant, scope);
        let last = self.store.last_of_thread(&whole, scope, thread).await?;
        match last.map(|memory| session_of(&memory, thread)) {
            Some(session) => policy::session_named(caller, &session).map(drop).map_err(|_| {
                let message = format!("thread `{thread}` belongs to a session that this credential does not reach");
                Error::new(ErrorKind::Unauthorized, message).at("threadId").hint("use another threadId").into()
            }),
            None => Ok(()),
        }
    }

    /// The sessions that a turn of `session` leaves behind: the one in which its thread was before, and, if the session
    /// is new, all open ones of its user. Scopes without a user are shared, so nobody's session ends another's there.
    async fn sessions_left(
        &self,
        caller: &Caller,
        seen: &Visible,
        scope: &Scope,
        session: &str,
        (earlier, said): (Option<String>, Option<Timestamp>),
    ) -> Result<Vec<String>> {
        if earlier.as_deref() == Some(session) {
            return Ok(Vec::new());
        }
        let mut left: Vec<String> = earlier.into_iter().collect();
        if scope.identifiers().user_id.is_none() || !caller.sessions.is_empty() {
            return Ok(left);
        }
        let known = SessionFilter { session_id: Some(session.to_owned()), ..SessionFilter::default() };
        if !self.store.sessions(seen, &known, 1).await?.is_empty() {
            return Ok(left);
        }
        // An old turn that comes late, from working memory or an import, ends no session that went on after it.
        let open = SessionFilter { ended: Some(false), quiet_since: said, ..SessionFilter::default() };
        for other in self.store.sessions(seen, &open, MAX_LEFT).await? {
            if !left.contains(&other.session_id) {
                left.push(other.session_id);
            }
        }
        Ok(left)
    }
}

impl Engine {
    /// The category of turns, where categories are configured: without one, an agent with an allowlist would see none.
    fn turn_category(&self) -> Option<String> {
        let configured = self.config.categories != Categories::default();
        self.config.learning.categories.get(Kind::EPISODIC).filter(|_| configured).cloned()
    }
}

/// The session of a new turn: the one that the caller names, or its thread. A credential that is bound to sessions writes
/// turns of no others, and into no thread that belongs to another.
fn session_of_turn(caller: &Caller, turn: &Turn) -> Result<String> {
    match &caller.identifiers.session_id {
        Some(session) => Ok(session.clone()),
        None => Ok(policy::session_named(caller, &turn.thread_id)?),
    }
}

/// The session that a turn belongs to: its own, or its thread.
fn session_of(memory: &Memory, thread: &str) -> String {
    memory.identifiers.session_id.clone().unwrap_or_else(|| thread.to_owned())
}

/// Splits a text into parts of at most `most` characters, at the end of a paragraph, sentence or word where one is
/// near.
pub(crate) fn pieces(text: &str, most: usize) -> Vec<&str> {
    let mut rest = text;
    let mut pieces = Vec::new();
    while let Some((end, _)) = rest.char_indices().nth(most) {
        let head = &rest[..end];
        // Only the second half is searched, so that a piece is never small.
        let late = |at: &usize| *at >= end / 2;
        let cut = head
            .rfind("\n\n")
            .filter(late)
            .or_else(|| head.rfind(". ").map(|at| at + 1).filter(late))
            .or_else(|| head.rfind(char::is_whitespace).filter(late))
            .unwrap_or(end);
        pieces.push(rest[..cut].trim_end());
        rest = rest[cut..].trim_start();
    }
    if !rest.is_empty() || pieces.is_empty() {
        pieces.push(rest);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::pieces;

    // Coverage: SPEC-6.3.
    #[test]
    fn a_long_turn_is_split_between_sentences() {
        assert_eq!(pieces("short", 10), ["short"]);
        assert_eq!(pieces("", 10), [""]);
        assert_eq!(pieces("one two three four", 10), ["one two", "three four"]);
        assert_eq!(pieces("Aaaa bbb. Ccc ddd", 12), ["Aaaa bbb.", "Ccc ddd"]);
        assert_eq!(pieces("ääääääääää", 4), ["ääää", "ääää", "ää"]);
        assert_eq!(pieces("aaaaaa\n\nbbb ccc", 12), ["aaaaaa", "bbb ccc"]);
    }
}
