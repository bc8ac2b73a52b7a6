//! What holds for all operations: where they are, what their groups are about, and how a credential is shown.

use serde_json::{Value, json};

use super::{object, operations};

/// The groups of operations, in the order in which a reader needs them.
const TAGS: [(&str, &str); 24] = [
    ("memories", "Add, list, read, change, delete and restore memories."),
    ("life", "The life of a memory: supersede, correct, confirm, history, links and provenance."),
    ("graph", "Links between memories, as a graph."),
    ("recall", "Find memories by a question, and fill a model's context with them."),
    ("sessions", "Conversations: their turns, their entries, and what is learned when they end."),
    ("working", "Working memory: the messages, tool results and scratchpad of a session that is under way."),
    ("facts", "Facts: subject–predicate–object triples."),
    ("entities", "The people, projects, places and things that memories mention."),
    ("checkpoints", "Checkpoints of agent threads, and their pending writes."),
    ("threads", "Checkpoints of agent threads, and their pending writes."),
    ("pools", "Pools: memories that several agents share."),
    ("consents", "Statements that wait for consent before they become memories."),
    ("agents", "The agents of a tenant and their settings."),
    ("keys", "Credentials: keys, and who the caller is."),
    ("events", "The stream of changes, and counts of operations over time."),
    ("upkeep", "Maintenance, jobs, statistics and the configuration."),
    ("transfer", "Export and import."),
    ("webhooks", "Addresses that are called when something changes."),
    ("admin", "Tenants, erasure, backups, re-embedding and their tasks. Admins only."),
    ("tasks", "Long-running work that was started over HTTP."),
    ("openspec", "The OpenSpec Knowledge Provider protocol, in its own field names."),
    ("mcp", "The Model Context Protocol over HTTP."),
    ("health", "Liveness, readiness and metrics."),
    ("docs", "This description, a page that shows it, and the console."),
];

/// Adds servers, tags and security schemes.
pub(super) fn add(description: &mut Value) {
    description["servers"] = json!([{ "url": "/", "description": "The server that this description was read from." }]);
    let used = |tag: &str, description: &mut Value| {
        operations(description)
            .any(|operation| operation["tags"].as_array().is_some_and(|all| all.contains(&tag.into())))
    };
    let tags: Vec<Value> = TAGS
        .into_iter()
        .filter(|(tag, _)| used(tag, description))
        .map(|(name, about)| json!({ "name": name, "description": about }))
        .collect();
    description["tags"] = tags.into();
    let about = "The same credential in a separate header, for clients that cannot set `Authorization`.";
    let header = json!({ "type": "apiKey", "in": "header", "name": "X-API-Key", "description": about });
    object(&mut description["components"], "securitySchemes").insert("apiKey".to_owned(), header);
    for operation in operations(description) {
        // Either header will do; the roles are the same.
        let Some(security) = operation["security"].as_array_mut() else { continue };
        let others: Vec<Value> =
            security.iter().filter_map(|one| one.get("key")).map(|roles| json!({ "apiKey": roles })).collect();
        security.extend(others);
    }
}
