//! What stands in for Qdrant where there is none?
//!
//! A STAND-IN, not Qdrant: a small HTTP server on loopback that answers the part of Qdrant's REST interface that Loci
//! uses, from memory, exactly. It is there to fail our client, so it is stricter than the real server in one way: a
//! field that it does not know is an error everywhere. In all else it refuses as the real one does, in the same words
//! as far as these are known: a missing collection (404), one that is there already (409), a wrong dimension, an id
//! that is no UUID and no number, a distance that does not exist, a filter on a field without a payload index (as
//! strict mode does), a body that is no JSON.
//!
//! What it does not do: graphs, quantisation (a search is exact, so it says nothing of recall), disks, clusters,
//! named or sparse vectors, anything that is not listed in `routes`.

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

use self::collection::Held;

/// A server that stands in for Qdrant.
pub struct StandIn {
    address: SocketAddr,
    state: Arc<State>,
    running: Mutex<Option<JoinHandle<()>>>,
}

/// What the server holds, and how it behaves.
#[derive(Default)]
pub(crate) struct State {
    collections: Mutex<BTreeMap<String, Held>>,
    /// The key that every request must bring.
    api_key: Option<String>,
    /// How long every answer takes, in milliseconds.
    delay: AtomicU64,
    /// So many requests are still answered with 503.
    failing: AtomicU64,
    requests: AtomicU64,
}

impl StandIn {
    /// A running server without anything in it.
    pub async fn start_new() -> Self {
        Self::start_with(None).await
    }

    /// The same, but it wants this key.
    pub async fn start_with(api_key: Option<&str>) -> Self {
        let state = State { api_key: api_key.map(str::to_owned), ..State::default() };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap_or_else(|error| panic!("no port: {error}"));
        let address = listener.local_addr().unwrap_or_else(|error| panic!("no address: {error}"));
        let made = Self { address, state: Arc::new(state), running: Mutex::default() };
        made.serve(listener);
        made
    }

    /// Where it listens.
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

    /// Cuts it off. What it holds stays.
    pub async fn stop(&self) {
        let task = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(task) = task {
            task.abort();
            let _ = task.await;
        }
        // Connections that are open would still be answered, each by a task of its own.
        self.state.failing.store(u64::MAX, Ordering::SeqCst);
    }

    /// Lets it listen again, at the same address.
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

    /// Loses everything, as a server does that is restarted without its disk.
    pub fn forget(&self) {
        self.held().clear();
    }

    /// Loses the points of every collection, and keeps the collections.
    pub fn empty(&self) {
        self.held().values_mut().for_each(Held::empty);
    }

    /// Lets every answer take so long.
    pub fn delay(&self, delay: Duration) {
        self.state.delay.store(delay.as_millis() as u64, Ordering::SeqCst);
    }

    /// Answers the next so many requests with 503.
    pub fn fail_next(&self, times: u64) {
        self.state.failing.store(times, Ordering::SeqCst);
    }

    /// How many requests came.
    pub fn requests(&self) -> u64 {
        self.state.requests.load(Ordering::SeqCst)
    }

    /// The names of the collections.
    pub fn collections(&self) -> Vec<String> {
        self.held().keys().cloned().collect()
    }

    /// How a collection was configured, as it was asked for.
    pub fn configuration(&self, name: &str) -> Option<serde_json::Value> {
        self.held().get(name).map(|held| held.asked.clone())
    }

    /// The payload indexes of a collection.
    pub fn payload_indexes(&self, name: &str) -> BTreeMap<String, serde_json::Value> {
        self.held().get(name).map(|held| held.indexes.clone()).unwrap_or_default()
    }

    /// The payload of every point of a collection, by id.
    pub fn payloads(&self, name: &str) -> BTreeMap<String, serde_json::Value> {
        let held = self.held();
        let points = held.get(name).into_iter().flat_map(|held| &held.points);
        points.map(|(id, point)| (id.clone(), point.payload.clone())).collect()
    }

    /// Changes the payload of a point behind everyone's back.
    pub fn spoil(&self, name: &str, id: &str, field: &str, value: serde_json::Value) {
        if let Some(point) = self.held().get_mut(name).and_then(|held| held.points.get_mut(id)) {
            point.payload[field] = value;
        }
    }

    /// Loses one point.
    pub fn lose(&self, name: &str, id: &str) {
        if let Some(held) = self.held().get_mut(name) {
            held.points.remove(id);
        }
    }

    fn held(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Held>> {
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
