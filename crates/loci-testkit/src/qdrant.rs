//! A stand-in for Qdrant. It is NOT Qdrant.
//!
//! It is a small HTTP server on loopback that implements the part of Qdrant's REST API that Loci uses, in memory and
//! with exact search. Its purpose is to find errors of our client, so it is stricter than the real server in one way:
//! an unknown field is always an error. Otherwise it refuses what the real server refuses, with the same messages as
//! far as they are known: a missing collection (404), an existing one (409), a wrong dimension, an id that is neither a
//! UUID nor a number, an unknown distance, a filter on a field without a payload index (as in strict mode), and a body
//! that is not JSON.
//!
//! It does not implement graph indexes, quantisation (search is exact, so it cannot measure recall), disks, clusters,
//! named or sparse vectors, or anything that is not listed in `routes`.

mod collection;
mod filter;
mod routes;
mod strict;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket};
use tokio::task::JoinHandle;

use self::collection::CollectionData;

/// A running stand-in server.
pub struct StandIn {
    address: SocketAddr,
    state: Arc<StandInState>,
    running: Mutex<Option<JoinHandle<()>>>,
}

/// The data and the settings of the server.
#[derive(Default)]
pub(crate) struct StandInState {
    collections: Mutex<BTreeMap<String, CollectionData>>,
    /// The API key that every request must have.
    api_key: Option<String>,
    /// The delay of every answer in milliseconds.
    delay: AtomicU64,
    /// The number of further requests that are answered with 503. `u64::MAX` means all.
    failing: AtomicU64,
    requests: AtomicU64,
    /// The limits of strict mode; 0 means that there is none.
    widest: AtomicU64,
    largest_page: AtomicU64,
}

impl StandIn {
    /// Starts an empty server.
    pub async fn start_new() -> Self {
        Self::start_with(None).await
    }

    /// Starts an empty server that requires this API key.
    pub async fn start_with(api_key: Option<&str>) -> Self {
        let state = StandInState { api_key: api_key.map(str::to_owned), ..StandInState::default() };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap_or_else(|error| panic!("no port: {error}"));
        let address = listener.local_addr().unwrap_or_else(|error| panic!("no address: {error}"));
        let made = Self { address, state: Arc::new(state), running: Mutex::default() };
        made.serve(listener);
        made
    }

    /// Returns the URL of the server.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    fn serve(&self, listener: TcpListener) {
        let router = routes::router(self.state.clone());
        let task = tokio::spawn(async move {
            let _ = axum::serve(listener, router).await;
        });
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = Some(task);
    }

    /// Stops the server. Its data stays.
    pub async fn stop(&self) {
        let task = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(task) = task {
            task.abort();
            let _ = task.await;
        }
        // Open connections have their own tasks, which would still answer.
        self.state.failing.store(u64::MAX, Ordering::SeqCst);
    }

    /// Starts a stopped server again at the same address.
    pub async fn start(&self) {
        self.state.failing.store(0, Ordering::SeqCst);
        let bind = || {
            let socket = TcpSocket::new_v4()?;
            socket.set_reuseaddr(true)?;
            socket.bind(self.address)?;
            socket.listen(64)
        };
        let listener = bind().unwrap_or_else(|error| panic!("{} is taken: {error}", self.address));
        self.serve(listener);
    }

    /// Removes all data, like a server that is restarted without its disk.
    pub fn forget(&self) {
        self.held().clear();
    }

    /// Removes the points of every collection and keeps the collections.
    pub fn empty(&self) {
        self.held().values_mut().for_each(CollectionData::empty);
    }

    /// Delays every answer by this time.
    pub fn delay(&self, delay: Duration) {
        self.state.delay.store(delay.as_millis() as u64, Ordering::SeqCst);
    }

    /// Answers the next `times` requests with 503.
    pub fn fail_next(&self, times: u64) {
        self.state.failing.store(times, Ordering::SeqCst);
    }

    /// Refuses searches that are wider, and pages that are larger, as a server in strict mode does.
    pub fn limit(&self, widest: u64, largest_page: u64) {
        self.state.widest.store(widest, Ordering::SeqCst);
        self.state.largest_page.store(largest_page, Ordering::SeqCst);
    }

    /// Returns the number of requests so far.
    pub fn requests(&self) -> u64 {
        self.state.requests.load(Ordering::SeqCst)
    }

    /// Returns the names of the collections.
    pub fn collections(&self) -> Vec<String> {
        self.held().keys().cloned().collect()
    }

    /// Returns the configuration with which a collection was created.
    pub fn configuration(&self, name: &str) -> Option<serde_json::Value> {
        self.held().get(name).map(|held| held.asked.clone())
    }

    /// Returns the payload indexes of a collection.
    pub fn payload_indexes(&self, name: &str) -> BTreeMap<String, serde_json::Value> {
        self.held().get(name).map(|held| held.indexes.clone()).unwrap_or_default()
    }

    /// Returns the payload of every point of a collection, by id.
    pub fn payloads(&self, name: &str) -> BTreeMap<String, serde_json::Value> {
        let held = self.held();
        let points = held.get(name).into_iter().flat_map(|held| &held.points);
        points.map(|(id, point)| (id.clone(), point.payload.clone())).collect()
    }

    /// Changes the payload of a point without a request, to simulate damage.
    pub fn spoil(&self, name: &str, id: &str, field: &str, value: serde_json::Value) {
        if let Some(point) = self.held().get_mut(name).and_then(|held| held.points.get_mut(id)) {
            point.payload[field] = value;
        }
    }

    /// Removes one point without a request, to simulate a loss.
    pub fn lose(&self, name: &str, id: &str) {
        if let Some(held) = self.held().get_mut(name) {
            held.points.remove(id);
        }
    }

    fn held(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, CollectionData>> {
        self.state.collections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        if let Some(task) = self.running.lock().unwrap_or_else(PoisonError::into_inner).take() {
            task.abort();
        }
    }
}
