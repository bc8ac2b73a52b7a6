//! `loci store vectors`: the vector index outside of the store.
//!
//! A difference is an answer and not a failure: `verify` ends with the exit code of damaged data.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};
use loci_engine::Caller;
use loci_types::ErrorKind;
use serde_json::json;

use crate::context::Context;
use crate::{output, shape};

/// What to do with the index.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci store vectors status
  loci store vectors verify
  loci store vectors rebuild --yes
  loci store vectors sweep --yes

The index is filled from the ledger automatically, also after an outage or a loss of its data. `verify` compares it with \
the records; exit codes: 0 nothing differs; 22 something does. `rebuild` drops its collections and fills them again; \
until that is done, recall uses words and links only. `sweep` removes collections that this store has written and no longer \
uses; points that Loci did not write are never removed.")]
pub(crate) struct VectorsArgs {
    #[command(subcommand)]
    verb: VectorsCommand,
}

#[derive(Debug, Subcommand)]
enum VectorsCommand {
    /// Show the collections, and how far each is behind the ledger
    Status,
    /// Compare the collections with the records
    Verify,
    /// Drop the collections and fill them again
    Rebuild {
        /// Confirm
        #[arg(short, long)]
        yes: bool,
    },
    /// Remove collections that this store has written and no longer uses
    Sweep {
        /// Confirm
        #[arg(short, long)]
        yes: bool,
    },
}

/// Runs the command.
pub(crate) async fn run(context: &Context, args: &VectorsArgs) -> Result<ExitCode> {
    context.require_local("store vectors")?;
    match args.verb {
        VectorsCommand::Status => status(context).await,
        VectorsCommand::Verify => verify(context).await,
        VectorsCommand::Rebuild { yes } => rebuild(context, yes).await,
        VectorsCommand::Sweep { yes } => sweep(context, yes).await,
    }
}

async fn status(context: &Context) -> Result<ExitCode> {
    let status = context.engine().await?.vector_status(&Caller::operator()).await?;
    context.print(&serde_json::to_value(&status)?, |_| {
        let version = status.version.as_deref().unwrap_or("(unknown version)");
        output::line(&format!("{} {version}: {}", status.index, status.problem.as_deref().unwrap_or("available")));
        let rows = status.collections.iter().map(|one| {
            vec![
                one.collection.clone(),
                one.space.clone(),
                one.model.clone(),
                one.points.map_or_else(|| "–".to_owned(), |points| points.to_string()),
                one.position.to_string(),
                one.end.saturating_sub(one.position).to_string(),
            ]
        });
        output::line(&shape::table(
            &["collection", "space", "model", "points", "ledger entry", "behind"],
            rows.collect(),
        ));
        for name in &status.orphans {
            output::note(&format!("`{name}` is no longer used; `loci store vectors sweep` removes it"));
        }
    });
    Ok(ExitCode::from(if status.problem.is_some() { ErrorKind::Provider.row().exit } else { 0 }))
}

async fn verify(context: &Context) -> Result<ExitCode> {
    let engine = context.engine().await?;
    let bar = output::progress(0, "entries");
    let found = engine.vector_verify(&Caller::operator(), show_progress(&bar)).await;
    bar.finish_and_clear();
    let found = found?;
    let sound = found.iter().all(loci_store::Verified::is_sound);
    context.print(&json!({ "sound": sound, "collections": found }), |_| {
        let rows = found.iter().map(|one| {
            let counts = [one.records, one.points, one.missing, one.surplus, one.stale];
            let mut row = vec![one.collection.clone()];
            row.extend(counts.map(|count| count.to_string()));
            row
        });
        output::line(&shape::table(
            &["collection", "records", "points", "missing", "surplus", "stale"],
            rows.collect(),
        ));
        for one in found.iter().filter(|one| one.foreign > 0) {
            output::note(&format!("`{}` holds {} points that Loci did not write", one.collection, one.foreign));
        }
        if !sound {
            output::note("`loci store vectors rebuild` repairs it");
        }
    });
    Ok(ExitCode::from(if sound { 0 } else { ErrorKind::Corrupt.row().exit }))
}

async fn rebuild(context: &Context, yes: bool) -> Result<ExitCode> {
    context.confirm("drops the collections of the vector index and fills them again", yes)?;
    let engine = context.engine().await?;
    let bar = output::progress(0, "entries");
    let done = engine.vector_rebuild(&Caller::operator(), show_progress(&bar)).await;
    bar.finish_and_clear();
    let done = done?;
    context.print(&json!({ "collections": done }), |_| output::line(&format!("{done} collections rebuilt")));
    Ok(ExitCode::SUCCESS)
}

async fn sweep(context: &Context, yes: bool) -> Result<ExitCode> {
    context.confirm("removes the collections of the vector index that are no longer used", yes)?;
    let removed = context.engine().await?.vector_sweep(&Caller::operator()).await?;
    context.print(&json!({ "removed": removed }), |_| match removed.as_slice() {
        [] => output::line("No collection is unused."),
        names => output::line(&format!("removed: {}", names.join(", "))),
    });
    Ok(ExitCode::SUCCESS)
}

/// Shows on a bar how far a collection is.
fn show_progress(bar: &indicatif::ProgressBar) -> impl FnMut(&str, i64, i64) + Send + use<> {
    let bar = bar.clone();
    move |name, line, end| {
        bar.set_length(end.max(0).unsigned_abs());
        bar.set_position(line.max(0).unsigned_abs());
        bar.set_message(format!("entries of {name}"));
    }
}
