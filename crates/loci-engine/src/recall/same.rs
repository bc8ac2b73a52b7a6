//! Which hits say the same?
//!
//! The same thing may be known in several layers. The most specific one speaks for all of them and
//! names those it overrides.

use std::collections::HashMap;

use loci_models::dot;
use loci_types::{Class, MemoryId, Visible};

use super::RecallHit;
use crate::{Engine, Result};

impl Engine {
    /// Leaves one of those that say the same in several layers: the most specific. Within a layer
    /// all stay, and so do texts whose numbers differ: alike is not the same. Episodes stay too: two
    /// alike are two events.
    pub(crate) async fn one_of_each(
        &self,
        visible: &Visible,
        hits: &mut Vec<RecallHit>,
    ) -> Result<()> {
        let Some(model) = self.model() else { return Ok(()) };
        let lasting: Vec<MemoryId> = hits
            .iter()
            .filter(|hit| self.kinds.spec(&hit.memory.kind).class != Class::Episodic)
            .map(|hit| hit.memory.id)
            .collect();
        if lasting.len() < 2 {
            return Ok(());
        }
        let vectors: HashMap<MemoryId, Vec<f32>> =
            self.store.vectors(visible, &model.name, &lasting).await?.into_iter().map(|(id, vector)| (id, vector.values)).collect();
        let same = self.config.retrieval.duplicate_similarity;
        let mut kept: Vec<RecallHit> = Vec::with_capacity(hits.len());
        for mut hit in hits.drain(..) {
            let twin = vectors.get(&hit.memory.id).and_then(|vector| {
                kept.iter_mut().find(|other| {
                    other.memory.layer != hit.memory.layer
                        && numbers(&other.memory.content) == numbers(&hit.memory.content)
                        && vectors.get(&other.memory.id).is_some_and(|other| f64::from(dot(vector, other)) >= same)
                })
            });
            match twin {
                None => kept.push(hit),
                Some(twin) => {
                    if hit.memory.layer.precedence() < twin.memory.layer.precedence() {
                        // The specific one takes the better place of the general one.
                        std::mem::swap(twin, &mut hit);
                        let given_way = std::mem::take(&mut hit.explain.overrides);
                        twin.explain.overrides.extend(given_way);
                    }
                    twin.explain.overrides.push(hit.memory.id);
                }
            }
        }
        kept.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.memory.id.cmp(&b.memory.id)));
        *hits = kept;
        Ok(())
    }
}

/// The numbers in a text, in order.
fn numbers(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty()).collect()
}
