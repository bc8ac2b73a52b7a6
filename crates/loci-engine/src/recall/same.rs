//! Which candidates say the same?
//!
//! The same thing may be known in several layers: the most specific one speaks for all. Within a layer the latest does. Alike
//! is not the same: a number, a name or a "not" that one of them has makes two. Two episodes alike are two events. A memory
//! that was learned from a turn and the turn itself are one: the memory, with the turn as its source.

use std::collections::BTreeSet;

use loci_types::{Edge, Memory, Relation};

use super::rank::{Candidate, Seen};

/// Words that turn a sentence around.
const NEGATIONS: &str = "not no never none without cannot can't don't doesn't didn't isn't aren't wasn't won't nicht kein keine \
    keinen nie ohne sin nunca ningún pas jamais sans aucun не нет никогда без não nem sem";

/// Leaves one of those that say the same.
pub(crate) fn unite(seen: &Seen, similarity: f64, edges: &[Edge], candidates: &mut Vec<Candidate>) {
    let mut kept: Vec<Candidate> = Vec::with_capacity(candidates.len());
    for mut candidate in candidates.drain(..) {
        let learned = |a: &Candidate, b: &Candidate| {
            edges.iter().any(|edge| {
                edge.relation == Relation::DerivedFrom && edge.source_id == a.memory.id && edge.target_id == b.memory.id
            })
        };
        let twin = kept.iter_mut().find(|other| {
            learned(other, &candidate)
                || learned(&candidate, other)
                || say_the_same(seen, similarity, other, &candidate)
        });
        let Some(twin) = twin else {
            kept.push(candidate);
            continue;
        };
        let source = learned(twin, &candidate) || learned(&candidate, twin);
        if if source { learned(&candidate, twin) } else { speaks_for(&candidate.memory, &twin.memory) } {
            std::mem::swap(twin, &mut candidate);
            twin.explain.overrides.append(&mut candidate.explain.overrides);
            twin.explain.sources.append(&mut candidate.explain.sources);
        }
        let told = if source { &mut twin.explain.sources } else { &mut twin.explain.overrides };
        told.push(candidate.memory.id);
        // It speaks for both, so it stands where the better of them would.
        twin.explain.lift += (candidate.explain.evidence - twin.explain.evidence).max(0.0);
        twin.explain.evidence = twin.explain.sum_of_clues();
        if let (Some(judged), Some(other)) = (&mut twin.explain.reranked, candidate.explain.reranked) {
            *judged = judged.max(other);
        }
    }
    *candidates = kept;
}

/// Whether one is the more specific of two that say the same, or the later.
fn speaks_for(one: &Memory, other: &Memory) -> bool {
    let rank = |memory: &Memory| (memory.layer.precedence(), std::cmp::Reverse(memory.when_said()));
    rank(one) < rank(other)
}

fn say_the_same(seen: &Seen, similarity: f64, one: &Candidate, other: &Candidate) -> bool {
    let (a, b) = (&seen.pool.members[one.at].reading, &seen.pool.members[other.at].reading);
    if !(a.lasting && b.lasting) {
        return false;
    }
    let cosine = || a.vector.as_ref().zip(b.vector.as_ref()).map(|(a, b)| a.cosine_to(b));
    one.memory.content_hash == other.memory.content_hash
        || (cosine().is_some_and(|cosine| cosine >= similarity) && alike(&one.memory.content, &other.memory.content))
}

/// Whether two texts have the same numbers, names and negations.
pub(crate) fn alike(one: &str, other: &str) -> bool {
    telling(one) == telling(other)
}

/// The words of a text that make it another if they differ.
fn telling(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (place, word) in text.split_whitespace().enumerate() {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        let lower = word.to_lowercase().replace('’', "'");
        let name = place > 0 && word.chars().next().is_some_and(char::is_uppercase);
        if name || word.chars().any(char::is_numeric) || NEGATIONS.split_whitespace().any(|one| one == lower) {
            found.insert(lower.trim_end_matches("'s").to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_a_name_or_a_not_makes_two() {
        for (one, other, expect) in [
            ("the red lamp stands on the desk", "The red lamp stands on the desk.", true),
            ("invoice 4411 was paid", "invoice 4412 was paid", false),
            ("the keys are with Rui", "the keys are with Eva", false),
            ("the lamp is broken", "the lamp is not broken", false),
            ("I don't eat fish", "I eat fish", false),
        ] {
            assert_eq!(alike(one, other), expect, "{one} / {other}");
        }
    }
}
