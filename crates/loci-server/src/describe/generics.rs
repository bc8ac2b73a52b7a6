//! Names and flattens the schemas of generic types.
//!
//! `Scoped<NewFact>` is published as `NewFactRequest`, `Page<Fact>` as `FactPage` and `Write<Fact>` as `FactWrite`:
//! these become class names in generated clients. What stands beside flattened fields becomes one object, because
//! `additionalProperties: false` in one part of an `allOf` would refuse the fields of the others.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// The prefix that the generator writes, and the suffix that is published.
const NAMES: [(&str, &str); 3] = [("Scoped_", "Request"), ("Page_", "Page"), ("Write_", "Write")];

/// Renames the schemas of generic types, flattens them, and removes what nothing refers to any more.
pub(super) fn name(description: &mut Value) {
    let Some(schemas) = description["components"]["schemas"].as_object().cloned() else { return };
    let mut renamed = BTreeMap::new();
    let mut named = Map::new();
    for (name, schema) in &schemas {
        let parts = NAMES.iter().find_map(|(prefix, suffix)| Some((name.strip_prefix(prefix)?, suffix)));
        let published = parts.map_or_else(|| name.clone(), |(inner, suffix)| format!("{inner}{suffix}"));
        if published != *name {
            renamed.insert(reference(name), reference(&published));
        }
        let mut schema = if parts.is_some() { flattened(schema, &schemas) } else { schema.clone() };
        if let Some((inner, suffix)) = parts {
            by_reference(inner, suffix, &mut schema, &mut named);
        }
        named.insert(published, schema);
    }
    for (name, schema) in schemas.iter().filter(|(name, _)| !renamed.contains_key(&reference(name))) {
        named.insert(name.clone(), schema.clone());
    }
    description["components"]["schemas"] = named.into();
    rename(description, &renamed);
    drop_unused(description);
}

/// The generator repeats the inner type in `data`; it is described once and referred to.
fn by_reference(inner: &str, suffix: &str, schema: &mut Value, named: &mut Map<String, Value>) {
    let target = json!({ "$ref": reference(inner) });
    // Indexing would add the field to bodies that have none.
    let Some(data) = schema.pointer_mut("/properties/data") else { return };
    let repeated = match suffix {
        "Page" => std::mem::replace(&mut data["items"], target),
        "Write" => std::mem::replace(data, json!({ "oneOf": [target, { "type": "null" }] })),
        _ => return,
    };
    // The type itself, where it is described elsewhere too, replaces this.
    named.entry(inner).or_insert(repeated);
}

fn reference(name: &str) -> String {
    format!("#/components/schemas/{name}")
}

/// One object with the fields of all parts of an `allOf`.
fn flattened(schema: &Value, schemas: &Map<String, Value>) -> Value {
    let Some(parts) = schema["allOf"].as_array() else { return schema.clone() };
    let (mut properties, mut required, mut whole) = (Map::new(), Vec::new(), Map::new());
    for part in parts {
        let named = part["$ref"].as_str().and_then(|place| place.rsplit('/').next());
        let part = named.and_then(|name| schemas.get(name)).unwrap_or(part);
        let part = flattened(part, schemas);
        properties.extend(part["properties"].as_object().cloned().unwrap_or_default());
        required.extend(part["required"].as_array().cloned().unwrap_or_default());
        for field in ["description", "additionalProperties"] {
            if let Some(value) = part.get(field) {
                whole.entry(field).or_insert_with(|| value.clone());
            }
        }
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
