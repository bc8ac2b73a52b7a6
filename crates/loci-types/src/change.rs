//! Changes: everything that can be written.
//!
//! Every write is a [`Change`], a plain value with its reason and provenance, that is given to the store. A [`Batch`]
//! of changes to one space is applied in one transaction, which also appends to the ledger and the job queue: all of
//! it happens, or none. [`Action`] lists what is done to memories, [`Bookkeeping`] what Loci keeps for itself.

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::{
    AccessPolicy, Bookkeeping, ContentHash, Edge, Entity, EntityId, Fact, FactId, Identifiers, JobSpec, Kind,
    KnowledgePointer, Memory, MemoryId, Relation, Scope, Source, Space, State, Tenant, Vector,
};

/// Changes to one space that are applied in one transaction.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    /// The tenant that the space belongs to.
    pub tenant: Tenant,
    /// The space.
    pub space: Space,
    /// The changes, in order.
    pub changes: Vec<Change>,
}

/// One change with its reason, origin and time.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// What the change does.
    pub action: Action,
    /// Why it is done, for the people who read the history.
    pub reason: String,
    /// The origin of the change.
    pub provenance: Provenance,
    /// When it is done.
    pub at: Timestamp,
}

/// The origin of a change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Provenance {
    /// The actor.
    pub actor: Option<String>,
    /// The part of Loci that made it: `hotpath`, `context`, `episodic`, `worker` or `operator`.
    pub node: String,
    /// The conversation in which it happened.
    pub thread: Option<String>,
    /// The id of the request that caused it.
    pub request: Option<String>,
}

/// What a change does to memories, or to what is derived from them: links, entities, facts, vectors.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Adds a memory.
    Add(Box<Addition>),
    /// Sets some fields of a memory.
    Revise(Box<Revision>),
    /// Merges several memories into one. The others are kept, superseded by it.
    Merge {
        /// The memory that stays, with its new values.
        into: Box<Revision>,
        /// The memories that are merged into it.
        from: Vec<MemoryId>,
    },
    /// Undoes a merge: the merged memories are live again beside the one that they were merged into.
    Split {
        /// The memory that they were merged into.
        into: MemoryId,
        /// The merged memories.
        from: Vec<MemoryId>,
    },
    /// Adds a memory in place of an old one, which stays readable in its chain.
    Supersede {
        /// The old head of the chain.
        old: MemoryId,
        /// The new head.
        new: Box<Addition>,
    },
    /// Replaces the record of the same id by one from elsewhere, as it is.
    Replace(Box<Addition>),
    /// Adds a link between two memories, or updates the one of the same relation.
    Link(Edge),
    /// Removes a link.
    Unlink {
        /// Where it starts.
        source: MemoryId,
        /// Where it ends.
        target: MemoryId,
        /// Its relation.
        relation: Relation,
    },
    /// Soft-deletes a memory.
    Forget {
        /// Which memory.
        id: MemoryId,
        /// The version that the caller saw. Another one in the store is a conflict.
        expect: Option<u64>,
        /// When it is removed for good.
        purge_at: Timestamp,
    },
    /// Undoes a soft delete or an archiving.
    Restore {
        /// Which memory.
        id: MemoryId,
    },
    /// Sets the state and scores that maintenance computed for a memory.
    Fade {
        /// Which memory.
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
    /// Sets scores that only time has changed. The ledger gets one entry with their number.
    Age {
        /// The memories with their new scores.
        aged: Vec<AgedScore>,
    },
    /// Removes a soft-deleted memory for good. A tombstone without content stays in the ledger.
    Purge {
        /// Which memory.
        id: MemoryId,
    },
    /// Removes a memory at once, with every trace of its content, in the ledger too.
    Erase {
        /// Which memory.
        id: MemoryId,
    },
    /// Removes all data of one user from the space: the memories of the user's scopes and those that the user wrote in
    /// other scopes, with every trace of the content, and the user's sessions, entities, facts and checkpoints. The
    /// ledger keeps one entry for each memory, with the hash of its text.
    EraseUser {
        /// The user.
        user: String,
    },
    /// Accepts or rejects a proposed memory, or lets the proposal lapse.
    Decide {
        /// The proposal.
        id: MemoryId,
        /// Whether it is accepted.
        accept: bool,
        /// The memory that an accepted proposal supersedes.
        over: Option<MemoryId>,
        /// When a rejected one is removed for good.
        purge_at: Timestamp,
    },
    /// Sets the vector of a memory, made later than the memory or by a new model.
    Embed {
        /// Which memory.
        id: MemoryId,
        /// The hash of the text that it was made from. If the text has changed since, nothing is set.
        of: ContentHash,
        /// The vector.
        vector: Vector,
    },
    /// Removes the vectors of a model that is not used any more. The ledger gets one entry with their number.
    DropVectors {
        /// The model.
        model: String,
    },
    /// Adds an entity that memories of one scope mention, or updates its names.
    Name {
        /// The scope of the memories.
        scope: Scope,
        /// The entity.
        entity: Box<Entity>,
    },
    /// Sets the vector of the names and the description of an entity, by which it is found by meaning. Changing either
    /// removes it. Leaves no ledger entry.
    EmbedEntity {
        /// The entity.
        entity: EntityId,
        /// The vector.
        vector: Vector,
    },
    /// Unites two entities that are the same thing: `from` is found under the names of `into`.
    Unite {
        /// The entity that stays.
        into: EntityId,
        /// The entity that is united with it.
        from: EntityId,
    },
    /// Undoes a union.
    Divide {
        /// The scope that the entity must belong to. `None` allows any.
        scope: Option<Scope>,
        /// The entity.
        entity: EntityId,
    },
    /// Records that a memory mentions an entity of its scope.
    Mention {
        /// The memory.
        memory: MemoryId,
        /// The entity.
        entity: EntityId,
        /// Whether the mention is counted. A memory learned from a turn repeats the turn's mention and is not counted.
        counted: bool,
    },
    /// Records a fact as a triple. If the triple is known, the greater confidence wins, metadata are merged and sources
    /// are added. If the triple was learned from memories of which none holds and is shared any more, its old
    /// confidence, metadata and sources are discarded first.
    State(Box<Fact>),
    /// Retracts a fact.
    Retract {
        /// The scope that it must belong to.
        scope: Scope,
        /// The fact.
        id: FactId,
    },
    /// Changes what Loci keeps for itself, and no memory.
    Bookkeeping(Bookkeeping),
}

impl From<Bookkeeping> for Action {
    fn from(step: Bookkeeping) -> Self {
        Self::Bookkeeping(step)
    }
}

/// New scores of a memory, changed by time alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AgedScore {
    /// The memory.
    pub id: MemoryId,
    /// Its new confidence.
    pub confidence: f64,
    /// Its new relevance.
    pub relevance: f64,
}

/// A new memory and what is stored with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Addition {
    /// The record.
    pub memory: Memory,
    /// Deduplication key. If a live memory of the same scope has it, nothing is added and that memory's id is returned.
    pub unless: Option<ContentHash>,
    /// Hash of what the memory is about. Memories with the same key may contradict each other.
    pub claim: Option<ContentHash>,
    /// The live memories with the same claim that the caller has seen. If there are others by now, the change is
    /// refused: another caller wrote about the same at the same moment.
    pub seen: Option<Vec<MemoryId>>,
    /// The vector, if it is already known.
    pub vector: Option<Vector>,
    /// The memory right before it in its thread. A temporal link is drawn from it.
    pub follows: Option<MemoryId>,
    /// For an imported memory: the time up to which its scores already include ageing.
    pub aged_at: Option<Timestamp>,
    /// Jobs to enqueue with it.
    pub jobs: Vec<JobSpec>,
}

impl Addition {
    /// A memory with nothing else.
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
    /// The memory.
    pub id: MemoryId,
    /// The version that the caller saw. Another one in the store is a conflict.
    pub expect: Option<u64>,
    /// The new values.
    pub patch: Patch,
    /// The vector of the new text, if it is already known.
    pub vector: Option<Vector>,
    /// Jobs to enqueue with it.
    pub jobs: Vec<JobSpec>,
}

/// New values for fields of a memory. `None` leaves a field as it is, `Some(None)` clears it.
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
    /// New relevance.
    pub relevance: Option<f64>,
    /// New decay rate.
    pub decay_rate: Option<f64>,
    /// New state, where [`State::may_become`] allows it.
    pub state: Option<State>,
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
    /// The deduplication key, as in [`Addition::unless`].
    pub unless: Option<ContentHash>,
    /// The hash of what the text is about, as in [`Addition::claim`].
    pub claim: Option<ContentHash>,
    /// The number of tokens.
    pub tokens: u32,
}

impl Patch {
    /// Returns true if the patch sets no field.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Sets the new values in `memory`. Every store writes the result of this function.
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
        replace(&mut memory.relevance, &self.relevance);
        replace(&mut memory.decay_rate, &self.decay_rate);
        replace(&mut memory.state, &self.state);
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

/// Returns the identifiers in the order of [`crate::Identifier::ALL`], which is the order of the columns in a store.
pub fn identifier_values(identifiers: &Identifiers) -> [Option<&str>; 8] {
    crate::Identifier::ALL.map(|which| identifiers.get(which))
}
