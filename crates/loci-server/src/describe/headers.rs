//! The headers of answers.
//!
//! A header that is marked as required is on every answer of its operation and status; the tests of the server check
//! that. What depends on the configuration, such as the rates, is described but not required.

use serde_json::{Map, Value, json};

use super::{named, object, operations};

/// Adds the headers to the responses and to the components.
pub(super) fn add(description: &mut Value) {
    for operation in operations(description) {
        for (status, response) in operation["responses"].as_object_mut().into_iter().flatten() {
            let mut headers = vec!["X-Request-ID", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"];
            match status.as_str() {
                "201" => headers.push("Location"),
                "401" => headers.push("WWW-Authenticate"),
                "429" | "502" | "503" => headers.push("Retry-After"),
                _ => {}
            }
            if status.starts_with('2') && is_one_memory(response) {
                headers.push("ETag");
            }
            let into = object(response, "headers");
            for name in headers {
                // What an operation says itself about a header stays.
                into.entry(name).or_insert_with(|| json!({ "$ref": format!("#/components/headers/{name}") }));
            }
        }
    }
    object(&mut description["components"], "headers").extend(described());
}

/// Whether the body of a response is one memory, or the answer to a write of one.
fn is_one_memory(response: &Value) -> bool {
    let schema = named(&response["content"]["application/json"]["schema"]);
    matches!(schema, Some("Memory" | "MemoryWrite" | "Written"))
}

fn described() -> Map<String, Value> {
    let text = json!({ "type": "string" });
    let seconds = json!({ "type": "integer", "minimum": 0 });
    let headers = [
        ("X-Request-ID", true, &text, "The id of the request: the caller's own, if it sent one, else a new one."),
        ("Location", true, &text, "The path of the new resource."),
        ("ETag", true, &text, "The version of the memory, in quotes: the value for `If-Match`."),
        ("WWW-Authenticate", true, &text, "The scheme that is asked for: `Bearer`."),
        ("Retry-After", false, &seconds, "Seconds after which the request is worth repeating."),
        (
            "X-RateLimit-Limit",
            false,
            &seconds,
            "Requests that the credential may send at once. Absent: there is no limit.",
        ),
        ("X-RateLimit-Remaining", false, &seconds, "Requests that it may still send now."),
        ("X-RateLimit-Reset", false, &seconds, "Seconds until it may send the whole number again."),
    ];
    headers
        .into_iter()
        .map(|(name, required, schema, about)| {
            (name.to_owned(), json!({ "description": about, "required": required, "schema": schema }))
        })
        .collect()
}
