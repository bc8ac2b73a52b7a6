//! Strict parsing of request bodies: an unknown or missing field is an error.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

/// An error answer in the format of the real server.
#[derive(Debug)]
pub(super) struct Rejection {
    pub(super) status: StatusCode,
    pub(super) error: String,
}

impl IntoResponse for Rejection {
    fn into_response(self) -> Response {
        (self.status, axum::Json(json!({ "status": { "error": self.error }, "time": 0.000_1 }))).into_response()
    }
}

/// Makes a 400 answer.
pub(super) fn bad(error: impl Into<String>) -> Rejection {
    Rejection { status: StatusCode::BAD_REQUEST, error: error.into() }
}

/// Makes the 404 answer for a missing collection.
pub(super) fn missing(name: &str) -> Rejection {
    Rejection { status: StatusCode::NOT_FOUND, error: format!("Not found: Collection `{name}` doesn't exist!") }
}

/// Returns the fields of an object, or an error if it has a field that is not in `known`.
pub(super) fn object<'a>(value: &'a Value, what: &str, known: &[&str]) -> Result<&'a Map<String, Value>, Rejection> {
    let Some(object) = value.as_object() else {
        return Err(bad(format!("Format error in JSON body: {what} is not an object")));
    };
    match object.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(bad(format!("Format error in JSON body: unknown field `{key}` in {what}"))),
        None => Ok(object),
    }
}

/// Returns a required field.
pub(super) fn field<'a>(object: &'a Map<String, Value>, name: &str) -> Result<&'a Value, Rejection> {
    object.get(name).ok_or_else(|| bad(format!("Format error in JSON body: missing field `{name}`")))
}

/// Parses the id of a point: a UUID or a number.
pub(super) fn id(value: &Value) -> Result<String, Rejection> {
    if let Some(number) = value.as_u64() {
        return Ok(number.to_string());
    }
    let text = value.as_str().and_then(|text| uuid::Uuid::try_parse(text).ok());
    text.map(|uuid| uuid.to_string()).ok_or_else(|| {
        bad(format!("Format error in JSON body: value {value} is not a valid point ID, valid values are either an unsigned integer or a UUID"))
    })
}

/// Parses a vector with the given dimensions and finite numbers.
pub(super) fn vector(value: &Value, dimensions: usize) -> Result<Vec<f32>, Rejection> {
    let numbers = value.as_array().map(|numbers| numbers.iter().map(Value::as_f64).collect::<Option<Vec<f64>>>());
    let Some(Some(numbers)) = numbers else {
        return Err(bad("Format error in JSON body: data did not match any variant of untagged enum VectorStruct"));
    };
    if numbers.len() != dimensions {
        let got = numbers.len();
        return Err(bad(format!("Wrong input: Vector dimension error: expected dim: {dimensions}, got {got}")));
    }
    Ok(numbers.into_iter().map(|number| number as f32).collect())
}
