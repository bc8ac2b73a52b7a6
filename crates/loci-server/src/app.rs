//! What does every route have at hand?

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use jiff::Timestamp;
use loci_engine::Engine;
use loci_types::Error;
use serde_json::Value;
use tokio::sync::{Notify, watch};
use utoipa::openapi::OpenApi;

use crate::failure::Failure;
use crate::follow::Seats;
use crate::guard::{Access, Hosts, Jwt, Rate};
use crate::idempotency::UnderWay;
use crate::mcp;
use crate::metrics::{Metrics, Protocol};
use crate::openspec;
use crate::options::{AuthOptions, McpOptions, ServerOptions};
use crate::shared::Shared;
use crate::task::Tasks;
use crate::usage::RequestCounts;
use crate::webhook::WebhookOptions;

/// Everything that the server is started with.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Where and how it listens.
    pub server: ServerOptions,
    /// Who is believed.
    pub auth: AuthOptions,
    /// The value of the variable that holds the shared secret of tokens.
    pub jwt_secret: Option<String>,
    /// How MCP clients are served.
    pub mcp: McpOptions,
    /// The settings in force, without secrets, for those who look after the store.
    pub config: Value,
    /// How webhooks are delivered.
    pub webhooks: WebhookOptions,
    /// What several servers share; none: this one is alone.
    pub shared: Option<Arc<dyn Shared>>,
}

impl Options {
    /// Refuses what cannot work before anyone is told where to knock.
    pub fn validate(&self) -> Result<(), Error> {
        self.server.validate()?;
        self.mcp.validate()?;
        self.webhooks.validate()?;
        self.jwt().map(drop)
    }

    fn jwt(&self) -> Result<Option<Jwt>, Error> {
        self.auth.jwt.as_ref().map(|jwt| Jwt::read(jwt, self.jwt_secret.as_deref())).transpose()
    }
}

/// What every route has at hand.
pub(crate) struct App {
    pub(crate) engine: Arc<Engine>,
    pub(crate) options: Options,
    pub(crate) hosts: Hosts,
    pub(crate) access: Access,
    pub(crate) rate: Rate,
    pub(crate) jwt: Option<Jwt>,
    pub(crate) metrics: Metrics,
    /// Who is following what happens.
    pub(crate) seats: Seats,
    /// Requests with a key that are under way.
    pub(crate) under_way: UnderWay,
    /// Becomes true when the house closes, so that streams end.
    pub(crate) closed: watch::Receiver<bool>,
    /// Long work that goes on when its caller has left.
    pub(crate) tasks: Tasks,
    /// Requests of each tenant since the start.
    pub(crate) requests: RequestCounts,
    /// When the server was started.
    pub(crate) started: Timestamp,
    /// Told when a webhook was created or removed here.
    pub(crate) webhooks_changed: Notify,
    local: bool,
}

impl App {
    /// What the routes have at hand on a server at this address.
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
            jwt,
            metrics: Metrics::new(),
            seats: Seats::default(),
            under_way: UnderWay::default(),
            closed,
            tasks: Tasks::default(),
            requests: RequestCounts::default(),
            webhooks_changed: Notify::new(),
            local: address.ip().is_loopback(),
            options,
        })
    }

    /// Whether nobody is asked who they are: on the machine's own address, as long as no credential
    /// was ever made.
    pub(crate) async fn is_open(&self) -> Result<bool, Failure> {
        if !self.local || self.jwt.is_some() {
            return Ok(false);
        }
        let keys = self.engine.has_keys().await.map_err(|error| Failure::of(error.problem("authenticate")))?;
        Ok(!keys)
    }

    /// Runs engine work that is asked for over HTTP, and counts it.
    pub(crate) async fn verb<T>(
        &self,
        operation: &'static str,
        work: impl Future<Output = loci_engine::Result<T>>,
    ) -> Result<T, Failure> {
        self.verb_through(Protocol::Http, operation, work).await
    }

    /// Runs engine work that is asked for through a protocol, and counts it under the `operationId` of HTTP.
    pub(crate) async fn verb_through<T>(
        &self,
        door: Protocol,
        operation: &'static str,
        work: impl Future<Output = loci_engine::Result<T>>,
    ) -> Result<T, Failure> {
        let started = Instant::now();
        let outcome = work.await;
        let code = outcome.as_ref().err().map(|error| error.kind().code());
        self.metrics.operation(door, operation, code, started.elapsed());
        outcome.map_err(|error| Failure::of(error.problem(operation)))
    }
}
