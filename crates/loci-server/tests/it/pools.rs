//! Only members see a pool, over any HTTP route and any MCP tool.
//!
//! The routes come from the published description and the tools from the server's own list, as in
//! `isolation.rs`; its tables of bodies and arguments are used here too.

use loci_engine::{Caller, ListRequest, NewMemory, NewPool, Turn};
use loci_types::{Identifiers, Layer, Memory, MemoryId, Role, State, Tenant};
use serde_json::{Value, json};

use crate::isolation::{Outsider, PublishedOperation, SECRET, arguments, body, call, operations, rpc};
use crate::server::{Answer, TestServer, answer};

/// A server with a pool and a memory that outsiders must not see.
struct PoolFixture {
    server: TestServer,
    memory: MemoryId,
    outsiders: Vec<Outsider>,
    member: Outsider,
}

fn owl() -> Caller {
    Caller::new(Identifiers {
        agent_id: Some("owl".into()),
        user_id: Some("ana".into()),
        pool_id: Some("physics".into()),
        ..Identifiers::default()
    })
}

async fn make(server: &TestServer, tenant: Tenant, members: &[&str]) {
    let operator = Caller { tenant, ..Caller::operator() };
    let members = members.iter().map(|name| (*name).to_owned()).collect();
    server
        .engine
        .create_pool(&operator, NewPool { pool_id: "physics".into(), name: None, agent_ids: members })
        .await
        .unwrap();
}

impl PoolFixture {
    async fn new() -> Self {
        let server = TestServer::guarded().await;
        make(&server, Tenant::default(), &["owl", "ant"]).await;
        let other = Tenant::new("other").unwrap();
        make(&server, other.clone(), &["owl", "spy"]).await;
        let secret = NewMemory {
            content: format!("Anna Petrova keeps the cache of Meridian in {SECRET}"),
            ..NewMemory::default()
        };
        let memory = server.engine.contribute(&owl(), secret).await.unwrap().id;
        let turn = Turn {
            thread_id: "monday".into(),
            content: format!("I met Vera in {SECRET}"),
            role: Some("user".into()),
            layer: Some(Layer::Pool),
            ..Turn::default()
        };
        server.engine.ingest(&owl(), turn).await.unwrap();
        server.engine.work(&Caller::operator(), &[], 16).await.unwrap();
        let ant = Caller { identifiers: Identifiers { agent_id: Some("ant".into()), ..owl().identifiers }, ..owl() };
        server.engine.leave_pool(&ant, "ant").await.unwrap();
        let known = |sort, key| Outsider { sort, key: Some(key) };
        let bounds = |agent: &str| json!({ "agents": [agent], "users": ["ana"], "pools": ["physics"] });
        let mut foreign = loci_types::Grant::whole(other);
        foreign.role = Role::Writer;
        let outsiders = vec![
            known("a stranger", server.bounded(Role::Writer, bounds("spy")).await),
            known("a former member", server.bounded(Role::Writer, bounds("ant")).await),
            known("another tenant's member", server.key(foreign).await),
            known("a user", server.bounded(Role::Writer, json!({ "users": ["ana"], "pools": ["*"] })).await),
            known("a member without the pool", server.bounded(Role::Writer, json!({ "agents": ["owl"] })).await),
        ];
        let member = known("a member", server.bounded(Role::Writer, bounds("owl")).await);
        Self { server, memory, outsiders, member }
    }

    async fn user_data(&self) -> Vec<(MemoryId, u64, State)> {
        let request =
            ListRequest { filter: Some(self.server.engine.everything(None)), limit: Some(100), ..Default::default() };
        let listed = self.server.engine.list(&Caller { identifiers: pool_alone(), ..owl() }, request).await.unwrap();
        listed.memories.into_iter().map(|memory: Memory| (memory.id, memory.version, memory.state)).collect()
    }
}

/// The owl without its user: nothing but the pool.
fn pool_alone() -> Identifiers {
    Identifiers { user_id: None, ..owl().identifiers }
}

/// The identifiers that an outsider sends.
fn claims(sort: &str) -> Value {
    match sort {
        "a stranger" => json!({ "agentId": "spy", "userId": "ana", "poolId": "physics" }),
        "a former member" => json!({ "agentId": "ant", "userId": "ana", "poolId": "physics" }),
        "a user" => json!({ "userId": "ana", "poolId": "physics" }),
        _ => json!({ "agentId": "owl", "poolId": "physics" }),
    }
}

/// Adds the identifiers of the caller where this operation reads them.
fn add_identifiers(operation: &PublishedOperation, identifiers: &Value, body: &mut Option<Value>) {
    if operation.identified {
        body.get_or_insert_with(|| json!({}))["identifiers"] = identifiers.clone();
    }
    let Some(body) = body else { return };
    let snake: Value = identifiers
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, value)| (name.replace("Id", "_id"), value.clone()))
        .collect::<serde_json::Map<_, _>>()
        .into();
    match operation.id.as_str() {
        "openspecQuery" => body["layer"] = snake,
        "openspecCreate" | "openspecUpdate" => {
            let mut layer = snake;
            layer["type"] = "pool".into();
            body["options"] = json!({ "layer": layer });
        }
        "addMemory" => body["layer"] = "pool".into(),
        "undo" => body["space"] = "pool_physics".into(),
        _ => {}
    }
}

fn path(operation: &PublishedOperation, identifiers: Option<&Value>, memory: MemoryId) -> String {
    let path = operation
        .path
        .replace("{id}", &memory.to_string())
        .replace("{poolId}", "physics")
        .replace("{agentId}", "owl")
        .replace("{entity}", "Anna%20Petrova")
        .replace("{sessionId}", "Anna%20Petrova")
        .replace("{threadId}", "monday")
        .replace("{space}", "pool_physics");
    let mut query: Vec<String> = match operation.id.as_str() {
        "followEvents" => vec!["after=all".into()],
        "openspecStream" => vec!["type=updates".into()],
        _ => Vec::new(),
    };
    if let Some(identifiers) = identifiers.filter(|_| operation.asked) {
        for (name, value) in identifiers.as_object().unwrap() {
            let name = if operation.path.starts_with("/openspec") { name.replace("Id", "_id") } else { name.clone() };
            query.push(format!("{name}={}", value.as_str().unwrap()));
        }
    }
    format!("{path}?{}", query.join("&"))
}

// Coverage: SPEC-4.1.
#[tokio::test(flavor = "multi_thread")]
async fn no_route_shows_or_changes_a_pool_to_outsiders() {
    let world = PoolFixture::new().await;
    let before = world.user_data().await;
    assert!(before.len() >= 2, "there is something to lose");
    let mut let_in = Vec::new();
    for operation in operations() {
        for outsider in &world.outsiders {
            for identifiers in [Some(claims(outsider.sort)), None] {
                let case = format!("{} by {} as {identifiers:?}", operation.id, outsider.sort);
                let mut sent = body(&operation.id, world.memory);
                if let Some(identifiers) = &identifiers {
                    add_identifiers(&operation, identifiers, &mut sent);
                }
                let path = path(&operation, identifiers.as_ref(), world.memory);
                let (status, text) = call(&world.server, outsider, &operation.method, &path, sent.as_ref()).await;
                assert!(status < 500 && !text.contains(SECRET), "{case}: {status} {text}");
                let ours = outsider.sort != "another tenant's member";
                if ours && identifiers.is_some() && !operation.public && (operation.identified || operation.asked) {
                    // A batch is answered line by line.
                    let batch = matches!(operation.id.as_str(), "addMemories" | "openspecBatch");
                    let each = batch && status == 200 && text.contains("UNAUTHORIZED");
                    if !each && !matches!(status, 400 | 403 | 404) {
                        let_in.push(format!("{case}: {status} {text}"));
                    }
                }
            }
        }
    }
    assert!(let_in.is_empty(), "{let_in:#?}");
    let after = world.user_data().await;
    assert_eq!(before, after, "nothing in the pool has changed");
    let members = world.server.get("/v1/pools/physics").await.expect(200);
    assert_eq!(members["members"].as_array().unwrap().len(), 1, "{members}");
}

// Coverage: SPEC-4.1.
#[tokio::test(flavor = "multi_thread")]
async fn no_tool_reveals_or_changes_pools_of_others() {
    let world = PoolFixture::new().await;
    let before = world.user_data().await;
    let mut seen = 0;
    for profile in ["default", "full", "graph"] {
        let (_, text) = rpc(&world.server, &world.member, profile, "tools/list", json!({})).await;
        let listed: Value = serde_json::from_str(&text).unwrap();
        for tool in listed["result"]["tools"].as_array().unwrap() {
            let name = tool["name"].as_str().unwrap();
            let mut arguments = arguments(name, world.memory).unwrap();
            if name == "undo_change" {
                arguments["space"] = "pool_physics".into();
            }
            let params = json!({ "name": name, "arguments": arguments });
            for outsider in &world.outsiders {
                let (status, text) = rpc(&world.server, outsider, profile, "tools/call", params.clone()).await;
                let case = format!("{name} of {profile} by {}: {status} {text}", outsider.sort);
                assert!(status < 500 && !text.contains(SECRET), "{case}");
            }
            if matches!(name, "search_memory" | "get_memory" | "list_memories") {
                let (_, text) = rpc(&world.server, &world.member, profile, "tools/call", params).await;
                assert!(text.contains(SECRET), "{name} by a member: {text}");
                seen += 1;
            }
        }
    }
    assert!(seen >= 3, "a member sees it");
    assert_eq!(world.user_data().await, before, "nothing in the pool has changed");
}

async fn post(world: &PoolFixture, who: &Outsider, path: &str, body: Value) -> Answer {
    answer(world.server.request_as(who.key.as_ref().unwrap(), "POST", path).json(&body)).await
}

// Coverage: S4.16.
#[tokio::test(flavor = "multi_thread")]
async fn a_pool_is_made_used_and_left_over_http() {
    let world = PoolFixture::new().await;
    let (server, member) = (&world.server, &world.member);
    let new = json!({ "poolId": "docs", "name": "Documents", "agentIds": ["owl", "ant"] });
    let made = server.post("/v1/pools", new.clone()).await;
    let place = made.headers["location"].to_str().unwrap().to_owned();
    let made = made.expect(201);
    assert_eq!(
        (&made["id"], &made["data"]["poolId"], made["data"]["members"].as_array().map(Vec::len)),
        (&json!("docs"), &json!("docs"), Some(2))
    );
    assert_eq!(server.get(&place).await.expect(200), made["data"]);
    server.post("/v1/pools", new).await.refused(409, "poolId");
    server.post("/v1/pools", json!({ "poolId": "../x" })).await.refused(400, "poolId");
    assert_eq!(server.get("/v1/pools").await.expect(200)["data"].as_array().unwrap().len(), 2);
    for event in ["UPDATE", "NONE"] {
        let joined = server.post("/v1/pools/docs/members", json!({ "agentIds": ["bee"] })).await.expect(200);
        assert_eq!((&joined["event"], &joined["data"]["members"][1]["agentId"]), (&json!(event), &json!("bee")));
    }
    let page = server.get("/v1/pools/docs/members?limit=2").await.expect(200);
    let next = page["nextCursor"].as_str().unwrap();
    let rest = server.get(&format!("/v1/pools/docs/members?limit=2&cursor={next}")).await.expect(200);
    assert_eq!((&rest["data"][0]["agentId"], &rest["nextCursor"]), (&json!("owl"), &Value::Null));
    assert!(rest["data"][0]["createdAt"].is_string(), "{rest}");
    server.post("/v1/pools/nowhere/members", json!({ "agentIds": ["bee"] })).await.refused(404, "poolId");

    // The member: its key fills in who it is, and reaches one pool of the two.
    let asked = answer(server.request_as(member.key.as_ref().unwrap(), "GET", "/v1/pools/docs")).await;
    asked.refused(403, "poolId");
    let own = answer(server.request_as(member.key.as_ref().unwrap(), "GET", "/v1/pools?agentId=owl")).await.expect(200);
    let ask = json!({
        "query": "cache of Meridian", "identifiers": { "poolId": "physics" }, "filter": { "layer": ["pool"] }
    });
    let found = post(&world, member, "/v1/recall", ask.clone()).await.expect(200);
    assert!(found["data"].to_string().contains(SECRET), "{found}");
    assert_eq!(own["data"].as_array().unwrap().len(), 1, "its agent is in both, but its key reaches one");
    let sync = post(&world, member, "/v1/pools/physics/sync", json!({})).await.expect(200);
    assert_eq!((&sync["created"], &sync["agentId"], &sync["userId"]), (&json!(2), &json!("owl"), &json!("ana")));
    let kept = json!({ "content": "Neutrons have no charge" });
    let kept = post(&world, member, "/v1/pools/physics/contributions", kept).await.expect(201);
    assert_eq!((&kept["data"]["layer"], &kept["data"]["identifiers"]["agentId"]), (&json!("pool"), &json!("owl")));
    for (wrong, field) in [
        (json!({ "content": "x", "memoryId": world.memory }), "memoryId"),
        (json!({ "memoryId": "7" }), "memoryId"),
        (json!({ "content": 7 }), "content"),
        (json!({ "content": "x", "colour": "red" }), "colour"),
        (json!({}), "content"),
    ] {
        post(&world, member, "/v1/pools/physics/contributions", wrong).await.refused(400, field);
    }
    let own = server
        .engine
        .remember(
            &Caller { identifiers: Identifiers { pool_id: None, ..owl().identifiers }, ..owl() },
            NewMemory { content: "Muons decay".into(), ..NewMemory::default() },
        )
        .await
        .unwrap();
    let copied =
        post(&world, member, "/v1/pools/physics/contributions", json!({ "memoryId": own.id })).await.expect(201);
    assert_eq!(copied["data"]["content"], "Muons decay");

    // It leaves, keeps what it has synced, and sees the pool no more.
    let leave = |agent: &str| {
        server.request_as(member.key.as_ref().unwrap(), "DELETE", &format!("/v1/pools/physics/members/{agent}"))
    };
    answer(leave("ant")).await.refused(403, "agentId");
    answer(leave("owl")).await.expect(204);
    answer(leave("owl")).await.refused(403, "poolId");
    post(&world, member, "/v1/recall", ask).await.refused(403, "poolId");
    let recalled = post(&world, member, "/v1/recall", json!({ "query": "cache of Meridian" })).await.expect(200);
    assert_eq!(recalled["data"][0]["memory"]["layer"], "agent", "{recalled}");
    server.delete("/v1/pools/physics").await.expect(204);
    server.delete("/v1/pools/physics").await.refused(404, "poolId");
}
