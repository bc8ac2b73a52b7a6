//! The stand-in for Qdrant refuses what the real server refuses.

use loci_testkit::qdrant::StandIn;
use serde_json::{Value, json};

/// A collection of three dimensions with one index and one point.
async fn server() -> StandIn {
    let server = StandIn::start_new().await;
    for (method, path, body) in [
        ("PUT", "/collections/c", json!({ "vectors": { "size": 3, "distance": "Cosine" } })),
        ("PUT", "/collections/c/index?wait=true", json!({ "field_name": "scope", "field_schema": "keyword" })),
        (
            "PUT",
            "/collections/c/points?wait=true",
            json!({ "points": [
            { "id": 7, "vector": [1, 0, 0], "payload": { "scope": "a", "gone": null, "list": [] } },
            { "id": "00000000-0000-0000-0000-000000000001", "vector": [0, 1, 0], "payload": { "scope": ["b", "c"] } },
        ] }),
        ),
    ] {
        let (status, answer) = send(&server, method, path, &body).await;
        assert_eq!((status, &answer["status"]), (200, &json!("ok")), "{path}: {answer}");
    }
    server
}

async fn send(server: &StandIn, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap();
    let request = reqwest::Client::new().request(method, format!("{}{path}", server.url())).json(body);
    let response = request.send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap())
}

// Coverage: S0.7.
#[tokio::test]
async fn what_the_real_one_refuses_is_refused() {
    let server = server().await;
    let point = |point: Value| json!({ "points": [point] });
    let query = |filter: Value| json!({ "query": [1, 0, 0], "filter": filter, "limit": 3 });
    let made = |size: Value, distance: &str| json!({ "vectors": { "size": size, "distance": distance } });
    for (method, path, body, status, message) in [
        ("GET", "/collections/none", json!({}), 404, "Not found: Collection `none` doesn't exist!"),
        ("POST", "/collections/none/points/query", query(json!({})), 404, "doesn't exist"),
        ("PUT", "/collections/none/points", point(json!({ "id": 1, "vector": [1, 0, 0] })), 404, "doesn't exist"),
        ("PUT", "/collections/c", made(json!(3), "Cosine"), 409, "already exists"),
        ("PUT", "/collections/d", made(json!(3), "Cosinus"), 400, "unknown variant `Cosinus`"),
        ("PUT", "/collections/d", made(json!(0), "Cosine"), 400, "size"),
        ("PUT", "/collections/d", json!({}), 400, "missing field `vectors`"),
        (
            "PUT",
            "/collections/d",
            json!({ "vectors": { "size": 3, "distance": "Dot", "dims": 3 } }),
            400,
            "unknown field `dims`",
        ),
        (
            "PUT",
            "/collections/c/index",
            json!({ "field_name": "x", "field_schema": "words" }),
            400,
            "PayloadFieldSchema",
        ),
        ("PUT", "/collections/c/points", point(json!({ "id": 1, "vector": [1, 0] })), 400, "expected dim: 3, got 2"),
        ("PUT", "/collections/c/points", point(json!({ "id": 1, "vector": [1, null, 0] })), 400, "VectorStruct"),
        (
            "PUT",
            "/collections/c/points",
            point(json!({ "id": "seven", "vector": [1, 0, 0] })),
            400,
            "not a valid point ID",
        ),
        ("PUT", "/collections/c/points", point(json!({ "id": -1, "vector": [1, 0, 0] })), 400, "not a valid point ID"),
        (
            "PUT",
            "/collections/c/points",
            point(json!({ "id": 1, "vector": [1, 0, 0], "text": "" })),
            400,
            "unknown field `text`",
        ),
        ("PUT", "/collections/c/points", point(json!({ "id": 1 })), 400, "missing field `vector`"),
        ("POST", "/collections/c/points/query", json!({ "query": [1], "limit": 3 }), 400, "expected dim: 3, got 1"),
        ("POST", "/collections/c/points/query", json!({ "query": [1, 0, 0], "top": 3 }), 400, "unknown field `top`"),
        ("POST", "/collections/c/points/query", json!({ "query": [1, 0, 0], "limit": 0 }), 400, "limit"),
        (
            "POST",
            "/collections/c/points/query",
            query(json!({ "must": [{ "key": "user", "match": { "value": "a" } }] })),
            400,
            "Index required but not found for \"user\"",
        ),
        (
            "POST",
            "/collections/c/points/query",
            query(json!({ "must": [{ "is_null": { "key": "gone" } }] })),
            400,
            "\"gone\"",
        ),
        (
            "POST",
            "/collections/c/points/query",
            query(json!({ "must": [{ "key": "scope", "match": { "value": null } }] })),
            400,
            "untagged enum Condition",
        ),
        (
            "POST",
            "/collections/c/points/query",
            query(json!({ "must": [{ "key": "scope", "equals": 1 }] })),
            400,
            "unknown field `equals`",
        ),
        ("POST", "/collections/c/points/count", json!({ "filter": { "all": [] } }), 400, "unknown field `all`"),
        ("POST", "/collections/c/points/scroll", json!({ "limit": 3, "after": 1 }), 400, "unknown field `after`"),
        ("POST", "/collections/c/points/search", query(json!({})), 404, "not answered here"),
    ] {
        let (found, answer) = send(&server, method, path, &body).await;
        assert_eq!(found, status, "{method} {path} {body}: {answer}");
        let error = answer["status"]["error"].as_str().unwrap_or_default();
        assert!(error.contains(message) && answer["time"].is_number(), "{method} {path} {body}: {answer}");
    }
    assert_eq!(server.payloads("c").len(), 2, "what is refused leaves nothing");
}

#[tokio::test]
async fn filters_mean_what_they_say() {
    let server = server().await;
    for field in ["gone", "list"] {
        let body = json!({ "field_name": field, "field_schema": "keyword" });
        send(&server, "PUT", "/collections/c/index", &body).await;
    }
    for (filter, expect) in [
        (json!({}), 2),
        (json!({ "must": [{ "key": "scope", "match": { "value": "a" } }] }), 1),
        (json!({ "must": [{ "key": "scope", "match": { "any": ["a", "c"] } }] }), 2),
        (json!({ "must": [{ "key": "scope", "match": { "any": [] } }] }), 0),
        (
            json!({ "should": [{ "key": "scope", "match": { "value": "a" } }, { "key": "scope", "match": { "value": "b" } }] }),
            2,
        ),
        (json!({ "must_not": [{ "key": "scope", "match": { "value": "a" } }] }), 1),
        // A field that is not there is empty, but not null.
        (json!({ "must": [{ "is_null": { "key": "gone" } }] }), 1),
        (json!({ "must": [{ "is_empty": { "key": "gone" } }] }), 2),
        (json!({ "must": [{ "is_empty": { "key": "list" } }] }), 2),
        (json!({ "must": [{ "is_empty": { "key": "scope" } }] }), 0),
        (json!({ "must": [{ "has_id": [7, 9] }] }), 1),
        (json!({ "must": [{ "must_not": [{ "has_id": [7] }] }] }), 1),
    ] {
        let (status, answer) =
            send(&server, "POST", "/collections/c/points/count", &json!({ "filter": filter, "exact": true })).await;
        assert_eq!((status, &answer["result"]["count"]), (200, &json!(expect)), "{filter}: {answer}");
    }
    let (_, nearest) =
        send(&server, "POST", "/collections/c/points/query", &json!({ "query": [0.1, 2, 0], "limit": 1 })).await;
    assert_eq!(nearest["result"]["points"][0]["id"], "00000000-0000-0000-0000-000000000001");
    let (status, gone) = send(&server, "DELETE", "/collections/none", &json!({})).await;
    assert_eq!((status, &gone["result"]), (200, &json!(false)), "removing something absent is not an error");
}
