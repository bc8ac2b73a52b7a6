//! Recall of the estimate followed by exact scoring, compared with an exact search.

use super::seeded::Seeded;
use crate::vectors::{Arrays, Candidate, Query, nearest_of};

const DIMENSIONS: usize = 384;
const TOP: usize = 10;
const ASKED: usize = 40;

struct Corpus {
    vectors: Vec<Vec<f32>>,
    arrays: Arrays,
    queries: Vec<Query>,
}

fn corpus(many: usize, queries: usize) -> Corpus {
    corpus_with(many, queries, Arrays::new(DIMENSIONS), |vector| vector)
}

/// A corpus whose vectors and queries are transformed by `change`.
fn corpus_with(many: usize, queries: usize, arrays: Arrays, change: impl Fn(Vec<f32>) -> Vec<f32>) -> Corpus {
    let mut source = Seeded::new(7, many, DIMENSIONS);
    let vectors: Vec<_> = (0..many).map(|_| change(source.next())).collect();
    let mut arrays = arrays.centred(vectors.iter().step_by(many.div_ceil(512)).map(Vec::as_slice));
    for (key, vector) in vectors.iter().enumerate() {
        arrays.insert(key as i64, vector);
    }
    let queries = (0..queries).map(|_| Query::new(&change(source.next()))).collect();
    Corpus { vectors, arrays, queries }
}

impl Corpus {
    /// The exact best among the keys that match `keep`.
    fn exact(&self, query: &Query, keep: impl Fn(i64) -> bool) -> Vec<i64> {
        self.best(query, (0..self.vectors.len() as i64).filter(|&key| keep(key)))
    }

    fn best(&self, query: &Query, keys: impl Iterator<Item = i64>) -> Vec<i64> {
        let mut scored: Vec<_> = keys.map(|key| (query.exact(&self.vectors[key as usize]), key)).collect();
        scored.sort_by(|left, right| right.0.total_cmp(&left.0));
        scored.truncate(TOP);
        scored.into_iter().map(|(_, key)| key).collect()
    }

    fn recall(&self, keep: impl Fn(i64) -> bool, ask: impl Fn(&Query) -> Vec<Candidate>) -> f64 {
        let (mut hits, mut all) = (0, 0);
        for query in &self.queries {
            let expect = self.exact(query, &keep);
            let found = self.best(query, ask(query).into_iter().map(|candidate| candidate.key));
            hits += expect.iter().filter(|key| found.contains(key)).count();
            all += expect.len();
        }
        hits as f64 / all as f64
    }
}

#[test]
fn recall_is_that_of_an_exact_search() {
    let corpus = corpus(20_000, 30);
    let arrays = &corpus.arrays;

    let all = corpus.recall(|_| true, |query| arrays.nearest(query, ASKED, &|_| true));
    assert!(all >= 0.999, "unfiltered: {all}");

    // One in fifty matches: the nearest of these rank low among all.
    let few = |key: i64| key % 50 == 3;
    let filtered = corpus.recall(few, |query| arrays.nearest(query, ASKED, &few));
    assert!(filtered >= 0.999, "filtered: {filtered}");

    let keys: Vec<i64> = (0..20_000).filter(|&key| few(key)).collect();
    let among = corpus.recall(few, |query| arrays.nearest_among(query, ASKED, &keys));
    assert!(among >= 0.999, "among few: {among}");

    let most = |key: i64| key % 10 != 3;
    let keys: Vec<i64> = (0..20_000).filter(|&key| most(key)).collect();
    let among = corpus.recall(most, |query| arrays.nearest_among(query, ASKED, &keys));
    assert!(among >= 0.999, "among many: {among}");
}

/// The vectors of some models share a large component, in all dimensions or in a few.
#[test]
fn a_common_component_costs_no_recall() {
    type Change = fn(Vec<f32>) -> Vec<f32>;
    let everywhere: Change = |mut vector| {
        vector.iter_mut().enumerate().for_each(|(place, value)| *value += if place % 2 == 0 { 0.2 } else { -0.2 });
        vector
    };
    let outlier: Change = |mut vector| {
        vector[7] += 4.0;
        vector[90] -= 2.0;
        vector
    };
    for (name, change) in [("everywhere", everywhere), ("outlier", outlier)] {
        let corpus = corpus_with(20_000, 30, Arrays::new(DIMENSIONS), change);
        let all = corpus.recall(|_| true, |query| corpus.arrays.nearest(query, ASKED, &|_| true));
        assert!(all >= 0.98, "{name}: {all}");
        let estimated = corpus.queries.iter().flat_map(|query| {
            let found = corpus.arrays.nearest(query, ASKED, &|_| true).into_iter();
            found.map(|found| (found.similarity - query.exact(&corpus.vectors[found.key as usize])).abs())
        });
        let worst = estimated.fold(0.0, f32::max);
        assert!(worst < 0.01, "{name}: an estimate is off by {worst}");
        if name == "everywhere" {
            // Without centring such vectors have nearly the same signs.
            let mut arrays = Arrays::new(DIMENSIONS);
            corpus.vectors.iter().enumerate().for_each(|(key, vector)| arrays.insert(key as i64, vector));
            let plain = corpus.recall(|_| true, |query| arrays.nearest(query, ASKED, &|_| true));
            assert!(plain < 0.98, "{plain} without centring, {all} with");
        }
    }
}

/// Without codes the shortlist contains the nearest, and exact vectors rank them.
#[test]
fn sketches_alone_find_what_an_exact_search_finds() {
    for many in [5_000, 20_000] {
        let mut arrays = Arrays::new(DIMENSIONS);
        arrays.drop_codes();
        let corpus = corpus_with(many, 30, arrays, |vector| vector);
        let recall = corpus.recall(
            |_| true,
            |query| {
                let found = nearest_of(&[&corpus.arrays], query, ASKED, None);
                assert!(found.ranked.is_empty() && found.undecided.len() < 1_000, "{}", found.undecided.len());
                found.undecided.into_iter().map(|key| Candidate { key, similarity: 0.0 }).collect()
            },
        );
        assert!(recall >= 0.999, "{many}: {recall}");
    }
}

#[test]
fn tombstones_do_not_starve_a_long_array() {
    let mut corpus = corpus(16_000, 10);
    let alive = |key: i64| key % 40 == 0;
    for key in (0..16_000).filter(|&key| !alive(key)) {
        assert!(corpus.arrays.remove(key));
    }
    let recall = corpus.recall(alive, |query| corpus.arrays.nearest(query, ASKED, &|_| true));
    assert!(recall >= 0.999, "{recall}");
}

#[test]
fn a_long_array_of_one_vector_answers_in_full() {
    let mut arrays = Arrays::new(64);
    let vector = vec![0.5; 64];
    for key in 0..13_000 {
        arrays.insert(key, &vector);
    }
    let found = arrays.nearest(&Query::new(&vector), 25, &|key| key >= 5);
    assert_eq!(found.len(), 25);
    assert!(found.iter().all(|candidate| candidate.similarity > 0.999));
}

#[test]
fn a_vector_takes_no_more_than_it_should() {
    let mut arrays = Arrays::new(DIMENSIONS);
    let vector = vec![1.0; DIMENSIONS];
    for key in 0..8_192 {
        arrays.insert(key, &vector);
    }
    let each = arrays.bytes() / arrays.len();
    assert!(each <= 460, "{each}");
}
