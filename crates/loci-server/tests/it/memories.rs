//! Memories, from adding to restoring.

use serde_json::{Value, json};

use crate::house::{House, answer};

pub(crate) async fn add(house: &House, content: &str) -> Value {
    house.post("/v1/memories", json!({ "content": content, "identifiers": { "userId": "ann" } })).await.expect(201)
}

#[tokio::test]
async fn a_memory_is_added_read_changed_forgotten_and_restored() {
    let house = House::open().await;
    let body = json!({
        "content": "Ann drinks green tea.", "layer": "user", "identifiers": { "userId": "ann" }, "kind": "preference",
        "category": "profile", "tags": ["drinks"], "metadata": { "cups": 2 }, "importance": 0.5,
        "eventTime": "2026-01-01T00:00:00Z", "threadId": "t", "source": { "type": "manual" }
    });
    let added = house.post("/v1/memories", body.clone()).await;
    let place = format!("/v1/memories/{}", added.body["id"].as_str().unwrap());
    assert_eq!(
        (&added.headers["location"], &added.headers["etag"]),
        (&place.parse().unwrap(), &"\"1\"".parse().unwrap())
    );
    let added = added.expect(201);
    assert_eq!(
        (&added["event"], &added["version"], &added["embeddingGenerated"]),
        (&json!("ADD"), &json!(1), &json!(false))
    );
    assert_eq!((&added["memory"]["kind"], &added["memory"]["tags"]), (&json!("preference"), &json!(["drinks"])));
    let again = house.post("/v1/memories?return=receipt", body).await;
    assert!(!again.headers.contains_key("location") && again.headers["etag"] == "\"1\"");
    let again = again.expect(200);
    assert_eq!((&again["event"], &again["id"], again.get("memory")), (&json!("NONE"), &added["id"], None));

    let path = format!("/v1/memories/{}", added["id"].as_str().unwrap());
    let read = house.get(&format!("{path}?userId=ann")).await;
    assert_eq!(read.headers["etag"], "\"1\"");
    assert_eq!(read.expect(200), added["memory"]);
    assert_eq!(house.get(&format!("{path}?userId=bob")).await.status, 404);

    let ann = json!({ "userId": "ann" });
    let changed = house.patch(&path, json!({ "identifiers": ann, "importance": 0.9, "version": 1 })).await;
    assert_eq!(changed.headers["etag"], "\"2\"");
    let changed = changed.expect(200);
    assert_eq!((&changed["event"], &changed["memory"]["importance"]), (&json!("UPDATE"), &json!(0.9)));
    let tagged = |tag: &str, body: Value| answer(house.request("PATCH", &path).header("If-Match", tag).json(&body));
    let stale = tagged("\"1\"", json!({ "importance": 0.1 })).await;
    assert_eq!((stale.status, &stale.body["code"]), (409, &json!("VERSION_CONFLICT")));
    tagged("\"2\"", json!({ "importance": 0.1, "version": 1 })).await.refused(400, "version");
    tagged("two", json!({ "importance": 0.1 })).await.refused(400, "If-Match");
    tagged("W/\"2\"", json!({ "importance": 0.1, "version": 2 })).await.expect(200);
    house.patch(&path, json!({})).await.refused(400, "update");

    let gone = |tag: &'static str| {
        answer(house.request("DELETE", &format!("{path}?reason=moved&userId=ann")).header("If-Match", tag))
    };
    assert_eq!(gone("\"2\"").await.status, 409);
    assert_eq!(gone("*").await.expect(200)["event"], "DELETE");
    assert_eq!(house.get(&path).await.expect(200)["state"], "soft_deleted");
    let restored = answer(house.request("POST", &format!("{path}/restore"))).await.expect(200);
    assert_eq!((&restored["event"], &restored["memory"]["state"]), (&json!("RESTORE"), &json!("active")));
}

#[tokio::test]
async fn what_the_caller_may_not_see_is_not_told() {
    let house = House::guarded().await;
    let key = house.bounded(loci_types::Role::Writer, json!({ "users": ["ann"], "agents": ["helper"] })).await;
    house.post("/v1/agents", json!({ "agentId": "helper", "settings": { "categories": ["tasks"] } })).await.expect(201);
    let body = json!({ "content": "Ann is tall." });
    let added = answer(house.request_as(&key, "POST", "/v1/memories").json(&body)).await.expect(201);
    assert_eq!(added["memory"], Value::Null);
    assert!(added.as_object().unwrap().contains_key("memory"));
}

#[tokio::test]
async fn many_are_added_at_once() {
    let house = House::open().await;
    let memories = json!([{ "content": "Ann lives in Graz." }, { "content": " " }, { "content": "Ann plays chess." }]);
    let ann = json!({ "userId": "ann" });
    let stopped =
        house.post("/v1/memories/batch", json!({ "identifiers": ann, "memories": memories })).await.expect(200);
    assert_eq!((&stopped["succeeded"], &stopped["failed"]), (&json!(1), &json!(1)));
    let problem = &stopped["results"][1]["problem"];
    assert_eq!((&problem["code"], &problem["details"]["field"]), (&json!("INVALID_INPUT"), &json!("content")));
    let body = json!({ "identifiers": ann, "memories": memories, "continueOnError": true });
    let all = house.post("/v1/memories/batch", body).await.expect(200);
    assert_eq!((&all["succeeded"], &all["failed"], &all["results"][2]["index"]), (&json!(2), &json!(1), &json!(2)));
    assert_eq!(all["results"][0]["receipt"]["event"], "NONE");
    house.post("/v1/memories/batch", json!({ "memories": [] })).await.refused(400, "memories");
    let many = vec![json!({ "content": "x" }); 501];
    house.post("/v1/memories/batch", json!({ "memories": many })).await.refused(400, "memories");
}

#[tokio::test]
async fn memories_are_listed_page_by_page() {
    let house = House::open().await;
    for n in 0..5 {
        let body = json!({
            "content": format!("Item number {n} is kept."), "identifiers": { "userId": "ann" }, "asIs": true,
            "tags": [if n % 2 == 0 { "even" } else { "odd" }], "pinned": n == 4, "importance": f64::from(n) / 4.0
        });
        house.post("/v1/memories", body).await.expect(201);
    }
    let list = async |query: &str| house.get(&format!("/v1/memories?userId=ann{query}")).await.expect(200);
    let first = list("&limit=2").await;
    assert_eq!((&first["totalCount"], first["memories"].as_array().unwrap().len()), (&json!(5), 2));
    let cursor = first["nextCursor"].as_str().unwrap();
    let rest = list(&format!("&cursor={cursor}")).await;
    assert_eq!((rest["memories"].as_array().unwrap().len(), &rest["nextCursor"]), (3, &Value::Null));
    for (query, expect) in [
        ("&tags=odd", 2),
        ("&tags=odd,even", 5),
        ("&pinned=true", 1),
        ("&importanceMin=0.5", 3),
        ("&importanceMin=0.25&importanceMax=0.5", 2),
        ("&layers=user&kinds=fact,preference", 5),
        ("&states=archived", 0),
        ("&createdAfter=2020-01-01T00:00:00Z", 5),
        ("&createdBefore=2020-01-01T00:00:00Z", 0),
        ("&threadId=other", 0),
    ] {
        assert_eq!(list(query).await["totalCount"], expect, "{query}");
    }
    for (query, field) in [
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("limit=-1", "limit"),
        ("limit=many", "limit"),
        ("layers=galaxy", "layers"),
        ("layers=", "layers"),
        ("states=alive", "states"),
        ("importanceMin=2", "importanceMin"),
        ("cursor=nonsense", "cursor"),
        ("pinned=perhaps", "pinned"),
        ("createdAfter=yesterday", "createdAfter"),
        ("createdAfter=2026-01-02T00:00:00Z&createdBefore=2026-01-01T00:00:00Z", "createdBefore"),
        ("colour=red", "colour"),
        ("userId=ann&userId=bob", "userId"),
    ] {
        house.get(&format!("/v1/memories?{query}")).await.refused(400, field);
    }
}
