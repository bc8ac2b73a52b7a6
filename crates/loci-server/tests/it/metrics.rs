//! Operations are counted under the same names through every protocol.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use loci_engine::{Caller, Config, MaintainRequest, MaintenanceStep, Summarization, Turn};
use loci_server::{Options, RateDecision, SharedHealth, SharedLimiter};
use loci_types::{Grant, Identifiers, Role, Tenant};
use serde_json::{Value, json};

use crate::server::{TestServer, answer};

/// A limiter that admits everyone and may be away.
#[derive(Debug, Default)]
struct Admitting(AtomicBool);

#[async_trait]
impl SharedLimiter for Admitting {
    async fn take(&self, _: &str, _: u32, _: u32) -> Option<RateDecision> {
        None
    }

    async fn health(&self) -> SharedHealth {
        let degraded = self.0.load(Ordering::SeqCst).then(|| "away".to_owned());
        SharedHealth { name: "redis".to_owned(), version: "7".to_owned(), latency: Duration::ZERO, degraded }
    }
}

// Coverage: S4.15.
#[tokio::test(flavor = "multi_thread")]
async fn summaries_are_counted_and_redis_and_the_pool_have_gauges() {
    let limiter = Arc::new(Admitting::default());
    let options = Options { shared: Some(limiter.clone()), ..Options::default() };
    let summarization = Summarization { threshold_tokens: 100, target_tokens: 60, ..Summarization::default() };
    let server = TestServer::with(options, Config { summarization, ..Config::default() }).await;
    let ids = Identifiers { user_id: Some("ann".into()), session_id: Some("monday".into()), ..Identifiers::default() };
    for number in 0..20 {
        let content = format!("The harbour crane number {number} lifted {number} crates of oranges.");
        let turn = Turn { thread_id: "t".into(), content, role: Some("user".into()), ..Turn::default() };
        server.engine.ingest(&Caller::new(ids.clone()), turn).await.unwrap();
    }
    let metric = async |name: &str| {
        let text = server.get("/metrics").await.text;
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')).map(str::to_owned);
        line.and_then(|value| value.parse::<f64>().ok())
    };
    assert_eq!(metric("loci_memory_summarization_runs_total").await, Some(0.0));
    let body = json!({ "identifiers": { "userId": "ann" }, "sessionId": "monday", "targetTokens": 50 });
    server.post("/v1/summaries", body).await.expect(200);
    assert_eq!(metric("loci_memory_summarization_runs_total").await, Some(1.0));
    let requested = metric("loci_memory_summarization_tokens_saved_total").await.unwrap();
    assert!(requested > 0.0);
    // By maintenance too.
    let night = MaintainRequest { only: vec![MaintenanceStep::Summarize], ..MaintainRequest::default() };
    server.engine.maintain(&Caller::operator(), night, |_| {}).await.unwrap();
    assert_eq!(metric("loci_memory_summarization_runs_total").await, Some(2.0));
    assert!(metric("loci_memory_summarization_tokens_saved_total").await.unwrap() > requested);
    assert_eq!(metric("loci_memory_redis_connected").await, Some(1.0));
    limiter.0.store(true, Ordering::SeqCst);
    assert_eq!(metric("loci_memory_redis_connected").await, Some(0.0));
    assert_eq!(metric("loci_memory_postgres_pool_active").await, None, "the store is files");
}

/// Calls a method of MCP. Returns its result or its error.
async fn mcp(server: &TestServer, key: &str, path: &str, method: &str, params: Value) -> Value {
    let sent = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let request = server
        .request_as(key, "POST", path)
        .header("Accept", "application/json, text/event-stream")
        .header("MCP-Protocol-Version", "2025-06-18")
        .json(&sent);
    answer(request).await.expect(200)
}

async fn tool(server: &TestServer, key: &str, path: &str, name: &str, arguments: Value) -> Value {
    let answer = mcp(server, key, path, "tools/call", json!({ "name": name, "arguments": arguments })).await;
    answer["result"]["structuredContent"].clone()
}

/// The lines of operations and of their errors, without the name of the metric.
async fn counted(server: &TestServer, key: &str) -> Vec<String> {
    let text = answer(server.request_as(key, "GET", "/metrics")).await.text;
    let names = ["loci_memory_operations_total", "loci_memory_operations_errors_total"];
    let lines = text.lines().filter_map(|line| names.into_iter().find_map(|name| line.strip_prefix(name)));
    lines.map(str::to_owned).collect()
}

// Coverage: S2.32.
#[tokio::test(flavor = "multi_thread")]
async fn what_fails_before_its_operation_begins_is_counted_once_by_its_code() {
    let server = TestServer::guarded().await;
    let key = server.key(Grant { role: Role::Admin, ..Grant::whole(Tenant::default()) }).await;
    let post = async |path: &str, body: Value| answer(server.request_as(&key, "POST", path).json(&body)).await;
    let ann = json!({ "userId": "ann" });
    post("/v1/memories", json!({ "content": "x", "layer": "galaxy", "identifiers": ann })).await.refused(400, "layer");
    post("/v1/memories", json!({ "content": "", "identifiers": ann })).await.refused(400, "content");
    let query = json!({ "query": "x", "layer": { "types": ["galaxy"], "user_id": "ann" } });
    assert_eq!(post("/openspec/v1/knowledge/query", query).await.status, 400);
    let lines = counted(&server, &key).await;
    for line in [
        "{operation=\"addMemory\",door=\"http\",code=\"INVALID_LAYER\"} 1",
        "{operation=\"addMemory\",door=\"http\",code=\"INVALID_INPUT\"} 1",
        "{operation=\"recall\",door=\"openspec\",code=\"INVALID_LAYER\"} 1",
    ] {
        assert!(lines.iter().any(|found| found == line), "{line} is not in {lines:#?}");
    }
}

// Coverage: S4.15.
#[tokio::test(flavor = "multi_thread")]
async fn an_operation_has_one_name_in_every_protocol() {
    let server = TestServer::guarded().await;
    let key = server.key(Grant { role: Role::Admin, ..Grant::whole(Tenant::default()) }).await;
    let post = async |path: &str, body: Value| answer(server.request_as(&key, "POST", path).json(&body)).await;
    let ann = json!({ "userId": "ann" });
    post("/v1/memories", json!({ "content": "Ann likes tea", "identifiers": ann })).await.expect(201);
    post("/v1/recall", json!({ "query": "tea", "identifiers": ann })).await.expect(200);
    let entry = json!({ "entry": { "content": "Ann likes rye bread" }, "options": { "layer": { "type": "user", "user_id": "ann" } } });
    post("/openspec/v1/knowledge/create", entry).await.expect(201);
    let (full, graph) = ("/mcp/full?userId=ann", "/mcp/graph?userId=ann");
    tool(&server, &key, full, "remember_fact", json!({ "fact": "Ann likes plums" })).await;
    tool(&server, &key, full, "list_consents", json!({})).await;
    tool(&server, &key, full, "list_entities", json!({ "limit": 2 })).await;
    // By its short id: what the id costs is part of the one call.
    let stored = tool(&server, &key, full, "remember_fact", json!({ "fact": "Ann owns a boat" })).await;
    tool(&server, &key, full, "get_memory", json!({ "memory_id": stored["id"] })).await;
    let entity = json!({ "name": "Ann", "entityType": "person", "observations": ["is tall"] });
    tool(&server, &key, graph, "create_entities", json!({ "entities": [entity] })).await;
    tool(&server, &key, graph, "search_nodes", json!({ "query": "tall" })).await;
    mcp(&server, &key, full, "resources/read", json!({ "uri": "loci://stats" })).await;
    let lines = counted(&server, &key).await;
    for line in [
        "{operation=\"addMemory\",door=\"http\"} 1",
        "{operation=\"addMemory\",door=\"mcp\"} 2",
        "{operation=\"addMemory\",door=\"openspec\"} 1",
        "{operation=\"recall\",door=\"http\"} 1",
        "{operation=\"listConsents\",door=\"mcp\"} 1",
        "{operation=\"listEntities\",door=\"mcp\"} 1",
        "{operation=\"getMemory\",door=\"mcp\"} 1",
        "{operation=\"addMemories\",door=\"mcp\"} 1",
        "{operation=\"searchMemories\",door=\"mcp\"} 1",
        "{operation=\"getStats\",door=\"mcp\"} 1",
    ] {
        assert!(lines.iter().any(|known| known == line), "{line} is not in {lines:#?}");
    }
    let description: Value = serde_json::from_str(&loci_server::description()).unwrap();
    let paths = description["paths"].as_object().unwrap().values();
    let methods = paths.flat_map(|path| path.as_object().unwrap().values());
    let known: Vec<&str> = methods.filter_map(|method| method["operationId"].as_str()).collect();
    for line in &lines {
        let name = line.split('"').nth(1).unwrap();
        assert!(known.contains(&name), "`{name}` is not an operation of the description");
    }
}

// Coverage: S4.15.
#[tokio::test(flavor = "multi_thread")]
async fn wrong_calls_of_tools_are_counted_and_name_their_operation() {
    let server = TestServer::guarded().await;
    let key = server.key(Grant { role: Role::Admin, ..Grant::whole(Tenant::default()) }).await;
    let full = "/mcp/full?userId=ann";
    let wrong = [
        ("list_entities", json!({ "limit": "many" }), "listEntities", "INVALID_INPUT"),
        ("list_entities", json!({ "limit": 0 }), "listEntities", "INVALID_INPUT"),
        ("remember_fact", json!({}), "addMemory", "INVALID_INPUT"),
        (
            "ingest_turns",
            json!({ "thread_id": "t", "turns": [{ "role": "user", "content": "hi", "at": "soon" }] }),
            "ingestTurns",
            "INVALID_INPUT",
        ),
        ("get_memory", json!({ "memory_id": uuid::Uuid::from_u128(7) }), "getMemory", "MEMORY_NOT_FOUND"),
        ("no_such_tool", json!({}), "callMcp", "INVALID_INPUT"),
    ];
    for (name, arguments, operation, code) in &wrong {
        let problem = tool(&server, &key, full, name, arguments.clone()).await;
        assert_eq!((&problem["operation"], &problem["code"]), (&json!(operation), &json!(code)), "{name}: {problem}");
    }
    let reader = server.key(Grant { role: Role::Reader, ..Grant::whole(Tenant::default()) }).await;
    let problem = tool(&server, &reader, full, "remember_fact", json!({ "fact": "x" })).await;
    assert_eq!((&problem["operation"], &problem["code"]), (&json!("addMemory"), &json!("UNAUTHORIZED")), "{problem}");
    // The address is wrong, not the call.
    let problem = tool(&server, &key, "/mcp/full?user=ann", "list_entities", json!({})).await;
    assert_eq!(
        (&problem["operation"], &problem["code"]),
        (&json!("listEntities"), &json!("INVALID_INPUT")),
        "{problem}"
    );
    for (method, params, operation) in [
        ("resources/read", json!({ "uri": "loci://changes/nowhere" }), "followEvents"),
        ("resources/read", json!({ "uri": "loci://nothing" }), "callMcp"),
        ("prompts/get", json!({ "name": "recall_context", "arguments": { "topic": " " } }), "recall"),
    ] {
        let answer = mcp(&server, &key, full, method, params).await;
        assert_eq!(answer["error"]["data"]["operation"], operation, "{answer}");
    }
    let lines = counted(&server, &key).await;
    for line in [
        "{operation=\"listEntities\",door=\"mcp\"} 3",
        "{operation=\"listEntities\",door=\"mcp\",code=\"INVALID_INPUT\"} 3",
        "{operation=\"addMemory\",door=\"mcp\",code=\"INVALID_INPUT\"} 1",
        "{operation=\"addMemory\",door=\"mcp\",code=\"UNAUTHORIZED\"} 1",
        "{operation=\"ingestTurns\",door=\"mcp\",code=\"INVALID_INPUT\"} 1",
        "{operation=\"getMemory\",door=\"mcp\",code=\"MEMORY_NOT_FOUND\"} 1",
        "{operation=\"callMcp\",door=\"mcp\",code=\"INVALID_INPUT\"} 1",
        "{operation=\"callMcp\",door=\"mcp\",code=\"MEMORY_NOT_FOUND\"} 1",
        "{operation=\"recall\",door=\"mcp\",code=\"INVALID_INPUT\"} 1",
    ] {
        assert!(lines.iter().any(|known| known == line), "{line} is not in {lines:#?}");
    }
}
