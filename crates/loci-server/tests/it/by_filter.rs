//! All memories that match a filter, deleted or changed at once.

use loci_types::Role;
use serde_json::{Value, json};

use crate::memories::add;
use crate::server::{TestServer, answer};

/// Adds `count` memories with different texts.
async fn filled(server: &TestServer, count: usize) -> Vec<Value> {
    let mut ids = Vec::new();
    for number in 0..count {
        let body = json!({
            "content": format!("Box {number} holds screws."), "identifiers": { "userId": "ann" }, "asIs": true,
            "tags": [if number % 2 == 0 { "even" } else { "odd" }]
        });
        ids.push(server.post("/v1/memories", body).await.expect(201)["id"].clone());
    }
    ids
}

async fn count(server: &TestServer, query: &str) -> Value {
    server.get(&format!("/v1/memories/count?{query}")).await.expect(200)["count"].clone()
}

#[tokio::test]
async fn matches_are_deleted_after_a_dry_run() {
    let server = TestServer::open().await;
    let ids = filled(&server, 45).await;
    server
        .post(
            "/v1/memories",
            json!({ "content": "Ben has a box.", "identifiers": { "userId": "ben" }, "tags": ["even"] }),
        )
        .await
        .expect(201);
    let delete = async |more: Value| {
        let mut body = json!({ "identifiers": { "userId": "ann" }, "filter": { "tags": ["even"] } });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        server.post("/v1/memories/delete", body).await
    };
    let dry = delete(json!({})).await.expect(200);
    assert_eq!((&dry["matched"], &dry["changed"], &dry["dryRun"]), (&json!(23), &json!(0), &json!(true)));
    assert_eq!((&dry["truncated"], &dry["failed"]), (&json!(false), &json!([])));
    let newest: Vec<&Value> = ids.iter().step_by(2).rev().take(20).collect();
    assert_eq!(dry["data"].as_array().unwrap().iter().collect::<Vec<_>>(), newest);
    assert_eq!(count(&server, "everyone=true").await, 46);

    let other = delete(json!({ "dryRun": false, "expected": 22 })).await;
    other.refused(409, "expected");
    assert_eq!((&other.body["code"], count(&server, "everyone=true").await), (&json!("CONFLICT"), json!(46)));
    delete(json!({ "expected": 22 })).await.refused(409, "expected");
    let done = delete(json!({ "dryRun": false, "expected": 23, "reason": "spring" })).await.expect(200);
    assert_eq!((&done["matched"], &done["changed"], &done["dryRun"]), (&json!(23), &json!(23), &json!(false)));
    assert_eq!(done["data"], dry["data"]);
    assert_eq!((count(&server, "userId=ann").await, count(&server, "userId=ben").await), (json!(22), json!(1)));
    assert_eq!(count(&server, "userId=ann&state=soft_deleted").await, 23);
    // Each was deleted in the ordinary way: its history says why, and it comes back.
    let id = ids[0].as_str().unwrap();
    let history = server.get(&format!("/v1/memories/{id}/history?userId=ann")).await.expect(200);
    let line = history["data"].as_array().unwrap().iter().find(|line| line["event"] == "DELETE").unwrap();
    assert_eq!(line["reason"], "spring");
    let undo = format!("/v1/ledger/{}/{}/undo", line["space"].as_str().unwrap(), line["sequence"]);
    server.post(&undo, json!({ "identifiers": { "userId": "ann" } })).await.expect(200);
    assert_eq!(count(&server, &format!("userId=ann&id={id}")).await, 1);
    let none = delete(json!({ "filter": { "tags": ["none"] }, "dryRun": false })).await.expect(200);
    assert_eq!((&none["matched"], &none["changed"], &none["data"]), (&json!(0), &json!(0), &json!([])));
}

#[tokio::test]
async fn matches_of_many_pages_are_changed() {
    let server = TestServer::open().await;
    let memories = |from: usize| -> Vec<Value> {
        (from..from + 400)
            .map(|number| json!({ "content": format!("Screw {number} is long."), "asIs": true }))
            .collect()
    };
    for from in [0, 400, 800] {
        let body = json!({ "identifiers": { "userId": "ann" }, "memories": memories(from) });
        assert_eq!(server.post("/v1/memories/batch", body).await.expect(200)["succeeded"], 400);
    }
    // The change removes each memory from the selection of the filter, and every memory is changed.
    let body = json!({
        "identifiers": { "userId": "ann" }, "filter": { "pinned": false }, "changes": { "pinned": true }, "dryRun": false,
        "expected": 1200
    });
    let done = server.post("/v1/memories/update", body).await.expect(200);
    assert_eq!((&done["matched"], &done["changed"], &done["failed"]), (&json!(1200), &json!(1200), &json!([])));
    assert_eq!(count(&server, "userId=ann&pinned=true").await, 1200);
}

// Coverage: SPEC-8.2.
#[tokio::test]
async fn matches_are_changed_by_id_and_by_any_field() {
    let server = TestServer::open().await;
    let ids = filled(&server, 4).await;
    let update = async |filter: Value, changes: Value| {
        let body = json!({ "identifiers": { "userId": "ann" }, "filter": filter, "changes": changes, "dryRun": false });
        server.post("/v1/memories/update", body).await
    };
    let changes = json!({ "tags": ["checked"], "metadata": { "by": "ben" }, "importance": 0.9 });
    let done = update(json!({ "id": [ids[1], ids[2]] }), changes).await.expect(200);
    assert_eq!((&done["changed"], &done["data"]), (&json!(2), &json!([ids[2], ids[1]])));
    assert_eq!(count(&server, "userId=ann&tags=checked&importanceMin=0.9").await, 2);
    let done = update(json!({ "metadata": { "by": "ben" }, "tags": ["checked"] }), json!({ "pinned": true })).await;
    assert_eq!(done.expect(200)["changed"], 2);
    // A memory that cannot be changed is named, and the others are changed all the same.
    let body = json!({ "validFrom": "2026-01-01T00:00:00Z", "validUntil": "2126-01-01T00:00:00Z" });
    server.patch(&format!("/v1/memories/{}", ids[0].as_str().unwrap()), body).await.expect(200);
    let done = update(json!({ "id": ids }), json!({ "validUntil": "2026-01-01" })).await.expect(200);
    assert_eq!(done["changed"], 4, "{done}");
}

#[tokio::test]
async fn ambiguous_filters_are_refused() {
    let server = TestServer::open().await;
    let kept = add(&server, "Ann has a lamp.").await;
    let ann = json!({ "userId": "ann" });
    for (path, body, field) in [
        ("delete", json!({}), "filter"),
        ("delete", json!({ "filter": {} }), "filter"),
        ("delete", json!({ "filter": { "superseded": true, "asOf": "2126-01-01" }, "dryRun": false }), "filter"),
        ("delete", json!({ "filter": { "metadata": {} }, "dryRun": false }), "filter"),
        ("delete", json!({ "filter": { "id": [] }, "dryRun": false }), "filter.id"),
        ("delete", json!({ "filter": { "colour": ["red"] } }), "filter.colour"),
        ("delete", json!({ "filter": { "importanceMin": 2 } }), "filter.importanceMin"),
        ("delete", json!({ "filter": { "kind": "fact" } }), "filter.kind"),
        ("delete", json!({ "filter": { "kind": ["fact"] }, "expected": -1 }), "expected"),
        ("delete", json!({ "filter": { "kind": ["fact"] }, "changes": {} }), "changes"),
        ("delete", json!({ "filter": { "state": ["active"] }, "reason": "\u{0}", "dryRun": false }), "reason"),
        ("update", json!({ "filter": { "kind": ["fact"] } }), "changes"),
        ("update", json!({ "filter": { "kind": ["fact"] }, "changes": {} }), "changes"),
        ("update", json!({ "filter": {}, "changes": { "pinned": true } }), "filter"),
        ("update", json!({ "filter": { "kind": ["fact"] }, "changes": { "version": 1 } }), "changes.version"),
        ("update", json!({ "filter": { "kind": ["fact"] }, "changes": { "content": "x" } }), "changes.content"),
        ("update", json!({ "filter": { "kind": ["fact"] }, "changes": { "colour": 1 } }), "changes.colour"),
        (
            "update",
            json!({ "filter": { "state": ["active"] }, "changes": { "importance": 7 }, "dryRun": false }),
            "changes.importance",
        ),
    ] {
        let mut body = body;
        body["identifiers"] = ann.clone();
        server.post(&format!("/v1/memories/{path}"), body).await.refused(400, field);
    }
    let read = server.get(&format!("/v1/memories/{}", kept["id"].as_str().unwrap())).await.expect(200);
    assert_eq!((&read["state"], &read["version"]), (&json!("active"), &json!(1)));
    let all = json!({ "identifiers": ann, "filter": {}, "all": true, "dryRun": false });
    assert_eq!(server.post("/v1/memories/delete", all).await.expect(200)["changed"], 1);
}

#[tokio::test]
async fn nobody_reaches_beyond_their_scope() {
    let server = TestServer::guarded().await;
    filled(&server, 3).await;
    let (ben, reader) = (
        server.bounded(Role::Writer, json!({ "users": ["ben"] })).await,
        server.bounded(Role::Reader, json!({ "users": ["ann"] })).await,
    );
    let delete = |key: &str, user: &str| {
        let body = json!({ "identifiers": { "userId": user }, "filter": { "userId": ["ann"] }, "dryRun": false });
        answer(server.request_as(key, "POST", "/v1/memories/delete").json(&body))
    };
    assert_eq!(delete(&ben, "ben").await.expect(200)["matched"], 0);
    assert_eq!(delete(&ben, "ann").await.status, 403);
    assert_eq!(delete(&reader, "ann").await.status, 403);
    assert_eq!(count(&server, "userId=ann").await, 3);
}

#[tokio::test]
async fn only_what_changed_is_counted_and_one_failure_stops_nothing() {
    let server = TestServer::guarded().await;
    let ids = filled(&server, 3).await;
    let gone = ids[1].as_str().unwrap();
    server.delete(&format!("/v1/memories/{gone}?userId=ann")).await.expect(204);
    let update = async |dry_run: bool, changes: Value| {
        let filter = json!({ "id": ids, "state": ["active", "soft_deleted"] });
        let body =
            json!({ "identifiers": { "userId": "ann" }, "filter": filter, "changes": changes, "dryRun": dry_run });
        server.post("/v1/memories/update", body).await
    };
    update(true, json!({ "confidence": 7 })).await.refused(400, "changes.confidence");
    let done = update(false, json!({ "pinned": true })).await.expect(200);
    assert_eq!((&done["matched"], &done["changed"]), (&json!(3), &json!(2)), "{done}");
    assert_eq!((&done["failed"][0]["id"], done["failed"].as_array().unwrap().len()), (&ids[1], 1), "{done}");
    assert_eq!(count(&server, "userId=ann&pinned=true").await, 2);
    // All memories of everybody are not one selection, not even for an admin.
    for filter in [json!({}), json!({ "layer": ["user"] }), json!({ "importanceMin": 0 })] {
        let all = json!({ "filter": filter, "all": true, "dryRun": false });
        let refused = server.post("/v1/memories/delete", all).await;
        refused.refused(400, "identifiers");
        assert_eq!(refused.body["code"], "MISSING_IDENTIFIER");
    }
    assert_eq!(count(&server, "userId=ann").await, 2);
    // A key that is bound to a user names its scope.
    let bound = server.bounded(Role::Writer, json!({ "users": ["ann"] })).await;
    let all = json!({ "filter": {}, "all": true, "dryRun": false });
    let done = answer(server.request_as(&bound, "POST", "/v1/memories/delete").json(&all)).await.expect(200);
    assert_eq!((&done["changed"], count(&server, "userId=ann").await), (&json!(2), json!(0)));
}

#[tokio::test]
async fn null_removes_what_a_memory_can_be_without() {
    let server = TestServer::open().await;
    let body = json!({
        "content": "The garage is rented.", "identifiers": { "userId": "ann" }, "category": "home", "asIs": true,
        "source": { "type": "manual" }, "expiresAt": "2126-01-01", "validUntil": "2125-01-01", "eventTime": "2026-01-01"
    });
    let added = server.post("/v1/memories", body).await.expect(201);
    let path = format!("/v1/memories/{}", added["id"].as_str().unwrap());
    let fields = ["category", "source", "expiresAt", "validUntil", "eventTime"];
    assert!(fields.iter().all(|field| !added["data"][field].is_null()), "{added}");
    let ann = json!({ "userId": "ann" });
    let kept = server.patch(&path, json!({ "identifiers": ann, "pinned": true })).await.expect(200);
    assert!(fields.iter().all(|field| kept["data"][field] == added["data"][field]), "{kept}");
    let mut removed = json!({ "identifiers": ann });
    fields.iter().for_each(|field| removed[*field] = Value::Null);
    let done = server.patch(&path, removed.clone()).await.expect(200);
    assert!(fields.iter().all(|field| done["data"][field].is_null()), "{done}");
    removed.as_object_mut().unwrap().remove("identifiers");
    let many = json!({ "identifiers": ann, "filter": { "pinned": true }, "changes": removed, "dryRun": false });
    assert_eq!(server.post("/v1/memories/update", many).await.expect(200)["matched"], 1);
}
