//! Extractors: parse the bodies, query parameters and paths of requests.
//!
//! An error names the field and has the right status. Unknown fields are refused, and no value is guessed.

use std::fmt::{self, Display};
use std::marker::PhantomData;
use std::str::FromStr;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, Uri};
use loci_types::{ErrorKind, Identifier, Identifiers, MemoryId, MemoryRef, RequestScope};
use serde::de::{DeserializeOwned, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::App;
use crate::failure::{self, Failure};
use crate::guard::Principal;
use crate::short_ids::PathScope;
use crate::strict::Strict;
use crate::v1::PageRequest;

/// The member of a body that names the scope of the request.
const IDENTIFIERS: &str = "identifiers";

/// The member of a body, and the query parameter, that asks for everyone's data.
const EVERYONE: &str = "everyone";

/// A JSON body.
pub(crate) struct Body<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, state: &S) -> Result<Self, Failure> {
        if !is_json(request.headers()) {
            return Err(not_json());
        }
        let bytes = Bytes::from_request(request, state).await.map_err(body_failure)?;
        json(&bytes).map(Self)
    }
}

/// A JSON body, or none at all.
pub(crate) struct MaybeBody<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Default> FromRequest<S> for MaybeBody<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, state: &S) -> Result<Self, Failure> {
        let bytes = optional_json(request, state).await?;
        if bytes.is_empty() { Ok(Self(T::default())) } else { json(&bytes).map(Self) }
    }
}

/// Reads a body that is JSON or empty. One without a type is not taken for JSON: web pages send such bodies without asking.
async fn optional_json<S: Send + Sync>(request: Request, state: &S) -> Result<Bytes, Failure> {
    let (typed, json) = (request.headers().contains_key(CONTENT_TYPE), is_json(request.headers()));
    if typed && !json {
        return Err(not_json());
    }
    let bytes = Bytes::from_request(request, state).await.map_err(body_failure)?;
    if bytes.is_empty() || json { Ok(bytes) } else { Err(not_json()) }
}

/// Query parameters.
pub(crate) struct Params<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Params<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        params(&parts.uri).map(Self)
    }
}

/// Reads the query parameters.
pub(crate) fn params<T: DeserializeOwned>(uri: &Uri) -> Result<T, Failure> {
    parameters(uri.query().unwrap_or_default())
}

/// A JSON body whose fields stand beside `identifiers`, which name the scope of the request.
#[derive(Debug, Default, ToSchema)]
pub(crate) struct Scoped<T> {
    /// The scope of the request.
    #[serde(flatten)]
    #[schema(value_type = ScopeFields)]
    pub(crate) scope: RequestScope,
    /// The other fields.
    #[serde(flatten)]
    pub(crate) body: T,
}

/// The fields of [`Scoped::scope`], for the published description.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only described")]
pub(crate) struct ScopeFields {
    /// The scope of the request. Identifiers that are left out are taken from the credential where it has only one value. A
    /// request that names no scope is refused.
    #[schema(required = false)]
    identifiers: Identifiers,
    /// Whether the request is about everyone's data instead of one scope. Only an admin may ask for that.
    #[schema(required = false, default = false)]
    everyone: bool,
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Scoped<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, state: &S) -> Result<Self, Failure> {
        if !is_json(request.headers()) {
            return Err(not_json());
        }
        scoped(&Bytes::from_request(request, state).await.map_err(body_failure)?)
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Scoped<T> {
    /// Reads an entry of a list. The extractor reads whole bodies by itself, because it can name their fields better.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ScopedVisitor<T>(PhantomData<T>);
        impl<'de, T: DeserializeOwned> Visitor<'de> for ScopedVisitor<T> {
            type Value = Scoped<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Scoped<T>, A::Error> {
                let (mut identifiers, mut everyone, mut rest) = (None, None, serde_json::Map::new());
                while let Some((name, value)) = map.next_entry::<String, serde_json::Value>()? {
                    let again = match name.as_str() {
                        IDENTIFIERS => identifiers.replace(value).is_some(),
                        EVERYONE => everyone.replace(value).is_some(),
                        _ => rest.insert(name.clone(), value).is_some(),
                    };
                    if again {
                        return Err(A::Error::custom(format!("duplicate field `{name}`")));
                    }
                }
                let identifiers = identifiers.map(|value| part(value, Some(IDENTIFIERS))).transpose()?;
                let everyone = everyone.map(|value| part(value, Some(EVERYONE))).transpose()?;
                let scope = RequestScope {
                    identifiers: identifiers.unwrap_or_default(),
                    everyone: everyone.unwrap_or_default(),
                };
                Ok(Scoped { scope, body: part(rest.into(), None)? })
            }
        }
        deserializer.deserialize_map(ScopedVisitor(PhantomData))
    }
}

/// Reads a value strictly. The error names the field in the way in which [`field_failure`] looks for it.
fn part<T: DeserializeOwned, E: serde::de::Error>(value: serde_json::Value, within: Option<&str>) -> Result<T, E> {
    serde_path_to_error::deserialize(Strict(value)).map_err(|error| {
        let (path, problem) = (error.path().to_string(), error.inner().to_string());
        let path = match within {
            Some(within) if path == "." => within.to_owned(),
            Some(within) => format!("{within}.{path}"),
            None => path,
        };
        // A missing or unknown field is named by the sentence itself.
        E::custom(if path == "." { problem } else { format!("field `{path}`: {problem}") })
    })
}

/// The same, where the body may be left out.
pub(crate) struct MaybeScoped<T>(pub(crate) Scoped<T>);

impl<S: Send + Sync, T: DeserializeOwned + Default> FromRequest<S> for MaybeScoped<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, state: &S) -> Result<Self, Failure> {
        let bytes = optional_json(request, state).await?;
        if bytes.is_empty() {
            return Ok(Self(Scoped::default()));
        }
        scoped(&bytes).map(Self)
    }
}

/// A body that has no fields beside `identifiers`.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[schema(as = Scope)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoFields {}

/// The members of a JSON object, unread. A name that occurs twice is refused.
struct Members(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members: Vec<(String, Box<RawValue>)> = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, Box<RawValue>>()? {
                    if members.iter().any(|(other, _)| *other == name) {
                        return Err(A::Error::custom(format!("duplicate field `{name}`")));
                    }
                    members.push((name, value));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(MembersVisitor)
    }
}

/// Reads the scope that a body names, and nothing else. A body that cannot be read names none; the handler refuses it.
pub(crate) fn scope_of(bytes: &[u8]) -> RequestScope {
    let members = serde_json::from_slice(bytes).map_or_else(|_| Vec::new(), |Members(members)| members);
    let named = |name: &str| members.iter().find(|(member, _)| member == name).map(|(_, value)| value.get());
    RequestScope {
        identifiers: named(IDENTIFIERS).and_then(|value| serde_json::from_str(value).ok()).unwrap_or_default(),
        everyone: named(EVERYONE) == Some("true"),
    }
}

/// Reads an object: `identifiers` by themselves, the rest as `T`. Both are read strictly.
fn scoped<T: DeserializeOwned>(bytes: &[u8]) -> Result<Scoped<T>, Failure> {
    let wrong = |error: serde_json::Error| field_failure("body".to_owned(), &error.to_string());
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let Members(members) = serde_path_to_error::deserialize(&mut reader)
        .map_err(|error| field_failure(error.path().to_string(), &error.inner().to_string()))?;
    reader.end().map_err(wrong)?;
    let (mut scope, mut rest) = (RequestScope::default(), vec![b'{']);
    for (name, value) in members {
        if name == IDENTIFIERS {
            scope.identifiers = json(value.get().as_bytes()).map_err(|failure| failure.within(IDENTIFIERS))?;
            continue;
        }
        if name == EVERYONE {
            scope.everyone = json(value.get().as_bytes()).map_err(|failure| failure.within(EVERYONE))?;
            continue;
        }
        if rest.len() > 1 {
            rest.push(b',');
        }
        serde_json::to_writer(&mut rest, &name).map_err(wrong)?;
        rest.push(b':');
        rest.extend_from_slice(value.get().as_bytes());
    }
    rest.push(b'}');
    Ok(Scoped { scope, body: json(&rest)? })
}

/// Query parameters, apart from those that name the scope of the request.
pub(crate) struct ScopedParams<T>(pub(crate) RequestScope, pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for ScopedParams<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let (_, rest) = split(parts.uri.query().unwrap_or_default(), names_scope);
        Ok(Self(scope_of_query(&parts.uri)?, parameters(&rest)?))
    }
}

pub(crate) fn is_identifier(name: &str) -> bool {
    Identifier::ALL.iter().any(|which| which.field() == name)
}

/// Whether a query parameter names the scope of the request.
pub(crate) fn names_scope(name: &str) -> bool {
    name == EVERYONE || is_identifier(name)
}

/// Reads the scope that the query parameters name.
pub(crate) fn scope_of_query(uri: &Uri) -> Result<RequestScope, Failure> {
    /// The parameter that asks for everyone's data.
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Everyone {
        everyone: bool,
    }
    let query = uri.query().unwrap_or_default();
    let Everyone { everyone } = parameters(&split(query, |name| name == EVERYONE).0)?;
    Ok(RequestScope { identifiers: parameters(&split(query, is_identifier).0)?, everyone })
}

/// Query parameters of a list: the scope, the page, and what else the list takes.
pub(crate) struct ListParams<T> {
    pub(crate) scope: RequestScope,
    pub(crate) page: PageRequest,
    pub(crate) params: T,
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for ListParams<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let (page, rest) = split(parts.uri.query().unwrap_or_default(), |name| matches!(name, "limit" | "cursor"));
        let page = PageRequest::new(parameters(&page)?)?;
        let mut others = parts.clone();
        others.uri = format!("/?{rest}").parse().map_err(|_| unreadable_path())?;
        let ScopedParams(scope, params) = ScopedParams::from_request_parts(&mut others, state).await?;
        Ok(Self { scope, page, params })
    }
}

/// Divides a query string into the parameters whose names are chosen and the others.
pub(crate) fn split(text: &str, chosen: impl Fn(&str) -> bool) -> (String, String) {
    let mut parts = [(); 2].map(|()| form_urlencoded::Serializer::new(String::new()));
    for (name, value) in form_urlencoded::parse(text.as_bytes()) {
        parts[usize::from(!chosen(&name))].append_pair(&name, &value);
    }
    let [mut first, mut second] = parts;
    (first.finish(), second.finish())
}

/// Reads parameters. An error names the parameter.
pub(crate) fn parameters<T: DeserializeOwned>(text: &str) -> Result<T, Failure> {
    let pairs = form_urlencoded::parse(text.as_bytes());
    let read = serde_path_to_error::deserialize(serde_urlencoded::Deserializer::new(pairs));
    read.map_err(|error| field_failure(error.path().to_string(), &error.inner().to_string()))
}

/// Reads a comma-separated list; an empty list is refused.
pub(crate) fn words<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr,
    T::Err: Display,
{
    let text = String::deserialize(deserializer)?;
    text.split(',').map(|word| word.trim().parse().map_err(D::Error::custom)).collect()
}

/// The id of a memory in the path, whole or short. A short one is looked up in the scope of the request, which
/// [`short_ids`](crate::short_ids) has read.
pub(crate) struct Id(pub(crate) MemoryId);

impl FromRequestParts<Arc<App>> for Id {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Failure> {
        let PathName(text) = PathName::from_request_parts(parts, app).await?;
        if let Ok(id) = text.parse() {
            return Ok(Self(id));
        }
        let Some(scope) = parts.extensions.get::<PathScope>().cloned() else {
            let failure = Failure::new(ErrorKind::InvalidInput, "the id in the path is not a UUID", "request");
            return Err(failure.field("id"));
        };
        let given = text.parse::<MemoryRef>().map_err(|error| failure::to_failure(&error, &scope.operation))?;
        let caller = Principal::from_request_parts(parts, app).await?.caller(scope.asked, &scope.operation)?;
        let found = app.engine.resolve_id(&caller, &given).await;
        found.map(Self).map_err(|error| Failure::of(error.problem(&scope.operation)))
    }
}

/// The one name in the path.
pub(crate) struct PathName(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for PathName {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let Path(text) = Path::<String>::from_request_parts(parts, state).await.map_err(|_| unreadable_path())?;
        Ok(Self(text))
    }
}

/// Two names in the path.
pub(crate) struct PathPair(pub(crate) String, pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for PathPair {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let Path((first, second)) =
            Path::<(String, String)>::from_request_parts(parts, state).await.map_err(|_| unreadable_path())?;
        Ok(Self(first, second))
    }
}

fn unreadable_path() -> Failure {
    Failure::new(ErrorKind::InvalidInput, "the path is not valid UTF-8", "read the request").field("path")
}

fn is_json(headers: &HeaderMap) -> bool {
    let sort = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let sort = sort.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    sort == "application/json" || sort.starts_with("application/") && sort.ends_with("+json")
}

fn not_json() -> Failure {
    Failure::new(ErrorKind::InvalidInput, "the body must be JSON", "read the request")
        .status(StatusCode::UNSUPPORTED_MEDIA_TYPE)
        .field("Content-Type")
        .hint("send the header `Content-Type: application/json`")
}

/// Reads JSON. An error names the field.
pub(crate) fn json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Failure> {
    let wrong = |error: serde_path_to_error::Error<serde_json::Error>| {
        field_failure(error.path().to_string(), &error.inner().to_string())
    };
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let read = serde_path_to_error::deserialize(&mut reader).map_err(wrong)?;
    reader.end().map_err(|error| field_failure("body".to_owned(), &error.to_string()))?;
    // Only a document with a list can contain one in the place of an object.
    if bytes.contains(&b'[') {
        let value =
            serde_json::from_slice(bytes).map_err(|error| field_failure("body".to_owned(), &error.to_string()))?;
        serde_path_to_error::deserialize::<_, T>(Strict(value)).map_err(wrong)?;
    }
    Ok(read)
}

pub(crate) fn field_failure(path: String, problem: &str) -> Failure {
    // If a document ends too early, the path ends with `?`.
    let path = path.trim_end_matches('?').trim_end_matches('.').to_owned();
    // A missing or unknown field is named in the sentence, not in the path.
    let quoted = problem.split('`').nth(1).filter(|_| problem.contains("field"));
    let field = match (path.as_str(), quoted) {
        ("." | "", Some(name)) => name.to_owned(),
        ("." | "", None) => "body".to_owned(),
        (path, Some(name)) if !path.ends_with(name) => format!("{path}.{name}"),
        (path, _) => path.to_owned(),
    };
    let last = field.rsplit('.').next().unwrap_or_default().split('[').next().unwrap_or_default();
    let layer =
        matches!(last, "layer" | "layers") && problem.contains("unknown variant") || problem.contains("unknown layer");
    let kind = if layer { ErrorKind::InvalidLayer } else { ErrorKind::InvalidInput };
    // The parser counts within the field, which helps nobody.
    let problem = problem.split(" at line ").next().unwrap_or(problem);
    let problem = unknown_value(last, problem).unwrap_or_else(|| problem.to_owned());
    Failure::new(kind, format!("{field}: {problem}"), "read the request").field(&field)
}

/// The parser's sentence about an unknown variant, in plain words: "unknown layer `usr`: expected one of agent, user".
fn unknown_value(field: &str, problem: &str) -> Option<String> {
    let (value, expected) = problem.strip_prefix("unknown variant ")?.split_once(", expected ")?;
    let name = field.strip_suffix('s').filter(|_| field == "layers").unwrap_or(field);
    Some(format!("unknown {name} {value}: expected {}", expected.replace('`', "")))
}

/// The failure of a body that could not be read.
pub(crate) fn body_failure(rejection: BytesRejection) -> Failure {
    let failure = |text: &str| Failure::new(ErrorKind::InvalidInput, text, "read the request").field("body");
    match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => failure("the body is larger than this server accepts")
            .status(StatusCode::PAYLOAD_TOO_LARGE)
            .hint("send less at once, or raise server.body_bytes in the settings of the server"),
        _ => failure(&rejection.body_text()),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Default, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    struct Outer {
        inner: Inner,
        count: u32,
    }

    #[derive(Debug, Default, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        #[expect(dead_code, reason = "only read")]
        name: String,
    }

    #[test]
    fn what_is_wrong_is_named() {
        let check = |text: &str, field: &str| {
            let failure = json::<Outer>(text.as_bytes()).map(|read| (read.inner, read.count)).unwrap_err();
            assert_eq!(failure.problem().details["field"], field, "{text}: {failure:?}");
            assert_eq!(failure.code(), StatusCode::BAD_REQUEST);
        };
        check("", "body");
        check("{", "body");
        check("[1", "[0]");
        check("[]", "body");
        check("null", "body");
        check(r#"{"inner":["a"]}"#, "inner");
        check(r#"{"count":-1}"#, "count");
        check(r#"{"count":"many"}"#, "count");
        check(r#"{"extra":1}"#, "extra");
        check(r#"{"inner":{}}"#, "inner.name");
        check(r#"{"inner":{"name":"a","more":1}}"#, "inner.more");
        check(r#"{"inner":{"name":7}}"#, "inner.name");
        check(r#"{"count":1} x"#, "body");
        check(r#"[{"name":"a"},1]"#, "body");
        check(r#"{"count":1,"count":2}"#, "count");
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        assert!(json::<Outer>(deep.as_bytes()).is_err());
        assert!(json::<Outer>(b"{\"inner\":{\"name\":\"\xff\"}}").is_err());
    }

    #[test]
    fn identifiers_stand_beside_the_fields() {
        let read = scoped::<Outer>(br#"{"count":2,"identifiers":{"userId":"ann"},"inner":{"name":"x"}}"#).unwrap();
        assert_eq!((read.scope.identifiers.user_id.as_deref(), read.body.count), (Some("ann"), 2));
        assert_eq!(scoped::<Outer>(b"{}").unwrap().body.count, 0);
        let check = |text: &str, field: &str| {
            let failure = scoped::<Outer>(text.as_bytes()).unwrap_err();
            assert_eq!(failure.problem().details["field"], field, "{text}: {failure:?}");
        };
        check("", "body");
        check("[]", "body");
        check("null", "body");
        check(r#"{"count":1,"count":2}"#, "count");
        check(r#"{"inner":{"name":"a","name":"b"}}"#, "inner.name");
        check(r#"{"identifiers":{"userId":"a","userId":"b"}}"#, "identifiers.userId");
        check(r#"{"identifiers":{"user":"a"}}"#, "identifiers.user");
        check(r#"{"identifiers":{"userId":7}}"#, "identifiers.userId");
        check(r#"{"identifiers":["ann"]}"#, "identifiers");
        check(r#"{"everyone":"yes"}"#, "everyone");
        assert!(scoped::<Outer>(br#"{"everyone":true}"#).unwrap().scope.everyone);
        check(r#"{"extra":1}"#, "extra");
        check(r#"{"count":1} x"#, "body");
    }
}
