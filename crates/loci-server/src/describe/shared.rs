//! Parts that operations share: they are moved to the components and referred to.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{merge, operations};

/// Moves what many operations repeat to the components: failures, and parameters that are the same in at least three.
pub(super) fn share(description: &mut Value) {
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
