//! Who reads what: a request names its scope, the bounds of a key hold wherever a name stands, and rights are named.

use loci_engine::Config;
use loci_server::Options;
use loci_types::{Grant, Right, Role, Tenant};
use serde_json::{Value, json};

use crate::server::{Answer, TestServer, answer};

async fn send(server: &TestServer, key: &str, method: &str, path: &str, body: &Value) -> Answer {
    let request = server.request_as(key, method, path);
    answer(if body.is_null() { request } else { request.json(body) }).await
}

/// issue 22, SPEC 4: no identifiers stood for everyone's data to an admin, through every door.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_names_no_scope_is_refused_and_everyone_is_asked_for() {
    let open = TestServer::open().await;
    let guarded = TestServer::guarded().await;
    for server in [&open, &guarded] {
        let add = json!({ "content": "Ann likes tea", "identifiers": { "userId": "ann" } });
        let id = server.post("/v1/memories", add).await.expect(201)["id"].as_str().unwrap().to_owned();
        for path in [
            "/v1/memories",
            "/v1/memories/count",
            "/v1/entities",
            "/v1/facts",
            "/v1/sessions",
            "/v1/consents",
            "/v1/export",
            "/v1/events?after=all",
            "/v1/operations",
        ] {
            let refused = server.get(path).await;
            assert_eq!((refused.status, &refused.body["code"]), (400, &json!("MISSING_IDENTIFIER")), "{path}");
        }
        for (path, body) in [
            ("/v1/recall", json!({ "query": "tea" })),
            ("/v1/recall", json!({ "query": "tea", "identifiers": {} })),
            ("/v1/memories/search", json!({ "query": "tea", "identifiers": {} })),
            ("/v1/memories", json!({ "content": "x", "identifiers": {} })),
            ("/v1/memories", json!({ "content": "x", "everyone": true })),
            ("/v1/summaries", json!({ "identifiers": {} })),
            ("/openspec/v1/knowledge/query", json!({ "query": "tea" })),
            ("/memory.query", json!({ "query": "tea" })),
        ] {
            let refused = server.post(path, body.clone()).await;
            let code = refused.body["code"].as_str().or(refused.body["error"]["code"].as_str());
            assert_eq!((refused.status, code), (400, Some("MISSING_IDENTIFIER")), "{path} {body}: {}", refused.text);
        }
        assert_eq!(server.get("/v1/memories?everyone=true").await.expect(200)["data"].as_array().unwrap().len(), 1);
        let found = server.post("/v1/recall", json!({ "query": "tea", "everyone": true })).await.expect(200);
        assert_eq!(found["data"].as_array().unwrap().len(), 1, "{found}");
        let query = json!({ "query": "tea", "layer": { "everyone": true } });
        let found = server.post("/openspec/v1/knowledge/query", query).await.expect(200);
        assert_eq!(found["results"].as_array().unwrap().len(), 1, "{found}");
        let both = json!({ "query": "tea", "everyone": true, "identifiers": { "userId": "ann" } });
        server.post("/v1/recall", both).await.refused(400, "everyone");
        server.get("/v1/memories?everyone=perhaps").await.refused(400, "everyone");
        // What is named by its id is found, and counts are not content.
        assert_eq!(server.get(&format!("/v1/memories/{id}")).await.expect(200)["content"], "Ann likes tea");
        assert_eq!(server.get("/v1/stats").await.expect(200)["memories"], 1);
    }
    let ann = guarded.bounded(Role::Writer, json!({ "users": ["ann"] })).await;
    let everyone = send(&guarded, &ann, "GET", "/v1/memories?everyone=true", &Value::Null).await;
    everyone.refused(403, "everyone");
    assert_eq!(send(&guarded, &ann, "GET", "/v1/memories", &Value::Null).await.status, 200, "the key names its user");
}

/// attack B5: a key for one session reached the others by the path.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_for_a_session_reaches_no_other_by_its_path() {
    let server = TestServer::guarded().await;
    let ids = json!({ "userId": "ann" });
    for (session, text) in [("monday", "The meeting is in Graz"), ("tuesday", "The secret word is zanzibar")] {
        let turns = json!({ "identifiers": ids, "turns": [{ "threadId": session, "role": "user", "content": text }] });
        server.post(&format!("/v1/sessions/{session}/turns"), turns).await.expect(200);
        let entry = json!({ "identifiers": ids, "content": text });
        server.post(&format!("/v1/sessions/{session}/entries"), entry).await.expect(201);
    }
    let turns = server.get("/v1/memories?userId=ann&filter.sessionId=tuesday").await.expect(200);
    let turn = turns["data"][0]["id"].as_str().unwrap().to_owned();
    let key = server.bounded(Role::Writer, json!({ "users": ["ann"], "sessions": ["monday"] })).await;
    let one = json!({ "identifiers": ids, "turns": [{ "threadId": "tuesday", "role": "user", "content": "x" }] });
    for (method, path, body) in [
        ("GET", "/v1/sessions/tuesday/entries?userId=ann", Value::Null),
        ("POST", "/v1/sessions/tuesday/entries", json!({ "identifiers": ids, "content": "x" })),
        ("GET", "/v1/sessions/tuesday?userId=ann", Value::Null),
        ("POST", "/v1/sessions/tuesday/end", json!({ "identifiers": ids })),
        ("POST", "/v1/sessions/tuesday/learn", json!({ "identifiers": ids })),
        ("POST", "/v1/sessions/tuesday/turns", one.clone()),
        ("POST", "/v1/turns", one),
        ("GET", "/v1/threads/tuesday/checkpoints?userId=ann", Value::Null),
        ("DELETE", "/v1/threads/tuesday?userId=ann", Value::Null),
    ] {
        let refused = send(&server, &key, method, path, &body).await;
        assert_eq!(refused.status, 403, "{method} {path}: {}", refused.text);
    }
    assert_eq!(send(&server, &key, "GET", &format!("/v1/memories/{turn}?userId=ann"), &Value::Null).await.status, 404);
    let recall = json!({ "query": "what is the secret word?", "identifiers": ids });
    let found = send(&server, &key, "POST", "/v1/recall", &recall).await;
    assert!(found.status == 200 && !found.text.contains("zanzibar"), "{}", found.text);
    let sessions = send(&server, &key, "GET", "/v1/sessions?userId=ann", &Value::Null).await.expect(200);
    assert_eq!(sessions["data"].as_array().unwrap().len(), 1, "{sessions}");
    // What it is bound to is open to it.
    for path in ["/v1/sessions/monday/entries?userId=ann", "/v1/sessions/monday?userId=ann"] {
        assert_eq!(send(&server, &key, "GET", path, &Value::Null).await.status, 200, "{path}");
    }
    let own = json!({ "query": "where is the meeting?", "identifiers": ids });
    assert!(send(&server, &key, "POST", "/v1/recall", &own).await.text.contains("Graz"));
    let end = send(&server, &key, "POST", "/v1/sessions/monday/end", &json!({ "identifiers": ids })).await;
    assert_eq!(end.status, 200, "{}", end.text);
}

/// doors H6, H9: a writer deleted for good and consented.
#[tokio::test(flavor = "multi_thread")]
async fn hard_deletes_and_erasures_are_rights() {
    let server = TestServer::guarded().await;
    let add = async |text: &str| {
        let body = json!({ "content": text, "identifiers": { "userId": "ann" } });
        server.post("/v1/memories", body).await.expect(201)["id"].as_str().unwrap().to_owned()
    };
    let granted = async |rights: &[Right]| {
        let bounds = serde_json::from_value(json!({ "users": ["ann"] })).unwrap();
        let rights = rights.iter().copied().collect();
        server.key(Grant { role: Role::Writer, bounds, rights, ..Grant::whole(Tenant::default()) }).await
    };
    let (plain, hard) = (granted(&[]).await, granted(&[Right::HardDelete]).await);
    let (erase, memory) = (granted(&[Right::Erase]).await, add("Ann likes tea").await);
    let place = format!("/openspec/v1/knowledge/{memory}?hard_delete=true&user_id=ann");
    assert_eq!(send(&server, &plain, "DELETE", &place, &Value::Null).await.status, 403);
    assert_eq!(send(&server, &erase, "DELETE", &place, &Value::Null).await.status, 403);
    let options = json!({ "hard_delete": true, "layer": { "user_id": "ann" } });
    let batch = json!({ "operation": "delete", "entries": [{ "id": memory }], "options": options });
    send(&server, &plain, "POST", "/openspec/v1/knowledge/batch", &batch).await;
    assert_eq!(server.get(&format!("/v1/memories/{memory}")).await.status, 200, "still there");
    let deleted = send(&server, &hard, "DELETE", &place, &Value::Null).await;
    assert!((200..300).contains(&deleted.status), "{}", deleted.text);
    assert_eq!(server.get(&format!("/v1/memories/{memory}")).await.status, 404);
    let whole = json!({ "userId": "ann", "dryRun": true });
    for (key, status) in [(&plain, 403), (&hard, 403), (&erase, 200)] {
        assert_eq!(send(&server, key, "POST", "/v1/admin/erasures", &whole).await.status, status);
    }
    let other = json!({ "userId": "bob", "dryRun": true });
    assert_eq!(send(&server, &erase, "POST", "/v1/admin/erasures", &other).await.status, 403);
    let who = send(&server, &erase, "GET", "/v1/whoami", &Value::Null).await.expect(200);
    assert_eq!(who["rights"], json!(["erase"]));
    let made = json!({ "name": "a", "role": "reader", "rights": ["consent"] });
    server.post("/v1/keys", made).await.refused(400, "rights");
}

/// attack B11, B15: names that are one on other systems, and the wildcard as a name.
#[tokio::test(flavor = "multi_thread")]
async fn names_have_one_spelling() {
    let server = TestServer::guarded().await;
    let add = async |user: &str, agent: &str| {
        let ids = json!({ "userId": user, "agentId": agent });
        server.post("/v1/memories", json!({ "content": "x", "layer": "agent", "identifiers": ids })).await
    };
    add("ann", "coder").await.expect(201);
    for wrong in ["CODER", "Coder", "coder.", "con", "NUL.txt"] {
        add("ann", wrong).await.refused(400, "agentId");
    }
    server.post("/v1/agents", json!({ "agentId": "Coder", "settings": {} })).await.refused(400, "agentId");
    add("*", "coder").await.refused(400, "userId");
    add("Zo\u{eb}", "coder").await.expect(201);
    let found = server.get("/v1/memories?agentId=coder&userId=Zoe%CC%88").await.expect(200);
    assert_eq!(found["data"].as_array().unwrap().len(), 1, "one user in two spellings");
}

/// doors H2, H8, H11, attack B18: proxies, pages of other ports, bodies without a type, two hosts.
#[tokio::test(flavor = "multi_thread")]
async fn an_open_server_takes_nobody_for_its_owner_who_may_be_another() {
    let server = TestServer::open().await;
    for name in ["Forwarded", "Via", "X-Real-IP", "X-Forwarded-For", "X-Forwarded-Proto"] {
        let refused = answer(server.request("GET", "/v1/whoami").header(name, "a")).await;
        refused.refused(403, &name.to_ascii_lowercase());
        assert_eq!(answer(server.request("GET", "/healthz").header(name, "a")).await.status, 200, "public");
    }
    let line = r#"{"content":"poison","identifiers":{"userId":"me"}}"#;
    for origin in ["http://localhost:3000", "http://127.0.0.1:1"] {
        for path in ["/v1/import?userId=me", "/v1/memories/flush", "/v1/jobs/run"] {
            let request = server.request("POST", path).header("Origin", origin).body(line);
            answer(request.header("Content-Type", "text/plain")).await.refused(403, "Origin");
        }
    }
    for site in ["cross-site", "same-site"] {
        let request = server.request("POST", "/v1/memories/flush").header("Sec-Fetch-Site", site);
        answer(request).await.refused(403, "Sec-Fetch-Site");
    }
    for kind in [Some("text/plain"), None] {
        let request = server.request("POST", "/v1/import?userId=me").body(line);
        let request = if let Some(kind) = kind { request.header("Content-Type", kind) } else { request };
        answer(request).await.refused(415, "Content-Type");
        let request = server.request("POST", "/v1/maintenance").body(r#"{"dryRun":false}"#);
        let request = if let Some(kind) = kind { request.header("Content-Type", kind) } else { request };
        answer(request).await.refused(415, "Content-Type");
    }
    let own = server.request("POST", "/v1/memories/flush").header("Origin", &server.address);
    assert!(answer(own).await.status < 300, "a page of the server itself");
    let guarded = TestServer::with(Options::default(), Config::default()).await;
    let key = guarded.key(Grant::whole(Tenant::default())).await;
    let proxied = guarded.request_as(&key, "GET", "/v1/whoami").header("X-Forwarded-For", "192.0.2.1");
    assert_eq!(answer(proxied).await.status, 200, "with keys a proxy is welcome");
    let first = server.post("/v1/keys", json!({ "name": "first", "role": "admin" })).await.expect(201);
    assert!(first["data"]["note"].as_str().unwrap().contains("without a credential"), "{first}");
    let secret = first["data"]["secret"].as_str().unwrap();
    let second = send(&server, secret, "POST", "/v1/keys", &json!({ "name": "second", "role": "admin" })).await;
    assert!(second.expect(201)["data"].get("note").is_none());
}

/// doors H11: admins of any tenant saw the traffic of the whole server.
#[tokio::test(flavor = "multi_thread")]
async fn an_admin_of_a_tenant_sees_the_metrics_of_that_tenant() {
    let server = TestServer::guarded().await;
    let theirs = server.key(Grant::whole(Tenant::new("acme").unwrap())).await;
    let text = send(&server, &theirs, "GET", "/metrics", &Value::Null).await.text;
    assert!(text.contains("loci_memory_storage_bytes") && !text.contains("loci_http_requests"), "{text}");
    assert!(server.get("/metrics").await.text.contains("loci_http_requests"));
    for path in ["/v1/config", "/v1/admin/tenants/default"] {
        let status = send(&server, &theirs, "GET", path, &Value::Null).await.status;
        assert!(matches!(status, 403 | 404), "{path}: {status}");
    }
}
