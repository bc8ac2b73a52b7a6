//! How does someone follow what happens?
//!
//! A stream that is drawn by its reader: a page of the feed is read when the last one was taken, so a
//! slow reader costs nothing but a connection, and the connection cuts one that takes nothing. At each
//! sign of life the credential is looked at again. Every event carries the place to go on from, and
//! so does every sign of life.

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
use crate::failure::{Failure, word};
use crate::guard::{self, Who};
use crate::metrics::Protocol;

/// The most entries that are read at once.
const PAGE: usize = 100;
/// How long it waits before it looks again when nothing has happened.
const IDLE: Duration = Duration::from_millis(200);
/// How long it waits at least: those who write much do not make everyone look each time.
const BREATH: Duration = Duration::from_millis(20);
/// How long a reader that was cut should wait before it comes back.
const RETRY: Duration = Duration::from_secs(2);
/// Streams at once.
const STREAMS: usize = 256;
/// Streams of one credential at once.
const EACH: usize = 16;

/// What someone wants to follow.
pub(crate) struct Wish {
    /// Who.
    pub(crate) caller: Caller,
    /// Which part of what happens.
    pub(crate) request: FeedRequest,
    /// From where; none: from what `Last-Event-ID` says, or from now.
    pub(crate) after: Option<String>,
    /// Through which protocol, for metrics.
    pub(crate) door: Protocol,
}

/// Someone who follows.
pub(crate) struct Follow {
    app: Arc<App>,
    who: Who,
    headers: HeaderMap,
    caller: Caller,
    request: FeedRequest,
    /// Read and not told yet.
    waiting: VecDeque<FeedEntry>,
    /// How far they were told.
    place: FeedCursor,
    closed: watch::Receiver<bool>,
    /// Told when another server may have written; none: one has to look.
    moved: Option<watch::Receiver<u64>>,
    looked: Instant,
    stage: Stage,
    /// The operation of the stream, for failures.
    operation: &'static str,
    _seat: Seat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    New,
    Going,
    Over,
}

impl Follow {
    /// Takes a seat and finds the place. What is wrong is told before the stream begins.
    pub(crate) async fn open(
        app: Arc<App>,
        who: Who,
        headers: HeaderMap,
        wish: Wish,
        operation: &'static str,
    ) -> Result<Self, Failure> {
        let seat = app.seats.take(&who, operation)?;
        let shown = headers.get("last-event-id").map(|value| value.to_str().unwrap_or_default().trim().to_owned());
        let named = shown.filter(|id| !id.is_empty()).map(|id| ("Last-Event-ID", id));
        // A reader that comes back knows better than the address it first came with.
        let named = named.or(wish.after.map(|after| ("after", after)));
        let now = app.verb_through(wish.door, operation, app.engine.feed_now(&wish.caller)).await?;
        let place = match named {
            None => now,
            Some((field, text)) => text.parse::<FeedCursor>().map_err(|error| word(&error, operation).field(field))?,
        };
        let request = FeedRequest { cursor: place.clone(), limit: Some(PAGE), ..wish.request };
        let mut follow = Self {
            closed: app.closed.clone(),
            moved: app.engine.store().change_signal(),
            app,
            who,
            headers,
            caller: wish.caller,
            request,
            waiting: VecDeque::new(),
            place,
            looked: Instant::now(),
            stage: Stage::New,
            operation,
            _seat: seat,
        };
        let page = follow.app.engine.feed(&follow.caller, &follow.request).await;
        follow.take(page.map_err(|error| Failure::of(error.problem(operation)))?);
        Ok(follow)
    }

    /// The stream, with each entry as `tell` puts it; what it has no words for is passed over.
    pub(crate) fn told<T, F>(self, tell: T) -> Response
    where
        T: Fn(FeedEntry) -> F + Send + Sync + 'static,
        F: Future<Output = Option<Event>> + Send,
    {
        let events = futures::stream::unfold((self, tell), |(mut follow, tell)| async move {
            let event = follow.next(&tell).await?;
            Some((Ok::<Event, Infallible>(event), (follow, tell)))
        });
        let mut response = Sse::new(events).into_response();
        // Those who pass it on must not wait for more.
        let headers = response.headers_mut();
        headers.insert("x-accel-buffering", axum::http::HeaderValue::from_static("no"));
        response
    }

    async fn next<T, F>(&mut self, tell: &T) -> Option<Event>
    where
        T: Fn(FeedEntry) -> F,
        F: Future<Output = Option<Event>>,
    {
        match self.stage {
            Stage::Over => return None,
            Stage::New => {
                self.stage = Stage::Going;
                return Some(self.alive().retry(RETRY));
            }
            Stage::Going => {}
        }
        let heartbeat = Duration::from_secs(self.app.options.server.heartbeat_seconds);
        loop {
            if *self.closed.borrow() {
                return None;
            }
            if self.looked.elapsed() >= heartbeat {
                self.looked = Instant::now();
                return self.still_counts().await.then(|| self.alive());
            }
            if let Some(entry) = self.waiting.pop_front() {
                self.place.pass(&entry);
                match tell(entry).await {
                    Some(event) => return Some(event.id(self.place.to_string())),
                    None => continue,
                }
            }
            match self.app.engine.feed(&self.caller, &self.request).await {
                Ok(page) => {
                    // Nothing is told to a credential that was taken back in the meantime.
                    if !page.entries.is_empty() && !self.still_counts().await {
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
        self.place = if page.entries.is_empty() { page.cursor.clone() } else { page.began };
        self.request.cursor = page.cursor;
        self.waiting = page.entries.into();
    }

    async fn still_counts(&self) -> bool {
        let counts = guard::holds(&self.app, &self.headers, &self.who).await;
        if !counts {
            guard::denied(
                &self.app,
                self.who.name(),
                self.who.request(),
                self.operation,
                ErrorKind::Unauthorized.code(),
            );
        }
        counts
    }

    /// A sign of life, with the place to go on from.
    fn alive(&self) -> Event {
        Event::default().comment("here").id(self.place.to_string())
    }

    async fn pause(&mut self) {
        tokio::select! {
            () = tokio::time::sleep(IDLE) => {}
            () = told(&mut self.moved) => {}
            _ = self.closed.wait_for(|closed| *closed) => {}
        }
    }
}

/// Waits until someone may have written, and at least a moment.
async fn told(moved: &mut Option<watch::Receiver<u64>>) {
    tokio::time::sleep(BREATH).await;
    let moved = match moved {
        Some(moved) => moved.changed().await.is_ok(),
        None => false,
    };
    if !moved {
        // Nobody will tell any more; one has to look from time to time.
        std::future::pending().await
    }
}

/// Who is following just now.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seats(Arc<Mutex<HashMap<String, usize>>>);

/// A place among those who follow, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Seat {
    seats: Seats,
    name: String,
}

impl Seats {
    /// Takes a seat, if there is one.
    pub(crate) fn take(&self, who: &Who, operation: &str) -> Result<Seat, Failure> {
        let name = who.name().to_owned();
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = taken.get(&name).copied().unwrap_or(0);
        // Where nobody is asked who they are, all share one name.
        let each = if who.is_open() { STREAMS } else { EACH };
        if own >= each || taken.values().sum::<usize>() >= STREAMS {
            let message = if own >= each { "this credential follows too many streams" } else { "too many streams" };
            return Err(Failure::new(ErrorKind::RateLimited, message, operation)
                .hint(format!("end another first: {EACH} of one credential and {STREAMS} in all may be open"))
                .after(RETRY.as_secs()));
        }
        *taken.entry(name.clone()).or_default() += 1;
        Ok(Seat { seats: self.clone(), name })
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut taken = self.seats.0.lock().unwrap_or_else(PoisonError::into_inner);
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
        let seats = Seats::default();
        let mut taken: Vec<Seat> =
            (0..STREAMS).map(|_| seats.take(&Who::operator(), "followEvents").unwrap()).collect();
        let refused = seats.take(&Who::operator(), "followEvents").unwrap_err();
        assert_eq!(refused.code().as_u16(), 429);
        taken.pop();
        assert!(seats.take(&Who::operator(), "followEvents").is_ok());
        drop(taken);
        assert!(seats.0.lock().unwrap().is_empty());
    }
}
