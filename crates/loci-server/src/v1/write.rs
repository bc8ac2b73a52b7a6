//! Write answers: the one shape in which every write is answered.
//!
//! A new resource is answered with 201 and `Location`, a known or changed one with 200, a removed one with 204. What
//! has a version carries it as `ETag`. `Prefer: return=minimal` leaves `data` out.

use axum::Json;
use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::header::{ETAG, HeaderValue, LOCATION};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use loci_engine::Caller;
use loci_types::{Durability, ErrorKind, Identifier, Identifiers, Memory, MemoryId, Outcome, Receipt};
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use crate::App;
use crate::failure::Failure;

/// The answer to a write.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Write<T> {
    /// The id of the resource.
    pub(crate) id: String,
    /// What the write did.
    pub(crate) event: Outcome,
    /// The version of the resource after the write; null if it has none.
    #[schema(required)]
    pub(crate) version: Option<u64>,
    /// The names of the patterns that were masked before anything was stored.
    pub(crate) redacted: Vec<String>,
    /// Parts of the work that could not be done now, for example `vector`.
    pub(crate) degraded: Vec<String>,
    /// Memories only: whether a vector was computed for a new memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) embedding_generated: Option<bool>,
    /// Memories only: whether a new vector was computed because the text changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) embedding_regenerated: Option<bool>,
    /// Memories only: how durable the write is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) durability: Option<Durability>,
    /// The resource after the write; null if the caller may not see it or asked for `return=minimal`.
    #[schema(required)]
    pub(crate) data: Option<T>,
}

impl<T> Write<T> {
    /// The answer to a write of something that has no version.
    pub(crate) fn new(id: impl Into<String>, event: Outcome, data: Option<T>) -> Self {
        Self {
            id: id.into(),
            event,
            version: None,
            redacted: Vec::new(),
            degraded: Vec::new(),
            embedding_generated: None,
            embedding_regenerated: None,
            durability: None,
            data,
        }
    }

    /// The answer to a write of a memory.
    pub(crate) fn of(receipt: Receipt, data: Option<T>) -> Self {
        Self {
            version: Some(receipt.version),
            redacted: receipt.redacted,
            embedding_generated: Some(receipt.embedding_generated),
            embedding_regenerated: Some(receipt.embedding_regenerated),
            durability: Some(receipt.durability),
            ..Self::new(receipt.id.to_string(), receipt.event, data)
        }
    }

    /// The same answer, with what could not be done.
    pub(crate) fn degraded(self, degraded: Vec<String>) -> Self {
        Self { degraded, ..self }
    }

    /// The same answer, with what was masked.
    pub(crate) fn redacted(self, redacted: Vec<String>) -> Self {
        Self { redacted, ..self }
    }
}

impl<T: Serialize> Write<T> {
    /// The response to a write within a scope. `Location` names the scope too, so that it can be read as it is.
    pub(crate) fn within(self, location: &str, scope: &Identifiers) -> Response {
        let mut query = form_urlencoded::Serializer::new(String::new());
        for which in Identifier::ALL {
            if let Some(value) = scope.get(which) {
                query.append_pair(which.field(), value);
            }
        }
        let query = query.finish();
        let mark = if location.contains('?') { '&' } else { '?' };
        if query.is_empty() { self.at(location) } else { self.at(&format!("{location}{mark}{query}")) }
    }

    /// The response: 201 with its place if the write made something new, else 200.
    pub(crate) fn at(self, location: &str) -> Response {
        let new = matches!(self.event, Outcome::Created | Outcome::Superseded);
        let version = self.version;
        let status = if new { StatusCode::CREATED } else { StatusCode::OK };
        let mut response = (status, Json(self)).into_response();
        if let Ok(place) = HeaderValue::from_str(location)
            && new
        {
            response.headers_mut().insert(LOCATION, place);
        }
        if let Some(version) = version
            && let Ok(tag) = HeaderValue::from_str(&format!("\"{version}\""))
        {
            response.headers_mut().insert(ETAG, tag);
        }
        response
    }
}

/// A name as one segment of a path, percent-encoded where it must be.
pub(crate) fn segment(name: &str) -> String {
    let mut encoded = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => encoded.push(char::from(byte)),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

/// A memory that was just written, for the answer; none if the caller may not see it or it cannot be read now. The
/// write succeeded and is answered as such.
pub(crate) async fn read_back(app: &App, caller: &Caller, id: MemoryId, prefer: Prefer) -> Option<Memory> {
    if prefer.minimal {
        return None;
    }
    match app.engine.get(caller, id).await {
        Ok(memory) => Some(memory),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => {
            tracing::warn!(%error, %id, "the memory was written, but not read back");
            None
        }
    }
}

/// How much of a write is answered, from the header `Prefer` (RFC 7240). Unknown preferences are ignored.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Prefer {
    /// Whether the resource is left out of the answer.
    pub(crate) minimal: bool,
}

impl Prefer {
    /// The resource, unless it is left out.
    pub(crate) fn data<T>(self, data: T) -> Option<T> {
        (!self.minimal).then_some(data)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Prefer {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let given = parts.headers.get_all("prefer").iter().filter_map(|value| value.to_str().ok());
        let minimal = given.flat_map(|text| text.split(',')).any(|one| one.trim() == "return=minimal");
        Ok(Self { minimal })
    }
}

/// The header `Prefer`, for the published description.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "only described; `Prefer` reads it")]
pub(crate) struct PreferHeader {
    /// `return=minimal` leaves `data` out of the answer.
    #[param(rename = "Prefer", nullable = false)]
    prefer: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_stays_one_segment() {
        for (name, expect) in [("a-b_c.d~1", "a-b_c.d~1"), ("t/1 ?#%", "t%2F1%20%3F%23%25"), ("ü", "%C3%BC")] {
            assert_eq!(segment(name), expect);
        }
    }

    #[test]
    fn the_event_decides_the_status() {
        for (event, status) in [
            (Outcome::Created, 201),
            (Outcome::Superseded, 201),
            (Outcome::None, 200),
            (Outcome::Updated, 200),
            (Outcome::Restored, 200),
        ] {
            let response = Write::new("a", event, Some(1)).at("/v1/things/a");
            assert_eq!(response.status().as_u16(), status, "{event:?}");
            assert_eq!(response.headers().contains_key(LOCATION), status == 201, "{event:?}");
        }
    }
}
