//! How is a caller listened to?
//!
//! Each connection is bounded: the head of a request must come in time and be of sensible size, a
//! reader that takes nothing is cut, and only so many are open at once. When the house closes, what
//! is under way is finished.

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

/// The most header lines of one request.
const HEADERS: usize = 100;
/// The most bytes of the head of one request.
const HEAD_BYTES: usize = 64 * 1024;
/// How long those who are still talking may go on when the house closes.
const DRAIN: Duration = Duration::from_secs(30);

/// Accepts and serves until told to close, then finishes what is under way.
pub(crate) async fn serve(
    listener: TcpListener,
    routes: Router,
    options: &ServerOptions,
    mut closed: watch::Receiver<bool>,
) -> io::Result<()> {
    let builder = Arc::new(builder(options));
    let (graceful, room) = (GracefulShutdown::new(), Arc::new(Semaphore::new(options.connections)));
    let patience = Patience {
        begin: Duration::from_secs(options.header_seconds),
        stalled: Duration::from_secs(options.stalled_seconds),
    };
    loop {
        let next = async {
            let permit = room.clone().acquire_owned().await.map_err(io::Error::other)?;
            listener.accept().await.map(|(stream, _)| (stream, permit))
        };
        let accepted = tokio::select! {
            accepted = next => accepted,
            _ = closed.wait_for(|closed| *closed) => break,
        };
        let (stream, permit) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Out of file handles, or the caller is gone already: neither ends the server.
                tracing::warn!(%error, "a connection was not accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        drop(stream.set_nodelay(true));
        let service = TowerToHyperService::new(routes.clone());
        let connection =
            builder.serve_connection_with_upgrades(TokioIo::new(Patient::new(stream, patience)), service).into_owned();
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

/// How long a caller is waited for.
#[derive(Debug, Clone, Copy)]
struct Patience {
    /// Until they have begun to speak.
    begin: Duration,
    /// While they take nothing.
    stalled: Duration,
}

/// So many bytes tell which protocol is spoken; until then no timer of the protocol runs.
const BEGUN: usize = 24;

/// A stream that gives up on a caller who says nothing and on a reader who takes nothing.
struct Patient {
    stream: TcpStream,
    patience: Patience,
    /// Bytes that came.
    heard: usize,
    /// Runs until the caller has begun.
    silence: Option<Pin<Box<Sleep>>>,
    /// Runs while a write waits.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl Patient {
    fn new(stream: TcpStream, patience: Patience) -> Self {
        let silence = Some(Box::pin(tokio::time::sleep(patience.begin)));
        Self { stream, patience, heard: 0, silence, waiting: None }
    }

    /// Passes the outcome of a write on, or ends the stream if nobody has read for too long.
    fn bear<T>(&mut self, context: &mut Context<'_>, outcome: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            self.waiting = None;
            return outcome;
        }
        let patience = self.patience.stalled;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(Instant::now() + patience)));
        match waiting.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the reader takes nothing"))),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for Patient {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let outcome = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.heard = self.heard.saturating_add(buffer.filled().len() - before);
        if self.heard >= BEGUN {
            self.silence = None;
        }
        if outcome.is_pending()
            && let Some(silence) = &mut self.silence
            && silence.as_mut().poll(context).is_ready()
        {
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the caller says nothing")));
        }
        outcome
    }
}

impl AsyncWrite for Patient {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.bear(context, outcome)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.stream).poll_flush(context);
        self.bear(context, outcome)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.stream).poll_shutdown(context);
        self.bear(context, outcome)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.bear(context, outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
