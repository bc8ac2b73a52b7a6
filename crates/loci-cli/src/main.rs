//! How is Loci started?
//!
//! Arguments, settings, wiring: no rule of memory lives here.

mod eval;
mod output;
mod settings;
mod wiring;

use clap::{Parser, Subcommand};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Parser)]
struct Arguments {
    #[arg(long, global = true)]
    json: bool,
    #[arg(long, global = true)]
    config: Option<std::path::PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Eval(eval::EvalArgs),
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let settings = settings::Settings::read(arguments.config.as_deref())?;
    let embedder = wiring::embedder(&settings).await?;
    match arguments.command {
        Command::Eval(args) => eval::run(&settings, embedder, args, arguments.json).await,
    }
}
