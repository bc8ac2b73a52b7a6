//! Entities and links over HTTP.

use serde_json::json;

use crate::server::TestServer;

#[tokio::test]
async fn the_graph_is_walked_as_far_as_asked() {
    let server = TestServer::open().await;
    let who = json!({ "userId": "ann", "sessionId": "s" });
    let turns: Vec<_> = (0..5)
        .map(|n| json!({ "threadId": "t", "role": "user", "content": format!("Robert and Maria met in Berlin, part {n}.") }))
        .collect();
    let heard = server.post("/v1/sessions/s/turns", json!({ "identifiers": who, "turns": turns })).await.expect(200);
    let middle = heard["data"][2]["writes"][0]["id"].as_str().unwrap();
    let path = format!("/v1/memories/{middle}/graph");
    let around = async |query: &str| server.get(&format!("{path}?userId=ann{query}")).await.expect(200);
    for (query, nodes, edges) in
        [("", 3, 2), ("&depth=2", 5, 4), ("&depth=4&relation=temporal", 5, 4), ("&depth=4&relation=causal", 1, 0)]
    {
        let response = around(query).await;
        let count = |field: &str| response[field].as_array().unwrap().len();
        assert_eq!((count("nodes"), count("edges"), &response["truncated"]), (nodes, edges, &json!(false)), "{query}");
        assert_eq!(
            (&response["nodes"][0]["memory"]["id"], &response["nodes"][0]["depth"]),
            (&json!(middle), &json!(0))
        );
    }
    for (query, field) in
        [("depth=0", "depth"), ("depth=5", "depth"), ("depth=x", "depth"), ("relation=friends", "relation")]
    {
        server.get(&format!("{path}?{query}")).await.refused(400, field);
    }
    assert_eq!(server.get(&format!("{path}?userId=bob")).await.status, 404);
}

#[tokio::test]
async fn entities_are_listed_merged_and_split() {
    let server = TestServer::open().await;
    let who = json!({ "userId": "ann", "sessionId": "s" });
    let turns = json!([
        { "threadId": "t", "role": "user", "content": "My brother is called Robert. My sister is called Maria." }
    ]);
    server.post("/v1/sessions/s/turns", json!({ "identifiers": who, "turns": turns })).await.expect(200);
    server.post("/v1/sessions/s/end", json!({ "identifiers": who })).await.expect(200);
    server.post("/v1/jobs/run", json!({ "limit": 10 })).await.expect(200);
    let known = server.get("/v1/entities?userId=ann").await.expect(200);
    let names: Vec<_> = known["data"].as_array().unwrap().iter().map(|one| one["canonicalName"].clone()).collect();
    assert!(names.contains(&json!("Robert")) && names.contains(&json!("Maria")), "{names:?}");
    let profile = server.get("/v1/entities/robert?userId=ann").await.expect(200);
    assert!(!profile["memories"].as_array().unwrap().is_empty());
    let maria = server.get("/v1/entities/Maria?userId=ann").await.expect(200);
    assert!(maria["entity"]["createdAt"].as_str() <= maria["entity"]["updatedAt"].as_str(), "{maria}");
    let page = server.get("/v1/entities?userId=ann&limit=1").await.expect(200);
    let next = page["nextCursor"].as_str().unwrap();
    let second = server.get(&format!("/v1/entities?userId=ann&limit=1&cursor={next}")).await.expect(200);
    assert_eq!((&page["data"][0], &second["data"][0]), (&known["data"][0], &known["data"][1]));
    let merge = json!({ "identifiers": who, "from": "Maria" });
    let merged = server.post("/v1/entities/Robert/merge", merge).await.expect(200);
    assert_eq!((&merged["event"], &merged["data"]["canonicalName"]), (&json!("MERGE"), &json!("Robert")));
    let split = json!({ "identifiers": who, "id": maria["entity"]["id"] });
    let split = server.post("/v1/entities/Robert/split", split).await.expect(200);
    assert_eq!((&split["event"], &split["data"]["canonicalName"]), (&json!("UPDATE"), &json!("Robert")));
    server.get("/v1/entities/Nobody?userId=ann").await.refused(404, "entity");
    server.get("/v1/entities?limit=0").await.refused(400, "limit");
    server.post("/v1/entities/Robert/merge", json!({})).await.refused(400, "from");
}

#[tokio::test]
async fn entities_are_found_by_a_description_and_counted() {
    let server = TestServer::open().await;
    let who = json!({ "userId": "ann" });
    for text in ["My friend Paul repairs bikes", "My friend Olga teaches the violin", "The boat needs paint"] {
        server.post("/v1/memories", json!({ "identifiers": who, "content": text })).await.expect(201);
    }
    let found = server.get("/v1/entities?userId=ann&query=who+repairs+bikes").await.expect(200);
    assert_eq!(found["data"][0]["canonicalName"], "Paul", "{found}");
    server.get("/v1/entities?userId=ann&query=").await.refused(400, "query");
    let other = server.get("/v1/entities?userId=bob&query=bikes").await.expect(200);
    assert_eq!(other["data"], json!([]));
    let stats = server.get("/v1/stats?userId=ann").await.expect(200);
    assert_eq!((&stats["entities"], &stats["orphans"], &stats["contentBytes"]), (&json!(2), &json!(1), &json!(81)));
    assert_eq!(stats["maintained"], json!({}));
    server.post("/v1/maintenance", json!({ "only": ["decay"] })).await.expect(200);
    let stats = server.get("/v1/stats?userId=ann").await.expect(200);
    assert!(stats["maintained"]["decay"].is_string(), "{stats}");
    assert!(server.get("/v1/stats?userId=ann").await.expect(200)["ledger"].as_u64() > Some(3));
}
