//! The doctor finds and repairs chains that fork or form a cycle.

use loci_store::{LedgerQuery, Store};
use loci_testkit::contract::sound;
use loci_testkit::driver::{Driver, good};
use loci_testkit::samples::*;
use loci_types::{MemoryId, State};

/// Damages chains as earlier versions could, by `run`, which runs a statement; `literal` writes an id in SQL.
async fn repairs_chains(store: &dyn Store, run: impl Fn(&str), literal: fn(MemoryId) -> String) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    // A memory that was restored while another had taken its place.
    let old = driver.remember(&anna, "lantern old").await;
    let restored = driver.replace(old, &anna, "lantern restored").await;
    driver.forget(&anna, restored).await;
    let newest = driver.replace(old, &anna, "lantern newest").await;
    run(&format!("UPDATE memories SET state = 'active', purge_at = NULL WHERE id = {}", literal(restored)));
    // Two that replaced each other.
    let first = driver.remember(&anna, "lantern first").await;
    let second = driver.replace(first, &anna, "lantern second").await;
    run(&format!("UPDATE memories SET superseded_by_id = {} WHERE id = {}", literal(first), literal(second)));
    // Two that name each other as the older one.
    let below = driver.remember(&anna, "lantern below").await;
    let above = driver.replace(below, &anna, "lantern above").await;
    run(&format!("UPDATE memories SET supersedes_id = {} WHERE id = {}", literal(above), literal(below)));
    // One that is as it should be.
    let plain = driver.remember(&anna, "lantern plain").await;
    let head = driver.replace(plain, &anna, "lantern head").await;
    let untouched = [driver.must_get(plain).await, driver.must_get(head).await];

    let problems = async |repair: bool| -> Vec<(String, bool)> {
        let findings = good(store.check(&whole(), repair).await);
        assert!(findings.iter().all(|finding| finding.check == "chains"), "{findings:?}");
        findings.into_iter().map(|finding| (finding.problem, finding.repaired)).collect()
    };
    let found = problems(false).await;
    assert_eq!(found, [("1 chains have more than one head".into(), false), ("2 chains contain a cycle".into(), false)]);
    let repaired = problems(true).await;
    assert!(repaired.len() == 2 && repaired.iter().all(|(_, repaired)| *repaired), "{repaired:?}");
    assert!(repaired.iter().all(|(problem, _)| problem.contains("the newest")), "it says what was done: {repaired:?}");
    sound(store).await;

    driver.sees(&whole(), "lantern", &[newest, second, above, head]).await;
    let history = driver.must_get(restored).await;
    assert_eq!((history.state, history.superseded_by_id), (State::Active, Some(newest)));
    assert_eq!(history.valid_until, Some(driver.must_get(newest).await.holds_since()));
    assert_eq!(driver.must_get(first).await.superseded_by_id, Some(second));
    assert_eq!(driver.must_get(below).await.supersedes_id, None);
    let lines = good(store.ledger(&whole(), &LedgerQuery::Memory(restored), 99).await).entries;
    let last = lines.last().map(|line| (line.event.as_str(), line.reason.as_str(), line.version));
    assert_eq!(last, Some(("SUPERSEDE", "chain repaired by the doctor", Some(history.version))));
    assert_eq!([driver.must_get(plain).await, driver.must_get(head).await], untouched);
    // The chain works on: forgetting the head reinstates what it replaced.
    driver.forget(&anna, newest).await;
    driver.sees(&whole(), "lantern", &[old, second, above, head]).await;
}

#[tokio::test]
async fn the_doctor_repairs_chains_in_a_file() {
    let (store, folder) = crate::copy::folder();
    let path = folder.path().join("tenants/default/spaces/users_38/loci.db");
    let run = |sql: &str| {
        rusqlite::Connection::open(&path).unwrap().execute(sql, []).unwrap();
    };
    repairs_chains(&store, run, |id| format!("x'{}'", id.0.simple())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_repairs_chains_on_a_server() {
    let Some((store, schema)) = crate::postgres::fresh().await else { return };
    let run = |sql: &str| {
        schema.ask(&sql.replace("memories", &format!("{}.memories", schema.name)));
    };
    repairs_chains(&store, run, |id| format!("'{}'", id.0)).await;
}
