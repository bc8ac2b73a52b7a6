//! How is everything read that is to be carried elsewhere?
//!
//! A part of the store's reading door, so every method carries a [`Visible`]. Each reads one page of one space, in an
//! order that an import makes again, so that a copy of a copy is the same and memory stays small at any size.

use async_trait::async_trait;
use jiff::Timestamp;
use loci_types::{Edge, EdgeId, Entity, EntityId, Filter, Memory, MemoryId, Scope, Session, Space, Visible};

use crate::Result;

/// Reads a space page by page.
#[async_trait]
pub trait Carry: Send + Sync {
    /// The memories that are visible and meant after a place (0: from the first), in the order they came.
    async fn carried_memories(
        &self,
        visible: &Visible,
        filter: &Filter,
        space: &Space,
        after: i64,
        limit: usize,
    ) -> Result<Vec<CarriedMemory>>;

    /// The edges after an id, by id, both ends of which are visible and meant.
    async fn carried_edges(
        &self,
        visible: &Visible,
        filter: &Filter,
        space: &Space,
        after: Option<EdgeId>,
        limit: usize,
    ) -> Result<Vec<Edge>>;

    /// The entities after an id, by id, each by itself. Whoever sees the whole space reads all of them; others those
    /// of their scopes that a memory speaks of which is visible and meant.
    async fn carried_entities(
        &self,
        visible: &Visible,
        filter: &Filter,
        space: &Space,
        after: Option<EntityId>,
        limit: usize,
    ) -> Result<Vec<CarriedEntity>>;

    /// The sessions of visible scopes after a scope and a name, by scope and name. Whether turns wait is not asked.
    async fn carried_sessions(
        &self,
        visible: &Visible,
        space: &Space,
        after: Option<(Scope, String)>,
        limit: usize,
    ) -> Result<Vec<Session>>;
}

/// A memory and what its record does not say.
#[derive(Debug, Clone, PartialEq)]
pub struct CarriedMemory {
    /// The record.
    pub memory: Memory,
    /// How far time was counted; none: not at all.
    pub aged_at: Option<Timestamp>,
    /// Its place in the order they came.
    pub place: i64,
}

/// An entity by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct CarriedEntity {
    /// Whose it is.
    pub scope: Scope,
    /// The entity with its own names, and no others.
    pub entity: Entity,
    /// The one that it was united with.
    pub united_with: Option<EntityId>,
    /// The memories that speak of it, by id.
    pub mentions: Vec<MemoryId>,
}
