//! How is Loci started?
//!
//! Arguments, settings, wiring: no rule of memory lives here.

mod arguments;
mod bench;
mod command;
mod context;
mod eval;
mod fault;
mod output;
mod settings;
mod shape;
mod wiring;

use std::process::ExitCode;

use clap::Parser;

use crate::arguments::Arguments;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let (operation, json) = (arguments.command.name(), arguments.json);
    log();
    match command::run(arguments).await {
        Ok(code) => code,
        Err(error) => {
            let (problem, exit) = fault::read(&error, operation);
            output::problem(&problem, json);
            ExitCode::from(exit)
        }
    }
}

/// What goes on inside is told on standard error, warnings only unless `LOCI_LOG` asks for more.
fn log() {
    let wanted = settings::variable("LOCI_LOG").unwrap_or_else(|| "warn".to_owned());
    let filter = tracing_subscriber::EnvFilter::try_new(wanted).unwrap_or_else(|_| "warn".into());
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).without_time().init();
}
