//! Two servers on the same spaces.
//!
//! Each believes the number of a space for a moment. What one of them makes or takes away, the other must
//! neither miss nor write to.

use std::time::Duration;

use loci_store::prelude::*;
use loci_store::{CatalogueChange, Error, JobUpdate, Pool, PoolFilter, PostgresOptions, PostgresStore};
use loci_testkit::contract::sound;
use loci_testkit::driver::{Driver, good};
use loci_testkit::samples::*;
use loci_testkit::servers::Schema;
use loci_types::{Action, Bookkeeping, JobKind, JobSpec, Layer, Tenant};

use crate::postgres::fresh;

async fn two() -> Option<(PostgresStore, PostgresStore, Schema)> {
    let (one, schema) = fresh().await?;
    let options = PostgresOptions { schema: schema.name.clone(), partitions: 2, ..PostgresOptions::default() };
    let other = good(PostgresStore::open(&schema.url, options).await);
    Some((one, other, schema))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_is_dropped_whole_by_a_server_that_never_met_it() {
    let Some((one, other, schema)) = two().await else { return };
    let bot = agent("bot");
    Driver::on(&one).remember(&bot, "lantern").await;
    assert!(good(other.change_catalogue(&Tenant::default(), CatalogueChange::DropAgent("bot".to_owned())).await) > 0);
    for table in ["memories", "words", "documents", "ledger", "scopes", "spaces", "agents"] {
        assert_eq!(schema.number(&format!("SELECT count(*) FROM {table}")), 0, "{table}");
    }
    // The first still believes in the space; nothing is acknowledged that nobody would find.
    let late = batch(&bot.space(), vec![add(memory(900, &bot, "lantern"))]);
    assert!(matches!(one.apply(late.clone()).await, Err(Error::Overtaken(_))));
    good(one.apply(late).await);
    for store in [&one, &other] {
        assert_eq!(good(store.fetch(&whole(), &[id(900)]).await).len(), 1);
    }
    sound(&other).await;
}

// Coverage: S4.17.
#[tokio::test(flavor = "multi_thread")]
async fn a_pool_is_dropped_whole_by_a_server_that_never_met_it() {
    let Some((one, other, schema)) = two().await else { return };
    let (tenant, physics) = (Tenant::default(), scope(Layer::Pool, &["physics"]));
    let pool = Pool { pool_id: "physics".into(), name: "Physics".into(), created_at: at(1) };
    assert!(
        good(
            one.change_catalogue(&tenant, CatalogueChange::CreatePool { pool, members: ["bot".into()].to_vec() }).await
        ) > 0
    );
    Driver::on(&one).remember(&physics, "lantern").await;
    assert!(!good(other.pools(&tenant, &PoolFilter::shared("physics", "bot")).await).is_empty());
    assert!(good(other.change_catalogue(&tenant, CatalogueChange::DropPool("physics".to_owned())).await) > 0);
    for table in ["memories", "words", "documents", "ledger", "scopes", "spaces", "pools", "pool_members"] {
        assert_eq!(schema.number(&format!("SELECT count(*) FROM {table}")), 0, "{table}");
    }
    assert!(good(one.pools(&tenant, &PoolFilter::shared("physics", "bot")).await).is_empty());
    sound(&other).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_of_a_space_that_another_made_are_claimed() {
    let Some((one, other, _schema)) = two().await else { return };
    let bot = agent("bot");
    let job = JobSpec { kind: JobKind::Purge, payload: "x".into(), unique: None, run_after: at(0) };
    Driver::on(&one).must(&bot.space(), Action::Bookkeeping(Bookkeeping::Enqueue(job))).await;
    let lease = Duration::from_secs(60);
    let claimed = good(other.claim(&Tenant::default(), JobKind::ALL, 9, at(10), lease).await);
    assert_eq!(claimed.len(), 1);
    assert!(good(other.update_job(&Tenant::default(), &claimed[0], JobUpdate::Done).await));
}
