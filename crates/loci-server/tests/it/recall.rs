//! Questions over HTTP: results, pages, packed text, windows and batches.

use std::collections::BTreeSet;

use loci_engine::pack::tokens::count_tokens;
use loci_engine::{Caller, Config, ListRequest, NewMemory, NewPool};
use loci_server::Options;
use loci_types::{Identifiers, Role};
use serde_json::{Value, json};

use crate::server::{TestServer, answer};

/// Ann, as the caller of the engine.
fn ann() -> Caller {
    Caller::new(Identifiers { user_id: Some("ann".to_owned()), ..Identifiers::default() })
}

async fn remember(server: &TestServer, content: &str) {
    let new = NewMemory { content: content.to_owned(), as_is: true, ..NewMemory::default() };
    server.engine.remember(&ann(), new).await.unwrap();
}

/// A server with this number of memories of Ann.
async fn lamps(count: usize) -> TestServer {
    let server = TestServer::open().await;
    for number in 0..count {
        remember(&server, &format!("Lamp number {number} hangs in the long corridor of the old server")).await;
    }
    server
}

/// The question with Ann's identifiers and these fields.
fn ask(query: &str, more: Value) -> Value {
    let mut body = json!({ "query": query, "identifiers": { "userId": "ann" } });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

fn ids(answer: &Value) -> Vec<String> {
    let data = answer["data"].as_array().unwrap();
    data.iter().map(|result| result["memory"]["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_matters_is_found_and_says_why_if_asked() {
    let server = TestServer::open().await;
    remember(&server, "Ann drinks green tea in the morning.").await;
    remember(&server, "Ann works on the Atlas project.").await;
    let tea = |more: Value| ask("What tea does Ann drink?", more);
    let found = server.post("/v1/recall", tea(json!({}))).await.expect(200);
    let first = &found["data"][0];
    assert!(first["memory"]["content"].as_str().unwrap().contains("tea"));
    assert_eq!((first.get("explain"), &found["degraded"]), (None, &json!(["vector"])));
    assert!(found["confidence"].is_f64() && found["intent"].is_string() && found["nextCursor"].is_null(), "{found}");
    assert!(found.get("pack").is_none() && found.get("window").is_none());
    let found = server.post("/v1/recall", tea(json!({ "explain": true, "limit": 1 }))).await.expect(200);
    assert!(found["data"][0]["explain"]["lanes"].is_array());
    assert_eq!(found["data"].as_array().unwrap().len(), 1);
    let filtered = tea(json!({ "filter": { "tags": ["none"] } }));
    let none = server.post("/v1/recall", filtered).await.expect(200);
    assert_eq!((&none["data"], &none["answered"]), (&json!([]), &json!("no")));
    for (more, status, field) in [
        (json!({ "query": " " }), 400, "query"),
        (json!({ "query": "q".repeat(9_000) }), 413, "query"),
        (json!({ "limit": 0 }), 400, "limit"),
        (json!({ "limit": 101 }), 400, "limit"),
        (json!({ "threshold": 1.1 }), 400, "threshold"),
        (json!({ "cursor": "b2Zmc2V0OjE" }), 400, "cursor"),
        (json!({ "now": "soon" }), 400, "now"),
        (json!({ "filter": { "layer": ["team"] } }), 400, "teamId"),
        (json!({ "filter": { "layer": ["galaxy"] } }), 400, "filter.layer[0]"),
        (json!({ "layers": ["user"] }), 400, "layers"),
        (json!({ "strategy": "luck" }), 400, "strategy"),
        (json!({ "filter": { "importanceMin": 3 } }), 400, "filter.importanceMin"),
        (json!({ "filter": { "colour": "red" } }), 400, "filter.colour"),
        (json!({ "filter": { "tags": vec!["t"; 257] } }), 400, "filter.tags"),
        (json!({ "fields": ["content", "colour"] }), 400, "fields[1]"),
        (json!({ "fields": [] }), 400, "fields"),
        (json!({ "pack": {}, "window": {} }), 400, "window"),
        (json!({ "pack": { "budgetTokens": 1_000_001 } }), 400, "pack.budgetTokens"),
        (json!({ "pack": { "format": "poem" } }), 400, "pack.format"),
        (json!({ "pack": { "colour": "red" } }), 400, "pack.colour"),
        (json!({ "afterRevision": 1 }), 400, "afterRevision"),
        (json!({ "changesThreadId": "t", "pack": {} }), 400, "changesThreadId"),
    ] {
        server.post("/v1/recall", tea(more)).await.refused(status, field);
    }
    let wrong = server.post("/v1/recall", tea(json!({ "fields": ["colour"] }))).await;
    assert!(wrong.body["detail"].as_str().unwrap().contains("colour"), "{}", wrong.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_fields_that_are_asked_for_are_returned() {
    let server = lamps(2).await;
    let whole = server.post("/v1/recall", ask("lamp", json!({ "limit": 1 }))).await.expect(200);
    let memory = &whole["data"][0]["memory"];
    let fields = json!({ "limit": 1, "fields": ["content", "createdAt", "category"] });
    let part = server.post("/v1/recall", ask("lamp", fields)).await.expect(200);
    let expect = json!({ "id": memory["id"], "content": memory["content"], "createdAt": memory["createdAt"] });
    assert_eq!(part["data"][0]["memory"], expect, "a memory without a category has no such field");
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_join_without_repeats_and_count_a_use_once() {
    let server = lamps(45).await;
    let whole: BTreeSet<String> = {
        let all = ask("lamp in the corridor", json!({ "limit": 100 }));
        let found = server.post("/v1/recall", all).await.expect(200);
        assert!(found["nextCursor"].is_null());
        ids(&found).into_iter().collect()
    };
    assert_eq!(whole.len(), 45);
    for strategy in ["hybrid", "lexical", "recency", "importance"] {
        for limit in [1, 7, 20] {
            let (mut seen, mut cursor, mut first) = (Vec::new(), Value::Null, None);
            loop {
                let body = json!({ "limit": limit, "strategy": strategy, "cursor": cursor });
                let page = server.post("/v1/recall", ask("lamp in the corridor", body)).await.expect(200);
                let here = ids(&page);
                assert!(!here.is_empty() && here.len() <= limit, "{strategy} {limit}: {page}");
                let same = (page["answered"].clone(), page["confidence"].clone());
                assert_eq!(*first.get_or_insert(same.clone()), same, "{strategy} {limit}");
                seen.extend(here);
                cursor = page["nextCursor"].clone();
                if cursor.is_null() || limit == 1 && seen.len() == 3 {
                    break;
                }
            }
            let distinct: BTreeSet<String> = seen.iter().cloned().collect();
            assert_eq!(distinct.len(), seen.len(), "{strategy} by {limit} repeats nothing");
            assert!(limit == 1 || distinct == whole, "{strategy} by {limit} skips nothing");
        }
    }

    // What one page returned is not counted again by the next.
    let server = lamps(6).await;
    let mut cursor = Value::Null;
    for _ in 0..3 {
        let body = ask("lamp in the corridor", json!({ "limit": 2, "cursor": cursor }));
        cursor = server.post("/v1/recall", body).await.expect(200)["nextCursor"].clone();
    }
    server.engine.flush().await;
    let listed = server.engine.list(&ann(), ListRequest::default()).await.unwrap();
    assert!(listed.memories.iter().all(|memory| memory.access_count <= 1), "each page counts its own");
    assert!(listed.memories.iter().any(|memory| memory.access_count == 1), "they were used");
    let other = json!({ "cursor": "cmFua2VkOg", "pack": {} });
    server.post("/v1/recall", ask("lamp", other)).await.refused(400, "cursor");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pack_never_exceeds_its_budget_and_tells_what_changed() {
    let server = lamps(30).await;
    for format in ["markdown", "bullets", "messages", "json"] {
        for budget in [0, 1, 40, 200, 1_000] {
            for summarize in [false, true] {
                let pack = json!({ "budgetTokens": budget, "format": format, "summarize": summarize });
                let body = ask("lamp in the corridor", json!({ "limit": 30, "pack": pack, "afterRevision": 0 }));
                let found = server.post("/v1/recall", body).await.expect(200);
                let pack = &found["pack"];
                let tokens = pack["tokens"].as_u64().unwrap();
                let counted = count_tokens(pack["text"].as_str().unwrap()) as u64;
                assert!(tokens <= budget && counted <= budget, "{format} {budget}: {pack}");
                assert_eq!(pack["budgetTokens"], budget);
                let shown = pack["cited"].as_array().unwrap().len() + pack["leftOut"].as_array().unwrap().len();
                assert_eq!(shown, found["data"].as_array().unwrap().len(), "each result is cited or left out");
            }
        }
    }
    let pack = |more: Value| ask("lamp in the corridor", more);
    let seen = server.post("/v1/recall", pack(json!({ "pack": {} }))).await.expect(200);
    assert!(!seen["pack"]["text"].as_str().unwrap().contains("Memory updates"));
    assert!(!seen["pack"]["cited"].as_array().unwrap().is_empty());
    remember(&server, "The corridor has a new lamp of brass").await;
    let since = json!({ "pack": {}, "afterRevision": seen["pack"]["revision"] });
    let next = server.post("/v1/recall", pack(since)).await.expect(200);
    assert!(next["pack"]["text"].as_str().unwrap().starts_with("Memory updates since rev"), "{next}");
    let elsewhere = json!({ "pack": {}, "afterRevision": seen["pack"]["revision"], "changesThreadId": "another" });
    let other = server.post("/v1/recall", pack(elsewhere)).await.expect(200);
    assert!(!other["pack"]["text"].as_str().unwrap().contains("Memory updates"), "{other}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_is_filled() {
    let server = TestServer::open().await;
    remember(&server, "Ann drinks green tea in the morning.").await;
    let window = json!({
        "system": "You are kind.", "tokens": 4000, "history": [{ "role": "user", "content": "Hello" }],
        "tools": ["search: looks things up"]
    });
    let body = ask("Which tea?", json!({ "window": window, "threadId": "t", "fields": ["content"] }));
    let made = server.post("/v1/recall", body).await.expect(200);
    let filled = &made["window"];
    assert!(filled["memory"]["text"].as_str().unwrap().contains("green tea"));
    assert_eq!(filled["memory"]["cited"], json!([made["data"][0]["memory"]["id"]]));
    let messages = filled["messages"].as_array().unwrap();
    let contents: Vec<&str> = messages.iter().map(|message| message["content"].as_str().unwrap()).collect();
    assert_eq!((contents[0], contents[2], contents[3]), ("You are kind.", "Hello", "Which tea?"));
    let tokens: u64 = filled["tokens"].as_object().unwrap().values().map(|part| part.as_u64().unwrap()).sum();
    assert!(tokens + filled["budgets"]["output"].as_u64().unwrap() <= 4_000 && filled["revision"].is_i64());
    for (field, value, status, named) in [
        ("tokens", json!(0), 400, "window.tokens"),
        ("tokens", json!(5), 413, "window.system"),
        ("memoryPercent", json!(101), 400, "window.memoryPercent"),
        ("format", json!("poem"), 400, "window.format"),
        ("history", json!([{ "role": "user" }]), 400, "window.history[0].content"),
        ("colour", json!("red"), 400, "window.colour"),
    ] {
        let mut window = window.clone();
        window[field] = value;
        server.post("/v1/recall", ask("Which tea?", json!({ "window": window }))).await.refused(status, named);
    }
    let small = json!({ "window": { "tokens": 10 } });
    server.post("/v1/recall", ask(&"tea ".repeat(40), small)).await.refused(413, "query");
}

#[tokio::test(flavor = "multi_thread")]
async fn several_questions_are_answered_in_order() {
    let server = TestServer::open().await;
    let things = ["tea", "lamp", "kite", "boat", "bread", "piano", "cat", "bicycle"];
    for thing in things {
        remember(&server, &format!("The {thing} of Ann is called {thing}issimo.")).await;
    }
    let who = json!({ "userId": "ann" });
    let question = |thing: &str| json!({ "query": format!("What is the {thing} called?"), "limit": 1 });
    let mut queries: Vec<Value> = things.iter().map(|thing| question(thing)).collect();
    queries[2]["limit"] = 0.into();
    queries[3]["pack"] = json!({ "budgetTokens": 100 });
    let batch = |queries: Value| json!({ "identifiers": who, "queries": queries });
    let response = server.post("/v1/recall/batch", batch(queries.into())).await.expect(200);
    let data = response["data"].as_array().unwrap();
    assert_eq!(data.len(), things.len());
    for (index, (thing, outcome)) in things.iter().zip(data).enumerate() {
        assert_eq!(outcome["index"], index);
        if index == 2 {
            assert_eq!(outcome["problem"]["details"]["field"], "queries[2].limit", "{outcome}");
            assert!(outcome.get("answer").is_none());
            continue;
        }
        let answer = &outcome["answer"];
        let content = answer["data"][0]["memory"]["content"].as_str().unwrap();
        assert!(content.contains(&format!("{thing}issimo")) && outcome.get("problem").is_none(), "{outcome}");
        assert_eq!(answer.get("pack").is_some(), index == 3, "{outcome}");
    }
    // If all queries fail, the call fails; a malformed query fails at once.
    let all = server.post("/v1/recall/batch", batch(json!([{ "query": " " }, { "query": "x", "limit": 0 }]))).await;
    all.refused(400, "queries[0].query");
    for (queries, field) in [
        (json!([]), "queries"),
        (json!(vec![question("tea"); 21]), "queries"),
        (json!(["What tea?"]), "queries[0]"),
        (json!([question("tea"), { "limit": 1 }]), "queries[1].query"),
    ] {
        server.post("/v1/recall/batch", batch(queries)).await.refused(400, field);
    }
    let nobody = json!({ "identifiers": { "teamId": "" }, "queries": [question("tea")] });
    server.post("/v1/recall/batch", nobody).await.refused(400, "teamId");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pool_is_asked_by_its_members_alone() {
    let server = TestServer::guarded().await;
    let members = vec!["owl".to_owned()];
    let new = NewPool { pool_id: "physics".into(), name: None, agent_ids: members };
    server.engine.create_pool(&Caller::operator(), new).await.unwrap();
    let owl = Caller::new(Identifiers {
        agent_id: Some("owl".into()),
        user_id: Some("ann".into()),
        pool_id: Some("physics".into()),
        ..Identifiers::default()
    });
    let secret = NewMemory { content: "Neutrons are kept in zanzibar".into(), ..NewMemory::default() };
    server.engine.contribute(&owl, secret).await.unwrap();
    remember(&server, "Ann keeps neutrons of her own in the cellar").await;
    let bounds = |agent: &str| json!({ "agents": [agent], "users": ["ann"], "pools": ["physics"] });
    let member = server.bounded(Role::Reader, bounds("owl")).await;
    let outsider = server.bounded(Role::Reader, bounds("spy")).await;
    let ask = async |key: &str, identifiers: Value, layer: Option<&str>| {
        let filter = layer.map_or_else(|| json!({}), |layer| json!({ "layer": [layer] }));
        let body = json!({ "query": "Where are neutrons kept?", "identifiers": identifiers, "filter": filter });
        answer(server.request_as(key, "POST", "/v1/recall").json(&body)).await
    };
    // The key fills in who asks, if the pool alone is named and asked; and nothing but the pool answers.
    for named in [json!({ "poolId": "physics" }), json!({ "poolId": "physics", "agentId": "owl" })] {
        let found = ask(&member, named.clone(), Some("pool")).await.expect(200);
        let layers: Vec<&Value> =
            found["data"].as_array().unwrap().iter().map(|result| &result["memory"]["layer"]).collect();
        assert_eq!(layers, ["pool"], "{named}: {found}");
        assert!(found.to_string().contains("zanzibar"));
    }
    for layer in [Some("pool"), Some("user"), None] {
        for named in [
            json!({ "poolId": "physics" }),
            json!({ "poolId": "physics", "agentId": "spy" }),
            json!({ "poolId": "physics", "userId": "ann" }),
        ] {
            let refused = ask(&outsider, named.clone(), layer).await;
            refused.refused(403, "poolId");
            assert!(!refused.text.contains("zanzibar"), "{named}");
        }
    }
    ask(&outsider, json!({ "poolId": "physics", "agentId": "owl" }), Some("pool")).await.refused(403, "agentId");
    ask(&outsider, json!({ "poolId": "nowhere" }), Some("pool")).await.refused(403, "poolId");
    let body = json!({
        "identifiers": { "poolId": "physics" },
        "queries": [{ "query": "neutrons", "filter": { "layer": ["pool"] } }, { "query": "neutrons" }]
    });
    let batch = answer(server.request_as(&outsider, "POST", "/v1/recall/batch").json(&body)).await;
    batch.refused(403, "poolId");
    // A caller who is not a member and does not name the pool sees everything except the pool.
    let own = ask(&outsider, json!({}), None).await.expect(200);
    assert!(own.to_string().contains("cellar") && !own.to_string().contains("zanzibar"), "{own}");
    // The operator may look into every pool.
    let all = json!({ "query": "neutrons", "identifiers": { "poolId": "physics" }, "filter": { "layer": ["pool"] } });
    assert_eq!(server.post("/v1/recall", all).await.expect(200)["data"].as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn now_may_be_a_day() {
    let mut config = Config::default();
    config.retrieval.time_zone = "Asia/Tokyo".to_owned();
    let server = TestServer::with(Options::default(), config).await;
    let new = NewMemory {
        content: "The ticket to the opera is valid".to_owned(),
        valid_from: Some("2126-01-01T00:00:00Z".parse().unwrap()),
        valid_until: Some("2126-01-31T00:00:00Z".parse().unwrap()),
        ..NewMemory::default()
    };
    server.engine.remember(&ann(), new).await.unwrap();
    // In Tokyo the last day of January begins nine hours before the ticket ends.
    for (now, found) in [("2126-01-31", 1), ("2126-02-01", 0), ("2126-01-31T00:00:01Z", 0)] {
        let answer = server.post("/v1/recall", ask("opera ticket", json!({ "now": now }))).await.expect(200);
        assert_eq!(answer["data"].as_array().unwrap().len(), found, "{now}: {answer}");
    }
}

// Coverage: S2.19.
#[tokio::test(flavor = "multi_thread")]
async fn a_search_goes_layer_by_layer() {
    let server = TestServer::open().await;
    let both = json!({ "userId": "ann", "projectId": "atlas" });
    for (layer, content) in [("user", "Ann likes tea."), ("project", "The project tea budget is ten euros.")] {
        let body = json!({ "content": content, "layer": layer, "identifiers": both, "tags": ["drinks"] });
        server.post("/v1/memories", body).await.expect(201);
    }
    let body = json!({ "query": "tea", "identifiers": both, "limit": 10, "filter": { "tags": ["drinks"] } });
    let found = server.post("/v1/memories/search", body).await.expect(200);
    assert_eq!((&found["totalCount"], &found["searchedLayers"]), (&json!(2), &json!(["user", "project"])));
    assert_eq!((&found["data"][0]["layer"], &found["data"][1]["layer"]), (&json!("user"), &json!("project")));
    assert!(found["nextCursor"].is_null() && found["degraded"] == json!(["vector"]), "{found}");
    let one = json!({ "query": "tea", "identifiers": both, "filter": { "layer": ["project"] } });
    let one = server.post("/v1/memories/search", one).await.expect(200);
    assert_eq!((&one["totalCount"], &one["searchedLayers"]), (&json!(1), &json!(["project"])));
    let page = |cursor: Value| json!({ "query": "tea", "identifiers": both, "limit": 1, "cursor": cursor });
    let first = server.post("/v1/memories/search", page(Value::Null)).await.expect(200);
    let second = server.post("/v1/memories/search", page(first["nextCursor"].clone())).await.expect(200);
    assert_eq!((&first["data"][0]["layer"], &second["data"][0]["layer"]), (&json!("user"), &json!("project")));
    assert!(second["nextCursor"].is_null(), "{second}");
    for (field, value) in
        [("limit", json!(101)), ("cursor", json!("x")), ("threshold", json!(2)), ("layers", json!([]))]
    {
        let mut body = page(Value::Null);
        body[field] = value;
        server.post("/v1/memories/search", body).await.refused(400, field);
    }
}
