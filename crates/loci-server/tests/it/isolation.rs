//! Isolation: no credential reaches memories outside of its bounds, over any route or tool.
//!
//! The routes come from the published description and the tools from the server's own list, so a
//! new one that has no line in the tables below fails the test. Each is called by outsiders of seven
//! sorts, with the identifiers of the victim and without identifiers.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::SignedDuration;
use loci_engine::{
    Caller, FactRequest, ListRequest, NewCheckpoint, NewEntry, NewFact, NewKey, NewMemory, NewMessage, Turn,
};
use loci_server::Options;
use loci_types::{Bounds, Grant, Identifiers, MemoryId, Role, SessionFilter, Tenant};
use serde_json::{Value, json};

use crate::server::TestServer;

/// A word in all content that outsiders must not see.
pub(crate) const SECRET: &str = "zanzibar";

/// A server with the data of a victim.
struct IsolationFixture {
    server: TestServer,
    memory: MemoryId,
    /// Other resources of the victim, by the name under which [`place`] looks them up.
    things: BTreeMap<&'static str, String>,
    /// A credential with all rights in the tenant.
    owner: Outsider,
    outsiders: Vec<Outsider>,
    /// The folder of backups, which must live as long as the server.
    _backups: tempfile::TempDir,
}

/// A credential that must not reach the data of the victim.
pub(crate) struct Outsider {
    pub(crate) sort: &'static str,
    pub(crate) key: Option<String>,
}

impl Outsider {
    /// Whether the credential is not accepted at all.
    fn unknown(&self) -> bool {
        matches!(self.sort, "no key" | "revoked" | "expired")
    }
}

fn victim() -> Caller {
    let identifiers = Identifiers {
        agent_id: Some("keeper".to_owned()),
        user_id: Some("victim".to_owned()),
        ..Identifiers::default()
    };
    Caller::new(identifiers)
}

fn set(values: &[&str]) -> BTreeSet<String> {
    values.iter().map(|value| (*value).to_owned()).collect()
}

fn writer(users: &[&str], agents: &[&str], categories: Option<&[&str]>) -> Grant {
    Grant {
        tenant: Tenant::default(),
        role: Role::Writer,
        bounds: Bounds { users: set(users), agents: set(agents), ..Bounds::default() },
        categories: categories.map(set),
        rights: BTreeSet::new(),
    }
}

impl IsolationFixture {
    async fn new() -> Self {
        let backups = tempfile::tempdir().unwrap();
        let mut options = Options::default();
        options.server.requests_per_second = 0;
        options.server.backup_folder = Some(backups.path().to_owned());
        let server = TestServer::guarded_with(options).await;
        let engine = &server.engine;
        let secret = NewMemory {
            content: format!("The cache of the Meridian project lies in {SECRET}"),
            category: Some("secrets".to_owned()),
            ..NewMemory::default()
        };
        let memory = engine.remember(&victim(), secret).await.unwrap().id;
        let turn = Turn {
            thread_id: "monday".to_owned(),
            content: format!(
                "I met Anna Petrova in {SECRET} and my name is Vera. My brother is called Robert and works in {SECRET}. \
                 My sister is called Maria."
            ),
            role: Some("user".to_owned()),
            ..Turn::default()
        };
        engine.ingest(&victim(), turn).await.unwrap();
        let fact = NewFact {
            subject: "cache".to_owned(),
            predicate: "lies in".to_owned(),
            object: SECRET.to_owned(),
            sources: vec![memory.into()],
            ..NewFact::default()
        };
        let fact = engine.state_fact(&victim(), fact).await.unwrap().fact.id.to_string();
        let checkpoint = NewCheckpoint {
            thread_id: "monday".to_owned(),
            id: Some("one".to_owned()),
            data: format!("\"{SECRET}\"").into_bytes(),
            ..NewCheckpoint::default()
        };
        engine.put_checkpoint(&victim(), checkpoint).await.unwrap();
        engine.end_session(&victim(), "monday").await.unwrap();
        let noted = NewMessage { content: format!("What lies in {SECRET}?"), ..NewMessage::default() };
        engine.append(&victim(), noted).await.unwrap();
        engine.set_scratchpad(&victim(), SECRET).await.unwrap();
        let entry = NewEntry { content: format!("Anna waits in {SECRET}"), ..NewEntry::default() };
        let entry = engine.put_entry(&victim(), "monday", entry).await.unwrap().entry.id;
        // A job that ends a session may be due a moment later than it was made.
        let pending =
            SessionFilter { session_id: Some("monday".to_owned()), pending: true, ..SessionFilter::default() };
        while !engine.sessions(&victim(), pending.clone()).await.unwrap().is_empty() {
            engine.work(&Caller::operator(), &[], 16).await.unwrap();
        }
        let outsiders = Self::outsiders(&server).await;
        let owner = Outsider { sort: "owner", key: Some(server.key(Grant::whole(Tenant::default())).await) };
        let mut things = BTreeMap::from([("fact", fact), ("entry", entry)]);
        Self::furnish(&server, &mut things).await;
        Self { server, memory, things, owner, outsiders, _backups: backups }
    }

    /// Makes one of each thing that a path can name, over HTTP.
    async fn furnish(server: &TestServer, things: &mut BTreeMap<&'static str, String>) {
        let ids = json!({ "agentId": "keeper", "userId": "victim" });
        let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("no id: {value}")).to_owned();
        for (thing, content) in [("other", "Bread is baked on Fridays"), ("deleted", "The attic is empty")] {
            let added =
                server.post("/v1/memories", json!({ "content": content, "identifiers": ids })).await.expect(201);
            things.insert(thing, text(&added["id"]));
        }
        let place = format!("/v1/memories/{}?agentId=keeper&userId=victim", things["deleted"]);
        server.delete(&place).await.expect(204);
        let proposals = server.get("/v1/consents?agentId=keeper&userId=victim").await.expect(200);
        things.insert("proposal", text(&proposals["data"][0]["memory"]["id"]));
        let key = json!({ "name": "spare", "role": "reader" });
        things.insert("key", text(&server.post("/v1/keys", key).await.expect(201)["id"]));
        server.post("/v1/pools", json!({ "poolId": "physics", "agentIds": ["keeper"] })).await.expect(201);
        let webhook = json!({ "url": "https://hooks.example.com/loci", "identifiers": ids });
        things.insert("webhook", text(&server.post("/v1/webhooks", webhook).await.expect(201)["id"]));
        server.post("/v1/admin/tenants", json!({ "tenant": "third" })).await.expect(201);
        let task = server.post("/v1/admin/backups", json!({})).await.expect(202);
        things.insert("task", text(&task["id"]));
        let place = format!("/v1/admin/tasks/{}", things["task"]);
        while server.get(&place).await.expect(200)["endedAt"].is_null() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let backups = server.get("/v1/admin/backups").await.expect(200);
        things.insert("backup", text(&backups["data"][0]["name"]));
    }

    async fn outsiders(server: &TestServer) -> Vec<Outsider> {
        let known = |sort, key| Outsider { sort, key: Some(key) };
        let other = Tenant::new("other").unwrap();
        let mut outsiders = vec![
            Outsider { sort: "no key", key: None },
            known("wrong tenant", server.key(Grant::whole(other)).await),
            known("wrong user", server.key(writer(&["bob"], &["keeper"], None)).await),
            known("wrong agent", server.key(writer(&["victim"], &["other"], None)).await),
            known("wrong category", server.key(writer(&["victim"], &["keeper"], Some(&["tasks"]))).await),
        ];
        let revoked = server.key(Grant::whole(Tenant::default())).await;
        let id = revoked.split('_').nth(1).unwrap().to_owned();
        server.engine.revoke_key(&Caller::operator(), &id).await.unwrap();
        outsiders.push(known("revoked", revoked));
        let soon = server.engine.now().saturating_add(SignedDuration::from_millis(1)).unwrap();
        let short = NewKey { name: "short".to_owned(), grant: Grant::whole(Tenant::default()), expires_at: Some(soon) };
        let expired = server.engine.create_key(&Caller::operator(), short).await.unwrap();
        while server.engine.now() <= soon {
            tokio::task::yield_now().await;
        }
        outsiders.push(known("expired", expired.secret));
        outsiders
    }

    /// Everything that the victim has, as it stands.
    async fn user_data(&self) -> Vec<(MemoryId, u64, String)> {
        let filter = Some(self.server.engine.everything(None));
        let request = ListRequest { filter, limit: Some(100), ..ListRequest::default() };
        let listed = self.server.engine.list(&victim(), request).await.unwrap();
        let of = |memory: loci_types::Memory| (memory.id, memory.version, format!("{:?}", memory.state));
        let mut all: Vec<_> = listed.memories.into_iter().map(of).collect();
        for fact in self.server.engine.facts(&victim(), FactRequest::default()).await.unwrap() {
            all.push((MemoryId(fact.id.0), 0, fact.object));
        }
        let (kept, writes) = self.server.engine.checkpoint(&victim(), "monday", "", Some("one")).await.unwrap();
        all.push((self.memory, writes.len() as u64, String::from_utf8(kept.data.unwrap()).unwrap()));
        all
    }
}

/// Calls, and returns status and text; of a stream only what comes at once.
pub(crate) async fn call(
    server: &TestServer,
    outsider: &Outsider,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> (u16, String) {
    let request = match &outsider.key {
        Some(key) => server.request_as(key, method, path),
        None => server.anonymous(method, path),
    };
    // MCP answers only who takes both of its sorts of answer.
    let request = if path.starts_with("/mcp") {
        request.header("Accept", "application/json, text/event-stream")
    } else {
        request
    };
    let request = match body {
        Some(body) => request.json(body),
        None => request,
    };
    let mut response = request.send().await.unwrap();
    let status = response.status().as_u16();
    let mut text = String::new();
    let patience =
        Duration::from_millis(if path.contains("/events") || path.contains("/stream") { 400 } else { 20_000 });
    while let Ok(Ok(Some(bytes))) = tokio::time::timeout(patience, response.chunk()).await {
        text.push_str(&String::from_utf8_lossy(&bytes));
    }
    (status, text)
}

/// An operation of the description.
pub(crate) struct PublishedOperation {
    pub(crate) id: String,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) public: bool,
    /// Whether its query parameters may contain identifiers.
    pub(crate) asked: bool,
    /// Whether it needs a body.
    bodied: bool,
    /// Whether its body may contain identifiers.
    pub(crate) identified: bool,
}

pub(crate) fn operations() -> Vec<PublishedOperation> {
    let description: Value = serde_json::from_str(&loci_server::description()).unwrap();
    let mut found = Vec::new();
    for (path, item) in description["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let Some(id) = operation["operationId"].as_str() else { continue };
            let public = operation["security"].as_array().is_some_and(|all| all.iter().all(|one| one == &json!({})));
            let identified =
                identified(&description, &operation["requestBody"]["content"]["application/json"]["schema"]);
            let (id, method, path) = (id.to_owned(), method.to_uppercase(), path.clone());
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            let named = |one: &Value| match one["$ref"].as_str() {
                Some(place) => place.ends_with("/userId") || place.ends_with("/user_id"),
                None => one["name"] == "userId" || one["name"] == "user_id",
            };
            let asked = parameters.clone().any(named);
            let bodied = operation["requestBody"]["required"] == json!(true);
            found.push(PublishedOperation { id, method, path, public, asked, bodied, identified });
        }
    }
    assert!(found.len() > 40, "the description lost its operations");
    found
}

/// Whether a schema, or one that it refers to, has the property `identifiers`.
fn identified(description: &Value, schema: &Value) -> bool {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        return identified(description, &description["components"]["schemas"][name]);
    }
    let parts = ["oneOf", "anyOf", "allOf"].into_iter().filter_map(|word| schema[word].as_array()).flatten();
    schema["properties"]["identifiers"].is_object() || parts.into_iter().any(|part| identified(description, part))
}

/// What is sent to an operation that takes a body.
pub(crate) fn body(id: &str, memory: MemoryId) -> Option<Value> {
    let body = match id {
        "addMemory" => json!({ "content": "a stranger was here" }),
        "addMemories" => json!({ "memories": [{ "content": "strangers were here" }] }),
        "deleteMemories" => json!({ "filter": { "id": [memory] }, "dryRun": false }),
        "updateMemories" => json!({ "filter": { "id": [memory] }, "changes": { "pinned": true }, "dryRun": false }),
        "importMemories" => json!({ "content": "a stranger was here", "identifiers": { "userId": "victim" } }),
        "changeMemory" => json!({ "content": "a stranger was here" }),
        "searchMemories" | "recall" => json!({ "query": "where does the cache of Meridian lie?" }),
        "recallBatch" => json!({ "queries": [{ "query": "where does the cache of Meridian lie?" }] }),
        "queryMemory" => json!({ "query": "where does the cache of Meridian lie?" }),
        "supersedeMemory" | "correctMemory" => json!({ "content": "a stranger was here" }),
        "confirmMemory" | "restoreMemory" | "acceptConsent" | "rejectConsent" | "endSession" | "learnSession"
        | "retryJob" | "runJobs" => {
            return None;
        }
        "resolveMemory" => json!({ "other": "0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50", "keep": "newer" }),
        "ingestTurns" | "ingestThreadTurns" => {
            json!({ "turns": [{ "threadId": "t", "content": "a stranger was here" }] })
        }
        "summarize" => json!({ "sessionId": "monday" }),
        "mergeEntities" => json!({ "from": "Maria" }),
        "splitEntity" => json!({ "id": memory }),
        "stateFact" => json!({ "subject": "cache", "predicate": "lies in", "object": "the open" }),
        "putCheckpoint" => json!({ "id": "one", "data": "a stranger was here", "replace": true }),
        "putWrites" => {
            let write = json!({ "taskId": "t", "position": 0, "channel": "c", "data": "a stranger was here" });
            json!({ "writes": [write] })
        }
        "pruneThread" => json!({ "keep": 1 }),
        "createWebhook" => json!({ "url": "https://hooks.example.com/loci" }),
        "eraseUser" => json!({ "userId": "victim" }),
        "createTenant" => json!({ "tenant": "fourth" }),
        "runMaintenance" => json!({ "dryRun": true }),
        "createAgent" => json!({ "agentId": "keeper", "settings": {} }),
        "createKey" => json!({ "name": "mine", "role": "admin" }),
        "rotateKey" => json!({}),
        "createPool" => json!({ "poolId": "chemistry", "agentIds": ["spy"] }),
        "addPoolMembers" => json!({ "agentIds": ["spy"] }),
        "contributeToPool" => json!({ "content": "a stranger was here" }),
        "syncPool" => return None,
        "appendMessage" => json!({ "content": "a stranger was here" }),
        "putToolResult" => json!({ "callId": "c", "content": "a stranger was here" }),
        "setScratchpad" => json!({ "text": "a stranger was here" }),
        "searchWorking" => json!({ "query": SECRET }),
        "putEntry" => json!({ "content": "a stranger was here" }),
        "callMcp" | "callMcpProfile" => json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} }),
        "openspecQuery" => json!({ "query": "where does the cache of Meridian lie?" }),
        "openspecCreate" => json!({ "entry": { "content": "a stranger was here" } }),
        "openspecUpdate" => json!({ "entry": { "content": "a stranger was here" } }),
        "openspecBatch" => json!({ "operation": "delete", "entries": [{ "id": memory }] }),
        _ => return None,
    };
    Some(body)
}

/// Adds the identifiers where this operation reads them.
fn name(operation: &PublishedOperation, body: &mut Option<Value>) {
    let ids = json!({ "agent_id": "keeper", "user_id": "victim" });
    if operation.identified {
        body.get_or_insert_with(|| json!({}))["identifiers"] = json!({ "agentId": "keeper", "userId": "victim" });
    }
    let Some(body) = body else { return };
    match operation.id.as_str() {
        "queryMemory" => body["filters"] = ids,
        "openspecQuery" => body["layer"] = ids,
        "openspecCreate" | "openspecUpdate" => {
            body["options"] = json!({ "layer": { "type": "agent", "agent_id": "keeper", "user_id": "victim" } });
        }
        _ => {}
    }
}

/// The path of an operation, about a memory or about what else the victim has.
fn place(operation: &PublishedOperation, things: &BTreeMap<&'static str, String>, memory: &str) -> String {
    let path = &operation.path;
    let prefixes = [
        ("/v1/facts/", "fact"),
        ("/v1/consents/", "proposal"),
        ("/v1/keys/", "key"),
        ("/v1/sessions/", "entry"),
        ("/v1/admin/tasks/", "task"),
        ("/v1/webhooks/", "webhook"),
    ];
    let named = prefixes.iter().find(|(prefix, _)| path.starts_with(prefix)).map(|(_, thing)| things[thing].as_str());
    let id = match operation.id.as_str() {
        "restoreMemory" => &things["deleted"],
        // A job is named by a number, and the checkpoint that is there by its own name.
        _ if path.starts_with("/v1/jobs/") => "1",
        _ if path.starts_with("/v1/threads/") => "one",
        _ => named.unwrap_or(memory),
    };
    path.replace("{sequence}", "1")
        .replace("{id}", id)
        .replace("{poolId}", "physics")
        .replace("{agentId}", "keeper")
        .replace("{entity}", "Robert")
        .replace("{sessionId}", "monday")
        .replace("{space}", "agent_memory_keeper")
        .replace("{threadId}", "monday")
        .replace("{name}", &things["backup"])
        .replace("{tenant}", "third")
        .replace("{profile}", "full")
}

/// Operations that the owner cannot be shown to succeed with, and why.
const NO_CONTROL: &[(&str, &str)] = &[
    ("getConsoleFile", "names of files change with each build of the console; its own tests read them"),
    ("reembedMemories", "no model is configured"),
    ("resolveMemory", "it needs two memories that are linked as contradicting"),
];

/// Every line of the tables does what it says for someone who may: what outsiders are refused is refused to them, and not
/// to a malformed request.
#[tokio::test(flavor = "multi_thread")]
async fn every_line_succeeds_for_the_owner() {
    let mut failed = Vec::new();
    let mut shared = IsolationFixture::new().await;
    for operation in operations() {
        let (sent, path) = request(&shared, &operation, true);
        let (status, text) =
            call(&shared.server, &shared.owner, &operation.method, &path(shared.memory), sent.as_ref()).await;
        let excused = NO_CONTROL.iter().any(|(id, _)| *id == operation.id);
        if (200..300).contains(&status) == excused {
            let text: String = text.chars().take(300).collect();
            failed.push(format!("{} {} (excused: {excused}): {status} {text}", operation.id, path(shared.memory)));
        }
        // What was written must not be in the way of the next line.
        if operation.method != "GET" {
            shared = IsolationFixture::new().await;
        }
    }
    assert!(failed.is_empty(), "{} lines:\n{}", failed.len(), failed.join("\n"));
}

// Coverage: SPEC-4.3.
#[tokio::test(flavor = "multi_thread")]
async fn no_route_reveals_or_changes_data_of_others() {
    let world = IsolationFixture::new().await;
    let before = world.user_data().await;
    assert!(before.len() >= 2, "the victim has something to lose");
    let nobody = MemoryId(uuid::Uuid::from_u128(0x0192_0000_0000_7000_8000_0000_0000_0007));
    for operation in operations() {
        for outsider in &world.outsiders {
            for named in [true, false] {
                try_route(&world, &operation, outsider, named, nobody).await;
            }
        }
    }
    let after = world.user_data().await;
    assert!(before.iter().all(|one| after.contains(one)), "nothing of the victim's has changed: {before:?} {after:?}");
    let (engine, owner) = (&world.server.engine, victim());
    let working = engine.working(&owner).await.unwrap();
    assert_eq!((working.messages.len(), &*working.scratchpad, working.tool_results.len()), (1, SECRET, 0));
    assert_eq!(engine.entries(&owner, "monday", 0, None).await.unwrap().len(), 1);
}

/// What is sent to an operation, and where, about a memory.
fn request<'a>(
    world: &IsolationFixture,
    operation: &'a PublishedOperation,
    named: bool,
) -> (Option<Value>, impl Fn(MemoryId) -> String + use<'a>) {
    let mut sent = body(&operation.id, world.memory);
    assert!(sent.is_some() || !operation.bodied, "{} has no line in the table", operation.id);
    if let ("resolveMemory", Some(sent)) = (operation.id.as_str(), &mut sent) {
        sent["other"] = json!(world.things["other"]);
    }
    if named {
        name(operation, &mut sent);
    }
    let mut query: Vec<&str> = match operation.id.as_str() {
        "deleteTenant" => vec!["confirm=third"],
        "followEvents" => vec!["after=all"],
        "openspecStream" => vec!["type=updates"],
        _ => Vec::new(),
    };
    if named && operation.asked {
        let snake = operation.path.starts_with("/openspec");
        query.push(if snake { "agent_id=keeper&user_id=victim" } else { "agentId=keeper&userId=victim" });
    }
    let query = query.join("&");
    let things = world.things.clone();
    (sent, move |memory: MemoryId| format!("{}?{query}", place(operation, &things, &memory.to_string())))
}

async fn try_route(
    world: &IsolationFixture,
    operation: &PublishedOperation,
    outsider: &Outsider,
    named: bool,
    nobody: MemoryId,
) {
    let case = format!("{} by {} (named: {named})", operation.id, outsider.sort);
    let (sent, path) = request(world, operation, named);
    let (status, text) = call(&world.server, outsider, &operation.method, &path(world.memory), sent.as_ref()).await;
    // A feature that is not configured reveals nothing and is not a defect.
    assert!(status < 500 || text.contains("CONFIGURATION_ERROR"), "{case}: {status} {text}");
    assert!(!text.contains(SECRET), "{case}: {status} {text}");
    if operation.public {
        return;
    }
    if outsider.unknown() {
        assert_eq!(status, 401, "{case}: {text}");
        return;
    }
    let outside = matches!(outsider.sort, "wrong user" | "wrong agent");
    if named && outside && (operation.identified || operation.asked) {
        assert!(matches!(status, 400 | 403 | 404), "{case}: {status} {text}");
    }
    // What is not theirs is as good as absent: the same answer as for an id that never was.
    if operation.path.contains("/memories/{id}") {
        let (other, absent) = call(&world.server, outsider, &operation.method, &path(nobody), sent.as_ref()).await;
        // The id of the request differs.
        let plain = |text: &str, id: MemoryId| match serde_json::from_str::<Value>(&text.replace(&id.to_string(), "ID"))
        {
            Ok(mut body) => {
                drop(body.as_object_mut().and_then(|fields| fields.remove("instance")));
                body.to_string()
            }
            Err(_) => text.replace(&id.to_string(), "ID"),
        };
        assert_eq!((status, plain(&text, world.memory)), (other, plain(&absent, nobody)), "{case}");
        assert!(matches!(status, 400 | 403 | 404), "{case}: {status} {text}");
    }
}

/// The arguments that a tool is called with.
pub(crate) fn arguments(tool: &str, memory: MemoryId) -> Option<Value> {
    let question = "where does the cache of Meridian lie?";
    Some(match tool {
        "search_memory" | "memory_query" => json!({ "query": question }),
        "remember_fact" => json!({ "fact": "a stranger was here" }),
        "correct_fact" => json!({ "memory_id": memory, "correction": "a stranger was here" }),
        "supersede_memory" => json!({ "memory_id": memory, "fact": "a stranger was here" }),
        "update_memory" => json!({ "memory_id": memory, "content": "a stranger was here" }),
        "confirm_fact" | "explain_fact" => json!({ "memory_id": memory }),
        "get_memory" | "forget_memory" | "restore_memory" | "list_history" => json!({ "memory_id": memory.short() }),
        "resolve_contradiction" => json!({ "memory_id": memory, "other_memory_id": memory, "keep": "newer" }),
        "get_entity_info" => json!({ "entity_name": "Robert" }),
        "memory_stats" | "weak_facts" | "list_memories" | "list_entities" | "list_consents" | "list_changes"
        | "read_graph" => json!({}),
        "ingest_turns" => json!({ "thread_id": "t", "turns": [{ "role": "user", "content": "a stranger was here" }] }),
        "end_session" => json!({ "session_id": "monday" }),
        "get_context" => json!({ "query": question }),
        "undo_change" => json!({ "space": "agent_memory_keeper", "sequence": 1 }),
        "search_nodes" => json!({ "query": SECRET }),
        "open_nodes" => json!({ "names": ["Anna Petrova"] }),
        "create_entities" => json!({ "entities": [{ "name": "n", "entityType": "t", "observations": [] }] }),
        "create_relations" => json!({ "relations": [{ "from": "n", "to": "m", "relationType": "r" }] }),
        "add_observations" => json!({ "observations": [{ "entityName": "Anna Petrova", "contents": ["x"] }] }),
        "delete_entities" => json!({ "entityNames": ["Anna Petrova"] }),
        "delete_observations" => json!({ "deletions": [{ "entityName": "Anna Petrova", "observations": ["x"] }] }),
        "delete_relations" => json!({ "relations": [{ "from": "n", "to": "m", "relationType": "r" }] }),
        _ => return None,
    })
}

pub(crate) async fn rpc(
    server: &TestServer,
    outsider: &Outsider,
    profile: &str,
    method: &str,
    params: Value,
) -> (u16, String) {
    let path = format!("/mcp/{profile}");
    let request = match &outsider.key {
        Some(key) => server.request_as(key, "POST", &path),
        None => server.anonymous("POST", &path),
    };
    let sent = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let request = request
        .header("Accept", "application/json, text/event-stream")
        .header("MCP-Protocol-Version", "2025-06-18")
        .json(&sent);
    let response = request.send().await.unwrap();
    (response.status().as_u16(), response.text().await.unwrap())
}

// Coverage: SPEC-4.3.
#[tokio::test(flavor = "multi_thread")]
async fn no_tool_reveals_or_changes_data_of_others() {
    let world = IsolationFixture::new().await;
    let before = world.user_data().await;
    let admin = Outsider { sort: "admin", key: Some(world.server.key(Grant::whole(Tenant::default())).await) };
    for profile in ["default", "full", "graph"] {
        let (status, text) = rpc(&world.server, &admin, profile, "tools/list", json!({})).await;
        assert_eq!(status, 200, "{text}");
        let listed: Value = serde_json::from_str(&text).unwrap();
        let tools = listed["result"]["tools"].as_array().unwrap();
        assert!(tools.len() >= 9, "{profile}: {text}");
        for tool in tools {
            let name = tool["name"].as_str().unwrap();
            let arguments = arguments(name, world.memory).unwrap_or_else(|| panic!("{name} has no line in the table"));
            for (outsider, address) in
                world.outsiders.iter().flat_map(|one| [(one, profile.to_owned()), (one, named(profile))])
            {
                let params = json!({ "name": name, "arguments": arguments });
                let (status, text) = rpc(&world.server, outsider, &address, "tools/call", params).await;
                let case = format!("{name} of {address} by {}: {status} {text}", outsider.sort);
                assert!(status < 500, "{case}");
                assert_eq!(status == 401, outsider.unknown(), "{case}");
                assert!(!text.contains(SECRET), "{case}");
            }
        }
    }
    for uri in ["loci://context", "loci://changes", "loci://changes/agent", "loci://stats", "memory://knowledge-graph"]
    {
        for outsider in &world.outsiders {
            for profile in ["default".to_owned(), "graph".to_owned(), named("default"), named("graph")] {
                let (status, text) =
                    rpc(&world.server, outsider, &profile, "resources/read", json!({ "uri": uri })).await;
                assert!(status < 500 && !text.contains(SECRET), "{uri} by {}: {status} {text}", outsider.sort);
            }
        }
    }
    let after = world.user_data().await;
    assert!(before.iter().all(|one| after.contains(one)), "nothing of the victim's has changed: {before:?} {after:?}");
}

/// The address of a profile with the identifiers of the victim.
fn named(profile: &str) -> String {
    format!("{profile}?agentId=keeper&userId=victim")
}

/// Tools that the owner cannot be shown to succeed with, and why.
const NO_TOOL_CONTROL: &[(&str, &str)] =
    &[("resolve_contradiction", "it needs two memories that are linked as contradicting")];

/// Every line of the table of tools, and every resource, does what it says for someone who may.
#[tokio::test(flavor = "multi_thread")]
async fn every_tool_succeeds_for_the_owner() {
    let mut failed = Vec::new();
    let mut world = IsolationFixture::new().await;
    for profile in ["default", "full", "graph"] {
        let (_, text) = rpc(&world.server, &world.owner, profile, "tools/list", json!({})).await;
        let listed: Value = serde_json::from_str(&text).unwrap();
        for tool in listed["result"]["tools"].as_array().unwrap() {
            let name = tool["name"].as_str().unwrap();
            let mut arguments =
                arguments(name, world.memory).unwrap_or_else(|| panic!("{name} has no line in the table"));
            if name == "restore_memory" {
                arguments = json!({ "memory_id": world.things["deleted"] });
            }
            let call = async |name: &str, arguments: Value| {
                let params = json!({ "name": name, "arguments": arguments });
                rpc(&world.server, &world.owner, &named(profile), "tools/call", params).await
            };
            if name == "add_observations" {
                let entity = json!({ "name": "Anna Petrova", "entityType": "person", "observations": [] });
                call("create_entities", json!({ "entities": [entity] })).await;
            }
            let (status, text) = call(name, arguments).await;
            let answer: Value = serde_json::from_str(&text).unwrap_or_default();
            let succeeded = status == 200 && answer["result"].is_object() && answer["result"]["isError"] != json!(true);
            let excused = NO_TOOL_CONTROL.iter().any(|(other, _)| *other == name);
            if succeeded == excused {
                let text: String = text.chars().take(300).collect();
                failed.push(format!("{name} of {profile} (excused: {excused}): {status} {text}"));
            }
            if tool["annotations"]["readOnlyHint"] != json!(true) {
                world = IsolationFixture::new().await;
            }
        }
    }
    for (profile, uri) in [
        ("default", "loci://context"),
        ("default", "loci://changes"),
        ("default", "loci://stats"),
        ("graph", "memory://knowledge-graph"),
    ] {
        let (status, text) =
            rpc(&world.server, &world.owner, &named(profile), "resources/read", json!({ "uri": uri })).await;
        if status != 200 || !text.contains("\"contents\"") {
            failed.push(format!("{uri}: {status} {text}"));
        }
    }
    assert!(failed.is_empty(), "{} lines:\n{}", failed.len(), failed.join("\n"));
}
