//! Merges the results of several spaces.

use std::collections::BTreeMap;

use crate::Hit;

/// Divides the scores of each space by its best score, if there are several. BM25 weighs a term by its frequency within
/// one space, so scores of different spaces have different scales.
pub(crate) fn normalise_scores(mut found: Vec<Vec<Hit>>) -> Vec<Vec<Hit>> {
    found.retain(|hits| !hits.is_empty());
    if found.len() > 1 {
        for hits in &mut found {
            let top = hits.iter().map(|hit| hit.score).fold(f64::MIN_POSITIVE, f64::max);
            hits.iter_mut().for_each(|hit| hit.score /= top);
        }
    }
    found
}

/// The best hits over all spaces; ties are ordered by ascending id.
pub(crate) fn best(found: Vec<Vec<Hit>>, limit: usize) -> Vec<Hit> {
    let mut hits: Vec<Hit> = found.into_iter().flatten().collect();
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
    hits.truncate(limit);
    hits
}

/// The best hits over all spaces; of equal scores the newest comes first.
pub(crate) fn best_then_newest(found: Vec<Vec<Hit>>, limit: usize) -> Vec<Hit> {
    let mut hits: Vec<Hit> = found.into_iter().flatten().collect();
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.id.cmp(&a.id)));
    hits.truncate(limit);
    hits
}

/// Adds up counts by name.
pub(crate) fn add(all: &mut BTreeMap<String, u64>, more: BTreeMap<String, u64>) {
    for (name, count) in more {
        *all.entry(name).or_default() += count;
    }
}
