//! The binary `loci`: arguments, settings and wiring. It contains no rules of memory.

mod aliases;
mod api;
mod arguments;
mod command;
mod context;
mod details;
mod fault;
mod local_key;
mod log;
mod shape;
#[cfg(feature = "otlp")]
mod traces;
mod while_used;

use std::process::ExitCode;

use clap::Parser;

use loci_types::{ErrorKind, Problem};

use crate::arguments::Arguments;
pub(crate) use loci_host::{output, settings, store, tier, wiring};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = match Arguments::try_parse_from(aliases::resolve(std::env::args_os())) {
        Ok(arguments) => arguments,
        Err(error) => return misused(&error),
    };
    let json = arguments.json;
    let operation = aliases::command_name(&std::env::args_os().collect::<Vec<_>>());
    output::set_quiet(arguments.quiet);
    let log = log::Log::start(&arguments);
    let done = command::run(arguments).await;
    log.close().await;
    match done {
        Ok(code) => code,
        Err(error) => {
            let (problem, exit) = fault::read(&error, &operation);
            output::problem(&problem, json);
            ExitCode::from(exit)
        }
    }
}

/// Whether a flag that names a scope stands before the command.
fn is_scope_before_command(error: &clap::Error) -> bool {
    let flag = error.get(clap::error::ContextKind::InvalidArg).map(ToString::to_string).unwrap_or_default();
    let name = flag.trim_start_matches('-').split([' ', '=']).next().unwrap_or_default();
    let command = aliases::command_name(&std::env::args_os().collect::<Vec<_>>());
    let scopes = ["user", "agent", "session", "project", "team", "org", "company", "layer", "everyone"];
    scopes.contains(&name)
        && std::env::args().position(|word| word == command) > std::env::args().position(|word| word.starts_with(&flag))
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
        if is_scope_before_command(error) {
            output::note("Scope flags follow the command: `loci list --user bo`.");
        }
    }
    ExitCode::from(if error.use_stderr() { 2 } else { 0 })
}
