//! The HTTP API without a socket, for the command line.
//!
//! Requests pass the same routes and the same middleware as those of a server, so that a command does the same on a data
//! folder as on a running server. The caller is the operator, who owns the data folder: credentials, rates and timeouts are
//! not checked.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use axum::response::Response;
use loci_engine::Engine;
use tokio::sync::watch;
use tower::ServiceExt;

use crate::{App, Error, Options, failure, router};

/// Marks a request that did not come over the network: it needs no credential and no timeout. Only this module makes one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Trusted(());

/// The API of one engine, called in this process.
pub struct InProcess {
    app: Arc<App>,
    routes: Router,
    // Streams end when the sender is dropped.
    _closed: watch::Sender<bool>,
}

impl InProcess {
    /// The API of `engine`.
    pub fn new(engine: Arc<Engine>, mut options: Options) -> Result<Self, Error> {
        // Bounds that protect a server from strangers are not for the owner of the data folder.
        options.server.import_bytes = 1 << 40;
        options.server.stalled_seconds = 3_600;
        let (close, closed) = watch::channel(false);
        let description = router::described().into_openapi();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let app = Arc::new(App::new(engine, options, address, &description, closed)?);
        let routes = router::routes(&app);
        Ok(Self { app, routes, _closed: close })
    }

    /// Answers a request of the operator.
    pub async fn call(&self, mut request: Request<Body>) -> Response {
        request.extensions_mut().insert(Trusted(()));
        let mut response = match self.routes.clone().oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        failure::restore_internals(&mut response);
        response
    }

    /// Waits for work that requests have left behind: tasks, access counts, buffered writes.
    pub async fn close(&self) {
        self.app.tasks.close().await;
        self.app.engine.close().await;
    }
}
