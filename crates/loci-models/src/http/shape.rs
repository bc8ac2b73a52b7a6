//! Validation of the answer of a language model against a JSON schema.
//!
//! The answer is JSON, JSON in a code fence or JSON with prose around it. A message about a mismatch names the place
//! and what is expected there, and never the value, because messages are logged and values are private.
//!
//! The validator is written here because our schemas need only a dozen keywords, without references and formats. The
//! available crates bring a regex engine, a URI resolver and messages that quote the value.

use serde::Deserialize;
use serde_json::Value;

/// Maximum number of opening braces at which parsing is tried. A text with more is not an answer.
const PLACES: usize = 64;

/// Keywords that strict decoding does not support everywhere. They are removed from the schema that a service gets, and
/// checked here.
const BOUNDS: &[&str] = &["minimum", "maximum", "maxLength", "maxItems"];

/// Returns the first object in `text` that matches `schema`, or what is wrong with the first candidate.
pub(super) fn read(text: &str, schema: &Value) -> Result<Value, String> {
    // Reasoning before the answer may contain drafts; only the text after it counts.
    let text = text.rsplit_once("</think>").map_or(text, |(_, answer)| answer);
    let mut first = None;
    for (place, _) in text.match_indices('{').take(PLACES) {
        let mut reader = serde_json::Deserializer::from_str(&text[place..]);
        let problem = match Value::deserialize(&mut reader) {
            Ok(value) => match misfit(&value, schema) {
                None => return Ok(value),
                Some(problem) => problem,
            },
            Err(error) => format!("it is not JSON: {error}"),
        };
        first.get_or_insert(problem);
    }
    Err(first.unwrap_or_else(|| "it has no JSON object".to_owned()))
}

/// Returns what does not match, or `None` if `value` matches `schema`.
fn misfit(value: &Value, schema: &Value) -> Option<String> {
    problem_at("the answer", value, schema)
}

fn problem_at(place: &str, value: &Value, schema: &Value) -> Option<String> {
    wrong_type(value, &schema["type"])
        .or_else(|| wrong_choice(value, &schema["enum"]))
        .or_else(|| out_of_bounds(value, schema))
        .map(|problem| format!("{place} {problem}"))
        .or_else(|| problem_in_fields(place, value, schema))
        .or_else(|| problem_in_items(place, value, schema))
}

/// `type` is a name or a list of names.
fn wrong_type(value: &Value, wanted: &Value) -> Option<String> {
    let names: Vec<&str> = match wanted {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => return None,
    };
    let fits = names.iter().any(|name| is_of(value, name));
    (!fits).then(|| format!("must be of type {}", names.join(" or ")))
}

fn is_of(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        // In JSON Schema, 3.0 is an integer.
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => true,
    }
}

fn wrong_choice(value: &Value, choices: &Value) -> Option<String> {
    let choices = choices.as_array()?;
    let shown: Vec<String> = choices.iter().map(Value::to_string).collect();
    (!choices.contains(value)).then(|| format!("must be one of {}", shown.join(", ")))
}

fn out_of_bounds(value: &Value, schema: &Value) -> Option<String> {
    let bound = |name: &str| schema[name].as_f64();
    let above = |count: usize, name: &str| bound(name).filter(|most| count as f64 > *most);
    match value {
        Value::Number(number) => {
            let number = number.as_f64()?;
            let least = bound("minimum").filter(|least| number < *least);
            let most = bound("maximum").filter(|most| number > *most);
            least
                .map(|least| format!("must be at least {least}"))
                .or_else(|| most.map(|most| format!("must be at most {most}")))
        }
        Value::String(text) => {
            above(text.chars().count(), "maxLength").map(|most| format!("must have at most {most} characters"))
        }
        Value::Array(items) => above(items.len(), "maxItems").map(|most| format!("must have at most {most} items")),
        _ => None,
    }
}

/// Fields that are not in the schema are allowed, because nothing reads them.
fn problem_in_fields(place: &str, value: &Value, schema: &Value) -> Option<String> {
    let fields = value.as_object()?;
    let missing = |name: &&str| !fields.contains_key(*name);
    let mut required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    if let Some(name) = required.find(missing) {
        return Some(format!("{place} must have the field `{name}`"));
    }
    let known = schema["properties"].as_object()?;
    known.iter().find_map(|(name, schema)| problem_at(&format!("`{name}` in {place}"), fields.get(name)?, schema))
}

fn problem_in_items(place: &str, value: &Value, schema: &Value) -> Option<String> {
    let (items, schema) = (value.as_array()?, schema.get("items")?);
    let numbered = items.iter().enumerate();
    numbered.into_iter().find_map(|(number, item)| problem_at(&format!("item {number} of {place}"), item, schema))
}

/// Returns the schema without the keywords in [`BOUNDS`], as services get it.
pub(super) fn without_bounds(schema: &Value) -> Value {
    match schema {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(name, value)| !(BOUNDS.contains(&name.as_str()) && value.is_number()));
            Value::Object(kept.map(|(name, value)| (name.clone(), without_bounds(value))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(without_bounds).collect()),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "required": ["items"],
            "properties": {
                "items": {
                    "type": "array",
                    "maxItems": 2,
                    "items": {
                        "type": "object",
                        "required": ["kind"],
                        "properties": {
                            "kind": { "type": "string", "enum": ["fact", "opinion"] },
                            "text": { "type": ["string", "null"], "maxLength": 5 },
                            "weight": { "type": "integer", "minimum": 1, "maximum": 5 },
                        },
                    },
                },
            },
        })
    }

    #[test]
    fn an_answer_is_found_wherever_it_stands() {
        let expected = json!({ "items": [{ "kind": "fact" }] });
        let plain = expected.to_string();
        for text in [
            plain.clone(),
            format!("```json\n{plain}\n```"),
            format!("Sure {{as you asked}}:\n\n{plain}\nAnything {{else}}?"),
            format!("<think>perhaps {{\"items\": []}}</think>{plain}"),
            format!("{plain}{plain}"),
        ] {
            assert_eq!(read(&text, &schema()), Ok(expected.clone()), "{text}");
        }
    }

    #[test]
    fn a_complaint_names_the_place_and_never_the_words() {
        for (text, expected) in [
            ("", "it has no JSON object"),
            ("I would rather not.", "it has no JSON object"),
            (r#"{"items": [{"kind": "fact"}"#, "it is not JSON: EOF while parsing a list at line 1 column 27"),
            (r#"{"items": [{"kind": "fact"},]}"#, "it is not JSON: trailing comma at line 1 column 29"),
            ("{}", "the answer must have the field `items`"),
            (r#"{"items": "secret"}"#, "`items` in the answer must be of type array"),
            (r#"{"items": [7]}"#, "item 0 of `items` in the answer must be of type object"),
            (
                r#"{"items": [{"kind": "fact"}, {"kind": "secret"}]}"#,
                r#"`kind` in item 1 of `items` in the answer must be one of "fact", "opinion""#,
            ),
            (
                r#"{"items": [{"kind": "fact", "text": "secret"}]}"#,
                "`text` in item 0 of `items` in the answer must have at most 5 characters",
            ),
            (
                r#"{"items": [{"kind": "fact", "text": 7}]}"#,
                "`text` in item 0 of `items` in the answer must be of type string or null",
            ),
            (
                r#"{"items": [{"kind": "fact", "weight": 0}]}"#,
                "`weight` in item 0 of `items` in the answer must be at least 1",
            ),
            (
                r#"{"items": [{"kind": "fact", "weight": 9}]}"#,
                "`weight` in item 0 of `items` in the answer must be at most 5",
            ),
            (
                r#"{"items": [{"kind": "fact", "weight": 2.5}]}"#,
                "`weight` in item 0 of `items` in the answer must be of type integer",
            ),
            (
                r#"{"items": [{"kind":"fact"},{"kind":"fact"},{"kind":"fact"}]}"#,
                "`items` in the answer must have at most 2 items",
            ),
        ] {
            assert_eq!(read(text, &schema()), Err(expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn what_fits_is_let_pass() {
        for answer in [
            json!({ "items": [] }),
            json!({ "items": [{ "kind": "opinion", "text": null, "weight": 3.0, "more": [1] }], "note": "x" }),
            json!({ "items": [{ "kind": "fact", "text": "пятьь" }] }),
        ] {
            assert_eq!(misfit(&answer, &schema()), None, "{answer}");
        }
        assert_eq!(misfit(&json!(7), &json!({})), None);
    }

    #[test]
    fn a_service_is_not_sent_the_bounds() {
        let sent = without_bounds(&schema());
        let item = &sent["properties"]["items"];
        assert_eq!(item.get("maxItems"), None);
        assert_eq!(item["items"]["properties"]["weight"], json!({ "type": "integer" }));
        assert_eq!(item["items"]["properties"]["kind"]["enum"], json!(["fact", "opinion"]));
        // A field with the name of such a keyword stays.
        let named = json!({ "properties": { "maximum": { "type": "number", "maximum": 3 } } });
        assert_eq!(without_bounds(&named), json!({ "properties": { "maximum": { "type": "number" } } }));
    }
}
