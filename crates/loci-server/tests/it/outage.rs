//! Services outside that hang, fail and are gone: requests do not wait for them, nothing is lost, and they are used again
//! when they are back.

use std::sync::Arc;
use std::time::{Duration, Instant};

use loci_engine::{Config, Engine, System};
use loci_models::{Cached, Embedder, Remote, RemoteConfig, RemoteReranker, RerankConfig, Retries};
use loci_server::Options;
use loci_store::{SqliteOptions, SqliteStore};
use loci_testkit::model_service::ModelService;
use loci_testkit::proxy::Proxy;
use serde_json::{Value, json};

use crate::server::TestServer;

/// How a service is away.
#[derive(Debug, Clone, Copy)]
enum Fault {
    /// It accepts and never answers.
    Hangs,
    /// It answers 500.
    Fails,
    /// It closes every connection.
    Gone,
}

const FAULTS: [Fault; 3] = [Fault::Hangs, Fault::Fails, Fault::Gone];

/// The bound for the first requests, which may wait for a deadline of 1 s.
const FIRST: Duration = Duration::from_millis(1_500);

/// The bound for each request while the service is known to be away: less than a deadline, so that none waited for one.
const LATER: Duration = Duration::from_millis(500);

/// Options without a limit of the rate, which many callers would exceed.
fn unlimited() -> Options {
    let mut options = Options::default();
    options.server.requests_per_second = 0;
    options
}

struct Outside {
    service: ModelService,
    proxy: Proxy,
}

impl Outside {
    async fn start() -> Self {
        let service = ModelService::start().await;
        let proxy = Proxy::to(service.address()).await;
        Self { service, proxy }
    }

    fn url(&self) -> String {
        format!("http://{}", self.proxy.address())
    }

    fn break_by(&self, fault: Fault) {
        match fault {
            Fault::Hangs => self.proxy.delay(Duration::from_secs(3_600)),
            Fault::Fails => self.service.fail(true),
            Fault::Gone => self.proxy.cut(),
        }
    }

    fn heal(&self) {
        self.service.fail(false);
        self.proxy.heal();
    }

    async fn embedder(&self) -> Arc<dyn Embedder> {
        let retries = Retries { first_delay: Duration::from_millis(50), ..Retries::default() };
        // Background work waits for a call for 30 s by default; a test that waits as long is slow and proves no more.
        let timeout = Duration::from_secs(4);
        let config = RemoteConfig { retries, timeout, ..RemoteConfig::new(self.url(), "scripted") };
        Arc::new(Cached::new(Remote::connect(config).await.unwrap()))
    }
}

async fn recall(server: &TestServer, query: &str) -> (Value, Duration) {
    let begun = Instant::now();
    let body = json!({ "query": query, "identifiers": { "userId": "ann" } });
    let answer = server.post("/v1/recall", body).await.expect(200);
    (answer, begun.elapsed())
}

async fn remember(server: &TestServer, text: &str) -> (Value, Duration) {
    let begun = Instant::now();
    let body = json!({ "content": text, "identifiers": { "userId": "ann" } });
    (server.post("/v1/memories", body).await.expect(201), begun.elapsed())
}

async fn ready(server: &TestServer) -> Value {
    server.without_key().get("/readyz").await.expect(200)
}

async fn within(bound: Duration, what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let begun = Instant::now();
    while !holds().await {
        assert!(begun.elapsed() < bound, "in vain: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Waits until `/readyz`, which may be a second old, says this.
async fn is_ready(server: &TestServer, status: &str) {
    within(Duration::from_secs(10), status, async || ready(server).await["status"] == status).await;
}

// attack B1, doors 2.2.
async fn an_outage_of_the_embedder(fault: Fault, callers: usize) {
    let outside = Outside::start().await;
    let server = TestServer::with_models(unlimited(), Config::default(), Some(outside.embedder().await), None).await;
    remember(&server, "the lantern hangs in the hall").await;
    assert_eq!(recall(&server, "lantern").await.0["degraded"], json!([]));
    is_ready(&server, "healthy").await;
    outside.break_by(fault);
    let (asked, kept): (Vec<_>, Vec<_>) = futures::future::join(
        futures::future::join_all((0..callers).map(async |number| recall(&server, &format!("lantern {number}")).await)),
        futures::future::join_all((0..callers).map(async |number| remember(&server, &format!("note {number}")).await)),
    )
    .await;
    for (answer, took) in asked.iter().chain(&kept) {
        assert_eq!(answer["degraded"], json!(["vector"]), "{fault:?} {answer}");
        // Many callers at once share two processors with other tests.
        assert!(*took < if callers == 1 { FIRST } else { FIRST * 4 }, "{fault:?}, {callers} callers: {took:?}");
    }
    for number in 0..10 {
        let (answer, took) = recall(&server, &format!("lantern once more {number}")).await;
        assert_eq!((&answer["degraded"], answer["data"].as_array().unwrap().is_empty()), (&json!(["vector"]), false));
        assert!(took < LATER, "{fault:?}: a question waits for what is away: {took:?}");
        let (answer, took) = remember(&server, &format!("another note {number}")).await;
        assert_eq!(answer["degraded"], json!(["vector"]));
        assert!(took < LATER, "{fault:?}: a write waits for what is away: {took:?}");
    }
    is_ready(&server, "degraded").await;
    let health = ready(&server).await;
    let message = health["components"]["vectors"]["message"].as_str().unwrap_or_default();
    assert!(health["status"] == "degraded" && message.contains("embedding model is not available"), "{health}");
    outside.heal();
    let mut number = 0;
    within(Duration::from_secs(5), "the model is used again", async || {
        number += 1;
        let asked = (0..callers).map(|caller| format!("lantern, back {number} {caller}"));
        let asked: Vec<String> = asked.collect();
        let found = futures::future::join_all(asked.iter().map(|query| recall(&server, query))).await;
        found.iter().all(|(answer, _)| answer["degraded"] == json!([]))
    })
    .await;
    is_ready(&server, "healthy").await;
    // Nothing is lost: all are stored, and get their vectors.
    let expect = 1 + callers + 10;
    // A call of background work that began in the outage ends by its own timeout, which is longer, and is repeated.
    within(Duration::from_secs(60), "the vectors follow", async || {
        let stats = server.get("/v1/stats?userId=ann").await.expect(200);
        assert_eq!(stats["memories"], expect, "{stats}");
        stats["vectors"]["scripted"] == expect
    })
    .await;
    server.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_embedder_that_is_away_takes_the_vectors_and_nothing_else_from_one_caller() {
    for fault in FAULTS {
        an_outage_of_the_embedder(fault, 1).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_embedder_that_is_away_takes_the_vectors_and_nothing_else_from_many_callers() {
    for fault in FAULTS {
        an_outage_of_the_embedder(fault, 64).await;
    }
}

// attack B6.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_starts_without_its_embedder_comes_to_it() {
    for fault in FAULTS {
        let outside = Outside::start().await;
        outside.break_by(fault);
        let embedder = outside.embedder().await;
        assert_eq!(embedder.model().dimensions, 0);
        let server = TestServer::with_models(unlimited(), Config::default(), Some(embedder), None).await;
        assert_eq!(remember(&server, "the lantern hangs in the hall").await.0["degraded"], json!(["vector"]));
        is_ready(&server, "degraded").await;
        outside.heal();
        let mut number = 0;
        within(Duration::from_secs(5), "the model is used", async || {
            number += 1;
            recall(&server, &format!("lantern {number}")).await.0["degraded"] == json!([])
        })
        .await;
        is_ready(&server, "healthy").await;
        let health = ready(&server).await;
        assert_eq!((&health["status"], &health["components"]["vectors"]["dimensions"]), (&json!("healthy"), &json!(8)));
        server.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reranker_that_is_away_leaves_the_order_and_is_used_again() {
    for (fault, callers) in FAULTS.into_iter().flat_map(|fault| [(fault, 1), (fault, 64)]) {
        let outside = Outside::start().await;
        let config = RerankConfig { deadline: Duration::from_secs(1), ..RerankConfig::new(outside.url()) };
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path(), SqliteOptions::default()).unwrap();
        let engine = Engine::new(Arc::new(store), None, Arc::new(System), Config::default()).unwrap();
        let engine = engine.with_reranker(Arc::new(RemoteReranker::new(config).unwrap()));
        let server = TestServer::with_engine(engine, unlimited(), folder).await;
        for text in ["the lantern hangs in the hall", "a lantern of brass"] {
            remember(&server, text).await;
        }
        let away = |answer: &Value| answer["degraded"].as_array().unwrap().contains(&json!("rerank"));
        assert!(!away(&recall(&server, "lantern").await.0));
        outside.break_by(fault);
        let first = futures::future::join_all((0..callers).map(|_| recall(&server, "lantern"))).await;
        for (answer, took) in &first {
            assert!(away(answer) && (*took < FIRST || callers > 1 && *took < FIRST * 4), "{fault:?} {took:?} {answer}");
        }
        for _ in 0..10 {
            let (answer, took) = recall(&server, "lantern").await;
            assert!(away(&answer) && took < LATER, "{fault:?} {took:?}");
        }
        outside.heal();
        within(Duration::from_secs(5), "the reranker is used again", async || {
            let found = futures::future::join_all((0..callers).map(|_| recall(&server, "lantern"))).await;
            found.iter().all(|(answer, _)| !away(answer))
        })
        .await;
        server.close().await;
    }
}
