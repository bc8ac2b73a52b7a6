//! Triples over HTTP.

use serde_json::json;

use crate::house::House;

#[tokio::test]
async fn triples_are_stated_listed_and_retracted() {
    let house = House::open().await;
    let who = json!({ "userId": "ann" });
    let fact = json!({ "factType": "has_version", "subject": "Database", "predicate": "version", "object": "v16" });
    let stated = house.post("/v1/facts", json!({ "identifiers": who, "fact": fact })).await.expect(201);
    assert_eq!((&stated["event"], &stated["fact"]["confidence"]), (&json!("created"), &json!(1.0)));
    assert_eq!(stated["fact"]["identifiers"], who);
    let again = house.post("/v1/facts", json!({ "identifiers": who, "fact": fact })).await.expect(200);
    assert_eq!((&again["event"], &again["fact"]["id"]), (&json!("none"), &stated["fact"]["id"]));
    let other = json!({ "subject": "API", "predicate": "port", "object": "80", "confidence": 0.5 });
    house.post("/v1/facts", json!({ "identifiers": who, "fact": other })).await.expect(201);
    let count = async |query: &str| {
        house.get(&format!("/v1/facts?{query}")).await.expect(200)["facts"].as_array().unwrap().len()
    };
    assert_eq!(count("userId=ann").await, 2);
    assert_eq!(count("userId=ann&subject=API&predicate=port").await, 1);
    assert_eq!(count("userId=ann&subject=API&object=v16").await, 0);
    assert_eq!(count("userId=ann&factType=has_version&includePast=true&limit=1").await, 1);
    assert_eq!(count("userId=bob").await, 0);
    house.get("/v1/facts?userId=ann&limit=0").await.refused(400, "limit");
    house.get("/v1/facts?userId=ann&colour=red").await.refused(400, "colour");
    let wrong = json!({ "subject": "API", "predicate": "port", "object": "80", "confidence": 2 });
    house.post("/v1/facts", json!({ "identifiers": who, "fact": wrong })).await.refused(400, "confidence");
    house
        .post("/v1/facts", json!({ "identifiers": who, "fact": { "subject": "API" } }))
        .await
        .refused(400, "predicate");
    let id = stated["fact"]["id"].as_str().unwrap();
    house.delete(&format!("/v1/facts/{id}?userId=bob")).await.refused(404, "id");
    assert_eq!(house.delete(&format!("/v1/facts/{id}?userId=ann")).await.expect(200)["object"], "v16");
    house.delete(&format!("/v1/facts/{id}?userId=ann")).await.refused(404, "id");
    assert_eq!(count("userId=ann").await, 1);
}
