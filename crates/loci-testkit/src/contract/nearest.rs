//! Contract: nearest neighbours.

use loci_store::Store;
use loci_types::{Action, Addition, ErrorKind, Filter, Memory, MemoryId, Outcome, Revision, Vector};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use crate::driver::{Driver, good};
use crate::samples::*;

const WIDE: usize = 96;

fn unit(random: &mut StdRng) -> Vec<f32> {
    let values: Vec<f32> = (0..WIDE).map(|_| random.random_range(-1.0..1.0)).collect();
    let length = values.iter().map(|value| value * value).sum::<f32>().sqrt();
    values.into_iter().map(|value| value / length).collect()
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
}

fn of_model(model: &str, values: Vec<f32>) -> Vector {
    Vector { model: model.to_owned(), values, token_states: None }
}

/// Creates 300 memories in two scopes, of which 1 in 100 has the tag `rare`.
async fn crowd(driver: &Driver<'_>, random: &mut StdRng) -> Vec<(Memory, Vec<f32>)> {
    let scopes = [user("anna"), user("vera")];
    let mut crowd = Vec::new();
    let mut changes = Vec::new();
    for number in 0..300_usize {
        let mut memory = driver.sample(&scopes[number % 2], &format!("memory {number}"));
        memory.tags = if number % 100 == 7 { vec!["rare".into()] } else { vec!["common".into()] };
        let values = unit(random);
        let vector = Some(of_model("wide", values.clone()));
        let addition = Addition { vector, ..Addition::new(memory.clone()) };
        changes.push(change(memory.created_at, Action::Add(Box::new(addition))));
        crowd.push((memory, values));
    }
    good(driver.store.apply(batch(&scopes[0].space(), changes)).await);
    crowd
}

async fn agrees(
    driver: &Driver<'_>,
    visible: &loci_types::Visible,
    filter: &Filter,
    crowd: &[(Memory, Vec<f32>)],
    query: &[f32],
) {
    for limit in [1, 10, 100, 1_000] {
        let is_candidate = |(memory, _): &&(Memory, Vec<f32>)| filter.matches(memory) && visible.admits(memory);
        let mut exact: Vec<(f64, MemoryId)> = crowd
            .iter()
            .filter(is_candidate)
            .map(|(memory, values)| (cosine(values, query).max(0.0), memory.id))
            .collect();
        exact.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        exact.truncate(limit);
        let hits = good(driver.store.nearest(visible, &of_model("wide", query.to_vec()), filter, limit).await);
        assert_eq!(hits.len(), exact.len(), "limit {limit}");
        for (hit, (score, id)) in hits.iter().zip(&exact) {
            assert!((hit.score - score).abs() < 1e-4, "{} instead of {score} at limit {limit}", hit.score);
            // The order of memories with a score of 0 is undefined.
            assert!(hit.id == *id || *score < 1e-4, "limit {limit}");
        }
    }
}

// Coverage: S2.22, SPEC-11.5.
/// Results equal those by exact cosine, for any limit.
pub async fn nearest_is_exact(store: &dyn Store) {
    let driver = Driver::on(store);
    let mut random = StdRng::seed_from_u64(7);
    let crowd = crowd(&driver, &mut random).await;
    for _ in 0..10 {
        let query = unit(&mut random);
        agrees(&driver, &whole(), &now(), &crowd, &query).await;
        agrees(&driver, &visible(&[user("anna")]), &now(), &crowd, &query).await;
        agrees(&driver, &visible(&[user("anna"), user("vera")]), &now(), &crowd, &query).await;
    }
}

/// A filter that matches 1 in 100 memories still returns all of them.
pub async fn a_selective_filter_starves_nobody(store: &dyn Store) {
    let driver = Driver::on(store);
    let mut random = StdRng::seed_from_u64(8);
    let crowd = crowd(&driver, &mut random).await;
    for tags in [vec!["rare".to_owned()], vec!["common".to_owned()], vec!["none".to_owned()]] {
        let filter = Filter { tags, ..now() };
        for _ in 0..5 {
            let query = unit(&mut random);
            agrees(&driver, &whole(), &filter, &crowd, &query).await;
            agrees(&driver, &visible(&[user("vera")]), &filter, &crowd, &query).await;
        }
    }
}

// Coverage: S0-7.2, S0.9.
/// A query by one model never returns vectors of another, even with the same number of dimensions.
pub async fn models_never_mix(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let values = vector("lantern").values;
    let mut ids = Vec::new();
    for model in ["a", "b", "a"] {
        let memory = driver.sample(&anna, "lantern");
        ids.push(memory.id);
        let addition = Addition { vector: Some(of_model(model, values.clone())), ..Addition::new(memory) };
        driver.must(&anna.space(), Action::Add(Box::new(addition))).await;
    }
    let near = async |model: &str| {
        let hits = good(store.nearest(&whole(), &of_model(model, values.clone()), &now(), 10).await);
        let mut ids: Vec<_> = hits.into_iter().map(|hit| hit.id).collect();
        ids.sort();
        ids
    };
    assert_eq!(near("a").await, [ids[0], ids[2]]);
    assert_eq!(near("b").await, [ids[1]]);
    assert_eq!(near("c").await, []);
    assert_eq!(good(store.vectors(&whole(), "b", &ids).await), [(ids[1], of_model("b", values.clone()))]);
    // A memory may have vectors of two models until one of them is dropped.
    let moved = Action::Embed { id: ids[0], of: hash("lantern"), vector: of_model("b", values.clone()) };
    driver.must(&anna.space(), moved).await;
    assert_eq!(near("a").await, [ids[0], ids[2]]);
    assert_eq!(near("b").await, [ids[0], ids[1]]);
    driver.must(&anna.space(), Action::DropVectors { model: "a".into() }).await;
    assert_eq!(near("a").await, []);
    assert_eq!(near("b").await, [ids[0], ids[1]]);
    let models = good(store.stats(&whole()).await);
    assert_eq!((models.vectors.get("a"), models.vectors.get("b"), models.without_vector), (None, Some(&2), 1));
    let again = Action::Embed { id: ids[2], of: hash("lantern"), vector: of_model("a", values.clone()) };
    driver.must(&anna.space(), again).await;
    assert_eq!(near("a").await, [ids[2]]);
}

/// A model has a fixed number of dimensions; a change with another one is refused as a whole.
pub async fn the_wrong_dimension_is_refused(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let kept = driver.remember(&anna, "lantern").await;
    let memory = driver.sample(&anna, "candle");
    let (lost, short) = (memory.id, of_model(MODEL, vec![1.0, 0.0]));
    let addition = Addition { vector: Some(short.clone()), ..Addition::new(memory) };
    let error = driver.act(&anna.space(), Action::Add(Box::new(addition))).await.expect_err("too short");
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert_eq!(driver.get(lost).await, None);
    let embed = Action::Embed { id: kept, of: hash("lantern"), vector: short.clone() };
    driver.act(&anna.space(), embed).await.expect_err("too short");
    assert_eq!(driver.near(&whole(), "lantern", &now()).await, [kept]);
    let asked = store.nearest(&whole(), &short, &now(), 9).await;
    assert!(asked.is_err() || asked.is_ok_and(|hits| hits.is_empty()), "a short question finds nothing");
}

/// A vector of an earlier text of the memory is not stored.
pub async fn a_vector_of_an_old_text_is_ignored(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let kept = driver.remember(&anna, "lantern").await;
    driver.must(&anna.space(), Action::Revise(Box::new(new_text(kept, "candle", false)))).await;
    let late = Action::Embed { id: kept, of: hash("lantern"), vector: vector("lantern") };
    assert_eq!(driver.must(&anna.space(), late).await.outcome, Outcome::None);
    assert_eq!(good(store.vectors(&whole(), MODEL, &[kept]).await), []);
    assert_eq!(driver.near(&whole(), "lantern", &now()).await, []);
}

/// Vectors of zeros, NaN or infinity are stored but never found.
pub async fn a_vector_without_direction_is_nobodys_neighbour(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let kept = driver.remember(&anna, "lantern").await;
    for values in [vec![0.0; DIMENSIONS], vec![f32::NAN; DIMENSIONS], vec![f32::INFINITY; DIMENSIONS]] {
        let memory = driver.sample(&anna, "odd");
        let addition = Addition { vector: Some(of_model(MODEL, values.clone())), ..Addition::new(memory) };
        driver.must(&anna.space(), Action::Add(Box::new(addition))).await;
        assert_eq!(driver.near(&whole(), "lantern", &now()).await, [kept]);
        assert_eq!(good(store.nearest(&whole(), &of_model(MODEL, values), &now(), 9).await), []);
    }
}

/// Token states are read back with their vector, and removed with it.
pub async fn token_states_read_back(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let memory = driver.sample(&anna, "lantern");
    let kept = memory.id;
    let mut said = Vector { token_states: Some(vec![0, 7, 255, 0]), ..vector("lantern") };
    let addition = Addition { vector: Some(said.clone()), ..Addition::new(memory) };
    driver.must(&anna.space(), Action::Add(Box::new(addition))).await;
    let read = async || good(store.vectors(&whole(), MODEL, &[kept]).await);
    assert_eq!(read().await, [(kept, said.clone())]);
    for states in [Some(vec![3]), Some(vec![]), None] {
        said.token_states = states;
        driver.must(&anna.space(), Action::Embed { id: kept, of: hash("lantern"), vector: said.clone() }).await;
        assert_eq!(read().await, [(kept, said.clone())]);
    }
    said.token_states = Some(vec![1, 2]);
    let revision = Revision { vector: Some(said), ..new_text(kept, "candle", true) };
    driver.must(&anna.space(), Action::Revise(Box::new(revision))).await;
    assert_eq!(read().await[0].1.token_states, Some(vec![1, 2]));
    driver.must(&anna.space(), Action::Revise(Box::new(new_text(kept, "torch", false)))).await;
    assert_eq!(read().await, []);
}

/// The vectors of a model are read back; memories without one are left out.
pub async fn vectors_read_back(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let one = driver.remember(&anna, "one").await;
    let bare = driver.sample(&anna, "two");
    let two = bare.id;
    driver.must(&anna.space(), Action::Add(Box::new(Addition::new(bare)))).await;
    let three = driver.remember(&agent("bot"), "three").await;
    let mut read = good(store.vectors(&whole(), MODEL, &[three, two, one, id(77_777)]).await);
    read.sort_by_key(|(id, _)| *id);
    assert_eq!(read, [(one, vector("one")), (three, vector("three"))]);
    assert_eq!(good(store.stats(&whole()).await).without_vector, 1);
}
