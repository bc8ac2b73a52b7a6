//! `memory.query`, in its own words.

use serde_json::json;

use crate::server::{TestServer, answer};

// Coverage: S3-6.3.
#[tokio::test]
async fn an_agent_asks_in_one_call() {
    let server = TestServer::open().await;
    let both = json!({ "userId": "ann", "agentId": "planner" });
    for (content, category, importance) in [
        ("The deployment of Atlas is planned for Friday.", "tasks", 1.0),
        ("Ann likes the deployment music loud.", "style", 0.0),
    ] {
        let body = json!({ "content": content, "category": category, "importance": importance, "identifiers": both });
        server.post("/v1/memories", body).await.expect(201);
    }
    let body = json!({
        "agent": "planner", "query": "deployment plan context", "categories": ["tasks", "projects"],
        "filters": {
            "user_id": "ann", "agent_id": "planner", "pinned": false, "importance_min": 1, "importance_max": 5,
            "updated_after": "2025-07-01", "updated_before": null
        },
        "top_k": 3, "return": "bullets", "budget_tokens": 512
    });
    let results = server.post("/memory.query", body.clone()).await.expect(200);
    let results = results.as_array().unwrap();
    assert_eq!(results.len(), 1);
    assert_eq!(
        (&results[0]["category"], &results[0]["text"]),
        (&json!("tasks"), &json!("[tasks] The deployment of Atlas is planned for Friday."))
    );
    assert_eq!(results[0].as_object().unwrap().len(), 3);

    let with = |field: &str, value: serde_json::Value| {
        let mut body = body.clone();
        body[field] = value;
        body
    };
    let full = server.post("/memory.query", with("return", json!("full"))).await.expect(200);
    assert_eq!((&full[0]["importance"], full[0]["kind"].is_string()), (&json!(5.0), true));
    assert_eq!(full[0]["text"], "The deployment of Atlas is planned for Friday.");
    let low = json!({ "user_id": "ann", "importance_max": 2 });
    assert_eq!(server.post("/memory.query", with("filters", low)).await.expect(200), json!([]));
    assert_eq!(server.post("/memory.query", with("budget_tokens", json!(5))).await.expect(200), json!([]));
    for (field, value, named) in [
        ("filters", json!({ "user_id": "ann", "importance_min": 0 }), "filters.importance_min"),
        ("filters", json!({ "user_id": "ann", "importance_max": 6 }), "filters.importance_max"),
        ("filters", json!({ "user_id": "ann", "updated_after": "soon" }), "filters.updated_after"),
        ("filters", json!({ "userId": "ann" }), "filters.userId"),
        ("top_k", json!(0), "top_k"),
        ("budget_tokens", json!(1_000_001), "budget_tokens"),
        ("threshold", json!(2), "threshold"),
        ("return", json!("poem"), "return"),
        ("agent", json!("../planner"), "agentId"),
        ("since", json!(1), "since"),
        ("identifiers", json!({ "agentId": "other" }), "agent"),
    ] {
        server.post("/memory.query", with(field, value)).await.refused(400, named);
    }
}

// Coverage: S3-6.3.
#[tokio::test]
async fn procedures_are_found_by_their_category_or_kind_and_by_nothing_else() {
    let server = TestServer::open().await;
    let body = json!({
        "content": "To deploy: 1. Run make. 2. Tag the commit. 3. Push.", "kind": "procedural",
        "identifiers": { "userId": "ana" }
    });
    server.post("/v1/memories", body).await.expect(201);
    let ask = async |more: serde_json::Value| {
        let mut body = json!({ "query": "how to deploy", "filters": { "user_id": "ana" } });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        server.post("/memory.query", body).await.expect(200).as_array().unwrap().len()
    };
    assert_eq!(ask(json!({ "categories": ["procedural"] })).await, 1);
    assert_eq!(ask(json!({ "kinds": ["procedural"] })).await, 1);
    assert_eq!(ask(json!({})).await, 0);
}

// Coverage: S3-6.3.
#[tokio::test]
async fn a_category_that_the_agent_may_not_see_is_refused() {
    let server = TestServer::guarded().await;
    server
        .post("/v1/agents", json!({ "agentId": "planner", "settings": { "categories": ["tasks"] } }))
        .await
        .expect(201);
    let key = server.bounded(loci_types::Role::Reader, json!({ "users": ["ann"], "agents": ["planner"] })).await;
    let ask = |categories: serde_json::Value| {
        let body = json!({ "agent": "planner", "query": "plan", "categories": categories });
        answer(server.request_as(&key, "POST", "/memory.query").json(&body))
    };
    assert_eq!(ask(json!(["tasks"])).await.status, 200);
    let refused = ask(json!(["tasks", "secrets"])).await;
    refused.refused(403, "categories");
    assert!(refused.body["detail"].as_str().unwrap().contains("secrets"));
}
