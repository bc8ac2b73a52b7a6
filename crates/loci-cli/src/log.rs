//! What is told of what goes on inside?
//!
//! On standard error: warnings only, unless `LOCI_LOG` asks for more. A server also tells of every
//! request, as lines for people or, if `server.log` says so, as one JSON object per line.

use loci_server::LogFormat;
use tracing_subscriber::EnvFilter;

use crate::arguments::{Arguments, Command};
use crate::settings::{Settings, variable};

/// Begins to tell.
pub(crate) fn start(arguments: &Arguments) {
    let serving = matches!(arguments.command, Command::Serve(_));
    let usual = if serving { "info" } else { "warn" };
    let wanted = variable("LOCI_LOG").unwrap_or_else(|| usual.to_owned());
    let mut filter = EnvFilter::try_new(wanted).unwrap_or_else(|_| usual.into());
    // The protocol's own library would tell what is said, whatever is asked for.
    if let Ok(quiet) = "rmcp=error".parse() {
        filter = filter.add_directive(quiet);
    }
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // Settings that cannot be read are told of by the command itself.
    let settings = if serving { Settings::load(arguments.config.as_deref()).ok() } else { None };
    match settings.map(|(settings, _)| settings.server.log) {
        Some(LogFormat::Json) => lines.json().flatten_event(true).with_current_span(true).with_span_list(false).init(),
        Some(LogFormat::Text) => lines.with_ansi(false).init(),
        None => lines.without_time().init(),
    }
}
