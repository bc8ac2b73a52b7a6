//! Tests of remembering, updating and forgetting.

use loci_engine::{Caller, ListRequest, NewMemory, Turn, Update};
use loci_types::{ErrorKind, Identifiers, Layer, Outcome, Relation, State};
use serde_json::json;

use crate::house::{House, ask, new, unknown, user};

// Coverage: S2.2.
#[tokio::test]
async fn what_is_remembered_is_found_and_the_same_again_is_not_added() {
    let house = House::new();
    let first = house.remember(&user("ana"), "Ana is allergic to peanuts").await;
    assert_eq!((first.event, first.version, first.embedding_generated), (Outcome::Created, 1, true));
    let again = house.remember(&user("ana"), "  ana is ALLERGIC to peanuts. ").await;
    assert_eq!((again.event, again.id, again.embedding_generated), (Outcome::None, first.id, false));
    let other = house.remember(&user("bo"), "Ana is allergic to peanuts").await;
    assert_eq!(other.event, Outcome::Created);
    assert_eq!(house.recall(&user("ana"), "peanuts allergy").await, ["Ana is allergic to peanuts"]);
}

// Coverage: S0-1.2.
#[tokio::test]
async fn the_record_is_filled_in() {
    let house = House::new();
    let receipt = house.remember(&user("ana"), "I prefer tea in the morning").await;
    let memory = house.engine.get(&user("ana"), receipt.id).await.unwrap();
    assert_eq!(memory.kind.name(), "preference");
    assert!((memory.importance - 0.8).abs() < 1e-9);
    assert_eq!((memory.layer, memory.state), (Layer::User, State::Active));
    assert_eq!(memory.created_at.to_string(), "2026-06-01T12:00:00Z");
    assert!(memory.tokens > 0);
}

#[tokio::test]
async fn bad_words_are_refused_by_name() {
    let house = House::new();
    let check = async |new: NewMemory, kind: ErrorKind, field: &str| {
        let error = house.engine.remember(&user("ana"), new).await.unwrap_err();
        let problem = error.problem("remember");
        assert_eq!(error.kind(), kind);
        assert_eq!(problem.details["field"], field);
    };
    let base = || new("x");
    check(new("  "), ErrorKind::InvalidInput, "content").await;
    check(new(&"x".repeat(8_193)), ErrorKind::ContentTooLong, "content").await;
    check(NewMemory { importance: Some(f64::NAN), ..base() }, ErrorKind::InvalidInput, "importance").await;
    check(NewMemory { importance: Some(1.5), ..base() }, ErrorKind::InvalidInput, "importance").await;
    check(NewMemory { confidence: Some(-1.0), ..base() }, ErrorKind::InvalidInput, "confidence").await;
    check(NewMemory { kind: Some("mood".into()), ..base() }, ErrorKind::InvalidInput, "kind").await;
    check(NewMemory { layer: Some(Layer::Project), ..base() }, ErrorKind::MissingIdentifier, "projectId").await;
    check(NewMemory { tags: vec!["t".into(); 65], ..base() }, ErrorKind::InvalidInput, "tags").await;
    let large = json!({ "x": "y".repeat(70_000) }).as_object().unwrap().clone();
    check(NewMemory { metadata: large, ..base() }, ErrorKind::InvalidInput, "metadata").await;
    assert!(house.engine.remember(&user("ana"), new(&"x".repeat(8_192))).await.is_ok());
}

// Coverage: S2.5.
#[tokio::test]
async fn an_update_needs_the_version_that_was_seen() {
    let house = House::new();
    let id = house.remember(&user("ana"), "The port is 8080").await.id;
    let change = |version, content: &str| Update { version, content: Some(content.into()), ..Update::default() };
    let receipt = house.engine.update(&user("ana"), id, change(Some(1), "The port is 4000")).await.unwrap();
    assert_eq!((receipt.event, receipt.version, receipt.embedding_regenerated), (Outcome::Updated, 2, true));
    let stale = house.engine.update(&user("ana"), id, change(Some(1), "The port is 9000")).await.unwrap_err();
    assert_eq!(stale.kind(), ErrorKind::VersionConflict);
    assert_eq!(house.recall(&user("ana"), "port").await, ["The port is 4000"]);
    let missing = house.engine.update(&user("ana"), unknown(), change(None, "x")).await.unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
    let hidden = house.engine.update(&user("bo"), id, change(None, "x")).await.unwrap_err();
    assert_eq!(hidden.kind(), ErrorKind::NotFound);
}

// Coverage: S2.5.
#[tokio::test]
async fn metadata_is_merged_field_by_field() {
    let house = House::new();
    let metadata = |value: serde_json::Value| value.as_object().unwrap().clone();
    let start = NewMemory { metadata: metadata(json!({ "a": 1, "b": 2 })), kind: Some("fact".into()), ..new("x") };
    let id = house.engine.remember(&user("ana"), start).await.unwrap().id;
    let change = Update { metadata: Some(metadata(json!({ "b": null, "c": 3 }))), ..Update::default() };
    let receipt = house.engine.update(&user("ana"), id, change).await.unwrap();
    assert!(!receipt.embedding_regenerated);
    let memory = house.engine.get(&user("ana"), id).await.unwrap();
    assert_eq!(json!(memory.metadata), json!({ "a": 1, "c": 3 }));
}

// Coverage: S2.6, S3-7.1.
#[tokio::test]
async fn a_forgotten_memory_can_be_restored() {
    let house = House::new();
    let ana = user("ana");
    let id = house.remember(&ana, "Ana lives in Lisbon").await.id;
    let receipt = house.engine.forget(&ana, id, None, None).await.unwrap();
    assert_eq!(receipt.event, Outcome::Deleted);
    assert!(house.recall(&ana, "Lisbon").await.is_empty());
    let memory = house.engine.get(&ana, id).await.unwrap();
    assert_eq!(memory.state, State::SoftDeleted);
    assert_eq!(memory.purge_at.unwrap().to_string(), "2026-07-01T12:00:00Z");
    house.engine.restore(&ana, id).await.unwrap();
    assert_eq!(house.recall(&ana, "Lisbon").await, ["Ana lives in Lisbon"]);
    let events: Vec<String> =
        house.engine.history(&ana, id, 100).await.unwrap().events.into_iter().map(|entry| entry.event).collect();
    assert_eq!(events, ["ADD", "ENTITY", "DELETE", "RESTORE"]);
    assert_eq!(house.engine.history(&user("bo"), id, 100).await.unwrap_err().kind(), ErrorKind::NotFound);
}

// Coverage: S2.7.
#[tokio::test]
async fn a_list_is_paged_without_gaps() {
    let house = House::new();
    for number in 0..25 {
        house.remember(&user("ana"), &format!("number {number}")).await;
    }
    let mut seen = Vec::new();
    let mut cursor = None;
    loop {
        let request = ListRequest { limit: Some(10), cursor, ..ListRequest::default() };
        let page = house.engine.list(&user("ana"), request).await.unwrap();
        assert_eq!(page.total_count, 25);
        seen.extend(page.memories.into_iter().map(|memory| memory.content));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    let expect: Vec<String> = (0..25).rev().map(|number| format!("number {number}")).collect();
    assert_eq!(seen, expect);
    for (cursor, limit, field) in [(Some("nonsense"), 10, "cursor"), (None, 0, "limit"), (None, 1_001, "limit")] {
        let request = ListRequest { limit: Some(limit), cursor: cursor.map(str::to_owned), ..ListRequest::default() };
        let error = house.engine.list(&user("ana"), request).await.unwrap_err();
        assert_eq!(error.problem("list").details["field"], field);
    }
}

// Coverage: S1.2, S1.3.
#[tokio::test]
async fn turns_follow_each_other_and_the_same_message_comes_in_once() {
    let house = House::new();
    let caller = Caller::new(Identifiers {
        user_id: Some("ana".into()),
        session_id: Some("s1".into()),
        ..Identifiers::default()
    });
    let turn = |content: &str, role: &str, reference: &str| Turn {
        thread_id: "t".into(),
        content: content.into(),
        role: Some(role.into()),
        reference: Some(reference.into()),
        ..Turn::default()
    };
    let asked = house.engine.ingest(&caller, turn("When did you visit the harbour?", "assistant", "1")).await.unwrap();
    let answered = house.engine.ingest(&caller, turn("Last week", "user", "2")).await.unwrap();
    let again = house.engine.ingest(&caller, turn("Last week", "user", "2")).await.unwrap();
    assert_eq!((again[0].event, again[0].id), (Outcome::None, answered[0].id));
    assert!(!answered[0].embedding_generated, "no model is on the way of a turn");
    let visible = loci_engine::policy::visible(&caller, None).unwrap();
    let edges = house
        .engine
        .store()
        .edges(&visible, &house.engine.everything(None), &[answered[0].id], &[Relation::Temporal])
        .await
        .unwrap();
    assert_eq!(edges.len(), 1);
    assert_eq!((edges[0].source_id, edges[0].target_id), (asked[0].id, answered[0].id));
    // The answer is found by the words of its question.
    assert!(house.recall(&caller, "harbour").await.contains(&"Last week".to_owned()));
    // The vectors follow as jobs, each once.
    assert_eq!(house.engine.embed_waiting(&Caller::operator(), 100).await.unwrap(), 2);
    assert_eq!(house.engine.embed_waiting(&Caller::operator(), 100).await.unwrap(), 0);
    assert_eq!(house.engine.stats(&caller).await.unwrap().without_vector, 0);
}

// Coverage: S1.3, S1.6.
#[tokio::test]
async fn without_a_model_the_words_are_kept_and_the_vector_follows() {
    let house = House::new();
    let ana = user("ana");
    house.model(false);
    let receipt = house.remember(&ana, "Ana plays the violin").await;
    assert_eq!((receipt.event, receipt.embedding_generated), (Outcome::Created, false));
    let recall = house.engine.recall(&ana, ask("violin")).await.unwrap();
    assert_eq!(recall.degraded, ["vector"]);
    assert_eq!(recall.hits.len(), 1);
    house.model(true);
    assert_eq!(house.engine.embed_waiting(&Caller::operator(), 10).await.unwrap(), 1);
    let recall = house.engine.recall(&ana, ask("violin")).await.unwrap();
    assert!(recall.degraded.is_empty());
    assert!(recall.hits[0].explain.lanes.iter().any(|lane| lane.lane == "vector"));
    // A pass over everything finds nothing left to do.
    let done = house.engine.reembed(&Caller::operator(), |_, _| {}).await.unwrap();
    assert_eq!((done.seen, done.embedded), (1, 0));
}
