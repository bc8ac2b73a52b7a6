//! Sample values for tests.
//!
//! The clock is fixed and ids are numbers, so a failing test always fails in the same way.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use loci_types::{
    AccessPolicy, Action, Addition, Batch, Bookkeeping, Change, Checkpoint, CheckpointPlace, CheckpointStep,
    ContentHash, Edge, EdgeId, Entity, EntityId, EntityType, Fact, FactId, Filter, Identifier, Identifiers, Kind,
    Layer, Memory, MemoryId, NewContent, Patch, PendingWrite, Provenance, Reach, Relation, Revision, Scope, Space,
    State, Tenant, Vector, Visible,
};
use serde_json::Map;
use uuid::Uuid;

use crate::vectors::{hashed_vector, mix};

/// The model of the sample vectors.
pub const MODEL: &str = "stand-in";

/// Number of dimensions of the model.
pub const DIMENSIONS: usize = 32;

/// The time `seconds` after the beginning of 2026.
pub fn at(seconds: i64) -> Timestamp {
    let start: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap_or(Timestamp::UNIX_EPOCH);
    start + SignedDuration::from_secs(seconds)
}

/// The id with this number; a greater one is newer.
pub fn id(number: u64) -> MemoryId {
    MemoryId(Uuid::from_u128(0x0194_0000_0000_7000_8000_0000_0000_0000 | u128::from(number)))
}

/// A scope, by the values of the identifiers that its layer requires.
pub fn scope(layer: Layer, values: &[&str]) -> Scope {
    let mut identifiers = Identifiers::default();
    for (which, value) in layer.required().iter().zip(values) {
        identifiers.set(*which, Some((*value).to_owned()));
    }
    Scope::new(layer, &identifiers).unwrap_or_else(|error| panic!("{layer} {values:?}: {error}"))
}

/// The scope of a user, in the space of the user's shard. Anna, Vera, Karl and Una are in the same shard; Anna and Ben
/// are not.
pub fn user(name: &str) -> Scope {
    scope(Layer::User, &[name])
}

/// The scope of an agent and Anna, in the space of the agent.
pub fn agent(slug: &str) -> Scope {
    scope(Layer::Agent, &[slug, "anna"])
}

/// A test hash of a text. It only differs for different texts.
pub fn hash(text: &str) -> ContentHash {
    let mut state = loci_types::fnv1a(text.as_bytes());
    let mut bytes = [0; 32];
    for eight in bytes.chunks_mut(8) {
        state = mix(state);
        eight.copy_from_slice(&state.to_be_bytes());
    }
    ContentHash(bytes)
}

/// A plain memory with this number.
pub fn memory(number: u64, scope: &Scope, content: &str) -> Memory {
    let created = at(number as i64);
    Memory {
        id: id(number),
        version: 1,
        layer: scope.layer(),
        identifiers: scope.identifiers(),
        thread_id: None,
        run_id: None,
        actor_id: None,
        role: None,
        kind: Kind::stored(Kind::FACT),
        category: None,
        content: content.to_owned(),
        content_hash: hash(content),
        tokens: content.split_whitespace().count() as u32,
        tags: Vec::new(),
        metadata: Map::new(),
        source: None,
        knowledge_pointer: None,
        access_policy: AccessPolicy::Shared,
        importance: 0.5,
        confidence: 0.5,
        decay_rate: 0.01,
        pinned: false,
        access_count: 0,
        last_accessed_at: None,
        relevance: 1.0,
        event_time: None,
        said_at: None,
        imported_at: None,
        created_at: created,
        updated_at: created,
        valid_from: None,
        valid_until: None,
        expires_at: None,
        purge_at: None,
        supersedes_id: None,
        superseded_by_id: None,
        state: State::Active,
    }
}

/// The vector of a text by the test model.
pub fn vector(text: &str) -> Vector {
    Vector { model: MODEL.to_owned(), values: hashed_vector(text, DIMENSIONS), token_states: None }
}

/// A memory with its vector and its deduplication key.
pub fn addition(memory: Memory) -> Addition {
    Addition { unless: Some(memory.content_hash), vector: Some(vector(&memory.content)), ..Addition::new(memory) }
}

/// Adds a memory at the time it was created.
pub fn add(memory: Memory) -> Change {
    let at = memory.created_at;
    change(at, Action::Add(Box::new(addition(memory))))
}

/// A change at this time.
pub fn change(at: Timestamp, action: Action) -> Change {
    let provenance =
        Provenance { actor: Some("tester".into()), node: "operator".into(), thread: None, request: Some("r-1".into()) };
    Change { action, reason: "a test asked for it".into(), provenance, at }
}

/// Changes to a space of the default tenant.
pub fn batch(space: &Space, changes: Vec<Change>) -> Batch {
    Batch { tenant: Tenant::default(), space: space.clone(), changes }
}

/// New text for a memory, with its vector if `embedded`.
pub fn new_text(id: MemoryId, text: &str, embedded: bool) -> Revision {
    let content = NewContent {
        text: text.to_owned(),
        hash: hash(text),
        unless: Some(hash(text)),
        claim: None,
        tokens: text.len() as u32,
    };
    Revision {
        vector: embedded.then(|| vector(text)),
        ..revision(id, Patch { content: Some(content), ..Patch::default() })
    }
}

/// New values for a memory, at any version.
pub fn revision(id: MemoryId, patch: Patch) -> Revision {
    Revision { id, expect: None, patch, vector: None, jobs: Vec::new() }
}

/// An edge with this number.
pub fn edge(number: u64, source: MemoryId, target: MemoryId, relation: Relation) -> Edge {
    Edge {
        id: EdgeId(id(number).0),
        source_id: source,
        target_id: target,
        relation,
        predicate: Some("because".into()),
        strength: 0.75,
        confidence: 0.5,
        valid_from: at(1),
        valid_until: Some(at(9_000)),
        evidence: vec![serde_json::json!({ "turn": 3 })],
        created_at: at(number as i64),
    }
}

/// An entity with this number and no mentions.
pub fn entity(number: u64, name: &str, aliases: &[&str]) -> Entity {
    Entity {
        id: EntityId(id(number).0),
        canonical_name: name.to_owned(),
        entity_type: EntityType::Place,
        aliases: aliases.iter().map(|alias| (*alias).to_owned()).collect(),
        summary: Some(format!("what is known of {name}")),
        created_at: at(number as i64),
        updated_at: at(number as i64 + 1),
        mention_count: 0,
        attributes: serde_json::json!({ "n": 1, "пч": [true, null] }).as_object().cloned().unwrap_or_default(),
    }
}

/// A fact with this number and no sources.
pub fn fact(number: u64, scope: &Scope, [subject, predicate, object]: [&str; 3]) -> Fact {
    Fact {
        id: FactId(Uuid::from_u128(0x0195_0000_0000_8000_8000_0000_0000_0000 | u128::from(number))),
        layer: scope.layer(),
        identifiers: scope.identifiers(),
        fact_type: "uses".into(),
        subject: subject.into(),
        predicate: predicate.into(),
        object: object.into(),
        confidence: 0.5,
        metadata: Map::new(),
        sources: Vec::new(),
        created_at: at(number as i64),
        updated_at: at(number as i64),
    }
}

/// A checkpoint with these bytes.
pub fn checkpoint(scope: &Scope, thread: &str, id: &str, parent: Option<&str>, data: &[u8]) -> Checkpoint {
    Checkpoint {
        scope: scope.clone(),
        thread_id: thread.into(),
        namespace: String::new(),
        id: id.into(),
        parent_id: parent.map(str::to_owned),
        format: "bytes".into(),
        data: Some(data.to_vec()),
        bytes: data.len() as u64,
        metadata: Map::new(),
        created_at: at(1),
    }
}

/// Puts a checkpoint and a pending write of a task.
pub fn put_with_write(checkpoint: Checkpoint) -> [Action; 2] {
    let of = CheckpointPlace {
        scope: checkpoint.scope.clone(),
        thread_id: checkpoint.thread_id.clone(),
        namespace: checkpoint.namespace.clone(),
        id: checkpoint.id.clone(),
    };
    let write = PendingWrite {
        task_id: "task".into(),
        position: -1,
        task_path: "~pull".into(),
        channel: "messages".into(),
        format: "bytes".into(),
        data: vec![0, 255],
    };
    let put = CheckpointStep::Put { checkpoint, expect_parent: None, replace: false };
    [put, CheckpointStep::Write { of, writes: vec![write] }]
        .map(|step| Action::Bookkeeping(Bookkeeping::Checkpoint(Box::new(step))))
}

/// These scopes of the default tenant, visible to Anna.
pub fn visible(scopes: &[Scope]) -> Visible {
    seen_by(Some("anna"), scopes)
}

/// These scopes of the default tenant, visible to `viewer`.
pub fn seen_by(viewer: Option<&str>, scopes: &[Scope]) -> Visible {
    grant(Tenant::default(), Reach::Scopes(scopes.to_vec()), None, viewer)
}

/// Everything in the default tenant.
pub fn whole() -> Visible {
    grant(Tenant::default(), Reach::Whole, None, None)
}

/// Any `Visible` that a policy could grant.
#[expect(clippy::disallowed_methods, reason = "the testkit stands in for the policy")]
pub fn grant(tenant: Tenant, reach: Reach, categories: Option<&[&str]>, viewer: Option<&str>) -> Visible {
    let categories = categories.map(|names| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>());
    Visible::grant(tenant, reach, categories, viewer.map(str::to_owned))
}

/// The filter for what is valid long after all samples were created.
pub fn now() -> Filter {
    Filter::at(at(5_000))
}

/// The filter for everything, in any state.
pub fn everything() -> Filter {
    Filter::everything(at(5_000))
}

/// A memory with a value other than the default in every field.
pub fn full_memory(number: u64, scope: &Scope) -> Memory {
    let mut memory = memory(number, scope, "Anna keeps bees; Пчёлы 蜂 \u{1} \"quoted\" and 'single'");
    for which in Identifier::ALL {
        if memory.identifiers.get(which).is_none() {
            memory.identifiers.set(which, Some(format!("some-{}", which.short())));
        }
    }
    let when = |n| Some(at(n));
    Memory {
        version: 7,
        thread_id: Some("t-1".into()),
        run_id: Some("run-1".into()),
        actor_id: Some("anna".into()),
        role: Some("user".into()),
        kind: Kind::stored("preference"),
        category: Some("hobby".into()),
        tokens: 11,
        tags: vec!["bees".into(), "garden".into(), "a b".into()],
        metadata: serde_json::json!({ "n": 1, "x": 1.5, "deep": { "a": [1, null, "two"] }, "пч": true, "": "\u{1}" })
            .as_object()
            .cloned()
            .unwrap_or_default(),
        source: Some(loci_types::Source {
            kind: "conversation".into(),
            role: Some("assistant".into()),
            reference: Some("msg-1".into()),
        }),
        knowledge_pointer: Some(loci_types::KnowledgePointer {
            source_type: "adr".into(),
            source_id: "adr-12".into(),
            content_hash: "abc".into(),
            synced_at: at(-500),
        }),
        access_policy: AccessPolicy::Restricted,
        importance: 0.875,
        confidence: 0.1,
        decay_rate: 0.25,
        pinned: true,
        access_count: 3,
        last_accessed_at: when(-10),
        relevance: 0.3,
        event_time: when(-400),
        said_at: when(-300),
        imported_at: when(-200),
        updated_at: at(number as i64 + 1),
        valid_from: when(-300),
        valid_until: when(100_000),
        expires_at: when(200_000),
        purge_at: when(300_000),
        supersedes_id: Some(id(90_001)),
        superseded_by_id: None,
        state: State::Decayed,
        ..memory
    }
}
