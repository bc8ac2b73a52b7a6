//! The headers of answers.
//!
//! A header that is marked as required is on every answer of its operation and status; the tests of the server check
//! that. The headers of the rate are on every answer to a credential that has a limit; to keep the description short they
//! are described where they matter, with the refusal.

use serde_json::{Map, Value, json};

use super::{named, object};
use crate::openspec;

/// Adds the headers to the responses and to the components.
pub(super) fn add(description: &mut Value) {
    let paths = description["paths"].as_object_mut().into_iter().flatten();
    for (path, operations) in paths {
        for operation in operations.as_object_mut().into_iter().flat_map(|all| all.values_mut()) {
            for (status, response) in operation["responses"].as_object_mut().into_iter().flatten() {
                let names = of_response(path, status, response);
                let headers = object(response, "headers");
                for name in names {
                    // What an operation says itself about a header stays.
                    headers.entry(name).or_insert_with(|| json!({ "$ref": format!("#/components/headers/{name}") }));
                }
            }
        }
    }
    object(&mut description["components"], "headers").extend(described());
}

fn of_response(path: &str, status: &str, response: &Value) -> Vec<&'static str> {
    let mut names = vec!["X-Request-ID"];
    let schema = named(&response["content"]["application/json"]["schema"]);
    match status {
        // OpenSpec has no route that reads an entry.
        "201" if !path.starts_with(openspec::ROOT) => names.push("Location"),
        // A task is read where the answer says.
        "202" if schema == Some("Task") => names.push("Location"),
        "401" => names.push("WWW-Authenticate"),
        "429" => names.extend(["Retry-After", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"]),
        "502" | "503" => names.push("Retry-After"),
        _ => {}
    }
    // What is only accepted has no version yet.
    if matches!(status, "200" | "201") && matches!(schema, Some("Memory" | "MemoryWrite")) {
        names.push("ETag");
    }
    names
}

fn described() -> Map<String, Value> {
    let text = json!({ "type": "string" });
    let seconds = json!({ "type": "integer", "minimum": 0 });
    let headers = [
        ("X-Request-ID", true, &text, "The id of the request: the caller's own, if it sent one, else a new one."),
        ("Location", true, &text, "The path of the new resource, or of the task."),
        ("ETag", true, &text, "The version of the memory, in quotes: the value for `If-Match`."),
        ("WWW-Authenticate", true, &text, "The scheme that is asked for: `Bearer`."),
        ("Retry-After", false, &seconds, "Seconds after which the request is worth repeating."),
        (
            "X-RateLimit-Limit",
            false,
            &seconds,
            "Requests that the credential may send at once. Absent if the credential has no limit.",
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
