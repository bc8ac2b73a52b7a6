//! pgvector beside files: exact neighbours, filters without loss, and rebuilding of a lost index.

use std::sync::Arc;

use loci_store::prelude::*;
use loci_store::{Collection, Mark, PgvectorConfig, PgvectorIndex, PointFilter, VectorIndex, VectorPoint};
use loci_testkit::driver::good;
use loci_testkit::samples::*;
use loci_testkit::servers::Schema;
use loci_testkit::vectors::hashed_vector;
use loci_types::{MemoryId, State, Tenant};

use crate::outside::{indexed, options, pgvector};

const SIZE: usize = 32;

fn point(number: u64) -> VectorPoint {
    let scope = user(&format!("u{}", number % 20));
    let values = hashed_vector(&format!("lantern {number} in house {}", number % 37), SIZE);
    VectorPoint { memory: memory(number, &scope, "lantern"), scope: scope.key(), values }
}

/// The nearest by comparing each with the question.
fn exact(points: &[VectorPoint], scope: Option<&str>, query: &[f32], limit: usize) -> Vec<MemoryId> {
    let matching = points.iter().filter(|point| scope.is_none_or(|scope| point.scope == scope));
    let mut found: Vec<(f32, MemoryId)> = matching
        .map(|point| {
            let direction = point.direction().unwrap();
            (direction.iter().zip(query).map(|(a, b)| a * b).sum(), point.memory.id)
        })
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.truncate(limit);
    found.into_iter().map(|(_, id)| id).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_graph_loses_hardly_any_and_a_narrow_filter_none() {
    let Some(schema) = Schema::new() else { return };
    let space = user("u0").space();
    let collection = Collection { tenant: Tenant::default(), space, model: MODEL.to_owned(), dimensions: SIZE };
    let points: Vec<VectorPoint> = (1..=2_000).map(point).collect();
    let filling = PgvectorIndex::new(pgvector(&schema)).unwrap();
    assert_eq!(good(filling.position(&collection).await), None, "nothing is there, not even the schema");
    good(filling.prepare(&collection).await);
    for some in points.chunks(256) {
        good(filling.upsert(&collection, some).await);
    }
    let mark = Mark { sequence: 7, at: Some(9) };
    good(filling.advance(&collection, mark).await);
    assert_eq!(good(filling.count(&collection).await), Some(2_000));
    // All of it by the graph, some of it, and none of it.
    for exact_up_to in [0, 500, 10_000] {
        let index = PgvectorIndex::new(PgvectorConfig { exact_up_to, ..pgvector(&schema) }).unwrap();
        assert_eq!(good(index.position(&collection).await), Some(mark));
        let (mut right, mut asked) = (0, 0);
        for number in 0..20 {
            let asked_for = point(10_000 + number);
            let query = asked_for.direction().unwrap();
            for (scope, limit) in
                [(None, 10), (Some(asked_for.scope.as_str()), 10), (Some(asked_for.scope.as_str()), 150)]
            {
                let scopes = scope.map(|scope| vec![scope.to_owned()]);
                let wanted =
                    PointFilter { scopes, states: vec![State::Active], heads_only: true, ..PointFilter::default() };
                let found = good(index.search(&collection, &wanted, &query, limit).await).unwrap();
                let expect = exact(&points, scope, &query, limit);
                assert_eq!(found.len(), expect.len(), "{exact_up_to} {scope:?} {limit}");
                right += found.iter().filter(|(id, _)| expect.contains(id)).count();
                asked += expect.len();
            }
        }
        assert!(right * 100 >= asked * 99, "{right} of {asked} with {exact_up_to}");
    }
    let other = PgvectorIndex::new(PgvectorConfig { halfvec: true, ..pgvector(&schema) }).unwrap();
    assert_eq!(good(other.position(&collection).await), None, "another precision is another table");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_lost_is_filled_again() {
    let Some(schema) = Schema::new() else { return };
    let folder = tempfile::tempdir().unwrap();
    let store = indexed(&folder, Arc::new(PgvectorIndex::new(pgvector(&schema)).unwrap()), options());
    let scope = user("anna");
    let near = async || {
        let hits = good(store.nearest(&whole(), &vector("lantern"), &now(), 100).await);
        hits.len()
    };
    for number in 1..10 {
        let memory = memory(number, &scope, &format!("lantern {number}"));
        good(store.apply(batch(&scope.space(), vec![add(memory)])).await);
    }
    assert_eq!(near().await, 9);
    good(store.indexed().unwrap().verify(&Tenant::default(), |_, _, _| {}).await);
    schema.ask(&format!("DROP SCHEMA {} CASCADE", schema.name));
    assert_eq!(near().await, 9);
    for verified in good(store.indexed().unwrap().verify(&Tenant::default(), |_, _, _| {}).await) {
        assert!(verified.is_sound() && verified.points == 9, "{verified:?}");
    }
}
