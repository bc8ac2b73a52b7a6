//! The API of an OpenSpec Knowledge Provider.

use loci_types::Role;
use serde_json::{Value, json};

use crate::server::{Answer, TestServer, answer};
use crate::sse::Stream;

const ROOT: &str = "/openspec/v1/knowledge";

fn at(rest: &str) -> String {
    format!("{ROOT}{rest}")
}

/// Makes an entry of Ann's and returns it.
async fn made(server: &TestServer, entry: Value) -> Value {
    let body = json!({ "entry": entry, "options": { "layer": { "type": "user", "user_id": "ann" } } });
    server.post(&at("/create"), body).await.expect(201)["entry"].clone()
}

async fn put(server: &TestServer, id: &Value, body: Value) -> Answer {
    answer(server.request("PUT", &at(&format!("/{}", id.as_str().unwrap()))).json(&body)).await
}

/// That it failed so, in the words of a knowledge provider.
#[track_caller]
fn refused(response: &Answer, status: u16, code: &str, field: &str) {
    let error = &response.body["error"];
    assert_eq!((response.status, error["code"].as_str()), (status, Some(code)), "{}", response.text);
    assert_eq!(error["details"]["field"].as_str().unwrap_or_default(), field, "{}", response.text);
    assert_eq!(response.body["request_id"], response.headers["x-request-id"].to_str().unwrap());
    assert!(response.body["timestamp"].as_str().unwrap().ends_with('Z'));
    assert_eq!(response.headers["content-type"], "application/json");
}

// Coverage: S2.18.
#[tokio::test]
async fn the_provider_says_what_it_can_do() {
    let server = TestServer::open().await;
    let response = server.get(ROOT).await;
    assert!(["x-request-id", "x-provider-version"].iter().all(|name| response.headers.contains_key(*name)));
    let response = response.expect(200);
    let provider = &response["provider"];
    assert_eq!(provider["name"], "loci");
    assert_eq!(
        provider["capabilities"],
        json!({ "query": true, "storage": true, "metadata": true, "streaming": true })
    );
    assert_eq!(provider["limits"]["max_entry_size"], 8_192);
    assert_eq!(provider["features"]["semantic_search"], false);
    assert_eq!(server.get("/api/v1/knowledge").await.expect(200), response);
    let description: Value = serde_json::from_str(&loci_server::description()).unwrap();
    assert!(description["paths"][ROOT].is_object() && description["paths"]["/api/v1/knowledge"].is_null());
    let create = &description["paths"][at("/create")]["post"];
    assert!(create["parameters"].as_array().unwrap().iter().any(|one| one.to_string().contains("Idempotency-Key")));
    server.close().await;
}

// Coverage: S2.18.
#[tokio::test]
async fn an_entry_is_created_changed_described_and_deleted() {
    let server = TestServer::open().await;
    let entry = json!({
        "content": "The gate opens at six",
        "metadata": {
            "title": "Gate", "description": "When it opens", "tags": ["gate"], "language": "en", "author": "ann",
            "confidence": 0.75, "importance": 0.5, "custom": { "room": 7 }
        },
        "source": { "type": "manual", "identifier": "doc-1", "version": "3" },
        "access_policy": "organization"
    });
    let body = json!({ "entry": entry, "options": { "layer": { "type": "user", "user_id": "ann" } } });
    let response = server.post(&at("/create"), body).await.expect(201);
    assert_eq!(response["status"], "created");
    let id = &response["entry"]["id"];
    for (name, value) in entry.as_object().unwrap() {
        if name != "metadata" {
            assert_eq!(&response["entry"][name], value, "{name}");
        }
    }
    for (name, value) in entry["metadata"].as_object().unwrap().iter().filter(|(name, _)| *name != "custom") {
        assert_eq!(&response["entry"]["metadata"][name], value, "{name}");
    }
    assert_eq!(response["entry"]["metadata"]["custom"]["room"], 7);
    assert_eq!((&response["entry"]["version"], &response["entry"]["layer"]["type"]), (&json!(1), &json!("user")));

    let layer = json!({ "layer": { "user_id": "ann" } });
    let change = json!({
        "entry": { "content": "The gate opens at seven", "metadata": { "custom": { "room": null, "floor": 1 } } },
        "options": layer, "version": 1
    });
    let response = put(&server, id, change.clone()).await.expect(200);
    assert_eq!((&response["status"], &response["entry"]["version"]), (&json!("updated"), &json!(2)));
    assert_eq!(response["entry"]["metadata"]["title"], "Gate");
    assert_eq!(
        (&response["entry"]["metadata"]["custom"]["room"], &response["entry"]["metadata"]["custom"]["floor"]),
        (&Value::Null, &json!(1))
    );
    refused(&put(&server, id, change).await, 409, "VERSION_CONFLICT", "version");

    let path = at(&format!("/{}", id.as_str().unwrap()));
    let about = server.get(&format!("{path}/metadata?user_id=ann")).await.expect(200);
    assert_eq!(
        (&about["entry_id"], &about["metadata"]["title"], &about["source"]["version"]),
        (id, &json!("Gate"), &json!("3"))
    );
    let events: Vec<&str> =
        about["version_history"].as_array().unwrap().iter().map(|past| past["event"].as_str().unwrap()).collect();
    assert_eq!((events.first(), events.contains(&"update")), (Some(&"add"), true), "{events:?}");

    let stale = answer(server.request("DELETE", &format!("{path}?user_id=ann")).header("If-Match", "\"1\"")).await;
    refused(&stale, 409, "VERSION_CONFLICT", "version");
    let gone = server.delete(&format!("{path}?user_id=ann")).await.expect(200);
    assert_eq!(gone, json!({ "deleted": true, "entry_id": id }));
    let found = server.post(&at("/query"), json!({ "query": "gate", "layer": { "user_id": "ann" } })).await.expect(200);
    assert_eq!(found["results"], json!([]));
    refused(&server.get(&format!("{path}/metadata?user_id=ann")).await, 404, "MEMORY_NOT_FOUND", "id");
    // It could still be restored; now it is gone.
    server.delete(&format!("{path}?user_id=ann&hard_delete=true")).await.expect(200);
    refused(&server.get(&format!("{path}/metadata?user_id=ann")).await, 404, "MEMORY_NOT_FOUND", "id");
    server.close().await;
}

#[tokio::test]
async fn what_is_wrong_is_named_in_the_words_of_providers() {
    let server = TestServer::open().await;
    let id = made(&server, json!({ "content": "The gate opens at six" })).await["id"].clone();
    let create = |body: Value| server.post("/api/v1/knowledge/create", body);
    let entry = json!({ "content": "a text" });
    let user = json!({ "layer": { "user_id": "ann" } });
    for (body, code, field) in [
        (json!({}), "INVALID_INPUT", "entry"),
        (json!({ "entry": {}, "options": user }), "INVALID_INPUT", "entry.content"),
        (json!({ "entry": { "content": " " }, "options": user }), "INVALID_INPUT", "content"),
        (json!({ "entry": { "content": 7 } }), "INVALID_INPUT", "entry.content"),
        (json!({ "entry": { "text": "a" } }), "INVALID_INPUT", "entry.text"),
        (
            json!({ "entry": { "content": "a", "metadata": { "importance": 2 } }, "options": user }),
            "INVALID_INPUT",
            "importance",
        ),
        (
            json!({ "entry": { "content": "a", "metadata": { "custom": { "author": 1 } } }, "options": user }),
            "INVALID_INPUT",
            "metadata.custom",
        ),
        (
            json!({ "entry": { "content": "a", "access_policy": "secret" }, "options": user }),
            "INVALID_INPUT",
            "entry.access_policy",
        ),
        (json!({ "entry": entry }), "MISSING_IDENTIFIER", "identifiers"),
        (
            json!({ "entry": entry, "options": { "layer": { "type": "agent", "user_id": "ann" } } }),
            "MISSING_IDENTIFIER",
            "agent_id",
        ),
        (
            json!({ "entry": entry, "options": { "layer": { "type": "galaxy", "user_id": "ann" } } }),
            "INVALID_LAYER",
            "layer",
        ),
        (
            json!({ "entry": entry, "options": { "layer": { "type": "archival", "user_id": "ann" } } }),
            "INVALID_LAYER",
            "options.layer.type",
        ),
        (json!({ "entry": entry, "options": user, "version": 1 }), "INVALID_INPUT", "version"),
    ] {
        refused(&create(body).await, 400, code, field);
    }
    let long = json!({ "entry": { "content": "a".repeat(8_193) }, "options": user });
    refused(&create(long).await, 413, "CONTENT_TOO_LONG", "content");
    let moved =
        json!({ "entry": entry, "options": { "layer": { "type": "project", "project_id": "p", "user_id": "ann" } } });
    refused(&put(&server, &id, moved).await, 400, "INVALID_INPUT", "options.layer.type");
    refused(&put(&server, &id, json!({ "entry": {}, "options": user })).await, 400, "INVALID_INPUT", "changes");
    let both = server.request("PUT", &at(&format!("/{}", id.as_str().unwrap()))).header("If-Match", "2");
    let both = answer(both.json(&json!({ "entry": entry, "options": user, "version": 1 }))).await;
    refused(&both, 400, "INVALID_INPUT", "version");
    refused(&put(&server, &json!("nonsense"), json!({ "entry": entry })).await, 400, "INVALID_INPUT", "id");
    refused(&server.get(&at("/nowhere/at/all")).await, 404, "ROUTE_NOT_FOUND", "path");
    refused(&server.get(&at("/query")).await, 405, "METHOD_NOT_ALLOWED", "method");
    for (options, field) in [
        (json!({ "limit": 0 }), "options.limit"),
        (json!({ "limit": 101 }), "options.limit"),
        (json!({ "offset": 101 }), "options.offset"),
        (json!({ "top_k": 0 }), "options.top_k"),
        (json!({ "distance_threshold": -0.1 }), "options.distance_threshold"),
        (json!({ "distance_metric": "euclidean" }), "options.distance_metric"),
        (json!({ "page": 1 }), "options.page"),
    ] {
        let response = server.post(&at("/query"), json!({ "query": "gate", "options": options })).await;
        refused(&response, 400, "INVALID_INPUT", field);
    }
    let long = server.post(&at("/query"), json!({ "query": "a".repeat(8_193), "layer": { "user_id": "ann" } })).await;
    refused(&long, 413, "QUERY_TOO_LONG", "query");
    server.close().await;
}

#[tokio::test]
async fn strangers_and_readers_are_refused_in_the_same_words() {
    let server = TestServer::guarded().await;
    let reader = server.bounded(Role::Reader, json!({ "users": ["ann"] })).await;
    let outsider = answer(server.request_as("loci_nonsense", "GET", "/api/v1/knowledge")).await;
    refused(&outsider, 401, "UNAUTHENTICATED", "");
    for root in [ROOT, "/api/v1/knowledge"] {
        assert_eq!(answer(server.request_as(&reader, "GET", root)).await.status, 200);
        let body = json!({ "entry": { "content": "a text" } });
        let write = answer(server.request_as(&reader, "POST", &format!("{root}/create")).json(&body)).await;
        refused(&write, 403, "UNAUTHORIZED", "");
        let other = json!({ "query": "anything", "layer": { "user_id": "ben" } });
        let other = answer(server.request_as(&reader, "POST", &format!("{root}/query")).json(&other)).await;
        refused(&other, 403, "UNAUTHORIZED", "user_id");
    }
    server.close().await;
}

// Coverage: S2.18.
#[tokio::test]
async fn entries_are_found_by_words_filters_and_views() {
    let server = TestServer::open().await;
    let gate = made(
        &server,
        json!({
            "content": "The gate opens at six. The dog sleeps.",
            "metadata": { "author": "ann", "tags": ["door"], "custom": { "room": 7 } },
            "source": { "type": "manual" }, "access_policy": "public"
        }),
    )
    .await;
    made(&server, json!({ "content": "The gate in the garden is made of oak", "source": { "type": "import" } })).await;
    let steps = json!({
        "entry": { "content": "To open the gate lift the latch and push" },
        "options": { "layer": { "type": "procedural", "user_id": "ann" } }
    });
    server.post(&at("/create"), steps).await.expect(201);
    let ask = async |more: Value| {
        let mut body = json!({ "query": "gate", "layer": { "user_id": "ann" } });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        server.post(&at("/query"), body).await.expect(200)
    };
    let count = async |more: Value| ask(more).await["results"].as_array().unwrap().len();
    for mode in ["hybrid", "keyword", "semantic"] {
        assert_eq!(count(json!({ "mode": mode })).await, 3, "{mode}");
    }
    for (filters, expect) in [
        (json!({ "author": "ann" }), 1),
        (json!({ "author": "ben" }), 0),
        (json!({ "tags": ["door", "other"] }), 1),
        (json!({ "custom_filters": { "room": 7 } }), 1),
        (json!({ "custom_filters": { "room": 8 } }), 0),
        (json!({ "source_type": "import" }), 1),
        (json!({ "access_policy": "public" }), 1),
        (json!({ "access_policy": "shared" }), 2),
        (json!({ "created_before": "2020-01-01T00:00:00Z" }), 0),
        (json!({ "created_after": "2020-01-01T00:00:00Z" }), 3),
    ] {
        assert_eq!(count(json!({ "filters": filters })).await, expect, "{filters}");
    }
    for (types, expect) in
        [(json!(["procedural"]), 1), (json!(["user", "semantic"]), 2), (json!(["archival"]), 0), (json!(["user"]), 3)]
    {
        assert_eq!(count(json!({ "layer": { "types": types, "user_id": "ann" } })).await, expect, "{types}");
    }
    let response = ask(json!({ "mode": "keyword", "filters": { "author": "ann" } })).await;
    let result = &response["results"][0];
    assert_eq!(result["entry"]["id"], gate["id"]);
    assert_eq!(result["highlight"], json!({ "content": ["The gate opens at six."] }));
    assert_eq!((&result["distance"], result["score"].as_f64().unwrap() > 0.0), (&Value::Null, true));
    let about = &response["metadata"];
    assert_eq!((&about["layers_queried"], &about["provider"]["name"]), (&json!(["user"]), &json!("loci")));
    assert_eq!(ask(json!({ "mode": "semantic" })).await["metadata"]["degraded"], json!(["vector"]));
    // Pages add up, and a limit on all of them holds.
    let page = async |offset: usize| {
        let response = ask(json!({ "options": { "limit": 2, "offset": offset, "include_content": false } })).await;
        assert_eq!(response["metadata"]["total_results"], 3);
        let results = response["results"].as_array().unwrap().clone();
        assert!(results.iter().all(|one| one["entry"]["content"].is_null()));
        results.iter().map(|one| one["entry"]["id"].to_string()).collect::<Vec<_>>()
    };
    let mut ids = [page(0).await, page(2).await].concat();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 3);
    assert_eq!(ask(json!({ "options": { "top_k": 2 } })).await["metadata"]["total_results"], 2);
    // To an admin who asks for everyone's data a layer is only a filter.
    let whole = json!({ "query": "gate", "layer": { "types": ["user"], "everyone": true } });
    assert_eq!(server.post(&at("/query"), whole).await.expect(200)["metadata"]["total_results"], 3);
    let others = json!({ "query": "gate", "layer": { "user_id": "ben" } });
    assert_eq!(server.post(&at("/query"), others).await.expect(200)["results"], json!([]));
    server.close().await;
}

// Coverage: S2.33.
#[tokio::test]
async fn content_that_is_not_wanted_is_not_in_the_highlights_either() {
    let server = TestServer::open().await;
    made(&server, json!({ "content": "The gate opens at six" })).await;
    let body = json!({ "query": "gate", "options": { "include_content": false }, "layer": { "user_id": "ann" } });
    let response = server.post(&at("/query"), body).await.expect(200);
    assert_eq!(response["results"].as_array().unwrap().len(), 1);
    assert!(!response.to_string().contains("opens at six"), "{response}");
    server.close().await;
}

// Coverage: S2.33.
#[tokio::test]
async fn an_upsert_keeps_the_id_that_is_given() {
    let server = TestServer::open().await;
    let id = "0194fdc2-fa2f-7fc0-b1d3-aa2ca9a4f2f0";
    let upsert = async |content: &str| {
        let entries = json!([{ "id": id, "content": content }]);
        let options = json!({ "layer": { "user_id": "ann" } });
        let body = json!({ "operation": "upsert", "entries": entries, "options": options });
        server.post(&at("/batch"), body).await.expect(200)["results"]["entries"][0].clone()
    };
    // Another entry with the same words is not mistaken for it.
    made(&server, json!({ "content": "The gate opens at six" })).await;
    let first = upsert("The gate opens at six").await;
    assert_eq!((&first["entry_id"], &first["status"]), (&json!(id), &json!("created")));
    let second = upsert("The gate opens at seven").await;
    assert_eq!((&second["entry_id"], &second["status"]), (&json!(id), &json!("updated")));
    let path = at(&format!("/{id}"));
    answer(server.request("DELETE", &format!("{path}?user_id=ann"))).await.expect(200);
    let described = server.get(&format!("{path}/metadata?user_id=ann")).await;
    refused(&described, 404, "MEMORY_NOT_FOUND", "id");
    assert_eq!(upsert("The gate opens at eight").await["entry_id"], id);
    server.get(&format!("{path}/metadata?user_id=ann")).await.expect(200);
    server.close().await;
}

// Coverage: S2.33.
#[tokio::test]
async fn entries_that_cannot_be_read_are_counted_or_refuse_the_batch() {
    let server = TestServer::open().await;
    let batch = async |go_on: bool| {
        let entries = json!([{ "content": "one good entry" }, { "content": 5 }, { "nonsense": 1 }, { "content": "two good entries" }]);
        let options = json!({ "continue_on_error": go_on, "layer": { "user_id": "ann" } });
        server.post(&at("/batch"), json!({ "operation": "create", "entries": entries, "options": options })).await
    };
    refused(&batch(false).await, 400, "INVALID_INPUT", "entries[1].content");
    let results = batch(true).await.expect(200)["results"].clone();
    assert_eq!((&results["succeeded"], &results["failed"]), (&json!(2), &json!(2)), "{results}");
    let errors: Vec<_> =
        results["errors"].as_array().unwrap().iter().map(|one| (one["index"].clone(), one["code"].clone())).collect();
    assert_eq!(errors, [(json!(1), json!("INVALID_INPUT")), (json!(2), json!("INVALID_INPUT"))]);
    server.close().await;
}

// Coverage: S2.33.
#[tokio::test]
async fn an_entry_may_wait_for_approval() {
    let server = TestServer::open().await;
    let options = json!({ "require_approval": true, "layer": { "type": "user", "user_id": "ann" } });
    let body = json!({ "entry": { "content": "My name is Zoe" }, "options": options });
    let made = server.post(&at("/create"), body).await.expect(201);
    assert_eq!(made["status"], "pending_approval");
    let query = json!({ "query": "name", "mode": "keyword", "layer": { "user_id": "ann" } });
    assert_eq!(server.post(&at("/query"), query.clone()).await.expect(200)["results"], json!([]));
    let id = made["entry"]["id"].as_str().unwrap();
    let accept = json!({ "identifiers": { "userId": "ann" } });
    server.post(&format!("/v1/consents/{id}/accept"), accept).await.expect(200);
    assert_eq!(server.post(&at("/query"), query).await.expect(200)["results"][0]["entry"]["id"], id);
    server.close().await;
}

// Coverage: S2.33.
#[tokio::test]
async fn a_layer_without_its_identifier_is_an_error() {
    let server = TestServer::open().await;
    for (sort, field) in
        [("project", "project_id"), ("agent", "agent_id"), ("working", "session_id"), ("organization", "org_id")]
    {
        let query = json!({ "query": "gate", "layer": { "types": [sort], "user_id": "ann" } });
        refused(&server.post(&at("/query"), query).await, 400, "MISSING_IDENTIFIER", field);
        let create =
            json!({ "entry": { "content": "a gate" }, "options": { "layer": { "type": sort, "user_id": "ann" } } });
        refused(&server.post(&at("/create"), create).await, 400, "MISSING_IDENTIFIER", field);
    }
    server.close().await;
}

// Coverage: S2.18.
#[tokio::test]
async fn batches_stop_or_go_on_and_say_what_was_done() {
    let server = TestServer::open().await;
    let batch = async |operation: &str, entries: Value, go_on: bool| {
        let options = json!({ "continue_on_error": go_on, "layer": { "user_id": "ann" } });
        server.post(&at("/batch"), json!({ "operation": operation, "entries": entries, "options": options })).await
    };
    let entries = json!([{ "content": "Ann plays the cello" }, { "content": " " }, { "content": "Ann's cat is Tom" }]);
    let response = batch("create", entries.clone(), false).await.expect(200);
    let results = &response["results"];
    assert_eq!(response["status"], "partial");
    assert_eq!((&results["succeeded"], &results["failed"], &results["skipped"]), (&json!(1), &json!(1), &json!(1)));
    assert_eq!((&results["errors"][0]["index"], &results["errors"][0]["code"]), (&json!(1), &json!("INVALID_INPUT")));
    let response = batch("create", entries, true).await.expect(200);
    assert_eq!((&response["results"]["succeeded"], &response["results"]["failed"]), (&json!(2), &json!(1)));
    let id = &response["results"]["entries"][1]["entry_id"];
    let unknown = "0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50";
    let changes = json!([
        { "id": id, "version": 1, "metadata": { "importance": 0.9 } },
        { "id": id, "version": 1, "metadata": { "importance": 0.8 } },
        { "id": unknown, "content": "a text" },
        { "content": "a text" }
    ]);
    let response = batch("update", changes, true).await.expect(200);
    let codes: Vec<_> =
        response["results"]["errors"].as_array().unwrap().iter().map(|one| one["code"].clone()).collect();
    assert_eq!(codes, ["VERSION_CONFLICT", "MEMORY_NOT_FOUND", "INVALID_INPUT"]);
    let mixed = json!([{ "id": id, "metadata": { "importance": 0.1 } }, { "id": unknown, "content": "Ann likes tea" }, { "content": "Ann likes rain" }]);
    let response = batch("upsert", mixed, false).await.expect(200);
    let statuses: Vec<_> =
        response["results"]["entries"].as_array().unwrap().iter().map(|one| one["status"].clone()).collect();
    assert_eq!(
        (&response["status"], statuses),
        (&json!("completed"), vec![json!("updated"), json!("created"), json!("created")])
    );
    let missing = "0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f51";
    let response = batch("delete", json!([{ "id": id }, { "id": missing }]), true).await.expect(200);
    assert_eq!((&response["results"]["succeeded"], &response["results"]["failed"]), (&json!(1), &json!(1)));
    assert_eq!(batch("delete", json!([{ "id": missing }]), false).await.expect(200)["status"], "failed");
    refused(&batch("create", json!([]), true).await, 400, "INVALID_INPUT", "entries");
    refused(
        &batch("create", json!([{ "content": "a", "extra": 1 }]), false).await,
        400,
        "INVALID_INPUT",
        "entries[0].extra",
    );
    refused(&batch("explode", json!([{}]), true).await, 400, "INVALID_INPUT", "operation");
    let many = json!(vec![json!({ "content": "a" }); 501]);
    refused(&batch("create", many, true).await, 400, "INVALID_INPUT", "entries");
    server.close().await;
}

// Coverage: S2.18.
#[tokio::test]
async fn changes_and_results_come_as_streams() {
    let server = TestServer::open().await;
    let first = made(&server, json!({ "content": "The gate opens at six" })).await;
    let follow = |more: &str| server.request("GET", &at(&format!("/stream?type=updates&user_id=ann{more}")));
    let mut stream = Stream::open(follow("")).await;
    let second = made(&server, json!({ "content": "Ann's cat is called Tom" })).await;
    let change =
        json!({ "entry": { "metadata": { "importance": 0.9 } }, "options": { "layer": { "user_id": "ann" } } });
    put(&server, &second["id"], change).await.expect(200);
    let created = stream.event().await.unwrap();
    assert_eq!((created.event.as_deref(), &created.data["entry"]["id"]), (Some("created"), &second["id"]));
    assert!(created.data["timestamp"].is_string() && created.data["entry"]["content"].is_string());
    let updated = stream.event().await.unwrap();
    assert_eq!((updated.event.as_deref(), &updated.data["entry"]["version"]), (Some("updated"), &json!(2)));
    drop(stream);
    server.delete(&at(&format!("/{}?user_id=ann", first["id"].as_str().unwrap()))).await.expect(200);
    let again =
        server.request("GET", "/api/v1/knowledge/stream?user_id=ann").header("Last-Event-ID", updated.id.unwrap());
    let deleted = Stream::open(again).await.event().await.unwrap();
    assert_eq!((deleted.event.as_deref(), &deleted.data["entry"]), (Some("deleted"), &json!({ "id": first["id"] })));
    let mut stream = Stream::open(server.request("GET", &at("/stream?type=query&query=cat&user_id=ann&limit=5"))).await;
    let result = stream.event().await.unwrap();
    assert_eq!((result.event.as_deref(), &result.data["entry"]["id"]), (Some("result"), &second["id"]));
    let end = stream.event().await.unwrap();
    assert_eq!((end.event.as_deref(), &end.data["total_results"]), (Some("end"), &json!(1)));
    assert_eq!(stream.event().await, None);
    for (query, field) in [
        ("type=news", "type"),
        ("type=query", "query"),
        ("query=cat", "query"),
        ("type=query&query=cat&limit=0", "options.limit"),
        ("user_id=ann&after=nowhere", "after"),
        ("types=galaxy", "layer"),
        ("types=archival", "types"),
    ] {
        let response = server.get(&at(&format!("/stream?{query}"))).await;
        assert_eq!(
            (response.status, response.body["error"]["details"]["field"].as_str()),
            (400, Some(field)),
            "{}",
            response.text
        );
    }
    server.close().await;
}
