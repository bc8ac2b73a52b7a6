//! Merges candidates that state the same, and those of which one overrides the other.
//!
//! If several layers have the same memory, the most specific layer is kept; within a layer, the latest. Similar is
//! not the same: a number, a name or a negation that only one has keeps both. Two similar episodes are two events. Of two
//! settings of the same in different layers, the more specific one overrides the other. A
//! memory that was learned from a turn and the turn are merged into the memory, with the turn as its source.

use std::collections::{BTreeSet, HashMap};

use loci_types::{Edge, Memory, MemoryId, Relation};

use super::rank::{RankedCandidate, ScoredCandidates};
use crate::learn::language::word::{Shape, words};
use crate::learn::language::{form, language_of};
use crate::write::reconcile::write::analyse;
use crate::write::reconcile::{AnalysedText, restates, sets_otherwise};

/// Minimum cosine of two settings of the same, if both have vectors: that of statements which are compared when one is
/// written. "The backend uses Rust" and "The backend uses PostgreSQL" are below it.
const MIN_COSINE_OF_SETTINGS: f64 = 0.60;

/// Leaves one of those that say the same, and of settings of the same the one of the most specific layer.
pub(crate) fn merge_duplicates(
    scored: &ScoredCandidates,
    similarity: f64,
    edges: &[Edge],
    candidates: &mut Vec<RankedCandidate>,
) {
    merge_sources(edges, candidates);
    let mut readings = Readings::default();
    let mut kept: Vec<RankedCandidate> = Vec::with_capacity(candidates.len());
    for mut candidate in candidates.drain(..) {
        let twin = kept.iter_mut().find(|other| {
            say_the_same(scored, similarity, other, &candidate) || readings.conflict(scored, other, &candidate)
        });
        let Some(twin) = twin else {
            kept.push(candidate);
            continue;
        };
        if replaces(&candidate.memory, &twin.memory) {
            std::mem::swap(twin, &mut candidate);
        }
        twin.explain.overrides.push(candidate.memory.id);
        absorb(twin, candidate);
    }
    *candidates = kept;
}

/// Removes the turns that other candidates were learned from; each becomes a source of its memory.
fn merge_sources(edges: &[Edge], candidates: &mut Vec<RankedCandidate>) {
    for edge in edges.iter().filter(|edge| edge.relation == Relation::DerivedFrom) {
        let place =
            |id: MemoryId, candidates: &[RankedCandidate]| candidates.iter().position(|one| one.memory.id == id);
        let (Some(_), Some(source)) = (place(edge.source_id, candidates), place(edge.target_id, candidates)) else {
            continue;
        };
        let turn = candidates.remove(source);
        // Taking one out may have moved the other.
        if let Some(learned) = place(edge.source_id, candidates) {
            candidates[learned].explain.sources.push(turn.memory.id);
            absorb(&mut candidates[learned], turn);
        }
    }
}

/// Merges a duplicate into the candidate that represents it. The better score decides the position.
fn absorb(one: &mut RankedCandidate, mut other: RankedCandidate) {
    one.explain.overrides.append(&mut other.explain.overrides);
    one.explain.sources.append(&mut other.explain.sources);
    one.explain.lift += (other.explain.evidence - one.explain.evidence).max(0.0);
    one.explain.evidence = one.explain.sum_of_clues();
    if let (Some(judged), Some(other)) = (&mut one.explain.reranked, other.explain.reranked) {
        *judged = judged.max(other);
    }
}

/// Whether one is the more specific of two that say the same, or the later.
fn replaces(one: &Memory, other: &Memory) -> bool {
    let rank = |memory: &Memory| (memory.layer.precedence(), std::cmp::Reverse(memory.when_said()));
    rank(one) < rank(other)
}

fn say_the_same(scored: &ScoredCandidates, similarity: f64, one: &RankedCandidate, other: &RankedCandidate) -> bool {
    let (a, b) = (&scored.set.candidates[one.at].features, &scored.set.candidates[other.at].features);
    if !(a.lasting && b.lasting) {
        return false;
    }
    let cosine = || a.vector.as_ref().zip(b.vector.as_ref()).map(|(a, b)| a.cosine_to(b));
    one.memory.content_hash == other.memory.content_hash
        || (cosine().is_some_and(|cosine| cosine >= similarity) && alike(&one.memory.content, &other.memory.content))
}

/// The analysed texts of candidates that were compared as settings.
#[derive(Default)]
struct Readings(HashMap<MemoryId, AnalysedText>);

impl Readings {
    /// Whether two candidates of different layers set the same otherwise.
    fn conflict(&mut self, scored: &ScoredCandidates, one: &RankedCandidate, other: &RankedCandidate) -> bool {
        let (a, b) = (&scored.set.candidates[one.at].features, &scored.set.candidates[other.at].features);
        if one.memory.layer == other.memory.layer || !(a.lasting && b.lasting) {
            return false;
        }
        let cosine = a.vector.as_ref().zip(b.vector.as_ref()).map(|(a, b)| a.cosine_to(b));
        if cosine.is_some_and(|cosine| cosine < MIN_COSINE_OF_SETTINGS) {
            return false;
        }
        for memory in [&one.memory, &other.memory] {
            self.0.entry(memory.id).or_insert_with(|| analyse(memory));
        }
        let (Some(a), Some(b)) = (self.0.get(&one.memory.id), self.0.get(&other.memory.id)) else { return false };
        let (one, other, a, b) = match replaces(&one.memory, &other.memory) {
            true => (&one.memory, &other.memory, a, b),
            false => (&other.memory, &one.memory, b, a),
        };
        // A fact that is said anew with another value is newer; what was said before does not hold against it.
        let is_older = one.when_said() < other.when_said();
        sets_otherwise((a, &one.content), (b, &other.content)) && !(is_older && restates(a, b))
    }
}

/// Whether two texts have the same numbers, names and negations.
pub(crate) fn alike(one: &str, other: &str) -> bool {
    distinguishing_words(one) == distinguishing_words(other)
}

/// The words of a text that make it another if they differ: names, numbers and negations.
fn distinguishing_words(text: &str) -> BTreeSet<String> {
    let language = language_of(text);
    let words = words(text, language);
    let negations = words.iter().filter(|word| word.is(form::NEGATION)).map(|word| word.text.to_lowercase());
    let mut found: BTreeSet<String> = negations.collect();
    let folded = |text: &str| language.map_or_else(|| text.to_owned(), |language| language.folded(text));
    // A number in letters is a number, and a name may begin a text.
    let counts = words.iter().filter(|word| word.counts || matches!(word.shape, Shape::Number | Shape::Code));
    found.extend(counts.map(|word| folded(&word.text)));
    found.extend(words.first().filter(|word| word.capital && word.form == 0).map(|word| folded(word.bare())));
    for (place, word) in text.split_whitespace().enumerate() {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        let name = place > 0 && word.chars().next().is_some_and(char::is_uppercase);
        if name || word.chars().any(char::is_numeric) {
            found.insert(word.to_lowercase().replace('’', "'").trim_end_matches("'s").to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    // Coverage: S2.8.
    #[test]
    fn a_number_a_name_or_a_not_makes_two() {
        for (one, other, expect) in [
            ("the red lamp stands on the desk", "The red lamp stands on the desk.", true),
            ("invoice 4411 was paid", "invoice 4412 was paid", false),
            ("the keys are with Rui", "the keys are with Eva", false),
            ("the lamp is broken", "the lamp is not broken", false),
            ("I don't eat fish", "I eat fish", false),
            ("I haven't eaten fish since March", "I have eaten fish since March", false),
            ("The printer stands on floor one", "The printer stands on floor two", false),
            ("Mira has the keys to the shed", "Nora has the keys to the shed", false),
            ("The shed has two keys", "The shed has 2 keys", true),
        ] {
            assert_eq!(alike(one, other), expect, "{one} / {other}");
        }
    }
}
