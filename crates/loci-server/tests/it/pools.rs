//! Do only its members see a pool over HTTP and over MCP, whatever the route?
//!
//! The routes come from the published description and the tools from the server's own list, as in
//! `isolation.rs`, whose tables of bodies and arguments are used here too.

use loci_engine::{Caller, ListRequest, NewMemory, NewPool, Turn};
use loci_types::{Identifiers, Layer, Memory, MemoryId, Role, State, Tenant};
use serde_json::{Value, json};

use crate::isolation::{Operation, SECRET, Stranger, arguments, body, call, operations, rpc};
use crate::server::{Answer, TestServer, answer};

/// A house with a pool in which something lies that strangers want.
struct World {
    house: TestServer,
    memory: MemoryId,
    strangers: Vec<Stranger>,
    member: Stranger,
}

fn owl() -> Caller {
    Caller::new(Identifiers {
        agent_id: Some("owl".into()),
        user_id: Some("ana".into()),
        pool_id: Some("physics".into()),
        ..Identifiers::default()
    })
}

async fn make(house: &TestServer, tenant: Tenant, members: &[&str]) {
    let operator = Caller { tenant, ..Caller::operator() };
    let members = members.iter().map(|name| (*name).to_owned()).collect();
    house
        .engine
        .create_pool(&operator, NewPool { pool_id: "physics".into(), name: None, agent_ids: members })
        .await
        .unwrap();
}

impl World {
    async fn new() -> Self {
        let house = TestServer::guarded().await;
        make(&house, Tenant::default(), &["owl", "ant"]).await;
        let other = Tenant::new("other").unwrap();
        make(&house, other.clone(), &["owl", "spy"]).await;
        let secret = NewMemory {
            content: format!("Anna Petrova keeps the cache of Meridian in {SECRET}"),
            ..NewMemory::default()
        };
        let memory = house.engine.contribute(&owl(), secret).await.unwrap().id;
        let turn = Turn {
            thread_id: "monday".into(),
            content: format!("I met Vera in {SECRET}"),
            role: Some("user".into()),
            layer: Some(Layer::Pool),
            ..Turn::default()
        };
        house.engine.ingest(&owl(), turn).await.unwrap();
        house.engine.work(&Caller::operator(), &[], 16).await.unwrap();
        let ant = Caller { identifiers: Identifiers { agent_id: Some("ant".into()), ..owl().identifiers }, ..owl() };
        house.engine.leave_pool(&ant, "ant").await.unwrap();
        let known = |sort, key| Stranger { sort, key: Some(key) };
        let bounds = |agent: &str| json!({ "agents": [agent], "users": ["ana"], "pools": ["physics"] });
        let mut foreign = loci_types::Grant::whole(other);
        foreign.role = Role::Writer;
        let strangers = vec![
            known("a stranger", house.bounded(Role::Writer, bounds("spy")).await),
            known("a former member", house.bounded(Role::Writer, bounds("ant")).await),
            known("another tenant's member", house.key(foreign).await),
            known("a user", house.bounded(Role::Writer, json!({ "users": ["ana"], "pools": ["*"] })).await),
            known("a member without the pool", house.bounded(Role::Writer, json!({ "agents": ["owl"] })).await),
        ];
        let member = known("a member", house.bounded(Role::Writer, bounds("owl")).await);
        Self { house, memory, strangers, member }
    }

    async fn user_data(&self) -> Vec<(MemoryId, u64, State)> {
        let request =
            ListRequest { filter: Some(self.house.engine.everything(None)), limit: Some(100), ..Default::default() };
        let listed = self.house.engine.list(&Caller { identifiers: pool_alone(), ..owl() }, request).await.unwrap();
        listed.memories.into_iter().map(|memory: Memory| (memory.id, memory.version, memory.state)).collect()
    }
}

/// The owl without its user: nothing but the pool.
fn pool_alone() -> Identifiers {
    Identifiers { user_id: None, ..owl().identifiers }
}

/// Who a stranger says it is.
fn claims(sort: &str) -> Value {
    match sort {
        "a stranger" => json!({ "agentId": "spy", "userId": "ana", "poolId": "physics" }),
        "a former member" => json!({ "agentId": "ant", "userId": "ana", "poolId": "physics" }),
        "a user" => json!({ "userId": "ana", "poolId": "physics" }),
        _ => json!({ "agentId": "owl", "poolId": "physics" }),
    }
}

/// Says who asks, where this operation reads it.
fn name(operation: &Operation, whose: &Value, body: &mut Option<Value>) {
    if operation.identified {
        body.get_or_insert_with(|| json!({}))["identifiers"] = whose.clone();
    }
    let Some(body) = body else { return };
    let snake: Value = whose
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

fn path(operation: &Operation, whose: Option<&Value>, memory: MemoryId) -> String {
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
    if let Some(whose) = whose.filter(|_| operation.asked) {
        for (name, value) in whose.as_object().unwrap() {
            let name = if operation.path.starts_with("/openspec") { name.replace("Id", "_id") } else { name.clone() };
            query.push(format!("{name}={}", value.as_str().unwrap()));
        }
    }
    format!("{path}?{}", query.join("&"))
}

#[tokio::test(flavor = "multi_thread")]
async fn no_route_tells_or_changes_what_lies_in_a_pool_of_others() {
    let world = World::new().await;
    let before = world.user_data().await;
    assert!(before.len() >= 2, "there is something to lose");
    let mut let_in = Vec::new();
    for operation in operations() {
        for stranger in &world.strangers {
            for whose in [Some(claims(stranger.sort)), None] {
                let told = format!("{} by {} as {whose:?}", operation.id, stranger.sort);
                let mut sent = body(&operation.id, world.memory);
                if let Some(whose) = &whose {
                    name(&operation, whose, &mut sent);
                }
                let path = path(&operation, whose.as_ref(), world.memory);
                let (status, text) = call(&world.house, stranger, &operation.method, &path, sent.as_ref()).await;
                assert!(status < 500 && !text.contains(SECRET), "{told}: {status} {text}");
                let ours = stranger.sort != "another tenant's member";
                if ours && whose.is_some() && !operation.public && (operation.identified || operation.asked) {
                    // A batch is answered line by line.
                    let batch = matches!(operation.id.as_str(), "addMemories" | "openspecBatch");
                    let each = batch && status == 200 && text.contains("UNAUTHORIZED");
                    if !each && !matches!(status, 400 | 403 | 404) {
                        let_in.push(format!("{told}: {status} {text}"));
                    }
                }
            }
        }
    }
    assert!(let_in.is_empty(), "{let_in:#?}");
    let after = world.user_data().await;
    assert_eq!(before, after, "nothing in the pool has changed");
    let members = world.house.get("/v1/pools/physics").await.expect(200);
    assert_eq!(members["members"].as_array().unwrap().len(), 1, "{members}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_tool_tells_or_changes_what_lies_in_a_pool_of_others() {
    let world = World::new().await;
    let before = world.user_data().await;
    let mut seen = 0;
    for profile in ["default", "full", "graph"] {
        let (_, text) = rpc(&world.house, &world.member, profile, "tools/list", json!({})).await;
        let listed: Value = serde_json::from_str(&text).unwrap();
        for tool in listed["result"]["tools"].as_array().unwrap() {
            let name = tool["name"].as_str().unwrap();
            let mut arguments = arguments(name, world.memory).unwrap();
            if name == "undo_change" {
                arguments["space"] = "pool_physics".into();
            }
            let params = json!({ "name": name, "arguments": arguments });
            for stranger in &world.strangers {
                let (status, text) = rpc(&world.house, stranger, profile, "tools/call", params.clone()).await;
                let told = format!("{name} of {profile} by {}: {status} {text}", stranger.sort);
                assert!(status < 500 && !text.contains(SECRET), "{told}");
            }
            if matches!(name, "search_memory" | "get_memory" | "list_memories") {
                let (_, text) = rpc(&world.house, &world.member, profile, "tools/call", params).await;
                assert!(text.contains(SECRET), "{name} by a member: {text}");
                seen += 1;
            }
        }
    }
    assert!(seen >= 3, "a member sees it");
    assert_eq!(world.user_data().await, before, "nothing in the pool has changed");
}

async fn post(world: &World, who: &Stranger, path: &str, body: Value) -> Answer {
    answer(world.house.request_as(who.key.as_ref().unwrap(), "POST", path).json(&body)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pool_is_made_used_and_left_over_http() {
    let world = World::new().await;
    let (house, member) = (&world.house, &world.member);
    let new = json!({ "poolId": "docs", "name": "Documents", "agentIds": ["owl", "ant"] });
    let made = house.post("/v1/pools", new.clone()).await;
    let place = made.headers["location"].to_str().unwrap().to_owned();
    let made = made.expect(201);
    assert_eq!(
        (&made["id"], &made["data"]["poolId"], made["data"]["members"].as_array().map(Vec::len)),
        (&json!("docs"), &json!("docs"), Some(2))
    );
    assert_eq!(house.get(&place).await.expect(200), made["data"]);
    house.post("/v1/pools", new).await.refused(409, "poolId");
    house.post("/v1/pools", json!({ "poolId": "../x" })).await.refused(400, "poolId");
    assert_eq!(house.get("/v1/pools").await.expect(200)["data"].as_array().unwrap().len(), 2);
    for event in ["UPDATE", "NONE"] {
        let joined = house.post("/v1/pools/docs/members", json!({ "agentIds": ["bee"] })).await.expect(200);
        assert_eq!((&joined["event"], &joined["data"]["members"][1]["agentId"]), (&json!(event), &json!("bee")));
    }
    let page = house.get("/v1/pools/docs/members?limit=2").await.expect(200);
    let next = page["nextCursor"].as_str().unwrap();
    let rest = house.get(&format!("/v1/pools/docs/members?limit=2&cursor={next}")).await.expect(200);
    assert_eq!((&rest["data"][0]["agentId"], &rest["nextCursor"]), (&json!("owl"), &Value::Null));
    assert!(rest["data"][0]["createdAt"].is_string(), "{rest}");
    house.post("/v1/pools/nowhere/members", json!({ "agentIds": ["bee"] })).await.refused(404, "poolId");

    // The member: its key fills in who it is, and reaches one pool of the two.
    let asked = answer(house.request_as(member.key.as_ref().unwrap(), "GET", "/v1/pools/docs")).await;
    asked.refused(403, "poolId");
    let own = answer(house.request_as(member.key.as_ref().unwrap(), "GET", "/v1/pools?agentId=owl")).await.expect(200);
    let ask = json!({
        "query": "cache of Meridian", "identifiers": { "poolId": "physics" }, "filter": { "layer": ["pool"] }
    });
    let found = post(&world, member, "/v1/recall", ask.clone()).await.expect(200);
    assert!(found["data"].to_string().contains(SECRET), "{found}");
    assert_eq!(own["data"].as_array().unwrap().len(), 2);
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
    let own = house
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
        house.request_as(member.key.as_ref().unwrap(), "DELETE", &format!("/v1/pools/physics/members/{agent}"))
    };
    answer(leave("ant")).await.refused(403, "agentId");
    answer(leave("owl")).await.expect(204);
    answer(leave("owl")).await.refused(403, "poolId");
    post(&world, member, "/v1/recall", ask).await.refused(403, "poolId");
    let recalled = post(&world, member, "/v1/recall", json!({ "query": "cache of Meridian" })).await.expect(200);
    assert_eq!(recalled["data"][0]["memory"]["layer"], "agent", "{recalled}");
    house.delete("/v1/pools/physics").await.expect(204);
    house.delete("/v1/pools/physics").await.refused(404, "poolId");
}
