//! Two servers whose clocks are five minutes apart.
//!
//! Work that only one may do goes by locks and not by clocks. A job in hand is given again when its lease is over
//! by the clock of whoever asks: with clocks that far apart the one ahead takes what the other has
//! just begun, and only one of them may end it. What is due, and what has expired, goes by the clock of
//! whoever looks.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use loci_store::prelude::*;
use loci_store::{JobUpdate, LedgerQuery, PostgresOptions, PostgresStore};
use loci_testkit::contract::sound;
use loci_testkit::driver::{Driver, good};
use loci_testkit::samples::*;
use loci_testkit::servers::Schema;
use loci_types::{Action, Bookkeeping, Filter, Job, JobKind, JobSpec, Memory, Tenant};

use crate::postgres::fresh;

const LEASE: Duration = Duration::from_secs(120);

/// One server is right, the other five minutes ahead.
async fn two() -> Option<(PostgresStore, PostgresStore, Schema)> {
    let (right, schema) = fresh().await?;
    let options = PostgresOptions { schema: schema.name.clone(), ..PostgresOptions::default() };
    let ahead = good(PostgresStore::open(&schema.url, options).await);
    Some((right, ahead, schema))
}

fn ahead_of(time: Timestamp) -> Timestamp {
    time + SignedDuration::from_mins(5)
}

async fn claim(store: &PostgresStore, now: Timestamp) -> Vec<Job> {
    good(store.claim(&Tenant::default(), JobKind::ALL, 9, now, LEASE).await)
}

// Coverage: SPEC-11.4.
#[tokio::test(flavor = "multi_thread")]
async fn a_lease_does_not_go_by_the_clock() {
    let Some((right, ahead, _schema)) = two().await else { return };
    let tenant = Tenant::default();
    let now = at(1_000);
    assert!(good(right.lease(&tenant, "maintenance", "right", now, LEASE).await));
    for later in [ahead_of(now), ahead_of(ahead_of(now))] {
        let taken = good(ahead.lease(&tenant, "maintenance", "ahead", later, LEASE).await);
        assert!(!taken, "whoever is ahead believes that it is over");
    }
    good(right.lease(&tenant, "maintenance", "right", at(0), Duration::ZERO).await);
    assert!(good(ahead.lease(&tenant, "maintenance", "ahead", ahead_of(now), LEASE).await));
    assert!(!good(right.lease(&tenant, "maintenance", "right", now, LEASE).await));
    // A server that is gone holds nothing, whatever its clock said.
    drop(ahead);
    let begun = std::time::Instant::now();
    while !good(right.lease(&tenant, "maintenance", "right", now, LEASE).await) {
        assert!(begun.elapsed() < Duration::from_secs(10), "the lock of a server that is gone was never let go");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_may_be_begun_twice_and_is_ended_once() {
    let Some((right, ahead, _schema)) = two().await else { return };
    let (driver, anna, tenant) = (Driver::on(&right), user("anna"), Tenant::default());
    let job = |run_after| {
        Action::Bookkeeping(Bookkeeping::Enqueue(JobSpec {
            kind: JobKind::Link,
            payload: serde_json::json!({}),
            unique: None,
            run_after,
        }))
    };
    let now = at(1_000);
    driver.must(&anna.space(), job(now)).await;
    let mine = claim(&right, now).await;
    assert_eq!(mine.len(), 1);
    let theirs = claim(&ahead, ahead_of(now)).await;
    assert_eq!((theirs.len(), theirs[0].id, theirs[0].attempt), (1, mine[0].id, 2));
    // Now nobody else has it: not by the clock that is right, and not by the one ahead.
    assert_eq!(claim(&right, now).await, []);
    assert_eq!(claim(&ahead, ahead_of(now)).await, []);
    assert!(!good(right.update_job(&tenant, &mine[0], JobUpdate::Done).await), "it was taken over");
    assert!(!good(
        right.update_job(&tenant, &mine[0], JobUpdate::Failed { error: "too late".to_owned(), retry_at: None }).await
    ));
    assert!(good(ahead.update_job(&tenant, &theirs[0], JobUpdate::Done).await));
    assert!(!good(ahead.update_job(&tenant, &theirs[0], JobUpdate::Done).await));
    assert_eq!(good(right.jobs(&tenant, &[], 9).await), []);

    // What the one ahead leaves for later is due for the other when its own clock gets there; it is not lost.
    driver.must(&anna.space(), job(ahead_of(now))).await;
    assert_eq!(claim(&right, now).await, []);
    assert_eq!(claim(&right, ahead_of(now)).await.len(), 1);
}

// Coverage: SPEC-11.4.
#[tokio::test(flavor = "multi_thread")]
async fn both_claim_at_once_and_each_job_goes_to_one() {
    let Some((right, ahead, _schema)) = two().await else { return };
    let (driver, anna) = (Driver::on(&right), user("anna"));
    for number in 0..60 {
        let payload = serde_json::json!({ "n": number });
        let spec = JobSpec { kind: JobKind::Link, payload, unique: None, run_after: at(0) };
        driver.must(&anna.space(), Action::Bookkeeping(Bookkeeping::Enqueue(spec))).await;
    }
    let all = async |store: &PostgresStore| {
        let mut ended = Vec::new();
        loop {
            // The clocks agree here: what is in hand stays there.
            let jobs = claim(store, at(1_000)).await;
            if jobs.is_empty() {
                return ended;
            }
            for job in jobs {
                assert!(good(store.update_job(&Tenant::default(), &job, JobUpdate::Done).await));
                ended.push(job.id);
            }
        }
    };
    let (mine, theirs) = tokio::join!(all(&right), all(&ahead));
    let mut ended = [mine, theirs].concat();
    ended.sort_unstable();
    let twice = ended.windows(2).filter(|pair| pair[0] == pair[1]).count();
    assert_eq!((ended.len(), twice), (60, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_holds_goes_by_the_clock_of_whoever_looks() {
    let Some((right, ahead, _schema)) = two().await else { return };
    let (anna, now) = (user("anna"), at(1_000));
    let driver = Driver::on(&right);
    // Written by the one ahead, so it comes from the future.
    let theirs = Memory { created_at: ahead_of(now), updated_at: ahead_of(now), ..memory(1, &anna, "lantern one") };
    good(ahead.apply(batch(&anna.space(), vec![add(theirs)])).await);
    let soon = Memory { expires_at: Some(now + SignedDuration::from_mins(2)), ..memory(2, &anna, "lantern two") };
    driver.keep(soon).await;
    driver.sees_with(&whole(), "lantern", &Filter::at(now), &[id(1), id(2)]).await;
    // For the one ahead it has expired already: hidden there two minutes early, and not removed.
    Driver::on(&ahead).sees_with(&whole(), "lantern", &Filter::at(ahead_of(now)), &[id(1)]).await;
    // The ledger is numbered in the order of the commits, so a reader misses nothing of either.
    let feed = good(right.ledger(&whole(), &LedgerQuery::After { space: anna.space().clone(), sequence: 0 }, 9).await);
    let ids: Vec<_> = feed.entries.iter().map(|entry| entry.memory_id).collect();
    assert_eq!(ids, [Some(id(1)), Some(id(2))]);
    sound(&right).await;
}
