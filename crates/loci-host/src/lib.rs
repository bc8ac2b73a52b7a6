//! What a process needs around an engine: settings and their sources, the parts that they choose, and the terminal.
//!
//! Used by the command line and by the benchmarks. It contains no rules of memory and no commands.

pub mod authorities;
mod categories_file;
mod check;
pub mod encryption;
mod files;
pub mod output;
mod project_file;
pub mod retry;
pub mod secret;
pub mod settings;
mod sources;
pub mod store;
pub mod tier;
pub mod vectors;
pub mod wiring;
