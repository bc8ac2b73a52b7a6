//! The server while PostgreSQL is away.
//!
//! Every request is answered within seconds with a retryable failure, `/readyz` names the component, and the server resumes
//! by itself when PostgreSQL is back.

use std::sync::Arc;
use std::time::{Duration, Instant};

use loci_store::{PostgresOptions, PostgresStore};
use loci_testkit::proxy::Proxy;
use loci_testkit::servers::Schema;
use serde_json::{Value, json};

use crate::server::{Answer, TestServer};

/// As long as one statement may take.
const TIMEOUT: Duration = Duration::from_secs(1);
/// When an answer must have come at the latest.
const PATIENCE: Duration = Duration::from_secs(4);

fn memory(text: &str) -> Value {
    json!({ "content": text, "identifiers": { "userId": "ann" } })
}

/// The answer, which must not be long in coming.
async fn soon(what: &str, answer: impl Future<Output = Answer>) -> Answer {
    let begun = Instant::now();
    let answer = answer.await;
    assert!(begun.elapsed() < PATIENCE, "{what} took {:?}", begun.elapsed());
    answer
}

#[track_caller]
fn refused(what: &str, answer: &Answer) {
    assert_eq!((answer.status, &answer.body["retryable"]), (503, &json!(true)), "{what}: {}", answer.text);
    assert_eq!(answer.headers["content-type"], "application/problem+json", "{what}");
    assert_eq!(answer.body["code"], "PROVIDER_ERROR", "{what}: {}", answer.text);
}

/// Waits until `/readyz`, which may be a second old, answers with this status.
async fn readiness(server: &TestServer, status: u16) -> serde_json::Value {
    let until = std::time::Instant::now() + Duration::from_secs(10);
    loop {
        let ready = soon("readyz", server.get("/readyz")).await;
        if ready.status == status || std::time::Instant::now() > until {
            return ready.expect(status);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

// Coverage: SPEC-11.3.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_its_database_says_so_and_recovers() {
    let Some(schema) = Schema::new() else { return };
    let proxy = Proxy::to(schema.address()).await;
    let options =
        PostgresOptions { schema: schema.name.clone(), partitions: 2, timeout: TIMEOUT, ..PostgresOptions::default() };
    let store = PostgresStore::open(&schema.through(proxy.address()), options).await.unwrap();
    let server = TestServer::on_store(Arc::new(store)).await;
    let metrics = server.get("/metrics").await.text;
    assert!(metrics.contains("\nloci_memory_postgres_pool_active "), "{metrics}");
    let mut known = 0;
    type Fault = fn(&Proxy);
    let blows: [(&str, Fault); 2] = [("cut", Proxy::cut), ("silent", |proxy| proxy.delay(Duration::from_secs(3_600)))];
    for (how, hurt) in blows {
        let ready = server.get("/readyz").await.expect(200);
        assert_eq!(ready["components"]["store"]["status"], "healthy");
        server.post("/v1/memories", memory(&format!("Ann saw the {how} coming"))).await.expect(201);
        known += 1;
        hurt(&proxy);
        let ready = readiness(&server, 503).await;
        let parts = &ready["components"]["store"];
        assert_eq!((&ready["status"], &parts["status"]), (&json!("unhealthy"), &json!("unhealthy")), "{how}");
        let lost = soon("write", server.post("/v1/memories", memory("Ann was not heard"))).await;
        refused("a write", &lost);
        refused("a list", &soon("list", server.get("/v1/memories?userId=ann")).await);
        let query = json!({ "query": "what did Ann see", "identifiers": { "userId": "ann" } });
        refused("a recall", &soon("recall", server.post("/v1/recall", query)).await);
        assert_eq!(server.get("/healthz").await.status, 200, "the process itself is well");
        proxy.heal();
        readiness(&server, 200).await;
        let there = server.get("/v1/memories/count?userId=ann").await.expect(200);
        assert_eq!(there["count"], known, "{how}: what was refused was not kept, what was kept is there");
    }
    server.close().await;
}
