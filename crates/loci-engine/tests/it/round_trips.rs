//! How often does one question wait for PostgreSQL?

use std::sync::Arc;

use loci_engine::RecallRequest;
use loci_store::{PostgresOptions, PostgresStore};
use loci_testkit::servers::Schema;

use crate::house::{House, user};

#[tokio::test(flavor = "multi_thread")]
async fn one_recall_waits_twelve_times_at_most() {
    let Some(schema) = Schema::new() else { return };
    let options = PostgresOptions { schema: schema.name.clone(), partitions: 2, ..PostgresOptions::default() };
    let store = Arc::new(PostgresStore::open(&schema.url, options).await.unwrap());
    let house = House::on(|_, _| store.clone());
    let ana = user("ana");
    for text in ["The lantern hangs by the door", "Ana keeps bees behind the barn", "The boat is painted green"] {
        house.remember(&ana, text).await;
    }
    let mut waited = 0;
    // Connections of the pool prepare what they are asked for the first time.
    for _ in 0..40 {
        let before = store.round_trips();
        let request = RecallRequest { query: "Where does the lantern hang?".to_owned(), ..RecallRequest::default() };
        let found = house.engine.recall(&ana, request).await.unwrap();
        assert!(!found.hits.is_empty());
        waited = store.round_trips() - before;
    }
    println!("one recall: {waited} round trips");
    assert!(waited <= 12, "{waited} round trips");
}
