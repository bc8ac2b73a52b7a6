//! Holds every answer against the published description.
//!
//! [`check`] is called for each answer that a test reads: status, content type, headers and body must be those that
//! the description gives for the operation. In the description answers are open, so that later versions may add
//! fields; here they are closed, so that a field that is sent and not described is found.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock, Mutex};

use jsonschema::Validator;
use reqwest::Method;
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};
use serde_json::{Value, json};

use crate::server::Answer;

/// The description, read once.
static DESCRIPTION: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(&loci_server::description()).unwrap());

/// The validators of schemas, by the schema's text.
static VALIDATORS: LazyLock<Mutex<BTreeMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);

/// Checks an answer to a request with this method and path.
#[track_caller]
pub(crate) fn check(method: &Method, path: &str, answer: &Answer) {
    if let Err(problem) = judge(method, path, answer) {
        panic!("{method} {path}: {problem}\n{}", answer.text);
    }
}

fn judge(method: &Method, path: &str, answer: &Answer) -> Result<(), String> {
    // Preflights are answered before any route, and HEAD has the answer of GET without its body.
    if matches!(*method, Method::OPTIONS | Method::HEAD) {
        return Ok(());
    }
    let Some((template, operations)) = route(path) else {
        return unrouted(answer, "the path is not described");
    };
    let operation = &operations[method.as_str().to_lowercase()];
    let Some(id) = operation["operationId"].as_str() else {
        return unrouted(answer, &format!("{template} is not described with this method"));
    };
    let within = |problem: String| format!("{id} ({template}): {problem}");
    let declared = resolve(&operation["responses"][answer.status.to_string()]);
    if declared.is_null() {
        return Err(within(format!("status {} is not described", answer.status)));
    }
    headers(declared, &answer.headers).map_err(within)?;
    body(declared, answer).map_err(within)
}

/// What is at no described path or method is refused, in the shape of all failures.
fn unrouted(answer: &Answer, why: &str) -> Result<(), String> {
    match answer.status {
        400 | 401 | 403 | 404 | 405 | 415 | 429 => Ok(()),
        status => Err(format!("{why}, but was answered with {status}")),
    }
}

/// The described path that a path belongs to, the one with the fewest parameters if there are several.
fn route(path: &str) -> Option<(&'static str, &'static Value)> {
    // The same operations have a second address.
    let path = match path.strip_prefix("/api/v1/knowledge") {
        Some(rest) => format!("/openspec/v1/knowledge{rest}"),
        None => path.to_owned(),
    };
    let parts: Vec<&str> = path.split('/').collect();
    let paths = DESCRIPTION["paths"].as_object().unwrap();
    let fits = |template: &str| {
        let pattern: Vec<&str> = template.split('/').collect();
        let same = |(pattern, part): (&&str, &&str)| pattern.starts_with('{') && !part.is_empty() || pattern == part;
        pattern.len() == parts.len() && pattern.iter().zip(&parts).all(same)
    };
    let found = paths.iter().filter(|(template, _)| fits(template));
    let (template, operations) = found.min_by_key(|(template, _)| template.matches('{').count())?;
    Some((template, operations))
}

/// What a reference within the description refers to; anything else is itself.
fn resolve(value: &'static Value) -> &'static Value {
    match value["$ref"].as_str() {
        Some(place) => DESCRIPTION.pointer(&place[1..]).unwrap_or_else(|| panic!("{place} leads nowhere")),
        None => value,
    }
}

/// Headers that are described as required must be there.
fn headers(declared: &'static Value, sent: &HeaderMap) -> Result<(), String> {
    for (name, header) in declared["headers"].as_object().into_iter().flatten() {
        if resolve(header)["required"] == true && !sent.contains_key(name.as_str()) {
            return Err(format!("the header {name} is missing"));
        }
    }
    Ok(())
}

fn body(declared: &'static Value, answer: &Answer) -> Result<(), String> {
    let status = answer.status;
    let content = declared["content"].as_object();
    let Some(content) = content.filter(|content| !content.is_empty()) else {
        return if answer.text.is_empty() { Ok(()) } else { Err(format!("{status} is described without a body")) };
    };
    let sort = answer.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let sort = sort.split(';').next().unwrap_or_default().trim();
    let Some(media) = content.get(sort) else {
        return Err(format!("{status} is not described with the content type `{sort}`"));
    };
    let packed = answer.headers.contains_key(CONTENT_ENCODING);
    if packed || sort != "application/json" && !sort.ends_with("+json") {
        return Ok(());
    }
    let instance: Value =
        serde_json::from_str(&answer.text).map_err(|error| format!("the body is not JSON: {error}"))?;
    let errors: Vec<String> = validator(&media["schema"])
        .iter_errors(&instance)
        .map(|error| {
            let shown: String = error.to_string().chars().take(400).collect();
            format!("at `{}`: {shown} (schema {})", error.instance_path(), error.schema_path())
        })
        .collect();
    if errors.is_empty() { Ok(()) } else { Err(format!("{status} is not as described:\n  {}", errors.join("\n  "))) }
}

/// The validator of a schema, with everything that it refers to, all closed.
fn validator(schema: &Value) -> Arc<Validator> {
    let mut known = VALIDATORS.lock().unwrap();
    let validator = known.entry(schema.to_string()).or_insert_with(|| {
        let mut names = BTreeSet::new();
        referred(schema, &mut names);
        let schemas: serde_json::Map<String, Value> = names
            .into_iter()
            .map(|name| {
                let mut schema = DESCRIPTION["components"]["schemas"][&name].clone();
                close(&mut schema);
                (name, schema)
            })
            .collect();
        let mut whole = schema.clone();
        close(&mut whole);
        let whole = json!({ "allOf": [whole], "components": { "schemas": schemas } });
        let built = jsonschema::draft202012::options().should_validate_formats(true).build(&whole);
        Arc::new(built.unwrap_or_else(|error| panic!("{schema} is not a valid schema: {error}")))
    });
    validator.clone()
}

/// The names of all schemas that a schema refers to, at any depth.
fn referred(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            if let Some(name) = fields.get("$ref").and_then(Value::as_str).and_then(|place| place.rsplit('/').next())
                && names.insert(name.to_owned())
            {
                referred(&DESCRIPTION["components"]["schemas"][name], names);
            }
            fields.values().for_each(|field| referred(field, names));
        }
        Value::Array(items) => items.iter().for_each(|item| referred(item, names)),
        _ => {}
    }
}

/// Refuses fields that are not described.
fn close(schema: &mut Value) {
    let Some(fields) = schema.as_object_mut() else {
        if let Some(items) = schema.as_array_mut() {
            items.iter_mut().for_each(close);
        }
        return;
    };
    let is_object = fields.get("properties").is_some_and(Value::is_object) && fields.contains_key("type");
    fields.values_mut().for_each(close);
    if is_object {
        fields.entry("additionalProperties").or_insert(json!(false));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, sort: &str, text: &str) -> Answer {
        let mut headers = HeaderMap::new();
        headers.insert("x-request-id", "a".parse().unwrap());
        if !sort.is_empty() {
            headers.insert(CONTENT_TYPE, sort.parse().unwrap());
        }
        Answer { status, headers, body: Value::Null, text: text.to_owned() }
    }

    #[test]
    fn answers_that_are_not_as_described_are_found() {
        let json = "application/json";
        let cases = [
            (200, json, r#"{"status":"healthy"}"#, ""),
            (200, json, r#"{"status":"healthy","more":1}"#, "more"),
            (200, json, r#"{}"#, "required"),
            (200, json, r#"{"status":"well"}"#, "well"),
            (200, json, r#"{"status":null}"#, "null"),
            (200, "text/plain", "healthy", "content type"),
            (418, json, r#"{"status":"healthy"}"#, "418 is not described"),
        ];
        for (status, sort, text, expected) in cases {
            let judged = judge(&Method::GET, "/healthz", &answer(status, sort, text));
            match judged {
                Ok(()) => assert_eq!(expected, "", "{text}"),
                Err(problem) => {
                    assert!(!expected.is_empty() && problem.contains(expected), "{text}: {problem}");
                    assert!(problem.contains("getHealth") && problem.contains("/healthz"), "{problem}");
                }
            }
        }
        let mut nameless = answer(200, json, r#"{"status":"healthy"}"#);
        nameless.headers.remove("x-request-id");
        assert!(judge(&Method::GET, "/healthz", &nameless).is_err_and(|problem| problem.contains("X-Request-ID")));
    }

    #[test]
    fn the_most_literal_path_is_chosen() {
        for (path, expected) in [
            ("/v1/memories/some", Some("/v1/memories/{id}")),
            ("/v1/memories/search", Some("/v1/memories/search")),
            ("/api/v1/knowledge/query", Some("/openspec/v1/knowledge/query")),
            ("/v1/nothing", None),
            ("/v1/memories/", None),
        ] {
            assert_eq!(route(path).map(|(template, _)| template), expected, "{path}");
        }
    }
}
