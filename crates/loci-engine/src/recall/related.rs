//! Adds related memories to the hits: one or two linked ones, and later ones that may contradict a hit.

use std::collections::HashMap;

use loci_types::{Edge, Memory, MemoryId, Relation, Visible};

use super::{RecallHit, RelatedMemory};
use crate::{Engine, Result};

/// Maximum number of related memories that are returned with a hit.
const MAX_RELATED: usize = 2;

impl Engine {
    /// Adds to each hit the later statement that may contradict it.
    pub(crate) async fn attach_newer(&self, visible: &Visible, hits: &mut [RecallHit]) -> Result<()> {
        let ids: Vec<MemoryId> = hits.iter().map(|hit| hit.memory.id).collect();
        let mut newer = self.newer_visible(visible, &ids).await?;
        for hit in hits {
            hit.newer = newer.remove(&hit.memory.id);
        }
        Ok(())
    }

    /// Adds to each hit one or two linked memories that are not hits themselves.
    pub(crate) async fn attach_related(
        &self,
        visible: &Visible,
        mut edges: Vec<Edge>,
        hits: &mut [RecallHit],
    ) -> Result<()> {
        edges.retain(|edge| edge.relation != Relation::MayContradict);
        edges.retain(|edge| hits.iter().any(|hit| [edge.source_id, edge.target_id].contains(&hit.memory.id)));
        edges.sort_by(|a, b| b.strength.total_cmp(&a.strength).then(a.id.cmp(&b.id)));
        let other = |edge: &Edge, id: MemoryId| if edge.source_id == id { edge.target_id } else { edge.source_id };
        let mut ids: Vec<MemoryId> = edges.iter().flat_map(|edge| [edge.source_id, edge.target_id]).collect();
        ids.retain(|id| !hits.iter().any(|hit| hit.memory.id == *id));
        ids.sort_unstable();
        ids.dedup();
        if ids.is_empty() {
            return Ok(());
        }
        let memories: HashMap<MemoryId, Memory> =
            self.store.fetch(visible, &ids).await?.into_iter().map(|memory| (memory.id, memory)).collect();
        for hit in hits {
            let id = hit.memory.id;
            // A memory shows what it was learned from; a turn does not show what was learned from it.
            let taught = |edge: &Edge| edge.relation == Relation::DerivedFrom && edge.target_id == id;
            let at = edges.iter().filter(|edge| (edge.source_id == id || edge.target_id == id) && !taught(edge));
            let related = at.filter_map(|edge| {
                let memory = memories.get(&other(edge, id))?;
                let content = crate::prompt::render::reported(memory).into_owned();
                let origin = crate::prompt::pack::origin::origin(memory, None);
                Some(RelatedMemory { id: memory.id, relation: edge.relation, strength: edge.strength, content, origin })
            });
            hit.explain.related = related.take(MAX_RELATED).collect();
        }
        Ok(())
    }
}
