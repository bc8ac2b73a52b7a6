//! Memories, from adding to restoring.

use loci_types::Role;
use serde_json::{Value, json};

use crate::server::{TestServer, answer};

pub(crate) async fn add(server: &TestServer, content: &str) -> Value {
    server.post("/v1/memories", json!({ "content": content, "identifiers": { "userId": "ann" } })).await.expect(201)
}

// Coverage: S2.19.
#[tokio::test]
async fn a_memory_is_added_read_changed_forgotten_and_restored() {
    let server = TestServer::open().await;
    let body = json!({
        "content": "Ann drinks green tea.", "layer": "user", "identifiers": { "userId": "ann" }, "kind": "preference",
        "category": "profile", "tags": ["drinks"], "metadata": { "cups": 2 }, "importance": 0.5,
        "eventTime": "2026-01-01T00:00:00Z", "threadId": "t", "source": { "type": "manual" }
    });
    let added = server.post("/v1/memories", body.clone()).await;
    let place = format!("/v1/memories/{}?userId=ann", added.body["id"].as_str().unwrap());
    assert_eq!(
        (&added.headers["location"], &added.headers["etag"]),
        (&place.parse().unwrap(), &"\"1\"".parse().unwrap())
    );
    let added = added.expect(201);
    assert_eq!(
        (&added["event"], &added["version"], &added["embeddingGenerated"]),
        (&json!("ADD"), &json!(1), &json!(false))
    );
    assert_eq!(
        (&added["redacted"], &added["degraded"]),
        (&json!([]), &json!([])),
        "without a model nothing is degraded"
    );
    assert_eq!((&added["data"]["kind"], &added["data"]["tags"]), (&json!("preference"), &json!(["drinks"])));
    let again = answer(server.request("POST", "/v1/memories").header("Prefer", "return=minimal").json(&body)).await;
    assert!(!again.headers.contains_key("location") && again.headers["etag"] == "\"1\"");
    let again = again.expect(200);
    assert_eq!((&again["event"], &again["id"], &again["data"]), (&json!("NONE"), &added["id"], &Value::Null));

    let path = format!("/v1/memories/{}", added["id"].as_str().unwrap());
    let read = server.get(&format!("{path}?userId=ann")).await;
    assert_eq!(read.headers["etag"], "\"1\"");
    assert_eq!(read.expect(200), added["data"]);
    assert_eq!(server.get(&format!("{path}?userId=bob")).await.status, 404);

    let ann = json!({ "userId": "ann" });
    let changed = server.patch(&path, json!({ "identifiers": ann, "importance": 0.9, "version": 1 })).await;
    assert_eq!(changed.headers["etag"], "\"2\"");
    let changed = changed.expect(200);
    assert_eq!((&changed["event"], &changed["data"]["importance"]), (&json!("UPDATE"), &json!(0.9)));
    let tagged = |tag: &str, body: Value| answer(server.request("PATCH", &path).header("If-Match", tag).json(&body));
    let stale = tagged("\"1\"", json!({ "importance": 0.1 })).await;
    assert_eq!((stale.status, &stale.body["code"]), (409, &json!("VERSION_CONFLICT")));
    tagged("\"2\"", json!({ "importance": 0.1, "version": 1 })).await.refused(400, "version");
    tagged("two", json!({ "importance": 0.1 })).await.refused(400, "If-Match");
    tagged("W/\"2\"", json!({ "importance": 0.1, "version": 2 })).await.expect(200);
    server.patch(&path, json!({})).await.refused(400, "changes");
    server.patch(&path, json!({ "importance": 2 })).await.refused(400, "importance");
    server.patch(&path, json!({ "asIs": true })).await.refused(400, "asIs");

    let gone = |tag: &'static str| {
        answer(server.request("DELETE", &format!("{path}?reason=moved&userId=ann")).header("If-Match", tag))
    };
    assert_eq!(gone("\"2\"").await.status, 409);
    let gone = gone("*").await;
    assert_eq!((gone.status, gone.text.as_str()), (204, ""));
    assert_eq!(server.get(&path).await.expect(200)["state"], "soft_deleted");
    let restored = answer(server.request("POST", &format!("{path}/restore"))).await;
    let version = restored.body["version"].to_string();
    assert_eq!(restored.headers["etag"].to_str().unwrap().trim_matches('"'), version);
    let restored = restored.expect(200);
    assert_eq!((&restored["event"], &restored["data"]["state"]), (&json!("RESTORE"), &json!("active")));
}

// Coverage: S2.30.
#[tokio::test]
async fn the_examples_of_the_memory_specification_are_understood_as_printed() {
    let server = TestServer::open().await;
    let agent = json!({
        "content": "When debugging TypeScript, always check tsconfig.json first",
        "layer": "agent",
        "identifiers": { "agentId": "agent_debugger", "userId": "user_123" },
        "metadata": {
            "tags": ["debugging", "typescript"],
            "source": { "type": "conversation", "reference": "msg_abc123" }
        }
    });
    let project = json!({
        "content": "Use PostgreSQL for all new services per ADR-042",
        "layer": "project",
        "identifiers": { "projectId": "proj_backend_api" },
        "metadata": {
            "tags": ["database", "architecture"],
            "source": { "type": "knowledge_sync" },
            "knowledgePointer": {
                "sourceType": "adr",
                "sourceId": "adr-042-database-selection",
                "contentHash": "sha256:abc123def456...",
                "syncedAt": "2025-01-07T09:00:00Z"
            }
        }
    });
    let (mine, ours) = ("agentId=agent_debugger&userId=user_123", "projectId=proj_backend_api");
    for (example, scope, conditions) in [
        (agent, mine, &["tags=typescript", "sourceType=conversation"][..]),
        (project, ours, &["tags=database", "sourceType=knowledge_sync", "hasKnowledgePointer=true"][..]),
    ] {
        let id = server.post("/v1/memories", example).await.expect(201)["id"].clone();
        for condition in conditions {
            let found = server.get(&format!("/v1/memories?{scope}&{condition}")).await.expect(200)["data"].clone();
            assert_eq!(found[0]["id"], id, "{condition}");
        }
    }
    // Words that are not on the lists are refused, and so are numbers that are no shares.
    let scoped = |more: serde_json::Value| {
        let mut body = json!({ "content": "a b", "identifiers": { "userId": "ann" } });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let pointer =
        json!({ "sourceType": "banana", "sourceId": "1", "contentHash": "h", "syncedAt": "2025-01-07T09:00:00Z" });
    for (more, field) in [
        (json!({ "source": { "type": "banana" } }), "source.type"),
        (json!({ "knowledgePointer": pointer }), "knowledgePointer.sourceType"),
        (json!({ "relevance": 1.5 }), "relevance"),
        (json!({ "layer": "galaxy" }), "layer"),
    ] {
        server.post("/v1/memories", scoped(more)).await.refused(400, field);
    }
    let data = server.post("/v1/memories", scoped(json!({ "relevance": 0.4 }))).await.expect(201)["data"].clone();
    assert_eq!(data["relevance"], 0.4);
}

// Coverage: S2.34.
#[tokio::test]
async fn a_private_memory_of_a_key_without_a_user_is_read_by_that_key() {
    let server = TestServer::guarded().await;
    let bounds = json!({ "projects": ["atlas"] });
    let (own, other) = (
        server.bounded(loci_types::Role::Writer, bounds.clone()).await,
        server.bounded(loci_types::Role::Writer, bounds).await,
    );
    let body = json!({ "content": "The vault is behind the oak", "accessPolicy": "private", "layer": "project" });
    let made = answer(server.request_as(&own, "POST", "/v1/memories").json(&body)).await.expect(201);
    let path = format!("/v1/memories/{}", made["id"].as_str().unwrap());
    assert_eq!(answer(server.request_as(&own, "GET", &path)).await.status, 200);
    assert_eq!(answer(server.request_as(&other, "GET", &path)).await.status, 404);
}

#[tokio::test]
async fn what_the_caller_may_not_see_is_not_found() {
    let server = TestServer::guarded().await;
    let key = server.bounded(loci_types::Role::Writer, json!({ "users": ["ann"], "agents": ["helper"] })).await;
    server
        .post("/v1/agents", json!({ "agentId": "helper", "settings": { "categories": ["tasks"] } }))
        .await
        .expect(201);
    let body = json!({ "content": "Ann is tall." });
    let added = answer(server.request_as(&key, "POST", "/v1/memories").json(&body)).await.expect(201);
    assert_eq!(added["data"], Value::Null);
    assert!(added.as_object().unwrap().contains_key("data"));
}

#[tokio::test]
async fn a_day_is_taken_for_an_instant_in_the_zone_of_the_server() {
    let mut config = loci_engine::Config::default();
    config.retrieval.time_zone = "Europe/Vienna".to_owned();
    let server = TestServer::with(loci_server::Options::default(), config).await;
    let body = json!({
        "content": "Ann opened the shop.", "identifiers": { "userId": "ann" }, "eventTime": "2026-01-31",
        "validUntil": "2126-07-01"
    });
    // With a key the request is read in a task of its own.
    let request = server.request("POST", "/v1/memories").header("Idempotency-Key", "shop");
    let added = answer(request.json(&body)).await.expect(201);
    assert_eq!(added["data"]["eventTime"], "2026-01-30T23:00:00Z");
    assert_eq!(added["data"]["validUntil"], "2126-06-30T22:00:00Z");
    let path = format!("/v1/memories/{}", added["id"].as_str().unwrap());
    let changed = server.patch(&path, json!({ "eventTime": "2026-02-01" })).await.expect(200);
    assert_eq!(changed["data"]["eventTime"], "2026-01-31T23:00:00Z");
    for (query, count) in [
        ("eventAfter=2026-02-01", 1),
        ("eventAfter=2026-01-31T23:00:01Z", 0),
        ("eventBefore=2026-02-01", 0),
        ("eventBefore=2026-02-02", 1),
        ("asOf=2026-01-01", 0),
    ] {
        let response = server.get(&format!("/v1/memories/count?userId=ann&{query}")).await.expect(200);
        assert_eq!(response, json!({ "count": count }), "{query}");
    }
    server.patch(&path, json!({ "eventTime": "2026-02-30" })).await.refused(400, "eventTime");
    server.get("/v1/memories?eventAfter=2026-13-01").await.refused(400, "eventAfter");
}

// Coverage: S2.19.
#[tokio::test]
async fn many_are_added_at_once() {
    let server = TestServer::open().await;
    let memories = json!([{ "content": "Ann lives in Graz." }, { "content": " " }, { "content": "Ann plays chess." }]);
    let ann = json!({ "userId": "ann" });
    let stopped =
        server.post("/v1/memories/batch", json!({ "identifiers": ann, "memories": memories })).await.expect(200);
    assert_eq!((&stopped["succeeded"], &stopped["failed"]), (&json!(1), &json!(1)));
    assert_eq!(stopped["data"].as_array().unwrap().len(), 2);
    let error = &stopped["data"][1]["error"];
    assert_eq!((&error["code"], &error["details"]["field"]), (&json!("INVALID_INPUT"), &json!("content")));
    let body = json!({ "identifiers": ann, "memories": memories, "continueOnError": true });
    let all = server.post("/v1/memories/batch", body).await.expect(200);
    assert_eq!((&all["succeeded"], &all["failed"], &all["data"][2]["index"]), (&json!(2), &json!(1), &json!(2)));
    assert_eq!(
        (&all["data"][0]["event"], &all["data"][0]["id"], &all["data"][2]["event"]),
        (&json!("NONE"), &stopped["data"][0]["id"], &json!("ADD"))
    );
    assert_eq!((&all["data"][2]["version"], &all["data"][2]["redacted"]), (&json!(1), &json!([])));
    server.post("/v1/memories/batch", json!({ "memories": [] })).await.refused(400, "memories");
    let many = vec![json!({ "content": "x" }); 501];
    server.post("/v1/memories/batch", json!({ "memories": many })).await.refused(400, "memories");
    for (memory, field) in [
        (json!({ "content": "x", "colour": 1 }), "memories[1].colour"),
        (json!({ "content": 7 }), "memories[1].content"),
        (json!({ "content": "x", "identifiers": { "userId": 7 } }), "memories[1].identifiers.userId"),
        (json!({ "content": "x", "identifiers": ["ann"] }), "memories[1].identifiers"),
        (json!(["x"]), "memories[1]"),
    ] {
        let body = json!({ "identifiers": ann, "memories": [{ "content": "Ann rides a horse." }, memory] });
        server.post("/v1/memories/batch", body).await.refused(400, field);
    }
    assert_eq!(
        server.get("/v1/memories/count?everyone=true").await.expect(200)["count"],
        2,
        "what is malformed adds nothing"
    );
}

#[tokio::test]
async fn a_batch_holds_memories_of_several_users() {
    let server = TestServer::guarded().await;
    let key = server.bounded(loci_types::Role::Writer, json!({ "users": ["ann", "ben"], "projects": ["shop"] })).await;
    let send = |body: Value| answer(server.request_as(&key, "POST", "/v1/memories/batch").json(&body));
    let body = json!({ "identifiers": { "userId": "ann", "projectId": "shop" }, "continueOnError": true, "memories": [
        { "content": "The shop opens at nine.", "layer": "user" },
        { "content": "The shop closes at five.", "layer": "user", "identifiers": { "userId": "ben" } },
        { "content": "The shop has a cellar.", "layer": "user", "identifiers": { "userId": "eve" } },
        { "content": "The shop has a cat.", "durability": "batched" }
    ] });
    let response = send(body).await.expect(200);
    assert_eq!((&response["succeeded"], &response["failed"]), (&json!(2), &json!(2)), "{response}");
    assert_eq!(response["data"][2]["error"]["code"], "UNAUTHORIZED");
    assert_eq!(response["data"][3]["error"]["details"]["field"], "durability");
    let ben = format!("/v1/memories/{}?userId=ben", response["data"][1]["id"].as_str().unwrap());
    let ben = answer(server.request_as(&key, "GET", &ben)).await.expect(200);
    assert_eq!(ben["identifiers"], json!({ "userId": "ben", "projectId": "shop" }));
    // Who may not speak for the batch itself adds nothing.
    let foreign = json!({ "identifiers": { "userId": "eve" }, "memories": [{ "content": "Eve listens." }] });
    assert_eq!(send(foreign).await.status, 403);
    // Without continueOnError nothing after the first refusal is added.
    let body = json!({ "identifiers": { "userId": "ann" }, "memories": [
        { "content": "Ann sold the lamp." },
        { "content": "Eve bought the lamp.", "identifiers": { "userId": "eve" } },
        { "content": "Ann sold the table." }
    ] });
    let response = send(body).await.expect(200);
    assert_eq!((response["data"].as_array().unwrap().len(), &response["failed"]), (2, &json!(1)), "{response}");
    let count = answer(server.request_as(&key, "GET", "/v1/memories/count?userId=ann")).await.expect(200);
    assert_eq!(count["count"], 2);
}

// Coverage: S2.19.
#[tokio::test]
async fn memories_are_listed_page_by_page() {
    let server = TestServer::open().await;
    let mut ids = Vec::new();
    for n in 0..5 {
        let body = json!({
            "content": format!("Item number {n} is kept."), "identifiers": { "userId": "ann" }, "asIs": true,
            "tags": [if n % 2 == 0 { "even" } else { "odd" }], "pinned": n == 4, "importance": f64::from(n) / 4.0,
            "metadata": { "n": n, "text": format!("{n}") }, "threadId": if n == 0 { json!("one,two") } else { json!(null) },
            "source": { "type": "manual", "role": "tool" }, "runId": "r", "actorId": "a", "role": "user",
            "accessPolicy": if n == 1 { "public" } else { "shared" }, "confidence": f64::from(n) / 4.0,
            "category": "stock", "eventTime": format!("2026-01-0{}T00:00:00Z", n + 1)
        });
        ids.push(server.post("/v1/memories", body).await.expect(201)["id"].as_str().unwrap().to_owned());
    }
    let list = async |query: &str| server.get(&format!("/v1/memories?userId=ann{query}")).await.expect(200);
    let first = list("&limit=2").await;
    assert_eq!(first["data"].as_array().unwrap().len(), 2);
    assert_eq!(first.as_object().unwrap().len(), 2, "a page has no other fields: {first}");
    let cursor = first["nextCursor"].as_str().unwrap();
    let rest = list(&format!("&cursor={cursor}")).await;
    assert_eq!((rest["data"].as_array().unwrap().len(), &rest["nextCursor"]), (3, &Value::Null));
    let listed = first["data"].as_array().unwrap().iter().chain(rest["data"].as_array().unwrap());
    assert!(listed.map(|memory| memory["id"].as_str().unwrap()).eq(ids.iter().rev()), "newest first");
    for (query, expect) in [
        (String::new(), 5),
        (format!("&id={}", ids[0]), 1),
        (format!("&id={},{}&tags=even", ids[0], ids[1]), 1),
        ("&id=0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50".to_owned(), 0),
        ("&tags=odd".to_owned(), 2),
        ("&tags=odd,even".to_owned(), 5),
        ("&pinned=true".to_owned(), 1),
        ("&pinned=false".to_owned(), 4),
        ("&importanceMin=0.5".to_owned(), 3),
        ("&importanceMin=0.25&importanceMax=0.5".to_owned(), 2),
        ("&confidenceMin=0.75".to_owned(), 2),
        ("&confidenceMax=0".to_owned(), 1),
        ("&layer=user&kind=fact,preference".to_owned(), 5),
        ("&layer=session,user".to_owned(), 5),
        ("&layer=session".to_owned(), 0),
        ("&state=archived".to_owned(), 0),
        ("&state=archived,active".to_owned(), 5),
        ("&createdAfter=2020-01-01T00:00:00Z".to_owned(), 5),
        ("&createdBefore=2020-01-01".to_owned(), 0),
        ("&updatedAfter=2020-01-01&updatedBefore=2120-01-01".to_owned(), 5),
        ("&eventAfter=2026-01-03T00:00:00Z&eventBefore=2026-01-05T00:00:00Z".to_owned(), 2),
        ("&threadId=other".to_owned(), 0),
        ("&runId=r&actorId=a&role=user,tool".to_owned(), 5),
        ("&sourceType=manual&sourceRole=tool".to_owned(), 5),
        ("&sourceType=conversation".to_owned(), 0),
        ("&accessPolicy=public,private".to_owned(), 1),
        ("&category=stock".to_owned(), 5),
        ("&hasKnowledgePointer=true".to_owned(), 0),
        ("&hasKnowledgePointer=false".to_owned(), 5),
        ("&filter.userId=ann,ben".to_owned(), 5),
        ("&filter.userId=ben".to_owned(), 0),
        ("&filter.agentId=bot".to_owned(), 0),
        ("&filter.sessionId=s".to_owned(), 0),
        ("&metadata=%7B%22n%22%3A3%7D".to_owned(), 1),
        ("&metadata=%7B%22text%22%3A%223%22%2C%22n%22%3A3%7D".to_owned(), 1),
        ("&metadata=%7B%22n%22%3A%223%22%7D".to_owned(), 0),
        ("&superseded=true".to_owned(), 5),
        ("&asOf=2120-01-01".to_owned(), 5),
    ] {
        let (page, count) = (list(&query).await, server.get(&format!("/v1/memories/count?userId=ann{query}")).await);
        assert_eq!(page["data"].as_array().unwrap().len(), expect, "{query}");
        assert_eq!(count.expect(200), json!({ "count": expect }), "{query}");
    }
    for (query, field) in [
        ("layer=galaxy", "layer"),
        ("layer=", "layer"),
        ("layers=user", "layers"),
        ("state=alive", "state"),
        ("id=nonsense", "id"),
        ("userId=ann&importanceMin=2", "importanceMin"),
        ("importanceMin=high", "importanceMin"),
        ("pinned=perhaps", "pinned"),
        ("metadata=n", "metadata"),
        ("createdAfter=yesterday", "createdAfter"),
        ("userId=ann&createdAfter=2026-01-02T00:00:00Z&createdBefore=2026-01-01T00:00:00Z", "createdBefore"),
        ("colour=red", "colour"),
        ("userId=ann&userId=bob", "userId"),
        ("kind=a&kind=b", "kind"),
        ("filter.kind=a", "filter"),
    ] {
        server.get(&format!("/v1/memories?{query}")).await.refused(400, field);
        server.get(&format!("/v1/memories/count?{query}")).await.refused(400, field);
    }
    for (query, field) in [
        ("limit=0", "limit"),
        ("limit=1001", "limit"),
        ("limit=-1", "limit"),
        ("limit=many", "limit"),
        ("cursor=x", "cursor"),
    ] {
        server.get(&format!("/v1/memories?userId=ann&{query}")).await.refused(400, field);
    }
    list("&limit=1000").await;
    server.get("/v1/memories/count?userId=ann&limit=5").await.refused(400, "limit");
    let ids = vec!["0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50"; 1001].join(",");
    server.get(&format!("/v1/memories/count?userId=ann&id={ids}")).await.refused(400, "id");
}

#[tokio::test]
async fn the_location_of_a_new_memory_leads_to_it() {
    let server = TestServer::guarded().await;
    let writer = server.bounded(Role::Writer, json!({})).await;
    for identifiers in [json!({ "userId": "ann" }), json!({ "projectId": "a b/c" })] {
        let body = json!({ "content": "The lamp is green.", "identifiers": identifiers, "asIs": true });
        let added = answer(server.request_as(&writer, "POST", "/v1/memories").json(&body)).await;
        let location = added.headers["location"].to_str().unwrap().to_owned();
        let id = added.expect(201)["id"].clone();
        let read = answer(server.request_as(&writer, "GET", &location)).await;
        assert_eq!(read.headers["etag"], "\"1\"", "{location}");
        assert_eq!(read.expect(200)["id"], id, "{location}");
    }
}
