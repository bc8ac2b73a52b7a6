//! Files of Loci and of others come in as streams.

use loci_engine::{Caller, Config};
use loci_server::{Options, ServerOptions};
use loci_types::Role;
use serde_json::{Value, json};

use crate::server::{Answer, TestServer, answer};

async fn send(server: &TestServer, query: &str, kind: &str, body: impl Into<reqwest::Body>) -> Answer {
    let request = server.request("POST", &format!("/v1/import{query}"));
    answer(request.header("content-type", kind).body(body)).await
}

async fn memories(server: &TestServer) -> u64 {
    server.engine.stats(&Caller::operator()).await.unwrap().memories
}

fn counts(report: &Value) -> [u64; 3] {
    ["imported", "skipped", "refused"].map(|name| report[name].as_u64().unwrap())
}

const LINES: &str = "application/x-ndjson";
const JSON: &str = "application/json";

// Coverage: SPEC-8.4.
#[tokio::test(flavor = "multi_thread")]
async fn files_of_others_are_recognised_and_counted() {
    let server = TestServer::open().await;
    let mem0 = json!({ "results": [
        { "id": "1", "memory": "Likes aisle seats", "user_id": "zed", "created_at": "2024-07-20T01:30:36Z" },
        { "id": "2", "memory": "" },
        { "id": "3", "memory": "Plays chess", "created_at": "2024-07-20T01:30:36Z" },
    ] });
    let chatgpt = json!([{
        "id": "c1", "title": "Trip", "create_time": 1_700_000_000.0, "current_node": "b",
        "mapping": {
            "a": { "parent": null, "message": { "id": "m1", "author": { "role": "user" }, "create_time": 1_700_000_000.0,
                "content": { "content_type": "text", "parts": ["I am going to Lisbon"] } } },
            "b": { "parent": "a", "message": { "id": "m2", "author": { "role": "assistant" }, "create_time": 1_700_000_001.0,
                "content": { "content_type": "text", "parts": ["Have fun"] } } },
        },
    }]);
    let graph =
        "{\"type\":\"entity\",\"name\":\"Ann\",\"entityType\":\"person\",\"observations\":[\"likes tea\"]}\nnonsense\n";
    for (format, kind, body, expect) in [
        ("mem0", JSON, mem0.to_string(), [2, 0, 1]),
        ("chatgpt", JSON, chatgpt.to_string(), [2, 0, 0]),
        ("mcp_memory", LINES, graph.to_owned(), [2, 0, 1]),
        ("markdown", "text/markdown", "# Trip\n\nPack the tent.\n".to_owned(), [1, 0, 0]),
        ("loci", LINES, "{\"content\":\"ann paints\"}\n".to_owned(), [1, 0, 0]),
    ] {
        let before = memories(&server).await;
        let dry = send(&server, "?userId=ann&dryRun=true", kind, body.clone()).await.expect(200);
        assert_eq!((&dry["format"], &dry["dryRun"]), (&json!(format), &json!(true)), "{dry}");
        assert_eq!(memories(&server).await, before, "{format}: nothing is written");
        let report = send(&server, "?userId=ann", kind, body.clone()).await.expect(200);
        assert_eq!(counts(&report), expect, "{format}: {report}");
        assert!(memories(&server).await > before, "{format}");
        let named = send(&server, &format!("?userId=ann&format={format}"), kind, body).await.expect(200);
        assert_eq!(named["refused"], expect[2], "{format}: {named}");
        if expect[2] > 0 {
            let place = named["problems"][0]["place"].as_str().unwrap();
            assert!(place == "entry 2" || place == "line 2" && named["problems"][0]["line"] == 2, "{named}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_come_as_a_stream_of_any_length() {
    let server = ServerOptions { body_bytes: 1_024, import_bytes: 4_096, ..ServerOptions::default() };
    let server = TestServer::with(Options { server, ..Options::default() }, Config::default()).await;
    let line = |number: usize| format!("{}\n", json!({ "content": format!("memory {number} {}", "x".repeat(900)) }));
    // It arrives in pieces that end anywhere, also within a letter.
    let body: Vec<u8> = (0..1_500).map(line).collect::<String>().replace('x', "é").into_bytes();
    assert!(body.len() > 2 << 20, "{}", body.len());
    let report = send(&server, "?userId=ann", LINES, body).await.expect(200);
    assert_eq!(counts(&report), [1_500, 0, 0], "{report}");
    // Other formats are bounded.
    let list: Vec<Value> =
        (0..200).map(|n| json!({ "id": n.to_string(), "memory": format!("fact number {n}") })).collect();
    let large = send(&server, "?userId=ann&format=mem0", JSON, json!(list).to_string()).await;
    large.refused(413, "body");
    let notes = send(&server, "?userId=ann", "text/markdown", "x ".repeat(4_096)).await;
    notes.refused(413, "body");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_that_cannot_be_read_is_named_and_ends_it() {
    let server = TestServer::open().await;
    let good = "{\"content\":\"one\"}\n\n{\"content\":\"two\"}\n";
    for bad in ["{", "{\"content\":7}", "{\"content\":\"\"}", "{\"content\":\"x\",\"importance\":7}", "[]", "\u{0}"] {
        let refused = send(&server, "?userId=ann", LINES, format!("{good}{bad}\n{{\"content\":\"never\"}}\n")).await;
        assert_eq!((refused.status, &refused.body["details"]["line"]), (400, &json!(4)), "{bad}: {}", refused.text);
        assert!(refused.body["detail"].as_str().unwrap().starts_with("line 4: "), "{}", refused.text);
    }
    let invalid = [good.as_bytes(), b"{\"content\":\"\xff\"}\n"].concat();
    assert_eq!(send(&server, "?userId=ann", LINES, invalid).await.body["details"]["line"], 4);
    assert_eq!(memories(&server).await % 2, 0, "only what came before is kept");
    // A conflict is counted and reported with its line.
    let export = server.get("/v1/export?everyone=true").await.text;
    let changed = export.replacen("\"one\"", "\"eins\"", 1);
    let report = send(&server, "", LINES, changed).await.expect(200);
    assert_eq!((&report["conflicts"], &report["problems"][0]["line"]), (&json!(1), &json!(2)), "{report}");
    assert_eq!(send(&server, "", LINES, "").await.expect(200)["imported"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_fit_is_refused() {
    let server = TestServer::guarded().await;
    for (kind, query) in [
        ("application/zip", ""),
        ("text/html", ""),
        ("image/png", "?format=loci"),
        ("text/markdown", "?format=loci"),
        (JSON, "?format=markdown"),
    ] {
        send(&server, query, kind, "{}").await.refused(415, "Content-Type");
    }
    send(&server, "?format=word", LINES, "{}").await.refused(400, "format");
    send(&server, "?colour=red", LINES, "{}").await.refused(400, "colour");
    send(&server, "?userId=ann&format=mem0", JSON, "").await.refused(400, "body");
    send(&server, "?userId=ann&format=chatgpt", JSON, "[1,2]").await.refused(400, "body");
    send(&server, "?userId=ann", "text/markdown", " \n").await.refused(400, "body");
    send(&server, "?userId=ann&format=graph", LINES, "x").await.refused(400, "body");
    for role in [Role::Reader, Role::Writer] {
        let key = server.bounded(role, json!({ "users": ["ann"] })).await;
        let sent =
            server.request_as(&key, "POST", "/v1/import").header("content-type", LINES).body("{\"content\":\"x\"}");
        assert_eq!(answer(sent).await.status, 403);
    }
    assert_eq!(answer(server.anonymous("POST", "/v1/import").body("{\"content\":\"x\"}")).await.status, 401);
    assert_eq!(memories(&server).await, 0);
}
