//! The fields of answers: which are always there, and which may be null.
//!
//! The generator says of each field whether serde may leave it out: a field without `skip_serializing_if` and without
//! a default is required. An `Option` it cannot judge. So in an answer an `Option` is taken to be absent when it is
//! `None`, and never null, unless the type says `#[schema(required)]`: then it is always there, and null when it is
//! `None`. The same attribute marks a field that has a default for reading but is always written. The tests of the
//! server hold every answer against the result.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::named;

/// Completes the schemas that only occur in answers.
pub(super) fn complete(description: &mut Value) {
    let requested = requested(description);
    let Some(schemas) = description["components"]["schemas"].as_object_mut() else { return };
    for (_, schema) in schemas.iter_mut().filter(|(name, _)| !requested.contains(*name)) {
        exact(schema);
    }
}

/// The schemas that a request may hold, at any depth.
fn requested(description: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let paths = description["paths"].as_object().into_iter().flat_map(Map::values);
    for operation in paths.filter_map(Value::as_object).flat_map(Map::values) {
        collect(&operation["requestBody"], &description["components"]["schemas"], &mut found);
    }
    found
}

fn collect(value: &Value, schemas: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            if let Some(name) = named(value)
                && found.insert(name.to_owned())
            {
                collect(&schemas[name], schemas, found);
            }
            fields.values().for_each(|field| collect(field, schemas, found));
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, schemas, found)),
        _ => {}
    }
}

fn exact(schema: &mut Value) {
    // Later versions may answer with more fields; only requests are closed.
    if schema["additionalProperties"] == json!(false) {
        drop(schema.as_object_mut().map(|schema| schema.remove("additionalProperties")));
    }
    for word in ["oneOf", "anyOf", "allOf"] {
        schema.get_mut(word).and_then(Value::as_array_mut).into_iter().flatten().for_each(exact);
    }
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    for (field, property) in schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
        if !required.iter().any(|name| name == field) {
            never_null(property);
        }
    }
}

fn is_null(schema: &Value) -> bool {
    schema["type"] == "null"
}

/// Removes null from what a property or parameter may be.
pub(super) fn never_null(property: &mut Value) {
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
