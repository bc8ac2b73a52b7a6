//! Every code of the error table, over HTTP and over MCP.

use std::sync::Arc;

use async_trait::async_trait;
use loci_engine::llm::LlmClient;
use loci_engine::{Caller, Config, NewMemory};
use loci_models::{Chat, ChatAnswer, ChatQuestion, Detail, Embedder, Embedding, Error, Model};
use loci_server::{Options, ServerOptions};
use loci_types::{ERROR_TABLE, Grant, Identifiers, Role, Tenant};
use serde_json::{Value, json};

use crate::server::{TestServer, answer};

/// A stand-in for an embedding model that is down.
struct FailingEmbedder(Model);

#[async_trait]
impl Embedder for FailingEmbedder {
    fn model(&self) -> &Model {
        &self.0
    }

    async fn embed(&self, _: &[String], _: Detail) -> Result<Vec<Embedding>, Error> {
        Err(refused(503))
    }
}

/// A stand-in for a language model whose key is wrong.
struct RefusedChat;

#[async_trait]
impl Chat for RefusedChat {
    fn model(&self) -> &str {
        "locked"
    }

    fn estimate(&self, _: &ChatQuestion) -> u64 {
        1
    }

    async fn ask(&self, _: &ChatQuestion) -> Result<ChatAnswer, Error> {
        Err(refused(401))
    }
}

fn refused(status: u16) -> Error {
    Error::Http { service: "a model".to_owned(), status, message: "no".to_owned() }
}

fn ann() -> Value {
    json!({ "userId": "ann" })
}

/// A tool's answer, or the HTTP failure before it.
async fn tool(server: &TestServer, key: &str, name: &str, arguments: Value) -> Value {
    let sent = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": name, "arguments": arguments } });
    let request = server
        .request_as(key, "POST", "/mcp/full")
        .header("Accept", "application/json, text/event-stream")
        .header("MCP-Protocol-Version", "2025-06-18")
        .json(&sent);
    let response = answer(request).await;
    if response.status != 200 {
        return response.body;
    }
    assert_eq!(response.body["result"]["isError"], true, "{}", response.text);
    response.body["result"]["structuredContent"].clone()
}

/// That a failure has this code, and the status and the advice that belong to it.
#[track_caller]
fn assert_problem(problem: &Value, code: &str, status: Option<u16>) {
    let row = ERROR_TABLE.iter().find(|row| row.code == code).unwrap();
    assert_eq!(problem["code"], code, "{problem}");
    assert_eq!(problem["retryable"], row.retryable, "{problem}");
    assert!(
        problem.get("detail").or(problem.get("message")).and_then(Value::as_str).is_some_and(|text| !text.is_empty()),
        "{problem}"
    );
    assert!(problem["operation"].is_string(), "{problem}");
    if let Some(status) = status {
        assert_eq!(status, row.status, "{problem}");
    }
}

// Coverage: S2.20.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_request_has_its_code() {
    let server = TestServer::guarded().await;
    let whole = Grant { role: Role::Writer, ..Grant::whole(Tenant::default()) };
    let writer = server.key(whole.clone()).await;
    let reader = server.key(Grant { role: Role::Reader, ..whole }).await;
    let absent = uuid::Uuid::from_u128(7).to_string();
    let long = "word ".repeat(2_000);
    let check = async |key: &str, method: &str, path: &str, body: Option<Value>, code: &str| {
        let request = server.request_as(key, method, path);
        let request = match &body {
            Some(body) => request.json(body),
            None => request,
        };
        let answer = answer(request).await;
        assert_problem(&answer.body, code, Some(answer.status));
        assert_eq!(answer.headers["content-type"], "application/problem+json");
    };
    let add = |more: Value| {
        let mut body = json!({ "content": "Ann likes tea", "identifiers": ann() });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        Some(body)
    };
    check(&writer, "POST", "/v1/memories", add(json!({ "layer": "galaxy" })), "INVALID_LAYER").await;
    check(&writer, "POST", "/v1/memories", add(json!({ "identifiers": {} })), "MISSING_IDENTIFIER").await;
    check(&writer, "POST", "/v1/memories", add(json!({ "layer": "team" })), "MISSING_IDENTIFIER").await;
    check(&writer, "GET", &format!("/v1/memories/{absent}?userId=ann"), None, "MEMORY_NOT_FOUND").await;
    check(&writer, "POST", "/v1/memories", add(json!({ "content": long })), "CONTENT_TOO_LONG").await;
    let question = Some(json!({ "query": long, "identifiers": ann() }));
    check(&writer, "POST", "/v1/recall", question, "QUERY_TOO_LONG").await;
    check(&reader, "POST", "/v1/memories", add(json!({})), "UNAUTHORIZED").await;
    check(&writer, "POST", "/v1/memories", add(json!({ "importance": 7 })), "INVALID_INPUT").await;

    // The same to models: their scope comes from the key.
    let ann = server.bounded(Role::Writer, json!({ "users": ["ann"] })).await;
    for (key, name, arguments, code) in [
        (&ann, "remember_fact", json!({ "fact": "Ann likes tea", "layer": "galaxy" }), "INVALID_LAYER"),
        (&ann, "remember_fact", json!({ "fact": "Ann likes tea", "layer": "team" }), "MISSING_IDENTIFIER"),
        (&writer, "remember_fact", json!({ "fact": "Ann likes tea" }), "MISSING_IDENTIFIER"),
        (&ann, "get_memory", json!({ "memory_id": absent }), "MEMORY_NOT_FOUND"),
        (&ann, "remember_fact", json!({ "fact": long }), "CONTENT_TOO_LONG"),
        (&ann, "search_memory", json!({ "query": long }), "QUERY_TOO_LONG"),
        (&reader, "remember_fact", json!({ "fact": "Ann likes tea" }), "UNAUTHORIZED"),
        (&ann, "remember_fact", json!({ "fact": "Ann likes tea", "importance": 7 }), "INVALID_INPUT"),
    ] {
        assert_problem(&tool(&server, key, name, arguments).await, code, None);
    }
}

// Coverage: S2.20.
#[tokio::test(flavor = "multi_thread")]
async fn models_that_fail_have_their_codes() {
    let model = Model { name: "down".to_owned(), dimensions: 4, similarity_threshold: 0.3, max_tokens: 256 };
    let mind = LlmClient::new(Arc::new(RefusedChat));
    let server = TestServer::with_models(
        Options::default(),
        Config::default(),
        Some(Arc::new(FailingEmbedder(model))),
        Some(mind),
    )
    .await;
    // The words are kept although the model is down, and found by words.
    let kept = server.post("/v1/memories", json!({ "content": "Ann likes green tea", "identifiers": ann() })).await;
    assert_eq!(kept.expect(201)["embeddingGenerated"], false);
    let found = server.post("/v1/recall", json!({ "query": "green tea", "identifiers": ann() })).await.expect(200);
    assert_eq!((found["data"].as_array().unwrap().len(), &found["degraded"]), (1, &json!(["vector"])));
    // Only a search by vectors alone fails if the model does.
    let alone = json!({ "query": "green tea", "identifiers": ann(), "strategy": "semantic" });
    let answer = server.post("/v1/recall", alone).await;
    assert_problem(&answer.body, "EMBEDDING_FAILED", Some(answer.status));
    assert!(answer.headers.contains_key("retry-after"));
    let summary = server.post("/v1/summaries", json!({ "identifiers": ann(), "strategy": "simple" })).await;
    assert_problem(&summary.body, "CONFIGURATION_ERROR", Some(summary.status));
}

// Coverage: S2.20.
#[tokio::test(flavor = "multi_thread")]
async fn a_failed_store_has_a_code_and_reveals_no_internals() {
    let server = TestServer::guarded().await;
    let caller = Caller::new(Identifiers { user_id: Some("ann".to_owned()), ..Identifiers::default() });
    let new = NewMemory { content: "Ann likes tea".to_owned(), ..NewMemory::default() };
    let id = server.engine.remember(&caller, new).await.unwrap().id;
    let file = server.folder().join("tenants/default/spaces/users_21/loci.db");
    rusqlite::Connection::open(file).unwrap().execute_batch("ALTER TABLE memories RENAME TO elsewhere").unwrap();
    let answer = server.get(&format!("/v1/memories/{id}?userId=ann")).await;
    assert_problem(&answer.body, "PROVIDER_ERROR", Some(answer.status));
    let folder = server.folder().display().to_string();
    assert!(!answer.text.contains(&folder), "{}", answer.text);
    let ann = server.bounded(Role::Writer, json!({ "users": ["ann"] })).await;
    let problem = tool(&server, &ann, "get_memory", json!({ "memory_id": id })).await;
    assert_problem(&problem, "PROVIDER_ERROR", None);
    assert!(!problem.to_string().contains(&folder), "{problem}");
}

// Coverage: S2.20.
#[tokio::test(flavor = "multi_thread")]
async fn too_many_requests_are_refused_with_retry_after() {
    let server = ServerOptions { requests_per_second: 1, burst: 2, ..ServerOptions::default() };
    let server = TestServer::with(Options { server, ..Options::default() }, Config::default()).await;
    let keys = [
        server.bounded(Role::Reader, json!({ "users": ["ann"] })).await,
        server.bounded(Role::Reader, json!({ "users": ["bob"] })).await,
    ];
    let first = answer(server.request_as(&keys[0], "GET", "/v1/stats")).await;
    assert_eq!((first.status, &first.headers["x-ratelimit-limit"]), (200, &"2".parse().unwrap()));
    let mut last = first;
    for _ in 0..5 {
        last = answer(server.request_as(&keys[0], "GET", "/v1/stats")).await;
    }
    assert_problem(&last.body, "RATE_LIMITED", Some(last.status));
    assert!(last.headers["retry-after"].to_str().unwrap().parse::<u64>().unwrap() >= 1);
    assert_problem(&tool(&server, &keys[0], "memory_stats", json!({})).await, "RATE_LIMITED", None);
    assert_eq!(answer(server.request_as(&keys[1], "GET", "/v1/stats")).await.status, 200, "others are not slowed down");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_found_is_named_and_so_is_the_operation() {
    let server = TestServer::guarded().await;
    let id = uuid::Uuid::from_u128(7);
    for (method, path, code, resource, operation) in [
        ("GET", format!("/v1/memories/{id}?userId=ann"), "MEMORY_NOT_FOUND", None, "getMemory"),
        ("GET", format!("/v1/facts/{id}?userId=ann"), "NOT_FOUND", Some("facts"), "getFact"),
        ("GET", "/v1/agents/unknown".to_owned(), "NOT_FOUND", Some("agents"), "getAgent"),
        ("DELETE", "/v1/keys/unknown".to_owned(), "NOT_FOUND", Some("keys"), "revokeKey"),
        ("GET", "/v1/webhooks/unknown".to_owned(), "NOT_FOUND", Some("webhooks"), "getWebhook"),
        ("GET", "/v1/admin/tasks/unknown".to_owned(), "NOT_FOUND", Some("tasks"), "getTask"),
        // Failures before the handler is reached name the operation as well.
        ("GET", "/v1/memories/nonsense?userId=ann".to_owned(), "INVALID_INPUT", None, "getMemory"),
        ("GET", "/v1/memories?colour=red".to_owned(), "INVALID_INPUT", None, "listMemories"),
    ] {
        let answer = answer(server.request(method, &path)).await;
        let body = &answer.body;
        assert_eq!((&body["code"], &body["operation"]), (&json!(code), &json!(operation)), "{path}: {}", answer.text);
        assert_eq!(body["details"].get("resource").and_then(Value::as_str), resource, "{path}");
    }
    let unread = server.request("POST", "/v1/recall").header("Content-Type", "application/json").body("{");
    assert_eq!(answer(unread).await.body["operation"], "recall");
    let anonymous = answer(server.anonymous("GET", "/v1/stats")).await;
    assert_eq!((anonymous.status, &anonymous.body["operation"]), (401, &json!("getStats")));
}
