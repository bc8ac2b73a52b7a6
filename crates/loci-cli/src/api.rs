//! The HTTP API as commands call it: of a running server, or of a data folder in this process.
//!
//! A command builds a [`Call`] and prints the answer. Both ways go through the same routes, so that a command does the same
//! on a folder and with `--server`, and `--json` prints what the API answers.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Result;
use futures::stream::{BoxStream, StreamExt};
use loci_engine::Engine;
use loci_models::{cause_of, client_builder};
use loci_server::{Body, InProcess, Options};
use loci_types::{ERROR_TABLE, Error, ErrorKind, Identifier, Problem, RequestScope};
use reqwest::Method;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::fault::Reported;

/// Bytes of an answer as they arrive.
pub(crate) type ByteStream = BoxStream<'static, Result<Vec<u8>>>;

/// One request.
#[derive(Debug)]
pub(crate) struct Call {
    method: Method,
    path: String,
    params: Vec<(String, String)>,
    body: Map<String, Value>,
    headers: Vec<(&'static str, String)>,
}

impl Call {
    /// Reads a resource. The path consists of its segments, which are escaped.
    pub(crate) fn get(segments: &[&str]) -> Self {
        Self::new(Method::GET, segments)
    }

    /// Creates a resource, or runs an action.
    pub(crate) fn post(segments: &[&str]) -> Self {
        Self::new(Method::POST, segments)
    }

    /// Replaces a resource.
    pub(crate) fn put(segments: &[&str]) -> Self {
        Self::new(Method::PUT, segments)
    }

    /// Changes a resource.
    pub(crate) fn patch(segments: &[&str]) -> Self {
        Self::new(Method::PATCH, segments)
    }

    /// Removes a resource.
    pub(crate) fn delete(segments: &[&str]) -> Self {
        Self::new(Method::DELETE, segments)
    }

    fn new(method: Method, segments: &[&str]) -> Self {
        let mut path = String::new();
        for segment in segments {
            path.push('/');
            path.extend(percent_encoding::utf8_percent_encode(segment, SEGMENT));
        }
        Self { method, path, params: Vec::new(), body: Map::new(), headers: Vec::new() }
    }

    /// Adds a query parameter if it has a value.
    pub(crate) fn param(mut self, name: &str, value: Option<impl ToString>) -> Self {
        self.params.extend(value.map(|value| (name.to_owned(), value.to_string())));
        self
    }

    /// Adds a list as one query parameter, separated by commas, unless it is empty.
    pub(crate) fn list_param(self, name: &str, values: &[String]) -> Self {
        self.param(name, (!values.is_empty()).then(|| values.join(",")))
    }

    /// Adds a field to the body unless it serialises to null.
    pub(crate) fn field(mut self, name: &str, value: impl Serialize) -> Self {
        match serde_json::to_value(value) {
            Ok(Value::Null) | Err(_) => {}
            Ok(value) => drop(self.body.insert(name.to_owned(), value)),
        }
        self
    }

    /// Adds all fields of an object to the body.
    pub(crate) fn fields(mut self, fields: Map<String, Value>) -> Self {
        self.body.extend(fields);
        self
    }

    /// Adds a header if it has a value.
    pub(crate) fn header(mut self, name: &'static str, value: Option<impl ToString>) -> Self {
        self.headers.extend(value.map(|value| (name, value.to_string())));
        self
    }

    /// Names the scope: in the body where there is one, else as query parameters.
    pub(crate) fn scope(self, scope: &RequestScope) -> Self {
        if matches!(self.method, Method::GET | Method::DELETE) {
            return self.scope_params(scope);
        }
        let call = if scope.everyone { self.field("everyone", true) } else { self };
        if scope.identifiers.is_empty() { call } else { call.field("identifiers", &scope.identifiers) }
    }

    /// Names the scope as query parameters, for calls whose body is not an object.
    pub(crate) fn scope_params(mut self, scope: &RequestScope) -> Self {
        for which in Identifier::ALL {
            self = self.param(which.field(), scope.identifiers.get(which));
        }
        self.param("everyone", scope.everyone.then_some(true))
    }

    fn path_and_query(&self) -> String {
        if self.params.is_empty() {
            return self.path.clone();
        }
        let mut query = form_urlencoded::Serializer::new(String::new());
        for (name, value) in &self.params {
            query.append_pair(name, value);
        }
        format!("{}?{}", self.path, query.finish())
    }

    fn bytes(&self) -> Vec<u8> {
        let without = matches!(self.method, Method::GET | Method::DELETE);
        if without { Vec::new() } else { Value::Object(self.body.clone()).to_string().into_bytes() }
    }
}

/// What a segment of a path may hold as it is.
const SEGMENT: &percent_encoding::AsciiSet =
    &percent_encoding::NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Who answers.
pub(crate) enum Api {
    /// The data folder, in this process.
    Local(Box<InProcess>),
    /// A server.
    Remote(Remote),
}

/// A server and the key for it.
pub(crate) struct Remote {
    client: reqwest::Client,
    url: String,
    key: Option<String>,
}

impl Api {
    /// The API on an engine of this process.
    pub(crate) fn local(engine: Arc<Engine>, options: Options) -> Result<Self> {
        Ok(Self::Local(Box::new(InProcess::new(engine, options)?)))
    }

    /// The API of the server at `url`, whose certificate these authorities (PEM) have issued, or those of the system.
    pub(crate) fn remote(url: &str, key: Option<String>, authorities: Option<&[u8]>) -> Result<Self> {
        let wrong = |why: &str| {
            Error::invalid("server", format!("`{url}` is not the address of a server: {why}"))
                .hint("write it as http://127.0.0.1:7077 or https://loci.example.com")
        };
        if !url.contains("://") {
            return Err(wrong("it does not begin with http:// or https://").into());
        }
        let parsed = reqwest::Url::parse(url).map_err(|error| wrong(&error.to_string()))?;
        if !matches!(parsed.scheme(), "http" | "https") || parsed.host_str().is_none() {
            return Err(wrong("it needs http:// or https:// and a host").into());
        }
        let builder = client_builder(authorities).map_err(|problem| Error::invalid("ca", problem))?;
        let host = parsed.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let here = host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
        // A proxy of the environment has no business with a server of this machine, nor with its key.
        let builder = if here { builder.no_proxy() } else { builder };
        let client = builder.connect_timeout(std::time::Duration::from_secs(10)).build()?;
        Ok(Self::Remote(Remote { client, url: url.trim_end_matches('/').to_owned(), key }))
    }

    /// Sends a call and reads the answer. An answer without a body is null.
    pub(crate) async fn call(&self, call: Call) -> Result<Value> {
        let bytes = call.bytes();
        let answer = collect(self.send(call, bytes.into()).await?).await?;
        if answer.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&answer).map_err(|_| not_loci().into())
    }

    /// Sends a call and returns the answer as it arrives.
    pub(crate) async fn stream(&self, call: Call) -> Result<ByteStream> {
        let bytes = call.bytes();
        self.send(call, bytes.into()).await
    }

    /// Sends a body that is not a JSON object, such as lines of an import.
    pub(crate) async fn upload(&self, call: Call, body: Body) -> Result<Value> {
        let answer = collect(self.send(call, body).await?).await?;
        serde_json::from_slice(&answer).map_err(|_| not_loci().into())
    }

    /// Waits until everything that calls have left behind is written.
    pub(crate) async fn close(&self) {
        if let Self::Local(api) = self {
            api.close().await;
        }
    }

    async fn send(&self, call: Call, body: Body) -> Result<ByteStream> {
        let typed = call.headers.iter().any(|(name, _)| *name == "content-type");
        match self {
            Self::Local(api) => {
                let mut request =
                    loci_server::Request::builder().method(call.method.clone()).uri(call.path_and_query());
                if !typed {
                    request = request.header("content-type", "application/json");
                }
                for (name, value) in &call.headers {
                    request = request.header(*name, value);
                }
                let (parts, body) = api.call(request.body(body)?).await.into_parts();
                let stream = body.into_data_stream().map(|part| Ok(part?.to_vec())).boxed();
                answered(parts.status.as_u16(), stream).await
            }
            Self::Remote(remote) => {
                let url = format!("{}{}", remote.url, call.path_and_query());
                let mut request = remote.client.request(call.method.clone(), url);
                if !typed {
                    request = request.header("content-type", "application/json");
                }
                for (name, value) in &call.headers {
                    request = request.header(*name, value);
                }
                if let Some(key) = &remote.key {
                    request = request.bearer_auth(key);
                }
                let stream = body.into_data_stream();
                let response = request.body(reqwest::Body::wrap_stream(stream)).send().await;
                let response = response.map_err(|error| unreachable(&remote.url, error))?;
                let status = response.status().as_u16();
                let stream = response.bytes_stream().map(|part| Ok(part?.to_vec())).boxed();
                answered(status, stream).await
            }
        }
    }
}

/// The stream of a success; a failure becomes an error with its code.
async fn answered(status: u16, stream: ByteStream) -> Result<ByteStream> {
    if status < 400 {
        return Ok(stream);
    }
    let answer = collect(stream).await?;
    if answer.starts_with(b"This port speaks HTTPS") {
        return Err(Error::new(ErrorKind::Provider, "the server speaks HTTPS, but the address begins with http://")
            .at("server")
            .hint("write https:// in --server or LOCI_SERVER")
            .into());
    }
    let body: Value = serde_json::from_slice(&answer).map_err(|_| not_loci())?;
    Err(reported(&body).into())
}

async fn collect(mut stream: ByteStream) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some(part) = stream.next().await {
        bytes.extend(part?);
    }
    Ok(bytes)
}

/// The failure that a problem document describes.
pub(crate) fn reported(body: &Value) -> Reported {
    let text = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
    let code = text("code");
    let known = ERROR_TABLE.iter().find(|row| row.code == code);
    // The table has one row for everything that is not found; answers name what it was by the field.
    let known = known.or_else(|| ERROR_TABLE.iter().find(|row| code == "NOT_FOUND" && row.kind == ErrorKind::NotFound));
    let mut details: BTreeMap<String, Value> = serde_json::from_value(body["details"].clone()).unwrap_or_default();
    // `filter.layer[0]` of a body is the flag --layer.
    if let Some(Value::String(field)) = details.get_mut("field") {
        let flag = field.strip_prefix("filter.").unwrap_or(field);
        let flag = if flag.ends_with(']') { flag.rsplit_once('[').map_or(flag, |(list, _)| list) } else { flag };
        *field = flag.to_owned();
    }
    let mut message = text("detail");
    let mut hint = body["hint"].as_str().map(str::to_owned);
    match code.as_str() {
        "UNAUTHENTICATED" => {
            hint = Some("give a key with --key or LOCI_KEY; an admin creates one with `loci key create`".to_owned())
        }
        // The element of a list is one use of its flag.
        _ => message = message.replacen("[0]:", ":", 1),
    }
    let problem = Problem {
        code,
        message,
        operation: text("operation"),
        details,
        retryable: body["retryable"].as_bool().unwrap_or(false),
        hint,
    };
    Reported { problem, exit: known.map_or(1, |row| row.exit) }
}

fn unreachable(url: &str, error: reqwest::Error) -> Error {
    let cause = cause_of(error);
    let hint = match cause.contains("certificate") {
        true => {
            "name the authority that has issued the server's certificate with --ca or LOCI_CA, and the host as in it"
        }
        false => "check --server or LOCI_SERVER, and that `loci serve` runs there",
    };
    Error::new(ErrorKind::Provider, format!("the server at {url} cannot be reached: {cause}")).at("server").hint(hint)
}

fn not_loci() -> Error {
    Error::new(ErrorKind::Provider, "the answer is not one of Loci's HTTP API")
        .at("server")
        .hint("check that --server is the address of a Loci server, without a path")
}
