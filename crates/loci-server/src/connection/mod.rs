//! Accepts connections and serves HTTP on them, in clear text or over TLS.
//!
//! Each connection is bounded: the TLS handshake and the head of a request have a deadline, a head has a maximum size, a peer
//! that does not read is disconnected, and the number of open connections is limited in all and by address. On shutdown,
//! requests in progress are completed.

mod seats;
mod stream;
mod tls;

use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::http::{Request, Response};
use http_body::{Frame, SizeHint};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tower::ServiceExt;

use self::seats::{RequestInProgress, Seat, SeatLimits, Seats};
use self::stream::{TimedStream, Timeouts};
pub(crate) use self::tls::Certificate;
use crate::options::ServerOptions;
use crate::peer::Peer;

/// Maximum number of header lines of a request.
const HEADERS: usize = 100;
/// Maximum number of bytes of the head of a request.
const HEAD_BYTES: usize = 64 * 1024;
/// How long open connections may continue after shutdown begins.
const DRAIN: Duration = Duration::from_secs(30);
/// How long a connection may stay open without a request. HTTP/1 connections end earlier, by the deadline of the next head.
const IDLE: Duration = Duration::from_secs(120);

/// Serves until `closed` becomes true, then completes the requests in progress. With a certificate, only TLS is served.
pub(crate) async fn serve(
    listener: TcpListener,
    routes: Router,
    options: &ServerOptions,
    certificate: Option<Arc<Certificate>>,
    mut closed: watch::Receiver<bool>,
) -> io::Result<()> {
    let graceful = GracefulShutdown::new();
    let seats = Seats::new(SeatLimits {
        total: options.connections,
        per_address: options.connections_per_address(),
        exempt: options.trusted_proxies.clone(),
    });
    let door = Arc::new(Door {
        builder: builder(options),
        routes,
        certificate,
        timeouts: Timeouts {
            begin: Duration::from_secs(options.header_seconds),
            stalled: Duration::from_secs(options.stalled_seconds),
        },
        closed: closed.clone(),
    });
    loop {
        let next = async {
            seats.wait_for_room().await;
            listener.accept().await
        };
        let accepted = tokio::select! {
            accepted = next => accepted,
            _ = closed.wait_for(|closed| *closed) => break,
        };
        let (stream, peer) = match accepted {
            Ok((stream, address)) => (stream, address.ip()),
            Err(error) => {
                // Out of file handles, or the peer has disconnected already: neither ends the server.
                tracing::warn!(%error, "a connection was not accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let Some(seat) = seats.take(peer) else {
            tracing::debug!(%peer, "a connection was closed, because its address has used up its share");
            continue;
        };
        drop(stream.set_nodelay(true));
        tokio::spawn(door.clone().admit(stream, peer, seat, graceful.watcher()));
    }
    drop(listener);
    if tokio::time::timeout(DRAIN, graceful.shutdown()).await.is_err() {
        tracing::warn!("some connections did not end in time and were cut");
    }
    Ok(())
}

/// What every connection is served with.
struct Door {
    builder: Builder<TokioExecutor>,
    routes: Router,
    certificate: Option<Arc<Certificate>>,
    timeouts: Timeouts,
    closed: watch::Receiver<bool>,
}

impl Door {
    /// Serves one connection until it ends.
    async fn admit(self: Arc<Self>, stream: TcpStream, peer: IpAddr, seat: Seat, watcher: Watcher) {
        let seat = Arc::new(seat);
        let Some(certificate) = &self.certificate else {
            return self.serve(stream, peer, seat, watcher).await;
        };
        let mut closed = self.closed.clone();
        let handshake = async {
            tokio::select! {
                // A connection that has sent nothing yet is idle, too.
                () = seat.must_close(IDLE) => None,
                _ = closed.wait_for(|closed| *closed) => None,
                outcome = certificate.accept(stream, self.timeouts.begin) => match outcome {
                    Ok(stream) => Some(stream),
                    Err(error) => {
                        tracing::debug!(%peer, %error, "no TLS connection was made");
                        None
                    }
                },
            }
        };
        if let Some(stream) = handshake.await {
            self.serve(stream, peer, seat, watcher).await;
        }
    }

    async fn serve<S>(&self, stream: S, peer: IpAddr, seat: Arc<Seat>, watcher: Watcher)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (routes, counted) = (self.routes.clone(), seat.clone());
        let service = tower::service_fn(move |mut request: Request<hyper::body::Incoming>| {
            request.extensions_mut().insert(Peer(peer));
            let (routes, in_progress) = (routes.clone(), counted.begin_request());
            async move {
                let response = routes.oneshot(request).await?;
                Ok::<Response<_>, std::convert::Infallible>(
                    response.map(|body| CountedBody { body, _in_progress: in_progress }),
                )
            }
        });
        let stream = TokioIo::new(TimedStream::new(stream, self.timeouts));
        let connection =
            self.builder.serve_connection_with_upgrades(stream, TowerToHyperService::new(service)).into_owned();
        tokio::select! {
            ended = watcher.watch(connection) => {
                if let Err(error) = ended {
                    tracing::debug!(%error, "a connection ended early");
                }
            }
            () = seat.must_close(IDLE) => tracing::debug!(%peer, "an idle connection was closed"),
        }
    }
}

/// The body of an answer. Its request is in progress until it has been sent.
struct CountedBody {
    body: Body,
    _in_progress: RequestInProgress,
}

impl HttpBody for CountedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Writes a short answer to a peer that speaks the wrong protocol, and reads the rest of what it sends, so that the answer is
/// not lost to a reset.
async fn refuse_plainly(mut stream: TcpStream, answer: &str) -> io::Result<()> {
    use tokio::io::AsyncReadExt;
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await?;
    let mut rest = (&mut stream).take(HEAD_BYTES as u64);
    let mut nowhere = tokio::io::sink();
    let read = tokio::io::copy(&mut rest, &mut nowhere);
    drop(tokio::time::timeout(Duration::from_secs(1), read).await);
    Ok(())
}

fn builder(options: &ServerOptions) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(Duration::from_secs(options.header_seconds))
        .max_headers(HEADERS)
        .max_buf_size(HEAD_BYTES);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(HEAD_BYTES as u32)
        .max_concurrent_streams(256)
        .keep_alive_interval(Duration::from_secs(30));
    builder
}
