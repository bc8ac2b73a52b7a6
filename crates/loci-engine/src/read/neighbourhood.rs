//! The memories around a memory, along links.
//!
//! Links that the caller may see are followed breadth first, up to a depth and a limit. **Invariant:** every returned
//! link joins two returned memories.

use std::collections::HashMap;

use loci_types::{Edge, Filter, Memory, MemoryId, Relation};
use serde::Serialize;

use crate::access::bounds::between;
use crate::access::policy::Caller;
use crate::{Engine, Result};

/// Maximum number of steps.
const MAX_DEPTH: usize = 4;
/// Maximum number of memories that are returned.
const MAX_MEMORIES: usize = 200;

/// The memories around a memory.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Neighbourhood {
    /// The memories, the one in the middle first, then the nearest.
    pub nodes: Vec<Neighbour>,
    /// The links between them.
    pub edges: Vec<Edge>,
    /// Whether there were more than the limit.
    pub truncated: bool,
}

/// A memory, and how far away it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Neighbour {
    /// The memory.
    pub memory: Memory,
    /// How many steps away.
    pub depth: usize,
}

impl Engine {
    /// The memories within this number of steps of a memory, along these relations or along all.
    pub async fn neighbourhood(
        &self,
        caller: &Caller,
        id: MemoryId,
        depth: usize,
        relations: &[Relation],
    ) -> Result<Neighbourhood> {
        between("depth", depth, 1, MAX_DEPTH)?;
        let visible = self.visible_by_id(caller).await?;
        self.one(&visible, id).await?;
        // What holds now, and the older versions of it; what was deleted is not around anything.
        let filter = Filter { superseded: true, ..Filter::at(self.now()) };
        let mut steps = HashMap::from([(id, 0)]);
        let (mut order, mut rim, mut truncated) = (vec![id], vec![id], false);
        let mut found: Vec<Edge> = Vec::new();
        for step in 1..=depth {
            let edges = self.store.edges(&visible, &filter, &rim, relations).await?;
            rim = Vec::new();
            for end in edges.iter().flat_map(|edge| [edge.source_id, edge.target_id]) {
                if steps.contains_key(&end) {
                    continue;
                }
                if order.len() == MAX_MEMORIES {
                    truncated = true;
                    continue;
                }
                steps.insert(end, step);
                order.push(end);
                rim.push(end);
            }
            found.extend(edges);
            if rim.is_empty() {
                break;
            }
        }
        let memories = self.store.fetch(&visible, &order).await?;
        let nodes: Vec<_> = memories.into_iter().map(|memory| Neighbour { depth: steps[&memory.id], memory }).collect();
        steps.retain(|id, _| nodes.iter().any(|node| node.memory.id == *id));
        found.retain(|edge| steps.contains_key(&edge.source_id) && steps.contains_key(&edge.target_id));
        found.sort_by_key(|edge| edge.id);
        found.dedup_by_key(|edge| edge.id);
        Ok(Neighbourhood { nodes, edges: found, truncated })
    }
}
