//! Contract: each job is executed by one worker at a time.

use std::time::Duration;

use jiff::Timestamp;
use loci_store::{JobUpdate, Store};
use loci_types::{Action, Addition, Batch, Bookkeeping, Job, JobKind, JobRecord, JobSpec, Tenant};
use serde_json::json;

use crate::driver::{Driver, good};
use crate::samples::*;

const LEASE: Duration = Duration::from_secs(60);

fn spec(kind: JobKind, name: &str, unique: Option<&str>, run_after: Timestamp) -> JobSpec {
    JobSpec { kind, payload: json!({ "name": name }), unique: unique.map(str::to_owned), run_after }
}

async fn enqueue(driver: &Driver<'_>, spec: JobSpec) {
    driver.must(&user("anna").space(), Action::Bookkeeping(Bookkeeping::Enqueue(spec))).await;
}

async fn claim(store: &dyn Store, kinds: &[JobKind], limit: usize, now: Timestamp) -> Vec<Job> {
    let mut jobs = good(store.claim(&Tenant::default(), kinds, limit, now, LEASE).await);
    jobs.sort_by_key(name);
    jobs
}

fn name(job: &Job) -> String {
    job.payload["name"].as_str().unwrap_or_default().to_owned()
}

fn names(jobs: &[Job]) -> Vec<String> {
    jobs.iter().map(name).collect()
}

/// The key of a waiting or running job is taken; after the job is done or dead it is free.
pub async fn a_job_waits_once_per_key(store: &dyn Store) {
    let driver = Driver::on(store);
    for name in ["a", "b"] {
        enqueue(&driver, spec(JobKind::Embed, name, Some("key"), at(0))).await;
        enqueue(&driver, spec(JobKind::Embed, name, None, at(0))).await;
    }
    let jobs = claim(store, JobKind::ALL, 9, at(10)).await;
    assert_eq!(names(&jobs), ["a", "a", "b"]);
    enqueue(&driver, spec(JobKind::Embed, "while it runs", Some("key"), at(0))).await;
    assert_eq!(claim(store, JobKind::ALL, 9, at(10)).await, []);
    for job in &jobs {
        assert!(good(store.update_job(&Tenant::default(), job, JobUpdate::Done).await));
        assert!(!good(store.update_job(&Tenant::default(), job, JobUpdate::Done).await), "done is done");
    }
    enqueue(&driver, spec(JobKind::Embed, "after", Some("key"), at(0))).await;
    let again = claim(store, JobKind::ALL, 9, at(10)).await;
    assert_eq!(names(&again), ["after"]);
    assert_eq!((again[0].attempt, again[0].space.as_str()), (1, user("anna").space().name().as_str()));
    assert!(good(
        store
            .update_job(&Tenant::default(), &again[0], JobUpdate::Failed { error: "broken".to_owned(), retry_at: None })
            .await
    ));
    enqueue(&driver, spec(JobKind::Embed, "after a dead one", Some("key"), at(0))).await;
    assert_eq!(names(&claim(store, JobKind::ALL, 9, at(10)).await), ["after a dead one"]);
}

/// A memory that is not stored because it is a duplicate enqueues no job.
pub async fn a_job_comes_with_its_memory_or_not_at_all(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    for number in 0..2 {
        let memory = driver.sample(&anna, "lantern");
        let jobs = vec![spec(JobKind::Link, &format!("add {number}"), None, at(0))];
        driver.must(&anna.space(), Action::Add(Box::new(Addition { jobs, ..addition(memory) }))).await;
    }
    let mut revise = new_text(id(1), "candle", true);
    revise.jobs = vec![spec(JobKind::Link, "revise", None, at(0))];
    driver.must(&anna.space(), Action::Revise(Box::new(revise))).await;
    assert_eq!(names(&claim(store, JobKind::ALL, 9, at(10)).await), ["add 0", "revise"]);
}

/// A claim returns only due jobs of the given kinds, up to the limit, over all spaces.
pub async fn a_claim_keeps_to_time_kind_and_limit(store: &dyn Store) {
    let driver = Driver::on(store);
    enqueue(&driver, spec(JobKind::Embed, "early", None, at(10))).await;
    enqueue(&driver, spec(JobKind::Embed, "late", None, at(20))).await;
    enqueue(&driver, spec(JobKind::Purge, "other", None, at(10))).await;
    driver
        .must(
            &agent("bot").space(),
            Action::Bookkeeping(Bookkeeping::Enqueue(spec(JobKind::Embed, "bot's", None, at(5)))),
        )
        .await;
    assert_eq!(claim(store, &[JobKind::Embed], 9, at(4)).await, []);
    assert_eq!(claim(store, &[], 9, at(40)).await, []);
    assert_eq!(claim(store, JobKind::ALL, 0, at(40)).await, []);
    assert_eq!(names(&claim(store, &[JobKind::Embed], 9, at(10)).await), ["bot's", "early"]);
    assert_eq!(claim(store, JobKind::ALL, 1, at(40)).await.len(), 1);
    assert_eq!(claim(store, JobKind::ALL, 9, at(40)).await.len(), 1);
    let stats = good(store.stats(&whole()).await);
    assert_eq!(stats.jobs.get("running"), Some(&4));
}

// Coverage: S3-14.1.
/// After its lease a job can be claimed again, and the earlier claim can no longer update it.
pub async fn a_lease_that_ran_out_passes_the_job_on(store: &dyn Store) {
    let driver = Driver::on(store);
    enqueue(&driver, spec(JobKind::Embed, "slow", None, at(0))).await;
    let first = claim(store, JobKind::ALL, 9, at(10)).await;
    assert_eq!(first[0].lease_until, at(70));
    assert_eq!(claim(store, JobKind::ALL, 9, at(69)).await, []);
    let second = claim(store, JobKind::ALL, 9, at(70)).await;
    assert_eq!((second[0].id, second[0].attempt, second[0].lease_until), (first[0].id, 2, at(130)));
    let tenant = Tenant::default();
    assert!(!good(store.update_job(&tenant, &first[0], JobUpdate::Done).await), "the old owner has lost it");
    assert!(
        !good(
            store.update_job(&tenant, &first[0], JobUpdate::Failed { error: "late".to_owned(), retry_at: None }).await
        ),
        "nor can it break it"
    );
    assert!(!good(
        store
            .update_job(&tenant, &first[0], JobUpdate::Failed { error: "late".to_owned(), retry_at: Some(at(71)) })
            .await
    ));
    assert!(good(store.update_job(&tenant, &second[0], JobUpdate::Done).await));
    assert_eq!(claim(store, JobKind::ALL, 9, at(9_000)).await, []);
}

// Coverage: S3-14.1.
/// A failed job with a retry time waits for it; one without is dead.
pub async fn a_failed_job_waits_and_a_dead_one_stays_dead(store: &dyn Store) {
    let driver = Driver::on(store);
    let tenant = Tenant::default();
    enqueue(&driver, spec(JobKind::Embed, "weak", None, at(0))).await;
    let first = claim(store, JobKind::ALL, 9, at(10)).await;
    assert!(good(
        store
            .update_job(&tenant, &first[0], JobUpdate::Failed { error: "no luck".to_owned(), retry_at: Some(at(500)) })
            .await
    ));
    assert!(!good(store.update_job(&tenant, &first[0], JobUpdate::Done).await), "it was given back");
    assert_eq!(claim(store, JobKind::ALL, 9, at(499)).await, []);
    let second = claim(store, JobKind::ALL, 9, at(500)).await;
    assert_eq!(second[0].attempt, 2);
    assert!(good(
        store.update_job(&tenant, &second[0], JobUpdate::Failed { error: "never".to_owned(), retry_at: None }).await
    ));
    assert_eq!(claim(store, JobKind::ALL, 9, at(999_999)).await, []);
    assert_eq!(good(store.stats(&whole()).await).jobs.get("dead"), Some(&1));
}

/// A job is claimed and updated only within its tenant.
pub async fn jobs_keep_to_their_tenant(store: &dyn Store) {
    let other = Tenant::new("other").unwrap_or_default();
    let changes =
        vec![change(at(1), Action::Bookkeeping(Bookkeeping::Enqueue(spec(JobKind::Embed, "theirs", None, at(0)))))];
    good(store.apply(Batch { tenant: other.clone(), space: user("anna").space(), changes }).await);
    assert_eq!(claim(store, JobKind::ALL, 9, at(10)).await, []);
    let theirs = good(store.claim(&other, JobKind::ALL, 9, at(10), LEASE).await);
    assert_eq!(names(&theirs), ["theirs"]);
    assert!(!good(store.update_job(&Tenant::default(), &theirs[0], JobUpdate::Done).await));
    assert!(good(store.update_job(&other, &theirs[0], JobUpdate::Done).await));
}

async fn listed(store: &dyn Store, states: &[&str], limit: usize) -> Vec<JobRecord> {
    good(store.jobs(&Tenant::default(), states, limit).await)
}

/// A waiting, a running and a dead job, in this order.
async fn one_of_each(driver: &Driver<'_>) -> [i64; 3] {
    let store = driver.store;
    for (name, kind) in [("waits", JobKind::Purge), ("runs", JobKind::Embed), ("died", JobKind::Link)] {
        enqueue(driver, spec(kind, name, Some(name), at(5))).await;
    }
    let running = claim(store, &[JobKind::Embed], 9, at(10)).await;
    let dead = claim(store, &[JobKind::Link], 9, at(10)).await;
    assert!(good(
        store
            .update_job(&Tenant::default(), &dead[0], JobUpdate::Failed { error: "no luck".to_owned(), retry_at: None })
            .await
    ));
    let waiting = listed(store, &["waiting"], 9).await;
    [waiting[0].id, running[0].id, dead[0].id]
}

/// Jobs of all spaces are listed by state with all fields, oldest first.
pub async fn jobs_are_listed_by_their_state(store: &dyn Store) {
    let driver = Driver::on(store);
    assert_eq!(listed(store, &[], 9).await, []);
    let [waits, runs, died] = one_of_each(&driver).await;
    driver
        .must(
            &agent("bot").space(),
            Action::Bookkeeping(Bookkeeping::Enqueue(spec(JobKind::Embed, "bot's", None, at(5)))),
        )
        .await;
    let all = listed(store, &[], 9).await;
    let job = |id, space: &str, kind, name: &str, state: &str, created: i64| JobRecord {
        id,
        space: space.into(),
        kind,
        payload: json!({ "name": name }),
        state: state.into(),
        attempts: u32::from(state != "waiting"),
        run_after: at(5),
        last_error: (state == "dead").then(|| "no luck".into()),
        created_at: at(created),
    };
    let expect = [
        job(waits, &user("anna").space().name(), JobKind::Purge, "waits", "waiting", 1),
        job(runs, &user("anna").space().name(), JobKind::Embed, "runs", "running", 2),
        job(died, &user("anna").space().name(), JobKind::Link, "died", "dead", 3),
        job(all[3].id, &agent("bot").space().name(), JobKind::Embed, "bot's", "waiting", 4),
    ];
    assert_eq!(all, expect);
    for (states, which) in [
        (&["waiting"][..], &[0, 3][..]),
        (&["running"], &[1]),
        (&["dead"], &[2]),
        (&["dead", "running"], &[1, 2]),
        (&["nothing"], &[]),
    ] {
        for limit in [0, 1, usize::MAX] {
            let found = listed(store, states, limit).await;
            let expect: Vec<_> = which.iter().take(limit).map(|which| expect[*which].clone()).collect();
            assert_eq!(found, expect, "{limit} of {states:?}");
        }
    }
    assert_eq!(good(store.jobs(&Tenant::new("other").unwrap_or_default(), &[], 9).await), []);
}

/// A job that is not running is queued again with no attempts.
pub async fn a_dead_job_is_tried_again(store: &dyn Store) {
    let (driver, tenant, space) = (Driver::on(store), Tenant::default(), user("anna").space());
    let [waits, runs, died] = one_of_each(&driver).await;
    assert!(good(store.requeue(&tenant, &space, died, Some(at(500))).await));
    let again = listed(store, &["waiting"], 9).await.pop();
    let found = again.map(|job| (job.id, job.attempts, job.run_after, job.last_error));
    assert_eq!(found, Some((died, 0, at(500), None)));
    assert_eq!(claim(store, &[JobKind::Link], 9, at(499)).await, []);
    let taken = claim(store, &[JobKind::Link], 9, at(500)).await;
    assert_eq!((taken[0].id, taken[0].attempt), (died, 1));
    assert!(good(store.requeue(&tenant, &space, waits, Some(at(700))).await), "a waiting job may be postponed further");
    assert_eq!(claim(store, &[JobKind::Purge], 9, at(699)).await, []);
    let before = listed(store, &["running"], 9).await;
    let other = Tenant::new("other").unwrap_or_default();
    for (tenant, space, id) in [
        (&tenant, &space, runs),
        (&tenant, &space, 77_777),
        (&tenant, &agent("bot").space(), waits),
        (&other, &space, waits),
    ] {
        assert!(!good(store.requeue(tenant, space, id, Some(at(0))).await), "{id} of {space}");
    }
    assert_eq!(listed(store, &["running"], 9).await, before, "who has it keeps it");
    // A dead job is not queued again while another has its key.
    assert!(good(
        store.update_job(&tenant, &taken[0], JobUpdate::Failed { error: "again".to_owned(), retry_at: None }).await
    ));
    enqueue(&driver, spec(JobKind::Link, "second", Some("died"), at(0))).await;
    assert!(!good(store.requeue(&tenant, &space, died, Some(at(0))).await));
    assert_eq!(listed(store, &["dead"], 9).await.len(), 1);
}

/// A job that is not running can be removed.
pub async fn a_job_is_given_up(store: &dyn Store) {
    let (driver, tenant, space) = (Driver::on(store), Tenant::default(), user("anna").space());
    let [waits, runs, died] = one_of_each(&driver).await;
    let other = Tenant::new("other").unwrap_or_default();
    for (tenant, space, id) in [
        (&tenant, &space, runs),
        (&tenant, &space, 77_777),
        (&tenant, &agent("bot").space(), waits),
        (&other, &space, waits),
    ] {
        assert!(!good(store.requeue(tenant, space, id, None).await), "{id} of {space}");
    }
    assert_eq!(listed(store, &[], 9).await.len(), 3);
    for id in [waits, died] {
        assert!(good(store.requeue(&tenant, &space, id, None).await));
        assert!(!good(store.requeue(&tenant, &space, id, None).await), "gone is gone");
    }
    let left: Vec<_> = listed(store, &[], 9).await.into_iter().map(|job| (job.id, job.state)).collect();
    assert_eq!(left, [(runs, "running".to_owned())]);
    enqueue(&driver, spec(JobKind::Link, "anew", Some("died"), at(0))).await;
    assert_eq!(names(&claim(store, &[JobKind::Link], 9, at(10)).await), ["anew"], "its key is free");
}
