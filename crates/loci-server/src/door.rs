//! Where is the door, and how long is it open?
//!
//! Bound first and served later, so that whoever starts it can say where it is before the first
//! caller comes. When it closes, what is under way is finished.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use loci_engine::Engine;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::{App, Error, Options, Schedule, connection, router, webhook, worker};

/// A bound address that waits to be served.
pub struct Door {
    listener: TcpListener,
    address: SocketAddr,
}

impl Door {
    /// Binds the address. Refuses one that other machines can reach unless callers must show who
    /// they are.
    pub async fn open(listen: &str, guarded: bool) -> Result<Self, Error> {
        let address = |problem: String| Error::Address { listen: listen.to_owned(), problem };
        let found: Vec<SocketAddr> =
            tokio::net::lookup_host(listen).await.map_err(|error| address(error.to_string()))?.collect();
        if found.is_empty() {
            return Err(address("it names no address".to_owned()));
        }
        if !guarded && !found.iter().all(|address| address.ip().is_loopback()) {
            return Err(Error::Open { listen: listen.to_owned() });
        }
        let taken = |error: std::io::Error| Error::Taken { listen: listen.to_owned(), problem: error.to_string() };
        let listener = TcpListener::bind(found.as_slice()).await.map_err(taken)?;
        let address = listener.local_addr().map_err(taken)?;
        Ok(Self { listener, address })
    }

    /// Where it is; a port of 0 has become a real one.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `closing` is done, then finishes what is under way. Maintenance runs by the schedule.
    pub async fn serve(
        self,
        engine: Arc<Engine>,
        options: Options,
        schedule: Option<Schedule>,
        closing: impl Future<Output = ()>,
    ) -> Result<(), Error> {
        let (close, closed) = watch::channel(false);
        let description = router::described().into_openapi();
        let app = App::new(engine.clone(), options, self.address, &description, closed.clone())?;
        let app = Arc::new(app);
        let worker = tokio::spawn(worker::run(engine.clone(), schedule, closed.clone()));
        let sweeper = tokio::spawn(sweep(app.clone()));
        let deliverer = tokio::spawn(webhook::run(app.clone()));
        let tasks = app.clone();
        let mut serving = tokio::spawn(async move {
            let routes = router::routes(&app);
            connection::serve(self.listener, routes, &app.options.server, closed).await
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
        for background in [worker, deliverer] {
            if background.await.is_err() {
                tracing::error!("a background worker ended before its time");
            }
        }
        tasks.tasks.close().await;
        engine.close().await;
        ended.map_err(|error| Error::Stopped(std::io::Error::other(error)))?.map_err(Error::Stopped)
    }
}

/// Forgets the rates of callers that have been quiet, now and then.
async fn sweep(app: Arc<App>) {
    loop {
        tokio::time::sleep(std::time::Duration::from_secs(60)).await;
        app.rate.sweep();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_machine_itself_may_knock() {
        for open in ["0.0.0.0:0", "[::]:0", "192.0.2.1:80"] {
            assert!(matches!(Door::open(open, false).await, Err(Error::Open { .. })), "{open}");
        }
        for wrong in ["", "7077", "127.0.0.1", "127.0.0.1:99999", "not an address"] {
            assert!(matches!(Door::open(wrong, true).await, Err(Error::Address { .. })), "{wrong}");
        }
        let door = Door::open("127.0.0.1:0", false).await.unwrap();
        assert_ne!(door.address().port(), 0);
        let again = Door::open(&door.address().to_string(), false).await;
        assert!(matches!(again, Err(Error::Taken { .. })));
    }
}
