//! Sends traces to an OpenTelemetry collector, over HTTP as protobuf.
//!
//! Spans are buffered and sent by a thread of their own. A collector that is slow or away never delays a request: what does
//! not fit into the buffer is dropped. Only spans of Loci are sent, never log lines, and no span holds a text, a key or a
//! user's id.

use std::time::Duration;

use opentelemetry::trace::TracerProvider;
use opentelemetry::{KeyValue, global};
use opentelemetry_otlp::{ExporterBuildError, SpanExporter};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::level_filters::LevelFilter;
use tracing::subscriber::Interest;
use tracing::{Level, Metadata};
use tracing_subscriber::filter::dynamic_filter_fn;
use tracing_subscriber::{Layer, Registry};

use crate::settings::variable;

/// Maximum time that the end of the process waits for the last spans to be sent.
const PATIENCE: Duration = Duration::from_secs(5);

/// The target of spans inside a request.
const STAGE: &str = "loci::stage";

/// The exporter of traces.
pub(crate) struct Traces(SdkTracerProvider);

impl Traces {
    /// Reads the `OTEL_` variables and starts the exporter. No connection is made yet.
    pub(crate) fn start() -> Result<Self, ExporterBuildError> {
        let exporter = SpanExporter::builder().with_http().build()?;
        let name = variable("OTEL_SERVICE_NAME").unwrap_or_else(|| "loci".to_owned());
        let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
        let resource = Resource::builder().with_service_name(name).with_attribute(version).build();
        // Requests continue the trace that their `traceparent` names.
        global::set_text_map_propagator(TraceContextPropagator::new());
        Ok(Self(SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource).build()))
    }

    /// The part of the subscriber that hands spans to the exporter.
    pub(crate) fn layer(&self) -> Box<dyn Layer<Registry> + Send + Sync> {
        // A stage without a request is work in the background and would be a trace of its own.
        let filter = dynamic_filter_fn(|about, context| {
            is_traced(about) && (about.target() != STAGE || context.lookup_current().is_some())
        });
        let filter = filter.with_max_level_hint(LevelFilter::DEBUG).with_callsite_filter(|about| {
            match (is_traced(about), about.target() == STAGE) {
                (false, _) => Interest::never(),
                (true, true) => Interest::sometimes(),
                (true, false) => Interest::always(),
            }
        });
        tracing_opentelemetry::layer()
            .with_tracer(self.0.tracer("loci"))
            .with_context_activation(false)
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_tracked_inactivity(false)
            .with_filter(filter)
            .boxed()
    }

    /// Sends what is buffered and ends the exporter, within [`PATIENCE`].
    pub(crate) async fn close(self) {
        let ended = tokio::task::spawn_blocking(move || self.0.shutdown_with_timeout(PATIENCE)).await;
        match ended {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "the last traces may be lost"),
            Err(error) => tracing::warn!(%error, "the last traces may be lost"),
        }
    }
}

/// Whether a span is one of Loci's own. Spans of libraries can hold anything.
fn is_traced(about: &Metadata<'_>) -> bool {
    let target = about.target();
    about.is_span() && *about.level() <= Level::DEBUG && (target.starts_with("loci_") || target.starts_with("loci::"))
}
