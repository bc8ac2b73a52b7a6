//! The graph lane: memories linked to the best hits of the other lanes.
//!
//! "Why" follows causal links, "when" temporal ones, "who" and "what" shared entities. The score decreases with every
//! step.

use std::collections::BTreeMap;

use loci_store::{EntityQuery, Hit};
use loci_types::{EntityId, Filter, MemoryId, Relation, Visible};

use crate::recall::plan::Plan;
use crate::recall::plan::intent::Intent;
use crate::recall::score::best_first;
use crate::{Engine, Result};

/// The factor by which the strength falls with each step. A causal link is strong; a temporal link is weak, because every
/// turn has neighbours.
fn step(relation: Relation) -> f64 {
    match relation {
        Relation::Causal => 0.9,
        Relation::Entity | Relation::RelatedTo => 0.5,
        _ => 0.15,
    }
}

/// Number of best hits at which the walk starts.
const SEEDS: usize = 8;

/// Maximum number of words of a name in a query.
const NAME_WORDS: usize = 4;

impl Engine {
    /// The graph lane: what the best hits lead to, and what speaks of those that the question names.
    pub(crate) async fn graph_lane(
        &self,
        visible: &Visible,
        filter: &Filter,
        plan: &Plan,
        found: &[&[Hit]],
        wanted: usize,
    ) -> Result<Vec<Hit>> {
        let mut reached: BTreeMap<MemoryId, f64> = BTreeMap::new();
        if matches!(plan.intent, Intent::Who | Intent::What) {
            let entities = self.store.entities(visible, &EntityQuery::Named(named_in(&plan.text)), usize::MAX).await?;
            let ids: Vec<EntityId> = entities.iter().map(|entity| entity.id).collect();
            if !ids.is_empty() {
                let mut spoken = self.store.memories_mentioning(visible, filter, &ids, wanted).await?;
                // An entity that nearly all memories mention does not distinguish them.
                if spoken.len() >= wanted {
                    spoken.clear();
                }
                reached.extend(spoken.into_iter().map(|hit| (hit.id, hit.score)));
            }
        }
        let relations: &[Relation] = match plan.intent {
            Intent::Why => &[Relation::Causal, Relation::RelatedTo],
            Intent::When => &[Relation::Temporal, Relation::RelatedTo],
            Intent::Who | Intent::What | Intent::General => &[Relation::RelatedTo, Relation::Entity],
        };
        let depth = if plan.intent == Intent::General { 1 } else { plan.complexity.depth() };
        let seeds = seeds(found);
        let mut frontier = seeds.clone();
        for walked in 0..depth {
            let ids: Vec<MemoryId> = frontier.keys().copied().collect();
            let edges =
                if ids.is_empty() { Vec::new() } else { self.store.edges(visible, filter, &ids, relations).await? };
            let mut next: BTreeMap<MemoryId, f64> = BTreeMap::new();
            for edge in edges {
                for (from, to) in [(edge.source_id, edge.target_id), (edge.target_id, edge.source_id)] {
                    let Some(strength) = frontier.get(&from) else { continue };
                    // The way back to where the walk began says nothing new.
                    if walked > 0 && seeds.contains_key(&to) {
                        continue;
                    }
                    let strength = strength * edge.strength * step(edge.relation);
                    let known = reached.get(&to).copied().unwrap_or(0.0);
                    if strength > known && next.len() < wanted {
                        reached.insert(to, strength);
                        next.insert(to, strength);
                    }
                }
            }
            frontier = next;
        }
        let mut hits: Vec<Hit> = reached.into_iter().map(|(id, score)| Hit { id, score }).collect();
        hits.sort_by(|a, b| best_first((a.score, a.id), (b.score, b.id)));
        hits.truncate(wanted);
        Ok(hits)
    }
}

/// The best of each lane, taken in turns; the first is the strongest.
fn seeds(found: &[&[Hit]]) -> BTreeMap<MemoryId, f64> {
    let mut seeds = BTreeMap::new();
    for place in 0..SEEDS {
        for hit in found.iter().filter_map(|lane| lane.get(place)) {
            if seeds.len() < SEEDS {
                seeds.entry(hit.id).or_insert(1.0 / (1.0 + place as f64 / 4.0));
            }
        }
    }
    seeds
}

/// Every run of words in a question that may be a name, without the possessive.
pub(crate) fn named_in(text: &str) -> Vec<String> {
    let trim = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '@' && c != '#');
        let word = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word);
        word.to_lowercase()
    };
    let words: Vec<String> = text.split_whitespace().map(trim).filter(|word| !word.is_empty()).take(64).collect();
    let mut names = Vec::new();
    for length in 1..=NAME_WORDS {
        names.extend(words.windows(length).map(|run| run.join(" ")));
    }
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_with_and_without_the_possessive() {
        let names = named_in("Who is Ana Lopez's manager?");
        for name in ["ana", "ana lopez", "lopez", "manager", "who is ana lopez"] {
            assert!(names.iter().any(|found| found == name), "{name} in {names:?}");
        }
    }

    // Coverage: S1.14.
    #[test]
    fn the_walk_starts_at_the_best_of_every_lane() {
        let hits = |from: u128| -> Vec<Hit> {
            (from..from + 20).map(|n| Hit { id: MemoryId(uuid::Uuid::from_u128(n)), score: 1.0 }).collect()
        };
        let (a, b) = (hits(0), hits(100));
        let seeds = seeds(&[&a, &b]);
        assert_eq!(seeds.len(), SEEDS);
        assert_eq!(seeds[&a[0].id], 1.0);
        assert_eq!(seeds[&b[0].id], 1.0);
        assert!(!seeds.contains_key(&a[5].id));
    }
}
