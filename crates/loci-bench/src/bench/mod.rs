//! `loci dev bench`: measures the cost of operations.
//!
//! Each figure is a JSON line `{"work","n","metric","value"}`. Costs are given as CPU time or as a
//! ratio taken in the same run, because the clock of a shared machine tells little.

mod add;
mod checkpoint;
mod data;
mod drive;
mod find;
mod guard;
mod life;
mod meter;
mod recall;
mod shared;
mod talk;
mod working;

use std::path::PathBuf;

use anyhow::Result;
use clap::builder::{PossibleValue, PossibleValuesParser};

/// What to measure.
#[derive(Debug, clap::Args)]
pub struct BenchArgs {
    /// What to measure: `add`, `find`, `recall`, `talk`, `life`, `checkpoint`, `working` or all of them; or `shared`: files
    /// beside the PostgreSQL that is set
    #[arg(value_parser = works(), default_value = "all")]
    what: String,
    /// The largest store to grow to
    #[arg(long, default_value_t = 1_000_000, value_name = "MEMORIES")]
    largest: usize,
    /// The seed of all made-up data
    #[arg(long, default_value_t = 7)]
    seed: u64,
    /// Leave the stores in this folder, for measurements from outside
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    #[command(flatten)]
    guard: guard::GuardArgs,
}

/// What can be measured. `drive` and `guard` are for programs, which find them in the documentation.
fn works() -> PossibleValuesParser {
    let shown = ["add", "find", "recall", "talk", "life", "checkpoint", "working", "shared", "all"];
    let hidden = ["drive", "guard"].map(|work| PossibleValue::new(work).hide(true));
    shown.map(PossibleValue::new).into_iter().chain(hidden).into()
}

/// Runs the measurements in a scratch folder.
pub async fn run(settings: &loci_host::settings::Settings, args: BenchArgs, as_json: bool) -> Result<()> {
    if args.what == "drive" {
        return drive::run(settings).await;
    }
    let scratch = tempfile::tempdir()?;
    let folder = args.keep.as_deref().unwrap_or(scratch.path());
    if args.what == "guard" {
        return guard::run(settings, folder, args.seed, &args.guard);
    }
    meter::print("seed", 1, "seed", args.seed as f64);
    let wanted = |work: &str| args.what == work || args.what == "all";
    if wanted("add") {
        add::measure(folder, args.seed).await?;
    }
    if wanted("find") {
        find::measure(folder, args.seed, args.largest).await?;
    }
    if wanted("recall") {
        recall::measure(folder, args.seed, args.largest).await?;
    }
    if wanted("talk") {
        talk::measure(folder, args.seed, args.largest).await?;
    }
    if wanted("life") {
        life::measure(folder, args.seed, args.largest).await?;
    }
    if wanted("checkpoint") {
        checkpoint::measure(folder, args.seed).await?;
    }
    if wanted("working") {
        working::measure(folder, args.seed, as_json || args.what == "all").await?;
    }
    if args.what == "shared" {
        shared::measure(settings, folder, args.seed, args.largest).await?;
    }
    Ok(())
}
