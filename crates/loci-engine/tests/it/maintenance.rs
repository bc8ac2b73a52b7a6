//! Tests of maintenance: decay, expiry, proposals, purging, caps, dry runs.

use std::collections::BTreeMap;

use loci_engine::{Caller, Config, Lifecycle, MaintainReport, MaintainRequest, MaintenanceStep, NewMemory};
use loci_types::{ErrorKind, MemoryId, State};

use crate::house::{House, in_session, new, user};

fn operator() -> Caller {
    Caller::operator()
}

async fn run(house: &House, dry_run: bool, only: &[MaintenanceStep]) -> MaintainReport {
    let request = MaintainRequest { dry_run, only: only.to_vec(), at: None };
    house.engine.maintain(&operator(), request, |_| {}).await.unwrap()
}

/// What the plan does, by memory.
fn plan(report: &MaintainReport) -> BTreeMap<MemoryId, String> {
    report
        .steps
        .iter()
        .flat_map(|step| &step.planned)
        .filter_map(|planned| planned.id.map(|id| (id, planned.action.clone())))
        .collect()
}

// Coverage: S0.2, SPEC-7.6.
#[tokio::test]
async fn a_dry_run_reports_exactly_what_a_run_does() {
    let (house, ana) = (House::new(), user("ana"));
    let kinds = ["fact", "task", "project", "preference", "episodic"];
    let mut ids = Vec::new();
    for n in 0..40_usize {
        let memory = NewMemory {
            kind: Some(kinds[n % 5].into()),
            pinned: n % 11 == 0,
            importance: Some((n % 7) as f64 / 6.0),
            expires_at: (n % 13 == 0).then(|| "2026-07-01T00:00:00Z".parse().unwrap()),
            as_is: true,
            ..new(&format!("thing number {n} of a sort"))
        };
        ids.push(house.engine.remember(&ana, memory).await.unwrap().id);
    }
    house.later(365);
    let before = house.engine.stats(&operator()).await.unwrap();
    let dry = run(&house, true, &[]).await;
    assert_eq!(house.engine.stats(&operator()).await.unwrap(), before, "a dry run changes nothing");
    let planned = plan(&dry);
    assert!(planned.len() > 10, "{planned:?}");
    let real = run(&house, false, &[]).await;
    assert_eq!(plan(&real), planned);
    for id in ids {
        let memory = house.engine.get(&ana, id).await.unwrap();
        let expect = match planned.get(&id).map(String::as_str) {
            Some("soft-delete") => State::SoftDeleted,
            Some("mark as decayed") => State::Decayed,
            Some("archive") => State::Archived,
            None => State::Active,
            Some(other) => panic!("{other}"),
        };
        assert_eq!(memory.state, expect, "{}", memory.content);
        assert!(!memory.pinned || memory.state == State::Active, "pinned ones stay");
    }
    // A second run finds nothing to do, and thirty days later what went is gone for good.
    assert!(plan(&run(&house, false, &[]).await).is_empty());
    house.later(31);
    let purged = plan(&run(&house, false, &[MaintenanceStep::Purge]).await);
    let gone = planned.values().filter(|action| *action == "soft-delete").count();
    assert_eq!(purged.len(), gone);
    assert!(house.engine.doctor(&operator(), false).await.unwrap().is_empty());
}

// Coverage: S1.21, S1.30.
#[tokio::test]
async fn confidence_fades_by_ebbinghaus_and_use_brings_it_back() {
    let (house, ana) = (House::new(), user("ana"));
    let rate = NewMemory { decay_rate: Some(0.1), ..new("The blue lantern hangs in the hall") };
    let id = house.engine.remember(&ana, rate).await.unwrap().id;
    let confidence = async || house.engine.get(&ana, id).await.unwrap().confidence;
    house.later(10);
    run(&house, false, &[MaintenanceStep::Decay]).await;
    let expect = (-0.1 * 10_f64.powf(0.8)).exp();
    assert!((confidence().await - expect).abs() < 1e-9);
    // Twice in one night is once.
    run(&house, false, &[MaintenanceStep::Decay]).await;
    assert!((confidence().await - expect).abs() < 1e-9);
    house.later(15);
    run(&house, false, &[MaintenanceStep::Decay]).await;
    assert!((confidence().await - (-0.1 * 25_f64.powf(0.8)).exp()).abs() < 1e-9);
    let memory = house.engine.get(&ana, id).await.unwrap();
    assert_eq!(memory.state, State::Decayed);
    let weak = house.engine.weak_facts(&ana, None, 10).await.unwrap();
    assert_eq!(weak.iter().map(|weak| weak.memory.id).collect::<Vec<_>>(), [id]);
    assert!(weak[0].gone_at.unwrap() > house.engine.now());
    assert!(house.engine.weak_facts(&user("bo"), None, 10).await.unwrap().is_empty());
    assert_eq!(house.engine.weak_facts(&ana, Some(7.0), 1).await.unwrap_err().kind(), ErrorKind::InvalidInput);
    // Confirmed, it is sure, active again, and stays.
    house.engine.confirm(&ana, id).await.unwrap();
    house.later(3_000);
    run(&house, false, &[MaintenanceStep::Decay]).await;
    assert_eq!(confidence().await, 1.0);
    // A clock that jumps back does no harm.
    house.later(-5_000);
    run(&house, false, &[]).await;
    assert_eq!(confidence().await, 1.0);
}

// Coverage: S3-10.1.
#[tokio::test]
async fn proposals_lapse_after_a_week() {
    let house = House::new();
    let ana = in_session("ana", "s1");
    house.say(&ana, "t", "user", "I live in Porto.").await;
    house.end(&ana, "s1").await;
    house.later(6);
    assert!(plan(&run(&house, false, &[MaintenanceStep::Consent]).await).is_empty());
    house.later(1);
    assert_eq!(plan(&run(&house, false, &[MaintenanceStep::Consent]).await).len(), 1);
    assert!(house.engine.proposals(&user("ana")).await.unwrap().is_empty());
    let events = house.engine.stats(&operator()).await.unwrap();
    assert_eq!(events.by_state.get("soft_deleted"), Some(&1));
}

// Coverage: S0.6.
#[tokio::test]
async fn the_weakest_give_way_where_there_are_too_many() {
    let lifecycle = Lifecycle { max_memories_per_user: Some(5), ..Lifecycle::default() };
    let house = House::with(Config { lifecycle, ..Config::default() });
    let ana = user("ana");
    for n in 0..8_u32 {
        let importance = Some(f64::from(n) / 10.0);
        let memory = NewMemory { importance, pinned: n == 0, as_is: true, ..new(&format!("number {n}")) };
        house.engine.remember(&ana, memory).await.unwrap();
    }
    house.remember(&user("bo"), "only one").await;
    assert_eq!(plan(&run(&house, false, &[MaintenanceStep::Caps]).await).len(), 3);
    let mut left: Vec<String> = house.known(&ana).await.into_iter().map(|memory| memory.content).collect();
    left.sort();
    assert_eq!(left, ["number 0", "number 4", "number 5", "number 6", "number 7"], "the new one is never refused");
    assert_eq!(house.known(&user("bo")).await.len(), 1);
}

/// Remembers without a vector, so that only claims are compared at once.
async fn later(house: &House, text: &str) {
    let new = NewMemory { embed_later: true, ..new(text) };
    house.engine.remember(&user("ana"), new).await.unwrap();
}

// Coverage: S3-4.1.
#[tokio::test]
async fn maintenance_merges_duplicates() {
    let (house, ana) = (House::new(), user("ana"));
    for text in [
        "Tomas Silva owns the checkout module",
        "Tomas owns the checkout module",
        "The greenhouse holds 20 plants",
        "The greenhouse holds 30 plants",
        "Ana likes tea",
        "Ana likes coffee",
        "Took 2 tablets at 8:00",
        "Took 1 tablet at 20:00",
        "The admin API port of the gateway is 9090",
        "The API port of the gateway is 9090",
    ] {
        later(&house, text).await;
    }
    while house.engine.embed_waiting(&operator(), 100).await.unwrap() > 0 {}
    let dry = plan(&run(&house, true, &[MaintenanceStep::Dedup]).await);
    let real = plan(&run(&house, false, &[MaintenanceStep::Dedup]).await);
    assert_eq!(dry, real);
    let left: Vec<String> = house.known(&ana).await.into_iter().map(|memory| memory.content).collect();
    for (text, stays) in [
        ("Tomas Silva owns the checkout module", true),
        ("Tomas owns the checkout module", false),
        ("The greenhouse holds 20 plants", false),
        ("The greenhouse holds 30 plants", true),
        ("Ana likes tea", true),
        ("Ana likes coffee", true),
        ("Took 2 tablets at 8:00", true),
        ("Took 1 tablet at 20:00", true),
        ("The admin API port of the gateway is 9090", true),
        ("The API port of the gateway is 9090", true),
    ] {
        assert_eq!(left.contains(&text.to_owned()), stays, "{text}: {left:?}");
    }
    // Pairs that were looked at are not looked at again for two weeks.
    assert!(plan(&run(&house, false, &[MaintenanceStep::Dedup]).await).is_empty());
}

#[tokio::test]
async fn what_is_kept_as_it_is_survives_the_night() {
    let (house, ana) = (House::new(), user("ana"));
    let as_is = |text: &str| NewMemory { as_is: true, ..new(text) };
    for text in ["Ana lives in Porto", "Ana lives in Lisbon", "Ana's team has 3 members", "Ana's team has 4 members"] {
        house.engine.remember(&ana, as_is(text)).await.unwrap();
    }
    assert!(plan(&run(&house, false, &[MaintenanceStep::Dedup]).await).is_empty());
    assert_eq!(house.known(&ana).await.len(), 4);
    // What comes later does not replace it either.
    house.remember(&ana, "Ana lives in Faro").await;
    assert_eq!(house.known(&ana).await.len(), 5);
}

#[tokio::test]
async fn where_nothing_is_reconciled_nothing_is_in_the_night_either() {
    let bands = loci_engine::Bands { reconcile: false, ..loci_engine::Bands::default() };
    let house = House::with(Config { bands, ..Config::default() });
    for text in ["Ana lives in Porto", "Ana lives in Lisbon"] {
        house.remember(&user("ana"), text).await;
    }
    assert!(plan(&run(&house, false, &[MaintenanceStep::Dedup]).await).is_empty());
    assert_eq!(house.known(&user("ana")).await.len(), 2);
}

#[tokio::test]
async fn a_model_that_always_says_the_same_merges_nothing() {
    let all: Vec<_> =
        (1..=10).map(|pair| serde_json::json!({ "pair": pair, "verdict": "same", "newer": "neither" })).collect();
    let server = wiremock::MockServer::start().await;
    let answer = crate::llm::answering(&serde_json::json!({ "verdicts": all }).to_string());
    let mind = crate::llm::scripted(&server, answer, std::time::Duration::from_secs(5)).await;
    let house = House::new().with_llm(mind);
    for text in [
        "Jolene's mother passed away in 2022",
        "Jolene's mother finished a project in 2022",
        "Jolene's mother has a dog",
    ] {
        later(&house, text).await;
    }
    while house.engine.embed_waiting(&operator(), 100).await.unwrap() > 0 {}
    let report = run(&house, false, &[MaintenanceStep::Dedup]).await;
    assert!(plan(&report).is_empty());
    assert!(report.steps[0].problem.as_deref().is_some_and(|problem| problem.contains("void")), "{report:?}");
    assert_eq!(house.known(&user("ana")).await.len(), 3);
}

// Coverage: SPEC-7.6.
#[tokio::test]
async fn one_run_at_a_time() {
    let house = House::new();
    house.remember(&user("ana"), "anything").await;
    let other = house.neighbour();
    let (tenant, minute) = (loci_types::Tenant::default(), std::time::Duration::from_secs(60));
    let taken = other.store().lease(&tenant, "maintenance", "someone else", house.engine.now(), minute).await;
    assert!(taken.unwrap());
    let request = MaintainRequest::default();
    let error = house.engine.maintain(&operator(), request.clone(), |_| {}).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    house.later(1);
    assert!(house.engine.maintain(&operator(), request.clone(), |_| {}).await.is_ok(), "who is overdue gives way");
    let denied = house.engine.maintain(&user("ana"), request, |_| {}).await.unwrap_err();
    assert_eq!(denied.kind(), ErrorKind::Unauthorized);
}

// Coverage: S1.23.
#[tokio::test]
async fn entities_are_described_once_they_are_spoken_of_enough() {
    let house = House::new();
    let ana = in_session("ana", "s1");
    for text in ["My sister Marta works at Fabrikam.", "Marta is allergic to shrimp.", "Marta prefers tea over coffee."]
    {
        house.say(&ana, "t", "user", text).await;
    }
    house.end(&ana, "s1").await;
    run(&house, false, &[MaintenanceStep::Enrich]).await;
    let marta = house.engine.entity(&user("ana"), "Marta").await.unwrap().entity;
    let summary = marta.summary.unwrap();
    assert!(summary.contains("Marta") && summary.chars().count() <= 280, "{summary}");
}

#[tokio::test]
async fn what_is_restored_stays() {
    let (house, ana) = (House::new(), user("ana"));
    let task = NewMemory { kind: Some("task".into()), ..new("Fix the roof of the boat house") };
    let id = house.engine.remember(&ana, task).await.unwrap().id;
    house.later(5_000);
    run(&house, false, &[MaintenanceStep::Decay]).await;
    assert_eq!(house.engine.get(&ana, id).await.unwrap().state, State::SoftDeleted);
    house.engine.restore(&ana, id).await.unwrap();
    house.later(1);
    run(&house, false, &[]).await;
    assert!(house.engine.get(&ana, id).await.unwrap().state.is_live());
}
