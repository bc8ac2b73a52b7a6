//! A store whose index is away, slow, lost or wrong.
//!
//! Whatever happens to it, writes go on, what is answered is right, and afterwards it catches up by itself.

use std::sync::Arc;
use std::time::{Duration, Instant};

use loci_store::prelude::*;
use loci_store::{CatalogueChange, IndexedOptions, Pauses, Qdrant, QdrantConfig, SqliteStore, VectorIndex};
use loci_testkit::driver::{Driver, good};
use loci_testkit::qdrant::StandIn;
use loci_testkit::samples::*;
use loci_types::{Action, ErrorKind, Layer, MemoryId, Scope, Tenant};
use serde_json::json;
use tempfile::TempDir;

use crate::outside::{config, indexed, options};

pub(crate) struct IndexedStore {
    pub(crate) store: SqliteStore,
    pub(crate) index: Arc<Qdrant>,
    pub(crate) server: StandIn,
    pub(crate) folder: TempDir,
}

impl IndexedStore {
    pub(crate) async fn new() -> Self {
        Self::with(options(), |config| config).await
    }

    pub(crate) async fn with(options: IndexedOptions, change: impl FnOnce(QdrantConfig) -> QdrantConfig) -> Self {
        let server = StandIn::start_new().await;
        let folder = tempfile::tempdir().unwrap();
        let index = Arc::new(Qdrant::new(change(config(&server.url()))).unwrap());
        Self { store: indexed(&folder, index.clone(), options), index, server, folder }
    }

    pub(crate) async fn near(&self) -> loci_store::Result<Vec<MemoryId>> {
        near(&self.store).await
    }

    /// Waits until the index knows everything by itself, and the store finds it.
    pub(crate) async fn recovers(&self, expect: &[MemoryId]) {
        eventually("everything is found", async || self.near().await.is_ok_and(|found| found == expect)).await;
        eventually("the index has caught up", async || {
            let status = good(self.store.indexed().unwrap().status(&Tenant::default()).await);
            status.problem.is_none() && status.collections.iter().all(|one| one.position == one.end)
        })
        .await;
        for verified in good(self.store.indexed().unwrap().verify(&Tenant::default(), |_, _, _| {}).await) {
            assert!(verified.is_sound(), "{verified:?}");
        }
    }
}

/// All memories near `lantern`, in the order of their ids.
pub(crate) async fn near(store: &dyn Store) -> loci_store::Result<Vec<MemoryId>> {
    let hits = store.nearest(&whole(), &vector("lantern"), &now(), 1_000).await?;
    let mut ids: Vec<MemoryId> = hits.into_iter().map(|hit| hit.id).collect();
    ids.sort();
    Ok(ids)
}

pub(crate) async fn eventually(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !holds().await {
        assert!(Instant::now() < deadline, "in vain: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

pub(crate) async fn write(store: &dyn Store, scope: &Scope, numbers: std::ops::Range<u64>) -> Vec<MemoryId> {
    let mut ids = Vec::new();
    for number in numbers {
        let memory = memory(number, scope, &format!("lantern {number}"));
        ids.push(memory.id);
        good(store.apply(batch(&scope.space(), vec![add(memory)])).await);
    }
    ids
}

pub(crate) fn unavailable(error: &loci_store::Error) {
    assert!(matches!(error, loci_store::Error::Unavailable { .. }), "{error}");
    assert_eq!((error.kind(), error.kind().row().retryable), (ErrorKind::Provider, true));
    assert!(error.hint().is_some());
}

// Coverage: S2.29, SPEC-11.2.
#[tokio::test]
async fn away_at_the_start() {
    let fixture = IndexedStore::new().await;
    fixture.server.stop().await;
    let ids = write(&fixture.store, &user("anna"), 1..20).await;
    unavailable(&fixture.near().await.unwrap_err());
    let status = good(fixture.store.indexed().unwrap().status(&Tenant::default()).await);
    assert!(status.problem.is_some() && status.collections[0].points.is_none(), "{status:?}");
    fixture.server.start().await;
    fixture.recovers(&ids).await;
}

// Coverage: S2.29, SPEC-11.2.
#[tokio::test]
async fn lost_in_the_middle() {
    let fixture = IndexedStore::new().await;
    let mut ids = write(&fixture.store, &user("anna"), 1..10).await;
    fixture.recovers(&ids).await;
    fixture.server.stop().await;
    ids.extend(write(&fixture.store, &user("anna"), 10..20).await);
    unavailable(&fixture.near().await.unwrap_err());
    let driver = Driver::on(&fixture.store);
    driver.must(&user("anna").space(), Action::Erase { id: ids[0] }).await;
    fixture.server.start().await;
    fixture.recovers(&ids[1..]).await;
}

// Coverage: S2.29.
#[tokio::test]
async fn slow() {
    let quick = |config| QdrantConfig { timeout: Duration::from_millis(100), ..config };
    let fixture = IndexedStore::with(options(), quick).await;
    let mut ids = write(&fixture.store, &user("anna"), 1..5).await;
    fixture.recovers(&ids).await;
    fixture.server.delay(Duration::from_secs(30));
    let begun = Instant::now();
    ids.extend(write(&fixture.store, &user("anna"), 5..9).await);
    unavailable(&fixture.near().await.unwrap_err());
    assert!(begun.elapsed() < Duration::from_secs(10), "nobody waits for it");
    fixture.server.delay(Duration::ZERO);
    fixture.recovers(&ids).await;
}

#[tokio::test]
async fn an_index_that_is_away_is_reported_at_once() {
    let away = Pauses { first: Duration::from_secs(600), longest: Duration::from_secs(600), factor: 1.0 };
    let fixture = IndexedStore::with(IndexedOptions { back_off: away, ..options() }, |config| config).await;
    let ids = write(&fixture.store, &user("anna"), 1..5).await;
    fixture.recovers(&ids).await;
    fixture.server.stop().await;
    unavailable(&fixture.near().await.unwrap_err());
    let asked = fixture.server.requests();
    for _ in 0..20 {
        unavailable(&fixture.near().await.unwrap_err());
    }
    assert_eq!(fixture.server.requests(), asked, "it is not asked again before its time");
}

// Coverage: S0.7.
#[tokio::test]
async fn restarted_empty() {
    let fixture = IndexedStore::new().await;
    let ids = write(&fixture.store, &user("anna"), 1..40).await;
    fixture.recovers(&ids).await;
    fixture.server.forget();
    assert_eq!(good(fixture.near().await), ids, "the very next question finds everything");
    fixture.recovers(&ids).await;
    fixture.server.empty();
    assert_eq!(good(fixture.near().await), ids, "a collection without points is noticed, too");
    fixture.recovers(&ids).await;
}

#[tokio::test]
async fn restarted_empty_and_far_behind() {
    let fixture = IndexedStore::with(IndexedOptions { tail: 5, page: 7, ..options() }, |config| config).await;
    let ids = write(&fixture.store, &user("anna"), 1..40).await;
    assert_eq!(good(fixture.near().await), ids);
    fixture.server.forget();
    assert_eq!(good(fixture.near().await), ids);
    fixture.recovers(&ids).await;
}

#[tokio::test]
async fn a_collection_that_is_lost_while_it_is_written_to_is_no_outage() {
    let fixture = IndexedStore::new().await;
    let mut ids = write(&fixture.store, &user("anna"), 1..5).await;
    fixture.recovers(&ids).await;
    fixture.server.delay(Duration::from_millis(2));
    for number in 5..60 {
        ids.extend(write(&fixture.store, &user("anna"), number..number + 1).await);
        // The moment of the loss differs, so that it falls into each step of the write to the index.
        tokio::time::sleep(Duration::from_millis(number % 11)).await;
        fixture.server.forget();
        assert_eq!(good(fixture.near().await), ids, "after memory {number}");
    }
    fixture.server.delay(Duration::ZERO);
    fixture.recovers(&ids).await;
}

// Coverage: S2.29.
#[tokio::test]
async fn who_is_too_far_behind_gives_no_half_answer() {
    let hurried = IndexedOptions { tail: 5, page: 1, patience: Duration::ZERO, ..options() };
    let fixture = IndexedStore::with(hurried, |config| config).await;
    fixture.server.delay(Duration::from_millis(100));
    let ids = write(&fixture.store, &user("anna"), 1..40).await;
    let error = fixture.near().await.unwrap_err();
    unavailable(&error);
    assert!(error.to_string().contains("being filled"), "{error}");
    fixture.server.delay(Duration::ZERO);
    fixture.recovers(&ids).await;
}

#[tokio::test]
async fn a_page_that_is_delivered_twice_changes_nothing() {
    let fixture = IndexedStore::new().await;
    let ids = write(&fixture.store, &user("anna"), 1..10).await;
    fixture.recovers(&ids).await;
    let before = fixture.server.payloads("shared");
    let collection = loci_store::Collection {
        tenant: Tenant::default(),
        space: user("anna").space(),
        model: MODEL.to_owned(),
        dimensions: DIMENSIONS,
    };
    let feed = good(fixture.store.vector_feed(&whole(), &user("anna").space(), MODEL, 0, 100).await);
    good(fixture.index.upsert(&collection, &feed.points).await);
    good(fixture.index.delete(&collection, &[id(777)]).await);
    good(fixture.index.prepare(&collection).await);
    assert_eq!(fixture.server.payloads("shared").len(), before.len());
    fixture.recovers(&ids).await;
}

#[tokio::test]
async fn passing_failures_are_repeated() {
    let fixture = IndexedStore::new().await;
    fixture.server.fail_next(1);
    let ids = write(&fixture.store, &user("anna"), 1..10).await;
    fixture.recovers(&ids).await;
}

#[tokio::test]
async fn a_dropped_agent_leaves_no_collection() {
    let fixture = IndexedStore::new().await;
    let bot = agent("bot");
    write(&fixture.store, &bot, 1..10).await;
    fixture.recovers(&(1..10).map(id).collect::<Vec<_>>()).await;
    assert_eq!(fixture.server.collections(), ["agent_memory_bot"]);
    good(fixture.store.change_catalogue(&Tenant::default(), CatalogueChange::DropAgent("bot".to_owned())).await);
    assert!(fixture.server.collections().is_empty());
    // While the server is away, the collection goes as soon as it is back.
    write(&fixture.store, &bot, 20..30).await;
    fixture.recovers(&(20..30).map(id).collect::<Vec<_>>()).await;
    fixture.server.stop().await;
    good(fixture.store.change_catalogue(&Tenant::default(), CatalogueChange::DropAgent("bot".to_owned())).await);
    fixture.server.start().await;
    eventually("the collection goes", async || fixture.server.collections().is_empty()).await;
    let ids = write(&fixture.store, &bot, 40..42).await;
    fixture.recovers(&ids).await;
}

// Coverage: S4.17.
#[tokio::test]
async fn a_dropped_pool_leaves_no_collection() {
    let fixture = IndexedStore::new().await;
    let physics = scope(Layer::Pool, &["physics"]);
    write(&fixture.store, &physics, 1..10).await;
    fixture.recovers(&(1..10).map(id).collect::<Vec<_>>()).await;
    assert_eq!(fixture.server.collections(), ["pool_physics"]);
    assert!(
        good(fixture.store.change_catalogue(&Tenant::default(), CatalogueChange::DropPool("physics".to_owned())).await)
            > 0
    );
    assert!(fixture.server.collections().is_empty());
}

#[tokio::test]
async fn another_ledger_is_noticed() {
    let fixture = IndexedStore::new().await;
    let old = write(&fixture.store, &user("anna"), 1..10).await;
    fixture.recovers(&old).await;
    // The same collections, but the store was brought back from elsewhere.
    let folder = tempfile::tempdir().unwrap();
    let store = indexed(&folder, fixture.index.clone(), options());
    let ids = write(&store, &user("anna"), 100..120).await;
    assert_eq!(good(near(&store).await), ids);
    for verified in good(store.indexed().unwrap().verify(&Tenant::default(), |_, _, _| {}).await) {
        assert!(verified.is_sound(), "{verified:?}");
    }
}

#[tokio::test]
async fn two_processes_fill_one_collection() {
    let fixture = IndexedStore::with(IndexedOptions { page: 3, ..options() }, |config| config).await;
    let other_index = Arc::new(Qdrant::new(config(&fixture.server.url())).unwrap());
    let other = indexed(&fixture.folder, other_index, IndexedOptions { page: 3, ..options() });
    let anna = user("anna");
    let (first, second) = tokio::join!(write(&fixture.store, &anna, 1..30), write(&other, &anna, 30..60));
    let mut ids = [first, second].concat();
    ids.sort();
    assert_eq!(good(near(&fixture.store).await), ids);
    assert_eq!(good(near(&other).await), ids);
    fixture.recovers(&ids).await;
}

// Coverage: S0.7.
#[tokio::test]
async fn verify_finds_differences_and_rebuild_repairs_them() {
    let fixture = IndexedStore::new().await;
    let ids = write(&fixture.store, &user("anna"), 1..10).await;
    fixture.recovers(&ids).await;
    fixture.server.lose("shared", &ids[0].to_string());
    fixture.server.spoil("shared", &ids[1].to_string(), "stamp", json!("00"));
    let collection = loci_store::Collection {
        tenant: Tenant::default(),
        space: user("anna").space(),
        model: MODEL.to_owned(),
        dimensions: DIMENSIONS,
    };
    let feed = good(fixture.store.vector_feed(&whole(), &user("anna").space(), MODEL, 0, 1).await);
    let mut stranger = feed.points[0].clone();
    stranger.memory.id = id(4_711);
    good(fixture.index.upsert(&collection, &[stranger]).await);
    let found = good(fixture.store.indexed().unwrap().verify(&Tenant::default(), |_, _, _| {}).await);
    let [found] = &found[..] else { panic!("{found:?}") };
    assert_eq!((found.missing, found.surplus, found.stale, found.records, found.points), (1, 1, 1, 9, 9));
    let mut progress = Vec::new();
    assert_eq!(
        good(
            fixture
                .store
                .indexed()
                .unwrap()
                .rebuild(&Tenant::default(), |name, line, end| progress.push((name.to_owned(), line, end)))
                .await
        ),
        1
    );
    assert_eq!(progress.last(), Some(&("shared".to_owned(), 9, 9)));
    fixture.recovers(&ids).await;
}

#[tokio::test]
async fn what_someone_else_wrote_is_not_touched() {
    let fixture = IndexedStore::new().await;
    let (client, url) = (reqwest::Client::new(), format!("{}/collections/shared", fixture.server.url()));
    let made = json!({ "vectors": { "size": 3, "distance": "Dot" } });
    client.put(&url).json(&made).send().await.unwrap();
    let theirs = json!({ "points": [{ "id": 1, "vector": [1, 0, 0], "payload": { "theirs": true } }] });
    client.put(format!("{url}/points")).json(&theirs).send().await.unwrap();
    write(&fixture.store, &user("anna"), 1..3).await;
    eventually("it says so", async || {
        fixture.near().await.is_err_and(|error| error.to_string().contains("did not write"))
    })
    .await;
    assert_eq!(fixture.server.payloads("shared").values().collect::<Vec<_>>(), [&json!({ "theirs": true })]);
}

#[tokio::test]
async fn a_key_is_sent_and_never_shown() {
    let server = StandIn::start_with(Some("s3cret")).await;
    for (key, good) in [(Some("s3cret"), true), (Some("wr0ng-key"), false), (None, false)] {
        let config = QdrantConfig { api_key: key.map(str::to_owned), ..config(&server.url()) };
        assert!(!format!("{config:?}").contains("s3cret"));
        let health = Qdrant::new(config).unwrap().health().await;
        assert_eq!(health.is_ok(), good, "{health:?}");
        assert!(!format!("{health:?}").contains("wr0ng-key"));
    }
}

// Coverage: S0.7.
#[tokio::test]
async fn the_collection_is_configured_as_designed() {
    let fixture = IndexedStore::new().await;
    let bot = agent("devops-agent");
    let mut full = full_memory(1, &bot);
    full.content = "nobody outside reads this".to_owned();
    good(fixture.store.apply(batch(&bot.space(), vec![add(full.clone())])).await);
    eventually("the index is up to date", async || fixture.server.payloads("agent_memory_devops-agent").len() == 2)
        .await;
    let asked = fixture.server.configuration("agent_memory_devops-agent").unwrap();
    assert_eq!(asked["vectors"], json!({ "size": DIMENSIONS, "distance": "Cosine", "on_disk": false }));
    assert_eq!(
        asked["hnsw_config"],
        json!({ "m": 16, "ef_construct": 128, "full_scan_threshold": 10000, "on_disk": false })
    );
    assert_eq!(
        asked["quantization_config"],
        json!({ "scalar": { "type": "int8", "quantile": 0.99, "always_ram": true } })
    );
    assert_eq!(asked["on_disk_payload"], false);
    let indexes = fixture.server.payload_indexes("agent_memory_devops-agent");
    let names: Vec<&str> = indexes.keys().map(String::as_str).collect();
    assert_eq!(names, ["createdAt", "expiresAt", "scope", "state", "supersededById", "tags", "type", "userId"]);
    assert_eq!(indexes["userId"], json!({ "type": "keyword", "is_tenant": true }));
    let payload = &fixture.server.payloads("agent_memory_devops-agent")[&full.id.to_string()];
    assert_eq!((&payload["userId"], &payload["type"]), (&json!("anna"), &json!("preference")));
    assert_eq!(payload["supersededById"], json!(null));
    assert!(payload.as_object().unwrap().contains_key("supersededById"));
    assert_eq!(payload["createdAt"], json!(at(1).as_millisecond()));
    assert!(!payload.to_string().contains("nobody outside"), "{payload}");
}
