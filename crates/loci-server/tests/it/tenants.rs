//! Background work and metrics with several tenants.

use std::time::{Duration, Instant};

use loci_engine::{Caller, Turn};
use loci_types::{Grant, Identifiers, SessionFilter, Tenant};

use crate::server::{TestServer, answer};

#[tokio::test(flavor = "multi_thread")]
async fn the_work_that_waits_is_done_for_every_tenant() {
    let server = TestServer::open().await;
    let tenant = Tenant::new("acme").unwrap();
    let identifiers = Identifiers { user_id: Some("ann".to_owned()), ..Identifiers::default() };
    let ann = Caller { tenant, ..Caller::new(identifiers) };
    let turn = Turn {
        thread_id: "monday".to_owned(),
        content: "My cat is called Minka.".to_owned(),
        role: Some("user".to_owned()),
        ..Turn::default()
    };
    server.engine.ingest(&ann, turn).await.unwrap();
    server.engine.end_session(&ann, "monday").await.unwrap();
    let begun = Instant::now();
    loop {
        let sessions = server.engine.sessions(&ann, SessionFilter::default()).await.unwrap();
        if sessions.iter().all(|session| session.consolidated_at.is_some()) {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "nobody learned from the session");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    server.close().await;
}

// Coverage: S4.15.
#[tokio::test]
async fn an_admin_reads_metrics_of_their_own_tenant_only() {
    let server = TestServer::open().await;
    let body = serde_json::json!({ "content": "Ann likes tea", "identifiers": { "userId": "ann" } });
    server.post("/v1/memories", body).await.expect(201);
    for (tenant, count) in [("default", "1"), ("acme", "0")] {
        let key = server.key(Grant::whole(Tenant::new(tenant).unwrap())).await;
        let metrics = answer(server.request_as(&key, "GET", "/metrics")).await.text;
        assert!(metrics.contains(&format!("loci_memory_semantic_count {count}\n")), "{tenant}: {metrics}");
        assert_eq!(metrics.contains("loci_memory_storage_size{"), count == "1", "{tenant}: {metrics}");
        let stats = answer(server.request_as(&key, "GET", "/v1/stats")).await.expect(200);
        assert_eq!(stats["memories"].to_string(), count, "{tenant}");
    }
}
