//! Accepts connections and serves HTTP on them.
//!
//! Each connection is bounded: the head of a request has a deadline and a maximum size, a peer that does not read is
//! disconnected, and the number of open connections is limited. On shutdown, requests in progress are completed.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, Sleep};

use crate::options::ServerOptions;

/// Maximum number of header lines of a request.
const HEADERS: usize = 100;
/// Maximum number of bytes of the head of a request.
const HEAD_BYTES: usize = 64 * 1024;
/// How long open connections may continue after shutdown begins.
const DRAIN: Duration = Duration::from_secs(30);

/// Serves until `closed` becomes true, then completes the requests in progress.
pub(crate) async fn serve(
    listener: TcpListener,
    routes: Router,
    options: &ServerOptions,
    mut closed: watch::Receiver<bool>,
) -> io::Result<()> {
    let builder = Arc::new(builder(options));
    let (graceful, slots) = (GracefulShutdown::new(), Arc::new(Semaphore::new(options.connections)));
    let timeouts = Timeouts {
        begin: Duration::from_secs(options.header_seconds),
        stalled: Duration::from_secs(options.stalled_seconds),
    };
    loop {
        let next = async {
            let permit = slots.clone().acquire_owned().await.map_err(io::Error::other)?;
            listener.accept().await.map(|(stream, _)| (stream, permit))
        };
        let accepted = tokio::select! {
            accepted = next => accepted,
            _ = closed.wait_for(|closed| *closed) => break,
        };
        let (stream, permit) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Out of file handles, or the peer has disconnected already: neither ends the server.
                tracing::warn!(%error, "a connection was not accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        drop(stream.set_nodelay(true));
        let service = TowerToHyperService::new(routes.clone());
        let connection = builder
            .serve_connection_with_upgrades(TokioIo::new(TimedStream::new(stream, timeouts)), service)
            .into_owned();
        let watched = graceful.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = watched.await {
                tracing::debug!(%error, "a connection ended early");
            }
            drop(permit);
        });
    }
    drop(listener);
    if tokio::time::timeout(DRAIN, graceful.shutdown()).await.is_err() {
        tracing::warn!("some connections did not end in time and were cut");
    }
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

/// Timeouts of a connection.
#[derive(Debug, Clone, Copy)]
struct Timeouts {
    /// Until the first [`PREFACE_BYTES`] have arrived.
    begin: Duration,
    /// While the peer reads nothing.
    stalled: Duration,
}

/// Number of bytes from which the HTTP version is detected. Until they have arrived, no timer of the protocol runs.
const PREFACE_BYTES: usize = 24;

/// A TCP stream that fails if the peer sends nothing at the beginning, or reads nothing for too long.
struct TimedStream {
    stream: TcpStream,
    timeouts: Timeouts,
    /// Number of bytes received.
    received: usize,
    /// Runs until the first bytes have arrived.
    silence: Option<Pin<Box<Sleep>>>,
    /// Runs while a write is pending.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl TimedStream {
    fn new(stream: TcpStream, timeouts: Timeouts) -> Self {
        let silence = Some(Box::pin(tokio::time::sleep(timeouts.begin)));
        Self { stream, timeouts, received: 0, silence, waiting: None }
    }

    /// Returns the outcome of a write, or an error if the write has been pending for too long.
    fn with_write_timeout<T>(
        &mut self,
        context: &mut Context<'_>,
        outcome: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            self.waiting = None;
            return outcome;
        }
        let stalled = self.timeouts.stalled;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(Instant::now() + stalled)));
        match waiting.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the peer does not read"))),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for TimedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let outcome = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.received = self.received.saturating_add(buffer.filled().len() - before);
        if self.received >= PREFACE_BYTES {
            self.silence = None;
        }
        if outcome.is_pending()
            && let Some(silence) = &mut self.silence
            && silence.as_mut().poll(context).is_ready()
        {
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the peer sent nothing")));
        }
        outcome
    }
}

impl AsyncWrite for TimedStream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.with_write_timeout(context, outcome)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.stream).poll_flush(context);
        self.with_write_timeout(context, outcome)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.stream).poll_shutdown(context);
        self.with_write_timeout(context, outcome)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.with_write_timeout(context, outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
