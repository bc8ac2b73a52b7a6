//! JSON Schemas of arguments.
//!
//! They are made from the types that read the arguments, and contain no `null` beside optional values and no formats
//! of numbers, because models pay for every token of them.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

/// The JSON Schema of a type.
pub(super) fn of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut value = settings.into_generator().into_root_schema_for::<T>().to_value();
    plain(&mut value);
    if let Value::Object(schema) = &mut value {
        for word in ["$schema", "title", "description"] {
            schema.remove(word);
        }
        schema.entry("properties").or_insert_with(|| Map::new().into());
    }
    value
}

/// Returns the schema without rare arguments, bounds and the words that say what is refused. All of them are still
/// checked when the arguments are read.
pub(super) fn brief(mut schema: Value, rare: &[&str]) -> Value {
    for path in rare {
        remove(&mut schema, path);
    }
    strip(&mut schema);
    schema
}

/// Removes an argument by its path: `turns.at` is the field `at` of the entries of `turns`.
fn remove(schema: &mut Value, path: &str) {
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    match (rest, properties.get_mut(first)) {
        (Some(rest), Some(inner)) => match inner.get_mut("items") {
            Some(items) => remove(items, rest),
            None => remove(inner, rest),
        },
        (None, _) => drop(properties.remove(first)),
        (Some(_), None) => {}
    }
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(schema) => {
            let is_schema = schema.contains_key("type");
            for word in ["additionalProperties", "minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems"]
            {
                if is_schema {
                    schema.remove(word);
                }
            }
            schema.values_mut().for_each(strip);
        }
        Value::Array(parts) => parts.iter_mut().for_each(strip),
        _ => {}
    }
}

/// Takes out what only compilers need.
fn plain(value: &mut Value) {
    match value {
        Value::Object(schema) => {
            unwrap_optional(schema);
            if schema.get("format").and_then(Value::as_str).is_some_and(is_number) {
                schema.remove("format");
            }
            if schema.get("default").is_some_and(Value::is_null) {
                schema.remove("default");
            }
            // A description is one line, however the source is broken.
            if let Some(Value::String(about)) = schema.get_mut("description") {
                *about = about.replace('\n', " ");
            }
            schema.values_mut().for_each(plain);
        }
        Value::Array(parts) => parts.iter_mut().for_each(plain),
        _ => {}
    }
}

/// An optional value is simply left out.
fn unwrap_optional(schema: &mut Map<String, Value>) {
    if let Some(Value::Array(sorts)) = schema.get_mut("type") {
        sorts.retain(|sort| sort != "null");
        if let [only] = &mut sorts[..] {
            let only = only.take();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    let Some(Value::Array(choices)) = schema.get_mut("anyOf") else { return };
    choices.retain(|choice| choice.get("type").is_none_or(|sort| sort != "null"));
    if let [Value::Object(only)] = &mut choices[..] {
        let only = std::mem::take(only);
        schema.remove("anyOf");
        for (word, value) in only {
            schema.entry(word).or_insert(value);
        }
    }
}

fn is_number(format: &str) -> bool {
    ["uint", "int", "double", "float"].iter().any(|sort| format.starts_with(sort))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only described")]
    struct Sample {
        /// The text.
        text: String,
        /// A number.
        #[schemars(range(min = 1, max = 9))]
        count: Option<u32>,
        /// Which.
        which: Option<Which>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Which {
        One,
        Other,
    }

    #[test]
    fn a_brief_schema_has_no_bounds_and_no_rare_arguments() {
        let expect = json!({
            "type": "object",
            "properties": { "text": { "type": "string", "description": "The text." },
                            "count": { "type": "integer", "description": "A number." } },
            "required": ["text"],
        });
        assert_eq!(brief(of::<Sample>(), &["which"]), expect);
        let nested = json!({ "properties": { "turns": { "items": { "properties": { "at": {}, "role": {} } } } } });
        let expect = json!({ "properties": { "turns": { "items": { "properties": { "role": {} } } } } });
        assert_eq!(brief(nested, &["turns.at", "absent", "turns.absent.at"]), expect);
    }

    #[test]
    fn schemas_are_plain() {
        let expect = json!({
            "type": "object",
            "properties": {
                "text": { "type": "string", "description": "The text." },
                "count": { "type": "integer", "description": "A number.", "minimum": 1, "maximum": 9 },
                "which": { "type": "string", "description": "Which.", "enum": ["one", "other"] },
            },
            "required": ["text"],
            "additionalProperties": false,
        });
        assert_eq!(of::<Sample>(), expect);
    }
}
