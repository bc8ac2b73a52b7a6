//! Names and flattens the schemas of generic types.
//!
//! `Scoped<NewFact>` is published as `NewFactRequest`, `Page<Fact>` as `FactPage` and `Write<Fact>` as `FactWrite`:
//! these become class names in generated clients. What stands beside flattened fields becomes one object, because
//! `additionalProperties: false` in one part of an `allOf` would refuse the fields of the others.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::named;

/// The prefix that the generator writes, and the suffix that is published.
const NAMES: [(&str, &str); 3] = [("Scoped_", "Request"), ("Page_", "Page"), ("Write_", "Write")];

/// Renames the schemas of generic types, flattens them, and removes what nothing refers to any more.
pub(super) fn name(description: &mut Value) {
    let Some(schemas) = description["components"]["schemas"].as_object().cloned() else { return };
    let (mut renamed, mut published, mut repeated) = (BTreeMap::new(), Map::new(), Map::new());
    for (name, schema) in &schemas {
        let mut schema = flattened(schema, &schemas);
        let generic = NAMES.iter().find_map(|(prefix, suffix)| Some((name.strip_prefix(prefix)?, *suffix)));
        let public = match generic {
            Some((inner, suffix)) => {
                repeated.extend(
                    by_reference(inner, suffix, &mut schema).map(|inner_schema| (inner.to_owned(), inner_schema)),
                );
                let public = format!("{inner}{suffix}");
                renamed.insert(reference(name), reference(&public));
                public
            }
            None => name.clone(),
        };
        let other = published.insert(public, schema);
        debug_assert!(other.is_none(), "two types are published under the name of {name}");
    }
    // A type that occurs only inside a generic one has no schema of its own yet.
    for (name, schema) in repeated {
        published.entry(name).or_insert(schema);
    }
    description["components"]["schemas"] = published.into();
    rename(description, &renamed);
    drop_unused(description);
}

/// The generator repeats the inner type in `data`: refers to it instead, and returns what was repeated.
fn by_reference(inner: &str, suffix: &str, schema: &mut Value) -> Option<Value> {
    let target = json!({ "$ref": reference(inner) });
    let data = schema.pointer_mut("/properties/data")?;
    match suffix {
        "Page" => Some(std::mem::replace(&mut data["items"], target)),
        "Write" => {
            let about =
                "The resource after the write; null if the caller may not see it or asked for `return=minimal`.";
            Some(std::mem::replace(data, json!({ "description": about, "oneOf": [target, { "type": "null" }] })))
        }
        _ => None,
    }
}

fn reference(name: &str) -> String {
    format!("#/components/schemas/{name}")
}

/// One object with the fields of all parts of an `allOf`; other schemas as they are.
fn flattened(schema: &Value, schemas: &Map<String, Value>) -> Value {
    let Some(parts) = schema["allOf"].as_array() else { return schema.clone() };
    let (mut properties, mut required, mut whole) = (Map::new(), Vec::new(), Map::new());
    let mut keep = |part: &Value| {
        for field in ["description", "additionalProperties"] {
            if let Some(value) = part.get(field) {
                whole.entry(field).or_insert_with(|| value.clone());
            }
        }
    };
    keep(schema);
    for part in parts {
        let part = named(part).and_then(|name| schemas.get(name)).unwrap_or(part);
        let part = flattened(part, schemas);
        properties.extend(part["properties"].as_object().cloned().unwrap_or_default());
        required.extend(part["required"].as_array().cloned().unwrap_or_default());
        keep(&part);
    }
    whole.insert("type".to_owned(), json!("object"));
    whole.insert("properties".to_owned(), properties.into());
    if !required.is_empty() {
        whole.insert("required".to_owned(), required.into());
    }
    whole.into()
}

fn rename(value: &mut Value, renamed: &BTreeMap<String, String>) {
    match value {
        Value::Object(fields) => {
            if let Some(Value::String(place)) = fields.get_mut("$ref")
                && let Some(published) = renamed.get(place.as_str())
            {
                *place = published.clone();
            }
            fields.values_mut().for_each(|field| rename(field, renamed));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, renamed)),
        _ => {}
    }
}

/// Removes schemas that nothing refers to, until there is none.
fn drop_unused(description: &mut Value) {
    loop {
        let text = description.to_string();
        let Some(schemas) = description["components"]["schemas"].as_object_mut() else { return };
        let before = schemas.len();
        schemas.retain(|name, _| text.contains(&format!("\"{}\"", reference(name))));
        if schemas.len() == before {
            return;
        }
    }
}
