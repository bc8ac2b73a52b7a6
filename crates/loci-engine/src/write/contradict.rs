//! Statements that may contradict each other.
//!
//! If the table of `reconcile` cannot decide between two statements, both are kept and linked. A result with the
//! earlier one shows the later one; a person or an agent resolves the pair in one step.

use std::collections::HashMap;

use jiff::Timestamp;
use loci_types::{
    Action, Batch, Bookkeeping, Edge, Error, Filter, MemoryId, NoteValue, Patch, Receipt, Relation, Revision, Visible,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::access::policy::{self, Caller};
use crate::prompt::render::reported;
use crate::write::remember::receipt;
use crate::write::supersede::in_use;
use crate::{Engine, Result};

/// A memory that was said later and may contradict another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct NewerStatement {
    /// Its id.
    pub id: MemoryId,
    /// Its rendered text.
    pub text: String,
    /// When it was said.
    pub said_at: Timestamp,
}

/// Which of two memories that may contradict each other holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Keep {
    /// Both: they do not contradict each other.
    Both,
    /// The one that was said later. The other stays in its chain.
    Newer,
    /// The one that was said earlier. The other stays in its chain.
    Older,
}

impl Engine {
    /// The latest memory that may contradict each of these and that the caller may see.
    pub async fn newer(&self, caller: &Caller, ids: &[MemoryId]) -> Result<HashMap<MemoryId, NewerStatement>> {
        self.newer_visible(&self.visible_by_id(caller).await?, ids).await
    }

    pub(crate) async fn newer_visible(
        &self,
        visible: &Visible,
        ids: &[MemoryId],
    ) -> Result<HashMap<MemoryId, NewerStatement>> {
        let filter = Filter::at(self.now());
        let edges = self.store.edges(visible, &filter, ids, &[Relation::MayContradict]).await?;
        let later: Vec<MemoryId> =
            edges.iter().filter(|edge| ids.contains(&edge.target_id)).map(|edge| edge.source_id).collect();
        if later.is_empty() {
            return Ok(HashMap::new());
        }
        let mut memories = self.store.fetch(visible, &later).await?;
        memories.retain(|memory| memory.state.is_live() && memory.superseded_by_id.is_none());
        memories.sort_by_key(|memory| memory.when_said());
        let mut found = HashMap::new();
        for edge in &edges {
            let newest = memories.iter().rev().find(|memory| {
                edges.iter().any(|other| other.target_id == edge.target_id && other.source_id == memory.id)
            });
            if let Some(memory) = newest {
                let newer =
                    NewerStatement { id: memory.id, text: reported(memory).into_owned(), said_at: memory.when_said() };
                found.insert(edge.target_id, newer);
            }
        }
        Ok(found)
    }

    /// Resolves which of two linked memories holds. The other is kept in its chain.
    pub async fn resolve(&self, caller: &Caller, one: MemoryId, other: MemoryId, keep: Keep) -> Result<Receipt> {
        policy::require_writer(caller)?;
        let visible = self.visible_by_id(caller).await?;
        let edges = self.store.edges(&visible, &Filter::at(self.now()), &[one], &[Relation::MayContradict]).await?;
        let joins = |edge: &&Edge| [(one, other), (other, one)].contains(&(edge.source_id, edge.target_id));
        let linked = edges.iter().find(joins);
        let Some(edge) = linked else {
            return Err(Error::invalid("other", format!("memories {one} and {other} are not linked as contradicting"))
                .hint("`loci memory explain ID` shows what a memory may contradict; `loci memory supersede` replaces any memory")
                .into());
        };
        let (newer, older) = (self.one(&visible, edge.source_id).await?, self.one(&visible, edge.target_id).await?);
        in_use(&newer)?;
        in_use(&older)?;
        let unlink = Action::Unlink { source: newer.id, target: older.id, relation: Relation::MayContradict };
        let merge = |stays: &loci_types::Memory, goes: MemoryId| {
            let patch = Patch { pinned: (older.pinned || newer.pinned).then_some(true), ..Patch::default() };
            let into = Revision { id: stays.id, expect: Some(stays.version), patch, vector: None, jobs: Vec::new() };
            Action::Merge { into: Box::new(into), from: vec![goes] }
        };
        let (first, reason) = match keep {
            Keep::Both => (None, "resolved: both hold"),
            Keep::Newer => (Some(merge(&newer, older.id)), "resolved: the newer one holds"),
            Keep::Older => (Some(merge(&older, newer.id)), "resolved: the older one holds"),
        };
        // Maintenance must not link a pair again that was resolved.
        let note = Action::Bookkeeping(Bookkeeping::Note {
            scope: Some(older.scope()?),
            key: settled_key(older.id, newer.id),
            value: NoteValue::Set(json!(true)),
            until: None,
        });
        let settled = (keep == Keep::Both).then_some(note);
        let actions = first.into_iter().chain([unlink]).chain(settled);
        let changes = actions.map(|action| self.change(caller, "operator", reason, action)).collect();
        let batch = Batch { tenant: caller.tenant.clone(), space: older.scope()?.space(), changes };
        let applied = self.apply(batch).await?;
        self.feature_cache.forget(older.id);
        self.feature_cache.forget(newer.id);
        receipt(applied.first(), false, false)
    }
}

/// The note that a pair was resolved and both statements hold.
pub(crate) fn settled_key(older: MemoryId, newer: MemoryId) -> String {
    format!("settled {older} {newer}")
}
