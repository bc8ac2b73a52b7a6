//! How is Loci started?
//!
//! Arguments, settings, wiring: no rule of memory lives here.

mod arguments;
mod bench;
mod command;
mod context;
mod details;
mod eval;
mod fault;
mod floor;
mod log;
mod output;
mod settings;
mod shape;
mod tier;
#[cfg(feature = "otlp")]
mod traces;
mod vectors;
mod wiring;

use std::process::ExitCode;

use clap::Parser;

use loci_types::{ErrorKind, Problem};

use crate::arguments::Arguments;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return misused(&error),
    };
    let (operation, json) = (arguments.command.name(), arguments.json);
    let log = log::Log::start(&arguments);
    let done = command::run(arguments).await;
    log.close().await;
    match done {
        Ok(code) => code,
        Err(error) => {
            let (problem, exit) = fault::read(&error, operation);
            output::problem(&problem, json);
            ExitCode::from(exit)
        }
    }
}

/// A wrong call, or a call for help. Wrong calls are JSON for those who asked for JSON.
fn misused(error: &clap::Error) -> ExitCode {
    let asked_for_json = std::env::args_os().any(|argument| argument == "--json");
    if error.use_stderr() && asked_for_json {
        let message = error.render().to_string();
        let first = message.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
        let mut problem = Problem::new(ErrorKind::InvalidInput, first, "usage");
        problem.hint = Some("`loci COMMAND --help` shows what it takes".to_owned());
        output::problem(&problem, true);
    } else {
        // A closed pipe has nobody who reads it.
        drop(error.print());
    }
    ExitCode::from(if error.use_stderr() { 2 } else { 0 })
}
