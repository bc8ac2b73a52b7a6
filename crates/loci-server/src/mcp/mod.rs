//! The Model Context Protocol, over the standard streams of a process and over HTTP at `/mcp`.
//!
//! A table defines the tools, the role that each requires and what it does; a profile is a part of the table. The
//! scope comes from the credential, the address or the command line, never from the model alone. The types of the
//! protocol are used only in this file and in `handler`.

mod answer;
mod call;
mod handler;
mod lines;
mod profile;
mod prompts;
mod resources;
mod schema;
mod times;
mod tool;
mod tools;

use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::Method;
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use loci_engine::Engine;
use loci_types::{ErrorKind, Identifiers, Problem};
use rmcp::ServiceExt;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::{mpsc, watch};

use self::call::PendingApp;
use self::handler::Handler;
pub use self::profile::Profile;
use crate::failure::Failure;
use crate::guard::Access;
use crate::{App, Error, Options, Schedule, router, worker};

/// Where tools are called, by the profile that is set or by one that is named.
const PATHS: [&str; 2] = ["/mcp", "/mcp/{profile}"];

/// The `operationId` of each path.
const OPERATIONS: [&str; 2] = ["callMcp", "callMcpProfile"];

/// Buffer between the standard streams and the protocol, in bytes.
const STREAM_BYTES: usize = 64 << 10;

/// The operation of a call that matches no tool, resource or prompt with an operation of its own.
const CALL: &str = OPERATIONS[0];

/// Lets everyone with a credential through; each tool asks for its role itself.
pub(crate) fn admit(access: &mut Access) {
    for (path, operation) in PATHS.into_iter().zip(OPERATIONS) {
        for method in [Method::GET, Method::POST, Method::DELETE] {
            access.require_credential(method, path, operation);
        }
    }
}

/// The way to the tools over HTTP.
pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new().route(PATHS[0], any(usual)).route(PATHS[1], any(named))
}

/// The profile that is set.
async fn usual(State(app): State<Arc<App>>, request: Request) -> Response {
    let profile = app.options.mcp.profile;
    serve(app, profile, request).await
}

/// The profile that the address names.
async fn named(State(app): State<Arc<App>>, Path(name): Path<String>, request: Request) -> Response {
    match name.parse() {
        Ok(profile) => serve(app, profile, request).await,
        Err(_) => {
            let names = Profile::ALL.map(Profile::name).join(", ");
            Failure::new(ErrorKind::NotFound, format!("unknown profile `{name}`"), "mcp")
                .field("profile")
                .hint(format!("the profiles are {names}"))
                .into_response()
        }
    }
}

/// Answers one request. Nothing is kept between two of them, so any server can answer the next.
async fn serve(app: Arc<App>, profile: Profile, request: Request) -> Response {
    // The guard has looked at host and origin already, by the names that are set.
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(app.options.server.body_bytes);
    let handler = Handler::over_http(app, profile);
    let sessions = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(handler.clone()), sessions, config);
    service.handle(request).await.map(Body::new)
}

/// How tools are served on the standard streams.
pub struct Stdio {
    /// Which tools.
    pub profile: Profile,
    /// The identifiers of the scope.
    pub identifiers: Identifiers,
    /// The settings.
    pub options: Options,
    /// When the night's work is done.
    pub schedule: Option<Schedule>,
}

impl Stdio {
    /// Serves until the client hangs up or `closing` is done. Clients are greeted at once; their
    /// first call waits until the store is open.
    pub async fn serve(
        self,
        opening: impl Future<Output = Result<Arc<Engine>, Problem>>,
        closing: impl Future<Output = ()>,
    ) -> Result<(), Error> {
        let (opened, app) = PendingApp::starting();
        let (close, closed) = watch::channel(false);
        let handler = Handler::on_streams(app, self.profile, self.identifiers, &self.options);
        let mut serving = tokio::spawn(on_streams(handler));
        let mut closing = std::pin::pin!(closing);
        let engine = tokio::select! {
            engine = opening => Some(engine),
            _ = &mut serving => None,
            () = &mut closing => None,
        };
        let Some(engine) = engine else { return Ok(()) };
        let working = match engine {
            Ok(engine) => {
                let description = router::described().into_openapi();
                let app = App::new(engine.clone(), self.options, here(), &description, closed.clone())?;
                opened.send_replace(Some(Ok(Arc::new(app))));
                Some((tokio::spawn(worker::run(engine.clone(), self.schedule, closed)), engine))
            }
            Err(problem) => {
                tracing::error!(code = problem.code, message = problem.message, "the store cannot be opened");
                opened.send_replace(Some(Err(problem)));
                None
            }
        };
        tokio::select! {
            _ = &mut serving => {}
            () = closing => serving.abort(),
        }
        close.send_replace(true);
        if let Some((worker, engine)) = working {
            if worker.await.is_err() {
                tracing::error!("the background worker ended before its time");
            }
            engine.close().await;
        }
        Ok(())
    }
}

async fn on_streams(handler: Handler) {
    let (input, output) = rmcp::transport::io::stdio_pipes();
    let (passed, checked) = tokio::io::duplex(STREAM_BYTES);
    let (answers, answered) = tokio::io::duplex(STREAM_BYTES);
    let (errors, refused) = mpsc::channel(16);
    let session = async {
        // A client that disconnects before it has sent anything is not an error.
        match handler.serve((checked, answers)).await {
            Ok(running) => drop(running.waiting().await),
            Err(error) => tracing::info!(%error, "the client disconnected before the session began"),
        }
    };
    let reading = async {
        lines::read(input, passed, errors).await;
        // The session ends by itself when its input has ended.
        std::future::pending::<()>().await;
    };
    let serving = async {
        tokio::select! {
            () = session => {}
            () = reading => {}
        }
    };
    tokio::join!(serving, lines::write(answered, refused, output));
}

/// The principal of the standard streams: full rights on this machine.
fn here() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}
