//! Tests of recall and writes while the external vector index is unavailable.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use loci_engine::{Caller, NewKey, RecallRequest, SearchRequest, Strategy};
use loci_store::{IndexedOptions, Pauses, Qdrant, QdrantConfig, Retry, SqliteOptions, SqliteStore};
use loci_testkit::qdrant::StandIn;
use loci_types::{Bounds, ErrorKind, Grant, Outcome, Role, Tenant};

use crate::house::{House, ask, user};

/// A house whose neighbours are proposed by the stand-in for Qdrant.
async fn house() -> (House, StandIn) {
    let server = StandIn::start_new().await;
    let soon = Duration::from_millis(10);
    let back_off = Pauses { first: soon, longest: soon, factor: 1.0 };
    let retry = Retry { initial_delay: soon, max_delay: soon, ..Retry::default() };
    let index = Qdrant::new(QdrantConfig { retry, ..QdrantConfig::new(&server.url()) }).unwrap();
    let made = House::on(|folder, clock| {
        let store = SqliteStore::open(folder, SqliteOptions::default()).unwrap();
        let options = IndexedOptions { back_off, ..IndexedOptions::default() };
        Arc::new(store.with_index(Arc::new(index), loci_engine::oversight(clock), options))
    });
    (made, server)
}

#[tokio::test]
async fn an_index_that_is_away_takes_a_lane_and_nothing_else() {
    let (house, server) = house().await;
    let ana = user("ana");
    house.remember(&ana, "Ana plays the violin").await;
    let recall = house.engine.recall(&ana, ask("violin")).await.unwrap();
    assert!(recall.degraded.is_empty());
    assert!(recall.hits[0].explain.lanes.iter().any(|lane| lane.lane == "vector"));
    // As long as the index has heard of nothing, nobody needs it. This waits until it has.
    house.engine.vector_verify(&Caller::operator(), |_, _, _| {}).await.unwrap();
    server.stop().await;
    let receipt = house.remember(&ana, "Ana tunes her violin on Sundays").await;
    assert_eq!((receipt.event, receipt.embedding_generated), (Outcome::Created, true), "a write does not notice");
    let recall = house.engine.recall(&ana, ask("violin")).await.unwrap();
    assert_eq!((recall.degraded, recall.hits.len()), (vec!["vector".to_owned()], 2));
    let search = SearchRequest { query: "violin".into(), ..SearchRequest::default() };
    let found = house.engine.search(&ana, search).await.unwrap();
    assert_eq!((found.degraded, found.results.len()), (vec!["vector".to_owned()], 2));
    // A query with this lane alone fails, because an empty result would look like no match.
    let alone = RecallRequest { strategy: Some(Strategy::Semantic), ..ask("violin") };
    let error = house.engine.recall(&ana, alone).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Provider);
    server.start().await;
    let whole = async || {
        let recall = house.engine.recall(&ana, ask("violin")).await.unwrap();
        let near = |lane: &loci_engine::LaneRank| lane.lane == "vector";
        recall.degraded.is_empty() && recall.hits.iter().filter(|hit| hit.explain.lanes.iter().any(near)).count() == 2
    };
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    while !whole().await {
        assert!(std::time::Instant::now() < deadline, "it does not come back");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let operator = Caller::operator();
    for verified in house.engine.vector_verify(&operator, |_, _, _| {}).await.unwrap() {
        assert!(verified.is_sound() && verified.records == 2, "{verified:?}");
    }
    assert_eq!(house.engine.vector_rebuild(&operator, |_, _, _| {}).await.unwrap(), 1);
    assert_eq!(house.engine.vector_status(&ana).await.unwrap_err().kind(), ErrorKind::Unauthorized);
}

#[tokio::test]
async fn without_an_index_there_is_nothing_to_look_after() {
    let error = House::new().engine.vector_status(&Caller::operator()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration);
}

// qdrant D2.
#[tokio::test]
async fn erasing_a_user_reaches_the_index_or_says_what_is_left() {
    let (house, server) = house().await;
    let (ana, dana) = (user("ana"), user("dana"));
    house.remember(&ana, "Ana plays the violin").await;
    for text in ["Dana plays the cello", "Dana lives in Riga"] {
        house.remember(&dana, text).await;
    }
    let operator = Caller::operator();
    house.engine.vector_verify(&operator, |_, _, _| {}).await.unwrap();
    let names = |user: &str| {
        let payloads = server.collections().into_iter().flat_map(|name| server.payloads(&name).into_values());
        payloads.filter(|payload| payload["userId"] == user).count()
    };
    assert_eq!((names("ana"), names("dana")), (1, 2));
    let erased = house.engine.erase_user(&operator, "dana", true).await.unwrap();
    assert!(erased.erased && erased.left.is_empty(), "{erased:?}");
    assert_eq!((names("ana"), names("dana")), (1, 0));
    server.stop().await;
    let erased = house.engine.erase_user(&operator, "ana", false).await.unwrap();
    assert!(erased.erased && erased.left.iter().any(|left| left.contains("vector index")), "{erased:?}");
    server.start().await;
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    while house.engine.vector_verify(&operator, |_, _, _| {}).await.is_err() {
        assert!(std::time::Instant::now() < deadline, "it does not come back");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(names("ana"), 0);
}

// Issue 22, item 7: erasing reaches keys that name the user.
#[tokio::test]
async fn erasing_a_user_revokes_the_keys_for_this_user_alone() {
    let house = House::new();
    let operator = Caller::operator();
    for users in [vec!["ana"], vec!["ana", "ben"], vec!["ben"]] {
        let users = users.into_iter().map(str::to_owned).collect();
        let grant = Grant { bounds: Bounds { users, ..Bounds::default() }, ..Grant::whole(Tenant::default()) };
        let new = NewKey { name: "k".to_owned(), grant: Grant { role: Role::Writer, ..grant }, expires_at: None };
        house.engine.create_key(&operator, new).await.unwrap();
    }
    let erased = house.engine.erase_user(&operator, "ana", false).await.unwrap();
    assert!(erased.left.iter().any(|left| left.starts_with("keys still name the user")), "{erased:?}");
    let keys = house.engine.keys(&operator).await.unwrap();
    let revoked: Vec<_> =
        keys.iter().filter(|key| key.revoked_at.is_some()).map(|key| &key.grant.bounds.users).collect();
    assert_eq!(revoked, [&BTreeSet::from(["ana".to_owned()])]);
}
