//! Checkpoints over HTTP.

use loci_engine::Config;
use loci_server::Options;
use serde_json::{Value, json};

use crate::server::TestServer;

fn ids(answer: &Value) -> Vec<&str> {
    answer["data"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect()
}

// Coverage: S3-15.1.
#[tokio::test]
async fn a_thread_is_put_read_and_removed() {
    let server = TestServer::open().await;
    let who = json!({ "userId": "ann" });
    let thread = "/v1/threads/t%2F1";
    let put = async |more: Value| {
        let mut body = json!({ "identifiers": who, "data": { "messages": [1, null] }, "metadata": { "step": 1 } });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        server.post(&format!("{thread}/checkpoints"), body).await
    };
    let first = json!({ "id": "1", "expectParent": "" });
    let new = put(first.clone()).await;
    assert_eq!(new.headers["location"], "/v1/threads/t%2F1/checkpoints/1?userId=ann");
    let new = new.expect(201);
    assert_eq!((&new["id"], &new["event"], &new["data"]["threadId"]), (&json!("1"), &json!("ADD"), &json!("t/1")));
    assert!(new["data"].get("data").is_none(), "the payload is not sent back: {new}");
    assert_eq!(put(first).await.expect(200)["event"], "NONE");
    put(json!({ "id": "1", "data": 2 })).await.refused(409, "id");
    put(json!({ "id": "2", "expectParent": "" })).await.refused(409, "expectParent");
    put(json!({ "id": "2", "parentId": "1", "expectParent": "1", "metadata": { "step": 2 } })).await.expect(201);
    put(json!({ "id": "3", "parentId": "2", "format": "msgpack", "data": "AP8=" })).await.expect(201);
    let replaced =
        put(json!({ "id": "3", "parentId": "2", "format": "msgpack", "data": "AP4=", "replace": true })).await;
    assert_eq!(replaced.expect(200)["event"], "UPDATE");
    put(json!({ "id": "4", "format": "msgpack", "data": "no base64" })).await.refused(400, "data");
    put(json!({ "id": "4", "colour": "red" })).await.refused(400, "colour");
    let write = json!({ "taskId": "a", "position": -1, "channel": "messages", "data": { "text": "hi" } });
    let writes = async |id: &str| {
        let body = json!({ "identifiers": who, "writes": [write] });
        server.post(&format!("{thread}/checkpoints/{id}/writes"), body).await
    };
    assert_eq!(writes("3").await.expect(200)["event"], "UPDATE");
    writes("9").await.refused(404, "id");

    let newest = server.get(&format!("{thread}?userId=ann")).await.expect(200);
    let expect = [("id", json!("3")), ("parentId", json!("2")), ("format", json!("msgpack")), ("data", json!("AP4="))];
    for (name, value) in expect {
        assert_eq!(newest[name], value);
    }
    assert_eq!(newest["writes"][0]["data"], json!({ "text": "hi" }));
    let one = server.get(&format!("{thread}/checkpoints/1?userId=ann")).await.expect(200);
    assert_eq!(one["data"], json!({ "messages": [1, null] }));
    let list = async |query: &str| server.get(&format!("{thread}/checkpoints?userId=ann{query}")).await;
    let all = list("").await.expect(200);
    assert_eq!((ids(&all), all["data"][0].get("data")), (vec!["3", "2", "1"], None));
    let found = list("&metadata=%7B%22step%22%3A2%7D&includeData=true").await.expect(200);
    assert_eq!((ids(&found), &found["data"][0]["data"]["messages"]), (vec!["2"], &json!([1, null])));
    assert_eq!(ids(&list("&beforeId=3&limit=1").await.expect(200)), ["2"]);
    list("&metadata=no").await.refused(400, "metadata");
    let threads = server.get("/v1/threads?userId=ann").await.expect(200);
    assert_eq!((&threads["data"][0]["threadId"], &threads["data"][0]["checkpoints"]), (&json!("t/1"), &json!(3)));
    assert!(threads["data"][0]["updatedAt"].is_string());
    for path in ["checkpoints", "history"] {
        let page = server.get(&format!("{thread}/{path}?userId=ann&limit=2")).await.expect(200);
        let next = page["nextCursor"].as_str().unwrap();
        let rest = server.get(&format!("{thread}/{path}?userId=ann&limit=2&cursor={next}")).await.expect(200);
        assert_eq!((ids(&page), ids(&rest), &rest["nextCursor"]), (vec!["3", "2"], vec!["1"], &json!(null)), "{path}");
    }
    let line = server.get(&format!("{thread}/history?userId=ann&checkpointId=2")).await.expect(200);
    assert_eq!(ids(&line), ["2", "1"]);

    let remove = async |path: &str| server.delete(&format!("{thread}{path}")).await;
    server.get(&format!("{thread}?userId=bob")).await.refused(404, "threadId");
    remove("?userId=bob").await.refused(404, "threadId");
    let prune =
        async |keep: usize| server.post(&format!("{thread}/prune"), json!({ "identifiers": who, "keep": keep })).await;
    prune(0).await.refused(400, "keep");
    assert_eq!(prune(2).await.expect(200)["removedCount"], 1);
    remove("/checkpoints/2?userId=ann").await.expect(204);
    remove("/checkpoints/2?userId=ann").await.refused(404, "id");
    remove("?userId=ann").await.expect(204);
    server.get(&format!("{thread}/history?userId=ann")).await.refused(404, "threadId");
}

#[tokio::test]
async fn a_part_of_a_program_has_its_own_checkpoints() {
    let server = TestServer::open().await;
    let body = json!({ "identifiers": { "userId": "ann" }, "namespace": "a b", "id": "1", "data": 1 });
    let put = server.post("/v1/threads/t/checkpoints", body).await;
    let place = put.headers["location"].to_str().unwrap().to_owned();
    assert_eq!(place, "/v1/threads/t/checkpoints/1?namespace=a%20b&userId=ann");
    put.expect(201);
    assert_eq!(server.get(&place).await.expect(200)["namespace"], "a b");
    server.get("/v1/threads/t/checkpoints/1?userId=ann").await.refused(404, "id");
}

// Coverage: SPEC-7.7.
#[tokio::test]
async fn a_mebibyte_goes_through_and_too_much_is_refused() {
    let mut config = Config::default();
    config.limits.checkpoint_bytes = 2 << 20;
    let server = TestServer::with(Options::default(), config).await;
    let put = async |bytes: usize| {
        let data = data_encoding::BASE64.encode(&vec![7; bytes]);
        let body = json!({ "identifiers": { "userId": "ann" }, "format": "bytes", "data": data });
        server.post("/v1/threads/t/checkpoints", body).await
    };
    put(1 << 20).await.expect(201);
    assert_eq!(server.get("/v1/threads/t?userId=ann").await.expect(200)["bytes"], 1 << 20);
    let refused = put((2 << 20) + 1).await;
    assert_eq!(refused.body["details"]["field"], "data", "{:?}", refused.status);
    assert_eq!(put(4 << 20).await.status, 413, "more than the server takes at once");
}
