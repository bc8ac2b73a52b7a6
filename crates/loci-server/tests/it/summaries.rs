//! Summaries over HTTP.

use loci_engine::{Caller, Turn};
use loci_types::Identifiers;
use serde_json::json;

use crate::server::TestServer;

// Coverage: S4.14.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_or_memories_are_summarized() {
    let server = TestServer::open().await;
    let ids = Identifiers { user_id: Some("ann".into()), session_id: Some("monday".into()), ..Identifiers::default() };
    for number in 0..20 {
        let turn = Turn {
            thread_id: "t".into(),
            content: format!("The harbour crane number {number} lifted {number} crates of oranges."),
            role: Some("user".into()),
            ..Turn::default()
        };
        server.engine.ingest(&Caller::new(ids.clone()), turn).await.unwrap();
    }
    let who = json!({ "userId": "ann" });
    let session = json!({ "identifiers": who, "sessionId": "monday", "strategy": "map_reduce", "targetTokens": 50 });
    let summary = server.post("/v1/summaries", session).await.expect(200);
    assert!(summary["tokensAfter"].as_u64().unwrap() <= 50 && !summary["text"].as_str().unwrap().is_empty());
    assert_eq!(summary["strategy"], "map_reduce");
    let body = json!({ "content": "Ann likes tea very much.", "identifiers": who });
    server.post("/v1/memories", body).await.expect(201);
    let facts = json!({ "identifiers": who, "filter": { "layer": ["user"], "createdAfter": "2020-01-01" } });
    let facts = server.post("/v1/summaries", facts).await.expect(200);
    assert!(facts["text"].as_str().unwrap().contains("tea"), "{facts}");
    for (more, status, field) in [
        (json!({ "targetTokens": 0 }), 400, "targetTokens"),
        (json!({ "sessionId": "never" }), 404, "sessionId"),
        (json!({ "session": "monday" }), 400, "session"),
        (json!({ "strategy": "poetic" }), 400, "strategy"),
        (json!({ "filter": { "layer": ["team"] } }), 400, "teamId"),
        (json!({ "filter": { "importanceMin": 2 } }), 400, "filter.importanceMin"),
    ] {
        let mut body = json!({ "identifiers": who });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        server.post("/v1/summaries", body).await.refused(status, field);
    }
}
