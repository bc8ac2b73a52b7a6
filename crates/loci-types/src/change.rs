//! What is to be written?
//!
//! Everything that writes makes a [`Change`], a plain value with its reason and provenance, and
//! gives it to the store. A [`Batch`] of changes to one space is applied in one transaction, which
//! also appends to the ledger and the job queue: all of it happens, or none.

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::{
    AccessPolicy, CheckpointStep, ContentHash, Edge, Entity, EntityId, Fact, FactId, Identifiers, JobSpec, Kind,
    KnowledgePointer, Memory, MemoryId, Relation, Scope, Session, Source, Space, State, Tenant, Vector,
};

/// Changes to one space that happen together.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    /// The tenant whose space it is.
    pub tenant: Tenant,
    /// The space.
    pub space: Space,
    /// The changes, in order.
    pub changes: Vec<Change>,
}

/// One change, with why, by whom and when.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// What is done.
    pub action: Action,
    /// Why, for the people who read the history.
    pub reason: String,
    /// Where it came from.
    pub provenance: Provenance,
    /// When.
    pub at: Timestamp,
}

/// Where a change came from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Provenance {
    /// Who did it.
    pub actor: Option<String>,
    /// Which part of Loci did it: `hotpath, context, episodic, worker, operator`.
    pub node: String,
    /// The conversation in which it happened.
    pub thread: Option<String>,
    /// The request that asked for it.
    pub request: Option<String>,
}

/// What a change does.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// A new memory.
    Add(Box<Addition>),
    /// New values for some fields of a memory.
    Revise(Box<Revision>),
    /// Several memories become one; the others are kept, replaced by it.
    Merge {
        /// The memory that stays, with its new values.
        into: Box<Revision>,
        /// The memories that it takes up.
        from: Vec<MemoryId>,
    },
    /// A new memory takes the place of an old one, which stays readable in its chain.
    Supersede {
        /// The old head.
        old: MemoryId,
        /// The new head.
        new: Box<Addition>,
    },
    /// A link between two memories; a second one of the same relation only updates the first.
    Link(Edge),
    /// Takes a link away.
    Unlink {
        /// Where it starts.
        source: MemoryId,
        /// Where it ends.
        target: MemoryId,
        /// What it says.
        relation: Relation,
    },
    /// Recall returned these. Not in the ledger: it says nothing about their content.
    Touch {
        /// Which.
        ids: Vec<MemoryId>,
    },
    /// Soft delete.
    Forget {
        /// Which.
        id: MemoryId,
        /// The version the caller saw.
        expect: Option<u64>,
        /// When it is removed for good.
        purge_at: Timestamp,
    },
    /// Undoes a soft delete or an archiving.
    Restore {
        /// Which.
        id: MemoryId,
    },
    /// What maintenance found: a new state or new scores.
    Fade {
        /// Which.
        id: MemoryId,
        /// The new state.
        state: State,
        /// The new confidence.
        confidence: Option<f64>,
        /// The new relevance.
        relevance: Option<f64>,
        /// When a soft-deleted one is removed for good.
        purge_at: Option<Timestamp>,
    },
    /// Removes a soft-deleted memory for good; a tombstone without content stays in the ledger.
    Purge {
        /// Which.
        id: MemoryId,
    },
    /// Removes a memory at once, with every trace of its content, in the ledger too.
    Erase {
        /// Which.
        id: MemoryId,
    },
    /// Removes all that one user left in the space: their memories and those they wrote for others, with every
    /// trace of the content, their sessions, entities, facts and checkpoints. Of each memory the ledger keeps
    /// that it was there, and the hash of its words.
    EraseUser {
        /// Who.
        user: String,
    },
    /// Vectors of a model that is no longer asked go. One line in the ledger tells how many.
    DropVectors {
        /// The model.
        model: String,
    },
    /// The vector of a memory, made later than the memory or by a new model.
    Embed {
        /// Which.
        id: MemoryId,
        /// The hash of the text it was made from; a text that has changed since keeps none.
        of: ContentHash,
        /// The vector.
        vector: Vector,
    },
    /// A thing that memories of one scope speak of, new or with new names.
    Name {
        /// Whose memories.
        scope: Scope,
        /// The thing.
        entity: Box<Entity>,
    },
    /// Two entities are the same thing: `from` goes by the names of `into` and is found as it.
    Unite {
        /// The one that stays.
        into: EntityId,
        /// The one that is taken up.
        from: EntityId,
    },
    /// Undoes a union: the entity is a thing of its own again.
    Divide {
        /// Whose it must be; none: whoever's.
        scope: Option<Scope>,
        /// Which.
        entity: EntityId,
    },
    /// A memory speaks of an entity of its scope.
    Mention {
        /// The memory.
        memory: MemoryId,
        /// The entity.
        entity: EntityId,
        /// Whether it counts as a mention. What was learned from a turn repeats the turn's and does not.
        counted: bool,
    },
    /// Slow work for later.
    Enqueue(JobSpec),
    /// Undoes a merge: these hold again beside the memory that took them up.
    Split {
        /// The memory that took them up.
        into: MemoryId,
        /// Those that it took up.
        from: Vec<MemoryId>,
    },
    /// Scores that time alone has changed. One line in the ledger tells how many.
    Age {
        /// The memories with their new scores.
        aged: Vec<AgedScore>,
    },
    /// The one whom a proposal is about has decided, or let it lapse.
    Decide {
        /// The proposal.
        id: MemoryId,
        /// Whether it is accepted.
        accept: bool,
        /// The memory whose place an accepted one takes.
        over: Option<MemoryId>,
        /// When one that is not accepted is removed for good.
        purge_at: Timestamp,
    },
    /// A turn of this session came.
    Attend {
        /// Whose session.
        scope: Scope,
        /// Its name.
        session: String,
        /// Its thread.
        thread: String,
    },
    /// A session is over.
    EndSession {
        /// Whose session.
        scope: Scope,
        /// Its name.
        session: String,
    },
    /// A session was learned from as far as this turn. Refused if someone else has gone further
    /// since `expect` was read, so that nothing is learned twice.
    Consolidate {
        /// Whose session.
        scope: Scope,
        /// Its name.
        session: String,
        /// How far it had been learned from.
        expect: Option<MemoryId>,
        /// How far it has been now.
        through: MemoryId,
        /// What it taught, for the ledger.
        report: Value,
    },
    /// A session is to be learned from again, from its first turn.
    Unlearn {
        /// Whose session.
        scope: Scope,
        /// Its name.
        session: String,
    },
    /// Something that upkeep writes down for itself: what was checked, counted, or told.
    Note {
        /// Whose memories it is about; none: nobody's.
        scope: Option<Scope>,
        /// Its name.
        key: String,
        /// What is written.
        value: NoteValue,
        /// When it no longer counts.
        until: Option<Timestamp>,
    },
    /// A triple holds. Said again, the greater confidence stands, metadata are merged and sources added; one that
    /// was learned from memories of which none holds any more is said anew.
    State(Box<Fact>),
    /// Takes a triple back.
    Retract {
        /// Whose it must be.
        scope: Scope,
        /// Which.
        id: FactId,
    },
    /// Something is done to checkpoints. Not in the ledger: they are no memories.
    Checkpoint(Box<CheckpointStep>),
    /// A record from elsewhere takes the place of the one with its id, as it is.
    Replace(Box<Addition>),
    /// A session from elsewhere, as it was there. Leaves no line in the ledger, as sessions do not.
    Resume(Box<Session>),
}

/// A memory's scores as time has left them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AgedScore {
    /// Which.
    pub id: MemoryId,
    /// Its confidence now.
    pub confidence: f64,
    /// Its relevance now.
    pub relevance: f64,
}

/// What a note says.
#[derive(Debug, Clone, PartialEq)]
pub enum NoteValue {
    /// This, whatever it said before.
    Set(Value),
    /// So much more than before.
    Add(f64),
}

/// A new memory and what comes with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Addition {
    /// The record.
    pub memory: Memory,
    /// If a live memory of the same scope has this key, nothing is added and its id is returned.
    pub unless: Option<ContentHash>,
    /// What it is about, folded: memories with the same key may contradict each other.
    pub claim: Option<ContentHash>,
    /// Those with the same key that hold and were looked at. If there are others by now, the change is
    /// refused: someone else has said something about the same at the same moment.
    pub seen: Option<Vec<MemoryId>>,
    /// The vector, if it is already known.
    pub vector: Option<Vector>,
    /// The memory that came right before it in its thread; a temporal edge is drawn from it.
    pub follows: Option<MemoryId>,
    /// How far time was already counted in its scores, for a memory that comes from elsewhere.
    pub aged_at: Option<Timestamp>,
    /// Slow work for later.
    pub jobs: Vec<JobSpec>,
}

impl Addition {
    /// A memory alone.
    pub fn new(memory: Memory) -> Self {
        Self {
            memory,
            unless: None,
            claim: None,
            seen: None,
            vector: None,
            follows: None,
            aged_at: None,
            jobs: Vec::new(),
        }
    }
}

/// New values for a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Revision {
    /// Which.
    pub id: MemoryId,
    /// The version the caller saw; another one in the store is a conflict.
    pub expect: Option<u64>,
    /// The new values.
    pub patch: Patch,
    /// The vector of the new text, if it is already known.
    pub vector: Option<Vector>,
    /// Slow work for later.
    pub jobs: Vec<JobSpec>,
}

/// New values for fields; an absent one stays as it is. `Some(None)` clears.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Patch {
    /// New text with its hash and token count.
    pub content: Option<NewContent>,
    /// New kind.
    pub kind: Option<Kind>,
    /// New category.
    pub category: Option<Option<String>>,
    /// New tags, in place of the old.
    pub tags: Option<Vec<String>>,
    /// Metadata merged over the old, field by field; null removes a field.
    pub metadata: Option<Map<String, Value>>,
    /// New source.
    pub source: Option<Option<Source>>,
    /// New knowledge pointer.
    pub knowledge_pointer: Option<Option<KnowledgePointer>>,
    /// New access policy.
    pub access_policy: Option<AccessPolicy>,
    /// New importance.
    pub importance: Option<f64>,
    /// New confidence.
    pub confidence: Option<f64>,
    /// New decay rate.
    pub decay_rate: Option<f64>,
    /// Pinned or not.
    pub pinned: Option<bool>,
    /// New event time.
    pub event_time: Option<Option<Timestamp>>,
    /// New start of validity.
    pub valid_from: Option<Option<Timestamp>>,
    /// New end of validity.
    pub valid_until: Option<Option<Timestamp>>,
    /// New expiry.
    pub expires_at: Option<Option<Timestamp>>,
}

/// A text with what is derived from it.
#[derive(Debug, Clone, PartialEq)]
pub struct NewContent {
    /// The text.
    pub text: String,
    /// Its hash.
    pub hash: ContentHash,
    /// The key under which the same thing would be found again, if it is one that is found so.
    pub unless: Option<ContentHash>,
    /// What it is about, folded.
    pub claim: Option<ContentHash>,
    /// Its tokens.
    pub tokens: u32,
}

impl Patch {
    /// Whether nothing would change.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The memory with the new values. Stores write what this returns.
    pub fn apply(&self, memory: &mut Memory) {
        if let Some(content) = &self.content {
            memory.content.clone_from(&content.text);
            memory.content_hash = content.hash;
            memory.tokens = content.tokens;
        }
        if let Some(metadata) = &self.metadata {
            for (key, value) in metadata {
                match value {
                    Value::Null => drop(memory.metadata.remove(key)),
                    value => drop(memory.metadata.insert(key.clone(), value.clone())),
                }
            }
        }
        replace(&mut memory.kind, &self.kind);
        replace(&mut memory.category, &self.category);
        replace(&mut memory.tags, &self.tags);
        replace(&mut memory.source, &self.source);
        replace(&mut memory.knowledge_pointer, &self.knowledge_pointer);
        replace(&mut memory.access_policy, &self.access_policy);
        replace(&mut memory.importance, &self.importance);
        replace(&mut memory.confidence, &self.confidence);
        replace(&mut memory.decay_rate, &self.decay_rate);
        replace(&mut memory.pinned, &self.pinned);
        replace(&mut memory.event_time, &self.event_time);
        replace(&mut memory.valid_from, &self.valid_from);
        replace(&mut memory.valid_until, &self.valid_until);
        replace(&mut memory.expires_at, &self.expires_at);
    }
}

fn replace<T: Clone>(slot: &mut T, new: &Option<T>) {
    if let Some(new) = new {
        slot.clone_from(new);
    }
}

/// Identifiers in the order of the record's columns, for stores.
pub fn identifier_values(identifiers: &Identifiers) -> [Option<&str>; 8] {
    crate::Identifier::ALL.map(|which| identifiers.get(which))
}
