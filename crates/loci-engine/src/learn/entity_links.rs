//! Links memories that mention the same entity.
//!
//! A new memory is linked to the nearest few that mention one of its entities, never to all of them, so that the number
//! of links grows with the number of memories and not with its square.

use std::collections::BTreeMap;

use loci_types::{Action, Addition, Edge, EntityId, Filter, MemoryId, Relation, Vector, Visible};
use serde_json::json;

use crate::{Engine, Result};

/// Maximum number of entities of a memory by which it is linked.
const MAX_ENTITIES: usize = 5;
/// Maximum number of memories, the newest first, that are compared for each entity.
const MAX_COMPARED: usize = 50;
/// Strength of a link between memories of which one has no vector.
const UNKNOWN_STRENGTH: f64 = 0.3;

/// A memory of the same batch that mentions an entity.
pub(crate) struct FreshMention {
    pub(crate) entity: EntityId,
    pub(crate) memory: MemoryId,
    pub(crate) vector: Option<Vector>,
}

/// Another memory that mentions an entity of the new one.
#[derive(Debug, Clone, PartialEq)]
struct Sharer {
    memory: MemoryId,
    /// Cosine of the two memories, if both have a vector.
    similarity: Option<f64>,
    /// The shared entities, by their place among those of the new memory.
    shared: Vec<usize>,
}

impl Engine {
    /// The links of a new memory to the nearest others that mention one of its entities.
    pub(crate) async fn entity_links(
        &self,
        visible: &Visible,
        addition: &Addition,
        entities: &[(String, EntityId)],
        fresh: &[FreshMention],
        replaced: impl Fn(MemoryId) -> bool,
    ) -> Result<Vec<Action>> {
        let (memory, most) = (&addition.memory, self.config.bands.links);
        if most == 0 || entities.is_empty() {
            return Ok(Vec::new());
        }
        let filter = Filter { kinds: self.non_episodic_kinds(), ..Filter::at(memory.created_at) };
        let mut shared: BTreeMap<MemoryId, Vec<usize>> = BTreeMap::new();
        let mut vectors: BTreeMap<MemoryId, Vector> = BTreeMap::new();
        for (place, (_, entity)) in entities.iter().take(MAX_ENTITIES).enumerate() {
            let known = self.store.memories_mentioning(visible, &filter, &[*entity], MAX_COMPARED).await?;
            let same = fresh.iter().filter(|one| one.entity == *entity);
            vectors.extend(same.clone().filter_map(|one| Some((one.memory, one.vector.clone()?))));
            for id in known.into_iter().map(|hit| hit.id).chain(same.map(|one| one.memory)) {
                let places = shared.entry(id).or_default();
                if !places.contains(&place) {
                    places.push(place);
                }
            }
        }
        shared.retain(|id, _| *id != memory.id && !replaced(*id));
        if let Some(vector) = &addition.vector {
            let stored: Vec<MemoryId> = shared.keys().copied().filter(|id| !vectors.contains_key(id)).collect();
            vectors.extend(self.store.vectors(visible, &vector.model, &stored).await?);
        }
        let similarity = |id: &MemoryId| {
            let (one, other) = (addition.vector.as_ref()?, vectors.get(id)?);
            let comparable = one.model == other.model;
            comparable.then(|| f64::from(loci_models::dot(&one.values, &other.values)).clamp(0.0, 1.0))
        };
        let sharers = shared
            .iter()
            .map(|(id, places)| Sharer { memory: *id, similarity: similarity(id), shared: places.clone() })
            .collect();
        let link = |sharer: Sharer| {
            let strength = sharer.similarity.unwrap_or(UNKNOWN_STRENGTH);
            let edge = self.edge(memory.id, sharer.memory, Relation::Entity, strength, memory.created_at);
            let ids: Vec<EntityId> = sharer.shared.iter().map(|place| entities[*place].1).collect();
            Action::Link(Edge {
                predicate: Some(entities[sharer.shared[0]].0.clone()),
                evidence: ids.into_iter().map(|id| json!({ "entity": id })).collect(),
                ..edge
            })
        };
        Ok(nearest(sharers, most).into_iter().map(link).collect())
    }
}

/// The nearest few: those with the higher cosine first, then those that share more entities, then the newest.
fn nearest(mut sharers: Vec<Sharer>, most: usize) -> Vec<Sharer> {
    let similarity = |one: &Sharer| one.similarity.unwrap_or(0.0);
    sharers.sort_by(|a, b| {
        let nearer = similarity(b).total_cmp(&similarity(a));
        nearer.then(b.shared.len().cmp(&a.shared.len())).then(b.memory.cmp(&a.memory))
    });
    sharers.truncate(most);
    sharers
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    // Coverage: S1.24.
    #[test]
    fn only_the_nearest_few_are_linked() {
        let sharer = |n: u128, similarity: Option<f64>, shared: &[usize]| Sharer {
            memory: MemoryId(Uuid::from_u128(n)),
            similarity,
            shared: shared.to_vec(),
        };
        let all = vec![
            sharer(1, Some(0.2), &[0]),
            sharer(2, Some(0.7), &[0]),
            sharer(3, Some(0.2), &[0, 1]),
            sharer(4, None, &[0]),
            sharer(5, Some(0.2), &[1]),
        ];
        let order = |most| nearest(all.clone(), most).iter().map(|one| one.memory.0.as_u128()).collect::<Vec<_>>();
        assert_eq!(order(3), [2, 3, 5]);
        assert_eq!(order(9), [2, 3, 5, 1, 4]);
        assert_eq!(order(0), Vec::<u128>::new());
    }
}
