//! How often does one question wait for PostgreSQL?

use std::sync::Arc;

use loci_engine::{Caller, NewMemory, RecallRequest};
use loci_store::{PostgresOptions, PostgresStore};
use loci_testkit::servers::Schema;
use loci_types::Layer;

use crate::house::{House, new, user};

#[tokio::test(flavor = "multi_thread")]
async fn one_recall_waits_twelve_times_at_most() {
    let Some(schema) = Schema::new() else { return };
    let options = PostgresOptions { schema: schema.name.clone(), partitions: 2, ..PostgresOptions::default() };
    let store = Arc::new(PostgresStore::open(&schema.url, options).await.unwrap());
    let house = House::on(|_, _| store.clone());
    let ana = user("ana");
    remember(&house, &ana).await;
    let waited = least_of_a_recall(&house, &store, &ana).await;
    println!("one recall: {waited} round trips");
    assert!(waited <= 12, "{waited} round trips");
    // A project lies in another space. Both are read at the same time, and each costs no more than one alone.
    let mut both = ana.clone();
    both.identifiers.project_id = Some("atlas".to_owned());
    let project = NewMemory { layer: Some(Layer::Project), ..new("The lantern of the project hangs in the hall") };
    house.engine.remember(&both, project).await.unwrap();
    let waited = least_of_a_recall(&house, &store, &both).await;
    println!("one recall in two spaces: {waited} round trips, half of them at the same time");
    assert!(waited <= 24, "{waited} round trips");
}

async fn remember(house: &House, ana: &Caller) {
    for text in ["The lantern hangs by the door", "Ana keeps bees behind the barn", "The boat is painted green"] {
        house.remember(ana, text).await;
    }
}

/// How often one recall waits for the server.
async fn least_of_a_recall(house: &House, store: &PostgresStore, caller: &Caller) -> u64 {
    let mut waited = u64::MAX;
    // Connections of the pool prepare what they are asked for the first time, and uses are counted behind some answers: the
    // least is what one question needs.
    for _ in 0..40 {
        let before = store.round_trips();
        let request = RecallRequest { query: "Where does the lantern hang?".to_owned(), ..RecallRequest::default() };
        let found = house.engine.recall(caller, request).await.unwrap();
        assert!(!found.hits.is_empty());
        waited = waited.min(store.round_trips() - before);
    }
    waited
}
