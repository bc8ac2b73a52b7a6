//! What is counted while the house is open?
//!
//! The names are those that users of memory providers know, with underscores and a `loci_` before
//! them. Counters belong to the server, not to the process, so two servers do not mix theirs.

use std::time::Duration;

use axum::http::Method;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// Upper bounds of milliseconds.
const MILLISECONDS: [f64; 14] =
    [0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1_000.0, 5_000.0, 30_000.0];

/// Upper bounds of numbers of results.
const RESULTS: [f64; 8] = [0.0, 1.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Operation {
    operation: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Failed {
    operation: String,
    code: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Requested {
    method: String,
    route: String,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Layered {
    layer: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Coded {
    code: String,
}

type Timed = Family<Operation, Histogram, fn() -> Histogram>;

/// Everything that is counted.
pub(crate) struct Metrics {
    registry: Registry,
    operations: Family<Operation, Counter>,
    errors: Family<Failed, Counter>,
    latency: Timed,
    results: Histogram,
    found: Counter,
    asked: Counter,
    hit_rate: Gauge<f64, std::sync::atomic::AtomicU64>,
    store: Histogram,
    retrieve: Histogram,
    requests: Family<Requested, Counter>,
    denied: Family<Coded, Counter>,
}

/// What the store holds, as it is told at each look.
#[derive(Debug, Default)]
pub(crate) struct Held {
    /// Memories by layer.
    pub(crate) by_layer: Vec<(String, u64)>,
    /// Episodes.
    pub(crate) episodic: u64,
    /// Everything else.
    pub(crate) semantic: u64,
    /// Bytes on disk.
    pub(crate) bytes: u64,
    /// Tokens that summaries have saved.
    pub(crate) saved: u64,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("loci"),
            operations: Family::default(),
            errors: Family::default(),
            latency: Timed::new_with_constructor(milliseconds),
            results: Histogram::new(RESULTS),
            found: Counter::default(),
            asked: Counter::default(),
            hit_rate: Gauge::default(),
            store: milliseconds(),
            retrieve: milliseconds(),
            requests: Family::default(),
            denied: Family::default(),
        };
        metrics.register();
        metrics
    }

    fn register(&mut self) {
        let registry = &mut self.registry;
        registry.register("memory_operations", "Operations by name", self.operations.clone());
        registry.register("memory_operations_errors", "Operations that failed, by name and code", self.errors.clone());
        registry.register("memory_operations_latency", "Milliseconds per operation", self.latency.clone());
        registry.register("memory_search_results", "Results per search", self.results.clone());
        registry.register("memory_retrieve_hit_rate", "Share of searches that found anything", self.hit_rate.clone());
        registry.register("memory_store_duration", "Milliseconds per write", self.store.clone());
        registry.register("memory_retrieve_duration", "Milliseconds per search", self.retrieve.clone());
        registry.register("http_requests", "Requests by method, route and status", self.requests.clone());
        registry.register("denials", "Requests and tool calls that were refused, by code", self.denied.clone());
    }

    /// An operation was done, or failed with this code.
    pub(crate) fn operation(&self, name: &str, code: Option<&str>, took: Duration) {
        let operation = Operation { operation: name.to_owned() };
        let milliseconds = took.as_secs_f64() * 1e3;
        self.operations.get_or_create(&operation).inc();
        self.latency.get_or_create(&operation).observe(milliseconds);
        match name {
            "remember" | "ingest" | "update" | "correct" | "supersede" => self.store.observe(milliseconds),
            "recall" | "search" | "query" | "context" => self.retrieve.observe(milliseconds),
            _ => {}
        }
        if let Some(code) = code {
            self.errors.get_or_create(&Failed { operation: operation.operation, code: code.to_owned() }).inc();
        }
    }

    /// A search found so many.
    pub(crate) fn found(&self, results: usize) {
        self.results.observe(results as f64);
        self.asked.inc();
        if results > 0 {
            self.found.inc();
        }
        self.hit_rate.set(self.found.get() as f64 / self.asked.get().max(1) as f64);
    }

    /// A request was answered.
    pub(crate) fn request(&self, method: &Method, route: &str, status: u16) {
        // Only methods that we know: a caller must not be able to invent names without end.
        let method = if matches!(method.as_str(), "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD" | "OPTIONS") {
            method.as_str()
        } else {
            "OTHER"
        };
        let requested = Requested { method: method.to_owned(), route: route.to_owned(), status };
        self.requests.get_or_create(&requested).inc();
    }

    /// Someone was refused.
    pub(crate) fn denied(&self, code: &str) {
        self.denied.get_or_create(&Coded { code: code.to_owned() }).inc();
    }

    /// Everything, as Prometheus reads it: what was done by the server, and what the caller holds.
    pub(crate) fn text(&self, held: &Held) -> String {
        let mut text = String::new();
        let summarized = self.operations.get_or_create(&Operation { operation: "summarize".to_owned() }).get();
        // What is held is of one tenant, and made anew for each who asks.
        let parts = [&self.registry, &held.registry(summarized)];
        let written = parts.into_iter().try_for_each(|part| encode_registry(&mut text, part));
        match written.and_then(|()| encode_eof(&mut text)) {
            Ok(()) => text,
            // Writing into a string cannot fail.
            Err(_) => String::new(),
        }
    }
}

impl Held {
    fn registry(&self, summarized: u64) -> Registry {
        let mut registry = Registry::with_prefix("loci");
        let size = Family::<Layered, Gauge>::default();
        for (layer, count) in &self.by_layer {
            size.get_or_create(&Layered { layer: layer.clone() }).set(signed(*count));
        }
        registry.register("memory_storage_size", "Memories by layer", size);
        for (name, about, value) in [
            ("memory_episodic_count", "Episodes", self.episodic),
            ("memory_semantic_count", "Memories that are no episodes", self.semantic),
            ("memory_storage_bytes", "Bytes on disk", self.bytes),
            ("memory_summarization_runs", "Summaries that were asked for", summarized),
            ("memory_summarization_tokens_saved", "Tokens that summaries saved", self.saved),
        ] {
            let gauge: Gauge = Gauge::default();
            gauge.set(signed(value));
            registry.register(name, about, gauge);
        }
        registry
    }
}

fn milliseconds() -> Histogram {
    Histogram::new(MILLISECONDS)
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
