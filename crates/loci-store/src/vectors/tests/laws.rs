//! Properties of the arrays for any sequence of changes and any query.

use std::collections::{HashMap, HashSet};

use proptest::collection::vec;
use proptest::prelude::*;

use crate::vectors::{Arrays, Query};

const DIMENSIONS: usize = 24;

#[derive(Debug, Clone)]
enum Step {
    Insert(i64, Vec<f32>),
    Remove(i64),
}

fn vector() -> impl Strategy<Value = Vec<f32>> {
    let odd = prop_oneof![Just(0.0_f32), Just(f32::NAN), Just(f32::INFINITY), Just(1e38), Just(1e-40)];
    prop_oneof![
        9 => vec(-1.0_f32..1.0, DIMENSIONS),
        1 => vec(odd, DIMENSIONS),
        1 => vec(-1.0_f32..1.0, 0..2 * DIMENSIONS),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (0_i64..40, vector()).prop_map(|(key, vector)| Step::Insert(key * 1_000_003, vector)),
        1 => (0_i64..40).prop_map(|key| Step::Remove(key * 1_000_003)),
    ];
    vec(step, 0..120)
}

/// The arrays and a plain map after the same steps.
fn run(steps: &[Step]) -> (Arrays, HashMap<i64, Vec<f32>>) {
    let (mut arrays, mut model) = (Arrays::new(DIMENSIONS), HashMap::new());
    for step in steps {
        match step {
            Step::Insert(key, vector) => {
                arrays.insert(*key, vector);
                model.insert(*key, vector.clone());
            }
            Step::Remove(key) => assert_eq!(arrays.remove(*key), model.remove(key).is_some()),
        }
    }
    (arrays, model)
}

/// Whether a vector can be found.
fn sound(vector: &[f32]) -> bool {
    vector.len() == DIMENSIONS
        && vector.iter().all(|value| value.is_finite())
        && vector.iter().any(|&value| value != 0.0)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arrays_equal_a_map(steps in steps()) {
        let (arrays, model) = run(&steps);
        prop_assert_eq!(arrays.len(), model.len());
        prop_assert_eq!(arrays.is_empty(), model.is_empty());
        for key in (-1..41).map(|key| key * 1_000_003) {
            prop_assert_eq!(arrays.contains(key), model.contains_key(&key));
        }
        // No slot is leaked: there are at most as many as the greatest number of keys at any time.
        prop_assert!(arrays.slots() <= 40);
    }

    #[test]
    fn nearest_equals_an_exhaustive_search(steps in steps(), query in vector(), want in 0_usize..50, odd in 1_i64..4) {
        let (arrays, model) = run(&steps);
        let query_sound = sound(&query);
        let query = Query::new(&query);
        let keep = |key: i64| key % odd == 0;
        let found = arrays.nearest(&query, want, &keep);

        let mut expect: Vec<f32> = model.iter()
            .filter(|(key, vector)| query_sound && keep(**key) && sound(vector))
            .map(|(_, vector)| query.exact(vector))
            .collect();
        expect.sort_by(|left, right| right.total_cmp(left));
        expect.truncate(want);

        prop_assert_eq!(found.len(), expect.len());
        let distinct: HashSet<i64> = found.iter().map(|candidate| candidate.key).collect();
        prop_assert_eq!(distinct.len(), found.len());
        prop_assert!(found.is_sorted_by(|left, right| left.similarity >= right.similarity));
        for (candidate, expect) in found.iter().zip(expect) {
            prop_assert!(keep(candidate.key));
            prop_assert!((candidate.similarity - expect).abs() < 0.02);
            prop_assert!((candidate.similarity - query.exact(&model[&candidate.key])).abs() < 0.02);
        }
    }

    #[test]
    fn among_is_a_filter(steps in steps(), query in vector(), want in 0_usize..50, keys in vec(-5_i64..45, 0..60)) {
        let (arrays, _) = run(&steps);
        let query = Query::new(&query);
        let keys: Vec<i64> = keys.into_iter().map(|key| key * 1_000_003).collect();
        let filtered = arrays.nearest(&query, want, &|key| keys.contains(&key));
        prop_assert_eq!(arrays.nearest_among(&query, want, &keys), filtered);
    }
}

#[test]
fn keep_is_asked_only_of_those_who_would_enter() {
    let mut arrays = Arrays::new(2);
    for key in 0..1_000 {
        arrays.insert(key, &[1.0, key as f32 / 1_000.0]);
    }
    let asked = std::cell::Cell::new(0);
    let found = arrays.nearest(&Query::new(&[1.0, 0.0]), 3, &|_| {
        asked.set(asked.get() + 1);
        true
    });
    assert_eq!(found.iter().map(|candidate| candidate.key).collect::<Vec<_>>(), [0, 1, 2]);
    assert!(asked.get() < 20, "{}", asked.get());
}

#[test]
fn an_empty_array_answers_with_nothing() {
    for dimensions in [0, 3] {
        let arrays = Arrays::new(dimensions);
        assert!(arrays.nearest(&Query::new(&vec![1.0; dimensions]), 5, &|_| true).is_empty());
        assert!(arrays.nearest_among(&Query::new(&vec![1.0; dimensions]), 5, &[1]).is_empty());
    }
}
