//! `/readyz` reports the health of each component.

use std::sync::Arc;
use std::time::{Duration, Instant};

use loci_engine::{Config, System};
use loci_server::Options;
use loci_store::{IndexedOptions, Qdrant, QdrantConfig, SqliteStore};
use loci_testkit::qdrant::StandIn;
use serde_json::Value;

use crate::server::TestServer;

async fn ready(server: &TestServer) -> Value {
    server.without_key().get("/readyz").await.expect(200)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_index_that_is_away_is_reported_until_it_is_back() {
    let qdrant = StandIn::start_new().await;
    let index = Arc::new(Qdrant::new(QdrantConfig::new(&qdrant.url())).unwrap());
    let beside = |store: SqliteStore| {
        store.with_index(index, loci_engine::oversight(Arc::new(System)), IndexedOptions::default())
    };
    let server = TestServer::with_store(Options::default(), Config::default(), None, None, beside).await;
    let response = ready(&server).await;
    let (store, index) = (&response["components"]["store"], &response["components"]["vectors"]["index"]);
    assert_eq!((&store["status"], &store["name"]), (&"healthy".into(), &"sqlite".into()), "{response}");
    assert!(store["version"].as_str().unwrap().starts_with("3."), "{response}");
    assert_eq!((&index["name"], &index["behind"]), (&"qdrant".into(), &0.into()), "{response}");
    assert!(index["version"].is_string(), "{response}");
    qdrant.stop().await;
    // An answer may be one second old.
    let started = Instant::now();
    let mut response = ready(&server).await;
    while response["status"] == "healthy" || response["components"]["vectors"]["index"]["version"].is_string() {
        assert!(started.elapsed() < Duration::from_secs(20), "it is not reported: {response}");
        tokio::time::sleep(Duration::from_millis(20)).await;
        response = ready(&server).await;
    }
    let vectors = &response["components"]["vectors"];
    assert_eq!((&response["status"], &vectors["status"]), (&"degraded".into(), &"degraded".into()), "{response}");
    assert!(vectors["message"].as_str().unwrap().contains("index is not available"), "{response}");
    assert_eq!(vectors["index"]["version"], Value::Null, "{response}");
    qdrant.start().await;
    let started = Instant::now();
    while !ready(&server).await["components"]["vectors"]["index"]["version"].is_string() {
        assert!(started.elapsed() < Duration::from_secs(20), "it is still away");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
