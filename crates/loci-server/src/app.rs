//! The state that all routes share ([`App`]), and the options that a server starts with.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use jiff::Timestamp;
use loci_engine::{BackupEncoding, Engine};
use loci_types::Error;
use serde_json::Value;
use tokio::sync::{Notify, watch};
use utoipa::openapi::OpenApi;

use crate::connection::Certificate;
use crate::event_stream::StreamSlots;
use crate::failure::Failure;
use crate::guard::{Access, Hosts, Jwt, Rate, Refusals};
use crate::health::ReadinessCache;
use crate::mcp;
use crate::metrics::{Metrics, Protocol};
use crate::openspec;
use crate::options::{AuthOptions, McpOptions, ServerOptions};
use crate::shared::SharedLimiter;
use crate::task::Tasks;
use crate::usage::RequestCounts;
use crate::webhook::WebhookOptions;

/// Everything that the server is started with.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Address, limits and timeouts.
    pub server: ServerOptions,
    /// External credentials that are accepted.
    pub auth: AuthOptions,
    /// The shared secret of HS256 tokens: the value of the variable that `auth.jwt.secret_env` names.
    pub jwt_secret: Option<String>,
    /// The key of an admin that is valid for this server alone, for programs of the same machine.
    pub local_key: Option<String>,
    /// How MCP clients are served.
    pub mcp: McpOptions,
    /// The settings in force, without secrets, for `GET /v1/config`.
    pub config: Value,
    /// How webhooks are delivered.
    pub webhooks: WebhookOptions,
    /// How backups over HTTP are stored, and the key of encrypted ones.
    pub backup_encoding: BackupEncoding,
    /// The rate limiter that several servers share. Default: this server limits rates on its own.
    pub shared: Option<Arc<dyn SharedLimiter>>,
}

impl Options {
    /// Checks all options, so that a server with invalid ones does not start to listen.
    pub fn validate(&self) -> Result<(), Error> {
        self.server.validate()?;
        self.mcp.validate()?;
        self.webhooks.validate()?;
        self.certificate()?;
        self.jwt().map(drop)
    }

    /// The certificate of the server, if it speaks HTTPS.
    pub(crate) fn certificate(&self) -> Result<Option<Certificate>, Error> {
        self.server.tls_files()?.map(|(certificate, key)| Certificate::read(certificate, key)).transpose()
    }

    fn jwt(&self) -> Result<Option<Jwt>, Error> {
        self.auth.jwt.as_ref().map(|jwt| Jwt::read(jwt, self.jwt_secret.as_deref())).transpose()
    }
}

/// The state that all routes share.
pub(crate) struct App {
    pub(crate) engine: Arc<Engine>,
    pub(crate) options: Options,
    pub(crate) hosts: Hosts,
    pub(crate) access: Access,
    pub(crate) rate: Rate,
    /// Refused credentials, counted by address.
    pub(crate) refusals: Refusals,
    /// The readiness of the last second.
    pub(crate) readiness: ReadinessCache,
    pub(crate) jwt: Option<Jwt>,
    pub(crate) metrics: Metrics,
    /// Counts of open event streams.
    pub(crate) streams: StreamSlots,
    /// Becomes true when the server shuts down, so that streams end.
    pub(crate) closed: watch::Receiver<bool>,
    /// Long work that goes on when its caller has left.
    pub(crate) tasks: Tasks,
    /// Requests of each tenant since the start.
    pub(crate) requests: RequestCounts,
    /// When the server was started.
    pub(crate) started: Timestamp,
    /// Notified when a webhook was created or removed by this server.
    pub(crate) webhooks_changed: Notify,
    local: bool,
    /// The hash of the key that is valid for this server alone. Hashes are compared in constant time.
    local_key: Option<blake3::Hash>,
}

impl App {
    /// The state of a server at this address.
    pub(crate) fn new(
        engine: Arc<Engine>,
        options: Options,
        address: SocketAddr,
        description: &OpenApi,
        closed: watch::Receiver<bool>,
    ) -> Result<Self, Error> {
        let server = &options.server;
        server.validate()?;
        options.mcp.validate()?;
        options.webhooks.validate()?;
        let mut access = Access::of_description(description);
        mcp::admit(&mut access);
        let jwt = options.jwt()?;
        access.alias(openspec::ROOT, openspec::ALIAS);
        Ok(Self {
            started: engine.now(),
            engine,
            hosts: Hosts::new(address, &server.allowed_hosts, &server.cors_origins),
            access,
            rate: Rate::new(server.requests_per_second, server.burst, options.shared.clone()),
            refusals: Refusals::new(server.refusals_per_second, server.refusal_burst),
            readiness: ReadinessCache::default(),
            jwt,
            metrics: Metrics::new(),
            streams: StreamSlots::new(server.event_streams),
            closed,
            tasks: Tasks::default(),
            requests: RequestCounts::default(),
            webhooks_changed: Notify::new(),
            local: address.ip().is_loopback(),
            local_key: options.local_key.as_ref().map(|key| blake3::hash(key.as_bytes())),
            options,
        })
    }

    /// Whether requests need no credential: on a loopback address, as long as no key exists and neither tokens nor a key of this
    /// server are configured.
    pub(crate) async fn is_open(&self) -> Result<bool, Failure> {
        if !self.local || self.jwt.is_some() || self.local_key.is_some() {
            return Ok(false);
        }
        let keys = self.engine.has_keys().await.map_err(|error| Failure::of(error.problem("authenticate")))?;
        Ok(!keys)
    }

    /// Whether this is the key that is valid for this server alone.
    pub(crate) fn is_local_key(&self, shown: &str) -> bool {
        self.local_key.is_some_and(|key| key == blake3::hash(shown.as_bytes()))
    }

    /// Runs engine work for an HTTP request, and counts it in the metrics.
    pub(crate) async fn run_operation<T>(
        &self,
        operation: &'static str,
        work: impl Future<Output = loci_engine::Result<T>>,
    ) -> Result<T, Failure> {
        self.run_operation_through(Protocol::Http, operation, work).await
    }

    /// Runs engine work for a request of any protocol, and counts it under the `operationId` of HTTP.
    pub(crate) async fn run_operation_through<T>(
        &self,
        protocol: Protocol,
        operation: &'static str,
        work: impl Future<Output = loci_engine::Result<T>>,
    ) -> Result<T, Failure> {
        let started = Instant::now();
        let outcome = work.await;
        let code = outcome.as_ref().err().map(|error| error.kind().code());
        self.metrics.operation(protocol, operation, code, started.elapsed());
        outcome.map_err(|error| Failure::of(error.problem(operation)).counted())
    }
}
