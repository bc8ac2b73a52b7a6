//! The server: binds an address, then serves it until shutdown, together with the background work.
//!
//! Binding and serving are separate, so that the address can be printed before the first request. On shutdown, requests
//! in progress are completed.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use loci_engine::Engine;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::{App, Error, Options, Schedule, connection, router, webhook, worker};

/// A bound address that is ready to be served.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
}

impl Server {
    /// Binds the address. Without `guarded`, that is if requests need no credential, only loopback addresses are accepted.
    pub async fn bind(listen: &str, guarded: bool) -> Result<Self, Error> {
        let address = |problem: String| Error::Address { listen: listen.to_owned(), problem };
        let found: Vec<SocketAddr> =
            tokio::net::lookup_host(listen).await.map_err(|error| address(error.to_string()))?.collect();
        if found.is_empty() {
            return Err(address("it resolves to no address".to_owned()));
        }
        if !guarded && !found.iter().all(|address| address.ip().is_loopback()) {
            return Err(Error::Open { listen: listen.to_owned() });
        }
        let taken = |error: std::io::Error| Error::Taken { listen: listen.to_owned(), problem: error.to_string() };
        let listener = TcpListener::bind(found.as_slice()).await.map_err(taken)?;
        let address = listener.local_addr().map_err(taken)?;
        Ok(Self { listener, address })
    }

    /// The bound address. A port of 0 has been replaced by the assigned one.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `closing` completes, then finishes the requests in progress. Maintenance runs by the schedule.
    pub async fn serve(
        self,
        engine: Arc<Engine>,
        options: Options,
        schedule: Option<Schedule>,
        closing: impl Future<Output = ()>,
    ) -> Result<(), Error> {
        let certificate = options.certificate()?.map(Arc::new);
        let (close, closed) = watch::channel(false);
        let description = router::described().into_openapi();
        let app = App::new(engine.clone(), options, self.address, &description, closed.clone())?;
        let app = Arc::new(app);
        if let Some(indexed) = engine.store().indexed() {
            indexed.follow();
        }
        let worker = tokio::spawn(worker::run(engine.clone(), schedule, closed.clone()));
        let sweeper = tokio::spawn(sweep(app.clone()));
        let following = certificate.clone().map(|certificate| tokio::spawn(certificate.follow(closed.clone())));
        let deliverer = tokio::spawn(webhook::run(app.clone()));
        let tasks = app.clone();
        let mut serving = tokio::spawn(async move {
            let routes = router::routes(&app);
            connection::serve(self.listener, routes, &app.options.server, certificate, closed).await
        });
        let early = tokio::select! {
            ended = &mut serving => Some(ended),
            () = closing => None,
        };
        close.send_replace(true);
        let ended = match early {
            Some(ended) => ended,
            None => serving.await,
        };
        sweeper.abort();
        if let Some(following) = following {
            following.abort();
        }
        for background in [worker, deliverer] {
            if background.await.is_err() {
                tracing::error!("a background worker panicked");
            }
        }
        tasks.tasks.close().await;
        engine.close().await;
        ended.map_err(|error| Error::Stopped(std::io::Error::other(error)))?.map_err(Error::Stopped)
    }
}

/// Removes the rate states of inactive callers once a minute.
async fn sweep(app: Arc<App>) {
    loop {
        tokio::time::sleep(std::time::Duration::from_secs(60)).await;
        app.rate.sweep();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Coverage: SPEC-4.4.
    #[tokio::test]
    async fn only_loopback_addresses_are_local() {
        for open in ["0.0.0.0:0", "[::]:0", "192.0.2.1:80"] {
            assert!(matches!(Server::bind(open, false).await, Err(Error::Open { .. })), "{open}");
        }
        for wrong in ["", "7077", "127.0.0.1", "127.0.0.1:99999", "not an address"] {
            assert!(matches!(Server::bind(wrong, true).await, Err(Error::Address { .. })), "{wrong}");
        }
        let server = Server::bind("127.0.0.1:0", false).await.unwrap();
        assert_ne!(server.address().port(), 0);
        let again = Server::bind(&server.address().to_string(), false).await;
        assert!(matches!(again, Err(Error::Taken { .. })));
    }
}
