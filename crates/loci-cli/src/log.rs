//! The log on standard error, and traces.
//!
//! Warnings only, unless `LOCI_LOG` asks for more. A server also logs every request, as lines for people or, if `server.log`
//! says so, as one JSON object per line. With the feature `otlp` a server sends traces too.

use std::io::IsTerminal;

use loci_server::LogFormat;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry, fmt};

use crate::arguments::{Arguments, Command};
use crate::settings::{Settings, variable};
#[cfg(feature = "otlp")]
use crate::traces::Traces;

/// The variables that name a collector of traces, the more specific one first.
const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];

/// A part of the subscriber.
type Part = Box<dyn Layer<Registry> + Send + Sync>;

/// The log and the traces of this process.
pub(crate) struct Log {
    #[cfg(feature = "otlp")]
    traces: Option<Traces>,
}

impl Log {
    /// Starts logging, and tracing where a server is given a collector.
    pub(crate) fn start(arguments: &Arguments) -> Self {
        let serving = matches!(arguments.command, Command::Serve(_));
        let endpoint = ENDPOINTS.into_iter().find(|name| serving && variable(name).is_some());
        // Settings that cannot be read are reported by the command itself.
        let settings = if serving { Settings::load(arguments.config.as_deref()).ok() } else { None };
        let lines = lines(settings.map(|(settings, _)| settings.server.log));
        // A command prints its failures itself; the API that it calls would log them a second time.
        let mcp = matches!(arguments.command, Command::Mcp(_));
        let quiet = "warn,loci_server=off,loci::audit=off";
        let filter = filter(if serving {
            "info"
        } else if mcp {
            "warn"
        } else {
            quiet
        });
        let parts = vec![lines.with_filter(filter).boxed()];
        Self::start_traces(parts, endpoint)
    }

    #[cfg(feature = "otlp")]
    fn start_traces(mut parts: Vec<Part>, endpoint: Option<&'static str>) -> Self {
        let traces = endpoint.map(|_| Traces::start()).transpose();
        let (traces, problem) = traces.map_or_else(|problem| (None, Some(problem)), |traces| (traces, None));
        parts.extend(traces.as_ref().map(Traces::layer));
        tracing_subscriber::registry().with(parts).init();
        if let (Some(problem), Some(variable)) = (problem, endpoint) {
            tracing::warn!(%problem, variable, "no traces are sent: the exporter cannot be configured");
        }
        Self { traces }
    }

    #[cfg(not(feature = "otlp"))]
    fn start_traces(parts: Vec<Part>, endpoint: Option<&'static str>) -> Self {
        tracing_subscriber::registry().with(parts).init();
        if let Some(variable) = endpoint {
            tracing::warn!(
                variable,
                "no traces are sent: this build has no exporter; build Loci with `cargo build --release --locked \
                 --package loci-cli --features otlp`, or unset the variable"
            );
        }
        Self {}
    }

    /// Sends the spans that are still buffered. Waits a few seconds at most.
    #[cfg_attr(not(feature = "otlp"), expect(clippy::unused_async, reason = "there is nothing to send"))]
    pub(crate) async fn close(self) {
        #[cfg(feature = "otlp")]
        if let Some(traces) = self.traces {
            traces.close().await;
        }
    }
}

/// Returns how log lines are written.
fn lines(format: Option<LogFormat>) -> Part {
    let coloured = std::io::stderr().is_terminal() && variable("NO_COLOR").is_none();
    let lines = fmt::layer().with_writer(std::io::stderr).with_ansi(coloured);
    match format {
        Some(LogFormat::Json) => lines.json().flatten_event(true).with_current_span(true).with_span_list(false).boxed(),
        Some(LogFormat::Text) => lines.with_ansi(false).boxed(),
        None => lines.without_time().boxed(),
    }
}

/// Returns what is logged: what `LOCI_LOG` says, or from this level on.
fn filter(default: &str) -> EnvFilter {
    let wanted = variable("LOCI_LOG").unwrap_or_else(|| default.to_owned());
    let mut filter = EnvFilter::try_new(wanted).unwrap_or_else(|_| default.into());
    // The library of MCP would log the contents of messages. The stages of a request are for traces only: as the innermost span
    // they would hide the id of the request in JSON.
    for directive in ["rmcp=error", "loci::stage=off"] {
        if let Ok(directive) = directive.parse() {
            filter = filter.add_directive(directive);
        }
    }
    filter
}
