//! Whatever comes in, the answer is clear and nothing breaks.

use serde_json::{Value, json};

use crate::server::{TestServer, answer};

// Coverage: SPEC-9.1.
#[tokio::test]
async fn bodies_that_cannot_be_read_are_refused() {
    let server = TestServer::open().await;
    let send = |text: Vec<u8>| {
        answer(server.request("POST", "/v1/memories").header("content-type", "application/json").body(text))
    };
    for (text, field) in [
        (&b""[..], "body"),
        (b"{", "body"),
        (b"[]", "body"),
        (b"[{\"userId\":\"ann\"},\"a\"]", "body"),
        (b"{\"content\":\"a\",\"identifiers\":[null,\"ann\"]}", "identifiers"),
        (b"null", "body"),
        (b"{\"content\":7}", "content"),
        (b"{\"content\":null}", "content"),
        (b"{\"content\":\"a\",\"colour\":1}", "colour"),
        (b"{\"content\":\"a\",\"identifiers\":{\"user\":1}}", "identifiers.user"),
        (b"{\"content\":\"a\",\"identifiers\":{\"userId\":1}}", "identifiers.userId"),
        (b"{\"content\":\"a\",\"importance\":\"high\"}", "importance"),
        (b"{\"content\":\"a\",\"importance\":1e999}", "importance"),
        (b"{\"content\":\"a\",\"eventTime\":\"soon\"}", "eventTime"),
        (b"{\"content\":\"a\",\"layer\":\"galaxy\"}", "layer"),
        (b"{\"content\":\"a\",\"tags\":\"b\"}", "tags"),
        (b"{\"content\":\"a\",\"content\":\"b\"}", "content"),
        (b"{\"content\":\"\xff\xfe\"}", "content"),
        (b"{\"content\":\"\\ud800\"}", "content"),
        (b"{\"content\":\"a\"}{}", "body"),
    ] {
        send(text.to_vec()).await.refused(400, field);
    }
    let deep = format!("{{\"content\":\"a\",\"metadata\":{}{}}}", "{\"a\":".repeat(5_000), "}".repeat(5_000));
    assert_eq!(send(deep.into_bytes()).await.status, 400);
    let huge = format!("{{\"content\":\"{}\"}}", "a".repeat(5 << 20));
    send(huge.into_bytes()).await.refused(413, "body");
    let plain = answer(server.request("POST", "/v1/memories").body("content=a")).await;
    plain.refused(415, "Content-Type");
    assert_eq!(server.get("/v1/memories/count?everyone=true").await.expect(200)["count"], 0);
}

// Coverage: SPEC-9.1.
#[tokio::test]
async fn values_out_of_range_are_named() {
    let server = TestServer::open().await;
    let long = "x".repeat(9_000);
    let table = [
        (json!({ "content": "" }), 400, "content"),
        (json!({ "content": " \n\t" }), 400, "content"),
        (json!({ "content": "a\u{0}b" }), 400, "content"),
        (json!({ "content": long }), 413, "content"),
        (json!({ "content": "a", "importance": 1.5 }), 400, "importance"),
        (json!({ "content": "a", "confidence": -0.1 }), 400, "confidence"),
        (json!({ "content": "a", "kind": "emotion" }), 400, "kind"),
        (json!({ "content": "a", "tags": [""] }), 400, "tags"),
        (json!({ "content": "a", "tags": ["\u{0}"] }), 400, "tags"),
        (json!({ "content": "a", "tags": vec!["t"; 65] }), 400, "tags"),
        (json!({ "content": "a", "category": "c\u{0}" }), 400, "category"),
        (json!({ "content": "a", "category": "c".repeat(257) }), 400, "category"),
        (json!({ "content": "a", "threadId": "\u{0}" }), 400, "threadId"),
        (json!({ "content": "a", "source": { "type": "\u{0}" } }), 400, "source.type"),
        (json!({ "content": "a", "source": { "type": "a", "more": 1 } }), 400, "source.more"),
        (json!({ "content": "a", "metadata": { "a": ["\u{0}"] } }), 400, "metadata"),
        (json!({ "content": "a", "metadata": { "a": "m".repeat(70_000) } }), 400, "metadata"),
        (json!({ "content": "a", "identifiers": { "userId": "" } }), 400, "userId"),
        (json!({ "content": "a", "identifiers": { "userId": "a\u{1}" } }), 400, "userId"),
        (json!({ "content": "a", "identifiers": { "userId": "u".repeat(300) } }), 400, "userId"),
        (json!({ "content": "a", "identifiers": { "userId": "u", "agentId": "../../etc" } }), 400, "agentId"),
        (json!({ "content": "a", "identifiers": { "poolId": ".." } }), 400, "poolId"),
        (json!({ "content": "a", "identifiers": {} }), 400, "identifiers"),
        (json!({ "content": "a", "layer": "team" }), 400, "teamId"),
        (
            json!({ "content": "a", "validFrom": "2026-02-01T00:00:00Z", "validUntil": "2026-01-01T00:00:00Z" }),
            400,
            "validUntil",
        ),
    ];
    for (mut body, status, field) in table {
        if body.get("identifiers").is_none() {
            body["identifiers"] = json!({ "userId": "ann" });
        }
        let refused = server.post("/v1/memories", body.clone()).await;
        assert!(refused.body["operation"].is_string(), "{body}");
        refused.refused(status, field);
    }
    assert_eq!(server.get("/v1/memories/count?everyone=true").await.expect(200)["count"], 0);
}

// Coverage: SPEC-9.1.
#[tokio::test]
async fn odd_words_are_only_words() {
    let server = TestServer::open().await;
    let ann = json!({ "userId": "ann" });
    for odd in [
        "'; DROP TABLE memories; --",
        "\" OR 1=1 --",
        "tea NEAR/2 (cake* OR -bread) AND NOT \"",
        "content:tea ^start {a b} : col",
        "%_\\",
        "\u{202e}\u{200b}\u{feff}evil",
        "👩‍👩‍👧‍👦 Ａｎｎ Ω≈ç√∫",
        "a\u{301}\u{301}\u{301}",
        "../../../etc/passwd",
        "{{7*7}} ${jndi:ldap} <script>alert(1)</script>",
    ] {
        let body = json!({
            "content": format!("Ann said {odd}"), "identifiers": { "userId": odd.trim() }, "tags": [odd], "category": odd,
            "threadId": odd, "actorId": odd, "metadata": { odd: odd }, "source": { "type": "manual", "reference": odd }, "asIs": true
        });
        let added = server.post("/v1/memories", body).await.expect(201);
        assert_eq!(added["data"]["content"], format!("Ann said {odd}"));
        let filter = json!({ "tags": [odd], "category": [odd], "threadId": [odd], "metadata": { odd: odd }, "sourceType": [odd] });
        let body = json!({ "query": odd, "identifiers": { "userId": odd.trim() }, "filter": filter, "limit": 3 });
        assert!(server.post("/v1/recall", body.clone()).await.expect(200)["data"].is_array(), "{odd}");
        server.post("/v1/memories/search", body).await.expect(200);
        let path: String = odd.bytes().map(|byte| format!("%{byte:02X}")).collect();
        assert_eq!(server.get(&format!("/v1/entities/{path}?userId=ann")).await.status, 404, "{odd}");
        assert_eq!(server.get(&format!("/v1/sessions/{path}?userId=ann")).await.status, 404, "{odd}");
        assert_eq!(server.delete(&format!("/v1/keys/{path}")).await.status, 404, "{odd}");
    }
    let found = server.post("/v1/recall", json!({ "query": "tea\u{0}", "identifiers": ann })).await;
    assert_eq!(found.status, 200, "{}", found.text);
}

#[tokio::test]
async fn paths_lead_nowhere_else() {
    let server = TestServer::open().await;
    for (path, status) in [
        ("/v1/memories/nonsense", 400),
        ("/v1/memories/..%2f..%2fetc", 400),
        ("/v1/memories/%00", 400),
        ("/v1/memories/%ff", 400),
        ("/v1/nothing", 404),
        ("/v1/memories/nonsense/graph", 400),
        ("/v1/entities/%ff", 400),
    ] {
        let response = server.get(path).await;
        assert_eq!(response.status, status, "{path}: {}", response.text);
        assert_eq!(response.headers["content-type"], "application/problem+json");
    }
    for path in ["/v1/agents/..%2f..", "/v1/agents/%00", "/v1/jobs/..%2fshared/1", "/v1/jobs/shared/one"] {
        assert_eq!(server.delete(path).await.status, 400, "{path}");
    }
    let other = server.post("/v1/memories/0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50", Value::Null).await;
    assert_eq!(other.status, 405);
    assert!(other.headers.contains_key("allow"));
}
