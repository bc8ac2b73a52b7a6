//! The bodies of requests.

use serde_json::{Value, json};

use super::{named, operations};

/// Describes a body that may be left out as an optional object rather than as an object or null, and other texts as
/// bytes: both are what generated clients understand.
pub(super) fn simplify(description: &mut Value) {
    for operation in operations(description) {
        let Some(body) = operation.get_mut("requestBody").filter(|body| body.is_object()) else { continue };
        // The generator cannot say of a generic type that it may be left out: the description of the body does.
        let mut optional = body["description"] == "Optional";
        for (sort, media) in body["content"].as_object_mut().into_iter().flatten() {
            let one = media["schema"]["oneOf"].as_array().into_iter().flatten();
            if let Some(only) = one.clone().find(|part| named(part).is_some()).filter(|_| one.count() == 2).cloned() {
                media["schema"] = only;
                optional = true;
            }
            // A text that is not JSON is sent as bytes, and one that is may be any JSON.
            if media["schema"]["type"] == "string" {
                let json = sort == "application/json";
                media["schema"] = if json { json!({}) } else { json!({ "type": "string", "format": "binary" }) };
            }
        }
        if optional {
            body["required"] = false.into();
        }
    }
}
