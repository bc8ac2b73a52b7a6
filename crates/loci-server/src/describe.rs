//! The published OpenAPI description.
//!
//! The types and routes give names, shapes and reference text. What they cannot say is added here, once for all
//! operations: which fields of an answer are always there, what the engine enforces, the headers of answers, the two
//! headers that carry a credential, and the way to MCP. Parts that operations share are described once.

mod answers;
mod bodies;
mod bounds;
mod generics;
mod headers;
mod mcp;
mod overview;
mod print;
mod shared;

use serde_json::{Map, Value};

pub(crate) use self::print::print;
use crate::router;

/// The whole description.
pub(crate) fn described() -> Value {
    let mut description = serde_json::to_value(router::described().into_openapi()).unwrap_or_default();
    generics::name(&mut description);
    mcp::add(&mut description);
    bodies::simplify(&mut description);
    bounds::add(&mut description);
    answers::complete(&mut description);
    headers::add(&mut description);
    overview::add(&mut description);
    shared::share(&mut description);
    description
}

/// Adds fields to an object.
fn merge(into: &mut Value, more: &Value) {
    if let (Some(into), Some(more)) = (into.as_object_mut(), more.as_object()) {
        into.extend(more.clone());
    }
}

/// All operations.
fn operations(description: &mut Value) -> impl Iterator<Item = &mut Value> {
    let paths = description["paths"].as_object_mut().into_iter().flat_map(|paths| paths.values_mut());
    paths.filter_map(Value::as_object_mut).flat_map(|path| path.values_mut())
}

/// The schema that a reference names, without its path.
fn named(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.rsplit('/').next()
}

/// The object at a key, which is made if it is not there.
fn object<'a>(value: &'a mut Value, key: &str) -> &'a mut Map<String, Value> {
    if !value[key].is_object() {
        value[key] = Map::new().into();
    }
    match &mut value[key] {
        Value::Object(object) => object,
        _ => unreachable!("it was made an object above"),
    }
}
