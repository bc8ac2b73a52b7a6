//! Counts how often one recall waits for PostgreSQL.

use std::sync::Arc;

use loci_engine::{Caller, NewMemory, RecallRequest};
use loci_store::{PostgresOptions, PostgresStore, SqliteOptions, SqliteStore};
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
    for text in ["The lantern hangs by the door", "Ana keeps bees behind the barn", "The boat is painted green"] {
        house.remember(&ana, text).await;
    }
    let (alone, with_uses) = round_trips(&house, &store, &ana).await;
    println!("one recall: {alone} round trips, {with_uses} with the uses that are written behind it");
    assert!(alone <= 12, "{alone} round trips");
    assert!(with_uses <= 12, "{with_uses} round trips with what is written behind");

    // A project is in another space. Both spaces are read at the same time, and each costs no more than one alone.
    let mut both = ana.clone();
    both.identifiers.project_id = Some("atlas".to_owned());
    let project = NewMemory { layer: Some(Layer::Project), ..new("The lantern of the project hangs in the hall") };
    house.engine.remember(&both, project).await.unwrap();
    let (alone, with_uses) = round_trips(&house, &store, &both).await;
    println!("one recall in two spaces: {alone} round trips, half of them at the same time; {with_uses} with the uses");
    assert!(alone <= 24 && with_uses <= 24, "{alone} and {with_uses} round trips");
}

/// The most round trips of one recall, by itself and with the access counts that are written after its answer.
async fn round_trips(house: &House, store: &PostgresStore, caller: &Caller) -> (u64, u64) {
    let waited = async |uncounted: bool| {
        // What an earlier recall has left to be written is finished first.
        house.engine.flush().await;
        let before = store.round_trips();
        let query = "Where does the lantern hang?".to_owned();
        let request = RecallRequest { query, uncounted, ..RecallRequest::default() };
        assert!(!house.engine.recall(caller, request).await.unwrap().hits.is_empty());
        house.engine.flush().await;
        store.round_trips() - before
    };
    // Every connection of the pool prepares each statement when it runs it for the first time.
    for _ in 0..60 {
        waited(false).await;
    }
    let (mut alone, mut with_uses) = (0, 0);
    for _ in 0..20 {
        alone = alone.max(waited(true).await);
        with_uses = with_uses.max(waited(false).await);
    }
    assert!(alone < with_uses, "no use was counted");
    (alone, with_uses)
}

/// Access counts of concurrent recalls are one write, and no count is lost.
#[tokio::test(flavor = "multi_thread")]
async fn uses_that_come_together_are_written_together() {
    let mut store = None;
    let house = House::on(|folder, _| {
        let opened = Arc::new(SqliteStore::open(folder, SqliteOptions::default()).unwrap());
        store = Some(opened.clone());
        opened
    });
    let (store, ana) = (store.unwrap(), user("ana"));
    let lantern = house.remember(&ana, "The lantern hangs by the door").await.id;
    house.engine.flush().await;
    let before = store.commits();
    // Nobody else can write meanwhile, so the first count waits.
    let file = house.file_of("ana");
    file.execute_batch("BEGIN IMMEDIATE").unwrap();
    for _ in 0..20 {
        let request = RecallRequest { query: "Where does the lantern hang?".to_owned(), ..RecallRequest::default() };
        assert!(!house.engine.recall(&ana, request).await.unwrap().hits.is_empty());
    }
    file.execute_batch("COMMIT").unwrap();
    house.engine.flush().await;
    assert_eq!(house.engine.get(&ana, lantern).await.unwrap().access_count, 20);
    assert_eq!(store.commits() - before, 2, "one for the first, and one for all others");
}
