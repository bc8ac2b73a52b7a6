//! What does the published description say beyond what the types say by themselves?
//!
//! The types tell names, shapes and words; the tables here tell what the engine enforces: lengths,
//! ranges, patterns. What only leaves the house is told exactly: a field that is always there is
//! required, and one that may be missing is never null.

mod generics;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::router;
use crate::v1::{IDENTIFIER, PLAIN, SLUG, TEXT};

/// The description, whole.
pub(crate) fn described() -> Value {
    let mut description = serde_json::to_value(router::described().into_openapi()).unwrap_or_default();
    generics::name(&mut description);
    narrow(&mut description);
    let asked = asked(&description);
    if let Some(schemas) = description["components"]["schemas"].as_object_mut() {
        for (name, schema) in schemas.iter_mut().filter(|(name, _)| !asked.contains(*name)) {
            exact(name, schema);
        }
    }
    for operation in operations(&mut description) {
        parameters(operation);
    }
    share(&mut description);
    description
}

/// Moves what many operations repeat to the components: failures, and parameters that are the same in at least three.
fn share(description: &mut Value) {
    let (mut responses, mut counted) = (Map::new(), BTreeMap::<String, (usize, Value)>::new());
    for operation in operations(description) {
        for (status, response) in operation["responses"].as_object_mut().into_iter().flatten() {
            if status.as_str() >= "400"
                && let Some(schema) = schema_of(response)
            {
                let name = format!("{schema}{status}");
                let shared = responses.entry(name.clone()).or_insert_with(|| response.clone());
                if shared == response {
                    *response = json!({ "$ref": format!("#/components/responses/{name}") });
                }
            }
        }
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            counted.entry(parameter.to_string()).or_insert_with(|| (0, parameter.clone())).0 += 1;
        }
    }
    let mut often: Vec<_> = counted.into_values().filter(|(times, _)| *times >= 3).collect();
    often.sort_by_key(|(times, _)| std::cmp::Reverse(*times));
    let mut shared = Map::new();
    for (_, parameter) in often {
        // Of several parameters of one name the most frequent is shared.
        let name = parameter["name"].as_str().unwrap_or_default().to_owned();
        shared.entry(name).or_insert(parameter);
    }
    for operation in operations(description) {
        for parameter in operation.get_mut("parameters").and_then(Value::as_array_mut).into_iter().flatten() {
            let name = parameter["name"].as_str().unwrap_or_default();
            if shared.get(name) == Some(parameter) {
                *parameter = json!({ "$ref": format!("#/components/parameters/{name}") });
            }
        }
    }
    merge(&mut description["components"], &json!({ "parameters": shared, "responses": responses }));
}

/// The name of the schema of a response.
fn schema_of(response: &Value) -> Option<String> {
    let content = response["content"].as_object()?.values().next()?;
    content["schema"]["$ref"].as_str()?.rsplit('/').next().map(str::to_owned)
}

/// What the engine enforces, by schema and field.
fn bounds() -> Vec<(&'static [&'static str], &'static str, Value)> {
    let unit = json!({ "minimum": 0, "maximum": 1 });
    let short = |most: u32| json!({ "maxLength": most, "pattern": PLAIN });
    let content = json!({ "minLength": 1, "maxLength": 8192, "pattern": TEXT });
    let name = json!({ "minLength": 1, "maxLength": 256, "pattern": IDENTIFIER });
    let day = json!({ "anyOf": [
        { "type": "string", "format": "date-time" }, { "type": "string", "format": "date" }, { "type": "null" }
    ] });
    const NEW: &[&str] = &["AddMemory", "NewMemory"];
    const ANY: &[&str] = &["AddMemory", "NewMemory", "ChangeMemory"];
    const ASK: &[&str] = &["RecallBody", "SearchBody", "QueryBody", "PoolQuestion"];
    vec![
        (&["AddMemory", "NewMemory", "ChangeMemory", "CorrectMemory"], "content", content),
        (&["Turn"], "content", json!({ "minLength": 1, "pattern": TEXT })),
        (ANY, "category", short(256)),
        (NEW, "role", short(256)),
        (NEW, "threadId", short(1024)),
        (NEW, "runId", short(1024)),
        (NEW, "actorId", short(1024)),
        (
            ANY,
            "tags",
            json!({ "maxItems": 64, "items": { "type": "string", "minLength": 1, "maxLength": 256, "pattern": TEXT } }),
        ),
        (ANY, "importance", unit.clone()),
        (ANY, "confidence", unit.clone()),
        (NEW, "decayRate", unit),
        (&["Source"], "type", short(256)),
        (&["Source"], "role", short(256)),
        (&["Source"], "reference", short(1024)),
        (&["KnowledgePointer"], "sourceType", short(256)),
        (&["KnowledgePointer"], "sourceId", short(1024)),
        (&["KnowledgePointer"], "contentHash", short(1024)),
        (&["Turn"], "threadId", json!({ "minLength": 1, "maxLength": 1024, "pattern": TEXT })),
        (&["Turn"], "actorId", short(1024)),
        (&["Turn"], "reference", short(1024)),
        (
            &["Turn"],
            "role",
            json!({ "enum": [
            "user", "assistant", "tool", "system", "human", "ai", "agent", "function", "developer", null
        ] }),
        ),
        (&["CorrectMemory", "RejectConsent"], "reason", short(1024)),
        (ASK, "query", json!({ "minLength": 1, "maxLength": 8192, "pattern": r"\S" })),
        (&["ContextBody"], "input", json!({ "minLength": 1, "maxLength": 8192, "pattern": r"\S" })),
        (&["Identifiers"], "agentId", json!({ "pattern": SLUG })),
        (&["Identifiers"], "poolId", json!({ "pattern": SLUG })),
        (&["Identifiers"], "userId", name.clone()),
        (&["Identifiers"], "sessionId", name.clone()),
        (&["Identifiers"], "projectId", name.clone()),
        (&["Identifiers"], "teamId", name.clone()),
        (&["Identifiers"], "orgId", name.clone()),
        (&["Identifiers"], "companyId", name.clone()),
        (&["QueryBody"], "agent", json!({ "pattern": SLUG })),
        (&["QueryFilters"], "user_id", name),
        (&["QueryFilters"], "updated_after", day.clone()),
        (&["QueryFilters"], "updated_before", day.clone()),
        (&["QueryFilters"], "created_after", day.clone()),
        (&["QueryFilters"], "created_before", day),
        (&["CreateAgent", "NewPool"], "slug", json!({ "pattern": SLUG })),
        (&["NewPool"], "name", json!({ "minLength": 1, "maxLength": 256, "pattern": TEXT })),
        (&["NewPool"], "members", json!({ "maxItems": 1000, "items": { "type": "string", "pattern": SLUG } })),
        (&["JoinPool"], "members", json!({ "items": { "type": "string", "pattern": SLUG } })),
        (&["CreateKey"], "name", json!({ "minLength": 1, "maxLength": 128, "pattern": IDENTIFIER })),
    ]
}

/// Fields that are null rather than missing.
const ALWAYS: &[(&str, &str)] = &[
    ("ListResponse", "nextCursor"),
    ("Session", "endedAt"),
    ("Session", "consolidatedAt"),
    ("Session", "consolidatedThrough"),
    ("Proposal", "lapsesAt"),
    ("WeakFact", "goneAt"),
    ("Undone", "memoryId"),
    ("Learned", "firstPassRate"),
    ("QueryResult", "category"),
    ("KnownKey", "expiresAt"),
    ("KnownKey", "revokedAt"),
    ("WhoAmI", "categories"),
    ("Task", "endedAt"),
    ("Task", "result"),
    ("Task", "error"),
    ("TaskProgress", "total"),
    ("Backup", "tenant"),
    ("ImportProblem", "line"),
    ("Webhook", "lastDeliveredAt"),
    ("Webhook", "lastError"),
    ("Webhook", "nextAttemptAt"),
    ("Webhook", "pending"),
];

/// Fields that are missing when they are empty, and one that is either.
const SOMETIMES: &[(&str, &str)] = &[
    ("Receipt", "redacted"),
    ("Explanation", "overrides"),
    ("Explanation", "related"),
    ("Explanation", "sources"),
    ("Explanation", "lift"),
    ("Appended", "redacted"),
    ("Appended", "degraded"),
    ("WorkingView", "degraded"),
    ("StatedFact", "redacted"),
    ("PutEntry", "redacted"),
    ("PutEntry", "degraded"),
    ("Entry", "metadata"),
    ("WorkingMessage", "metadata"),
    ("SavedCheckpoint", "data"),
    ("SavedCheckpoint", "writes"),
    ("Grant", "bounds"),
    ("LedgerEntry", "old"),
    ("LedgerEntry", "new"),
];

fn narrow(description: &mut Value) {
    let Some(schemas) = description.pointer_mut("/components/schemas") else { return };
    for (names, field, more) in bounds() {
        for name in names {
            if let Some(property) = schemas.pointer_mut(&format!("/{name}/properties/{field}")) {
                merge(property, &more);
            }
        }
    }
    for schema in schemas.as_object_mut().into_iter().flat_map(|all| all.values_mut()) {
        let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else { continue };
        if let Some(version) = properties.get_mut("version") {
            merge(version, &json!({ "maximum": i64::MAX }));
        }
        // What is absent is absent: only defaults that say something are told.
        for property in properties.values_mut().filter_map(Value::as_object_mut) {
            if matches!(property.get("default"), Some(Value::Null)) || property.get("default") == Some(&json!("")) {
                property.remove("default");
            }
        }
    }
}

/// Lays fields over an object.
fn merge(into: &mut Value, more: &Value) {
    if let (Some(into), Some(more)) = (into.as_object_mut(), more.as_object()) {
        into.extend(more.clone());
    }
}

/// The schemas that a request may hold, however deep.
fn asked(description: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let paths = description["paths"].as_object().into_iter().flat_map(Map::values);
    for operation in paths.filter_map(Value::as_object).flat_map(Map::values) {
        named(&operation["requestBody"], &description["components"]["schemas"], &mut found);
    }
    found
}

fn named(value: &Value, schemas: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            if let Some(name) = fields.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next())
                && found.insert(name.to_owned())
            {
                named(&schemas[name], schemas, found);
            }
            fields.values().for_each(|field| named(field, schemas, found));
        }
        Value::Array(values) => values.iter().for_each(|value| named(value, schemas, found)),
        _ => {}
    }
}

/// Tells exactly what leaves the house: required or missing, and null only where it is said.
fn exact(name: &str, schema: &mut Value) {
    // What is refused when it comes in may well be said beside other things when it goes out.
    drop(schema.as_object_mut().map(|schema| schema.remove("additionalProperties")));
    for part in schema.get_mut("allOf").and_then(Value::as_array_mut).into_iter().flatten() {
        exact(name, part);
    }
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return };
    let mut required = Vec::new();
    for (field, property) in properties.iter_mut() {
        let here = (name, field.as_str());
        let either = name == "Written" && field == "memory";
        let always = ALWAYS.contains(&here)
            || name.ends_with("Page") && field == "nextCursor"
            || name.ends_with("Write") && matches!(field.as_str(), "version" | "data");
        if always || !nullable(property) && !SOMETIMES.contains(&here) {
            required.push(Value::from(field.as_str()));
        } else if !either {
            never_null(property);
        }
    }
    match required.is_empty() {
        true => drop(schema.as_object_mut().map(|schema| schema.remove("required"))),
        false => schema["required"] = required.into(),
    }
}

fn is_null(schema: &Value) -> bool {
    schema["type"] == "null"
}

fn nullable(property: &Value) -> bool {
    let types = property["type"].as_array().is_some_and(|types| types.contains(&json!("null")));
    types || property["oneOf"].as_array().is_some_and(|one| one.iter().any(is_null))
}

fn never_null(property: &mut Value) {
    if let Some(mut types) = property["type"].as_array().cloned() {
        types.retain(|name| name != "null");
        property["type"] = if let [only] = types.as_slice() { only.clone() } else { types.into() };
    }
    if let Some(mut one) = property["oneOf"].as_array().cloned() {
        one.retain(|schema| !is_null(schema));
        if let ([only], Some(fields)) = (one.as_slice(), property.as_object_mut()) {
            fields.remove("oneOf");
            fields.extend(only.as_object().cloned().unwrap_or_default());
        }
    }
}

fn operations(description: &mut Value) -> impl Iterator<Item = &mut Value> {
    let paths = description["paths"].as_object_mut().into_iter().flat_map(|paths| paths.values_mut());
    paths.filter_map(Value::as_object_mut).flat_map(|path| path.values_mut())
}

/// Parameters are never null; names of people and places, slugs and versions have their patterns.
fn parameters(operation: &mut Value) {
    for parameter in operation.get_mut("parameters").and_then(Value::as_array_mut).into_iter().flatten() {
        let name = parameter["name"].as_str().unwrap_or_default().to_owned();
        let schema = &mut parameter["schema"];
        never_null(schema);
        match name.as_str() {
            "userId" | "sessionId" | "projectId" | "teamId" | "orgId" | "companyId" => {
                merge(schema, &json!({ "pattern": IDENTIFIER }));
            }
            "slug" => merge(schema, &json!({ "pattern": SLUG })),
            "space" => merge(
                schema,
                &json!({ "pattern": r"^(shared|users_[0-3][0-9a-f]|(agent_memory|pool)_[A-Za-z0-9][A-Za-z0-9._-]{0,95})$" }),
            ),
            "If-Match" => merge(schema, &json!({ "pattern": r#"^(\*|(W/)?"?[0-9]{1,18}"?)$"# })),
            "reason" => merge(schema, &json!({ "pattern": PLAIN })),
            "tags" | "kinds" | "categories" if schema["type"] == "array" => {
                merge(&mut schema["items"], &json!({ "pattern": "^[^,]+$" }))
            }
            _ => {}
        }
    }
}
