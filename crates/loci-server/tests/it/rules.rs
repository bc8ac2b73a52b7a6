//! The conventions of the HTTP API, checked on the published description alone.
//!
//! Each rule looks at one operation with everything that it refers to. `POST /memory.query`, the OpenSpec routes and MCP
//! speak protocols of others: they keep their own names and shapes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

/// The verbs with which the name of an operation may begin.
const VERBS: &str = "accept add append build call cancel change clear confirm contribute correct count create delete download drop end erase \
    export flush follow get import ingest join learn leave list maintain merge prune put query recall reembed reject remove resolve \
    restore resume retract retry revoke rotate run search set split start state summarize supersede sync undo update verify";

/// Names that are words of their own in the field, though they are not a verb and a noun.
const WORDS: [&str; 1] = ["whoami"];

/// Words that are not names of things.
const DIALECT: &str = "Appended Asked Begun Body Counted Desk Found Given Gone Heard Held House Kept Known Learned Left Lying Meant \
    OnlyWhose Pen Planned Put Said Seen Sent Shelf Stated Synced Taken Told Undone United Wanted Whose Worked Written";

/// Groups whose operations are about the tenant, not about a scope of memories.
const OF_THE_TENANT: [&str; 7] = ["admin", "agents", "keys", "pools", "tasks", "upkeep", "webhooks"];

/// An operation with its place.
struct Operation<'a> {
    method: &'a str,
    path: &'a str,
    id: &'a str,
    body: &'a Value,
}

/// The description, and what was found wrong in it.
struct Review<'a> {
    description: &'a Value,
    found: BTreeMap<String, BTreeSet<String>>,
}

// Coverage: SPEC-8.2.
#[test]
fn every_operation_follows_the_conventions() {
    let description: Value = serde_json::from_str(&loci_server::description()).unwrap();
    let mut review = Review { description: &description, found: BTreeMap::new() };
    let operations = operations(&description);
    assert!(operations.len() > 80, "the description lost its operations: {}", operations.len());
    for operation in &operations {
        for problem in review.problems(operation) {
            review.found.entry(operation.id.to_owned()).or_default().insert(problem);
        }
    }
    let broken = review.found.iter();
    let text: Vec<String> = broken
        .map(|(id, all)| format!("{id}:\n    {}", all.iter().cloned().collect::<Vec<_>>().join("\n    ")))
        .collect();
    assert!(text.is_empty(), "{} operations break the conventions:\n{}", text.len(), text.join("\n"));
}

// Coverage: SPEC-8.2.
#[test]
fn the_problem_is_that_of_rfc_9457() {
    let description: Value = serde_json::from_str(&loci_server::description()).unwrap();
    let problem = &description["components"]["schemas"]["Problem"];
    for field in ["type", "title", "status", "code", "detail", "instance", "operation", "details", "retryable"] {
        assert!(problem["properties"][field].is_object(), "{field}");
        assert!(problem["required"].as_array().unwrap().contains(&json!(field)) || field == "instance", "{field}");
    }
}

// Coverage: SPEC-8.2.
#[test]
fn the_description_as_a_whole_is_complete() {
    let description: Value = serde_json::from_str(&loci_server::description()).unwrap();
    assert!(description["servers"][0]["url"].is_string());
    let schemes = description["components"]["securitySchemes"].as_object().unwrap();
    assert_eq!(
        (schemes["key"]["scheme"].as_str(), schemes["apiKey"]["name"].as_str()),
        (Some("bearer"), Some("X-API-Key"))
    );
    let tags: BTreeSet<_> =
        description["tags"].as_array().unwrap().iter().map(|tag| tag["name"].as_str().unwrap()).collect();
    for operation in operations(&description) {
        let tag = operation.body["tags"][0].as_str().unwrap();
        assert!(tags.contains(tag), "{} has the tag {tag}, which describe/overview.rs does not describe", operation.id);
        let security = operation.body["security"].as_array().unwrap();
        let shown = |scheme: &str| security.iter().any(|one| one.get(scheme).is_some());
        assert!(shown("key") == shown("apiKey"), "{} takes one header only", operation.id);
    }
    for path in ["/mcp", "/mcp/{profile}"] {
        assert!(description["paths"][path]["post"].is_object(), "{path}");
    }
}

fn operations(description: &Value) -> Vec<Operation<'_>> {
    let paths = description["paths"].as_object().unwrap();
    let all = paths
        .iter()
        .flat_map(|(path, item)| item.as_object().unwrap().iter().map(move |(method, body)| (path, method, body)));
    all.map(|(path, method, body)| Operation {
        method,
        path,
        id: body["operationId"].as_str().unwrap_or_default(),
        body,
    })
    .collect()
}

impl Operation<'_> {
    /// Whether it speaks a protocol of others.
    fn foreign(&self) -> bool {
        ["/openspec/", "/mcp", "/memory.query"].iter().any(|prefix| self.path.starts_with(prefix))
    }

    fn tag(&self) -> &str {
        self.body["tags"][0].as_str().unwrap_or_default()
    }
}

impl<'a> Review<'a> {
    fn problems(&self, operation: &Operation<'a>) -> Vec<String> {
        let mut problems = self.name(operation);
        problems.extend(self.failures(operation));
        problems.extend(self.schemas(operation));
        problems.extend(self.parameters(operation));
        if !operation.foreign() {
            problems.extend(self.list(operation));
            problems.extend(self.statuses(operation));
            problems.extend(self.request(operation));
        }
        problems
    }

    /// What a reference refers to; anything else is itself.
    fn resolve(&self, value: &'a Value) -> &'a Value {
        let place = value["$ref"].as_str().and_then(|place| self.description.pointer(&place[1..]));
        place.unwrap_or(value)
    }

    fn response(&self, operation: &Operation<'a>, status: &str) -> Option<&'a Value> {
        operation.body["responses"].get(status).map(|response| self.resolve(response))
    }

    /// The schema of the JSON body of a response.
    fn answer(&self, operation: &Operation<'a>, status: &str) -> Option<&'a Value> {
        self.response(operation, status)?["content"]["application/json"].get("schema")
    }

    fn name(&self, operation: &Operation<'a>) -> Vec<String> {
        let first: String = operation.id.chars().take_while(char::is_ascii_lowercase).collect();
        let plain = operation.id.chars().all(|letter| letter.is_ascii_alphanumeric());
        let named = VERBS.split_whitespace().any(|verb| verb == first) && plain || WORDS.contains(&operation.id);
        let foreign = operation.id.starts_with("openspec");
        let problem =
            (!named && !foreign).then(|| format!("operationId `{}` does not begin with a verb", operation.id));
        problem.into_iter().collect()
    }

    /// All failures are described once, and each operation refers to them.
    fn failures(&self, operation: &Operation<'a>) -> Vec<String> {
        let responses = operation.body["responses"].as_object().unwrap();
        let mut problems = Vec::new();
        for status in ["400", "401", "403", "404", "429", "500", "503"] {
            if !responses.contains_key(status) {
                problems.push(format!("{status} is not described"));
            }
        }
        let schema = if operation.path.starts_with("/openspec/") { "OpenSpecFailure" } else { "Problem" };
        for (status, response) in responses.iter().filter(|(status, _)| status.as_str() >= "400") {
            let shared = response["$ref"].as_str().is_some_and(|place| place.starts_with("#/components/responses/"));
            let content = &self.resolve(response)["content"];
            let schemas: Vec<_> = content
                .as_object()
                .into_iter()
                .flat_map(Map::values)
                .filter_map(|media| named(&media["schema"]))
                .collect();
            if !shared && !operation.foreign() || !schemas.contains(&schema) && !operation.path.starts_with("/mcp") {
                problems.push(format!("{status} is not a reference to the shared {schema}"));
            }
        }
        problems
    }

    /// Every list has the one shape, and takes the parameters of a page.
    fn list(&self, operation: &Operation<'a>) -> Vec<String> {
        let Some(schema) = self.answer(operation, "200").filter(|_| operation.method == "get") else {
            return Vec::new();
        };
        let properties = self.resolve(schema)["properties"].as_object().cloned().unwrap_or_default();
        let lists = |(name, property): (&String, &Value)| property["type"] == "array" && name != "data";
        let is_page = properties.len() == 2 && properties.contains_key("data") && properties.contains_key("nextCursor");
        let is_list = operation.id.starts_with("list") || properties.len() == 1 && properties.iter().any(lists);
        let mut problems = Vec::new();
        if is_list && !is_page {
            problems.push("a list does not answer with a page of `data` and `nextCursor`".to_owned());
        }
        if is_page {
            let limit = self.parameter(operation, "limit");
            let published = |key: &str, value: i64| limit.is_some_and(|limit| limit["schema"][key] == value);
            if !(published("default", 50) && published("minimum", 1) && published("maximum", 1000)) {
                problems.push("`limit` is not published with default 50, minimum 1 and maximum 1000".to_owned());
            }
            if self.parameter(operation, "cursor").is_none() {
                problems.push("a list has no parameter `cursor`".to_owned());
            }
        }
        problems
    }

    fn parameter(&self, operation: &Operation<'a>, name: &str) -> Option<&'a Value> {
        let all = operation.body["parameters"].as_array()?.iter().map(|parameter| self.resolve(parameter));
        all.into_iter().find(|parameter| parameter["name"] == name)
    }

    fn statuses(&self, operation: &Operation<'a>) -> Vec<String> {
        let has = |status: &str| self.response(operation, status).is_some();
        let header = |status: &str, name: &str| {
            self.response(operation, status).is_some_and(|response| response["headers"].get(name).is_some())
        };
        let mut problems = Vec::new();
        let creates = operation.id == "addMemory" || operation.id.starts_with("create");
        let batch = operation.path.ends_with("/batch");
        if operation.method == "post" && creates && !batch && !has("201") && !has("202") {
            problems.push("an operation that creates has neither 201 nor 202".to_owned());
        }
        if has("201") && !header("201", "Location") {
            problems.push("201 has no Location".to_owned());
        }
        if operation.method == "delete" && (has("200") || !has("204") && !has("202")) {
            problems.push("DELETE must answer 204, or 202 if it is queued".to_owned());
        }
        for status in ["200", "201"] {
            let one = self.answer(operation, status).and_then(named);
            if matches!(one, Some("Memory" | "MemoryWrite")) && !header(status, "ETag") {
                problems.push(format!("{status} answers with one memory and has no ETag"));
            }
        }
        problems
    }

    /// A body is a closed object with `identifiers` beside its fields.
    fn request(&self, operation: &Operation<'a>) -> Vec<String> {
        let content = &operation.body["requestBody"]["content"];
        // A body that is taken in several formats is a stream, not an object.
        let stream = content.as_object().is_some_and(|sorts| sorts.len() > 1);
        let Some(schema) = content["application/json"].get("schema").filter(|_| !stream) else {
            return Vec::new();
        };
        let body = self.resolve(schema);
        let mut problems = Vec::new();
        let Some(properties) = body["properties"].as_object() else {
            return vec!["the body is not described as one object".to_owned()];
        };
        if body["additionalProperties"] != json!(false) {
            problems.push("the body is not closed".to_owned());
        }
        let scoped = properties.get("identifiers").and_then(|one| named(one).or_else(|| named(&one["oneOf"][0])));
        if scoped != Some("Identifiers") && !OF_THE_TENANT.contains(&operation.tag()) {
            problems.push("the body has no `identifiers`".to_owned());
        }
        let others: Vec<_> = properties.iter().filter(|(name, _)| *name != "identifiers").collect();
        if let [(name, only)] = others.as_slice()
            && self.resolve(only)["properties"].is_object()
        {
            problems.push(format!("the body is wrapped in `{name}`"));
        }
        problems
    }

    fn parameters(&self, operation: &Operation<'a>) -> Vec<String> {
        let mut problems = Vec::new();
        for parameter in operation.body["parameters"].as_array().into_iter().flatten().map(|one| self.resolve(one)) {
            let name = parameter["name"].as_str().unwrap();
            // A filter is sent by parameters of one name each, with a prefix where an identifier has that name.
            let plain = name.strip_prefix("filter.").unwrap_or(name);
            if parameter["in"] != "header" && !is_camel(plain) && !operation.foreign() {
                problems.push(format!("the parameter `{name}` is not camelCase"));
            }
            if parameter["description"].as_str().is_none_or(str::is_empty) {
                problems.push(format!("the parameter `{name}` has no description"));
            }
            // A number in a path is an id: one that is out of range is not found.
            let sent = (parameter["in"] == "query").then(|| bounds(&parameter["schema"])).flatten();
            problems.extend(sent.map(|problem| format!("the parameter `{name}` {problem}")));
        }
        problems
    }

    /// The schemas that an operation refers to, at any depth.
    fn schemas(&self, operation: &Operation<'a>) -> Vec<String> {
        let (mut sent, mut answered) = (BTreeSet::new(), BTreeSet::new());
        self.referred(&operation.body["requestBody"], &mut sent);
        for (status, response) in operation.body["responses"].as_object().unwrap() {
            self.referred(response, &mut answered);
            let content = self.resolve(response)["content"].as_object();
            for (sort, media) in content.into_iter().flatten() {
                if sort.ends_with("json") && media["schema"].as_object().is_none_or(Map::is_empty) {
                    problems_of_empty(status, &mut answered);
                }
            }
        }
        let mut problems = Vec::new();
        for name in sent.union(&answered) {
            if let Some(status) = name.strip_prefix("empty ") {
                problems.push(format!("{status} has an empty schema"));
                continue;
            }
            let schema = &self.description["components"]["schemas"][name];
            problems.extend(self.schema(operation, name, schema, sent.contains(name)));
        }
        problems
    }

    fn schema(&self, operation: &Operation<'a>, name: &str, schema: &'a Value, sent: bool) -> Vec<String> {
        let mut problems = Vec::new();
        let plain = name.starts_with(|first: char| first.is_ascii_uppercase())
            && name.chars().all(|letter| letter.is_ascii_alphanumeric());
        let word = |dialect: &str| name == dialect || name.ends_with(dialect) && dialect == "Body";
        if !plain || DIALECT.split_whitespace().any(word) {
            problems.push(format!("the schema `{name}` is not named by a noun in PascalCase"));
        }
        let foreign = operation.foreign();
        walk(schema, &mut |part| {
            for (field, property) in part["properties"].as_object().into_iter().flatten() {
                let here = format!("the field `{name}.{field}`");
                if !foreign && !is_camel(field) {
                    problems.push(format!("{here} is not camelCase"));
                }
                if field.eq_ignore_ascii_case(name) {
                    problems
                        .push(format!("{here} has the name of its schema, which generated clients cannot tell apart"));
                }
                let target = self.resolve(property);
                let about = |value: &Value| value["description"].as_str().is_some_and(|text| !text.is_empty());
                let either = property["oneOf"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .any(|one| about(one) || about(self.resolve(one)));
                if !about(property) && !about(target) && !either {
                    problems.push(format!("{here} has no description"));
                }
                if sent && !foreign {
                    problems.extend(bounds(property).map(|problem| format!("{here} {problem}")));
                }
            }
            for value in part["enum"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                // The fields of a memory are named as they are.
                if !foreign && !is_word(value) && name != "MemoryField" {
                    problems.push(format!("`{value}` of `{name}` is neither snake_case nor a word in capitals"));
                }
            }
        });
        problems
    }

    fn referred(&self, value: &'a Value, names: &mut BTreeSet<String>) {
        match value {
            Value::Object(fields) => {
                if let Some(place) = fields.get("$ref").and_then(Value::as_str) {
                    let name = place.rsplit('/').next().unwrap_or_default();
                    if !place.contains("/schemas/") || names.insert(name.to_owned()) {
                        self.referred(self.resolve(value), names);
                    }
                }
                fields.iter().filter(|(name, _)| *name != "example").for_each(|(_, field)| self.referred(field, names));
            }
            Value::Array(items) => items.iter().for_each(|item| self.referred(item, names)),
            _ => {}
        }
    }
}

fn problems_of_empty(status: &str, names: &mut BTreeSet<String>) {
    names.insert(format!("empty {status}"));
}

/// Calls with every part of a schema.
fn walk<'a>(schema: &'a Value, visit: &mut impl FnMut(&'a Value)) {
    match schema {
        Value::Object(fields) => {
            visit(schema);
            fields
                .iter()
                .filter(|(name, _)| !matches!(name.as_str(), "example" | "default"))
                .for_each(|(_, field)| walk(field, visit));
        }
        Value::Array(items) => items.iter().for_each(|item| walk(item, visit)),
        _ => {}
    }
}

/// The name of the schema that a reference refers to.
fn named(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.rsplit('/').next()
}

/// A number that is sent has the bounds that the server enforces.
fn bounds(schema: &Value) -> Option<&'static str> {
    let is =
        |sort: &str| schema["type"] == sort || schema["type"].as_array().is_some_and(|all| all.contains(&json!(sort)));
    let (least, most) = (schema.get("minimum").is_some(), schema.get("maximum").is_some());
    match () {
        () if is("integer") && !least => Some("is an integer without a minimum"),
        () if is("number") && !(least && most) => Some("is a number without minimum and maximum"),
        () => None,
    }
}

fn is_camel(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric())
}

/// Whether a value of an enumeration is written in snake_case, or in capitals as S3 writes events.
fn is_word(value: &str) -> bool {
    let of =
        |is: fn(&char) -> bool| value.chars().all(|letter| is(&letter) || letter.is_ascii_digit() || letter == '_');
    !value.is_empty() && (of(char::is_ascii_lowercase) || of(char::is_ascii_uppercase))
}
