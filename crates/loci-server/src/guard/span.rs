//! The span of a request: its fields in the log, and the same as attributes in a trace.
//!
//! The fields have the names of OpenTelemetry's conventions for HTTP servers. They hold neither the credential nor the
//! path with its ids: both can be personal data, and traces leave the machine.

use axum::http::{HeaderMap, Method};
use tracing::Span;
use tracing::field::Empty;

/// The span of a request. A handler that works in a task of its own enters it there.
#[derive(Debug, Clone)]
pub(crate) struct RequestSpan(Span);

impl RequestSpan {
    /// Begins the span. With the feature `otlp` it continues the trace of the header `traceparent`.
    pub(super) fn new(id: &str, method: &Method, route: Option<&str>, operation: &str, headers: &HeaderMap) -> Self {
        let span = tracing::info_span!(
            "request",
            id,
            http.request.method = %method,
            http.route = route,
            loci.operation = operation,
            http.response.status_code = Empty,
            error.type = Empty,
            otel.name = Empty,
            otel.kind = Empty,
            otel.status_code = Empty,
        );
        trace::begin(&span, method, route, headers);
        Self(span)
    }

    /// Records the status of the response and the public code of its failure.
    pub(super) fn answered(&self, status: u16, code: Option<&str>) {
        self.0.record("http.response.status_code", status);
        if let Some(code) = code {
            self.0.record("error.type", code);
        }
        trace::end(&self.0, status);
    }

    /// The span itself.
    pub(crate) fn span(&self) -> &Span {
        &self.0
    }
}

#[cfg(feature = "otlp")]
mod trace {
    use axum::http::{HeaderMap, Method};
    use opentelemetry::global;
    use opentelemetry::propagation::Extractor;
    use tracing::Span;
    use tracing_opentelemetry::OpenTelemetrySpanExt;

    /// Headers as OpenTelemetry reads them.
    struct Headers<'a>(&'a HeaderMap);

    impl Extractor for Headers<'_> {
        fn get(&self, key: &str) -> Option<&str> {
            self.0.get(key).and_then(|value| value.to_str().ok())
        }

        fn keys(&self) -> Vec<&str> {
            self.0.keys().map(|name| name.as_str()).collect()
        }
    }

    /// Names the span as collectors expect it and sets its remote parent.
    pub(super) fn begin(span: &Span, method: &Method, route: Option<&str>, headers: &HeaderMap) {
        if span.is_disabled() {
            return;
        }
        span.record("otel.kind", "server");
        match route {
            Some(route) => span.record("otel.name", format!("{method} {route}")),
            None => span.record("otel.name", method.as_str()),
        };
        let parent = global::get_text_map_propagator(|propagator| propagator.extract(&Headers(headers)));
        // Fails only if nothing is exported.
        let _ = span.set_parent(parent);
    }

    /// Marks the span as failed if the server is at fault.
    pub(super) fn end(span: &Span, status: u16) {
        if status >= 500 {
            span.record("otel.status_code", "ERROR");
        }
    }
}

#[cfg(not(feature = "otlp"))]
mod trace {
    use axum::http::{HeaderMap, Method};
    use tracing::Span;

    pub(super) fn begin(_: &Span, _: &Method, _: Option<&str>, _: &HeaderMap) {}

    pub(super) fn end(_: &Span, _: u16) {}
}
