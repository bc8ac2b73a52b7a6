//! The bounds of requests that the engine enforces: lengths, ranges, patterns.
//!
//! A bound stands at the type (`#[schema(...)]`, `#[param(...)]`) where the type can say it; this table holds the
//! patterns, which are constants, and what many types share.

use serde_json::{Value, json};

use super::answers::never_null;
use super::{merge, operations};
use crate::v1::{IDENTIFIER, PLAIN, SLUG, TEXT};

/// Adds the bounds to the schemas and parameters of the description.
pub(super) fn add(description: &mut Value) {
    narrow(description);
    for operation in operations(description) {
        parameters(operation);
    }
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
    const NEW: &[&str] = &["NewMemory", "Contribution"];
    const ANY: &[&str] = &["NewMemory", "MemoryChanges", "Contribution"];
    const ASK: &[&str] = &["Recall", "Search", "SearchRequest", "MemoryQueryRequest"];
    vec![
        (&["NewMemory", "MemoryChanges", "Correction"], "content", content),
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
        (&["NewEntry"], "importance", unit.clone()),
        (ANY, "confidence", unit.clone()),
        (ANY, "decayRate", unit.clone()),
        (NEW, "relevance", unit),
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
        (&["Correction", "FilterDeletion", "RejectConsentRequest"], "reason", short(1024)),
        (ASK, "query", json!({ "minLength": 1, "maxLength": 8192, "pattern": r"\S" })),
        (&["Identifiers"], "agentId", json!({ "pattern": SLUG })),
        (&["Identifiers"], "poolId", json!({ "pattern": SLUG })),
        (&["Identifiers"], "userId", name.clone()),
        (&["Identifiers"], "sessionId", name.clone()),
        (&["Identifiers"], "projectId", name.clone()),
        (&["Identifiers"], "teamId", name.clone()),
        (&["Identifiers"], "orgId", name.clone()),
        (&["Identifiers"], "companyId", name.clone()),
        (&["MemoryQueryRequest"], "agent", json!({ "pattern": SLUG })),
        (&["MemoryQueryFilters"], "user_id", name),
        (&["MemoryQueryFilters"], "updated_after", day.clone()),
        (&["MemoryQueryFilters"], "updated_before", day.clone()),
        (&["MemoryQueryFilters"], "created_after", day.clone()),
        (&["MemoryQueryFilters"], "created_before", day.clone()),
        (&["Recall"], "now", day),
        (&["NewAgent"], "agentId", json!({ "pattern": SLUG })),
        (&["NewPool"], "poolId", json!({ "pattern": SLUG })),
        (&["NewPool"], "name", json!({ "minLength": 1, "maxLength": 256, "pattern": TEXT })),
        (&["NewPool"], "agentIds", json!({ "maxItems": 1000, "items": { "type": "string", "pattern": SLUG } })),
        (&["AddMembers"], "agentIds", json!({ "items": { "type": "string", "pattern": SLUG } })),
        (&["CreateKey"], "name", json!({ "minLength": 1, "maxLength": 128, "pattern": IDENTIFIER })),
    ]
}

fn narrow(description: &mut Value) {
    let Some(schemas) = description.pointer_mut("/components/schemas") else { return };
    for (names, field, more) in bounds() {
        // A body with `identifiers` beside the fields is published as `…Request`.
        for name in names.iter().flat_map(|name| [(*name).to_owned(), format!("{name}Request")]) {
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
        // A set may be sent with repetitions.
        for property in properties.values_mut().filter_map(Value::as_object_mut) {
            property.remove("uniqueItems");
        }
        // Only defaults that carry information are published.
        for property in properties.values_mut().filter_map(Value::as_object_mut) {
            if matches!(property.get("default"), Some(Value::Null)) || property.get("default") == Some(&json!("")) {
                property.remove("default");
            }
        }
    }
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
            "agentId" | "poolId" => merge(schema, &json!({ "pattern": SLUG })),
            "space" => merge(
                schema,
                &json!({ "pattern": r"^(shared|users_[0-3][0-9a-f]|(agent_memory|pool)_[A-Za-z0-9][A-Za-z0-9._-]{0,95})$" }),
            ),
            "If-Match" => merge(schema, &json!({ "pattern": r#"^(\*|(W/)?"?[0-9]{1,18}"?)$"# })),
            "reason" => merge(schema, &json!({ "pattern": PLAIN })),
            "tags" | "kind" | "category" | "kinds" | "categories" if schema["type"] == "array" => {
                merge(&mut schema["items"], &json!({ "pattern": "^[^,]+$" }))
            }
            _ => {}
        }
    }
}
