//! Server-sent events of the change feed.
//!
//! The reader pulls: the next page of the feed is read when the last one has been sent, so a slow reader costs only a
//! connection, and a stalled one is closed by `connection`. The credential is verified again at every heartbeat and before
//! every page that is sent. Every event and every heartbeat carries the cursor to resume from.

use std::collections::{BTreeMap, VecDeque};
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

/// The open streams of each credential, in fair shares.
///
/// A tenant may hold at most as many streams as are free, and so at most half of all if it is alone; a credential at most
/// [`MAX_PER_CREDENTIAL`], and at most an eighth of those that are free. The fewer are free, the smaller the shares, so that
/// a credential and a tenant without a stream find a free one.
#[derive(Debug, Clone)]
pub(crate) struct StreamSlots {
    total: usize,
    taken: Arc<Mutex<BTreeMap<StreamOwner, usize>>>,
}

/// Whose stream it is: the tenant, then the name of the credential, which is `None` for all callers of an open server.
type StreamOwner = (String, Option<String>);

/// The right to have one stream open, released when it is dropped.
#[derive(Debug)]
pub(crate) struct StreamSlot {
    slots: StreamSlots,
    owner: StreamOwner,
}

/// Whether a further stream may be opened while this number is open: of all, of the tenant and of the credential, if there
/// is one. The error is the message.
fn check_share(total: usize, all: usize, tenant: usize, credential: Option<usize>) -> Result<(), &'static str> {
    let free = total.saturating_sub(all);
    let each = MAX_PER_CREDENTIAL.min(free / 8).max(1);
    match credential {
        _ if free == 0 => Err("too many open streams"),
        Some(own) if own >= each => Err("too many open streams of this credential"),
        _ if tenant >= free.max(1) => Err("too many open streams of this tenant"),
        _ => Ok(()),
    }
}

impl StreamSlots {
    /// Slots for this number of streams.
    pub(crate) fn new(total: usize) -> Self {
        Self { total, taken: Arc::default() }
    }

    /// Takes a slot, or fails if too many streams are open.
    pub(crate) fn take(&self, principal: &Principal, operation: &str) -> Result<StreamSlot, Failure> {
        let name = (!principal.is_open()).then(|| principal.name().to_owned());
        let owner = (principal.tenant().to_owned(), name);
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let all = taken.values().sum();
        let tenant = taken.iter().filter(|((tenant, _), _)| *tenant == owner.0).map(|(_, count)| count).sum();
        let own = taken.get(&owner).copied().unwrap_or(0);
        let own = owner.1.is_some().then_some(own);
        if let Err(message) = check_share(self.total, all, tenant, own) {
            return Err(Failure::new(ErrorKind::RateLimited, message, operation)
                .hint(format!(
                    "close another stream first; at most {MAX_PER_CREDENTIAL} of one credential may be open, and fewer while \
                     the server has few free"
                ))
                .after(RETRY.as_secs()));
        }
        *taken.entry(owner.clone()).or_default() += 1;
        Ok(StreamSlot { slots: self.clone(), owner })
    }
}

impl Drop for StreamSlot {
    fn drop(&mut self) {
        let mut taken = self.slots.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = taken.get_mut(&self.owner) {
            *own -= 1;
            if *own == 0 {
                taken.remove(&self.owner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_counted_and_given_back() {
        let slots = StreamSlots::new(8);
        let operator = Principal::operator();
        let mut taken: Vec<StreamSlot> = (0..4).map(|_| slots.take(&operator, "followEvents").unwrap()).collect();
        let refused = slots.take(&operator, "followEvents").unwrap_err();
        assert_eq!(refused.code().as_u16(), 429);
        taken.pop();
        assert!(slots.take(&operator, "followEvents").is_ok());
        drop(taken);
        assert!(slots.taken.lock().unwrap().is_empty());
    }

    // doors H11: sixteen credentials could use all streams.
    #[test]
    fn shares_leave_room_for_those_without_a_stream() {
        let check = |all, tenant, credential, expect: bool| {
            assert_eq!(check_share(512, all, tenant, credential).is_ok(), expect, "{all} {tenant} {credential:?}");
        };
        check(0, 0, Some(0), true);
        check(15, 15, Some(15), true);
        check(16, 16, Some(16), false);
        // Alone, a tenant may hold half of all.
        check(255, 255, Some(0), true);
        check(256, 256, Some(0), false);
        // Another tenant then still has room, for more than one credential.
        check(256, 0, Some(0), true);
        check(300, 44, Some(15), true);
        // While few are free, each credential may hold fewer.
        check(480, 10, Some(4), false);
        check(480, 10, Some(3), true);
        check(511, 0, Some(0), true);
        check(511, 0, Some(1), false);
        check(512, 0, Some(0), false);
    }
}
