//! Who and what memories speak of, and how they hang together.

use serde_json::json;

use crate::house::House;

#[tokio::test]
async fn the_graph_is_walked_as_far_as_asked() {
    let house = House::open().await;
    let who = json!({ "userId": "ann", "sessionId": "s" });
    let turns: Vec<_> = (0..5)
        .map(|n| json!({ "threadId": "t", "role": "user", "content": format!("Robert and Maria met in Berlin, part {n}.") }))
        .collect();
    let heard = house.post("/v1/sessions/turns", json!({ "identifiers": who, "turns": turns })).await.expect(200);
    let middle = heard["receipts"][2][0]["id"].as_str().unwrap();
    let around = async |query: &str| house.get(&format!("/v1/graph/{middle}?userId=ann{query}")).await.expect(200);
    for (query, nodes, edges) in
        [("", 3, 2), ("&depth=2", 5, 4), ("&depth=4&relations=temporal", 5, 4), ("&depth=4&relations=causal", 1, 0)]
    {
        let told = around(query).await;
        let count = |field: &str| told[field].as_array().unwrap().len();
        assert_eq!((count("nodes"), count("edges"), &told["truncated"]), (nodes, edges, &json!(false)), "{query}");
        assert_eq!((&told["nodes"][0]["memory"]["id"], &told["nodes"][0]["depth"]), (&json!(middle), &json!(0)));
    }
    for (query, field) in
        [("depth=0", "depth"), ("depth=5", "depth"), ("depth=x", "depth"), ("relations=friends", "relations")]
    {
        house.get(&format!("/v1/graph/{middle}?{query}")).await.refused(400, field);
    }
    assert_eq!(house.get(&format!("/v1/graph/{middle}?userId=bob")).await.status, 404);
}

#[tokio::test]
async fn entities_are_listed_united_and_divided() {
    let house = House::open().await;
    let who = json!({ "userId": "ann", "sessionId": "s" });
    let turns = json!([
        { "threadId": "t", "role": "user", "content": "My brother is called Robert. My sister is called Maria." }
    ]);
    house.post("/v1/sessions/turns", json!({ "identifiers": who, "turns": turns })).await.expect(200);
    house.post("/v1/sessions/s/end", json!({ "identifiers": who })).await.expect(200);
    house.post("/v1/jobs/run", json!({ "limit": 10 })).await.expect(200);
    let known = house.get("/v1/entities?userId=ann").await.expect(200);
    let names: Vec<_> = known["entities"].as_array().unwrap().iter().map(|one| one["canonicalName"].clone()).collect();
    assert!(names.contains(&json!("Robert")) && names.contains(&json!("Maria")), "{names:?}");
    let profile = house.get("/v1/entities/robert?userId=ann").await.expect(200);
    assert!(!profile["memories"].as_array().unwrap().is_empty());
    let maria = house.get("/v1/entities/Maria?userId=ann").await.expect(200);
    let unite = json!({ "identifiers": who, "into": "Robert", "from": "Maria" });
    assert_eq!(house.post("/v1/entities/unite", unite).await.expect(200)["canonicalName"], "Robert");
    let divide = json!({ "identifiers": who, "id": maria["entity"]["id"], "root": "Robert" });
    assert_eq!(house.post("/v1/entities/divide", divide).await.expect(200)["canonicalName"], "Robert");
    house.get("/v1/entities/Nobody?userId=ann").await.refused(404, "entity");
    house.get("/v1/entities?limit=0").await.refused(400, "limit");
    house.post("/v1/entities/unite", json!({ "into": "Robert" })).await.refused(400, "from");
}
