//! Authentication and authorization of every request.
//!
//! The guard checks the host, the origin, the credential, the rate and the role that the route requires, in this order. A
//! handler gets a [`Principal`], from which alone a
//! `Caller` is made. The guard fails closed: a route that declares no role is for admins only.

mod access;
mod bearer;
mod hosts;
mod jwks;
mod jwt;
mod rate;
mod refusals;
mod span;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{FromRequestParts, MatchedPath, Request, State};
use axum::http::header::HOST;
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Version};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use loci_engine::{Caller, Engine};
use loci_types::{ErrorKind, Grant, Identifiers, RequestScope, Role, Tenant};
use tracing::Instrument;

pub(crate) use self::access::Access;
use self::bearer::bearer;
pub(crate) use self::hosts::Hosts;
pub(crate) use self::jwt::Jwt;
pub(crate) use self::rate::Rate;
pub(crate) use self::refusals::Refusals;
pub(crate) use self::span::RequestSpan;
use crate::App;
use crate::failure::{self, Failure};
use crate::in_process::Trusted;
use crate::openspec;
use crate::peer::client_address;

/// The header with the id of a request.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The tenant of requests without a credential.
const OPERATOR_TENANT: &str = "default";

/// The authenticated sender of a request.
#[derive(Debug, Clone)]
pub(crate) struct Principal {
    credential: Credential,
    request: String,
}

/// A verified credential.
#[derive(Debug, Clone)]
pub(crate) enum Credential {
    /// None, on a route that everyone may call. It may do nothing.
    Nobody,
    /// No credential, because the server does not require one.
    Open,
    /// None, because the request was made in this process by the owner of the data.
    Trusted,
    /// A key or a token that was verified.
    Verified {
        /// Its name, for the ledger and the log.
        id: Arc<str>,
        /// What it allows.
        grant: Arc<Grant>,
    },
}

impl Principal {
    /// The operator, who may do everything.
    pub(crate) fn operator() -> Self {
        Self { credential: Credential::Open, request: new_request_id() }
    }

    /// The caller with these identifiers, as far as the credential admits them.
    pub(crate) fn caller(&self, asked: impl Into<RequestScope>, operation: &str) -> Result<Caller, Failure> {
        let caller = match &self.credential {
            Credential::Nobody => return Err(credential_required().operation(operation)),
            Credential::Open | Credential::Trusted => Caller::owner(asked),
            Credential::Verified { id, grant } => Caller::admitted(grant, id, asked),
        };
        let caller = caller.map_err(|error| failure::to_failure(&error, operation))?;
        Ok(Caller { request: Some(self.request.clone()), ..caller })
    }

    /// The caller without identifiers of the request.
    pub(crate) fn own_caller(&self, operation: &str) -> Result<Caller, Failure> {
        self.caller(Identifiers::default(), operation)
    }

    /// The role of the credential: the least for who has none, who passes no check of it either.
    pub(crate) fn role(&self) -> Role {
        match &self.credential {
            Credential::Nobody => Role::Reader,
            Credential::Open | Credential::Trusted => Role::Admin,
            Credential::Verified { grant, .. } => grant.role,
        }
    }

    /// The grant of the credential, or `None` if no credential is required.
    pub(crate) fn grant(&self) -> Option<&Grant> {
        match &self.credential {
            Credential::Nobody | Credential::Open | Credential::Trusted => None,
            Credential::Verified { grant, .. } => Some(grant),
        }
    }

    /// The tenant of the credential.
    pub(crate) fn tenant(&self) -> &str {
        self.grant().map_or(OPERATOR_TENANT, |grant| grant.tenant.name())
    }

    /// The name of the credential, for the ledger and the log.
    pub(crate) fn name(&self) -> &str {
        match &self.credential {
            Credential::Nobody => "none",
            Credential::Open => "open",
            Credential::Trusted => "operator",
            Credential::Verified { id, .. } => id,
        }
    }

    /// Whether the request needed no credential.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.credential, Credential::Open | Credential::Trusted)
    }

    /// The id of the request.
    pub(crate) fn request(&self) -> &str {
        &self.request
    }

    /// Checks that the credential has at least this role.
    pub(crate) fn require_role(&self, needed: Role, operation: &str) -> Result<(), Failure> {
        if matches!(self.credential, Credential::Nobody) {
            return Err(credential_required().operation(operation));
        }
        if self.role() >= needed {
            return Ok(());
        }
        let message =
            format!("this operation requires the role {needed}, but the credential has the role {}", self.role());
        Err(Failure::new(ErrorKind::Unauthorized, message, operation).hint("use a credential with that role"))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Principal {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let missing = || Failure::new(ErrorKind::Internal, "the request did not pass the guard", "authenticate");
        parts.extensions.get::<Principal>().cloned().ok_or_else(missing)
    }
}

/// The middleware: admits or refuses a request, and records the outcome in the log, the metrics and the span.
pub(crate) async fn pass(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let started = std::time::Instant::now();
    let named = request_id(request.headers());
    let route = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let method = request.method().clone();
    let operation = app.access.operation(&method, route.as_deref());
    let span = RequestSpan::new(&named, &method, route.as_deref(), &operation, request.headers());
    let answer = async {
        let admitted = match request.extensions().get::<Trusted>() {
            Some(_) => Ok((Principal { credential: Credential::Trusted, request: named.clone() }, Default::default())),
            None => {
                let client =
                    client_address(request.extensions(), request.headers(), &app.options.server.trusted_proxies);
                let client = ClientInfo { host: host(&request), client, version: request.version() };
                admit(&app, request.headers(), &method, route.as_deref(), &named, client).await
            }
        };
        match admitted {
            Ok((principal, rated)) => {
                let name = Some(principal.name().to_owned());
                if !matches!(principal.credential, Credential::Nobody) {
                    app.requests.add(principal.tenant());
                }
                request.extensions_mut().insert(principal);
                request.extensions_mut().insert(span.clone());
                let mut response = next.run(request).await;
                rated.write_to(response.headers_mut());
                (response, name)
            }
            Err(refused) => {
                let mut response = refused.failure.into_response();
                refused.rated.write_to(response.headers_mut());
                (response, refused.name)
            }
        }
    };
    let (mut response, name) = answer.instrument(span.span().clone()).await;
    let status = response.status().as_u16();
    let code = response.extensions().get::<failure::Code>().cloned();
    // What failed before the operation began, or is not counted where it runs.
    if let Some(failed) = code.as_ref().filter(|code| !code.counted && app.access.knows(&method, route.as_deref())) {
        let (protocol, name) = openspec::counted_as(&operation);
        app.metrics.operation(protocol, name, Some(&failed.name), started.elapsed());
    }
    let code = code.map(|code| code.name);
    span.answered(status, code.as_deref());
    failure::name_request(&mut response, &named, &operation, route.as_deref());
    if let Ok(value) = HeaderValue::from_str(&named) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    let route = route.unwrap_or_else(|| "none".to_owned());
    app.metrics.request(&method, &route, status);
    let milliseconds = started.elapsed().as_secs_f64() * 1e3;
    let credential = name.as_deref().unwrap_or("none");
    if matches!(status, 401 | 403 | 429) {
        denied(&app, credential, &named, &format!("{method} {route}"), code.as_deref().unwrap_or_default());
    }
    tracing::info!(request = named, credential, %method, route, status, code, milliseconds, "request");
    response
}

/// Records a refusal in the metrics and the audit log.
pub(crate) fn denied(app: &App, credential: &str, request: &str, operation: &str, code: &str) {
    app.metrics.denied(code);
    tracing::warn!(target: "loci::audit", request, credential, operation, code, "denied");
}

/// A refusal, with the name of the credential as far as it is known.
struct Denial {
    failure: Failure,
    name: Option<String>,
    rated: rate::RateStatus,
}

impl From<Failure> for Denial {
    fn from(failure: Failure) -> Self {
        Self { failure, name: None, rated: rate::RateStatus::default() }
    }
}

/// What a connection tells of the sender of a request.
struct ClientInfo {
    /// The host that the request is for.
    host: Option<String>,
    /// The address of the client. Absent if the request was made in this process.
    client: Option<IpAddr>,
    version: Version,
}

async fn admit(
    app: &App,
    headers: &HeaderMap,
    method: &Method,
    route: Option<&str>,
    named: &str,
    ClientInfo { host, client, version }: ClientInfo,
) -> Result<(Principal, rate::RateStatus), Denial> {
    // Probes name the server by an address that it does not know, such as that of a pod.
    if !is_probe(route) {
        app.hosts.admit(host.as_deref())?;
    }
    if headers.get_all(HOST).iter().nth(1).is_some() {
        let message = "more than one header `Host`";
        return Err(Failure::new(ErrorKind::InvalidInput, message, "request")
            .field("Host")
            .hint("send exactly one")
            .into());
    }
    app.hosts.admit_origin(method, headers, host.as_deref())?;
    let needed = app.access.of(method, route);
    let credential = match needed {
        access::Requirement::Nothing => Credential::Nobody,
        _ => identify_client(app, headers, client).await?,
    };
    if matches!(credential, Credential::Open) {
        hosts::refuse_proxied(version, headers)?;
    }
    let principal = Principal { credential, request: named.to_owned() };
    let name = Some(principal.name().to_owned());
    let rated = match app.rate.count(&principal).await {
        Ok(rated) => rated,
        Err((failure, rated)) => return Err(Denial { failure, name, rated }),
    };
    if let access::Requirement::Role(role) = needed
        && let Err(failure) = principal.require_role(role, &app.access.operation(method, route))
    {
        return Err(Denial { failure, name, rated });
    }
    Ok((principal, rated))
}

/// Whether the route is a probe of the process or of its parts.
fn is_probe(route: Option<&str>) -> bool {
    matches!(route, Some("/healthz" | "/readyz"))
}

/// Verifies the credential of the request, unless too many credentials of this client were refused.
async fn identify_client(app: &App, headers: &HeaderMap, client: Option<IpAddr>) -> Result<Credential, Failure> {
    let Some(client) = client else { return identify(app, headers).await };
    let shown = bearer(headers).ok().flatten();
    if let Err(slowed) = app.refusals.admit(client, shown, Instant::now())
        // Nobody needs a credential on an open server.
        && !(shown.is_none() && app.is_open().await?)
    {
        return Err(slowed);
    }
    let identified = identify(app, headers).await;
    match (&identified, shown) {
        (Ok(Credential::Verified { .. }), Some(shown)) => app.refusals.remember_valid(shown),
        (Err(failure), _) if failure.code() == StatusCode::UNAUTHORIZED => {
            app.refusals.count(client, Instant::now());
            if let Some(shown) = shown {
                app.refusals.forget(shown);
            }
        }
        _ => {}
    }
    identified
}

/// Whether the sender of a request to a public route is an admin. A credential is not required, but one that is sent is
/// verified like any other.
pub(crate) async fn is_admin(app: &App, headers: &HeaderMap, extensions: &Extensions) -> bool {
    if extensions.get::<Trusted>().is_some() {
        return true;
    }
    if bearer(headers).is_ok_and(|shown| shown.is_none()) {
        // Who comes through a proxy is not known to be on this machine.
        return hosts::refuse_proxied(Version::HTTP_11, headers).is_ok() && app.is_open().await.unwrap_or(false);
    }
    let client = client_address(extensions, headers, &app.options.server.trusted_proxies);
    let identified = identify_client(app, headers, client).await;
    identified.is_ok_and(|credential| Principal { credential, request: String::new() }.role() == Role::Admin)
}

/// Verifies the credential of the request.
async fn identify(app: &App, headers: &HeaderMap) -> Result<Credential, Failure> {
    let unknown = || {
        Failure::unknown_caller(
            "invalid credential",
            "check that the credential is complete, not revoked and not expired",
        )
    };
    let Some(shown) = bearer(headers)? else {
        if app.is_open().await? {
            return Ok(Credential::Open);
        }
        return Err(credential_required());
    };
    if app.is_local_key(shown) {
        return Ok(Credential::Verified { id: "local".into(), grant: Arc::new(Grant::whole(Tenant::default())) });
    }
    if let Some(key) = authenticate(&app.engine, shown).await? {
        return Ok(Credential::Verified { id: format!("key:{}", key.id).into(), grant: Arc::new(key.grant) });
    }
    if let Some(jwt) = &app.jwt {
        jwt.refresh_for(shown).await;
    }
    match app.jwt.as_ref().and_then(|jwt| jwt.verify(shown)) {
        Some((subject, grant)) => {
            Ok(Credential::Verified { id: format!("jwt:{subject}").into(), grant: Arc::new(grant) })
        }
        None => Err(unknown()),
    }
}

fn credential_required() -> Failure {
    Failure::unknown_caller(
        "credential required",
        "send `Authorization: Bearer KEY`; an admin creates keys with POST /v1/keys or `loci key create`",
    )
}

/// Whether the credential of an open stream is still valid.
pub(crate) async fn is_still_valid(app: &App, headers: &HeaderMap, principal: &Principal) -> bool {
    if matches!(principal.credential, Credential::Trusted) {
        return true;
    }
    let shown = identify(app, headers).await;
    shown.is_ok_and(|credential| Principal { credential, request: String::new() }.name() == principal.name())
}

async fn authenticate(engine: &Engine, shown: &str) -> Result<Option<loci_types::Key>, Failure> {
    engine.authenticate(shown).await.map_err(|error| Failure::of(error.problem("authenticate")))
}

/// The id that the caller gave the request if it is well-formed, otherwise a new one.
fn request_id(headers: &HeaderMap) -> String {
    let plain = |text: &&str| {
        let short = (1..=128).contains(&text.len());
        short && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte))
    };
    let given = headers.get(&REQUEST_ID).and_then(|value| value.to_str().ok()).filter(plain);
    given.map_or_else(new_request_id, str::to_owned)
}

/// A new id for a request. Ids sort by time.
#[expect(clippy::disallowed_methods, reason = "an id for the log; nothing depends on its time")]
fn new_request_id() -> String {
    uuid::Uuid::now_v7().to_string()
}

/// The host that the request is for: from its first line, or from the header.
fn host(request: &Request) -> Option<String> {
    let named = request.uri().authority().map(|authority| authority.as_str().to_owned());
    named.or_else(|| request.headers().get("host").and_then(|host| host.to_str().ok()).map(str::to_owned))
}
