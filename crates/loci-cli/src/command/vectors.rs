//! `loci vectors`: is the vector index outside the store what it should be?
//!
//! A difference is an answer here and not a failure: `verify` ends with the exit code of damaged data.

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
  loci vectors status
  loci vectors verify
  loci vectors rebuild

The index outside the store is filled from the ledger by itself, also after it was away or lost everything.
`verify` compares it with the records: exit code 0 means that nothing differs, 22 that something does.
`rebuild` drops its collections and fills them anew; nothing but proposals can be lost by that.")]
pub(crate) struct VectorsArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Show the collections, and how far each is behind
    Status,
    /// Compare the collections with the records
    Verify,
    /// Drop the collections and fill them anew
    Rebuild,
}

/// Looks after the index.
pub(crate) async fn run(context: &Context, args: &VectorsArgs) -> Result<ExitCode> {
    match args.verb {
        Verb::Status => status(context).await,
        Verb::Verify => verify(context).await,
        Verb::Rebuild => rebuild(context).await,
    }
}

async fn status(context: &Context) -> Result<ExitCode> {
    let status = context.engine().await?.vector_status(&Caller::operator()).await?;
    if context.json {
        output::json(&status);
    } else {
        let version = status.version.as_deref().unwrap_or("of unknown version");
        output::line(&format!("{} {version}: {}", status.index, status.problem.as_deref().unwrap_or("answers")));
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
        output::line(&shape::table(&["collection", "space", "model", "points", "line", "behind"], rows.collect()));
    }
    Ok(ExitCode::from(if status.problem.is_some() { ErrorKind::Provider.row().exit } else { 0 }))
}

async fn verify(context: &Context) -> Result<ExitCode> {
    let engine = context.engine().await?;
    let bar = output::progress(0, "lines");
    let found = engine.vector_verify(&Caller::operator(), told(&bar)).await;
    bar.finish_and_clear();
    let found = found?;
    let sound = found.iter().all(loci_store::Verified::is_sound);
    if context.json {
        output::json(&json!({ "sound": sound, "collections": found }));
    } else {
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
        if !sound {
            output::note("`loci vectors rebuild` makes it as it should be");
        }
    }
    Ok(ExitCode::from(if sound { 0 } else { ErrorKind::Corrupt.row().exit }))
}

async fn rebuild(context: &Context) -> Result<ExitCode> {
    let engine = context.engine().await?;
    let bar = output::progress(0, "lines");
    let done = engine.vector_rebuild(&Caller::operator(), told(&bar)).await;
    bar.finish_and_clear();
    let done = done?;
    if context.json {
        output::json(&json!({ "collections": done }));
    } else {
        output::line(&format!("{done} collections filled anew"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Tells a bar how far a collection is.
fn told(bar: &indicatif::ProgressBar) -> impl FnMut(&str, i64, i64) + Send + use<> {
    let bar = bar.clone();
    move |name, line, end| {
        bar.set_length(end.max(0).unsigned_abs());
        bar.set_position(line.max(0).unsigned_abs());
        bar.set_message(format!("lines of {name}"));
    }
}
