//! Contract: agents are created, listed and dropped with all their data.

use std::time::Duration;

use loci_store::{Agent, CatalogueChange, JobUpdate, LedgerQuery, Store};
use loci_types::{Action, Bookkeeping, ErrorKind, JobKind, JobSpec, Tenant};
use serde_json::json;

use crate::driver::{Driver, good};
use crate::samples::*;

fn bot(slug: &str, config: serde_json::Value) -> Agent {
    Agent { agent_id: slug.to_owned(), settings: config, created_at: at(3) }
}

/// An agent is created once and listed by name with its latest configuration. Writing to its space registers it too.
pub async fn agents_are_created_and_listed(store: &dyn Store) {
    let (driver, tenant) = (Driver::on(store), Tenant::default());
    assert_eq!(good(store.agents(&tenant, None).await), []);
    assert!(good(store.change_catalogue(&tenant, CatalogueChange::PutAgent(bot("owl", json!({})))).await) > 0);
    assert!(
        good(store.change_catalogue(&tenant, CatalogueChange::PutAgent(bot("ant", json!({ "limit": 5 })))).await) > 0
    );
    assert!(
        good(store.change_catalogue(&tenant, CatalogueChange::PutAgent(bot("owl", json!({ "limit": 7 })))).await) == 0
    );
    let all = good(store.agents(&tenant, None).await);
    assert_eq!(all, [bot("ant", json!({ "limit": 5 })), bot("owl", json!({ "limit": 7 }))]);
    driver.remember(&agent("zed"), "lantern").await;
    let slugs: Vec<_> = good(store.agents(&tenant, None).await).into_iter().map(|agent| agent.agent_id).collect();
    assert_eq!(slugs, ["ant", "owl", "zed"]);
    assert_eq!(good(store.agents(&Tenant::new("other").unwrap_or_default(), None).await), []);
    let error = store
        .change_catalogue(&tenant, CatalogueChange::PutAgent(bot("../x", json!({}))))
        .await
        .expect_err("not a slug");
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    store.change_catalogue(&tenant, CatalogueChange::DropAgent("../x".to_owned())).await.expect_err("not a slug");
    // A registered agent without memories is read as empty.
    driver.sees(&visible(&[agent("ant")]), "lantern", &[]).await;
}

// Coverage: S0-6.2.
/// Dropping an agent removes its space with all data. Other spaces stay, and the agent can be created again.
pub async fn dropping_an_agent_removes_everything(store: &dyn Store) {
    let (driver, tenant) = (Driver::on(store), Tenant::default());
    let gone = driver.remember(&agent("bot"), "lantern of the bot").await;
    let other = driver.remember(&agent("owl"), "lantern of the owl").await;
    let shared = driver.remember(&user("anna"), "lantern of anna").await;
    driver.sees(&whole(), "lantern", &[gone, other, shared]).await;
    assert!(good(store.change_catalogue(&tenant, CatalogueChange::DropAgent("bot".to_owned())).await) > 0);
    assert!(good(store.change_catalogue(&tenant, CatalogueChange::DropAgent("bot".to_owned())).await) == 0);
    driver.sees(&whole(), "lantern", &[other, shared]).await;
    driver.sees(&visible(&[agent("bot")]), "lantern", &[]).await;
    assert_eq!(driver.get(gone).await, None);
    assert_eq!(good(store.ledger(&whole(), &LedgerQuery::Memory(gone), 9).await).entries, []);
    let slugs: Vec<_> = good(store.agents(&tenant, None).await).into_iter().map(|agent| agent.agent_id).collect();
    assert_eq!(slugs, ["owl"]);
    assert_eq!(good(store.stats(&whole()).await).memories, 2);
    for round in 0..3 {
        let fresh = driver.remember(&agent("bot"), &format!("lantern, round {round}")).await;
        driver.sees(&visible(&[agent("bot")]), "lantern", &[fresh]).await;
        driver.sees(&whole(), "lantern", &[other, shared, fresh]).await;
        assert!(good(store.change_catalogue(&tenant, CatalogueChange::DropAgent("bot".to_owned())).await) > 0);
    }
}

/// Updating a claimed job of a dropped agent returns false.
pub async fn a_job_of_a_dropped_agent_is_nobodys(store: &dyn Store) {
    let (driver, tenant) = (Driver::on(store), Tenant::default());
    let spec = JobSpec { kind: JobKind::Embed, payload: json!({}), unique: None, run_after: at(0) };
    driver.must(&agent("bot").space(), Action::Bookkeeping(Bookkeeping::Enqueue(spec))).await;
    let jobs = good(store.claim(&tenant, JobKind::ALL, 9, at(9), Duration::from_secs(9)).await);
    assert_eq!(jobs.len(), 1);
    assert!(good(store.change_catalogue(&tenant, CatalogueChange::DropAgent("bot".to_owned())).await) > 0);
    assert!(!good(store.update_job(&tenant, &jobs[0], JobUpdate::Done).await));
    assert!(!good(
        store
            .update_job(&tenant, &jobs[0], JobUpdate::Failed { error: "gone".to_owned(), retry_at: Some(at(10)) })
            .await
    ));
    assert_eq!(good(store.claim(&tenant, JobKind::ALL, 9, at(99), Duration::from_secs(9)).await), []);
}
