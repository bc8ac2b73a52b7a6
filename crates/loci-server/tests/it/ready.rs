//! Does the house say which of its parts are well?

use std::sync::Arc;
use std::time::{Duration, Instant};

use loci_engine::{Config, System};
use loci_server::Options;
use loci_store::{IndexedOptions, Qdrant, QdrantConfig, SqliteStore};
use loci_testkit::qdrant::StandIn;
use serde_json::Value;

use crate::server::TestServer;

async fn ready(house: &TestServer) -> Value {
    house.stranger().get("/readyz").await.expect(200)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_index_that_is_away_is_told_of_until_it_is_back() {
    let server = StandIn::start_new().await;
    let index = Arc::new(Qdrant::new(QdrantConfig::new(&server.url())).unwrap());
    let beside = |store: SqliteStore| {
        store.with_index(index, loci_engine::oversight(Arc::new(System)), IndexedOptions::default())
    };
    let house = TestServer::beside(Options::default(), Config::default(), None, None, beside).await;
    let told = ready(&house).await;
    let (store, index) = (&told["components"]["store"], &told["components"]["vectors"]["index"]);
    assert_eq!((&store["status"], &store["name"]), (&"healthy".into(), &"sqlite".into()), "{told}");
    assert!(store["version"].as_str().unwrap().starts_with("3."), "{told}");
    assert_eq!((&index["name"], &index["behind"]), (&"qdrant".into(), &0.into()), "{told}");
    assert!(index["version"].is_string(), "{told}");
    server.stop().await;
    let told = ready(&house).await;
    let vectors = &told["components"]["vectors"];
    assert_eq!((&told["status"], &vectors["status"]), (&"degraded".into(), &"degraded".into()), "{told}");
    assert!(vectors["message"].as_str().unwrap().contains("index is away"), "{told}");
    assert_eq!(vectors["index"]["version"], Value::Null, "{told}");
    server.start().await;
    let started = Instant::now();
    while !ready(&house).await["components"]["vectors"]["index"]["version"].is_string() {
        assert!(started.elapsed() < Duration::from_secs(20), "it is still away");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
