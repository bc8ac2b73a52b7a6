//! A server is notified when another has written.

use std::time::Duration;

use loci_store::prelude::*;
use loci_store::{PostgresOptions, PostgresStore};
use loci_testkit::driver::good;
use loci_testkit::samples::*;
use loci_testkit::servers::Schema;
use tokio::sync::watch;

async fn open(schema: &Schema) -> PostgresStore {
    let options = PostgresOptions { schema: schema.name.clone(), partitions: 2, ..PostgresOptions::default() };
    PostgresStore::open(&schema.url, options).await.unwrap()
}

async fn hears(moved: &mut watch::Receiver<u64>, what: &str) {
    let changed = tokio::time::timeout(Duration::from_secs(60), moved.changed()).await;
    assert!(matches!(changed, Ok(Ok(()))), "not heard: {what}");
}

// Coverage: SPEC-11.3.
#[tokio::test(flavor = "multi_thread")]
async fn a_write_through_one_wakes_the_other() {
    let Some(schema) = Schema::new() else { return };
    let (one, other) = (open(&schema).await, open(&schema).await);
    let mut moved = other.change_signal().unwrap();
    hears(&mut moved, "that it listens").await;
    let scope = user("anna");
    let add = async |number: u64| {
        let memory = memory(number, &scope, &format!("lantern {number}"));
        good(one.apply(batch(&scope.space(), vec![add(memory)])).await);
    };
    add(1).await;
    hears(&mut moved, "a write").await;
    // The connection is cut, as by a server that fails over.
    schema.ask(&format!(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'LISTEN \"{}\"'",
        schema.name
    ));
    hears(&mut moved, "that it listens again").await;
    add(2).await;
    hears(&mut moved, "a write after that").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stores_say_what_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let files = loci_store::SqliteStore::open(folder.path(), loci_store::SqliteOptions::default()).unwrap();
    let health = good(files.health().await);
    assert_eq!((health.name.as_str(), health.version.starts_with("3.")), ("sqlite", true));
    assert!(files.change_signal().is_none());
    let Some(schema) = Schema::new() else { return };
    let health = good(open(&schema).await.health().await);
    assert_eq!(health.name, "postgres");
    assert!(health.version.split('.').all(|part| part.parse::<u32>().is_ok()), "{health:?}");
}
