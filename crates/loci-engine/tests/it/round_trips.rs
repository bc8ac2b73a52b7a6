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
    let waited = async |uncounted: bool| {
        // Nothing of what the question before has left to be written is under way.
        house.engine.flush().await;
        let before = store.round_trips();
        let query = "Where does the lantern hang?".to_owned();
        let request = RecallRequest { query, uncounted, ..RecallRequest::default() };
        assert!(!house.engine.recall(&ana, request).await.unwrap().hits.is_empty());
        house.engine.flush().await;
        store.round_trips() - before
    };
    // Every connection of the pool prepares what it is asked for the first time.
    for _ in 0..60 {
        waited(false).await;
    }
    let (mut alone, mut with_uses) = (0, 0);
    for _ in 0..20 {
        alone = alone.max(waited(true).await);
        with_uses = with_uses.max(waited(false).await);
    }
    println!("one recall: {alone} round trips, {with_uses} with the uses that are written behind it");
    assert!(alone < with_uses, "no use was counted");
    assert!(alone <= 12, "{alone} round trips");
    assert!(with_uses <= 12, "{with_uses} round trips with what is written behind");
}
