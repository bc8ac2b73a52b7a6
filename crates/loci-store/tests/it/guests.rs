//! A Qdrant server that is shared: with other programs, with other stores, and with processes that end at once.

use std::sync::Arc;
use std::time::{Duration, Instant};

use loci_store::prelude::*;
use loci_store::{
    CatalogueChange, IndexedOptions, Pauses, Qdrant, QdrantConfig, SqliteOptions, SqliteStore, VectorIndex,
    VectorSource,
};
use loci_testkit::driver::{Driver, good};
use loci_testkit::proxy::Proxy;
use loci_testkit::qdrant::StandIn;
use loci_testkit::samples::*;
use loci_types::{Action, Tenant};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::faults::{IndexedStore, eventually, near, unavailable, write};
use crate::outside::{config, indexed, options};

async fn put(server: &StandIn, path: &str, body: &Value) {
    let url = format!("{}/collections/{path}", server.url());
    let response = reqwest::Client::new().put(url).json(body).send().await.unwrap();
    assert!(response.status().is_success(), "{path}: {:?}", response.text().await);
}

/// A collection of another program, with one point.
async fn foreign(server: &StandIn, name: &str) {
    put(server, name, &json!({ "vectors": { "size": 8, "distance": "Cosine" } })).await;
    let point = json!({ "id": 7, "vector": [1, 0, 0, 0, 0, 0, 0, 0], "payload": { "theirs": true, "state": "open", "type": "ticket" } });
    put(server, &format!("{name}/points"), &json!({ "points": [point] })).await;
}

fn of_store(server: &StandIn, id: &str) -> Arc<Qdrant> {
    Arc::new(Qdrant::new(QdrantConfig { store: id.to_owned(), ..config(&server.url()) }).unwrap())
}

// qdrant D1.
#[tokio::test]
async fn rebuild_and_drop_leave_collections_that_loci_did_not_write() {
    let fixture = IndexedStore::new().await;
    for name in ["shared", "agent_memory_kim"] {
        foreign(&fixture.server, name).await;
    }
    let store = SqliteStore::open(fixture.folder.path(), SqliteOptions::default()).unwrap();
    write(&store, &user("anna"), 1..3).await;
    write(&store, &agent("kim"), 3..5).await;
    let indexed = fixture.store.indexed().unwrap();
    let refused = indexed.rebuild(&Tenant::default(), |_, _, _| {}).await.unwrap_err();
    assert!(refused.to_string().contains("points that Loci did not write"), "{refused}");
    good(fixture.store.change_catalogue(&Tenant::default(), CatalogueChange::DropAgent("kim".to_owned())).await);
    for name in ["shared", "agent_memory_kim"] {
        let payloads = fixture.server.payloads(name);
        assert_eq!(
            payloads.values().collect::<Vec<_>>(),
            [&json!({ "theirs": true, "state": "open", "type": "ticket" })],
            "{name}"
        );
    }
}

// qdrant D1, D8.
#[tokio::test]
async fn points_of_others_in_a_collection_of_ours_are_counted_and_stay() {
    let fixture = IndexedStore::new().await;
    let bot = agent("bot");
    let ids = write(&fixture.store, &bot, 1..6).await;
    fixture.recovers(&ids).await;
    let point = json!({ "id": 7, "vector": vec![0.5; DIMENSIONS], "payload": { "theirs": true, "state": "open", "type": "ticket" } });
    put(&fixture.server, "agent_memory_bot/points", &json!({ "points": [point] })).await;
    let indexed = fixture.store.indexed().unwrap();
    for _ in 0..2 {
        let found = good(indexed.verify(&Tenant::default(), |_, _, _| {}).await);
        assert!(found[0].is_sound() && (found[0].points, found[0].foreign) == (5, 1), "{found:?}");
        good(indexed.rebuild(&Tenant::default(), |_, _, _| {}).await);
    }
    assert_eq!(
        fixture.server.payloads("agent_memory_bot")["7"],
        json!({ "theirs": true, "state": "open", "type": "ticket" })
    );
}

// qdrant D4.
#[tokio::test]
async fn a_collection_of_another_store_is_refused_by_name() {
    let server = StandIn::start_new().await;
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let one = indexed(&first, of_store(&server, "store-one"), IndexedOptions { tail: 1, ..options() });
    let ids = write(&one, &user("anna"), 1..10).await;
    assert_eq!(good(near(&one).await), ids);
    let another = indexed(&second, of_store(&server, "store-two"), options());
    write(&another, &user("anna"), 20..22).await;
    let refused = near(&another).await.unwrap_err();
    assert!(refused.to_string().contains("belongs to another store (store-one)"), "{refused}");
    assert!(another.indexed().unwrap().rebuild(&Tenant::default(), |_, _, _| {}).await.is_err());
    assert_eq!(good(near(&one).await), ids, "its points are untouched");
    for verified in good(one.indexed().unwrap().verify(&Tenant::default(), |_, _, _| {}).await) {
        assert!(verified.is_sound(), "{verified:?}");
    }
}

#[test]
fn the_identity_of_a_store_lasts_and_differs_from_others() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let id = |folder: &TempDir| good(SqliteStore::open(folder.path(), SqliteOptions::default()).unwrap().store_id());
    assert_eq!(id(&first), id(&first));
    assert_ne!(id(&first), id(&second));
}

// qdrant D2, D3.
#[tokio::test]
async fn a_process_that_ends_waits_for_its_deletions() {
    let fixture = IndexedStore::new().await;
    let ids = write(&fixture.store, &user("anna"), 1..10).await;
    fixture.recovers(&ids).await;
    // Another process, which was never asked a question.
    let brief = indexed(&fixture.folder, fixture.index.clone(), options());
    Driver::on(&brief).must(&user("anna").space(), Action::Erase { id: ids[0] }).await;
    write(&brief, &user("anna"), 20..21).await;
    assert!(brief.indexed().unwrap().settle(Duration::from_secs(20)).await);
    let held = fixture.server.payloads("shared");
    assert!(!held.contains_key(&ids[0].to_string()) && held.contains_key(&id(20).to_string()), "{held:?}");
    // An index that is away is not waited for.
    fixture.server.stop().await;
    write(&brief, &user("anna"), 21..22).await;
    assert!(!brief.indexed().unwrap().settle(Duration::from_secs(600)).await);
}

// qdrant D3.
#[tokio::test]
async fn a_server_notices_what_other_processes_left() {
    let fixture = IndexedStore::new().await;
    let ids = write(&fixture.store, &user("anna"), 1..10).await;
    fixture.recovers(&ids).await;
    let brief = SqliteStore::open(fixture.folder.path(), SqliteOptions::default()).unwrap();
    Driver::on(&brief).must(&user("anna").space(), Action::Erase { id: ids[0] }).await;
    let server = indexed(&fixture.folder, fixture.index.clone(), options());
    server.indexed().unwrap().follow();
    eventually("what was left before the start is noticed", async || {
        !fixture.server.payloads("shared").contains_key(&ids[0].to_string())
    })
    .await;
    Driver::on(&brief).must(&user("anna").space(), Action::Erase { id: ids[1] }).await;
    write(&brief, &agent("new"), 30..31).await;
    eventually("what is written later is noticed", async || {
        !fixture.server.payloads("shared").contains_key(&ids[1].to_string())
            && fixture.server.payloads("agent_memory_new").contains_key(&id(30).to_string())
    })
    .await;
}

// qdrant D5, attack B1.
#[tokio::test(flavor = "multi_thread")]
async fn an_outage_counts_once_whoever_asks() {
    for callers in [1, 12, 64] {
        let pauses = IndexedOptions { back_off: Pauses::default(), tail: 1, ..options() };
        let fixture = IndexedStore::with(pauses, |config| config).await;
        let ids = write(&fixture.store, &user("anna"), 1..5).await;
        fixture.recovers(&ids).await;
        fixture.server.stop().await;
        let away = Instant::now();
        while away.elapsed() < Duration::from_secs(2) {
            let asked = futures::future::join_all((0..callers).map(|_| fixture.near())).await;
            asked.iter().for_each(|one| unavailable(one.as_ref().unwrap_err()));
        }
        fixture.server.start().await;
        let back = Instant::now();
        eventually("it is used again", async || {
            futures::future::join_all((0..callers).map(|_| fixture.near())).await.iter().all(Result::is_ok)
        })
        .await;
        assert!(back.elapsed() < Duration::from_secs(5), "{callers} callers: {:?}", back.elapsed());
    }
}

// qdrant D6.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_hangs_costs_one_timeout() {
    let server = StandIn::start_new().await;
    let proxy = Proxy::to(server.url().trim_start_matches("http://")).await;
    let folder = tempfile::tempdir().unwrap();
    let timeout = Duration::from_secs(1);
    let index = QdrantConfig { timeout, ..config(&format!("http://{}", proxy.address())) };
    let pauses = IndexedOptions { back_off: Pauses::default(), tail: 1, ..options() };
    let store = indexed(&folder, Arc::new(Qdrant::new(index).unwrap()), pauses);
    let ids = write(&store, &user("anna"), 1..5).await;
    assert_eq!(good(near(&store).await), ids);
    assert!(store.indexed().unwrap().settle(Duration::from_secs(20)).await);
    proxy.delay(Duration::from_secs(3_600));
    let begun = Instant::now();
    unavailable(&near(&store).await.unwrap_err());
    let first = begun.elapsed();
    assert!(first >= timeout * 9 / 10 && first < timeout * 18 / 10, "{first:?}");
    for _ in 0..50 {
        let begun = Instant::now();
        unavailable(&near(&store).await.unwrap_err());
        assert!(begun.elapsed() < timeout / 2, "{:?}", begun.elapsed());
    }
    // Its health is not waited for either.
    let begun = Instant::now();
    assert!(good(store.indexed().unwrap().index_health().await).problem.is_some());
    assert!(begun.elapsed() < timeout / 2);
    proxy.heal();
    let back = Instant::now();
    eventually("it is used again", async || near(&store).await.is_ok_and(|found| found == ids)).await;
    assert!(back.elapsed() < Duration::from_secs(5), "{:?}", back.elapsed());
}

// qdrant D7.
#[tokio::test]
async fn collections_that_are_no_longer_used_are_listed_and_swept() {
    let server = StandIn::start_new().await;
    foreign(&server, "theirs").await;
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let other = indexed(&elsewhere, of_store(&server, "store-two"), options());
    write(&other, &agent("other"), 50..52).await;
    assert!(other.indexed().unwrap().settle(Duration::from_secs(20)).await);
    {
        let brief = indexed(&folder, of_store(&server, "store-one"), options());
        write(&brief, &agent("bot"), 1..3).await;
        let ids = write(&brief, &agent("kept"), 3..5).await;
        assert_eq!(ids.len(), 2);
        assert!(brief.indexed().unwrap().settle(Duration::from_secs(20)).await);
        server.stop().await;
        good(brief.change_catalogue(&Tenant::default(), CatalogueChange::DropAgent("bot".to_owned())).await);
    }
    server.start().await;
    let store = indexed(&folder, of_store(&server, "store-one"), options());
    let status = good(store.indexed().unwrap().status(&Tenant::default()).await);
    assert_eq!(status.orphans, ["agent_memory_bot"]);
    assert_eq!(good(store.indexed().unwrap().sweep().await), ["agent_memory_bot"]);
    assert_eq!(server.collections(), ["agent_memory_kept", "agent_memory_other", "theirs"]);
    assert!(good(store.indexed().unwrap().sweep().await).is_empty());
}

// qdrant D8.
#[tokio::test]
async fn points_that_were_lost_behind_its_back_are_noticed() {
    let often = IndexedOptions { recount: Duration::ZERO, tail: 1, ..options() };
    let fixture = IndexedStore::with(often, |config| config).await;
    let ids = write(&fixture.store, &user("anna"), 1..10).await;
    fixture.recovers(&ids).await;
    for lost in &ids[2..5] {
        fixture.server.lose("shared", &lost.to_string());
    }
    fixture.recovers(&ids).await;
}

// qdrant D8.
#[tokio::test]
async fn the_limits_of_strict_mode_are_kept() {
    let fixture = IndexedStore::with(IndexedOptions { tail: 1, ..options() }, |config| config).await;
    let ids = write(&fixture.store, &user("anna"), 1..60).await;
    fixture.recovers(&ids).await;
    fixture.server.limit(64, 20);
    assert_eq!(good(near(&fixture.store).await), ids);
    assert_eq!(fixture.index.most(), 20);
    fixture.recovers(&ids).await;
}
