//! Prometheus metrics of the server.
//!
//! The names are those that are common for memory providers, with underscores and the prefix `loci_`. Counters belong to
//! the server, not to the process, so two servers in one process count separately.

use std::time::Duration;

use axum::http::Method;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// Upper bounds of the latency buckets, in milliseconds.
const MILLISECONDS: [f64; 14] =
    [0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1_000.0, 5_000.0, 30_000.0];

/// Operations whose time counts as a write.
const WRITES: [&str; 8] = [
    "addMemory",
    "addMemories",
    "changeMemory",
    "correctMemory",
    "ingestThreadTurns",
    "ingestTurns",
    "supersedeMemory",
    "updateMemories",
];

/// Operations whose time counts as a search.
const SEARCHES: [&str; 4] = ["queryMemory", "recall", "recallBatch", "searchMemories"];

/// Upper bounds of the buckets of result counts.
const RESULTS: [f64; 8] = [0.0, 1.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0];

/// The protocol of a request, which is the value of the label `door`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// HTTP: `/v1` and `/memory.query`.
    Http,
    /// Tools, resources and prompts of the Model Context Protocol.
    Mcp,
    /// OpenSpec.
    OpenSpec,
}

impl Protocol {
    /// The value of the label.
    fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Mcp => "mcp",
            Self::OpenSpec => "openspec",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OperationLabels {
    operation: String,
    door: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ErrorLabels {
    operation: String,
    door: &'static str,
    code: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    method: String,
    route: String,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct LayerLabels {
    layer: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CodeLabels {
    code: String,
}

type LatencyFamily = Family<OperationLabels, Histogram, fn() -> Histogram>;

/// All metrics.
pub(crate) struct Metrics {
    registry: Registry,
    operations: Family<OperationLabels, Counter>,
    errors: Family<ErrorLabels, Counter>,
    latency: LatencyFamily,
    results: Histogram,
    found: Counter,
    asked: Counter,
    hit_rate: Gauge<f64, std::sync::atomic::AtomicU64>,
    store: Histogram,
    retrieve: Histogram,
    requests: Family<RequestLabels, Counter>,
    denied: Family<CodeLabels, Counter>,
}

/// The size of the store, read for each scrape.
#[derive(Debug, Default)]
pub(crate) struct StoreSizes {
    /// Memories by layer.
    pub(crate) by_layer: Vec<(String, u64)>,
    /// Episodes.
    pub(crate) episodic: u64,
    /// All other memories.
    pub(crate) semantic: u64,
    /// Bytes on disk.
    pub(crate) bytes: u64,
    /// Summaries that were made, kept and requested ones.
    pub(crate) summaries: u64,
    /// Tokens that summaries have saved.
    pub(crate) saved: u64,
    /// Whether Redis answers. `None` if it is not configured, or if the caller does not run the server.
    pub(crate) redis_connected: Option<bool>,
    /// Connections to PostgreSQL that are in use. `None` if it is not the store, or if the caller does not run the server.
    pub(crate) pool_active: Option<usize>,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("loci"),
            operations: Family::default(),
            errors: Family::default(),
            latency: LatencyFamily::new_with_constructor(milliseconds),
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
        registry.register("memory_operations", "Operations by name and protocol", self.operations.clone());
        registry.register(
            "memory_operations_errors",
            "Operations that failed, by name, protocol and code",
            self.errors.clone(),
        );
        registry.register("memory_operations_latency", "Milliseconds per operation", self.latency.clone());
        registry.register("memory_search_results", "Results per search", self.results.clone());
        registry.register("memory_retrieve_hit_rate", "Share of searches that found anything", self.hit_rate.clone());
        registry.register("memory_store_duration", "Milliseconds per write", self.store.clone());
        registry.register("memory_retrieve_duration", "Milliseconds per search", self.retrieve.clone());
        registry.register("http_requests", "Requests by method, route and status", self.requests.clone());
        registry.register("denials", "Requests and tool calls that were refused, by code", self.denied.clone());
    }

    /// Counts an operation, which is named by its `operationId` whatever the protocol. With a code it failed.
    pub(crate) fn operation(&self, protocol: Protocol, name: &str, code: Option<&str>, took: Duration) {
        let door = protocol.name();
        let operation = OperationLabels { operation: name.to_owned(), door };
        let milliseconds = took.as_secs_f64() * 1e3;
        self.operations.get_or_create(&operation).inc();
        self.latency.get_or_create(&operation).observe(milliseconds);
        match name {
            name if WRITES.contains(&name) => self.store.observe(milliseconds),
            name if SEARCHES.contains(&name) => self.retrieve.observe(milliseconds),
            _ => {}
        }
        if let Some(code) = code {
            self.errors
                .get_or_create(&ErrorLabels { operation: operation.operation, door, code: code.to_owned() })
                .inc();
        }
    }

    /// Counts a search with this number of results.
    pub(crate) fn found(&self, results: usize) {
        self.results.observe(results as f64);
        self.asked.inc();
        if results > 0 {
            self.found.inc();
        }
        self.hit_rate.set(self.found.get() as f64 / self.asked.get().max(1) as f64);
    }

    /// Counts an answered request.
    pub(crate) fn request(&self, method: &Method, route: &str, status: u16) {
        // Only known methods, so that a caller cannot create any number of label values.
        let method = if matches!(method.as_str(), "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD" | "OPTIONS") {
            method.as_str()
        } else {
            "OTHER"
        };
        let requested = RequestLabels { method: method.to_owned(), route: route.to_owned(), status };
        self.requests.get_or_create(&requested).inc();
    }

    /// Counts a refused request.
    pub(crate) fn denied(&self, code: &str) {
        self.denied.get_or_create(&CodeLabels { code: code.to_owned() }).inc();
    }

    /// The metrics in the text format of Prometheus: the size of the caller's tenant, and with `whole` the counters of the
    /// server, which count the requests of all tenants.
    pub(crate) fn text(&self, sizes: &StoreSizes, whole: bool) -> String {
        let mut text = String::new();
        // The sizes belong to one tenant, so their registry is made for each request.
        let own = sizes.registry();
        let parts = whole.then_some(&self.registry).into_iter().chain([&own]);
        let written = parts.into_iter().try_for_each(|part| encode_registry(&mut text, part));
        match written.and_then(|()| encode_eof(&mut text)) {
            Ok(()) => text,
            // Writing into a string cannot fail.
            Err(_) => String::new(),
        }
    }
}

impl StoreSizes {
    fn registry(&self) -> Registry {
        let mut registry = Registry::with_prefix("loci");
        let size = Family::<LayerLabels, Gauge>::default();
        for (layer, count) in &self.by_layer {
            size.get_or_create(&LayerLabels { layer: layer.clone() }).set(signed(*count));
        }
        registry.register("memory_storage_size", "Memories by layer", size);
        for (name, about, value) in [
            ("memory_episodic_count", "Episodes", self.episodic),
            ("memory_semantic_count", "Memories of all other kinds than episodic", self.semantic),
            ("memory_storage_bytes", "Bytes on disk", self.bytes),
        ] {
            let gauge: Gauge = Gauge::default();
            gauge.set(signed(value));
            registry.register(name, about, gauge);
        }
        for (name, about, value) in [
            ("memory_summarization_runs", "Summaries made, by maintenance and on request", self.summaries),
            ("memory_summarization_tokens_saved", "Tokens that summaries saved", self.saved),
        ] {
            let counter: Counter = Counter::default();
            counter.inc_by(value);
            registry.register(name, about, counter);
        }
        for (name, about, value) in [
            ("memory_redis_connected", "1 if Redis answers, else 0", self.redis_connected.map(u64::from)),
            (
                "memory_postgres_pool_active",
                "Connections to PostgreSQL that are in use",
                self.pool_active.map(|active| active as u64),
            ),
        ] {
            if let Some(value) = value {
                let gauge: Gauge = Gauge::default();
                gauge.set(signed(value));
                registry.register(name, about, gauge);
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_and_searches_are_operations_of_the_description() {
        let description = serde_json::to_value(crate::router::described().into_openapi()).unwrap();
        let paths = description["paths"].as_object().unwrap().values();
        let methods = paths.flat_map(|path| path.as_object().unwrap().values());
        let known: Vec<&str> = methods.filter_map(|method| method["operationId"].as_str()).collect();
        for name in WRITES.iter().chain(&SEARCHES) {
            assert!(known.contains(name), "{name}");
        }
    }

    #[test]
    fn operations_are_counted_by_door_and_code() {
        let metrics = Metrics::new();
        let took = Duration::from_millis(3);
        metrics.operation(Protocol::Http, "addMemory", None, took);
        metrics.operation(Protocol::Mcp, "addMemory", Some("INVALID_INPUT"), took);
        metrics.operation(Protocol::OpenSpec, "recall", None, took);
        let text = metrics.text(&StoreSizes::default(), true);
        for line in [
            "loci_memory_operations_total{operation=\"addMemory\",door=\"http\"} 1",
            "loci_memory_operations_total{operation=\"addMemory\",door=\"mcp\"} 1",
            "loci_memory_operations_total{operation=\"recall\",door=\"openspec\"} 1",
            "loci_memory_operations_errors_total{operation=\"addMemory\",door=\"mcp\",code=\"INVALID_INPUT\"} 1",
            "loci_memory_store_duration_count 2",
            "loci_memory_retrieve_duration_count 1",
        ] {
            assert!(text.contains(line), "{line} is not in {text}");
        }
    }
}
