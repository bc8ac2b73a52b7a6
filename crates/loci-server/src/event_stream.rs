//! Server-sent events of the change feed.
//!
//! The reader pulls: the next page of the feed is read when the last one has been sent, so a slow reader costs only a
//! connection, and a stalled one is closed by `connection`. The credential is verified again at every heartbeat and before
//! every page that is sent. Every event and every heartbeat carries the cursor to resume from.

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::HeaderMap;
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use loci_engine::{Caller, FeedCursor, FeedEntry, FeedRequest};
use loci_types::ErrorKind;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::App;
use crate::failure::{Failure, to_failure};
use crate::guard::{self, Principal};
use crate::metrics::Protocol;

/// Maximum number of entries that are read at once.
const PAGE: usize = 100;
/// Polling interval while nothing happens.
const IDLE: Duration = Duration::from_millis(200);
/// Minimum time between two reads, so that frequent writes do not cause a read each.
const MIN_WAIT: Duration = Duration::from_millis(20);
/// How long a client should wait before it reconnects.
const RETRY: Duration = Duration::from_secs(2);
/// Maximum number of open streams.
const MAX_STREAMS: usize = 256;
/// Maximum number of open streams of one credential.
const MAX_PER_CREDENTIAL: usize = 16;

/// The request for an event stream.
pub(crate) struct StreamRequest {
    /// The caller.
    pub(crate) caller: Caller,
    /// Which entries of the feed are sent.
    pub(crate) request: FeedRequest,
    /// The cursor to start from. Default: now. The header `Last-Event-ID` takes precedence.
    pub(crate) after: Option<String>,
    /// The protocol of the request, for metrics.
    pub(crate) protocol: Protocol,
}

/// An open event stream.
pub(crate) struct EventStream {
    app: Arc<App>,
    principal: Principal,
    headers: HeaderMap,
    caller: Caller,
    request: FeedRequest,
    /// Entries that were read and not sent yet.
    waiting: VecDeque<FeedEntry>,
    /// The cursor after the last entry that was sent.
    cursor: FeedCursor,
    closed: watch::Receiver<bool>,
    /// Changes when another server may have written. `None` if the store gives no signal and must be polled.
    signal: Option<watch::Receiver<u64>>,
    last_heartbeat: Instant,
    stage: Stage,
    /// The operation of the stream, for failures.
    operation: &'static str,
    _slot: StreamSlot,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    New,
    Going,
    Over,
}

impl EventStream {
    /// Takes a slot and reads the first page. Errors are returned before the stream begins.
    pub(crate) async fn open(
        app: Arc<App>,
        principal: Principal,
        headers: HeaderMap,
        wanted: StreamRequest,
        operation: &'static str,
    ) -> Result<Self, Failure> {
        let slot = app.streams.take(&principal, operation)?;
        let header = headers.get("last-event-id").map(|value| value.to_str().unwrap_or_default().trim().to_owned());
        let named = header.filter(|id| !id.is_empty()).map(|id| ("Last-Event-ID", id));
        // A client that reconnects sends the header; the parameter in its address is older.
        let named = named.or(wanted.after.map(|after| ("after", after)));
        let now = app.run_operation_through(wanted.protocol, operation, app.engine.feed_now(&wanted.caller)).await?;
        let cursor = match named {
            None => now,
            Some((field, text)) => {
                text.parse::<FeedCursor>().map_err(|error| to_failure(&error, operation).field(field))?
            }
        };
        let request = FeedRequest { cursor: cursor.clone(), limit: Some(PAGE), ..wanted.request };
        let mut stream = Self {
            closed: app.closed.clone(),
            signal: app.engine.store().change_signal(),
            app,
            principal,
            headers,
            caller: wanted.caller,
            request,
            waiting: VecDeque::new(),
            cursor,
            last_heartbeat: Instant::now(),
            stage: Stage::New,
            operation,
            _slot: slot,
        };
        let page = stream.app.engine.feed(&stream.caller, &stream.request).await;
        stream.take(page.map_err(|error| Failure::of(error.problem(operation)))?);
        Ok(stream)
    }

    /// The stream as a response. `to_event` makes an event of each entry; `None` skips the entry.
    pub(crate) fn into_response<T, F>(self, to_event: T) -> Response
    where
        T: Fn(FeedEntry) -> F + Send + Sync + 'static,
        F: Future<Output = Option<Event>> + Send,
    {
        let events = futures::stream::unfold((self, to_event), |(mut stream, to_event)| async move {
            let event = stream.next(&to_event).await?;
            Some((Ok::<Event, Infallible>(event), (stream, to_event)))
        });
        let mut response = Sse::new(events).into_response();
        // Proxies must not buffer the stream.
        let headers = response.headers_mut();
        headers.insert("x-accel-buffering", axum::http::HeaderValue::from_static("no"));
        response
    }

    async fn next<T, F>(&mut self, to_event: &T) -> Option<Event>
    where
        T: Fn(FeedEntry) -> F,
        F: Future<Output = Option<Event>>,
    {
        match self.stage {
            Stage::Over => return None,
            Stage::New => {
                self.stage = Stage::Going;
                return Some(self.heartbeat().retry(RETRY));
            }
            Stage::Going => {}
        }
        let interval = Duration::from_secs(self.app.options.server.heartbeat_seconds);
        loop {
            if *self.closed.borrow() {
                return None;
            }
            if self.last_heartbeat.elapsed() >= interval {
                self.last_heartbeat = Instant::now();
                return self.is_authorized().await.then(|| self.heartbeat());
            }
            if let Some(entry) = self.waiting.pop_front() {
                self.cursor.pass(&entry);
                match to_event(entry).await {
                    Some(event) => return Some(event.id(self.cursor.to_string())),
                    None => continue,
                }
            }
            match self.app.engine.feed(&self.caller, &self.request).await {
                Ok(page) => {
                    // Nothing is sent to a credential that has been revoked since.
                    if !page.entries.is_empty() && !self.is_authorized().await {
                        return None;
                    }
                    let idle = page.entries.is_empty() && !page.more;
                    self.take(page);
                    if idle {
                        self.pause().await;
                    }
                }
                Err(error) => {
                    self.stage = Stage::Over;
                    let problem = error.problem(self.operation);
                    return Event::default().event("error").json_data(problem).ok();
                }
            }
        }
    }

    fn take(&mut self, page: loci_engine::FeedPage) {
        self.cursor = if page.entries.is_empty() { page.cursor.clone() } else { page.began };
        self.request.cursor = page.cursor;
        self.waiting = page.entries.into();
    }

    async fn is_authorized(&self) -> bool {
        let authorized = guard::is_still_valid(&self.app, &self.headers, &self.principal).await;
        if !authorized {
            guard::denied(
                &self.app,
                self.principal.name(),
                self.principal.request(),
                self.operation,
                ErrorKind::Unauthorized.code(),
            );
        }
        authorized
    }

    /// A heartbeat with the cursor to resume from.
    fn heartbeat(&self) -> Event {
        Event::default().comment("here").id(self.cursor.to_string())
    }

    async fn pause(&mut self) {
        tokio::select! {
            () = tokio::time::sleep(IDLE) => {}
            () = wait_for_write(&mut self.signal) => {}
            _ = self.closed.wait_for(|closed| *closed) => {}
        }
    }
}

/// Waits until another server may have written, and at least [`MIN_WAIT`].
async fn wait_for_write(signal: &mut Option<watch::Receiver<u64>>) {
    tokio::time::sleep(MIN_WAIT).await;
    let moved = match signal {
        Some(signal) => signal.changed().await.is_ok(),
        None => false,
    };
    if !moved {
        // No further signals will come; `pause` polls.
        std::future::pending().await
    }
}

/// The number of open streams of each credential.
#[derive(Debug, Clone, Default)]
pub(crate) struct StreamSlots(Arc<Mutex<HashMap<String, usize>>>);

/// The right to have one stream open, released when it is dropped.
#[derive(Debug)]
pub(crate) struct StreamSlot {
    slots: StreamSlots,
    name: String,
}

impl StreamSlots {
    /// Takes a slot, or fails if too many streams are open.
    pub(crate) fn take(&self, principal: &Principal, operation: &str) -> Result<StreamSlot, Failure> {
        let name = principal.name().to_owned();
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = taken.get(&name).copied().unwrap_or(0);
        // Without credentials all callers share one name.
        let each = if principal.is_open() { MAX_STREAMS } else { MAX_PER_CREDENTIAL };
        if own >= each || taken.values().sum::<usize>() >= MAX_STREAMS {
            let message =
                if own >= each { "too many open streams of this credential" } else { "too many open streams" };
            return Err(Failure::new(ErrorKind::RateLimited, message, operation)
                .hint(format!("close another stream first; at most {MAX_PER_CREDENTIAL} of one credential and {MAX_STREAMS} in all may be open"))
                .after(RETRY.as_secs()));
        }
        *taken.entry(name.clone()).or_default() += 1;
        Ok(StreamSlot { slots: self.clone(), name })
    }
}

impl Drop for StreamSlot {
    fn drop(&mut self) {
        let mut taken = self.slots.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = taken.get_mut(&self.name) {
            *own -= 1;
            if *own == 0 {
                taken.remove(&self.name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seats_are_counted_and_given_back() {
        let slots = StreamSlots::default();
        let mut taken: Vec<StreamSlot> =
            (0..MAX_STREAMS).map(|_| slots.take(&Principal::operator(), "followEvents").unwrap()).collect();
        let refused = slots.take(&Principal::operator(), "followEvents").unwrap_err();
        assert_eq!(refused.code().as_u16(), 429);
        taken.pop();
        assert!(slots.take(&Principal::operator(), "followEvents").is_ok());
        drop(taken);
        assert!(slots.0.lock().unwrap().is_empty());
    }
}
