//! Nobody's flood takes what others hold in working memory and sessions, and no error repeats a large input.

use loci_types::{Grant, Role, Tenant};
use serde_json::{Value, json};

use loci_server::{Options, ServerOptions};

use crate::server::{TestServer, answer};

/// Without a limit of requests, so that a flood is as fast as it can be.
fn unlimited() -> Options {
    Options { server: ServerOptions { requests_per_second: 0, ..ServerOptions::default() }, ..Options::default() }
}

/// attack B3: one key floods scratchpads; those of another user and of another tenant stay.
#[tokio::test]
async fn a_flood_of_scratchpads_evicts_only_its_own() {
    let server = TestServer::guarded_with(unlimited()).await;
    let bob = server.bounded(Role::Writer, json!({ "users": ["bob"] })).await;
    let acme = server.key(Grant { role: Role::Writer, ..Grant::whole(Tenant::new("acme").unwrap()) }).await;
    let set = async |key: Option<&str>, user: &str, session: &str, text: &str| {
        let request = match key {
            Some(key) => server.request_as(key, "PUT", "/v1/working/scratchpad"),
            None => server.request("PUT", "/v1/working/scratchpad"),
        };
        let body = json!({ "identifiers": { "userId": user, "sessionId": session }, "text": text });
        assert_eq!(answer(request.json(&body)).await.status, 200);
    };
    set(None, "ann", "s", "ann's plan").await;
    set(Some(&acme), "eve", "s", "acme's plan").await;
    for number in 0..1_500 {
        set(Some(&bob), "bob", &format!("s{number}"), "x").await;
    }
    let ann = server.get("/v1/working?userId=ann&sessionId=s").await.expect(200);
    assert_eq!(ann["scratchpad"], "ann's plan");
    let eve = answer(server.request_as(&acme, "GET", "/v1/working?userId=eve&sessionId=s")).await.expect(200);
    assert_eq!(eve["scratchpad"], "acme's plan");
    server.close().await;
}

/// attack B3: one key floods entries of sessions with a hundred times what the tier holds; important entries of others
/// stay and are promoted.
#[tokio::test]
async fn a_flood_of_session_entries_evicts_only_its_own() {
    let server = TestServer::with(unlimited(), loci_engine::Config::default()).await;
    let put = async |user: &str, session: &str, body: Value| {
        let mut body = body;
        body["identifiers"] = json!({ "userId": user });
        let put = server.post(&format!("/v1/sessions/{session}/entries"), body).await;
        assert!(put.status < 300, "{}", put.text);
    };
    put("ann", "monday", json!({ "content": "Ann is allergic to nuts", "importance": 0.9 })).await;
    for number in 0..1_500 {
        let metadata = json!({ "padding": "x".repeat(60_000) });
        put("bob", &format!("fl{number}"), json!({ "content": "x", "metadata": metadata })).await;
    }
    let kept = server.get("/v1/sessions/monday/entries?userId=ann").await.expect(200);
    assert_eq!(kept["data"][0]["content"], "Ann is allergic to nuts", "{kept}");
    server.post("/v1/sessions/monday/end", json!({ "identifiers": { "userId": "ann" } })).await.expect(200);
    let learned = server.get("/v1/memories?userId=ann").await.expect(200);
    assert_eq!(learned["data"][0]["content"], "Ann is allergic to nuts", "{learned}");
    server.close().await;
}

/// attack B16: a megabyte of a tag, a kind, a layer or a field name is not repeated in the error.
#[tokio::test]
async fn errors_do_not_repeat_a_large_input() {
    let server = TestServer::with(unlimited(), loci_engine::Config::default()).await;
    let long = "x".repeat(1 << 20);
    let memory = |more: Value| {
        let mut body = json!({ "content": "Ann sings", "identifiers": { "userId": "ann" } });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    for more in [
        json!({ "tags": [long] }),
        json!({ "kind": long }),
        json!({ "layer": long }),
        json!({ "category": long }),
        json!({ (long.clone()): 1 }),
        json!({ "metadata": { (long.clone()): "\u{0}" } }),
        json!({ "identifiers": { (long.clone()): 1 } }),
        json!({ "expiresAt": long }),
    ] {
        let refused = server.post("/v1/memories", memory(more)).await;
        assert!((400..500).contains(&refused.status), "{}", refused.status);
        assert!(refused.text.len() < 3_000, "{} bytes: {}…", refused.text.len(), &refused.text[..300]);
    }
    server.close().await;
}

/// attack B19: the usual "for ever" is accepted.
#[tokio::test]
async fn the_end_of_the_year_9999_means_for_ever() {
    let server = TestServer::with(unlimited(), loci_engine::Config::default()).await;
    for field in ["expiresAt", "validUntil"] {
        let body = json!({
            "content": format!("Ann has {field}"), "identifiers": { "userId": "ann" }, field: "9999-12-31T23:59:59Z"
        });
        let added = server.post("/v1/memories", body).await;
        assert_eq!(added.status, 201, "{}", added.text);
        let id = added.body["id"].as_str().unwrap();
        let stored = server.get(&format!("/v1/memories/{id}?userId=ann")).await.expect(200);
        assert!(stored[field].as_str().is_some_and(|at| at.starts_with("9999-12-30T22:00:00")), "{stored}");
    }
    server.close().await;
}

/// attack B17: an import is validated like a write.
#[tokio::test]
async fn an_import_takes_only_what_a_write_takes() {
    let server = TestServer::with(unlimited(), loci_engine::Config::default()).await;
    let id = |number: u8| format!("0194fdc2-fa2f-7fc0-b1d3-aa2ca9a4f2{number:02x}");
    let made = server.post("/v1/memories", json!({ "content": "Ann sings", "identifiers": { "userId": "ann" } })).await;
    let lines = |more: &[(u8, Value)]| {
        let line = |(number, more): &(u8, Value)| {
            let mut line = made.body["data"].clone();
            line["id"] = id(*number).into();
            line["content"] = format!("Ann sings {number}").into();
            line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            line.to_string()
        };
        more.iter().map(line).collect::<Vec<_>>().join("\n")
    };
    let import = async |text: String| {
        let request = server.request("POST", "/v1/import?userId=ann").header("content-type", "application/x-ndjson");
        answer(request.body(text)).await
    };
    for (case, text) in [
        ("rate", lines(&[(1, json!({ "decayRate": 1e308 }))])),
        ("itself", lines(&[(2, json!({ "supersedesId": id(2) }))])),
        (
            "cycle",
            lines(&[
                (3, json!({ "supersedesId": id(4), "supersededById": id(4) })),
                (4, json!({ "supersedesId": id(3), "supersededById": id(3) })),
            ]),
        ),
        ("unknown", lines(&[(5, json!({ "tenant": "acme" }))])),
    ] {
        let done = import(text).await;
        assert!(done.status >= 400 || done.body["imported"] == 0, "{case}: {}", done.text);
    }
    let good = import(lines(&[(6, json!({ "tokens": 1_000_000 }))])).await;
    assert_eq!((good.status, &good.body["imported"]), (200, &json!(1)), "{}", good.text);
    let read = server.get(&format!("/v1/memories/{}?userId=ann", id(6))).await.expect(200);
    assert!(read["data"]["tokens"].as_u64().or(read["tokens"].as_u64()).is_none_or(|tokens| tokens < 100), "{read}");
    server.close().await;
}
