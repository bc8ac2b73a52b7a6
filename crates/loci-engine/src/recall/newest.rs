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
pub(crate) const AMONG: usize = 20;

/// Maximum lead of the earlier memory, in nats.
const LESS: f64 = 3.0;

/// Maximum lead if the two are linked as contradicting, or the later one says that something has changed.
const LESS_LINKED: f64 = 6.0;

/// How far the later memory is placed above the earlier, in nats.
const ABOVE: f64 = 0.02;

/// Maximum lead of the earlier memory on any token of the question.
const BETTER: f32 = 0.15;

/// Minimum cosine at which two memories are about the same.
const ALIKE: f64 = 0.6;

/// The same where the later one says that something has changed.
const ALIKE_CHANGED: f64 = 0.45;

/// The same by the multilingual model.
const ALIKE_IN_LANGUAGES: f64 = 0.5;

/// The same if both hold at least `SHARED_WORDS` terms of the question.
const ALIKE_WITH_WORDS: f64 = 0.35;
const SHARED_WORDS: u32 = 2;

/// Lifts later memories above earlier ones that say the same of the question.
pub(crate) fn prefer_newer(scored: &ScoredCandidates, edges: &[Edge], candidates: &mut [RankedCandidate]) {
    let among = candidates.len().min(AMONG);
    let held: Vec<u128> = candidates[..among].iter().map(|one| held(scored, one)).collect();
    let features = |one: &RankedCandidate| scored.pool.candidates[one.at].features.clone();
    let mut by_age: Vec<usize> = (0..among).collect();
    by_age.sort_by_key(|at| features(&candidates[*at]).said_at);
    for &old in &by_age {
        for new in 0..among {
            let (before, after) = (features(&candidates[old]), features(&candidates[new]));
            if after.said_at <= before.said_at || !after.lasting {
                continue;
            }
            // What holds for everyone does not replace what holds here.
            if candidates[new].memory.layer.precedence() > candidates[old].memory.layer.precedence() {
                continue;
            }
            let shared = held[old] & held[new];
            let holds_all = held[old] & !held[new] == 0;
            let changed = holds_all
                && shared != 0
                && cosine(&before, &after) >= ALIKE_CHANGED
                && tells_of_change(&candidates[new].memory.content);
            let linked = changed || is_linked(edges, candidates[new].memory.id, candidates[old].memory.id);
            let ahead = candidates[old].explain.evidence - candidates[new].explain.evidence;
            if ahead <= -ABOVE || ahead > if linked { LESS_LINKED } else { LESS } {
                continue;
            }
            let (old_at, new_at) = (candidates[old].at, candidates[new].at);
            let rows = || scored.matches.of(old_at).iter().zip(scored.matches.of(new_at));
            let read = before.readable && after.readable;
            let same = || {
                holds_all
                    && (!read || rows().all(|(old, new)| old - new <= BETTER))
                    && alike(&before, &after, shared.count_ones())
            };
            if linked || same() {
                candidates[new].explain.lift += ahead + ABOVE;
                candidates[new].explain.evidence = candidates[new].explain.sum_of_clues();
            }
        }
    }
}

/// Whether one memory is known to say something later that may contradict another.
fn is_linked(edges: &[Edge], new: MemoryId, old: MemoryId) -> bool {
    edges.iter().any(|edge| edge.relation == Relation::MayContradict && edge.source_id == new && edge.target_id == old)
}

/// Which of the question's terms a memory holds.
fn held(scored: &ScoredCandidates, candidate: &RankedCandidate) -> u128 {
    let terms = &scored.pool.candidates[candidate.at].features.terms;
    let asked = scored.question.terms.iter().enumerate();
    asked.filter(|(_, term)| terms.contains(&term.key)).fold(0, |held, (place, _)| held | 1 << place)
}

/// Whether a text says that something has changed or ended.
fn tells_of_change(text: &str) -> bool {
    let change = form::CHANGE | form::CORRECTION | form::ENDS | form::SETS;
    words(text, language_of(text)).iter().any(|word| word.is(change))
}

/// How alike two are by the model that has read both; 0 if none has.
fn cosine(old: &MemoryFeatures, new: &MemoryFeatures) -> f64 {
    let (old, new) = match old.readable && new.readable {
        true => (old.vector.as_ref(), new.vector.as_ref()),
        false => (old.in_languages.get(), new.in_languages.get()),
    };
    old.zip(new).map_or(0.0, |(old, new)| old.cosine_to(new))
}

fn alike(old: &MemoryFeatures, new: &MemoryFeatures, shared: u32) -> bool {
    let cosine = cosine(old, new);
    if !(old.readable && new.readable) {
        return cosine >= ALIKE_IN_LANGUAGES;
    }
    cosine >= ALIKE || (shared >= SHARED_WORDS && cosine >= ALIKE_WITH_WORDS)
}
