//! Writes the items that an importer read.
//!
//! Each item is validated, masked and scored as by `remember`, keeps its original times, and gets an id derived from
//! its source. **Invariant:** importing a file twice adds nothing new, even if memories were forgotten in between.
//! Decay starts at the import.

use jiff::Timestamp;
use loci_types::{Action, Batch, Bookkeeping, Kind, Memory, MemoryId, Scope, Source};
use serde_json::{Map, Value, json};
use uuid::{Builder, Uuid};

use super::{SourceConversation, SourceFormat, SourceItem, SourceMemory, SourceTurn};
use crate::access::policy::{self, Caller};
use crate::access::redact::Pass;
use crate::portability::json_lines::{ImportOptions, ImportOutcome, IncomingRecord};
use crate::write::ingest::pieces;
use crate::{Engine, NewMemory, Result};

/// An imported item and its outcome.
#[derive(Debug)]
pub struct ImportedItem {
    /// The outcome.
    pub outcome: ImportOutcome,
    /// Its kind.
    pub kind: String,
    /// Its owner.
    pub owner: String,
    /// Its thread.
    pub thread: Option<String>,
    /// The beginning of its text.
    pub text: String,
}

impl ImportedItem {
    /// An item that was refused.
    fn refused(error: crate::Error) -> Self {
        let (kind, owner, text) = Default::default();
        Self { outcome: ImportOutcome::Refused(error), kind, owner, thread: None, text }
    }
}

/// Maximum number of characters of a text in the report.
const MAX_PREVIEW_CHARACTERS: usize = 100;

/// What the session of an imported conversation needs.
struct ConversationSession {
    scope: Scope,
    thread: String,
    from: Option<Timestamp>,
    until: Option<Timestamp>,
    /// The indexes of its turns among the imported records.
    places: std::ops::Range<usize>,
}

impl Engine {
    /// Imports items of another system. `owner` is the owner where the file names none. Returns one result for each
    /// memory.
    pub async fn import_items(
        &self,
        owner: &Caller,
        format: SourceFormat,
        brought: Vec<SourceItem>,
        how: &mut ImportOptions,
    ) -> Result<Vec<ImportedItem>> {
        let keeper = Caller { tenant: owner.tenant.clone(), ..Caller::operator() };
        let (mut incoming, mut taken, mut talks) = (Vec::new(), Vec::new(), Vec::new());
        for one in brought {
            let mut refused = Vec::new();
            match one {
                SourceItem::Memory(draft) => match self.memory_records(owner, format, *draft) {
                    Ok(records) => incoming.extend(records),
                    Err(error) => refused.push(error),
                },
                SourceItem::Conversation(talk) => match self.conversation_records(owner, format, talk, &mut refused) {
                    Ok((scope, thread, turns)) => {
                        let places = incoming.len()..incoming.len() + turns.len();
                        let from = turns.first().and_then(|turn| turn.memory.event_time);
                        let until = turns.iter().filter_map(|turn| turn.memory.event_time).max();
                        talks.push(ConversationSession { scope, thread, from, until, places });
                        incoming.extend(turns);
                    }
                    Err(error) => refused.push(error),
                },
            }
            taken.extend(refused.into_iter().map(ImportedItem::refused));
        }
        let shown: Vec<_> = incoming.iter().map(|one| show(&one.memory)).collect();
        let outcomes = self.import_records(&keeper, incoming, how).await?;
        // Sessions are learned from; what waits for a review must not be.
        if !how.dry_run && !how.quarantine {
            self.update_sessions(&keeper, &talks, &outcomes).await?;
        }
        let items = outcomes.into_iter().zip(shown);
        taken.extend(items.map(|(outcome, (kind, owner, thread, text))| ImportedItem {
            outcome,
            kind,
            owner,
            thread,
            text,
        }));
        Ok(taken)
    }

    /// Records imported conversations as sessions, from their first turn to their last. They are learned from like
    /// any other session that has ended.
    async fn update_sessions(
        &self,
        caller: &Caller,
        talks: &[ConversationSession],
        outcomes: &[ImportOutcome],
    ) -> Result<()> {
        for talk in talks {
            if !outcomes[talk.places.clone()].iter().any(|outcome| matches!(outcome, ImportOutcome::Imported)) {
                continue;
            }
            let times = [talk.from, talk.until].map(|at| at.unwrap_or_else(|| self.now()));
            let changes = times.into_iter().map(|at| {
                let (scope, thread) = (talk.scope.clone(), talk.thread.clone());
                let action = Action::Bookkeeping(Bookkeeping::Attend { scope, session: thread.clone(), thread });
                loci_types::Change { at, ..self.change(caller, "operator", "imported", action) }
            });
            let (space, changes) = (talk.scope.space(), changes.collect());
            self.apply(Batch { tenant: caller.tenant.clone(), space, changes }).await?;
        }
        Ok(())
    }

    /// The records of a memory: one, or several if it is long.
    fn memory_records(&self, owner: &Caller, format: SourceFormat, draft: SourceMemory) -> Result<Vec<IncomingRecord>> {
        let mut caller = owner.clone();
        let named = draft.identifiers;
        caller.identifiers.user_id = named.user_id.or(caller.identifiers.user_id);
        caller.identifiers.agent_id = named.agent_id.or(caller.identifiers.agent_id);
        let mut new = draft.new;
        // Before it is cut: half a secret is not known for one.
        self.redact(&mut new)?;
        let most = self.config.limits.content_characters;
        let texts: Vec<String> = pieces(&new.content, most).into_iter().map(str::to_owned).collect();
        let parts = texts.len();
        let mut records = Vec::with_capacity(parts);
        for (part, content) in texts.into_iter().enumerate() {
            let mut new = NewMemory { content, ..new.clone() };
            if parts > 1 {
                new.metadata.insert("part".to_owned(), json!(format!("{} of {parts}", part + 1)));
            }
            let scope = policy::scope_for(&caller.identifiers, new.layer)?;
            let mut memory = self.admit_into(&caller, &scope, new, None)?.memory;
            if let Some(at) = draft.created_at {
                memory.created_at = at;
                memory.imported_at = Some(self.now());
                memory.updated_at = draft.updated_at.unwrap_or(at).max(at);
                if let Some(reference) = &draft.reference {
                    memory.id = derived(format, &scope, &[reference], part, at);
                } else {
                    memory.id = derived(format, &scope, &[&memory.content], part, at);
                }
            }
            records.push(self.foreign(memory, None));
        }
        Ok(records)
    }

    /// The records of a conversation, each following the one before. An invalid turn is reported, and the next one
    /// follows the one before it.
    fn conversation_records(
        &self,
        owner: &Caller,
        format: SourceFormat,
        talk: SourceConversation,
        refused: &mut Vec<crate::Error>,
    ) -> Result<(Scope, String, Vec<IncomingRecord>)> {
        let scope = policy::target(owner, None)?;
        crate::access::bounds::short("threadId", Some(&talk.id), crate::access::bounds::REFERENCE)?;
        let mut metadata = Map::from_iter([("importedFrom".to_owned(), json!(format.name()))]);
        if let Some(title) = &talk.title {
            metadata.insert("title".to_owned(), json!(title));
        }
        let (mut records, mut follows) = (Vec::<IncomingRecord>::new(), None);
        for (place, turn) in talk.turns.into_iter().enumerate() {
            let reference = turn.reference.clone().unwrap_or_else(|| place.to_string());
            match self.turn_memories(owner, &talk.id, &reference, &metadata, turn) {
                Ok(memories) => {
                    for (part, mut memory) in memories.into_iter().enumerate() {
                        if let Some(at) = memory.event_time {
                            memory.id = derived(format, &scope, &[&talk.id, &reference], part, at);
                        }
                        let id = memory.id;
                        records.push(self.foreign(memory, follows.replace(id)));
                    }
                }
                Err(error) => refused.push(error),
            }
        }
        Ok((scope, talk.id, records))
    }

    /// The records of a turn: one, or several if it is long.
    fn turn_memories(
        &self,
        owner: &Caller,
        thread: &str,
        reference: &str,
        metadata: &Map<String, Value>,
        mut turn: SourceTurn,
    ) -> Result<Vec<Memory>> {
        let mut caller = owner.clone();
        caller.identifiers.session_id = None;
        Pass::strict(&self.redactor).text("content", &mut turn.content)?;
        let mut memories = Vec::new();
        for piece in pieces(&turn.content, self.config.limits.content_characters) {
            let source = Source {
                kind: "conversation".to_owned(),
                role: Some(turn.role.clone()),
                reference: Some(reference.to_owned()),
            };
            let new = NewMemory {
                content: piece.to_owned(),
                kind: Some(Kind::EPISODIC.to_owned()),
                metadata: metadata.clone(),
                source: Some(source),
                event_time: turn.at,
                said_at: turn.at,
                thread_id: Some(thread.to_owned()),
                role: Some(turn.role.clone()),
                ..NewMemory::default()
            };
            let scope = policy::scope_for(&caller.identifiers, new.layer)?;
            let mut memory = self.admit_into(&caller, &scope, new, None)?.memory;
            if let Some(at) = turn.at {
                memory.created_at = at;
                memory.imported_at = Some(self.now());
                memory.updated_at = at;
            }
            memories.push(memory);
        }
        Ok(memories)
    }

    fn foreign(&self, memory: Memory, follows: Option<MemoryId>) -> IncomingRecord {
        IncomingRecord { follows, aged_at: Some(self.now()), foreign: true, ..IncomingRecord::new(memory) }
    }
}

/// The id of an imported item: ordered by time like any other, and always the same for the same item.
fn derived(format: SourceFormat, scope: &Scope, names: &[&str], part: usize, at: Timestamp) -> MemoryId {
    let mut hasher = blake3::Hasher::new();
    for name in [format.name(), &scope.key()].into_iter().chain(names.iter().copied()) {
        hasher.update(&(name.len() as u64).to_le_bytes());
        hasher.update(name.as_bytes());
    }
    hasher.update(&(part as u64).to_le_bytes());
    let mut random = [0; 10];
    random.copy_from_slice(&hasher.finalize().as_bytes()[..10]);
    let id: Uuid = Builder::from_unix_timestamp_millis(at.as_millisecond().max(0).unsigned_abs(), &random).into_uuid();
    MemoryId(id)
}

fn show(memory: &Memory) -> (String, String, Option<String>, String) {
    let owner = memory.scope().map_or_else(|_| String::new(), |scope| scope.to_string());
    let text = memory.content.chars().take(MAX_PREVIEW_CHARACTERS).collect();
    (memory.kind.name().to_owned(), owner, memory.thread_id.clone(), text)
}

#[cfg(test)]
mod tests {
    use loci_types::{Identifiers, Layer};

    use super::*;

    #[test]
    fn the_same_thing_has_the_same_id_and_no_other_has() {
        let scope = |user: &str| {
            let identifiers = Identifiers { user_id: Some(user.to_owned()), ..Identifiers::default() };
            Scope::new(Layer::User, &identifiers).unwrap()
        };
        let (early, late): (Timestamp, Timestamp) =
            ("2024-01-01T00:00:00Z".parse().unwrap(), "2024-01-01T00:00:00.001Z".parse().unwrap());
        let one = derived(SourceFormat::Mem0, &scope("a"), &["x"], 0, early);
        assert_eq!(one, derived(SourceFormat::Mem0, &scope("a"), &["x"], 0, early));
        assert_eq!(one.0.get_version_num(), 7);
        for other in [
            derived(SourceFormat::Claude, &scope("a"), &["x"], 0, early),
            derived(SourceFormat::Mem0, &scope("b"), &["x"], 0, early),
            derived(SourceFormat::Mem0, &scope("a"), &["x", ""], 0, early),
            derived(SourceFormat::Mem0, &scope("a"), &["x"], 1, early),
        ] {
            assert_ne!(one, other);
        }
        assert!(one < derived(SourceFormat::Mem0, &scope("a"), &["x"], 0, late));
    }
}
