//! Which hits say the same?
//!
//! The same thing may be known in several layers. The most specific one speaks for all of them and
//! names those it overrides.

use std::collections::HashMap;

use loci_models::dot;
use loci_types::{Class, Memory, MemoryId, Visible};

use super::RecallHit;
use crate::config::Weights;
use crate::{Engine, Result};

impl Engine {
    /// Leaves one of those that say the same in several layers: the most specific. Within a layer
    /// all stay, and so do texts whose numbers differ: alike is not the same. Episodes stay too: two
    /// alike are two events.
    pub(crate) async fn one_of_each(
        &self,
        visible: &Visible,
        weights: &Weights,
        hits: &mut Vec<RecallHit>,
    ) -> Result<()> {
        let lasting: Vec<&RecallHit> = hits.iter().filter(|hit| self.lasts(hit)).collect();
        if lasting.len() < 2 {
            return Ok(());
        }
        if lasting.iter().all(|hit| hit.memory.layer == lasting[0].memory.layer) {
            by_score(hits);
            return Ok(());
        }
        let lasting: Vec<MemoryId> = lasting.iter().map(|hit| hit.memory.id).collect();
        let vectors: HashMap<MemoryId, Vec<f32>> = match self.model() {
            Some(model) => {
                let found = self.store.vectors(visible, &model.name, &lasting).await?;
                found.into_iter().map(|(id, vector)| (id, vector.values)).collect()
            }
            None => HashMap::new(),
        };
        let same = self.config.retrieval.duplicate_similarity;
        let alike = |a: &Memory, b: &Memory| {
            let near = vectors.get(&a.id).zip(vectors.get(&b.id)).is_some_and(|(a, b)| f64::from(dot(a, b)) >= same);
            a.content_hash == b.content_hash || (near && numbers(&a.content) == numbers(&b.content))
        };
        let mut kept: Vec<RecallHit> = Vec::with_capacity(hits.len());
        for mut hit in hits.drain(..) {
            let twin = kept.iter_mut().find(|other| {
                other.memory.layer != hit.memory.layer
                    && self.lasts(other)
                    && self.lasts(&hit)
                    && alike(&other.memory, &hit.memory)
            });
            match twin {
                None => kept.push(hit),
                Some(twin) => {
                    if hit.memory.layer.precedence() < twin.memory.layer.precedence() {
                        std::mem::swap(twin, &mut hit);
                        twin.explain.overrides.append(&mut hit.explain.overrides);
                        // The specific one speaks for both, so it does not stand behind the general one.
                        twin.explain.terms.layer += (hit.score - twin.score).max(0.0);
                        twin.score = twin.explain.score(weights);
                    }
                    twin.explain.overrides.push(hit.memory.id);
                }
            }
        }
        by_score(&mut kept);
        *hits = kept;
        Ok(())
    }

    /// Two episodes alike are two events; two facts alike are one.
    fn lasts(&self, hit: &RecallHit) -> bool {
        self.kinds.spec(&hit.memory.kind).class != Class::Episodic
    }
}

/// The best first.
fn by_score(hits: &mut [RecallHit]) {
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.memory.id.cmp(&b.memory.id)));
}

/// The numbers in a text, in order.
fn numbers(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty()).collect()
}
