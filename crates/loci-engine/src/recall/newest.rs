//! Ranks the newest of several memories about the same above the older ones.
//!
//! If two memories match a query equally and state the same, the later one is preferred. A weight of recency would
//! also push down older answers to other questions, so pairs are compared: the later one is raised just above the
//! earlier. A turn replaces nothing; a stored statement replaces turns.

use loci_types::{Edge, MemoryId, Relation};

use super::features::MemoryFeatures;
use super::rank::{RankedCandidate, ScoredCandidates};
use crate::learn::language::word::words;
use crate::learn::language::{form, language_of};

/// Number of the best candidates that are compared pairwise.
pub(crate) const COMPARED: usize = 20;

/// Maximum lead of the earlier memory, in nats.
const MAX_LEAD: f64 = 3.0;

/// Maximum lead if the two are linked as contradicting, or the later one says that something has changed.
const MAX_LEAD_LINKED: f64 = 6.0;

/// The margin by which the later memory is placed above the earlier one, in nats.
const MARGIN: f64 = 0.02;

/// Maximum lead of the earlier memory on any token of the question.
const MAX_TOKEN_LEAD: f32 = 0.15;

/// Minimum cosine at which two memories are about the same.
const MIN_COSINE: f64 = 0.6;

/// The same where the later one says that something has changed.
const MIN_COSINE_CHANGED: f64 = 0.45;

/// The same by the multilingual model.
const MIN_COSINE_MULTILINGUAL: f64 = 0.5;

/// The same if both hold at least `SHARED_WORDS` terms of the question.
const MIN_COSINE_WITH_WORDS: f64 = 0.35;
const SHARED_WORDS: u32 = 2;

/// Lifts later memories above earlier ones that say the same of the question.
pub(crate) fn prefer_newer(scored: &ScoredCandidates, edges: &[Edge], candidates: &mut [RankedCandidate]) {
    let among = candidates.len().min(COMPARED);
    let held_terms: Vec<u128> = candidates[..among].iter().map(|one| question_terms(scored, one)).collect();
    let features = |one: &RankedCandidate| scored.set.candidates[one.at].features.clone();
    let mut by_age: Vec<usize> = (0..among).collect();
    by_age.sort_by_key(|at| features(&candidates[*at]).said_at);
    for &old in &by_age {
        for new in 0..among {
            let (before, after) = (features(&candidates[old]), features(&candidates[new]));
            if after.said_at <= before.said_at || !after.lasting {
                continue;
            }
            // A memory of a more general layer does not replace one of a more specific layer.
            if candidates[new].memory.layer.precedence() > candidates[old].memory.layer.precedence() {
                continue;
            }
            let shared = held_terms[old] & held_terms[new];
            let holds_all = held_terms[old] & !held_terms[new] == 0;
            let changed = holds_all
                && shared != 0
                && cosine(&before, &after) >= MIN_COSINE_CHANGED
                && tells_of_change(&candidates[new].memory.content);
            let linked = changed || is_linked(edges, candidates[new].memory.id, candidates[old].memory.id);
            let ahead = candidates[old].explain.evidence - candidates[new].explain.evidence;
            if ahead <= -MARGIN || ahead > if linked { MAX_LEAD_LINKED } else { MAX_LEAD } {
                continue;
            }
            let (old_at, new_at) = (candidates[old].at, candidates[new].at);
            let rows = || scored.matches.of(old_at).iter().zip(scored.matches.of(new_at));
            let read = before.readable && after.readable;
            let same = || {
                holds_all
                    && (!read || rows().all(|(old, new)| old - new <= MAX_TOKEN_LEAD))
                    && are_about_the_same(&before, &after, shared.count_ones())
            };
            if linked || same() {
                candidates[new].explain.lift += ahead + MARGIN;
                candidates[new].explain.evidence = candidates[new].explain.sum_of_clues();
            }
        }
    }
}

/// Whether one memory is known to say something later that may contradict another.
fn is_linked(edges: &[Edge], new: MemoryId, old: MemoryId) -> bool {
    edges.iter().any(|edge| edge.relation == Relation::MayContradict && edge.source_id == new && edge.target_id == old)
}

/// The terms of the question that a memory contains, as a bit set.
fn question_terms(scored: &ScoredCandidates, candidate: &RankedCandidate) -> u128 {
    let terms = &scored.set.candidates[candidate.at].features.terms;
    let asked = scored.question.terms.iter().enumerate();
    asked.filter(|(_, term)| terms.contains(&term.key)).fold(0, |held, (place, _)| held | 1 << place)
}

/// Whether a text says that something has changed or ended.
fn tells_of_change(text: &str) -> bool {
    let change = form::CHANGE | form::CORRECTION | form::ENDS | form::SETS;
    words(text, language_of(text)).iter().any(|word| word.is(change))
}

/// The cosine of the vectors of a model that has embedded both; 0 without such a model.
fn cosine(old: &MemoryFeatures, new: &MemoryFeatures) -> f64 {
    let (old, new) = match old.readable && new.readable {
        true => (old.vector.as_ref(), new.vector.as_ref()),
        false => (old.in_languages.get(), new.in_languages.get()),
    };
    old.zip(new).map_or(0.0, |(old, new)| old.cosine_to(new))
}

fn are_about_the_same(old: &MemoryFeatures, new: &MemoryFeatures, shared: u32) -> bool {
    let cosine = cosine(old, new);
    if !(old.readable && new.readable) {
        return cosine >= MIN_COSINE_MULTILINGUAL;
    }
    cosine >= MIN_COSINE || (shared >= SHARED_WORDS && cosine >= MIN_COSINE_WITH_WORDS)
}
