//! Property tests over HTTP: whatever filters, cursors and MCP messages hold, the answer is a clear one, never a failure of
//! the server.

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use crate::server::{TestServer, answer};

/// Any JSON value of a few levels, with names that filters have.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        prop::sample::select(vec!["2026-01-01", "9999-12-31T23:59:59Z", "fact", "user", "active", "*", ""])
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((field(), inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn field() -> impl Strategy<Value = String> {
    let known = [
        "layer",
        "kind",
        "state",
        "tags",
        "categories",
        "createdAfter",
        "createdBefore",
        "metadata",
        "importance",
        "ids",
        "text",
        "sessionId",
        "and",
        "or",
        "not",
    ];
    prop_oneof![4 => prop::sample::select(known.to_vec()).prop_map(str::to_owned), 1 => any::<String>()]
}

/// Runs a check with this many values. The values are made outside of the runtime's tasks, with the runner's own seed.
async fn for_each<T: std::fmt::Debug>(cases: usize, strategy: impl Strategy<Value = T>, check: impl AsyncFn(T)) {
    use proptest::strategy::ValueTree;
    let mut runner = TestRunner::default();
    for _ in 0..cases {
        let made = strategy.new_tree(&mut runner).unwrap().current();
        check(made).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn filters_are_read_or_refused() {
    let server = TestServer::open().await;
    for_each(200, value(), async |filter| {
        let body = json!({ "identifiers": { "userId": "ann" }, "query": "tea", "filter": filter });
        let answer = server.post("/v1/recall", body).await;
        assert!(matches!(answer.status, 200 | 400 | 413), "{filter}: {}", answer.text);
    })
    .await;
    server.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn cursors_are_read_or_refused() {
    let server = TestServer::open().await;
    let text = prop_oneof![any::<String>(), "[A-Za-z0-9_-]{0,80}", Just("a".repeat(8_000))];
    for_each(100, text, async |cursor| {
        for (path, name) in [("/v1/memories", "cursor"), ("/v1/ledger", "after"), ("/v1/entities", "cursor")] {
            let query = form_urlencoded::Serializer::new(String::new())
                .append_pair("userId", "ann")
                .append_pair(name, &cursor)
                .finish();
            let answer = answer(server.request("GET", &format!("{path}?{query}"))).await;
            assert!(matches!(answer.status, 200 | 400 | 413 | 414), "{path} {cursor:?}: {}", answer.text);
        }
    })
    .await;
    server.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mcp_messages_are_read_or_refused() {
    let server = TestServer::open().await;
    let methods = ["initialize", "tools/list", "tools/call", "resources/read", "prompts/get", "ping", "x", ""];
    let message = (prop::sample::select(methods.to_vec()), value(), value())
        .prop_map(|(method, id, params)| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
    let bytes = prop_oneof![
        message.prop_map(|message| message.to_string().into_bytes()),
        value().prop_map(|value| value.to_string().into_bytes()),
        prop::collection::vec(any::<u8>(), 0..200),
        Just(b"[".repeat(100_000)),
    ];
    for_each(200, bytes, async |bytes| {
        let request = server.request("POST", "/mcp").header("content-type", "application/json");
        let request = request.header("accept", "application/json, text/event-stream").body(bytes.clone());
        let status = request.send().await.unwrap().status().as_u16();
        assert!(status < 500, "{status}: {}", String::from_utf8_lossy(&bytes));
    })
    .await;
    server.close().await;
}
