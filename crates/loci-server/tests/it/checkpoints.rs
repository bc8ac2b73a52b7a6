//! Checkpoints over HTTP.

use loci_engine::Config;
use loci_server::Options;
use serde_json::{Value, json};

use crate::house::House;

fn ids(answer: &Value) -> Vec<&str> {
    answer["checkpoints"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_thread_is_put_read_and_removed() {
    let house = House::open().await;
    let who = json!({ "userId": "ann" });
    let put = async |more: Value| {
        let mut body = json!({ "identifiers": who, "data": { "messages": [1, null] }, "metadata": { "step": 1 } });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        house.post("/v1/checkpoints/t%2F1", body).await
    };
    let first = json!({ "id": "1", "expectParent": "" });
    assert_eq!(put(first.clone()).await.expect(201), json!({ "id": "1", "event": "ADD" }));
    assert_eq!(put(first).await.expect(200)["event"], "NONE");
    put(json!({ "id": "1", "data": 2 })).await.refused(409, "id");
    put(json!({ "id": "2", "expectParent": "" })).await.refused(409, "expectParent");
    put(json!({ "id": "2", "parentId": "1", "expectParent": "1", "metadata": { "step": 2 } })).await.expect(201);
    put(json!({ "id": "3", "parentId": "2", "format": "msgpack", "data": "AP8=" })).await.expect(201);
    put(json!({ "id": "3", "parentId": "2", "format": "msgpack", "data": "AP4=", "replace": true })).await.expect(200);
    put(json!({ "id": "4", "format": "msgpack", "data": "no base64" })).await.refused(400, "data");
    put(json!({ "id": "4", "colour": "red" })).await.refused(400, "colour");
    let write = json!({ "taskId": "a", "position": -1, "channel": "messages", "data": { "text": "hi" } });
    let writes = |id: &str| json!({ "identifiers": who, "id": id, "writes": [write] });
    assert_eq!(house.post("/v1/checkpoints/t%2F1/writes", writes("3")).await.expect(200)["put"], 1);
    house.post("/v1/checkpoints/t%2F1/writes", writes("9")).await.refused(404, "id");

    let newest = house.get("/v1/checkpoints/t%2F1?userId=ann").await.expect(200);
    let expect = [("id", json!("3")), ("parentId", json!("2")), ("format", json!("msgpack")), ("data", json!("AP4="))];
    for (name, value) in expect {
        assert_eq!(newest[name], value);
    }
    assert_eq!(newest["writes"][0]["data"], json!({ "text": "hi" }));
    let one = house.get("/v1/checkpoints/t%2F1?userId=ann&id=1").await.expect(200);
    assert_eq!(one["data"], json!({ "messages": [1, null] }));
    let list = house.get("/v1/checkpoints/t%2F1/list?userId=ann").await.expect(200);
    assert_eq!((ids(&list), list["checkpoints"][0].get("data")), (vec!["3", "2", "1"], None));
    let list =
        house.get("/v1/checkpoints/t%2F1/list?userId=ann&metadata=%7B%22step%22%3A2%7D&data=true").await.expect(200);
    assert_eq!((ids(&list), &list["checkpoints"][0]["data"]["messages"]), (vec!["2"], &json!([1, null])));
    let list = house.get("/v1/checkpoints/t%2F1/list?userId=ann&before=3&limit=1").await.expect(200);
    assert_eq!(ids(&list), ["2"]);
    house.get("/v1/checkpoints/t%2F1/list?userId=ann&metadata=no").await.refused(400, "metadata");
    let line = house.get("/v1/checkpoints/t%2F1/history?userId=ann").await.expect(200);
    assert_eq!(ids(&line), ["3", "2", "1"]);
    let threads = house.get("/v1/checkpoints?userId=ann").await.expect(200);
    assert_eq!((&threads["threads"][0]["threadId"], &threads["threads"][0]["checkpoints"]), (&json!("t/1"), &json!(3)));

    house.get("/v1/checkpoints/t%2F1?userId=bob").await.refused(404, "threadId");
    assert_eq!(house.delete("/v1/checkpoints/t%2F1?userId=bob").await.expect(200)["removed"], 0);
    house.delete("/v1/checkpoints/t%2F1?userId=ann&id=1&keep=1").await.refused(400, "keep");
    assert_eq!(house.delete("/v1/checkpoints/t%2F1?userId=ann&keep=2").await.expect(200)["removed"], 1);
    assert_eq!(house.delete("/v1/checkpoints/t%2F1?userId=ann&id=2").await.expect(200)["removed"], 1);
    assert_eq!(house.delete("/v1/checkpoints/t%2F1?userId=ann").await.expect(200)["removed"], 1);
    house.get("/v1/checkpoints/t%2F1/history?userId=ann").await.refused(404, "threadId");
}

#[tokio::test]
async fn a_mebibyte_goes_through_and_too_much_is_refused() {
    let mut config = Config::default();
    config.limits.checkpoint_bytes = 2 << 20;
    let house = House::with(Options::default(), config).await;
    let put = async |bytes: usize| {
        let data = data_encoding::BASE64.encode(&vec![7; bytes]);
        let body = json!({ "identifiers": { "userId": "ann" }, "format": "bytes", "data": data });
        house.post("/v1/checkpoints/t", body).await
    };
    put(1 << 20).await.expect(201);
    assert_eq!(house.get("/v1/checkpoints/t?userId=ann").await.expect(200)["bytes"], 1 << 20);
    let refused = put((2 << 20) + 1).await;
    assert_eq!(refused.body["details"]["field"], "data", "{:?}", refused.status);
    assert_eq!(put(4 << 20).await.status, 413, "more than the server takes at once");
}
